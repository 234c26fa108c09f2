//! Which queries have the same judged documents, as paraphrases of one question have.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_128;

use super::qrels::Qrels;
use crate::label::JudgedSets;

impl Qrels {
    /// Counts the sets of judged documents. A set is known by the sum of the hashes of its documents, which does not depend on their order.
    pub(in crate::ingest) fn judged_sets(&self) -> JudgedSets {
        let mut queries_of: HashMap<(u128, usize), u64> = HashMap::new();
        for query in 0..self.queries().len() as u32 {
            let documents = self.documents(query);
            let sum = documents.iter().fold(0u128, |sum, (docno, _)| sum.wrapping_add(xxh3_128(docno)));
            if documents.len() >= 2 {
                *queries_of.entry((sum, documents.len())).or_default() += 1;
            }
        }
        JudgedSets {
            queries: queries_of.values().sum(),
            sets: queries_of.len() as u64,
            largest: queries_of.values().copied().max().unwrap_or(0),
        }
    }
}
