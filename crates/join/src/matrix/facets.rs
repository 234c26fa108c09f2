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

use super::ragged::{Ragged, range_of};
use crate::ids::Ids;
use crate::judged_by::JudgedBy;

/// A judgment of a document in a group.
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
    /// Adds the judgment to `largest`, the largest grades of the documents of its query so far.
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
    /// The names of groups and sub-groups, in bytewise order; a group's number is an index here.
    pub names: Ids,
    /// The judgments of each query, by document, group and sub-group.
    pub judgments: Ragged<FacetJudgment>,
    /// The number of the sub-group of each judgment; empty if all numbers are 0.
    subgroups: Vec<u32>,
    /// The end of each query's documents among the documents of all queries.
    ends: Vec<u64>,
}

/// The judgments by facet of a single query.
#[derive(Debug, Clone, Copy)]
pub struct QueryFacets<'a> {
    /// The number of documents.
    pub documents: u32,
    /// The judgments, by document, group and sub-group.
    pub judgments: &'a [FacetJudgment],
    subgroups: &'a [u32],
}

impl<'a> QueryFacets<'a> {
    /// The judgments with the numbers of their sub-groups. Without sub-groups, all numbers are 0
    /// and mean nothing.
    pub fn with_subgroups(&self) -> impl Iterator<Item = (&'a FacetJudgment, u32)> + use<'a> {
        let QueryFacets { judgments, subgroups, .. } = *self;
        let subgroup = |at: usize| subgroups.get(at).copied().unwrap_or(0);
        judgments.iter().enumerate().map(move |(at, of)| (of, subgroup(at)))
    }
}

impl Facets {
    /// Makes judgments of queries: `subgroups` has the number of the sub-group of each judgment, or
    /// nothing if there are no sub-groups, and `documents` the number of documents of each query.
    pub fn new(
        by: JudgedBy,
        names: Ids,
        (judgments, mut subgroups): (Ragged<FacetJudgment>, Vec<u32>),
        documents: impl IntoIterator<Item = usize>,
    ) -> Self {
        let sum = |end: &mut u64, count: usize| {
            *end += count as u64;
            Some(*end)
        };
        let ends = documents.into_iter().scan(0, sum).collect();
        if subgroups.iter().all(|&subgroup| subgroup == 0) {
            subgroups = Vec::new();
        }
        Facets { by, names, judgments, subgroups, ends }
    }

    /// Builds facets from the judgments of a file, and checks their order: by document, group and
    /// sub-group. Documents must be numbered without gaps. A preference may occur twice.
    pub(crate) fn checked(
        by: JudgedBy,
        names: Ids,
        (judgments, subgroups): (Ragged<FacetJudgment>, Vec<u32>),
    ) -> Result<Self, String> {
        let known = |&name: &u32| (name as usize) < names.len();
        let fits = judgments.values().par_iter().all(|of| known(&of.group))
            && subgroups.par_iter().all(known);
        if !fits || !names.are_ascending() {
            return Err("the names do not fit the groups".to_owned());
        }
        let count = |query: usize| {
            let of_query = (judgments.of(query), subgroups.get(judgments.range(query)));
            documents_of(by, of_query).map_err(|message| format!("query {}: {message}", query + 1))
        };
        let counts: Vec<_> = (0..judgments.len()).into_par_iter().map(count).collect();
        let counts = counts.into_iter().collect::<Result<Vec<usize>, _>>()?;
        Ok(Facets::new(by, names, (judgments, subgroups), counts))
    }

    /// The judgments of a query.
    pub fn of(&self, query: usize) -> QueryFacets<'_> {
        let subgroups =
            if self.has_subgroups() { &self.subgroups[self.judgments.range(query)] } else { &[] };
        QueryFacets {
            documents: self.documents(query).len() as u32,
            judgments: self.judgments.of(query),
            subgroups,
        }
    }

    /// Whether there are sub-groups.
    pub fn has_subgroups(&self) -> bool {
        !self.subgroups.is_empty()
    }

    /// The judgments of some of the queries alone.
    pub fn of_queries(&self, queries: impl Iterator<Item = usize>) -> Self {
        let (mut judgments, mut subgroups, mut counts) =
            (Ragged::default(), Vec::new(), Vec::new());
        for query in queries {
            let of = self.of(query);
            judgments.push(of.judgments);
            subgroups.extend_from_slice(of.subgroups);
            counts.push(of.documents as usize);
        }
        Facets::new(self.by, self.names.clone(), (judgments, subgroups), counts)
    }

    /// The place of a query's documents among the documents of all queries.
    pub fn documents(&self, query: usize) -> Range<usize> {
        range_of(&self.ends, query)
    }

    /// The largest grade of each document of a query, by number.
    pub fn largest(&self, query: usize) -> Vec<f64> {
        let mut largest = Vec::new();
        self.judgments.of(query).iter().for_each(|judgment| judgment.add_to(&mut largest));
        largest
    }
}

/// Checks the judgments and any sub-groups of a query of a file, and counts its documents.
fn documents_of(
    by: JudgedBy,
    (judgments, subgroups): (&[FacetJudgment], Option<&[u32]>),
) -> Result<usize, &'static str> {
    let by_preference = by == JudgedBy::Preference;
    let (mut last, mut next) = (None, 0);
    for (at, of) in judgments.iter().enumerate() {
        let place = (of.document, of.group, subgroups.map_or(0, |subgroups| subgroups[at]));
        let ascends = last.is_none_or(|last| last < place || last == place && by_preference);
        // Documents come in ascending order, so a number equals the last number or the next: behind
        // a gap, a grade would go to the place of another document.
        if !by_preference && place.2 != 0 {
            return Err("a judgment has a sub-group, but is not a preference");
        }
        if !of.grade.is_finite() || !ascends || of.document > next || of.document + 1 < next {
            return Err("judgments are out of order, or not numbers");
        }
        next = next.max(of.document + 1);
        last = Some(place);
    }
    Ok(next as usize)
}

impl FacetRows {
    /// Builds rows from the rows of a file, and checks them: each document belongs to the query of
    /// its row, and occurs at most once.
    pub(crate) fn checked(
        of: Arc<Facets>,
        rows: Ragged<u32>,
        queries: usize,
    ) -> Result<Self, String> {
        // The last row with each document number. Row numbers differ, so nothing is cleared between
        // rows, and the memory has the size of the largest query.
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
            judgments.push(&[FacetJudgment { document: 0, group: 0, grade: 1.0 }; 2]);
            let mut names = Ids::default();
            [b"g", b"s"].iter().for_each(|name| names.push(*name));
            Facets::checked(by, names, (judgments, vec![0, 1])).map(|of| of.judgments.len())
        };
        assert_eq!(checked(JudgedBy::Preference), Ok(1));
        let message = "query 1: a judgment has a sub-group, but is not a preference";
        assert_eq!(checked(JudgedBy::Subtopic), Err(message.to_owned()));
        assert_eq!(checked(JudgedBy::Judge), Err(message.to_owned()));
    }
}
