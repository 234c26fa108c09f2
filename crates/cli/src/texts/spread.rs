//! The spread of a count over queries.

use laneval::error::printable;
use laneval::labels::{Ids, Unmatched};
use serde::Serialize;

use crate::style::{counted, thousands};

/// The least, the median and the largest of some counts; of an even number of counts the lower one
/// of the two in the middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct CountSpread {
    pub min: u64,
    pub median: u64,
    pub max: u64,
}

impl CountSpread {
    /// Makes the spread of counts in any order.
    pub fn of(mut counts: Vec<u64>) -> Self {
        counts.sort_unstable();
        let last = counts.len().saturating_sub(1);
        let at = |at: usize| counts.get(at).copied().unwrap_or(0);
        CountSpread { min: at(0), median: at(last / 2), max: at(last) }
    }
}

impl std::fmt::Display for CountSpread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [min, median, max] = [self.min, self.median, self.max].map(thousands);
        write!(f, "{min}, {median}, {max} per query (least, median, most)")
    }
}

/// Some queries: their number, and the first few.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NamedQueries {
    pub count: u64,
    /// The ids of the first few, in bytewise order.
    pub first: Vec<String>,
}

impl NamedQueries {
    /// Counts ids in bytewise order.
    pub fn of<'a>(ids: impl IntoIterator<Item = &'a [u8]>) -> Self {
        NamedQueries::from(&Unmatched::first(ids))
    }
}

impl From<&Unmatched> for NamedQueries {
    fn from(of: &Unmatched) -> Self {
        let first = |ids: &Ids| ids.iter().take(Unmatched::SHOWN).map(printable).collect();
        NamedQueries { count: of.count, first: first(&of.ids) }
    }
}

impl std::fmt::Display for NamedQueries {
    /// Writes the number, and the first ids, with `…` if there are more.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.count == 0 {
            return f.write_str("no query");
        }
        let more = self.count > self.first.len() as u64;
        write!(
            f,
            "{}: {}{}",
            counted(self.count, "query"),
            self.first.join(", "),
            if more { ", …" } else { "" }
        )
    }
}
