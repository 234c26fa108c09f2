//! The merging of one query's results by unit, the document that chunks count for, to one result a
//! unit.
//!
//! ```text
//! A#1 9, X#1 8, A#2 7 ── units ──► A 9, X 8, A 7 ── first ──► A 9, X 8
//!                                                ── blank ──► A 9, X 8, · 7
//!                                                ── sum ────► A 16, X 8
//! ```
//!
//! Units are made between the records of a query and their ranking, so text, columns and pipes have
//! equal units, wherever they are cut. Records stay records: a unit is a shorter docno at the same
//! place, or the number of an id in a map. A table of numbers finds repeated units by the hash for
//! the lookup of labels, and compares their bytes.

use std::sync::Arc;

use super::exclusion::{DroppedDocs, ExclusionCounts};
use crate::aggregation::Aggregation;
use crate::bytes::hash::Seed;
use crate::doc_ids::{map::DocIdMap, rule::DocIdRule};
use crate::lines::diagnostics::{Diagnostics, quoted};
use crate::matrix::DuplicateCounts;
use crate::record::layout::{Docnos, Record, by_docno, score_of_key, sort_key};
use crate::rule::TieBreak;
use crate::settings::Join;

/// The most ids without the text of a rule that a message needs: two to show, and a third to say
/// "and others".
const SHOWN: usize = 3;

/// Counts of a run's repeated units, and a few ids that lack the text at which `--doc-id` cuts ids.
#[derive(Clone, Default)]
pub struct AggregateCounts {
    pub counts: DuplicateCounts,
    /// Whether an id has the text of the rule.
    any: bool,
    /// The first ids in bytewise order that lack the text of the rule, while none has it.
    without: Vec<Vec<u8>>,
}

impl AggregateCounts {
    /// Adds another worker's counts of repeated units, and its ids without the text at which
    /// `--doc-id` cuts.
    pub fn merge(&mut self, other: Self) {
        self.counts.merge(other.counts);
        self.any |= other.any;
        other.without.iter().for_each(|id| self.lacks(id));
    }

    /// Notes a document id that lacks the text at which `--doc-id` cuts ids.
    fn lacks(&mut self, id: &[u8]) {
        if !self.any
            && let Err(at @ ..SHOWN) =
                self.without.binary_search_by(|known| known.as_slice().cmp(id))
        {
            self.without.insert(at, id.to_vec());
            self.without.truncate(SHOWN);
        }
    }

    /// Returns the message that `--doc-id` would change nothing, if no document id has the text to
    /// cut at.
    pub fn unused_rule_message(&self, units: &DocIdRule, option: &str) -> Option<String> {
        let (DocIdRule::BeforeLast(text) | DocIdRule::BeforeFirst(text)) = units else {
            return None;
        };
        if self.any || self.without.is_empty() {
            return None;
        }
        let shown: Vec<String> = self.without.iter().map(|id| quoted(id)).collect();
        let shown = match &shown[..] {
            [one, other, _, ..] => format!("{one}, {other} and others"),
            few => few.join(" and "),
        };
        let text = quoted(text.as_bytes());
        Some(format!(
            "none of its ids has {text}, so {option} {units} would change nothing: {shown}"
        ))
    }
}

/// The merger of one query's results by unit, as the join says (`--doc-id`, `--aggregate`); its
/// buffers are reused from query to query.
pub struct Aggregator {
    join: Arc<Join>,
    seed: Seed,
    /// The merged results, one a unit, of the query that was merged last.
    pub united: Vec<Record>,
    /// The number of a record, from 1, in the slot of its hash or in a slot behind; 0 is empty.
    slots: Vec<u32>,
    /// The sum of the scores of each unit, and their number.
    sums: Vec<(f64, u32)>,
    pub seen: AggregateCounts,
}

impl Aggregator {
    pub fn new(join: Arc<Join>, seed: Seed) -> Self {
        Self {
            join,
            seed,
            united: Vec::new(),
            slots: Vec::new(),
            sums: Vec::new(),
            seen: AggregateCounts::default(),
        }
    }

    /// Returns the access to the docnos of results after merging, the ids of units.
    pub fn docnos<'d>(&'d self, ids: &'d Docnos<'d>) -> Docnos<'d> {
        docnos_of(&self.join.units, ids)
    }

    /// Merges the results of one query by unit, best first, for [`Aggregator::united`]. Results
    /// of equal scores are in the order of the rule of ties.
    pub fn aggregate(
        &mut self,
        query: &[u8],
        records: &[Record],
        ids: Docnos<'_>,
        findings: &mut Diagnostics,
        excluded: &mut ExclusionCounts,
    ) {
        self.united.clear();
        let join = self.join.clone();
        let Self { seed, seen, united, .. } = self;
        UnitNaming { ids, seed: *seed, seen, united, findings }.name_records(&join.units, records);
        let units = docnos_of(&join.units, &ids);
        let united = &mut self.united;
        if !united.is_sorted_by_key(|record| record.key) {
            // Stable, so that equal scores stay in the order of the input or of the rank column.
            united.sort_by_key(|record| record.key);
        }
        if let Some(rows) = join.rows {
            cut(united, rows.get() as usize, join.ties, units);
        }
        if join.drop_identical_ids || join.exclude.is_some() {
            let dropped = DroppedDocs::new(&join, query);
            united.retain(|record| !dropped.has(units.get(record), excluded));
        }
        let repeats = join.aggregation();
        match repeats {
            Aggregation::Error => {}
            // The best result of a unit comes first.
            Aggregation::Max => unite(united, &mut self.slots, units, |_, _, _| ()),
            Aggregation::Blank => self.blank(units),
            Aggregation::Sum(most) | Aggregation::Mean(most) => {
                let mean = matches!(repeats, Aggregation::Mean(_));
                self.sum(units, most.map_or(u32::MAX, u32::from), mean, findings)
            }
        }
    }

    /// Blanks all results of a unit but its best: they keep their ranks, and count as unjudged.
    fn blank(&mut self, units: Docnos<'_>) {
        let Self { united, slots, join, seen, .. } = self;
        clear(slots, united.len());
        // Ties are ordered here, where repeats still have their ids.
        for tied in
            united.chunk_by_mut(|one, next| one.key == next.key).filter(|tied| tied.len() > 1)
        {
            sort_tied(tied, join.ties, units);
        }
        let mut again = Vec::new();
        for at in 0..united.len() {
            match find(slots, united, &united[at], units) {
                Ok(_) => again.push(at),
                Err(slot) => slots[slot] = at as u32 + 1,
            }
        }
        seen.counts.results += united.len() as u64;
        seen.counts.repeated += again.len() as u64;
        // No label is found: judged documents are told by the highest bits of their hash, and then
        // by their bytes.
        again.into_iter().for_each(|at| united[at].hash = !united[at].hash);
    }

    /// Merges the results of each unit: its score becomes the sum, or the mean, of its best `most`
    /// scores.
    fn sum(&mut self, units: Docnos<'_>, most: u32, mean: bool, findings: &mut Diagnostics) {
        let precision = self.join.dialect.score(self.join.score);
        let Self { united, slots, sums, seen, .. } = self;
        sums.clear();
        // From the best score downwards, so that the order of lines changes no bit.
        unite(united, slots, units, |_, unit, record| {
            let score = score_of_key(record.key);
            seen.counts.negative += u64::from(score < 0.0 && !mean);
            match unit {
                Some(unit) if sums[unit].1 < most => {
                    sums[unit].0 += score;
                    sums[unit].1 += 1;
                }
                Some(_) => {}
                None => sums.push((score, 1)),
            }
        });
        for (record, &(sum, count)) in united.iter_mut().zip(&*sums) {
            let score = if mean { sum / f64::from(count) } else { sum };
            if !score.is_finite() {
                findings.add(record.at, || {
                    let unit = quoted(units.get(record));
                    let message = format!("the scores of {unit} add up to no finite number");
                    units.problem(record, message)
                });
                continue;
            }
            record.key = sort_key(score, precision);
        }
    }
}

/// The merger of one query's judgments by unit, which keeps the largest grade of each
/// (`--qrels-doc-id`). The buffers are reused from query to query.
#[derive(Default)]
pub struct QrelsAggregator {
    judged: Vec<Record>,
    slots: Vec<u32>,
    pub seen: AggregateCounts,
}

impl QrelsAggregator {
    /// Merges the judgments of one query by unit, in the order of the first judgment of each unit.
    pub fn aggregate<'d>(
        &mut self,
        units: &'d DocIdRule,
        seed: Seed,
        records: &[Record],
        ids: &'d Docnos<'d>,
        findings: &mut Diagnostics,
    ) -> (&[Record], Docnos<'d>) {
        let Self { judged, slots, seen } = self;
        judged.clear();
        UnitNaming { ids: *ids, seed, seen, united: judged, findings }.name_records(units, records);
        let docnos = docnos_of(units, ids);
        unite(judged, slots, docnos, |judged, unit, record| {
            if let Some(unit) = unit {
                let [known, grade] = [judged[unit].key, record.key].map(f64::from_bits);
                judged[unit].key = known.max(grade).to_bits();
            }
        });
        (judged, docnos)
    }
}

/// Keeps only the first record of each unit, among records of one query. Calls `take` with each
/// record, the records of the units so far, and the number of the unit among these, if the unit is
/// one of these.
fn unite(
    united: &mut Vec<Record>,
    slots: &mut Vec<u32>,
    units: Docnos<'_>,
    mut take: impl FnMut(&mut [Record], Option<usize>, &Record),
) {
    clear(slots, united.len());
    let mut length = 0;
    for at in 0..united.len() {
        let record = united[at];
        let found = find(slots, &united[..length], &record, units);
        take(&mut united[..length], found.ok(), &record);
        if let Err(slot) = found {
            united[length] = record;
            length += 1;
            slots[slot] = length as u32;
        }
    }
    united.truncate(length);
}

/// Empties a hash table of units, and sizes it to two slots or more for each of `results` results.
fn clear(slots: &mut Vec<u32>, results: usize) {
    // At most half of the slots are taken, so that every search soon ends at an empty one.
    slots.clear();
    slots.resize((results * 2).next_power_of_two().max(64), 0);
}

/// Returns the access to the ids of units for the document ids `ids`, through the map if `--doc-id`
/// has one.
fn docnos_of<'d>(units: &'d DocIdRule, ids: &'d Docnos<'d>) -> Docnos<'d> {
    match units {
        DocIdRule::Map(map) => Docnos::Units { ids, map },
        _ => *ids,
    }
}

/// Finds the unit of a result in a hash table of units: the index of the unit, or the free slot for
/// it.
#[inline(always)]
fn find(
    slots: &[u32],
    known: &[Record],
    record: &Record,
    units: Docnos<'_>,
) -> Result<usize, usize> {
    let mask = slots.len() - 1;
    let mut at = record.hash as usize & mask;
    while slots[at] != 0 {
        let number = slots[at] as usize - 1;
        if known[number].hash == record.hash && units.get(&known[number]) == units.get(record) {
            return Ok(number);
        }
        at = (at + 1) & mask;
    }
    Err(at)
}

/// Keeps the best `rows` results of one query, which are in the order of their scores.
fn cut(united: &mut Vec<Record>, rows: usize, ties: TieBreak, units: Docnos<'_>) {
    let Some(next) = united.get(rows) else { return };
    let key = next.key;
    // The group that the cut goes through is the only one whose order decides what stays.
    let start = united.partition_point(|record| record.key < key);
    let end = united.partition_point(|record| record.key <= key);
    if start < rows {
        sort_tied(&mut united[start..end], ties, units);
    }
    united.truncate(rows);
}

/// Sorts results of one query with equal scores by the ids of their units, if the rule of ties says
/// so.
fn sort_tied(tied: &mut [Record], ties: TieBreak, units: Docnos<'_>) {
    let by_docno = by_docno(ties);
    tied.sort_by(|one, other| by_docno(units.get(one), units.get(other)));
}

/// The step before merging that replaces the document id of each record by the id of its unit.
struct UnitNaming<'a> {
    ids: Docnos<'a>,
    seed: Seed,
    seen: &'a mut AggregateCounts,
    /// The records that have a unit, named by it.
    united: &'a mut Vec<Record>,
    findings: &'a mut Diagnostics,
}

impl UnitNaming<'_> {
    /// Gives each record the id of its unit, by the rule of `--doc-id`.
    fn name_records(&mut self, units: &DocIdRule, records: &[Record]) {
        match units {
            // The ids are those of units already: a column of units was read in place of ids.
            DocIdRule::Identity | DocIdRule::Column(_) => self.united.extend_from_slice(records),
            DocIdRule::BeforeLast(text) => self.name_before(text.as_bytes(), true, records),
            DocIdRule::BeforeFirst(text) => self.name_before(text.as_bytes(), false, records),
            DocIdRule::Map(map) => self.name_by_map(map, records),
        }
    }

    /// Cuts the document id of each record before a text, at its `last` or its first place, to the
    /// unit's id.
    fn name_before(&mut self, text: &[u8], last: bool, records: &[Record]) {
        let Self { ids, seed, seen, united, findings } = self;
        let finder = memchr::memmem::Finder::new(text);
        let last_finder = memchr::memmem::FinderRev::new(text);
        let single = (text.len() == 1).then(|| text[0]);
        let (mut any, mut twice) = (false, 0);
        for record in records {
            let id = ids.get(record);
            let end = match single {
                // The rest of an id behind its unit is short, so a search from the end stops soon.
                Some(byte) => id.iter().rposition(|&other| other == byte),
                None => last_finder.rfind(id),
            };
            let Some(end) = end else {
                seen.lacks(id);
                united.push(*record);
                continue;
            };
            // The first one is looked for in any case: ids with several texts are counted.
            let first = match single {
                Some(byte) => memchr::memchr(byte, &id[..end]),
                None => finder.find(&id[..end]),
            };
            any = true;
            twice += u64::from(first.is_some());
            let end = if last { end } else { first.unwrap_or(end) };
            if end == 0 {
                findings.add(record.at, || {
                    let (text, id) = (quoted(text), quoted(id));
                    let message = format!(
                        "nothing stands before {text} in {id}, where the id of a unit was expected"
                    );
                    ids.problem(record, message)
                });
                continue;
            }
            united.push(Record { hash: seed.hash(id, 0, end), length: end as u32, ..*record });
        }
        seen.any |= any;
        seen.counts.twice += twice;
    }

    /// Gives each record the unit that a map has for its document id; an id without one is a
    /// problem.
    fn name_by_map(&mut self, map: &DocIdMap, records: &[Record]) {
        for record in records {
            let id = self.ids.get(record);
            let Some(number) = map.number(id) else {
                self.findings.add(record.at, || {
                    let (id, name) = (quoted(id), map.name());
                    self.ids.problem(
                        record,
                        format!("{id} is not in {name}, which names the unit of each result"),
                    )
                });
                continue;
            };
            let unit = map.unit(number);
            let hash = self.seed.hash(unit, 0, unit.len());
            // The number stands for the unit, which may be longer than the id and lie elsewhere.
            self.united.push(Record { hash, length: number, ..*record });
        }
    }
}
