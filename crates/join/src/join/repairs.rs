//! A search for a change of all document ids, such as another case, after which retrieved documents
//! are judged.
//!
//! A few ids of the first queries are kept. If fewer than a tenth of these ids are judged, the ids
//! of qrels and run are changed in several ways (letters made small, zeros in front dropped, …).
//! Each change is followed by a new count of matches. A change that gives ten times as many matches
//! is named, with a pair of ids. The check costs nothing where documents are judged, and otherwise
//! a millisecond or two a run.

use std::{borrow::Cow, collections::HashMap, iter::zip};

use super::qrels::Qrels;
use crate::error::printable;
use crate::ids::Ids;
use crate::matrix::code::NOT_IN_QRELS;
use crate::record::layout::{Docnos, Record};

/// The number of queries of a worker whose ids are kept.
const QUERIES: usize = 16;
/// The number of ids of a query that are kept.
const IDS: usize = 64;
/// The longest beginning or end of ids that is looked at.
const LONGEST: usize = 32;

/// A sample of retrieved document ids, of queries of which hardly any document is judged.
#[derive(Default)]
pub struct RetrievedSample {
    /// The number of sampled queries.
    queries: usize,
    /// The number of sampled ids; `judged` counts the judged ids among the sample.
    looked_at: u64,
    judged: u64,
    /// The queries of which ids are kept, with the number of their ids.
    id_counts: Vec<(u32, usize)>,
    ids: Ids,
}

impl RetrievedSample {
    /// Returns whether the sample of retrieved ids takes more queries.
    #[inline(always)]
    pub fn is_open(&self) -> bool {
        self.queries < QUERIES
    }

    /// Counts the judged ones among a query's first results, and samples the ids if hardly any is
    /// judged.
    #[inline(never)]
    pub fn add(
        &mut self,
        query: u32,
        labels: &[u8],
        record: impl Fn(usize) -> Record,
        docnos: Docnos<'_>,
    ) {
        let some = labels.len().min(IDS);
        let judged = labels[..some].iter().filter(|&&label| label > NOT_IN_QRELS).count();
        self.queries += 1;
        self.looked_at += some as u64;
        self.judged += judged as u64;
        // Ids are copied only where few are judged, as in no usual run.
        if 10 * judged <= some {
            self.id_counts.push((query, some));
            (0..some).for_each(|at| self.ids.push(docnos.get(&record(at))));
        }
    }

    /// Adds the sample of retrieved ids of another worker.
    pub fn merge(&mut self, other: RetrievedSample) {
        self.looked_at += other.looked_at;
        self.judged += other.judged;
        self.id_counts.extend(other.id_counts);
        self.ids.append(&other.ids);
    }

    /// Describes the change of ids after which at least ten times as many retrieved documents would
    /// be judged. `None` if no change does so, or enough are judged.
    pub fn repair(&self, qrels: &Qrels) -> Option<String> {
        if self.looked_at == 0 || 10 * self.judged > self.looked_at {
            return None;
        }
        let mut ids = self.ids.iter();
        let pairs = self.id_counts.iter().map(|&(query, count)| {
            let judged: Vec<Vec<u8>> =
                qrels.documents(query).into_iter().map(|(id, _)| id).collect();
            let is_other = |id: &&[u8]| judged.binary_search_by(|known| known[..].cmp(id)).is_err();
            IdsOfQuery { run: ids.by_ref().take(count).filter(is_other).collect(), judged }
        });
        let pairs: Vec<_> = pairs.collect();
        let few = self.judged;
        let most: usize = pairs.iter().map(|pair| pair.judged.len()).sum();
        if most < 2 || (most as u64) < 10 * few {
            return None;
        }
        let found = repairs(&pairs)
            .map(|change| Found::count_matches(change, &pairs))
            .filter(|found| found.matches >= 2 && found.matches >= 10 * few);
        // Of equal counts the first stays: simple changes come before cut beginnings and ends.
        let best =
            found.reduce(|best, next| if next.matches > best.matches { next } else { best })?;
        let [run, judged] = best.pair.map(printable);
        Some(format!(
            "{few} of {} documents that were looked at are judged, and {} more would be {}: \
             '{run}' here, '{judged}' in the judgments",
            self.looked_at,
            best.matches,
            best.change.words(),
        ))
    }
}

/// The retrieved ids of a query that are not judged, and the judged ids of the query.
struct IdsOfQuery<'i> {
    run: Vec<&'i [u8]>,
    /// Sorted.
    judged: Vec<Vec<u8>>,
}

/// The number of retrieved ids that a change of ids makes equal to judged ids, with a first pair.
struct Found<'i> {
    change: IdChange,
    matches: u64,
    /// The first matching pair: a retrieved id and its judged id.
    pair: [&'i [u8]; 2],
}

impl<'i> Found<'i> {
    /// Counts the retrieved ids that a change of ids makes equal to a judged id of their query.
    fn count_matches(change: IdChange, pairs: &'i [IdsOfQuery<'_>]) -> Self {
        let mut found = Self { change, matches: 0, pair: [b"", b""] };
        for pair in pairs {
            let judged = pair.judged.iter().map(Vec::as_slice);
            let known: HashMap<Cow<'_, [u8]>, &[u8]> = judged
                .filter_map(|id| Some((found.change.key(id, IdSide::Judgments)?, id)))
                .collect();
            for &id in &pair.run {
                let key = found.change.key(id, IdSide::Run);
                if let Some(&judged) = key.and_then(|key| known.get(&key))
                    && found.change.fits(id, judged)
                {
                    if found.matches == 0 {
                        found.pair = [id, judged];
                    }
                    found.matches += 1;
                }
            }
        }
        found
    }
}

/// The side that a document id is on: the run or the qrels.
#[derive(Clone, Copy, PartialEq)]
enum IdSide {
    Run,
    Judgments,
}

/// A change of the document ids of both sides: its words, the id after it (`None` if it does not
/// apply), and perhaps what exactly one of two ids that became equal has to be.
type CommonChange = (&'static str, fn(&[u8]) -> Option<Cow<'_, [u8]>>, Option<fn(&[u8]) -> bool>);

const COMMON_CHANGES: [CommonChange; 6] = [
    (
        "if upper and lower case were the same",
        |id| match std::str::from_utf8(id) {
            Ok(id) => Some(id.to_lowercase().into_bytes().into()),
            Err(_) => Some(id.to_ascii_lowercase().into()),
        },
        None,
    ),
    (
        "without quotes and blanks around ids",
        |id| {
            let bare = id.trim_ascii();
            let within = [b'"', b'\'']
                .into_iter()
                .find_map(|quote| bare.strip_prefix(&[quote])?.strip_suffix(&[quote]));
            Some(within.unwrap_or(bare).into())
        },
        None,
    ),
    (
        "without zeros in front",
        |id| {
            let zeros = id.iter().take_while(|&&byte| byte == b'0').count();
            Some(Cow::Borrowed(&id[zeros.min(id.len().saturating_sub(1))..]))
        },
        None,
    ),
    (
        "without '.0', which a table of floats adds to integers",
        |id| Some(id.strip_suffix(b".0").unwrap_or(id).into()),
        None,
    ),
    (
        "if a spreadsheet had not rounded the ids",
        |id| Some(rounded(id)?.into_bytes().into()),
        Some(is_rounded),
    ),
    (
        "in one Unicode form (NFC or NFD)",
        |id| Some(without_marks(std::str::from_utf8(id).ok()?).into_bytes().into()),
        Some(|id| String::from_utf8_lossy(id).chars().any(is_mark)),
    ),
];

/// A change of document ids that may make retrieved and judged ids equal, such as a dropped prefix.
enum IdChange {
    Common(CommonChange),
    /// Dropped from the ids of one side.
    Prefix(Vec<u8>, IdSide),
    Suffix(Vec<u8>, IdSide),
}

impl IdChange {
    /// Returns a document id after the change; `None` if the change does not apply, or leaves
    /// nothing.
    fn key<'i>(&self, id: &'i [u8], side: IdSide) -> Option<Cow<'i, [u8]>> {
        let key: Cow<'i, [u8]> = match self {
            Self::Common((_, changed, _)) => changed(id)?,
            Self::Prefix(text, id_side) if *id_side == side => id.strip_prefix(&text[..])?.into(),
            Self::Suffix(text, id_side) if *id_side == side => id.strip_suffix(&text[..])?.into(),
            Self::Prefix(..) | Self::Suffix(..) => id.into(),
        };
        (!key.is_empty()).then_some(key)
    }

    /// Returns whether a change explains that a retrieved and a judged id became equal. Exactly one
    /// id must be rounded if a spreadsheet did it, or have combining marks for a Unicode form.
    fn fits(&self, run: &[u8], judged: &[u8]) -> bool {
        match self {
            Self::Common((_, _, Some(is_changed))) => is_changed(run) != is_changed(judged),
            _ => true,
        }
    }

    fn words(&self) -> String {
        let (text, side, place) = match self {
            Self::Common((words, ..)) => return (*words).to_owned(),
            Self::Prefix(text, side) => (text, side, "in front"),
            Self::Suffix(text, side) => (text, side, "at the end"),
        };
        let side = if *side == IdSide::Run { "the run" } else { "the judgments" };
        format!("without '{}' {place} of the ids of {side}", printable(text))
    }
}

/// Returns the changes of document ids to try: one of each kind, and cut beginnings and ends that a
/// side shares.
fn repairs(pairs: &[IdsOfQuery<'_>]) -> impl Iterator<Item = IdChange> {
    let run = pairs.iter().flat_map(|pair| pair.run.iter().copied());
    let judged = pairs.iter().flat_map(|pair| pair.judged.iter().map(Vec::as_slice));
    COMMON_CHANGES
        .into_iter()
        .map(IdChange::Common)
        .chain(common_ends(run, IdSide::Run))
        .chain(common_ends(judged, IdSide::Judgments))
}

/// Returns the changes that drop a beginning or an end shared by all document ids of a side (run or
/// qrels).
fn common_ends<'p>(
    mut ids: impl Iterator<Item = &'p [u8]>,
    side: IdSide,
) -> impl Iterator<Item = IdChange> {
    let first = ids.next().unwrap_or_default();
    let mut front = first.len().min(LONGEST);
    let mut back = front;
    for id in ids {
        let ends = zip(first.iter().rev().take(back), id.iter().rev());
        back = ends.take_while(|(one, other)| one == other).count();
        let starts = zip(&first[..front], id);
        front = starts.take_while(|(one, other)| one == other).count();
    }
    // Digits alone are a part of the number.
    let fronts = (1..=front).map(move |length| &first[..length]).filter(|text| !is_number(text));
    let backs = (1..=back).map(move |length| &first[first.len() - length..]);
    let backs = backs.filter(|text| !is_number(text));
    let fronts = fronts.map(move |text| IdChange::Prefix(text.to_vec(), side));
    fronts.chain(backs.map(move |text| IdChange::Suffix(text.to_vec(), side)))
}

/// Returns whether a document id, or a part of one, is digits alone.
fn is_number(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_digit)
}

/// Rounds a number in a document id as a spreadsheet writes it: six digits and a power of ten.
fn rounded(id: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(id).ok()?;
    // A number of six digits or fewer is written out.
    let is_integer = text.len() > 6 && is_number(id);
    let number: f64 = text.parse().ok().filter(|_| is_integer || is_rounded(id))?;
    Some(format!("{number:.5e}"))
}

/// Returns whether a document id looks like a number with a power of ten, as in `1.23E+11`.
fn is_rounded(id: &[u8]) -> bool {
    id.windows(2).any(|pair| pair.eq_ignore_ascii_case(b"E+"))
}

/// Returns whether a character is a combining mark on the letter before it.
fn is_mark(letter: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&letter)
}

/// Drops non-ASCII characters of a text, and ASCII letters before combining marks, to compare
/// Unicode forms. The result is equal for all Unicode forms of a text.
fn without_marks(text: &str) -> String {
    let mut letters = String::with_capacity(text.len());
    let mut is_last_kept = false;
    for letter in text.chars() {
        if is_mark(letter) && is_last_kept {
            letters.pop();
        }
        is_last_kept = letter.is_ascii();
        letters.extend(Some(letter).filter(char::is_ascii));
    }
    letters
}

#[cfg(test)]
mod tests {
    use crate::format::DetectedFormats;
    use crate::settings::Join;
    use crate::test_support::input;
    use std::sync::Arc;

    /// Returns the note on a run with these ids, where the ids `judged` are judged for each query.
    fn repair_sentence(run: &[String], judged: &[String]) -> Option<String> {
        let (mut qrels, mut results) = (String::new(), String::new());
        for query in 0..20 {
            judged.iter().for_each(|id| qrels += &format!("q{query}\t0\t{id}\t1\n"));
            for (at, id) in run.iter().enumerate() {
                results += &format!("q{query}\tQ0\t{id}\t{at}\t{}\tt\n", 100 - at);
            }
        }
        let recognised = Arc::new(DetectedFormats::default());
        let join = Join { recognised: Some(recognised.clone()), ..Join::default() };
        join.files(input("qrels", qrels), [input("run", results)]).unwrap();
        recognised.all().into_iter().find(|text| text.wrong).map(|text| text.what)
    }

    /// Makes the id of a number.
    type MakeId = fn(usize) -> String;

    fn ids(count: usize, make_id: MakeId) -> Vec<String> {
        (0..count).map(make_id).collect()
    }

    #[test]
    fn what_would_make_documents_match_is_named() {
        fn plain(at: usize) -> String {
            format!("doc{}x", 10 * at + 3)
        }
        let number: MakeId = |at| at.to_string();
        let cases: [(MakeId, MakeId, &str); 9] = [
            (
                |at| format!("D{at}"),
                |at| format!("d{at}"),
                "if upper and lower case were the same: 'D0' here, 'd0'",
            ),
            (
                |at| format!("{at}.0"),
                number,
                "without '.0', which a table of floats adds to integers: '0.0' here",
            ),
            (number, |at| format!("{at}.0"), "without '.0'"),
            (|at| format!("\"d{at}\""), |at| format!("d{at}"), "without quotes and blanks"),
            (number, |at| format!("{at:05}"), "without zeros in front: '0' here, '00000'"),
            (
                |at| format!("1.{at:02}346E+11"),
                |at| format!("1{at:02}346000000"),
                "if a spreadsheet had not rounded the ids: '1.00346E+11' here, '100346000000' in \
                 the judgments",
            ),
            (|at| format!("caf\u{e9}{at}"), |at| format!("cafe\u{301}{at}"), "in one Unicode form"),
            (
                |at| format!("corpus/{at}"),
                number,
                "without 'corpus/' in front of the ids of the run: 'corpus/0' here, '0' in the \
                 judgments",
            ),
            (
                number,
                |at| format!("{at}.txt"),
                "without '.txt' at the end of the ids of the judgments",
            ),
        ];
        for (run, judged, words) in cases {
            let found = repair_sentence(&ids(30, run), &ids(30, judged)).unwrap_or_default();
            assert!(
                found.starts_with(
                    "0 of 480 documents that were looked at are judged, and 480 more would be "
                ),
                "{found}"
            );
            assert!(found.contains(words), "{found}");
            // One that matches in 30 is no more than a tenth.
            let mut nearly = ids(30, run);
            nearly[7] = judged(7);
            assert!(
                repair_sentence(&nearly, &ids(30, judged))
                    .is_some_and(|found| found.starts_with("16 of 480")),
                "{words}"
            );
        }
        // Nothing is said where documents match, nor where nothing would make them match. Digits
        // are a part of a number, and letters without ASCII are none with marks.
        let cases: [(usize, MakeId, MakeId); 5] = [
            (30, plain, plain),
            (30, plain, |at| format!("DOC{}y", 10 * at + 4)),
            // An eighth of them match.
            (30, |at| if at % 8 == 0 { plain(at) } else { plain(at).to_uppercase() }, plain),
            (9, number, |at| format!("7{at}")),
            (9, |at| format!("\u{65e5}{at}"), |at| format!("\u{4e2d}{at}")),
        ];
        for (count, run, judged) in cases {
            assert_eq!(repair_sentence(&ids(count, run), &ids(count, judged)), None);
        }
    }
}
