//! Judgments by facet: several judgments of one document, by judges, by subtopics, or as
//! preferences.
//!
//! The documents that the qrels name for a query are numbered from 0 in bytewise order of their
//! docnos, and so are groups and sub-groups. A matrix keeps the numbers of the named documents of
//! each row in rank order; the labels give the ranks of the named documents.

use std::ops::Range;
use std::sync::Arc;

use bytemuck::Zeroable;
use rayon::prelude::*;

use super::{Ragged, ragged::range_of};
use crate::ids::Ids;
use crate::judged_by::FacetKind;

/// The grade of a document by one facet: a judge, a subtopic or a preference group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Zeroable)]
pub struct FacetJudgment {
    /// The grade, or the level of a preference.
    pub grade: f64,
    /// The number of the document in its query.
    pub document: u32,
    /// The number of the group among the groups of all queries: the index of its name.
    pub group: u32,
}

impl FacetJudgment {
    /// Raises the grade of the judged document in `largest`, the largest grade of each document of
    /// its query so far.
    pub fn add_to(&self, largest: &mut Vec<f64>) {
        match largest.get_mut(self.document as usize) {
            Some(grade) => *grade = self.grade.max(*grade),
            None => largest.push(self.grade),
        }
    }
}

/// The judgments of some queries by facet: several grades of a document, by judge, subtopic or
/// preference.
#[derive(Debug, Clone, PartialEq)]
pub struct Facets {
    /// The meaning of the groups.
    pub by: FacetKind,
    /// The names of groups and sub-groups, in bytewise order; a group's number is an index here.
    pub names: Ids,
    /// The judgments of each query, by document, group and sub-group.
    pub judgments: Ragged<FacetJudgment>,
    /// The number of the sub-group of each judgment; empty if all numbers are 0.
    subgroups: Vec<u32>,
    /// The end of each query's documents among the documents of all queries.
    ends: Vec<u64>,
}

/// The judgments of a single query by facet: by judge, subtopic or preference group.
#[derive(Debug, Clone, Copy)]
pub struct QueryFacets<'a> {
    /// The number of documents.
    pub documents: u32,
    /// The judgments, by document, group and sub-group.
    pub judgments: &'a [FacetJudgment],
    subgroups: &'a [u32],
}

impl<'a> QueryFacets<'a> {
    /// Returns the facet judgments of the query, each with the number of its preference sub-group.
    /// Without sub-groups, all numbers are 0 and mean nothing.
    pub fn with_subgroups(&self) -> impl Iterator<Item = (&'a FacetJudgment, u32)> + use<'a> {
        self.judgments.iter().zip(self.subgroups.iter().copied().chain(std::iter::repeat(0)))
    }
}

impl Facets {
    /// Makes the judgments by facet (judge, subtopic or preference) of some queries. `subgroups`
    /// has the number of the sub-group of each judgment, or nothing if there are no sub-groups, and
    /// `documents` the number of documents of each query.
    pub fn new(
        by: FacetKind,
        names: Ids,
        judgments: Ragged<FacetJudgment>,
        mut subgroups: Vec<u32>,
        documents: impl IntoIterator<Item = usize>,
    ) -> Self {
        let ends = documents.into_iter().scan(0, |end, count| {
            *end += count as u64;
            Some(*end)
        });
        let ends = ends.collect();
        // Most judgments have no sub-groups, and zeros alone would cost four bytes each.
        if subgroups.iter().all(|&subgroup| subgroup == 0) {
            subgroups = Vec::new();
        }
        Self { by, names, judgments, subgroups, ends }
    }

    /// Builds the judgments by facet from those of an `.lmx` file, and rejects judgments out of
    /// order. The order is by document, group and sub-group. Documents must be numbered without
    /// gaps. A preference may occur twice.
    pub(crate) fn checked(
        by: FacetKind,
        names: Ids,
        judgments: Ragged<FacetJudgment>,
        subgroups: Vec<u32>,
    ) -> Result<Self, String> {
        let known = names.len();
        let fits = judgments.values().par_iter().all(|judgment| (judgment.group as usize) < known)
            && subgroups.par_iter().all(|&subgroup| (subgroup as usize) < known);
        fault_if!(!fits || !names.are_ascending(), "the names do not fit the groups");
        let counts: Vec<_> = (0..judgments.len())
            .into_par_iter()
            .map(|query| {
                let subgroups = subgroups.get(judgments.range(query));
                count_documents(by, judgments.row(query), subgroups)
                    .map_err(|message| format!("query {}: {message}", query + 1))
            })
            .collect();
        // All queries are checked first, so the error never depends on the speed of threads.
        let counts = counts.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(Self::new(by, names, judgments, subgroups, counts))
    }

    /// Returns the judgments by facet of one query.
    pub fn get(&self, query: usize) -> QueryFacets<'_> {
        QueryFacets {
            documents: self.documents(query).len() as u32,
            judgments: self.judgments.row(query),
            // Without sub-groups there is nothing to cut a part from.
            subgroups: self.subgroups.get(self.judgments.range(query)).unwrap_or_default(),
        }
    }

    /// Returns whether any judgment by preference has a sub-group.
    pub fn has_subgroups(&self) -> bool {
        !self.subgroups.is_empty()
    }

    /// Returns the judgments by facet of some of the queries alone.
    pub fn select(&self, queries: impl Iterator<Item = usize>) -> Self {
        let (mut judgments, mut subgroups, mut counts) = (Ragged::default(), vec![], vec![]);
        for query in queries {
            let facets = self.get(query);
            judgments.push(facets.judgments);
            subgroups.extend_from_slice(facets.subgroups);
            counts.push(facets.documents as usize);
        }
        Self::new(self.by, self.names.clone(), judgments, subgroups, counts)
    }

    /// Returns the range of a query's judged documents in the numbering of all queries' documents.
    pub fn documents(&self, query: usize) -> Range<usize> {
        range_of(&self.ends, query)
    }

    /// Returns the largest grade of each judged document of a query over all facets, by document
    /// number.
    pub fn largest(&self, query: usize) -> Vec<f64> {
        let mut largest = Vec::new();
        self.judgments.row(query).iter().for_each(|judgment| judgment.add_to(&mut largest));
        largest
    }
}

/// Rejects unsound judgments by facet of a query of an `.lmx` file, and counts the judged
/// documents.
fn count_documents(
    by: FacetKind,
    judgments: &[FacetJudgment],
    subgroups: Option<&[u32]>,
) -> Result<usize, &'static str> {
    let by_preference = by == FacetKind::Preference;
    let (mut last, mut next) = (None, 0);
    for (at, judgment) in judgments.iter().enumerate() {
        let place =
            (judgment.document, judgment.group, subgroups.map_or(0, |subgroups| subgroups[at]));
        let ascends = last.is_none_or(|last| last < place || last == place && by_preference);
        if !by_preference && place.2 != 0 {
            return Err("a judgment has a sub-group, but is not a preference");
        }
        // Documents come in ascending order, so a number equals the last number or the next: behind
        // a gap, a grade would go to the place of another document.
        if !judgment.grade.is_finite()
            || !ascends
            || judgment.document > next
            || judgment.document + 1 < next
        {
            return Err("judgments are out of order, or not numbers");
        }
        next = next.max(judgment.document + 1);
        last = Some(place);
    }
    Ok(next as usize)
}

impl FacetRows {
    /// Builds the rankings' document numbers from an `.lmx` file, and rejects unknown or repeated
    /// documents. Each document belongs to the query of its row, and occurs at most once.
    pub(crate) fn checked(
        facets: Arc<Facets>,
        rows: Ragged<u32>,
        queries: usize,
    ) -> Result<Self, String> {
        // The last row with each document number. Row numbers differ, so nothing is cleared between
        // rows, and the memory has the size of the largest query.
        let mut last_rows: Vec<usize> = Vec::new();
        for row in 0..rows.len() {
            let documents = facets.documents(row % queries.max(1)).len();
            last_rows.resize(documents.max(last_rows.len()), usize::MAX);
            for &number in rows.row(row) {
                let again = last_rows[..documents]
                    .get_mut(number as usize)
                    .is_none_or(|last| std::mem::replace(last, row) == row);
                fault_if!(
                    again,
                    "row {} has document {number} twice, or its query has no such document",
                    row + 1
                );
            }
        }
        Ok(Self { facets, rows })
    }
}

/// Judgments by facet (judge, subtopic or preference), with the numbers of the judged documents in
/// each ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct FacetRows {
    /// The judgments of all queries.
    pub facets: Arc<Facets>,
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
            judgments.push(&[FacetJudgment { document: 0, group: 0, grade: 1.0 }; 2]);
            let mut names = Ids::default();
            [b"g", b"s"].iter().for_each(|name| names.push(*name));
            Facets::checked(by, names, judgments, vec![0, 1]).map(|facets| facets.judgments.len())
        };
        assert_eq!(checked(FacetKind::Preference), Ok(1));
        let message = "query 1: a judgment has a sub-group, but is not a preference";
        assert_eq!(checked(FacetKind::Subtopic), Err(message.to_owned()));
        assert_eq!(checked(FacetKind::Judge), Err(message.to_owned()));
    }
}
