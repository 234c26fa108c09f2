//! Tells tables of text: by the names in their header, or by how many columns they have.

use std::collections::HashMap;

use memchr::memchr_iter;

use super::Form;
use super::RowShape;
use super::foreign::OtherFormat;
use super::look::{FEWEST, KnownOfText, Look, Told};
use super::names::{ChosenColumns, NotChosen, choose, in_order};
use crate::error::printable;
use crate::judged_by::JudgedBy;
use crate::lines::diagnostics::quoted;
use crate::lines::layout::{BareRows, NumberKind, TableLayout, not_counted};
use crate::lines::number::finite;
use crate::lines::options::OptionStyle;
use crate::lines::scan::{has_lone_return, split};
use crate::lines::separator::Separator;
use crate::lines::shape::Role;

impl Look<'_> {
    /// Makes the message for a first line whose columns cannot be recognised: their separator is
    /// not read, quotes are around the line, or quotes are not closed.
    pub fn no_table(self, separator: Separator) -> Option<String> {
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
                "the columns of {} are separated by '{byte}', which is not read: tabs and commas \
                 are, for example after `tr '{byte}' '\\t'`",
                quoted(self.first)
            ));
        }
        match (separator, columns) {
            (Separator::Comma, 0) => Some(format!(
                "a quote (\") in {} is not closed where its field ends, or not on its line",
                quoted(self.first)
            )),
            (_, 1) if self.first.trim_ascii_start().starts_with(b"\"") => Some(format!(
                "quotes are around the whole line {}, which makes it one column: three or more \
                 were expected",
                quoted(self.first)
            )),
            _ => None,
        }
    }

    /// Recognises a run of TREC whose lines have all but a tag.
    pub fn without_tag(self) -> Option<Form> {
        let is_so =
            |line: &[u8]| split(line).count() == 5 && split(line).nth(4).and_then(finite).is_some();
        let enough = self.lines.len() >= FEWEST || self.known.read_as.format.is_some();
        if self.known.role != Role::Run
            || !enough
            || !self.lines.iter().all(|(_, line)| is_so(line))
        {
            return None;
        }
        let (value, group) = (NumberKind::Number, None);
        let chosen = ChosenColumns { query: 0, doc: 2, number: 4, value, rank: Some(3), group };
        let table =
            of_columns(Separator::Blanks, 5, chosen, "query iter docno rank score".to_owned());
        let what = "TREC text without tags".to_owned();
        Some(Form { shape: RowShape::Table(table), what, doubtful: false })
    }

    /// Chooses the columns by the names in the first line.
    pub fn header(self, separator: Separator) -> Result<ChosenColumns, NotChosen> {
        let KnownOfText { role, by, read_as, .. } = self.known;
        choose(&separator.fields(self.first), role, by, read_as.columns.as_ref())
    }

    /// Recognises a table by a header behind a `#`, as `numpy.savetxt` writes headers. The header
    /// is the last non-blank line before the first line of data.
    pub fn header_behind_hash(self, separator: Separator) -> Option<Told> {
        let given = self.known.read_as.columns.as_ref();
        if separator == Separator::Blanks || given.is_some_and(|given| given.ordered().is_some()) {
            return None;
        }
        let before =
            &self.head.text[..self.first.as_ptr() as usize - self.head.text.as_ptr() as usize];
        let lines = (1..).zip(before.split(|&byte| byte == b'\n'));
        let (number, line) = lines.filter(|(_, line)| !line.trim_ascii().is_empty()).last()?;
        let first = line.trim_ascii_start().strip_prefix(b"#")?.trim_ascii_start();
        let look = Look { first, number, ..self };
        let chosen = look.header(separator).ok()?;
        (look.columns(separator) == self.columns(separator))
            .then(|| look.named(separator, Ok(chosen)))
    }

    /// Recognises a table with a known separator.
    pub fn table(self, separator: Separator) -> Told {
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
    pub fn named(self, separator: Separator, chosen: Result<ChosenColumns, NotChosen>) -> Told {
        let chosen = match chosen {
            Ok(chosen) => chosen,
            Err(NotChosen::Wrong(message)) => return Err(self.wrong(message)),
            Err(NotChosen::Missing(missing)) => {
                return Err(self.wrong(missing.message(self.options())));
            }
            Err(NotChosen::NoNames(_)) => return self.headerless(separator),
        };
        let names: Vec<String> = separator.fields(self.first).into_iter().map(printable).collect();
        let between = if separator == Separator::Comma { "," } else { " " };
        let read = [Some(chosen.query), chosen.group, Some(chosen.doc), Some(chosen.number)];
        let read: Vec<String> = read.into_iter().flatten().map(|at| names[at].clone()).collect();
        // In PyTerrier's tables docid is a number of the index.
        let both = names[chosen.doc] == "docno" && names.iter().any(|name| name == "docid");
        let both = both && self.known.read_as.columns.is_none();
        let other = if both { "; docid is not read, which `doc=docid` names" } else { "" };
        let what = format!("{} with a header: {}{other}", separator.table(), read.join(", "));
        let table = of_columns(separator, names.len(), chosen, names.join(between));
        let start = self.first.as_ptr() as usize - self.head.text.as_ptr() as usize;
        let skip =
            start + self.first.len() + usize::from(start + self.first.len() < self.head.text.len());
        let named = [chosen.query, chosen.doc, chosen.number].map(|at| names[at].as_str());
        let is_quepid = matches!(
            named,
            ["query", "docid", "rating"] | ["Query Text", "Doc ID", "Rating" | "Doc Position"]
        );
        let bare = is_quepid.then(BareRows::default);
        Ok(Form {
            shape: RowShape::Table(TableLayout { skip, bare, ..table }),
            what,
            doubtful: both,
        })
    }

    /// Rejects a first line with carriage returns inside: such a line is several lines.
    fn check_returns(self) -> Result<(), OtherFormat> {
        // Fields may be quoted, and then they may have any byte inside.
        if has_lone_return(self.first) && !self.first.contains(&b'"') {
            let message = "the first line has a carriage return inside: lines end with LF or CR LF";
            return Err(self.wrong(message.to_owned()));
        }
        Ok(())
    }

    /// Recognises a table without a header by its number of columns.
    pub fn headerless(self, separator: Separator) -> Told {
        self.check_returns()?;
        let (role, count) = (self.known.role, self.columns(separator));
        if separator == Separator::Comma
            && let Some(number) = split(self.first).nth(role.number_field())
            && is_with_comma(number)
        {
            let what = role.number();
            let message =
                format!("the {what} {} has a comma: a decimal point was expected", quoted(number));
            return Err(self.wrong(message));
        }
        let (value, group) = (NumberKind::Number, self.known.by.map(|_| 1));
        let chosen = match (role, count) {
            (Role::Qrels, 3) if group.is_none() => {
                ChosenColumns { query: 0, doc: 1, number: 2, value, rank: None, group }
            }
            (Role::Qrels, 4) => {
                ChosenColumns { query: 0, doc: 2, number: 3, value, rank: None, group }
            }
            (Role::Run, 3) => return self.counted(separator),
            (Role::Run, 5 | 6) => {
                ChosenColumns { query: 0, doc: 2, number: 4, value, rank: Some(3), group }
            }
            _ => return Err(self.refuse_columns(count)),
        };
        self.check_first(separator, chosen)?;
        if role == Role::Qrels
            && count == 3
            && self.known.read_as.format.is_none()
            && self.counts_on(separator)
        {
            let format = if separator == Separator::Comma { "csv" } else { "tsv" };
            return Err(self.wrong(format!(
                "this looks like a run, because its third column counts 1, 2, 3 … in every query: \
                 the order is QRELS RUN; if these are grades, add `{}`",
                self.options().format(role, format)
            )));
        }
        let names = self.name_columns(count);
        let names =
            if separator == Separator::Comma { names.replace(' ', ",") } else { names.to_owned() };
        let what = format!("{} without a header: {names}", separator.table());
        let tag = (role == Role::Run && count == 6).then_some(5);
        let table = TableLayout { tag, ..of_columns(separator, count, chosen, names) };
        Ok(Form { shape: RowShape::Table(table), what, doubtful: false })
    }

    /// Makes the error for a table without a header and with an ambiguous number of columns.
    fn refuse_columns(self, count: usize) -> OtherFormat {
        let (number, options) = (self.known.role.number(), self.options());
        let columns = match self.known.by {
            Some(by) => format!("query,{by},doc,{number}"),
            None => format!("query,-,doc,{number}"),
        };
        self.wrong(format!(
            "there is no header, and {}: say which are queries, documents and {number}s in their \
             order (`{}`), or by their names in the first line (`{}`)",
            if count == 1 { "1 column".to_owned() } else { format!("{count} columns") },
            options.columns_in_order(&columns),
            options.columns_by_name(self.known.role, None)
        ))
    }

    /// Names the columns of a table without a header, of which there are `count`.
    fn name_columns(self, count: usize) -> &'static str {
        match (self.known.role, count) {
            (Role::Qrels, _) if self.known.by == Some(JudgedBy::Judge) => {
                "query judge document grade"
            }
            (Role::Qrels, _) if self.known.by == Some(JudgedBy::Subtopic) => {
                "query subtopic document grade"
            }
            (Role::Qrels, 3) => "query document grade",
            (Role::Qrels, _) => "query iter document grade",
            (Role::Run, 5) => "query iter document rank score",
            (Role::Run, _) => "query iter document rank score tag",
        }
    }

    /// Checks whether the third column of the first lines counts 1, 2, 3 … in every query, and in
    /// one of them further than grades may by chance.
    pub fn counts_on(self, separator: Separator) -> bool {
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
    pub fn check_first(
        self,
        separator: Separator,
        chosen: ChosenColumns,
    ) -> Result<(), OtherFormat> {
        let is_number = |line: &[u8]| {
            separator.fields(line).get(chosen.number).copied().and_then(finite).is_some()
        };
        let second = self.lines.get(1).is_some_and(|(_, line)| is_number(line));
        if is_number(self.first) || !second {
            return Ok(());
        }
        Err(self.wrong(format!(
            "the first line {} may be a header, but its names are not known: `{}` says which is \
             what",
            quoted(self.first),
            self.options().columns_by_name(self.known.role, None)
        )))
    }

    /// Recognises a run of three columns, if the last column may be ranks.
    pub fn counted(self, separator: Separator) -> Told {
        let is_rank = |field: &[u8]| {
            field.len() < 10 && field.iter().all(u8::is_ascii_digit) && field[..1] != *b"0"
        };
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
                return Err(OtherFormat::Told(
                    *line,
                    not_counted(number, Some(*next), self.options()),
                ));
            }
            *next += 1;
        }
        Ok(self.ranks(NumberKind::CountedRank, separator))
    }

    /// Makes the form of a run of query, document and rank.
    pub fn ranks(self, value: NumberKind, separator: Separator) -> Form {
        let chosen = ChosenColumns { query: 0, doc: 1, number: 2, value, rank: None, group: None };
        let shape = if separator == Separator::Comma {
            "query,document,rank"
        } else {
            "query document rank"
        };
        let what = match value {
            NumberKind::CountedRank => {
                "three columns without a header, of which the third counts 1, 2, 3 … in every \
                 query: query, document and rank"
            }
            _ => "query, document and rank, as MS MARCO has them",
        };
        let table = TableLayout {
            options: self.options(),
            ..of_columns(separator, 3, chosen, shape.to_owned())
        };
        Form {
            shape: RowShape::Table(table),
            what: what.to_owned(),
            doubtful: value == NumberKind::CountedRank,
        }
    }
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
fn of_columns(
    separator: Separator,
    columns: usize,
    chosen: ChosenColumns,
    shape: String,
) -> TableLayout {
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
        bare: None,
    }
}
