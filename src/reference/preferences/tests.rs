//! Compares the fast preference measures with the plain ones, and checks faults.

use proptest::prelude::*;

use super as reference;
use crate::cases::cases;
use crate::facets::preferences::{
    MOST_DOCUMENTS, PreferenceCount, PreferenceFault, PreferenceLine, Preferences,
};

/// All measures, in the order of trec_eval's output.
const ALL: [PreferenceCount; 14] = [
    PreferenceCount::Possible,
    PreferenceCount::Fulfilled,
    PreferenceCount::FulfilledRetrieved,
    PreferenceCount::Simple,
    PreferenceCount::Pair,
    PreferenceCount::Group,
    PreferenceCount::GroupBalanced,
    PreferenceCount::SimpleRetrieved,
    PreferenceCount::PairRetrieved,
    PreferenceCount::GroupRetrieved,
    PreferenceCount::GroupBalancedRetrieved,
    PreferenceCount::SimpleImplied,
    PreferenceCount::PairImplied,
    PreferenceCount::GroupImplied,
];

fn line(group: u32, subgroup: u32, document: u32, level: f64) -> PreferenceLine {
    PreferenceLine { group, subgroup, document, level }
}

/// Checks that a circle is one: each step is a preference of the group, and the steps are joined.
fn check_circle(lines: &[PreferenceLine], steps: &[(usize, usize)]) {
    assert!(steps.len() > 1);
    for (at, &(a, b)) in steps.iter().enumerate() {
        let next = steps[(at + 1) % steps.len()].0;
        assert_eq!(lines[a].group, lines[steps[0].0].group);
        assert_eq!((lines[a].group, lines[a].subgroup), (lines[b].group, lines[b].subgroup));
        assert!(lines[a].level > lines[b].level);
        assert_ne!(lines[a].document, lines[b].document);
        assert_eq!(lines[b].document, lines[next].document);
    }
}

/// Returns whether the lines of a query can be evaluated.
fn is_consistent(lines: &[PreferenceLine], documents: u32) -> bool {
    for group in reference::group_numbers(lines) {
        let subgroups = reference::subgroup_numbers(lines, group);
        if subgroups.len() == 1 {
            for a in lines.iter().filter(|line| line.group == group) {
                for b in lines.iter().filter(|line| line.group == group) {
                    if a.document == b.document && a.level != b.level {
                        return false;
                    }
                }
            }
            continue;
        }
        let matrix = reference::closure(lines, group, documents as usize);
        for (a, row) in matrix.iter().enumerate() {
            for (b, &over) in row.iter().enumerate() {
                if a != b && over && matrix[b][a] {
                    return false;
                }
            }
        }
        for document in 0..documents {
            // Levels in order of sub-groups, from high to low in each: 0 may not stand next to
            // one above 0.
            let mut levels: Vec<(u32, f64)> = lines
                .iter()
                .filter(|line| line.group == group && line.document == document)
                .map(|line| (line.subgroup, line.level))
                .collect();
            levels.sort_by(|x, y| x.0.cmp(&y.0).then(y.1.partial_cmp(&x.1).unwrap()));
            for pair in levels.windows(2) {
                let (a, b) = (pair[0].1, pair[1].1);
                if (a == 0.0 && b > 0.0) || (a > 0.0 && b == 0.0) {
                    return false;
                }
            }
        }
    }
    true
}

fn agree(lines: &[PreferenceLine], documents: u32, rankings: &[Vec<u32>]) {
    let fast = Preferences::new(lines, documents);
    assert_eq!(fast.is_ok(), is_consistent(lines, documents), "{fast:?}");
    match fast {
        Ok(fast) => {
            for retrieved in rankings {
                let counts = fast.count_fulfilled(retrieved.iter().copied());
                for measure in ALL {
                    let plain = reference::value(lines, documents, retrieved, measure);
                    let value = counts.value(measure);
                    assert_eq!(value.to_bits(), plain.to_bits(), "{measure:?} {value} {plain}");
                }
            }
        }
        Err(PreferenceFault::Cycle { steps }) => check_circle(lines, &steps),
        Err(PreferenceFault::TwoLevels { higher, lower }) => {
            assert_eq!(lines[higher].document, lines[lower].document);
            assert_eq!(lines[higher].group, lines[lower].group);
            assert!(lines[higher].level > lines[lower].level);
        }
        Err(PreferenceFault::ZeroAndMore { zero, more }) => {
            assert_eq!(lines[zero].document, lines[more].document);
            assert_eq!(lines[zero].group, lines[more].group);
            assert_eq!(lines[zero].level, 0.0);
            assert!(lines[more].level > 0.0);
        }
        Err(_) => {}
    }
}

fn rankings(documents: u32) -> impl Strategy<Value = Vec<Vec<u32>>> {
    let longest = 2 * documents as usize;
    prop::collection::vec(prop::collection::vec(0..documents + 2, 0..longest), 1..4)
}

fn any_lines() -> impl Strategy<Value = (Vec<PreferenceLine>, u32, Vec<Vec<u32>>)> {
    let levels = prop::sample::select(vec![
        -3.0,
        -1.0,
        0.0,
        -0.0,
        0.5,
        1.0,
        2.0,
        7.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ]);
    (2u32..9)
        .prop_flat_map(move |documents| {
            let one = (0u32..4, 0u32..3, 0..documents, levels.clone());
            let lines = prop::collection::vec(one, 0..14);
            (lines, Just(documents), rankings(documents))
        })
        .prop_map(|(lines, documents, rankings)| {
            let lines = lines.into_iter().map(|(g, s, d, l)| line(g, s, d, l)).collect();
            (lines, documents, rankings)
        })
}

/// Lines whose sub-groups follow one order of the documents in each group, and so are consistent.
fn ordered_lines(
    most: u32,
    groups: u32,
    subgroups: u32,
    count: usize,
) -> impl Strategy<Value = (Vec<PreferenceLine>, u32, Vec<Vec<u32>>)> {
    (2..most).prop_flat_map(move |documents| {
        let levels = prop::collection::vec(
            prop::collection::vec((0u32..2, 1u32..50), documents as usize),
            groups as usize,
        );
        let lines = prop::collection::vec((0..groups, 0..subgroups, 0..documents), 1..count);
        (lines, levels, 1u32..50, Just(documents), rankings(documents)).prop_map(
            |(lines, levels, coarse, documents, rankings)| {
                let mut lines: Vec<PreferenceLine> = lines
                    .into_iter()
                    .map(|(g, s, d)| {
                        let (relevant, height) = levels[g as usize][d as usize];
                        let level = relevant * (1 + height / coarse);
                        line(g, s, d, f64::from(level) * f64::from(s + 1))
                    })
                    .collect();
                lines.sort_by_key(|line| (line.group, line.subgroup, line.document));
                (lines, documents, rankings)
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(1000)))]

    #[test]
    fn any_lines_agree((lines, documents, rankings) in any_lines()) {
        agree(&lines, documents, &rankings);
    }

    #[test]
    fn small_ordered_lines_agree((lines, documents, rankings) in ordered_lines(10, 4, 3, 40)) {
        agree(&lines, documents, &rankings);
    }

    #[test]
    fn one_subgroup_agrees((lines, documents, rankings) in ordered_lines(10, 4, 1, 40)) {
        agree(&lines, documents, &rankings);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(24)))]

    #[test]
    fn large_ordered_lines_agree((lines, documents, rankings) in ordered_lines(100, 2, 3, 400)) {
        agree(&lines, documents, &rankings);
    }

    #[test]
    fn many_classes_agree((lines, documents, rankings) in ordered_lines(100, 2, 1, 400)) {
        agree(&lines, documents, &rankings);
    }
}

fn value(
    lines: &[PreferenceLine],
    documents: u32,
    retrieved: &[u32],
    measure: PreferenceCount,
) -> f64 {
    let preferences = Preferences::new(lines, documents).unwrap();
    preferences.count_fulfilled(retrieved.iter().copied()).value(measure)
}

#[test]
fn five_preferences_of_two_subgroups() {
    // 0 > 1 > 2 and 3 > 0 > 1: five preferences, 0 > 1 only once, and 3 > 2 follows.
    let lines = [
        line(0, 0, 0, 3.0),
        line(0, 0, 1, 2.0),
        line(0, 0, 2, 1.0),
        line(0, 1, 3, 3.0),
        line(0, 1, 0, 2.0),
        line(0, 1, 1, 1.0),
    ];
    assert_eq!(value(&lines, 4, &[], PreferenceCount::Possible), 6.0);
    assert_eq!(value(&lines, 4, &[3, 0, 1, 2], PreferenceCount::Simple), 1.0);
    assert_eq!(value(&lines, 4, &[2, 1, 0, 3], PreferenceCount::Simple), 0.0);
    // Retrieved alone, 0 is before 1 and 2, and 3 should have been before it.
    assert_eq!(value(&lines, 4, &[0], PreferenceCount::Fulfilled), 2.0);
    assert_eq!(value(&lines, 4, &[0], PreferenceCount::SimpleImplied), 2.0 / 3.0);
    assert_eq!(value(&lines, 4, &[0], PreferenceCount::SimpleRetrieved), 0.0);
}

#[test]
fn a_document_at_two_levels_of_a_sub_group_is_below_the_others_of_its_higher_level() {
    // 0 and 1 over 0 and 2, of which 0 over 0 means nothing.
    let lines = [
        line(0, 0, 0, 2.0),
        line(0, 0, 1, 2.0),
        line(0, 0, 0, 1.0),
        line(0, 0, 2, 1.0),
        line(0, 1, 3, 1.0),
    ];
    assert_eq!(value(&lines, 4, &[], PreferenceCount::Possible), 3.0);
    agree(&lines, 4, &[vec![], vec![0], vec![1, 0, 2], vec![2, 3, 1, 0]]);
}

#[test]
fn groups_that_disagree_share_a_pair() {
    let lines = [
        line(0, 0, 0, 1.0),
        line(0, 0, 1, 0.0),
        line(1, 0, 0, 0.0),
        line(1, 0, 1, 1.0),
        line(2, 0, 0, 5.0),
        line(2, 0, 1, 1.0),
    ];
    assert_eq!(value(&lines, 2, &[0, 1], PreferenceCount::Pair), 2.0 / 3.0);
    assert_eq!(value(&lines, 2, &[1, 0], PreferenceCount::PairRetrieved), 1.0 / 3.0);
    assert_eq!(value(&lines, 2, &[], PreferenceCount::Pair), 0.0);
}

#[test]
fn faults_name_the_lines() {
    let fault = |lines: &[PreferenceLine]| Preferences::new(lines, 3).unwrap_err();
    assert_eq!(
        fault(&[line(0, 0, 1, 0.0), line(0, 0, 0, 1.0), line(0, 0, 1, 2.0)]),
        PreferenceFault::TwoLevels { higher: 2, lower: 0 }
    );
    assert_eq!(
        fault(&[line(0, 0, 1, 3.0), line(0, 1, 1, 0.0)]),
        PreferenceFault::ZeroAndMore { zero: 1, more: 0 }
    );
    let circle = [
        line(0, 0, 0, 2.0),
        line(0, 0, 1, 1.0),
        line(0, 1, 1, 2.0),
        line(0, 1, 2, 1.0),
        line(0, 2, 2, 2.0),
        line(0, 2, 0, 1.0),
    ];
    assert_eq!(fault(&circle), PreferenceFault::Cycle { steps: vec![(0, 1), (2, 3), (4, 5)] });
    // The same preferences of three judges are no fault.
    let judges: Vec<PreferenceLine> =
        circle.iter().map(|at| line(at.subgroup, 0, at.document, at.level)).collect();
    assert!(Preferences::new(&judges, 3).is_ok());
}

#[test]
fn more_documents_than_there_may_be_are_refused() {
    // A chain of pairs.
    let lines = |documents: u32| -> Vec<PreferenceLine> {
        (1..documents).flat_map(|at| [line(0, at, at - 1, 2.0), line(0, at, at, 1.0)]).collect()
    };
    let most = Preferences::new(&lines(MOST_DOCUMENTS), MOST_DOCUMENTS).unwrap();
    let possible = most.count_fulfilled([]).value(PreferenceCount::Possible);
    assert_eq!(possible, f64::from(MOST_DOCUMENTS * (MOST_DOCUMENTS - 1) / 2));
    let documents = MOST_DOCUMENTS + 1;
    let fault = Preferences::new(&lines(documents), documents).unwrap_err();
    assert_eq!(fault, PreferenceFault::TooMany { documents });
    // Numbers that are only claimed cost nothing.
    let fault = Preferences::new(&[], u32::MAX).unwrap_err();
    assert_eq!(fault, PreferenceFault::TooMany { documents: u32::MAX });
}

#[test]
fn no_line_gives_zeros() {
    let preferences = Preferences::new(&[], 0).unwrap();
    let counts = preferences.count_fulfilled([0, 7]);
    for measure in ALL {
        assert_eq!(counts.value(measure), 0.0);
    }
}
