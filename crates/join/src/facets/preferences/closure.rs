//! A group with several sub-groups: the documents that each document is preferred to, and how many of these preferences a ranking fulfils.

use super::bits::{add_columns, is_set, ones, set, zeros};
use super::gates::{Graph, circle};
use super::line::{MOST_BYTES, PreferenceFault, PreferenceLine};
use super::measure::{GroupShares, Share};
use super::scratch::PreferenceScratch;

/// A group with several sub-groups: the documents that each document is preferred to.
#[derive(Clone, Debug)]
pub(super) struct Closure {
    /// The documents in ascending order.
    pub(super) documents: Vec<u32>,
    /// The sign of the level by document: 1 above 0, 0 for 0, -1 below 0.
    signs: Vec<i8>,
    /// The number of words in a row.
    pub(super) words: usize,
    /// The rows of bits, one row per document.
    rows: Vec<u64>,
    /// The number of documents that a document is preferred to.
    out: Vec<u32>,
    /// The number of documents that are preferred to a document.
    into: Vec<u32>,
    pub(super) possible: u64,
    relevant: u64,
    nonrelevant: u64,
}

impl Closure {
    /// Makes the group of the lines at the sorted indices of `run`. `bytes` is the memory that the groups before it take, to which that of
    /// this group is added.
    pub(super) fn new(
        lines: &[PreferenceLine],
        run: &[u32],
        bytes: &mut u64,
    ) -> Result<Closure, PreferenceFault> {
        let line = |at: usize| &lines[run[at] as usize];
        let mut documents: Vec<u32> = (0..run.len()).map(|at| line(at).document).collect();
        documents.sort_unstable();
        documents.dedup();
        let size = documents.len();
        let words = size.div_ceil(64);
        reserve(bytes, size, words)?;
        // Every document of a line is among the documents.
        let local: Vec<usize> =
            (0..run.len()).map(|at| documents.partition_point(|&d| d < line(at).document)).collect();

        let signs = signs(lines, run, &local, size)?;
        let graph = Graph::new(lines, run, &local, size);
        let order = graph.order().map_err(|component| PreferenceFault::Cycle {
            steps: circle(lines, run, &local, size, &component),
        })?;
        let rows = rows(&graph, order, words, bytes)?;
        let mut closure = Closure {
            relevant: signs.iter().filter(|&&sign| sign > 0).count() as u64,
            nonrelevant: signs.iter().filter(|&&sign| sign == 0).count() as u64,
            documents,
            signs,
            words,
            rows,
            out: vec![0; size],
            into: vec![0; size],
            possible: 0,
        };
        closure.count_preferences();
        Ok(closure)
    }

    /// Counts the preferences in the rows.
    fn count_preferences(&mut self) {
        let Closure { words, rows, out, into, possible, .. } = self;
        for (row, out) in rows.chunks_exact(*words).zip(out) {
            *out = ones(row, |_| u64::MAX) as u32;
            *possible += u64::from(*out);
        }
        add_columns(rows, *words, into);
    }

    pub(super) fn row(&self, local: usize) -> &[u64] {
        &self.rows[local * self.words..(local + 1) * self.words]
    }

    pub(super) fn prefers(&self, local: usize, other: usize) -> bool {
        is_set(self.row(local), other)
    }

    /// The shares that a ranking of which `kept` documents are retrieved fulfils.
    pub(super) fn count(&self, kept: u32, scratch: &mut PreferenceScratch) -> GroupShares {
        let order = self.order(&scratch.position);
        let found = order.partition_point(|&(position, _)| position < kept);
        let counts = self.count_found(&order[..found], scratch);
        let FoundCounts { fulfilled, both, implied, touched } = counts;

        let of_sign = |wanted: i8| {
            let has = |&&(_, local): &&(u32, usize)| self.signs[local] == wanted;
            order[..found].iter().filter(has).count() as u64
        };
        let (relevant_found, nonrelevant_found) = (of_sign(1), of_sign(0));
        let balanced = if self.relevant >= self.nonrelevant {
            let more = self.relevant - self.nonrelevant;
            Share {
                fulfilled: fulfilled + implied + relevant_found * more,
                possible: self.possible + self.relevant * more,
            }
        } else {
            self.without_surplus(&order, found, scratch)
        };
        let balanced_retrieved = if relevant_found >= nonrelevant_found {
            let more = relevant_found - nonrelevant_found;
            Share { fulfilled: fulfilled + relevant_found * more, possible: both + self.relevant * more }
        } else {
            self.without_surplus(&order[..found], found, scratch)
        };
        GroupShares {
            all: Share { fulfilled: fulfilled + implied, possible: self.possible },
            retrieved: Share { fulfilled, possible: both },
            implied: Share { fulfilled: fulfilled + implied, possible: touched },
            balanced,
            balanced_retrieved,
        }
    }

    /// The positions of the documents of the group and their indices, in the order of the ranking.
    fn order(&self, position: &[u32]) -> Vec<(u32, usize)> {
        let documents = self.documents.iter().zip(0..);
        let mut order: Vec<(u32, usize)> =
            documents.map(|(&document, local)| (position[document as usize], local)).collect();
        order.sort_unstable();
        order
    }

    /// Counts the preferences of the retrieved documents, which are in the order of the ranking, and notes which these are.
    fn count_found(&self, found: &[(u32, usize)], scratch: &mut PreferenceScratch) -> FoundCounts {
        let PreferenceScratch { placed, retrieved, .. } = scratch;
        zeros(retrieved, self.words);
        for &(_, local) in found {
            set(retrieved, local);
        }
        zeros(placed, self.words);
        let (mut fulfilled, mut both, mut implied, mut into) = (0, 0, 0, 0);
        for &(_, local) in found {
            let row = self.row(local);
            // Retrieved documents that this one is preferred to, without those that came before it: A1 of its row.
            let lower = ones(row, |at| retrieved[at]);
            fulfilled += lower - ones(row, |at| placed[at]);
            both += lower;
            implied += u64::from(self.out[local]) - lower;
            into += u64::from(self.into[local]);
            set(placed, local);
        }
        // A1 + A2 + A4, for each retrieved document as the lower one, and A3, as the upper one.
        FoundCounts { fulfilled, both, implied, touched: into + implied }
    }

    /// The share of some first documents of a ranking, without all documents of level 0 but the first ones, as many as there are relevant
    /// ones. The first `found` documents are retrieved, and noted in `scratch`.
    fn without_surplus(
        &self,
        among: &[(u32, usize)],
        found: usize,
        scratch: &mut PreferenceScratch,
    ) -> Share {
        let PreferenceScratch { placed, retrieved, without, .. } = scratch;
        zeros(without, self.words);
        let mut nonrelevant = 0;
        for &(_, local) in among {
            if self.signs[local] == 0 {
                nonrelevant += 1;
                if nonrelevant > self.relevant {
                    set(without, local);
                }
            }
        }
        zeros(placed, self.words);
        let mut share = Share::default();
        for (at, &(_, local)) in among.iter().enumerate() {
            if is_set(without, local) {
                continue;
            }
            let row = self.row(local);
            let inside = |at: usize| {
                let mask = if among.len() == found { retrieved[at] } else { u64::MAX };
                mask & !without[at]
            };
            share.possible += ones(row, inside);
            if at < found {
                share.fulfilled += ones(row, |at| inside(at) & !placed[at]);
                set(placed, local);
            }
        }
        share
    }
}

/// Counts of the preferences of the retrieved documents of a group.
struct FoundCounts {
    /// Between retrieved documents, the upper one first: A1.
    fulfilled: u64,
    /// Between retrieved documents: A1 + A2.
    both: u64,
    /// Over documents that were not retrieved: A3.
    implied: u64,
    /// With at least one retrieved document: A1 + A2 + A3 + A4.
    touched: u64,
}

/// The rows of bits of the documents of a group, in whose `order` each comes after all documents it is preferred to.
fn rows(
    graph: &Graph<'_>,
    order: Vec<usize>,
    words: usize,
    bytes: &mut u64,
) -> Result<Vec<u64>, PreferenceFault> {
    let Graph { gates, local, .. } = graph;
    let mut rows = vec![0; order.len() * words];
    // A gate with many documents above and below would be gone through for each of them: its union is made once, and freed after the last.
    let mut shared: Vec<Option<Vec<u64>>> = vec![None; gates.len()];
    let mut uses: Vec<usize> = gates.iter().map(|gate| gate.upper.len()).collect();
    let mut row = vec![0; words];
    for document in order {
        row.fill(0);
        for &index in graph.through(document) {
            let gate = &gates[index];
            let below = || gate.lower.clone().map(|at| local[at]);
            let collect = |into: &mut [u64]| {
                for other in below().filter(|&other| other != document) {
                    if !is_set(into, other) {
                        set(into, other);
                        let from = &rows[other * words..(other + 1) * words];
                        into.iter_mut().zip(from).for_each(|(a, b)| *a |= b);
                    }
                }
            };
            uses[index] -= 1;
            // A document in both classes of the gate is not preferred to itself. The lines of a class are in the order of documents.
            let twice = gate.upper.len() > 1 && local[gate.lower.clone()].binary_search(&document).is_ok();
            if gate.upper.len() == 1 || gate.lower.len() == 1 || twice {
                collect(&mut row);
            } else {
                if shared[index].is_none() {
                    reserve(bytes, 1, words)?;
                    let mut bits = vec![0; words];
                    collect(&mut bits);
                    shared[index] = Some(bits);
                }
                for (a, b) in row.iter_mut().zip(shared[index].iter().flatten()) {
                    *a |= b;
                }
            }
            if uses[index] == 0 && shared[index].take().is_some() {
                *bytes -= 8 * words as u64;
            }
        }
        rows[document * words..(document + 1) * words].copy_from_slice(&row);
    }
    Ok(rows)
}

/// Adds the memory of `rows` rows of `words` words, unless it is too much.
fn reserve(bytes: &mut u64, rows: usize, words: usize) -> Result<(), PreferenceFault> {
    *bytes = bytes.saturating_add((rows as u64).saturating_mul(8 * words as u64));
    if *bytes > MOST_BYTES {
        return Err(PreferenceFault::TooLarge { bytes: *bytes });
    }
    Ok(())
}

/// The sign of the level of each document in a group with several sub-groups. Where a document has several levels it is the one of the last
/// sub-group, and the lowest level there.
fn signs(
    lines: &[PreferenceLine],
    run: &[u32],
    local: &[usize],
    size: usize,
) -> Result<Vec<i8>, PreferenceFault> {
    let mut signs = vec![-1; size];
    let mut from = vec![0; size];
    for (&line, &document) in run.iter().zip(local) {
        let level = lines[line as usize].level;
        let sign = if level > 0.0 {
            1
        } else if level == 0.0 {
            0
        } else {
            -1
        };
        let (before, line) = (from[document], line as usize);
        match (signs[document], sign) {
            (1, 0) => {
                return Err(PreferenceFault::ZeroAndMore { zero: line, more: before });
            }
            (0, 1) => {
                return Err(PreferenceFault::ZeroAndMore { zero: before, more: line });
            }
            _ => {}
        }
        signs[document] = sign;
        from[document] = line;
    }
    Ok(signs)
}
