//! The top of a comparison's HTML page: the verdict in large type, its meaning in plain words, and
//! the gates.

use super::context::PageContext;
use super::histogram::queries;
use super::markup::Elements;
use super::oriented_pair::{OrientedPair, first_pair};
use super::page::{details_element, element_with_class, no_break};
use super::scale::number;
use super::tables::confidence;
use crate::compare::comparison::Comparison;
use crate::compare::options::Alternative;
use crate::report::run_name::visible;

/// The most gates that are told at the top.
const GATES: usize = 8;

/// Writes the top of a comparison's HTML page: verdict, meaning, gates, and a sentence for each
/// pair of runs.
pub fn write(page: &mut Elements, comparison: &Comparison, context: &PageContext) {
    let mut lines = comparison.verdict().into_iter();
    if let Some(first) = lines.next() {
        verdict(page, &first);
    }
    if let Some(meaning) = first_pair(comparison).and_then(|pair| meaning(&pair)) {
        page.line("p", &[("class", &"meaning")], no_break(&meaning));
    }
    gates(page, comparison, context);
    let rest: Vec<String> = lines.collect();
    list(page, "says", &rest);
    let sentences = comparison.sentences();
    if sentences.len() > SENTENCES {
        details_element(
            page,
            false,
            |page| page.text("The pairs one by one"),
            |page| list(page, "says small", &sentences),
        );
    } else {
        list(page, "says small", &sentences);
    }
    list(page, "notes", &comparison.notes);
}

/// The most sentences of pairs that are not folded.
const SENTENCES: usize = 4;

/// Writes the verdict of a comparison in large type, and its statistics in smaller type.
fn verdict(page: &mut Elements, sentence: &str) {
    let sentence = no_break(&visible(sentence));
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
        element_with_class(page, "ul", class, |page| {
            lines.iter().for_each(|line| page.line("li", &[], no_break(&visible(line))));
        });
    }
}

/// Describes the difference between two runs in plain words, for people who know no statistics.
fn meaning(pair: &OrientedPair) -> Option<String> {
    let comparison = pair.comparison;
    if pair.at.paired.all_zero || comparison.queries < 2 {
        return None;
    }
    let [other, one] = pair.names();
    let [won, tied, lost] = pair.wins();
    let tied = if tied > 0 { format!(", equally well in {tied}") } else { String::new() };
    let mut text = format!(
        "{one} did better than {other} in {won} of {}{tied} and worse in {lost}.",
        queries(comparison.queries)
    );
    let two_sided = comparison.options.alternative == Alternative::TwoSided;
    let Some(p) = pair.at.p_adjusted.filter(|_| two_sided) else { return Some(text) };
    let range =
        pair.ends().map(|[low, high]| format!("from {} to {}", pair.text(low), pair.text(high)));
    if let (Some(true), Some(margin)) = (pair.at.is_equivalent, comparison.options.margin) {
        return Some(format!("{text} Whatever difference there is, it is smaller than ±{margin}."));
    }
    text += &match (pair.is_significant(), range) {
        (true, _) => format!(
            " If the two were equally good, {}a difference as large as this one would come by \
             chance {}.",
            if comparison.family_size > 1 && pair.at.p != Some(p) {
                "among so many comparisons "
            } else {
                ""
            },
            chance(p)
        ),
        (false, Some(range)) => format!(
            " That may be luck: the data fit any true difference {range} ({} interval). More \
             queries would tell.",
            confidence(comparison)
        ),
        (false, None) => " That may be luck: more queries would tell.".to_owned(),
    };
    Some(text)
}

/// Returns a probability in words as a frequency, such as `about once in 200 times`.
fn chance(p: f64) -> String {
    match p {
        p if p < 0.0001 => "less than once in 10,000 times".to_owned(),
        p if p < 0.01 => format!("about once in {} times", grouped((1.0 / p).round())),
        p => format!("about {} times in 100", number(100.0 * p, usize::from(p < 0.095))),
    }
}

/// Returns a number as text, rounded to two leading digits, with commas between thousands.
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

/// Writes the number of failed or passed gates, and the results of the first gates, failed gates
/// first.
fn gates(page: &mut Elements, comparison: &Comparison, context: &PageContext) {
    let report = context.report(comparison);
    let results = report.failed_first();
    if results.is_empty() {
        return;
    }
    let (count, failed) =
        (results.len(), results.iter().filter(|result| result.has_failed()).count());
    let what =
        if context.groups.is_empty() { "gates" } else { "gates, over all queries and in groups," };
    let (class, words) = match (failed, count) {
        (0, 1) => ("fine", "✓ The gate passed".to_owned()),
        (0, _) => ("fine", format!("✓ {count} of {count} {what} passed")),
        _ => ("alarm", format!("✗ {failed} of {count} {what} failed")),
    };
    element_with_class(page, "div", class, |page| {
        page.element("p", &[], |page| {
            page.line("strong", &[], words);
            page.text(" ");
            page.line("a", &[("href", &"#gates")], "all gates");
        });
        page.element("ul", &[], |page| {
            for result in results.iter().take(GATES) {
                let mark = if result.has_failed() { "✗" } else { "✓" };
                let sentence = no_break(&visible(result.sentence().to_string()));
                page.element("li", &[], |page| {
                    page.text(format_args!("{mark} {sentence} "));
                    page.line("code", &[], visible(result.title()));
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
        let phrases = [0.00001, 0.00019, 0.0098, 0.02, 0.044, 0.2].map(chance);
        assert_eq!(
            phrases,
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
