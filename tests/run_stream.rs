//! Runs that are read once have the scores of the whole run, to the bit.

use std::fmt::Write as _;
use std::io::{self, Read, Write as _};
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use laneval::columns::RunColumns;
use laneval::{
    EngineChoice, Error, ErrorKind, Evaluator, Groups, Input, Join, ProgressHandle, Qrels,
    QuerySet, RunInput, RunStream, Stat, TieBreak, View,
};

const QUERIES: usize = 700;

/// Numbers that look random.
fn random(at: usize) -> usize {
    (at.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) ^ at
}

/// Judgments and a run whose lines are together by query: rankings of any depth, equal scores,
/// negative grades, queries that only one side has, and all queries in another order than in the
/// qrels.
fn texts() -> (String, String) {
    let (mut qrels, mut run) = (String::new(), String::new());
    for query in 0..QUERIES {
        for doc in 0..1 + random(query) % 12 {
            writeln!(qrels, "q{query} 0 d{doc} {}", random(query * 31 + doc) % 5).unwrap();
        }
        writeln!(qrels, "q{query} 0 n -1").unwrap();
    }
    for at in 0..QUERIES + 20 {
        let query = at * 7 % (QUERIES + 20);
        if query % 13 == 5 {
            continue;
        }
        for rank in 0..1 + random(query + 9) % 40 {
            let (doc, score) = ((rank * 17 + query) % 41, 60 - rank / 2);
            writeln!(run, "q{query} Q0 d{doc} {} {score} tag{query}", rank + 1).unwrap();
        }
    }
    (qrels, run)
}

fn evaluator() -> Evaluator {
    Evaluator::new([
        "nDCG@10",
        "AP",
        "RR",
        "P@[1,5,1000]",
        "GMAP",
        "NumRet",
        "G",
        "Compat",
        "infAP",
        "bpref",
    ])
    .unwrap()
}

/// Returns the results for the matrix of the whole run: the scores as text, and the summary as
/// data.
fn whole(evaluator: &Evaluator, join: &Join, qrels: &str, run: &str) -> (String, Vec<u8>) {
    let bytes = |name: &str, text: &str| Input::Bytes { name: name.into(), bytes: text.into() };
    let matrix =
        join.files(bytes("qrels", qrels), [RunInput::named("mine", bytes("mine", run))]).unwrap();
    (
        format!("{:?}", evaluator.evaluate(&matrix).unwrap()),
        evaluator.summary(&matrix).unwrap().to_bytes(),
    )
}

/// Returns the results for a run that is pushed.
fn streamed(
    evaluator: &Evaluator,
    join: &Join,
    qrels: &Qrels,
    feed: impl Fn(&mut RunStream<'_>) -> laneval::Result<()>,
) -> (String, Vec<u8>) {
    let new_stream = || {
        let mut stream = evaluator.run_stream(join, qrels, "mine").unwrap();
        feed(&mut stream).unwrap();
        stream
    };
    (format!("{:?}", new_stream().scores().unwrap()), new_stream().finish().unwrap().to_bytes())
}

fn read_qrels(text: &str) -> Qrels {
    Qrels::read(Input::Bytes { name: "qrels".into(), bytes: text.into() }).unwrap()
}

/// A reader that gives a few bytes at a time.
struct Slowly<'a>(&'a [u8], usize);

impl Read for Slowly<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let most = self.1.min(into.len());
        self.0.read(&mut into[..most])
    }
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn text_that_goes_by_comes_to_what_the_whole_text_comes_to() {
    let (qrels_text, run) = texts();
    let (qrels, ids) = (read_qrels(&qrels_text), |from: usize| {
        (from..QUERIES).step_by(3).map(|query| format!("q{query}"))
    });
    let only = ids(1).collect::<Vec<_>>();
    let groups =
        Groups::new(ids(0).chain(ids(1)).map(|id| (id.clone(), format!("g{}", id.len())))).unwrap();
    let view = View { depth: Some(7), judged_only: true };
    let all = evaluator();
    let evaluators = [
        all.clone(),
        all.clone()
            .with_per_query(true)
            .with_stats([Stat::Median, Stat::Std, Stat::Ci95])
            .with_missing_ids(true),
        all.clone().with_queries(QuerySet::Common).with_per_query(true),
        all.clone().with_view(view).with_stats([Stat::Min, Stat::Max]),
        all.clone().with_engine(EngineChoice::Reference).with_threads(NonZeroUsize::new(3)),
        all.clone()
            .with_query_filter(Some(only.iter().map(|id| id.as_bytes()).collect()))
            .with_per_query(true),
        all.clone().with_groups(Some(groups)).with_per_query(true).with_stats([Stat::Median]),
    ];
    for (_, ties) in TieBreak::ALL {
        let join = Join { ties, ..Join::default() };
        for evaluator in &evaluators {
            let expected = whole(evaluator, &join, &qrels_text, &run);
            assert!(
                streamed(evaluator, &join, &qrels, |stream| stream.read(run.as_bytes()))
                    == expected
            );
        }
    }
    let join = Join { depth: NonZeroU32::new(9), ..Join::default() };
    let expected = whole(&all, &join, &qrels_text, &run);
    for bytes in
        [run.clone().into_bytes(), gzip(&run), zstd::encode_all(run.as_bytes(), 1).unwrap()]
    {
        for most in [1, 1000] {
            let found = streamed(&all, &join, &qrels, |stream| stream.read(Slowly(&bytes, most)));
            assert!(found == expected, "{most} bytes at a time");
        }
    }
    let marked = format!("\u{feff}{run}");
    assert!(streamed(&all, &join, &qrels, |stream| stream.read(marked.as_bytes())) == expected);
    assert!(streamed(&all, &join, &qrels, |stream| stream.read(&gzip(&marked)[..])) == expected);
}

#[test]
fn columns_that_go_by_come_to_what_the_whole_columns_come_to() {
    let (qrels_text, run) = texts();
    let qrels = read_qrels(&qrels_text);
    let lines: Vec<Vec<&str>> = run.lines().map(|line| line.split(' ').collect()).collect();
    let column = |at: usize| lines.iter().map(|fields| fields[at]).collect::<Vec<&str>>();
    let (queries, docs) = (column(0), column(2));
    let scores: Vec<f32> = column(4).iter().map(|score| score.parse().unwrap()).collect();
    let ranks: Vec<u16> = column(3).iter().map(|rank| rank.parse().unwrap()).collect();
    let records = |rows: std::ops::Range<usize>| RunColumns {
        rank: Some((&ranks[rows.clone()]).into()),
        ..RunColumns::scored(&queries[rows.clone()], &docs[rows.clone()], &scores[rows])
    };
    let evaluator = evaluator().with_per_query(true);
    let join = Join::default();
    let matrix = join.columns(&qrels, &[("mine", &[records(0..lines.len())])]).unwrap();
    let expected = (
        format!("{:?}", evaluator.evaluate(&matrix).unwrap()),
        evaluator.summary(&matrix).unwrap().to_bytes(),
    );
    for size in [1, 7, 100, 5000, lines.len()] {
        let feed = |stream: &mut RunStream<'_>| {
            (0..lines.len())
                .step_by(size)
                .try_for_each(|row| stream.push(&records(row..lines.len().min(row + size))))?;
            assert_eq!(stream.results(), lines.len() as u64);
            Ok(())
        };
        assert!(streamed(&evaluator, &join, &qrels, feed) == expected, "batches of {size}");
    }
}

#[test]
fn a_few_results_come_to_what_a_pencil_says() {
    let qrels =
        Qrels::new([("q1", "d1", 1.0), ("q2", "d1", 1.0), ("q2", "d2", 2.0), ("q3", "d1", 1.0)])
            .unwrap();
    let run = "q2 0 x 1 3 t\nq2 0 d2 2 2 t\nq2 0 d1 3 1 t\nq9 0 d1 1 1 t\nq1 0 d1 1 1 t\n";
    let scores = |queries: QuerySet| {
        let evaluator = Evaluator::new(["RR", "AP", "P@2"]).unwrap().with_queries(queries);
        let mut stream = evaluator.run_stream(&Join::default(), &qrels, "mine").unwrap();
        stream.read(run.as_bytes())?;
        stream.scores()
    };
    let all = scores(QuerySet::Judged).unwrap();
    let average = |measure: &str| all.average("mine", measure).unwrap();
    assert_eq!(
        [average("RR"), average("AP"), average("P@2")],
        [1.5 / 3.0, (1.0 + (0.5 + 2.0 / 3.0) / 2.0) / 3.0, 1.0 / 3.0]
    );
    assert_eq!(scores(QuerySet::Common).unwrap().average("mine", "RR"), Some(0.75));
    let error = scores(QuerySet::RequireAll).unwrap_err().to_string();
    assert_eq!(error, "mine: lacks 1 of the judged queries: q3");
}

/// A text that ends in an error.
struct Failing<'a>(&'a [u8]);

impl Read for Failing<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() {
            Err(io::Error::other("the line is dead"))
        } else {
            self.0.read(into)
        }
    }
}

/// Returns the error of `feed`, which stays.
fn error_of(feed: impl Fn(&mut RunStream<'_>) -> laneval::Result<()>) -> Error {
    let qrels = Qrels::new([("q1", "d1", 1.0), ("q2", "d1", 1.0)]).unwrap();
    let evaluator = Evaluator::new(["AP"]).unwrap();
    let mut stream = evaluator.run_stream(&Join::default(), &qrels, "mine").unwrap();
    let error = feed(&mut stream).unwrap_err();
    let after = stream.push(&RunColumns::scored(&["q2"], &["d"], &[1.0])).unwrap_err().to_string();
    assert_eq!(after, "the run has ended with an error");
    assert_eq!(stream.finish().unwrap_err().to_string(), after);
    error
}

#[test]
fn what_cannot_be_read_is_an_error_and_nothing_comes_of_it() {
    let text = "q1 0 d1 1 1 t\nq2 0 d1 1 1 t\n".as_bytes();
    for end in 0..text.len() {
        let error = error_of(|stream| stream.read(Failing(&text[..end])));
        assert_eq!(error.to_string(), "mine: cannot read: the line is dead");
    }
    let zipped = gzip(std::str::from_utf8(text).unwrap());
    for end in 2..zipped.len() {
        let error = error_of(|stream| stream.read(&zipped[..end]));
        assert_eq!(
            error.to_string(),
            "mine: cannot read: the gzip stream ends early: is the file complete?"
        );
        let error = error_of(|stream| stream.read(Failing(&zipped[..end])));
        assert_eq!(error.to_string(), "mine: cannot read: the line is dead", "{end}");
    }
    let error = error_of(|stream| stream.read(&b"q1 0 d1 1\nq1 0 d1 1\n"[..])).to_string();
    assert_eq!(error, "mine: these are judgments, a run was expected: the order is QRELS RUN");
    let error =
        error_of(|stream| stream.read(&b"q1 0 d1 1 1 t\nq2 0 d1 1 one t\n"[..])).to_string();
    assert_eq!(
        error,
        "mine:2: score 'one' is not a number: expected 'query iter docno rank score tag'"
    );
    let error = error_of(|stream| stream.read(&b"q1 0 d1 1 1 t\nq2 0 d1 1 1 t\nq1 0 d2 1 1 t"[..]));
    assert_eq!(error.kind(), ErrorKind::Input);
    let Error::QueryNotContiguous { file, line: 3, query } = error else { panic!("{error}") };
    assert_eq!((file.as_str(), query.as_slice()), ("mine", &b"q1"[..]));
}

#[test]
fn what_cannot_be_evaluated_as_it_comes_says_so() {
    let qrels = Qrels::new([("q1", "d1", 1.0)]).unwrap();
    let error = |evaluator: Evaluator, join: Join| {
        evaluator.run_stream(&join, &qrels, "mine").err().unwrap().to_string()
    };
    let ap = || Evaluator::new(["AP"]).unwrap();
    assert_eq!(
        error(ap().with_engine(EngineChoice::Gpu), Join::default()),
        "a GPU reads label matrices: join the whole run for it"
    );
    let view = View { depth: Some(9), judged_only: false };
    let shallow = Join { depth: NonZeroU32::new(5), ..Join::default() };
    assert!(error(ap().with_view(view), shallow).starts_with("depth 9 was asked for"));
    let stream = ap().run_stream(&Join::default(), &qrels, "mine").unwrap();
    let nothing = stream.finish().unwrap_err().to_string();
    assert_eq!(nothing, "mine: there is no result in it");
    let mut stream = ap().run_stream(&Join::default(), &qrels, "mine").unwrap();
    stream.read(&b"q7 0 d 1 1 t\n"[..]).unwrap();
    let other = stream.finish().unwrap_err().to_string();
    assert_eq!(
        other,
        "mine: no query of qrels is in it: it has 1 query such as 'q7', the qrels have 1 query \
         such as 'q1'"
    );
}

/// Endless lines, of one query after another or all of one query, that tell the work to stop after
/// some.
struct Endless<'a> {
    watch: &'a ProgressHandle,
    one: bool,
    lines: usize,
    rest: Vec<u8>,
    after: &'a AtomicUsize,
}

impl Read for Endless<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.watch.is_stopped() {
            self.after.fetch_add(into.len(), Ordering::Relaxed);
        }
        if self.rest.is_empty() {
            for _ in 0..500 {
                let (query, line) = (if self.one { 0 } else { self.lines / 10 }, self.lines);
                writeln!(self.rest, "q{query} Q0 d{line} 1 {line} t")?;
                self.lines += 1;
            }
        }
        if self.lines > 200_000 {
            self.watch.stop();
        }
        let count = self.rest.len().min(into.len());
        into[..count].copy_from_slice(&self.rest[..count]);
        self.rest.drain(..count);
        Ok(count)
    }
}

#[test]
fn a_run_that_is_stopped_is_read_no_further() {
    let judged = (0..30_000).map(|query| (format!("q{query}"), "d3", 1.0));
    let qrels = Qrels::new(judged).unwrap();
    for one in [true, false] {
        let (watch, after) = (Arc::new(ProgressHandle::default()), AtomicUsize::new(0));
        let evaluator = Evaluator::new(["AP"]).unwrap().with_progress(Some(watch.clone()));
        let mut stream = evaluator.run_stream(&Join::default(), &qrels, "mine").unwrap();
        let text = Endless { watch: &watch, one, lines: 0, rest: Vec::new(), after: &after };
        assert_eq!(stream.read(text).unwrap_err().kind(), ErrorKind::Stopped);
        assert_eq!(after.into_inner(), 0, "bytes that were read after it");
        assert_eq!(watch.done(), watch.total());
        assert!(watch.done() < 300_000, "{}", watch.done());
        assert_eq!(stream.finish().unwrap_err().to_string(), "the run has ended with an error");
    }
}

#[test]
fn columns_that_are_stopped_are_evaluated_no_further() {
    let queries: Vec<u32> = (0..2_000_000).collect();
    let docs = vec![3u8; queries.len()];
    let scores = vec![1.0f32; queries.len()];
    let qrels = Qrels::new([("1", "3", 1.0)]).unwrap();
    let watch = Arc::new(ProgressHandle::default());
    let evaluator = Evaluator::new(["AP"]).unwrap().with_progress(Some(watch.clone()));
    let mut stream = evaluator.run_stream(&Join::default(), &qrels, "mine").unwrap();
    let batch = |rows: std::ops::Range<usize>| {
        RunColumns::scored(&queries[rows.clone()], &docs[rows.clone()], &scores[rows])
    };
    stream.push(&batch(0..1000)).unwrap();
    watch.stop();
    assert_eq!(stream.push(&batch(1000..queries.len())).unwrap_err().kind(), ErrorKind::Stopped);
}

#[test]
fn a_watch_sees_the_labels_go_by() {
    let (qrels, run) = texts();
    let qrels = read_qrels(&qrels);
    let watch = Arc::new(ProgressHandle::default());
    let evaluator = evaluator().with_progress(Some(watch.clone()));
    let mut stream = evaluator.run_stream(&Join::default(), &qrels, "mine").unwrap();
    stream.read(run.as_bytes()).unwrap();
    stream.finish().unwrap();
    assert!(
        watch.done() >= 5000 && watch.done() == watch.total(),
        "{} of {}",
        watch.done(),
        watch.total()
    );
}
