//! The recognised formats of inputs, for callers that ask.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::form::{Form, Partner};
use crate::error::printable;
use crate::ids::Ids;
use crate::lines::shape::Role;

/// The formats that were recognised, roughly in the order in which texts were opened.
///
/// ```
/// use std::sync::Arc;
/// use laneval::text::Recognised;
/// use laneval::Join;
/// let recognised = Arc::new(Recognised::default());
/// let join = Join { recognised: Some(recognised.clone()), ..Join::default() };
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
/// join.qrels("examples/data/formats/qrels.tsv")?;
/// assert_eq!(recognised.all()[0].what, "TSV with a header: query-id, corpus-id, score");
/// # Ok::<(), laneval::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Recognised(Mutex<Vec<RecognisedText>>);

/// The format of a text, as it was recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecognisedText {
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

impl Recognised {
    /// Adds a text. A run that is the file of the judgments, and read by the same columns, ranks
    /// documents by their grades.
    pub fn add(&self, name: &str, form: &Form, role: Role) {
        // Tables and records may have grades and scores beside one another, and objects of objects
        // have one number.
        let in_objects = form.what.replace("{\"document\": score", "{\"document\": grade");
        let is_judgments = |text: &RecognisedText| {
            text.role == Some(Role::Qrels)
                && [&form.what, &in_objects].contains(&&text.what)
                && is_same_file(&text.name, name)
        };
        let is_twice = role == Role::Run && self.all().iter().any(is_judgments);
        let (what, doubtful) = (form.what.clone(), form.doubtful);
        let neighbours = match form.partner() {
            Some(Partner::Neighbours(truth)) => Some(truth.width),
            _ => None,
        };
        let (name, wrong, note) = (name.to_owned(), false, false);
        let text =
            RecognisedText { name, what, doubtful, wrong, note, neighbours, role: Some(role) };
        let name = text.name.clone();
        self.push(text);
        if is_twice {
            let what = "is the file of the judgments, too, and ranks documents by their grades: \
                        judgments and then a run were expected";
            self.doubt(&name, what.to_owned());
        }
    }

    /// Adds a text, called `name`, that probably is something else; `what` says why.
    pub fn doubt(&self, name: &str, what: String) {
        let (name, note, neighbours) = (name.to_owned(), false, None);
        self.push(RecognisedText {
            name,
            what,
            doubtful: true,
            wrong: true,
            note,
            neighbours,
            role: None,
        });
    }

    /// Adds a note about the text called `name`.
    pub fn note(&self, name: &str, what: String) {
        self.push(RecognisedText {
            name: name.to_owned(),
            what,
            doubtful: true,
            wrong: false,
            note: true,
            neighbours: None,
            role: None,
        });
    }

    /// Notes which of the queries that judgments called `name` have without documents are not
    /// judged: an empty list is no judgment.
    pub fn note_bare_queries(&self, name: &str, queries: Vec<Vec<u8>>, judged: &Ids) {
        let bare: BTreeSet<_> =
            queries.into_iter().filter(|query| judged.find(query).is_none()).collect();
        let Some(first) = bare.first().map(|query| printable(query)) else { return };
        let (which, count, do_not) = match bare.len() {
            1 => (String::new(), "1 query has".to_owned(), "it does not"),
            count => ("such as ".to_owned(), format!("{count} queries have"), "they do not"),
        };
        self.note(
            name,
            format!(
                "{count} no documents ({which}{first}): {do_not} count; to count as 0, a query \
                 needs a document, with grade 0"
            ),
        );
    }

    fn push(&self, text: RecognisedText) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.contains(&text) {
            all.push(text);
        }
    }

    /// Adds texts recognised by another reader.
    pub fn extend(&self, texts: impl IntoIterator<Item = RecognisedText>) {
        texts.into_iter().for_each(|text| self.push(text));
    }

    /// Returns all texts, each once.
    pub fn all(&self) -> Vec<RecognisedText> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Returns whether two names denote one file. Names of other inputs, such as text in memory or a
/// pipe, denote no file.
fn is_same_file(one: &str, other: &str) -> bool {
    let (one, other) = (Path::new(one), Path::new(other));
    let file = |path: &Path| path.is_file().then(|| path.canonicalize().ok()).flatten();
    one.file_name() == other.file_name() && file(one).is_some_and(|one| file(other) == Some(one))
}
