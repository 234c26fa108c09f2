//! The options of `laneval compare` that say by which tests runs are compared.

use laneval::compare::{ComparisonOptions, Method, SEED, Zeros};
use laneval::options::{Given, permutations, random_seed, value_bound};

use crate::cli_error::{CliError, CliResult};

/// Returns the options of a comparison that were given, such as test and correction.
pub fn comparison_options(given: &Given) -> CliResult<ComparisonOptions> {
    let bounds = given.texts("value-bound").into_iter().map(value_bound);
    let mut options = ComparisonOptions::default();
    options.test = given.required("test")?;
    options.alternative = given.required("alternative")?;
    options.alpha = given.required("alpha")?;
    options.correction = given.required("correction")?;
    options.family = given.required("family")?;
    options.interval = given.required("ci")?;
    options.permutations = given.parsed("permutations", permutations)?.unwrap_or_default();
    options.seed = given.parsed("seed", random_seed)?.unwrap_or(SEED);
    options.margin = given.value("margin")?;
    options.power = given.value("power")?;
    options.tie = given.value("tie-epsilon")?;
    if given.text("wilcoxon-zeros") == Some("pratt") {
        options.zeros = Zeros::Pratt;
    }
    if given.text("wilcoxon-method") == Some("normal") {
        options.wilcoxon = Method::Normal;
    }
    options.anova = given.flag("anova");
    options.largest = bounds.collect::<Result<_, String>>().map_err(CliError::new)?;
    Ok(options)
}
