//! Statistics over the values of queries: exact sums, moments, averages and confidence intervals.

mod aggregate;
mod binomial;
mod fixed;
mod limbs;
mod long;
mod moments;
mod poisson;
pub(crate) mod rounding;
mod squares;
mod summary;
pub(crate) mod undefined;

pub use aggregate::ExactSum;
pub use moments::Moments;
pub use poisson::poisson_weight;
pub use summary::{Stat, StatName, percentile, summarise};
pub use undefined::{UNDEFINED, is_undefined};
