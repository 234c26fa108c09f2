//! The formats that were recognised, for those who ask.

use std::sync::{Mutex, PoisonError};

use super::form::{Form, Partner};

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
    /// Whether the text might be something else, so that the user should be told.
    pub doubtful: bool,
    /// Whether it probably is something else, so that numbers are wrong.
    pub wrong: bool,
    /// Whether this says what was done with the text, and not what it is.
    pub note: bool,
    /// The number of neighbours of each query, if these are judgments made of ids of true neighbours.
    pub neighbours: Option<u64>,
}

impl Recognised {
    pub(in crate::ingest) fn add(&self, name: &str, form: &Form) {
        let (what, doubtful) = (form.what.clone(), form.doubtful);
        let neighbours = match form.partner() {
            Some(Partner::Neighbours(truth)) => Some(truth.width),
            _ => None,
        };
        let (name, wrong, note) = (name.to_owned(), false, false);
        self.push(RecognisedText { name, what, doubtful, wrong, note, neighbours });
    }

    /// Adds a text, called `name`, that probably is something else; `what` says why.
    pub(in crate::ingest) fn doubt(&self, name: &str, what: String) {
        let (name, note, neighbours) = (name.to_owned(), false, None);
        self.push(RecognisedText { name, what, doubtful: true, wrong: true, note, neighbours });
    }

    /// Adds a note about the text called `name`.
    pub(in crate::ingest) fn note(&self, name: &str, what: String) {
        self.push(RecognisedText {
            name: name.to_owned(),
            what,
            doubtful: true,
            wrong: false,
            note: true,
            neighbours: None,
        });
    }

    fn push(&self, text: RecognisedText) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.contains(&text) {
            all.push(text);
        }
    }

    /// Returns all texts, each once.
    pub fn all(&self) -> Vec<RecognisedText> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
