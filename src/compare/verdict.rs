//! The verdict of a comparison: the better run, the size of the difference, and the evidence, in as
//! few words as possible.
//!
//! The verdict is about the first measure. Up to five runs have a sentence for each pair: the best
//! run against each run, decided pairs first. With a baseline, each run is compared with the
//! baseline. More runs are summarised: without a baseline, the best run against the next, and the
//! runs not shown to be worse than the best. [`Comparison::sentences`] give the means, queries and
//! test of each pair.

use std::fmt::Write;

use super::comparison::Comparison;
use super::difference::{Difference, SentencePair};
use super::options::Alternative;
use super::p_text::p_text;
use crate::measure::Direction;

/// The most names in a list of runs.
const NAMED: usize = 8;
/// The most pairs with a sentence each.
const MOST: usize = 12;

/// The answer of a comparison about a pair of runs, such as significant, equivalent or
/// inconclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// The values of every query are the same.
    Identical,
    /// The runs are equal for practical purposes, and neither run is shown to be better.
    Equivalent,
    /// One run is shown to be better.
    Significant,
    /// One run is shown to be better, but by less than the margin.
    SignificantButSmall,
    /// The test and the means point opposite ways.
    Contradictory,
    /// Nothing is shown.
    Inconclusive,
}

impl Answer {
    /// Returns whether one run of the pair is shown to be better than the other.
    fn is_significant(self) -> bool {
        matches!(self, Self::Significant | Self::SignificantButSmall)
    }

    /// Returns whether the answer leaves the pair of runs undecided.
    fn is_undecided(self) -> bool {
        matches!(self, Self::Inconclusive | Self::Contradictory)
    }
}

impl Comparison {
    /// Returns the verdict of the comparison in plain words, a sentence each, the most important
    /// first.
    ///
    /// ```
    /// # use laneval::compare::{Comparison, ComparisonOptions};
    /// # use laneval::{Evaluator, Join};
    /// # let runs = ["examples/data/demo-bm25.run", "examples/data/demo-hybrid.run"];
    /// # let matrix = Join::default().files("examples/data/demo.qrels", runs)?;
    /// # let scores = Evaluator::new(["nDCG@10"])?.with_per_query(true).evaluate(&matrix)?;
    /// let comparison = Comparison::new(&scores, &ComparisonOptions::default())?;
    /// assert_eq!(
    ///     comparison.verdict(),
    ///     ["demo-hybrid.run is better than demo-bm25.run: nDCG@10 +0.165 \
    ///       (95 % interval +0.084 to +0.245), p = 0.0002."]
    /// );
    /// # Ok::<(), laneval::Error>(())
    /// ```
    pub fn verdict(&self) -> Vec<String> {
        match (self.has_many_runs(), self.baseline) {
            (true, Some(baseline)) => self.many_against_baseline(baseline),
            (true, None) if self.compares_all_pairs() => self.many_runs_verdict(),
            // A one-sided question has a direction for each pair, and tells no best run.
            _ => self.one_by_one(&self.sentence_pairs()),
        }
    }

    /// Describes each pair of runs in a sentence: decided pairs first, then undecided pairs. The
    /// first sentence names the measure.
    fn one_by_one(&self, pairs: &[&Difference]) -> Vec<String> {
        let (open, decided): (Vec<&Difference>, Vec<&Difference>) =
            pairs.iter().partition(|difference| self.answer(difference).is_undecided());
        let all = decided.into_iter().chain(open).take(MOST).enumerate();
        all.map(|(at, difference)| self.pair_sentence(difference, at == 0)).collect()
    }

    /// Returns the answer of the comparison about a pair of runs, such as significant or
    /// equivalent.
    fn answer(&self, difference: &Difference) -> Answer {
        match () {
            // First, because equal runs have a p of 1 and would count as undecided.
            () if difference.paired.all_zero => Answer::Identical,
            () if self.is_significant(difference) && difference.is_equivalent == Some(true) => {
                Answer::SignificantButSmall
            }
            () if self.is_significant(difference) => Answer::Significant,
            () if difference.is_equivalent == Some(true) => Answer::Equivalent,
            () if difference.is_significant(self.options.alpha) => Answer::Contradictory,
            () => Answer::Inconclusive,
        }
    }

    /// Returns the verdict on a pair of runs as a sentence. With a baseline, the sentence is about
    /// the run beside the baseline; otherwise, about the better run.
    fn pair_sentence(&self, difference: &Difference, names_measure: bool) -> String {
        let SentencePair { one, other, sign, word } =
            difference.sentence_pair(self.baseline.is_some());
        let [one, other] = [one, other].map(|run| self.name(run));
        let measure = if names_measure {
            format!("{} ", self.first_measure_name(difference))
        } else {
            String::new()
        };
        let numbers = format!("{measure}{}", self.numbers(difference, sign));
        match (self.answer(difference), self.options.alternative) {
            (Answer::Identical, _) => {
                format!(
                    "{one} and {other} have the same {} in every query.",
                    self.measures[difference.measure]
                )
            }
            (Answer::Equivalent, _) => {
                format!("{one} and {other} are equal within ±{}: {numbers}.", self.margin())
            }
            (Answer::Significant, _) => {
                format!("{one} is {word} than {other}: {numbers}.")
            }
            (Answer::SignificantButSmall, _) => {
                format!(
                    "{one} is {word} than {other}, but by less than ±{}: {numbers}.",
                    self.margin()
                )
            }
            (Answer::Contradictory, _) => format!(
                "{one} against {other} is undecided, for most queries lean one way and the means \
                 the other: {numbers}."
            ),
            (Answer::Inconclusive, Alternative::TwoSided) => {
                format!("{one} against {other} is undecided: {numbers}.")
            }
            (Answer::Inconclusive, alternative) => {
                // The question has a direction, from the baseline of the pair to its run.
                let [run, baseline] = self.pair_names(difference.pair);
                let word = if alternative == Alternative::Better { "better" } else { "worse" };
                format!(
                    "{run} is not shown to be {word} than {baseline}: {measure}{}.",
                    self.numbers(difference, 1.0)
                )
            }
        }
    }

    fn margin(&self) -> f64 {
        self.options.margin.unwrap_or_default()
    }

    /// Returns the name of a difference's measure, with `(lower is better)` if that is so.
    fn first_measure_name(&self, difference: &Difference) -> String {
        let measure = &self.measures[difference.measure];
        if difference.better == Direction::Lower {
            format!("{measure} (lower is better)")
        } else {
            measure.to_string()
        }
    }

    /// Describes a difference of two runs by its size, its share of the baseline, its interval and
    /// its p; `sign` −1 swaps the runs.
    fn numbers(&self, difference: &Difference, sign: f64) -> String {
        let mut text = signed_decimals(difference, sign * difference.paired.mean);
        let mut within = Vec::new();
        if let (Some(baseline), Some(share), false) =
            (self.baseline, difference.relative, difference.logarithmic)
        {
            // The sign of the baseline's mean, so that a rise from a negative mean is positive too.
            let mean = self.runs[baseline].means[difference.measure];
            within.push(format!("{:+.1} %", 100.0 * sign * share * mean.signum()));
        }
        // If every query changes by an equal amount, the t interval is a point, and a point says
        // nothing of unseen queries.
        let is_point =
            difference.p.is_none() && difference.interval.is_some_and(|[low, high]| low == high);
        if let Some([low, high]) = difference.interval.filter(|_| !is_point) {
            let ends = if sign < 0.0 { [-high, -low] } else { [low, high] };
            let [low, high] = ends.map(|end| signed_decimals(difference, end));
            within.push(format!("{} interval {low} to {high}", self.confidence()));
        }
        if !within.is_empty() {
            _ = write!(text, " ({})", within.join(", "));
        }
        // The p of a margin is that of the margin.
        if let (Answer::Equivalent, Some(p)) = (self.answer(difference), difference.p_margin) {
            _ = write!(text, ", {} in two one-sided tests", p_text(p));
            return text;
        }
        match difference.p_adjusted {
            Some(p) if self.family_size > 1 => _ = write!(text, ", adjusted {}", p_text(p)),
            Some(p) => _ = write!(text, ", {}", p_text(p)),
            None if self.queries < 2 => {
                text += " in the only query, which says nothing about others"
            }
            None if is_point => text += " in every query, for which the test has no p",
            None => text += ", and the test has no p",
        }
        text
    }

    /// Returns the verdict on six or more runs: the best run, the next, and the runs not shown to
    /// differ from the best.
    fn many_runs_verdict(&self) -> Vec<String> {
        let order = self.ranked(0);
        let [best, next] = [order[0], order[1]];
        if !self.is_best(0, best) {
            let mean = decimals(self.runs[best].means[0]);
            return vec![format!(
                "All {} runs have the same mean {}: {mean}.",
                self.runs.len(),
                self.measures[0]
            )];
        }
        let leaders = self.best_group(0);
        let extreme = if self.measures[0].definition().better == Direction::Lower {
            "lowest"
        } else {
            "highest"
        };
        let mut sentences = vec![format!(
            "{} has the {extreme} {} of {} runs: {}.",
            self.name(best),
            self.measures[0],
            self.runs.len(),
            decimals(self.runs[best].means[0])
        )];
        if let Some(difference) = self.between(0, best, next) {
            sentences.push(self.against_next(difference, self.name(next)));
        }
        let others: Vec<&str> =
            leaders.iter().filter(|&&run| run != best).map(|&run| self.name(run)).collect();
        let better = self.runs.len() - leaders.len();
        sentences.push(match (others.len(), better) {
            (0, better) => format!("It is better than all {better} others."),
            (count, 0) => format!("None of the {count} other runs can be told from it."),
            (_, better) => format!(
                "{} cannot be told from it: {}. It is better than the other {better}.",
                counted(others.len()),
                listed(&others)
            ),
        });
        sentences
    }

    /// Returns the sentence about the best of many runs against the next best run.
    fn against_next(&self, difference: &Difference, next: &str) -> String {
        let numbers = self.numbers(difference, difference.sentence_pair(false).sign);
        match self.answer(difference) {
            Answer::Identical => {
                format!("The next, {next}, has the same value in every query.")
            }
            Answer::Equivalent => {
                format!("It and the next, {next}, are equal within ±{}: {numbers}.", self.margin())
            }
            Answer::Significant => format!("It is better than the next, {next}: {numbers}."),
            Answer::SignificantButSmall => {
                format!(
                    "It is better than the next, {next}, but by less than ±{}: {numbers}.",
                    self.margin()
                )
            }
            Answer::Contradictory => format!(
                "Against the next, {next}, it is undecided, for most queries lean one way and the \
                 means the other: {numbers}."
            ),
            Answer::Inconclusive => {
                format!("Against the next, {next}, it is undecided: {numbers}.")
            }
        }
    }

    /// Returns the verdict on six or more runs against a baseline: the better runs, and the best of
    /// the runs.
    fn many_against_baseline(&self, baseline: usize) -> Vec<String> {
        let pairs = self.sentence_pairs();
        let (mut better, mut worse, mut equal, mut open) = (vec![], vec![], vec![], vec![]);
        let mut best = None;
        for &difference in &pairs {
            let answer = self.answer(difference);
            let names = if answer.is_undecided() {
                &mut open
            } else if !answer.is_significant() {
                &mut equal
            } else if difference.gain() > 0.0 {
                best = best.or(Some(difference));
                &mut better
            } else {
                &mut worse
            };
            names.push(self.name(difference.pair.run));
        }
        let than = self.name(baseline);
        let (measure, count) = (&self.measures[0], pairs.len());
        let mut sentences = vec![match better.len() {
            0 => format!("None of {count} runs is shown to be better than {than} on {measure}."),
            many => format!(
                "{many} of {count} runs {} better than {than} on {measure}: {}.",
                if many == 1 { "is" } else { "are" },
                listed(&better)
            ),
        }];
        // The run with the best mean comes first, among better runs or else among all runs.
        let best = best.or(pairs.first().copied());
        sentences.extend(best.map(|difference| self.best_of_them(difference)));
        if !worse.is_empty() {
            sentences.push(format!("{} worse than {than}: {}.", are(worse.len()), listed(&worse)));
        }
        if !equal.is_empty() {
            sentences.push(format!("{} equal to {than}: {}.", are(equal.len()), listed(&equal)));
        }
        if !open.is_empty() && !better.is_empty() {
            sentences.push(format!("{} undecided: {}.", are(open.len()), listed(&open)));
        }
        sentences
    }

    /// Returns the sentence about the best of many runs against the baseline.
    fn best_of_them(&self, difference: &Difference) -> String {
        let run = self.name(difference.pair.run);
        format!(
            "The best of them, {run}: {} {}.",
            self.first_measure_name(difference),
            self.numbers(difference, 1.0)
        )
    }
}

fn are(count: usize) -> String {
    if count == 1 { "1 is".to_owned() } else { format!("{count} are") }
}

fn counted(runs: usize) -> String {
    if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") }
}

/// Lists the first names of runs, and the number of further names.
fn listed(names: &[&str]) -> String {
    let named = names[..names.len().min(NAMED)].join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// Formats a value of a difference of two runs with three decimals: a logarithm as a factor, else a
/// number with its sign.
fn signed_decimals(difference: &Difference, value: f64) -> String {
    if difference.logarithmic {
        format!("×{}", decimals(value.exp()))
    } else {
        format!("{}{}", if value < 0.0 { '-' } else { '+' }, decimals(value.abs()))
    }
}

/// Formats a number with three decimals, or with two significant digits if it is smaller.
fn decimals(value: f64) -> String {
    let small = value != 0.0 && value.abs() < 0.000_95;
    let decimals = if small { 1 - value.abs().log10().floor() as i32 } else { 3 };
    format!("{value:.*}", decimals.clamp(3, 17) as usize)
}
