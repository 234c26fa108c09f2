//! The numbers of a comparison by their names in machine formats.

use crate::compare::{Alternative, Compared, Comparison, Difference, Tails};

/// The numbers of a run under a measure.
pub fn of_run(
    comparison: &Comparison,
    run: &Compared,
    measure: usize,
) -> [(&'static str, Option<f64>); 4] {
    [
        ("mean", Some(run.means[measure])),
        ("n", Some((comparison.queries - comparison.skipped[measure]) as f64)),
        ("filled", Some(run.filled as f64)),
        ("judged", run.judged.get(measure).copied().flatten()),
    ]
}

/// The numbers of a difference by their names in machine formats. A number that does not exist is
/// `None`, not 0.
pub fn of_difference(comparison: &Comparison, of: &Difference) -> Vec<(&'static str, Option<f64>)> {
    let tail = |tails: Option<Tails>| {
        tails.map(|tails| match comparison.options.alternative {
            Alternative::Better => tails.better(of.better),
            Alternative::Worse => tails.worse(of.better),
            _ => tails.two_sided,
        })
    };
    let randomised = tail(of.randomised);
    let draws = f64::from(comparison.draws);
    let ends = of.interval.map(|[low, high]| (of.shown(low), of.shown(high)));
    vec![
        ("delta", Some(of.delta())),
        ("delta_rel", of.relative),
        ("ci_low", ends.map(|(low, _)| low)),
        ("ci_high", ends.map(|(_, high)| high)),
        ("sd", of.paired.sd),
        ("t", of.paired.t()),
        ("df", of.paired.t().map(|_| of.paired.df())),
        ("p_t", tail(of.t)),
        ("p_perm", randomised),
        ("p_perm_se", randomised.map(|p| (p * (1.0 - p) / draws).sqrt())),
        ("p_exact", tail(of.exact)),
        ("p_wilcoxon", tail(of.wilcoxon)),
        ("p_sign", (comparison.queries > 1).then_some(of.sign).and_then(|sign| tail(Some(sign)))),
        ("p", of.p),
        ("p_adj", of.p_adjusted),
        ("d_z", of.paired.d_z()),
        ("g_z", of.paired.g_z()),
        ("wins", Some(of.wins.wins as f64)),
        ("ties", Some(of.wins.ties as f64)),
        ("losses", Some(of.wins.losses as f64)),
        ("ps", Some(of.wins.share())),
        ("mde80", of.smallest_found),
        ("n80", of.queries_needed.map(|queries| queries as f64)),
        ("p_tost", of.p_margin),
    ]
}
