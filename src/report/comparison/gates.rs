//! The results of a comparison's gates (pass conditions for runs): lines under a table, and a table
//! in Markdown or LaTeX.

use std::io::{self, Write};

use super::report::{ComparisonReport, GateResult};
use crate::compare::GateSentence;
use crate::report::grid::{Align, Cell, Grid};
use crate::report::markup::Markup;
use crate::report::run_name::visible;

/// The most rows of the table.
const MOST_ROWS: usize = 400;

/// Writes a line of text for each result of a comparison's gates. Failed gates come last, because
/// the end of the output is seen first.
pub fn write(report: &ComparisonReport<'_>, to: &mut impl Write) -> io::Result<()> {
    let (failed, passed): (Vec<_>, Vec<_>) =
        report.results().into_iter().partition(GateResult::has_failed);
    for (at, result) in passed.iter().chain(&failed).enumerate() {
        // A blank line before the first.
        writeln!(to, "{}{}", if at == 0 { "\n" } else { "" }, line(result))?;
    }
    Ok(())
}

/// Returns the result of a gate for a run in one line: passed or failed, gate and sentence.
fn line(result: &GateResult<'_>) -> String {
    let [run, gate, sentence] =
        [result.run().to_owned(), result.title(), result.sentence().to_string()].map(visible);
    format!("{}  {run}: {gate}  ({sentence})", word(result))
}

/// Writes the results of a comparison's gates as a Markdown or LaTeX table, with a summary in
/// front.
pub fn write_markup(
    markup: Markup,
    report: &ComparisonReport<'_>,
    to: &mut impl Write,
) -> io::Result<()> {
    // Failed gates come first, because a summary has room for only `MOST_ROWS` rows.
    let results = report.failed_first();
    if results.is_empty() {
        return Ok(());
    }
    let failed = results.iter().filter(|result| result.has_failed()).count();
    let gates =
        if results.len() == 1 { "1 gate".to_owned() } else { format!("{} gates", results.len()) };
    let summary = match failed {
        0 => format!("PASSED: {gates}"),
        failed if failed == results.len() => format!("FAILED: {gates}"),
        failed => format!("FAILED: {failed} of {gates}"),
    };
    writeln!(to)?;
    markup.paragraph(&summary, true, to)?;
    writeln!(to)?;
    let names = ["", "run", "gate", "what happened", "allowed"];
    let has_groups = results.iter().any(|result| !result.group.is_empty());
    let group = has_groups.then_some(report.word());
    let columns = names[..2].iter().copied().chain(group).chain(names[2..].iter().copied());
    let mut grid = Grid::new(columns.map(|name| (name.to_owned(), Align::Left)));
    for result in results.iter().take(MOST_ROWS) {
        let GateSentence { happened, allowed } = result.sentence();
        let group =
            if result.group.is_empty() { "all queries".to_owned() } else { visible(result.group) };
        let group = has_groups.then(|| Cell::from(group));
        let run = visible(result.run());
        let of_word = Cell { best: result.has_failed(), ..Cell::from(word(result)) };
        let cells = [of_word, run.into()].into_iter().chain(group);
        let texts = [result.gate.to_string(), happened, allowed].map(visible);
        grid.push(cells.chain(texts.map(Cell::from)));
    }
    let left = match results.len().saturating_sub(MOST_ROWS) {
        0 => String::new(),
        left => format!("{left} more results that passed or failed: see CSV or JSON"),
    };
    markup.write(&grid, &left, to)
}

fn word(result: &GateResult<'_>) -> &'static str {
    if result.has_failed() { "FAILED" } else { "PASSED" }
}
