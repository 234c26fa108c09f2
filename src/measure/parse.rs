//! From text to measures: the canonical grammar, and the names of trec_eval and ranx.
//!
//! ```text
//! argument = trec | ranx | measure
//! measure  = name [params] ["@" cuts] [params]
//! params   = "(" key "=" value {"," key "=" value} ")"
//! cuts     = cut | "[" cut {"," cut} "]" | int ".." int
//! ```
//!
//! One argument is a *list* of measures: `P@[5,10]` is two, trec_eval's bare `P` is nine.

use std::ops::Range;

use super::table::MEASURES;
use super::value::{Cutoff, CutoffRule, Definition, Kind, Measure, Value};
use crate::error::{MeasureError, Result};

/// What stands in where an argument says nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Defaults {
    /// The relevance level of binary measures.
    pub rel: f64,
}

impl Default for Defaults {
    fn default() -> Self {
        Defaults { rel: 1.0 }
    }
}

/// The most measures that one argument may mean.
const MOST: u32 = 10_000;

/// The one measure that `text` means.
///
/// # Errors
/// A text that means no measure, or several.
pub fn parse(text: &str) -> Result<Measure> {
    let mut list = parse_list(text, Defaults::default())?;
    match (list.pop(), list.is_empty()) {
        (Some(measure), true) => Ok(measure),
        _ => {
            Err(error(text, 0..text.len(), format!("{} measures where one was expected", list.len() + 1))
                .into())
        }
    }
}

/// The measures that `text` means.
///
/// ```
/// use laneval::measure::{Defaults, parse_list};
/// let names = |text| -> laneval::Result<Vec<String>> {
///     Ok(parse_list(text, Defaults::default())?.iter().map(ToString::to_string).collect())
/// };
/// assert_eq!(names("P@[1,5]")?, ["P@1", "P@5"]);
/// assert_eq!(names("ndcg_cut.5,10")?, ["nDCG@5", "nDCG@10"]);
/// assert_eq!(names("mrr@10-l2")?, ["RR(rel=2)@10"]);
/// # Ok::<(), laneval::Error>(())
/// ```
///
/// # Errors
/// A name, parameter or cutoff that is wrong, with its place in the text and the nearest names.
pub fn parse_list(text: &str, defaults: Defaults) -> Result<Vec<Measure>> {
    let list = match foreign(text) {
        Some(list) => list?,
        None => Parser { text, at: 0 }.argument()?,
    };
    Ok(list.into_iter().map(|draft| draft.measure(defaults)).collect())
}

/// A measure whose relevance level may still be left to the defaults.
struct Draft {
    definition: &'static Definition,
    values: Vec<(usize, Value)>,
    cutoff: Option<Cutoff>,
}

impl Draft {
    /// With the level that stands behind a name, if the measure has one.
    fn at_level(mut self, level: Option<f64>) -> Self {
        let at = self.definition.params.iter().position(|param| param.name == "rel");
        self.values.extend(at.zip(level.map(Value::Number)));
        self
    }

    fn measure(mut self, defaults: Defaults) -> Measure {
        // Only a binary measure takes the default level: where the table says 1, not where it is a floor of 0.
        let level = self.definition.params.iter().position(|p| p.name == "rel" && p.default == "1");
        if let Some(at) = level
            && self.values.iter().all(|&(of, _)| of != at)
        {
            self.values.push((at, Value::Number(defaults.rel)));
        }
        Measure::new(self.definition, self.values, self.cutoff)
    }
}

/// A name of trec_eval or ranx: which measure it is, and what may follow it.
struct Foreign {
    name: &'static str,
    measure: &'static str,
    /// Parameters in the canonical spelling.
    params: &'static str,
    /// What stands after a `.`, and what it is without.
    after: After,
}

/// What trec_eval's `.params` mean for a measure.
enum After {
    Nothing,
    /// Ranks; these without.
    Ranks(&'static [u32]),
    /// Levels of recall; the eleven tenths without.
    Recalls,
    /// Named parameters of ours, one of which takes the whole text: `beta2` of set_F.
    Param(&'static str),
    /// `level=gain,…`.
    Gains,
    /// Multiples of R; the ten fifths up to 2 without.
    Multiples(&'static str),
    /// Values of these parameters, in this order.
    Values(&'static [&'static str]),
    /// `key=value` as trec_eval writes it.
    Pairs,
    /// Of rbp: `p=0.95` is trec_eval's; digits after the point, as in `rbp.95`, are ranx's.
    Persistence,
}

const NINE: &[u32] = &[5, 10, 15, 20, 30, 100, 200, 500, 1000];

const fn foreign_name(
    name: &'static str,
    measure: &'static str,
    params: &'static str,
    after: After,
) -> Foreign {
    Foreign { name, measure, params, after }
}

/// Names that are more than an alias of a row. trec_eval's come first: they win where both tools use a bare word.
const FOREIGN: &[Foreign] = &[
    foreign_name("P", "P", "", After::Ranks(NINE)),
    foreign_name("recall", "R", "", After::Ranks(NINE)),
    foreign_name("relative_P", "R", "norm=min", After::Ranks(NINE)),
    foreign_name("success", "Success", "", After::Ranks(&[1, 5, 10])),
    foreign_name("map_cut", "AP", "", After::Ranks(NINE)),
    foreign_name("ndcg_cut", "nDCG", "", After::Ranks(NINE)),
    foreign_name("ndcg", "nDCG", "", After::Gains),
    foreign_name("dcg", "DCG", "", After::Gains),
    foreign_name("iprec_at_recall", "IPrec", "", After::Recalls),
    foreign_name("11pt_avg", "IPrec11", "", After::Param("points")),
    foreign_name("set_F", "SetF", "", After::Param("beta2")),
    foreign_name("precision", "SetP", "", After::Nothing),
    foreign_name("f1", "SetF", "", After::Nothing),
    foreign_name("set_relative_P", "SetP", "norm=min", After::Nothing),
    foreign_name("Rprec_mult", "Rprec", "", After::Multiples("mult")),
    foreign_name("G", "G", "", After::Gains),
    foreign_name("ideal_dcg", "IDCG", "", After::Gains),
    foreign_name("ndcg_rel", "nDCGrel", "", After::Gains),
    foreign_name("Rndcg", "RnDCG", "", After::Gains),
    foreign_name("utility", "Utility", "", After::Values(&["a", "b", "c", "d"])),
    foreign_name("unj", "Unjudged", "", After::Ranks(&[5, 10, 20])),
    foreign_name("rbp_resid", "RBPresid", "", After::Pairs),
    foreign_name("rbp", "RBP", "", After::Persistence),
];

/// Names that ranx cuts with `@k` and that are more than an alias.
const RANX: &[(&str, &str, &str)] =
    &[("ndcg_burges", "nDCG", "gain=exp2"), ("dcg_burges", "DCG", "gain=exp2")];

/// The measures of a foreign name; `None` where `text` is not one.
fn foreign(text: &str) -> Option<Result<Vec<Draft>>> {
    // ranx's `f1-l2` and `rbp.95-l2`.
    let (whole, level) = split_level(text);
    let level: Option<f64> =
        level.and_then(|level| level.parse().ok()).filter(|level| (0.0..=f64::MAX).contains(level));
    let text = if level.is_some() { whole } else { text };
    let drafts = foreign_without_level(text)?;
    Some(drafts.map(|drafts| drafts.into_iter().map(|draft| draft.at_level(level)).collect()))
}

fn foreign_without_level(text: &str) -> Option<Result<Vec<Draft>>> {
    FOREIGN.iter().find_map(|name| {
        let rest = text.strip_prefix(name.name)?;
        let at = text.len() - rest.len();
        if rest.is_empty() {
            return Some(expand(name, text, None));
        }
        let after = rest.strip_prefix(['.', '_'])?;
        // `P_5` is pytrec_eval's spelling, and only where numbers follow; `set_F_0.5` likewise.
        let numbers = after.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+');
        (rest.starts_with('.') || numbers).then(|| expand(name, text, Some(at + 1)))
    })
}

/// The drafts of a foreign name whose parameters, if any, start at byte `from`.
fn expand(name: &Foreign, text: &str, from: Option<usize>) -> Result<Vec<Draft>> {
    let canonical = |params: &str, cut: &str| {
        let both = [name.params, params].into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join(",");
        let params = if both.is_empty() { String::new() } else { format!("({both})") };
        let canonical = format!("{}{params}{cut}", name.measure);
        Parser { text: &canonical, at: 0 }.argument().map_err(|e| match (e, from) {
            // The span is in a text that the user did not write: point at the parameters that he did.
            (crate::Error::Measure(e), Some(from)) => error(text, from..text.len(), e.message).into(),
            (e, _) => e,
        })
    };
    let after = from.map(|from| &text[from..]);
    let list = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    match (&name.after, after) {
        (After::Ranks(all), None) => canonical("", &format!("@[{}]", list(all))),
        (After::Ranks(_), Some(cuts)) => canonical("", &format!("@[{cuts}]")),
        (After::Recalls, None) => canonical("", "@[0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1]"),
        (After::Recalls, Some(cuts)) => canonical("", &format!("@[{cuts}]")),
        (After::Param("points"), Some(points)) => canonical(&format!("points=[{points}]"), ""),
        (After::Param(key), Some(value)) => canonical(&format!("{key}={value}"), ""),
        (After::Gains, Some(gains)) => canonical(&format!("gain={{{}}}", gains.replace('=', ":")), ""),
        (After::Multiples(key), multiples) => {
            let multiples = multiples.unwrap_or("0.2,0.4,0.6,0.8,1,1.2,1.4,1.6,1.8,2").split(',');
            let lists = multiples.map(|multiple| canonical(&format!("{key}={multiple}"), ""));
            Ok(lists.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
        }
        (After::Values(keys), Some(values)) if values.split(',').count() == keys.len() => {
            let pairs = keys.iter().zip(values.split(',')).map(|(key, value)| format!("{key}={value}"));
            canonical(&pairs.collect::<Vec<_>>().join(","), "")
        }
        (After::Values(keys), Some(_)) => {
            let message = format!("{} numbers were expected", keys.len());
            Err(error(text, from.unwrap_or(0)..text.len(), message).into())
        }
        (After::Pairs, Some(pairs)) => canonical(pairs, ""),
        (After::Persistence, None) => canonical("p=0.9,scale=topic", ""),
        (After::Persistence, Some(after)) if after.starts_with(|c: char| c.is_ascii_digit()) => {
            canonical(&format!("gain=raw,p=0.{after}"), "")
        }
        (After::Persistence, Some(pairs)) => canonical(&format!("scale=topic,{pairs}"), ""),
        (After::Nothing, Some(_)) => {
            Err(error(text, from.unwrap_or(0)..text.len(), format!("`{}` takes no parameters", name.name))
                .into())
        }
        (_, None) => canonical("", ""),
    }
}

fn error(text: &str, span: Range<usize>, message: String) -> MeasureError {
    MeasureError { text: text.to_owned(), span, message, suggestions: Vec::new() }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn fail<T>(&self, span: Range<usize>, message: impl Into<String>) -> Result<T> {
        Err(error(self.text, span, message.into()).into())
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

    /// Everything up to one of these characters, trimmed, with its span.
    fn until(&mut self, stops: &[char]) -> (Range<usize>, &'a str) {
        self.spaces();
        let start = self.at;
        let length = self.rest().find(stops).unwrap_or(self.rest().len());
        let word = self.rest()[..length].trim_end();
        self.at += length;
        (start..start + word.len(), word)
    }

    fn argument(mut self) -> Result<Vec<Draft>> {
        let (name_span, name) = self.until(&['(', '@']);
        // ranx writes the relevance level last: `ndcg@10-l2`.
        let (name, mut level) = split_level(name);
        let (definition, fixed) = self.definition(name_span.start..name_span.start + name.len(), name)?;
        let mut values: Vec<(usize, Value)> = Vec::new();
        if !fixed.is_empty() {
            Parser { text: fixed, at: 0 }.params(definition, &mut values)?;
        }
        if self.eat("(") {
            self.params(definition, &mut values)?;
        }
        let mut cuts = None;
        if self.eat("@") {
            let start = self.at;
            cuts = Some((start, self.cuts(definition, &mut level)?));
        }
        if self.eat("(") {
            self.params(definition, &mut values)?;
        }
        self.spaces();
        if !self.rest().is_empty() {
            return self.fail(self.at..self.text.len(), "nothing was expected here");
        }
        if let Some(level) = level {
            Parser { text: &format!("rel={level})"), at: 0 }.params(definition, &mut values).map_err(
                |_| {
                    error(self.text, 0..self.text.len(), format!("`{}` takes no level `-l`", definition.name))
                },
            )?;
        }
        let cutoffs = match (cuts, definition.cutoff) {
            (Some((_, cuts)), _) => cuts.into_iter().map(Some).collect(),
            (None, CutoffRule::Required) => {
                return self
                    .fail(name_span, format!("`{0}` needs a cutoff, such as {0}@10", definition.name));
            }
            (None, CutoffRule::Recall) => {
                return self.fail(
                    name_span,
                    format!("`{0}` needs a level of recall, such as {0}@0.1", definition.name),
                );
            }
            (None, _) => vec![None],
        };
        Ok(cutoffs.into_iter().map(|cutoff| Draft { definition, values: values.clone(), cutoff }).collect())
    }

    /// The row of a name, alias or ranx name, with the parameters that the latter stands for.
    fn definition(&self, span: Range<usize>, name: &str) -> Result<(&'static Definition, &'static str)> {
        let row = |name: &str| MEASURES.iter().find(|row| row.name == name || row.aliases.contains(&name));
        let ranx = RANX.iter().find(|(of, ..)| *of == name);
        match row(ranx.map_or(name, |(_, canonical, _)| canonical)) {
            Some(row) => Ok((row, ranx.map_or("", |(.., params)| params))),
            None => {
                let message = match name {
                    "" => "a measure was expected".to_owned(),
                    _ => format!("there is no measure `{name}`: `laneval measures` lists them"),
                };
                Err(MeasureError { suggestions: nearest(name), ..error(self.text, span, message) }.into())
            }
        }
    }

    /// `key=value,…)`; the opening parenthesis is eaten, and the closing one may be missing only at the end of a fixed text.
    fn params(&mut self, definition: &'static Definition, values: &mut Vec<(usize, Value)>) -> Result<()> {
        loop {
            let (key_span, key) = self.until(&['=', ',', ')']);
            let Some(at) = definition.params.iter().position(|param| param.name == key) else {
                let known: Vec<_> = definition.params.iter().map(|param| param.name).collect();
                let message = match known.as_slice() {
                    [] => format!("`{}` has no parameters", definition.name),
                    _ => format!("`{}` has no parameter `{key}`, but {}", definition.name, known.join(", ")),
                };
                return self.fail(key_span, message);
            };
            let param = &definition.params[at];
            for (other, _) in values.iter() {
                if *other == at {
                    return self.fail(key_span, format!("`{key}` is given twice"));
                }
                if definition.params[*other].name == param.excludes {
                    return self.fail(
                        key_span,
                        format!("`{key}` cannot be given together with `{}`", param.excludes),
                    );
                }
            }
            if !self.eat("=") {
                return self.fail(key_span, format!("a value was expected: {key}={}", param.default));
            }
            values.push((at, self.value(param.kind)?));
            if self.eat(",") {
                continue;
            }
            if self.eat(")") || self.rest().is_empty() && !self.text.contains('(') {
                return Ok(());
            }
            return self.fail(self.at..self.text.len(), "`,` or `)` was expected");
        }
    }

    fn value(&mut self, kind: Kind) -> Result<Value> {
        self.spaces();
        match kind {
            Kind::Gain if self.rest().starts_with('{') => return self.gain_table(),
            Kind::Points => return self.points(),
            _ => {}
        }
        let (span, word) = self.until(&[',', ')']);
        let one_of = |words: &[&'static str]| words.iter().copied().find(|of| *of == word).map(Value::Word);
        let number = |least: f64, most: f64| {
            let number = word.parse::<f64>().ok().filter(|number| (least..=most).contains(number));
            number.map(|number| Value::Number(number + 0.0))
        };
        let value = match kind {
            Kind::Level => number(0.0, f64::MAX),
            Kind::Number(least, most) => number(least, most),
            Kind::NumberOr(least, most, words) => number(least, most).or_else(|| one_of(words)),
            Kind::Ranks(_) if word.bytes().all(|b| b.is_ascii_digit()) => number(1.0, 1e6),
            Kind::Ranks(words) | Kind::Word(words) => one_of(words),
            Kind::Gain => one_of(&["linear", "exp2"]),
            Kind::Points => None,
        };
        match value {
            Some(value) => Ok(value),
            None => self.fail(span, format!("`{word}` is not {kind}")),
        }
    }

    /// `{grade:gain,…}`.
    fn gain_table(&mut self) -> Result<Value> {
        let start = self.at;
        self.eat("{");
        let mut pairs: Vec<(f64, f64)> = Vec::new();
        loop {
            let (span, text) = self.until(&[',', '}']);
            let pair = text.split_once(':').and_then(|(grade, gain)| Some((finite(grade)?, finite(gain)?)));
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
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(Value::Table(pairs))
    }

    /// `[x,…]`, ascending and distinct.
    fn points(&mut self) -> Result<Value> {
        let start = self.at;
        if !self.eat("[") {
            let (span, word) = self.until(&[',', ')']);
            return self.fail(span, format!("`{word}` is not a list such as [0.2,0.5,0.8]"));
        }
        let (span, text) = self.until(&[']']);
        let points: Option<Vec<f64>> = text.split(',').map(|x| recall_level(x.trim())).collect();
        match points {
            Some(points) if points.windows(2).all(|pair| pair[0] < pair[1]) && self.eat("]") => {
                Ok(Value::List(points))
            }
            _ => self.fail(start..span.end, "levels of recall from 0 to 1 were expected, ascending"),
        }
    }

    /// `cut`, `[cut,…]` or `int..int`; a level `-lN` may follow a single cut.
    fn cuts(&mut self, definition: &Definition, level: &mut Option<&'a str>) -> Result<Vec<Cutoff>> {
        if definition.cutoff == CutoffRule::None {
            return self.fail(self.at - 1..self.text.len(), format!("`{}` takes no cutoff", definition.name));
        }
        if self.eat("[") {
            let mut cuts = Vec::new();
            loop {
                let (span, text) = self.until(&[',', ']']);
                cuts.push(self.cut(definition, span, text)?);
                if self.eat("]") {
                    return Ok(cuts);
                }
                if !self.eat(",") {
                    return self.fail(self.at..self.text.len(), "`]` was expected");
                }
            }
        }
        let (span, text) = self.until(&['(']);
        if let Some((from, to)) = text.split_once("..") {
            let bounds =
                from.trim().parse::<u32>().ok().zip(to.trim().trim_start_matches('=').parse::<u32>().ok());
            return match bounds {
                Some((from, to)) if definition.cutoff != CutoffRule::Recall && 1 <= from && from <= to => {
                    if to - from >= MOST {
                        return self.fail(span, format!("more than {MOST} cutoffs"));
                    }
                    Ok((from..=to).map(Cutoff::Rank).collect())
                }
                _ => self.fail(span, format!("`{text}` is not a range of ranks such as 1..10")),
            };
        }
        let (cut, ranx) = split_level(text);
        *level = ranx.or(*level);
        Ok(vec![self.cut(definition, span.start..span.start + cut.len(), cut)?])
    }

    fn cut(&self, definition: &Definition, span: Range<usize>, text: &str) -> Result<Cutoff> {
        if definition.cutoff == CutoffRule::Recall {
            return match recall_level(text) {
                Some(x) => Ok(Cutoff::Recall(x)),
                None => self.fail(span, format!("`{text}` is not a level of recall from 0 to 1")),
            };
        }
        match text.parse::<u32>() {
            Ok(0) => self.fail(span, "a cutoff is at least 1"),
            Ok(k) if k < u32::MAX => Ok(Cutoff::Rank(k)),
            _ => self.fail(span, format!("`{text}` is not a cutoff: a rank such as 10, [5,10] or 1..10")),
        }
    }
}

/// `name-l2` is `name` at level 2.
fn split_level(text: &str) -> (&str, Option<&str>) {
    match text.rsplit_once("-l") {
        Some((name, level)) if level.parse::<f64>().is_ok() => (name, Some(level)),
        _ => (text, None),
    }
}

fn finite(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| number + 0.0)
}

fn recall_level(text: &str) -> Option<f64> {
    finite(text).filter(|x| (0.0..=1.0).contains(x))
}

/// Names that a misspelt one may have meant, best first.
fn nearest(name: &str) -> Vec<String> {
    let bare = name.to_lowercase();
    let known = MEASURES.iter().flat_map(|row| std::iter::once(row.name).chain(row.aliases.iter().copied()));
    let foreign = FOREIGN.iter().map(|foreign| foreign.name).chain(RANX.iter().map(|(name, ..)| *name));
    let mut scored: Vec<(f64, &str)> = known
        .chain(foreign)
        .map(|known| {
            let lower = known.to_lowercase();
            // The right letters in a wrong order are one mistake, however far they moved.
            let jumbled = letters(&bare) == letters(&lower);
            let mistakes = match jumbled {
                true => usize::from(bare != lower),
                false => strsim::damerau_levenshtein(&bare, &lower),
            };
            (mistakes as f64 / bare.chars().count().max(known.len()).max(1) as f64, known)
        })
        .filter(|&(distance, _)| distance <= 0.4)
        .collect();
    scored.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut names: Vec<String> = Vec::new();
    for (_, name) in scored {
        if names.len() < 3 && !names.iter().any(|of| of.eq_ignore_ascii_case(name)) {
            names.push(name.to_owned());
        }
    }
    names
}

fn letters(name: &str) -> Vec<char> {
    let mut letters: Vec<char> = name.chars().collect();
    letters.sort_unstable();
    letters
}
