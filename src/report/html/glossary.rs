//! The glossary at the end of an HTML page: meanings of measures and statistical words.

use super::context::PageContext;
use super::curves;
use super::markup::Elements;
use super::names::direction;
use super::page::details_element;
use super::tables::{MEASURES, confidence};
use crate::compare::comparison::Comparison;
use crate::measure::{Direction, Measure};
use crate::scores::Scores;

/// A word of the HTML page's glossary with its meaning.
type GlossaryEntry = (&'static str, String);

/// Writes the glossary of a comparison's HTML page.
pub fn write_comparison_glossary(
    page: &mut Elements,
    comparison: &Comparison,
    context: &PageContext,
) {
    let level = confidence(comparison);
    let alpha = comparison.options.alpha;
    let mut entries = common();
    entries.extend(measure_entries(&comparison.measures, context));
    entries.extend([
        (
            "interval",
            format!(
                "the range in which the true difference lies with a confidence of \
                                  {level}, as far as these queries stand for others"
            ),
        ),
        (
            "p",
            "how often chance alone would make a difference as large as the one seen, if the \
                   two runs were equally good: a small p speaks for a real difference"
                .to_owned(),
        ),
        (
            "adjusted p",
            format!(
                "p made larger, because among many comparisons some look good \
                                    by chance alone; below {alpha} a difference counts as shown"
            ),
        ),
        (
            "tie",
            "a query on which both runs have the same value; of runs: no difference was \
                     shown, which does not show that they are equal"
                .to_owned(),
        ),
        (
            "d",
            "the mean difference divided by how much the differences of queries \
                   vary"
                .to_owned(),
        ),
    ]);
    if comparison.baseline.is_none() {
        let meaning = "the best run, and all runs that are not shown to be worse than it";
        entries.push(("top group", meaning.to_owned()));
    }
    write(page, &entries);
}

/// Writes the glossary of the HTML page of scores.
pub fn write_scores_glossary(page: &mut Elements, scores: &Scores, context: &PageContext) {
    let mut entries = common();
    entries.extend(measure_entries(&scores.measures, context));
    let meaning = "the range in which the true average lies with a confidence of 95 %, as far as \
                   these queries stand for others";
    entries.push(("interval", meaning.to_owned()));
    write(page, &entries);
}

fn common() -> Vec<GlossaryEntry> {
    [
        (
            "judgments",
            "which documents people, or programs, found relevant to which query, and how \
                       relevant: the grade",
        ),
        (
            "run",
            "the results of one system: for each query the documents that it found, in its \
                 order",
        ),
        (
            "relevant",
            "a document whose grade is high enough, 1 or more unless said otherwise; a \
                      document without a judgment counts as not relevant",
        ),
    ]
    .map(|(word, meaning)| (word, meaning.to_owned()))
    .to_vec()
}

/// Returns glossary entries for the measures on the HTML page, curves included, each name once.
fn measure_entries(measures: &[Measure], context: &PageContext) -> Vec<GlossaryEntry> {
    let mut entries: Vec<GlossaryEntry> = Vec::new();
    let drawn = context.curves.map(|scores| (curves::measures(&scores.measures), &scores.measures));
    let drawn = drawn.iter().flat_map(|(names, all)| {
        all.iter().filter(|measure| {
            let measure = measure.to_string();
            measure
                .rsplit_once('@')
                .is_some_and(|(name, _)| names.iter().any(|drawn| drawn == name))
        })
    });
    for measure in measures.iter().take(MEASURES).chain(drawn) {
        let definition = measure.definition();
        if entries.iter().any(|(name, _)| *name == definition.name) {
            continue;
        }
        let text = definition.plain;
        let side = match definition.better {
            Direction::Neither => String::new(),
            _ => format!("; {}", direction(measure)),
        };
        entries.push((definition.name, format!("{text}{side}")));
    }
    entries
}

fn write(page: &mut Elements, entries: &[GlossaryEntry]) {
    page.element("section", &[("id", &"glossary")], |page| {
        details_element(
            page,
            false,
            |page| page.line("h2", &[], "What the words mean"),
            |page| {
                page.element("dl", &[], |page| {
                    for (word, meaning) in entries {
                        page.line("dt", &[], word);
                        page.line("dd", &[], meaning);
                    }
                });
            },
        );
    });
}
