//! A comparison for people: means with the letters of the runs that each is better than, sentences, verdicts of gates.

use std::io::{self, Write};

use crate::compare::sentences::p_is;
use crate::compare::{Comparison, Difference, Gate, Judged, Scope, judged_measure};
use crate::error::printable;
use crate::report::grid::{Align, Cell, Grid};
use crate::report::markup::Markup;
use crate::report::options::ReportOptions;
use crate::sort;

/// The number of queries at either end of a list of differences.
const ENDS: usize = 10;

/// Writes tables, sentences and verdicts.
pub fn write(
    comparison: &Comparison,
    gates: &[(Gate, Vec<Judged>)],
    options: &ReportOptions,
    to: &mut impl Write,
) -> io::Result<()> {
    writeln!(to, "{}\n", caption(comparison))?;
    main(comparison, options).write(options, to)?;
    if let Some(legend) = legend(comparison) {
        let best = if options.colour { "bold" } else { "*" };
        writeln!(to, "\n{best} best; {legend}")?;
    }
    for sentence in comparison.sentences() {
        writeln!(to, "\n{sentence}")?;
    }
    for measure in 0..comparison.anova.len() {
        writeln!(to, "\n{}", anova(comparison, measure))?;
    }
    if let Some(agreement) = agreement(comparison, options) {
        writeln!(to)?;
        agreement.write(options, to)?;
    }
    if let Some(discrimination) = discrimination(comparison) {
        writeln!(to)?;
        discrimination.write(options, to)?;
    }
    if options.per_query && comparison.query_ids().len() > 0 {
        for of in comparison.of_measure(0) {
            writeln!(to, "\n{}\n", ends_caption(comparison, of))?;
            by_query(comparison, of, options).write(options, to)?;
        }
    }
    for (gate, judged) in gates {
        writeln!(to)?;
        judged.iter().try_for_each(|judged| writeln!(to, "{}", verdict(comparison, gate, judged)))?;
    }
    Ok(())
}

/// Writes the main table marked up, with the settings as its caption.
pub fn write_markup(
    markup: Markup,
    comparison: &Comparison,
    options: &ReportOptions,
    to: &mut impl Write,
) -> io::Result<()> {
    let options = ReportOptions { colour: false, width: None, ..options.clone() };
    let caption =
        [Some(caption(comparison)), legend(comparison)].into_iter().flatten().collect::<Vec<_>>().join(" ");
    markup.write(&main(comparison, &options), &caption, to)
}

fn name(comparison: &Comparison, run: usize) -> String {
    printable(comparison.runs[run].name.as_bytes())
}

/// The caption: the runs, the measures and the settings of the comparison.
fn caption(comparison: &Comparison) -> String {
    let asked = &comparison.options;
    let against = match comparison.baseline {
        Some(baseline) => format!(", against {}", name(comparison, baseline)),
        None => String::new(),
    };
    let queries = if comparison.queries == 1 {
        "1 query".to_owned()
    } else {
        format!("{} queries", comparison.queries)
    };
    let scope = if asked.family == Scope::All || comparison.measures.len() == 1 || comparison.family_size == 1
    {
        ""
    } else {
        " per measure"
    };
    let drawn = match comparison.draws {
        0 => String::new(),
        draws => format!("; {draws} permutations, seed {:#x}", asked.seed),
    };
    format!("{} runs{against}, {queries}; {}{scope}{drawn}", comparison.runs.len(), comparison.method())
}

/// The legend of the marks of the main table.
fn legend(comparison: &Comparison) -> Option<String> {
    if comparison.runs.len() == 2 {
        return None;
    }
    let alpha = comparison.options.alpha;
    let tied = if comparison.baseline.is_none() { "= not shown to be worse; " } else { "" };
    Some(format!("{tied}letters: shown to be better than that run (adjusted p < {alpha})."))
}

fn main(comparison: &Comparison, options: &ReportOptions) -> Grid {
    if comparison.runs.len() == 2 { two_runs(comparison, options) } else { several_runs(comparison, options) }
}

/// The measures of judged documents that are known, each once, with the index of a measure under which they were computed.
fn judged(comparison: &Comparison) -> Vec<(String, usize)> {
    let mut all: Vec<(String, usize)> = Vec::new();
    for (at, measure) in comparison.measures.iter().enumerate() {
        let known = comparison.runs.iter().any(|run| run.judged.get(at).copied().flatten().is_some());
        let name = judged_measure(measure).to_string();
        if known && all.iter().all(|(other, _)| *other != name) {
            all.push((name, at));
        }
    }
    all
}

fn share(comparison: &Comparison, run: usize, measure: usize) -> String {
    let share = comparison.runs[run].judged.get(measure).copied().flatten();
    share.map_or("–".to_owned(), |share| format!("{:.0} %", 100.0 * share))
}

/// The table of several runs: runs as rows, measures as columns.
fn several_runs(comparison: &Comparison, options: &ReportOptions) -> Grid {
    let judged = judged(comparison);
    let measures = comparison.measures.iter().map(|measure| (measure.to_string(), Align::Right));
    let shares = judged.iter().map(|(name, _)| (name.clone(), Align::Right));
    let names = [("#".to_owned(), Align::Left), ("run".to_owned(), Align::Left)];
    let mut grid = Grid::new(names.into_iter().chain(measures).chain(shares));
    for (at, run) in comparison.runs.iter().enumerate() {
        let cell = |measure: usize| {
            let best = comparison.is_best(measure, at);
            Cell {
                text: format!("{:.*}", options.precision, run.means[measure]),
                best,
                tied: !best && comparison.is_tied_with_best(measure, at) == Some(true),
                labels: comparison
                    .beaten(measure, at)
                    .into_iter()
                    .map(|run| comparison.runs[run].label.clone())
                    .collect(),
            }
        };
        let names = [Cell::from(run.label.as_str()), name(comparison, at).into()];
        let cells = (0..comparison.measures.len()).map(cell);
        grid.push(
            names
                .into_iter()
                .chain(cells)
                .chain(judged.iter().map(|&(_, measure)| share(comparison, at, measure).into())),
        );
    }
    grid
}

/// The table of two runs: measures as rows.
fn two_runs(comparison: &Comparison, options: &ReportOptions) -> Grid {
    let baseline = comparison.differences[0].pair.baseline;
    let run = comparison.differences[0].pair.run;
    let mut headings = vec![("measure".to_owned(), Align::Left)];
    let others = ["delta", "relative", "interval", "p", "p adj", "d", "won/tied/lost"];
    let runs = [baseline, run].map(|run| name(comparison, run));
    headings.extend(runs.into_iter().chain(others.map(str::to_owned)).map(|heading| (heading, Align::Right)));
    let columns = headings.len();
    let mut grid = Grid::new(headings);
    let precision = options.precision;
    let none = || "–".to_owned();
    for (measure, of) in comparison.measures.iter().zip(&comparison.differences) {
        let best = |at: usize| {
            let other = if at == run { baseline } else { run };
            comparison.beaten(of.measure, at).contains(&other)
        };
        let mean = |at: usize| Cell {
            text: format!("{:.precision$}", comparison.runs[at].means[of.measure]),
            best: best(at),
            ..Cell::default()
        };
        let signed = |value: f64| {
            if of.logarithmic {
                format!("×{:.precision$}", value.exp())
            } else {
                format!("{value:+.precision$}")
            }
        };
        let interval =
            of.interval.map_or_else(none, |[low, high]| format!("{} … {}", signed(low), signed(high)));
        let wins = of.wins;
        grid.push([
            measure.to_string().into(),
            mean(baseline),
            mean(run),
            signed(of.paired.mean).into(),
            of.relative.map_or_else(none, |relative| format!("{:+.1} %", 100.0 * relative)).into(),
            interval.into(),
            of.p.map_or_else(none, p).into(),
            of.p_adjusted.map_or_else(none, p).into(),
            of.paired.d_z().map_or_else(none, |d| format!("{d:+.2}")).into(),
            format!("{}/{}/{}", wins.wins, wins.ties, wins.losses).into(),
        ]);
    }
    for (name, measure) in judged(comparison) {
        let shares = [baseline, run].map(|run| share(comparison, run, measure));
        let cells = [name].into_iter().chain(shares).map(Cell::from);
        grid.push(cells.chain(std::iter::repeat_n(Cell::default(), columns - 3)));
    }
    grid
}

/// A p with four decimals, or as less than the smallest of these.
fn p(p: f64) -> String {
    if p < 0.0001 { "<0.0001".to_owned() } else { format!("{p:.4}") }
}

fn anova(comparison: &Comparison, measure: usize) -> String {
    let of = &comparison.anova[measure];
    let effect = |f: Option<f64>, p: Option<f64>| match f.zip(p) {
        Some((f, p)) => format!("F = {f:.2}, {}", p_is(p)),
        None => "no F, because nothing is left unexplained".to_owned(),
    };
    format!(
        "Analysis of variance of {}: runs ({} df) {}; queries ({} df) {}; {} df of error; it assumes equal variances.",
        comparison.measures[measure],
        of.runs.df,
        effect(of.runs.f, of.runs.p),
        of.queries.df,
        effect(of.queries.f, of.queries.p),
        of.error_df
    )
}

/// The table of how far the measures agree with the first one on the order of the runs.
fn agreement(comparison: &Comparison, options: &ReportOptions) -> Option<Grid> {
    if comparison.agreement.is_empty() {
        return None;
    }
    let first = format!("agreement with {}", comparison.measures[0]);
    let columns = [(first, Align::Left)]
        .into_iter()
        .chain(["τ", "τ_ap", "RBO"].map(|name| (name.to_owned(), Align::Right)));
    let mut grid = Grid::new(columns);
    for of in &comparison.agreement {
        let number = |value: Option<f64>| {
            value.map_or("–".to_owned(), |value| format!("{value:.*}", options.precision))
        };
        let numbers = [of.tau, of.tau_ap, of.overlap].map(|value| Cell::from(number(value)));
        grid.push([Cell::from(comparison.measures[of.measure].to_string())].into_iter().chain(numbers));
    }
    Some(grid)
}

/// The table of the number of pairs of runs that each measure separates.
fn discrimination(comparison: &Comparison) -> Option<Grid> {
    let all = comparison.discrimination();
    if all.is_empty() {
        return None;
    }
    let apart = format!("pairs with p < {}, uncorrected", comparison.options.alpha);
    let columns = [("measure".to_owned(), Align::Left), (apart, Align::Right)];
    let mut grid = Grid::new(columns);
    for of in &all {
        let share = of.share().map_or(String::new(), |share| format!(" ({:.0} %)", 100.0 * share));
        let apart = format!("{} of {}{share}", of.apart, of.p.len());
        grid.push([comparison.measures[of.measure].to_string(), apart].map(Cell::from));
    }
    Some(grid)
}

fn ends_caption(comparison: &Comparison, of: &Difference) -> String {
    let [run, baseline] = [of.pair.run, of.pair.baseline].map(|run| name(comparison, run));
    let shown = if comparison.queries > 2 * ENDS {
        format!("the {ENDS} most gained and the {ENDS} most lost queries")
    } else {
        "by query".to_owned()
    };
    format!("{} of {run} against {baseline}, {shown}", comparison.measures[of.measure])
}

/// The queries that differ most, the greatest gain first.
fn by_query(comparison: &Comparison, of: &Difference, options: &ReportOptions) -> Grid {
    let [run, baseline] = [of.pair.run, of.pair.baseline];
    let values = |at| comparison.values(of.measure, at);
    let gain = |query: &usize| comparison.change(of, *query) * of.gain_sign();
    let written = |at: usize, query: usize| match comparison.lacks(at, query) {
        true => "missing".to_owned(),
        false => format!("{:.*}", options.precision, values(at)[query]),
    };
    let mut order: Vec<usize> = (0..comparison.queries).collect();
    sort::by_number(&mut order, |query| -gain(query));
    if order.len() > 2 * ENDS {
        order.drain(ENDS..order.len() - ENDS);
    }
    let ids: Vec<&[u8]> = comparison.query_ids().collect();
    let headings =
        ["query".to_owned(), name(comparison, baseline), name(comparison, run), "delta".to_owned()];
    let aligned = headings
        .into_iter()
        .enumerate()
        .map(|(at, heading)| (heading, if at == 0 { Align::Left } else { Align::Right }));
    let mut grid = Grid::new(aligned);
    for query in order {
        let change = format!("{:+.*}", options.precision, comparison.change(of, query));
        let numbers = [written(baseline, query), written(run, query), change];
        grid.push([Cell::from(printable(ids[query]))].into_iter().chain(numbers.map(Cell::from)));
    }
    grid
}

/// A gate, with the reason why a run failed or passed it.
fn verdict(comparison: &Comparison, gate: &Gate, of: &Judged) -> String {
    let verdict = &of.verdict;
    let result = if verdict.failed { "FAILED" } else { "passed" };
    let mut text = format!(
        "{result}  {}: {gate}  ({:.6}, limit {}",
        name(comparison, of.run),
        verdict.value,
        verdict.threshold
    );
    if let Some(p) = verdict.p {
        text += &format!(", {}", p_is(p));
    }
    let measure =
        comparison.measures.iter().position(|measure| measure == gate.measure()).filter(|_| gate.compares());
    let baseline = comparison.baseline.unwrap_or(0);
    let interval = measure.and_then(|measure| comparison.between(measure, baseline, of.run)?.interval);
    if let Some([low, high]) = interval {
        text += &format!(", delta {low:+.4} … {high:+.4}");
    }
    text + ")"
}
