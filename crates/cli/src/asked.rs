//! The request for an evaluation, apart from what happens with its scores: measures, rankings,
//! queries, engine.

use std::borrow::Cow;
use std::collections::HashSet;
use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;
use laneval::labels::{Ids, RankingRule, SettingDifference};
use laneval::measure::{Defaults, JUDGES, JudgmentInput, Measure, Value, parse_level};
use laneval::report::Note;
use laneval::{
    EngineChoice, Error, Evaluator, JudgedBy, Known, LabelMatrix, QuerySet, TiedValue, Ties, View,
};

use super::as_library::AsLibrary;
use super::choice::{OverJudges, TieRule, adapter, engines, judges, known, one_of, query_sets};
use super::inputs::{EvaluationInputs, FileOptions, NameOptions, RankingOptions};
use super::queries;
use super::stop::Stop;
use super::style::shown;
use super::threads::Threads;

/// The measures that are computed without `-m`.
pub const DEFAULT_MEASURES: [&str; 5] = ["nDCG@10", "AP", "RR", "P@10", "R@100"];

/// The measures that are computed without `-m` where judgments are by span.
const DEFAULT_OF_PASSAGES: [&str; 3] = ["SpanR", "SpanP", "SpanIoU"];

/// The names of the measures that are asked for: those of passages in the place of the usual ones
/// where judgments are by span.
pub fn usual(names: &[String], by: Option<JudgedBy>) -> Cow<'_, [String]> {
    if by == Some(JudgedBy::Span) && names == DEFAULT_MEASURES {
        Cow::Owned(DEFAULT_OF_PASSAGES.map(str::to_owned).into())
    } else {
        Cow::Borrowed(names)
    }
}

/// The options that say what to evaluate, and how.
#[derive(Debug, Args)]
pub struct EvaluationOptions {
    #[command(flatten)]
    pub files: FileOptions,
    #[command(flatten)]
    pub naming: NameOptions,

    /// Measures: a list such as nDCG@10,AP,'P@[5,10]'; may be repeated
    ///
    /// Names of trec_eval, ranx and ir_measures are known too, and official, set and all_trec.
    /// `laneval measures` lists all of them. If a name means different measures in different tools,
    /// put trec:, ranx: or irm: before it; `laneval measures --as` lists more libraries.
    #[arg(short, long = "measure", value_name = "MEASURE", default_values = DEFAULT_MEASURES)]
    #[arg(aliases = ["measures", "metric", "metrics"])]
    #[arg(help_heading = "Measures")]
    pub measures: Vec<String>,
    /// The lowest relevant grade [default: 1]
    ///
    /// Measures that set it themselves, as AP(rel=2), keep theirs.
    #[arg(long, value_name = "GRADE", value_parser = level)]
    #[arg(allow_negative_numbers = true, help_heading = "Measures")]
    rel: Option<f64>,

    /// How the grades of several judges make the value of a query [default: with --judgments-by
    /// judge the largest grade counts; without it different grades are an error]
    ///
    /// Judgments are then read as `query judge document grade`. Measures with their own `judges=`
    /// keep it.
    #[arg(long, value_name = "HOW", value_parser = one_of(judges()), help_heading = "Measures")]
    pub judges: Option<OverJudges>,

    /// The queries that count [default: judged]
    #[arg(long, value_name = "SET", value_parser = one_of(query_sets()))]
    #[arg(help_heading = "Ranking")]
    queries: Option<QuerySet>,
    /// Drop documents without a judgment from the rankings
    ///
    /// The others move up. -M first, then -J, as trec_eval.
    #[arg(short = 'J', long, help_heading = "Ranking")]
    judged_only: bool,
    /// Evaluate only the queries in this file
    ///
    /// They are the first of its columns, which tabs separate.
    #[arg(long, value_name = "FILE", help_heading = "Ranking")]
    pub only: Option<PathBuf>,
    #[command(flatten)]
    pub ranking: RankingOptions,

    /// The relevant documents that there are [default: judged]
    ///
    /// It is what recall divides by and what ideal rankings are made of. What is retrieved is seen
    /// after -M and -J.
    #[arg(long, value_name = "WHICH", value_parser = one_of(known()))]
    #[arg(help_heading = "Definition")]
    known: Option<Known>,

    /// The engine that computes
    #[arg(long, value_name = "ENGINE", default_value = "auto", value_parser = one_of(engines()))]
    #[arg(help_heading = "Engine")]
    engine: EngineChoice,
    /// The GPU, by its number or a part of its name (see `laneval devices`); with it, `auto` is
    /// `gpu` [default: the most powerful]
    #[arg(long, value_name = "NAME|INDEX", value_parser = adapter, help_heading = "Engine")]
    adapter: Option<String>,
    #[command(flatten)]
    pub threads: Threads,
}

/// Reads a relevance level: a finite grade, 0 or more.
pub fn level(text: &str) -> Result<f64, String> {
    parse_level(text)
        .ok_or_else(|| "a grade, 0 or more, was expected, or > and a grade, as >0".to_owned())
}

/// Reads measures by their names, each once; all wrong names are reported together. A library reads
/// them as its own, and has some of the usual measures in the place of all.
pub fn measures(
    names: &[String],
    rel: Option<f64>,
    library: &AsLibrary,
) -> Result<Vec<Measure>, Stop> {
    let (mut measures, mut wrong, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    let defaults = Defaults { rel };
    if let Some(profile) = library.profile()?.filter(|_| *names == DEFAULT_MEASURES) {
        return Ok(profile.usual_measures(defaults));
    }
    for name in names {
        match library.measures(name, defaults) {
            Ok(list) => {
                measures.extend(list.into_iter().filter(|measure| seen.insert(measure.clone())))
            }
            Err(Error::Measures(all)) => wrong.extend(all.iter().map(ToString::to_string)),
            Err(error) => wrong.push(error.to_string()),
        }
    }
    if wrong.is_empty() { Ok(measures) } else { Err(Stop::Failed(wrong)) }
}

impl EvaluationOptions {
    /// Returns whether a GPU is asked for.
    pub fn names_a_gpu(&self) -> bool {
        self.engine == EngineChoice::Gpu || self.adapter.is_some()
    }

    /// Returns the lowest grade that counts as relevant, where a measure does not set it itself.
    pub fn relevance(&self) -> f64 {
        self.ranking.library.level(self.rel)
    }

    /// Returns whether the measure `help` is asked for.
    pub fn is_help(&self) -> bool {
        self.measures.iter().any(|measure| measure == "help")
    }

    /// Takes the measures that `of` returns, if there are any; they are not looked for where
    /// measures are asked for.
    pub fn take_measures(&mut self, of: impl FnOnce() -> Option<Vec<String>>) {
        if self.measures == DEFAULT_MEASURES
            && let Some(measures) = of()
        {
            self.measures = measures;
        }
    }

    /// Reads the measures that are asked for.
    pub fn asked_measures(&self) -> Result<Vec<Measure>, Stop> {
        self.read_measures(&usual(&self.measures, self.ranking.groups()), &self.ranking.library)
    }

    /// Reads measures by their names here, at the relevance level that was asked for.
    pub fn measures_of(&self, names: &[String]) -> Result<Vec<Measure>, Stop> {
        self.read_measures(names, &AsLibrary::default())
    }

    fn read_measures(&self, names: &[String], library: &AsLibrary) -> Result<Vec<Measure>, Stop> {
        let read = measures(names, self.rel, library)?;
        let Some(OverJudges::One(name)) = self.judges else { return Ok(read) };
        let over = |measure: Measure| match measure.input() {
            JudgmentInput::Grades => Ok(measure.with(JUDGES.name, Value::Word(name))?),
            _ => Ok(measure),
        };
        read.into_iter().map(over).collect()
    }

    /// Takes the options of the library that was asked for, and reads judgments by the groups that
    /// the measures need.
    pub fn read_for_measures(&mut self) -> Result<(), Stop> {
        self.ranking.settle()?;
        self.ranking.library.settle("known", &mut self.known, &known())?;
        self.ranking.library.settle("queries", &mut self.queries, &query_sets())?;
        let measures = self.asked_measures()?;
        if self.judges.is_some() {
            self.ranking.read_judges();
        }
        self.ranking.read_for(&measures)
    }

    /// Reads the queries that count, if only some do.
    pub fn only(&self) -> Result<Option<Ids>, Stop> {
        self.only.as_deref().map(queries::only).transpose()
    }

    /// Makes an evaluator of what was asked for, over all queries: those of `--only` come later.
    pub fn evaluator(&self) -> Result<Evaluator, Stop> {
        let view =
            View { depth: self.ranking.depth.map(NonZeroU32::get), judged_only: self.judged_only };
        let evaluator = Evaluator::of(self.asked_measures()?)
            .with_queries(self.queries.unwrap_or_default())
            .with_view(view)
            .with_known(self.known.unwrap_or_default());
        let evaluator = evaluator.with_engine(self.engine()?).with_adapter(self.adapter.clone());
        let tied = match self.ranking.ties {
            Some(TieRule::Value(tied)) => tied,
            _ => TiedValue::Ranked,
        };
        Ok(evaluator.with_tied(tied))
    }

    fn engine(&self) -> Result<EngineChoice, Stop> {
        match (self.engine, &self.adapter) {
            // A user who names an adapter wants it to be used.
            (EngineChoice::Auto | EngineChoice::Gpu, Some(_)) => Ok(EngineChoice::Gpu),
            (engine, Some(_)) => Err(Stop::new(format!(
                "--adapter names a GPU, which --engine {engine} does not use"
            ))),
            (engine, None) => Ok(engine),
        }
    }

    /// Notes on label matrices and on formats. The values of a matrix differ from those of the text
    /// if the matrix keeps only the first ranks or has another ranking rule, and the format of a
    /// text may be recognised wrongly. The user has to know.
    pub fn rule_notes(&self, inputs: &EvaluationInputs, matrices: &[LabelMatrix]) -> Vec<Note> {
        let of_libraries = self.library_notes(matrices.first().map(LabelMatrix::rule));
        let EvaluationInputs::Matrices(paths) = inputs else {
            return self.ranking.formats.notes().into_iter().chain(of_libraries).collect();
        };
        let kept = |(path, matrix): (&PathBuf, &LabelMatrix)| {
            let depth = matrix.rule().depth.filter(|_| self.ranking.depth.is_none())?;
            Some(Note::Note(format!(
                "{}: keeps only the first {depth} ranks of each ranking",
                shown(path)
            )))
        };
        // For values over all orders of equal scores, the order in which a matrix has them does not
        // matter.
        let order = |ties| if self.ranking.needs_ties() { Ties::default() } else { ties };
        let rule =
            |matrix: &LabelMatrix| RankingRule { ties: order(matrix.rule().ties), ..matrix.rule() };
        let first = matrices.first().map(rule);
        let other = paths.iter().zip(matrices).find_map(|(path, matrix)| {
            Some((path, first.as_ref()?.differences(&rule(matrix)).into_iter().next()?))
        });
        let differs = other.map(|(path, SettingDifference { option, values: [one, other], .. })| {
            Note::Warning(format!(
                "{} and {} were ranked under different rules ({option}: {one} and {other}): their \
                 scores differ for that reason too",
                shown(&paths[0]),
                shown(path)
            ))
        });
        paths.iter().zip(matrices).filter_map(kept).chain(differs).chain(of_libraries).collect()
    }

    /// Notes that names of libraries alone do not rank as the libraries do, with the rule of a
    /// matrix if there is one.
    pub fn library_notes(&self, rule: Option<RankingRule>) -> Vec<Note> {
        let held = self.ranking.held(self.known.unwrap_or_default(), self.relevance());
        held.ranked_by(rule, self.ranking.needs_ties()).notes(&self.measures)
    }

    /// Notes that `--rel` has no effect on measures that use gains, use no relevance at all, or set
    /// their own level.
    pub fn rel_note(&self, measures: &[Measure]) -> Option<Note> {
        self.rel?;
        let takes = |measure: &&Measure| {
            let mut params = measure.definition().params.iter();
            params.any(|param| {
                param.name == "rel" && (param.default == "1" || measure.word("gain") == "binary")
            })
        };
        let others: Vec<String> =
            measures.iter().filter(|m| !takes(m)).map(ToString::to_string).collect();
        (!others.is_empty())
            .then(|| Note::Note(format!("--rel changes nothing in {}", others.join(", "))))
    }
}
