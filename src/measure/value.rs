//! A measure as a value, and the definition of a row in the table of measures. Both types share a
//! file: a measure points to its row, and a row declares functions of the measure.

use std::fmt;
use std::hash::{Hash, Hasher};

use super::params::{Cutoff, CutoffRule, JUDGES, NO_RELEVANT, Param, ParamKind, ParamValue};
use super::recall::RecallRule;
use super::recipe::{Recipe, RecipeInput};
use super::traits::{ExpectationRule, JudgmentNeeds, Range, Status};
use crate::error::{MeasureError, Result, unanswerable};
use crate::facets::{FacetValue, Judges};
use crate::fold::{CodeTable, Fold};
use crate::judged_by::FacetKind;
use crate::matrix::{Codebook, CodesAbove};
use crate::numbers::Level;
use crate::sort;

/// The word of a parameter for documents of equal scores that stand all at the last rank of their
/// group.
const TOGETHER: &str = "together";

/// A row of the table of measures: a measure's name, parameters, properties, texts and recipe.
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
    pub better: Direction,
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
    /// Returns the index of a parameter of the measure by its name, if the measure has it.
    pub(super) fn place(&'static self, param: &str) -> Option<usize> {
        self.params
            .iter()
            .position(|own| own.name == param)
            // Shared parameters have fixed places behind the own ones, as `param_at` counts them.
            .or_else(|| {
                let shared =
                    self.shared().position(|slot| slot.is_some_and(|own| own.name == param));
                Some(self.params.len() + shared?)
            })
    }

    /// Returns a parameter of the measure by index: its own parameters first, the shared ones
    /// behind.
    pub(super) fn param_at(&self, at: usize) -> &'static Param {
        match at.checked_sub(self.params.len()) {
            None => &self.params[at],
            Some(0) => &JUDGES,
            Some(_) => &NO_RELEVANT,
        }
    }

    /// Returns the parameters shared by many measures, each at a fixed index; `None` where the
    /// measure lacks it. `JUDGES` belongs to every measure that takes a grade for each document.
    /// `NO_RELEVANT` belongs to a measure of this kind whose value is 0 where nothing is relevant.
    fn shared(&'static self) -> impl Iterator<Item = Option<&'static Param>> {
        let grades = self.traits.input == JudgmentNeeds::Grades;
        [(&JUDGES, grades), (&NO_RELEVANT, grades && self.has_no_relevant_param())]
            .into_iter()
            .map(|(param, has)| has.then_some(param))
    }

    /// Returns whether the measure has the parameter `no_relevant`, the value of queries without
    /// relevant documents. A measure offers the choice if it averages values, and this value is 0
    /// by default.
    pub fn has_no_relevant_param(&'static self) -> bool {
        let plain = Measure::new(self, [], None);
        self.average == Average::Mean && (self.traits.nothing_relevant)(&plain) == Some(0.0)
    }

    /// Returns the index of a parameter that the measure is known to have; panics on another name.
    pub(super) fn param(&'static self, name: &str) -> usize {
        self.place(name)
            .unwrap_or_else(|| unreachable!("`{}` has no parameter `{name}`", self.name))
    }

    /// Returns the error of a parameter of a measure that is given without another that it needs,
    /// if any.
    pub(super) fn unmet_requirement(&self, values: &[(usize, ParamValue)]) -> Option<String> {
        let mut params = values.iter().map(|&(at, _)| self.param_at(at));
        let unmet = params.find(|param| {
            !param.needs.is_empty()
                && values.iter().all(|(at, value)| {
                    format!("{}={value}", self.param_at(*at).name) != param.needs
                })
        })?;
        Some(format!("`{}` works only together with `{}`", unmet.name, unmet.needs))
    }

    /// Returns whether these parameter values make every grade worth 1 or nothing (`gain=binary`).
    pub(super) fn has_binary_gain(&self, values: &[(usize, ParamValue)]) -> bool {
        // Other parameters have a word `binary` too, so the kind of the parameter must be asked.
        values.iter().any(|(at, value)| {
            self.param_at(*at).kind == ParamKind::Gain
                && matches!(value, ParamValue::Choice("binary"))
        })
    }

    /// Returns the error of a parameter value that forbids a cutoff, or that needs one, if any.
    pub(super) fn cutoff_conflict(
        &self,
        values: &[(usize, ParamValue)],
        is_cut: bool,
    ) -> Option<String> {
        let word = if is_cut { TOGETHER } else { "k" };
        let (at, _) = values
            .iter()
            .find(|(_, value)| matches!(value, ParamValue::Choice(choice) if *choice == word))?;
        let (measure, param) = (self.name, self.param_at(*at).name);
        Some(if is_cut {
            format!("{measure}({param}={TOGETHER}) takes no cutoff")
        } else {
            format!("{param}=k needs a cutoff, as in {measure}({param}=k)@10")
        })
    }

    /// Returns the message that the measure needs a cutoff, such as `P@10`, or `None` if it needs
    /// none.
    pub(super) fn missing_cutoff(&self) -> Option<String> {
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

/// The best order of documents with equal scores for a measure; its reverse is the worst order.
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

/// The properties of a measure's values, such as their range, declared by its row in the table of
/// measures.
#[derive(Debug, Clone, Copy)]
pub struct Traits {
    /// The users of the measure.
    pub status: Status,
    /// The judgments that it needs.
    pub input: JudgmentNeeds,
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
    pub expected: fn(&Measure) -> ExpectationRule,
    /// The best order of equal scores. The argument tells whether a cut may split a group of ties.
    pub best_order: fn(&Measure, bool) -> BestOrder,
}

impl Traits {
    /// The traits of most measures: a share, 0 where nothing is relevant, that a better swap never
    /// makes worse.
    pub const SHARE: Self = Self {
        status: Status::Everyday,
        input: JudgmentNeeds::Grades,
        range: |_| Range::SHARE,
        empty: Some(0.0),
        nothing_relevant: |_| Some(0.0),
        highest_grade: |m| m.choice("gmax") == "auto" && m.choice("gain") != "binary",
        level: |_, _| None,
        better_swaps: |_| true,
        expected: |_| ExpectationRule::Linear,
        best_order: |_, _| BestOrder::Swaps,
    };
}

/// The aggregate of a measure over queries: arithmetic mean, sum or geometric mean.
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
pub enum Direction {
    /// Higher is better.
    Higher,
    /// Lower is better.
    Lower,
    /// Neither is better: the measure does not rate the run.
    Neither,
}

/// A measure, such as `nDCG(gain=exp2)@10`: a row of the table of measures, parameters, and a
/// cutoff.
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
    values: Vec<(usize, ParamValue)>,
    cutoff: Option<Cutoff>,
}

/// Returns the default of a measure's parameter as text. The floor of grades, `rel`, is 0, but with
/// binary gains `rel` is the level of relevance, 1.
fn default_of(param: &Param, is_binary: bool) -> &'static str {
    if is_binary && param.name == "rel" { "1" } else { param.default }
}

impl Measure {
    /// Makes a measure of its row in the table, parameter values and cutoff. Parameters equal to
    /// their defaults are dropped, so equal measures are equal values.
    pub(super) fn new(
        definition: &'static Definition,
        values: impl IntoIterator<Item = (usize, ParamValue)>,
        cutoff: Option<Cutoff>,
    ) -> Self {
        let mut values: Vec<_> = values.into_iter().collect();
        let is_binary = definition.has_binary_gain(&values);
        values.retain(|(at, value)| {
            value.to_string() != default_of(definition.param_at(*at), is_binary)
        });
        sort::by(&mut values, |one, other| one.0.cmp(&other.0));
        Self { definition, values, cutoff }
    }

    /// Returns a copy of the measure with another value of one parameter.
    ///
    /// # Errors
    /// An unknown parameter; a value outside the kind of the parameter; a parameter without the
    /// parameter it needs, or together with a parameter it excludes; a value in conflict with the
    /// cutoff.
    pub fn with_param(&self, param: &str, value: ParamValue) -> Result<Self> {
        let at = self.definition.place(param);
        let kind = at.map(|at| self.definition.param_at(at).kind);
        let text = self.to_string();
        let wrong = |message| MeasureError::new(&text, 0..text.len(), message).into();
        let Some(at) = at.filter(|_| kind.is_some_and(|kind| kind.accepts(&value))) else {
            let expected = kind.map_or("a parameter of it".to_owned(), |kind| kind.to_string());
            return Err(wrong(format!("`{param}={value}` is not {expected}")));
        };
        let others = self.values.iter().filter(|&&(index, _)| index != at).cloned();
        let excluded = self.definition.param_at(at).excludes;
        let mut names = others.clone().map(|(index, _)| self.definition.param_at(index).name);
        if names.any(|name| name == excluded)
            && value.to_string() != self.definition.param_at(at).default
        {
            return Err(wrong(format!("`{param}` cannot be given together with `{excluded}`")));
        }
        let values: Vec<_> = others.chain([(at, value)]).collect();
        let uncuttable = self.definition.cutoff_conflict(&values, self.cutoff.is_some());
        match self.definition.unmet_requirement(&values).or(uncuttable) {
            Some(message) => Err(wrong(message)),
            None => Ok(Self::new(self.definition, values, self.cutoff)),
        }
    }

    /// Returns the row of the measure in the table of measures.
    pub fn definition(&self) -> &'static Definition {
        self.definition
    }

    /// Returns the cutoff of the measure if it is a rank, such as 10 of `nDCG@10`.
    pub fn rank(&self) -> Option<u32> {
        match self.cutoff {
            Some(Cutoff::Rank(k)) => Some(k),
            _ => None,
        }
    }

    /// Returns the level of recall at which the measure is read; 0 for measures without one.
    pub fn recall(&self) -> f64 {
        match self.cutoff {
            Some(Cutoff::Recall(x)) => x,
            _ => 0.0,
        }
    }

    /// Returns whether two measures are equal but for the cutoff.
    pub(crate) fn is_like(&self, other: &Measure) -> bool {
        // The cutoff of the other, because two measures are compared by their names.
        Self { cutoff: other.cutoff, ..self.clone() } == *other
    }

    /// Returns the cutoff of the measure as a number: a rank, or a level of recall.
    pub(crate) fn cutoff(&self) -> Option<f64> {
        match self.definition.cutoff {
            CutoffRule::Recall => Some(self.recall()),
            _ => self.rank().map(f64::from),
        }
    }

    /// Returns the value of a parameter of the measure, if it differs from its default.
    pub fn value(&self, name: &str) -> Option<&ParamValue> {
        let at = self.definition.place(name)?;
        self.values.iter().find(|&&(index, _)| index == at).map(|(_, value)| value)
    }

    /// Returns a parameter of the measure as a word: its value or default; `""` for a number or no
    /// such parameter.
    pub fn choice(&self, name: &str) -> &'static str {
        match self.value(name) {
            Some(ParamValue::Choice(word)) => word,
            Some(_) => "",
            None => self.default(name),
        }
    }

    /// Returns a numeric parameter of the measure: its value or default; `None` if it has no
    /// number.
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.value(name) {
            Some(ParamValue::Number(number)) => Some(*number),
            Some(_) => None,
            None => self.default(name).parse().ok(),
        }
    }

    /// Returns whether the measure needs to know which documents have equal scores, beside their
    /// order. Then rankings must know their ties ([`Join::keep_ties`](crate::Join)).
    pub fn needs_ties(&self) -> bool {
        self.choice("ties") == TOGETHER
    }

    /// Returns the highest grade of the qrels' codebook, if the measure's values depend on it.
    pub(crate) fn highest_grade(&self, book: &Codebook) -> Option<f64> {
        (self.definition.traits.highest_grade)(self).then(|| book.max_grade().unwrap_or(0.0))
    }

    /// Returns the range of the measure's value for one query.
    pub fn range(&self) -> Range {
        (self.definition.traits.range)(self)
    }

    /// Returns the judgments that the measure requires, such as grades or a facet.
    pub fn input(&self) -> JudgmentNeeds {
        match self.judges() {
            None => self.definition.traits.input,
            Some(_) => JudgmentNeeds::Facets(FacetKind::Judge),
        }
    }

    /// Returns whether the measure depends only on the number of retrieved documents, not on
    /// judgments.
    pub(crate) fn counts_results(&self) -> bool {
        self.recipe(&Codebook::default()).is_ok_and(|recipe| {
            let mut reads = recipe.reads().iter();
            // A walk and a value of facets have no reads either, and both depend on judgments.
            !recipe.reads().is_empty()
                && reads.all(|read| {
                    matches!(read, RecipeInput::Fold(Fold::Count(CodesAbove::RETRIEVED), _))
                })
        })
    }

    /// Returns the aggregate of the measure over several judges (mean, minimum, maximum), if
    /// `judges` asks for one.
    pub fn judges(&self) -> Option<Judges> {
        match self.value(JUDGES.name)? {
            ParamValue::Choice("mean") => Some(Judges::Mean),
            ParamValue::Choice("min") => Some(Judges::Min),
            ParamValue::Choice("max") => Some(Judges::Max),
            _ => None,
        }
    }

    /// Returns the measure for the grades of a single judge, without shared parameters.
    pub(crate) fn for_one_judge(&self) -> Measure {
        let values =
            self.values.iter().filter(|(at, _)| *at < self.definition.params.len()).cloned();
        Self { values: values.collect(), ..self.clone() }
    }

    /// Returns the measure's relevance level, the lowest relevant grade; 1 if not given.
    pub fn rel(&self) -> f64 {
        self.number("rel").unwrap_or(1.0)
    }

    /// Returns the grades at which the measure tells documents apart, such as its relevance levels.
    /// Without levels, given or by default, these are the least grade above 0, and the level that
    /// follows from the highest grade of a codebook.
    pub(crate) fn levels(&self, book: &Codebook) -> Vec<f64> {
        let levels = self.definition.params.iter().filter(|param| param.kind == ParamKind::Level);
        let levels = levels.filter_map(|param| self.number(param.name)).chain(self.binary_level());
        let levels: Vec<f64> = levels.collect();
        if !levels.is_empty() {
            return levels;
        }
        let level = (self.definition.traits.level)(self, book.max_grade().unwrap_or(0.0));
        std::iter::once(0f64.next_up()).chain(level).collect()
    }

    /// Returns the least grade that is worth 1, if the measure makes grades worth 1 or nothing
    /// (`gain=binary`).
    pub(crate) fn binary_level(&self) -> Option<f64> {
        self.has_binary_gain().then(|| self.rel())
    }

    fn default(&self, name: &str) -> &'static str {
        let param = self.definition.params.iter().find(|param| param.name == name);
        param.map_or("", |param| default_of(param, name == "rel" && self.has_binary_gain()))
    }

    /// Returns whether the measure makes every grade worth 1 or nothing (`gain=binary`).
    fn has_binary_gain(&self) -> bool {
        self.definition.has_binary_gain(&self.values)
    }

    /// Makes the recipe of the measure for the grades of a codebook: the numbers to read, and the
    /// last step.
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

    /// Returns the error of a measure that does not fit the grades of the qrels.
    pub(crate) fn wrong(&self, message: String) -> MeasureError {
        let text = self.to_string();
        MeasureError::new(&text, 0..text.len(), message)
    }

    /// Makes the recipe of the measure for a codebook whose codes tell the measure's levels apart.
    pub(crate) fn recipe_of(&self, book: &Codebook) -> Result<Recipe> {
        let recipe = (self.definition.recipe)(self, book).map_err(|message| self.wrong(message))?;
        // Make the recipe for measures over judges too: a parameter in conflict with the grades is
        // in conflict with the grades of a judge.
        Ok(self.judges().map_or(recipe, |judges| Recipe::Facets(FacetValue::Judges(judges))))
    }
}

/// Returns the facet (judge, subtopic, preference or span) that qrels must be read by for
/// `measures`. `None` if every measure takes a grade for each document.
///
/// ```
/// use laneval::FacetKind;
/// use laneval::measure::{Defaults, facets_needed, parse_list};
/// let measures = parse_list("alpha_nDCG@10", Defaults::default())?;
/// assert_eq!(facets_needed(&measures)?, Some(FacetKind::Subtopic));
/// # Ok::<(), laneval::Error>(())
/// ```
///
/// # Errors
/// Measures with judgments by different facets.
pub fn facets_needed(measures: &[Measure]) -> Result<Option<FacetKind>> {
    let mut needed: Option<(FacetKind, &Measure)> = None;
    for measure in measures {
        let JudgmentNeeds::Facets(by) = measure.input() else { continue };
        match needed {
            Some((other, first)) if other != by => {
                return unanswerable(format!(
                    "{first} needs {}, and {measure} {}: evaluate them one after the other",
                    first.input(),
                    measure.input()
                ));
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
                ParamValue::Number(level) if param.kind == ParamKind::Level => {
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
    /// Returns the measure's rule from a level of recall to a number of hits, its parameter `cut`.
    pub fn from_measure(measure: &Measure) -> Self {
        match measure.choice("cut") {
            "exact" => Self::Exact,
            "v10" => Self::V10,
            _ => Self::V9,
        }
    }
}
