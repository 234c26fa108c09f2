//! Ids of nearest neighbours in files, as benchmarks of approximate search keep them.

use super::cases::some;
use super::folder::{Folder, assert_says};

/// Rows that begin with their number of ids.
fn ivecs(rows: &[&[i32]]) -> Vec<u8> {
    let row = |row: &&[i32]| [&[row.len() as i32], *row].concat();
    rows.iter().flat_map(row).flat_map(i32::to_le_bytes).collect()
}

/// Rows behind their counts, perhaps with distances.
fn ibin(rows: &[&[i32]], distances: &[f32]) -> Vec<u8> {
    let counts = [rows.len() as i32, rows[0].len() as i32];
    let ids = counts.into_iter().chain(rows.concat()).flat_map(i32::to_le_bytes);
    ids.chain(distances.iter().copied().flat_map(f32::to_le_bytes)).collect()
}

fn npy(descr: &str, fortran: &str, shape: [usize; 2], values: &[u8]) -> Vec<u8> {
    let [rows, columns] = shape;
    let header = format!(
        "{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': ({rows}, {columns}), }}\n"
    );
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), values]
        .concat()
}

const TRUTH: [&[i32]; 3] =
    [&[1, 2, 3, 4, 5, 6], &[10, 11, 12, 13, 14, 15], &[20, 21, 22, -1, -1, -1]];
const DISTANCES: [f32; 18] =
    [1.0, 2.0, 2.0, 2.0, 3.0, 4.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 1.0, 2.0, 3.0, 0.0, 0.0, 0.0];
const FOUND: [&[i32]; 3] = [&[1, 4, 9, 2], &[15, 14, 10, 11], &[22, 20, -1, -1]];

/// Returns a folder with three queries in every format.
fn folder() -> Folder {
    let folder = Folder::new();
    let long = |rows: &[&[i32]]| -> Vec<u8> {
        rows.concat().into_iter().flat_map(|id| i64::from(id).to_le_bytes()).collect()
    };
    let swapped = |rows: &[&[i32]]| -> Vec<u8> {
        rows.concat().into_iter().flat_map(i32::to_be_bytes).collect()
    };
    folder.put("truth.ivecs", ivecs(&TRUTH));
    folder.put("plain.ibin", ibin(&TRUTH, &[]));
    folder.put("truth.ibin", ibin(&TRUTH, &DISTANCES));
    folder.put("truth.npy", npy("<i8", "False", [3, 6], &long(&TRUTH)));
    folder.put("found.ivecs", ivecs(&FOUND));
    folder.put("found.ibin", ibin(&FOUND, &[]));
    folder.put("near.ibin", ibin(&FOUND, &[0.5; 12]));
    folder.put("found.npy", npy(">i4", "False", [3, 4], &swapped(&FOUND)));
    folder
}

#[test]
fn recalls_of_files_are_those_of_sets() {
    let folder = folder();
    let values = |truth: &str, found: &str| {
        let measures = "NNR@[1,2,3,4],NNR(truth=1)@4,NNR(truth=2)@4,NNR(truth=3)@4,NNR(truth=6)@4";
        let text = folder.out(&format!(
            "eval {truth} run={found} -m {measures} --format csv --per-query --quiet"
        ));
        let last = |line: &str| line.rsplit(',').next().unwrap().to_owned();
        let lines = text.lines().filter(|line| line.contains(",value,"));
        lines.map(last).collect::<Vec<_>>()
    };
    let plain = values("truth.ivecs", "found.ivecs");
    let as_ids = "--qrels-format ids --run-format ids";
    for (truth, found) in [
        ("truth.ivecs", "found.ibin"),
        ("plain.ibin", "near.ibin"),
        ("truth.npy", &*format!("found.npy {as_ids}")),
    ] {
        assert_eq!(values(truth, found), plain, "{truth} {found}");
    }
    let tied = values("truth.ibin", "found.ivecs");
    assert_ne!(tied, plain);
    let mean = |found: &str, measure: &str| -> f64 {
        let text = folder.out(&format!("eval {found} -m {measure} --format csv --quiet"));
        text.trim_end().rsplit(',').next().unwrap().parse().unwrap()
    };
    let assert_mean = |found: &str, measure: &str, expected: f64| {
        let mean = mean(found, measure);
        assert!((mean - expected).abs() < 1e-12, "{found} {measure}: {mean} and {expected}");
    };
    assert_mean("truth.ivecs found.ivecs", "NNR@4", 23.0 / 36.0);
    assert_mean("truth.ibin found.ivecs", "NNR@4", 13.0 / 18.0);
    assert_mean("truth.ibin found.ivecs", "NNR@2", 2.0 / 3.0);
    assert_mean("truth.ivecs found.ivecs", "NNR(truth=2)@4", 5.0 / 6.0);
    // Queries are numbered from 1, and matrices, runs as text and comparisons are made as of any
    // judgments.
    folder.out("build truth.ivecs run=found.ivecs -o m.lmx --quiet");
    assert_mean("m.lmx", "NNR@4", 23.0 / 36.0);
    folder.out("convert --qrels truth.ibin -o truth.qrels --quiet");
    folder.out("convert found.ivecs -o found.run --quiet");
    assert_mean("truth.qrels found.run", "NNR@4", 13.0 / 18.0);
    let qrels = String::from_utf8(folder.get("truth.qrels")).unwrap();
    assert!(qrels.starts_with("1 0 1 6\n1 0 2 5\n1 0 3 5\n1 0 4 5\n1 0 5 2\n"), "{qrels}");
    assert_says(
        &folder.out("compare truth.ivecs a=found.ivecs b=found.ibin -m NNR@4"),
        &["NNR@4\tmean\t0.6388888888888888"],
    );
}

#[test]
fn empty_places_between_ids_keep_their_ranks() {
    let folder = Folder::new();
    folder.put("truth.ivecs", ivecs(&[&[1, 2, 3], &[-1, -1, -1], &[4, 5, -1]]));
    folder.put("found.ivecs", ivecs(&[&[-1, 1, -1], &[1, 2, 3], &[-1, -1, -1]]));
    let scores = |measures: &str| {
        let run = folder
            .run(&format!("eval truth.ivecs found.ivecs -m {measures} --per-query --format csv"));
        assert_eq!(run.code, 0, "{}", run.err);
        run.out
    };
    assert_says(
        &scores("NNR@1,NNR@2,NumRet"),
        &[
            ",1,NNR@1,value,0\n",
            ",1,NNR@2,value,0.5\n",
            ",1,NumRet,value,2\n",
            ",3,NNR@2,value,0\n",
            ",,NNR@2,mean,0.25\n",
        ],
    );
    folder.put("late.ivecs", ivecs(&[&[-1, 1, -1], &[1, 2, 3], &[4, 5, 6]]));
    let error = folder.error("eval late.ivecs found.ivecs -m NNR@1");
    assert_says(&error, &["late.ivecs: row 1 begins with an empty place, and ids follow"]);
}

/// An id that was found twice is an error, or does not count, also where both files have distances.
#[test]
fn ids_that_were_found_twice_count_as_repeats_says() {
    let folder = Folder::new();
    let near = [0.0, 1.0, 2.0, 3.0];
    folder.put("truth.ivecs", ivecs(&[&[1, 2, 3, 4]]));
    folder.put("truth.ibin", ibin(&[&[1, 2, 3, 4]], &near));
    folder.put("found.ivecs", ivecs(&[&[1, 1, 2, 9]]));
    folder.put("found.ibin", ibin(&[&[1, 1, 2, 9]], &near));
    folder.put("one.ivecs", ivecs(&[&[1, 1, 1, 1]]));
    let values = |args: &str| {
        let text = folder.out(&format!(
            "eval {args} -m NNR@4,NNR(truth=2)@2,NNR(truth=2)@3 --format csv --quiet"
        ));
        let value = |line: &str| line.rsplit(',').next().unwrap().to_owned();
        text.lines().filter(|line| line.contains(",mean,")).map(value).collect::<Vec<_>>()
    };
    for [truth, found] in [["truth.ivecs", "found.ivecs"], ["truth.ibin", "found.ibin"]] {
        assert_eq!(values(&format!("{truth} {found} --aggregate blank")), ["0.5", "0.5", "1"]);
        assert_eq!(values(&format!("{truth} {found} --aggregate max")), ["0.5", "1", "1"]);
        assert_eq!(values(&format!("{truth} one.ivecs --aggregate blank")), ["0.25", "0.5", "0.5"]);
        folder.out(&format!("build {truth} {found} --aggregate blank -o run.lmx --quiet"));
        assert_eq!(values("run.lmx"), ["0.5", "0.5", "1"]);
        let error = folder.error(&format!("eval {truth} {found} -m NNR@4"));
        assert_says(&error, &[&format!("{found}:1: docno '1' occurs again for query '1'")]);
        let error = folder.error(&format!("eval {truth} {found} -m NNR@4 --aggregate sum"));
        assert_says(
            &error,
            &["has ranks and no scores that could be added: take --aggregate max or blank"],
        );
    }
}

#[test]
fn recall_by_all_neighbours_is_noted() {
    let folder = folder();
    let ran = folder.run("eval truth.ivecs found.ivecs -m R@4,NNR@4");
    assert_says(
        &ran.err,
        &["note: R@4 divides by all 6 true neighbours; NNR@4 is the recall of nearest neighbours"],
    );
    assert_eq!(folder.run("eval truth.ivecs found.ivecs -m NNR@4,R@6,P@1").err, "");
    folder.out("convert found.ivecs -o found.run --quiet");
    let piped = folder.shell("cat found.run | $L eval truth.ivecs - -m R@4");
    assert_says(&piped.err, &["R@4 divides by all 6 true neighbours"]);
}

#[test]
fn what_is_wrong_with_a_file_is_said() {
    let folder = folder();
    let hundred: Vec<i32> = (0..100).collect();
    folder.put("gt.ivecs", ivecs(&[&hundred, &hundred[..90]]));
    let assert_error = |args: &str, expected: &str| {
        assert_says(&folder.error(&format!("eval {args} -m NNR@1")), &[expected])
    };
    assert_error("gt.ivecs found.ivecs", "gt.ivecs: row 2 has 90 ids, and row 1 has 100\n");
    let error = folder.error("eval gt.ivecs found.ivecs -m NNR@1");
    assert!(
        !error.contains("a row for each query"),
        "the number of its rows is not known: {error}"
    );
    folder.put("gt.ivecs", &ivecs(&[&hundred[..]; 4])[..1234]);
    assert_error(
        "gt.ivecs found.ivecs",
        "gt.ivecs: has 1,234 bytes, and rows of 100 ids have 404 each: is the file complete?\n",
    );
    folder.put("base.fvecs", [4, 0, 0, 0, 0, 0, 0, 0]);
    assert_error(
        "truth.ivecs base.fvecs",
        "base.fvecs: holds vectors, and ids of neighbours were expected (.ivecs, .ibin)\n",
    );
    assert_error("base.fvecs found.ivecs --qrels-format ivecs", "base.fvecs: holds vectors");
    let rows = |count: usize| vec![&hundred[..1]; count];
    folder.put("gt.ibin", ibin(&rows(9900), &[]));
    folder.put("found.ibin", ibin(&rows(10_000), &[]));
    assert_error(
        "gt.ibin found.ibin",
        "found.ibin: has 10,000 rows, and gt.ibin 9,900: a row for each query was expected\n",
    );
    folder.put("more.ivecs", ivecs(&rows(9901)));
    assert_error(
        "gt.ibin more.ivecs",
        "more.ivecs: has 9,901 rows, and gt.ibin 9,900: a row for each query was expected\n",
    );
    folder.put("run.hdf5", b"\x89HDF\r\n\x1a\n\0\0\0\0\0\x08\x08\0\x04\0\x10\0");
    assert_error(
        "truth.ivecs run.hdf5",
        "run.hdf5: is HDF5, which is not read here: in Python, evaluate_neighbours takes its \
         arrays\n",
    );
    assert_says(
        &folder.error("eval truth.ivecs found.ivecs -m NNR@200"),
        &["NNR@200: the truth has 6 neighbours a query"],
    );
    folder.put("twice.ivecs", ivecs(&[&[1, 4, 4], &[2, 3, 4], &[2, 3, 4]]));
    assert_error(
        "truth.ivecs twice.ivecs",
        "twice.ivecs:1: docno '4' occurs again for query '1', first on line 1",
    );
    assert_error("twice.ivecs found.ivecs", "twice.ivecs:1: ");
    let [mut falling, mut nan] = [DISTANCES; 2];
    (falling[3], nan[2]) = (1.5, f32::NAN);
    folder.put("falling.ibin", ibin(&TRUTH, &falling));
    assert_error(
        "falling.ibin found.ivecs",
        "falling.ibin: row 1: 1.5 follows 2.0 at rank 4: ascending distances were expected; of \
         similarities give the negative\n",
    );
    folder.put("nan.ibin", ibin(&TRUTH, &nan));
    assert_error("nan.ibin found.ivecs", "nan.ibin: row 1: NaN follows 2.0 at rank 3");
    folder.put("float.npy", npy("<f4", "False", [3, 2], &[0; 24]));
    assert_error(
        "float.npy found.ivecs --qrels-format ids",
        "float.npy: has values of the type float32, and ids are integers\n",
    );
    folder.put("fortran.npy", npy("<i4", "True", [3, 2], &[0; 24]));
    assert_error(
        "fortran.npy found.ivecs --qrels-format ids",
        "fortran.npy: has its columns one behind the other",
    );
    assert_error("qrels found.ivecs --qrels-format ids", "qrels: is no .npy file");
    assert_error("qrels bm25.run --run-format ivecs", "bm25.run: ");
}

/// Counts that no file has, and files that end anywhere.
#[test]
fn damaged_files_are_refused() {
    let folder = folder();
    let refused = |name: &str, bytes: &[u8], of_qrels: bool| {
        folder.put(name, bytes);
        let args =
            if of_qrels { format!("{name} found.ivecs") } else { format!("truth.ivecs {name}") };
        let error = folder.error(&format!("eval {args} -m NNR@1"));
        assert_says(&error, &[name]);
        error
    };
    for counts in [
        [u32::MAX, u32::MAX],
        [1 << 31, 1 << 31],
        [u32::MAX, 1],
        [1, u32::MAX],
        [0, 5],
        [5, 0],
        [3, 1 << 30],
    ] {
        let mut bytes: Vec<u8> = counts.into_iter().flat_map(u32::to_le_bytes).collect();
        bytes.extend([1, 0, 0, 0]);
        refused("b.ibin", &bytes, true);
        refused("b.ibin", &bytes, false);
    }
    for width in [0, -1, i32::MIN, i32::MAX] {
        let bytes: Vec<u8> = [width, 7].into_iter().flat_map(i32::to_le_bytes).collect();
        refused("b.ivecs", &bytes, true);
        refused("b.ivecs", &bytes, false);
    }
    for (name, whole) in [("b.ivecs", ivecs(&TRUTH)), ("b.ibin", ibin(&TRUTH, &DISTANCES))] {
        // Of rows that end where a row ends nothing is missing but rows, and of distances that are
        // missing all may be.
        let row = 28;
        let is_whole = |end: usize| {
            name == "b.ivecs" && end.is_multiple_of(row) || name == "b.ibin" && end == 80
        };
        for end in some((0..whole.len()).filter(|&end| !is_whole(end))) {
            let error = refused(name, &whole[..end], true);
            assert!(error.contains("is the file complete?") || end < 8, "{end}: {error}");
        }
    }
    let error = refused("b.ivecs", &ivecs(&FOUND[..2]), false);
    assert_says(
        &error,
        &["b.ivecs: has 2 rows, and truth.ivecs 3: a row for each query was expected"],
    );
}
