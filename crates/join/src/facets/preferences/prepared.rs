//! The preferences of one query, checked and prepared for counting.

use std::cmp::Ordering;

use super::classes::{ClassMember, Classes};
use super::closure::Closure;
use super::line::{PreferenceFault, PreferenceLine};

/// The place of a document in a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct DocumentPlace {
    /// The index of the group.
    pub(super) group: u32,
    /// The class of the document in a group with one sub-group, 0 being the highest; the index of the document in a group with several.
    pub(super) at: u32,
    /// The number of lines that say so, 1 in a group with several sub-groups.
    pub(super) times: u32,
}

/// A group as it is counted: with one sub-group, or with several.
#[derive(Clone, Debug)]
pub(super) enum PreparedGroup {
    Classes(Classes),
    Closure(Closure),
}

/// The preferences of one query, checked and prepared for counting.
#[derive(Clone, Debug)]
pub struct Preferences {
    pub(super) documents: u32,
    pub(super) groups: Vec<PreparedGroup>,
    /// The places of all documents, those of a document from `starts[document]` to the next start.
    pub(super) places: Vec<DocumentPlace>,
    pub(super) starts: Vec<usize>,
    /// The number of classes of all groups with one sub-group.
    pub(super) classes: usize,
    pub(super) pairs: DistinctPairs,
}

/// The number of pairs of documents with a preference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum DistinctPairs {
    /// As many as there are preferences: no document is in several groups or repeated lines.
    All,
    /// Fewer, as several groups or repeated lines have some of them.
    Fewer(u64),
    /// Fewer, and not counted: values over pairs of documents are 0.
    Unknown,
}

impl Preferences {
    /// As [`Preferences::new`], for measures that are not over pairs of documents.
    pub fn without_pairs(lines: &[PreferenceLine], documents: u32) -> Result<Preferences, PreferenceFault> {
        if lines.len() > u32::MAX as usize {
            return Err(PreferenceFault::TooLarge { bytes: size_of_val(lines) as u64 });
        }
        for (line, at) in lines.iter().enumerate() {
            if at.level.is_nan() {
                return Err(PreferenceFault::Level { line });
            }
            if at.document >= documents {
                return Err(PreferenceFault::Document { line });
            }
        }
        let mut order: Vec<u32> = (0..lines.len() as u32).collect();
        order.sort_unstable_by(|&i, &j| {
            let (a, b) = (&lines[i as usize], &lines[j as usize]);
            (a.group, a.subgroup)
                .cmp(&(b.group, b.subgroup))
                .then(b.level.partial_cmp(&a.level).unwrap_or(Ordering::Equal))
                .then((a.document, i).cmp(&(b.document, j)))
        });

        let mut groups = Vec::new();
        let mut classes = 0;
        let mut bytes = 0;
        for run in order.chunk_by(|&i, &j| lines[i as usize].group == lines[j as usize].group) {
            let first = &lines[run[0] as usize];
            let last = &lines[run[run.len() - 1] as usize];
            groups.push(if first.subgroup == last.subgroup {
                let group = Classes::new(lines, run, classes)?;
                classes += group.sizes.len();
                PreparedGroup::Classes(group)
            } else {
                PreparedGroup::Closure(Closure::new(lines, run, &mut bytes)?)
            });
        }

        let (places, starts) = places(&groups, documents);
        let alone = starts.windows(2).all(|start| start[1] - start[0] <= 1)
            && places.iter().all(|place| place.times == 1);
        let pairs = if alone { DistinctPairs::All } else { DistinctPairs::Unknown };
        Ok(Preferences { documents, groups, places, starts, classes, pairs })
    }
}

/// The places of all documents in groups, and where those of each document start.
fn places(groups: &[PreparedGroup], documents: u32) -> (Vec<DocumentPlace>, Vec<usize>) {
    let mut starts = vec![0; documents as usize + 1];
    let members = || {
        groups.iter().zip(0..).flat_map(|(group, at)| match group {
            PreparedGroup::Classes(group) => GroupDocuments::Classes(group.members.iter(), at),
            PreparedGroup::Closure(group) => GroupDocuments::Closure(group.documents.iter().zip(0..), at),
        })
    };
    for (document, _) in members() {
        starts[document as usize + 1] += 1;
    }
    for document in 1..starts.len() {
        starts[document] += starts[document - 1];
    }
    let mut next = starts.clone();
    let empty = DocumentPlace { group: 0, at: 0, times: 0 };
    let mut places = vec![empty; starts[documents as usize]];
    for (document, place) in members() {
        places[next[document as usize]] = place;
        next[document as usize] += 1;
    }

    (places, starts)
}

/// An iterator over the documents of a group with their places.
enum GroupDocuments<'a> {
    Classes(std::slice::Iter<'a, ClassMember>, u32),
    Closure(std::iter::Zip<std::slice::Iter<'a, u32>, std::ops::RangeFrom<u32>>, u32),
}

impl Iterator for GroupDocuments<'_> {
    type Item = (u32, DocumentPlace);

    fn next(&mut self) -> Option<(u32, DocumentPlace)> {
        match self {
            GroupDocuments::Classes(members, group) => {
                members.next().map(|&ClassMember { document, class, times }| {
                    (document, DocumentPlace { group: *group, at: class, times })
                })
            }
            GroupDocuments::Closure(members, group) => members.next().map(|(&document, at)| {
                let (group, times) = (*group, 1);
                (document, DocumentPlace { group, at, times })
            }),
        }
    }
}
