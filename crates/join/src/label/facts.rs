//! Facts: the judgments of a query apart from any ranking, as the number of documents of each code.
//!
//! The number of relevant documents at any level, the ideal ranking and the ideal DCG at any cutoff follow from it.

use rayon::prelude::*;

use super::code::{Above, NEGATIVE};

/// The most documents that the judgments of one query may have. With this limit a walk down an ideal ranking ends within seconds, and no
/// count or multiple of a count exceeds the integers of an engine.
pub const MOST_JUDGED: u64 = 1 << 28;

/// The number of queries whose facts are summed at once.
const PIECE: usize = 1 << 12;

/// The judged counts of all queries, as compressed rows: a query costs 5 bytes for each code that occurs in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    offsets: Vec<u32>,
    codes: Vec<u8>,
    counts: Vec<u32>,
}

impl Facts {
    /// Makes facts of no queries.
    pub fn new() -> Self {
        Facts { offsets: vec![0], codes: Vec::new(), counts: Vec::new() }
    }

    /// Appends a query whose documents carry these codes (2 … 255), in any order.
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
        self.offsets.push(self.codes.len() as u32);
    }

    /// Appends `queries` queries by the number of their documents of each code from `first` on, `[query][code]`.
    pub(super) fn push_all(&mut self, queries: usize, first: u8, counts: &[u32]) {
        let mut end = self.codes.len();
        if counts.is_empty() {
            self.offsets.extend(std::iter::repeat_n(end as u32, queries));
            return;
        }
        self.codes.resize(end + counts.len(), 0);
        self.counts.resize(end + counts.len(), 0);
        self.offsets.reserve(queries);
        for of_query in counts.chunks_exact(counts.len() / queries) {
            // All are written, and those that occur are kept: a branch on whether one occurs could not be predicted.
            for (code, &count) in (first..=255).zip(of_query) {
                (self.codes[end], self.counts[end]) = (code, count);
                end += usize::from(count > 0);
            }
            self.offsets.push(end as u32);
        }
        self.codes.truncate(end);
        self.counts.truncate(end);
    }

    /// Forgets all queries.
    pub(super) fn clear(&mut self) {
        self.offsets.truncate(1);
        self.codes.clear();
        self.counts.clear();
    }

    /// Appends the queries of `others`.
    pub fn append(&mut self, others: &Facts) {
        let before = self.codes.len() as u32;
        self.offsets.extend(others.offsets.iter().skip(1).map(|offset| before + offset));
        self.codes.extend_from_slice(&others.codes);
        self.counts.extend_from_slice(&others.counts);
    }

    /// Makes facts of the three columns of a file; `None` if the columns do not fit together.
    pub fn from_columns(offsets: Vec<u32>, codes: Vec<u8>, counts: Vec<u32>) -> Option<Self> {
        let ends =
            offsets.first() == Some(&0) && offsets.last().map(|&end| end as usize) == Some(codes.len());
        let ascending = offsets.is_sorted();
        if !ends || !ascending || codes.len() != counts.len() {
            return None;
        }
        Some(Facts { offsets, codes, counts })
    }

    /// Checks that every query has ascending codes below `codes` and from [`NEGATIVE`] on, each with a document at least, and no
    /// more than [`MOST_JUDGED`] documents together.
    pub fn check(&self, codes: usize) -> Result<(), String> {
        if self.is_plainly_sound(codes) {
            return Ok(());
        }
        let wrong = (0..self.len()).find_map(|query| Some((query, self.of(query).check(codes).err()?)));
        wrong.map_or(Ok(()), |(query, message)| {
            Err(format!("query {} of {}: {message}", query + 1, self.len()))
        })
    }

    /// Whether the whole columns show that [`Facts::check`] finds nothing wrong. A loop over the few codes of each query would end where no
    /// branch predictor expects it.
    fn is_plainly_sound(&self, codes: usize) -> bool {
        let least = self.counts.iter().copied().min().unwrap_or(1);
        let most = self.counts.iter().copied().max().unwrap_or(1);
        let first = self.codes.iter().copied().min().unwrap_or(NEGATIVE);
        let last = self.codes.iter().copied().max().unwrap_or(NEGATIVE);
        // Codes fall, or stay, only where the next query starts.
        // So all pairs that do not ascend are counted, and those across the starts of queries: the numbers are equal if no pair is inside
        // of a query. An empty query starts where the next one does, and is left out, so that no start counts twice.
        let falls = |at: usize| usize::from(self.codes[at - 1] >= self.codes[at]);
        let starts = self.offsets.windows(2).filter(|of| of[0] < of[1] && of[0] > 0);
        let within = self.codes.windows(2).filter(|pair| pair[0] >= pair[1]).count();
        least > 0
            // A query has at most 256 codes. What this refuses is looked at query by query.
            && u64::from(most) * 256 <= MOST_JUDGED
            && first >= NEGATIVE
            && usize::from(last) < codes
            && within == starts.map(|of| falls(of[0] as usize)).sum::<usize>()
    }

    /// The facts as columns.
    pub(super) fn columns(&self) -> FactColumns<'_> {
        FactColumns { offsets: &self.offsets, codes: &self.codes, counts: &self.counts }
    }

    /// The number of queries.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there are no queries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The facts of one query.
    pub fn of(&self, query: usize) -> QueryFacts<'_> {
        let range = self.offsets[query] as usize..self.offsets[query + 1] as usize;
        QueryFacts { codes: &self.codes[range.clone()], counts: &self.counts[range] }
    }

    /// Computes, for every query, `value` of the sum of `term(code, count)` over its codes.
    ///
    /// The running sum over all queries comes first, and the sum of a query is a difference of two running sums: a loop over the few codes
    /// of each query ends where no branch predictor expects it, which costs three times as much.
    pub fn map_sums(
        &self,
        term: impl Fn(u8, u32) -> u64 + Sync,
        value: impl Fn(u64) -> f64 + Sync,
    ) -> Vec<f64> {
        let mut values = vec![0.0; self.len()];
        values.par_chunks_mut(PIECE).enumerate().for_each_init(Vec::new, |sums, (piece, values)| {
            let offsets = &self.offsets[piece * PIECE..][..values.len() + 1];
            let entries = offsets[0] as usize..offsets[values.len()] as usize;
            let facts = self.codes[entries.clone()].iter().zip(&self.counts[entries]);
            let mut sum = 0u64;
            sums.clear();
            sums.push(0);
            sums.extend(facts.map(|(&code, &count)| {
                // The sum over all queries may wrap. A difference is right all the same where the sum of the one query fits.
                sum = sum.wrapping_add(term(code, count));
                sum
            }));
            for (out, of) in values.iter_mut().zip(offsets.windows(2)) {
                let upto = |end: u32| sums[(end - offsets[0]) as usize];
                *out = value(upto(of[1]).wrapping_sub(upto(of[0])));
            }
        });
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
pub(super) struct FactColumns<'a> {
    /// Where the entries of each query begin, and at the end where the last ones end.
    pub offsets: &'a [u32],
    pub codes: &'a [u8],
    pub counts: &'a [u32],
}

/// The number of documents of one query that carry each code.
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
                return Err(format!("code {code} where one from {least} to {} was expected", codes - 1));
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

    /// Whole columns and single queries say the same of every way to cut three entries into three queries.
    #[test]
    fn columns_are_sound_where_every_query_is() {
        let (mut sound, mut unsound) = (0, 0);
        let cuts = (0..=3).flat_map(|first| (first..=3).map(move |second| vec![0, first, second, 3]));
        for offsets in cuts {
            for number in 0..5usize.pow(3) * 8 {
                let codes = [1, 5, 25].map(|of| 1 + (number / of % 5) as u8).to_vec();
                let counts = [0, 1, 2].map(|entry| (number / 125 / (1 << entry) % 2) as u32 * 7).to_vec();
                let facts = Facts::from_columns(offsets.clone(), codes, counts).expect("columns that fit");
                let each = (0..3).all(|query| facts.of(query).check(5).is_ok());
                assert_eq!((facts.is_plainly_sound(5), facts.check(5).is_ok()), (each, each), "{facts:?}");
                *if each { &mut sound } else { &mut unsound } += 1;
            }
        }
        assert!(sound > 50 && unsound > 50, "{sound} sound, {unsound} unsound");
    }

    #[test]
    fn a_query_has_as_many_judged_documents_as_it_may_have() {
        let check = |counts: Vec<u32>| Facts::from_columns(vec![0, 2], vec![2, 3], counts).unwrap().check(4);
        let most = MOST_JUDGED as u32;
        assert_eq!(check(vec![most - 1, 1]), Ok(()));
        assert!(check(vec![most, 1]).unwrap_err().starts_with("query 1 of 1: 268435457 judged documents"));
        assert!(check(vec![u32::MAX, u32::MAX]).is_err());
    }
}
