//! The explanation of a query's scores for `laneval show`: its rankings, and the contribution of
//! each rank to each measure.

mod terms;

use crate::Join;
use crate::bytes::input::{Input, RunInput};
use crate::error::{Error, Result, printable};
use crate::evaluate::Evaluator;
use crate::ids::Ids;
use crate::join::picks::{PickedQueries, PickedQuery, Retrieved};
use crate::matrix::code::NEGATIVE;
use crate::matrix::{Codebook, CodesAbove, GradeHistogram, GradeHistograms, LabelMatrix};
use crate::measure::recipe::Recipe;
use crate::measure::{Measure, NoRelevant};
pub use terms::{RankTerms, SumStep, Term, TermOrigin};

/// The judgment of a retrieved document in `laneval show`: none, negative, a grade, or gold
/// positions of a passage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ShownJudgment {
    /// The qrels do not name the document.
    None,
    /// The document is pooled, with a negative grade.
    Negative,
    /// The document has this grade, 0 or more.
    Grade(f64),
    /// The result is a passage, with gold positions that no earlier result had.
    Gold {
        /// Their number.
        new: u64,
        /// The number of the query's gold positions.
        total: u64,
    },
}

/// The gold positions of a query judged by passages: their number, and the index of the lowest gold
/// grade.
#[derive(Clone, Copy)]
struct ShownGold {
    positions: u64,
    place: usize,
}

impl ShownJudgment {
    fn new(document: &Retrieved, gold: Option<ShownGold>) -> Self {
        if let (Some(ShownGold { positions, place }), Some(span)) = (gold, &document.span) {
            return Self::Gold {
                new: span.gold.get(place).copied().unwrap_or(0),
                total: positions,
            };
        }
        match document.grade {
            Some(grade) => Self::Grade(grade),
            None if document.code == NEGATIVE => Self::Negative,
            None => Self::None,
        }
    }

    /// Returns whether the document is relevant: a grade of at least `level`, or new gold
    /// positions.
    pub fn is_relevant(self, level: f64) -> bool {
        match self {
            Self::Grade(grade) => grade >= level,
            Self::Gold { new, .. } => new > 0,
            Self::None | Self::Negative => false,
        }
    }
}

/// A retrieved document in `laneval show`, with its rank, score and judgment as the measures see
/// it.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedDocument {
    /// The rank of the document, from 1.
    pub rank: u32,
    /// The id of the document; of a passage with its positions, as in `d1 [0, 20)`.
    pub docno: Vec<u8>,
    /// The compared score, rounded to f32 if the join compares scores as f32.
    pub score: f64,
    /// The judgment of the document.
    pub judgment: ShownJudgment,
    /// The number of documents of the run that have this score, itself included.
    pub tied: u32,
}

impl RankedDocument {
    /// Makes the shown document at a rank; `gold` is that of a query judged by passages.
    fn new(rank: u32, document: Retrieved, gold: Option<ShownGold>) -> Self {
        Self {
            rank,
            judgment: ShownJudgment::new(&document, gold),
            docno: match &document.span {
                Some(span) => [&document.docno[..], format!(" {}", span.span).as_bytes()].concat(),
                None => document.docno,
            },
            score: document.score,
            tied: document.tied,
        }
    }
}

/// A query in one run for `laneval show`: its ranking, its values, and the terms of each measure.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownRun {
    /// Whether the query is in the run.
    pub present: bool,
    /// The ranking as the measures see it.
    pub ranking: Vec<RankedDocument>,
    /// The value of each measure; empty if the query is not judged.
    pub values: Vec<f64>,
    /// The terms of each measure that is a sum over ranks, if the ranking is in one order; empty if
    /// the query is not judged.
    pub terms: Vec<Option<RankTerms>>,
}

/// A query in all runs for `laneval show`, with its judged documents.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownQuery {
    /// The id of the query.
    pub id: Vec<u8>,
    /// The documents that the qrels name for the query, by id; `None` if the qrels lack the query.
    pub judged: Option<Vec<(Vec<u8>, ShownJudgment)>>,
    /// The number of gold positions, if the query is judged and results are passages.
    pub gold: Option<u64>,
    /// The query in each run.
    pub runs: Vec<ShownRun>,
}

/// The queries that `laneval show` explains, in some runs and under some measures.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownQueries {
    /// The names of the runs.
    pub runs: Vec<String>,
    /// The measures.
    pub measures: Vec<Measure>,
    /// The queries in the order asked for, each once.
    pub queries: Vec<ShownQuery>,
}

impl ShownQueries {
    /// Reads qrels and runs, and explains `queries` with rankings, values and terms; `named` may
    /// rename the runs. The values are those of an evaluation, to the bit.
    ///
    /// # Errors
    /// As [`Join::files`](crate::Join::files) and [`Evaluator::evaluate`], except that a document
    /// may occur twice in the ranking of another query; a query that is neither in the qrels nor in
    /// a run.
    pub fn read(
        join: &Join,
        evaluator: &Evaluator,
        qrels: Input,
        runs: Vec<RunInput>,
        queries: &[Vec<u8>],
        named: impl FnOnce(LabelMatrix) -> Result<LabelMatrix>,
    ) -> Result<Self> {
        let first = queries.iter().enumerate().filter(|(at, id)| !queries[..*at].contains(id));
        let ids: Vec<Vec<u8>> = first.map(|(_, id)| id.clone()).collect();
        let PickedQueries { queries, matrix } = join.picked(qrels, runs, &ids)?;
        let matrix = named(matrix)?;
        for query in &queries {
            if query.judged.is_none() && query.rankings.iter().all(Option::is_none) {
                return Err(nowhere(&query.id, &matrix));
            }
        }
        let values = values(evaluator, &matrix, &queries)?;
        let queries = queries.into_iter().map(|query| shown(query, evaluator, &matrix, &values));
        let queries = queries.collect::<Result<_>>()?;
        let runs = matrix.runs().iter().map(|run| run.name.clone()).collect();
        Ok(Self { runs, measures: evaluator.measures().to_vec(), queries })
    }
}

/// The evaluated values of the queries of `laneval show`, as `[run][measure][query]`. The queries
/// are in bytewise order.
struct ShownValues {
    queries: Ids,
    of_runs: Vec<Vec<Vec<f64>>>,
}

/// Evaluates every measure for the judged queries among `queries`, in each run.
fn values(
    evaluator: &Evaluator,
    matrix: &LabelMatrix,
    queries: &[PickedQuery],
) -> Result<ShownValues> {
    let judged: Ids =
        queries.iter().filter(|query| query.judged.is_some()).map(|query| &query.id[..]).collect();
    if judged.is_empty() {
        return Ok(ShownValues { queries: judged, of_runs: Vec::new() });
    }
    let scores =
        evaluator.clone().with_query_filter(Some(judged)).with_per_query(true).evaluate(matrix)?;
    let of_runs = scores.runs.into_iter().filter_map(|run| run.per_query);
    let (mut queries, of_runs): (Vec<Ids>, Vec<_>) =
        of_runs.map(|per_query| (per_query.queries, per_query.values)).unzip();
    Ok(ShownValues { queries: queries.pop().unwrap_or_default(), of_runs })
}

/// Returns a query with its rankings as the measures see them, its values and terms.
fn shown(
    query: PickedQuery,
    evaluator: &Evaluator,
    matrix: &LabelMatrix,
    values: &ShownValues,
) -> Result<ShownQuery> {
    let (book, view) = (matrix.codebook(), evaluator.view());
    // Terms are those of codes, and not of exact grades.
    let measures = evaluator.measures().iter().filter(|_| book.is_exact());
    let recipes = measures.map(|measure| measure.recipe(book)).collect::<Result<Vec<_>>>()?;
    let facts = query
        .judged
        .as_ref()
        .and(matrix.queries().find(&query.id))
        .map(|at| matrix.facts().get(at));
    let place = values.queries.find(&query.id);
    let gold = matrix.span_rows().zip(matrix.queries().find(&query.id)).map(|(spans, at)| {
        let rel = evaluator.measures().first().map_or(1.0, Measure::rel);
        let place = spans.gold_counts.grades().partition_point(|&grade| grade < rel);
        ShownGold { positions: spans.unranked(at).gold(rel), place }
    });
    let mut runs = Vec::new();
    for (run, found) in query.rankings.into_iter().enumerate() {
        let present = found.is_some();
        let mut seen = found.unwrap_or_default();
        // A view cuts a ranking before it drops documents, so a dropped document makes no room.
        seen.truncate(view.depth.map_or(usize::MAX, |depth| depth as usize));
        seen.retain(|document| !view.judged_only || document.grade.is_some());
        let codes: Vec<u8> = seen.iter().map(|document| document.code).collect();
        let values = place
            .map_or(Vec::new(), |at| values.of_runs[run].iter().map(|column| column[at]).collect());
        let mut own = GradeHistograms::new();
        own.push(codes.iter().copied().filter(|&code| CodesAbove::IN_QRELS.contains(code)));
        let known = if evaluator.uses_all_judged() { facts } else { facts.map(|_| own.get(0)) };
        let terms = known
            .map_or(Vec::new(), |facts| measure_terms(evaluator, book, &recipes, &codes, facts));
        let ranking = (1..)
            .zip(seen)
            .map(|(rank, document)| RankedDocument::new(rank, document, gold))
            .collect();
        runs.push(ShownRun { present, ranking, values, terms });
    }
    let judged = query.judged.map(|judged| {
        let shown = judged.into_iter().map(|(docno, grade)| match grade {
            ..0.0 => (docno, ShownJudgment::Negative),
            _ => (docno, ShownJudgment::Grade(grade)),
        });
        shown.collect()
    });
    Ok(ShownQuery { judged, gold: gold.map(|gold| gold.positions), runs, id: query.id })
}

/// Returns the contributions of ranks to each measure for one ranking; `None` for a measure that is
/// no sum over ranks.
fn measure_terms(
    evaluator: &Evaluator,
    book: &Codebook,
    recipes: &[Recipe],
    codes: &[u8],
    facts: GradeHistogram<'_>,
) -> Vec<Option<RankTerms>> {
    // Recipes are missing if the grades have no codes.
    let recipes = recipes.iter().map(Some).chain(std::iter::repeat(None));
    let terms = evaluator.measures().iter().zip(recipes).map(|(measure, recipe)| {
        terms::terms(recipe?, codes, facts).filter(|_| {
            // A value that is put in the place of the formula's has no terms.
            let replaced = measure.no_relevant() != NoRelevant::Zero
                && measure.relevance(book).is_ok_and(|relevance| relevance.value_for(facts) == 0.0);
            evaluator.is_in_order() && !replaced
        })
    });
    terms.collect()
}

/// Returns the error for a query that is neither in the qrels nor in a run. It names the nearest
/// ids.
fn nowhere(id: &[u8], matrix: &LabelMatrix) -> Error {
    /// The maximum number of named ids.
    const NEAREST: usize = 5;
    /// The most bytes of an id that is compared with others, because comparing takes room for each
    /// pair of characters.
    const LONGEST: usize = 200;
    let name = printable(id);
    let ignored = matrix.runs().iter().flat_map(|run| run.ignored.ids.iter());
    let mut near: Vec<(usize, &[u8])> = matrix
        .queries()
        .iter()
        .chain(ignored)
        .filter(|other| name.len().max(other.len()) <= LONGEST)
        .map(|other| (strsim::damerau_levenshtein(&name, &String::from_utf8_lossy(other)), other))
        .filter(|&(distance, other)| distance <= name.len().max(other.len()) / 2)
        .collect();
    near.sort_unstable();
    near.dedup();
    let near: Vec<String> =
        near.into_iter().take(NEAREST).map(|(_, other)| printable(other)).collect();
    let others = if near.is_empty() {
        let some: Vec<String> = matrix.queries().iter().take(NEAREST).map(printable).collect();
        format!("there are {}", some.join(", "))
    } else {
        format!("the nearest are {}", near.join(", "))
    };
    Error::Unanswerable(format!("query {name} is neither judged nor in a run: {others}"))
}
