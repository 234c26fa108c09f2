//! Closed forms of the measures that walk, by name. The reference defines their state in a plain ranking.
//!
//! A walk adds terms that look at several documents at once: at a hit and what stands above it. Each form here uses linearity: a sum over
//! documents has the expectation of its terms one by one, dependent or not, so only the joint chances of the *two or three* things that a
//! term looks at are needed, never the chance of a whole order. In a group of t documents in random order,
//!
//! * a document stands at each of the t ranks with the chance 1/t;
//! * two documents stand at two given ranks with the chance 1/(t(t − 1));
//! * if rank j is taken, the j − 1 ranks above it are a draw without replacement from the other t − 1: hypergeometric;
//! * the others above one document, of m in question, are 0 … m with the same chance 1/(m + 1), for it is as likely in each gap.
//!
//! Groups are independent, so what stands above a group enters as its expectation wherever a term is linear in it.
//!
//! | form | what a term looks at | cost of a group |
//! |---|---|---|
//! | first gain (NERR8 to 11) | the rank of the first hit | t − h + 1 ranks, h of them hits |
//! | bejeweled (BPM) | the rank of the hit wanted last | its ranks |
//! | BinG | a hit, the others above it | its ranks, from a table of sums |
//! | RnDCG | a document's gain | constant for each change of the ideal gain |
//! | nDCGrel | a paid document, the gain of one above it | its ranks |
//! | Compat | a document, those of its grade above it | for each grade, its ranks times the width of a draw, some √j |
//!
//! Not here are G, whose term is a logarithm of the gains above, INST, and whatever goes on by real grades: their state after a group
//! takes too many values to be listed.

use super::chance::{Double, Hypergeometric, ranks_of};
use super::folds::{self, FoldTables};
use super::row::RankingPieces;
use crate::fold::{CodeTable, Discount, for_ratio};
use crate::label::code::FIRST_GRADE;
use crate::label::{Above, Codebook};
use crate::measure::{Measure, table};
use crate::sort;

/// A function from a row to its expected value.
pub type ClosedForm = Box<dyn Fn(&RankingPieces<'_>, &mut FoldTables) -> f64 + Send + Sync>;

/// The closed form of a measure that walks, if it has one.
pub fn form(m: &Measure, book: &Codebook) -> Option<ClosedForm> {
    let hits = book.at_least(m.rel());
    let depth = m.number("depth").unwrap_or(1000.0) as usize;
    let most = m.rank().map_or(depth, |rank| depth.min(rank as usize));
    let target = m.number("T").unwrap_or(1.0);
    let inverse_square = move |i: f64| ((i + 2.0 * target - 1.0) / (i + 2.0 * target)).powi(2);
    match m.definition().name {
        "BinG" => Some(Box::new(move |row, tables| bin_g(row, hits, tables))),
        "RnDCG" => {
            let gain = for_ratio(table::worths(m, book).ok()?, book).ok()?;
            Some(Box::new(move |row, tables| ndcg_over_changes(row, hits, &gain, tables)))
        }
        "nDCGrel" => {
            let gain = for_ratio(table::gains(m, book).ok()?, book).ok()?;
            // With gains below 0, or more documents that have one than the ideal ranking, a value may be raised to 0.
            let sound = gain.iter().enumerate().all(|(code, &gain)| match code as u8 {
                ..FIRST_GRADE => gain == 0.0,
                _ => gain >= 0.0,
            });
            sound.then(|| -> ClosedForm {
                Box::new(move |row, tables| ndcg_over_relevant(row, &gain, tables))
            })
        }
        "Compat" => {
            let (p, normalize) = (m.number("p").unwrap_or(0.95), m.word("normalize") != "false");
            Some(Box::new(move |row, tables| compatibility(row, p, normalize, tables)))
        }
        _ if m.word("gain") == "grade" => None,
        "BPM" => Some(Box::new(move |row, _| bejeweled(row, hits, target, most))),
        "NERR8" => Some(first_gain(hits, most, |_| 1.0)),
        "NERR9" => Some(first_gain(hits, most, |i| i / (i + 1.0))),
        "NERR10" => {
            let p = m.number("p").unwrap_or(0.9);
            Some(first_gain(hits, depth, move |_| p))
        }
        "NERR11" => Some(first_gain(hits, depth, inverse_square)),
        _ => None,
    }
}

// A C/W/L measure is Σ wᵢ·gᵢ / Σ wᵢ, with w₁ = 1 and wᵢ₊₁ = wᵢ·C(i). In NERR a gain of 1 stops the user, C = 0: all weights behind the
// first hit are 0. So the value is w_f / (w₁ + … + w_f) for the rank f of the first hit, a function of f alone, and its expectation is one
// sum over the chances of f. Without a hit the value is 0. With graded gains the user goes on behind a document in part, and this breaks.
/// The form of a C/W/L user who stops at the first hit: the weight of its rank as a share of the weights down to it.
fn first_gain(hits: Above, ranks: usize, goes_on: impl Fn(f64) -> f64) -> ClosedForm {
    let (mut weight, mut weights) = (1.0, 0.0);
    let shares: Vec<f64> = (1..=ranks)
        .map(|rank| {
            weights += weight;
            let share = weight / weights;
            weight *= goes_on(rank as f64);
            share
        })
        .collect();
    Box::new(move |row, _| folds::first_hit(row, ranks, hits, |index| shares[index]))
}

// BPM reads to the rank s of the hit numbered `wanted`, or `most` ranks, and takes hits / ranks read:
//
//     wanted / s                   if that hit is within the first `most` ranks
//     (hits within `most`) / most  otherwise
//
// With a few hits short of the wanted one, the number `last` of the group's own hits decides. Its rank in the group has a negative
// hypergeometric chance, C(j−1, last−1)·C(t−j, found−last) / C(t, found). The group that holds it decides the value whatever follows, so
// the walk returns there, unless the group is cut: then fewer than `last` of its hits may be within reach, and each such number x adds its
// own value with its own chance.
/// The value of a C/W/L user who stops at the rank of the last hit that he wants, or after `most` ranks.
fn bejeweled(row: &RankingPieces<'_>, hits: Above, target: f64, most: usize) -> f64 {
    let wanted = target.ceil().max(1.0) as usize;
    let (mut met, mut expected) = (0, 0.0);
    for part in row.parts(most) {
        let found = part.count(hits);
        if met + found < wanted {
            met += if part.is_whole() { found } else { 0 };
            expected = if part.is_whole() {
                met as f64
            } else {
                met as f64 + found as f64 * (part.read as f64 / part.size as f64)
            };
            continue;
        }
        let last = wanted - met;
        if found == part.size {
            return if last <= part.read {
                wanted as f64 / (part.above + last) as f64
            } else {
                (met + part.read) as f64 / most as f64
            };
        }
        let mut sum = Double::default();
        for (j, chance) in
            ranks_of(part.size as u64, found as u64, last as u64, part.read).into_iter().enumerate()
        {
            sum = sum.plus(Double::of(chance * wanted as f64 / (part.above + j + 1) as f64));
        }
        // A cut part is the last one: its end is `most`, or the end of the ranking.
        if !part.is_whole() {
            let mut chances = Hypergeometric::default();
            chances.fill(part.size as u64, found as u64, part.read as u64);
            let fewer =
                chances.mean(|x| if x < last as u64 { (met as f64 + x as f64) / most as f64 } else { 0.0 });
            sum = sum.plus(Double::of(fewer));
        }
        return sum.value();
    }
    expected / most as f64
}

/// R, the query's relevant documents.
fn relevant(row: &RankingPieces<'_>, hits: Above) -> f64 {
    row.facts.count(hits) as f64
}

fn ratio(a: f64, b: f64) -> f64 {
    if b == 0.0 { 0.0 } else { a / b }
}

// trec_eval's m_binG.c. With b others above the group and m in it, the others above a hit of a whole group are b … b + m, each with the
// chance 1/(m + 1). So the group's h hits add h/(m + 1) · Σ 1/lg(2 + b + x) for x = 0 … m, which is a difference of two prefix sums of the
// discounts of nDCG: 1/lg(2 + x) is the weight at index x. A cut group has no such symmetry, and is summed rank by rank.
/// 1 / lg(2 + b), summed over the hits, where b is the number of other documents above each hit.
fn bin_g(row: &RankingPieces<'_>, hits: Above, tables: &mut FoldTables) -> f64 {
    let term = |others: u64| 1.0 / ((2 + others) as f64).log2();
    let (mut others, mut sum) = (0u64, 0.0);
    for part in row.parts(usize::MAX) {
        let found = part.count(hits);
        let rest = part.size - found;
        if rest == 0 {
            (0..part.read).for_each(|_| sum += term(others));
        } else if found > 0 {
            let start = others as usize;
            let FoldTables { sums, chances, .. } = tables;
            let whole = || {
                let end = start + rest + 1;
                found as f64 / (rest + 1) as f64 * sums.of(Discount::Log2, end).between(start, end).value()
            };
            sum += folds::sum_over_hits((found, rest), part, others, whole, term, chances);
        }
        others += rest as u64;
    }
    ratio(sum, relevant(row, hits))
}

/// The ideal ranking of the judged documents, walked down rank by rank.
struct IdealWalk {
    /// Positive gains, the largest first, with the documents that have them.
    gains: Vec<(f64, u32)>,
    documents: usize,
    /// The ranks walked so far, and their discounted gain.
    rank: usize,
    dcg: f64,
    at: usize,
    end: usize,
}

impl IdealWalk {
    fn new(row: &RankingPieces<'_>, gain: &CodeTable) -> Self {
        let judged = row.facts.iter().filter(|&(code, _)| Above::JUDGED.contains(code));
        let mut gains: Vec<(f64, u32)> =
            judged.map(|(code, count)| (gain[usize::from(code)], count)).collect();
        gains.retain(|&(gain, _)| gain > 0.0);
        sort::largest_first(&mut gains);
        let documents = gains.iter().map(|&(_, count)| count as usize).sum();
        let end = gains.first().map_or(0, |&(_, count)| count as usize);
        IdealWalk { gains, documents, rank: 0, dcg: 0.0, at: 0, end }
    }

    /// The discounted gain of the ideal ranking down to a rank, which is no smaller than in the last call.
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

    /// The ranks with the last document of each gain.
    fn changes(&self) -> Vec<usize> {
        let mut ranks = Vec::new();
        let mut rank = 0;
        for (at, &(gain, count)) in self.gains.iter().enumerate() {
            rank += count as usize;
            if self.gains.get(at + 1).is_none_or(|&(next, _)| next != gain) {
                ranks.push(rank);
            }
        }
        ranks
    }
}

// The ranks at which RnDCG reads, and the ideal DCG there, follow from the judgments alone. An order changes nothing but the DCG of the
// row, which is linear in the gains. So each term is a DCG of expected gains over a constant.
//
// trec_eval's m_Rndcg.c reads at each change of the ideal gain, but it notices a change only one rank later. Its extra reading at the end
// of a ranking therefore takes two documents more than the ideal ranking has, hence the 2 below.
/// The mean over the ranks at which the gain of the ideal ranking changes of the expected DCG there, as a share of the ideal one.
fn ndcg_over_changes(row: &RankingPieces<'_>, hits: Above, gain: &CodeTable, tables: &mut FoldTables) -> f64 {
    if relevant(row, hits) == 0.0 {
        return 0.0;
    }
    let mut ideal = IdealWalk::new(row, gain);
    let (mut sum, mut count) = (0.0, 0.0);
    let mut dcg = |ranks: usize| {
        let mut dcg = 0.0;
        row.parts(ranks)
            .for_each(|part| folds::weighted_sum(&mut dcg, part, gain, Discount::Log2, &mut tables.sums));
        dcg
    };
    for rank in ideal.changes() {
        sum += dcg(rank) / ideal.down_to(rank);
        count += 1.0;
    }
    if ideal.documents > 0 && row.depth >= ideal.documents + 2 {
        sum += dcg(usize::MAX) / ideal.down_to(ideal.documents);
        count += 1.0;
    }
    ratio(sum, count)
}

// The sum over ranks i of [gᵢ > 0]·DCG(i) / I(i), where I is the ideal DCG: I does not depend on the order. What remains is the
// expectation of a product of two things that the same order decides. With P documents that have a gain and G the sum of gains, in a group
// of t:
//
//     E([gᵢ > 0]·gᵢ) = G/t                        the rank itself
//     E([gᵢ > 0]·gₖ) = (P·G − G) / (t(t − 1))     two ranks: of all P·G products of two documents, G are of one with itself
//
// so that, with D the expected DCG above the group and W the weights of the group's ranks above i,
//
//     E([gᵢ > 0]·DCG(i)) = P/t·D + pair·W + G/t·wᵢ
//
// Documents that are not found count with the last DCG: (N − found)·DCG(end) / I(end). If groups are whole, `found` is known. In a cut
// group it is chance, and it goes with the gains there. With W now the weights of the whole part of r ranks:
//
//     E(found·DCG(end)) = P·r/t·D + (G/t + (r − 1)·pair)·W
//
// Without negative gains DCG(i) ≥ 0, and the largest of it and 0 that the formula takes is no max under an expectation. With them, or with
// more paid documents than the ideal ranking has, it would be: so these are refused.
/// nDCG averaged over the ranks of documents with a gain. Missing documents count with the value of the last rank. It is computed from the
/// pairs of a document with a gain and another above it. Gains are 0 or more.
fn ndcg_over_relevant(row: &RankingPieces<'_>, gain: &CodeTable, tables: &mut FoldTables) -> f64 {
    let mut ideal = IdealWalk::new(row, gain);
    // The number of documents found in a cut group is chance: then its mean product with DCG is kept apart.
    let (mut dcg, mut found, mut found_in_cut, mut sum) = (0.0, 0.0, 0.0, 0.0);
    for part in row.parts(usize::MAX) {
        let end = part.above + part.read;
        let weights = tables.sums.of(Discount::Log2, end);
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
                let mut terms = Double::default();
                for rank in part.above..end {
                    let above = weights.between(part.above, rank).value();
                    let term = paid / size * dcg + pair * above + weights.term(total / size, rank);
                    terms = terms.plus(Double::of(term / ideal.down_to(rank + 1)));
                }
                sum += terms.value();
                let all = weights.between(part.above, end).value();
                if part.is_whole() {
                    found += paid;
                } else {
                    found_in_cut = paid * (read / size) * dcg + (total / size + (read - 1.0) * pair) * all;
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

// The value is Σ pᵈ⁻¹·overlap(d)/d over depths d, where overlap(d) is how many of the first d documents are among the first d of the ideal
// ranking, over the same sum for the ideal ranking itself, or over all weights. Of the many ideal rankings the nearest is meant: it has
// the documents of one grade in the order of the ranking, and those that were not retrieved behind them. So
//
// * The n-th document of a grade in the ranking has the place b + n of the ideal ranking, where b documents have better grades. b is a
//   number of the judgments, n a number of the ranking: no other document matters.
// * It is in both prefixes from depth max(rank, place) on: its overlap *begins* there. overlap(d) is the number of documents that have
//   begun by d, and its expectation is the sum of their chances to have begun.
//
// So it is enough to know B(d), the expected number that begin at d. A document of the grade stands at rank j of a group with the chance
// count/size. Given that, x of its `count − 1` fellows stand above it, drawn among j − 1 of size − 1, and it begins at
//
//     max(above + j, place + x + 1)       above: documents before the group;  place: b, and fellows of earlier groups
//
//     x →      0   1   2   3         place = above + 2: two better documents are not among those above
//     j = 1    ■                     ■ begins at its place, place + x + 1 > above + j: one number a column, `beyond`, added over j
//     j = 2    ■   ■                 □ begins at its rank: one number a row, `here`
//     j = 3    □   ■   ■
//     j = 4    □   □   ■   ■
//
// Each row is one draw, from which only the few numbers within its spread are stored, some √j of them. A group of one code draws nothing.
// Among subnormal weights p·w may round to w, so weights stall there, at a size that matters to no sum: rows behind the last normal weight
// are not drawn. A million equal scores took 5,281 ms before, and 54 to 68 since (benches/RESULTS.md).
/// Rank-biased overlap with the nearest ideal ranking. A document's overlap begins at the later of its rank and its place in the ideal
/// ranking, behind the better ones and those of its grade that stand above it.
fn compatibility(row: &RankingPieces<'_>, p: f64, normalize: bool, tables: &mut FoldTables) -> f64 {
    let positive = |code: u8| row.book.grade(code).is_some_and(|grade| grade > 0.0);
    let codes: Vec<(u8, u64)> = row
        .facts
        .iter()
        .filter(|&(code, _)| positive(code))
        .map(|(code, count)| (code, count.into()))
        .collect();
    // Codes ascend by grade, so a higher code is a better document.
    let better = |code: u8| {
        codes.iter().filter(|&&(of, _)| of > code).map(|&(_, count)| count as usize).sum::<usize>()
    };
    let ideal: usize = codes.iter().map(|&(_, count)| count as usize).sum();
    // Behind the last weight that is a normal number there are remains of rounding, which no longer change: overlaps that begin there are
    // left out.
    let weights = std::iter::successors(Some(1.0), |weight| Some(weight * p)).take(row.depth);
    let weighed = weights.take_while(|&weight: &f64| weight >= f64::MIN_POSITIVE).count();
    // A document that stands high in the ranking and low in the ideal one begins deeper than the ranking goes. Such ranks are as many as
    // judgments, which a file may claim to be 2²⁸, so they are kept as a list and not by index.
    // The expected number of documents whose overlap begins at a rank: within the ranking, and deeper.
    let mut begins = vec![0.0; row.depth + 1];
    let mut deeper: Vec<(usize, f64)> = Vec::new();
    let mut met = [0usize; 256];
    for part in row.parts(usize::MAX) {
        for (code, count) in part.counts().filter(|&(code, _)| positive(code)) {
            let place = better(code) + met[usize::from(code)];
            let mut add = |rank: usize, mass: f64| match begins.get_mut(rank) {
                Some(begins) => *begins += mass,
                None => deeper.push((rank, mass)),
            };
            if count as usize == part.size {
                (1..=part.read).for_each(|j| add((part.above + j).max(place + j), 1.0));
            } else {
                let stands = f64::from(count) / part.size as f64;
                let mut beyond = vec![0.0; count as usize];
                for j in 1..=part.read.min(weighed.saturating_sub(part.above)) {
                    tables.chances.draw(part.size as u64 - 1, u64::from(count) - 1, j as u64 - 1);
                    // The documents whose overlap begins at their own rank are added to one number.
                    let mut here = 0.0;
                    for (x, chance) in tables.chances.iter() {
                        let rank = place + x as usize + 1;
                        if rank <= part.above + j {
                            here += chance;
                        } else {
                            beyond[x as usize] += chance;
                        }
                    }
                    add(part.above + j, stands * here);
                }
                beyond
                    .iter()
                    .enumerate()
                    .filter(|&(_, &mass)| mass > 0.0)
                    .for_each(|(x, &mass)| add(place + x + 1, stands * mass));
            }
            // Invariant: a part that is not whole is the last of the row, so nobody reads what it would have added.
            met[usize::from(code)] += if part.is_whole() { count as usize } else { 0 };
        }
    }
    deeper.sort_unstable_by_key(|&(rank, _)| rank);
    let mut deeper = deeper.into_iter().peekable();
    let (mut overlap, mut weight, mut found, mut best, mut whole) = (0.0, 1.0, 0.0, 0.0, 0.0);
    for depth in 1..=ideal.max(row.depth) {
        // A weight of 0 and those that follow add nothing.
        if weight == 0.0 {
            break;
        }
        overlap += begins.get(depth).copied().unwrap_or(0.0);
        while let Some((_, mass)) = deeper.next_if(|&(rank, _)| rank <= depth) {
            overlap += mass;
        }
        found += weight * overlap / depth as f64;
        best += weight * ideal.min(depth) as f64 / depth as f64;
        whole += weight;
        weight *= p;
    }
    ratio(found, if normalize { best } else { whole })
}
