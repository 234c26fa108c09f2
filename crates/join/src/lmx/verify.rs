//! The full check of a `.lmx` file: every bit, and that its rankings are possible under their
//! judgments.

use std::path::Path;

use rayon::prelude::*;

use super::{
    fields::damaged,
    layout::{ENTRY, HEADER, SECTIONS, TILES},
    open::LmxFile,
};
use crate::bytes::mmap::{FileAccess, Mapping};
use crate::error::Result;
use crate::judged_by::FacetKind;
use crate::matrix::{
    CodesAbove, LabelMatrix, MatrixTies, RowTies, Tie, Tile,
    code::{NOT_IN_QRELS, PAST_END},
};

impl LabelMatrix {
    /// Checks every bit of the `.lmx` file at `path`: checksums of all sections, tiles included,
    /// and gaps, which must be 0. Every ranking must be possible under its judgments:
    ///
    /// * A row has as many labels as results, and each label is a code of the codebook.
    /// * A ranking has no more documents of a code, or of an exact grade, than its query has
    ///   judged.
    /// * Tied groups are mixed, or of one grade, as the file says.
    /// * With judgments by judge or subtopic, a document's label is the code of its largest grade.
    pub fn verify(path: impl AsRef<Path>) -> Result<()> {
        Self::verify_with(path, FileAccess::Mapped)
    }

    /// Checks every bit of a `.lmx` file as [`LabelMatrix::verify`] does, mapping or reading the
    /// file.
    pub fn verify_with(path: impl AsRef<Path>, access: FileAccess) -> Result<()> {
        let path = path.as_ref();
        let file = LmxFile::new(Mapping::open(path, access)?, path)?;
        let sections = &file.description.sections;
        let mut end = HEADER + ENTRY * sections.len();
        for (at, section) in sections.iter().enumerate() {
            if file.map[end..section.range().start].iter().any(|&byte| byte != 0) {
                return Err(damaged(path, section.name, "the bytes before it are not 0"));
            }
            end = section.range().end;
            file.section(at)?;
        }
        let matrix = file.matrix()?;
        // The first fault, and not any: the message must not depend on the speed of threads.
        let fault = (0..matrix.packing().tiles.len()).into_par_iter().find_map_first(|at| {
            let (tile, rows) = (matrix.tile(at), matrix.tile_rows(at));
            (0..tile.lanes).find_map(|lane| {
                let row = rows.get(lane).map(|&row| row as usize);
                Some(format!("tile {at}, lane {lane}: {}", unsound(&matrix, tile, lane, row)?))
            })
        });
        fault.map_or(Ok(()), |message| Err(damaged(path, SECTIONS[TILES], message)))
    }
}

/// Describes the fault, if any, of the labels in a lane of a tile, which holds the ranking `row` or
/// none.
fn unsound(
    matrix: &LabelMatrix,
    tile: Tile<'_>,
    lane: usize,
    row: Option<usize>,
) -> Option<String> {
    let depth = row.map_or(0, |row| matrix.depths()[row] as usize);
    // The number of documents of each code that may still come.
    let mut left = [0u32; 256];
    if let Some(row) = row {
        left[usize::from(NOT_IN_QRELS)] = u32::MAX;
        let judged = matrix.facts().get(row % matrix.queries().len());
        judged.iter().for_each(|(code, count)| left[usize::from(code)] = count);
    }
    let ties =
        row.zip(matrix.tied_groups()).map(|(row, tied)| tied.get(row as u32)).unwrap_or_default();
    // Documents cut off by the rule are judged, but have no labels. Decoding rejects more cut-off
    // documents of a code than judged documents, so no count falls below 0.
    ties.cut.iter().for_each(|cut| left[usize::from(cut.code)] -= cut.count);
    for (rank, label) in (1..).zip(tile.lane(lane)) {
        let left = &mut left[usize::from(label)];
        match label {
            PAST_END if rank > depth => {}
            _ if rank > depth => {
                return Some(format!("a label at rank {rank}, past the end at {depth}"));
            }
            _ if label == PAST_END || usize::from(label) >= matrix.codebook().codes() => {
                return Some(format!("the label at rank {rank} means nothing in this codebook"));
            }
            _ if *left == 0 => {
                return Some(format!(
                    "the ranking has more documents of code {label} than are judged so for its \
                     query"
                ));
            }
            _ => *left -= 1,
        }
    }
    // Without a row, nothing but the labels could be wrong.
    let row = row?;
    unsound_grades(matrix, row, tile.lane(lane))
        .or_else(|| unsound_documents(matrix, row, tile.lane(lane)))
        .or_else(|| unsound_ties(matrix, tile, lane, row, ties))
}

/// Describes the fault, if any, of a ranking's groups of tied documents; `ties` are the groups of
/// different labels.
fn unsound_ties(
    matrix: &LabelMatrix,
    tile: Tile<'_>,
    lane: usize,
    row: usize,
    ties: RowTies<'_>,
) -> Option<String> {
    let alike = matrix.tied_groups().map(MatrixTies::same_grade).unwrap_or_default();
    let of_row = &alike[alike.partition_point(|tie| (tie.row as usize) < row)..];
    let mut of_row = of_row.iter().take_while(|tie| tie.row as usize == row);
    let label = |rank| tile.label(lane, rank);
    if let Some(tie) = of_row.find(|tie| !tie.is_alike(label)) {
        let (length, from) = (tie.group.length, tie.group.start + 1);
        return Some(format!("the {length} tied labels from rank {from} on are not of one grade"));
    }
    let Tie { start, length } = ties.unmixed(label)?;
    Some(format!("the {length} tied labels from rank {} on are not mixed", start + 1))
}

/// Describes the fault, if any, of the stored exact grades of a ranking with these labels.
fn unsound_grades(
    matrix: &LabelMatrix,
    row: usize,
    labels: impl Iterator<Item = u8>,
) -> Option<String> {
    let exact = matrix.exact()?;
    let judged = labels.filter(|&label| CodesAbove::JUDGED.contains(label)).count();
    let mut grades = exact.rows.row(row).to_vec();
    if grades.len() != judged {
        return Some(format!("{judged} judged documents with {} exact grades", grades.len()));
    }
    grades.sort_unstable_by(f64::total_cmp);
    // Both lists ascend, so one walk down the known grades serves all grades of the ranking.
    let mut known = exact.facts.get(row % matrix.queries().len()).iter();
    let too_many = grades.chunk_by(|one, next| one == next).find(|alike| {
        let most = known.find(|&(grade, _)| grade == alike[0]).map_or(0, |(_, count)| count);
        alike.len() > most as usize
    })?;
    Some(format!(
        "the ranking has more documents of grade {} than are judged so for its query",
        too_many[0]
    ))
}

/// Describes the fault, if any, of the stored document numbers of a ranking with these labels,
/// where judgments are by facet.
fn unsound_documents(
    matrix: &LabelMatrix,
    row: usize,
    labels: impl Iterator<Item = u8>,
) -> Option<String> {
    let grouped = matrix.facet_rows()?;
    let named: Vec<u8> = labels.filter(|&label| CodesAbove::IN_QRELS.contains(label)).collect();
    let numbers = grouped.rows.row(row);
    let (count, numbered) = (named.len(), numbers.len());
    if count != numbered {
        return Some(format!("{count} documents of the qrels with {numbered} numbers"));
    }
    // Levels of preferences are no grades.
    if grouped.facets.by == FacetKind::Preference {
        return None;
    }
    let largest = grouped.facets.largest(row % grouped.facets.judgments.len());
    let (label, number) = named.into_iter().zip(numbers).find(|&(label, &number)| {
        matrix.codebook().code(largest[number as usize]) != Some(label)
    })?;
    Some(format!("document {number} has code {label}, which is not that of its largest grade"))
}
