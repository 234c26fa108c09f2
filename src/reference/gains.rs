//! Reference formulas of measures that add gains, such as DCG, and compare the sum with the ideal
//! ranking's.

use super::common::{discount, ratio};
use super::ranking::DocumentJudgment::{self, Judged, Negative, Unpooled};
use super::ranking::Ranking;
use crate::measure::{Measure, ParamValue};
use crate::sort;

/// Returns the function from a document to its gain under a measure's parameters `gain` and `rel`.
fn gain(m: &Measure) -> impl Fn(DocumentJudgment) -> f64 + '_ {
    let (worth, floor) = (worth(m), m.number("rel").unwrap_or(0.0));
    move |document| match document {
        Judged(grade) if grade < floor => 0.0,
        document => worth(document),
    }
}

/// Returns the function from a document to its gain under a measure's parameter `gain` alone.
fn worth(m: &Measure) -> impl Fn(DocumentJudgment) -> f64 + '_ {
    let table = match m.value("gain") {
        Some(ParamValue::Table(pairs)) => pairs.as_slice(),
        _ => &[],
    };
    let (exponential, binary) = (m.choice("gain") == "exp2", m.choice("gain") == "binary");
    let level = m.rel();
    let named = move |level: f64| table.iter().find(|pair| pair.0 == level).map(|pair| pair.1);
    move |document| match document {
        Unpooled => named(-1.0).unwrap_or(0.0),
        Negative => named(-2.0).unwrap_or(0.0),
        Judged(grade) if exponential => grade.exp2() - 1.0,
        Judged(grade) if binary => f64::from(grade >= level),
        Judged(grade) => named(grade).unwrap_or(grade),
    }
}

/// Returns a gain function scaled by a power of two, so that sums of huge gains are finite. The
/// scaled gains are for values that depend only on the ratio of gains.
fn in_unit(
    gain: impl Fn(DocumentJudgment) -> f64,
    r: &Ranking<'_>,
) -> impl Fn(DocumentJudgment) -> f64 {
    let grades = r.book.grades().iter().copied().chain(r.book.max_grade());
    let documents = grades.map(Judged).chain([Unpooled, Negative]);
    let largest = documents.map(&gain).fold(0.0, |largest, gain| gain.abs().max(largest));
    let unit = if largest > 2f64.powi(900) { 2f64.powi(-128) } else { 1.0 };
    move |document| gain(document) * unit
}

/// Returns whether any judged document of a query has a gain above 0.
pub fn has_gain(m: &Measure, r: &Ranking<'_>) -> bool {
    let gain = gain(m);
    r.judged().any(|(grade, _)| gain(Judged(grade)) > 0.0)
}

pub fn cumulated_gain(m: &Measure, r: &Ranking<'_>) -> f64 {
    let gain = gain(m);
    let mut sum = 0.0;
    for (_, document) in r.top(m.rank()) {
        sum += gain(document);
    }
    sum
}

/// Returns a gain divided by the discount lg(i + 1) of its rank i, as in DCG. Most gains are 0, and
/// need no logarithm.
fn discounted(gain: f64, rank: usize) -> f64 {
    if gain == 0.0 { 0.0 } else { gain / discount(rank) }
}

/// Returns the discount function of a DCG: division by lg(i + 1), by i, or by log_b(i) from rank b
/// on.
fn discounted_under(m: &Measure) -> impl Fn(f64, usize) -> f64 {
    let base = (m.choice("discount") == "jk").then(|| m.number("base").unwrap_or(2.0));
    let by_rank = m.choice("discount") == "rank";
    move |gain, rank| match base {
        _ if by_rank => gain / rank as f64,
        None => discounted(gain, rank),
        Some(base) if (rank as f64) < base => gain,
        Some(base) => gain / ((rank as f64).log2() / base.log2()),
    }
}

pub fn discounted_cumulated_gain(m: &Measure, r: &Ranking<'_>) -> f64 {
    dcg_under(gain(m), m, r)
}

fn dcg_under(gain: impl Fn(DocumentJudgment) -> f64, m: &Measure, r: &Ranking<'_>) -> f64 {
    let discounted = discounted_under(m);
    let mut sum = 0.0;
    for (rank, document) in r.top(m.rank()) {
        sum += discounted(gain(document), rank);
    }
    sum
}

/// The gains of an ideal ranking above 0, the largest first, each with its number of documents.
struct IdealGains(Vec<(f64, u32)>);

impl IdealGains {
    fn new(gains: impl Iterator<Item = (f64, u32)>) -> Self {
        let mut gains: Vec<_> = gains.filter(|&(gain, _)| gain > 0.0).collect();
        sort::largest_first(&mut gains);
        IdealGains(gains)
    }

    /// Returns the gains of the ideal ranking of a query's judged documents.
    fn from_judged(r: &Ranking<'_>, gain: impl Fn(DocumentJudgment) -> f64) -> Self {
        Self::new(r.judged().map(|(grade, count)| (gain(Judged(grade)), count)))
    }

    /// Returns the gains of the ideal ranking, rank by rank.
    fn gains(&self) -> impl Iterator<Item = f64> {
        self.0.iter().flat_map(|&(gain, count)| std::iter::repeat_n(gain, count as usize))
    }

    /// Returns the number of documents in the ideal ranking.
    fn documents(&self) -> usize {
        self.0.iter().map(|&(_, count)| count as usize).sum()
    }
}

/// Returns the DCG, down to rank `k`, of gains in rank order.
fn dcg_of(
    gains: impl Iterator<Item = f64>,
    k: Option<u32>,
    discounted: impl Fn(f64, usize) -> f64,
) -> f64 {
    let mut sum = 0.0;
    for (index, gain) in gains.take(k.map_or(usize::MAX, |k| k as usize)).enumerate() {
        sum += discounted(gain, index + 1);
    }
    sum
}

pub fn normalised_dcg(m: &Measure, r: &Ranking<'_>) -> f64 {
    let gain = in_unit(gain(m), r);
    let ideal = match m.choice("ideal") {
        "retrieved" => IdealGains::new(r.top(None).map(|(_, document)| (gain(document), 1))),
        _ => IdealGains::from_judged(r, &gain),
    };
    let ranks = match m.choice("ideal") {
        "uncut" => None,
        "returned" => Some(r.top(m.rank()).count() as u32),
        _ => m.rank(),
    };
    ratio(dcg_under(gain, m, r), dcg_of(ideal.gains(), ranks, discounted_under(m)))
}

pub fn ideal_dcg(m: &Measure, r: &Ranking<'_>) -> f64 {
    dcg_of(IdealGains::from_judged(r, gain(m)).gains(), m.rank(), discounted_under(m))
}

pub fn g(m: &Measure, r: &Ranking<'_>) -> f64 {
    let gain_of = gain(m);
    let ideal = IdealGains::from_judged(r, &gain_of);
    let mut best = ideal.gains();
    let (mut cost, mut gained, mut sum) = (0.0, 0.0, 0.0);
    for (_, document) in r.top(None) {
        let gain = gain_of(document);
        cost += best.next().unwrap_or(0.0).max(1.0);
        gained += gain;
        if gain != 0.0 {
            let lag = 2.0 + cost - gained;
            // On paper the lag is 2 or more. A lag below 2 by a small part of the cost is rounding
            // of large gains, and counts as 2. A lag below 2 only in its last bits is kept, as in
            // trec_eval.
            let is_rounding = lag < 1.999_999 && 2.0 - lag <= cost * 2f64.powi(-36);
            sum += gain / if is_rounding { 2.0 } else { lag }.log2();
        }
    }
    let whole: f64 = ideal.gains().sum();
    // The difference of a cost and gains of this size is rounding alone, or they are infinite: no
    // value can be told.
    if cost.max(whole) > 2f64.powi(900) { f64::NAN } else { ratio(sum, whole) }
}

pub fn ndcg_over_relevant(m: &Measure, r: &Ranking<'_>) -> f64 {
    let gain_of = in_unit(gain(m), r);
    let ideal = IdealGains::from_judged(r, &gain_of);
    let mut ideal_gains = ideal.gains();
    let (mut dcg, mut best, mut found, mut sum) = (0.0, 0.0, 0, 0.0);
    for (rank, document) in r.top(None) {
        let gain = gain_of(document);
        dcg += discounted(gain, rank);
        best += ideal_gains.next().map_or(0.0, |gain| gain / discount(rank));
        if gain > 0.0 {
            sum += dcg / best;
            found += 1;
        }
    }
    let documents = ideal.documents() as f64;
    let missing = documents - f64::from(found);
    // Negative gains can make the value negative; it counts as 0 then.
    ratio(sum + ratio(missing * dcg, dcg_of(ideal.gains(), None, discounted)), documents).max(0.0)
}

pub fn ndcg_over_changes(m: &Measure, r: &Ranking<'_>) -> f64 {
    if r.relevant(m.rel()) == 0.0 {
        return 0.0;
    }
    // The level decides only whether anything is relevant.
    let worth = in_unit(worth(m), r);
    let ideal = IdealGains::from_judged(r, &worth);
    let gains: Vec<f64> = r.top(None).map(|(_, document)| worth(document)).collect();
    let (mut dcg, mut best, mut sum, mut count) = (0.0, 0.0, 0.0, 0.0);
    let mut ideal_gains = ideal.gains().enumerate().peekable();
    while let Some((index, gain)) = ideal_gains.next() {
        dcg += gains.get(index).map_or(0.0, |&gain| discounted(gain, index + 1));
        best += gain / discount(index + 1);
        if ideal_gains.peek().is_none_or(|&(_, next)| next != gain) {
            sum += dcg / best;
            count += 1.0;
        }
    }
    let documents = ideal.documents();
    if documents > 0 && gains.len() >= documents + 2 {
        sum += dcg_of(gains.into_iter(), None, discounted) / best;
        count += 1.0;
    }
    ratio(sum, count)
}
