//! Scores written as a table of Parquet, with the same rows as TSV, CSV and JSON lines.

use std::io::{self, Write};

use laneval::Scores;
use laneval::error::printable;
use laneval::internals::{columns, rows};
use laneval::report::ReportOptions;
use laneval_formats::{ColumnKind, ParquetWriter, RowCell};

/// Writes scores as a table of Parquet; averages have a null query, and all queries a null group.
pub fn write(
    scores: &Scores,
    options: &ReportOptions,
    to: &mut (dyn Write + Send),
) -> io::Result<()> {
    let names = columns(scores);
    let has_groups = names.contains(&"group");
    // All columns of text repeat few words, or the ids of the queries for each measure.
    let columns = names.into_iter().map(|name| match name {
        "value" => (name, ColumnKind::Float),
        _ => (name, ColumnKind::Dictionary),
    });
    let mut table = ParquetWriter::new(to, &columns.collect::<Vec<_>>())?;
    rows(scores, options, |measure, row| {
        let query = row.query.map(text).transpose()?.unwrap_or(RowCell::Null);
        let group = has_groups.then(|| row.group.map_or(RowCell::Null, RowCell::Text));
        let cells = [RowCell::Text(row.run)].into_iter().chain(group);
        let cells = cells.chain([
            query,
            RowCell::Text(measure),
            RowCell::Text(row.stat.name()),
            RowCell::Float(row.value),
        ]);
        table.push(&cells.collect::<Vec<_>>())
    })?;
    table.finish()
}

/// Returns the cell of Parquet for the id of a query; rejects an id that is not UTF-8.
fn text(id: &[u8]) -> io::Result<RowCell<'_>> {
    std::str::from_utf8(id).map(RowCell::Text).map_err(|_| {
        let id = printable(id);
        io::Error::other(format!(
            "the query '{id}' is not UTF-8, so .parquet cannot have it: .tsv and .csv can"
        ))
    })
}
