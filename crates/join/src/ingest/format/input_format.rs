//! The formats of judgments and runs.

/// A format of judgments and runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InputFormat {
    /// Lines of `query iter docno grade`, or of `query iter docno rank score tag`, perhaps without a tag.
    Trec,
    /// A table with tabs between its columns, perhaps with a header.
    Tsv,
    /// A table with commas between its columns, perhaps with a header.
    Csv,
    /// Lines of `query document rank`, with tabs or blanks between them: the score is −rank.
    Msmarco,
    /// `{"query": {"document": number, …}, …}`, or an array of records.
    Json,
    /// A record on each line, as `{"query_id": "q1", "doc_id": "d7", "score": 0.5}`.
    Jsonl,
    /// Judgments as lines of `grade qid:query feature:value … # document`; and for runs a score on each line, in the order of these.
    Letor,
    /// A matrix of NumPy, of grades or of scores: a row for each query, a column for each document, both numbered from 1.
    Npy,
    /// A table of Parquet, for which [`Join::tables`](crate::ingest::Join::tables) has a reader.
    Parquet,
    /// A table of Arrow, a file or a stream, for which [`Join::tables`](crate::ingest::Join::tables) has a reader.
    Arrow,
}

impl InputFormat {
    /// All formats, with their names.
    pub const ALL: [(&'static str, InputFormat); 10] = [
        ("trec", InputFormat::Trec),
        ("tsv", InputFormat::Tsv),
        ("csv", InputFormat::Csv),
        ("msmarco", InputFormat::Msmarco),
        ("json", InputFormat::Json),
        ("jsonl", InputFormat::Jsonl),
        ("letor", InputFormat::Letor),
        ("npy", InputFormat::Npy),
        ("parquet", InputFormat::Parquet),
        ("arrow", InputFormat::Arrow),
    ];

    /// The format of a file of tables that begins with `start`.
    #[doc(hidden)]
    pub fn of_tables(start: &[u8]) -> Option<Self> {
        match start {
            [b'P', b'A', b'R', b'1', ..] if start.contains(&0) => Some(InputFormat::Parquet),
            [b'A', b'R', b'R', b'O', b'W', b'1', 0, ..] | [0xff, 0xff, 0xff, 0xff, ..] => {
                Some(InputFormat::Arrow)
            }
            _ => None,
        }
    }

    /// The name of a format of tables, for messages.
    pub(in crate::ingest) fn name_of_tables(self) -> &'static str {
        if self == InputFormat::Parquet { "Parquet" } else { "Arrow" }
    }
}

named!(InputFormat, "an input format");
