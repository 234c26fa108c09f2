//! Files and arguments by whoever wants laneval to fall over: every one is a number or an error, within 256 MiB.
//!
//! An allocation beyond the limit aborts this binary, which is why these tests have one of their own.

use std::alloc::System;
use std::path::Path;

use cap::Cap;
use laneval::internals::label::{Above, MOST_JUDGED};
use laneval::measure::Measure;
use laneval::{EngineChoice, Evaluator, LabelMatrix, Scores, View};
use proptest::prelude::*;

use forge::{Change, DIRECTORY, Forged, JUDGED, ROWS, RULE, TILES};
use matrices::{Query, Shape, matrix, shape};

#[path = "../forge.rs"]
mod forge;
#[path = "../matrices.rs"]
mod matrices;
mod parameters;
#[path = "../ranges.rs"]
mod ranges;
#[path = "../variants.rs"]
mod variants;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, 256 << 20);

/// Every measure that the grades of a matrix admit, walks included.
fn every_measure(matrix: &LabelMatrix) -> Vec<Measure> {
    variants::every_measure(matrix).into_iter().chain(variants::every_walk(matrix)).collect()
}

/// The bytes of the file of a matrix.
fn file(matrix: &LabelMatrix) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sound.lmx");
    matrix.write(&path).unwrap();
    std::fs::read(path).unwrap()
}

/// Writes a forged file for a while.
fn forged<R>(forged: &Forged, test: impl FnOnce(&Path) -> R) -> R {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("forged.lmx");
    std::fs::write(&path, forged.bytes()).unwrap();
    test(&path)
}

/// Three queries in two runs, with some of everything: a negative grade, a missing query, documents that nobody retrieves. The
/// second query has its ideal ranking, with no document to spare.
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
    Forged::of(&file(&matrix(&Shape { grades: vec![0.0, 1.0, 3.0], queries })))
}

fn evaluate(matrix: &LabelMatrix, measures: &[Measure], engine: EngineChoice, view: View) -> Scores {
    let evaluator = Evaluator::of(measures.to_vec()).with_engine(engine).with_view(view);
    evaluator.with_per_query(true).with_not_finite(true).evaluate(matrix).unwrap()
}

/// The value of every measure, run and query.
fn values(scores: &Scores) -> impl Iterator<Item = (&Measure, f64)> {
    let runs = scores
        .runs
        .iter()
        .flat_map(|run| scores.measures.iter().zip(&run.per_query.as_ref().unwrap().values));
    runs.flat_map(|(measure, values)| values.iter().map(move |&value| (measure, value)))
}

/// To walk down more judged documents than this with every measure takes too long here; a test of its own has as many as there
/// may be.
const SLOW: u64 = 1 << 18;

/// Evaluates everything on both engines. Where a file is said to be sound, they agree and every value is in its range.
fn survives(path: &Path, view: View) -> Result<(), TestCaseError> {
    let (read, mapped) = (LabelMatrix::read(path), LabelMatrix::map(path));
    let sound = LabelMatrix::verify(path);
    prop_assert_eq!(read.is_ok(), mapped.is_ok(), "checksums fit, so both believe or neither");
    let Ok(mapped) = mapped else {
        prop_assert!(sound.is_err());
        return Ok(());
    };
    let judged = |query| mapped.facts().of(query).count(Above::RETRIEVED);
    if (0..mapped.facts().len()).any(|query| judged(query) > SLOW) {
        return Ok(());
    }
    let view = View {
        depth: view.depth.filter(|&depth| mapped.rule().depth.is_none_or(|kept| depth <= kept)),
        ..view
    };
    let measures = every_measure(&mapped);
    let cpu = evaluate(&mapped, &measures, EngineChoice::Cpu, view);
    let reference = evaluate(&mapped, &measures, EngineChoice::Reference, view);
    if sound.is_err() {
        return Ok(());
    }
    for ((measure, cpu), (_, reference)) in values(&cpu).zip(values(&reference)) {
        prop_assert_eq!(cpu.to_bits(), reference.to_bits(), "{}: {} and {}", measure, cpu, reference);
        if !overflows(measure, &mapped) {
            prop_assert!(ranges::holds(measure, cpu), "{measure} is {cpu}");
        }
    }
    Ok(())
}

/// May sums of gains be beyond all numbers, though each gain is one?
fn overflows(measure: &Measure, matrix: &LabelMatrix) -> bool {
    matrix.book().max_grade().is_some_and(|grade| grade > 1000.0) && measure.to_string().contains("exp2")
}

/// Numbers at which something may turn over.
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

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let change = (any::<u8>(), any::<u32>(), number()).prop_map(|(kind, at, to)| Change { kind, at, to });
    proptest::collection::vec(change, 0..4)
}

fn views() -> impl Strategy<Value = View> {
    (proptest::option::of(1..9u32), any::<bool>())
        .prop_map(|(depth, judged_only)| View { depth, judged_only })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, max_shrink_iters: 50, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_sections_say(shape in shape(), changes in changes(), view in views()) {
        let mut changed = Forged::of(&file(&matrix(&shape)));
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
    assert_eq!(Forged::of(&file(&matrix)).bytes(), file(&matrix));
}

/// A label may be any byte until someone verifies.
#[test]
fn every_bit_of_a_tile_and_every_measure() {
    let sound = small();
    for at in 0..sound.sections[TILES].len() {
        for bit in 0..8 {
            let mut flipped = sound.clone();
            flipped.sections[TILES][at] ^= 1 << bit;
            forged(&flipped, |path| {
                survives(path, View::default()).unwrap();
            });
        }
    }
}

/// What `verify` and opening say to a change of a file that was sound.
fn refusals(change: impl FnOnce(&mut Forged)) -> [String; 2] {
    let mut changed = small();
    forged(&changed, |path| LabelMatrix::verify(path)).unwrap();
    change(&mut changed);
    let message = |result: laneval::Result<()>| result.map_or_else(|e| e.to_string(), |()| "ok".to_owned());
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
    both(|file| deep(file, u32::MAX), "row lengths: a ranking of 4294967295 results, more than 4294967292");
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
        |file| judge(file, MOST_JUDGED as u32 - 4),
        "judged counts: query 1 of 3: 268435457 judged documents, and the most that a query may have is 268435456",
    );
    let grades = "codebook: the grades are not finite, distinct and ascending";
    for grade in [-0.0, -1.0, 1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(refusals(|file| file.set_grade(0, grade)), [grades; 2], "{grade}");
    }
}

/// What only the labels show, opening leaves to whoever verifies.
#[test]
fn labels_that_the_judgments_do_not_allow_are_refused_by_verify() {
    let tiles = |change: fn(&mut Forged), message: &str| {
        assert_eq!(refusals(change), [&format!("tiles: tile 0, lane 0: {message}"), "ok"]);
    };
    tiles(|file| file.sections[TILES][1] = 0, "the label at rank 2 means nothing in this codebook");
    tiles(|file| file.sections[TILES][1] = 6, "the label at rank 2 means nothing in this codebook");
    let more =
        |code: u8| format!("the ranking has more documents of code {code} than are judged so for its query");
    tiles(|file| file.sections[TILES][..2].fill(2), &more(2));
    tiles(|file| file.sections[TILES][..4].fill(4), &more(4));
    let past = refusals(|file| file.sections[TILES][11] = 1);
    assert_eq!(past, ["tiles: tile 0, lane 2: a label at rank 4, past the end at 2", "ok"]);
    let gap = refusals(|file| file.gaps[TILES] = 1);
    assert_eq!(gap[1], "ok");
}

/// The first query gets so many documents of its first code.
fn judge(file: &mut Forged, documents: u32) {
    file.set_word(JUDGED, file.counts().start, documents);
}

/// So many that a number for each would go far beyond the limit of this binary.
#[test]
fn as_many_judged_documents_as_there_may_be() {
    let [mut many, mut most] = [small(), small()];
    // The last code of the first query is its best grade.
    let best = many.counts().start + 2;
    many.set_word(JUDGED, best, 1 << 25);
    most.set_word(JUDGED, best, MOST_JUDGED as u32 - 4);
    let of = |names: &str| names.split(' ').map(|name| name.parse().unwrap()).collect::<Vec<Measure>>();
    let walking = of("nDCG IDCG(gain=exp2) G nDCGrel RnDCG Compat Compat(p=1) nDCG@4294967294");
    let counting = of(
        "P@5 AP R@5 Rprec(mult=1000) IPrec11 Bpref InfAP YAAP SetF nDCG@4 IDCG@100000 NumRel Utility BinG",
    );
    for (file, measures) in [(many, walking), (most, counting)] {
        forged(&file, |path| {
            LabelMatrix::verify(path).unwrap();
            let matrix = LabelMatrix::map(path).unwrap();
            let [cpu, reference] = [EngineChoice::Cpu, EngineChoice::Reference]
                .map(|engine| evaluate(&matrix, &measures, engine, View::default()));
            for ((measure, cpu), (_, reference)) in values(&cpu).zip(values(&reference)) {
                assert_eq!(cpu.to_bits(), reference.to_bits(), "{measure}: {cpu} and {reference}");
            }
        });
    }
}

/// Weights for all the ranks of one deep ranking would go beyond the limit, a hundred times over.
#[test]
fn many_discounts_over_a_deep_ranking() {
    let query = Query { rankings: vec![vec![3; 300_000]], unretrieved: vec![] };
    let matrix = matrix(&Shape { grades: vec![1.0], queries: vec![query] });
    let measures: Vec<Measure> = (1..1000).map(|p| format!("RBP(p=0.{p:03})@10").parse().unwrap()).collect();
    let [cpu, reference] = [EngineChoice::Cpu, EngineChoice::Reference]
        .map(|engine| evaluate(&matrix, &measures, engine, View::default()));
    for ((measure, cpu), (_, reference)) in values(&cpu).zip(values(&reference)) {
        assert_eq!(cpu.to_bits(), reference.to_bits(), "{measure}");
    }
}

/// Numbers of a summary are claims too: whoever makes its checksum fit gets an error, or a summary that can be used.
#[cfg(feature = "serde")]
#[test]
fn numbers_in_a_summary_cost_nothing() {
    use laneval::Summary;
    let query = |labels: &[u8]| Query { rankings: vec![labels.to_vec()], unretrieved: vec![4] };
    let shape = Shape { grades: vec![0.0, 1.0], queries: vec![query(&[3, 4]), query(&[]), query(&[4])] };
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
            assert!(Summary::from_json(&[&json[..value], sum, &json[end..]].concat()).is_err(), "{field}");
        }
    }
}
