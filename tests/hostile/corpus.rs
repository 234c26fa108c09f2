//! What fuzzing starts from and what it kept: samples, inputs that reach more places than these,
//! and those that failed once. All are tried again.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use rayon::prelude::*;

use crate::properties::{compressed, formats, grouped, lmx, measure, part, summary, text};

/// A property of any bytes, which panics where it does not hold, and returns whether they were
/// read, and compared where two engines compute.
type Property = fn(&[u8]) -> bool;

/// The fuzz targets, each with its property, how many inputs it has at least, and how many of them
/// are read. A change by which fewer are read lets the others pass without a trial. `differential`
/// is replayed beside trec_eval only (`fuzz/README.md`).
const TARGETS: [(&str, Property, usize, usize); 8] = [
    ("compressed", compressed, 155, 30),
    ("formats", formats, 700, 120),
    ("grouped", grouped, 340, 75),
    ("lmx", lmx, 380, 120),
    ("measure", measure, 330, 140),
    ("part", part, 300, 40),
    ("summary", summary, 590, 44),
    ("text", text, 440, 110),
];

/// An input, with the name that it has if it failed once.
struct KeptInput {
    name: String,
    bytes: Vec<u8>,
}

/// Returns the inputs of a target, as `fuzz/corpus.py` packs them: a line with the length and
/// perhaps a name, the bytes, and a line break.
fn inputs(target: &str) -> Vec<KeptInput> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fuzz/corpus/{target}.inputs"));
    let packed = std::fs::read(path).unwrap_or_else(|error| panic!("{target}.inputs: {error}"));
    let (mut rest, mut inputs) = (&packed[..], Vec::new());
    while !rest.is_empty() {
        let line = rest.split(|byte| *byte == b'\n').next().unwrap();
        let line_text = str::from_utf8(line).expect("a length");
        let (length, name) = line_text.split_once(' ').unwrap_or((line_text, ""));
        let (bytes, after) = rest[line.len() + 1..].split_at(length.parse().unwrap());
        inputs.push(KeptInput { name: name.to_owned(), bytes: bytes.to_vec() });
        rest = after.strip_prefix(b"\n").expect("a line break behind each input");
    }
    inputs
}

#[test]
fn what_fuzzing_kept_holds() {
    // A package has neither the fuzz targets nor what they found; the repository has both
    // (`left_out.rs` of the command looks).
    if !Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/Cargo.toml").exists() {
        return;
    }
    for (target, holds, least, least_read) in TARGETS {
        let inputs = inputs(target);
        let found: Vec<Option<bool>> = inputs
            .par_iter()
            .map(|input| catch_unwind(AssertUnwindSafe(|| holds(&input.bytes))).ok())
            .collect();
        let failed: Vec<String> = std::iter::zip(&inputs, &found)
            .enumerate()
            .filter(|(_, (_, found))| found.is_none())
            .map(|(at, (input, _))| {
                format!("input {at} {}: {}", input.name, input.bytes.escape_ascii())
            })
            .collect();
        assert!(failed.is_empty(), "{target}: {failed:#?}");
        let read = found.iter().filter(|found| **found == Some(true)).count();
        assert!(inputs.len() >= least, "{target} has {} inputs", inputs.len());
        assert!(read >= least_read, "{target}: {read} of {} inputs are read", inputs.len());
        println!("{target}: {} inputs, {read} read", inputs.len());
    }
    let beside = inputs("differential").len();
    assert!(beside >= 50, "differential has {beside} inputs");
}
