//! Measures of the ranks of relevant documents.

use super::parts::{cutoff, ratio};
use super::ranking::{Ranking, SeenDocument};
use crate::matrix::code;
use crate::measure::{Measure, RecallRule, Value};

/// Σ of r(i) / i over the relevant ranks i ≤ k.
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

/// Σ of r(e) / e over the relevant ranks, e being the last rank with the same score.
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
    let sum = match m.word("tied") {
        "together" => precision_sum_of_groups(m.rel(), r),
        _ => precision_sum(m.rel(), m.rank(), r),
    };
    let relevant = r.relevant(m.rel());
    match m.word("norm") {
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
    let divisor = match m.word("over") {
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

/// The largest precision at any rank that has at least as many hits as the level of recall needs.
fn peak(m: &Measure, r: &Ranking<'_>, recall: f64) -> f64 {
    let needed = RecallRule::of(m).hits(recall)(r.relevant(m.rel()) as u64) as f64;
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
        Some(Value::List(points)) => points.clone(),
        _ => (0..=10).map(|tenth| f64::from(tenth) / 10.0).collect(),
    };
    let mut sum = 0.0;
    for &point in points.iter().rev() {
        sum += peak(m, r, point);
    }
    sum / points.len() as f64
}

pub fn bpref(m: &Measure, r: &Ranking<'_>) -> f64 {
    let negatives = m.word("negatives") == "nonrelevant";
    let is_nonrelevant = |document: SeenDocument| {
        document.is_nonrelevant(m.rel()) || (negatives && document == SeenDocument::Negative)
    };
    let relevant = r.relevant(m.rel());
    let negative = r.facts.iter().filter(|&(code, _)| code == code::NEGATIVE);
    let negative = negative.map(|(_, count)| (SeenDocument::Negative, count));
    let known =
        r.judged().map(|(grade, count)| (SeenDocument::Judged(grade), count)).chain(negative);
    let nonrelevant: f64 = known
        .filter(|&(document, _)| is_nonrelevant(document))
        .map(|(_, count)| f64::from(count))
        .sum();
    let (mut above, mut sum) = (0.0, 0.0);
    for (_, document) in r.top(None) {
        if document.is_relevant(m.rel()) {
            sum += if above > 0.0 {
                1.0 - f64::min(above, relevant) / f64::min(nonrelevant, relevant)
            } else {
                1.0
            };
        } else if is_nonrelevant(document) {
            above += 1.0;
        }
    }
    ratio(sum, relevant)
}

pub fn inferred_average_precision(m: &Measure, r: &Ranking<'_>) -> f64 {
    const EPSILON: f64 = 0.00001;
    let (mut relevant, mut nonrelevant, mut pooled, mut sum) = (0.0, 0.0, 0.0, 0.0);
    for (rank, document) in r.top(None) {
        match document {
            SeenDocument::Unpooled => {}
            SeenDocument::Negative => pooled += 1.0,
            SeenDocument::Judged(grade) if grade < m.rel() => nonrelevant += 1.0,
            SeenDocument::Judged(_) => {
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
