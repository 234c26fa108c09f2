//! Rankings in memory give the numbers of the same rankings as text, and of plain formulas; wrong
//! ones are refused with their place.

use std::sync::Arc;

use laneval::arrays::{Ideal, Numbers, Rankings, Shape};
use laneval::labels::{Codebook, IdealSource, Ids};
use laneval::{
    EngineChoice, ErrorKind, Evaluator, Join, LabelMatrix, ProgressHandle, Qrels, QuerySet, Scores,
    Stat, Summary, TiedValue, View,
};

use crate::cases::some;
use crate::compared::assert_same_bits;
use crate::random::Random;
use crate::variants::every_measure;

/// Rankings with grades 0 to 3 and −1, and the number of documents of each grade that are not
/// retrieved.
struct Case {
    rows: Vec<Vec<i32>>,
    missed: Vec<[u32; 4]>,
}

impl Case {
    fn new(seed: u64, rows: usize, depth: usize) -> Self {
        let mut random = Random(seed);
        let label = |random: &mut Random| [-1, -1, -1, -1, 0, 0, 1, 1, 2, 3][random.below(10)];
        let row =
            |random: &mut Random| (0..random.below(depth + 1)).map(|_| label(random)).collect();
        let rows: Vec<Vec<i32>> = (0..rows).map(|_| row(&mut random)).collect();
        let mut missed: Vec<[u32; 4]> =
            rows.iter().map(|_| [0; 4].map(|_: u32| random.below(3) as u32)).collect();
        missed[0] = [1; 4];
        Case { rows, missed }
    }

    fn flat(&self) -> (Vec<i32>, Vec<u32>) {
        (self.rows.concat(), self.rows.iter().map(|row| row.len() as u32).collect())
    }

    /// Returns the counts of the judged documents, `[row][grade]`.
    fn counts(&self) -> Vec<u32> {
        let grade_counts = |(row, missed): (&Vec<i32>, &[u32; 4])| {
            [0, 1, 2, 3].map(|grade| {
                missed[grade] + row.iter().filter(|&&label| label == grade as i32).count() as u32
            })
        };
        self.rows.iter().zip(&self.missed).flat_map(grade_counts).collect()
    }

    fn ids(&self) -> Ids {
        // Not in bytewise order.
        (0..self.rows.len())
            .map(|row| format!("{:03}", row * 7 % 1000))
            .collect::<Vec<_>>()
            .iter()
            .map(|id| id.as_bytes())
            .collect()
    }

    /// Returns the same rankings as judgments and runs of text ids.
    fn matrix(&self) -> LabelMatrix {
        let ids = self.ids();
        let id = |row: usize| String::from_utf8(ids.get(row).to_vec()).unwrap();
        let (mut judged, mut run) = (Vec::new(), Vec::new());
        for (row, (labels, missed)) in self.rows.iter().zip(&self.missed).enumerate() {
            for (rank, &label) in labels.iter().enumerate() {
                let document = format!("d{rank}");
                if label >= 0 {
                    judged.push((id(row), document.clone(), f64::from(label)));
                }
                run.push((id(row), document, -(rank as f64)));
            }
            for (grade, &count) in missed.iter().enumerate() {
                judged
                    .extend((0..count).map(|at| (id(row), format!("m{grade}-{at}"), grade as f64)));
            }
        }
        // A row without any judgment is a query nevertheless.
        let judged = judged
            .iter()
            .map(|(query, document, grade)| (query.as_str(), document.as_str(), *grade));
        let qrels = Qrels::new(judged).unwrap();
        let run =
            run.iter().map(|(query, document, score)| (query.as_str(), document.as_str(), *score));
        Join::default().rankings(&qrels, [("rankings".to_owned(), run)]).unwrap()
    }

    fn all_are_judged(&self) -> bool {
        self.counts().chunks(4).all(|counts| counts.iter().sum::<u32>() > 0)
    }
}

const GRADES: &[f64] = &[0.0, 1.0, 2.0, 3.0];

fn values(scores: &Scores) -> &[Vec<f64>] {
    &scores.runs[0].per_query.as_ref().unwrap().values
}

#[test]
fn labels_give_the_bits_of_text_under_every_measure() {
    for (at, depth) in [5, 40, 150].into_iter().enumerate() {
        // Text has no query without a judgment.
        let of_seed = |seed| Some(Case::new(seed, 90, depth)).filter(Case::all_are_judged);
        let case = (at as u64..).step_by(3).take(1000).find_map(of_seed).unwrap();
        let matrix = case.matrix();
        let (labels, sizes) = case.flat();
        let (counts, ids) = (case.counts(), case.ids());
        let counts = Ideal::Counts { grades: GRADES, counts: (&counts).into() };
        let rankings = || {
            let rankings = Rankings::labels(&labels, Shape::sizes(&sizes)).unwrap();
            rankings.with_ideal(counts).unwrap().with_ids(&ids).unwrap()
        };
        let each = [(QuerySet::Judged, [None, Some(3)]), (QuerySet::Common, [None, Some(17)])]
            .into_iter()
            .flat_map(|(queries, depths)| depths.map(|depth| (queries, depth)))
            .flat_map(|(queries, depth)| {
                [false, true].map(|judged_only| (queries, View { depth, judged_only }))
            })
            .flat_map(|(queries, view)| {
                [EngineChoice::Cpu, EngineChoice::Reference].map(|engine| (queries, view, engine))
            });
        // What one case leaves out others try.
        for (queries, view, engine) in some(each.cycle().skip(at).take(16)) {
            let evaluator = Evaluator::from_measures(every_measure(&matrix))
                .with_per_query(true)
                .allow_non_finite(true);
            let evaluator = evaluator.with_queries(queries).with_view(view).with_engine(engine);
            let evaluator = evaluator.with_stats([Stat::Std, Stat::Median]);
            let (expected, found) =
                (evaluator.evaluate(&matrix).unwrap(), evaluator.rankings(&rankings()).unwrap());
            assert_same_bits(&expected, &found, "labels in memory");
            assert_eq!(
                found.runs[0].per_query.as_ref().unwrap().queries,
                expected.runs[0].per_query.as_ref().unwrap().queries
            );
            assert_eq!(found.runs[0].missing, expected.runs[0].missing);
            assert_eq!(found.runs[0].ideal, IdealSource::Judgments);
        }
        let rankings_matrix = LabelMatrix::from_rankings("rankings", &rankings()).unwrap();
        let evaluator = Evaluator::from_measures(every_measure(&matrix))
            .with_per_query(true)
            .allow_non_finite(true);
        assert_same_bits(
            &evaluator.evaluate(&matrix).unwrap(),
            &evaluator.evaluate(&rankings_matrix).unwrap(),
            "a matrix of rankings",
        );
    }
}

/// Rankings that are looked at only down to some rank have the bits of whole rankings.
#[test]
fn ranks_that_no_measure_looks_at_change_nothing() {
    let case = Case::new(77, 60, 200);
    let matrix = case.matrix();
    let (labels, sizes) = case.flat();
    let (counts, ids) = (case.counts(), case.ids());
    let rankings = Rankings::labels(&labels, Shape::sizes(&sizes)).unwrap().with_ids(&ids).unwrap();
    let rankings =
        rankings.with_ideal(Ideal::Counts { grades: GRADES, counts: (&counts).into() }).unwrap();
    for measure in every_measure(&matrix) {
        let evaluator = Evaluator::from_measures(vec![measure.clone()])
            .with_per_query(true)
            .allow_non_finite(true);
        let (expected, found) =
            (evaluator.evaluate(&matrix).unwrap(), evaluator.rankings(&rankings).unwrap());
        assert_same_bits(&expected, &found, &measure.to_string());
    }
}

/// AP, nDCG@10, RR, P@10 and R@100 as their definitions read, of relevant counts.
fn plain(row: &[i32], relevant: u32) -> [f64; 5] {
    let hit = |rank: usize| row.get(rank).is_some_and(|&label| label > 0);
    let hits = |k: usize| (0..k).filter(|&rank| hit(rank)).count() as f64;
    let over = |number: f64, by: f64| if by > 0.0 { number / by } else { 0.0 };
    let relevant = f64::from(relevant);
    let precisions: f64 = (0..row.len())
        .filter(|&rank| hit(rank))
        .map(|rank| hits(rank + 1) / (rank + 1) as f64)
        .sum();
    let dcg: f64 =
        (0..10).filter(|&rank| hit(rank)).map(|rank| 1.0 / ((rank + 2) as f64).log2()).sum();
    let ideal: f64 = (0..10)
        .filter(|&rank| (rank as f64) < relevant)
        .map(|rank| 1.0 / ((rank + 2) as f64).log2())
        .sum();
    let first = (0..row.len()).find(|&rank| hit(rank));
    [
        over(precisions, relevant),
        over(dcg, ideal),
        first.map_or(0.0, |rank| 1.0 / (rank + 1) as f64),
        hits(10) / 10.0,
        over(hits(100), relevant),
    ]
}

/// Dense rows of 0, 1 and −1, and the number of relevant documents.
fn binary(rows: usize, depth: usize) -> (Vec<i32>, Vec<u32>) {
    let mut random = Random(rows as u64);
    let labels: Vec<i32> = (0..rows * depth).map(|_| [-1, 0, 0, 1][random.below(4)]).collect();
    let hits =
        labels.chunks(depth).map(|row| row.iter().filter(|&&label| label == 1).count() as u32);
    let relevant = hits.map(|hits| hits + random.below(4) as u32).collect();
    (labels, relevant)
}

const FIVE: [&str; 5] = ["AP", "nDCG@10", "RR", "P@10", "R@100"];

#[test]
fn every_type_gives_what_plain_formulas_give() {
    let (rows, depth) = (130, 30);
    let (labels, relevant) = binary(rows, depth);
    let expected: Vec<[f64; 5]> =
        labels.chunks(depth).zip(&relevant).map(|(row, &count)| plain(row, count)).collect();
    let of_row = |row: usize| relevant[row] as i64;
    let (small, wide): (Vec<i8>, Vec<i64>) =
        labels.iter().map(|&label| (label as i8, i64::from(label))).unzip();
    let (short, double): (Vec<i16>, Vec<f64>) =
        labels.iter().map(|&label| (label as i16, f64::from(label))).unzip();
    let float: Vec<f32> = labels.iter().map(|&label| label as f32).collect();
    let bf16: Vec<u16> = float.iter().map(|label| (label.to_bits() >> 16) as u16).collect();
    let f16: Vec<u16> =
        labels.iter().map(|label| [0xbc00, 0, 0x3c00][(label + 1) as usize]).collect();
    let counts: Vec<i64> = (0..rows).map(of_row).collect();
    let types: [Numbers<'_>; 8] = [
        (&small).into(),
        (&short).into(),
        (&labels).into(),
        (&wide).into(),
        (&float).into(),
        (&double).into(),
        Numbers::F16(&f16),
        Numbers::Bf16(&bf16),
    ];
    for numbers in types {
        for counts in [Ideal::Relevant((&relevant).into()), Ideal::Relevant((&counts).into())] {
            let rankings =
                Rankings::labels(numbers, Shape::dense(depth)).unwrap().with_ideal(counts).unwrap();
            let scores =
                Evaluator::new(FIVE).unwrap().with_per_query(true).rankings(&rankings).unwrap();
            for (measure, values) in values(&scores).iter().enumerate() {
                for (row, value) in values.iter().enumerate() {
                    let error = (value - expected[row][measure]).abs();
                    assert!(
                        error <= 1e-15 * 30.0,
                        "{} of row {row}: {value} and {}",
                        FIVE[measure],
                        expected[row][measure]
                    );
                }
            }
            assert_eq!(scores.runs[0].per_query.as_ref().unwrap().queries.get(100), b"100");
        }
    }
    // Bytes have no −1.
    let bytes: Vec<u8> = labels.iter().map(|&label| label.max(0) as u8).collect();
    let truths: Vec<bool> = bytes.iter().map(|&label| label == 1).collect();
    let measure_values = |numbers: Numbers<'_>| {
        let rankings = Rankings::labels(numbers, Shape::dense(depth)).unwrap();
        let scores =
            Evaluator::new(FIVE).unwrap().with_per_query(true).rankings(&rankings).unwrap();
        assert_eq!(scores.runs[0].ideal, IdealSource::Retrieved);
        values(&scores).to_vec()
    };
    let own = bytes.chunks(depth).map(|row| row.iter().map(|&label| u32::from(label)).sum::<u32>());
    for (row, relevant) in own.enumerate() {
        let expected = plain(&labels[row * depth..(row + 1) * depth], relevant);
        for (measure, values) in measure_values((&bytes).into()).iter().enumerate() {
            assert!(
                (values[row] - expected[measure]).abs() <= 3e-14,
                "{} of row {row}",
                FIVE[measure]
            );
        }
        if row == 3 {
            break;
        }
    }
    assert_eq!(measure_values((&bytes).into()), measure_values(truths.as_slice().into()));
}

#[test]
fn every_shape_says_the_same() {
    let mut case = Case::new(5, 70, 20);
    case.rows[3].clear();
    let (labels, sizes) = case.flat();
    let (counts, width, stride) = (case.counts(), 20, 27);
    let offsets: Vec<i64> = std::iter::once(0)
        .chain(sizes.iter().scan(0, |end, &size| {
            *end += i64::from(size);
            Some(*end)
        }))
        .collect();
    // The values behind the rows and between them must not be looked at.
    let mut padded = vec![i32::MAX; 70 * stride];
    for (row, labels) in case.rows.iter().enumerate() {
        padded[row * stride..][..labels.len()].copy_from_slice(labels);
    }
    let measure_values = |labels: &[i32], shape: Shape<'_>| {
        let rankings = Rankings::labels(labels, shape).unwrap();
        let rankings = rankings
            .with_ideal(Ideal::Counts { grades: GRADES, counts: (&counts).into() })
            .unwrap();
        values(&Evaluator::new(FIVE).unwrap().with_per_query(true).rankings(&rankings).unwrap())
            .to_vec()
    };
    let expected = measure_values(&labels, Shape::sizes(&sizes));
    assert_eq!(measure_values(&labels, Shape::offsets(&offsets)), expected);
    assert_eq!(
        measure_values(&padded, Shape::strided(width, stride).with_lengths(&sizes)),
        expected
    );
    assert_eq!(
        measure_values(
            &padded[..69 * stride + width],
            Shape::strided(width, stride).with_lengths(&sizes)
        ),
        expected
    );
    // Rows without a document are empty in every shape.
    let counted = |labels: &[i32], shape: Shape<'_>| {
        let rankings = Rankings::labels(labels, shape).unwrap();
        let evaluator = Evaluator::new(["RR"]).unwrap().with_queries(QuerySet::Common);
        let run = evaluator.rankings(&rankings).unwrap().runs.remove(0);
        (run.queries, run.missing.count)
    };
    let empty = sizes.iter().filter(|&&size| size == 0).count();
    assert!(empty > 0);
    assert_eq!(counted(&labels, Shape::sizes(&sizes)), (70 - empty, empty as u64));
    assert_eq!(
        counted(&padded, Shape::strided(width, stride).with_lengths(&sizes)),
        (70 - empty, empty as u64)
    );
    // Groups have no empty rows.
    let full: Vec<&Vec<i32>> = case.rows.iter().filter(|row| !row.is_empty()).collect();
    let groups: Vec<u32> =
        full.iter().enumerate().flat_map(|(at, row)| vec![900 - at as u32; row.len()]).collect();
    let rankings = Rankings::labels(&labels, Shape::groups(&groups)).unwrap();
    let by_group = Evaluator::new(FIVE).unwrap().with_per_query(true).rankings(&rankings).unwrap();
    let sizes: Vec<u32> = full.iter().map(|row| row.len() as u32).collect();
    let rankings = Rankings::labels(&labels, Shape::sizes(&sizes)).unwrap();
    let by_size = Evaluator::new(FIVE).unwrap().with_per_query(true).rankings(&rankings).unwrap();
    assert_eq!(values(&by_group), values(&by_size));
    assert_eq!(by_group.runs[0].queries, full.len());
}

/// Scores rank as sorting does: the largest first, of equal scores the earlier; infinite scores are
/// like others.
#[test]
fn scores_are_ranked_as_sorting_ranks_them() {
    let mut random = Random(11);
    let (rows, width) = (80, 60);
    let grades: Vec<i32> = (0..rows * width).map(|_| [-1, 0, 0, 1, 2][random.below(5)]).collect();
    let mut scores: Vec<f32> =
        (0..rows * width).map(|_| random.below(40) as f32 / 8.0 - 2.0).collect();
    (scores[3], scores[70], scores[71]) = (f32::INFINITY, f32::NEG_INFINITY, -0.0);
    let doubles: Vec<f64> = scores.iter().map(|&score| score.into()).collect();
    let mut sorted = Vec::new();
    for (scores, grades) in scores.chunks(width).zip(grades.chunks(width)) {
        let mut places: Vec<usize> = (0..width).collect();
        places.sort_by(|&one, &other| scores[other].partial_cmp(&scores[one]).unwrap());
        sorted.extend(places.into_iter().map(|place| grades[place]));
    }
    let shape = Shape::dense(width);
    let labels = Rankings::labels(&sorted, shape).unwrap();
    for measures in [&["nDCG@10", "RR@10", "P@3"][..], &["AP", "nDCG", "Bpref", "INST", "RBP"]] {
        let evaluator = Evaluator::new(measures.iter().copied()).unwrap().with_per_query(true);
        let expected = evaluator.rankings(&labels).unwrap();
        for scores in [Numbers::from(&scores), Numbers::from(&doubles)] {
            let found =
                evaluator.rankings(&Rankings::scores(scores, &grades, shape).unwrap()).unwrap();
            assert_eq!(values(&found), values(&expected));
            assert_eq!(found.runs[0].ideal, IdealSource::Retrieved);
        }
    }
}

#[test]
fn ids_are_joined_as_text_ids_are() {
    let relevant = [vec![3u64, 9, 4], vec![], vec![1]];
    let retrieved = [vec![9u64, 5, 3, 8], vec![2, 1], vec![]];
    let judged: Vec<(String, String, f64)> = relevant
        .iter()
        .enumerate()
        .flat_map(|(query, ids)| {
            ids.iter().map(move |id| (format!("q{query}"), format!("{id}"), 1.0))
        })
        .chain([("q1".to_owned(), "77".to_owned(), 0.0)])
        .collect();
    let qrels =
        Qrels::new(judged.iter().map(|(query, id, grade)| (query.as_str(), id.as_str(), *grade)))
            .unwrap();
    let run: Vec<(String, String, f64)> = retrieved
        .iter()
        .enumerate()
        .flat_map(|(query, ids)| {
            ids.iter()
                .zip(0..)
                .map(move |(id, rank)| (format!("q{query}"), format!("{id}"), -f64::from(rank)))
        })
        .collect();
    let run = run.iter().map(|(query, id, score)| (query.as_str(), id.as_str(), *score));
    let matrix = Join::default().rankings(&qrels, [("run".to_owned(), run)]).unwrap();
    let evaluator =
        Evaluator::new(["AP", "RR", "nDCG", "R@2", "Bpref"]).unwrap().with_per_query(true);
    let expected = evaluator.evaluate(&matrix).unwrap();
    let found = evaluator.rankings(&Rankings::ids(&relevant, &retrieved).unwrap()).unwrap();
    assert_eq!(values(&found), values(&expected));
    assert_eq!((found.runs[0].ideal, found.runs[0].missing.count), (IdealSource::Judgments, 1));
    // Ids of text, with grades.
    let judged = [vec![("a", 2.0), ("b", 0.0), ("c", 1.0)]];
    let retrieved = [["x", "a", "b", "c"]];
    let scores = Evaluator::new(["CG", "Judged@4"])
        .unwrap()
        .rankings(&Rankings::graded_ids(&judged, &retrieved).unwrap())
        .unwrap();
    assert_eq!((scores.runs[0].average(0), scores.runs[0].average(1)), (Some(3.0), Some(0.75)));
}

#[test]
fn a_stream_gives_what_one_batch_gives_however_it_is_cut() {
    let case = Case::new(9, 3000, 30);
    let (labels, sizes) = case.flat();
    let (counts, ids) =
        (case.counts(), (0..3000).map(|row| format!("{row:04}")).collect::<Vec<_>>());
    let ids: Ids = ids.iter().map(|id| id.as_bytes()).collect();
    let ends: Vec<usize> = std::iter::once(0)
        .chain(sizes.iter().scan(0, |end, &size| {
            *end += size as usize;
            Some(*end)
        }))
        .collect();
    let book = Codebook::new(GRADES.iter().copied()).unwrap();
    let evaluator = Evaluator::new(["AP", "nDCG@10", "GMAP", "ERR", "NumRet"]).unwrap();
    let summary = |cuts: &[usize], named: bool, threads: usize, queries: QuerySet| -> Summary {
        let evaluator =
            evaluator.clone().with_threads(threads.try_into().ok()).with_queries(queries);
        let mut stream = evaluator.stream(&book).unwrap();
        for rows in cuts.windows(2).map(|cut| cut[0]..cut[1]) {
            let rankings = Rankings::labels(
                &labels[ends[rows.start]..ends[rows.end]],
                Shape::sizes(&sizes[rows.clone()]),
            )
            .unwrap();
            let counts = Ideal::Counts {
                grades: GRADES,
                counts: (&counts[rows.start * 4..rows.end * 4]).into(),
            };
            let rankings = rankings.with_ideal(counts).unwrap();
            let some: Ids = rows.map(|row| ids.get(row)).collect();
            stream.push(&if named { rankings.with_ids(&some).unwrap() } else { rankings }).unwrap();
        }
        assert_eq!(stream.rows(), 3000);
        stream.finish().unwrap()
    };
    for queries in [QuerySet::Judged, QuerySet::Common] {
        for named in [false, true] {
            let whole = summary(&[0, 3000], named, 1, queries);
            for cuts in
                [&[0, 1, 2, 3, 700, 701, 3000][..], &[0, 64, 128, 2999, 3000], &[0, 1500, 3000]]
            {
                for threads in [1, 2, 5] {
                    assert_eq!(summary(cuts, named, threads, queries), whole);
                }
            }
            // The summary is stored, and read again.
            #[cfg(feature = "serde")]
            assert_eq!(Summary::from_bytes(&whole.to_bytes()).unwrap(), whole);
            #[cfg(feature = "serde")]
            assert_eq!(Summary::from_json(&whole.to_json()).unwrap(), whole);
            // The summary is that of an evaluation of a matrix.
            let rankings =
                Rankings::labels(&labels, Shape::sizes(&sizes)).unwrap().with_ids(&ids).unwrap();
            let rankings = rankings
                .with_ideal(Ideal::Counts { grades: GRADES, counts: (&counts).into() })
                .unwrap();
            let matrix = LabelMatrix::from_rankings("rankings", &rankings).unwrap();
            let of_matrix = evaluator.clone().with_queries(queries).evaluate(&matrix).unwrap();
            let bits = |scores: &Scores| {
                (0..5).map(|at| scores.runs[0].average(at).unwrap().to_bits()).collect::<Vec<_>>()
            };
            assert_eq!(bits(&of_matrix), bits(&whole.scores(&[]).unwrap()));
        }
    }
}

#[test]
fn a_batch_that_is_wrong_leaves_the_stream_as_it_was() {
    let book = Codebook::new([0.0, 1.0]).unwrap();
    let evaluator = Evaluator::new(["RR"]).unwrap();
    let mut stream = evaluator.stream(&book).unwrap();
    stream.push(&Rankings::labels(&[0u8, 1, 1, 0], Shape::dense(2)).unwrap()).unwrap();
    let many: Vec<u8> =
        (0..200_000).map(|at| if at == 190_001 { 7 } else { u8::from(at % 3 == 0) }).collect();
    let error =
        stream.push(&Rankings::labels(&many, Shape::dense(2)).unwrap()).unwrap_err().to_string();
    assert_eq!(error, "labels[95000, 1] is 7: one of the grades 0, 1 was expected, or -1");
    let scores = stream.finish().unwrap().scores(&[]).unwrap();
    assert_eq!((scores.runs[0].queries, scores.runs[0].average(0)), (2, Some(0.75)));
}

#[test]
fn an_evaluation_of_rankings_can_be_watched_and_stopped() {
    let watch = Arc::new(ProgressHandle::default());
    let labels = vec![1u8; 3 << 20];
    let rankings = Rankings::labels(&labels, Shape::dense(8)).unwrap();
    let evaluator = Evaluator::new(["AP"]).unwrap().with_progress(Some(watch.clone()));
    evaluator.rankings(&rankings).unwrap();
    assert_eq!((watch.done(), watch.total()), (3 << 20, 3 << 20));
    watch.stop();
    assert_eq!(evaluator.rankings(&rankings).unwrap_err().kind(), ErrorKind::Stopped);
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let refused = |rankings: laneval::Result<Rankings<'_>>| {
        let scores =
            rankings.and_then(|rankings| Evaluator::new(["AP", "nDCG@1"])?.rankings(&rankings));
        scores.err().map_or("nothing".to_owned(), |error| error.to_string())
    };
    let labels = [0i32, 1, 2, 0, 1, -1];
    let message = |shape: Shape<'_>| refused(Rankings::labels(&labels, shape));
    assert_eq!(message(Shape::dense(2)), "nothing");
    assert_eq!(message(Shape::dense(4)), "labels has 6 values, which are no whole rows of 4");
    assert_eq!(
        message(Shape::strided(3, 4)),
        "labels has 6 values, which are no whole rows of 3 that are 4 apart"
    );
    assert_eq!(
        message(Shape::dense(0)),
        "the rows of labels have no values: at least one column was expected"
    );
    assert_eq!(message(Shape::strided(4, 3)), "rows of 4 values 3 apart: they must not overlap");
    assert_eq!(
        message(Shape::dense(2).with_lengths(&[2u8, 2])),
        "lengths has 2 of them, and labels has 3 rows"
    );
    assert_eq!(
        message(Shape::dense(2).with_lengths(&[2i32, 3, 2])),
        "lengths[1] is 3, and a row has 2 values"
    );
    assert_eq!(
        message(Shape::dense(2).with_lengths(&[2i32, -1, 2])),
        "lengths[1] is -1: an integer from 0 was expected"
    );
    assert_eq!(
        message(Shape::offsets(&[0u32; 0])),
        "offsets is empty: one more than there are rows was expected"
    );
    assert_eq!(
        message(Shape::offsets(&[0i64, 4, 3])),
        "offsets[2] is 3, less than the one before, 4"
    );
    assert_eq!(message(Shape::offsets(&[0i64, 4, 7])), "offsets[2] is 7, and labels has 6 values");
    assert_eq!(
        message(Shape::offsets(&[-1i16, 4])),
        "offsets[0] is -1: an integer from 0 was expected"
    );
    assert_eq!(message(Shape::sizes(&[2u32, 3])), "the sizes sum to 5, and labels has 6 values");
    assert_eq!(
        message(Shape::sizes(&[u64::MAX, 7])),
        "the sizes sum to 18446744073709551615, and labels has 6 values"
    );
    assert_eq!(message(Shape::groups(&[1i64, 1, 2])), "groups has 3 ids, and labels has 6 values");
    assert_eq!(
        message(Shape::groups(&[1i64, 1, 2, 2, 1, 1])),
        "groups[4] is 1, a group that ended before: the values of a group must lie together"
    );
    assert_eq!(message(Shape::offsets(&[0i64])), "no rankings: at least one row was expected");
    assert_eq!(
        refused(Rankings::labels(&[0u8; 0], Shape::dense(3))),
        "no rankings: at least one row was expected"
    );

    assert_eq!(
        refused(Rankings::labels(&[0i8, -2, 1, 1], Shape::dense(2))),
        "labels[0, 1] is -2: a grade from 0 was expected, or -1 for a document that is not judged"
    );
    assert_eq!(
        refused(Rankings::labels(&[0.5f32, 1.0, f32::NAN, 1.0], Shape::dense(2))),
        "labels[1, 0] is NaN: a grade from 0 was expected, or -1 for a document that is not judged"
    );
    assert_eq!(
        refused(Rankings::labels(&[0.5f64, f64::INFINITY], Shape::dense(2))),
        "labels[0, 1] is inf: a grade from 0 was expected, or -1 for a document that is not judged"
    );
    let many: Vec<i32> = (-2..300).collect();
    assert_eq!(
        refused(Rankings::labels(&many, Shape::dense(302))),
        "labels[0, 0] is -2: a grade from 0 was expected, or -1 for a document that is not judged"
    );
    assert_eq!(refused(Rankings::labels(&many[1..], Shape::dense(301))), "nothing");

    let relevant =
        |counts: &[i64]| {
            refused(Rankings::labels(&[0i32, 1, 1, 1], Shape::dense(2)).and_then(
                |label_rankings| label_rankings.with_ideal(Ideal::Relevant(counts.into())),
            ))
        };
    assert_eq!(relevant(&[1, 2]), "nothing");
    assert_eq!(relevant(&[1]), "1 relevant counts, and 2 (rows) were expected");
    assert_eq!(
        relevant(&[1, 1]),
        "row 1 has 2 documents of grade 1, and only 1 are said to be judged so"
    );
    assert_eq!(
        relevant(&[1, -2]),
        "the judged counts of row 1 have -2: an integer from 0 was expected"
    );
    assert_eq!(
        relevant(&[1, 1 << 40]),
        "the judged counts of row 1 have 1099511627776: an integer from 0 was expected"
    );
    assert_eq!(
        relevant(&[1, 1 << 29]),
        "row 1 has 536870912 judged documents, and the most that a query may have is 268435456"
    );
    let counts = |grades: &[f64], counts: &[u32]| {
        let rankings = Rankings::labels(&labels, Shape::dense(6));
        refused(rankings.and_then(|label_rankings| {
            label_rankings.with_ideal(Ideal::Counts { grades, counts: counts.into() })
        }))
    };
    assert_eq!(counts(&[1.0, 2.0], &[2, 1]), "nothing");
    assert_eq!(
        counts(&[1.0], &[2]),
        "labels[0, 2] is 2: one of the grades 0, 1 was expected, or -1"
    );
    assert_eq!(counts(&[2.0, 1.0], &[1]), "1 judged counts, and 2 (rows × grades) were expected");
    assert_eq!(
        counts(&[2.0, 2.0], &[1, 1]),
        "2 among the grades of the judged counts: distinct ones from 0 were expected"
    );
    assert_eq!(
        counts(&[-1.0], &[1]),
        "-1 among the grades of the judged counts: distinct ones from 0 were expected"
    );

    let scores =
        |scores: &[f64]| refused(Rankings::scores(scores, &[0u8, 1, 1, 0], Shape::dense(2)));
    assert_eq!(scores(&[0.5, f64::NEG_INFINITY, f64::INFINITY, 0.0]), "nothing");
    assert_eq!(scores(&[0.5, 1.0, 2.0, f64::NAN]), "scores[1, 1] is not a number");
    assert_eq!(scores(&[0.5, 1.0]), "2 scores and 4 grades: the same number was expected");
    let ids = |relevant: &[Vec<&str>], retrieved: &[Vec<&str>]| {
        refused(Rankings::ids(relevant, retrieved))
    };
    assert_eq!(ids(&[vec!["a"]], &[vec!["a"]]), "nothing");
    assert_eq!(
        ids(&[vec!["a"]], &[]),
        "1 lists of relevant ids and 0 of retrieved ones: the same number was expected"
    );
    assert_eq!(ids(&[vec!["a", "b", "a"]], &[vec![]]), "relevant[0, 2], \"a\", occurs twice");
    assert_eq!(ids(&[vec![]], &[vec!["x", "y", "x"]]), "retrieved[0, 2], \"x\", occurs twice");
    let graded = [vec![("a", f64::NAN)]];
    assert_eq!(
        refused(Rankings::graded_ids(&graded, &[["a"]])),
        "relevant[0, 0] has the grade NaN: one from 0 was expected"
    );

    let id: Ids = [b"a"].into_iter().map(|id| id.as_slice()).collect();
    assert_eq!(
        refused(
            Rankings::labels(&labels, Shape::dense(2)).and_then(|rankings| rankings.with_ids(&id))
        ),
        "1 ids, and 3 (rows) were expected"
    );
    let twice: Ids = [b"a", b"b", b"a"].into_iter().map(|id| id.as_slice()).collect();
    assert_eq!(
        refused(
            Rankings::labels(&labels, Shape::dense(2))
                .and_then(|rankings| rankings.with_ids(&twice))
        ),
        "the id a occurs twice"
    );
    let empty = Rankings::labels(&labels, Shape::sizes(&[6u32, 0])).unwrap();
    let complete =
        Evaluator::new(["AP"]).unwrap().with_queries(QuerySet::RequireAll).rankings(&empty);
    assert_eq!(complete.unwrap_err().to_string(), "row 1: nothing was retrieved for it");
}

/// Scores of few values, so that most documents are tied, under types whose order has corners: −0,
/// infinity, whole numbers.
#[test]
fn ties_of_scores_give_the_bits_of_text() {
    let mut random = Random(11);
    let names = "AP nDCG@5 nDCG RR P@5 R@5 ERR@10 Bpref Rprec RBP Success@3 Compat";
    let values_of = [0.0f32, -0.0, 1.0, -2.0, 3.0, f32::MAX];
    let rows: Vec<Vec<(f32, i8)>> = (0..40)
        .map(|_| {
            let document = |random: &mut Random| {
                (values_of[random.below(values_of.len())], [-1, -1, 0, 1, 2, 3][random.below(6)])
            };
            // Every query is judged, as it is in text.
            (0..random.below(30)).map(|_| document(&mut random)).chain([(1.0, 1)]).collect()
        })
        .collect();
    let sizes: Vec<u32> = rows.iter().map(|row| row.len() as u32).collect();
    let (scores, grades): (Vec<f32>, Vec<i8>) = rows.iter().flatten().copied().unzip();
    let places = || {
        rows.iter()
            .enumerate()
            .flat_map(|(row, documents)| documents.iter().enumerate().map(move |at| (row, at)))
    };
    let (mut judged, mut run) = (Vec::new(), Vec::new());
    for (row, (at, &(score, grade))) in places() {
        // The ids are in the order of the documents, which is that of equal scores in memory.
        let (query, document) = (format!("{row:02}"), format!("d{at:03}"));
        if grade >= 0 {
            judged.push((query.clone(), document.clone(), f64::from(grade)));
        }
        run.push((query, document, f64::from(score)));
    }
    let text = {
        let judged = judged
            .iter()
            .map(|(query, document, grade)| (query.as_str(), document.as_str(), *grade));
        let run =
            run.iter().map(|(query, document, score)| (query.as_str(), document.as_str(), *score));
        let join = Join { keep_ties: true, ..Join::default() };
        join.rankings(&Qrels::new(judged).unwrap(), [("rankings".to_owned(), run)]).unwrap()
    };
    let wide: Vec<f64> = scores.iter().map(|&score| score.into()).collect();
    let whole: Vec<i64> = scores.iter().map(|&score| (score as i64).clamp(-2, 1 << 40)).collect();
    let all: [Numbers<'_>; 3] = [(&scores).into(), (&wide).into(), (&whole).into()];
    for tied in [TiedValue::Average, TiedValue::Best, TiedValue::Worst] {
        for depth in [None, Some(4)] {
            let evaluator = Evaluator::new(names.split(' '))
                .unwrap()
                .with_per_query(true)
                .with_tied_value(tied);
            let evaluator = evaluator.with_view(View { depth, judged_only: false });
            let expected = evaluator.evaluate(&text).unwrap();
            for scores in all {
                let rankings = Rankings::scores(scores, &grades, Shape::sizes(&sizes)).unwrap();
                let found = evaluator.rankings(&rankings).unwrap();
                assert_eq!(values(&found), values(&expected), "{tied:?} {depth:?}");
            }
        }
    }
}

#[test]
fn ties_that_cannot_be_known_are_refused() {
    let evaluator = Evaluator::new(["RR"]).unwrap().with_tied_value(TiedValue::Average);
    let refused = |rankings: &Rankings<'_>| evaluator.rankings(rankings).unwrap_err().to_string();
    let labels = Rankings::labels(&[1u8, 0], Shape::dense(2)).unwrap();
    assert_eq!(
        refused(&labels),
        "rankings without scores do not know which of their documents are tied: scores were \
         expected"
    );
    let scores: Vec<f32> = (0..300).map(|at| at as f32).collect();
    let rankings = Rankings::scores(&scores, &scores, Shape::dense(300)).unwrap();
    assert!(refused(&rankings).starts_with("the grades have more than 253 distinct values"));
    let nan = Rankings::scores(&[1.0, f32::NAN], &[1u8, 0], Shape::dense(2)).unwrap();
    assert_eq!(refused(&nan), "scores[0, 1] is not a number");
    let batches = evaluator.stream(&Codebook::new([0.0, 1.0]).unwrap()).err().unwrap().to_string();
    assert_eq!(batches, "values over ties need all rankings at once, and not batch by batch");
}
