//! Formats of judgments and runs, chosen by the user or recognised by the content.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use laneval::report::Note;
use laneval::tables::TableReader;
use laneval::text::Recognised;
use laneval::{ColumnNames, InputFormat, Join, ReadAs};

use super::choice::{NamedChoice, described, one_of};
use super::style::shown;

/// Lists the formats of judgments and runs.
pub fn formats() -> Vec<NamedChoice<InputFormat>> {
    described(&InputFormat::ALL, InputFormat::help)
}

/// Says which formats runs may have: in short, or with where to read on.
fn help(long: bool) -> String {
    let which = "The format of the runs [default: recognised by the content]".to_owned();
    if long {
        format!(
            "{which}\n\n`laneval info FILE` shows which format a file is recognised as. \
             docs/formats.md has a sample of each."
        )
    } else {
        which
    }
}

/// The options that say how judgments and runs are read.
#[derive(Debug, Clone, Default, Args)]
pub struct FormatOptions {
    /// The format of the judgments [default: recognised by the content]
    #[arg(long, value_name = "FORMAT", value_parser = one_of(formats()), help_heading = "Input")]
    #[arg(hide_possible_values = true)]
    qrels_format: Option<InputFormat>,
    /// The format of the runs.
    #[arg(long, value_name = "FORMAT", value_parser = one_of(formats()), help_heading = "Input")]
    #[arg(help = help(false), long_help = help(true))]
    run_format: Option<InputFormat>,
    /// The columns to read: query=NAME,doc=NAME,score=NAME, or in their order
    ///
    /// They are columns of a table by the names in its first line, or keys of records; or the
    /// columns in their order: query,-,doc,score, where - is not read. With grade instead of score
    /// they apply to the judgments, which may also have a judge or a subtopic. May be given once
    /// for runs and once for judgments.
    #[arg(long, value_name = "COLUMNS", value_parser = columns, help_heading = "Input")]
    columns: Vec<ColumnNames>,
    /// For LETOR judgments without qid, the file that says how many lines each query has [default:
    /// the same name and .query or .group]
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    groups: Option<PathBuf>,
    /// The subset that is read of the predictions of MTEB, as en/test
    #[arg(long, value_name = "SUBSET", help_heading = "Input")]
    subset: Option<String>,
    /// The formats that inputs were recognised as.
    #[arg(skip)]
    recognised: Arc<Recognised>,
}

/// Returns the reader of files of tables, if this build has one.
pub fn tables() -> Option<&'static dyn TableReader> {
    #[cfg(feature = "parquet")]
    return Some(&laneval_formats::Files);
    #[cfg(not(feature = "parquet"))]
    None
}

fn columns(text: &str) -> Result<ColumnNames, String> {
    text.parse().map_err(|error: laneval::Error| error.to_string())
}

impl FormatOptions {
    /// Returns the same join, of inputs in these formats.
    pub fn of(&self, join: Join) -> Join {
        let columns = |qrels: bool| {
            self.columns.iter().rev().find(|columns| columns.are_of_qrels() == qrels).cloned()
        };
        let (groups, recognised) = (self.groups.clone(), Some(self.recognised.clone()));
        Join {
            tables: tables(),
            qrels_as: ReadAs {
                format: self.qrels_format,
                columns: columns(true),
                query_lengths: groups,
                ..ReadAs::default()
            },
            runs_as: ReadAs {
                format: self.run_format,
                columns: columns(false),
                subset: self.subset.clone(),
                ..ReadAs::default()
            },
            recognised,
            ..join
        }
    }

    /// Returns how judgments are read, and how runs are read.
    pub fn read_as(&self) -> (ReadAs, ReadAs) {
        let join = self.of(Join::default());
        (join.qrels_as, join.runs_as)
    }

    /// Returns the number of neighbours of each query, if the judgments are true neighbours.
    pub fn neighbours(&self) -> Option<u64> {
        self.recognised.all().into_iter().find_map(|text| text.neighbours)
    }

    /// Returns notes on texts that might be something else than they were recognised as.
    pub fn notes(&self) -> Vec<Note> {
        let all = self.recognised.all().into_iter().filter(|text| text.doubtful);
        all.map(|text| {
            let kind = if text.wrong { Note::Warning } else { Note::Note };
            kind(format!("{}: {}", shown(Path::new(&text.name)), text.what))
        })
        .collect()
    }

    /// Describes what was recognised, one text on each line.
    pub fn lines(&self) -> Vec<String> {
        let all = self.recognised.all().into_iter();
        all.map(|text| format!("{}: {}", shown(Path::new(&text.name)), text.what)).collect()
    }
}
