//! The grammar of the text after a measure's name.
//!
//! ```text
//! tail     = params | "@" cuts
//! params   = "(" key "=" value {"," key "=" value} ")"
//! cuts     = cut | "[" cut {"," cut} "]" | int ".." int
//! ```
//!
//! A recursive descent of one function a rule, with a byte position: the grammar needs one
//! character of look-ahead and never goes back. Each error has the span of the part that is wrong,
//! counted in the whole text, because a list of measures may be long.
//!
//! Parameters may stand in front of the cutoff or behind it; a key that is given on both sides is
//! found as given twice. Names of ir_measures are read in the same loop: a key is taken as theirs
//! if the vocabulary is theirs, or if the measure has no parameter of that name.

use std::ops::Range;

use super::draft::{Defaults, Draft};
use super::foreign::{ForeignKey, key};
use super::params::{Cutoff, CutoffRule, Kind, NOTHING, Param, Value, parse_level};
use super::suffix::finite;
use crate::error::MeasureError;
use crate::sort;

// `P@1..4000000000` is short to write; the list must not be long to make.
/// The largest number of measures in one argument.
pub(super) const MOST: usize = 10_000;

/// Turns the error of a part that starts at byte `start` into an error of the whole text.
pub(super) fn within(whole: &str, start: usize, error: MeasureError) -> MeasureError {
    MeasureError {
        text: whole.to_owned(),
        span: error.span.start + start..error.span.end + start,
        ..error
    }
}

/// Reads the parameters and cutoffs in `text` from byte `at`, and returns the measures of the name.
/// If `theirs`, a parameter known to both laneval and ir_measures has the meaning of ir_measures.
pub(super) fn tail(
    text: &str,
    at: usize,
    draft: Draft,
    theirs: bool,
) -> Result<Vec<Draft>, MeasureError> {
    let mut parser = MeasureParser { text, at, draft, theirs, cuts: Vec::new() };
    if parser.eat("(") {
        parser.params()?;
    }
    if parser.eat("@") {
        parser.cutoffs()?;
    }
    if parser.eat("(") {
        parser.params()?;
    }
    parser.spaces();
    if !parser.rest().is_empty() {
        return parser.fail(parser.at..text.len(), "nothing was expected here");
    }
    let MeasureParser { draft, cuts, .. } = parser;
    Ok(if cuts.is_empty() {
        vec![draft]
    } else {
        cuts.into_iter().map(|cut| Draft { cutoff: Some(cut), ..draft.clone() }).collect()
    })
}

struct MeasureParser<'a> {
    text: &'a str,
    at: usize,
    draft: Draft,
    theirs: bool,
    cuts: Vec<Cutoff>,
}

impl<'a> MeasureParser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn fail<T>(&self, span: Range<usize>, message: impl Into<String>) -> Result<T, MeasureError> {
        Err(MeasureError::new(self.text, span, message))
    }

    /// Fails with a suggestion of the measure that was probably meant.
    fn fail_near<T>(
        &self,
        span: Range<usize>,
        message: impl Into<String>,
        near: String,
    ) -> Result<T, MeasureError> {
        Err(MeasureError { suggestions: vec![near], ..MeasureError::new(self.text, span, message) })
    }

    fn spaces(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, token: &str) -> bool {
        self.spaces();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// Reads up to one of the characters `stops`, and returns the trimmed text with its span.
    fn until(&mut self, stops: &[char]) -> (Range<usize>, &'a str) {
        self.spaces();
        let start = self.at;
        let length = self.rest().find(stops).unwrap_or(self.rest().len());
        let word = self.rest()[..length].trim_end();
        self.at += length;
        (start..start + word.len(), word)
    }

    /// Reads a value, without its quotes.
    fn word(&mut self) -> (Range<usize>, &'a str) {
        let (span, word) = self.until(&[',', ')']);
        let quoted =
            ['\'', '"'].iter().find_map(|&quote| word.strip_prefix(quote)?.strip_suffix(quote));
        (span, quoted.unwrap_or(word))
    }

    /// Reads `key=value,…)`, after the opening parenthesis.
    fn params(&mut self) -> Result<(), MeasureError> {
        loop {
            let (span, name) = self.until(&['=', ',', ')']);
            let definition = self.draft.definition;
            let ours = definition.place(name);
            match key(name, definition.name).filter(|_| self.theirs || ours.is_none()) {
                Some(key) => self.their_value(span, name, key)?,
                None => self.our_value(span, name, ours)?,
            }
            if self.eat(",") {
                continue;
            }
            if self.eat(")") {
                return Ok(());
            }
            return self.fail(self.at..self.text.len(), "`,` or `)` was expected");
        }
    }

    fn equals(
        &mut self,
        span: Range<usize>,
        name: &str,
        default: &str,
    ) -> Result<(), MeasureError> {
        if self.eat("=") {
            Ok(())
        } else {
            self.fail(span, format!("a value was expected: {name}={default}"))
        }
    }

    /// Reads the value of the measure's parameter of index `at`.
    fn our_value(
        &mut self,
        span: Range<usize>,
        name: &str,
        place: Option<usize>,
    ) -> Result<(), MeasureError> {
        let definition = self.draft.definition;
        let Some(at) = place else {
            let known: Vec<_> = definition.params.iter().map(|param| param.name).collect();
            let message = match known.as_slice() {
                [] => format!("`{}` has no parameters", definition.name),
                _ => format!(
                    "`{}` has no parameter `{name}`, but {}",
                    definition.name,
                    known.join(", ")
                ),
            };
            return self.fail(span, message);
        };
        self.check_free(&span, name, at)?;
        self.equals(span, name, definition.param_at(at).default)?;
        let value = self.value(definition.param_at(at))?;
        self.draft.values.push((at, value));
        Ok(())
    }

    /// Rejects a repeated parameter, and a parameter next to an excluded parameter.
    fn check_free(&self, span: &Range<usize>, name: &str, at: usize) -> Result<(), MeasureError> {
        let definition = self.draft.definition;
        for &(other, _) in &self.draft.values {
            if other == at {
                return self.fail(span.clone(), format!("`{name}` is given twice"));
            }
            if definition.param_at(other).name == definition.param_at(at).excludes {
                let message = format!(
                    "`{name}` cannot be given together with `{}`",
                    definition.param_at(other).name
                );
                return self.fail(span.clone(), message);
            }
        }
        Ok(())
    }

    /// Reads the value of a parameter of ir_measures.
    fn their_value(
        &mut self,
        span: Range<usize>,
        name: &str,
        key: ForeignKey,
    ) -> Result<(), MeasureError> {
        let definition = self.draft.definition;
        if let ForeignKey::Param(ours) = key {
            return self.our_value(span, name, definition.place(ours));
        }
        self.equals(span.clone(), name, "…")?;
        let (at, word) = self.word();
        let is = |of: &str| word.eq_ignore_ascii_case(of);
        match key {
            ForeignKey::Cutoff if !self.cuts.is_empty() => {
                return self.fail(span, "there are two cutoffs");
            }
            ForeignKey::Cutoff => {
                let cut = self.cut(at, word)?;
                self.cuts.push(cut);
            }
            ForeignKey::Words(words) => {
                let Some(&(_, param, ours)) = words.iter().find(|(theirs, ..)| is(theirs)) else {
                    let known: Vec<_> = words.iter().map(|&(theirs, ..)| theirs).collect();
                    return self.fail(at, format!("`{word}` is not {}", known.join(" or ")));
                };
                if !param.is_empty() {
                    self.set(&span, name, param, Value::Word(ours))?;
                }
            }
            ForeignKey::Top => {
                let Some(top) = finite(word).filter(|top| *top > 0.0) else {
                    return self.fail(at, format!("`{word}` is not a grade above 0"));
                };
                self.set(&span, name, "gain", Value::Word("grade"))?;
                self.set(&span, name, "gmax", Value::Number(top))?;
            }
            ForeignKey::Bottom if finite(word) == Some(0.0) => {}
            ForeignKey::Bottom => {
                return self.fail(at, "grades are worth something from 0 on: only min_rel=0");
            }
            ForeignKey::JudgedOnly if is("False") => {}
            ForeignKey::JudgedOnly => {
                let message = "documents without a judgment are dropped for all measures together: \
                               leave this out, and give --judged-only";
                return self.fail(span.start..at.end, message);
            }
            ForeignKey::Of(measure) => {
                let message = format!("`{}` has no parameter `{name}`", definition.name);
                return self.fail_near(span, message, format!("{measure}({name}={word})"));
            }
            ForeignKey::Param(_) => unreachable!("answered above"),
        }
        Ok(())
    }

    /// Sets a parameter to what a key of ir_measures stands for; `name` is that key.
    fn set(
        &mut self,
        span: &Range<usize>,
        name: &str,
        param: &str,
        value: Value,
    ) -> Result<(), MeasureError> {
        let place = self.draft.definition.param(param);
        self.check_free(span, name, place)?;
        self.draft.values.push((place, value));
        Ok(())
    }

    fn value(&mut self, param: &Param) -> Result<Value, MeasureError> {
        let kind = param.kind;
        self.spaces();
        match kind {
            Kind::Gain if self.rest().starts_with('{') => return self.gain_table(),
            Kind::Points => return self.points(),
            _ => {}
        }
        let (span, word) = self.word();
        let named =
            kind.words().iter().find(|of| of.eq_ignore_ascii_case(word)).map(|of| Value::Word(of));
        // + 0.0 makes −0 a 0: equal parameters must have equal text.
        let number = || match kind {
            Kind::Level => parse_level(word).map(Value::Number),
            _ => word.parse::<f64>().ok().map(|number| Value::Number(number + 0.0)),
        };
        match named.or_else(number).filter(|value| kind.takes(value)) {
            Some(value) => Ok(value),
            // A number among the words says nothing without the name.
            None if param.name == NOTHING.name => {
                self.fail(span, format!("{}={word} is not 0, 1 or skip", param.name))
            }
            None => self.fail(span, format!("`{word}` is not {kind}")),
        }
    }

    /// Reads `{grade:gain,…}`.
    fn gain_table(&mut self) -> Result<Value, MeasureError> {
        let start = self.at;
        self.eat("{");
        let mut pairs: Vec<(f64, f64)> = Vec::new();
        loop {
            let (span, text) = self.until(&[',', '}']);
            let pair = text
                .split_once(':')
                .and_then(|(grade, gain)| Some((finite(grade)?, finite(gain)?)));
            let Some((grade, gain)) = pair else {
                return self.fail(span, format!("`{text}` is not a pair grade:gain"));
            };
            if pairs.iter().any(|&(of, _)| of == grade) {
                return self.fail(span, format!("grade {grade} has two gains"));
            }
            pairs.push((grade, gain));
            if self.eat("}") {
                break;
            }
            if !self.eat(",") {
                return self.fail(start..self.text.len(), "`}` was expected");
            }
        }
        sort::by_number(&mut pairs, |(grade, _)| *grade);
        Ok(Value::Table(pairs))
    }

    /// Reads `[x,…]`, ascending and distinct.
    fn points(&mut self) -> Result<Value, MeasureError> {
        let start = self.at;
        if !self.eat("[") {
            let (span, word) = self.until(&[',', ')']);
            return self.fail(span, format!("`{word}` is not a list such as [0.2,0.5,0.8]"));
        }
        let (span, text) = self.until(&[']']);
        let points: Option<Vec<f64>> =
            text.split(',').map(|x| finite(x).filter(|x| (0.0..=1.0).contains(x))).collect();
        match points {
            Some(points) if points.windows(2).all(|pair| pair[0] < pair[1]) && self.eat("]") => {
                Ok(Value::List(points))
            }
            _ => {
                self.fail(start..span.end, "levels of recall from 0 to 1 were expected, ascending")
            }
        }
    }

    /// Reads `cut`, `[cut,…]` or `int..int`, after the `@`.
    fn cutoffs(&mut self) -> Result<(), MeasureError> {
        let definition = self.draft.definition;
        if definition.cutoff == CutoffRule::None {
            let message = format!("`{}` takes no cutoff", definition.name);
            return self.fail(self.at - 1..self.text.len(), message);
        }
        if !self.cuts.is_empty() {
            return self.fail(self.at - 1..self.text.len(), "there are two cutoffs");
        }
        if self.eat("[") {
            loop {
                let (span, text) = self.until(&[',', ']']);
                let cut = self.cut(span, text)?;
                self.cuts.push(cut);
                if self.eat("]") {
                    return Ok(());
                }
                if !self.eat(",") {
                    return self.fail(self.at..self.text.len(), "`]` was expected");
                }
            }
        }
        let (span, text) = self.until(&['(']);
        self.cuts = match text.split_once("..") {
            Some((from, to)) => self.range(span, from, to)?,
            None => vec![self.cut(span, text)?],
        };
        Ok(())
    }

    fn range(&self, span: Range<usize>, from: &str, to: &str) -> Result<Vec<Cutoff>, MeasureError> {
        let rank = |text: &str| text.trim().parse::<u32>().ok();
        match rank(from).zip(rank(to.trim().trim_start_matches('='))) {
            Some((from, to))
                if self.draft.definition.cutoff != CutoffRule::Recall
                    && 1 <= from
                    && from <= to =>
            {
                if (to - from) as usize >= MOST {
                    return self.fail(span, format!("more than {MOST} cutoffs"));
                }
                Ok((from..=to).map(Cutoff::Rank).collect())
            }
            _ => self.fail(span, format!("`{from}..{to}` is not a range of ranks such as 1..10")),
        }
    }

    fn cut(&self, span: Range<usize>, text: &str) -> Result<Cutoff, MeasureError> {
        if self.draft.definition.cutoff == CutoffRule::Recall {
            return match finite(text).filter(|x| (0.0..=1.0).contains(x)) {
                Some(x) => Ok(Cutoff::Recall(x)),
                None => self.fail(span, format!("`{text}` is not a level of recall from 0 to 1")),
            };
        }
        match text.parse::<u32>() {
            Ok(0) => self.fail(span, "a cutoff is at least 1"),
            // u32::MAX stands for the end of a ranking wherever ranks are lists.
            Ok(k) if k < u32::MAX => Ok(Cutoff::Rank(k)),
            _ if ["k", "K", "n", "N"].contains(&text) => {
                let near = Draft { cutoff: Some(Cutoff::Rank(10)), ..self.draft.clone() };
                let near = near
                    .measure(Defaults::default())
                    .map_or_else(|_| String::new(), |m| m.to_string());
                self.fail_near(
                    span,
                    format!("`{text}` is not a cutoff: it stands for a rank"),
                    near,
                )
            }
            _ => self.fail(
                span,
                format!("`{text}` is not a cutoff: a rank such as 10, [5,10] or 1..10"),
            ),
        }
    }
}
