//! The owner of each judged document: the only run, or the only team, with the document down to the
//! depth of the pool.

use super::found::FoundDocuments;

/// The owner of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// No given run has the document: a run outside the input brought the document.
    Nobody,
    /// Only this run, or this team, has the document.
    One(u32),
    /// Several runs, or several teams, have the document.
    Several,
}

/// Finds the owner of each judged document within a depth; `team` is the number of the team of each
/// run.
pub fn owners(found: &FoundDocuments, depth: u32, team: &[u32]) -> Vec<Owner> {
    let mut owners = vec![Owner::Nobody; found.judged()];
    for (run, &team) in team.iter().enumerate() {
        found.each_within(run, depth, |document| {
            let owner = &mut owners[document];
            *owner = match *owner {
                Owner::Nobody => Owner::One(team),
                Owner::One(other) if other == team => Owner::One(team),
                Owner::One(_) | Owner::Several => Owner::Several,
            };
        });
    }
    owners
}
