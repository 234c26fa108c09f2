//! Writing of a label matrix as a `.lmx` file.

use std::{io::Write, path::Path};

use xxhash_rust::xxh3::xxh3_64;

use super::{
    fields::encoded,
    layout::{
        AGGREGATION, ALIGN, ENTRY, EXACT, EXCLUDED, FACETS, HEADER, IDEAL, OPTIONAL, REQUIRED,
        SPANS, TIES, TILE_ALIGN, TILES, VERSION,
    },
};
use crate::atomic_file;
use crate::error::{Error, Result};
use crate::format::lmx::MAGIC;
use crate::judged_by::FacetKind;
use crate::matrix::{LabelMatrix, code::GradeRange};
use crate::rule::IdealSource;

impl LabelMatrix {
    /// Writes the label matrix as a `.lmx` file, first under a temporary name in the same folder:
    /// `path` never names half a file.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        // An atomic write renames, and would put a file in the place of a pipe or a device.
        let written = if path.metadata().is_ok_and(|kind| !kind.is_file()) {
            Err(std::io::Error::other("it is not a regular file"))
        } else {
            atomic_file::write(path, |file| encode(self, file))
        };
        written.map_err(|e| Error::io(path, "write", e))
    }

    /// Returns the bytes of the `.lmx` file that [`LabelMatrix::write`] writes.
    ///
    /// ```
    /// use laneval::{Join, LabelMatrix, Qrels};
    /// let qrels = Qrels::new([("q1", "d1", 1.0)])?;
    /// let matrix = Join::default().rankings(&qrels, [("mine".to_owned(), [("q1", "d1", 0.5)])])?;
    /// assert_eq!(LabelMatrix::from_bytes(&matrix.to_bytes())?.depths(), [1]);
    /// # Ok::<(), laneval::Error>(())
    /// ```
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(self, &mut bytes)
            .unwrap_or_else(|_| unreachable!("memory takes all that is written"));
        bytes
    }
}

/// Encodes the sections that only some `.lmx` files have, each with its kind and its mark; `None`
/// leaves an empty section out.
fn further(matrix: &LabelMatrix) -> [(u32, u32, Option<Vec<u8>>); 7] {
    let extent = matrix.book.extent().unwrap_or(GradeRange::NONE);
    let exact = matrix.exact.as_ref().map(|exact| encoded(|to| to.exact(exact, extent)));
    let (units, excluded) = (matrix.rule.units.as_deref(), &matrix.rule.excluded);
    let retrieved = matrix.ideal == IdealSource::Retrieved;
    let of_groups =
        if matrix.judged_by() == Some(FacetKind::Subtopic) { OPTIONAL } else { REQUIRED };
    [
        (TIES, OPTIONAL, matrix.tied.as_ref().map(|tied| encoded(|to| to.tied(tied)))),
        // Without the section, ideal rankings are of the judgments.
        (IDEAL, OPTIONAL, retrieved.then(|| encoded(|to| to.u32(1)))),
        (EXACT, REQUIRED, exact),
        (FACETS, of_groups, matrix.grouped.as_ref().map(|rows| encoded(|to| to.facets(rows)))),
        (AGGREGATION, OPTIONAL, units.map(|units| encoded(|to| to.units(units)))),
        (SPANS, REQUIRED, matrix.spans.as_ref().map(|spans| encoded(|to| to.spans(spans)))),
        (EXCLUDED, OPTIONAL, excluded.as_ref().map(|print| print.as_bytes().to_vec())),
    ]
}

fn encode(matrix: &LabelMatrix, to: &mut (dyn Write + Send)) -> std::io::Result<()> {
    let small = [
        encoded(|to| to.rule(matrix)),
        encoded(|to| to.book(&matrix.book)),
        encoded(|to| to.ids(&matrix.queries)),
        encoded(|to| to.facts(&matrix.facts)),
        encoded(|to| to.runs(&matrix.runs)),
        encoded(|to| to.u32s(&matrix.depths)),
        encoded(|to| to.packing(&matrix.packing)),
    ];
    let more = further(matrix);
    let first = (1..).zip(small.iter().map(Vec::as_slice).chain([matrix.tile_bytes()]));
    let first = first.map(|(kind, bytes)| (kind, 0, 0, bytes));
    let more = more.iter();
    let more = more.filter_map(|(kind, mark, bytes)| Some((*kind, *mark, 0, bytes.as_deref()?)));
    // By kind, mark, offset and bytes.
    let mut sections: Vec<(u32, u32, usize, &[u8])> = first.chain(more).collect();
    let mut end = HEADER + ENTRY * sections.len();
    for (at, (.., offset, bytes)) in sections.iter_mut().enumerate() {
        *offset = end.next_multiple_of(if at == TILES { TILE_ALIGN } else { ALIGN });
        end = *offset + bytes.len();
    }
    let mut head = encoded(|head| {
        head.bytes(&MAGIC);
        head.u32s(&[VERSION, sections.len() as u32]);
        // The checksum is of a header with zeros in its place.
        head.u64s(&[end as u64, 0]);
        for &(kind, mark, offset, bytes) in &sections {
            head.u32s(&[kind, mark]);
            head.u64s(&[offset as u64, bytes.len() as u64, xxh3_64(bytes)]);
        }
    });
    let checksum = xxh3_64(&head);
    head[HEADER - 8..HEADER].copy_from_slice(&checksum.to_le_bytes());

    to.write_all(&head)?;
    let mut written = head.len();
    for (.., offset, bytes) in sections {
        to.write_all(&vec![0; offset - written])?;
        to.write_all(bytes)?;
        written = offset + bytes.len();
    }
    Ok(())
}
