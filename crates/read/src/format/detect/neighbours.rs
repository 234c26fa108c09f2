//! Detection of files of ids of nearest neighbours, by the format option or the file name.

use super::{
    first_lines::{DetectContext, Detected},
    foreign::FileHead,
};
use crate::format::{
    AlignedQrels, OtherFormat, RowLayout,
    input_format::{InputFormat, unpacked_name},
    neighbours::{IdFile, NeighbourRows},
    npy::NpyHeader,
};
use crate::lines::{layout::NumberKind, row::RowForm, shape::Role};

/// The ends of names of files that hold vectors.
const VECTORS: [&str; 5] = [".fvecs", ".bvecs", ".fbin", ".u8bin", ".i8bin"];

/// Returns the format of a file of ids of nearest neighbours, from an option or its name; rejects
/// files of vectors.
pub fn detect_id_format(known: DetectContext<'_>) -> Result<Option<InputFormat>, String> {
    let format =
        known.read_as.format.or_else(|| InputFormat::from_extension(known.name)).filter(|format| {
            matches!(format, InputFormat::Ivecs | InputFormat::Ibin | InputFormat::Ids)
        });
    let name = unpacked_name(known.name);
    let holds_vectors = VECTORS.iter().any(|end| name.ends_with(end));
    if holds_vectors && (known.read_as.format.is_none() || format.is_some()) {
        return Err("holds vectors, and ids of neighbours were expected (.ivecs, .ibin)".to_owned());
    }
    Ok(format)
}

/// Recognises a file of ids of nearest neighbours by its start, and returns the layout of its rows.
pub fn ids(
    format: InputFormat,
    head: FileHead<'_>,
    DetectContext { role, name, text, partner, .. }: DetectContext<'_>,
) -> Detected {
    let file = match format {
        InputFormat::Ivecs => IdFile::counted(head.text),
        InputFormat::Ibin => IdFile::headed(head.text),
        _ => NpyHeader::parse(head.text).and_then(IdFile::matrix),
    }?;
    let what = file.what();
    let format = match role {
        Role::Qrels => {
            let form = RowForm::new(NumberKind::Number, "ids of true neighbours");
            let (truth, partner) = NeighbourRows::truth(file, text, name)
                .map_err(|error| format!("cannot be read: {error}"))?;
            OtherFormat { partner: Some(partner), ..OtherFormat::in_sequence(truth, form) }
        }
        Role::Run => {
            let form = RowForm::new(NumberKind::Rank, "ids of found neighbours");
            let truth = match partner {
                Some(AlignedQrels::Neighbours(truth)) => Some(truth.clone()),
                _ => None,
            };
            OtherFormat::in_sequence(NeighbourRows { file, truth, role, distances: None }, form)
        }
    };
    Ok(RowLayout::other(format, what))
}
