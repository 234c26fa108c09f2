//! The results of one query by unit: ids are cut to ids of units, and the results of a unit become
//! one result.
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

use crate::bytes::hash::Seed;
use crate::lines::diagnostics::{Finding, Findings, quoted};
use crate::matrix::UnitCounts;
use crate::record::packed::{Docnos, Record, by_docno, score_of_key, sort_key};
use crate::repeats::Repeats;
use crate::rule::{RankingRule, ScoreType, Ties};
use crate::units::map::UnitMap;
use crate::units::rule::Units;

/// What a join does with the units of results.
#[derive(Debug, Clone)]
pub(crate) struct UnitsAsked {
    pub units: Units,
    pub repeats: Repeats,
    /// The number of best results of a query that are kept before.
    pub rows: Option<usize>,
}

/// The most ids without the text of a rule that a message needs: two to show, and a third to say
/// "and others".
const SHOWN: usize = 3;

/// Counts of the units of a run, and the ids without the text of the rule.
#[derive(Debug, Clone, Default)]
pub(crate) struct UnitsSeen {
    pub counts: UnitCounts,
    /// Whether an id has the text of the rule.
    any: bool,
    /// The first ids in bytewise order that lack the text of the rule, while none has it.
    without: Vec<Vec<u8>>,
}

impl UnitsSeen {
    /// Adds the counts and ids that another worker has noticed.
    pub fn merge(&mut self, other: Self) {
        self.counts.merge(other.counts);
        self.any |= other.any;
        other.without.iter().for_each(|id| self.lacks(id));
    }

    /// Notes an id that lacks the text of the rule.
    fn lacks(&mut self, id: &[u8]) {
        if self.any {
            return;
        }
        let Err(at) = self.without.binary_search_by(|known| known.as_slice().cmp(id)) else {
            return;
        };
        if at < SHOWN {
            self.without.insert(at, id.to_vec());
            self.without.truncate(SHOWN);
        }
    }

    /// Says that a rule changes nothing, because no id has its text.
    pub fn changes_nothing(&self, units: &Units, option: &str) -> Option<String> {
        let (Units::Before(text) | Units::BeforeFirst(text)) = units else { return None };
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

/// The merger of results into units; its buffers are reused from query to query.
#[derive(Debug)]
pub(crate) struct Uniting {
    asked: Arc<UnitsAsked>,
    ties: Ties,
    score: ScoreType,
    seed: Seed,
    /// Whether to drop units with the id of their query.
    drop_identical: bool,
    united: Vec<Record>,
    /// The number of a record, from 1, in the slot of its hash or in a slot behind; 0 is empty.
    slots: Vec<u32>,
    /// The sum of the scores of each unit, and their number.
    sums: Vec<(f64, u32)>,
    pub seen: UnitsSeen,
}

impl Uniting {
    pub fn new(
        asked: Arc<UnitsAsked>,
        rule: &RankingRule,
        seed: Seed,
        drop_identical: bool,
    ) -> Self {
        let RankingRule { ties, score, .. } = *rule;
        let (united, slots, sums, seen) = Default::default();
        Uniting { asked, ties, score, seed, drop_identical, united, slots, sums, seen }
    }

    /// The rule by which units are ranked, whose results come in the order of the rule.
    pub fn rule_of_units(asked: &UnitsAsked, rule: RankingRule) -> RankingRule {
        let by_docno = matches!(rule.ties, Ties::DocnoAscending | Ties::DocnoDescending);
        match asked.repeats {
            Repeats::First | Repeats::Error if by_docno => rule,
            // `Ties::Input` keeps units in the order of merging. F32 turns off the check for ties
            // that only f32 has, because under f32 the units would get different scores.
            Repeats::Sum(_) | Repeats::Mean(_) => RankingRule { score: ScoreType::F32, ..rule },
            _ => RankingRule { score: ScoreType::F32, ties: Ties::Input, ..rule },
        }
    }

    /// Whether the units of a query are there once each.
    pub fn are_distinct(asked: &UnitsAsked) -> bool {
        asked.repeats != Repeats::Error
    }

    /// The docnos of the results that are put together.
    pub fn docnos<'d>(&'d self, ids: &'d Docnos<'d>) -> Docnos<'d> {
        docnos_of(&self.asked.units, ids)
    }

    /// The results of the query that was put together last.
    pub fn united(&self) -> &[Record] {
        &self.united
    }

    /// Puts the results of a query together, best first, which are in the order of the rule if
    /// their scores are equal.
    pub fn unite(
        &mut self,
        query: &[u8],
        records: &[Record],
        ids: Docnos<'_>,
        findings: &mut Findings,
    ) {
        self.united.clear();
        let asked = self.asked.clone();
        name_by_rule(
            &asked.units,
            records,
            ids,
            (self.seed, &mut self.seen),
            (&mut self.united, findings),
        );
        let units = docnos_of(&asked.units, &ids);
        let Uniting { ties, drop_identical, united, .. } = self;
        if !united.is_sorted_by_key(|record| record.key) {
            united.sort_by_key(|record| record.key); // stable
        }
        if let Some(rows) = asked.rows {
            cut(united, rows, *ties, units);
        }
        if *drop_identical {
            united.retain(|record| units.of(record) != query);
        }
        match asked.repeats {
            Repeats::Error => {}
            Repeats::First => self.first(units),
            Repeats::Blank => self.blank(units),
            Repeats::Sum(most) => {
                self.sum(units, most.map_or(u32::MAX, u32::from), false, findings)
            }
            Repeats::Mean(most) => {
                self.sum(units, most.map_or(u32::MAX, u32::from), true, findings)
            }
        }
    }

    /// Keeps the first result of each unit.
    fn first(&mut self, units: Docnos<'_>) {
        let Uniting { united, slots, .. } = self;
        clear(slots, united.len());
        let mut kept = 0;
        for at in 0..united.len() {
            let record = united[at];
            if let Err(slot) = find(slots, &united[..kept], &record, units) {
                united[kept] = record;
                kept += 1;
                slots[slot] = kept as u32;
            }
        }
        united.truncate(kept);
    }

    /// Makes blanks of all results but the first of each unit.
    fn blank(&mut self, units: Docnos<'_>) {
        let Uniting { united, slots, ties, seen, .. } = self;
        clear(slots, united.len());
        // Ties are ordered here, where repeats still have their ids.
        for tied in
            united.chunk_by_mut(|one, next| one.key == next.key).filter(|tied| tied.len() > 1)
        {
            sort_tied(tied, *ties, units);
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

    /// Gives units the sum or the mean of their best scores.
    fn sum(&mut self, units: Docnos<'_>, most: u32, mean: bool, findings: &mut Findings) {
        let Uniting { united, slots, sums, score: precision, seen, .. } = self;
        sums.clear();
        clear(slots, united.len());
        let mut kept = 0;
        // From the best score downwards, so that the order of lines changes no bit.
        for at in 0..united.len() {
            let record = united[at];
            let score = score_of_key(record.key);
            seen.counts.negative += u64::from(score < 0.0 && !mean);
            match find(slots, &united[..kept], &record, units) {
                Ok(unit) if sums[unit].1 < most => {
                    sums[unit].0 += score;
                    sums[unit].1 += 1;
                }
                Ok(_) => {}
                Err(slot) => {
                    united[kept] = record;
                    sums.push((score, 1));
                    kept += 1;
                    slots[slot] = kept as u32;
                }
            }
        }
        united.truncate(kept);
        for (record, &(sum, count)) in united.iter_mut().zip(&*sums) {
            let score = if mean { sum / f64::from(count) } else { sum };
            if !score.is_finite() {
                findings.add(record.at, || {
                    let message = format!(
                        "the scores of {} add up to no finite number",
                        quoted(units.of(record))
                    );
                    Finding { position: units.position(record), message, earlier: None }
                });
                continue;
            }
            record.key = sort_key(score, *precision);
        }
    }
}

/// The judgments of a query by their units, of which each has its largest grade; the buffers are
/// reused from query to query.
#[derive(Debug, Default)]
pub(crate) struct JudgedUnits {
    judged: Vec<Record>,
    slots: Vec<u32>,
    pub seen: UnitsSeen,
}

impl JudgedUnits {
    /// Puts the judgments of a query together, in the order of the first ones of their units.
    pub fn unite<'d>(
        &mut self,
        (units, seed): (&'d Units, Seed),
        records: &[Record],
        ids: &'d Docnos<'d>,
        findings: &mut Findings,
    ) -> (&[Record], Docnos<'d>) {
        let JudgedUnits { judged, slots, seen } = self;
        judged.clear();
        name_by_rule(units, records, *ids, (seed, seen), (judged, findings));
        let docnos = docnos_of(units, ids);
        clear(slots, judged.len());
        let mut kept = 0;
        for at in 0..judged.len() {
            let record = judged[at];
            match find(slots, &judged[..kept], &record, docnos) {
                Ok(unit) => {
                    let [known, grade] = [judged[unit].key, record.key].map(f64::from_bits);
                    judged[unit].key = known.max(grade).to_bits();
                }
                Err(slot) => {
                    judged[kept] = record;
                    kept += 1;
                    slots[slot] = kept as u32;
                }
            }
        }
        judged.truncate(kept);
        (judged, docnos)
    }
}

/// Empties the slots, and makes at least two for each of `results` results.
fn clear(slots: &mut Vec<u32>, results: usize) {
    slots.clear();
    slots.resize((results * 2).next_power_of_two().max(64), 0);
}

/// Returns the docnos of units for `ids`, through the map if the units have a map.
fn docnos_of<'d>(units: &'d Units, ids: &'d Docnos<'d>) -> Docnos<'d> {
    match units {
        Units::Map(map) => Docnos::Units { ids, map },
        _ => *ids,
    }
}

/// Finds the unit of a result among those that are known, each by its number, or the slot where it
/// belongs.
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
        if known[number].hash == record.hash && units.of(&known[number]) == units.of(record) {
            return Ok(number);
        }
        at = (at + 1) & mask;
    }
    Err(at)
}

/// Keeps the best `rows` of results that are in the order of their scores.
fn cut(united: &mut Vec<Record>, rows: usize, ties: Ties, units: Docnos<'_>) {
    let Some(next) = united.get(rows) else { return };
    let key = next.key;
    let start = united.partition_point(|record| record.key < key);
    let end = united.partition_point(|record| record.key <= key);
    if start < rows {
        sort_tied(&mut united[start..end], ties, units);
    }
    united.truncate(rows);
}

/// Sorts results of one score by the ids of their units, if the rule says so.
fn sort_tied(tied: &mut [Record], ties: Ties, units: Docnos<'_>) {
    let by_docno = by_docno(ties);
    tied.sort_by(|one, other| by_docno(units.of(one), units.of(other)));
}

/// Names results by their units.
fn name_by_rule(
    units: &Units,
    records: &[Record],
    ids: Docnos<'_>,
    (seed, seen): (Seed, &mut UnitsSeen),
    to: (&mut Vec<Record>, &mut Findings),
) {
    match units {
        Units::AsIs | Units::Column(_) => to.0.extend_from_slice(records),
        Units::Before(text) => name_before((text.as_bytes(), true), records, ids, (seed, seen), to),
        Units::BeforeFirst(text) => {
            name_before((text.as_bytes(), false), records, ids, (seed, seen), to)
        }
        Units::Map(map) => name_by_map(map, records, ids, seed, to),
    }
}

/// Names results by what is before a text in their ids: before the `last` or the first one.
fn name_before(
    (text, last): (&[u8], bool),
    records: &[Record],
    ids: Docnos<'_>,
    (seed, seen): (Seed, &mut UnitsSeen),
    (united, findings): (&mut Vec<Record>, &mut Findings),
) {
    let finders = (memchr::memmem::Finder::new(text), memchr::memmem::FinderRev::new(text));
    let single = if let [byte] = text { Some(*byte) } else { None };
    let first_of = |id: &[u8]| match single {
        Some(byte) => memchr::memchr(byte, id),
        None => finders.0.find(id),
    };
    let last_of = |id: &[u8]| match single {
        // The rest of an id behind its unit is short, so a search from the end stops soon.
        Some(byte) => id.iter().rposition(|&other| other == byte),
        None => finders.1.rfind(id),
    };
    let (mut any, mut twice) = (false, 0);
    for record in records {
        let id = ids.of(record);
        let Some(end) = last_of(id) else {
            seen.lacks(id);
            united.push(*record);
            continue;
        };
        let first = first_of(&id[..end]);
        any = true;
        twice += u64::from(first.is_some());
        let end = if last { end } else { first.unwrap_or(end) };
        if end == 0 {
            findings.add(record.at, || {
                let message = format!(
                    "nothing stands before {} in {}, where the id of a unit was expected",
                    quoted(text),
                    quoted(id)
                );
                Finding { position: ids.position(record), message, earlier: None }
            });
            continue;
        }
        united.push(Record { hash: seed.hash(id, 0, end), length: end as u32, ..*record });
    }
    seen.any |= any;
    seen.counts.twice += twice;
}

/// Names results by the units of a map.
fn name_by_map(
    map: &UnitMap,
    records: &[Record],
    ids: Docnos<'_>,
    seed: Seed,
    (united, findings): (&mut Vec<Record>, &mut Findings),
) {
    for record in records {
        let id = ids.of(record);
        let Some(number) = map.number(id) else {
            findings.add(record.at, || {
                let message = format!(
                    "{} is not in {}, which names the unit of each result",
                    quoted(id),
                    map.name()
                );
                Finding { position: ids.position(record), message, earlier: None }
            });
            continue;
        };
        let unit = map.unit(number);
        united.push(Record { hash: seed.hash(unit, 0, unit.len()), length: number, ..*record });
    }
}
