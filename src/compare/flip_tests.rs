//! The randomisation test against published and recomputed values, against plain loops over 128-bit
//! numbers, and its properties.

use std::ops::Range;

use proptest::prelude::*;

use super::exact::ExactCounts;
use super::examples::{self, SEED};
use super::flips::{CHUNK, Flips};
use super::philox::Philox;
use super::randomised::*;
use super::unit::{self, LARGEST};

const DRAWS: u32 = 99_999;
const PAIR: Pair = Pair { baseline: 0, run: 1 };

fn slices(runs: &[Vec<i64>]) -> Vec<&[i64]> {
    runs.iter().map(Vec::as_slice).collect()
}

fn all_pairs(runs: usize) -> Vec<Pair> {
    (0..runs)
        .flat_map(|baseline| (baseline + 1..runs).map(move |run| Pair { baseline, run }))
        .collect()
}

/// Returns the family of some pairs, and its tally over some draws.
fn tested(runs: &[Vec<i64>], pairs: &[Pair], draws: Range<u32>) -> (Family, DrawTally) {
    let series = slices(runs);
    let queries = examples::queries(series[0].len());
    let family = Family::from_pairs(&series, pairs);
    let tally = tallies(&Flips::new(SEED, &queries), &series, std::slice::from_ref(&family), draws)
        .remove(0);
    (family, tally)
}

fn counts(two_sided: u64, greater: u64, less: u64) -> ExtremeCounts {
    ExtremeCounts { two_sided, greater, less }
}

/// Returns the sign of a query in a draw, from the definition.
fn sign(query: u64, draw: u32) -> i128 {
    let words = Philox::new(SEED).block([query as u32, (query >> 32) as u32, draw / 128, 0]);
    if words[draw as usize / 32 % 4] >> (draw % 32) & 1 == 1 { -1 } else { 1 }
}

/// Returns the sum of some numbers in a draw, by a plain loop.
fn plain_sum(queries: &[u64], numbers: &[i64], draw: u32) -> i128 {
    queries
        .iter()
        .zip(numbers)
        .map(|(&query, &number)| sign(query, draw) * i128::from(number))
        .sum()
}

/// Returns the counts of a pair over some draws, by plain loops.
fn plain_counts(queries: &[u64], deltas: &[i64], draws: Range<u32>) -> ExtremeCounts {
    let sum: i128 = deltas.iter().map(|&delta| i128::from(delta)).sum();
    let tolerance = 2 * deltas.len() as i128;
    let mut all = ExtremeCounts::default();
    for draw in draws {
        let draw_sum = plain_sum(queries, deltas, draw);
        all.two_sided += u64::from(draw_sum.abs() >= sum.abs() - tolerance);
        all.greater += u64::from(draw_sum >= sum - tolerance);
        all.less += u64::from(draw_sum <= sum + tolerance);
    }
    all
}

/// Returns the counts of a pair over all flips, one after the other.
fn plain_exact(deltas: &[i64]) -> ExtremeCounts {
    let nonzero: Vec<i128> =
        deltas.iter().filter(|delta| delta.abs() > 1).map(|&delta| delta.into()).collect();
    let (sum, tolerance) = (nonzero.iter().sum::<i128>(), 2 * deltas.len() as i128);
    let mut all = ExtremeCounts::default();
    for flips in 0u32..1 << nonzero.len() {
        let flipped =
            |(at, delta): (usize, &i128)| if flips >> at & 1 == 1 { -delta } else { *delta };
        let flipped_sum: i128 = nonzero.iter().enumerate().map(flipped).sum();
        all.two_sided += u64::from(flipped_sum.abs() >= sum.abs() - tolerance);
        all.greater += u64::from(flipped_sum >= sum - tolerance);
        all.less += u64::from(flipped_sum <= sum + tolerance);
    }
    all
}

/// Returns the counts of maxT, by plain loops over draws.
fn plain_max_t(queries: &[u64], deltas: &[Vec<i64>], draws: Range<u32>) -> Vec<u64> {
    let tolerance = 2 * queries.len() as i128;
    let weight = |series: &Vec<i64>| {
        1.0 / (series.iter().map(|&delta| i128::from(delta).pow(2)).sum::<i128>() as f64).sqrt()
    };
    let weights: Vec<f64> = deltas.iter().map(weight).collect();
    let seen = |(series, weight): (&Vec<i64>, &f64)| {
        series.iter().map(|&delta| i128::from(delta)).sum::<i128>().abs() as f64 * weight
    };
    let seen: Vec<f64> = deltas.iter().zip(&weights).map(seen).collect();
    let mut order: Vec<usize> = (0..deltas.len()).collect();
    order.sort_by(|&left, &right| seen[right].total_cmp(&seen[left]).then(left.cmp(&right)));
    let mut counts = vec![0; deltas.len()];
    for draw in draws {
        let mut largest = 0.0;
        for &at in order.iter().rev() {
            let statistic =
                (plain_sum(queries, &deltas[at], draw).abs() + tolerance) as f64 * weights[at];
            largest = if statistic > largest { statistic } else { largest };
            counts[at] += u64::from(largest >= seen[at]);
        }
    }
    for step in order.windows(2) {
        counts[step[1]] = counts[step[1]].max(counts[step[0]]);
    }
    counts
}

struct Expected {
    sum: i128,
    exact: (u32, u64),
    counts: ExtremeCounts,
}

fn check(runs: &[Vec<f64>], pair: Pair, expected: &Expected) {
    let runs = examples::counts(runs);
    let (family, tally) = tested(&runs, &[pair], 0..DRAWS);
    assert_eq!(family.hypotheses()[0].sum, expected.sum);
    assert_eq!(tally.counts, [expected.counts]);
    assert_eq!(tally.draws, u64::from(DRAWS));
    let exact = ExactCounts::count(&unit::deltas(&runs[pair.baseline], &runs[pair.run])).unwrap();
    assert_eq!((exact.nonzero, exact.counts.two_sided), expected.exact);
}

#[test]
fn who_is_told_to_stop_adds_nothing() {
    let watch = crate::progress::ProgressHandle::default();
    let queries = examples::queries(300);
    let numbers: Vec<i64> = (0..300).collect();
    let draw_sums =
        || DrawSums::draw(&Flips::new(SEED, &queries).watched(Some(&watch)), &[&numbers], 0..3000);
    assert_eq!(draw_sums(), DrawSums::draw(&Flips::new(SEED, &queries), &[&numbers], 0..3000));
    watch.stop();
    assert_eq!(draw_sums(), [DrawSums::Narrow(vec![0; 3000])]);
}

#[test]
fn eight_queries() {
    let expected =
        Expected { sum: 351_843_720_889, exact: (8, 12), counts: counts(4691, 2375, 98042) };
    check(&examples::eight(), PAIR, &expected);
    let deltas = {
        let runs = examples::counts(&examples::eight());
        unit::deltas(&runs[0], &runs[1])
    };
    assert_eq!(ExactCounts::count(&deltas).unwrap().p(12), 0.046875);
    let queries = examples::queries(8);
    let sums = DrawSums::draw(&Flips::new(SEED, &queries), &[&deltas], 0..2).remove(0);
    assert_eq!(sums, DrawSums::Narrow(vec![-272_678_883_691, -169_324_790_677]));
}

#[test]
fn fifty_queries() {
    let expected = Expected {
        sum: 1_209_462_790_554,
        exact: (29, 117_228_092),
        counts: counts(21929, 10991, 93116),
    };
    check(&examples::fifty(), PAIR, &expected);
    let runs = examples::counts(&examples::fifty());
    let deltas = unit::deltas(&runs[0], &runs[1]);
    let queries = examples::queries(50);
    let sums = DrawSums::draw(&Flips::new(SEED, &queries), &[&deltas], 0..2).remove(0);
    assert_eq!(sums, DrawSums::Narrow(vec![329_853_488_330, 109_951_162_774]));
    let p = ExactCounts::count(&deltas).unwrap().p(117_228_092);
    assert!((p - 0.218354336917).abs() < 1e-12);
}

#[test]
fn table_of_sakai() {
    let runs = examples::sakai();
    let counted = examples::counts(&runs);
    let pair = Pair { baseline: 1, run: 0 };
    let (_, tally) = tested(&counted, &[pair], 0..DRAWS);
    assert_eq!(tally.counts, [counts(6564, 3374, 98306)]);
    let exact = ExactCounts::count(&unit::deltas(&counted[1], &counted[0])).unwrap();
    assert_eq!((exact.nonzero, exact.counts.two_sided), (15, 2160));
}

#[test]
fn twenty_queries_of_five_runs() {
    let runs = examples::counts(&examples::twenty());
    let pairs = all_pairs(5);
    let (family, tally) = tested(&runs, &pairs, 0..DRAWS);
    let two_sided: Vec<u64> = tally.counts.iter().map(|counts| counts.two_sided).collect();
    assert_eq!(two_sided, [69993, 10235, 32, 202, 5814, 71, 147, 1761, 2526, 98852]);
    let max_t: Vec<u64> = tally.max_t(&family).into_iter().flatten().collect();
    assert_eq!(max_t, [90991, 27926, 332, 1251, 19646, 409, 965, 8667, 10400, 98852]);
    let exact = [
        0.700189590454,
        0.101360321045,
        0.000232696533203,
        0.00223922729492,
        0.0587940216064,
        0.000616073608398,
        0.00160026550293,
        0.0173969268799,
        0.0254573822021,
        0.988592147827,
    ];
    for (pair, expected) in pairs.iter().zip(exact) {
        let exact =
            ExactCounts::count(&unit::deltas(&runs[pair.baseline], &runs[pair.run])).unwrap();
        // The value has twelve digits, and counts are whole.
        let count = (expected * 2f64.powi(exact.nonzero as i32)).round();
        assert_eq!(exact.counts.two_sided as f64, count);
        assert!((exact.p(exact.counts.two_sided) - expected).abs() < 1e-12);
    }
}

#[test]
fn twenty_queries_against_a_baseline() {
    let runs = examples::counts(&examples::twenty());
    let pairs: Vec<Pair> = (1..5).map(|run| Pair { baseline: 0, run }).collect();
    let (family, tally) = tested(&runs, &pairs, 0..DRAWS);
    let expected = [69993, 19110, 92, 396].map(Some);
    assert_eq!(tally.max_t(&family), expected);
}

/// Numbers of queries around the borders of groups, pairs of groups and batches; draws around those
/// of words and chunks.
#[test]
fn sums_are_the_plain_ones() {
    for count in [0, 1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 255, 256, 257, 265, 513] {
        let queries = examples::queries(count);
        let numbers =
            |by: i64| (0..count as i64).map(|at| at * by % 1_000_003 - 500_000).collect::<Vec<_>>();
        let series = [numbers(7919), numbers(-104_729)];
        let flips = Flips::new(SEED, &queries);
        let sums = DrawSums::draw(&flips, &slices(&series), 0..4100);
        let chunk = CHUNK as u32;
        let draws = (0..40).chain(120..140).chain(chunk - 9..chunk + 9).chain([
            2 * chunk - 1,
            2 * chunk,
            4099,
        ]);
        for draw in draws {
            for (sums, numbers) in sums.iter().zip(&series) {
                let expected = plain_sum(&queries, numbers, draw);
                assert_eq!(sums.get(draw as usize), expected, "{count} queries, draw {draw}");
            }
        }
    }
}

/// Any range of draws is that part of all draws, also far behind the first one.
#[test]
fn ranges_of_draws_are_parts() {
    let queries = examples::queries(21);
    let numbers: Vec<i64> = (0..21).map(|at| at * at).collect();
    let flips = Flips::new(SEED, &queries);
    for draws in
        [0..1, 0..0, 9..9, 1..4096, 2047..2049, 2048..2050, 100..5000, 3_999_999_990..4_000_000_010]
    {
        let sums = DrawSums::draw(&flips, &[&numbers], draws.clone()).remove(0);
        assert_eq!(sums.len(), draws.len());
        for (at, draw) in draws.enumerate() {
            assert_eq!(sums.get(at), plain_sum(&queries, &numbers, draw), "draw {draw}");
        }
    }
}

/// The largest numbers there are, all of one sign, so that draws of few flips are far from zero:
/// sums leave 64 bits and are exact.
#[test]
fn sums_beyond_64_bits() {
    for count in [1, 255, 256, 257, 1024, 1500] {
        let queries = examples::queries(count);
        let base: Vec<i64> = (0..count as i64).map(|at| -LARGEST + at % 3).collect();
        // Nearly as a draw flips them, so that the sum of this draw is as large as can be.
        let along: Vec<i64> =
            queries.iter().map(|&query| sign(query, 5) as i64 * (LARGEST - 1)).collect();
        let runs = [base, along];
        let deltas = unit::deltas(&runs[0], &runs[1]);
        let flips = Flips::new(SEED, &queries);
        let series = [&runs[0][..], &runs[1], &deltas];
        for (sums, numbers) in DrawSums::draw(&flips, &series, 0..50).iter().zip(series) {
            for draw in 0..50 {
                assert_eq!(
                    sums.get(draw),
                    plain_sum(&queries, numbers, draw as u32),
                    "{count} queries"
                );
            }
        }
        let (_, tally) = tested(&runs, &[PAIR], 0..300);
        assert_eq!(tally.counts, [plain_counts(&queries, &deltas, 0..300)]);
    }
    // Of this one the sum of draw 5 needs more than 64 bits.
    let queries = examples::queries(1500);
    let along: Vec<i64> = queries.iter().map(|&query| sign(query, 5) as i64 * LARGEST).collect();
    let sums = DrawSums::draw(&Flips::new(SEED, &queries), &[&along], 0..6).remove(0);
    assert_eq!(sums.get(5), 1500 << 53);
    assert!(matches!(sums, DrawSums::Wide(_)));
}

/// The widths give the same counts: of small numbers with one pair of large ones in the same call,
/// and without.
#[test]
fn width_changes_no_count() {
    let mut runs = examples::counts(&examples::fifty());
    let (_, narrow) = tested(&runs, &[PAIR], 0..5000);
    runs.push((0..50).map(|at| at << 46).collect());
    runs.push((0..50).map(|at| (LARGEST - at) * (at % 2 * 2 - 1)).collect());
    runs.push(vec![LARGEST; 50]);
    runs.push(vec![-LARGEST; 50]);
    assert!(super::flips::are_narrow(&slices(&runs[..2])));
    assert!(super::flips::are_narrow(&slices(&[unit::deltas(&runs[0], &runs[1])])));
    let far = vec![LARGEST; 50];
    assert!(super::flips::are_narrow(&[&far]));
    let many = vec![LARGEST; 256];
    assert!(!super::flips::are_narrow(&[&many]));
    let pairs = all_pairs(runs.len());
    let (family, all) = tested(&runs, &pairs, 0..5000);
    assert_eq!(all.counts[0], narrow.counts[0]);
    let (again, sums) = (family, {
        let queries = examples::queries(50);
        DrawSums::draw(&Flips::new(SEED, &queries), &slices(&runs), 0..5000)
    });
    assert_eq!(tallies_of_sums(&sums, &[again]), [all]);
}

#[test]
fn threads_and_cuts_change_nothing() {
    let runs = examples::counts(&examples::twenty());
    let pairs = all_pairs(5);
    let (family, all) = tested(&runs, &pairs, 0..20_000);
    for threads in [1, 2, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(|| tested(&runs, &pairs, 0..20_000)).1, all);
    }
    for cut in [0, 1, 999, 2048, 9_999, 20_000] {
        let mut parts = tested(&runs, &pairs, 0..cut).1;
        parts.merge(&tested(&runs, &pairs, cut..20_000).1);
        assert_eq!(parts, all);
    }
    let sums = DrawSums::draw(&Flips::new(SEED, &examples::queries(20)), &slices(&runs), 0..20_000);
    assert_eq!(tallies_of_sums(&sums, &[family]), [all]);
}

/// Queries in another order, and shards of them whose sums are added, give the same bits.
#[test]
fn order_and_shards_change_nothing() {
    let runs = examples::counts(&examples::twenty());
    let queries = examples::queries(20);
    let (family, all) = tested(&runs, &all_pairs(5), 0..5000);
    let draw_sums = |places: &[usize]| {
        let runs: Vec<Vec<i64>> =
            runs.iter().map(|run| places.iter().map(|&at| run[at]).collect()).collect();
        let queries: Vec<u64> = places.iter().map(|&at| queries[at]).collect();
        DrawSums::draw(&Flips::new(SEED, &queries), &slices(&runs), 0..5000)
    };
    let backwards: Vec<usize> = (0..20).rev().collect();
    let whole = draw_sums(&backwards);
    for shards in [1, 2, 3, 20] {
        let mut parts = (0..shards).map(|shard| {
            draw_sums(&(0..20).filter(|at| at * 7 % shards == shard).collect::<Vec<_>>())
        });
        let mut merged = parts.next().unwrap();
        for part in parts {
            merged.iter_mut().zip(&part).for_each(|(sums, more)| sums.merge(more));
        }
        assert_eq!(merged, whole, "{shards} shards");
    }
    assert_eq!(tallies_of_sums(&whole, &[family]), [all]);
}

/// Sums of shards widen where they must, and are narrow again where they can be.
#[test]
fn merged_sums_widen() {
    let mut sums = DrawSums::Narrow(vec![i64::MAX, 1]);
    sums.merge(&DrawSums::Narrow(vec![5, 2]));
    assert_eq!(sums, DrawSums::Wide(vec![i128::from(i64::MAX) + 5, 3]));
    sums.merge(&DrawSums::Narrow(vec![-5, 0]));
    assert_eq!(sums, DrawSums::Narrow(vec![i64::MAX, 3]));
}

/// Several families that share draws, of series of several measures, have the tallies that each has
/// by itself.
#[test]
fn families_share_draws() {
    let mut series = examples::counts(&examples::twenty());
    series.extend(examples::counts(&examples::sakai()));
    let slices = slices(&series);
    let queries = examples::queries(20);
    let flips = Flips::new(SEED, &queries);
    let second: Vec<Pair> = all_pairs(3)
        .iter()
        .map(|pair| Pair { baseline: pair.baseline + 5, run: pair.run + 5 })
        .collect();
    let both: Vec<Pair> = all_pairs(5).into_iter().chain(second.clone()).collect();
    let families = [all_pairs(5), second, both].map(|pairs| Family::from_pairs(&slices, &pairs));
    let together = tallies(&flips, &slices, &families, 0..3000);
    for (family, tally) in families.iter().zip(&together) {
        let alone = tallies(&flips, &slices, std::slice::from_ref(family), 0..3000);
        assert_eq!(alone, std::slice::from_ref(tally));
    }
    let joined: Vec<ExtremeCounts> =
        together[..2].iter().flat_map(|tally| tally.counts.clone()).collect();
    assert_eq!(together[2].counts, joined);
    let apart = together[..2].iter().zip(&families).flat_map(|(tally, family)| tally.max_t(family));
    assert!(apart.zip(together[2].max_t(&families[2])).all(|(apart, all)| apart <= all));
}

#[test]
fn equal_runs_have_p_1() {
    let run: Vec<i64> = (0..30).map(|at| at * at).collect();
    let mut close = run.clone();
    close.iter_mut().for_each(|value| *value += *value % 2);
    let mut far = run.clone();
    far.iter_mut().for_each(|value| *value += 1000 + *value % 97);
    let pairs = [PAIR, Pair { baseline: 0, run: 2 }, Pair { baseline: 0, run: 3 }];
    let (family, tally) = tested(&[run.clone(), run.clone(), close, far], &pairs, 0..3000);
    assert_eq!(tally.counts[..2], [counts(3000, 3000, 3000); 2]);
    assert_eq!(tally.p(tally.counts[0].two_sided), 1.0);
    // A difference left by rounding is no hypothesis, and does not spoil the others.
    let max_t = tally.max_t(&family);
    assert_eq!(max_t[..2], [None; 2]);
    assert_eq!(max_t[2], Some(tally.counts[2].two_sided));
    assert_eq!(
        ExactCounts::count(&[0, 1, -1]).unwrap(),
        ExactCounts { nonzero: 0, counts: counts(1, 1, 1) }
    );
    assert_eq!(
        ExactCounts::count(&[]).unwrap(),
        ExactCounts { nonzero: 0, counts: counts(1, 1, 1) }
    );
}

#[test]
fn p_is_never_zero() {
    let (_, tally) = tested(&[vec![0; 100], vec![1 << 30; 100]], &[PAIR], 0..1000);
    assert_eq!(tally.counts, [counts(0, 0, 1000)]);
    assert_eq!(tally.p(0), 1.0 / 1001.0);
}

/// The flips of differences of 0 and 1 are the tosses of the sign test.
#[test]
fn flips_of_ones_are_the_sign_test() {
    let choose = |n: u64, k: u64| {
        (0..k).fold(1u128, |product, at| product * u128::from(n - at) / u128::from(at + 1)) as u64
    };
    for (wins, losses) in
        [(0u64, 0u64), (1, 0), (5, 5), (9, 3), (3, 9), (15, 4), (30, 10), (22, 18)]
    {
        let mut deltas = vec![1i64 << 40; wins as usize];
        deltas.extend(vec![-1i64 << 40; losses as usize]);
        deltas.extend([0; 5]);
        let n = wins + losses;
        let tail: u64 = (0..=wins.min(losses)).map(|k| choose(n, k)).sum();
        let two_sided = if wins == losses { 1 << n } else { 2 * tail };
        let greater: u64 = (wins..=n).map(|k| choose(n, k)).sum();
        let less: u64 = (0..=wins).map(|k| choose(n, k)).sum();
        let exact = ExactCounts::count(&deltas).unwrap();
        assert_eq!(
            exact,
            ExactCounts { nonzero: n as u32, counts: counts(two_sided, greater, less) }
        );
    }
    assert!(ExactCounts::count(&[5; 40]).is_some() && ExactCounts::count(&[5; 41]).is_none());
    let most = ExactCounts::count(&[2 * LARGEST; 40]).unwrap();
    assert_eq!(most.counts, counts(2, 1, 1 << 40));
}

/// Random draws agree with all flips as far as chance lets them.
#[test]
fn draws_estimate_the_exact_p() {
    let runs = examples::counts(&examples::twenty());
    let pairs = all_pairs(5);
    let (_, tally) = tested(&runs, &pairs, 0..DRAWS);
    for (pair, counts) in pairs.iter().zip(&tally.counts) {
        let exact =
            ExactCounts::count(&unit::deltas(&runs[pair.baseline], &runs[pair.run])).unwrap();
        for (count, exact_count) in [
            (counts.two_sided, exact.counts.two_sided),
            (counts.greater, exact.counts.greater),
            (counts.less, exact.counts.less),
        ] {
            let (p, expected) = (tally.p(count), exact.p(exact_count));
            let error = (expected * (1.0 - expected) / f64::from(DRAWS)).sqrt();
            assert!((p - expected).abs() < 4.0 * error + 1e-5, "{p}, exactly {expected}");
        }
    }
}

fn deltas(most: usize) -> impl Strategy<Value = Vec<i64>> {
    // Few different sizes, so that sums are often equal or nearly so.
    proptest::collection::vec(
        prop_oneof![-3i64..=3, (-4i64..=4).prop_map(|by| by << 20), -(1i64 << 41)..1 << 41],
        0..=most,
    )
}

proptest! {
    #[test]
    fn exact_counts_are_those_of_all_flips(deltas in deltas(12)) {
        prop_assert_eq!(ExactCounts::count(&deltas).unwrap().counts, plain_exact(&deltas));
    }

    #[test]
    fn tallies_are_the_plain_ones(deltas in deltas(40), start in 0u32..5000, draws in 0u32..300) {
        let queries = examples::queries(deltas.len());
        let runs = [vec![7; deltas.len()], deltas.iter().map(|delta| delta + 7).collect()];
        let (_, tally) = tested(&runs, &[PAIR], start..start + draws);
        prop_assert_eq!(tally.counts, [plain_counts(&queries, &deltas, start..start + draws)]);
    }

    #[test]
    fn swapping_the_runs_mirrors(deltas in deltas(30)) {
        let runs = [vec![0; deltas.len()], deltas];
        let pairs = [PAIR, Pair { baseline: 1, run: 0 }];
        let (_, tally) = tested(&runs, &pairs, 0..500);
        let [there, back] = [tally.counts[0], tally.counts[1]];
        prop_assert_eq!(counts(there.two_sided, there.less, there.greater), back);
        let [there, back] = [0, 1].map(|at| {
            ExactCounts::count(&unit::deltas(&runs[pairs[at].baseline], &runs[pairs[at].run]))
                .unwrap()
                .counts
        });
        prop_assert_eq!(counts(there.two_sided, there.less, there.greater), back);
    }

    #[test]
    fn step_down_counts_are_the_plain_ones(
        runs in proptest::collection::vec(
            proptest::collection::vec((0i64..6).prop_map(|by| by << 38), 12),
            2..6,
        ),
    ) {
        let pairs: Vec<Pair> = all_pairs(runs.len())
            .into_iter()
            .filter(|pair| runs[pair.baseline] != runs[pair.run])
            .collect();
        let (family, tally) = tested(&runs, &pairs, 0..400);
        let deltas: Vec<Vec<i64>> =
            pairs.iter().map(|pair| unit::deltas(&runs[pair.baseline], &runs[pair.run])).collect();
        let max_t: Vec<u64> = tally.max_t(&family).into_iter().flatten().collect();
        prop_assert_eq!(&max_t, &plain_max_t(&examples::queries(12), &deltas, 0..400));
        for (own, corrected) in tally.counts.iter().zip(max_t) {
            prop_assert!(own.two_sided <= corrected);
        }
    }
}
