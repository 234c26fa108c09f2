//! Recognises the format of a text by its first lines.
//!
//! A text that can be TREC is TREC, unless it begins as JSON. Otherwise the content decides. The end of a name (`.tsv`, `.csv`, `.jsonl`,
//! `.letor`, also with `.gz` or `.zst` behind it) decides only if the content can be read in two ways.
//!
//! Most formats can be mistaken for another: a header of four words is a line with a wrong grade, LETOR is blanks between numbers, a TSV
//! whose titles have blanks is TREC with other fields. So the order of the questions decides, and it goes from what is certain to what is a
//! guess:
//!
//! ```text
//!  question                                            if so                        why here
//!  the dialect is one of trec_eval                     TREC, or an error            trec_eval reads nothing else
//!  NumPy's magic bytes                                 a matrix                     no text has them
//!  magic bytes of Parquet, Arrow; line 1 is no TREC    a file of tables             ids may be any bytes, so TREC comes first
//!  a format was named                                  that one                     the user knows
//!  line 1 is TREC, no JSON; no columns were named      TREC; by the name: table     the promise: what can be TREC is TREC
//!  a zero byte, the start of an archive …              an error that says so        the questions below are about text
//!  JSON                                                JSON                         its start is not ambiguous
//!  a later line is TREC, or all are of the other role  known header → table,        one bad line must not make TREC a table; swapped
//!                                                      else an error of TREC        arguments must not become a table without a header
//!  { or [ at the start                                 JSON, with its error         broken JSON is told as JSON
//!  qid: or 1:0.5 in line 1, or numbers alone           LETOR, or scores for it      before tables, for it is blanks between fields
//!  ; or | in all lines, quotes around lines            an error that says so        else it were one column of a table
//!  a header, also behind # above                       a table                      names are evidence, counts of columns a guess
//!  a run of 5 fields, the last a number                TREC without a tag           only the tag can be what is missing
//!  1 or 2 lines of 3 or 5 fields                       an error with the option     too little to guess from
//!  3 columns, or several between tabs or commas        a table, in TREC's order     the guess, which `-v` reports
//!  none of these                                       an error of TREC             the most usual intention
//! ```
//!
//! Twenty lines are looked at, of the first 64 KiB, or of more if the first line is longer. Nothing is decided by a line further down, so a
//! text is told in the same way from a file and from a pipe; and what is wrong there is a problem of its line.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Form;
use super::InputFormat;
use super::Of;
use super::Partner;
use super::ReadAs;
use super::RowMaker;
use super::RowShape;
use super::json::{first_value, is_json, objects};
use super::letor::{Letor, QueryLengths, SHAPE};
use super::names::{ChosenColumns, NotChosen, choose, in_order};
use super::npy::{self, Npy};
use super::records::RecordKeys;
use crate::ingest::lines::options::OptionStyle;
use memchr::memchr_iter;

use super::foreign::{Head, OtherFormat, of_head};
use super::tables::{TableBytes, TableColumns, TableFile, TableReader, WrongTable};
use crate::error::{Error, printable};
use crate::ingest::bytes::input::Input;
use crate::ingest::format::opened::Opened;
use crate::ingest::lines::diagnostics::quoted;
use crate::ingest::lines::dialect::{Dialect, Rules};
use crate::ingest::lines::layout::not_counted;
use crate::ingest::lines::layout::{NumberKind, TableLayout};
use crate::ingest::lines::number::finite;
use crate::ingest::lines::scan::split;
use crate::ingest::lines::separator::Separator;
use crate::ingest::lines::shape::{LineFault, Role, counts};
use crate::label::{FileAccess, JudgedBy};

/// The facts about a text that are known beside its start.
#[derive(Debug, Clone, Copy)]
pub(in crate::ingest) struct KnownOfText<'a> {
    pub role: Role,
    /// The groups by which judgments are read, if tables can have them.
    pub by: Option<JudgedBy>,
    /// The name of the text, perhaps a path.
    pub name: &'a str,
    pub dialect: Dialect,
    pub read_as: &'a ReadAs,
    /// The text itself, if it can be read again, as judgments can.
    pub text: Option<&'a Arc<Opened>>,
    /// The readers of files of tables.
    pub tables: TableReaders,
    /// The judgments, if runs without ids go with them.
    pub partner: Option<&'a Partner>,
}

/// The readers of files of tables, and whether ranks are read beside scores.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::ingest) struct TableReaders {
    pub reader: Option<&'static dyn TableReader>,
    pub ranks: bool,
}

type Told = Result<Form, OtherFormat>;

/// The number of lines that are looked at.
const LINES: usize = 20;
/// The fewest lines of a table with blanks that has no header.
const FEWEST: usize = 3;

/// Recognises the format of a text that starts with `head`.
pub(in crate::ingest) fn tell(head: Head<'_>, known: KnownOfText<'_>) -> Told {
    let KnownOfText { role, dialect, read_as, .. } = known;
    let rules = dialect.rules();
    let foreign = || match of_head(head, role, rules) {
        None => Ok(Form::trec()),
        // The reader of judgments by group says what is wrong with lines.
        Some(OtherFormat::Told(1.., _)) if known.by.is_some() => Ok(Form::trec()),
        Some(other) => Err(other),
    };
    if dialect != Dialect::Laneval {
        return foreign().map_err(|other| match other {
            OtherFormat::Told(..) => convertible(head, known).unwrap_or(other),
            other => other,
        });
    }
    if head.text.starts_with(npy::MAGIC) && read_as.format.is_none()
        || read_as.format == Some(InputFormat::Npy)
    {
        return matrix(head, known).map_err(|message| OtherFormat::Told(0, message));
    }
    let comments = role.comments(rules);
    let all = (1..).zip(head.text.split(|&byte| byte == b'\n'));
    let lines: Vec<(u64, &[u8])> = all.filter(|(_, line)| counts(line, comments)).take(LINES).collect();
    // The first line that counts alone: if it is right, the text is TREC with some wrong lines, however many follow.
    let is_trec = lines.first().is_some_and(|(_, first)| role.fault(first, rules).is_none());
    if let Some(format) = read_as.tables(head.text).filter(|_| read_as.format.is_some() || !is_trec) {
        return of_file(format, known);
    }
    let Some(&(number, first)) = lines.first() else { return Ok(Form::trec()) };
    let look = Look { head, lines: &lines, number, first, known, rules };
    match read_as.format {
        None => look.tell(foreign),
        Some(InputFormat::Trec) => Ok(look.without_tag().unwrap_or_else(Form::trec)),
        Some(InputFormat::Tsv) => look.table(Separator::Tab),
        Some(InputFormat::Csv) => look.table(Separator::Comma),
        Some(InputFormat::Msmarco) if role == Role::Qrels => Ok(Form::trec()),
        Some(InputFormat::Msmarco) => Ok(look.ranks(NumberKind::Rank, look.separator())),
        Some(InputFormat::Json) => look.json(),
        Some(InputFormat::Jsonl) => look.records(false),
        Some(InputFormat::Letor) => look.letor(),
        Some(InputFormat::Npy | InputFormat::Parquet | InputFormat::Arrow) => unreachable!("it was read"),
    }
}

/// Makes the message for a text of another format under a dialect of trec_eval, which reads only TREC.
fn convertible(head: Head<'_>, known: KnownOfText<'_>) -> Option<OtherFormat> {
    let form = tell(head, KnownOfText { dialect: Dialect::Laneval, ..known }).ok()?;
    if form.table().is_none() && form.columns().is_none() {
        return None;
    }
    let name = printable(known.name.as_bytes());
    let judgments = if known.role == Role::Qrels { "--qrels " } else { "" };
    let is = if form.doubtful { "has" } else { "is" };
    let message = format!(
        "{is} {}, and dialects of trec_eval read TREC text alone: `laneval convert {judgments}{name} -o {name}.trec` writes it so",
        form.what
    );
    Some(OtherFormat::Told(0, message))
}

/// Recognises a matrix of NumPy. A matrix of scores has the shape of the matrix of grades, for its documents are the same.
fn matrix(head: Head<'_>, KnownOfText { role, text, partner, .. }: KnownOfText<'_>) -> Result<Form, String> {
    let npy = Npy::of(head.text)?;
    if let (Role::Run, Some(Partner::Matrix(name, judged))) = (role, partner)
        && judged.shape != npy.shape
    {
        let (found, expected, name) = (npy.size(), judged.size(), printable(name.as_bytes()));
        return Err(format!("has {found}, and {expected} were expected, as in {name}"));
    }
    let (values, size) = (npy.values(), npy.size());
    let of = match role {
        Role::Qrels => {
            Of::Judgments(Partner::Matrix(text.map_or(String::new(), |text| text.name.clone()), npy))
        }
        Role::Run => Of::Matrix(npy),
    };
    let shape = format!("a matrix of {}s, [queries, documents]", role.number());
    Ok(Form {
        shape: RowShape::Made(RowMaker::new(of, NumberKind::Letters, &shape)),
        what: format!("a NumPy matrix of {values}, {size}"),
        doubtful: false,
    })
}

/// Reads a file of tables.
fn of_file(
    format: InputFormat,
    KnownOfText { role, by, read_as, text, tables, .. }: KnownOfText<'_>,
) -> Told {
    let name = format.name_of_tables();
    let wrong = |message: String| OtherFormat::Told(0, message);
    let reader = tables.reader.ok_or_else(|| {
        wrong(format!(
            "is {name}, which this build does not read: build the command with `--features parquet`, or take that of the Python package; in \
             Rust `Join::tables` takes a reader"
        ))
    })?;
    let Some(text) = text else {
        return Err(wrong(format!("is {name}, which cannot be read batch by batch: evaluate it as a file")));
    };
    let bytes = TableBytes::of(text).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    let columns = TableColumns::of(role, read_as.columns.as_ref(), tables.ranks).with_groups(by);
    let table = reader.read(TableFile { format, bytes, columns }).map_err(|wrong| match wrong {
        WrongTable::Rows { first, more } => OtherFormat::Rows(first, more),
        WrongTable::Missing(missing) => OtherFormat::Told(0, missing.message(read_as.options)),
        other => OtherFormat::Told(0, other.to_string()),
    })?;
    let what = format!(
        "{name}: {}",
        table.names().iter().map(|name| printable(name.as_bytes())).collect::<Vec<_>>().join(", ")
    );
    Ok(Form { shape: RowShape::Columns(table), what, doubtful: false })
}

/// A look at the start of a text.
#[derive(Clone, Copy)]
struct Look<'a> {
    head: Head<'a>,
    /// The lines that are neither blank nor comments, with their numbers.
    lines: &'a [(u64, &'a [u8])],
    /// The number of the first such line, and its text.
    number: u64,
    first: &'a [u8],
    known: KnownOfText<'a>,
    rules: Rules,
}

impl<'l> Look<'l> {
    fn tell(self, foreign: impl Fn() -> Told) -> Told {
        let KnownOfText { role, read_as, .. } = self.known;
        let is_trec = |role: Role, line: &[u8]| role.fault(line, self.rules).is_none();
        let start = self.first.trim_ascii_start();
        let is_json = is_json(self.text()); // ids of JSON may have words and numbers, as a line of TREC
        if read_as.columns.is_none() && !is_json && is_trec(role, self.first) {
            return self.by_name().unwrap_or_else(|| Ok(Form::trec()));
        }
        if self.head.text.contains(&0) || self.head.signature(role).is_some() {
            return foreign();
        }
        if is_json {
            return self.any_json(start);
        }
        let separator = self.separator();
        let has_trec = self.lines.iter().any(|(_, line)| is_trec(role, line));
        let is_other = self.lines.iter().all(|(_, line)| is_trec(role.other(), line));
        if read_as.columns.is_none() && (has_trec || is_other) {
            return match self.header(separator) {
                Ok(chosen) => self.named(separator, Ok(chosen)),
                Err(NotChosen::Missing(missing)) if self.known.by.is_some() => {
                    self.named(separator, Err(NotChosen::Missing(missing)))
                }
                Err(_) => self.by_name().unwrap_or_else(foreign),
            };
        }
        if start.starts_with(b"{") || start.starts_with(b"[") {
            return self.any_json(start);
        }
        if self.is_letor() {
            return self.letor();
        }
        if let Some(message) = self.no_table(separator) {
            return Err(self.wrong(message));
        }
        if let Some(form) = self.header_behind_hash(separator) {
            return form;
        }
        if read_as.columns.is_some() {
            return self.table(separator);
        }
        match self.header(separator) {
            Err(NotChosen::NoNames(_)) => {}
            other => return self.named(separator, other),
        }
        if let Some(form) = self.without_tag() {
            return Ok(form);
        }
        if let Some(message) = self.too_few() {
            return Err(self.wrong(message));
        }
        match self.columns(separator) {
            _ if separator == Separator::Blanks && !self.is_regular() => foreign(),
            2.. if separator != Separator::Blanks => self.headerless(separator),
            3 => self.headerless(separator),
            _ => foreign(),
        }
    }

    /// Decides by the name about lines that can be TREC and something else: a table in which fields have blanks, so that TREC would have
    /// other fields, or LETOR without features.
    fn by_name(self) -> Option<Told> {
        let separator = match of_name(self.known.name)? {
            InputFormat::Tsv => Separator::Tab,
            InputFormat::Csv => Separator::Comma,
            InputFormat::Letor if self.known.role == Role::Qrels => {
                return split(self.first).nth(1)?.starts_with(b"qid:").then(|| self.letor());
            }
            _ => return None,
        };
        let fields = separator.fields(self.first);
        if separator == Separator::Tab
            && self.is_tabbed()
            && let Some(form) = self.tabbed(fields.len())
        {
            return Some(form);
        }
        let has_blanks = |line: &[u8]| separator.fields(line).iter().any(|field| split(field).count() != 1);
        let is_alike = |line: &[u8]| separator.fields(line).len() == fields.len();
        let is_table = self.lines.iter().any(|(_, line)| has_blanks(line))
            && self.lines.iter().all(|(_, line)| is_alike(line));
        if fields.len() < 3 || !is_table {
            return None;
        }
        let form = self.table(separator).ok()?;
        let number = *fields.get(form.table()?.number)?;
        finite(number).is_some().then_some(Ok(form))
    }

    /// Checks whether only tabs stand between the fields of all lines, and all lines have as many fields as the first.
    fn is_tabbed(self) -> bool {
        let count = Separator::Tab.fields(self.first).len();
        let is_field = |field: &&[u8]| !field.is_empty() && field.trim_ascii() == *field;
        let is_comment = |line: &[u8]| line.trim_ascii_start().starts_with(b"#"); // tables have no comments
        let mut all = self.head.text.split(|&byte| byte == b'\n');
        self.lines.iter().all(|(_, line)| {
            let fields = Separator::Tab.fields(line);
            fields.len() == count && fields.iter().all(is_field) && !line.contains(&b'"')
        }) && !all.any(is_comment)
    }

    /// A table with tabs and the columns of TREC, if ids further down may have blanks.
    fn tabbed(self, columns: usize) -> Option<Told> {
        match (self.known.role, columns) {
            (Role::Qrels, 4) | (Role::Run, 6) => {
                self.headerless(Separator::Tab).map(|form| Some(Ok(form))).ok()?
            }
            _ => None,
        }
    }

    /// The text from the first line that is neither blank nor a comment.
    fn text(self) -> &'l [u8] {
        let start = self.first.as_ptr() as usize - self.head.text.as_ptr() as usize;
        &self.head.text[start..]
    }

    /// The separator of the columns of the first line.
    fn separator(self) -> Separator {
        match [b'\t', b','].map(|byte| self.first.contains(&byte)) {
            [true, true] if of_name(self.known.name) == Some(InputFormat::Csv) => Separator::Comma,
            [true, _] => Separator::Tab,
            [_, true] => Separator::Comma,
            _ => Separator::Blanks,
        }
    }

    /// The way messages write options.
    fn options(self) -> OptionStyle {
        self.known.read_as.options
    }

    fn columns(self, separator: Separator) -> usize {
        separator.fields(self.first).len()
    }

    /// Checks whether all lines with blanks have as many fields, and a number as the last.
    fn is_regular(self) -> bool {
        let (enough, fields) = (self.lines.len() >= FEWEST, |line: &[u8]| split(line).count());
        let number = |line: &[u8]| split(line).last().and_then(finite).is_some();
        enough && self.lines.iter().all(|(_, line)| fields(line) == fields(self.first) && number(line))
    }

    /// Makes the message for a first line whose columns cannot be recognised: their separator is not read, quotes are around the line, or
    /// quotes are not closed.
    fn no_table(self, separator: Separator) -> Option<String> {
        let columns = self.columns(separator);
        if columns > 2 {
            return None;
        }
        let count = |line: &[u8], byte: u8| memchr_iter(byte, line).count();
        let between = [b';', b'|'].into_iter().find(|&byte| {
            let first = count(self.first, byte);
            first > 1 && self.lines.iter().all(|(_, line)| count(line, byte) == first)
        });
        if let Some(byte) = between {
            let byte = char::from(byte);
            return Some(format!(
                "the columns of {} are separated by '{byte}', which is not read: tabs and commas are, for example after `tr '{byte}' '\\t'`",
                quoted(self.first)
            ));
        }
        match (separator, columns) {
            (Separator::Comma, 0) => Some(format!(
                "a quote (\") in {} is not closed where its field ends, or not on its line",
                quoted(self.first)
            )),
            (_, 1) if self.first.trim_ascii_start().starts_with(b"\"") => Some(format!(
                "quotes are around the whole line {}, which makes it one column: three or more were expected",
                quoted(self.first)
            )),
            _ => None,
        }
    }

    /// Makes the message for a few lines of fewer fields than TREC has, which are a table if an option says so.
    fn too_few(self) -> Option<String> {
        let count = split(self.first).count();
        let is_number = |line: &[u8]| split(line).last().and_then(finite).is_some();
        let is_alike = |line: &[u8]| split(line).count() == count && is_number(line);
        let few = self.head.all && self.lines.len() < FEWEST && self.known.by.is_none();
        if !few || self.separator() != Separator::Blanks || !self.lines.iter().all(|(_, line)| is_alike(line))
        {
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
            (Role::Run, 5) => format!("say `{}` if only the tag is missing", options.format(role, "trec")),
            _ => return None,
        };
        let complaint = role.complaint(self.first, LineFault::Fields(count), self.rules);
        Some(format!("{complaint}; {hint}"))
    }

    /// Makes an error about the first line.
    fn wrong(self, message: String) -> OtherFormat {
        OtherFormat::Told(self.number, message)
    }

    /// Recognises a run of TREC whose lines have all but a tag.
    fn without_tag(self) -> Option<Form> {
        let is_so = |line: &[u8]| split(line).count() == 5 && split(line).nth(4).and_then(finite).is_some();
        let enough = self.lines.len() >= FEWEST || self.known.read_as.format.is_some();
        if self.known.role != Role::Run || !enough || !self.lines.iter().all(|(_, line)| is_so(line)) {
            return None;
        }
        let (value, group) = (NumberKind::Number, None);
        let chosen = ChosenColumns { query: 0, doc: 2, number: 4, value, rank: Some(3), group };
        let table = of_columns(Separator::Blanks, 5, chosen, "query iter docno rank score".to_owned());
        let what = "TREC text without tags".to_owned();
        Some(Form { shape: RowShape::Table(table), what, doubtful: false })
    }

    /// Chooses the columns by the names in the first line.
    fn header(self, separator: Separator) -> Result<ChosenColumns, NotChosen> {
        let KnownOfText { role, by, read_as, .. } = self.known;
        choose(&separator.fields(self.first), role, by, read_as.columns.as_ref())
    }

    /// Recognises a table whose header is the last line before the first that counts, behind a `#`, as `numpy.savetxt` writes it.
    fn header_behind_hash(self, separator: Separator) -> Option<Told> {
        let given = self.known.read_as.columns.as_ref();
        if separator == Separator::Blanks || given.is_some_and(|given| given.ordered().is_some()) {
            return None;
        }
        let before = &self.head.text[..self.first.as_ptr() as usize - self.head.text.as_ptr() as usize];
        let lines = (1..).zip(before.split(|&byte| byte == b'\n'));
        let (number, line) = lines.filter(|(_, line)| !line.trim_ascii().is_empty()).last()?;
        let first = line.trim_ascii_start().strip_prefix(b"#")?.trim_ascii_start();
        let look = Look { first, number, ..self };
        let chosen = look.header(separator).ok()?;
        (look.columns(separator) == self.columns(separator)).then(|| look.named(separator, Ok(chosen)))
    }

    /// Recognises a table whose separator is known.
    fn table(self, separator: Separator) -> Told {
        if let Some(message) = self.no_table(separator) {
            return Err(self.wrong(message));
        }
        if let Some(form) = self.header_behind_hash(separator) {
            return form;
        }
        match &self.known.read_as.columns {
            Some(columns) if columns.ordered().is_some() => {
                let KnownOfText { role, by, .. } = self.known;
                let chosen = in_order(columns, role, by).map_err(|message| self.wrong(message))?;
                let count = columns.ordered().unwrap_or_default();
                let shape = columns.to_string();
                Ok(Form {
                    what: format!("{} without a header: {shape}", separator.table()),
                    shape: RowShape::Table(of_columns(separator, count, chosen, shape)),
                    doubtful: false,
                })
            }
            _ => match self.header(separator) {
                Err(NotChosen::NoNames(_)) => self.headerless(separator),
                other => self.named(separator, other),
            },
        }
    }

    /// Recognises a table with a header.
    fn named(self, separator: Separator, chosen: Result<ChosenColumns, NotChosen>) -> Told {
        let chosen = match chosen {
            Ok(chosen) => chosen,
            Err(NotChosen::Wrong(message)) => return Err(self.wrong(message)),
            Err(NotChosen::Missing(missing)) => return Err(self.wrong(missing.message(self.options()))),
            Err(NotChosen::NoNames(_)) => return self.headerless(separator),
        };
        let names: Vec<String> = separator.fields(self.first).into_iter().map(printable).collect();
        let between = if separator == Separator::Comma { "," } else { " " };
        let read = [Some(chosen.query), chosen.group, Some(chosen.doc), Some(chosen.number)];
        let read: Vec<String> = read.into_iter().flatten().map(|at| names[at].clone()).collect();
        let what = format!("{} with a header: {}", separator.table(), read.join(", "));
        let table = of_columns(separator, names.len(), chosen, names.join(between));
        let start = self.first.as_ptr() as usize - self.head.text.as_ptr() as usize;
        let skip = start + self.first.len() + usize::from(start + self.first.len() < self.head.text.len());
        Ok(Form { shape: RowShape::Table(TableLayout { skip, ..table }), what, doubtful: false })
    }

    /// Recognises a table without a header by its number of columns.
    fn headerless(self, separator: Separator) -> Told {
        let (role, count) = (self.known.role, self.columns(separator));
        if separator == Separator::Comma
            && let Some(number) = split(self.first).nth(role.number_field())
            && is_with_comma(number)
        {
            let what = role.number();
            let message = format!("the {what} {} has a comma: a decimal point was expected", quoted(number));
            return Err(self.wrong(message));
        }
        let (value, group) = (NumberKind::Number, self.known.by.map(|_| 1));
        let chosen = match (role, count) {
            (Role::Qrels, 3) if group.is_none() => {
                ChosenColumns { query: 0, doc: 1, number: 2, value, rank: None, group }
            }
            (Role::Qrels, 4) => ChosenColumns { query: 0, doc: 2, number: 3, value, rank: None, group },
            (Role::Run, 3) => return self.counted(separator),
            (Role::Run, 5 | 6) => ChosenColumns { query: 0, doc: 2, number: 4, value, rank: Some(3), group },
            _ => {
                let (number, options) = (role.number(), self.options());
                let columns = match self.known.by {
                    Some(by) => format!("query,{by},doc,{number}"),
                    None => format!("query,-,doc,{number}"),
                };
                return Err(self.wrong(format!(
                    "there is no header, and {}: say which are queries, documents and {number}s in their order (`{}`), or by their names in \
                     the first line (`{}`)",
                    if count == 1 { "1 column".to_owned() } else { format!("{count} columns") },
                    options.columns_in_order(&columns),
                    options.columns_by_name(role, None)
                )));
            }
        };
        self.check_first(separator, chosen)?;
        if role == Role::Qrels
            && count == 3
            && self.known.read_as.format.is_none()
            && self.counts_on(separator)
        {
            let format = if separator == Separator::Comma { "csv" } else { "tsv" };
            return Err(self.wrong(format!(
                "this looks like a run, because its third column counts 1, 2, 3 … in every query: the order is QRELS RUN; if these are grades, add `{}`",
                self.options().format(role, format)
            )));
        }
        let names = match (role, count) {
            (Role::Qrels, _) if self.known.by == Some(JudgedBy::Judge) => "query judge document grade",
            (Role::Qrels, _) if self.known.by == Some(JudgedBy::Subtopic) => "query subtopic document grade",
            (Role::Qrels, 3) => "query document grade",
            (Role::Qrels, _) => "query iter document grade",
            (Role::Run, 5) => "query iter document rank score",
            (Role::Run, _) => "query iter document rank score tag",
        };
        let names = if separator == Separator::Comma { names.replace(' ', ",") } else { names.to_owned() };
        let what = format!("{} without a header: {names}", separator.table());
        let tag = (role == Role::Run && count == 6).then_some(5);
        let table = TableLayout { tag, ..of_columns(separator, count, chosen, names) };
        Ok(Form { shape: RowShape::Table(table), what, doubtful: false })
    }

    /// Checks whether the third column of the first lines counts 1, 2, 3 … in every query, and in one of them further than grades may by
    /// chance.
    fn counts_on(self, separator: Separator) -> bool {
        const FURTHER: f64 = 4.0;
        let (mut last, mut longest): (Option<(&[u8], f64)>, f64) = (None, 0.0);
        for (_, line) in self.lines {
            let fields = separator.fields(line);
            let (Some(query), Some(number)) =
                (fields.first().copied(), fields.get(2).copied().and_then(finite))
            else {
                return false;
            };
            let expected = match last {
                Some((before, count)) if before == query => count + 1.0,
                _ => 1.0,
            };
            if number != expected {
                return false;
            }
            (last, longest) = (Some((query, expected)), longest.max(expected));
        }
        longest > FURTHER
    }

    /// Refuses a first line that may be a header of unknown names.
    fn check_first(self, separator: Separator, chosen: ChosenColumns) -> Result<(), OtherFormat> {
        let is_number =
            |line: &[u8]| separator.fields(line).get(chosen.number).copied().and_then(finite).is_some();
        let second = self.lines.get(1).is_some_and(|(_, line)| is_number(line));
        if is_number(self.first) || !second {
            return Ok(());
        }
        Err(self.wrong(format!(
            "the first line {} may be a header, but its names are not known: `{}` says which is what",
            quoted(self.first),
            self.options().columns_by_name(self.known.role, None)
        )))
    }

    /// Recognises a run of three columns, if the last column may be ranks.
    fn counted(self, separator: Separator) -> Told {
        let is_rank =
            |field: &[u8]| field.len() < 10 && field.iter().all(u8::is_ascii_digit) && field[..1] != *b"0";
        let rank = |field: &[u8]| -> Option<u64> {
            is_rank(field).then(|| std::str::from_utf8(field).ok()?.parse().ok())?
        };
        let value = NumberKind::CountedRank;
        let chosen = ChosenColumns { query: 0, doc: 1, number: 2, value, rank: None, group: None };
        self.check_first(separator, chosen)?;
        let mut next: HashMap<&[u8], u64> = HashMap::new();
        for (line, text) in self.lines {
            let fields = separator.fields(text);
            let [query, _, number] = fields[..] else { continue };
            let next = next.entry(query).or_insert(1);
            if number.is_empty() || rank(number) != Some(*next) {
                return Err(OtherFormat::Told(*line, not_counted(number, Some(*next), self.options())));
            }
            *next += 1;
        }
        Ok(self.ranks(NumberKind::CountedRank, separator))
    }

    /// Makes the form of a run of query, document and rank.
    fn ranks(self, value: NumberKind, separator: Separator) -> Form {
        let chosen = ChosenColumns { query: 0, doc: 1, number: 2, value, rank: None, group: None };
        let shape = if separator == Separator::Comma { "query,document,rank" } else { "query document rank" };
        let what = match value {
            NumberKind::CountedRank => {
                "three columns without a header, of which the third counts 1, 2, 3 … in every query: query, document and rank"
            }
            _ => "query, document and rank, as MS MARCO has them",
        };
        let table =
            TableLayout { options: self.options(), ..of_columns(separator, 3, chosen, shape.to_owned()) };
        Form {
            shape: RowShape::Table(table),
            what: what.to_owned(),
            doubtful: value == NumberKind::CountedRank,
        }
    }

    /// Recognises objects of objects, or records, by the first value.
    fn any_json(self, start: &[u8]) -> Told {
        match first_value(start) {
            Some(_) if of_name(self.known.name) == Some(InputFormat::Jsonl) => self.records(false),
            None | Some(b'{') => self.json(),
            Some(_) => self.records(false),
        }
    }

    fn json(self) -> Told {
        if self.first.trim_ascii_start().starts_with(b"[") {
            return self.records(true);
        }
        let number = self.known.role.number();
        let shape = objects(number);
        Ok(Form {
            shape: RowShape::Made(RowMaker::new(Of::Objects(number), NumberKind::Number, &shape)),
            what: format!("JSON, {shape}"),
            doubtful: false,
        })
    }

    fn records(self, array: bool) -> Told {
        let KnownOfText { role, by, read_as, .. } = self.known;
        let start = self.first.as_ptr() as usize - self.head.text.as_ptr() as usize;
        let text = if array { &self.head.text[start..] } else { self.first };
        let keys = RecordKeys::of(text, role, by, read_as).map_err(|message| self.wrong(message))?;
        let (shape, value) = (keys.shape(), keys.value);
        let number = if value == NumberKind::Number { role.number() } else { "rank" };
        let (of, what) = match array {
            true => (Of::RecordArray(keys, number), "a JSON array of records"),
            false => (Of::RecordLines(keys, number), "JSONL records"),
        };
        Ok(Form {
            what: format!("{what}, {shape}"),
            shape: RowShape::Made(RowMaker::new(of, value, &shape)),
            doubtful: false,
        })
    }

    /// Checks whether the first line is LETOR, or in a run only a number.
    fn is_letor(self) -> bool {
        let mut fields = split(self.first);
        let is_number = fields.next().and_then(finite).is_some();
        fields.next().map_or(is_number || self.are_scores(), |second| {
            // SVM-light's form without `qid`: a label, and then features as `number:value`.
            let feature = second.iter().take_while(|byte| byte.is_ascii_digit()).count();
            second.starts_with(b"qid:") || is_number && feature > 0 && second.get(feature) == Some(&b':')
        })
    }

    /// Checks whether the first lines of a run are one number each; the first line may be a header.
    fn are_scores(self) -> bool {
        let is_number = |line: &[u8]| fast_float2::parse::<f64, _>(line.trim_ascii()).is_ok();
        let mut lines = self.lines.iter().map(|(_, line)| is_number(line));
        let first = lines.next() == Some(true);
        self.known.role == Role::Run && (first || lines.len() > 0 && lines.all(|is| is))
    }

    fn letor(self) -> Told {
        let one = split(self.first).count() == 1;
        match self.known.role {
            Role::Run if !one => Err(OtherFormat::Told(
                0,
                "is LETOR, labels and features, but no ranking: give a file with a score for each of its lines".to_owned(),
            )),
            Role::Run => {
                let Some(Partner::Letor(letor)) = self.known.partner else {
                    return Err(OtherFormat::ScoresAlone);
                };
                let of = Of::Scores(letor.clone());
                Ok(Form {
                    what: format!("scores of the documents of {}", printable(letor.text.name.as_bytes())),
                    shape: RowShape::Made(RowMaker::new(of, NumberKind::Number, "a score on each line, and no header")),
                    doubtful: false,
                })
            }
            Role::Qrels => {
                let Some(text) = self.known.text else { unreachable!("judgments stay while they are read") };
                let has_qid = split(self.first).nth(1).is_some_and(|field| field.starts_with(b"qid:"));
                let groups = self.groups(text, has_qid)?;
                let by = groups.as_ref().map_or(String::new(), |(name, _)| format!(", queries by {}", printable(name.as_bytes())));
                let letor = Letor { text: text.clone(), query_lengths: groups.map(|(_, groups)| groups) };
                let of = Of::Judgments(Partner::Letor(letor));
                Ok(Form {
                    what: format!("LETOR, {SHAPE}{by}"),
                    shape: RowShape::Made(RowMaker::new(of, NumberKind::Number, SHAPE)),
                    doubtful: false,
                })
            }
        }
    }

    /// Reads the groups of LETOR judgments, with the name of their file, if lines have no `qid` or the file was given.
    fn groups(
        self,
        text: &Opened,
        has_qid: bool,
    ) -> Result<Option<(String, Arc<QueryLengths>)>, OtherFormat> {
        let given = self.known.read_as.query_lengths.clone();
        let with = |path: &Path, extension: &str| {
            let mut path = path.to_owned().into_os_string();
            path.push(extension);
            PathBuf::from(path)
        };
        // The file has the name with an ending, with or without the extension of a compressed file, and may be compressed too.
        let beside = || {
            let path = text.path.as_deref()?;
            let packed = path
                .extension()
                .is_some_and(|last| PACKED.iter().any(|one| last.eq_ignore_ascii_case(&one[1..])));
            let names = [Some(path.to_owned()), packed.then(|| path.with_extension(""))];
            let names: Vec<PathBuf> = names.into_iter().flatten().collect();
            let all = [".query", ".group"]
                .into_iter()
                .flat_map(|extension| names.iter().map(move |name| with(name, extension)));
            let mut all = all.flat_map(|name| {
                let packed = PACKED.map(|extension| with(&name, extension));
                [name].into_iter().chain(packed)
            });
            all.find(|path| path.is_file())
        };
        let path = match given {
            Some(path) => path,
            None if has_qid => return Ok(None),
            None => match beside() {
                Some(path) => path,
                None => {
                    return Err(self.wrong(format!(
                        "is LETOR without qid: `{}` names a file that says how many lines each query has, or it lies beside this one, with \
                         .query or .group behind the same name",
                        self.options().groups()
                    )));
                }
            },
        };
        let name = path.display().to_string();
        let in_it = |message: String| {
            OtherFormat::Told(0, format!("its groups in {}: {message}", printable(name.as_bytes())))
        };
        let bytes = read(&path).map_err(in_it)?;
        match QueryLengths::read(&name, &bytes) {
            Ok(groups) => Ok(Some((name, Arc::new(groups)))),
            Err((line, message)) => Err(in_it(format!("line {line}: {message}"))),
        }
    }
}

/// Extensions of compressed files.
const PACKED: [&str; 2] = [".gz", ".zst"];

/// The format that the end of a name gives, perhaps with `.gz` or `.zst` behind it.
fn of_name(name: &str) -> Option<InputFormat> {
    let name = name.to_ascii_lowercase();
    let name = PACKED.iter().find_map(|packed| name.strip_suffix(packed)).unwrap_or(&name);
    match name.rsplit_once('.')?.1 {
        "tsv" => Some(InputFormat::Tsv),
        "csv" => Some(InputFormat::Csv),
        "jsonl" | "ndjson" => Some(InputFormat::Jsonl),
        "letor" | "svm" => Some(InputFormat::Letor),
        _ => None,
    }
}

/// Reads the text of a file, decompressed.
fn read(path: &Path) -> Result<Vec<u8>, String> {
    let opened = Input::from(path).open(FileAccess::default()).map_err(|error| match error {
        Error::Io { source, .. } => source.to_string(),
        other => other.to_string(),
    })?;
    let mut bytes = Vec::new();
    let read = opened.text().and_then(|mut text| text.read_to_end(&mut bytes));
    read.map(|_| bytes).map_err(|error| error.to_string())
}

/// Whether a text is a number with a comma in the place of the decimal point.
fn is_with_comma(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let count = digits.iter().filter(|byte| byte.is_ascii_digit()).count();
    count >= 2
        && count + 1 == digits.len()
        && matches!(digits, [b'0'..=b'9', .., b'0'..=b'9'])
        && digits.contains(&b',')
}

/// Makes a table with this number of columns.
fn of_columns(separator: Separator, columns: usize, chosen: ChosenColumns, shape: String) -> TableLayout {
    let ChosenColumns { query, doc, number, value, rank, group } = chosen;
    TableLayout {
        separator,
        skip: 0,
        columns,
        shape,
        query,
        doc,
        number,
        value,
        rank,
        tag: None,
        group,
        options: OptionStyle::default(),
    }
}
