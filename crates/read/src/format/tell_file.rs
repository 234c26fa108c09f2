//! Tells what is no text: matrices of NumPy, and files of tables.

use super::Form;
use super::InputFormat;
use super::Partner;
use super::RowMaker;
use super::RowShape;
use super::foreign::{Head, OtherFormat};
use super::look::{KnownOfText, Told};
use super::npy::{Npy, OfMatrix};
use super::tables::{TableBytes, TableColumns, TableFile, WrongTable};
use crate::error::printable;
use crate::lines::layout::{NumberKind, TableLayout};
use crate::lines::shape::Role;

/// Recognises a matrix of NumPy. A matrix of scores has the shape of the matrix of grades, for its
/// documents are the same.
pub(super) fn matrix(
    head: Head<'_>,
    KnownOfText { role, text, partner, .. }: KnownOfText<'_>,
) -> Result<Form, String> {
    let npy = Npy::of(head.text)?;
    if let (Role::Run, Some(Partner::Matrix(name, judged))) = (role, partner)
        && judged.shape != npy.shape
    {
        let (found, expected, name) = (npy.size(), judged.size(), printable(name.as_bytes()));
        return Err(format!("has {found}, and {expected} were expected, as in {name}"));
    }
    let (values, size) = (npy.values(), npy.size());
    let shape = format!("a matrix of {}s, [queries, documents]", role.number());
    let table = TableLayout::made(NumberKind::Letters, &shape);
    let made = RowMaker::new(OfMatrix(npy.clone(), role.number()), table).with_matrix(npy.clone());
    let name = || text.map_or(String::new(), |text| text.name.clone());
    let made = match role {
        Role::Qrels => made.with_partner(Partner::Matrix(name(), npy)),
        Role::Run => made,
    };
    Ok(Form {
        shape: RowShape::Made(made),
        what: format!("a NumPy matrix of {values}, {size}"),
        doubtful: false,
    })
}

/// Reads a file of tables.
pub(super) fn of_file(
    format: InputFormat,
    KnownOfText { role, by, read_as, text, tables, .. }: KnownOfText<'_>,
) -> Told {
    let name = format.name_of_tables().unwrap_or_default();
    let wrong = |message: String| OtherFormat::Told(0, message);
    let reader = tables.reader.ok_or_else(|| {
        wrong(format!(
            "is {name}, which this build does not read: build the command with `--features \
             parquet`, or take that of the Python package; in \
             Rust `Join::tables` takes a reader"
        ))
    })?;
    let Some(text) = text else {
        return Err(wrong(format!(
            "is {name}, which cannot be read batch by batch: evaluate it as a file"
        )));
    };
    let bytes = TableBytes::of(text).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    let columns = TableColumns::of(role, read_as.columns.as_ref(), tables.ranks).with_groups(by);
    let table = reader.read(TableFile { format, bytes, columns }).map_err(|wrong| match wrong {
        WrongTable::Rows { first, more } => OtherFormat::Rows(first, more),
        WrongTable::Missing(missing) => OtherFormat::Told(0, missing.message(read_as.options)),
        other => OtherFormat::Told(0, other.to_string()),
    })?;
    let what = format!(
        "{name}: {}",
        table.names().iter().map(|name| printable(name.as_bytes())).collect::<Vec<_>>().join(", ")
    );
    Ok(Form { shape: RowShape::Columns(table), what, doubtful: false })
}
