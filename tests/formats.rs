//! The sample files of every format, plain, as gzip and as zstd, have the same bits as their TREC
//! twins.

use std::io::Write;
use std::path::{Path, PathBuf};

use laneval::{Evaluator, Input, InputFormat, Join, LabelMatrix, RunInput};
use proptest::prelude::*;

use super::cases::by_default;
use super::variants::{every_measure, every_walk};

const QRELS: [&str; 6] =
    ["qrels.trec", "qrels.tsv", "qrels.csv", "qrels.json", "qrels.jsonl", "judged.letor"];
const RUNS: [&str; 7] =
    ["run.trec", "untagged.trec", "run.tsv", "run.csv", "msmarco.tsv", "run.json", "run.jsonl"];

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/formats").join(name)
}

/// Returns a sample file as it lies, from memory, and compressed.
fn inputs(name: &str) -> [(&'static str, Input); 4] {
    let bytes = std::fs::read(sample(name)).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&bytes).unwrap();
    let input = |bytes: Vec<u8>| Input::Bytes { name: name.to_owned(), bytes };
    [
        ("as a file", sample(name).into()),
        ("by gzip", input(gzip.finish().unwrap())),
        ("by zstd", input(zstd::encode_all(&bytes[..], 1).unwrap())),
        ("plain", input(bytes)),
    ]
}

fn joined(qrels: Input, run: Input) -> LabelMatrix {
    Join::default()
        .files(qrels, [RunInput::named("run", run)])
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the properties of a matrix that evaluations depend on.
fn all(matrix: &LabelMatrix) -> impl PartialEq + std::fmt::Debug + use<> {
    let labels = (matrix.queries().clone(), matrix.depths().to_vec(), matrix.tile_bytes().to_vec());
    (labels, matrix.fingerprint(), matrix.codebook().clone(), matrix.facts().clone())
}

/// Returns the values of every measure, to the bit.
fn values(matrix: &LabelMatrix) -> Vec<u64> {
    let measures = [every_measure(matrix), every_walk(matrix)].concat();
    let scores = Evaluator::from_measures(measures).with_per_query(true).evaluate(matrix).unwrap();
    let of_queries = &scores.runs[0].per_query.as_ref().unwrap().values;
    of_queries.iter().flatten().map(|value| value.to_bits()).collect()
}

/// Type checkers need the names written out: `UPDATE_README=1 cargo test formats` writes them.
#[test]
fn python_names_every_format() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/laneval/_options.py");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once("\nFormat: TypeAlias = Literal[").unwrap();
    let (_, behind) = rest.split_once(']').unwrap();
    let names = InputFormat::ALL.map(|(name, _)| format!("\"{name}\"")).join(", ");
    let expected = format!("{before}\nFormat: TypeAlias = Literal[{names}]{behind}");
    if std::env::var_os("UPDATE_README").is_some() {
        std::fs::write(path, expected).unwrap();
    } else {
        assert_eq!(page, expected, "run `UPDATE_README=1 cargo test formats`");
    }
}

#[test]
fn every_file_is_its_twin() {
    let twin = joined(sample("qrels.trec").into(), sample("run.trec").into());
    let (all_of_twin, values_of_twin) = (all(&twin), values(&twin));
    assert!(values_of_twin.len() > 500);
    // By default each file of one side with one of the other.
    let pairs = QRELS.iter().flat_map(|qrels| RUNS.map(|run| (*qrels, run)));
    let pairs = pairs.step_by(by_default(RUNS.len() + 1, 1));
    for (qrels, run) in pairs.chain([("judged.letor", "scores.txt")]) {
        for ((how, qrels_input), (_, run_input)) in std::iter::zip(inputs(qrels), inputs(run)) {
            let found = joined(qrels_input, run_input);
            assert_eq!(all(&found), all_of_twin, "{qrels} {run} {how}");
            assert!(values(&found) == values_of_twin, "{qrels} {run} {how}");
        }
    }
}

/// Queries are numbered, and documents are lines, if the files name none; labels and values are the
/// same nevertheless.
#[test]
fn groups_are_their_twin() {
    let twin = joined(sample("qrels.trec").into(), sample("run.trec").into());
    let found = joined(sample("lightgbm.txt").into(), sample("scores.txt").into());
    assert_eq!((found.tile_bytes(), found.depths()), (twin.tile_bytes(), twin.depths()));
    assert_eq!(found.queries().iter().collect::<Vec<_>>(), [b"1", b"2"]);
}

#[test]
fn runs_that_go_by_are_their_twins() {
    let qrels = Join::default().qrels(sample("qrels.trec")).unwrap();
    let evaluator = Evaluator::new(["nDCG@10", "AP"]).unwrap();
    let passed = |name: &str| {
        let mut stream = evaluator.run_stream(&Join::default(), &qrels, "run").unwrap();
        stream
            .read(std::fs::File::open(sample(name)).unwrap())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let scores = stream.scores().unwrap();
        ["nDCG@10", "AP"].map(|measure| scores.average("run", measure).map(f64::to_bits))
    };
    for run in RUNS {
        assert_eq!(passed(run), passed("run.trec"), "{run}");
    }
    // A run of scores alone takes its queries and documents from the file of the judgments.
    let letor = Join::default().qrels(sample("judged.letor")).unwrap();
    let matrix = Join::default().runs(&letor, [sample("scores.txt")]).unwrap();
    assert_eq!(matrix.depths(), [3, 2]);
}

/// Pieces of runs of any format, and of none.
const PIECES: &[&[u8]] = &[
    b"{\"PLAIN-1\": {",
    b"\"MED-10\": 1, ",
    b"\"MED-11\":2.5}",
    b"}\n",
    b"{\"qid\": \"PLAIN-1\", \"docid\": \"MED-10\", \"score\": 1}\n",
    b"{\"qid\": \"PLAIN-2\", \"docid\": \"MED-21\", \"score\": 2}\n",
    b"qid\tdocid\tscore\n",
    b"PLAIN-1\tMED-10\t1\n",
    b"PLAIN-2\tMED-21\t1\r\n",
    b"score,docid,qid\n",
    b"1,MED-10,PLAIN-1\n",
    b"\"1\",\"MED,12\",PLAIN-1\n",
    b"PLAIN-1 Q0 MED-10 1 1 t\n",
    b"PLAIN-2 Q0 MED-21 1 1 t\n",
    b"\"",
    b",",
    b"\n",
    b"{",
    b"[",
    b"NaN",
    b"\xff",
    b"\x1f",
];

proptest! {
    /// Bytes that a stream accepts have the same scores as in a file.
    #[test]
    fn any_bytes_go_by_as_they_are_read_or_are_refused(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..12),
    ) {
        let bytes = pieces.concat();
        let qrels = Join::default().qrels(sample("qrels.trec")).unwrap();
        let evaluator = Evaluator::new(["AP", "P@1"]).unwrap();
        let mut stream = evaluator.run_stream(&Join::default(), &qrels, "run").unwrap();
        let passed = stream.read(&bytes[..]).and_then(|()| stream.scores());
        let run = RunInput::named("run", Input::Bytes { name: "run".to_owned(), bytes });
        let read =
            Join::default().runs(&qrels, [run]).and_then(|matrix| evaluator.evaluate(&matrix));
        if let Ok(passed) = passed {
            let read = read.unwrap();
            for measure in ["AP", "P@1"] {
                let [passed, read] =
                    [&passed, &read].map(|scores| scores.average("run", measure).map(f64::to_bits));
                prop_assert_eq!(passed, read);
            }
        }
    }
}
