//! Files and arguments made to break laneval: every one gives a number or an error, within 256 MiB.
//!
//! An allocation beyond the limit aborts this binary, which is why these tests have one of their
//! own.

use std::alloc::System;
use std::ops::RangeInclusive;
use std::path::Path;

use cap::Cap;
use laneval::arrays::{self, Rankings};
use laneval::measure::Measure;
use laneval::parts::matrix::{CodesAbove, MAX_JUDGED};
use laneval::{
    EngineChoice, Evaluator, FacetKind, Input, Join, LabelMatrix, Qrels, RunInput, Scores,
    TiedValue, View,
};
use proptest::prelude::*;
use rayon::prelude::*;

use cases::{by_default, cases, few, some};
use forge::{BOOK, Change, DIRECTORY, Forged, JUDGED, ROWS, RULE, TILES};
use matrices::{Query, Shape, any_shape, matrix, tied_matrix};

#[path = "../cases.rs"]
mod cases;
mod corpus;
#[path = "../forge.rs"]
mod forge;
#[path = "../matrices.rs"]
mod matrices;
mod parameters;
mod properties;
#[path = "../ranges.rs"]
mod ranges;
mod streams;
#[path = "../variants.rs"]
mod variants;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, 256 << 20);

/// Returns every measure that the grades of a matrix admit, walks included.
fn every_measure(matrix: &LabelMatrix) -> Vec<Measure> {
    variants::every_measure(matrix).into_iter().chain(variants::every_walk(matrix)).collect()
}

/// Returns the bytes of the file of a matrix.
fn file(matrix: &LabelMatrix) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sound.lmx");
    matrix.write(&path).unwrap();
    std::fs::read(path).unwrap()
}

/// Writes a forged file to a temporary path, and calls `test` with it.
fn forged<R>(forged: &Forged, test: impl FnOnce(&Path) -> R) -> R {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("forged.lmx");
    std::fs::write(&path, forged.bytes()).unwrap();
    test(&path)
}

/// Three queries in two runs, with a bit of everything: a negative grade, a missing query,
/// documents that are not retrieved. The second query has its ideal ranking, with no document to
/// spare.
fn small() -> Forged {
    let query = |first: &[u8], second: &[u8], unretrieved: &[u8]| Query {
        rankings: vec![first.to_vec(), second.to_vec()],
        unretrieved: unretrieved.to_vec(),
    };
    let queries = vec![
        query(&[5, 1, 2, 4], &[4, 4], &[4, 5]),
        query(&[5, 4], &[], &[]),
        query(&[1, 2, 3, 5], &[5], &[]),
    ];
    Forged::parse(&file(&matrix(&Shape { grades: vec![0.0, 1.0, 3.0], queries })))
}

fn evaluate(
    matrix: &LabelMatrix,
    measures: &[Measure],
    engine: EngineChoice,
    view: View,
) -> Scores {
    let evaluator = Evaluator::from_measures(measures.to_vec()).with_engine(engine).with_view(view);
    evaluator.with_per_query(true).allow_non_finite(true).evaluate(matrix).unwrap()
}

/// Returns the value of every measure, run and query.
fn values(scores: &Scores) -> impl Iterator<Item = (&Measure, f64)> {
    let runs = scores
        .runs
        .iter()
        .flat_map(|run| scores.measures.iter().zip(&run.per_query.as_ref().unwrap().values));
    runs.flat_map(|(measure, values)| values.iter().map(move |&value| (measure, value)))
}

/// The most judged documents that are walked down with every measure; more take too long here. A
/// test of its own has the most that are allowed.
const SLOW: u64 = 1 << 18;

/// Evaluates everything on both engines. If a file is said to be sound, they agree and every value
/// is in its range.
fn survives(path: &Path, view: View) -> Result<(), TestCaseError> {
    let (read, mapped) = (LabelMatrix::read(path), LabelMatrix::map(path));
    let sound = LabelMatrix::verify(path);
    prop_assert_eq!(read.is_ok(), mapped.is_ok(), "checksums fit, so both believe or neither");
    let Ok(mapped) = mapped else {
        prop_assert!(sound.is_err());
        return Ok(());
    };
    for (row, ties) in mapped.tied_groups().into_iter().flat_map(|tied| tied.iter()) {
        let depth = mapped.depths()[row as usize];
        prop_assert!(ties.groups.iter().all(|group| group.end() <= depth), "{row}: {ties:?}");
    }
    let judged = |query| mapped.facts().get(query).count(CodesAbove::RETRIEVED);
    if (0..mapped.facts().len()).any(|query| judged(query) > SLOW) {
        return Ok(());
    }
    let view = View {
        depth: view.depth.filter(|&depth| mapped.rule().depth.is_none_or(|limit| depth <= limit)),
        ..view
    };
    let measures = every_measure(&mapped);
    let cpu = evaluate(&mapped, &measures, EngineChoice::Cpu, view);
    let reference = evaluate(&mapped, &measures, EngineChoice::Reference, view);
    if sound.is_err() {
        return Ok(());
    }
    for ((measure, cpu), (_, reference)) in values(&cpu).zip(values(&reference)) {
        prop_assert_eq!(
            cpu.to_bits(),
            reference.to_bits(),
            "{}: {} and {}",
            measure,
            cpu,
            reference
        );
        if !overflows(measure, &mapped) {
            prop_assert!(ranges::holds(measure, cpu), "{measure} is {cpu}");
        }
    }
    Ok(())
}

/// Returns whether sums of gains may overflow, though each gain is finite.
fn overflows(measure: &Measure, matrix: &LabelMatrix) -> bool {
    let most = if measure.to_string().contains("exp2") { 1000.0 } else { 1e290 };
    matrix.codebook().max_grade().is_some_and(|grade| grade > most)
}

/// Numbers at which something may overflow.
fn number() -> impl Strategy<Value = u64> {
    let near = |at: u64| (0..3u64).prop_map(move |more| at.wrapping_sub(1).wrapping_add(more));
    prop_oneof![
        3 => 0..9u64,
        1 => near(16),
        1 => near(1 << 16),
        1 => (0..9u64).prop_map(|less| u64::from(u32::MAX) - less),
        1 => any::<u16>().prop_map(u64::from),
        1 => any::<u64>(),
    ]
}

/// Returns a change of some kind.
fn change(kinds: RangeInclusive<u8>) -> impl Strategy<Value = Change> {
    (kinds, any::<u32>(), number()).prop_map(|(kind, at, to)| Change { kind, at, to })
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    proptest::collection::vec(change(0..=u8::MAX), 0..4)
}

fn views() -> impl Strategy<Value = View> {
    (proptest::option::of(1..9u32), any::<bool>())
        .prop_map(|(depth, judged_only)| View { depth, judged_only })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(96),
        max_shrink_iters: 50,
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_the_sections_say(
        shape in any_shape(),
        tied: bool,
        changes in changes(),
        view in views(),
    ) {
        // No matrix has both ties and exact grades.
        let sound =
            if tied && shape.grades.len() <= 253 { tied_matrix(&shape) } else { matrix(&shape) };
        let mut changed = Forged::parse(&file(&sound));
        changes.into_iter().for_each(|change| changed.change(change));
        forged(&changed, |path| survives(path, view))?;
    }

    #[test]
    fn whatever_exact_grades_say(
        changes in proptest::collection::vec(change(13..=15), 1..4),
        view in views(),
    ) {
        let mut changed = exact();
        changes.into_iter().for_each(|change| changed.change(change));
        forged(&changed, |path| survives(path, view))?;
    }
}

#[test]
fn a_file_forged_without_a_change_is_the_file() {
    let matrix = matrix(&Shape {
        grades: vec![1.0],
        queries: vec![Query { rankings: vec![vec![3]], unretrieved: vec![] }],
    });
    assert_eq!(Forged::parse(&file(&matrix)).bytes(), file(&matrix));
    assert_eq!(tied().bytes(), Forged::parse(&tied().bytes()).bytes());
}

/// A label may be any byte until the file is verified.
#[test]
fn every_bit_of_a_tile_and_every_measure() {
    let sound = small();
    let bits: Vec<usize> = few(0..8 * sound.sections[TILES].len(), 200).collect();
    bits.into_par_iter().for_each(|at| {
        let mut flipped = sound.clone();
        flipped.sections[TILES][at / 8] ^= 1 << (at % 8);
        forged(&flipped, |path| {
            survives(path, View::default()).unwrap();
        });
    });
}

/// Returns the errors of `verify` and of opening, for a change of a file that was sound.
fn refusals(change: impl FnOnce(&mut Forged)) -> [String; 2] {
    refusals_of(small(), change)
}

fn refusals_of(mut changed: Forged, change: impl FnOnce(&mut Forged)) -> [String; 2] {
    forged(&changed, |path| LabelMatrix::verify(path)).unwrap();
    change(&mut changed);
    let message =
        |result: laneval::Result<()>| result.map_or_else(|e| e.to_string(), |()| "ok".to_owned());
    forged(&changed, |path| {
        let messages = [LabelMatrix::verify(path), LabelMatrix::map(path).map(drop)].map(message);
        messages.map(|message| {
            message.rsplit_once("forged.lmx: ").map_or(message.clone(), |(_, end)| end.to_owned())
        })
    })
}

#[test]
fn what_cannot_be_is_refused_when_the_file_is_opened() {
    let both = |change: fn(&mut Forged), message: &str| assert_eq!(refusals(change), [message; 2]);
    // Rounded up to a multiple of 4 this depth would be 0, and the row would need no label at all.
    fn deep(file: &mut Forged, depth: u32) {
        (0..6).for_each(|row| file.set_word(ROWS, row, depth));
        file.sections[DIRECTORY] =
            [&[0; 8][..], [0u32, 16, 0, 6].map(u32::to_le_bytes).as_flattened()].concat();
        file.sections[TILES].clear();
    }
    both(
        |file| deep(file, u32::MAX),
        "row lengths: a ranking of 4294967295 results, more than 4294967292",
    );
    both(
        |file| deep(file, u32::MAX - 2),
        "row lengths: a ranking of 4294967293 results, more than 4294967292",
    );
    both(
        |file| file.set_word(RULE, 2, 3),
        "row lengths: a row of 4 results where the rule keeps the first 3",
    );
    both(|file| file.reserved[3] = 1, "judged counts: the reserved word of its entry is not 0");
    both(
        |file| file.after = b"EVIL".repeat(16),
        "header: the file has 4224 bytes, and its last section ends after 4160",
    );
    both(|file| judge(file, 0), "judged counts: query 1 of 3: no document has code 2");
    both(
        |file| judge(file, MAX_JUDGED as u32 - 4),
        "judged counts: query 1 of 3: 268435457 judged documents, and the most that a query may \
         have is 268435456",
    );
    let grades = "codebook: the grades are not finite, distinct and ascending";
    for grade in [-0.0, -1.0, 1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(refusals(|file| file.set_grade(0, grade)), [grades; 2], "{grade}");
    }
}

/// Opening does not look at labels: only `verify` refuses these files.
#[test]
fn labels_that_the_judgments_do_not_allow_are_refused_by_verify() {
    let tiles = |change: fn(&mut Forged), message: &str| {
        assert_eq!(refusals(change), [&format!("tiles: tile 0, lane 0: {message}"), "ok"]);
    };
    tiles(|file| file.sections[TILES][1] = 0, "the label at rank 2 means nothing in this codebook");
    tiles(|file| file.sections[TILES][1] = 6, "the label at rank 2 means nothing in this codebook");
    let more = |code: u8| {
        format!("the ranking has more documents of code {code} than are judged so for its query")
    };
    tiles(|file| file.sections[TILES][..2].fill(2), &more(2));
    tiles(|file| file.sections[TILES][..4].fill(4), &more(4));
    let past = refusals(|file| file.sections[TILES][11] = 1);
    assert_eq!(past, ["tiles: tile 0, lane 2: a label at rank 4, past the end at 2", "ok"]);
    let gap = refusals(|file| file.gaps[TILES] = 1);
    assert_eq!(gap[1], "ok");
}

/// Two queries in two runs: the first row has one result and a group of three, of which the last
/// was cut off and alone is judged; the last row has a group of two.
fn tied() -> Forged {
    let qrels = Qrels::new([("a", "d1", 1.0), ("a", "d2", 0.0), ("b", "d1", 1.0)]).unwrap();
    let first = vec![
        ("a", "d1", 3.0),
        ("a", "d2", 2.0),
        ("a", "d3", 2.0),
        ("a", "d4", 2.0),
        ("b", "d1", 0.0),
    ];
    let last = vec![("b", "d1", 1.0), ("b", "d9", 1.0)];
    let join = Join { depth: std::num::NonZeroU32::new(3), keep_ties: true, ..Join::default() };
    let matrix =
        join.rankings(&qrels, [("first".to_owned(), first), ("last".to_owned(), last)]).unwrap();
    let file = Forged::parse(&file(&matrix));
    let (kind, mark, section) = &file.more[0];
    assert_eq!((*kind, *mark), (9, 1));
    let words: Vec<u32> =
        section.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let counts = [3, 0, 1, 0, 1, 0, 3, 0, 2, 0, 1, 0, 1, 0, 2, 0];
    let (numbers, ends, rows) = ([2, 0, 2, 0, 1, 0, 0, 0], [1, 0, 2, 0], [0, 3]);
    let (groups, cut) = ([1, 2, 0, 2], [0, 3, 1]);
    assert_eq!(words, [&counts[..], &numbers, &ends, &rows, &groups, &cut].concat());
    file
}

/// Returns the errors of `verify` and of opening, for these words of the tied groups.
fn ties_with(words: &[(usize, u32)]) -> [String; 2] {
    refusals_of(tied(), |file| {
        for &(word, to) in words {
            file.more[0].2[4 * word..4 * word + 4].copy_from_slice(&to.to_le_bytes());
        }
    })
}

#[test]
fn ties_that_cannot_be_are_refused_when_the_file_is_opened() {
    let ends = "the ends do not fit rows and groups";
    let cut_elsewhere = "documents were cut off of a group that does not end at the last rank kept";
    let (early, huge) = ("ends too early", 1 << 30);
    for (words, message) in [
        (&[(28, 3)][..], "the rows do not ascend"),
        (&[(29, 4)], "groups of row 4, and there are 4"),
        (&[(24, 0)], ends),
        (&[(24, 2)], ends),
        (&[(26, 3)], ends),
        (&[(27, 1)], ends),
        (&[(30, 2)], "row 0: a group of 2 from rank 2, outside of 0 to 3"),
        (&[(30, u32::MAX)], "row 0: a group of 2 from rank 4294967295, outside of 0 to 3"),
        (&[(31, u32::MAX)], "row 0: a group of 4294967295 from rank 1, outside of 0 to 3"),
        (&[(31, 1)], &format!("row 0: {cut_elsewhere}")),
        (&[(31, 0)], "row 0: a group of 0"),
        (&[(33, 1)], "row 3: a group of 1"),
        (&[(34, 3)], &format!("row 3: {cut_elsewhere}")),
        (
            &[(34, 1)],
            "documents were cut off of rows without a mixed group, or the rows or codes do not \
             ascend",
        ),
        (&[(35, 0)], "row 0: 1 documents of code 0 cut off, where 1 to 0 can be"),
        (&[(35, 5)], "row 0: 1 documents of code 5 cut off, where 1 to 0 can be"),
        (&[(35, 256)], "documents of code 256"),
        (&[(36, 0)], "row 0: 0 documents of code 3 cut off, where 1 to 1 can be"),
        (&[(36, 2)], "row 0: 2 documents of code 3 cut off, where 1 to 1 can be"),
        (&[(35, 1), (36, u32::MAX - 3)], "row 0: 4294967295 results, more than 4294967292"),
        (&[(0, 2)], "run 1: 2 tied documents in 1 groups, the largest of 3, cannot be"),
        (&[(1, 1)], "run 1: 4294967299 tied documents in 1 groups, the largest of 3, cannot be"),
        (&[(2, 2)], "run 1: 3 tied documents in 2 groups, the largest of 3, cannot be"),
        (&[(6, 4)], "run 1: 3 tied documents in 1 groups, the largest of 4, cannot be"),
        (
            &[(0, 5), (2, 2), (6, 2)],
            "run 1: 5 tied documents in 2 groups, the largest of 2, cannot be",
        ),
        (&[(8, 3), (14, 3)], "run 2: 3 tied documents in 1 groups, the largest of 3, cannot be"),
        (&[(12, 2)], "run 2: 2 mixed groups, and there are 1"),
        (&[(16, huge)], early),
        (&[(19, huge)], early),
        (&[(20, huge)], early),
        (&[(22, huge)], early),
        (&[(20, 0)], "12 bytes too many"),
    ] {
        assert_eq!(
            ties_with(words),
            [format!("tied groups: {message}"), format!("tied groups: {message}")]
        );
    }
    // One more group, which is not mixed, may be counted.
    assert_eq!(ties_with(&[(0, 5), (2, 2)]), ["ok", "ok"]);
    for length in 0..tied().more[0].2.len() {
        let refusals = refusals_of(tied(), |file| file.more[0].2.truncate(length));
        assert_eq!(
            refusals,
            [format!("tied groups: {early}"), format!("tied groups: {early}")],
            "{length}"
        );
    }
}

/// Opening does not look at labels: only `verify` refuses these files.
#[test]
fn ties_that_the_labels_contradict_are_refused_by_verify() {
    let lane = "tiles: tile 0, lane 0: ";
    let unmixed = format!("{lane}the 2 tied labels from rank 2 on are not mixed");
    assert_eq!(ties_with(&[(35, 1)]), [&unmixed, "ok"]);
    let more =
        format!("{lane}the ranking has more documents of code 4 than are judged so for its query");
    assert_eq!(ties_with(&[(35, 4)]), [&more, "ok"]);
}

#[test]
fn ideal_rankings_of_an_unknown_kind_are_refused() {
    let with = |mark: u32, bytes: &[u8]| {
        refusals_of(tied(), |file| file.more.push((10, mark, bytes.to_vec())))
    };
    let both = |found: [String; 2], message: &str| assert_eq!(found, [message; 2]);
    for mark in [1, 2] {
        assert_eq!(with(mark, &[1, 0, 0, 0]), ["ok", "ok"]);
        both(with(mark, &[0, 0, 0, 0]), "ideal rankings: ideal rankings of unknown kind 0");
        both(with(mark, &[2, 0, 0, 0]), "ideal rankings: ideal rankings of unknown kind 2");
        both(with(mark, &[1, 0, 0]), "ideal rankings: ends too early");
        both(with(mark, &[1, 0, 0, 0, 0]), "ideal rankings: 1 bytes too many");
    }
}

#[test]
fn sections_that_are_not_known_are_skipped_if_they_may_be() {
    let with = |kind: u32, mark: u32| {
        refusals_of(tied(), |file| file.more.push((kind, mark, b"new".to_vec())))
    };
    assert_eq!(with(40, 1), ["ok", "ok"]);
    assert_eq!(with(u32::MAX, 1), ["ok", "ok"]);
    let both = |found: [String; 2], message: &str| assert_eq!(found, [message; 2]);
    both(
        with(77, 2),
        "header: needs its section of kind 77, which this laneval does not know: a newer laneval \
         reads it",
    );
    both(with(40, 0), "unknown: is marked 0, neither optional nor required");
    both(with(40, 3), "unknown: is marked 3, neither optional nor required");
    both(with(11, 0), "exact grades: is marked 0, neither optional nor required");
    both(with(9, 1), "tied groups: lies outside of the file");
    both(with(8, 1), "tiles: lies outside of the file");
    let many = |file: &mut Forged| file.more.extend((40..330).map(|kind| (kind, 1, vec![])));
    both(refusals_of(tied(), many), "header: has 299 sections, which no file of version 1 has");
    // A section that is skipped is checked by `verify`.
    let mut skipped = tied();
    skipped.more.push((40, 1, b"new".to_vec()));
    let mut bytes = skipped.bytes();
    *bytes.last_mut().unwrap() ^= 1;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("it.lmx");
    std::fs::write(&path, bytes).unwrap();
    LabelMatrix::map(&path).unwrap();
    for refused in [LabelMatrix::verify(&path), LabelMatrix::read(&path).map(drop)] {
        let message = refused.unwrap_err().to_string();
        assert!(
            message.ends_with("it.lmx: unknown: the checksum does not match: the file is damaged"),
            "{message}"
        );
    }
}

/// Gives the first query `documents` documents of its first code.
fn judge(file: &mut Forged, documents: u32) {
    file.set_word(JUDGED, file.counts().start, documents);
}

/// The most judged documents; a number for each would far exceed the limit of this binary.
#[test]
fn as_many_judged_documents_as_there_may_be() {
    let [mut many, mut most] = [small(), small()];
    // The last code of the first query is its best grade.
    let best = many.counts().start + 2;
    let documents = 1 << by_default(21, 23);
    many.set_word(JUDGED, best, documents);
    most.set_word(JUDGED, best, MAX_JUDGED as u32 - 4);
    let measure_list =
        |names: &str| names.split(' ').map(|name| name.parse().unwrap()).collect::<Vec<Measure>>();
    let walking =
        measure_list("nDCG IDCG(gain=exp2) G nDCGrel RnDCG Compat Compat(p=1) nDCG@4294967294");
    let counting = measure_list(
        "P@5 AP R@5 Rprec(mult=1000) IPrec11 Bpref InfAP YAAP SetF nDCG@4 IDCG@100000 NumRel \
         Utility BinG",
    );
    let [mut exact_many, mut exact_most] = [exact(), exact()];
    for (file, documents) in
        [(&mut exact_many, documents), (&mut exact_most, MAX_JUDGED as u32 - 1)]
    {
        // The best grade of the second query, beside one document of another.
        file.set_word(JUDGED, file.counts().start + 1, documents + 1);
        file.more[0].2[4 * (COUNTS + 255)..4 * ROW_ENDS].copy_from_slice(&documents.to_le_bytes());
    }
    let files =
        [(many, &walking), (most, &counting), (exact_many, &walking), (exact_most, &counting)];
    for (file, measures) in files {
        forged(&file, |path| {
            LabelMatrix::verify(path).unwrap();
            let matrix = LabelMatrix::map(path).unwrap();
            let [cpu, reference] = [EngineChoice::Cpu, EngineChoice::Reference]
                .map(|engine| evaluate(&matrix, measures, engine, View::default()));
            for ((measure, cpu), (_, reference)) in values(&cpu).zip(values(&reference)) {
                assert_eq!(cpu.to_bits(), reference.to_bits(), "{measure}: {cpu} and {reference}");
            }
        });
    }
}

/// Two queries in two runs, with exact grades. The first query has the grades 0, 0.25, … 63.25, the
/// second 0.5 once and 1 twice.
fn exact() -> Forged {
    let file = exact_of([1.0, 1.0, 0.5]);
    assert_eq!(
        (file.more[0].0, file.more[0].1, file.more[0].2.len()),
        (11, 2, 4 * ROW_GRADES + 6 * 8)
    );
    file
}

/// As [`exact`], with these grades of the second query.
fn exact_of(few: [f64; 3]) -> Forged {
    let many = (0..254).map(|n| ("a", format!("d{n}"), f64::from(n) / 4.0));
    let few = ["d1", "d2", "d3"].into_iter().zip(few);
    let few = few.map(|(document, grade)| ("b", document.to_owned(), grade));
    let qrels = Qrels::new(many.chain(few)).unwrap();
    let first = [
        ("a", "d1", 9.0),
        ("a", "d2", 8.0),
        ("a", "x", 7.0),
        ("a", "d3", 6.0),
        ("b", "d1", 2.0),
        ("b", "d2", 1.0),
    ];
    let last = [("b", "d3", 1.0)];
    let runs = [("first".to_owned(), first.to_vec()), ("last".to_owned(), last.to_vec())];
    let matrix = Join::default().rankings(&qrels, runs).unwrap();
    Forged::parse(&file(&matrix))
}

/// The places of words among the exact grades of [`exact`].
const EXTENT: usize = 0;
const SIZES: usize = 4;
const QUERY_ENDS: usize = 8;
const GRADES: usize = 12;
const COUNTS: usize = GRADES + 2 * 256;
const ROW_ENDS: usize = COUNTS + 256;
const ROW_GRADES: usize = ROW_ENDS + 8;

/// Sets 8 bytes from a word on.
fn set(file: &mut Forged, word: usize, to: [u8; 8]) {
    file.more[0].2[4 * word..4 * word + 8].copy_from_slice(&to);
}

/// Returns the errors of `verify` and of opening, where these grades are others.
fn exact_with(grades: &[(usize, f64)]) -> [String; 2] {
    refusals_of(exact(), |file| {
        grades.iter().for_each(|&(word, to)| set(file, word, to.to_le_bytes()))
    })
}

/// Returns the errors of `verify` and of opening, where these numbers are others.
fn exact_with_numbers(numbers: &[(usize, u64)]) -> [String; 2] {
    refusals_of(exact(), |file| {
        numbers.iter().for_each(|&(word, to)| set(file, word, to.to_le_bytes()))
    })
}

#[test]
fn exact_grades_that_cannot_be_are_refused_when_the_file_is_opened() {
    let both = |found: [String; 2], message: &str| {
        let message = format!("exact grades: {message}");
        assert_eq!(found, [message.clone(), message]);
    };
    let outside = "the grades are outside of their extent";
    for least in [0.0, 0.26, -1.0, f64::NAN, f64::INFINITY] {
        both(exact_with(&[(EXTENT, least)]), outside);
    }
    for largest in [0.0, 63.0, -1.0, f64::NAN, f64::INFINITY] {
        both(exact_with(&[(EXTENT + 2, largest)]), outside);
    }
    // Grades of queries that a matrix does not have may belong to its extent.
    assert_eq!(exact_with(&[(EXTENT, 0.1), (EXTENT + 2, 64.0)]), ["ok", "ok"]);
    let order = "query 1: its grades are not finite, distinct and ascending";
    for grade in [-0.0, -1.0, 0.25, 0.3, f64::NAN, f64::INFINITY] {
        both(exact_with(&[(GRADES, grade)]), order);
    }
    for grade in [-0.0, -1.0, 63.0, f64::NAN, f64::INFINITY] {
        both(exact_with(&[(GRADES + 2 * 253, grade)]), order);
    }
    let no_grades = "the grades of the rows are no grades, or do not fit their ends";
    for grade in [-0.0, -1.0, f64::NAN, f64::INFINITY] {
        both(exact_with(&[(ROW_GRADES, grade)]), no_grades);
    }
    let (columns, early) = ("ends, grades and counts do not fit together", "ends too early");
    both(
        exact_with_numbers(&[(QUERY_ENDS, 255)]),
        "query 1: its grades are not finite, distinct and ascending",
    );
    both(
        exact_with_numbers(&[(QUERY_ENDS, 253)]),
        "query 1: not every judged document has an exact grade",
    );
    both(exact_with_numbers(&[(QUERY_ENDS, 257)]), columns);
    both(exact_with_numbers(&[(QUERY_ENDS, u64::MAX)]), columns);
    both(exact_with_numbers(&[(QUERY_ENDS + 2, 255)]), columns);
    for end in [7, u64::MAX] {
        both(exact_with_numbers(&[(ROW_ENDS + 6, end)]), no_grades);
        both(exact_with_numbers(&[(ROW_ENDS, end)]), no_grades);
    }
    both(exact_with_numbers(&[(ROW_ENDS + 6, 5)]), no_grades);
    both(exact_with_numbers(&[(ROW_ENDS, 5)]), "row 1: 5 exact grades of 4 results");
    // The third row has no results, and so no lane where `verify` would look.
    both(exact_with_numbers(&[(ROW_ENDS + 4, 6)]), "row 3: 1 exact grades of 0 results");
    for size in [7, 1 << 40, u64::MAX / 8, u64::MAX] {
        both(exact_with_numbers(&[(SIZES, size.max(257))]), early);
        both(exact_with_numbers(&[(SIZES + 2, size)]), early);
    }
    both(exact_with_numbers(&[(SIZES + 2, 5)]), "8 bytes too many");
    let counted = |word: usize, to: u32| {
        refusals_of(exact(), |file| {
            file.more[0].2[4 * word..4 * word + 4].copy_from_slice(&to.to_le_bytes())
        })
    };
    both(counted(COUNTS, 0), order);
    for count in [2, u32::MAX] {
        both(counted(COUNTS, count), "query 1: not every judged document has an exact grade");
    }
    both(counted(COUNTS + 255, 1), "query 2: not every judged document has an exact grade");
    let judged = refusals_of(exact(), |file| judge(file, 253));
    both(judged, "query 1: not every judged document has an exact grade");
    for book in [&[1.0][..], &[], &[0.0, 1.0]] {
        let edit = |file: &mut Forged| {
            let grades = book.iter().flat_map(|grade: &f64| grade.to_le_bytes());
            file.sections[BOOK] =
                (book.len() as u32).to_le_bytes().into_iter().chain(grades).collect();
        };
        let [found, _] = refusals_of(exact(), edit);
        // Without a grade in the codebook nothing can be judged.
        let message = if book.is_empty() {
            "judged counts: query 1 of 2: code 3 where one from 2 to 2 was expected"
        } else {
            "exact grades: beside a codebook of other grades than 0"
        };
        assert_eq!(found, message, "{book:?}");
    }
    for length in 0..exact().more[0].2.len() {
        if length % 7 == 0 || length > 4 * ROW_ENDS {
            both(refusals_of(exact(), |file| file.more[0].2.truncate(length)), early);
        }
    }
}

/// Behind an odd number of counts the grades of rows are not aligned, and are copied: the same is
/// said of them.
#[test]
fn exact_grades_that_are_copied_are_refused_as_those_that_stay_in_the_file() {
    let first = ROW_GRADES - 3; // one distinct grade less, of three words
    let with = |word: usize, to: f64| {
        refusals_of(exact_of([1.0; 3]), |file| {
            assert_eq!(file.more[0].2.len(), 4 * first + 6 * 8);
            set(file, word, to.to_le_bytes());
        })
    };
    for word in (first..).step_by(2).take(6) {
        for grade in [-0.0, -1.0, f64::NAN, f64::INFINITY] {
            let message =
                "exact grades: the grades of the rows are no grades, or do not fit their ends";
            assert_eq!(with(word, grade), [message; 2]);
        }
    }
    assert_eq!(with(first, 1.0), ["ok", "ok"]);
    let [verified, opened] = with(first, 63.5);
    assert!(
        verified.ends_with("more documents of grade 63.5 than are judged so for its query"),
        "{verified}"
    );
    assert_eq!(opened, "ok");
}

/// Nobody may write to a file that is mapped. If grades change nevertheless after they were
/// checked, values are others, and nothing else happens.
#[cfg(unix)]
#[test]
fn exact_grades_that_change_while_they_are_used() {
    for grades in
        [[f64::NAN; 2], [f64::INFINITY, 0.0], [60.0, 1.0], [1.0, 60.0], [-5.0, f64::NEG_INFINITY]]
    {
        forged(&exact(), |path| {
            let matrix = LabelMatrix::map(path).unwrap();
            let mut other = exact();
            for (n, word) in
                (GRADES..COUNTS).chain(ROW_GRADES..ROW_GRADES + 12).step_by(2).enumerate()
            {
                set(&mut other, word, grades[n % 2].to_le_bytes());
            }
            let mut file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
            std::io::Write::write_all(&mut file, &other.bytes()).unwrap();
            let measures = every_measure(&matrix);
            for engine in [EngineChoice::Cpu, EngineChoice::Reference] {
                let scores = evaluate(&matrix, &measures, engine, View::default());
                assert!(values(&scores).count() >= measures.len());
            }
        });
    }
}

/// Opening does not look at labels: only `verify` refuses these files.
#[test]
fn exact_grades_that_the_judgments_do_not_allow_are_refused_by_verify() {
    let verify = |found: [String; 2], lane: usize, message: &str| {
        assert_eq!(found, [format!("tiles: tile 0, lane {lane}: {message}"), "ok".to_owned()]);
    };
    let more = |grade: f64| {
        format!("the ranking has more documents of grade {grade} than are judged so for its query")
    };
    // The first ranking is the deepest, and its grades are 0.25, 0.5 and 0.75; the second has 1
    // twice, the last 0.5.
    for grade in [0.3, 0.5, 1e-300, 63.5, 2000.0, f64::MAX] {
        verify(exact_with(&[(ROW_GRADES, grade)]), 0, &more(grade));
    }
    assert_eq!(exact_with(&[(ROW_GRADES + 10, 1.0)]), ["ok", "ok"]);
    verify(exact_with(&[(ROW_GRADES + 6, 0.25)]), 1, &more(0.25));
    verify(exact_with(&[(ROW_GRADES + 6, 0.5), (ROW_GRADES + 8, 0.5)]), 1, &more(0.5));
    let fewer = refusals_of(exact(), |file| {
        set(file, SIZES + 2, 5u64.to_le_bytes());
        (0..4)
            .zip([2u64, 4, 4, 5])
            .for_each(|(row, end)| set(file, ROW_ENDS + 2 * row, end.to_le_bytes()));
        file.more[0].2.drain(4 * (ROW_GRADES + 4)..4 * (ROW_GRADES + 6));
    });
    verify(fewer, 0, "3 judged documents with 2 exact grades");
    verify(exact_with_numbers(&[(ROW_ENDS, 4)]), 0, "3 judged documents with 4 exact grades");
    let unjudged = refusals_of(exact(), |file| file.sections[TILES][1] = 1);
    verify(unjudged, 0, "2 judged documents with 3 exact grades");
    let judged = refusals_of(exact(), |file| file.sections[TILES][2] = 3);
    verify(judged, 0, "4 judged documents with 3 exact grades");
}

/// A bit of exact grades that was flipped on purpose gives an error, or values on which the engines
/// agree, or is found by `verify`.
#[test]
fn every_bit_of_exact_grades() {
    let sound = exact();
    let measures = "nDCG DCG@2 CG(gain=exp2) nDCG(gain=exp2)@3 AP P@2 ERR(gmax=auto) \
                    RBP(gain=grade) G Compat RnDCG Bpref INST(gain=grade)";
    let measures: Vec<Measure> = measures.split(' ').map(|name| name.parse().unwrap()).collect();
    let bytes =
        (0..sound.more[0].2.len()).filter(|at| !(4 * GRADES + 64..4 * COUNTS - 64).contains(at));
    for (at, bit) in some(bytes.flat_map(|at| (0..8).map(move |bit| (at, bit)))) {
        let mut flipped = sound.clone();
        flipped.more[0].2[at] ^= 1 << bit;
        forged(&flipped, |path| {
            let (verified, opened) = (LabelMatrix::verify(path), LabelMatrix::map(path));
            let Ok(matrix) = opened else { return assert!(verified.is_err()) };
            let admitted = |measure: &&Measure| measure.recipe(matrix.codebook()).is_ok();
            let measures: Vec<Measure> = measures.iter().filter(admitted).cloned().collect();
            let [cpu, reference] = [EngineChoice::Cpu, EngineChoice::Reference]
                .map(|engine| evaluate(&matrix, &measures, engine, View::default()));
            for ((measure, cpu), (_, reference)) in values(&cpu).zip(values(&reference)) {
                let same = cpu.to_bits() == reference.to_bits();
                assert!(
                    same || verified.is_err(),
                    "{measure} at {at}, {bit}: {cpu} and {reference}"
                );
            }
        });
    }
}

/// A file may claim to have ties and exact grades, which no matrix has. Its values over the orders
/// of equal scores are refused.
#[test]
fn ties_beside_exact_grades() {
    let mut both = exact();
    let counts = [2u64, 1, 1, 2, 0, 0, 0, 0];
    let (sizes, ends) = ([1u64, 1, 0, 0], [1u64]);
    let numbers = counts.iter().chain(&sizes).chain(&ends).flat_map(|number| number.to_le_bytes());
    let words = [0u32, 1, 2].into_iter().flat_map(u32::to_le_bytes);
    both.more.insert(0, (9, 1, numbers.chain(words).collect()));
    forged(&both, |path| {
        LabelMatrix::verify(path).unwrap();
        let matrix = LabelMatrix::map(path).unwrap();
        assert!(matrix.tied_groups().is_some() && matrix.exact().is_some());
        let over = Evaluator::new(["nDCG", "AP"]).unwrap().with_tied_value(TiedValue::Average);
        let error = over.evaluate(&matrix).unwrap_err().to_string();
        assert!(
            error.starts_with(
                "values over the orders of equal scores need at most 253 distinct grades"
            ),
            "{error}"
        );
        survives(path, View::default()).unwrap();
    });
}

/// Weights for all the ranks of one deep ranking would go beyond the limit, a hundred times over.
#[test]
fn many_discounts_over_a_deep_ranking() {
    let query = Query { rankings: vec![vec![3; 300_000]], unretrieved: vec![] };
    let matrix = matrix(&Shape { grades: vec![1.0], queries: vec![query] });
    let measures: Vec<Measure> =
        (1..1000).map(|p| format!("RBP(p=0.{p:03})@10").parse().unwrap()).collect();
    let [cpu, reference] = [EngineChoice::Cpu, EngineChoice::Reference]
        .map(|engine| evaluate(&matrix, &measures, engine, View::default()));
    for ((measure, cpu), (_, reference)) in values(&cpu).zip(values(&reference)) {
        assert_eq!(cpu.to_bits(), reference.to_bits(), "{measure}");
    }
}

/// Numbers of a summary are not trusted: bytes with a fitting checksum give an error, or a summary
/// that can be used.
#[cfg(feature = "serde")]
#[test]
fn numbers_in_a_summary_cost_nothing() {
    use laneval::Summary;
    let query = |labels: &[u8]| Query { rankings: vec![labels.to_vec()], unretrieved: vec![4] };
    let shape =
        Shape { grades: vec![0.0, 1.0], queries: vec![query(&[3, 4]), query(&[]), query(&[4])] };
    let summary = Evaluator::new(["AP", "GMAP"]).unwrap().summary(&matrix(&shape)).unwrap();
    let used = |read: laneval::Result<Summary>| {
        if let Ok(read) = read {
            let _ = read.scores(&[]);
            assert_eq!(Summary::from_bytes(&read.to_bytes()).unwrap(), read);
            let _ = read.clone().merge(&summary);
        }
    };
    // Magic, version and checksum come before the body.
    let bytes = summary.to_bytes();
    let body = &bytes[28..];
    for at in 0..body.len() {
        for number in [
            &[255, 255, 255, 255, 255, 255, 255, 255, 255, 1][..],
            &[255, 255, 255, 255, 15],
            &[128, 128, 128, 128, 8],
        ] {
            let forged = [&body[..at], number, &body[at + 1..]].concat();
            let hash = xxhash_rust::xxh3::xxh3_64(&forged).to_le_bytes();
            used(Summary::from_bytes(&[&bytes[..20], &hash, &forged].concat()));
        }
    }
    let json = summary.to_json();
    for sum in ["0x1p2147483647", "0x1p-2147483648", "-0x1p2147483647"] {
        for field in ["sum", "squares", "logarithms"] {
            let start = json.find(&format!("\"{field}\": \"")).unwrap();
            let value = start + field.len() + 5;
            let end = value + json[value..].find('"').unwrap();
            assert!(
                Summary::from_json(&[&json[..value], sum, &json[end..]].concat()).is_err(),
                "{field}"
            );
        }
    }
}

/// An evaluation of batches takes the memory of one batch, however many there are: four million
/// rankings would exceed the limit with 64 bytes each.
#[test]
fn batches_of_a_stream_leave_nothing_behind() {
    let (batches, rows, depth) = (40, 100_000, 10);
    let labels: Vec<u8> = (0..rows * depth).map(|at| u8::from(at % 7 == 0)).collect();
    let rankings = Rankings::labels(&labels, arrays::Shape::dense(depth)).unwrap();
    let evaluator = Evaluator::new(["RR"]).unwrap();
    let mut stream = evaluator.stream(&rankings.codebook().unwrap()).unwrap();
    (0..batches).for_each(|_| stream.push(&rankings).unwrap());
    let scores = stream.finish().unwrap().scores(&[]).unwrap();
    assert_eq!(scores.runs[0].queries, batches * rows);
    assert!(scores.runs[0].average(0).is_some_and(|average| average > 0.1));
}

/// Judgments by facet of two queries in two runs, of which the second has only one ranking.
fn grouped(by: FacetKind) -> Forged {
    let text = |text: &str| Input::Bytes { name: "text".to_owned(), bytes: text.into() };
    let qrels = "a g s d1 2\na g t d2 1\na g s d2 1\na h s d1 0\nb h s d3 -1\nb g t d1 1\n";
    let qrels = if by == FacetKind::Preference {
        qrels.to_owned()
    } else {
        "a g d1 2\na g d2 1\na h d1 0\nb h d3 -1\nb g d1 1\nb h d1 2\n".to_owned()
    };
    let runs = ["a Q0 d1 1 3 t\na Q0 x 2 2 t\na Q0 d2 3 1 t\nb Q0 d3 1 1 t\n", "a Q0 d2 1 1 t\n"];
    let (qrels, runs) = match by {
        FacetKind::Span => {
            let gold = "query,doc,start,end,grade\na,d1,0,20,1\na,d1,10,30,2\nb,d2,5,9,1\n";
            let run =
                "query,doc,start,end,score\na,d1,0,15,3\na,x,0,9,2\na,d1,10,40,1\nb,d2,0,9,1\n";
            (gold.to_owned(), [run, "query,doc,start,end,score\na,d1,0,9,1\n"])
        }
        _ => (qrels, runs),
    };
    let runs =
        runs.into_iter().enumerate().map(|(at, run)| RunInput::named(at.to_string(), text(run)));
    let join = Join { judged_by: Some(by), ..Join::default() };
    let found = Forged::parse(&file(&join.files(text(&qrels), runs).unwrap()));
    assert_eq!(found.more[0].0, if by == FacetKind::Span { 14 } else { 12 });
    found
}

/// Forged judgments by facet give an error, or values on which the engine and the plain functions
/// agree if the file is said to be sound.
#[test]
fn whatever_judgments_by_group_say() {
    for (_, by) in FacetKind::ALL {
        let sound = grouped(by);
        let measures = properties::every_grouped(by).into_iter();
        let measures: Vec<Measure> = measures.step_by(7).collect();
        let survives = |changed: &Forged, view: View| {
            forged(changed, |path| {
                let (opened, verified) = (LabelMatrix::map(path), LabelMatrix::verify(path));
                let Ok(matrix) = opened else { return assert!(verified.is_err()) };
                // Kinds of groups may be exchanged, and preferences go round in a circle.
                let [cpu, reference] = [EngineChoice::Cpu, EngineChoice::Reference].map(|engine| {
                    let evaluator = Evaluator::from_measures(measures.clone())
                        .with_engine(engine)
                        .with_view(view);
                    evaluator.with_per_query(true).allow_non_finite(true).evaluate(&matrix)
                });
                assert_eq!(cpu.is_ok(), reference.is_ok());
                if let (Ok(cpu), Ok(reference), Ok(())) = (cpu, reference, verified) {
                    for ((measure, cpu), (_, reference)) in values(&cpu).zip(values(&reference)) {
                        assert_eq!(
                            cpu.to_bits(),
                            reference.to_bits(),
                            "{measure}: {cpu} and {reference}"
                        );
                        assert!(ranges::holds(measure, cpu), "{measure} is {cpu}");
                    }
                }
            });
        };
        survives(&sound, View::default());
        let views = [View::default(), View { depth: Some(2), judged_only: true }];
        let length = sound.more[0].2.len();
        for at in 0..length {
            let mut short = sound.clone();
            short.more[0].2.truncate(at);
            assert!(forged(&short, |path| LabelMatrix::map(path)).is_err());
            for bit in [0, 7] {
                let mut flipped = sound.clone();
                flipped.more[0].2[at] ^= 1 << bit;
                survives(&flipped, views[(at + bit) % 2]);
            }
        }
        for at in (0..length - 8).step_by(4) {
            for number in [0, 1, 1 << 31, 1 << 40, u64::MAX / 24, u64::MAX, f64::MAX.to_bits()] {
                let mut other = sound.clone();
                other.more[0].2[at..at + 8].copy_from_slice(&number.to_le_bytes());
                survives(&other, views[at / 4 % 2]);
            }
        }
        for at in 0..sound.sections[TILES].len().min(256) {
            for label in [0, 1, 2, 3, 4, 255] {
                let mut other = sound.clone();
                other.sections[TILES][at] = label;
                survives(&other, views[at % 2]);
            }
        }
    }
}

/// Opening does not compare labels with judgments by facet: only `verify` does.
#[test]
fn labels_that_are_not_those_of_the_largest_grade_are_refused_by_verify() {
    let with = |by, labels: &[(usize, u8)]| {
        refusals_of(grouped(by), |file| {
            labels.iter().for_each(|&(at, to)| file.sections[TILES][at] = to)
        })
    };
    let verify = |labels: &[(usize, u8)], message: &str| {
        let expected = [format!("tiles: tile 0, lane 0: {message}"), "ok".to_owned()];
        assert_eq!(with(FacetKind::Subtopic, labels), expected);
    };
    // The first ranking has a document of the best grade, one that is not in the qrels, and one of
    // the lowest grade.
    verify(&[(0, 1)], "1 documents of the qrels with 2 numbers");
    verify(&[(0, 3), (2, 4)], "document 0 has code 3, which is not that of its largest grade");
    assert_eq!(with(FacetKind::Preference, &[(0, 3), (2, 4)]), ["ok", "ok"]);
}
