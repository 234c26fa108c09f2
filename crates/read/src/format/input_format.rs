//! The table of the input formats of judgments and runs: their names, help texts and file
//! extensions.
//!
//! Help, choices and messages of the command, the names that Python takes, the endings of names that
//! decide, and who reads a text of a format that was named, follow from the table. The module
//! `detect` tells the format of other texts.
//!
//! A row ends with the function that returns the layout of a text of the format: `Lines` of its
//! first lines, or `Bytes` of its start, if it has no lines. The functions are named in the terms of
//! `detect`, where the macro `layouts` puts them.

/// The properties of an input format: name, help text, file extensions.
struct FormatInfo {
    /// The name by which users ask for the format.
    name: &'static str,
    /// The description of the format, for help.
    help: &'static str,
    /// The endings of names, in small letters, that decide where the content can be read in two
    /// ways.
    extensions: &'static [&'static str],
    /// The name in messages of a file of tables, and whether a file that begins with some bytes is
    /// one.
    tables: Option<TableFiles>,
}

/// The name of files of tables, and a test of their first bytes.
type TableFiles = (&'static str, fn(&[u8]) -> bool);

impl FormatInfo {
    /// A format that has nothing of its own.
    const PLAIN: FormatInfo = FormatInfo { name: "", help: "", extensions: &[], tables: None };
}

/// Makes the formats of a table: the variants with their documentation, the row of each, and the
/// macro `layouts`, which makes a function of a format from the ends of the rows.
macro_rules! formats {
    ($($(#[$doc:meta])+ $format:ident { $($what:ident: $is:expr),+ $(,)? } => $layout:expr;)+) => {
        /// A format of judgments and runs.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum InputFormat {
            $($(#[$doc])+ $format,)+
        }

        /// The rows of the formats, in the order of the variants.
        const ROWS: &[FormatInfo] = &[$(FormatInfo { $($what: $is,)+ ..FormatInfo::PLAIN }),+];

        macro_rules! layouts {
            () => { |format: InputFormat| match format { $(InputFormat::$format => $layout,)+ } };
        }
        pub(super) use layouts;

        impl InputFormat {
            /// All formats, with their names.
            pub const ALL: [(&'static str, InputFormat); ROWS.len()] =
                [$((ROWS[InputFormat::$format as usize].name, InputFormat::$format)),+];
        }
    };
}

formats! {
    /// Lines of `query iter docno grade`, or of `query iter docno rank score tag`, perhaps without
    /// a tag.
    Trec {
        name: "trec",
        help: "lines of query iter docno grade, or of query iter docno rank score [tag]",
    } => Lines(|look| Ok(look.without_tag().unwrap_or_else(RowLayout::trec)));
    /// A table with tabs between its columns, perhaps with a header.
    Tsv {
        name: "tsv",
        help: "a table with tabs, with a header or without one, as BEIR's judgments",
        extensions: &["tsv"],
    } => Lines(|look| look.table(Separator::Tab));
    /// A table with commas or semicolons between its columns, perhaps with a header.
    Csv {
        name: "csv",
        help: "a table with commas or semicolons, with a header or without one",
        extensions: &["csv"],
    } => Lines(|look| look.table(look.separator_of_csv()));
    /// Lines of `query document rank`, with tabs or blanks between them: the score is −rank.
    Msmarco {
        name: "msmarco",
        help: "lines of query, document and rank",
    } => Lines(|look| match look.known.role {
            Role::Qrels => Ok(RowLayout::trec()),
            Role::Run => Ok(look.ranks(NumberKind::Rank, look.separator())),
        });
    /// `{"query": {"document": number, …}, …}`, or an array of records.
    Json {
        name: "json",
        help: "an object of queries with objects of documents, or an array of records",
    } => Lines(|look| look.json());
    /// A record on each line, as `{"query_id": "q1", "doc_id": "d7", "score": 0.5}`.
    Jsonl {
        name: "jsonl",
        help: "a record on each line",
        extensions: &["jsonl", "ndjson"],
    } => Lines(|look| look.records(false));
    /// Judgments as lines of `grade qid:query feature:value … # document`; and for runs a score on
    /// each line, in the order of these.
    Letor {
        name: "letor",
        help: "lines of grade qid:query feature:value … # document; for runs a score on each line",
        extensions: &["letor", "svm"],
    } => Lines(|look| look.letor());
    /// A matrix of NumPy, of grades or of scores: a row for each query, a column for each document,
    /// both numbered from 1.
    Npy {
        name: "npy",
        help: "a matrix of NumPy: a row for each query, a column for each document",
    } => Bytes(matrix);
    /// Ids of nearest neighbours: for each query their number and the ids, 32 bits each.
    Ivecs {
        name: "ivecs",
        help: "ids of nearest neighbours: for each query their number and the ids, as SIFT1M's",
        extensions: &["ivecs"],
    } => Bytes(|head, known| ids(InputFormat::Ivecs, head, known));
    /// Ids of nearest neighbours: the numbers of queries and of ids a query, all ids, perhaps all
    /// distances, 32 bits each.
    Ibin {
        name: "ibin",
        help: "ids of nearest neighbours: two counts, the ids, perhaps distances, as \
               big-ann-benchmarks'",
        extensions: &["ibin"],
    } => Bytes(|head, known| ids(InputFormat::Ibin, head, known));
    /// Ids of nearest neighbours: a matrix of integers of NumPy, a row for each query.
    Ids {
        name: "ids",
        help: "ids of nearest neighbours: a matrix of integers of NumPy, a row for each query",
    } => Bytes(|head, known| ids(InputFormat::Ids, head, known));
    /// A table of Parquet, for which `Join::tables` has a reader.
    Parquet {
        name: "parquet",
        help: "a table of Parquet",
        tables: Some(("Parquet", |start| start.starts_with(b"PAR1") && start.contains(&0))),
    } => Bytes(|_, known| detect_table_file(InputFormat::Parquet, known));
    /// A table of Arrow, a file or a stream, for which
    /// `Join::tables` has a reader.
    Arrow {
        name: "arrow",
        help: "a table of Arrow, a file or a stream",
        tables: Some(("Arrow", |start| {
            start.starts_with(b"ARROW1\0") || start.starts_with(&[0xff; 4])
        })),
    } => Bytes(|_, known| detect_table_file(InputFormat::Arrow, known));
}

/// Extensions of compressed files, behind the extension of the format.
pub const COMPRESSED_EXTENSIONS: [&str; 2] = [".gz", ".zst"];

impl InputFormat {
    fn row(self) -> &'static FormatInfo {
        &ROWS[self as usize]
    }

    /// Returns the first input format whose properties satisfy `is`.
    fn find(is: impl Fn(&FormatInfo) -> bool) -> Option<Self> {
        Self::ALL.into_iter().map(|(_, format)| format).find(|format| is(format.row()))
    }

    /// Returns the description of the input format for `--help`.
    #[doc(hidden)]
    pub fn help(self) -> &'static str {
        self.row().help
    }

    /// Returns the format, Parquet or Arrow, of a file that begins with `start`; `None` for any
    /// other file.
    #[doc(hidden)]
    pub fn detect_table(start: &[u8]) -> Option<Self> {
        Self::find(|row| row.tables.is_some_and(|(_, begins)| begins(start)))
    }

    /// Returns the name of a columnar format, Parquet or Arrow, for messages; `None` for any other
    /// format.
    pub fn name_of_tables(self) -> Option<&'static str> {
        self.row().tables.map(|(name, _)| name)
    }

    /// Returns the input format of a file name's extension, which may have `.gz` or `.zst` behind
    /// it.
    pub fn from_extension(name: &str) -> Option<Self> {
        let name = unpacked_name(name);
        let extension = name.rsplit_once('.')?.1;
        Self::find(|row| row.extensions.contains(&extension))
    }
}

/// Returns a file name in lower case, without the extension of a compressed file.
pub fn unpacked_name(name: &str) -> String {
    let mut name = name.to_ascii_lowercase();
    if let Some(packed) = COMPRESSED_EXTENSIONS.iter().find(|packed| name.ends_with(**packed)) {
        name.truncate(name.len() - packed.len());
    }
    name
}

named!(InputFormat, "an input format");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_complete() {
        for (at, (name, format)) in InputFormat::ALL.into_iter().enumerate() {
            assert_eq!(format as usize, at);
            assert!(!name.is_empty() && !format.help().is_empty(), "{format:?}");
        }
    }

    #[test]
    fn names_end_with_the_format() {
        let format = InputFormat::from_extension;
        assert_eq!(format("a.b/x.TSV.gz"), Some(InputFormat::Tsv));
        assert_eq!(format("x.ndjson.zst"), Some(InputFormat::Jsonl));
        assert_eq!(format("x.svm"), Some(InputFormat::Letor));
        assert_eq!((format("x.trec"), format("tsv"), format("x.tsv.bz2")), (None, None, None));
    }
}
