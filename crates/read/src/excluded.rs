//! The documents that are left out of the rankings of some queries, from a file or from pairs.

use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_128;

use crate::bytes::{hash::Seed, input::Input, interner::Interner, mmap::FileAccess};
use crate::error::{Error, Problems, Result};
use crate::format::{
    ColumnNames, InputFormat, ReadOptions,
    fields::{NamedColumn, each_named_row},
    span_columns::span_columns,
    tables::TableReader,
};
use crate::ids::Ids;
use crate::lines::shape::Role;
use crate::rows::text_rows::TextRows;
use crate::text::ReadSettings;

/// The keys of lists of documents in records.
const LISTS: [&str; 4] = ["excluded_ids", "exclude_ids", "seen_ids", "exclude"];

/// The keys of the query in such records before its usual names: BRIGHT has a text in `query`.
const RECORD_IDS: [Option<&str>; 3] = [Some("id"), Some("_id"), None];

/// The shape of a pair in a table without names of columns.
const PAIR: &str = "'query<TAB>document', or a first line with the names of the columns, such as \
                    query_id and doc_id";

/// The documents to leave out of the rankings of some queries, such as the items that a user has
/// seen.
///
/// ```
/// use laneval::{ExcludedDocs, Join, Qrels};
/// let exclude = Some(ExcludedDocs::from_pairs([("q1", "d1")]).into());
/// let run = [("q1", "d1", 0.9), ("q1", "d2", 0.5)];
/// let join = Join { exclude, ..Join::default() };
/// let qrels = Qrels::new([("q1", "d2", 1.0)])?;
/// assert_eq!(join.rankings(&qrels, [("mine".to_owned(), run)])?.depths(), [1]);
/// # Ok::<(), laneval::Error>(())
/// ```
#[derive(Debug)]
pub struct ExcludedDocs {
    name: String,
    queries: Interner,
    docs: Interner,
    /// The numbers of each query's documents, ascending: four bytes a pair, however many queries
    /// exclude the same document.
    docs_of: Vec<Vec<u32>>,
    fingerprint: Arc<str>,
}

impl ExcludedDocs {
    /// Reads pairs of query and document in any format of judgments; tables of text may lack the
    /// grades. Records may have a list of documents: `excluded_ids`, `exclude_ids`, `seen_ids` or
    /// `exclude`. `tables` reads files such as Parquet.
    ///
    /// # Errors
    /// An unreadable file; the problems of its lines.
    pub fn read(input: impl Into<Input>, tables: Option<&'static dyn TableReader>) -> Result<Self> {
        let input = repeatable(input.into())?;
        let name = input.display_name();
        let open = |columns| {
            let read_as = ReadOptions { columns, ..ReadOptions::default() };
            let settings = ReadSettings { tables, ..ReadSettings::new(&read_as) };
            TextRows::open(settings, input.clone(), Role::Qrels, None)
        };
        let lists = LISTS.iter().flat_map(|list| RECORD_IDS.map(|id| (list, id)));
        let lists = lists.filter_map(|(list, id)| {
            let columns = [("doc", *list), ("grade", "-")];
            let columns = columns.into_iter().chain(id.map(|id| ("query", id)));
            open(Some(ColumnNames::named(columns).ok()?)).ok()
        });
        let (mut excluded, mut problems) = (Self::named(&name), Problems::default());
        match { lists }.next().map_or_else(|| open(None), Ok) {
            Ok(mut rows) => rows.each(&mut |line, row| {
                match row {
                    Ok(row) => excluded.add(row.query, row.doc),
                    Err(message) => problems.add(&name, line, || message),
                }
                true
            })?,
            Err(error) => excluded.add_pairs(input, error)?,
        }
        problems.into_result(excluded.finish())
    }

    /// Makes the set of pairs of a query and a document to leave out of its rankings.
    pub fn from_pairs<Q: AsRef<[u8]>, D: AsRef<[u8]>>(
        pairs: impl IntoIterator<Item = (Q, D)>,
    ) -> Self {
        let mut excluded = Self::named("exclude");
        pairs.into_iter().for_each(|(query, doc)| excluded.add(query.as_ref(), doc.as_ref()));
        excluded.finish()
    }

    /// Returns the name of the set for messages: that of its file, or `exclude`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns a fingerprint of the set of pairs, in hexadecimal: the wrapping sum of their hashes.
    pub fn fingerprint(&self) -> &Arc<str> {
        &self.fingerprint
    }

    /// Returns the ids of the queries with excluded documents, by number.
    pub fn queries(&self) -> &Ids {
        self.queries.ids()
    }

    /// Returns the number of a query, if it has excluded documents.
    pub fn query(&self, id: &[u8]) -> Option<u32> {
        self.queries.get(id)
    }

    /// Returns whether a document is excluded for the query of this number.
    #[inline]
    pub fn has(&self, query: u32, doc: &[u8]) -> bool {
        let docs = &self.docs_of[query as usize];
        self.docs.get(doc).is_some_and(|number| docs.binary_search(&number).is_ok())
    }

    fn named(name: &str) -> Self {
        let [queries, docs] = [(); 2].map(|()| Interner::new(Seed::random()));
        Self { name: name.into(), queries, docs, docs_of: Vec::new(), fingerprint: "".into() }
    }

    fn add(&mut self, query: &[u8], doc: &[u8]) {
        let (query, is_new) = self.queries.insert(query);
        if is_new {
            self.docs_of.push(Vec::new());
        }
        self.docs_of[query as usize].push(self.docs.insert(doc).0);
    }

    /// Adds the pairs of a table of text without grades; `error` says why it is no judgments.
    fn add_pairs(&mut self, input: Input, error: Error) -> Result<()> {
        let text = input.open(FileAccess::Read)?;
        if InputFormat::detect_table(text.content().0).is_some() {
            return Err(error);
        }
        let columns = span_columns(Role::Qrels, None);
        let columns = [0, 1].map(|at| NamedColumn { hint: "", ..columns[at] });
        each_named_row(&text, &columns, Some(PAIR), &mut |_, row| match row {
            [Some(query), Some(doc)] => {
                self.add(query, doc);
                Ok(())
            }
            _ => Err("the query or the document is empty".to_owned()),
        })
    }

    /// Sorts the documents of each query, and hashes each pair once.
    fn finish(mut self) -> Self {
        let mut sum = 0u128;
        for (query, docs) in self.queries.ids().iter().zip(&mut self.docs_of) {
            docs.sort_unstable();
            docs.dedup();
            for &doc in &*docs {
                // The length tells where the query ends.
                let length = (query.len() as u64).to_le_bytes();
                let pair = [&length, query, self.docs.ids().get(doc as usize)].concat();
                sum = sum.wrapping_add(xxh3_128(&pair));
            }
        }
        Self { fingerprint: format!("{sum:032x}").into(), ..self }
    }
}

/// Returns an input that can be opened several times: a stream is read into memory.
fn repeatable(input: Input) -> Result<Input> {
    if !input.is_stream() {
        return Ok(input);
    }
    let opened = input.open(FileAccess::Read)?;
    let whole = opened.whole().map_err(|error| Error::unreadable(&opened.name, error))?;
    Ok(Input::Bytes { name: opened.name.clone(), bytes: whole.into_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> ExcludedDocs {
        ExcludedDocs::read(Input::Bytes { name: "it".into(), bytes: text.into() }, None).unwrap()
    }

    #[test]
    fn the_fingerprint_is_of_the_set() {
        let set = ExcludedDocs::from_pairs([("q1", "b"), ("q2", "a"), ("q1", "a"), ("q2", "a")]);
        let [one, two] = [b"q1", b"q2"].map(|id| set.query(id).unwrap());
        assert!(set.has(one, b"a") && set.has(one, b"b") && !set.has(one, b"c"));
        assert!(set.has(two, b"a") && !set.has(two, b"b") && set.query(b"q3").is_none());
        for text in [
            "q1 0 a 1\nq2 0 a -1\nq1 0 b 0\n",
            "q1\ta\nq1\tb\nq2\ta\nq1\ta\n",
            "query,item_id\nq2,a\nq1,\"b\"\nq1,a\n",
            "{\"_id\": \"q2\", \"query\": \"?\", \"exclude_ids\": [\"a\", \"a\"]}\n\
             {\"_id\": \"q1\", \"query\": \"?\", \"exclude_ids\": [\"b\", \"a\"]}\n",
        ] {
            assert_eq!(read(text).fingerprint(), set.fingerprint(), "{text}");
        }
        let prints = [("q1", "a"), ("q1a", ""), ("a", "q1")]
            .map(|pair| ExcludedDocs::from_pairs([pair]).fingerprint().clone());
        assert!(prints[0] != prints[1] && prints[0] != prints[2] && prints[1] != prints[2]);
        assert_eq!(&**read("").fingerprint(), "0".repeat(32));
    }
}
