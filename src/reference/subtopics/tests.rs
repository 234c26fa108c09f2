//! Compares the fast diversity measures with the plain ones, and checks values worked out by hand.

use proptest::prelude::*;

use super as reference;
use crate::cases::cases;
use crate::facets::subtopics::{
    AtCutoff, DiversityTables, SubtopicQuery, SubtopicScratch, Subtopics, WholeRanking, choose,
};

/// Returns documents as the fast code reads them, with their subtopics numbered from 0 without gaps.
fn flat(judged: &[Vec<u32>]) -> Subtopics {
    let mut all: Vec<u32> = judged.iter().flatten().copied().collect();
    all.sort_unstable();
    all.dedup();
    let (mut ends, mut subtopics) = (vec![0], Vec::new());
    for own in judged {
        subtopics.extend(own.iter().map(|one| all.binary_search(one).unwrap() as u32));
        ends.push(subtopics.len() as u32);
    }
    Subtopics::new(ends, subtopics, all.len() as u32).unwrap()
}

/// Returns the gains of the first `depth` ranks of the ideal ranking, up to the last that is
/// positive.
fn ideal_gains(judged: &[Vec<u32>], alpha: f64, depth: usize) -> Vec<f64> {
    let mut gains = Vec::new();
    if depth > 0 {
        choose(&flat(judged), alpha, &mut SubtopicScratch::default(), |gain| {
            gains.push(gain);
            gains.len() < depth
        });
    }
    gains
}

fn values(
    judged: &[Vec<u32>],
    ranking: &[Option<usize>],
    setting: &DiversityTables,
    scratch: &mut SubtopicScratch,
) -> (Vec<AtCutoff>, WholeRanking) {
    let query = SubtopicQuery::new(flat(judged), setting, scratch);
    let retrieved: Vec<(u32, u32)> = ranking
        .iter()
        .enumerate()
        .filter_map(|(rank, document)| document.map(|document| (rank as u32, document as u32)))
        .filter(|&(_, document)| document % 3 == 0 || !judged[document as usize].is_empty())
        .collect();
    let whole = query.values(setting, &retrieved, scratch);
    (scratch.at.clone(), whole)
}

/// Returns the gains of the ideal ranking, from the plain functions.
fn plain_gains(judged: &[Vec<u32>], alpha: f64) -> Vec<f64> {
    reference::gains(judged, &reference::ideal(judged, alpha), alpha)
}

/// Compares the bits of every value: those at each cutoff, then those of the whole ranking.
/// Normalised values at rank 1 are quotients of sums that are not divided.
fn check(judged: &[Vec<u32>], ranking: &[Option<usize>], alpha: f64, beta: f64, cutoffs: &[u32]) {
    let mut scratch = SubtopicScratch::default();
    for raw in [false, true] {
        let mut setting = DiversityTables::new(alpha, beta, cutoffs).unwrap();
        setting.raw_first = raw;
        let (at, whole) = values(judged, ranking, &setting, &mut scratch);
        assert_eq!(at.len(), cutoffs.len());
        for (value, &k) in at.iter().zip(cutoffs) {
            let k = k as usize;
            let expected = [
                reference::discounted(judged, ranking, alpha, k, raw, reference::by_logarithm),
                reference::normalised(judged, ranking, alpha, k, reference::by_logarithm),
                reference::discounted(judged, ranking, alpha, k, raw, reference::by_rank),
                reference::normalised(judged, ranking, alpha, k, reference::by_rank),
                reference::p_ia(judged, ranking, k),
                reference::st_recall(judged, ranking, k),
            ];
            let found = [
                value.alpha_dcg,
                value.alpha_ndcg,
                value.err_ia,
                value.nerr_ia,
                value.p_ia,
                value.st_recall,
            ];
            assert_eq!(
                found.map(f64::to_bits),
                expected.map(f64::to_bits),
                "{k}: {found:?} {expected:?}"
            );
        }
        let expected = [
            reference::nrbp(judged, ranking, alpha, beta),
            reference::nnrbp(judged, ranking, alpha, beta),
            reference::ap_ia(judged, ranking),
        ];
        let found = [whole.nrbp, whole.nnrbp, whole.ap_ia];
        assert_eq!(found.map(f64::to_bits), expected.map(f64::to_bits), "{found:?} {expected:?}");
        let mut gains = plain_gains(judged, alpha);
        gains.truncate(gains.iter().take_while(|&&gain| gain > 0.0).count());
        for depth in [0, 1, 5, usize::MAX] {
            let fast = ideal_gains(judged, alpha, depth);
            assert_eq!(fast, gains[..gains.len().min(depth)]);
        }
    }
}

fn judged(subtopics: u32, documents: usize, own: usize) -> impl Strategy<Value = Vec<Vec<u32>>> {
    prop::collection::vec(prop::collection::btree_set(0..subtopics, 0..=own), 0..documents)
        .prop_map(|judged| judged.into_iter().map(|own| own.into_iter().collect()).collect())
}

/// Ranking that mixes the judged documents in a random order with unjudged ones.
fn with_ranking(
    judged: impl Strategy<Value = Vec<Vec<u32>>>,
) -> impl Strategy<Value = (Vec<Vec<u32>>, Vec<Option<usize>>)> {
    (judged, 0usize..30).prop_flat_map(|(judged, unjudged)| {
        let mut places: Vec<Option<usize>> = (0..judged.len()).map(Some).collect();
        places.extend(vec![None; unjudged]);
        let length = places.len();
        (Just(judged), Just(places).prop_shuffle(), 0..=length).prop_map(
            |(judged, mut places, depth)| {
                places.truncate(depth);
                (judged, places)
            },
        )
    })
}

fn parameter() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(0.5), Just(1.0), Just(0.9), Just(0.1), 0.0..=1.0]
}

fn cutoffs() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::btree_set(1u32..120, 0..6).prop_map(|cutoffs| cutoffs.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(500)))]
    #[test]
    fn few_subtopics(
        (judged, ranking) in with_ranking(judged(6, 30, 4)),
        alpha in parameter(), beta in parameter(), cutoffs in cutoffs(),
    ) {
        check(&judged, &ranking, alpha, beta, &cutoffs);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(64)))]
    #[test]
    fn many_subtopics(
        (judged, ranking) in with_ranking(judged(150, 20, 90)),
        alpha in parameter(), beta in parameter(), cutoffs in cutoffs(),
    ) {
        check(&judged, &ranking, alpha, beta, &cutoffs);
    }

    #[test]
    fn one_subtopic_each(
        (judged, ranking) in with_ranking(judged(150, 50, 1)),
        alpha in parameter(), beta in parameter(), cutoffs in cutoffs(),
    ) {
        check(&judged, &ranking, alpha, beta, &cutoffs);
    }

    /// Numbers of any kind are refused or read without a panic.
    #[test]
    fn any_view(
        ends in prop::collection::vec(0u32..8, 0..6),
        subtopics in prop::collection::vec(0u32..5, 0..8),
        count in 0u32..6,
        retrieved in prop::collection::vec((0u32..9, 0u32..9), 0..6),
    ) {
        if let Some(subtopics) = Subtopics::new(ends, subtopics, count) {
            let setting = DiversityTables::new(0.5, 0.5, &[1, 2, 7]).unwrap();
            let mut scratch = SubtopicScratch::default();
            let whole = SubtopicQuery::new(subtopics, &setting, &mut scratch).values(
                &setting,
                &retrieved,
                &mut scratch,
            );
            prop_assert!(whole.nnrbp.is_finite() && whole.ap_ia.is_finite());
        }
    }
}

#[test]
fn every_cutoff_in_turn() {
    let judged = vec![vec![0, 1], vec![], vec![1, 2], vec![0], vec![2], vec![0, 1, 2]];
    let ranking = [None, Some(3), Some(1), Some(0), None, Some(5), Some(2)];
    let cutoffs: Vec<u32> = (1..=40).collect();
    for alpha in [0.0, 0.5, 1.0] {
        for beta in [0.0, 0.5, 1.0] {
            check(&judged, &ranking, alpha, beta, &cutoffs);
        }
    }
}

#[test]
fn values_by_hand() {
    // Subtopics of documents 0, 1 and 2; the ranking is an unjudged document, then 0, then 2.
    let judged = vec![vec![0, 1], vec![1], vec![1]];
    let ranking = [None, Some(0), Some(2)];
    let setting = DiversityTables::new(0.5, 0.5, &[1, 2, 3]).unwrap();
    let (at, whole) = values(&judged, &ranking, &setting, &mut SubtopicScratch::default());
    assert_eq!(at[0], AtCutoff::default());
    // Raw 2 / 2, bound 2 + 1 / 2, ideal 2 + 0.5 / 2.
    assert_eq!(at[1].err_ia, 1.0 / 2.5);
    assert_eq!(at[1].nerr_ia, (1.0 / 2.5) / (2.25 / 2.5));
    assert_eq!(at[1].p_ia, 0.5);
    assert_eq!(at[1].st_recall, 1.0);
    assert_eq!(at[2].p_ia, 0.5);
    assert_eq!(whole.nrbp, (2.0 * 0.5 + 0.5 * 0.25) * 0.75 / 2.0);
    assert_eq!(whole.nnrbp, 1.125 / (2.0 + 0.5 * 0.5 + 0.25 * 0.25));
    assert_eq!(whole.ap_ia, (0.5 + (0.5 + 2.0 / 3.0) / 3.0) / 2.0);
}

#[test]
fn first_rank_raw_on_request() {
    let judged = vec![vec![0, 1], vec![2]];
    let ranking = [Some(1), Some(0)];
    let mut setting = DiversityTables::new(0.5, 0.5, &[1, 2]).unwrap();
    let mut scratch = SubtopicScratch::default();
    let (divided, _) = values(&judged, &ranking, &setting, &mut scratch);
    setting.raw_first = true;
    let (raw, _) = values(&judged, &ranking, &setting, &mut scratch);
    assert_eq!(
        (divided[0].alpha_dcg, divided[0].err_ia, divided[0].alpha_ndcg),
        (1.0 / 3.0, 1.0 / 3.0, 0.5)
    );
    assert_eq!((raw[0].alpha_dcg, raw[0].err_ia, raw[0].alpha_ndcg), (1.0, 1.0, 0.5));
    assert_eq!(raw[1], divided[1]);
}

#[test]
fn equal_gains_take_the_larger_document() {
    // Of 0 and 1 the larger goes first, so that 2 gains 1 after it rather than 2.
    let judged = vec![vec![0, 1, 2, 3], vec![2, 3, 4, 5], vec![4, 5], vec![0]];
    assert_eq!(ideal_gains(&judged, 1.0, 9), [4.0, 2.0]);
    assert_eq!(ideal_gains(&judged, 0.5, 9), [4.0, 3.0, 1.0, 0.5]);
}

#[test]
fn zeros_without_subtopics() {
    for judged in [vec![], vec![vec![], vec![]]] {
        let ranking = [None, judged.first().map(|_: &Vec<u32>| 0)];
        check(&judged, &ranking, 0.5, 0.5, &[1, 2, 30]);
        let mut setting = DiversityTables::new(0.5, 0.5, &[1, 5]).unwrap();
        setting.raw_first = true;
        let (at, whole) = values(&judged, &ranking, &setting, &mut SubtopicScratch::default());
        assert_eq!((at, whole), (vec![AtCutoff::default(); 2], WholeRanking::default()));
    }
}

#[test]
fn deep_cutoffs_end() {
    let judged = vec![vec![0], vec![0, 1]];
    let ranking = vec![Some(0), None, Some(1)];
    check(&judged, &ranking, 0.5, 0.5, &[5000, 10_000]);
    check(&judged, &ranking, 0.0, 1.0, &[5000, 10_000]);
    let setting = DiversityTables::new(0.1, 0.9, &[u32::MAX]).unwrap();
    let (at, _) = values(&judged, &ranking, &setting, &mut SubtopicScratch::default());
    assert_eq!(at[0].p_ia, 3.0 / (2.0 * f64::from(u32::MAX)));
    assert_eq!(at[0].st_recall, 1.0);
}

#[test]
fn long_ranking() {
    let judged: Vec<Vec<u32>> =
        (0..60).map(|d| (0..5).filter(|s| (d * 7 + s * d) % 4 == 0).collect()).collect();
    let ranking: Vec<Option<usize>> =
        (0..900).map(|rank| (rank % 15 == 1).then_some((rank / 15 * 77) % 60)).collect();
    for (alpha, beta) in [(0.5, 0.5), (0.1, 0.9), (0.01, 0.999), (1.0, 1.0)] {
        check(&judged, &ranking, alpha, beta, &[10, 100, 899, 900, 901]);
    }
}

#[test]
fn unsound_input_is_refused() {
    let new = |ends: &[u32], subtopics: &[u32], count| {
        Subtopics::new(ends.to_vec(), subtopics.to_vec(), count)
    };
    assert!(new(&[], &[], 0).is_none());
    assert!(new(&[1], &[], 0).is_none());
    assert!(new(&[0, 1], &[0, 1], 2).is_none());
    assert!(new(&[0, 2, 1, 2], &[0, 1], 2).is_none());
    assert!(new(&[0, 2], &[1, 0], 2).is_none());
    assert!(new(&[0, 2], &[1, 1], 2).is_none());
    assert!(new(&[0, 2], &[0, 2], 2).is_none());
    assert!(new(&[0], &[], 0).is_some());
    for (alpha, beta) in
        [(-0.1, 0.5), (1.1, 0.5), (f64::NAN, 0.5), (0.5, -0.1), (0.5, 2.0), (0.5, f64::NAN)]
    {
        assert!(DiversityTables::new(alpha, beta, &[1]).is_none());
    }
    assert!(DiversityTables::new(0.5, 0.5, &[0, 1]).is_none());
    assert!(DiversityTables::new(0.5, 0.5, &[2, 2]).is_none());
    assert!(DiversityTables::new(0.5, 0.5, &[]).is_some());
}

#[test]
fn more_sets_than_a_block() {
    // Sets of 1 to 8 of 40 subtopics, drawn by a linear congruence, small and large mixed.
    let mut state = 1u64;
    let mut draw = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let judged: Vec<Vec<u32>> = (0..140)
        .map(|_| {
            let mut own: Vec<u32> = (0..1 + draw(8)).map(|_| draw(40) as u32).collect();
            own.sort_unstable();
            own.dedup();
            own
        })
        .collect();
    let sets: std::collections::BTreeSet<&Vec<u32>> = judged.iter().collect();
    assert!(sets.len() > 100);
    let ranking: Vec<Option<usize>> = (0..140).map(|rank| Some(rank * 33 % 140)).collect();
    for alpha in [0.5, 0.3] {
        let setting = DiversityTables::new(alpha, 0.9, &[7, 140]).unwrap();
        let mut scratch = SubtopicScratch::default();
        let fast = ideal_gains(&judged, alpha, usize::MAX);
        assert_eq!(fast, plain_gains(&judged, alpha)[..fast.len()]);
        let (_, whole) = values(&judged, &ranking, &setting, &mut scratch);
        assert_eq!(whole.nrbp, reference::nrbp(&judged, &ranking, alpha, 0.9));
    }
}

#[test]
fn late_document_with_many_subtopics_counts() {
    let judged = vec![vec![0], (0..100).collect()];
    let mut ranking = vec![None; 56];
    (ranking[0], ranking[55]) = (Some(0), Some(1));
    let setting = DiversityTables::new(0.5, 0.5, &[]).unwrap();
    let (_, whole) = values(&judged, &ranking, &setting, &mut SubtopicScratch::default());
    assert_eq!(whole.nrbp, reference::nrbp(&judged, &ranking, 0.5, 0.5));
    assert_ne!(whole.nrbp, reference::nrbp(&judged, &ranking[..55], 0.5, 0.5));
}

#[test]
fn later_block_overtakes() {
    // 64 sets that share three subtopics come first by size; once one is chosen, the others have
    // two new subtopics left, and the sets of three fresh ones go before them.
    let mut judged: Vec<Vec<u32>> =
        (3..15).flat_map(|a| (a + 1..15).map(move |b| vec![0, 1, 2, a, b])).take(64).collect();
    judged.extend((0..30).map(|i| (20 + 3 * i..23 + 3 * i).collect()));
    judged.extend((0..34).map(|i| vec![200 + i]));
    let gains = ideal_gains(&judged, 1.0, 33);
    assert_eq!(gains[..31], [[5.0].as_slice(), &[3.0; 30]].concat());
    assert_eq!(gains[31..], [2.0, 2.0]);
}
