//! Judgments as bytes, which one Python process hands on to another.
//!
//! ```text
//! magic, version                 17 bytes, 1 byte
//! checksum                       XXH3 of all that follows, u64
//! dialect, by                    texts: a length (u32, little-endian) and bytes;
//!                                `by` is empty unless judgments are by facet
//! fingerprint                    u128
//! judgments                      query, group, sub-group, document (texts), grade (f64);
//!                                the query is empty if it is the last one again
//! ```
//!
//! A negative grade without groups means only that the document is pooled, and may come back as
//! another negative one. So the fingerprint, which is made of all grades, is stored.

use laneval::{Dialect, FacetKind, Join, Qrels};
use pyo3::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use crate::errors::{OrRaise, new_exception};
use crate::rows::{IdBuffer, OwnedRows};

const MAGIC: &[u8] = b"laneval judgments";
const VERSION: u8 = 1;
/// The bytes before those that the checksum is of.
const HEAD: usize = MAGIC.len() + 1 + size_of::<u64>();

/// The names of dialects.
pub const DIALECTS: [(&str, Dialect); 3] =
    [("laneval", Dialect::Laneval), ("trec9", Dialect::Trec9), ("trec10", Dialect::Trec10)];

/// Writes judgments and their dialect as bytes with a checksum.
pub fn to_bytes(qrels: &Qrels, dialect: Dialect) -> Vec<u8> {
    let mut bytes = [MAGIC, &[VERSION]].concat();
    bytes.resize(HEAD, 0); // the checksum comes at the end
    let name = DIALECTS.iter().find(|entry| entry.1 == dialect).map_or("", |entry| entry.0);
    let by = qrels.judged_by().map_or(String::new(), |by| by.to_string());
    push(&mut bytes, name.as_bytes());
    push(&mut bytes, by.as_bytes());
    bytes.extend_from_slice(&qrels.fingerprint().to_le_bytes());
    let mut last: Option<Vec<u8>> = None;
    qrels.each_judgment(|query, [group, subgroup], doc, grade| {
        let again = last.as_deref() == Some(query);
        if !again {
            last = Some(query.to_vec());
        }
        for text in [if again { b"" } else { query }, group, subgroup, doc] {
            push(&mut bytes, text);
        }
        bytes.extend_from_slice(&grade.to_le_bytes());
    });
    // Computed once all is there, into the room that was left for it: judgments are written in one
    // pass.
    let checksum = xxh3_64(&bytes[HEAD..]).to_le_bytes();
    bytes[HEAD - checksum.len()..HEAD].copy_from_slice(&checksum);
    bytes
}

fn push(bytes: &mut Vec<u8>, text: &[u8]) {
    bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
    bytes.extend_from_slice(text);
}

/// Reads judgments, and the dialect in which they were read, from bytes of [`to_bytes`].
///
/// # Errors
/// Bytes that are no judgments, of another version, or damaged.
pub fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<(Qrels, Dialect)> {
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| unfit(py, "are no judgments of laneval"))?;
    let Some((&version, rest)) = rest.split_first() else { return Err(unfit(py, "end early")) };
    if version != VERSION {
        let known =
            format!("are judgments of version {version}, and this laneval reads version {VERSION}");
        return Err(unfit(py, &known));
    }
    let (checksum, rest) = rest.split_first_chunk().ok_or_else(|| unfit(py, "end early"))?;
    if u64::from_le_bytes(*checksum) != xxh3_64(rest) {
        return Err(unfit(py, "were cut off or changed: their checksum does not fit"));
    }
    let (dialect, by, fingerprint, rows, groups) =
        parse(rest).ok_or_else(|| unfit(py, "are damaged"))?;
    let judged_by = by.is_some();
    let join = Join { dialect, judged_by: by, ..Join::default() };
    // Passages have their positions in the places of groups and sub-groups.
    let positions = (by == Some(FacetKind::Span)).then(|| groups.each_ref().map(positions));
    let positions = match positions {
        Some([Some(starts), Some(ends)]) => Some([starts, ends]),
        Some(_) => return Err(unfit(py, "are damaged")),
        None => None,
    };
    let judged_by = judged_by && positions.is_none();
    let rows = match positions {
        Some([starts, ends]) => rows.with_spans(starts, ends),
        None => rows,
    };
    let qrels = py.detach(|| {
        rows.with_judgments(|batches| {
            let mut judgments = batches.to_vec();
            for batch in &mut judgments {
                batch.group = judged_by.then(|| groups[0].text());
                batch.subgroup = Some(groups[1].text()).filter(|_| judged_by && groups[1].any());
            }
            join.judgments(&judgments)
        })
    });
    Ok((qrels.or_raise(py)?.with_fingerprint(fingerprint), dialect))
}

/// Makes the Python exception `InputError` for bytes that cannot be read as judgments.
fn unfit(py: Python<'_>, why: &str) -> PyErr {
    new_exception(py, "InputError", (format!("these bytes {why}"),))
}

type Parsed = (Dialect, Option<FacetKind>, u128, OwnedRows, [IdBuffer; 2]);

/// Parses stored judgments from the bytes behind the checksum; `None` if the bytes are damaged.
fn parse(mut rest: &[u8]) -> Option<Parsed> {
    let dialect = text(&mut rest)?;
    let dialect = DIALECTS.iter().find(|entry| entry.0.as_bytes() == dialect)?.1;
    let by = match std::str::from_utf8(text(&mut rest)?).ok()? {
        "" => None,
        by => Some(by.parse().ok()?),
    };
    let (fingerprint, mut rest) = rest.split_first_chunk()?;
    let (mut rows, mut groups) = (OwnedRows::default(), <[IdBuffer; 2]>::default());
    while !rest.is_empty() {
        let query = text(&mut rest)?;
        // The first is begun even if it is empty: `push` has a query for each row.
        if !query.is_empty() || rows.len() == 0 {
            rows.begin(query);
        }
        for groups in &mut groups {
            groups.push(text(&mut rest)?);
        }
        let doc = text(&mut rest)?;
        let (grade, others) = rest.split_first_chunk()?;
        rows.push(doc, f64::from_le_bytes(*grade));
        rest = others;
    }
    Some((dialect, by, u128::from_le_bytes(*fingerprint), rows, groups))
}

/// Parses the positions of passages from ids; `None` if an id is no position.
fn positions(ids: &IdBuffer) -> Option<Vec<i64>> {
    (0..ids.len()).map(|at| std::str::from_utf8(ids.get(at)).ok()?.parse().ok()).collect()
}

fn text<'b>(rest: &mut &'b [u8]) -> Option<&'b [u8]> {
    let (length, others) = rest.split_first_chunk()?;
    let (text, others) = others.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    *rest = others;
    Some(text)
}
