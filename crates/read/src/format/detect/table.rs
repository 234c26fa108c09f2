//! Detection of tables of text, by the names in their header or by their number of columns.

use std::collections::HashMap;

use memchr::memmem;

use super::{
    first_lines::{DetectContext, Detected, FEWEST, FirstLines},
    foreign::ForeignFormat,
};
use crate::error::printable;
use crate::format::{
    AlignedQrels, RowLayout, RowShape,
    names::{ChosenColumns, ColumnChoice, ColumnChoiceError, GroupingNames, choose, in_order},
};
use crate::lines::{
    diagnostics::{pluralize, quoted},
    doubled_quotes::DoubledQuotes,
    grade_words::GradeWords,
    layout::{BareRows, NumberKind, TableLayout, not_counted},
    number::finite,
    scan::{has_lone_return, split},
    separator::Separator,
    shape::{Role, is_with_comma},
};

/// The number beyond which a column that counts has ranks: up to it, grades may count by chance.
const FURTHER: f64 = 4.0;

impl FirstLines<'_> {
    /// Makes the message about a first line that is no row of a table, such as one with `|` between
    /// its columns.
    pub fn no_table(self, separator: Separator) -> Option<String> {
        let columns = self.columns(separator);
        if columns > 2 {
            return None;
        }
        let first = quoted(self.first);
        let count = |text: &str, line| memmem::find_iter(line, text).count();
        let between = ["::", ";", "|"].into_iter().find(|text| {
            let here = count(text, self.first);
            here > 1 && self.lines.iter().all(|(_, line)| count(text, line) == here)
        });
        if let Some(text) = between {
            let message = format!(
                "the columns of {first} are separated by '{text}', which is not read: tabs and \
                 commas are, for example after"
            );
            if text != "::" {
                return Some(format!("{message} `tr '{text}' '\\t'`"));
            }
            // MovieLens has its grade third, where TREC has its document.
            let rest = ",-".repeat(count(text, self.first) - 2);
            let columns = format!("query,doc,{}{rest}", self.known.role.number());
            let columns = self.options().columns_in_order(&columns);
            return Some(format!("{message} `sed 's/::/\\t/g'`, and with `{columns}`"));
        }
        match (separator, columns) {
            (_, 0) => Some(format!(
                "a quote (\") in {first} is not closed where its field ends, or not on its line"
            )),
            (_, 1) if self.first.trim_ascii_start().starts_with(b"\"") => Some(format!(
                "quotes are around the whole line {first}, which makes it one column: three or \
                 more were expected"
            )),
            _ => None,
        }
    }

    /// Recognises a TREC run whose lines lack only the tag, the last column.
    pub fn without_tag(self) -> Option<RowLayout> {
        // One or two lines of five fields may be another table, unless the user named the format.
        let enough = self.lines.len() >= FEWEST || self.known.read_as.format.is_some();
        if self.known.role != Role::Run || !enough || !self.are_alike(5) {
            return None;
        }
        let (value, group) = (NumberKind::Number, None);
        let chosen = ChosenColumns { query: 0, doc: 2, number: 4, value, rank: Some(3), group };
        let shape = "query iter docno rank score".to_owned();
        let table = self.table_layout(Separator::Blanks, 5, chosen, shape);
        let what = "TREC text without tags".to_owned();
        Some(RowLayout::new(RowShape::Table(table), what))
    }

    /// Chooses the columns of query, document and number by the names in the first line of a table.
    pub fn header(self, separator: Separator) -> ColumnChoice<ChosenColumns> {
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
            Some(message) => Some(self.refuse(message)),
            None => self.header_behind_hash(separator),
        }
    }

    /// Recognises a table whose columns have this separator, with a header or without one.
    pub fn table(self, separator: Separator) -> Detected {
        if let Some(form) = self.sure_table(separator) {
            return form;
        }
        let DetectContext { role, by, read_as, .. } = self.known;
        if let Some(columns) = &read_as.columns
            && let Some(count) = columns.ordered()
        {
            let chosen = in_order(columns, role, by).or_else(|message| self.refuse(message))?;
            let shape = columns.to_string();
            let is_ungraded = chosen.value == NumberKind::One;
            let what = format!("{} without a header: {shape}", separator.table());
            let shape = RowShape::Table(self.table_layout(separator, count, chosen, shape));
            return Ok(RowLayout::new(shape, what).ungraded(is_ungraded));
        }
        self.named(separator, self.header(separator))
    }

    /// Recognises a table by its header, given the columns `chosen` by name.
    pub fn named(self, separator: Separator, chosen: ColumnChoice<ChosenColumns>) -> Detected {
        let chosen = match chosen {
            Ok(chosen) => chosen,
            Err(ColumnChoiceError::Invalid(message)) => return self.refuse(message),
            Err(ColumnChoiceError::Missing(missing)) => {
                return self.refuse(missing.message(self.options()));
            }
            Err(ColumnChoiceError::NoNames(_)) => return self.headerless(separator),
        };
        let fields = separator.fields(self.first);
        // Only tables with quotes are read a second time, by the names of their columns.
        let grouping = separator.has_quotes().then(|| GroupingNames::new(&fields, &chosen.into()));
        let names: Vec<String> = fields.into_iter().map(printable).collect();
        let is_ungraded = chosen.value == NumberKind::One;
        let number = Some(chosen.number).filter(|_| !is_ungraded);
        let read = [Some(chosen.query), chosen.group, Some(chosen.doc), number];
        let read: Vec<String> = read.into_iter().flatten().map(|at| names[at].clone()).collect();
        // In PyTerrier's tables docid is a number of the index.
        let both = names[chosen.doc] == "docno" && names.iter().any(|name| name == "docid");
        let both = both && self.known.read_as.columns.is_none();
        let other = if both { "; docid is not read, which `doc=docid` names" } else { "" };
        let what = format!("{} with a header: {}{other}", separator.table(), read.join(", "));
        let shape = names.join(between(separator));
        let table = self.table_layout(separator, names.len(), chosen, shape);
        let end = self.start() + self.first.len();
        let skip = end + usize::from(end < self.head.text.len());
        let named = [chosen.query, chosen.doc, chosen.number].map(|at| names[at].as_str());
        let is_quepid = matches!(
            named,
            ["query", "docid", "rating"] | ["Query Text", "Doc ID", "Rating" | "Doc Position"]
        );
        let bare = is_quepid.then(BareRows::default);
        let is_judged = self.known.role == Role::Qrels;
        let words = table.words.clone().or_else(|| is_judged.then(GradeWords::default));
        let shape = RowShape::Table(TableLayout { skip, bare, words, ..table });
        let names = grouping.unwrap_or_default();
        Ok(RowLayout { shape, what, doubtful: both, names }.ungraded(is_ungraded))
    }

    /// Recognises a table without a header by its number of columns.
    pub fn headerless(self, separator: Separator) -> Detected {
        // With a carriage return inside, a line is several lines. Fields may be quoted, and then they
        // may have any byte inside.
        if has_lone_return(self.first) && !self.first.contains(&b'"') {
            return self
                .refuse("the first line has a carriage return inside: lines end with LF or CR LF");
        }
        let DetectContext { role, by, .. } = self.known;
        let count = self.columns(separator);
        let with_comma = match separator {
            Separator::Comma => split(self.first).nth(role.number_field()),
            Separator::Semicolon => separator.fields(self.first).pop(),
            _ => None,
        };
        if let Some(number) = with_comma.filter(|number| is_with_comma(number)) {
            return self.refuse(format!(
                "the {} {} has a comma: a decimal point was expected",
                role.number(),
                quoted(number)
            ));
        }
        if let Some(form) = self.ranked(separator) {
            return form;
        }
        self.refuse_times(separator)?;
        let facet = by.map_or("iter".to_owned(), |by| by.to_string());
        let judgment = format!("query {facet} document grade");
        let ([query, doc, number], names) = match (role, count) {
            (Role::Qrels, 3) if by.is_none() => ([0, 1, 2], "query document grade"),
            (Role::Qrels, 4) => ([0, 2, 3], &judgment[..]),
            (Role::Run, 3) => return self.counted(separator),
            (Role::Run, 5) => ([0, 2, 4], "query iter document rank score"),
            (Role::Run, 6) => ([0, 2, 4], "query iter document rank score tag"),
            _ => return self.refuse_columns(count),
        };
        let (value, rank) = (NumberKind::Number, (role == Role::Run).then_some(3));
        let chosen = ChosenColumns { query, doc, number, value, rank, group: by.map(|_| 1) };
        self.check_first(separator, number)?;
        if role == Role::Qrels
            && count == 3
            && self.known.read_as.format.is_none()
            && self.is_rank_column(separator)
        {
            let format = if separator.is_strict() { "csv" } else { "tsv" };
            return self.refuse(format!(
                "this looks like a run, because its third column counts 1, 2, 3 … in every query: \
                 the order is QRELS RUN; if these are grades, add `{}`",
                self.options().format(role, format)
            ));
        }
        let names = names.replace(' ', between(separator));
        let what = format!("{} without a header: {names}", separator.table());
        let tag = (role == Role::Run && count == 6).then_some(5);
        let table = TableLayout { tag, ..self.table_layout(separator, count, chosen, names) };
        Ok(RowLayout::new(RowShape::Table(table), what))
    }

    /// Returns the error about a table without a header whose number of columns is ambiguous.
    fn refuse_columns(self, count: usize) -> Detected {
        let (number, options) = (self.known.role.number(), self.options());
        let by = self.known.by.map_or("-".to_owned(), |by| by.to_string());
        let is_ungraded = count == 2 && self.known.role == Role::Qrels && self.known.by.is_none();
        let (columns, whats) = if is_ungraded {
            ("query,doc".to_owned(), "queries and documents".to_owned())
        } else {
            (format!("query,{by},doc,{number}"), format!("queries, documents and {number}s"))
        };
        self.refuse(format!(
            "there is no header, and {}: say which are {whats} in their order (`{}`), or by their \
             names in the first line (`{}`)",
            pluralize(count, "column"),
            options.columns_in_order(&columns),
            options.columns_by_name(self.known.role, None)
        ))
    }

    /// Checks whether the third column of a table's first lines has ranks: it counts 1, 2, 3 … in
    /// every query. In one of the queries it must count further than grades may by chance.
    pub fn is_rank_column(self, separator: Separator) -> bool {
        self.counted_to(separator, 2, 1.0).is_some_and(|longest| longest > FURTHER)
    }

    /// Returns how far a column of a table's first lines counts in one of the queries; `None` if it
    /// does not count from `first` on in every query.
    fn counted_to(self, separator: Separator, column: usize, first: f64) -> Option<f64> {
        let (mut last, mut longest): (Option<(&[u8], f64)>, f64) = (None, first);
        for (_, line) in self.lines {
            let fields = separator.fields(line);
            let (query, number) = (*fields.first()?, *fields.get(column)?);
            let expected = match last {
                Some((before, count)) if before == query => count + 1.0,
                _ => first,
            };
            if finite(number) != Some(expected) {
                return None;
            }
            (last, longest) = (Some((query, expected)), longest.max(expected));
        }
        Some(longest)
    }

    /// Returns whether the second column of a table's first lines may have documents: TREC text has
    /// `0` or `Q0` there.
    fn has_docs_second(self, separator: Separator) -> bool {
        self.lines.iter().any(|(_, line)| {
            separator.fields(line).get(1).is_some_and(|doc| !matches!(*doc, b"0" | b"Q0"))
        })
    }

    /// Recognises a run of query, document, rank and score, as ColBERT writes it, perhaps with a tag
    /// as the last column: ranks count 1, 2, 3 … and scores fall. Where only some of this holds, the
    /// error asks for the columns.
    pub fn ranked(self, separator: Separator) -> Option<Detected> {
        let count = self.columns(separator);
        let rows: Vec<Vec<&[u8]>> =
            self.lines.iter().map(|(_, line)| separator.fields(line)).collect();
        let is_number = |row: &Vec<&[u8]>, column: usize| {
            row.get(column).is_some_and(|field| finite(field).is_some())
        };
        // A number as the last of five columns is a score, and the tag is missing.
        let are_alike = rows.iter().all(|row| {
            row.len() == count && is_number(row, 2) && is_number(row, 3) && !is_number(row, 4)
        });
        let may_be = self.known.role == Role::Run && matches!(count, 4 | 5) && are_alike;
        if !may_be || !self.has_docs_second(separator) {
            return None;
        }
        let longest = self.counted_to(separator, 2, 1.0);
        let is_repeated = |(at, row): (usize, &Vec<&[u8]>)| {
            rows[..at].iter().any(|earlier| earlier[..2] == row[..2])
        };
        let pairs = rows.windows(2).filter(|two| two[0][0] == two[1][0]);
        let mut scores = pairs.map(|two| (finite(two[0][3]), finite(two[1][3])));
        let is_sorted =
            scores.clone().all(|(one, next)| one >= next) && scores.any(|(one, next)| one > next);
        let is_sure = longest.is_some_and(|longest| longest > FURTHER);
        let (names, columns, order) = if count == 4 {
            let order = "; if they are judgments, the order is QRELS RUN";
            ("query document rank score", "query,doc,rank,score", order)
        } else {
            ("query document rank score tag", "query,doc,rank,score,-", "")
        };
        let listed = names.replace(' ', ", ");
        if !is_sure || !is_sorted || rows.iter().enumerate().any(is_repeated) {
            let counts = longest.or_else(|| self.counted_to(separator, 2, 0.0)).is_some();
            return (counts || count == 5).then(|| {
                self.refuse(format!(
                    "there is no header, and {count} columns: say `{}` if they are {listed}{order}",
                    self.options().columns_in_order(columns)
                ))
            });
        }
        let (value, group) = (NumberKind::Number, None);
        let chosen = ChosenColumns { query: 0, doc: 1, number: 3, value, rank: Some(2), group };
        let what = format!(
            "{count} columns without a header, of which the third counts 1, 2, 3 … in every query: \
             {listed}"
        );
        let names = names.replace(' ', between(separator));
        let tag = (count == 5).then_some(4);
        let table = TableLayout { tag, ..self.table_layout(separator, count, chosen, names) };
        Some(Ok(RowLayout { doubtful: true, ..RowLayout::new(RowShape::Table(table), what) }))
    }

    /// Rejects judgments of four columns whose last is a time, as MovieLens has them. TREC text has
    /// the grade there.
    pub fn refuse_times(self, separator: Separator) -> Result<(), ForeignFormat> {
        // In seconds since 1970, this is in 1973.
        const EARLIEST: f64 = 1e8;
        let DetectContext { role, read_as, .. } = self.known;
        let are_times = self.lines.iter().all(|(_, line)| match separator.fields(line)[..] {
            [_, _, grade, time] => {
                finite(grade).is_some() && finite(time).is_some_and(|time| time >= EARLIEST)
            }
            _ => false,
        });
        let may_be = role == Role::Qrels && read_as.format.is_none() && are_times;
        if !may_be || !self.has_docs_second(separator) {
            return Ok(());
        }
        let format = match separator {
            Separator::Tab => "tsv",
            Separator::Blanks => "trec",
            _ => "csv",
        };
        self.refuse(format!(
            "the fourth of four columns looks like times, and a grade was expected: say `{}` if \
             they are query, document, grade, time, or `{}` if the fourth is the grade",
            self.options().columns_in_order("query,doc,grade,-"),
            self.options().format(role, format)
        ))
    }

    /// Rejects the first line of a table that may be a header with unknown names. Rows have a
    /// number in the column `number`.
    fn check_first(self, separator: Separator, number: usize) -> Result<(), ForeignFormat> {
        let words = self.known.read_as.grades.as_ref();
        let is_number = |field: &&[u8]| {
            finite(field).is_some() || words.is_some_and(|words| words.grade(field).is_some())
        };
        let has_number = |line: &[u8]| separator.fields(line).get(number).is_some_and(is_number);
        // The line behind a header has a number. Without a number in the second line, both lines
        // are wrong rows, which the reader of the table reports.
        let is_followed = self.lines.get(1).is_some_and(|(_, line)| has_number(line));
        if !is_followed || has_number(self.first) {
            return Ok(());
        }
        self.refuse(format!(
            "the first line {} may be a header, but its names are not known: `{}` says which is \
             what",
            quoted(self.first),
            self.options().columns_by_name(self.known.role, None)
        ))
    }

    /// Recognises a run of three columns without a header, if the last column may be ranks.
    pub fn counted(self, separator: Separator) -> Detected {
        self.check_first(separator, 2)?;
        if let Some(AlignedQrels::Letor(_)) = self.known.partner
            && self.counted_to(separator, 1, 0.0).is_some()
            && self.counted_to(separator, 2, 1.0).is_none()
        {
            return self.refuse(format!(
                "the second of three columns counts 0, 1, 2 … in every query, as RankLib numbers \
                 the lines of LETOR judgments: a score on each line was expected, as after `awk \
                 '{{print $3}}'`; say `{}` if the second column has documents",
                self.options().columns_in_order("query,doc,score")
            ));
        }
        let mut next: HashMap<&[u8], u64> = HashMap::new();
        for (line, text) in self.lines {
            let fields = separator.fields(text);
            let [query, _, number] = fields[..] else { continue };
            let next = next.entry(query).or_insert(1);
            if rank(number) != Some(*next) {
                let message = not_counted(number, Some(*next), self.options());
                return Err(ForeignFormat::Explained(*line, message));
            }
            *next += 1;
        }
        Ok(self.ranks(NumberKind::CountedRank, separator))
    }

    /// Makes the row layout of a run of query, document and rank, as in MS MARCO.
    pub fn ranks(self, value: NumberKind, separator: Separator) -> RowLayout {
        let chosen = ChosenColumns { query: 0, doc: 1, number: 2, value, rank: None, group: None };
        let shape = "query document rank".replace(' ', between(separator));
        let what = match value {
            NumberKind::CountedRank => {
                "three columns without a header, of which the third counts 1, 2, 3 … in every \
                 query: query, document and rank"
            }
            _ => "query, document and rank, as MS MARCO has them",
        };
        let shape = RowShape::Table(self.table_layout(separator, 3, chosen, shape));
        let doubtful = value == NumberKind::CountedRank;
        RowLayout { doubtful, ..RowLayout::new(shape, what.to_owned()) }
    }

    /// Makes the layout of a table from its separator, number of columns and chosen columns.
    fn table_layout(
        self,
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
            options: self.options(),
            bare: None,
            quotes: DoubledQuotes::default(),
            original: None,
            words: self.known.read_as.grades.clone().filter(|_| self.known.role == Role::Qrels),
        }
    }
}

/// Returns what stands between the columns of a table where messages write its shape.
fn between(separator: Separator) -> &'static str {
    match separator {
        Separator::Comma => ",",
        Separator::Semicolon => ";",
        _ => " ",
    }
}

/// Parses a field as a rank: a positive integer of at most nine digits without leading zeros.
fn rank(field: &[u8]) -> Option<u64> {
    let is_rank =
        field.len() < 10 && *field.first()? != b'0' && field.iter().all(u8::is_ascii_digit);
    is_rank.then(|| str::from_utf8(field).ok()?.parse().ok())?
}
