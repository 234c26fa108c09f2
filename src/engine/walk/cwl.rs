//! The walk of C/W/L measures: the mean gain weighted with the chance that the user reaches a rank.
//!
//! C/W/L (Moffat, Bailey, Scholer, Thomas 2015): the value is Σ wᵢ·gᵢ / Σ wᵢ, with w₁ = 1 and wᵢ₊₁
//! = wᵢ·C(i). A measure is defined by its C, a function of the rank, the gain and the gains so far.
//! Rankings are cut or padded to a fixed depth, so Σ wᵢ goes on behind the last document, and most
//! ranks have no gain.
//!
//! Down to the first gain all users are alike: a table by rank (`starts`) has their state, and a
//! query without a gain costs one look-up. From the first gain on
//!
//! * a constant weight (stopping at a target, or p = 1) is added for many ranks in a single step;
//! * a weight of 0 ends the walk, because no later rank changes a sum;
//! * behind the last gain, if the chance is equal at every rank, the loop ends as soon as a weight
//!   no longer changes the sum of weights;
//! * otherwise the walk steps rank by rank, with a product and a sum each, because weights depend
//!   on the gain so far, and no table has these weights.

use super::repeated::add_repeatedly;
use super::walker::{WalkInput, WalkScratch, Walker};
use crate::fold::{CodeTable, Continuation, Patience};
use crate::matrix::Document;

pub(super) struct CwlWalk {
    gain: CodeTable,
    depth: usize,
    goes_on: Continuation,
    /// The chance to go on from each rank, from rank 1, if the chance depends on the rank alone.
    chances: Vec<f64>,
    /// The state of a user after a number of ranks without a gain, by the number of ranks.
    starts: Vec<User>,
}

/// The state of a C/W/L user on the way down a ranking: rank, chance to get there, and gain so far.
#[derive(Debug, Clone, Copy)]
struct User {
    /// The number of ranks passed.
    rank: usize,
    /// The chance to reach this rank.
    weight: f64,
    /// The sum of the chances so far.
    weights: f64,
    /// The gain so far.
    found: f64,
}

impl User {
    const FIRST: User = User { rank: 0, weight: 1.0, weights: 0.0, found: 0.0 };
}

impl CwlWalk {
    pub fn new(gain: CodeTable, depth: usize, goes_on: Continuation, most: usize) -> Self {
        let tabled = depth.min(most);
        let chances = match goes_on {
            Continuation::Unsatisfied(patience) => {
                (1..=tabled).map(|rank| patience.at(rank)).collect()
            }
            _ => Vec::new(),
        };
        let mut rate = Self { gain, depth, goes_on, chances, starts: Vec::new() };
        let starts = std::iter::successors(Some(User::FIRST), |user| Some(rate.step(*user, 0.0)));
        rate.starts = starts.take(tabled + 1).collect();
        rate
    }

    /// Returns the user's chance to go on from a rank (from 1), given the gain there and the gain
    /// so far.
    #[inline]
    fn goes_on(&self, rank: usize, gain: f64, found: f64) -> f64 {
        match self.goes_on {
            Continuation::TargetGain(target) => f64::from(found < target),
            Continuation::Inst(target) => {
                let wait = rank as f64 + 2.0 * target - found;
                ((wait - 1.0) / wait) * ((wait - 1.0) / wait)
            }
            Continuation::Unsatisfied(patience) => {
                let chance = self.chances.get(rank - 1).copied();
                chance.unwrap_or_else(|| patience.at(rank)) * (1.0 - gain)
            }
        }
    }

    /// Moves the user down one rank, whose document has a given gain.
    #[inline]
    fn step(&self, User { rank, weight, weights, found }: User, gain: f64) -> User {
        let (rank, found) = (rank + 1, found + gain);
        User {
            rank,
            found,
            weights: weights + weight,
            weight: weight * self.goes_on(rank, gain, found),
        }
    }

    /// Moves the user down to `rank`, over ranks without a gain.
    #[inline]
    fn pass(&self, mut user: User, rank: usize) -> User {
        // The table may be shallower than the depth: then the loop below goes on from its end.
        if user.rank == 0 && rank > 0 {
            user = self.starts[rank.min(self.starts.len() - 1)];
        }
        match self.goes_on {
            Continuation::TargetGain(_) | Continuation::Unsatisfied(Patience::Same(1.0)) => {
                let weights = add_repeatedly(user.weights, user.weight, (rank - user.rank) as u64);
                User { rank, weights, ..user }
            }
            _ => {
                while user.rank < rank {
                    user = self.step(user, 0.0);
                }
                user
            }
        }
    }

    /// Moves the user down the last ranks of the depth, which have no gain.
    fn finish(&self, mut user: User) -> User {
        match self.goes_on {
            Continuation::Unsatisfied(Patience::Same(p)) if p != 1.0 && user.rank > 0 => {}
            _ => return self.pass(user, self.depth),
        }
        // Weights do not grow: if a weight does not change the sum, the next ones do not change it
        // either.
        while user.rank < self.depth && user.weights + user.weight != user.weights {
            user = self.step(user, 0.0);
        }
        user
    }

    /// Returns the documents of a ranking with a gain, each as its rank (from 0) and its gain.
    fn gains<'a>(&'a self, documents: &'a [Document]) -> impl Iterator<Item = (usize, f64)> + 'a {
        documents
            .iter()
            .map(|document| (document.rank as usize, self.gain[usize::from(document.code)]))
            .take_while(|&(rank, _)| rank < self.depth)
            .filter(|&(_, gain)| gain != 0.0)
    }
}

impl Walker for CwlWalk {
    fn value(&self, row: &WalkInput<'_>, _: &mut WalkScratch) -> f64 {
        let (mut user, mut sum) = (User::FIRST, 0.0);
        for (rank, gain) in self.gains(row.documents) {
            user = self.pass(user, rank);
            sum += user.weight * gain;
            user = self.step(user, gain);
            if user.weight == 0.0 {
                break;
            }
        }
        if user.weight != 0.0 {
            user = self.finish(user);
        }
        // An infinite weight times a gain of 0 is no number in the formula, and was skipped here.
        if user.weights.is_finite() { sum / user.weights } else { self.plainly(row) }
    }
}

impl CwlWalk {
    /// Computes the value of a ranking rank by rank: with an infinite weight a rank without a gain
    /// is no number.
    #[cold]
    fn plainly(&self, row: &WalkInput<'_>) -> f64 {
        let mut gains = self.gains(row.documents).peekable();
        let (mut user, mut sum) = (User::FIRST, 0.0);
        while user.rank < self.depth {
            let gain = gains.next_if(|&(rank, _)| rank == user.rank).map_or(0.0, |(_, gain)| gain);
            sum += user.weight * gain;
            user = self.step(user, gain);
        }
        sum / user.weights
    }
}
