//! Summaries of shards, merged in any order and association, give the bits of one pass; summaries
//! that do not belong together are refused.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use laneval::arrays::{Rankings, Shape};
use laneval::labels::{Codebook, Ids, Unmatched};
use laneval::measure::{Definition, JudgmentNeeds as Needs, MEASURES, Measure};
use laneval::parts::measure::Recipe;
use laneval::{
    Aggregation, DocIdRule, Error, Evaluator, ExcludedDocs, Groups, Input, Join, LabelMatrix,
    Notice, Qrels, QuerySet, RunInput, RunScores, ScoreType, Scores, Stat, StatName, Summary,
    TieBreak, View,
};
use proptest::prelude::*;

use crate::cases::{cases, some};
use crate::compared::views;
use crate::variants::{self, needs_no_groups};

/// The statistics that follow from a summary besides averages.
const STATS: [Stat; 3] = [Stat::Std, Stat::Min, Stat::Max];

/// Results: query, docno, score.
type Results = Vec<(String, String, f64)>;

/// Judgments (query, docno, grade), and the results of some runs by name.
#[derive(Debug, Clone)]
struct Data {
    judgments: Vec<(String, String, f64)>,
    runs: Vec<(String, Results)>,
}

impl Data {
    fn queries(&self) -> BTreeSet<&str> {
        self.judgments.iter().map(|(query, ..)| query.as_str()).collect()
    }

    /// Returns the data of the queries for which `wanted` is true.
    fn select(&self, wanted: impl Fn(&str) -> bool) -> Data {
        let selection = |rows: &[(String, String, f64)]| {
            rows.iter().filter(|(query, ..)| wanted(query)).cloned().collect::<Vec<_>>()
        };
        Data {
            judgments: selection(&self.judgments),
            runs: self
                .runs
                .iter()
                .map(|(name, results)| (name.clone(), selection(results)))
                .collect(),
        }
    }

    fn qrels(&self) -> Qrels {
        Qrels::new(self.judgments.iter().cloned()).unwrap()
    }

    fn matrix(&self) -> LabelMatrix {
        self.joined(&self.qrels())
    }

    fn joined(&self, qrels: &Qrels) -> LabelMatrix {
        let runs = self.runs.iter().filter(|(_, results)| !results.is_empty()).cloned();
        Join::default().rankings(qrels, runs).unwrap()
    }

    /// Returns whether one of the runs has no results.
    fn lacks_a_run(&self) -> bool {
        self.runs.iter().any(|(_, results)| results.is_empty())
    }
}

/// Data of a few queries, some with ids that are not text. If `even`, every query has a document of
/// the highest grade.
fn data(even: bool, grades: &'static [f64]) -> impl Strategy<Value = Data> {
    let query = (
        prop::collection::btree_map(0..12u8, 0..grades.len(), 1..7),
        prop::collection::vec(
            prop::option::weighted(0.8, prop::collection::btree_map(0..14u8, -3..6i8, 1..12)),
            3,
        ),
        prop::bool::weighted(0.85),
    );
    (prop::collection::vec(query, 1..14), 1..4usize).prop_map(move |(queries, runs)| {
        let mut data = Data {
            judgments: Vec::new(),
            runs: (0..runs).map(|run| (format!("run {run}"), Vec::new())).collect(),
        };
        let first = queries.iter().position(|(.., judged)| *judged).unwrap_or(0);
        for (number, (judgments, rankings, judged)) in queries.into_iter().enumerate() {
            let id = ["q", "é", "1", "q\u{fffd}", "long id "][number % 5].to_owned()
                + &number.to_string();
            if judged || number == first {
                let most = if even {
                    vec![("d0".to_owned(), grades[grades.len() - 1])]
                } else {
                    Vec::new()
                };
                let others = judgments.iter().filter(|(doc, _)| !even || **doc > 0);
                let others = others.map(|(doc, grade)| (format!("d{doc}"), grades[*grade]));
                data.judgments.extend(
                    most.into_iter().chain(others).map(|(doc, grade)| (id.clone(), doc, grade)),
                );
            }
            for (run, ranking) in data.runs.iter_mut().zip(rankings) {
                let results = ranking.into_iter().flatten();
                run.1.extend(
                    results.map(|(doc, score)| {
                        (id.clone(), format!("d{doc}"), f64::from(score) / 3.0)
                    }),
                );
            }
        }
        let judged: BTreeSet<String> = data.queries().into_iter().map(str::to_owned).collect();
        data.runs.retain(|(_, results)| results.iter().any(|(query, ..)| judged.contains(query)));
        if data.runs.is_empty() {
            let result = (data.judgments[0].0.clone(), "d1".to_owned(), 1.0);
            data.runs.push(("run 0".to_owned(), vec![result]));
        }
        data
    })
}

const GRADES: &[f64] = &[-1.0, 0.0, 1.0, 2.0, 2.5, 4.0];

/// Returns every measure that the grades of a matrix admit.
fn every_measure(matrix: &LabelMatrix) -> Vec<Measure> {
    let fits =
        |measure: &Measure| needs_no_groups(measure) && measure.recipe(matrix.codebook()).is_ok();
    variants::all().filter(|measure| fits(measure)).cloned().collect()
}

/// Returns the measures whose values are finite for this matrix under this view.
fn finite(measures: Vec<Measure>, matrix: &LabelMatrix, view: View) -> Vec<Measure> {
    let evaluator = Evaluator::from_measures(measures.clone()).with_view(view).with_stats(STATS);
    let scores = evaluator.with_per_query(true).allow_non_finite(true).evaluate(matrix).unwrap();
    let finite = |&at: &usize| {
        scores.runs.iter().all(|run| {
            let values = run.per_query.iter().flat_map(|per_query| &per_query.values[at]);
            values
                .chain(run.stats[at].iter().map(|(_, value)| value))
                .all(|value| value.is_finite())
        })
    };
    (0..measures.len()).filter(finite).map(|at| measures[at].clone()).collect()
}

fn takes_highest_grade(measure: &Measure) -> bool {
    (measure.definition().traits.highest_grade)(measure)
}

/// Returns the shards of some data: the queries of each number, if there are any. A run's queries
/// without judgments are with its first query.
fn shards(data: &Data, of_query: &[usize]) -> Vec<Data> {
    let judged = data.queries();
    let number = |query: &str| {
        judged
            .iter()
            .position(|candidate| *candidate == query)
            .map(|at| of_query[at % of_query.len()])
    };
    let numbers: BTreeSet<Option<usize>> = judged.iter().map(|query| number(query)).collect();
    let shard = |shard_number| {
        let mut shard = data.select(|query| number(query) == shard_number);
        for ((_, all), (_, part)) in data.runs.iter().zip(&mut shard.runs) {
            if all.iter().find_map(|(query, ..)| number(query)) == shard_number {
                part.extend(all.iter().filter(|(query, ..)| number(query).is_none()).cloned());
            }
        }
        shard
    };
    numbers.into_iter().map(shard).collect()
}

/// The way in which shards are put together, from a random number.
struct Order(u64);

impl Order {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    /// Returns the same summary, perhaps stored and read again.
    fn stored(&mut self, summary: Summary, hashes: bool) -> Summary {
        match self.below(if hashes { 4 } else { 3 }) {
            0 => summary,
            1 => {
                let read = Summary::from_bytes(&summary.to_bytes()).unwrap();
                assert!(read == summary, "bytes");
                read
            }
            2 => {
                let read = Summary::from_json(&summary.to_json()).unwrap();
                assert!(read == summary, "{}", summary.to_json());
                read
            }
            _ => summary.without_ids(),
        }
    }

    /// Merges all summaries, two at a time.
    fn merged(&mut self, mut summaries: Vec<Summary>, hashes: bool) -> Summary {
        while summaries.len() > 1 {
            let one = summaries.swap_remove(self.below(summaries.len()));
            let mut one = self.stored(one, hashes);
            let other = summaries.swap_remove(self.below(summaries.len()));
            one.merge(&self.stored(other, hashes)).unwrap();
            summaries.push(one);
        }
        summaries.pop().unwrap()
    }
}

/// Returns the parts of a run's scores that one pass and many shards have in common, in bits.
fn bits(run: &RunScores) -> impl PartialEq + std::fmt::Debug + use<> {
    let stats = run
        .stats
        .iter()
        .map(|stats| stats.iter().map(|&(name, value)| (name, value.to_bits())).collect());
    let stats: Vec<Vec<(StatName, u64)>> = stats.collect();
    let who = (run.name.clone(), run.group.clone(), run.tag.clone(), run.rule.clone());
    (
        who,
        run.queries,
        run.filled,
        run.missing.clone(),
        run.ignored.clone(),
        run.notices.clone(),
        stats,
    )
}

#[track_caller]
fn assert_same(one: &Scores, merged: &Scores) {
    assert_eq!((&one.measures, one.settings), (&merged.measures, merged.settings));
    assert_eq!(one.notices, merged.notices);
    let runs = |scores: &Scores| scores.runs.iter().map(bits).collect::<Vec<_>>();
    assert_eq!(runs(one), runs(merged));
}

/// Mean or sum, std, min and max in two plain passes over the values of the queries.
fn assert_two_passes(scores: &Scores) {
    for run in &scores.runs {
        let values = &run.per_query.as_ref().unwrap().values;
        for (at, (measure, values)) in scores.measures.iter().zip(values).enumerate() {
            let count = values.len() as f64;
            let sum: f64 = values.iter().sum();
            let mean = sum / count;
            let square = |value: &f64| (value - mean) * (value - mean);
            let std = (values.iter().map(square).sum::<f64>() / (count - 1.0)).sqrt();
            let logarithms = values.iter().map(|value| value.max(0.00001).ln()).sum::<f64>();
            let scale = values.iter().fold(1.0, |most: f64, value| most.max(value.abs()));
            for (name, expected) in [
                (StatName::Mean, mean),
                (StatName::Sum, sum),
                (StatName::GeometricMean, (logarithms / count).exp()),
                (StatName::Std, std),
                (StatName::Min, values.iter().copied().fold(f64::INFINITY, f64::min)),
                (StatName::Max, values.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
            ] {
                if let Some(found) = run.stat(at, name) {
                    let near = (found - expected).abs()
                        <= 1e-12 * scale * if name == StatName::Sum { count } else { 1.0 };
                    assert!(near, "{measure}, {name}: {found}, not {expected}: {values:?}");
                }
            }
            let names: Vec<StatName> = run.stats[at].iter().map(|(name, _)| *name).collect();
            let average = measure.definition().average.name();
            match values.len() {
                0 => assert_eq!(names, []),
                1 => assert_eq!(names, [average, StatName::Min, StatName::Max]),
                _ => assert_eq!(names, [average, StatName::Std, StatName::Min, StatName::Max]),
            }
        }
    }
}

/// Returns the scores of one pass over all data.
fn one_pass(evaluator: &Evaluator, matrix: &LabelMatrix) -> Scores {
    let evaluator = evaluator.clone().with_stats(STATS).with_missing_ids(true).with_per_query(true);
    let scores = evaluator.evaluate(matrix).unwrap();
    assert_two_passes(&scores);
    scores
}

/// Some of the measures, always with some that are averaged differently.
fn picked(all: &[Measure], pick: u64) -> Vec<Measure> {
    let mut order = Order(pick);
    let few = ["AP", "NumRet", "GMAP", "nDCG@3", "ERR(gmax=4)"]
        .map(|name| name.parse::<Measure>().unwrap());
    let mut measures: Vec<Measure> =
        few.into_iter().filter(|measure| all.contains(measure)).collect();
    for _ in 0..40 {
        let measure = &all[order.below(all.len())];
        if !measures.contains(measure) {
            measures.push(measure.clone());
        }
    }
    measures
}

/// Returns the numbers of the shards of queries.
fn numbers() -> impl Strategy<Value = Vec<usize>> {
    prop_oneof![Just(1usize), Just(2), Just(7)]
        .prop_flat_map(|many| prop::collection::vec(0..many, 14))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(24),
        max_shrink_iters: 60,
        ..ProptestConfig::default()
    })]

    /// The judgments are split as the runs are; the queries of shards in which a run has no line
    /// are added. If every shard has a document of the highest grade, measures that depend on it
    /// are among the measures.
    #[test]
    fn shards_of_qrels_and_runs_add_up(
        (data, even) in any::<bool>().prop_flat_map(|even| (data(even, GRADES), Just(even))),
        of_query in numbers(), view in views(), pick: u64, seeds: [u64; 2],
    ) {
        let matrix = data.matrix();
        let mut measures = every_measure(&matrix);
        measures.retain(|measure| even || !takes_highest_grade(measure));
        let evaluator =
            Evaluator::from_measures(finite(picked(&measures, pick), &matrix, view))
                .with_view(view);
        let expected = one_pass(&evaluator, &matrix);
        let whole = evaluator.summary(&matrix).unwrap();
        assert_same(&expected, &whole.scores(&STATS).unwrap());
        let shards = shards(&data, &of_query);
        let lacking = shards.iter().any(Data::lacks_a_run);
        let summaries: Vec<Summary> =
            shards.iter().map(|shard| evaluator.summary(&shard.matrix()).unwrap()).collect();
        let [one, other] = seeds.map(|seed| Order(seed).merged(summaries.clone(), false));
        prop_assert!(one == other);
        let hashed = Order(seeds[0] ^ seeds[1]).merged(summaries, true);
        prop_assert_eq!(hashed.clone().without_ids(), one.clone().without_ids());
        for mut merged in [one, hashed] {
            let parts: u64 = merged.runs().map(|(.., run)| run.parts()).sum();
            prop_assert_eq!(parts == (data.runs.len() * shards.len()) as u64, !lacking);
            if lacking {
                merged.add_missing(&data.qrels()).unwrap();
            }
            let mut scores = merged.scores(&STATS).unwrap();
            scores.runs.sort_by(|one, other| one.name.cmp(&other.name));
            assert_same(&expected, &scores);
            for ((name, _, of_one), (_, _, of_all)) in whole.runs().zip(merged.runs()) {
                prop_assert_eq!(of_one.count(), of_all.count());
                prop_assert_eq!(of_one.queries().sum(), of_all.queries().sum(), "{}", name);
                prop_assert_eq!(of_one.queries().hashes(), of_all.queries().hashes());
                let print = of_all.fingerprints().fold(0u128, u128::wrapping_add);
                prop_assert_eq!(of_one.fingerprints().collect::<Vec<_>>(), [print]);
            }
        }
    }

    /// Every shard has all judgments; a run that has no line in a shard is left out of it.
    #[test]
    fn shards_against_all_qrels_add_up(
        data in data(false, GRADES),
        of_query in numbers(),
        view in views(),
        pick: u64,
        seeds: [u64; 2],
    ) {
        let (qrels, matrix) = (data.qrels(), data.matrix());
        let evaluator =
            Evaluator::from_measures(finite(picked(&every_measure(&matrix), pick), &matrix, view))
            .with_view(view);
        let both = evaluator.clone().with_queries(QuerySet::Common);
        let summaries = shards(&data, &of_query)
            .into_iter()
            .map(|shard| both.summary(&shard.joined(&qrels)).unwrap());
        let summaries: Vec<Summary> = summaries.collect();
        let [mut one, other] = seeds.map(|seed| Order(seed).merged(summaries.clone(), false));
        prop_assert!(one == other);
        let mut hashed = Order(seeds[0] ^ seeds[1]).merged(summaries, true);
        let by_name = |mut scores: Scores| {
            scores.runs.sort_by(|one, other| one.name.cmp(&other.name));
            scores
        };
        let found = by_name(one.scores(&STATS).unwrap());
        let mut expected = one_pass(&both, &matrix);
        expected.runs.retain(|run| found.run(&run.name).is_some());
        for (run, found) in expected.runs.iter_mut().zip(&found.runs) {
            // The queries that are in no shard are not known, but their number is.
            prop_assert_eq!(run.missing.count, found.missing.count);
            run.missing = found.missing.clone();
        }
        assert_same(&expected, &found);
        let mut expected = one_pass(&evaluator, &matrix);
        expected.runs.retain(|run| found.run(&run.name).is_some());
        for merged in [&mut one, &mut hashed] {
            merged.add_missing(&qrels).unwrap();
            assert_same(&expected, &by_name(merged.scores(&STATS).unwrap()));
            for (_, _, run) in merged.runs() {
                prop_assert_eq!(run.fingerprints().collect::<Vec<_>>(), [qrels.fingerprint()]);
                prop_assert_eq!(
                    run.queries().sum(),
                    evaluator.summary(&matrix).unwrap().runs().next().unwrap().2.queries().sum()
                );
            }
            let again = merged.clone();
            merged.add_missing(&qrels).unwrap();
            prop_assert_eq!(&again, &*merged);
        }
        prop_assert_eq!(one.without_ids(), hashed.without_ids());
    }

    /// Groups, and chosen queries, are evaluated as if there were no other queries.
    #[test]
    fn a_group_is_as_a_matrix_of_its_queries(
        data in data(false, GRADES),
        groups in prop::collection::vec(prop::collection::btree_set(0..3usize, 0..3), 14),
        only in prop::collection::vec(any::<bool>(), 14),
        set in prop_oneof![Just(QuerySet::Judged), Just(QuerySet::Common)],
        pick: u64,
    ) {
        let matrix = data.matrix();
        let mut measures = every_measure(&matrix);
        measures.retain(|measure| !takes_highest_grade(measure));
        let evaluator =
            Evaluator::from_measures(finite(picked(&measures, pick), &matrix, View::default()))
            .with_queries(set)
            .with_stats(Stat::ALL.map(|(_, stat)| stat))
            .with_per_query(true)
            .with_missing_ids(true);
        let queries: Vec<&str> = data.queries().into_iter().collect();
        let chosen: Vec<&str> =
            queries.iter().zip(&only).filter(|(_, only)| **only).map(|(query, _)| *query).collect();
        let named = ["a", "b", "c"];
        let pairs = queries
            .iter()
            .zip(&groups)
            .flat_map(|(query, own)| own.iter().map(|&group| (*query, named[group])));
        let pairs: Vec<(&str, &str)> = pairs.collect();
        let alone = |wanted: &[&str]| {
            let part = data.select(|query| wanted.contains(&query));
            evaluator.evaluate(&part.matrix()).unwrap()
        };
        let same = |run: &RunScores, expected: &RunScores| {
            let values = |run: &RunScores| {
                let per_query = run.per_query.clone().unwrap();
                let bits: Vec<Vec<u64>> = per_query
                    .values
                    .iter()
                    .map(|values| values.iter().map(|value| value.to_bits()).collect())
                    .collect();
                (per_query.queries, bits)
            };
            prop_assert_eq!(values(run), values(expected));
            let (mut run, mut expected) = (run.clone(), expected.clone());
            for run in [&mut run, &mut expected] {
                // The ignored queries of the whole run are those of all queries.
                (run.group, run.ignored) = (None, Unmatched::default());
                run.notices.retain(|notice| *notice == Notice::OneQuery);
            }
            prop_assert_eq!(bits(&run), bits(&expected));
            Ok(())
        };
        let with_groups = evaluator.clone().with_groups(Some(Groups::new(pairs.clone()).unwrap()));
        let scores = with_groups.evaluate(&matrix).unwrap();
        let of_all = evaluator.evaluate(&matrix).unwrap();
        let no_group =
            groups.iter().take(queries.len()).filter(|own| own.is_empty()).count() as u64;
        prop_assert_eq!(
            scores.notices.contains(&Notice::Ungrouped { queries: no_group }),
            no_group > 0
        );
        for run in &of_all.runs {
            same(scores.run(&run.name).unwrap(), run)?;
        }
        for group in named {
            let wanted: Vec<&str> =
                pairs.iter().filter(|(_, own)| *own == group).map(|(query, _)| *query).collect();
            if wanted.is_empty() {
                prop_assert!(scores.group("run 0", group).is_none());
                continue;
            }
            for run in &alone(&wanted).runs {
                same(scores.group(&run.name, group).unwrap(), run)?;
            }
        }
        let ids =
            |queries: &[&str]| queries.iter().rev().map(|query| query.as_bytes()).collect::<Ids>();
        let filter = ids(&[&chosen[..], &["none", "neither", "none"]].concat());
        let narrow = evaluator.clone().with_query_filter(Some(filter));
        match narrow.evaluate(&matrix) {
            Err(error) => {
                prop_assert_eq!(error.to_string(), "none of the chosen queries is judged");
                prop_assert!(chosen.is_empty());
            }
            Ok(scores) => {
                prop_assert!(
                    scores.notices.contains(&Notice::SelectedNotJudged { queries: 2 }),
                    "{:?}",
                    scores.notices
                );
                for run in &alone(&chosen).runs {
                    same(scores.run(&run.name).unwrap(), run)?;
                }
                // Groups of the chosen queries.
                let scores = narrow
                    .clone()
                    .with_groups(Some(Groups::new(pairs.clone()).unwrap()))
                    .evaluate(&matrix)
                    .unwrap();
                for group in named {
                    let wanted: Vec<&str> = pairs
                        .iter()
                        .filter(|(query, own)| *own == group && chosen.contains(query))
                        .map(|(query, _)| *query)
                        .collect();
                    if !wanted.is_empty() {
                        for run in &alone(&wanted).runs {
                            same(scores.group(&run.name, group).unwrap(), run)?;
                        }
                    }
                }
            }
        }
        // Shards of groups add up too.
        let summary = |part: &Data| with_groups.summary(&part.matrix()).unwrap();
        let halves = [0, 1].map(|half| {
            data.select(|query| {
                queries.iter().position(|other| *other == query).is_some_and(|at| at % 2 == half)
            })
        });
        if let [one, other] = &halves
            && set == QuerySet::Judged
            && !other.judgments.is_empty()
            && !one.lacks_a_run()
            && !other.lacks_a_run()
        {
            let mut merged = summary(one);
            merged.merge(&summary(other)).unwrap();
            let merged = merged.scores(&STATS).unwrap();
            let whole = with_groups
                .clone()
                .with_stats(STATS)
                .with_per_query(false)
                .evaluate(&data.select(|query| queries.contains(&query)).matrix())
                .unwrap();
            prop_assert_eq!(
                whole.runs.iter().map(bits).collect::<Vec<_>>(),
                merged.runs.iter().map(bits).collect::<Vec<_>>()
            );
        }
    }
}

/// Queries that are judged with one grade, and a run that has some of them.
fn plain(queries: &[&str], grade: f64) -> Data {
    let judgments = queries.iter().flat_map(|query| {
        [("a", grade), ("b", 0.0)].map(|(doc, value)| (query.to_string(), doc.to_owned(), value))
    });
    let results = queries.iter().flat_map(|query| {
        [("b", 2.0), ("a", 1.0)].map(|(doc, score)| (query.to_string(), doc.to_owned(), score))
    });
    Data { judgments: judgments.collect(), runs: vec![("mine".to_owned(), results.collect())] }
}

#[test]
fn a_thousand_shards_add_up() {
    let names: Vec<String> = (0..1000).map(|number| format!("q{number}")).collect();
    let mut data = plain(&names.iter().map(String::as_str).collect::<Vec<_>>(), 2.0);
    let mut order = Order(1);
    data.runs.push(("other".to_owned(), Vec::new()));
    for name in &names {
        let results = (0..order.below(4))
            .map(|doc| (name.clone(), ["a", "b", "c"][doc].to_owned(), order.below(3) as f64));
        data.runs[1].1.extend(results.collect::<Vec<_>>());
    }
    let qrels = data.qrels();
    let evaluator = Evaluator::new(["AP", "nDCG", "GMAP", "ERR", "NumRelRet"]).unwrap();
    let both = evaluator.clone().with_queries(QuerySet::Common);
    let expected = one_pass(&evaluator, &data.matrix());
    let (mut split, mut against) = (Vec::new(), Vec::new());
    for name in &names {
        let part = data.select(|query| query == name);
        split.push(evaluator.summary(&part.matrix()).unwrap());
        against.push(both.summary(&part.joined(&qrels)).unwrap());
    }
    let mut split = Order(2).merged(split, true);
    split.add_missing(&qrels).unwrap();
    let mut against = Order(3).merged(against, true);
    against.add_missing(&qrels).unwrap();
    for merged in [split, against] {
        assert!(
            merged
                .runs()
                .all(|(name, _, run)| run.count() == 1000
                    && (run.parts() == 1000) == (name == "mine"))
        );
        assert_same(&expected, &merged.scores(&STATS).unwrap());
    }
}

#[test]
fn every_measure_adds_up() {
    let names = ["1", "2", "3", "4", "5"];
    let mut data = plain(&names, 4.0);
    data.judgments.extend(
        names
            .iter()
            .enumerate()
            .map(|(at, name)| (name.to_string(), "c".to_owned(), at as f64 / 2.0)),
    );
    data.runs[0].1.extend(names.iter().skip(1).map(|name| (name.to_string(), "c".to_owned(), 1.5)));
    let matrix = data.matrix();
    let measures = finite(every_measure(&matrix), &matrix, View::default());
    assert!(measures.iter().any(takes_highest_grade));
    assert!(
        measures
            .iter()
            .any(|measure| matches!(measure.recipe(matrix.codebook()), Ok(Recipe::Walk { .. })))
    );
    let rows: BTreeSet<&str> = measures.iter().map(|measure| measure.definition().name).collect();
    let over_groups = |row: &&Definition| matches!(row.traits.input, Needs::Facets(_));
    assert_eq!(
        rows.len(),
        MEASURES.len() - MEASURES.iter().filter(over_groups).count(),
        "{rows:?}"
    );
    let evaluator = Evaluator::from_measures(measures);
    let shards =
        names.map(|name| evaluator.summary(&data.select(|query| query == name).matrix()).unwrap());
    let merged = Order(5).merged(shards.to_vec(), true);
    assert_same(&one_pass(&evaluator, &matrix), &merged.scores(&STATS).unwrap());
}

#[test]
fn scores_are_found_by_name_and_listed_as_rows() {
    let mut data = plain(&["q1", "q2", "q3"], 2.0);
    let fewer = data.select(|query| query != "q2").runs.remove(0).1;
    data.runs.push(("less".to_owned(), fewer));
    let evaluator = Evaluator::new(["AP", "NumRet", "map", "GMAP"]).unwrap();
    let groups = Groups::new([("q1", "one"), ("q3", "two"), ("q2", "two")]).unwrap();
    let evaluator =
        evaluator.with_stats([Stat::Min]).with_per_query(true).with_groups(Some(groups));
    let scores = evaluator.evaluate(&data.matrix()).unwrap();
    assert_eq!(
        (scores.place("AP"), scores.place("map"), scores.place("NumRet")),
        (Some(0), Some(0), Some(1))
    );
    assert_eq!((scores.place("RR"), scores.place("nonesuch")), (None, None));
    assert_eq!(scores.average("mine", "AP"), Some(0.5));
    assert_eq!(scores.average("less", "num_ret"), Some(4.0));
    assert_eq!((scores.average("mine", "RR"), scores.average("none", "AP")), (None, None));
    assert_eq!(
        (scores.run("less").unwrap().queries, scores.run("less").unwrap().missing.count),
        (3, 1)
    );
    assert_eq!(scores.group("less", "two").unwrap().average(0), Some(0.25));
    assert!(scores.group("less", "three").is_none() && scores.group("none", "two").is_none());
    assert!(scores.run("two").is_none());
    let rows: Vec<String> = scores
        .rows()
        .filter(|row| row.run == "less" && row.measure.to_string() != "GMAP")
        .map(|row| {
            let query = String::from_utf8(row.query.unwrap_or(b"-").to_vec()).unwrap();
            format!(
                "{} {query} {} {} {}",
                row.group.unwrap_or("-"),
                row.measure,
                row.stat,
                row.value
            )
        })
        .collect();
    let of_query = |group: &str, query: &str, ap: f64, ret: f64| {
        vec![
            format!("{group} {query} AP value {ap}"),
            format!("{group} {query} NumRet value {ret}"),
            format!("{group} {query} AP value {ap}"),
        ]
    };
    let of_all = |group: &str, ap: f64, ret: f64, least: [f64; 2]| {
        let ap = [format!("{group} - AP mean {ap}"), format!("{group} - AP min {}", least[0])];
        [
            &ap[..],
            &[format!("{group} - NumRet sum {ret}"), format!("{group} - NumRet min {}", least[1])],
            &ap[..],
        ]
        .concat()
    };
    let expected = [
        of_query("-", "q1", 0.5, 2.0),
        of_query("-", "q2", 0.0, 0.0),
        of_query("-", "q3", 0.5, 2.0),
        of_all("-", 1.0 / 3.0, 4.0, [0.0, 0.0]),
        of_query("one", "q1", 0.5, 2.0),
        of_all("one", 0.5, 2.0, [0.5, 2.0]),
        of_query("two", "q2", 0.0, 0.0),
        of_query("two", "q3", 0.5, 2.0),
        of_all("two", 0.25, 2.0, [0.0, 0.0]),
    ];
    assert_eq!(rows, expected.concat());
}

/// The way in which one summary differs from another.
struct How {
    measures: &'static [&'static str],
    queries: QuerySet,
    view: View,
    join: Join,
}

impl How {
    fn usual() -> Self {
        How {
            measures: &["AP", "ERR(gmax=auto)"],
            queries: QuerySet::Judged,
            view: View::default(),
            join: Join::default(),
        }
    }

    fn summary(&self, queries: &[&str], grade: f64) -> Summary {
        let data = plain(queries, grade);
        let matrix = self.join.rankings(&data.qrels(), data.runs).unwrap();
        let evaluator = Evaluator::new(self.measures.iter().copied()).unwrap();
        evaluator.with_queries(self.queries).with_view(self.view).summary(&matrix).unwrap()
    }
}

#[track_caller]
fn refused(one: &mut Summary, other: &Summary) -> String {
    let before = one.clone();
    let error = one.merge(other).unwrap_err();
    assert!(matches!(error, Error::Merge(_)), "{error:?}");
    assert_eq!(*one, before);
    let mut turned = other.clone();
    assert!(matches!(turned.merge(one), Err(Error::Merge(_))));
    assert_eq!(turned, *other);
    error.to_string()
}

#[test]
fn what_does_not_belong_together_is_refused_by_its_parameter() {
    let mut one = How::usual().summary(&["q1", "q2"], 4.0);
    let depth = |depth| View { depth: Some(depth), judged_only: false };
    let cut_join = |limit: u32| Join { depth: std::num::NonZeroU32::new(limit), ..Join::default() };
    for (how, parts) in [
        (
            How { measures: &["AP"], ..How::usual() },
            ["measures differ (AP,ERR(gmax=auto) and AP)", "-m"],
        ),
        (
            How { measures: &["AP", "ERR(gmax=4)"], ..How::usual() },
            ["(AP,ERR(gmax=auto) and AP,ERR)", "-m"],
        ),
        (
            How { measures: &["ERR(gmax=auto)", "AP"], ..How::usual() },
            ["(AP,ERR(gmax=auto) and ERR(gmax=auto),AP)", "same order"],
        ),
        (How { queries: QuerySet::Common, ..How::usual() }, ["(judged and common)", "--queries"]),
        (
            How { queries: QuerySet::RequireAll, ..How::usual() },
            ["(judged and require-all)", "--queries"],
        ),
        (How { view: depth(3), ..How::usual() }, ["(all ranks and the first 3 ranks)", "-M"]),
        (
            How { view: View { judged_only: true, ..View::default() }, ..How::usual() },
            ["(all and judged only)", "-J"],
        ),
        (
            How { join: Join { ties: TieBreak::Input, ..Join::default() }, ..How::usual() },
            ["mine: the orders of equal scores differ (docno-desc and input)", "--ties"],
        ),
        (
            How { join: Join { score: ScoreType::F32, ..Join::default() }, ..How::usual() },
            ["mine: the score types differ (f64 and f32)", "--score-type"],
        ),
        (
            How { join: cut_join(7), ..How::usual() },
            ["mine: the depths differ (all ranks and the first 7 ranks)", "-M"],
        ),
    ] {
        let error = refused(&mut one, &how.summary(&["q3"], 4.0));
        assert!(parts.iter().all(|part| error.contains(part)), "{parts:?} are not in: {error}");
    }
    let error = refused(&mut one, &How::usual().summary(&["q3"], 2.0));
    let expected = "mine: ERR(gmax=auto) takes the highest grade of the judgments, which is 4 here \
                    and 2 there: set gmax=4 in all";
    assert!(error.contains(expected), "{error}");
    one.merge(&How::usual().summary(&["q3"], 4.0)).unwrap();
}

#[test]
fn a_run_of_another_name_is_no_conflict_of_rules() {
    let mut one = How::usual().summary(&["q1"], 4.0);
    let mut other = plain(&["q2"], 2.0);
    other.runs[0].0 = "theirs".to_owned();
    let evaluator = Evaluator::new(["AP", "ERR(gmax=auto)"]).unwrap();
    one.merge(&evaluator.summary(&other.matrix()).unwrap()).unwrap();
    let scores = one.scores(&STATS).unwrap();
    assert_eq!(
        scores.runs.iter().map(|run| run.name.as_str()).collect::<Vec<_>>(),
        ["mine", "theirs"]
    );
    assert_eq!(scores.runs.iter().map(|run| run.queries).collect::<Vec<_>>(), [1, 1]);
}

#[test]
fn a_query_in_two_shards_is_counted_and_named() {
    let [first, second, third] = [&["q1", "q2", "q3"][..], &["q3", "q4", "q2"], &["q5"]]
        .map(|queries| How::usual().summary(queries, 4.0));
    let mut first = first.from_source("one.part");
    let (second, third) = (second.from_source("two.part"), third.from_source("three.part"));
    first.merge(&third).unwrap();
    let error = refused(&mut first, &second);
    assert_eq!(
        error,
        "mine: 2 queries are counted twice (q2, q3): in one.part, three.part and in two.part"
    );
    // With hashes the number is known, and the names if one side has them.
    let hashed = refused(&mut first.clone().without_ids(), &second.clone().without_ids());
    assert_eq!(
        hashed,
        "mine: 2 queries are counted twice: in one.part, three.part and in two.part"
    );
    let named = refused(&mut first.clone().without_ids(), &second);
    assert!(
        named.contains("2 queries are counted twice (q")
            && named.contains("q2")
            && named.contains("q3"),
        "{named}"
    );
    let one = refused(&mut third.clone(), &third.clone().without_ids());
    assert_eq!(one, "mine: 1 query is counted twice (q5): in three.part and in three.part");
    let error = first.append(&third).unwrap_err();
    assert!(error.to_string().contains("two runs have the name mine"), "{error}");
}

#[test]
fn a_later_run_that_conflicts_leaves_the_earlier_ones_alone() {
    let data = |queries: [&[&str]; 2]| {
        let [one, mut other] = queries.map(|queries| plain(queries, 1.0));
        let mut judgments: BTreeMap<(String, String), f64> = BTreeMap::new();
        for (query, doc, grade) in one.judgments.into_iter().chain(other.judgments) {
            judgments.insert((query, doc), grade);
        }
        other.runs[0].0 = "zz".to_owned();
        let judgments =
            judgments.into_iter().map(|((query, doc), grade)| (query, doc, grade)).collect();
        Data { judgments, runs: one.runs.into_iter().chain(other.runs).collect() }
    };
    let evaluator = Evaluator::new(["AP"]).unwrap().with_queries(QuerySet::Common);
    let mut one = evaluator.summary(&data([&["q1"], &["q1", "q2"]]).matrix()).unwrap();
    let other = evaluator.summary(&data([&["q2"], &["q2"]]).matrix()).unwrap();
    assert!(refused(&mut one, &other).contains("zz: 1 query is counted twice (q2)"));
}

#[test]
fn missing_queries_are_added_only_where_they_are_known() {
    let both = |measures| How { measures, queries: QuerySet::Common, ..How::usual() };
    let data = plain(&["q1", "q2", "q3"], 4.0);
    #[track_caller]
    fn refuses(summary: &Summary, qrels: &Qrels, part: &str) {
        let mut tried = summary.clone();
        let error = tried.add_missing(qrels).unwrap_err();
        assert!(matches!(error, Error::Merge(_)), "{error:?}");
        assert!(error.to_string().contains(part), "{error}");
        assert_eq!(tried, *summary);
    }
    let summary = both(&["AP", "ERR(gmax=auto)"]).summary(&["q1"], 4.0);
    refuses(
        &summary,
        &plain(&["q2", "q3"], 4.0).qrels(),
        "mine: 1 of its queries is not in these judgments",
    );
    refuses(
        &both(&["AP"]).summary(&["q1", "q2"], 4.0),
        &plain(&["q3"], 4.0).qrels(),
        "2 of its queries are not",
    );
    refuses(
        &summary.clone().without_ids(),
        &plain(&["q2"], 4.0).qrels(),
        "1 of its queries is not",
    );
    refuses(&summary, &plain(&["q1", "q2"], 2.0).qrels(), "ERR(gmax=auto) takes the highest grade");
    let groups = Groups::new([("q1", "g")]).unwrap();
    let grouped = Evaluator::new(["AP"]).unwrap().with_groups(Some(groups));
    refuses(&grouped.summary(&data.matrix()).unwrap(), &data.qrels(), "groups");
    let mut unknown: serde_json::Value = serde_json::from_str(&summary.to_json()).unwrap();
    for known in [
        serde_json::json!({"unnamed": {"count": 1}}),
        serde_json::json!({"sum": {"count": 1, "sum": "0".repeat(32)}}),
    ] {
        unknown["queries"][0] = known;
        let mut unknown = Summary::from_json(&unknown.to_string()).unwrap();
        refuses(&unknown, &data.qrels(), "too many to be known, or have no ids");
        unknown.merge(&summary).unwrap();
        let notices = unknown.scores(&[]).unwrap().runs[0].notices.clone();
        assert!(notices.contains(&Notice::OverlapNotChecked), "{notices:?}");
    }
    let mut whole = summary;
    whole.add_missing(&data.qrels()).unwrap();
    assert_eq!(
        (whole.queries(), whole.scores(&[]).unwrap().average("mine", "AP")),
        (QuerySet::Judged, Some(0.5 / 3.0))
    );
}

/// Missing queries must come from the judgments of the shards, not from others for the same
/// queries.
#[test]
fn missing_queries_come_from_the_judgments_of_the_shards() {
    let evaluator = Evaluator::new(["AP"]).unwrap().with_queries(QuerySet::Common);
    let data = plain(&["q1", "q2", "q3"], 2.0);
    let part = data.select(|query| query == "q1");
    let summary = evaluator.summary(&part.joined(&data.qrels())).unwrap();
    let mut corrected = data.clone();
    corrected.judgments[0].2 = 1.0;
    let mut tried = summary.clone();
    let error = tried.add_missing(&corrected.qrels()).unwrap_err();
    assert!(error.to_string().contains("not the judgments of the shards"), "{error}");
    assert_eq!(tried, summary);
}

/// Groups in one shard and none in the other would be groups of some of their queries.
#[test]
fn groups_are_in_all_shards_or_in_none() {
    let evaluator = Evaluator::new(["AP"]).unwrap();
    let [one, other] = [&["q1"][..], &["q2"]].map(|queries| plain(queries, 2.0).matrix());
    let grouped =
        evaluator.clone().with_groups(Some(Groups::new([("q1", "g"), ("q2", "g")]).unwrap()));
    let error = refused(&mut grouped.summary(&one).unwrap(), &evaluator.summary(&other).unwrap());
    assert!(error.contains("--group-by"), "{error}");
    let mut merged = grouped.summary(&one).unwrap();
    merged.merge(&grouped.summary(&other).unwrap()).unwrap();
    assert_eq!(merged.scores(&[]).unwrap().group("mine", "g").unwrap().queries, 2);
}

/// A file of another kind is known by its first bytes: it may have any size.
#[test]
fn files_of_something_else_are_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("huge");
    std::fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    let error = Summary::read(&path).unwrap_err().to_string();
    assert!(error.ends_with("huge: it is not a summary of laneval"), "{error}");
}

#[test]
fn runs_of_one_name_have_no_summary() {
    let mut data = plain(&["q1"], 1.0);
    data.runs.push(data.runs[0].clone());
    let error = Evaluator::new(["AP"]).unwrap().summary(&data.matrix()).unwrap_err().to_string();
    assert!(
        error.contains("two runs have the name mine") && error.contains("name=path"),
        "{error}"
    );
}

#[test]
fn statistics_that_need_all_values_are_refused() {
    let summary = How::usual().summary(&["q1", "q2"], 4.0);
    for stat in [Stat::Median, Stat::Ci95] {
        let error = summary.scores(&[Stat::Std, stat]).unwrap_err().to_string();
        assert!(error.contains(&format!("{stat} needs the values of all queries")), "{error}");
    }
}

/// A run may have the same queries without judgments in every shard, for example if only the
/// judgments were split.
#[test]
fn queries_that_every_shard_ignores_are_kept_and_read_again() {
    let data = plain(&["q1", "q2", "q3"], 2.0);
    let evaluator = Evaluator::new(["AP"]).unwrap();
    let of_part = |wanted: &str| {
        let qrels = data.select(|query| query == wanted).qrels();
        evaluator.summary(&data.joined(&qrels)).unwrap()
    };
    let merged = Order(9).merged(["q1", "q2", "q3"].map(of_part).to_vec(), false);
    assert_eq!(Summary::from_bytes(&merged.to_bytes()).unwrap(), merged);
    assert_eq!(Summary::from_json(&merged.to_json()).unwrap(), merged);
    let scores = merged.scores(&[]).unwrap();
    // Each part ignores the two queries of the others, and all together none.
    assert_eq!((scores.average("mine", "AP"), scores.runs[0].ignored.count), (Some(0.5), 0));
}

/// Two shards with a bit of everything: two runs, groups, a missing and an ignored query, a measure
/// of every average.
fn sound() -> [Summary; 2] {
    let names = ["q1", "q2", "q3", "q4"];
    let mut data = plain(&names, 2.0);
    let mut other = data.select(|query| query != "q2").runs.remove(0).1;
    other.push(("q9".to_owned(), "a".to_owned(), 0.1));
    data.runs.push(("other".to_owned(), other));
    let groups = Groups::new([("q1", "g"), ("q3", "g"), ("q4", "h")]).unwrap();
    let evaluator = Evaluator::new(["AP", "GMAP", "NumRet", "ERR(gmax=auto)"])
        .unwrap()
        .with_groups(Some(groups));
    [&["q1", "q2", "q9"][..], &["q3", "q4"]].map(|queries| {
        evaluator.summary(&data.select(|query| queries.contains(&query)).matrix()).unwrap()
    })
}

/// Uses a summary in every way: none may panic.
fn use_it(summary: &Summary, sound: &Summary) {
    let _ = summary
        .scores(&STATS)
        .map(|scores| (scores.rows().count(), laneval::report::notes(&scores).len()));
    let _ = summary.scores(&[Stat::Median]);
    assert!(Summary::from_bytes(&summary.to_bytes()).unwrap() == *summary);
    assert!(Summary::from_json(&summary.to_json()).unwrap() == *summary);
    for (_, _, run) in summary.runs() {
        let _ = (
            run.count(),
            run.parts(),
            run.rule(),
            run.sources().count(),
            run.fingerprints().count(),
        );
        let _ = (run.queries().sum(), run.queries().hashes(), run.queries().ids());
    }
    for (one, other) in [(summary, sound), (sound, summary), (summary, summary)] {
        for other in [other.clone(), other.clone().without_ids()] {
            let mut merged = one.clone();
            if merged.merge(&other).is_ok() {
                let _ = merged.scores(&STATS);
                assert!(Summary::from_bytes(&merged.to_bytes()).unwrap() == merged);
            }
            let _ = one.clone().append(&other);
        }
    }
    let _ = summary.clone().add_missing(&plain(&["q1", "q2", "q3"], 2.0).qrels());
}

/// Reads a forged summary as JSON and as bytes: refused, or used without a panic.
fn survives(forged: &serde_json::Value, sound: &Summary) -> bool {
    match Summary::from_json(&forged.to_string()) {
        Ok(summary) => {
            use_it(&summary, sound);
            true
        }
        Err(error) => {
            assert!(matches!(error, Error::Summary(_)), "{error:?}");
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

#[test]
fn bytes_that_were_cut_or_changed_are_refused() {
    let bytes = sound()[0].to_bytes();
    for end in 0..bytes.len() {
        assert!(matches!(Summary::from_bytes(&bytes[..end]), Err(Error::Summary(_))), "{end}");
    }
    for at in 0..8 * bytes.len() {
        let mut changed = bytes.clone();
        changed[at / 8] ^= 1 << (at % 8);
        assert!(matches!(Summary::from_bytes(&changed), Err(Error::Summary(_))), "{at}");
    }
    let longer = with_checksum([&bytes[28..], &[0]].concat());
    assert!(Summary::from_bytes(&longer).unwrap_err().to_string().contains("1 bytes too many"));
    let mut later = bytes;
    later[16] = 2;
    let error = Summary::from_bytes(&later).unwrap_err().to_string();
    assert!(
        error.contains(
            "it has version 2, and this laneval reads version 1 at most: read it with a newer"
        ),
        "{error}"
    );
}

/// Returns the bytes of a summary with this body and the checksum that belongs to it.
fn with_checksum(body: Vec<u8>) -> Vec<u8> {
    let hash = xxhash_rust::xxh3::xxh3_64(&body).to_le_bytes();
    [b"laneval\0summary\n", &1u32.to_le_bytes()[..], &hash, &body].concat()
}

/// Returns a summary with all that one can have: two runs under different rules, groups, a query
/// and a tag that are not text, queries that are missing or ignored, a measure of every average, a
/// number that the judgments gave, and queries as ids, as hashes, as a sum of hashes and without
/// ids.
fn frozen() -> Summary {
    let text =
        |name: &str, bytes: &[u8]| Input::Bytes { name: name.to_owned(), bytes: bytes.to_vec() };
    let qrels = || text("qrels", b"1 0 a 2\n1 0 b 0\n2 0 a 1\n2 0 c 1\n3 0 a 0\n\xff 0 b 1\n");
    // Equal scores, scores that are equal as f32, and ranks that contradict scores.
    let first = b"1 Q0 b 2 9 t\n1 Q0 a 1 8 t\n2 Q0 a 1 7 t\n2 Q0 c 2 7 t\n\xff Q0 b 1 1.00000001 \
                 t\n\xff Q0 x 2 1 t\n9 Q0 a 1 1 \xe9t\n";
    let view = View { depth: Some(9), judged_only: true };
    let evaluator =
        Evaluator::new(["AP", "GMAP", "NumRet", "ERR(gmax=auto)"]).unwrap().with_view(view);
    let run = |join: Join, name: &str, bytes: &[u8]| {
        join.files(qrels(), [RunInput::named(name, text("first.run", bytes))]).unwrap()
    };
    let groups = Groups::new([("1", "g"), ("2", "g"), ("3", "h")]).unwrap();
    let mut all = evaluator
        .clone()
        .with_groups(Some(groups))
        .summary(&run(Join::default(), "first", first))
        .unwrap();
    let join = Join {
        ties: TieBreak::Input,
        score: ScoreType::F32,
        depth: std::num::NonZeroU32::new(12),
        ..Join::default()
    };
    let other = run(join, "other", b"1 Q0 a 1 1 u\n1 Q0 b 2 1 u\n1 Q0 c 3 1 u\n3 Q0 b 1 2 u\n");
    all.append(&evaluator.summary(&other).unwrap().without_ids()).unwrap();
    let mut stream = evaluator.stream(&Codebook::new([0.0, 1.0, 2.0]).unwrap()).unwrap();
    stream.push(&Rankings::labels(&[2u8, 1, 0, 0, 1, 0], Shape::dense(3)).unwrap()).unwrap();
    let unnamed = stream.finish().unwrap();
    all.append(&unnamed).unwrap();
    // More queries than are kept are a sum.
    let mut many: serde_json::Value = serde_json::from_str(&unnamed.to_json()).unwrap();
    many["runs"][0]["run"] = "many".into();
    many["queries"][0] =
        serde_json::json!({"sum": {"count": 2, "sum": "00112233445566778899aabbccddeeff"}});
    all.append(&Summary::from_json(&many.to_string()).unwrap()).unwrap();
    all
}

/// Returns the path of a fixture.
pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// Stored bytes as another version of laneval would have written them: with its number, and the
/// checksum that belongs to it.
pub(crate) fn with_version(stored: &[u8], from: &str, to: &str) -> Vec<u8> {
    let field = |version: &str| [&[version.len() as u8], version.as_bytes()].concat();
    let (mut body, mut rest, from, to) = (Vec::new(), &stored[28..], field(from), field(to));
    while let Some((&byte, more)) = rest.split_first() {
        if let Some(after) = rest.strip_prefix(&from[..]) {
            body.extend_from_slice(&to);
            rest = after;
        } else {
            body.push(byte);
            rest = more;
        }
    }
    let hash = xxhash_rust::xxh3::xxh3_64(&body).to_le_bytes();
    [&stored[..20], &hash, &body].concat()
}

/// The version that wrote the fixtures.
pub(crate) const FROZEN: &str = "0.1.0";
const THIS: &str = env!("CARGO_PKG_VERSION");

/// Checks that the fixtures of this name hold this summary, which makes the same bytes and the same
/// JSON, but for the version; returns both. They were written when schema 1 was frozen, and this
/// and every later version reads them.
fn is_frozen(summary: &Summary, name: &str) -> (Vec<u8>, String) {
    let [bytes, json] = ["bin", "json"].map(|extension| fixture(&format!("{name}-1.{extension}")));
    if std::env::var_os("WRITE_FROZEN_FIXTURE").is_some() {
        summary.write(&bytes).unwrap();
        std::fs::write(&json, summary.to_json()).unwrap();
    }
    for path in [&bytes, &json] {
        assert_eq!(Summary::read(path).unwrap(), *summary, "{}", path.display());
    }
    let (bytes, json) = (std::fs::read(bytes).unwrap(), std::fs::read_to_string(json).unwrap());
    assert_eq!(Summary::from_bytes(&bytes).unwrap(), *summary);
    assert_eq!(Summary::from_json(&json).unwrap(), *summary);
    assert_eq!((&bytes[16..20], &bytes[28..29]), (&[1, 0, 0, 0][..], &[1][..]));
    assert_eq!(
        summary.to_json(),
        json.replace(&format!("\"laneval\": \"{FROZEN}\""), &format!("\"laneval\": \"{THIS}\""))
    );
    assert!(
        summary.to_bytes() == with_version(&bytes, FROZEN, THIS),
        "the same summary makes other bytes"
    );
    (bytes, json)
}

#[test]
fn summaries_are_frozen() {
    let (bytes, json) = is_frozen(&frozen(), "summary");
    for kind in ["ids", "hashes", "sum", "unnamed"] {
        assert!(json.contains(&format!("\"{kind}\": ")), "{kind}");
    }
    let scores = Summary::from_bytes(&bytes).unwrap().scores(&STATS).unwrap();
    // By hand: 1/2, 1, 0 for the query without a relevant document, and 1.
    assert_eq!(scores.average("first", "AP"), Some(0.625));
    assert_eq!(scores.group("first", "g").unwrap().average(0), Some(0.75));
    assert_eq!(scores.average("rankings", "NumRet"), Some(6.0));
    assert_eq!(scores.settings.view, View { depth: Some(9), judged_only: true });
}

/// Returns a summary in which relevant documents count only where they were retrieved, and queries
/// have no value.
fn frozen_without_values() -> Summary {
    let text =
        |name: &str, bytes: &[u8]| Input::Bytes { name: name.to_owned(), bytes: bytes.to_vec() };
    let qrels = text("qrels", b"1 0 a 1\n1 0 c 2\n2 0 a 0\n3 0 a 1\n3 0 b 1\n4 0 d 1\n");
    let runs = [
        ("first", &b"1 Q0 b 1 2 t\n1 Q0 a 2 1 t\n2 Q0 a 1 1 t\n3 Q0 b 1 1 t\n4 Q0 a 1 1 t\n"[..]),
        ("other", &b"1 Q0 c 1 1 u\n3 Q0 c 1 2 u\n3 Q0 a 2 1 u\n4 Q0 d 1 1 u\n"[..]),
    ];
    let runs = runs.map(|(name, bytes)| RunInput::named(name, text(name, bytes)));
    let matrix = Join::default().files(qrels, runs).unwrap();
    let evaluator = Evaluator::new(["AP(no_relevant=skip)", "AP", "R(no_relevant=1)@5"]).unwrap();
    evaluator.with_relevant_from("retrieved".parse().unwrap()).summary(&matrix).unwrap()
}

#[test]
fn summaries_of_queries_without_a_value_are_frozen() {
    let (bytes, _) = is_frozen(&frozen_without_values(), "summary-nothing");
    let scores = Summary::from_bytes(&bytes).unwrap().scores(&STATS).unwrap();
    // By hand, of the relevant documents that each run retrieved. AP of `first`: 1/2, none for
    // query 2, 1, none for query 4. Of `other`: 1, none for query 2, which it lacks, 1/2, 1.
    assert_eq!(scores.average("first", "AP(no_relevant=skip)"), Some(0.75));
    assert_eq!(scores.average("first", "AP"), Some(0.375));
    assert_eq!(scores.average("first", "R(no_relevant=1)@5"), Some(1.0));
    assert_eq!(scores.average("other", "AP(no_relevant=skip)"), Some(2.5 / 3.0));
    assert_eq!(scores.average("other", "AP"), Some(0.625));
}

/// Returns a summary of units, of runs that differ in what was seen.
fn frozen_of_units() -> Summary {
    let text =
        |name: &str, bytes: &[u8]| Input::Bytes { name: name.to_owned(), bytes: bytes.to_vec() };
    let qrels = text("qrels", b"1 0 a 1\n1 0 c 2\n2 0 a 0\n3 0 a#b 1\n3 0 b 1\n4 0 d 1\n");
    let runs = [
        (
            "first",
            &b"1 Q0 b#1 1 3 t\n1 Q0 a#1 2 2 t\n1 Q0 a#2 3 1 t\n2 Q0 a#1 1 1 t\n3 Q0 a#b#1 1 \
                    1 t\n4 Q0 a 1 1 t\n"[..],
        ),
        (
            "other",
            &b"1 Q0 c#4 1 4 u\n1 Q0 c#4#3 1 3 u\n1 Q0 c#5 1 2 u\n1 Q0 a#1 1 1 u\n4 Q0 d#1 1 \
                    1 u\n"[..],
        ),
    ];
    let runs = runs.map(|(name, bytes)| RunInput::named(name, text(name, bytes)));
    let join = Join {
        units: DocIdRule::before("#"),
        repeats: Some(Aggregation::Blank),
        rows: NonZeroU32::new(3),
        ..Join::default()
    };
    let matrix = join.files(qrels, runs).unwrap();
    let evaluator = Evaluator::new(["AP(no_relevant=skip)", "AP", "P@3", "NumRet"]).unwrap();
    evaluator.with_relevant_from("retrieved".parse().unwrap()).summary(&matrix).unwrap()
}

#[test]
fn summaries_of_units_are_frozen() {
    let (bytes, json) = is_frozen(&frozen_of_units(), "summary-units");
    assert!(json.contains("\"blank\"") && json.contains("before:#"), "{json}");
    let scores = Summary::from_bytes(&bytes).unwrap().scores(&STATS).unwrap();
    // By hand. `first`: b a ·, a, a#b, a. `other`, whose fourth row of query 1 is not among the
    // best three: c c#4 ·, nothing twice, d.
    assert_eq!(scores.average("first", "AP(no_relevant=skip)"), Some(0.75));
    assert_eq!(scores.average("first", "AP"), Some(0.375));
    assert_eq!(scores.average("first", "P@3"), Some(2.0 / 12.0));
    assert_eq!(scores.average("first", "NumRet"), Some(6.0));
    assert_eq!(scores.average("other", "AP(no_relevant=skip)"), Some(1.0));
    assert_eq!(scores.average("other", "AP"), Some(0.5));
    assert_eq!(scores.average("other", "P@3"), Some(2.0 / 12.0));
    assert_eq!(scores.average("other", "NumRet"), Some(4.0));
}

/// Notes on units are of all shards, whichever comes first.
#[test]
fn counts_of_units_are_added_up() {
    let shard = |query: &str, results: &str| {
        let text = |name: &str, text: String| Input::Bytes {
            name: name.to_owned(),
            bytes: text.into_bytes(),
        };
        let lines = results
            .split(' ')
            .zip(1..)
            .map(|(id, rank)| format!("{query} Q0 {id} {rank} -{rank} t\n"));
        let run = RunInput::named("run", text("run", lines.collect()));
        let (units, repeats) = (DocIdRule::before("#"), "sum".parse().ok());
        let join = Join { units, repeats, ..Join::default() };
        let matrix = join.files(text("qrels", format!("{query} 0 a 1\n")), [run]).unwrap();
        Evaluator::new(["AP"]).unwrap().summary(&matrix).unwrap()
    };
    let [one, other] = [shard("1", "a#1 a#2#3 b#1"), shard("2", "a#1#1 c#2#2 a#2")];
    let merged = |mut one: Summary, other: &Summary| {
        one.merge(other).unwrap();
        one
    };
    let both = merged(one.clone(), &other);
    assert_eq!(both, merged(other.clone(), &one));
    let json: serde_json::Value = serde_json::from_str(&both.to_json()).unwrap();
    let counts = &json["runs"][0]["unit_counts"];
    assert_eq!((&counts["negative"], &counts["twice"]), (&6.into(), &3.into()), "{counts}");
}

/// What an older version wrote is read, and merges with what this one writes, because values do not
/// change from version to version.
#[test]
fn summaries_of_older_versions_are_read_and_merged() {
    let [one, other] = sound();
    let mut whole = one.clone();
    whole.merge(&other).unwrap();
    for older in ["0.0.0", "0.0.99", "0.1.0-rc.1", FROZEN, THIS] {
        let json = one.to_json().replace(&format!("\"{THIS}\""), &format!("\"{older}\""));
        let bytes = with_version(&one.to_bytes(), THIS, older);
        assert!(older == THIS || (json != one.to_json() && bytes != one.to_bytes()), "{older}");
        for read in [Summary::from_json(&json), Summary::from_bytes(&bytes)] {
            let mut read = read.unwrap_or_else(|error| panic!("{older}: {error}"));
            assert_eq!(read, one, "{older}");
            read.merge(&other).unwrap();
            assert_eq!(read, whole, "{older}");
        }
    }
    let newer = Summary::from_bytes(&with_version(&one.to_bytes(), THIS, "9999.0.0"))
        .unwrap_err()
        .to_string();
    assert!(
        newer.contains(&format!(
            "it was written by laneval 9999.0.0, and this is {THIS}: read it with that"
        )),
        "{newer}"
    );
}

/// The schema stands before the checksum and among the fields, and both must be one.
#[test]
fn schemas_that_are_none_are_refused() {
    let sound = sound()[0].to_bytes();
    for (schema, part) in [
        (0, "it has version 0, which no laneval has written"),
        (
            2,
            "it has version 2, and this laneval reads version 1 at most: read it with a newer \
             laneval",
        ),
    ] {
        let mut before = sound.clone();
        before[16] = schema;
        let inside = with_checksum([&[schema], &sound[29..]].concat());
        for forged in [before, inside] {
            let error = Summary::from_bytes(&forged).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}

#[test]
fn a_summary_of_a_draft_is_refused_by_name() {
    let draft = sound()[0].to_bytes();
    let draft = [b"laneval summary\n", &draft[16..]].concat();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("draft.sum");
    std::fs::write(&path, &draft).unwrap();
    for error in [Summary::from_bytes(&draft).unwrap_err(), Summary::read(&path).unwrap_err()] {
        assert!(
            error.to_string().ends_with("written by a draft of laneval: make it again"),
            "{error}"
        );
    }
}

/// The pointers to all values inside of a value.
fn pointers(value: &serde_json::Value, at: &str, all: &mut Vec<String>) {
    let inner: Vec<(String, &serde_json::Value)> = match value {
        serde_json::Value::Object(fields) => {
            fields.iter().map(|(key, value)| (key.clone(), value)).collect()
        }
        serde_json::Value::Array(values) => {
            values.iter().enumerate().map(|(at, item)| (at.to_string(), item)).collect()
        }
        _ => Vec::new(),
    };
    for (key, value) in inner {
        let at = format!("{at}/{key}");
        pointers(value, &at, all);
        all.push(at);
    }
}

/// Values that may replace any other.
fn odd_values() -> Vec<serde_json::Value> {
    use serde_json::json;
    let long = format!("0x{}p0", "f".repeat(600));
    vec![
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(2),
        json!(-1),
        json!(4096),
        json!(1u64 << 40),
        json!((1u64 << 40) + 1),
        json!(u64::MAX),
        json!(u32::MAX),
        json!(0.5),
        json!(1e308),
        json!(-1e308),
        json!(5e-324),
        json!(""),
        json!("q1"),
        json!("zz"),
        json!("AP"),
        json!("0x0p0"),
        json!("-0x1p0"),
        json!("0x1p0"),
        json!("0x1p-1074"),
        json!("0x1p-2148"),
        json!("0x1p1023"),
        json!("0x1p2046"),
        json!("0x1p2147483647"),
        json!("0x1p-2147483648"),
        json!(long),
        json!("ffffffffffffffffffffffffffffffff"),
        json!("+1"),
        json!("0"),
        json!("\u{fffd}ff"),
        json!("\u{fffd}zz"),
        json!([]),
        json!({}),
        json!([0.0, 1.0]),
        json!([1.0, 0.0]),
        json!([-1e308, 1e308]),
        json!([null]),
        json!(["q3", "q3"]),
        json!(["q3", "q1"]),
        json!(["q1"]),
        json!({"unnamed": {"count": u64::MAX}}),
        json!({"sum": {"count": u64::MAX, "sum": "00000000000000000000000000000000"}}),
        json!({"ids": []}),
        json!({"ids": ["b", "a"]}),
        json!({"hashes": {
            "sum": "00000000000000000000000000000003",
            "hashes": ["0000000000000001", "0000000000000002"],
        }}),
        json!({"hashes": {
            "sum": "00000000000000000000000000000003",
            "hashes": ["0000000000000002", "0000000000000001"],
        }}),
    ]
}

/// Changes one value: replaces it, removes it, or doubles it.
fn change(value: &mut serde_json::Value, pointer: &str, how: usize) {
    let odd = odd_values();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let copy = value.pointer(pointer).cloned();
    match (how.checked_sub(odd.len()), value.pointer_mut(parent)) {
        (None, Some(_)) => {
            if let Some(at) = value.pointer_mut(pointer) {
                *at = odd[how].clone();
            }
        }
        (Some(0), Some(serde_json::Value::Object(fields))) => _ = fields.remove(key),
        (Some(0), Some(serde_json::Value::Array(values))) => {
            key.parse().ok().filter(|&at: &usize| at < values.len()).map(|at| values.remove(at));
        }
        (Some(_), Some(serde_json::Value::Object(fields))) => {
            _ = fields.insert("unknown".to_owned(), 1.into())
        }
        (Some(_), Some(serde_json::Value::Array(values))) => values.extend(copy),
        _ => {}
    }
}

#[test]
fn one_forged_field_is_refused_or_harmless() {
    let [one, other] = sound();
    for (summary, whole) in [(one.clone(), true), (one.without_ids(), false)] {
        let json: serde_json::Value = serde_json::from_str(&summary.to_json()).unwrap();
        assert!(survives(&json, &other));
        let mut all = Vec::new();
        pointers(&json, "", &mut all);
        // One of several runs, groups and measures stands for the others.
        let more = ["/runs/1/", "/runs/2/", "/runs/3/", "/measures/2/", "/measures/3/"];
        all.retain(|at| {
            !more.iter().any(|fragment| at.contains(fragment))
                && (whole || at.starts_with("/queries"))
        });
        let ways = 0..odd_values().len() + 2;
        let (mut tried, mut refused) = (0, 0);
        for (pointer, how) in
            some(all.iter().flat_map(|pointer| ways.clone().map(move |how| (pointer, how))))
        {
            let mut forged = json.clone();
            change(&mut forged, pointer, how);
            tried += 1;
            refused += usize::from(forged != json && !survives(&forged, &other));
        }
        assert!(refused * ways.len() > 25 * tried, "{refused} of {tried}");
    }
}

#[test]
fn forgeries_are_refused_by_their_fault() {
    let sound = &sound()[0];
    let json: serde_json::Value = serde_json::from_str(&sound.to_json()).unwrap();
    let version = format!(
        "it was written by laneval 9999.0.0, and this is {THIS}: read it with that version or a \
         newer one"
    );
    let nameless = "it does not say which version of laneval wrote it";
    let hashes = |sum: &str, hashes: [&str; 2]| {
        let hex = |text: &str, digits: usize| format!("{text:0>digits$}");
        serde_json::json!({"hashes": {
            "sum": hex(sum, 32),
            "hashes": hashes.map(|hash| hex(hash, 16)),
        }})
    };
    for (pointer, value, part) in [
        (
            "/schema",
            2.into(),
            "it has version 2, and this laneval reads version 1 at most: read it with a newer",
        ),
        ("/schema", 0.into(), "it has version 0, which no laneval has written"),
        ("/laneval", "9999.0.0".into(), version.as_str()),
        ("/laneval", "1.0".into(), nameless),
        ("/laneval", "0.1.0.0".into(), nameless),
        ("/laneval", "zero.1.0".into(), nameless),
        ("/measures/0", "nonesuch".into(), "nonesuch"),
        ("/query_set", "some".into(), "some"),
        ("/queries/0", serde_json::json!({"ids": ["q2", "q1"]}), "not distinct and ascending"),
        ("/queries/0", serde_json::json!({"ids": ["q1", "q1"]}), "not distinct and ascending"),
        ("/queries/0", hashes("3", ["2", "1"]), "not ascending"),
        ("/queries/0", hashes("4", ["1", "2"]), "their sum is another"),
        ("/runs/0/queries", 99.into(), "mine: a set of queries is missing"),
        ("/runs/0/parts", 0.into(), "mine: its counts contradict each other"),
        ("/runs/0/empty", 3.into(), "mine: its counts contradict each other"),
        ("/runs/0/rule/ties", "none".into(), "none"),
        ("/runs/0/measures/0/sum", "0x1p9".into(), "mine: the sums of AP are none"),
        ("/runs/0/measures/0/squares", "0x1p-9".into(), "mine: the sums of AP are none"),
        (
            "/runs/0/measures/0/range",
            serde_json::json!([0.5, 0.25]),
            "mine: the sums of AP are none",
        ),
        ("/runs/0/measures/0/range", serde_json::json!(null), "mine: the sums of AP are none"),
        ("/runs/0/measures/0/logarithms", "0x1p0".into(), "mine: the sums of AP are none"),
        (
            "/runs/0/measures/1/logarithms",
            serde_json::json!(null),
            "mine: the sums of GMAP are none",
        ),
        ("/runs/0/measures/1/logarithms", "0x1p5000".into(), "mine: the sums of GMAP are none"),
        ("/runs/1/group", serde_json::json!(null), "mine: it occurs twice"),
        ("/runs/0/missing", serde_json::json!({"count": 0, "ids": ["q1"]}), "not ascending"),
        ("/runs/0/ignored", serde_json::json!({"count": 5, "ids": ["b", "a"]}), "not ascending"),
    ] {
        let mut forged = json.clone();
        *forged.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = value;
        let error = Summary::from_json(&forged.to_string()).unwrap_err();
        assert!(
            matches!(error, Error::Summary(_)) && error.to_string().contains(part),
            "{pointer}: {error}"
        );
    }
    for at in [
        "",
        "/queries/0/hashes",
        "/runs/0",
        "/runs/0/measures/0",
        "/runs/0/missing",
        "/runs/0/seen",
    ] {
        let mut forged = json.clone();
        forged["queries"][0] = hashes("3", ["1", "2"]);
        forged.pointer_mut(at).unwrap()["unknown"] = 1.into();
        let error = Summary::from_json(&forged.to_string()).unwrap_err().to_string();
        assert!(error.contains("unknown"), "{at}: {error}");
    }
    let many = serde_json::json!({"unnamed": {"count": (1u64 << 40) + 1}});
    let mut forged = json.clone();
    forged["queries"][0] = many;
    assert!(Summary::from_json(&forged.to_string()).is_err());
    for text in [
        "",
        "{",
        "[]",
        "null",
        "{}",
        "{\"schema\": 1}",
        "{\"schema\": \"1\"}",
        &"[".repeat(100_000),
    ] {
        assert!(matches!(Summary::from_json(text), Err(Error::Summary(_))), "{text:.20}");
    }
    assert!(matches!(Summary::from_bytes(b"q1 0 a 1\n"), Err(Error::Summary(_))));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(200),
        max_shrink_iters: 60,
        ..ProptestConfig::default()
    })]

    #[test]
    fn several_forged_fields_are_refused_or_harmless(
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
            2..5,
        ),
        hashed: bool,
    ) {
        let [one, other] = sound();
        let one = if hashed { one.without_ids() } else { one };
        let mut json: serde_json::Value = serde_json::from_str(&one.to_json()).unwrap();
        for (place, how) in changes {
            let mut all = Vec::new();
            pointers(&json, "", &mut all);
            if !all.is_empty() {
                change(&mut json, &all[place.index(all.len())], how.index(odd_values().len() + 2));
            }
        }
        survives(&json, &other);
    }

    /// Changed bytes can have a fitting checksum, too.
    #[test]
    fn changed_bytes_with_their_checksum_are_refused_or_harmless(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut: Option<prop::sample::Index>,
    ) {
        let [one, other] = sound();
        let mut body = one.to_bytes()[28..].to_vec();
        for (at, byte) in changes {
            let at = at.index(body.len());
            body[at] = byte;
        }
        body.truncate(cut.map_or(body.len(), |cut| cut.index(body.len())));
        match Summary::from_bytes(&with_checksum(body)) {
            Ok(summary) => use_it(&summary, &other),
            Err(error) => prop_assert!(matches!(error, Error::Summary(_)), "{error:?}"),
        }
    }
}

/// The fingerprint of excluded documents is stored beside what was stored before, as bytes and as
/// JSON, and summaries of other excluded documents do not merge.
#[test]
fn excluded_documents_are_stored_as_their_fingerprint() {
    let summary = |query: &str, pairs: &[(&str, &str)], drop_identical_ids: bool| {
        let exclude = Some(Arc::new(ExcludedDocs::from_pairs(pairs.iter().copied())));
        let exclude = exclude.filter(|_| !pairs.is_empty());
        let join = Join { exclude, drop_identical_ids, ..Join::default() };
        let qrels = Qrels::new([(query, "d1", 1.0)]).unwrap();
        let run = [(query, "d2", 0.9), (query, "d1", 0.5)];
        let matrix = join.rankings(&qrels, [("mine".to_owned(), run)]).unwrap();
        Evaluator::new(["RR"]).unwrap().summary(&matrix).unwrap()
    };
    let pairs = [("q1", "d2"), ("q2", "d2")];
    for identical in [false, true] {
        let stored = summary("q1", &pairs, identical);
        assert_eq!(Summary::from_bytes(&stored.to_bytes()).unwrap(), stored);
        assert_eq!(Summary::from_json(&stored.to_json()).unwrap(), stored);
        assert!(stored.to_json().contains("\"excluded\": \""));
        let plain = summary("q1", &[], identical);
        assert!(!plain.to_json().contains("excluded"));
        let mut merged = stored.clone();
        merged.merge(&summary("q2", &[pairs[1], pairs[0], pairs[1]], identical)).unwrap();
        assert_eq!(merged.scores(&[]).unwrap().average("mine", "RR"), Some(1.0));
        for other in [&pairs[..1], &[]] {
            let error = merged.merge(&summary("q3", other, identical)).unwrap_err().to_string();
            assert!(error.contains("the excluded documents differ (those of "), "{error}");
            assert!(error.contains("set --exclude alike"), "{error}");
        }
    }
}
