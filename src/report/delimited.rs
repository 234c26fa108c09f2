//! TSV and CSV: a header line, then the long rows. Values have the shortest form that reads back as the same f64. Ids are the bytes of the
//! input, between quotes if they hold a delimiter or a quote.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::{Options, long};
use crate::scores::Scores;

pub fn write(delimiter: u8, scores: &Scores, options: &Options, to: &mut impl Write) -> io::Result<()> {
    let mut table = csv::WriterBuilder::new().delimiter(delimiter).from_writer(to);
    table.write_record(long::columns(scores)).map_err(plain)?;
    let has_groups = long::has_groups(scores);
    let mut number = String::new();
    long::rows(scores, options, |measure, row| {
        number.clear();
        let _ = write!(number, "{}", row.value);
        table.write_field(row.run).map_err(plain)?;
        if has_groups {
            table.write_field(row.group.unwrap_or_default()).map_err(plain)?;
        }
        let query = row.query.unwrap_or_default();
        let cells = [query, measure.as_bytes(), row.stat.name().as_bytes(), number.as_bytes()];
        table.write_record(cells).map_err(plain)
    })?;
    table.flush()
}

/// The error of the underlying writer, whose kind the CSV error would hide.
pub fn plain(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
