//! From `-m` options to columns: which measures are printed under which names.

use laneval::measure::{Average, Defaults, Measure, Value};

use super::params::{self, integer};
use super::registry::{Entry, OTHER_NICKNAMES, registry};
use super::{INPUT, Profile, USAGE};
use crate::stop::Stop;

/// How many labels are shown unless a number is given.
const LABELS: u32 = 10;

/// What is printed, in this order, and what is evaluated for it.
pub struct Request {
    pub columns: Vec<Column>,
    pub measures: Vec<Measure>,
}

/// One value of a topic, one line of the output.
pub struct Column {
    /// The name as printed.
    pub name: String,
    pub source: Source,
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
    /// The columns of the measures asked for, each given as `name` or `name.params`.
    pub fn new(asked: &[String], profile: Profile, level: f64, documents: u64) -> Result<Self, Stop> {
        let mut request = Request { columns: Vec::new(), measures: Vec::new() };
        for (entry, params) in Asked::new(asked, profile)?.0 {
            let Some(params) = params else { continue };
            request
                .add(entry, &params, profile, level, documents)
                .map_err(|message| Stop::coded(INPUT, format!("-m {}: {message}", entry.name())))?;
        }
        Ok(request)
    }

    fn add(
        &mut self,
        entry: Entry,
        params: &[&str],
        profile: Profile,
        level: f64,
        documents: u64,
    ) -> Result<(), String> {
        let row = match entry {
            Entry::RunId => {
                self.column(entry.name().to_owned(), Source::RunId);
                return Ok(());
            }
            Entry::RelString => {
                self.labels(entry.name(), params);
                return Ok(());
            }
            Entry::OtherFormat(_) => {
                return Err(
                    "this measure needs another format than qrels, which is not supported yet".to_owned()
                );
            }
            Entry::Measure(row) => row,
        };
        for (suffix, measure) in params::measures(row, params, profile, Defaults { rel: level })? {
            let measure = in_version(measure, profile, documents).map_err(|error| error.to_string())?;
            let kind = match (row.measure, measure.definition().average) {
                ("NumQ", _) => Kind::Topics,
                ("NumRel", _) => Kind::Relevant,
                (_, Average::Sum) => Kind::Count,
                (_, Average::Geometric) => Kind::Geometric,
                (_, Average::Mean) => Kind::Real,
            };
            self.measures.push(measure);
            self.column(format!("{}{suffix}", row.name), Source::Measure(self.measures.len() - 1, kind));
        }
        Ok(())
    }

    fn column(&mut self, name: String, source: Source) {
        self.columns.push(Column { name, source });
    }

    fn labels(&mut self, name: &str, params: &[&str]) {
        if params.is_empty() {
            self.column(name.to_owned(), Source::Labels(LABELS));
        }
        for text in params {
            let length = u32::try_from(integer(text).max(0)).unwrap_or(u32::MAX);
            self.column(format!("{name}_{text}"), Source::Labels(length));
        }
    }
}

/// A measure with the version's rule of recall and the size of the collection, where it has such parameters.
fn in_version(measure: Measure, profile: Profile, documents: u64) -> laneval::Result<Measure> {
    let cut = Value::Word(if profile == Profile::V10 { "v10" } else { "v9" });
    match measure.definition().name {
        "IPrec" | "IPrec11" => measure.with("cut", cut),
        "Utility" => measure.with("docs", Value::Number(documents as f64)),
        _ => Ok(measure),
    }
}

/// Every measure with the parameters given, if it is asked for at all.
struct Asked<'a>(Vec<(Entry, Option<Vec<&'a str>>)>);

impl<'a> Asked<'a> {
    fn new(names: &'a [String], profile: Profile) -> Result<Self, Stop> {
        let mut asked = Asked(registry().into_iter().map(|entry| (entry, None)).collect());
        for text in names {
            let (name, params) = match text.split_once('.') {
                Some((name, params)) => (name, Some(params)),
                None => (text.as_str(), None),
            };
            if OTHER_NICKNAMES.contains(&name) {
                let message = format!(
                    "-m {name}: these measures need another format than qrels, which is not supported yet"
                );
                return Err(Stop::coded(INPUT, message));
            }
            if params == Some("") {
                return Err(Stop::coded(USAGE, format!("-m {text}: parameters were expected after the `.`")));
            }
            if !asked.mark(name, params, profile) {
                return Err(Stop::coded(USAGE, format!("-m {text}: there is no measure `{name}`")));
            }
        }
        Ok(asked)
    }

    /// Marks the measures of a name; `false` if there are none.
    fn mark(&mut self, name: &str, params: Option<&'a str>, profile: Profile) -> bool {
        let mut found = false;
        for (entry, asked) in &mut self.0 {
            if (entry.is_new() && profile == Profile::V9) || !entry.is_meant_by(name) {
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
