//! From a list of measures to a program: which folds, read where, and who finishes what with them.
//!
//! Folds that several measures ask for run once, with all their cutoffs. The plan is plain data; [`Plan`] prints itself.

use std::fmt;

use crate::error::Result;
use crate::fold::{Columns, Cut, Factor, Fold, Product, Program, Task, Weights};
use crate::label::{Above, LabelMatrix};
use crate::measure::{Average, Fact, Form, Ideal, Measure, Place, Read, RecallRule, Recipe};

/// What will run, and how each measure is finished from it.
pub struct Plan {
    measures: Vec<Measure>,
    program: Program,
    facts: Vec<Fact>,
    /// The values of each fact by query.
    columns: Vec<Vec<f64>>,
    ideals: Vec<(Ideal, Weights)>,
    recipes: Vec<(Recipe, Vec<Source>)>,
}

/// Where a number that a measure reads comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Source {
    /// A column of the engine.
    Column(usize),
    /// A fact of the query.
    Fact(usize),
    /// An ideal order of the retrieved documents, from the histogram.
    Ideal(usize),
}

impl Plan {
    /// Plans `measures` over a matrix.
    ///
    /// # Errors
    /// A measure whose parameters do not fit the grades.
    pub fn new(measures: &[Measure], matrix: &LabelMatrix) -> Result<Self> {
        let recipes: Vec<Recipe> = measures.iter().map(|m| m.recipe(matrix.book())).collect::<Result<_>>()?;
        let mut draft = Draft::default();
        recipes.iter().flat_map(Recipe::reads).for_each(|read| draft.ask(read));
        let peaks = draft.finish();

        let sources = recipes
            .iter()
            .map(|recipe| recipe.reads().iter().map(|read| draft.source(read, &peaks)).collect());
        let recipes = sources.collect::<Vec<_>>().into_iter().zip(recipes).map(|(s, r)| (r, s)).collect();
        let columns: Vec<Vec<f64>> = Fact::columns(&draft.facts, matrix.facts());
        let inputs =
            draft.inputs.iter().map(|&fact| columns[fact].iter().map(|&x| x as u32).collect()).collect();
        let deepest = matrix.packing().tiles.first().map_or(0, |tile| tile.depth as usize);
        let ideals = draft.ideals.into_iter().map(|ideal| (ideal.clone(), ideal.weights(deepest))).collect();
        let program = Program { tasks: draft.tasks, inputs, codes: matrix.book().codes() };
        Ok(Plan { measures: measures.to_vec(), program, facts: draft.facts, columns, ideals, recipes })
    }

    /// The measures, in the order asked for.
    pub fn measures(&self) -> &[Measure] {
        &self.measures
    }

    /// What the engine runs.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Finishes every measure of some rows, of which the queries are given, lane by lane, into `[measure][row]`; the values of
    /// those that walk stay as they are. What the rows need of their queries is gathered in a vector that is used again.
    pub fn finish(&self, queries: &[u32], columns: &Columns, gathered: &mut Vec<f64>, values: &mut [f64]) {
        let rows = queries.len();
        let together = queries.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        self.gather(queries, together, columns, gathered);
        let mut numbers: Vec<&[f64]> = Vec::with_capacity(16);
        for ((recipe, sources), values) in self.recipes.iter().zip(values.chunks_exact_mut(rows)) {
            let Recipe::Folds { finish, .. } = recipe else { continue };
            numbers.clear();
            numbers.extend(sources.iter().map(|source| match *source {
                Source::Column(column) => &columns.values[column * columns.lanes..][..rows],
                Source::Ideal(ideal) => &gathered[ideal * rows..][..rows],
                Source::Fact(fact) if together => &self.columns[fact][queries[0] as usize..][..rows],
                Source::Fact(fact) => &gathered[(self.ideals.len() + fact) * rows..][..rows],
            }));
            finish(&numbers, values);
        }
    }

    /// The ideal orders of the rows, `[ideal][row]`, then the facts of their queries, `[fact][row]`, unless these lie together.
    fn gather(&self, queries: &[u32], together: bool, columns: &Columns, gathered: &mut Vec<f64>) {
        let codes = self.program.codes;
        gathered.clear();
        for (ideal, weights) in &self.ideals {
            gathered.extend((0..queries.len()).map(|lane| {
                let counts = columns.histogram[lane * codes..][..codes].iter();
                ideal.of(weights, (0..=255u8).zip(counts.copied()).skip(1))
            }));
        }
        for fact in self.columns.iter().filter(|_| !together) {
            gathered.extend(queries.iter().map(|&query| fact[query as usize]));
        }
    }

    /// Every measure as a column times a factor of the query, `None` if one of them is something else, or is not averaged by a mean.
    pub fn products(&self) -> Option<Vec<Product>> {
        let product = |(measure, (recipe, sources)): (&Measure, &(Recipe, Vec<Source>))| {
            let Recipe::Folds { form, .. } = recipe else { return None };
            let by = match (form, &sources[..]) {
                (Form::Over(by), _) => Factor::Same(1.0 / by),
                (Form::Ratio(most), [_, Source::Fact(fact)]) => {
                    let factor = |&by: &f64| if by == 0.0 { 0.0 } else { 1.0 / by.min(*most) };
                    Factor::PerQuery(self.columns[*fact].iter().map(factor).collect())
                }
                (Form::Reciprocal(most), _) => Factor::Reciprocal(most.min(f64::from(u32::MAX)) as u32),
                _ => return None,
            };
            let Source::Column(column) = *sources.first()? else { return None };
            (measure.definition().average == Average::Mean).then_some(Product { column, by })
        };
        self.measures.iter().zip(&self.recipes).map(product).collect()
    }

    /// The measures that walk down each ranking instead, by index.
    pub fn walks(&self) -> impl Iterator<Item = usize> {
        self.recipes
            .iter()
            .enumerate()
            .filter(|(_, (recipe, _))| matches!(recipe, Recipe::Walk))
            .map(|(at, _)| at)
    }
}

/// A plan in the making.
#[derive(Default)]
struct Draft {
    tasks: Vec<Task>,
    facts: Vec<Fact>,
    /// The facts that are inputs of the program.
    inputs: Vec<usize>,
    ideals: Vec<Ideal>,
    peaks: Vec<Peaks>,
}

/// The levels of recall asked of one kind of hit under one rule, and the task that answers them.
struct Peaks {
    read: (Above, RecallRule),
    recalls: Vec<f64>,
    task: usize,
}

impl Draft {
    fn ask(&mut self, read: &Read) {
        match read {
            Read::Fold(fold, place) => {
                let cut = self.cut(place);
                let cuts = &mut self.task(fold).cuts;
                match fold {
                    // One column answers every cutoff: whoever reads it compares. It only has to be deep enough.
                    Fold::FirstRank(_) => *cuts = vec![cuts.first().map_or(cut, |&deepest| deepest.max(cut))],
                    _ if !cuts.contains(&cut) => cuts.push(cut),
                    _ => {}
                }
            }
            Read::Peak { hits, rule, recall } => {
                match self.peaks.iter_mut().find(|peaks| peaks.read == (*hits, *rule)) {
                    Some(peaks) if peaks.recalls.contains(recall) => {}
                    Some(peaks) => peaks.recalls.push(*recall),
                    None => self.peaks.push(Peaks { read: (*hits, *rule), recalls: vec![*recall], task: 0 }),
                }
            }
            Read::Preference { hits, judged } => {
                let fold = self.preference(*hits, *judged);
                self.task(&fold).cuts = vec![Cut::End];
            }
            Read::Fact(fact) => _ = position_or_push(&mut self.facts, fact),
            Read::RetrievedIdeal(ideal) => {
                self.task(&Fold::Histogram).cuts = vec![Cut::End];
                position_or_push(&mut self.ideals, ideal);
            }
        }
    }

    fn preference(&mut self, hits: Above, judged: Above) -> Fold {
        let cap = self.input(&Fact::Count(hits));
        let bound = self.input(&Fact::Fewer { hits, judged });
        Fold::PreferenceSum { hits, judged, cap, bound }
    }

    fn task(&mut self, fold: &Fold) -> &mut Task {
        let at = self.tasks.iter().position(|task| task.fold == *fold).unwrap_or_else(|| {
            self.tasks.push(Task { fold: fold.clone(), cuts: Vec::new() });
            self.tasks.len() - 1
        });
        &mut self.tasks[at]
    }

    fn cut(&mut self, place: &Place) -> Cut {
        match place {
            Place::Rank(k) => Cut::At(*k),
            Place::End => Cut::End,
            Place::PerQuery(fact) => Cut::PerQuery(self.input(fact)),
        }
    }

    fn input(&mut self, fact: &Fact) -> usize {
        let fact = position_or_push(&mut self.facts, fact);
        position_or_push(&mut self.inputs, &fact)
    }

    /// Sorts cuts and levels of recall, and makes a task of each kind of peaks.
    fn finish(&mut self) -> Vec<Peaks> {
        self.tasks.iter_mut().for_each(|task| task.cuts.sort());
        let mut peaks = std::mem::take(&mut self.peaks);
        for Peaks { read: (hits, rule), recalls, task } in &mut peaks {
            recalls.sort_by(f64::total_cmp);
            let fact = |&recall: &f64| Fact::Hits { hits: *hits, rule: *rule, recall };
            let caps = recalls.iter().map(|recall| self.input(&fact(recall))).collect();
            *task = self.tasks.len();
            self.tasks.push(Task { fold: Fold::PeakPrecision { hits: *hits, caps }, cuts: vec![Cut::End] });
        }
        peaks
    }

    /// Where a number comes from, now that nothing moves any more.
    fn source(&mut self, read: &Read, peaks: &[Peaks]) -> Source {
        match read {
            Read::Fold(fold, place) => {
                let cut = self.cut(place);
                self.column(fold, cut)
            }
            Read::Preference { hits, judged } => {
                let fold = self.preference(*hits, *judged);
                self.column(&fold, Cut::End)
            }
            Read::Peak { hits, rule, recall } => {
                let peaks = peaks.iter().find(|peaks| peaks.read == (*hits, *rule));
                let at = peaks.map(|peaks| {
                    let at = peaks.recalls.iter().position(|of| of == recall).unwrap_or_default();
                    self.first_column(peaks.task) + at
                });
                Source::Column(at.unwrap_or_default())
            }
            Read::Fact(fact) => Source::Fact(position_or_push(&mut self.facts, fact)),
            Read::RetrievedIdeal(ideal) => Source::Ideal(position_or_push(&mut self.ideals, ideal)),
        }
    }

    fn column(&self, fold: &Fold, cut: Cut) -> Source {
        let task = self.tasks.iter().position(|task| task.fold == *fold).unwrap_or_default();
        let at = self.tasks[task].cuts.iter().position(|&of| of == cut).unwrap_or_default();
        Source::Column(self.first_column(task) + at)
    }

    fn first_column(&self, task: usize) -> usize {
        self.tasks[..task].iter().map(Task::columns).sum()
    }
}

/// The index of an item, pushed if it is new.
fn position_or_push<T: PartialEq + Clone>(list: &mut Vec<T>, item: &T) -> usize {
    list.iter().position(|of| of == item).unwrap_or_else(|| {
        list.push(item.clone());
        list.len() - 1
    })
}

impl fmt::Display for Plan {
    /// Folds with their cutoffs and columns, then the measures with what they read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "folds, over the ranks of every row:")?;
        let mut column = 0;
        for task in &self.program.tasks {
            write!(f, "  {}", describe(&task.fold))?;
            match &task.fold {
                Fold::Histogram => writeln!(f, " → a count for each code")?,
                Fold::PeakPrecision { caps, .. } => {
                    let caps: Vec<_> = caps.iter().map(|&input| format!("input {input}")).collect();
                    writeln!(f, " from hit [{}] → {}", caps.join(", "), columns(column, task.columns()))?;
                }
                _ => {
                    let cuts: Vec<_> = task.cuts.iter().map(cut_name).collect();
                    writeln!(f, " at [{}] → {}", cuts.join(", "), columns(column, task.columns()))?;
                }
            }
            column += task.columns();
        }
        writeln!(f, "facts, from the judgments of every query:")?;
        for (at, fact) in self.facts.iter().enumerate() {
            writeln!(f, "  f{at} = {}", describe_fact(fact))?;
        }
        writeln!(f, "measures, finished in f64:")?;
        for (measure, (recipe, sources)) in std::iter::zip(&self.measures, &self.recipes) {
            if matches!(recipe, Recipe::Walk) {
                writeln!(f, "  {measure}: {}; a walk down each ranking", measure.definition().formula)?;
                continue;
            }
            let sources: Vec<_> = sources
                .iter()
                .map(|source| match source {
                    Source::Column(column) => format!("c{column}"),
                    Source::Fact(fact) => format!("f{fact}"),
                    Source::Ideal(_) => "the ideal order of the histogram".to_owned(),
                })
                .collect();
            writeln!(f, "  {measure}: {}; from {}", measure.definition().formula, sources.join(", "))?;
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
    let set = |above: &Above| format!("code > {}", above.0);
    match fold {
        Fold::Count(hits)
        | Fold::FirstRank(hits)
        | Fold::PrecisionSum(hits)
        | Fold::InferredSum(hits)
        | Fold::PairSum(hits)
        | Fold::PreferenceSum { hits, .. }
        | Fold::PeakPrecision { hits, .. } => format!("{}({})", fold.name(), set(hits)),
        Fold::WeightedSum { discount, .. } | Fold::Cascade { discount, .. } => {
            format!("{}({discount:?})", fold.name())
        }
        Fold::Histogram => fold.name().to_owned(),
    }
}

fn describe_fact(fact: &Fact) -> String {
    match fact {
        Fact::MaxGrade(_) => "the largest grade".to_owned(),
        Fact::Fewer { hits, .. } => format!("the smaller of R (code > {}) and N", hits.0),
        Fact::Count(set) => format!("documents with code > {}", set.0),
        Fact::Hits { hits, rule, recall } => {
            format!("hits (code > {}) at recall {recall} by {rule:?}", hits.0)
        }
        Fact::Ideal(Ideal { discount, rank, .. }) => match rank {
            Some(k) => format!("ideal gain({discount:?}) at {k}"),
            None => format!("ideal gain({discount:?})"),
        },
    }
}
