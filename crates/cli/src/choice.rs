//! Arguments that choose among named values of the library.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use laneval::compare::{Alternative, Correction, Interval, Scope, Test};
use laneval::report::Format;
use laneval::{EngineChoice, JudgedBy, Known, QuerySet, ScoreType, Stat, TiedValue, Ties};

/// A name on the command line, its value, and its text in the help.
pub type NamedChoice<T> = (&'static str, T, &'static str);

/// The treatment of equal scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TieRule {
    /// An order in which equal scores are put.
    Order(Ties),
    /// A value that a measure has over all orders of equal scores.
    Value(TiedValue),
    /// The interval: all of these values.
    Interval,
}

impl TieRule {
    /// Returns the order of equal scores, if they are put in one.
    pub fn order(self) -> Option<Ties> {
        match self {
            TieRule::Order(order) => Some(order),
            TieRule::Value(_) | TieRule::Interval => None,
        }
    }

    /// Returns the name that the rule has on the command line.
    pub fn name(self) -> String {
        match self {
            TieRule::Order(order) => order.to_string(),
            TieRule::Value(tied) => tied.to_string(),
            TieRule::Interval => "interval".to_owned(),
        }
    }
}

/// Lists the treatments of equal scores.
pub fn ties() -> Vec<NamedChoice<TieRule>> {
    let orders = described(&Ties::ALL, |ties| match ties {
        Ties::DocnoDescending => "by document id, bytewise descending, as trec_eval does",
        Ties::DocnoAscending => "by document id, bytewise ascending",
        Ties::Input => "in the order of the run file",
        Ties::Rank => "by the rank column of the run, ascending",
    });
    let values = described(&TiedValue::ALL, |tied| match tied {
        TiedValue::Average => "no order: the expected value over all of them",
        TiedValue::Best => "no order: the best value over all of them",
        TiedValue::Worst => "no order: the worst value over all of them",
        _ => "",
    });
    let values = values.into_iter().filter(|&(_, tied, _)| tied != TiedValue::Ranked);
    let interval = "the expected, best and worst average, and how many queries depend on the order";
    orders
        .into_iter()
        .map(|(name, order, what)| (name, TieRule::Order(order), what))
        .chain(values.map(|(name, tied, what)| (name, TieRule::Value(tied), what)))
        .chain([("interval", TieRule::Interval, interval)])
        .collect()
}

/// The values of a query that several judges have judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverJudges {
    /// One, by this value of the parameter `judges`.
    One(&'static str),
    /// One for each judge.
    Each,
}

/// Lists the values over judges.
pub fn judges() -> Vec<NamedChoice<OverJudges>> {
    vec![
        ("mean", OverJudges::One("mean"), "the mean over the judges of the query"),
        (
            "each",
            OverJudges::Each,
            "the scores of each judge, over the queries that the judge has judged",
        ),
        ("min", OverJudges::One("min"), "the smallest value of a judge of the query"),
        ("max", OverJudges::One("max"), "the largest value of a judge of the query"),
    ]
}

/// Lists the facets of judgments.
pub fn groups() -> Vec<NamedChoice<JudgedBy>> {
    described(&JudgedBy::ALL, |by| match by {
        JudgedBy::Judge => "a judge: `query judge document grade`",
        JudgedBy::Subtopic => "a subtopic of the query: `query subtopic document grade`",
        JudgedBy::Preference => {
            "preferences: `query group document level`, or `query group sub-group document level`"
        }
        JudgedBy::Span => {
            "a passage: records or a table with query, document, start, end and perhaps grade; \
             results have start and end too"
        }
    })
}

/// Lists the types of scores.
pub fn scores() -> Vec<NamedChoice<ScoreType>> {
    described(&ScoreType::ALL, |score| match score {
        ScoreType::F64 => "as trec_eval 10 does",
        ScoreType::F32 => "as trec_eval 9 and pytrec_eval do: more scores are tied",
    })
}

/// Lists the sets of queries that count.
pub fn query_sets() -> Vec<NamedChoice<QuerySet>> {
    described(&QuerySet::ALL, |queries| match queries {
        QuerySet::Judged => "every judged query; one that the run lacks scores 0",
        QuerySet::Both => "only the judged queries that are in the run, as trec_eval does",
        QuerySet::Complete => "every judged query; it is an error if the run lacks one",
        _ => "",
    })
}

/// Lists what may be known of the relevant documents.
pub fn known() -> Vec<NamedChoice<Known>> {
    described(&Known::ALL, |known| match known {
        Known::Judged => "all that were judged",
        Known::Retrieved => {
            "those that the run retrieved, as for programs that are given lists and no judgments"
        }
        _ => "",
    })
}

/// Lists the engines.
pub fn engines() -> Vec<NamedChoice<EngineChoice>> {
    described(&EngineChoice::ALL, |engine| match engine {
        EngineChoice::Auto => "the fastest for the data at hand",
        EngineChoice::Cpu => "SIMD on all threads",
        EngineChoice::Gpu => {
            "compute shaders, with sums in integers; exit code 2 where there is no GPU"
        }
        EngineChoice::Reference => "the plain formulas, slow and obvious, to check a number",
        _ => "",
    })
}

/// Lists the tests of a comparison.
pub fn tests() -> Vec<NamedChoice<Test>> {
    described(&Test::ALL, |test| match test {
        Test::T => "the paired t test",
        Test::Randomisation => {
            "random signs, or all signs where few queries differ; no assumption of normality"
        }
        Test::Wilcoxon => "signed ranks: which way differences lean, not the mean",
        Test::Sign => "signs alone: which way differences lean, not the mean",
        _ => "",
    })
}

/// Lists the alternatives to the hypothesis of a comparison that runs are equal.
pub fn alternatives() -> Vec<NamedChoice<Alternative>> {
    described(&Alternative::ALL, |alternative| match alternative {
        Alternative::TwoSided => "the systems differ",
        Alternative::Better => "the run is better than its baseline",
        Alternative::Worse => "the run is worse than its baseline",
        _ => "",
    })
}

/// Lists the corrections for many comparisons.
pub fn corrections() -> Vec<NamedChoice<Correction>> {
    described(&Correction::ALL, |correction| match correction {
        Correction::None => "none: one in twenty comparisons of equal systems is a false alarm",
        Correction::Bonferroni => "every p times the number of comparisons",
        Correction::Holm => "as safe as bonferroni, with more power",
        Correction::Bh => {
            "limits the share of false alarms among significant differences (Benjamini-Hochberg)"
        }
        Correction::By => {
            "the same, however the comparisons depend on one another (Benjamini-Yekutieli)"
        }
        Correction::MaxT => "the largest statistic under random signs; most power with many runs",
        Correction::Hsd => "Tukey's, on a two-way analysis of variance",
        Correction::Rhsd => "the same by random labels (randomised HSD)",
        _ => "",
    })
}

/// Lists the sets of comparisons that a correction looks at together.
pub fn scopes() -> Vec<NamedChoice<Scope>> {
    described(&Scope::ALL, |scope| match scope {
        Scope::Measure => "the pairs under each measure",
        Scope::All => "all pairs under all measures",
        _ => "",
    })
}

/// Lists the intervals of a difference.
pub fn intervals() -> Vec<NamedChoice<Interval>> {
    described(&Interval::ALL, |interval| match interval {
        Interval::T => "the t interval",
        Interval::Bootstrap => "percentiles of 9,999 resamples of the queries",
        Interval::Bca => "the same, corrected for bias and skewness",
        _ => "",
    })
}

/// Lists the formats of scores.
pub fn formats() -> Vec<NamedChoice<Format>> {
    described(&Format::ALL, |format| match format {
        Format::Table => "aligned columns for people",
        Format::Tsv => "rows of run, query_id, measure, stat, value, separated by tabs",
        Format::Csv => "the same rows, separated by commas",
        Format::Json => "one document, with the queries that were missing or ignored",
        Format::Jsonl => "the same rows, one JSON object per line",
        Format::Trec => "the lines of trec_eval",
        Format::Markdown => "a table of Markdown",
        Format::Latex => "a table of LaTeX (booktabs)",
        Format::Html => "a page for a browser, with charts",
        Format::Svg => "one chart: a measure over its cutoffs, or differences of runs",
        Format::Junit => "the results of gates, for build servers",
        _ => "",
    })
}

/// Lists the statistics besides the average.
pub fn stats() -> Vec<NamedChoice<Stat>> {
    described(&Stat::ALL, |_| "")
}

/// A format of output other than scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainFormat {
    /// A table for people.
    Table,
    /// JSON for programs.
    Json,
}

/// Lists the formats of output other than scores.
pub fn plain() -> Vec<NamedChoice<PlainFormat>> {
    vec![("table", PlainFormat::Table, ""), ("json", PlainFormat::Json, "")]
}

/// Lists options of the library by their names, with the text of each in the help.
pub fn described<T: Copy>(
    all: &[(&'static str, T)],
    help: impl Fn(T) -> &'static str,
) -> Vec<NamedChoice<T>> {
    all.iter().map(|&(name, value)| (name, value, help(value))).collect()
}

/// Reads a part of the name of an adapter, or its number.
pub fn adapter(text: &str) -> Result<String, String> {
    let named = Some(text).filter(|text| !text.trim().is_empty());
    named.map(str::to_owned).ok_or_else(|| "a number, or a part of a name, was expected".to_owned())
}

/// Returns a parser that accepts the names of `choices`.
pub fn one_of<T: Copy + Send + Sync + 'static>(
    choices: impl Into<Vec<NamedChoice<T>>>,
) -> impl TypedValueParser<Value = T> {
    let choices = choices.into();
    let possible = |&(name, _, help): &NamedChoice<T>| match help {
        "" => PossibleValue::new(name),
        help => PossibleValue::new(name).help(help),
    };
    PossibleValuesParser::new(choices.iter().map(possible).collect::<Vec<_>>()).try_map(
        move |name| {
            let chosen = choices.iter().find(|(of, ..)| *of == name);
            chosen.map(|&(_, value, _)| value).ok_or("not among the choices")
        },
    )
}

/// Returns each statistic once, in the order asked for.
pub fn distinct(stats: &[Stat]) -> Vec<Stat> {
    let first = |&(at, stat): &(usize, &Stat)| !stats[..at].contains(stat);
    stats.iter().enumerate().filter(first).map(|(_, &stat)| stat).collect()
}
