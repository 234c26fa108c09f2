//! Judgments by group: lines that name a judge, a subtopic or a judgment group beside the document.
//!
//! ```text
//! by judge or subtopic   query group document grade
//! by preference          query group document level, or query group sub-group document level
//! ```
//!
//! Pieces of the text are split into lines on all threads; rows of tables and those in memory are copied. Then each query's documents are
//! numbered in bytewise order, groups in the bytewise order of all their names. Plain labels are made of each document's largest grade.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

use super::columns::{Collected, ColumnSource, Columns, Judgments, PieceSize};
use super::diagnostics::{quoted, whole_file};
use super::dialect::{Dialect, Rules};
use super::format::Form;
use super::hash::Seed;
use super::input::Opened;
use super::qrels::{self, Kept, Qrels};
use super::rows::{TextRow, each_judgment};
use super::scan::split;
use super::shape::Role;
use super::tables::with_judgments;
use crate::error::{Error, Problem, Problems, Result};
use crate::groups::preferences::{Fault, Line, Preferences};
use crate::label::{GroupedBy, GroupedJudgment, JudgmentGroups, Ragged};
use crate::watch::{Watch, is_stopped, not_stopped};

/// The bytes of text that one thread splits at a time, at least.
const PIECE: usize = 1 << 18;

/// A judgment as it stands in the text.
#[derive(Debug, Clone, Copy)]
struct Raw<'t> {
    group: &'t [u8],
    subgroup: &'t [u8],
    doc: &'t [u8],
    grade: f64,
    /// The number of the line, from 1.
    line: u64,
}

/// The judgments of some lines.
#[derive(Default)]
struct Piece<'t> {
    rows: Vec<Raw<'t>>,
    /// The rows of one query that follow one another.
    queries: Vec<(&'t [u8], Range<usize>)>,
    problems: Vec<(u64, String)>,
}

impl<'t> Piece<'t> {
    fn push(&mut self, query: &'t [u8], row: Raw<'t>) {
        match self.queries.last_mut() {
            Some((last, rows)) if *last == query => rows.end += 1,
            _ => self.queries.push((query, self.rows.len()..self.rows.len() + 1)),
        }
        self.rows.push(row);
    }
}

/// The shape of the lines.
#[derive(Clone, Copy)]
struct Shape {
    by: GroupedBy,
    dialect: Dialect,
    rules: Rules,
    /// The number of fields of a line.
    fields: usize,
}

/// Reads judgments by group; returns what can be used of them, and the problems.
pub(super) fn read(
    text: &Opened,
    by: (GroupedBy, Option<usize>),
    dialect: Dialect,
    seed: Seed,
    watch: Option<&Watch>,
) -> Result<(Qrels, Problems)> {
    let whole = text.whole().map_err(|source| Error::io(text.name.as_ref(), "read", source))?;
    read_text(&whole, &text.name, by, dialect, seed, watch)
}

/// Reads the rows of a table or of records by judge or subtopic; returns what can be used of them, and the problems.
pub(super) fn read_rows(
    (text, form): (&Opened, &Form),
    by: GroupedBy,
    dialect: Dialect,
    seed: Seed,
    watch: Option<&Watch>,
) -> Result<(Qrels, Problems)> {
    if let Some(table) = form.columns() {
        return with_judgments(table, |batches| {
            Columns::of_judgments(&text.name, batches, seed)?.of_a_file(Role::Qrels)?;
            read_columns((&text.name, batches), by, dialect, seed, watch)
        });
    }
    let shape = Shape::of(by, 4, dialect);
    let mut copied = Copied::default();
    let take = |line: u64, row: Result<TextRow<'_>, String>| {
        match row {
            Ok(row) => {
                let ids = [row.query, row.group.unwrap_or_default(), b"", row.doc];
                copied.push(shape, line, ids, row.value);
            }
            Err(message) => copied.problems.push((line, message)),
        }
        !is_stopped(watch)
    };
    let read = each_judgment((text, form), shape.rules, take);
    read.map_err(|source| Error::io(text.name.as_ref(), "read", source))?;
    assemble(&[copied.piece()], &text.name, shape, &form.expected(Role::Qrels), seed, watch)
}

/// Reads columns in memory by group; returns what can be used of them, and the problems, whose lines are rows.
pub(super) fn read_columns(
    (name, batches): (&str, &[Judgments<'_>]),
    by: GroupedBy,
    dialect: Dialect,
    seed: Seed,
    watch: Option<&Watch>,
) -> Result<(Qrels, Problems)> {
    let columns = Columns::of_judgments(name, batches, seed)?;
    if let Some(batch) = columns.without_groups() {
        let message = format!("batch {batch}: the groups are missing, and judgments are read by {by}");
        return Err(Error::Input(whole_file(name, message)));
    }
    let shape = Shape::of(by, if columns.have_subgroups() { 5 } else { 4 }, dialect);
    let mut copied = Copied::default();
    columns.each_grouped(|at, query, [group, subgroup], doc, grade| {
        copied.push(shape, at as u64 + 1, [query, group, subgroup, doc], grade);
    });
    assemble(&[copied.piece()], name, shape, "", seed, watch)
}

/// Takes judgments (query, group, document, grade) in any order.
pub(super) fn of_rows<Q: AsRef<[u8]>, G: AsRef<[u8]>, D: AsRef<[u8]>>(
    rows: impl IntoIterator<Item = (Q, G, D, f64)>,
    by: GroupedBy,
) -> Result<Qrels> {
    let shape = Shape::of(by, 4, Dialect::Laneval);
    let mut copied = Copied::default();
    for (line, (query, group, doc, grade)) in (1..).zip(rows) {
        copied.push(shape, line, [query.as_ref(), group.as_ref(), b"", doc.as_ref()], grade);
    }
    sound(assemble(&[copied.piece()], "qrels", shape, "", Seed::random(), None)?)
}

/// Returns judgments that have no problems.
pub(super) fn sound((qrels, problems): (Qrels, Problems)) -> Result<Qrels> {
    if problems.first.is_empty() { Ok(qrels) } else { Err(Error::Input(problems)) }
}

/// Judgments that were copied, because they do not lie in a text.
#[derive(Default)]
struct Copied {
    /// The query, the group, the sub-group and the document of each judgment, one after the other.
    ids: Vec<u8>,
    rows: Vec<CopiedRow>,
    problems: Vec<(u64, String)>,
}

struct CopiedRow {
    /// The ends of the ids.
    ends: [usize; 4],
    grade: f64,
    line: u64,
}

impl Copied {
    fn push(&mut self, shape: Shape, line: u64, ids: [&[u8]; 4], grade: f64) {
        if !grade.is_finite() {
            self.problems.push((line, format!("{} {grade} is not a finite number", shape.number())));
            return;
        }
        if ids[1].is_empty() {
            return self.problems.push((line, "the group is empty".to_owned()));
        }
        let ends = ids.map(|id| {
            self.ids.extend_from_slice(id);
            self.ids.len()
        });
        self.rows.push(CopiedRow { ends, grade: shape.grade(grade), line });
    }

    fn piece(&self) -> Piece<'_> {
        let mut piece = Piece { problems: self.problems.clone(), ..Piece::default() };
        let mut start = 0;
        for &CopiedRow { ends, grade, line } in &self.rows {
            let [query, group, subgroup, doc] = ends.map(|end| {
                let id = &self.ids[start..end];
                start = end;
                id
            });
            piece.push(query, Raw { group, subgroup, doc, grade, line });
        }
        piece
    }
}

fn read_text(
    text: &[u8],
    name: &str,
    (by, fields): (GroupedBy, Option<usize>),
    dialect: Dialect,
    seed: Seed,
    watch: Option<&Watch>,
) -> Result<(Qrels, Problems)> {
    let rules = dialect.rules();
    let mut first = text.split(|&byte| byte == b'\n').filter(|line| !is_skipped(line, rules));
    let fields = match by {
        // Both formats of preferences are told apart by their first line.
        GroupedBy::Preference if fields.is_some() => fields.unwrap_or(4).clamp(4, 5),
        GroupedBy::Preference => first.next().map_or(4, |line| split(line).count()).clamp(4, 5),
        _ => 4,
    };
    let shape = Shape::of(by, fields, dialect);
    let starts = pieces(text);
    let lines = |range: &Range<usize>| memchr::memchr_iter(b'\n', &text[range.clone()]).count() as u64;
    let counts: Vec<u64> = starts.par_iter().map(lines).collect();
    let before = counts.iter().scan(0, |sum, count| {
        let before = *sum;
        *sum += count;
        Some(before)
    });
    let numbered: Vec<(Range<usize>, u64)> = starts.into_iter().zip(before).collect();
    watch.iter().for_each(|watch| watch.expect(text.len() as u64));
    let piece = |(range, before): (Range<usize>, u64)| {
        not_stopped(watch)?;
        watch.iter().for_each(|watch| watch.add(range.len() as u64));
        Ok(shape.piece(&text[range], before))
    };
    let pieces = numbered.into_par_iter().map(piece).collect::<Result<Vec<Piece<'_>>>>()?;
    assemble(&pieces, name, shape, &format!(": {}", shape.expected()), seed, watch)
}

/// Makes judgments of the rows of all pieces, and checks them. `expected` says what a row looks like, behind a colon.
fn assemble(
    pieces: &[Piece<'_>],
    name: &str,
    shape: Shape,
    expected: &str,
    seed: Seed,
    watch: Option<&Watch>,
) -> Result<(Qrels, Problems)> {
    let Shape { by, dialect, rules, .. } = shape;
    let mut problems: Vec<(u64, String)> = Vec::new();
    let mut of_query: HashMap<&[u8], Vec<&[Raw<'_>]>> = HashMap::new();
    for piece in pieces {
        problems.extend(piece.problems.iter().cloned());
        for (query, rows) in &piece.queries {
            of_query.entry(query).or_default().push(&piece.rows[rows.clone()]);
        }
    }
    let count: usize = pieces.iter().map(|piece| piece.rows.len()).sum();
    if count == 0 && problems.is_empty() {
        problems.push((0, format!("there is no judgment in it{expected}")));
    }
    let names: Vec<&[u8]> = names(pieces).into_iter().collect();
    let number = |name: &[u8]| names.binary_search(&name).unwrap_or_default() as u32;
    let mut queries: Vec<(&[u8], Vec<&[Raw<'_>]>)> = of_query.into_iter().collect();
    queries.par_sort_unstable_by_key(|(query, _)| *query);
    let made = queries.par_iter().map(|(query, rows)| {
        not_stopped(watch)?;
        Ok(Made::of(query, rows, shape, &number))
    });
    let made = made.collect::<Result<Vec<Made<'_>>>>()?;
    let faults = made.iter().flat_map(|made| made.problems.iter().cloned());
    let any_fault = problems.len();
    problems.extend(faults);
    let is_late = any_fault == 0 && rules.late_repeats && by == GroupedBy::Preference;
    let problems = listed(name, problems);
    if is_late && !problems.first.is_empty() {
        return Err(Error::Repeated(problems));
    }
    let (mut judgments, mut largest) = (Ragged::default(), Ragged::default());
    for made in &made {
        judgments.push(&made.judgments);
        largest.push(&made.largest);
    }
    let fingerprint = made.iter().fold(0u128, |sum, made| sum.wrapping_add(made.fingerprint));
    let documents = queries.iter().zip(&made).flat_map(|((query, _), made)| {
        made.docs.iter().zip(&made.largest).map(move |(&doc, &grade)| (*query, doc, grade))
    });
    let rows = Collected::of(documents);
    let qrels = if count == 0 {
        Qrels::none(name, dialect, seed)
    } else {
        let dictionary = rows.queries();
        let batches = [rows.judgments(&dictionary)];
        let columns = Columns::of_judgments(name, &batches, seed)?;
        let source = ColumnSource::all(&columns, PieceSize::default(), None);
        qrels::read_kept(&source, dialect, seed, Kept::Numbers)?.0
    };
    let names = names.into_iter().collect();
    let grouped = JudgmentGroups { by, names, judgments, largest };
    Ok((qrels.with_grouped(Arc::new(grouped), fingerprint), problems))
}

/// Whether a line is blank or a comment.
fn is_skipped(line: &[u8], rules: Rules) -> bool {
    let column = line.iter().position(|&byte| !super::scan::is_separator(byte));
    column.is_none_or(|column| line[column] == b'#' && rules.qrels_comments.cover(column))
}

/// Cuts a text behind line feeds.
fn pieces(text: &[u8]) -> Vec<Range<usize>> {
    let (mut pieces, mut start) = (Vec::new(), 0);
    while start < text.len() {
        let wanted = text.len().min(start + PIECE);
        let end = memchr::memchr(b'\n', &text[wanted..]).map_or(text.len(), |feed| wanted + feed + 1);
        pieces.push(start..end);
        start = end;
    }
    pieces
}

/// The names of all groups and sub-groups, in bytewise order.
fn names<'t>(pieces: &[Piece<'t>]) -> BTreeSet<&'t [u8]> {
    let of_piece = |piece: &Piece<'t>| {
        let (mut names, mut last): (BTreeSet<&'t [u8]>, [&[u8]; 2]) = (BTreeSet::new(), [b"", b""]);
        for row in &piece.rows {
            if [row.group, row.subgroup] != last {
                last = [row.group, row.subgroup];
                names.extend(last.into_iter().filter(|name| !name.is_empty()));
            }
        }
        names
    };
    let both = |mut one: BTreeSet<&'t [u8]>, other: BTreeSet<&'t [u8]>| {
        one.extend(other);
        one
    };
    pieces.par_iter().map(of_piece).reduce(BTreeSet::new, both)
}

/// The first problems, by line.
fn listed(name: &str, mut problems: Vec<(u64, String)>) -> Problems {
    problems.sort();
    let more = problems.len().saturating_sub(Problems::LIMIT) as u64;
    problems.truncate(Problems::LIMIT);
    let problem = |(line, message)| Problem { file: name.to_owned(), line, message };
    Problems { first: problems.into_iter().map(problem).collect(), more }
}

impl Shape {
    fn of(by: GroupedBy, fields: usize, dialect: Dialect) -> Self {
        Shape { by, dialect, rules: dialect.rules(), fields }
    }

    /// The name of the number of a line.
    fn number(self) -> &'static str {
        if self.by == GroupedBy::Preference { "level" } else { "grade" }
    }

    /// Returns a grade or a level as the dialect takes it: trec_eval 9 rounds levels to f32.
    fn grade(self, grade: f64) -> f64 {
        let grade = match self.by {
            GroupedBy::Preference if self.dialect == Dialect::Trec9 => f64::from(grade as f32),
            GroupedBy::Preference => grade,
            _ if self.rules.whole_grades => grade.trunc(),
            _ => grade,
        };
        grade + 0.0
    }

    fn expected(self) -> &'static str {
        match (self.by, self.fields) {
            (GroupedBy::Judge, _) => "expected 'query judge docno grade'",
            (GroupedBy::Subtopic, _) => "expected 'query subtopic docno grade'",
            (GroupedBy::Preference, 5) => "expected 'query group sub-group docno level'",
            (GroupedBy::Preference, _) => "expected 'query group docno level'",
        }
    }

    /// Splits a piece of the text, before which there are some lines.
    fn piece<'t>(self, text: &'t [u8], before: u64) -> Piece<'t> {
        let mut piece = Piece::default();
        for (line, number) in text.split(|&byte| byte == b'\n').zip(before + 1..) {
            if is_skipped(line, self.rules) {
                continue;
            }
            match self.row(line, number) {
                Ok((query, row)) => piece.push(query, row),
                Err(message) => piece.problems.push((number, message)),
            }
        }
        piece
    }

    fn row(self, line: &[u8], number: u64) -> Result<(&[u8], Raw<'_>), String> {
        let mut fields: [&[u8]; 5] = [b""; 5];
        let mut count = 0;
        for field in split(line) {
            if let Some(place) = fields[..self.fields].get_mut(count) {
                *place = field;
            }
            count += 1;
        }
        if count != self.fields {
            let are = if count == 1 { "is 1 field".to_owned() } else { format!("are {count} fields") };
            return Err(format!("there {are}: {}", self.expected()));
        }
        let [query, group, .., doc, value] = &fields[..self.fields] else { unreachable!("at least four") };
        let subgroup = if self.fields == 5 { fields[2] } else { b"" };
        let read = if self.by == GroupedBy::Preference { self.rules.score } else { self.rules.grade };
        let what = self.number();
        let grade = read(value)
            .filter(|grade| grade.is_finite())
            .ok_or_else(|| format!("{what} {} is not a number: {}", quoted(value), self.expected()))?;
        Ok((query, Raw { group, subgroup, doc, grade: self.grade(grade), line: number }))
    }
}

/// The judgments of one query.
struct Made<'t> {
    docs: Vec<&'t [u8]>,
    judgments: Vec<GroupedJudgment>,
    largest: Vec<f64>,
    fingerprint: u128,
    problems: Vec<(u64, String)>,
}

impl<'t> Made<'t> {
    /// Numbers the documents of a query, and checks its judgments.
    fn of(query: &[u8], rows: &[&[Raw<'t>]], shape: Shape, number: &dyn Fn(&[u8]) -> u32) -> Self {
        let mut rows: Vec<Raw<'t>> = rows.iter().flat_map(|rows| rows.iter().copied()).collect();
        let key = |row: &Raw<'t>| (row.doc, row.group, row.subgroup, row.line);
        rows.sort_unstable_by(|one, other| key(one).cmp(&key(other)));
        let mut made = Made {
            docs: Vec::new(),
            judgments: Vec::with_capacity(rows.len()),
            largest: Vec::new(),
            fingerprint: 0,
            problems: Vec::new(),
        };
        let mut last: Option<Raw<'t>> = None;
        let mut known: [(&[u8], u32); 2] = [(b"", 0); 2];
        let mut hashed = Vec::new();
        let mut taken: Vec<&Raw<'t>> = Vec::with_capacity(rows.len());
        for row in &rows {
            if made.docs.last() != Some(&row.doc) {
                made.docs.push(row.doc);
                made.largest.push(row.grade);
            }
            let repeats =
                |last: &Raw<'t>| (last.doc, last.group, last.subgroup) == (row.doc, row.group, row.subgroup);
            // trec_eval counts the line twice.
            let counts_twice = shape.by == GroupedBy::Preference && shape.rules.late_repeats;
            if let Some(first) = last.filter(repeats).filter(|_| !counts_twice) {
                let by = match shape.by {
                    GroupedBy::Judge => "by judge",
                    GroupedBy::Subtopic => "for subtopic",
                    GroupedBy::Preference => "in group",
                };
                let (doc, group, query) = (quoted(row.doc), quoted(row.group), quoted(query));
                let line = row.line.max(first.line);
                let message = format!(
                    "docno {doc} is judged again {by} {group} for query {query}, first on line {}",
                    row.line.min(first.line)
                );
                made.problems.push((line, message));
                continue;
            }
            last = Some(*row);
            if let Some(largest) = made.largest.last_mut() {
                *largest = largest.max(row.grade);
            }
            for (known, name) in known.iter_mut().zip([row.group, row.subgroup]) {
                if known.0 != name {
                    *known = (name, number(name));
                }
            }
            hashed.clear();
            for part in [query, row.group, row.subgroup, row.doc] {
                hashed.extend_from_slice(&(part.len() as u64).to_le_bytes());
                hashed.extend_from_slice(part);
            }
            hashed.extend_from_slice(&row.grade.to_le_bytes());
            made.fingerprint = made.fingerprint.wrapping_add(xxh3_128(&hashed));
            let subgroup = if shape.fields == 5 { known[1].1 } else { 0 };
            let document = made.docs.len() as u32 - 1;
            taken.push(row);
            made.judgments.push(GroupedJudgment { document, group: known[0].1, subgroup, grade: row.grade });
        }
        if shape.by == GroupedBy::Preference
            && let Err(fault) = preferences(&made.judgments, made.docs.len() as u32)
        {
            made.problems.push(told(&fault, &taken, query));
        }
        made
    }
}

/// The preferences of one query.
fn preferences(judgments: &[GroupedJudgment], documents: u32) -> Result<Preferences, Fault> {
    let lines: Vec<Line> = judgments.iter().map(Line::from).collect();
    Preferences::new(&lines, documents)
}

/// The line and the message of a fault in the preferences of a query, which were made of these rows.
fn told(fault: &Fault, rows: &[&Raw<'_>], query: &[u8]) -> (u64, String) {
    /// The number of steps of a circle that are listed.
    const STEPS: usize = 4;
    let query = quoted(query);
    let two = |what: &str, one: usize, other: usize| {
        let (doc, group) = (quoted(rows[one].doc), quoted(rows[one].group));
        let first = rows[one].line.min(rows[other].line);
        format!("docno {doc} has {what} in group {group} for query {query}, first on line {first}")
    };
    let message = match fault {
        Fault::TwoLevels { higher, lower } => two("two levels", *higher, *lower),
        Fault::ZeroAndMore { zero, more } => two("level 0 and a level above 0", *zero, *more),
        Fault::Cycle { steps } => {
            let step = |&(above, below): &(usize, usize)| {
                let [above, below] = [rows[above], rows[below]];
                let (first, last) = (above.line.min(below.line), above.line.max(below.line));
                format!("{} before {} (lines {first} and {last})", quoted(above.doc), quoted(below.doc))
            };
            let mut told: Vec<String> = steps.iter().take(STEPS).map(step).collect();
            if steps.len() > STEPS {
                told.push(format!("and {} more", steps.len() - STEPS));
            }
            let group = steps.first().map_or_else(String::new, |&(at, _)| quoted(rows[at].group));
            format!(
                "the preferences of group {group} for query {query} go round in a circle: {}",
                told.join(", ")
            )
        }
        Fault::Level { .. } | Fault::Document { .. } | Fault::TooLarge { .. } => {
            format!("query {query}: {fault}")
        }
    };
    let line = fault.lines().into_iter().map(|at| rows[at].line).max().unwrap_or(0);
    (line, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::{Input, Join, ReadAs};

    const TREC: &str = "q2 bob d1 2\nq1 ann d2 1\nq1 bob d2 0\nq1 ann d1 -1\nq2 7 e 1.5\n";

    fn read(by: GroupedBy, name: &str, text: &str, columns: Option<&str>) -> Result<Qrels> {
        let columns = columns.map(|columns| columns.parse().unwrap());
        let qrels_as = ReadAs { columns, ..ReadAs::default() };
        let join = Join { grouped_by: Some(by), qrels_as, ..Join::default() };
        join.qrels(Input::Bytes { name: name.into(), bytes: text.into() })
    }

    fn all(qrels: &Qrels) -> impl PartialEq + std::fmt::Debug + use<> {
        let grouped = qrels.grouped().unwrap().clone();
        (qrels.fingerprint(), qrels.queries().clone(), grouped, qrels.facts().clone(), qrels.book().clone())
    }

    /// The rows of a text in TREC.
    fn rows() -> Vec<[&'static str; 4]> {
        TREC.lines().map(|line| line.split(' ').collect::<Vec<_>>().try_into().unwrap()).collect()
    }

    fn lines(header: &str, line: impl Fn([&str; 4]) -> String) -> String {
        let lines: Vec<String> = rows().into_iter().map(line).collect();
        format!("{header}{}\n", lines.join("\n"))
    }

    #[test]
    fn every_source_gives_the_same() {
        let expected = all(&read(GroupedBy::Judge, "qrels", TREC, None).unwrap());
        let check = |text: &str, columns: Option<&str>| {
            let qrels = read(GroupedBy::Judge, "qrels", text, columns).unwrap();
            assert_eq!(all(&qrels), expected, "{text}");
        };
        let record = |[query, judge, doc, grade]: [&str; 4]| {
            format!(
                r#"{{"qid": "{query}", "rel": {grade}, "docno": "{doc}", "annotator": "{judge}", "x": []}}"#
            )
        };
        check(&lines("query_id\tjudge\tdoc_id\trelevance\n", |row| row.join("\t")), None);
        check(&lines("rel,doc,rater_id,x,topic\n", |[q, j, d, g]| format!("{g},{d},\"{j}\",,{q}")), None);
        check(&lines("qid judge docno rel\n", |row| row.join(" ")), None);
        check(&lines("", record), None);
        check(&lines("", record).replace("\"7\"", "7"), None);
        check(&format!("[{}]", lines("", record).trim_end().replace('\n', ",\n")), None);
        let named = Some("query=a,judge=who,doc=b,grade=c");
        check(&lines("c,b,who,judge,a\n", |[q, j, d, g]| format!("{g},{d},{j},no,{q}")), named);
        let in_order = Some("doc,-,judge,grade,query");
        check(&lines("", |[q, j, d, g]| format!("{d},x y,{j},{g},{q}")), in_order);
        check(&lines("", |row| row.join(",")), None);
        let numbers = rows().into_iter().map(|[q, j, d, g]| (q, j, d, g.parse().unwrap()));
        assert_eq!(all(&Qrels::by_group(numbers, GroupedBy::Judge).unwrap()), expected);
    }

    #[test]
    fn columns_in_any_batches_give_the_same() {
        let by = |by| Join { grouped_by: Some(by), ..Join::default() };
        let trec = "q1 3 7 1\nq1 4 7 2\nq1 3 8 0\n";
        let (one, two) = (
            Judgments::new(&["q1", "q1"], &[7u8, 7], &[1i8, 2]).with_groups(&[3u8, 4]),
            Judgments::new(&["q1"], &["8"], &[0f32]).with_groups(&["3"]),
        );
        for group in [GroupedBy::Judge, GroupedBy::Subtopic, GroupedBy::Preference] {
            let text = read(group, "qrels", trec, None).unwrap();
            assert_eq!(all(&by(group).judgments(&[one, two]).unwrap()), all(&text));
        }
        let preferences = read(GroupedBy::Preference, "qrels", "q g s d 1\nq g s e 2\nq g t d 1\n", None);
        let subgroups = Judgments {
            subgroup: Some((&["s", "s", "t"]).into()),
            ..Judgments::new(&["q", "q", "q"], &["d", "e", "d"], &[1u8, 2, 1]).with_groups(&["g", "g", "g"])
        };
        let join = by(GroupedBy::Preference);
        assert_eq!(all(&join.judgments(&[subgroups]).unwrap()), all(&preferences.unwrap()));
        let said =
            |batches: &[Judgments<'_>]| by(GroupedBy::Judge).judgments(batches).unwrap_err().to_string();
        let bare = Judgments { group: None, ..two };
        assert_eq!(
            said(&[one, bare]),
            "qrels: batch 2: the groups are missing, and judgments are read by judge"
        );
        let message =
            "qrels: batch 1: 2 queries, 2 documents, 2 numbers, 1 groups: columns have the same length";
        assert_eq!(said(&[one.with_groups(&["a"])]), message);
        let message = "qrels:3: docno '7' is judged again by judge '3' for query 'q1', first on line 2";
        assert_eq!(said(&[two, one.with_groups(&["3", "3"])]), message);
        assert_eq!(said(&[two.with_groups(&[""])]), "qrels:1: the group is empty");
        let infinite = Judgments { grade: (&[f64::NAN, 1.0]).into(), ..one };
        assert_eq!(said(&[infinite]), "qrels:1: grade NaN is not a finite number");
    }

    #[test]
    fn a_watch_hears_of_reading_and_stops_it() {
        let watch = Arc::new(Watch::default());
        let join = Join { grouped_by: Some(GroupedBy::Judge), watch: Some(watch.clone()), ..Join::default() };
        let text = || Input::Bytes { name: "qrels".into(), bytes: TREC.into() };
        join.qrels(text()).unwrap();
        assert_eq!((watch.done(), watch.total()), (TREC.len() as u64, TREC.len() as u64));
        watch.stop();
        assert!(matches!(join.qrels(text()), Err(Error::Stopped)));
        let records = lines("", |[q, j, d, g]| {
            format!(r#"{{"qid": "{q}", "judge": "{j}", "docid": "{d}", "rel": {g}}}"#)
        });
        let table = Input::Bytes { name: "qrels".into(), bytes: records.into_bytes().into() };
        assert!(matches!(join.qrels(table), Err(Error::Stopped)));
        let batch = Judgments::new(&["q1"], &["d"], &[1u8]).with_groups(&["a"]);
        assert!(matches!(join.judgments(&[batch]), Err(Error::Stopped)));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let said =
            |text: &str, columns| read(GroupedBy::Judge, "qrels", text, columns).unwrap_err().to_string();
        for (text, columns, message) in [
            (
                "qid\titer\tdocid\trel\nq\t0\td\t1\n",
                None,
                "qrels:1: no judge is among 'qid', 'iter', 'docid', 'rel'",
            ),
            ("qid,docid,rel\nq,d,1\n", None, "its name may be judge_id, judge, assessor_id, assessor,"),
            ("{\"qid\": \"q\", \"docid\": \"d\", \"rel\": 1}", None, "qrels:1: no judge is among 'qid'"),
            ("q,d,1\n", None, "there is no header, and 3 columns: say which"),
            ("q,d,1\n", None, "(`--columns query,judge,doc,grade`)"),
            ("q,d,1\n", Some("query,doc,grade"), "qrels:1: the columns `query,doc,grade` have no judge"),
            (
                "qid,judge,docid,rel\nq,,d,1\nq,a,d,x\n",
                None,
                "qrels:2: the group is missing or empty in 'q,,d,1'",
            ),
            ("qid,judge,docid,rel\nq,,d,1\nq,a,d,x\n", None, "qrels:3: grade 'x' is not a number"),
            ("qid,judge,docid,rel\nq,\"a\"\"b\",d,1\n", None, "qrels:2: the group has a quote (\") in it"),
            (
                "qid,judge,docid,rel\nq,a,d,1\nq,b,d,1\nq,a,d,2\n",
                None,
                "qrels:4: docno 'd' is judged again by judge 'a' for query 'q', first on line 2",
            ),
            (
                "{\"qid\": \"q\", \"docid\": \"d\", \"rel\": 1, \"judge\": \"\"}\n{\"qid\": \"q\"}\n",
                None,
                "qrels:1: the judge is empty\nqrels:2: there is no 'docid' in the record",
            ),
            ("{\"q\": {\"d\": 1}}", None, "judgments by judge are read from TREC text, tables with a header"),
            ("q a d 1\nq a d\n", None, "qrels:2: there are 3 fields: expected 'query judge docno grade'"),
            ("q d 1\nq e 1\n", None, "qrels:1: there are 3 fields: expected 'query judge docno grade'"),
        ] {
            let found = said(text, columns);
            assert!(found.contains(message), "{text}\n{found}");
        }
        let records = "{\"qid\": \"q\", \"docid\": \"d\", \"rel\": 1, \"group\": \"g\"}\n";
        let error = read(GroupedBy::Preference, "qrels", records, None).unwrap_err().to_string();
        assert!(error.ends_with(": judgments by preference are read from TREC text"), "{error}");
    }
}
