//! The judgments of one query: its documents in bytewise order, and what is wrong with its
//! judgments.

use super::fingerprint::JudgmentHashes;
use super::piece::StretchJudgments;
use super::room::FacetRoom;
use super::shape::FacetShape;
use crate::bytes::hash::Seed;
use crate::bytes::id::IdInText;
use crate::bytes::interner::Interner;
use crate::error::Result;
use crate::facets::preferences::{PreferenceFault, PreferenceLine, Preferences};
use crate::judged_by::JudgedBy;
use crate::lines::diagnostics::{Earliest, quoted};
use crate::matrix::FacetJudgment;

/// The facts about one query, without its judgments.
pub struct MadeQuery<'t> {
    /// The documents, in bytewise order.
    pub docs: Vec<IdInText<'t>>,
    /// The number of judgments to keep.
    pub count: usize,
    /// The largest grade of each document, by number.
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

/// A judgment as its line says it.
#[derive(Debug, Clone, Copy, Default)]
struct LinedJudgment {
    of: FacetJudgment,
    /// The sub-group; 0 where lines have none.
    subgroup: u32,
    line: u64,
}

impl LinedJudgment {
    /// The place among the judgments of the query: by document, group and sub-group.
    fn place(&self) -> FacetPlace {
        (self.of.document, self.of.group, self.subgroup)
    }
}

impl<'t> MadeQuery<'t> {
    /// Numbers the documents of a query, whose stretches are in order, and checks its judgments.
    /// Writes the judgments into `room`, by document, group and sub-group. The room is large enough
    /// for every judgment; judgments that count come first.
    pub fn of(
        query: &[u8],
        parts: &[Stretch<'t>],
        naming: FacetNames<'_>,
        room: &mut FacetRoom<'_>,
    ) -> Self {
        let (docs, places) = placed(parts, naming.seed);
        let rows = FacetedRows { parts, places: &places, shape: naming.shape };
        let (count, fingerprint, problems) = (room.judgments.len(), 0, Earliest::default());
        let mut made = MadeQuery { docs, count, largest: Vec::new(), fingerprint, problems };
        // Lines are needed for messages alone, and sub-groups for preferences alone. So most
        // queries take the cheaper way without lines and sub-groups.
        let by_preference = naming.shape.by == JudgedBy::Preference;
        if by_preference || !made.distribute(&rows, room.judgments) {
            made.distribute_lined(query, &rows, naming, room);
        } else {
            let mut hashes = JudgmentHashes::of(query);
            // In the order of the lines groups mostly change less often.
            rows.each(|judgment| made.hash(&judgment, naming, &mut hashes));
            made.fingerprint = hashes.sum();
        }
        made
    }

    /// Puts the judgments into their room; returns whether each has a place of its own. They have
    /// no sub-groups.
    fn distribute(&mut self, rows: &FacetedRows<'_, '_>, judgments: &mut [FacetJudgment]) -> bool {
        self.largest.resize(self.docs.len(), f64::NEG_INFINITY);
        rows.distribute(self.docs.len(), judgments, |LinedJudgment { of, .. }| {
            let grade = &mut self.largest[of.document as usize];
            *grade = of.grade.max(*grade);
            of
        });
        sort_judgments(judgments, |of| (of.document, of.group, 0))
    }

    /// Distributes judgments with their lines and sub-groups, and reports repeated judgments;
    /// `distribute` does without lines and sub-groups.
    fn distribute_lined(
        &mut self,
        query: &[u8],
        rows: &FacetedRows<'_, '_>,
        naming: FacetNames<'_>,
        room: &mut FacetRoom<'_>,
    ) {
        let (shape, by_preference) = (naming.shape, naming.shape.by == JudgedBy::Preference);
        let mut lined = vec![LinedJudgment::default(); room.judgments.len()];
        rows.distribute(self.docs.len(), &mut lined, |judgment| judgment);
        sort_judgments(&mut lined, LinedJudgment::place);
        if !(by_preference && shape.rules.late_repeats) {
            self.without_repeats(&mut lined, naming, query);
        }
        self.count = lined.len();
        room.judgments.iter_mut().zip(&lined).for_each(|(judgment, lined)| *judgment = lined.of);
        room.subgroups
            .iter_mut()
            .zip(&lined)
            .for_each(|(subgroup, lined)| *subgroup = lined.subgroup);
        if by_preference && let Err(fault) = preferences(&lined, self.docs.len() as u32) {
            let (line, message) = self.told(&fault, &lined, naming.names, query);
            self.problems.add(line, || message);
        }
        self.largest.clear();
        lined.iter().for_each(|lined| lined.of.add_to(&mut self.largest));
        let mut hashes = JudgmentHashes::of(query);
        lined.iter().for_each(|judgment| self.hash(judgment, naming, &mut hashes));
        self.fingerprint = hashes.sum();
    }

    /// Adds the hash of a judgment.
    #[inline(always)]
    fn hash(&self, judgment: &LinedJudgment, naming: FacetNames<'_>, hashes: &mut JudgmentHashes) {
        let LinedJudgment { of, subgroup, .. } = *judgment;
        let name = |part: usize| match part {
            0 => naming.names[of.group as usize],
            1 if naming.shape.has_subgroups() => naming.names[subgroup as usize],
            1 => b"",
            _ => self.docs[of.document as usize].bytes(),
        };
        hashes.add([of.group, subgroup, of.document], of.grade, name);
    }

    /// Removes and reports all but the first judgment of a document in each group.
    fn without_repeats(
        &mut self,
        lined: &mut Vec<LinedJudgment>,
        naming: FacetNames<'_>,
        query: &[u8],
    ) {
        let by = match naming.shape.by {
            JudgedBy::Judge => "by judge",
            JudgedBy::Subtopic => "for subtopic",
            JudgedBy::Preference | JudgedBy::Span => "in group",
        };
        lined.dedup_by(|judgment, before| {
            let is_repeated = judgment.place() == before.place();
            if is_repeated {
                let (docs, problems) = (&self.docs, &mut self.problems);
                problems.add(judgment.line, || {
                    let doc = quoted(docs[judgment.of.document as usize].bytes());
                    let (group, query) =
                        (quoted(naming.names[judgment.of.group as usize]), quoted(query));
                    let first = before.line;
                    format!(
                        "docno {doc} is judged again {by} {group} for query {query}, first on line \
                         {first}"
                    )
                });
            }
            is_repeated
        });
    }

    /// The line and the message of a fault in the preferences of a query, whose judgments are on
    /// these lines.
    fn told(
        &self,
        fault: &PreferenceFault,
        lined: &[LinedJudgment],
        names: &[&[u8]],
        query: &[u8],
    ) -> (u64, String) {
        /// The number of steps of a circle that are listed.
        const STEPS: usize = 4;
        let query = quoted(query);
        let line_of = |at: usize| lined[at].line;
        let doc = |at: usize| quoted(self.docs[lined[at].of.document as usize].bytes());
        let group = |at: usize| quoted(names[lined[at].of.group as usize]);
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
            PreferenceFault::ZeroAndMore { zero, more } => {
                two("level 0 and a level above 0", *zero, *more)
            }
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
            | PreferenceFault::TooMany { .. } => {
                format!("query {query}: {fault}")
            }
        };
        let line = fault.lines().into_iter().map(line_of).max().unwrap_or(0);
        (line, message)
    }
}

/// The distinct documents of a query in bytewise order, and the place there of each document of
/// each stretch, one stretch after the other.
fn placed<'t>(parts: &[Stretch<'t>], seed: Seed) -> (Vec<IdInText<'t>>, Vec<u32>) {
    let mut docs: Vec<IdInText<'_>> = Vec::new();
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
                let (number, is_new) = known.insert_at(doc);
                numbers.push(number);
                if is_new {
                    docs.push(doc);
                }
            }
        }
    }
    // Eight bytes behind what all docnos begin with are compared as one number, and are nearly
    // always enough.
    let common = common_prefix(&docs);
    let mut order: Vec<(u64, u32)> =
        docs.iter().map(|doc| doc.prefix_behind(common)).zip(0..).collect();
    let compare = |one: &(u64, u32), other: &(u64, u32)| {
        let rest = |of: &(u64, u32)| &docs[of.1 as usize].bytes()[common..];
        one.0.cmp(&other.0).then_with(|| rest(one).cmp(rest(other)))
    };
    if !order.is_sorted_by(|one, other| compare(one, other).is_lt()) {
        order.sort_by(compare);
        let mut places = vec![0; docs.len()];
        order.iter().zip(0..).for_each(|(&(_, number), place)| places[number as usize] = place);
        numbers.iter_mut().for_each(|number| *number = places[*number as usize]);
    }
    (order.iter().map(|&(_, number)| docs[number as usize]).collect(), numbers)
}

/// The number of bytes with which all ids begin.
fn common_prefix(ids: &[IdInText<'_>]) -> usize {
    let Some((first, rest)) = ids.split_first() else { return 0 };
    rest.iter().fold(first.bytes().len(), |common, id| {
        let alike = |bytes: &[u8]| {
            bytes.iter().zip(first.bytes()).take_while(|(one, other)| one == other).count()
        };
        if id.bytes().starts_with(&first.bytes()[..common]) { common } else { alike(id.bytes()) }
    })
}

/// The rows of a query: its stretches, and the places of the documents of all of them.
#[derive(Clone, Copy)]
struct FacetedRows<'r, 't> {
    parts: &'r [Stretch<'t>],
    places: &'r [u32],
    shape: FacetShape,
}

impl FacetedRows<'_, '_> {
    /// Calls `take` with each judgment, in the order of the lines.
    #[inline(always)]
    fn each(&self, mut take: impl FnMut(LinedJudgment)) {
        let mut start = 0;
        for (part, names) in self.parts {
            let places = &self.places[start..];
            for row in part.rows {
                let [group, subgroup] = row.groups.map(|name| names[name as usize]);
                let of =
                    FacetJudgment { document: places[row.doc as usize], group, grade: row.grade };
                let subgroup = if self.shape.has_subgroups() { subgroup } else { 0 };
                take(LinedJudgment { of, subgroup, line: part.before + u64::from(row.line) });
            }
            start += part.docs().len();
        }
    }

    /// Puts what `of` makes of each judgment into `into`, by document, and those of a document in
    /// the order of the lines.
    #[inline(always)]
    fn distribute<T>(&self, docs: usize, into: &mut [T], mut of: impl FnMut(LinedJudgment) -> T) {
        let mut ends = vec![0u32; docs + 1];
        let mut start = 0;
        for (part, _) in self.parts {
            let places = &self.places[start..];
            part.rows.iter().for_each(|row| ends[places[row.doc as usize] as usize + 1] += 1);
            start += part.docs().len();
        }
        (0..docs).for_each(|doc| ends[doc + 1] += ends[doc]);
        self.each(|judgment| {
            let end = &mut ends[judgment.of.document as usize];
            into[*end as usize] = of(judgment);
            *end += 1;
        });
    }
}

/// A place among the judgments of a query: document, group, sub-group.
type FacetPlace = (u32, u32, u32);

/// Sorts judgments, in order by document already, by place, and judgments of one place by line;
/// returns whether all places are distinct.
fn sort_judgments<T>(all: &mut [T], place: impl Fn(&T) -> FacetPlace) -> bool {
    // In the usual text the groups of each document ascend.
    if all.is_sorted_by(|one, next| place(one) < place(next)) {
        return true;
    }
    for of_document in all.chunk_by_mut(|one, next| place(one).0 == place(next).0) {
        if !of_document.is_sorted_by_key(&place) {
            of_document.sort_by_key(&place);
        }
    }
    all.windows(2).all(|pair| place(&pair[0]) != place(&pair[1]))
}

/// The preferences of one query.
fn preferences(
    judgments: &[LinedJudgment],
    documents: u32,
) -> Result<Preferences, PreferenceFault> {
    let line = |judgment: &LinedJudgment| PreferenceLine::from((&judgment.of, judgment.subgroup));
    Preferences::new(&judgments.iter().map(line).collect::<Vec<_>>(), documents)
}
