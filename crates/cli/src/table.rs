//! How tables are to look.

use clap::Args;
use laneval::report::Options;

use super::style::{stdout_has_colour, stdout_width};

/// Options of tables.
#[derive(Debug, Args)]
pub struct TableOptions {
    /// Decimals in tables
    #[arg(long, value_name = "N", default_value = "4", help_heading = "Output")]
    #[arg(value_parser = clap::value_parser!(u8).range(0..=17))]
    precision: u8,
}

impl TableOptions {
    /// How a report is to look, on stdout or not, with the values of queries or without.
    pub fn options(&self, to_stdout: bool, per_query: bool) -> Options {
        Options {
            per_query,
            precision: usize::from(self.precision),
            colour: to_stdout && stdout_has_colour(),
            width: if to_stdout { stdout_width() } else { None },
        }
    }
}
