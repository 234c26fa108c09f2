//! Arguments that choose among named values of the library.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use laneval::report::Format;
use laneval::{EngineChoice, QuerySet, ScoreType, Stat, Ties};

/// A value, its name on the command line, and what the help says of it.
pub type Choice<T> = (&'static str, T, &'static str);

/// The order of equal scores.
pub const TIES: &[Choice<Ties>] = &[
    ("docno-desc", Ties::DocnoDescending, "by document id, bytewise descending, as trec_eval does"),
    ("docno-asc", Ties::DocnoAscending, "by document id, bytewise ascending"),
    ("input", Ties::Input, "in the order of the run file"),
];

/// The type of scores.
pub const SCORES: &[Choice<ScoreType>] = &[
    ("f64", ScoreType::F64, "as trec_eval 10 does"),
    ("f32", ScoreType::F32, "as trec_eval 9 and pytrec_eval do: more scores are tied"),
];

/// The queries that count.
pub const QUERIES: &[Choice<QuerySet>] = &[
    ("judged", QuerySet::Judged, "every judged query; one that the run lacks scores 0"),
    ("both", QuerySet::Both, "only the judged queries that are in the run, as trec_eval does"),
    ("error", QuerySet::Complete, "every judged query; it is an error if the run lacks one"),
];

/// Who computes.
pub const ENGINES: &[Choice<EngineChoice>] = &[
    ("auto", EngineChoice::Auto, "the fastest for the data at hand"),
    ("cpu", EngineChoice::Cpu, "SIMD on all threads"),
    ("gpu", EngineChoice::Gpu, "compute shaders, with sums in integers; exit code 2 where there is no GPU"),
    ("reference", EngineChoice::Reference, "the plain formulas, slow and obvious, to check a number"),
];

/// The formats of scores.
pub const FORMATS: &[Choice<Format>] = &[
    ("table", Format::Table, "aligned columns for people"),
    ("tsv", Format::Tsv, "rows of run, query_id, measure, stat, value, separated by tabs"),
    ("csv", Format::Csv, "the same rows, separated by commas"),
    ("json", Format::Json, "one document, with the queries that were missing or ignored"),
    ("jsonl", Format::Jsonl, "the same rows, one JSON object a line"),
    ("trec", Format::Trec, "the lines of trec_eval"),
];

/// The statistics besides the average.
pub fn stats() -> Vec<Choice<Stat>> {
    Stat::ALL.iter().map(|&(name, stat)| (name, stat, "")).collect()
}

/// A part of the name of an adapter, or its number.
pub fn adapter(text: &str) -> Result<String, String> {
    let named = Some(text).filter(|text| !text.trim().is_empty());
    named.map(str::to_owned).ok_or_else(|| "a number, or a part of a name, was expected".to_owned())
}

/// A parser of one of these names.
pub fn one_of<T: Copy + Send + Sync + 'static>(
    choices: impl Into<Vec<Choice<T>>>,
) -> impl TypedValueParser<Value = T> {
    let choices = choices.into();
    let possible = |&(name, _, help): &Choice<T>| match help {
        "" => PossibleValue::new(name),
        help => PossibleValue::new(name).help(help),
    };
    PossibleValuesParser::new(choices.iter().map(possible).collect::<Vec<_>>()).try_map(move |name| {
        let chosen = choices.iter().find(|(of, ..)| *of == name);
        chosen.map(|&(_, value, _)| value).ok_or("not among the choices")
    })
}

/// The name of a value.
pub fn name_of<T: PartialEq>(choices: &[Choice<T>], value: &T) -> &'static str {
    choices.iter().find(|(_, of, _)| of == value).map_or("", |(name, ..)| name)
}
