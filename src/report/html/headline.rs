//! The top of the page of a comparison: the verdict in large type, what it means in plain words,
//! and the gates with their numbers.

use super::context::Context;
use super::facing::{Facing, first_pair};
use super::histogram::queries;
use super::markup::Elements;
use super::page::{classed, folded, unbroken};
use super::scale::number;
use super::tables::confidence;
use crate::compare::comparison::Comparison;
use crate::compare::options::Alternative;
use crate::error::printable;

/// The most gates that are told at the top.
const GATES: usize = 8;

/// Writes the verdict, the gates, and a sentence for each pair.
pub fn write(page: &mut Elements, of: &Comparison, context: &Context) {
    let mut said = of.verdict().into_iter();
    if let Some(first) = said.next() {
        verdict(page, &first);
    }
    if let Some(meaning) = first_pair(of).and_then(|pair| meaning(&pair)) {
        page.line("p", &[("class", &"meaning")], unbroken(&meaning));
    }
    gates(page, of, context);
    let rest: Vec<String> = said.collect();
    list(page, "says", &rest);
    let sentences = of.sentences();
    if sentences.len() > SENTENCES {
        let heading = |page: &mut Elements| page.text("The pairs one by one");
        folded(page, false, heading, |page| list(page, "says small", &sentences));
    } else {
        list(page, "says small", &sentences);
    }
    list(page, "notes", &of.notes);
}

/// The most sentences of pairs that are not folded.
const SENTENCES: usize = 4;

/// Writes the main sentence in large type, and its statistics in smaller type.
fn verdict(page: &mut Elements, sentence: &str) {
    let sentence = unbroken(&printable(sentence.as_bytes()));
    // The interval and p follow the difference in brackets.
    let split = sentence.rfind(" (").filter(|&at| sentence[at..].contains("interval"));
    let (plain, numbers) = sentence.split_at(split.unwrap_or(sentence.len()));
    page.element("p", &[("class", &"verdict")], |page| {
        page.text(plain);
        if !numbers.is_empty() {
            page.line("small", &[], numbers);
        }
    });
}

fn list(page: &mut Elements, class: &str, lines: &[String]) {
    if !lines.is_empty() {
        classed(page, "ul", class, |page| {
            lines
                .iter()
                .for_each(|line| page.line("li", &[], unbroken(&printable(line.as_bytes()))));
        });
    }
}

/// What the numbers of a pair mean, for people who know no statistics.
fn meaning(pair: &Facing) -> Option<String> {
    let of = pair.of;
    if pair.at.paired.all_zero || of.queries < 2 {
        return None;
    }
    let [other, one] = pair.names();
    let [won, tied, lost] = pair.wins();
    let tied = if tied > 0 { format!(", equally well in {tied}") } else { String::new() };
    let mut text = format!(
        "{one} did better than {other} in {won} of {}{tied} and worse in {lost}.",
        queries(of.queries)
    );
    let two_sided = of.options.alternative == Alternative::TwoSided;
    let Some(p) = pair.at.p_adjusted.filter(|_| two_sided) else { return Some(text) };
    let range =
        pair.ends().map(|[low, high]| format!("from {} to {}", pair.text(low), pair.text(high)));
    if let (Some(true), Some(margin)) = (pair.at.is_equivalent, of.options.margin) {
        return Some(format!("{text} Whatever difference there is, it is smaller than ±{margin}."));
    }
    text += &match (pair.is_sure(), range) {
        (true, _) => format!(
            " If the two were equally good, {}a difference as large as this one would come by \
             chance {}.",
            if of.family_size > 1 && pair.at.p != Some(p) {
                "among so many comparisons "
            } else {
                ""
            },
            chance(p)
        ),
        (false, Some(range)) => format!(
            " That may be luck: the data fit any true difference {range} ({} interval). More \
             queries would tell.",
            confidence(of.options.alpha)
        ),
        (false, None) => " That may be luck: more queries would tell.".to_owned(),
    };
    Some(text)
}

/// A probability as a frequency.
fn chance(p: f64) -> String {
    match p {
        p if p < 0.0001 => "less than once in 10,000 times".to_owned(),
        p if p < 0.01 => format!("about once in {} times", grouped((1.0 / p).round())),
        p => format!("about {} times in 100", number(100.0 * p, usize::from(p < 0.095))),
    }
}

/// A whole number with two leading digits and commas between thousands.
fn grouped(value: f64) -> String {
    let power = 10f64.powf((value.log10().floor() - 1.0).max(0.0));
    let digits = number((value / power).round() * power, 0);
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Writes how many gates failed or passed, and the results of the first gates, failed gates first.
fn gates(page: &mut Elements, of: &Comparison, context: &Context) {
    let report = context.report(of);
    let results = report.results();
    if results.is_empty() {
        return;
    }
    let (count, failed) =
        (results.len(), results.iter().filter(|of| of.judged.verdict.failed).count());
    let what =
        if context.groups.is_empty() { "gates" } else { "gates, over all queries and in groups," };
    let (class, words) = match (failed, count) {
        (0, 1) => ("fine", "✓ The gate passed".to_owned()),
        (0, _) => ("fine", format!("✓ {count} of {count} {what} passed")),
        _ => ("alarm", format!("✗ {failed} of {count} {what} failed")),
    };
    classed(page, "div", class, |page| {
        page.element("p", &[], |page| {
            page.line("strong", &[], words);
            page.text(" ");
            page.line("a", &[("href", &"#gates")], "all gates");
        });
        let that =
            |failed: bool| results.iter().filter(move |of| of.judged.verdict.failed == failed);
        page.element("ul", &[], |page| {
            for result in that(true).chain(that(false)).take(GATES) {
                let mark = if result.judged.verdict.failed { "✗" } else { "✓" };
                let told = unbroken(&printable(result.sentence().to_string().as_bytes()));
                page.element("li", &[], |page| {
                    page.text(format_args!("{mark} {told} "));
                    page.line("code", &[], printable(result.title().as_bytes()));
                });
            }
        });
        let left = results.len().saturating_sub(GATES);
        if left > 0 {
            page.line("p", &[], format_args!("{left} more results stand below."));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_are_frequencies() {
        let said = [0.00001, 0.00019, 0.0098, 0.02, 0.044, 0.2].map(chance);
        assert_eq!(
            said,
            [
                "less than once in 10,000 times",
                "about once in 5,300 times",
                "about once in 100 times",
                "about 2.0 times in 100",
                "about 4.4 times in 100",
                "about 20 times in 100"
            ]
        );
    }
}
