//! The glossary at the end of a page: what its words mean, for people who do not evaluate rankings
//! every day.

use super::context::Context;
use super::curves;
use super::markup::Elements;
use super::names::direction;
use super::page::folded;
use super::tables::{MEASURES, confidence};
use crate::compare::comparison::Comparison;
use crate::measure::{Better, Measure};
use crate::scores::Scores;

/// A word with its meaning.
type GlossaryEntry = (String, String);

/// Writes the glossary of a comparison.
pub fn of_comparison(page: &mut Elements, of: &Comparison, context: &Context) {
    let level = confidence(of.options.alpha);
    let alpha = of.options.alpha;
    let mut entries = common();
    entries.extend(of_measures(&of.measures, context));
    entries.extend(
        [
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
        ]
        .map(|(word, meaning)| (word.to_owned(), meaning)),
    );
    if of.baseline.is_none() {
        let meaning = "the best run, and all runs that are not shown to be worse than it";
        entries.push(("top group".to_owned(), meaning.to_owned()));
    }
    write(page, &entries);
}

/// Writes the glossary of scores.
pub fn of_scores(page: &mut Elements, of: &Scores, context: &Context) {
    let mut entries = common();
    entries.extend(of_measures(&of.measures, context));
    let meaning = "the range in which the true average lies with a confidence of 95 %, as far as \
                   these queries stand for others";
    entries.push(("interval".to_owned(), meaning.to_owned()));
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
    .map(|(word, meaning)| (word.to_owned(), meaning.to_owned()))
    .to_vec()
}

/// The measures of the page, those of curves too, each name once.
fn of_measures(measures: &[Measure], context: &Context) -> Vec<GlossaryEntry> {
    let mut entries: Vec<GlossaryEntry> = Vec::new();
    let drawn = context.curves.map(|scores| (curves::measures(&scores.measures), &scores.measures));
    let drawn = drawn.iter().flat_map(|(names, all)| {
        let is_drawn = |of: &&Measure| {
            of.to_string()
                .rsplit_once('@')
                .is_some_and(|(name, _)| names.iter().any(|drawn| drawn == name))
        };
        all.iter().filter(is_drawn)
    });
    for measure in measures.iter().take(MEASURES).chain(drawn) {
        let definition = measure.definition();
        if entries.iter().any(|(name, _)| name == definition.name) {
            continue;
        }
        let text = definition.plain;
        let side = match definition.better {
            Better::Neither => String::new(),
            _ => format!("; {}", direction(measure)),
        };
        entries.push((definition.name.to_owned(), format!("{text}{side}")));
    }
    entries
}

fn write(page: &mut Elements, entries: &[GlossaryEntry]) {
    page.element("section", &[("id", &"glossary")], |page| {
        let heading = |page: &mut Elements| page.line("h2", &[], "What the words mean");
        folded(page, false, heading, |page| {
            page.element("dl", &[], |page| {
                for (word, meaning) in entries {
                    page.line("dt", &[], word);
                    page.line("dd", &[], meaning);
                }
            });
        });
    });
}
