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
use super::difference::{Difference, DifferenceTold};
use super::options::Alternative;
use super::p_is::p_is;
use crate::measure::Better;

/// The most names in a list of runs.
const NAMED: usize = 8;
/// The most pairs with a sentence each.
const MOST: usize = 12;

/// The answer of a comparison about a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PairAnswer {
    /// The values of every query are the same.
    Same,
    /// The runs are equal for practical purposes, and neither run is shown to be better.
    Equal,
    /// One run is shown to be better.
    Shown,
    /// One run is shown to be better, but by less than the margin.
    Slight,
    /// The test and the means point opposite ways.
    Contradictory,
    /// Nothing is shown.
    Open,
}

impl Comparison {
    /// The verdict in plain words, a sentence each, the most important first.
    ///
    /// ```
    /// # use laneval::compare::{Comparison, ComparisonOptions};
    /// # use laneval::{Evaluator, Join};
    /// # let runs = ["examples/data/demo-bm25.run", "examples/data/demo-hybrid.run"];
    /// # let matrix = Join::default().files("examples/data/demo.qrels", runs)?;
    /// # let scores = Evaluator::new(["nDCG@10"])?.with_per_query(true).evaluate(&matrix)?;
    /// let comparison = Comparison::of(&scores, &ComparisonOptions::default())?;
    /// assert_eq!(
    ///     comparison.verdict(),
    ///     ["demo-hybrid.run is better than demo-bm25.run: nDCG@10 +0.165 \
    ///       (95 % interval +0.084 to +0.245), p = 0.0002."]
    /// );
    /// # Ok::<(), laneval::Error>(())
    /// ```
    pub fn verdict(&self) -> Vec<String> {
        match (self.has_many_runs(), self.baseline) {
            (true, Some(baseline)) => self.of_many_against(baseline),
            (true, None) if self.tells_the_best() => self.of_many(),
            // A one-sided question has a direction for each pair, and tells no best run.
            _ => self.one_by_one(&self.leading()),
        }
    }

    /// Describes each pair in a sentence: decided pairs first, then undecided pairs. The first
    /// sentence names the measure.
    fn one_by_one(&self, pairs: &[&Difference]) -> Vec<String> {
        let is_decided = |of: &&&Difference| {
            !matches!(self.answer(of), PairAnswer::Open | PairAnswer::Contradictory)
        };
        let (decided, open): (Vec<&Difference>, Vec<&Difference>) =
            pairs.iter().partition(is_decided);
        let all = decided.into_iter().chain(open).take(MOST).enumerate();
        all.map(|(at, of)| self.said(of, at == 0)).collect()
    }

    /// Returns the answer about a pair.
    fn answer(&self, of: &Difference) -> PairAnswer {
        match () {
            () if of.paired.all_zero => PairAnswer::Same,
            () if self.is_shown(of) && of.is_equivalent == Some(true) => PairAnswer::Slight,
            () if self.is_shown(of) => PairAnswer::Shown,
            () if of.is_equivalent == Some(true) => PairAnswer::Equal,
            () if of.is_significant(self.options.alpha) => PairAnswer::Contradictory,
            () => PairAnswer::Open,
        }
    }

    /// The verdict on a pair. With a baseline, the sentence is about the run beside the baseline;
    /// otherwise, about the better run.
    fn said(&self, of: &Difference, names_measure: bool) -> String {
        let DifferenceTold { one, other, sign, better } = of.told(self.baseline.is_some());
        let [one, other] = [one, other].map(|run| self.runs[run].name.as_str());
        let measure =
            if names_measure { format!("{} ", self.told_measure(of)) } else { String::new() };
        let numbers = format!("{measure}{}", self.numbers(of, sign));
        let word = |better: bool| if better { "better" } else { "worse" };
        match (self.answer(of), self.options.alternative) {
            (PairAnswer::Same, _) => {
                format!(
                    "{one} and {other} have the same {} in every query.",
                    self.measures[of.measure]
                )
            }
            (PairAnswer::Equal, _) => {
                format!("{one} and {other} are equal within ±{}: {numbers}.", self.margin())
            }
            (PairAnswer::Shown, _) => format!("{one} is {} than {other}: {numbers}.", word(better)),
            (PairAnswer::Slight, _) => {
                format!(
                    "{one} is {} than {other}, but by less than ±{}: {numbers}.",
                    word(better),
                    self.margin()
                )
            }
            (PairAnswer::Contradictory, _) => format!(
                "{one} against {other} is undecided, for most queries lean one way and the means \
                 the other: {numbers}."
            ),
            (PairAnswer::Open, Alternative::TwoSided) => {
                format!("{one} against {other} is undecided: {numbers}.")
            }
            (PairAnswer::Open, alternative) => {
                // The question has a direction, from the baseline of the pair to its run.
                let [run, baseline] =
                    [of.pair.run, of.pair.baseline].map(|run| self.runs[run].name.as_str());
                let word = word(alternative == Alternative::Better);
                format!(
                    "{run} is not shown to be {word} than {baseline}: {measure}{}.",
                    self.numbers(of, 1.0)
                )
            }
        }
    }

    fn margin(&self) -> f64 {
        self.options.margin.unwrap_or_default()
    }

    /// The measure of a pair, with its direction if that is not the usual one.
    fn told_measure(&self, of: &Difference) -> String {
        let measure = &self.measures[of.measure];
        if of.better == Better::Lower {
            format!("{measure} (lower is better)")
        } else {
            measure.to_string()
        }
    }

    /// The difference, its share of the baseline, its interval and its p; `sign` is −1 for that of
    /// the baseline less the run.
    fn numbers(&self, of: &Difference, sign: f64) -> String {
        let shown = |value: f64| {
            if of.logarithmic {
                format!("×{}", decimals(value.exp()))
            } else {
                format!("{}{}", if value < 0.0 { '-' } else { '+' }, decimals(value.abs()))
            }
        };
        let mut text = shown(sign * of.paired.mean);
        let mut within = Vec::new();
        if let (Some(_), Some(share), false) = (self.baseline, of.relative, of.logarithmic) {
            within.push(format!(
                "{:+.1} %",
                100.0 * sign * share * self.runs[of.pair.baseline].means[of.measure].signum()
            ));
        }
        // If every query changes by an equal amount, the t interval is a point, and a point says
        // nothing of unseen queries.
        let is_point = of.p.is_none() && of.interval.is_some_and(|[low, high]| low == high);
        if let Some([low, high]) = of.interval.filter(|_| !is_point) {
            let [low, high] = if sign < 0.0 { [-high, -low] } else { [low, high] };
            within.push(format!(
                "{} interval {} to {}",
                self.confidence(),
                shown(low),
                shown(high)
            ));
        }
        if !within.is_empty() {
            _ = write!(text, " ({})", within.join(", "));
        }
        // The p of a margin is that of the margin.
        if let (PairAnswer::Equal, Some(p)) = (self.answer(of), of.p_margin) {
            _ = write!(text, ", {} in two one-sided tests", p_is(p));
            return text;
        }
        match of.p_adjusted {
            Some(p) if self.family_size > 1 => _ = write!(text, ", adjusted {}", p_is(p)),
            Some(p) => _ = write!(text, ", {}", p_is(p)),
            None if self.queries < 2 => {
                text += " in the only query, which says nothing about others"
            }
            None if is_point => text += " in every query, for which the test has no p",
            None => text += ", and the test has no p",
        }
        text
    }

    /// The verdict on many runs: the best run, the next, and the runs not shown to differ from the
    /// best.
    fn of_many(&self) -> Vec<String> {
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
        let leaders = self.leaders(0);
        let name = |run: usize| self.runs[run].name.as_str();
        let extreme = if self.measures[0].definition().better == Better::Lower {
            "lowest"
        } else {
            "highest"
        };
        let mut said = vec![format!(
            "{} has the {extreme} {} of {} runs: {}.",
            name(best),
            self.measures[0],
            self.runs.len(),
            decimals(self.runs[best].means[0])
        )];
        if let Some(of) = self.between(0, best, next) {
            said.push(self.against_next(of, name(next)));
        }
        let others: Vec<&str> =
            leaders.iter().filter(|&&run| run != best).map(|&run| name(run)).collect();
        let better = self.runs.len() - leaders.len();
        said.push(match (others.len(), better) {
            (0, better) => format!("It is better than all {better} others."),
            (count, 0) => format!("None of the {count} other runs can be told from it."),
            (_, better) => format!(
                "{} cannot be told from it: {}. It is better than the other {better}.",
                counted(others.len()),
                listed(&others)
            ),
        });
        said
    }

    /// The best run against the next.
    fn against_next(&self, of: &Difference, next: &str) -> String {
        let numbers = self.numbers(of, of.told(false).sign);
        match self.answer(of) {
            PairAnswer::Same => format!("The next, {next}, has the same value in every query."),
            PairAnswer::Equal => {
                format!("It and the next, {next}, are equal within ±{}: {numbers}.", self.margin())
            }
            PairAnswer::Shown => format!("It is better than the next, {next}: {numbers}."),
            PairAnswer::Slight => {
                format!(
                    "It is better than the next, {next}, but by less than ±{}: {numbers}.",
                    self.margin()
                )
            }
            PairAnswer::Contradictory => format!(
                "Against the next, {next}, it is undecided, for most queries lean one way and the \
                 means the other: {numbers}."
            ),
            PairAnswer::Open => format!("Against the next, {next}, it is undecided: {numbers}."),
        }
    }

    /// The verdict on many runs against a baseline: how many are better, and the best of them.
    fn of_many_against(&self, baseline: usize) -> Vec<String> {
        let pairs = self.leading();
        let that = |is: &dyn Fn(PairAnswer, bool) -> bool| {
            let found = pairs.iter().filter(|of| is(self.answer(of), of.gain() > 0.0));
            found.copied().collect::<Vec<&Difference>>()
        };
        let is_shown = |answer| matches!(answer, PairAnswer::Shown | PairAnswer::Slight);
        let better = that(&|answer, gains| is_shown(answer) && gains);
        let worse = that(&|answer, gains| is_shown(answer) && !gains);
        let equal = that(&|answer, _| matches!(answer, PairAnswer::Same | PairAnswer::Equal));
        let open =
            that(&|answer, _| matches!(answer, PairAnswer::Open | PairAnswer::Contradictory));
        let name = |of: &&Difference| self.runs[of.pair.run].name.as_str();
        let names = |of: &[&Difference]| listed(&of.iter().map(name).collect::<Vec<_>>());
        let than = &self.runs[baseline].name;
        let (measure, count) = (&self.measures[0], pairs.len());
        let mut said = vec![match better.len() {
            0 => format!("None of {count} runs is shown to be better than {than} on {measure}."),
            1 => {
                format!("1 of {count} runs is better than {than} on {measure}: {}.", names(&better))
            }
            many => {
                format!(
                    "{many} of {count} runs are better than {than} on {measure}: {}.",
                    names(&better)
                )
            }
        }];
        // The run with the best mean comes first, among better runs or else among all runs.
        said.extend(better.first().or(pairs.first()).map(|of| self.best_of_them(of)));
        if !worse.is_empty() {
            said.push(format!("{} worse than {than}: {}.", are(worse.len()), names(&worse)));
        }
        if !equal.is_empty() {
            said.push(format!("{} equal to {than}: {}.", are(equal.len()), names(&equal)));
        }
        if !open.is_empty() && !better.is_empty() {
            said.push(format!("{} undecided: {}.", are(open.len()), names(&open)));
        }
        said
    }

    /// The best of many runs against the baseline.
    fn best_of_them(&self, of: &Difference) -> String {
        let run = &self.runs[of.pair.run].name;
        format!("The best of them, {run}: {} {}.", self.told_measure(of), self.numbers(of, 1.0))
    }
}

fn are(count: usize) -> String {
    if count == 1 { "1 is".to_owned() } else { format!("{count} are") }
}

fn counted(runs: usize) -> String {
    if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") }
}

/// Lists the first names, and the number of further names.
fn listed(names: &[&str]) -> String {
    let named = names[..names.len().min(NAMED)].join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// A number with three decimals, or two digits if it is smaller.
fn decimals(value: f64) -> String {
    let small = value != 0.0 && value.abs() < 0.000_95;
    let decimals = if small { 1 - value.abs().log10().floor() as i32 } else { 3 };
    format!("{value:.*}", decimals.clamp(3, 17) as usize)
}
