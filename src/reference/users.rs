//! Reference formulas of measures of a user who goes on down the ranking by chance, such as ERR and
//! RBP.

use std::collections::HashMap;

use super::common::{discount, ratio};
use super::ranking::DocumentJudgment::{self, Judged};
use super::ranking::Ranking;
use crate::measure::Measure;

pub fn expected_reciprocal_rank(m: &Measure, r: &Ranking<'_>) -> f64 {
    let gmax = m.number("gmax").or(r.book.max_grade()).unwrap_or(0.0);
    let (mut sum, mut goes_on) = (0.0, 1.0);
    for (rank, document) in r.top(m.rank()) {
        if let Judged(grade) = document {
            let satisfied = (grade.exp2() - 1.0) / gmax.exp2();
            sum += goes_on * satisfied / rank as f64;
            goes_on *= 1.0 - satisfied;
        }
    }
    sum
}

pub fn rank_biased_precision(m: &Measure, r: &Ranking<'_>) -> f64 {
    let p = m.number("p").unwrap_or(0.8);
    let topic = m.choice("scale") == "topic";
    let max = r.book.max_grade().filter(|&max| max > 0.0).unwrap_or(1.0);
    let depth = m.number("norm").map(|depth| depth as u32);
    let highest = r.judged().map(|(grade, _)| grade).fold(1.0, f64::max);
    let (mut sum, mut reaches) = (0.0, 1.0);
    for (_, document) in r.top(m.rank().into_iter().chain(depth).min()) {
        if let Judged(grade) = document
            && (topic || grade >= m.rel())
        {
            sum += reaches
                * match m.choice("gain") {
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

/// Returns compatibility: the rank-biased overlap of a ranking with the nearest ideal ranking. The
/// ideal has the positive grades descending, within a grade the retrieved documents in their order
/// and then the absent ones.
pub fn compatibility(m: &Measure, r: &Ranking<'_>) -> f64 {
    let p = m.number("p").unwrap_or(0.95);
    // Each grade with the number of documents of at least that grade, descending. A ranking from an
    // unverified file may have further grades.
    let judged: Vec<(f64, u32)> = r.judged().collect();
    let mut sums: Vec<(f64, usize)> = Vec::new();
    for &(grade, count) in judged.iter().rev() {
        let better = sums.last().map_or(0, |&(_, better)| better);
        sums.push((grade, better + count as usize));
    }
    let ideal = count_above(&sums, 0.0);
    // The overlap grows at the later of a document's two ranks.
    let mut grows: Vec<usize> = Vec::new();
    let mut counts: HashMap<u64, usize> = HashMap::new();
    for (rank, document) in r.top(None) {
        if let Judged(grade) = document
            && grade > 0.0
        {
            let count = counts.entry(grade.to_bits()).or_default();
            *count += 1;
            grows.push(rank.max(count_above(&sums, grade) + *count));
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
    if m.choice("normalize") == "false" { ratio(found, whole) } else { ratio(found, best) }
}

/// Returns the number of a query's judged documents above a grade. `sums` are the numbers of
/// documents of at least each grade, descending.
fn count_above(sums: &[(f64, usize)], grade: f64) -> usize {
    match sums.partition_point(|&(candidate, _)| candidate > grade) {
        0 => 0,
        worse => sums[worse - 1].1,
    }
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

/// Returns the gain of a document for a C/W/L user: 1 if relevant, or its grade as a share of the
/// scale, at most 1.
fn cwl_gain(m: &Measure, r: &Ranking<'_>, document: DocumentJudgment) -> f64 {
    match (document, m.choice("gain")) {
        (Judged(grade), "grade") => {
            let top = m.number("gmax").or(r.book.max_grade()).unwrap_or(0.0);
            if top > 0.0 { grade.min(top) / top } else { 0.0 }
        }
        (document, _) => f64::from(document.is_relevant(m.rel())),
    }
}

/// Returns the mean gain of a C/W/L user, who goes on from rank i with a probability that depends
/// on i, the gain at i, and the gain so far. Gains are weighted with the chance to reach their
/// rank; ranks without a document have no gain.
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
    let ranks = if m.choice("norm") == "min" { r.top(Some(k as u32)).count() } else { k };
    for rank in 1..=ranks {
        let gain = documents.next().map_or(0.0, |(_, document)| cwl_gain(m, r, document));
        sum += gain / discount(rank);
        whole += 1.0 / discount(rank);
    }
    ratio(sum, whole)
}
