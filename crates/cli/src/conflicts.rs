//! The table of options that exclude one another, for all commands of `laneval`.
//!
//! A command lists what its command line asks for, as [`Requested`]. The command itself is listed
//! too, if the command is one side of a conflict. The first row of the table with both sides listed
//! is the error. Conflicts that depend on more than options (the content of a file, a measure) are
//! refused elsewhere, where the content or measure is known.

use laneval::TieBreak;
use laneval::options::TieRule;
use laneval::report::Format;

use super::cli_error::{CliResult, fail};

/// Something that a command line asks for, such as a command, `--partial` or a format, and that
/// excludes something else. A variant without a comment is the option of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requested {
    /// The command `compare`.
    Compare,
    /// The command `merge`, of scores or of comparisons.
    Merge,
    /// The command `merge`, of comparisons.
    MergeComparisons,
    /// The command `build`.
    Build,
    /// The command `show`.
    Show,
    /// `eval --judges each`.
    EachJudge,
    /// `--ties interval`.
    Interval,
    /// `--ties average`, `best`, `worst` or `interval`: values over all orders of equal scores.
    TieOrders,
    /// `--ties rank`.
    RankOrder,
    KeepTies,
    /// An output in the format `trec`.
    FormatTrec,
    /// An output in the format `html`.
    FormatHtml,
    /// No HTML page among the outputs.
    NoPage,
    Title,
    /// `compare --sort` or `--top`.
    TableRows,
    /// No table (as text, Markdown or LaTeX) among the outputs.
    NoTable,
    AllPairs,
    /// No output in a format that has sentences: neither a table nor JSON.
    NoSentences,
    Explain,
    /// More outputs than one.
    ManyOutputs,
    /// `compare --topics`.
    Titles,
    /// `eval --group-by`.
    GroupBy,
    PerQuery,
    Wide,
    /// Options of rows: `--wide` or `--average-id`.
    RowOptions,
    Stat,
    Partial,
    OnlyQueries,
    FailIf,
    /// `merge --add-queries`.
    Qrels,
    /// `--baseline` with a file of scores, and not with a run.
    StoredBaseline,
    /// `compare --judges each`.
    ComparedJudges,
    /// `compare --group-by`.
    ComparedGroups,
    /// An output in the format `junit`.
    FormatJunit,
    /// No `--fail-if`.
    NoGates,
}

// A glob, because the table of conflicts names nearly all variants.
use Requested::*;

/// Two requests of a command line that exclude one another, and the error message in pieces.
struct Conflict(Requested, Requested, &'static [&'static str]);

/// The end of the message about an option that has no place for the scores of each judge.
const EACH: &str = " has no place for the scores of each judge: take --judges mean, min or max";

/// The end of the message about an option that has no place for an interval (three values).
const THREE: &str = " has no place for an interval: take --ties average, best or worst one by one";

/// All pairs of requests that exclude one another. [`check`] reports the first pair that applies.
#[rustfmt::skip] // a row each
const REFUSED: &[Conflict] = &[
    Conflict(Compare, FormatTrec, &["the format trec has no place for a comparison: choose another \
        format"]),
    Conflict(ComparedJudges, ComparedGroups, &["--judges each compares all queries by each judge: \
        leave --group-by out, or take --judges mean"]),
    Conflict(ComparedJudges, Partial, &["--partial has no place for the comparison of each judge: \
        take --judges mean, min or max"]),
    Conflict(ComparedJudges, TieOrders, &["--judges each has no values over all orders of equal \
        scores: take a --ties that orders them, such as docno-desc"]),
    Conflict(ComparedJudges, StoredBaseline, &["--judges each needs the baseline as a run: its \
        stored scores are not by judge"]),
    Conflict(ComparedGroups, Partial, &["--partial has no place for groups: merge the parts, and \
        compare groups of all queries in one call"]),
    Conflict(FormatJunit, NoGates, &["the format junit has the results of gates, and there is \
        none: add --fail-if"]),
    Conflict(Compare, Interval, &["--ties interval gives three values per query: compare average, \
        best or worst"]),
    Conflict(Partial, StoredBaseline, &["--partial cannot keep a baseline that is a file of \
        scores: give it as a run"]),
    Conflict(Merge, FormatTrec, &["the format trec needs the values of all queries, which \
        summaries do not have"]),
    Conflict(MergeComparisons, Qrels, &["--add-queries adds queries to scores: split the \
        judgments of a comparison as its runs are"]),
    Conflict(MergeComparisons, RowOptions, &["--wide and --average-id are for scores, not for \
        comparisons"]),
    Conflict(MergeComparisons, Stat, &["--stat is for scores: a comparison always has the same \
        statistics"]),
    Conflict(Build, TieOrders, &["a matrix keeps one order of equal scores: build it with \
        --keep-ties, then `eval --ties` gives values over all orders"]),
    Conflict(KeepTies, RankOrder, &["--ties rank leaves no documents tied, so --keep-ties has \
        nothing to keep: take another --ties"]),
    Conflict(Show, Interval, &["`show` has no column for an interval: take --ties average, best or \
        worst one by one"]),
    Conflict(EachJudge, FormatTrec, &["the format trec", EACH]),
    Conflict(EachJudge, FormatHtml, &["the format html", EACH]),
    Conflict(EachJudge, GroupBy, &["--group-by", EACH]),
    Conflict(EachJudge, PerQuery, &["--per-query", EACH]),
    Conflict(EachJudge, Wide, &["--wide", EACH]),
    Conflict(EachJudge, Partial, &["--partial", EACH]),
    Conflict(EachJudge, OnlyQueries, &["--only-queries", EACH]),
    Conflict(EachJudge, FailIf, &["--fail-if", EACH]),
    Conflict(EachJudge, TieOrders, &["--judges each has no values over all orders of equal scores: \
        take a --ties that orders them, such as docno-desc"]),
    Conflict(Interval, FormatTrec, &["the format trec", THREE]),
    Conflict(Interval, PerQuery, &["--per-query", THREE]),
    Conflict(Interval, Wide, &["--wide", THREE]),
    Conflict(Interval, Stat, &["--stat", THREE]),
    Conflict(Interval, Partial, &["--partial", THREE]),
    Conflict(Interval, FailIf, &["--fail-if", THREE]),
    Conflict(TableRows, NoTable, &["--sort and --top are for tables: other formats have all runs, \
        in the order of the input (a pipe gets tsv: add --format table)"]),
    Conflict(AllPairs, NoSentences, &["--all-pairs writes sentences, which tables, Markdown and \
        JSON have: other formats have all pairs (a pipe gets tsv: add --format table)"]),
    Conflict(Explain, ManyOutputs, &["--explain prints a plan, to one output: leave the other -o \
        out"]),
    Conflict(Explain, Title, &["--explain prints a plan, which is no page: leave --title out"]),
    Conflict(Titles, NoPage, &["--topics has the texts of queries for a page: write one with -o \
        report.html or --format html"]),
    Conflict(Title, NoPage, &["--title is the title of a page: write one with -o report.html or \
        --format html"]),
    Conflict(FormatTrec, Stat, &["the format trec has no place for --stat: choose another format"]),
];

/// Rejects a command line with two requests that exclude one another, by the first such pair of the
/// table. `flags` has requests, each with whether the command line makes the request.
pub fn check(flags: impl IntoIterator<Item = (Requested, bool)>) -> CliResult<()> {
    let requested: Vec<Requested> =
        flags.into_iter().filter(|&(_, is)| is).map(|(wish, _)| wish).collect();
    let first = REFUSED
        .iter()
        .find(|Conflict(one, other, _)| requested.contains(one) && requested.contains(other));
    first.map_or(Ok(()), |Conflict(.., why)| fail(why.concat()))
}

/// Returns the requests that a value of `--ties` makes, to be checked against other options.
pub fn requested_by_ties(rule: TieRule) -> [(Requested, bool); 3] {
    [
        (Interval, rule == TieRule::Interval),
        (TieOrders, rule.needs_ties()),
        (RankOrder, rule == TieRule::Order(TieBreak::Rank)),
    ]
}

/// Returns the requests that an output format makes, to be checked against other options.
pub fn requested_by_format(format: Format) -> [(Requested, bool); 3] {
    [
        (FormatTrec, format == Format::Trec),
        (FormatHtml, format == Format::Html),
        (FormatJunit, format == Format::Junit),
    ]
}
