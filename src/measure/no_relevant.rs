//! The parameter `no_relevant`: the value of queries without relevant documents, for measures that
//! are 0 on these queries.
//!
//! A single declaration of the parameter serves all measures. No recipe knows the parameter:
//! finished values are replaced for queries whose judgments have no relevant document. So the
//! parameter holds for folds, walks and orders of equal scores alike.

use super::ideal::IdealRanking;
use super::params::{NO_RELEVANT, ParamKind};
use super::query_constants::QueryConstant;
use super::table::gains;
use super::value::Measure;
use crate::fold::{Discount, Gains};
use crate::matrix::Codebook;

/// The value of a query for which nothing is relevant, by the parameter `no_relevant`: 0, 1 or
/// none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoRelevant {
    /// 0, as the formulas have it.
    Zero,
    /// 1.
    One,
    /// None: the query is in no average.
    Skip,
}

impl Measure {
    /// Returns the measure's value for a query without relevant documents, by the parameter
    /// `no_relevant`.
    pub fn no_relevant(&self) -> NoRelevant {
        match self.choice(NO_RELEVANT.name) {
            "1" => NoRelevant::One,
            "skip" => NoRelevant::Skip,
            _ => NoRelevant::Zero,
        }
    }

    /// Returns the fact that tells whether a query has anything relevant: the number of relevant
    /// documents, or the largest gain. It is 0 where nothing is relevant.
    pub(crate) fn relevance(&self, book: &Codebook) -> Result<QueryConstant, String> {
        let params = self.definition().params;
        let gain = if params.iter().any(|param| param.kind == ParamKind::Gain) {
            gains(self, book)?
        } else if self.choice("gain") == "grade" && self.definition().place("gmax").is_some() {
            Gains::Linear.table(book)?
        } else {
            // Measures without a level count every grade above 0.
            let has_level = self.definition().place("rel").is_some();
            let level = if has_level { self.rel() } else { 0f64.next_up() };
            return Ok(QueryConstant::Count(book.at_least(level)));
        };
        // Any gain of a table may be the largest, so an ideal ranking of depth 1 finds the largest
        // gain.
        Ok(QueryConstant::Ideal(IdealRanking { gain, discount: Discount::None, rank: Some(1) }))
    }
}
