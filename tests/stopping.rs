//! Joins that are watched, and stopped.

use std::sync::Arc;

use laneval::columns::{QrelsColumns, RunColumns};
use laneval::{Error, Input, Join, ProgressHandle, Qrels, Result};

const QRELS: &str = "q1 0 d1 1\nq2 0 d1 1\n";
/// A run in which the lines of a query are together, and one in which they are not, which is read
/// twice.
const RUNS: [&str; 2] =
    ["q1 Q0 d1 1 2 t\nq2 Q0 d1 1 1 t\n", "q1 Q0 d1 1 2 t\nq2 Q0 d1 1 1 t\nq1 Q0 d2 2 1 t\n"];

fn input(name: &str, text: &[u8]) -> Input {
    Input::Bytes { name: name.to_owned(), bytes: text.to_vec() }
}

fn watched() -> (Join, Arc<ProgressHandle>) {
    let watch = Arc::new(ProgressHandle::default());
    (Join { watch: Some(watch.clone()), ..Join::default() }, watch)
}

/// Performs one reading of each kind.
fn all(join: &Join, qrels: &Qrels) -> Vec<Result<()>> {
    let judged = QrelsColumns::new(&["q1"], &["d1"], &[1u8]);
    let results = [RunColumns::scored(&["q1", "q2", "q1"], &["d1", "d1", "d2"], &[2.0, 1.0, 1.0])];
    let zipped = zstd::encode_all(RUNS[0].as_bytes(), 1).unwrap();
    vec![
        join.qrels(input("qrels", QRELS.as_bytes())).map(drop),
        join.judgments(&[judged]).map(drop),
        join.runs(qrels, [input("a", RUNS[0].as_bytes())]).map(drop),
        join.runs(qrels, [input("a", RUNS[1].as_bytes())]).map(drop),
        join.runs(qrels, [input("a", &zipped)]).map(drop),
        join.files(input("qrels", QRELS.as_bytes()), [input("a", RUNS[0].as_bytes())]).map(drop),
        join.columns(qrels, &[("a", &results)]).map(drop),
    ]
}

#[test]
fn what_was_told_to_stop_stops() {
    let qrels = Join::default().qrels(input("qrels", QRELS.as_bytes())).unwrap();
    let (join, watch) = watched();
    assert!(all(&join, &qrels).iter().all(Result::is_ok));
    watch.stop();
    for (at, done) in all(&join, &qrels).into_iter().enumerate() {
        assert!(matches!(done, Err(Error::Stopped)), "{at}: {done:?}");
    }
}

#[test]
fn what_is_done_is_counted() {
    let (join, watch) = watched();
    let qrels = join.qrels(input("qrels", QRELS.as_bytes())).unwrap();
    assert_eq!((watch.done(), watch.total()), (QRELS.len() as u64, QRELS.len() as u64));
    join.runs(&qrels, [input("a", RUNS[0].as_bytes())]).unwrap();
    let read = (QRELS.len() + RUNS[0].len()) as u64;
    assert_eq!((watch.done(), watch.total()), (read, read));
    join.runs(&qrels, [input("a", &zstd::encode_all(RUNS[0].as_bytes(), 1).unwrap())]).unwrap();
    assert!(watch.done() > read && watch.done() == watch.total());
}
