//! Runs that are read once and are larger than the memory.

use std::io::{self, Read, Write};

use laneval::{Evaluator, Join, Qrels};

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
    let count = (300 << 20) / TAG;
    let qrels = Qrels::new((0..count / RESULTS).map(|query| (format!("q{query}"), "d1", 1.0))).unwrap();
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
