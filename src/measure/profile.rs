//! The table of libraries: the evaluation options of each library, the versions, and the evidence.
//!
//! A library is one row. The library's names of measures are rows of [`FOREIGN`](super::FOREIGN),
//! found by the [`Tool`]s of the library. A prefix (`xgboost:map@5`) takes only names from a row;
//! `--as xgboost` takes its options too. Bare digits at the end of a prefix are an older version.

use std::{fmt, iter};

use crate::error::{Error, Result};

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
    /// The name of the tool.
    pub fn name(self) -> &'static str {
        match self {
            Tool::TrecEval10 => "trec_eval 10",
            Tool::Common => "the literature",
            _ => Profile::of_tool(self).map_or("?", |profile| profile.library),
        }
    }

    /// The prefix that chooses the tool's vocabulary, before a `:`; empty for a tool without a
    /// prefix.
    pub fn prefix(self) -> &'static str {
        Profile::of_tool(self).map_or("", |profile| profile.prefix)
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
    /// The options of an evaluation that the library fixes, each with its word: `ties`, `score`,
    /// `known`, `queries`.
    pub options: &'static [(&'static str, &'static str)],
    /// The lowest relevant grade of its binary measures, as [`parse_level`](super::parse_level)
    /// reads it; 0 where every judged document counts. Where the library is given sets of relevant
    /// documents, it is 1.
    pub relevant: &'static str,
    /// The evidence for the row.
    pub seen: Seen,
    /// The place in the sources of the library.
    pub source: &'static str,
    /// The known differences from the library; empty if none are known.
    pub note: &'static str,
}

/// The evidence for the formulas and options of a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// The library was run.
    Run,
    /// Its own function or file was run, taken out of the package.
    Function,
    /// Its source was read.
    Source,
}

impl Seen {
    /// Every name, in the order of the variants.
    pub const ALL: [(&'static str, Seen); 3] =
        [("run", Seen::Run), ("function", Seen::Function), ("source", Seen::Source)];
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = Seen::ALL.iter().find(|(_, seen)| seen == self);
        f.pad(named.map_or("?", |(name, _)| name))
    }
}

/// The effect of each option on an evaluation, worded as the end of a sentence about a library.
const SAYS: &[(&str, &str, &str)] = &[
    ("ties", "docno-desc", "puts equal scores in descending order of their ids"),
    ("ties", "input", "keeps equal scores in the order of the input"),
    ("ties", "average", "averages over equal scores"),
    ("ties", "worst", "puts equal scores in the worst order"),
    ("score", "f32", "compares scores as f32"),
    ("score", "f64", "compares scores as f64"),
    ("known", "retrieved", "knows retrieved documents only"),
    ("queries", "judged", "counts every judged query"),
    ("queries", "both", "leaves out queries that the run lacks"),
    ("rel", "1", "counts grades of 1 and more as relevant"),
    ("rel", ">0", "counts all grades above 0 as relevant"),
    ("rel", ">0.5", "counts grades above 0.5 as relevant"),
    ("rel", "0", "counts every judged document as relevant"),
];

/// The options fixed by a library.
type FixedOptions = &'static [(&'static str, &'static str)];

const AS_TREC_EVAL: FixedOptions = &[("ties", "docno-desc"), ("score", "f64"), ("queries", "both")];
const AS_TREC_EVAL_9: FixedOptions =
    &[("ties", "docno-desc"), ("score", "f32"), ("queries", "both")];
/// A library with input of ordered documents for each query, and all judgments.
const ORDERED: FixedOptions = &[("ties", "input")];
/// [`ORDERED`], averaged over all users or queries with judgments.
const ORDERED_OF_ALL: FixedOptions = &[("ties", "input"), ("queries", "judged")];
/// A library with input of scores and grades, sorted by a stable sort.
const LISTS: FixedOptions = &[("ties", "input"), ("known", "retrieved"), ("queries", "both")];

/// Names of libraries, mistaken for a prefix, each with the correct prefix.
const ALSO_CALLED: [(&str, &str); 2] = [("trec_eval", "trec"), ("pytrec_eval", "trec9")];

use Seen::{Function, Run, Source};

impl Profile {
    /// All libraries, the newest version of each before its older ones.
    #[rustfmt::skip] // a row each
    pub const ALL: &[Profile] = &[
        Profile {
            prefix: "trec", library: "trec_eval", versions: "10",
            tools: &[Tool::TrecEval, Tool::TrecEval10],
            options: AS_TREC_EVAL, relevant: "1", seen: Run,
            source: "m_*.c, form_res_rels.c", note: "",
        },
        Profile {
            prefix: "trec10", library: "trec_eval 10", versions: "10",
            tools: &[Tool::TrecEval, Tool::TrecEval10],
            options: AS_TREC_EVAL, relevant: "1", seen: Run,
            source: "m_*.c, form_res_rels.c", note: "",
        },
        Profile {
            prefix: "trec9", library: "trec_eval \
                                       9", versions: "9, pytrec_eval 0.5", tools: &[Tool::TrecEval],
            options: AS_TREC_EVAL_9, relevant: "1", seen: Run,
            source: "m_*.c, form_res_rels.c", note: "",
        },
        Profile {
            prefix: "irm", library: "ir_measures", versions: "0.4.3", tools: &[Tool::IrMeasures],
            options: &[("ties", "docno-desc"), ("score", "f32"), ("queries", "judged")],
            relevant: "1", seen: Run, source: "providers/",
            note: "RR@k puts equal scores in ascending order of their ids there, RR in descending \
                   order; \
                   nDCG(dcg=exp-log2) and ERR are rounded to 5 decimals a query",
        },
        Profile {
            prefix: "ranx", library: "ranx", versions: "0.3.21", tools: &[Tool::Ranx],
            options: ORDERED, relevant: "1", seen: Run, source: "metrics/",
            note: "bpref is not a number where no document is judged not relevant",
        },
        Profile {
            prefix: "sklearn", library: "scikit-learn", versions: "1.9.1",
            tools: &[Tool::Library("sklearn")],
            options: &[("ties", "average"), ("known", "retrieved"), ("queries", "both")],
            relevant: "1", seen: Run, source: "metrics/_ranking.py:1457, 1702, 1708",
            note: "average_precision_score takes grades of 0 and 1 alone; ndcg_score refuses \
                   negative grades and a list of one document, and with \
                   ignore_ties=True sorts unstably; without documents of both kinds roc_auc_score \
                   is not a number",
        },
        Profile {
            prefix: "torchmetrics", library: "torchmetrics", versions: "1.9.0",
            tools: &[Tool::Library("torchmetrics")],
            options: &[
                ("ties", "average"), ("score", "f32"), ("known", "retrieved"), ("queries", "both"),
            ],
            relevant: ">0", seen: Source, source: "functional/retrieval/ndcg.py:105, \
                average_precision.py:62",
            note: "a document of score 0 or below is no hit there; only nDCG averages over equal \
                   scores, others sort them unstably; \
                   empty_target_action is nothing=0, 1 or skip here; Precision and Recall add up \
                   fractional grades, and all but nDCG refuse \
                   grades above 1",
        },
        Profile {
            prefix: "torchmetrics0", library: "torchmetrics \
                0.11", versions: "0.11.4", tools: &[Tool::Library("torchmetrics")],
            options: &[("score", "f32"), ("known", "retrieved"), ("queries", "both")],
            relevant: ">0", seen: Source, source: "functional/retrieval/ndcg.py, \
                average_precision.py",
            note: "a document of score 0 or below is no hit there; equal scores are sorted \
                   unstably: --ties best and worst are bounds",
        },
        Profile {
            prefix: "tfr", library: "TF-Ranking", versions: "0.5.5", tools: &[Tool::Library("tfr")],
            options: &[
                ("ties", "average"), ("score", "f32"), ("known", "retrieved"), ("queries", "both"),
            ],
            relevant: "1", seen: Source, source: "metrics_impl.py:202, 620, 652",
            note: "equal scores are shuffled there, so that its value is the average only in the \
                   long run; weights of queries are not known here; \
                   a document with a negative grade is taken out of its list there",
        },
        Profile {
            prefix: "lightgbm", library: "LightGBM", versions: "4.7.0",
            tools: &[Tool::Library("lightgbm")],
            options: LISTS, relevant: ">0.5", seen: Run, source: "rank_metric.hpp:98, \
                map_metric.hpp:100", note: "refuses negative grades in ndcg",
        },
        Profile {
            prefix: "xgboost", library: "XGBoost", versions: "2 and later",
            tools: &[Tool::Library("xgboost")],
            options: &[
                ("ties", "input"), ("score", "f32"), ("known", "retrieved"), ("queries", "both"),
            ],
            relevant: "1", seen: Run, source: "3.2.0: rank_metric.cc:320, 385, 444",
            note: "map and pre refuse other grades than 0 and 1, and ndcg negative ones; auc \
                   counts pairs of equal grades too, and has no \
                   measure here",
        },
        Profile {
            prefix: "xgboost1", library: "XGBoost 1", versions: "1.7.6",
            tools: &[Tool::Library("xgboost1")],
            options: &[
                ("ties", "input"), ("score", "f32"), ("known", "retrieved"), ("queries", "both"),
            ],
            relevant: "1", seen: Run, source: "rank_metric.cc",
            note: "grades are cut to whole numbers; a negative one is relevant in map and pre \
                   there, and a gain of some 2^31 in ndcg; auc counts \
                   pairs of equal grades too, and has no measure here",
        },
        Profile {
            prefix: "catboost", library: "CatBoost", versions: "1.2.10",
            tools: &[Tool::Library("catboost")],
            options: &[("ties", "worst"), ("known", "retrieved"), ("queries", "both")],
            relevant: ">0.5", seen: Run, source: "metrics/dcg.cpp, doc_comparator.h:4, \
                precision_recall_at_k.cpp",
            note: "a negative grade is a negative gain there, and an ideal below 0 is as if \
                   nothing were relevant; \
                   QueryAUC counts ties by half (--ties average here), and is 0 for a list of \
                   relevant documents only; \
                   ERR has no measure here",
        },
        Profile {
            prefix: "ranklib", library: "RankLib", versions: "2020",
            tools: &[Tool::Library("ranklib")],
            options: &[("known", "retrieved"), ("queries", "both")],
            relevant: ">0", seen: Run, source: "e43f605: NDCGScorer:120, APScorer:93, ERRScorer:25",
            note: "with -qrel all judged documents count there: take ranklib: names without --as",
        },
        Profile {
            prefix: "beir", library: "BEIR", versions: "2.2.0", tools: &[Tool::Beir],
            options: AS_TREC_EVAL_9, relevant: "1", seen: Run, source: "custom_metrics.py:20, 55",
            note: "averages are rounded to 5 decimals; MRR, R_cap and Accuracy keep equal scores \
                   in the order of the input there, \
                   and count fractional grades, which the others refuse; R_cap fails where nothing \
                   is relevant",
        },
        Profile {
            prefix: "mteb", library: "MTEB", versions: "2.26", tools: &[Tool::Library("mteb")],
            options: AS_TREC_EVAL_9, relevant: "1", seen: Function,
            source: "retrieval_metrics.py:41", note: "averages are rounded to 5 decimals",
        },
        Profile {
            prefix: "mteb1", library: "MTEB 1", versions: "1.38", tools: &[Tool::Library("mteb")],
            options: AS_TREC_EVAL_9, relevant: "1", seen: Function,
            source: "evaluation/evaluators/utils.py",
            note: "averages are rounded to 5 decimals; mrr keeps equal scores in the order of the \
                   input there",
        },
        Profile {
            prefix: "st", library: "sentence-transformers", versions: "2025-10",
            tools: &[Tool::Library("st")],
            options: ORDERED_OF_ALL, relevant: "1", seen: Function,
            source: "InformationRetrievalEvaluator.py:152, 485, 499",
            note: "RerankingEvaluator takes scikit-learn's ndcg_score and average_precision_score: \
                   --as sklearn",
        },
        Profile {
            prefix: "recbole", library: "RecBole", versions: "1.2.1",
            tools: &[Tool::Library("recbole")],
            options: ORDERED_OF_ALL, relevant: "0", seen: Function,
            source: "evaluator/metrics.py:134, 193",
            note: "averages are rounded to 4 decimals; torch.topk orders equal scores before",
        },
        Profile {
            prefix: "rectools", library: "RecTools", versions: "0.19.0",
            tools: &[Tool::Library("rectools")],
            options: ORDERED_OF_ALL, relevant: "0", seen: Run, source: "metrics/ranking.py:380, \
                463",
            note: "NDCG divides by k relevant documents there, whatever the judgments",
        },
        Profile {
            prefix: "replay", library: "RePlay", versions: "0.22",
            tools: &[Tool::Library("replay")],
            options: ORDERED_OF_ALL, relevant: "0", seen: Function,
            source: "metrics/map.py:70", note: "",
        },
        Profile {
            prefix: "recommenders", library: "recommenders", versions: "1.2.1",
            tools: &[Tool::Library("recommenders")],
            options: &[("ties", "input"), ("queries", "both")],
            relevant: "0", seen: Run, source: "evaluation/python_evaluation.py:785, 833",
            note: "mrr_score of deeprec is RR(over=relevant) --known retrieved",
        },
        Profile {
            prefix: "lenskit", library: "LensKit", versions: "2026-08",
            tools: &[Tool::Library("lenskit")],
            options: ORDERED, relevant: "0", seen: Source, source: "metrics/ranking/_map.py:43, \
                _pr.py:70, _weighting.py:122",
            note: "Precision leaves out queries for which nothing was retrieved",
        },
        Profile {
            prefix: "cornac", library: "Cornac", versions: "2026-07",
            tools: &[Tool::Library("cornac")],
            options: ORDERED_OF_ALL, relevant: "1", seen: Function,
            source: "metrics/ranking.py:120, 485, 523; eval_methods/base_method.py:181",
            note: "every item is ranked there, so that a document that the run lacks does not \
                   occur: --known retrieved is the same for \
                   lists that are cut; AUC counts ties as wrong (--ties worst here), and MRR fails \
                   without a hit",
        },
        Profile {
            prefix: "elastic", library: "Elasticsearch", versions: "8",
            tools: &[Tool::Library("elastic")],
            options: ORDERED, relevant: "1", seen: Source, source: "DiscountedCumulativeGain.java, \
                PrecisionAtK.java",
            note: "ignore_unlabeled of precision is --judged-only here",
        },
        Profile {
            prefix: "opensearch", library: "OpenSearch", versions: "2025",
            tools: &[Tool::Library("opensearch")],
            options: ORDERED, relevant: ">0", seen: Run, source: "search-relevance d8be5d1: \
                Evaluation.java:36, 72, 92",
            note: "every query is rounded to 2 decimals; a negative grade is a negative gain there",
        },
        Profile {
            prefix: "quepid", library: "Quepid", versions: "2025",
            tools: &[Tool::Library("quepid")],
            options: ORDERED, relevant: ">0", seen: Function, source: "f80322f3: \
                db/scorers/ndcg@10.js:30",
            note: "a negative grade is a negative gain there; cg and dcg are not numbers with an \
                   unrated document",
        },
        Profile {
            prefix: "mlflow", library: "mlflow", versions: "3.18",
            tools: &[Tool::Library("mlflow")],
            options: ORDERED_OF_ALL, relevant: "1", seen: Function,
            source: "metrics/metric_definitions.py:491",
            note: "a query without relevant and without retrieved documents is worth 1 there",
        },
        Profile {
            prefix: "ragas", library: "ragas", versions: "0.4.3", tools: &[Tool::Library("ragas")],
            options: ORDERED_OF_ALL, relevant: "1", seen: Function,
            source: "_context_precision.py:119, 239",
            note: "1e-10 is added to the number of hits there",
        },
        Profile {
            prefix: "trulens", library: "TruLens", versions: "2",
            tools: &[Tool::Library("trulens")],
            options: ORDERED_OF_ALL, relevant: "0", seen: Function, source: "groundtruth.py:387, \
                430",
            note: "with scores precision_at_k takes all documents whose score is that of rank k, \
                   which has no measure here",
        },
        Profile {
            prefix: "llamaindex", library: "LlamaIndex", versions: "0.14.25",
            tools: &[Tool::Library("llamaindex")],
            options: ORDERED, relevant: "1", seen: Function, source: "retrieval/metrics.py:423",
            note: "a query without relevant or without retrieved documents is refused there",
        },
        Profile {
            prefix: "llamaindex0", library: "LlamaIndex \
                0.10", versions: "0.10.68", tools: &[Tool::Library("llamaindex0")],
            options: ORDERED, relevant: "1", seen: Function, source: "retrieval/metrics.py",
            note: "a query without relevant or without retrieved documents is refused there",
        },
        Profile {
            prefix: "haystack", library: "Haystack", versions: "3.4",
            tools: &[Tool::Library("haystack")],
            options: ORDERED, relevant: "0", seen: Function,
            source: "components/evaluators/document_ndcg.py:202",
            note: "the list is evaluated as it is given: cut it to the documents that were given \
                   (-M)",
        },
        Profile {
            prefix: "trectools", library: "trectools", versions: "0.0.50",
            tools: &[Tool::Library("trectools")],
            options: &[("queries", "both")], relevant: ">0", seen: Source,
            source: "trec_eval.py:346, 463; Hugging Face evaluate calls it",
            note: "get_map orders by score and document id, get_ndcg takes the rows as they come",
        },
        Profile {
            prefix: "kaggle", library: "ml_metrics (Kaggle)", versions: "2013",
            tools: &[Tool::Library("kaggle")],
            options: ORDERED_OF_ALL, relevant: "1", seen: Source, source: "average_precision.py",
            note: "a document that is repeated is no hit again",
        },
    ];

    /// The library of this prefix.
    ///
    /// # Errors
    /// Another word; the message says what was probably meant.
    pub fn of(prefix: &str) -> Result<&'static Profile> {
        Profile::find(prefix)
            .map_err(|wrong| Error::Unanswerable(format!("{prefix}: {}", wrong.message)))
    }

    /// The library of this prefix.
    ///
    /// # Errors
    /// Another word: what to say of it.
    pub(super) fn find(prefix: &str) -> Result<&'static Profile, WrongPrefix> {
        let prefix =
            ALSO_CALLED.iter().find(|(name, _)| *name == prefix).map_or(prefix, |(_, of)| of);
        if let Some(profile) = Profile::ALL.iter().find(|profile| profile.prefix == prefix) {
            return Ok(profile);
        }
        let family = family(prefix);
        let versions: Vec<&Profile> =
            Profile::ALL.iter().filter(|profile| profile.family() == family).collect();
        if let [newest, older @ ..] = versions.as_slice()
            && family.len() < prefix.len()
        {
            let newest = format!("{} ({})", newest.prefix, newest.versions);
            let names: Vec<String> = iter::once(newest)
                .chain(older.iter().map(|profile| profile.prefix.to_owned()))
                .collect();
            return Err(WrongPrefix {
                is_version: true,
                message: format!("{family} has {}", listed(&names)),
            });
        }
        let distance = |profile: &&Profile| {
            strsim::damerau_levenshtein(&prefix.to_lowercase(), profile.prefix)
        };
        let near = Profile::ALL.iter().min_by_key(distance);
        let message = match near.filter(|near| 3 * distance(near) <= prefix.chars().count().max(3))
        {
            Some(near) => format!("is no library: did you mean {}?", near.prefix),
            None => "is no library: `laneval measures --as` lists them".to_owned(),
        };
        Err(WrongPrefix { is_version: false, message })
    }

    /// The first library that has the names of a tool.
    pub fn of_tool(tool: Tool) -> Option<&'static Profile> {
        Profile::ALL.iter().find(|profile| profile.tools.contains(&tool))
    }

    /// The prefix without the digits of an older version.
    pub fn family(&self) -> &'static str {
        family(self.prefix)
    }

    /// The word of an option, if the library fixes it.
    pub fn option(&self, option: &str) -> Option<&'static str> {
        if option == "rel" {
            return Some(self.relevant);
        }
        self.options.iter().find(|(of, _)| *of == option).map(|&(_, word)| word)
    }

    /// Rejects a `given` word of an option that contradicts the library, and returns the library's
    /// word. `shown` writes the option with a word, such as `--ties input`.
    ///
    /// # Errors
    /// The library fixes another word.
    pub fn agree(
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
                Err(Error::Unanswerable(message))
            }
            _ => Ok(fixed),
        }
    }

    /// Describes in words the library's options picked by `counts`; `None` if `counts` picks no
    /// option.
    pub fn says(&self, counts: impl Fn(&str, &str) -> bool) -> Option<String> {
        let relevant = [("rel", self.relevant)];
        let picked =
            self.options.iter().chain(&relevant).filter(|(option, word)| counts(option, word));
        let words: Vec<String> =
            picked.map(|(option, word)| says(option, word).to_owned()).collect();
        (!words.is_empty()).then(|| format!("{} {}", self.library, listed(&words)))
    }
}

/// The error of an unknown library prefix.
pub(super) struct WrongPrefix {
    /// Whether the prefix names a known library in an unknown version.
    pub is_version: bool,
    /// The message about the prefix.
    pub message: String,
}

/// A prefix without the digits of an older version.
fn family(prefix: &str) -> &str {
    prefix.trim_end_matches(|c: char| c.is_ascii_digit())
}

/// What a word of an option makes of an evaluation.
fn says(option: &str, word: &str) -> &'static str {
    let row = SAYS.iter().find(|(of, is, _)| *of == option && *is == word);
    row.map_or("differs", |(.., says)| says)
}

/// Words as a list in a sentence.
fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}
