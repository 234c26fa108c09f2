//! The owner of each judged document: the only run, or the only team, that retrieved the document
//! down to the depth of the pool.

use super::pool_runs::PoolHits;

/// The contributor of a judged document to the pool: one run or team, several, or nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contributor {
    /// No given run has the document: a run outside the input brought the document.
    Nobody,
    /// Only this run, or this team, has the document.
    One(u32),
    /// Several runs, or several teams, have the document.
    Several,
}

/// Finds the only contributor of each judged document within a depth; `team` holds the team number
/// of each run.
pub fn owners(found: &PoolHits, depth: u32, team: &[u32]) -> Vec<Contributor> {
    let mut owners = vec![Contributor::Nobody; found.judged()];
    for (run, &team) in team.iter().enumerate() {
        found.each_within(run, depth, |document| {
            let owner = &mut owners[document];
            *owner = match *owner {
                Contributor::Nobody => Contributor::One(team),
                Contributor::One(other) if other == team => Contributor::One(team),
                Contributor::One(_) | Contributor::Several => Contributor::Several,
            };
        });
    }
    owners
}
