//! Runs that are read once and are larger than the memory.

use std::io::{self, Read, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use laneval::{Error, Evaluator, FacetKind, Input, Join, Qrels};

/// Held by each test here: together they need more than the limit.
static MEMORY: Mutex<()> = Mutex::new(());

/// Waits until no other test here works.
fn alone() -> MutexGuard<'static, ()> {
    MEMORY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A reader of lines of one query after another, with long tags, and a number of lines.
struct Lines {
    next: usize,
    count: usize,
    line: io::Cursor<Vec<u8>>,
}

const TAG: usize = 3000;
const RESULTS: usize = 20;

impl Read for Lines {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.line.position() == self.line.get_ref().len() as u64 && self.next < self.count {
            let mut line = std::mem::take(self.line.get_mut());
            line.clear();
            let (query, rank) = (self.next / RESULTS, self.next % RESULTS);
            write!(line, "q{query} Q0 d{rank} {rank} {} ", RESULTS - rank)?;
            line.resize(line.len() + TAG, b't');
            line.push(b'\n');
            self.line = io::Cursor::new(line);
            self.next += 1;
        }
        self.line.read(into)
    }
}

#[test]
fn a_run_that_goes_by_may_be_larger_than_the_memory() {
    let _alone = alone();
    let count = (300 << 20) / TAG;
    let qrels =
        Qrels::new((0..count / RESULTS).map(|query| (format!("q{query}"), "d1", 1.0))).unwrap();
    let evaluator = Evaluator::new(["RR", "NumRet"]).unwrap();
    let mut stream = evaluator.run_stream(&Join::default(), &qrels, "mine").unwrap();
    stream.read(Lines { next: 0, count, line: io::Cursor::default() }).unwrap();
    let scores = stream.scores().unwrap();
    assert_eq!(scores.average("mine", "RR"), Some(0.5));
    assert_eq!(scores.average("mine", "NumRet"), Some((count / RESULTS * RESULTS) as f64));
}

/// Rows one after another, of half a gibibyte.
#[test]
fn rows_of_a_text_take_no_memory() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.zst");
    let count = (512 << 20) / TAG;
    let lines = Lines { next: 0, count, line: io::Cursor::default() };
    zstd::stream::copy_encode(lines, std::fs::File::create(&path).unwrap(), 1).unwrap();
    let (mut rows, mut bytes) = (0, 0);
    Join::default()
        .each_result(path, None, |row| {
            (rows, bytes) = (rows + 1, bytes + row.tag.map_or(0, <[u8]>::len));
            Ok(true)
        })
        .unwrap();
    assert_eq!((rows, bytes), (count, count * TAG));
}

/// Text of some lines again and again, as the little that zstd makes of it.
fn again_and_again(name: &str, lines: &str, times: usize) -> Input {
    let mut zstd = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    let block = lines.repeat(1000);
    (0..times / 1000).for_each(|_| zstd.write_all(block.as_bytes()).unwrap());
    let bytes = zstd.finish().unwrap();
    assert!(20 * bytes.len() < lines.len() * times, "{} bytes", bytes.len());
    Input::Bytes { name: name.to_owned(), bytes }
}

/// Every repeated row is a problem, and no more of them are kept than are told.
#[test]
fn rows_that_repeat_others_take_no_memory() {
    let _alone = alone();
    let problems = |error: Error| {
        let (Error::Input(problems) | Error::Duplicate(problems)) = error else {
            panic!("{error}")
        };
        (problems.first[0].to_string(), problems.first.len() as u64 + problems.more)
    };
    // Of one query, whose rows are kept until it ends, and of two in turns, whose rows are kept to
    // the end.
    for (one, rows) in [("q1 0 d 1\n", 3_500_000), ("q1 0 d 1\nq2 0 d 1\n", 4_000_000)] {
        let queries = one.lines().count() as u64;
        let line = if queries == 1 { 2 } else { 3 };
        // With the same grade they are no problem, and with another one each is.
        let read = Qrels::read(again_and_again("qrels", one, rows)).unwrap();
        assert_eq!(read.queries().len() as u64, queries);
        let other = one.replace("d 1", "d 2");
        let (first, count) = problems(
            Qrels::read(again_and_again("qrels", &format!("{one}{other}"), rows / 2)).unwrap_err(),
        );
        assert_eq!(
            first,
            format!(
                "qrels:{line}: docno 'd' of query 'q1' has grade 2 here, but grade 1 on line 1"
            )
        );
        // Rows are dropped where they repeat the first that their thread has met of a document,
        // which may be of either grade; the rows of a thread alternate between the two.
        let threads = std::thread::available_parallelism().unwrap().get() as u64;
        let expected = (rows / 2) as u64 * queries;
        assert!(count.abs_diff(expected) <= 2 * queries * threads, "{count}");
        let qrels = Qrels::new([("q1", "d", 1.0), ("q2", "d", 1.0)]).unwrap();
        let run = one.replace(" 0 d 1", " Q0 d 1 0.5 t");
        let joined = Join::default().runs(&qrels, [again_and_again("run", &run, rows)]);
        let (first, count) = problems(joined.unwrap_err());
        assert_eq!(
            first,
            format!("run:{line}: docno 'd' occurs again for query 'q1', first on line 1")
        );
        assert_eq!(count, (rows as u64 - 1) * queries);
    }
}

/// The same of judgments by judge, of which each is told by itself.
#[test]
fn problems_of_judgments_by_group_take_no_memory() {
    let _alone = alone();
    let by_judge = Join { judged_by: Some(FacetKind::Judge), ..Join::default() };
    for (line, count, expected) in [
        (
            "q1 ann d 1\nq1 ann d 2\n",
            6_000_000,
            "qrels:2: docno 'd' is judged again by judge 'ann' for query 'q1', first on line 1",
        ),
        (
            "q1 ann d high\n",
            700_000,
            "qrels:1: grade 'high' is not a number: expected 'query judge docno grade'",
        ),
    ] {
        let error = by_judge.qrels(again_and_again("qrels", line, count)).unwrap_err();
        let Error::Input(problems) = error else { panic!("{error}") };
        assert_eq!((problems.first[0].to_string().as_str(), problems.first.len()), (expected, 20));
        assert!(
            (count as u64 - 21..=count as u64 - 20).contains(&problems.more),
            "{}",
            problems.more
        );
    }
}

/// Judgments by judge, in 300 MiB of lines that are mostly blanks.
struct Spaced {
    next: usize,
    line: io::Cursor<Vec<u8>>,
}

impl Spaced {
    const COUNT: usize = (300 << 20) / TAG;
}

impl Read for Spaced {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.line.position() == self.line.get_ref().len() as u64 && self.next < Spaced::COUNT {
            let at = self.next;
            let line =
                format!("q{}{:TAG$}j{} d{} {}\n", at / 100, "", at % 2, at % 100 / 2, at % 3);
            (self.next, self.line) = (at + 1, io::Cursor::new(line.into_bytes()));
        }
        self.line.read(into)
    }
}

/// What is held of judgments by facet are the judgments, and not their text, whether it is
/// compressed or passes by.
#[test]
fn the_text_of_judgments_by_group_takes_no_memory() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("judgments.zst");
    let lines = Spaced { next: 0, line: io::Cursor::default() };
    zstd::stream::copy_encode(lines, std::fs::File::create(&path).unwrap(), 1).unwrap();
    let by_judge = Join { judged_by: Some(FacetKind::Judge), ..Join::default() };
    let qrels = by_judge.qrels(path.clone()).unwrap();
    assert_eq!(qrels.queries().len(), Spaced::COUNT.div_ceil(100));
    #[cfg(unix)]
    {
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let passing = std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let mut lines = Spaced { next: 0, line: io::Cursor::default() };
                io::copy(&mut lines, &mut std::fs::File::create(&pipe).unwrap()).unwrap()
            });
            let qrels = by_judge.qrels(pipe.clone()).unwrap();
            writer.join().unwrap();
            qrels
        });
        assert_eq!(passing.fingerprint(), qrels.fingerprint());
    }
}
