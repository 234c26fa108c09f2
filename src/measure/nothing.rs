//! The parameter `nothing` of measures that are 0 where nothing is relevant: what such a query is
//! worth instead.
//!
//! It is one parameter for all of them, declared once. No recipe knows it: the values are replaced
//! when they are finished, for the queries whose judgments say that nothing is relevant. So it
//! holds for folds, walks and orders of equal scores alike.

use super::facts::Fact;
use super::ideal::IdealRanking;
use super::params::{Kind, NOTHING};
use super::table::gains;
use super::value::Measure;
use crate::fold::{Discount, Gains};
use crate::label::Codebook;

/// The value where nothing is relevant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfNothing {
    /// 0, as the formulas have it.
    Zero,
    /// 1.
    One,
    /// None: the query is in no average.
    Skip,
}

impl Measure {
    /// The value where nothing is relevant.
    pub fn of_nothing(&self) -> OfNothing {
        match self.word(NOTHING.name) {
            "1" => OfNothing::One,
            "skip" => OfNothing::Skip,
            _ => OfNothing::Zero,
        }
    }

    /// The fact of a query that is 0 where nothing is relevant: the number of relevant documents,
    /// or the largest gain.
    pub(crate) fn relevance(&self, book: &Codebook) -> Result<Fact, String> {
        let params = self.definition().params;
        let has = |name: &str| params.iter().any(|param| param.name == name);
        let gain = if params.iter().any(|param| param.kind == Kind::Gain) {
            gains(self, book)?
        } else if self.word("gain") == "grade" && has("gmax") {
            Gains::Linear.table(book)?
        } else {
            let level = if has("rel") { self.rel() } else { 0f64.next_up() };
            return Ok(Fact::Count(book.at_least(level)));
        };
        // Of the gains of a table any may be the largest, and an ideal ranking finds it.
        Ok(Fact::Ideal(IdealRanking { gain, discount: Discount::None, rank: Some(1) }))
    }
}
