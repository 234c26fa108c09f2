//! The explanation of a query's scores: its rankings with documents, and what each rank adds to
//! each measure.

mod terms;

use crate::Join;
use crate::bytes::input::{Input, RunInput};
use crate::error::{Error, Result, printable};
use crate::evaluate::Evaluator;
use crate::ids::Ids;
use crate::join::picks::{Picked, PickedQuery, Retrieved};
use crate::matrix::code::NEGATIVE;
use crate::matrix::{Above, Facts, LabelMatrix};
use crate::measure::{Measure, OfNothing};
pub use terms::{How, LastLine, RankTerms, Term};

/// The judgment of a document.
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
        of: u64,
    },
}

/// The gold of a query, where results are passages: its number of positions, and the place of the
/// lowest gold grade among all.
#[derive(Clone, Copy)]
struct ShownGold {
    positions: u64,
    place: usize,
}

impl ShownJudgment {
    fn of(document: &Retrieved, gold: Option<ShownGold>) -> Self {
        if let (Some(ShownGold { positions, place }), Some(span)) = (gold, &document.span) {
            return ShownJudgment::Gold {
                new: span.gold.get(place).copied().unwrap_or(0),
                of: positions,
            };
        }
        match document.grade {
            Some(grade) => ShownJudgment::Grade(grade),
            None if document.code == NEGATIVE => ShownJudgment::Negative,
            None => ShownJudgment::None,
        }
    }

    /// Whether it is a grade of at least `level`, or gold.
    pub fn is_relevant(self, level: f64) -> bool {
        match self {
            ShownJudgment::Grade(grade) => grade >= level,
            ShownJudgment::Gold { new, .. } => new > 0,
            ShownJudgment::None | ShownJudgment::Negative => false,
        }
    }
}

/// A document at its rank, as the measures see it.
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
    /// Makes the document at a rank, of a query with this gold.
    fn of(rank: u32, document: Retrieved, gold: Option<ShownGold>) -> Self {
        RankedDocument {
            rank,
            judgment: ShownJudgment::of(&document, gold),
            docno: match &document.span {
                Some(of) => [&document.docno[..], format!(" {}", of.span).as_bytes()].concat(),
                None => document.docno,
            },
            score: document.score,
            tied: document.tied,
        }
    }
}

/// A query in one run.
#[derive(Debug, Clone, PartialEq)]
pub struct InRun {
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

/// A query in all runs.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownQuery {
    /// The id of the query.
    pub id: Vec<u8>,
    /// The documents that the qrels name for the query, by id; `None` if the qrels lack the query.
    pub judged: Option<Vec<(Vec<u8>, ShownJudgment)>>,
    /// The number of gold positions, if the query is judged and results are passages.
    pub gold: Option<u64>,
    /// The query in each run.
    pub runs: Vec<InRun>,
}

/// Queries in some runs, under some measures.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// The names of the runs.
    pub runs: Vec<String>,
    /// The measures.
    pub measures: Vec<Measure>,
    /// The queries in the order asked for, each once.
    pub queries: Vec<ShownQuery>,
}

impl Shown {
    /// Reads qrels and runs, and returns `queries` as an evaluator sees each query; `named` may
    /// rename the runs. The values are those of an evaluation, to the bit.
    ///
    /// # Errors
    /// As [`Join::files`](crate::Join::files) and [`Evaluator::evaluate`], except that a document
    /// may occur twice in the ranking of another query; a query that is neither in the qrels nor in
    /// a run.
    pub fn read(
        join: &Join,
        evaluator: &Evaluator,
        (qrels, runs): (Input, Vec<RunInput>),
        queries: &[Vec<u8>],
        named: impl FnOnce(LabelMatrix) -> Result<LabelMatrix>,
    ) -> Result<Self> {
        let first = |&(at, id): &(usize, &Vec<u8>)| !queries[..at].contains(id);
        let ids: Vec<Vec<u8>> =
            queries.iter().enumerate().filter(first).map(|(_, id)| id.clone()).collect();
        let Picked { queries, matrix } = join.picked(qrels, runs, &ids)?;
        let matrix = named(matrix)?;
        let unknown = |query: &&PickedQuery| {
            query.judged.is_none() && query.rankings.iter().all(Option::is_none)
        };
        if let Some(query) = queries.iter().find(unknown) {
            return Err(nowhere(&query.id, &matrix));
        }
        let values = values(evaluator, &matrix, &queries)?;
        let queries = queries.into_iter().map(|query| shown(query, evaluator, &matrix, &values));
        let queries = queries.collect::<Result<_>>()?;
        let runs = matrix.runs().iter().map(|run| run.name.clone()).collect();
        Ok(Shown { runs, measures: evaluator.measures().to_vec(), queries })
    }
}

/// The values of queries, which are in bytewise order: `[run][measure][query]`.
struct ShownValues {
    queries: Ids,
    of_runs: Vec<Vec<Vec<f64>>>,
}

/// Evaluates the judged queries among `queries`.
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
    let scores = evaluator.clone().with_only(Some(judged)).with_per_query(true).evaluate(matrix)?;
    let of_runs = scores.runs.into_iter().filter_map(|run| run.per_query);
    let (mut queries, of_runs): (Vec<Ids>, Vec<_>) =
        of_runs.map(|of| (of.queries, of.values)).unzip();
    Ok(ShownValues { queries: queries.pop().unwrap_or_default(), of_runs })
}

/// A query as an evaluator sees it.
fn shown(
    query: PickedQuery,
    evaluator: &Evaluator,
    matrix: &LabelMatrix,
    values: &ShownValues,
) -> Result<ShownQuery> {
    let (book, view) = (matrix.book(), evaluator.view());
    // Terms are those of codes, and not of exact grades.
    let measures = evaluator.measures().iter().filter(|_| book.is_exact());
    let recipes = measures.map(|measure| measure.recipe(book)).collect::<Result<Vec<_>>>()?;
    let facts =
        query.judged.as_ref().and(matrix.queries().find(&query.id)).map(|at| matrix.facts().of(at));
    let place = values.queries.find(&query.id);
    let gold = matrix.span_rows().zip(matrix.queries().find(&query.id)).map(|(spans, at)| {
        let rel = evaluator.measures().first().map_or(1.0, Measure::rel);
        let place = spans.of.grades().partition_point(|&grade| grade < rel);
        ShownGold { positions: spans.unranked(at).gold(rel), place }
    });
    let in_run = |(run, found): (usize, Option<Vec<Retrieved>>)| {
        let present = found.is_some();
        let mut seen = found.unwrap_or_default();
        seen.truncate(view.depth.map_or(usize::MAX, |depth| depth as usize));
        seen.retain(|document| !view.judged_only || document.grade.is_some());
        let codes: Vec<u8> = seen.iter().map(|document| document.code).collect();
        let values =
            place.map_or(Vec::new(), |at| values.of_runs[run].iter().map(|of| of[at]).collect());
        let mut own = Facts::new();
        own.push(codes.iter().copied().filter(|&code| Above::POOLED.contains(code)));
        let known = if evaluator.knows_all() { facts } else { facts.map(|_| own.of(0)) };
        let terms = known.map_or(Vec::new(), |facts| {
            let in_order = evaluator.is_in_order();
            // A value that is put in the place of the formula's has no terms.
            let replaced = |measure: &Measure| {
                measure.of_nothing() != OfNothing::Zero
                    && measure.relevance(book).is_ok_and(|relevance| relevance.of(facts) == 0.0)
            };
            let terms = |(recipe, measure): (_, &Measure)| {
                terms::terms(recipe, &codes, facts).filter(|_| in_order && !replaced(measure))
            };
            let none = evaluator.measures().iter().skip(recipes.len()).map(|_| None);
            recipes.iter().zip(evaluator.measures()).map(terms).chain(none).collect()
        });
        let ranked = |(rank, document)| RankedDocument::of(rank, document, gold);
        InRun { present, ranking: (1..).zip(seen).map(ranked).collect(), values, terms }
    };
    let judgment = |(docno, grade)| {
        (docno, if grade < 0.0 { ShownJudgment::Negative } else { ShownJudgment::Grade(grade) })
    };
    Ok(ShownQuery {
        judged: query.judged.map(|judged| judged.into_iter().map(judgment).collect()),
        gold: gold.map(|gold| gold.positions),
        runs: query.rankings.into_iter().enumerate().map(in_run).collect(),
        id: query.id,
    })
}

/// The error of a query that is neither in the qrels nor in a run. It names the nearest ids.
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
    let some = || matrix.queries().iter().take(NEAREST).map(printable).collect::<Vec<_>>();
    let others = if near.is_empty() {
        format!("there are {}", some().join(", "))
    } else {
        format!("the nearest are {}", near.join(", "))
    };
    Error::Unanswerable(format!("query {name} is neither judged nor in a run: {others}"))
}
