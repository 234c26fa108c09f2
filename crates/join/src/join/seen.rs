//! Facts about the scores of a run, noticed during ranking, that may need a note: equal scores,
//! contrary ranks, ties in f32.
//!
//! No function here looks at every score again: a query costs a few comparisons, and one more
//! wherever the label changes from rank to rank.

use crate::lines::layout::RankColumn;
use crate::matrix::ScoresSeen;
use crate::matrix::code::UNPOOLED;
use crate::record::packed::{Docnos, Record, by_docno, score_of_key, sort_key};
use crate::rule::{RankingRule, ScoreType, Ties};

/// The number of lines of a query whose rank column is checked: the first, the last, and some
/// between, evenly spaced. Checking all lines would cost a fifth of the time of reading. The few
/// lines reveal another order, as of results ranked again, in nearly every query.
const LOOKED_AT: usize = 6;

impl ScoresSeen {
    /// Looks at the scores of a query, whose first ranks have the given labels.
    #[inline(always)]
    pub(crate) fn see<'a>(
        &mut self,
        rule: &RankingRule,
        labels: &[u8],
        ranked: RankedResults<impl Fn(usize) -> &'a Record + Copy>,
        label: &dyn Fn(&Record) -> u8,
        docnos: Docnos<'_>,
    ) {
        let ends = (ranked.count > 0).then(|| [ranked.key(0), ranked.key(ranked.count - 1)]);
        self.see_ends(labels, ranked.count, ends);
        if ranked.count >= 2 && rule.score == ScoreType::F64 {
            self.in_f32 += u64::from(ranked.differs_in_f32(labels, rule.ties, label, docnos));
        }
    }

    /// Looks at the labels of a query, and at the keys of its first and its last result, but at
    /// nothing in f32.
    #[inline(always)]
    pub(crate) fn see_ends(&mut self, labels: &[u8], count: usize, ends: Option<[u64; 2]>) {
        self.ranked += u64::from(count > 0);
        self.judged += u64::from(is_any_judged(labels));
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

    /// Compares the rank columns of a few lines of a query with their scores, by [`LOOKED_AT`].
    #[inline(always)]
    pub(crate) fn see_ranks(
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
        for (at, of) in looked_at[..few].iter_mut().enumerate().skip(1) {
            *of = record(at * (count - 1) / (few - 1));
        }
        self.compare_ranks(count, &looked_at[..few], docnos, ranks);
    }

    /// Compares the rank columns of some lines of a query of `count` with their scores.
    fn compare_ranks(
        &mut self,
        count: usize,
        records: &[Record],
        docnos: Docnos<'_>,
        ranks: RankColumn,
    ) {
        let [first, .., last] = records else { return };
        let text = |record: &Record| match ranks {
            RankColumn::None => None,
            RankColumn::Behind => docnos.rank_text(record),
            RankColumn::At(separator, column) => {
                separator.fields(docnos.line_of(record)?).get(column).copied()
            }
        };
        let rank = |record: &Record| match ranks {
            RankColumn::Behind => docnos.rank_column(record),
            _ => std::str::from_utf8(text(record)?).ok()?.parse().ok(),
        };
        let (mut before, mut compared, mut contrary) = (None, false, false);
        for record in records {
            let Some(rank) = rank(record) else {
                // Ranks with fractions may be scores.
                let number =
                    |record: &Record| std::str::from_utf8(text(record)?).ok()?.parse::<f64>().ok();
                let columns = number(first).zip(number(last));
                let keys = [first.key, last.key];
                self.exchanged +=
                    u64::from(columns.is_some_and(|ranks| is_exchanged(ranks, keys, count)));
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

/// Checks whether the ranks of the first and the last line of a query are scores, and their scores
/// ranks: ranks have decimals, and scores count the lines.
#[cold]
fn is_exchanged((one, other): (f64, f64), keys: [u64; 2], count: usize) -> bool {
    let decimals =
        one.is_finite() && other.is_finite() && (one.fract() != 0.0 || other.fract() != 0.0);
    let [from, to] = keys.map(score_of_key);
    let counts = from.fract() == 0.0 && (to - from).abs() == (count - 1) as f64;
    // The best score, in the place of the rank, has the first rank.
    decimals && counts && (one > other) == (from < to)
}

/// Checks whether one of the labels is of a document that is in the qrels.
#[inline(always)]
fn is_any_judged(labels: &[u8]) -> bool {
    // Fold 64 labels at a time, to avoid a branch for each label.
    labels.chunks(64).any(|some| some.iter().fold(false, |any, &label| any | (label > UNPOOLED)))
}

/// The results of a query, best first; results of equal scores may be in any order.
#[derive(Clone, Copy)]
pub(crate) struct RankedResults<R> {
    /// The number of results.
    pub count: usize,
    /// A function that returns the result at a rank, from 0.
    pub record: R,
}

impl<'a, R: Fn(usize) -> &'a Record + Copy> RankedResults<R> {
    fn key(&self, rank: usize) -> u64 {
        (self.record)(rank).key
    }

    /// Checks whether the labels of the first ranks would come in another order if scores were
    /// compared as f32.
    ///
    /// If so, two neighbours with different labels have equal scores as f32, or the last labelled
    /// rank and the next rank have equal scores as f32.
    #[inline(always)]
    fn differs_in_f32(
        self,
        labels: &[u8],
        ties: Ties,
        label: &dyn Fn(&Record) -> u8,
        docnos: Docnos<'_>,
    ) -> bool {
        let mut from = 0;
        while from < labels.len() {
            let change = labels[from..].windows(2).position(|pair| pair[0] != pair[1]);
            let rank = change.map_or(labels.len() - 1, |change| from + change);
            from = rank + 1;
            if from < self.count && key_in_f32(self.key(rank)) == key_in_f32(self.key(from)) {
                let (end, differs) = self.reorders(rank, labels, ties, label, docnos);
                if differs {
                    return true;
                }
                from = end;
            }
        }
        false
    }

    /// Returns the end of the results that have the score of this rank as f32, and whether their
    /// labels come in another order then.
    #[cold]
    fn reorders(
        self,
        rank: usize,
        labels: &[u8],
        ties: Ties,
        label: &dyn Fn(&Record) -> u8,
        docnos: Docnos<'_>,
    ) -> (usize, bool) {
        let key = key_in_f32(self.key(rank));
        let alike = |rank: &usize| key_in_f32(self.key(*rank)) == key;
        let start = (0..rank).rev().take_while(alike).last().unwrap_or(rank);
        let end = (rank..self.count).take_while(alike).last().map_or(rank, |last| last + 1);
        if self.key(start) == self.key(end - 1) {
            return (end, false);
        }
        let mut tied: Vec<&Record> = (start..end).map(self.record).collect();
        sort_tied(&mut tied, ties, docnos);
        let differs =
            tied.iter().zip(&labels[start..]).any(|(record, &kept)| label(record) != kept);
        (end, differs)
    }
}

/// Sorts results of equal scores. A function by itself, because it would be compiled again for
/// every way to find records.
fn sort_tied(tied: &mut [&Record], ties: Ties, docnos: Docnos<'_>) {
    let by_docno = by_docno(ties);
    let rank = |record: &Record| if ties == Ties::Rank { docnos.rank_column(record) } else { None };
    tied.sort_by(|one, other| {
        let by_rank = rank(one).cmp(&rank(other));
        by_rank.then(by_docno(docnos.of(one), docnos.of(other))).then(one.at.cmp(&other.at))
    });
}

/// Checks whether two neighbours with different labels have equal scores as f32; only then does
/// [`ScoresSeen::see`] look closer. All results have labels.
pub(crate) fn may_differ_in_f32(labels: &[u8], keys: &[u64]) -> bool {
    let mut pairs = std::iter::zip(labels.windows(2), keys.windows(2));
    pairs.any(|(labels, keys)| labels[0] != labels[1] && key_in_f32(keys[0]) == key_in_f32(keys[1]))
}

/// Converts the sort key of a score as f64 to its key as f32.
pub(crate) fn key_in_f32(key: u64) -> u64 {
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
