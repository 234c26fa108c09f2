//! The finding and dropping of documents that one query of qrels or of a run has more than once.
//!
//! Each repetition of a document is a problem, and a file with repetitions is refused, except that a
//! judgment may be repeated with the same grade. Yet rows are
//! kept until their query is complete, and a compressed file of a few kilobytes can repeat one row
//! sixty million times. So repeated rows are dropped now and then while rows are collected. Each
//! query keeps the first row of every document, and as many of the earliest repeated rows as a
//! message shows. The remaining rows and the number of dropped rows give the same message as all
//! rows would.
//!
//! Looking for repeated rows means sorting all of them, which a large honest query should not pay
//! for. So some rows are drawn at random first. 2¹⁶ rows are some 2³¹ pairs. If half of the rows
//! repeat d documents, a quarter of the pairs are of such rows, and one in d of these pairs has
//! equal documents: 2²⁹/d pairs, some thousands wherever dropping pays. The draw costs a few
//! milliseconds each time that the number of rows has quadrupled.

use std::cmp::Ordering;
use std::hash::{BuildHasher, RandomState};
use std::ops::AddAssign;

use super::layout::{Docnos, Record};
use crate::error::Problems;
use crate::lines::diagnostics::Diagnostics;

/// The least number of rows for which a search for repeated rows pays: 32 MiB of records.
pub(crate) const MANY: usize = 1 << 20;
/// The number of rows that are drawn to decide whether a search pays.
const DRAWN: u64 = 1 << 16;

/// Returns what `pair` makes of each record that repeats a document of its query, and of the first
/// record of the document.
fn duplicates<'a, T>(
    records: &'a [Record],
    docnos: Docnos<'_>,
    pair: impl Fn(&'a Record, &'a Record) -> T,
) -> Vec<T> {
    let mut order: Vec<_> = records.iter().collect();
    sort_by_document(&mut order, docnos);
    let same = order.chunk_by(|one, other| by_document(one, other, docnos).is_eq());
    same.flat_map(|same| same[1..].iter().map(|again| pair(same[0], again))).collect()
}

/// Returns the records of a query that repeat a document, in input order, each behind the first
/// record of the document.
pub(crate) fn repeated<'a>(
    records: &'a [Record],
    docnos: Docnos<'_>,
) -> Vec<(&'a Record, &'a Record)> {
    let mut found = duplicates(records, docnos, |first, again| (first, again));
    found.sort_unstable_by_key(|(_, again)| again.at);
    found
}

/// Reports each record of a query that repeats a document; `message` is made of the first record
/// and it.
pub(crate) fn report_duplicates(
    records: &[Record],
    docnos: Docnos<'_>,
    findings: &mut Diagnostics,
    message: impl Fn(&Record, &Record) -> String,
) {
    for (first, again) in repeated(records, docnos) {
        findings.add(again.at, || docnos.repeat(again, first, message(first, again)));
    }
}

/// The number of records that were dropped because they repeat a document of their query: with the
/// number of its first record, and with another one.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(crate) struct DroppedRepeats {
    pub identical: u64,
    pub different: u64,
}

impl AddAssign for DroppedRepeats {
    fn add_assign(&mut self, other: Self) {
        self.identical += other.identical;
        self.different += other.different;
    }
}

impl DroppedRepeats {
    /// Returns the number of all records that were dropped.
    pub fn all(self) -> u64 {
        self.identical + self.different
    }
}

/// Drops records that repeat documents of their query, if a random sample of records has repeats.
/// Each query keeps the first record of each document, and the earliest of its repeated records,
/// both of those with the same number and of those with another one.
pub(crate) fn drop_duplicates(records: &mut Vec<Record>, docnos: Docnos<'_>) -> DroppedRepeats {
    if seems_repeated(records, docnos) {
        drop_repeated(records, docnos)
    } else {
        DroppedRepeats::default()
    }
}

/// Drops records that repeat documents of their query, except the earliest few.
fn drop_repeated(records: &mut Vec<Record>, docnos: Docnos<'_>) -> DroppedRepeats {
    let mut again =
        duplicates(records, docnos, |first, again| (again.query, first.key != again.key, again.at));
    again.sort_unstable();
    let mut dropped: Vec<_> = again
        .chunk_by(|one, other| (one.0, one.1) == (other.0, other.1))
        .flat_map(|alike| alike.iter().skip(Problems::LIMIT).copied())
        .collect();
    // Both lists may be as long as the records: the first is freed before records are looked up.
    drop(again);
    let different = dropped.iter().filter(|(_, is_different, _)| *is_different).count() as u64;
    dropped.sort_unstable_by_key(|&(query, _, at)| (query, at));
    records.retain(|record| {
        let place = (record.query, record.at);
        dropped.binary_search_by_key(&place, |&(query, _, at)| (query, at)).is_err()
    });
    DroppedRepeats { identical: dropped.len() as u64 - different, different }
}

/// Returns whether documents of a query are probably repeated many times, by a random sample of
/// records.
fn seems_repeated(records: &[Record], docnos: Docnos<'_>) -> bool {
    // The draw is random, so that no text can place its repeated rows where the draw misses them.
    let (random, count) = (RandomState::new(), records.len() as u64);
    let mut drawn: Vec<_> = (0..DRAWN.min(count))
        .map(|draw| &records[(random.hash_one(draw) % count) as usize])
        .collect();
    sort_by_document(&mut drawn, docnos);
    drawn.dedup_by_key(|record| record.at); // drawn twice
    drawn.windows(2).any(|pair| by_document(pair[0], pair[1], docnos).is_eq())
}

/// Sorts records by query, document and place.
fn sort_by_document(records: &mut [&Record], docnos: Docnos<'_>) {
    records
        .sort_unstable_by(|one, other| by_document(one, other, docnos).then(one.at.cmp(&other.at)));
}

/// Compares two records by query and document, and judgments by facet also by their groups, which
/// they have in the place of the hash.
fn by_document(one: &Record, other: &Record, docnos: Docnos<'_>) -> Ordering {
    let by_hash = (one.query, one.hash).cmp(&(other.query, other.hash));
    // Docnos are compared only where hashes are equal, so most pairs cost no random access.
    by_hash.then_with(|| docnos.get(one).cmp(docnos.get(other)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::lines::layout::RankColumn;
    use crate::record::layout::address;

    /// Returns the docnos of records of the text that `chunks` are.
    fn in_text<'t>(chunks: &'t [&'t [u8]]) -> Docnos<'t> {
        Docnos::Chunks { first: 0, chunks, text: true, ranks: RankColumn::OfTrec }
    }

    /// Records of some documents `a`, `b`, … of some queries, in the text that is made of them.
    fn collected(rows: &[(u32, u8)]) -> (Vec<u8>, Vec<Record>) {
        let text: Vec<u8> = rows.iter().map(|(_, document)| b'a' + document).collect();
        let record = |(at, &(query, document)): (usize, &(u32, u8))| Record {
            hash: u64::from(document / 2), // two documents have one hash
            at: address(0, at),
            length: 1,
            query,
            ..Record::default()
        };
        (text, rows.iter().enumerate().map(record).collect())
    }

    #[test]
    fn repeats_are_told_from_colliding_hashes() {
        let text = b"abcabdaa".as_slice();
        let record = |at: u64| Record { hash: 7, at, length: 1, ..Record::default() };
        let mut all: Vec<Record> = (0..8).map(record).collect();
        all[3].hash = 8; // cannot happen to the same docno, and is not looked at
        let found: Vec<_> = repeated(&all, in_text(&[text]))
            .iter()
            .map(|(first, again)| (first.at, again.at))
            .collect();
        assert_eq!(found, [(1, 4), (0, 6), (0, 7)]);
    }

    proptest! {
        #[test]
        fn what_is_left_says_the_same(rows in prop::collection::vec((0..3u32, 0..20u8), 1..300)) {
            let (text, all) = collected(&rows);
            let chunks = [&text[..]];
            let docnos = in_text(&chunks);
            let mut left = all.clone();
            let dropped = drop_repeated(&mut left, docnos);
            prop_assert_eq!(left.len() as u64 + dropped.all(), all.len() as u64);
            prop_assert!(left.is_sorted_by(|one, next| one.at < next.at));
            for query in 0..3 {
                let [all, left] = [&all, &left].map(|records| {
                    let of_query = records.iter().filter(|record| record.query == query);
                    of_query.copied().collect::<Vec<_>>()
                });
                let [all, left] = [&all, &left].map(|records| repeated(records, docnos));
                prop_assert_eq!(left.len(), all.len().min(Problems::LIMIT));
                prop_assert_eq!(&all[..left.len()], &left[..]);
            }
            prop_assert_eq!(drop_repeated(&mut left, docnos), DroppedRepeats::default());
        }
    }

    #[test]
    fn few_rows_that_repeat_others_cost_nothing_to_keep() {
        let mut rows: Vec<_> =
            (0..3 * DRAWN).map(|at| Record { hash: at, at, ..Record::default() }).collect();
        let text = vec![0; rows.len()];
        let chunks = [&text[..]];
        let docnos = in_text(&chunks);
        assert!(!seems_repeated(&rows, docnos));
        rows.iter_mut().step_by(2).for_each(|record| record.hash = 7);
        assert!(seems_repeated(&rows, docnos));
    }
}
