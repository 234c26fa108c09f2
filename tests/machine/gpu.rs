//! The GPU engine on a real adapter: the same integers as their mirror, to the bit, whatever the
//! shape of the work.

use std::sync::Arc;

use laneval::measure::Measure;
use laneval::parts::engine::gpu::batch::{BatchResult, PreparedProgram, Sizes};
use laneval::parts::engine::gpu::device::{AdapterChoice, Device};
use laneval::parts::engine::gpu::reduce::{Reducer, ScaledProduct};
use laneval::parts::engine::gpu::resident::ResidentLabels;
use laneval::parts::engine::gpu::tasks::IntegerProgram;
use laneval::parts::engine::gpu::{Gpu, mirror};
use laneval::parts::engine::{Engine, Job};
use laneval::parts::fold::{
    CodeTable, Cut, Discount, Factor, Fold, Product, Program, QueryInputs, Task,
};
use laneval::parts::generate::Synthetic;
use laneval::parts::matrix::CodesAbove;
use laneval::{Evaluator, LabelMatrix, QuerySet, View};
use libtest_mimic::{Arguments, Failed, Trial};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::cases::{by_default, cases};
use crate::forge::{Change, Forged, TILES};
use crate::matrices::{Query, Shape, matrix, shape};
use crate::variants::every_measure;

/// Two devices of one adapter for all tests, so that shaders are compiled once; the second has no
/// integers of 64 bits.
struct Bench {
    gpu: Gpu,
    pairs: Gpu,
}

/// Returns the tests; they are ignored where there is no adapter.
pub fn trials(arguments: &Arguments) -> Vec<Trial> {
    let required = std::env::var_os("LANEVAL_REQUIRE_ADAPTER").is_some();
    let adapter = if arguments.list { Err("not looked for".to_owned()) } else { open() };
    let ignored = adapter.is_err() && !required;
    let bench = Arc::new(adapter);
    let trial = |name: &str, test: fn(&Bench) -> Result<(), Failed>| {
        let bench = bench.clone();
        let run = move || test(bench.as_ref().as_ref().map_err(Failed::from)?);
        Trial::test(name, run).with_ignored_flag(ignored)
    };
    vec![
        trial("gpu::words_equal_the_mirror", words_equal_the_mirror),
        trial("gpu::forced_sizes_change_nothing", forced_sizes_change_nothing),
        trial("gpu::judged_documents_move_up", judged_documents_move_up),
        trial("gpu::deepest_rankings_and_blocks_of_tables", deepest_rankings_and_blocks_of_tables),
        trial("gpu::more_workgroups_than_fit_side_by_side", more_workgroups_than_fit_side_by_side),
        trial("gpu::measures_agree_with_the_cpu", measures_agree_with_the_cpu),
        trial(
            "gpu::labels_of_any_bytes_are_those_of_the_mirror",
            labels_of_any_bytes_are_those_of_the_mirror,
        ),
        trial("gpu::forged_files_are_evaluated_or_refused", forged_files_are_evaluated_or_refused),
        trial("gpu::resident_labels_answer_the_same", resident_labels_answer_the_same),
        trial(
            "gpu::sums_on_the_device_are_those_of_the_mirror",
            sums_on_the_device_are_those_of_the_mirror,
        ),
        trial(
            "gpu::averages_on_the_device_are_within_their_bounds",
            averages_on_the_device_are_within_their_bounds,
        ),
        trial("gpu::rankings_too_deep_are_an_error", rankings_too_deep_are_an_error),
        trial("gpu::bytes_move_in_some_time", bytes_move_in_some_time),
    ]
}

fn open() -> Result<Bench, String> {
    let named = std::env::var("LANEVAL_ADAPTER").ok();
    let choice = named.as_deref().map_or(AdapterChoice::Hardware, AdapterChoice::Named);
    let device = || {
        Device::open(choice).or_else(|error| {
            if named.is_none() { Device::open(AdapterChoice::Named("0")) } else { Err(error) }
        })
    };
    let both = device().and_then(|gpu_device| {
        Ok(Bench {
            gpu: Gpu::from_device(gpu_device),
            pairs: Gpu::from_device(device()?.with_pairs()),
        })
    });
    both.map_err(|error| error.to_string())
}

/// Compares the words of all tiles, which the device computes in batches of these sizes, with those
/// of the mirror.
fn check(
    device: &Device,
    sizes: Sizes,
    resident: bool,
    matrix: &LabelMatrix,
    (program, inputs): (&Program, &QueryInputs),
    view: View,
) {
    let deepest = matrix.depths().iter().copied().max().unwrap_or(0);
    let integers = Arc::new(IntegerProgram::new(
        program,
        view.depth.map_or(deepest, |depth| deepest.min(depth)),
    ));
    let ready = PreparedProgram::new(device, integers.clone(), view, sizes).expect("kernels");
    let labels = resident.then(|| ResidentLabels::new(device, &matrix.batch()).expect("room"));
    let mut next = 0;
    let compare = |answer: BatchResult<'_>| {
        assert_eq!(answer.tiles.start, next, "batches come in order");
        next = answer.tiles.end;
        for (at, tile) in answer.tiles.clone().enumerate() {
            let mut scratch = Vec::new();
            let seen = view.apply(matrix.tile(tile), &mut scratch);
            for (lane, row) in matrix.tile_rows(tile).iter().enumerate() {
                let query = *row as usize % matrix.queries().len();
                let expected = mirror::lane(&integers, inputs, seen, lane, query);
                for (word, expected) in (0..).zip(expected) {
                    let found = answer.word(word, at, lane);
                    let task =
                        integers.tasks.iter().rfind(|task| task.word <= word).expect("a task");
                    let place = format!(
                        "tile {tile}, lane {lane}, word {} of {:?}",
                        word - task.word,
                        task.kind
                    );
                    assert_eq!(found, expected, "{place:.200} at {:?}, {view:?}", task.cuts);
                }
            }
        }
        Ok(())
    };
    let tiles = matrix.packing().tiles.len();
    ready
        .run(
            &Job { batch: matrix.batch(), view, program, inputs, watch: None },
            labels.as_ref(),
            compare,
        )
        .expect("a run");
    assert_eq!(next, tiles);
}

fn property<S: Strategy>(all: u32, strategy: &S, test: impl Fn(S::Value)) -> Result<(), Failed>
where
    S::Value: std::fmt::Debug,
{
    let config = Config {
        cases: cases(all),
        max_shrink_iters: 50,
        failure_persistence: None,
        ..Config::default()
    };
    let run = TestRunner::new(config).run(strategy, |value| {
        test(value);
        Ok(())
    });
    run.map_err(|error| Failed::from(error.to_string()))
}

fn words_equal_the_mirror(Bench { gpu, pairs }: &Bench) -> Result<(), Failed> {
    let depth = proptest::option::of(1..300u32);
    property(16, &(shape(), any::<bool>(), depth), |(shape, judged_only, depth)| {
        let matrix = matrix(&shape);
        let plan = Evaluator::from_measures(every_measure(&matrix))
            .plan(matrix.codebook())
            .expect("a plan");
        let prepared = plan.prepare(&matrix.batch());
        let view = View { depth, judged_only };
        for gpu in [gpu, pairs] {
            check(
                gpu.device(),
                Sizes::default(),
                false,
                &matrix,
                (plan.program(), prepared.inputs()),
                view,
            );
        }
    })
}

/// Returns a few folds of each kind, so that a run is short, and two inputs.
fn program(queries: usize) -> (Program, QueryInputs) {
    let set = CodesAbove(4);
    let gain = gains(&[0.0, 1.0, 3.0]);
    let task = |fold: Fold, cuts: &[Cut]| Task { fold, cuts: cuts.to_vec() };
    let tasks = vec![
        task(Fold::Count(set), &[Cut::At(3), Cut::At(10), Cut::PerQuery(1)]),
        task(Fold::FirstRank(set), &[Cut::End]),
        task(Fold::PrecisionSum(set), &[Cut::At(5), Cut::End]),
        task(Fold::WeightedSum { gain, discount: Discount::Log2 }, &[Cut::At(10), Cut::End]),
        task(
            Fold::Cascade { stop: gains(&[0.0, 0.25, 0.75]), discount: Discount::Rank },
            &[Cut::End],
        ),
        task(Fold::InferredSum(set), &[Cut::End]),
        task(Fold::Histogram, &[Cut::End]),
    ];
    (
        Program { tasks, codes: 6, ..Program::default() },
        vec![vec![1; queries], (0..queries as u32).map(|at| at % 9).collect()],
    )
}

fn gains(numbers: &[f64]) -> CodeTable {
    let mut table = [0.0; 256];
    table[3..3 + numbers.len()].copy_from_slice(numbers);
    table.into()
}

/// Two runs of pseudo-random labels.
fn labels(queries: usize, depth: impl Fn(usize) -> usize) -> LabelMatrix {
    let label = |query: usize, rank: usize| {
        1 + ((query * 7919 + rank).wrapping_mul(2_654_435_761) >> 13) as u8 % 5
    };
    let query = |query: usize| Query {
        rankings: [query, query + 1]
            .map(|number| (0..depth(number)).map(|rank| label(number, rank)).collect())
            .to_vec(),
        unretrieved: vec![4],
    };
    matrix(&Shape { grades: vec![0.0, 1.0, 2.0], queries: (0..queries).map(query).collect() })
}

fn forced_sizes_change_nothing(Bench { gpu, .. }: &Bench) -> Result<(), Failed> {
    let matrix = labels(700, |query| query * 37 % 131);
    for (batch, groups) in [(1, 1), (1, 65_535), (20_000, 3), (100_000, 2)] {
        for judged_only in [false, true] {
            let view = View { depth: None, judged_only };
            let (program, inputs) = program(700);
            check(gpu.device(), Sizes { batch, groups }, false, &matrix, (&program, &inputs), view);
            check(gpu.device(), Sizes { batch, groups }, true, &matrix, (&program, &inputs), view);
        }
    }
    Ok(())
}

/// Returns the judged documents of rankings cut off anywhere within a word, those of the cut ranks
/// gone.
fn judged_documents_move_up(Bench { gpu, .. }: &Bench) -> Result<(), Failed> {
    let matrix = labels(130, |query| query % 23);
    for depth in (1..=23).map(Some).chain([None]) {
        let view = View { depth, judged_only: true };
        let (program, inputs) = program(130);
        check(gpu.device(), Sizes::default(), false, &matrix, (&program, &inputs), view);
    }
    Ok(())
}

fn deepest_rankings_and_blocks_of_tables(Bench { gpu, pairs }: &Bench) -> Result<(), Failed> {
    let numbers: Vec<f64> = (0..253).map(|at| f64::from(at) / 256.0).collect();
    let label = |rank: usize| 3 + (rank.wrapping_mul(2_654_435_761) >> 13) as u8 % 253;
    let ranking = |depth: usize| Query {
        rankings: vec![(0..depth).map(label).collect()],
        unretrieved: vec![4],
    };
    let queries = vec![ranking(65_535), ranking(40_000), ranking(20_001), ranking(3)];
    let matrix = matrix(&Shape { grades: numbers.clone(), queries });
    let cuts = vec![Cut::At(10), Cut::At(30_003), Cut::End];
    let sum = |gain: CodeTable, discount| Task {
        fold: Fold::WeightedSum { gain, discount },
        cuts: cuts.clone(),
    };
    let wide: Vec<f64> = (0..253).map(|at| f64::from(at % 31).exp2() - 1.0).collect();
    // Chances so small that a deep cascade goes on.
    let chances: Vec<f64> = numbers.iter().map(|number| number / 4096.0).collect();
    let cascade = Fold::Cascade { stop: gains(&chances), discount: Discount::Rank };
    let tasks = vec![
        sum(gains(&numbers), Discount::Log2),
        sum(gains(&wide), Discount::Log2),
        Task { fold: cascade, cuts: cuts.clone() },
        Task { fold: Fold::PrecisionSum(CodesAbove(100)), cuts: cuts.clone() },
        Task { fold: Fold::InferredSum(CodesAbove(100)), cuts: vec![Cut::End] },
        Task { fold: Fold::PairSum(CodesAbove(100)), cuts },
        // Of the deepest ranking nearly all hits: a driver may end a shader's loops after as many
        // rounds.
        Task {
            fold: Fold::PeakPrecision { hits: CodesAbove(100), caps: vec![0, 1, 2] },
            cuts: vec![Cut::End],
        },
    ];
    let inputs = vec![vec![1; 4], vec![20_000, 15_000, 11_000, 2], vec![39_000, 23_500, 11_000, 9]];
    let program = Program { tasks, codes: 256, ..Program::default() };
    for judged_only in by_default(&[true][..], &[false, true]).iter().copied() {
        let view = View { depth: None, judged_only };
        for gpu in [gpu, pairs] {
            check(gpu.device(), Sizes::default(), false, &matrix, (&program, &inputs), view);
        }
    }
    Ok(())
}

fn more_workgroups_than_fit_side_by_side(Bench { gpu, .. }: &Bench) -> Result<(), Failed> {
    // A dispatch has at most 65,535 workgroups in a row, and a tile is one of them.
    let synthetic = Synthetic { queries: 65_600 * 64, depth: 4, judged: 3, ..Synthetic::default() };
    let matrix = synthetic.matrix().map_err(|error| error.to_string())?;
    assert!(matrix.packing().tiles.len() > 65_535);
    let evaluator = Evaluator::new(["RR", "P@3"]).map_err(|error| error.to_string())?;
    let expected = evaluator.evaluate(&matrix).expect("scores");
    // Two batches, the first of them too long for one row.
    let sizes = Sizes { batch: 65_590 * 256, groups: 65_535 };
    let wide = ready_sums(gpu.device(), sizes, &matrix);
    assert_eq!(wide, expected.runs[0].average(0).expect("RR") * matrix.rows() as f64);
    Ok(())
}

/// Returns the reciprocal ranks of all rows, added up exactly (ranks 1 to 4 make multiples of a
/// twelfth).
fn ready_sums(device: &Device, sizes: Sizes, matrix: &LabelMatrix) -> f64 {
    let program = Program {
        tasks: vec![Task {
            fold: Fold::FirstRank(matrix.codebook().at_least(1.0)),
            cuts: vec![Cut::End],
        }],
        codes: matrix.codebook().codes(),
        ..Program::default()
    };
    let integers = Arc::new(IntegerProgram::new(&program, 4));
    let ready = PreparedProgram::new(device, integers, View::default(), sizes).expect("kernels");
    let (mut batches, mut twelfths) = (0, 0u64);
    let job = Job {
        batch: matrix.batch(),
        view: View::default(),
        program: &program,
        inputs: &QueryInputs::new(),
        watch: None,
    };
    let run = ready.run(&job, None, |answer| {
        batches += 1;
        for (at, tile) in answer.tiles.clone().enumerate() {
            let ranks = (0..matrix.tile_rows(tile).len()).map(|lane| answer.word(0, at, lane));
            twelfths +=
                ranks.map(|rank| if rank == 0 { 0 } else { 12 / u64::from(rank) }).sum::<u64>();
        }
        Ok(())
    });
    run.expect("a run");
    assert_eq!(batches, 2);
    twelfths as f64 / 12.0
}

fn measures_agree_with_the_cpu(Bench { gpu, .. }: &Bench) -> Result<(), Failed> {
    let views = (any::<bool>(), proptest::option::of(1..300u32), any::<bool>());
    property(12, &(shape(), views), |(shape, (judged_only, depth, both))| {
        let matrix = matrix(&shape);
        let mut evaluator = Evaluator::from_measures(every_measure(&matrix));
        evaluator = evaluator.with_view(View { depth, judged_only });
        evaluator = evaluator.with_per_query(true).allow_non_finite(true);
        evaluator = evaluator.with_queries(if both { QuerySet::Common } else { QuerySet::Judged });
        agree(&evaluator, gpu, &matrix);
    })
}

/// Checks every value of every measure: within 1e-9 of the CPU's value, relative to 1 or the value.
fn agree(evaluator: &Evaluator, engine: &impl Engine, matrix: &LabelMatrix) {
    let expected = evaluator.evaluate(matrix).expect("scores");
    let found = evaluator.evaluate_on(engine, matrix).expect("scores");
    assert_eq!(expected.runs.len(), found.runs.len());
    for (expected, found) in expected.runs.iter().zip(&found.runs) {
        let values =
            |run: &laneval::RunScores| run.per_query.clone().expect("values of queries").values;
        let (expected, found) = (values(expected), values(found));
        assert_eq!([expected.len(), found.len()], [evaluator.measures().len(); 2]);
        for (at, (expected, found)) in expected.iter().zip(found).enumerate() {
            assert_eq!(expected.len(), found.len());
            for (expected, found) in expected.iter().zip(found) {
                let near = (expected - found).abs() <= 1e-9 * expected.abs().max(1.0);
                assert!(
                    near || expected.to_bits() == found.to_bits(),
                    "{}: {found} is not {expected}",
                    evaluator.measures()[at]
                );
            }
        }
    }
}

/// Returns the file of a matrix, changed, as it is opened without a check of its tiles.
fn forged(matrix: &LabelMatrix, change: impl FnOnce(&mut Forged)) -> laneval::Result<LabelMatrix> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("forged.lmx");
    matrix.write(&path)?;
    let mut file = Forged::parse(&std::fs::read(&path).expect("a file"));
    change(&mut file);
    std::fs::write(&path, file.bytes()).expect("room");
    LabelMatrix::map(&path)
}

fn labels_of_any_bytes_are_those_of_the_mirror(Bench { gpu, pairs }: &Bench) -> Result<(), Failed> {
    let bytes = proptest::collection::vec((any::<usize>(), any::<u8>()), 1..50);
    property(4, &(shape(), bytes), |(shape, bytes)| {
        let bytes = |file: &mut Forged| {
            let tiles = &mut file.sections[TILES];
            let length = tiles.len().max(1);
            bytes.iter().for_each(|&(at, byte)| {
                tiles.get_mut(at % length).into_iter().for_each(|label| *label = byte);
            });
        };
        let matrix = forged(&matrix(&shape), bytes).expect("any label is believed");
        let plan = Evaluator::from_measures(every_measure(&matrix))
            .plan(matrix.codebook())
            .expect("a plan");
        let prepared = plan.prepare(&matrix.batch());
        for gpu in [gpu, pairs] {
            check(
                gpu.device(),
                Sizes::default(),
                false,
                &matrix,
                (plan.program(), prepared.inputs()),
                View::default(),
            );
        }
    })
}

fn forged_files_are_evaluated_or_refused(Bench { gpu, .. }: &Bench) -> Result<(), Failed> {
    let changes = proptest::collection::vec((any::<u8>(), any::<u32>(), any::<u64>()), 1..4);
    property(12, &(shape(), changes), |(shape, changes)| {
        let changes = changes.into_iter().map(|(kind, at, to)| Change { kind, at, to });
        if let Ok(matrix) =
            forged(&matrix(&shape), |file| changes.for_each(|change| file.change(change)))
        {
            let mut evaluator = Evaluator::from_measures(every_measure(&matrix));
            evaluator = evaluator.allow_non_finite(true);
            evaluator.evaluate_on(gpu, &matrix).expect("a number each, or none");
        }
    })
}

fn resident_labels_answer_the_same(Bench { gpu, .. }: &Bench) -> Result<(), Failed> {
    let matrix = labels(300, |query| query % 90);
    let loaded = gpu.load(&matrix).map_err(|error| error.to_string())?;
    let mut evaluator = Evaluator::from_measures(every_measure(&matrix));
    evaluator = evaluator.with_per_query(true).allow_non_finite(true);
    for _ in 0..2 {
        agree(&evaluator, &loaded, &matrix);
    }
    Ok(())
}

fn sums_on_the_device_are_those_of_the_mirror(Bench { gpu, pairs }: &Bench) -> Result<(), Failed> {
    let product = |column, by| Product { column, by };
    let per_query = |queries: usize| {
        (0..queries).map(|query| if query % 5 == 0 { 0.0 } else { 0.7 / query as f64 })
    };
    let check = |matrix: LabelMatrix, judged_only| {
        let queries = matrix.queries().len();
        let view = View { depth: None, judged_only };
        let (program, inputs) = program(queries);
        let program = Program { codes: matrix.codebook().codes(), ..program };
        let products = [
            product(0, Factor::Same(1.0 / 3.0)),
            product(2, Factor::PerQuery(per_query(queries).collect())),
            product(3, Factor::Reciprocal(50)),
            product(5, Factor::PerQuery(per_query(queries).map(|by| by * 1e6).collect())),
            product(6, Factor::Same(1e-3)),
            product(8, Factor::Same(1.0)),
        ];
        let job =
            Job { batch: matrix.batch(), view, program: &program, inputs: &inputs, watch: None };
        let expected = mirror_sums(&job, &products, matrix.runs().len());
        for gpu in [gpu, pairs] {
            let loaded = gpu.load(&matrix).expect("room");
            let reducer = Reducer::new(&loaded, &job, &products, |at| format!("product {at}"))
                .expect("a reducer");
            for _ in 0..2 {
                assert_eq!(reducer.sums().expect("sums"), expected);
            }
        }
    };
    // There are more rows than a workgroup adds up, the runs mixed and apart.
    check(labels(5000, |query| query % 3), false);
    check(labels(5000, |_| 2), false);
    property(12, &(shape(), any::<bool>()), |(shape, judged_only)| {
        check(matrix(&shape), judged_only)
    })
}

/// Returns the same sums, row by row.
fn mirror_sums(job: &Job<'_>, products: &[Product], runs: usize) -> Vec<Vec<f64>> {
    let Job { batch, view, program, inputs, .. } = job;
    let deepest = batch.depths().iter().copied().max().unwrap_or(0);
    let integers = IntegerProgram::new(program, deepest);
    let scaled: Vec<ScaledProduct> = products
        .iter()
        .map(|product| ScaledProduct::new(product, &integers).expect("scaled"))
        .collect();
    let mut sums = vec![vec![0u128; runs]; products.len()];
    for tile in batch.tiles() {
        let mut scratch = Vec::new();
        let seen = view.apply(batch.tile(tile), &mut scratch);
        for (lane, &row) in batch.rows(tile).iter().enumerate() {
            let (run, query) = (batch.run(row), batch.query(row));
            let words = mirror::lane(&integers, inputs, seen, lane, query);
            for (sums, scaled) in sums.iter_mut().zip(&scaled) {
                sums[run] += u128::from(scaled.value(|word| words[word as usize], query));
            }
        }
    }
    let totals = |(scaled, sums): (&ScaledProduct, &Vec<u128>)| {
        sums.iter().map(|&sum| scaled.sum(sum)).collect()
    };
    scaled.iter().zip(&sums).map(totals).collect()
}

/// Averages of every measure that the device can average are compared with the exact ones of the
/// CPU.
fn averages_on_the_device_are_within_their_bounds(Bench { gpu, .. }: &Bench) -> Result<(), Failed> {
    let check = |matrix: &LabelMatrix, judged_only, both| {
        let one = |measure: &Measure| {
            let plan = Evaluator::from_measures(vec![measure.clone()]).plan(matrix.codebook());
            plan.is_ok_and(|plan| plan.prepare(&matrix.batch()).products().is_ok())
        };
        let summed: Vec<Measure> = every_measure(matrix).into_iter().filter(one).collect();
        assert!(summed.len() > 40, "P, R, AP, RR, nDCG, ERR, RBP …");
        let loaded = gpu.load(matrix).expect("room");
        let mut compared = 0;
        for measure in summed {
            let evaluator = Evaluator::from_measures(vec![measure.clone()])
                .with_view(View { judged_only, ..View::default() })
                .with_queries(if both { QuerySet::Common } else { QuerySet::Judged });
            // Gains of both signs, or so different that they need 96 bits, are refused.
            let Ok(resident) = evaluator.resident(&loaded) else { continue };
            compared += 1;
            let expected = evaluator.evaluate(matrix).expect("scores");
            let found = resident.averages().expect("averages");
            for (expected, found) in expected.runs.iter().zip(&found) {
                let Some(expected) = expected.average(0) else { continue };
                // The CPU's own f64: at most 130 ranks, as `tests/shaders.rs` derives.
                let bound = resident.errors()[0]
                    + (2.0 * 130.0 + 16.0) * f64::EPSILON / 2.0 * expected.abs();
                assert!(
                    (expected - found[0]).abs() <= bound,
                    "{measure}: {} is not {expected} ± {bound:e}",
                    found[0]
                );
            }
        }
        assert!(compared > 30, "only {compared} measures");
    };
    check(&labels(700, |query| query * 37 % 131), false, false);
    check(&labels(100, |query| query % 50), true, true);
    Ok(())
}

fn rankings_too_deep_are_an_error(Bench { gpu, .. }: &Bench) -> Result<(), Failed> {
    let matrix = labels(1, |_| 65_536);
    let evaluator = Evaluator::new(["AP"]).map_err(|error| error.to_string())?;
    let error = evaluator.evaluate_on(gpu, &matrix).expect_err("too deep").to_string();
    assert!(error.contains("65535 ranks"), "{error}");
    let view = View { depth: Some(65_535), ..View::default() };
    agree(&evaluator.with_view(view).with_per_query(true), gpu, &matrix);
    Ok(())
}

fn bytes_move_in_some_time(Bench { gpu, .. }: &Bench) -> Result<(), Failed> {
    for moved in [gpu.copy(), gpu.read_back(0), gpu.read_back(1_000_001)] {
        let moved = moved.map_err(|error| error.to_string())?;
        assert!(moved.bytes >= 16 && moved.seconds > 0.0, "{moved:?}");
    }
    Ok(())
}
