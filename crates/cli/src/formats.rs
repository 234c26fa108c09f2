//! Formats of judgments and runs, chosen by the user or recognised by the content.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use laneval::options::Given;
use laneval::report::Note;
use laneval::tables::TableReader;
use laneval::text::{DetectedFile, DetectedFormats};
use laneval::{Error, ExcludedDocs, Input, Join};

use super::style::shown;

/// The formats that judgments and runs were recognised as, once they were read.
#[derive(Debug, Clone, Default)]
pub struct RecognisedFormats {
    recognised: Arc<DetectedFormats>,
    /// The documents of `--exclude`, whose file is read once: it may be a pipe.
    excluded: Arc<OnceLock<Arc<ExcludedDocs>>>,
}

/// Returns the reader of files of tables, such as Parquet, if this build has one.
pub fn tables() -> Option<&'static dyn TableReader> {
    #[cfg(feature = "parquet")]
    return Some(&laneval_formats::Files);
    #[cfg(not(feature = "parquet"))]
    None
}

impl RecognisedFormats {
    /// Returns the settings of a join that options ask for, which adds the formats that it
    /// recognises to these.
    pub fn join(&self, given: &Given) -> Result<Join, Error> {
        let recognised = Some(self.recognised.clone());
        let exclude = given.path("exclude").map(|path| self.excluded(path)).transpose()?;
        Ok(Join { tables: tables(), recognised, exclude, ..given.join()? })
    }

    /// Returns the documents that the file of `--exclude` leaves out of rankings.
    fn excluded(&self, path: &Path) -> Result<Arc<ExcludedDocs>, Error> {
        if let Some(excluded) = self.excluded.get() {
            return Ok(excluded.clone());
        }
        let read = Arc::new(ExcludedDocs::read(Input::Path(path.to_owned()), tables())?);
        Ok(self.excluded.get_or_init(|| read).clone())
    }

    /// Returns the number of true nearest neighbours of each query, if the judgments are such
    /// neighbours.
    pub fn neighbours(&self) -> Option<u64> {
        self.recognised.all().into_iter().find_map(|text| text.neighbours)
    }

    /// Returns notes on judgments and runs whose format may have been recognised wrongly.
    pub fn notes(&self) -> Vec<Note> {
        self.notes_where(|text| text.doubtful)
    }

    /// Returns notes on what was left out of judgments, such as queries without documents.
    pub fn treatment_notes(&self) -> Vec<Note> {
        self.notes_where(|text| text.note)
    }

    fn notes_where(&self, is_noted: impl Fn(&DetectedFile) -> bool) -> Vec<Note> {
        let all = self.recognised.all().into_iter().filter(is_noted);
        all.map(|text| {
            let kind = if text.wrong { Note::Warning } else { Note::Note };
            kind(format!("{}: {}", shown(Path::new(&text.name)), text.what))
        })
        .collect()
    }

    /// Returns for each input a text with the format that it was recognised as.
    pub fn describe_detected(&self) -> Vec<String> {
        let all = self.recognised.all().into_iter();
        all.map(|text| format!("{}: {}", shown(Path::new(&text.name)), text.what)).collect()
    }
}
