//! The table of all measures, a row each, and the functions that make their recipes. A new measure
//! takes a row here and a function in the reference.
//!
//! Help, documentation and tests walk this table; nothing else lists measures.

use super::ideal::IdealRanking;
use super::params::{CutoffRule, Param, ParamKind, ParamValue};
use super::powers::Powers;
use super::query_constants::QueryConstant;
use super::recall::RecallRule;
use super::recipe::{ReadCutoff, Recipe, RecipeInput};
use super::traits::{ExpectationRule, JudgmentNeeds, Range, Status};
use super::value::{Average, BestOrder, Definition, Direction, Measure, Traits};
use crate::facets::passages::{PassageSums, PassageValue};
use crate::facets::preferences::PreferenceCount as Preference;
use crate::facets::subtopics::AtCutoff;
use crate::facets::{DiversityParams, FacetValue, SubtopicValue};
use crate::fold::{
    CodeTable, Continuation, Discount, Fold, Gains, LARGEST_SCALE, Patience, Walk, for_ratio,
    ratio, stop_table,
};
use crate::judged_by::FacetKind;
use crate::matrix::code::{NEGATIVE, NOT_IN_QRELS};
use crate::matrix::{Codebook, CodesAbove};

/// Returns the row of the table of measures with this canonical name, such as `nDCG`.
pub fn definition(name: &str) -> Option<&'static Definition> {
    MEASURES.iter().find(|row| row.name == name)
}

const fn param(
    name: &'static str,
    kind: ParamKind,
    default: &'static str,
    doc: &'static str,
) -> Param {
    Param { name, kind, default, excludes: "", needs: "", doc }
}

const LARGE: f64 = 1e6;
const REL: Param = param("rel", ParamKind::Level, "1", "the lowest grade that counts as relevant");
const GAIN: Param = param(
    "gain",
    ParamKind::Gain,
    "linear",
    "what a grade is worth: the grade (linear), 2^grade − 1 (exp2), 1 for what is relevant: of at \
     least rel, or 1 if no rel is given (binary), or a table {grade:gain,…} for some of them",
);
const FLOOR: Param = param("rel", ParamKind::Level, "0", "grades below it are worth nothing");
const BETA: Param = param(
    "beta",
    ParamKind::Number(0.0, LARGE),
    "1",
    "recall counts beta times as much as precision",
);
const CUT: Param = param(
    "cut",
    ParamKind::Choice(&["v9", "v10", "exact"]),
    "v9",
    "hits that recall x needs, of R, to compare with trec_eval 9: ⌊x·R + 0.9⌋ in floating point, \
     so that 0.7 of 3 is 2, because 0.7·3 + 0.9 is 2.9999999999999996 there (v9); to compare with \
     trec_eval 10: x·R rounded (v10); or the textbook's: the fewest h with h / R ≥ x, where x is \
     the decimal as written, without rounding (exact)",
);

const NEGATIVES: Param = param(
    "negatives",
    ParamKind::Choice(&["unjudged", "nonrelevant"]),
    "unjudged",
    "documents with a negative grade are skipped, or count as judged non-relevant, as in ranx",
);
const TARGET: Param =
    param("T", ParamKind::Number(0.1, LARGE), "1", "how much gain the user wants");
const BINARY: Param = param(
    "gain",
    ParamKind::Choice(&["binary", "grade"]),
    "binary",
    "1 for a relevant document, or its grade as a share of gmax, at most 1",
);
const GMAX: Param = param(
    "gmax",
    ParamKind::NumberOrChoice(0.0, LARGE, &["auto"]),
    "auto",
    "the top of the grading scale for gain=grade; auto: the largest grade of the qrels",
);
const DEPTH: Param = param(
    "depth",
    ParamKind::Ranks(&[]),
    "1000",
    "the number of ranks to which rankings are cut or padded",
);

/// The discount: how much a rank counts in a sum of gains.
const DISCOUNT: Param = param(
    "discount",
    ParamKind::Choice(&["lg", "jk", "rank"]),
    "lg",
    "a gain at rank i is divided by lg(i + 1), by log_b(i) from rank b on and by nothing before, \
     as by Järvelin and Kekäläinen (jk), or by i (rank)",
);
const BASE: Param = Param {
    needs: "discount=jk",
    ..param(
        "base",
        ParamKind::Number(2.0, LARGE),
        "2",
        "b: with jk the discount begins at this rank, as the logarithm to this base",
    )
};

const SPECIAL: Traits = Traits { status: Status::Special, ..Traits::SHARE };
/// The traits of geometric means.
const FLOORED: Traits = Traits {
    range: |_| Range::Within(0.00001, 1.0),
    empty: Some(0.00001),
    nothing_relevant: |_| Some(0.00001),
    ..SPECIAL
};
/// The traits of sums of gains. The gains of a table may be negative, or of documents without a
/// grade.
const SUMMED: Traits = Traits {
    range: |m| if names_no_gains(m) { Range::Positive } else { Range::Any },
    nothing_relevant: |m| names_no_gains(m).then_some(0.0),
    better_swaps: names_no_gains,
    best_order: |_, _| BestOrder::Worth(gains),
    ..SPECIAL
};
/// The traits of sums of gains as a share of the ideal sum.
const NORMALISED: Traits = Traits {
    range: |m| if names_no_gains(m) { Range::SHARE } else { Range::Any },
    better_swaps: names_no_gains,
    best_order: |_, _| BestOrder::Worth(gains),
    ..Traits::SHARE
};
const COUNT: Traits = Traits { range: |_| Range::Count, ..SPECIAL };

const fn historical(successor: &'static str) -> Traits {
    Traits { status: Status::Historical { successor }, ..Traits::SHARE }
}

/// Returns whether the measure has no table of gains, so that a higher grade is worth no less.
fn names_no_gains(m: &Measure) -> bool {
    !matches!(m.value("gain"), Some(ParamValue::Table(_)))
}

/// Returns the range of a measure that is a share: 0 to 1, but only 0 or 1 with cutoff 1.
fn first_is_binary(m: &Measure) -> Range {
    if m.rank() == Some(1) { Range::Binary } else { Range::SHARE }
}

/// Returns the range of [`first_is_binary`] for a share, but 0 to 1 if the measure divides by R
/// (`norm=judged`).
fn first_is_binary_unless_judged(m: &Measure) -> Range {
    if m.choice("norm") == "judged" { Range::SHARE } else { first_is_binary(m) }
}

/// Returns the range of [`first_is_binary`] for a share, but 0 to 1 if gains are parts of 1
/// (`gain=grade`).
fn first_is_binary_unless_graded(m: &Measure) -> Range {
    if m.choice("gain") == "grade" { Range::SHARE } else { first_is_binary(m) }
}

/// Returns whether the measure gives no document a gain below 0, and none to documents without a
/// grade.
fn pays_only_judged(m: &Measure) -> bool {
    match m.value("gain") {
        Some(ParamValue::Table(pairs)) => {
            pairs.iter().all(|&(grade, gain)| if grade < 0.0 { gain == 0.0 } else { gain >= 0.0 })
        }
        _ => true,
    }
}

/// Returns whether the measure's user wants a gain of half a document or more (parameter T).
/// Another user goes on with a chance above 1.
fn wants_half(m: &Measure) -> bool {
    m.number("T").is_none_or(|target| target >= 0.5)
}

const ALPHA: Param = param(
    "alpha",
    ParamKind::Number(0.0, 1.0),
    "0.5",
    "the share of a subtopic's gain that each document with it takes from those below",
);
const PATIENCE: Param = param(
    "beta",
    ParamKind::Number(0.0, 1.0),
    "0.5",
    "the chance that the user goes on to the next rank",
);
const FIRST: Param = param(
    "first",
    ParamKind::Choice(&["divided", "raw"]),
    "divided",
    "at rank 1 the value is divided by its bound as at other ranks, or not, as in ndeval (raw)",
);

/// The traits of measures over subtopics. Their better and best orders do not follow from grades.
const OVER_SUBTOPICS: Traits = Traits {
    input: JudgmentNeeds::Facets(FacetKind::Subtopic),
    nothing_relevant: |_| None,
    better_swaps: |_| false,
    expected: |_| ExpectationRule::None,
    best_order: |_, _| BestOrder::None,
    ..SPECIAL
};
const OVER_SUBTOPICS_RAW: Traits = Traits {
    range: |m| if m.choice("first") == "raw" { Range::Positive } else { Range::SHARE },
    ..OVER_SUBTOPICS
};
/// The traits of measures that divide by a greedy ranking. A value may exceed 1, because the greedy
/// ranking is not always the best ranking.
const OVER_GREEDY: Traits = Traits { range: |_| Range::Positive, ..OVER_SUBTOPICS };
const OVER_PREFERENCES: Traits =
    Traits { input: JudgmentNeeds::Facets(FacetKind::Preference), empty: None, ..OVER_SUBTOPICS };
const COUNTED_PREFERENCES: Traits = Traits { range: |_| Range::Count, ..OVER_PREFERENCES };

const BUDGET: Param = param(
    "budget",
    ParamKind::Whole(1e15),
    "",
    "the results from the top as long as they have no more positions than this together; the first \
     one that does not fit ends the list, as in a prompt, which holds whole chunks",
);
const OVERLAP: Param = param(
    "overlap",
    ParamKind::Choice(&["once", "each"]),
    "once",
    "positions count once, or again in each result that has them, as Chroma counts them (each)",
);
/// The traits of measures of passages, whose better and best orders do not follow from grades.
const OVER_PASSAGES: Traits =
    Traits { input: JudgmentNeeds::Facets(FacetKind::Span), ..OVER_SUBTOPICS };

/// Every measure, in the order of the help.
pub static MEASURES: &[Definition] = &[
    Definition {
        name: "P",
        cutoff: CutoffRule::Required,
        params: &[
            REL,
            param(
                "norm",
                ParamKind::Choice(&["k", "min"]),
                "k",
                "divide by k, or by the smaller of k and n, the documents retrieved",
            ),
        ],
        average: Average::Mean,
        better: Direction::Higher,
        traits: Traits { range: first_is_binary, ..Traits::SHARE },
        plain: "How many of the first k results are relevant, as a share of k.",
        doc: "Precision: the share of relevant documents among the first k ranks, empty ranks \
              included.",
        formula: "P@k = r(k) / k; norm=min: r(k) / min(k, n)",
        citation: "Cleverdon, Mills, Keen 1966; norm=min: torchmetrics (adaptive_k)",
        recipe: |m, book| {
            let k = f64::from(m.rank().unwrap_or(1));
            let hits = hits(m, book, m.rank().into());
            match m.choice("norm") {
                "min" => Recipe::new([hits, retrieved()], move |[hits, n]| ratio(hits, n.min(k))),
                _ => Recipe::over(hits, k),
            }
        },
    },
    Definition {
        name: "R",
        cutoff: CutoffRule::Required,
        params: &[
            REL,
            param(
                "norm",
                ParamKind::Choice(&["judged", "min", "retrieved"]),
                "judged",
                "divide by R, by the smaller of k and R (capped recall), or by the smaller of R \
                 and the documents retrieved in the first k ranks",
            ),
        ],
        average: Average::Mean,
        better: Direction::Higher,
        traits: Traits { range: first_is_binary_unless_judged, ..Traits::SHARE },
        plain: "How many of all relevant documents are among the first k results, as a share.",
        doc: "Recall: the share of the query's relevant documents that the first k ranks hold.",
        formula: "R@k = r(k) / R; norm=min: r(k) / min(k, R); norm=retrieved: r(k) / min(k, n, R)",
        citation: "Cleverdon, Mills, Keen 1966; norm=min: Thakur et al. 2021 (BEIR)",
        recipe: |m, book| {
            let (hits, relevant) = (hits(m, book, m.rank().into()), relevant(m, book));
            match m.choice("norm") {
                "retrieved" => {
                    let retrieved =
                        RecipeInput::Fold(Fold::Count(CodesAbove::RETRIEVED), m.rank().into());
                    let last = |[hits, retrieved, relevant]: [f64; 3]| {
                        ratio(hits, retrieved.min(relevant))
                    };
                    Recipe::new([hits, retrieved, relevant], last)
                }
                "min" => Recipe::ratio([hits, relevant], f64::from(m.rank().unwrap_or(u32::MAX))),
                _ => Recipe::ratio([hits, relevant], f64::INFINITY),
            }
        },
    },
    Definition {
        name: "F",
        cutoff: CutoffRule::Required,
        params: &[REL, BETA],
        average: Average::Mean,
        better: Direction::Higher,
        traits: Traits::SHARE,
        plain: "Precision and recall of the first k results in one number; low if either of them \
                is low.",
        doc: "F-measure of precision and recall at rank k.",
        formula: "F@k = (1 + β²)·P@k·R@k / (β²·P@k + R@k)",
        citation: "van Rijsbergen 1979",
        recipe: |m, book| {
            let (k, beta2) =
                (f64::from(m.rank().unwrap_or(1)), m.number("beta").unwrap_or(1.0).powi(2));
            let reads = [hits(m, book, m.rank().into()), relevant(m, book)];
            Recipe::new(reads, move |[hits, relevant]| {
                f_measure(hits / k, ratio(hits, relevant), beta2)
            })
        },
    },
    Definition {
        name: "Success",
        cutoff: CutoffRule::Optional,
        params: &[REL],
        average: Average::Mean,
        better: Direction::Higher,
        traits: Traits {
            range: |_| Range::Binary,
            expected: |_| ExpectationRule::GivenHits,
            ..Traits::SHARE
        },
        plain: "Is at least one of the first k results relevant? 1 if so, 0 if none is.",
        doc: "Whether there is a relevant document in the first k ranks.",
        formula: "Success@k = 1 if r(k) > 0, else 0",
        citation: "Buckley et al., trec_eval",
        recipe: |m, book| {
            Recipe::new([hits(m, book, m.rank().into())], |[hits]| f64::from(hits > 0.0))
        },
    },
    Definition {
        name: "Hits",
        cutoff: CutoffRule::Optional,
        params: &[REL],
        average: Average::Mean,
        better: Direction::Higher,
        traits: Traits {
            range: |m| if m.rank() == Some(1) { Range::Binary } else { Range::Count },
            ..SPECIAL
        },
        plain: "How many of the first k results are relevant, as a number.",
        doc: "How many relevant documents the first k ranks hold, averaged over queries.",
        formula: "Hits@k = r(k)",
        citation: "Bassani 2022 (ranx)",
        recipe: |m, book| Recipe::over(hits(m, book, m.rank().into()), 1.0),
    },
    Definition {
        name: "AP",
        cutoff: CutoffRule::Optional,
        params: &[
            REL,
            param(
                "norm",
                ParamKind::Choice(&["judged", "min", "hits", "k", "retrieved"]),
                "judged",
                "divide by R, by the smaller of k and R, by the relevant documents in the first k \
                 ranks, which is the MAP of many tutorials (hits), by k, or by the smallest of k, \
                 R and n, the documents retrieved (retrieved)",
            ),
            param(
                "ties",
                ParamKind::Choice(&["apart", "together"]),
                "apart",
                "documents with equal scores stand one behind another, as `--ties` orders them, or \
                 all at the last rank of their group, whatever `--ties` says, and without a cutoff \
                 (together)",
            ),
        ],
        average: Average::Mean,
        better: Direction::Higher,
        traits: Traits {
            range: first_is_binary_unless_judged,
            better_swaps: |m| m.choice("norm") != "hits" || m.rank().is_none(),
            expected: |m| {
                if m.choice("norm") == "hits" {
                    ExpectationRule::GivenHits
                } else {
                    ExpectationRule::Linear
                }
            },
            best_order: |m, cut| {
                let searched = m.choice("norm") == "hits" && (cut || m.rank().is_some());
                match searched {
                    true if m.needs_ties() => BestOrder::None,
                    true => BestOrder::Searched,
                    false => BestOrder::Swaps,
                }
            },
            ..Traits::SHARE
        },
        plain: "Are the relevant documents all there, and at the top? 1 if they come first and \
                none is missing.",
        doc: "Average precision: the mean of the precisions at the ranks of the relevant \
              documents, those not retrieved counting 0.",
        formula: "AP@k = (Σ_{i ≤ k, relevant} r(i) / i) / R; norm=min: / min(k, R); norm=hits: / \
                  r(k); norm=k: / k; norm=retrieved: / min(k, n, R); ties=together: r(e) / e in \
                  the place of r(i) / i, e the last rank with the score of rank i",
        citation: "Buckley and Voorhees 2000; norm=hits: torchmetrics; norm=k: RecTools; \
                   norm=retrieved: LensKit; ties=together: scikit-learn",
        recipe: |m, book| {
            if m.needs_ties() {
                return Recipe::reference();
            }
            let sum =
                RecipeInput::Fold(Fold::PrecisionSum(relevant_codes(m, book)), m.rank().into());
            match m.choice("norm") {
                "hits" => Recipe::new([sum, hits(m, book, m.rank().into())], |[sum, hits]| {
                    ratio(sum, hits)
                }),
                "k" => match m.rank() {
                    Some(k) => Recipe::over(sum, f64::from(k)),
                    None => Err("norm=k needs a cutoff, as in AP(norm=k)@10".to_owned()),
                },
                "retrieved" => {
                    let retrieved =
                        RecipeInput::Fold(Fold::Count(CodesAbove::RETRIEVED), m.rank().into());
                    let last =
                        |[sum, retrieved, relevant]: [f64; 3]| ratio(sum, retrieved.min(relevant));
                    Recipe::new([sum, retrieved, relevant(m, book)], last)
                }
                "min" => {
                    let most = m.rank().map_or(f64::INFINITY, f64::from);
                    Recipe::ratio([sum, relevant(m, book)], most)
                }
                _ => Recipe::ratio([sum, relevant(m, book)], f64::INFINITY),
            }
        },
    },
    Definition {
        name: "GMAP",
        cutoff: CutoffRule::None,
        params: &[REL],
        average: Average::Geometric,
        better: Direction::Higher,
        traits: FLOORED,
        plain: "AP, averaged so that the queries with the lowest AP pull the number down most.",
        doc: "Geometric mean of average precision, which rewards mending the worst queries; a \
              query's value is at least 0.00001.",
        formula: "GMAP = exp(mean of ln max(AP, 0.00001))",
        citation: "Robertson 2006",
        recipe: |m, book| {
            let sum =
                RecipeInput::Fold(Fold::PrecisionSum(relevant_codes(m, book)), ReadCutoff::End);
            Recipe::new([sum, relevant(m, book)], |[sum, relevant]| {
                ratio(sum, relevant).max(0.00001)
            })
        },
    },
    Definition {
        name: "RR",
        cutoff: CutoffRule::Optional,
        params: &[
            REL,
            param(
                "over",
                ParamKind::Choice(&["first", "hits", "relevant"]),
                "first",
                "the reciprocal rank of the first hit, the mean over all hits in the first k \
                 ranks, or their sum divided by R",
            ),
        ],
        average: Average::Mean,
        better: Direction::Higher,
        traits: Traits {
            range: |m| {
                if m.choice("over") == "relevant" { Range::SHARE } else { first_is_binary(m) }
            },
            better_swaps: |m| m.choice("over") != "hits" || m.rank().is_none(),
            expected: |m| {
                if m.choice("over") == "hits" {
                    ExpectationRule::GivenHits
                } else {
                    ExpectationRule::Linear
                }
            },
            best_order: |m, cut| {
                let searched = m.choice("over") == "hits" && (cut || m.rank().is_some());
                if searched { BestOrder::Searched } else { BestOrder::Swaps }
            },
            ..Traits::SHARE
        },
        plain: "How far down the first relevant result is: 1 at rank 1, 1/2 at rank 2, 1/3 at rank \
                3; 0 if none.",
        doc: "Reciprocal rank of the first relevant document; 0 if the first k ranks hold none.",
        formula: "RR@k = 1 / t₁ if t₁ ≤ k, else 0; over=hits: (Σ_{i ≤ k, relevant} 1 / i) / r(k); \
                  over=relevant: the same / R",
        citation: "Kantor and Voorhees 2000; over=hits: LlamaIndex; over=relevant: recommenders \
                   (deeprec)",
        recipe: |m, book| {
            let reciprocals =
                || Ok::<_, String>(gained(Gains::AtLeast(m.rel()).table(book)?, Discount::Rank, m));
            match m.choice("over") {
                "hits" => {
                    let reads = [reciprocals()?, hits(m, book, m.rank().into())];
                    Recipe::new(reads, |[sum, hits]| ratio(sum, hits))
                }
                "relevant" => Recipe::ratio([reciprocals()?, relevant(m, book)], f64::INFINITY),
                _ => {
                    let most = m.rank().map_or(f64::INFINITY, f64::from);
                    let first = RecipeInput::Fold(
                        Fold::FirstRank(relevant_codes(m, book)),
                        m.rank().into(),
                    );
                    Recipe::reciprocal(first, most)
                }
            }
        },
    },
    Definition {
        name: "Rprec",
        cutoff: CutoffRule::None,
        params: &[
            REL,
            param(
                "mult",
                ParamKind::Number(0.0, 1000.0),
                "1",
                "the multiple of R ranks that are looked at: c = ⌊mult·R + 0.9⌋",
            ),
        ],
        average: Average::Mean,
        better: Direction::Higher,
        traits: Traits::SHARE,
        plain: "If R documents are relevant: how many of the first R results are, as a share.",
        doc: "R-precision: precision at rank R, the number of the query's relevant documents, or \
              at a multiple of it.",
        formula: "Rprec = r(c) / c with c = ⌊mult·R + 0.9⌋, which is R for mult=1",
        citation: "Buckley and Voorhees 2000",
        recipe: |m, book| {
            let recall = m.number("mult").unwrap_or(1.0);
            let rank =
                QueryConstant::Hits { hits: relevant_codes(m, book), rule: RecallRule::V9, recall };
            let reads =
                [hits(m, book, ReadCutoff::PerQuery(rank.clone())), RecipeInput::Fact(rank)];
            Recipe::new(reads, |[hits, rank]| ratio(hits, rank))
        },
    },
    Definition {
        name: "CG",
        cutoff: CutoffRule::Optional,
        params: &[GAIN, FLOOR],
        average: Average::Mean,
        better: Direction::Higher,
        traits: SUMMED,
        plain: "The grades of the first k results, added up; their order does not matter.",
        doc: "Cumulated gain of the first k ranks.",
        formula: "CG@k = Σ_{i ≤ k} gain(i)",
        citation: "Järvelin and Kekäläinen 2002",
        recipe: |m, book| Recipe::over(gained(gains(m, book)?, Discount::None, m), 1.0),
    },
    Definition {
        name: "DCG",
        cutoff: CutoffRule::Optional,
        params: &[GAIN, FLOOR, DISCOUNT, BASE],
        average: Average::Mean,
        better: Direction::Higher,
        traits: SUMMED,
        plain: "The grades of the first k results, added up; the further down, the less a grade \
                counts.",
        doc: "Discounted cumulated gain of the first k ranks.",
        formula: "DCG@k = Σ_{i ≤ k} gain(i) / lg(i + 1); discount=jk: gain(i) / log_b(i), where i \
                  < b gain(i); discount=rank: gain(i) / i",
        citation: "discount=jk: Järvelin and Kekäläinen 2002; lg(i + 1): Burges et al. 2005; \
                   discount=rank: CatBoost",
        recipe: |m, book| Recipe::over(gained(gains(m, book)?, discount(m), m), 1.0),
    },
    Definition {
        name: "nDCG",
        cutoff: CutoffRule::Optional,
        params: &[
            GAIN,
            FLOOR,
            param(
                "ideal",
                ParamKind::Choice(&["judged", "uncut", "returned", "retrieved"]),
                "judged",
                "the ideal ranking is made of all judged documents and cut at k, is not cut \
                 (uncut), is cut at the smaller of k and n, the documents retrieved (returned), or \
                 is made only of those retrieved (retrieved)",
            ),
            DISCOUNT,
            BASE,
        ],
        average: Average::Mean,
        better: Direction::Higher,
        traits: Traits {
            // Not cut as the ranking is, or shorter, the ideal of a table of gains may be less than
            // the ranking's sum.
            nothing_relevant: |m| {
                (m.choice("ideal") != "retrieved" || names_no_gains(m)).then_some(0.0)
            },
            best_order: |m, cut| match m.choice("ideal") {
                "retrieved" if cut => BestOrder::None,
                _ => BestOrder::Worth(gains),
            },
            ..NORMALISED
        },
        plain: "How close the first k results come to the best possible order; the top ranks count \
                most.",
        doc: "Discounted cumulated gain of the first k ranks, divided by that of the ideal \
              ranking.",
        formula: "nDCG@k = DCG@k / DCG@k of the ideal ranking; ideal=uncut: / DCG of it; \
                  ideal=returned: / DCG@min(k, n) of it",
        citation: "discount=jk: Järvelin and Kekäläinen 2002; lg(i + 1) and gain=exp2: Burges et \
                   al. 2005; ideal=uncut: Quepid; ideal=returned: Elasticsearch; discount=rank: \
                   CatBoost",
        recipe: |m, book| {
            let gain = for_ratio(gains(m, book)?, book)?;
            let rank = m.rank().filter(|_| m.choice("ideal") != "uncut");
            let ideal = IdealRanking { gain: gain.clone(), discount: discount(m), rank };
            let ideal = match m.choice("ideal") {
                "retrieved" => RecipeInput::RetrievedIdeal(ideal),
                "returned" => RecipeInput::TruncatedIdeal(ideal),
                _ => RecipeInput::Fact(QueryConstant::Ideal(ideal)),
            };
            Recipe::ratio([gained(gain, discount(m), m), ideal], f64::INFINITY)
        },
    },
    Definition {
        name: "ERR",
        cutoff: CutoffRule::Optional,
        params: &[param(
            "gmax",
            ParamKind::NumberOrChoice(0.0, LARGEST_SCALE, &["auto"]),
            "4",
            "the top of the grading scale; auto: the largest grade of the qrels",
        )],
        average: Average::Mean,
        better: Direction::Higher,
        traits: Traits::SHARE,
        plain: "How soon readers who start at the top are satisfied; a higher grade satisfies more \
                of them.",
        doc: "Expected reciprocal rank at which a user who reads from the top is satisfied.",
        formula: "ERR@k = Σ_{i ≤ k} (1 / i)·Rᵢ·Π_{j < i} (1 − Rⱼ), Rᵢ = (2^grade − 1) / 2^gmax",
        citation: "Chapelle, Metzler, Zhang, Grinspan 2009",
        recipe: |m, book| {
            let gmax = m.number("gmax").unwrap_or_else(|| book.max_grade().unwrap_or(0.0));
            let fold = Fold::Cascade { stop: stop_table(gmax, book)?, discount: Discount::Rank };
            Recipe::over(RecipeInput::Fold(fold, m.rank().into()), 1.0)
        },
    },
    Definition {
        name: "RBP",
        cutoff: CutoffRule::Optional,
        params: &[
            param(
                "p",
                ParamKind::Number(0.0, 1.0),
                "0.8",
                "the chance that the user goes on to the next rank",
            ),
            REL,
            param(
                "gain",
                ParamKind::Choice(&["binary", "grade", "raw"]),
                "binary",
                "1 for a relevant document; its grade as a share of the largest grade of the \
                 qrels; its grade (which can exceed 1)",
            ),
            param(
                "scale",
                ParamKind::Choice(&["none", "topic"]),
                "none",
                "topic: raw grades, each divided by the largest of the query if that exceeds 1, as \
                 trec_eval 10 does",
            ),
            param(
                "norm",
                ParamKind::Ranks(&["none"]),
                "none",
                "stop at this rank and divide by the weights down to it, as cwl_eval does at 1000",
            ),
        ],
        average: Average::Mean,
        better: Direction::Higher,
        traits: Traits {
            range: |m| match (m.choice("gain"), m.choice("scale")) {
                ("raw", "none") => Range::Positive,
                _ => Range::SHARE,
            },
            highest_grade: |m| m.choice("gain") == "grade" && m.choice("scale") == "none",
            ..Traits::SHARE
        },
        plain: "Relevant results per result read, if readers go on to the next one with a fixed \
                chance p.",
        doc: "Rank-biased precision: the expected rate of gain of a user who goes on with \
              probability p.",
        formula: "RBP = (1 − p)·Σ gain(i)·p^(i−1)",
        citation: "Moffat and Zobel 2008; gain=raw: Bassani 2022 (ranx); norm: Azzopardi, Thomas, \
                   Moffat 2019",
        recipe: |m, book| {
            let p = m.number("p").unwrap_or(0.8);
            let depth = m.number("norm").map(|depth| depth as u32);
            if p == 1.0 && depth.is_none() {
                return Err(
                    "with p=1 the weights have no finite sum: give p below 1, or norm".to_owned()
                );
            }
            let place = m.rank().into_iter().chain(depth).min();
            let sum = |gain| {
                RecipeInput::Fold(
                    Fold::WeightedSum { gain, discount: Discount::Power(p) },
                    place.into(),
                )
            };
            if m.choice("scale") == "topic" {
                return rbp_of_topics(p, book, sum);
            }
            let gain = match m.choice("gain") {
                "raw" => Gains::Linear.table(book)?,
                "grade" => Gains::Share(book.max_grade().filter(|&max| max > 0.0).unwrap_or(1.0))
                    .table(book)?,
                _ => Gains::AtLeast(m.rel()).table(book)?,
            };
            let read = sum(gain.floored(m.rel(), relevant_codes(m, book)));
            let whole = match depth {
                Some(depth) => {
                    (0..depth).fold((0.0, 1.0), |(sum, power), _| (sum + power, power * p)).0
                }
                None => 1.0,
            };
            match depth {
                Some(_) => Recipe::over(read, whole),
                None => Recipe::times(read, 1.0 - p),
            }
        },
    },
    Definition {
        name: "IPrec",
        cutoff: CutoffRule::Recall,
        params: &[REL, CUT],
        average: Average::Mean,
        better: Direction::Higher,
        traits: SPECIAL,
        plain: "The best precision at any depth that finds at least a share x of the relevant \
                documents.",
        doc: "Interpolated precision: the largest precision at any rank that reaches the level of \
              recall.",
        formula: "IPrec@x = max of r(i) / i over the ranks i where r(i) ≥ the hits that x needs: \
                  about x·R, see cut",
        citation: "Salton and McGill 1983; trec_eval",
        recipe: |m, book| Recipe::new([peak(m, book, m.recall())], |[peak]| peak),
    },
    Definition {
        name: "IPrec11",
        cutoff: CutoffRule::None,
        params: &[
            REL,
            CUT,
            param(
                "points",
                ParamKind::Points,
                "[0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1]",
                "the levels of recall, ascending",
            ),
        ],
        average: Average::Mean,
        better: Direction::Higher,
        traits: historical("AP"),
        plain: "IPrec averaged over eleven shares of the relevant documents, from none to all of \
                them.",
        doc: "Interpolated precision averaged over levels of recall, eleven unless others are \
              given.",
        formula: "IPrec11 = mean of IPrec@x over the points x",
        citation: "Salton and McGill 1983; trec_eval",
        recipe: |m, book| {
            let points: Vec<f64> = match m.value("points") {
                Some(ParamValue::List(points)) => points.clone(),
                _ => (0..=10).map(|tenth| f64::from(tenth) / 10.0).collect(),
            };
            let count = points.len() as f64;
            let reads = points.iter().map(|&x| peak(m, book, x)).collect();
            Recipe::custom(reads, move |peaks| {
                peaks.iter().rev().fold(0.0, |sum, peak| sum + peak) / count
            })
        },
    },
    Definition {
        name: "Judged",
        cutoff: CutoffRule::Optional,
        params: &[],
        average: Average::Mean,
        better: Direction::Neither,
        traits: Traits { range: first_is_binary, nothing_relevant: |_| None, ..Traits::SHARE },
        plain: "How many of the first k results somebody has judged, as a share; if low, other \
                scores say little.",
        doc: "The share of the first k retrieved documents that the qrels name, with whatever \
              grade.",
        formula: "Judged@k = #{i ≤ k: in the qrels} / min(k, n)",
        citation: "MacAvaney, Macdonald, Ounis 2022 (ir_measures)",
        recipe: |m, _| {
            let reads = [CodesAbove::IN_QRELS, CodesAbove::RETRIEVED]
                .map(|set| RecipeInput::Fold(Fold::Count(set), m.rank().into()));
            Recipe::new(reads, |[pooled, retrieved]| ratio(pooled, retrieved))
        },
    },
    Definition {
        name: "SetP",
        cutoff: CutoffRule::None,
        params: &[
            REL,
            param(
                "norm",
                ParamKind::Choice(&["retrieved", "min"]),
                "retrieved",
                "divide by n, or by the smaller of n and R",
            ),
        ],
        average: Average::Mean,
        better: Direction::Higher,
        traits: SPECIAL,
        plain: "How many of all returned documents are relevant, as a share; their order does not \
                matter.",
        doc: "Precision of the whole ranking as a set.",
        formula: "SetP = m / n; norm=min: m / min(n, R)",
        citation: "van Rijsbergen 1979; norm=min: Buckley et al., trec_eval (set_relative_P)",
        recipe: |m, book| match m.choice("norm") {
            "min" => {
                let reads = [hits(m, book, ReadCutoff::End), retrieved(), relevant(m, book)];
                Recipe::new(reads, |[hits, retrieved, relevant]| {
                    ratio(hits, retrieved.min(relevant))
                })
            }
            _ => Recipe::new([hits(m, book, ReadCutoff::End), retrieved()], |[hits, retrieved]| {
                ratio(hits, retrieved)
            }),
        },
    },
    Definition {
        name: "SetR",
        cutoff: CutoffRule::None,
        params: &[REL],
        average: Average::Mean,
        better: Direction::Higher,
        traits: SPECIAL,
        plain: "How many of all relevant documents were returned, as a share; their order does not \
                matter.",
        doc: "Recall of the whole ranking as a set.",
        formula: "SetR = m / R",
        citation: "van Rijsbergen 1979",
        recipe: |m, book| {
            Recipe::ratio([hits(m, book, ReadCutoff::End), relevant(m, book)], f64::INFINITY)
        },
    },
    Definition {
        name: "SetF",
        cutoff: CutoffRule::None,
        params: &[
            REL,
            Param { excludes: "beta2", ..BETA },
            Param {
                name: "beta2",
                kind: ParamKind::Number(0.0, LARGE * LARGE),
                default: "",
                excludes: "beta",
                needs: "",
                doc: "β² itself, as trec_eval's set_F.x and ir_measures pass it",
            },
        ],
        average: Average::Mean,
        better: Direction::Higher,
        traits: SPECIAL,
        plain: "SetP and SetR in one number; low if either of them is low.",
        doc: "F-measure of the whole ranking as a set.",
        formula: "SetF = (1 + β²)·SetP·SetR / (β²·SetP + SetR)",
        citation: "van Rijsbergen 1979",
        recipe: |m, book| {
            let beta2 =
                m.number("beta2").unwrap_or_else(|| m.number("beta").unwrap_or(1.0).powi(2));
            let reads = [hits(m, book, ReadCutoff::End), retrieved(), relevant(m, book)];
            Recipe::new(reads, move |[hits, n, relevant]| {
                f_measure(ratio(hits, n), ratio(hits, relevant), beta2)
            })
        },
    },
    Definition {
        name: "SetAP",
        cutoff: CutoffRule::None,
        params: &[REL],
        average: Average::Mean,
        better: Direction::Higher,
        traits: Traits { expected: |_| ExpectationRule::GivenHits, ..historical("AP") },
        plain: "SetP times SetR: high only if little is missing and little that is not relevant is \
                returned.",
        doc: "Precision times recall of the whole ranking as a set.",
        formula: "SetAP = m² / (n·R)",
        citation: "Buckley et al., trec_eval (set_map)",
        recipe: |m, book| {
            let reads = [hits(m, book, ReadCutoff::End), retrieved(), relevant(m, book)];
            Recipe::new(reads, |[hits, n, relevant]| ratio(hits * hits, n * relevant))
        },
    },
    Definition {
        name: "NNR",
        cutoff: CutoffRule::Optional,
        params: &[param(
            "truth",
            ParamKind::Ranks(&[]),
            "",
            "t: how many of the true neighbours are looked for; without it k, and without a cutoff \
             all of them",
        )],
        average: Average::Mean,
        better: Direction::Higher,
        traits: Traits {
            highest_grade: |_| true,
            level: |m, highest| Some(nearest_level(m, highest)),
            expected: |_| ExpectationRule::GivenHits,
            ..SPECIAL
        },
        plain: "How many of the true nearest neighbours an approximate search found, as a share.",
        doc: "Recall of nearest neighbours: the share of the t nearest that the first k results \
              hold. Grades are those of neighbours: T for the nearest, the highest grade of all, \
              down to 1.",
        formula: "NNR(truth=t)@k = min(t', #{i ≤ k: gradeᵢ > T − t}) / t', t' = min(t, #{grade > \
                  0})",
        citation: "Aumüller, Bernhardsson, Faithfull 2020 (ann-benchmarks); Simhadri et al. 2022 \
                   (big-ann-benchmarks)",
        recipe: |m, book| {
            let highest = book.max_grade().unwrap_or(0.0);
            let t = nearest(m, highest);
            if t > highest {
                let neighbours = if highest == 1.0 { "neighbour" } else { "neighbours" };
                return Err(format!("{m}: the truth has {highest} {neighbours} a query"));
            }
            let hits = Fold::Count(book.at_least(nearest_level(m, highest)));
            let neighbours = QueryConstant::Count(book.at_least(0f64.next_up()));
            let reads = [RecipeInput::Fold(hits, m.rank().into()), RecipeInput::Fact(neighbours)];
            Recipe::new(reads, move |[hits, neighbours]| {
                let most = t.min(neighbours);
                ratio(hits.min(most), most)
            })
        },
    },
    Definition {
        name: "Bpref",
        cutoff: CutoffRule::None,
        params: &[REL, NEGATIVES],
        average: Average::Mean,
        better: Direction::Higher,
        traits: SPECIAL,
        plain: "How rarely documents judged as not relevant come before relevant ones; unjudged \
                ones are skipped.",
        doc: "How rarely judged non-relevant documents stand above relevant ones; unjudged \
              documents are skipped.",
        formula: "Bpref = (1/R)·Σ_{relevant} (1 − min(b, R) / min(N, R)), b the non-relevant above",
        citation: "Buckley and Voorhees 2004",
        recipe: |m, book| {
            Recipe::new([preference(m, book), relevant(m, book)], |[sum, relevant]| {
                ratio(sum, relevant)
            })
        },
    },
    Definition {
        name: "GMBpref",
        cutoff: CutoffRule::None,
        params: &[REL, NEGATIVES],
        average: Average::Geometric,
        better: Direction::Higher,
        traits: FLOORED,
        plain: "Bpref, averaged so that the queries with the lowest Bpref pull the number down \
                most.",
        doc: "Geometric mean of Bpref; a query's value is at least 0.00001.",
        formula: "GMBpref = exp(mean of ln max(Bpref, 0.00001))",
        citation: "Buckley et al., trec_eval (gm_bpref)",
        recipe: |m, book| {
            let reads = [preference(m, book), relevant(m, book)];
            Recipe::new(reads, |[sum, relevant]| ratio(sum, relevant).max(0.00001))
        },
    },
    Definition {
        name: "InfAP",
        cutoff: CutoffRule::None,
        params: &[REL],
        average: Average::Mean,
        better: Direction::Higher,
        traits: Traits {
            better_swaps: |_| false,
            best_order: |_, cut| if cut { BestOrder::None } else { BestOrder::Searched },
            ..SPECIAL
        },
        plain: "An estimate of AP for judgments of only a random sample of the documents that were \
                to be judged.",
        doc: "Average precision as inferred from a pool of which only a sample was judged.",
        formula: "InfAP = (1/R)·Σ_{relevant} (1/i + (i−1)/i · (a+b+u)/(i−1) · (a+ε)/(a+b+2ε)), of \
                  the ranks above: a relevant, b not, u pooled only",
        citation: "Yilmaz and Aslam 2006",
        recipe: |m, book| {
            let sum =
                RecipeInput::Fold(Fold::InferredSum(relevant_codes(m, book)), ReadCutoff::End);
            Recipe::ratio([sum, relevant(m, book)], f64::INFINITY)
        },
    },
    Definition {
        name: "YAAP",
        cutoff: CutoffRule::None,
        params: &[REL],
        average: Average::Mean,
        better: Direction::Higher,
        traits: Traits {
            range: |_| Range::Any,
            empty: None,
            expected: |_| ExpectationRule::None,
            ..historical("AP")
        },
        plain: "AP on a stretched scale, where differences count more the closer they are to \
                either end.",
        doc: "Yet another average precision: its log odds.",
        formula: "YAAP = ln((1 + s) / (1 + R − s)), s = Σ_{relevant} r(i) / i; 0 if R = 0",
        citation: "Robertson 2012; trec_eval (yaap)",
        recipe: |m, book| {
            let sum =
                RecipeInput::Fold(Fold::PrecisionSum(relevant_codes(m, book)), ReadCutoff::End);
            let value = |[sum, relevant]: [f64; 2]| ((1.0 + sum) / (1.0 + relevant - sum)).ln();
            Recipe::new(
                [sum, relevant(m, book)],
                move |reads| if reads[1] > 0.0 { value(reads) } else { 0.0 },
            )
        },
    },
    Definition {
        name: "BinG",
        cutoff: CutoffRule::None,
        params: &[REL],
        average: Average::Mean,
        better: Direction::Higher,
        traits: historical("nDCG"),
        plain: "How few results that are not relevant stand above each relevant one; a missing one \
                counts 0.",
        doc: "Average precision with the logarithm of the documents above that are not relevant as \
              discount.",
        formula: "BinG = (1/R)·Σ_{relevant} 1 / lg(2 + i − r(i))",
        citation: "Buckley et al., trec_eval (binG)",
        recipe: |m, book| {
            let hits = relevant_codes(m, book);
            Recipe::walk(Walk::BinG { hits }, [QueryConstant::Count(hits)])
        },
    },
    Definition {
        name: "G",
        cutoff: CutoffRule::None,
        params: &[GAIN, FLOOR],
        average: Average::Mean,
        better: Direction::Higher,
        traits: Traits {
            status: historical("nDCG").status,
            better_swaps: |_| false,
            best_order: |_, _| BestOrder::None,
            ..NORMALISED
        },
        plain: "The grades found; the further the ranking lags behind the best possible one, the \
                less they count.",
        doc: "Gain discounted by how far the ranking lags behind the ideal one.",
        formula: "G = (Σ gain(i) / lg(2 + C(i) − S(i))) / Σ ideal gains; S the gain so far, C that \
                  of the ideal, at least 1 a rank",
        citation: "Buckley et al., trec_eval (G)",
        recipe: |m, book| {
            let gain = gains(m, book)?;
            Recipe::walk(Walk::G { gain }, [])
        },
    },
    Definition {
        name: "nDCGrel",
        cutoff: CutoffRule::None,
        params: &[GAIN, FLOOR],
        average: Average::Mean,
        better: Direction::Higher,
        traits: Traits {
            status: historical("nDCG").status,
            range: |m| if names_no_gains(m) { Range::SHARE } else { Range::Positive },
            // Documents are counted where they have a gain, but the ideal ranking has only judged
            // ones.
            best_order: |m, _| {
                if pays_only_judged(m) { BestOrder::Worth(gains) } else { BestOrder::None }
            },
            ..NORMALISED
        },
        plain: "nDCG at the ranks of the relevant documents, averaged; missing ones have that of \
                the last rank.",
        doc: "nDCG averaged over the ranks of the documents with a gain; those not retrieved count \
              with the last rank's.",
        formula: "nDCGrel = (1/P)·(Σ_{gain > 0} DCG@i / ideal@i + those missing · DCG / ideal), at \
                  least 0",
        citation: "Buckley et al., trec_eval (ndcg_rel), after Järvelin and Kekäläinen 2002",
        recipe: |m, book| {
            let gain = for_ratio(gains(m, book)?, book)?;
            let whole = IdealRanking { gain: gain.clone(), discount: Discount::Log2, rank: None };
            Recipe::walk(Walk::NdcgOverRelevant { gain }, [QueryConstant::Ideal(whole)])
        },
    },
    Definition {
        name: "RnDCG",
        cutoff: CutoffRule::None,
        params: &[REL, GAIN],
        average: Average::Mean,
        better: Direction::Higher,
        traits: Traits {
            status: historical("nDCG").status,
            best_order: |_, _| BestOrder::Worth(gain_table),
            ..NORMALISED
        },
        plain: "nDCG averaged over the ranks where the best possible ranking goes down to the next \
                grade.",
        doc: "nDCG averaged over the ranks at which the gain of the ideal ranking changes.",
        formula: "RnDCG = mean of DCG@j / ideal@j over those ranks j, and the end of a ranking \
                  longer than P + 1; 0 if R = 0",
        citation: "Buckley et al., trec_eval (Rndcg)",
        recipe: |m, book| {
            let gain = for_ratio(gain_table(m, book)?, book)?;
            Recipe::walk(
                Walk::NdcgOverChanges { gain },
                [QueryConstant::Count(relevant_codes(m, book))],
            )
        },
    },
    Definition {
        name: "IDCG",
        cutoff: CutoffRule::Optional,
        params: &[GAIN, FLOOR, DISCOUNT, BASE],
        average: Average::Mean,
        better: Direction::Neither,
        traits: Traits { range: |_| Range::Positive, empty: None, ..SPECIAL },
        plain: "The highest DCG that any order of the judged documents could have.",
        doc: "Discounted cumulated gain of the ideal ranking of all judged documents.",
        formula: "IDCG@k = DCG@k of the judged documents by descending gain",
        citation: "discount=jk: Järvelin and Kekäläinen 2002; lg(i + 1): Burges et al. 2005",
        recipe: |m, book| {
            let ideal =
                IdealRanking { gain: gains(m, book)?, discount: discount(m), rank: m.rank() };
            Recipe::new([RecipeInput::Fact(QueryConstant::Ideal(ideal))], |[ideal]| ideal)
        },
    },
    Definition {
        name: "RBPresid",
        cutoff: CutoffRule::None,
        params: &[param(
            "p",
            ParamKind::Number(0.0, 1.0),
            "0.9",
            "the chance that the user goes on to the next rank",
        )],
        average: Average::Mean,
        better: Direction::Lower,
        traits: Traits {
            nothing_relevant: |_| None,
            expected: |_| ExpectationRule::GivenHits,
            ..SPECIAL
        },
        plain: "How much RBP could still rise if all that nobody has judged were relevant.",
        doc: "How much RBP could still grow if the unjudged documents, and those never retrieved, \
              were all relevant.",
        formula: "RBPresid = p^n + (1 − p)·Σ_{unjudged} p^(i−1); 0 if every document is judged, as \
                  trec_eval 10 does",
        citation: "Moffat and Zobel 2008; trec_eval (rbp_resid)",
        recipe: |m, _| {
            let p = m.number("p").unwrap_or(0.9);
            let mut unjudged = [0.0; 256];
            unjudged[usize::from(NOT_IN_QRELS)..=usize::from(NEGATIVE)].fill(1.0);
            let gain = unjudged.into();
            let sum = RecipeInput::Fold(
                Fold::WeightedSum { gain, discount: Discount::Power(p) },
                ReadCutoff::End,
            );
            let powers = Powers::new(p);
            Recipe::new([sum, retrieved(), judged()], move |[sum, n, judged]| {
                if n == judged { 0.0 } else { powers.at(n as usize) + (1.0 - p) * sum }
            })
        },
    },
    Definition {
        name: "Unjudged",
        cutoff: CutoffRule::Required,
        params: &[],
        average: Average::Mean,
        better: Direction::Lower,
        traits: Traits { range: first_is_binary, nothing_relevant: |_| None, ..SPECIAL },
        plain: "How many of the first k results have no grade, as a share of k.",
        doc: "The share of the first k ranks that hold a document without a grade of 0 or more.",
        formula: "Unjudged@k = #{i ≤ k: unjudged} / k",
        citation: "Buckley et al., trec_eval (unj)",
        recipe: |m, _| {
            let k = f64::from(m.rank().unwrap_or(1));
            let reads = [CodesAbove::RETRIEVED, CodesAbove::JUDGED]
                .map(|set| RecipeInput::Fold(Fold::Count(set), m.rank().into()));
            Recipe::new(reads, move |[retrieved, judged]| (retrieved - judged) / k)
        },
    },
    Definition {
        name: "Utility",
        cutoff: CutoffRule::None,
        params: &[
            REL,
            param(
                "a",
                ParamKind::Number(-LARGE, LARGE),
                "1",
                "for each relevant document retrieved",
            ),
            param("b", ParamKind::Number(-LARGE, LARGE), "-1", "for each other document retrieved"),
            param(
                "c",
                ParamKind::Number(-LARGE, LARGE),
                "0",
                "for each relevant document not retrieved",
            ),
            param(
                "d",
                ParamKind::Number(-LARGE, LARGE),
                "0",
                "for each other document of the collection",
            ),
            param("docs", ParamKind::Whole(1e15), "0", "the number of documents in the collection"),
        ],
        average: Average::Mean,
        better: Direction::Higher,
        traits: Traits {
            range: |_| Range::Any,
            empty: None,
            nothing_relevant: |_| None,
            best_order: |_, _| BestOrder::Worth(prices),
            ..SPECIAL
        },
        plain: "Points for each document, added up: for relevant and other ones, returned or not.",
        doc: "A linear price of each kind of document, retrieved or not.",
        formula: "Utility = a·m + b·(n − m) + c·(R − m) + d·(docs + m − n − R)",
        citation: "Buckley et al., trec_eval (utility)",
        recipe: |m, book| {
            let [a, b, c, d, docs] =
                ["a", "b", "c", "d", "docs"].map(|name| m.number(name).unwrap_or(0.0));
            let reads = [hits(m, book, ReadCutoff::End), retrieved(), relevant(m, book)];
            Recipe::new(reads, move |[hits, n, relevant]| {
                a * hits + b * (n - hits) + c * (relevant - hits) + d * (docs + hits - n - relevant)
            })
        },
    },
    Definition {
        name: "Accuracy",
        cutoff: CutoffRule::Optional,
        params: &[REL],
        average: Average::Mean,
        better: Direction::Higher,
        traits: Traits {
            range: first_is_binary,
            better_swaps: |m| m.rank().is_none(),
            expected: |_| ExpectationRule::GivenHits,
            best_order: |m, cut| {
                if cut || m.rank().is_some() { BestOrder::Searched } else { BestOrder::Swaps }
            },
            ..SPECIAL
        },
        plain: "Of the pairs of a relevant and another result in the first k: the share in the \
                right order.",
        doc: "The share of pairs of a relevant and another document in the first k ranks that are \
              in the right order.",
        formula: "Accuracy@k = 1 − Σ_{relevant} z / (Z·r(k)), z of the Z other documents above; 0 \
                  without a relevant one, 1 if Z = 0",
        citation: "MacAvaney, Macdonald, Ounis 2022 (ir_measures)",
        recipe: |m, book| {
            let place: ReadCutoff = m.rank().into();
            let reads = [
                RecipeInput::Fold(Fold::PairSum(relevant_codes(m, book)), place.clone()),
                hits(m, book, place.clone()),
                RecipeInput::Fold(Fold::Count(CodesAbove::RETRIEVED), place),
            ];
            Recipe::new(reads, |[pairs, hits, n]| {
                if hits == 0.0 { 0.0 } else { 1.0 - ratio(pairs, (n - hits) * hits) }
            })
        },
    },
    Definition {
        name: "FallOut",
        cutoff: CutoffRule::Optional,
        params: &[
            REL,
            param(
                "norm",
                ParamKind::Choice(&["retrieved", "judged"]),
                "retrieved",
                "of the non-relevant documents that were retrieved at all, or of those judged",
            ),
        ],
        average: Average::Mean,
        better: Direction::Lower,
        traits: Traits {
            nothing_relevant: |_| None,
            better_swaps: |m| m.choice("norm") != "judged" || m.rank().is_none(),
            expected: |m| match m.choice("norm") {
                "judged" => ExpectationRule::Linear,
                _ => ExpectationRule::GivenHits,
            },
            best_order: |m, cut| match m.choice("norm") {
                "judged" => BestOrder::Worth(all_but_nonrelevant),
                _ if cut => BestOrder::Searched,
                _ => BestOrder::Swaps,
            },
            ..SPECIAL
        },
        plain: "How many of the returned documents that are not relevant are among the first k, as \
                a share.",
        doc: "The share of the non-relevant documents that stand in the first k ranks.",
        formula: "FallOut@k = (min(k, n) − r(k)) / (n − m); norm=judged: judged ones only, / N",
        citation: "van Rijsbergen 1979; torchmetrics",
        recipe: |m, book| {
            let place: ReadCutoff = m.rank().into();
            let above = |set| RecipeInput::Fold(Fold::Count(set), place.clone());
            let hits_at = |place| hits(m, book, place);
            match m.choice("norm") {
                "judged" => {
                    let all = RecipeInput::Fact(QueryConstant::Count(CodesAbove::JUDGED));
                    let reads =
                        [above(CodesAbove::JUDGED), hits_at(place.clone()), all, relevant(m, book)];
                    Recipe::new(reads, |[judged, hits, all, relevant]| {
                        ratio(judged - hits, all - relevant)
                    })
                }
                _ => {
                    let reads = [
                        above(CodesAbove::RETRIEVED),
                        hits_at(place.clone()),
                        retrieved(),
                        hits_at(ReadCutoff::End),
                    ];
                    Recipe::new(reads, |[top, hits, all, relevant]| {
                        ratio(top - hits, all - relevant)
                    })
                }
            }
        },
    },
    Definition {
        name: "Compat",
        cutoff: CutoffRule::None,
        params: &[
            param(
                "p",
                ParamKind::Number(0.0, 1.0),
                "0.95",
                "the persistence of rank-biased overlap",
            ),
            param(
                "normalize",
                ParamKind::Choice(&["true", "false"]),
                "true",
                "divide by the overlap of the ideal ranking with itself",
            ),
        ],
        average: Average::Mean,
        better: Direction::Higher,
        traits: SPECIAL,
        plain: "How much the ranking has in common with the best possible one; the top ranks count \
                most.",
        doc: "Compatibility: the rank-biased overlap with the nearest ideal ranking, retrieved \
              documents before absent ones of a grade.",
        formula: "Compat = RBO(ranking, ideal) / RBO(ideal, ideal)",
        citation: "Clarke, Vtyurina, Smucker 2020",
        recipe: |m, book| {
            let (p, by_ideal) = (m.number("p").unwrap_or(0.95), m.choice("normalize") != "false");
            let positive = book.at_least(0f64.next_up());
            Recipe::walk(Walk::Overlap { positive, p, by_ideal }, [])
        },
    },
    Definition {
        name: "INST",
        cutoff: CutoffRule::None,
        params: &[TARGET, REL, BINARY, GMAX, DEPTH],
        average: Average::Mean,
        better: Direction::Higher,
        traits: Traits {
            range: |m| if wants_half(m) { Range::SHARE } else { Range::Any },
            better_swaps: wants_half,
            ..SPECIAL
        },
        plain: "Relevant results per result read, for readers who want T of them and stop sooner \
                once they have T.",
        doc: "Gain rate of a user who wants T documents and grows patient or impatient with what \
              was found.",
        formula: "C(i) = ((i + 2T − cg(i) − 1) / (i + 2T − cg(i)))², cg the gain so far; weighted \
                  mean gain over 1000 ranks",
        citation: "Moffat, Bailey, Scholer, Thomas 2015; Azzopardi, Thomas, Moffat 2019 (cwl_eval)",
        recipe: |m, book| gain_rate(m, book, Continuation::Inst(target(m))),
    },
    Definition {
        name: "INSQ",
        cutoff: CutoffRule::None,
        params: &[TARGET, REL, BINARY, GMAX, DEPTH],
        average: Average::Mean,
        better: Direction::Higher,
        traits: SPECIAL,
        plain: "Relevant results per result read, if the number of readers falls with the square \
                of the rank.",
        doc: "Gain rate of a user whose interest falls with the square of the rank.",
        formula: "C(i) = ((i + 2T − 1) / (i + 2T))²; weighted mean gain over 1000 ranks",
        citation: "Moffat, Scholer, Thomas 2012; cwl_eval",
        recipe: |m, book| {
            let discount = Discount::InverseSquare(target(m));
            weighted_mean(m, book, discount, m.number("depth").unwrap_or(1000.0) as usize)
        },
    },
    Definition {
        name: "BPM",
        cutoff: CutoffRule::Optional,
        params: &[TARGET, REL, BINARY, GMAX, DEPTH],
        average: Average::Mean,
        better: Direction::Higher,
        traits: Traits {
            range: first_is_binary_unless_graded,
            // A user who stops at a better document loses its worth, so a better swap may lower the
            // value.
            better_swaps: |m| m.choice("gain") != "grade",
            ..SPECIAL
        },
        plain: "Relevant results per result read, for readers who stop after T relevant ones, or \
                after k results.",
        doc: "Bejeweled player model: gain rate of a user who stops after T gains or k ranks.",
        formula: "C(i) = 1 while cg(i) < T and i < k, else 0; weighted mean gain over 1000 ranks",
        citation: "Zhang, Liu, Li, Zhang, Xu, Ma 2017; cwl_eval",
        recipe: |m, book| gain_rate(m, book, Continuation::TargetGain(target(m))),
    },
    Definition {
        name: "SDCG",
        cutoff: CutoffRule::Required,
        params: &[
            REL,
            BINARY,
            GMAX,
            param(
                "norm",
                ParamKind::Choice(&["k", "min"]),
                "k",
                "divide by the discounts of k ranks, or of the smaller of k and n, the documents \
                 retrieved",
            ),
        ],
        average: Average::Mean,
        better: Direction::Higher,
        traits: Traits { range: first_is_binary_unless_graded, ..SPECIAL },
        plain: "The DCG of the first k results, as a share of that of k perfect results.",
        doc: "Scaled DCG: DCG divided by the sum of its own discounts.",
        formula: "SDCG@k = Σ_{i ≤ k} gain(i) / lg(i + 1) / Σ_{i ≤ k} 1 / lg(i + 1), k up to \
                  1000000; norm=min: / Σ_{i ≤ min(k, n)} 1 / lg(i + 1)",
        citation: "Azzopardi, Thomas, Moffat 2019 (cwl_eval); norm=min: LlamaIndex 0.10",
        recipe: |m, book| match m.rank().unwrap_or(1) {
            k @ ..=1_000_000 if m.choice("norm") == "min" => scaled_to_retrieved(m, book, k),
            k @ ..=1_000_000 => weighted_mean(m, book, Discount::Log2, k as usize),
            k => Err(format!(
                "SDCG divides by the sum of k discounts, with a k up to 1000000 and not {k}"
            )),
        },
    },
    Definition {
        name: "NERR8",
        cutoff: CutoffRule::Optional,
        params: &[REL, BINARY, GMAX, DEPTH],
        average: Average::Mean,
        better: Direction::Higher,
        traits: Traits { range: first_is_binary_unless_graded, ..SPECIAL },
        plain: "Relevant results per result read, for readers who stop once a result satisfies \
                them.",
        doc: "Gain rate of a user who goes on after each document with the chance that it did not \
              satisfy.",
        formula: "C(i) = 1 − gain(i) while i < k, else 0; weighted mean gain over 1000 ranks",
        citation: "Azzopardi, Mackenzie, Moffat 2021; cwl_eval",
        recipe: |m, book| gain_rate(m, book, Continuation::Unsatisfied(Patience::Same(1.0))),
    },
    Definition {
        name: "NERR9",
        cutoff: CutoffRule::Optional,
        params: &[REL, BINARY, GMAX, DEPTH],
        average: Average::Mean,
        better: Direction::Higher,
        traits: Traits { range: first_is_binary_unless_graded, ..SPECIAL },
        plain: "As NERR8, for readers who also lose interest with each rank.",
        doc: "NERR8 with interest that falls with the rank.",
        formula: "C(i) = i / (i + 1)·(1 − gain(i)) while i < k, else 0; weighted mean gain over \
                  1000 ranks",
        citation: "Azzopardi, Mackenzie, Moffat 2021; cwl_eval",
        recipe: |m, book| gain_rate(m, book, Continuation::Unsatisfied(Patience::Rank)),
    },
    Definition {
        name: "NERR10",
        cutoff: CutoffRule::None,
        params: &[
            param("p", ParamKind::Number(0.0, 1.0), "0.9", "the chance to go on at all"),
            REL,
            BINARY,
            GMAX,
            DEPTH,
        ],
        average: Average::Mean,
        better: Direction::Higher,
        traits: SPECIAL,
        plain: "As NERR8, for readers who may also give up after any result, with a fixed chance.",
        doc: "NERR8 with a constant chance to give up.",
        formula: "C(i) = p·(1 − gain(i)); weighted mean gain over 1000 ranks",
        citation: "Azzopardi, Mackenzie, Moffat 2021; cwl_eval",
        recipe: |m, book| {
            gain_rate(
                m,
                book,
                Continuation::Unsatisfied(Patience::Same(m.number("p").unwrap_or(0.9))),
            )
        },
    },
    Definition {
        name: "NERR11",
        cutoff: CutoffRule::None,
        params: &[TARGET, REL, BINARY, GMAX, DEPTH],
        average: Average::Mean,
        better: Direction::Higher,
        traits: SPECIAL,
        plain: "As NERR8, for readers who also lose interest with the square of the rank.",
        doc: "NERR8 with interest that falls with the square of the rank.",
        formula: "C(i) = ((i + 2T − 1) / (i + 2T))²·(1 − gain(i)); weighted mean gain over 1000 \
                  ranks",
        citation: "Azzopardi, Mackenzie, Moffat 2021; cwl_eval",
        recipe: |m, book| {
            gain_rate(m, book, Continuation::Unsatisfied(Patience::InverseSquare(target(m))))
        },
    },
    Definition {
        name: "alpha_DCG",
        cutoff: CutoffRule::Required,
        params: &[REL, ALPHA, FIRST],
        average: Average::Mean,
        better: Direction::Higher,
        traits: OVER_SUBTOPICS_RAW,
        plain: "How well the first k results cover the subtopics of the query; a repeated one \
                counts less.",
        doc: "Novelty-biased DCG over subtopics, as a share of a ranking in which every document \
              has every subtopic.",
        formula: "alpha_DCG@k = Σ_{i ≤ k} x(i)/lg(i + 1) / Σ_{i ≤ k} S·(1 − α)^(i−1)/lg(i + 1), \
                  where x(i) = Σ over the subtopics of the document of (1 − α)^(documents above \
                  with it), k up to 1000000",
        citation: "Clarke et al. 2008; ndeval",
        recipe: |m, _| discounted_subtopics(m, |at| at.alpha_dcg),
    },
    Definition {
        name: "alpha_nDCG",
        cutoff: CutoffRule::Required,
        params: &[REL, ALPHA],
        average: Average::Mean,
        better: Direction::Higher,
        traits: OVER_GREEDY,
        plain: "alpha_DCG, as a share of that of a nearly best order.",
        doc: "Novelty-biased DCG over subtopics, as a share of that of a greedy ideal ranking.",
        formula: "alpha_nDCG@k = alpha_DCG@k / alpha_DCG@k of the ideal ranking, which takes the \
                  document with the largest x next, of equal ones that of the larger docno",
        citation: "Clarke et al. 2008; ndeval",
        recipe: |m, _| discounted_subtopics(m, |at| at.alpha_ndcg),
    },
    Definition {
        name: "ERR_IA",
        cutoff: CutoffRule::Required,
        params: &[REL, ALPHA, FIRST],
        average: Average::Mean,
        better: Direction::Higher,
        traits: OVER_SUBTOPICS_RAW,
        plain: "How soon the first k results show the subtopics of the query; a repeated one \
                counts less.",
        doc: "Intent-aware expected reciprocal rank, as a share of a ranking in which every \
              document has every subtopic.",
        formula: "ERR_IA@k = Σ_{i ≤ k} x(i)/i / Σ_{i ≤ k} S·(1 − α)^(i−1)/i, with x(i) as in \
                  alpha_DCG, k up to 1000000",
        citation: "Chapelle et al. 2011; ndeval",
        recipe: |m, _| discounted_subtopics(m, |at| at.err_ia),
    },
    Definition {
        name: "nERR_IA",
        cutoff: CutoffRule::Required,
        params: &[REL, ALPHA],
        average: Average::Mean,
        better: Direction::Higher,
        traits: OVER_GREEDY,
        plain: "ERR_IA, as a share of that of a nearly best order.",
        doc: "Intent-aware expected reciprocal rank, as a share of that of a greedy ideal ranking.",
        formula: "nERR_IA@k = ERR_IA@k / ERR_IA@k of the ideal ranking",
        citation: "Chapelle et al. 2011; ndeval",
        recipe: |m, _| discounted_subtopics(m, |at| at.nerr_ia),
    },
    Definition {
        name: "NRBP",
        cutoff: CutoffRule::None,
        params: &[REL, ALPHA, PATIENCE],
        average: Average::Mean,
        better: Direction::Higher,
        traits: OVER_SUBTOPICS,
        plain: "New subtopics per result read, if readers go on with a fixed chance; a repeated \
                one counts less.",
        doc: "Novelty- and rank-biased precision over subtopics.",
        formula: "NRBP = (1 − (1 − α)·β)/S · Σ_i x(i)·β^(i−1), with x(i) as in alpha_DCG",
        citation: "Clarke, Kolla, Vechtomova 2009; ndeval",
        recipe: |m, _| Ok(subtopic(m, SubtopicValue::Whole(|whole| whole.nrbp))),
    },
    Definition {
        name: "nNRBP",
        cutoff: CutoffRule::None,
        params: &[REL, ALPHA, PATIENCE],
        average: Average::Mean,
        better: Direction::Higher,
        traits: OVER_GREEDY,
        plain: "NRBP, as a share of that of a nearly best order.",
        doc: "Novelty- and rank-biased precision, as a share of that of a greedy ideal ranking.",
        formula: "nNRBP = NRBP / NRBP of the ideal ranking",
        citation: "Clarke, Kolla, Vechtomova 2009; ndeval",
        recipe: |m, _| Ok(subtopic(m, SubtopicValue::Whole(|whole| whole.nnrbp))),
    },
    Definition {
        name: "AP_IA",
        cutoff: CutoffRule::None,
        params: &[REL],
        average: Average::Mean,
        better: Direction::Higher,
        traits: OVER_SUBTOPICS,
        plain: "AP for each subtopic of the query, averaged over the subtopics.",
        doc: "Intent-aware average precision: the mean over subtopics of the average precision for \
              each.",
        formula: "AP_IA = (1/S)·Σ_s AP of the documents judged for s",
        citation: "Agrawal et al. 2009; ndeval",
        recipe: |m, _| Ok(subtopic(m, SubtopicValue::Whole(|whole| whole.ap_ia))),
    },
    Definition {
        name: "P_IA",
        cutoff: CutoffRule::Required,
        params: &[REL],
        average: Average::Mean,
        better: Direction::Higher,
        traits: OVER_SUBTOPICS,
        plain: "P@k for each subtopic of the query, averaged over the subtopics.",
        doc: "Intent-aware precision: the mean over subtopics of the precision for each.",
        formula: "P_IA@k = Σ_{i ≤ k} subtopics of document i / (k·S)",
        citation: "Agrawal et al. 2009; ndeval",
        recipe: |m, _| Ok(subtopic(m, SubtopicValue::At(m.rank().unwrap_or(1), |at| at.p_ia))),
    },
    Definition {
        name: "StRecall",
        cutoff: CutoffRule::Required,
        params: &[REL],
        average: Average::Mean,
        better: Direction::Higher,
        traits: OVER_SUBTOPICS,
        plain: "How many of the subtopics of the query the first k results show, as a share.",
        doc: "Subtopic recall: the share of the query's subtopics that the first k documents \
              cover.",
        formula: "StRecall@k = subtopics met in the first k ranks / S",
        citation: "Zhai, Cohen, Lafferty 2003; ndeval",
        recipe: |m, _| Ok(subtopic(m, SubtopicValue::At(m.rank().unwrap_or(1), |at| at.st_recall))),
    },
    Definition {
        name: "prefs_num_prefs_poss",
        cutoff: CutoffRule::None,
        params: &[],
        average: Average::Sum,
        better: Direction::Neither,
        traits: COUNTED_PREFERENCES,
        plain: "How many times the judgments prefer one document to another.",
        doc: "The number of preferences of the query.",
        formula: "prefs_num_prefs_poss = Σ over groups of the preferences, summed",
        citation: "Carterette et al. 2008; Buckley et al., trec_eval",
        recipe: |_, _| Ok(Recipe::Facets(FacetValue::Preference(Preference::Possible))),
    },
    Definition {
        name: "prefs_num_prefs_ful",
        cutoff: CutoffRule::None,
        params: &[],
        average: Average::Sum,
        better: Direction::Higher,
        traits: COUNTED_PREFERENCES,
        plain: "How many preferences are kept: the better document comes first, or only it was \
                returned.",
        doc: "The number of preferences that the ranking fulfils: the preferred document comes \
              first, or is the only one of both.",
        formula: "prefs_num_prefs_ful = Σ over groups of the fulfilled preferences, summed",
        citation: "Carterette et al. 2008; Buckley et al., trec_eval",
        recipe: |_, _| Ok(Recipe::Facets(FacetValue::Preference(Preference::Fulfilled))),
    },
    Definition {
        name: "prefs_num_prefs_ful_ret",
        cutoff: CutoffRule::None,
        params: &[],
        average: Average::Sum,
        better: Direction::Higher,
        traits: COUNTED_PREFERENCES,
        plain: "How many preferences between two returned documents are kept.",
        doc: "The number of preferences between retrieved documents that the ranking fulfils.",
        formula: "prefs_num_prefs_ful_ret = Σ over groups of the fulfilled preferences between \
                  retrieved documents, summed",
        citation: "Carterette et al. 2008; Buckley et al., trec_eval",
        recipe: |_, _| Ok(Recipe::Facets(FacetValue::Preference(Preference::FulfilledRetrieved))),
    },
    Definition {
        name: "prefs_simp",
        cutoff: CutoffRule::None,
        params: &[],
        average: Average::Mean,
        better: Direction::Higher,
        traits: OVER_PREFERENCES,
        plain: "How many of all preferences the ranking keeps, as a share.",
        doc: "The share of preferences that the ranking fulfils.",
        formula: "prefs_simp = fulfilled / all preferences, of all groups together",
        citation: "Carterette et al. 2008; Buckley et al., trec_eval",
        recipe: |_, _| Ok(Recipe::Facets(FacetValue::Preference(Preference::Simple))),
    },
    Definition {
        name: "prefs_pair",
        cutoff: CutoffRule::None,
        params: &[],
        average: Average::Mean,
        better: Direction::Higher,
        traits: OVER_PREFERENCES,
        plain: "How many judges agree with the order of two documents, as a share, averaged over \
                such pairs.",
        doc: "The share of judgment groups that agree with the ranking, averaged over pairs of \
              documents.",
        formula: "prefs_pair = mean over pairs with a preference of the share of groups with one \
                  that prefer the document that comes first; a pair of which nothing is retrieved \
                  counts 0",
        citation: "Carterette et al. 2008; Buckley et al., trec_eval",
        recipe: |_, _| Ok(Recipe::Facets(FacetValue::Preference(Preference::Pair))),
    },
    Definition {
        name: "prefs_avgjg",
        cutoff: CutoffRule::None,
        params: &[],
        average: Average::Mean,
        better: Direction::Higher,
        traits: OVER_PREFERENCES,
        plain: "How many of a judge's preferences the ranking keeps, as a share, averaged over \
                judges.",
        doc: "The share of preferences that the ranking fulfils, averaged over judgment groups.",
        formula: "prefs_avgjg = mean over groups of fulfilled / all preferences",
        citation: "Carterette et al. 2008; Buckley et al., trec_eval",
        recipe: |_, _| Ok(Recipe::Facets(FacetValue::Preference(Preference::Group))),
    },
    Definition {
        name: "prefs_avgjg_Rnonrel",
        cutoff: CutoffRule::None,
        params: &[],
        average: Average::Mean,
        better: Direction::Higher,
        traits: OVER_PREFERENCES,
        plain: "As prefs_avgjg, with as many documents that are not relevant as relevant ones.",
        doc: "As prefs_avgjg, with as many non-relevant documents as relevant ones.",
        formula: "prefs_avgjg_Rnonrel = mean over groups of fulfilled / all preferences, of R \
                  documents that are not relevant at most; with fewer of them, R·(R − N) more",
        citation: "Carterette et al. 2008; Buckley et al., trec_eval",
        recipe: |_, _| Ok(Recipe::Facets(FacetValue::Preference(Preference::GroupBalanced))),
    },
    Definition {
        name: "prefs_simp_ret",
        cutoff: CutoffRule::None,
        params: &[],
        average: Average::Mean,
        better: Direction::Higher,
        traits: OVER_PREFERENCES,
        plain: "As prefs_simp, for preferences of which both documents were returned.",
        doc: "The share of preferences between retrieved documents that the ranking fulfils.",
        formula: "prefs_simp_ret = fulfilled / all preferences between retrieved documents",
        citation: "Carterette et al. 2008; Buckley et al., trec_eval",
        recipe: |_, _| Ok(Recipe::Facets(FacetValue::Preference(Preference::SimpleRetrieved))),
    },
    Definition {
        name: "prefs_pair_ret",
        cutoff: CutoffRule::None,
        params: &[],
        average: Average::Mean,
        better: Direction::Higher,
        traits: OVER_PREFERENCES,
        plain: "As prefs_pair, for pairs of which both documents were returned.",
        doc: "As prefs_pair, over pairs of retrieved documents.",
        formula: "prefs_pair_ret = mean over retrieved pairs with a preference of the share of \
                  groups that prefer the first",
        citation: "Carterette et al. 2008; Buckley et al., trec_eval",
        recipe: |_, _| Ok(Recipe::Facets(FacetValue::Preference(Preference::PairRetrieved))),
    },
    Definition {
        name: "prefs_avgjg_ret",
        cutoff: CutoffRule::None,
        params: &[],
        average: Average::Mean,
        better: Direction::Higher,
        traits: OVER_PREFERENCES,
        plain: "As prefs_avgjg, for preferences of which both documents were returned.",
        doc: "The share of preferences between retrieved documents that the ranking fulfils, \
              averaged over judgment groups.",
        formula: "prefs_avgjg_ret = mean over groups of fulfilled / all preferences between \
                  retrieved documents",
        citation: "Carterette et al. 2008; Buckley et al., trec_eval",
        recipe: |_, _| Ok(Recipe::Facets(FacetValue::Preference(Preference::GroupRetrieved))),
    },
    Definition {
        name: "prefs_avgjg_Rnonrel_ret",
        cutoff: CutoffRule::None,
        params: &[],
        average: Average::Mean,
        better: Direction::Higher,
        traits: OVER_PREFERENCES,
        plain: "As prefs_avgjg_Rnonrel, for documents that were returned.",
        doc: "As prefs_avgjg_Rnonrel, over retrieved documents.",
        formula: "prefs_avgjg_Rnonrel_ret = as prefs_avgjg_Rnonrel, of retrieved documents",
        citation: "Carterette et al. 2008; Buckley et al., trec_eval",
        recipe: |_, _| {
            Ok(Recipe::Facets(FacetValue::Preference(Preference::GroupBalancedRetrieved)))
        },
    },
    Definition {
        name: "prefs_simp_imp",
        cutoff: CutoffRule::None,
        params: &[],
        average: Average::Mean,
        better: Direction::Higher,
        traits: OVER_PREFERENCES,
        plain: "As prefs_simp, for preferences of which one document or both were returned.",
        doc: "The share of preferences with a retrieved document that the ranking fulfils.",
        formula: "prefs_simp_imp = fulfilled / all preferences with a retrieved document",
        citation: "Carterette et al. 2008; Buckley et al., trec_eval",
        recipe: |_, _| Ok(Recipe::Facets(FacetValue::Preference(Preference::SimpleImplied))),
    },
    Definition {
        name: "prefs_pair_imp",
        cutoff: CutoffRule::None,
        params: &[],
        average: Average::Mean,
        better: Direction::Higher,
        traits: OVER_PREFERENCES,
        plain: "As prefs_pair, for pairs of which one document or both were returned.",
        doc: "As prefs_pair, over pairs with a retrieved document.",
        formula: "prefs_pair_imp = mean over pairs with a preference and a retrieved document of \
                  the share of groups that agree",
        citation: "Carterette et al. 2008; Buckley et al., trec_eval",
        recipe: |_, _| Ok(Recipe::Facets(FacetValue::Preference(Preference::PairImplied))),
    },
    Definition {
        name: "prefs_avgjg_imp",
        cutoff: CutoffRule::None,
        params: &[],
        average: Average::Mean,
        better: Direction::Higher,
        traits: OVER_PREFERENCES,
        plain: "As prefs_avgjg, for preferences of which one document or both were returned.",
        doc: "The share of preferences with a retrieved document that the ranking fulfils, \
              averaged over judgment groups.",
        formula: "prefs_avgjg_imp = mean over groups of fulfilled / all preferences with a \
                  retrieved document",
        citation: "Carterette et al. 2008; Buckley et al., trec_eval",
        recipe: |_, _| Ok(Recipe::Facets(FacetValue::Preference(Preference::GroupImplied))),
    },
    Definition {
        name: "SpanR",
        cutoff: CutoffRule::Optional,
        params: &[REL, BUDGET],
        average: Average::Mean,
        better: Direction::Higher,
        traits: OVER_PASSAGES,
        plain: "How much of the judged passages was returned, as a share of their positions.",
        doc: "The share of the positions of gold passages that the results have, each position \
              once.",
        formula: "SpanR@k = Σ_{i ≤ k} gold_i / G, gold_i the gold positions of result i that no \
                  earlier one had",
        citation: "Smith and Troynikov 2024 (Chroma), with overlapping gold counted once",
        recipe: |m, _| Ok(passages(m, |sums| ratio(sums.gold, sums.all))),
    },
    Definition {
        name: "SpanP",
        cutoff: CutoffRule::Optional,
        params: &[REL, BUDGET, OVERLAP],
        average: Average::Mean,
        better: Direction::Higher,
        traits: OVER_PASSAGES,
        plain: "How much of what was returned is in the judged passages, as a share of its \
                positions.",
        doc: "The share of the positions of the results that are gold.",
        formula: "SpanP@k = Σ_{i ≤ k} gold_i / Σ_{i ≤ k} new_i, new_i the positions that no \
                  earlier result had; overlap=each: all positions of result i",
        citation: "Smith and Troynikov 2024 (Chroma): overlap=each",
        recipe: |m, _| Ok(passages(m, |sums| ratio(sums.gold, sums.returned))),
    },
    Definition {
        name: "SpanIoU",
        cutoff: CutoffRule::Optional,
        params: &[REL, BUDGET, OVERLAP],
        average: Average::Mean,
        better: Direction::Higher,
        traits: OVER_PASSAGES,
        plain: "How well what was returned fits the judged passages: 1 if it is all of them and no \
                more.",
        doc: "Intersection over union: the gold positions of the results, as a share of the \
              positions that are gold or returned.",
        formula: "SpanIoU@k = Σ gold_i / (Σ new_i + G − Σ gold_i); overlap=each: all positions of \
                  result i in the place of new_i",
        citation: "Smith and Troynikov 2024 (Chroma): overlap=each",
        recipe: |m, _| Ok(passages(m, |sums| ratio(sums.gold, sums.either))),
    },
    Definition {
        name: "SpanF",
        cutoff: CutoffRule::Optional,
        params: &[REL, BETA, BUDGET, OVERLAP],
        average: Average::Mean,
        better: Direction::Higher,
        traits: OVER_PASSAGES,
        plain: "Recall and precision of positions in one number; low if either of them is low.",
        doc: "F-measure of precision and recall of positions.",
        formula: "SpanF@k = (1 + β²)·Σ gold_i / (β²·G + Σ new_i); overlap=each: all positions of \
                  result i in the place of new_i",
        citation: "van Rijsbergen 1979, of positions",
        recipe: |m, _| {
            Ok(passages(m, |sums| {
                ratio((1.0 + sums.beta2) * sums.gold, sums.beta2 * sums.all + sums.returned)
            }))
        },
    },
    Definition {
        name: "NumQ",
        cutoff: CutoffRule::None,
        params: &[],
        average: Average::Sum,
        better: Direction::Neither,
        traits: Traits {
            input: JudgmentNeeds::Any,
            range: |_| Range::Within(1.0, 1.0),
            empty: Some(1.0),
            nothing_relevant: |_| Some(1.0),
            ..COUNT
        },
        plain: "How many queries count.",
        doc: "The number of queries.",
        formula: "NumQ = 1 a query, summed",
        citation: "Buckley et al., trec_eval",
        recipe: |_, _| Recipe::new([], |[]| 1.0),
    },
    Definition {
        name: "NumRet",
        cutoff: CutoffRule::None,
        params: &[],
        average: Average::Sum,
        better: Direction::Neither,
        traits: Traits { nothing_relevant: |_| None, ..COUNT },
        plain: "How many documents were returned, for all queries together.",
        doc: "The number of retrieved documents.",
        formula: "NumRet = n, summed",
        citation: "Buckley et al., trec_eval",
        recipe: |_, _| Recipe::new([retrieved()], |[retrieved]| retrieved),
    },
    Definition {
        name: "NumRel",
        cutoff: CutoffRule::None,
        params: &[REL],
        average: Average::Sum,
        better: Direction::Neither,
        traits: Traits { empty: None, ..COUNT },
        plain: "How many documents are relevant, for all queries together.",
        doc: "The number of relevant documents in the qrels.",
        formula: "NumRel = R, summed",
        citation: "Buckley et al., trec_eval",
        recipe: |m, book| Recipe::new([relevant(m, book)], |[relevant]| relevant),
    },
    Definition {
        name: "NumRelRet",
        cutoff: CutoffRule::None,
        params: &[REL],
        average: Average::Sum,
        better: Direction::Neither,
        traits: COUNT,
        plain: "How many relevant documents were returned, for all queries together.",
        doc: "The number of relevant documents retrieved.",
        formula: "NumRelRet = m, summed",
        citation: "Buckley et al., trec_eval",
        recipe: |m, book| Recipe::new([hits(m, book, ReadCutoff::End)], |[hits]| hits),
    },
    Definition {
        name: "NumNonrelRet",
        cutoff: CutoffRule::None,
        params: &[REL],
        average: Average::Sum,
        better: Direction::Neither,
        traits: Traits {
            nothing_relevant: |_| None,
            best_order: |_, _| BestOrder::Worth(nonrelevant),
            ..COUNT
        },
        plain: "How many documents that somebody judged as not relevant were returned, for all \
                queries together.",
        doc: "The number of documents retrieved that were judged and are not relevant.",
        formula: "NumNonrelRet = judged documents retrieved − m, summed",
        citation: "Buckley et al., trec_eval (num_nonrel_judged_ret)",
        recipe: |m, book| {
            Recipe::new([judged(), hits(m, book, ReadCutoff::End)], |[judged, hits]| judged - hits)
        },
    },
];

/// Returns the recipe of a measure over subtopics that computes `value`.
fn subtopic(m: &Measure, value: SubtopicValue) -> Recipe {
    let [alpha, beta] = ["alpha", "beta"].map(|name| m.number(name).unwrap_or(0.5));
    let raw_first = m.choice("first") == "raw";
    let setting = DiversityParams { rel: m.rel(), alpha, beta, raw_first };
    Recipe::Facets(FacetValue::Subtopic(setting, value))
}

/// Returns the recipe of a measure of passages (judgments by span), with this formula.
fn passages(m: &Measure, formula: fn(&PassageSums) -> f64) -> Recipe {
    Recipe::Facets(FacetValue::Passages(PassageValue {
        rel: m.rel(),
        rank: m.rank(),
        budget: m.number("budget").map(|budget| budget as u64),
        each: m.choice("overlap") == "each",
        beta2: m.number("beta").unwrap_or(1.0).powi(2),
        formula,
    }))
}

/// Returns the recipe of a measure over subtopics whose value is divided by a sum over its first k
/// ranks.
fn discounted_subtopics(m: &Measure, value: fn(&AtCutoff) -> f64) -> Result<Recipe, String> {
    match m.rank().unwrap_or(1) {
        k @ ..=1_000_000 => Ok(subtopic(m, SubtopicValue::At(k, value))),
        k => Err(format!(
            "{} divides by a sum over k ranks, with a k up to 1000000 and not {k}",
            m.definition().name
        )),
    }
}

/// The most grades above 1 for which RBP by topic has a sum each.
const MOST_LARGEST: usize = 16;

/// Returns the recipe of RBP with grades as shares of the largest grade of the query, if that
/// exceeds 1. trec_eval 10 divides each grade, not the sum of grades, and the last digits differ.
/// So the recipe has a sum for each possible largest grade, and a query selects the sum of its
/// largest grade.
fn rbp_of_topics(
    p: f64,
    book: &Codebook,
    sum: impl Fn(CodeTable) -> RecipeInput,
) -> Result<Recipe, String> {
    let above_one = book.grades().iter().copied().filter(|&grade| grade > 1.0);
    let largest: Vec<f64> = std::iter::once(1.0).chain(above_one).collect();
    if !book.is_exact() || largest.len() > 1 + MOST_LARGEST {
        return Recipe::reference();
    }
    let of_query = RecipeInput::Fact(QueryConstant::MaxGrade(book.grades().into()));
    let sums = largest.iter().map(|&largest| Gains::Share(largest).table(book).map(&sum));
    let reads: Vec<RecipeInput> =
        std::iter::once(Ok(of_query)).chain(sums).collect::<Result<_, String>>()?;
    Recipe::custom(reads, move |numbers| {
        let at = largest.partition_point(|&largest| largest < numbers[0]);
        (1.0 - p) * numbers[1 + at]
    })
}

/// Returns the codes of grades that are relevant at the measure's relevance level.
fn relevant_codes(m: &Measure, book: &Codebook) -> CodesAbove {
    book.at_least(m.rel())
}

/// Returns t, the number of true nearest neighbours that the measure looks for.
fn nearest(m: &Measure, highest: f64) -> f64 {
    m.number("truth").or(m.rank().map(f64::from)).unwrap_or(highest)
}

/// Returns the lowest grade of the t true nearest neighbours, of which the nearest has the grade
/// `highest`.
fn nearest_level(m: &Measure, highest: f64) -> f64 {
    (highest + 1.0 - nearest(m, highest)).max(1.0)
}

/// Returns the recipe input r(k), the number of relevant documents retrieved up to a place in the
/// ranking.
fn hits(m: &Measure, book: &Codebook, place: ReadCutoff) -> RecipeInput {
    RecipeInput::Fold(Fold::Count(relevant_codes(m, book)), place)
}

/// Makes a table of gains by code: 1 where `is_in` is true, else 0.
fn indicator(is_in: impl Fn(u8) -> bool) -> Result<CodeTable, String> {
    Ok(std::array::from_fn(|code| f64::from(is_in(code as u8))).into())
}

/// Makes a table of gains by code: 1 for judged documents that are not relevant, else 0.
fn nonrelevant(m: &Measure, book: &Codebook) -> Result<CodeTable, String> {
    let hits = relevant_codes(m, book);
    indicator(|code| CodesAbove::JUDGED.contains(code) && !hits.contains(code))
}

/// Makes a table of gains by code: 0 for judged documents that are not relevant, else 1.
fn all_but_nonrelevant(m: &Measure, book: &Codebook) -> Result<CodeTable, String> {
    let hits = relevant_codes(m, book);
    indicator(|code| !CodesAbove::JUDGED.contains(code) || hits.contains(code))
}

/// Makes the table of gains of Utility by code: of a relevant document, compared with another in
/// its place.
fn prices(m: &Measure, book: &Codebook) -> Result<CodeTable, String> {
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| m.number(name).unwrap_or(0.0));
    let table = indicator(|code| relevant_codes(m, book).contains(code))?;
    Ok(table.map(|_, price| price * (a - b - c + d)))
}

/// Returns the recipe input R, the number of relevant documents in the qrels.
fn relevant(m: &Measure, book: &Codebook) -> RecipeInput {
    RecipeInput::Fact(QueryConstant::Count(relevant_codes(m, book)))
}

/// Returns the recipe input n, the number of retrieved documents.
fn retrieved() -> RecipeInput {
    RecipeInput::Fold(Fold::Count(CodesAbove::RETRIEVED), ReadCutoff::End)
}

/// Returns the recipe input for the number of judged documents among the retrieved ones.
fn judged() -> RecipeInput {
    RecipeInput::Fold(Fold::Count(CodesAbove::JUDGED), ReadCutoff::End)
}

/// Returns the recipe input for the sum that Bpref divides by R.
fn preference(m: &Measure, book: &Codebook) -> RecipeInput {
    let judged = if m.choice("negatives") == "nonrelevant" {
        CodesAbove::IN_QRELS
    } else {
        CodesAbove::JUDGED
    };
    RecipeInput::Preference { hits: relevant_codes(m, book), judged }
}

/// Returns the recipe of the mean gain of the first ranks under fixed weights, such as discounts.
/// Ranks without a document count as 0.
fn weighted_mean(
    m: &Measure,
    book: &Codebook,
    discount: Discount,
    depth: usize,
) -> Result<Recipe, String> {
    let gain = rate_gains(m, book)?;
    let weights = discount.weights(depth);
    let whole = (0..depth).fold(0.0, |sum, rank| sum + weights.term(1.0, rank));
    let read =
        RecipeInput::Fold(Fold::WeightedSum { gain, discount }, ReadCutoff::Rank(depth as u32));
    Recipe::over(read, whole)
}

/// Returns the recipe of DCG at k, divided by the discounts of as many ranks as have a document.
fn scaled_to_retrieved(m: &Measure, book: &Codebook, k: u32) -> Result<Recipe, String> {
    let weights = Discount::Log2.weights(k as usize);
    let whole = (0..k as usize).scan(0.0, |sum, rank| {
        *sum += weights.term(1.0, rank);
        Some(*sum)
    });
    let whole: Vec<f64> = std::iter::once(0.0).chain(whole).collect();
    let retrieved = RecipeInput::Fold(Fold::Count(CodesAbove::RETRIEVED), ReadCutoff::Rank(k));
    let reads = [gained(rate_gains(m, book)?, Discount::Log2, m), retrieved];
    Recipe::new(reads, move |[sum, retrieved]| {
        ratio(sum, whole[(retrieved as usize).min(whole.len() - 1)])
    })
}

/// Returns the recipe of the mean gain for a user who goes on with a chance, 0 from the cutoff on.
fn gain_rate(m: &Measure, book: &Codebook, goes_on: Continuation) -> Result<Recipe, String> {
    let depth = m.number("depth").unwrap_or(1000.0) as usize;
    let depth = depth.min(m.rank().map_or(usize::MAX, |k| k as usize));
    Recipe::walk(Walk::Cwl { gain: rate_gains(m, book)?, depth, goes_on }, [])
}

/// Makes a table of gains by code for a mean gain: 1 if relevant, or the grade as a share of the
/// scale. A share is 1 at most.
fn rate_gains(m: &Measure, book: &Codebook) -> Result<CodeTable, String> {
    match (m.choice("gain"), m.number("gmax").or(book.max_grade())) {
        ("grade", Some(gmax)) if gmax > 0.0 => Gains::Clipped(gmax).table(book),
        ("grade", _) => Ok([0.0; 256].into()),
        _ => Gains::AtLeast(m.rel()).table(book),
    }
}

/// Returns T, the gain that the measure's user wants.
fn target(m: &Measure) -> f64 {
    m.number("T").unwrap_or(1.0)
}

/// Returns the recipe input for interpolated precision at a level of recall.
fn peak(m: &Measure, book: &Codebook, recall: f64) -> RecipeInput {
    RecipeInput::Peak { hits: relevant_codes(m, book), rule: RecallRule::from_measure(m), recall }
}

/// Returns the discount of ranks by the measure's parameters `discount` and `base`.
fn discount(m: &Measure) -> Discount {
    match m.choice("discount") {
        "jk" => Discount::LogFrom(m.number("base").unwrap_or(2.0)),
        "rank" => Discount::Rank,
        _ => Discount::Log2,
    }
}

/// Returns the recipe input for the discounted sum of gains (DCG) up to the measure's cutoff.
fn gained(gain: CodeTable, discount: Discount, m: &Measure) -> RecipeInput {
    RecipeInput::Fold(Fold::WeightedSum { gain, discount }, m.rank().into())
}

/// Makes the table of gains by code under the measure's parameters `gain` and `rel`.
pub(crate) fn gains(m: &Measure, book: &Codebook) -> Result<CodeTable, String> {
    let floor = m.number("rel").unwrap_or(0.0);
    Ok(gain_table(m, book)?.floored(floor, book.at_least(floor)))
}

/// Makes the table of gains by code under the measure's parameter `gain` alone.
pub(crate) fn gain_table(m: &Measure, book: &Codebook) -> Result<CodeTable, String> {
    let gains = match (m.value("gain"), m.binary_level()) {
        (Some(ParamValue::Table(pairs)), _) => Gains::Table(pairs.clone()),
        (Some(ParamValue::Choice("exp2")), _) => Gains::Exp2,
        (_, Some(level)) => Gains::AtLeast(level),
        _ => Gains::Linear,
    };
    gains.table(book)
}

/// Returns the F measure of a precision and a recall, given β²; 0 where both are 0.
fn f_measure(precision: f64, recall: f64, beta2: f64) -> f64 {
    ratio((beta2 + 1.0) * precision * recall, beta2 * precision + recall)
}
