//! The explanation of queries as parts of a report, which Markdown and pages are made of.

use laneval::error::printable;
use laneval::internals::{InRun, ShownQuery};
use laneval::report::blocks::ReportBlock;

use super::parts::{ExplanationParts, ID_WIDTHS, RankingLook};

/// Returns the parts of all queries.
pub fn of(parts: ExplanationParts<'_>) -> Vec<ReportBlock> {
    parts.asked.shown.queries.iter().flat_map(|query| of_query(parts, query)).collect()
}

fn of_query(parts: ExplanationParts<'_>, query: &ShownQuery) -> Vec<ReportBlock> {
    let mut blocks =
        vec![ReportBlock::Section(parts.heading(query)), sentence(&parts.judgments(query))];
    blocks.extend(parts.values(query).map(ReportBlock::Table));
    for (name, run) in parts.asked.shown.runs.iter().zip(&query.runs) {
        of_run(parts, name, query, run, &mut blocks);
    }
    match parts.differences(query, ID_WIDTHS[0]) {
        None => {}
        Some(Err(none)) => blocks.push(sentence(none)),
        Some(Ok(differences)) => {
            blocks.push(ReportBlock::Heading(capital(differences.heading)));
            blocks.push(ReportBlock::Table(differences.grid));
            blocks.extend(differences.more.map(ReportBlock::Note));
        }
    }
    blocks
}

fn of_run(
    parts: ExplanationParts<'_>,
    name: &str,
    query: &ShownQuery,
    run: &InRun,
    blocks: &mut Vec<ReportBlock>,
) {
    blocks.push(ReportBlock::Heading(printable(name.as_bytes())));
    blocks.push(sentence(&parts.ranking_said(query, run)));
    if !run.ranking.is_empty() {
        let look = RankingLook { how: true, width: ID_WIDTHS[0], aligned: false };
        blocks.push(ReportBlock::Table(parts.ranking(run, look)));
        blocks.extend(parts.marks_said(run).into_iter().map(ReportBlock::Note));
        match parts.no_terms_said() {
            Some(said) => blocks.push(ReportBlock::Note(capital(&said))),
            None => blocks.extend(parts.formulas(run).into_iter().map(|(measure, formula)| {
                ReportBlock::Note(format!("{measure} is no sum over ranks: {formula}"))
            })),
        }
    }
    if let Some((heading, documents)) = parts.missed(query, run) {
        blocks.push(ReportBlock::Text(format!("{}: {documents}", capital(&heading))));
    }
}

/// Makes a sentence of words.
fn sentence(words: &str) -> ReportBlock {
    ReportBlock::Text(format!("{}.", capital(words)))
}

/// Writes words with a capital letter.
fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
