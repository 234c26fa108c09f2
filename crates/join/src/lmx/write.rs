//! Writing a file.

use std::io::Write;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::fields::{Encoder, bytes_of};
use super::further::{
    encode_exact, encode_groups, encode_ideal, encode_spans, encode_tied, encode_units,
};
use super::layout::{
    ALIGN, ENTRY, EXACT, GROUPS, HEADER, IDEAL, OPTIONAL, REQUIRED, SPANS, TIED, TILE_ALIGN, TILES,
    UNITS, VERSION,
};
use super::sections::{
    encode_book, encode_facts, encode_ids, encode_packing, encode_rule, encode_runs,
};
use crate::error::{Error, Result};
use crate::format::lmx::MAGIC;
use crate::judged_by::JudgedBy;
use crate::matrix::code::Extent;
use crate::matrix::label_matrix::LabelMatrix;
use crate::whole_file;

impl LabelMatrix {
    /// Writes the matrix as a `.lmx` file, first under a temporary name in the same folder: `path`
    /// never names half a file.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        write(self, path.as_ref())
    }

    /// The bytes that [`LabelMatrix::write`] writes.
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

fn write(matrix: &LabelMatrix, path: &Path) -> Result<()> {
    let failed = |e| Error::io(path, "write", e);
    if path.metadata().is_ok_and(|kind| !kind.is_file()) {
        return Err(failed(std::io::Error::other("it is not a regular file")));
    }
    whole_file::write(path, |file: &mut (dyn Write + Send)| encode(matrix, file)).map_err(failed)
}

/// Encodes the further sections, each with its kind and its mark; `None` leaves an empty section
/// out.
fn further(matrix: &LabelMatrix) -> [(u32, u32, Option<Vec<u8>>); 6] {
    let tied = matrix.tied.as_ref().map(encode_tied);
    let extent = matrix.book.extent().unwrap_or(Extent::NONE);
    let exact = matrix.exact.as_ref().map(|exact| encode_exact(exact, extent));
    let groups = matrix.grouped.as_ref().map(encode_groups);
    let of_groups =
        if matrix.judged_by() == Some(JudgedBy::Subtopic) { OPTIONAL } else { REQUIRED };
    [
        (TIED, OPTIONAL, tied),
        (IDEAL, OPTIONAL, encode_ideal(matrix.ideal)),
        (EXACT, REQUIRED, exact),
        (GROUPS, of_groups, groups),
        (UNITS, OPTIONAL, encode_units(&matrix.rule)),
        (SPANS, REQUIRED, matrix.spans.as_ref().map(encode_spans)),
    ]
}

fn encode(matrix: &LabelMatrix, to: &mut (dyn Write + Send)) -> std::io::Result<()> {
    let small = [
        encode_rule(matrix),
        encode_book(&matrix.book),
        encode_ids(&matrix.queries),
        encode_facts(&matrix.facts),
        encode_runs(&matrix.runs),
        bytes_of(&matrix.depths),
        encode_packing(&matrix.packing),
    ];
    let more = further(matrix);
    let first = (1..).zip(small.iter().map(Vec::as_slice).chain([matrix.tile_bytes()]));
    let first = first.map(|(kind, bytes)| (kind, 0, bytes));
    let more =
        more.iter().filter_map(|(kind, mark, bytes)| Some((*kind, *mark, &bytes.as_ref()?[..])));
    let sections: Vec<(u32, u32, &[u8])> = first.chain(more).collect();
    let mut table = Vec::new();
    let mut offset = HEADER + ENTRY * sections.len();
    for (at, &(kind, mark, bytes)) in sections.iter().enumerate() {
        offset = offset.next_multiple_of(if at == TILES { TILE_ALIGN } else { ALIGN });
        table.push((kind, mark, offset, bytes));
        offset += bytes.len();
    }
    let mut head = Encoder::default();
    head.bytes(&MAGIC);
    head.u32(VERSION);
    head.u32(sections.len() as u32);
    head.u64(offset as u64);
    head.u64(0);
    for (kind, mark, offset, bytes) in &table {
        head.u32(*kind);
        head.u32(*mark);
        head.u64(*offset as u64);
        head.u64(bytes.len() as u64);
        head.u64(xxh3_64(bytes));
    }
    let mut head = head.0;
    let checksum = xxh3_64(&head);
    head[HEADER - 8..HEADER].copy_from_slice(&checksum.to_le_bytes());

    to.write_all(&head)?;
    let mut written = head.len();
    for (.., offset, bytes) in table {
        to.write_all(&vec![0; offset - written])?;
        to.write_all(bytes)?;
        written = offset + bytes.len();
    }
    Ok(())
}
