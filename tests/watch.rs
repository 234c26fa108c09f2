//! Evaluations that are watched, stopped, or given their own threads.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use laneval::compare::{Comparison, ComparisonOptions, Correction, Interval, Permutations};
use laneval::parts::engine::cpu::Cpu;
use laneval::parts::engine::{Collector, Engine, Job};
use laneval::parts::fold::{Columns, QueryInputs};
use laneval::parts::generate::Synthetic;
use laneval::{EngineChoice, ErrorKind, Evaluator, LabelMatrix, ProgressHandle, View};

fn matrix() -> LabelMatrix {
    Synthetic { queries: 20_000, depth: 40, ..Synthetic::default() }.matrix().unwrap()
}

#[test]
fn a_watch_sees_all_labels_go_by() {
    let matrix = matrix();
    for engine in [EngineChoice::Cpu, EngineChoice::Reference] {
        let watch = Arc::new(ProgressHandle::default());
        let evaluator =
            Evaluator::new(["AP"]).unwrap().with_engine(engine).with_progress(Some(watch.clone()));
        evaluator.evaluate(&matrix).unwrap();
        let labels = matrix.batch().bytes().len() as u64;
        assert_eq!((watch.done(), watch.total()), (labels, labels), "{engine}");
        watch.stop();
        assert_eq!(evaluator.summary(&matrix).unwrap_err().kind(), ErrorKind::Stopped, "{engine}");
    }
}

#[test]
fn a_watch_sees_all_draws() {
    let matrix =
        Synthetic { queries: 300, depth: 10, runs: 3, ..Synthetic::default() }.matrix().unwrap();
    let scores = Evaluator::new(["AP"]).unwrap().with_per_query(true).evaluate(&matrix).unwrap();
    let mut options = ComparisonOptions::default();
    options.permutations = Permutations::Fixed(3_000);
    let draws = |options: &ComparisonOptions| {
        let watch = ProgressHandle::default();
        Comparison::new_with_progress(&scores, options, Some(&watch)).unwrap();
        assert_eq!(watch.done(), watch.total());
        watch.done()
    };
    assert_eq!(draws(&options), 3_000);
    options.correction = Correction::Rhsd;
    assert_eq!(draws(&options), 2 * 3_000, "signs and labels");
    options.correction = Correction::Holm;
    options.interval = Interval::Bca;
    assert!(draws(&options) >= 3_000 + 10_000, "signs and resamples");
}

/// A collector that tells the work to stop at the first tile, and counts the tiles that come
/// nevertheless.
struct Stopper<'a>(&'a ProgressHandle, &'a AtomicUsize);

impl Collector for Stopper<'_> {
    fn tile(&mut self, _: usize, _: &Columns) {
        self.0.stop();
        self.1.fetch_add(1, Ordering::Relaxed);
    }

    fn merge(&mut self, _: Self) {}
}

#[test]
fn what_is_stopped_ends_soon() {
    let matrix = matrix();
    let (watch, tiles) = (ProgressHandle::default(), AtomicUsize::new(0));
    let plan = Evaluator::new(["P@5"]).unwrap().plan(matrix.codebook()).unwrap();
    let (program, inputs) = (plan.program(), QueryInputs::new());
    let job = Job {
        batch: matrix.batch(),
        view: View::default(),
        program,
        inputs: &inputs,
        watch: Some(&watch),
    };
    let stopped = Cpu::new().run(&job, 1, || Stopper(&watch, &tiles));
    assert_eq!(stopped.err().map(|error| error.kind()), Some(ErrorKind::Stopped));
    let (seen, all) = (tiles.into_inner(), matrix.packing().tiles.len());
    assert!(seen > 0 && seen < all / 4, "{seen} of {all} tiles");
}

#[test]
fn threads_change_no_bit() {
    let matrix = matrix();
    let evaluator = Evaluator::new(["AP", "nDCG", "GMAP"]).unwrap();
    let summary = evaluator.summary(&matrix).unwrap();
    for threads in [1, 3] {
        let evaluator = evaluator.clone().with_threads(NonZeroUsize::new(threads));
        assert!(evaluator.summary(&matrix).unwrap() == summary, "{threads} threads");
    }
}
