//! Recognises the format of a text by its first lines.
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
//!  the dialect is one of trec_eval    TREC, or an error         trec_eval reads nothing else
//!  ids of neighbours were named, or   rows of ids               they have no magic bytes
//!    the name says so
//!  NumPy's magic bytes                a matrix                  no text has them
//!  magic bytes of Parquet, Arrow;     a file of tables          ids may be any bytes, so TREC
//!    line 1 is no TREC                                          comes first
//!  a format was named                 that one                  the user knows
//!  line 1 is TREC, no JSON; no        TREC; by the name: table  the promise: what can be TREC is
//!    columns were named                                         TREC
//!  a zero byte, the start of an       an error that says so     the questions below are about text
//!    archive …
//!  JSON                               JSON                      its start is not ambiguous
//!  a later line is TREC, or all are   known header → table,     one bad line must not make TREC a
//!    of the other role                else an error of TREC     table; swapped arguments must not
//!                                                               become a table without a header
//!  { or [ at the start                JSON, with its error      broken JSON is told as JSON
//!  qid: or 1:0.5 in line 1, or        LETOR, or scores for it   before tables, for it is blanks
//!    numbers alone                                              between fields
//!  ; or | in all lines, quotes        an error that says so     else it were one column of a table
//!    around lines
//!  a header, also behind # above      a table                   names are evidence, counts of
//!                                                               columns a guess
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

use super::Form;
use super::foreign::{Head, OtherFormat, of_head};
use super::input_format::InputFormat;
use super::json::is_json;
use super::look::{FEWEST, KnownOfText, Look, Told};
use super::names::NotChosen;
use super::npy;
use super::tell_file::{matrix, of_file};
use super::tell_ids::{ids, of_ids};
use crate::error::printable;
use crate::lines::dialect::Dialect;
use crate::lines::layout::NumberKind;
use crate::lines::number::finite;
use crate::lines::scan::split;
use crate::lines::separator::Separator;
use crate::lines::shape::{LineFault, Role, counts};

/// The number of lines to examine.
const LINES: usize = 20;

/// Recognises the format of a text that starts with `head`.
pub fn tell(head: Head<'_>, known: KnownOfText<'_>) -> Told {
    let KnownOfText { role, dialect, read_as, .. } = known;
    let rules = dialect.rules();
    let foreign = || match of_head(head, role, rules) {
        None => Ok(Form::trec()),
        // The reader of judgments by facet says what is wrong with lines.
        Some(OtherFormat::Told(1.., _)) if known.by.is_some() => Ok(Form::trec()),
        Some(other) => Err(other),
    };
    if dialect != Dialect::Laneval {
        return foreign().map_err(|other| match other {
            OtherFormat::Told(..) => convertible(head, known).unwrap_or(other),
            other => other,
        });
    }
    let wrong = |message| OtherFormat::Told(0, message);
    if let Some(format) = of_ids(known).map_err(wrong)? {
        return ids(format, head, known).map_err(wrong);
    }
    if head.text.starts_with(npy::MAGIC) && read_as.format.is_none()
        || read_as.format == Some(InputFormat::Npy)
    {
        return matrix(head, known).map_err(wrong);
    }
    let comments = role.comments(rules);
    let all = (1..).zip(head.text.split(|&byte| byte == b'\n'));
    let lines: Vec<(u64, &[u8])> =
        all.filter(|(_, line)| counts(line, comments)).take(LINES).collect();
    // The first line that is no comment decides alone: if this line is valid TREC, the text is
    // TREC, however many wrong lines follow.
    let is_trec = lines.first().is_some_and(|(_, first)| role.fault(first, rules).is_none());
    if let Some(format) = read_as.tables(head.text).filter(|_| read_as.format.is_some() || !is_trec)
    {
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
        Some(
            InputFormat::Npy
            | InputFormat::Ivecs
            | InputFormat::Ibin
            | InputFormat::Ids
            | InputFormat::Parquet
            | InputFormat::Arrow,
        ) => unreachable!("it was read"),
    }
}

/// Makes the message for a text of another format under a dialect of trec_eval, which reads only
/// TREC.
fn convertible(head: Head<'_>, known: KnownOfText<'_>) -> Option<OtherFormat> {
    let form = tell(head, KnownOfText { dialect: Dialect::Laneval, ..known }).ok()?;
    if form.table().is_none() && form.columns().is_none() {
        return None;
    }
    let name = printable(known.name.as_bytes());
    let judgments = if known.role == Role::Qrels { "--qrels " } else { "" };
    let is = if form.doubtful { "has" } else { "is" };
    let message = format!(
        "{is} {}, and dialects of trec_eval read TREC text alone: `laneval convert \
         {judgments}{name} -o {name}.trec` writes it so",
        form.what
    );
    Some(OtherFormat::Told(0, message))
}

impl<'l> Look<'l> {
    fn tell(self, foreign: impl Fn() -> Told) -> Told {
        let KnownOfText { role, read_as, .. } = self.known;
        let is_trec = |role: Role, line: &[u8]| role.fault(line, self.rules).is_none();
        let start = self.first.trim_ascii_start();
        // Ids of JSON may have words and numbers, as a line of TREC.
        let is_json = is_json(self.text());
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

    /// Decides by the name if the lines can be TREC or another format: a table with blanks in its
    /// fields, split differently as TREC, or LETOR without features.
    fn by_name(self) -> Option<Told> {
        let separator = match InputFormat::of_name(self.known.name)? {
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
        let has_blanks =
            |line: &[u8]| separator.fields(line).iter().any(|field| split(field).count() != 1);
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

    /// Checks whether only tabs stand between the fields of all lines, and all lines have as many
    /// fields as the first.
    fn is_tabbed(self) -> bool {
        let count = Separator::Tab.fields(self.first).len();
        let is_field = |field: &&[u8]| !field.is_empty() && field.trim_ascii() == *field;
        // Tables have no comments.
        let is_comment = |line: &[u8]| line.trim_ascii_start().starts_with(b"#");
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

    /// Checks whether all lines with blanks have as many fields, and a number as the last.
    fn is_regular(self) -> bool {
        let (enough, fields) = (self.lines.len() >= FEWEST, |line: &[u8]| split(line).count());
        let number = |line: &[u8]| split(line).last().and_then(finite).is_some();
        enough
            && self.lines.iter().all(|(_, line)| fields(line) == fields(self.first) && number(line))
    }

    /// Makes the message for a few lines of fewer fields than TREC has, which are a table if an
    /// option says so.
    fn too_few(self) -> Option<String> {
        let count = split(self.first).count();
        let is_number = |line: &[u8]| split(line).last().and_then(finite).is_some();
        let is_alike = |line: &[u8]| split(line).count() == count && is_number(line);
        let few = self.head.all && self.lines.len() < FEWEST && self.known.by.is_none();
        if !few
            || self.separator() != Separator::Blanks
            || !self.lines.iter().all(|(_, line)| is_alike(line))
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
            (Role::Run, 5) => {
                format!("say `{}` if only the tag is missing", options.format(role, "trec"))
            }
            _ => return None,
        };
        let complaint = role.complaint(self.first, LineFault::Fields(count), self.rules);
        Some(format!("{complaint}; {hint}"))
    }
}
