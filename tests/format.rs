//! The `.lmx` file: a written file is read back, and no damaged one is accepted.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use laneval::arrays::{self, Rankings};
use laneval::labels::{
    CutTieCount, IdealSource, RankingRule, RowTies, ScoreWarnings, Tie, Unmatched,
};
use laneval::lmx::Description;
use laneval::{
    DocIdRule, Error, Evaluator, ExcludedDocs, FacetKind, Input, Join, LabelMatrix, Qrels,
    RunInput, ScoreType, TieBreak,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::cases::cases;
use crate::compared::assert_same_bits;
use crate::forge::Forged;
use crate::matrices::{Shape, any_shape, matrix, shape, tied_matrix};

/// Some matrix with a few hundred rows, always the same.
fn some_matrix() -> LabelMatrix {
    some_matrix_as(matrix)
}

fn some_matrix_as(matrix: fn(&Shape) -> LabelMatrix) -> LabelMatrix {
    let mut runner = TestRunner::deterministic();
    loop {
        let shape = shape().new_tree(&mut runner).unwrap().current();
        if shape.queries.len() >= 65 && shape.grades.len() > 3 {
            return matrix(&shape);
        }
    }
}

fn written(matrix: &LabelMatrix) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some.lmx");
    matrix.write(&path).unwrap();
    (folder, path)
}

/// Returns the content of a matrix: everything except the places of the bytes.
fn meaning(matrix: &LabelMatrix) -> impl PartialEq + std::fmt::Debug {
    let tiles: Vec<u8> = matrix.tile_bytes().to_vec();
    let queries: Vec<Vec<u8>> = matrix.queries().iter().map(<[u8]>::to_vec).collect();
    let facts = matrix.facts().clone();
    let mut runs = matrix.runs().to_vec();
    // A file keeps the ids of the first few ignored queries only, and no findings about scores.
    for run in &mut runs {
        run.ignored.ids = run.ignored.ids.iter().take(Unmatched::SHOWN).collect();
        run.seen = ScoreWarnings::default();
    }
    (
        matrix.codebook().clone(),
        queries,
        facts,
        runs,
        matrix.depths().to_vec(),
        matrix.rule(),
        matrix.fingerprint(),
        tiles,
        matrix.tied_groups().cloned(),
        (matrix.ideal(), matrix.exact().cloned(), matrix.facet_rows().cloned()),
    )
}

fn scores(matrix: &LabelMatrix) -> Vec<u64> {
    let scores = Evaluator::new([
        "AP",
        "nDCG@10",
        "nDCG(ideal=retrieved)",
        "IPrec11",
        "RR",
        "Judged@5",
        "ERR(gmax=auto)",
    ])
    .unwrap();
    let scores = scores.evaluate(matrix).unwrap();
    scores
        .runs
        .iter()
        .flat_map(|run| run.stats.iter().flatten())
        .map(|(_, value)| value.to_bits())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(64), ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_back(shape in any_shape(), tied: bool) {
        // ERR has no value for larger grades.
        prop_assume!(shape.grades.iter().all(|&grade| grade <= 1000.0));
        let exact = shape.grades.len() > 253;
        let matrix = if tied && !exact { tied_matrix(&shape) } else { matrix(&shape) };
        prop_assert_eq!(matrix.exact().is_some(), exact);
        let (_folder, path) = written(&matrix);
        let (read, mapped) = (LabelMatrix::read(&path).unwrap(), LabelMatrix::map(&path).unwrap());
        prop_assert_eq!(meaning(&matrix), meaning(&read));
        prop_assert_eq!(meaning(&matrix), meaning(&mapped));
        prop_assert_eq!(scores(&matrix), scores(&mapped));
        LabelMatrix::verify(&path).unwrap();
    }

    /// Arbitrary bytes, with or without a plausible start, are an error and never a panic.
    #[test]
    fn arbitrary_bytes(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..600),
        plausible: bool,
    ) {
        let (folder, path) = written(&some_matrix());
        if plausible {
            let start = std::fs::read(&path).unwrap();
            let keep = bytes.len().min(64);
            bytes[..keep].copy_from_slice(&start[..keep]);
        }
        let garbage = folder.path().join("garbage.lmx");
        std::fs::write(&garbage, &bytes).unwrap();
        prop_assert!(LabelMatrix::map(&garbage).is_err());
    }
}

fn message(path: &Path) -> String {
    match LabelMatrix::map(path) {
        Err(e @ Error::Matrix { .. }) => e.to_string(),
        Err(e) => panic!("another kind of error: {e}"),
        Ok(_) => panic!("{} was believed", path.display()),
    }
}

#[test]
fn every_truncation_is_an_error_that_names_the_file() {
    no_truncation_is_believed(&some_matrix());
    no_truncation_is_believed(&some_matrix_as(tied_matrix));
}

fn no_truncation_is_believed(matrix: &LabelMatrix) {
    let (folder, path) = written(matrix);
    let bytes = std::fs::read(&path).unwrap();
    let short = folder.path().join("short.lmx");
    let lengths = (0..400).chain((400..bytes.len()).step_by(97)).chain([bytes.len() - 1]);
    for length in lengths {
        std::fs::write(&short, &bytes[..length]).unwrap();
        assert!(
            message(&short).contains("short.lmx: header: "),
            "at {length}: {}",
            message(&short)
        );
    }
}

/// Every bit of the header, the table and every section but the tiles.
#[test]
fn every_flipped_bit_outside_of_the_tiles_is_an_error() {
    no_flipped_bit_is_believed(&some_matrix());
    no_flipped_bit_is_believed(&some_matrix_as(tied_matrix));
}

fn no_flipped_bit_is_believed(matrix: &LabelMatrix) {
    let (folder, path) = written(matrix);
    let bytes = std::fs::read(&path).unwrap();
    let description = Description::read(&path).unwrap();
    let bad = folder.path().join("bad.lmx");
    let header = 0..32 + 32 * description.sections.len();
    let sections = description.sections.iter().filter(|section| section.name != "tiles");
    let sections = sections.map(|s| s.offset as usize..(s.offset + s.length) as usize);
    for (number, at) in std::iter::once(header).chain(sections).flatten().enumerate() {
        if number > 2000 && number % 61 != 0 {
            continue;
        }
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (number % 8);
        std::fs::write(&bad, &damaged).unwrap();
        let message = message(&bad);
        assert!(message.contains("bad.lmx: "), "byte {at}: {message}");
    }
}

#[test]
fn a_flipped_label_is_harmless_and_verify_finds_it() {
    let (folder, path) = written(&some_matrix());
    let bytes = std::fs::read(&path).unwrap();
    let tiles = Description::read(&path).unwrap().sections[7].clone();
    assert_eq!(tiles.name, "tiles");
    let bad = folder.path().join("bad.lmx");
    for at in (tiles.offset..tiles.offset + tiles.length).step_by(499) {
        let mut damaged = bytes.clone();
        damaged[at as usize] ^= 0xff;
        std::fs::write(&bad, &damaged).unwrap();
        let _ = scores(&LabelMatrix::map(&bad).unwrap());
        let error = LabelMatrix::verify(&bad).unwrap_err().to_string();
        assert!(error.contains("bad.lmx: tiles: the checksum does not match"), "{error}");
        assert!(LabelMatrix::read(&bad).is_err(), "what is read into memory is checked whole");
    }
}

#[test]
fn foreign_and_newer_files_say_what_they_are() {
    let (folder, path) = written(&some_matrix());
    let other = folder.path().join("other.lmx");
    std::fs::write(&other, "q1 0 d1 1\nq1 0 d2 0\nq1 0 d3 1\n").unwrap();
    assert!(message(&other).ends_with("is not a .lmx file (made by `laneval build`)"));
    std::fs::write(&other, "").unwrap();
    assert!(message(&other).contains("is not a .lmx file"));
    let mut newer = std::fs::read(&path).unwrap();
    newer[8] = 7;
    std::fs::write(&other, newer).unwrap();
    assert!(message(&other).contains("is of format version 7"), "{}", message(&other));
}

/// Returns a matrix with something in every section: two rules of ranking changed, fractional and
/// negative grades, two runs, missing and ignored queries, ids that are not ASCII, tiles of 64 and
/// of 16 lanes.
fn frozen_matrix() -> LabelMatrix {
    let name = |query: u32| if query == 7 { "frage-ß".to_owned() } else { format!("q{query}") };
    let grade = |query: u32, document: u32| f64::from((query * 7 + document * 5) % 9) / 2.0 - 0.5;
    let judged =
        (0..150).flat_map(|query| (0..query % 6 + 1).map(move |document| (query, document)));
    let judged = judged
        .map(|(query, document)| (name(query), format!("d{document}"), grade(query, document)));
    let qrels = Qrels::new(judged).unwrap();
    let run = |skip: u32, deep: u32| {
        let queries = (0..160).filter(move |query| query % 11 != skip);
        let depth = move |query: u32| if query == 3 { deep } else { 1 + query % 13 };
        let results =
            queries.flat_map(move |query| (0..depth(query)).map(move |rank| (query, rank)));
        results.map(move |(query, rank)| {
            (name(query), format!("d{}", rank * 3 % 41), f64::from((rank * 17 + query) % 10))
        })
    };
    let run = |skip, deep| run(skip, deep).collect::<Vec<_>>();
    let join = Join {
        ties: TieBreak::Input,
        score: ScoreType::F32,
        depth: NonZeroU32::new(900),
        ..Join::default()
    };
    let distinct = |mut run: Vec<(String, String, f64)>| {
        let mut seen = std::collections::HashSet::new();
        run.retain(|(query, document, _)| seen.insert((query.clone(), document.clone())));
        run
    };
    let deep = (0..850).map(|rank| ("q12".to_owned(), format!("e{rank}"), -f64::from(rank)));
    let second = distinct(run(5, 30).into_iter().chain(deep).collect());
    join.rankings(
        &qrels,
        [("first".to_owned(), distinct(run(2, 40))), ("zweiter-ß".to_owned(), second)],
    )
    .unwrap()
}

/// Checks that the fixture of this name, which was written when version 1 was frozen, has sound
/// bytes that this matrix makes too, with a last section of this kind, mark and name; returns its
/// path and bytes. This and every later version reads it.
fn is_frozen(matrix: &LabelMatrix, name: &str, last: (u32, u32, &str)) -> (PathBuf, Vec<u8>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    if std::env::var_os("WRITE_FROZEN_FIXTURE").is_some() {
        matrix.write(&path).unwrap();
    }
    let bytes = std::fs::read(&path).unwrap();
    assert!(matrix.to_bytes() == bytes, "{name}: the same matrix makes other bytes");
    let description = Description::read(&path).unwrap();
    let section = description.sections.last().unwrap();
    let mark = Forged::parse(&bytes).more.last().map_or(0, |(_, mark, _)| *mark);
    assert_eq!((description.version, (section.kind, mark, section.name)), (1, last));
    LabelMatrix::verify(&path).unwrap();
    for found in [LabelMatrix::read(&path).unwrap(), LabelMatrix::map(&path).unwrap()] {
        assert_eq!(meaning(&found), meaning(matrix));
        assert!(found.to_bytes() == bytes, "{name}: what was read makes other bytes");
    }
    (path, bytes)
}

/// A matrix of which nothing but the first eight sections says anything.
#[test]
fn the_format_is_frozen() {
    let matrix = frozen_matrix();
    let (fixture, _) = is_frozen(&matrix, "plain-1.lmx", (8, 0, "tiles"));
    for found in [LabelMatrix::read(&fixture).unwrap(), LabelMatrix::map(&fixture).unwrap()] {
        assert_eq!(scores(&found), scores(&matrix));
    }
    let lanes: Vec<u32> = matrix.packing().tiles.iter().map(|tile| tile.lanes).collect();
    assert!(lanes.contains(&16) && lanes.contains(&64));
    assert!(matrix.runs().iter().all(|run| run.ignored.count > 0));
}

/// Returns a small matrix that knows its ties: a group that is cut off, one whose cut-off part
/// alone differs, one that is not mixed.
fn frozen_matrix_with_ties() -> LabelMatrix {
    let judged =
        [("a", "d1", 2.0), ("a", "d2", 0.0), ("a", "d3", -1.0), ("b", "d1", 1.0), ("c", "d5", 1.0)];
    let run = [
        ("a", "d1", 5.0),
        ("a", "d4", 5.0),
        ("a", "d9", 4.0),
        ("a", "d2", 3.0),
        ("a", "d3", 3.0),
        ("a", "d7", 3.0),
        ("b", "d8", 0.0),
        ("b", "d9", -0.0),
        ("c", "d8", 9.0),
        ("c", "d7", 8.0),
        ("c", "d6", 7.0),
        ("c", "d5", 2.0),
        ("c", "d4", 2.0),
    ];
    let mut other = run;
    other[0].2 = 3.0;
    let join = Join {
        ties: TieBreak::DocnoAscending,
        depth: NonZeroU32::new(4),
        keep_ties: true,
        ..Join::default()
    };
    let runs = [("first".to_owned(), run), ("zweiter-ß".to_owned(), other)];
    join.rankings(&Qrels::new(judged).unwrap(), runs).unwrap()
}

/// Groups of equal scores are kept in a section that may be skipped.
#[test]
fn tied_groups_are_kept() {
    let matrix = frozen_matrix_with_ties();
    let (fixture, _) = is_frozen(&matrix, "tied-1.lmx", (9, 1, "tied groups"));
    for found in [LabelMatrix::read(&fixture).unwrap(), LabelMatrix::map(&fixture).unwrap()] {
        assert_eq!(scores(&found), scores(&matrix));
    }
    let group = |start, length| Tie { start, length };
    let cut = |row, code, count| CutTieCount { row, code, count };
    let tied = matrix.tied_groups().unwrap();
    assert_eq!(tied.rows(), [0, 2, 3, 5]);
    assert_eq!(
        tied.get(0),
        RowTies { groups: &[group(0, 2), group(3, 1)], cut: &[cut(0, 1, 1), cut(0, 2, 1)] }
    );
    assert_eq!(tied.get(2), RowTies { groups: &[group(3, 1)], cut: &[cut(2, 4, 1)] });
}

/// Two rankings: in the first one group is of one grade and another is mixed, in the second two are
/// of one grade.
fn matrix_with_alike_groups() -> LabelMatrix {
    let judged =
        [("a", "d1", 1.0), ("a", "d2", 1.0), ("a", "d3", 0.0), ("b", "d1", 2.0), ("b", "d2", 2.0)];
    let judged = judged.into_iter().chain([("b", "d3", 0.0), ("b", "d4", 0.0)]);
    let run =
        [("a", "d1", 3.0), ("a", "d2", 3.0), ("a", "d3", 2.0), ("a", "x", 2.0), ("a", "y", 1.0)];
    let run = run.into_iter().chain([("a", "z", 1.0), ("b", "d1", 2.0), ("b", "d2", 2.0)]);
    let run = run.chain([("b", "d3", 1.0), ("b", "d4", 1.0)]);
    let join = Join { keep_ties: true, ..Join::default() };
    join.rankings(&Qrels::new(judged).unwrap(), [("run".to_owned(), run)]).unwrap()
}

#[test]
fn units_are_kept_in_a_section_that_may_be_skipped() {
    let run = [("a", "d1#1", 3.0), ("a", "d2#1", 3.0), ("a", "d1#2", 2.0), ("b", "d1#1", 1.0)];
    let qrels = Qrels::new([("a", "d1", 1.0), ("b", "d1", 0.0)]).unwrap();
    let repeats = "sum:2".parse().ok();
    let join = Join {
        units: DocIdRule::before("#"),
        repeats,
        rows: NonZeroU32::new(7),
        ..Join::default()
    };
    let matrix = join.rankings(&qrels, [("run".to_owned(), run)]).unwrap();
    let (_, bytes) = is_frozen(&matrix, "units-1.lmx", (13, 1, "units"));
    assert_eq!(Forged::parse(&bytes).more[0].2, b"\x07\0\0\0\x08\0\0\0before:#\x05\0\0\0sum:2");
}

#[test]
fn excluded_documents_are_kept_as_their_fingerprint() {
    let run = [("a", "d1", 3.0), ("a", "d2", 2.0), ("b", "d1", 1.0)];
    let qrels = Qrels::new([("a", "d2", 1.0), ("b", "d1", 0.0)]).unwrap();
    let excluded = ExcludedDocs::from_pairs([("a", "d1"), ("c", "d1")]);
    let fingerprint = excluded.fingerprint().clone();
    let join = Join { exclude: Some(Arc::new(excluded)), ..Join::default() };
    let matrix = join.rankings(&qrels, [("run".to_owned(), run)]).unwrap();
    assert_eq!((matrix.depths(), matrix.rule().excluded), (&[1, 1][..], Some(fingerprint.clone())));
    let (_, bytes) = is_frozen(&matrix, "excluded-1.lmx", (15, 1, "excluded documents"));
    assert_eq!(Forged::parse(&bytes).more[0].2, fingerprint.as_bytes());
}

#[test]
fn groups_of_one_grade_are_kept_beside_mixed_ones() {
    let matrix = matrix_with_alike_groups();
    let file = Forged::parse(&matrix.to_bytes());
    // The number of groups of one grade is the last of four, behind four counts of the run; the
    // groups come last. Each is a row, its first rank, and its length.
    const COUNT: usize = 2 * (4 + 3);
    let words: Vec<u32> =
        file.more[0].2.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let first = words.len() - 9;
    assert_eq!((words[COUNT], &words[first..]), (3, &[0, 0, 2, 1, 0, 2, 1, 2, 2][..]));
    no_truncation_is_believed(&matrix);
    no_flipped_bit_is_believed(&matrix);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("forged.lmx");
    let refusal = |word: usize, to: u32| {
        let mut file = file.clone();
        file.more[0].2[word * 4..][..4].copy_from_slice(&to.to_le_bytes());
        std::fs::write(&path, file.bytes()).unwrap();
        match LabelMatrix::map(&path) {
            Err(error) => error.to_string(),
            Ok(_) => LabelMatrix::verify(&path).unwrap_err().to_string(),
        }
    };
    for (word, to, message) in [
        (COUNT, 4, "ends too early"),
        (COUNT, 2, "bytes"),
        (first + 6, 2, "one of row 2, and there are 2"),
        (first + 6, 0, "do not ascend"),
        (first + 1, 2, "outside of"),
        (first + 1, 4, "are not of one grade"),
        (first + 2, 1, "1 documents"),
        (first + 2, 3, "outside of"),
        (first + 8, 3, "outside of"),
        (first + 8, u32::MAX, "outside of"),
    ] {
        let error = refusal(word, to);
        assert!(error.contains(message), "word {word} is {to}: {error}");
    }
}

/// Two rankings of which only the grades are known.
fn frozen_matrix_of_labels() -> LabelMatrix {
    let grades: [u8; 6] = [2, 0, 1, 0, 1, 1];
    let rankings = Rankings::labels(&grades[..], arrays::Shape::dense(3)).unwrap();
    LabelMatrix::from_rankings("labels", &rankings).unwrap()
}

/// The judgments of a query and ideal rankings are made of the retrieved documents alone, and a
/// file says so: in a section that readers who do not know it skip.
#[test]
fn what_ideal_rankings_are_made_of_is_kept() {
    let matrix = frozen_matrix_of_labels();
    assert_eq!(matrix.ideal(), IdealSource::Retrieved);
    let (fixture, _) = is_frozen(&matrix, "ideal-1.lmx", (10, 1, "ideal rankings"));
    for found in [LabelMatrix::read(&fixture).unwrap(), LabelMatrix::map(&fixture).unwrap()] {
        assert_eq!(scores(&found), scores(&matrix));
        let scores = Evaluator::new(["AP"]).unwrap().evaluate(&found).unwrap();
        assert_eq!(scores.runs[0].ideal, IdealSource::Retrieved);
    }
    assert_eq!(some_matrix().ideal(), IdealSource::Judgments);
}

/// Two queries with 300 grades, in a run that lacks some of the documents.
fn frozen_matrix_of_exact_grades() -> LabelMatrix {
    let judged = (0..300)
        .map(|doc| (format!("q{}", doc % 2), format!("d{doc}"), f64::from(doc) / 8.0 - 1.0));
    let qrels = Qrels::new(judged.collect::<Vec<_>>()).unwrap();
    let results =
        (0..400).map(|doc| (format!("q{}", doc % 2), format!("d{doc}"), f64::from(doc * 7 % 400)));
    let results: Vec<_> = results.filter(|(_, doc, _)| !doc.ends_with('3')).collect();
    Join::default().rankings(&qrels, [("run".to_owned(), results)]).unwrap()
}

/// More grades than codes are kept beside the labels, in a section without which a file cannot be
/// understood.
#[test]
fn exact_grades_are_kept_and_required() {
    let matrix = frozen_matrix_of_exact_grades();
    let (fixture, _) = is_frozen(&matrix, "exact-1.lmx", (11, 2, "exact grades"));
    for found in [LabelMatrix::read(&fixture).unwrap(), LabelMatrix::map(&fixture).unwrap()] {
        assert_eq!(scores(&found), scores(&matrix));
    }
}

/// Judgments by facet of three queries, in two runs: several of a document, a negative one, a query
/// that only one run has.
fn frozen_matrix_of_groups(by: FacetKind) -> LabelMatrix {
    let text = |name: &str, text: &str| Input::Bytes { name: name.into(), bytes: text.into() };
    let qrels =
        "a ß d1 1\na 10 d1 0\na 2 d1 2\na 2 d2 1\na 10 d3 -1\nb 2 d1 0.5\nb ß d4 1\nc 10 d9 1\n";
    let first = "a Q0 d1 1 4 t\na Q0 x 2 3 t\na Q0 d3 3 2 t\na Q0 d2 4 1 t\nb Q0 d4 1 1 t\n";
    let last = "a Q0 d2 1 4 t\nc Q0 y 1 2 t\nc Q0 d9 2 1 t\n";
    let join = Join { judged_by: Some(by), ..Join::default() };
    join.files(
        text("qrels", qrels),
        [
            RunInput::named("first", text("first", first)),
            RunInput::named("zweiter-ß", text("last", last)),
        ],
    )
    .unwrap()
}

/// Judgments by facet are kept beside the labels, in a section that readers who do not know it may
/// skip where groups are subtopics: plain measures take the largest grades, which are the labels.
#[test]
fn judgments_by_group_are_kept() {
    for (by, mark, measure) in [
        (FacetKind::Judge, 2, "AP(judges=mean)"),
        (FacetKind::Subtopic, 1, "alpha_nDCG@2"),
        (FacetKind::Preference, 2, "prefs_pair"),
    ] {
        let matrix = frozen_matrix_of_groups(by);
        let (path, _) = is_frozen(&matrix, &format!("{by}-1.lmx"), (12, mark, "judgment groups"));
        let evaluator = Evaluator::new([measure]).unwrap().with_per_query(true);
        let expected = evaluator.evaluate(&matrix).unwrap();
        for found in [LabelMatrix::read(&path).unwrap(), LabelMatrix::map(&path).unwrap()] {
            assert_same_bits(&expected, &evaluator.evaluate(&found).unwrap(), measure);
        }
        if by == FacetKind::Judge {
            no_truncation_is_believed(&matrix);
            no_flipped_bit_is_believed(&matrix);
        }
    }
}

/// Rankings of passages are kept in a section that is required: labels say nothing of them.
#[test]
fn passages_are_kept() {
    let text = |name: &str, text: &str| Input::Bytes { name: name.into(), bytes: text.into() };
    let gold = "query,doc,start,end,grade\na,d1,10,30,1\na,d1,50,60,2\na,ß,0,20,1\n\
                b,d2,0,5,0.5\nc,d9,7,9,1\n";
    let first = "query,doc,start,end,score\na,d1,0,20,4\na,d1,15,40,3\na,x,0,50,2\n\
                 a,ß,0,100,1\nb,d2,3,5,1\n";
    let last = "query,doc,start,end,score\na,d1,20,60,4\nc,d9,0,9,2\n";
    let join = Join { judged_by: Some(FacetKind::Span), ..Join::default() };
    let runs = [
        RunInput::named("first", text("first", first)),
        RunInput::named("zweiter-ß", text("last", last)),
    ];
    let matrix = join.files(text("gold", gold), runs).unwrap();
    let (path, _) = is_frozen(&matrix, "spans-1.lmx", (14, 2, "spans"));
    let evaluator = Evaluator::new(["SpanR(rel=2)", "SpanIoU@2"]).unwrap().with_per_query(true);
    let expected = evaluator.evaluate(&matrix).unwrap();
    for found in [LabelMatrix::read(&path).unwrap(), LabelMatrix::map(&path).unwrap()] {
        assert_eq!(found.span_rows(), matrix.span_rows());
        assert_same_bits(&expected, &evaluator.evaluate(&found).unwrap(), "passages");
    }
    no_truncation_is_believed(&matrix);
    no_flipped_bit_is_believed(&matrix);
}

#[test]
fn a_file_of_a_draft_is_refused_by_name() {
    let (folder, path) = written(&some_matrix());
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[0] = 0x8b;
    let draft = folder.path().join("draft.lmx");
    std::fs::write(&draft, bytes).unwrap();
    for length in [None, Some(8)] {
        if let Some(length) = length {
            std::fs::File::options().write(true).open(&draft).unwrap().set_len(length).unwrap();
        }
        let expected = "draft.lmx: header: was written by a draft of laneval: make it again with \
                        `laneval build`";
        assert!(message(&draft).ends_with(expected), "{}", message(&draft));
        assert!(Description::recognises(&std::fs::read(&draft).unwrap()));
    }
}

#[test]
fn a_section_is_written_if_it_says_something() {
    let text = |name: &str, text: &str| Input::Bytes { name: name.into(), bytes: text.into() };
    let written = |join: Join| {
        let run = text("run", "a Q0 d1 2 3 t\na Q0 d2 1 3 t\n");
        let (_folder, path) = written(&join.files(text("qrels", "a 0 d1 1\n"), [run]).unwrap());
        let (description, read) =
            (Description::read(&path).unwrap(), LabelMatrix::map(&path).unwrap());
        (description.sections.len(), read.rule(), read.tied_groups().is_some())
    };
    for (_, ties) in TieBreak::ALL {
        for keep_ties in [false, true] {
            let sections = if keep_ties { 9 } else { 8 };
            let rule = RankingRule { ties, ..RankingRule::default() };
            let found = written(Join { ties, keep_ties, ..Join::default() });
            assert_eq!(found, (sections, rule, keep_ties));
        }
    }
}

#[test]
fn nothing_is_half_written() {
    let matrix = some_matrix();
    let folder = tempfile::tempdir().unwrap();
    let error = matrix.write(folder.path().join("missing/some.lmx")).unwrap_err();
    assert!(error.to_string().contains("cannot write"), "{error}");
    // A folder of that name cannot be replaced by a file: the temporary file must be gone too.
    std::fs::create_dir(folder.path().join("taken.lmx")).unwrap();
    std::fs::write(folder.path().join("taken.lmx/inside"), "").unwrap();
    assert!(matrix.write(folder.path().join("taken.lmx")).is_err());
    let left: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["taken.lmx"]);
}
