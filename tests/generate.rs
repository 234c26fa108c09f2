//! Synthetic data: the same bytes from the same seed, and the same matrix with and without text.

use std::path::Path;

use laneval::parts::generate::Synthetic;
use laneval::{Evaluator, Join, LabelMatrix};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::cases::cases;

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

fn text(shape: Synthetic) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    shape.write_text(folder.path()).unwrap();
    folder
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries
        .map(|path| {
            (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read(&path).unwrap())
        })
        .collect();
    files.sort();
    files
}

/// Returns the matrix that the text is joined into.
fn joined(folder: &Path) -> LabelMatrix {
    let files = files(folder).into_iter().map(|(name, _)| folder.join(name));
    let (qrels, runs): (Vec<_>, Vec<_>) = files.partition(|path| path.ends_with("qrels.txt"));
    Join::default().files(&qrels[0], runs).unwrap()
}

fn shapes() -> impl Strategy<Value = Synthetic> {
    let density = prop_oneof![Just(None), Just(Some(0.0)), (0.0..1.0).prop_map(Some)];
    (1..90u32, 1..130u32, 1..60u32, 2..8u8, density, 1..4u16, any::<u64>()).prop_map(
        |(queries, depth, judged, grades, density, runs, seed)| Synthetic {
            queries,
            depth,
            judged,
            grades,
            density,
            runs,
            seed,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(40)))]

    #[test]
    fn the_matrix_is_what_the_text_is_joined_into(shape in shapes()) {
        let folder = text(shape);
        let (joined, generated) = (joined(folder.path()), shape.matrix().unwrap());
        prop_assert_eq!(joined.queries(), generated.queries());
        prop_assert_eq!(joined.codebook(), generated.codebook());
        prop_assert_eq!(joined.facts(), generated.facts());
        prop_assert_eq!(joined.fingerprint(), generated.fingerprint());
        prop_assert_eq!(joined.depths(), generated.depths());
        prop_assert_eq!(joined.tile_bytes(), generated.tile_bytes());
        prop_assert_eq!(joined.rule(), generated.rule());
        for (joined, generated) in joined.runs().iter().zip(generated.runs()) {
            prop_assert_eq!(
                (&joined.name, &joined.tag, joined.results),
                (&generated.name, &generated.tag, generated.results)
            );
        }
        let evaluator = Evaluator::new(["AP", "nDCG@10"]).unwrap();
        let scores = [joined, generated].map(|matrix| evaluator.evaluate(&matrix).unwrap());
        prop_assert_eq!(scores[0].runs[0].average(0), scores[1].runs[0].average(0));
    }
}

#[test]
fn the_same_seed_makes_the_same_bytes_on_any_threads() {
    let shape = Synthetic { queries: 300, depth: 90, runs: 2, ..Synthetic::default() };
    let folders = [1, 3].map(|threads| on_threads(threads, || text(shape)));
    let [one, three] = [0, 1].map(|at| files(folders[at].path()));
    assert!(one == three);
    assert_eq!(
        one.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["qrels.txt", "run-1.txt", "run-2.txt"]
    );
    let matrices = [1, 3].map(|threads| on_threads(threads, || shape.matrix().unwrap()));
    assert_eq!(matrices[0].tile_bytes(), matrices[1].tile_bytes());
    let other = text(Synthetic { seed: 2, ..shape });
    assert!(files(other.path())[1] != one[1]);
}

#[test]
fn the_data_have_the_shape_asked_for() {
    let shape = Synthetic {
        queries: 200,
        depth: 500,
        judged: 30,
        grades: 3,
        runs: 2,
        ..Synthetic::default()
    };
    let matrix = shape.matrix().unwrap();
    assert_eq!((matrix.runs().len(), matrix.queries().len()), (2, 200));
    assert!(matrix.depths().iter().all(|&depth| depth == 500));
    assert_eq!(matrix.codebook().grades(), [0.0, 1.0, 2.0]);
    let judged =
        |query: usize| matrix.facts().get(query).iter().map(|(_, count)| count).sum::<u32>();
    assert!((0..200).all(|query| judged(query) == 30));
    let scores = Evaluator::new(["AP", "R@500"]).unwrap().evaluate(&matrix).unwrap();
    let recall = scores.runs[0].average(1).unwrap();
    assert!((0.6..0.95).contains(&recall), "most judged documents are retrieved: {recall}");

    for density in [0.001, 0.1, 0.5] {
        let matrix = Synthetic { density: Some(density), ..shape }.matrix().unwrap();
        let scores = Evaluator::new(["Hits"]).unwrap().evaluate(&matrix).unwrap();
        for run in &scores.runs {
            let found = run.average(0).unwrap() / 500.0;
            assert!((found / density - 1.0).abs() < 0.2, "{density}: {found}");
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let refused = |shape: Synthetic| shape.matrix().unwrap_err().to_string();
    let right = Synthetic::default();
    assert!(refused(Synthetic { queries: 0, ..right }).contains("1 or more"));
    assert!(refused(Synthetic { grades: 1, ..right }).contains("grades"));
    assert!(refused(Synthetic { density: Some(1.5), ..right }).contains("share"));
    assert!(refused(Synthetic { depth: u32::MAX, ..right }).contains("at most"));
}
