//! Diversity measures written plainly from their definitions, to check the fast ones by.
//!
//! `judged` has the subtopics of each judged document, ascending; documents are in bytewise order
//! of their names. `ranking` has the place in `judged` of the document at each rank, or `None` for
//! an unjudged document.

/// Subtopics of each judged document.
pub type DocumentSubtopics = [Vec<u32>];

/// Document at each rank.
pub type DocumentsAtRanks = [Option<usize>];

/// Returns the subtopics with a relevant document, ascending.
fn subtopics(judged: &DocumentSubtopics) -> Vec<u32> {
    let mut all: Vec<u32> = judged.iter().flatten().copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Power of `base` as a repeated product.
fn power(base: f64, exponent: usize) -> f64 {
    (0..exponent).fold(1.0, |product, _| product * base)
}

/// Gain of `document` below the documents `above`.
fn gain(judged: &DocumentSubtopics, above: &[usize], document: usize, alpha: f64) -> f64 {
    let mut sum = 0.0;
    for subtopic in &judged[document] {
        let times = above.iter().filter(|&&other| judged[other].contains(subtopic)).count();
        sum += power(1.0 - alpha, times);
    }
    sum
}

/// Gain of each rank.
fn gains(judged: &DocumentSubtopics, ranking: &DocumentsAtRanks, alpha: f64) -> Vec<f64> {
    let mut above = Vec::new();
    let mut gains = Vec::new();
    for place in ranking {
        gains.push(place.map_or(0.0, |document| gain(judged, &above, document, alpha)));
        above.extend(*place);
    }
    gains
}

/// Ranking of all judged documents: the largest gain next, of equal gains the last document.
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

/// Gains of the ideal ranking.
#[cfg(test)]
pub fn ideal_gains(judged: &DocumentSubtopics, alpha: f64) -> Vec<f64> {
    gains(judged, &ideal(judged, alpha), alpha)
}

/// Sum of the first `k` gains, each by the discount of its rank from 0, divided by the same sum for
/// documents that have every subtopic; not divided for `k` = 1 if `raw_first`.
fn discounted(
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

fn by_logarithm(gain: f64, rank: usize) -> f64 {
    gain * (2f64.ln() / (rank as f64 + 2.0).ln())
}

fn by_rank(gain: f64, rank: usize) -> f64 {
    gain / (rank as f64 + 1.0)
}

/// Quotient of two values, 0 if the second is 0.
fn quotient(value: f64, ideal: f64) -> f64 {
    if ideal == 0.0 { 0.0 } else { value / ideal }
}

/// alpha_DCG at `k`.
pub fn alpha_dcg(
    judged: &DocumentSubtopics,
    ranking: &DocumentsAtRanks,
    alpha: f64,
    k: usize,
    raw_first: bool,
) -> f64 {
    discounted(judged, ranking, alpha, k, raw_first, by_logarithm)
}

/// alpha_nDCG at `k`.
pub fn alpha_ndcg(
    judged: &DocumentSubtopics,
    ranking: &DocumentsAtRanks,
    alpha: f64,
    k: usize,
    raw_first: bool,
) -> f64 {
    let ideal = alpha_dcg(judged, &ideal(judged, alpha), alpha, k, raw_first);
    quotient(alpha_dcg(judged, ranking, alpha, k, raw_first), ideal)
}

/// ERR_IA at `k`.
pub fn err_ia(
    judged: &DocumentSubtopics,
    ranking: &DocumentsAtRanks,
    alpha: f64,
    k: usize,
    raw_first: bool,
) -> f64 {
    discounted(judged, ranking, alpha, k, raw_first, by_rank)
}

/// nERR_IA at `k`.
pub fn nerr_ia(
    judged: &DocumentSubtopics,
    ranking: &DocumentsAtRanks,
    alpha: f64,
    k: usize,
    raw_first: bool,
) -> f64 {
    let ideal = err_ia(judged, &ideal(judged, alpha), alpha, k, raw_first);
    quotient(err_ia(judged, ranking, alpha, k, raw_first), ideal)
}

/// NRBP of the whole ranking.
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

/// nNRBP of the whole ranking.
pub fn nnrbp(judged: &DocumentSubtopics, ranking: &DocumentsAtRanks, alpha: f64, beta: f64) -> f64 {
    let ideal = nrbp(judged, &ideal(judged, alpha), alpha, beta);
    quotient(nrbp(judged, ranking, alpha, beta), ideal)
}

/// AP_IA of the whole ranking: the mean over subtopics of average precision.
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
    quotient(total, all.len() as f64)
}

/// P_IA at `k`: the mean over subtopics of precision at `k`.
pub fn p_ia(judged: &DocumentSubtopics, ranking: &DocumentsAtRanks, k: usize) -> f64 {
    let hits: usize =
        ranking.iter().take(k).flatten().map(|&document| judged[document].len()).sum();
    quotient(hits as f64, (k * subtopics(judged).len()) as f64)
}

/// StRecall at `k`: the share of subtopics that the first `k` documents have.
pub fn st_recall(judged: &DocumentSubtopics, ranking: &DocumentsAtRanks, k: usize) -> f64 {
    let mut found: Vec<u32> =
        ranking.iter().take(k).flatten().flat_map(|&document| judged[document].clone()).collect();
    found.sort_unstable();
    found.dedup();
    quotient(found.len() as f64, subtopics(judged).len() as f64)
}

#[cfg(test)]
mod tests;
