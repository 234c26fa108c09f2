//! The measures of trec_eval, in the order in which it prints them, and what they are in laneval.

use super::params::{beta2, gains, persistence, points, prices};

/// One measure of trec_eval.
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// What it is here.
    pub what: What,
    /// The nicknames that it belongs to, besides `all_trec`.
    pub nicknames: &'static [&'static str],
    /// Which versions have it.
    pub since: Since,
}

/// Who has a measure.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// Both versions; it belongs to `all_trec`.
    V9,
    /// Both versions; it is printed only when named.
    V9Named,
    /// Version 10; it belongs to `all_trec`.
    V10,
    /// Version 10; it is printed only when named.
    V10Named,
}

/// What a measure of trec_eval is.
pub enum What {
    /// The run id of the last line.
    RunId,
    /// The first labels as characters; the number is how many.
    RelString(u32),
    /// A measure of laneval, its fixed parameters, in which `{cut}` and `{docs}` stand for the version's rule of recall and the size
    /// of the collection, and what may follow the name.
    Measure(&'static str, &'static str, After),
    /// It needs judgments in another format than qrels.
    OtherFormat,
}

/// What the parameters of a measure are.
pub enum After {
    /// None, and what is given is ignored.
    Nothing,
    /// Ranks to cut at.
    Ranks(&'static [u32]),
    /// Numbers, each as the cutoff.
    Recalls(&'static [f64]),
    /// Numbers, each as this parameter.
    Each(&'static str, &'static [f64]),
    /// Text that is translated to parameters; the parameters without it.
    Text(fn(&str) -> Result<String, String>, &'static str),
}

use After::{Each, Nothing, Ranks, Recalls, Text};
use Since::{V9, V9Named, V10, V10Named};
use What::{Measure, OtherFormat, RelString, RunId};

const NINE: &[u32] = &[5, 10, 15, 20, 30, 100, 200, 500, 1000];
const TENTHS: &[f64] = &[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];
const FIFTHS: &[f64] = &[0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0];

const BOTH: &[&str] = &["official", "set"];
const OFFICIAL: &[&str] = &["official"];
const SET: &[&str] = &["set"];

const fn entry(name: &'static str, what: What, nicknames: &'static [&'static str], since: Since) -> Entry {
    Entry { name, what, nicknames, since }
}

/// All of them.
pub static REGISTRY: &[Entry] = &[
    entry("runid", RunId, BOTH, V9),
    entry("num_q", Measure("NumQ", "", Nothing), BOTH, V9),
    entry("num_ret", Measure("NumRet", "", Nothing), BOTH, V9),
    entry("num_rel", Measure("NumRel", "", Nothing), BOTH, V9),
    entry("num_rel_ret", Measure("NumRelRet", "", Nothing), BOTH, V9),
    entry("map", Measure("AP", "", Nothing), OFFICIAL, V9),
    entry("gm_map", Measure("GMAP", "", Nothing), OFFICIAL, V9),
    entry("Rprec", Measure("Rprec", "", Nothing), OFFICIAL, V9),
    entry("bpref", Measure("Bpref", "", Nothing), OFFICIAL, V9),
    entry("recip_rank", Measure("RR", "", Nothing), OFFICIAL, V9),
    entry("iprec_at_recall", Measure("IPrec", "cut={cut}", Recalls(TENTHS)), OFFICIAL, V9),
    entry("P", Measure("P", "", Ranks(NINE)), OFFICIAL, V9),
    entry("relstring", RelString(10), &[], V9),
    entry("recall", Measure("R", "", Ranks(NINE)), &[], V9),
    entry("infAP", Measure("InfAP", "", Nothing), &[], V9),
    entry("gm_bpref", Measure("GMBpref", "", Nothing), &[], V9),
    entry("Rprec_mult", Measure("Rprec", "", Each("mult", FIFTHS)), &[], V9),
    entry("utility", Measure("Utility", "docs={docs}", Text(prices, "")), SET, V9),
    entry("11pt_avg", Measure("IPrec11", "cut={cut}", Text(points, "")), &[], V9),
    entry("binG", Measure("BinG", "", Nothing), &[], V9),
    entry("G", Measure("G", "", Text(gains, "")), &[], V9),
    entry("dcg", Measure("DCG", "", Text(gains, "")), &[], V10Named),
    entry("ideal_dcg", Measure("IDCG", "", Text(gains, "")), &[], V10Named),
    entry("ndcg", Measure("nDCG", "", Text(gains, "")), &[], V9),
    entry("ndcg_rel", Measure("nDCGrel", "", Text(gains, "")), &[], V9),
    entry("Rndcg", Measure("RnDCG", "", Text(gains, "")), &[], V9),
    entry("ndcg_cut", Measure("nDCG", "", Ranks(NINE)), &[], V9),
    entry("map_cut", Measure("AP", "", Ranks(NINE)), &[], V9),
    entry("relative_P", Measure("R", "norm=min", Ranks(NINE)), &[], V9),
    entry("success", Measure("Success", "", Ranks(&[1, 5, 10])), &[], V9),
    entry("set_P", Measure("SetP", "", Nothing), SET, V9),
    entry("set_relative_P", Measure("SetP", "norm=min", Nothing), SET, V9),
    entry("set_recall", Measure("SetR", "", Nothing), SET, V9),
    entry("set_map", Measure("SetAP", "", Nothing), SET, V9),
    entry("set_F", Measure("SetF", "", Text(beta2, "")), SET, V9),
    entry("num_nonrel_judged_ret", Measure("NumNonrelRet", "", Nothing), &[], V9),
    entry("prefs_num_prefs_poss", OtherFormat, &[], V9Named),
    entry("prefs_num_prefs_ful", OtherFormat, &[], V9Named),
    entry("prefs_num_prefs_ful_ret", OtherFormat, &[], V9Named),
    entry("prefs_simp", OtherFormat, &[], V9Named),
    entry("prefs_pair", OtherFormat, &[], V9Named),
    entry("prefs_avgjg", OtherFormat, &[], V9Named),
    entry("prefs_avgjg_Rnonrel", OtherFormat, &[], V9Named),
    entry("prefs_simp_ret", OtherFormat, &[], V9Named),
    entry("prefs_pair_ret", OtherFormat, &[], V9Named),
    entry("prefs_avgjg_ret", OtherFormat, &[], V9Named),
    entry("prefs_avgjg_Rnonrel_ret", OtherFormat, &[], V9Named),
    entry("prefs_simp_imp", OtherFormat, &[], V9Named),
    entry("prefs_pair_imp", OtherFormat, &[], V9Named),
    entry("prefs_avgjg_imp", OtherFormat, &[], V9Named),
    entry("map_avgjg", OtherFormat, &[], V9Named),
    entry("P_avgjg", OtherFormat, &[], V9Named),
    entry("Rprec_mult_avgjg", OtherFormat, &[], V9Named),
    entry("yaap", Measure("YAAP", "", Nothing), &[], V9Named),
    entry("rbp", Measure("RBP", "scale=topic", Text(persistence, "p=0.9")), &[], V10),
    entry("rbp_resid", Measure("RBPresid", "", Text(persistence, "")), &[], V10),
    entry("unj", Measure("Unjudged", "", Ranks(&[5, 10, 20])), &[], V10),
];

/// Nicknames of measures that need another format.
pub const OTHER_NICKNAMES: &[&str] = &["all_prefs", "prefs", "qrels_jg"];

impl Entry {
    /// Does it belong to a nickname; `None` where there is no such nickname.
    pub fn belongs(&self, nickname: &str) -> Option<bool> {
        match nickname {
            "all_trec" => Some(matches!(self.since, V9 | V10)),
            "official" | "set" => Some(self.nicknames.contains(&nickname)),
            _ => None,
        }
    }

    /// Is it only in version 10?
    pub fn is_new(&self) -> bool {
        matches!(self.since, V10 | V10Named)
    }
}
