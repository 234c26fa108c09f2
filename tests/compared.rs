//! Scores compared to the bit, under any view.

use laneval::{Scores, View};
use proptest::prelude::*;

pub fn assert_same_bits(expected: &Scores, found: &Scores, what: &str) {
    for (run, (expected_run, found_run)) in expected.runs.iter().zip(&found.runs).enumerate() {
        let (a, b) = (expected_run.per_query.as_ref().unwrap(), found_run.per_query.as_ref().unwrap());
        assert_eq!(a.queries, b.queries);
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
        for (a, b) in expected_run.stats.iter().flatten().zip(found_run.stats.iter().flatten()) {
            assert_eq!((a.0, a.1.to_bits()), (b.0, b.1.to_bits()), "{what}: a summary");
        }
    }
    assert_eq!(expected.runs.len(), found.runs.len());
}

pub fn views() -> impl Strategy<Value = View> {
    (proptest::option::of(prop_oneof![1..9u32, Just(64), Just(1000)]), any::<bool>())
        .prop_map(|(depth, judged_only)| View { depth, judged_only })
}
