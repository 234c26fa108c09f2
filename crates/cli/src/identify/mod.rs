//! `laneval identify`: finds the definition of a measure that a reported number is of.

mod values;

use std::fs::File;
use std::io::{Read, stdin};
use std::path::{Path, PathBuf};

use laneval::identify::{Identification, IdentifyBuilder, joined_in_every_order};
use laneval::options::Given;
use laneval::report::{Format, Note, ReportOptions};
use laneval::{Input, Join, LabelMatrix, RunInput};

use super::{
    cli_error::{CliError, CliResult, fail},
    command_row::{CommandRow, Inputs},
    inputs::{RankingOptions, RunPath, bytes, find_matrices, missing_ties_error},
    output::{Output, output_file, unknown_extension},
    progress::{Progress, WorkAmount},
    style::{print_note, shown, stdout_width},
    threads::Threads,
};

/// `laneval identify`.
pub const COMMAND: CommandRow = CommandRow {
    name: "identify",
    first: "Find the definition that produced a number",
    more: "All definitions are tried on the qrels and the run behind the number. Those with the \
        same value of every query are one class, and a class is the answer: its simplest \
        definition, the libraries that compute it, and what else is the same here. The digits of a \
        number are its tolerance. A mean of four digits often fits several classes by chance; \
        values of queries (--query-values) tell more.",
    usage: &[
        "identify [OPTIONS] <QRELS> <RUN> <NUMBER>...",
        "identify [OPTIONS] <QRELS> <RUN> --query-values <FILE>",
    ],
    inputs: Some(Inputs {
        name: "FILES",
        first: "Qrels and a run, or a label matrix; then numbers",
        more: "A label matrix is one that was built with --keep-ties. Numbers are as they were \
            printed: nDCG@10=0.4561, 0.4561 or 45.6%. A name chooses the measure and its cutoff; \
            parameters that it has hold. Without a name the usual measures from 0 to 1 are tried, \
            at usual cutoffs.",
        count: (0, usize::MAX),
        is_last: false,
    }),
    examples: &[
        "laneval identify qrels.txt bm25.run nDCG@10=0.4561",
        "laneval identify qrels.txt bm25.run 45.61% --top 10",
        "laneval identify qrels.txt bm25.run --query-values theirs.tsv -m nDCG@10",
        "laneval identify qrels.txt bm25.run nDCG@5=0.5541 nDCG@10=0.4561 --format json",
    ],
    page: "identify.md",
    exit_codes: "\
Exit codes:
  0  one definition is found or likely
  1  several definitions are, or none is
  2  wrong usage or input, or output that cannot be written",
    run: |arguments| {
        let ranking = RankingOptions::new(arguments.given);
        IdentifyCommand { ranking, inputs: arguments.inputs }.run()
    },
    ..CommandRow::NEW
};

/// The options and inputs of `laneval identify`.
struct IdentifyCommand {
    ranking: RankingOptions,
    inputs: Vec<PathBuf>,
}

/// The label matrices of the run of `laneval identify`, one for each order of equal scores that can
/// be told.
struct TieOrderMatrices {
    matrices: Vec<LabelMatrix>,
    /// What cannot be told, if something cannot.
    note: Option<String>,
}

impl IdentifyCommand {
    fn given(&self) -> &Given {
        &self.ranking.given
    }

    /// Runs `laneval identify`: tries definitions of measures on a run, and prints those that give
    /// the numbers.
    fn run(self) -> CliResult<()> {
        let given = self.given();
        let format = self.format()?;
        let files = self.files_given()?;
        let queries = given.path("query-values").map(Path::to_owned);
        let paths: Vec<PathBuf> = self.inputs.iter().take(files).cloned().chain(queries).collect();
        let output = Output::new(output_file(given), &paths)?;
        let threads = Threads::new(given)?;
        threads.install_for(bytes(&paths), || {
            let quiet = given.flag("quiet");
            let amount = WorkAmount::from_bytes(bytes(&paths));
            let progress = Progress::start("reading", amount, quiet);
            let TieOrderMatrices { matrices, note } =
                if files == 1 { self.stored()? } else { self.joined()? };
            drop(progress);
            let progress = Progress::start("trying definitions", WorkAmount::Unknown, quiet);
            let found = self.find(&matrices, &self.inputs[files..])?;
            drop(progress);
            if !quiet {
                self.ranking.formats.notes().iter().chain(&threads.note()).for_each(print_note);
                let notes = found.notes.iter().cloned().chain(note);
                notes.for_each(|text| print_note(&Note::Note(text)));
            }
            let look = ReportOptions {
                width: stdout_width().filter(|_| output_file(given).is_none()),
                ..ReportOptions::default()
            };
            let is_text = format == Format::Table;
            output.write_text(is_text, |mut to| format.write_identified(&found, &look, &mut to))?;
            if found.verdict.names_one() { Ok(()) } else { Err(CliError::WithCode(1, Vec::new())) }
        })
    }

    /// Tries definitions of measures on a run, and returns those that give the numbers.
    fn find(&self, matrices: &[LabelMatrix], numbers: &[PathBuf]) -> CliResult<Identification> {
        let given = self.given();
        let mut builder = IdentifyBuilder::from_matrices(matrices)?
            .digits(given.value("digits")?)
            .top(given.required("top")?);
        for number in numbers {
            let (name, number) = named_number(number)?;
            builder = builder.number(&name, &number)?;
        }
        if let Some(path) = given.path("query-values") {
            let (name, rows) = values::read(path, given.text("measure"))?;
            builder = builder.scores(&name, rows)?;
        }
        Ok(builder.run()?)
    }

    /// Returns the number of leading arguments that are files: a label matrix, or judgments and a
    /// run. The others are numbers.
    fn files_given(&self) -> CliResult<usize> {
        const EXPECTED: &str =
            "give QRELS RUN and numbers such as nDCG@10=0.4561, or --query-values FILE";
        let first = self.inputs.first().ok_or_else(|| CliError::new(EXPECTED))?;
        let is_matrix = find_matrices(std::slice::from_ref(first))?.contains(&true);
        let files = if is_matrix { 1 } else { 2 };
        let has_values = self.given().is_given("query-values");
        if self.inputs.len() < files || self.inputs.len() == files && !has_values {
            return fail(EXPECTED);
        }
        if files == 2 {
            let run = RunPath::parse(&self.inputs[1]);
            if find_matrices(&[first.clone(), run.path.clone()])?[1] {
                return fail(format!(
                    "{} is a label matrix, which has its judgments: give it alone",
                    shown(&run.path)
                ));
            }
        }
        Ok(files)
    }

    /// Opens the label matrix of `laneval identify`, which has to know its ties. It has one order
    /// of equal scores and its reverse.
    fn stored(&self) -> CliResult<TieOrderMatrices> {
        let path = &self.inputs[0];
        let matrix = LabelMatrix::open(path, self.given().access())?;
        if matrix.tied_groups().is_none() {
            return Err(missing_ties_error(path));
        }
        let note = format!(
            "{} knows no other orders of equal scores than {} and its reverse, and no other type \
             of scores: QRELS RUN tell more",
            shown(path),
            matrix.rule().ties
        );
        Ok(TieOrderMatrices { matrices: vec![matrix], note: Some(note) })
    }

    /// Joins a run to judgments in every order of equal scores that matters, and by both types of
    /// scores.
    fn joined(&self) -> CliResult<TieOrderMatrices> {
        let run = RunPath::parse(&self.inputs[1]);
        let join = Join { keep_ties: true, ..self.ranking.rule()? };
        let qrels = join.qrels(Input::from(self.inputs[0].clone()))?;
        let input = read_again(&run)?;
        let matrices = joined_in_every_order(&join, |join| join.runs(&qrels, [input.clone()]))?;
        Ok(TieOrderMatrices { matrices, note: None })
    }

    fn format(&self) -> CliResult<Format> {
        match (self.given().value("format")?, output_file(self.given())) {
            (Some(format), _) => Ok(format),
            (None, None) => Ok(Format::Table),
            (None, Some(path)) => Format::from_path(path)
                .filter(|format| matches!(format, Format::Table | Format::Json))
                .ok_or_else(|| unknown_extension(path, &["json", "txt"], ", or use --format")),
        }
    }
}

/// Returns the input of a run that can be read several times; a pipe is read into memory.
fn read_again(run: &RunPath) -> CliResult<RunInput> {
    let is_stdin = run.path.as_os_str() == "-";
    if !is_stdin && !run.input().input.is_stream() {
        return Ok(run.input());
    }
    let mut bytes = Vec::new();
    let read = if is_stdin {
        stdin().read_to_end(&mut bytes)
    } else {
        File::open(&run.path).and_then(|mut file| file.read_to_end(&mut bytes))
    };
    let name = if is_stdin { "stdin".to_owned() } else { run.display_name() };
    read.map_err(|error| CliError::new(format!("{name}: cannot read: {error}")))?;
    Ok(Input::Bytes { name, bytes }.into())
}

/// Parses an argument of `laneval identify`: `measure=number`, or a number alone.
fn named_number(argument: &Path) -> CliResult<(String, String)> {
    let text = argument
        .to_str()
        .ok_or_else(|| CliError::new(format!("{} is not a number", shown(argument))))?;
    Ok(match text.rsplit_once('=') {
        // The last `=` may be that of a parameter, as in `nDCG(gain=exp2)`.
        Some((name, number)) if !number.ends_with(')') => {
            (name.trim().to_owned(), number.to_owned())
        }
        _ => (String::new(), text.to_owned()),
    })
}
