//! The parameter `nothing`: the value of queries without relevant documents, for measures that are
//! 0 on these queries.
//!
//! A single declaration of the parameter serves all measures. No recipe knows the parameter:
//! finished values are replaced for queries whose judgments have no relevant document. So the
//! parameter holds for folds, walks and orders of equal scores alike.

use super::facts::Fact;
use super::ideal::IdealRanking;
use super::params::{Kind, NOTHING};
use super::table::gains;
use super::value::Measure;
use crate::fold::{Discount, Gains};
use crate::matrix::Codebook;

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
        // Any gain of a table may be the largest, so an ideal ranking of depth 1 finds the largest
        // gain.
        Ok(Fact::Ideal(IdealRanking { gain, discount: Discount::None, rank: Some(1) }))
    }
}
