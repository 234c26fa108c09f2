//! The results of one query become its row of labels: duplicates, order, lookup.
//!
//! ```text
//! duplicates   every hash takes the slot it belongs to, and notes who had it before:
//!              nobody of this query → it is the first there;
//!              another → their hashes are compared, then with the one before that.
//!              One pass without a branch a result; the same hash → perhaps a duplicate
//!              (compare bytes).
//! order        already ranked → nothing to do;
//!              else sort by (key, input), then sort the docnos of equal keys
//! lookup       one bit of the query's filter tells nearly every unjudged document
//! ```
//!
//! **Duplicates.** A duplicate is an error of almost no file, so a first pass asks only whether a
//! duplicate is possible, from the hashes alone. Two equal hashes share a slot, and the later
//! result is compared with all earlier results in the slot: no duplicate is overlooked. With two to
//! four slots for each result, between an eighth and a fifth of the results meet another result,
//! and fewer than a fifth of these meet a second. If a duplicate is possible, the bytes are
//! compared, and two different ids with equal hashes are no duplicate.
//!
//! **Order.** A key of 64 bits and the number of the line make one integer of 96. All integers
//! differ, so an unstable sort puts equal keys in the order of the input, and comparing them needs
//! no second look. Runs are nearly always written in the order of their scores, which takes one
//! pass to see (0.22 s for the whole medium run, 0.37 s with the lines of each query shuffled,
//! benches/RESULTS.md).
//!
//! **Ties.** By the rule equal scores are ordered by docno, and yet hardly a docno is read: a tied
//! group with equal labels gives the same row in any order, and most groups have no judged
//! document. Where labels differ the docnos are fetched and sorted, and the row has the bytes that
//! sorting everything would give.

use std::borrow::Cow;

use super::doc_table::{DocTable, Shelf};
use super::seen::{RankedResults, may_differ_in_f32};
use super::united::{Uniting, UnitsAsked};
use crate::lines::diagnostics::{Finding, Findings, quoted};
use crate::matrix::code::UNPOOLED;
use crate::matrix::{ScoresSeen, StagedTies};
use crate::record::packed::{ColumnRows, Docnos, Record, by_docno};
use crate::record::repeats::repeats;
use crate::rule::{RankingRule, ScoreType, Ties};

/// The most results of a query: they are numbered by 32 bits, and tiles are as deep as a multiple
/// of four.
const MOST_RESULTS: usize = u32::MAX as usize - 3;

/// The error of a query with more lines than can be numbered.
pub(crate) fn too_many(query: &[u8], lines: usize, most: usize) -> Option<String> {
    (lines > most)
        .then(|| format!("query {} has {lines} lines: there can be {most} at most", quoted(query)))
}

/// The place of the labels of rankings, and of the codes and keys of named documents if keys are
/// kept.
type MadeLabels<'a> = (&'a mut Vec<u8>, Option<&'a mut Vec<(u8, u64)>>);

/// The most results of a slot that are compared before the bytes of all docnos are.
const MOST_IN_A_SLOT: usize = 64;

/// The slots for results by hash; equal hashes share a slot. Numbers of results go on from query to
/// query.
#[derive(Debug)]
struct HashSlots {
    /// The last result of each slot.
    last: Vec<u32>,
    /// The number of the first result of the query.
    first: u32,
    /// For each result of the query, the previous result in the same slot.
    before: Vec<u32>,
    /// Pairs of results with a common slot, as two lists: the later results, and the earlier
    /// results.
    meeting: [Vec<u32>; 2],
}

impl Default for HashSlots {
    fn default() -> Self {
        HashSlots { last: Vec::new(), first: 1, before: Vec::new(), meeting: Default::default() }
    }
}

/// A maker of rows of labels; its buffers are reused from query to query.
#[derive(Debug)]
pub(crate) struct Ranker {
    rule: RankingRule,
    /// Whether duplicates are looked for only among the ranks that are kept.
    late: bool,
    /// Whether there are no duplicates, because results were put together.
    distinct: bool,
    slots: HashSlots,
    /// The results that may be judged, by the filter.
    candidates: Vec<u32>,
    /// The key and the number of each result, in one number that sorts by both.
    order: Vec<u128>,
    /// What `order` is sorted by: as much of each key as there is room for beside the number.
    short: Vec<u64>,
    /// The findings about the scores.
    pub seen: ScoresSeen,
    /// The groups of equal scores, if they are kept; empty for scores that the rank column orders.
    pub tied: Option<StagedTies>,
    /// The problems of rank columns, if they order equal scores.
    pub wrong_ranks: Findings,
}

/// The results of one query that are to be ranked with the keys of their documents.
#[derive(Clone, Copy)]
struct KeyedQuery<'r> {
    query: &'r [u8],
    records: &'r [Record],
    docnos: Docnos<'r>,
    /// The number of results to keep.
    depth: usize,
    /// Whether duplicates are still to be looked for, among these.
    late: bool,
}

impl Ranker {
    /// Makes a ranker of a rule; `late` looks for duplicates only among the ranks that are kept.
    pub fn new(rule: RankingRule, late: bool) -> Self {
        Ranker {
            rule,
            late,
            distinct: false,
            slots: HashSlots::default(),
            candidates: Vec::new(),
            order: Vec::new(),
            short: Vec::new(),
            seen: ScoresSeen::default(),
            tied: None,
            wrong_ranks: Findings::default(),
        }
    }

    /// Makes a ranker of the results of units, which were put together.
    pub fn of_units(asked: &UnitsAsked, rule: RankingRule) -> Self {
        let distinct = Uniting::are_distinct(asked);
        Ranker { distinct, ..Ranker::new(Uniting::rule_of_units(asked, rule), false) }
    }

    /// Sets whether the groups of equal scores are kept.
    pub fn keeping_ties(self, keep: bool) -> Self {
        Ranker { tied: (keep && self.rule.ties != Ties::Rank).then(StagedTies::default), ..self }
    }

    /// Appends the labels of the results of one query, given in input order, and returns their
    /// number; and the codes and keys of the named ones, if keys are kept. Duplicate docnos become
    /// findings.
    pub fn rank(
        &mut self,
        query: &[u8],
        records: &[Record],
        docnos: Docnos<'_>,
        judged: (&Shelf, DocTable),
        (labels, keys): MadeLabels<'_>,
        findings: &mut Findings,
    ) -> u32 {
        if let Some(message) = too_many(query, records.len(), MOST_RESULTS) {
            findings.add(records[0].at, || Finding {
                position: docnos.position(&records[0]),
                message,
                earlier: None,
            });
            return 0;
        }
        let records = &self.by_rule(query, records, docnos)[..];
        let depth =
            self.rule.depth.map_or(records.len(), |depth| records.len().min(depth as usize));
        // trec_eval looks for duplicates after `-M` has cut the ranking (form_res_rels.c), so a
        // duplicate further down is none there.
        let late = self.late && depth < records.len();
        if !late && !self.distinct && self.may_repeat(records.len(), |at| records[at].hash) {
            report_repeats(query, records, docnos, findings);
        }
        let label = |record: &Record| label_of(record, judged, docnos);
        let first = labels.len();
        if let Some(keys) = keys {
            let of = KeyedQuery { query, records, docnos, depth, late };
            self.rank_keyed(of, judged, labels, keys, findings);
            return depth as u32;
        }
        let order = KeyOrder::of(records, |record| record.key);
        if order != KeyOrder::Other && !late {
            // The group that the last rank cuts is labelled as a whole, for which of its documents
            // are kept depends on their docnos.
            let kept = with_ties(records, depth, |record| record.key);
            self.add_labels(kept.len(), |at| kept[at], judged, docnos, labels);
            if order == KeyOrder::Ascending {
                self.settle_ties(depth, |at| &records[at], docnos, &mut labels[first..]);
            }
            let ranked = RankedResults { count: records.len(), record: |at: usize| &records[at] };
            self.seen.see(&self.rule, &labels[first..first + depth], ranked, &label, docnos);
        } else {
            self.sort(records);
            if late {
                self.sort_ties(records, docnos);
                let kept = self.order[..depth].iter().map(|&at| records[number(at)]).collect();
                self.check_kept(query, kept, docnos, findings);
            }
            let order = std::mem::take(&mut self.order);
            let record = |at: usize| &records[number(order[at])];
            let kept = with_ties(&order, depth, |at| at >> 32).len();
            self.add_labels(kept, |at| *record(at), judged, docnos, labels);
            self.settle_ties(depth, record, docnos, &mut labels[first..]);
            let ranked = RankedResults { count: records.len(), record };
            self.seen.see(&self.rule, &labels[first..first + depth], ranked, &label, docnos);
            self.order = order;
        }
        labels.truncate(first + depth);
        depth as u32
    }

    /// Does what `rank` does for rows of columns that are in order, are all kept, and of which
    /// nothing needs a closer look. Otherwise returns `None`, and has done nothing.
    pub fn rank_rows(
        &mut self,
        rows: ColumnRows<'_>,
        docnos: Docnos<'_>,
        judged: (&Shelf, DocTable),
        labels: &mut Vec<u8>,
    ) -> Option<u32> {
        let (keys, count, first) = (rows.keys, rows.keys.len(), labels.len());
        let are_kept = self.rule.depth.is_none_or(|depth| depth as usize >= count);
        if !are_kept || count > MOST_RESULTS || self.rule.ties == Ties::Rank {
            return None;
        }
        let are_tied = match KeyOrder::of(keys, |&key| key) {
            KeyOrder::Strict => false,
            KeyOrder::Ascending if self.tied.is_none() => true,
            _ => return None,
        };
        if self.may_repeat(count, |at| rows.hashed[at].hash) {
            return None;
        }
        self.add_labels(count, |at| rows.record(at), judged, docnos, labels);
        let made = &labels[first..];
        let is_mixed =
            |(keys, labels): (&[u64], &[u8])| (keys[0] == keys[1]) & (labels[0] != labels[1]);
        let mixed = are_tied && std::iter::zip(keys.windows(2), made.windows(2)).any(is_mixed);
        if mixed || self.rule.score == ScoreType::F64 && may_differ_in_f32(made, keys) {
            labels.truncate(first);
            return None;
        }
        self.seen.see_ends(made, count, Some([keys[0], keys[count - 1]]));
        Some(count as u32)
    }

    /// Appends the labels of the results of one query, and the codes and keys of the named ones.
    ///
    /// Keys are of single documents, so their order counts even where labels are the same: here
    /// ties are sorted first, all of them.
    fn rank_keyed(
        &mut self,
        of: KeyedQuery<'_>,
        judged: (&Shelf, DocTable),
        labels: &mut Vec<u8>,
        keys: &mut Vec<(u8, u64)>,
        findings: &mut Findings,
    ) {
        let KeyedQuery { query, records, docnos, depth, late } = of;
        self.sort(records);
        self.sort_ties(records, docnos);
        let record = |at: usize| &records[number(self.order[at])];
        if late {
            let kept = (0..depth).map(|at| *record(at)).collect();
            self.check_kept(query, kept, docnos, findings);
        }
        let record = |at: usize| &records[number(self.order[at])];
        let first = labels.len();
        judged.0.fetch(judged.1, depth);
        for at in 0..with_ties(&self.order, depth, |at| at >> 32).len() {
            let (shelf, table) = judged;
            let found = shelf.keyed(table, record(at).hash, || docnos.of(record(at)));
            labels.push(found.map_or(UNPOOLED, |(code, _)| code));
            keys.extend(found.filter(|_| at < depth));
        }
        if let Some(tied) = &mut self.tied {
            note_ties(tied, depth, record, &labels[first..]);
        }
        labels.truncate(first + depth);
        let label = |record: &Record| label_of(record, judged, docnos);
        let ranked = RankedResults { count: records.len(), record };
        self.seen.see(&self.rule, &labels[first..], ranked, &label, docnos);
    }

    /// The results of one query in the order of the rule, best first. [`Ranker::rank`] reports
    /// their problems.
    pub fn ordered(&mut self, query: &[u8], records: &[Record], docnos: Docnos<'_>) -> Vec<Record> {
        let records = &self.by_rule(query, records, docnos)[..];
        self.sort(records);
        self.sort_ties(records, docnos);
        self.order.iter().map(|&at| records[number(at)]).collect()
    }

    /// The results in input order, or by the rank column if the rule asks for it.
    #[inline(always)]
    fn by_rule<'r>(
        &mut self,
        query: &[u8],
        records: &'r [Record],
        docnos: Docnos<'_>,
    ) -> Cow<'r, [Record]> {
        match self.rule.ties {
            Ties::Rank => Cow::Owned(self.by_rank_column(query, records, docnos)),
            _ => Cow::Borrowed(records),
        }
    }

    /// Returns the results by score, equal scores by the rank column. Reports ranks that are not
    /// integers, and ranks that occur twice among equal scores.
    #[cold]
    pub fn by_rank_column(
        &mut self,
        query: &[u8],
        records: &[Record],
        docnos: Docnos<'_>,
    ) -> Vec<Record> {
        let mut ranked: Vec<(u64, i64, Record)> = Vec::with_capacity(records.len());
        for record in records {
            let rank = docnos.rank_column(record).unwrap_or_else(|| {
                self.wrong_ranks.add(record.at, || {
                    let message = format!(
                        "rank {} is not an integer, and equal scores are to be ordered by it",
                        quoted(docnos.rank_field(record))
                    );
                    Finding { position: docnos.position(record), message, earlier: None }
                });
                0
            });
            ranked.push((record.key, rank, *record));
        }
        ranked.sort_unstable_by_key(|(key, rank, record)| (*key, *rank, record.at));
        let is_rank = |record: &Record| docnos.rank_column(record).is_some();
        for tied in ranked.chunk_by(|one, next| (one.0, one.1) == (next.0, next.1)) {
            let mut tied = tied
                .iter()
                .map(|(_, rank, record)| (rank, record))
                .filter(|(_, record)| is_rank(record));
            let Some((_, first)) = tied.next() else { continue };
            for (rank, record) in tied {
                self.wrong_ranks.add(record.at, || {
                    let message = format!(
                        "rank {rank} occurs again among equal scores of query {}, first on line",
                        quoted(query)
                    );
                    let (position, earlier) =
                        (docnos.position(record), Some(docnos.position(first)));
                    Finding { position, message, earlier }
                });
            }
        }
        ranked.into_iter().map(|(_, _, record)| record).collect()
    }

    /// Looks for duplicates among the results that are kept.
    fn check_kept(
        &mut self,
        query: &[u8],
        kept: Vec<Record>,
        docnos: Docnos<'_>,
        findings: &mut Findings,
    ) {
        if self.may_repeat(kept.len(), |at| kept[at].hash) {
            report_repeats(query, &kept, docnos, findings);
        }
    }

    /// Whether two results may have the same docno, because their hashes are equal.
    #[inline(never)]
    fn may_repeat(&mut self, count: usize, hash: impl Fn(usize) -> u64) -> bool {
        let HashSlots { last, first, before, meeting: [one, other] } = &mut self.slots;
        let size = (count * 2).next_power_of_two().max(64);
        last.resize(size.max(last.len()), 0);
        [&mut *before, one, other]
            .into_iter()
            .for_each(|each| each.resize(count.max(each.len()), 0));
        // Invariant: a number below `first` is that of a result of another query, so slots need not
        // be cleared before numbers run out.
        if u32::MAX - *first <= count as u32 {
            last.fill(0);
            *first = 1;
        }
        let next = *first + count as u32;
        let first = std::mem::replace(first, next);
        let (last, before, one, other) =
            (&mut last[..size], &mut before[..count], &mut one[..count], &mut other[..count]);
        let mut met = 0;
        for at in 0..count {
            let slot = &mut last[hash(at) as usize & (size - 1)];
            before[at] = std::mem::replace(slot, first + at as u32);
            // Write every result down, but count only results that met another: no branch to
            // mispredict.
            one[met] = at as u32;
            met += usize::from(before[at] >= first);
        }
        std::iter::zip(&mut *other, &one[..met])
            .for_each(|(other, &one)| *other = before[one as usize] - first);
        let (mut repeats, mut rounds) = (false, 0);
        while met > 0 && !repeats {
            rounds += 1;
            if rounds > MOST_IN_A_SLOT {
                return true; // let the bytes decide
            }
            let mut left = 0;
            for at in 0..met {
                let pair = [one[at], other[at]].map(|number| number as usize);
                repeats |= hash(pair[0]) == hash(pair[1]);
                let next = before[pair[1]];
                (one[left], other[left]) = (one[at], next.wrapping_sub(first));
                left += usize::from(next >= first);
            }
            met = left;
        }
        repeats
    }

    /// Appends the labels of `count` results; `record` gives the record of each.
    ///
    /// Results that may be judged are listed first, without a branch for each, and looked up then.
    #[inline(always)]
    fn add_labels(
        &mut self,
        count: usize,
        record: impl Fn(usize) -> Record,
        (shelf, table): (&Shelf, DocTable),
        docnos: Docnos<'_>,
        labels: &mut Vec<u8>,
    ) {
        let first = labels.len();
        labels.resize(first + count, UNPOOLED);
        let labels = &mut labels[first..];
        shelf.fetch(table, count);
        self.candidates.resize(count.max(self.candidates.len()), 0);
        let (filter, candidates) = (shelf.filter(table), &mut self.candidates[..count]);
        let mut found = 0;
        for at in 0..count {
            candidates[found] = at as u32;
            found += usize::from(filter.passes(record(at).hash));
        }
        for &at in &candidates[..found] {
            let record = record(at as usize);
            if let Some(code) = shelf.code_behind_filter(table, record.hash, &|| docnos.of(&record))
            {
                labels[at as usize] = code;
            }
        }
    }

    /// Sorts the results into `order`, equal scores in input order.
    fn sort(&mut self, records: &[Record]) {
        self.order.clear();
        if records.is_sorted_by_key(|record| record.key) {
            let place =
                |(number, record): (usize, &Record)| u128::from(record.key) << 32 | number as u128;
            self.order.extend(records.iter().enumerate().map(place));
        } else {
            self.sort_shuffled(records);
        }
    }

    /// Sorts unordered results into `order`, which is empty.
    ///
    /// Numbers of 64 bits are sorted twice as fast as numbers of 128 bits. The keys of a query have
    /// much in common. The differing bits of a key lose a bit or two where the number of the result
    /// needs the room. Different keys that the cut made equal are sorted afterwards.
    fn sort_shuffled(&mut self, records: &[Record]) {
        let (least, most) = records.iter().fold((u64::MAX, 0), |(least, most), record| {
            (least.min(record.key), most.max(record.key))
        });
        // Invariant: there are at least two results, because fewer would be sorted already. There
        // are fewer than 2³² results (`too_many`), so that number and key do not overlap.
        let bits = usize::BITS - (records.len() - 1).leading_zeros();
        let cut = (64 - (most - least).leading_zeros() + bits).saturating_sub(64);
        let short = |(number, record): (usize, &Record)| {
            (record.key - least) >> cut << bits | number as u64
        };
        self.short.clear();
        self.short.extend(records.iter().enumerate().map(short));
        self.short.sort_unstable();
        let numbers = (1u64 << bits) - 1;
        self.order.extend(self.short.iter().map(|short| {
            let number = short & numbers;
            u128::from(records[number as usize].key) << 32 | u128::from(number)
        }));
        if cut > 0 && !self.order.is_sorted() {
            let key = |place: &u128| ((place >> 32) as u64 - least) >> cut;
            let same = |one: &u128, next: &u128| key(one) == key(next);
            self.order.chunk_by_mut(same).for_each(<[u128]>::sort_unstable);
        }
    }

    /// Sorts equal scores in `order` by the rule.
    fn sort_ties(&mut self, records: &[Record], docnos: Docnos<'_>) {
        let docno = |&at: &u128| docnos.of(&records[number(at)]);
        let by_docno = by_docno(self.rule.ties);
        for tied in self.order.chunk_by_mut(|one, next| one >> 32 == next >> 32) {
            // Stable: a rule without an order of docnos leaves the order of the input.
            tied.sort_by(|one, other| by_docno(docno(one), docno(other)));
        }
    }

    /// Puts the labels of equal scores in the order of the rule, and notes the groups of these if
    /// they are kept.
    #[inline(always)]
    fn settle_ties<'a>(
        &mut self,
        depth: usize,
        record: impl Fn(usize) -> &'a Record,
        docnos: Docnos<'_>,
        labels: &mut [u8],
    ) {
        self.order_ties(&record, docnos, labels);
        if let Some(tied) = &mut self.tied {
            note_ties(tied, depth, record, labels);
        }
    }

    /// Puts the labels of equal scores in the order of the rule, if the scores descend already;
    /// `record` gives the record of a label. Tied labels that are all equal, as nearly always, stay
    /// in place.
    fn order_ties<'a>(
        &self,
        record: impl Fn(usize) -> &'a Record,
        docnos: Docnos<'_>,
        labels: &mut [u8],
    ) {
        let (by_docno, mut first) = (by_docno(self.rule.ties), 0);
        let key = |at: usize| record(at).key;
        while let Some(alone) = (first + 1..labels.len()).position(|at| key(at - 1) == key(at)) {
            first += alone;
            let other = (first + 2..labels.len()).find(|&at| key(at) != key(first));
            let end = other.unwrap_or(labels.len());
            let tied = &mut labels[first..end];
            if tied.iter().any(|&label| label != tied[0]) {
                let mut order: Vec<(&[u8], u8)> = (first..end)
                    .map(|at| docnos.of(record(at)))
                    .zip(tied.iter().copied())
                    .collect();
                sort_by_docno(&mut order, by_docno);
                std::iter::zip(tied, order).for_each(|(label, (_, ordered))| *label = ordered);
            }
            first = end;
        }
    }
}

/// Sorts docnos and their labels. A function by itself, because it would be compiled again for
/// every way to find records.
fn sort_by_docno(order: &mut [(&[u8], u8)], by_docno: fn(&[u8], &[u8]) -> std::cmp::Ordering) {
    order.sort_by(|one, other| by_docno(one.0, other.0));
}

/// Notes the groups of equal scores of a query. `labels` covers the first `depth` results and all
/// results tied with the last of these.
#[inline(never)]
fn note_ties<'a>(
    tied: &mut StagedTies,
    depth: usize,
    record: impl Fn(usize) -> &'a Record,
    labels: &[u8],
) {
    // Every result may have been dropped.
    if labels.is_empty() {
        return;
    }
    let (mut first, query) = (0, record(0).query);
    let key = |at: usize| record(at).key;
    while let Some(alone) = (first + 1..labels.len()).position(|at| key(at - 1) == key(at)) {
        first += alone;
        let other = (first + 2..labels.len()).find(|&at| key(at) != key(first));
        let end = other.unwrap_or(labels.len());
        tied.note(query, first as u32, &labels[first..end], end.min(depth) - first);
        first = end;
    }
}

/// The label of a result. If it were called where it could be inlined, reading a run would take a
/// twentieth longer.
#[inline(always)]
fn label_of(record: &Record, (shelf, table): (&Shelf, DocTable), docnos: Docnos<'_>) -> u8 {
    shelf.code(table, record.hash, || docnos.of(record)).unwrap_or(UNPOOLED)
}

/// Returns the first `depth` (at least 1) results, and all results tied with the last of these.
fn with_ties<T, K: PartialEq>(ranked: &[T], depth: usize, key: impl Fn(&T) -> K) -> &[T] {
    let tied = ranked[depth..].iter().take_while(|result| key(result) == key(&ranked[depth - 1]));
    &ranked[..depth + tied.count()]
}

/// The order of the keys of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeyOrder {
    /// Each key is above the key before.
    Strict,
    /// No key is below the key before.
    Ascending,
    Other,
}

impl KeyOrder {
    fn of<T>(results: &[T], key: impl Fn(&T) -> u64) -> Self {
        // No early end: a loop without a branch for each pair, over a list whose answer is nearly
        // always yes.
        let (mut ascending, mut distinct) = (true, true);
        for (one, next) in std::iter::zip(results, &results[1.min(results.len())..]) {
            ascending &= key(one) <= key(next);
            distinct &= key(one) != key(next);
        }
        match (ascending, distinct) {
            (true, true) => KeyOrder::Strict,
            (true, false) => KeyOrder::Ascending,
            (false, _) => KeyOrder::Other,
        }
    }
}

/// The number of the result at a place of [`Ranker::order`].
#[inline(always)]
fn number(place: u128) -> usize {
    place as u32 as usize
}

/// Reports the docnos that occur more than once, comparing their bytes.
#[cold]
fn report_repeats(query: &[u8], records: &[Record], docnos: Docnos<'_>, findings: &mut Findings) {
    for (first, again) in repeats(records, docnos) {
        findings.add(again.at, || {
            let (docno, query) = (quoted(docnos.of(again)), quoted(query));
            let message = format!("docno {docno} occurs again for query {query}, first on line");
            Finding {
                position: docnos.position(again),
                message,
                earlier: Some(docnos.position(first)),
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::bytes::known_seeds::KNOWN;
    use crate::record::packed::address;
    use std::cmp::Ordering;

    use super::*;
    use crate::columns::text::HashedId;
    use crate::join::seen::key_in_f32;
    use crate::record::packed::sort_key;
    use crate::rule::{ScoreType, Ties};
    use proptest::prelude::*;

    #[test]
    fn keys_descend_with_scores() {
        let scores = [f64::MAX, 1.5, 1.0, f64::MIN_POSITIVE, 0.0, -1e-9, -1.0, f64::MIN];
        assert!(scores.map(|score| sort_key(score, ScoreType::F64)).is_sorted_by(|a, b| a < b));
        assert_eq!(sort_key(-0.0, ScoreType::F64), sort_key(0.0, ScoreType::F64));
        assert_eq!(sort_key(1.0 + 1e-12, ScoreType::F32), sort_key(1.0, ScoreType::F32));
        assert_ne!(sort_key(1.0 + 1e-12, ScoreType::F64), sort_key(1.0, ScoreType::F64));
    }

    #[test]
    fn more_lines_than_can_be_numbered_are_told() {
        assert_eq!(too_many(b"q", MOST_RESULTS, MOST_RESULTS), None);
        let message = too_many(b"q", MOST_RESULTS + 1, MOST_RESULTS).unwrap();
        assert_eq!(message, "query 'q' has 4294967293 lines: there can be 4294967292 at most");
    }

    proptest! {
        /// Keys that differ in their last bits only, that differ in their first ones, that are
        /// equal.
        #[test]
        fn results_are_sorted_by_key_and_place(
            keys in prop::collection::vec(
                (0u64..40, prop::sample::select(&[0u64, 1, 1 << 52, 1 << 63][..])),
                2..200,
            ),
            scale in 1u64..9,
        ) {
            let record = |(at, &(low, high)): (usize, &(u64, u64))| Record {
                key: high + low / scale, hash: 0, at: at as u64, length: 1, query: 0,
            };
            let records: Vec<Record> = keys.iter().enumerate().map(record).collect();
            let mut ranker = Ranker::new(RankingRule::default(), false);
            ranker.sort(&records);
            let mut expected: Vec<usize> = (0..records.len()).collect();
            expected.sort_by_key(|&at| records[at].key); // stable
            prop_assert_eq!(
                ranker.order.iter().map(|&at| number(at)).collect::<Vec<_>>(),
                expected
            );
            let same = |&at: &u128| (at >> 32) as u64 == records[number(at)].key;
            prop_assert!(ranker.order.iter().all(same));
        }
    }

    #[test]
    fn equal_hashes_are_always_noticed() {
        let mut ranker = Ranker::new(RankingRule::default(), false);
        for spread in [1, 64, 1 << 20, 0x9e37_79b9_7f4a_7c15] {
            let distinct: Vec<u64> = (0..500u64).map(|n| n.wrapping_mul(spread)).collect();
            assert!(spread < 1 << 40 || !ranker.may_repeat(distinct.len(), |at| distinct[at]));
            for again in [0, 1, 250, 499] {
                let mut hashes = distinct.clone();
                hashes.push(distinct[again]);
                assert!(ranker.may_repeat(hashes.len(), |at| hashes[at]), "{spread} {again}");
                hashes.swap(0, 500);
                assert!(ranker.may_repeat(hashes.len(), |at| hashes[at]), "{spread} {again}");
            }
        }
    }

    proptest! {
        /// Rows are ranked as their records are, or are left alone: where scores are not in order,
        /// a document comes twice, tied labels differ, or scores are equal as f32 where labels
        /// change.
        #[test]
        fn rows_are_ranked_as_their_records(
            scores in prop::collection::vec(
                prop::sample::select(&[3.0, 2.0, 1.0 + 1e-12, 1.0, 0.5, 0.25, -1.0][..]),
                1..7,
            ),
            sorted in prop::sample::select(&[true, true, true, false][..]),
            shuffled in Just([3usize, 1, 8, 0, 5, 2, 7, 4, 6]).prop_shuffle(),
            again in prop::sample::select(&[false, false, false, true][..]),
            depth in prop::option::of(3u32..9),
            keep_ties: bool,
            score in prop::sample::select(&[ScoreType::F64, ScoreType::F32][..]),
        ) {
            let mut keys: Vec<u64> = scores.iter().map(|&of| sort_key(of, score)).collect();
            if sorted {
                keys.sort_unstable();
            }
            let (count, mut documents) = (keys.len(), shuffled);
            if again {
                documents[0] = documents[count - 1];
            }
            let text: Vec<u8> = documents.iter().map(|&document| b"012345678"[document]).collect();
            let hash = |at: usize| KNOWN.hash(&text[at..=at], 0, 1);
            let hashed: Vec<HashedId> =
                (0..count).map(|at| HashedId { hash: hash(at), length: 1 }).collect();
            let rows = ColumnRows { keys: &keys, hashed: &hashed, at: address(0, 0), query: 0 };
            let records: Vec<Record> = rows.records().collect();
            let mut shelf = Shelf::default();
            let table = shelf.table(0, count);
            let is_judged = |at: &usize| documents[*at] % 3 == 0;
            (0..count).filter(is_judged).for_each(|at| {
                shelf.insert(table, &records[at], &text[at..=at], 10 + documents[at] as u8);
            });
            let docnos = Docnos::Chunks { first: 0, chunks: &[&text], text: true };
            let rule = RankingRule { score, depth, ..RankingRule::default() };
            let ranker = || Ranker::new(rule.clone(), false).keeping_ties(keep_ties);
            let (mut expected, mut found) = ((vec![77], ranker()), (vec![77], ranker()));
            let mut findings = Findings::default();
            let ranked = expected.1.rank(
                b"q",
                &records,
                docnos,
                (&shelf, table),
                (&mut expected.0, None),
                &mut findings,
            );
            match found.1.rank_rows(rows, docnos, (&shelf, table), &mut found.0) {
                Some(depth) => {
                    prop_assert!(keys.is_sorted() && (!again || count == 1));
                    prop_assert_eq!((depth, &found.0), (ranked, &expected.0));
                    prop_assert_eq!(found.1.seen, expected.1.seen);
                    prop_assert_eq!(
                        format!("{:?}", found.1.tied),
                        format!("{:?}", expected.1.tied)
                    );
                }
                None => {
                    prop_assert_eq!(found.0, [77]);
                    prop_assert_eq!(found.1.seen, ScoresSeen::default());
                    let f32_keys: std::collections::HashSet<u64> =
                        keys.iter().map(|&key| key_in_f32(key)).collect();
                    let are_kept = depth.is_none_or(|depth| depth as usize >= count);
                    prop_assert!(
                        !keys.is_sorted() || again || !are_kept || f32_keys.len() < count,
                        "nothing needs a closer look"
                    );
                }
            }
        }

        /// Queries that one ranker looks at one after the other, some when the numbers of results
        /// run out; hashes that share slots.
        #[test]
        fn equal_hashes_are_noticed_from_query_to_query(
            queries in prop::collection::vec(prop::collection::vec(0u64..1000, 0..40), 1..6),
            spread in prop::sample::select(&[1u64, 64, 1 << 40, 0x9e37_79b9_7f4a_7c15][..]),
            left in 1u32..200,
        ) {
            let mut ranker = Ranker::new(RankingRule::default(), false);
            ranker.slots.first = u32::MAX - left;
            for query in queries {
                let hashes: Vec<u64> = query.iter().map(|hash| hash.wrapping_mul(spread)).collect();
                let distinct: std::collections::HashSet<&u64> = hashes.iter().collect();
                prop_assert_eq!(
                    ranker.may_repeat(hashes.len(), |at| hashes[at]),
                    distinct.len() < hashes.len()
                );
            }
        }

        /// Documents of few different scores, in any order or ranked already, are put in the order
        /// of the rule.
        #[test]
        fn labels_are_in_the_order_of_the_rule(
            keys in prop::collection::vec(0u64..3, 1..9),
            shuffled in Just([3, 1, 8, 0, 5, 2, 7, 4, 6]).prop_shuffle(),
            ranked: bool, late: bool, depth in prop::option::of(1u32..9),
            ties in prop::sample::select(vec![
                Ties::DocnoDescending,
                Ties::DocnoAscending,
                Ties::Input,
            ]),
        ) {
            let mut keys = keys;
            if ranked {
                keys.sort_unstable();
            }
            let docno = |at: usize| &b"012345678"[shuffled[at]..=shuffled[at]];
            let text: Vec<u8> = (0..keys.len()).flat_map(docno).copied().collect();
            let record = |at: usize| Record {
                key: keys[at],
                hash: KNOWN.hash(docno(at), 0, 1),
                at: address(0, at),
                length: 1,
                query: 0,
            };
            let records: Vec<Record> = (0..keys.len()).map(record).collect();
            let code =
                |at: usize| if shuffled[at] % 2 == 0 { UNPOOLED } else { 10 + shuffled[at] as u8 };
            let mut shelf = Shelf::default();
            let table = shelf.table(0, keys.len());
            for at in (0..keys.len()).filter(|&at| code(at) != UNPOOLED) {
                shelf.insert(table, &records[at], docno(at), code(at));
            }
            let mut expected: Vec<usize> = (0..keys.len()).collect();
            expected.sort_by(|&one, &other| {
                let tied = match ties {
                    Ties::DocnoDescending => docno(other).cmp(docno(one)),
                    Ties::DocnoAscending => docno(one).cmp(docno(other)),
                    // Text has no rank column here.
                    Ties::Input | Ties::Rank => Ordering::Equal,
                };
                keys[one].cmp(&keys[other]).then(tied)
            });
            expected.truncate(depth.map_or(usize::MAX, |depth| depth as usize));
            let expected: Vec<u8> = expected.into_iter().map(code).collect();
            let mut ranker =
                Ranker::new(RankingRule { ties, depth, ..RankingRule::default() }, late);
            let docnos = Docnos::Chunks { first: 0, chunks: &[&text], text: true };
            let (mut labels, mut findings) = (vec![77], Findings::default());
            let count = ranker.rank(
                b"q",
                &records,
                docnos,
                (&shelf, table),
                (&mut labels, None),
                &mut findings,
            );
            prop_assert_eq!(count as usize, expected.len());
            prop_assert_eq!(&labels[1..], &expected[..]);
        }
    }
}
