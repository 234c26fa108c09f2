//! Sentences about a comparison of runs, for people who are not statisticians.

use std::fmt::Write;

use super::bootstrap;
use super::comparison::Comparison;
use super::difference::{Difference, SentencePair};
use super::draws::monte_carlo_error;
use super::options::{Alternative, Correction, Interval, Permutations, Scope, Test};
use super::p_text::p_text;
use super::randomised::Pair;
use crate::measure::Direction;
use crate::sort;
use crate::summary::skipped_sentence;

/// The number of queries from which on nearly every difference is significant.
const MANY: usize = 10_000;
/// The number of queries below which the interval depends on normality.
const FEW: usize = 20;
/// The largest difference of shares of judged documents that needs no note.
const JUDGED: f64 = 0.1;
/// The most sentences.
const MOST: usize = 12;

impl Comparison {
    /// Returns a sentence for each pair of runs under the first measure: the pairs with the
    /// baseline, or those with the best run. Of six runs or more the pairs with the best others
    /// come first.
    pub fn sentences(&self) -> Vec<String> {
        let mut differences = self.sentence_pairs();
        let left = differences.len().saturating_sub(MOST);
        differences.truncate(MOST);
        let mut sentences: Vec<String> =
            differences.into_iter().map(|difference| self.sentence(difference)).collect();
        if left > 0 {
            let comparisons = if left == 1 { "comparison" } else { "comparisons" };
            sentences.push(format!("{left} more {comparisons}: see CSV or JSON."));
        }
        sentences
    }

    /// Returns a sentence for every pair of runs under the first measure, those of the best runs
    /// first.
    pub fn all_sentences(&self) -> Vec<String> {
        self.all_ranked().into_iter().map(|difference| self.sentence(difference)).collect()
    }

    fn sentence(&self, difference: &Difference) -> String {
        let alpha = self.options.alpha;
        match difference.p_adjusted {
            // Certain facts come first, then the margin (asked for by the user), then the result of
            // the test.
            _ if difference.paired.all_zero => self.identical(difference),
            _ if difference.is_equivalent == Some(true) => self.equivalent(difference),
            Some(p) if p < alpha && self.is_contradictory(difference) => {
                self.contradictory(difference, p)
            }
            Some(p) if p < alpha => self.better(difference, p),
            Some(p) => match difference.p.filter(|alone| *alone < alpha) {
                Some(alone) => self.not_after_correction(difference, alone, p),
                None => self.not_shown(difference, p),
            },
            None => self.without_p(difference),
        }
    }

    /// Returns the name of a run.
    pub(crate) fn name(&self, run: usize) -> &str {
        &self.runs[run].name
    }

    /// Returns the names of the run and of the baseline of a pair.
    pub(crate) fn pair_names(&self, pair: Pair) -> [&str; 2] {
        pair.runs().map(|run| self.name(run))
    }

    fn identical(&self, difference: &Difference) -> String {
        let [a, b] = self.pair_names(difference.pair);
        let queries = if self.queries == 1 {
            "the query".to_owned()
        } else {
            format!("each of the {} queries", self.queries)
        };
        format!("{a} and {b} have the same {} in {queries}.", self.measures[difference.measure])
    }

    fn equivalent(&self, difference: &Difference) -> String {
        let [a, b] = self.pair_names(difference.pair);
        let p = difference
            .p_margin
            .map_or(String::new(), |p| format!(" ({}, two one-sided tests)", p_text(p)));
        let margin = self.options.margin.unwrap_or_default();
        format!(
            "{a} and {b} are equal for practical purposes on {}: they differ by less than \
             ±{margin}{p}.",
            self.measures[difference.measure]
        )
    }

    /// Describes the means of two runs, and their difference with its interval; `sign` is −1 if the
    /// runs are in the other order than the pair.
    fn means(&self, runs: [usize; 2], difference: &Difference, sign: f64) -> String {
        let [a, b] = runs.map(|run| self.runs[run].means[difference.measure]);
        let mut text = format!("{a:.4} against {b:.4}");
        let interval = difference
            .interval
            .map(|[low, high]| if sign < 0.0 { [-high, -low] } else { [low, high] });
        if difference.logarithmic {
            _ = write!(text, ", {:.4} times as much", (sign * difference.paired.mean).exp());
            if let Some([low, high]) = interval {
                _ = write!(
                    text,
                    ", {} interval {:.4} to {:.4}",
                    self.confidence(),
                    low.exp(),
                    high.exp()
                );
            }
            return text;
        }
        _ = write!(text, ", {:+.4}", sign * difference.paired.mean);
        if b != 0.0 {
            _ = write!(text, " ({:+.1} %)", sign * difference.paired.mean / b.abs() * 100.0);
        }
        if let Some([low, high]) = interval {
            _ = write!(text, ", {} interval {low:+.4} to {high:+.4}", self.confidence());
        }
        text
    }

    /// Returns the confidence level of the intervals as text, such as `95 %`.
    pub(super) fn confidence(&self) -> String {
        format!("{} %", round(100.0 * (1.0 - self.options.alpha)))
    }

    fn better(&self, difference: &Difference, p: f64) -> String {
        let SentencePair { one, other, sign, word } =
            difference.sentence_pair(self.baseline.is_some());
        let (won, lost) = if sign > 0.0 {
            (difference.wins.wins, difference.wins.losses)
        } else {
            (difference.wins.losses, difference.wins.wins)
        };
        let higher = if difference.better == Direction::Lower { " (lower is better)" } else { "" };
        format!(
            "{} is {word} than {} on {}{higher}: {}; {} ({}); of {} queries {won} won, {} tied, \
             {lost} lost.",
            self.name(one),
            self.name(other),
            self.measures[difference.measure],
            self.means([one, other], difference, sign),
            p_text(p),
            self.method(),
            self.queries,
            difference.wins.ties,
        )
    }

    /// Returns the sentence about a difference whose test points the other way than the means of
    /// the runs.
    fn contradictory(&self, difference: &Difference, p: f64) -> String {
        let SentencePair { one, other, sign, .. } =
            difference.sentence_pair(self.baseline.is_some());
        format!(
            "Most queries lean one way and the means the other: {} and {} on {}: {}; {} ({}).",
            self.name(one),
            self.name(other),
            self.measures[difference.measure],
            self.means([one, other], difference, sign),
            p_text(p),
            self.method(),
        )
    }

    fn not_shown(&self, difference: &Difference, p: f64) -> String {
        let [run, baseline] = self.pair_names(difference.pair);
        let what = match self.options.alternative {
            Alternative::TwoSided => format!("No difference shown between {run} and {baseline}"),
            Alternative::Better => format!("{run} is not shown to be better than {baseline}"),
            Alternative::Worse => format!("{run} is not shown to be worse than {baseline}"),
        };
        let mut text = format!(
            "{what} on {}: {}{}",
            self.measures[difference.measure],
            signed_text(difference, difference.paired.mean),
            if difference.logarithmic { " times" } else { "" }
        );
        if let Some([low, high]) = difference.interval {
            let [low, high] = [low, high].map(|end| signed_text(difference, end));
            _ = write!(text, ", but anything from {low} to {high} fits");
        }
        _ = write!(text, " ({}; {}).", p_text(p), self.method());
        if let Some(found) = difference.smallest_found.filter(|_| !difference.logarithmic) {
            _ = write!(
                text,
                " {} queries find a difference of {} four times in five",
                self.queries,
                short(found)
            );
            if let (Some(power), Some(needed)) = (self.options.power, difference.queries_needed) {
                _ = write!(text, "; {power} needs {needed}");
            }
            text.push('.');
        }
        text
    }

    /// Returns the sentence about a difference of two runs that is significant alone, but not after
    /// the correction.
    fn not_after_correction(&self, difference: &Difference, alone: f64, p: f64) -> String {
        let SentencePair { one, other, sign, word } =
            difference.sentence_pair(self.baseline.is_some());
        format!(
            "{} looks {word} than {} on {}, but not after correction for {}: {}; {} alone, {} \
             after the correction ({}).",
            self.name(one),
            self.name(other),
            self.measures[difference.measure],
            self.family(),
            self.means([one, other], difference, sign),
            p_text(alone),
            p_text(p).trim_start_matches("p = "),
            self.method(),
        )
    }

    fn without_p(&self, difference: &Difference) -> String {
        let [a, b] = self.pair_names(difference.pair);
        let measure = &self.measures[difference.measure];
        if self.queries < 2 {
            return format!(
                "{a} and {b} differ by {:+.4} on {measure} in the only query, which says nothing \
                 about others.",
                difference.paired.mean
            );
        }
        let why = match self.options.test {
            Test::T => {
                "every query changes by the same amount, so the t test has no p: see the \
                 randomisation test"
            }
            _ => "the test has no p",
        };
        format!("{a} and {b} differ by {:+.4} on {measure}: {why}.", difference.paired.mean)
    }

    /// Describes the test and the correction of the comparison, with the number of pairs corrected
    /// for.
    pub fn method(&self) -> String {
        let test = match self.options.test {
            Test::T => "t",
            Test::Randomisation => "randomisation",
            Test::Wilcoxon => "Wilcoxon",
            Test::Sign => "sign",
        };
        let correction = match self.options.correction {
            Correction::None => return format!("{test}, not corrected"),
            Correction::Bonferroni => "Bonferroni",
            Correction::Holm => "Holm",
            Correction::Bh => "Benjamini–Hochberg",
            Correction::By => "Benjamini–Yekutieli",
            Correction::MaxT => return format!("maxT, {}", self.family()),
            Correction::Hsd => return format!("Tukey's HSD, {}", self.family()),
            Correction::Rhsd => return format!("randomised HSD, {}", self.family()),
        };
        match self.family_size {
            1 => test.to_owned(),
            _ => format!("{test}, {correction}, {}", self.family()),
        }
    }

    fn family(&self) -> String {
        match self.family_size {
            1 => "1 comparison".to_owned(),
            count => format!("{count} comparisons"),
        }
    }

    /// Adds notes to the comparison about its number of queries, its test and its correction.
    pub(super) fn note(&mut self) {
        let alpha = self.options.alpha;
        let mut notes = Vec::new();
        for (measure, &queries) in
            self.measures.iter().zip(&self.skipped).filter(|(_, count)| **count > 0)
        {
            notes.push(skipped_sentence(measure, queries as u64));
        }
        if (2..FEW).contains(&self.queries) && self.options.test == Test::T {
            let see = if self.differences.iter().any(|difference| difference.exact.is_some()) {
                ": see p_exact, that of the randomisation test"
            } else if self.differences.iter().any(|difference| difference.randomised.is_some()) {
                ": see p_perm, that of the randomisation test"
            } else {
                ""
            };
            notes.push(format!(
                "{} queries are few: the interval and the t test assume normality{see}",
                self.queries
            ));
        }
        if self.queries >= MANY
            && self.differences.iter().any(|difference| difference.is_significant(alpha))
        {
            notes.push(format!(
                "with {} queries nearly every difference is significant: judge its size",
                self.queries
            ));
        }
        if matches!(self.options.test, Test::Wilcoxon | Test::Sign) {
            notes.push(format!(
                "{} tests whether differences lean one way, not whether the means differ",
                self.options.test
            ));
        }
        let hypotheses =
            self.differences.iter().filter(|difference| difference.p.is_some()).count();
        if self.options.correction == Correction::None && hypotheses > 1 {
            let expected = short(hypotheses as f64 * alpha);
            notes.push(format!(
                "{hypotheses} comparisons at {} %: expect {expected} false alarms if nothing \
                 differs",
                round(100.0 * alpha)
            ));
        } else if self.measures.len() > 1
            && self.options.family == Scope::Measure
            && self.family_size > 0
        {
            notes.push(format!(
                "Adjusted p corrects for the number of pairs, not for {} measures. Decide by the \
                 first measure, or use --family all.",
                self.measures.len()
            ));
        }
        notes.extend(self.disagreement());
        notes.extend(self.close_calls());
        self.notes.extend(notes);
    }

    /// Returns a note if the t test and the randomisation test of some pair of runs disagree at the
    /// level α.
    fn disagreement(&self) -> Option<String> {
        let alpha = self.options.alpha;
        let mut differing = self.differences.iter().filter_map(|difference| {
            let [t, permuted] =
                [difference.t?, difference.randomisation_tails()?].map(|tails| tails.two_sided);
            ((t < alpha) != (permuted < alpha)).then_some((difference, t, permuted))
        });
        let (first, t, permuted) = differing.next()?;
        let more = match differing.count() {
            0 => String::new(),
            1 => ", and 1 more pair".to_owned(),
            count => format!(", and {count} more pairs"),
        };
        let [run, baseline] = self.pair_names(first.pair);
        Some(format!(
            "the t test and the randomisation test disagree at {alpha}: {} of {run} and {baseline} \
             (p = {t:.4} and {permuted:.4}){more}",
            self.measures[first.measure]
        ))
    }

    /// Returns a note if the random draws do not tell whether the p of some pair of runs lies above
    /// or below α.
    fn close_calls(&self) -> Option<String> {
        if self.draws == 0 || self.options.test != Test::Randomisation {
            return None;
        }
        // An exact p has no error of draws, however near to α.
        let drawn = self.differences.iter().filter(|difference| difference.exact.is_none());
        let close = drawn
            .filter_map(|difference| Some(difference.randomised?.two_sided))
            .filter(|&p| (p - self.options.alpha).abs() < 3.0 * monte_carlo_error(p, self.draws));
        let more = match self.options.permutations {
            Permutations::Auto => "",
            _ => ": --permutations auto draws more",
        };
        let (count, values) = match close.count() {
            0 => return None,
            1 => (1, "p-value is"),
            count => (count, "p-values are"),
        };
        Some(format!("{count} {values} too close to call with {} draws{more}", self.draws))
    }

    /// Adds a note if the bootstrap intervals of a mergeable comparison are of few queries, and so
    /// somewhat wide.
    pub(super) fn note_part(&mut self) {
        if self.options.interval == Interval::Bootstrap && self.queries < bootstrap::MANY {
            self.notes.push(format!(
                "the intervals of {} queries are by independent counts, as parts need them, and \
                 somewhat wide: --ci t is not, nor is a \
                 comparison of all queries at once",
                self.queries
            ));
        }
    }

    /// Adds notes on the differences that change because a run lacks queries, which count as empty,
    /// if those queries are known.
    pub(super) fn note_filled(&mut self) {
        let notes = self.sentence_pairs().into_iter().take(MOST).flat_map(|difference| {
            difference.pair.runs().map(|run| self.filled_note(difference, run))
        });
        let notes: Vec<String> = notes.flatten().collect();
        self.notes.extend(notes);
    }

    /// Returns the note that part of a difference comes from queries that one of its runs lacks.
    fn filled_note(&self, difference: &Difference, run: usize) -> Option<String> {
        let [values, others] =
            difference.pair.runs().map(|run| self.values(difference.measure, run));
        let lacking = self.missing_queries(run);
        let defined = lacking.iter().filter(|&&query| self.is_defined(difference.measure, query));
        let contribution: f64 = defined.map(|&query| values[query] - others[query]).sum();
        let contribution = contribution / (self.queries - self.skipped[difference.measure]) as f64;
        if contribution == 0.0 || difference.logarithmic {
            return None;
        }
        let (queries, count) = match lacking.len() {
            1 => ("1 query".to_owned(), "counts"),
            count => (format!("{count} queries"), "count"),
        };
        let [a, b] = self.pair_names(difference.pair);
        Some(format!(
            "the difference between {a} and {b} on {} is {:+.4}, and {contribution:+.4} of it \
             comes from {queries} that {} lacks and that {count} as empty (--queries common leaves \
             them out)",
            self.measures[difference.measure],
            difference.paired.mean,
            self.name(run)
        ))
    }

    /// Adds a note if the runs' shares of judged documents differ much.
    pub(super) fn note_judged(&mut self) {
        for measure in 0..self.measures.len() {
            let shares = self
                .runs
                .iter()
                .filter_map(|run| Some((run.judged.get(measure).copied().flatten()?, &run.name)));
            let mut shares: Vec<(f64, &String)> = shares.collect();
            sort::by_number(&mut shares, |share| share.0);
            if let (Some(least), Some(most)) = (shares.first(), shares.last())
                && most.0 - least.0 > JUDGED
            {
                self.notes.push(format!(
                    "{}: {:.0} % of the documents of {} are judged, and {:.0} % of those of {}: \
                     documents without a judgment count as not relevant",
                    self.measures[measure],
                    100.0 * least.0,
                    least.1,
                    100.0 * most.0,
                    most.1
                ));
            }
        }
    }
}

/// Formats a value of a difference of two runs: a logarithm as a factor, else a number with its
/// sign.
fn signed_text(difference: &Difference, value: f64) -> String {
    if difference.logarithmic { format!("{:.4}", value.exp()) } else { format!("{value:+.4}") }
}

/// Formats a number with two significant digits.
fn short(value: f64) -> String {
    let digits = if value >= 1.0 || value <= 0.0 { 1 } else { 1 - value.log10().floor() as i32 };
    format!("{value:.*}", digits.clamp(0, 12) as usize)
}

/// Rounds a percentage, to drop the digits of floating-point errors.
fn round(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
