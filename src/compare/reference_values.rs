//! Statistics of small runs against values that SciPy 1.17, statsmodels 0.15 and exact integers
//! gave, to every digit that is written down.

use super::agreement::{RboTies, rank_biased_overlap, tau_ap, tau_ap_b, tau_b};
use super::anova::{Anova, Spread};
use super::examples;
use super::family::{benjamini_hochberg, benjamini_yekutieli, bonferroni, holm};
use super::paired::{Paired, Tails, WinCounts, hedges};
use super::power::{power, queries_for, smallest_effect};
use super::ranks::{Method, Zeros, signed_ranks, signs};
use super::special::{noncentral_t_cdf, range_quantile, range_sf, student_quantile, student_sf};
use super::sums::PairSums;
use super::unit::{Unit, deltas};
use crate::measure::Direction;
use crate::stats::ExactSum;

/// Asserts that a number lies within 0.51 units of the last digit of a written number.
#[track_caller]
pub fn digits(found: f64, written: &str) {
    let (mantissa, power) = written.split_once('e').unwrap_or((written, "0"));
    let decimals = mantissa.split_once('.').map_or(0, |(_, decimals)| decimals.len() as i32);
    let last = 10f64.powi(power.parse::<i32>().unwrap() - decimals);
    let known: f64 = written.parse().unwrap();
    assert!((found - known).abs() <= 0.51 * last, "{found:e} is not {written}");
}

/// The differences of two example runs, as numbers and in whole units.
pub struct KnownPair {
    pub values: Vec<f64>,
    /// The differences in whole units.
    pub counts: Vec<i64>,
    pub unit: Unit,
}

pub fn pair(runs: &[Vec<f64>], [a, b]: [usize; 2]) -> KnownPair {
    let unit = Unit::for_values(runs.iter().flatten().copied());
    let values = runs[a].iter().zip(&runs[b]).map(|(a, b)| b - a).collect();
    KnownPair { values, counts: deltas(&unit.counts(&runs[a]), &unit.counts(&runs[b])), unit }
}

pub fn paired(runs: &[Vec<f64>], indices: [usize; 2]) -> Paired {
    let KnownPair { values, counts, unit } = pair(runs, indices);
    paired_of(&values, &counts, unit).unwrap()
}

pub fn paired_of(deltas: &[f64], counts: &[i64], unit: Unit) -> Option<Paired> {
    PairSums::from_deltas(deltas, counts, None, Direction::Higher).paired(unit)
}

/// Checks Wilcoxon's rank sums of an example, the exact p and the p of the normal distribution.
fn check_ranks(counts: &[i64], zeros: Zeros, sums: [f64; 2], [exact, normal]: [&str; 2]) {
    let [found, approximate] =
        [Method::Auto, Method::Normal].map(|how| signed_ranks(counts, zeros, how));
    assert!(found.exact && !approximate.exact);
    for ranks in [found, approximate] {
        assert_eq!([ranks.above, ranks.below], sums);
    }
    digits(found.p.two_sided, exact);
    digits(approximate.p.two_sided, normal);
}

#[test]
fn eight_queries() {
    let runs = examples::eight();
    let KnownPair { values, counts, .. } = pair(&runs, [0, 1]);
    let paired = paired(&runs, [0, 1]);
    digits(paired.mean, ".04");
    digits(paired.sd.unwrap(), ".0451916553612");
    digits(paired.t().unwrap(), "2.50349503875");
    let p = paired.p().unwrap();
    digits(p.two_sided, ".040783136593");
    digits(p.higher, ".0203915682965");
    digits(p.lower, &format!("{:.13}", 1.0 - 0.0203915682965));
    let [low, high] = paired.interval(0.05).unwrap();
    digits(low, ".00221883063496");
    digits(high, ".077781169365");
    digits(paired.d_z().unwrap(), ".885119159285");
    digits(hedges(7.0).unwrap(), ".888202907673");
    digits(paired.g_z().unwrap(), ".786165410914");
    let wins = WinCounts::count(&values, &counts, None, Direction::Higher);
    assert_eq!(wins, WinCounts { wins: 6, ties: 0, losses: 2 });
    assert_eq!(wins.share(), 0.75);
    digits(signs(6, 2).two_sided, ".2890625");
    for zeros in [Zeros::Wilcox, Zeros::Pratt] {
        check_ranks(&counts, zeros, [32.0, 4.0], [".0546875", ".0499499764547"]);
    }
    let sd = paired.sd.unwrap();
    digits(sd * smallest_effect(8.0, 0.05, 0.8), ".0522431207535");
    digits(power(0.02 / sd, 42.035, 0.05), ".8000");
    assert_eq!(queries_for(0.02 / sd, 0.05, 0.8), Some(43));
    let [lower, upper] = paired.tost_p(0.05).unwrap();
    digits(lower, ".000394211239");
    digits(upper, ".275625371971");
    assert_eq!(paired.is_equivalent(0.05, 0.05), Some(false));
}

#[test]
fn fifty_queries_with_ties() {
    let runs = examples::fifty();
    let KnownPair { values, counts, .. } = pair(&runs, [0, 1]);
    let paired = paired(&runs, [0, 1]);
    digits(paired.mean, ".022");
    digits(paired.sd.unwrap(), ".11301074538");
    digits(paired.t().unwrap(), "1.37653717208");
    let p = paired.p().unwrap();
    digits(p.two_sided, ".174913209648");
    digits(p.higher, ".087456604824");
    let [low, high] = paired.interval(0.05).unwrap();
    digits(low, "-.0101172984743");
    digits(high, ".0541172984743");
    digits(paired.d_z().unwrap(), ".194671753787");
    digits(hedges(49.0).unwrap(), ".984602177236");
    digits(paired.g_z().unwrap(), ".191674232625");
    let wins = WinCounts::count(&values, &counts, None, Direction::Higher);
    assert_eq!(wins, WinCounts { wins: 21, ties: 21, losses: 8 });
    assert_eq!(wins.share(), 0.63);
    digits(signs(21, 8).two_sided, ".0241195447743");
    check_ranks(&counts, Zeros::Wilcox, [293.5, 141.5], [".0837308689952", ".0824870801301"]);
    check_ranks(&counts, Zeros::Pratt, [734.5, 309.5], [".033230304718", ".0307884226271"]);
    let sd = paired.sd.unwrap();
    digits(sd * smallest_effect(50.0, 0.05, 0.8), ".0456770223415");
    digits(power(0.02 / sd, 252.53, 0.05), ".80000");
    assert_eq!(queries_for(0.02 / sd, 0.05, 0.8), Some(253));
    let [lower, upper] = paired.tost_p(0.05).unwrap();
    digits(lower, ".0000206151548628");
    digits(upper, ".0430189281424");
    assert_eq!(paired.is_equivalent(0.05, 0.05), Some(true));
}

/// Sakai prints t = 2.116 and p = 0.048.
#[test]
fn a_textbook() {
    let runs = examples::sakai();
    let paired = paired(&runs, [1, 0]);
    digits(paired.t().unwrap(), "2.11575986127");
    digits(paired.p().unwrap().two_sided, ".047796761845");
    let [low, high] = paired.interval(0.05).unwrap();
    digits(low, ".000805944732244");
    digits(high, ".149194055268");
    digits(paired.d_z().unwrap(), ".473098287387");
    let counts = pair(&runs, [1, 0]).counts;
    let p = |zeros, how| signed_ranks(&counts, zeros, how).p.two_sided;
    digits(p(Zeros::Wilcox, Method::Auto), ".0403442382812");
    digits(p(Zeros::Wilcox, Method::Normal), ".0372293031022");
    digits(p(Zeros::Pratt, Method::Auto), ".0713500976562");
    digits(p(Zeros::Pratt, Method::Normal), ".0653006896869");
    let anova = anova(&runs);
    digits(anova.runs.f.unwrap(), "2.4749498998");
    digits(anova.queries.f.unwrap(), "2.4753507014");
    digits(anova.runs.p.unwrap(), ".0976354182795");
    digits(anova.queries.p.unwrap(), ".00855865815328");
    digits(anova.tukey_p(0, 1).unwrap(), ".256697746377");
    digits(anova.tukey_p(0, 2).unwrap(), ".0956868471177");
    digits(anova.tukey_p(2, 1).unwrap(), ".854963181115");
}

fn anova(runs: &[Vec<f64>]) -> Anova {
    anova_of(runs).unwrap()
}

pub fn anova_of(runs: &[Vec<f64>]) -> Option<Anova> {
    let sums: Vec<ExactSum> = runs.iter().map(|run| run.iter().copied().collect()).collect();
    Anova::from_sums(
        &sums,
        &Spread::from_runs(runs),
        Unit::for_values(runs.iter().flatten().copied()),
    )
}

/// The delta, the t, its p and the p of Tukey for the pairs of the five runs. The last comes from a
/// quadrature of 400 × 400 points, because SciPy's is exact to 1e-13 only.
const PAIRS: [([usize; 2], [&str; 4]); 10] = [
    ([0, 1], ["-.0039", "-.396373395435", ".696245961815", ".998800264258"]),
    ([0, 2], [".022", "1.72997330282", ".0998466167651", ".549402218496"]),
    ([0, 3], [".0595", "4.4402269259", ".000280827909491", ".000869334480637"]),
    ([0, 4], [".0592", "3.6691041236", ".00163060633336", ".000934357775334"]),
    ([1, 2], [".0259", "2.02099466455", ".0575994857316", ".383535637528"]),
    ([1, 3], [".0634", "4.31954257271", ".000369555200269", ".000333440079877"]),
    ([1, 4], [".0631", "3.83231153482", ".0011237514926", ".000359416717895"]),
    ([2, 3], [".0375", "2.654393556", ".0156525785244", ".0804277507789"]),
    ([2, 4], [".0372", "2.47555667178", ".0228881580324", ".0844542245022"]),
    ([3, 4], ["-.0003", "-.0171689013365", ".986480882702", ".999999956472"]),
];

#[test]
fn five_runs() {
    let runs = examples::twenty();
    let anova = anova(&runs);
    for (mean, written) in
        anova.means.iter().zip([".37915", ".37525", ".40115", ".43865", ".43835"])
    {
        digits(*mean, written);
    }
    digits(anova.runs.squares, ".07602504");
    digits(anova.queries.squares, "2.21150259");
    digits(anova.error, ".15807336");
    assert_eq!([anova.runs.df, anova.queries.df, anova.error_df], [4.0, 19.0, 76.0]);
    digits(anova.runs.f.unwrap(), "9.13800883337");
    digits(anova.queries.f.unwrap(), "55.96142424");
    digits(anova.runs.p.unwrap(), "4.41234614e-6");
    digits(anova.queries.p.unwrap(), "7.1026896724e-37");
    digits(range_quantile(0.05, 5, 76.0), "3.95180503501");
    digits(anova.tukey_margin(0.05), ".0402998155705");
    for (indices, written) in PAIRS {
        let paired = paired(&runs, indices);
        let p = paired.p().unwrap().two_sided;
        let found =
            [paired.mean, paired.t().unwrap(), p, anova.tukey_p(indices[0], indices[1]).unwrap()];
        found.into_iter().zip(written).for_each(|(found, written)| digits(found, written));
    }
}

#[test]
fn corrections() {
    let runs = examples::twenty();
    let p = |indices| Some(paired(&runs, indices).p()?.two_sided);
    let family: Vec<Option<f64>> = PAIRS.iter().map(|pair| p(pair.0)).collect();
    let check = |found: Vec<Option<f64>>, written: &[&str]| {
        assert_eq!(found.len(), written.len());
        found.iter().zip(written).for_each(|(found, written)| digits(found.unwrap(), written));
    };
    let written = [
        "1",
        ".299539850295",
        ".00280827909491",
        ".0114142443335",
        ".230397942926",
        ".00332599680242",
        ".00899001194077",
        ".0939154711464",
        ".114440790162",
        "1",
    ];
    check(holm(&family), &written);
    let written = [
        ".773606624239",
        ".124808270956",
        ".00184777600135",
        ".00407651583341",
        ".0822849796165",
        ".00184777600135",
        ".00374583830865",
        ".0313051570488",
        ".038146930054",
        ".986480882702",
    ];
    check(benjamini_hochberg(&family), &written);
    let times = |p: f64, factor: f64| (p * factor).min(1.0);
    for (found, p) in benjamini_yekutieli(&family).into_iter().zip(benjamini_hochberg(&family)) {
        // 1 + 1/2 + … + 1/10; what Benjamini and Hochberg cut at 1 is none of these
        assert!((found.unwrap() - times(p.unwrap(), 7381.0 / 2520.0)).abs() < 1e-15, "{found:?}");
    }
    let tenfold = family.iter().map(|p| Some(times(p.unwrap(), 10.0)));
    assert!(bonferroni(&family).into_iter().eq(tenfold));
    check(
        holm(&family[..4]),
        &[".696245961815", ".19969323353", ".00112331163796", ".00489181900009"],
    );
}

#[test]
fn agreement_of_rankings() {
    let x = [0.40, 0.38, 0.35, 0.31, 0.30, 0.24, 0.20];
    let y = [0.52, 0.55, 0.50, 0.41, 0.44, 0.30, 0.31];
    digits(tau_b(&x, &y).unwrap(), ".714285714286");
    digits(tau_ap(&x, &y).unwrap(), ".527777777778");
    for tie in [RboTies::A, RboTies::B, RboTies::W] {
        digits(rank_biased_overlap(&x, &y, 0.9, tie).unwrap(), ".8719335");
        digits(rank_biased_overlap(&x, &y, 0.8, tie).unwrap(), ".763477333333");
    }
    let y = [0.52, 0.55, 0.50, 0.44, 0.44, 0.30, 0.30];
    digits(tau_b(&x, &y).unwrap(), ".851064496347");
    digits(tau_ap_b(&x, &y).unwrap(), ".597222222222");
    for (tie, written) in
        [(RboTies::A, ".88596675"), (RboTies::W, ".887357769231"), (RboTies::B, ".89277781916")]
    {
        digits(rank_biased_overlap(&x, &y, 0.9, tie).unwrap(), written);
        digits(rank_biased_overlap(&y, &x, 0.9, tie).unwrap(), written);
    }
}

#[test]
fn power_and_distributions() {
    for (effect, queries, written) in [
        (0.5, 20.0, ".564504418439"),
        (0.2, 198.0, ".7996983729"),
        (0.2, 199.0, ".801691024037"),
        (0.1, 1000.0, ".884789098891"),
    ] {
        digits(power(effect, queries, 0.05), written);
    }
    assert_eq!(queries_for(0.2, 0.05, 0.8), Some(199));
    digits(smallest_effect(50.0, 0.05, 0.8), ".404183002136");
    digits(smallest_effect(1e5, 0.05, 0.8), ".00885946458254");
    digits(student_quantile(0.975, 49.0), "2.00957523713");
    digits(student_sf(8.0, 9.0), "1.10674084047e-5");
    digits(range_sf(3.5, 3, 10.0), ".0771033108384");
    digits(range_sf(5.0, 50, 49.0), ".272770655621");
    digits(noncentral_t_cdf(2.0096, 49.0, 1.3765), ".729202184986");
}

#[test]
fn the_sample_of_three_runs() {
    // δ, n = 40, t and p of nDCG@10
    for (delta, t, p) in [
        (0.0696184062394, 1.5468998481, ".129964587813"),
        (0.164751672913, 4.14895917013, ".000174972283748"),
        (0.0951332666741, 2.06535114866, ".045581138916"),
    ] {
        let sd = delta / t * 40f64.sqrt();
        let paired = Paired { queries: 40, mean: delta, sd: Some(sd), all_zero: false };
        let Tails { two_sided, higher, lower } = paired.p().unwrap();
        let p: f64 = p.parse().unwrap();
        // t has twelve digits
        assert!((two_sided - p).abs() < 2e-11 * p, "{two_sided} is not {p}");
        assert!((higher + lower - 1.0).abs() < 1e-15 && (2.0 * higher - two_sided).abs() < 1e-15);
    }
}
