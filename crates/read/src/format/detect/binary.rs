//! Detection of inputs that are not text: matrices of NumPy, and files of tables such as Parquet.

use super::{
    first_lines::{DetectContext, Detected},
    foreign::{FileHead, ForeignFormat},
};
use crate::error::printable;
use crate::format::{
    AlignedQrels, InputFormat, OtherFormat, RowLayout, RowShape,
    npy::{NpyHeader, OfMatrix},
    tables::{TableColumns, TableFile},
};
use crate::lines::{layout::NumberKind, row::RowForm, shape::Role};

/// Recognises a NumPy matrix of grades or scores, and returns the layout of its rows. A matrix of
/// scores has the shape of the matrix of grades, for its documents are the same.
pub fn matrix(
    head: FileHead<'_>,
    DetectContext { role, text, partner, .. }: DetectContext<'_>,
) -> Detected {
    let npy = NpyHeader::parse(head.text)?;
    if let (Role::Run, Some(AlignedQrels::Matrix(name, judged))) = (role, partner)
        && judged.shape != npy.shape
    {
        let (found, expected, name) = (npy.size(), judged.size(), printable(name.as_bytes()));
        return Err(format!("has {found}, and {expected} were expected, as in {name}").into());
    }
    let what = format!("a NumPy matrix of {}, {}", npy.values(), npy.size());
    let shape = format!("a matrix of {}s, [queries, documents]", role.number());
    let form = RowForm::new(NumberKind::Number, shape);
    let name = text.map_or(String::new(), |text| text.name.clone());
    let format = OtherFormat {
        partner: (role == Role::Qrels).then(|| AlignedQrels::Matrix(name, npy.clone())),
        matrix: Some(npy.clone()),
        ..OtherFormat::in_sequence(OfMatrix(npy, role), form)
    };
    Ok(RowLayout::other(format, what))
}

/// Reads a Parquet or Arrow file by the reader of the join, and returns the layout of its rows.
pub fn detect_table_file(
    format: InputFormat,
    DetectContext { role, by, read_as, text, tables, ranks, .. }: DetectContext<'_>,
) -> Detected {
    let name = format.name_of_tables().unwrap_or_default();
    let reader = tables.ok_or_else(|| {
        format!(
            "is {name}, which this build does not read: build the command with `--features \
             parquet`, or take that of the Python package; in \
             Rust `Join::tables` takes a reader"
        )
    })?;
    let text = text.ok_or_else(|| {
        format!("is {name}, which cannot be read batch by batch: evaluate it as a file")
    })?;
    let columns = TableColumns::for_role(role, read_as.columns.as_ref(), ranks)
        .with_groups(by)
        .with_words(read_as);
    let file = TableFile::open(format, text, columns);
    let table = reader.read(file.map_err(|error| format!("cannot be read: {error}"))?);
    let table = table.map_err(|wrong| ForeignFormat::Table(wrong, read_as.options))?;
    let names: Vec<String> = table.names().iter().map(|name| printable(name.as_bytes())).collect();
    let what = format!("{name}: {}", names.join(", "));
    let is_ungraded = table.is_ungraded();
    Ok(RowLayout::new(RowShape::Columns(table), what).ungraded(is_ungraded))
}
