//! Recall of nearest neighbours against sets of ids, and against the rules of the benchmarks of
//! approximate search.

use std::collections::{BTreeSet, HashSet};

use laneval::arrays::{DuplicateIds, Integers, Neighbours, Numbers, Rankings, Shape};
use laneval::{EngineChoice, Evaluator, LabelMatrix, Notice, Scores};

use crate::cases::cases;
use crate::random::Random;

const TRUTH: [i32; 18] = [1, 2, 3, 4, 5, 6, 10, 11, 12, 13, 14, 15, 20, 21, 22, -1, -1, -1];
const DISTANCES: [f32; 18] =
    [1.0, 2.0, 2.0, 2.0, 3.0, 4.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 1.0, 2.0, 3.0, 0.0, 0.0, 0.0];
const FOUND: [i32; 12] = [1, 4, 9, 2, 15, 14, 10, 11, 22, 20, -1, -1];

/// Returns the values of each query, by both engines.
fn values(rankings: &Rankings<'_>, names: &[&str]) -> Vec<Vec<f64>> {
    let evaluator = Evaluator::new(names.iter().copied()).unwrap().with_per_query(true);
    let [one, other] = [EngineChoice::Cpu, EngineChoice::Reference].map(|engine| {
        let scores = evaluator.clone().with_engine(engine).rankings(rankings).unwrap();
        scores.runs[0].per_query.clone().unwrap().values
    });
    assert_eq!(one, other);
    one
}

fn truth() -> Neighbours<'static> {
    Neighbours::ids(&TRUTH, 6).unwrap()
}

/// Returns the first line of the error of a measure of rankings.
fn refused(rankings: laneval::Result<Rankings<'_>>, measure: &str) -> String {
    let scores = rankings.and_then(|rankings| Evaluator::new([measure])?.rankings(&rankings));
    let error = scores.map_or_else(|error| error.to_string(), |_| "nothing".to_owned());
    error.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn three_queries_have_the_recalls_of_sets_of_ids() {
    const MEASURES: [&str; 7] =
        ["NNR@1", "NNR@2", "NNR@3", "NNR@4", "NNR(truth=1)@4", "NNR(truth=2)@4", "NNR(truth=3)@4"];
    let all: Vec<&str> = MEASURES.into_iter().chain(["NNR(truth=6)@4", "NNR"]).collect();
    let (third, half) = (1.0 / 3.0, 0.5);
    let of_ids = [
        [1.0, 0.0, 0.0],
        [half, 0.0, half],
        [third, third, 2.0 / 3.0],
        [0.75, half, 2.0 / 3.0],
        [1.0; 3],
        [1.0, 1.0, half],
        [2.0 / 3.0; 3],
        [half, 2.0 / 3.0, 2.0 / 3.0],
        [half, 2.0 / 3.0, 2.0 / 3.0],
    ];
    let of_distances = [
        [1.0, 0.0, 0.0],
        [1.0, half, half],
        [2.0 / 3.0; 3],
        [0.75, 0.75, 2.0 / 3.0],
        [1.0; 3],
        [1.0, 1.0, half],
        [1.0, 1.0, 2.0 / 3.0],
        [half, 2.0 / 3.0, 2.0 / 3.0],
        [half, 2.0 / 3.0, 2.0 / 3.0],
    ];
    let with_distances = truth().with_distances(&DISTANCES).unwrap();
    for (truth, expected) in [(truth(), of_ids), (with_distances, of_distances)] {
        assert_eq!(values(&Rankings::neighbours(truth, &FOUND, 4).unwrap(), &all), expected);
    }
    let found: [f32; 12] = [1.0, 2.0, 2.5, 2.0, 2.0, 1.0, 1.0, 1.0, 3.0, 1.0, 0.0, 0.0];
    let truth = truth().with_distances(&DISTANCES).unwrap();
    let within = Rankings::neighbours_within(truth, &FOUND, 4, &found, 1e-3).unwrap();
    let of_found = [[1.0, 0.0, 0.0], [1.0, half, half], [2.0 / 3.0; 3], [0.75, 0.75, 2.0 / 3.0]];
    assert_eq!(values(&within, &all[..4]), of_found);
}

/// What `R(rel=7-t)@k` has been all along, and gains by closeness.
#[test]
fn other_measures_see_the_grades_of_neighbours() {
    let rankings = Rankings::neighbours(truth(), &FOUND, 4).unwrap();
    let of_levels = values(&rankings, &["R(rel=6)@1", "R(rel=5)@2", "R(rel=4)@3"]);
    // The third query has as many neighbours of each level as the others here.
    assert_eq!(of_levels, values(&rankings, &["NNR@1", "NNR@2", "NNR@3"]));
    let first = Neighbours::ids(&TRUTH[..6], 6).unwrap();
    let closeness = values(&Rankings::neighbours(first, &FOUND[..4], 4).unwrap(), &["nDCG@4"]);
    assert!((closeness[0][0] - 0.807136787363).abs() < 1e-12, "{closeness:?}");
    let matrix = LabelMatrix::from_rankings("mine", &rankings).unwrap();
    let evaluator = Evaluator::new(["NNR@4", "NNR(truth=1)@2"]).unwrap();
    let [of_matrix, of_rankings] =
        [evaluator.evaluate(&matrix).unwrap(), evaluator.rankings(&rankings).unwrap()];
    assert_eq!(of_matrix.average("mine", "NNR@4"), Some(23.0 / 36.0));
    assert_eq!(of_matrix.runs[0].average(1), of_rankings.runs[0].average(1));
}

#[test]
fn an_empty_place_keeps_its_rank_and_is_nothing() {
    let (truth, found) = ([7, -1, -1, -1], [8, -1, -1, -1]);
    let rankings = Rankings::neighbours(Neighbours::ids(&truth, 4).unwrap(), &found, 4).unwrap();
    assert_eq!(values(&rankings, &["NNR@4", "NumRet"]), [[0.0], [1.0]]);
    let (truth, found) = ([1u32, 2, 3], [u32::MAX, 1, 2]);
    let rankings = Rankings::neighbours(Neighbours::ids(&truth, 3).unwrap(), &found, 3).unwrap();
    assert_eq!(values(&rankings, &["NNR@1", "NNR@2", "NNR@3"]), [[0.0], [0.5], [2.0 / 3.0]]);
    // A query without a true neighbour is none, and the others keep their numbers.
    let truth = [-1i64, -1, 5, 6, u32::MAX.into(), -1, 8, -1];
    let found = [5i64, 6, 6, 9, 1, 2, -1, -1];
    let rankings = Rankings::neighbours(Neighbours::ids(&truth, 2).unwrap(), &found, 2).unwrap();
    assert_eq!((rankings.len(), rankings.dropped_rows()), (2, &[0, 2][..]));
    let scores =
        Evaluator::new(["NNR@2"]).unwrap().with_per_query(true).rankings(&rankings).unwrap();
    let per_query = scores.runs[0].per_query.as_ref().unwrap();
    let queries: Vec<&[u8]> = per_query.queries.iter().collect();
    assert_eq!((queries, &per_query.values), (vec![&b"1"[..], b"3"], &vec![vec![0.5, 0.0]]));
    assert_eq!((scores.runs[0].queries, scores.runs[0].missing.count), (2, 1));
    let matrix = LabelMatrix::from_rankings("mine", &rankings).unwrap();
    assert_eq!(matrix.queries().iter().collect::<Vec<_>>(), [b"1", b"3"]);
}

#[test]
fn an_id_that_was_found_twice_counts_once() {
    let (truth, found) = ([1, 2, 3, 4], [1, 1, 2, 9]);
    let near = |repeats: DuplicateIds| {
        Rankings::neighbours(Neighbours::ids(&truth, 4)?, &found, 4)?.with_duplicates(repeats)
    };
    let names = ["NNR@4", "NNR(truth=2)@2", "NNR(truth=2)@3"];
    assert_eq!(values(&near(DuplicateIds::Blank).unwrap(), &names), [[0.5], [0.5], [1.0]]);
    assert_eq!(values(&near(DuplicateIds::First).unwrap(), &names[1..]), [[1.0], [1.0]]);
    assert_eq!(refused(near(DuplicateIds::Error), "NNR@4"), "found[0, 1], 1, is there twice");
    let same = [1i64; 4];
    let rankings = Rankings::neighbours(Neighbours::ids(&truth, 4).unwrap(), &same, 4).unwrap();
    let blank = rankings.with_duplicates(DuplicateIds::Blank).unwrap();
    assert_eq!(values(&blank, &["NNR@4"]), [[0.25]]);
    // By distances too, where ann-benchmarks has 1.
    let distances = [0.5, 0.6, 0.7, 0.8];
    let truth = Neighbours::ids(&truth, 4).unwrap().with_distances(&distances).unwrap();
    let within = Rankings::neighbours_within(truth, &same, 4, &[0.5f64; 4], 0.0).unwrap();
    assert_eq!(values(&within.with_duplicates(DuplicateIds::Blank).unwrap(), &["NNR@4"]), [[0.25]]);
    // Lists of ids have the same choice.
    let (relevant, retrieved) = ([vec!["a", "b"]], [vec!["a", "a", "b"]]);
    let ap_values = |repeats| {
        values(
            &Rankings::ids(&relevant, &retrieved).unwrap().with_duplicates(repeats).unwrap(),
            &["AP"],
        )
    };
    assert_eq!(ap_values(DuplicateIds::First), [[1.0]]);
    assert_eq!(ap_values(DuplicateIds::Blank), [[(1.0 + 2.0 / 3.0) / 2.0]]);
    assert_eq!(
        refused(Rankings::ids(&relevant, &retrieved), "AP"),
        "retrieved[0, 1], \"a\", occurs twice"
    );
}

#[test]
fn wrong_arrays_are_refused_with_their_place() {
    let near = |truth: &[i32], width, found: &[i32], of_found| {
        Neighbours::ids(truth, width)
            .and_then(|truth| Rankings::neighbours(truth, found, of_found))
            .map_or_else(|error| error.to_string(), |rankings| refused(Ok(rankings), "NNR@1"))
    };
    assert_eq!(near(&[1, 2, 3, 4], 2, &[4, 1], 1), "nothing");
    assert_eq!(near(&[1, 2, 3, 3], 2, &[4, 1], 1), "truth[1, 1], 3, is there twice");
    assert_eq!(near(&[1, 2, 3, 4], 2, &[1, 2, 3, 5, 4, 4], 3), "found[1, 2], 4, is there twice");
    assert_eq!(
        near(&[1, 2, 3, 4], 2, &[1, 2, 3], 1),
        "found has 3 rows, and truth 2: a row for each query was expected"
    );
    assert_eq!(near(&[1, 2, 3], 2, &[1, 2], 1), "truth has 3 values, which are no whole rows of 2");
    assert_eq!(
        near(&[-1, -1], 1, &[1, 2], 1),
        "truth has empty places alone: ids of neighbours were expected"
    );
    assert_eq!(near(&[], 1, &[], 1), "no rankings: at least one row was expected");
    assert_eq!(near(&[1], usize::MAX, &[1], 1).split(',').next(), Some("truth has 1 values"));
    let hundred: Vec<i32> = (0..100).collect();
    let rankings = || Rankings::neighbours(Neighbours::ids(&hundred, 100)?, &hundred, 100);
    assert_eq!(refused(rankings(), "NNR@200"), "NNR@200: the truth has 100 neighbours a query");
    assert_eq!(
        refused(rankings(), "NNR(truth=101)@5"),
        "NNR(truth=101)@5: the truth has 100 neighbours a query"
    );
    assert_eq!(refused(rankings(), "NNR(truth=100)@200"), "nothing");
    let small =
        Neighbours::ids(&[1u8], 1).map_or_else(|error| error.to_string(), |_| String::new());
    assert_eq!(small, "truth has integers of 8 or 16 bits: ids of 32 or 64 bits were expected");
    let (signed, unsigned) = ([-2i64, 3], [u64::MAX - 1, 3]);
    assert_eq!(
        refused(Rankings::neighbours(Neighbours::ids(&signed, 2).unwrap(), &unsigned, 2), "NNR@1"),
        "found[0, 0], 18446744073709551614, is more than an int64 has, and the other ids have \
         another type: give both one type"
    );
    // Distances.
    let distances = [0.5, 2.5, 2.0, f64::NAN];
    let with = |at: usize| {
        let truth = Neighbours::ids(&hundred[..3], 3)?.with_distances(&distances[at..at + 3])?;
        Rankings::neighbours(truth, &hundred[..1], 1)
    };
    assert_eq!(
        refused(with(0), "NNR@1"),
        "truth_distances[0]: 2.0 follows 2.5 at rank 3: ascending distances were expected; of \
         similarities give the negative"
    );
    assert_eq!(refused(with(1), "NNR@1").split(':').next(), Some("truth_distances[0]"));
    let nan = |at: usize| {
        let (of_truth, of_found) = ([[1.0, f64::NAN], [1.0, 2.0]], [[1.0, 2.0], [1.0, f64::NAN]]);
        let truth = Neighbours::ids(&[1, 2], 2)?.with_distances(&of_truth[at])?;
        let scores = Rankings::neighbours_within(truth, &[1, 2], 2, &of_found[at], 0.0)?;
        Evaluator::new(["NNR@1"])?.rankings(&scores)
    };
    let nan = |at| nan(at).unwrap_err().to_string();
    assert_eq!(nan(0), "truth_distances[0, 1] is not a number");
    assert_eq!(nan(1), "found_distances[0, 1] is not a number");
    let none = Rankings::neighbours_within(truth(), &FOUND, 4, &[0.0; 12], 0.0);
    assert_eq!(
        refused(none, "NNR@1"),
        "found_distances without truth_distances: those of both were expected"
    );
    let within = |within| {
        let truth = truth().with_distances(&DISTANCES).unwrap();
        refused(Rankings::neighbours_within(truth, &FOUND, 4, &[0.0; 12], within), "NNR@1")
    };
    assert_eq!(within(f64::NAN), "within is NaN: a finite number from 0 was expected");
    assert_eq!(within(-0.5), "within is -0.5: a finite number from 0 was expected");
    assert_eq!(within(0.0), "nothing");
    let few =
        truth().with_distances(&[1.0]).map_or_else(|error| error.to_string(), |_| String::new());
    assert_eq!(few, "1 distances of the truth, and 18 (ids) were expected");
    let labels = Rankings::labels(&[1u8], Shape::dense(1))
        .and_then(|label_rankings| label_rankings.with_duplicates(DuplicateIds::First));
    assert_eq!(refused(labels, "RR"), "labels and scores have no ids that could repeat");
}

/// By distances of what was found more may be near than there are, which no matrix and no other
/// measure could hold.
#[test]
fn distances_of_what_was_found_give_recall_alone() {
    let truth = truth().with_distances(&DISTANCES).unwrap();
    let rankings = Rankings::neighbours_within(truth, &FOUND, 4, &[0.0; 12], 0.0).unwrap();
    assert_eq!(values(&rankings, &["NNR@2"]), [[1.0, 1.0, 1.0]]);
    let error =
        Evaluator::new(["NNR@2", "AP"]).unwrap().rankings(&rankings).unwrap_err().to_string();
    assert!(
        error.starts_with("AP: distances of found neighbours give values of NNR alone"),
        "{error}"
    );
    let error = LabelMatrix::from_rankings("mine", &rankings).unwrap_err().to_string();
    assert!(error.contains("no matrix"), "{error}");
}

#[test]
fn recall_that_divides_by_all_neighbours_is_noticed() {
    let hundred: Vec<u32> = (0..100).collect();
    let rankings =
        Rankings::neighbours(Neighbours::ids(&hundred, 100).unwrap(), &hundred, 100).unwrap();
    let scores = |rankings: &Rankings<'_>| -> Scores {
        Evaluator::new(["R@10", "R(norm=min)@10", "R@100", "NNR@10"])
            .unwrap()
            .rankings(rankings)
            .unwrap()
    };
    let found = scores(&rankings);
    assert_eq!((found.runs[0].average(0), found.runs[0].average(3)), (Some(0.1), Some(1.0)));
    let notice = Notice::AllNeighbours { measure: "R@10".to_owned(), rank: 10, neighbours: 100 };
    assert_eq!(found.notices, std::slice::from_ref(&notice));
    assert_eq!(
        notice.to_string(),
        "R@10 divides by all 100 true neighbours; NNR@10 is the recall of nearest neighbours"
    );
    let judged = [(0..100).map(|id| (id, f64::from(100 - id))).collect::<Vec<_>>()];
    let retrieved = [[0]];
    let lists = Rankings::graded_ids(&judged, &retrieved);
    assert_eq!(scores(&lists.unwrap()).notices, []);
}

/// Random neighbours.
struct Case {
    truth: Vec<Vec<i64>>,
    distances: Vec<Vec<f32>>,
    found: Vec<Vec<i64>>,
    of_found: Vec<Vec<f32>>,
}

impl Case {
    /// Rows with `width` true neighbours and `depth` found ones. Of ids up to twice as many are
    /// near; `spread` is between two of them.
    fn new(
        random: &mut Random,
        [width, depth, rows]: [usize; 3],
        spread: i64,
        holes: bool,
    ) -> Self {
        let ids = |random: &mut Random, count: usize| {
            let mut all: Vec<i64> =
                (0..2 * width.max(depth) as i64).map(|id| id * spread).collect();
            for at in 0..count {
                let other = at + random.below(all.len() - at);
                all.swap(at, other);
            }
            all.truncate(count);
            all
        };
        let make_holes = |random: &mut Random, ids: &mut [i64]| {
            let (first, inside) = (random.below(ids.len() + 1), random.below(ids.len()));
            if random.below(2) == 0 {
                ids[first..].fill([-1, i64::from(u32::MAX)][random.below(2)]);
            }
            if random.below(4) == 0 {
                ids[inside] = -1;
            }
        };
        let (truth, distances, found, of_found) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut case = Case { truth, distances, found, of_found };
        for _ in 0..rows {
            let (mut truth, mut found) = (ids(random, width), ids(random, depth));
            if holes {
                make_holes(random, &mut truth);
                make_holes(random, &mut found);
            }
            let mut distance = 0.0;
            let distances = (0..width).map(|_| {
                distance += [0.0, 0.0, 0.25, 1.0][random.below(4)];
                distance
            });
            case.distances.push(distances.collect());
            case.of_found.push((0..depth).map(|_| random.below(4 * width) as f32 / 8.0).collect());
            case.truth.push(truth);
            case.found.push(found);
        }
        case
    }
}

fn is_id(id: i64) -> bool {
    id != -1 && id != i64::from(u32::MAX)
}

/// Returns the share of the t nearest among the first k, as sets.
fn recall(near: &HashSet<i64>, found: &[i64], k: usize, most: usize) -> f64 {
    let found: BTreeSet<i64> = found.iter().take(k).copied().filter(|id| is_id(*id)).collect();
    found.iter().filter(|id| near.contains(id)).count().min(most) as f64 / most as f64
}

/// The ids of an array in each type that can hold them.
fn each_type(ids: &[Vec<i64>], check: &mut dyn FnMut(Integers<'_>)) {
    let all = ids.concat();
    let narrow: Option<Vec<i32>> =
        all.iter().map(|&id| if is_id(id) { i32::try_from(id).ok() } else { Some(-1) }).collect();
    let unsigned: Option<Vec<u32>> = all
        .iter()
        .map(|&id| if id == -1 { Some(u32::MAX) } else { u32::try_from(id).ok() })
        .collect();
    let long: Vec<u64> = all.iter().map(|&id| id as u64).collect();
    check((&all).into());
    check((&long).into());
    narrow.iter().for_each(|ids| check(ids.into()));
    unsigned.iter().for_each(|ids| check(ids.into()));
}

#[test]
fn recalls_are_those_of_sets_in_every_type_and_width() {
    let mut random = Random(77);
    let mut sizes: Vec<[usize; 2]> = vec![
        [1, 1],
        [16, 16],
        [17, 16],
        [16, 17],
        [10, 10],
        [100, 100],
        [253, 9],
        [254, 9],
        [300, 300],
        [9, 300],
        [5000, 20],
    ];
    sizes.extend((0..cases(60)).map(|_| [1 + random.below(300), 1 + random.below(300)]));
    sizes.extend((0..cases(60)).map(|_| [1 + random.below(18), 1 + random.below(18)]));
    for (at, [width, depth]) in sizes.into_iter().enumerate() {
        let spread = [1, 1 << 16, 4_000_037][at % 3].min(2_000_000_000 / width.max(depth) as i64);
        let case = Case::new(&mut random, [width, depth, 9], spread, at % 2 == 1);
        let rows: Vec<usize> =
            (0..9).filter(|&row| case.truth[row].iter().any(|&id| is_id(id))).collect();
        if rows.is_empty() {
            continue;
        }
        let t = 1 + random.below(width);
        let k = 1 + random.below(depth);
        let names = [format!("NNR(truth={t})@{k}"), format!("NNR@{}", t), "NNR".to_owned()];
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let expected = |tied: bool| {
            let of_row = |row: usize, t: usize, k: usize| {
                let (ids, distances) = (&case.truth[row], &case.distances[row]);
                // An empty place has no distance.
                let same = |rank: &usize, column: usize| {
                    is_id(ids[*rank]) && distances[*rank] == distances[column]
                };
                let first = |column: usize| (0..=column).find(|rank| same(rank, column)).unwrap();
                let column = |column: usize| if tied { first(column) } else { column };
                let near = (0..width)
                    .filter(|&rank| is_id(ids[rank]) && column(rank) < t)
                    .map(|rank| ids[rank])
                    .collect();
                let most = t.min(ids.iter().filter(|id| is_id(**id)).count());
                recall(&near, &case.found[row], k, most)
            };
            [(t, k), (t, t), (width, depth)]
                .map(|(t, k)| rows.iter().map(|&row| of_row(row, t, k)).collect::<Vec<_>>())
        };
        let (plain, tied) = (expected(false), expected(true));
        let distances = case.distances.concat();
        each_type(&case.truth, &mut |truth| {
            each_type(&case.found, &mut |found| {
                let neighbours = Neighbours::ids(truth, width).unwrap();
                let rankings = Rankings::neighbours(neighbours.clone(), found, depth).unwrap();
                assert_eq!(values(&rankings, &names), plain, "{width} {depth} {truth:?} {found:?}");
                let rankings = Rankings::neighbours(
                    neighbours.with_distances(&distances).unwrap(),
                    found,
                    depth,
                )
                .unwrap();
                assert_eq!(values(&rankings, &names), tied, "{width} {depth} {distances:?}");
            });
        });
    }
}

/// `get_recall_values` of ann-benchmarks (`ann_benchmarks/plotting/metrics.py`): a result counts if
/// its distance is at most that of the k-th neighbour and ε.
fn ann_benchmarks(truth: &[f64], found: &[f64], count: usize, epsilon: f64) -> f64 {
    let threshold = truth[count - 1] + epsilon;
    found.iter().take(count).filter(|&&distance| distance <= threshold).count() as f64
        / count as f64
}

/// `compute_recall_with_distance_ties` of big-ann-benchmarks (`benchmark/plotting/metrics.py`): ids
/// at the distance of the k-th neighbour count as well.
fn big_ann(ids: &[i64], distances: &[f64], found: &[i64], count: usize, ties: bool) -> f64 {
    let end = if ties && ids.len() > count {
        (count..ids.len())
            .find(|&at| (distances[count - 1] - distances[at]).abs() >= 1e-6)
            .unwrap_or(ids.len())
    } else {
        count
    };
    let near: HashSet<&i64> = ids[..end].iter().collect();
    let found: HashSet<&i64> = found[..count].iter().collect();
    near.intersection(&found).count() as f64 / count as f64
}

#[test]
fn without_empty_places_and_repeats_recalls_are_those_of_the_benchmarks() {
    let mut random = Random(5);
    for number in 0..cases(200) {
        let width = 1 + random.below(30);
        let case = Case::new(&mut random, [width, width, 7], 3, false);
        let count = 1 + random.below(width);
        let name = format!("NNR@{count}");
        let [distances, of_found] = [&case.distances, &case.of_found].map(|all| all.concat());
        let (truth, found) = (case.truth.concat(), case.found.concat());
        let wide = |numbers: &[f32]| {
            numbers.iter().map(|&distance| f64::from(distance)).collect::<Vec<_>>()
        };
        let near = || Neighbours::ids(&truth, width).unwrap();
        let tied = || near().with_distances(Numbers::from(&distances)).unwrap();
        let rankings = [
            Rankings::neighbours(near(), &found, width).unwrap(),
            Rankings::neighbours(tied(), &found, width).unwrap(),
            Rankings::neighbours_within(tied(), &found, width, &of_found, 1e-3).unwrap(),
        ];
        let found = rankings.map(|rankings| values(&rankings, &[&name]).remove(0));
        for (row, (truth, ids)) in case.truth.iter().zip(&case.found).enumerate() {
            let (of_truth, of_found) = (wide(&case.distances[row]), wide(&case.of_found[row]));
            let [plain, tied, within] = [
                big_ann(truth, &of_truth, ids, count, false),
                big_ann(truth, &of_truth, ids, count, true),
                ann_benchmarks(&of_truth, &of_found, count, 1e-3),
            ];
            assert_eq!(
                [found[0][row], found[1][row], found[2][row]],
                [plain, tied, within],
                "{number} {row}"
            );
        }
    }
}

/// Arrays of ids without an order of the truth are lists of ids.
#[test]
fn arrays_of_ids_are_lists_of_ids() {
    let mut random = Random(3);
    let names = ["AP", "RR", "nDCG@10", "R@5", "Bpref", "NumRet"];
    for [width, depth] in [[1, 1], [7, 16], [16, 16], [40, 100], [100, 100]] {
        let mut case = Case::new(&mut random, [width, depth, 6], 7, false);
        // Here −1 is an id as any other.
        case.truth[2][0] = -1;
        case.found[2][0] = -1;
        let (truth, found) = (case.truth.concat(), case.found.concat());
        let lists = values(&Rankings::ids(&case.truth, &case.found).unwrap(), &names);
        let arrays = values(&Rankings::id_arrays(&truth, width, &found, depth).unwrap(), &names);
        assert_eq!(arrays, lists);
        let short: Vec<i32> = truth.iter().map(|&id| id as i32).collect();
        assert_eq!(
            values(&Rankings::id_arrays(&short, width, &found, depth).unwrap(), &names),
            lists
        );
    }
    let (relevant, retrieved) = ([1u32, 1, 2, 3], [5u32, 6, 6, 5]);
    let refused = |rankings: laneval::Result<Rankings<'_>>| refused(rankings, "AP");
    assert_eq!(
        refused(Rankings::id_arrays(&relevant, 2, &retrieved, 2)),
        "relevant[0, 1], 1, occurs twice"
    );
    assert_eq!(refused(Rankings::id_arrays(&relevant[2..], 1, &retrieved, 2)), "nothing");
    assert_eq!(
        refused(Rankings::id_arrays(&relevant[3..], 1, &retrieved, 4)),
        "retrieved[0, 2], 6, occurs twice"
    );
    // Strides: every other column.
    let strided =
        Rankings::id_arrays(&relevant, Shape::strided(1, 2), &retrieved, Shape::strided(1, 2));
    assert_eq!(values(&strided.unwrap(), &["RR"]), [[0.0, 0.0]]);
}
