//! `laneval show`: explains the score of a query, and why another run does better.

mod blocks;
mod document;
mod explanation;
mod parts;
mod rows;
mod table;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{IsTerminal, stdout};
use std::path::{Path, PathBuf};

use laneval::error::printable;
use laneval::internals::ShownQueries;
use laneval::measure::Measure;
use laneval::options::Given;
use laneval::report::Format::{self, Csv, Html, Json, Jsonl, Markdown, Table, Tsv};
use laneval::report::{Note, blocks as report_blocks, html};
use laneval::text::QueryTexts;
use laneval::{EngineChoice, Evaluator, Input, Join};

use explanation::Explanation;
use parts::ExplanationParts;
pub use parts::grade_text;

use super::{
    cli_error::{CliError, CliResult, fail},
    command_row::{CommandRow, Inputs},
    conflicts::{self, Requested},
    evaluation_options::EvaluationOptions,
    inputs::{EvaluationInputs, RunPath, TEXTS, named_runs},
    output::{Output, output_file, unknown_extension},
    page::{self, PageProvenance},
    style::{comma_list, print_notes, shown, stdout_width},
    threads::Threads,
    topics,
};

/// The ranks that a table shows if no measure says how many matter.
const SHORT: usize = 20;

/// `laneval show`.
pub const COMMAND: CommandRow = CommandRow {
    name: "show",
    first: "Explain the score of a query, document by document",
    more: "It shows the ranking with documents, grades and ties, and what each rank adds to each \
        measure.\n\n\
        Below the ranks are their sum (Σ), what it is divided by or multiplied with, and the value \
        (=), which is that of `eval --per-query` to the last bit. A measure that is not a sum over \
        ranks has only its value. The relevant documents below the ranks shown follow with their \
        ranks, then the missed ones; with two runs or more, also those whose ranks differ between \
        the runs. All lines are read, but only the given queries are kept: a document that is \
        twice in the ranking of another query is not reported.",
    usage: &["show [OPTIONS] <QRELS> <RUN>... --query <ID>"],
    inputs: Some(Inputs {
        name: "FILES",
        first: "Qrels, then runs (or name=path)",
        more: TEXTS,
        count: (0, usize::MAX),
        is_last: false,
    }),
    examples: &[
        "laneval show qrels.txt bm25.run --query 301",
        "laneval show qrels.txt bm25.run dense.run --query 301 --top 50",
        "laneval show qrels.txt bm25.run --query 301 -m 'nDCG(gain=exp2)@10' -m ERR@20",
        "laneval show qrels.txt bm25.run --query 301 --query 302 --format json",
        "laneval show qrels.txt bm25.run --query 301 --topics topics.tsv -o 301.html",
    ],
    run: |arguments| {
        let evaluation = EvaluationOptions::new(arguments.given);
        let show = Show { evaluation, inputs: arguments.inputs };
        show.run(&arguments.words).map_err(CliError::with_duplicates_hint)
    },
    ..CommandRow::NEW
};

/// The options and inputs of `laneval show`.
struct Show {
    evaluation: EvaluationOptions,
    inputs: Vec<PathBuf>,
}

impl Show {
    fn given(&self) -> &Given {
        self.evaluation.given()
    }

    /// Runs `laneval show`: explains the scores of queries by their rankings, grades, and terms at
    /// each rank.
    fn run(mut self, words: &[OsString]) -> CliResult<()> {
        self.evaluation.apply_library()?;
        let by_ties = conflicts::requested_by_ties(self.given().tie_rule()?);
        conflicts::check([(Requested::Show, true)].into_iter().chain(by_ties))?;
        // On the CPU, as queries are few.
        let evaluator = self.evaluation.evaluator()?.with_engine(EngineChoice::Cpu);
        evaluator.check_tied()?;
        let format = self.format()?;
        let topics = self.given().path("topics").map(Path::to_owned);
        let read: Vec<PathBuf> = named_runs(&self.inputs).1.into_iter().chain(topics).collect();
        let output = Output::new(output_file(self.given()), &read)?;
        let inputs = EvaluationInputs::from_args(&self.inputs)?;
        let (qrels, runs) = texts(&inputs)?;
        let (titles, untitled) = self.titles()?;
        let origin = (format == Html).then(|| self.origin(words, &inputs)).transpose()?;
        let threads = self.evaluation.threads()?;
        let shown = threads.install_for(inputs.bytes(), || self.read(&evaluator, qrels, runs))?;
        self.print_notes(&threads, untitled);
        let explanation = self.explanation(shown, &evaluator, titles)?;
        self.write(format, &explanation, origin.unwrap_or_default(), output)
    }

    /// Writes the explanation of queries to the output in a format; a page has its `origin`.
    fn write(
        &self,
        format: Format,
        explanation: &Explanation,
        origin: PageProvenance,
        output: Output,
    ) -> CliResult<()> {
        let top = self.top(&explanation.shown.measures)?;
        let precision = self.given().value("precision")?.unwrap_or(4);
        let parts = ExplanationParts { explanation, top, precision };
        output.write_text(format == Table, |mut to| match format {
            Markdown => report_blocks::markdown(&blocks::explanation_blocks(parts), &mut to),
            Html => {
                let title = title(explanation);
                let origin = origin.with_settings(settings(explanation));
                html::blocks(&blocks::explanation_blocks(parts), &origin.context(&title), &mut to)
            }
            Json => document::write(explanation, to),
            Jsonl => rows::json_lines(explanation, to),
            Tsv => rows::delimited(explanation, b'\t', to),
            Csv => rows::delimited(explanation, b',', to),
            // A table; other formats are none of its options.
            _ => {
                let width = stdout_width().filter(|_| output_file(self.given()).is_none());
                table::ExplanationTable::new(parts, width).write(to)
            }
        })
    }

    /// Returns the format of `show --format`, or else that of the output's extension, or a table.
    fn format(&self) -> CliResult<Format> {
        const EXTENSIONS: [(&str, Format); 8] = [
            ("txt", Table),
            ("tsv", Tsv),
            ("csv", Csv),
            ("json", Json),
            ("jsonl", Jsonl),
            ("md", Markdown),
            ("html", Html),
            ("htm", Html),
        ];
        let requested: Option<Format> = self.given().value("format")?;
        let extension = output_file(self.given()).and_then(|path| Some((path, path.extension()?)));
        let (None, Some((path, extension))) = (requested, extension) else {
            return Ok(requested.unwrap_or(Table));
        };
        let known = EXTENSIONS.iter().find(|(name, _)| extension.eq_ignore_ascii_case(name));
        known.map(|&(_, format)| format).ok_or_else(|| {
            unknown_extension(
                path,
                &EXTENSIONS.map(|(extension, _)| extension),
                ", or use --format",
            )
        })
    }

    /// Returns the origin of an HTML page of `laneval show`: the command, and the files that it
    /// reads.
    fn origin(&self, words: &[OsString], inputs: &EvaluationInputs) -> CliResult<PageProvenance> {
        let origin = PageProvenance::new(words, inputs)?;
        match self.given().path("topics") {
            Some(path) => origin.with_file("texts of queries", path),
            None => Ok(origin),
        }
    }

    /// Reads the texts of the shown queries from the file of `--topics`, if given, and notes which
    /// queries have none.
    fn titles(&self) -> CliResult<(QueryTexts, Option<Note>)> {
        let Some(path) = self.given().path("topics") else { return Ok(Default::default()) };
        topics::read(path, self.queries().collect::<BTreeSet<_>>())
    }

    /// Lists the ids of the queries that `--query` asks for.
    fn queries(&self) -> impl Iterator<Item = &[u8]> {
        self.given().raw("query").iter().map(|id| id.as_encoded_bytes())
    }

    fn read(
        &self,
        evaluator: &Evaluator,
        qrels: &Path,
        runs: &[RunPath],
    ) -> CliResult<ShownQueries> {
        let ranking = &self.evaluation.ranking;
        let join = Join { keep_ties: ranking.keeps_ties(), ..ranking.rule()? };
        let (inputs, naming) = (runs.iter().map(RunPath::input).collect(), ranking.naming());
        let queries: Vec<Vec<u8>> = self.queries().map(<[u8]>::to_vec).collect();
        Ok(ShownQueries::read(&join, evaluator, Input::from(qrels), inputs, &queries, |matrix| {
            naming.name(matrix, runs)
        })?)
    }

    fn print_notes(&self, threads: &Threads, untitled: Option<Note>) {
        let notes = threads.note().into_iter().chain(self.evaluation.ranking.formats.notes());
        let of_libraries = self.evaluation.library_notes(None);
        let notes: Vec<Note> = notes.chain(of_libraries).chain(untitled).collect();
        print_notes(&notes, self.given().flag("quiet"));
    }

    /// Makes the explanation of queries with the options in effect.
    fn explanation(
        &self,
        shown: ShownQueries,
        evaluator: &Evaluator,
        titles: QueryTexts,
    ) -> CliResult<Explanation> {
        Ok(Explanation {
            shown,
            rel: self.given().level(),
            ties: self.given().tie_rule()?,
            score: self.given().value("score-type")?.unwrap_or_default(),
            view: evaluator.view(),
            relevant_from: evaluator.relevant_from().to_string(),
            titles,
        })
    }

    /// Returns the number of ranks that a table of `laneval show` has, by `--top` or the cutoffs of
    /// the measures.
    fn top(&self, measures: &[Measure]) -> CliResult<usize> {
        Ok(match self.given().value("top")? {
            Some(0) => usize::MAX,
            Some(top) => top,
            None => {
                let cutoffs =
                    measures.iter().map(|measure| measure.rank()).collect::<Option<Vec<u32>>>();
                let deepest =
                    cutoffs.and_then(|ranks| ranks.into_iter().max()).map(|rank| rank as usize);
                let is_on_terminal = output_file(self.given()).is_none() && stdout().is_terminal();
                let most = if is_on_terminal { SHORT } else { usize::MAX };
                deepest.unwrap_or(SHORT).min(most)
            }
        })
    }
}

/// Returns the judgments and the runs of `laneval show`; rejects label matrices, which keep no
/// documents.
fn texts(inputs: &EvaluationInputs) -> CliResult<(&PathBuf, &[RunPath])> {
    match inputs {
        EvaluationInputs::Text(qrels, runs) => Ok((qrels, runs)),
        EvaluationInputs::Matrices(paths) => fail(format!(
            "{} is a label matrix, which keeps no documents: give the QRELS RUN... that it was \
             built from",
            paths.first().map(|path| shown(path)).unwrap_or_default()
        )),
    }
}

/// Returns the title of an HTML page of `laneval show`: the queries and the runs.
fn title(explanation: &Explanation) -> String {
    let runs = page::names(explanation.shown.runs.iter().map(String::as_str));
    match explanation.shown.queries.as_slice() {
        [query] => format!("Query {} in {runs}", printable(&query.id)),
        queries => format!("{} queries in {runs}", queries.len()),
    }
}

/// Returns the settings that an HTML page of `laneval show` lists, such as measures and tie rule.
fn settings(explanation: &Explanation) -> Vec<(String, String)> {
    let mut rows = vec![
        ("measures", comma_list(&explanation.shown.measures)),
        ("relevant from grade", explanation.rel.to_string()),
        ("equal scores", explanation.ties.to_string()),
        ("scores compared as", explanation.score.to_string()),
    ];
    rows.extend(explanation.view.depth.map(|depth| ("ranks", format!("the first {depth}"))));
    rows.extend(page::view_settings(explanation.view, &explanation.relevant_from));
    rows.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
