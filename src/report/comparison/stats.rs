//! The numbers of a comparison with their names in JSON, TSV and CSV.

use crate::compare::{Alternative, Comparison, Difference, RunStats};

/// Returns the named numbers of a run under a measure: mean, queries, filled queries and share of
/// judged documents.
pub fn run_stats(
    comparison: &Comparison,
    run: &RunStats,
    measure: usize,
) -> [(&'static str, Option<f64>); 4] {
    [
        ("mean", Some(run.means[measure])),
        ("n", Some((comparison.queries - comparison.skipped[measure]) as f64)),
        ("filled", Some(run.filled as f64)),
        ("judged", run.judged.get(measure).copied().flatten()),
    ]
}

/// Returns the named numbers of the difference between two runs: statistics, p-values and interval,
/// as in JSON and TSV. A number that does not exist is `None`, not 0.
pub fn difference_stats(
    comparison: &Comparison,
    difference: &Difference,
) -> Vec<(&'static str, Option<f64>)> {
    let sign = (comparison.queries > 1).then_some(difference.sign);
    let tests = [difference.t, difference.randomised, difference.exact, difference.wilcoxon, sign];
    let [t, randomised, exact, wilcoxon, sign] = tests.map(|tails| {
        let tails = tails?;
        Some(match comparison.options.alternative {
            Alternative::Better => tails.better(difference.better),
            Alternative::Worse => tails.worse(difference.better),
            _ => tails.two_sided,
        })
    });
    let draws = f64::from(comparison.draws);
    let ends = difference
        .interval
        .map(|[low, high]| (difference.display_value(low), difference.display_value(high)));
    vec![
        ("delta", Some(difference.delta())),
        ("delta_rel", difference.relative),
        ("ci_low", ends.map(|(low, _)| low)),
        ("ci_high", ends.map(|(_, high)| high)),
        ("sd", difference.paired.sd),
        ("t", difference.paired.t()),
        ("df", difference.paired.t().map(|_| difference.paired.df())),
        ("p_t", t),
        ("p_perm", randomised),
        ("p_perm_se", randomised.map(|p| (p * (1.0 - p) / draws).sqrt())),
        ("p_exact", exact),
        ("p_wilcoxon", wilcoxon),
        ("p_sign", sign),
        ("p", difference.p),
        ("p_adj", difference.p_adjusted),
        ("d_z", difference.paired.d_z()),
        ("g_z", difference.paired.g_z()),
        ("wins", Some(difference.wins.wins as f64)),
        ("ties", Some(difference.wins.ties as f64)),
        ("losses", Some(difference.wins.losses as f64)),
        ("ps", Some(difference.wins.share())),
        ("mde80", difference.smallest_found),
        ("n80", difference.queries_needed.map(|queries| queries as f64)),
        ("p_tost", difference.p_margin),
    ]
}
