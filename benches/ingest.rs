//! From text, and from columns in memory, to a label matrix: lines and rows a second, on one thread
//! and on two.

use std::fmt::Write;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use laneval::columns::{IdColumn, Integers, RunColumns};
use laneval::{Input, Join, LabelMatrix, Qrels};

const QUERIES: u64 = 1000;
const DEPTH: u64 = 1000;
const JUDGED: u64 = 20;

/// The order of the lines of a run.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    Ranked,
    /// The lines of a query are together, but in no order.
    Shuffled,
    /// One line of each query after the other.
    Interleaved,
}

/// Returns a number that looks random, in `0..below`; for different `n` below it, different ones.
fn scrambled(n: u64, below: u64) -> u64 {
    n * 1_000_003 % below
}

/// Returns the document at a rank of a query.
fn docno(query: u64, rank: u64) -> u64 {
    scrambled(query * 7919 + rank, 8_841_823)
}

fn qrels() -> String {
    let mut text = String::new();
    for query in 0..QUERIES {
        for judged in 0..JUDGED {
            writeln!(
                text,
                "{} 0 {} {}",
                query * 13 + 100,
                docno(query, judged * judged * 3),
                judged % 3
            )
            .unwrap();
        }
    }
    text
}

fn run(order: Order) -> String {
    let mut text = String::new();
    for line in 0..QUERIES * DEPTH {
        let (query, rank) = match order {
            Order::Ranked => (line / DEPTH, line % DEPTH),
            Order::Shuffled => (line / DEPTH, line % DEPTH * 617 % DEPTH),
            Order::Interleaved => (line % QUERIES, line / QUERIES),
        };
        let score = 30.0 - rank as f64 * 0.025;
        writeln!(
            text,
            "{} Q0 {} {} {score:.6} bm25",
            query * 13 + 100,
            docno(query, rank),
            rank + 1
        )
        .unwrap();
    }
    text
}

/// Columns of the ranked run.
#[derive(Default)]
struct Columns {
    query_offsets: Vec<i32>,
    query_bytes: Vec<u8>,
    query_codes: Vec<u32>,
    query_names: Vec<String>,
    doc_offsets: Vec<i32>,
    doc_bytes: Vec<u8>,
    docs: Vec<u32>,
    scores: Vec<f64>,
}

impl Columns {
    fn new() -> Self {
        let mut columns =
            Columns { query_offsets: vec![0], doc_offsets: vec![0], ..Columns::default() };
        for line in 0..QUERIES * DEPTH {
            let (query, rank) = (line / DEPTH, line % DEPTH);
            let (name, doc) = ((query * 13 + 100).to_string(), docno(query, rank));
            columns.query_bytes.extend_from_slice(name.as_bytes());
            columns.query_offsets.push(columns.query_bytes.len() as i32);
            columns.doc_bytes.extend_from_slice(doc.to_string().as_bytes());
            columns.doc_offsets.push(columns.doc_bytes.len() as i32);
            columns.query_codes.push(query as u32);
            columns.docs.push(doc as u32);
            columns.scores.push(30.0 - rank as f64 * 0.025);
            if rank == 0 {
                columns.query_names.push(name);
            }
        }
        columns
    }

    fn utf8(&self) -> RunColumns<'_> {
        let query = IdColumn::Utf8 { offsets: &self.query_offsets, bytes: &self.query_bytes };
        let doc = IdColumn::Utf8 { offsets: &self.doc_offsets, bytes: &self.doc_bytes };
        RunColumns::scored(query, doc, &self.scores)
    }

    fn coded<'a>(&'a self, names: &'a IdColumn<'a>) -> RunColumns<'a> {
        let query =
            IdColumn::Dictionary { codes: Integers::from(&self.query_codes), values: names };
        RunColumns::scored(query, &self.docs, &self.scores)
    }
}

/// Checks the matrix of a run.
fn check(matrix: &LabelMatrix) {
    let labels: u64 = matrix.depths().iter().map(|&depth| u64::from(depth)).sum();
    assert_eq!(labels, QUERIES * DEPTH);
    let judged = matrix.tile_bytes().iter().filter(|&&label| label > 1).count() as u64;
    assert_eq!(
        judged,
        QUERIES * (0..JUDGED).filter(|judged| judged * judged * 3 < DEPTH).count() as u64
    );
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

fn ingest(c: &mut Criterion) {
    let pool = pool(1);
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let qrels = write("qrels", qrels());
    let mut group = c.benchmark_group("ingest");
    group.throughput(Throughput::Elements(QUERIES * DEPTH)).sample_size(10);
    for (name, order) in [
        ("ranked", Order::Ranked),
        ("shuffled", Order::Shuffled),
        ("interleaved", Order::Interleaved),
    ] {
        let run = write(name, run(order));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let matrix =
                    pool.install(|| Join::default().files(Input::from(&qrels), [&run])).unwrap();
                check(&matrix);
                black_box(matrix)
            });
        });
    }
    group.finish();
}

/// A run as text and as columns, joined with judgments that were read before.
fn columns(c: &mut Criterion) {
    let qrels = Qrels::read(Input::Bytes { name: "qrels".into(), bytes: qrels().into() }).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    std::fs::write(&path, run(Order::Ranked)).unwrap();
    let columns = Columns::new();
    let names: Vec<&str> = columns.query_names.iter().map(String::as_str).collect();
    let names = IdColumn::from(&names);
    let (utf8, coded) = ([columns.utf8()], [columns.coded(&names)]);
    let rows = || {
        let ids = |offsets: &[i32], bytes: &[u8], row: usize| {
            bytes[offsets[row] as usize..offsets[row + 1] as usize].to_vec()
        };
        let row = |row| {
            let query = ids(&columns.query_offsets, &columns.query_bytes, row);
            (query, ids(&columns.doc_offsets, &columns.doc_bytes, row), columns.scores[row])
        };
        (0..columns.scores.len()).map(row).collect::<Vec<_>>()
    };
    let rows = rows();
    let mut group = c.benchmark_group("columns");
    group.throughput(Throughput::Elements(QUERIES * DEPTH)).sample_size(20);
    let expected = Join::default().runs(&qrels, [&path]).unwrap();
    for threads in [1, 2] {
        let pool = pool(threads);
        let mut case = |name: &str, join: &(dyn Fn() -> laneval::Result<LabelMatrix> + Sync)| {
            let matrix = pool.install(join).unwrap();
            check(&matrix);
            assert_eq!(matrix.tile_bytes(), expected.tile_bytes());
            group.bench_function(format!("{name}, {threads}"), |bencher| {
                bencher.iter(|| black_box(pool.install(join).unwrap()));
            });
        };
        let join = Join::default();
        case("text", &|| join.runs(&qrels, [&path]));
        case("Utf8", &|| join.columns(&qrels, &[("run", &utf8)]));
        case("dictionary and integers", &|| join.columns(&qrels, &[("run", &coded)]));
        let borrowed = || rows.iter().map(|(query, doc, score)| (query, doc, *score));
        case("rows of an iterator", &|| join.rankings(&qrels, [("run".to_owned(), borrowed())]));
    }
    group.finish();
}

criterion_group!(benches, ingest, columns);
criterion_main!(benches);
