//! The views in which `laneval identify` evaluates a run: order of equal scores, unjudged documents
//! dropped or kept, and known relevant documents.

use crate::matrix::View;
use crate::rule::{RankingRule, ScoreType, TieBreak};
use crate::scores::{RelevantFrom, TiedValue};

/// A treatment of equal scores: an order, or a value over all orders, with the compared type of
/// scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TieTreatment {
    pub ties: &'static str,
    pub score: &'static str,
    pub value: TiedValue,
}

/// A view of a run in an evaluation: the order of equal scores, the kept documents (`-J`, `-M`),
/// and the known relevant documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RunView {
    /// The number of the order.
    pub order: usize,
    pub judged_only: bool,
    pub relevant_from: RelevantFrom,
    /// Whether rankings are cut at the cutoff of the measure before anything else, as `-M` does.
    pub cut: bool,
}

impl RunView {
    /// Returns the kept depth and documents in which a measure with this cutoff is evaluated.
    pub fn view(&self, rank: Option<u32>) -> View {
        View { depth: rank.filter(|_| self.cut), judged_only: self.judged_only }
    }

    /// Returns the word of the known relevant documents, as `--relevant-from` takes it.
    pub fn relevant_word(&self) -> &'static str {
        let mut words = RelevantFrom::ALL.iter();
        words.find(|(_, choice)| *choice == self.relevant_from).map_or("", |(word, _)| word)
    }
}

/// Returns every combination of order, `-J`, `-M` and known relevant documents, the usual one of
/// each order first.
pub(super) fn run_views(orders: usize) -> Vec<RunView> {
    use RelevantFrom::{Judged, Retrieved};
    let mut looks = Vec::new();
    for order in 0..orders {
        for (relevant_from, judged_only, cut) in [
            (Judged, false, false),
            (Judged, true, false),
            (Retrieved, false, false),
            (Retrieved, true, false),
            (Judged, false, true),
        ] {
            looks.push(RunView { order, judged_only, relevant_from, cut });
        }
    }
    looks
}

/// Returns the orders of equal scores that matrices joined under these `rules` can give, the usual
/// order first. Each order comes with the index of its matrix, and with `true` if the groups of
/// equal scores must be reversed.
pub(super) fn known_orders(
    rules: impl Iterator<Item = RankingRule>,
) -> Vec<(TieTreatment, usize, bool)> {
    let rules: Vec<(usize, RankingRule)> = rules.enumerate().collect();
    let mut orders = Vec::new();
    for (word, score) in ScoreType::ALL {
        let known: Vec<_> = rules.iter().filter(|(_, rule)| rule.score == score).collect();
        for (ties_word, ties) in TieBreak::ALL {
            // A matrix in the opposite order serves too, because its ties can be reversed.
            let opposite = match ties {
                TieBreak::DocnoAscending => Some(TieBreak::DocnoDescending),
                TieBreak::DocnoDescending => Some(TieBreak::DocnoAscending),
                _ => None,
            };
            let same = known.iter().find(|(_, rule)| rule.ties == ties);
            let found = same.or_else(|| known.iter().find(|(_, rule)| Some(rule.ties) == opposite));
            let order = TieTreatment { ties: ties_word, score: word, value: TiedValue::Ranked };
            orders.extend(found.map(|(at, rule)| (order, *at, rule.ties != ties)));
        }
        if let Some(&&(any, _)) = known.first() {
            for (ties, value) in TiedValue::ALL {
                if matches!(value, TiedValue::Average | TiedValue::Worst) {
                    orders.push((TieTreatment { ties, score: word, value }, any, false));
                }
            }
        }
    }
    orders
}
