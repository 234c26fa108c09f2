//! TSV and CSV: a header line, then the long rows; values in the shortest form that reads back as the same f64.

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
        table.write_record([row.run, row.query_id, row.measure, row.stat, &number]).map_err(plain)
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
