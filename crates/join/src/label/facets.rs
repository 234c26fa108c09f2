//! Judgments by facet: several of one document, by judges, by subtopics, or as preferences.
//!
//! The documents that the qrels name for a query are numbered from 0 in bytewise order of their docnos, and so are groups and sub-groups. A
//! matrix keeps the numbers of the named documents of each row in rank order; the labels say at which ranks they are.

use std::ops::Range;
use std::sync::Arc;

use bytemuck::Zeroable;
use rayon::prelude::*;

use super::ids::Ids;
use super::ragged::{Ragged, pieces};

/// The number of queries whose judgments are checked at once.
const PIECE: usize = 1 << 10;

/// What facets of judgments are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum JudgedBy {
    /// A facet is a judge.
    Judge,
    /// A facet is a subtopic of the query.
    Subtopic,
    /// A facet is a judgment group, which states preferences: a document is preferred to those of lower levels in the same sub-group.
    Preference,
    /// A facet is a passage of a document, by its positions: results are passages too.
    Span,
}

impl JudgedBy {
    /// Every meaning, with its name.
    pub const ALL: [(&'static str, JudgedBy); 4] = [
        ("judge", JudgedBy::Judge),
        ("subtopic", JudgedBy::Subtopic),
        ("preference", JudgedBy::Preference),
        ("span", JudgedBy::Span),
    ];
}

named!(JudgedBy, "a facet of judgments");

/// A judgment of a document in a group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Zeroable)]
pub struct FacetJudgment {
    /// The number of the document in its query.
    pub document: u32,
    /// The number of the group among those of all queries: the index of its name.
    pub group: u32,
    /// The number of the sub-group; 0 where there are none, which then means nothing.
    pub subgroup: u32,
    /// The grade, or the level of a preference.
    pub grade: f64,
}

/// The place of a judgment among those of its query, which are by document, group and sub-group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FacetPlace {
    document: u32,
    group: u32,
    subgroup: u32,
}

impl FacetJudgment {
    /// The place among the judgments of the query.
    pub fn place(&self) -> FacetPlace {
        FacetPlace { document: self.document, group: self.group, subgroup: self.subgroup }
    }

    /// Adds the judgment to the largest grades of the documents of its query, in which those before it are.
    pub fn add_to(&self, largest: &mut Vec<f64>) {
        match largest.get_mut(self.document as usize) {
            Some(grade) => *grade = self.grade.max(*grade),
            None => largest.push(self.grade),
        }
    }
}

/// Judgments by facet of some queries.
#[derive(Debug, Clone, PartialEq)]
pub struct Facets {
    /// The meaning of the groups.
    pub by: JudgedBy,
    /// The names of groups and sub-groups, in bytewise order, which their numbers refer to.
    pub names: Ids,
    /// The judgments of each query, by document, group and sub-group.
    pub judgments: Ragged<FacetJudgment>,
    /// The largest grade of each document of each query, by number.
    pub largest: Ragged<f64>,
}

/// Judgments by facet of one query.
#[derive(Debug, Clone, Copy)]
pub struct QueryFacets<'a> {
    /// The number of documents.
    pub documents: u32,
    /// The judgments, by document, group and sub-group.
    pub judgments: &'a [FacetJudgment],
}

impl Facets {
    /// Makes judgments of those of a file, and checks them: they are by document, group and sub-group, and documents are numbered without
    /// gaps. Of preferences the same one may be there twice.
    pub(super) fn checked(
        by: JudgedBy,
        names: Ids,
        judgments: Ragged<FacetJudgment>,
    ) -> Result<Self, String> {
        let known =
            |of: &FacetJudgment| [of.group, of.subgroup].iter().all(|&name| (name as usize) < names.len());
        if !judgments.values().par_iter().all(known) || !names.are_ascending() {
            return Err("the names do not fit the groups".to_owned());
        }
        let of_piece = |queries: Range<usize>| {
            let (mut piece, mut of_query) = (Ragged::default(), Vec::new());
            for query in queries {
                largest_of(by, judgments.of(query), &mut of_query)
                    .map_err(|message| format!("query {}: {message}", query + 1))?;
                piece.push(&of_query);
            }
            Ok::<Ragged<f64>, String>(piece)
        };
        let pieces: Vec<_> = pieces(judgments.len(), PIECE).into_par_iter().map(of_piece).collect();
        let mut largest = Ragged::default();
        for piece in pieces {
            let piece = piece?;
            (0..piece.len()).for_each(|query| largest.push(piece.of(query)));
        }
        Ok(Facets { by, names, judgments, largest })
    }

    /// The judgments of a query.
    pub fn of(&self, query: usize) -> QueryFacets<'_> {
        QueryFacets { documents: self.largest.range(query).len() as u32, judgments: self.judgments.of(query) }
    }

    /// The judgments of some of the queries alone.
    pub fn of_queries(&self, queries: impl Iterator<Item = usize>) -> Self {
        let (mut judgments, mut largest) = (Ragged::default(), Ragged::default());
        for query in queries {
            judgments.push(self.judgments.of(query));
            largest.push(self.largest.of(query));
        }
        Facets { by: self.by, names: self.names.clone(), judgments, largest }
    }

    /// The place of a query's documents among those of all queries.
    pub fn documents(&self, query: usize) -> Range<usize> {
        self.largest.range(query)
    }
}

/// Checks the judgments of a query of a file, and finds the largest grade of each document.
fn largest_of(by: JudgedBy, judgments: &[FacetJudgment], largest: &mut Vec<f64>) -> Result<(), &'static str> {
    largest.clear();
    let mut last: Option<FacetPlace> = None;
    for of in judgments {
        let place = of.place();
        let ascends = last.is_none_or(|last| last < place || last == place && by == JudgedBy::Preference);
        // Documents come in their order, so a number is that of the last one, or the next: behind a gap a grade would be put in the place
        // of another document.
        let next = largest.len() as u32;
        if by != JudgedBy::Preference && of.subgroup != 0 {
            return Err("a judgment has a sub-group, but is not a preference");
        }
        if !of.grade.is_finite() || !ascends || of.document > next || of.document + 1 < next {
            return Err("judgments are out of order, or not numbers");
        }
        of.add_to(largest);
        last = Some(place);
    }
    Ok(())
}

impl FacetRows {
    /// Makes rows of those of a file, and checks them: the documents of a row are those of its query, each at most once.
    pub(super) fn checked(of: Arc<Facets>, rows: Ragged<u32>, queries: usize) -> Result<Self, String> {
        // The last row that had each number: rows differ, so nothing is cleared between them, and the memory is that of the largest query.
        let mut met: Vec<usize> = Vec::new();
        for row in 0..rows.len() {
            let documents = of.documents(row % queries.max(1)).len();
            met.resize(documents.max(met.len()), usize::MAX);
            for &number in rows.of(row) {
                let again = met[..documents]
                    .get_mut(number as usize)
                    .is_none_or(|last| std::mem::replace(last, row) == row);
                if again {
                    return Err(format!(
                        "row {} has document {number} twice, or its query has no such document",
                        row + 1
                    ));
                }
            }
        }
        Ok(FacetRows { of, rows })
    }
}

/// Judgments by facet, and the named documents of rankings.
#[derive(Debug, Clone, PartialEq)]
pub struct FacetRows {
    /// The judgments of all queries.
    pub of: Arc<Facets>,
    /// The numbers of the named documents of each row, in rank order.
    pub rows: Ragged<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_preferences_have_sub_groups() {
        let checked = |by| {
            let mut judgments = Ragged::default();
            let of = |subgroup| FacetJudgment { document: 0, group: 0, subgroup, grade: 1.0 };
            judgments.push(&[of(0), of(1)]);
            let mut names = Ids::default();
            [b"g", b"s"].iter().for_each(|name| names.push(*name));
            Facets::checked(by, names, judgments).map(|of| of.judgments.len())
        };
        assert_eq!(checked(JudgedBy::Preference), Ok(1));
        let message = "query 1: a judgment has a sub-group, but is not a preference";
        assert_eq!(checked(JudgedBy::Subtopic), Err(message.to_owned()));
        assert_eq!(checked(JudgedBy::Judge), Err(message.to_owned()));
    }
}
