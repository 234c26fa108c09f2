//! The rows of the table of options, in the order of help.
//!
//! First lines have at most 60 characters and no full stop: an imperative where something is done,
//! a noun where something is chosen. What a first line leaves out stands in the paragraph. Where
//! commands take different values under one name, the name has a row for each, alike in all but
//! values, default and commands.

use super::values::*;
use super::{Choice, Keyword, OptionRow, Value};
use crate::format::InputFormat;
use crate::stats::Stat;
use Value::{AnyText, Flag, Number, Path, Text, Words};

/// An option with nothing but defaults, on which rows are built.
const ROW: OptionRow = OptionRow {
    id: "",
    short: None,
    aliases: &[],
    former: &[],
    value: Flag,
    hides_values: false,
    default: "",
    is_repeatable: false,
    is_required: false,
    first: "",
    more: "",
    heading: "",
    common: &[],
    others: &[],
    excludes: &[],
    needs: &[],
    shapes_rankings: false,
    keyword: None,
};

const INPUT: OptionRow = OptionRow { heading: "Input", ..ROW };
const AGGREGATING: OptionRow = OptionRow {
    heading: "Aggregating",
    shapes_rankings: true,
    keyword: PYTHON,
    others: &["eval", "compare", "show", "build", "convert"],
    ..ROW
};
const MEASURES: OptionRow = OptionRow { heading: "Measures", ..ROW };
const QUERIES: OptionRow = OptionRow { heading: "Queries", ..ROW };
const RANKING: OptionRow = OptionRow { heading: "Ranking", keyword: PYTHON, ..ROW };
const STATISTICS: OptionRow = OptionRow { heading: "Statistics", ..ROW };
const OUTPUT: OptionRow = OptionRow { heading: "Output", ..ROW };
const ENGINE: OptionRow = OptionRow { heading: "Engine", ..ROW };
const ADVANCED: OptionRow = OptionRow { heading: "Advanced", ..ROW };
const DATA: OptionRow = OptionRow { heading: "Synthetic data", excludes: &["FILE.lmx"], ..ROW };

/// A keyword whose name, type and documentation are those of the option.
const PYTHON: Option<Keyword> = keyword("", "");

/// Makes a keyword of Python with a type or documentation of its own.
const fn keyword(python_type: &'static str, docs: &'static str) -> Option<Keyword> {
    named("", python_type, docs)
}

/// Makes a keyword of Python with a name of its own.
const fn named(
    name: &'static str,
    python_type: &'static str,
    docs: &'static str,
) -> Option<Keyword> {
    Some(Keyword { name, python_type, docs })
}

/// The values of `--ties` that are orders.
const ORDERS: &[Choice] = &[
    ("docno-desc", "by document id, bytewise descending, as trec_eval does"),
    ("docno-asc", "by document id, bytewise ascending"),
    ("input", "in the order of the run file"),
    ("rank", "by the rank column of the run, ascending"),
];

const TIES: &[Choice] = &[
    ORDERS[0],
    ORDERS[1],
    ORDERS[2],
    ORDERS[3],
    ("average", "no order: the expected value over all of them"),
    ("best", "no order: the best value over all of them"),
    ("worst", "no order: the worst value over all of them"),
    ("interval", "the expected, best and worst average, and how many queries depend on the order"),
];

const FACETS: &[Choice] = &[
    ("judge", "`query judge document grade`"),
    ("subtopic", "`query subtopic document grade`"),
    ("preference", "`query group document level`, or `query group sub-group document level`"),
    (
        "span",
        "a passage: records or a table with query, document, start, end and perhaps grade; results \
         have start and end too",
    ),
];

const FORMATS: &[Choice] = &[
    ("table", "aligned columns for people"),
    ("tsv", "rows of run, query_id, measure, stat, value, separated by tabs"),
    ("csv", "the same rows, separated by commas"),
    ("json", "one document with everything"),
    ("jsonl", "the same rows, one JSON object per line"),
    ("trec", "the lines of trec_eval"),
    ("markdown", "a table of Markdown"),
    ("latex", "a table of LaTeX (booktabs)"),
    ("html", "a page for a browser, with charts"),
    ("svg", "one chart: a measure over its cutoffs, or differences of runs"),
    ("junit", "the results of gates, for build servers"),
];

const POOL_FORMATS: &[Choice] = &[
    FORMATS[0],
    ("tsv", "rows of run, measure, stat, value, separated by tabs"),
    FORMATS[2],
    FORMATS[3],
    FORMATS[4],
    FORMATS[6],
    FORMATS[7],
];

const SHOW_FORMATS: &[Choice] = &[
    FORMATS[0],
    ("tsv", "a row for each document, with tabs: all ranks, then what was missed"),
    FORMATS[2],
    FORMATS[3],
    FORMATS[4],
    FORMATS[6],
    FORMATS[8],
];

const PLAIN_FORMATS: &[Choice] = &[("table", ""), ("json", "")];

/// The formats of judgments and runs.
fn input_formats() -> Vec<Choice> {
    InputFormat::ALL.iter().map(|&(name, format)| (name, format.help())).collect()
}

const ONE_MEASURE: OptionRow = OptionRow {
    id: "measure",
    short: Some('m'),
    value: Text("MEASURE", ANY),
    first: "The measure, such as nDCG@10",
    ..MEASURES
};

const QRELS_FORMAT: OptionRow = OptionRow {
    id: "qrels-format",
    value: Value::Choice("FORMAT", input_formats),
    hides_values: true,
    first: "Qrels format [default: detected]",
    more: "The formats are those of --run-format.",
    shapes_rankings: true,
    keyword: keyword("Format", ""),
    ..INPUT
};

const FORMAT: OptionRow = OptionRow {
    id: "format",
    first: "Output format [default: from -o, else table or tsv]",
    more: "Without -o it is a table on a terminal, and tsv in a pipe.",
    ..OUTPUT
};

const TOP: OptionRow = OptionRow {
    id: "top",
    value: Number("N", COUNT),
    first: "Show only the first N rows of tables",
    ..OUTPUT
};

const FACET: OptionRow = OptionRow {
    id: "facet",
    former: &["judgments-by"],
    first: "What column 2 of the qrels is: judge, subtopic…",
    heading: "Judges",
    shapes_rankings: true,
    keyword: keyword("FacetKind", ""),
    ..ROW
};

const QUERY_COUNT: OptionRow = OptionRow {
    id: "query-count",
    former: &["queries"],
    value: Number("N", NATURAL),
    first: "Number of queries",
    ..DATA
};

const DENSITY: OptionRow = OptionRow {
    id: "density",
    value: Number("SHARE", DENSE),
    first: "Share of the retrieved documents that are relevant",
    ..DATA
};

/// The commands that evaluate runs.
const EVALUATING: &[&str] = &["eval", "compare"];
/// The commands that join runs to judgments under all options of rankings.
const JOINING: &[&str] = &["eval", "compare", "show", "build"];
/// The commands that rank runs.
const RANKED: &[&str] = &["eval", "compare", "show", "build", "pools", "identify"];
/// The commands that read judgments and runs as text.
const READING: &[&str] =
    &["eval", "compare", "show", "build", "pools", "identify", "convert", "info"];
/// The commands that print notes.
const NOTING: &[&str] =
    &["eval", "compare", "pools", "identify", "show", "merge", "build", "convert", "gen"];

/// All options of all commands but `trec-eval`, whose options are those of trec_eval.
pub const OPTIONS: &[OptionRow] = &[
    // Measures
    OptionRow {
        id: "measure",
        short: Some('m'),
        aliases: &["measures", "metric", "metrics"],
        value: Text("MEASURE", ANY),
        default: "nDCG@10,AP,RR,P@10,R@100",
        is_repeatable: true,
        first: "Measures, such as nDCG@10,AP,'P@[5,10]'; repeatable",
        more: "`laneval measures` lists them. Names of trec_eval, ranx and ir_measures are known \
            too, and the sets official, set and all_trec. If a name means different measures in \
            different tools, put trec:, ranx: or irm: before it.",
        common: &["eval", "compare", "pools", "show"],
        ..MEASURES
    },
    OptionRow {
        more: "The values of --query-values are of it. Without it, it is as the file says, else \
            any.",
        common: &["identify"],
        needs: &["query-values"],
        ..ONE_MEASURE
    },
    OptionRow {
        more: "It is nDCG, AP, RR, P, R, ERR, Bpref or AUC, with parameters.",
        is_required: true,
        common: &["check"],
        ..ONE_MEASURE
    },
    OptionRow {
        id: "query-values",
        former: &["scores"],
        value: Path("FILE"),
        first: "Values of queries, instead of numbers",
        more: "Per-query output of laneval or of trec_eval -q, or columns of query and value.",
        common: &["identify"],
        ..MEASURES
    },
    OptionRow {
        id: "digits",
        value: Number("N", DIGITS),
        first: "Decimals that the numbers have [default: as shown]",
        common: &["identify"],
        ..MEASURES
    },
    OptionRow {
        id: "stat",
        hides_values: true,
        value: Words("STAT", || Stat::ALL.iter().map(|&(name, _)| name).collect()),
        is_repeatable: true,
        first: "Further statistics: median, std, min, max, ci95",
        more: "ci95 is a 95 % confidence interval of the average: for measures that are 0 or 1 the \
            exact binomial one (Clopper and Pearson), for others a percentile bootstrap of 1000 \
            resamples. std divides by n − 1. With one query there is no std and no ci95.",
        common: &["eval", "merge"],
        keyword: named(
            "stats",
            "Sequence[Stat]",
            "Statistics besides the average: `\"median\"`, the standard deviation `\"std\"`, \
             `\"min\"`, `\"max\"`, and the 95 % interval `\"ci95\"` of the average.",
        ),
        ..MEASURES
    },
    OptionRow {
        id: "rel",
        value: Number("GRADE", GRADE),
        first: "Lowest relevant grade [default: 1]",
        more: "'>0.5' takes grades above 0.5. Measures that set it themselves, as AP(rel=2), keep \
            theirs.",
        common: &["eval", "compare", "pools", "show"],
        ..MEASURES
    },
    OptionRow {
        id: "judges",
        value: Value::Choice("HOW", || {
            vec![
                ("mean", "the mean of the query's values by its judges"),
                (
                    "each",
                    "no combination: the scores of each judge, over the queries that the judge \
                    has judged",
                ),
                ("min", "the smallest of these values"),
                ("max", "the largest of these values"),
            ]
        }),
        first: "How to combine several judges",
        more: "Judgments are then read as `query judge document grade`. By default, with --facet \
            judge the largest grade counts, and without it different grades are an error.",
        heading: "Judges",
        others: EVALUATING,
        keyword: keyword("Literal[\"mean\", \"min\", \"max\"]", ""),
        ..ROW
    },
    OptionRow {
        value: Value::Choice("KIND", || FACETS.to_vec()),
        more: "It matters where a document has several judgments. By default it is what the \
            measures need.",
        others: JOINING,
        ..FACET
    },
    OptionRow {
        value: Value::Choice("KIND", || FACETS.to_vec()),
        more: "It is about the qrels of --add-queries. By default it is what the measures need.",
        others: &["merge"],
        needs: &["add-queries"],
        ..FACET
    },
    OptionRow {
        value: Value::Choice("KIND", || FACETS[..2].to_vec()),
        more: "It is kept as a column of tables and records, and as the second field of TREC text.",
        common: &["convert"],
        needs: &["qrels"],
        ..FACET
    },
    OptionRow {
        value: Value::Choice("KIND", || FACETS[..1].to_vec()),
        more: "`judge` shows how far the judges agree.",
        common: &["info"],
        ..FACET
    },
    // Ranking
    OptionRow {
        id: "queries",
        value: Value::Choice("SET", || {
            vec![
                ("judged", "every judged query; one that the run lacks scores 0"),
                ("common", "only the judged queries that are in the run, as trec_eval does"),
                ("require-all", "every judged query; it is an error if the run lacks one"),
            ]
        }),
        first: "Queries to average over [default: judged]",
        common: &["eval", "pools"],
        others: &["compare"],
        keyword: keyword("QuerySet", ""),
        ..QUERIES
    },
    OptionRow {
        id: "only-queries",
        former: &["only"],
        value: Path("FILE"),
        first: "Evaluate only the queries listed in FILE",
        more: "One query per line; text after a tab is ignored.",
        common: EVALUATING,
        ..QUERIES
    },
    OptionRow {
        id: "group-by",
        value: Path("FILE"),
        first: "Also score groups: lines of query<TAB>group",
        more: "Where there is no such file, FILE is the name of a key in the records of the \
            judgments, or of a column of their table, such as `category`: its values are the \
            groups. \
            A query may be in several groups or in none. Formats of rows (tsv, csv, jsonl) get \
            a column `group`, which is empty for all queries. `compare` judges gates in each group \
            as well, and \
            corrects p within each group.",
        common: EVALUATING,
        ..QUERIES
    },
    OptionRow {
        id: "depth",
        short: Some('M'),
        value: Number("N", RANKS),
        first: "Keep the first N ranks; applied before -J",
        more: "N is a number from 1.",
        common: &["eval", "show", "build"],
        others: &["compare"],
        keyword: PYTHON,
        ..RANKING
    },
    OptionRow {
        id: "judged-only",
        short: Some('J'),
        first: "Remove unjudged documents from the rankings",
        more: "The others move up. -M first, then -J, as in trec_eval.",
        common: &["eval", "show"],
        others: &["compare"],
        ..RANKING
    },
    OptionRow {
        id: "ties",
        value: Value::Choice("RULE", || TIES.to_vec()),
        first: "How to treat equal scores [default: docno-desc]",
        common: &["eval", "show", "build"],
        others: &["compare"],
        keyword: keyword("TieRule", ""),
        ..RANKING
    },
    OptionRow {
        id: "ties",
        value: Value::Choice("RULE", || ORDERS.to_vec()),
        first: "How to treat equal scores [default: docno-desc]",
        common: &["pools"],
        ..RANKING
    },
    OptionRow {
        id: "score-type",
        former: &["score"],
        value: Value::Choice("TYPE", || {
            vec![
                ("f64", "as trec_eval 10 does"),
                ("f32", "as trec_eval 9 and pytrec_eval do: more scores are tied"),
            ]
        }),
        first: "Compare scores as f64 or f32 [default: f64]",
        common: &["build"],
        others: &["eval", "compare", "show", "pools"],
        shapes_rankings: true,
        ..RANKING
    },
    OptionRow {
        id: "drop-identical-ids",
        first: "Drop documents with the query's own id, as BEIR does",
        more: "This comes before -M.",
        others: &["eval", "compare", "show", "build", "pools", "identify"],
        shapes_rankings: true,
        ..RANKING
    },
    OptionRow {
        id: "exclude",
        value: Path("FILE"),
        first: "Leave documents of FILE out of their queries' rankings",
        more: "FILE has pairs of query and document as judgments have them, with or without \
            grades, or records of a query with a list `excluded_ids` or `seen_ids`. This comes \
            before -M, and judgments stay as they are (docs/queries.md).",
        others: &["eval", "compare", "show", "build", "pools", "identify"],
        shapes_rankings: true,
        keyword: keyword("str | os.PathLike[str] | Mapping[str, Iterable[str]]", ""),
        ..RANKING
    },
    OptionRow {
        id: "pool-depth",
        former: &["depth"],
        value: Number("K", DOCUMENTS),
        default: "100",
        first: "How many of the first documents of each run were judged",
        common: &["pools"],
        heading: "Pool",
        ..ROW
    },
    OptionRow {
        id: "teams",
        value: AnyText("TEXT", TEAM_END),
        first: "Leave out whole teams: TEXT ends the name of a team",
        more: "Runs whose names are equal up to TEXT are of one team, and find each other's \
            documents.",
        common: &["pools"],
        heading: "Pool",
        ..ROW
    },
    // Library
    OptionRow {
        id: "as",
        value: Text("LIBRARY", ANY),
        first: "Evaluate as this library does, such as sklearn",
        more: "Uses the library's measure names, tie order, score type, relevant documents and \
            queries. `laneval measures --as` lists the libraries.",
        heading: "Library",
        others: &["eval", "compare", "show", "build", "pools", "check"],
        keyword: named(
            "as_",
            "",
            "The library as which to evaluate, such as `\"sklearn\"`: names of measures, `ties`, \
             `score_type`, `relevant_from` and `queries` are its own, and given ones have to \
             agree. \
             `laneval measures --as` lists the libraries.",
        ),
        ..ROW
    },
    OptionRow {
        id: "relevant-from",
        former: &["known"],
        value: Value::Choice("WHICH", || {
            vec![
                ("judged", "all relevant documents of the qrels"),
                (
                    "retrieved",
                    "those that the run retrieved, as for programs that are given lists and no \
                     judgments",
                ),
            ]
        }),
        first: "Relevant documents that recall counts [default: judged]",
        more: "Recall divides by them and ideal rankings contain them. `retrieved` means retrieved \
            after -M and -J.",
        heading: "Library",
        others: &["eval", "compare", "show"],
        ..RANKING
    },
    // Statistics
    OptionRow {
        id: "baseline",
        value: Text("RUN|FILE", ANY),
        first: "Compare with this run, or with stored scores",
        more: "Without it every pair is compared. The file is what `laneval eval --per-query` \
            wrote of one run, as tsv, csv, json or jsonl, of the same queries and measures.",
        common: &["compare"],
        ..STATISTICS
    },
    OptionRow {
        id: "test",
        value: Value::Choice("TEST", || {
            vec![
                ("t", "the paired t test"),
                (
                    "randomisation",
                    "random signs, or all signs where few queries differ; no assumption of \
                     normality",
                ),
                ("wilcoxon", "signed ranks: which way differences lean, not the mean"),
                ("sign", "signs alone: which way differences lean, not the mean"),
            ]
        }),
        default: "t",
        first: "Test behind the verdict",
        common: &["compare"],
        ..STATISTICS
    },
    OptionRow {
        id: "alternative",
        value: Value::Choice("WHAT", || {
            vec![
                ("two-sided", "the systems differ"),
                ("better", "the run is better than its baseline"),
                ("worse", "the run is worse than its baseline"),
            ]
        }),
        default: "two-sided",
        first: "Alternative hypothesis of the test",
        others: &["compare"],
        ..STATISTICS
    },
    OptionRow {
        id: "alpha",
        value: Number("P", REAL),
        default: "0.05",
        first: "Significance level of the tests",
        others: &["compare"],
        ..STATISTICS
    },
    OptionRow {
        id: "correction",
        value: Value::Choice("HOW", || {
            vec![
                (
                    "none",
                    "one in twenty comparisons of equal systems is a false alarm at --alpha 0.05",
                ),
                ("bonferroni", "every p times the number of comparisons"),
                ("holm", "as safe as bonferroni, with more power"),
                (
                    "bh",
                    "limits the share of false alarms among significant differences \
                     (Benjamini-Hochberg)",
                ),
                (
                    "by",
                    "as bh, however the comparisons depend on one another \
                     (Benjamini-Yekutieli)",
                ),
                ("maxt", "the largest statistic under random signs; most power with many runs"),
                ("hsd", "Tukey's, on a two-way analysis of variance"),
                ("rhsd", "the same by random labels (randomised HSD)"),
            ]
        }),
        default: "holm",
        first: "Correction for multiple comparisons",
        common: &["compare"],
        ..STATISTICS
    },
    OptionRow {
        id: "family",
        value: Value::Choice("WHAT", || {
            vec![
                ("measure", "the pairs under each measure"),
                ("all", "all pairs under all measures"),
            ]
        }),
        default: "measure",
        first: "Which p-values are corrected together",
        others: &["compare"],
        ..STATISTICS
    },
    OptionRow {
        id: "ci",
        value: Value::Choice("HOW", || {
            vec![
                ("t", "the t interval"),
                ("bootstrap", "percentiles of 9,999 resamples of the queries"),
                ("bca", "the same, corrected for bias and skewness"),
            ]
        }),
        default: "t",
        first: "Confidence interval of differences",
        common: &["compare"],
        ..STATISTICS
    },
    OptionRow {
        id: "margin",
        value: Number("DELTA", REAL),
        first: "Equivalence margin: adds two one-sided tests (TOST)",
        more: "Below this margin differences do not matter in practice.",
        common: &["compare"],
        ..STATISTICS
    },
    OptionRow {
        id: "power",
        value: Number("DELTA", REAL),
        first: "Queries needed to detect DELTA (80 % power)",
        more: "Paired t test at --alpha, with the observed standard deviation.",
        common: &["compare"],
        ..STATISTICS
    },
    OptionRow {
        id: "anova",
        first: "Print the two-way analysis of variance (ANOVA)",
        others: &["compare"],
        ..STATISTICS
    },
    OptionRow {
        id: "permutations",
        value: Text("N", DRAWS),
        first: "Random sign draws: N, `auto` or `exact`",
        more: "`auto` draws until every p is clearly above or below --alpha. `exact` also counts \
            all flips of signs for \
            pairs of which at most 40 queries differ. The default is 99999 where that takes \
            seconds.",
        others: &["compare"],
        ..STATISTICS
    },
    OptionRow {
        id: "value-bound",
        former: &["largest"],
        value: Text("MEASURE=VALUE", VALUE_BOUND),
        is_repeatable: true,
        first: "Upper bound of a measure's values, to merge parts",
        more: "It holds for a query under the measure, in any part of the comparison; `laneval \
            merge` says when it is needed.",
        others: &["compare"],
        ..STATISTICS
    },
    OptionRow {
        id: "tie-epsilon",
        former: &["tie"],
        value: Number("EPS", REAL),
        first: "Per-query differences up to EPS count as ties",
        more: "By default only differences that rounding makes do.",
        others: &["compare"],
        ..STATISTICS
    },
    OptionRow {
        id: "wilcoxon-method",
        former: &["wilcoxon"],
        value: Value::Choice("HOW", || {
            vec![
                ("auto", "exactly up to 50 differences, else by the normal distribution"),
                ("normal", "by the normal distribution"),
            ]
        }),
        default: "auto",
        first: "p-value of the Wilcoxon test: auto or normal",
        others: &["compare"],
        ..STATISTICS
    },
    OptionRow {
        id: "wilcoxon-zeros",
        former: &["zeros"],
        value: Value::Choice("HOW", || {
            vec![("wilcox", "they are left out"), ("pratt", "they have ranks, which are left out")]
        }),
        default: "wilcox",
        first: "Zero differences in the Wilcoxon test: wilcox or pratt",
        others: &["compare"],
        ..STATISTICS
    },
    OptionRow {
        id: "seed",
        value: Number("N", SEED),
        first: "Seed of all random draws [default: 0x6c616e6576616c31]",
        others: &["compare"],
        ..STATISTICS
    },
    // Gates
    OptionRow {
        id: "fail-if",
        value: Text("GATE", THRESHOLD),
        is_repeatable: true,
        first: "Exit with code 1 if GATE is true, such as 'AP < 0.3'",
        more: "It is about the average of a run; also <=, > and >=. The option may be repeated. A \
            gate that cannot be computed is exit code 2, never a pass.",
        heading: "Gates",
        common: &["eval"],
        ..ROW
    },
    OptionRow {
        id: "fail-if",
        value: Text("GATE", GATE),
        is_repeatable: true,
        first: "Exit with code 1 if GATE is true: 'AP drops > 1%'",
        more: "The option may be repeated. MEASURE < NUMBER (also <=, >, >=) looks at the run's \
            mean. `drops`, `rises` (where lower is better) and `worse` compare the run with the \
            baseline, or with the first run: 'nDCG@10 drops > 0.005', 'nDCG@10 drops > 1%', 'AP \
            worse p<0.05'. `may drop > 0.005` is true unless the data show that a drop is smaller. \
            A gate with p is about queries like these, and p<0.05 stops up to 5 % of builds that \
            changed nothing. A gate that cannot be computed is exit code 2, never a pass.",
        heading: "Gates",
        common: &["compare", "merge"],
        ..ROW
    },
    // Output
    OptionRow {
        id: "output",
        short: Some('o'),
        value: Path("FILE"),
        is_repeatable: true,
        first: "Output file; repeatable; `-` is stdout",
        more: "Written atomically; the extension sets the format.",
        common: &["eval", "compare", "merge"],
        ..OUTPUT
    },
    OptionRow {
        id: "output",
        short: Some('o'),
        value: Path("FILE"),
        first: "Output file; `-` is stdout",
        more: "Written atomically; the extension sets the format.",
        common: &["pools", "identify", "show", "bench"],
        ..OUTPUT
    },
    OptionRow {
        id: "output",
        short: Some('o'),
        value: Path("FILE.lmx"),
        is_required: true,
        first: "The label matrix to write",
        more: "It appears only when it is complete.",
        common: &["build"],
        ..OUTPUT
    },
    OptionRow {
        id: "output",
        short: Some('o'),
        value: Path("OUT"),
        is_required: true,
        first: "The file to write; its extension sets the format",
        more: "It is .trec, .run, .qrels, .tsv or .jsonl, also with .gz; .parquet; or \
            .lmx, as `build` makes it. It appears only when it is complete.",
        common: &["convert"],
        ..OUTPUT
    },
    OptionRow {
        id: "output",
        short: Some('o'),
        value: Path("DIR|FILE.lmx"),
        is_required: true,
        first: "The folder to write into, or a label matrix (.lmx)",
        more: "The folder is made if it is missing.",
        common: &["gen"],
        ..OUTPUT
    },
    OptionRow {
        value: Value::Choice("FORMAT", || FORMATS.to_vec()),
        more: "Without -o it is a table on a terminal, and tsv in a pipe. junit has the results of \
            --fail-if.",
        common: &["eval", "compare", "merge"],
        ..FORMAT
    },
    OptionRow {
        value: Value::Choice("FORMAT", || POOL_FORMATS.to_vec()),
        common: &["pools"],
        ..FORMAT
    },
    OptionRow {
        value: Value::Choice("FORMAT", || SHOW_FORMATS.to_vec()),
        common: &["show"],
        ..FORMAT
    },
    OptionRow {
        value: Value::Choice("FORMAT", || PLAIN_FORMATS.to_vec()),
        first: "Output format [default: from -o, else table]",
        more: "",
        common: &["identify", "bench"],
        ..FORMAT
    },
    OptionRow {
        value: Value::Choice("FORMAT", || PLAIN_FORMATS.to_vec()),
        default: "table",
        first: "Output format",
        more: "",
        common: &["info", "measures"],
        ..FORMAT
    },
    OptionRow {
        value: Value::Choice("FORMAT", || vec![("text", "sentences"), ("json", "one document")]),
        default: "text",
        first: "Output format",
        more: "",
        common: &["check"],
        ..FORMAT
    },
    OptionRow {
        id: "precision",
        value: Number("N", DECIMALS),
        first: "Decimals [default: 4 in tables]",
        more: "The format trec has 4 too; elsewhere as many as it takes to read the same number \
            back.",
        common: &["eval", "compare", "pools", "show", "merge"],
        ..OUTPUT
    },
    OptionRow {
        id: "per-query",
        short: Some('q'),
        first: "Also write per-query scores",
        more: "`compare` writes their differences too; a table has the queries that differ most.",
        common: EVALUATING,
        keyword: PYTHON,
        ..OUTPUT
    },
    OptionRow {
        id: "wide",
        first: "One row per query, one column per measure (tsv, csv)",
        more: "The rows of averages have `all` in the column query_id. With --stat a column \
            `stat` names the statistic of a row. `merge` has a row for each run.",
        common: &["merge"],
        others: &["eval"],
        ..OUTPUT
    },
    OptionRow {
        id: "sort",
        value: Text("MEASURE", ORDER),
        first: "Sort runs by MEASURE; `input` keeps their order",
        more: "The best run is first in tables. Without this option they are so from six runs on, \
            by the first measure. Formats for programs keep the order of the input.",
        common: &["compare"],
        ..OUTPUT
    },
    OptionRow { value: Number("N", NATURAL), more: "They are runs.", common: &["compare"], ..TOP },
    OptionRow {
        more: "They are ranks, and 0 shows all of them. By default a table has the ranks down to \
            the deepest cutoff if all measures have one, else 20; on a terminal at most 20.",
        common: &["show"],
        ..TOP
    },
    OptionRow { default: "5", more: "They are classes.", common: &["identify"], ..TOP },
    OptionRow {
        id: "all-pairs",
        first: "Write one sentence for every pair of runs",
        others: &["compare"],
        ..OUTPUT
    },
    OptionRow {
        id: "topics",
        former: &["titles"],
        value: Path("FILE"),
        first: "Query texts: TREC topics, TSV, CSV or JSONL",
        more: "Or lines of id, tab and text, or an object {id: text}. `compare` shows them on the \
            page. A text is cut after 500 characters.",
        common: &["show"],
        others: &["compare"],
        ..OUTPUT
    },
    OptionRow {
        id: "title",
        value: Text("TEXT", ANY),
        first: "Title of the HTML page [default: the run names]",
        others: &["eval", "compare", "merge"],
        ..OUTPUT
    },
    OptionRow {
        id: "partial",
        value: Path("FILE"),
        first: "Also write a part for `laneval merge`",
        more: "It holds counts and exact sums; of `compare`, a sum for each draw of signs too \
            (0.8 MB). Give each shard the same run names (name=path) and options.",
        common: &["eval", "compare", "merge"],
        ..OUTPUT
    },
    OptionRow {
        id: "verbose",
        short: Some('v'),
        first: "Print inputs, engine and time to stderr",
        common: EVALUATING,
        ..OUTPUT
    },
    OptionRow {
        id: "quiet",
        first: "Suppress notes on stderr, but not warnings",
        common: NOTING,
        ..OUTPUT
    },
    OptionRow {
        id: "average-id",
        former: &["all-id"],
        value: Text("TEXT", ANY),
        first: "query_id of the rows of averages [default: empty]",
        more: "With --wide and in trec the default is `all`.",
        others: &["eval", "merge"],
        ..ADVANCED
    },
    OptionRow {
        id: "timing",
        first: "Print the time of each step to stderr",
        others: &["eval"],
        ..ADVANCED
    },
    OptionRow {
        id: "explain",
        first: "Print the evaluation plan and exit",
        others: &["eval"],
        ..ADVANCED
    },
    // Input
    OptionRow {
        id: "query",
        is_required: true,
        value: AnyText("ID", ANY),
        is_repeatable: true,
        first: "The query; repeatable",
        common: &["show"],
        ..INPUT
    },
    OptionRow {
        id: "add-queries",
        former: &["qrels"],
        value: Path("QRELS"),
        first: "Qrels whose other queries count as empty rankings",
        more: "They are in any format: each judged query that no shard of a run had counts.",
        common: &["merge"],
        ..INPUT
    },
    OptionRow { id: "qrels", first: "Read qrels, not a run", common: &["convert"], ..INPUT },
    OptionRow {
        id: "name-by",
        former: &["names"],
        value: Value::Choice("HOW", || {
            vec![
                ("path", "the end of the path, as long as it must be to tell the runs apart"),
                ("stem", "the name of the file without folders and extensions"),
                (
                    "tag",
                    "the tag in the last column of the run; a run without a tag is named by its \
                     path",
                ),
            ]
        }),
        default: "path",
        first: "How to name runs given without name=path",
        common: &["eval", "show", "build"],
        others: &["compare", "pools"],
        ..INPUT
    },
    OptionRow { others: READING, ..QRELS_FORMAT },
    OptionRow {
        id: "run-format",
        value: Value::Choice("FORMAT", input_formats),
        first: "Run format [default: detected]",
        more: "`laneval info FILE` shows which format a file is recognised as. docs/formats.md has \
            a sample of each.",
        common: &["convert", "info"],
        others: RANKED,
        shapes_rankings: true,
        keyword: keyword("Format", ""),
        ..INPUT
    },
    OptionRow {
        id: "columns",
        value: Text("COLUMNS", COLUMNS),
        is_repeatable: true,
        first: "Columns to read: query=NAME,doc=NAME,… or in order",
        more: "NAME is that of a column or a key. In order: query,-,doc,score, where - is not \
            read. With grade instead of score they are of the qrels, which may also have a judge \
            or a subtopic. May be given once for runs and once for qrels.",
        common: &["convert", "info"],
        others: RANKED,
        shapes_rankings: true,
        keyword: keyword(
            "Columns",
            "The names of columns or keys: `{\"doc\": \"pid\"}`; or, for tables without a header, \
             the columns in their order, with `None` for one that is not read: `[\"query\", None, \
             \"doc\", \"score\"]`. A list with `\"grade\"` is judgments. `{\"grade\": None}`: \
             judgments without grades, where each document has grade 1.",
        ),
        ..INPUT
    },
    OptionRow {
        id: "grades",
        value: Text("WORDS", GRADE_WORDS),
        first: "Grades of words in the qrels: E=3,S=2,C=1,I=0",
        more: "For tables and JSON. Without it, and where columns have names, true, yes and \
            relevant are 1, and false, no and irrelevant are 0.",
        others: READING,
        keyword: named(
            "grade_words",
            "Mapping[str, float]",
            "The grades of words in files of judgments: `{\"E\": 3, \"S\": 2, \"C\": 1, \"I\": \
             0}`; those of 1 or more are relevant. Without it, and where columns have names, \
             `true`, `yes` and `relevant` are 1, and `false`, `no` and `irrelevant` are 0.",
        ),
        shapes_rankings: true,
        ..INPUT
    },
    OptionRow {
        id: "subset",
        value: Text("SUBSET", ANY),
        first: "Subset of MTEB predictions, such as en/test",
        others: READING,
        shapes_rankings: true,
        keyword: PYTHON,
        ..INPUT
    },
    OptionRow {
        id: "dialect",
        value: Value::Choice("DIALECT", || {
            vec![
                ("laneval", "that of laneval"),
                ("trec9", "what trec_eval 9 takes"),
                ("trec10", "what trec_eval 10 takes"),
            ]
        }),
        first: "Strictness with which files are read [default: laneval]",
        shapes_rankings: true,
        keyword: PYTHON,
        ..INPUT
    },
    OptionRow {
        id: "buffer",
        former: &["hold"],
        first: "Buffer a piped run, so that its lines may be in any order",
        more: "Without this option queries are evaluated as they come, unless one comes back \
            within the first 32 MiB; one that comes back later is an error.",
        others: &["eval"],
        ..INPUT
    },
    OptionRow {
        id: "letor-groups",
        former: &["groups"],
        value: Path("FILE"),
        first: "Lines per query, for LETOR files without qid",
        more: "Without it the file of the same name and .query or .group is read.",
        others: READING,
        ..INPUT
    },
    OptionRow {
        id: "no-mmap",
        first: "Read files into memory instead of mapping them",
        more: "If another program shortens a mapped file, laneval ends with an error; if it \
            rewrites the file in place, values may be wrong.",
        others: &[
            "eval", "compare", "show", "build", "pools", "identify", "merge", "info", "bench",
        ],
        ..ADVANCED
    },
    OptionRow {
        id: "verify",
        first: "ValueCheck every checksum and every label",
        common: &["info"],
        ..INPUT
    },
    OptionRow {
        id: "keep-ties",
        first: "Store ties, for values over all orders of equal scores",
        more: "`eval --ties average`, best, worst and interval need them. The file is a little \
            larger.",
        common: &["build"],
        keyword: None,
        ..RANKING
    },
    // Aggregating
    OptionRow {
        id: "doc-id",
        former: &["units"],
        value: Text("RULE", DOC_ID_RULE),
        first: "How chunks map to documents: before:#, map:FILE…",
        more: "`before:#` cuts the chunk id at its last `#`, `before-first:#` at its first; an id \
            without # is its own document. `map:FILE` reads lines of chunk<TAB>document; \
            `column:NAME` reads a column or a key, and the id is not read. Qrels then name \
            documents, and equal scores are ordered by the ids of documents.",
        keyword: keyword("str | Mapping[str, str]", ""),
        ..AGGREGATING
    },
    OptionRow {
        id: "qrels-doc-id",
        former: &["qrels-units"],
        value: Text("RULE", DOC_ID_RULE),
        first: "How chunks in the qrels map to documents",
        more: "The largest grade of a document counts.",
        keyword: keyword("str | Mapping[str, str]", ""),
        ..AGGREGATING
    },
    OptionRow {
        id: "aggregate",
        former: &["repeats"],
        value: Text("HOW", AGGREGATION),
        first: "How to merge repeated results [default: error]",
        more: "error: stop. max: best chunk (MaxP), the default with --doc-id. \
            blank: best chunk, later ones stay as unjudged ranks. sum, mean: SumP, AvgP; sum:N and \
            mean:N: of the N best.",
        ..AGGREGATING
    },
    OptionRow {
        id: "max-chunks",
        former: &["rows"],
        value: Number("N", RESULTS),
        first: "Top N chunks per query before merging",
        more: "N is a number from 1.",
        keyword: PYTHON,
        ..AGGREGATING
    },
    OptionRow {
        id: "chunks",
        value: Path("FILE"),
        first: "Make qrels of these chunks out of passages",
        more: "IN is passages (query, document, start, end, grade), and FILE has chunk, document, \
            start, end. Positions count from 0, and the end is exclusive; `length` may stand for \
            it. With --facet subtopic each passage is a subtopic.",
        others: &["convert"],
        needs: &["qrels"],
        shapes_rankings: false,
        keyword: None,
        ..AGGREGATING
    },
    OptionRow {
        id: "chunks",
        value: Path("FILE"),
        first: "Show what this chunking does to passages",
        more: "FILE is a table or records of chunk, document, start and end.",
        others: &["info"],
        shapes_rankings: false,
        keyword: None,
        ..AGGREGATING
    },
    OptionRow {
        id: "min-overlap",
        former: &["share"],
        value: Number("PART", REAL),
        first: "Least part that chunk and passage share [default: 0.5]",
        more: "It is a part of the shorter of both, above 0 and at most 1.",
        others: &["convert"],
        needs: &["chunks"],
        shapes_rankings: false,
        keyword: None,
        ..AGGREGATING
    },
    // Engine
    OptionRow {
        id: "threads",
        value: Number("N", THREADS),
        first: "Number of threads [default: all]",
        more: "It is at most 64, or four times as many as the machine has.",
        common: &["eval", "build", "bench"],
        others: &["compare", "pools", "identify", "show", "gen"],
        keyword: keyword(
            "",
            "The number of threads, at most 64 or four times as many as the machine has. The \
             default is `LANEVAL_THREADS`, or else one per processor. Calls from several threads \
             run side by side.",
        ),
        ..ENGINE
    },
    OptionRow {
        id: "engine",
        value: Value::Choice("ENGINE", || {
            vec![
                ("auto", "the fastest for the data at hand"),
                ("cpu", "SIMD on all threads"),
                (
                    "gpu",
                    "compute shaders, with sums in integers; exit code 2 where there is no GPU",
                ),
                ("reference", "the plain formulas, slow and obvious, to check a number"),
            ]
        }),
        default: "auto",
        first: "Engine: auto, cpu, gpu or reference",
        others: EVALUATING,
        keyword: PYTHON,
        ..ENGINE
    },
    OptionRow {
        id: "adapter",
        value: Text("NAME|INDEX", ADAPTER),
        first: "GPU to use: its number or a part of its name",
        more: "`laneval devices` lists them. The option turns --engine auto into gpu. The default \
            is the most powerful one; a software adapter is used only when named.",
        others: &["eval", "compare", "bench"],
        keyword: PYTHON,
        ..ENGINE
    },
    OptionRow {
        id: "progress",
        first: "Show the progress on stderr",
        keyword: keyword(
            "bool | Callable[[int, int], object]",
            "Show the progress on stderr, or call a function with two numbers of the same unit, \
             the work done and the total, both from 0.",
        ),
        ..ENGINE
    },
    OptionRow {
        id: "seconds",
        value: Number("S", SECONDS),
        default: "0.5",
        first: "Seconds for which each row is run, again and again",
        common: &["bench"],
        ..ENGINE
    },
    // Synthetic data
    OptionRow { default: "1000", common: &["gen"], ..QUERY_COUNT },
    OptionRow { default: "20000", common: &["bench"], ..QUERY_COUNT },
    OptionRow {
        id: "results",
        former: &["depth"],
        value: Number("K", NATURAL),
        default: "1000",
        first: "Documents that a run retrieves for a query",
        common: &["gen", "bench"],
        ..DATA
    },
    OptionRow {
        id: "judged",
        value: Number("J", NATURAL),
        default: "20",
        first: "Judged documents of a query",
        more: "There are more if --density needs more.",
        common: &["gen"],
        ..DATA
    },
    OptionRow {
        id: "grades",
        value: Number("G", GRADES),
        default: "4",
        first: "Number of grades: from 0 to G - 1",
        common: &["gen", "bench"],
        ..DATA
    },
    OptionRow {
        first: "Share of the retrieved documents that are relevant",
        more: "Without it, documents are relevant as the judged ones \
            happen to be retrieved.",
        common: &["gen"],
        ..DENSITY
    },
    OptionRow { default: "0.01", common: &["bench"], ..DENSITY },
    OptionRow {
        id: "runs",
        value: Number("R", RUNS),
        default: "1",
        first: "Number of runs",
        more: "Each after the first ranks and retrieves a little differently.",
        common: &["gen"],
        ..DATA
    },
    OptionRow {
        id: "seed",
        value: Number("N", SEED),
        default: "1",
        first: "Seed of all random draws",
        common: &["gen", "bench"],
        ..DATA
    },
    // Others
    OptionRow {
        id: "names",
        first: "Print only the canonical names, one on each line",
        common: &["measures"],
        excludes: &["NAME", "format"],
        ..OUTPUT
    },
    OptionRow {
        id: "plain",
        first: "Print a line for each measure in plain words",
        more: "It is for readers who know no information retrieval.",
        common: &["measures"],
        excludes: &["names", "format"],
        ..OUTPUT
    },
    OptionRow {
        id: "as",
        value: Value::OptionalText("LIBRARY"),
        first: "List libraries, or show the options and names of one",
        common: &["measures"],
        excludes: &["NAME", "names", "plain"],
        ..OUTPUT
    },
    OptionRow {
        id: "suite",
        value: Text("NAME", ANY),
        default: "v1",
        first: "The conformance suite",
        common: &["check"],
        ..INPUT
    },
    OptionRow {
        id: "dir",
        value: Path("DIR"),
        first: "Write a page for each command into this folder",
        more: "It is made if it is missing.",
        common: &["man"],
        excludes: &["COMMAND"],
        ..OUTPUT
    },
];
