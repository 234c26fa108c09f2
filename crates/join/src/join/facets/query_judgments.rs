//! The judgments by facet of one query: its documents are numbered in bytewise order, and its
//! judgments are sorted and checked.

use super::{fingerprint::JudgmentHashes, shape::FacetShape};
use crate::bytes::id::IdInText;
use crate::facets::preferences::{PreferenceFault, PreferenceLine, Preferences};
use crate::ids::Ids;
use crate::judged_by::FacetKind;
use crate::lines::{
    diagnostics::{FirstProblems, Position, quoted},
    dialect::Dialect,
};
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

/// A message about judgments by facet in which lines may be named, before their numbers in the
/// whole text are known.
pub struct LineMessage {
    /// The position of the line that the message is about.
    pub position: Position,
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

    /// Returns the message with the numbers of the lines that it names.
    pub fn with_lines(mut self, number: impl Fn(Position) -> u64) -> String {
        for (at, position) in self.lines.into_iter().rev() {
            self.text.insert_str(at, &number(position).to_string());
        }
        self.text
    }
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
}

/// The judgments by facet of one query as rows: its records, its documents and the names of its
/// groups.
#[derive(Clone, Copy)]
pub struct FacetedRows<'r> {
    pub query: &'r [u8],
    pub records: &'r [Record],
    pub docnos: Docnos<'r>,
    /// The documents, in bytewise order.
    pub docs: &'r [IdInText<'r>],
    /// The document of each record, by its place in `docs`.
    pub numbers: &'r [u32],
    /// The place of each group in bytewise order, by its number; `None` if numbers are places.
    pub places: Option<&'r [u32]>,
    /// The names of groups and sub-groups, in bytewise order: of the whole input, or of the query.
    pub names: &'r [&'r [u8]],
    pub shape: FacetShape,
}

impl FacetedRows<'_> {
    /// Checks the query's judgments by facet, which are in input order, and appends them to `block`,
    /// by document, group and sub-group. Returns the largest grade of each document, in the order of
    /// `docs`, and the wrapping sum of the hashes of the judgments.
    pub fn store(
        &self,
        block: &mut JudgmentBlock,
        problems: &mut FirstProblems<LineMessage>,
    ) -> (Vec<f64>, u128) {
        // Lines are needed for messages alone, and sub-groups for preferences alone. So most
        // queries take the cheaper way without lines and sub-groups.
        let by_preference = self.shape.by == FacetKind::Preference;
        let plain = if by_preference { None } else { self.store_plain(block) };
        match plain {
            None => self.store_lined(block, problems),
            Some(largest) => {
                let mut hashes = JudgmentHashes::new(self.query);
                // Hashing is faster in the order of the lines: there the group is mostly that of
                // the judgment before, whose bytes are not written again.
                self.each(|judgment| self.hash(&judgment, &mut hashes));
                (largest, hashes.sum())
            }
        }
    }

    /// Appends the query's judgments without sub-groups to `block`, by document and group, and
    /// returns the largest grades; takes them back and returns `None` if one repeats.
    fn store_plain(&self, block: &mut JudgmentBlock) -> Option<Vec<f64>> {
        let mut largest = vec![f64::NEG_INFINITY; self.docs.len()];
        let start = block.judgments.len();
        block.judgments.resize(start + self.records.len(), FacetJudgment::default());
        let judgments = &mut block.judgments[start..];
        self.distribute(judgments, |JudgmentWithLine { judgment, .. }| {
            let grade = &mut largest[judgment.document as usize];
            *grade = judgment.grade.max(*grade);
            judgment
        });
        let are_distinct =
            sort_judgments(judgments, |judgment| (judgment.document, judgment.group, 0));
        if !are_distinct {
            block.judgments.truncate(start);
        }
        are_distinct.then_some(largest)
    }

    /// Stores the query's judgments with sub-groups, and reports repeated judgments and faults in
    /// preferences. `store_plain` is the cheaper way, without lines and sub-groups.
    fn store_lined(
        &self,
        block: &mut JudgmentBlock,
        problems: &mut FirstProblems<LineMessage>,
    ) -> (Vec<f64>, u128) {
        let mut lined = vec![JudgmentWithLine::default(); self.records.len()];
        self.distribute(&mut lined, |judgment| judgment);
        sort_judgments(&mut lined, JudgmentWithLine::place);
        // In the dialects of trec_eval a repeated preference is no error: trec_eval counts it
        // twice.
        if !self.shape.counts_repeats() {
            self.drop_repeats(&mut lined, problems);
        }
        block.judgments.extend(lined.iter().map(|lined| lined.judgment));
        if self.shape.has_subgroups() {
            block.subgroups.extend(lined.iter().map(|lined| lined.subgroup));
        }
        if self.shape.by == FacetKind::Preference {
            let lines: Vec<_> = lined
                .iter()
                .map(|line| PreferenceLine::new(&line.judgment, line.subgroup))
                .collect();
            if let Err(fault) = Preferences::new(&lines, self.docs.len() as u32) {
                let (place, message) = self.locate_fault(&fault, &lined);
                problems.add(place, || message);
            }
        }
        let (mut largest, mut hashes) = (Vec::new(), JudgmentHashes::new(self.query));
        lined.iter().for_each(|lined| lined.judgment.add_to(&mut largest));
        lined.iter().for_each(|judgment| self.hash(judgment, &mut hashes));
        (largest, hashes.sum())
    }

    /// Adds the hash of one judgment by facet to the fingerprint of its query.
    #[inline(always)]
    fn hash(&self, judgment: &JudgmentWithLine, hashes: &mut JudgmentHashes) {
        let Self { names, shape, .. } = self;
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
    fn drop_repeats(
        &self,
        lined: &mut Vec<JudgmentWithLine>,
        problems: &mut FirstProblems<LineMessage>,
    ) {
        let by = match self.shape.by {
            FacetKind::Judge => "by judge",
            FacetKind::Subtopic => "for subtopic",
            FacetKind::Preference | FacetKind::Span => "in group",
        };
        lined.dedup_by(|judgment, before| {
            let is_repeated = judgment.place() == before.place();
            let is_identical = judgment.judgment.grade == before.judgment.grade;
            if is_repeated && is_identical && self.shape.dialect == Dialect::Laneval {
                problems.identical += 1;
            } else if is_repeated {
                problems.add(self.place(judgment), || {
                    let (doc, query) = (self.doc(judgment), quoted(self.query));
                    let group = self.group(judgment);
                    let text = format!(
                        "docno {doc} is judged again {by} {group} for query {query}, first on line "
                    );
                    let mut message = LineMessage::new(self.position(judgment), text);
                    message.push_line(self.position(before));
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
    ) -> (u64, LineMessage) {
        use PreferenceFault::{Cycle, TwoLevels, ZeroAndMore};
        /// The number of steps of a cycle that are listed.
        const STEPS: usize = 4;
        let query = quoted(self.query);
        // The message is for the last line that takes part in the fault: the lines before it alone
        // do not make this fault. Rows ascend as lines do.
        let last = fault.lines().into_iter().map(|at| &lined[at]).max_by_key(|last| last.row);
        let place = last.map_or(self.records[0].at, |last| self.place(last));
        let position = last.map_or(ALL, |last| self.position(last));
        let mut message = LineMessage::new(position, String::new());
        match fault {
            TwoLevels { higher: one, lower: other } | ZeroAndMore { zero: one, more: other } => {
                let (one, other) = (&lined[*one], &lined[*other]);
                let (doc, group) = (self.doc(one), self.group(one));
                let what = match fault {
                    TwoLevels { .. } => "two levels",
                    _ => "level 0 and a level above 0",
                };
                message.text = format!(
                    "docno {doc} has {what} in group {group} for query {query}, first on line "
                );
                message.push_line(self.position(if one.row < other.row { one } else { other }));
            }
            Cycle { steps } => {
                let group = steps.first().map(|&(at, _)| self.group(&lined[at]));
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
                    message.push_line(self.position(lines[0]));
                    message.text += " and ";
                    message.push_line(self.position(lines[1]));
                    message.text += ")";
                }
                if steps.len() > STEPS {
                    message.text += &format!(", and {} more", steps.len() - STEPS);
                }
            }
            PreferenceFault::TooMany { .. } => message.text = format!("query {query}: {fault}"),
        }
        (place, message)
    }

    /// Returns the document id of a judgment by facet, in quotes for a message.
    fn doc(&self, judgment: &JudgmentWithLine) -> String {
        quoted(self.docs[judgment.judgment.document as usize].bytes())
    }

    /// Returns the place of a judgment in the input, which ascends with the lines.
    fn place(&self, judgment: &JudgmentWithLine) -> u64 {
        self.records[judgment.row as usize].at
    }

    /// Returns the position of a judgment in the input, for messages.
    fn position(&self, judgment: &JudgmentWithLine) -> Position {
        self.docnos.position(&self.records[judgment.row as usize])
    }

    /// Returns the name of a judgment's facet (judge, subtopic or preference group), in quotes for
    /// a message.
    fn group(&self, judgment: &JudgmentWithLine) -> String {
        quoted(self.names[judgment.judgment.group as usize])
    }

    /// Calls `take` with each judgment by facet of the query, in the order of the lines.
    #[inline(always)]
    fn each(&self, mut take: impl FnMut(JudgmentWithLine)) {
        let place = |group: u32| self.places.map_or(group, |places| places[group as usize]);
        let has_subgroups = self.shape.has_subgroups();
        for (row, (record, &document)) in (0..).zip(self.records.iter().zip(self.numbers)) {
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
    fn distribute<T>(&self, into: &mut [T], mut convert: impl FnMut(JudgmentWithLine) -> T) {
        // A counting sort: linear in the rows, and stable. Once documents are counted, `ends[doc]`
        // is the index of the document's first judgment. With each placed judgment `ends[doc]`
        // grows, up to the document's end.
        let mut ends = vec![0u32; self.docs.len() + 1];
        self.numbers.iter().for_each(|&doc| ends[doc as usize + 1] += 1);
        (0..self.docs.len()).for_each(|doc| ends[doc + 1] += ends[doc]);
        self.each(|judgment| {
            let end = &mut ends[judgment.judgment.document as usize];
            into[*end as usize] = convert(judgment);
            *end += 1;
        });
    }
}

/// Returns a query's distinct documents in bytewise order. Replaces their numbers in `numbers` by
/// indices into the returned documents.
pub fn ordered<'t>(known: &'t Ids, numbers: &mut [u32]) -> Vec<IdInText<'t>> {
    let (ends, text) = known.columns();
    let docs: Vec<_> = (0..known.len())
        .map(|at| IdInText { text, start: ends[at] as usize, end: ends[at + 1] as usize })
        .collect();
    // Behind the common prefix of all docnos, the next eight bytes are compared as one number.
    // These bytes nearly always decide.
    let common = common_prefix(&docs);
    let mut order: Vec<_> = docs.iter().map(|doc| doc.prefix_behind(common)).zip(0..).collect();
    // Documents often come in bytewise order already, and one pass finds out.
    let compare = |one: &(u64, u32), other: &(u64, u32)| {
        one.0.cmp(&other.0).then_with(|| {
            let [one, other] = [one, other].map(|doc| &docs[doc.1 as usize].bytes()[common..]);
            one.cmp(other)
        })
    };
    if order.is_sorted_by(|one, other| compare(one, other).is_lt()) {
        return docs;
    }
    order.sort_by(compare);
    let mut places = vec![0; docs.len()];
    order.iter().zip(0..).for_each(|(&(_, number), place)| places[number as usize] = place);
    numbers.iter_mut().for_each(|number| *number = places[*number as usize]);
    order.iter().map(|&(_, number)| docs[number as usize]).collect()
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
