//! TSV and CSV: a header line, then the long rows; values in the shortest form that reads back as the same f64, ids in the bytes
//! of the input, between quotes where they hold a delimiter or a quote.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::{Options, long};
use crate::scores::Scores;

pub fn write(delimiter: u8, scores: &Scores, options: &Options, to: &mut impl Write) -> io::Result<()> {
    let mut table = csv::WriterBuilder::new().delimiter(delimiter).from_writer(to);
    table.write_record(long::COLUMNS).map_err(plain)?;
    let mut number = String::new();
    long::rows(scores, options, |row| {
        number.clear();
        let _ = write!(number, "{}", row.value);
        let cells = [
            row.run.as_bytes(),
            row.query_id.0,
            row.measure.as_bytes(),
            row.stat.as_bytes(),
            number.as_bytes(),
        ];
        table.write_record(cells).map_err(plain)
    })?;
    table.flush()
}

/// The writer's own error, whose kind the table would hide.
fn plain(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
