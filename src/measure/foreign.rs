//! The table of foreign names: the names of other tools for the measures of
//! [`MEASURES`](super::MEASURES).
//!
//! A name is one row. The parser, `laneval measures` and `laneval trec-eval` read it; nothing else
//! lists names.

use std::borrow::Cow;

use super::params::{CutoffRule, Value};
use super::profile::Tool;
use super::table::definition;
use super::value::Definition;

/// A name by which another tool knows a measure.
pub struct Foreign {
    /// The name.
    pub name: &'static str,
    /// The tool with the name.
    pub tool: Tool,
    /// The canonical name of the measure.
    pub measure: &'static str,
    /// The parameters fixed by the name.
    pub fixed: &'static [(&'static str, Value)],
    /// The text that may follow the name.
    pub suffix: Suffix,
    /// The name's sets of trec_eval measures.
    pub sets: &'static [&'static str],
    /// Whether the name is understood without its tool's prefix.
    pub bare: bool,
}

/// The text that may follow a name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Suffix {
    /// No suffix of the tool's own.
    None,
    /// `.5,10`: ranks to cut at. Without a suffix these ranks.
    Ranks(&'static [u32]),
    /// `.0.2,0.5`: levels of recall to cut at. Without a suffix these levels.
    Recalls(&'static [f64]),
    /// `.0.5,2`: values of this parameter, each of which makes a measure. Without a suffix these
    /// values.
    Each(&'static str, &'static [f64]),
    /// `.0.5`: a value of this parameter.
    Number(&'static str),
    /// `.0.2,0.5,0.8`: levels of recall as one value of this parameter.
    Points(&'static str),
    /// `.1=3,2=9`: gains of grades.
    Gains,
    /// `.1,-1,0,0`: values of these parameters, in this order.
    Numbers(&'static [&'static str]),
    /// `.p=0.95`: the parameter p.
    Persistence,
    /// `.95` or `@95`: the digits after the point of the parameter p.
    Digits,
    /// Parameters and a cutoff, as after a canonical name. The parameter in this variant, if not
    /// empty, is required.
    Call(&'static str),
    /// `_10`: a rank to cut at, which is required.
    At,
    /// A cutoff, which is required.
    Cut,
    /// No cutoff: the whole ranking.
    Whole,
}

impl Foreign {
    /// The row of [`MEASURES`](super::MEASURES) that the name belongs to.
    pub fn definition(&self) -> &'static Definition {
        definition(self.measure)
            .unwrap_or_else(|| unreachable!("there is no measure `{}`", self.measure))
    }

    /// Returns the name with an example of its required suffix. If the bare name means many
    /// measures, the example shows an optional suffix.
    pub fn example(&self) -> Cow<'static, str> {
        let cut = match self.definition().cutoff {
            CutoffRule::Required => "@10",
            CutoffRule::Recall => "@0.1",
            _ => "",
        };
        let with = |suffix: &str| Cow::Owned(format!("{}{suffix}", self.name));
        match self.suffix {
            Suffix::Ranks(_) => with(".10"),
            Suffix::Recalls(_) => with(".0.1"),
            Suffix::Each(..) => with(".0.2"),
            Suffix::Digits => with(".95"),
            Suffix::Call("") if !cut.is_empty() => with(cut),
            Suffix::Call(OF_NOTHING) => with(&format!("({OF_NOTHING}=0){cut}")),
            Suffix::Call(needed) if !needed.is_empty() => with(&format!("({needed}=1){cut}")),
            Suffix::Cut => with("@10"),
            Suffix::At => with("_10"),
            _ => Cow::Borrowed(self.name),
        }
    }

    /// The name with its tool's prefix, if the tool has one.
    pub fn prefixed(&self, name: &str) -> String {
        match self.tool.prefix() {
            "" => name.to_owned(),
            prefix => format!("{prefix}:{name}"),
        }
    }

    const fn only_with_prefix(mut self) -> Self {
        self.bare = false;
        self
    }

    const fn since_10(mut self) -> Self {
        self.tool = Tool::TrecEval10;
        self
    }
}

/// Values that a name gives to parameters.
type FixedValues = &'static [(&'static str, Value)];

const fn trec(
    name: &'static str,
    measure: &'static str,
    fixed: FixedValues,
    suffix: Suffix,
    sets: &'static [&'static str],
) -> Foreign {
    Foreign { name, tool: Tool::TrecEval, measure, fixed, suffix, sets, bare: true }
}

const fn of(
    tool: Tool,
    name: &'static str,
    measure: &'static str,
    fixed: FixedValues,
    suffix: Suffix,
) -> Foreign {
    Foreign { name, tool, measure, fixed, suffix, sets: &[], bare: true }
}

const fn ranx(
    name: &'static str,
    measure: &'static str,
    fixed: FixedValues,
    suffix: Suffix,
) -> Foreign {
    of(Tool::Ranx, name, measure, fixed, suffix)
}

const fn irm(name: &'static str, measure: &'static str) -> Foreign {
    of(Tool::IrMeasures, name, measure, &[], Call(""))
}

const fn irm_with(needed: &'static str, name: &'static str, fixed: FixedValues) -> Foreign {
    of(Tool::IrMeasures, name, name, fixed, Call(needed))
}

const fn beir(name: &'static str, measure: &'static str, fixed: FixedValues) -> Foreign {
    of(Tool::Beir, name, measure, fixed, Call(""))
}

const fn lib(
    prefix: &'static str,
    name: &'static str,
    measure: &'static str,
    fixed: FixedValues,
    suffix: Suffix,
) -> Foreign {
    of(Tool::Library(prefix), name, measure, fixed, suffix).only_with_prefix()
}

const fn common(name: &'static str, measure: &'static str) -> Foreign {
    of(Tool::Common, name, measure, &[], Call(""))
}

use Suffix::{
    At, Call, Cut, Digits, Each, Gains, Number, Numbers, Persistence, Points, Ranks, Recalls, Whole,
};
use Value::{Number as Is, Word};

const NINE: &[u32] = &[5, 10, 15, 20, 30, 100, 200, 500, 1000];
const TENTHS: &[f64] = &[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];
const FIFTHS: &[f64] = &[0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0];

/// The required parameter for names of a library without a number for queries without relevant
/// documents.
pub(super) const OF_NOTHING: &str = "nothing";

/// The names of trec_eval's sets of measures.
pub const SETS: [&str; 3] = ["official", "set", "all_trec"];
const EACH: &[&str] = &SETS;
const OFFICIAL: &[&str] = &["official", "all_trec"];
const SET: &[&str] = &["set", "all_trec"];
const ALL: &[&str] = &["all_trec"];
/// The sets of measures over preferences.
const PREFS: &[&str] = &["prefs", "all_prefs"];
const ALL_PREFS: &[&str] = &["all_prefs"];
/// The set of measures over the judgments of several judges.
const GROUPS: &[&str] = &["qrels_jg"];
/// No set: trec_eval prints the measure only by name.
const NAMED: &[&str] = &[];

const MIN: FixedValues = &[("norm", Word("min"))];
const EXP2: FixedValues = &[("gain", Word("exp2"))];
const OF_JUDGES: FixedValues = &[("judges", Word("mean"))];

const TOGETHER: FixedValues = &[("tied", Word("together"))];
const TOGETHER_1: FixedValues = &[("tied", Word("together")), ("nothing", Word("1"))];
const HITS: FixedValues = &[("norm", Word("hits"))];
const EXP2_1: FixedValues = &[("gain", Word("exp2")), ("nothing", Word("1"))];
const MIN_1: FixedValues = &[("norm", Word("min")), ("nothing", Word("1"))];
const ONE: FixedValues = &[("nothing", Word("1"))];
const RANK_1: FixedValues = &[("discount", Word("rank")), ("nothing", Word("1"))];
const EXP2_RANK_1: FixedValues =
    &[("gain", Word("exp2")), ("discount", Word("rank")), ("nothing", Word("1"))];
const BINARY_SKIP: FixedValues = &[("gain", Word("binary")), ("nothing", Word("skip"))];
const MIN_SKIP: FixedValues = &[("norm", Word("min")), ("nothing", Word("skip"))];
const SKIP: FixedValues = &[("nothing", Word("skip"))];
const BINARY: FixedValues = &[("gain", Word("binary"))];
const BY_K_SKIP: FixedValues = &[("norm", Word("k")), ("nothing", Word("skip"))];
const BINARY_JK_SKIP: FixedValues =
    &[("gain", Word("binary")), ("discount", Word("jk")), ("nothing", Word("skip"))];
const RETRIEVED_SKIP: FixedValues = &[("norm", Word("retrieved")), ("nothing", Word("skip"))];
const BINARY_RANK: FixedValues = &[("gain", Word("binary")), ("discount", Word("rank"))];
const TOGETHER_SKIP: FixedValues = &[("tied", Word("together")), ("nothing", Word("skip"))];
const EXP2_RETURNED: FixedValues = &[("gain", Word("exp2")), ("ideal", Word("returned"))];
const EXP2_UNCUT: FixedValues = &[("gain", Word("exp2")), ("ideal", Word("uncut"))];
const GMAX_3: FixedValues = &[("gmax", Is(3.0))];
const BINARY_RETURNED: FixedValues = &[("gain", Word("binary")), ("ideal", Word("returned"))];
const BINARY_UNCUT: FixedValues = &[("gain", Word("binary")), ("ideal", Word("uncut"))];
const OVER_HITS: FixedValues = &[("over", Word("hits"))];
const UNCUT: FixedValues = &[("ideal", Word("uncut"))];
/// All foreign names. The names of trec_eval come first, in the printing order of trec_eval.
pub static FOREIGN: &[Foreign] = &[
    trec("num_q", "NumQ", &[], Suffix::None, EACH),
    trec("num_ret", "NumRet", &[], Suffix::None, EACH),
    trec("num_rel", "NumRel", &[], Suffix::None, EACH),
    trec("num_rel_ret", "NumRelRet", &[], Suffix::None, EACH),
    trec("map", "AP", &[], Suffix::None, OFFICIAL),
    trec("gm_map", "GMAP", &[], Suffix::None, OFFICIAL),
    trec("Rprec", "Rprec", &[], Suffix::None, OFFICIAL),
    trec("bpref", "Bpref", &[], Suffix::None, OFFICIAL),
    trec("recip_rank", "RR", &[], Suffix::None, OFFICIAL),
    trec("iprec_at_recall", "IPrec", &[], Recalls(TENTHS), OFFICIAL),
    trec("P", "P", &[], Ranks(NINE), OFFICIAL),
    trec("recall", "R", &[], Ranks(NINE), ALL),
    trec("infAP", "InfAP", &[], Suffix::None, ALL),
    trec("gm_bpref", "GMBpref", &[], Suffix::None, ALL),
    trec("Rprec_mult", "Rprec", &[], Each("mult", FIFTHS), ALL),
    trec("utility", "Utility", &[], Numbers(&["a", "b", "c", "d"]), SET),
    trec("11pt_avg", "IPrec11", &[], Points("points"), ALL),
    trec("binG", "BinG", &[], Suffix::None, ALL),
    trec("G", "G", &[], Gains, ALL),
    trec("dcg", "DCG", &[], Gains, NAMED).since_10(),
    trec("ideal_dcg", "IDCG", &[], Gains, NAMED).since_10(),
    trec("ndcg", "nDCG", &[], Gains, ALL),
    trec("ndcg_rel", "nDCGrel", &[], Gains, ALL),
    trec("Rndcg", "RnDCG", &[], Gains, ALL),
    trec("ndcg_cut", "nDCG", &[], Ranks(NINE), ALL),
    trec("map_cut", "AP", &[], Ranks(NINE), ALL),
    trec("relative_P", "R", MIN, Ranks(NINE), ALL),
    trec("success", "Success", &[], Ranks(&[1, 5, 10]), ALL),
    trec("set_P", "SetP", &[], Suffix::None, SET),
    trec("set_relative_P", "SetP", MIN, Suffix::None, SET),
    trec("set_recall", "SetR", &[], Suffix::None, SET),
    trec("set_map", "SetAP", &[], Suffix::None, SET),
    trec("set_F", "SetF", &[], Number("beta2"), SET),
    trec("num_nonrel_judged_ret", "NumNonrelRet", &[], Suffix::None, ALL),
    trec("prefs_num_prefs_poss", "prefs_num_prefs_poss", &[], Suffix::None, PREFS),
    trec("prefs_num_prefs_ful", "prefs_num_prefs_ful", &[], Suffix::None, PREFS),
    trec("prefs_num_prefs_ful_ret", "prefs_num_prefs_ful_ret", &[], Suffix::None, PREFS),
    trec("prefs_simp", "prefs_simp", &[], Suffix::None, PREFS),
    trec("prefs_pair", "prefs_pair", &[], Suffix::None, PREFS),
    trec("prefs_avgjg", "prefs_avgjg", &[], Suffix::None, PREFS),
    trec("prefs_avgjg_Rnonrel", "prefs_avgjg_Rnonrel", &[], Suffix::None, ALL_PREFS),
    trec("prefs_simp_ret", "prefs_simp_ret", &[], Suffix::None, ALL_PREFS),
    trec("prefs_pair_ret", "prefs_pair_ret", &[], Suffix::None, ALL_PREFS),
    trec("prefs_avgjg_ret", "prefs_avgjg_ret", &[], Suffix::None, ALL_PREFS),
    trec("prefs_avgjg_Rnonrel_ret", "prefs_avgjg_Rnonrel_ret", &[], Suffix::None, ALL_PREFS),
    trec("prefs_simp_imp", "prefs_simp_imp", &[], Suffix::None, ALL_PREFS),
    trec("prefs_pair_imp", "prefs_pair_imp", &[], Suffix::None, ALL_PREFS),
    trec("prefs_avgjg_imp", "prefs_avgjg_imp", &[], Suffix::None, ALL_PREFS),
    trec("map_avgjg", "AP", OF_JUDGES, Suffix::None, GROUPS),
    trec("P_avgjg", "P", OF_JUDGES, Ranks(NINE), GROUPS),
    trec("Rprec_mult_avgjg", "Rprec", OF_JUDGES, Each("mult", FIFTHS), GROUPS),
    trec("yaap", "YAAP", &[], Suffix::None, NAMED),
    trec("rbp", "RBP", &[("p", Is(0.9)), ("scale", Word("topic"))], Persistence, ALL).since_10(),
    trec("rbp_resid", "RBPresid", &[], Persistence, ALL).since_10(),
    trec("unj", "Unjudged", &[], Ranks(&[5, 10, 20]), ALL).since_10(),
    ranx("hits", "Hits", &[], Call("")),
    ranx("hit_rate", "Success", &[], Call("")),
    ranx("precision", "P", &[], Cut),
    ranx("precision", "SetP", &[], Whole),
    ranx("recall", "R", &[], Cut),
    ranx("recall", "SetR", &[], Whole),
    ranx("f1", "F", &[], Cut),
    ranx("f1", "SetF", &[], Whole),
    ranx("r-precision", "Rprec", &[], Call("")),
    ranx("mrr", "RR", &[], Call("")),
    ranx("map", "AP", &[], Call("")),
    ranx("dcg", "DCG", &[], Call("")),
    ranx("dcg_burges", "DCG", EXP2, Call("")),
    ranx("ndcg", "nDCG", &[], Call("")),
    ranx("ndcg_burges", "nDCG", EXP2, Call("")),
    // This is trec_eval's formula; ranx counts documents with a negative grade too.
    ranx("bpref", "Bpref", &[("negatives", Word("nonrelevant"))], Call("")).only_with_prefix(),
    ranx("rbp", "RBP", &[("gain", Word("raw"))], Digits),
    irm("alpha_DCG", "alpha_DCG"),
    irm("alpha_nDCG", "alpha_nDCG"),
    irm("ERR_IA", "ERR_IA"),
    irm("nERR_IA", "nERR_IA"),
    irm("NRBP", "NRBP"),
    irm("nNRBP", "nNRBP"),
    irm("AP_IA", "AP_IA"),
    irm("P_IA", "P_IA"),
    irm("StRecall", "StRecall"),
    irm("α_DCG", "alpha_DCG"),
    irm("α_nDCG", "alpha_nDCG"),
    irm("MAP_IA", "AP_IA"),
    irm("P", "P"),
    irm("Precision", "P"),
    irm("R", "R"),
    irm("Recall", "R"),
    irm("AP", "AP"),
    irm("MAP", "AP"),
    irm("RR", "RR"),
    irm("MRR", "RR"),
    irm("nDCG", "nDCG"),
    irm("NDCG", "nDCG"),
    irm("Rprec", "Rprec"),
    irm("RPrec", "Rprec"),
    irm("Success", "Success"),
    irm("IPrec", "IPrec"),
    irm("ERR", "ERR"),
    irm_with("rel", "RBP", &[("norm", Is(1000.0))]),
    irm("Judged", "Judged"),
    irm("Accuracy", "Accuracy"),
    irm("Compat", "Compat"),
    irm("Bpref", "Bpref"),
    irm("BPref", "Bpref"),
    irm("infAP", "InfAP"),
    irm("SetP", "SetP"),
    of(Tool::IrMeasures, "SetRelP", "SetP", MIN, Call("")),
    irm("SetR", "SetR"),
    irm("SetF", "SetF"),
    irm("SetAP", "SetAP"),
    irm("NumQ", "NumQ"),
    irm("NumRet", "NumRet"),
    irm("NumRel", "NumRel"),
    irm("NumRelRet", "NumRelRet"),
    irm_with("max_rel", "INST", &[]),
    irm_with("max_rel", "INSQ", &[]),
    irm_with("max_rel", "BPM", &[]),
    irm_with("max_rel", "SDCG", &[]),
    irm_with("max_rel", "NERR8", &[]),
    irm_with("max_rel", "NERR9", &[]),
    irm_with("max_rel", "NERR10", &[]),
    irm_with("max_rel", "NERR11", &[]),
    beir("NDCG", "nDCG", &[]),
    beir("MAP", "AP", &[]),
    beir("Recall", "R", &[]),
    beir("P", "P", &[]),
    beir("MRR", "RR", &[]),
    beir("R_cap", "R", MIN),
    beir("Accuracy", "Success", &[]),
    lib("sklearn", "ndcg_score", "nDCG", &[], Call("")),
    lib("sklearn", "ndcg", "nDCG", &[], Call("")),
    lib("sklearn", "dcg_score", "DCG", &[], Call("")),
    lib("sklearn", "average_precision_score", "AP", TOGETHER, Whole),
    lib("sklearn", "average_precision", "AP", TOGETHER, Whole),
    lib("sklearn", "label_ranking_average_precision_score", "AP", TOGETHER_1, Whole),
    lib("sklearn", "roc_auc_score", "Accuracy", &[], Whole),
    lib("sklearn", "roc_auc", "Accuracy", &[], Whole),
    lib("torchmetrics", "RetrievalNormalizedDCG", "nDCG", &[], Call("")),
    lib("torchmetrics", "RetrievalMAP", "AP", HITS, Call("")),
    lib("torchmetrics", "RetrievalMRR", "RR", &[], Call("")),
    lib("torchmetrics", "RetrievalPrecision", "P", &[], Cut),
    lib("torchmetrics", "RetrievalRecall", "R", &[], Cut),
    lib("torchmetrics", "RetrievalHitRate", "Success", &[], Call("")),
    lib("torchmetrics", "RetrievalRPrecision", "Rprec", &[], Call("")),
    lib("torchmetrics", "retrieval_normalized_dcg", "nDCG", &[], Call("")),
    lib("torchmetrics", "retrieval_average_precision", "AP", HITS, Call("")),
    lib("torchmetrics", "retrieval_reciprocal_rank", "RR", &[], Call("")),
    lib("torchmetrics", "retrieval_precision", "P", &[], Cut),
    lib("torchmetrics", "retrieval_recall", "R", &[], Cut),
    lib("torchmetrics", "retrieval_hit_rate", "Success", &[], Call("")),
    lib("torchmetrics", "retrieval_r_precision", "Rprec", &[], Call("")),
    lib("tfr", "ndcg", "nDCG", EXP2, Call("")),
    lib("tfr", "dcg", "DCG", EXP2, Call("")),
    lib("tfr", "map", "AP", &[], Call("")),
    lib("tfr", "mrr", "RR", &[], Call("")),
    lib("tfr", "precision", "P", MIN, Cut),
    lib("tfr", "recall", "R", &[], Cut),
    lib("tfr", "hits", "Success", &[], Call("")),
    lib("lightgbm", "ndcg", "nDCG", EXP2_1, Call("")),
    lib("lightgbm", "map", "AP", MIN_1, Call("")),
    lib("xgboost", "ndcg", "nDCG", EXP2_1, Call("")),
    lib("xgboost", "ndcg-", "nDCG", EXP2, Call("")),
    lib("xgboost", "map", "AP", MIN_1, Call("")),
    lib("xgboost", "map-", "AP", MIN, Call("")),
    lib("xgboost", "pre", "P", MIN, Cut),
    lib("xgboost1", "ndcg", "nDCG", EXP2_1, Call("")),
    lib("xgboost1", "ndcg-", "nDCG", EXP2, Call("")),
    lib("xgboost1", "map", "AP", ONE, Call("")),
    lib("xgboost1", "map-", "AP", &[], Call("")),
    lib("xgboost1", "pre", "P", &[], Cut),
    lib("catboost", "NDCG", "nDCG", ONE, Call("")),
    lib("catboost", "NDCG(type=Exp)", "nDCG", EXP2_1, Call("")),
    lib("catboost", "NDCG(denominator=Position)", "nDCG", RANK_1, Call("")),
    lib("catboost", "NDCG(type=Exp,denominator=Position)", "nDCG", EXP2_RANK_1, Call("")),
    lib("catboost", "DCG", "DCG", &[], Call("")),
    lib("catboost", "DCG(type=Exp)", "DCG", EXP2, Call("")),
    lib("catboost", "MAP", "AP", MIN, Call("")),
    lib("catboost", "MRR", "RR", &[], Call("")),
    lib("catboost", "PrecisionAt", "P", MIN, Cut),
    lib("catboost", "RecallAt", "R", ONE, Cut),
    lib("catboost", "QueryAUC", "Accuracy", &[], Whole),
    lib("ranklib", "NDCG", "nDCG", EXP2, Call("")),
    lib("ranklib", "DCG", "DCG", EXP2, Call("")),
    lib("ranklib", "MAP", "AP", &[], Whole),
    lib("ranklib", "ERR", "ERR", &[], Call("")),
    lib("ranklib", "RR", "RR", &[], Call("")),
    lib("ranklib", "P", "P", MIN, Cut),
    lib("mteb", "ndcg_at", "nDCG", &[], At),
    lib("mteb", "map_at", "AP", &[], At),
    lib("mteb", "recall_at", "R", &[], At),
    lib("mteb", "precision_at", "P", &[], At),
    lib("mteb", "mrr_at", "RR", &[], At),
    lib("st", "ndcg", "nDCG", BINARY_SKIP, Call("")),
    lib("st", "map", "AP", MIN_SKIP, Call("")),
    lib("st", "mrr", "RR", SKIP, Call("")),
    lib("st", "accuracy", "Success", SKIP, Call("")),
    lib("st", "precision", "P", SKIP, Cut),
    lib("st", "recall", "R", SKIP, Cut),
    lib("recbole", "NDCG", "nDCG", BINARY, Call("")),
    lib("recbole", "MAP", "AP", MIN, Call("")),
    lib("recbole", "MRR", "RR", &[], Call("")),
    lib("recbole", "Hit", "Success", &[], Call("")),
    lib("recbole", "Precision", "P", &[], Cut),
    lib("recbole", "Recall", "R", SKIP, Cut),
    lib("rectools", "NDCG", "SDCG", SKIP, Cut),
    lib("rectools", "NDCG(divide_by_achievable=True)", "nDCG", BINARY_SKIP, Cut),
    lib("rectools", "MAP", "AP", SKIP, Cut),
    lib("rectools", "MAP(divide_by_k=True)", "AP", BY_K_SKIP, Cut),
    lib("rectools", "MRR", "RR", SKIP, Cut),
    lib("rectools", "HitRate", "Success", SKIP, Cut),
    lib("rectools", "Precision", "P", SKIP, Cut),
    lib("rectools", "Recall", "R", SKIP, Cut),
    lib("replay", "NDCG", "nDCG", BINARY, Cut),
    lib("replay", "MAP", "AP", MIN, Cut),
    lib("replay", "MRR", "RR", &[], Cut),
    lib("replay", "Precision", "P", &[], Cut),
    lib("replay", "Recall", "R", &[], Cut),
    lib("replay", "RocAuc", "Accuracy", &[], Cut),
    lib("recommenders", "ndcg_at_k", "nDCG", BINARY, Cut),
    lib("recommenders", "ndcg_at_k(score_type=raw)", "nDCG", &[], Cut),
    lib("recommenders", "ndcg_at_k(score_type=exp)", "nDCG", EXP2, Cut),
    lib("recommenders", "map", "AP", &[], Cut),
    lib("recommenders", "map_at_k", "AP", MIN, Cut),
    lib("recommenders", "precision_at_k", "P", &[], Cut),
    lib("recommenders", "recall_at_k", "R", &[], Cut),
    lib("lenskit", "NDCG", "nDCG", BINARY_JK_SKIP, Call("")),
    lib("lenskit", "MAP", "AP", RETRIEVED_SKIP, Call("")),
    lib("lenskit", "RecipRank", "RR", SKIP, Call("")),
    lib("lenskit", "Hit", "Success", SKIP, Call("")),
    lib("lenskit", "Precision", "P", MIN_SKIP, Cut),
    lib("lenskit", "Recall", "R", MIN_SKIP, Cut),
    lib("cornac", "NDCG", "nDCG", BINARY_SKIP, Call("")),
    lib("cornac", "NCRR", "nDCG", BINARY_RANK, Call("")),
    lib("cornac", "MAP", "AP", TOGETHER_SKIP, Whole),
    lib("cornac", "MRR", "RR", &[], Call("")),
    lib("cornac", "Precision", "P", &[], Cut),
    lib("cornac", "Recall", "R", SKIP, Cut),
    lib("cornac", "FMeasure", "F", &[], Cut),
    lib("cornac", "AUC", "Accuracy", &[], Whole),
    lib("elastic", "dcg", "DCG", EXP2, Cut),
    lib("elastic", "dcg(normalize=true)", "nDCG", EXP2_RETURNED, Cut),
    lib("elastic", "precision", "P", MIN, Cut),
    lib("elastic", "recall", "R", &[], Cut),
    lib("elastic", "mean_reciprocal_rank", "RR", &[], Cut),
    lib("elastic", "expected_reciprocal_rank", "ERR", &[], Call("gmax")),
    lib("opensearch", "NDCG", "nDCG", EXP2, Cut),
    lib("opensearch", "MAP", "AP", &[], Cut),
    lib("opensearch", "Precision", "P", MIN, Cut),
    lib("quepid", "ndcg", "nDCG", EXP2_UNCUT, Cut),
    lib("quepid", "ndcg_cut", "nDCG", EXP2, Cut),
    lib("quepid", "ap", "AP", &[], Call(OF_NOTHING)),
    lib("quepid", "rr", "RR", &[], Cut),
    lib("quepid", "err", "ERR", GMAX_3, Cut),
    lib("quepid", "cg", "CG", &[], Cut),
    lib("quepid", "dcg", "DCG", EXP2, Cut),
    lib("mlflow", "ndcg_at_k", "nDCG", BINARY_RETURNED, Cut),
    lib("mlflow", "precision_at_k", "P", MIN, Cut),
    lib("mlflow", "recall_at_k", "R", &[], Cut),
    lib("ragas", "context_precision", "AP", HITS, Call("")),
    lib("trulens", "ndcg_at_k", "nDCG", SKIP, Cut),
    lib("trulens", "precision_at_k", "P", MIN_SKIP, Cut),
    lib("trulens", "recall_at_k", "R", SKIP, Cut),
    lib("llamaindex", "ndcg", "nDCG", BINARY_UNCUT, Call("")),
    lib("llamaindex", "ap", "AP", &[], Call("")),
    lib("llamaindex", "mrr", "RR", &[], Call("")),
    lib("llamaindex", "mrr(use_granular_mrr=True)", "RR", OVER_HITS, Call("")),
    lib("llamaindex", "precision", "P", MIN, Cut),
    lib("llamaindex", "recall", "R", &[], Cut),
    lib("llamaindex", "hit_rate", "Success", &[], Call("")),
    lib("llamaindex", "hit_rate(use_granular_hit_rate=True)", "R", &[], Cut),
    lib("llamaindex0", "ndcg", "SDCG", MIN, Cut),
    lib("llamaindex0", "mrr", "RR", &[], Call("")),
    lib("llamaindex0", "hit_rate", "Success", &[], Call("")),
    lib("haystack", "DocumentNDCGEvaluator", "nDCG", UNCUT, Call("")),
    lib("haystack", "DocumentMAPEvaluator", "AP", &[], Call("")),
    lib("haystack", "DocumentMRREvaluator", "RR", &[], Call("")),
    lib("trectools", "get_ndcg", "nDCG", &[], Call("")),
    lib("trectools", "get_map", "AP", &[], Call("")),
    lib("kaggle", "apk", "AP", MIN_1, Call("")),
    lib("kaggle", "mapk", "AP", MIN_1, Call("")),
    common("F1", "F"),
    common("HitRate", "Success"),
    common("Rprecision", "Rprec"),
];

/// The meaning of a parameter of ir_measures.
#[derive(Clone, Copy)]
pub(super) enum ForeignKey {
    /// The cutoff.
    Cutoff,
    /// This parameter.
    Param(&'static str),
    /// A translation for each word of the foreign parameter: the word, our parameter, and our word.
    /// An empty parameter drops the word.
    Words(&'static [(&'static str, &'static str, &'static str)]),
    /// The top of the grading scale.
    Top,
    /// The bottom of the grading scale, which is 0 here.
    Bottom,
    /// Dropping of documents without a judgment: an option of the evaluation here, not a parameter
    /// of a measure.
    JudgedOnly,
    /// A parameter with equal meaning, looked up in the named measure.
    Of(&'static str),
}

const PLAYERS: &[&str] = &["INST", "INSQ", "BPM", "SDCG", "NERR8", "NERR9", "NERR10", "NERR11"];

/// The parameters of ir_measures with another name here: the name, the measures with the parameter
/// (empty: all), and the meaning.
const KEYS: &[(&str, &[&str], ForeignKey)] = &[
    ("cutoff", &[], ForeignKey::Cutoff),
    ("recall", &["IPrec"], ForeignKey::Cutoff),
    ("judged_only", &[], ForeignKey::JudgedOnly),
    ("rel", &["NumRet"], ForeignKey::Of("NumRelRet")),
    (
        "dcg",
        &["nDCG"],
        ForeignKey::Words(&[("log2", "gain", "linear"), ("exp-log2", "gain", "exp2")]),
    ),
    ("dcg", &["SDCG"], ForeignKey::Words(&[("log2", "", "")])),
    ("gains", &["nDCG"], ForeignKey::Param("gain")),
    (
        "relative",
        &["SetP"],
        ForeignKey::Words(&[("True", "norm", "min"), ("False", "norm", "retrieved")]),
    ),
    ("beta", &["SetF"], ForeignKey::Param("beta2")),
    ("max_rel", PLAYERS, ForeignKey::Top),
    ("min_rel", PLAYERS, ForeignKey::Bottom),
];

/// The meaning of ir_measures' parameter `name` of a measure.
pub(super) fn key(name: &str, measure: &str) -> Option<ForeignKey> {
    let row =
        KEYS.iter().find(|(key, of, _)| *key == name && (of.is_empty() || of.contains(&measure)));
    row.map(|&(.., key)| key)
}
