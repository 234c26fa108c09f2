//! Tells files of the ids of nearest neighbours, by a format that was named or by the end of a
//! name.

use super::Form;
use super::Partner;
use super::RowMaker;
use super::RowShape;
use super::foreign::Head;
use super::input_format::{InputFormat, PACKED};
use super::look::KnownOfText;
use super::neighbours::{IdFile, OfFound, OfTruth};
use super::npy::Npy;
use crate::lines::layout::{NumberKind, TableLayout};
use crate::lines::shape::Role;

/// The ends of names of files that hold vectors.
const VECTORS: [&str; 5] = [".fvecs", ".bvecs", ".fbin", ".u8bin", ".i8bin"];

/// Returns the format of a text of neighbour ids; rejects a text of vectors.
pub(super) fn of_ids(known: KnownOfText<'_>) -> Result<Option<InputFormat>, String> {
    let is_of_ids = |format: &InputFormat| {
        matches!(format, InputFormat::Ivecs | InputFormat::Ibin | InputFormat::Ids)
    };
    let format =
        known.read_as.format.or_else(|| InputFormat::of_name(known.name)).filter(is_of_ids);
    let name = known.name.to_ascii_lowercase();
    let name = PACKED.iter().find_map(|packed| name.strip_suffix(packed)).unwrap_or(&name);
    let holds_vectors = VECTORS.iter().any(|end| name.ends_with(end));
    if holds_vectors && (known.read_as.format.is_none() || format.is_some()) {
        return Err("holds vectors, and ids of neighbours were expected (.ivecs, .ibin)".to_owned());
    }
    Ok(format)
}

/// Recognises the ids of neighbours of a file in this format.
pub(super) fn ids(
    format: InputFormat,
    head: Head<'_>,
    KnownOfText { role, name, text, partner, .. }: KnownOfText<'_>,
) -> Result<Form, String> {
    let file = match format {
        InputFormat::Ivecs => IdFile::counted(head.text),
        InputFormat::Ibin => IdFile::headed(head.text),
        _ => Npy::of(head.text).and_then(IdFile::matrix),
    }?;
    let what = file.what();
    let made = match role {
        Role::Qrels => {
            let table = TableLayout::made(NumberKind::Number, "ids of true neighbours");
            let (truth, partner) = OfTruth::new(file, text, name)
                .map_err(|error| format!("cannot be read: {error}"))?;
            RowMaker::new(truth, table).with_partner(partner)
        }
        Role::Run => {
            let table = TableLayout::made(NumberKind::Rank, "ids of found neighbours");
            let truth = match partner {
                Some(Partner::Neighbours(truth)) => Some(truth.clone()),
                _ => None,
            };
            RowMaker::new(OfFound(file, truth), table)
        }
    };
    Ok(Form { shape: RowShape::Made(made), what, doubtful: false })
}
