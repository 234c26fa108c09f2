//! The values over ties that are known, and what is said of the others.

use super::Cuts;
use crate::measure::{BestOrder, Measure, Read, Recipe};

/// The extreme of a measure: the best or the worst value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The best value: the largest one, or the smallest if lower is better.
    Best,
    /// The worst value.
    Worst,
}

impl Side {
    pub(super) fn name(self) -> &'static str {
        match self {
            Side::Best => "best",
            Side::Worst => "worst",
        }
    }
}

/// The declared order, if it is known under these cuts.
pub(super) fn best_order(measure: &Measure, cuts: Cuts) -> Option<BestOrder> {
    let traits = &measure.definition().traits;
    match (traits.best_order)(measure, cuts.depth) {
        // The documents of a cut group that are kept decide how far others move up.
        _ if cuts.depth && cuts.judged_only => None,
        // An order that is the best for one judge may not be so for another.
        _ if measure.judges().is_some() => None,
        BestOrder::None => None,
        BestOrder::Swaps if !(traits.better_swaps)(measure) => None,
        order => Some(order),
    }
}

/// Whether the best order of a measure is known under these cuts.
pub(super) fn is_known(measure: &Measure, cuts: Cuts) -> bool {
    best_order(measure, cuts).is_some()
}

/// Whether a value follows from the qrels alone. Then it is the same in every order, cut or not.
pub(super) fn is_fixed(recipe: &Recipe) -> bool {
    match recipe {
        Recipe::Folds { reads, .. } => reads.iter().all(|read| matches!(read, Read::Fact(_))),
        Recipe::Walk { .. } | Recipe::Groups(_) => false,
    }
}

/// The reason why a measure has no expected value; `only_cut` if it has one for rankings that are
/// not cut.
pub(super) fn refused_mean(measure: &Measure, cuts: Cuts, only_cut: bool) -> String {
    let under = if only_cut { " under -M" } else { "" };
    let others = if is_known(measure, cuts) { "best, worst or " } else { "" };
    format!(
        "{measure} has no expected value over ties{under} that can be computed; take --ties \
         {others}docno-desc"
    )
}

/// The reason why a measure has no best or worst value.
pub(super) fn refused_extreme(measure: &Measure, side: Side, cuts: Cuts) -> String {
    let only_cut = is_known(measure, Cuts::default()) && cuts != Cuts::default();
    let under = match (only_cut, cuts.judged_only) {
        (false, _) => "",
        (true, true) => " under -M and -J together",
        (true, false) => " under -M",
    };
    format!(
        "{measure}: its {} order{under} cannot be found without trying all of them",
        side.name()
    )
}
