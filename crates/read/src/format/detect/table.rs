//! Detection of tables of text, by the names in their header or by their number of columns.

use std::collections::HashMap;

use memchr::memchr_iter;

use super::first_lines::{DetectContext, Detected, FEWEST, FirstLines};
use super::foreign::ForeignFormat;
use crate::error::printable;
use crate::format::names::{ChosenColumns, ColumnChoiceError, choose, in_order};
use crate::format::{RowLayout, RowShape};
use crate::judged_by::FacetKind;
use crate::lines::diagnostics::{pluralize, quoted};
use crate::lines::layout::{BareRows, NumberKind, TableLayout, not_counted};
use crate::lines::number::finite;
use crate::lines::options::OptionStyle;
use crate::lines::scan::{has_lone_return, split};
use crate::lines::separator::Separator;
use crate::lines::shape::Role;

impl FirstLines<'_> {
    /// Makes the message about a first line that is no row of a table, such as one with `;` between
    /// its columns.
    pub fn no_table(self, separator: Separator) -> Option<String> {
        let columns = self.columns(separator);
        if columns > 2 {
            return None;
        }
        let between = [b';', b'|'].into_iter().find(|&byte| {
            let count = memchr_iter(byte, self.first).count();
            count > 1 && self.lines.iter().all(|(_, line)| memchr_iter(byte, line).count() == count)
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

    /// Recognises a TREC run whose lines lack only the tag, the last column.
    pub fn without_tag(self) -> Option<RowLayout> {
        // One or two lines of five fields may be another table, unless the user named the format.
        let enough = self.lines.len() >= FEWEST || self.known.read_as.format.is_some();
        if self.known.role != Role::Run
            || !enough
            || !self.lines.iter().all(|(_, line)| {
                split(line).count() == 5 && split(line).nth(4).and_then(finite).is_some()
            })
        {
            return None;
        }
        let (value, group) = (NumberKind::Number, None);
        let chosen = ChosenColumns { query: 0, doc: 2, number: 4, value, rank: Some(3), group };
        let table =
            table_layout(Separator::Blanks, 5, chosen, "query iter docno rank score".to_owned());
        let what = "TREC text without tags".to_owned();
        Some(RowLayout::new(RowShape::Table(table), what))
    }

    /// Chooses the columns of query, document and number by the names in the first line of a table.
    pub fn header(self, separator: Separator) -> Result<ChosenColumns, ColumnChoiceError> {
        let DetectContext { role, by, read_as, .. } = self.known;
        choose(&separator.fields(self.first), role, by, read_as.columns.as_ref())
    }

    /// Recognises a table by a header behind a `#`, as `numpy.savetxt` writes headers. The header
    /// is the last non-blank line before the first line of data.
    pub fn header_behind_hash(self, separator: Separator) -> Option<Detected> {
        let given = self.known.read_as.columns.as_ref();
        if separator == Separator::Blanks || given.is_some_and(|given| given.ordered().is_some()) {
            return None;
        }
        let before = &self.head.text[..self.start()];
        let lines = (1..).zip(before.split(|&byte| byte == b'\n'));
        let (number, line) = lines.filter(|(_, line)| !line.trim_ascii().is_empty()).last()?;
        let first = line.trim_ascii_start().strip_prefix(b"#")?.trim_ascii_start();
        let look = Self { first, number, ..self };
        let chosen = look.header(separator).ok()?;
        (look.columns(separator) == self.columns(separator))
            .then(|| look.named(separator, Ok(chosen)))
    }

    /// Recognises a table by a header behind a `#`, or returns the error about a text that is no
    /// table; else `None`.
    pub fn sure_table(self, separator: Separator) -> Option<Detected> {
        match self.no_table(separator) {
            Some(message) => Some(Err(self.first_line_error(message))),
            None => self.header_behind_hash(separator),
        }
    }

    /// Recognises a table whose columns have this separator, with a header or without one.
    pub fn table(self, separator: Separator) -> Detected {
        if let Some(form) = self.sure_table(separator) {
            return form;
        }
        match &self.known.read_as.columns {
            Some(columns) if columns.ordered().is_some() => {
                let DetectContext { role, by, .. } = self.known;
                let chosen = in_order(columns, role, by)
                    .map_err(|message| self.first_line_error(message))?;
                let count = columns.ordered().unwrap_or_default();
                let shape = columns.to_string();
                let what = format!("{} without a header: {shape}", separator.table());
                let table = table_layout(separator, count, chosen, shape);
                Ok(RowLayout::new(RowShape::Table(table), what))
            }
            _ => match self.header(separator) {
                Err(ColumnChoiceError::NoNames(_)) => self.headerless(separator),
                other => self.named(separator, other),
            },
        }
    }

    /// Recognises a table by its header, given the columns `chosen` by name.
    pub fn named(
        self,
        separator: Separator,
        chosen: Result<ChosenColumns, ColumnChoiceError>,
    ) -> Detected {
        let chosen = match chosen {
            Ok(chosen) => chosen,
            Err(ColumnChoiceError::Invalid(message)) => return Err(self.first_line_error(message)),
            Err(ColumnChoiceError::Missing(missing)) => {
                return Err(self.first_line_error(missing.message(self.options())));
            }
            Err(ColumnChoiceError::NoNames(_)) => return self.headerless(separator),
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
        let table = table_layout(separator, names.len(), chosen, names.join(between));
        let end = self.start() + self.first.len();
        let skip = end + usize::from(end < self.head.text.len());
        let named = [chosen.query, chosen.doc, chosen.number].map(|at| names[at].as_str());
        let is_quepid = matches!(
            named,
            ["query", "docid", "rating"] | ["Query Text", "Doc ID", "Rating" | "Doc Position"]
        );
        let bare = is_quepid.then(BareRows::default);
        Ok(RowLayout {
            shape: RowShape::Table(TableLayout { skip, bare, ..table }),
            what,
            doubtful: both,
        })
    }

    /// Rejects the first line of a table with a carriage return inside: such a line is several
    /// lines.
    fn check_returns(self) -> Result<(), ForeignFormat> {
        // Fields may be quoted, and then they may have any byte inside.
        if has_lone_return(self.first) && !self.first.contains(&b'"') {
            let message = "the first line has a carriage return inside: lines end with LF or CR LF";
            return Err(self.first_line_error(message.to_owned()));
        }
        Ok(())
    }

    /// Recognises a table without a header by its number of columns.
    pub fn headerless(self, separator: Separator) -> Detected {
        self.check_returns()?;
        let (role, count) = (self.known.role, self.columns(separator));
        if separator == Separator::Comma
            && let Some(number) = split(self.first).nth(role.number_field())
            && is_with_comma(number)
        {
            let what = role.number();
            let message =
                format!("the {what} {} has a comma: a decimal point was expected", quoted(number));
            return Err(self.first_line_error(message));
        }
        let group = self.known.by.map(|_| 1);
        let [query, doc, number] = match (role, count) {
            (Role::Qrels, 3) if group.is_none() => [0, 1, 2],
            (Role::Qrels, 4) => [0, 2, 3],
            (Role::Run, 3) => return self.counted(separator),
            (Role::Run, 5 | 6) => [0, 2, 4],
            _ => return Err(self.refuse_columns(count)),
        };
        let (value, rank) = (NumberKind::Number, (role == Role::Run).then_some(3));
        let chosen = ChosenColumns { query, doc, number, value, rank, group };
        self.check_first(separator, chosen)?;
        if role == Role::Qrels
            && count == 3
            && self.known.read_as.format.is_none()
            && self.is_rank_column(separator)
        {
            let format = if separator == Separator::Comma { "csv" } else { "tsv" };
            return Err(self.first_line_error(format!(
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
        let table = TableLayout { tag, ..table_layout(separator, count, chosen, names) };
        Ok(RowLayout::new(RowShape::Table(table), what))
    }

    /// Makes the error about a table without a header whose number of columns is ambiguous.
    fn refuse_columns(self, count: usize) -> ForeignFormat {
        let (number, options) = (self.known.role.number(), self.options());
        let columns = match self.known.by {
            Some(by) => format!("query,{by},doc,{number}"),
            None => format!("query,-,doc,{number}"),
        };
        self.first_line_error(format!(
            "there is no header, and {}: say which are queries, documents and {number}s in their \
             order (`{}`), or by their names in the first line (`{}`)",
            pluralize(count, "column"),
            options.columns_in_order(&columns),
            options.columns_by_name(self.known.role, None)
        ))
    }

    /// Returns the assumed columns, such as `query document grade`, of a table without a header of
    /// `count` columns.
    fn name_columns(self, count: usize) -> &'static str {
        match (self.known.role, count) {
            (Role::Qrels, _) if self.known.by == Some(FacetKind::Judge) => {
                "query judge document grade"
            }
            (Role::Qrels, _) if self.known.by == Some(FacetKind::Subtopic) => {
                "query subtopic document grade"
            }
            (Role::Qrels, 3) => "query document grade",
            (Role::Qrels, _) => "query iter document grade",
            (Role::Run, 5) => "query iter document rank score",
            (Role::Run, _) => "query iter document rank score tag",
        }
    }

    /// Checks whether the third column of a table's first lines has ranks: it counts 1, 2, 3 … in
    /// every query. In one of the queries it must count further than grades may by chance.
    pub fn is_rank_column(self, separator: Separator) -> bool {
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

    /// Rejects the first line of a table that may be a header with unknown names.
    pub fn check_first(
        self,
        separator: Separator,
        chosen: ChosenColumns,
    ) -> Result<(), ForeignFormat> {
        let at = chosen.number;
        // The line behind a header has a number. Without a number in the second line, both lines
        // are wrong rows, which the reader of the table reports.
        let is_followed =
            self.lines.get(1).is_some_and(|(_, line)| has_number(line, separator, at));
        if !is_followed || has_number(self.first, separator, at) {
            return Ok(());
        }
        Err(self.first_line_error(format!(
            "the first line {} may be a header, but its names are not known: `{}` says which is \
             what",
            quoted(self.first),
            self.options().columns_by_name(self.known.role, None)
        )))
    }

    /// Recognises a run of three columns without a header, if the last column may be ranks.
    pub fn counted(self, separator: Separator) -> Detected {
        let value = NumberKind::CountedRank;
        let chosen = ChosenColumns { query: 0, doc: 1, number: 2, value, rank: None, group: None };
        self.check_first(separator, chosen)?;
        let mut next: HashMap<&[u8], u64> = HashMap::new();
        for (line, text) in self.lines {
            let fields = separator.fields(text);
            let [query, _, number] = fields[..] else { continue };
            let next = next.entry(query).or_insert(1);
            if rank(number) != Some(*next) {
                return Err(ForeignFormat::Explained(
                    *line,
                    not_counted(number, Some(*next), self.options()),
                ));
            }
            *next += 1;
        }
        Ok(self.ranks(NumberKind::CountedRank, separator))
    }

    /// Makes the row layout of a run of query, document and rank, as in MS MARCO.
    pub fn ranks(self, value: NumberKind, separator: Separator) -> RowLayout {
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
            ..table_layout(separator, 3, chosen, shape.to_owned())
        };
        RowLayout {
            shape: RowShape::Table(table),
            what: what.to_owned(),
            doubtful: value == NumberKind::CountedRank,
        }
    }
}

/// Returns whether a line of a table has a finite number in the column `at`.
fn has_number(line: &[u8], separator: Separator, at: usize) -> bool {
    separator.fields(line).get(at).copied().and_then(finite).is_some()
}

/// Parses a field as a rank: a positive integer of at most nine digits without leading zeros.
fn rank(field: &[u8]) -> Option<u64> {
    let is_rank =
        field.len() < 10 && *field.first()? != b'0' && field.iter().all(u8::is_ascii_digit);
    is_rank.then(|| str::from_utf8(field).ok()?.parse().ok())?
}

/// Returns whether a text is a number with a comma in the place of the decimal point.
fn is_with_comma(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let count = digits.iter().filter(|byte| byte.is_ascii_digit()).count();
    count >= 2
        && count + 1 == digits.len()
        && matches!(digits, [b'0'..=b'9', .., b'0'..=b'9'])
        && digits.contains(&b',')
}

/// Makes the layout of a table from its separator, number of columns and chosen columns.
fn table_layout(
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
