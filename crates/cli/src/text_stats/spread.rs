//! The least, median and largest of a count over queries, and the first few of some queries.

use laneval::error::printable;
use laneval::labels::Unmatched;
use serde::Serialize;

use crate::style::{pluralize, thousands};

/// The least, the median and the largest of some counts over queries. Of an even number of counts
/// the median is the lower one of the two in the middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct CountSpread {
    pub min: u64,
    pub median: u64,
    pub max: u64,
}

impl CountSpread {
    /// Finds the least, median and largest of counts in any order.
    pub fn from_counts(mut counts: Vec<u64>) -> Self {
        counts.sort_unstable();
        let last = counts.len().saturating_sub(1);
        let [min, median, max] = [0, last / 2, last].map(|at| counts.get(at).copied().unwrap_or(0));
        Self { min, median, max }
    }
}

impl std::fmt::Display for CountSpread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [min, median, max] = [self.min, self.median, self.max].map(thousands);
        write!(f, "{min}, {median}, {max} per query (least, median, most)")
    }
}

/// A number of queries, with the ids of the first few.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NamedQueries {
    pub count: u64,
    /// The ids of the first few, in bytewise order.
    pub first: Vec<String>,
}

impl NamedQueries {
    /// Counts query ids that come in bytewise order, and keeps the first few.
    pub fn from_ids<'a>(ids: impl IntoIterator<Item = &'a [u8]>) -> Self {
        Self::from(&Unmatched::first(ids))
    }
}

impl From<&Unmatched> for NamedQueries {
    fn from(queries: &Unmatched) -> Self {
        let first = queries.ids.iter().take(Unmatched::SHOWN).map(printable);
        Self { count: queries.count, first: first.collect() }
    }
}

impl std::fmt::Display for NamedQueries {
    /// Writes the number of queries, and the first ids, with `…` if there are more.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.count == 0 {
            return f.write_str("no query");
        }
        let more = self.count > self.first.len() as u64;
        write!(
            f,
            "{}: {}{}",
            pluralize(self.count, "query"),
            self.first.join(", "),
            if more { ", …" } else { "" }
        )
    }
}
