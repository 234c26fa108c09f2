//! The computation of pools: the documents that each run contributed to the judgments, and its
//! values when left out.

use std::collections::HashMap;

use super::owners::{Contributor, owners};
use super::pool_runs::PoolHits;
use super::reduced::{RunAverages, averages};
use super::{LeaveOneOut, PoolLoss, PoolOptions, PooledRun, Pools};
use crate::compare::agreement::tau_b;
use crate::error::{Result, printable, unanswerable};
use crate::evaluate::Evaluator;
use crate::matrix::LabelMatrix;
use crate::measure::{Direction, Measure};
use crate::stats::rounding::snap_equal;

/// The lowest grade of the relevant documents.
const RELEVANT: f64 = 1.0;

/// The shares of judged documents that are told of each run.
const JUDGED: [&str; 2] = ["Judged@10", "Judged@100"];

/// The judged documents of all runs, the team of each run, and the only contributor of each
/// document.
struct PoolBuilder {
    found: PoolHits,
    depth: u32,
    /// The number of the team of each run, and the names of the teams.
    team: Vec<u32>,
    teams: Vec<String>,
    /// The owner of each judged document among runs.
    of_runs: Vec<Contributor>,
}

/// The averages of all runs without the judgments that only one team contributed, and counts of
/// removed judgments.
struct WithoutTeam {
    averages: RunAverages,
    /// The numbers of removed judgments, and of queries left without judgments.
    removed: u64,
    queries_lost: u64,
}

impl Pools {
    /// Counts the judged documents that each run of a matrix contributed, and evaluates all runs
    /// with each left out. The runs of the matrix must be joined with
    /// [`Qrels::numbered`](crate::Qrels::numbered) judgments.
    ///
    /// Values have the bits of an evaluation with a file of the remaining judgments. The time is
    /// that of one evaluation of all runs for each run, and the memory is eight bytes for each
    /// retrieved judged document of a run.
    ///
    /// # Errors
    /// A matrix without numbered documents; fewer than two runs, or teams; a run that shares no
    /// judged query with another; no judged document among the first ones of any run. Otherwise as
    /// [`Evaluator::evaluate`].
    pub fn new(matrix: LabelMatrix, evaluator: &Evaluator, options: &PoolOptions) -> Result<Self> {
        let pooling = PoolBuilder::new(PoolHits::from_matrix(matrix)?, options)?;
        let evaluator = evaluator.clone().with_per_query(false).with_stats([]);
        let measures = evaluator.measures();
        let judged = JUDGED.map(str::parse::<Measure>).into_iter().collect::<Result<Vec<_>>>()?;
        let shares = averages(&pooling.found, &evaluator.clone().with_measures(judged), |_| false)?;
        let with = averages(&pooling.found, &evaluator, |_| false)?;
        let of_teams = owners(&pooling.found, pooling.depth, &pooling.team);
        let without = (0..pooling.teams.len() as u32)
            .map(|team| pooling.without(&evaluator, &of_teams, team))
            .collect::<Result<Vec<_>>>()?;
        let mut runs = Vec::new();
        for (run, &team) in pooling.team.iter().enumerate() {
            let without = &without[team as usize];
            let left_out = measures.iter().enumerate().map(|(at, measure)| LeaveOneOut {
                value: with[run][at],
                without: without.averages[run][at],
                rank: rank(&with, run, at, measure),
                rank_without: rank(&without.averages, run, at, measure),
            });
            runs.push(PooledRun {
                team: options.teams.as_ref().map(|_| pooling.teams[team as usize].clone()),
                judged_share: [shares[run][0], shares[run][1]],
                removed: without.removed,
                queries_lost: without.queries_lost,
                left_out: left_out.collect(),
                ..pooling.contribution(run)
            });
        }
        let losses =
            measures.iter().enumerate().map(|(at, measure)| loss(&runs, at, measure)).collect();
        Ok(Self { measures: measures.to_vec(), runs, losses, ..pooling.whole() })
    }
}

impl PoolBuilder {
    fn new(found: PoolHits, options: &PoolOptions) -> Result<Self> {
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
        let alone: Vec<u32> = (0..found.runs.len() as u32).collect();
        let of_runs = owners(&found, depth, &alone);
        let wrong = if found.runs.len() < 2 {
            "a pool takes two runs or more: of a single one every document is unique".to_owned()
        } else if let [team] = &teams[..] {
            let name = printable(team.as_bytes());
            format!("all runs are of the team {name}: a pool takes two teams or more")
        } else if let Some(run) = apart(&found) {
            let name = printable(found.runs[run].name.as_bytes());
            format!("{name} has no judged query in common with another run")
        } else if of_runs.iter().all(|&owner| owner == Contributor::Nobody) {
            format!("the pool is empty: no judged document is among the first {depth} of any run")
        } else {
            return Ok(Self { found, depth, team, teams, of_runs });
        };
        unanswerable(wrong)
    }

    /// Evaluates all runs without the judgments that only one team contributed.
    fn without(
        &self,
        evaluator: &Evaluator,
        of_teams: &[Contributor],
        team: u32,
    ) -> Result<WithoutTeam> {
        let is_out = |document: usize| of_teams[document] == Contributor::One(team);
        let lost = (0..self.found.queries.len())
            .filter(|&query| self.found.facets.documents(query).all(is_out));
        Ok(WithoutTeam {
            averages: averages(&self.found, evaluator, is_out)?,
            removed: (0..of_teams.len()).filter(|&document| is_out(document)).count() as u64,
            queries_lost: lost.count() as u64,
        })
    }

    /// Counts the judged, relevant and unique documents of a run down to the depth of the pool.
    /// Fields that are not counts of documents stay empty.
    fn contribution(&self, run: usize) -> PooledRun {
        let (mut judged, mut relevant, mut unique, mut unique_relevant) = (0, 0, 0, 0);
        self.found.each_within(run, self.depth, |document| {
            let is_relevant = u64::from(self.found.grades[document] >= RELEVANT);
            let is_unique = u64::from(self.of_runs[document] == Contributor::One(run as u32));
            judged += 1;
            relevant += is_relevant;
            unique += is_unique;
            unique_relevant += is_unique * is_relevant;
        });
        PooledRun {
            name: self.found.runs[run].name.clone(),
            team: None,
            judged,
            relevant,
            unique,
            unique_relevant,
            judged_share: [None; 2],
            judged_to: self.found.judged_depth(run),
            removed: 0,
            queries_lost: 0,
            left_out: Vec::new(),
        }
    }

    /// Counts the judged, relevant and pooled documents of all runs together, with an empty list of
    /// runs.
    fn whole(&self) -> Pools {
        let (mut relevant, mut pooled, mut pooled_relevant) = (0, 0, 0);
        for (&grade, &owner) in self.found.grades.iter().zip(&self.of_runs) {
            let is_relevant = u64::from(grade >= RELEVANT);
            let is_pooled = u64::from(owner != Contributor::Nobody);
            relevant += is_relevant;
            pooled += is_pooled;
            pooled_relevant += is_pooled * is_relevant;
        }
        Pools {
            depth: self.depth,
            measures: Vec::new(),
            queries: self.found.queries.len() as u64,
            judged: self.found.judged() as u64,
            relevant,
            pooled,
            pooled_relevant,
            runs: Vec::new(),
            losses: Vec::new(),
        }
    }
}

/// Returns the index of the first run that shares no judged query with another run.
fn apart(found: &PoolHits) -> Option<usize> {
    let mut shares = vec![false; found.runs.len()];
    for query in 0..found.queries.len() {
        let runs = 0..found.runs.len();
        let runs: Vec<usize> =
            runs.filter(|&run| found.depths[found.row(run, query)] > 0).collect();
        if runs.len() > 1 {
            runs.into_iter().for_each(|run| shares[run] = true);
        }
    }
    shares.iter().position(|shares| !shares)
}

/// Returns the rank of a run under a measure, from 1; runs that are equal within rounding share the
/// best rank.
fn rank(averages: &RunAverages, run: usize, at: usize, measure: &Measure) -> Option<u32> {
    let sign = sign(measure)?;
    let own = averages[run][at]?;
    let known: Vec<f64> = averages.iter().filter_map(|values| values[at]).collect();
    // Settling changes values, so the own value is read again from its place.
    let settled = snap_equal(&known);
    let own = settled[known.iter().position(|&value| value == own)?];
    Some(1 + settled.iter().filter(|&&value| sign * value > sign * own).count() as u32)
}

/// Returns the direction of a measure: 1 if higher is better, −1 if lower is, and `None` if neither
/// is.
fn sign(measure: &Measure) -> Option<f64> {
    match measure.definition().better {
        Direction::Higher => Some(1.0),
        Direction::Lower => Some(-1.0),
        Direction::Neither => None,
    }
}

/// Sums up the losses of all runs under a measure: mean loss, largest loss, and τ between the
/// orders of runs.
fn loss(runs: &[PooledRun], at: usize, measure: &Measure) -> PoolLoss {
    let sign = sign(measure);
    let effects = runs.iter().map(|run| run.left_out[at]);
    // Adding 0 turns −0 into 0.
    let losses: Vec<(f64, usize)> = effects
        .clone()
        .enumerate()
        .filter_map(|(run, effect)| Some((-sign? * effect.delta()? + 0.0, run)))
        .collect();
    let sum: f64 = losses.iter().map(|(loss, _)| loss).sum();
    // Of equal ones the first run has the largest.
    let largest =
        losses.iter().copied().reduce(|most, next| if next.0 > most.0 { next } else { most });
    let (values, without): (Vec<f64>, Vec<f64>) =
        effects.filter_map(|effect| effect.value.zip(effect.without)).unzip();
    PoolLoss {
        mean: (!losses.is_empty()).then(|| sum / losses.len() as f64),
        largest,
        tau_b: tau_b(&values, &without),
    }
}
