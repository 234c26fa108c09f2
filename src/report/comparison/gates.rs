//! The results of gates for people: lines under a table, and a table in Markdown.

use std::io::{self, Write};

use super::whole::{ComparisonReport, GateResult};
use crate::compare::GateSentence;
use crate::error::printable;
use crate::report::grid::{Align, Cell, Grid};
use crate::report::markup::Markup;

/// The most rows of the table.
const MOST_ROWS: usize = 400;

/// Writes a line for each result. Failed gates come last, because the end of the output is seen
/// first.
pub fn write(report: &ComparisonReport<'_>, to: &mut impl Write) -> io::Result<()> {
    let (failed, passed): (Vec<_>, Vec<_>) =
        report.results().into_iter().partition(|result| result.judged.verdict.failed);
    for (at, result) in passed.iter().chain(&failed).enumerate() {
        // A blank line before the first.
        writeln!(to, "{}{}", if at == 0 { "\n" } else { "" }, line(result))?;
    }
    Ok(())
}

/// A result in one line.
fn line(result: &GateResult<'_>) -> String {
    let [run, gate, told] =
        [result.run().to_owned(), result.title(), result.sentence().to_string()]
            .map(|of| printable(of.as_bytes()));
    format!("{}  {run}: {gate}  ({told})", word(result))
}

/// Writes the table of results, marked up, with whether all passed in front of it.
pub fn write_markup(
    markup: Markup,
    report: &ComparisonReport<'_>,
    to: &mut impl Write,
) -> io::Result<()> {
    let results = report.results();
    if results.is_empty() {
        return Ok(());
    }
    let failed = results.iter().filter(|result| result.judged.verdict.failed).count();
    let gates =
        if results.len() == 1 { "1 gate".to_owned() } else { format!("{} gates", results.len()) };
    let told = match failed {
        0 => format!("PASSED: {gates}"),
        failed if failed == results.len() => format!("FAILED: {gates}"),
        failed => format!("FAILED: {failed} of {gates}"),
    };
    writeln!(to)?;
    markup.paragraph(&told, true, to)?;
    writeln!(to)?;
    let names = ["", "run", "gate", "what happened", "allowed"];
    let has_groups = results.iter().any(|result| !result.group.is_empty());
    let group = has_groups.then_some(report.word());
    let columns = names[..2].iter().copied().chain(group).chain(names[2..].iter().copied());
    let mut grid = Grid::new(columns.map(|name| (name.to_owned(), Align::Left)));
    // Failed gates come first, because a summary has room for only `MOST_ROWS` rows.
    let that = |failed: bool| results.iter().filter(move |of| of.judged.verdict.failed == failed);
    for result in that(true).chain(that(false)).take(MOST_ROWS) {
        let GateSentence { happened, allowed } = result.sentence();
        let group = if result.group.is_empty() {
            "all queries".to_owned()
        } else {
            printable(result.group.as_bytes())
        };
        let group = has_groups.then(|| Cell::from(group));
        let run = printable(result.run().as_bytes());
        let of_word = Cell { best: result.judged.verdict.failed, ..Cell::from(word(result)) };
        let cells = [of_word, run.into()].into_iter().chain(group);
        let told = [result.gate.to_string(), happened, allowed].map(|of| printable(of.as_bytes()));
        grid.push(cells.chain(told.map(Cell::from)));
    }
    let left = match results.len().saturating_sub(MOST_ROWS) {
        0 => String::new(),
        left => format!("{left} more results that passed or failed: see CSV or JSON"),
    };
    markup.write(&grid, &left, to)
}

fn word(result: &GateResult<'_>) -> &'static str {
    if result.judged.verdict.failed { "FAILED" } else { "PASSED" }
}
