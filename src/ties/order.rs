//! The best and the worst order of documents with equal scores, for each measure.
//!
//! Why one order of codes suffices for most measures: assume that exchanging two neighbours so that
//! the better document stands higher never makes a value worse (`better_swaps`, or a like rule with
//! another worth of the codes). Then such exchanges turn any order into the order by descending
//! worth, as bubble sort does, and no step loses. So this order is best, and by the reversed
//! argument its reverse is worst. Each group is sorted alone, because the argument for a group does
//! not depend on other groups. A document that a cut keeps out takes part: its exchange with a kept
//! document is a step across the cut.
//!
//! So the best value of a row is *one evaluation* of the row with its groups sorted: the kernels
//! run over an arranged copy of the tile, and there is no arithmetic of its own that could round
//! otherwise. Where the argument fails, mostly since a quotient's divisor counts the hits that a
//! cut lets through, `search` looks at each such number.

use bytemuck::Zeroable;

use super::{
    Cuts, Expectation,
    search::ExtremeSearch,
    support::{Side, best_order, is_fixed, is_known, no_extreme_reason, no_mean_reason},
};
use crate::bytes::aligned::AlignedBytes;
use crate::error::{Error, Result};
use crate::fold::CodeTable;
use crate::matrix::{Codebook, CutTieCount, QUAD, RowTies, Tile, code::NOT_IN_QRELS};
use crate::measure::{BestOrder, Direction, ExpectationRule, Measure};
use crate::sort;

/// The way in which the best or worst value of a measure over the orders of tied documents is
/// computed.
pub enum Extreme {
    /// The row is evaluated with its groups in this order.
    Order(CodeOrder),
    /// The value is searched for in each row.
    Search(ExtremeSearch),
}

/// An order of label codes that sorts the documents within every group of tied documents.
#[derive(PartialEq)]
pub struct CodeOrder {
    /// All codes, in order.
    codes: Box<[u8; 256]>,
    /// The place of each code in the order.
    places: Box<[u8; 256]>,
}

impl Extreme {
    /// Chooses the way to compute a measure's best or worst value over tie orders, for rankings
    /// that may be cut.
    ///
    /// # Errors
    /// A measure whose extreme order is not known, or whose parameters do not fit the grades.
    pub fn new(measure: &Measure, book: &Codebook, side: Side, cuts: Cuts) -> Result<Self> {
        let refused = || Error::Unanswerable(no_extreme_reason(measure, side, cuts));
        let order = if is_fixed(&measure.recipe(book)?) {
            BestOrder::None
        } else {
            best_order(measure, cuts).ok_or_else(refused)?
        };
        let worth = match order {
            BestOrder::Worth(worth) => worth(measure, book).map_err(Error::Unanswerable)?,
            BestOrder::Searched => {
                let is_better_high = measure.definition().better != Direction::Lower;
                let largest = (side == Side::Best) == is_better_high;
                let search = ExtremeSearch::new(measure, book, largest);
                return search.map(Self::Search).ok_or_else(refused);
            }
            // Without any worth, codes are ordered by number, which ascends with the grade.
            BestOrder::Swaps | BestOrder::None => [0.0; 256].into(),
        };
        Ok(Self::Order(CodeOrder::new(&worth, book, side)))
    }
}

/// Returns the reason why a measure has no expected value, or no best or worst value, over all tie
/// orders. `None` also if the reason depends on the grades, which are unknown here.
pub fn unsupported_reason(measure: &Measure, side: Option<Side>, cuts: Cuts) -> Option<String> {
    let nothing = Codebook::default();
    let recipe = measure.recipe(&nothing);
    let Some(side) = side else {
        let has_none = (measure.definition().traits.expected)(measure) == ExpectationRule::None;
        return if has_none || recipe.is_err() {
            has_none.then(|| no_mean_reason(measure, cuts, false))
        } else {
            Expectation::new(measure, &nothing, cuts).err().map(|error| error.to_string())
        };
    };
    let known = is_known(measure, cuts) || recipe.is_ok_and(|recipe| is_fixed(&recipe));
    (!known).then(|| no_extreme_reason(measure, side, cuts))
}

impl CodeOrder {
    /// Orders label codes by descending worth for a measure's best order, and by ascending worth
    /// for its worst order. Codes of equal worth are ordered by number in the same direction. Codes
    /// without documents come last, and so do not change the keys.
    fn new(worth: &CodeTable, book: &Codebook, side: Side) -> Self {
        let mut codes: Box<[u8; 256]> =
            Box::new(std::array::from_fn(|at| (at as u8).wrapping_add(NOT_IN_QRELS)));
        // The array begins with NOT_IN_QRELS and wraps around, so PAST_END, code 0, is the last: no
        // document has it.
        let book_codes = &mut codes[..book.codes() - usize::from(NOT_IN_QRELS)];
        sort::by(book_codes, |&a, &b| {
            let [worth_a, worth_b] = [a, b].map(|code| worth[usize::from(code)]);
            worth_b.total_cmp(&worth_a).then(b.cmp(&a))
        });
        if side == Side::Worst {
            book_codes.reverse();
        }
        let mut places = Box::new([0; 256]);
        (0..=u8::MAX)
            .zip(codes.iter())
            .for_each(|(place, &code)| places[usize::from(code)] = place);
        Self { codes, places }
    }

    fn place(&self, code: u8) -> u8 {
        self.places[usize::from(code)]
    }

    // The tile is copied as a whole and groups are sorted in the copy, because 64 lanes lie
    // interleaved and most labels keep their places.
    /// Returns a tile with the tied documents of some lanes sorted in this order, down to rank
    /// `reach`; or the original labels if no tie group begins above `reach`. The two buffers for
    /// the labels of the tile and of a group are reused.
    pub fn arranged<'t>(
        &self,
        tile: Tile<'t>,
        tied: &[(usize, RowTies<'_>)],
        reach: u32,
        lines: &'t mut Vec<AlignedBytes>,
        group: &mut Vec<u8>,
    ) -> Tile<'t> {
        /// The number of bytes that are copied at a time: a processor's own copying is slow for
        /// some distances.
        const AT_ONCE: usize = 4096;
        let depth = (reach as usize).min(tile.depth).next_multiple_of(QUAD);
        let seen = tile.shallower(depth);
        if tied.iter().all(|(_, ties)| ties.groups.first().is_none_or(|first| first.start >= reach))
        {
            return seen;
        }
        lines.resize(seen.labels.len().div_ceil(size_of::<AlignedBytes>()), AlignedBytes::zeroed());
        let labels = &mut bytemuck::cast_slice_mut(lines)[..seen.labels.len()];
        let parts = labels.chunks_mut(AT_ONCE).zip(seen.labels.chunks(AT_ONCE));
        parts.for_each(|(to, from)| to.copy_from_slice(from));
        for &(lane, ties) in tied {
            for (at, tie) in (1..).zip(ties.groups).take_while(|(_, tie)| tie.start < reach) {
                let cut = if at == ties.groups.len() { ties.cut } else { &[] };
                let pair = [tie.start as usize, tie.start as usize + 1];
                if tie.length == 2 && pair[1] < depth && cut.is_empty() {
                    // Most groups are pairs.
                    let [first, second] = pair.map(|rank| tile.position(lane, rank));
                    if self.place(labels[first]) > self.place(labels[second]) {
                        labels.swap(first, second);
                    }
                    continue;
                }
                group.clear();
                group.extend((tie.start..tie.end()).map(|rank| tile.label(lane, rank as usize)));
                self.arrange(group, cut);
                for (rank, &label) in (tie.start as usize..depth).zip(&*group) {
                    labels[tile.position(lane, rank)] = label;
                }
            }
        }
        Tile { labels, ..seen }
    }

    // There are at most 256 codes, so larger groups are sorted by counting. A cut group keeps the
    // first of all its documents, and cut-off documents are known only by counts: the group must be
    // sorted by counting too.
    /// Sorts the documents of a tie group, including cut-off documents, in this order, and keeps
    /// the first documents.
    pub fn arrange(&self, group: &mut [u8], cut: &[CutTieCount]) {
        /// The maximum number of labels to sort by comparing.
        const FEW: usize = 32;
        if cut.is_empty() && group.len() <= FEW {
            group.sort_unstable_by_key(|&code| self.place(code));
            return;
        }
        let mut counts = [0u32; 256];
        group.iter().for_each(|&code| counts[usize::from(code)] += 1);
        cut.iter().for_each(|cut| counts[usize::from(cut.code)] += cut.count);
        let mut rest = group;
        for &code in self.codes.iter() {
            let taken = rest.len().min(counts[usize::from(code)] as usize);
            let (first, others) = rest.split_at_mut(taken);
            first.fill(code);
            rest = others;
        }
    }
}
