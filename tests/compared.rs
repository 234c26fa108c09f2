//! Scores compared to the bit, under any view.

use laneval::{RunScores, Scores, View};
use proptest::prelude::*;

pub fn assert_same_bits(expected: &Scores, found: &Scores, what: &str) {
    assert_eq!(expected.measures, found.measures, "{what}");
    for (run, (expected_run, found_run)) in expected.runs.iter().zip(&found.runs).enumerate() {
        let (a, b) =
            (expected_run.per_query.as_ref().unwrap(), found_run.per_query.as_ref().unwrap());
        assert_eq!(a.queries, b.queries);
        // What follows goes as far as the shorter of two lists.
        let lengths = |values: &[Vec<f64>]| values.iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(lengths(&a.values), vec![a.queries.len(); expected.measures.len()], "{what}");
        assert_eq!(lengths(&b.values), lengths(&a.values), "{what}");
        for (measure, (a_values, b_values)) in a.values.iter().zip(&b.values).enumerate() {
            for (query, (a, b)) in a_values.iter().zip(b_values).enumerate() {
                let name = &expected.measures[measure];
                assert_eq!(
                    a.to_bits(),
                    b.to_bits(),
                    "{what}: {name} of query {query}, run {run}: {a} and {b}"
                );
            }
        }
        let summaries = |run: &RunScores| -> Vec<_> {
            run.stats.iter().flatten().map(|(name, value)| (*name, value.to_bits())).collect()
        };
        assert_eq!(summaries(expected_run), summaries(found_run), "{what}: a summary");
    }
    assert_eq!(expected.runs.len(), found.runs.len());
}

pub fn views() -> impl Strategy<Value = View> {
    (proptest::option::of(prop_oneof![1..9u32, Just(64), Just(1000)]), any::<bool>())
        .prop_map(|(depth, judged_only)| View { depth, judged_only })
}
