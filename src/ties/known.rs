//! The measures with known values over ties, and the errors for all other measures.

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

/// Returns the declared best order of a measure, if the order is known under these cuts.
pub(super) fn best_order(measure: &Measure, cuts: Cuts) -> Option<BestOrder> {
    let traits = &measure.definition().traits;
    match (traits.best_order)(measure, cuts.depth) {
        // The documents of a cut group that are kept decide how far others move up.
        _ if cuts.depth && cuts.judged_only => None,
        // The best order for one judge may not be the best order for another judge.
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

/// Whether a value follows from the qrels alone. Such a value does not depend on order or cuts.
pub(super) fn is_fixed(recipe: &Recipe) -> bool {
    match recipe {
        Recipe::Folds { reads, .. } => reads.iter().all(|read| matches!(read, Read::Fact(_))),
        Recipe::Walk { .. } | Recipe::Groups(_) => false,
    }
}

/// Returns the reason why a measure has no expected value. `only_cut` says that the measure still
/// has an expected value for uncut rankings.
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
