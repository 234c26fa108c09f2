//! Comparisons of runs within groups of queries (`--group-by`), and by each judge (`--judges
//! each`).

use std::collections::HashSet;

use laneval::compare::{Comparison, Gate};
use laneval::error::printable;
use laneval::internals::{Evaluation, Timing};
use laneval::report::{ComparedGroup, Note};
use laneval::{Evaluator, Groups, LabelMatrix, ProgressHandle, Scores};

use super::output;
use crate::{
    cli_error::{CliError, CliResult},
    gates,
    inputs::map_matrices,
    judges, queries,
};

/// The most groups that a note names.
const NAMED: usize = 5;

/// Comparisons of runs, one for each group of queries or each judge, with notes on them.
#[derive(Default)]
pub struct GroupComparisons {
    pub comparisons: Vec<(String, Comparison)>,
    pub notes: Vec<Note>,
}

/// Compares the runs over each group of queries, under the options of the comparison over all
/// queries.
pub fn compare_query_groups(
    groups: &Groups,
    scores: &Scores,
    judged: Option<&Scores>,
    whole: &Comparison,
    watch: Option<&ProgressHandle>,
) -> CliResult<GroupComparisons> {
    let mut result = GroupComparisons::default();
    let mut empty = Vec::new();
    let counts: HashSet<&[u8]> = whole.query_ids().collect();
    let mut grouped: HashSet<&[u8]> = HashSet::new();
    for group in groups.names() {
        let queries: Vec<&[u8]> = groups.queries(group).filter(|id| counts.contains(id)).collect();
        if queries.is_empty() {
            empty.push(printable(group.as_bytes()));
            continue;
        }
        let mut comparison = compare_group(&scores.select(&queries), group, whole, watch)?;
        if let Some(judged) = judged {
            comparison.set_judged_share(&group_scores(judged, group));
        }
        grouped.extend(queries);
        result.comparisons.push((group.to_owned(), comparison));
    }
    if result.comparisons.is_empty() {
        return Err(queries::in_no_group(groups));
    }
    if !empty.is_empty() {
        let noun = if empty.len() == 1 { "group" } else { "groups" };
        let more = if empty.len() > NAMED { ", …" } else { "" };
        empty.truncate(NAMED);
        result.notes.push(Note::Warning(format!(
            "no query of the {noun} {}{more} counts",
            empty.join(", ")
        )));
    }
    let alone = counts.len() - grouped.len();
    if alone > 0 {
        let queries = if alone == 1 { "query is" } else { "queries are" };
        result.notes.push(Note::Note(format!("{alone} of {} {queries} in no group", counts.len())));
    }
    Ok(result)
}

/// Compares the runs by their scores of one group of queries, or of one judge.
fn compare_group(
    scores: &Scores,
    group: &str,
    whole: &Comparison,
    watch: Option<&ProgressHandle>,
) -> CliResult<Comparison> {
    let mut comparison = Comparison::new_with_progress(scores, &whole.options, watch)
        .map_err(|error| placed(error.into(), group))?;
    comparison.group = Some(group.to_owned());
    Ok(comparison)
}

/// Puts the name of the group of queries, or of the judge, before the messages of an error.
fn placed(stop: CliError, group: &str) -> CliError {
    stop.with_context(&format!("{}: ", printable(group.as_bytes())))
}

/// Compares the runs by each judge, over the queries that the judge has judged.
pub fn compare_by_judge(
    evaluator: &Evaluator,
    matrices: &[LabelMatrix],
    whole: &Comparison,
    watch: Option<&ProgressHandle>,
) -> CliResult<GroupComparisons> {
    let mut evaluation = Evaluation::for_matrices(evaluator, matrices)?;
    let mut timing = Timing::default();
    let scores = map_matrices(
        matrices,
        |matrix| judges::evaluate_by_judge(&mut evaluation, matrix, &mut timing),
        Scores::append,
    )?;
    let mut result =
        GroupComparisons { notes: judges::notes(&scores), ..GroupComparisons::default() };
    let names = judges::sorted(scores.runs.iter().filter_map(|run| run.group.as_deref()));
    if let [judge] = names.as_slice() {
        result.notes.push(Note::Warning(format!(
            "all judgments are by one judge, {}: is the second field of the judgments a judge?",
            printable(judge.as_bytes())
        )));
    }
    for name in names {
        let comparison = compare_group(&group_scores(&scores, name), name, whole, watch)?;
        result.comparisons.push((name.to_owned(), comparison));
    }
    Ok(result)
}

/// Returns the scores of one group of queries, or of one judge, as if they were over all queries.
fn group_scores(scores: &Scores, group: &str) -> Scores {
    let mut of_group = Scores::default();
    of_group.measures.clone_from(&scores.measures);
    of_group.settings = scores.settings;
    let runs = scores.runs.iter().filter(|run| run.group.as_deref() == Some(group));
    of_group.runs = runs.cloned().collect();
    of_group.runs.iter_mut().for_each(|run| run.group = None);
    of_group
}

/// Decides for each group of queries the gates (`--fail-if`) that name the group, and those that
/// name none.
///
/// # Errors
/// A gate that cannot be computed, such as a gate of a group in which no query counts.
pub fn check_gates(
    groups: Vec<(String, Comparison)>,
    gates: &[Gate],
) -> CliResult<Vec<ComparedGroup>> {
    gates::check_groups(gates, groups.iter().map(|(name, _)| name.as_str()))?;
    let judged = groups.into_iter().map(|(name, comparison)| {
        let gates = output::check_gates(&comparison, gates).map_err(|stop| placed(stop, &name))?;
        Ok(ComparedGroup { name, comparison, gates })
    });
    judged.collect()
}
