//! The readers against a plain slow one, and what they say of wrong input.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::num::NonZeroU32;

use laneval::ingest::{Input, Join, Qrels};
use laneval::label::{LabelMatrix, ScoreType, Ties};
use laneval::{Error, error::Problems};
use proptest::prelude::*;

/// A label with its meaning: past the qrels, pooled, or a grade.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Label {
    Unpooled,
    Negative,
    Grade(f64),
}

type Rankings = BTreeMap<Vec<u8>, Vec<Label>>;

/// The rankings of one run of a matrix.
fn rankings(matrix: &LabelMatrix, run: usize) -> Rankings {
    let mut rows: HashMap<u32, Vec<u8>> = HashMap::new();
    for at in 0..matrix.packing().tiles.len() {
        for (lane, &row) in matrix.tile_rows(at).iter().enumerate() {
            let depth = matrix.depths()[row as usize] as usize;
            rows.insert(row, matrix.tile(at).lane(lane).take(depth).collect());
        }
    }
    let label = |&code: &u8| match code {
        1 => Label::Unpooled,
        2 => Label::Negative,
        code => Label::Grade(matrix.book().grade(code).expect("a code of the book")),
    };
    let queries = matrix.queries();
    (0..queries.len())
        .map(|query| {
            let row = (run * queries.len() + query) as u32;
            (queries.get(query).to_vec(), rows.get(&row).into_iter().flatten().map(label).collect())
        })
        .collect()
}

/// The lines of a text that count, with their numbers.
fn lines(text: &[u8]) -> impl Iterator<Item = (u64, Vec<&[u8]>)> {
    let blank = |byte: &u8| b" \t\x0b\x0c\r".contains(byte);
    text.split(|&byte| byte == b'\n')
        .enumerate()
        .map(move |(at, line)| (at as u64 + 1, line.split(blank).filter(|field| !field.is_empty()).collect()))
        .filter(|(_, fields): &(u64, Vec<&[u8]>)| fields.first().is_some_and(|first| first[0] != b'#'))
}

fn number(field: &[u8]) -> Option<f64> {
    std::str::from_utf8(field).ok()?.parse().ok().filter(|value: &f64| value.is_finite())
}

/// What the text means: rankings, or the wrong lines of (qrels, run).
fn slowly(qrels: &[u8], run: &[u8], join: Join) -> Result<Rankings, (Vec<u64>, Vec<u64>)> {
    let (mut judged, mut wrong) =
        (BTreeMap::<Vec<u8>, HashMap<Vec<u8>, f64>>::new(), (Vec::new(), Vec::new()));
    for (line, fields) in lines(qrels) {
        match (fields.len(), fields.get(3).copied().and_then(number)) {
            (4, Some(grade)) => {
                let query = judged.entry(fields[0].to_vec()).or_default();
                match query.contains_key(fields[2]) {
                    true => wrong.0.push(line),
                    false => drop(query.insert(fields[2].to_vec(), grade)),
                }
            }
            _ => wrong.0.push(line),
        }
    }
    let mut results = BTreeMap::<Vec<u8>, Vec<(f64, Vec<u8>)>>::new();
    let mut any = false;
    for (line, fields) in lines(run) {
        any = true;
        let score = fields.get(4).copied().and_then(number);
        match score.filter(|_| fields.len() >= 6) {
            None => wrong.1.push(line),
            Some(_) if !judged.contains_key(fields[0]) => {}
            Some(score) => {
                let score = if join.score == ScoreType::F32 { f64::from(score as f32) } else { score };
                let ranking = results.entry(fields[0].to_vec()).or_default();
                match ranking.iter().any(|(_, docno)| docno == fields[2]) {
                    true => wrong.1.push(line),
                    false => ranking.push((score, fields[2].to_vec())),
                }
            }
        }
    }
    if judged.is_empty() && wrong.0.is_empty() {
        wrong.0.push(0);
    }
    if wrong.1.is_empty() && (!any || results.is_empty() && !judged.is_empty()) {
        wrong.1.push(0);
    }
    if wrong != (vec![], vec![]) {
        return Err(wrong);
    }
    let rank = |(query, judged): (Vec<u8>, HashMap<Vec<u8>, f64>)| {
        let mut ranking = results.remove(&query).unwrap_or_default();
        ranking.sort_by(|(score, docno), (other_score, other)| {
            other_score.partial_cmp(score).expect("finite").then_with(|| match join.ties {
                Ties::DocnoDescending => other.cmp(docno),
                Ties::DocnoAscending => docno.cmp(other),
                Ties::Input => std::cmp::Ordering::Equal,
            })
        });
        ranking.truncate(join.depth.map_or(usize::MAX, |depth| depth.get() as usize));
        let label = |(_, docno): &(f64, Vec<u8>)| match judged.get(docno) {
            None => Label::Unpooled,
            Some(&grade) if grade < 0.0 => Label::Negative,
            Some(&grade) => Label::Grade(grade),
        };
        let labels = ranking.iter().map(label).collect();
        (query, labels)
    };
    Ok(judged.into_iter().map(rank).collect())
}

/// The text as it is, by gzip in two members, and by zstd.
fn encodings(name: &str, text: &[u8]) -> [Input; 3] {
    let (one, two) = text.split_at(text.len() / 3);
    let gzip = |part: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(part).unwrap();
        encoder.finish().unwrap()
    };
    let texts = [text.to_vec(), [gzip(one), gzip(two)].concat(), zstd::encode_all(text, 1).unwrap()];
    texts.map(|bytes| Input::Bytes { name: name.to_owned(), bytes })
}

fn problems(error: Error) -> Problems {
    match error {
        Error::Input(problems) => problems,
        other => panic!("no problem of a line: {other}"),
    }
}

/// Compares the readers with the slow one on every encoding.
fn check(qrels: &[u8], run: &[u8], join: Join) {
    let expected = slowly(qrels, run, join);
    let all = std::iter::zip(encodings("the qrels", qrels), encodings("the run", run));
    let mut messages: Vec<String> = Vec::new();
    for (qrels, run) in all {
        match (join.files(qrels, [run]), &expected) {
            (Ok(matrix), Ok(expected)) => assert_eq!(&rankings(&matrix, 0), expected),
            (Ok(_), Err(wrong)) => panic!("wrong lines went through: {wrong:?}"),
            (Err(error), Ok(_)) => panic!("refused: {error}"),
            (Err(error), Err((qrels, run))) => {
                let problems = problems(error);
                messages.push(problems.to_string());
                let found: Vec<(&str, u64)> =
                    problems.first.iter().map(|problem| (problem.file.as_str(), problem.line)).collect();
                let wrong = qrels
                    .iter()
                    .map(|&line| ("the qrels", line))
                    .chain(run.iter().map(|&line| ("the run", line)));
                let wrong: Vec<(&str, u64)> = wrong.collect();
                assert_eq!(found, wrong[..wrong.len().min(Problems::LIMIT)], "{problems}");
                assert_eq!(problems.more as usize, wrong.len() - found.len());
            }
        }
    }
    assert!(messages.windows(2).all(|pair| pair[0] == pair[1]), "{messages:#?}");
}

/// Results or judgments of a few queries and documents: (query, docno, number).
fn entries(most: usize) -> impl Strategy<Value = Vec<(String, String, String)>> {
    let query = prop::sample::select(vec!["1", "2", "10", "q", "a-query-of-eighteen", "a-query-of-nineteen"]);
    let docno = prop_oneof![
        6 => (0u32..60).prop_map(|n| format!("d{n}")),
        2 => (0u32..20).prop_map(|n| format!("a-long-document-name-{n}")),
        1 => (0u32..9).prop_map(|n| "é".repeat(n as usize + 1)),
    ];
    let number = prop::sample::select(vec![
        "0",
        "-0",
        "1",
        "2",
        "3.5",
        "-1",
        "-2.5",
        "1.0000000001",
        "1e-3",
        "0.12345678901234567",
        "+7",
        "12.",
        "16777217",
    ]);
    prop::collection::vec((query.prop_map(str::to_owned), docno, number.prop_map(str::to_owned)), 0..most)
}

/// How entries become a text.
#[derive(Debug, Clone)]
struct Layout {
    grouped: bool,
    distinct: bool,
    crlf: bool,
    final_newline: bool,
    separator: &'static str,
    /// Lines that are put in between, at which places.
    extra: Vec<(usize, &'static str)>,
}

fn layout() -> impl Strategy<Value = Layout> {
    let wrong = vec![
        "1 0 d1",
        "x",
        "1 0 d1 high",
        "1 0 d1 1 low tag",
        "2 Q0 d1 1 inf tag",
        "1 0 d1 1 2 t",
        "1 0 d 9",
    ];
    let skipped = vec!["", "  \t", "# a comment", "  #", "#1 0 d1 1 1 t", "# b c d"];
    let extra = prop_oneof![
        3 => prop::collection::vec((0usize..100, prop::sample::select(skipped)), 0..5),
        1 => prop::collection::vec((0usize..100, prop::sample::select(wrong)), 1..30),
    ];
    let separator = prop::sample::select(vec![" ", "\t", "  ", " \x0b\x0c"]);
    let flags = (any::<bool>(), prop::bool::weighted(0.9), any::<bool>(), any::<bool>());
    (flags, separator, extra).prop_map(|((grouped, distinct, crlf, final_newline), separator, extra)| {
        Layout { grouped, distinct, crlf, final_newline, separator, extra }
    })
}

impl Layout {
    fn text(
        &self,
        mut entries: Vec<(String, String, String)>,
        line: impl Fn(&str, &str, &str) -> Vec<String>,
    ) -> Vec<u8> {
        if self.distinct {
            let mut seen = std::collections::HashSet::new();
            entries.retain(|(query, docno, _)| seen.insert((query.clone(), docno.clone())));
        }
        if self.grouped {
            entries.sort_by_key(|entry| std::cmp::Reverse(entry.0.clone()));
        }
        let one = |(query, docno, number): &(String, String, String)| {
            line(query, docno, number).join(self.separator)
        };
        let mut lines: Vec<String> = entries.iter().map(one).collect();
        for &(at, extra) in &self.extra {
            lines.insert(at % (lines.len() + 1), extra.to_owned());
        }
        let mut text = lines.join(if self.crlf { "\r\n" } else { "\n" });
        if self.final_newline {
            text.push('\n');
        }
        text.into_bytes()
    }
}

fn qrels_line(query: &str, docno: &str, grade: &str) -> Vec<String> {
    [query, "0", docno, grade].map(str::to_owned).to_vec()
}

fn run_line(query: &str, docno: &str, score: &str) -> Vec<String> {
    [query, "Q0", docno, "1", score, "tag"].map(str::to_owned).to_vec()
}

fn join() -> impl Strategy<Value = Join> {
    let ties = prop::sample::select(vec![Ties::DocnoDescending, Ties::DocnoAscending, Ties::Input]);
    let score = prop::sample::select(vec![ScoreType::F64, ScoreType::F32]);
    let depth = prop::option::of(1u32..20).prop_map(|depth| depth.and_then(NonZeroU32::new));
    (ties, score, depth).prop_map(|(ties, score, depth)| Join { ties, score, depth, ..Join::default() })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn texts_mean_what_the_slow_reader_says(
        (judgments, qrels) in (entries(60), layout()), (results, run) in (entries(150), layout()), join in join()
    ) {
        check(&qrels.text(judgments, qrels_line), &run.text(results, run_line), join);
    }

    #[test]
    fn memory_means_the_same_as_text(judgments in entries(60), results in entries(150), join in join()) {
        let layout = Layout { grouped: false, distinct: false, crlf: false, final_newline: true, separator: " ", extra: vec![] };
        let text = |name: &str, bytes| Input::Bytes { name: name.into(), bytes };
        let qrels = layout.text(judgments.clone(), qrels_line);
        let from_text = Qrels::read(text("qrels", qrels.clone()));
        let parsed = |(query, docno, value): (String, String, String)| (query, docno, value.parse::<f64>().unwrap());
        let from_memory = Qrels::new(judgments.into_iter().map(parsed));
        match (from_text, from_memory) {
            (Ok(from_text), Ok(from_memory)) => {
                prop_assert_eq!(from_text.fingerprint(), from_memory.fingerprint());
                prop_assert_eq!(from_text.facts(), from_memory.facts());
                let run = layout.text(results.clone(), run_line);
                let from_text = join.files(text("qrels", qrels), [text("run", run)]);
                let from_memory = join.rankings(&from_memory, [("run".to_owned(), results.into_iter().map(parsed))]);
                match (from_text, from_memory) {
                    (Ok(from_text), Ok(from_memory)) => {
                        prop_assert_eq!(from_text.tile_bytes(), from_memory.tile_bytes());
                        prop_assert_eq!(from_text.depths(), from_memory.depths());
                        prop_assert_eq!(&from_text.runs()[0].ignored, &from_memory.runs()[0].ignored);
                    }
                    (from_text, from_memory) => {
                        prop_assert_eq!(problems(from_text.unwrap_err()), problems(from_memory.unwrap_err()));
                    }
                }
            }
            (from_text, from_memory) => {
                let [from_text, from_memory] = [from_text, from_memory].map(|result| problems(result.unwrap_err()));
                if from_text.first[0].line > 0 {
                    prop_assert_eq!(from_text, from_memory);
                }
            }
        }
    }

    #[test]
    fn no_bytes_panic(qrels in prop::collection::vec(any::<u8>(), 0..300), run in prop::collection::vec(any::<u8>(), 0..300)) {
        let input = |name: &str, bytes: &[u8]| Input::Bytes { name: name.into(), bytes: bytes.to_vec() };
        let _ = Join::default().files(input("qrels", &qrels), [input("run", &run)]);
        let _ = Join::default().files(input("qrels", b"1 0 d 1"), [input("run", &run)]);
    }

    #[test]
    fn no_damage_to_a_compressed_text_panics(at in 0usize..10_000, byte in any::<u8>(), length in 0usize..10_000, gzip in any::<bool>()) {
        let text: String = (0..300).map(|n| format!("{} Q0 d{n} 1 {} tag\n", n / 10, -n)).collect();
        let [_, gz, zst] = encodings("run", text.as_bytes());
        let Input::Bytes { mut bytes, .. } = (if gzip { gz } else { zst }) else { unreachable!() };
        let at = at % bytes.len();
        bytes[at] = byte;
        bytes.truncate(length.max(4));
        let qrels = Input::Bytes { name: "qrels".into(), bytes: b"1 0 d11 1\n".to_vec() };
        let _ = Join::default().files(qrels, [Input::Bytes { name: "run".into(), bytes }]);
    }
}

const QRELS: &str = "1 0 d1 1\n1 0 d2 0\n2 0 d1 -1\n";
const RUN: &str = "1 Q0 d1 1 2.5 tag\n1 Q0 d3 2 1.5 tag\n3 Q0 d1 1 1 tag one more\n";

/// The message for a qrels and a run text.
fn message(qrels: &str, run: &str) -> String {
    let input = |name: &str, text: &str| Input::Bytes { name: name.into(), bytes: text.into() };
    Join::default().files(input("a.qrels", qrels), [input("a.run", run)]).unwrap_err().to_string()
}

#[test]
fn what_is_known_of_a_run() {
    let run = Input::Bytes { name: "a.run".into(), bytes: RUN.into() };
    let qrels = Input::Bytes { name: "a.qrels".into(), bytes: QRELS.into() };
    let matrix = Join::default().files(qrels, [run]).unwrap();
    let run = &matrix.runs()[0];
    assert_eq!(
        (run.name.as_str(), run.source.as_str(), &run.tag[..], run.results),
        ("a.run", "a.run", &b"tag"[..], 3)
    );
    assert_eq!((run.ignored.count, &run.ignored.first[..]), (1, &[b"3".to_vec()][..]));
    assert_eq!(matrix.depths(), [2, 0]);
    assert_eq!(matrix.book().grades(), [0.0, 1.0]);
}

#[test]
fn messages_name_place_and_expectation() {
    let run = "expected 'query iter docno rank score tag'";
    let qrels = "expected 'query iter docno grade'";
    let with = |lines: &str| message(QRELS, &format!("{RUN}{lines}"));
    assert_eq!(with("1 0 d 1 abc t"), format!("a.run:4: score 'abc' is not a number: {run}"));
    assert_eq!(with("\n#\n1 0 d 1 -inf t"), format!("a.run:6: score '-inf' is not a finite number: {run}"));
    assert_eq!(with("1 0 d 1 2"), format!("a.run:4: 5 fields in '1 0 d 1 2': {run}"));
    assert_eq!(
        with("2 Q0 d7 3 0 t\n2 Q0 d7 4 0 t"),
        "a.run:5: docno 'd7' is there again for query '2', first on line 4"
    );
    let with = |lines: &str| message(&format!("{QRELS}{lines}"), RUN);
    assert_eq!(with("9 0 d x\u{7}"), format!("a.qrels:4: grade 'x\\u{{7}}' is not a number: {qrels}"));
    assert_eq!(with("2 0 d1 -1"), "a.qrels:4: docno 'd1' is judged again for query '2', first on line 3");
    assert_eq!(
        with("1 0 d2 1.5"),
        "a.qrels:4: docno 'd2' of query '1' has grade 1.5 here, but grade 0 on line 2"
    );
    let grades: String = (0..254).map(|n| format!("1 0 e{n} {n}.5\n")).collect();
    assert!(
        with(&grades).starts_with("a.qrels: the qrels have more than 253 distinct grades"),
        "{}",
        with(&grades)
    );
}

#[test]
fn swapped_empty_and_unrelated_files() {
    let swapped = message(RUN, QRELS);
    assert!(swapped.starts_with("a.qrels:1: 6 fields in '1 Q0 d1 1 2.5 tag': expected 'query iter docno grade' (this looks like a run: the order is QRELS RUN)"), "{swapped}");
    assert!(swapped.contains("a.run:2: 4 fields in '1 0 d2 0': expected 'query iter docno rank score tag' (this looks like qrels"), "{swapped}");
    assert_eq!(
        message(QRELS, "# nothing\n\n"),
        "a.run: there is no result in it: expected 'query iter docno rank score tag'"
    );
    assert_eq!(message("", RUN), "a.qrels: there is no judgment in it: expected 'query iter docno grade'");
    assert_eq!(
        message(QRELS, "x Q0 d1 1 1 t\n"),
        "a.run: no query of a.qrels is in it: it has 1 query such as 'x', the qrels have 2 queries such as '1'"
    );
}

#[test]
fn problems_of_all_files_are_told_together() {
    let input = |name: &str, text: &str| Input::Bytes { name: name.into(), bytes: text.into() };
    let runs = [input("one.run", "x\n"), input("two.run", RUN), input("three.run", &"y\n".repeat(30))];
    let problems = problems(Join::default().files(input("qrels", "z"), runs).unwrap_err());
    assert_eq!((problems.first.len(), problems.more), (20, 12));
    let files: Vec<&str> = problems.first.iter().map(|problem| problem.file.as_str()).collect();
    assert_eq!(files[..3], ["qrels", "one.run", "three.run"]);
}

#[test]
fn files_that_are_not_there_or_not_whole() {
    let error = Join::default().files("no/such.qrels", ["no/such.run"]).unwrap_err();
    assert!(matches!(&error, Error::Io { action: "open", .. }), "{error}");
    assert!(error.to_string().starts_with("no/such.qrels: cannot open: "), "{error}");
    let text: String = (0..5000).map(|n| format!("{} Q0 d{n} 1 {} tag\n", n / 10, -n)).collect();
    for whole in &encodings("half.run", text.as_bytes())[1..] {
        let Input::Bytes { bytes, .. } = whole else { unreachable!() };
        let half = Input::Bytes { name: "half.run".into(), bytes: bytes[..bytes.len() - 20].to_vec() };
        let qrels = Input::Bytes { name: "qrels".into(), bytes: b"1 0 d11 1\n".to_vec() };
        let error = Join::default().files(qrels, [half]).unwrap_err();
        let message = error.to_string();
        assert!(
            message.starts_with("half.run: cannot read: the ") && message.contains("ends early"),
            "{message}"
        );
    }
}

#[test]
fn large_shapes() {
    // One query with a hundred thousand results, alone and between others; ids of 64 KiB.
    let long = "x".repeat(65_536);
    let mut run: String = format!("{long} Q0 {long}a 1 2 t\n");
    (0..100_000).for_each(|n| run.push_str(&format!("1 Q0 d{n} 1 {} t\n", (n * 7919) % 100_003)));
    run.push_str(&format!("{long} Q0 {long} 1 1 t\n2 Q0 d1 1 1 t"));
    let qrels = format!("1 0 d77 1\n{long} 0 {long} 2\n2 0 d1 0\n");
    check(qrels.as_bytes(), run.as_bytes(), Join { depth: NonZeroU32::new(60_000), ..Join::default() });
}

#[test]
fn a_million_results_from_memory() {
    let qrels = Qrels::new([("q", "d5", 1.0)]).unwrap();
    let results = |most: u32| (0..most).map(|n| ("q", format!("d{}", n % 1_048_600), -f64::from(n)));
    let run = |most| [("mine".to_owned(), results(most))];
    let matrix = Join::default().rankings(&qrels, run(1_048_600)).unwrap();
    assert_eq!((matrix.depths(), matrix.tile(0).label(0, 5)), (&[1_048_600][..], 3));
    let error = Join::default().rankings(&qrels, run(1_048_601)).unwrap_err().to_string();
    assert_eq!(error, "mine:1048601: docno 'd0' is there again for query 'q', first on line 1");
}

/// A file whose lines end with carriage returns alone is one line: taking its first result for all of it would lose the others.
#[test]
fn carriage_returns_inside_a_line_are_no_blanks() {
    let text = |name: &str, text: &str| Input::Bytes { name: name.into(), bytes: text.into() };
    let qrels = || text("qrels", "q1 0 d1 1\r\nq1 0 d2 0\r\n");
    let lines = "q1 Q0 d1 1 2.5 tag\rq1 Q0 d2 2 1.5 tag\r";
    let error = Join::default().files(qrels(), [text("run", lines)]).unwrap_err().to_string();
    assert!(error.starts_with("run:1: 12 fields in "), "{error}");
    assert!(error.ends_with("(there is a carriage return inside: lines end with LF or CR LF)"), "{error}");
    Join::default()
        .files(qrels(), [text("run", "q1 Q0 d1 1 2.5 tag\r\r\nq1 Q0 d2 2 1.5 tag more\r\n")])
        .unwrap();
}
