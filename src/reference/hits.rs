//! Reference formulas of measures of the ranks of relevant documents, such as AP, RR and Bpref.

use super::common::{cutoff, ratio};
use super::ranking::DocumentJudgment::{self, Judged, Negative, Unpooled};
use super::ranking::Ranking;
use crate::matrix::code;
use crate::measure::{Measure, ParamValue, RecallRule};

/// Returns the sum of the precisions r(i) / i at the relevant ranks i ≤ k of a ranking, as in AP.
/// r(i) is the number of relevant documents among the first i.
fn precision_sum(level: f64, k: Option<u32>, r: &Ranking<'_>) -> f64 {
    let (mut hits, mut sum) = (0.0, 0.0);
    for (rank, document) in r.top(k) {
        if document.is_relevant(level) {
            hits += 1.0;
            sum += hits / rank as f64;
        }
    }
    sum
}

/// Returns the sum of precisions at a ranking's relevant ranks, each taken at the last rank with
/// the same score. That is Σ of r(e) / e, e being the last rank.
fn precision_sum_of_groups(level: f64, r: &Ranking<'_>) -> f64 {
    let mut hits = 0.0;
    let mut hits_down_to = vec![0.0];
    for (_, document) in r.top(None) {
        hits += f64::from(document.is_relevant(level));
        hits_down_to.push(hits);
    }
    let mut sum = 0.0;
    for ((_, document), last) in r.top(None).zip(r.last_ranks()) {
        if document.is_relevant(level) {
            sum += hits_down_to[last] / last as f64;
        }
    }
    sum
}

pub fn average_precision(m: &Measure, r: &Ranking<'_>) -> f64 {
    let sum = match m.choice("ties") {
        "together" => precision_sum_of_groups(m.rel(), r),
        _ => precision_sum(m.rel(), m.rank(), r),
    };
    let relevant = r.relevant(m.rel());
    match m.choice("norm") {
        "judged" => ratio(sum, relevant),
        "min" => ratio(sum, relevant.min(cutoff(m))),
        "k" => sum / cutoff(m),
        "retrieved" => ratio(sum, relevant.min(r.top(m.rank()).count() as f64)),
        _ => ratio(sum, r.hits(m.rel(), m.rank())),
    }
}

pub fn floored_average_precision(m: &Measure, r: &Ranking<'_>) -> f64 {
    ratio(precision_sum(m.rel(), None, r), r.relevant(m.rel())).max(0.00001)
}

pub fn reciprocal_rank(m: &Measure, r: &Ranking<'_>) -> f64 {
    let mut ranks =
        r.top(m.rank()).filter(|(_, document)| document.is_relevant(m.rel())).map(|(rank, _)| rank);
    let divisor = match m.choice("over") {
        "hits" => r.hits(m.rel(), m.rank()),
        "relevant" => r.relevant(m.rel()),
        _ => return ranks.next().map_or(0.0, |rank| 1.0 / rank as f64),
    };
    let mut sum = 0.0;
    for rank in ranks {
        sum += 1.0 / rank as f64;
    }
    ratio(sum, divisor)
}

/// Returns the interpolated precision at a level of recall: the largest precision of a ranking at
/// any rank with enough hits for this level.
fn peak(m: &Measure, r: &Ranking<'_>, recall: f64) -> f64 {
    let needed = RecallRule::from_measure(m).hits(recall)(r.relevant(m.rel()) as u64) as f64;
    let (mut hits, mut peak) = (0.0, 0.0f64);
    for (rank, document) in r.top(None) {
        if document.is_relevant(m.rel()) {
            hits += 1.0;
        }
        if hits >= needed {
            peak = peak.max(hits / rank as f64);
        }
    }
    peak
}

pub fn interpolated_precision(m: &Measure, r: &Ranking<'_>) -> f64 {
    peak(m, r, m.recall())
}

pub fn mean_interpolated_precision(m: &Measure, r: &Ranking<'_>) -> f64 {
    let points = match m.value("points") {
        Some(ParamValue::List(points)) => points.clone(),
        _ => (0..=10).map(|tenth| f64::from(tenth) / 10.0).collect(),
    };
    let mut sum = 0.0;
    for &point in points.iter().rev() {
        sum += peak(m, r, point);
    }
    sum / points.len() as f64
}

pub fn bpref(m: &Measure, r: &Ranking<'_>) -> f64 {
    let relevant = r.relevant(m.rel());
    let negative = r.facts.iter().filter(|&(code, _)| code == code::NEGATIVE);
    let negative = negative.map(|(_, count)| (Negative, count));
    let known = r.judged().map(|(grade, count)| (Judged(grade), count)).chain(negative);
    let nonrelevant = known.filter(|&(document, _)| is_nonrelevant(m, document));
    let nonrelevant: f64 = nonrelevant.map(|(_, count)| f64::from(count)).sum();
    let (mut above, mut sum) = (0.0, 0.0);
    for (_, document) in r.top(None) {
        if document.is_relevant(m.rel()) {
            sum += if above > 0.0 {
                1.0 - f64::min(above, relevant) / f64::min(nonrelevant, relevant)
            } else {
                1.0
            };
        } else if is_nonrelevant(m, document) {
            above += 1.0;
        }
    }
    ratio(sum, relevant)
}

/// Returns whether Bpref counts a document as judged and not relevant. The parameter `negatives`
/// decides whether documents of negative grade count so.
fn is_nonrelevant(m: &Measure, document: DocumentJudgment) -> bool {
    document.is_nonrelevant(m.rel())
        || (document == Negative && m.choice("negatives") == "nonrelevant")
}

pub fn inferred_average_precision(m: &Measure, r: &Ranking<'_>) -> f64 {
    // trec_eval's constant. Without it, a hit with no document of grade 0 or more above would give
    // 0 / 0.
    const EPSILON: f64 = 0.00001;
    let (mut relevant, mut nonrelevant, mut pooled, mut sum) = (0.0, 0.0, 0.0, 0.0);
    for (rank, document) in r.top(None) {
        match document {
            Unpooled => {}
            Negative => pooled += 1.0,
            Judged(grade) if grade < m.rel() => nonrelevant += 1.0,
            Judged(_) => {
                let above = (rank - 1) as f64;
                sum += if above == 0.0 {
                    1.0
                } else {
                    let judged = relevant + nonrelevant;
                    1.0 / (above + 1.0)
                        + (above / (above + 1.0))
                            * ((judged + pooled) / above)
                            * ((relevant + EPSILON) / (judged + 2.0 * EPSILON))
                };
                relevant += 1.0;
            }
        }
    }
    ratio(sum, r.relevant(m.rel()))
}

pub fn yaap(m: &Measure, r: &Ranking<'_>) -> f64 {
    let (sum, relevant) = (precision_sum(m.rel(), None, r), r.relevant(m.rel()));
    if relevant == 0.0 { 0.0 } else { ((1.0 + sum) / (1.0 + relevant - sum)).ln() }
}

pub fn bin_g(m: &Measure, r: &Ranking<'_>) -> f64 {
    let (mut hits, mut sum) = (0, 0.0);
    for (rank, document) in r.top(None) {
        if document.is_relevant(m.rel()) {
            hits += 1;
            sum += 1.0 / ((2 + rank - hits) as f64).log2();
        }
    }
    ratio(sum, r.relevant(m.rel()))
}

pub fn accuracy(m: &Measure, r: &Ranking<'_>) -> f64 {
    let (mut hits, mut others, mut wrong) = (0.0, 0.0, 0.0);
    for (_, document) in r.top(m.rank()) {
        if document.is_relevant(m.rel()) {
            hits += 1.0;
            wrong += others;
        } else {
            others += 1.0;
        }
    }
    if hits == 0.0 { 0.0 } else { 1.0 - ratio(wrong, others * hits) }
}
