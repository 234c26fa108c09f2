//! The judgments of one query: its documents in bytewise order, and what is wrong with its judgments.

use super::fingerprint::HashedJudgment;
use super::piece::StretchJudgments;
use super::shape::FacetShape;
use crate::error::Result;
use crate::facets::preferences::{PreferenceFault, PreferenceLine, Preferences};
use crate::ingest::bytes::hash::Seed;
use crate::ingest::bytes::interner::Interner;
use crate::ingest::lines::diagnostics::{Earliest, quoted};
use crate::label::{FacetJudgment, JudgedBy};

/// What is known of one query beside its judgments.
pub struct MadeQuery<'t> {
    /// The documents, in bytewise order.
    pub docs: Vec<&'t [u8]>,
    /// The number of judgments that count.
    pub count: usize,
    /// The largest grade of each document.
    pub largest: Vec<f64>,
    /// The wrapping sum of the hashes of the judgments.
    pub fingerprint: u128,
    pub problems: Earliest<String>,
}

/// The names of groups, and how judgments are read.
#[derive(Clone, Copy)]
pub struct FacetNames<'t> {
    pub shape: FacetShape,
    /// The names of groups and sub-groups, in bytewise order.
    pub names: &'t [&'t [u8]],
    pub seed: Seed,
}

/// A stretch, with the number of each of its names among all.
pub type Stretch<'t> = (StretchJudgments<'t>, &'t [u32]);

impl<'t> MadeQuery<'t> {
    /// Numbers the documents of a query, whose stretches are in order, checks its judgments, and puts them into `judgments`, by document,
    /// group and sub-group. There is room for all of them; those that count come first.
    pub fn of(
        query: &[u8],
        parts: &[Stretch<'t>],
        naming: FacetNames<'_>,
        judgments: &mut [FacetJudgment],
    ) -> Self {
        let FacetNames { shape, names, seed } = naming;
        let (docs, places) = placed(parts, seed);
        distribute(
            (parts, &places),
            docs.len(),
            shape,
            judgments,
            |judgment, _| judgment,
            |judgment| judgment,
        );
        // Lines are needed for messages alone, so judgments are distributed without them first, and once more with them if a message may
        // come.
        let (count, largest) = (judgments.len(), Vec::with_capacity(docs.len()));
        let mut made = MadeQuery { docs, count, largest, fingerprint: 0, problems: Earliest::default() };
        let by_preference = shape.by == JudgedBy::Preference;
        let repeats = judgments.windows(2).any(|pair| pair[0].place() == pair[1].place());
        if repeats || by_preference {
            let mut lined = vec![(FacetJudgment::default(), 0); judgments.len()];
            let of = |judgment, line| (judgment, line);
            distribute((parts, &places), made.docs.len(), shape, &mut lined, of, |(judgment, _)| judgment);
            if !(by_preference && shape.rules.late_repeats) {
                made.without_repeats(&mut lined, naming, query);
            }
            made.count = lined.len();
            judgments.iter_mut().zip(&lined).for_each(|(judgment, (of, _))| *judgment = *of);
            let judgments = &judgments[..made.count];
            if by_preference && let Err(fault) = preferences(judgments, made.docs.len() as u32) {
                let (line, message) = made.told(&fault, &lined, names, query);
                made.problems.add(line, || message);
            }
        }
        let mut hashed = HashedJudgment::of(query);
        for judgment in &judgments[..made.count] {
            judgment.add_to(&mut made.largest);
            let numbers = [judgment.group, judgment.subgroup, judgment.document];
            let name = |part: usize| match part {
                0 => names[judgment.group as usize],
                1 if shape.fields == 5 => names[judgment.subgroup as usize],
                1 => b"",
                _ => made.docs[judgment.document as usize],
            };
            let hash = hashed.hash(numbers, judgment.grade, name);
            made.fingerprint = made.fingerprint.wrapping_add(hash);
        }
        made
    }

    /// Removes judgments of a document in a group that was judged there before.
    fn without_repeats(
        &mut self,
        lined: &mut Vec<(FacetJudgment, u64)>,
        naming: FacetNames<'_>,
        query: &[u8],
    ) {
        let by = match naming.shape.by {
            JudgedBy::Judge => "by judge",
            JudgedBy::Subtopic => "for subtopic",
            JudgedBy::Preference | JudgedBy::Span => "in group",
        };
        lined.dedup_by(|(judgment, line), (before, first)| {
            let is_repeated = judgment.place() == before.place();
            if is_repeated {
                let (docs, problems) = (&self.docs, &mut self.problems);
                problems.add(*line, || {
                    let doc = quoted(docs[judgment.document as usize]);
                    let (group, query) = (quoted(naming.names[judgment.group as usize]), quoted(query));
                    format!(
                        "docno {doc} is judged again {by} {group} for query {query}, first on line {first}"
                    )
                });
            }
            is_repeated
        });
    }

    /// The line and the message of a fault in the preferences of a query, whose judgments are on these lines.
    fn told(
        &self,
        fault: &PreferenceFault,
        lined: &[(FacetJudgment, u64)],
        names: &[&[u8]],
        query: &[u8],
    ) -> (u64, String) {
        /// The number of steps of a circle that are listed.
        const STEPS: usize = 4;
        let query = quoted(query);
        let line_of = |at: usize| lined[at].1;
        let doc = |at: usize| quoted(self.docs[lined[at].0.document as usize]);
        let group = |at: usize| quoted(names[lined[at].0.group as usize]);
        let two = |what: &str, one: usize, other: usize| {
            let first = line_of(one).min(line_of(other));
            format!(
                "docno {} has {what} in group {} for query {query}, first on line {first}",
                doc(one),
                group(one)
            )
        };
        let message = match fault {
            PreferenceFault::TwoLevels { higher, lower } => two("two levels", *higher, *lower),
            PreferenceFault::ZeroAndMore { zero, more } => two("level 0 and a level above 0", *zero, *more),
            PreferenceFault::Cycle { steps } => {
                let step = |&(above, below): &(usize, usize)| {
                    let (one, other) = (line_of(above), line_of(below));
                    let (first, last) = (one.min(other), one.max(other));
                    format!("{} before {} (lines {first} and {last})", doc(above), doc(below))
                };
                let mut told: Vec<String> = steps.iter().take(STEPS).map(step).collect();
                if steps.len() > STEPS {
                    told.push(format!("and {} more", steps.len() - STEPS));
                }
                let group = steps.first().map_or_else(String::new, |&(at, _)| group(at));
                format!(
                    "the preferences of group {group} for query {query} form a cycle: {}",
                    told.join(", ")
                )
            }
            PreferenceFault::Level { .. }
            | PreferenceFault::Document { .. }
            | PreferenceFault::TooLarge { .. } => {
                format!("query {query}: {fault}")
            }
        };
        let line = fault.lines().into_iter().map(line_of).max().unwrap_or(0);
        (line, message)
    }
}

/// The distinct documents of a query in bytewise order, and the place there of each document of each stretch, one stretch after the other.
fn placed<'t>(parts: &[Stretch<'t>], seed: Seed) -> (Vec<&'t [u8]>, Vec<u32>) {
    let mut docs: Vec<&[u8]> = Vec::new();
    let mut numbers: Vec<u32> = Vec::new();
    match parts {
        // The usual case, all rows of a query together: its documents are distinct already.
        [(part, _)] => {
            docs.extend(part.docs());
            numbers.extend(0..docs.len() as u32);
        }
        parts => {
            let mut known = Interner::new(seed);
            for doc in parts.iter().flat_map(|(part, _)| part.docs()) {
                let (number, is_new) = known.insert(doc);
                numbers.push(number);
                if is_new {
                    docs.push(doc);
                }
            }
        }
    }
    if !docs.is_sorted() {
        let mut order: Vec<u32> = (0..docs.len() as u32).collect();
        order.sort_unstable_by_key(|&number| docs[number as usize]);
        let mut places = vec![0; docs.len()];
        order.iter().zip(0..).for_each(|(&number, place)| places[number as usize] = place);
        numbers.iter_mut().for_each(|number| *number = places[*number as usize]);
        docs = order.iter().map(|&number| docs[number as usize]).collect();
    }
    (docs, numbers)
}

/// Puts the judgments of a query by document, group, sub-group and line, `of` each of which is made of a judgment and its line. `places`
/// are those of the documents of all stretches.
fn distribute<T: Copy>(
    (parts, places): (&[Stretch<'_>], &[u32]),
    docs: usize,
    shape: FacetShape,
    into: &mut [T],
    of: impl Fn(FacetJudgment, u64) -> T,
    judgment: impl Fn(&T) -> &FacetJudgment,
) {
    let rows = || {
        let starts = parts.iter().scan(0, |start, (part, _)| {
            let own = *start;
            *start += part.docs().len();
            Some(own)
        });
        let stretches = parts.iter().zip(starts);
        stretches.flat_map(|((part, names), start)| {
            part.rows.iter().map(move |row| (places[start + row.doc as usize], row, *names, part.before))
        })
    };
    // Rows are distributed by document, in their order, which is that of the lines.
    let mut ends = vec![0u32; docs + 1];
    rows().for_each(|(document, ..)| ends[document as usize + 1] += 1);
    (0..docs).for_each(|doc| ends[doc + 1] += ends[doc]);
    for (document, row, names, before) in rows() {
        let [group, subgroup] = row.groups.map(|name| names[name as usize]);
        let subgroup = if shape.fields == 5 { subgroup } else { 0 };
        let end = &mut ends[document as usize];
        into[*end as usize] =
            of(FacetJudgment { document, group, subgroup, grade: row.grade }, before + u64::from(row.line));
        *end += 1;
    }
    // Each end has moved to the start of the next document.
    let mut start = 0;
    for &end in &ends[..docs] {
        let of_document = &mut into[start..end as usize];
        if !of_document.is_sorted_by_key(|one| judgment(one).place()) {
            of_document.sort_by_key(|one| judgment(one).place());
        }
        start = end as usize;
    }
}

/// The preferences of one query.
fn preferences(judgments: &[FacetJudgment], documents: u32) -> Result<Preferences, PreferenceFault> {
    let lines: Vec<PreferenceLine> = judgments.iter().map(PreferenceLine::from).collect();
    Preferences::without_pairs(&lines, documents)
}
