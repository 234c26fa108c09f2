//! From what was asked for to columns: which measures are shown under which names.

use thiserror::Error;

use super::Version;
use super::params::{self, integer};
use super::registry::{Entry, NICKNAMES, registry};
use crate::error;
use crate::measure::{Average, Defaults, Measure, SETS, Value};

/// How many labels are shown unless a number is given.
const LABELS: u32 = 10;

/// What is shown, in this order, and what is evaluated for it.
///
/// ```
/// use laneval::measure::trec::{Request, Version};
///
/// let request = Request::new(&["ndcg_cut.10,5", "map"], Version::V9, 1.0, 0)?;
/// let names: Vec<&str> = request.columns.iter().map(|column| column.name.as_str()).collect();
/// assert_eq!(names, ["map", "ndcg_cut_5", "ndcg_cut_10"]);
/// # Ok::<(), laneval::measure::trec::Refused>(())
/// ```
#[derive(Debug)]
pub struct Request {
    /// What is shown, in trec_eval's order.
    pub columns: Vec<Column>,
    /// What is evaluated.
    pub measures: Vec<Measure>,
}

/// One value of a topic, one line of the output.
#[derive(Debug)]
pub struct Column {
    /// The name as printed.
    pub name: String,
    /// The measure's name, without parameters.
    pub base: &'static str,
    /// Is it one of the cutoffs, levels or multiples that its measure is asked for at?
    pub is_cut: bool,
    /// Where its value comes from.
    pub source: Source,
}

/// A measure that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{measure}: {message}")]
pub struct Refused {
    /// The measure, or all that was asked for.
    pub measure: String,
    /// What is wrong with it.
    pub message: String,
    /// Is it no request at all: a name that there is not, or nothing behind its `.`?
    pub unknown: bool,
}

impl Refused {
    fn new(measure: &str, message: impl Into<String>, unknown: bool) -> Self {
        Refused { measure: measure.to_owned(), message: message.into(), unknown }
    }
}

/// Where a column's value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The run id.
    RunId,
    /// So many labels.
    Labels(u32),
    /// The measure of this index.
    Measure(usize, Kind),
}

/// Which lines a measure has, and of what kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A number of topics, only for all of them.
    Topics,
    /// A count, for each topic and summed.
    Count,
    /// A count of relevant documents of the qrels.
    Relevant,
    /// A number, for each topic and averaged.
    Real,
    /// A number, only averaged.
    Geometric,
}

impl Kind {
    /// Is there a line for each topic?
    pub fn per_topic(self) -> bool {
        matches!(self, Kind::Count | Kind::Relevant | Kind::Real)
    }

    /// Are values printed without a fraction?
    pub fn whole(self) -> bool {
        matches!(self, Kind::Topics | Kind::Count | Kind::Relevant)
    }
}

impl Request {
    /// The columns of the measures asked for, each given as `name`, `name.params` or a nickname: with `level` as the lowest relevant
    /// grade, of a collection of so many documents.
    ///
    /// # Errors
    /// A name that there is not in this version, parameters that it does not take, judgments of another format that it needs.
    pub fn new(
        asked: &[impl AsRef<str>],
        version: Version,
        level: f64,
        documents: u64,
    ) -> Result<Self, Refused> {
        let mut request = Request { columns: Vec::new(), measures: Vec::new() };
        for (entry, params) in Asked::new(asked, version)?.0 {
            let Some(params) = params else { continue };
            request
                .add(entry, &params, version, level, documents)
                .map_err(|message| Refused::new(entry.name(), message, false))?;
        }
        Ok(request)
    }

    fn add(
        &mut self,
        entry: Entry,
        params: &[&str],
        version: Version,
        level: f64,
        documents: u64,
    ) -> Result<(), String> {
        let row = match entry {
            Entry::RunId => {
                self.column(entry.name().to_owned(), entry.name(), false, Source::RunId);
                return Ok(());
            }
            Entry::RelString => {
                self.labels(entry.name(), params);
                return Ok(());
            }
            Entry::OtherFormat(..) => {
                return Err(
                    "this measure needs another format than qrels, which is not supported yet".to_owned()
                );
            }
            Entry::Measure(row) => row,
        };
        for (suffix, measure) in params::measures(row, params, version, Defaults { rel: level })? {
            let measure = in_version(measure, version, documents).map_err(|error| error.to_string())?;
            let kind = match (row.measure, measure.definition().average) {
                ("NumQ", _) => Kind::Topics,
                ("NumRel", _) => Kind::Relevant,
                (_, Average::Sum) => Kind::Count,
                (_, Average::Geometric) => Kind::Geometric,
                (_, Average::Mean) => Kind::Real,
            };
            self.measures.push(measure);
            let source = Source::Measure(self.measures.len() - 1, kind);
            self.column(format!("{}{suffix}", row.name), row.name, params::is_list(row), source);
        }
        Ok(())
    }

    fn column(&mut self, name: String, base: &'static str, is_cut: bool, source: Source) {
        self.columns.push(Column { name, base, is_cut, source });
    }

    fn labels(&mut self, name: &'static str, params: &[&str]) {
        if params.is_empty() {
            self.column(name.to_owned(), name, false, Source::Labels(LABELS));
        }
        for text in params {
            let length = u32::try_from(integer(text).max(0)).unwrap_or(u32::MAX);
            self.column(format!("{name}_{text}"), name, false, Source::Labels(length));
        }
    }
}

/// A measure with the version's rule of recall and the size of the collection, where it has such parameters.
fn in_version(measure: Measure, version: Version, documents: u64) -> error::Result<Measure> {
    let cut = Value::Word(if version == Version::V10 { "v10" } else { "v9" });
    match measure.definition().name {
        "IPrec" | "IPrec11" => measure.with("cut", cut),
        "Utility" => measure.with("docs", Value::Number(documents as f64)),
        _ => Ok(measure),
    }
}

/// Every measure with the parameters given, if it is asked for at all.
struct Asked<'a>(Vec<(Entry, Option<Vec<&'a str>>)>);

impl<'a> Asked<'a> {
    fn new(names: &'a [impl AsRef<str>], version: Version) -> Result<Self, Refused> {
        let mut asked = Asked(registry().into_iter().map(|entry| (entry, None)).collect());
        for text in names.iter().map(AsRef::as_ref) {
            let (name, params) = match text.split_once('.') {
                Some((name, params)) => (name, Some(params)),
                None => (text, None),
            };
            if NICKNAMES.contains(&name) && !SETS.contains(&name) {
                let message = "these measures need another format than qrels, which is not supported yet";
                return Err(Refused::new(name, message, false));
            }
            if params == Some("") {
                return Err(Refused::new(text, "parameters were expected after the `.`", true));
            }
            if !asked.mark(name, params, version) {
                return Err(Refused::new(text, format!("there is no measure `{name}`"), true));
            }
        }
        Ok(asked)
    }

    /// Marks the measures of a name; `false` if there are none.
    fn mark(&mut self, name: &str, params: Option<&'a str>, version: Version) -> bool {
        let mut found = false;
        for (entry, asked) in &mut self.0 {
            if !entry.is_of(version) || !entry.is_meant_by(name) {
                continue;
            }
            found = true;
            let asked = asked.get_or_insert_default();
            // What follows a nickname is nobody's.
            let params = params.filter(|_| entry.name() == name);
            asked.extend(params.filter(|params| !asked.contains(params)));
        }
        found
    }
}
