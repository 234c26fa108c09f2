//! The columns of trec_eval's output and the measures behind them, made from the names after `-m`.
//!
//! trec_eval goes through its own table of measures and asks of each measure whether it was
//! requested. So the table gives the order of the output. A measure that two options request is
//! printed once, with the cutoffs of both options. `Requested` is this table, with the requested
//! parameters beside each entry.

use thiserror::Error;

use super::Version;
use super::params::{self, integer};
use super::registry::{TrecMeasure, registry};
use crate::error;
use crate::measure::{Average, Defaults, Measure, ParamValue, parse_list};

/// The number of labels that are shown unless a number is given.
const LABELS: u32 = 10;

/// The measures asked for by trec_eval's `-m`: the columns of the output in order, and the measures
/// to evaluate.
///
/// ```
/// use laneval::measure::trec::{Request, Version};
///
/// let request = Request::new(&["ndcg_cut.10,5", "map"], Version::V9, 1.0, 0)?;
/// let names: Vec<&str> = request.columns.iter().map(|column| column.name.as_str()).collect();
/// assert_eq!(names, ["map", "ndcg_cut_5", "ndcg_cut_10"]);
/// # Ok::<(), laneval::measure::trec::RefusedMeasure>(())
/// ```
#[derive(Debug)]
pub struct Request {
    /// The columns, in trec_eval's order.
    pub columns: Vec<TopicColumn>,
    /// The measures to evaluate.
    pub measures: Vec<Measure>,
}

/// A column of trec_eval's output: a value of one measure for each topic, each value on its own
/// line.
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

/// The error of a measure that trec_eval's `-m` asks for and laneval refuses, such as an unknown
/// one.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{measure}: {message}")]
pub struct RefusedMeasure {
    /// The name of the measure, or all names that were requested.
    pub measure: String,
    /// The error, as a message.
    pub message: String,
    /// Whether the request is invalid as such: an unknown name, or no text behind its `.`.
    pub unknown: bool,
}

impl RefusedMeasure {
    fn new(measure: &str, message: impl Into<String>, unknown: bool) -> Self {
        Self { measure: measure.to_owned(), message: message.into(), unknown }
    }
}

/// The source of the value of a column of trec_eval's output: the run id, labels, or a measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TopicSource {
    /// The run id.
    RunId,
    /// This number of labels.
    Labels(u32),
    /// The measure of this index, with the kind of its lines.
    Measure(usize, LineKind),
}

/// The lines that trec_eval prints for a measure (each topic, all topics), and the kind of their
/// values.
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
    /// Returns whether trec_eval prints a line of the measure for each topic.
    pub fn per_topic(self) -> bool {
        matches!(self, Self::Count | Self::Relevant | Self::Real)
    }

    /// Returns whether trec_eval prints the measure's values without a fraction.
    pub fn whole(self) -> bool {
        matches!(self, Self::Topics | Self::Count | Self::Relevant)
    }
}

impl Request {
    /// Makes the columns of trec_eval's output for requested names: `name`, `name.params` or a
    /// nickname. `level` is the lowest relevant grade, and `documents` the number of documents of
    /// the collection.
    ///
    /// # Errors
    /// A name unknown to the version; parameters unknown to a measure; a measure with judgments of
    /// another format.
    pub fn new(
        names: &[impl AsRef<str>],
        version: Version,
        level: f64,
        documents: u64,
    ) -> Result<Self, RefusedMeasure> {
        let mut request = Self { columns: Vec::new(), measures: Vec::new() };
        for (entry, params) in RequestedParams::new(names, version)?.0 {
            let Some(params) = params else { continue };
            request
                .add(entry, &params, version, level, documents)
                .map_err(|message| RefusedMeasure::new(entry.name(), message, false))?;
        }
        Ok(request)
    }

    fn add(
        &mut self,
        entry: TrecMeasure,
        params: &[&str],
        version: Version,
        level: f64,
        documents: u64,
    ) -> Result<(), String> {
        let name = entry.name();
        let row = match entry {
            TrecMeasure::RunId => {
                self.column(name.to_owned(), name, false, TopicSource::RunId);
                return Ok(());
            }
            TrecMeasure::RelString => {
                self.labels(name, params);
                return Ok(());
            }
            TrecMeasure::Measure(row) => row,
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
            self.column(format!("{name}{suffix}"), name, params::is_list(row), source);
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

/// Returns trec_eval's name of a measure that was asked for by another tool's or laneval's name.
fn known_as(text: &str) -> Option<String> {
    let [measure] = &parse_list(text, Defaults::default()).ok()?[..] else { return None };
    registry().into_iter().find_map(|entry| {
        let TrecMeasure::Measure(row) = entry else { return None };
        let at_rank =
            measure.rank().map(|k| (format!("{}_{k}", row.name), format!("{}.{k}", row.name)));
        let bare = (row.name.to_owned(), row.name.to_owned());
        at_rank.into_iter().chain([bare]).find_map(|(alone, trec_name)| {
            let meant = parse_list(&format!("trec:{alone}"), Defaults::default()).ok()?;
            (meant == [measure.clone()]).then_some(trec_name)
        })
    })
}

/// Sets the version's rule of recall and the collection's size in a measure with these parameters.
fn in_version(measure: Measure, version: Version, documents: u64) -> error::Result<Measure> {
    let cut = ParamValue::Choice(if version == Version::V10 { "v10" } else { "v9" });
    match measure.definition().name {
        "IPrec" | "IPrec11" => measure.with_param("cut", cut),
        "Utility" => measure.with_param("docs", ParamValue::Number(documents as f64)),
        _ => Ok(measure),
    }
}

/// Every measure of trec_eval, with the parameters that `-m` gives it; `None` for a measure not
/// asked for.
struct RequestedParams<'a>(Vec<(TrecMeasure, Option<Vec<&'a str>>)>);

impl<'a> RequestedParams<'a> {
    fn new(names: &'a [impl AsRef<str>], version: Version) -> Result<Self, RefusedMeasure> {
        let mut requested =
            RequestedParams(registry().into_iter().map(|entry| (entry, None)).collect());
        for text in names.iter().map(AsRef::as_ref) {
            let (name, params) = match text.split_once('.') {
                Some((name, params)) => (name, Some(params)),
                None => (text, None),
            };
            if params == Some("") {
                let message = "parameters were expected after the `.`";
                return Err(RefusedMeasure::new(text, message, true));
            }
            if !requested.mark(name, params, version) {
                let known = known_as(text)
                    .map_or(String::new(), |known| format!("; trec_eval calls it `{known}`"));
                let message = format!("there is no measure `{name}`{known}");
                return Err(RefusedMeasure::new(text, message, true));
            }
        }
        Ok(requested)
    }

    /// Marks trec_eval's measures of a name or nickname as requested; returns `false` if there are
    /// none.
    fn mark(&mut self, name: &str, params: Option<&'a str>, version: Version) -> bool {
        let mut found = false;
        for (entry, requested) in &mut self.0 {
            if !entry.is_in_version(version) || !entry.is_meant_by(name) {
                continue;
            }
            found = true;
            let requested = requested.get_or_insert_default();
            // Text behind a nickname has no meaning.
            let params = params.filter(|_| entry.name() == name);
            requested.extend(params.filter(|params| !requested.contains(params)));
        }
        found
    }
}
