//! Checks of a run's scores during ranking, for notes to the user: equal scores, contrary ranks,
//! ties in f32.
//!
//! The usual query is not read score by score again: it costs a few comparisons, and one more
//! wherever the label changes from rank to rank. Only scores that f32 ties are sorted again.

use std::cmp::Ordering;

use super::doc_table::JudgedDocs;
use crate::lines::layout::RankColumn;
use crate::matrix::{ScoreWarnings, code::NOT_IN_QRELS};
use crate::record::layout::{Docnos, Record, by_docno, score_of_key, sort_key};
use crate::rule::{RankingRule, ScoreType, TieBreak};

/// The number of lines of a query whose rank column is checked: the first, the last, and some
/// between, evenly spaced. Checking all lines would cost a fifth of the time of reading. If ranks
/// and scores disagree, as after reranking, the few lines show it in nearly every query.
const LOOKED_AT: usize = 6;

impl ScoreWarnings {
    /// Counts a query, and whether its scores are all equal, like grades, or tied in f32 alone. The
    /// first ranks have the given labels; the labels of other results are looked up. `record`
    /// returns the result at a rank, from 0, of `count` results.
    #[inline(always)]
    pub(crate) fn record<'a>(
        &mut self,
        rule: &RankingRule,
        labels: &[u8],
        count: usize,
        record: impl Fn(usize) -> &'a Record + Copy,
        JudgedDocs { shelf, table }: JudgedDocs<'_>,
        docnos: Docnos<'_>,
    ) {
        let ranked = RankedResults { count, record };
        let ends = (count > 0).then(|| [ranked.key(0), ranked.key(count - 1)]);
        self.record_ends(labels, count, ends);
        if count >= 2 && rule.score == ScoreType::F64 {
            // The lookup is behind `dyn`: where it could be inlined, reading a run would take a
            // twentieth longer.
            let label: &dyn Fn(&Record) -> u8 = &|record| {
                shelf.code(table, record.hash, || docnos.get(record)).unwrap_or(NOT_IN_QRELS)
            };
            self.in_f32 += u64::from(ranked.differs_in_f32(labels, rule.ties, label, docnos));
        }
    }

    /// Counts a query by its labels and by the keys of its best and worst result, without a check
    /// in f32.
    #[inline(always)]
    pub(crate) fn record_ends(&mut self, labels: &[u8], count: usize, ends: Option<[u64; 2]>) {
        self.ranked += u64::from(count > 0);
        // Fold 64 labels at a time, to avoid a branch for each label.
        let is_any_judged =
            |some: &[u8]| some.iter().fold(false, |any, &label| any | (label > NOT_IN_QRELS));
        self.judged += u64::from(labels.chunks(64).any(is_any_judged));
        self.several += u64::from(count > 1);
        self.equal += u64::from(count > 1 && ends.is_some_and(|[first, last]| first == last));
        if let Some([best, worst]) = ends.map(|ends| ends.map(score_of_key)) {
            /// The largest number that is taken to be a grade.
            const LARGEST: f64 = 20.0;
            let whole =
                best.fract() == 0.0 && worst.fract() == 0.0 && worst >= 0.0 && best <= LARGEST;
            self.whole += u64::from(whole);
            self.counted += u64::from(whole && count > 1 && best - worst + 1.0 == count as f64);
        }
    }

    /// Compares the ranks of at most [`LOOKED_AT`] lines of a query with their scores, and counts
    /// the query if a rank and a score are contrary. `record` returns a line's result, in input
    /// order.
    #[inline(always)]
    pub(crate) fn record_ranks(
        &mut self,
        count: usize,
        record: impl Fn(usize) -> Record,
        docnos: Docnos<'_>,
        ranks: RankColumn,
    ) {
        if count < 2 || matches!(ranks, RankColumn::None) {
            return;
        }
        let few = count.min(LOOKED_AT);
        let mut looked_at = [record(0); LOOKED_AT];
        for (at, slot) in looked_at[..few].iter_mut().enumerate().skip(1) {
            *slot = record(at * (count - 1) / (few - 1));
        }
        self.compare_ranks(count, &looked_at[..few], docnos);
    }

    /// Compares the ranks of some lines of a query of `count` results with their scores, and counts
    /// the query.
    fn compare_ranks(&mut self, count: usize, records: &[Record], docnos: Docnos<'_>) {
        let [first, .., last] = records else { return };
        let (mut before, mut compared, mut contrary) = (None, false, false);
        for record in records {
            let Some(rank) = docnos.rank_column(record) else {
                // A rank that is no integer may be a score, if the two columns are exchanged.
                let number = |record| {
                    std::str::from_utf8(docnos.rank_field(record)).ok()?.parse::<f64>().ok()
                };
                if let [Some(one), Some(other)] = [first, last].map(number) {
                    let keys = [first.key, last.key];
                    self.exchanged += u64::from(is_exchanged([one, other], keys, count));
                }
                return;
            };
            if let Some((one, key)) = before.filter(|&(one, key)| one != rank && key != record.key)
            {
                compared = true;
                contrary |= (one < rank) != (key < record.key);
            }
            before = Some((rank, record.key));
        }
        self.compared += u64::from(compared);
        self.contrary += u64::from(contrary);
    }
}

/// Returns whether a query seems to have its rank and score columns exchanged, by its first and
/// last line. If so, a rank has decimals, and the two scores are whole and `count` − 1 apart.
#[cold]
fn is_exchanged(ranks: [f64; 2], keys: [u64; 2], count: usize) -> bool {
    let decimals =
        ranks.iter().all(|rank| rank.is_finite()) && ranks.iter().any(|rank| rank.fract() != 0.0);
    let [from, to] = keys.map(score_of_key);
    let counts = from.fract() == 0.0 && (to - from).abs() == (count - 1) as f64;
    // The line with the larger number as rank, really its score, has the smaller number as score,
    // really its rank.
    decimals && counts && (ranks[0] > ranks[1]) == (from < to)
}

/// The results of a query, best first; results of equal scores may be in any order.
#[derive(Clone, Copy)]
struct RankedResults<R> {
    /// The number of results.
    count: usize,
    /// A function that returns the result at a rank, from 0.
    record: R,
}

impl<'a, R: Fn(usize) -> &'a Record + Copy> RankedResults<R> {
    fn key(&self, rank: usize) -> u64 {
        (self.record)(rank).key
    }

    /// Returns the sort key of the result at a rank, if scores were rounded to f32.
    fn f32_key(&self, rank: usize) -> u64 {
        key_in_f32(self.key(rank))
    }

    /// Returns whether a query's labels would come in another order if scores were compared as f32.
    ///
    /// If so, two neighbours with different labels have equal scores as f32, or the last labelled
    /// rank and the next rank have equal scores as f32.
    #[inline(always)]
    fn differs_in_f32(
        self,
        labels: &[u8],
        ties: TieBreak,
        label: &dyn Fn(&Record) -> u8,
        docnos: Docnos<'_>,
    ) -> bool {
        let mut from = 0;
        while from < labels.len() {
            let change = labels[from..].windows(2).position(|pair| pair[0] != pair[1]);
            let rank = change.map_or(labels.len() - 1, |change| from + change);
            from = rank + 1;
            // Behind the last label too: in f32 the result there may come above it.
            if from < self.count && self.f32_key(rank) == self.f32_key(from) {
                let (end, differs) = self.reorders(rank, labels, ties, label, docnos);
                if differs {
                    return true;
                }
                from = end;
            }
        }
        false
    }

    /// Sorts a copy of the results whose f32 score equals that of rank `rank`. Returns the first
    /// rank behind these results, and whether their labels change order.
    #[cold]
    fn reorders(
        self,
        rank: usize,
        labels: &[u8],
        ties: TieBreak,
        label: &dyn Fn(&Record) -> u8,
        docnos: Docnos<'_>,
    ) -> (usize, bool) {
        let key = self.f32_key(rank);
        let above = (0..rank).rev().take_while(|&above| self.f32_key(above) == key);
        let start = above.last().unwrap_or(rank);
        let end = (rank..self.count).find(|&below| self.f32_key(below) != key);
        let end = end.unwrap_or(self.count);
        // All these results have one score as f64 too, so f32 makes no new tie.
        if self.key(start) == self.key(end - 1) {
            return (end, false);
        }
        let mut tied: Vec<&Record> = (start..end).map(self.record).collect();
        sort_tied(&mut tied, ties, docnos);
        let differs =
            tied.iter().zip(&labels[start..]).any(|(record, &code)| label(record) != code);
        (end, differs)
    }
}

/// Sorts results of equal scores by the rule of ties. A function by itself, because it would be
/// compiled again for every way to find records.
fn sort_tied(tied: &mut [&Record], ties: TieBreak, docnos: Docnos<'_>) {
    let by_docno = by_docno(ties);
    tied.sort_by(|one, other| {
        let by_rank = match ties {
            TieBreak::Rank => docnos.rank_column(one).cmp(&docnos.rank_column(other)),
            _ => Ordering::Equal,
        };
        by_rank.then(by_docno(docnos.get(one), docnos.get(other))).then(one.at.cmp(&other.at))
    });
}

/// Returns whether two neighbours in a ranking with different labels have equal scores as f32. If
/// not, f32 changes no order of labels, and [`ScoreWarnings::record_ends`] suffices. `labels` and
/// `keys` cover all results of the query.
pub fn may_differ_in_f32(labels: &[u8], keys: &[u64]) -> bool {
    let mut pairs = std::iter::zip(labels.windows(2), keys.windows(2));
    pairs.any(|(labels, keys)| labels[0] != labels[1] && key_in_f32(keys[0]) == key_in_f32(keys[1]))
}

/// Converts the sort key of a score in f64 to the key of the score rounded to f32.
pub fn key_in_f32(key: u64) -> u64 {
    sort_key(score_of_key(key), ScoreType::F32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(score: f64) -> u64 {
        sort_key(score, ScoreType::F64)
    }

    #[test]
    fn keys_in_f32_are_those_of_the_rounded_scores() {
        for score in
            [0.0, 1.0, 0.1, -0.1, 1e-50, -1e-50, 1e300, -1e300, 27.412345678, f64::MIN_POSITIVE]
        {
            assert_eq!(key_in_f32(key(score)), sort_key(score, ScoreType::F32), "{score:e}");
        }
    }
}
