//! `laneval merge`: combines summaries of shards into the scores of all queries, and parts of a
//! comparison into the whole.

mod parts;

use std::path::{Path, PathBuf};

use clap::Args;
use laneval::compare::{Gate, Partial, Shard};
use laneval::measure::facets_needed;
use laneval::report::{ComparisonReport, Format, Note, notes};
use laneval::{Error, Input, Join, JudgedBy, Stat, Summary};

use super::choice::{distinct, groups, one_of, stats};
use super::compare::printed;
use super::formats::tables;
use super::gates;
use super::inputs::{FileOptions, bytes};
use super::output::Output;
use super::page::PageOrigin;
use super::refused::{self, Wish};
use super::score_output::{ReportOutput, ReportTarget, ScoreOutput};
use super::stop::Stop;
use super::style::{say, shown};
use super::threads::Threads;

const EXAMPLES: &str = "\
Examples:
  laneval eval qrels.1 bm25=run.1 --partial 1.part
  laneval eval qrels.2 bm25=run.2 --partial 2.part
  laneval merge 1.part 2.part

  laneval eval qrels bm25=run.1 --queries both --partial shard-1.part
  laneval merge shard-*.part --qrels qrels --format json -o scores.json

  laneval compare qrels.1 old=old.1 new=new.1 --partial 1.part
  laneval compare qrels.2 old=old.2 new=new.2 --partial 2.part
  laneval merge 1.part 2.part --fail-if 'nDCG@10 drops > 0.005 p<0.05'";

/// Merge the results of shards: scores or comparisons.
///
/// Shards may be merged in any order, and in several steps: the numbers are those of one evaluation
/// of all queries, to the last bit. If the judgments are split like the runs, no option is needed.
/// If each shard is evaluated against all judgments, use --queries both in `eval` and --qrels in
/// `merge`, which adds the judged queries that no shard had. If a run has no judged query in a
/// shard, leave it out there: --qrels adds its queries.
///
/// Each part of a comparison has all runs, and judgments that are split like the runs. Results that
/// need the differences of all queries at once are left out: the exact p of the randomisation test,
/// and the values of queries.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Merge {
    /// Summaries that `laneval eval --partial` wrote, or parts of a comparison that
    /// `laneval compare --partial` wrote
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Judgments, in any format: each judged query that no shard of a run had counts as an empty
    /// ranking
    #[arg(long, value_name = "QRELS")]
    pub qrels: Option<PathBuf>,
    /// The meaning of the second field of these judgments, where a document has several judgments
    /// [default: what the measures need]
    #[arg(long, value_name = "GROUP", requires = "qrels", value_parser = one_of(groups()))]
    judgments_by: Option<JudgedBy>,
    #[command(flatten)]
    access: FileOptions,
    /// Statistics besides the average: std, min, max; a list, or repeated
    #[arg(
        long = "stat", value_name = "STAT", value_delimiter = ',', value_parser = one_of(stats())
    )]
    #[arg(hide_possible_values = true)]
    pub stats: Vec<Stat>,
    /// Exit with code 1 if this holds for a run, such as 'AP < 0.3', or of comparisons as in
    /// `laneval compare`; may be repeated
    #[arg(long, value_name = "GATE", value_parser = gates::parse, help_heading = "Gates")]
    pub fail_if: Vec<Gate>,
    #[command(flatten)]
    pub written: ScoreOutput,
    /// Print no notes on stderr; warnings stay
    #[arg(long, help_heading = "Output")]
    pub quiet: bool,
}

impl Merge {
    /// Runs the command.
    pub fn run(self) -> Result<(), Stop> {
        let inputs: Vec<PathBuf> = self.files.iter().chain(&self.qrels).cloned().collect();
        Threads::default().install_for(bytes(&inputs), || self.merge(&inputs))
    }

    fn merge(&self, inputs: &[PathBuf]) -> Result<(), Stop> {
        let targets = self.written.targets(inputs)?;
        let own = [(Wish::Merge, true), (Wish::NoGates, self.fail_if.is_empty())];
        let of_formats = targets.iter().flat_map(|target| refused::of_format(target.format));
        refused::check(own.into_iter().chain(of_formats))?;
        if let Some(stat) = self.stats.iter().find(|stat| stat.needs_values()) {
            return Err(Stop::new(format!(
                "--stat {stat} needs the values of all queries, which summaries do not have: take \
                 std, min or max"
            )));
        }
        let partial = self.written.partial(inputs)?;
        let mut summaries = Vec::new();
        for (at, path) in self.files.iter().enumerate() {
            match Shard::read(path)? {
                Shard::Scores(summary) => summaries.push(summary.from_source(&shown(path))),
                Shard::Comparison(first) if at == 0 => {
                    let all = parts::merged(*first, &self.files)?;
                    return self.comparison(&all, targets, partial);
                }
                Shard::Comparison(_) => return Err(parts::mixed(path, &self.files[0])),
            }
        }
        parts::check_gates(&self.fail_if)?;
        let mut summary = merged(&summaries)
            .map_err(|error| conflict(&self.files, &summaries).unwrap_or(error))?;
        self.add_missing(&mut summary)?;
        let scores = summary.scores(&distinct(&self.stats))?;
        for target in &targets {
            ReportOutput::check_curve(target.format, &scores.measures)?;
        }
        let loud = |note: &&Note| !self.quiet || matches!(note, Note::Warning(_));
        lacking(&summary, self.files.len())
            .iter()
            .chain(&notes(&scores))
            .filter(loud)
            .for_each(say);
        if let Some(partial) = partial {
            let summary = summary.to_bytes();
            partial.write(|to| to.write_all(&summary))?;
        }
        let options = self.written.options(false, &scores)?;
        let cases = gates::judged(&scores, &self.fail_if);
        for target in targets {
            match target.format {
                Format::Junit => gates::write(&cases, "laneval merge", target)?,
                _ => {
                    let look = target.look(&options);
                    target.write_scores(&scores, &look)?;
                }
            }
        }
        let cases = cases?;
        gates::tell_all(&cases, self.quiet);
        gates::fate(&cases, false)
    }

    /// Adds the judged queries that no shard had, if there are judgments.
    fn add_missing(&self, summary: &mut Summary) -> Result<(), Error> {
        let Some(qrels) = &self.qrels else { return Ok(()) };
        let judged_by = self.judgments_by.or(facets_needed(summary.measures())?);
        let (access, tables) = (self.access.access(), tables());
        let join = Join { judged_by, access, tables, ..Join::default() };
        summary.add_missing(&join.qrels(Input::from(qrels.to_owned()))?)
    }

    /// Prints the comparison of all queries of some parts.
    fn comparison(
        &self,
        all: &Partial,
        targets: Vec<ReportTarget>,
        partial: Option<Output>,
    ) -> Result<(), Stop> {
        refused::check([
            (Wish::MergeComparisons, true),
            (Wish::Qrels, self.qrels.is_some()),
            (Wish::RowLook, self.written.has_row_options()),
            (Wish::Stat, !self.stats.is_empty()),
        ])?;
        printed::check(&targets, &self.fail_if)?;
        let comparison = all.comparison()?;
        let loud = |note: &&Note| !self.quiet || matches!(note, Note::Warning(_));
        let of_scores = notes(&all.summary().scores(&[])?);
        let of_comparison: Vec<Note> = printed::notes(&comparison);
        let few = printed::few(&comparison, &self.fail_if);
        of_scores.iter().chain(&of_comparison).chain(&few).filter(loud).for_each(say);
        let gates = printed::judged(&comparison, &self.fail_if)?;
        if let Some(partial) = partial {
            let bytes = all.to_bytes();
            partial.write(|to| to.write_all(&bytes))?;
        }
        let look = self.written.report.options(false);
        let report = ComparisonReport::new(&comparison, &gates);
        let origin = PageOrigin::default().titled(self.written.report.title());
        printed::write(&report, &look, &origin, targets, self.quiet)
    }
}

/// Merges all summaries pairwise, so that each set of queries is gone through only once per level
/// of pairs.
fn merged(summaries: &[Summary]) -> Result<Summary, Error> {
    match summaries {
        [] => Err(Error::Merge("nothing to merge".to_owned())),
        [one] => Ok(one.clone()),
        _ => {
            // Adding one after the other would go through the growing set of queries once a file: n
            // files, n passes. A tree of pairs goes through each query log₂ n times. The result is
            // the same to the bit.
            let (first, last) = summaries.split_at(summaries.len() / 2);
            let mut all = merged(first)?;
            all.merge(&merged(last)?)?;
            Ok(all)
        }
    }
}

/// Finds the first two files that do not belong together, and the reason.
fn conflict(files: &[PathBuf], summaries: &[Summary]) -> Option<Error> {
    let named = |one: &Path, other: &Path, error: Error| {
        Error::Merge(format!("{} and {}: {error}", shown(one), shown(other)))
    };
    // Only after merging failed: pairs of pairs name no files, so the first file that does not fit
    // is searched for, and then the one before it that it does not fit with.
    let mut all = summaries.first()?.clone();
    for (at, summary) in summaries.iter().enumerate().skip(1) {
        if all.merge(summary).is_ok() {
            continue;
        }
        return summaries[..at].iter().zip(files).find_map(|(other, file)| {
            let error = other.clone().merge(summary).err()?;
            Some(named(file, &files[at], error))
        });
    }
    None
}

/// Notes runs that are not in all of the files.
fn lacking(summary: &Summary, files: usize) -> Vec<Note> {
    let of_runs =
        summary.runs().filter(|(_, group, run)| group.is_none() && run.sources().count() < files);
    let note = |name: &str, found: usize| {
        Note::Warning(format!(
            "{}: is in {found} of {files} files",
            laneval::error::printable(name.as_bytes())
        ))
    };
    of_runs.map(|(name, _, run)| note(name, run.sources().count())).collect()
}
