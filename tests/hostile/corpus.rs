//! What fuzzing kept: inputs that reach every place that it has reached, and those that failed once. All are tried again.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::properties::{compressed, formats, grouped, lmx, measure, part, summary, text};

/// A property of any bytes, which panics where it does not hold, and returns whether they were read.
type Property = fn(&[u8]) -> bool;

/// The fuzz targets, each with its property. `differential` is replayed beside trec_eval only (`fuzz/README.md`).
const TARGETS: [(&str, Property); 8] = [
    ("compressed", compressed),
    ("formats", formats),
    ("grouped", grouped),
    ("lmx", lmx),
    ("measure", measure),
    ("part", part),
    ("summary", summary),
    ("text", text),
];

/// The inputs of a target; none in a package, which has no corpus.
fn inputs(target: &str) -> Vec<PathBuf> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    if !corpus.exists() {
        return Vec::new();
    }
    let files = std::fs::read_dir(corpus.join(target)).unwrap_or_else(|error| panic!("{target}: {error}"));
    let mut inputs: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    assert!(!inputs.is_empty(), "{target} has no inputs");
    inputs.sort_unstable();
    inputs
}

#[test]
fn what_fuzzing_kept_holds() {
    let all: Vec<_> = TARGETS
        .iter()
        .flat_map(|(target, holds)| inputs(target).into_iter().map(move |input| (holds, input)))
        .collect();
    let fails = |(holds, input): &(&Property, PathBuf)| {
        let bytes = std::fs::read(input).unwrap();
        catch_unwind(AssertUnwindSafe(|| holds(&bytes))).is_err()
    };
    let failed: Vec<&PathBuf> = all.par_iter().filter(|case| fails(case)).map(|(_, input)| input).collect();
    assert!(failed.is_empty(), "{failed:#?}");
}
