//! The columns of the output and the measures behind the columns, made from the requested names.
//!
//! trec_eval goes through its own table of measures and asks of each measure whether it was
//! requested. So the table gives the order of the output. A measure that two options request is
//! printed once, with the cutoffs of both options. `Requested` is this table, with the requested
//! parameters beside each entry.

use thiserror::Error;

use super::Version;
use super::params::{self, integer};
use super::registry::{Entry, registry};
use crate::error;
use crate::measure::{Average, Defaults, Foreign, Measure, Value, parse_list};

/// The number of labels that are shown unless a number is given.
const LABELS: u32 = 10;

/// The columns of the output in order, with the measures to evaluate.
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
    /// The columns, in trec_eval's order.
    pub columns: Vec<TopicColumn>,
    /// The measures to evaluate.
    pub measures: Vec<Measure>,
}

/// A column of the output: a value for each topic, each value on its own line.
#[derive(Debug)]
pub struct TopicColumn {
    /// The name in print.
    pub name: String,
    /// The measure's name, without parameters.
    pub base: &'static str,
    /// Whether the column is one of several cutoffs, levels or multiples of its measure.
    pub is_cut: bool,
    /// The source of the column's value.
    pub source: TopicSource,
}

/// The error of a refused measure.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{measure}: {message}")]
pub struct Refused {
    /// The name of the measure, or all names that were requested.
    pub measure: String,
    /// The error, as a message.
    pub message: String,
    /// Whether the request is invalid as such: an unknown name, or no text behind its `.`.
    pub unknown: bool,
}

impl Refused {
    fn new(measure: &str, message: impl Into<String>, unknown: bool) -> Self {
        Refused { measure: measure.to_owned(), message: message.into(), unknown }
    }
}

/// The source of a column's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TopicSource {
    /// The run id.
    RunId,
    /// This number of labels.
    Labels(u32),
    /// The measure of this index, with the kind of its lines.
    Measure(usize, LineKind),
}

/// The lines that a measure has, and the kind of their values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// A number of topics, printed only for all topics.
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

impl LineKind {
    /// Whether there is a line for each topic.
    pub fn per_topic(self) -> bool {
        matches!(self, LineKind::Count | LineKind::Relevant | LineKind::Real)
    }

    /// Whether values are printed without a fraction.
    pub fn whole(self) -> bool {
        matches!(self, LineKind::Topics | LineKind::Count | LineKind::Relevant)
    }
}

impl Request {
    /// Makes the columns of the requested measures, each given as `name`, `name.params` or a
    /// nickname. `level` is the lowest relevant grade, and `documents` the number of documents of
    /// the collection.
    ///
    /// # Errors
    /// A name unknown to the version; parameters unknown to a measure; a measure with judgments of
    /// another format.
    pub fn new(
        asked: &[impl AsRef<str>],
        version: Version,
        level: f64,
        documents: u64,
    ) -> Result<Self, Refused> {
        let mut request = Request { columns: Vec::new(), measures: Vec::new() };
        for (entry, params) in Requested::new(asked, version)?.0 {
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
                self.column(entry.name().to_owned(), entry.name(), false, TopicSource::RunId);
                return Ok(());
            }
            Entry::RelString => {
                self.labels(entry.name(), params);
                return Ok(());
            }
            Entry::Measure(row) => row,
        };
        for (suffix, measure) in
            params::measures(row, params, version, Defaults { rel: Some(level) })?
        {
            let measure =
                in_version(measure, version, documents).map_err(|error| error.to_string())?;
            let kind = match (row.measure, measure.definition().average) {
                ("NumQ", _) => LineKind::Topics,
                ("NumRel", _) => LineKind::Relevant,
                (_, Average::Sum) => LineKind::Count,
                (_, Average::Geometric) => LineKind::Geometric,
                (_, Average::Mean) => LineKind::Real,
            };
            self.measures.push(measure);
            let source = TopicSource::Measure(self.measures.len() - 1, kind);
            self.column(format!("{}{suffix}", row.name), row.name, params::is_list(row), source);
        }
        Ok(())
    }

    fn column(&mut self, name: String, base: &'static str, is_cut: bool, source: TopicSource) {
        self.columns.push(TopicColumn { name, base, is_cut, source });
    }

    fn labels(&mut self, name: &'static str, params: &[&str]) {
        if params.is_empty() {
            self.column(name.to_owned(), name, false, TopicSource::Labels(LABELS));
        }
        for text in params {
            let length = u32::try_from(integer(text).max(0)).unwrap_or(u32::MAX);
            self.column(format!("{name}_{text}"), name, false, TopicSource::Labels(length));
        }
    }
}

/// The name in trec_eval of a measure that was asked for by another of its names.
fn known_as(text: &str) -> Option<String> {
    let [measure] = &parse_list(text, Defaults::default()).ok()?[..] else { return None };
    let rank = measure.rank().map(|rank| rank.to_string());
    let of_row = |row: &Foreign| {
        let names = rank
            .iter()
            .map(|rank| (format!("{}_{rank}", row.name), format!("{}.{rank}", row.name)));
        names.chain([(row.name.to_owned(), row.name.to_owned())]).find_map(|(alone, asked)| {
            let meant = parse_list(&format!("trec:{alone}"), Defaults::default()).ok()?;
            (meant == [measure.clone()]).then_some(asked)
        })
    };
    registry().into_iter().find_map(|entry| match entry {
        Entry::Measure(row) => of_row(row),
        Entry::RunId | Entry::RelString => None,
    })
}

/// A measure with the version's rule of recall and the size of the collection, where it has such
/// parameters.
fn in_version(measure: Measure, version: Version, documents: u64) -> error::Result<Measure> {
    let cut = Value::Word(if version == Version::V10 { "v10" } else { "v9" });
    match measure.definition().name {
        "IPrec" | "IPrec11" => measure.with("cut", cut),
        "Utility" => measure.with("docs", Value::Number(documents as f64)),
        _ => Ok(measure),
    }
}

/// Every measure of trec_eval, with its requested parameters; `None` for a measure without a
/// request.
struct Requested<'a>(Vec<(Entry, Option<Vec<&'a str>>)>);

impl<'a> Requested<'a> {
    fn new(names: &'a [impl AsRef<str>], version: Version) -> Result<Self, Refused> {
        let mut asked = Requested(registry().into_iter().map(|entry| (entry, None)).collect());
        for text in names.iter().map(AsRef::as_ref) {
            let (name, params) = match text.split_once('.') {
                Some((name, params)) => (name, Some(params)),
                None => (text, None),
            };
            if params == Some("") {
                return Err(Refused::new(text, "parameters were expected after the `.`", true));
            }
            if !asked.mark(name, params, version) {
                let known = known_as(text)
                    .map_or(String::new(), |known| format!("; trec_eval calls it `{known}`"));
                return Err(Refused::new(
                    text,
                    format!("there is no measure `{name}`{known}"),
                    true,
                ));
            }
        }
        Ok(asked)
    }

    /// Marks the measures of a name as requested; `false` if there are none.
    fn mark(&mut self, name: &str, params: Option<&'a str>, version: Version) -> bool {
        let mut found = false;
        for (entry, asked) in &mut self.0 {
            if !entry.is_of(version) || !entry.is_meant_by(name) {
                continue;
            }
            found = true;
            let asked = asked.get_or_insert_default();
            // Text behind a nickname has no meaning.
            let params = params.filter(|_| entry.name() == name);
            asked.extend(params.filter(|params| !asked.contains(params)));
        }
        found
    }
}
