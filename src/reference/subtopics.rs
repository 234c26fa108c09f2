//! Reference formulas of the diversity measures, such as alpha_DCG and ERR_IA, to check the fast
//! ones by.
//!
//! `judged` has the subtopics of each judged document, ascending; documents are in bytewise order
//! of their names. `ranking` has the place in `judged` of the document at each rank, or `None` for
//! an unjudged document.

use super::common::{distinct, ratio};

/// The subtopics that each judged document of a query is relevant to.
pub type DocumentSubtopics = [Vec<u32>];

/// The judged document at each rank of a ranking, by index; `None` for an unjudged one.
pub type DocumentsAtRanks = [Option<usize>];

/// Returns the subtopics of a query with a relevant document, ascending.
fn subtopics(judged: &DocumentSubtopics) -> Vec<u32> {
    distinct(judged.iter().flatten().copied())
}

/// Returns `base` to the power of `exponent`, as a repeated product.
fn power(base: f64, exponent: usize) -> f64 {
    (0..exponent).fold(1.0, |product, _| product * base)
}

/// Returns the gain of `document` below the documents `above`, less for subtopics that they have
/// already.
fn gain(judged: &DocumentSubtopics, above: &[usize], document: usize, alpha: f64) -> f64 {
    let mut sum = 0.0;
    for subtopic in &judged[document] {
        let times = above.iter().filter(|&&other| judged[other].contains(subtopic)).count();
        sum += power(1.0 - alpha, times);
    }
    sum
}

/// Returns the gain of the document at each rank, less for subtopics that documents above have
/// already.
fn gains(judged: &DocumentSubtopics, ranking: &DocumentsAtRanks, alpha: f64) -> Vec<f64> {
    let mut above = Vec::new();
    let mut gains = Vec::new();
    for place in ranking {
        gains.push(place.map_or(0.0, |document| gain(judged, &above, document, alpha)));
        above.extend(*place);
    }
    gains
}

/// Returns the greedy ideal ranking of all judged documents of a query, the largest gain next. Of
/// equal gains the last document is next.
pub fn ideal(judged: &DocumentSubtopics, alpha: f64) -> Vec<Option<usize>> {
    let mut chosen: Vec<usize> = Vec::new();
    while chosen.len() < judged.len() {
        let mut best: Option<(f64, usize)> = None;
        for document in (0..judged.len()).filter(|document| !chosen.contains(document)) {
            let own = gain(judged, &chosen, document, alpha);
            if best.is_none_or(|(largest, _)| own >= largest) {
                best = Some((own, document));
            }
        }
        chosen.extend(best.map(|(_, document)| document));
    }
    chosen.into_iter().map(Some).collect()
}

/// Returns the discounted sum of a ranking's first `k` gains, divided by that of documents with
/// every subtopic. Ranks are from 0. The sum is not divided for `k` = 1 if `raw_first`.
pub fn discounted(
    judged: &DocumentSubtopics,
    ranking: &DocumentsAtRanks,
    alpha: f64,
    k: usize,
    raw_first: bool,
    discount: fn(f64, usize) -> f64,
) -> f64 {
    let count = subtopics(judged).len();
    if count == 0 {
        return 0.0;
    }
    let mut sum = 0.0;
    for (rank, gain) in gains(judged, ranking, alpha).into_iter().enumerate().take(k) {
        sum += discount(gain, rank);
    }
    if raw_first && k == 1 {
        return sum;
    }
    let mut bound = 0.0;
    let mut gain = count as f64;
    for rank in 0..k {
        bound += discount(gain, rank);
        gain *= 1.0 - alpha;
    }
    sum / bound
}

/// Returns a gain discounted by the logarithm of its rank, as in alpha_DCG.
pub fn by_logarithm(gain: f64, rank: usize) -> f64 {
    gain * (2f64.ln() / (rank as f64 + 2.0).ln())
}

/// Returns a gain divided by its rank, as in ERR_IA.
pub fn by_rank(gain: f64, rank: usize) -> f64 {
    gain / (rank as f64 + 1.0)
}

/// Returns the [`discounted`] sum of a ranking's gains, divided by that of the ideal ranking, as in
/// alpha_nDCG.
pub fn normalised(
    judged: &DocumentSubtopics,
    ranking: &DocumentsAtRanks,
    alpha: f64,
    k: usize,
    discount: fn(f64, usize) -> f64,
) -> f64 {
    // Undivided sums at rank 1 give the same quotient, but not always the same last digits.
    let [value, ideal] = [ranking, &ideal(judged, alpha)]
        .map(|ranking| discounted(judged, ranking, alpha, k, true, discount));
    ratio(value, ideal)
}

/// Returns NRBP (novelty- and rank-biased precision) of the whole ranking.
pub fn nrbp(judged: &DocumentSubtopics, ranking: &DocumentsAtRanks, alpha: f64, beta: f64) -> f64 {
    let count = subtopics(judged).len();
    if count == 0 {
        return 0.0;
    }
    let mut sum = 0.0;
    for (rank, gain) in gains(judged, ranking, alpha).into_iter().enumerate() {
        sum += gain * power(beta, rank);
    }
    sum * ((1.0 - (1.0 - alpha) * beta) / count as f64)
}

/// Returns nNRBP of the whole ranking: NRBP divided by that of the ideal ranking.
pub fn nnrbp(judged: &DocumentSubtopics, ranking: &DocumentsAtRanks, alpha: f64, beta: f64) -> f64 {
    let ideal = nrbp(judged, &ideal(judged, alpha), alpha, beta);
    ratio(nrbp(judged, ranking, alpha, beta), ideal)
}

/// Returns AP_IA of the whole ranking: the mean over subtopics of average precision.
pub fn ap_ia(judged: &DocumentSubtopics, ranking: &DocumentsAtRanks) -> f64 {
    let all = subtopics(judged);
    let mut total = 0.0;
    for subtopic in &all {
        let (mut sum, mut hits) = (0.0, 0.0);
        for (rank, document) in ranking.iter().enumerate() {
            if document.is_some_and(|document| judged[document].contains(subtopic)) {
                hits += 1.0;
                sum += hits / (rank as f64 + 1.0);
            }
        }
        let relevant = judged.iter().filter(|own| own.contains(subtopic)).count();
        total += sum / relevant as f64;
    }
    ratio(total, all.len() as f64)
}

/// Returns P_IA at `k`: the mean over subtopics of precision at `k`.
pub fn p_ia(judged: &DocumentSubtopics, ranking: &DocumentsAtRanks, k: usize) -> f64 {
    let hits: usize =
        ranking.iter().take(k).flatten().map(|&document| judged[document].len()).sum();
    ratio(hits as f64, (k * subtopics(judged).len()) as f64)
}

/// Returns StRecall at `k`: the share of subtopics that the first `k` documents have.
pub fn st_recall(judged: &DocumentSubtopics, ranking: &DocumentsAtRanks, k: usize) -> f64 {
    let found = ranking.iter().take(k).flatten().flat_map(|&document| &judged[document]);
    ratio(distinct(found.copied()).len() as f64, subtopics(judged).len() as f64)
}

#[cfg(test)]
mod tests;
