//! The search for sets of judged documents that several queries of the qrels share.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_128;

use super::qrels::Qrels;
use crate::matrix::SharedJudgments;
use crate::settings::Join;

impl Qrels {
    /// Counts the queries of the qrels that share a set of judged documents with other queries, if
    /// the join asks for it. A set is known by the sum of the hashes of its documents, which does
    /// not depend on their order.
    pub(super) fn shared_judgments(&self, join: &Join) -> Option<SharedJudgments> {
        if !join.shared_judgments {
            return None;
        }
        let mut queries_of: HashMap<(u128, usize), u64> = HashMap::new();
        // Judged passages have no tables.
        for query in 0..self.tables.len() as u32 {
            let hashes = self.judged(query).documents().map(|(docno, _)| xxh3_128(docno));
            let (sum, count) =
                hashes.fold((0u128, 0), |(sum, count), hash| (sum.wrapping_add(hash), count + 1));
            if count >= 2 {
                *queries_of.entry((sum, count)).or_default() += 1;
            }
        }
        let sizes: Vec<u64> = queries_of.into_values().collect();
        SharedJudgments::from_sizes(&sizes, self.queries().len() as u64)
    }
}
