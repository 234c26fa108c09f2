//! Comparisons of groups of queries, and by judge.

use std::collections::HashSet;

use laneval::compare::{Comparison, Gate};
use laneval::error::printable;
use laneval::internals::{Evaluation, Timing};
use laneval::report::{ComparedGroup, Note};
use laneval::{Evaluator, Groups, LabelMatrix, Scores, Watch};

use super::printed;
use crate::gates;
use crate::inputs::of_all;
use crate::judges;
use crate::queries;
use crate::stop::Stop;

/// The most groups that a note names.
const NAMED: usize = 5;

/// Comparisons of groups, and notes on them.
#[derive(Default)]
pub struct GroupsCompared {
    pub comparisons: Vec<(String, Comparison)>,
    pub notes: Vec<Note>,
}

/// Compares the runs over each group of queries, under the options of the comparison over all.
pub fn of_queries(
    groups: &Groups,
    scores: &Scores,
    judged: Option<&Scores>,
    whole: &Comparison,
    watch: Option<&Watch>,
) -> Result<GroupsCompared, Stop> {
    let mut made = GroupsCompared::default();
    let mut empty = Vec::new();
    let counts: HashSet<&[u8]> = whole.query_ids().collect();
    let mut grouped: HashSet<&[u8]> = HashSet::new();
    for group in groups.names() {
        let queries: Vec<&[u8]> = groups.queries(group).filter(|id| counts.contains(id)).collect();
        if queries.is_empty() {
            empty.push(printable(group.as_bytes()));
            continue;
        }
        let mut comparison =
            Comparison::watched(&scores.of_queries(&queries), &whole.options, watch)
                .map_err(|error| placed(error.into(), group))?;
        comparison.group = Some(group.to_owned());
        if let Some(judged) = judged {
            comparison.set_judged(&of_group(judged, group));
        }
        grouped.extend(queries);
        made.comparisons.push((group.to_owned(), comparison));
    }
    if made.comparisons.is_empty() {
        return Err(queries::in_no_group(groups));
    }
    if !empty.is_empty() {
        let of = if empty.len() == 1 { "group" } else { "groups" };
        let more = if empty.len() > NAMED { ", …" } else { "" };
        empty.truncate(NAMED);
        made.notes
            .push(Note::Warning(format!("no query of the {of} {}{more} counts", empty.join(", "))));
    }
    let alone = counts.len() - grouped.len();
    if alone > 0 {
        let queries = if alone == 1 { "query is" } else { "queries are" };
        made.notes.push(Note::Note(format!("{alone} of {} {queries} in no group", counts.len())));
    }
    Ok(made)
}

/// Says in which group, or by which judge, something cannot be compared.
fn placed(stop: Stop, group: &str) -> Stop {
    stop.with_place(&format!("{}: ", printable(group.as_bytes())))
}

/// Compares the runs by each judge, over the queries that the judge has judged.
pub fn of_judges(
    evaluator: &Evaluator,
    matrices: &[LabelMatrix],
    whole: &Comparison,
    watch: Option<&Watch>,
) -> Result<GroupsCompared, Stop> {
    let mut evaluation = Evaluation::of_matrices(evaluator, matrices)?;
    let mut timing = Timing::default();
    let scores = of_all(
        matrices,
        |matrix| judges::each(&mut evaluation, matrix, &mut timing),
        Scores::append,
    )?;
    let mut made = GroupsCompared { notes: judges::notes(&scores), ..GroupsCompared::default() };
    let mut names: Vec<&str> = scores.runs.iter().filter_map(|run| run.group.as_deref()).collect();
    names.sort_unstable();
    names.dedup();
    if let [judge] = names.as_slice() {
        made.notes.push(Note::Warning(format!(
            "all judgments are by one judge, {}: is the second field of the judgments a judge?",
            printable(judge.as_bytes())
        )));
    }
    for name in names {
        let mut comparison = Comparison::watched(&of_group(&scores, name), &whole.options, watch)
            .map_err(|error| placed(error.into(), name))?;
        comparison.group = Some(name.to_owned());
        made.comparisons.push((name.to_owned(), comparison));
    }
    Ok(made)
}

/// Returns the scores of a group as if it were all queries.
fn of_group(scores: &Scores, group: &str) -> Scores {
    let mut of_group = Scores::default();
    of_group.measures.clone_from(&scores.measures);
    (of_group.queries, of_group.view, of_group.tied) = (scores.queries, scores.view, scores.tied);
    let runs = scores.runs.iter().filter(|run| run.group.as_deref() == Some(group));
    of_group.runs = runs.cloned().collect();
    of_group.runs.iter_mut().for_each(|run| run.group = None);
    of_group
}

/// Judges in each group the gates that name the group and the gates without a group.
///
/// # Errors
/// A gate that cannot be computed, such as a gate of a group in which no query counts.
pub fn judged(
    groups: Vec<(String, Comparison)>,
    gates: &[Gate],
) -> Result<Vec<ComparedGroup>, Stop> {
    gates::check_groups(gates, groups.iter().map(|(name, _)| name.as_str()))?;
    let group = |(name, comparison): (String, Comparison)| {
        let gates = printed::judged(&comparison, gates).map_err(|stop| placed(stop, &name))?;
        Ok(ComparedGroup { name, comparison, gates })
    };
    groups.into_iter().map(group).collect()
}
