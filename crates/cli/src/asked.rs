//! What is asked of an evaluation, whatever becomes of its scores: measures, rankings, queries, engine.

use std::collections::HashSet;
use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;
use laneval::measure::{Defaults, Measure, parse_list};
use laneval::report::Note;
use laneval::{
    EngineChoice, Error, Evaluator, Ids, LabelMatrix, QuerySet, RankingRule, TiedValue, Ties, View,
};

use super::choice::{TieRule, adapter, engines, one_of, query_sets};
use super::inputs::{Files, Inputs, Naming, Ranking};
use super::queries;
use super::stop::Stop;
use super::style::shown;
use super::threads::Threads;

/// What is computed without `-m`.
pub const DEFAULT_MEASURES: [&str; 5] = ["nDCG@10", "AP", "RR", "P@10", "R@100"];

/// What to evaluate, and how.
#[derive(Debug, Args)]
pub struct Asked {
    #[command(flatten)]
    pub files: Files,
    #[command(flatten)]
    pub naming: Naming,

    /// Measures such as nDCG@10,AP,'P@[5,10]', names of trec_eval, ranx or ir_measures, or official, set or all_trec;
    /// may be repeated
    ///
    /// See `laneval measures` for all of them. Where a name is not the same measure everywhere, trec:, ranx: or irm: before it
    /// says whose it is.
    #[arg(short, long = "measure", value_name = "MEASURE", default_values = DEFAULT_MEASURES)]
    #[arg(help_heading = "Measures")]
    pub measures: Vec<String>,
    /// The lowest grade that counts as relevant, where a measure does not say itself [default: 1]
    #[arg(long, value_name = "GRADE", value_parser = level)]
    #[arg(allow_negative_numbers = true, help_heading = "Measures")]
    rel: Option<f64>,

    /// Which queries count
    #[arg(long, value_name = "SET", default_value = "judged", value_parser = one_of(query_sets()))]
    #[arg(help_heading = "Ranking")]
    queries: QuerySet,
    /// Drop documents without a judgment from the rankings, so that the others move up; -M first, then -J, as trec_eval
    #[arg(short = 'J', long, help_heading = "Ranking")]
    judged_only: bool,
    /// Only the queries of this file count: the first column of its lines, tabs between columns
    #[arg(long, value_name = "FILE", help_heading = "Ranking")]
    pub only: Option<PathBuf>,
    #[command(flatten)]
    pub ranking: Ranking,

    /// What computes
    #[arg(long, value_name = "ENGINE", default_value = "auto", value_parser = one_of(engines()))]
    #[arg(help_heading = "Engine")]
    engine: EngineChoice,
    /// Which GPU, by its number or a part of its name (see `laneval devices`); with it, `auto` is `gpu`
    /// [default: the most powerful]
    #[arg(long, value_name = "NAME|INDEX", value_parser = adapter, help_heading = "Engine")]
    adapter: Option<String>,
    #[command(flatten)]
    pub threads: Threads,
}

/// A relevance level: a finite grade, 0 or more.
pub fn level(text: &str) -> Result<f64, String> {
    let level = text.parse::<f64>().ok().filter(|level| level.is_finite() && *level >= 0.0);
    level.ok_or_else(|| "a grade, 0 or more, was expected".to_owned())
}

/// The measures of these names: each once, and all that are wrong reported together.
pub fn measures(names: &[String], rel: Option<f64>) -> Result<Vec<Measure>, Stop> {
    let (mut measures, mut wrong, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    for name in names {
        match parse_list(name, Defaults { rel: rel.unwrap_or(1.0) }) {
            Ok(list) => measures.extend(list.into_iter().filter(|measure| seen.insert(measure.clone()))),
            Err(Error::Measures(all)) => wrong.extend(all.iter().map(ToString::to_string)),
            Err(error) => wrong.push(error.to_string()),
        }
    }
    if wrong.is_empty() { Ok(measures) } else { Err(Stop::Failed(wrong)) }
}

impl Asked {
    /// Is a GPU asked for?
    pub fn names_a_gpu(&self) -> bool {
        self.engine == EngineChoice::Gpu || self.adapter.is_some()
    }

    /// Is the measure `help` asked for?
    pub fn is_help(&self) -> bool {
        self.measures.iter().any(|measure| measure == "help")
    }

    /// The measures of these names.
    pub fn measures_of(&self, names: &[String]) -> Result<Vec<Measure>, Stop> {
        measures(names, self.rel)
    }

    /// The queries that count, if only some do.
    pub fn only(&self) -> Result<Option<Ids>, Stop> {
        self.only.as_deref().map(queries::only).transpose()
    }

    /// An evaluator of what was asked for; it does not know yet which queries count alone.
    pub fn evaluator(&self) -> Result<Evaluator, Stop> {
        let view = View { depth: self.ranking.depth.map(NonZeroU32::get), judged_only: self.judged_only };
        let evaluator =
            Evaluator::of(self.measures_of(&self.measures)?).with_queries(self.queries).with_view(view);
        let evaluator = evaluator.with_engine(self.engine()?).with_adapter(self.adapter.clone());
        let tied = match self.ranking.ties {
            Some(TieRule::Value(tied)) => tied,
            _ => TiedValue::Ranked,
        };
        Ok(evaluator.with_tied(tied))
    }

    fn engine(&self) -> Result<EngineChoice, Stop> {
        match (self.engine, &self.adapter) {
            // Who names an adapter wants it.
            (EngineChoice::Auto | EngineChoice::Gpu, Some(_)) => Ok(EngineChoice::Gpu),
            (engine, Some(_)) => {
                Err(Stop::new(format!("--adapter names a GPU, which --engine {engine} does not use")))
            }
            (engine, None) => Ok(engine),
        }
    }

    /// A matrix that keeps only the first ranks, or is ranked otherwise than another, gives other values than the text would: that
    /// must not pass in silence. Nor what a text is taken for, where it might be something else.
    pub fn rule_notes(&self, inputs: &Inputs, matrices: &[LabelMatrix]) -> Vec<Note> {
        let Inputs::Matrices(paths) = inputs else { return self.ranking.formats.notes() };
        let kept = |(path, matrix): (&PathBuf, &LabelMatrix)| {
            let depth = matrix.rule().depth.filter(|_| self.ranking.depth.is_none())?;
            Some(Note::Note(format!("{}: keeps only the first {depth} ranks of each ranking", shown(path))))
        };
        // Over all orders of equal scores it is nothing in which of them a matrix has them.
        let order = |ties| if self.ranking.needs_ties() { Ties::default() } else { ties };
        let rule = |matrix: &LabelMatrix| RankingRule { ties: order(matrix.rule().ties), ..matrix.rule() };
        let first = matrices.first().map(rule);
        let other = paths.iter().zip(matrices).find(|(_, matrix)| Some(rule(matrix)) != first);
        let differs = other.map(|(path, _)| {
            Note::Warning(format!(
                "{} and {} were ranked under different rules (see `laneval info`): their scores differ for that reason too",
                shown(&paths[0]),
                shown(path)
            ))
        });
        paths.iter().zip(matrices).filter_map(kept).chain(differs).collect()
    }

    /// Measures whose documents have gains, or no relevance at all, look at no level that is not their own.
    pub fn rel_note(&self, measures: &[Measure]) -> Option<Note> {
        self.rel?;
        let takes = |measure: &&Measure| {
            let mut params = measure.definition().params.iter();
            params.any(|param| param.name == "rel" && param.default == "1")
        };
        let others: Vec<String> = measures.iter().filter(|m| !takes(m)).map(ToString::to_string).collect();
        (!others.is_empty()).then(|| Note::Note(format!("--rel changes nothing in {}", others.join(", "))))
    }
}
