//! The shaders and their integers, as far as they can be tested without a GPU: naga compiles them
//! for every kind of device, wgpu checks how they are used, and their mirror on the CPU is compared
//! with the CPU engine.

use std::mem::offset_of;

use laneval::parts::engine::Job;
use laneval::parts::engine::cpu::Cpu;
use laneval::parts::engine::gpu::device::{Adapter, Device};
use laneval::parts::engine::gpu::kernels::kernels;
use laneval::parts::engine::gpu::layout::{
    BatchUniform as Batch, ProductUniform as Product, TileEntry as Tile,
};
use laneval::parts::engine::gpu::reduce::ScaledProduct;
use laneval::parts::engine::gpu::sources::{COMMON, FOLDS, JUDGED, REDUCE, with_native_integers};
use laneval::parts::engine::gpu::tasks::{IntegerFold as Kind, IntegerProgram};
use laneval::parts::engine::gpu::{Gpu, mirror};
use laneval::parts::fold::{CodeTable, Columns, Cut, Discount, Fold, Program, QueryInputs, Task};
use laneval::parts::matrix::CodesAbove;
use laneval::{Error, Evaluator, LabelMatrix, View};
use naga::back::{hlsl, msl, spv};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use proptest::prelude::*;

use crate::cases::cases;
use crate::matrices::{Query, Shape, matrix, shape};
use crate::variants::every_measure;

/// Parses and validates a shader that needs no optional capability.
fn valid(source: &str) -> (naga::Module, ModuleInfo) {
    valid_with(source, Capabilities::empty())
}

fn valid_with(source: &str, capabilities: Capabilities) -> (naga::Module, ModuleInfo) {
    let module = naga::front::wgsl::parse_str(source)
        .unwrap_or_else(|e| panic!("{}", e.emit_to_string(source)));
    let info = Validator::new(ValidationFlags::all(), capabilities).validate(&module);
    let info = info.unwrap_or_else(|e| panic!("{}", e.emit_to_string(source)));
    (module, info)
}

/// A shader in the languages of Vulkan, Metal and DirectX, with and without integers of 64 bits.
fn translate(source: &str) {
    write(valid(source));
    let native = with_native_integers(source);
    assert_ne!(native, source);
    let module = naga::front::wgsl::parse_str(&native).expect("WGSL");
    assert!(
        Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(&module).is_err()
    );
    write(valid_with(&native, Capabilities::SHADER_INT64));
}

fn write((module, info): (naga::Module, ModuleInfo)) {
    assert!(
        !spv::write_vec(&module, &info, &spv::Options::default(), None).expect("SPIR-V").is_empty()
    );
    let options = msl::Options {
        fake_missing_bindings: true,
        lang_version: (2, 3),
        ..msl::Options::default()
    };
    msl::write_string(&module, &info, &options, &msl::PipelineOptions::default()).expect("MSL");
    let mut text = String::new();
    let options =
        hlsl::Options { shader_model: hlsl::ShaderModel::V6_0, ..hlsl::Options::default() };
    let pipeline = hlsl::PipelineOptions::default();
    hlsl::Writer::new(&mut text, &options, &pipeline).write(&module, &info, None).expect("HLSL");
}

/// Returns a codebook of many grades in a tiny matrix.
fn graded(grades: Vec<f64>) -> LabelMatrix {
    let last = 2 + grades.len() as u8;
    let labels: Vec<u8> = (0..20).map(|at| 1 + at % last).collect();
    matrix(&Shape {
        grades,
        queries: vec![Query { rankings: vec![labels], unretrieved: vec![2, 3] }],
    })
}

#[test]
fn every_shader_compiles_for_every_kind_of_device() {
    translate(&[COMMON, JUDGED].join("\n"));
    translate(REDUCE);
    for grades in [vec![0.0, 1.0, 2.0, 3.0], vec![0.5], (0..253).map(f64::from).collect()] {
        let matrix = graded(grades);
        let plan =
            Evaluator::from_measures(every_measure(&matrix)).plan(matrix.codebook()).unwrap();
        for depth in [20, 65_535] {
            let all = kernels(&IntegerProgram::new(plan.program(), depth));
            assert!(
                FOLDS.iter().all(|(_, text)| all.iter().any(|kernel| kernel.source.contains(text)))
            );
            all.iter().for_each(|kernel| translate(&kernel.source));
        }
    }
}

#[test]
fn structs_lie_as_the_host_writes_them() {
    let modules = [valid(&[COMMON, JUDGED].join("\n")).0, valid(REDUCE).0];
    let fields = |name: &str| {
        let mut types = modules.iter().flat_map(|module| module.types.iter());
        let struct_type = types
            .find(|(_, candidate)| candidate.name.as_deref() == Some(name))
            .expect("a struct")
            .1;
        let naga::TypeInner::Struct { members, span } = &struct_type.inner else {
            panic!("{name} is no struct")
        };
        let fields: Vec<_> =
            members.iter().map(|m| (m.name.clone().unwrap(), m.offset as usize)).collect();
        (fields, *span as usize)
    };
    macro_rules! assert_lies {
        ($type:ident: $($field:ident)*) => {
            let expected = vec![$((stringify!($field).to_owned(), offset_of!($type, $field))),*];
            assert_eq!(fields(stringify!($type)), (expected, size_of::<$type>()));
        };
    }
    assert_lies!(Batch: tiles stride depth slots cuts above end origin);
    assert_lies!(Tile: word depth lanes rows);
    assert_lies!(
        Product: slots stride word state factors factor_low factor_high shift sums deepest
        unused_a unused_b
    );
}

/// Returns a device that computes nothing, but checks every call.
fn noop() -> Gpu {
    let (device, queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    Gpu::from_device(Device::from_open(noop_adapter(&device), device, queue))
}

fn noop_adapter(device: &wgpu::Device) -> Adapter {
    let limits = device.limits();
    Adapter {
        name: "noop".to_owned(),
        backend: "noop".to_owned(),
        kind: "other",
        driver: String::new(),
        binding_bytes: limits.max_storage_buffer_binding_size,
        buffer_bytes: limits.max_buffer_size,
        timestamps: false,
        integers64: false,
        unusable: None,
    }
}

#[test]
fn the_device_is_used_as_wgpu_allows() {
    let gpu = noop();
    let labels = |queries: usize| {
        let query = Query { rankings: vec![vec![3, 1, 4, 2, 1, 5, 1]], unretrieved: vec![4] };
        matrix(&Shape { grades: vec![0.0, 1.0, 2.0], queries: vec![query; queries] })
    };
    for (matrix, judged_only) in [(labels(1), false), (labels(200), true), (labels(0), true)] {
        let view = View { judged_only, ..View::default() };
        // A device that computes nothing answers with zeros.
        let evaluator =
            Evaluator::from_measures(every_measure(&matrix)).with_view(view).allow_non_finite(true);
        evaluator.evaluate_on(&gpu, &matrix).unwrap();
        evaluator.evaluate_on(&gpu.load(&matrix).unwrap(), &matrix).unwrap();
    }
}

#[test]
fn a_measure_that_cannot_be_averaged_on_the_device_is_named() {
    let gpu = noop();
    let query = Query { rankings: vec![vec![3, 1, 4, 2]], unretrieved: vec![4] };
    let matrix = matrix(&Shape { grades: vec![0.0, 1.0], queries: vec![query; 3] });
    let loaded = gpu.load(&matrix).unwrap();
    let error = |names: [&str; 3]| {
        let resident = Evaluator::new(names).unwrap().resident(&loaded).map(|_| ());
        resident.err().map_or(String::new(), |error| error.to_string())
    };
    assert_eq!(error(["AP", "RBP", "nDCG(discount=jk)@5"]), "");
    let message = error(["AP", "SetP", "RBP"]);
    assert!(
        message.starts_with("SetP is not a sum or count times a factor of the query"),
        "{message}"
    );
    let message = error(["AP", "RBP", "CG(gain={0:-1})"]);
    assert!(message.starts_with("CG(gain={0:-1}) cannot be averaged on the device"), "{message}");
}

#[test]
fn a_device_that_was_lost_is_an_error() {
    let query = Query { rankings: vec![vec![3, 1, 4]], unretrieved: vec![4] };
    let matrix = matrix(&Shape { grades: vec![0.0, 1.0], queries: vec![query] });
    let (device, queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    let gpu = Gpu::from_device(Device::from_open(noop_adapter(&device), device.clone(), queue));
    let evaluator = Evaluator::new(["AP"]).unwrap();
    evaluator.evaluate_on(&gpu, &matrix).unwrap();
    device.destroy();
    let error = evaluator.evaluate_on(&gpu, &matrix).unwrap_err();
    assert!(matches!(&error, Error::Device(message) if message.starts_with("noop: ")), "{error:?}");
    assert!(gpu.load(&matrix).is_err());
}

/// Returns the bound on the difference between columns of the mirror and of the CPU engine: the
/// error of the integers, and that of f64.
fn bound(integers: &IntegerProgram, column: usize, value: f64) -> f64 {
    let task = integers
        .tasks
        .iter()
        .find(|task| (task.column..task.column + task.cuts.len()).contains(&column));
    let Some(task) = task else { return 0.0 };
    let terms = task.unit(integers.depth).map_or(0.0, |(_, error)| error);
    // In f64 every term is off by a few halves of an ulp (a cascade's by one more a hit above it),
    // and every addition by half an ulp of a sum that only grows. Shares of non-relevant documents
    // are differences from 1, so ulps of 1 count for them.
    let halves = 2.0 * f64::from(integers.depth) + 16.0;
    let magnitude = match task.kind {
        _ if task.kind.is_exact() => 0.0,
        Kind::PreferenceSum { .. } => value.abs() + 3.0,
        _ => value.abs(),
    };
    let floats = halves * f64::EPSILON / 2.0 * magnitude;
    terms + floats
}

/// Compares the columns of the mirror with those of the CPU engine, for every tile.
fn compare(program: &Program, inputs: &QueryInputs, matrix: &LabelMatrix, view: View) {
    let deepest = matrix.packing().tiles.first().map_or(0, |tile| tile.depth);
    let deepest = view.depth.map_or(deepest, |depth| deepest.min(depth));
    let integers = IntegerProgram::new(program, deepest);
    let batch = matrix.batch();
    for tile in 0..matrix.packing().tiles.len() {
        let queries: Vec<usize> = batch.rows(tile).iter().map(|&row| batch.query(row)).collect();
        let mut scratch = Vec::new();
        let seen = view.apply(matrix.tile(tile), &mut scratch);
        let words: Vec<_> = queries
            .iter()
            .enumerate()
            .map(|(lane, &query)| mirror::lane(&integers, inputs, seen, lane, query))
            .collect();
        let mut found = Columns::zeros(program, seen.lanes);
        integers.decode(inputs, &queries, |column, lane| words[lane][column as usize], &mut found);
        let expected = Cpu::new()
            .columns(&Job { batch: batch.clone(), view, program, inputs, watch: None }, tile);
        for (lane, _) in queries.iter().enumerate() {
            for column in 0..program.columns() {
                let (a, b) = (found.value(column, lane), expected.value(column, lane));
                let bound = bound(&integers, column, b);
                assert!((a - b).abs() <= bound, "column {column}: {a} is not {b} ± {bound:e}");
            }
            let codes = if program.histogram() { program.codes } else { 0 };
            let histogram = |columns: &Columns| columns.histogram[lane * codes..][..codes].to_vec();
            assert_eq!(histogram(&found), histogram(&expected), "histogram");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(24),
        max_shrink_iters: 50,
        ..ProptestConfig::default()
    })]

    #[test]
    fn integers_agree_with_f64(
        shape in shape(),
        judged_only: bool,
        depth in proptest::option::of(1..300u32),
    ) {
        let matrix = matrix(&shape);
        let measures: Vec<_> =
            every_measure(&matrix).into_iter().filter(|m| !has_signs(m)).collect();
        let plan = Evaluator::from_measures(measures).plan(matrix.codebook()).unwrap();
        compare(
            plan.program(),
            plan.prepare(&matrix.batch()).inputs(),
            &matrix,
            View { depth, judged_only },
        );
    }

    /// Every measure that the device averages has integers in each row that stand for the value of
    /// the CPU.
    #[test]
    fn products_in_integers_agree_with_f64(shape in shape()) {
        let matrix = matrix(&shape);
        prop_assume!(!matrix.queries().is_empty());
        let product = |m: &laneval::Measure| {
            !has_signs(m)
                && Evaluator::from_measures(vec![m.clone()])
                    .plan(matrix.codebook())
                    .is_ok_and(|plan| plan.prepare(&matrix.batch()).products().is_ok())
        };
        let mut evaluator =
            Evaluator::from_measures(every_measure(&matrix).into_iter().filter(product).collect());
        evaluator = evaluator.with_per_query(true);
        let scores = evaluator.evaluate(&matrix).unwrap();
        let plan = evaluator.plan(matrix.codebook()).unwrap();
        let prepared = plan.prepare(&matrix.batch());
        let products = prepared.products().unwrap();
        let depth = matrix.packing().tiles.first().map_or(0, |tile| tile.depth);
        let integers = IntegerProgram::new(plan.program(), depth);
        let scaled: Vec<_> =
            products.iter().map(|product| ScaledProduct::new(product, &integers)).collect();
        let plain: laneval::Measure = "RBP".parse().unwrap();
        let at = evaluator.measures().iter().position(|measure| *measure == plain);
        prop_assert!(at.is_some_and(|at| scaled[at].is_some()), "RBP is averaged on the device");
        let queries = matrix.queries().len();
        for tile in 0..matrix.packing().tiles.len() {
            let mut scratch = Vec::new();
            let seen = View::default().apply(matrix.tile(tile), &mut scratch);
            for (lane, &row) in matrix.tile_rows(tile).iter().enumerate() {
                let (run, query) = (row as usize / queries, row as usize % queries);
                let words = mirror::lane(&integers, prepared.inputs(), seen, lane, query);
                let values = &scores.runs[run].per_query.as_ref().unwrap().values;
                for (measure, scaled) in scaled.iter().enumerate() {
                    let Some(scaled) = scaled else { continue };
                    let found = scaled.sum(scaled.value(|word| words[word as usize], query).into());
                    let value = values[measure][query];
                    let bound = scaled.error
                        + (2.0 * f64::from(depth) + 16.0) * f64::EPSILON / 2.0 * value.abs();
                    let name = &evaluator.measures()[measure];
                    prop_assert!((found - value).abs() <= bound, "{name}: {found} is not {value} ± \
                        {bound:e}");
                }
            }
        }
    }
}

/// Returns whether gains have both signs: they cancel, and then the f64 of the CPU has no bound
/// relative to the sum.
fn has_signs(measure: &laneval::Measure) -> bool {
    measure.to_string().contains(":-")
}

fn gains(numbers: &[f64]) -> CodeTable {
    let mut table = [0.0; 256];
    table[3..3 + numbers.len()].copy_from_slice(numbers);
    table.into()
}

/// A case that chance found while the integers were written. The only grade is worth nothing, and
/// in a few rankings one graded document stands deep among documents without a grade, or with a
/// negative one.
#[test]
fn a_worthless_grade_deep_in_rankings_without_others_agrees() {
    let ungraded =
        |depth: usize| (0..depth).map(|at| 1 + (at * at / 3 % 2) as u8).collect::<Vec<u8>>();
    let with_one = |depth: usize, rank: usize| {
        let mut labels = ungraded(depth);
        labels[rank - 1] = 3;
        labels
    };
    let graded = [
        [with_one(64, 40), ungraded(9)],
        [with_one(260, 221), vec![]],
        [ungraded(64), with_one(260, 236)],
        [vec![], with_one(260, 100)],
        [with_one(260, 171), ungraded(63)],
        [with_one(260, 237), ungraded(260)],
        [with_one(260, 103), ungraded(64)],
    ];
    let depths = [[64, 64], [65, 0], [260, 63], [0, 0], [1, 260], [63, 8]];
    let others = depths.iter().cycle().map(|depths| depths.map(ungraded)).take(64 - graded.len());
    let unretrieved = [vec![3, 3, 3, 3, 2, 2, 2, 2], vec![3, 3, 3, 2], vec![2], vec![]];
    let queries = graded.into_iter().chain(others).zip(unretrieved.into_iter().cycle());
    let queries = queries
        .map(|(rankings, unretrieved)| Query { rankings: rankings.to_vec(), unretrieved })
        .collect();
    let matrix = matrix(&Shape { grades: vec![0.0], queries });
    let measures: Vec<_> = every_measure(&matrix).into_iter().filter(|m| !has_signs(m)).collect();
    let plan = Evaluator::from_measures(measures).plan(matrix.codebook()).unwrap();
    let prepared = plan.prepare(&matrix.batch());
    for view in [None, Some(237), Some(100)].map(|depth| View { depth, ..View::default() }) {
        compare(plan.program(), prepared.inputs(), &matrix, view);
    }
}

#[test]
fn the_deepest_rankings_agree() {
    let labels: Vec<u8> =
        (0..65_535u32).map(|at| 1 + (at.wrapping_mul(2_654_435_761) >> 13) as u8 % 5).collect();
    let last = [vec![1; 65_534], vec![5]].concat();
    let queries = [labels, last, vec![5; 65_535]];
    let queries =
        queries.map(|labels| Query { rankings: vec![labels], unretrieved: vec![4] }).to_vec();
    let matrix = matrix(&Shape { grades: vec![0.0, 1.0, 2.0], queries });
    let fold = |fold: Fold| Task { fold, cuts: vec![Cut::At(60_000), Cut::End] };
    let set = CodesAbove(4);
    let tasks = vec![
        fold(Fold::PrecisionSum(set)),
        fold(Fold::PairSum(set)),
        fold(Fold::WeightedSum { gain: gains(&[0.0, 1.0, 3.0]), discount: Discount::Log2 }),
        fold(Fold::WeightedSum { gain: gains(&[0.0, 1.0, 1e6]), discount: Discount::None }),
        fold(Fold::WeightedSum { gain: gains(&[0.0, 1.0, 1.0]), discount: Discount::Power(0.99) }),
        fold(Fold::WeightedSum { gain: gains(&[0.0, 1.0, 3.0]), discount: Discount::LogFrom(3.0) }),
        fold(Fold::Cascade { stop: gains(&[0.0, 0.0001, 0.001]), discount: Discount::Rank }),
        Task { fold: Fold::InferredSum(set), cuts: vec![Cut::End] },
        Task { fold: Fold::PeakPrecision { hits: set, caps: vec![0, 1] }, cuts: vec![Cut::End] },
        Task {
            fold: Fold::PreferenceSum { hits: set, judged: CodesAbove::JUDGED, cap: 2, bound: 2 },
            cuts: vec![Cut::End],
        },
    ];
    let inputs = vec![vec![1; 3], vec![100, 1, 65_535], vec![70_000; 3]];
    compare(&Program { tasks, codes: 6, ..Program::default() }, &inputs, &matrix, View::default());
}
