//! A plain slow reader with which the readers are compared, and the properties that hold for any
//! bytes.
//!
//! It uses no test framework, so that other harnesses can take this file as it is.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{Read, Write};

use laneval::error::Problems;
use laneval::{Error, Input, Join, LabelMatrix, ScoreType, TieBreak};

/// A label with its meaning: past the qrels, pooled, or a grade.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Label {
    Unpooled,
    Negative,
    Grade(f64),
}

pub type Rankings = BTreeMap<Vec<u8>, Vec<Label>>;

/// Returns the rankings of one run of a matrix.
pub fn rankings(matrix: &LabelMatrix, run: usize) -> Rankings {
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
        code => Label::Grade(matrix.codebook().grade(code).expect("a code of the book")),
    };
    let queries = matrix.queries();
    (0..queries.len())
        .map(|query| {
            let row = (run * queries.len() + query) as u32;
            (queries.get(query).to_vec(), rows.get(&row).into_iter().flatten().map(label).collect())
        })
        .collect()
}

/// Returns the lines of a text that count, with their numbers.
fn lines(text: &[u8]) -> impl Iterator<Item = (u64, Vec<&[u8]>, &[u8])> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let blank = |byte: &u8| b" \t\x0b\x0c\r".contains(byte);
    text.split(|&byte| byte == b'\n')
        .enumerate()
        .map(move |(at, line)| {
            let fields: Vec<&[u8]> = line.split(blank).filter(|field| !field.is_empty()).collect();
            (at as u64 + 1, fields, line)
        })
        .filter(|(_, fields, _)| fields.first().is_some_and(|first| first[0] != b'#'))
}

fn number(field: &[u8]) -> Option<f64> {
    std::str::from_utf8(field).ok()?.parse().ok().filter(|value: &f64| value.is_finite())
}

/// Returns a score, which may be an infinity in words.
fn score(field: &[u8]) -> Option<f64> {
    let word = std::str::from_utf8(field).ok()?.to_ascii_lowercase();
    match word.trim_start_matches(['+', '-']) {
        "inf" | "infinity" => word.parse().ok(),
        _ => number(field),
    }
}

/// Returns the fault of a line of qrels or of a run: its number of fields, or 0 if a field is not a
/// number; `None` for a right line.
fn fault(fields: &[&[u8]], line: &[u8], run: bool) -> Option<usize> {
    let lone_return = line.trim_ascii_end().contains(&b'\r');
    let fits =
        if run { fields.len() == 6 || fields.len() > 6 && !lone_return } else { fields.len() == 4 };
    if fits {
        if run { score(fields[4]) } else { number(fields[3]) }.is_none().then_some(0)
    } else {
        Some(fields.len())
    }
}

/// The single problem of a text none of whose first lines is right.
enum Foreign {
    No,
    /// It is the other of qrels and run.
    Swapped,
    /// One message, at this line.
    Alike(u64),
}

/// Recognises a text that is neither qrels nor a run. It knows no formats by name.
fn foreign(text: &[u8], run: bool) -> Foreign {
    let first: Vec<_> = lines(text).take(20).collect();
    let faults =
        |run| first.iter().map(|(_, fields, line)| fault(fields, line, run)).collect::<Vec<_>>();
    let here = faults(run);
    if first.is_empty() || here.contains(&None) {
        return Foreign::No;
    }
    if faults(!run).iter().all(Option::is_none) {
        return Foreign::Swapped;
    }
    if first.len() < 3 || here.iter().any(|fault| *fault != here[0]) {
        return Foreign::No;
    }
    let columns = here[0] == Some(3) || run && here[0] == Some(5);
    Foreign::Alike(if columns { 0 } else { first[0].0 })
}

/// Returns the meaning of the text: rankings, or the wrong lines of (qrels, run).
pub fn slowly(qrels: &[u8], run: &[u8], join: Join) -> Result<Rankings, (Vec<u64>, Vec<u64>)> {
    let (mut judged, mut wrong) =
        (BTreeMap::<Vec<u8>, HashMap<Vec<u8>, f64>>::new(), (Vec::<u64>::new(), Vec::<u64>::new()));
    for (line, fields, _) in lines(qrels) {
        match (fields.len(), fields.get(3).copied().and_then(number)) {
            (4, Some(grade)) => {
                let query = judged.entry(fields[0].to_vec()).or_default();
                let first = *query.entry(fields[2].to_vec()).or_insert(grade);
                // The same again counts once.
                if first != grade {
                    wrong.0.push(line);
                }
            }
            _ => wrong.0.push(line),
        }
    }
    let foreigners = (foreign(qrels, false), foreign(run, true));
    match foreigners.0 {
        Foreign::No => {}
        Foreign::Swapped if matches!(foreigners.1, Foreign::Swapped) => {
            return Err((vec![0], vec![]));
        }
        Foreign::Swapped => (judged, wrong.0) = (BTreeMap::new(), vec![0]),
        Foreign::Alike(line) => (judged, wrong.0) = (BTreeMap::new(), vec![line]),
    }
    let mut results = BTreeMap::<Vec<u8>, Vec<(f64, Vec<u8>)>>::new();
    let mut seen = HashSet::<(&[u8], &[u8])>::new();
    let mut any = false;
    for (line, fields, bytes) in lines(run) {
        any = true;
        let score = fields.get(4).copied().and_then(score);
        match score.filter(|_| fault(&fields, bytes, true).is_none()) {
            None => wrong.1.push(line),
            Some(_) if !judged.contains_key(fields[0]) => {}
            Some(score) => {
                let score =
                    if join.score == ScoreType::F32 { f64::from(score as f32) } else { score };
                if seen.insert((fields[0], fields[2])) {
                    results
                        .entry(fields[0].to_vec())
                        .or_default()
                        .push((score, fields[2].to_vec()));
                } else {
                    wrong.1.push(line)
                }
            }
        }
    }
    match foreigners.1 {
        Foreign::No => {}
        Foreign::Swapped => (any, wrong.1) = (true, vec![0]),
        Foreign::Alike(line) => (any, wrong.1) = (true, vec![line]),
    }
    if wrong.0.is_empty() && judged.is_empty() {
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
                TieBreak::DocnoDescending => other.cmp(docno),
                TieBreak::DocnoAscending => docno.cmp(other),
                TieBreak::Input => std::cmp::Ordering::Equal,
                other => unreachable!("no reader reads {other}"),
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

/// One member of gzip.
pub fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// Returns the text plain, as gzip in two members, and as zstd.
pub fn encodings(name: &str, text: &[u8]) -> [Input; 3] {
    let (one, two) = text.split_at(text.len() / 3);
    let texts =
        [text.to_vec(), [gzip(one), gzip(two)].concat(), zstd::encode_all(text, 1).unwrap()];
    texts.map(|bytes| Input::Bytes { name: name.to_owned(), bytes })
}

pub fn problems(error: Error) -> Problems {
    match error {
        Error::Input(problems) => problems,
        other => panic!("no problem of a line: {other}"),
    }
}

/// Compares the readers with the slow one on every encoding.
pub fn check(qrels: &[u8], run: &[u8], join: Join) {
    let expected = slowly(qrels, run, join.clone());
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
                let found: Vec<(&str, u64)> = problems
                    .first
                    .iter()
                    .map(|problem| (problem.file.as_str(), problem.line))
                    .collect();
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

/// Any two texts mean what the slow reader says, or are refused if it refuses them.
pub fn any_text(qrels: &[u8], run: &[u8]) {
    if [qrels, run].iter().all(|text| plain(text).is_ok_and(|plain| plain == *text)) {
        agree([qrels, run], [qrels, run]);
    }
}

/// Any bytes as the file of a run: the text that other decoders find in them means what the slow
/// reader says. If they find none, it is refused.
pub fn any_file(qrels: &[u8], run: &[u8]) {
    let input =
        |name: &str, bytes: &[u8]| Input::Bytes { name: name.to_owned(), bytes: bytes.to_vec() };
    match plain(run) {
        Ok(text) => agree([qrels, run], [qrels, &text]),
        Err(why) => {
            let read = Join::default().files(input("the qrels", qrels), [input("the run", run)]);
            assert!(read.is_err(), "{why}");
        }
    }
}

/// Whether the readers give for the files what the slow one gives for the texts.
fn agree([qrels, run]: [&[u8]; 2], texts: [&[u8]; 2]) {
    let input =
        |name: &str, bytes: &[u8]| Input::Bytes { name: name.to_owned(), bytes: bytes.to_vec() };
    let read = Join::default().files(input("the qrels", qrels), [input("the run", run)]);
    match (read, slowly(texts[0], texts[1], Join::default())) {
        (Ok(matrix), Ok(expected)) => assert_eq!(rankings(&matrix, 0), expected),
        (Err(_), Err(_)) => {}
        (Ok(_), Err(wrong)) => panic!("wrong lines went through: {wrong:?}"),
        (Err(error), Ok(_)) => panic!("refused: {error}"),
    }
}

/// Returns the text in the bytes of a file, decompressed by other decoders.
fn plain(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut text = Vec::new();
    match bytes {
        [0x1f, 0x8b, ..] => {
            let padding = bytes.iter().rev().take_while(|&&byte| byte == 0).count();
            let ends = (bytes.len() - padding..=bytes.len()).rev();
            for end in ends {
                text.clear();
                if flate2::read::MultiGzDecoder::new(&bytes[..end]).read_to_end(&mut text).is_ok() {
                    return Ok(text);
                }
            }
            Err("no gzip".to_owned())
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
            zstd::decode_all(bytes).map_err(|e| e.to_string())
        }
        _ if laneval::lmx::Description::recognises(bytes) => Err("a label matrix".to_owned()),
        _ => Ok(bytes.to_vec()),
    }
}
