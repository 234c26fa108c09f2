//! How many queries share their judged documents.

/// The sets of judged documents of queries that have two or more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgedSets {
    /// The number of queries with two judged documents or more.
    pub queries: u64,
    /// The number of different sets that they have.
    pub sets: u64,
    /// The number of queries of the set that most have.
    pub largest: u64,
}

impl JudgedSets {
    /// The fewest groups that queries can be of: fewer are rather the parts of a collection.
    const FEWEST: u64 = 5;

    /// Whether `queries` look like groups, such as the paraphrases of a question: nearly all have such a set, and share it with others. A
    /// set that most of them have is rather the collection itself.
    pub fn look_like_groups(&self, queries: u64) -> bool {
        let JudgedSets { queries: with_sets, sets, largest } = *self;
        let are_shared = 10 * sets <= 7 * with_sets && 4 * largest <= with_sets;
        are_shared && sets >= Self::FEWEST && 10 * with_sets >= 9 * queries
    }
}

#[cfg(test)]
mod tests {
    use super::JudgedSets;

    #[test]
    fn groups_share_their_sets() {
        let look = |queries, sets, largest| JudgedSets { queries, sets, largest }.look_like_groups(300);
        assert!(look(300, 60, 5));
        // Many queries of one document, hardly a set that two have, one that most have, and few sets.
        for (queries, sets, largest) in [(260, 60, 5), (300, 220, 5), (300, 60, 80), (300, 4, 75)] {
            assert!(!look(queries, sets, largest));
        }
    }
}
