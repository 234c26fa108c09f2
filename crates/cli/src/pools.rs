//! `laneval pools`: what each run brought to the judgments, and what it loses by not having been in
//! the pool.

use std::io::{IsTerminal, stdout};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use clap::Args;
use laneval::measure::{JudgmentInput, Measure};
use laneval::pools::{PoolOptions, PooledRun, Pools};
use laneval::report::{Format, Note, ReportOptions, notes};
use laneval::{EngineChoice, Evaluator, Known, LabelMatrix, Notice, QuerySet, ScoreType, Ties};

use super::as_library::AsLibrary;
use super::asked::{DEFAULT_MEASURES, level, measures};
use super::choice::{NamedChoice, TieRule, formats, one_of, query_sets, scores, ties};
use super::formats::FormatOptions;
use super::inputs::{EvaluationInputs, FileOptions, NameOptions, RankingOptions, named};
use super::output::{Output, unknown_extension};
use super::progress::{Progress, WorkAmount};
use super::stop::Stop;
use super::style::{counted, say, shown, stdout_has_colour, stdout_width};
use super::threads::Threads;

const EXAMPLES: &str = "\
Examples:
  laneval pools qrels.txt *.run
  laneval pools qrels.txt *.run --depth 50 -m AP --format csv -o pools.csv
  laneval pools qrels.txt uni-a=bm25.run uni-b=new.run lab=dense.run --teams -";

/// Show what each run brought to the judgments, and what it loses by not having been in the pool
///
/// The judgments of a test collection are made of the first documents of some runs. For each run
/// this counts how many judged and relevant documents it has among its first ones, and how many of
/// them no other run has there: they are unique. Then it leaves out the run: its value, and its
/// rank among all runs, without the judgments of its unique documents. That is what a new system
/// loses (Zobel 1998; Buckley and others 2007). Documents that no run given has stay judged.
#[derive(Debug, Args)]
#[command(override_usage = "laneval pools [OPTIONS] <QRELS> <RUN> <RUN>...", after_help = EXAMPLES)]
pub struct PoolsAsked {
    /// Judgments and two or more runs as TREC text, TSV, CSV, JSON or LETOR (see docs/formats.md),
    /// plain or compressed by gzip or zstd; name=path gives a run a name
    #[arg(value_name = "FILES")]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    files: FileOptions,
    #[command(flatten)]
    naming: NameOptions,
    #[command(flatten)]
    formats: FormatOptions,

    /// Measures as in `laneval eval`; may be repeated
    #[arg(short, long = "measure", value_name = "MEASURE", default_values = DEFAULT_MEASURES)]
    #[arg(help_heading = "Measures")]
    measures: Vec<String>,
    /// The lowest grade that counts as relevant, for measures that do not set it themselves
    /// [default: 1]
    #[arg(long, value_name = "GRADE", value_parser = level)]
    #[arg(allow_negative_numbers = true, help_heading = "Measures")]
    rel: Option<f64>,

    /// The depth of the pool: how many of the first documents of each run were judged
    #[arg(long, value_name = "K", default_value_t = PoolOptions::DEPTH, value_parser = depth)]
    #[arg(allow_negative_numbers = true, help_heading = "Pool")]
    depth: NonZeroU32,
    /// Leave out runs together whose names are equal up to this text: those of one team find each
    /// other's documents
    #[arg(
        long, value_name = "TEXT", value_parser = team_end, allow_hyphen_values = true,
        help_heading = "Pool"
    )]
    teams: Option<String>,

    /// The order of equal scores [default: docno-desc]
    #[arg(long, value_name = "RULE", value_parser = one_of(orders()), help_heading = "Ranking")]
    ties: Option<TieRule>,
    /// The type in which scores are compared [default: f64]
    #[arg(long, value_name = "TYPE", value_parser = one_of(scores()), help_heading = "Ranking")]
    score: Option<ScoreType>,
    /// Drop documents from the rankings whose id is that of their query, as BEIR does
    #[arg(long, help_heading = "Ranking")]
    drop_identical_ids: bool,
    /// The queries that count [default: judged]
    #[arg(long, value_name = "SET", value_parser = one_of(query_sets()))]
    #[arg(help_heading = "Ranking")]
    queries: Option<QuerySet>,
    #[command(flatten)]
    library: AsLibrary,

    /// The format [default: table on a terminal, by the extension of -o, else tsv]
    #[arg(
        long, value_name = "FORMAT", value_parser = one_of(pool_formats()), help_heading = "Output"
    )]
    format: Option<Format>,
    /// Write to this file, which appears only when it is complete
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// The number of decimals [default: 4 in tables, elsewhere as many as the number has]
    #[arg(long, value_name = "N", help_heading = "Output")]
    #[arg(value_parser = clap::value_parser!(u8).range(0..=17))]
    precision: Option<u8>,
    /// Print no notes on stderr; warnings stay
    #[arg(long, help_heading = "Output")]
    quiet: bool,
    #[command(flatten)]
    threads: Threads,
}

/// Reads the depth of a pool.
fn depth(text: &str) -> Result<NonZeroU32, String> {
    text.parse().map_err(|_| "a number of documents, 1 or more, was expected".to_owned())
}

/// Reads the text behind a team.
fn team_end(text: &str) -> Result<String, String> {
    match text {
        "" => Err("a text was expected, such as `-`".to_owned()),
        text => Ok(text.to_owned()),
    }
}

/// Lists the orders of equal scores. Which documents are within the depth follows from an order
/// only.
fn orders() -> Vec<NamedChoice<TieRule>> {
    ties().into_iter().filter(|(_, rule, _)| rule.order().is_some()).collect()
}

/// Lists the formats of pools.
fn pool_formats() -> Vec<NamedChoice<Format>> {
    let has_none = |format: &Format| {
        matches!(format, Format::Trec | Format::Html | Format::Svg | Format::Junit)
    };
    let named = formats().into_iter().filter(|(_, format, _)| !has_none(format));
    let help = |format: Format, help| match format {
        Format::Tsv => "rows of run, measure, stat, value, separated by tabs",
        Format::Json => "one document",
        _ => help,
    };
    named.map(|(name, format, text)| (name, format, help(format, text))).collect()
}

impl PoolsAsked {
    /// Runs the command.
    pub fn run(mut self) -> Result<(), Stop> {
        self.settle()?;
        let format = self.format()?;
        let evaluator = self.evaluator()?;
        let (runs, paths) = named(&self.inputs);
        let output = Output::new(self.file(), &paths)?;
        let inputs = EvaluationInputs::of(&self.inputs)?;
        let EvaluationInputs::Text(qrels, _) = &inputs else {
            return Err(Stop::new(format!(
                "{} is a label matrix, which holds no documents: give the texts that it was built \
                 from, <QRELS> <RUN> <RUN>...",
                shown(&paths[0])
            )));
        };
        if let [run] = &runs[..] {
            return Err(Stop::new(format!(
                "{} is the only run: a pool takes two or more, or every document is unique",
                run.shown()
            )));
        }
        self.threads.install_for(inputs.bytes(), || {
            let progress = Progress::start("reading", WorkAmount::of(inputs.bytes()), self.quiet);
            let (files, naming) = (self.files, self.naming);
            let matrix =
                self.ranking().join_numbered((qrels, &runs), (files, naming), progress.watch())?;
            drop(progress);
            let mut all = self.notes(&evaluator, &matrix)?;
            let progress = Progress::start("leaving out runs", WorkAmount::Unknown, self.quiet);
            let mut options = PoolOptions::default();
            (options.depth, options.teams) = (self.depth, self.teams.clone());
            let pools = Pools::of(matrix, &evaluator, &options)?;
            drop(progress);
            all.extend(pools.runs.iter().filter_map(lost));
            let loud = |note: &&Note| !self.quiet || matches!(note, Note::Warning(_));
            all.iter().filter(loud).for_each(say);
            let look = self.look();
            output.write_text(format == Format::Table, |mut to| {
                format.write_pools(&pools, &look, &mut to)
            })
        })
    }

    /// Takes the options of the library that was asked for.
    fn settle(&mut self) -> Result<(), Stop> {
        if let Some(profile) = self.library.profile()? {
            let lacks = |option: &str, word: &str| match option {
                "ties" => word.parse::<Ties>().is_err(),
                "known" => word != Known::Judged.to_string(),
                _ => false,
            };
            if let Some(says) = profile.says(lacks) {
                return Err(Stop::new(format!(
                    "{says}, of which no pools are made: leave --as out"
                )));
            }
        }
        self.library.settle("ties", &mut self.ties, &ties())?;
        self.library.settle("score", &mut self.score, &scores())?;
        self.library.settle("queries", &mut self.queries, &query_sets())
    }

    fn evaluator(&self) -> Result<Evaluator, Stop> {
        let measures = measures(&self.measures, self.rel, &self.library)?;
        let takes = |measure: &&Measure| {
            matches!(measure.input(), JudgmentInput::Any | JudgmentInput::Grades)
        };
        if let Some(other) = measures.iter().find(|measure| !takes(measure)) {
            return Err(Stop::new(format!(
                "{other} needs {}, of which no pools are made",
                other.input()
            )));
        }
        Ok(Evaluator::of(measures)
            .with_queries(self.queries.unwrap_or_default())
            .with_engine(EngineChoice::Cpu))
    }

    fn ranking(&self) -> RankingOptions {
        let mut ranking = RankingOptions::of(self.formats.clone());
        (ranking.ties, ranking.score) = (self.ties, self.score);
        ranking.drop_identical_ids = self.drop_identical_ids;
        ranking
    }

    /// Returns the notes that `eval` has on the same runs.
    fn notes(&self, evaluator: &Evaluator, matrix: &LabelMatrix) -> Result<Vec<Note>, Stop> {
        let mut scores = evaluator.clone().with_missing_ids(true).evaluate(matrix)?;
        // The documents are numbered as those of one judge, of whom nobody has heard.
        scores.notices.retain(|notice| !matches!(notice, Notice::LargestOfGroups { .. }));
        let threads = self.threads.note().into_iter();
        let of_libraries = self
            .ranking()
            .held(Known::Judged, self.ranking().library.level(self.rel))
            .notes(&self.measures);
        Ok(threads.chain(self.formats.notes()).chain(of_libraries).chain(notes(&scores)).collect())
    }

    /// Returns the file to write to; `-` is stdout.
    fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| path.as_os_str() != "-")
    }

    fn format(&self) -> Result<Format, Stop> {
        let known = pool_formats();
        let is_known = |of: &Format| known.iter().any(|(_, format, _)| format == of);
        match (self.format, self.file()) {
            (Some(format), _) => Ok(format),
            (None, None) if stdout().is_terminal() => Ok(Format::Table),
            (None, None) => Ok(Format::Tsv),
            (None, Some(path)) => Format::of_path(path).filter(is_known).ok_or_else(|| {
                let extensions =
                    Format::EXTENSIONS.into_iter().filter(|(_, format)| is_known(format));
                let extensions: Vec<&str> = extensions.map(|(extension, _)| extension).collect();
                unknown_extension(path, &extensions, ", or use --format")
            }),
        }
    }

    fn look(&self) -> ReportOptions {
        let (to_stdout, decimals) = (self.file().is_none(), self.precision.map(usize::from));
        ReportOptions {
            precision: decimals.unwrap_or(4),
            decimals,
            colour: to_stdout && stdout_has_colour(),
            width: stdout_width().filter(|_| to_stdout),
            ..ReportOptions::default()
        }
    }
}

/// Notes queries that do not count when a run is left out.
fn lost(run: &PooledRun) -> Option<Note> {
    let name = run.team.as_ref().unwrap_or(&run.name);
    (run.queries_lost > 0).then(|| {
        Note::Note(format!(
            "{}: without it {} no judgments, and {} not count",
            shown(name.as_ref()),
            match run.queries_lost {
                1 => "1 query has".to_owned(),
                count => format!("{} have", counted(count, "query")),
            },
            if run.queries_lost == 1 { "does" } else { "do" }
        ))
    })
}
