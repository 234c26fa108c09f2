//! The explanation of `laneval show` as blocks of a report, for Markdown and HTML pages.

use laneval::error::printable;
use laneval::internals::{ShownQuery, ShownRun};
use laneval::report::blocks::ReportBlock::{self, Heading, Note, Section, Table, Text};

use super::parts::{ExplanationParts, ID_WIDTHS, RankingGridOptions};

/// Returns the blocks of a report (headings, tables, texts) that explain the scores of all shown
/// queries.
pub fn explanation_blocks(parts: ExplanationParts<'_>) -> Vec<ReportBlock> {
    parts.explanation.shown.queries.iter().flat_map(|query| query_blocks(parts, query)).collect()
}

fn query_blocks(parts: ExplanationParts<'_>, query: &ShownQuery) -> Vec<ReportBlock> {
    let mut blocks = vec![Section(parts.heading(query)), sentence(&parts.judgments(query))];
    blocks.extend(parts.values(query).map(Table));
    for (name, run) in parts.explanation.shown.runs.iter().zip(&query.runs) {
        run_blocks(parts, name, query, run, &mut blocks);
    }
    match parts.differences(query, ID_WIDTHS[0]) {
        None => {}
        Some(Err(none)) => blocks.push(sentence(none)),
        Some(Ok(differences)) => {
            blocks.push(Heading(capital(differences.heading)));
            blocks.push(Table(differences.grid));
            blocks.extend(differences.more.map(Note));
        }
    }
    blocks
}

fn run_blocks(
    parts: ExplanationParts<'_>,
    name: &str,
    query: &ShownQuery,
    run: &ShownRun,
    blocks: &mut Vec<ReportBlock>,
) {
    blocks.push(Heading(printable(name.as_bytes())));
    blocks.push(sentence(&parts.ranking_sentence(query, run)));
    if !run.ranking.is_empty() {
        let look = RankingGridOptions { how: true, width: ID_WIDTHS[0], aligned: false };
        blocks.push(Table(parts.ranking(run, look)));
        blocks.extend(parts.marks_legend(run).into_iter().map(Note));
        match parts.no_terms_note() {
            Some(reason) => blocks.push(Note(capital(&reason))),
            None => blocks.extend(parts.formulas(run).into_iter().map(|(measure, formula)| {
                Note(format!("{measure} is no sum over ranks: {formula}"))
            })),
        }
    }
    if let Some((heading, documents)) = parts.missed(query, run) {
        blocks.push(Text(format!("{}: {documents}", capital(&heading))));
    }
}

/// Makes a text block of a report from words, with a capital letter and a full stop.
fn sentence(words: &str) -> ReportBlock {
    Text(format!("{}.", capital(words)))
}

/// Returns words with a capital first letter.
fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
