//! `laneval pools`: counts the judged documents that only one run found, and what a run loses
//! without their judgments.

use std::io::{IsTerminal, stdout};
use std::path::PathBuf;

use laneval::measure::JudgmentNeeds;
use laneval::options::Given;
use laneval::pools::{PoolOptions, PooledRun, Pools};
use laneval::report::{Format, Note, ReportOptions, notes};
use laneval::{EngineChoice, Evaluator, LabelMatrix, Notice, TieBreak};

use super::{
    cli_error::{CliResult, fail},
    command_row::{CommandRow, Inputs},
    evaluation_options::parse_measures,
    inputs::{EvaluationInputs, RankingOptions, TEXTS, named_runs},
    output::{Output, output_file, unknown_extension},
    progress::{Progress, WorkAmount},
    style::{pluralize, print_notes, shown, stdout_has_colour, stdout_width},
    threads::Threads,
};

/// `laneval pools`.
pub const COMMAND: CommandRow = CommandRow {
    name: "pools",
    first: "Measure what each run contributed to the qrels pool",
    more: "For each run this counts the judged and relevant documents among its first ones, and \
        those that no other run has there: they are unique. Then it shows the value and the rank \
        of the run without the judgments of its unique documents, which is what a new system loses \
        (Zobel 1998). Documents that no given run has stay judged.",
    usage: &["pools [OPTIONS] <QRELS> <RUN> <RUN>..."],
    inputs: Some(Inputs {
        name: "FILES",
        first: "Qrels, then two or more runs (or name=path)",
        more: TEXTS,
        count: (0, usize::MAX),
        is_last: false,
    }),
    examples: &[
        "laneval pools qrels.txt *.run",
        "laneval pools qrels.txt *.run --pool-depth 50 -m AP --format csv -o pools.csv",
        "laneval pools qrels.txt uni-a=bm25.run uni-b=new.run lab=dense.run --teams -",
    ],
    page: "comparing.md",
    run: |arguments| {
        let ranking = RankingOptions::new(arguments.given);
        PoolsCommand { ranking, inputs: arguments.inputs }.run()
    },
    ..CommandRow::NEW
};

/// The options and inputs of `laneval pools`.
struct PoolsCommand {
    ranking: RankingOptions,
    inputs: Vec<PathBuf>,
}

/// Returns whether pools can be written in this format: neither as values of queries, nor as charts
/// or gates.
fn has_pools(format: Format) -> bool {
    !matches!(format, Format::Trec | Format::Html | Format::Svg | Format::Junit)
}

impl PoolsCommand {
    fn given(&self) -> &Given {
        &self.ranking.given
    }

    /// Runs `laneval pools`: evaluates each run with and without the judgments that it alone
    /// brought.
    fn run(mut self) -> CliResult<()> {
        self.apply_library()?;
        let format = self.format()?;
        let evaluator = self.evaluator()?;
        let (runs, paths) = named_runs(&self.inputs);
        let output = Output::new(output_file(self.given()), &paths)?;
        let inputs = EvaluationInputs::from_args(&self.inputs)?;
        let EvaluationInputs::Text(qrels, _) = &inputs else {
            return fail(format!(
                "{} is a label matrix, which holds no documents: give the texts that it was built \
                 from, <QRELS> <RUN> <RUN>...",
                shown(&paths[0])
            ));
        };
        if let [run] = &runs[..] {
            return fail(format!(
                "{} is the only run: a pool takes two or more, or every document is unique",
                run.display_name()
            ));
        }
        let threads = Threads::new(self.given())?;
        threads.install_for(inputs.bytes(), || {
            let amount = WorkAmount::from_bytes(inputs.bytes());
            let progress = Progress::start("reading", amount, self.given().flag("quiet"));
            let matrix = self.ranking.join_numbered(qrels, &runs, progress.watch())?;
            drop(progress);
            let pools = self.leave_out(matrix, &evaluator, &threads)?;
            let look = self.report_options()?;
            output.write_text(format == Format::Table, |mut to| {
                format.write_pools(&pools, &look, &mut to)
            })
        })
    }

    /// Leaves out one run of a label matrix after the other, and prints notes.
    fn leave_out(
        &self,
        matrix: LabelMatrix,
        evaluator: &Evaluator,
        threads: &Threads,
    ) -> CliResult<Pools> {
        let given = self.given();
        let quiet = given.flag("quiet");
        let mut notes = self.notes(evaluator, &matrix, threads)?;
        let progress = Progress::start("leaving out runs", WorkAmount::Unknown, quiet);
        let mut options = PoolOptions::default();
        options.depth = given.required("pool-depth")?;
        options.teams = given.text("teams").map(str::to_owned);
        let pools = Pools::new(matrix, evaluator, &options)?;
        drop(progress);
        notes.extend(pools.runs.iter().filter_map(lost));
        print_notes(&notes, quiet);
        Ok(pools)
    }

    /// Takes the options of the library that `--as` names; rejects libraries whose options suit no
    /// pools.
    fn apply_library(&mut self) -> CliResult<()> {
        let profile = self.given().profile()?;
        let lacking = profile.and_then(|profile| {
            profile.describe_options(|option, word| match option {
                // Which documents were in a pool follows from an order only.
                "ties" => word.parse::<TieBreak>().is_err(),
                "relevant-from" => word != "judged",
                _ => false,
            })
        });
        if let Some(says) = lacking {
            return fail(format!("{says}, of which no pools are made: leave --as out"));
        }
        Ok(self.ranking.given.apply_profile()?)
    }

    fn evaluator(&self) -> CliResult<Evaluator> {
        let given = self.given();
        let measures = parse_measures(given, &given.texts("measure"))?;
        let other = measures
            .iter()
            .find(|measure| !matches!(measure.input(), JudgmentNeeds::Any | JudgmentNeeds::Grades));
        if let Some(other) = other {
            return fail(format!("{other} needs {}, of which no pools are made", other.input()));
        }
        Ok(given.evaluator(measures)?.with_engine(EngineChoice::Cpu))
    }

    /// Returns the notes that `laneval eval` would print about the same runs.
    fn notes(
        &self,
        evaluator: &Evaluator,
        matrix: &LabelMatrix,
        threads: &Threads,
    ) -> CliResult<Vec<Note>> {
        let mut scores = evaluator.clone().with_missing_ids(true).evaluate(matrix)?;
        // The documents are numbered as those of one judge, whom the user does not know of.
        scores.notices.retain(|notice| !matches!(notice, Notice::MaxOverFacets { .. }));
        let of_libraries = self.ranking.effective().notes(&self.given().texts("measure"));
        let before = threads.note().into_iter().chain(self.ranking.formats.notes());
        Ok(before.chain(of_libraries).chain(notes(&scores)).collect())
    }

    /// Returns the format of `--format`, or else that of the output's extension; on stdout a table
    /// for a terminal, and TSV for a pipe.
    fn format(&self) -> CliResult<Format> {
        match (self.given().value("format")?, output_file(self.given())) {
            (Some(format), _) => Ok(format),
            (None, None) if stdout().is_terminal() => Ok(Format::Table),
            (None, None) => Ok(Format::Tsv),
            (None, Some(path)) => {
                let format = Format::from_path(path).filter(|&format| has_pools(format));
                format.ok_or_else(|| {
                    let mut extensions = Format::EXTENSIONS.to_vec();
                    extensions.retain(|&(_, format)| has_pools(format));
                    let extensions: Vec<&str> = extensions.iter().map(|(name, _)| *name).collect();
                    unknown_extension(path, &extensions, ", or use --format")
                })
            }
        }
    }

    fn report_options(&self) -> CliResult<ReportOptions> {
        let to_stdout = output_file(self.given()).is_none();
        let decimals = self.given().value("precision")?;
        Ok(ReportOptions {
            precision: decimals.unwrap_or(4),
            decimals,
            colour: to_stdout && stdout_has_colour(),
            width: stdout_width().filter(|_| to_stdout),
            ..ReportOptions::default()
        })
    }
}

/// Returns a note on the queries that have no judgments left when a run is left out.
fn lost(run: &PooledRun) -> Option<Note> {
    let name = shown(run.team.as_ref().unwrap_or(&run.name).as_ref());
    let queries = pluralize(run.queries_lost, "query");
    let (have, counts) = match run.queries_lost {
        0 => return None,
        1 => ("has", "does"),
        _ => ("have", "do"),
    };
    Some(Note::Note(format!(
        "{name}: without it {queries} {have} no judgments, and {counts} not count"
    )))
}
