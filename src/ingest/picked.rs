//! A few queries alone, with their documents: what a join makes of them, and what it forgets otherwise.
//!
//! All lines are looked at, as ever, but of the other queries nothing is kept: not even a document that is twice in one of their rankings
//! is found.

use std::sync::atomic::AtomicBool;

use rayon::prelude::*;

use super::chunks::ChunkSize;
use super::diagnostics::RunProblems;
use super::doc_table::Shelf;
use super::group::{Scattered, each_query};
use super::hash::Seed;
use super::input::{Input, RunInput, run_names};
use super::rank::Ranker;
use super::reader::{Source, TextSource};
use super::record::{Docnos, Record, score_of_key};
use super::run::{self, Joining, Rankings, Results};
use super::{Join, OpenedRun, finish, sound, stdin_once};
use crate::error::Result;
use crate::label::{LabelMatrix, StagedRun};

/// A retrieved document at its rank.
#[derive(Debug, Clone, PartialEq)]
pub struct Retrieved {
    /// Its id.
    pub docno: Vec<u8>,
    /// Its score as it is compared: rounded where scores are compared as f32.
    pub score: f64,
    /// The code of its grade.
    pub code: u8,
    /// How many documents of the run have this score, itself included; among them are those behind the ranks that are kept.
    pub tied: u32,
}

/// A query with all its documents.
#[derive(Debug, Clone, PartialEq)]
pub struct PickedQuery {
    /// Its id.
    pub id: Vec<u8>,
    /// The documents that the qrels name for it with their codes, by id; `None` where they do not have the query.
    pub judged: Option<Vec<(Vec<u8>, u8)>>,
    /// Its ranking in each run, `None` where a run lacks it.
    pub rankings: Vec<Option<Vec<Retrieved>>>,
}

/// Queries with all their documents, and the matrix of their rankings, in which all other queries are missing.
#[derive(Debug)]
pub struct Picked {
    /// The queries in the order asked for.
    pub queries: Vec<PickedQuery>,
    /// The matrix.
    pub matrix: LabelMatrix,
}

/// The queries that are picked. Those without judgments are numbered behind those of the qrels.
#[derive(Debug)]
pub(super) struct Picks {
    ids: Vec<Vec<u8>>,
    judged: u32,
}

impl Picks {
    /// The number of a query, which is `judged` in the qrels, if it is picked.
    pub fn number(&self, id: &[u8], judged: Option<u32>) -> Option<u32> {
        let place = self.ids.iter().position(|picked| picked == id)?;
        Some(judged.unwrap_or(self.judged + place as u32))
    }
}

/// A run of which some queries were picked: their rankings by number.
type PickedRun = (Vec<(u32, Vec<Retrieved>)>, (StagedRun, RunProblems));

impl Join {
    /// Reads qrels and runs as [`Join::files`] does, and keeps these queries, with their documents.
    ///
    /// # Errors
    /// As [`Join::files`], but for documents that are twice in the ranking of another query.
    #[doc(hidden)]
    pub fn picked(&self, qrels: Input, runs: Vec<RunInput>, queries: &[Vec<u8>]) -> Result<Picked> {
        self.picked_in_chunks(qrels, runs, queries, ChunkSize::default())
    }

    fn picked_in_chunks(
        &self,
        qrels: Input,
        runs: Vec<RunInput>,
        queries: &[Vec<u8>],
        size: ChunkSize,
    ) -> Result<Picked> {
        let names = run_names(&runs)?;
        stdin_once(runs.iter().map(|run| &run.input).chain([&qrels]))?;
        let qrels = qrels.open(self.access)?;
        let runs = self.open(runs, names)?;
        let (qrels, problems) = self.qrels_of(&qrels, &runs, size, Seed::random())?;
        let picks = Picks { ids: queries.to_vec(), judged: qrels.queries().len() as u32 };
        let joining = self.joining(&qrels);
        let read = |run: &OpenedRun| match &run.foreign {
            None => {
                read(&TextSource { text: &run.text, size, watch: self.watch() }, &run.name, joining, &picks)
            }
            Some(foreign) => Ok((Vec::new(), (StagedRun::default(), run.problems(foreign)))),
        };
        let read: Vec<PickedRun> = runs.par_iter().map(read).collect::<Result<_>>()?;
        let (mut found, staged): (Vec<_>, Vec<_>) = read.into_iter().unzip();
        let staged = sound(problems, staged, &qrels)?;
        let mut of_query = |id: &Vec<u8>| {
            let judged = qrels.query(id);
            let number = picks.number(id, judged);
            let of_run = |found: &mut Vec<(u32, Vec<Retrieved>)>| {
                let at = found.iter().position(|(query, _)| Some(*query) == number)?;
                Some(found.swap_remove(at).1)
            };
            let rankings = found.iter_mut().map(of_run).collect();
            PickedQuery { id: id.clone(), judged: judged.map(|query| qrels.documents(query)), rankings }
        };
        let queries = queries.iter().map(&mut of_query).collect();
        Ok(Picked { queries, matrix: finish(qrels.into_matrix(self.rule()), staged)? })
    }
}

/// Reads a run of this name.
fn read(source: &impl Source, name: &str, joining: Joining<'_>, picks: &Picks) -> Result<PickedRun> {
    let (qrels, count) = (joining.qrels, picks.judged as usize + picks.ids.len());
    let worker = || (Results::new(joining).of(picks), Scattered::new(count).of(source.whole()));
    let (read, scattered) = source.read(&AtomicBool::new(false), qrels.seed(), worker)?;
    let ranking = || Ranking {
        rankings: Rankings::new(joining, false),
        plain: Ranker::new(joining.rule, false),
        picks,
        found: Vec::new(),
    };
    let rankings = each_query(scattered, source.whole(), joining.watch, ranking, Ranking::rank);
    let (found, rankings): (Vec<_>, Vec<_>) =
        rankings.into_iter().map(|ranking| (ranking.found, ranking.rankings)).unzip();
    Ok((found.concat(), run::finish(read, rankings, name, source, joining)))
}

/// What one worker makes of the queries.
struct Ranking<'a> {
    rankings: Rankings<'a>,
    /// Ranks without leaving a trace.
    plain: Ranker,
    picks: &'a Picks,
    found: Vec<(u32, Vec<Retrieved>)>,
}

impl Ranking<'_> {
    /// Ranks the results of a query, once for the matrix and once with their documents.
    fn rank(&mut self, records: &[Record], docnos: Docnos<'_>) {
        let Ranking { rankings, plain, picks, found } = self;
        let query = records[0].query;
        let unjudged = query.checked_sub(picks.judged).map(|place| &picks.ids[place as usize]);
        let mut codes = Vec::new();
        let id = match unjudged {
            Some(id) => {
                let mut nothing = Shelf::default();
                let table = nothing.table(0, 0);
                plain.rank(id, records, docnos, (&nothing, table), &mut codes, &mut rankings.findings);
                rankings.ranker.wrong_ranks.merge(std::mem::take(&mut plain.wrong_ranks));
                id
            }
            None => {
                let first = rankings.staged.labels.len();
                rankings.rank(records, docnos);
                codes.extend_from_slice(&rankings.staged.labels[first..]);
                rankings.id(query)
            }
        };
        let ordered = if codes.is_empty() { Vec::new() } else { plain.ordered(id, records, docnos) };
        let tied = ordered.chunk_by(|one, next| one.key == next.key);
        let tied = tied.flat_map(|tied| std::iter::repeat_n(tied.len() as u32, tied.len()));
        let documents = ordered.iter().zip(tied).zip(codes).map(|((record, tied), code)| Retrieved {
            docno: docnos.of(record).to_vec(),
            score: score_of_key(record.key),
            code,
            tied,
        });
        found.push((query, documents.collect()));
    }
}
