//! Notes about scores for their reader: missing queries, ignored queries, and notices of the
//! evaluation.

use std::collections::BTreeMap;
use std::fmt::Display;

use crate::matrix::Notice;
use crate::report::run_name::visible;
use crate::scores::{RunScores, Scores};

/// A remark or warning of one line about the scores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// A note.
    Note(String),
    /// A warning: the scores are probably not what was asked for.
    Warning(String),
}

impl Note {
    /// Makes a note or warning from a notice of the evaluation, with the run's `name` in front.
    fn from_notice(notice: &Notice, name: String) -> Self {
        let text = format!("{name}{notice}");
        if notice.is_warning() { Self::Warning(text) } else { Self::Note(text) }
    }
}

/// Returns notes on the scores: a line for each run with missing or ignored queries, and for each
/// notice. A run with scores of groups alone gets the line of the group with the most missing
/// queries.
pub fn notes(scores: &Scores) -> Vec<Note> {
    let all = scores.notices.iter().map(|notice| Note::from_notice(notice, String::new()));
    let of_runs = speakers(&scores.runs).into_iter();
    let of_runs =
        of_runs.flat_map(|run| note(run).into_iter().chain(tied(run)).chain(noticed(run)));
    all.chain(of_runs).collect()
}

/// Selects the scores of each run to make notes of: over all queries, or else over one group of
/// queries. The group is the one that lacks the most queries.
fn speakers(runs: &[RunScores]) -> Vec<&RunScores> {
    let whole: Vec<_> = runs.iter().filter(|run| run.group.is_none()).collect();
    if !whole.is_empty() {
        return whole;
    }
    let mut speakers: BTreeMap<&str, &RunScores> = BTreeMap::new();
    for run in runs {
        let speaker = speakers.entry(&run.name).or_insert(run);
        if run.missing.count > speaker.missing.count {
            *speaker = run;
        }
    }
    speakers.into_values().collect()
}

fn noticed(run: &RunScores) -> impl Iterator<Item = Note> {
    let name = visible(&run.name);
    run.notices.iter().map(move |notice| Note::from_notice(notice, format!("{name}: ")))
}

fn tied(run: &RunScores) -> Option<Note> {
    let ties = run.ties?;
    let name = visible(&run.name);
    Some(Note::Note(format!(
        "{name}: {} documents have equal scores, in {} {} of up to {} documents, {} of them with \
         different labels",
        ties.documents,
        ties.groups,
        if ties.groups == 1 { "tie" } else { "ties" },
        ties.largest,
        ties.mixed
    )))
}

/// Returns ids of queries as text behind the word: `queries q1, q7`, or `query q1`.
fn in_words(count: u64, ids: impl Display) -> String {
    format!("{} {ids}", if count == 1 { "query" } else { "queries" })
}

fn note(run: &RunScores) -> Option<Note> {
    let missing = run.missing.count;
    let judged = run.queries as u64 + if run.filled { 0 } else { missing };
    let present = judged.saturating_sub(missing);
    // Files that do not belong together share few queries.
    let few = present * 2 < judged;
    let fate = match (run.filled, missing == 1 && !few) {
        (true, true) => "counts as an empty ranking",
        (true, false) => "count as empty rankings",
        (false, true) => "is left out",
        (false, false) => "are left out",
    };
    let ids = in_words(missing, &run.missing);
    let mut parts = Vec::new();
    match missing {
        0 => {}
        _ if few => parts.push(format!(
            "has only {present} of {judged} judged queries: are these the right files? The others \
             {fate} ({ids})"
        )),
        1 => parts.push(format!("1 judged query is not in the run and {fate} ({ids})")),
        _ => parts.push(format!("{missing} judged queries are not in the run and {fate} ({ids})")),
    }
    let ids = in_words(run.ignored.count, &run.ignored);
    match run.ignored.count {
        0 => {}
        1 => parts.push(format!("1 query of the run is not judged and was ignored ({ids})")),
        count => parts
            .push(format!("{count} queries of the run are not judged and were ignored ({ids})")),
    }
    let group = run.group.as_ref().map(|group| format!(", {}", visible(group)));
    let name = visible(&run.name) + &group.unwrap_or_default();
    let text = format!("{name}: {}", parts.join("; "));
    match parts.is_empty() {
        true => None,
        false if few => Some(Note::Warning(text)),
        false => Some(Note::Note(text)),
    }
}
