//! A checked judgment group of preferences: its documents, and the preferences between two
//! documents.

use std::cmp::Ordering;

use super::{
    graph::{Graph, circle},
    line::{NumberedLine, PreferenceFault},
    measure::FulfilledShare,
};

/// A judgment group of a query: the preferences between documents that one judge stated at one
/// time.
#[derive(Debug)]
pub struct PreferenceGroup {
    /// The documents in ascending order.
    pub members: Vec<GroupMember>,
    /// For each height of a group with several sub-groups, a row of bits: bit `h` is set if the
    /// document of the row's height and the document of height `h` have a preference.
    chains: Option<Vec<Vec<u64>>>,
}

/// A document of a judgment group of preferences, with its height and relevance there.
#[derive(Clone, Copy, Debug)]
pub struct GroupMember {
    pub document: u32,
    /// The height: a document is preferred to no document of its height or a greater one. With one
    /// sub-group, it is the number of lower levels, and the document is preferred to all documents
    /// of a lower height; with several, each document has a height of its own.
    pub height: u32,
    /// The number of lines with this document at this level; 1 in a group with several sub-groups.
    pub times: u32,
    /// The level of the document against 0: it is relevant above, nonrelevant at 0, and below 0
    /// neither. With one sub-group, a level below 0 is as 0.
    pub relevance: Ordering,
}

/// A document of a judgment group of preferences, with its position in a ranking.
#[derive(Clone, Copy)]
pub struct PlacedMember {
    pub position: u32,
    pub member: GroupMember,
}

impl PlacedMember {
    pub fn is_relevant(&self) -> bool {
        self.member.relevance.is_gt()
    }

    pub fn is_nonrelevant(&self) -> bool {
        self.member.relevance.is_eq()
    }
}

impl PreferenceGroup {
    /// Makes a judgment group from its preference lines, which are sorted.
    pub fn new(lines: &[NumberedLine]) -> Result<Self, PreferenceFault> {
        match lines {
            // Lines are sorted by sub-group, so the first and the last line tell whether all are
            // of one sub-group.
            [first, .., last] if first.line.subgroup != last.line.subgroup => {
                Self::with_chains(lines)
            }
            _ => Self::with_levels(lines),
        }
    }

    /// Makes a judgment group with a single sub-group, in which levels alone decide the
    /// preferences.
    fn with_levels(lines: &[NumberedLine]) -> Result<Self, PreferenceFault> {
        let classes: Vec<_> = lines.chunk_by(|a, b| a.line.level == b.line.level).collect();
        // The document, the class and the index of each line.
        let mut placed = Vec::with_capacity(lines.len());
        for (class, of_class) in classes.iter().enumerate() {
            placed.extend(of_class.iter().map(|line| (line.line.document, class, line.index)));
        }
        placed.sort_unstable();
        let mut pairs = placed.windows(2);
        if let Some(pair) = pairs.find(|pair| pair[0].0 == pair[1].0 && pair[0].1 != pair[1].1) {
            return Err(PreferenceFault::TwoLevels { higher: pair[0].2, lower: pair[1].2 });
        }
        let members = placed.chunk_by(|a, b| a.0 == b.0).map(|same| {
            let (document, class, _) = same[0];
            let relevant = classes[class][0].line.level > 0.0;
            GroupMember {
                document,
                height: (classes.len() - 1 - class) as u32,
                times: same.len() as u32,
                relevance: if relevant { Ordering::Greater } else { Ordering::Equal },
            }
        });
        Ok(Self { members: members.collect(), chains: None })
    }

    /// Makes a judgment group with several sub-groups, with the preferences that follow from chains
    /// of others.
    fn with_chains(lines: &[NumberedLine]) -> Result<Self, PreferenceFault> {
        let mut documents: Vec<u32> = lines.iter().map(|line| line.line.document).collect();
        documents.sort_unstable();
        documents.dedup();
        // Every document of a line is among the documents.
        let local: Vec<usize> = lines
            .iter()
            .map(|line| documents.partition_point(|&d| d < line.line.document))
            .collect();
        let relevance = relevance(lines, &local, documents.len())?;
        let graph = Graph::new(lines, &local, documents.len());
        let order = graph.order().map_err(|component| PreferenceFault::Cycle {
            steps: circle(lines, &local, &component),
        })?;
        let mut heights = vec![0; documents.len()];
        order.iter().zip(0..).for_each(|(&document, height)| heights[document] = height);
        let chains = chains(&graph, &order, &heights);
        let places = documents.into_iter().zip(heights).zip(relevance);
        let members = places
            .map(|((document, height), relevance)| GroupMember {
                document,
                height,
                times: 1,
                relevance,
            })
            .collect();
        Ok(Self { members, chains: Some(chains) })
    }

    /// Returns whether the judgment group has a single sub-group, in which levels alone decide the
    /// preferences.
    pub fn is_of_levels(&self) -> bool {
        self.chains.is_none()
    }

    /// Returns a function that counts the judgment group's preferences between `first` and a
    /// document ranked behind `first`: those for `first`, and all.
    pub fn behind(&self, first: &GroupMember) -> impl Fn(&GroupMember) -> FulfilledShare {
        let (height, times) = (first.height, u64::from(first.times));
        let row = self.chains.as_ref().map(|rows| &rows[height as usize]);
        move |second| {
            let follows = row.is_none_or(|row| is_set(row, second.height));
            let count = u64::from(follows) * times * u64::from(second.times);
            FulfilledShare {
                fulfilled: u64::from(height > second.height) * count,
                possible: u64::from(height != second.height) * count,
            }
        }
    }
}

/// Computes the preferences between all documents of a judgment group, as a row of bits for each
/// height. Bit `h` is set if the document of the row's height and the document of height `h` have a
/// preference. `order` has the documents by height.
fn chains(graph: &Graph<'_>, order: &[usize], heights: &[u32]) -> Vec<Vec<u64>> {
    let words = order.len().div_ceil(64);
    let mut rows: Vec<Vec<u64>> = Vec::with_capacity(order.len());
    // The heights below a gate to which several documents lead are collected once.
    let mut collected = vec![None; graph.gates.len()];
    for &document in order {
        let mut row = vec![0; words];
        for &at in &graph.through[document] {
            let (gate, lower) = (&graph.gates[at], graph.below(at));
            let below =
                lower.iter().filter(|&&other| other != document).map(|&other| heights[other]);
            // A document in both classes of a gate is not preferred to itself. The lines of a class
            // are in the order of documents.
            if !gate.is_shared || lower.binary_search(&document).is_ok() {
                collect(&mut row, below, &rows);
            } else {
                let bits = collected[at].get_or_insert_with(|| {
                    let mut bits = vec![0; words];
                    collect(&mut bits, below, &rows);
                    bits
                });
                unite(&mut row, bits);
            }
        }
        rows.push(row);
    }
    mirror(&mut rows);
    rows
}

/// Sets a document's bits for the heights `below` it in preference, and for all heights below
/// those.
fn collect(row: &mut [u64], below: impl Iterator<Item = u32>, rows: &[Vec<u64>]) {
    for lower in below {
        // Invariant: a row with the bit of a height has all bits of the height's row, because
        // `collect` sets both together.
        if !is_set(row, lower) {
            set(row, lower as usize);
            unite(row, &rows[lower as usize]);
        }
    }
}

fn unite(row: &mut [u64], other: &[u64]) {
    row.iter_mut().zip(other).for_each(|(bits, more)| *bits |= more);
}

/// Makes the matrix of preference bits symmetric: sets bit `a` of row `b` for each bit `b` of row
/// `a`. Writes 64 neighbouring rows at a time, because they lie near each other in memory.
fn mirror(rows: &mut [Vec<u64>]) {
    for word in 0..rows.len().div_ceil(64) {
        for height in 0..rows.len() {
            let mut bits = rows[height][word];
            while bits != 0 {
                set(&mut rows[64 * word + bits.trailing_zeros() as usize], height);
                bits &= bits - 1;
            }
        }
    }
}

fn set(row: &mut [u64], at: usize) {
    row[at / 64] |= 1 << (at % 64);
}

#[inline]
fn is_set(row: &[u64], at: u32) -> bool {
    row[at as usize / 64] >> (at % 64) & 1 == 1
}

/// Returns the relevance of each document, by its levels, in a judgment group with several
/// sub-groups. If a document has several levels, the lowest level in its last sub-group decides.
fn relevance(
    lines: &[NumberedLine],
    local: &[usize],
    size: usize,
) -> Result<Vec<Ordering>, PreferenceFault> {
    let mut relevance = vec![Ordering::Less; size];
    let mut from = vec![0; size];
    for (line, &document) in lines.iter().zip(local) {
        // No level is NaN.
        let here = line.line.level.partial_cmp(&0.0).unwrap_or(Ordering::Less);
        let (before, index) = (from[document], line.index);
        let fault = match (relevance[document], here) {
            (Ordering::Greater, Ordering::Equal) => Some((index, before)),
            (Ordering::Equal, Ordering::Greater) => Some((before, index)),
            _ => None,
        };
        if let Some((zero, more)) = fault {
            return Err(PreferenceFault::ZeroAndMore { zero, more });
        }
        relevance[document] = here;
        from[document] = index;
    }
    Ok(relevance)
}
