//! Statistics over the values of queries.

mod aggregate;
mod binomial;
mod summary;

pub use aggregate::ExactSum;
pub use summary::{Stat, summarise};
