//! The parser of the parameters and cutoffs after the name of a measure, as in
//! `nDCG(gain=exp2)@10`.
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
use super::params::{Cutoff, CutoffRule, NO_RELEVANT, Param, ParamKind, ParamValue, parse_level};
use super::suffix::finite;
use crate::error::MeasureError;
use crate::sort;

// `P@1..4000000000` is short to write; the list must not be long to make.
/// The largest number of measures in one argument.
pub(super) const MAX_MEASURES: usize = 10_000;

/// The result of parsing the text of a measure.
pub(super) type MeasureResult<T> = Result<T, MeasureError>;

/// Moves the error of a part of a list of measures, which starts at byte `start`, to its place in
/// the whole.
pub(super) fn within(whole: &str, start: usize, error: MeasureError) -> MeasureError {
    MeasureError {
        text: whole.to_owned(),
        span: error.span.start + start..error.span.end + start,
        ..error
    }
}

/// Parses the parameters and cutoffs behind the name of a measure, `text` from byte `at`; returns
/// drafts. There is one draft for each cutoff. If `theirs`, a parameter known to both laneval and
/// ir_measures has the meaning of ir_measures.
pub(super) fn tail(text: &str, at: usize, draft: Draft, theirs: bool) -> MeasureResult<Vec<Draft>> {
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

    fn fail<T>(&self, span: Range<usize>, message: impl Into<String>) -> MeasureResult<T> {
        Err(MeasureError::new(self.text, span, message))
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

    /// Reads the text of a measure up to one of the characters `stops`; returns it trimmed, with
    /// its span.
    fn until(&mut self, stops: &[char]) -> (Range<usize>, &'a str) {
        self.spaces();
        let start = self.at;
        let length = self.rest().find(stops).unwrap_or(self.rest().len());
        let word = self.rest()[..length].trim_end();
        self.at += length;
        (start..start + word.len(), word)
    }

    /// Reads the value of a parameter of a measure, without its quotes.
    fn word(&mut self) -> (Range<usize>, &'a str) {
        let (span, word) = self.until(&[',', ')']);
        let quoted =
            ['\'', '"'].iter().find_map(|&quote| word.strip_prefix(quote)?.strip_suffix(quote));
        (span, quoted.unwrap_or(word))
    }

    /// Reads the parameters of a measure, `key=value,…)`, after the opening parenthesis.
    fn params(&mut self) -> MeasureResult<()> {
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

    /// Reads the `=` behind the name of a parameter; an error shows the parameter with its default.
    fn equals(&mut self, span: Range<usize>, name: &str, default: &str) -> MeasureResult<()> {
        if self.eat("=") {
            Ok(())
        } else {
            self.fail(span, format!("a value was expected: {name}={default}"))
        }
    }

    /// Reads the value of a parameter of the measure, the one of index `place`.
    fn our_value(
        &mut self,
        span: Range<usize>,
        name: &str,
        place: Option<usize>,
    ) -> MeasureResult<()> {
        let definition = self.draft.definition;
        let Some(at) = place else {
            let known: Vec<_> = definition.params.iter().map(|param| param.name).collect();
            let (measure, known) = (definition.name, known.join(", "));
            let message = match &*known {
                "" => format!("`{measure}` has no parameters"),
                _ => format!("`{measure}` has no parameter `{name}`, but {known}"),
            };
            return self.fail(span, message);
        };
        self.check_free(&span, name, at)?;
        let param = definition.param_at(at);
        self.equals(span, name, param.default)?;
        let value = self.value(param)?;
        self.draft.values.push((at, value));
        Ok(())
    }

    /// Rejects a parameter of a measure that is given twice, or together with a parameter it
    /// excludes.
    fn check_free(&self, span: &Range<usize>, name: &str, at: usize) -> MeasureResult<()> {
        let definition = self.draft.definition;
        for &(other, _) in &self.draft.values {
            if other == at {
                return self.fail(span.clone(), format!("`{name}` is given twice"));
            }
            let other = definition.param_at(other).name;
            if other == definition.param_at(at).excludes {
                let message = format!("`{name}` cannot be given together with `{other}`");
                return self.fail(span.clone(), message);
            }
        }
        Ok(())
    }

    /// Reads the value of a parameter by its name in ir_measures, and translates it to laneval's.
    fn their_value(
        &mut self,
        span: Range<usize>,
        name: &str,
        key: ForeignKey,
    ) -> MeasureResult<()> {
        let definition = self.draft.definition;
        if let ForeignKey::Param(ours) = key {
            return self.our_value(span, name, definition.place(ours));
        }
        self.equals(span.clone(), name, "…")?;
        let (at, word) = self.word();
        match key {
            ForeignKey::Cutoff if !self.cuts.is_empty() => {
                return self.fail(span, "there are two cutoffs");
            }
            ForeignKey::Cutoff => {
                let cut = self.cut(at, word)?;
                self.cuts.push(cut);
            }
            ForeignKey::Words(words) => {
                let Some(&(_, param, ours)) =
                    words.iter().find(|(theirs, ..)| word.eq_ignore_ascii_case(theirs))
                else {
                    let known: Vec<_> = words.iter().map(|&(theirs, ..)| theirs).collect();
                    return self.fail(at, format!("`{word}` is not {}", known.join(" or ")));
                };
                if !param.is_empty() {
                    self.set(&span, name, param, ParamValue::Choice(ours))?;
                }
            }
            ForeignKey::Top => {
                let Some(top) = finite(word).filter(|top| *top > 0.0) else {
                    return self.fail(at, format!("`{word}` is not a grade above 0"));
                };
                self.set(&span, name, "gain", ParamValue::Choice("grade"))?;
                self.set(&span, name, "gmax", ParamValue::Number(top))?;
            }
            ForeignKey::Bottom if finite(word) == Some(0.0) => {}
            ForeignKey::Bottom => {
                return self.fail(at, "grades are worth something from 0 on: only min_rel=0");
            }
            ForeignKey::JudgedOnly if word.eq_ignore_ascii_case("False") => {}
            ForeignKey::JudgedOnly => {
                let message = "documents without a judgment are dropped for all measures together: \
                               leave this out, and give --judged-only";
                return self.fail(span.start..at.end, message);
            }
            ForeignKey::SubMeasure(measure) => {
                let message = format!("`{}` has no parameter `{name}`", definition.name);
                let suggestions = vec![format!("{measure}({name}={word})")];
                let error = MeasureError::new(self.text, span, message);
                return Err(MeasureError { suggestions, ..error });
            }
            ForeignKey::Param(_) => unreachable!("answered above"),
        }
        Ok(())
    }

    /// Sets a parameter of the measure to the meaning of a parameter of ir_measures; `name` is that
    /// parameter.
    fn set(
        &mut self,
        span: &Range<usize>,
        name: &str,
        param: &str,
        value: ParamValue,
    ) -> MeasureResult<()> {
        let place = self.draft.definition.param(param);
        self.check_free(span, name, place)?;
        self.draft.values.push((place, value));
        Ok(())
    }

    fn value(&mut self, param: &Param) -> MeasureResult<ParamValue> {
        let kind = param.kind;
        self.spaces();
        match kind {
            ParamKind::Gain if self.rest().starts_with('{') => return self.gain_table(),
            ParamKind::Points => return self.points(),
            _ => {}
        }
        let (span, word) = self.word();
        let named = kind
            .choices()
            .iter()
            .find(|choice| choice.eq_ignore_ascii_case(word))
            .map(|choice| ParamValue::Choice(choice));
        // + 0.0 makes −0 a 0: equal parameters must have equal text.
        let value = named.or_else(|| match kind {
            ParamKind::Level => parse_level(word).map(ParamValue::Number),
            _ => word.parse::<f64>().ok().map(|number| ParamValue::Number(number + 0.0)),
        });
        match value.filter(|value| kind.accepts(value)) {
            Some(value) => Ok(value),
            // A number among the words says nothing without the name.
            None if param.name == NO_RELEVANT.name => {
                self.fail(span, format!("{}={word} is not 0, 1 or skip", param.name))
            }
            None => self.fail(span, format!("`{word}` is not {kind}")),
        }
    }

    /// Reads a table of gains, `{grade:gain,…}`, as the value of a parameter.
    fn gain_table(&mut self) -> MeasureResult<ParamValue> {
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
            if pairs.iter().any(|&(other, _)| other == grade) {
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
        Ok(ParamValue::Table(pairs))
    }

    /// Reads levels of recall, `[x,…]`, ascending and distinct, as the value of a parameter.
    fn points(&mut self) -> MeasureResult<ParamValue> {
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
                Ok(ParamValue::List(points))
            }
            _ => {
                self.fail(start..span.end, "levels of recall from 0 to 1 were expected, ascending")
            }
        }
    }

    /// Reads the cutoffs of a measure after the `@`: `cut`, `[cut,…]` or `int..int`.
    fn cutoffs(&mut self) -> MeasureResult<()> {
        // From the `@` on, which has been read.
        let (definition, span) = (self.draft.definition, self.at - 1..self.text.len());
        if definition.cutoff == CutoffRule::None {
            return self.fail(span, format!("`{}` takes no cutoff", definition.name));
        }
        if !self.cuts.is_empty() {
            return self.fail(span, "there are two cutoffs");
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

    fn range(&self, span: Range<usize>, from: &str, to: &str) -> MeasureResult<Vec<Cutoff>> {
        // Rust's `1..=10` means the same list as `1..10` here.
        let ends = [from, to.trim().trim_start_matches('=')].map(|end| end.trim().parse::<u32>());
        match ends {
            [Ok(from), Ok(to)]
                if self.draft.definition.cutoff != CutoffRule::Recall
                    && 1 <= from
                    && from <= to =>
            {
                if (to - from) as usize >= MAX_MEASURES {
                    return self.fail(span, format!("more than {MAX_MEASURES} cutoffs"));
                }
                Ok((from..=to).map(Cutoff::Rank).collect())
            }
            _ => self.fail(span, format!("`{from}..{to}` is not a range of ranks such as 1..10")),
        }
    }

    fn cut(&self, span: Range<usize>, text: &str) -> MeasureResult<Cutoff> {
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
                let near = near.measure(Defaults::default());
                let suggestions = vec![near.map_or(String::new(), |measure| measure.to_string())];
                let message = format!("`{text}` is not a cutoff: it stands for a rank");
                Err(MeasureError { suggestions, ..MeasureError::new(self.text, span, message) })
            }
            _ => {
                let message =
                    format!("`{text}` is not a cutoff: a rank such as 10, [5,10] or 1..10");
                self.fail(span, message)
            }
        }
    }
}
