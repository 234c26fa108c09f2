//! `laneval eval`: evaluates judgments and runs, or label matrices.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use laneval::compare::Gate;
use laneval::internals::{Evaluation, Timing};
use laneval::report::{Format, Note, html, notes};
use laneval::{
    EngineChoice, Error, Evaluator, LabelMatrix, Notice, Scores, Stat, Summary, TiedValue,
};

use super::asked::EvaluationOptions;
use super::choice::{OverJudges, TieRule, distinct, one_of, stats};
use super::gates;
use super::inputs::{EvaluationInputs, named, of_all};
use super::judges;
use super::output::{Output, print_text};
use super::page::{self, PageOrigin};
use super::pipe::{self, PipeResults, Piped};
use super::progress::{Progress, WorkAmount};
use super::queries;
use super::refused::{self, Wish};
use super::score_output::{ReportOutput, ReportTarget, ScoreOutput};
use super::stop::Stop;
use super::style::{counted, say, tell};

const EXAMPLES: &str = "\
Examples:
  laneval eval qrels.txt bm25.run dense.run
  laneval eval qrels.txt bm25.run -m nDCG@10,'R@[10,100,1000]' --stat std,ci95
  laneval eval qrels.txt bm25.run --per-query -o scores.csv
  zcat dense.run.gz | laneval eval qrels.txt - -m 'nDCG(gain=exp2)@10'
  laneval eval trec8.lmx -m AP --format json
  laneval eval qrels.txt bm25.run -m 'nDCG@1..50' -o curve.svg
  laneval eval qrels.1 bm25=run.1 --partial 1.part && laneval merge *.part";

const USAGE: &str =
    "laneval eval [OPTIONS] <QRELS> <RUN>...\n       laneval eval [OPTIONS] <FILE.lmx>...";

/// Evaluate runs against relevance judgments.
#[derive(Debug, Args)]
#[command(override_usage = USAGE, after_help = EXAMPLES)]
pub struct Eval {
    /// Judgments and then runs, in any format, plain or compressed; `-` is stdin, and name=path
    /// gives a run a name. Or label matrices
    ///
    /// Formats are TREC text, TSV, CSV, JSON and LETOR (see docs/formats.md), compressed by gzip or
    /// zstd. `laneval build` makes label matrices (.lmx).
    #[arg(value_name = "FILES", hide_default_value = true)]
    inputs: Vec<PathBuf>,
    /// Hold a run that comes through a pipe in memory, so that its lines may be in any order
    ///
    /// Without this option the first 32 MiB of text are held. If a query comes back within them,
    /// all of the run is held. Otherwise queries are evaluated as they come, and a query that comes
    /// back later is an error.
    #[arg(long, help_heading = "Input")]
    hold: bool,

    #[command(flatten)]
    asked: EvaluationOptions,
    /// More statistics: median, std, min, max, ci95; a list
    ///
    /// ci95 is a 95 % confidence interval of the average: for measures that are 0 or 1, such as
    /// Success@k and P@1, the exact binomial one (Clopper and Pearson), for others the 2.5 % and
    /// 97.5 % points of 1000 resamples of the queries (percentile bootstrap, seeded; multinomial
    /// below 1000 queries, Poisson from there on). std divides by n − 1. One query has neither.
    #[arg(
        long = "stat", value_name = "STAT", value_delimiter = ',', value_parser = one_of(stats())
    )]
    #[arg(hide_possible_values = true, help_heading = "Measures")]
    stats: Vec<Stat>,

    /// Write scores of groups: lines of query, tab, group
    ///
    /// They are groups of queries. A query may be in several groups, or in none. The long formats
    /// then have a column `group`, which is empty for all queries.
    #[arg(long, value_name = "FILE", help_heading = "Ranking")]
    group_by: Option<PathBuf>,

    /// Exit with code 1 where this holds, such as 'AP < 0.3'
    ///
    /// It is about the average of a run; also <=, > and >=. The option may be repeated. A gate that
    /// cannot be computed is exit code 2, never a pass. `laneval compare` has gates that look at a
    /// baseline.
    #[arg(long, value_name = "GATE", value_parser = gates::parse_threshold, help_heading = "Gates")]
    fail_if: Vec<Gate>,

    /// Write the scores of every query too
    #[arg(short = 'q', long, help_heading = "Output")]
    per_query: bool,
    #[command(flatten)]
    written: ScoreOutput,
    /// Print what was read and which engine computed
    ///
    /// It is printed on stderr, with how long it took.
    #[arg(short, long, help_heading = "Output")]
    verbose: bool,
    /// Print on stderr how long each step took
    #[arg(long, help_heading = "Output")]
    timing: bool,
    /// Print no notes on stderr; warnings stay
    #[arg(long, help_heading = "Output")]
    quiet: bool,

    /// Print what would be computed and how, instead of computing it
    #[arg(long, help_heading = "Engine")]
    explain: bool,
}

/// The outputs: those of scores in their formats, and that of a summary.
struct ScoresTo {
    scores: Vec<ReportTarget>,
    summary: Option<Output>,
    /// The origin of the numbers, for a page.
    origin: Option<PageOrigin>,
}

impl Eval {
    /// Returns whether a GPU is asked for.
    pub fn names_a_gpu(&self) -> bool {
        self.asked.names_a_gpu()
    }

    /// Runs the command.
    pub fn run(mut self, words: &[OsString]) -> Result<(), Stop> {
        if self.asked.is_help() {
            return print_text(true, |to| writeln!(to, "{}", super::measures::way()));
        }
        self.asked.read_for_measures()?;
        let paths = self.paths();
        let scores = if self.explain { Vec::new() } else { self.written.targets(&paths)? };
        let formats: Vec<Format> = if self.explain {
            vec![self.written.report.format_on_stdout()]
        } else {
            scores.iter().map(|target| target.format).collect()
        };
        let evaluator = self.evaluator(&formats)?;
        for format in formats.iter().filter(|_| !self.explain) {
            ReportOutput::check_curve(*format, evaluator.measures())?;
        }
        self.over_ties(&evaluator).try_for_each(|evaluator| evaluator.check_tied())?;
        let summary = self.written.partial(&paths)?;
        let evaluator = evaluator.with_only(self.asked.only()?);
        let evaluator =
            evaluator.with_groups(self.group_by.as_deref().map(queries::groups).transpose()?);
        let inputs = EvaluationInputs::of(&self.inputs)?;
        self.asked.threads.install_for(inputs.bytes(), || {
            let has_page = scores.iter().any(|target| target.format == Format::Html);
            let origin = has_page.then(|| PageOrigin::of(words, &inputs)).transpose()?;
            let origin = origin.map(|origin| origin.titled(self.written.report.title()));
            let to = ScoresTo { scores, summary, origin };
            self.evaluate(&evaluator, &inputs, to)
        })
    }

    /// Returns all files that are read.
    fn paths(&self) -> Vec<PathBuf> {
        named(&self.inputs)
            .1
            .into_iter()
            .chain(self.asked.only.clone())
            .chain(self.group_by.clone())
            .collect()
    }

    fn evaluate(
        &self,
        evaluator: &Evaluator,
        inputs: &EvaluationInputs,
        mut to: ScoresTo,
    ) -> Result<(), Stop> {
        let mut timing = Timing::default();
        let start = Instant::now();
        let read =
            if matches!(inputs, EvaluationInputs::Text(..)) { "read and join" } else { "open" };
        let (matrices, why) = match self.piped(evaluator, inputs)? {
            None => (timing.time(read, || self.load(inputs))?, None),
            Some(Piped::Held(matrix, why)) => {
                timing.add(read, start.elapsed());
                (vec![*matrix], why)
            }
            Some(Piped::Gone(gone)) => {
                timing.add("read and evaluate", start.elapsed());
                let PipeResults { scores, summary, engine, queries, results } = *gone;
                let took = start.elapsed();
                let work = || self.report_passed(evaluator, &engine, queries, results, took);
                let timings = |timing: &_| timings(timing, None, results, 0);
                let notes = self.asked.ranking.formats.notes();
                let notes = notes.into_iter().chain(self.asked.library_notes(None)).collect();
                return self.write(evaluator, (scores, summary), notes, work, to, timing, timings);
            }
        };
        let read = start.elapsed();
        let start = Instant::now();
        let progress =
            Progress::start("evaluating", WorkAmount::Bytes(None), self.quiet || self.explain);
        let watched = evaluator.clone().with_watch(progress.watch());
        let mut evaluation =
            timing.time("engine", || Evaluation::of_matrices(&watched, &matrices))?;
        self.say_cpu(evaluation.refused());
        if self.explain {
            return self.explain(evaluator, &evaluation, &matrices);
        }
        let done = self.all_scores(&watched, &mut evaluation, &matrices, &mut timing)?;
        drop(progress);
        let of_judges = self.judge_notes(&done.0);
        let evaluated = start.elapsed();
        let rules = why.map(Note::Note).into_iter().chain(self.asked.rule_notes(inputs, &matrices));
        let rules = rules.chain(of_judges).collect();
        let work = || self.report_work(evaluator, &evaluation, &matrices, read, evaluated);
        if let Some(origin) = to.origin.take() {
            to.origin = Some(origin.with_matrices(&self.asked, evaluator, &matrices)?);
        }
        self.write(evaluator, done, rules, work, to, timing, |timing| {
            let runs = matrices.iter().flat_map(|matrix| matrix.runs());
            let labels =
                matrices.iter().flat_map(|matrix| matrix.depths()).map(|&depth| u64::from(depth));
            timings(timing, inputs.bytes(), runs.map(|run| run.results).sum(), labels.sum())
        })
    }

    /// Reads the matrices, or joins the texts to one.
    fn load(&self, inputs: &EvaluationInputs) -> Result<Vec<LabelMatrix>, Stop> {
        let EvaluationOptions { ranking, files, naming, .. } = &self.asked;
        inputs.load(ranking, (*files, *naming), self.quiet)
    }

    /// Collects the notes on the scores of each judge, if they are asked for.
    fn judge_notes(&self, scores: &Scores) -> Vec<Note> {
        if self.asked.judges == Some(OverJudges::Each) { judges::notes(scores) } else { Vec::new() }
    }

    /// Reads the run, and perhaps evaluates it, if it comes through a pipe and need not be held.
    fn piped(
        &self,
        evaluator: &Evaluator,
        inputs: &EvaluationInputs,
    ) -> Result<Option<Piped>, Stop> {
        match inputs {
            // What needs all results at once, or the run twice, holds it: several runs, names by
            // tags, ties, judgments by facet, a plan to explain, a GPU.
            EvaluationInputs::Text(qrels, runs)
                if runs.len() == 1
                    && !self.hold
                    && !self.asked.naming.needs_tags()
                    && !self.explain
                    && !self.asked.ranking.keeps_ties()
                    && self.asked.ranking.groups().is_none()
                    && evaluator.engine() != EngineChoice::Gpu =>
            {
                let join = self.asked.ranking.rule(self.asked.files)?;
                pipe::read(
                    evaluator,
                    &join,
                    (qrels, &runs[0]),
                    self.written.wants_partial(),
                    self.quiet,
                )
            }
            _ => Ok(None),
        }
    }

    /// Writes the results of an evaluation, and prints notes and what was done.
    #[allow(clippy::too_many_arguments)]
    fn write(
        &self,
        evaluator: &Evaluator,
        (mut scores, summary): (Scores, Option<Summary>),
        rules: Vec<Note>,
        work: impl FnOnce(),
        to: ScoresTo,
        mut timing: Timing,
        timings: impl FnOnce(&Timing) -> String,
    ) -> Result<(), Stop> {
        let loud = |note: &&Note| !self.quiet || matches!(note, Note::Warning(_));
        if let Some(neighbours) = self.asked.ranking.formats.neighbours() {
            scores.notices.extend(evaluator.of_neighbours(neighbours as usize));
        }
        self.check_groups(evaluator, &mut scores)?;
        let threads = self.asked.threads.note();
        let ignored = self.asked.rel_note(evaluator.measures());
        let before = threads.iter().chain(&rules).chain(&ignored);
        before.chain(&notes(&scores)).filter(loud).for_each(say);
        if self.verbose {
            work();
        }
        if let (Some(to), Some(summary)) = (to.summary, summary) {
            let bytes = summary.to_bytes();
            timing.time("summary", || to.write(|to| to.write_all(&bytes)))?;
        }
        let options = self.written.options(self.wants_queries(), &scores)?;
        // Scores are written even if a gate cannot be computed; the results of gates are not.
        let cases = gates::judged(&scores, &self.fail_if);
        timing.time("report", || {
            let write = |target: ReportTarget| match (target.format, &to.origin) {
                (Format::Html, Some(origin)) => target.write(|mut out| {
                    let runs = scores.runs.iter().filter(|run| run.group.is_none());
                    let title = format!("Scores of {}", page::names(runs.map(|run| &run.name[..])));
                    html::scores(&scores, &origin.context(&title), &mut out)
                }),
                (Format::Junit, _) => gates::write(&cases, "laneval eval", target),
                _ => {
                    let look = target.look(&options);
                    target.write_scores(&scores, &look)
                }
            };
            to.scores.into_iter().try_for_each(write)
        })?;
        if self.timing {
            tell(timings(&timing).trim_end());
        }
        let cases = cases?;
        gates::tell_all(&cases, self.quiet);
        gates::fate(&cases, false)
    }

    /// Refuses groups in none of which a query is judged. A shard need not have queries of every
    /// group, nor of any.
    fn check_groups(&self, evaluator: &Evaluator, scores: &mut Scores) -> Result<(), Stop> {
        if self.written.wants_partial() {
            scores.notices.retain(|notice| !matches!(notice, Notice::EmptyGroups { .. }));
        }
        let all = |notice: &Notice| match notice {
            Notice::EmptyGroups { groups, of } => groups.len() == *of,
            _ => false,
        };
        match evaluator.groups() {
            Some(groups) if scores.notices.iter().any(all) => Err(queries::in_no_group(groups)),
            _ => Ok(()),
        }
    }

    fn evaluator(&self, formats: &[Format]) -> Result<Evaluator, Stop> {
        let stats = distinct(&self.stats);
        let [trec, page, json] =
            [Format::Trec, Format::Html, Format::Json].map(|format| formats.contains(&format));
        let each_judge = self.asked.judges == Some(OverJudges::Each);
        let own = [
            (Wish::EachJudge, each_judge),
            (Wish::GroupBy, self.group_by.is_some()),
            (Wish::PerQuery, self.per_query),
            (Wish::Wide, self.written.is_wide()),
            (Wish::Stat, stats.iter().any(|&stat| stat != Stat::Average)),
            (Wish::Partial, self.written.wants_partial()),
            (Wish::Only, self.asked.only.is_some()),
            (Wish::FailIf, !self.fail_if.is_empty()),
            (Wish::NoGates, self.fail_if.is_empty()),
            (Wish::Explain, self.explain),
            (Wish::ManyOutputs, self.written.report.is_many()),
            (Wish::Title, self.explain && self.written.report.title().is_some()),
        ];
        let ties = refused::of_ties(self.asked.ranking.ties);
        let of_formats = formats.iter().flat_map(|&format| refused::of_format(format));
        refused::check(own.into_iter().chain(ties).chain(of_formats))?;
        if each_judge {
            judges::check(&self.asked.asked_measures()?)?;
        }
        let evaluator = self
            .asked
            .evaluator()?
            .with_stats(stats)
            .with_per_query(self.wants_queries() || trec || page && !self.is_interval());
        Ok(gates::with_measures(evaluator.with_missing_ids(json), &self.fail_if))
    }

    /// Returns whether the values of queries are written.
    fn wants_queries(&self) -> bool {
        self.per_query || self.written.is_wide()
    }

    /// Returns whether averages of the worst and the best order of equal scores are asked for.
    fn is_interval(&self) -> bool {
        self.asked.ranking.ties == Some(TieRule::Interval)
    }

    /// Returns an evaluator for each value of tied rankings that is asked for.
    fn over_ties(&self, evaluator: &Evaluator) -> impl Iterator<Item = Evaluator> {
        let asked = match self.asked.ranking.ties {
            Some(TieRule::Interval) => vec![TiedValue::Average, TiedValue::Best, TiedValue::Worst],
            Some(TieRule::Value(tied)) => vec![tied],
            Some(TieRule::Order(_)) | None => vec![TiedValue::Ranked],
        };
        asked.into_iter().map(|tied| evaluator.clone().with_tied(tied))
    }

    /// Returns the scores of all matrices, one after the other, and their summary if it is asked
    /// for. If a GPU fails that was not asked for, the CPU takes over.
    fn all_scores(
        &self,
        evaluator: &Evaluator,
        evaluation: &mut Evaluation<'_>,
        matrices: &[LabelMatrix],
        timing: &mut Timing,
    ) -> Result<(Scores, Option<Summary>), Error> {
        let mut refused = evaluation.refused().map(str::to_owned);
        let of = |matrix: &LabelMatrix| {
            let done = self.scores(evaluator, evaluation, matrix, timing);
            let why = evaluation.refused();
            self.say_cpu(why.filter(|why| refused.as_deref() != Some(*why)));
            refused = why.map(str::to_owned);
            done
        };
        let append = |(all, summaries): &mut (Scores, Option<Summary>), (scores, summary)| {
            all.append(scores)?;
            match (summaries, &summary) {
                (Some(all), Some(summary)) => all.append(summary),
                _ => Ok(()),
            }
        };
        of_all(matrices, of, append)
    }

    /// Returns the scores of a matrix, and their summary if it is asked for.
    fn scores(
        &self,
        evaluator: &Evaluator,
        evaluation: &mut Evaluation<'_>,
        matrix: &LabelMatrix,
        timing: &mut Timing,
    ) -> Result<(Scores, Option<Summary>), Error> {
        if self.asked.judges == Some(OverJudges::Each) {
            Ok((judges::each(evaluation, matrix, timing)?, None))
        } else if self.is_interval() {
            Ok((evaluator.tie_interval(matrix)?, None))
        } else if self.written.wants_partial() {
            let (scores, summary) = evaluation.scores_and_summary(matrix, timing)?;
            Ok((scores, Some(summary)))
        } else {
            Ok((evaluation.scores(matrix, timing)?, None))
        }
    }

    /// Notes that the CPU computes, because a GPU would not; `why` is the reason.
    fn say_cpu(&self, why: Option<&str>) {
        if let Some(why) = why.filter(|_| !self.quiet) {
            say(&Note::Note(format!("on the CPU, because {why}")));
        }
    }

    fn report_passed(
        &self,
        evaluator: &Evaluator,
        engine: &str,
        queries: u64,
        results: u64,
        took: Duration,
    ) {
        self.asked.ranking.formats.lines().iter().for_each(tell);
        tell(format_args!("engine: {engine}"));
        tell(format_args!(
            "read and evaluated as it came: {}, {}, {} in {:.3} s",
            counted(queries, "judged query"),
            counted(results, "result"),
            counted(evaluator.measures().len() as u64, "measure"),
            took.as_secs_f64()
        ));
    }

    fn explain(
        &self,
        evaluator: &Evaluator,
        evaluation: &Evaluation<'_>,
        matrices: &[LabelMatrix],
    ) -> Result<(), Stop> {
        let output = self.written.report.explained(&self.paths())?;
        // One plan serves all matrices, because all have the same judgments. The deepest matrix
        // decides how exact sums in integers are.
        let deepest = matrices.iter().max_by_key(|matrix| matrix.depths().iter().max());
        let plan = deepest
            .map(|matrix| Ok::<_, Error>((matrix, evaluator.plan(matrix.book())?)))
            .transpose()?;
        let ties = |matrix: &LabelMatrix| {
            let of_values =
                self.over_ties(evaluator).map(|evaluator| evaluator.explain_tied(matrix));
            of_values.collect::<Result<Vec<_>, Error>>()
        };
        let ties = deepest.map(ties).transpose()?.unwrap_or_default().concat();
        output.write_text(true, |to| {
            writeln!(to, "engine: {}", evaluation.engine_name())?;
            ties.iter().try_for_each(|line| writeln!(to, "{line}"))?;
            let Some((matrix, plan)) = plan else { return Ok(()) };
            write!(to, "{plan}")?;
            let lines = evaluation.explain(&plan, matrix);
            lines
                .iter()
                .chain(&self.asked.ranking.formats.lines())
                .try_for_each(|line| writeln!(to, "{line}"))
        })
    }

    fn report_work(
        &self,
        evaluator: &Evaluator,
        evaluation: &Evaluation<'_>,
        matrices: &[LabelMatrix],
        read: Duration,
        took: Duration,
    ) {
        let labels: u64 =
            matrices.iter().flat_map(|m| m.depths()).map(|&depth| u64::from(depth)).sum();
        let runs = matrices.iter().map(|matrix| matrix.runs().len() as u64).sum();
        let queries = matrices.first().map_or(0, |matrix| matrix.queries().len() as u64);
        self.asked.ranking.formats.lines().iter().for_each(tell);
        tell(format_args!("engine: {}", evaluation.engine_name()));
        tell(format_args!(
            "read: {}, {}, {} in {:.3} s",
            counted(runs, "run"),
            counted(queries, "judged query"),
            counted(labels, "label"),
            read.as_secs_f64()
        ));
        let measures = counted(evaluator.measures().len() as u64, "measure");
        tell(format_args!("evaluated: {measures} in {:.3} s", took.as_secs_f64()));
    }
}

/// Lists the steps with their times and rates, one on each line.
fn timings(timing: &Timing, bytes: Option<u64>, results: u64, labels: u64) -> String {
    let line = |&(step, took): &(&str, Duration)| {
        let seconds = took.as_secs_f64();
        let rate = |count: f64| count / seconds.max(1e-9);
        let rates = match step {
            "read and join" => {
                let bytes = bytes.map(|bytes| format!(", {:.2} GB/s", rate(bytes as f64) / 1e9));
                format!(
                    "{:.1} M results/s{}",
                    rate(results as f64) / 1e6,
                    bytes.unwrap_or_default()
                )
            }
            "read and evaluate" => format!("{:.1} M results/s", rate(results as f64) / 1e6),
            "folds and formulas" => format!("{:.0} M labels/s", rate(labels as f64) / 1e6),
            _ => String::new(),
        };
        format!("{}\n", format!("{step:<19} {seconds:>9.6} s  {rates}").trim_end())
    };
    timing.steps().iter().map(line).collect()
}
