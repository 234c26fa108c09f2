//! Facts: the judgments of a query apart from any ranking, as the number of documents of each code.
//!
//! The number of relevant documents at any level, the ideal ranking and the ideal DCG at any cutoff
//! follow from these numbers.

use rayon::prelude::*;

use super::code::{Above, NEGATIVE};

/// The largest number of judged documents of a query. With this limit a walk down an ideal ranking
/// ends within seconds, and no count or multiple of a count exceeds the integers of an engine.
pub const MOST_JUDGED: u64 = 1 << 28;

/// The number of queries whose facts are summed at once.
const PIECE: usize = 1 << 12;

/// The judged counts of all queries, as compressed rows: a query costs 5 bytes for each of its
/// codes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    offsets: Vec<u32>,
    codes: Vec<u8>,
    counts: Vec<u32>,
    /// The row of each query, if some queries share a row; empty if each query has its own row.
    shared: Vec<u32>,
}

impl Facts {
    /// Makes facts of no queries.
    pub fn new() -> Self {
        Facts { offsets: vec![0], ..Facts::default() }
    }

    /// Appends a query by the codes (2 … 255) of its documents, in any order.
    pub fn push(&mut self, codes: impl IntoIterator<Item = u8>) {
        self.push_counts(codes.into_iter().map(|code| (code, 1)));
    }

    /// Appends a query by the number of its documents of each code, `(code, count)`, in any order.
    pub fn push_counts(&mut self, of_codes: impl IntoIterator<Item = (u8, u32)>) {
        let (mut counts, mut met) = ([0; 256], [0u64; 4]);
        for (code, count) in of_codes {
            let sum: &mut u32 = &mut counts[usize::from(code)];
            *sum = sum.saturating_add(count);
            met[usize::from(code / 64)] |= 1 << (code % 64);
        }
        for code in (0..=u8::MAX)
            .step_by(64)
            .zip(met)
            .flat_map(|(first, met)| set_bits(met).map(move |bit| first + bit))
        {
            self.codes.push(code);
            self.counts.push(counts[usize::from(code)]);
        }
        self.end_rows([self.codes.len() as u32]);
    }

    /// Ends a row of a query of its own at each of these entries.
    fn end_rows(&mut self, ends: impl IntoIterator<Item = u32>) {
        let before = self.rows();
        self.offsets.extend(ends);
        if !self.shared.is_empty() {
            self.shared.extend(before as u32..self.rows() as u32);
        }
    }

    /// The number of rows; several queries may share a row.
    fn rows(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Appends a query with the judgments of an earlier query, which take no more memory. If all
    /// judgments are alike, this saves the time of writing the judgments again and of adding them
    /// up.
    pub(crate) fn push_again(&mut self, query: usize) {
        if self.shared.is_empty() {
            self.shared.extend(0..self.rows() as u32);
        }
        self.shared.push(self.shared[query]);
    }

    /// Appends `queries` queries by the number of their documents of each code from `first` on,
    /// `[query][code]`.
    pub(crate) fn push_all(&mut self, queries: usize, first: u8, counts: &[u32]) {
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
            for (code, &count) in (first..=255).zip(of_query) {
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

    /// Forgets all queries.
    pub(crate) fn clear(&mut self) {
        self.offsets.truncate(1);
        self.codes.clear();
        self.counts.clear();
        self.shared.clear();
    }

    /// Appends the queries of `others`, each with a row of its own.
    pub fn append(&mut self, others: &Facts) {
        if others.shared.is_empty() {
            let before = self.codes.len() as u32;
            self.codes.extend_from_slice(&others.codes);
            self.counts.extend_from_slice(&others.counts);
            self.end_rows(others.offsets.iter().skip(1).map(|offset| before + offset));
            return;
        }
        for query in 0..others.len() {
            let QueryFacts { codes, counts } = others.of(query);
            self.codes.extend_from_slice(codes);
            self.counts.extend_from_slice(counts);
            self.end_rows([self.codes.len() as u32]);
        }
    }

    /// Makes facts of the three columns of a file; `None` if the columns do not fit together.
    pub fn from_columns(offsets: Vec<u32>, codes: Vec<u8>, counts: Vec<u32>) -> Option<Self> {
        let ends = offsets.first() == Some(&0)
            && offsets.last().map(|&end| end as usize) == Some(codes.len());
        let ascending = offsets.is_sorted();
        if !ends || !ascending || codes.len() != counts.len() {
            return None;
        }
        Some(Facts { offsets, codes, counts, shared: Vec::new() })
    }

    /// Checks that every query has ascending codes below `codes` and from [`NEGATIVE`] on, each
    /// with a document at least, and no more than [`MOST_JUDGED`] documents together.
    pub fn check(&self, codes: usize) -> Result<(), String> {
        if self.is_plainly_sound(codes) {
            return Ok(());
        }
        let wrong =
            (0..self.len()).find_map(|query| Some((query, self.of(query).check(codes).err()?)));
        wrong.map_or(Ok(()), |(query, message)| {
            Err(format!("query {} of {}: {message}", query + 1, self.len()))
        })
    }

    /// Whether the whole columns show that [`Facts::check`] finds nothing wrong. A loop over the
    /// few codes of each query would end where no branch predictor expects it.
    fn is_plainly_sound(&self, codes: usize) -> bool {
        let least = self.counts.iter().copied().min().unwrap_or(1);
        let most = self.counts.iter().copied().max().unwrap_or(1);
        let first = self.codes.iter().copied().min().unwrap_or(NEGATIVE);
        let last = self.codes.iter().copied().max().unwrap_or(NEGATIVE);
        // Codes fall or stay only at the start of a query. So count all pairs that do not ascend,
        // and such pairs across the starts of queries: equal counts show that no such pair is
        // inside a query. An empty query shares its start with the next query, and is left out, so
        // that no start counts twice.
        let falls = |at: usize| usize::from(self.codes[at - 1] >= self.codes[at]);
        let starts = self.offsets.windows(2).filter(|of| of[0] < of[1] && of[0] > 0);
        let within = self.codes.windows(2).filter(|pair| pair[0] >= pair[1]).count();
        least > 0
            // A query has at most 256 codes. `check` looks at refused facts query by query.
            && u64::from(most) * 256 <= MOST_JUDGED
            && first >= NEGATIVE
            && usize::from(last) < codes
            && within == starts.map(|of| falls(of[0] as usize)).sum::<usize>()
    }

    /// The facts as columns, for a file. Each query has a row, because only facts of a block share
    /// rows.
    pub(crate) fn columns(&self) -> FactColumns<'_> {
        FactColumns { offsets: &self.offsets, codes: &self.codes, counts: &self.counts }
    }

    /// The number of queries.
    pub fn len(&self) -> usize {
        if self.shared.is_empty() { self.rows() } else { self.shared.len() }
    }

    /// Whether there are no queries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The facts of one query.
    pub fn of(&self, query: usize) -> QueryFacts<'_> {
        let row = self.shared.get(query).map_or(query, |&row| row as usize);
        let range = self.offsets[row] as usize..self.offsets[row + 1] as usize;
        QueryFacts { codes: &self.codes[range.clone()], counts: &self.counts[range] }
    }

    /// Computes, for every query, `value` of the sum of `term(code, count)` over its codes.
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
                for (out, of) in values.iter_mut().zip(offsets.windows(2)) {
                    let upto = |end: u32| sums[(end - offsets[0]) as usize];
                    *out = value(upto(of[1]).wrapping_sub(upto(of[0])));
                }
            },
        );
        if !self.shared.is_empty() {
            values = self.shared.iter().map(|&row| values[row as usize]).collect();
        }
        values
    }
}

/// The places of the set bits, ascending.
fn set_bits(mut bits: u64) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let lowest = bits.trailing_zeros() as u8;
        bits &= bits.wrapping_sub(1);
        (lowest < 64).then_some(lowest)
    })
}

/// The facts of all queries as columns.
pub(crate) struct FactColumns<'a> {
    /// The start of each query's entries, and the end of the last entries.
    pub offsets: &'a [u32],
    pub codes: &'a [u8],
    pub counts: &'a [u32],
}

/// The number of documents of each code, for a single query.
#[derive(Debug, Clone, Copy)]
pub struct QueryFacts<'a> {
    codes: &'a [u8],
    counts: &'a [u32],
}

impl<'a> QueryFacts<'a> {
    fn check(&self, codes: usize) -> Result<(), String> {
        let (mut least, mut judged) = (NEGATIVE.into(), 0);
        for (code, count) in self.iter() {
            if usize::from(code) < least || usize::from(code) >= codes {
                return Err(format!(
                    "code {code} where one from {least} to {} was expected",
                    codes - 1
                ));
            }
            if count == 0 {
                return Err(format!("no document has code {code}"));
            }
            least = usize::from(code) + 1;
            judged += u64::from(count);
        }
        if judged > MOST_JUDGED {
            return Err(format!(
                "{judged} judged documents, and the most that a query may have is {MOST_JUDGED}"
            ));
        }
        Ok(())
    }

    /// The codes that occur, ascending, with their counts.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u8, u32)> + Clone + use<'a> {
        std::iter::zip(self.codes.iter().copied(), self.counts.iter().copied())
    }

    /// The number of documents of the qrels in a set of codes.
    pub fn count(&self, set: Above) -> u64 {
        self.iter().filter(|&(code, _)| set.contains(code)).map(|(_, count)| u64::from(count)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whole columns and single queries say the same of every way to cut three entries into three
    /// queries.
    #[test]
    fn columns_are_sound_where_every_query_is() {
        let (mut sound, mut unsound) = (0, 0);
        let cuts =
            (0..=3).flat_map(|first| (first..=3).map(move |second| vec![0, first, second, 3]));
        for offsets in cuts {
            for number in 0..5usize.pow(3) * 8 {
                let codes = [1, 5, 25].map(|of| 1 + (number / of % 5) as u8).to_vec();
                let counts =
                    [0, 1, 2].map(|entry| (number / 125 / (1 << entry) % 2) as u32 * 7).to_vec();
                let facts =
                    Facts::from_columns(offsets.clone(), codes, counts).expect("columns that fit");
                let each = (0..3).all(|query| facts.of(query).check(5).is_ok());
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
        let (mut shared, mut own, mut all) = (Facts::new(), Facts::new(), Facts::new());
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
        shared.push_all(2, 3, &[0, 1, 2, 0]);
        own.push_all(2, 3, &[0, 1, 2, 0]);
        assert_eq!((shared.len(), shared.codes.len()), (own.len(), 5));
        for query in 0..own.len() {
            assert!(shared.of(query).iter().eq(own.of(query).iter()), "query {query}");
        }
        let weigh = |facts: &Facts| {
            facts.map_sums(|code, count| u64::from(code) * u64::from(count), |sum| sum as f64)
        };
        assert_eq!(weigh(&shared), weigh(&own));
        all.push([5]);
        all.append(&shared);
        all.append(&own);
        assert_eq!((all.len(), all.shared.len()), (1 + 2 * own.len(), 0));
        assert!((0..own.len()).all(|query| all.of(1 + query).iter().eq(own.of(query).iter())));
        shared.append(&own);
        assert!(shared.of(own.len() + 3).iter().eq(rows[2].iter().copied()));
        shared.clear();
        shared.push([6]);
        assert!(shared.len() == 1 && shared.of(0).iter().eq([(6, 1)]));
    }

    #[test]
    fn a_query_has_as_many_judged_documents_as_it_may_have() {
        let check = |counts: Vec<u32>| {
            Facts::from_columns(vec![0, 2], vec![2, 3], counts).unwrap().check(4)
        };
        let most = MOST_JUDGED as u32;
        assert_eq!(check(vec![most - 1, 1]), Ok(()));
        assert!(
            check(vec![most, 1])
                .unwrap_err()
                .starts_with("query 1 of 1: 268435457 judged documents")
        );
        assert!(check(vec![u32::MAX, u32::MAX]).is_err());
    }
}
