//! A pool analysis as tables: judged documents that each run contributed, its values when left out,
//! and losses by measure.

use std::io::{self, Write};

use crate::pools::{LeaveOneOut, Pools};
use crate::report::grid::Grid;
use crate::report::html::histogram::queries as in_words;
use crate::report::markup::Markup;
use crate::report::options::ReportOptions;
use crate::report::run_name::visible;

/// Writes a pool analysis as tables of text, with caption and legend.
pub fn write(pools: &Pools, options: &ReportOptions, to: &mut impl Write) -> io::Result<()> {
    caption(pools).iter().try_for_each(|line| writeln!(to, "{line}"))?;
    for grid in grids(pools, options) {
        writeln!(to)?;
        grid.write(options, to)?;
    }
    writeln!(to)?;
    legend(pools).iter().try_for_each(|line| writeln!(to, "{line}"))
}

/// Writes a pool analysis as Markdown or LaTeX tables, the first with the caption, the last with
/// the legend.
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

/// Returns the lines above the tables of a pool analysis: the size of the pool.
fn caption(pools: &Pools) -> Vec<String> {
    let Pools { depth, queries, judged, relevant, pooled, pooled_relevant, .. } = pools;
    let queries = in_words(*queries as usize);
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

/// Returns the lines below the tables of a pool analysis: the meaning of their columns.
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

/// Returns the table of judged, relevant and unique documents that each run contributed to the
/// pool.
fn brought(pools: &Pools) -> Grid {
    let shares = ["Judged@10", "@100"];
    let numbers =
        ["judged", "unique", "relevant", "unique"].into_iter().chain(shares).chain(["judged to"]);
    let mut grid = Grid::of_numbers("run", numbers.map(str::to_owned));
    for run in &pools.runs {
        let counts = [run.judged, run.unique, run.relevant, run.unique_relevant]
            .map(|count| count.to_string());
        let shares = run
            .judged_share
            .map(|share| share.map_or("–".to_owned(), |share| format!("{:.0} %", 100.0 * share)));
        let rest = shares.into_iter().chain([run.judged_to.to_string()]);
        let name = visible(&run.name);
        grid.push([name].into_iter().chain(counts).chain(rest).map(Into::into));
    }
    grid
}

/// Returns the table of each run's value under a measure, with all judgments and when left out of
/// the pool.
fn left_out(pools: &Pools, at: usize, options: &ReportOptions) -> Grid {
    let numbers = [&pools.measures[at].to_string(), "left out", "delta", "relative", "rank"]
        .map(str::to_owned);
    let mut grid = Grid::of_numbers("run", numbers);
    for run in &pools.runs {
        let effect = &run.left_out[at];
        // Adding 0 turns −0 into 0.
        let relative = effect
            .relative()
            .map_or("–".to_owned(), |share| format!("{:+.1} %", 100.0 * share + 0.0));
        let cells = [
            number(effect.value, options, false),
            number(effect.without, options, false),
            number(effect.delta(), options, true),
            relative,
            rank(effect),
        ];
        grid.push([visible(&run.name)].into_iter().chain(cells).map(Into::into));
    }
    grid
}

/// Returns the table of the losses of runs left out of the pool, by measure.
fn losses(pools: &Pools, options: &ReportOptions) -> Grid {
    let numbers = ["mean loss", "largest", "of", "τ"].map(str::to_owned);
    let mut grid = Grid::of_numbers("measure", numbers);
    for (measure, loss) in pools.measures.iter().zip(&pools.losses) {
        let (largest, run) = loss.largest.unzip();
        let run = run.map_or("–".to_owned(), |run| visible(&pools.runs[run].name));
        let [mean, largest, tau] =
            [loss.mean, largest, loss.tau_b].map(|value| number(value, options, false));
        grid.push([measure.to_string(), mean, largest, run, tau].map(Into::into));
    }
    grid
}

/// Returns a number as text for a table of a pool analysis; `–` if it is not defined.
fn number(value: Option<f64>, options: &ReportOptions, signed: bool) -> String {
    let decimals = options.precision;
    match (value, signed) {
        (None, _) => "–".to_owned(),
        (Some(value), true) => format!("{:+.decimals$}", value + 0.0),
        (Some(value), false) => format!("{value:.decimals$}"),
    }
}

/// Returns as text a run's rank with all judgments and, if different, its rank when left out.
fn rank(effect: &LeaveOneOut) -> String {
    match (effect.rank, effect.rank_without) {
        (Some(rank), Some(without)) if rank != without => format!("{rank} → {without}"),
        (Some(rank), _) => rank.to_string(),
        (None, _) => "–".to_owned(),
    }
}
