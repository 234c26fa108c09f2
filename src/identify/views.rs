//! The views of a run: an order of equal scores, whether unjudged documents are dropped, and which
//! relevant documents are known.

use crate::matrix::View;
use crate::rule::{RankingRule, ScoreType, Ties};
use crate::scores::{Known, TiedValue};

/// An order of equal scores, or a value over all of them, and the type in which scores are
/// compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OrderOfTies {
    pub ties: &'static str,
    pub score: &'static str,
    pub value: TiedValue,
}

/// What a run is looked at as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LookAt {
    /// The number of the order.
    pub order: usize,
    pub judged_only: bool,
    pub known: Known,
    /// Whether rankings are cut at the cutoff of the measure before anything else, as `-M` does.
    pub cut: bool,
}

impl LookAt {
    /// The view in which a measure with this cutoff is evaluated.
    pub fn view(&self, rank: Option<u32>) -> View {
        View { depth: rank.filter(|_| self.cut), judged_only: self.judged_only }
    }
}

/// All that a run is looked at as, the usual first, in `orders` orders.
pub(super) fn looks(orders: usize) -> Vec<LookAt> {
    let mut looks = Vec::new();
    for order in 0..orders {
        for (known, judged_only, cut) in [
            (Known::Judged, false, false),
            (Known::Judged, true, false),
            (Known::Retrieved, false, false),
            (Known::Retrieved, true, false),
            (Known::Judged, false, true),
        ] {
            looks.push(LookAt { order, judged_only, known, cut });
        }
    }
    looks
}

/// Returns the orders known from matrices with `rules`, the usual order first. Each order comes
/// with the index of its matrix, and with `true` if the groups of equal scores must be reversed.
pub(super) fn known_orders(
    rules: impl Iterator<Item = RankingRule>,
) -> Vec<(OrderOfTies, usize, bool)> {
    let rules: Vec<RankingRule> = rules.collect();
    let mut orders = Vec::new();
    for (score_word, score) in ScoreType::ALL {
        let at =
            |ties: Ties| rules.iter().position(|rule| rule.score == score && rule.ties == ties);
        let order =
            |ties: &'static str, value: TiedValue| OrderOfTies { ties, score: score_word, value };
        for (word, ties) in Ties::ALL {
            let opposite = match ties {
                Ties::DocnoAscending => at(Ties::DocnoDescending),
                Ties::DocnoDescending => at(Ties::DocnoAscending),
                _ => None,
            };
            let own = at(ties).map(|at| (at, false));
            if let Some((at, reversed)) = own.or(opposite.map(|at| (at, true))) {
                orders.push((order(word, TiedValue::Ranked), at, reversed));
            }
        }
        if let Some(any) = rules.iter().position(|rule| rule.score == score) {
            for value in [TiedValue::Average, TiedValue::Worst] {
                let word =
                    TiedValue::ALL.iter().find(|(_, of)| *of == value).map_or("", |(word, _)| word);
                orders.push((order(word, value), any, false));
            }
        }
    }
    orders
}
