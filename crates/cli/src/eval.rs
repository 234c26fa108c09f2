//! `laneval eval`: evaluates judgments and runs, or label matrices.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use laneval::compare::Gate;
use laneval::internals::{Evaluation, Timing};
use laneval::options::{Given, TieRule};
use laneval::report::{Format, Note, html, notes};
use laneval::{
    EngineChoice, Error, Evaluator, LabelMatrix, Notice, Scores, Stat, Summary, TiedValue,
};

use super::{
    cli_error::{CliError, CliResult},
    command_row::{Arguments, CommandRow, Inputs},
    conflicts::{self, Requested},
    evaluation_options::{EvaluationOptions, stats},
    gates,
    inputs::{EvaluationInputs, TEXTS, map_matrices, named_runs},
    judges,
    output::{Output, print_text},
    page::{self, PageProvenance},
    pipe::{self, PipedRun, StreamedResults},
    progress::{Progress, WorkAmount},
    queries,
    score_output::{ReportOutput, ReportTarget},
    style::{pluralize, print_line, print_note, print_notes},
};

/// `laneval eval`.
pub const COMMAND: CommandRow = CommandRow {
    name: "eval",
    first: "Evaluate runs against qrels",
    usage: &["eval [OPTIONS] <QRELS> <RUN>...", "eval [OPTIONS] <FILE.lmx>..."],
    inputs: Some(Inputs {
        name: "FILES",
        first: "Qrels, then runs (or name=path); or label matrices (.lmx)",
        more: TEXTS,
        count: (0, usize::MAX),
        is_last: false,
    }),
    examples: &[
        "laneval eval qrels.txt bm25.run dense.run",
        "laneval eval qrels.txt bm25.run -m nDCG@10,'R@[10,100,1000]' --stat std,ci95",
        "laneval eval qrels.txt bm25.run --per-query -o scores.csv",
        "zcat dense.run.gz | laneval eval qrels.txt - -m 'nDCG(gain=exp2)@10'",
        "laneval eval trec8.lmx -m AP --format json",
        "laneval eval qrels.txt bm25.run -m 'nDCG@1..50' -o curve.svg",
        "laneval eval qrels.1 bm25=run.1 --partial 1.part && laneval merge *.part",
    ],
    run: |arguments| {
        let Arguments { given, inputs, words, .. } = arguments;
        let gates = gates::given(&given)?;
        let eval = Eval { evaluation: EvaluationOptions::new(given), gates, inputs };
        eval.run(&words).map_err(CliError::with_duplicates_hint)
    },
    ..CommandRow::NEW
};

/// The options and inputs of `laneval eval`.
struct Eval {
    evaluation: EvaluationOptions,
    /// The gates of `--fail-if`.
    gates: Vec<Gate>,
    inputs: Vec<PathBuf>,
}

/// The scores of label matrices, with their summary for `laneval merge` if `--partial` asks for it.
struct ScoredMatrices {
    scores: Scores,
    summary: Option<Summary>,
}

impl ScoredMatrices {
    fn append(&mut self, other: Self) -> Result<(), Error> {
        self.scores.append(other.scores)?;
        match (&mut self.summary, &other.summary) {
            (Some(all), Some(summary)) => all.append(summary),
            _ => Ok(()),
        }
    }
}

/// The places that `laneval eval` writes to: reports of scores, and the summary for `laneval
/// merge`.
struct EvalOutputs {
    scores: Vec<ReportTarget>,
    summary: Option<Output>,
    /// The origin of the numbers, for a page.
    origin: Option<PageProvenance>,
}

impl Eval {
    fn given(&self) -> &Given {
        self.evaluation.given()
    }

    fn written(&self) -> ReportOutput<'_> {
        ReportOutput(self.given())
    }

    /// Runs `laneval eval`: evaluates runs, and writes their scores.
    fn run(mut self, words: &[OsString]) -> CliResult<()> {
        if self.evaluation.is_help() {
            return print_text(true, |to| writeln!(to, "{}", super::measures::list_hint()));
        }
        self.evaluation.apply_library()?;
        let paths = self.paths();
        let explains = self.given().flag("explain");
        let scores = if explains { Vec::new() } else { self.written().score_targets(&paths)? };
        let formats: Vec<Format> = if explains {
            vec![self.written().format_on_stdout()?]
        } else {
            scores.iter().map(|target| target.format).collect()
        };
        let evaluator = self.evaluator(&formats)?;
        for format in formats.iter().filter(|_| !explains) {
            ReportOutput::check_curve(*format, evaluator.measures())?;
        }
        self.over_ties(&evaluator)?.try_for_each(|evaluator| evaluator.check_tied())?;
        let summary = self.written().partial(&paths)?;
        let evaluator = evaluator.with_query_filter(self.evaluation.read_query_filter()?);
        let inputs = EvaluationInputs::from_args(&self.inputs)?;
        let evaluator = evaluator.with_groups(self.evaluation.read_groups(&inputs)?);
        self.evaluation.threads()?.install_for(inputs.bytes(), || {
            let has_page = scores.iter().any(|target| target.format == Format::Html);
            let origin = has_page.then(|| PageProvenance::new(words, &inputs)).transpose()?;
            let origin = origin.map(|origin| origin.with_title(self.written().title()));
            let to = EvalOutputs { scores, summary, origin };
            self.evaluate(&evaluator, &inputs, to)
        })
    }

    /// Returns the paths of all files that `laneval eval` reads: inputs, queries, and groups of
    /// queries.
    fn paths(&self) -> Vec<PathBuf> {
        let (_, paths) = named_runs(&self.inputs);
        let of_queries =
            ["only-queries", "group-by"].into_iter().filter_map(|id| self.given().path(id));
        paths.into_iter().chain(of_queries.map(Path::to_owned)).collect()
    }

    fn evaluate(
        &self,
        evaluator: &Evaluator,
        inputs: &EvaluationInputs,
        mut to: EvalOutputs,
    ) -> CliResult<()> {
        let mut timing = Timing::default();
        let start = Instant::now();
        let read =
            if matches!(inputs, EvaluationInputs::Text(..)) { "read and join" } else { "open" };
        let (matrices, why) = match self.piped(evaluator, inputs)? {
            None => (timing.time(read, || inputs.load(&self.evaluation.ranking))?, None),
            Some(PipedRun::Buffered(matrix, why)) => {
                timing.add(read, start.elapsed());
                (vec![*matrix], why)
            }
            Some(PipedRun::Streamed(gone)) => {
                timing.add("read and evaluate", start.elapsed());
                return self.write_streamed(evaluator, *gone, start.elapsed(), to, timing);
            }
        };
        let read = start.elapsed();
        let start = Instant::now();
        let explains = self.given().flag("explain");
        let is_hidden = self.given().flag("quiet") || explains;
        let progress = Progress::start("evaluating", WorkAmount::Bytes(None), is_hidden);
        let watched = evaluator.clone().with_progress(progress.watch());
        let mut evaluation =
            timing.time("engine", || Evaluation::for_matrices(&watched, &matrices))?;
        self.note_cpu_fallback(evaluation.gpu_refusal());
        if explains {
            return self.explain(evaluator, &evaluation, &matrices);
        }
        let done = self.all_scores(&watched, &mut evaluation, &matrices, &mut timing)?;
        drop(progress);
        let of_judges = self.judge_notes(&done.scores);
        let evaluated = start.elapsed();
        let rules =
            why.map(Note::Note).into_iter().chain(self.evaluation.rule_notes(inputs, &matrices));
        let rules = rules.chain(of_judges).collect();
        if let Some(origin) = to.origin.take() {
            to.origin = Some(origin.with_matrices(&self.evaluation, evaluator, &matrices)?);
        }
        self.write(
            evaluator,
            done,
            rules,
            || self.report_work(evaluator, &evaluation, &matrices, read, evaluated),
            to,
            timing,
            |timing| {
                let runs = matrices.iter().flat_map(|matrix| matrix.runs());
                let results = runs.map(|run| run.results).sum();
                timings(timing, inputs.bytes(), results, count_labels(&matrices))
            },
        )
    }

    /// Writes the scores of a run that was evaluated query by query while its text came through a
    /// pipe.
    fn write_streamed(
        &self,
        evaluator: &Evaluator,
        streamed: StreamedResults,
        took: Duration,
        to: EvalOutputs,
        timing: Timing,
    ) -> CliResult<()> {
        let StreamedResults { scores, summary, engine, queries, results } = streamed;
        let notes = self.evaluation.ranking.formats.notes();
        self.write(
            evaluator,
            ScoredMatrices { scores, summary },
            notes.into_iter().chain(self.evaluation.library_notes(None)).collect(),
            || self.report_passed(evaluator, &engine, queries, results, took),
            to,
            timing,
            |timing| timings(timing, None, results, 0),
        )
    }

    /// Returns notes on how far judges agree, if `--judges each` asks for the scores of each judge.
    fn judge_notes(&self, scores: &Scores) -> Vec<Note> {
        if self.evaluation.has_each_judge() { judges::notes(scores) } else { Vec::new() }
    }

    /// Reads a run that comes through a pipe, and evaluates it meanwhile if it need not be held.
    fn piped(
        &self,
        evaluator: &Evaluator,
        inputs: &EvaluationInputs,
    ) -> CliResult<Option<PipedRun>> {
        let EvaluationInputs::Text(qrels, runs) = inputs else { return Ok(None) };
        let ranking = &self.evaluation.ranking;
        // What needs all results at once, or the run twice, holds it: several runs, names by tags,
        // ties, judgments by facet, a plan to explain, a GPU.
        if runs.len() != 1
            || self.given().flag("buffer")
            || ranking.naming().needs_tags()
            || self.given().flag("explain")
            || ranking.keeps_ties()
            || ranking.facet()?.is_some()
            || evaluator.engine() == EngineChoice::Gpu
        {
            return Ok(None);
        }
        let has_partial = self.written().has_partial();
        let quiet = self.given().flag("quiet");
        pipe::read(evaluator, &ranking.rule()?, qrels, &runs[0], has_partial, quiet)
    }

    /// Writes the scores to the outputs, and prints notes and, with `--verbose`, what was done.
    #[allow(clippy::too_many_arguments)]
    fn write(
        &self,
        evaluator: &Evaluator,
        done: ScoredMatrices,
        rules: Vec<Note>,
        work: impl FnOnce(),
        to: EvalOutputs,
        mut timing: Timing,
        timings: impl FnOnce(&Timing) -> String,
    ) -> CliResult<()> {
        let ScoredMatrices { mut scores, summary } = done;
        if let Some(neighbours) = self.evaluation.ranking.formats.neighbours() {
            scores.notices.extend(evaluator.neighbour_notices(neighbours as usize));
        }
        self.check_groups(evaluator, &mut scores)?;
        let threads = self.evaluation.threads()?.note();
        let ignored = self.evaluation.rel_note(evaluator.measures());
        let before = threads.iter().chain(&rules).chain(&ignored);
        let quiet = self.given().flag("quiet");
        print_notes(before.chain(&notes(&scores)), quiet);
        if self.given().flag("verbose") {
            work();
        }
        if let (Some(to), Some(summary)) = (to.summary, summary) {
            let bytes = summary.to_bytes();
            timing.time("summary", || to.write(|to| to.write_all(&bytes)))?;
        }
        let options = self.written().score_options(self.needs_per_query(), &scores)?;
        // Scores are written even if a gate cannot be computed; the results of gates are not.
        let cases = gates::check_gates(&scores, &self.gates);
        timing.time("report", || {
            to.scores.into_iter().try_for_each(|target| match (target.format, &to.origin) {
                (Format::Html, Some(origin)) => target.write(|mut out| {
                    let runs = scores.runs.iter().filter(|run| run.group.is_none());
                    let title = format!("Scores of {}", page::names(runs.map(|run| &run.name[..])));
                    html::scores(&scores, &origin.context(&title), &mut out)
                }),
                (Format::Junit, _) => gates::write(&cases, "laneval eval", target),
                _ => {
                    let look = target.report_options(&options);
                    target.write_scores(&scores, &look)
                }
            })
        })?;
        if self.given().flag("timing") {
            print_line(timings(&timing).trim_end());
        }

        let cases = cases?;
        gates::print_passed(&cases, quiet);
        gates::exit_status(&cases, false)
    }

    /// Rejects groups of queries (`--group-by`) none of which has a judged query. A shard need not
    /// have queries of every group, nor of any.
    fn check_groups(&self, evaluator: &Evaluator, scores: &mut Scores) -> CliResult<()> {
        if self.written().has_partial() {
            scores.notices.retain(|notice| !matches!(notice, Notice::EmptyGroups { .. }));
        }
        let are_all_empty = scores.notices.iter().any(|notice| match notice {
            Notice::EmptyGroups { groups, total } => groups.len() == *total,
            _ => false,
        });
        match evaluator.groups() {
            Some(groups) if are_all_empty => Err(queries::in_no_group(groups)),
            _ => Ok(()),
        }
    }

    fn evaluator(&self, formats: &[Format]) -> CliResult<Evaluator> {
        let given = self.given();
        let (stats, gates) = (stats(given)?, &self.gates);
        let [trec, page, json] =
            [Format::Trec, Format::Html, Format::Json].map(|format| formats.contains(&format));
        let each_judge = self.evaluation.has_each_judge();
        let own = [
            (Requested::EachJudge, each_judge),
            (Requested::GroupBy, given.is_given("group-by")),
            (Requested::PerQuery, given.flag("per-query")),
            (Requested::Wide, self.written().is_wide()),
            (Requested::Stat, stats.iter().any(|&stat| stat != Stat::Average)),
            (Requested::Partial, self.written().has_partial()),
            (Requested::OnlyQueries, given.is_given("only-queries")),
            (Requested::FailIf, !gates.is_empty()),
            (Requested::NoGates, gates.is_empty()),
            (Requested::Explain, given.flag("explain")),
            (Requested::ManyOutputs, self.written().has_several_outputs()),
            (Requested::Title, given.flag("explain") && self.written().title().is_some()),
        ];
        let ties = conflicts::requested_by_ties(given.tie_rule()?);
        let of_formats = formats.iter().flat_map(|&format| conflicts::requested_by_format(format));
        conflicts::check(own.into_iter().chain(ties).chain(of_formats))?;
        if each_judge {
            judges::check(&self.evaluation.requested_measures()?)?;
        }
        let evaluator = self
            .evaluation
            .evaluator()?
            .with_stats(stats)
            .with_per_query(self.needs_per_query() || trec || page && !self.is_interval());
        Ok(gates::with_measures(evaluator.with_missing_ids(json), gates))
    }

    /// Returns whether the values of each query are written, for `--per-query` or `--wide`.
    fn needs_per_query(&self) -> bool {
        self.given().flag("per-query") || self.written().is_wide()
    }

    /// Returns whether `--ties interval` was given: expected, best and worst averages over orders
    /// of equal scores.
    fn is_interval(&self) -> bool {
        self.given().tie_rule().is_ok_and(|rule| rule == TieRule::Interval)
    }

    /// Returns an evaluator for each value over orders of equal scores that `--ties` asks for.
    fn over_ties(&self, evaluator: &Evaluator) -> Result<impl Iterator<Item = Evaluator>, Error> {
        let tied_values = match self.given().tie_rule()? {
            TieRule::Interval => vec![TiedValue::Average, TiedValue::Best, TiedValue::Worst],
            TieRule::Value(tied) => vec![tied],
            TieRule::Order(_) => vec![TiedValue::Ranked],
        };
        Ok(tied_values.into_iter().map(|tied| evaluator.clone().with_tied_value(tied)))
    }

    /// Evaluates all label matrices, and returns their scores, with the summary if `--partial` asks
    /// for it. If a GPU fails that was not asked for, the CPU takes over.
    fn all_scores(
        &self,
        evaluator: &Evaluator,
        evaluation: &mut Evaluation<'_>,
        matrices: &[LabelMatrix],
        timing: &mut Timing,
    ) -> Result<ScoredMatrices, Error> {
        let mut refused = evaluation.gpu_refusal().map(str::to_owned);
        map_matrices(
            matrices,
            |matrix| {
                let done = self.scores(evaluator, evaluation, matrix, timing);
                let why = evaluation.gpu_refusal();
                // The same reason for each of many matrices is worth one note.
                self.note_cpu_fallback(why.filter(|why| refused.as_deref() != Some(*why)));
                refused = why.map(str::to_owned);
                done
            },
            ScoredMatrices::append,
        )
    }

    /// Evaluates one label matrix, and returns its scores, with the summary if `--partial` asks for
    /// it.
    fn scores(
        &self,
        evaluator: &Evaluator,
        evaluation: &mut Evaluation<'_>,
        matrix: &LabelMatrix,
        timing: &mut Timing,
    ) -> Result<ScoredMatrices, Error> {
        let scores = if self.evaluation.has_each_judge() {
            judges::evaluate_by_judge(evaluation, matrix, timing)?
        } else if self.is_interval() {
            evaluator.tie_interval(matrix)?
        } else if self.written().has_partial() {
            let (scores, summary) = evaluation.scores_and_summary(matrix, timing)?;
            return Ok(ScoredMatrices { scores, summary: Some(summary) });
        } else {
            evaluation.scores(matrix, timing)?
        };
        Ok(ScoredMatrices { scores, summary: None })
    }

    /// Prints a note that the CPU computes in place of a GPU, for the reason `why`.
    fn note_cpu_fallback(&self, why: Option<&str>) {
        if let Some(why) = why.filter(|_| !self.given().flag("quiet")) {
            print_note(&Note::Note(format!("on the CPU, because {why}")));
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
        self.evaluation.print_detected();
        print_line(format_args!("engine: {engine}"));
        print_line(format_args!(
            "read and evaluated as it came: {}, {}, {} in {:.3} s",
            pluralize(queries, "judged query"),
            pluralize(results, "result"),
            pluralize(evaluator.measures().len() as u64, "measure"),
            took.as_secs_f64()
        ));
    }

    fn explain(
        &self,
        evaluator: &Evaluator,
        evaluation: &Evaluation<'_>,
        matrices: &[LabelMatrix],
    ) -> CliResult<()> {
        let output = self.written().explained(&self.paths())?;
        // One plan serves all matrices, because all have the same judgments. The deepest matrix
        // decides how exact sums in integers are.
        let deepest = matrices.iter().max_by_key(|matrix| matrix.depths().iter().max());
        let plan = deepest
            .map(|matrix| Ok::<_, Error>((matrix, evaluator.plan(matrix.codebook())?)))
            .transpose()?;
        let ties = deepest.map(|matrix| {
            let of_values =
                self.over_ties(evaluator)?.map(|evaluator| evaluator.explain_tied(matrix));
            of_values.collect::<Result<Vec<_>, Error>>()
        });
        let ties = ties.transpose()?.unwrap_or_default().concat();
        output.write_text(true, |to| {
            writeln!(to, "engine: {}", evaluation.engine_name())?;
            ties.iter().try_for_each(|line| writeln!(to, "{line}"))?;
            let Some((matrix, plan)) = plan else { return Ok(()) };
            write!(to, "{plan}")?;
            let lines = evaluation.explain(&plan, matrix);
            lines
                .iter()
                .chain(&self.evaluation.ranking.formats.describe_detected())
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
        let runs = matrices.iter().map(|matrix| matrix.runs().len() as u64).sum();
        let queries = matrices.first().map_or(0, |matrix| matrix.queries().len() as u64);
        self.evaluation.print_detected();
        print_line(format_args!("engine: {}", evaluation.engine_name()));
        print_line(format_args!(
            "read: {}, {}, {} in {:.3} s",
            pluralize(runs, "run"),
            pluralize(queries, "judged query"),
            pluralize(count_labels(matrices), "label"),
            read.as_secs_f64()
        ));
        let measures = pluralize(evaluator.measures().len() as u64, "measure");
        print_line(format_args!("evaluated: {measures} in {:.3} s", took.as_secs_f64()));
    }
}

/// Counts the labels of all matrices, one for each retrieved document.
fn count_labels(matrices: &[LabelMatrix]) -> u64 {
    matrices.iter().flat_map(LabelMatrix::depths).map(|&depth| u64::from(depth)).sum()
}

/// Returns the text of `--timing`: each step of an evaluation on a line, with its time and rates.
fn timings(timing: &Timing, bytes: Option<u64>, results: u64, labels: u64) -> String {
    let mut lines = String::new();
    for &(step, took) in timing.steps() {
        let seconds = took.as_secs_f64();
        // A step may be shorter than the clock can tell, and no rate is infinite.
        let least = seconds.max(1e-9);
        let rates = match step {
            "read and join" => {
                let bytes = bytes.map(|bytes| format!(", {:.2} GB/s", bytes as f64 / least / 1e9));
                format!(
                    "{:.1} M results/s{}",
                    results as f64 / least / 1e6,
                    bytes.unwrap_or_default()
                )
            }
            "read and evaluate" => format!("{:.1} M results/s", results as f64 / least / 1e6),
            "folds and formulas" => format!("{:.0} M labels/s", labels as f64 / least / 1e6),
            _ => String::new(),
        };
        lines += format!("{step:<19} {seconds:>9.6} s  {rates}").trim_end();
        lines.push('\n');
    }
    lines
}
