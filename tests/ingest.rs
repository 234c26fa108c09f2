//! The readers compared with a plain slow one, and their messages about wrong input.

use std::num::NonZeroU32;
use std::sync::Arc;

use laneval::labels::{FileAccess, Unmatched};
use laneval::text::DetectedFormats;
use laneval::{Dialect, Error, FacetKind, Input, Join, Qrels, RunInput, ScoreType, TieBreak};
use proptest::prelude::*;

use crate::cases::cases;
use crate::slow_reader::{self, check, encodings, gzip, problems};

/// Results or judgments of a few queries and documents: (query, docno, number).
fn entries(most: usize) -> impl Strategy<Value = Vec<(String, String, String)>> {
    let query = prop::sample::select(vec![
        "1",
        "2",
        "10",
        "q",
        "a-query-of-eighteen",
        "a-query-of-nineteen",
    ]);
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
    prop::collection::vec(
        (query.prop_map(str::to_owned), docno, number.prop_map(str::to_owned)),
        0..most,
    )
}

/// The way in which entries become a text.
#[derive(Debug, Clone)]
struct Layout {
    grouped: bool,
    distinct: bool,
    crlf: bool,
    final_newline: bool,
    separator: &'static str,
    /// Lines that are inserted, with their places.
    extra: Vec<(usize, &'static str)>,
}

fn layout() -> impl Strategy<Value = Layout> {
    let wrong = vec![
        "1 0 d1",
        "x",
        "1 0 d1 high",
        "1 0 d1 1 low tag",
        "2 Q0 d1 1 nan tag",
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
    (flags, separator, extra).prop_map(
        |((grouped, distinct, crlf, final_newline), separator, extra)| Layout {
            grouped,
            distinct,
            crlf,
            final_newline,
            separator,
            extra,
        },
    )
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
    let ties = prop::sample::select(vec![
        TieBreak::DocnoDescending,
        TieBreak::DocnoAscending,
        TieBreak::Input,
    ]);
    let score = prop::sample::select(vec![ScoreType::F64, ScoreType::F32]);
    let depth = prop::option::of(1u32..20).prop_map(|depth| depth.and_then(NonZeroU32::new));
    (ties, score, depth).prop_map(|(ties, score, depth)| Join {
        ties,
        score,
        depth,
        ..Join::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(300)))]

    #[test]
    fn texts_mean_what_the_slow_reader_says(
        (judgments, qrels) in (entries(60), layout()),
        (results, run) in (entries(150), layout()),
        join in join(),
    ) {
        check(&qrels.text(judgments, qrels_line), &run.text(results, run_line), join);
    }

    #[test]
    fn memory_means_the_same_as_text(
        judgments in entries(60),
        results in entries(150),
        join in join(),
    ) {
        let layout = Layout {
            grouped: false,
            distinct: false,
            crlf: false,
            final_newline: true,
            separator: " ",
            extra: vec![],
        };
        let text = |name: &str, bytes| Input::Bytes { name: name.into(), bytes };
        let qrels = layout.text(judgments.clone(), qrels_line);
        let from_text = Qrels::read(text("qrels", qrels.clone()));
        let parsed = |(query, docno, value): (String, String, String)| {
            (query, docno, value.parse::<f64>().unwrap())
        };
        let from_memory = Qrels::new(judgments.into_iter().map(parsed));
        match (from_text, from_memory) {
            (Ok(from_text), Ok(from_memory)) => {
                prop_assert_eq!(from_text.fingerprint(), from_memory.fingerprint());
                prop_assert_eq!(from_text.facts(), from_memory.facts());
                let run = layout.text(results.clone(), run_line);
                let from_text = join.files(text("qrels", qrels), [text("run", run)]);
                let from_memory = join.rankings(
                    &from_memory,
                    [("run".to_owned(), results.clone().into_iter().map(parsed))],
                );
                match (from_text, from_memory) {
                    (Ok(from_text), Ok(from_memory)) => {
                        prop_assert_eq!(from_text.tile_bytes(), from_memory.tile_bytes());
                        prop_assert_eq!(from_text.depths(), from_memory.depths());
                        prop_assert_eq!(
                            &from_text.runs()[0].ignored,
                            &from_memory.runs()[0].ignored
                        );
                    }
                    // A file without a result is a mistake, and a system may find nothing.
                    (Err(_), Ok(from_memory)) => {
                        prop_assert!(
                            results.is_empty()
                                && from_memory.depths().iter().all(|&depth| depth == 0)
                        );
                    }
                    (from_text, from_memory) => {
                        let [from_text, from_memory] =
                            [from_text, from_memory].map(|result| problems(result.unwrap_err()));
                        prop_assert_eq!(from_text, from_memory);
                    }
                }
            }
            (from_text, from_memory) => {
                let [from_text, from_memory] =
                    [from_text, from_memory].map(|result| problems(result.unwrap_err()));
                if from_text.first[0].line > 0 {
                    prop_assert_eq!(from_text, from_memory);
                }
            }
        }
    }

    #[test]
    fn no_bytes_panic(
        qrels in prop::collection::vec(any::<u8>(), 0..300),
        run in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let input =
            |name: &str, bytes: &[u8]| Input::Bytes { name: name.into(), bytes: bytes.to_vec() };
        let _ = Join::default().files(input("qrels", &qrels), [input("run", &run)]);
        let _ = Join::default().files(input("qrels", b"1 0 d 1"), [input("run", &run)]);
    }

    #[test]
    fn any_bytes_mean_what_the_slow_reader_says(
        qrels in prop::collection::vec(
            prop::sample::select(b"12 0 d1 \n\r\t#x\xef\xbb\xbf.-e\x00".to_vec()),
            0..60,
        ),
        run in prop::collection::vec(
            prop::sample::select(b"1 Q0 d 1 \n\r\t#x\xff.-e".to_vec()),
            0..80,
        ),
        whole: bool,
    ) {
        let (start, end) = if whole { (&b"1 0 d 1\n"[..], &b"\n1 0 d 1 2 \
            t"[..]) } else { (&b""[..], &b""[..]) };
        slow_reader::any_text(&[start, &qrels].concat(), &[&run, end].concat());
        slow_reader::any_text(&[start, b"2 0 d 0"].concat(), &[&run, end].concat());
    }

    #[test]
    fn compressed_files_mean_what_other_decoders_find_in_them(
        (results, run) in (entries(100), layout()),
        cut in any::<prop::sample::Index>(),
        gz in prop::collection::vec(any::<bool>(), 2),
        damage in prop::collection::vec(damage(), 0..3),
    ) {
        let text = run.text(results, run_line);
        let (one, two) = text.split_at(cut.index(text.len() + 1));
        let pack = |(part, gz): (&[u8], bool)| {
            if gz { gzip(part) } else { zstd::encode_all(part, 1).unwrap() }
        };
        // Zstd followed by gzip is refused.
        let mixed = [pack((one, gz[0])), pack((two, gz[0] || gz[1]))].concat();
        let bytes = damage.into_iter().fold(mixed, |bytes, damage| damage.done_to(bytes));
        slow_reader::any_file(b"1 0 d1 1\n10 0 d2 0\n10 0 d3 2\nq 0 d4 1\n", &bytes);
    }
}

/// The damage that is done to a compressed file.
#[derive(Debug, Clone)]
enum Damage {
    Cut(prop::sample::Index),
    Flipped(prop::sample::Index, u8),
    Twice,
    Zeros(usize),
    Junk(Vec<u8>),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        any::<prop::sample::Index>().prop_map(Damage::Cut),
        (any::<prop::sample::Index>(), 0u8..8).prop_map(|(at, bit)| Damage::Flipped(at, bit)),
        Just(Damage::Twice),
        (1usize..700).prop_map(Damage::Zeros),
        prop::collection::vec(any::<u8>(), 1..9).prop_map(Damage::Junk),
    ]
}

impl Damage {
    fn done_to(self, mut bytes: Vec<u8>) -> Vec<u8> {
        match self {
            Damage::Cut(at) => bytes.truncate(at.index(bytes.len() + 1)),
            Damage::Flipped(at, bit) if !bytes.is_empty() => {
                let at = at.index(bytes.len());
                bytes[at] ^= 1 << bit;
            }
            Damage::Flipped(..) => {}
            Damage::Twice => bytes.extend_from_within(..),
            Damage::Zeros(count) => bytes.resize(bytes.len() + count, 0),
            Damage::Junk(junk) => bytes.extend(junk),
        }
        bytes
    }
}

const QRELS: &str = "1 0 d1 1\n1 0 d2 0\n2 0 d1 -1\n";
const RUN: &str = "1 Q0 d1 1 2.5 tag\n1 Q0 d3 2 1.5 tag\n3 Q0 d1 1 1 tag one more\n";

/// Returns the message for a qrels and a run text.
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
    assert_eq!(&run.ignored, &Unmatched::all([&b"3"[..]]));
    assert_eq!(matrix.depths(), [2, 0]);
    assert_eq!(matrix.codebook().grades(), [0.0, 1.0]);
}

#[test]
fn qrels_that_were_read_once_are_joined_with_any_number_of_runs() {
    let input = |name: &str, text: &str| Input::Bytes { name: name.into(), bytes: text.into() };
    let qrels = || input("a.qrels", &format!("{QRELS}2 0 d9 1x\n4 0 d1 1\n4 0 d1 0\n"));
    let (one, other) =
        (RUN.replace("1.5", "1.5x"), "2 Q0 d9 1 7 t\n1 Q0 d2 2 1 t\n1 Q0 d1 1 2 t\n".to_owned());
    let repeated = "4 Q0 d1 1 1 t\n".to_owned();
    for dialect in [Dialect::Trec9, Dialect::Trec10] {
        let join = Join { dialect, ..Join::default() };
        let read = Qrels::read_with(qrels(), dialect, FileAccess::Read).unwrap();
        for runs in [vec![&one, &other], vec![&other], vec![], vec![&other, &repeated]] {
            let runs = || runs.iter().map(|&run| RunInput::from(input(run, run)));
            let all = |matrix: laneval::LabelMatrix| {
                let labels = (matrix.depths().to_vec(), matrix.tile_bytes().to_vec());
                (
                    matrix.runs().to_vec(),
                    matrix.rule(),
                    matrix.fingerprint(),
                    labels,
                    matrix.facts().clone(),
                )
            };
            let results = [join.files(qrels(), runs()), join.runs(&read, runs())];
            let [files, joined] =
                results.map(|result| result.map(all).map_err(|error| error.to_string()));
            assert_eq!(joined, files);
            assert_eq!(
                joined.is_err(),
                runs().any(|run| run == input(&repeated, &repeated).into())
            );
        }
    }
    assert_eq!(
        Qrels::read(qrels()).unwrap_err().to_string(),
        "a.qrels:4: grade '1x' is not a number: expected 'query iter docno grade'\n\
         a.qrels:6: docno 'd1' of query '4' has grade 0 here, but grade 1 on line 5"
    );
}

#[test]
fn qrels_of_another_dialect_are_not_joined() {
    let input = |name: &str, text: &str| Input::Bytes { name: name.into(), bytes: text.into() };
    let trec = Join { dialect: Dialect::Trec10, ..Join::default() };
    let read = Qrels::read(input("a.qrels", QRELS)).unwrap();
    let message = "a.qrels was read as Laneval, so runs cannot be joined with it as Trec10";
    assert_eq!(trec.runs(&read, [input("run", RUN)]).unwrap_err().to_string(), message);
    assert_eq!(
        trec.rankings(&read, [("run".to_owned(), [("1", "d1", 1.0)])]).unwrap_err().to_string(),
        message
    );
    let plain = Qrels::new([("1", "d1", 1.0)]).unwrap();
    for join in [trec.clone(), Join::default()] {
        assert_eq!(join.runs(&plain, [input("run", RUN)]).unwrap().depths(), [2]);
    }
    let foreign = trec.runs(&plain, [input("run", QRELS)]).unwrap_err();
    assert_eq!(
        foreign.to_string(),
        "run: these are judgments, a run was expected: the order is QRELS RUN"
    );
    let twice = trec.runs(&plain, [Input::Stdin, Input::Stdin]).unwrap_err();
    assert_eq!(twice.to_string(), "the standard input can be only one of the inputs");
}

#[test]
fn a_run_has_the_name_that_it_is_given() {
    let input = |name: &str| Input::Bytes { name: name.into(), bytes: RUN.into() };
    let qrels = Input::Bytes { name: "a.qrels".into(), bytes: QRELS.into() };
    let names = |runs: [RunInput; 3]| {
        let matrix =
            Join::default().files(qrels.clone(), runs).map_err(|error| error.to_string())?;
        Ok(matrix
            .runs()
            .iter()
            .map(|run| (run.name.clone(), run.source.clone()))
            .collect::<Vec<_>>())
    };
    let named = |name: &str, source: &str| (name.to_owned(), source.to_owned());
    let runs = [
        RunInput::named("mine", input("x")),
        input("x").into(),
        RunInput::named("yours", input("x")),
    ];
    assert_eq!(names(runs), Ok(vec![named("mine", "x"), named("x", "x"), named("yours", "x")]));
    let runs = [RunInput::named("x", input("y")), input("z").into(), input("x").into()];
    assert_eq!(names(runs), Err("two runs have the name `x`: give each its own".to_owned()));
}

#[test]
fn messages_name_place_and_expectation() {
    let run = "expected 'query iter docno rank score tag'";
    let qrels = "expected 'query iter docno grade'";
    let with = |lines: &str| message(QRELS, &format!("{RUN}{lines}"));
    assert_eq!(with("1 0 d 1 abc t"), format!("a.run:4: score 'abc' is not a number: {run}"));
    assert_eq!(
        with("\n#\n1 0 d 1 nan t"),
        format!("a.run:6: score 'nan' of document 'd' of query '1' is not a number: {run}")
    );
    assert_eq!(with("1 0 d 1 2"), format!("a.run:4: 5 fields in '1 0 d 1 2': {run}"));
    assert_eq!(
        with("2 Q0 d7 3 0 t\n2 Q0 d7 4 0 t"),
        "a.run:5: docno 'd7' occurs again for query '2', first on line 4"
    );
    let with = |lines: &str| message(&format!("{QRELS}{lines}"), RUN);
    assert_eq!(
        with("9 0 d x\u{7}"),
        format!("a.qrels:4: grade 'x\\u{{7}}' is not a number: {qrels}")
    );
    assert_eq!(
        with("1 0 d2 1.5"),
        "a.qrels:4: docno 'd2' of query '1' has grade 1.5 here, but grade 0 on line 2"
    );
    let grades: String = (0..254).map(|n| format!("1 0 e{n} {n}.5\n")).collect();
    // Read a second time, for their exact grades, judgments have the same problems.
    let wrong = with(&format!("{grades}1 0 e7 8\n1 0 d x\n"));
    assert_eq!(
        wrong,
        "a.qrels:258: docno 'e7' of query '1' has grade 8 here, but grade 7.5 on line \
         11\na.qrels:259: grade 'x' is not a number: expected 'query iter docno grade'"
    );
}

#[test]
fn swapped_empty_and_unrelated_files() {
    assert_eq!(
        message(RUN, QRELS),
        "these look swapped: a.qrels is a run, a.run is judgments: the order is QRELS RUN"
    );
    let order = ": the order is QRELS RUN";
    assert_eq!(
        message(RUN, RUN),
        format!("a.qrels: this is a run, judgments were expected{order}")
    );
    assert_eq!(
        message(QRELS, QRELS),
        format!("a.run: these are judgments, a run was expected{order}")
    );
    let mixed = message(&format!("{RUN}x\n"), &format!("{QRELS}1 0\n"));
    assert!(
        mixed.starts_with(
            "a.qrels:1: 6 fields in '1 Q0 d1 1 2.5 tag': expected 'query iter \
                               docno grade' (this looks like a run: the order is QRELS \
                               RUN)"
        ),
        "{mixed}"
    );
    assert!(
        mixed.contains(
            "a.run:2: 4 fields in '1 0 d2 0': expected 'query iter docno rank score \
                            tag' (this looks like judgments"
        ),
        "{mixed}"
    );
    assert_eq!(
        message(QRELS, "# nothing\n\n"),
        "a.run: there is no result in it: expected 'query iter docno rank score tag'"
    );
    assert_eq!(
        message("", RUN),
        "a.qrels: there is no judgment in it: expected 'query iter docno grade'"
    );
    assert_eq!(
        message(QRELS, "x Q0 d1 1 1 t\n"),
        "a.run: no query of a.qrels is in it: it has 1 query such as 'x', the qrels have 2 queries \
         such as '1'"
    );
}

#[test]
fn problems_of_all_files_are_told_together() {
    let input = |name: &str, text: &str| Input::Bytes { name: name.into(), bytes: text.into() };
    let lines: String = (0..30).map(|n| ["y\n", "y z\n"][n % 2]).collect();
    let runs = [input("one.run", "x\n"), input("two.run", RUN), input("three.run", &lines)];
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
        let half =
            Input::Bytes { name: "half.run".into(), bytes: bytes[..bytes.len() - 20].to_vec() };
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
    check(
        qrels.as_bytes(),
        run.as_bytes(),
        Join { depth: NonZeroU32::new(60_000), ..Join::default() },
    );
}

#[test]
fn a_million_results_from_memory() {
    let qrels = Qrels::new([("q", "d5", 1.0)]).unwrap();
    let results =
        |most: u32| (0..most).map(|n| ("q", format!("d{}", n % 1_048_600), -f64::from(n)));
    let run = |most| [("mine".to_owned(), results(most))];
    let matrix = Join::default().rankings(&qrels, run(1_048_600)).unwrap();
    assert_eq!((matrix.depths(), matrix.tile(0).label(0, 5)), (&[1_048_600][..], 3));
    let error = Join::default().rankings(&qrels, run(1_048_601)).unwrap_err().to_string();
    assert_eq!(error, "mine:1048601: docno 'd0' occurs again for query 'q', first on line 1");
}

/// A file whose lines end with carriage returns alone is one line: taking its first result for all
/// of it would lose the others.
#[test]
fn carriage_returns_inside_a_line_are_no_blanks() {
    let text = |name: &str, text: &str| Input::Bytes { name: name.into(), bytes: text.into() };
    let qrels = || text("qrels", "q1 0 d1 1\r\nq1 0 d2 0\r\n");
    let lines = "q1 Q0 d1 1 2.5 tag\rq1 Q0 d2 2 1.5 tag\r";
    let error = Join::default().files(qrels(), [text("run", lines)]).unwrap_err().to_string();
    assert!(error.starts_with("run:1: 12 fields in "), "{error}");
    assert!(
        error.ends_with("(there is a carriage return inside: lines end with LF or CR LF)"),
        "{error}"
    );
    Join::default()
        .files(qrels(), [text("run", "q1 Q0 d1 1 2.5 tag\r\r\nq1 Q0 d2 2 1.5 tag more\r\n")])
        .unwrap();
}

/// Returns the message for a run of these bytes, and for qrels.
fn refused(bytes: &[u8]) -> [String; 2] {
    refused_as(Dialect::Laneval, bytes)
}

fn refused_as(dialect: Dialect, bytes: &[u8]) -> [String; 2] {
    let input = |name: &str, bytes: &[u8]| Input::Bytes { name: name.into(), bytes: bytes.into() };
    let join = Join { dialect, ..Join::default() };
    let run = join.files(input("a.qrels", QRELS.as_bytes()), [input("it", bytes)]).unwrap_err();
    [run, join.qrels(input("it", bytes)).unwrap_err()].map(|error| error.to_string())
}

#[test]
fn other_formats_get_one_line_with_their_name() {
    let wide = |text: &[u8], first: usize| {
        let wide = text.iter().flat_map(|&byte| if first == 0 { [byte, 0] } else { [0, byte] });
        wide.collect::<Vec<u8>>()
    };
    let binary: Vec<u8> = (0..5000u32).map(|n| ((n * n) >> 3) as u8).collect();
    let after = |start: &[u8]| [start, &binary].concat();
    let run = RUN.repeat(20).into_bytes();
    for (bytes, name) in [
        (
            after(b"\xfd7zXZ\0"),
            "is compressed by xz, which is not read here: decompress it first (`xz -dc`)",
        ),
        (after(b"BZh91AY&SY"), "is compressed by bzip2"),
        (after(b"PK\x03\x04"), "is an archive (zip): extract it first (`unzip FILE`)"),
        (after(b"7z\xbc\xaf\x27\x1c"), "is an archive (7-Zip)"),
        (after(b"\x04\x22\x4d\x18"), "is compressed by lz4"),
        (
            after(b"PAR1\x15\0"),
            "is Parquet, which this build does not read: build the command with `--features \
             parquet`",
        ),
        (after(b"ARROW1\0\0"), "is Arrow"),
        (after(b"\x7fELF\x02\x01"), "is a program (ELF)"),
        (vec![0; 100_000], "is binary"),
        (binary.clone(), "is binary"),
        ([b"\xff\xfe", &wide(&run, 0)[..]].concat(), "is UTF-16: convert it to UTF-8 first"),
        ([b"\xfe\xff", &wide(&run, 1)[..]].concat(), "is UTF-16"),
        (wide(&run, 0), "is UTF-16"),
        (wide(QRELS.as_bytes(), 1), "is UTF-16"),
    ] {
        for message in refused(&bytes) {
            assert!(
                message.starts_with(&format!("it: {name}")) && !message.contains('\n'),
                "{message}"
            );
        }
        let zst = zstd::encode_all(&bytes[..], 1).unwrap();
        assert_eq!(refused(&gzip(&bytes)), refused(&bytes));
        assert_eq!(refused(&zst), refused(&bytes));
    }
    let letor = message(QRELS, "2 qid:10 1:0.03 2:0.66 3:1\n");
    assert!(
        letor.starts_with("a.run: is LETOR, labels and features, but no ranking: give a file"),
        "{letor}"
    );
}

/// Dialects of trec_eval read TREC files alone.
#[test]
fn other_formats_are_not_read_as_trec_eval_reads() {
    let refused = |bytes: &[u8]| refused_as(Dialect::Trec10, bytes);
    let lines = |line: &str| line.repeat(30).into_bytes();
    for (bytes, name) in [
        (b"{\"q1\": {\"d1\": 15.109, \"d2\": 1}}".to_vec(), "is JSON"),
        (b"[\n {\"q1\": 1},\n {\"q2\": 1}\n]".to_vec(), "is JSON"),
        (lines("q1,d1,1\n"), "is CSV"),
    ] {
        for message in refused(&bytes) {
            assert!(
                message.starts_with(&format!("it: {name}")) && !message.contains('\n'),
                "{message}"
            );
        }
    }
    let convert = |what: &str, options: &str| {
        format!(
            "it: {what}, and dialects of trec_eval read TREC text alone: `laneval convert \
             {options}it -o it.trec` writes it so"
        )
    };
    let [run, qrels] = refused(b"query-id\tcorpus-id\tscore\n1\td1\t1\n2\td7\t1\n");
    let beir = "is TSV with a header: query-id, corpus-id, score";
    assert_eq!((run, qrels), (convert(beir, ""), convert(beir, "--qrels ")));
    let [run, qrels] = refused(&lines("q1\td1\t1\n"));
    assert!(
        run.starts_with("it: has three columns; if they are query, docno and rank, as in MS MARCO"),
        "{run}"
    );
    assert_eq!(qrels, convert("is TSV without a header: query document grade", "--qrels "));
    let [five, _] = refused(&lines("q1 Q0 d1 1 0.5\n"));
    assert_eq!(five, convert("is TREC text without tags", ""));
}

/// A text that starts like another format is read if it can be: only a text that is wrong anyway is
/// looked at.
#[test]
fn no_text_that_can_be_read_is_taken_for_another_format() {
    let starts: [&[u8]; 14] = [
        b"\xfd7zXZ\0",
        b"BZh91AY&SY",
        b"PK\x03\x04",
        b"7z\xbc\xaf\x27\x1c",
        b"\x04\x22\x4d\x18",
        b"PAR1\0",
        b"ARROW1\0\0",
        b"\x7fELF",
        b"{",
        b"[",
        b"\xff\xfe",
        b"\xfe\xff",
        b"q\0",
        b"query-id,1,2",
    ];
    for start in starts {
        let input = |name: &str, rest: &[u8]| Input::Bytes {
            name: name.into(),
            bytes: [start, rest].concat(),
        };
        for dialect in [Dialect::Laneval, Dialect::Trec9, Dialect::Trec10] {
            let join = Join { dialect, ..Join::default() };
            let (qrels, run) =
                (input("qrels", b" qid:1 d1 1\n"), input("run", b" qid:1 d1 1 0.5 t\n"));
            let matrix = join.files(qrels, [run]).unwrap();
            assert_eq!((matrix.queries().get(0), matrix.depths()), (start, &[1][..]));
        }
    }
}

#[test]
fn lines_that_are_all_wrong_alike_are_one_problem_and_a_few_are_listed() {
    let expected = "expected 'query iter docno rank score tag'";
    let wrong = |count: usize| "# c\n\n1 0 d 1 high t\n".repeat(count);
    for count in [3, 19] {
        assert_eq!(
            message(QRELS, &wrong(count)),
            format!(
                "a.run:3: score 'high' is not a number: {expected}; all lines are wrong in this way"
            )
        );
    }
    assert_eq!(
        message(QRELS, &[&wrong(20)[..], RUN, "x\n"].concat()),
        format!(
            "a.run:3: score 'high' is not a number: {expected}; the first 20 lines are wrong in \
             this way"
        )
    );
    for few in [wrong(2), [&wrong(19)[..], RUN].concat(), [RUN, &wrong(19)].concat()] {
        assert_eq!(message(QRELS, &few).lines().count(), few.matches("high").count());
    }
    for first in ["{", "[1]", "1 qid:1", "q,1,2", "1 0 d1", "1 0 d1 1", "1 0 d1 1 2", "\0"] {
        let message = message(QRELS, &format!("{first}\n{RUN}"));
        assert!(message.starts_with("a.run:1: ") && !message.contains('\n'), "{message}");
    }
}

#[test]
fn lines_have_a_longest_length() {
    const LONGEST: usize = 64 << 20;
    let long = |line: &mut Vec<u8>, length: usize| line.resize(length, b'x');
    let mut text = b"1 Q0 d1 1 2.5 tag\n\n1 Q0 d2 2 1.5 ".to_vec();
    let start = text.len() - b"1 Q0 d2 2 1.5 ".len();
    long(&mut text, start + LONGEST);
    let read = |bytes: Vec<u8>| {
        let input = |name: &str, bytes: Vec<u8>| Input::Bytes { name: name.into(), bytes };
        Join::default().files(input("a.qrels", QRELS.into()), [input("a.run", bytes)])
    };
    let zst = |text: &[u8]| zstd::encode_all(text, 1).unwrap();
    assert_eq!(read(zst(&text)).unwrap().depths(), [2, 0]);
    assert_eq!(read(text.clone()).unwrap().depths(), [2, 0]);
    text.extend(b"x\n1 Q0 d3 3 high t\n");
    let line = "a.run:3: the line has more than 64 MiB: expected 'query iter docno rank score tag'";
    let other = "a.run:4: score 'high' is not a number: expected 'query iter docno rank score tag'";
    // The rest of a compressed text behind such a line is not read if it is not there yet: it may
    // be a bomb.
    assert_eq!(read(text.clone()).unwrap_err().to_string(), format!("{line}\n{other}"));
    assert!(read(zst(&text)).unwrap_err().to_string().starts_with(line));
    text.clear();
    long(&mut text, 3 * LONGEST);
    let first =
        "a.run:1: the line has more than 64 MiB: expected 'query iter docno rank score tag'";
    assert_eq!(read(zst(&text)).unwrap_err().to_string(), first);
    assert_eq!(read(text).unwrap_err().to_string(), first);
    let docno = "x".repeat(LONGEST + 1);
    let error = Qrels::new([("q", &docno[..], 1.0)]).unwrap_err().to_string();
    assert_eq!(error, "qrels:1: doc: the id has more than 64 MiB");
    let qrels = Qrels::new([("q", "d", 1.0)]).unwrap();
    let error = Join::default()
        .rankings(&qrels, [("mine".to_owned(), [("q", &docno[..], 1.0)])])
        .unwrap_err();
    assert_eq!(error.to_string(), "mine:1: doc: the id has more than 64 MiB");
}

/// A stream without an end, of which no more is read than the longest line.
#[cfg(unix)]
#[test]
fn an_endless_stream_without_lines_ends() {
    let error = Join::default().files("/dev/zero", ["no.run"]).unwrap_err().to_string();
    assert!(error.starts_with("no.run: cannot open"), "{error}");
    let run = Input::Bytes { name: "a.run".into(), bytes: RUN.into() };
    let error = Join::default().files("/dev/zero", [run]).unwrap_err().to_string();
    assert_eq!(
        error,
        "/dev/zero: is binary, which is not read here: expected 'query iter docno grade' on each \
         line"
    );
}

/// Long runs of blank lines and comments, where chunks are cut, do not move the numbers of lines or
/// part a query from itself.
#[test]
fn blank_lines_and_comments_are_counted() {
    for (gap, lines) in [
        ("\n", 300_000),
        ("\r\n", 200_000),
        ("#\n", 200_000),
        ("  \t \n", 100_000),
        ("  # c\r\n", 100_000),
    ] {
        let (before, between) = (gap.repeat(lines), gap.repeat(lines / 2));
        let run = format!(
            "{before}1 Q0 d1 1 2 t\n{between}1 Q0 d2 1 1 t\n{between}2 Q0 d1 1 1 t\n{before}"
        );
        let qrels = format!("{before}1 0 d1 1\n{between}1 0 d2 2\n2 0 d1 0");
        check(qrels.as_bytes(), run.as_bytes(), Join::default());
        check(qrels.as_bytes(), format!("{run}x\n{run}").as_bytes(), Join::default());
    }
}

/// A judgment that is there again with the same grade counts once, and is told; so the fingerprint
/// is that of the judgments without it.
#[test]
fn judgments_repeated_with_the_same_grade_count_once() {
    let qrels = |text: &str, judged_by: Option<FacetKind>| {
        let recognised = Arc::new(DetectedFormats::default());
        let join = Join { judged_by, recognised: Some(recognised.clone()), ..Join::default() };
        let qrels = join.qrels(Input::Bytes { name: "a.qrels".into(), bytes: text.into() });
        let notes = recognised.all().into_iter().filter(|text| text.note).map(|text| text.what);
        (qrels.map_err(|error| error.to_string()), notes.collect::<Vec<_>>())
    };
    let one = "1 judgment is repeated with the same grade, and counts once";
    let two = "2 judgments are repeated with the same grade, and count once";
    let many: String = (0..300).map(|n| format!("1 0 e{n} {n}.5\n")).collect();
    for (text, again, note) in [
        (QRELS, "2 0 d1 -1\n", one),
        (QRELS, "1 0 d1 1\n2 0 d1 -1\n", two),
        // In any order, and with more grades than codes.
        ("1 0 a 1\n2 0 a 1\n1 0 b 0\n", "2 0 a 1\n1 0 b 0.0\n", two),
        (&many, "1 0 e7 7.5\n", one),
    ] {
        for by in [None, Some(FacetKind::Judge), Some(FacetKind::Subtopic)] {
            let (expected, notes) = qrels(text, by);
            assert_eq!(notes, [""; 0]);
            let (found, notes) = qrels(&format!("{text}{again}"), by);
            let (found, expected) = (found.unwrap(), expected.unwrap());
            assert_eq!(found.fingerprint(), expected.fingerprint(), "{by:?} {again}");
            assert_eq!(found.facts(), expected.facts());
            assert_eq!(notes, [note]);
        }
    }
    // As lists have them; trec_eval refuses them.
    let lists = "{\"qid\": \"1\", \"expected_ids\": [\"a\", \"b\", \"a\"]}\n";
    assert_eq!(qrels(lists, None).1, [one]);
    let (again, dialect) = (format!("{QRELS}1 0 d1 1\n"), Dialect::Trec10);
    let join = Join { dialect, ..Join::default() };
    let judged = join.qrels(Input::Bytes { name: "q".into(), bytes: again.into() }).unwrap();
    let error = join.runs(&judged, [Input::Bytes { name: "r".into(), bytes: RUN.into() }]);
    assert!(error.unwrap_err().to_string().contains("is judged again"));
}
