//! One plain function a measure, from a ranking to its value, reading like the formula.
//!
//! This is the oracle of the tests, and `--engine reference` for a user who doubts a number. It knows neither folds nor engines
//! nor recipes: it walks the grades of one ranking, as the definitions do. Sums run in ascending rank, in f64.

use crate::label::{Codebook, QueryFacts, code};
use crate::measure::{Measure, RecallRule, Value};

/// One ranking and what the qrels know of its query.
#[derive(Debug, Clone, Copy)]
pub struct Ranking<'a> {
    /// The labels in rank order, without padding.
    pub labels: &'a [u8],
    /// How many documents of the qrels carry each code.
    pub facts: QueryFacts<'a>,
    /// What the codes mean.
    pub book: &'a Codebook,
}

/// A retrieved document as the definitions see it.
#[derive(Clone, Copy, PartialEq)]
enum Document {
    /// Not in the qrels.
    Unpooled,
    /// In the qrels with a negative grade.
    Negative,
    /// With a grade ≥ 0.
    Judged(f64),
}

impl Document {
    fn is_relevant(self, level: f64) -> bool {
        matches!(self, Document::Judged(grade) if grade >= level)
    }
}

impl<'a> Ranking<'a> {
    fn document(&self, code: u8) -> Document {
        match code {
            code::UNPOOLED => Document::Unpooled,
            code::NEGATIVE => Document::Negative,
            code => self.book.grade(code).map_or(Document::Unpooled, Document::Judged),
        }
    }

    /// The first k documents with their ranks from 1; all without k.
    fn top(&self, k: Option<u32>) -> impl Iterator<Item = (usize, Document)> + '_ {
        let k = k.map_or(usize::MAX, |k| k as usize);
        self.labels.iter().take(k).enumerate().map(|(index, &code)| (index + 1, self.document(code)))
    }

    /// r(k).
    fn hits(&self, level: f64, k: Option<u32>) -> f64 {
        self.top(k).filter(|(_, document)| document.is_relevant(level)).count() as f64
    }

    /// The judged documents of the query: grade and number.
    fn judged(&self) -> impl Iterator<Item = (f64, u32)> + '_ {
        self.facts.iter().filter_map(|(code, count)| Some((self.book.grade(code)?, count)))
    }

    /// R.
    fn relevant(&self, level: f64) -> f64 {
        self.judged().filter(|&(grade, _)| grade >= level).map(|(_, count)| count).sum::<u32>().into()
    }

    /// n.
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
    ("NumQ", |_, _| 1.0),
    ("NumRet", |_, r| r.retrieved()),
    ("NumRel", |m, r| r.relevant(m.rel())),
    ("NumRelRet", |m, r| r.hits(m.rel(), None)),
];

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
    r.hits(m.rel(), m.rank()) / cutoff(m)
}

fn recall(m: &Measure, r: &Ranking<'_>) -> f64 {
    let relevant = r.relevant(m.rel());
    let most = if m.word("norm") == "min" { relevant.min(cutoff(m)) } else { relevant };
    ratio(r.hits(m.rel(), m.rank()), most)
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
    let relevant = r.relevant(m.rel());
    ratio(r.hits(m.rel(), Some(relevant as u32)), relevant)
}

/// The gain of a document under the parameters `gain` and `rel`.
fn gain(m: &Measure, document: Document) -> f64 {
    let named = |level: f64| match m.value("gain") {
        Some(Value::Table(pairs)) => pairs.iter().find(|pair| pair.0 == level).map(|pair| pair.1),
        _ => None,
    };
    match document {
        Document::Unpooled => named(-1.0).unwrap_or(0.0),
        Document::Negative => named(-2.0).unwrap_or(0.0),
        Document::Judged(grade) if grade < m.number("rel").unwrap_or(0.0) => 0.0,
        Document::Judged(grade) if m.word("gain") == "exp2" => grade.exp2() - 1.0,
        Document::Judged(grade) => named(grade).unwrap_or(grade),
    }
}

fn cumulated_gain(m: &Measure, r: &Ranking<'_>) -> f64 {
    let mut sum = 0.0;
    for (_, document) in r.top(m.rank()) {
        sum += gain(m, document);
    }
    sum
}

fn discount(rank: usize) -> f64 {
    ((rank + 1) as f64).log2()
}

fn discounted_cumulated_gain(m: &Measure, r: &Ranking<'_>) -> f64 {
    let mut sum = 0.0;
    for (rank, document) in r.top(m.rank()) {
        sum += gain(m, document) / discount(rank);
    }
    sum
}

fn normalised_dcg(m: &Measure, r: &Ranking<'_>) -> f64 {
    let mut ideal: Vec<f64> = match m.word("ideal") {
        "retrieved" => r.top(None).map(|(_, document)| gain(m, document)).collect(),
        _ => r
            .facts
            .iter()
            .flat_map(|(code, count)| std::iter::repeat_n(gain(m, r.document(code)), count as usize))
            .collect(),
    };
    ideal.sort_by(|a, b| b.total_cmp(a));
    let mut best = 0.0;
    for (index, gain) in ideal.iter().take(m.rank().map_or(usize::MAX, |k| k as usize)).enumerate() {
        if *gain > 0.0 {
            best += gain / discount(index + 1);
        }
    }
    ratio(discounted_cumulated_gain(m, r), best)
}

fn expected_reciprocal_rank(m: &Measure, r: &Ranking<'_>) -> f64 {
    let gmax = m.number("gmax").or(r.book.max_grade()).unwrap_or(0.0);
    let (mut sum, mut goes_on) = (0.0, 1.0);
    for (rank, document) in r.top(m.rank()) {
        if let Document::Judged(grade) = document {
            let satisfied = (grade.exp2() - 1.0) / gmax.exp2();
            sum += goes_on * satisfied / rank as f64;
            goes_on *= 1.0 - satisfied;
        }
    }
    sum
}

fn rank_biased_precision(m: &Measure, r: &Ranking<'_>) -> f64 {
    let p = m.number("p").unwrap_or(0.8);
    let max = r.book.max_grade().filter(|&max| max > 0.0).unwrap_or(1.0);
    let (mut sum, mut reaches) = (0.0, 1.0);
    for (_, document) in r.top(m.rank()) {
        if let Document::Judged(grade) = document
            && grade >= m.rel()
        {
            sum += reaches
                * match m.word("gain") {
                    "binary" => 1.0,
                    "grade" => grade / max,
                    _ => grade,
                };
        }
        reaches *= p;
    }
    (1.0 - p) * sum
}

/// The largest precision at any rank that has at least as many hits as the level of recall needs.
fn peak(m: &Measure, r: &Ranking<'_>, recall: f64) -> f64 {
    let rule = if m.word("cut") == "v10" { RecallRule::V10 } else { RecallRule::V9 };
    let needed = rule.hits(recall, r.relevant(m.rel()) as u64) as f64;
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
    let pooled = r.top(m.rank()).filter(|&(_, document)| document != Document::Unpooled).count() as f64;
    ratio(pooled, r.retrieved().min(cutoff(m)))
}

fn set_precision(m: &Measure, r: &Ranking<'_>) -> f64 {
    ratio(r.hits(m.rel(), None), r.retrieved())
}

fn set_recall(m: &Measure, r: &Ranking<'_>) -> f64 {
    ratio(r.hits(m.rel(), None), r.relevant(m.rel()))
}

fn set_f(m: &Measure, r: &Ranking<'_>) -> f64 {
    let beta2 = m.number("beta2").unwrap_or_else(|| m.number("beta").unwrap_or(1.0).powi(2));
    f_of(set_precision(m, r), set_recall(m, r), beta2)
}
