//! Notes that a reader of the scores must know: missing queries, ignored queries, and notices.

use std::collections::BTreeMap;
use std::fmt::Display;

use crate::error::printable;
use crate::matrix::Notice;
use crate::scores::{RunScores, Scores};

/// A line about one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// A note.
    Note(String),
    /// A warning: the scores are probably not what was asked for.
    Warning(String),
}

impl Note {
    /// Makes a note from a notice, with `name` in front.
    fn of(notice: &Notice, name: String) -> Self {
        let text = format!("{name}{notice}");
        if notice.is_warning() { Note::Warning(text) } else { Note::Note(text) }
    }
}

/// Makes one line for each run whose queries differ from the judged queries, and one line for each
/// notice. A run with scores of groups alone gets the line of the group with the most missing
/// queries.
pub fn notes(scores: &Scores) -> Vec<Note> {
    let all = scores.notices.iter().map(|notice| Note::of(notice, String::new()));
    let of_runs = speakers(&scores.runs).into_iter();
    let of_runs =
        of_runs.flat_map(|run| note(run).into_iter().chain(tied(run)).chain(noticed(run)));
    all.chain(of_runs).collect()
}

/// Returns the scores to make notes of: the whole runs, or else one group of each run.
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
    let name = printable(run.name.as_bytes());
    run.notices.iter().map(move |notice| Note::of(notice, format!("{name}: ")))
}

fn tied(run: &RunScores) -> Option<Note> {
    let ties = run.ties?;
    let name = printable(run.name.as_bytes());
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

/// The ids of `count` queries behind the word for them: `queries q1, q7`.
fn in_words(count: u64, ids: impl Display) -> String {
    format!("{} {ids}", if count == 1 { "query" } else { "queries" })
}

fn note(run: &RunScores) -> Option<Note> {
    let missing = run.missing.count;
    let judged = run.queries as u64 + if run.filled { 0 } else { missing };
    let present = judged.saturating_sub(missing);
    let few = present * 2 < judged;
    let fate = |one: bool| match (run.filled, one) {
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
             {} ({ids})",
            fate(false)
        )),
        1 => parts.push(format!("1 judged query is not in the run and {} ({ids})", fate(true))),
        _ => parts.push(format!(
            "{missing} judged queries are not in the run and {} \
                                 ({ids})",
            fate(false)
        )),
    }
    let ids = in_words(run.ignored.count, &run.ignored);
    match run.ignored.count {
        0 => {}
        1 => parts.push(format!("1 query of the run is not judged and was ignored ({ids})")),
        count => parts
            .push(format!("{count} queries of the run are not judged and were ignored ({ids})")),
    }
    let group = run.group.as_ref().map(|group| format!(", {}", printable(group.as_bytes())));
    let name = printable(run.name.as_bytes()) + &group.unwrap_or_default();
    let text = format!("{name}: {}", parts.join("; "));
    match parts.is_empty() {
        true => None,
        false if few => Some(Note::Warning(text)),
        false => Some(Note::Note(text)),
    }
}
