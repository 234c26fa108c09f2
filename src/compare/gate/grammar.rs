//! The grammar of gates: parses text into a measure and a rule, or into an error with the expected
//! text and its place.
//!
//! ```text
//! gate   = [group ": "] measure
//!          ( ("<" | "<=" | ">" | ">=") number | verb [">" amount] ["p<" alpha] )
//! verb   = "drops" | "rises" | "worse" | "may drop" | "may rise"
//! amount = number ["%"]
//! ```
//!
//! A gate that can never fail, because no value is beyond its limit, would report success in every
//! case. The grammar rejects gates without a chance to fail, and gates without a chance to pass.

use std::fmt;
use std::ops::Range;

use super::rule::{Amount, Rule, Sign};
use crate::error::{Error, MeasureError, Result};
use crate::measure::{self, Average, Better, Measure};

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

/// Parses a gate into its group of queries, its measure and its rule.
///
/// # Errors
/// The first fault, with its character and the expected text. A verb whose direction does not suit
/// the measure.
pub fn parsed(text: &str) -> Result<(Option<String>, Measure, Rule)> {
    let mut parser = GateParser { text, at: 0 };
    parser.blanks();
    let group = parser.group();
    let measure = parser.measure()?;
    let rule = parser.rule(&measure)?;
    Ok((group, measure, rule))
}

/// The text of a gate, and the place of the parser in the text.
struct GateParser<'a> {
    text: &'a str,
    /// The next byte to read.
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

    /// Returns the error for a next word other than `what`.
    fn expected(&self, what: &str) -> MeasureError {
        let place = self.upto(char::is_whitespace);
        if self.rest().is_empty() {
            self.wrong(place, format_args!("{what} was expected, and nothing follows"))
        } else {
            self.wrong(
                place.clone(),
                format_args!("{what} was expected, and not `{}`", &self.text[place]),
            )
        }
    }

    /// Reads the group before a colon and a blank. Measures have no blank behind a colon, as in the
    /// library's `ranx:ndcg@10`.
    fn group(&mut self) -> Option<String> {
        let blank = |at: usize| self.rest()[at + 1..].starts_with(char::is_whitespace);
        let colon = self.rest().rmatch_indices(':').map(|(at, _)| at).find(|&at| blank(at))?;
        let group = self.rest()[..colon].trim_end();
        if group.is_empty() {
            return None;
        }
        let group = group.to_owned();
        self.at += colon + 1;
        self.blanks();
        Some(group)
    }

    /// Reads the measure, up to the first blank, or sign, outside of brackets.
    fn measure(&mut self) -> Result<Measure> {
        // Blanks and signs within brackets belong to the measure, as in `P(rel=2)@[5, 10]`: a gate
        // cannot be cut at its blanks.
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
            return Err(self
                .expected("a measure, as in `AP < 0.3` or `nDCG@10 drops > 0.005`,")
                .into());
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
        let signs =
            [("<=", Sign::AtMost), ("<", Sign::Below), (">=", Sign::AtLeast), (">", Sign::Above)];
        let rule = match signs.into_iter().find(|(text, _)| self.eat(text)) {
            Some((_, sign)) => self.threshold(measure, sign)?,
            None => self.change(measure)?,
        };
        if self.rest().is_empty() {
            Ok(rule)
        } else {
            Err(self.expected("the end of the gate").into())
        }
    }

    /// Reads the threshold of a mean. Some possible mean must be beyond the threshold or, for `<=`
    /// and `>=`, reach the threshold.
    fn threshold(&mut self, measure: &Measure, sign: Sign) -> Result<Rule, MeasureError> {
        let place = self.upto(char::is_whitespace);
        let number = self.number("a number")?;
        let (least, most) = averages(measure);
        let never = match sign {
            Sign::Below => number <= least,
            Sign::AtMost => number < least,
            Sign::Above => number >= most,
            Sign::AtLeast => number > most,
        };
        if !never && (least..=most).contains(&number) {
            return Ok(Rule::Threshold(sign, number));
        }
        let fails = if never { "never fail" } else { "always fail" };
        let message = format!("{measure} is {}, so this gate would {fails}", measure.range());
        // A number that is too large may be meant as percent.
        let share = number / 100.0;
        let fits = number > most && (least..=most).contains(&share);
        Err(self.beyond(place, message, share.to_string(), fits))
    }

    /// The error of a limit beyond every possible mean, perhaps with a suggested limit.
    fn beyond(
        &self,
        place: Range<usize>,
        message: String,
        instead: String,
        fits: bool,
    ) -> MeasureError {
        let gate = fits.then(|| self.instead(place.clone(), &instead));
        let suggestions = gate.and_then(|gate| self.if_gate(gate)).into_iter().collect();
        MeasureError { suggestions, ..self.wrong(place, message) }
    }

    fn change(&mut self, measure: &Measure) -> Result<Rule, MeasureError> {
        let verb = self.verb(measure)?;
        let amount = if self.eat(">") { Some(self.amount(measure)?) } else { None };
        let alpha = self.alpha()?;
        match (verb, amount, alpha) {
            (Verb::May, None, _) => Err(self.expected("`>` and the amount that may be lost")),
            (Verb::May, Some(amount), alpha) => {
                Ok(Rule::May { amount, alpha: alpha.unwrap_or(ALPHA) })
            }
            (Verb::Worse, _, None) => {
                Err(self.expected("`p<` and a level of significance, as in `p<0.05`,"))
            }
            (Verb::Worse | Verb::Changes, amount, alpha) => {
                Ok(Rule::Worse { amount: amount.unwrap_or(Amount::Absolute(0.0)), alpha })
            }
        }
    }

    /// Reads a verb that suits the measure.
    fn verb(&mut self, measure: &Measure) -> Result<Verb, MeasureError> {
        const EXPECTED: &str =
            "`<`, `<=`, `>`, `>=`, `drops`, `rises`, `worse`, `may drop` or `may rise`";
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
            let message = format!(
                "neither direction of {measure} is better, so it can only be compared with a number"
            );
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
            let suggestions =
                self.if_gate(self.instead(start..place.end, right)).into_iter().collect();
            return Err(MeasureError { suggestions, ..self.wrong(start..place.end, message) });
        }
        self.at = place.end;
        self.blanks();
        Ok(verb)
    }

    /// The gate with a misspelt word replaced by the nearest verb, if any verb is near.
    fn meant(&self, place: Range<usize>, may: bool) -> Option<String> {
        let word = self.text[place.clone()].to_lowercase();
        let verbs: &[&str] =
            if may { &["drop", "rise"] } else { &["drops", "rises", "worse", "may"] };
        let near = |verb: &&&str| strsim::damerau_levenshtein(&word, verb) <= 2;
        let synonym = SYNONYMS.iter().find(|(of, _)| *of == word && !may).map(|&(_, verb)| verb);
        let verb = synonym.or_else(|| verbs.iter().find(near).copied())?;
        self.if_gate(self.instead(place, verb))
    }

    /// Returns a gate in quotes if the gate parses: a suggestion must not be an error itself.
    fn if_gate(&self, gate: String) -> Option<String> {
        parsed(gate.trim_matches('`')).is_ok().then_some(gate)
    }

    /// The text of the gate, with `other` written over `place`.
    fn instead(&self, place: Range<usize>, other: &str) -> String {
        format!("`{}{other}{}`", &self.text[..place.start], &self.text[place.end..])
    }

    fn amount(&mut self, measure: &Measure) -> Result<Amount, MeasureError> {
        let place = self.upto(char::is_whitespace);
        let amount = self.number("an amount, as in `> 0.005` or `> 1%`,")?;
        if amount < 0.0 {
            return Err(self.wrong(place, "an amount of 0 or more was expected"));
        }
        let geometric = measure.definition().average == Average::Geometric;
        // A mean of a sum is compared, not the sum.
        let (least, most) = if geometric { (0.0, f64::INFINITY) } else { measure.range().bounds() };
        if !self.eat("%") {
            if amount < most - least {
                return Ok(Amount::Absolute(amount));
            }
            let message = format!(
                "{measure} is {}, so it cannot change by more than {amount}: this gate would never \
                 fail",
                measure.range()
            );
            return Err(self.beyond(
                place.start..place.start + self.text[place].trim_end_matches('%').len(),
                message,
                format!("{amount}%"),
                amount < 100.0,
            ));
        }
        // What is not below 0 cannot lose more than all of itself.
        if amount >= 100.0 && least >= 0.0 && measure.definition().better == Better::Higher {
            let message = format!(
                "{measure} is {}, so it cannot drop by more than 100 %: this gate would never fail",
                measure.range()
            );
            return Err(self.wrong(place, message));
        }
        if geometric {
            let message = format!(
                "{measure} is compared by logarithms, so a percentage means nothing: an amount \
                 without `%` was expected"
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
            return Err(self.expected(
                "`>` and an amount, `p<` and a level of significance, or the end of the gate",
            ));
        }
        if !self.eat("<") {
            return Err(self.expected("`<` after `p`"));
        }
        let alpha = self.number("a level of significance, as in `p<0.05`,")?;
        if alpha > 0.0 && alpha < 1.0 {
            Ok(Some(alpha))
        } else {
            Err(self.wrong(start..self.at, "a level of significance between 0 and 1 was expected"))
        }
    }

    /// Reads a finite number, and the blanks behind it.
    fn number(&mut self, what: &str) -> Result<f64, MeasureError> {
        let place = self.upto(|c| c.is_whitespace() || c == '%');
        let number: Option<f64> = self.text[place.clone()].parse().ok();
        let number =
            number.filter(|number| number.is_finite()).ok_or_else(|| self.expected(what))?;
        self.at = place.end;
        self.blanks();
        Ok(number + 0.0)
    }
}

/// The least and the largest average of a measure, over however many queries.
fn averages(measure: &Measure) -> (f64, f64) {
    let (least, most) = measure.range().bounds();
    match measure.definition().average {
        Average::Sum => (least, f64::INFINITY),
        Average::Mean | Average::Geometric => (least, most),
    }
}

/// A verb of a gate.
#[derive(Debug, Clone, Copy)]
enum Verb {
    /// `drops` or `rises`.
    Changes,
    Worse,
    May,
}
