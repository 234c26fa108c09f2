//! A comparison in words, for people who are not statisticians.

use std::fmt::Write;

use super::bootstrap;
use super::comparison::Comparison;
use super::difference::{Difference, DifferenceTold};
use super::draws::monte_carlo_error;
use super::options::{Alternative, Correction, Interval, Permutations, Scope, Test};
use super::p_is::p_is;
use super::randomised::Pair;
use crate::measure::Better;
use crate::sort;
use crate::summary::said_left_out;

/// The number of queries from which on nearly every difference is significant.
const MANY: usize = 10_000;
/// The number of queries below which the interval depends on normality.
const FEW: usize = 20;
/// The largest difference of shares of judged documents that needs no note.
const JUDGED: f64 = 0.1;
/// The most sentences.
const MOST: usize = 12;

impl Comparison {
    /// One sentence for each pair under the first measure: the pairs with the baseline, or those
    /// with the best run. Of six runs or more the pairs with the best others come first.
    pub fn sentences(&self) -> Vec<String> {
        let mut told = self.leading();
        let left = told.len().saturating_sub(MOST);
        told.truncate(MOST);
        let mut sentences: Vec<String> = told.into_iter().map(|of| self.sentence(of)).collect();
        if left > 0 {
            let comparisons = if left == 1 { "comparison" } else { "comparisons" };
            sentences.push(format!("{left} more {comparisons}: see CSV or JSON."));
        }
        sentences
    }

    /// One sentence for every pair under the first measure, those of the best runs first.
    pub fn all_sentences(&self) -> Vec<String> {
        self.all_ranked().into_iter().map(|of| self.sentence(of)).collect()
    }

    fn sentence(&self, of: &Difference) -> String {
        let alpha = self.options.alpha;
        match of.p_adjusted {
            // Certain facts come first, then the margin (asked for by the user), then the result of
            // the test.
            _ if of.paired.all_zero => self.identical(of),
            _ if of.is_equivalent == Some(true) => self.equivalent(of),
            Some(p) if p < alpha && self.is_contradictory(of) => self.contradictory(of, p),
            Some(p) if p < alpha => self.better(of, p),
            Some(p) => match of.p.filter(|alone| *alone < alpha) {
                Some(alone) => self.not_after_correction(of, alone, p),
                None => self.not_shown(of, p),
            },
            None => self.without_p(of),
        }
    }

    fn name(&self, run: usize) -> &str {
        &self.runs[run].name
    }

    fn identical(&self, of: &Difference) -> String {
        let [a, b] = [of.pair.run, of.pair.baseline].map(|run| self.name(run));
        let queries = if self.queries == 1 {
            "the query".to_owned()
        } else {
            format!("each of the {} queries", self.queries)
        };
        format!("{a} and {b} have the same {} in {queries}.", self.measures[of.measure])
    }

    fn equivalent(&self, of: &Difference) -> String {
        let [a, b] = [of.pair.run, of.pair.baseline].map(|run| self.name(run));
        let p =
            of.p_margin.map_or(String::new(), |p| format!(" ({}, two one-sided tests)", p_is(p)));
        let margin = self.options.margin.unwrap_or_default();
        format!(
            "{a} and {b} are equal for practical purposes on {}: they differ by less than \
             ±{margin}{p}.",
            self.measures[of.measure]
        )
    }

    /// The means of two runs, with the difference of the first less the second, whose sign is that
    /// of the pair or the opposite one.
    fn means(&self, runs: [usize; 2], of: &Difference, sign: f64) -> String {
        let [a, b] = runs.map(|run| self.runs[run].means[of.measure]);
        let mut text = format!("{a:.4} against {b:.4}");
        let interval =
            of.interval.map(|[low, high]| if sign < 0.0 { [-high, -low] } else { [low, high] });
        if of.logarithmic {
            _ = write!(text, ", {:.4} times as much", (sign * of.paired.mean).exp());
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
        _ = write!(text, ", {:+.4}", sign * of.paired.mean);
        if b != 0.0 {
            _ = write!(text, " ({:+.1} %)", sign * of.paired.mean / b.abs() * 100.0);
        }
        if let Some([low, high]) = interval {
            _ = write!(text, ", {} interval {low:+.4} to {high:+.4}", self.confidence());
        }
        text
    }

    /// The confidence of intervals.
    pub(super) fn confidence(&self) -> String {
        format!("{} %", round(100.0 * (1.0 - self.options.alpha)))
    }

    fn better(&self, of: &Difference, p: f64) -> String {
        let DifferenceTold { one, other, sign, better } = of.told(self.baseline.is_some());
        let (won, lost) = if sign > 0.0 {
            (of.wins.wins, of.wins.losses)
        } else {
            (of.wins.losses, of.wins.wins)
        };
        let higher = if of.better == Better::Lower { " (lower is better)" } else { "" };
        format!(
            "{} is {} than {} on {}{higher}: {}; {} ({}); of {} queries {won} won, {} tied, {lost} \
             lost.",
            self.name(one),
            if better { "better" } else { "worse" },
            self.name(other),
            self.measures[of.measure],
            self.means([one, other], of, sign),
            p_is(p),
            self.method(),
            self.queries,
            of.wins.ties,
        )
    }

    /// The words for a difference whose test points the other way than the means.
    fn contradictory(&self, of: &Difference, p: f64) -> String {
        let DifferenceTold { one, other, sign, .. } = of.told(self.baseline.is_some());
        format!(
            "Most queries lean one way and the means the other: {} and {} on {}: {}; {} ({}).",
            self.name(one),
            self.name(other),
            self.measures[of.measure],
            self.means([one, other], of, sign),
            p_is(p),
            self.method(),
        )
    }

    fn not_shown(&self, of: &Difference, p: f64) -> String {
        let [run, baseline] = [of.pair.run, of.pair.baseline].map(|run| self.name(run));
        let what = match self.options.alternative {
            Alternative::TwoSided => format!("No difference shown between {run} and {baseline}"),
            Alternative::Better => format!("{run} is not shown to be better than {baseline}"),
            Alternative::Worse => format!("{run} is not shown to be worse than {baseline}"),
        };
        let show = |value: f64| {
            if of.logarithmic { format!("{:.4}", of.shown(value)) } else { format!("{value:+.4}") }
        };
        let mut text = format!(
            "{what} on {}: {}{}",
            self.measures[of.measure],
            show(of.paired.mean),
            if of.logarithmic { " times" } else { "" }
        );
        if let Some([low, high]) = of.interval {
            _ = write!(text, ", but anything from {} to {} fits", show(low), show(high));
        }
        _ = write!(text, " ({}; {}).", p_is(p), self.method());
        if let Some(found) = of.smallest_found.filter(|_| !of.logarithmic) {
            _ = write!(
                text,
                " {} queries find a difference of {} four times in five",
                self.queries,
                short(found)
            );
            if let (Some(power), Some(needed)) = (self.options.power, of.queries_needed) {
                _ = write!(text, "; {power} needs {needed}");
            }
            text.push('.');
        }
        text
    }

    /// The words for a difference that is significant alone, but not among the others.
    fn not_after_correction(&self, of: &Difference, alone: f64, p: f64) -> String {
        let DifferenceTold { one, other, sign, better } = of.told(self.baseline.is_some());
        format!(
            "{} looks {} than {} on {}, but not after correction for {}: {}; {} alone, {} after \
             the correction ({}).",
            self.name(one),
            if better { "better" } else { "worse" },
            self.name(other),
            self.measures[of.measure],
            self.family(),
            self.means([one, other], of, sign),
            p_is(alone),
            p_is(p).trim_start_matches("p = "),
            self.method(),
        )
    }

    fn without_p(&self, of: &Difference) -> String {
        let Pair { baseline, run } = of.pair;
        let [a, b] = [run, baseline].map(|run| self.name(run));
        let measure = &self.measures[of.measure];
        if self.queries < 2 {
            return format!(
                "{a} and {b} differ by {:+.4} on {measure} in the only query, which says nothing \
                 about others.",
                of.paired.mean
            );
        }
        let why = match self.options.test {
            Test::T => {
                "every query changes by the same amount, so the t test has no p: see the \
                 randomisation test"
            }
            _ => "the test has no p",
        };
        format!("{a} and {b} differ by {:+.4} on {measure}: {why}.", of.paired.mean)
    }

    /// Describes the test and the correction.
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

    /// Adds notes about the data and the tests.
    pub(super) fn note(&mut self) {
        let alpha = self.options.alpha;
        let mut notes = Vec::new();
        for (measure, &queries) in
            self.measures.iter().zip(&self.skipped).filter(|(_, count)| **count > 0)
        {
            notes.push(said_left_out(measure, queries as u64));
        }
        if (2..FEW).contains(&self.queries) && self.options.test == Test::T {
            let any = |is_there: fn(&Difference) -> bool| self.differences.iter().any(is_there);
            let see = match (any(|of| of.exact.is_some()), any(|of| of.randomised.is_some())) {
                (true, _) => ": see p_exact, that of the randomisation test",
                (_, true) => ": see p_perm, that of the randomisation test",
                _ => "",
            };
            notes.push(format!(
                "{} queries are few: the interval and the t test assume normality{see}",
                self.queries
            ));
        }
        if self.queries >= MANY && self.differences.iter().any(|of| of.is_significant(alpha)) {
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
        let hypotheses = self.differences.iter().filter(|of| of.p.is_some()).count();
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

    /// A note, if the t test and the randomisation test disagree at α.
    fn disagreement(&self) -> Option<String> {
        let alpha = self.options.alpha;
        let differ = |of: &&Difference| {
            let both = of.t.zip(of.permuted());
            both.is_some_and(|(t, permuted)| (t.two_sided < alpha) != (permuted.two_sided < alpha))
        };
        let differing: Vec<&Difference> = self.differences.iter().filter(differ).collect();
        let first = differing.first()?;
        let (t, permuted) = first.t.zip(first.permuted())?;
        let more = match differing.len() {
            1 => String::new(),
            2 => ", and 1 more pair".to_owned(),
            count => format!(", and {} more pairs", count - 1),
        };
        Some(format!(
            "the t test and the randomisation test disagree at {alpha}: {} of {} and {} (p = {:.4} \
             and {:.4}){more}",
            self.measures[first.measure],
            self.name(first.pair.run),
            self.name(first.pair.baseline),
            t.two_sided,
            permuted.two_sided
        ))
    }

    /// A note, if the random draws do not tell on which side of α p lies.
    fn close_calls(&self) -> Option<String> {
        if self.draws == 0 || self.options.test != Test::Randomisation {
            return None;
        }
        let close = |of: &&Difference| {
            let p = of.randomised.filter(|_| of.exact.is_none()).map(|tails| tails.two_sided);
            p.is_some_and(|p| {
                (p - self.options.alpha).abs() < 3.0 * monte_carlo_error(p, self.draws)
            })
        };
        let count = self.differences.iter().filter(close).count();
        let more = if self.options.permutations == Permutations::Auto {
            ""
        } else {
            ": --permutations auto draws more"
        };
        let values = if count == 1 { "p-value is" } else { "p-values are" };
        (count > 0)
            .then(|| format!("{count} {values} too close to call with {} draws{more}", self.draws))
    }

    /// Adds a note on the intervals of a part of few queries, or of merged parts.
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

    /// Adds notes on missing queries of a run that change the differences put in words, if the
    /// missing queries are known.
    pub(super) fn note_filled(&mut self) {
        let note = |of: &Difference, run: usize| {
            let [values, others] =
                [of.pair.run, of.pair.baseline].map(|run| self.values(of.measure, run));
            let lacking = self.lacking(run);
            let defined = lacking.iter().filter(|&&query| self.is_defined(of.measure, query));
            let made: f64 = defined.map(|&query| values[query] - others[query]).sum();
            let made = made / (self.queries - self.skipped[of.measure]) as f64;
            let (queries, count) = match lacking.len() {
                1 => ("1 query".to_owned(), "counts"),
                count => (format!("{count} queries"), "count"),
            };
            let [a, b] = [of.pair.run, of.pair.baseline].map(|run| self.name(run));
            (made != 0.0 && !of.logarithmic).then(|| {
                let (measure, without) = (&self.measures[of.measure], self.name(run));
                format!(
                    "the difference between {a} and {b} on {measure} is {:+.4}, and {made:+.4} of \
                     it comes from {queries} that {without} \
                     lacks and that {count} as empty (--queries both leaves them out)",
                    of.paired.mean
                )
            })
        };
        let told = self.leading().into_iter().take(MOST);
        let notes: Vec<String> = told
            .flat_map(|of| [of.pair.run, of.pair.baseline].map(|run| note(of, run)))
            .flatten()
            .collect();
        self.notes.extend(notes);
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
                let percent = |share: f64| format!("{:.0} %", 100.0 * share);
                self.notes.push(format!(
                    "{}: {} of the documents of {} are judged, and {} of those of {}: documents \
                     without a judgment count as not relevant",
                    self.measures[measure],
                    percent(least.0),
                    least.1,
                    percent(most.0),
                    most.1
                ));
            }
        }
    }
}

/// A number with two significant digits.
fn short(value: f64) -> String {
    let digits = if value >= 1.0 || value <= 0.0 { 1 } else { 1 - value.log10().floor() as i32 };
    format!("{value:.*}", digits.clamp(0, 12) as usize)
}

/// A percentage without needless digits.
fn round(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
