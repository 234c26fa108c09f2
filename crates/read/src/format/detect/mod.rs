//! Detection of the format of qrels or a run from the first lines of the text.
//!
//! A text that is valid TREC is TREC, unless the text begins as JSON. Otherwise the content
//! decides. The end of a name (`.tsv`, `.csv`, `.jsonl`, `.letor`, also with `.gz` or `.zst` behind
//! it) decides only if the content can be read in two ways.
//!
//! Most formats can be mistaken for another: a header of four words is a line with a wrong grade,
//! LETOR is blanks between numbers, a TSV whose titles have blanks is TREC with other fields. So
//! the order of the questions decides. The questions go from certain signs to guesses:
//!
//! ```text
//!  question                           if so                     why here
//!  the name or the bytes of an        an error that says so     its files may be TREC
//!    archive (tar, zip, 7-Zip)
//!  the dialect is one of trec_eval    TREC, or an error         trec_eval reads nothing else
//!  ids of neighbours were named, or   rows of ids               they have no magic bytes
//!    the name says so
//!  NumPy's magic bytes                a matrix                  no text has them
//!  magic bytes of Parquet, Arrow;     a file of tables          ids may be any bytes, so TREC
//!    line 1 is no TREC                                          comes first
//!  sep=; in line 1                    a table                   Excel writes it, and nothing else
//!  a format was named                 that one                  the user knows
//!  grades are times, and no format    an error that says so     MovieLens has its grade third,
//!    was named                                                  and so it could be TREC
//!  line 1 is TREC, no JSON; no        TREC; by the name: table  the promise: what can be TREC is
//!    columns were named                                         TREC
//!  a zero byte, the start of a        an error that says so     the questions below are about text
//!    compressed file …
//!  JSON                               JSON                      its start is not ambiguous
//!  a later line is TREC, or all are   known header → table,     one bad line must not make TREC a
//!    of the other role                else a run with ranks     table; swapped arguments must not
//!                                     (below), or an error      become a table without a header
//!  { or [ at the start                JSON, with its error      broken JSON is told as JSON
//!  qid: or 1:0.5 in line 1, or        LETOR, or scores for it   before tables, for it is blanks
//!    numbers alone                                              between fields
//!  :: or | in all lines, quotes       an error that says so     else it were one column of a table
//!    around lines
//!  a header, also behind # above      a table                   names are evidence, counts of
//!                                                               columns a guess
//!  a run of 4 or 5 columns, ranks as  query, document, rank,    ranks that count and scores that
//!    the third, scores as the fourth  score                     fall are no judgments
//!  a run of 5 fields, the last a      TREC without a tag        only the tag can be what is
//!    number                                                     missing
//!  1 or 2 lines of 3 or 5 fields      an error with the option  too little to guess from
//!  3 columns, or several between      a table, in TREC's order  the guess, which `-v` reports
//!    tabs or commas
//!  none of these                      an error of TREC          the most usual intention
//! ```
//!
//! The first twenty lines of the first 64 KiB are examined, or of more bytes if the first line is
//! longer. No later line takes part in the decision, so a text has the same format from a file and
//! from a pipe. An error in a later line is a problem of the line alone.

mod binary;
pub mod enough;
pub mod first_lines;
pub mod foreign;
mod json;
mod letor;
mod neighbours;
mod platform;
mod table;

use memchr::memmem;

use super::{
    RowLayout, RowShape,
    input_format::{InputFormat, layouts},
    json::walk::is_json,
    names::ColumnChoiceError,
    npy,
};
use crate::error::printable;
use crate::lines::{
    dialect::Dialect,
    grade_words::GradeWords,
    layout::NumberKind,
    number::finite,
    scan::split,
    separator::Separator,
    shape::{LineFault, Role},
};
use binary::{detect_table_file, matrix};
use first_lines::{DetectContext, Detected, FEWEST, FirstLines};
use foreign::{FileHead, ForeignFormat, detect_foreign};
use neighbours::{detect_id_format, ids};

/// A function that returns the layout of a text of a format: from its first lines, or from its
/// start, if it has no lines.
enum LayoutOf {
    Lines(fn(FirstLines<'_>) -> Detected),
    Bytes(fn(FileHead<'_>, DetectContext<'_>) -> Detected),
}

use LayoutOf::{Bytes, Lines};

/// Returns the format and row layout of qrels or a run, detected from the start `head` of its text.
pub fn detect(head: FileHead<'_>, known: DetectContext<'_>) -> Detected {
    let mut layout = layout_of(head, known)?;
    let is_json = matches!(head.text.trim_ascii_start(), [b'{' | b'[', ..]);
    let has_names = is_json && layout.has_names();
    if let RowShape::Other(format) = &mut layout.shape
        && known.role == Role::Qrels
    {
        let given = known.read_as.grades.clone();
        format.form.words = given.or_else(|| has_names.then(GradeWords::default));
    }
    if let RowShape::Table(table) = &layout.shape
        && memmem::find(head.text, b"\"\"").is_some()
    {
        table.quotes.read();
    }
    Ok(layout)
}

/// Returns the row layout of qrels or a run, in which words have no grades yet but in tables.
fn layout_of(head: FileHead<'_>, known: DetectContext<'_>) -> Detected {
    let DetectContext { role, dialect, read_as, .. } = known;
    let rules = dialect.rules();
    if let Some(message) = head.archive(known.name) {
        return Err(message.into());
    }
    if dialect != Dialect::Laneval {
        return foreign_or_trec(head, known).map_err(|other| match other {
            ForeignFormat::Explained(..) => convertible(head, known).unwrap_or(other),
            other => other,
        });
    }
    if let Some(format) = detect_id_format(known)? {
        return ids(format, head, known);
    }
    let is_matrix = head.text.starts_with(npy::MAGIC);
    let named = read_as.format.or(is_matrix.then_some(InputFormat::Npy)).map(layouts!());
    if let Some(Bytes(layout)) = named {
        return layout(head, known);
    }
    let mut lines = head.lines(role, rules);
    if let Some(separator) = lines.first().and_then(|(_, first)| Separator::named(first))
        && let None | Some(InputFormat::Tsv | InputFormat::Csv) = read_as.format
        && let &[_, (number, first), ..] = &lines[..]
    {
        lines.remove(0);
        let look = FirstLines { head, lines: &lines, number, first, known, rules };
        return look.table(separator).map(|layout| layout.behind(look.start()));
    }
    // The first line that is no comment decides alone: if this line is valid TREC, the text is
    // TREC, however many wrong lines follow.
    let is_trec = lines.first().is_some_and(|(_, first)| role.fault(first, rules).is_none());
    if let Some(format) = read_as.tables(head.text).filter(|_| !is_trec) {
        return detect_table_file(format, known);
    }
    let Some(&(number, first)) = lines.first() else { return Ok(RowLayout::trec()) };
    let look = FirstLines { head, lines: &lines, number, first, known, rules };
    match named {
        Some(Lines(layout)) => layout(look),
        _ => look.detect(),
    }
}

/// Returns the row layout of TREC text, or the kind of a text that cannot be TREC.
fn foreign_or_trec(head: FileHead<'_>, known: DetectContext<'_>) -> Detected {
    match detect_foreign(head, known.role, known.dialect.rules()) {
        // The reader of judgments by facet says what is wrong with lines.
        Some(ForeignFormat::Explained(1.., _)) if known.by.is_some() => Ok(RowLayout::trec()),
        other => other.map_or_else(|| Ok(RowLayout::trec()), Err),
    }
}

/// Makes the error about readable text of another format under a dialect of trec_eval, which reads
/// only TREC.
fn convertible(head: FileHead<'_>, known: DetectContext<'_>) -> Option<ForeignFormat> {
    let form = detect(head, DetectContext { dialect: Dialect::Laneval, ..known }).ok()?;
    if matches!(form.shape, RowShape::Trec) {
        return None;
    }
    let name = printable(known.name.as_bytes());
    let judgments = known.role.pick("--qrels ", "");
    let is = if form.doubtful { "has" } else { "is" };
    let message = format!(
        "{is} {}, and dialects of trec_eval read TREC text alone: `laneval convert \
         {judgments}{name} -o {name}.trec` writes it so",
        form.what
    );
    Some(message.into())
}

impl<'l> FirstLines<'l> {
    fn detect(self) -> Detected {
        let DetectContext { role, read_as, .. } = self.known;
        // Ids of JSON may have words and numbers, as a line of TREC.
        let is_json = is_json(self.text());
        if read_as.columns.is_none() && !is_json && self.is_trec(role, self.first) {
            self.refuse_times(Separator::Blanks)?;
            return self.by_name().unwrap_or_else(|| Ok(RowLayout::trec()));
        }
        if self.head.text.contains(&0) || self.head.signature(role).is_some() {
            return foreign_or_trec(self.head, self.known);
        }
        if is_json {
            return self.any_json();
        }
        let separator = self.separator();
        let has_trec = self.lines.iter().any(|(_, line)| self.is_trec(role, line));
        let is_other = self.lines.iter().all(|(_, line)| self.is_trec(role.other(), line));
        if read_as.columns.is_none() && (has_trec || is_other) {
            return match self.header(separator) {
                chosen @ Ok(_) => self.named(separator, chosen),
                missing @ Err(ColumnChoiceError::Missing(_)) if self.known.by.is_some() => {
                    self.named(separator, missing)
                }
                Err(_) => self
                    .ranked(separator)
                    .or_else(|| self.by_name())
                    .unwrap_or_else(|| foreign_or_trec(self.head, self.known)),
            };
        }
        if matches!(self.first.trim_ascii_start(), [b'{' | b'[', ..]) {
            return self.any_json();
        }
        if self.is_letor() {
            return self.letor();
        }
        if let Some(form) = self.sure_table(separator) {
            return form;
        }
        if read_as.columns.is_some() {
            return self.table(separator);
        }
        match self.header(separator) {
            Err(ColumnChoiceError::NoNames(_)) => {}
            other => return self.named(separator, other),
        }
        if let Some(form) = self.ranked(separator).or_else(|| self.without_tag().map(Ok)) {
            return form;
        }
        if let Some(message) = self.too_few() {
            return self.refuse(message);
        }
        match self.columns(separator) {
            2.. if separator != Separator::Blanks => self.headerless(separator),
            // Three or more lines have equally many fields.
            3 if self.lines.len() >= FEWEST && self.are_alike(split(self.first).count()) => {
                self.headerless(separator)
            }
            _ => foreign_or_trec(self.head, self.known),
        }
    }

    /// Returns whether a line is valid TREC of a role, qrels or run.
    fn is_trec(self, role: Role, line: &[u8]) -> bool {
        role.fault(line, self.rules).is_none()
    }

    /// Decides by the file name whether lines that are valid TREC are rather TSV, CSV or LETOR.
    fn by_name(self) -> Option<Detected> {
        let separator = match InputFormat::from_extension(self.known.name)? {
            InputFormat::Tsv => Separator::Tab,
            InputFormat::Csv => Separator::Comma,
            InputFormat::Letor if self.known.role == Role::Qrels => {
                return self.has_qid().then(|| self.letor());
            }
            _ => return None,
        };
        let fields = separator.fields(self.first);
        if separator == Separator::Tab
            && self.is_tabbed()
            && matches!((self.known.role, fields.len()), (Role::Qrels, 4) | (Role::Run, 6))
            && let Ok(form) = self.headerless(Separator::Tab)
        {
            // Ids of later lines may have blanks, at which TREC would split the lines.
            return Some(Ok(form));
        }
        // TREC and a table read such lines alike, unless blanks are in the fields of the table.
        let is_table =
            self.lines.iter().any(|(_, line)| {
                separator.fields(line).iter().any(|field| split(field).count() != 1)
            }) && self.lines.iter().all(|(_, line)| separator.fields(line).len() == fields.len());
        if fields.len() < 3 || !is_table {
            return None;
        }
        let form = self.table(separator).ok()?;
        let number = *fields.get(form.table()?.number)?;
        finite(number).is_some().then_some(Ok(form))
    }

    /// Returns whether tabs alone separate the fields of all first lines, with as many fields on
    /// each line.
    fn is_tabbed(self) -> bool {
        let count = Separator::Tab.fields(self.first).len();
        self.lines.iter().all(|(_, line)| {
            let fields = Separator::Tab.fields(line);
            fields.len() == count
                && fields.iter().all(|field| !field.is_empty() && field.trim_ascii() == *field)
                && !line.contains(&b'"')
            // Tables have no comments.
        }) && !self
            .head
            .text
            .split(|&byte| byte == b'\n')
            .any(|line| line.trim_ascii_start().starts_with(b"#"))
    }

    /// Returns whether each of the first lines has `count` blank-separated fields, and a number as
    /// the last.
    fn are_alike(self, count: usize) -> bool {
        self.lines.iter().all(|(_, line)| {
            split(line).count() == count && split(line).last().and_then(finite).is_some()
        })
    }

    /// Makes the error about one or two lines of fewer fields than TREC has, too few to guess a
    /// table from.
    fn too_few(self) -> Option<String> {
        let count = split(self.first).count();
        let few = self.head.all && self.lines.len() < FEWEST && self.known.by.is_none();
        if !few || self.separator() != Separator::Blanks || !self.are_alike(count) {
            return None;
        }
        let (role, options) = (self.known.role, self.options());
        let hint = match (role, count) {
            (Role::Run, 3) => format!(
                "say `{}` if they are query, document and rank, or `{}` if they are scores",
                options.format(role, "msmarco"),
                options.columns_in_order("query,doc,score")
            ),
            (Role::Qrels, 3) => {
                format!("say `{}` if they are that", options.columns_in_order("query,doc,grade"))
            }
            (Role::Run, 5) => {
                format!("say `{}` if only the tag is missing", options.format(role, "trec"))
            }
            _ => return None,
        };
        let complaint = role.complaint(self.first, LineFault::Fields(count), self.rules);
        Some(format!("{complaint}; {hint}"))
    }
}
