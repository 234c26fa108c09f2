//! The record of the formats that were detected in inputs, for callers that ask, such as `-v`.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Mutex,
};

use super::row_layout::{AlignedQrels, RowLayout};
use crate::error::printable;
use crate::lines::{diagnostics::pluralize, row::BareQuery, shape::Role};
use crate::lock::lock;

/// The record of the formats that were detected in inputs, roughly in the order of opening.
///
/// ```
/// use std::sync::Arc;
/// use laneval::text::DetectedFormats;
/// use laneval::Join;
/// let recognised = Arc::new(DetectedFormats::default());
/// let join = Join { recognised: Some(recognised.clone()), ..Join::default() };
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
/// join.qrels("examples/data/formats/qrels.tsv")?;
/// assert_eq!(recognised.all()[0].what, "TSV with a header: query-id, corpus-id, score");
/// # Ok::<(), laneval::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct DetectedFormats {
    files: Mutex<Vec<DetectedFile>>,
    /// By the name of the file of excluded documents.
    excluded: Mutex<BTreeMap<String, ExclusionEffect>>,
}

/// The effect of a file of excluded documents on the runs so far.
#[derive(Debug, Default)]
struct ExclusionEffect {
    /// The number of excluded results by run, since a run may be joined several times.
    results: BTreeMap<String, u64>,
    /// The numbers of their queries.
    queries: BTreeSet<u32>,
    /// The number of excluded documents that are judged relevant.
    relevant: usize,
}

impl ExclusionEffect {
    /// Makes the note on the effect; it is a warning if there was none.
    fn noted(&self, name: &str) -> DetectedFile {
        let results = self.results.values().sum::<u64>() as usize;
        let were = if results == 1 { "was" } else { "were" };
        let (all, queries) = (pluralize(results, "result"), pluralize(self.queries.len(), "query"));
        let relevant = match self.relevant {
            0 => String::new(),
            1 => "; 1 document of it is judged relevant: recall cannot reach 1".to_owned(),
            more => format!("; {more} documents of it are judged relevant: recall cannot reach 1"),
        };
        let what = match results {
            0 => {
                "nothing was left out (--exclude): no document of it is a result of its query, if \
                  the query is judged"
                    .to_owned()
            }
            _ => format!("{all} of {queries} {were} left out (--exclude){relevant}"),
        };
        let file = DetectedFile::new(name, what);
        DetectedFile { doubtful: true, wrong: results == 0, note: results > 0, ..file }
    }
}

/// The detected format of one input in words, or a doubt or note about it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DetectedFile {
    /// The name of the text in messages.
    pub name: String,
    /// The format, in words.
    pub what: String,
    /// Whether the recognition is doubtful; the user should then read a note.
    pub doubtful: bool,
    /// Whether the text probably is a wrong input that makes numbers wrong.
    pub wrong: bool,
    /// Whether `what` describes the treatment of the text, and not its format.
    pub note: bool,
    /// The number of neighbours of each query, if these are judgments made of ids of true
    /// neighbours.
    pub neighbours: Option<u64>,
    /// The role of the text, judgments or run; `None` for a doubt or a note.
    pub role: Option<Role>,
}

impl DetectedFile {
    fn new(name: &str, what: String) -> Self {
        Self { name: name.to_owned(), what, ..Self::default() }
    }
}

impl DetectedFormats {
    /// Records the detected format of an input. A run that is the file of the judgments, and read
    /// by the same columns, ranks documents by their grades.
    pub fn add(&self, name: &str, form: &RowLayout, role: Role) {
        // Tables and records may have grades and scores beside one another, and objects of objects
        // have one number.
        let in_objects = form.what.replace("{\"document\": score", "{\"document\": grade");
        let is_twice = role == Role::Run
            && self.all().iter().any(|text| {
                text.role == Some(Role::Qrels)
                    && [&form.what, &in_objects].contains(&&text.what)
                    && is_same_file(&text.name, name)
            });
        let neighbours = match form.partner() {
            Some(AlignedQrels::Neighbours(truth)) => Some(truth.width),
            _ => None,
        };
        let text = DetectedFile::new(name, form.what.clone());
        self.push(DetectedFile { doubtful: form.doubtful, neighbours, role: Some(role), ..text });
        if is_twice {
            let what = "is the file of the judgments, too, and ranks documents by their grades: \
                        judgments and then a run were expected";
            self.add_doubt(name, what.to_owned());
        }
    }

    /// Records that the input `name` probably is a wrong one that makes numbers wrong; `what` says
    /// why.
    pub fn add_doubt(&self, name: &str, what: String) {
        self.push(DetectedFile { doubtful: true, wrong: true, ..DetectedFile::new(name, what) });
    }

    /// Records a note about the treatment of the input `name`.
    pub fn note(&self, name: &str, what: String) {
        self.push(DetectedFile { doubtful: true, note: true, ..DetectedFile::new(name, what) });
    }

    /// Records notes about queries that judgments have without any document. Only those of an empty
    /// list are judged. `has_documents` returns of a judged query whether it has documents.
    pub fn note_bare_queries(
        &self,
        name: &str,
        queries: Vec<BareQuery>,
        has_documents: impl Fn(&[u8]) -> Option<bool>,
    ) {
        let of_lists = queries.iter().filter(|bare| has_documents(&bare.id) == Some(false));
        let of_lists: BTreeSet<_> = of_lists.map(|bare| printable(&bare.id)).collect();
        if let Some(first) = of_lists.first() {
            let (which, lists, are) = match of_lists.len() {
                1 => (String::new(), "1 query has an empty list".to_owned(), "it is"),
                count => {
                    ("such as ".to_owned(), format!("{count} queries have empty lists"), "they are")
                }
            };
            let what = format!(
                "{lists} ({which}{first}): {are} judged, and no document is relevant to {}",
                if of_lists.len() == 1 { "it" } else { "them" }
            );
            self.note(name, what);
        }
        let bare = queries.into_iter().map(|bare| bare.id);
        let bare: BTreeSet<_> = bare.filter(|query| has_documents(query).is_none()).collect();
        let Some(first) = bare.first().map(|query| printable(query)) else { return };
        let (which, count, do_not) = match bare.len() {
            1 => ("", "1 query has".to_owned(), "it does not"),
            count => ("such as ", format!("{count} queries have"), "they do not"),
        };
        self.note(
            name,
            format!(
                "{count} no documents ({which}{first}): {do_not} count; to count as 0, a query \
                 needs a document, with grade 0"
            ),
        );
    }

    /// Records how many results of `run` were left out for the file `name` of excluded documents, by
    /// the number of their query. `relevant` counts the excluded documents that are judged relevant.
    pub fn note_excluded(
        &self,
        name: &str,
        run: &str,
        results: BTreeMap<u32, u64>,
        relevant: impl FnOnce() -> usize,
    ) {
        let mut excluded = lock(&self.excluded);
        let effect = excluded.entry(name.to_owned()).or_insert_with(|| ExclusionEffect {
            relevant: relevant(),
            ..ExclusionEffect::default()
        });
        effect.results.insert(run.to_owned(), results.values().sum());
        effect.queries.extend(results.into_keys());
    }

    fn push(&self, text: DetectedFile) {
        let mut all = lock(&self.files);
        if !all.contains(&text) {
            all.push(text);
        }
    }

    /// Adds detected formats that another reader recorded.
    pub fn extend(&self, texts: impl IntoIterator<Item = DetectedFile>) {
        texts.into_iter().for_each(|text| self.push(text));
    }

    /// Returns the recorded formats and notes of all inputs, each once.
    pub fn all(&self) -> Vec<DetectedFile> {
        let mut all = lock(&self.files).clone();
        all.extend(lock(&self.excluded).iter().map(|(name, effect)| effect.noted(name)));
        all
    }
}

/// Returns whether two names of inputs denote the same existing file. Names of other inputs, such
/// as text in memory or a pipe, denote no file.
fn is_same_file(one: &str, other: &str) -> bool {
    let (one, other) = (Path::new(one), Path::new(other));
    // Equal files have equal names at the end, so the system is asked only about such names.
    one.file_name() == other.file_name()
        && one.is_file()
        && other.is_file()
        && one.canonicalize().ok().is_some_and(|one| other.canonicalize().ok() == Some(one))
}
