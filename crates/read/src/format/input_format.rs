//! The formats of judgments and runs: a table with a row for each.
//!
//! Help, choices and messages of the command, the names that Python takes, and the endings of names
//! that decide follow from the table. The module `tell` detects and reads the rows of a format.

/// The properties of a format, apart from its reader.
#[derive(Debug, Clone, Copy)]
struct FormatRow {
    /// The name by which users ask for the format.
    name: &'static str,
    /// The description of the format, for help.
    help: &'static str,
    /// The endings of names, in small letters, that decide where the content can be read in two
    /// ways.
    extensions: &'static [&'static str],
    /// The name in messages of a file of tables, and whether a file that begins with some bytes is
    /// one.
    tables: Option<(&'static str, Begins)>,
}

/// A test of the first bytes of a file for a format.
type Begins = fn(&[u8]) -> bool;

impl FormatRow {
    /// A format that has nothing of its own.
    const PLAIN: FormatRow = FormatRow { name: "", help: "", extensions: &[], tables: None };
}

/// Makes the formats of a table: the variants with their documentation, and the row of each.
macro_rules! formats {
    ($($(#[$doc:meta])+ $format:ident { $($what:ident: $is:expr),+ $(,)? })+) => {
        /// A format of judgments and runs.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum InputFormat {
            $($(#[$doc])+ $format,)+
        }

        /// The rows of the formats, in the order of the variants.
        const ROWS: &[FormatRow] = &[$(FormatRow { $($what: $is,)+ ..FormatRow::PLAIN }),+];

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
    }
    /// A table with tabs between its columns, perhaps with a header.
    Tsv {
        name: "tsv",
        help: "a table with tabs, with a header or without one, as BEIR's judgments",
        extensions: &["tsv"],
    }
    /// A table with commas between its columns, perhaps with a header.
    Csv {
        name: "csv",
        help: "a table with commas, with a header or without one",
        extensions: &["csv"],
    }
    /// Lines of `query document rank`, with tabs or blanks between them: the score is −rank.
    Msmarco {
        name: "msmarco",
        help: "lines of query, document and rank",
    }
    /// `{"query": {"document": number, …}, …}`, or an array of records.
    Json {
        name: "json",
        help: "an object of queries with objects of documents, or an array of records",
    }
    /// A record on each line, as `{"query_id": "q1", "doc_id": "d7", "score": 0.5}`.
    Jsonl {
        name: "jsonl",
        help: "a record on each line",
        extensions: &["jsonl", "ndjson"],
    }
    /// Judgments as lines of `grade qid:query feature:value … # document`; and for runs a score on
    /// each line, in the order of these.
    Letor {
        name: "letor",
        help: "lines of grade qid:query feature:value … # document; for runs a score on each line",
        extensions: &["letor", "svm"],
    }
    /// A matrix of NumPy, of grades or of scores: a row for each query, a column for each document,
    /// both numbered from 1.
    Npy {
        name: "npy",
        help: "a matrix of NumPy: a row for each query, a column for each document",
    }
    /// Ids of nearest neighbours: for each query their number and the ids, 32 bits each.
    Ivecs {
        name: "ivecs",
        help: "ids of nearest neighbours: for each query their number and the ids, as SIFT1M's",
        extensions: &["ivecs"],
    }
    /// Ids of nearest neighbours: the numbers of queries and of ids a query, all ids, perhaps all
    /// distances, 32 bits each.
    Ibin {
        name: "ibin",
        help: "ids of nearest neighbours: two counts, the ids, perhaps distances, as \
               big-ann-benchmarks'",
        extensions: &["ibin"],
    }
    /// Ids of nearest neighbours: a matrix of integers of NumPy, a row for each query.
    Ids {
        name: "ids",
        help: "ids of nearest neighbours: a matrix of integers of NumPy, a row for each query",
    }
    /// A table of Parquet, for which `Join::tables` has a reader.
    Parquet {
        name: "parquet",
        help: "a table of Parquet",
        tables: Some(("Parquet", |start| start.starts_with(b"PAR1") && start.contains(&0))),
    }
    /// A table of Arrow, a file or a stream, for which
    /// `Join::tables` has a reader.
    Arrow {
        name: "arrow",
        help: "a table of Arrow, a file or a stream",
        tables: Some(("Arrow", |start| {
            start.starts_with(b"ARROW1\0") || start.starts_with(&[0xff; 4])
        })),
    }
}

/// Extensions of compressed files, behind the extension of the format.
pub const PACKED: [&str; 2] = [".gz", ".zst"];

impl InputFormat {
    fn row(self) -> &'static FormatRow {
        &ROWS[self as usize]
    }

    /// Returns the first format whose row satisfies `is`.
    fn find(is: impl Fn(&FormatRow) -> bool) -> Option<Self> {
        InputFormat::ALL.into_iter().map(|(_, format)| format).find(|format| is(format.row()))
    }

    /// Describes the format, for help.
    #[doc(hidden)]
    pub fn help(self) -> &'static str {
        self.row().help
    }

    /// The format of a file of tables that begins with `start`.
    #[doc(hidden)]
    pub fn of_tables(start: &[u8]) -> Option<Self> {
        InputFormat::find(|row| row.tables.is_some_and(|(_, begins)| begins(start)))
    }

    /// The name of a format of tables, for messages; `None` if it is none.
    pub fn name_of_tables(self) -> Option<&'static str> {
        self.row().tables.map(|(name, _)| name)
    }

    /// The format that the end of a name gives, perhaps with `.gz` or `.zst` behind it.
    pub fn of_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let name = PACKED.iter().find_map(|packed| name.strip_suffix(packed)).unwrap_or(&name);
        let extension = name.rsplit_once('.')?.1;
        InputFormat::find(|row| row.extensions.contains(&extension))
    }
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
        let of = InputFormat::of_name;
        assert_eq!(of("a.b/x.TSV.gz"), Some(InputFormat::Tsv));
        assert_eq!(of("x.ndjson.zst"), Some(InputFormat::Jsonl));
        assert_eq!(of("x.svm"), Some(InputFormat::Letor));
        assert_eq!((of("x.trec"), of("tsv"), of("x.tsv.bz2")), (None, None, None));
    }
}
