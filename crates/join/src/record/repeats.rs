//! Documents that a query has more than once.
//!
//! Each repetition of a document is a problem, and a file with repetitions is refused. Yet rows are
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

use std::hash::{BuildHasher, RandomState};

use super::packed::{Docnos, Record};
use crate::error::Problems;

/// The least number of rows for which a search for repeated rows pays: 32 MiB of records.
pub(crate) const MANY: usize = 1 << 20;
/// The number of rows that are drawn to decide whether a search pays.
const DRAWN: u64 = 1 << 16;

/// Returns pairs of the first record of a docno and a later record that repeats the docno, in input
/// order of the later records. All `records` belong to a single query.
pub(crate) fn repeats<'a>(
    records: &'a [Record],
    docnos: Docnos<'_>,
) -> Vec<(&'a Record, &'a Record)> {
    let mut found = Vec::new();
    each_repeated(records, docnos, |same| {
        found.extend(same[1..].iter().map(|&again| (same[0], again)));
    });
    found.sort_unstable_by_key(|(_, again)| again.at);
    found
}

/// Calls `take` with the records of each document that a query has more than once, in input order.
fn each_repeated<'a>(
    records: &'a [Record],
    docnos: Docnos<'_>,
    mut take: impl FnMut(&[&'a Record]),
) {
    let mut order: Vec<&Record> = records.iter().collect();
    order.sort_unstable_by(|one, other| {
        let by_docno = |one: &Record, other: &Record| docnos.of(one).cmp(docnos.of(other));
        let by_hash = (one.query, one.hash).cmp(&(other.query, other.hash));
        by_hash.then_with(|| by_docno(one, other)).then(one.at.cmp(&other.at))
    });
    let same = |one: &&Record, other: &&Record| {
        (one.query, one.hash) == (other.query, other.hash) && docnos.of(one) == docnos.of(other)
    };
    order.chunk_by(same).filter(|same| same.len() > 1).for_each(&mut take);
}

/// Drops records that repeat documents of their query, if records drawn at random have a document
/// in common. Each query keeps the first record of each document, and its earliest repeated
/// records. Returns the number of dropped records.
pub(crate) fn thin(records: &mut Vec<Record>, docnos: Docnos<'_>) -> u64 {
    if seems_repeated(records) { drop_repeated(records, docnos) } else { 0 }
}

fn drop_repeated(records: &mut Vec<Record>, docnos: Docnos<'_>) -> u64 {
    let mut again: Vec<(u32, u64)> = Vec::new();
    each_repeated(records, docnos, |same| {
        again.extend(same[1..].iter().map(|record| (record.query, record.at)));
    });
    again.sort_unstable();
    let dropped = again.chunk_by(|one, other| one.0 == other.0);
    let dropped = dropped.flat_map(|of_query| of_query.iter().skip(Problems::LIMIT)).copied();
    let dropped: Vec<(u32, u64)> = dropped.collect();
    drop(again);
    records.retain(|record| dropped.binary_search(&(record.query, record.at)).is_err());
    dropped.len() as u64
}

/// Whether records drawn at random have a document in common, as with many repeated documents.
fn seems_repeated(records: &[Record]) -> bool {
    let (random, count) = (RandomState::new(), records.len() as u64);
    let mut drawn: Vec<(u64, u32, u64)> = (0..DRAWN.min(count))
        .map(|draw| &records[(random.hash_one(draw) % count) as usize])
        .map(|record| (record.hash, record.query, record.at))
        .collect();
    drawn.sort_unstable();
    drawn.dedup(); // drawn twice
    drawn.windows(2).any(|pair| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::record::packed::address;

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
        let text = b"abcabdaa";
        let record = |at: u64| Record { hash: 7, at, length: 1, ..Record::default() };
        let mut all: Vec<Record> = (0..8).map(record).collect();
        all[3].hash = 8; // cannot happen to the same docno, and is not looked at
        let docnos = Docnos::Chunks { first: 0, chunks: &[text], text: true };
        let found: Vec<(u64, u64)> =
            repeats(&all, docnos).iter().map(|(first, again)| (first.at, again.at)).collect();
        assert_eq!(found, [(1, 4), (0, 6), (0, 7)]);
    }

    proptest! {
        #[test]
        fn what_is_left_says_the_same(rows in prop::collection::vec((0..3u32, 0..20u8), 1..300)) {
            let (text, all) = collected(&rows);
            let chunks: [&[u8]; 1] = [&text];
            let docnos = Docnos::Chunks { first: 0, chunks: &chunks, text: true };
            let mut left = all.clone();
            let dropped = drop_repeated(&mut left, docnos);
            prop_assert_eq!(left.len() as u64 + dropped, all.len() as u64);
            prop_assert!(left.is_sorted_by(|one, next| one.at < next.at));
            for query in 0..3 {
                let [all, left] = [&all, &left].map(|records| {
                    let of_query: Vec<Record> =
                        records.iter().filter(|record| record.query == query).copied().collect();
                    of_query
                });
                let [all, left] = [&all, &left].map(|records| repeats(records, docnos));
                prop_assert_eq!(left.len(), all.len().min(Problems::LIMIT));
                prop_assert_eq!(&all[..left.len()], &left[..]);
            }
            prop_assert_eq!(drop_repeated(&mut left, docnos), 0);
        }
    }

    #[test]
    fn few_rows_that_repeat_others_cost_nothing_to_keep() {
        let mut rows: Vec<Record> = (0..3 * DRAWN)
            .map(|at| Record { hash: at, at, length: 0, ..Record::default() })
            .collect();
        assert!(!seems_repeated(&rows));
        rows.iter_mut().step_by(2).for_each(|record| record.hash = 7);
        assert!(seems_repeated(&rows));
    }
}
