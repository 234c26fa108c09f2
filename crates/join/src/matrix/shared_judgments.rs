//! Detection of queries that share their judged documents, like paraphrases of one question.

/// Counts of queries that share all their judged documents with others, like paraphrases of one
/// question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedJudgments {
    /// The number of queries with two judged documents or more.
    pub queries: u64,
    /// The number of different sets of judged documents of these queries.
    pub groups: u64,
}

impl SharedJudgments {
    /// The fewest groups of queries: fewer are rather the parts of a collection.
    const FEWEST: u64 = 5;

    /// Decides whether queries look like groups that share their judged documents, such as
    /// paraphrases. `all` is the number of queries; `sizes` are the numbers of queries of each set
    /// of two judged documents or more. In groups, nearly all queries have such a set, and share it
    /// with other queries. A set of more than a quarter of the queries is rather the collection
    /// itself.
    pub(crate) fn from_sizes(sizes: &[u64], all: u64) -> Option<Self> {
        let (queries, groups) = (sizes.iter().sum(), sizes.len() as u64);
        let largest = sizes.iter().copied().max().unwrap_or(0);
        let are_shared = 10 * groups <= 7 * queries && 4 * largest <= queries;
        let are_groups = are_shared && groups >= Self::FEWEST && 10 * queries >= 9 * all;
        are_groups.then_some(Self { queries, groups })
    }
}

#[cfg(test)]
mod tests {
    use super::SharedJudgments;

    #[test]
    fn groups_share_their_sets() {
        let judgments = |sizes: &[u64]| SharedJudgments::from_sizes(sizes, 300);
        assert_eq!(judgments(&[5; 60]), Some(SharedJudgments { queries: 300, groups: 60 }));
        assert_eq!(
            judgments(&[&[2; 90][..], &[1; 120]].concat()),
            Some(SharedJudgments { queries: 300, groups: 210 })
        );
        // Many queries of one document, hardly a set that two have, one that most have, and few
        // sets.
        let unlike: [&[u64]; 4] = [
            &[5; 52],
            &[&[2; 80][..], &[1; 140]].concat(),
            &[&[4; 55][..], &[80]].concat(),
            &[75; 4],
        ];
        for sizes in unlike {
            assert_eq!(judgments(sizes), None, "{sizes:?}");
        }
    }
}
