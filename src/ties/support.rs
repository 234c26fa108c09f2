//! The measures with known expected, best or worst values over tie orders, and the messages for all
//! other measures.

use super::Cuts;
use crate::measure::{BestOrder, Measure, Recipe, RecipeInput};

/// The choice between the best and the worst value of a measure over tie orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The best value: the largest one, or the smallest if lower is better.
    Best,
    /// The worst value.
    Worst,
}

/// Returns the declared best order of tied documents for a measure, if the order is known for
/// rankings cut in these ways.
pub fn best_order(measure: &Measure, cuts: Cuts) -> Option<BestOrder> {
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

/// Returns whether the best order of tied documents for a measure is known for rankings cut in
/// these ways.
pub fn is_known(measure: &Measure, cuts: Cuts) -> bool {
    best_order(measure, cuts).is_some()
}

/// Returns whether a measure's value follows from the qrels alone. Such a value does not depend on
/// order or cuts.
pub fn is_fixed(recipe: &Recipe) -> bool {
    let is_fact = |read: &RecipeInput| matches!(read, RecipeInput::Fact(_));
    matches!(recipe, Recipe::Folds { reads, .. } if reads.iter().all(is_fact))
}

/// Returns the error message that a measure has no expected value over tie orders. `only_cut` says
/// that the measure still has an expected value for uncut rankings.
pub fn no_mean_reason(measure: &Measure, cuts: Cuts, only_cut: bool) -> String {
    let under = if only_cut { " under -M" } else { "" };
    let others = if is_known(measure, cuts) { "best, worst or " } else { "" };
    format!(
        "{measure} has no expected value over ties{under} that can be computed; take --ties \
         {others}docno-desc"
    )
}

/// Returns the error message that a measure has no best or worst value over tie orders.
pub fn no_extreme_reason(measure: &Measure, side: Side, cuts: Cuts) -> String {
    let only_cut = is_known(measure, Cuts::default()) && cuts != Cuts::default();
    let under = match (only_cut, cuts.judged_only) {
        (false, _) => "",
        (true, true) => " under -M and -J together",
        (true, false) => " under -M",
    };
    let side = match side {
        Side::Best => "best",
        Side::Worst => "worst",
    };
    format!("{measure}: its {side} order{under} cannot be found without trying all of them")
}
