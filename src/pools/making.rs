//! Pools, made of rankings: contributions are counted, and each run, or team, is left out once.

use std::collections::HashMap;

use super::found::FoundDocuments;
use super::owners::{Owner, owners};
use super::reduced::{RunAverages, averages};
use super::{LeftOut, PoolLoss, PoolOptions, PooledRun, Pools};
use crate::compare::agreement::tau_b;
use crate::error::{Error, Result, printable};
use crate::evaluate::Evaluator;
use crate::matrix::LabelMatrix;
use crate::measure::{Better, Measure};
use crate::stats::rounding::settled;

/// The lowest grade of the relevant documents.
const RELEVANT: f64 = 1.0;

/// The shares of judged documents that are told of each run.
const JUDGED: [&str; 2] = ["Judged@10", "Judged@100"];

/// The runs, and who is left out with whom.
struct Pooling {
    found: FoundDocuments,
    depth: u32,
    /// The number of the team of each run, and the names of the teams.
    team: Vec<u32>,
    teams: Vec<String>,
    /// The owner of each judged document among runs.
    of_runs: Vec<Owner>,
}

/// What is left without the documents of a team.
struct WithoutTeam {
    averages: RunAverages,
    /// The numbers of removed judgments, and of queries left without judgments.
    removed: u64,
    queries_lost: u64,
}

impl Pools {
    /// Counts what each run of a matrix brought to the pool, and leaves out each. The runs of the
    /// matrix must be joined with [`Qrels::numbered`](crate::Qrels::numbered) judgments.
    ///
    /// Values have the bits of an evaluation with a file of the remaining judgments. The time is
    /// that of one evaluation of all runs for each run, and the memory is eight bytes for each
    /// retrieved judged document of a run.
    ///
    /// # Errors
    /// A matrix without numbered documents; fewer than two runs, or teams; a run that shares no
    /// judged query with another; no judged document among the first ones of any run. Otherwise as
    /// [`Evaluator::evaluate`].
    pub fn of(matrix: LabelMatrix, evaluator: &Evaluator, options: &PoolOptions) -> Result<Pools> {
        let pooling = Pooling::of(FoundDocuments::of(matrix)?, options)?;
        let evaluator = evaluator.clone().with_per_query(false).with_stats([]);
        let measures = evaluator.measures();
        let judged = JUDGED.map(str::parse::<Measure>).into_iter().collect::<Result<Vec<_>>>()?;
        let shares = averages(&pooling.found, &evaluator.clone().with_measures(judged), |_| false)?;
        let with = averages(&pooling.found, &evaluator, |_| false)?;
        let of_teams = owners(&pooling.found, pooling.depth, &pooling.team);
        let without = |team| pooling.without(&evaluator, &of_teams, team);
        let without = (0..pooling.teams.len() as u32).map(without).collect::<Result<Vec<_>>>()?;
        let run = |run: usize| {
            let without = &without[pooling.team[run] as usize];
            let left_out = measures.iter().enumerate().map(|(at, measure)| {
                let [rank, rank_without] =
                    [&with, &without.averages].map(|of| rank(of, (run, at), measure));
                LeftOut {
                    value: with[run][at],
                    without: without.averages[run][at],
                    rank,
                    rank_without,
                }
            });
            PooledRun {
                team: options
                    .teams
                    .as_ref()
                    .map(|_| pooling.teams[pooling.team[run] as usize].clone()),
                judged_share: [shares[run][0], shares[run][1]],
                removed: without.removed,
                queries_lost: without.queries_lost,
                left_out: left_out.collect(),
                ..pooling.contribution(run)
            }
        };
        let runs: Vec<PooledRun> = (0..pooling.team.len()).map(run).collect();
        let losses =
            measures.iter().enumerate().map(|(at, measure)| loss(&runs, at, measure)).collect();
        Ok(Pools { measures: measures.to_vec(), runs, losses, ..pooling.whole() })
    }
}

impl Pooling {
    fn of(found: FoundDocuments, options: &PoolOptions) -> Result<Self> {
        let depth = options.depth.get();
        let (mut numbers, mut teams, mut team) = (HashMap::new(), Vec::new(), Vec::new());
        for run in &found.runs {
            let name = match &options.teams {
                Some(end) => run.name.split_once(&end[..]).map_or(&run.name[..], |(name, _)| name),
                None => &run.name,
            };
            team.push(*numbers.entry(name).or_insert_with(|| {
                teams.push(name.to_owned());
                teams.len() as u32 - 1
            }));
        }
        drop(numbers);
        let wrong = |message: String| Err(Error::Unanswerable(message));
        if found.runs.len() < 2 {
            return wrong(
                "a pool takes two runs or more: of a single one every document is unique"
                    .to_owned(),
            );
        }
        if teams.len() < 2 {
            let name = printable(teams[0].as_bytes());
            return wrong(format!(
                "all runs are of the team {name}: a pool takes two teams or more"
            ));
        }
        if let Some(run) = apart(&found) {
            let name = printable(found.runs[run].name.as_bytes());
            return wrong(format!("{name} has no judged query in common with another run"));
        }
        let alone: Vec<u32> = (0..found.runs.len() as u32).collect();
        let of_runs = owners(&found, depth, &alone);
        if of_runs.iter().all(|&owner| owner == Owner::Nobody) {
            return wrong(format!(
                "the pool is empty: no judged document is among the first {depth} of any run"
            ));
        }
        Ok(Pooling { found, depth, team, teams, of_runs })
    }

    fn grades(&self) -> &[f64] {
        &self.found.grades
    }

    /// Leaves out a team.
    fn without(&self, evaluator: &Evaluator, of_teams: &[Owner], team: u32) -> Result<WithoutTeam> {
        let is_out = |document: usize| of_teams[document] == Owner::One(team);
        let goes = |query: &usize| self.found.of.documents(*query).all(is_out);
        Ok(WithoutTeam {
            averages: averages(&self.found, evaluator, is_out)?,
            removed: (0..of_teams.len()).filter(|&document| is_out(document)).count() as u64,
            queries_lost: (0..self.found.queries.len()).filter(goes).count() as u64,
        })
    }

    /// Counts the documents of a run. What is not a count is empty.
    fn contribution(&self, run: usize) -> PooledRun {
        let (mut judged, mut relevant, mut unique, mut unique_relevant) = (0, 0, 0, 0);
        self.found.each_within(run, self.depth, |document| {
            let is_relevant = u64::from(self.grades()[document] >= RELEVANT);
            let is_unique = u64::from(self.of_runs[document] == Owner::One(run as u32));
            judged += 1;
            relevant += is_relevant;
            unique += is_unique;
            unique_relevant += is_unique * is_relevant;
        });
        let (name, judged_to) = (self.found.runs[run].name.clone(), self.found.judged_to(run));
        let (team, judged_share, left_out) = (None, [None; 2], Vec::new());
        let (removed, queries_lost) = (0, 0);
        PooledRun {
            name,
            team,
            judged,
            relevant,
            unique,
            unique_relevant,
            judged_share,
            judged_to,
            removed,
            queries_lost,
            left_out,
        }
    }

    /// Counts the documents of all runs together, and leaves the list of runs empty.
    fn whole(&self) -> Pools {
        let relevant = |document: &usize| self.grades()[*document] >= RELEVANT;
        let all = || 0..self.grades().len();
        let pooled = || all().filter(|&document| self.of_runs[document] != Owner::Nobody);
        Pools {
            depth: self.depth,
            measures: Vec::new(),
            queries: self.found.queries.len() as u64,
            judged: self.grades().len() as u64,
            relevant: all().filter(relevant).count() as u64,
            pooled: pooled().count() as u64,
            pooled_relevant: pooled().filter(relevant).count() as u64,
            runs: Vec::new(),
            losses: Vec::new(),
        }
    }
}

/// Returns the first run that shares no query with another.
fn apart(found: &FoundDocuments) -> Option<usize> {
    let has = |run: usize, query: usize| found.depths[found.row(run, query)] > 0;
    let count = |query: usize| (0..found.runs.len()).filter(|&run| has(run, query)).count();
    let shared: Vec<bool> = (0..found.queries.len()).map(|query| count(query) > 1).collect();
    let shares = |&run: &usize| (0..shared.len()).any(|query| shared[query] && has(run, query));
    (0..found.runs.len()).find(|run| !shares(run))
}

/// Returns the rank of a run under a measure, from 1; runs that are equal within rounding share the
/// best rank.
fn rank(averages: &RunAverages, (run, at): (usize, usize), measure: &Measure) -> Option<u32> {
    let sign = sign(measure)?;
    let own = averages[run][at]?;
    let known: Vec<f64> = averages.iter().filter_map(|of| of[at]).collect();
    let settled = settled(&known);
    let own = settled[known.iter().position(|&value| value == own)?];
    Some(1 + settled.iter().filter(|&&value| sign * value > sign * own).count() as u32)
}

/// Returns 1 if higher is better, −1 if lower is, and `None` if neither is.
fn sign(measure: &Measure) -> Option<f64> {
    match measure.definition().better {
        Better::Higher => Some(1.0),
        Better::Lower => Some(-1.0),
        Better::Neither => None,
    }
}

/// Adds up what all runs lose under a measure.
fn loss(runs: &[PooledRun], at: usize, measure: &Measure) -> PoolLoss {
    let sign = sign(measure);
    let of_run = |run: &PooledRun| Some(-sign? * run.left_out[at].delta()? + 0.0);
    let losses: Vec<(f64, usize)> =
        runs.iter().enumerate().filter_map(|(run, of)| Some((of_run(of)?, run))).collect();
    let sum: f64 = losses.iter().map(|(loss, _)| loss).sum();
    // Of equal ones the first run has the largest.
    let largest =
        losses.iter().copied().reduce(|most, next| if next.0 > most.0 { next } else { most });
    let both = |run: &PooledRun| Some((run.left_out[at].value?, run.left_out[at].without?));
    let (values, without): (Vec<f64>, Vec<f64>) = runs.iter().filter_map(both).unzip();
    PoolLoss {
        mean: (!losses.is_empty()).then(|| sum / losses.len() as f64),
        largest,
        tau_b: tau_b(&values, &without),
    }
}
