//! Pools as tables for people: the documents that each run brought, the loss of each run under each
//! measure when left out, and a summary of the losses by measure.

use std::io::{self, Write};

use crate::error::printable;
use crate::pools::{LeftOut, Pools};
use crate::report::grid::{Align, Grid};
use crate::report::markup::Markup;
use crate::report::options::ReportOptions;

/// Writes tables.
pub fn write(pools: &Pools, options: &ReportOptions, to: &mut impl Write) -> io::Result<()> {
    caption(pools).iter().try_for_each(|line| writeln!(to, "{line}"))?;
    for grid in grids(pools, options) {
        writeln!(to)?;
        grid.write(options, to)?;
    }
    writeln!(to)?;
    legend(pools).iter().try_for_each(|line| writeln!(to, "{line}"))
}

/// Writes tables marked up: the first has the caption, the last the legend.
pub fn write_markup(
    markup: Markup,
    pools: &Pools,
    options: &ReportOptions,
    to: &mut impl Write,
) -> io::Result<()> {
    let grids = grids(pools, options);
    for (at, grid) in grids.iter().enumerate() {
        let text = match at {
            0 => caption(pools).join(" "),
            _ if at + 1 == grids.len() => legend(pools).join(" "),
            _ => String::new(),
        };
        markup.write(grid, &text, to)?;
        if at + 1 < grids.len() {
            writeln!(to)?;
        }
    }
    Ok(())
}

/// The lines above the tables: the size of the pool.
fn caption(pools: &Pools) -> Vec<String> {
    let Pools { depth, queries, judged, relevant, pooled, pooled_relevant, .. } = pools;
    let queries = if *queries == 1 { "1 query".to_owned() } else { format!("{queries} queries") };
    vec![
        format!(
            "{} runs, {queries}; the first {depth} documents of the runs have",
            pools.runs.len()
        ),
        format!(
            "{pooled} of {judged} judged and {pooled_relevant} of {relevant} relevant documents"
        ),
    ]
}

/// The lines below the tables.
fn legend(pools: &Pools) -> Vec<String> {
    let whose = if has_teams(pools) { "team" } else { "run" };
    vec![
        format!(
            "unique: among the first {} documents of no other run; judged to: the rank",
            pools.depth
        ),
        "down to which every document is judged, in each query.".to_owned(),
        format!("left out: without the judgments of documents that only this {whose} brought;"),
        "rank → rank if left out; τ: agreement of the orders of the runs, as they are and"
            .to_owned(),
        "each left out.".to_owned(),
    ]
}

fn has_teams(pools: &Pools) -> bool {
    pools.runs.iter().any(|run| run.team.is_some())
}

fn grids(pools: &Pools, options: &ReportOptions) -> Vec<Grid> {
    let measures = (0..pools.measures.len()).map(|at| left_out(pools, at, options));
    [brought(pools)].into_iter().chain(measures).chain([losses(pools, options)]).collect()
}

fn grid<'a>(
    names: impl IntoIterator<Item = &'a str>,
    numbers: impl IntoIterator<Item = String>,
) -> Grid {
    let names = names.into_iter().map(|name| (name.to_owned(), Align::Left));
    Grid::new(names.chain(numbers.into_iter().map(|name| (name, Align::Right))))
}

/// What each run brought.
fn brought(pools: &Pools) -> Grid {
    let shares = ["Judged@10", "@100"];
    let numbers =
        ["judged", "unique", "relevant", "unique"].into_iter().chain(shares).chain(["judged to"]);
    let mut grid = grid(["run"], numbers.map(str::to_owned));
    for run in &pools.runs {
        let counts = [run.judged, run.unique, run.relevant, run.unique_relevant]
            .map(|count| count.to_string());
        let share = |share: Option<f64>| {
            share.map_or("–".to_owned(), |share| format!("{:.0} %", 100.0 * share))
        };
        let rest = run.judged_share.map(share).into_iter().chain([run.judged_to.to_string()]);
        let name = printable(run.name.as_bytes());
        grid.push([name].into_iter().chain(counts).chain(rest).map(Into::into));
    }
    grid
}

/// What each run loses under a measure.
fn left_out(pools: &Pools, at: usize, options: &ReportOptions) -> Grid {
    let numbers = [&pools.measures[at].to_string(), "left out", "delta", "relative", "rank"]
        .map(str::to_owned);
    let mut grid = grid(["run"], numbers);
    for run in &pools.runs {
        let of = &run.left_out[at];
        let value = |value: Option<f64>| number(value, options, false);
        let relative = of
            .relative()
            .map_or("–".to_owned(), |share| format!("{:+.1} %", 100.0 * share + 0.0));
        let cells = [
            value(of.value),
            value(of.without),
            number(of.delta(), options, true),
            relative,
            rank(of),
        ];
        grid.push([printable(run.name.as_bytes())].into_iter().chain(cells).map(Into::into));
    }
    grid
}

/// Returns the table of the losses over all runs, by measure.
fn losses(pools: &Pools, options: &ReportOptions) -> Grid {
    let mut grid = grid(["measure"], ["mean loss", "largest", "of", "τ"].map(str::to_owned));
    for (measure, loss) in pools.measures.iter().zip(&pools.losses) {
        let (largest, run) = loss.largest.unzip();
        let run = run.map_or("–".to_owned(), |run| printable(pools.runs[run].name.as_bytes()));
        let [mean, largest, tau] =
            [loss.mean, largest, loss.tau_b].map(|value| number(value, options, false));
        grid.push([measure.to_string(), mean, largest, run, tau].map(Into::into));
    }
    grid
}

/// A number with as many decimals as tables have; `–` if it is not defined.
fn number(value: Option<f64>, options: &ReportOptions, signed: bool) -> String {
    let decimals = options.precision;
    match (value, signed) {
        (None, _) => "–".to_owned(),
        (Some(value), true) => format!("{:+.decimals$}", value + 0.0),
        (Some(value), false) => format!("{value:.decimals$}"),
    }
}

/// The ranks with all judgments, and without those of the run, if that is another.
fn rank(of: &LeftOut) -> String {
    match (of.rank, of.rank_without) {
        (Some(rank), Some(without)) if rank != without => format!("{rank} → {without}"),
        (Some(rank), _) => rank.to_string(),
        (None, _) => "–".to_owned(),
    }
}
