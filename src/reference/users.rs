//! Measures of a user who goes on down the ranking by chance.

use std::collections::HashMap;

use super::parts::{discount, ratio};
use super::ranking::{Ranking, SeenDocument};
use crate::measure::Measure;

pub fn expected_reciprocal_rank(m: &Measure, r: &Ranking<'_>) -> f64 {
    let gmax = m.number("gmax").or(r.book.max_grade()).unwrap_or(0.0);
    let (mut sum, mut goes_on) = (0.0, 1.0);
    for (rank, document) in r.top(m.rank()) {
        if let SeenDocument::Judged(grade) = document {
            let satisfied = (grade.exp2() - 1.0) / gmax.exp2();
            sum += goes_on * satisfied / rank as f64;
            goes_on *= 1.0 - satisfied;
        }
    }
    sum
}

pub fn rank_biased_precision(m: &Measure, r: &Ranking<'_>) -> f64 {
    let p = m.number("p").unwrap_or(0.8);
    let topic = m.word("scale") == "topic";
    let max = r.book.max_grade().filter(|&max| max > 0.0).unwrap_or(1.0);
    let depth = m.number("norm").map(|depth| depth as u32);
    let highest = r.judged().map(|(grade, _)| grade).fold(1.0, f64::max);
    let (mut sum, mut reaches) = (0.0, 1.0);
    for (_, document) in r.top(m.rank().into_iter().chain(depth).min()) {
        if let SeenDocument::Judged(grade) = document
            && (topic || grade >= m.rel())
        {
            sum += reaches
                * match m.word("gain") {
                    _ if topic => grade / highest,
                    "binary" => 1.0,
                    "grade" => grade / max,
                    _ => grade,
                };
        }
        reaches *= p;
    }
    let Some(depth) = depth.filter(|_| !topic) else { return (1.0 - p) * sum };
    let (mut weights, mut reaches) = (0.0, 1.0);
    for _ in 0..depth {
        weights += reaches;
        reaches *= p;
    }
    sum / weights
}

pub fn rbp_residual(m: &Measure, r: &Ranking<'_>) -> f64 {
    let p = m.number("p").unwrap_or(0.9);
    let (mut sum, mut reaches) = (0.0, 1.0);
    for (_, document) in r.top(None) {
        if !document.is_judged() {
            sum += reaches;
        }
        reaches *= p;
    }
    let all_judged = r.top(None).all(|(_, document)| document.is_judged());
    if all_judged { 0.0 } else { reaches + (1.0 - p) * sum }
}

/// Rank-biased overlap with the nearest ideal ranking: positive grades descending, within a grade
/// the retrieved documents in their order and then the absent ones.
pub fn compatibility(m: &Measure, r: &Ranking<'_>) -> f64 {
    let p = m.number("p").unwrap_or(0.95);
    // Each grade with the number of documents of at least that grade, descending. A ranking from an
    // unverified file may have further grades.
    let judged: Vec<(f64, u32)> = r.judged().collect();
    let sums = judged.iter().rev().scan(0, |sum, &(grade, count)| {
        *sum += count as usize;
        Some((grade, *sum))
    });
    let sums: Vec<(f64, usize)> = sums.collect();
    let better = |grade: f64| match sums.partition_point(|&(of, _)| of > grade) {
        0 => 0,
        worse => sums[worse - 1].1,
    };
    let ideal = better(0.0);
    // The overlap grows at the later of a document's two ranks.
    let mut grows: Vec<usize> = Vec::new();
    let mut met: HashMap<u64, usize> = HashMap::new();
    for (rank, document) in r.top(None) {
        if let SeenDocument::Judged(grade) = document
            && grade > 0.0
        {
            let met = met.entry(grade.to_bits()).or_default();
            *met += 1;
            grows.push(rank.max(better(grade) + *met));
        }
    }
    grows.sort_unstable();
    let (mut overlap, mut weight, mut found, mut best, mut whole) = (0, 1.0, 0.0, 0.0, 0.0);
    for depth in 1..=ideal.max(r.labels.len()) {
        // A weight of 0 ends the loop, because all later weights are 0 too.
        if weight == 0.0 {
            break;
        }
        while grows.get(overlap).is_some_and(|&at| at <= depth) {
            overlap += 1;
        }
        found += weight * overlap as f64 / depth as f64;
        best += weight * ideal.min(depth) as f64 / depth as f64;
        whole += weight;
        weight *= p;
    }
    if m.word("normalize") == "false" { ratio(found, whole) } else { ratio(found, best) }
}

pub fn target(m: &Measure) -> f64 {
    m.number("T").unwrap_or(1.0)
}

pub fn inverse_square(i: f64, m: &Measure) -> f64 {
    let chance = (i + 2.0 * target(m) - 1.0) / (i + 2.0 * target(m));
    chance * chance
}

pub fn inst(m: &Measure, r: &Ranking<'_>) -> f64 {
    cwl(m, r, |i, _, found| {
        let wait = i + 2.0 * target(m) - found;
        ((wait - 1.0) / wait) * ((wait - 1.0) / wait)
    })
}

/// The gain of a document for a C/W/L user: 1 if relevant, or its grade as a share of the scale, at
/// most 1.
fn cwl_gain(m: &Measure, r: &Ranking<'_>, document: SeenDocument) -> f64 {
    match (document, m.word("gain")) {
        (SeenDocument::Judged(grade), "grade") => {
            let top = m.number("gmax").or(r.book.max_grade()).unwrap_or(0.0);
            if top > 0.0 { grade.min(top) / top } else { 0.0 }
        }
        (document, _) => f64::from(document.is_relevant(m.rel())),
    }
}

/// A C/W/L user goes on from rank i with a probability that depends on i, the gain at i, and the
/// gain so far. The value is the mean gain weighted with the chance to reach a rank; ranks without
/// a document have no gain.
pub fn cwl(m: &Measure, r: &Ranking<'_>, goes_on: impl Fn(f64, f64, f64) -> f64) -> f64 {
    let (mut weight, mut weights, mut sum, mut found) = (1.0, 0.0, 0.0, 0.0);
    let mut documents = r.top(None);
    for index in 0..m.number("depth").unwrap_or(1000.0) as usize {
        let gain = documents.next().map_or(0.0, |(_, document)| cwl_gain(m, r, document));
        found += gain;
        sum += weight * gain;
        weights += weight;
        weight *= goes_on((index + 1) as f64, gain, found);
    }
    sum / weights
}

pub fn scaled_dcg(m: &Measure, r: &Ranking<'_>) -> f64 {
    let (mut sum, mut whole) = (0.0, 0.0);
    let mut documents = r.top(None);
    let k = m.rank().unwrap_or(1) as usize;
    let ranks = if m.word("norm") == "min" { r.top(Some(k as u32)).count() } else { k };
    for rank in 1..=ranks {
        let gain = documents.next().map_or(0.0, |(_, document)| cwl_gain(m, r, document));
        sum += gain / discount(rank);
        whole += 1.0 / discount(rank);
    }
    ratio(sum, whole)
}
