//! The grammar of gates, conditions that fail a build: parses text into a measure and a rule, or
//! into an error with the expected text and its place.
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
use crate::measure::{self, Average, Direction, Measure};

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

/// Parses the text of a gate into its group of queries, its measure and its rule.
///
/// # Errors
/// The first fault, with its character and the expected text. A verb whose direction does not suit
/// the measure.
pub fn parse(text: &str) -> Result<(Option<String>, Measure, Rule)> {
    let mut parser = GateParser { text, at: 0 };
    parser.blanks();
    let group = parser.group();
    let measure = parser.measure()?;
    let rule = parser.rule(&measure)?;
    Ok((group, measure, rule))
}

/// A parser of the text of a gate, with its place in the text.
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

    /// Moves the parser to the byte `place` of the gate's text, and past the blanks there.
    fn skip_to(&mut self, place: usize) {
        self.at = place;
        self.blanks();
    }

    /// Skips `sign` and the blanks behind it if the rest of the gate's text begins with `sign`, and
    /// returns whether it does.
    fn eat(&mut self, sign: &str) -> bool {
        let there = self.rest().starts_with(sign);
        if there {
            self.skip_to(self.at + sign.len());
        }
        there
    }

    /// Returns the byte range from the parser's place up to the first character for which `ends` is
    /// true.
    fn upto(&self, ends: impl Fn(char) -> bool) -> Range<usize> {
        self.at..self.at + self.rest().find(ends).unwrap_or(self.rest().len())
    }

    /// Returns an error with a message about the byte range `place` of the gate's text.
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

    /// Returns the error that `what` was expected at the parser's place in the gate, and not the
    /// next word.
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

    /// Reads the group of queries that a gate names before a colon and a blank, if any. Measures
    /// have no blank behind a colon, as in the library's `ranx:ndcg@10`.
    fn group(&mut self) -> Option<String> {
        // The last such colon counts, because the name of a group may contain colons and blanks.
        let (colon, _) = self
            .rest()
            .rmatch_indices(':')
            .find(|&(at, _)| self.rest()[at + 1..].starts_with(char::is_whitespace))?;
        let group = self.rest()[..colon].trim_end();
        if group.is_empty() {
            return None;
        }
        let group = group.to_owned();
        self.skip_to(self.at + colon + 1);
        Some(group)
    }

    /// Reads the measure of a gate, up to the first blank, or sign, outside of brackets.
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
            depth == 0 && is_word_end(c)
        });
        self.at = end.map_or(self.text.len(), |end| start + end);
        if start == self.at {
            return Err(self
                .expected("a measure, as in `AP < 0.3` or `nDCG@10 drops > 0.005`,")
                .into());
        }
        let measure = measure::parse(&self.text[start..self.at]).map_err(|error| match error {
            Error::Measure(error) => Error::Measure(self.shift_error(error, start)),
            Error::Measures(errors) => Error::Measures(
                errors.into_iter().map(|error| self.shift_error(error, start)).collect(),
            ),
            other => other,
        })?;
        self.blanks();
        Ok(measure)
    }

    /// Converts the error of a measure, which begins at byte `start` of the gate, into an error of
    /// the gate.
    fn shift_error(&self, error: MeasureError, start: usize) -> MeasureError {
        let span = error.span.start + start..error.span.end + start;
        MeasureError { text: self.text.to_owned(), span, ..error }
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

    /// Reads the threshold that a gate compares the mean of a run with, as 0.3 of `AP < 0.3`. Some
    /// possible mean must be beyond the threshold or, for `<=` and `>=`, reach the threshold.
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
        Err(self.beyond(place, message, fits.then(|| share.to_string())))
    }

    /// Returns the error of a gate whose limit is beyond every possible mean, perhaps with a
    /// suggested gate.
    fn beyond(
        &self,
        place: Range<usize>,
        message: String,
        instead: Option<String>,
    ) -> MeasureError {
        let gate = instead.and_then(|instead| self.instead(place.clone(), &instead));
        let suggestions = gate.into_iter().collect();
        MeasureError { suggestions, ..self.wrong(place, message) }
    }

    fn change(&mut self, measure: &Measure) -> Result<Rule, MeasureError> {
        let verb = self.verb(measure)?;
        let amount = if self.eat(">") { Some(self.amount(measure)?) } else { None };
        let alpha = self.alpha()?;
        match (verb, amount, alpha) {
            (Verb::May, None, _) => Err(self.expected("`>` and the amount that may be lost")),
            (Verb::May, Some(amount), alpha) => {
                Ok(Rule::NotShownBelow { amount, alpha: alpha.unwrap_or(ALPHA) })
            }
            (Verb::Worse, _, None) => {
                Err(self.expected("`p<` and a level of significance, as in `p<0.05`,"))
            }
            (Verb::Worse | Verb::Changes, amount, alpha) => {
                Ok(Rule::Worse { amount: amount.unwrap_or(Amount::Absolute(0.0)), alpha })
            }
        }
    }

    /// Reads the verb of a gate, such as `drops`, and rejects a verb that does not suit the
    /// measure.
    fn verb(&mut self, measure: &Measure) -> Result<Verb, MeasureError> {
        const EXPECTED: &str =
            "`<`, `<=`, `>`, `>=`, `drops`, `rises`, `worse`, `may drop` or `may rise`";
        let start = self.at;
        let mut place = self.upto(is_word_end);
        let may = &self.text[place.clone()] == "may";
        if may {
            self.skip_to(place.end);
            place = self.upto(is_word_end);
        }
        let word = &self.text[place.clone()];
        let (verb, better) = match (may, word) {
            (false, "worse") => (Verb::Worse, None),
            (false, "drops") => (Verb::Changes, Some(Direction::Higher)),
            (false, "rises") => (Verb::Changes, Some(Direction::Lower)),
            (true, "drop") => (Verb::May, Some(Direction::Higher)),
            (true, "rise") => (Verb::May, Some(Direction::Lower)),
            _ => {
                let error = self.expected(if may { "`drop` or `rise`" } else { EXPECTED });
                let suggestions = self.meant(place, may).into_iter().collect();
                return Err(MeasureError { suggestions, ..error });
            }
        };
        let of_measure = measure.definition().better;
        if of_measure == Direction::Neither {
            return Err(self.wrong(
                start..place.end,
                format_args!(
                    "neither direction of {measure} is better, so it can only be compared with a \
                     number"
                ),
            ));
        }
        if better.is_some_and(|better| better != of_measure) {
            let (which, right) = match (of_measure, may) {
                (Direction::Lower, true) => ("lower", "may rise"),
                (Direction::Lower, false) => ("lower", "rises"),
                (_, true) => ("higher", "may drop"),
                (_, false) => ("higher", "drops"),
            };
            let message = format!("{which} is better of {measure}, so `{right}` was expected");
            let suggestions = self.instead(start..place.end, right).into_iter().collect();
            return Err(MeasureError { suggestions, ..self.wrong(start..place.end, message) });
        }
        self.skip_to(place.end);
        Ok(verb)
    }

    /// Returns the gate with a misspelt word replaced by the nearest verb, if any verb is near.
    fn meant(&self, place: Range<usize>, may: bool) -> Option<String> {
        let word = self.text[place.clone()].to_lowercase();
        let verbs: &[&str] =
            if may { &["drop", "rise"] } else { &["drops", "rises", "worse", "may"] };
        // Synonyms first, because a synonym may be near to a verb of another meaning.
        let synonym =
            SYNONYMS.iter().find(|(alias, _)| *alias == word && !may).map(|&(_, verb)| verb);
        let verb = synonym.or_else(|| {
            verbs.iter().copied().find(|verb| strsim::damerau_levenshtein(&word, verb) <= 2)
        })?;
        self.instead(place, verb)
    }

    /// Returns the gate in quotes with `other` written over the byte range `place`, if the result
    /// is a valid gate.
    fn instead(&self, place: Range<usize>, other: &str) -> Option<String> {
        let gate = format!("{}{other}{}", &self.text[..place.start], &self.text[place.end..]);
        // A suggestion must not be an error itself.
        parse(&gate).is_ok().then(|| format!("`{gate}`"))
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
                (amount < 100.0).then(|| format!("{amount}%")),
            ));
        }
        // What is not below 0 cannot lose more than all of itself.
        if amount >= 100.0 && least >= 0.0 && measure.definition().better == Direction::Higher {
            return Err(self.wrong(
                place,
                format_args!(
                    "{measure} is {}, so it cannot drop by more than 100 %: this gate would never \
                     fail",
                    measure.range()
                ),
            ));
        }
        if geometric {
            return Err(self.wrong(
                place,
                format_args!(
                    "{measure} is compared by logarithms, so a percentage means nothing: an amount \
                     without `%` was expected"
                ),
            ));
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

    /// Reads a finite number of a gate, and the blanks behind it; an error calls the number `what`.
    fn number(&mut self, what: &str) -> Result<f64, MeasureError> {
        let place = self.upto(|c| c.is_whitespace() || c == '%');
        let number: Option<f64> = self.text[place.clone()].parse().ok();
        let number =
            number.filter(|number| number.is_finite()).ok_or_else(|| self.expected(what))?;
        self.skip_to(place.end);
        // Adding 0 makes +0 of −0, which messages would print as -0.
        Ok(number + 0.0)
    }
}

/// Returns whether a character ends a word of a gate, such as a verb.
fn is_word_end(c: char) -> bool {
    c.is_whitespace() || matches!(c, '<' | '>')
}

/// Returns the least and the largest average that a measure can have, over however many queries.
fn averages(measure: &Measure) -> (f64, f64) {
    let (least, most) = measure.range().bounds();
    match measure.definition().average {
        Average::Sum => (least, f64::INFINITY),
        Average::Mean | Average::Geometric => (least, most),
    }
}

/// The verb of a gate, such as `drops`, `worse` or `may drop`.
#[derive(Debug, Clone, Copy)]
enum Verb {
    /// `drops` or `rises`.
    Changes,
    Worse,
    May,
}
