//! `laneval compare`: which run is better, by how much, and how certain that is.

mod baseline;
mod groups;
pub mod printed;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use laneval::compare::{
    Alternative, Comparison, ComparisonOptions, Correction, Gate, Interval, Method, Partial,
    Permutations, Scope, Test, Zeros, judged_measure,
};
use laneval::measure::Measure;
use laneval::report::{ComparisonReport, Format, GroupKind, Note, ReportOptions, RunOrder, notes};
use laneval::{Evaluator, Groups, JudgedBy, LabelMatrix, Scores, Stat, Watch};

use super::asked::EvaluationOptions;
use super::choice::{
    NamedChoice, OverJudges, alternatives, corrections, intervals, one_of, scopes, tests,
};
use super::evaluation::{self, scores_with_summary};
use super::gates;
use super::inputs::{EvaluationInputs, named};
use super::judges;
use super::output::print_text;
use super::page::PageOrigin;
use super::progress::{Progress, WorkAmount};
use super::queries;
use super::refused::{self, Wish};
use super::score_output::ReportOutput;
use super::stop::Stop;
use super::style::{say, tell};
use super::titles;
use groups::GroupsCompared;

const EXAMPLES: &str = "\
Examples:
  laneval compare qrels.txt bm25.run dense.run hybrid.run
  laneval compare qrels.txt bm25.run new.run --baseline bm25.run -m nDCG@10 -q
  laneval compare qrels.txt old.run new.run --fail-if 'AP drops > 0.005 p<0.05'
  laneval compare qrels.txt bm25.run dense.run -o report.html -o summary.md
  laneval compare qrels.txt a.run b.run --fail-if 'AP drops > 1%' -o gates.xml
  laneval compare trec8.lmx --correction maxt --family all -o comparison.csv
  laneval compare qrels.txt a.run b.run --margin 0.01 --power 0.01
  laneval eval qrels.txt main.run --per-query -o main.jsonl && \\
    laneval compare qrels.txt new.run --baseline main.jsonl
  laneval compare qrels.1 a=a.1 b=b.1 --partial 1.part && laneval merge *.part";

const USAGE: &str = "laneval compare [OPTIONS] <QRELS> <RUN> <RUN>...\n       laneval compare \
                     [OPTIONS] <FILE.lmx>...";

/// Compare runs: which is better, by how much, and how sure that is.
///
/// All runs are compared over the same queries: --queries both takes the judged queries that are in
/// all runs, where `eval` takes those of each run.
#[derive(Debug, Args)]
#[command(override_usage = USAGE, after_help = EXAMPLES)]
pub struct Compare {
    /// Judgments and then two or more runs, in any format, plain or compressed; name=path gives a
    /// run a name. Or label matrices
    ///
    /// Formats are TREC text, TSV, CSV, JSON and LETOR (see docs/formats.md), compressed by gzip or
    /// zstd. `laneval build` makes label matrices (.lmx).
    #[arg(value_name = "FILES", hide_default_value = true)]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    asked: EvaluationOptions,

    /// Compare with this run, or with scores in a file [default: every pair]
    ///
    /// A run is given by its name or path. The file is what `laneval eval --per-query` wrote of one
    /// run, as tsv, csv, json or jsonl; name=path gives the run a name. It must have the same
    /// queries and measures.
    #[arg(long, value_name = "RUN|FILE", help_heading = "Comparison")]
    baseline: Option<String>,
    /// The test whose p decides
    #[arg(long, value_name = "TEST", default_value = "t", value_parser = one_of(tests()))]
    #[arg(help_heading = "Comparison")]
    test: Test,
    /// The alternative to the hypothesis that runs are equal
    #[arg(
        long, value_name = "WHAT", default_value = "two-sided",
        value_parser = one_of(alternatives())
    )]
    #[arg(help_heading = "Comparison")]
    alternative: Alternative,
    /// The level of significance
    #[arg(long, value_name = "P", default_value = "0.05", help_heading = "Comparison")]
    alpha: f64,
    /// The correction of p for the number of comparisons
    #[arg(long, value_name = "HOW", default_value = "holm", value_parser = one_of(corrections()))]
    #[arg(help_heading = "Comparison")]
    correction: Correction,
    /// The comparisons that are corrected together
    #[arg(long, value_name = "WHAT", default_value = "measure", value_parser = one_of(scopes()))]
    #[arg(help_heading = "Comparison")]
    family: Scope,
    /// The intervals of differences
    #[arg(long, value_name = "HOW", default_value = "t", value_parser = one_of(intervals()))]
    #[arg(help_heading = "Comparison")]
    ci: Interval,
    /// The number of random sign draws for the randomisation test; `auto` draws until every p is
    /// clear, `exact` also counts all flips of signs for pairs of which at most 40 queries differ
    /// [default: 99999 if that takes seconds]
    ///
    /// With --test randomisation the exact p decides where at most 40 queries differ, unless a
    /// number of draws is given.
    #[arg(long, value_name = "N", value_parser = permutations, help_heading = "Comparison")]
    permutations: Option<Permutations>,
    /// The seed of all random draws [default: 0x6c616e6576616c31]
    #[arg(long, value_name = "N", value_parser = seed, help_heading = "Comparison")]
    seed: Option<u64>,
    /// The difference that matters: two one-sided tests
    ///
    /// Below this margin differences do not matter in practice.
    #[arg(long, value_name = "DELTA", help_heading = "Comparison")]
    margin: Option<f64>,
    /// Print how many queries find this difference
    ///
    /// They do so four times in five.
    #[arg(long, value_name = "DELTA", help_heading = "Comparison")]
    power: Option<f64>,
    /// The largest difference of a query that is a tie [default: rounding]
    #[arg(long, value_name = "EPS", help_heading = "Comparison")]
    tie: Option<f64>,
    /// The treatment of differences of 0 in Wilcoxon's test
    #[arg(long, value_name = "HOW", default_value = "wilcox", value_parser = one_of(zeros()))]
    #[arg(help_heading = "Comparison")]
    zeros: Zeros,
    /// The method for the p of Wilcoxon's test
    #[arg(long, value_name = "HOW", default_value = "auto", value_parser = one_of(methods()))]
    #[arg(help_heading = "Comparison")]
    wilcoxon: Method,
    /// The largest value of a query under a measure in any part of a comparison; `laneval merge`
    /// says when it is needed
    #[arg(long, value_name = "MEASURE=VALUE", value_parser = largest, help_heading = "Comparison")]
    largest: Vec<(Measure, f64)>,
    /// Print the two-way analysis of variance
    #[arg(long, help_heading = "Comparison")]
    anova: bool,

    /// Exit with code 1 where this holds: 'AP drops > 1%'
    ///
    /// The option may be repeated. MEASURE < NUMBER (also <=, >, >=) looks at the run's mean.
    /// `drops`, `rises` (where lower is better) and `worse` look at how much worse the run is than
    /// the baseline, or than the first run: 'nDCG@10 drops > 0.005', 'nDCG@10 drops > 1%', 'AP
    /// worse p<0.05'. `may drop > 0.005` fails unless the data show that a drop is smaller. A gate
    /// without p is about these queries, a gate with p about queries like these; a deterministic
    /// system on a fixed set needs no p. A gate with p<0.05 stops up to 5 % of builds that changed
    /// nothing, and k gates stop up to k × 5 %. A gate that cannot be computed is exit code 2,
    /// never a pass.
    #[arg(long, value_name = "GATE", value_parser = gates::parse, help_heading = "Gates")]
    fail_if: Vec<Gate>,

    /// Compare groups too; lines of query, tab, group
    ///
    /// They are groups of queries. A query may be in several groups, or in none. Gates are judged
    /// in each group as well as over all queries. p is corrected within each group.
    #[arg(long, value_name = "FILE", help_heading = "Comparison")]
    group_by: Option<PathBuf>,

    /// Show the texts of queries on the page, from a file: lines of id and text, TSV or CSV with a
    /// header, JSON, JSONL as of BEIR, or topics of TREC
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    titles: Option<PathBuf>,
    /// Write the values and differences of queries too
    ///
    /// A table has the queries that differ most.
    #[arg(short = 'q', long, help_heading = "Output")]
    per_query: bool,
    /// Order the runs by this measure, or as `input`
    ///
    /// The best is first. It is the order of tables, and without this option that by the first
    /// measure from six runs on, as on pages. Formats for programs keep the order of the input.
    #[arg(long, value_name = "MEASURE", value_parser = order, help_heading = "Output")]
    sort: Option<RunOrder>,
    /// Show only the first N runs in tables
    #[arg(
        long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..),
        help_heading = "Output"
    )]
    top: Option<u32>,
    /// Write a sentence for every pair of runs
    #[arg(long, help_heading = "Output")]
    all_pairs: bool,
    #[command(flatten)]
    report: ReportOutput,
    /// Write a partial result too, for `laneval merge`
    ///
    /// It is the comparison over these queries, and is added to those of other queries. It holds
    /// exact sums for each run and measure, among them one for each draw of signs: 0.8 MB. All
    /// parts need the same runs, named by name=path, and the same options.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    partial: Option<PathBuf>,
    /// Print on stderr what was read
    #[arg(short, long, help_heading = "Output")]
    verbose: bool,
    /// Print no notes on stderr; warnings stay
    #[arg(long, help_heading = "Output")]
    quiet: bool,
}

/// A comparison, with its scores, notes and shares of judged documents.
struct ComparedScores {
    scores: Scores,
    /// The notes on the baseline and on groups.
    notes: Vec<Note>,
    /// The comparison, with the shares of judged documents.
    comparison: Comparison,
    /// The part of the comparison, if `--partial` asks for it.
    part: Option<Partial>,
    /// The shares of judged documents, with those of groups.
    judged: Option<Scores>,
}

fn zeros() -> Vec<NamedChoice<Zeros>> {
    vec![
        ("wilcox", Zeros::Wilcox, "they are left out"),
        ("pratt", Zeros::Pratt, "they have ranks, which are left out"),
    ]
}

fn methods() -> Vec<NamedChoice<Method>> {
    vec![
        ("auto", Method::Auto, "exactly up to 50 differences, else by the normal distribution"),
        ("normal", Method::Normal, "by the normal distribution"),
    ]
}

fn permutations(text: &str) -> Result<Permutations, String> {
    match text {
        "auto" => Ok(Permutations::Auto),
        "exact" => Ok(Permutations::Exact),
        _ => text
            .parse()
            .ok()
            .filter(|&draws| draws > 0)
            .map(Permutations::Fixed)
            .ok_or_else(|| "a number, 1 or more, `auto` or `exact` was expected".to_owned()),
    }
}

/// Reads the order of the runs: a measure, or `input`.
fn order(text: &str) -> Result<RunOrder, String> {
    match text {
        "input" => Ok(RunOrder::Input),
        _ => text.parse::<Measure>().map(RunOrder::By).map_err(|error| error.to_string()),
    }
}

fn seed(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| "a whole number of 64 bits was expected, such as 42 or 0x2a".to_owned())
}

impl Compare {
    /// Returns whether a GPU is asked for.
    pub fn names_a_gpu(&self) -> bool {
        self.asked.names_a_gpu()
    }

    /// Takes the measures of a stored baseline, if none are asked for.
    fn take_measures(&mut self) {
        if let Some(baseline) = &self.baseline {
            let (_, paths) = named(&self.inputs);
            let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
            self.asked.take_measures(|| baseline::measures(baseline, &paths));
        }
    }

    /// Runs the command.
    pub fn run(mut self, words: &[OsString]) -> Result<(), Stop> {
        if self.asked.is_help() {
            return print_text(true, |to| writeln!(to, "{}", super::measures::way()));
        }
        self.take_measures();
        self.asked.read_for_measures()?;
        let options = self.checked_options()?;
        let evaluator = self.evaluator()?;
        let look = self.look(evaluator.measures())?;
        let paths = self.paths();
        let targets = self.report.targets(&paths)?;
        printed::check(&targets, &self.fail_if)?;
        let formats: Vec<Format> = targets.iter().map(|target| target.format).collect();
        self.check_formats(&formats)?;
        let has_page = formats.contains(&Format::Html);
        let partial = self.report.partial(self.partial.as_deref(), &paths)?;
        let groups = self.group_by.as_deref().map(queries::groups).transpose()?;
        self.titles.as_deref().map_or(Ok(()), titles::check)?;
        let inputs = EvaluationInputs::of(&self.inputs)?;
        self.asked.threads.install_for(inputs.bytes(), || {
            let matrices = inputs.load(
                &self.asked.ranking.with_shared_judgments(),
                (self.asked.files, self.asked.naming),
                self.quiet,
            )?;
            let progress = Progress::start("comparing", WorkAmount::Draws, self.quiet);
            let watch = progress.watch();
            let mut compared = self.compared(
                (&evaluator, groups.as_ref()),
                &inputs,
                &matrices,
                options,
                watch.as_deref(),
            )?;
            let of_groups =
                self.groups(&evaluator, &matrices, groups.as_ref(), &compared, watch.as_deref())?;
            drop(progress);
            compared.notes.extend(of_groups.notes);
            let ComparedScores { scores, notes, comparison, part, .. } = compared;
            self.tell(&inputs, &matrices, &scores, &notes, &comparison);
            let gates = printed::judged(&comparison, &self.fail_if)?;
            let groups = groups::judged(of_groups.comparisons, &self.fail_if)?;
            let origin = if has_page {
                self.origin(words, &inputs, (&evaluator, &matrices), &comparison)?
            } else {
                PageOrigin::default()
            };
            if let (Some(partial), Some(part)) = (partial, part) {
                let bytes = part.to_bytes();
                partial.write(|to| to.write_all(&bytes))?;
            }
            let mut report = ComparisonReport::new(&comparison, &gates);
            report.groups = &groups;
            report.kind = if self.each_judge() { GroupKind::Judge } else { GroupKind::Queries };
            printed::write(&report, &look, &origin, targets, self.quiet)
        })
    }

    /// Refuses what no output has a place for.
    fn check_formats(&self, formats: &[Format]) -> Result<(), Stop> {
        let is_any = |of: &[Format]| formats.iter().any(|format| of.contains(format));
        let tables = [Format::Table, Format::Markdown, Format::Latex];
        refused::check([
            (Wish::Titles, self.titles.is_some()),
            (Wish::NoPage, !is_any(&[Format::Html])),
            (Wish::TableRows, self.sort.is_some() || self.top.is_some()),
            (Wish::NoTable, !is_any(&tables)),
            (Wish::AllPairs, self.all_pairs),
            (Wish::NoSentences, !is_any(&tables) && !is_any(&[Format::Json])),
        ])
    }

    /// Returns the options of the comparison; what does not go together is refused.
    fn checked_options(&self) -> Result<ComparisonOptions, Stop> {
        let own = [
            (Wish::Compare, true),
            (Wish::ComparedJudges, self.each_judge()),
            (Wish::ComparedGroups, self.group_by.is_some()),
            (Wish::Partial, self.partial.is_some()),
        ];
        refused::check(own.into_iter().chain(refused::of_ties(self.asked.ranking.ties)))?;
        let options = self.options();
        options.check()?;
        if self.partial.is_some() {
            options.check_partial()?;
        }
        Ok(options)
    }

    fn evaluator(&self) -> Result<Evaluator, Stop> {
        if self.each_judge() {
            judges::check(&self.asked.asked_measures()?)?;
        }
        let evaluator = self.asked.evaluator()?.with_per_query(true).with_missing_ids(true);
        let evaluator = evaluator.with_stats([Stat::Average]);
        let evaluator =
            gates::with_measures(evaluator, &self.fail_if).with_only(self.asked.only()?);
        evaluator.check_tied()?;
        Ok(evaluator)
    }

    /// Returns all files that are read.
    fn paths(&self) -> Vec<PathBuf> {
        let stored = self.baseline.as_deref().and_then(baseline::file).map(|(_, path)| path);
        let beside = [self.asked.only.clone(), self.group_by.clone(), self.titles.clone(), stored];
        named(&self.inputs).1.into_iter().chain(beside.into_iter().flatten()).collect()
    }

    /// Compares groups of queries, or by each judge, as far as that is asked for.
    fn groups(
        &self,
        evaluator: &Evaluator,
        matrices: &[LabelMatrix],
        groups: Option<&Groups>,
        compared: &ComparedScores,
        watch: Option<&Watch>,
    ) -> Result<GroupsCompared, Stop> {
        let ComparedScores { scores, comparison, judged, .. } = compared;
        match groups {
            Some(groups) => groups::of_queries(groups, scores, judged.as_ref(), comparison, watch),
            None if self.each_judge() => groups::of_judges(evaluator, matrices, comparison, watch),
            None => Ok(GroupsCompared::default()),
        }
    }

    fn each_judge(&self) -> bool {
        self.asked.judges == Some(OverJudges::Each)
    }

    /// Returns the look of the report. Rejects a sort by a measure that is not among the compared
    /// `measures`.
    fn look(&self, measures: &[Measure]) -> Result<ReportOptions, Stop> {
        let mut look = self.report.options(self.per_query);
        look.order = self.sort.clone().unwrap_or_default();
        look.top = self.top.map(|top| top as usize);
        look.all_pairs = self.all_pairs;
        match &look.order {
            RunOrder::By(measure) if !measures.contains(measure) => {
                let known: Vec<String> = measures.iter().map(ToString::to_string).collect();
                Err(Stop::new(format!(
                    "--sort {measure}: it is not compared, but {}",
                    known.join(", ")
                )))
            }
            _ => Ok(look),
        }
    }

    /// Returns the origin of the numbers of a page.
    fn origin(
        &self,
        words: &[OsString],
        inputs: &EvaluationInputs,
        (evaluator, matrices): (&Evaluator, &[LabelMatrix]),
        comparison: &Comparison,
    ) -> Result<PageOrigin, Stop> {
        let origin = PageOrigin::of(words, inputs)?.titled(self.report.title());
        let origin = origin.with_matrices(&self.asked, evaluator, matrices)?;
        let origin = origin.with_documents(comparison, inputs, &self.asked, evaluator);
        let Some(path) = &self.titles else { return Ok(origin) };
        let (titles, note) = titles::read(path, comparison.query_ids())?;
        let loud = |note: &Note| !self.quiet || matches!(note, Note::Warning(_));
        note.filter(loud).iter().for_each(say);
        origin.with_titles(titles).with_file("texts of queries", path)
    }

    fn options(&self) -> ComparisonOptions {
        let mut options = ComparisonOptions::default();
        options.test = self.test;
        options.alternative = self.alternative;
        options.alpha = self.alpha;
        options.correction = self.correction;
        options.family = self.family;
        options.interval = self.ci;
        options.permutations = self.permutations.unwrap_or_default();
        options.seed = self.seed.unwrap_or(laneval::compare::SEED);
        options.margin = self.margin;
        options.power = self.power;
        options.tie = self.tie;
        options.zeros = self.zeros;
        options.wilcoxon = self.wilcoxon;
        options.anova = self.anova;
        options.largest = self.largest.clone();
        options
    }

    /// Compares the runs of matrices.
    fn compared(
        &self,
        (evaluator, groups): (&Evaluator, Option<&Groups>),
        inputs: &EvaluationInputs,
        matrices: &[LabelMatrix],
        mut options: ComparisonOptions,
        watch: Option<&Watch>,
    ) -> Result<ComparedScores, Stop> {
        let (mut scores, summary) = match self.partial {
            Some(_) => {
                let (scores, summary) = scores_with_summary(evaluator, matrices)?;
                (scores, Some(summary))
            }
            None => (evaluation::scores(evaluator, matrices)?, None),
        };
        let runs = scores.runs.len();
        let paths = inputs.run_paths();
        let of = |text| baseline::of(text, &paths, &mut scores);
        let baseline = self.baseline.as_deref().map(of).transpose()?;
        let (name, note) = baseline.unzip();
        options.baseline = name;
        let stored = scores.runs.len() > runs;
        refused::check([(Wish::Partial, summary.is_some()), (Wish::StoredBaseline, stored)])?;
        // If other documents are dropped, every share is 1. Of passages none is judged as a whole.
        let of_documents = matrices.iter().all(|matrix| matrix.judged_by() != Some(JudgedBy::Span));
        let judged = (of_documents && !evaluator.view().judged_only)
            .then(|| of_judged(evaluator, &scores.measures));
        let mut shares = None;
        let (comparison, part) = match summary {
            Some(summary) => {
                let judged =
                    judged.map(|judged| scores_with_summary(&judged, matrices)).transpose()?;
                let judged = judged.as_ref().map(|(_, summary)| summary);
                let (comparison, part) = Partial::of(&scores, &summary, judged, &options)?;
                (comparison, Some(part))
            }
            None => {
                let mut comparison = Comparison::watched(&scores, &options, watch)?;
                if let Some(judged) = judged {
                    let judged =
                        evaluation::scores(&judged.with_groups(groups.cloned()), matrices)?;
                    comparison.set_judged(&judged);
                    shares = Some(judged);
                }
                (comparison, None)
            }
        };
        let notes = note.flatten().into_iter().collect();
        Ok(ComparedScores { scores, notes, comparison, part, judged: shares })
    }

    /// Prints the notes of a comparison.
    fn tell(
        &self,
        inputs: &EvaluationInputs,
        matrices: &[LabelMatrix],
        scores: &Scores,
        of_inputs: &[Note],
        comparison: &Comparison,
    ) {
        let loud = |note: &&Note| !self.quiet || matches!(note, Note::Warning(_));
        let rules = self.asked.rule_notes(inputs, matrices);
        let ignored = self.asked.rel_note(&scores.measures);
        let few = printed::few(comparison, &self.fail_if);
        let of_scores = notes(scores);
        // Queries without a value are noted with the scores, and with the comparison, which may
        // have none.
        let mut of_comparison: Vec<Note> = printed::notes(comparison);
        of_comparison.retain(|note| !of_scores.contains(note));
        let threads = self.asked.threads.note();
        let all = threads
            .iter()
            .chain(&rules)
            .chain(&ignored)
            .chain(of_inputs)
            .chain(&of_scores)
            .chain(&of_comparison)
            .chain(&few);
        all.filter(loud).for_each(say);
        if self.verbose {
            self.asked.ranking.formats.lines().iter().for_each(tell);
        }
    }
}

/// Makes an evaluator of the shares of judged documents at the cutoffs of measures.
fn of_judged(evaluator: &Evaluator, measures: &[Measure]) -> Evaluator {
    let mut judged: Vec<Measure> = Vec::new();
    for measure in measures.iter().map(judged_measure) {
        if !judged.contains(&measure) {
            judged.push(measure);
        }
    }
    evaluator.clone().with_measures(judged).with_per_query(false).with_tied(Default::default())
}

/// Reads the largest value under a measure.
fn largest(text: &str) -> Result<(Measure, f64), String> {
    let (measure, value) =
        text.rsplit_once('=').ok_or("MEASURE=VALUE was expected, such as DCG=16")?;
    let measure = measure.parse::<Measure>().map_err(|error| error.to_string())?;
    Ok((measure, value.parse().map_err(|_| format!("`{value}` is not a number"))?))
}
