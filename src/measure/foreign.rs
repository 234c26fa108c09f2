//! The table of foreign names: the names of other tools for the measures of
//! [`MEASURES`](super::MEASURES).
//!
//! A name is one row. The parser, `laneval measures` and `laneval trec-eval` read it; nothing else
//! lists names.

use std::borrow::Cow;

use super::params::{CutoffRule, ParamValue};
use super::profile::{Profile, Tool};
use super::table::definition;
use super::value::Definition;

/// A name by which another tool knows a measure.
pub struct ForeignMeasure {
    /// The name.
    pub name: &'static str,
    /// The tool with the name.
    pub tool: Tool,
    /// The canonical name of the measure.
    pub measure: &'static str,
    /// The parameters fixed by the name.
    pub fixed: &'static [(&'static str, ParamValue)],
    /// The text that may follow the name.
    pub suffix: Suffix,
    /// The name's sets of trec_eval measures.
    pub sets: &'static [&'static str],
    /// Whether the name is understood without its tool's prefix.
    pub bare: bool,
}

/// The form of the text that may follow another tool's name of a measure, such as `.5,10` in
/// `P.5,10`.
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

impl ForeignMeasure {
    /// Returns the row of laneval's table, [`MEASURES`](super::MEASURES), that another tool's name
    /// stands for.
    pub fn definition(&self) -> &'static Definition {
        definition(self.measure)
            .unwrap_or_else(|| unreachable!("there is no measure `{}`", self.measure))
    }

    /// Returns another tool's name with an example of its required suffix, such as `P.10`. If the
    /// bare name means many measures, the example shows an optional suffix.
    pub fn example(&self) -> Cow<'static, str> {
        let cut = match self.definition().cutoff {
            CutoffRule::Required => "@10",
            CutoffRule::Recall => "@0.1",
            _ => "",
        };
        let suffix: &str = match self.suffix {
            Suffix::Ranks(_) => ".10",
            Suffix::Recalls(_) => ".0.1",
            Suffix::Each(..) => ".0.2",
            Suffix::Digits => ".95",
            Suffix::Call("") if !cut.is_empty() => cut,
            Suffix::Call(NO_RELEVANT_REQUIRED) => &format!("({NO_RELEVANT_REQUIRED}=0){cut}"),
            Suffix::Call(needed) if !needed.is_empty() => &format!("({needed}=1){cut}"),
            Suffix::Cut => "@10",
            Suffix::At => "_10",
            _ => return Cow::Borrowed(self.name),
        };
        Cow::Owned(format!("{}{suffix}", self.name))
    }

    /// Puts the tool's prefix before the name of a measure, as in `ranx:mrr`, if the tool has one.
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

/// A value that another tool's name of a measure fixes for a parameter, such as `gain=exp2`.
type FixedValue = (&'static str, ParamValue);

/// The values that another tool's name of a measure fixes for parameters.
type FixedValues = &'static [FixedValue];

const fn trec(
    name: &'static str,
    measure: &'static str,
    fixed: FixedValues,
    suffix: Suffix,
    sets: &'static [&'static str],
) -> ForeignMeasure {
    ForeignMeasure { name, tool: Tool::TrecEval, measure, fixed, suffix, sets, bare: true }
}

/// Makes the table row of a measure of trec_eval whose name takes no parameters.
const fn single(
    name: &'static str,
    measure: &'static str,
    sets: &'static [&'static str],
) -> ForeignMeasure {
    trec(name, measure, &[], Suffix::None, sets)
}

const fn prefs(name: &'static str, sets: &'static [&'static str]) -> ForeignMeasure {
    single(name, name, sets)
}

const fn foreign(
    tool: Tool,
    name: &'static str,
    measure: &'static str,
    fixed: FixedValues,
    suffix: Suffix,
) -> ForeignMeasure {
    ForeignMeasure { name, tool, measure, fixed, suffix, sets: &[], bare: true }
}

const fn ranx(
    name: &'static str,
    measure: &'static str,
    fixed: FixedValues,
    suffix: Suffix,
) -> ForeignMeasure {
    foreign(Tool::Ranx, name, measure, fixed, suffix)
}

const fn irm(name: &'static str) -> ForeignMeasure {
    irm_as(name, name)
}

const fn irm_as(name: &'static str, measure: &'static str) -> ForeignMeasure {
    foreign(Tool::IrMeasures, name, measure, &[], Call(""))
}

const fn irm_with(needed: &'static str, name: &'static str, fixed: FixedValues) -> ForeignMeasure {
    foreign(Tool::IrMeasures, name, name, fixed, Call(needed))
}

const fn beir(name: &'static str, measure: &'static str, fixed: FixedValues) -> ForeignMeasure {
    foreign(Tool::Beir, name, measure, fixed, Call(""))
}

const fn lib(
    prefix: &'static str,
    name: &'static str,
    measure: &'static str,
    fixed: FixedValues,
    suffix: Suffix,
) -> ForeignMeasure {
    foreign(Tool::Library(prefix), name, measure, fixed, suffix).only_with_prefix()
}

/// Makes the table row of a library's name of a measure that is called with a cutoff or without
/// one.
const fn plain(prefix: &'static str, name: &'static str, measure: &'static str) -> ForeignMeasure {
    lib(prefix, name, measure, &[], Call(""))
}

/// Makes the table row of a library's name of a measure that is always called with a cutoff.
const fn cut(prefix: &'static str, name: &'static str, measure: &'static str) -> ForeignMeasure {
    lib(prefix, name, measure, &[], Cut)
}

const fn common(name: &'static str, measure: &'static str) -> ForeignMeasure {
    foreign(Tool::Common, name, measure, &[], Call(""))
}

use ParamValue::{Choice, Number as Is};
use Suffix::{
    At, Call, Cut, Digits, Each, Gains, Number, Numbers, Persistence, Points, Ranks, Recalls, Whole,
};

const NINE: &[u32] = &[5, 10, 15, 20, 30, 100, 200, 500, 1000];
const TENTHS: &[f64] = &[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];
const FIFTHS: &[f64] = &[0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0];

/// The required parameter for names of a library without a number for queries without relevant
/// documents.
pub(super) const NO_RELEVANT_REQUIRED: &str = "no_relevant";

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

const GAIN_BINARY: FixedValue = ("gain", Choice("binary"));
const GAIN_EXP2: FixedValue = ("gain", Choice("exp2"));
const NORM_MIN: FixedValue = ("norm", Choice("min"));
const NO_RELEVANT_1: FixedValue = ("no_relevant", Choice("1"));
const NO_RELEVANT_SKIP: FixedValue = ("no_relevant", Choice("skip"));
const TIES_TOGETHER: FixedValue = ("ties", Choice("together"));
const BY_RANK: FixedValue = ("discount", Choice("rank"));
const IDEAL_UNCUT: FixedValue = ("ideal", Choice("uncut"));
const IDEAL_RETURNED: FixedValue = ("ideal", Choice("returned"));

const MIN: FixedValues = &[NORM_MIN];
const EXP2: FixedValues = &[GAIN_EXP2];
const OF_JUDGES: FixedValues = &[("judges", Choice("mean"))];

const TOGETHER: FixedValues = &[TIES_TOGETHER];
const TOGETHER_1: FixedValues = &[TIES_TOGETHER, NO_RELEVANT_1];
const HITS: FixedValues = &[("norm", Choice("hits"))];
const EXP2_1: FixedValues = &[GAIN_EXP2, NO_RELEVANT_1];
const MIN_1: FixedValues = &[NORM_MIN, NO_RELEVANT_1];
const ONE: FixedValues = &[NO_RELEVANT_1];
const RANK_1: FixedValues = &[BY_RANK, NO_RELEVANT_1];
const EXP2_RANK_1: FixedValues = &[GAIN_EXP2, BY_RANK, NO_RELEVANT_1];
const BINARY_SKIP: FixedValues = &[GAIN_BINARY, NO_RELEVANT_SKIP];
const MIN_SKIP: FixedValues = &[NORM_MIN, NO_RELEVANT_SKIP];
const SKIP: FixedValues = &[NO_RELEVANT_SKIP];
const BINARY: FixedValues = &[GAIN_BINARY];
const BY_K_SKIP: FixedValues = &[("norm", Choice("k")), NO_RELEVANT_SKIP];
const BINARY_JK_SKIP: FixedValues = &[GAIN_BINARY, ("discount", Choice("jk")), NO_RELEVANT_SKIP];
const RETRIEVED_SKIP: FixedValues = &[("norm", Choice("retrieved")), NO_RELEVANT_SKIP];
const BINARY_RANK: FixedValues = &[GAIN_BINARY, BY_RANK];
const TOGETHER_SKIP: FixedValues = &[TIES_TOGETHER, NO_RELEVANT_SKIP];
const EXP2_RETURNED: FixedValues = &[GAIN_EXP2, IDEAL_RETURNED];
const EXP2_UNCUT: FixedValues = &[GAIN_EXP2, IDEAL_UNCUT];
const GMAX_3: FixedValues = &[("gmax", Is(3.0))];
const BINARY_RETURNED: FixedValues = &[GAIN_BINARY, IDEAL_RETURNED];
const BINARY_UNCUT: FixedValues = &[GAIN_BINARY, IDEAL_UNCUT];
const OVER_HITS: FixedValues = &[("over", Choice("hits"))];
const UNCUT: FixedValues = &[IDEAL_UNCUT];

/// All foreign names. The names of trec_eval come first, in the printing order of trec_eval.
pub static FOREIGN: &[ForeignMeasure] = &[
    single("num_q", "NumQ", EACH),
    single("num_ret", "NumRet", EACH),
    single("num_rel", "NumRel", EACH),
    single("num_rel_ret", "NumRelRet", EACH),
    single("map", "AP", OFFICIAL),
    single("gm_map", "GMAP", OFFICIAL),
    single("Rprec", "Rprec", OFFICIAL),
    single("bpref", "Bpref", OFFICIAL),
    single("recip_rank", "RR", OFFICIAL),
    trec("iprec_at_recall", "IPrec", &[], Recalls(TENTHS), OFFICIAL),
    trec("P", "P", &[], Ranks(NINE), OFFICIAL),
    trec("recall", "R", &[], Ranks(NINE), ALL),
    single("infAP", "InfAP", ALL),
    single("gm_bpref", "GMBpref", ALL),
    trec("Rprec_mult", "Rprec", &[], Each("mult", FIFTHS), ALL),
    trec("utility", "Utility", &[], Numbers(&["a", "b", "c", "d"]), SET),
    trec("11pt_avg", "IPrec11", &[], Points("points"), ALL),
    single("binG", "BinG", ALL),
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
    single("set_P", "SetP", SET),
    trec("set_relative_P", "SetP", MIN, Suffix::None, SET),
    single("set_recall", "SetR", SET),
    single("set_map", "SetAP", SET),
    trec("set_F", "SetF", &[], Number("beta2"), SET),
    single("num_nonrel_judged_ret", "NumNonrelRet", ALL),
    prefs("prefs_num_prefs_poss", PREFS),
    prefs("prefs_num_prefs_ful", PREFS),
    prefs("prefs_num_prefs_ful_ret", PREFS),
    prefs("prefs_simp", PREFS),
    prefs("prefs_pair", PREFS),
    prefs("prefs_avgjg", PREFS),
    prefs("prefs_avgjg_Rnonrel", ALL_PREFS),
    prefs("prefs_simp_ret", ALL_PREFS),
    prefs("prefs_pair_ret", ALL_PREFS),
    prefs("prefs_avgjg_ret", ALL_PREFS),
    prefs("prefs_avgjg_Rnonrel_ret", ALL_PREFS),
    prefs("prefs_simp_imp", ALL_PREFS),
    prefs("prefs_pair_imp", ALL_PREFS),
    prefs("prefs_avgjg_imp", ALL_PREFS),
    trec("map_avgjg", "AP", OF_JUDGES, Suffix::None, GROUPS),
    trec("P_avgjg", "P", OF_JUDGES, Ranks(NINE), GROUPS),
    trec("Rprec_mult_avgjg", "Rprec", OF_JUDGES, Each("mult", FIFTHS), GROUPS),
    single("yaap", "YAAP", NAMED),
    trec("rbp", "RBP", &[("p", Is(0.9)), ("scale", Choice("topic"))], Persistence, ALL).since_10(),
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
    ranx("bpref", "Bpref", &[("negatives", Choice("nonrelevant"))], Call("")).only_with_prefix(),
    ranx("rbp", "RBP", &[("gain", Choice("raw"))], Digits),
    irm("alpha_DCG"),
    irm("alpha_nDCG"),
    irm("ERR_IA"),
    irm("nERR_IA"),
    irm("NRBP"),
    irm("nNRBP"),
    irm("AP_IA"),
    irm("P_IA"),
    irm("StRecall"),
    irm_as("α_DCG", "alpha_DCG"),
    irm_as("α_nDCG", "alpha_nDCG"),
    irm_as("MAP_IA", "AP_IA"),
    irm("P"),
    irm_as("Precision", "P"),
    irm("R"),
    irm_as("Recall", "R"),
    irm("AP"),
    irm_as("MAP", "AP"),
    irm("RR"),
    irm_as("MRR", "RR"),
    irm("nDCG"),
    irm_as("NDCG", "nDCG"),
    irm("Rprec"),
    irm_as("RPrec", "Rprec"),
    irm("Success"),
    irm("IPrec"),
    irm("ERR"),
    irm_with("rel", "RBP", &[("norm", Is(1000.0))]),
    irm("Judged"),
    irm("Accuracy"),
    irm("Compat"),
    irm("Bpref"),
    irm_as("BPref", "Bpref"),
    irm_as("infAP", "InfAP"),
    irm("SetP"),
    foreign(Tool::IrMeasures, "SetRelP", "SetP", MIN, Call("")),
    irm("SetR"),
    irm("SetF"),
    irm("SetAP"),
    irm("NumQ"),
    irm("NumRet"),
    irm("NumRel"),
    irm("NumRelRet"),
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
    plain("sklearn", "ndcg_score", "nDCG"),
    plain("sklearn", "ndcg", "nDCG"),
    plain("sklearn", "dcg_score", "DCG"),
    lib("sklearn", "average_precision_score", "AP", TOGETHER, Whole),
    lib("sklearn", "average_precision", "AP", TOGETHER, Whole),
    lib("sklearn", "label_ranking_average_precision_score", "AP", TOGETHER_1, Whole),
    lib("sklearn", "roc_auc_score", "Accuracy", &[], Whole),
    lib("sklearn", "roc_auc", "Accuracy", &[], Whole),
    plain("torchmetrics", "RetrievalNormalizedDCG", "nDCG"),
    lib("torchmetrics", "RetrievalMAP", "AP", HITS, Call("")),
    plain("torchmetrics", "RetrievalMRR", "RR"),
    cut("torchmetrics", "RetrievalPrecision", "P"),
    cut("torchmetrics", "RetrievalRecall", "R"),
    plain("torchmetrics", "RetrievalHitRate", "Success"),
    plain("torchmetrics", "RetrievalRPrecision", "Rprec"),
    plain("torchmetrics", "retrieval_normalized_dcg", "nDCG"),
    lib("torchmetrics", "retrieval_average_precision", "AP", HITS, Call("")),
    plain("torchmetrics", "retrieval_reciprocal_rank", "RR"),
    cut("torchmetrics", "retrieval_precision", "P"),
    cut("torchmetrics", "retrieval_recall", "R"),
    plain("torchmetrics", "retrieval_hit_rate", "Success"),
    plain("torchmetrics", "retrieval_r_precision", "Rprec"),
    lib("tfr", "ndcg", "nDCG", EXP2, Call("")),
    lib("tfr", "dcg", "DCG", EXP2, Call("")),
    plain("tfr", "map", "AP"),
    plain("tfr", "mrr", "RR"),
    lib("tfr", "precision", "P", MIN, Cut),
    cut("tfr", "recall", "R"),
    plain("tfr", "hits", "Success"),
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
    plain("xgboost1", "map-", "AP"),
    cut("xgboost1", "pre", "P"),
    lib("catboost", "NDCG", "nDCG", ONE, Call("")),
    lib("catboost", "NDCG(type=Exp)", "nDCG", EXP2_1, Call("")),
    lib("catboost", "NDCG(denominator=Position)", "nDCG", RANK_1, Call("")),
    lib("catboost", "NDCG(type=Exp,denominator=Position)", "nDCG", EXP2_RANK_1, Call("")),
    plain("catboost", "DCG", "DCG"),
    lib("catboost", "DCG(type=Exp)", "DCG", EXP2, Call("")),
    lib("catboost", "MAP", "AP", MIN, Call("")),
    plain("catboost", "MRR", "RR"),
    lib("catboost", "PrecisionAt", "P", MIN, Cut),
    lib("catboost", "RecallAt", "R", ONE, Cut),
    lib("catboost", "QueryAUC", "Accuracy", &[], Whole),
    lib("ranklib", "NDCG", "nDCG", EXP2, Call("")),
    lib("ranklib", "DCG", "DCG", EXP2, Call("")),
    lib("ranklib", "MAP", "AP", &[], Whole),
    plain("ranklib", "ERR", "ERR"),
    plain("ranklib", "RR", "RR"),
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
    plain("recbole", "MRR", "RR"),
    plain("recbole", "Hit", "Success"),
    cut("recbole", "Precision", "P"),
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
    cut("replay", "MRR", "RR"),
    cut("replay", "Precision", "P"),
    cut("replay", "Recall", "R"),
    cut("replay", "RocAuc", "Accuracy"),
    lib("recommenders", "ndcg_at_k", "nDCG", BINARY, Cut),
    cut("recommenders", "ndcg_at_k(score_type=raw)", "nDCG"),
    lib("recommenders", "ndcg_at_k(score_type=exp)", "nDCG", EXP2, Cut),
    cut("recommenders", "map", "AP"),
    lib("recommenders", "map_at_k", "AP", MIN, Cut),
    cut("recommenders", "precision_at_k", "P"),
    cut("recommenders", "recall_at_k", "R"),
    lib("lenskit", "NDCG", "nDCG", BINARY_JK_SKIP, Call("")),
    lib("lenskit", "MAP", "AP", RETRIEVED_SKIP, Call("")),
    lib("lenskit", "RecipRank", "RR", SKIP, Call("")),
    lib("lenskit", "Hit", "Success", SKIP, Call("")),
    lib("lenskit", "Precision", "P", MIN_SKIP, Cut),
    lib("lenskit", "Recall", "R", MIN_SKIP, Cut),
    lib("cornac", "NDCG", "nDCG", BINARY_SKIP, Call("")),
    lib("cornac", "NCRR", "nDCG", BINARY_RANK, Call("")),
    lib("cornac", "MAP", "AP", TOGETHER_SKIP, Whole),
    plain("cornac", "MRR", "RR"),
    cut("cornac", "Precision", "P"),
    lib("cornac", "Recall", "R", SKIP, Cut),
    cut("cornac", "FMeasure", "F"),
    lib("cornac", "AUC", "Accuracy", &[], Whole),
    lib("elastic", "dcg", "DCG", EXP2, Cut),
    lib("elastic", "dcg(normalize=true)", "nDCG", EXP2_RETURNED, Cut),
    lib("elastic", "precision", "P", MIN, Cut),
    cut("elastic", "recall", "R"),
    cut("elastic", "mean_reciprocal_rank", "RR"),
    lib("elastic", "expected_reciprocal_rank", "ERR", &[], Call("gmax")),
    lib("opensearch", "NDCG", "nDCG", EXP2, Cut),
    cut("opensearch", "MAP", "AP"),
    lib("opensearch", "Precision", "P", MIN, Cut),
    lib("quepid", "ndcg", "nDCG", EXP2_UNCUT, Cut),
    lib("quepid", "ndcg_cut", "nDCG", EXP2, Cut),
    lib("quepid", "ap", "AP", &[], Call(NO_RELEVANT_REQUIRED)),
    cut("quepid", "rr", "RR"),
    lib("quepid", "err", "ERR", GMAX_3, Cut),
    cut("quepid", "cg", "CG"),
    lib("quepid", "dcg", "DCG", EXP2, Cut),
    lib("mlflow", "ndcg_at_k", "nDCG", BINARY_RETURNED, Cut),
    lib("mlflow", "precision_at_k", "P", MIN, Cut),
    cut("mlflow", "recall_at_k", "R"),
    lib("ragas", "context_precision", "AP", HITS, Call("")),
    lib("trulens", "ndcg_at_k", "nDCG", SKIP, Cut),
    lib("trulens", "precision_at_k", "P", MIN_SKIP, Cut),
    lib("trulens", "recall_at_k", "R", SKIP, Cut),
    lib("llamaindex", "ndcg", "nDCG", BINARY_UNCUT, Call("")),
    plain("llamaindex", "ap", "AP"),
    plain("llamaindex", "mrr", "RR"),
    lib("llamaindex", "mrr(use_granular_mrr=True)", "RR", OVER_HITS, Call("")),
    lib("llamaindex", "precision", "P", MIN, Cut),
    cut("llamaindex", "recall", "R"),
    plain("llamaindex", "hit_rate", "Success"),
    cut("llamaindex", "hit_rate(use_granular_hit_rate=True)", "R"),
    lib("llamaindex0", "ndcg", "SDCG", MIN, Cut),
    plain("llamaindex0", "mrr", "RR"),
    plain("llamaindex0", "hit_rate", "Success"),
    lib("haystack", "DocumentNDCGEvaluator", "nDCG", UNCUT, Call("")),
    plain("haystack", "DocumentMAPEvaluator", "AP"),
    plain("haystack", "DocumentMRREvaluator", "RR"),
    plain("trectools", "get_ndcg", "nDCG"),
    plain("trectools", "get_map", "AP"),
    lib("kaggle", "apk", "AP", MIN_1, Call("")),
    lib("kaggle", "mapk", "AP", MIN_1, Call("")),
    common("F1", "F"),
    common("HitRate", "Success"),
    common("Rprecision", "Rprec"),
];

/// The meaning in laneval of a parameter of a measure in ir_measures.
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
    SubMeasure(&'static str),
}

const PLAYERS: &[&str] = &["INST", "INSQ", "BPM", "SDCG", "NERR8", "NERR9", "NERR10", "NERR11"];

/// The parameters of ir_measures with another name here: the name, the measures with the parameter
/// (empty: all), and the meaning.
const KEYS: &[(&str, &[&str], ForeignKey)] = &[
    ("cutoff", &[], ForeignKey::Cutoff),
    ("recall", &["IPrec"], ForeignKey::Cutoff),
    ("judged_only", &[], ForeignKey::JudgedOnly),
    ("rel", &["NumRet"], ForeignKey::SubMeasure("NumRelRet")),
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

/// Returns the meaning of ir_measures' parameter `name` for a measure.
pub(super) fn key(name: &str, measure: &str) -> Option<ForeignKey> {
    KEYS.iter()
        .find(|(key, measures, _)| {
            *key == name && (measures.is_empty() || measures.contains(&measure))
        })
        .map(|&(.., key)| key)
}

/// Returns the names of measures of a library, or all other tools' names that need no prefix, as
/// rows.
pub(super) fn rows_known_to(
    profile: Option<&Profile>,
) -> impl Iterator<Item = &'static ForeignMeasure> {
    let rows = FOREIGN.iter();
    rows.filter(move |row| profile.map_or(row.bare, |library| library.tools.contains(&row.tool)))
}
