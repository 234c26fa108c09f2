//! Reference evaluation: one plain function for each measure, from a ranking to its value. Each
//! function reads like the formula.
//!
//! This is the oracle of the tests, and `--engine reference` for a user who doubts a number. It
//! does not use folds, engines or recipes: each function walks the grades of one ranking, like the
//! definition. Sums run in ascending rank, in f64. The files hold the formulas by kin; this file
//! maps each measure to its formula.
//!
//! An oracle has a deliberate price: the reference shares hardly any code with the checked
//! measures. A formula is written twice, here from its definition and in the table as a recipe. By
//! rule, the author of one version does not look at the other version. So only an identical slip in
//! both versions passes. Both versions agree on the order of operations, rank by rank in f64, so
//! that equal values are equal bit for bit.

mod common;
mod facets;
mod gains;
mod hits;
mod neighbours;
mod no_relevant;
mod passages;
mod preferences;
mod ranking;
mod sets;
mod subtopics;
mod users;

use self::common::{cutoff, rank};
use self::facets::{alpha, beta, over_preferences, over_subtopics, raw_first};
use self::gains::{
    cumulated_gain, discounted_cumulated_gain, g, ideal_dcg, ndcg_over_changes, ndcg_over_relevant,
    normalised_dcg,
};
use self::hits::{
    accuracy, average_precision, bin_g, bpref, floored_average_precision,
    inferred_average_precision, interpolated_precision, mean_interpolated_precision,
    reciprocal_rank, yaap,
};
use self::neighbours::recall_of_neighbours;
use self::passages::{span_f, span_iou, span_precision, span_recall};
use self::sets::{
    f, fall_out, hits, judged, precision, r_precision, recall, set_average_precision, set_f,
    set_precision, set_recall, success, unjudged, utility,
};
use self::subtopics::{
    ap_ia, by_logarithm, by_rank, discounted, nnrbp, normalised, nrbp, p_ia, st_recall,
};
use self::users::{
    compatibility, cwl, expected_reciprocal_rank, inst, inverse_square, rank_biased_precision,
    rbp_residual, scaled_dcg, target,
};
use crate::facets::preferences::PreferenceCount as Preference;
use crate::measure::Measure;

pub use self::no_relevant::is_nothing_relevant;
pub use self::ranking::{RankedFacets, Ranking, ReferenceGrades};

/// The reference function of a measure, from the measure and a ranking to the value.
pub type Function = fn(&Measure, &Ranking<'_>) -> f64;

/// The function of every measure, by canonical name.
pub static FUNCTIONS: &[(&str, Function)] = &[
    ("P", precision),
    ("R", recall),
    ("F", f),
    ("Success", success),
    ("Hits", hits),
    ("AP", average_precision),
    ("GMAP", floored_average_precision),
    ("RR", reciprocal_rank),
    ("Rprec", r_precision),
    ("CG", cumulated_gain),
    ("DCG", discounted_cumulated_gain),
    ("nDCG", normalised_dcg),
    ("ERR", expected_reciprocal_rank),
    ("RBP", rank_biased_precision),
    ("IPrec", interpolated_precision),
    ("IPrec11", mean_interpolated_precision),
    ("Judged", judged),
    ("SetP", set_precision),
    ("SetR", set_recall),
    ("SetF", set_f),
    ("SetAP", set_average_precision),
    ("NNR", recall_of_neighbours),
    ("Bpref", bpref),
    ("GMBpref", |m, r| bpref(m, r).max(0.00001)),
    ("InfAP", inferred_average_precision),
    ("YAAP", yaap),
    ("BinG", bin_g),
    ("G", g),
    ("nDCGrel", ndcg_over_relevant),
    ("RnDCG", ndcg_over_changes),
    ("IDCG", ideal_dcg),
    ("RBPresid", rbp_residual),
    ("Unjudged", unjudged),
    ("Utility", utility),
    ("Accuracy", accuracy),
    ("FallOut", fall_out),
    ("Compat", compatibility),
    ("INST", inst),
    ("INSQ", |m, r| cwl(m, r, |i, _, _| inverse_square(i, m))),
    ("BPM", |m, r| {
        cwl(m, r, |i, _, found| if found < target(m) && i < cutoff(m) { 1.0 } else { 0.0 })
    }),
    ("SDCG", scaled_dcg),
    ("NERR8", |m, r| cwl(m, r, |i, gain, _| if i < cutoff(m) { 1.0 - gain } else { 0.0 })),
    ("NERR9", |m, r| {
        cwl(m, r, |i, gain, _| if i < cutoff(m) { i / (i + 1.0) * (1.0 - gain) } else { 0.0 })
    }),
    ("NERR10", |m, r| cwl(m, r, |_, gain, _| m.number("p").unwrap_or(0.9) * (1.0 - gain))),
    ("NERR11", |m, r| cwl(m, r, |i, gain, _| inverse_square(i, m) * (1.0 - gain))),
    ("alpha_DCG", |m, r| {
        over_subtopics(m, r, |j, d| discounted(j, d, alpha(m), rank(m), raw_first(m), by_logarithm))
    }),
    ("alpha_nDCG", |m, r| {
        over_subtopics(m, r, |j, d| normalised(j, d, alpha(m), rank(m), by_logarithm))
    }),
    ("ERR_IA", |m, r| {
        over_subtopics(m, r, |j, d| discounted(j, d, alpha(m), rank(m), raw_first(m), by_rank))
    }),
    ("nERR_IA", |m, r| over_subtopics(m, r, |j, d| normalised(j, d, alpha(m), rank(m), by_rank))),
    ("NRBP", |m, r| over_subtopics(m, r, |j, d| nrbp(j, d, alpha(m), beta(m)))),
    ("nNRBP", |m, r| over_subtopics(m, r, |j, d| nnrbp(j, d, alpha(m), beta(m)))),
    ("AP_IA", |m, r| over_subtopics(m, r, ap_ia)),
    ("P_IA", |m, r| over_subtopics(m, r, |j, d| p_ia(j, d, rank(m)))),
    ("StRecall", |m, r| over_subtopics(m, r, |j, d| st_recall(j, d, rank(m)))),
    ("prefs_num_prefs_poss", |_, r| over_preferences(r, Preference::Possible)),
    ("prefs_num_prefs_ful", |_, r| over_preferences(r, Preference::Fulfilled)),
    ("prefs_num_prefs_ful_ret", |_, r| over_preferences(r, Preference::FulfilledRetrieved)),
    ("prefs_simp", |_, r| over_preferences(r, Preference::Simple)),
    ("prefs_pair", |_, r| over_preferences(r, Preference::Pair)),
    ("prefs_avgjg", |_, r| over_preferences(r, Preference::Group)),
    ("prefs_avgjg_Rnonrel", |_, r| over_preferences(r, Preference::GroupBalanced)),
    ("prefs_simp_ret", |_, r| over_preferences(r, Preference::SimpleRetrieved)),
    ("prefs_pair_ret", |_, r| over_preferences(r, Preference::PairRetrieved)),
    ("prefs_avgjg_ret", |_, r| over_preferences(r, Preference::GroupRetrieved)),
    ("prefs_avgjg_Rnonrel_ret", |_, r| over_preferences(r, Preference::GroupBalancedRetrieved)),
    ("prefs_simp_imp", |_, r| over_preferences(r, Preference::SimpleImplied)),
    ("prefs_pair_imp", |_, r| over_preferences(r, Preference::PairImplied)),
    ("prefs_avgjg_imp", |_, r| over_preferences(r, Preference::GroupImplied)),
    ("SpanR", span_recall),
    ("SpanP", span_precision),
    ("SpanIoU", span_iou),
    ("SpanF", span_f),
    ("NumQ", |_, _| 1.0),
    ("NumRet", |_, r| r.retrieved()),
    ("NumRel", |m, r| r.relevant(m.rel())),
    ("NumRelRet", |m, r| r.hits(m.rel(), None)),
    ("NumNonrelRet", |m, r| {
        r.top(None).filter(|(_, document)| document.is_nonrelevant(m.rel())).count() as f64
    }),
];

/// Returns the reference function of a measure.
pub fn function(measure: &Measure) -> Option<Function> {
    let name = measure.definition().name;
    FUNCTIONS.iter().find(|(candidate, _)| *candidate == name).map(|&(_, function)| function)
}
