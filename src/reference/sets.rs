//! Reference formulas of measures of a set of documents, such as precision: how many are relevant,
//! or judged.

use super::common::{cutoff, ratio};
use super::ranking::{DocumentJudgment, Ranking};
use crate::measure::Measure;

pub fn precision(m: &Measure, r: &Ranking<'_>) -> f64 {
    if m.choice("norm") == "min" {
        ratio(hits(m, r), r.retrieved().min(cutoff(m)))
    } else {
        hits(m, r) / cutoff(m)
    }
}

pub fn recall(m: &Measure, r: &Ranking<'_>) -> f64 {
    let relevant = r.relevant(m.rel());
    let most = match m.choice("norm") {
        "min" => cutoff(m),
        "retrieved" => r.retrieved().min(cutoff(m)),
        _ => f64::INFINITY,
    };
    ratio(hits(m, r), relevant.min(most))
}

fn f_of(precision: f64, recall: f64, beta2: f64) -> f64 {
    ratio((beta2 + 1.0) * precision * recall, beta2 * precision + recall)
}

pub fn f(m: &Measure, r: &Ranking<'_>) -> f64 {
    let beta = m.number("beta").unwrap_or(1.0);
    let recall = ratio(hits(m, r), r.relevant(m.rel()));
    f_of(precision(m, r), recall, beta * beta)
}

pub fn success(m: &Measure, r: &Ranking<'_>) -> f64 {
    if hits(m, r) > 0.0 { 1.0 } else { 0.0 }
}

pub fn hits(m: &Measure, r: &Ranking<'_>) -> f64 {
    r.hits(m.rel(), m.rank())
}

pub fn r_precision(m: &Measure, r: &Ranking<'_>) -> f64 {
    let rank = (m.number("mult").unwrap_or(1.0) * r.relevant(m.rel()) + 0.9).trunc();
    ratio(r.hits(m.rel(), Some(rank as u32)), rank)
}

pub fn judged(m: &Measure, r: &Ranking<'_>) -> f64 {
    let pooled = r.top(m.rank()).filter(|&(_, document)| document != DocumentJudgment::Unpooled);
    ratio(pooled.count() as f64, r.retrieved().min(cutoff(m)))
}

pub fn set_precision(m: &Measure, r: &Ranking<'_>) -> f64 {
    let most = if m.choice("norm") == "min" { r.relevant(m.rel()) } else { f64::INFINITY };
    ratio(r.hits(m.rel(), None), r.retrieved().min(most))
}

pub fn set_recall(m: &Measure, r: &Ranking<'_>) -> f64 {
    ratio(r.hits(m.rel(), None), r.relevant(m.rel()))
}

pub fn set_f(m: &Measure, r: &Ranking<'_>) -> f64 {
    let beta2 = m.number("beta2").unwrap_or_else(|| m.number("beta").unwrap_or(1.0).powi(2));
    f_of(set_precision(m, r), set_recall(m, r), beta2)
}

pub fn set_average_precision(m: &Measure, r: &Ranking<'_>) -> f64 {
    let hits = r.hits(m.rel(), None);
    ratio(hits * hits, r.retrieved() * r.relevant(m.rel()))
}

pub fn unjudged(m: &Measure, r: &Ranking<'_>) -> f64 {
    r.top(m.rank()).filter(|(_, document)| !document.is_judged()).count() as f64 / cutoff(m)
}

pub fn utility(m: &Measure, r: &Ranking<'_>) -> f64 {
    let [a, b, c, d, docs] = ["a", "b", "c", "d", "docs"].map(|name| m.number(name).unwrap_or(0.0));
    let (hits, n, relevant) = (r.hits(m.rel(), None), r.retrieved(), r.relevant(m.rel()));
    a * hits + b * (n - hits) + c * (relevant - hits) + d * (docs + hits - n - relevant)
}

pub fn fall_out(m: &Measure, r: &Ranking<'_>) -> f64 {
    let judged = m.choice("norm") == "judged";
    let others = r.top(m.rank()).filter(|(_, document)| !document.is_relevant(m.rel()));
    let found = others.filter(|(_, document)| !judged || document.is_judged()).count() as f64;
    let all = if judged {
        r.judged().filter(|&(grade, _)| grade < m.rel()).map(|(_, count)| f64::from(count)).sum()
    } else {
        r.top(None).filter(|(_, document)| !document.is_relevant(m.rel())).count() as f64
    };
    ratio(found, all)
}
