//! Parts of comparisons: `laneval compare --partial` writes them, and `laneval merge` combines them.

use std::path::{Path, PathBuf};

use laneval::compare::{Gate, Partial, Shard};
use laneval::report::{Format, Note, notes};
use laneval::{Error, Evaluator, LabelMatrix, Scores, Summary};

use super::{fate, few, judged, write};
use crate::inputs::of_all;
use crate::merge::Merge;
use crate::output::Output;
use crate::page::Origin;
use crate::stop::Stop;
use crate::style::{say, shown};

/// Returns the scores of all matrices, one after the other, with their summary.
pub fn scores(evaluator: &Evaluator, matrices: &[LabelMatrix]) -> Result<(Scores, Summary), Error> {
    let append = |(all, summaries): &mut (Scores, Summary), (scores, summary)| {
        all.append(scores)?;
        summaries.append(&summary)
    };
    of_all(matrices, |matrix| evaluator.evaluate_with_summary(matrix), append)
}

/// Adds all other parts to the first; no more than one of them is in memory.
pub fn merged(first: Partial, files: &[PathBuf]) -> Result<Partial, Stop> {
    let name = |at: usize| shown(&files[at]);
    let mut all = first.from_source(&name(0));
    for (at, file) in files.iter().enumerate().skip(1) {
        let Shard::Comparison(part) = Shard::read(file)? else {
            return Err(mixed(&files[0], file));
        };
        all.merge(&part.from_source(&name(at))).map_err(|error| {
            let before = if at == 1 { name(0) } else { format!("the {at} files before it") };
            Stop::new(format!("{} does not belong to {before}: {error}", name(at)))
        })?;
    }
    Ok(all)
}

/// Makes the error for files of both kinds.
pub fn mixed(comparison: &Path, scores: &Path) -> Stop {
    Stop::new(format!(
        "{} is a part of a comparison, and {} a summary of scores: merge files of one kind",
        shown(comparison),
        shown(scores)
    ))
}

/// Prints the comparison of all queries of some parts.
pub fn report(
    merge: &Merge,
    all: &Partial,
    (format, output, partial): (Format, Output, Option<Output>),
) -> Result<(), Stop> {
    let refused = [
        (
            merge.qrels.is_some(),
            "--qrels adds queries to scores: split the judgments of a comparison as its runs are",
        ),
        (
            merge.written.has_row_options(),
            "--wide and --all-id are of scores: a comparison has rows of its own",
        ),
        (!merge.stats.is_empty(), "--stat is of scores: a comparison has statistics of its own"),
    ];
    if let Some((_, why)) = refused.into_iter().find(|(asked, _)| *asked) {
        return Err(Stop::new(why));
    }
    let comparison = all.comparison()?;
    let loud = |note: &&Note| !merge.quiet || matches!(note, Note::Warning(_));
    let of_scores = notes(&all.summary().scores(&[])?);
    let of_comparison: Vec<Note> = comparison.notes.iter().cloned().map(Note::Note).collect();
    let few = few(&comparison, &merge.fail_if);
    of_scores.iter().chain(&of_comparison).chain(&few).filter(loud).for_each(say);
    let gates = judged(&comparison, &merge.fail_if)?;
    if let Some(partial) = partial {
        let bytes = all.to_bytes();
        partial.write(|to| to.write_all(&bytes))?;
    }
    let look = merge.written.report.options(false);
    write(&comparison, &gates, (format, &look), &Origin::default(), output)?;
    fate(&comparison, &gates)
}

/// Refuses gates that compare with a baseline, which scores do not have.
pub fn check_gates(gates: &[Gate]) -> Result<(), Stop> {
    match gates.iter().find(|gate| gate.compares()) {
        Some(gate) => Err(Stop::new(format!(
            "the gate `{gate}` compares with a baseline, and these are summaries of scores: merge what `laneval compare --partial` wrote"
        ))),
        None => Ok(()),
    }
}
