//! Statistics over the values of queries.

mod aggregate;
mod binomial;
mod fixed;
mod limbs;
mod moments;
mod poisson;
pub(crate) mod rounding;
mod squares;
mod summary;

pub use aggregate::ExactSum;
pub use fixed::{Fixed, ParseFixedError};
pub use moments::Moments;
pub use poisson::poisson_weight;
pub use squares::SquareSum;
pub use summary::{Stat, StatName, percentile, summarise};
