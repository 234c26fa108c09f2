//! `laneval merge`: combines scores, or comparisons, that were computed over parts of the queries
//! (shards) into those of all queries.

mod parts;

use std::path::{Path, PathBuf};

use laneval::compare::{Gate, PartialComparison, Shard};
use laneval::measure::facets_needed;
use laneval::options::Given;
use laneval::report::{ComparisonReport, Format, Note, notes};
use laneval::{Error, Input, Join, Stat, Summary};

use super::{
    cli_error::{CliResult, fail},
    command_row::{Arguments, CommandRow, Inputs},
    compare::output,
    conflicts::{self, Requested},
    evaluation_options::stats,
    formats::tables,
    gates,
    inputs::bytes,
    output::Output,
    page::PageProvenance,
    score_output::{ReportOutput, ReportTarget},
    style::{print_notes, shown},
    threads::Threads,
};

/// `laneval merge`.
pub const COMMAND: CommandRow = CommandRow {
    name: "merge",
    first: "Merge the results of shards",
    more: "Results are scores or comparisons. Shards may be merged in any order, and in several \
        steps: the numbers are those of one evaluation of all queries, to the last bit. If the \
        qrels are split like the runs, no option is needed. If each shard is evaluated against all \
        qrels, use --queries common in `eval` and --add-queries in `merge`. A run without a judged \
        query in a shard is left out there.\n\n\
        Each part of a comparison has all runs, and qrels that are split like the runs. The exact \
        p of the randomisation test and the values of queries are left out.",
    inputs: Some(Inputs {
        name: "FILE",
        first: "Files that `laneval eval` or `compare` --partial wrote",
        more: "They are summaries of `eval`, or parts of a comparison of `compare`.",
        count: (1, usize::MAX),
        is_last: false,
    }),
    examples: &[
        "laneval eval qrels.1 bm25=run.1 --partial 1.part",
        "laneval eval qrels.2 bm25=run.2 --partial 2.part",
        "laneval merge 1.part 2.part",
        "laneval eval qrels bm25=run.1 --queries common --partial shard-1.part",
        "laneval merge shard-*.part --add-queries qrels --format json -o scores.json",
        "laneval compare qrels.1 old=old.1 new=new.1 --partial 1.part",
        "laneval compare qrels.2 old=old.2 new=new.2 --partial 2.part",
        "laneval merge 1.part 2.part --fail-if 'nDCG@10 drops > 0.005 p<0.05'",
    ],
    page: "shards.md",
    run: |arguments| {
        let Arguments { given, inputs: files, .. } = arguments;
        let gates = gates::given(&given)?;
        Merge { given, gates, files }.run()
    },
    ..CommandRow::NEW
};

/// The files to merge, with the options of a command line.
struct Merge {
    given: Given,
    /// The gates of `--fail-if`.
    gates: Vec<Gate>,
    files: Vec<PathBuf>,
}

impl Merge {
    fn written(&self) -> ReportOutput<'_> {
        ReportOutput(&self.given)
    }

    /// Runs `laneval merge`: merges the results of shards, and writes the scores or the comparison
    /// of all queries.
    fn run(self) -> CliResult<()> {
        let qrels = self.given.path("add-queries").map(Path::to_owned);
        let inputs: Vec<PathBuf> = self.files.iter().cloned().chain(qrels).collect();
        Threads::default().install_for(bytes(&inputs), || self.merge(&inputs))
    }

    fn merge(&self, inputs: &[PathBuf]) -> CliResult<()> {
        let targets = self.written().score_targets(inputs)?;
        let own = [(Requested::Merge, true), (Requested::NoGates, self.gates.is_empty())];
        let of_formats =
            targets.iter().flat_map(|target| conflicts::requested_by_format(target.format));
        conflicts::check(own.into_iter().chain(of_formats))?;
        let stats = stats(&self.given)?;
        if let Some(stat) = stats.iter().find(|stat| stat.needs_values()) {
            return fail(format!(
                "--stat {stat} needs the values of all queries, which summaries do not have: take \
                 std, min or max"
            ));
        }
        let partial = self.written().partial(inputs)?;
        let mut summaries = Vec::new();
        for (at, path) in self.files.iter().enumerate() {
            match Shard::read(path)? {
                Shard::Scores(summary) => summaries.push(summary.from_source(&shown(path))),
                // The first file decides what is merged, and the others are read as they are added.
                Shard::Comparison(first) if at == 0 => {
                    let whole = parts::merge_all(*first, &self.files)?;
                    return self.write_comparison(&whole, targets, partial);
                }
                Shard::Comparison(_) => return Err(parts::mixed_kinds_error(path, &self.files[0])),
            }
        }
        parts::check_gates(&self.gates)?;
        let mut summary = merged(&summaries)
            .map_err(|error| conflict(&self.files, &summaries).unwrap_or(error))?;
        self.add_missing(&mut summary)?;
        self.write_scores(&summary, &stats, targets, partial)
    }

    /// Adds to a summary the judged queries of `--add-queries` that no shard had, as empty
    /// rankings.
    fn add_missing(&self, summary: &mut Summary) -> Result<(), Error> {
        let Some(qrels) = self.given.path("add-queries") else { return Ok(()) };
        let judged_by = self.given.value("facet")?.or(facets_needed(summary.measures())?);
        let (access, tables) = (self.given.access(), tables());
        let join = Join { judged_by, access, tables, ..Join::default() };
        summary.add_missing(&join.qrels(Input::from(qrels.to_owned()))?)
    }

    /// Writes the scores of a merged summary, with these statistics, and decides the gates.
    fn write_scores(
        &self,
        summary: &Summary,
        stats: &[Stat],
        targets: Vec<ReportTarget>,
        partial: Option<Output>,
    ) -> CliResult<()> {
        let quiet = self.given.flag("quiet");
        let scores = summary.scores(stats)?;
        for target in &targets {
            ReportOutput::check_curve(target.format, &scores.measures)?;
        }
        let lacking = lacking(summary, self.files.len());
        print_notes(lacking.iter().chain(&notes(&scores)), quiet);
        if let Some(partial) = partial {
            let summary = summary.to_bytes();
            partial.write(|to| to.write_all(&summary))?;
        }
        let options = self.written().score_options(false, &scores)?;
        let cases = gates::check_gates(&scores, &self.gates);
        for target in targets {
            match target.format {
                Format::Junit => gates::write(&cases, "laneval merge", target)?,
                _ => {
                    let look = target.report_options(&options);
                    target.write_scores(&scores, &look)?;
                }
            }
        }
        let cases = cases?;
        gates::print_passed(&cases, quiet);
        gates::exit_status(&cases, false)
    }

    /// Writes the comparison over all queries that was merged from the parts of `compare
    /// --partial`.
    fn write_comparison(
        &self,
        whole: &PartialComparison,
        targets: Vec<ReportTarget>,
        partial: Option<Output>,
    ) -> CliResult<()> {
        let quiet = self.given.flag("quiet");
        conflicts::check([
            (Requested::MergeComparisons, true),
            (Requested::Qrels, self.given.is_given("add-queries")),
            (Requested::RowOptions, self.written().has_row_options()),
            (Requested::Stat, self.given.is_given("stat")),
        ])?;
        output::check(&targets, &self.gates)?;
        let comparison = whole.comparison()?;
        let of_scores = notes(&whole.summary().scores(&[])?);
        let of_comparison: Vec<Note> = output::notes(&comparison);
        let few = output::warn_few_queries(&comparison, &self.gates);
        print_notes(of_scores.iter().chain(&of_comparison).chain(&few), quiet);
        let gates = output::check_gates(&comparison, &self.gates)?;
        if let Some(partial) = partial {
            let bytes = whole.to_bytes();
            partial.write(|to| to.write_all(&bytes))?;
        }
        let look = self.written().options(false)?;
        let report = ComparisonReport::new(&comparison, &gates);
        let origin = PageProvenance::default().with_title(self.written().title());
        output::write(&report, &look, &origin, targets, quiet)
    }
}

/// Merges the summaries of all shards pairwise, so that each query is gone through once per level
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

/// Finds the first two files of `laneval merge` whose summaries cannot be merged, and the reason.
fn conflict(files: &[PathBuf], summaries: &[Summary]) -> Option<Error> {
    // Only after merging failed: pairs of pairs name no files, so the first file that does not fit
    // is searched for, and then the one before it that it does not fit with.
    let mut all = summaries.first()?.clone();
    for (at, summary) in summaries.iter().enumerate().skip(1) {
        if all.merge(summary).is_ok() {
            continue;
        }
        return summaries[..at].iter().zip(files).find_map(|(other, file)| {
            let error = other.clone().merge(summary).err()?;
            Some(Error::Merge(format!("{} and {}: {error}", shown(file), shown(&files[at]))))
        });
    }
    None
}

/// Returns warnings of the runs that are not in all of the merged files.
fn lacking(summary: &Summary, files: usize) -> Vec<Note> {
    let of_runs = summary.runs().filter(|(_, group, _)| group.is_none());
    let notes = of_runs.filter_map(|(name, _, run)| {
        let found = run.sources().count();
        let name = laneval::error::printable(name.as_bytes());
        (found < files).then(|| Note::Warning(format!("{name}: is in {found} of {files} files")))
    });
    notes.collect()
}
