//! Gates: conditions under which a build fails, such as `nDCG@10 drops > 0.005 p<0.05`.
//!
//! ```text
//! gate   = measure ( ("<" | "<=" | ">" | ">=") number | verb [">" amount] ["p<" alpha] )
//! verb   = "drops" | "rises" | "worse" | "may drop" | "may rise"
//! amount = number ["%"]
//! ```
//!
//! A gate fails, or passes, or cannot be told. The last is an error and never a pass.
//!
//! # Who has to show what
//!
//! ```text
//! AP < 0.3                       the mean alone; no baseline, no chance
//! AP drops > 0.01                the mean difference alone
//! AP drops > 0.01 p<0.05         fails if the loss is large AND shown to be one: chance speaks for the run
//! AP worse p<0.05                fails if a loss of any size is shown
//! AP may drop > 0.01             passes only if a loss of 0.01 or more is ruled out: chance speaks against the run
//! ```
//!
//! With few queries the third gate lets much pass, and the last nearly nothing: it is a test of non-inferiority, whose null hypothesis is a
//! loss of exactly the amount. Its p is that of the t test whatever test decides otherwise, because the other tests say whether there is a
//! difference, and not whether it is one of a given size. The p of the third gate is about a loss of 0, and the amount is compared with the
//! mean: the two conditions are apart.
//!
//! "Cannot be told" is an error so that a pipeline stops, and never a pass: a missing baseline, a p that a test does not have, percents of
//! a mean of 0.

use std::fmt;
use std::ops::Range;

use super::paired::Paired;
use crate::error::{Error, MeasureError, Result};
use crate::measure::{self, Average, Better, Measure};
use crate::stats::rounding::{is_equal, tolerance};

/// The level of significance of a gate that names none.
const ALPHA: f64 = 0.05;

/// Words that are not verbs of gates, each with the verb that is meant where higher is better.
const SYNONYMS: &[(&str, &str)] = &[
    ("drop", "drops"),
    ("fall", "drops"),
    ("falls", "drops"),
    ("decreases", "drops"),
    ("lower", "drops"),
    ("rise", "rises"),
    ("grows", "rises"),
    ("increases", "rises"),
    ("higher", "rises"),
    ("worsens", "worse"),
    ("regresses", "worse"),
];

/// A condition under which a build fails.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    text: String,
    measure: Measure,
    rule: Rule,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Rule {
    /// The run's mean is beyond a number.
    Threshold(Sign, f64),
    /// The run is worse than the baseline by more than an amount and, if `alpha` is given, by more than chance explains.
    Worse { amount: Amount, alpha: Option<f64> },
    /// The run is not shown to be worse by less than an amount.
    May { amount: Amount, alpha: f64 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Below,
    AtMost,
    Above,
    AtLeast,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Amount {
    Absolute(f64),
    /// A share of the baseline's mean.
    Relative(f64),
}

/// The facts about a run by which a gate is judged.
#[derive(Debug, Clone, Copy)]
pub struct GateFacts<'a> {
    /// The run's mean.
    pub run: f64,
    /// The baseline's mean, if there is a baseline.
    pub baseline: Option<f64>,
    /// The differences of the run from the baseline.
    pub paired: Option<&'a Paired>,
    /// The uncorrected one-sided p, of the test that decides, that the run is worse; `None` if there is none.
    pub worse: Option<f64>,
}

/// The result of a gate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// Whether the build fails.
    pub failed: bool,
    /// The run's mean, or by how much the run is worse than the baseline.
    pub value: f64,
    /// The number that the value is compared with.
    pub threshold: f64,
    /// The p, if the gate asks for one.
    pub p: Option<f64>,
}

impl Gate {
    /// Parses a gate.
    ///
    /// # Errors
    /// The first fault, at which character it is, and what was expected there; a measure that has no such direction.
    pub fn parse(text: &str) -> Result<Gate> {
        let mut parser = GateParser { text, at: 0 };
        parser.blanks();
        let start = parser.at;
        let measure = parser.measure()?;
        let rule = parser.rule(&measure)?;
        Ok(Gate { text: text[start..].trim_end().to_owned(), measure, rule })
    }

    /// The measure of the gate.
    pub fn measure(&self) -> &Measure {
        &self.measure
    }

    /// Whether the gate compares a run with a baseline, and is not about a run alone.
    pub fn compares(&self) -> bool {
        !matches!(self.rule, Rule::Threshold(..))
    }

    /// Whether the gate needs a p.
    pub fn asks_p(&self) -> bool {
        match self.rule {
            Rule::Threshold(..) => false,
            Rule::Worse { alpha, .. } => alpha.is_some(),
            Rule::May { .. } => true,
        }
    }

    /// Judges the gate by the facts of a run.
    ///
    /// # Errors
    /// A number that the gate needs is missing, or is not finite.
    pub fn verdict(&self, facts: GateFacts) -> Result<Verdict> {
        match self.rule {
            Rule::Threshold(sign, threshold) => {
                let value = self.finite(facts.run, "the mean")?;
                let equal = is_equal(value, threshold);
                let failed = match sign {
                    Sign::Below => value < threshold && !equal,
                    Sign::AtMost => value <= threshold || equal,
                    Sign::Above => value > threshold && !equal,
                    Sign::AtLeast => value >= threshold || equal,
                };
                Ok(Verdict { failed, value, threshold, p: None })
            }
            Rule::Worse { amount, alpha } => {
                let (_, value, threshold) = self.change(facts, amount)?;
                let more = value > threshold + self.rounding(facts);
                let p = match (alpha, facts.worse) {
                    (None, _) => None,
                    (Some(_), Some(p)) => Some(self.finite(p, "p")?),
                    // The gate passes without a p, so the missing one is no error: equal runs must not stop a build.
                    (Some(_), None) if !more => None,
                    (Some(_), None) => return Err(self.cannot(
                        "the test has no p, for example because every query changes by the same amount: take `--test randomisation`, or a gate without p",
                    )),
                };
                let failed = more && alpha.is_none_or(|alpha| p.is_some_and(|p| p < alpha));
                Ok(Verdict { failed, value, threshold, p })
            }
            Rule::May { amount, alpha } => {
                let (paired, value, threshold) = self.change(facts, amount)?;
                let lower = self.better() == Better::Lower;
                // A loss of the amount is −amount where higher is better, and +amount where lower is. "Better" is then the tail that rules
                // such a loss out.
                let p = paired.against(if lower { threshold } else { -threshold });
                let p = p.map(|tails| tails.better(self.better()));
                // Without a deviation there is no t, and the mean is certain. `>=`, as the gate asks for a loss below the amount.
                let failed = p.map_or(value >= threshold - self.rounding(facts), |p| p >= alpha);
                Ok(Verdict { failed, value, threshold, p })
            }
        }
    }

    /// The differences, by how much the run is worse, and the amount that this is compared with.
    fn change<'a>(&self, facts: GateFacts<'a>, amount: Amount) -> Result<(&'a Paired, f64, f64)> {
        let (Some(paired), Some(baseline)) = (facts.paired, facts.baseline) else {
            return Err(self.cannot("it takes a baseline, and there is none"));
        };
        if paired.queries < 2 {
            return Err(self.cannot("it takes two queries or more, and there is one"));
        }
        let worse = if self.better() == Better::Lower { paired.mean } else { -paired.mean };
        let amount = match amount {
            Amount::Absolute(amount) => amount,
            Amount::Relative(_) if baseline == 0.0 => {
                return Err(
                    self.cannot("the baseline's mean is 0, so a percentage of it means nothing: give an amount without `%`")
                );
            }
            Amount::Relative(share) => share * self.finite(baseline, "the baseline's mean")?.abs(),
        };
        // Adding 0 makes +0 of −0, which would be printed as a loss of -0.
        Ok((paired, self.finite(worse, "the difference")? + 0.0, amount))
    }

    /// The most by which a change may differ from an amount and still equal it: rounding is that of the two means, of which the change is a
    /// small rest.
    fn rounding(&self, facts: GateFacts) -> f64 {
        tolerance(facts.run.abs().max(facts.baseline.map_or(0.0, f64::abs)))
    }

    fn better(&self) -> Better {
        self.measure.definition().better
    }

    fn finite(&self, value: f64, what: &str) -> Result<f64> {
        match value.is_finite() {
            true => Ok(value),
            false => Err(self.cannot(&format!("{what} is {value}"))),
        }
    }

    fn cannot(&self, why: &str) -> Error {
        Error::Unanswerable(format!("the gate `{self}` cannot be computed: {why}"))
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

struct GateParser<'a> {
    text: &'a str,
    /// The byte that is read next.
    at: usize,
}

impl<'a> GateParser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Skips `sign` and the blanks behind it, if the text goes on with it.
    fn eat(&mut self, sign: &str) -> bool {
        let there = self.rest().starts_with(sign);
        if there {
            self.at += sign.len();
            self.blanks();
        }
        there
    }

    /// The range of the text from here up to a character that ends it.
    fn upto(&self, ends: impl Fn(char) -> bool) -> Range<usize> {
        self.at..self.at + self.rest().find(ends).unwrap_or(self.rest().len())
    }

    /// The error of the text in `place`.
    fn wrong(&self, place: Range<usize>, message: impl fmt::Display) -> MeasureError {
        // People count characters, and the span behind the message counts bytes.
        let character = self.text[..place.start].chars().count() + 1;
        let message = format!("{message}, at character {character} of the gate");
        MeasureError {
            text: self.text.to_owned(),
            span: place,
            message,
            suggestions: Vec::new(),
            candidates: Vec::new(),
        }
    }

    /// The error that `what` was expected here.
    fn expected(&self, what: &str) -> MeasureError {
        let place = self.upto(char::is_whitespace);
        match self.rest().is_empty() {
            true => self.wrong(place, format_args!("{what} was expected, and nothing follows")),
            false => self
                .wrong(place.clone(), format_args!("{what} was expected, and not `{}`", &self.text[place])),
        }
    }

    /// Reads the measure, up to the first blank, or sign, outside of brackets.
    fn measure(&mut self) -> Result<Measure> {
        // Blanks and signs within brackets belong to the measure, as in `P(rel=2)@[5, 10]`: a gate cannot be cut at its blanks.
        let (start, mut depth) = (self.at, 0usize);
        let end = self.rest().find(|c: char| {
            match c {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && (c.is_whitespace() || matches!(c, '<' | '>'))
        });
        self.at = end.map_or(self.text.len(), |end| start + end);
        if start == self.at {
            return Err(self.expected("a measure, as in `AP < 0.3` or `nDCG@10 drops > 0.005`,").into());
        }
        let of_gate = |error: MeasureError| MeasureError {
            text: self.text.to_owned(),
            span: error.span.start + start..error.span.end + start,
            ..error
        };
        let measure = measure::parse(&self.text[start..self.at]).map_err(|error| match error {
            Error::Measure(error) => Error::Measure(of_gate(error)),
            Error::Measures(errors) => Error::Measures(errors.into_iter().map(of_gate).collect()),
            other => other,
        })?;
        self.blanks();
        Ok(measure)
    }

    fn rule(&mut self, measure: &Measure) -> Result<Rule> {
        // Longer signs first: `<` would eat half of `<=`.
        let signs = [("<=", Sign::AtMost), ("<", Sign::Below), (">=", Sign::AtLeast), (">", Sign::Above)];
        let rule = match signs.into_iter().find(|(text, _)| self.eat(text)) {
            Some((_, sign)) => Rule::Threshold(sign, self.number("a number")?),
            None => self.change(measure)?,
        };
        match self.rest().is_empty() {
            true => Ok(rule),
            false => Err(self.expected("the end of the gate").into()),
        }
    }

    fn change(&mut self, measure: &Measure) -> Result<Rule, MeasureError> {
        let verb = self.verb(measure)?;
        let amount = match self.eat(">") {
            true => Some(self.amount(measure)?),
            false => None,
        };
        let alpha = self.alpha()?;
        match (verb, amount, alpha) {
            (Verb::May, None, _) => Err(self.expected("`>` and the amount that may be lost")),
            (Verb::May, Some(amount), alpha) => Ok(Rule::May { amount, alpha: alpha.unwrap_or(ALPHA) }),
            (Verb::Worse, _, None) => Err(self.expected("`p<` and a level of significance, as in `p<0.05`,")),
            (Verb::Worse | Verb::Changes, amount, alpha) => {
                Ok(Rule::Worse { amount: amount.unwrap_or(Amount::Absolute(0.0)), alpha })
            }
        }
    }

    /// Reads a verb that suits the measure.
    fn verb(&mut self, measure: &Measure) -> Result<Verb, MeasureError> {
        const EXPECTED: &str = "`<`, `<=`, `>`, `>=`, `drops`, `rises`, `worse`, `may drop` or `may rise`";
        let start = self.at;
        let ends = |c: char| c.is_whitespace() || matches!(c, '<' | '>');
        let mut place = self.upto(ends);
        let may = &self.text[place.clone()] == "may";
        if may {
            self.at = place.end;
            self.blanks();
            place = self.upto(ends);
        }
        let word = &self.text[place.clone()];
        let (verb, better) = match (may, word) {
            (false, "worse") => (Verb::Worse, None),
            (false, "drops") => (Verb::Changes, Some(Better::Higher)),
            (false, "rises") => (Verb::Changes, Some(Better::Lower)),
            (true, "drop") => (Verb::May, Some(Better::Higher)),
            (true, "rise") => (Verb::May, Some(Better::Lower)),
            _ => {
                let error = self.expected(if may { "`drop` or `rise`" } else { EXPECTED });
                let suggestions = self.meant(place, may).into_iter().collect();
                return Err(MeasureError { suggestions, ..error });
            }
        };
        let of_measure = measure.definition().better;
        if of_measure == Better::Neither {
            let message =
                format!("neither direction of {measure} is better, so it can only be compared with a number");
            return Err(self.wrong(start..place.end, message));
        }
        if better.is_some_and(|better| better != of_measure) {
            let (which, right) = match (of_measure, may) {
                (Better::Lower, true) => ("lower", "may rise"),
                (Better::Lower, false) => ("lower", "rises"),
                (_, true) => ("higher", "may drop"),
                (_, false) => ("higher", "drops"),
            };
            let message = format!("{which} is better of {measure}, so `{right}` was expected");
            let suggestions = vec![self.instead(start..place.end, right)];
            return Err(MeasureError { suggestions, ..self.wrong(start..place.end, message) });
        }
        self.at = place.end;
        self.blanks();
        Ok(verb)
    }

    /// The gate with the verb that a misspelt word is near to, if there is one.
    fn meant(&self, place: Range<usize>, may: bool) -> Option<String> {
        let word = self.text[place.clone()].to_lowercase();
        let verbs: &[&str] = if may { &["drop", "rise"] } else { &["drops", "rises", "worse", "may"] };
        let near = |verb: &&&str| strsim::damerau_levenshtein(&word, verb) <= 2;
        let synonym = SYNONYMS.iter().find(|(of, _)| *of == word && !may).map(|&(_, verb)| verb);
        let verb = synonym.or_else(|| verbs.iter().find(near).copied())?;
        Some(self.instead(place, verb))
    }

    /// The gate with `other` in `place`.
    fn instead(&self, place: Range<usize>, other: &str) -> String {
        format!("`{}{other}{}`", &self.text[..place.start], &self.text[place.end..])
    }

    fn amount(&mut self, measure: &Measure) -> Result<Amount, MeasureError> {
        let place = self.upto(char::is_whitespace);
        let amount = self.number("an amount, as in `> 0.005` or `> 1%`,")?;
        if amount < 0.0 {
            return Err(self.wrong(place, "an amount of 0 or more was expected"));
        }
        if !self.eat("%") {
            return Ok(Amount::Absolute(amount));
        }
        if measure.definition().average == Average::Geometric {
            let message = format!(
                "{measure} is compared by logarithms, so a percentage means nothing: an amount without `%` was expected"
            );
            return Err(self.wrong(place, message));
        }
        Ok(Amount::Relative(amount / 100.0))
    }

    fn alpha(&mut self) -> Result<Option<f64>, MeasureError> {
        if self.rest().is_empty() {
            return Ok(None);
        }
        let start = self.at;
        if !self.eat("p") {
            return Err(
                self.expected("`>` and an amount, `p<` and a level of significance, or the end of the gate")
            );
        }
        if !self.eat("<") {
            return Err(self.expected("`<` after `p`"));
        }
        let alpha = self.number("a level of significance, as in `p<0.05`,")?;
        match alpha > 0.0 && alpha < 1.0 {
            true => Ok(Some(alpha)),
            false => Err(self.wrong(start..self.at, "a level of significance between 0 and 1 was expected")),
        }
    }

    /// Reads a finite number, and the blanks behind it.
    fn number(&mut self, what: &str) -> Result<f64, MeasureError> {
        let place = self.upto(|c| c.is_whitespace() || c == '%');
        let number: Option<f64> = self.text[place.clone()].parse().ok();
        let number = number.filter(|number| number.is_finite()).ok_or_else(|| self.expected(what))?;
        self.at = place.end;
        self.blanks();
        Ok(number + 0.0)
    }
}

#[derive(Debug, Clone, Copy)]
enum Verb {
    /// `drops` or `rises`.
    Changes,
    Worse,
    May,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::known::{pair, paired};
    use crate::compare::units::Unit;
    use crate::compare::{examples, known};

    fn error(text: &str) -> String {
        Gate::parse(text).unwrap_err().to_string()
    }

    /// The verdict of a gate on the fifty queries, run against baseline, by the t test.
    fn fifty(text: &str, [baseline, run]: [usize; 2]) -> Verdict {
        let runs = examples::fifty();
        let paired = paired(&runs, [baseline, run]);
        let gate = Gate::parse(text).unwrap();
        assert!(gate.compares());
        let [baseline, run] = [baseline, run].map(|of| runs[of].iter().sum::<f64>() / 50.0);
        let worse = paired.p().map(|p| p.worse(gate.measure().definition().better));
        gate.verdict(GateFacts { run, baseline: Some(baseline), paired: Some(&paired), worse }).unwrap()
    }

    /// The facts of a run with some differences, and a baseline of some mean.
    fn of_deltas(text: &str, baseline: f64, deltas: &[f64], worse: Option<f64>) -> Result<Verdict> {
        let unit = Unit::of([1.0]);
        let paired = known::paired_of(deltas, &unit.counts(deltas), unit).unwrap();
        let run = baseline + paired.mean;
        let facts = GateFacts { run, baseline: Some(baseline), paired: Some(&paired), worse };
        Gate::parse(text).unwrap().verdict(facts)
    }

    fn of_run(text: &str, run: f64) -> Result<Verdict> {
        Gate::parse(text).unwrap().verdict(GateFacts { run, baseline: None, paired: None, worse: None })
    }

    #[test]
    fn thresholds() {
        for (text, fails_at, passes_at) in [
            // The means of 0.3, and what is equal to it within rounding.
            ("AP < 0.30", &[0.2999, -1.0, 0.3 - 1e-11][..], &[0.3, 0.3f64.next_down(), 0.31][..]),
            ("AP <= 0.30", &[0.3, 0.3f64.next_up(), 0.0], &[0.3 + 1e-11]),
            ("AP > 0.30", &[0.31, 0.3 + 1e-11], &[0.3, 0.3f64.next_up(), 0.0]),
            ("AP >= 0.30", &[0.3, 0.3f64.next_down(), 1.0], &[0.3 - 1e-11]),
            (" nDCG(gain=exp2, ideal=judged)@10<3e-1 ", &[0.2], &[0.3]),
            ("NumRel < 1000", &[999.0], &[1000.0]),
        ] {
            let gate = Gate::parse(text).unwrap();
            assert!(!gate.compares() && !gate.asks_p());
            assert_eq!(gate.to_string(), text.trim());
            for (values, failed) in [(fails_at, true), (passes_at, false)] {
                for &value in values {
                    let verdict = of_run(text, value).unwrap();
                    assert_eq!((verdict.failed, verdict.value, verdict.p), (failed, value, None), "{text}");
                }
            }
        }
        assert_eq!(of_run("AP < 0.30", 0.1).unwrap().threshold, 0.3);
    }

    #[test]
    fn gates_of_fifty_queries() {
        let passes = fifty("nDCG@10 may drop > 0.005", [0, 1]);
        assert!(!passes.failed);
        known::digits(passes.p.unwrap(), ".0487497709017");
        assert_eq!(passes.threshold, 0.005);
        known::digits(passes.value, "-.022");
        let fails = fifty("nDCG@10 may drop > 0.004", [0, 1]);
        assert!(fails.failed);
        known::digits(fails.p.unwrap(), ".0550953334896");
        assert!(!fifty("nDCG@10 may drop > 0.004 p<0.06", [0, 1]).failed);
        assert!(fifty("nDCG@10 may drop > 0.005 p<0.01", [0, 1]).failed);

        let fails = fifty("nDCG@10 drops > 0.005", [1, 0]);
        assert!(fails.failed && fails.p.is_none());
        known::digits(fails.value, ".022");
        let passes = fifty("nDCG@10 drops > 0.005 p<0.05", [1, 0]);
        assert!(!passes.failed);
        known::digits(passes.p.unwrap(), ".087456604824");
        assert!(fifty("nDCG@10 drops > 0.005 p<0.09", [1, 0]).failed);
        assert!(!fifty("nDCG@10 drops > 0.022", [1, 0]).failed, "the border");
        assert!(fifty("nDCG@10 drops > 0.0219999", [1, 0]).failed);
        // 0.542 is the baseline's mean.
        assert!(fifty("nDCG@10 drops > 4%", [1, 0]).failed);
        let passes = fifty("nDCG@10 drops > 4.1 %", [1, 0]);
        assert!(!passes.failed);
        known::digits(passes.threshold, ".022222");
    }

    #[test]
    fn worse_is_any_amount_that_chance_does_not_explain() {
        assert!(fifty("AP worse p<0.09", [1, 0]).failed);
        assert!(!fifty("AP worse p<0.08", [1, 0]).failed);
        assert!(!fifty("AP worse p<0.09", [0, 1]).failed);
        assert!(fifty("AP worse > 0.02 p<0.09", [1, 0]).failed);
        assert!(!fifty("AP worse > 0.03 p<0.09", [1, 0]).failed);
        assert!(fifty("AP drops", [1, 0]).failed && !fifty("AP drops", [0, 1]).failed);
    }

    /// Where lower is better, the run that is 0.022 higher is the worse one.
    #[test]
    fn measures_of_which_lower_is_better() {
        let lower = "Unjudged@10";
        assert_eq!(Gate::parse(&format!("{lower} < 1")).unwrap().better(), Better::Lower);
        assert!(fifty(&format!("{lower} rises > 0.005"), [0, 1]).failed);
        assert!(!fifty(&format!("{lower} rises > 0.005"), [1, 0]).failed);
        assert!(fifty(&format!("{lower} worse p<0.09"), [0, 1]).failed);
        assert!(!fifty(&format!("{lower} worse p<0.09"), [1, 0]).failed);
        let passes = fifty(&format!("{lower} may rise > 0.005"), [1, 0]);
        assert!(!passes.failed);
        known::digits(passes.p.unwrap(), ".0487497709017");
        assert!(fifty(&format!("{lower} may rise > 0.004"), [1, 0]).failed);
    }

    #[test]
    fn differences_without_spread() {
        let verdict = |text, deltas: &[f64]| of_deltas(text, 0.5, deltas, None);
        for (text, delta, failed) in [
            ("AP drops > 0.1", -0.25, true),
            ("AP drops > 0.25", -0.25, false),
            ("AP drops > 0.1", 0.7 - 0.8, false),
            ("AP drops > 0.0999999", 0.7 - 0.8, true),
            ("AP may drop > 0.25", -0.25, true),
            ("AP may drop > 0.2500001", -0.25, false),
            ("AP may drop > 0", 0.0, true),
            ("AP may drop > 0.001", 0.0, false),
            ("AP drops > 0", 0.0, false),
            ("AP drops > 0", 0.25, false),
        ] {
            assert_eq!(verdict(text, &[delta; 3]).unwrap().failed, failed, "{text} of {delta}");
        }
        // The verdict depends on a p that is missing.
        let error = verdict("AP drops > 0.1 p<0.05", &[-0.25; 3]).unwrap_err().to_string();
        assert!(error.contains("every query changes by the same amount"), "{error}");
        assert!(!verdict("AP drops > 0.25 p<0.05", &[-0.25; 3]).unwrap().failed);
        assert!(of_deltas("AP drops > 0.1 p<0.05", 0.5, &[-0.25; 3], Some(0.01)).unwrap().failed);
    }

    #[test]
    fn what_cannot_be_judged_is_an_error() {
        let text = |result: Result<Verdict>| result.unwrap_err().to_string();
        let found = text(of_run("AP drops > 0.1", 0.5));
        assert_eq!(
            found,
            "the gate `AP drops > 0.1` cannot be computed: it takes a baseline, and there is none"
        );
        for gate in ["AP drops > 0.1", "AP worse p<0.05", "AP may drop > 0.1"] {
            let found = text(of_deltas(gate, 0.5, &[-0.25], Some(0.5)));
            assert!(found.ends_with("it takes two queries or more, and there is one"), "{found}");
        }
        let found = text(of_deltas("AP drops > 1%", 0.0, &[-0.25, 0.1], None));
        assert!(found.contains("the baseline's mean is 0"), "{found}");
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(text(of_run("AP < 0.3", value)).ends_with(&format!("the mean is {value}")));
            text(of_deltas("AP drops > 1%", value, &[-0.25, 0.1], None));
            text(of_deltas("AP worse p<0.05", 0.5, &[-0.25, 0.1], Some(value)));
        }
    }

    #[test]
    fn wrong_verbs_name_the_right_one() {
        for (text, right) in [
            ("nDCG@10 rises > 0.1", "`nDCG@10 drops > 0.1`"),
            ("nDCG@10 may rise > 0.1", "`nDCG@10 may drop > 0.1`"),
            ("Unjudged@10 drops", "`Unjudged@10 rises`"),
            ("Unjudged@10 may  drop > 1%", "`Unjudged@10 may rise > 1%`"),
            ("AP drop > 0.1", "`AP drops > 0.1`"),
            ("AP decreases > 0.1", "`AP drops > 0.1`"),
            ("AP wrose p<0.1", "`AP worse p<0.1`"),
            ("AP may drops > 0.1", "`AP may drop > 0.1`"),
        ] {
            let found = error(text);
            assert!(found.ends_with(&format!("did you mean {right}?")), "{found}");
        }
        let found = error("NumRel drops > 1");
        assert!(found.starts_with("neither direction of NumRel is better"), "{found}");
        assert!(error("NumRel worse p<0.05").starts_with("neither direction"));
        let found = error("GMAP drops > 1%");
        assert!(found.starts_with("GMAP is compared by logarithms"), "{found}");
    }

    #[test]
    fn errors_say_what_was_expected_and_where() {
        assert_eq!(
            error("nDCG@10 drops > much"),
            "an amount, as in `> 0.005` or `> 1%`, was expected, and not `much`, at character 17 of the gate\n  \
             nDCG@10 drops > much\n                  ^^^^"
        );
        for (text, expected, character) in [
            ("", "a measure", 1),
            ("  ", "a measure", 3),
            ("< 0.3", "a measure", 1),
            ("AP", "`<`, `<=`", 3),
            ("AP = 0.3", "`<`, `<=`", 4),
            ("AP may", "`drop` or `rise`", 7),
            ("AP <", "a number", 5),
            ("AP < x", "a number", 6),
            ("AP < nan", "a number", 6),
            ("AP < inf", "a number", 6),
            ("AP < 1e999", "a number", 6),
            ("AP < 0.3 p<0.05", "the end", 10),
            ("AP < 30%", "the end", 8),
            ("AP drops >", "an amount", 11),
            ("AP drops >= 0.1", "an amount", 11),
            ("AP drops > -0.1", "an amount of 0 or more", 12),
            ("AP drops 0.1", "`>` and an amount", 10),
            ("AP drops > 0.1 q<0.05", "`>` and an amount", 16),
            ("AP drops > 0.1 p", "`<` after `p`", 17),
            ("AP drops > 0.1 p>0.05", "`<` after `p`", 17),
            ("AP drops > 0.1 p<", "a level of significance", 18),
            ("AP drops > 0.1 p<0", "a level of significance between", 16),
            ("AP drops > 0.1 p<1", "a level of significance between", 16),
            ("AP drops > 0.1 p<0.05 x", "the end", 23),
            ("AP worse", "`p<`", 9),
            ("AP worse > 0.1", "`p<`", 15),
            ("AP may drop", "`>` and the amount", 12),
            ("AP may drop p<0.05", "`>` and the amount", 19),
        ] {
            let found = error(text);
            let first = found.lines().next().unwrap();
            assert!(first.starts_with(expected), "{text}: {found}");
            assert!(first.ends_with(&format!("at character {character} of the gate")), "{text}: {found}");
        }
    }

    #[test]
    fn measures_that_do_not_parse_keep_their_suggestions() {
        let found = error(" nDGC@10 drops > 0.1");
        assert!(found.contains("did you mean nDCG"), "{found}");
        assert!(found.contains("\n   nDGC@10 drops > 0.1\n   ^^^^"), "{found}");
        error("P@[5,10] drops > 0.1");
        error("AP(drops > 0.1");
    }

    #[test]
    fn any_text_is_a_gate_or_an_error() {
        let pieces =
            ["AP", " ", "é", "may", "drop", "drops", ">", "<", "=", "p", "0.1", "%", "(", "", "\u{3000}"];
        for code in 0..pieces.len().pow(3) {
            let text: String = (0..3).map(|at| pieces[code / pieces.len().pow(at) % pieces.len()]).collect();
            if let Ok(gate) = Gate::parse(&format!("AP {text}")) {
                assert_eq!(Gate::parse(&gate.to_string()).unwrap(), gate);
            }
            Gate::parse(&text).map_or_else(|error| assert!(!error.to_string().is_empty()), |_| ());
        }
    }

    /// A gate on two queries with differences of the size of the largest floats.
    #[test]
    fn huge_values() {
        let runs = vec![vec![1e300, -1e300, 3e300], vec![-1e300, 1e300, 1e300]];
        let (values, counts, unit) = pair(&runs, [0, 1]);
        let paired = known::paired_of(&values, &counts, unit).unwrap();
        let facts = GateFacts { run: 1e300 / 3.0, baseline: Some(1e300), paired: Some(&paired), worse: None };
        assert!(Gate::parse("DCG drops > 1e299").unwrap().verdict(facts).unwrap().failed);
        assert!(Gate::parse("DCG may drop > 1e299").unwrap().verdict(facts).unwrap().failed);
    }
}
