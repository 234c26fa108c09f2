//! The table of libraries that laneval can imitate (`--as`): their options, versions and the
//! evidence.
//!
//! A library is one row. The library's names of measures are rows of [`FOREIGN`](super::FOREIGN),
//! found by the [`Tool`]s of the library. A prefix (`xgboost:map@5`) takes only names from a row;
//! `--as xgboost` takes its options too. Bare digits at the end of a prefix are an older version.

use std::{fmt, iter};

use crate::error::{Error, Result, unanswerable};

/// A tool with names of its own for measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// trec_eval 9 and 10, and pytrec_eval.
    TrecEval,
    /// trec_eval since version 10.
    TrecEval10,
    /// ranx.
    Ranx,
    /// ir_measures.
    IrMeasures,
    /// BEIR, and MTEB after it.
    Beir,
    /// No tool in particular.
    Common,
    /// The library with this prefix.
    Library(&'static str),
}

impl Tool {
    /// Returns the name of the tool, such as `trec_eval 10`, for messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::TrecEval10 => "trec_eval 10",
            Self::Common => "the literature",
            _ => Profile::for_tool(self).map_or("?", |profile| profile.library),
        }
    }

    /// Returns the prefix before a `:` that chooses the tool's names of measures; empty for a tool
    /// without one.
    pub fn prefix(self) -> &'static str {
        Profile::for_tool(self).map_or("", |profile| profile.prefix)
    }
}

/// A library whose evaluation laneval can imitate.
#[derive(Debug)]
pub struct Profile {
    /// The prefix of its names, and the value of `--as`.
    pub prefix: &'static str,
    /// The name of the library.
    pub library: &'static str,
    /// The versions of the library that the row describes.
    pub versions: &'static str,
    /// The tools whose names of measures the library has.
    pub tools: &'static [Tool],
    /// The options of an evaluation that the library fixes, each with its word: `ties`,
    /// `score-type`, `relevant-from`, `queries`.
    pub options: &'static [(&'static str, &'static str)],
    /// The lowest relevant grade of its binary measures, as [`parse_level`](super::parse_level)
    /// reads it; 0 where every judged document counts. Where the library is given sets of relevant
    /// documents, it is 1.
    pub relevant: &'static str,
    /// The evidence for the row.
    pub seen: Provenance,
    /// The place in the sources of the library.
    pub source: &'static str,
    /// The known differences from the library; empty if none are known.
    pub note: &'static str,
}

/// The evidence for the formulas and options of a library: run, a function of it run, or source
/// read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provenance {
    /// The library was run.
    Run,
    /// Its own function or file was run, taken out of the package.
    Function,
    /// Its source was read.
    Source,
}

impl Provenance {
    /// Every name, in the order of the variants.
    pub const ALL: [(&'static str, Self); 3] =
        [("run", Run), ("function", Function), ("source", Source)];
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = Self::ALL.iter().find(|(_, seen)| seen == self);
        f.pad(named.map_or("?", |(name, _)| name))
    }
}

/// The effect of each option on an evaluation, worded as the end of a sentence about a library.
const SAYS: &[(&str, &str, &str)] = &[
    ("ties", "docno-desc", "puts equal scores in descending order of their ids"),
    ("ties", "input", "keeps equal scores in the order of the input"),
    ("ties", "average", "averages over equal scores"),
    ("ties", "worst", "puts equal scores in the worst order"),
    ("score-type", "f32", "compares scores as f32"),
    ("score-type", "f64", "compares scores as f64"),
    ("relevant-from", "retrieved", "knows retrieved documents only"),
    ("queries", "judged", "counts every judged query"),
    ("queries", "common", "leaves out queries that the run lacks"),
    ("rel", "1", "counts grades of 1 and more as relevant"),
    ("rel", ">0", "counts all grades above 0 as relevant"),
    ("rel", ">0.5", "counts grades above 0.5 as relevant"),
    ("rel", "0", "counts every judged document as relevant"),
];

/// The evaluation options that a library fixes, each with its word, such as `ties` with `input`.
type FixedOptions = &'static [(&'static str, &'static str)];

const AS_TREC_EVAL: FixedOptions =
    &[("ties", "docno-desc"), ("score-type", "f64"), ("queries", "common")];
const AS_TREC_EVAL_9: FixedOptions =
    &[("ties", "docno-desc"), ("score-type", "f32"), ("queries", "common")];
const TREC_EVAL: Profile = Profile {
    prefix: "trec",
    library: "trec_eval",
    versions: "10",
    tools: &[Tool::TrecEval, Tool::TrecEval10],
    options: AS_TREC_EVAL,
    relevant: "1",
    seen: Run,
    source: "m_*.c, form_res_rels.c",
    note: "",
};
/// A library with input of ordered documents for each query, and all judgments.
const ORDERED: FixedOptions = &[("ties", "input")];
/// [`ORDERED`], averaged over all users or queries with judgments.
const ORDERED_OF_ALL: FixedOptions = &[("ties", "input"), ("queries", "judged")];
/// A library with input of scores and grades, sorted by a stable sort.
const LISTS: FixedOptions =
    &[("ties", "input"), ("relevant-from", "retrieved"), ("queries", "common")];
/// [`LISTS`] with scores of f32.
const LISTS_OF_F32: FixedOptions = &[
    ("ties", "input"),
    ("score-type", "f32"),
    ("relevant-from", "retrieved"),
    ("queries", "common"),
];
/// [`LISTS_OF_F32`], averaged over equal scores.
const AVERAGED_F32: FixedOptions = &[
    ("ties", "average"),
    ("score-type", "f32"),
    ("relevant-from", "retrieved"),
    ("queries", "common"),
];

/// Names of libraries, mistaken for a prefix, each with the correct prefix.
const ALSO_CALLED: [(&str, &str); 2] = [("trec_eval", "trec"), ("pytrec_eval", "trec9")];

use Provenance::{Function, Run, Source};
use Tool::Library;

impl Profile {
    /// All libraries, the newest version of each before its older ones.
    #[rustfmt::skip] // a row each
    pub const ALL: &[Self] = &[
        TREC_EVAL,
        Self { prefix: "trec10", library: "trec_eval 10", ..TREC_EVAL },
        Self {
            prefix: "trec9", library: "trec_eval 9", versions: "9, pytrec_eval 0.5",
            tools: &[Tool::TrecEval], options: AS_TREC_EVAL_9, ..TREC_EVAL
        },
        Self {
            prefix: "irm", library: "ir_measures", versions: "0.4.3", tools: &[Tool::IrMeasures],
            options: &[("ties", "docno-desc"), ("score-type", "f32"), ("queries", "judged")],
            relevant: "1", seen: Run, source: "providers/",
            note: "RR@k puts equal scores in ascending order of their ids there, RR in descending \
                   order; \
                   nDCG(dcg=exp-log2) and ERR are rounded to 5 decimals a query",
        },
        Self {
            prefix: "ranx", library: "ranx", versions: "0.3.21", tools: &[Tool::Ranx],
            options: ORDERED, relevant: "1", seen: Run, source: "metrics/",
            note: "bpref is not a number where no document is judged not relevant",
        },
        Self {
            prefix: "sklearn", library: "scikit-learn", versions: "1.9.1",
            tools: &[Library("sklearn")],
            options: &[("ties", "average"), ("relevant-from", "retrieved"), ("queries", "common")],
            relevant: "1", seen: Run, source: "metrics/_ranking.py:1457, 1702, 1708",
            note: "average_precision_score takes grades of 0 and 1 alone; ndcg_score refuses \
                   negative grades and a list of one document, and with \
                   ignore_ties=True sorts unstably; without documents of both kinds roc_auc_score \
                   is not a number",
        },
        Self {
            prefix: "torchmetrics", library: "torchmetrics", versions: "1.9.0",
            tools: &[Library("torchmetrics")],
            options: AVERAGED_F32,
            relevant: ">0", seen: Source, source: "functional/retrieval/ndcg.py:105, \
                average_precision.py:62",
            note: "a document of score 0 or below is no hit there; only nDCG averages over equal \
                   scores, others sort them unstably; \
                   empty_target_action is no_relevant=0, 1 or skip here; Precision and Recall add \
                   up fractional grades, and all but nDCG refuse \
                   grades above 1",
        },
        Self {
            prefix: "torchmetrics0", library: "torchmetrics \
                0.11", versions: "0.11.4", tools: &[Library("torchmetrics")],
            options: &[
                ("score-type", "f32"), ("relevant-from", "retrieved"), ("queries", "common"),
            ],
            relevant: ">0", seen: Source, source: "functional/retrieval/ndcg.py, \
                average_precision.py",
            note: "a document of score 0 or below is no hit there; equal scores are sorted \
                   unstably: --ties best and worst are bounds",
        },
        Self {
            prefix: "tfr", library: "TF-Ranking", versions: "0.5.5", tools: &[Library("tfr")],
            options: AVERAGED_F32,
            relevant: "1", seen: Source, source: "metrics_impl.py:202, 620, 652",
            note: "equal scores are shuffled there, so that its value is the average only in the \
                   long run; weights of queries are not known here; \
                   a document with a negative grade is taken out of its list there",
        },
        Self {
            prefix: "lightgbm", library: "LightGBM", versions: "4.7.0",
            tools: &[Library("lightgbm")],
            options: LISTS, relevant: ">0.5", seen: Run, source: "rank_metric.hpp:98, \
                map_metric.hpp:100", note: "refuses negative grades in ndcg",
        },
        Self {
            prefix: "xgboost", library: "XGBoost", versions: "2 and later",
            tools: &[Library("xgboost")],
            options: LISTS_OF_F32,
            relevant: "1", seen: Run, source: "3.2.0: rank_metric.cc:320, 385, 444",
            note: "map and pre refuse other grades than 0 and 1, and ndcg negative ones; auc \
                   counts pairs of equal grades too, and has no \
                   measure here",
        },
        Self {
            prefix: "xgboost1", library: "XGBoost 1", versions: "1.7.6",
            tools: &[Library("xgboost1")],
            options: LISTS_OF_F32,
            relevant: "1", seen: Run, source: "rank_metric.cc",
            note: "grades are cut to whole numbers; a negative one is relevant in map and pre \
                   there, and a gain of some 2^31 in ndcg; auc counts \
                   pairs of equal grades too, and has no measure here",
        },
        Self {
            prefix: "catboost", library: "CatBoost", versions: "1.2.10",
            tools: &[Library("catboost")],
            options: &[("ties", "worst"), ("relevant-from", "retrieved"), ("queries", "common")],
            relevant: ">0.5", seen: Run, source: "metrics/dcg.cpp, doc_comparator.h:4, \
                precision_recall_at_k.cpp",
            note: "a negative grade is a negative gain there, and an ideal below 0 is as if \
                   nothing were relevant; \
                   QueryAUC counts ties by half (--ties average here), and is 0 for a list of \
                   relevant documents only; \
                   ERR has no measure here",
        },
        Self {
            prefix: "ranklib", library: "RankLib", versions: "2020",
            tools: &[Library("ranklib")],
            options: &[("relevant-from", "retrieved"), ("queries", "common")],
            relevant: ">0", seen: Run, source: "e43f605: NDCGScorer:120, APScorer:93, ERRScorer:25",
            note: "with -qrel all judged documents count there: take ranklib: names without --as",
        },
        Self {
            prefix: "beir", library: "BEIR", versions: "2.2.0", tools: &[Tool::Beir],
            options: AS_TREC_EVAL_9, relevant: "1", seen: Run, source: "custom_metrics.py:20, 55",
            note: "averages are rounded to 5 decimals; MRR, R_cap and Accuracy keep equal scores \
                   in the order of the input there, \
                   and count fractional grades, which the others refuse; R_cap fails where nothing \
                   is relevant",
        },
        Self {
            prefix: "mteb", library: "MTEB", versions: "2.26", tools: &[Library("mteb")],
            options: AS_TREC_EVAL_9, relevant: "1", seen: Function,
            source: "retrieval_metrics.py:41", note: "averages are rounded to 5 decimals",
        },
        Self {
            prefix: "mteb1", library: "MTEB 1", versions: "1.38", tools: &[Library("mteb")],
            options: AS_TREC_EVAL_9, relevant: "1", seen: Function,
            source: "evaluation/evaluators/utils.py",
            note: "averages are rounded to 5 decimals; mrr keeps equal scores in the order of the \
                   input there",
        },
        Self {
            prefix: "st", library: "sentence-transformers", versions: "2025-10",
            tools: &[Library("st")],
            options: ORDERED_OF_ALL, relevant: "1", seen: Function,
            source: "InformationRetrievalEvaluator.py:152, 485, 499",
            note: "RerankingEvaluator takes scikit-learn's ndcg_score and average_precision_score: \
                   --as sklearn",
        },
        Self {
            prefix: "recbole", library: "RecBole", versions: "1.2.1",
            tools: &[Library("recbole")],
            options: ORDERED_OF_ALL, relevant: "0", seen: Function,
            source: "evaluator/metrics.py:134, 193",
            note: "averages are rounded to 4 decimals; torch.topk orders equal scores before",
        },
        Self {
            prefix: "rectools", library: "RecTools", versions: "0.19.0",
            tools: &[Library("rectools")],
            options: ORDERED_OF_ALL, relevant: "0", seen: Run, source: "metrics/ranking.py:380, \
                463",
            note: "NDCG divides by k relevant documents there, whatever the judgments",
        },
        Self {
            prefix: "replay", library: "RePlay", versions: "0.22",
            tools: &[Library("replay")],
            options: ORDERED_OF_ALL, relevant: "0", seen: Function,
            source: "metrics/map.py:70", note: "",
        },
        Self {
            prefix: "recommenders", library: "recommenders", versions: "1.2.1",
            tools: &[Library("recommenders")],
            options: &[("ties", "input"), ("queries", "common")],
            relevant: "0", seen: Run, source: "evaluation/python_evaluation.py:785, 833",
            note: "mrr_score of deeprec is RR(over=relevant) --relevant-from retrieved",
        },
        Self {
            prefix: "lenskit", library: "LensKit", versions: "2026-08",
            tools: &[Library("lenskit")],
            options: ORDERED, relevant: "0", seen: Source, source: "metrics/ranking/_map.py:43, \
                _pr.py:70, _weighting.py:122",
            note: "Precision leaves out queries for which nothing was retrieved",
        },
        Self {
            prefix: "cornac", library: "Cornac", versions: "2026-07",
            tools: &[Library("cornac")],
            options: ORDERED_OF_ALL, relevant: "1", seen: Function,
            source: "metrics/ranking.py:120, 485, 523; eval_methods/base_method.py:181",
            note: "every item is ranked there, so that a document that the run lacks does not \
                   occur: --relevant-from retrieved is the same for \
                   lists that are cut; AUC counts ties as wrong (--ties worst here), and MRR fails \
                   without a hit",
        },
        Self {
            prefix: "elastic", library: "Elasticsearch", versions: "8",
            tools: &[Library("elastic")],
            options: ORDERED, relevant: "1", seen: Source, source: "DiscountedCumulativeGain.java, \
                PrecisionAtK.java",
            note: "ignore_unlabeled of precision is --judged-only here",
        },
        Self {
            prefix: "opensearch", library: "OpenSearch", versions: "2025",
            tools: &[Library("opensearch")],
            options: ORDERED, relevant: ">0", seen: Run, source: "search-relevance d8be5d1: \
                Evaluation.java:36, 72, 92",
            note: "every query is rounded to 2 decimals; a negative grade is a negative gain there",
        },
        Self {
            prefix: "quepid", library: "Quepid", versions: "2025",
            tools: &[Library("quepid")],
            options: ORDERED, relevant: ">0", seen: Function, source: "f80322f3: \
                db/scorers/ndcg@10.js:30",
            note: "a negative grade is a negative gain there; cg and dcg are not numbers with an \
                   unrated document",
        },
        Self {
            prefix: "mlflow", library: "mlflow", versions: "3.18",
            tools: &[Library("mlflow")],
            options: ORDERED_OF_ALL, relevant: "1", seen: Function,
            source: "metrics/metric_definitions.py:491",
            note: "a query without relevant and without retrieved documents is worth 1 there",
        },
        Self {
            prefix: "ragas", library: "ragas", versions: "0.4.3", tools: &[Library("ragas")],
            options: ORDERED_OF_ALL, relevant: "1", seen: Function,
            source: "_context_precision.py:119, 239",
            note: "1e-10 is added to the number of hits there",
        },
        Self {
            prefix: "trulens", library: "TruLens", versions: "2",
            tools: &[Library("trulens")],
            options: ORDERED_OF_ALL, relevant: "0", seen: Function, source: "groundtruth.py:387, \
                430",
            note: "with scores precision_at_k takes all documents whose score is that of rank k, \
                   which has no measure here",
        },
        Self {
            prefix: "llamaindex", library: "LlamaIndex", versions: "0.14.25",
            tools: &[Library("llamaindex")],
            options: ORDERED, relevant: "1", seen: Function, source: "retrieval/metrics.py:423",
            note: "a query without relevant or without retrieved documents is refused there",
        },
        Self {
            prefix: "llamaindex0", library: "LlamaIndex \
                0.10", versions: "0.10.68", tools: &[Library("llamaindex0")],
            options: ORDERED, relevant: "1", seen: Function, source: "retrieval/metrics.py",
            note: "a query without relevant or without retrieved documents is refused there",
        },
        Self {
            prefix: "haystack", library: "Haystack", versions: "3.4",
            tools: &[Library("haystack")],
            options: ORDERED, relevant: "0", seen: Function,
            source: "components/evaluators/document_ndcg.py:202",
            note: "the list is evaluated as it is given: cut it to the documents that were given \
                   (-M)",
        },
        Self {
            prefix: "trectools", library: "trectools", versions: "0.0.50",
            tools: &[Library("trectools")],
            options: &[("queries", "common")], relevant: ">0", seen: Source,
            source: "trec_eval.py:346, 463; Hugging Face evaluate calls it",
            note: "get_map orders by score and document id, get_ndcg takes the rows as they come",
        },
        Self {
            prefix: "kaggle", library: "ml_metrics (Kaggle)", versions: "2013",
            tools: &[Library("kaggle")],
            options: ORDERED_OF_ALL, relevant: "1", seen: Source, source: "average_precision.py",
            note: "a document that is repeated is no hit again",
        },
    ];

    /// Returns the library of this prefix (`--as`), such as `ranx`.
    ///
    /// # Errors
    /// Another word; the message says what was probably meant.
    pub fn from_prefix(prefix: &str) -> Result<&'static Profile> {
        Self::find(prefix)
            .map_err(|wrong| Error::Unanswerable(format!("{prefix}: {}", wrong.message)))
    }

    /// Returns the library of this prefix, or the error of an unknown prefix.
    ///
    /// # Errors
    /// Another word: what to say of it.
    pub(super) fn find(prefix: &str) -> Result<&'static Profile, PrefixError> {
        let called = ALSO_CALLED.iter().find(|(name, _)| *name == prefix);
        let prefix = called.map_or(prefix, |(_, target)| target);
        if let Some(profile) = Self::ALL.iter().find(|profile| profile.prefix == prefix) {
            return Ok(profile);
        }
        let family = family(prefix);
        let versions: Vec<&Profile> =
            Self::ALL.iter().filter(|profile| profile.family() == family).collect();
        if let [newest, older @ ..] = versions.as_slice()
            && family.len() < prefix.len()
        {
            let newest = format!("{} ({})", newest.prefix, newest.versions);
            let names: Vec<String> = iter::once(newest)
                .chain(older.iter().map(|profile| profile.prefix.to_owned()))
                .collect();
            return Err(PrefixError {
                is_version: true,
                message: format!("{family} has {}", listed(&names)),
            });
        }
        let written = prefix.to_lowercase();
        let near = Self::ALL
            .iter()
            .map(|profile| (strsim::damerau_levenshtein(&written, profile.prefix), profile.prefix))
            .min_by_key(|&(distance, _)| distance);
        // One letter in three may be wrong; with more wrong letters any short word is near another.
        let most = prefix.chars().count().max(3);
        let message = match near.filter(|(distance, _)| 3 * distance <= most) {
            Some((_, near)) => format!("is no library: did you mean {near}?"),
            None => "is no library: `laneval measures --as` lists them".to_owned(),
        };
        Err(PrefixError { is_version: false, message })
    }

    /// Returns the first library that has a tool's names of measures.
    pub fn for_tool(tool: Tool) -> Option<&'static Profile> {
        Self::ALL.iter().find(|profile| profile.tools.contains(&tool))
    }

    /// Returns the library's prefix without the digits of an older version.
    pub fn family(&self) -> &'static str {
        family(self.prefix)
    }

    /// Returns the library's fixed value of an evaluation option, such as `ties`, if it fixes one.
    pub fn option(&self, option: &str) -> Option<&'static str> {
        if option == "rel" {
            return Some(self.relevant);
        }
        self.options.iter().find(|(name, _)| *name == option).map(|&(_, word)| word)
    }

    /// Rejects a `given` value of an evaluation option that contradicts the library; returns the
    /// library's value. `shown` writes the option with a word, such as `--ties input`.
    ///
    /// # Errors
    /// The library fixes another word.
    pub fn check_option(
        &self,
        as_library: &str,
        option: &str,
        given: Option<&str>,
        shown: impl Fn(&str) -> String,
    ) -> Result<Option<&'static str>> {
        let fixed = self.option(option);
        match (fixed, given) {
            (Some(fixed), Some(given)) if fixed != given => {
                let says = says(option, fixed);
                let given = shown(given);
                let message = format!("{as_library} {says}, {given} does not: leave one out");
                unanswerable(message)
            }
            _ => Ok(fixed),
        }
    }

    /// Describes in words the evaluation options of the library that `counts` picks; `None` if none
    /// is picked.
    pub fn describe_options(&self, counts: impl Fn(&str, &str) -> bool) -> Option<String> {
        let relevant = [("rel", self.relevant)];
        let picked =
            self.options.iter().chain(&relevant).filter(|(option, word)| counts(option, word));
        let words: Vec<String> =
            picked.map(|(option, word)| says(option, word).to_owned()).collect();
        (!words.is_empty()).then(|| format!("{} {}", self.library, listed(&words)))
    }
}

/// The error of an unknown library prefix before the name of a measure.
pub(super) struct PrefixError {
    /// Whether the prefix names a known library in an unknown version.
    pub is_version: bool,
    /// The message about the prefix.
    pub message: String,
}

/// Returns a library's prefix without the digits of an older version.
fn family(prefix: &str) -> &str {
    prefix.trim_end_matches(|c: char| c.is_ascii_digit())
}

/// Describes the effect of a value of an evaluation option, as the end of a sentence about a
/// library.
fn says(option: &str, word: &str) -> &'static str {
    let row = SAYS.iter().find(|(name, is, _)| *name == option && *is == word);
    row.map_or("differs", |(.., says)| says)
}

/// Joins phrases as a list in a sentence, the last one with "and".
fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}
