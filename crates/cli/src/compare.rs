//! `laneval compare`: tests the differences between runs, and reports which run is better, and by
//! how much.

mod baseline;
mod groups;
mod options;
pub mod output;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use laneval::compare::{Comparison, ComparisonOptions, Gate, PartialComparison, judged_measure};
use laneval::measure::Measure;
use laneval::options::{Given, run_order};
use laneval::report::{ComparisonReport, Format, GroupKind, Note, ReportOptions, RunOrder, notes};
use laneval::{Evaluator, FacetKind, Groups, LabelMatrix, ProgressHandle, Scores, Stat};

use super::{
    cli_error::{CliResult, fail},
    command_row::{Arguments, CommandRow, Inputs},
    conflicts::{self, Requested},
    evaluation_options::EvaluationOptions,
    gates,
    inputs::{EvaluationInputs, TEXTS, named_runs},
    judges,
    output::print_text,
    page::PageProvenance,
    progress::{Progress, WorkAmount},
    score_output::ReportOutput,
    scores::{self, scores_with_summary},
    style::{comma_list, print_notes},
    topics,
};
use groups::GroupComparisons;

/// `laneval compare`.
pub const COMMAND: CommandRow = CommandRow {
    name: "compare",
    first: "Compare runs: differences, intervals, significance",
    more: "All runs are compared over the same queries: --queries common takes the judged queries \
        that are in all runs, where `eval` takes those of each run.",
    usage: &[
        "compare [OPTIONS] <QRELS> <RUN> <RUN>...",
        "compare [OPTIONS] <QRELS> <RUN>... --baseline <FILE>",
        "compare [OPTIONS] <FILE.lmx>...",
    ],
    inputs: Some(Inputs {
        name: "FILES",
        first: "Qrels, then two or more runs; or label matrices (.lmx)",
        more: TEXTS,
        count: (0, usize::MAX),
        is_last: false,
    }),
    examples: &[
        "laneval compare qrels.txt bm25.run dense.run hybrid.run",
        "laneval compare qrels.txt bm25.run new.run --baseline bm25.run -m nDCG@10 -q",
        "laneval compare qrels.txt old.run new.run --fail-if 'AP drops > 0.005 p<0.05'",
        "laneval compare qrels.txt bm25.run dense.run -o report.html -o summary.md",
        "laneval compare qrels.txt a.run b.run --fail-if 'AP drops > 1%' -o gates.xml",
        "laneval compare trec8.lmx --correction maxt --family all -o comparison.csv",
        "laneval compare qrels.txt a.run b.run --margin 0.01 --power 0.01",
        "laneval eval qrels.txt main.run --per-query -o main.jsonl && \\\n    \
            laneval compare qrels.txt new.run --baseline main.jsonl",
        "laneval compare qrels.1 a=a.1 b=b.1 --partial 1.part && laneval merge *.part",
    ],
    page: "comparing.md",
    run: |arguments| {
        let Arguments { given, inputs, words, .. } = arguments;
        let gates = gates::given(&given)?;
        Compare { evaluation: EvaluationOptions::new(given), gates, inputs }.run(&words)
    },
    ..CommandRow::NEW
};

/// A comparison of runs, as a command line asks for it.
struct Compare {
    evaluation: EvaluationOptions,
    /// The gates of `--fail-if`.
    gates: Vec<Gate>,
    inputs: Vec<PathBuf>,
}

/// The result of comparing runs: their scores, the comparison, notes, and shares of judged
/// documents.
struct ComparedScores {
    scores: Scores,
    /// The notes on the baseline and on groups.
    notes: Vec<Note>,
    /// The comparison, with the shares of judged documents.
    comparison: Comparison,
    /// The part of the comparison, if `--partial` asks for it.
    part: Option<PartialComparison>,
    /// The shares of judged documents, with those of groups.
    judged: Option<Scores>,
    /// The comparisons within groups of queries, or by each judge.
    groups: Vec<(String, Comparison)>,
}

impl Compare {
    fn given(&self) -> &Given {
        self.evaluation.given()
    }

    fn report(&self) -> ReportOutput<'_> {
        ReportOutput(self.given())
    }

    /// Takes the measures of a baseline that is a file of scores, if none were asked for by `-m`.
    fn take_measures(&mut self) {
        let Some(baseline) = self.given().text("baseline").map(str::to_owned) else { return };
        let (_, paths) = named_runs(&self.inputs);
        let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
        self.evaluation.take_measures(|| baseline::measures(&baseline, &paths));
    }

    /// Runs `laneval compare`: evaluates runs, tests their differences, and writes the reports.
    fn run(mut self, words: &[OsString]) -> CliResult<()> {
        if self.evaluation.is_help() {
            return print_text(true, |to| writeln!(to, "{}", super::measures::list_hint()));
        }
        self.take_measures();
        self.evaluation.apply_library()?;
        let options = self.checked_options()?;
        let evaluator = self.evaluator()?;
        let look = self.table_options(evaluator.measures())?;
        let paths = self.paths();
        let targets = self.report().targets(&paths)?;
        output::check(&targets, &self.gates)?;
        let formats: Vec<Format> = targets.iter().map(|target| target.format).collect();
        self.check_formats(&formats)?;
        let partial = self.report().partial(&paths)?;
        self.given().path("topics").map_or(Ok(()), topics::check)?;
        let inputs = EvaluationInputs::from_args(&self.inputs)?;
        let groups = self.evaluation.read_groups(&inputs)?;
        self.evaluation.threads()?.install_for(inputs.bytes(), || {
            let matrices = inputs.load(&self.evaluation.ranking.with_shared_judgments())?;
            let compared =
                self.compare_all(&evaluator, groups.as_ref(), &inputs, &matrices, options)?;
            self.print_notes(&inputs, &matrices, &compared)?;
            let ComparedScores { comparison, part, groups, .. } = compared;
            let gates = output::check_gates(&comparison, &self.gates)?;
            let groups = groups::check_gates(groups, &self.gates)?;
            let origin = if formats.contains(&Format::Html) {
                self.origin(words, &inputs, &evaluator, &matrices, &comparison)?
            } else {
                PageProvenance::default()
            };
            if let (Some(partial), Some(part)) = (partial, part) {
                let bytes = part.to_bytes();
                partial.write(|to| to.write_all(&bytes))?;
            }
            let mut report = ComparisonReport::new(&comparison, &gates);
            report.groups = &groups;
            report.kind = self.group_kind();
            output::write(&report, &look, &origin, targets, self.given().flag("quiet"))
        })
    }

    /// Rejects options that no requested output format has a place for, such as `--topics` without
    /// an HTML page.
    fn check_formats(&self, formats: &[Format]) -> CliResult<()> {
        let given = self.given();
        let has_table = [Format::Table, Format::Markdown, Format::Latex]
            .iter()
            .any(|table| formats.contains(table));
        conflicts::check([
            (Requested::Titles, given.is_given("topics")),
            (Requested::NoPage, !formats.contains(&Format::Html)),
            (Requested::TableRows, given.is_given("sort") || given.is_given("top")),
            (Requested::NoTable, !has_table),
            (Requested::AllPairs, given.flag("all-pairs")),
            (Requested::NoSentences, !has_table && !formats.contains(&Format::Json)),
        ])
    }

    /// Returns the options of the comparison, such as test and correction; rejects options that
    /// exclude one another.
    fn checked_options(&self) -> CliResult<ComparisonOptions> {
        let is_partial = self.report().has_partial();
        let own = [
            (Requested::Compare, true),
            (Requested::ComparedJudges, self.evaluation.has_each_judge()),
            (Requested::ComparedGroups, self.given().is_given("group-by")),
            (Requested::Partial, is_partial),
        ];
        let of_ties = conflicts::requested_by_ties(self.given().tie_rule()?);
        conflicts::check(own.into_iter().chain(of_ties))?;
        let options = options::comparison_options(self.given())?;
        options.check()?;
        if is_partial {
            options.check_partial()?;
        }
        Ok(options)
    }

    fn evaluator(&self) -> CliResult<Evaluator> {
        if self.evaluation.has_each_judge() {
            judges::check(&self.evaluation.requested_measures()?)?;
        }
        let evaluator = self.evaluation.evaluator()?.with_per_query(true).with_missing_ids(true);
        let evaluator = evaluator.with_stats([Stat::Average]);
        let evaluator = gates::with_measures(evaluator, &self.gates)
            .with_query_filter(self.evaluation.read_query_filter()?);
        evaluator.check_tied()?;
        Ok(evaluator)
    }

    /// Returns the paths of all files that `laneval compare` reads: inputs, queries, groups, texts
    /// and baseline.
    fn paths(&self) -> Vec<PathBuf> {
        let given = self.given();
        let stored = given.text("baseline").and_then(baseline::stored_scores_path);
        let beside = ["only-queries", "group-by", "topics"].into_iter();
        let beside = beside.filter_map(|id| given.path(id)).map(Path::to_owned);
        let beside = beside.chain(stored.map(|(_, path)| path));
        named_runs(&self.inputs).1.into_iter().chain(beside).collect()
    }

    /// Compares the runs over all queries, and within groups or by each judge if requested; shows
    /// the progress on a terminal, unless `--quiet` is given.
    fn compare_all(
        &self,
        evaluator: &Evaluator,
        groups: Option<&Groups>,
        inputs: &EvaluationInputs,
        matrices: &[LabelMatrix],
        options: ComparisonOptions,
    ) -> CliResult<ComparedScores> {
        let progress = Progress::start("comparing", WorkAmount::Draws, self.given().flag("quiet"));
        let watch = progress.watch();
        let watch = watch.as_deref();
        let mut compared = self.compare(evaluator, groups, inputs, matrices, options, watch)?;
        let of_groups = self.groups(evaluator, matrices, groups, &compared, watch)?;
        compared.notes.extend(of_groups.notes);
        compared.groups = of_groups.comparisons;
        Ok(compared)
    }

    /// Compares the runs within each group of queries (`--group-by`) or by each judge (`--judges
    /// each`), if requested.
    fn groups(
        &self,
        evaluator: &Evaluator,
        matrices: &[LabelMatrix],
        groups: Option<&Groups>,
        compared: &ComparedScores,
        watch: Option<&ProgressHandle>,
    ) -> CliResult<GroupComparisons> {
        let ComparedScores { scores, comparison, judged, .. } = compared;
        match groups {
            Some(groups) => {
                groups::compare_query_groups(groups, scores, judged.as_ref(), comparison, watch)
            }
            None if self.evaluation.has_each_judge() => {
                groups::compare_by_judge(evaluator, matrices, comparison, watch)
            }
            None => Ok(GroupComparisons::default()),
        }
    }

    /// Returns the kind of groups within which the runs are compared.
    fn group_kind(&self) -> GroupKind {
        if self.evaluation.has_each_judge() { GroupKind::Judge } else { GroupKind::Queries }
    }

    /// Returns the layout of the report of a comparison, such as decimals and the order of runs.
    /// Rejects a sort by a measure that is not among the compared `measures`.
    fn table_options(&self, measures: &[Measure]) -> CliResult<ReportOptions> {
        let given = self.given();
        let mut look = self.report().options(given.flag("per-query"))?;
        look.order = match given.parsed("sort", run_order)? {
            None => RunOrder::Auto,
            Some(None) => RunOrder::Input,
            Some(Some(measure)) => RunOrder::By(measure),
        };
        look.top = given.value("top")?;
        look.all_pairs = given.flag("all-pairs");
        match &look.order {
            RunOrder::By(measure) if !measures.contains(measure) => {
                let known = comma_list(measures);
                fail(format!("--sort {measure}: it is not compared, but {known}"))
            }
            _ => Ok(look),
        }
    }

    /// Returns the origin of the numbers on the HTML page of a comparison: command, files and
    /// settings.
    fn origin(
        &self,
        words: &[OsString],
        inputs: &EvaluationInputs,
        evaluator: &Evaluator,
        matrices: &[LabelMatrix],
        comparison: &Comparison,
    ) -> CliResult<PageProvenance> {
        let origin = PageProvenance::new(words, inputs)?.with_title(self.report().title());
        let origin = origin.with_matrices(&self.evaluation, evaluator, matrices)?;
        let origin = origin.with_documents(comparison, inputs, &self.evaluation, evaluator);
        let Some(path) = self.given().path("topics") else { return Ok(origin) };
        let (titles, note) = topics::read(path, comparison.query_ids())?;
        print_notes(&note, self.given().flag("quiet"));
        origin.with_query_texts(titles).with_file("texts of queries", path)
    }

    /// Compares the runs of label matrices, with the scores of a stored baseline if there is one.
    fn compare(
        &self,
        evaluator: &Evaluator,
        groups: Option<&Groups>,
        inputs: &EvaluationInputs,
        matrices: &[LabelMatrix],
        mut options: ComparisonOptions,
        watch: Option<&ProgressHandle>,
    ) -> CliResult<ComparedScores> {
        let (mut scores, summary) = if self.report().has_partial() {
            let (scores, summary) = scores_with_summary(evaluator, matrices)?;
            (scores, Some(summary))
        } else {
            (scores::scores(evaluator, matrices)?, None)
        };
        let note = self.set_baseline(&inputs.run_paths(), &mut scores, &mut options)?;
        // If other documents are dropped, every share is 1. Of passages none is judged as a whole.
        let of_documents =
            matrices.iter().all(|matrix| matrix.judged_by() != Some(FacetKind::Span));
        let judged = (of_documents && !evaluator.view().judged_only)
            .then(|| judged_evaluator(evaluator, &scores.measures));
        let mut shares = None;
        let (comparison, part) = match summary {
            Some(summary) => {
                let judged =
                    judged.map(|judged| scores_with_summary(&judged, matrices)).transpose()?;
                let judged = judged.as_ref().map(|(_, summary)| summary);
                let (comparison, part) =
                    PartialComparison::compare(&scores, &summary, judged, &options)?;
                (comparison, Some(part))
            }
            None => {
                let mut comparison = Comparison::new_with_progress(&scores, &options, watch)?;
                if let Some(judged) = judged {
                    let judged = scores::scores(&judged.with_groups(groups.cloned()), matrices)?;
                    comparison.set_judged_share(&judged);
                    shares = Some(judged);
                }
                (comparison, None)
            }
        };
        Ok(ComparedScores {
            scores,
            notes: note.into_iter().collect(),
            comparison,
            part,
            judged: shares,
            groups: Vec::new(),
        })
    }

    /// Sets the run that `--baseline` names as the baseline of a comparison; a stored one is put
    /// before the other runs, which were read from `paths`. Returns a note on the baseline.
    fn set_baseline(
        &self,
        paths: &[&Path],
        scores: &mut Scores,
        options: &mut ComparisonOptions,
    ) -> CliResult<Option<Note>> {
        let Some(text) = self.given().text("baseline") else { return Ok(None) };
        let runs = scores.runs.len();
        let (name, note) = baseline::resolve_run_name(text, paths, scores)?;
        options.baseline = Some(name);
        conflicts::check([
            (Requested::Partial, self.report().has_partial()),
            // A baseline that is a run of the command line adds no run.
            (Requested::StoredBaseline, scores.runs.len() > runs),
        ])?;
        Ok(note)
    }

    /// Prints the notes of a comparison on stderr, on inputs, rules, scores and tests.
    fn print_notes(
        &self,
        inputs: &EvaluationInputs,
        matrices: &[LabelMatrix],
        compared: &ComparedScores,
    ) -> CliResult<()> {
        let ComparedScores { scores, notes: of_inputs, comparison, .. } = compared;
        let rules = self.evaluation.rule_notes(inputs, matrices);
        let ignored = self.evaluation.rel_note(&scores.measures);
        let few = output::warn_few_queries(comparison, &self.gates);
        let of_scores = notes(scores);
        // Queries without a value are noted with the scores, and with the comparison, which may
        // have none.
        let mut of_comparison: Vec<Note> = output::notes(comparison);
        of_comparison.retain(|note| !of_scores.contains(note));
        let threads = self.evaluation.threads()?.note();
        let printed = threads
            .iter()
            .chain(&rules)
            .chain(&ignored)
            .chain(of_inputs)
            .chain(&of_scores)
            .chain(&of_comparison)
            .chain(&few);
        print_notes(printed, self.given().flag("quiet"));
        if self.given().flag("verbose") {
            self.evaluation.print_detected();
        }
        Ok(())
    }
}

/// Makes an evaluator of Judged@k, the share of judged documents, at the cutoffs of these measures.
fn judged_evaluator(evaluator: &Evaluator, measures: &[Measure]) -> Evaluator {
    // Measures of one cutoff share one column, which is evaluated once.
    let mut judged: Vec<Measure> = Vec::new();
    for measure in measures.iter().map(judged_measure) {
        if !judged.contains(&measure) {
            judged.push(measure);
        }
    }
    evaluator
        .clone()
        .with_measures(judged)
        .with_per_query(false)
        .with_tied_value(Default::default())
}
