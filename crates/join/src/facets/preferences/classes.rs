//! A group with one sub-group: classes of documents of one level, and how many preferences between them a ranking fulfils.

use super::line::{PreferenceFault, PreferenceLine};
use super::measure::{GroupShares, Share};
use super::scratch::GroupCounts;

/// A group with one sub-group: classes of documents of the same level, highest level first.
#[derive(Clone, Debug)]
pub(super) struct Classes {
    /// The index of its first class in the scratch memory.
    pub(super) start: usize,
    /// The number of lines by class.
    pub(super) sizes: Vec<u64>,
    /// The number of classes whose level is above 0.
    pub(super) relevant_classes: usize,
    /// The documents in ascending order.
    pub(super) members: Vec<ClassMember>,
    /// The number of preferences, and of those whose lower document is not in the lowest class.
    possible: u64,
    possible_above: u64,
}

/// A document of a group with its class.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClassMember {
    pub(super) document: u32,
    /// The class of the document, 0 being the highest.
    pub(super) class: u32,
    /// The number of lines that say so.
    pub(super) times: u32,
}

/// A line with the class of its document, in order of documents.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ClassLine {
    document: u32,
    class: u32,
    line: u32,
}

impl Classes {
    /// Makes the group of the lines at the sorted indices of `run`, whose first class is number `start`.
    pub(super) fn new(
        lines: &[PreferenceLine],
        run: &[u32],
        start: usize,
    ) -> Result<Classes, PreferenceFault> {
        let mut sizes = Vec::new();
        let mut relevant_classes = 0;
        let mut placed: Vec<ClassLine> = Vec::with_capacity(run.len());
        for class in run.chunk_by(|&i, &j| lines[i as usize].level == lines[j as usize].level) {
            let at = sizes.len() as u32;
            let place = |&line: &u32| ClassLine { document: lines[line as usize].document, class: at, line };
            placed.extend(class.iter().map(place));
            sizes.push(class.len() as u64);
            if lines[class[0] as usize].level > 0.0 {
                relevant_classes += 1;
            }
        }
        placed.sort_unstable();
        for pair in placed.windows(2) {
            if pair[0].document == pair[1].document && pair[0].class != pair[1].class {
                return Err(PreferenceFault::TwoLevels {
                    higher: pair[0].line as usize,
                    lower: pair[1].line as usize,
                });
            }
        }
        let member = |same: &[ClassLine]| ClassMember {
            document: same[0].document,
            class: same[0].class,
            times: same.len() as u32,
        };
        let members = placed.chunk_by(|a, b| a.document == b.document).map(member).collect();
        // Invariant: a group has a line, so there is a class.
        let above = sizes.len() - 1;
        Ok(Classes {
            start,
            possible: mixed_pairs(sizes.iter().copied()),
            possible_above: mixed_pairs(sizes[..above].iter().copied()),
            sizes,
            relevant_classes,
            members,
        })
    }

    /// The shares that a ranking fulfils; `class` and `before` are described at [`PreferenceScratch`].
    pub(super) fn count(&self, counts: &GroupCounts, class: &[u64], before: &[u64]) -> GroupShares {
        let found = &class[self.start..self.start + self.sizes.len()];
        let lowest = found.len() - 1;
        let missed = || self.sizes.iter().zip(found).map(|(size, found)| size - found);

        let both = mixed_pairs(found.iter().copied());
        let both_above = mixed_pairs(found[..lowest].iter().copied());
        // `both` is A1 + A2, and `neither` is A5.
        let neither = mixed_pairs(missed());
        // Preferences of a retrieved document over one that is not, and those of them whose lower document is not in the lowest class.
        let (mut implied, mut implied_above, mut higher) = (0, 0, 0);
        for (missed, found) in missed().zip(found) {
            implied_above = implied;
            implied += higher * missed;
            higher += found;
        }

        let relevant: u64 = self.sizes[..self.relevant_classes].iter().sum();
        let nonrelevant: u64 = self.sizes[self.relevant_classes..].iter().sum();
        let relevant_found: u64 = found[..self.relevant_classes].iter().sum();
        let nonrelevant_found: u64 = found[self.relevant_classes..].iter().sum();
        let fulfilled_above = counts.fulfilled - counts.fulfilled_lowest;
        let before = |kept: u64| match kept {
            0 => 0,
            _ => before.get(kept as usize - 1).copied().unwrap_or(0),
        };

        let balanced = if relevant >= nonrelevant {
            let more = relevant - nonrelevant;
            Share {
                fulfilled: counts.fulfilled + implied + relevant_found * more,
                possible: self.possible + relevant * more,
            }
        } else {
            // Only the first documents of the lowest class stay. As in trec_eval every document of the group, the ones of the lowest class
            // included, counts as preferred to them.
            let kept = relevant.min(self.sizes[lowest]);
            let kept_found = kept.min(found[lowest]);
            let documents: u64 = self.sizes.iter().sum();
            Share {
                fulfilled: fulfilled_above
                    + implied_above
                    + before(kept_found)
                    + (kept - kept_found) * counts.documents,
                possible: self.possible_above + documents * kept,
            }
        };
        let balanced_retrieved = if relevant_found >= nonrelevant_found {
            let more = relevant_found - nonrelevant_found;
            Share { fulfilled: counts.fulfilled + relevant_found * more, possible: both + relevant * more }
        } else {
            let kept = relevant_found.min(found[lowest]);
            Share {
                fulfilled: fulfilled_above + before(kept),
                possible: both_above + counts.documents * kept,
            }
        };
        GroupShares {
            all: Share { fulfilled: counts.fulfilled + implied, possible: self.possible },
            retrieved: Share { fulfilled: counts.fulfilled, possible: both },
            implied: Share { fulfilled: counts.fulfilled + implied, possible: self.possible - neither },
            balanced,
            balanced_retrieved,
        }
    }
}

/// The number of pairs of values from different classes, from the size of each class.
pub(super) fn mixed_pairs(sizes: impl Iterator<Item = u64>) -> u64 {
    let mut pairs = 0;
    let mut total = 0;
    for size in sizes {
        pairs += total * size;
        total += size;
    }
    pairs
}
