//! The expected values of BinG, RnDCG and nDCGrel over tie orders, in closed form: discounted sums
//! over hits below other documents, over changes of the ideal gain, and over documents with a gain.

use super::super::{
    folds::{self, FoldTables},
    probability::DoubleDouble,
    tie_segments::TieSegments,
};
use crate::fold::{CodeTable, Discount, ratio};
use crate::matrix::CodesAbove;
use crate::sort;

// trec_eval's m_binG.c. With b others above the group and m in it, the others above a hit of a
// whole group are b … b + m, each with the chance 1/(m + 1). So the group's h hits add h/(m + 1) ·
// Σ 1/lg(2 + b + x) for x = 0 … m, which is a difference of two prefix sums of the discounts of
// nDCG: 1/lg(2 + x) is the weight at index x. A cut group has no such symmetry, and is summed rank
// by rank.
/// Returns the expected BinG over tie orders: 1 / lg(2 + b) summed over the hits, where b is the
/// number of other documents above each hit, as a share of R.
pub fn bin_g(row: &TieSegments<'_>, hits: CodesAbove, tables: &mut FoldTables) -> f64 {
    let (mut others, mut sum) = (0u64, 0.0);
    for part in row.parts(usize::MAX) {
        let found = part.count(hits);
        let rest = part.size - found;
        if rest == 0 {
            (0..part.read).for_each(|_| sum += bin_g_term(others));
        } else if found > 0 {
            sum += if part.is_whole() {
                let (start, end) = (others as usize, others as usize + rest + 1);
                let weights = tables.sums.get(Discount::Log2, end).between(start, end);
                found as f64 / (rest + 1) as f64 * weights.value()
            } else {
                folds::sum_over_hits(found, rest, part, others, bin_g_term, &mut tables.chances)
            };
        }
        others += rest as u64;
    }
    ratio(sum, row.facts.count(hits) as f64)
}

/// Returns the term of BinG, 1 / lg(2 + `others`), for a hit below `others` documents that are no
/// hits.
fn bin_g_term(others: u64) -> f64 {
    1.0 / ((2 + others) as f64).log2()
}

/// The ideal ranking of a query's judged documents, walked down rank by rank with its DCG.
struct IdealWalk {
    /// Positive gains, the largest first, with their numbers of documents.
    gains: Vec<(f64, u32)>,
    documents: usize,
    /// The ranks walked so far, and their discounted gain.
    rank: usize,
    dcg: f64,
    at: usize,
    end: usize,
}

impl IdealWalk {
    fn new(row: &TieSegments<'_>, gain: &CodeTable) -> Self {
        let mut gains: Vec<_> =
            row.facts.judged().map(|(code, count)| (gain[usize::from(code)], count)).collect();
        gains.retain(|&(gain, _)| gain > 0.0);
        sort::largest_first(&mut gains);
        let documents = gains.iter().map(|&(_, count)| count as usize).sum();
        let end = gains.first().map_or(0, |&(_, count)| count as usize);
        Self { gains, documents, rank: 0, dcg: 0.0, at: 0, end }
    }

    /// Returns the DCG of the ideal ranking down to a rank, which is no smaller than in the last
    /// call.
    fn down_to(&mut self, rank: usize) -> f64 {
        while self.rank < rank.min(self.documents) {
            while self.rank == self.end {
                self.at += 1;
                self.end += self.gains[self.at].1 as usize;
            }
            self.rank += 1;
            self.dcg += self.gains[self.at].0 / ((self.rank + 1) as f64).log2();
        }
        self.dcg
    }

    /// Returns the ranks of the ideal ranking with the last document of each gain.
    fn changes(&self) -> Vec<usize> {
        let mut rank = 0;
        let alike = self.gains.chunk_by(|one, next| one.0 == next.0).map(|alike| {
            rank += alike.iter().map(|&(_, count)| count as usize).sum::<usize>();
            rank
        });
        alike.collect()
    }
}

// The ranks at which RnDCG reads, and the ideal DCG there, follow from the judgments alone. An
// order changes nothing but the DCG of the row, which is linear in the gains. So each term is a DCG
// of expected gains over a constant.
//
// trec_eval's m_Rndcg.c reads at each change of the ideal gain, but it notices a change only one
// rank later. Its extra reading at the end of a ranking therefore takes two documents more than the
// ideal ranking has, hence the 2 below.
/// Returns the expected RnDCG over tie orders: DCG over ideal DCG, averaged over the ranks at which
/// the gain of the ideal ranking changes.
pub fn ndcg_over_changes(
    row: &TieSegments<'_>,
    hits: CodesAbove,
    gain: &CodeTable,
    tables: &mut FoldTables,
) -> f64 {
    if row.facts.count(hits) == 0 {
        return 0.0;
    }
    let mut ideal = IdealWalk::new(row, gain);
    let (mut sum, mut count) = (0.0, 0.0);
    for rank in ideal.changes() {
        sum += dcg(row, rank, gain, tables) / ideal.down_to(rank);
        count += 1.0;
    }
    if ideal.documents > 0 && row.depth >= ideal.documents + 2 {
        sum += dcg(row, usize::MAX, gain, tables) / ideal.down_to(ideal.documents);
        count += 1.0;
    }
    ratio(sum, count)
}

/// Returns the expected DCG of the first ranks of a ranking with ties.
fn dcg(row: &TieSegments<'_>, ranks: usize, gain: &CodeTable, tables: &mut FoldTables) -> f64 {
    let mut dcg = 0.0;
    for part in row.parts(ranks) {
        folds::weighted_sum(&mut dcg, part, gain, Discount::Log2, &mut tables.sums);
    }
    dcg
}

// The sum over ranks i of [gᵢ > 0]·DCG(i) / I(i), where I is the ideal DCG: I does not depend on
// the order. The remaining expectation is of a product, and one order decides both factors. With P
// documents that have a gain and G the sum of gains, in a group of t:
//
//     E([gᵢ > 0]·gᵢ) = G/t                        the rank itself
//     E([gᵢ > 0]·gₖ) = (P·G − G) / (t(t − 1))     two ranks: of all P·G products of two documents,
//                                                 G are of one with itself
//
// so that, with D the expected DCG above the group and W the weights of the group's ranks above i,
//
//     E([gᵢ > 0]·DCG(i)) = P/t·D + pair·W + G/t·wᵢ
//
// Documents that are not found count with the last DCG: (N − found)·DCG(end) / I(end). If groups
// are whole, `found` is known. In a cut group `found` is random and correlates with the gains of
// the group. With W now the weights of the whole part of r ranks:
//
//     E(found·DCG(end)) = P·r/t·D + (G/t + (r − 1)·pair)·W
//
// The formula takes max(DCG(i), 0). Without negative gains DCG(i) ≥ 0, so the max does not change
// the expectation. Negative gains, or more documents with a gain than the ideal ranking has, would
// leave a max under the expectation: both cases are refused.
/// Returns the expected nDCGrel over tie orders: nDCG averaged over the ranks of documents with a
/// gain. Missing documents count with the value of the last rank. The mean is computed from pairs
/// of a document with a gain and a document above. Gains are 0 or more.
pub fn ndcg_over_relevant(row: &TieSegments<'_>, gain: &CodeTable, tables: &mut FoldTables) -> f64 {
    let mut ideal = IdealWalk::new(row, gain);
    // The number of documents found in a cut group is random, so its mean product with DCG is kept
    // apart.
    let (mut dcg, mut found, mut found_in_cut, mut sum) = (0.0, 0.0, 0.0, 0.0);
    for part in row.parts(usize::MAX) {
        let end = part.above + part.read;
        let weights = tables.sums.get(Discount::Log2, end);
        match part.shared(gain) {
            Some(0.0) => {}
            Some(gain) => {
                for rank in part.above..end {
                    dcg += weights.term(gain, rank);
                    sum += dcg / ideal.down_to(rank + 1);
                }
                found += part.read as f64;
            }
            None => {
                let (size, read, total) = (part.size as f64, part.read as f64, part.total(gain));
                let paid = part.counts().filter(|&(code, _)| gain[usize::from(code)] > 0.0);
                let paid = paid.map(|(_, count)| f64::from(count)).sum::<f64>();
                // The chance that a document has a gain, times the gain of another one.
                let pair = (paid * total - total) / (size * (size - 1.0));
                let mut terms = DoubleDouble::default();
                for rank in part.above..end {
                    let above = weights.between(part.above, rank).value();
                    let term = paid / size * dcg + pair * above + weights.term(total / size, rank);
                    terms += term / ideal.down_to(rank + 1);
                }
                sum += terms.value();
                let all = weights.between(part.above, end).value();
                if part.is_whole() {
                    found += paid;
                } else {
                    found_in_cut =
                        paid * (read / size) * dcg + (total / size + (read - 1.0) * pair) * all;
                }
                dcg += total / size * all;
            }
        }
    }
    let documents = ideal.documents as f64;
    let missing = (documents - found) * dcg - found_in_cut;
    let rest = if missing == 0.0 { 0.0 } else { ratio(missing, ideal.down_to(ideal.documents)) };
    ratio(sum + rest, documents).max(0.0)
}
