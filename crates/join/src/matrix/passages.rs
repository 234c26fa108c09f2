//! Rankings of passages: the positions that each result covers, and those of judged passages (gold)
//! among them.
//!
//! Each rank keeps three numbers, so that a measure is a sum down to a rank: the positions of the
//! result, its new positions, and its new positions that are gold. A position is *new* if no higher
//! rank covered it. The third number is kept for each distinct grade, because measures have a
//! parameter for the lowest grade of gold passages.

use std::sync::Arc;

use super::{Ragged, code::MAX_GRADES};

/// The number of positions in the judged passages (gold) of each query, for each lowest grade.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GoldCounts {
    /// The distinct grades, ascending.
    grades: Vec<f64>,
    /// `[query][grade]`: the number of positions in passages of at least this grade, each counted
    /// once.
    pub(crate) gold: Vec<u64>,
}

impl GoldCounts {
    /// Makes the numbers of gold positions of queries, from the distinct grades and the counts
    /// query by query. A count is of positions of at least a grade.
    ///
    /// # Errors
    /// Too many grades, or grades that are not finite and ascending. Numbers of positions that do
    /// not match the grades, or grow with the grade.
    pub fn new(grades: Vec<f64>, gold: Vec<u64>) -> Result<Self, String> {
        fault_if!(
            !grades.iter().all(|grade| grade.is_finite())
                || !grades.is_sorted_by(|one, next| one < next),
            "the grades of passages are not finite, distinct and ascending"
        );
        let count = grades.len();
        fault_if!(
            count > MAX_GRADES,
            "{count} distinct grades of passages, and there may be {MAX_GRADES}"
        );
        let fits = gold.is_empty() || count > 0 && gold.len().is_multiple_of(count);
        // Positions of at least a grade include those of every higher grade.
        let mut queries = gold.chunks(count.max(1));
        fault_if!(
            !fits || !queries.all(|counts| counts.is_sorted_by(|one, next| one >= next)),
            "the positions of passages do not fit their grades"
        );
        Ok(Self { grades, gold })
    }

    /// Returns the distinct grades of the judged passages, ascending.
    pub fn grades(&self) -> &[f64] {
        &self.grades
    }

    /// Returns the number of positions in a query's judged passages of at least each grade.
    pub fn gold(&self, query: usize) -> &[u64] {
        &self.gold[query * self.grades.len()..][..self.grades.len()]
    }

    /// Returns the numbers of gold positions of some of the queries alone.
    pub fn select(&self, queries: impl Iterator<Item = usize>) -> Self {
        let gold = queries.flat_map(|query| self.gold(query).iter().copied()).collect();
        Self { grades: self.grades.clone(), gold }
    }

    /// Returns the number of queries whose gold positions are counted.
    pub fn queries(&self) -> usize {
        self.gold.len() / self.grades.len().max(1)
    }

    /// Returns the number of counts for each rank: its positions, its new positions, and its gold
    /// by grade.
    pub fn width(&self) -> usize {
        2 + self.grades.len()
    }

    /// Rejects position counts of a ranking of passages that would give a share above 1. The counts
    /// are of row `row`, of `depth` results.
    fn check_row(&self, row: usize, depth: u32, counts: &[u32]) -> Result<(), &'static str> {
        let (width, queries) = (self.width(), self.queries());
        if depth > 0 && queries == 0 || counts.len() != depth as usize * width {
            return Err("its results do not have their numbers of positions");
        }
        let mut sums = vec![0u64; self.grades.len()];
        for rank in counts.chunks_exact(width) {
            if rank[0] == 0 || !rank.is_sorted_by(|one, next| one >= next) {
                return Err(
                    "a result has more new positions than positions, or more gold than these",
                );
            }
            // At most 2³² ranks of less than 2³² each.
            sums.iter_mut().zip(&rank[2..]).for_each(|(sum, &gold)| *sum += u64::from(gold));
        }
        // Only a row with results proves that there is a query to divide by.
        if depth > 0 && sums.iter().zip(self.gold(row % queries)).any(|(sum, gold)| sum > gold) {
            return Err("the ranking has more gold than its query");
        }
        Ok(())
    }
}

/// The numbers of positions that one result of a ranking of passages covers: all, new, and gold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankedSpan {
    /// The number of positions of the result.
    pub length: u32,
    /// The number of positions that no higher rank covered.
    pub new: u32,
    /// The number of new positions that are gold.
    pub gold: u32,
}

/// A ranking of passages as counts of positions by rank, with the gold positions of its query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpanRanking<'a> {
    grades: &'a [f64],
    gold: &'a [u64],
    counts: &'a [u32],
}

impl<'a> SpanRanking<'a> {
    /// Returns the number of positions in the query's judged passages of grade `rel` or higher.
    pub fn gold(&self, rel: f64) -> u64 {
        self.gold.get(self.place(rel)).copied().unwrap_or(0)
    }

    /// Returns the counts of positions at each rank, where passages of grade `rel` or higher are
    /// gold.
    pub fn ranks(&self, rel: f64) -> impl Iterator<Item = RankedSpan> + use<'a> {
        let place = self.place(rel) + 2;
        self.counts.chunks_exact(self.grades.len() + 2).map(move |counts| RankedSpan {
            length: counts[0],
            new: counts[1],
            gold: counts.get(place).copied().unwrap_or(0),
        })
    }

    fn place(&self, rel: f64) -> usize {
        self.grades.partition_point(|&grade| grade < rel)
    }
}

/// The rankings of passages of a label matrix, as counts of positions by rank. A rank has its
/// positions, its new positions, and its new gold positions of at least each grade.
#[derive(Debug, Clone, PartialEq)]
pub struct SpanRows {
    /// The gold of all queries.
    pub gold_counts: Arc<GoldCounts>,
    /// The numbers of the ranks of each row.
    pub rows: Ragged<u32>,
}

impl SpanRows {
    /// Builds the rankings of passages of a matrix, and rejects counts that would give a share
    /// above 1. Each row has numbers for as many ranks as results. No result has more new positions
    /// than positions, or more gold than new positions. No ranking has more gold than its query.
    pub(crate) fn checked(
        gold_counts: Arc<GoldCounts>,
        rows: Ragged<u32>,
        depths: &[u32],
    ) -> Result<Self, String> {
        for (row, &depth) in depths.iter().enumerate() {
            let checked = gold_counts.check_row(row, depth, rows.row(row));
            checked.map_err(|message| format!("row {}: {message}", row + 1))?;
        }
        Ok(Self { gold_counts, rows })
    }

    /// Returns the ranking of passages of one row, a pair of run and query.
    pub fn ranked(&self, row: usize) -> SpanRanking<'_> {
        let query = row % self.gold_counts.queries().max(1);
        SpanRanking { counts: self.rows.row(row), ..self.unranked(query) }
    }

    /// Returns an empty ranking of passages for a query, with the query's gold positions.
    pub fn unranked(&self, query: usize) -> SpanRanking<'_> {
        SpanRanking {
            grades: &self.gold_counts.grades,
            gold: self.gold_counts.gold(query),
            counts: &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(counts: &[u32], depth: u32) -> Result<SpanRows, String> {
        let gold_counts = GoldCounts::new(vec![1.0, 2.0], vec![50, 10]).unwrap();
        let mut rows = Ragged::default();
        rows.push(counts);
        SpanRows::checked(Arc::new(gold_counts), rows, &[depth])
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
            assert_eq!(second, RankedSpan { length: 40, new: 20, gold: at_two }, "{rel}");
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
            assert!(GoldCounts::new(grades, gold).is_err());
        }
    }
}
