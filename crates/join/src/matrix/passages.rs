//! Judgments by span: the judged passages that each result of a ranking covers.
//!
//! Each rank keeps three numbers, so that a measure is a sum down to a rank: the positions of the
//! result, its new positions, and its new positions that are gold. A position is *new* if no higher
//! rank covered it. The third number is kept for each distinct grade, because measures have a
//! parameter for the lowest grade of gold passages.

use std::sync::Arc;

use super::code::MAX_GRADES;
use super::ragged::Ragged;

/// Numbers of gold positions of queries, by grade.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GoldFacts {
    /// The distinct grades, ascending.
    grades: Vec<f64>,
    /// `[query][grade]`: the number of positions in passages of at least this grade, each counted
    /// once.
    gold: Vec<u64>,
}

impl GoldFacts {
    /// Makes facts from the distinct grades, and from the numbers of positions of at least each
    /// grade, query by query.
    ///
    /// # Errors
    /// Too many grades, or grades that are not finite and ascending. Numbers of positions that do
    /// not match the grades, or grow with the grade.
    pub fn new(grades: Vec<f64>, gold: Vec<u64>) -> Result<Self, String> {
        let finite = grades.iter().all(|grade| grade.is_finite());
        if !finite || !grades.is_sorted_by(|one, next| one < next) {
            return Err("the grades of passages are not finite, distinct and ascending".to_owned());
        }
        if grades.len() > MAX_GRADES {
            let count = grades.len();
            return Err(format!(
                "{count} distinct grades of passages, and there may be {MAX_GRADES}"
            ));
        }
        let fits = gold.is_empty() || !grades.is_empty() && gold.len().is_multiple_of(grades.len());
        let descends = |of_query: &[u64]| of_query.is_sorted_by(|one, next| one >= next);
        if !fits || !gold.chunks(grades.len().max(1)).all(descends) {
            return Err("the positions of passages do not fit their grades".to_owned());
        }
        Ok(GoldFacts { grades, gold })
    }

    /// The distinct grades, ascending.
    pub fn grades(&self) -> &[f64] {
        &self.grades
    }

    /// The positions of a query of at least each grade.
    pub fn gold(&self, query: usize) -> &[u64] {
        &self.gold[query * self.grades.len()..(query + 1) * self.grades.len()]
    }

    /// The gold of some of the queries alone.
    pub fn of_queries(&self, queries: impl Iterator<Item = usize>) -> Self {
        let gold = queries.flat_map(|query| self.gold(query).iter().copied()).collect();
        GoldFacts { grades: self.grades.clone(), gold }
    }

    /// The number of queries.
    pub fn queries(&self) -> usize {
        self.gold.len() / self.grades.len().max(1)
    }

    /// The positions of all queries, query by query.
    pub fn all_gold(&self) -> &[u64] {
        &self.gold
    }

    /// The number of counts of a rank.
    pub fn width(&self) -> usize {
        2 + self.grades.len()
    }
}

/// Numbers of positions at one rank of a ranking of passages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpanAtRank {
    /// The number of positions of the result.
    pub length: u32,
    /// The number of positions that no higher rank covered.
    pub new: u32,
    /// The number of new positions that are gold.
    pub gold: u32,
}

/// A ranking of passages, and the gold of its query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankedSpans<'a> {
    grades: &'a [f64],
    gold: &'a [u64],
    counts: &'a [u32],
}

impl<'a> RankedSpans<'a> {
    /// The number of positions in the query's passages of at least the grade `rel`.
    pub fn gold(&self, rel: f64) -> u64 {
        self.gold.get(self.place(rel)).copied().unwrap_or(0)
    }

    /// The ranks, with the gold of passages of at least the grade `rel`.
    pub fn ranks(&self, rel: f64) -> impl Iterator<Item = SpanAtRank> + use<'a> {
        let place = self.place(rel) + 2;
        let of = move |counts: &[u32]| SpanAtRank {
            length: counts[0],
            new: counts[1],
            gold: counts.get(place).copied().unwrap_or(0),
        };
        self.counts.chunks_exact(self.grades.len() + 2).map(of)
    }

    fn place(&self, rel: f64) -> usize {
        self.grades.partition_point(|&grade| grade < rel)
    }
}

/// Rankings of passages: the positions, the new positions, and the new gold positions of at least
/// each grade, by rank.
#[derive(Debug, Clone, PartialEq)]
pub struct SpanRows {
    /// The gold of all queries.
    pub of: Arc<GoldFacts>,
    /// The numbers of the ranks of each row.
    pub rows: Ragged<u32>,
}

impl SpanRows {
    /// Builds rows, and rejects counts that would give a share above 1. Each row has numbers for as
    /// many ranks as results. No result has more new positions than positions, or more gold than
    /// new positions. No ranking has more gold than its query.
    pub(crate) fn checked(
        of: Arc<GoldFacts>,
        rows: Ragged<u32>,
        depths: &[u32],
    ) -> Result<Self, String> {
        let (width, queries) = (of.width(), of.queries().max(1));
        for (row, &depth) in depths.iter().enumerate() {
            let counts = rows.of(row);
            let wrong = |message: &str| Err(format!("row {}: {message}", row + 1));
            if depth > 0 && of.queries() == 0 || counts.len() != depth as usize * width {
                return wrong("its results do not have their numbers of positions");
            }
            let mut sums = vec![0u64; of.grades.len()];
            for rank in counts.chunks_exact(width) {
                if rank[0] == 0 || !rank.is_sorted_by(|one, next| one >= next) {
                    return wrong(
                        "a result has more new positions than positions, or more gold than these",
                    );
                }
                // At most 2³² ranks of less than 2³² each.
                sums.iter_mut().zip(&rank[2..]).for_each(|(sum, &gold)| *sum += u64::from(gold));
            }
            if depth > 0 && sums.iter().zip(of.gold(row % queries)).any(|(sum, gold)| sum > gold) {
                return wrong("the ranking has more gold than its query");
            }
        }
        Ok(SpanRows { of, rows })
    }

    /// The ranking of a row.
    pub fn ranked(&self, row: usize) -> RankedSpans<'_> {
        let query = row % self.of.queries().max(1);
        RankedSpans {
            grades: &self.of.grades,
            gold: self.of.gold(query),
            counts: self.rows.of(row),
        }
    }

    /// The gold of a query, without a ranking.
    pub fn unranked(&self, query: usize) -> RankedSpans<'_> {
        RankedSpans { grades: &self.of.grades, gold: self.of.gold(query), counts: &[] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(counts: &[u32], depth: u32) -> Result<SpanRows, String> {
        let of = GoldFacts::new(vec![1.0, 2.0], vec![50, 10]).unwrap();
        let mut rows = Ragged::default();
        rows.push(counts);
        SpanRows::checked(Arc::new(of), rows, &[depth])
    }

    #[test]
    fn gold_is_of_at_least_a_grade() {
        let rows = rows(&[20, 20, 10, 0, 40, 20, 10, 10], 2).unwrap();
        let ranked = rows.ranked(0);
        for (rel, gold, at_two) in
            [(0.0, 50, 10), (1.0, 50, 10), (1.5, 10, 10), (2.0, 10, 10), (2.5, 0, 0)]
        {
            assert_eq!(ranked.gold(rel), gold, "{rel}");
            let second = ranked.ranks(rel).nth(1).unwrap();
            assert_eq!(second, SpanAtRank { length: 40, new: 20, gold: at_two }, "{rel}");
        }
        assert_eq!(ranked.ranks(2.0).map(|at| at.gold).collect::<Vec<_>>(), [0, 10]);
    }

    #[test]
    fn rows_that_cannot_be_are_refused() {
        let gold = "row 1: the ranking has more gold than its query";
        let more = "row 1: a result has more new positions than positions, or more gold than these";
        let numbers = "row 1: its results do not have their numbers of positions";
        for (counts, depth, message) in [
            (&[20, 20, 10][..], 1, numbers),
            (&[20, 20, 10, 0], 2, numbers),
            (&[20, 21, 10, 0], 1, more),
            (&[20, 20, 21, 0], 1, more),
            (&[20, 20, 5, 6], 1, more),
            (&[0, 0, 0, 0], 1, more),
            (&[60, 60, 51, 0], 1, gold),
            (&[60, 60, 50, 11], 1, gold),
            (&[30, 30, 30, 0, 30, 30, 21, 0], 2, gold),
        ] {
            assert_eq!(rows(counts, depth).map(|_| ()), Err(message.to_owned()), "{counts:?}");
        }
        for (grades, gold) in [
            (vec![2.0, 1.0], vec![5, 4]),
            (vec![f64::NAN], vec![5]),
            (vec![1.0, 2.0], vec![4, 5]),
            (vec![1.0, 2.0], vec![4]),
            (vec![], vec![4]),
            ((0..300).map(f64::from).collect(), vec![]),
        ] {
            assert!(GoldFacts::new(grades, gold).is_err());
        }
    }
}
