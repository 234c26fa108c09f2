//! Evaluations over the orders of equal scores give what trying all orders gives, whatever order
//! the join has made, wherever ranks are cut.

use std::num::NonZeroU32;

use laneval::measure::{Average, Direction, Measure};
use laneval::parts::matrix::Document;
use laneval::parts::matrix::code::NOT_IN_QRELS;
use laneval::parts::reference::{Ranking, function};
use laneval::parts::ties::{
    CodeOrder, Cuts, Expectation, Extreme, SegmentBuffers, Side, TieScratch, TieSegments,
    TiedRanking,
};
use laneval::{
    EngineChoice, Evaluator, Join, LabelMatrix, Qrels, Scores, StatName, TieBreak, TiedValue, View,
};

use crate::cases::{by_default, some};
use crate::random::Random;
use crate::variants::{self, needs_no_groups};

/// Judgments, and for each query its groups of documents of equal scores, the best group first.
struct Case {
    judged: Vec<(String, String, f64)>,
    queries: Vec<Vec<Vec<String>>>,
}

type Run = Vec<(String, String, f64)>;

impl Case {
    /// Makes queries of up to six documents, and a few long ones if `long` is set.
    fn new(seed: u64, queries: usize, long: bool) -> Self {
        let mut random = Random(seed);
        let (mut judged, mut all) = (Vec::new(), Vec::new());
        for query in 0..queries {
            let documents = if long { 1 + random.below(150) } else { 1 + random.below(6) };
            let mut groups: Vec<Vec<String>> = vec![Vec::new()];
            for document in 0..documents {
                if random.below(if long { 3 } else { 2 }) == 0
                    && !groups[groups.len() - 1].is_empty()
                {
                    groups.push(Vec::new());
                }
                let last = groups.len() - 1;
                groups[last].push(format!("d{}", (document * 37 + 11) % 100_003));
            }
            for document in groups.concat() {
                if let Some(grade) =
                    [None, None, Some(-1.0), Some(0.0), Some(1.0), Some(2.0), Some(3.0)]
                        [random.below(7)]
                {
                    judged.push((format!("q{query:03}"), document, grade));
                }
            }
            judged.push((format!("q{query:03}"), "missed".to_owned(), random.below(4) as f64));
            all.push(groups);
        }
        judged.push(("q000".to_owned(), "highest".to_owned(), 3.0));
        Case { judged, queries: all }
    }

    fn qrels(&self) -> Qrels {
        let judged = self
            .judged
            .iter()
            .map(|(query, document, grade)| (query.as_str(), document.as_str(), *grade));
        Qrels::new(judged).unwrap()
    }

    /// Returns the run with its ties.
    fn tied(&self) -> Run {
        self.run(|_, groups| {
            let scored = groups.iter().enumerate().flat_map(|(at, group)| {
                group.iter().map(move |document| (document.clone(), -(at as f64)))
            });
            scored.collect()
        })
    }

    fn run(&self, scored: impl Fn(usize, &[Vec<String>]) -> Vec<(String, f64)>) -> Run {
        let of_query = |(query, groups): (usize, &Vec<Vec<String>>)| {
            let named = scored(query, groups).into_iter();
            named
                .map(move |(document, score)| (format!("q{query:03}"), document, score))
                .collect::<Vec<_>>()
        };
        self.queries.iter().enumerate().flat_map(of_query).collect()
    }

    /// Returns every order of the documents of each query.
    fn orders(&self) -> Vec<Vec<Vec<String>>> {
        let of_query = |groups: &Vec<Vec<String>>| {
            groups.iter().fold(vec![Vec::new()], |orders: Vec<Vec<String>>, group| {
                let permutations = permutations(group);
                orders
                    .iter()
                    .flat_map(|order| {
                        permutations.iter().map(|more| [order.clone(), more.clone()].concat())
                    })
                    .collect()
            })
        };
        self.queries.iter().map(of_query).collect()
    }
}

fn permutations(items: &[String]) -> Vec<Vec<String>> {
    let Some((first, rest)) = items.split_first() else { return vec![Vec::new()] };
    let placed = |rest: Vec<String>| {
        (0..=rest.len()).map(move |at| {
            let mut all = rest.clone();
            all.insert(at, first.clone());
            all
        })
    };
    permutations(rest).into_iter().flat_map(placed).collect()
}

fn join(join: Join, qrels: &Qrels, run: &Run) -> LabelMatrix {
    let rows =
        run.iter().map(|(query, document, score)| (query.as_str(), document.as_str(), *score));
    Join { keep_ties: true, ..join }.rankings(qrels, [("run".to_owned(), rows)]).unwrap()
}

fn values(scores: &Scores) -> &[Vec<f64>] {
    &scores.runs[0].per_query.as_ref().unwrap().values
}

const VALUES: [TiedValue; 3] = [TiedValue::Average, TiedValue::Best, TiedValue::Worst];

fn views() -> impl Iterator<Item = View> {
    let depths = [None, Some(1), Some(2), Some(4)].into_iter();
    depths.flat_map(|depth| [false, true].map(|judged_only| View { depth, judged_only }))
}

/// Returns the measures with a value of this kind for these rankings.
fn offered(tied: TiedValue, view: View, matrix: &LabelMatrix) -> Vec<Measure> {
    let cuts = Cuts { depth: view.depth.is_some(), judged_only: view.judged_only };
    let is_offered = |measure: &Measure| match tied {
        TiedValue::Best => Extreme::new(measure, matrix.codebook(), Side::Best, cuts).is_ok(),
        TiedValue::Worst => Extreme::new(measure, matrix.codebook(), Side::Worst, cuts).is_ok(),
        _ => Expectation::new(measure, matrix.codebook(), cuts).is_ok(),
    };
    variants::all().filter(|measure| is_offered(measure)).cloned().collect()
}

#[test]
fn values_are_those_of_trying_all_orders() {
    let mut compared = 0;
    for seed in some(1..3) {
        let case = Case::new(seed, 20, false);
        let (qrels, orders) = (case.qrels(), case.orders());
        let matrix = join(Join::default(), &qrels, &case.tied());
        let rounds = orders.iter().map(Vec::len).max().unwrap();
        let round = |round: usize| {
            let run = case.run(|query, _| {
                let order = &orders[query][round % orders[query].len()];
                order
                    .iter()
                    .enumerate()
                    .map(|(rank, document)| (document.clone(), -(rank as f64)))
                    .collect()
            });
            join(Join::default(), &qrels, &run)
        };
        let rounds: Vec<LabelMatrix> = (0..rounds).map(round).collect();
        for view in views() {
            for tied in VALUES {
                // A part of the measures is tested each time.
                let all = offered(tied, view, &matrix).into_iter();
                let measures: Vec<Measure> =
                    all.skip(seed as usize).step_by(by_default(10, 3)).collect();
                let evaluator = Evaluator::from_measures(measures.clone())
                    .with_view(view)
                    .with_per_query(true)
                    .allow_non_finite(true);
                let plain = |measure: &Measure| match measure.definition().average {
                    // The bound of a geometric mean comes after the mean over orders.
                    Average::Geometric => measure.to_string().replacen("GM", "", 1),
                    _ => measure.to_string(),
                };
                let plainly =
                    measures.iter().map(|measure| plain(measure).parse().unwrap()).collect();
                let plainly = Evaluator::from_measures(plainly)
                    .with_view(view)
                    .with_per_query(true)
                    .allow_non_finite(true);
                let each: Vec<Scores> =
                    rounds.iter().map(|matrix| plainly.evaluate(matrix).unwrap()).collect();
                let found = evaluator.with_tied_value(tied).evaluate(&matrix).unwrap();
                for (place, measure) in measures.iter().enumerate() {
                    for (query, orders) in orders.iter().enumerate() {
                        let of_orders = || {
                            each[..orders.len()].iter().map(|scores| values(scores)[place][query])
                        };
                        let larger = (tied == TiedValue::Best)
                            == (measure.definition().better != Direction::Lower);
                        let mut expected = match tied {
                            TiedValue::Average => of_orders().sum::<f64>() / orders.len() as f64,
                            _ if larger => of_orders().fold(f64::NEG_INFINITY, f64::max),
                            _ => of_orders().fold(f64::INFINITY, f64::min),
                        };
                        if measure.definition().average == Average::Geometric {
                            expected = expected.max(0.00001);
                        }
                        let found = values(&found)[place][query];
                        let close = found == expected
                            || (found - expected).abs() <= 1e-12 * (1.0 + expected.abs());
                        assert!(
                            close,
                            "{tied} of {measure} under {view:?} in query {query}: {found} and \
                             {expected}"
                        );
                        compared += 1;
                    }
                }
            }
        }
    }
    assert!(compared > 30_000, "{compared}");
}

/// The order that the join makes changes no bit, nor does it matter whether the join cut ranks or
/// the view does, or whether the matrix was a file.
#[test]
fn only_what_is_tied_matters() {
    let case = Case::new(11, 66, true);
    let (qrels, run) = (case.qrels(), case.tied());
    let folder = tempfile::tempdir().unwrap();
    for (depth, judged_only) in
        [(None, false), (None, true), (Some(40), false), (Some(7), false), (Some(7), true)]
    {
        let built = |ties, depth: Option<u32>| {
            join(
                Join { ties, depth: depth.and_then(NonZeroU32::new), ..Join::default() },
                &qrels,
                &run,
            )
        };
        let whole = built(TieBreak::DocnoDescending, None);
        let cut = built(TieBreak::DocnoDescending, depth);
        let path = folder.path().join("cut.lmx");
        cut.write(&path).unwrap();
        let others = [
            built(TieBreak::DocnoAscending, None),
            built(TieBreak::Input, None),
            cut,
            LabelMatrix::map(&path).unwrap(),
        ];
        let view = View { depth, judged_only };
        for tied in VALUES {
            let evaluator = Evaluator::from_measures(
                offered(tied, view, &whole).into_iter().step_by(2).collect(),
            )
            .with_tied_value(tied)
            .with_view(view);
            let evaluator = evaluator.with_per_query(true).allow_non_finite(true);
            let expected = evaluator.evaluate(&whole).unwrap();
            assert!(expected.measures.len() > 50 || judged_only && tied != TiedValue::Average);
            for (number, other) in others.iter().enumerate() {
                let found =
                    evaluator.clone().with_threads(3.try_into().ok()).evaluate(other).unwrap();
                for (place, measure) in expected.measures.iter().enumerate() {
                    for (query, (one, another)) in
                        values(&expected)[place].iter().zip(&values(&found)[place]).enumerate()
                    {
                        assert_eq!(
                            one.to_bits(),
                            another.to_bits(),
                            "{tied} of {measure} under {view:?}, query {query}, matrix {number}: \
                             {one} and {another}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn rankings_without_ties_have_the_bits_of_their_order() {
    let case = Case::new(5, 40, true);
    let untied = case.run(|_, groups| {
        groups
            .concat()
            .into_iter()
            .enumerate()
            .map(|(rank, document)| (document, -(rank as f64)))
            .collect()
    });
    let matrix = join(Join::default(), &case.qrels(), &untied);
    for tied in VALUES {
        let evaluator = Evaluator::from_measures(offered(tied, View::default(), &matrix))
            .with_per_query(true)
            .allow_non_finite(true);
        let ranked = evaluator.evaluate(&matrix).unwrap();
        let found = evaluator.with_tied_value(tied).evaluate(&matrix).unwrap();
        for (ranked, found) in values(&ranked).iter().zip(values(&found)) {
            assert!(
                ranked.iter().zip(found).all(|(ranked, found)| ranked.to_bits() == found.to_bits())
            );
        }
    }
}

#[test]
fn an_interval_is_made_of_the_three_values() {
    let case = Case::new(3, 50, true);
    let matrix = join(Join::default(), &case.qrels(), &case.tied());
    let evaluator = Evaluator::new(["AP", "nDCG@10", "P@5", "SetP"]).unwrap();
    let interval = evaluator.tie_interval(&matrix).unwrap();
    let outcome = |tied| {
        evaluator.clone().with_tied_value(tied).with_per_query(true).evaluate(&matrix).unwrap()
    };
    let [average, best, worst, ranked] =
        [TiedValue::Average, TiedValue::Best, TiedValue::Worst, TiedValue::Ranked].map(outcome);
    for measure in 0..4 {
        let stat = |name| interval.runs[0].stat(measure, name).unwrap();
        let mean = |scores: &Scores| scores.runs[0].average(measure).unwrap();
        assert_eq!(stat(StatName::Mean), mean(&average));
        assert_eq!((stat(StatName::Best), stat(StatName::Worst)), (mean(&best), mean(&worst)));
        assert_eq!(stat(StatName::Bias), mean(&ranked) - mean(&average));
        let varying = values(&best)[measure]
            .iter()
            .zip(&values(&worst)[measure])
            .filter(|(best, worst)| best != worst);
        assert_eq!(stat(StatName::Varying), varying.count() as f64);
    }
    // There is one group: the fifth and sixth document, whose labels differ.
    let stat = |measure: usize, name| interval.runs[0].stat(measure, name).unwrap();
    assert!(stat(2, StatName::Across) > 5.0 && stat(2, StatName::Across) < 50.0);
    assert_eq!((stat(3, StatName::Across), stat(3, StatName::Varying)), (0.0, 0.0));
    let documents: usize =
        case.queries.iter().flatten().filter(|group| group.len() > 1).map(Vec::len).sum();
    assert_eq!(interval.runs[0].ties.unwrap().documents, documents as u64);
    assert_eq!(interval.notices.len(), 1, "{:?}", interval.notices);
}

#[test]
fn what_has_no_such_value_is_refused_by_name() {
    let case = Case::new(1, 3, false);
    let qrels = case.qrels();
    let matrix = join(Join::default(), &qrels, &case.tied());
    let refused = |measures: &[&str], tied| {
        let evaluator = Evaluator::new(measures.iter().copied()).unwrap().with_tied_value(tied);
        evaluator.evaluate(&matrix).unwrap_err().to_string()
    };
    assert_eq!(
        refused(&["AP", "INST", "G"], TiedValue::Average),
        "INST has no expected value over ties that can be computed; take --ties best, worst or \
         docno-desc\n\
         G has no expected value over ties that can be computed; take --ties docno-desc"
    );
    assert_eq!(
        refused(&["G"], TiedValue::Best),
        "G: its best order cannot be found without trying all of them"
    );
    let evaluator = Evaluator::new(["AP"]).unwrap().with_tied_value(TiedValue::Average);
    let rows = [("q000", "x", 1.0)];
    let unknown = Join::default().rankings(&qrels, [("run".to_owned(), rows)]).unwrap();
    let error = evaluator.evaluate(&unknown).unwrap_err().to_string();
    assert_eq!(
        error,
        "it is not known which documents have equal scores: ask for it when rankings are made (in \
         Rust `keep_ties`, on the command line `--keep-ties`, in Python `keep_ties=True` for \
         `Matrix.build`)"
    );
    let error =
        evaluator.with_engine(EngineChoice::Reference).evaluate(&matrix).unwrap_err().to_string();
    assert_eq!(error, "the reference has no average values of tied rankings: take another engine");
}

/// Returns the labels of the rows that have mixed groups.
fn tied_rows(matrix: &LabelMatrix) -> Vec<(u32, Vec<u8>)> {
    let (batch, ties) = (matrix.batch(), matrix.tied_groups().unwrap());
    let of_tile = |at: usize| {
        let rows = batch.rows(at).iter().enumerate();
        rows.filter(|&(_, &row)| !ties.get(row).groups.is_empty())
            .map(|(lane, &row)| (row, batch.ranking(at, lane).collect()))
            .collect::<Vec<_>>()
    };
    batch.tiles().flat_map(of_tile).collect()
}

/// Returns the expected value of a measure if all of a row is computed.
fn of_row(
    matrix: &LabelMatrix,
    (row, labels): (u32, &[u8]),
    view: View,
    expectation: &Expectation,
    scratch: &mut TieScratch,
) -> f64 {
    let pooled = labels.iter().zip(0..).filter(|(code, _)| **code > NOT_IN_QRELS);
    let documents: Vec<Document> = pooled.map(|(&code, rank)| Document { rank, code }).collect();
    let tied = TiedRanking {
        documents: &documents,
        depth: labels.len() as u32,
        facts: matrix.batch().facts_of(row),
        book: matrix.codebook(),
        ties: matrix.tied_groups().unwrap().get(row),
    };
    expectation.value(&mut TieSegments::new(&tied, view, SegmentBuffers::default()), scratch)
}

/// Returns the value of a row with its groups in the order of a key.
fn arranged(
    matrix: &LabelMatrix,
    (row, labels): (u32, &[u8]),
    view: View,
    key: &CodeOrder,
    measure: &Measure,
) -> f64 {
    let mut labels = labels.to_vec();
    let ties = matrix.tied_groups().unwrap().get(row);
    for (at, group) in (1..).zip(ties.groups) {
        let cut = if at == ties.groups.len() { ties.cut } else { &[] };
        key.arrange(&mut labels[group.start as usize..group.end() as usize], cut);
    }
    view.apply_to_row(&mut labels);
    let ranking = Ranking {
        labels: &labels,
        facts: matrix.batch().facts_of(row),
        book: matrix.codebook(),
        exact: None,
        facets: None,
        spans: None,
        ties: &[],
    };
    function(measure).unwrap()(measure, &ranking)
}

/// Groups that cannot matter are skipped, and the others are computed once for all measures: every
/// measure has the same bits as from the whole row, beside others or alone.
#[test]
fn what_is_passed_by_changes_no_bit() {
    let case = Case::new(21, 70, true);
    let (mut expected, mut extreme) = (0, 0);
    for (depth, built) in
        [(None, None), (Some(3), None), (Some(25), None), (None, Some(25)), (Some(9), Some(25))]
    {
        let depth_of = built.and_then(NonZeroU32::new);
        let matrix = join(Join { depth: depth_of, ..Join::default() }, &case.qrels(), &case.tied());
        let view = View { depth, judged_only: false };
        let cuts = Cuts { depth: depth.or(built).is_some(), judged_only: false };
        let evaluator = |measures: Vec<Measure>, tied| {
            let evaluator =
                Evaluator::from_measures(measures).with_tied_value(tied).with_view(view);
            evaluator.with_per_query(true).allow_non_finite(true).with_engine(EngineChoice::Cpu)
        };
        let rows = tied_rows(&matrix);
        for (number, tied) in VALUES.into_iter().enumerate() {
            let side = if tied == TiedValue::Best { Side::Best } else { Side::Worst };
            let fits = |measure: &Measure| match tied {
                TiedValue::Average => Expectation::new(measure, matrix.codebook(), cuts).is_ok(),
                _ => Extreme::new(measure, matrix.codebook(), side, cuts).is_ok(),
            };
            // A part of the measures is tested each time.
            let all: Vec<Measure> = variants::all()
                .filter(|measure| fits(measure))
                .skip(number % 2)
                .step_by(by_default(7, 2))
                .cloned()
                .collect();
            let together = evaluator(all.clone(), tied).evaluate(&matrix).unwrap();
            for (place, measure) in all.iter().enumerate() {
                let alone = (place % 7 == number)
                    .then(|| evaluator(vec![measure.clone()], tied).evaluate(&matrix).unwrap());
                let expectation = Expectation::new(measure, matrix.codebook(), cuts);
                let order = Extreme::new(measure, matrix.codebook(), side, cuts);
                let mut scratch = TieScratch::default();
                for (row, labels) in &rows {
                    let found = values(&together)[place][*row as usize];
                    let plain = match (tied, &expectation, &order) {
                        (TiedValue::Average, Ok(expectation), _) => {
                            expected += 1;
                            Some(of_row(&matrix, (*row, labels), view, expectation, &mut scratch))
                        }
                        (TiedValue::Best | TiedValue::Worst, _, Ok(Extreme::Order(key))) => {
                            extreme += 1;
                            Some(arranged(&matrix, (*row, labels), view, key, measure))
                        }
                        _ => None,
                    };
                    let also = alone.as_ref().map(|alone| values(alone)[0][*row as usize]);
                    for plain in plain.into_iter().chain(also) {
                        let same =
                            found.to_bits() == plain.to_bits() || found.is_nan() && plain.is_nan();
                        assert!(
                            same,
                            "{tied} of {measure}, {view:?} of {built:?}, row {row}: {found} and \
                             {plain}"
                        );
                    }
                }
            }
        }
    }
    assert!(expected > 50_000 && extreme > 100_000, "{expected} {extreme}");
}

/// A request that the arguments alone rule out is refused without a matrix, with the same message
/// as with one.
#[test]
fn what_the_arguments_decide_is_refused_before_anything_is_read() {
    let case = Case::new(2, 8, false);
    let matrix = join(Join::default(), &case.qrels(), &case.tied());
    let mut refused = 0;
    for (tied, view) in VALUES.into_iter().flat_map(|tied| views().map(move |view| (tied, view))) {
        for measure in variants::all().filter(|measure| needs_no_groups(measure)) {
            if measure.recipe(matrix.codebook()).is_err() {
                continue;
            }
            let evaluator = Evaluator::from_measures(vec![measure.clone()])
                .with_tied_value(tied)
                .with_view(view);
            let (before, after) =
                (evaluator.check_tied(), evaluator.allow_non_finite(true).evaluate(&matrix));
            let message = |error: Option<laneval::Error>| error.map(|error| error.to_string());
            assert_eq!(
                message(before.err()),
                message(after.err()),
                "{tied} of {measure} under {view:?}"
            );
            refused += usize::from(evaluator_refuses(measure, tied, view));
        }
    }
    assert!(refused > 500, "{refused}");
    let reference = Evaluator::new(["AP"]).unwrap().with_engine(EngineChoice::Reference);
    assert!(reference.check_tied().is_ok());
    let error = reference.with_tied_value(TiedValue::Best).check_tied().unwrap_err().to_string();
    assert_eq!(error, "the reference has no best values of tied rankings: take another engine");
}

fn evaluator_refuses(measure: &Measure, tied: TiedValue, view: View) -> bool {
    Evaluator::from_measures(vec![measure.clone()])
        .with_tied_value(tied)
        .with_view(view)
        .check_tied()
        .is_err()
}

/// `-M` and `-J` change no value that is made of judgments alone, and no order does.
#[test]
fn what_no_order_changes_is_answered_also_where_rankings_are_cut() {
    let case = Case::new(6, 30, false);
    let matrix = join(Join::default(), &case.qrels(), &case.tied());
    let names = ["NumRel", "NumRel(rel=2)", "IDCG@3", "NumQ", "IDCG(gain={1:-1,2:3})"];
    let evaluator = Evaluator::new(names).unwrap().with_per_query(true);
    let evaluator = evaluator.with_view(View { depth: Some(2), judged_only: true });
    let ranked = evaluator.evaluate(&matrix).unwrap();
    for tied in VALUES {
        let found = evaluator.clone().with_tied_value(tied).evaluate(&matrix).unwrap();
        assert_eq!(values(&found), values(&ranked), "{tied}");
    }
}

/// The refusal for rankings that are cut follows from the request, and not from the places of
/// groups.
#[test]
fn whether_a_depth_cuts_a_group_decides_no_refusal() {
    let qrels = Qrels::new([("q", "a", 1.0), ("q", "b", 0.0)]).unwrap();
    let run = |scores: [f64; 3]| {
        ["a", "b", "c"]
            .into_iter()
            .zip(scores)
            .map(|(id, score)| ("q".to_owned(), id.to_owned(), score))
    };
    let view = View { depth: None, judged_only: true };
    let evaluator =
        Evaluator::new(["P@1"]).unwrap().with_tied_value(TiedValue::Best).with_view(view);
    let join_at = |depth: Option<u32>, scores| {
        let depth = depth.and_then(NonZeroU32::new);
        join(Join { depth, ..Join::default() }, &qrels, &run(scores).collect())
    };
    for scores in [[1.0, 1.0, 1.0], [1.0, 1.0, 0.0], [3.0, 2.0, 1.0]] {
        let error = evaluator.evaluate(&join_at(Some(2), scores)).unwrap_err().to_string();
        assert_eq!(
            error,
            "P@1: its best order under -M and -J together cannot be found without trying all of \
             them"
        );
        assert!(evaluator.evaluate(&join_at(None, scores)).is_ok());
    }
}
