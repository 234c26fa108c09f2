//! From text to labels: qrels and runs are read, joined and ranked in one pass.
//!
//! ```text
//! input, compression   a file is mapped, a stream decompressed; gzip and zstd are told from their content
//! chunks               pieces for the workers, cut between queries
//! scan, number         lines, fields, scores
//! record               a line as 32 bytes: sort key, hash of the docno, where the docno lies
//! judged, qrels        the judged documents of each query as a small hash table
//! rank, run            the records of a query → duplicates, order, labels
//! scatter              the way round for lines in any order
//! findings             the problems of all lines, in the order of the lines
//! ```
//!
//! What lines may look like is decided by a dialect (see `dialect`); the result depends neither on the number of threads nor on
//! where the text is cut.
//!
//! The formats, with fields between blanks, blank lines and lines that start with `#` skipped:
//!
//! ```text
//! qrels   query iter docno grade                  a grade < 0: pooled, but not judged
//! run     query iter docno rank score tag …       the rank is ignored: scores are sorted
//! ```

mod chunks;
mod compression;
mod dialect;
mod findings;
mod input;
mod judged;
mod names;
mod number;
mod qrels;
mod rank;
mod record;
mod run;
mod scan;
mod scatter;

use std::num::NonZeroU32;

use rayon::prelude::*;

use crate::error::{Error, Problems, Result};
use crate::label::{LabelMatrix, MatrixBuilder, RankingRule, ScoreType, StagedRun, Ties};

use chunks::ChunkSize;
use dialect::Dialect;

pub use input::{Input, names};
pub use qrels::Qrels;

/// How runs are joined with judgments.
///
/// ```
/// use laneval::ingest::{Input, Join};
/// let text = |name: &str, text: &str| Input::Bytes { name: name.into(), bytes: text.into() };
/// let qrels = text("qrels", "q1 0 d1 1\nq1 0 d2 0\n");
/// let run = text("bm25", "q1 Q0 d9 1 2.5 tag\nq1 Q0 d1 2 1.5 tag\n");
/// let matrix = Join::default().files(qrels, [run])?;
/// assert_eq!(matrix.depths(), [2]);
/// assert_eq!(matrix.tile(0).lane(0).take(2).collect::<Vec<_>>(), [1, 4]); // not in the qrels; grade 1
/// # Ok::<(), laneval::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Join {
    /// The order of equal scores.
    pub ties: Ties,
    /// The type in which scores are compared.
    pub score: ScoreType,
    /// Keep the first so many ranks of every ranking.
    pub depth: Option<NonZeroU32>,
}

impl Join {
    /// Reads qrels and runs of text.
    ///
    /// The lines of a run may be in any order; it is fastest, and needs no memory a line, where those of a query are together.
    /// Queries that the qrels lack are counted ([`RunInfo::ignored`]); those that a run lacks have depth 0 in it.
    /// Runs are named by [`names`].
    ///
    /// # Errors
    /// An input that cannot be read or decompressed; the problems of all lines of all inputs, among them documents that are twice in a
    /// ranking or judged twice; an input without lines; a run without a query of the qrels.
    ///
    /// [`RunInfo::ignored`]: crate::label::RunInfo::ignored
    pub fn files(
        &self,
        qrels: impl Into<Input>,
        runs: impl IntoIterator<Item = impl Into<Input>>,
    ) -> Result<LabelMatrix> {
        self.files_in_chunks(qrels.into(), runs.into_iter().map(Into::into).collect(), ChunkSize::default())
    }

    fn files_in_chunks(&self, qrels: Input, runs: Vec<Input>, size: ChunkSize) -> Result<LabelMatrix> {
        let names = names(&runs);
        if runs.iter().chain([&qrels]).filter(|input| **input == Input::Stdin).count() > 1 {
            return Err(Error::Unanswerable("the standard input can be only one of the inputs".to_owned()));
        }
        let qrels = qrels.open()?;
        let runs = runs.into_iter().map(Input::open).collect::<Result<Vec<_>>>()?;
        let (qrels, problems) = qrels::read(&qrels, Dialect::LANEVAL, size)?;
        let joining = run::Joining { qrels: &qrels, rule: self.rule(), dialect: Dialect::LANEVAL };
        let read: Vec<_> = runs.par_iter().map(|opened| run::read(opened, joining, size)).collect();
        let mut staged = read.into_iter().collect::<Result<Vec<_>>>()?;
        for ((run, _), name) in staged.iter_mut().zip(names) {
            run.info.name = name;
        }
        let staged = sound(problems, staged)?;
        finish(qrels.into_matrix(self.rule()), staged)
    }

    /// Joins runs in memory: of each a name and its results (query, docno, score) in any order.
    ///
    /// ```
    /// use laneval::ingest::{Join, Qrels};
    /// let qrels = Qrels::new([("q1", "d1", 1.0)])?;
    /// let run = [("q1", "d1", 0.5), ("q1", "d7", 0.25), ("q2", "d7", 0.5)];
    /// let matrix = Join::default().rankings(&qrels, [("mine".to_owned(), run)])?;
    /// assert_eq!(matrix.runs()[0].ignored.count, 1);
    /// # Ok::<(), laneval::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Join::files`]; the file of a problem is the name of the run, its line the number of the result, from 1.
    pub fn rankings<Q: AsRef<[u8]>, D: AsRef<[u8]>>(
        &self,
        qrels: &Qrels,
        runs: impl IntoIterator<Item = (String, impl IntoIterator<Item = (Q, D, f64)>)>,
    ) -> Result<LabelMatrix> {
        let joining = run::Joining { qrels, rule: self.rule(), dialect: Dialect::LANEVAL };
        let staged = runs.into_iter().map(|(name, results)| run::take(&name, results, joining)).collect();
        finish(qrels.matrix(self.rule()), sound(Problems::default(), staged)?)
    }

    fn rule(&self) -> RankingRule {
        RankingRule { ties: self.ties, score: self.score, depth: self.depth.map(NonZeroU32::get) }
    }
}

/// The runs, if nothing is wrong with them and the qrels.
fn sound(qrels: Problems, staged: Vec<(StagedRun, Problems)>) -> Result<Vec<StagedRun>> {
    let (runs, problems): (Vec<StagedRun>, Vec<Problems>) = staged.into_iter().unzip();
    let all = findings::join([qrels].into_iter().chain(problems));
    if all.first.is_empty() { Ok(runs) } else { Err(Error::Input(all)) }
}

fn finish(mut matrix: MatrixBuilder, runs: Vec<StagedRun>) -> Result<LabelMatrix> {
    runs.into_iter().for_each(|run| matrix.push(run));
    matrix.finish()
}
