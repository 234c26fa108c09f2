//! The table of measures. A new measure is one row here and one function in the reference.
//!
//! Help, documentation and tests walk this table; nothing else lists measures.

use super::gain::{Gains, stop_table};
use super::recipe::{Fact, Ideal, Place, Read, RecallRule, Recipe};
use super::value::{Average, CutoffRule, Definition, Kind, Measure, Param, Value};
use crate::fold::{CodeTable, Discount, Fold};
use crate::label::{Above, Codebook};

/// The row of this canonical name.
pub fn definition(name: &str) -> Option<&'static Definition> {
    MEASURES.iter().find(|row| row.name == name)
}

const fn param(name: &'static str, kind: Kind, default: &'static str, doc: &'static str) -> Param {
    Param { name, kind, default, excludes: "", doc }
}

const LARGE: f64 = 1e6;
const REL: Param = param("rel", Kind::Level, "1", "the lowest grade that counts as relevant");
const GAIN: Param = param(
    "gain",
    Kind::Gain,
    "linear",
    "what a grade is worth: the grade (linear), 2^grade − 1 (exp2), or a table {grade:gain,…} for some of them",
);
const FLOOR: Param = param("rel", Kind::Level, "0", "grades below it are worth nothing");
const BETA: Param =
    param("beta", Kind::Number(0.0, LARGE), "1", "recall counts beta times as much as precision");
const CUT: Param = param(
    "cut",
    Kind::Word(&["v9", "v10"]),
    "v9",
    "hits that recall x needs, of R: ⌊x·R + 0.9⌋ (v9, as trec_eval 9) or x·R rounded (v10)",
);

/// Every measure, in the order in which help lists them.
pub static MEASURES: &[Definition] = &[
    Definition {
        name: "P",
        aliases: &["Precision", "precision"],
        cutoff: CutoffRule::Required,
        params: &[REL],
        average: Average::Mean,
        doc: "Precision: the share of relevant documents among the first k ranks, empty ranks included.",
        formula: "P@k = r(k) / k",
        citation: "Cleverdon, Mills, Keen 1966",
        recipe: |m, book| {
            let k = f64::from(m.rank().unwrap_or(1));
            Recipe::new([hits(m, book, m.rank().into())], move |[hits]| hits / k)
        },
    },
    Definition {
        name: "R",
        aliases: &["Recall", "recall"],
        cutoff: CutoffRule::Required,
        params: &[
            REL,
            param(
                "norm",
                Kind::Word(&["judged", "min"]),
                "judged",
                "divide by R, or by the smaller of k and R (capped recall)",
            ),
        ],
        average: Average::Mean,
        doc: "Recall: the share of the query's relevant documents that the first k ranks hold.",
        formula: "R@k = r(k) / R; norm=min: r(k) / min(k, R)",
        citation: "Cleverdon, Mills, Keen 1966; norm=min: Thakur et al. 2021 (BEIR)",
        recipe: |m, book| {
            let most =
                if m.word("norm") == "min" { f64::from(m.rank().unwrap_or(u32::MAX)) } else { f64::INFINITY };
            let reads = [hits(m, book, m.rank().into()), relevant(m, book)];
            Recipe::new(reads, move |[hits, relevant]| ratio(hits, relevant.min(most)))
        },
    },
    Definition {
        name: "F",
        aliases: &["F1", "f1"],
        cutoff: CutoffRule::Required,
        params: &[REL, BETA],
        average: Average::Mean,
        doc: "F-measure of precision and recall at rank k.",
        formula: "F@k = (1 + β²)·P@k·R@k / (β²·P@k + R@k)",
        citation: "van Rijsbergen 1979",
        recipe: |m, book| {
            let (k, beta2) = (f64::from(m.rank().unwrap_or(1)), m.number("beta").unwrap_or(1.0).powi(2));
            let reads = [hits(m, book, m.rank().into()), relevant(m, book)];
            Recipe::new(reads, move |[hits, relevant]| f_measure(hits / k, ratio(hits, relevant), beta2))
        },
    },
    Definition {
        name: "Success",
        aliases: &["HitRate", "hit_rate"],
        cutoff: CutoffRule::Optional,
        params: &[REL],
        average: Average::Mean,
        doc: "Whether there is a relevant document in the first k ranks.",
        formula: "Success@k = 1 if r(k) > 0, else 0",
        citation: "Buckley et al., trec_eval",
        recipe: |m, book| Recipe::new([hits(m, book, m.rank().into())], |[hits]| f64::from(hits > 0.0)),
    },
    Definition {
        name: "Hits",
        aliases: &["hits"],
        cutoff: CutoffRule::Optional,
        params: &[REL],
        average: Average::Mean,
        doc: "How many relevant documents the first k ranks hold, averaged over queries.",
        formula: "Hits@k = r(k)",
        citation: "Bassani 2022 (ranx)",
        recipe: |m, book| Recipe::new([hits(m, book, m.rank().into())], |[hits]| hits),
    },
    Definition {
        name: "AP",
        aliases: &["MAP", "map"],
        cutoff: CutoffRule::Optional,
        params: &[
            REL,
            param(
                "norm",
                Kind::Word(&["judged", "min", "hits"]),
                "judged",
                "divide by R, by the smaller of k and R, or by the relevant documents retrieved in the first k ranks",
            ),
        ],
        average: Average::Mean,
        doc: "Average precision: the mean of the precisions at the ranks of the relevant documents, those not retrieved counting 0.",
        formula: "AP@k = (Σ_{i ≤ k, relevant} r(i) / i) / R",
        citation: "Buckley and Voorhees 2000; norm=hits: torchmetrics",
        recipe: |m, book| {
            let sum = Read::Fold(Fold::PrecisionSum(relevant_codes(m, book)), m.rank().into());
            match m.word("norm") {
                "hits" => Recipe::new([sum, hits(m, book, m.rank().into())], |[sum, hits]| ratio(sum, hits)),
                "min" => {
                    let most = m.rank().map_or(f64::INFINITY, f64::from);
                    Recipe::new([sum, relevant(m, book)], move |[sum, relevant]| {
                        ratio(sum, relevant.min(most))
                    })
                }
                _ => Recipe::new([sum, relevant(m, book)], |[sum, relevant]| ratio(sum, relevant)),
            }
        },
    },
    Definition {
        name: "GMAP",
        aliases: &["gm_map"],
        cutoff: CutoffRule::None,
        params: &[REL],
        average: Average::Geometric,
        doc: "Geometric mean of average precision, which rewards mending the worst queries; a query's value is at least 0.00001.",
        formula: "GMAP = exp(mean of ln max(AP, 0.00001))",
        citation: "Robertson 2006",
        recipe: |m, book| {
            let sum = Read::Fold(Fold::PrecisionSum(relevant_codes(m, book)), Place::End);
            Recipe::new([sum, relevant(m, book)], |[sum, relevant]| ratio(sum, relevant).max(0.00001))
        },
    },
    Definition {
        name: "RR",
        aliases: &["MRR", "mrr", "recip_rank"],
        cutoff: CutoffRule::Optional,
        params: &[REL],
        average: Average::Mean,
        doc: "Reciprocal rank of the first relevant document; 0 if the first k ranks hold none.",
        formula: "RR@k = 1 / t₁ if t₁ ≤ k, else 0",
        citation: "Kantor and Voorhees 2000",
        recipe: |m, book| {
            let most = m.rank().map_or(f64::INFINITY, f64::from);
            let first = Read::Fold(Fold::FirstRank(relevant_codes(m, book)), m.rank().into());
            Recipe::new([first], move |[rank]| if rank > 0.0 && rank <= most { 1.0 / rank } else { 0.0 })
        },
    },
    Definition {
        name: "Rprec",
        aliases: &["Rprecision", "r-precision"],
        cutoff: CutoffRule::None,
        params: &[REL],
        average: Average::Mean,
        doc: "R-precision: precision at rank R, the number of the query's relevant documents.",
        formula: "Rprec = r(R) / R",
        citation: "Buckley and Voorhees 2000",
        recipe: |m, book| {
            let at = Place::PerQuery(Fact::Count(relevant_codes(m, book)));
            Recipe::new([hits(m, book, at), relevant(m, book)], |[hits, relevant]| ratio(hits, relevant))
        },
    },
    Definition {
        name: "CG",
        aliases: &["cg"],
        cutoff: CutoffRule::Optional,
        params: &[GAIN, FLOOR],
        average: Average::Mean,
        doc: "Cumulated gain of the first k ranks.",
        formula: "CG@k = Σ_{i ≤ k} gain(i)",
        citation: "Järvelin and Kekäläinen 2002",
        recipe: |m, book| Recipe::new([gained(gains(m, book)?, Discount::None, m)], |[sum]| sum),
    },
    Definition {
        name: "DCG",
        aliases: &["dcg"],
        cutoff: CutoffRule::Optional,
        params: &[GAIN, FLOOR],
        average: Average::Mean,
        doc: "Discounted cumulated gain of the first k ranks.",
        formula: "DCG@k = Σ_{i ≤ k} gain(i) / lg(i + 1)",
        citation: "Järvelin and Kekäläinen 2002",
        recipe: |m, book| Recipe::new([gained(gains(m, book)?, Discount::Log2, m)], |[sum]| sum),
    },
    Definition {
        name: "nDCG",
        aliases: &["NDCG", "ndcg"],
        cutoff: CutoffRule::Optional,
        params: &[
            GAIN,
            FLOOR,
            param(
                "ideal",
                Kind::Word(&["judged", "retrieved"]),
                "judged",
                "the ideal ranking is made of all judged documents, or only of those retrieved",
            ),
        ],
        average: Average::Mean,
        doc: "Discounted cumulated gain of the first k ranks, divided by that of the ideal ranking.",
        formula: "nDCG@k = DCG@k / DCG@k of the ideal ranking",
        citation: "Järvelin and Kekäläinen 2002; gain=exp2: Burges et al. 2005",
        recipe: |m, book| {
            let gain = gains(m, book)?;
            let ideal = Ideal { gain: gain.clone(), discount: Discount::Log2, rank: m.rank() };
            let ideal = match m.word("ideal") {
                "retrieved" => Read::RetrievedIdeal(ideal),
                _ => Read::Fact(Fact::Ideal(ideal)),
            };
            Recipe::new([gained(gain, Discount::Log2, m), ideal], |[sum, ideal]| ratio(sum, ideal))
        },
    },
    Definition {
        name: "ERR",
        aliases: &["err"],
        cutoff: CutoffRule::Optional,
        params: &[param(
            "gmax",
            Kind::NumberOr(0.0, 1000.0, &["auto"]),
            "4",
            "the top of the grading scale; auto: the largest grade of the qrels",
        )],
        average: Average::Mean,
        doc: "Expected reciprocal rank at which a user who reads from the top is satisfied.",
        formula: "ERR@k = Σ_{i ≤ k} (1 / i)·Rᵢ·Π_{j < i} (1 − Rⱼ), Rᵢ = (2^grade − 1) / 2^gmax",
        citation: "Chapelle, Metzler, Zhang, Grinspan 2009",
        recipe: |m, book| {
            let gmax = m.number("gmax").unwrap_or_else(|| book.max_grade().unwrap_or(0.0));
            let fold = Fold::Cascade { stop: stop_table(gmax, book)?, discount: Discount::Rank };
            Recipe::new([Read::Fold(fold, m.rank().into())], |[sum]| sum)
        },
    },
    Definition {
        name: "RBP",
        aliases: &[],
        cutoff: CutoffRule::Optional,
        params: &[
            param("p", Kind::Number(0.0, 1.0), "0.8", "the chance that the user goes on to the next rank"),
            REL,
            param(
                "gain",
                Kind::Word(&["binary", "grade", "raw"]),
                "binary",
                "1 for a relevant document; its grade as a share of the largest grade of the qrels; its grade (which can exceed 1)",
            ),
        ],
        average: Average::Mean,
        doc: "Rank-biased precision: the expected rate of gain of a user who goes on with probability p.",
        formula: "RBP = (1 − p)·Σ gain(i)·p^(i−1)",
        citation: "Moffat and Zobel 2008; gain=raw: Bassani 2022 (ranx)",
        recipe: |m, book| {
            let p = m.number("p").unwrap_or(0.8);
            let floor = book.at_least(m.rel());
            let table = match m.word("gain") {
                "grade" => {
                    Gains::Share(book.max_grade().filter(|&max| max > 0.0).unwrap_or(1.0)).table(book)?
                }
                "raw" => Gains::Linear.table(book)?,
                _ => Gains::AtLeast(m.rel()).table(book)?,
            };
            Recipe::new([gained(without(table, floor), Discount::Power(p), m)], move |[sum]| (1.0 - p) * sum)
        },
    },
    Definition {
        name: "IPrec",
        aliases: &[],
        cutoff: CutoffRule::Recall,
        params: &[REL, CUT],
        average: Average::Mean,
        doc: "Interpolated precision: the largest precision at any rank that reaches the level of recall.",
        formula: "IPrec@x = max of r(i) / i over the ranks i where r(i) ≥ cut(x·R)",
        citation: "Salton and McGill 1983; trec_eval",
        recipe: |m, book| Recipe::new([peak(m, book, m.recall())], |[peak]| peak),
    },
    Definition {
        name: "IPrec11",
        aliases: &[],
        cutoff: CutoffRule::None,
        params: &[
            REL,
            CUT,
            param(
                "points",
                Kind::Points,
                "[0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1]",
                "the levels of recall, ascending",
            ),
        ],
        average: Average::Mean,
        doc: "Interpolated precision averaged over levels of recall, eleven unless others are given.",
        formula: "IPrec11 = mean of IPrec@x over the points x",
        citation: "Salton and McGill 1983; trec_eval",
        recipe: |m, book| {
            let points: Vec<f64> = match m.value("points") {
                Some(Value::List(points)) => points.clone(),
                _ => (0..=10).map(|tenth| f64::from(tenth) / 10.0).collect(),
            };
            let count = points.len() as f64;
            let reads = points.iter().map(|&x| peak(m, book, x)).collect();
            Recipe::of_many(reads, move |peaks| peaks.iter().rev().fold(0.0, |sum, peak| sum + peak) / count)
        },
    },
    Definition {
        name: "Judged",
        aliases: &["judged"],
        cutoff: CutoffRule::Optional,
        params: &[],
        average: Average::Mean,
        doc: "The share of the first k retrieved documents that the qrels name, with whatever grade.",
        formula: "Judged@k = #{i ≤ k: in the qrels} / min(k, n)",
        citation: "MacAvaney, Macdonald, Ounis 2022 (ir_measures)",
        recipe: |m, _| {
            let reads =
                [Above::POOLED, Above::RETRIEVED].map(|set| Read::Fold(Fold::Count(set), m.rank().into()));
            Recipe::new(reads, |[pooled, retrieved]| ratio(pooled, retrieved))
        },
    },
    Definition {
        name: "SetP",
        aliases: &["set_P"],
        cutoff: CutoffRule::None,
        params: &[REL],
        average: Average::Mean,
        doc: "Precision of the whole ranking as a set.",
        formula: "SetP = m / n",
        citation: "van Rijsbergen 1979",
        recipe: |m, book| {
            Recipe::new([hits(m, book, Place::End), retrieved()], |[hits, retrieved]| ratio(hits, retrieved))
        },
    },
    Definition {
        name: "SetR",
        aliases: &["set_recall"],
        cutoff: CutoffRule::None,
        params: &[REL],
        average: Average::Mean,
        doc: "Recall of the whole ranking as a set.",
        formula: "SetR = m / R",
        citation: "van Rijsbergen 1979",
        recipe: |m, book| {
            Recipe::new([hits(m, book, Place::End), relevant(m, book)], |[hits, relevant]| {
                ratio(hits, relevant)
            })
        },
    },
    Definition {
        name: "SetF",
        aliases: &[],
        cutoff: CutoffRule::None,
        params: &[
            REL,
            Param { excludes: "beta2", ..BETA },
            Param {
                name: "beta2",
                kind: Kind::Number(0.0, LARGE * LARGE),
                default: "",
                excludes: "beta",
                doc: "β² itself, as trec_eval's set_F.x and ir_measures pass it",
            },
        ],
        average: Average::Mean,
        doc: "F-measure of the whole ranking as a set.",
        formula: "SetF = (1 + β²)·SetP·SetR / (β²·SetP + SetR)",
        citation: "van Rijsbergen 1979",
        recipe: |m, book| {
            let beta2 = m.number("beta2").unwrap_or_else(|| m.number("beta").unwrap_or(1.0).powi(2));
            let reads = [hits(m, book, Place::End), retrieved(), relevant(m, book)];
            Recipe::new(reads, move |[hits, n, relevant]| {
                f_measure(ratio(hits, n), ratio(hits, relevant), beta2)
            })
        },
    },
    Definition {
        name: "NumQ",
        aliases: &["num_q"],
        cutoff: CutoffRule::None,
        params: &[],
        average: Average::Sum,
        doc: "The number of queries.",
        formula: "NumQ = 1 a query, summed",
        citation: "Buckley et al., trec_eval",
        recipe: |_, _| Recipe::new([], |[]| 1.0),
    },
    Definition {
        name: "NumRet",
        aliases: &["num_ret"],
        cutoff: CutoffRule::None,
        params: &[],
        average: Average::Sum,
        doc: "The number of retrieved documents.",
        formula: "NumRet = n, summed",
        citation: "Buckley et al., trec_eval",
        recipe: |_, _| Recipe::new([retrieved()], |[retrieved]| retrieved),
    },
    Definition {
        name: "NumRel",
        aliases: &["num_rel"],
        cutoff: CutoffRule::None,
        params: &[REL],
        average: Average::Sum,
        doc: "The number of relevant documents in the qrels.",
        formula: "NumRel = R, summed",
        citation: "Buckley et al., trec_eval",
        recipe: |m, book| Recipe::new([relevant(m, book)], |[relevant]| relevant),
    },
    Definition {
        name: "NumRelRet",
        aliases: &["num_rel_ret"],
        cutoff: CutoffRule::None,
        params: &[REL],
        average: Average::Sum,
        doc: "The number of relevant documents retrieved.",
        formula: "NumRelRet = m, summed",
        citation: "Buckley et al., trec_eval",
        recipe: |m, book| Recipe::new([hits(m, book, Place::End)], |[hits]| hits),
    },
];

/// The codes that are relevant under the measure's level.
fn relevant_codes(m: &Measure, book: &Codebook) -> Above {
    book.at_least(m.rel())
}

/// r(k): relevant documents up to a place.
fn hits(m: &Measure, book: &Codebook, place: Place) -> Read {
    Read::Fold(Fold::Count(relevant_codes(m, book)), place)
}

/// R: relevant documents in the qrels.
fn relevant(m: &Measure, book: &Codebook) -> Read {
    Read::Fact(Fact::Count(relevant_codes(m, book)))
}

/// n: documents retrieved.
fn retrieved() -> Read {
    Read::Fold(Fold::Count(Above::RETRIEVED), Place::End)
}

/// Interpolated precision at a level of recall.
fn peak(m: &Measure, book: &Codebook, recall: f64) -> Read {
    let rule = if m.word("cut") == "v10" { RecallRule::V10 } else { RecallRule::V9 };
    Read::Peak { hits: relevant_codes(m, book), rule, recall }
}

/// The discounted sum of gains up to the measure's cutoff.
fn gained(gain: CodeTable, discount: Discount, m: &Measure) -> Read {
    Read::Fold(Fold::WeightedSum { gain, discount }, m.rank().into())
}

/// The gain of every code under the parameters `gain` and `rel`.
fn gains(m: &Measure, book: &Codebook) -> Result<CodeTable, String> {
    let gains = match m.value("gain") {
        Some(Value::Table(pairs)) => Gains::Table(pairs.clone()),
        Some(Value::Word("exp2")) => Gains::Exp2,
        _ => Gains::Linear,
    };
    Ok(without(gains.table(book)?, book.at_least(m.number("rel").unwrap_or(0.0))))
}

/// The table with no gain for judged grades outside of the set.
fn without(mut table: CodeTable, kept: Above) -> CodeTable {
    let entries = std::sync::Arc::make_mut(&mut table);
    for (code, gain) in (0..=255u8).zip(entries.iter_mut()) {
        if Above::JUDGED.contains(code) && !kept.contains(code) {
            *gain = 0.0;
        }
    }
    table
}

/// a / b, and 0 where b is 0.
fn ratio(a: f64, b: f64) -> f64 {
    if b == 0.0 { 0.0 } else { a / b }
}

/// F of precision and recall, with β² as given; 0 where both are 0.
fn f_measure(precision: f64, recall: f64, beta2: f64) -> f64 {
    ratio((beta2 + 1.0) * precision * recall, beta2 * precision + recall)
}
