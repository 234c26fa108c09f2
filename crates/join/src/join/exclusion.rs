//! The documents that are dropped from the rankings of a query before ranks are given.

use std::{borrow::Cow, collections::BTreeMap};

use crate::excluded::ExcludedDocs;
use crate::record::layout::{Docnos, Record};
use crate::settings::Join;

/// The number of excluded results of each query, by the number of the query in the excluded
/// documents.
pub type ExclusionCounts = BTreeMap<u32, u64>;

/// The documents that a join drops from the rankings of one query: that with the id of the query,
/// and those that are excluded for it.
pub struct DroppedDocs<'a> {
    identical: Option<&'a [u8]>,
    /// The excluded documents, with the number that the query has there.
    excluded: Option<(&'a ExcludedDocs, u32)>,
}

impl<'a> DroppedDocs<'a> {
    pub fn new(join: &'a Join, query: &'a [u8]) -> Self {
        let excluded = join.exclude.as_deref();
        let excluded = excluded.and_then(|excluded| Some((excluded, excluded.query(query)?)));
        Self { identical: Some(query).filter(|_| join.drop_identical_ids), excluded }
    }

    /// Returns whether a document is dropped, and counts it if it is excluded.
    pub fn has(&self, doc: &[u8], counts: &mut ExclusionCounts) -> bool {
        let excluded = self.excluded.filter(|(excluded, query)| excluded.has(*query, doc));
        if let Some((_, query)) = excluded {
            *counts.entry(query).or_default() += 1;
        }
        excluded.is_some() || self.identical == Some(doc)
    }

    /// Returns the results of the query without those that are dropped.
    pub fn without<'r>(
        &self,
        records: &'r [Record],
        docnos: Docnos<'_>,
        counts: &mut ExclusionCounts,
    ) -> Cow<'r, [Record]> {
        // The length is in the record, and spares nearly every look at the docno.
        let is_query = |record: &Record| {
            self.identical.is_some_and(|query| {
                record.length as usize == query.len() && docnos.get(record) == query
            })
        };
        if self.excluded.is_none() && !records.iter().any(is_query) {
            return Cow::Borrowed(records);
        }
        let left = records.iter().filter(|record| !self.has(docnos.get(record), counts));
        Cow::Owned(left.copied().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregation::Aggregation;
    use crate::bytes::{hash::Seed, input::Input};
    use crate::cases::cases;
    use crate::doc_ids::rule::DocIdRule;
    use crate::lines::chunks::ChunkSize;
    use crate::matrix::LabelMatrix;
    use crate::rule::{RankingRule, TieBreak};
    use proptest::prelude::*;
    use std::{collections::HashSet, num::NonZeroU32, sync::Arc};

    /// A result of a run: the numbers of its query and document, its score.
    type Line = (usize, usize, u8);

    /// Joins the lines of a run with judgments of three queries.
    fn joined(join: &Join, lines: &[(usize, Line)], size: usize) -> LabelMatrix {
        let judged = (0..15).map(|n| format!("q{} 0 d{} {}\n", n % 3, n / 3, n % 4));
        let is_unit = join.units.is_some_rule();
        let lines = lines.iter().map(|&(at, (query, doc, score))| {
            let piece = if is_unit { format!("#{at}") } else { String::new() };
            format!("q{query} Q0 d{doc}{piece} {at} {score} t\n")
        });
        // The last line keeps the run from being without a judged query, and without a unit.
        let run = lines.collect::<String>() + "q0 Q0 last#0 99 0 t\n";
        let input = |text: String| Input::Bytes { name: "text".into(), bytes: text.into() };
        let qrels = input(judged.collect());
        let runs = vec![input(run).into()];
        join.files_in_chunks(qrels, runs, ChunkSize(size), Seed::random()).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(cases(200)))]

        #[test]
        fn exclusion_is_the_removal_of_lines(
            lines in prop::collection::vec((0usize..4, 0usize..9, 0u8..4), 1..40),
            pairs in prop::collection::vec((0usize..5, 0usize..9), 0..12),
            (ties, depth, size) in (0..TieBreak::ALL.len(), 0u32..4, 1usize..300),
            (units, is_grouped) in (0usize..3, any::<bool>()),
        ) {
            let mut lines = lines;
            if is_grouped {
                lines.sort_by_key(|line| line.0);
            }
            let mut seen = HashSet::new();
            // Only of units there may be several results.
            lines.retain(|line| units > 0 || seen.insert((line.0, line.1)));
            let lines: Vec<(usize, Line)> = lines.into_iter().enumerate().collect();
            let join = Join {
                ties: TieBreak::ALL[ties].1,
                depth: NonZeroU32::new(depth),
                keep_ties: units < 2,
                units: if units > 0 { DocIdRule::before("#") } else { DocIdRule::Identity },
                repeats: (units == 2).then_some(Aggregation::Blank),
                ..Join::default()
            };
            let ids = pairs.iter().map(|(query, doc)| (format!("q{query}"), format!("d{doc}")));
            let exclude = Some(Arc::new(ExcludedDocs::from_pairs(ids)));
            let excluded = joined(&Join { exclude, ..join.clone() }, &lines, size);
            let removed = lines.iter().filter(|(_, line)| !pairs.contains(&(line.0, line.1)));
            let removed = joined(&join, &removed.copied().collect::<Vec<_>>(), 1 << 20);
            prop_assert_eq!(excluded.depths(), removed.depths());
            prop_assert_eq!(excluded.tile_bytes(), removed.tile_bytes());
            prop_assert_eq!(excluded.tied_groups(), removed.tied_groups());
            prop_assert_eq!(excluded.fingerprint(), removed.fingerprint());
            prop_assert_eq!(&RankingRule { excluded: None, ..excluded.rule() }, &removed.rule());
        }
    }
}
