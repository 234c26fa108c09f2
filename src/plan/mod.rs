//! The planner from measures to a program: folds over the ranks, the cutoffs to read them at, and
//! last steps.
//!
//! A fold shared by several measures runs once, with all their cutoffs. The plan is plain data,
//! made of measures and a codebook alone; [`Plan`] prints itself. [`Prepared`] adds the facts of
//! the queries of a batch.
//!
//! ```text
//! measures       P@5  P@10  AP  nDCG@10  RR    each asks in order: reads of folds at places, facts
//!                 │    │     │     │     │
//! draft          Count: 5, 10  PrecisionSum: end  WeightedSum: 10  FirstRank: end     facts: R,
//!                 │                                                                   ideal at 10
//!                 │  sorted and made distinct; only now is it known how many columns each fold has
//! program        c0 c1         c2                 c3               c4                 f0, f1
//!                 │
//! sources        P@5 ← c0   P@10 ← c1   AP ← c2, f0   nDCG@10 ← c3, f1   RR ← c4
//! ```
//!
//! Hence two passes: the first pass remembers requests by fold and cut, and the second turns
//! requests into numbers of columns. Folds keep the order of first request, so `--explain` reads
//! like the list of measures, and a list gives an identical program everywhere.
//!
//! Two kinds of reading are merged further. First hits: one column, down to the deepest requested
//! rank, because a reader compares with its own cutoff. Peaks: one fold for each set of hits and
//! rule of recall, with all levels of recall as caps, because the fold finds all peaks in one pass.

mod distinct;

use std::borrow::Cow;
use std::fmt;
use std::iter::zip;

use crate::error::{Result, unanswerable};
use crate::facets::FacetValue;
use crate::fold::{Columns, Cut, Factor, Fold, Product, Program, QueryInputs, Task, Walk, Weights};
use crate::matrix::{Batch, Codebook, CodesAbove, GradeHistogram, GradeHistograms};
use crate::measure::{
    Average, IdealRanking, LastStep, Measure, NoRelevant, QueryConstant, ReadCutoff, RecallRule,
    Recipe, RecipeInput,
};
use distinct::DistinctList;

/// The most measures of a plan: a thread that finishes a tile keeps a number for each measure and
/// row of it.
const MOST: usize = 100_000;

/// The program that evaluates some measures, and the last steps from its columns to each measure.
///
/// ```
/// use laneval::labels::Codebook;
/// use laneval::{Evaluator, Plan};
/// let evaluator = Evaluator::new(["AP", "P@[5,10]"])?;
/// let plan = Plan::new(evaluator.measures(), &Codebook::new([0.0, 1.0])?)?;
/// assert!(plan.to_string().contains("Count(code > 3) at [5, 10]"));
/// # Ok::<(), laneval::Error>(())
/// ```
pub struct Plan {
    measures: Vec<Measure>,
    program: Program,
    facts: Vec<QueryConstant>,
    /// The facts that are inputs of the program.
    inputs: Vec<usize>,
    ideals: Vec<IdealRanking>,
    returned: Vec<TruncatedIdeal>,
    recipes: Vec<(Recipe, Vec<NumberSource>)>,
    /// The measures that are not 0 where nothing is relevant.
    of_nothing: Vec<NoRelevantValue>,
}

/// A measure whose value is not 0 for a query without relevant documents, with that value.
#[derive(Debug, Clone, Copy)]
struct NoRelevantValue {
    /// The index of the measure.
    measure: usize,
    /// The index of the fact that is 0 for a query without relevant documents.
    relevance: usize,
    value: NoRelevant,
}

/// A plan of measures with the numbers of a batch's queries that it needs, such as ideal gains.
pub struct Prepared<'a> {
    plan: &'a Plan,
    /// The facts, `[fact][query]`.
    facts: Vec<Vec<f64>>,
    /// The judgments of each query as counts by the codes that the folds see.
    judged: Cow<'a, GradeHistograms>,
    /// The numbers of the queries that the program refers to.
    inputs: QueryInputs,
    /// The weights of the ranks of each ideal.
    weights: Vec<Weights>,
    /// The weights of the ranks of each ideal in `Plan::returned`.
    returned: Vec<Weights>,
}

/// An ideal ranking of the judged documents, cut to the length of the ranking. A ranking that
/// reaches the cutoff has the ideal of its query. For a shorter ranking, the ideal is walked down
/// to the last rank of the ranking.
struct TruncatedIdeal {
    ideal: IdealRanking,
    /// The fact of the query, for rankings that are as deep.
    fact: usize,
    /// The column with the number of documents retrieved.
    retrieved: usize,
}

/// The source of a number in a measure's last step: a column of the engine, a query's fact, or an
/// ideal gain.
#[derive(Debug, Clone, Copy, PartialEq)]
enum NumberSource {
    /// A column of the engine.
    Column(usize),
    /// A fact of the query.
    Fact(usize),
    /// An ideal order of the retrieved documents, from the histogram.
    Ideal(usize),
    /// An ideal order of the judged documents that is no longer than the ranking.
    Returned(usize),
}

impl Plan {
    /// Plans the evaluation of `measures` on labels whose codes (bytes) have the meaning in `book`.
    ///
    /// # Errors
    /// A measure whose parameters do not fit the grades; more than 100,000 measures.
    pub fn new(measures: &[Measure], book: &Codebook) -> Result<Self> {
        if measures.len() > MOST {
            let count = measures.len();
            return unanswerable(format!(
                "{count} measures, where {MOST} can be evaluated together: ask for fewer at a time"
            ));
        }
        // More grades than codes: the thresholds that these measures have cut the grades into
        // classes, and labels say only the class.
        let classes = if book.is_exact() {
            None
        } else {
            Some(book.at_levels(measures.iter().flat_map(|measure| measure.levels(book)))?)
        };
        let recipes = measures.iter().map(|measure| match &classes {
            None => measure.recipe(book),
            Some(classes) => Ok(measure.recipe_of(classes)?.over_exact()),
        });
        let recipes: Vec<Recipe> = recipes.collect::<Result<_>>()?;
        let mut draft = PlanDraft::default();
        let recipe_reads: Vec<Vec<NumberRead>> = recipes
            .iter()
            .map(|recipe| recipe.reads().iter().map(|read| draft.ask(read)).collect())
            .collect();
        let of_nothing = draft.no_relevant_values(measures, classes.as_ref().unwrap_or(book))?;
        let draft = draft.finish();
        let sources = recipe_reads
            .into_iter()
            .map(|reads| reads.into_iter().map(|read| draft.source(read)).collect());
        let recipes = zip(recipes, sources).collect();
        let codes = classes.as_ref().unwrap_or(book).codes();
        let program = Program { tasks: draft.tasks, codes, classes };
        let FinishedDraft { facts, inputs, ideals, returned, .. } = draft;
        let measures = measures.to_vec();
        Ok(Self { measures, program, facts, inputs, ideals, returned, recipes, of_nothing })
    }

    /// Computes the facts of a batch's queries that the plan needs, such as numbers of relevant
    /// documents. A later batch of the same queries can reuse the facts, unless its rankings are
    /// deeper.
    #[doc(hidden)]
    pub fn prepare<'a>(&'a self, batch: &Batch<'a>) -> Prepared<'a> {
        let exact = batch.exact_facts();
        let judged = match (exact, &self.program.classes) {
            (Some(exact), Some(classes)) => Cow::Owned(exact.classed(batch.facts(), classes)),
            _ => Cow::Borrowed(batch.facts()),
        };
        let facts = QueryConstant::columns(&self.facts, &judged, exact);
        // Facts that are inputs are whole numbers of documents or ranks. A number too large for a
        // u32 becomes the largest u32, which no rank exceeds.
        let inputs = self.inputs.iter();
        let inputs =
            inputs.map(|&fact| facts[fact].iter().map(|&number| number as u32).collect()).collect();
        let deepest = batch.deepest() as usize;
        let weights = self.ideals.iter().map(|ideal| ideal.weights(deepest)).collect();
        let returned =
            self.returned.iter().map(|truncated| truncated.ideal.weights(deepest)).collect();
        Prepared { plan: self, facts, judged, inputs, weights, returned }
    }

    /// Returns the measures of the plan, in the order asked for.
    pub fn measures(&self) -> &[Measure] {
        &self.measures
    }

    /// Returns the program of folds that the engine runs for the plan.
    #[doc(hidden)]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Returns the deepest rank that the plan reads of a ranking; `None` if it may read whole
    /// rankings.
    pub(crate) fn max_rank(&self) -> Option<u32> {
        let folds_only = self.walks().next().is_none() && self.facets().next().is_none();
        self.program.max_rank().filter(|_| folds_only)
    }

    /// Returns the columns of the engine's results that a measure of the plan reads.
    pub(crate) fn columns_of(&self, measure: usize) -> impl Iterator<Item = usize> {
        let (_, sources) = &self.recipes[measure];
        sources.iter().filter_map(|source| match *source {
            NumberSource::Column(column) => Some(column),
            NumberSource::Fact(_) | NumberSource::Ideal(_) | NumberSource::Returned(_) => None,
        })
    }

    /// Returns the plan's measures that walk from one relevant document of a ranking to the next,
    /// by index. Each has its walk; `None` stands for the measure's reference function.
    #[doc(hidden)]
    pub fn walks(&self) -> impl Iterator<Item = (usize, Option<&Walk>)> {
        self.recipes.iter().enumerate().filter_map(|(at, (recipe, _))| match recipe {
            Recipe::Walk { walk, .. } => Some((at, walk.as_ref())),
            Recipe::Folds { .. } | Recipe::Facets(_) => None,
        })
    }

    /// Returns the plan's measures over judgments by facet (judge, subtopic, preference, span), by
    /// index.
    pub(crate) fn facets(&self) -> impl Iterator<Item = (usize, &FacetValue)> + Clone {
        self.recipes.iter().enumerate().filter_map(|(at, (recipe, _))| match recipe {
            Recipe::Facets(value) => Some((at, value)),
            Recipe::Folds { .. } | Recipe::Walk { .. } => None,
        })
    }
}

impl<'a> Prepared<'a> {
    /// Returns the plan that was prepared for a batch of queries.
    pub fn plan(&self) -> &'a Plan {
        self.plan
    }

    /// Returns the numbers of each query, such as its own cutoffs, that the plan's program reads.
    pub fn inputs(&self) -> &QueryInputs {
        &self.inputs
    }

    /// Computes all measures of some rankings from the engine's columns, into `[measure][row]`.
    /// `queries` are the queries of the rows, lane by lane. Values of walking measures are left
    /// unchanged. `gathered` is a reusable buffer for the queries' numbers, by row.
    pub fn finish(
        &self,
        queries: &[u32],
        columns: &Columns,
        gathered: &mut Vec<f64>,
        values: &mut [f64],
    ) {
        let rows = queries.len();
        // Rows of a run are numbered by query, so a tile of one depth often has consecutive
        // queries: then columns of facts are borrowed, not gathered.
        let together = queries.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        self.gather(queries, together, columns, gathered);
        let mut numbers: Vec<&[f64]> = Vec::with_capacity(16);
        for ((recipe, sources), values) in
            self.plan.recipes.iter().zip(values.chunks_exact_mut(rows))
        {
            let Recipe::Folds { last, .. } = recipe else { continue };
            numbers.clear();
            numbers.extend(sources.iter().map(|source| match *source {
                NumberSource::Column(column) => &columns.values[column * columns.lanes..][..rows],
                NumberSource::Ideal(ideal) => &gathered[ideal * rows..][..rows],
                NumberSource::Fact(fact) if together => {
                    &self.facts[fact][queries[0] as usize..][..rows]
                }
                NumberSource::Returned(at) => &gathered[(self.weights.len() + at) * rows..][..rows],
                NumberSource::Fact(fact) => {
                    &gathered[(self.weights.len() + self.returned.len() + fact) * rows..][..rows]
                }
            }));
            last.finish(&numbers, values);
        }
    }

    /// Returns whether a measure of the plan is something else than 0 for queries without relevant
    /// documents.
    pub fn replaces(&self) -> bool {
        !self.plan.of_nothing.is_empty()
    }

    /// Replaces the measures, `[measure][row]`, of rankings whose query has nothing relevant, if
    /// they are not 0 there. `queries` are the queries of the rows, lane by lane. A value that is
    /// none becomes `undefined`.
    pub fn replace(&self, queries: &[u32], undefined: f64, values: &mut [f64]) {
        for replacement in &self.plan.of_nothing {
            let relevance = &self.facts[replacement.relevance];
            let replaced = match replacement.value {
                NoRelevant::Zero => 0.0,
                NoRelevant::One => 1.0,
                NoRelevant::Skip => undefined,
            };
            let values = &mut values[replacement.measure * queries.len()..][..queries.len()];
            for (value, &query) in values.iter_mut().zip(queries) {
                if relevance[query as usize] == 0.0 {
                    *value = replaced;
                }
            }
        }
    }

    /// Returns the judgments of a query as the number of documents of each code that folds and
    /// walks see.
    pub fn judged(&self, query: usize) -> GradeHistogram<'_> {
        self.judged.get(query)
    }

    /// Returns the facts of a query, such as its number of relevant documents, with which a measure
    /// walks.
    pub fn facts(&self, measure: usize, query: usize) -> impl Iterator<Item = f64> {
        let (_, sources) = &self.plan.recipes[measure];
        sources.iter().filter_map(move |source| match *source {
            NumberSource::Fact(fact) => Some(self.facts[fact][query]),
            NumberSource::Column(_) | NumberSource::Ideal(_) | NumberSource::Returned(_) => None,
        })
    }

    /// Collects the ideal gains of rankings, `[ideal][row]`, and the facts of their queries,
    /// `[fact][row]`. The facts are left out if the queries follow one another.
    fn gather(&self, queries: &[u32], together: bool, columns: &Columns, gathered: &mut Vec<f64>) {
        let codes = self.plan.program.codes;
        gathered.clear();
        for (ideal, weights) in self.plan.ideals.iter().zip(&self.weights) {
            gathered.extend((0..queries.len()).map(|lane| {
                let counts = columns.histogram[lane * codes..][..codes].iter().enumerate();
                ideal.dcg(weights, counts.map(|(code, &count)| (code as u8, count)).skip(1))
            }));
        }
        for (TruncatedIdeal { ideal, fact, retrieved }, weights) in
            self.plan.returned.iter().zip(&self.returned)
        {
            let retrieved = &columns.values[retrieved * columns.lanes..];
            gathered.extend(queries.iter().zip(retrieved).map(|(&query, &retrieved)| {
                if ideal.rank.is_some_and(|rank| retrieved >= f64::from(rank)) {
                    return self.facts[*fact][query as usize];
                }
                let facts = self.judged(query as usize);
                ideal.dcg_at(retrieved as u32, weights, facts.judged())
            }));
        }
        for fact in self.facts.iter().filter(|_| !together) {
            gathered.extend(queries.iter().map(|&query| fact[query as usize]));
        }
    }

    /// Writes every measure of the plan as a column of the engine times a factor of the query.
    ///
    /// # Errors
    /// The first measure without a product form, without a mean as its aggregate, or with
    /// `no_relevant` other than 0.
    pub fn products(&self) -> std::result::Result<Vec<Product>, &'a Measure> {
        let each = self.plan.measures.iter().zip(&self.plan.recipes);
        each.map(|(measure, (recipe, sources))| {
            let product = self.product(recipe, sources);
            let plain = measure.no_relevant() == NoRelevant::Zero
                && measure.definition().average == Average::Mean;
            product.filter(|_| plain).ok_or(measure)
        })
        .collect()
    }

    /// Writes a measure's recipe as a column of the engine times a factor of the query; else
    /// `None`.
    fn product(&self, recipe: &Recipe, sources: &[NumberSource]) -> Option<Product> {
        let Recipe::Folds { last, .. } = recipe else { return None };
        let by = match (last, sources) {
            (LastStep::Over(by), _) => Factor::Same(1.0 / by),
            (LastStep::Times(by), _) => Factor::Same(*by),
            (LastStep::Ratio { most }, [_, NumberSource::Fact(fact)]) => {
                let divisors = self.facts[*fact].iter();
                let factors = divisors.map(|&by| if by == 0.0 { 0.0 } else { 1.0 / by.min(*most) });
                Factor::PerQuery(factors.collect())
            }
            (LastStep::Reciprocal { most }, _) => {
                Factor::Reciprocal(most.min(f64::from(u32::MAX)) as u32)
            }
            _ => return None,
        };
        let NumberSource::Column(column) = *sources.first()? else { return None };
        Some(Product { column, by })
    }
}

/// A plan in the making: the folds, cutoffs and query facts that measures have asked for so far.
#[derive(Default)]
struct PlanDraft {
    folds: DistinctList<Fold>,
    /// The cuts at which each fold is read; in any order and with repetitions until the draft is
    /// finished.
    cuts: Vec<Vec<Cut>>,
    facts: DistinctList<QueryConstant>,
    /// The facts that are inputs of the program.
    inputs: DistinctList<usize>,
    ideals: DistinctList<IdealRanking>,
    returned: DistinctList<IdealRanking>,
    kinds: DistinctList<(CodesAbove, RecallRule)>,
    /// The levels of recall at which each kind of peaks is read, as the cuts of a fold.
    recalls: Vec<Vec<f64>>,
}

/// A number that a measure's last step reads, before its column in the engine's results is known.
#[derive(Clone, Copy)]
enum NumberRead {
    /// A fold by its index among the folds, read at a cut.
    Cut(usize, Cut),
    /// A fold with one column for all cuts.
    First(usize),
    /// A kind of peaks by its index among the kinds, from a level of recall on.
    Peak(usize, f64),
    Fact(usize),
    Ideal(usize),
    Returned(usize),
}

impl PlanDraft {
    fn ask(&mut self, read: &RecipeInput) -> NumberRead {
        match read {
            RecipeInput::Fold(fold, place) => {
                let cut = self.cut(place);
                let at = self.fold(fold);
                // A first hit at any cutoff is the first hit down to the deepest, or none.
                if let Fold::FirstRank(_) = fold {
                    let deepest = self.cuts[at].pop().map_or(cut, |deepest| deepest.max(cut));
                    self.cuts[at].push(deepest);
                    return NumberRead::First(at);
                }
                self.cuts[at].push(cut);
                NumberRead::Cut(at, cut)
            }
            RecipeInput::Peak { hits, rule, recall } => {
                let at = self.kinds.place(&(*hits, *rule));
                self.recalls.resize_with(self.kinds.len(), Vec::new);
                self.recalls[at].push(*recall);
                NumberRead::Peak(at, *recall)
            }
            RecipeInput::Preference { hits, judged } => {
                let cap = self.input(&QueryConstant::Count(*hits));
                let bound = self.input(&QueryConstant::Fewer { hits: *hits, judged: *judged });
                let at =
                    self.fold(&Fold::PreferenceSum { hits: *hits, judged: *judged, cap, bound });
                self.cuts[at].push(Cut::End);
                NumberRead::First(at)
            }
            RecipeInput::Fact(fact) => NumberRead::Fact(self.facts.place(fact)),
            RecipeInput::RetrievedIdeal(ideal) => {
                let at = self.fold(&Fold::Histogram);
                self.cuts[at].push(Cut::End);
                NumberRead::Ideal(self.ideals.place(ideal))
            }
            RecipeInput::TruncatedIdeal(ideal) => {
                // The fact must be there for rankings that reach the cutoff; `finish` looks it up.
                self.facts.place(&QueryConstant::Ideal(ideal.clone()));
                let at = self.fold(&Fold::Count(CodesAbove::RETRIEVED));
                self.cuts[at].push(Cut::End);
                NumberRead::Returned(self.returned.place(ideal))
            }
        }
    }

    /// Adds, for each measure whose value is not 0 where nothing is relevant, the fact that finds
    /// the queries without relevant documents.
    fn no_relevant_values(
        &mut self,
        measures: &[Measure],
        book: &Codebook,
    ) -> Result<Vec<NoRelevantValue>> {
        let mut values = Vec::new();
        for (at, measure) in measures.iter().enumerate() {
            let value = measure.no_relevant();
            if value != NoRelevant::Zero {
                let fact = measure.relevance(book).map_err(|message| measure.wrong(message))?;
                let relevance = self.facts.place(&fact);
                values.push(NoRelevantValue { measure: at, relevance, value });
            }
        }
        Ok(values)
    }

    fn fold(&mut self, fold: &Fold) -> usize {
        let at = self.folds.place(fold);
        self.cuts.resize_with(self.folds.len(), Vec::new);
        at
    }

    fn cut(&mut self, place: &ReadCutoff) -> Cut {
        match place {
            ReadCutoff::Rank(k) => Cut::At(*k),
            ReadCutoff::End => Cut::End,
            ReadCutoff::PerQuery(fact) => Cut::PerQuery(self.input(fact)),
        }
    }

    fn input(&mut self, fact: &QueryConstant) -> usize {
        let fact = self.facts.place(fact);
        self.inputs.place(&fact)
    }

    // Invariant: cuts of a task are sorted with ranks first, then the end, then the queries' own
    // cuts, because `Cut`'s variants have this order. Engines rely on the order: the fixed ranks
    // are an ascending prefix.
    /// Completes the draft of a plan: sorts cutoffs and levels of recall, and makes the engine's
    /// tasks. The folds come in the order of request, then a task for each kind of peaks.
    fn finish(mut self) -> FinishedDraft {
        for cuts in &mut self.cuts {
            cuts.sort_unstable();
            cuts.dedup();
        }
        let mut peaks = Vec::new();
        for (kind, recalls) in self.recalls.iter_mut().enumerate() {
            recalls.sort_by(f64::total_cmp);
            recalls.dedup();
            let (hits, rule) = self.kinds.list()[kind];
            let caps = recalls.iter().map(|&recall| {
                let fact = self.facts.place(&QueryConstant::Hits { hits, rule, recall });
                self.inputs.place(&fact)
            });
            let caps = caps.collect();
            peaks.push(Task { fold: Fold::PeakPrecision { hits, caps }, cuts: vec![Cut::End] });
        }
        let returned = self.returned.into_list().into_iter().map(|ideal| {
            let fact = self.facts.place(&QueryConstant::Ideal(ideal.clone()));
            (ideal, fact, self.folds.place(&Fold::Count(CodesAbove::RETRIEVED)))
        });
        let returned: Vec<_> = returned.collect();
        let folds = self.folds.len();
        let tasks = zip(self.folds.into_list(), self.cuts).map(|(fold, cuts)| Task { fold, cuts });
        let tasks: Vec<Task> = tasks.chain(peaks).collect();
        let first_columns = tasks.iter().scan(0, |columns, task| {
            let first = *columns;
            *columns += task.columns();
            Some(first)
        });
        let mut finished = FinishedDraft {
            first_columns: first_columns.collect(),
            tasks,
            folds,
            facts: self.facts.into_list(),
            inputs: self.inputs.into_list(),
            ideals: self.ideals.into_list(),
            returned: Vec::new(),
            recalls: self.recalls,
        };
        // Last, because only now is the first column of each fold known.
        for (ideal, fact, fold) in returned {
            let retrieved = finished.column(fold, Cut::End);
            finished.returned.push(TruncatedIdeal { ideal, fact, retrieved });
        }
        finished
    }
}

/// A complete draft of a plan: the engine's tasks with their first columns, and the query facts.
struct FinishedDraft {
    tasks: Vec<Task>,
    /// The first column of each task.
    first_columns: Vec<usize>,
    /// The number of tasks that are folds; the tasks of peaks follow the folds.
    folds: usize,
    facts: Vec<QueryConstant>,
    inputs: Vec<usize>,
    ideals: Vec<IdealRanking>,
    /// The ideals that are no longer than the ranking.
    returned: Vec<TruncatedIdeal>,
    recalls: Vec<Vec<f64>>,
}

impl FinishedDraft {
    /// Returns the column of the engine's results with a fold read at a cutoff.
    fn column(&self, fold: usize, cut: Cut) -> usize {
        let at = self.tasks[fold].cuts.binary_search(&cut);
        self.first_columns[fold] + at.unwrap_or_else(|_| unreachable!("{cut:?} was asked for"))
    }

    fn source(&self, read: NumberRead) -> NumberSource {
        match read {
            NumberRead::Cut(fold, cut) => NumberSource::Column(self.column(fold, cut)),
            NumberRead::First(task) => NumberSource::Column(self.first_columns[task]),
            NumberRead::Peak(kind, recall) => {
                let at = self.recalls[kind].partition_point(|&level| level < recall);
                NumberSource::Column(self.first_columns[self.folds + kind] + at)
            }
            NumberRead::Fact(fact) => NumberSource::Fact(fact),
            NumberRead::Ideal(ideal) => NumberSource::Ideal(ideal),
            NumberRead::Returned(at) => NumberSource::Returned(at),
        }
    }
}

impl fmt::Display for Plan {
    /// Writes the plan: the folds with their cutoffs and columns, then the measures with the
    /// columns that they read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "folds, over the ranks of every row:")?;
        let mut column = 0;
        for task in &self.program.tasks {
            write!(f, "  {}", describe(&task.fold))?;
            let names = columns(column, task.columns());
            match &task.fold {
                Fold::Histogram => writeln!(f, " → a count for each code")?,
                Fold::PeakPrecision { caps, .. } => {
                    let caps: Vec<_> = caps.iter().map(|&input| format!("input {input}")).collect();
                    writeln!(f, " from hit [{}] → {names}", caps.join(", "))?;
                }
                _ => {
                    let cuts: Vec<_> = task.cuts.iter().map(cut_name).collect();
                    writeln!(f, " at [{}] → {names}", cuts.join(", "))?;
                }
            }
            column += task.columns();
        }
        writeln!(f, "facts, from the judgments of every query:")?;
        for (at, fact) in self.facts.iter().enumerate() {
            writeln!(f, "  f{at} = {}", describe_fact(fact))?;
        }
        writeln!(f, "measures, finished in f64:")?;
        for (measure, (recipe, sources)) in zip(&self.measures, &self.recipes) {
            let sources = sources.iter().map(|source| match source {
                NumberSource::Column(column) => format!("c{column}"),
                NumberSource::Fact(fact) => format!("f{fact}"),
                NumberSource::Ideal(_) => "the ideal order of the histogram".into(),
                NumberSource::Returned(_) => "the ideal order, no longer than the ranking".into(),
            });
            let walk = match recipe {
                Recipe::Folds { .. } => None,
                Recipe::Walk { .. } => Some("a walk down each ranking".into()),
                Recipe::Facets(value) => Some(format!("judgments by {}", value.needs())),
            };
            let from = walk.into_iter().chain(sources).collect::<Vec<_>>().join(", ");
            writeln!(f, "  {measure}: {}; from {from}", measure.definition().formula)?;
        }
        Ok(())
    }
}

fn columns(first: usize, count: usize) -> String {
    (first..first + count).map(|column| format!("c{column}")).collect::<Vec<_>>().join(", ")
}

fn cut_name(cut: &Cut) -> String {
    match cut {
        Cut::At(k) => k.to_string(),
        Cut::End => "end".to_owned(),
        Cut::PerQuery(input) => format!("input {input}"),
    }
}

fn describe(fold: &Fold) -> String {
    match fold {
        Fold::Count(hits)
        | Fold::FirstRank(hits)
        | Fold::PrecisionSum(hits)
        | Fold::InferredSum(hits)
        | Fold::PairSum(hits)
        | Fold::PreferenceSum { hits, .. }
        | Fold::PeakPrecision { hits, .. } => format!("{}(code > {})", fold.name(), hits.0),
        Fold::WeightedSum { discount, .. } | Fold::Cascade { discount, .. } => {
            format!("{}({discount:?})", fold.name())
        }
        Fold::Histogram => fold.name().to_owned(),
    }
}

fn describe_fact(fact: &QueryConstant) -> String {
    match fact {
        QueryConstant::MaxGrade(_) => "the largest grade".to_owned(),
        QueryConstant::Fewer { hits, .. } => format!("the smaller of R (code > {}) and N", hits.0),
        QueryConstant::Count(set) => format!("documents with code > {}", set.0),
        QueryConstant::Hits { hits, rule, recall } => {
            format!("hits (code > {}) at recall {recall} by {rule:?}", hits.0)
        }
        QueryConstant::Ideal(IdealRanking { discount, rank, .. }) => match rank {
            Some(k) => format!("ideal gain({discount:?}) at {k}"),
            None => format!("ideal gain({discount:?})"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Codebook;
    use crate::measure::{Defaults, parse_list};

    /// Returns a draft of these measures, and the number of comparisons that it made.
    fn drafted(measures: &[Measure]) -> (PlanDraft, usize) {
        let book = Codebook::new([0.0, 1.0, 2.0]).unwrap();
        let mut draft = PlanDraft::default();
        for measure in measures {
            measure.recipe(&book).unwrap().reads().iter().for_each(|read| _ = draft.ask(read));
        }
        let PlanDraft { folds, facts, inputs, ideals, kinds, .. } = &draft;
        let probes = folds.probes + facts.probes + inputs.probes + ideals.probes + kinds.probes;
        (draft, probes)
    }

    fn measures(names: &[String]) -> Vec<Measure> {
        names.iter().flat_map(|name| parse_list(name, Defaults::default()).unwrap()).collect()
    }

    #[test]
    fn planning_takes_a_few_comparisons_a_number_that_is_read() {
        let levels = |n: u32| (0..n).map(move |at| f64::from(at) / f64::from(n));
        let many = |n: u32| {
            let cuts =
                ["nDCG", "P", "R", "AP", "RR", "Success", "ERR(gmax=2)", "nDCG(ideal=retrieved)"];
            let at_ranks = cuts.map(|measure| format!("{measure}@1..{n}"));
            let at_levels = levels(n).map(|level| format!("IPrec@{level}"));
            let folds = levels(n).map(|p| format!("RBP(p={})", 0.01 + p * 0.9));
            let gains = (1..=n).map(|gain| format!("nDCG(gain={{1:{gain}}})"));
            measures(
                &at_ranks
                    .into_iter()
                    .chain(at_levels)
                    .chain(folds)
                    .chain(gains)
                    .collect::<Vec<_>>(),
            )
        };
        let (few, twice) = (many(200), many(400));
        let (few, twice) = (drafted(&few).1, drafted(&twice).1);
        assert!(few > 200 && twice < 3 * few, "{few} comparisons, and {twice} for twice as much");
    }

    #[test]
    fn a_plan_says_each_thing_once_in_the_order_in_which_it_was_asked_for() {
        let names = [
            "P@[10,5,10]",
            "RR@3",
            "IPrec@[0.5,0.1,0.5]",
            "RR@20",
            "Rprec",
            "nDCG@5",
            "P@5",
            "R@7",
        ];
        let (draft, _) = drafted(&measures(&names.map(str::to_owned)));
        let plan = draft.finish();
        let tasks: Vec<(&str, Vec<String>)> = plan
            .tasks
            .iter()
            .map(|task| (task.fold.name(), task.cuts.iter().map(cut_name).collect()))
            .collect();
        let expected = [
            ("Count", vec!["5", "7", "10", "input 0"]),
            ("FirstRank", vec!["20"]),
            ("WeightedSum", vec!["5"]),
            ("PeakPrecision", vec!["end"]),
        ];
        let expected =
            expected.map(|(fold, cuts)| (fold, cuts.into_iter().map(str::to_owned).collect()));
        assert_eq!(tasks, expected);
        assert_eq!(plan.recalls, [[0.1, 0.5]]);
        assert_eq!(plan.first_columns, [0, 4, 5, 6]);
        assert_eq!(plan.source(NumberRead::Cut(0, Cut::At(7))), NumberSource::Column(1));
        assert_eq!(plan.source(NumberRead::First(1)), NumberSource::Column(4));
        assert_eq!(plan.source(NumberRead::Peak(0, 0.5)), NumberSource::Column(7));
    }

    #[test]
    #[should_panic(expected = "was asked for")]
    fn a_column_that_nobody_asked_for_is_none() {
        let (draft, _) = drafted(&measures(&["P@5".to_owned()]));
        draft.finish().source(NumberRead::Cut(0, Cut::At(6)));
    }

    #[test]
    fn products_are_the_last_lines() {
        let matrix = crate::generate::Synthetic { queries: 2, depth: 3, ..Default::default() }
            .matrix()
            .unwrap();
        let plan = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            Plan::new(&measures(&names), matrix.codebook()).unwrap()
        };
        let factors = |names: &[&str]| {
            let products = plan(names).prepare(&matrix.batch()).products().unwrap();
            products.into_iter().map(|product| product.by).collect::<Vec<_>>()
        };
        let expected = [1.0 - 0.8, 1.0 - 0.5, 1.0 / 4.0, 1.0].map(Factor::Same);
        assert_eq!(factors(&["RBP", "RBP(p=0.5,gain=raw)", "P@4", "Hits"]), expected);
        assert_eq!(factors(&["RR@7"]), [Factor::Reciprocal(7)]);
        assert!(matches!(&factors(&["AP"])[..], [Factor::PerQuery(by)] if by.len() == 2));
        for (names, other) in [
            (["AP", "SetP", "INST"], "SetP"),
            (["GMAP", "P@5", "RR"], "GMAP"),
            (["RR", "P@5", "IDCG"], "IDCG"),
        ] {
            let plan = plan(&names);
            assert_eq!(plan.prepare(&matrix.batch()).products().unwrap_err().to_string(), other);
        }
    }

    #[test]
    fn too_many_measures_are_refused() {
        let one: Measure = "P@5".parse().unwrap();
        let error =
            Plan::new(&vec![one; MOST + 1], &Codebook::default()).err().unwrap().to_string();
        assert!(error.starts_with("100001 measures, where 100000 can be"), "{error}");
    }
}
