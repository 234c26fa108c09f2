//! Matrices of NumPy against the same rows as TREC text, and against scikit-learn.

use std::io::{Read, Write};
use std::path::Path;

use laneval::{Evaluator, Input, Join, LabelMatrix, Qrels, RunInput, TiedValue};

/// Returns a file of version 1.
fn npy(descr: &str, fortran: bool, shape: [usize; 2], values: &[u8]) -> Vec<u8> {
    let [queries, documents] = shape;
    let order = if fortran { "True" } else { "False" };
    let header = format!(
        "{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({queries}, {documents}), }}\n"
    );
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), values]
        .concat()
}

fn input(name: &str, bytes: Vec<u8>) -> Input {
    Input::Bytes { name: name.to_owned(), bytes }
}

fn joined(qrels: Vec<u8>, run: Vec<u8>) -> Result<LabelMatrix, String> {
    let run = RunInput::named("run", input("scores", run));
    Join::default().files(input("labels", qrels), [run]).map_err(|error| error.to_string())
}

/// Returns the properties of a matrix that evaluations depend on.
fn all(matrix: &LabelMatrix) -> impl PartialEq + std::fmt::Debug + use<> {
    let labels = (matrix.queries().clone(), matrix.depths().to_vec(), matrix.tile_bytes().to_vec());
    (labels, matrix.fingerprint(), matrix.codebook().clone(), matrix.facts().clone())
}

/// Matrices as a generator of random numbers makes them in Python, too: labels 0 … 4, and scores of
/// 24 bits.
fn random([queries, documents]: [usize; 2], seed: u64) -> (Vec<i64>, Vec<f32>) {
    let mut state = seed;
    (0..queries * documents)
        .map(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((state >> 60) as i64 % 5, (state >> 20 & 0xff_ffff) as f32 / (1 << 24) as f32)
        })
        .unzip()
}

fn bytes<const N: usize, T: Copy>(values: &[T], encoder: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|&value| encoder(value)).collect()
}

/// Values of `sklearn.metrics.ndcg_score(labels, scores, k=k, ignore_ties=True)` of scikit-learn
/// 1.9.1, and with 2**labels - 1.
#[test]
fn values_are_those_of_scikit_learn() {
    for (shape, seed, measure, expected) in [
        ([1, 3], 1, "nDCG@5", 0.7967075809905068),
        ([1, 3], 1, "nDCG(gain=exp2)", 0.7098097413968654),
        ([7, 12], 2, "nDCG@5", 0.5316145575411916),
        ([7, 12], 2, "nDCG(gain=exp2)@5", 0.43962868063804506),
        ([7, 12], 2, "nDCG@10", 0.7049047978305657),
        ([7, 12], 2, "nDCG", 0.7723485201062202),
        ([20, 50], 3, "nDCG@5", 0.48405684618903877),
        ([20, 50], 3, "nDCG(gain=exp2)@10", 0.36060001247383966),
        ([20, 50], 3, "nDCG", 0.7930717923954387),
        ([20, 50], 3, "nDCG(gain=exp2)", 0.70739236926064),
    ] {
        let (labels, scores) = random(shape, seed);
        let labels = npy("<i8", false, shape, &bytes(&labels, i64::to_le_bytes));
        let scores = npy("<f4", false, shape, &bytes(&scores, f32::to_le_bytes));
        let matrix = joined(labels, scores).unwrap();
        let found = Evaluator::new([measure]).unwrap().evaluate(&matrix).unwrap().runs[0]
            .average(0)
            .unwrap();
        assert!((found - expected).abs() < 1e-14, "{measure} {shape:?}: {found} {expected}");
    }
}

/// Without `ignore_ties` scikit-learn has the expected value, of scores rounded down to quarters
/// here.
#[test]
fn values_over_ties_are_those_of_scikit_learn() {
    for (shape, seed, measure, expected) in [
        ([7, 12], 2, "nDCG@5", 0.5641855155828976),
        ([7, 12], 2, "nDCG@10", 0.7209562582395852),
        ([20, 50], 3, "nDCG@10", 0.46353229705680776),
        ([20, 50], 3, "nDCG", 0.7819554023133171),
    ] {
        let (labels, scores) = random(shape, seed);
        let labels = npy("<i8", false, shape, &bytes(&labels, i64::to_le_bytes));
        let scores =
            npy("<f4", false, shape, &bytes(&scores, |score| (score * 4.0).floor().to_le_bytes()));
        let join = Join { keep_ties: true, ..Join::default() };
        let matrix = join.files(input("labels", labels), [input("scores", scores)]).unwrap();
        let evaluator = Evaluator::new([measure]).unwrap().with_tied_value(TiedValue::Average);
        let found = evaluator.evaluate(&matrix).unwrap().runs[0].average(0).unwrap();
        assert!((found - expected).abs() < 1e-14, "{measure} {shape:?}: {found} {expected}");
    }
}

/// Returns the same matrices as TREC text.
fn twins(shape: [usize; 2], labels: &[i64], scores: &[f32]) -> [Vec<u8>; 2] {
    let cells = |line: &dyn Fn(usize, usize, usize) -> String| -> Vec<u8> {
        let cells =
            (0..shape[0] * shape[1]).map(|at| line(at / shape[1] + 1, at % shape[1] + 1, at));
        cells.collect::<String>().into_bytes()
    };
    [
        cells(&|query, document, at| format!("{query} 0 {document} {}\n", labels[at])),
        cells(&|query, document, at| {
            format!("{query} Q0 {document} 1 {} t\n", f64::from(scores[at]))
        }),
    ]
}

#[test]
fn every_type_and_order_is_its_twin() {
    let shape = [13, 37];
    let (labels, scores) = random(shape, 5);
    // Tied scores.
    let scores: Vec<f32> = scores.iter().map(|score| (score * 16.0).floor() / 8.0 - 1.0).collect();
    let [qrels, run] = twins(shape, &labels, &scores);
    let twin = all(&joined(qrels, run).unwrap());
    let by_columns = |values: Vec<u8>| -> Vec<u8> {
        let size = values.len() / (shape[0] * shape[1]);
        let cell = |at: usize| {
            let start = (at % shape[0] * shape[1] + at / shape[0]) * size;
            values[start..start + size].to_vec()
        };
        (0..shape[0] * shape[1]).flat_map(cell).collect()
    };
    let half = |value: f64| {
        let (sign, bits) = (u16::from(value < 0.0) << 15, value.abs().to_bits());
        let exponent = (bits >> 52) as i64 - 1023 + 15;
        if value == 0.0 {
            sign
        } else {
            sign | (exponent as u16) << 10 | (bits >> 42 & 1023) as u16
        }
    };
    let of_labels: Vec<(&str, Vec<u8>)> = vec![
        ("|i1", bytes(&labels, |l| (l as i8).to_le_bytes())),
        ("|u1", bytes(&labels, |l| (l as u8).to_le_bytes())),
        ("<i2", bytes(&labels, |l| (l as i16).to_le_bytes())),
        (">u2", bytes(&labels, |l| (l as u16).to_be_bytes())),
        (">i4", bytes(&labels, |l| (l as i32).to_be_bytes())),
        ("<u4", bytes(&labels, |l| (l as u32).to_le_bytes())),
        ("<i8", bytes(&labels, i64::to_le_bytes)),
        (">u8", bytes(&labels, |l| (l as u64).to_be_bytes())),
        ("<f2", bytes(&labels, |l| half(l as f64).to_le_bytes())),
        (">f4", bytes(&labels, |l| (l as f32).to_be_bytes())),
        ("<f8", bytes(&labels, |l| (l as f64).to_le_bytes())),
    ];
    let of_scores: Vec<(&str, Vec<u8>)> = vec![
        ("<f2", bytes(&scores, |s| half(s.into()).to_le_bytes())),
        (">f2", bytes(&scores, |s| half(s.into()).to_be_bytes())),
        ("<f4", bytes(&scores, f32::to_le_bytes)),
        (">f4", bytes(&scores, f32::to_be_bytes)),
        ("<f8", bytes(&scores, |s| f64::from(s).to_le_bytes())),
        (">f8", bytes(&scores, |s| f64::from(s).to_be_bytes())),
        ("<i2", bytes(&scores, |s| ((s * 8.0) as i16).to_le_bytes())),
    ];
    let gzip = |bytes: &[u8]| {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(bytes).unwrap();
        gzip.finish().unwrap()
    };
    let zstd = |bytes: &[u8]| zstd::encode_all(bytes, 1).unwrap();
    for (number, (descr, labels)) in of_labels.iter().enumerate() {
        for fortran in [false, true] {
            let (scored, scores) =
                &of_scores[(2 * number + usize::from(fortran)) % of_scores.len()];
            let order =
                |values: &[u8]| if fortran { by_columns(values.to_vec()) } else { values.to_vec() };
            let labels = npy(descr, fortran, shape, &order(labels));
            let scores = npy(scored, fortran, shape, &order(scores));
            for packed in [[labels.clone(), scores.clone()], [gzip(&labels), zstd(&scores)]] {
                let [labels, scores] = packed;
                assert_eq!(
                    all(&joined(labels, scores).unwrap()),
                    twin,
                    "{descr} {scored} {fortran}"
                );
            }
        }
    }
}

#[test]
fn truths_are_grades() {
    let matrix =
        joined(npy("|b1", false, [2, 2], &[0, 1, 1, 2]), npy("|u1", false, [2, 2], &[1, 2, 3, 4]))
            .unwrap();
    assert_eq!(matrix.codebook().grades(), [0.0, 1.0]);
    assert_eq!(matrix.tile(0).lane(1).take(2).collect::<Vec<_>>(), [4, 4]);
}

fn sample(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/formats").join(name)
}

#[test]
fn the_sample_is_that_of_the_other_formats() {
    let values = |qrels: &str, run: &str| {
        let matrix =
            Join::default().files(sample(qrels), [RunInput::named("run", sample(run))]).unwrap();
        let scores = Evaluator::new(["nDCG@10", "AP", "RR", "P@2", "ERR"])
            .unwrap()
            .evaluate(&matrix)
            .unwrap();
        (0..5).map(|measure| scores.runs[0].average(measure).map(f64::to_bits)).collect::<Vec<_>>()
    };
    assert_eq!(values("labels.npy", "scores.npy"), values("qrels.trec", "run.trec"));
    let qrels = Join::default().qrels(sample("labels.npy")).unwrap();
    let mut stream =
        Evaluator::new(["AP"]).unwrap().run_stream(&Join::default(), &qrels, "run").unwrap();
    stream.read(std::fs::File::open(sample("scores.npy")).unwrap()).unwrap();
    let expected = values("qrels.trec", "run.trec")[1];
    assert_eq!(stream.scores().unwrap().average("run", "AP").map(f64::to_bits), expected);
}

#[test]
fn what_is_wrong_is_said_with_its_row_and_column() {
    let labels = || npy("|i1", false, [2, 3], &[1, 0, 2, 0, 1, 0]);
    let scores = |values: [f32; 6]| npy("<f4", false, [2, 3], &bytes(&values, f32::to_le_bytes));
    let good = [0.5, 0.25, 1.0, 2.0, 3.0, 4.0];
    let refused = |qrels: Vec<u8>, run: Vec<u8>| joined(qrels, run).map(|_| ()).unwrap_err();
    assert!(joined(labels(), scores(good)).is_ok());
    assert_eq!(
        refused(labels(), scores([0.5, f32::NAN, 1.0, 2.0, 3.0, f32::NEG_INFINITY])),
        "scores:1: score NaN in column 2 is not a number"
    );
    let nan = npy("<f8", true, [2, 2], &bytes(&[1.0, 0.0, 1.0, f64::NAN], f64::to_le_bytes));
    assert!(refused(nan, labels()).starts_with("labels:2: grade NaN in column 2 is not a number"));
    for shape in [[3, 2], [1, 6], [2, 2]] {
        let other = npy("|i1", false, shape, &vec![1; shape[0] * shape[1]]);
        let error = refused(labels(), other);
        assert!(
            error.starts_with("scores: has ")
                && error.ends_with("2 queries × 3 documents were expected, as in labels"),
            "{error}"
        );
    }
    let qrels = Join::default().qrels(input("labels", labels())).unwrap();
    let other = npy("|i1", false, [2, 2], &[1; 4]);
    let error =
        Join::default().runs(&qrels, [input("scores", other.clone())]).unwrap_err().to_string();
    assert_eq!(
        error,
        "scores: has 2 queries × 2 documents, and 2 queries × 3 documents were expected, as in \
         labels"
    );
    let evaluator = Evaluator::new(["AP"]).unwrap();
    let mut stream = evaluator.run_stream(&Join::default(), &qrels, "run").unwrap();
    assert!(
        stream.read(&other[..]).unwrap_err().to_string().contains("were expected, as in labels")
    );
    let numbered = Qrels::new([("1", "1", 1.0)]).unwrap();
    assert!(
        Join::default().runs(&numbered, [input("scores", other)]).is_ok(),
        "ids are those of the judgments"
    );
    assert_eq!(
        refused([labels(), b"x".to_vec()].concat(), scores(good)),
        "labels: there are more bytes after the values"
    );
    assert_eq!(
        refused(labels(), npy("<f4", false, [2, 3], &[0; 21])),
        "scores:2: the values end before row 2, column 3, and 2 queries × 3 documents were \
         expected: is the file complete?"
    );
    let lie = npy("|i1", false, [1 << 31, 1 << 31], &[1; 100]);
    assert!(
        refused(lie, scores(good))
            .contains("2147483648 queries × 2147483648 documents were expected")
    );
    let none = npy("|i1", false, [0, 3], b"");
    assert_eq!(
        refused(none, scores(good)),
        "labels: there is no judgment in it: expected 'a matrix of grades, [queries, documents]'\n\
         scores: has 2 queries × 3 documents, and 0 queries × 3 documents were expected, as in \
         labels"
    );
    let flat = b"\x93NUMPY\x01\x00\x3a\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2,), \
                }\n\0\0\0\0\0\0\0\0"
        .to_vec();
    assert!(refused(labels(), flat).contains("array of 1 dimension (2)"));
    let whole = scores(good);
    for end in 0..whole.len() {
        for cut in [whole[..end].to_vec(), zstd::encode_all(&whole[..end], 1).unwrap()] {
            let error = refused(labels(), cut);
            assert!(error.starts_with("scores"), "{error}");
        }
    }
}

/// A reader that gives a few bytes at a time.
struct Slow<'t>(&'t [u8]);

impl Read for Slow<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let length = into.len().min(7);
        self.0.read(&mut into[..length])
    }
}

#[test]
fn values_may_come_in_parts() {
    let shape = [90, 300];
    let (labels, scores) = random(shape, 7);
    let qrels = npy("<i8", false, shape, &bytes(&labels, i64::to_le_bytes));
    let run = npy("<f4", false, shape, &bytes(&scores, f32::to_le_bytes));
    let evaluator = Evaluator::new(["AP", "nDCG@10"]).unwrap();
    let whole = evaluator.evaluate(&joined(qrels.clone(), run.clone()).unwrap()).unwrap();
    let qrels = Join::default().qrels(input("labels", qrels)).unwrap();
    let mut stream = evaluator.run_stream(&Join::default(), &qrels, "run").unwrap();
    stream.read(Slow(&run)).unwrap();
    let passed = stream.scores().unwrap();
    for measure in ["AP", "nDCG@10"] {
        let bits = |scores: &laneval::Scores| scores.average("run", measure).map(f64::to_bits);
        assert_eq!(bits(&passed), bits(&whole));
    }
}
