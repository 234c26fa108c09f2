//! Facts: the judgments of each query as counts, apart from any ranking: its number of documents of
//! each label code.
//!
//! The number of relevant documents at any level, the ideal ranking and the ideal DCG at any cutoff
//! follow from these numbers.

use rayon::prelude::*;

use super::{
    CodesAbove,
    code::{FIRST_GRADE, NEGATIVE},
};

/// The largest number of judged documents of a query. With this limit a walk down an ideal ranking
/// ends within seconds, and no count or multiple of a count exceeds the integers of an engine.
pub const MAX_JUDGED: u64 = 1 << 28;

/// The number of queries whose facts are summed at once.
const PIECE: usize = 1 << 12;

/// The judgments of all queries as counts: the number of judged documents of each label code, query
/// by query. The counts are compressed rows: a query costs 5 bytes for each of its codes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GradeHistograms {
    /// The start of each row's entries, and the end of the last entries.
    pub(crate) offsets: Vec<u32>,
    pub(crate) codes: Vec<u8>,
    pub(crate) counts: Vec<u32>,
    /// The row of each query, if some queries share a row; empty if each query has its own row.
    shared: Vec<u32>,
}

impl Default for GradeHistograms {
    fn default() -> Self {
        Self { offsets: vec![0], codes: Vec::new(), counts: Vec::new(), shared: Vec::new() }
    }
}

impl GradeHistograms {
    /// Makes judgment counts of no queries.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a query by the label codes (2 … 255) of its judged documents, in any order.
    pub fn push(&mut self, codes: impl IntoIterator<Item = u8>) {
        self.push_counts(codes.into_iter().map(|code| (code, 1)));
    }

    /// Appends a query by its number of judged documents of each label code, `(code, count)`, in
    /// any order.
    pub fn push_counts(&mut self, of_codes: impl IntoIterator<Item = (u8, u32)>) {
        let (mut counts, mut bits) = ([0; 256], [0u64; 4]);
        for (code, count) in of_codes {
            let sum: &mut u32 = &mut counts[usize::from(code)];
            *sum = sum.saturating_add(count);
            bits[usize::from(code / 64)] |= 1 << (code % 64);
        }
        for (first, mut word) in (0..=u8::MAX).step_by(64).zip(bits) {
            while word != 0 {
                let code = first + word.trailing_zeros() as u8;
                word &= word - 1;
                self.codes.push(code);
                self.counts.push(counts[usize::from(code)]);
            }
        }
        self.end_rows([self.codes.len() as u32]);
    }

    /// Ends the judgment counts of one more query at each of these entries, in a row of its own.
    fn end_rows(&mut self, ends: impl IntoIterator<Item = u32>) {
        let before = self.rows();
        self.offsets.extend(ends);
        if !self.shared.is_empty() {
            self.shared.extend(before as u32..self.rows() as u32);
        }
    }

    /// Returns the number of stored rows of judgment counts; several queries may share a row.
    fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Appends a query with the judgment counts of an earlier query, which take no more memory. If
    /// all judgments are alike, this saves the time of writing the judgments again and of adding
    /// them up.
    pub(crate) fn push_again(&mut self, query: usize) {
        if self.shared.is_empty() {
            self.shared.extend(0..self.rows() as u32);
        }
        self.shared.push(self.shared[query]);
    }

    /// Appends `queries` queries by their number of judged documents of each label code from
    /// [`FIRST_GRADE`] on. `counts` is `[query][code]`.
    pub(crate) fn push_all(&mut self, queries: usize, counts: &[u32]) {
        let mut end = self.codes.len();
        if counts.is_empty() {
            self.end_rows(std::iter::repeat_n(end as u32, queries));
            return;
        }
        self.codes.resize(end + counts.len(), 0);
        self.counts.resize(end + counts.len(), 0);
        let before = self.rows();
        self.offsets.reserve(queries);
        for of_query in counts.chunks_exact(counts.len() / queries) {
            // All codes are written, but only codes with documents are kept: no branch predictor
            // could tell whether a code occurs.
            for (code, &count) in (FIRST_GRADE..=255).zip(of_query) {
                (self.codes[end], self.counts[end]) = (code, count);
                end += usize::from(count > 0);
            }
            self.offsets.push(end as u32);
        }
        self.codes.truncate(end);
        self.counts.truncate(end);
        if !self.shared.is_empty() {
            self.shared.extend(before as u32..self.rows() as u32);
        }
    }

    /// Removes the judgment counts of all queries.
    pub(crate) fn clear(&mut self) {
        self.offsets.truncate(1);
        self.codes.clear();
        self.counts.clear();
        self.shared.clear();
    }

    /// Appends the judgment counts of the queries of `others`, each in a row of its own.
    pub fn append(&mut self, others: &Self) {
        // Without shared rows, the columns of both follow one another as they are.
        if others.shared.is_empty() {
            let before = self.codes.len() as u32;
            self.codes.extend_from_slice(&others.codes);
            self.counts.extend_from_slice(&others.counts);
            self.end_rows(others.offsets.iter().skip(1).map(|offset| before + offset));
            return;
        }
        for query in 0..others.len() {
            self.push_counts(others.get(query).iter());
        }
    }

    /// Makes judgment counts of three columns of an `.lmx` file; `None` if the columns do not fit
    /// together.
    pub fn from_columns(offsets: Vec<u32>, codes: Vec<u8>, counts: Vec<u32>) -> Option<Self> {
        let last = offsets.last().map(|&end| end as usize);
        let fits = offsets.first() == Some(&0) && last == Some(codes.len());
        let fits = fits && offsets.is_sorted() && codes.len() == counts.len();
        fits.then(|| Self { offsets, codes, counts, shared: Vec::new() })
    }

    /// Rejects judgment counts with unknown label codes, without documents, or of too many
    /// documents. Every query has ascending codes below `codes` and from [`NEGATIVE`] on, each with
    /// a document at least, and no more than [`MAX_JUDGED`] documents together.
    pub fn check(&self, codes: usize) -> Result<(), String> {
        if self.is_plainly_sound(codes) {
            return Ok(());
        }
        (0..self.len()).try_for_each(|query| {
            self.get(query)
                .check(codes)
                .map_err(|message| format!("query {} of {}: {message}", query + 1, self.len()))
        })
    }

    /// Returns whether a fast look at whole columns shows that the judgment counts of all queries
    /// are sound. [`GradeHistograms::check`] then finds nothing wrong. A loop over the few codes of
    /// each query would end where no branch predictor expects it.
    fn is_plainly_sound(&self, codes: usize) -> bool {
        let least = self.counts.iter().copied().min().unwrap_or(1);
        let most = self.counts.iter().copied().max().unwrap_or(1);
        let first = self.codes.iter().copied().min().unwrap_or(NEGATIVE);
        let last = self.codes.iter().copied().max().unwrap_or(NEGATIVE);
        // Codes fall or stay only at the start of a query. So count all pairs that do not ascend,
        // and such pairs across the starts of queries: equal counts show that no such pair is
        // inside a query. An empty query shares its start with the next query, and is left out, so
        // that no start counts twice.
        let starts = self.offsets.windows(2).filter(|pair| pair[0] < pair[1] && pair[0] > 0);
        let starts = starts.map(|pair| pair[0] as usize);
        let within = self.codes.windows(2).filter(|pair| pair[0] >= pair[1]).count();
        least > 0
            // A query has at most 256 codes. `check` looks at refused facts query by query.
            && u64::from(most) * 256 <= MAX_JUDGED
            && first >= NEGATIVE
            && usize::from(last) < codes
            && within == starts.filter(|&at| self.codes[at - 1] >= self.codes[at]).count()
    }

    /// Returns the number of queries that have judgment counts.
    pub fn len(&self) -> usize {
        if self.shared.is_empty() { self.rows() } else { self.shared.len() }
    }

    /// Returns whether no query has judgment counts.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the judgment counts of one query: its number of documents of each label code.
    pub fn get(&self, query: usize) -> GradeHistogram<'_> {
        let row = self.shared.get(query).map_or(query, |&row| row as usize);
        let range = self.offsets[row] as usize..self.offsets[row + 1] as usize;
        GradeHistogram { codes: &self.codes[range.clone()], counts: &self.counts[range] }
    }

    /// Computes a number for every query: `value` of the sum of `term(code, count)` over its label
    /// codes.
    ///
    /// The running sum over all rows comes first, and the sum of a query is a difference of two
    /// running sums: a loop over the few codes of each query ends where no branch predictor expects
    /// it, which costs three times as much.
    pub fn map_sums(
        &self,
        term: impl Fn(u8, u32) -> u64 + Sync,
        value: impl Fn(u64) -> f64 + Sync,
    ) -> Vec<f64> {
        let mut values = vec![0.0; self.rows()];
        values.par_chunks_mut(PIECE).enumerate().for_each_init(
            Vec::new,
            |sums, (piece, values)| {
                let offsets = &self.offsets[piece * PIECE..][..values.len() + 1];
                let entries = offsets[0] as usize..offsets[values.len()] as usize;
                let facts = self.codes[entries.clone()].iter().zip(&self.counts[entries]);
                let mut sum = 0u64;
                sums.clear();
                sums.push(0);
                sums.extend(facts.map(|(&code, &count)| {
                    // The running sum may wrap. A difference is right all the same if the sum of
                    // the query fits.
                    sum = sum.wrapping_add(term(code, count));
                    sum
                }));
                for (out, pair) in values.iter_mut().zip(offsets.windows(2)) {
                    let [before, upto] = [0, 1].map(|at| sums[(pair[at] - offsets[0]) as usize]);
                    *out = value(upto.wrapping_sub(before));
                }
            },
        );
        if !self.shared.is_empty() {
            values = self.shared.iter().map(|&row| values[row as usize]).collect();
        }
        values
    }
}

/// The number of judged documents of each label code (grade), for a single query.
#[derive(Debug, Clone, Copy)]
pub struct GradeHistogram<'a> {
    codes: &'a [u8],
    counts: &'a [u32],
}

impl<'a> GradeHistogram<'a> {
    fn check(&self, codes: usize) -> Result<(), String> {
        let (mut least, mut judged) = (NEGATIVE.into(), 0);
        for (code, count) in self.iter() {
            fault_if!(
                usize::from(code) < least || usize::from(code) >= codes,
                "code {code} where one from {least} to {} was expected",
                codes - 1
            );
            fault_if!(count == 0, "no document has code {code}");
            least = usize::from(code) + 1;
            judged += u64::from(count);
        }
        fault_if!(
            judged > MAX_JUDGED,
            "{judged} judged documents, and the most that a query may have is {MAX_JUDGED}"
        );
        Ok(())
    }

    /// Returns the label codes of the query's judgments, ascending, each with its number of
    /// documents.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u8, u32)> + Clone + use<'a> {
        self.codes.iter().copied().zip(self.counts.iter().copied())
    }

    /// Returns the label codes of the query's documents with a grade ≥ 0, ascending, each with its
    /// number of documents.
    pub fn judged(&self) -> impl DoubleEndedIterator<Item = (u8, u32)> + Clone + use<'a> {
        self.iter().filter(|&(code, _)| CodesAbove::JUDGED.contains(code))
    }

    /// Returns the number of the query's documents whose label code is in `set`, such as the
    /// relevant ones.
    pub fn count(&self, set: CodesAbove) -> u64 {
        self.iter().filter(|&(code, _)| set.contains(code)).map(|(_, count)| u64::from(count)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares whole columns with single queries, for every way to cut three entries into three
    /// queries.
    #[test]
    fn columns_are_sound_where_every_query_is() {
        let (mut sound, mut unsound) = (0, 0);
        let cuts =
            (0..=3).flat_map(|first| (first..=3).map(move |second| vec![0, first, second, 3]));
        for offsets in cuts {
            for number in 0..5usize.pow(3) * 8 {
                let codes = [1, 5, 25].map(|divisor| 1 + (number / divisor % 5) as u8).to_vec();
                let counts =
                    [0, 1, 2].map(|entry| (number / 125 / (1 << entry) % 2) as u32 * 7).to_vec();
                let facts = GradeHistograms::from_columns(offsets.clone(), codes, counts)
                    .expect("columns that fit");
                let each = (0..3).all(|query| facts.get(query).check(5).is_ok());
                assert_eq!(
                    (facts.is_plainly_sound(5), facts.check(5).is_ok()),
                    (each, each),
                    "{facts:?}"
                );
                *if each { &mut sound } else { &mut unsound } += 1;
            }
        }
        assert!(sound > 50 && unsound > 50, "{sound} sound, {unsound} unsound");
    }

    /// Queries that share a row say the same as those that have rows of their own, however they are
    /// mixed and appended.
    #[test]
    fn shared_rows_are_those_of_each_query() {
        let (mut shared, mut own, mut all) =
            (GradeHistograms::new(), GradeHistograms::new(), GradeHistograms::new());
        let rows = [&[(4, 2), (7, 1)][..], &[], &[(3, 9)]];
        let mut first = [None; 3];
        for number in [0, 0, 1, 2, 0, 1, 1, 2, 2, 0] {
            match first[number] {
                Some(query) => shared.push_again(query),
                None => {
                    first[number] = Some(shared.len());
                    shared.push_counts(rows[number].iter().copied());
                }
            }
            own.push_counts(rows[number].iter().copied());
        }
        shared.push_all(2, &[0, 1, 2, 0]);
        own.push_all(2, &[0, 1, 2, 0]);
        assert_eq!((shared.len(), shared.codes.len()), (own.len(), 5));
        for query in 0..own.len() {
            assert!(shared.get(query).iter().eq(own.get(query).iter()), "query {query}");
        }
        let weigh = |facts: &GradeHistograms| {
            facts.map_sums(|code, count| u64::from(code) * u64::from(count), |sum| sum as f64)
        };
        assert_eq!(weigh(&shared), weigh(&own));
        all.push([5]);
        all.append(&shared);
        all.append(&own);
        assert_eq!((all.len(), all.shared.len()), (1 + 2 * own.len(), 0));
        assert!((0..own.len()).all(|query| all.get(1 + query).iter().eq(own.get(query).iter())));
        shared.append(&own);
        assert!(shared.get(own.len() + 3).iter().eq(rows[2].iter().copied()));
        shared.clear();
        shared.push([6]);
        assert!(shared.len() == 1 && shared.get(0).iter().eq([(6, 1)]));
    }

    #[test]
    fn a_query_has_as_many_judged_documents_as_it_may_have() {
        let check = |counts: Vec<u32>| {
            GradeHistograms::from_columns(vec![0, 2], vec![2, 3], counts).unwrap().check(4)
        };
        let most = MAX_JUDGED as u32;
        assert_eq!(check(vec![most - 1, 1]), Ok(()));
        assert!(
            check(vec![most, 1])
                .unwrap_err()
                .starts_with("query 1 of 1: 268435457 judged documents")
        );
        assert!(check(vec![u32::MAX, u32::MAX]).is_err());
    }
}
