//! One plain function a measure, from a ranking to its value. Each function reads like the formula.
//!
//! This is the oracle of the tests, and `--engine reference` for a user who doubts a number. It does not use folds, engines or recipes: it
//! walks the grades of one ranking, as the definitions do. Sums run in ascending rank, in f64.
//!
//! Being the oracle has a price that is paid on purpose: hardly anything is shared with what it checks. A formula is written twice, here
//! from its definition and in the table as a recipe, by the rule that the author of one does not look at the other; so a slip must happen
//! twice, and in the same way, to pass. Only the order of operations is agreed on, rank by rank in f64, which makes "the same" mean the
//! same bits.

mod preferences;
mod subtopics;

use std::collections::HashMap;

use crate::facets::preferences::{PreferenceCount as Preference, PreferenceLine};
use crate::label::{Above, Codebook, QueryFacets, QueryFacts, QueryGrades, code};
use crate::measure::{Measure, RecallRule, Value};
use crate::sort;

/// One ranking, with the facts of its query.
#[derive(Debug, Clone, Copy)]
pub struct Ranking<'a> {
    /// The labels in rank order, without padding.
    pub labels: &'a [u8],
    /// The number of documents of the qrels that carry each code.
    pub facts: QueryFacts<'a>,
    /// The meaning of the codes.
    pub book: &'a Codebook,
    /// The exact grades, if codes are classes of grades.
    pub exact: Option<ReferenceGrades<'a>>,
    /// The judgments by group, if they were read so.
    pub facets: Option<RankedFacets<'a>>,
}

/// The judgments by group of a query, and the named documents of a ranking.
#[derive(Debug, Clone, Copy)]
pub struct RankedFacets<'a> {
    /// The judgments.
    pub judged: QueryFacets<'a>,
    /// The ranks (from 0) of the ranking's named documents, with their numbers.
    pub named: &'a [(u32, u32)],
}

/// The exact grades of a ranking and of its query.
#[derive(Debug, Clone, Copy)]
pub struct ReferenceGrades<'a> {
    /// The grades of the judged documents of the ranking, in rank order.
    pub grades: &'a [f64],
    /// The grades of the judged documents of the query.
    pub judged: QueryGrades<'a>,
}

/// A retrieved document as the definitions see it.
#[derive(Clone, Copy, PartialEq)]
enum SeenDocument {
    /// Not in the qrels.
    Unpooled,
    /// In the qrels with a negative grade.
    Negative,
    /// With a grade ≥ 0.
    Judged(f64),
}

impl SeenDocument {
    fn is_relevant(self, level: f64) -> bool {
        matches!(self, SeenDocument::Judged(grade) if grade >= level)
    }

    /// Whether the document is judged and not relevant.
    fn is_nonrelevant(self, level: f64) -> bool {
        matches!(self, SeenDocument::Judged(grade) if grade < level)
    }

    fn is_judged(self) -> bool {
        matches!(self, SeenDocument::Judged(_))
    }
}

impl<'a> Ranking<'a> {
    fn document(&self, code: u8) -> SeenDocument {
        match code {
            code::UNPOOLED => SeenDocument::Unpooled,
            code::NEGATIVE => SeenDocument::Negative,
            code => self.book.grade(code).map_or(SeenDocument::Unpooled, SeenDocument::Judged),
        }
    }

    /// The first `k` documents with their ranks from 1; all without `k`.
    fn top(&self, k: Option<u32>) -> impl Iterator<Item = (usize, SeenDocument)> + '_ {
        let k = k.map_or(usize::MAX, |k| k as usize);
        let mut grades = self.exact.map_or(&[][..], |exact| exact.grades).iter();
        self.labels.iter().take(k).enumerate().map(move |(index, &code)| {
            let exact = self.exact.filter(|_| Above::JUDGED.contains(code));
            let document = match exact {
                Some(_) => SeenDocument::Judged(grades.next().copied().unwrap_or(0.0)),
                None => self.document(code),
            };
            (index + 1, document)
        })
    }

    /// r(k), the relevant documents among the first `k`.
    fn hits(&self, level: f64, k: Option<u32>) -> f64 {
        self.top(k).filter(|(_, document)| document.is_relevant(level)).count() as f64
    }

    /// The judged documents of the query: the number of documents of each grade.
    fn judged(&self) -> impl Iterator<Item = (f64, u32)> + '_ {
        let of_codes = self.facts.iter().filter(|_| self.exact.is_none());
        let of_codes = of_codes.filter_map(|(code, count)| Some((self.book.grade(code)?, count)));
        of_codes.chain(self.exact.iter().flat_map(|exact| exact.judged.iter()))
    }

    /// R, the relevant documents.
    fn relevant(&self, level: f64) -> f64 {
        self.judged().filter(|&(grade, _)| grade >= level).map(|(_, count)| u64::from(count)).sum::<u64>()
            as f64
    }

    /// n, the retrieved documents.
    fn retrieved(&self) -> f64 {
        self.labels.len() as f64
    }
}

/// A measure's function.
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
    ("BPM", |m, r| cwl(m, r, |i, _, found| if found < target(m) && i < cutoff(m) { 1.0 } else { 0.0 })),
    ("SDCG", scaled_dcg),
    ("NERR8", |m, r| cwl(m, r, |i, gain, _| if i < cutoff(m) { 1.0 - gain } else { 0.0 })),
    ("NERR9", |m, r| cwl(m, r, |i, gain, _| if i < cutoff(m) { i / (i + 1.0) * (1.0 - gain) } else { 0.0 })),
    ("NERR10", |m, r| cwl(m, r, |_, gain, _| m.number("p").unwrap_or(0.9) * (1.0 - gain))),
    ("NERR11", |m, r| cwl(m, r, |i, gain, _| inverse_square(i, m) * (1.0 - gain))),
    ("alpha_DCG", |m, r| {
        over_subtopics(m, r, |j, d| subtopics::alpha_dcg(j, d, alpha(m), rank(m), raw_first(m)))
    }),
    ("alpha_nDCG", |m, r| over_subtopics(m, r, |j, d| subtopics::alpha_ndcg(j, d, alpha(m), rank(m), true))),
    ("ERR_IA", |m, r| over_subtopics(m, r, |j, d| subtopics::err_ia(j, d, alpha(m), rank(m), raw_first(m)))),
    ("nERR_IA", |m, r| over_subtopics(m, r, |j, d| subtopics::nerr_ia(j, d, alpha(m), rank(m), true))),
    ("NRBP", |m, r| over_subtopics(m, r, |j, d| subtopics::nrbp(j, d, alpha(m), beta(m)))),
    ("nNRBP", |m, r| over_subtopics(m, r, |j, d| subtopics::nnrbp(j, d, alpha(m), beta(m)))),
    ("AP_IA", |m, r| over_subtopics(m, r, subtopics::ap_ia)),
    ("P_IA", |m, r| over_subtopics(m, r, |j, d| subtopics::p_ia(j, d, rank(m)))),
    ("StRecall", |m, r| over_subtopics(m, r, |j, d| subtopics::st_recall(j, d, rank(m)))),
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
    ("NumQ", |_, _| 1.0),
    ("NumRet", |_, r| r.retrieved()),
    ("NumRel", |m, r| r.relevant(m.rel())),
    ("NumRelRet", |m, r| r.hits(m.rel(), None)),
    ("NumNonrelRet", |m, r| {
        r.top(None).filter(|(_, document)| document.is_nonrelevant(m.rel())).count() as f64
    }),
];

/// A value over the subtopics of a query, with the ranking's documents by rank; 0 where judgments are of documents alone.
fn over_subtopics(
    m: &Measure,
    r: &Ranking<'_>,
    of: impl Fn(&subtopics::DocumentSubtopics, &subtopics::DocumentsAtRanks) -> f64,
) -> f64 {
    let Some(groups) = r.facets else { return 0.0 };
    let mut judged = vec![Vec::new(); groups.judged.documents as usize];
    for judgment in groups.judged.judgments.iter().filter(|judgment| judgment.grade >= m.rel()) {
        judged[judgment.document as usize].push(judgment.group);
    }
    let mut ranking = vec![None; r.labels.len()];
    groups.named.iter().for_each(|&(rank, number)| ranking[rank as usize] = Some(number as usize));
    of(&judged, &ranking)
}

/// A value over the preferences of a query; 0 where judgments are of documents alone.
fn over_preferences(r: &Ranking<'_>, measure: Preference) -> f64 {
    let Some(groups) = r.facets else { return 0.0 };
    let lines: Vec<PreferenceLine> = groups.judged.judgments.iter().map(PreferenceLine::from).collect();
    let retrieved: Vec<u32> = groups.named.iter().map(|&(_, number)| number).collect();
    preferences::value(&lines, groups.judged.documents, &retrieved, measure)
}

fn alpha(m: &Measure) -> f64 {
    m.number("alpha").unwrap_or(0.5)
}

fn beta(m: &Measure) -> f64 {
    m.number("beta").unwrap_or(0.5)
}

fn raw_first(m: &Measure) -> bool {
    m.word("first") == "raw"
}

/// The cutoff of a measure that needs one.
fn rank(m: &Measure) -> usize {
    m.rank().map_or(usize::MAX, |k| k as usize)
}

/// The function of a measure.
pub fn function(measure: &Measure) -> Option<Function> {
    let name = measure.definition().name;
    FUNCTIONS.iter().find(|(of, _)| *of == name).map(|&(_, function)| function)
}

fn cutoff(m: &Measure) -> f64 {
    m.rank().map_or(f64::INFINITY, f64::from)
}

fn ratio(a: f64, b: f64) -> f64 {
    if b == 0.0 { 0.0 } else { a / b }
}

fn precision(m: &Measure, r: &Ranking<'_>) -> f64 {
    let hits = r.hits(m.rel(), m.rank());
    if m.word("norm") == "min" { ratio(hits, r.retrieved().min(cutoff(m))) } else { hits / cutoff(m) }
}

fn recall(m: &Measure, r: &Ranking<'_>) -> f64 {
    let relevant = r.relevant(m.rel());
    let most = match m.word("norm") {
        "min" => cutoff(m),
        "retrieved" => r.retrieved().min(cutoff(m)),
        _ => f64::INFINITY,
    };
    ratio(r.hits(m.rel(), m.rank()), relevant.min(most))
}

fn f_of(precision: f64, recall: f64, beta2: f64) -> f64 {
    ratio((beta2 + 1.0) * precision * recall, beta2 * precision + recall)
}

fn f(m: &Measure, r: &Ranking<'_>) -> f64 {
    let beta = m.number("beta").unwrap_or(1.0);
    let recall = ratio(r.hits(m.rel(), m.rank()), r.relevant(m.rel()));
    f_of(precision(m, r), recall, beta * beta)
}

fn success(m: &Measure, r: &Ranking<'_>) -> f64 {
    if r.hits(m.rel(), m.rank()) > 0.0 { 1.0 } else { 0.0 }
}

fn hits(m: &Measure, r: &Ranking<'_>) -> f64 {
    r.hits(m.rel(), m.rank())
}

/// Σ of r(i) / i over the relevant ranks i ≤ k.
fn precision_sum(level: f64, k: Option<u32>, r: &Ranking<'_>) -> f64 {
    let (mut hits, mut sum) = (0.0, 0.0);
    for (rank, document) in r.top(k) {
        if document.is_relevant(level) {
            hits += 1.0;
            sum += hits / rank as f64;
        }
    }
    sum
}

fn average_precision(m: &Measure, r: &Ranking<'_>) -> f64 {
    let sum = precision_sum(m.rel(), m.rank(), r);
    let relevant = r.relevant(m.rel());
    match m.word("norm") {
        "judged" => ratio(sum, relevant),
        "min" => ratio(sum, relevant.min(cutoff(m))),
        _ => ratio(sum, r.hits(m.rel(), m.rank())),
    }
}

fn floored_average_precision(m: &Measure, r: &Ranking<'_>) -> f64 {
    ratio(precision_sum(m.rel(), None, r), r.relevant(m.rel())).max(0.00001)
}

fn reciprocal_rank(m: &Measure, r: &Ranking<'_>) -> f64 {
    let first = r.top(m.rank()).find(|(_, document)| document.is_relevant(m.rel()));
    first.map_or(0.0, |(rank, _)| 1.0 / rank as f64)
}

fn r_precision(m: &Measure, r: &Ranking<'_>) -> f64 {
    let rank = (m.number("mult").unwrap_or(1.0) * r.relevant(m.rel()) + 0.9).trunc();
    ratio(r.hits(m.rel(), Some(rank as u32)), rank)
}

/// The gain of a document under the parameters `gain` and `rel`.
fn gain(m: &Measure) -> impl Fn(SeenDocument) -> f64 + '_ {
    let (worth, floor) = (worth(m), m.number("rel").unwrap_or(0.0));
    move |document| match document {
        SeenDocument::Judged(grade) if grade < floor => 0.0,
        document => worth(document),
    }
}

/// The gain of a document under the parameter `gain` alone.
fn worth(m: &Measure) -> impl Fn(SeenDocument) -> f64 + '_ {
    let table = match m.value("gain") {
        Some(Value::Table(pairs)) => pairs.as_slice(),
        _ => &[],
    };
    let exponential = m.word("gain") == "exp2";
    let named = move |level: f64| table.iter().find(|pair| pair.0 == level).map(|pair| pair.1);
    move |document| match document {
        SeenDocument::Unpooled => named(-1.0).unwrap_or(0.0),
        SeenDocument::Negative => named(-2.0).unwrap_or(0.0),
        SeenDocument::Judged(grade) if exponential => grade.exp2() - 1.0,
        SeenDocument::Judged(grade) => named(grade).unwrap_or(grade),
    }
}

/// A power of two by which gains are multiplied if only their ratio counts, so that sums of huge gains are finite.
fn unit(gain: impl Fn(SeenDocument) -> f64, r: &Ranking<'_>) -> f64 {
    let grades = r.book.grades().iter().copied().chain(r.book.max_grade());
    let judged = grades.map(SeenDocument::Judged);
    let documents = judged.chain([SeenDocument::Unpooled, SeenDocument::Negative]);
    let largest = documents.map(gain).fold(0.0, |largest, gain| gain.abs().max(largest));
    if largest > 2f64.powi(900) { 2f64.powi(-128) } else { 1.0 }
}

fn cumulated_gain(m: &Measure, r: &Ranking<'_>) -> f64 {
    let gain = gain(m);
    let mut sum = 0.0;
    for (_, document) in r.top(m.rank()) {
        sum += gain(document);
    }
    sum
}

fn discount(rank: usize) -> f64 {
    ((rank + 1) as f64).log2()
}

/// A gain discounted at a rank. Most gains are 0, and need no logarithm.
fn discounted(gain: f64, rank: usize) -> f64 {
    if gain == 0.0 { 0.0 } else { gain / discount(rank) }
}

/// The function that divides the gain of each rank by lg(i + 1), or from rank b on by log_b(i) and before by nothing.
fn discounted_under(m: &Measure) -> impl Fn(f64, usize) -> f64 {
    let base = (m.word("discount") == "jk").then(|| m.number("base").unwrap_or(2.0));
    move |gain, rank| match base {
        None => discounted(gain, rank),
        Some(base) if (rank as f64) < base => gain,
        Some(base) => gain / ((rank as f64).log2() / base.log2()),
    }
}

fn discounted_cumulated_gain(m: &Measure, r: &Ranking<'_>) -> f64 {
    dcg_under(gain(m), m, r)
}

fn dcg_under(gain: impl Fn(SeenDocument) -> f64, m: &Measure, r: &Ranking<'_>) -> f64 {
    let discounted = discounted_under(m);
    let mut sum = 0.0;
    for (rank, document) in r.top(m.rank()) {
        sum += discounted(gain(document), rank);
    }
    sum
}

/// An ideal ranking: positive gains, the largest first, each with the number of documents that have it.
struct IdealGains(Vec<(f64, u32)>);

impl IdealGains {
    fn new(gains: impl Iterator<Item = (f64, u32)>) -> Self {
        let mut gains: Vec<_> = gains.filter(|&(gain, _)| gain > 0.0).collect();
        sort::largest_first(&mut gains);
        IdealGains(gains)
    }

    /// The ideal ranking of the judged documents of a query.
    fn of_judged(r: &Ranking<'_>, gain: impl Fn(SeenDocument) -> f64) -> Self {
        Self::new(r.judged().map(|(grade, count)| (gain(SeenDocument::Judged(grade)), count)))
    }

    /// The gains of the ideal ranking, rank by rank.
    fn gains(&self) -> impl Iterator<Item = f64> {
        self.0.iter().flat_map(|&(gain, count)| std::iter::repeat_n(gain, count as usize))
    }

    /// The number of documents of the ideal ranking.
    fn documents(&self) -> usize {
        self.0.iter().map(|&(_, count)| count as usize).sum()
    }
}

/// DCG of gains in order, down to rank `k`.
fn dcg_of(gains: impl Iterator<Item = f64>, k: Option<u32>, discounted: impl Fn(f64, usize) -> f64) -> f64 {
    let mut sum = 0.0;
    for (index, gain) in gains.take(k.map_or(usize::MAX, |k| k as usize)).enumerate() {
        sum += discounted(gain, index + 1);
    }
    sum
}

fn normalised_dcg(m: &Measure, r: &Ranking<'_>) -> f64 {
    let gain = gain(m);
    let unit = unit(&gain, r);
    let gain = |document| gain(document) * unit;
    let ideal = match m.word("ideal") {
        "retrieved" => IdealGains::new(r.top(None).map(|(_, document)| (gain(document), 1))),
        _ => IdealGains::of_judged(r, gain),
    };
    ratio(dcg_under(gain, m, r), dcg_of(ideal.gains(), m.rank(), discounted_under(m)))
}

fn ideal_dcg(m: &Measure, r: &Ranking<'_>) -> f64 {
    dcg_of(IdealGains::of_judged(r, gain(m)).gains(), m.rank(), discounted_under(m))
}

fn expected_reciprocal_rank(m: &Measure, r: &Ranking<'_>) -> f64 {
    let gmax = m.number("gmax").or(r.book.max_grade()).unwrap_or(0.0);
    let (mut sum, mut goes_on) = (0.0, 1.0);
    for (rank, document) in r.top(m.rank()) {
        if let SeenDocument::Judged(grade) = document {
            let satisfied = (grade.exp2() - 1.0) / gmax.exp2();
            sum += goes_on * satisfied / rank as f64;
            goes_on *= 1.0 - satisfied;
        }
    }
    sum
}

fn rank_biased_precision(m: &Measure, r: &Ranking<'_>) -> f64 {
    let p = m.number("p").unwrap_or(0.8);
    let topic = m.word("scale") == "topic";
    let max = r.book.max_grade().filter(|&max| max > 0.0).unwrap_or(1.0);
    let depth = m.number("norm").map(|depth| depth as u32);
    let highest = r.judged().map(|(grade, _)| grade).fold(1.0, f64::max);
    let (mut sum, mut reaches) = (0.0, 1.0);
    for (_, document) in r.top(m.rank().into_iter().chain(depth).min()) {
        if let SeenDocument::Judged(grade) = document
            && (topic || grade >= m.rel())
        {
            sum += reaches
                * match m.word("gain") {
                    _ if topic => grade / highest,
                    "binary" => 1.0,
                    "grade" => grade / max,
                    _ => grade,
                };
        }
        reaches *= p;
    }
    let Some(depth) = depth.filter(|_| !topic) else { return (1.0 - p) * sum };
    let (mut weights, mut reaches) = (0.0, 1.0);
    for _ in 0..depth {
        weights += reaches;
        reaches *= p;
    }
    sum / weights
}

fn rbp_residual(m: &Measure, r: &Ranking<'_>) -> f64 {
    let p = m.number("p").unwrap_or(0.9);
    let (mut sum, mut reaches) = (0.0, 1.0);
    for (_, document) in r.top(None) {
        if !document.is_judged() {
            sum += reaches;
        }
        reaches *= p;
    }
    let all_judged = r.top(None).all(|(_, document)| document.is_judged());
    if all_judged { 0.0 } else { reaches + (1.0 - p) * sum }
}

/// The largest precision at any rank that has at least as many hits as the level of recall needs.
fn peak(m: &Measure, r: &Ranking<'_>, recall: f64) -> f64 {
    let needed = RecallRule::of(m).hits(recall)(r.relevant(m.rel()) as u64) as f64;
    let (mut hits, mut peak) = (0.0, 0.0f64);
    for (rank, document) in r.top(None) {
        if document.is_relevant(m.rel()) {
            hits += 1.0;
        }
        if hits >= needed {
            peak = peak.max(hits / rank as f64);
        }
    }
    peak
}

fn interpolated_precision(m: &Measure, r: &Ranking<'_>) -> f64 {
    peak(m, r, m.recall())
}

fn mean_interpolated_precision(m: &Measure, r: &Ranking<'_>) -> f64 {
    let points = match m.value("points") {
        Some(Value::List(points)) => points.clone(),
        _ => (0..=10).map(|tenth| f64::from(tenth) / 10.0).collect(),
    };
    let mut sum = 0.0;
    for &point in points.iter().rev() {
        sum += peak(m, r, point);
    }
    sum / points.len() as f64
}

fn judged(m: &Measure, r: &Ranking<'_>) -> f64 {
    let pooled = r.top(m.rank()).filter(|&(_, document)| document != SeenDocument::Unpooled).count() as f64;
    ratio(pooled, r.retrieved().min(cutoff(m)))
}

fn set_precision(m: &Measure, r: &Ranking<'_>) -> f64 {
    let most = if m.word("norm") == "min" { r.relevant(m.rel()) } else { f64::INFINITY };
    ratio(r.hits(m.rel(), None), r.retrieved().min(most))
}

fn set_recall(m: &Measure, r: &Ranking<'_>) -> f64 {
    ratio(r.hits(m.rel(), None), r.relevant(m.rel()))
}

fn set_f(m: &Measure, r: &Ranking<'_>) -> f64 {
    let beta2 = m.number("beta2").unwrap_or_else(|| m.number("beta").unwrap_or(1.0).powi(2));
    f_of(set_precision(m, r), set_recall(m, r), beta2)
}

fn set_average_precision(m: &Measure, r: &Ranking<'_>) -> f64 {
    let hits = r.hits(m.rel(), None);
    ratio(hits * hits, r.retrieved() * r.relevant(m.rel()))
}

fn bpref(m: &Measure, r: &Ranking<'_>) -> f64 {
    let negatives = m.word("negatives") == "nonrelevant";
    let is_nonrelevant = |document: SeenDocument| {
        document.is_nonrelevant(m.rel()) || (negatives && document == SeenDocument::Negative)
    };
    let relevant = r.relevant(m.rel());
    let negative = r.facts.iter().filter(|&(code, _)| code == code::NEGATIVE);
    let negative = negative.map(|(_, count)| (SeenDocument::Negative, count));
    let known = r.judged().map(|(grade, count)| (SeenDocument::Judged(grade), count)).chain(negative);
    let nonrelevant: f64 =
        known.filter(|&(document, _)| is_nonrelevant(document)).map(|(_, count)| f64::from(count)).sum();
    let (mut above, mut sum) = (0.0, 0.0);
    for (_, document) in r.top(None) {
        if document.is_relevant(m.rel()) {
            sum += if above > 0.0 {
                1.0 - f64::min(above, relevant) / f64::min(nonrelevant, relevant)
            } else {
                1.0
            };
        } else if is_nonrelevant(document) {
            above += 1.0;
        }
    }
    ratio(sum, relevant)
}

fn inferred_average_precision(m: &Measure, r: &Ranking<'_>) -> f64 {
    const EPSILON: f64 = 0.00001;
    let (mut relevant, mut nonrelevant, mut pooled, mut sum) = (0.0, 0.0, 0.0, 0.0);
    for (rank, document) in r.top(None) {
        match document {
            SeenDocument::Unpooled => {}
            SeenDocument::Negative => pooled += 1.0,
            SeenDocument::Judged(grade) if grade < m.rel() => nonrelevant += 1.0,
            SeenDocument::Judged(_) => {
                let above = (rank - 1) as f64;
                sum += if above == 0.0 {
                    1.0
                } else {
                    let judged = relevant + nonrelevant;
                    1.0 / (above + 1.0)
                        + (above / (above + 1.0))
                            * ((judged + pooled) / above)
                            * ((relevant + EPSILON) / (judged + 2.0 * EPSILON))
                };
                relevant += 1.0;
            }
        }
    }
    ratio(sum, r.relevant(m.rel()))
}

fn yaap(m: &Measure, r: &Ranking<'_>) -> f64 {
    let (sum, relevant) = (precision_sum(m.rel(), None, r), r.relevant(m.rel()));
    if relevant == 0.0 { 0.0 } else { ((1.0 + sum) / (1.0 + relevant - sum)).ln() }
}

fn bin_g(m: &Measure, r: &Ranking<'_>) -> f64 {
    let (mut hits, mut sum) = (0, 0.0);
    for (rank, document) in r.top(None) {
        if document.is_relevant(m.rel()) {
            hits += 1;
            sum += 1.0 / ((2 + rank - hits) as f64).log2();
        }
    }
    ratio(sum, r.relevant(m.rel()))
}

fn g(m: &Measure, r: &Ranking<'_>) -> f64 {
    let gain_of = gain(m);
    let ideal = IdealGains::of_judged(r, &gain_of);
    let mut best = ideal.gains();
    let (mut cost, mut gained, mut sum) = (0.0, 0.0, 0.0);
    for (_, document) in r.top(None) {
        let gain = gain_of(document);
        cost += best.next().unwrap_or(0.0).max(1.0);
        gained += gain;
        if gain != 0.0 {
            let lag = 2.0 + cost - gained;
            // Less than 2 by a little of huge gains is rounding. In the last bits it stays.
            let is_rounding = lag < 1.999_999 && 2.0 - lag <= cost * 2f64.powi(-36);
            sum += gain / if is_rounding { 2.0 } else { lag }.log2();
        }
    }
    let whole: f64 = ideal.gains().sum();
    // Costs and gains of this size differ by rounding only, or by infinity.
    if cost.max(whole) > 2f64.powi(900) { f64::NAN } else { ratio(sum, whole) }
}

fn ndcg_over_relevant(m: &Measure, r: &Ranking<'_>) -> f64 {
    let gain = gain(m);
    let unit = unit(&gain, r);
    let gain_of = |document| gain(document) * unit;
    let ideal = IdealGains::of_judged(r, gain_of);
    let mut ideal_gains = ideal.gains();
    let (mut dcg, mut best, mut found, mut sum) = (0.0, 0.0, 0, 0.0);
    for (rank, document) in r.top(None) {
        let gain = gain_of(document);
        dcg += discounted(gain, rank);
        best += ideal_gains.next().map_or(0.0, |gain| gain / discount(rank));
        if gain > 0.0 {
            sum += dcg / best;
            found += 1;
        }
    }
    let documents = ideal.documents() as f64;
    let missing = documents - f64::from(found);
    // A value below 0, which takes negative gains, counts as 0.
    ratio(sum + ratio(missing * dcg, dcg_of(ideal.gains(), None, discounted)), documents).max(0.0)
}

fn ndcg_over_changes(m: &Measure, r: &Ranking<'_>) -> f64 {
    if r.relevant(m.rel()) == 0.0 {
        return 0.0;
    }
    // The level decides only whether anything is relevant.
    let worth = worth(m);
    let unit = unit(&worth, r);
    let worth = |document| worth(document) * unit;
    let ideal = IdealGains::of_judged(r, worth);
    let gains: Vec<f64> = r.top(None).map(|(_, document)| worth(document)).collect();
    let (mut dcg, mut best, mut sum, mut count) = (0.0, 0.0, 0.0, 0.0);
    let mut ideal_gains = ideal.gains().enumerate().peekable();
    while let Some((index, gain)) = ideal_gains.next() {
        dcg += gains.get(index).map_or(0.0, |&gain| discounted(gain, index + 1));
        best += gain / discount(index + 1);
        if ideal_gains.peek().is_none_or(|&(_, next)| next != gain) {
            sum += dcg / best;
            count += 1.0;
        }
    }
    let documents = ideal.documents();
    if documents > 0 && gains.len() >= documents + 2 {
        sum += dcg_of(gains.into_iter(), None, discounted) / best;
        count += 1.0;
    }
    ratio(sum, count)
}

fn unjudged(m: &Measure, r: &Ranking<'_>) -> f64 {
    r.top(m.rank()).filter(|(_, document)| !document.is_judged()).count() as f64 / cutoff(m)
}

fn utility(m: &Measure, r: &Ranking<'_>) -> f64 {
    let price = |name: &str| m.number(name).unwrap_or(0.0);
    let (hits, n, relevant) = (r.hits(m.rel(), None), r.retrieved(), r.relevant(m.rel()));
    price("a") * hits
        + price("b") * (n - hits)
        + price("c") * (relevant - hits)
        + price("d") * (price("docs") + hits - n - relevant)
}

fn accuracy(m: &Measure, r: &Ranking<'_>) -> f64 {
    let (mut hits, mut others, mut wrong) = (0.0, 0.0, 0.0);
    for (_, document) in r.top(m.rank()) {
        if document.is_relevant(m.rel()) {
            hits += 1.0;
            wrong += others;
        } else {
            others += 1.0;
        }
    }
    if hits == 0.0 { 0.0 } else { 1.0 - ratio(wrong, others * hits) }
}

fn fall_out(m: &Measure, r: &Ranking<'_>) -> f64 {
    let judged = m.word("norm") == "judged";
    let counts =
        |document: &SeenDocument| !document.is_relevant(m.rel()) && (!judged || document.is_judged());
    let found = r.top(m.rank()).filter(|(_, document)| counts(document)).count() as f64;
    let all = match judged {
        true => r.judged().filter(|&(grade, _)| grade < m.rel()).map(|(_, count)| f64::from(count)).sum(),
        false => r.top(None).filter(|(_, document)| counts(document)).count() as f64,
    };
    ratio(found, all)
}

/// Rank-biased overlap with the nearest ideal ranking: positive grades descending, within a grade the retrieved documents in their order
/// and then the absent ones.
fn compatibility(m: &Measure, r: &Ranking<'_>) -> f64 {
    let p = m.number("p").unwrap_or(0.95);
    // Each grade with the number of documents of at least that grade, descending. A file that was not verified may have others in a ranking.
    let judged: Vec<(f64, u32)> = r.judged().collect();
    let sums = judged.iter().rev().scan(0, |sum, &(grade, count)| {
        *sum += count as usize;
        Some((grade, *sum))
    });
    let sums: Vec<(f64, usize)> = sums.collect();
    let better = |grade: f64| match sums.partition_point(|&(of, _)| of > grade) {
        0 => 0,
        worse => sums[worse - 1].1,
    };
    let ideal = better(0.0);
    // The overlap grows at the later of a document's two ranks.
    let mut grows: Vec<usize> = Vec::new();
    let mut met: HashMap<u64, usize> = HashMap::new();
    for (rank, document) in r.top(None) {
        if let SeenDocument::Judged(grade) = document
            && grade > 0.0
        {
            let met = met.entry(grade.to_bits()).or_default();
            *met += 1;
            grows.push(rank.max(better(grade) + *met));
        }
    }
    grows.sort_unstable();
    let (mut overlap, mut weight, mut found, mut best, mut whole) = (0, 1.0, 0.0, 0.0, 0.0);
    for depth in 1..=ideal.max(r.labels.len()) {
        // A weight of 0 and those that follow add nothing.
        if weight == 0.0 {
            break;
        }
        while grows.get(overlap).is_some_and(|&at| at <= depth) {
            overlap += 1;
        }
        found += weight * overlap as f64 / depth as f64;
        best += weight * ideal.min(depth) as f64 / depth as f64;
        whole += weight;
        weight *= p;
    }
    if m.word("normalize") == "false" { ratio(found, whole) } else { ratio(found, best) }
}

fn target(m: &Measure) -> f64 {
    m.number("T").unwrap_or(1.0)
}

fn inverse_square(i: f64, m: &Measure) -> f64 {
    let chance = (i + 2.0 * target(m) - 1.0) / (i + 2.0 * target(m));
    chance * chance
}

fn inst(m: &Measure, r: &Ranking<'_>) -> f64 {
    cwl(m, r, |i, _, found| {
        let wait = i + 2.0 * target(m) - found;
        ((wait - 1.0) / wait) * ((wait - 1.0) / wait)
    })
}

/// The gain of a document for a C/W/L user: 1 if relevant, or its grade as a share of the scale, at most 1.
fn cwl_gain(m: &Measure, r: &Ranking<'_>, document: SeenDocument) -> f64 {
    match (document, m.word("gain")) {
        (SeenDocument::Judged(grade), "grade") => {
            let top = m.number("gmax").or(r.book.max_grade()).unwrap_or(0.0);
            if top > 0.0 { grade.min(top) / top } else { 0.0 }
        }
        (document, _) => f64::from(document.is_relevant(m.rel())),
    }
}

/// A C/W/L user goes on from rank i with a chance that depends on i, the gain there, and the gain so far. The value is the mean gain
/// weighted with the chance to reach a rank; ranks without a document have no gain.
fn cwl(m: &Measure, r: &Ranking<'_>, goes_on: impl Fn(f64, f64, f64) -> f64) -> f64 {
    let (mut weight, mut weights, mut sum, mut found) = (1.0, 0.0, 0.0, 0.0);
    let mut documents = r.top(None);
    for index in 0..m.number("depth").unwrap_or(1000.0) as usize {
        let gain = documents.next().map_or(0.0, |(_, document)| cwl_gain(m, r, document));
        found += gain;
        sum += weight * gain;
        weights += weight;
        weight *= goes_on((index + 1) as f64, gain, found);
    }
    sum / weights
}

fn scaled_dcg(m: &Measure, r: &Ranking<'_>) -> f64 {
    let (mut sum, mut whole) = (0.0, 0.0);
    let mut documents = r.top(None);
    for rank in 1..=m.rank().unwrap_or(1) as usize {
        let gain = documents.next().map_or(0.0, |(_, document)| cwl_gain(m, r, document));
        sum += gain / discount(rank);
        whole += 1.0 / discount(rank);
    }
    sum / whole
}
