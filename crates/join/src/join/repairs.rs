//! Why hardly a retrieved document is judged: one change of all ids makes most documents judged.
//!
//! A few ids of the first queries are kept. If fewer than a tenth of these ids are judged, the ids
//! of qrels and run are changed in several ways (letters made small, zeros in front dropped, …).
//! Each change is followed by a new count of matches. A change that gives ten times as many matches
//! is named, with a pair of ids. The check costs nothing where documents are judged, and otherwise
//! a millisecond or two a run.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::qrels::Qrels;
use crate::error::printable;
use crate::ids::Ids;
use crate::matrix::code::UNPOOLED;
use crate::record::packed::{Docnos, Record};

/// The number of queries of a worker whose ids are kept.
const QUERIES: usize = 16;
/// The number of ids of a query that are kept.
const IDS: usize = 64;
/// The longest beginning or end of ids that is looked at.
const LONGEST: usize = 32;

/// Some retrieved ids of queries of which hardly any document is judged.
#[derive(Debug, Clone, Default)]
pub(crate) struct RetrievedSample {
    /// The number of sampled queries.
    queries: usize,
    /// The number of sampled ids; `judged` counts the judged ids among the sample.
    looked_at: u64,
    judged: u64,
    /// The queries of which ids are kept, with the number of their ids.
    kept: Vec<(u32, usize)>,
    ids: Ids,
}

impl RetrievedSample {
    /// Whether more queries are wanted.
    #[inline(always)]
    pub fn is_open(&self) -> bool {
        self.queries < QUERIES
    }

    /// Looks at the results of a query with these labels.
    #[inline(never)]
    pub fn add(
        &mut self,
        query: u32,
        labels: &[u8],
        record: impl Fn(usize) -> Record,
        docnos: Docnos<'_>,
    ) {
        let some = labels.len().min(IDS);
        let judged = labels[..some].iter().filter(|&&label| label > UNPOOLED).count();
        self.queries += 1;
        self.looked_at += some as u64;
        self.judged += judged as u64;
        if 10 * judged <= some {
            self.kept.push((query, some));
            (0..some).for_each(|at| self.ids.push(docnos.of(&record(at))));
        }
    }

    /// Adds the sample of another worker.
    pub fn merge(&mut self, other: RetrievedSample) {
        self.looked_at += other.looked_at;
        self.judged += other.judged;
        self.kept.extend(other.kept);
        self.ids.append(&other.ids);
    }

    /// The change of ids after which at least ten times as many documents would be judged, in
    /// words.
    pub fn repair(&self, qrels: &Qrels) -> Option<String> {
        if self.looked_at == 0 || 10 * self.judged > self.looked_at {
            return None;
        }
        let judged: Vec<Vec<Vec<u8>>> = self
            .kept
            .iter()
            .map(|&(query, _)| qrels.documents(query).into_iter().map(|(id, _)| id).collect())
            .collect();
        let few = self.judged;
        let most: usize = judged.iter().map(Vec::len).sum();
        if most < 2 || (most as u64) < 10 * few {
            return None;
        }
        let mut ids = self.ids.iter();
        let pairs = std::iter::zip(&self.kept, &judged).map(|(&(_, count), judged)| {
            let known: HashSet<&[u8]> = judged.iter().map(Vec::as_slice).collect();
            IdsOfQuery {
                run: ids.by_ref().take(count).filter(|id| !known.contains(id)).collect(),
                judged,
            }
        });
        let pairs: Vec<IdsOfQuery<'_>> = pairs.collect();
        let enough = |found: &Found<'_>| found.matches >= 2 && found.matches >= 10 * few;
        let found = repairs(&pairs).map(|change| Found::of(change, &pairs)).filter(enough);
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

/// The retrieved ids of a query without a judgment, and the judged ids of the query.
struct IdsOfQuery<'i> {
    run: Vec<&'i [u8]>,
    judged: &'i [Vec<u8>],
}

/// The matches after a change of ids.
struct Found<'i> {
    change: IdChange,
    matches: u64,
    /// The first matching pair: a retrieved id and its judged id.
    pair: [&'i [u8]; 2],
}

impl<'i> Found<'i> {
    fn of(change: IdChange, pairs: &[IdsOfQuery<'i>]) -> Self {
        let mut found = Found { change, matches: 0, pair: [b"", b""] };
        for IdsOfQuery { run, judged } in pairs {
            let key = |id: &'i [u8], side| found.change.key(id, side).filter(|key| !key.is_empty());
            let known: HashMap<Cow<'_, [u8]>, &[u8]> = judged
                .iter()
                .filter_map(|id| Some((key(id, IdSide::Judgments)?, &id[..])))
                .collect();
            let matching = |&id: &&'i [u8]| Some([id, *known.get(&key(id, IdSide::Run)?)?]);
            let fits = |[run, judged]: &[&[u8]; 2]| found.change.fits(run, judged);
            let mut matching = run.iter().filter_map(matching).filter(fits);
            let first = matching.next();
            let count = u64::from(first.is_some()) + matching.count() as u64;
            if let (0, Some(pair)) = (found.matches, first) {
                found.pair = pair;
            }
            found.matches += count;
        }
        found
    }
}

/// The side of an id: qrels or run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IdSide {
    Run,
    Judgments,
}

impl IdSide {
    fn words(self) -> &'static str {
        match self {
            IdSide::Run => "the run",
            IdSide::Judgments => "the judgments",
        }
    }
}

/// A change of ids.
#[derive(Debug, Clone, PartialEq, Eq)]
enum IdChange {
    Case,
    Quotes,
    LeadingZeros,
    PointZero,
    Rounded,
    UnicodeForm,
    /// Dropped from the ids of one side.
    Prefix(Vec<u8>, IdSide),
    Suffix(Vec<u8>, IdSide),
}

impl IdChange {
    /// Returns the id after the change; `None` if the change does not apply.
    fn key<'i>(&self, id: &'i [u8], side: IdSide) -> Option<Cow<'i, [u8]>> {
        match self {
            IdChange::Case => Some(match std::str::from_utf8(id) {
                Ok(id) => Cow::Owned(id.to_lowercase().into_bytes()),
                Err(_) => Cow::Owned(id.to_ascii_lowercase()),
            }),
            IdChange::Quotes => {
                let bare = id.trim_ascii();
                let within = |quote: u8| bare.strip_prefix(&[quote])?.strip_suffix(&[quote]);
                Some(Cow::Borrowed(within(b'"').or(within(b'\'')).unwrap_or(bare)))
            }
            IdChange::LeadingZeros => {
                let zeros = id.iter().take_while(|&&byte| byte == b'0').count();
                Some(Cow::Borrowed(&id[zeros.min(id.len().saturating_sub(1))..]))
            }
            IdChange::PointZero => Some(Cow::Borrowed(id.strip_suffix(b".0").unwrap_or(id))),
            IdChange::Rounded => rounded(id).map(|text| Cow::Owned(text.into_bytes())),
            IdChange::UnicodeForm => {
                Some(Cow::Owned(without_marks(std::str::from_utf8(id).ok()?).into_bytes()))
            }
            IdChange::Prefix(text, of) if *of == side => {
                id.strip_prefix(&text[..]).map(Cow::Borrowed)
            }
            IdChange::Suffix(text, of) if *of == side => {
                id.strip_suffix(&text[..]).map(Cow::Borrowed)
            }
            IdChange::Prefix(..) | IdChange::Suffix(..) => Some(Cow::Borrowed(id)),
        }
    }

    /// Returns whether the change explains that two ids became equal. Exactly one id must be
    /// rounded for `Rounded`, or have combining marks for `UnicodeForm`.
    fn fits(&self, run: &[u8], judged: &[u8]) -> bool {
        let one_is = |is: fn(&[u8]) -> bool| is(run) != is(judged);
        match self {
            IdChange::Rounded => one_is(is_rounded),
            IdChange::UnicodeForm => one_is(|id| String::from_utf8_lossy(id).chars().any(is_mark)),
            _ => true,
        }
    }

    fn words(&self) -> String {
        match self {
            IdChange::Case => "if upper and lower case were the same".to_owned(),
            IdChange::Quotes => "without quotes and blanks around ids".to_owned(),
            IdChange::LeadingZeros => "without zeros in front".to_owned(),
            IdChange::PointZero => {
                "without '.0', which a table of floats adds to integers".to_owned()
            }
            IdChange::Rounded => "if a spreadsheet had not rounded the ids".to_owned(),
            IdChange::UnicodeForm => "in one Unicode form (NFC or NFD)".to_owned(),
            IdChange::Prefix(text, of) => {
                format!("without '{}' in front of the ids of {}", printable(text), of.words())
            }
            IdChange::Suffix(text, of) => {
                format!("without '{}' at the end of the ids of {}", printable(text), of.words())
            }
        }
    }
}

/// The changes that are tried: those of a kind, and each beginning and end that all ids of a side
/// have.
fn repairs<'p>(pairs: &'p [IdsOfQuery<'_>]) -> impl Iterator<Item = IdChange> + 'p {
    let of_kind = [
        IdChange::Case,
        IdChange::Quotes,
        IdChange::LeadingZeros,
        IdChange::PointZero,
        IdChange::Rounded,
        IdChange::UnicodeForm,
    ];
    let common = [IdSide::Run, IdSide::Judgments].into_iter().flat_map(|side| {
        let ids = || {
            pairs.iter().flat_map(
                move |of: &IdsOfQuery<'_>| -> Box<dyn Iterator<Item = &[u8]> + '_> {
                    match side {
                        IdSide::Run => Box::new(of.run.iter().copied()),
                        IdSide::Judgments => Box::new(of.judged.iter().map(|id| &id[..])),
                    }
                },
            )
        };
        let first = ids().next().unwrap_or_default();
        let alike = |length: usize, id: &[u8], at: fn(&[u8], usize) -> Option<&u8>| {
            (0..length.min(id.len())).take_while(|&place| at(id, place) == at(first, place)).count()
        };
        let front = ids()
            .fold(first.len().min(LONGEST), |length, id| alike(length, id, |id, at| id.get(at)));
        let back = ids().fold(first.len().min(LONGEST), |length, id| {
            alike(length, id, |id, at| id.len().checked_sub(at + 1).and_then(|at| id.get(at)))
        });
        // Digits alone are a part of the number.
        let says_something = |text: &&[u8]| !text.iter().all(u8::is_ascii_digit);
        let fronts = (1..=front).map(move |length| &first[..length]).filter(says_something);
        let backs =
            (1..=back).map(move |length| &first[first.len() - length..]).filter(says_something);
        let fronts = fronts.map(move |text| IdChange::Prefix(text.to_vec(), side));
        fronts.chain(backs.map(move |text| IdChange::Suffix(text.to_vec(), side)))
    });
    of_kind.into_iter().chain(common)
}

/// A number as a spreadsheet writes long numbers: six digits and a power of ten.
fn rounded(id: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(id).ok()?;
    let is_integer = text.len() > 6 && text.bytes().all(|byte| byte.is_ascii_digit());
    let number: f64 = text.parse().ok().filter(|_| is_integer || is_rounded(id))?;
    Some(format!("{number:.5e}"))
}

fn is_rounded(id: &[u8]) -> bool {
    id.windows(2).any(|pair| pair.eq_ignore_ascii_case(b"E+"))
}

/// Whether a character is a mark on the letter before it.
fn is_mark(letter: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&letter)
}

/// Drops every character outside ASCII, and each ASCII letter before a combining mark. The result
/// is equal for all Unicode forms of a text.
fn without_marks(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut is_last_kept = false;
    for letter in text.chars() {
        if is_mark(letter) && is_last_kept {
            kept.pop();
        }
        is_last_kept = letter.is_ascii();
        kept.extend(Some(letter).filter(char::is_ascii));
    }
    kept
}

#[cfg(test)]
mod tests {
    use crate::bytes::input::Input;
    use crate::format::Recognised;
    use crate::settings::Join;
    use std::sync::Arc;

    /// What is said of a run with these ids, where those are judged; each query has all of them.
    fn said(run: &[String], judged: &[String]) -> Option<String> {
        let text = |name: &str, bytes: String| Input::Bytes {
            name: name.to_owned(),
            bytes: bytes.into_bytes(),
        };
        let lines = |of: fn(usize, usize, &str) -> String, ids: &[String]| -> String {
            (0..20)
                .map(|query| {
                    ids.iter().enumerate().map(|(at, id)| of(query, at, id)).collect::<String>()
                })
                .collect()
        };
        let qrels = lines(|query, _, id| format!("q{query}\t0\t{id}\t1\n"), judged);
        let run =
            lines(|query, at, id| format!("q{query}\tQ0\t{id}\t{at}\t{}\tt\n", 100 - at), run);
        let recognised = Arc::new(Recognised::default());
        let join = Join { recognised: Some(recognised.clone()), ..Join::default() };
        join.files(text("qrels", qrels), [text("run", run)]).unwrap();
        recognised.all().into_iter().find(|text| text.wrong).map(|text| text.what)
    }

    /// Makes the id of a number.
    type MakeId = fn(usize) -> String;

    fn ids(count: usize, of: MakeId) -> Vec<String> {
        (0..count).map(of).collect()
    }

    #[test]
    fn what_would_make_documents_match_is_named() {
        let plain = |at: usize| format!("doc{}x", 10 * at + 3);
        let cases: [(MakeId, MakeId, &str); 9] = [
            (
                |at| format!("D{at}"),
                |at| format!("d{at}"),
                "if upper and lower case were the same: 'D0' here, 'd0'",
            ),
            (
                |at| format!("{at}.0"),
                |at| format!("{at}"),
                "without '.0', which a table of floats adds to integers: '0.0' here",
            ),
            (|at| format!("{at}"), |at| format!("{at}.0"), "without '.0'"),
            (|at| format!("\"d{at}\""), |at| format!("d{at}"), "without quotes and blanks"),
            (
                |at| format!("{at}"),
                |at| format!("{at:05}"),
                "without zeros in front: '0' here, '00000'",
            ),
            (
                |at| format!("1.{at:02}346E+11"),
                |at| format!("1{at:02}346000000"),
                "if a spreadsheet had not rounded the ids: '1.00346E+11' here, '100346000000' in \
                 the judgments",
            ),
            (|at| format!("caf\u{e9}{at}"), |at| format!("cafe\u{301}{at}"), "in one Unicode form"),
            (
                |at| format!("corpus/{at}"),
                |at| format!("{at}"),
                "without 'corpus/' in front of the ids of the run: 'corpus/0' here, '0' in the \
                 judgments",
            ),
            (
                |at| format!("{at}"),
                |at| format!("{at}.txt"),
                "without '.txt' at the end of the ids of the judgments",
            ),
        ];
        for (run, judged, words) in cases {
            let found = said(&ids(30, run), &ids(30, judged)).unwrap_or_default();
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
                said(&nearly, &ids(30, judged)).is_some_and(|found| found.starts_with("16 of 480")),
                "{words}"
            );
        }
        // Nothing is said where documents match, nor where nothing would make them match.
        assert_eq!(said(&ids(30, plain), &ids(30, plain)), None);
        assert_eq!(said(&ids(30, plain), &ids(30, |at| format!("DOC{}y", 10 * at + 4))), None);
        let half: Vec<String> = (0..30)
            .map(|at| if at % 8 == 0 { plain(at) } else { plain(at).to_uppercase() })
            .collect();
        assert_eq!(said(&half, &ids(30, plain)), None, "an eighth of them match");
        // Digits are a part of a number, and letters without ASCII are none with marks.
        assert_eq!(said(&ids(9, |at| format!("{at}")), &ids(9, |at| format!("7{at}"))), None);
        assert_eq!(
            said(&ids(9, |at| format!("\u{65e5}{at}")), &ids(9, |at| format!("\u{4e2d}{at}"))),
            None
        );
    }
}
