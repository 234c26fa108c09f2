//! The options that do not go together: one table for all commands.
//!
//! A command says what was asked for, itself included where it is the reason, and the first row of
//! the table of which both were asked for is the error. What depends on more than options (the
//! content of a file, a measure) is refused where it is known.

use laneval::Ties;
use laneval::report::Format;

use super::choice::TieRule;
use super::stop::Stop;

/// Something that a command line may ask for, and that does not go with everything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// The commands that have fewer answers than `eval`.
    Compare,
    Merge,
    MergeComparisons,
    Build,
    Show,
    /// `--judges each`.
    EachJudge,
    /// `--ties interval`.
    Interval,
    /// A `--ties` that is a value over all orders, or all of these.
    OverOrders,
    /// `--ties rank`.
    RankOrder,
    KeepTies,
    FormatTrec,
    FormatHtml,
    /// No page among the outputs.
    NoPage,
    Title,
    /// `compare --sort` and `--top`.
    TableRows,
    NoTable,
    AllPairs,
    NoSentences,
    Explain,
    ManyOutputs,
    /// `compare --titles`.
    Titles,
    GroupBy,
    PerQuery,
    Wide,
    /// Options of rows: `--wide` or `--all-id`.
    RowLook,
    Stat,
    Partial,
    Only,
    FailIf,
    Qrels,
    /// `--baseline` with a file of scores.
    StoredBaseline,
    /// `compare --judges each`.
    ComparedJudges,
    /// `compare --group-by`.
    ComparedGroups,
    FormatJunit,
    NoGates,
}

use Wish::{
    AllPairs, Build, Compare, ComparedGroups, ComparedJudges, EachJudge, Explain, FailIf,
    FormatHtml, FormatJunit, FormatTrec, GroupBy, Interval, KeepTies, ManyOutputs, Merge,
    MergeComparisons, NoGates, NoPage, NoSentences, NoTable, Only, OverOrders, Partial, PerQuery,
    Qrels, RankOrder, RowLook, Show, Stat, StoredBaseline, TableRows, Title, Titles, Wide,
};

/// Two wishes that do not go together, and what to say of them.
struct Refusal(Wish, Wish, &'static str);

/// All pairs that do not go together. Of several that were asked for the first is told.
#[rustfmt::skip] // a row each
const REFUSED: &[Refusal] = &[
    Refusal(Compare, FormatTrec, "the format trec has no place for a comparison: choose another \
                                  format"),
    Refusal(ComparedJudges, ComparedGroups, "--judges each compares all queries by each judge: \
        leave --group-by out, or take --judges mean"),
    Refusal(ComparedJudges, Partial, "--partial has no place for the comparison of each judge: \
                                      take --judges mean, min or max"),
    Refusal(ComparedJudges, OverOrders, "--judges each has no values over all orders of equal \
                                         scores: take a --ties that orders them, such as \
                                         docno-desc"),
    Refusal(ComparedJudges, StoredBaseline, "--judges each needs the baseline as a run: its stored \
        scores are not by judge"),
    Refusal(ComparedGroups, Partial, "--partial has no place for groups: merge the parts, and \
                                      compare groups of all queries in one call"),
    Refusal(FormatJunit, NoGates, "the format junit has the results of gates, and there is none: \
                                   add --fail-if"),
    Refusal(Compare, Interval, "--ties interval gives three values per query: compare average, \
                                best or worst"),
    Refusal(Partial, StoredBaseline, "--partial cannot keep a baseline that is a file of scores: \
                                      give it as a run"),
    Refusal(Merge, FormatTrec, "the format trec needs the values of all queries, which summaries \
                                do not have"),
    Refusal(MergeComparisons, Qrels, "--qrels adds queries to scores: split the judgments of a \
                                      comparison as its runs are"),
    Refusal(MergeComparisons, RowLook, "--wide and --all-id are for scores, not for comparisons"),
    Refusal(MergeComparisons, Stat, "--stat is for scores: a comparison always has the same \
                                     statistics"),
    Refusal(Build, OverOrders, "a matrix keeps one order of equal scores: build it with \
                                --keep-ties, then `eval --ties` gives values over all orders"),
    Refusal(KeepTies, RankOrder, "--ties rank leaves no documents tied, so --keep-ties has nothing \
                                  to keep: take another --ties"),
    Refusal(Show, Interval, "`show` has no column for an interval: take --ties average, best or \
                             worst one by one"),
    Refusal(EachJudge, FormatTrec, "the format trec has no place for the scores of each judge: \
                                    take --judges mean, min or max"),
    Refusal(EachJudge, FormatHtml, "the format html has no place for the scores of each judge: \
                                    take --judges mean, min or max"),
    Refusal(EachJudge, GroupBy, "--group-by has no place for the scores of each judge: take \
                                 --judges mean, min or max"),
    Refusal(EachJudge, PerQuery, "--per-query has no place for the scores of each judge: take \
                                  --judges mean, min or max"),
    Refusal(EachJudge, Wide, "--wide has no place for the scores of each judge: take --judges \
                              mean, min or max"),
    Refusal(EachJudge, Partial, "--partial has no place for the scores of each judge: take \
                                 --judges mean, min or max"),
    Refusal(EachJudge, Only, "--only has no place for the scores of each judge: take --judges \
                              mean, min or max"),
    Refusal(EachJudge, FailIf, "--fail-if has no place for the scores of each judge: take --judges \
                                mean, min or max"),
    Refusal(EachJudge, OverOrders, "--judges each has no values over all orders of equal scores: \
                                    take a --ties that orders them, such as docno-desc"),
    Refusal(Interval, FormatTrec, "the format trec has no place for an interval: take --ties \
                                   average, best or worst one by one"),
    Refusal(Interval, PerQuery, "--per-query has no place for an interval: take --ties average, \
                                 best or worst one by one"),
    Refusal(Interval, Wide, "--wide has no place for an interval: take --ties average, best or \
                             worst one by one"),
    Refusal(Interval, Stat, "--stat has no place for an interval: take --ties average, best or \
                             worst one by one"),
    Refusal(Interval, Partial, "--partial has no place for an interval: take --ties average, best \
                                or worst one by one"),
    Refusal(Interval, FailIf, "--fail-if has no place for an interval: take --ties average, best \
                               or worst one by one"),
    Refusal(TableRows, NoTable, "--sort and --top are for tables: other formats have all runs, in \
                                 the order of the input (a pipe gets tsv: add --format table)"),
    Refusal(AllPairs, NoSentences, "--all-pairs writes sentences, which tables, Markdown and JSON \
                                    have: other formats have all pairs (a pipe gets tsv: add \
                                    --format table)"),
    Refusal(Explain, ManyOutputs, "--explain prints a plan, to one output: leave the other -o out"),
    Refusal(Explain, Title, "--explain prints a plan, which is no page: leave --title out"),
    Refusal(Titles, NoPage, "--titles has the texts of queries for a page: write one with -o \
                             report.html or --format html"),
    Refusal(Title, NoPage, "--title is the title of a page: write one with -o report.html or \
                            --format html"),
    Refusal(FormatTrec, Stat, "the format trec has no place for --stat: choose another format"),
];

/// Refuses the first pair of the table both of which were asked for.
pub fn check(asked: impl IntoIterator<Item = (Wish, bool)>) -> Result<(), Stop> {
    let asked: Vec<Wish> = asked.into_iter().filter(|&(_, is)| is).map(|(wish, _)| wish).collect();
    let first =
        REFUSED.iter().find(|Refusal(one, other, _)| asked.contains(one) && asked.contains(other));
    first.map_or(Ok(()), |Refusal(.., why)| Err(Stop::new(*why)))
}

/// The wishes of a rule for equal scores.
pub fn of_ties(rule: Option<TieRule>) -> [(Wish, bool); 3] {
    [
        (Interval, rule == Some(TieRule::Interval)),
        (OverOrders, matches!(rule, Some(TieRule::Value(_) | TieRule::Interval))),
        (RankOrder, rule == Some(TieRule::Order(Ties::Rank))),
    ]
}

/// The wishes of a format of scores.
pub fn of_format(format: Format) -> [(Wish, bool); 3] {
    [
        (FormatTrec, format == Format::Trec),
        (FormatHtml, format == Format::Html),
        (FormatJunit, format == Format::Junit),
    ]
}
