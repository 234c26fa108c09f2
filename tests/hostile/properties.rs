//! Properties that must hold for any bytes: no panic, no allocation beyond reason, and the CPU
//! engine's values are the reference's to the bit.
//!
//! Each fuzz target (`fuzz/`) has one function here, but for the one that needs other programs.
//! `corpus` replays what fuzzing kept. Each returns whether the bytes were read, and compared where
//! two engines compute: where all are refused nothing was tried.

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::OnceLock;

use flate2::Compression;
use flate2::write::GzEncoder;
use laneval::compare::PartialComparison;
use laneval::labels::FileAccess;
use laneval::measure::{Defaults, MEASURES, Measure, parse_list};
use laneval::parts::engine::cpu::Cpu;
use laneval::{
    Dialect, EngineChoice, Evaluator, FacetKind, Input, InputFormat, Join, LabelMatrix,
    ReadOptions, ScoreType, Stat, Summary, TieBreak, View,
};
use xxhash_rust::xxh3::xxh3_64;

use crate::forge::{Change, Forged};
use crate::variants;

/// A small text with a case of each kind: a negative grade, a fraction, a missing query, an ignored
/// one, documents that no run retrieves.
const TEXT: &str = "\
1 0 a 1\n1 0 b 0\n1 0 c 3\n1 0 e -1\n2 0 a 2.5\n2 0 z 1\n3 0 a 1\n%
1 Q0 b 1 9 t\n1 Q0 c 2 8 t\n1 Q0 x 3 6 t\n1 Q0 a 4 6 t\n1 Q0 e 5 5 t\n3 Q0 x 1 2 t\n3 Q0 a 2 1 \
    t\n4 Q0 a 1 1 t\n";

/// Bytes that are taken from the front; 0 once none are left.
pub struct Bytes<'a>(pub &'a [u8]);

impl Bytes<'_> {
    pub fn byte(&mut self) -> u8 {
        self.0.split_off_first().copied().unwrap_or(0)
    }

    fn number<const N: usize>(&mut self) -> u64 {
        (0..N).fold(0, |number, _| number << 8 | u64::from(self.byte()))
    }
}

/// Reads qrels and a run with any settings; the first line `%` stands between them.
pub fn text(data: &[u8]) -> bool {
    let mut bytes = Bytes(data);
    let join = any_join(&mut bytes);
    let Some(matrix) = joined(join, bytes.0, |text| text.to_vec()) else { return false };
    let view = View { depth: None, judged_only: data.len().is_multiple_of(2) };
    assert_same(&matrix, every_measure(&matrix), view)
}

/// Reads qrels and a run, each in any format, recognised or given. They are read, or refused with
/// the name of the wrong file; compressed, the result is the same.
pub fn formats(data: &[u8]) -> bool {
    let mut bytes = Bytes(data);
    const { assert!(InputFormat::ALL.len() < 16, "some formats would never be asked for") };
    let mut read_as = || {
        let format =
            InputFormat::ALL.get(usize::from(bytes.byte() % 16)).map(|(_, format)| *format);
        let columns =
            ["query,doc,score", "query,doc,grade", "doc,-,query,score", "query=q,doc=d,score=s"];
        let columns =
            columns.get(usize::from(bytes.byte() % 16)).and_then(|columns| columns.parse().ok());
        ReadOptions { format, columns, ..ReadOptions::default() }
    };
    let join = Join { qrels_as: read_as(), runs_as: read_as(), ..Join::default() };
    let join = Join { drop_identical_ids: bytes.byte() % 2 == 1, ..join };
    let plain = joined(join.clone(), bytes.0, |text| text.to_vec());
    let packed = joined(join, bytes.0, |text| zstd::encode_all(text, 1).expect("memory"));
    if let (Some(plain), Some(packed)) = (&plain, &packed) {
        assert!(plain.tile_bytes() == packed.tile_bytes() && plain.depths() == packed.depths());
        assert!(plain.fingerprint() == packed.fingerprint());
    }
    plain.is_some()
}

/// Reads judgments by judge, by subtopic or as preferences, and a run. They are read, or refused;
/// every measure that they admit has the reference's values.
pub fn grouped(data: &[u8]) -> bool {
    let mut bytes = Bytes(data);
    let (_, by) = FacetKind::ALL[usize::from(bytes.byte()) % FacetKind::ALL.len()];
    let join = Join { judged_by: Some(by), ..any_join(&mut bytes) };
    let Some(matrix) = joined(join, bytes.0, |text| text.to_vec()) else { return false };
    // Measures of single grades refuse preferences, and one measure that is refused would refuse
    // them all.
    assert_same(&matrix, every_grouped(by), View::default())
}

/// Returns every measure of judgments by these facets; of judges a few, for any measure may be over
/// them.
pub fn every_grouped(by: FacetKind) -> Vec<Measure> {
    let mut measures = variants::every_grouped(by);
    if by == FacetKind::Judge {
        let names = "AP(judges=mean) nDCG(judges=max) ERR(gmax=auto,judges=min) \
                     Compat(judges=mean) Bpref(judges=mean)";
        measures.extend(names.split(' ').map(|name| name.parse::<Measure>().expect("a measure")));
    }
    measures
}

/// Reads qrels and a run as compressed text. Whole, it is read as the plain text is; cut off and
/// changed, it is at most an error.
pub fn compressed(data: &[u8]) -> bool {
    let mut bytes = Bytes(data);
    let (join, gzip) = (any_join(&mut bytes), bytes.byte() % 2 == 0);
    let (at, to, cut) = (bytes.number::<2>() as usize, bytes.byte(), bytes.number::<2>() as usize);
    let compress = |text: &[u8]| {
        if gzip {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            std::io::Write::write_all(&mut encoder, text).expect("memory");
            encoder.finish().expect("memory")
        } else {
            zstd::encode_all(text, 1).expect("memory")
        }
    };
    let plain = joined(join.clone(), bytes.0, |text| text.to_vec());
    let whole = joined(join.clone(), bytes.0, compress);
    // Empty text is not text, however it is packed; bytes that start like a compressed file are
    // read as one.
    if let (Some(plain), Some(whole)) = (&plain, &whole) {
        assert!(plain.tile_bytes() == whole.tile_bytes() && plain.depths() == whole.depths());
        assert!(plain.fingerprint() == whole.fingerprint());
    }
    joined(join, bytes.0, |text| {
        let mut text = compress(text);
        let length = text.len().max(1);
        if let Some(byte) = text.get_mut(at % length) {
            *byte ^= to;
        }
        text.truncate(text.len() - cut % length);
        text
    });
    plain.is_some()
}

/// Reads an argument of `-m`. A measure that parses is printed as text with the same meaning, and
/// its value is a number or an error.
pub fn measure(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let Ok(measures) = parse_list(text, Defaults::default()) else { return false };
    for measure in &measures {
        let printed = measure.to_string();
        assert_eq!(printed.parse::<Measure>().expect("its own name").to_string(), printed);
    }
    let few: Vec<Measure> = measures.into_iter().take(50).collect();
    assert_same(&sound(), few, View::default())
}

/// Reads the fields of a summary, with a checksum that fits, or as JSON. A summary that is read has
/// scores, or an error in their place; it is written as bytes that are read again, and is merged or
/// refused.
pub fn summary(data: &[u8]) -> bool {
    let forged =
        [b"laneval\0summary\n", &1u32.to_le_bytes()[..], &xxh3_64(data).to_le_bytes(), data]
            .concat();
    let json = std::str::from_utf8(data).ok().and_then(|text| Summary::from_json(text).ok());
    let read: Vec<Summary> = json.into_iter().chain(Summary::from_bytes(&forged)).collect();
    for summary in &read {
        _ = summary.scores(&[Stat::Std, Stat::Min, Stat::Max]);
        assert!(Summary::from_bytes(&summary.to_bytes()).expect("its own bytes") == *summary);
        _ = summary.clone().merge(summary);
    }
    !read.is_empty()
}

/// Reads the fields of a part of a comparison, with a checksum that fits. A part that is read is
/// compared, or gives an error; it is written as bytes that are read again, and is merged or
/// refused.
pub fn part(data: &[u8]) -> bool {
    let forged =
        [b"laneval\0compare\n", &1u32.to_le_bytes()[..], &xxh3_64(data).to_le_bytes(), data]
            .concat();
    let Ok(part) = PartialComparison::from_bytes(&forged) else { return false };
    _ = part.comparison();
    assert!(PartialComparison::from_bytes(&part.to_bytes()).expect("its own bytes") == part);
    _ = part.clone().merge(&part);
    true
}

/// Opens a label matrix with changes whose checksums fit. It is refused, or evaluated by every
/// measure; if `verify` calls it sound, its values are those of the reference.
pub fn lmx(data: &[u8]) -> bool {
    let mut bytes = Bytes(data);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("forged.lmx");
    // A matrix with ties, or one with exact grades.
    static SOUND: [OnceLock<Forged>; 2] = [OnceLock::new(), OnceLock::new()];
    let exact = usize::from(bytes.byte() % 2);
    let sound = SOUND[exact].get_or_init(|| {
        [sound, sound_and_exact][exact]().write(&path).expect("a file");
        Forged::parse(&std::fs::read(&path).expect("the same file"))
    });
    let mut forged = sound.clone();
    while !bytes.0.is_empty() {
        let (kind, at, to) = (bytes.byte(), bytes.number::<4>() as u32, bytes.number::<8>());
        forged.change(Change { kind, at, to });
    }
    std::fs::write(&path, forged.bytes()).expect("a file");
    evaluated(&path)
}

fn evaluated(path: &Path) -> bool {
    let Ok(matrix) = LabelMatrix::map(path) else {
        assert!(LabelMatrix::read(path).is_err() && LabelMatrix::verify(path).is_err());
        return false;
    };
    let measures = every_measure(&matrix);
    if LabelMatrix::verify_with(path, FileAccess::Read).is_ok() {
        return assert_same(&matrix, measures, View::default());
    }
    for engine in [EngineChoice::Cpu, EngineChoice::Reference] {
        let mut evaluator = Evaluator::from_measures(measures.clone());
        evaluator = evaluator.with_engine(engine);
        let _ = evaluator.evaluate(&matrix);
    }
    true
}

fn sound() -> LabelMatrix {
    joined(Join { keep_ties: true, ..Join::default() }, TEXT.as_bytes(), |text| text.to_vec())
        .expect("a sound text")
}

/// Returns the matrix of the text with more distinct grades than codes, which a query has that also
/// is in the run.
fn sound_and_exact() -> LabelMatrix {
    let others: String = (1..260).map(|n| format!("4 0 d{n} {}\n", 0.25 * f64::from(n))).collect();
    let grades = others + "4 0 a 3.125\n";
    joined(Join::default(), (grades + TEXT).as_bytes(), |text| text.to_vec()).expect("a sound text")
}

fn any_join(bytes: &mut Bytes<'_>) -> Join {
    Join {
        dialect: [Dialect::Laneval, Dialect::Trec9, Dialect::Trec10][usize::from(bytes.byte() % 3)],
        ties: [
            TieBreak::DocnoDescending,
            TieBreak::DocnoAscending,
            TieBreak::Input,
            TieBreak::Rank,
        ][usize::from(bytes.byte() % 4)],
        score: [ScoreType::F64, ScoreType::F32][usize::from(bytes.byte() % 2)],
        depth: NonZeroU32::new(u32::from(bytes.byte())),
        keep_ties: true,
        ..Join::default()
    }
}

/// Joins qrels and a run, packed by `pack`, and returns the matrix if that succeeds.
pub fn joined(join: Join, text: &[u8], pack: impl Fn(&[u8]) -> Vec<u8>) -> Option<LabelMatrix> {
    let at = text.windows(2).position(|pair| pair == b"%\n")?;
    let input = |name: &str, text| Input::Bytes { name: name.to_owned(), bytes: pack(text) };
    join.files(input("qrels", &text[..at]), [input("run", &text[at + 2..])]).ok()
}

/// Returns every measure that the grades of a matrix admit.
pub fn every_measure(matrix: &LabelMatrix) -> Vec<Measure> {
    static ALL: OnceLock<Vec<Measure>> = OnceLock::new();
    let all = ALL.get_or_init(|| MEASURES.iter().flat_map(variants::variants).collect());
    let known = matrix.tied_groups().is_some();
    let fits = |measure: &&Measure| {
        variants::needs_no_groups(measure)
            && measure.recipe(matrix.codebook()).is_ok()
            && (known || !measure.needs_ties())
    };
    all.iter().filter(fits).cloned().collect()
}

/// Checks that the CPU engine and the reference give the same bits, or both an error; returns
/// whether there were values to compare.
pub fn assert_same(matrix: &LabelMatrix, measures: Vec<Measure>, view: View) -> bool {
    let mut evaluator = Evaluator::from_measures(measures);
    evaluator = evaluator.with_per_query(true);
    evaluator = evaluator.with_view(view);
    let found = evaluator.evaluate_on(&Cpu::new(), matrix);
    evaluator = evaluator.with_engine(EngineChoice::Reference);
    let expected = evaluator.evaluate(matrix);
    let (Ok(found), Ok(expected)) = (&found, &expected) else {
        assert_eq!(found.is_err(), expected.is_err());
        return false;
    };
    assert_eq!(found.runs.len(), expected.runs.len());
    for (found, expected) in found.runs.iter().zip(&expected.runs) {
        let values = |run: &laneval::RunScores| run.per_query.clone().expect("values").values;
        let (found, expected) = (values(found), values(expected));
        assert_eq!([found.len(), expected.len()], [evaluator.measures().len(); 2]);
        for ((measure, found), expected) in evaluator.measures().iter().zip(found).zip(expected) {
            let same =
                |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
            assert_eq!(found.len(), expected.len(), "{measure}");
            assert!(
                found.iter().zip(&expected).all(same),
                "{measure}: {found:?} is not {expected:?}"
            );
        }
    }
    true
}
