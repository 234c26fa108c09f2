//! The ranking of one query's results to a row of labels: check for duplicates, sort, lookup of
//! judgments.
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

use std::{borrow::Cow, iter::zip, mem, ops::Range};

use super::{doc_table::JudgedDocs, score_checks::may_differ_in_f32};
use crate::aggregation::Aggregation;
use crate::lines::diagnostics::{Diagnostics, quoted};
use crate::matrix::{ScoreWarnings, StagedTies, code::NOT_IN_QRELS};
use crate::record::{
    duplicates::report_duplicates,
    layout::{ColumnRows, Docnos, Record, by_docno},
};
use crate::rule::{RankingRule, ScoreType, TieBreak};

/// The most results of a query: they are numbered by 32 bits, and tiles are as deep as a multiple
/// of four.
const MOST_RESULTS: usize = u32::MAX as usize - 3;

/// Returns the error of a query with more than `most` lines, as they could not be numbered; else
/// `None`.
pub fn too_many(query: &[u8], lines: usize, most: usize) -> Option<String> {
    (lines > most)
        .then(|| format!("query {} has {lines} lines: there can be {most} at most", quoted(query)))
}

/// The lists to which a ranking's labels are appended, and the keys of its documents in the qrels.
pub struct LabelBuffers<'a> {
    pub labels: &'a mut Vec<u8>,
    /// The codes and keys of named documents, if keys are kept.
    pub keys: Option<&'a mut Vec<(u8, u64)>>,
}

/// The most results of a slot that are compared before the bytes of all docnos are.
const MOST_IN_A_SLOT: usize = 64;

/// A table of one query's results by the hash of their docno, which finds duplicate documents.
/// Equal hashes share a slot. Numbers of results go on from query to query, and begin with 1.
#[derive(Default)]
struct HashSlots {
    /// The last result of each slot.
    last: Vec<u32>,
    /// The number of the last result so far.
    used: u32,
    /// For each result of the query, the previous result in the same slot.
    before: Vec<u32>,
    /// Pairs of results with a common slot, as two lists: the later results, and the earlier
    /// results.
    meeting: [Vec<u32>; 2],
}

/// The ranker of a query's results, which sorts them, and labels each by its grade in the qrels.
/// Its buffers are reused from query to query.
#[derive(Default)]
pub struct Ranker {
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
    pub seen: ScoreWarnings,
    /// The groups of equal scores, if they are kept.
    pub tied: Option<StagedTies>,
    /// The problems of rank columns, if they order equal scores.
    pub wrong_ranks: Diagnostics,
}

impl Ranker {
    /// Makes a ranker by the rule for the results of a run; `late` seeks duplicates only among the
    /// ranks that are kept. Results that were merged into units have no duplicates, so that `late`
    /// says nothing there.
    pub fn new(rule: RankingRule, late: bool) -> Self {
        let Some(repeats) = rule.units.as_ref().map(|units| units.repeats) else {
            return Self { rule, late, ..Self::default() };
        };
        let by_docno = matches!(rule.ties, TieBreak::DocnoAscending | TieBreak::DocnoDescending);
        let rule = match repeats {
            Aggregation::Max | Aggregation::Error if by_docno => rule,
            // `TieBreak::Input` keeps units in the order of merging. F32 turns off the check for
            // ties that only f32 has, because under f32 the units would get different scores.
            Aggregation::Sum(_) | Aggregation::Mean(_) => {
                RankingRule { score: ScoreType::F32, ..rule }
            }
            _ => RankingRule { score: ScoreType::F32, ties: TieBreak::Input, ..rule },
        };
        Self { rule, distinct: repeats != Aggregation::Error, ..Self::default() }
    }

    /// Sets whether the groups of results with equal scores are kept for the matrix; `keep` is false
    /// where the rank column orders them.
    pub fn with_ties(self, keep: bool) -> Self {
        Self { tied: keep.then(StagedTies::default), ..self }
    }

    /// Ranks the results of one query, and appends their labels and keys; returns the number of
    /// ranks. Results come in input order. Keys are those of documents in the qrels, if keys are
    /// kept. Duplicate docnos become findings.
    pub fn rank(
        &mut self,
        query: &[u8],
        records: &[Record],
        docnos: Docnos<'_>,
        judged: JudgedDocs<'_>,
        LabelBuffers { labels, keys }: LabelBuffers<'_>,
        findings: &mut Diagnostics,
    ) -> u32 {
        if let Some(message) = too_many(query, records.len(), MOST_RESULTS) {
            findings.add(records[0].at, || docnos.problem(&records[0], message));
            return 0;
        }
        let records = &self.by_rule(query, records, docnos)[..];
        let (count, first) = (records.len(), labels.len());
        let depth = self.rule.depth.map_or(count, |depth| count.min(depth as usize));
        // trec_eval looks for duplicates after `-M` has cut the ranking (form_res_rels.c), so a
        // duplicate further down is none there.
        let late = self.late && depth < count;
        if !late && !self.distinct && self.may_repeat(count, |at| records[at].hash) {
            report_repeats(query, records, docnos, findings);
        }
        if let Some(keys) = keys {
            self.sort_all(records, docnos);
            if late {
                self.check_kept(query, records, depth, docnos, findings);
            }
            self.add_keyed(records, depth, judged, docnos, labels, keys);
            return depth as u32;
        }
        let order = KeyOrder::detect(records, |record| record.key);
        if order != KeyOrder::Other && !late {
            // The group that the last rank cuts is labelled as a whole, for which of its documents
            // are kept depends on their docnos.
            let top = with_ties(records, depth, |record| record.key);
            self.add_labels(top.len(), |at| top[at], judged, docnos, labels);
            if order == KeyOrder::Ascending {
                self.settle_ties(depth, |at| &records[at], docnos, &mut labels[first..]);
            }
            let (labels, record) = (&labels[first..first + depth], |at: usize| &records[at]);
            self.seen.record(&self.rule, labels, count, record, judged, docnos);
        } else {
            self.sort(records);
            if late {
                self.sort_ties(records, docnos);
                self.check_kept(query, records, depth, docnos, findings);
            }
            // The order is taken out while the methods below borrow all of the ranker.
            let order = mem::take(&mut self.order);
            let record = |at: usize| &records[number(order[at])];
            let labelled = with_ties(&order, depth, |at| at >> 32).len();
            self.add_labels(labelled, |at| *record(at), judged, docnos, labels);
            self.settle_ties(depth, record, docnos, &mut labels[first..]);
            let labels = &labels[first..first + depth];
            self.seen.record(&self.rule, labels, count, record, judged, docnos);
            self.order = order;
        }
        labels.truncate(first + depth);
        depth as u32
    }

    /// Ranks a query's rows of columns as [`Ranker::rank`] does, without records; `None` if it
    /// needs records. Records are needed unless rows are in order, are all kept, and none needs a
    /// closer look. With `None`, nothing has been done.
    pub fn rank_rows(
        &mut self,
        rows: ColumnRows<'_>,
        docnos: Docnos<'_>,
        judged: JudgedDocs<'_>,
        labels: &mut Vec<u8>,
    ) -> Option<u32> {
        let (keys, count, first) = (rows.keys, rows.keys.len(), labels.len());
        let are_kept = self.rule.depth.is_none_or(|depth| depth as usize >= count);
        if !are_kept || count > MOST_RESULTS || self.rule.ties == TieBreak::Rank {
            return None;
        }
        let are_tied = match KeyOrder::detect(keys, |&key| key) {
            KeyOrder::Strict => false,
            // Groups that are kept need the records of their documents.
            KeyOrder::Ascending if self.tied.is_none() => true,
            _ => return None,
        };
        if self.may_repeat(count, |at| rows.hashed[at].hash) {
            return None;
        }
        self.add_labels(count, |at| rows.record(at), judged, docnos, labels);
        let new_labels = &labels[first..];
        let mixed = are_tied
            && zip(keys.windows(2), new_labels.windows(2))
                .any(|(keys, labels)| (keys[0] == keys[1]) & (labels[0] != labels[1]));
        if mixed || self.rule.score == ScoreType::F64 && may_differ_in_f32(new_labels, keys) {
            labels.truncate(first);
            return None;
        }
        self.seen.record_ends(new_labels, count, Some([keys[0], keys[count - 1]]));
        Some(count as u32)
    }

    /// Appends the labels of a query's sorted results, and the codes and keys of those in the
    /// qrels.
    ///
    /// Keys are of single documents, so their order counts even where labels are the same: all ties
    /// are sorted before.
    fn add_keyed(
        &mut self,
        records: &[Record],
        depth: usize,
        judged: JudgedDocs<'_>,
        docnos: Docnos<'_>,
        labels: &mut Vec<u8>,
        keys: &mut Vec<(u8, u64)>,
    ) {
        let record = |at: usize| &records[number(self.order[at])];
        let first = labels.len();
        let JudgedDocs { shelf, table } = judged;
        shelf.prefetch(table, depth);
        for at in 0..with_ties(&self.order, depth, |at| at >> 32).len() {
            let found = shelf.keyed(table, record(at).hash, || docnos.get(record(at)));
            labels.push(found.map_or(NOT_IN_QRELS, |(code, _)| code));
            keys.extend(found.filter(|_| at < depth));
        }
        if let Some(tied) = &mut self.tied {
            note_ties(tied, depth, record, &labels[first..]);
        }
        labels.truncate(first + depth);
        let count = records.len();
        self.seen.record(&self.rule, &labels[first..], count, record, judged, docnos);
    }

    /// Returns the results of one query sorted by score, ties by the rule, best first.
    /// [`Ranker::rank`] reports their problems.
    pub fn ordered(&mut self, query: &[u8], records: &[Record], docnos: Docnos<'_>) -> Vec<Record> {
        let records = &self.by_rule(query, records, docnos)[..];
        self.sort_all(records, docnos);
        self.order.iter().map(|&at| records[number(at)]).collect()
    }

    /// Returns a query's results in input order, or by score and rank column if ties go by rank.
    #[inline(always)]
    fn by_rule<'r>(
        &mut self,
        query: &[u8],
        records: &'r [Record],
        docnos: Docnos<'_>,
    ) -> Cow<'r, [Record]> {
        match self.rule.ties {
            TieBreak::Rank => Cow::Owned(self.by_rank_column(query, records, docnos)),
            _ => Cow::Borrowed(records),
        }
    }

    /// Returns a query's results by score, equal scores by the rank column. Reports ranks that are
    /// not integers, and ranks that occur twice among equal scores.
    #[cold]
    pub fn by_rank_column(
        &mut self,
        query: &[u8],
        records: &[Record],
        docnos: Docnos<'_>,
    ) -> Vec<Record> {
        let mut ranked = Vec::with_capacity(records.len());
        for record in records {
            let rank = docnos.rank_column(record).unwrap_or_else(|| {
                self.wrong_ranks.add(record.at, || {
                    let rank = quoted(docnos.rank_field(record));
                    let message = format!(
                        "rank {rank} is not an integer, and equal scores are to be ordered by it"
                    );
                    docnos.problem(record, message)
                });
                0
            });
            ranked.push((rank, *record));
        }
        ranked.sort_unstable_by_key(|(rank, record)| (record.key, *rank, record.at));
        for tied in ranked.chunk_by(|one, next| (one.1.key, one.0) == (next.1.key, next.0)) {
            // A rank that is no integer was reported, and its 0 repeats no rank.
            let mut tied = tied.iter().filter(|(_, record)| docnos.rank_column(record).is_some());
            let Some((_, first)) = tied.next() else { continue };
            for (rank, record) in tied {
                self.wrong_ranks.add(record.at, || {
                    let message = format!(
                        "rank {rank} occurs again among equal scores of query {}, first on line",
                        quoted(query)
                    );
                    docnos.repeat(record, first, message)
                });
            }
        }
        ranked.into_iter().map(|(_, record)| record).collect()
    }

    /// Reports duplicate documents among the first `depth` ranks of a query.
    fn check_kept(
        &mut self,
        query: &[u8],
        records: &[Record],
        depth: usize,
        docnos: Docnos<'_>,
        findings: &mut Diagnostics,
    ) {
        let top: Vec<Record> = self.order[..depth].iter().map(|&at| records[number(at)]).collect();
        if self.may_repeat(top.len(), |at| top[at].hash) {
            report_repeats(query, &top, docnos, findings);
        }
    }

    /// Returns whether two results of a query may have the same docno, because their hashes are
    /// equal.
    #[inline(never)]
    fn may_repeat(&mut self, count: usize, hash: impl Fn(usize) -> u64) -> bool {
        let HashSlots { last, used, before, meeting: [one, other] } = &mut self.slots;
        let size = (count * 2).next_power_of_two().max(64);
        last.resize(size.max(last.len()), 0);
        [&mut *before, one, other]
            .into_iter()
            .for_each(|each| each.resize(count.max(each.len()), 0));
        // Invariant: a number below `first` is that of a result of another query, so slots need not
        // be cleared before numbers run out.
        if u32::MAX - *used <= count as u32 + 1 {
            last.fill(0);
            *used = 0;
        }
        let first = *used + 1;
        *used += count as u32;
        let (last, before) = (&mut last[..size], &mut before[..count]);
        let (one, other) = (&mut one[..count], &mut other[..count]);
        let mut collisions = 0;
        for at in 0..count {
            let slot = &mut last[hash(at) as usize & (size - 1)];
            before[at] = mem::replace(slot, first + at as u32);
            // Write every result down, but count only results that met another: no branch to
            // mispredict.
            one[collisions] = at as u32;
            collisions += usize::from(before[at] >= first);
        }
        zip(&mut *other, &one[..collisions])
            .for_each(|(other, &one)| *other = before[one as usize] - first);
        let (mut repeats, mut rounds) = (false, 0);
        while collisions > 0 && !repeats {
            rounds += 1;
            if rounds > MOST_IN_A_SLOT {
                return true; // let the bytes decide
            }
            let mut left = 0;
            for at in 0..collisions {
                let pair = [one[at], other[at]].map(|number| number as usize);
                repeats |= hash(pair[0]) == hash(pair[1]);
                let next = before[pair[1]];
                (one[left], other[left]) = (one[at], next.wrapping_sub(first));
                left += usize::from(next >= first);
            }
            collisions = left;
        }
        repeats
    }

    /// Looks up `count` results of a query in the qrels, and appends their labels; `record` gives
    /// each.
    ///
    /// Results that may be judged are listed first, without a branch for each, and looked up then.
    #[inline(always)]
    fn add_labels(
        &mut self,
        count: usize,
        record: impl Fn(usize) -> Record,
        JudgedDocs { shelf, table }: JudgedDocs<'_>,
        docnos: Docnos<'_>,
        labels: &mut Vec<u8>,
    ) {
        let first = labels.len();
        labels.resize(first + count, NOT_IN_QRELS);
        let labels = &mut labels[first..];
        shelf.prefetch(table, count);
        self.candidates.resize(count.max(self.candidates.len()), 0);
        let (filter, candidates) = (shelf.filter(table), &mut self.candidates[..count]);
        let mut found = 0;
        for at in 0..count {
            candidates[found] = at as u32;
            found += usize::from(filter.passes(record(at).hash));
        }
        for &at in &candidates[..found] {
            let record = record(at as usize);
            if let Some(code) =
                shelf.code_behind_filter(table, record.hash, &|| docnos.get(&record))
            {
                labels[at as usize] = code;
            }
        }
    }

    /// Sorts a query's results into `order` by score, equal scores by the rule of ties.
    fn sort_all(&mut self, records: &[Record], docnos: Docnos<'_>) {
        self.sort(records);
        self.sort_ties(records, docnos);
    }

    /// Sorts a query's results into `order` by score, equal scores in input order.
    fn sort(&mut self, records: &[Record]) {
        self.order.clear();
        if records.is_sorted_by_key(|record| record.key) {
            self.order.extend(
                records
                    .iter()
                    .enumerate()
                    .map(|(number, record)| u128::from(record.key) << 32 | number as u128),
            );
        } else {
            self.sort_shuffled(records);
        }
    }

    /// Sorts a query's results that are not in order of score into the empty `order`.
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
        self.short.clear();
        self.short.extend(
            records
                .iter()
                .enumerate()
                .map(|(number, record)| (record.key - least) >> cut << bits | number as u64),
        );
        self.short.sort_unstable();
        let numbers = (1u64 << bits) - 1;
        self.order.extend(self.short.iter().map(|short| {
            let number = short & numbers;
            u128::from(records[number as usize].key) << 32 | u128::from(number)
        }));
        if cut > 0 && !self.order.is_sorted() {
            let groups = self.order.chunk_by_mut(|one, next| {
                let [one, next] = [one, next].map(|place| ((place >> 32) as u64 - least) >> cut);
                one == next
            });
            groups.for_each(<[u128]>::sort_unstable);
        }
    }

    /// Sorts the results of equal scores in `order` by the rule of ties.
    fn sort_ties(&mut self, records: &[Record], docnos: Docnos<'_>) {
        let by_docno = by_docno(self.rule.ties);
        for tied in self.order.chunk_by_mut(|one, next| one >> 32 == next >> 32) {
            // Stable: a rule without an order of docnos leaves the order of the input.
            tied.sort_by(|&one, &other| {
                let [one, other] = [one, other].map(|at| docnos.get(&records[number(at)]));
                by_docno(one, other)
            });
        }
    }

    /// Puts the labels of results with equal scores in the order of the rule, if the scores descend
    /// already, and notes the groups if kept. `record` gives the record of a label. Tied labels that
    /// are all equal, as nearly always, stay in place.
    fn settle_ties<'a>(
        &mut self,
        depth: usize,
        record: impl Fn(usize) -> &'a Record,
        docnos: Docnos<'_>,
        labels: &mut [u8],
    ) {
        let (by_docno, mut next) = (by_docno(self.rule.ties), 0);
        while let Some(group) = next_tie(next, labels.len(), |at| record(at).key) {
            next = group.end;
            let tied = &mut labels[group.clone()];
            if tied.iter().any(|&label| label != tied[0]) {
                let mut order: Vec<(&[u8], u8)> =
                    group.map(|at| docnos.get(record(at))).zip(tied.iter().copied()).collect();
                sort_by_docno(&mut order, by_docno);
                zip(tied, order).for_each(|(label, (_, ordered))| *label = ordered);
            }
        }
        if let Some(tied) = &mut self.tied {
            note_ties(tied, depth, record, labels);
        }
    }
}

/// Returns the range of the next two or more results of equal keys, at `first` or behind.
#[inline(always)]
fn next_tie(first: usize, count: usize, key: impl Fn(usize) -> u64) -> Option<Range<usize>> {
    let start = first + (first + 1..count).position(|at| key(at - 1) == key(at))?;
    let end = (start + 2..count).find(|&at| key(at) != key(start));
    Some(start..end.unwrap_or(count))
}

/// Sorts tied results, docnos with their labels, by docno. A function by itself, because it would
/// be compiled again for every way to find records.
fn sort_by_docno(order: &mut [(&[u8], u8)], by_docno: fn(&[u8], &[u8]) -> std::cmp::Ordering) {
    order.sort_by(|one, other| by_docno(one.0, other.0));
}

/// Notes the groups of equal scores of a query's ranking for the matrix. `labels` covers the first
/// `depth` results and all results tied with the last of these.
#[inline(never)]
fn note_ties<'a>(
    tied: &mut StagedTies,
    depth: usize,
    record: impl Fn(usize) -> &'a Record,
    labels: &[u8],
) {
    let mut next = 0;
    while let Some(group) = next_tie(next, labels.len(), |at| record(at).key) {
        let Range { start, end } = group;
        tied.note(record(start).query, start as u32, &labels[group], end.min(depth) - start);
        next = end;
    }
}

/// Returns the first `depth` (at least 1) results of a ranking, and all results tied with the last
/// of these.
fn with_ties<T, K: PartialEq>(ranked: &[T], depth: usize, key: impl Fn(&T) -> K) -> &[T] {
    let tied = ranked[depth..].iter().take_while(|result| key(result) == key(&ranked[depth - 1]));
    &ranked[..depth + tied.count()]
}

/// The order in which a query's results came, by their sort keys: best first, best first with ties,
/// or other.
#[derive(Clone, Copy, PartialEq)]
enum KeyOrder {
    /// Each key is above the key before.
    Strict,
    /// No key is below the key before.
    Ascending,
    Other,
}

impl KeyOrder {
    /// Returns whether a query's results are in order by their keys, and whether keys repeat.
    fn detect<T>(results: &[T], key: impl Fn(&T) -> u64) -> Self {
        // No early end: a loop without a branch for each pair, over a list whose answer is nearly
        // always yes.
        let (mut ascending, mut distinct) = (true, true);
        for (one, next) in zip(results, &results[1.min(results.len())..]) {
            ascending &= key(one) <= key(next);
            distinct &= key(one) != key(next);
        }
        match (ascending, distinct) {
            (true, true) => Self::Strict,
            (true, false) => Self::Ascending,
            (false, _) => Self::Other,
        }
    }
}

/// Returns the number of a result in the input, from an entry of [`Ranker::order`] (key and
/// number).
#[inline(always)]
fn number(place: u128) -> usize {
    place as u32 as usize
}

/// Reports the documents that occur more than once in a query's results, comparing the bytes of
/// ids.
#[cold]
fn report_repeats(
    query: &[u8],
    records: &[Record],
    docnos: Docnos<'_>,
    findings: &mut Diagnostics,
) {
    report_duplicates(records, docnos, findings, |_, again| {
        let (docno, query) = (quoted(docnos.get(again)), quoted(query));
        format!("docno {docno} occurs again for query {query}, first on line")
    });
}

#[cfg(test)]
mod tests {
    use std::{cmp::Ordering, collections::HashSet};

    use super::*;
    use crate::bytes::known_seeds::KNOWN;
    use crate::columns::text::HashedId;
    use crate::join::{doc_table::DocArena, score_checks::key_in_f32};
    use crate::lines::layout::RankColumn;
    use crate::record::layout::{address, sort_key};
    use proptest::{collection, prelude::*, sample::select};

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
            keys in collection::vec(
                (0u64..40, select(&[0u64, 1, 1 << 52, 1 << 63][..])),
                2..200,
            ),
            scale in 1u64..9,
        ) {
            let record = |(at, &(low, high)): (usize, &(u64, u64))| Record {
                key: high + low / scale, hash: 0, at: at as u64, length: 1, query: 0,
            };
            let records: Vec<Record> = keys.iter().enumerate().map(record).collect();
            let mut ranker = Ranker::default();
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
        let mut ranker = Ranker::default();
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
            scores in collection::vec(
                select(&[3.0, 2.0, 1.0 + 1e-12, 1.0, 0.5, 0.25, -1.0][..]),
                1..7,
            ),
            sorted in select(&[true, true, true, false][..]),
            shuffled in Just([3usize, 1, 8, 0, 5, 2, 7, 4, 6]).prop_shuffle(),
            again in select(&[false, false, false, true][..]),
            depth in prop::option::of(3u32..9),
            keep_ties: bool,
            score in select(&[ScoreType::F64, ScoreType::F32][..]),
        ) {
            let mut keys: Vec<u64> = scores.iter().map(|&value| sort_key(value, score)).collect();
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
            let mut shelf = DocArena::default();
            let table = shelf.table(count);
            let is_judged = |at: &usize| documents[*at] % 3 == 0;
            (0..count).filter(is_judged).for_each(|at| {
                shelf.insert(table, &records[at], &text[at..=at], 10 + documents[at] as u8);
            });
            let docnos = Docnos::Chunks { first: 0, chunks: &[&text], text: true, ranks: RankColumn::OfTrec };
            let rule = RankingRule { score, depth, ..RankingRule::default() };
            let ranker = || Ranker::new(rule.clone(), false).with_ties(keep_ties);
            let (mut expected, mut found) = ((vec![77], ranker()), (vec![77], ranker()));
            let mut findings = Diagnostics::default();
            let judged = JudgedDocs { shelf: &shelf, table };
            let ranked = expected.1.rank(
                b"q",
                &records,
                docnos,
                judged,
                LabelBuffers { labels: &mut expected.0, keys: None },
                &mut findings,
            );
            match found.1.rank_rows(rows, docnos, judged, &mut found.0) {
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
                    prop_assert_eq!(found.1.seen, ScoreWarnings::default());
                    let f32_keys: HashSet<u64> =
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
            queries in collection::vec(collection::vec(0u64..1000, 0..40), 1..6),
            spread in select(&[1u64, 64, 1 << 40, 0x9e37_79b9_7f4a_7c15][..]),
            left in 1u32..200,
        ) {
            let mut ranker = Ranker::default();
            ranker.slots.used = u32::MAX - 1 - left;
            for query in queries {
                let hashes: Vec<u64> = query.iter().map(|hash| hash.wrapping_mul(spread)).collect();
                let distinct: HashSet<&u64> = hashes.iter().collect();
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
            mut keys in collection::vec(0u64..3, 1..9),
            shuffled in Just([3, 1, 8, 0, 5, 2, 7, 4, 6]).prop_shuffle(),
            ranked: bool, late: bool, depth in prop::option::of(1u32..9),
            ties in select(vec![
                TieBreak::DocnoDescending,
                TieBreak::DocnoAscending,
                TieBreak::Input,
            ]),
        ) {
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
                |at: usize| {
                    if shuffled[at] % 2 == 0 { NOT_IN_QRELS } else { 10 + shuffled[at] as u8 }
                };
            let mut shelf = DocArena::default();
            let table = shelf.table(keys.len());
            for at in (0..keys.len()).filter(|&at| code(at) != NOT_IN_QRELS) {
                shelf.insert(table, &records[at], docno(at), code(at));
            }
            let mut expected: Vec<usize> = (0..keys.len()).collect();
            expected.sort_by(|&one, &other| {
                let tied = match ties {
                    TieBreak::DocnoDescending => docno(other).cmp(docno(one)),
                    TieBreak::DocnoAscending => docno(one).cmp(docno(other)),
                    // Text has no rank column here.
                    TieBreak::Input | TieBreak::Rank => Ordering::Equal,
                };
                keys[one].cmp(&keys[other]).then(tied)
            });
            expected.truncate(depth.map_or(usize::MAX, |depth| depth as usize));
            let expected: Vec<u8> = expected.into_iter().map(code).collect();
            let mut ranker =
                Ranker::new(RankingRule { ties, depth, ..RankingRule::default() }, late);
            let docnos = Docnos::Chunks { first: 0, chunks: &[&text], text: true, ranks: RankColumn::OfTrec };
            let (mut labels, mut findings) = (vec![77], Diagnostics::default());
            let count = ranker.rank(
                b"q",
                &records,
                docnos,
                JudgedDocs { shelf: &shelf, table },
                LabelBuffers { labels: &mut labels, keys: None },
                &mut findings,
            );
            prop_assert_eq!(count as usize, expected.len());
            prop_assert_eq!(&labels[1..], &expected[..]);
        }
    }
}
