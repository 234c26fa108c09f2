//! A measure as a value, and the shape of a row of the table. Both types share a file: a measure
//! points to its row, and a row declares functions of the measure.

use std::fmt;
use std::hash::{Hash, Hasher};

use super::params::{Cutoff, CutoffRule, JUDGES, Kind, NOTHING, Param, Value};
use super::recall::RecallRule;
use super::recipe::{Read, Recipe};
use super::traits::{Expected, JudgmentInput, Range, Status};
use crate::error::{Error, MeasureError, Result};
use crate::facets::{FacetValue, Judges};
use crate::fold::{CodeTable, Fold};
use crate::judged_by::JudgedBy;
use crate::matrix::{Above, Codebook};
use crate::numbers::Level;
use crate::sort;

/// The word of a parameter for documents of equal scores that stand all at the last rank of their
/// group.
const TOGETHER: &str = "together";

/// One row of the table of measures.
pub struct Definition {
    /// The canonical name, in its usual spelling.
    pub name: &'static str,
    /// The rule for a cutoff.
    pub cutoff: CutoffRule,
    /// The parameters of the measure, in print order.
    pub params: &'static [Param],
    /// The aggregate over queries.
    pub average: Average,
    /// The better direction of averages.
    pub better: Better,
    /// The properties of the measure's values.
    pub traits: Traits,
    /// A description in one line for readers new to information retrieval; `k` is the cutoff.
    pub plain: &'static str,
    /// A description in one sentence, in the words of the field.
    pub doc: &'static str,
    /// The formula in plain text.
    pub formula: &'static str,
    /// The source of the formula.
    pub citation: &'static str,
    /// Makes the recipe for a codebook: the inputs of the measure, and its last step.
    pub recipe: fn(&Measure, &Codebook) -> Result<Recipe, String>,
}

impl Definition {
    /// The index of a parameter by name.
    pub(super) fn place(&'static self, param: &str) -> Option<usize> {
        let own = self.params.iter().position(|of| of.name == param);
        own.or_else(|| {
            let shared = self.shared().position(|of| of.is_some_and(|of| of.name == param))?;
            Some(self.params.len() + shared)
        })
    }

    /// Returns a parameter by index: the measure's own parameters come first, the shared ones
    /// follow.
    pub(super) fn param_at(&self, at: usize) -> &'static Param {
        match at.checked_sub(self.params.len()) {
            None => &self.params[at],
            Some(0) => &JUDGES,
            Some(_) => &NOTHING,
        }
    }

    /// The parameters that measures share, each at a fixed index. `JUDGES` belongs to every measure
    /// that takes a grade for each document. `NOTHING` belongs to a measure of this kind whose
    /// value is 0 where nothing is relevant. A parameter that the measure lacks is `None`.
    fn shared(&'static self) -> impl Iterator<Item = Option<&'static Param>> {
        let grades = self.traits.input == JudgmentInput::Grades;
        [(&JUDGES, grades), (&NOTHING, grades && self.is_nothing_worth_a_choice())]
            .into_iter()
            .map(|(param, has)| has.then_some(param))
    }

    /// Whether the user may choose the value of queries without relevant documents. A measure
    /// offers the choice if it averages values, and this value is 0 by default.
    pub fn is_nothing_worth_a_choice(&'static self) -> bool {
        let plain = Measure::new(self, [], None);
        self.average == Average::Mean && (self.traits.nothing_relevant)(&plain) == Some(0.0)
    }

    /// The index of a parameter that the measure has.
    pub(super) fn param(&'static self, name: &str) -> usize {
        self.place(name)
            .unwrap_or_else(|| unreachable!("`{}` has no parameter `{name}`", self.name))
    }

    /// Returns the error of a parameter that is given without the parameter it needs, if any.
    pub(super) fn unmet(&self, values: &[(usize, Value)]) -> Option<String> {
        let given = |text: &str| {
            values.iter().any(|(at, value)| format!("{}={value}", self.param_at(*at).name) == text)
        };
        let mut params = values.iter().map(|&(at, _)| self.param_at(at));
        let unmet = params.find(|param| !param.needs.is_empty() && !given(param.needs))?;
        Some(format!("`{}` works only together with `{}`", unmet.name, unmet.needs))
    }

    /// Returns the error of a value that excludes a cutoff, or of a value that lacks a cutoff, if
    /// any.
    pub(super) fn uncuttable(&self, values: &[(usize, Value)], is_cut: bool) -> Option<String> {
        let together = values.iter().find(|(_, value)| matches!(value, Value::Word(TOGETHER)));
        match together.filter(|_| is_cut) {
            Some((at, _)) => Some(format!(
                "{}({}={TOGETHER}) takes no cutoff",
                self.name,
                self.param_at(*at).name
            )),
            None => self.uncut(values).filter(|_| !is_cut),
        }
    }

    /// Returns the error of a parameter with the value `k`, for a measure without a cutoff.
    fn uncut(&self, values: &[(usize, Value)]) -> Option<String> {
        let (at, _) = values.iter().find(|(_, value)| matches!(value, Value::Word("k")))?;
        let (measure, param) = (self.name, self.param_at(*at).name);
        Some(format!("{param}=k needs a cutoff, as in {measure}({param}=k)@10"))
    }

    /// Returns the message about a missing cutoff, if the measure requires a cutoff.
    pub(super) fn missing(&self) -> Option<String> {
        match self.cutoff {
            CutoffRule::Required => {
                Some(format!("`{0}` needs a cutoff, such as {0}@10", self.name))
            }
            CutoffRule::Recall => {
                Some(format!("`{0}` needs a level of recall, such as {0}@0.1", self.name))
            }
            CutoffRule::None | CutoffRule::Optional => None,
        }
    }
}

/// The best order of documents with equal scores; its reverse is the worst order.
#[derive(Debug, Clone, Copy)]
pub enum BestOrder {
    /// By descending grade, if a better swap never makes the value worse; otherwise the best order
    /// is not known.
    Swaps,
    /// By descending worth of the codes, from this function.
    Worth(fn(&Measure, &Codebook) -> Result<CodeTable, String>),
    /// An order that depends on the ranking: `ties` searches for the best order.
    Searched,
    /// The best order is not known.
    None,
}

/// Properties of a measure's values, declared by its row in the table.
#[derive(Debug, Clone, Copy)]
pub struct Traits {
    /// The users of the measure.
    pub status: Status,
    /// The judgments that it needs.
    pub input: JudgmentInput,
    /// The range of the value of a query.
    pub range: fn(&Measure) -> Range,
    /// The value of an empty ranking; `None` if it follows from the judgments.
    pub empty: Option<f64>,
    /// The value where nothing is relevant: no judged document has the measure's level, or a gain
    /// above 0. `None` if it follows from the ranking.
    pub nothing_relevant: fn(&Measure) -> Option<f64>,
    /// Whether the value of a query depends on the highest grade of all judgments.
    pub highest_grade: fn(&Measure) -> bool,
    /// The lowest counted grade, for measures that derive the grade from the highest grade of all
    /// judgments.
    pub level: fn(&Measure, f64) -> Option<f64>,
    /// Whether a better swap never makes the value worse. A better swap moves a document above a
    /// neighbour of a lower grade; a document without a grade counts as the lowest.
    pub better_swaps: fn(&Measure) -> bool,
    /// How its expected value over the orders of equal scores is computed.
    pub expected: fn(&Measure) -> Expected,
    /// The best order of equal scores. The argument tells whether a cut may split a group of ties.
    pub best_order: fn(&Measure, bool) -> BestOrder,
}

impl Traits {
    /// The traits of most measures: a share, 0 where nothing is relevant, that a better swap never
    /// makes worse.
    pub const SHARE: Traits = Traits {
        status: Status::Everyday,
        input: JudgmentInput::Grades,
        range: |_| Range::SHARE,
        empty: Some(0.0),
        nothing_relevant: |_| Some(0.0),
        highest_grade: |m| m.word("gmax") == "auto" && m.word("gain") != "binary",
        level: |_, _| None,
        better_swaps: |_| true,
        expected: |_| Expected::Linear,
        best_order: |_, _| BestOrder::Swaps,
    };
}

/// The kind of aggregate over queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Average {
    /// The arithmetic mean.
    Mean,
    /// The sum, for counts.
    Sum,
    /// The geometric mean.
    Geometric,
}

/// The direction in which the averages of a measure are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Higher is better.
    Higher,
    /// Lower is better.
    Lower,
    /// Neither is better: the measure does not rate the run.
    Neither,
}

/// A measure: a row of the table, parameters, and a cutoff.
///
/// ```
/// use laneval::Measure;
/// let measure: Measure = "nDCG@10(gain=exp2)".parse()?;
/// assert_eq!(measure.to_string(), "nDCG(gain=exp2)@10");
/// assert_eq!(measure, "nDCG(gain=exp2, ideal=judged)@10".parse()?);
/// # Ok::<(), laneval::Error>(())
/// ```
#[derive(Clone)]
pub struct Measure {
    definition: &'static Definition,
    /// The parameters that differ from their defaults, by index, ascending.
    values: Vec<(usize, Value)>,
    cutoff: Option<Cutoff>,
}

/// Returns the default of a parameter. The floor of grades, `rel`, is 0, but with binary gains
/// `rel` is the level of relevance, 1.
fn default_of(param: &Param, is_binary: bool) -> &'static str {
    if is_binary && param.name == "rel" { "1" } else { param.default }
}

impl Measure {
    /// Makes a measure of its parts. Parameters equal to their defaults are dropped, so equal
    /// measures are equal values.
    pub(super) fn new(
        definition: &'static Definition,
        values: impl IntoIterator<Item = (usize, Value)>,
        cutoff: Option<Cutoff>,
    ) -> Self {
        let mut values: Vec<_> = values.into_iter().collect();
        let is_binary = values.iter().any(|(at, value)| {
            definition.param_at(*at).kind == Kind::Gain && matches!(value, Value::Word("binary"))
        });
        values.retain(|(at, value)| {
            value.to_string() != default_of(definition.param_at(*at), is_binary)
        });
        sort::by(&mut values, |one, other| one.0.cmp(&other.0));
        Measure { definition, values, cutoff }
    }

    /// Returns the measure with another value of a parameter.
    ///
    /// # Errors
    /// An unknown parameter; a value outside the kind of the parameter; a parameter without the
    /// parameter it needs, or together with a parameter it excludes; a value in conflict with the
    /// cutoff.
    pub fn with(&self, param: &str, value: Value) -> Result<Self> {
        let at = self.definition.place(param);
        let kind = at.map(|at| self.definition.param_at(at).kind);
        let text = self.to_string();
        let wrong = |message| MeasureError::new(&text, 0..text.len(), message).into();
        let Some(at) = at.filter(|_| kind.is_some_and(|kind| kind.takes(&value))) else {
            let expected = kind.map_or("a parameter of it".to_owned(), |kind| kind.to_string());
            return Err(wrong(format!("`{param}={value}` is not {expected}")));
        };
        let others = self.values.iter().filter(|&&(of, _)| of != at).cloned();
        let excluded = self.definition.param_at(at).excludes;
        let mut names = others.clone().map(|(of, _)| self.definition.param_at(of).name);
        if names.any(|name| name == excluded)
            && value.to_string() != self.definition.param_at(at).default
        {
            return Err(wrong(format!("`{param}` cannot be given together with `{excluded}`")));
        }
        let values: Vec<_> = others.chain([(at, value)]).collect();
        let uncuttable = self.definition.uncuttable(&values, self.cutoff.is_some());
        match self.definition.unmet(&values).or(uncuttable) {
            Some(message) => Err(wrong(message)),
            None => Ok(Measure::new(self.definition, values, self.cutoff)),
        }
    }

    /// The row of the table.
    pub fn definition(&self) -> &'static Definition {
        self.definition
    }

    /// The cutoff rank; `None` for a measure without a cutoff rank.
    pub fn rank(&self) -> Option<u32> {
        match self.cutoff {
            Some(Cutoff::Rank(k)) => Some(k),
            _ => None,
        }
    }

    /// The level of recall, for the measures that are read at a level; 0 for others.
    pub fn recall(&self) -> f64 {
        match self.cutoff {
            Some(Cutoff::Recall(x)) => x,
            _ => 0.0,
        }
    }

    /// Whether two measures are equal but for the cutoff.
    pub(crate) fn is_like(&self, other: &Measure) -> bool {
        let without = |of: &Measure| Measure { cutoff: None, ..of.clone() };
        without(self) == without(other)
    }

    /// The cutoff as a number: a rank, or a level of recall.
    pub(crate) fn cutoff(&self) -> Option<f64> {
        match self.definition.cutoff {
            CutoffRule::Recall => Some(self.recall()),
            _ => self.rank().map(f64::from),
        }
    }

    /// The value of a parameter, if it differs from its default.
    pub fn value(&self, name: &str) -> Option<&Value> {
        let at = self.definition.place(name)?;
        self.values.iter().find(|&&(of, _)| of == at).map(|(_, value)| value)
    }

    /// A parameter as text: its value, or its default; `""` if the measure has no such parameter.
    pub fn word(&self, name: &str) -> &'static str {
        match self.value(name) {
            Some(Value::Word(word)) => word,
            Some(_) => "",
            None => self.default(name),
        }
    }

    /// The value of a numeric parameter; `None` if it is not given and has no numeric default.
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.value(name) {
            Some(Value::Number(number)) => Some(*number),
            Some(_) => None,
            None => self.default(name).parse().ok(),
        }
    }

    /// Whether the values depend on which documents have equal scores, and not only on their order:
    /// then rankings must know their ties ([`Join::keep_ties`](crate::Join)).
    pub fn needs_ties(&self) -> bool {
        self.word("tied") == TOGETHER
    }

    /// The highest grade of a codebook, if the values depend on it.
    pub(crate) fn highest_grade(&self, book: &Codebook) -> Option<f64> {
        (self.definition.traits.highest_grade)(self).then(|| book.max_grade().unwrap_or(0.0))
    }

    /// The range of the value of a query.
    pub fn range(&self) -> Range {
        (self.definition.traits.range)(self)
    }

    /// The required judgments of the measure.
    pub fn input(&self) -> JudgmentInput {
        match self.judges() {
            None => self.definition.traits.input,
            Some(_) => JudgmentInput::Groups(JudgedBy::Judge),
        }
    }

    /// Whether the measure depends only on the number of results, not on judgments.
    pub(crate) fn counts_results(&self) -> bool {
        let counts = |read: &Read| matches!(read, Read::Fold(Fold::Count(Above::RETRIEVED), _));
        let recipe = self.recipe(&Codebook::default());
        recipe.is_ok_and(|recipe| !recipe.reads().is_empty() && recipe.reads().iter().all(counts))
    }

    /// The aggregate over judges; `None` if a document has one grade.
    pub fn judges(&self) -> Option<Judges> {
        match self.value(JUDGES.name)? {
            Value::Word("mean") => Some(Judges::Mean),
            Value::Word("min") => Some(Judges::Min),
            Value::Word("max") => Some(Judges::Max),
            _ => None,
        }
    }

    /// The measure for a single judge.
    pub(crate) fn of_one_judge(&self) -> Measure {
        let values =
            self.values.iter().filter(|(at, _)| *at < self.definition.params.len()).cloned();
        Measure { values: values.collect(), ..self.clone() }
    }

    /// The relevance level; 1 if not given.
    pub fn rel(&self) -> f64 {
        self.number("rel").unwrap_or(1.0)
    }

    /// The grades at which the measure tells documents apart: its levels of relevance, given or by
    /// default; without any, the least grade above 0, and the level that follows from the highest
    /// grade of a codebook.
    pub(crate) fn levels(&self, book: &Codebook) -> Vec<f64> {
        let levels = self.definition.params.iter().filter(|param| param.kind == Kind::Level);
        let levels = levels.filter_map(|param| self.number(param.name)).chain(self.binary_level());
        let levels: Vec<f64> = levels.collect();
        if !levels.is_empty() {
            return levels;
        }
        let level = (self.definition.traits.level)(self, book.max_grade().unwrap_or(0.0));
        std::iter::once(0f64.next_up()).chain(level).collect()
    }

    /// The least grade that is worth 1, where grades are worth 1 or nothing (`gain=binary` of
    /// measures of gains).
    pub(crate) fn binary_level(&self) -> Option<f64> {
        self.has_binary_gain().then(|| self.rel())
    }

    fn default(&self, name: &str) -> &'static str {
        let param = self.definition.params.iter().find(|param| param.name == name);
        param.map_or("", |param| default_of(param, name == "rel" && self.has_binary_gain()))
    }

    /// Whether grades are worth 1 or nothing (`gain=binary` of measures of gains).
    fn has_binary_gain(&self) -> bool {
        let is_binary = |(at, value): &(usize, Value)| {
            self.definition.param_at(*at).kind == Kind::Gain
                && matches!(value, Value::Word("binary"))
        };
        self.values.iter().any(is_binary)
    }

    /// Makes the recipe of the measure under a codebook.
    ///
    /// # Errors
    /// A parameter in conflict with the grades, such as too small an ERR scale.
    #[doc(hidden)]
    pub fn recipe(&self, book: &Codebook) -> Result<Recipe> {
        if book.is_exact() {
            self.recipe_of(book)
        } else {
            self.recipe_of(&book.at_levels(self.levels(book))?)
        }
    }

    /// The error of a measure that does not fit the grades.
    pub(crate) fn wrong(&self, message: String) -> MeasureError {
        let text = self.to_string();
        MeasureError::new(&text, 0..text.len(), message)
    }

    /// Makes the recipe of the measure under a codebook whose codes tell its levels apart.
    pub(crate) fn recipe_of(&self, book: &Codebook) -> Result<Recipe> {
        let recipe = (self.definition.recipe)(self, book).map_err(|message| self.wrong(message))?;
        // Make the recipe for measures over judges too: a parameter in conflict with the grades is
        // in conflict with the grades of a judge.
        Ok(self.judges().map_or(recipe, |judges| Recipe::Groups(FacetValue::Judges(judges))))
    }
}

/// Returns the facets needed to read judgments for `measures`; `None` if every measure takes a
/// grade for each document.
///
/// ```
/// use laneval::JudgedBy;
/// use laneval::measure::{Defaults, facets_needed, parse_list};
/// let measures = parse_list("alpha_nDCG@10", Defaults::default())?;
/// assert_eq!(facets_needed(&measures)?, Some(JudgedBy::Subtopic));
/// # Ok::<(), laneval::Error>(())
/// ```
///
/// # Errors
/// Measures with judgments by different facets.
pub fn facets_needed(measures: &[Measure]) -> Result<Option<JudgedBy>> {
    let mut needed: Option<(JudgedBy, &Measure)> = None;
    for measure in measures {
        let JudgmentInput::Groups(by) = measure.input() else { continue };
        match needed {
            Some((other, first)) if other != by => {
                return Err(Error::Unanswerable(format!(
                    "{first} needs {}, and {measure} {}: evaluate them one after the other",
                    first.input(),
                    measure.input()
                )));
            }
            _ => needed = Some((by, measure)),
        }
    }
    Ok(needed.map(|(by, _)| by))
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.definition.name)?;
        for (number, (at, value)) in self.values.iter().enumerate() {
            let open = if number == 0 { '(' } else { ',' };
            let param = self.definition.param_at(*at);
            match value {
                Value::Number(level) if param.kind == Kind::Level => {
                    write!(f, "{open}{}={}", param.name, Level(*level))?;
                }
                _ => write!(f, "{open}{}={value}", param.name)?,
            }
        }
        if !self.values.is_empty() {
            f.write_str(")")?;
        }
        match self.cutoff {
            None => Ok(()),
            Some(Cutoff::Rank(k)) => write!(f, "@{k}"),
            Some(Cutoff::Recall(x)) => write!(f, "@{x}"),
        }
    }
}

impl fmt::Debug for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Measure({self})")
    }
}

impl fmt::Debug for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Definition").field("name", &self.name).finish_non_exhaustive()
    }
}

impl PartialEq for Measure {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for Measure {}

impl Hash for Measure {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.to_string().hash(state);
    }
}

impl RecallRule {
    /// The rule of the parameter `cut`.
    pub fn of(measure: &Measure) -> Self {
        match measure.word("cut") {
            "exact" => RecallRule::Exact,
            "v10" => RecallRule::V10,
            _ => RecallRule::V9,
        }
    }
}
