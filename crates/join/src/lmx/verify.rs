//! Checking every bit of a file.

use std::path::Path;

use rayon::prelude::*;

use super::fields::damaged;
use super::header::{Section, describe, section};
use super::layout::{ENTRY, HEADER, SECTIONS, TILES};
use super::open::decode;
use crate::bytes::mmap::{FileAccess, Mapping};
use crate::error::Result;
use crate::judged_by::JudgedBy;
use crate::matrix::code::{Above, Codebook, PAST_END, UNPOOLED};
use crate::matrix::exact::ExactGrades;
use crate::matrix::facets::FacetRows;
use crate::matrix::label_matrix::LabelMatrix;
use crate::matrix::tied::{RowTies, TiedGroups};
use crate::matrix::tile::Tile;

impl LabelMatrix {
    /// Checks every bit of the file at `path`: the checksums of all sections, tiles included, and
    /// the gaps between sections, which must be 0. Every ranking must be possible under its
    /// judgments:
    ///
    /// * A row has as many labels as results, and each label is a code of the codebook.
    /// * A ranking has no more documents of a code, or of an exact grade, than its query has
    ///   judged.
    /// * Tied groups are mixed, or of one grade, as the file says.
    /// * With judgments by judge or subtopic, a document's label is the code of its largest grade.
    pub fn verify(path: impl AsRef<Path>) -> Result<()> {
        Self::verify_with(path, FileAccess::Mapped)
    }

    /// Checks the file as [`LabelMatrix::verify`] does, mapping or reading it.
    pub fn verify_with(path: impl AsRef<Path>, access: FileAccess) -> Result<()> {
        let path = path.as_ref();
        let map = Mapping::open(path, access)?;
        let description = describe(&map, map.len() as u64, path)?;
        let mut end = HEADER + ENTRY * description.sections.len();
        for (at, Section { name, offset, length, .. }) in description.sections.iter().enumerate() {
            if map[end..*offset as usize].iter().any(|&byte| byte != 0) {
                return Err(damaged(path, name, "the bytes before it are not 0".into()));
            }
            end = (offset + length) as usize;
            section(&map, &description, at, path)?;
        }
        let matrix = decode(map, &description, path)?;
        let unsound = |at: usize| {
            let (tile, rows) = (matrix.tile(at), matrix.tile_rows(at));
            (0..tile.lanes).find_map(|lane| {
                let message =
                    unsound(&matrix, tile, lane, rows.get(lane).map(|&row| row as usize))?;
                Some(format!("tile {at}, lane {lane}: {message}"))
            })
        };
        match (0..matrix.packing().tiles.len()).into_par_iter().find_map_first(unsound) {
            Some(message) => Err(damaged(path, SECTIONS[TILES], message)),
            None => Ok(()),
        }
    }
}

/// Describes the fault, if any, of the labels of a lane, which holds `row` or no row.
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
        left[usize::from(UNPOOLED)] = u32::MAX;
        let judged = matrix.facts().of(row % matrix.queries().len());
        judged.iter().for_each(|(code, count)| left[usize::from(code)] = count);
    }
    let ties =
        row.zip(matrix.tied_groups()).map(|(row, tied)| tied.of(row as u32)).unwrap_or_default();
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
            _ if label == PAST_END || usize::from(label) >= matrix.book().codes() => {
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
    if let (Some(exact), Some(row)) = (matrix.exact(), row)
        && let Some(message) = unsound_grades(exact, row, matrix.queries().len(), tile.lane(lane))
    {
        return Some(message);
    }
    if let (Some(grouped), Some(row)) = (matrix.facet_rows(), row)
        && let Some(message) = unsound_documents(grouped, row, matrix.book(), tile.lane(lane))
    {
        return Some(message);
    }
    unsound_ties(matrix, tile, lane, row, ties)
}

/// Describes the fault, if any, of the tied groups of a lane, which holds `row` or no row; `ties`
/// are the mixed groups.
fn unsound_ties(
    matrix: &LabelMatrix,
    tile: Tile<'_>,
    lane: usize,
    row: Option<usize>,
    ties: RowTies<'_>,
) -> Option<String> {
    let alike = matrix.tied_groups().map(TiedGroups::alike).unwrap_or_default();
    if let Some(row) = row {
        let of_row = &alike[alike.partition_point(|of| (of.row as usize) < row)..];
        let mut of_row = of_row.iter().take_while(|of| of.row as usize == row);
        if let Some(of) = of_row.find(|of| !of.is_alike(|rank| tile.label(lane, rank))) {
            let (length, from) = (of.group.length, of.group.start + 1);
            return Some(format!(
                "the {length} tied labels from rank {from} on are not of one grade"
            ));
        }
    }
    let unmixed = ties.unmixed(|rank| tile.label(lane, rank))?;
    Some(format!(
        "the {} tied labels from rank {} on are not mixed",
        unmixed.length,
        unmixed.start + 1
    ))
}

/// Describes the fault, if any, of the exact grades of a row with these labels.
fn unsound_grades(
    exact: &ExactGrades,
    row: usize,
    queries: usize,
    labels: impl Iterator<Item = u8>,
) -> Option<String> {
    let judged = labels.filter(|&label| Above::JUDGED.contains(label)).count();
    let mut grades = exact.rows.of(row).to_vec();
    if grades.len() != judged {
        return Some(format!("{judged} judged documents with {} exact grades", grades.len()));
    }
    grades.sort_unstable_by(f64::total_cmp);
    let mut known = exact.facts.of(row % queries).iter();
    let mut most =
        |grade: f64| known.find(|&(of, _)| of == grade).map_or(0, |(_, count)| count as usize);
    let too_many =
        grades.chunk_by(|one, next| one == next).find(|alike| alike.len() > most(alike[0]))?;
    Some(format!(
        "the ranking has more documents of grade {} than are judged so for its query",
        too_many[0]
    ))
}

/// Describes the fault, if any, of the document numbers of a row with these labels.
fn unsound_documents(
    grouped: &FacetRows,
    row: usize,
    book: &Codebook,
    labels: impl Iterator<Item = u8>,
) -> Option<String> {
    let named: Vec<u8> = labels.filter(|&label| Above::POOLED.contains(label)).collect();
    let numbers = grouped.rows.of(row);
    if named.len() != numbers.len() {
        return Some(format!(
            "{} documents of the qrels with {} numbers",
            named.len(),
            numbers.len()
        ));
    }
    // Levels of preferences are no grades.
    let graded = grouped.of.by != JudgedBy::Preference;
    let largest = grouped.of.largest(row % grouped.of.judgments.len());
    let other =
        |&(label, number): &(u8, u32)| graded && book.code(largest[number as usize]) != Some(label);
    let (label, number) = named.into_iter().zip(numbers.iter().copied()).find(other)?;
    Some(format!("document {number} has code {label}, which is not that of its largest grade"))
}
