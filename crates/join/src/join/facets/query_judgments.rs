//! The judgments by facet of one query: its documents are numbered in bytewise order, and its
//! judgments are sorted and checked.

use std::cmp::Ordering;

use super::fingerprint::JudgmentHashes;
use super::shape::FacetShape;
use crate::bytes::id::IdInText;
use crate::error::Result;
use crate::facets::preferences::{PreferenceFault, PreferenceLine, Preferences};
use crate::ids::Ids;
use crate::judged_by::FacetKind;
use crate::lines::diagnostics::{FirstProblems, Position, quoted};
use crate::matrix::FacetJudgment;
use crate::record::layout::{Docnos, Record};

/// The judgments by facet of some consecutive queries. Judgments do not move while others are read,
/// and blocks are freed one by one when their judgments go to where they stay.
#[derive(Default)]
pub struct JudgmentBlock {
    pub judgments: Vec<FacetJudgment>,
    /// The sub-groups; none if lines have none.
    pub subgroups: Vec<u32>,
}

/// The documents, largest grades, fingerprint and problems of one query's judgments by facet.
pub struct QuerySummary<'t> {
    /// The documents, in bytewise order.
    pub docs: Vec<IdInText<'t>>,
    /// The largest grade of each document, in the order of `docs`.
    pub largest: Vec<f64>,
    /// The wrapping sum of the hashes of the judgments.
    pub fingerprint: u128,
    pub problems: FirstProblems<LineMessage>,
}

/// A message about judgments by facet in which lines may be named, before their numbers in the
/// whole text are known.
pub struct LineMessage {
    position: Position,
    text: String,
    /// Where numbers of lines belong in the text, ascending.
    lines: Vec<(usize, Position)>,
}

/// The position of messages about no line, but the whole input.
pub const ALL: Position = Position { chunk: 0, line: 0 };

impl LineMessage {
    /// Makes a message about the line at `position`.
    pub fn new(position: Position, text: String) -> Self {
        Self { position, text, lines: Vec::new() }
    }

    /// Appends the number of a line to the message.
    fn push_line(&mut self, position: Position) {
        self.lines.push((self.text.len(), position));
    }

    /// Returns the position of the line that the message is about.
    pub fn position(&self) -> Position {
        self.position
    }

    /// Returns the message with the numbers of the lines that it names.
    pub fn with_lines(mut self, number: impl Fn(Position) -> u64) -> String {
        for (at, position) in self.lines.into_iter().rev() {
            self.text.insert_str(at, &number(position).to_string());
        }
        self.text
    }
}

/// The names of facets (judges, subtopics or preference groups) that the numbers in judgments
/// index, with the shape of a line.
#[derive(Clone, Copy)]
pub struct FacetNames<'t> {
    pub shape: FacetShape,
    /// The names of groups and sub-groups, in bytewise order: of the whole input, or of one query.
    pub names: &'t [&'t [u8]],
}

/// A judgment by facet with its sub-group and its record, which knows the line.
#[derive(Clone, Copy, Default)]
struct JudgmentWithLine {
    judgment: FacetJudgment,
    /// The sub-group; 0 where lines have none.
    subgroup: u32,
    /// The index of the judgment's record among those of its query.
    row: u32,
}

impl JudgmentWithLine {
    /// Returns the place of the judgment among those of its query: document, group and sub-group.
    fn place(&self) -> FacetPlace {
        (self.judgment.document, self.judgment.group, self.subgroup)
    }

    /// Returns the name of the judgment's facet (judge, subtopic or preference group), in quotes
    /// for a message.
    fn group(&self, names: &[&[u8]]) -> String {
        quoted(names[self.judgment.group as usize])
    }
}

impl<'t> QuerySummary<'t> {
    /// Checks a query's judgments by facet, and appends the judgments to `block`. `docs` are its
    /// documents in bytewise order, and `rows` its judgments in input order. Judgments are stored
    /// by document, group and sub-group.
    pub fn new(
        query: &[u8],
        docs: Vec<IdInText<'t>>,
        rows: FacetedRows<'_>,
        naming: FacetNames<'_>,
        block: &mut JudgmentBlock,
    ) -> Self {
        let (fingerprint, problems) = (0, FirstProblems::default());
        let mut summary = Self { docs, largest: Vec::new(), fingerprint, problems };
        // Lines are needed for messages alone, and sub-groups for preferences alone. So most
        // queries take the cheaper way without lines and sub-groups.
        let by_preference = naming.shape.by == FacetKind::Preference;
        if by_preference || !summary.distribute(&rows, block) {
            summary.distribute_lined(query, &rows, naming, block);
        } else {
            let mut hashes = JudgmentHashes::new(query);
            // Hashing is faster in the order of the lines: there the group is mostly that of the
            // judgment before, whose bytes are not written again.
            rows.each(|judgment| summary.hash(&judgment, naming, &mut hashes));
            summary.fingerprint = hashes.sum();
        }
        summary
    }

    /// Appends a query's judgments without sub-groups to `block`, by document and group; takes them
    /// back and returns `false` if one repeats.
    fn distribute(&mut self, rows: &FacetedRows<'_>, block: &mut JudgmentBlock) -> bool {
        self.largest.resize(self.docs.len(), f64::NEG_INFINITY);
        let start = block.judgments.len();
        block.judgments.resize(start + rows.records.len(), FacetJudgment::default());
        let judgments = &mut block.judgments[start..];
        rows.distribute(self.docs.len(), judgments, |JudgmentWithLine { judgment, .. }| {
            let grade = &mut self.largest[judgment.document as usize];
            *grade = judgment.grade.max(*grade);
            judgment
        });
        let are_distinct =
            sort_judgments(judgments, |judgment| (judgment.document, judgment.group, 0));
        if !are_distinct {
            block.judgments.truncate(start);
        }
        are_distinct
    }

    /// Appends a query's judgments to `block`, with sub-groups, and reports repeated judgments and
    /// faults in preferences. `distribute` is the cheaper way, without lines and
    /// sub-groups.
    fn distribute_lined(
        &mut self,
        query: &[u8],
        rows: &FacetedRows<'_>,
        naming: FacetNames<'_>,
        block: &mut JudgmentBlock,
    ) {
        let (shape, by_preference) = (naming.shape, naming.shape.by == FacetKind::Preference);
        let mut lined = vec![JudgmentWithLine::default(); rows.records.len()];
        rows.distribute(self.docs.len(), &mut lined, |judgment| judgment);
        sort_judgments(&mut lined, JudgmentWithLine::place);
        // In the dialects of trec_eval a repeated preference is no error: trec_eval counts it
        // twice.
        if !(by_preference && shape.rules.late_repeats) {
            self.without_repeats(&mut lined, rows, naming, query);
        }
        block.judgments.extend(lined.iter().map(|lined| lined.judgment));
        if shape.has_subgroups() {
            block.subgroups.extend(lined.iter().map(|lined| lined.subgroup));
        }
        if by_preference && let Err(fault) = preferences(&lined, self.docs.len() as u32) {
            let (place, message) = self.locate_fault(&fault, &lined, rows, naming.names, query);
            self.problems.add(place, || message);
        }
        self.largest.clear();
        lined.iter().for_each(|lined| lined.judgment.add_to(&mut self.largest));
        let mut hashes = JudgmentHashes::new(query);
        lined.iter().for_each(|judgment| self.hash(judgment, naming, &mut hashes));
        self.fingerprint = hashes.sum();
    }

    /// Adds the hash of one judgment by facet to the fingerprint of its query.
    #[inline(always)]
    fn hash(
        &self,
        judgment: &JudgmentWithLine,
        naming: FacetNames<'_>,
        hashes: &mut JudgmentHashes,
    ) {
        let FacetNames { shape, names, .. } = naming;
        let FacetJudgment { document, group, grade } = judgment.judgment;
        hashes.add([group, judgment.subgroup, document], grade, |part| match part {
            0 => names[group as usize],
            1 if shape.has_subgroups() => names[judgment.subgroup as usize],
            1 => b"",
            _ => self.docs[document as usize].bytes(),
        });
    }

    /// Removes repeated judgments of a document in the same group of a query, and reports them as
    /// problems.
    fn without_repeats(
        &mut self,
        lined: &mut Vec<JudgmentWithLine>,
        rows: &FacetedRows<'_>,
        naming: FacetNames<'_>,
        query: &[u8],
    ) {
        let by = match naming.shape.by {
            FacetKind::Judge => "by judge",
            FacetKind::Subtopic => "for subtopic",
            FacetKind::Preference | FacetKind::Span => "in group",
        };
        lined.dedup_by(|judgment, before| {
            let is_repeated = judgment.place() == before.place();
            if is_repeated {
                let (docs, problems) = (&self.docs, &mut self.problems);
                problems.add(rows.place(judgment), || {
                    let doc = quoted(docs[judgment.judgment.document as usize].bytes());
                    let (group, query) = (judgment.group(naming.names), quoted(query));
                    let text = format!(
                        "docno {doc} is judged again {by} {group} for query {query}, first on line "
                    );
                    let mut message = LineMessage::new(rows.position(judgment), text);
                    message.push_line(rows.position(before));
                    message
                });
            }
            is_repeated
        });
    }

    /// Returns the place and the message of a fault in the preferences of a query, such as a cycle.
    /// The fault names judgments by their index in `lined`.
    fn locate_fault(
        &self,
        fault: &PreferenceFault,
        lined: &[JudgmentWithLine],
        rows: &FacetedRows<'_>,
        names: &[&[u8]],
        query: &[u8],
    ) -> (u64, LineMessage) {
        /// The number of steps of a cycle that are listed.
        const STEPS: usize = 4;
        let query = quoted(query);
        // The message is for the last line that takes part in the fault: the lines before it alone
        // do not make this fault. Rows ascend as lines do.
        let last = fault.lines().into_iter().map(|at| &lined[at]).max_by_key(|last| last.row);
        let place = last.map_or(rows.records[0].at, |last| rows.place(last));
        let mut message =
            LineMessage::new(last.map_or(ALL, |last| rows.position(last)), String::new());
        let (what, one, other) = match fault {
            PreferenceFault::TwoLevels { higher, lower } => ("two levels", *higher, *lower),
            PreferenceFault::ZeroAndMore { zero, more } => {
                ("level 0 and a level above 0", *zero, *more)
            }
            PreferenceFault::Cycle { steps } => {
                let group = steps.first().map(|&(at, _)| lined[at].group(names));
                message.text = format!(
                    "the preferences of group {} for query {query} form a cycle: ",
                    group.unwrap_or_default()
                );
                for (step, &(above, below)) in steps.iter().take(STEPS).enumerate() {
                    let (above, below) = (&lined[above], &lined[below]);
                    let mut lines = [above, below];
                    lines.sort_by_key(|judgment| judgment.row);
                    let [above, below] = [above, below].map(|judgment| self.doc(judgment));
                    let comma = if step == 0 { "" } else { ", " };
                    message.text += &format!("{comma}{above} before {below} (lines ");
                    message.push_line(rows.position(lines[0]));
                    message.text += " and ";
                    message.push_line(rows.position(lines[1]));
                    message.text += ")";
                }
                if steps.len() > STEPS {
                    message.text += &format!(", and {} more", steps.len() - STEPS);
                }
                return (place, message);
            }
            PreferenceFault::Level { .. }
            | PreferenceFault::Document { .. }
            | PreferenceFault::TooMany { .. } => {
                message.text = format!("query {query}: {fault}");
                return (place, message);
            }
        };
        let (one, other) = (&lined[one], &lined[other]);
        let (doc, group) = (self.doc(one), one.group(names));
        message.text =
            format!("docno {doc} has {what} in group {group} for query {query}, first on line ");
        message.push_line(rows.position(if one.row < other.row { one } else { other }));
        (place, message)
    }

    /// Returns the document id of a judgment by facet, in quotes for a message.
    fn doc(&self, judgment: &JudgmentWithLine) -> String {
        quoted(self.docs[judgment.judgment.document as usize].bytes())
    }
}

/// Returns a query's distinct documents in bytewise order. Replaces their numbers in `numbers` by
/// indices into the returned documents.
pub fn ordered<'t>(known: &'t Ids, numbers: &mut [u32]) -> Vec<IdInText<'t>> {
    let (ends, text) = known.columns();
    let docs: Vec<IdInText<'_>> = (0..known.len())
        .map(|at| IdInText { text, start: ends[at] as usize, end: ends[at + 1] as usize })
        .collect();
    // Behind the common prefix of all docnos, the next eight bytes are compared as one number.
    // These bytes nearly always decide.
    let common = common_prefix(&docs);
    let mut order: Vec<(u64, u32)> =
        docs.iter().map(|doc| doc.prefix_behind(common)).zip(0..).collect();
    // Documents often come in bytewise order already, and one pass finds out.
    if order.is_sorted_by(|one, other| compare_docs(&docs, common, one, other).is_lt()) {
        return docs;
    }
    order.sort_by(|one, other| compare_docs(&docs, common, one, other));
    let mut places = vec![0; docs.len()];
    order.iter().zip(0..).for_each(|(&(_, number), place)| places[number as usize] = place);
    numbers.iter_mut().for_each(|number| *number = places[*number as usize]);
    order.iter().map(|&(_, number)| docs[number as usize]).collect()
}

/// Compares two document ids by the eight bytes behind their `common` first bytes, and only then by
/// the rest.
#[inline]
fn compare_docs(
    docs: &[IdInText<'_>],
    common: usize,
    one: &(u64, u32),
    other: &(u64, u32),
) -> Ordering {
    one.0.cmp(&other.0).then_with(|| {
        let [one, other] = [one, other].map(|doc| &docs[doc.1 as usize].bytes()[common..]);
        one.cmp(other)
    })
}

/// Returns the length of the longest common prefix of document ids.
fn common_prefix(ids: &[IdInText<'_>]) -> usize {
    let Some((first, rest)) = ids.split_first() else { return 0 };
    rest.iter().fold(first.bytes().len(), |common, id| {
        // Nearly every id begins with the prefix so far, and `starts_with` compares many bytes at
        // once.
        if id.bytes().starts_with(&first.bytes()[..common]) {
            return common;
        }
        id.bytes().iter().zip(first.bytes()).take_while(|(one, other)| one == other).count()
    })
}

/// The judgments by facet of one query as rows: its records, and the numbers of their documents.
#[derive(Clone, Copy)]
pub struct FacetedRows<'r> {
    pub records: &'r [Record],
    pub docnos: Docnos<'r>,
    /// The document of each record, by its place in bytewise order.
    pub docs: &'r [u32],
    /// The place of each group in bytewise order, by its number; `None` if numbers are places.
    pub places: Option<&'r [u32]>,
    pub shape: FacetShape,
}

impl FacetedRows<'_> {
    /// Returns the place of a judgment in the input, which ascends with the lines.
    fn place(&self, judgment: &JudgmentWithLine) -> u64 {
        self.records[judgment.row as usize].at
    }

    /// Returns the position of a judgment in the input, for messages.
    fn position(&self, judgment: &JudgmentWithLine) -> Position {
        self.docnos.position(&self.records[judgment.row as usize])
    }

    /// Calls `take` with each judgment by facet of the query, in the order of the lines.
    #[inline(always)]
    fn each(&self, mut take: impl FnMut(JudgmentWithLine)) {
        let place = |group: u32| self.places.map_or(group, |places| places[group as usize]);
        let has_subgroups = self.shape.has_subgroups();
        for (row, (record, &document)) in (0..).zip(self.records.iter().zip(self.docs)) {
            let [group, subgroup] = record.groups();
            let (grade, group) = (f64::from_bits(record.key), place(group));
            let judgment = FacetJudgment { document, group, grade };
            let subgroup = if has_subgroups { place(subgroup) } else { 0 };
            take(JudgmentWithLine { judgment, subgroup, row });
        }
    }

    /// Sorts a query's judgments by document into `into`, each converted by `convert`. The
    /// judgments of one document stay in the order of lines.
    #[inline(always)]
    fn distribute<T>(
        &self,
        docs: usize,
        into: &mut [T],
        mut convert: impl FnMut(JudgmentWithLine) -> T,
    ) {
        // A counting sort: linear in the rows, and stable. Once documents are counted, `ends[doc]`
        // is the index of the document's first judgment. With each placed judgment `ends[doc]`
        // grows, up to the document's end.
        let mut ends = vec![0u32; docs + 1];
        self.docs.iter().for_each(|&doc| ends[doc as usize + 1] += 1);
        (0..docs).for_each(|doc| ends[doc + 1] += ends[doc]);
        self.each(|judgment| {
            let end = &mut ends[judgment.judgment.document as usize];
            into[*end as usize] = convert(judgment);
            *end += 1;
        });
    }
}

/// The place of a judgment by facet among those of its query: document, group, sub-group.
type FacetPlace = (u32, u32, u32);

/// Sorts a query's judgments by document, group and sub-group; returns whether none of these
/// repeats. Judgments are in order by document already, and those of one place stay in the order of
/// lines.
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

/// Builds the order of preference of one query's documents from its judgments, or returns a fault.
fn preferences(
    judgments: &[JudgmentWithLine],
    documents: u32,
) -> Result<Preferences, PreferenceFault> {
    let lines = judgments.iter().map(|line| PreferenceLine::new(&line.judgment, line.subgroup));
    Preferences::new(&lines.collect::<Vec<_>>(), documents)
}
