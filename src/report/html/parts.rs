//! Elements shared by HTML pages of scores and of comparisons: curves, links, settings, inputs and
//! footer.

use super::context::PageContext;
use super::curves::Chart;
use super::markup::Elements;
use super::page::{figure, figure_row, note, row_heading, table};
use super::plot::shortened;
use super::tables::left_out;
use crate::compare::special::student_quantile;
use crate::report::run_name::visible;
use crate::stats::Moments;

/// The maximum number of listed inputs.
const INPUTS: usize = 2 * 100;

/// Draws charts of measures over cutoffs in a row of an HTML page.
pub fn draw_curves(page: &mut Elements, charts: &[Chart]) {
    figure_row(page, |page| {
        for chart in charts {
            figure(page, chart.caption(), chart.note().as_deref(), |page| chart.draw(page));
        }
    });
}

/// Returns the t confidence interval of the mean of some values.
pub fn mean_interval(values: &[f64], alpha: f64) -> Option<[f64; 2]> {
    let mut moments = Moments::default();
    moments.add_all(values);
    let (mean, sd) = moments.mean().zip(moments.std())?;
    let df = values.len().checked_sub(1).filter(|&df| df > 0)? as f64;
    let margin = -student_quantile(0.5 * alpha, df) * sd / (values.len() as f64).sqrt();
    Some([mean - margin, mean + margin])
}

/// Writes links to the sections of an HTML page.
pub fn links(page: &mut Elements, sections: &[(&'static str, &'static str)]) {
    page.element("nav", &[("aria-label", &"sections")], |page| {
        for (id, name) in sections {
            page.line("a", &[("href", &format_args!("#{id}"))], name);
            page.text(" ");
        }
    });
}

/// Writes the settings of an evaluation to an HTML page: first `rows`, then those of the context.
pub fn definitions(page: &mut Elements, rows: &[(&str, String)], context: &PageContext) {
    let rule = context.ranking_rule.map(|rule| ("ranking rule".to_owned(), rule.to_owned()));
    let rows = rows.iter().map(|(what, value)| ((*what).to_owned(), value.clone()));
    page.element("dl", &[], |page| {
        for (what, value) in rows.chain(rule).chain(context.settings.iter().cloned()) {
            page.line("dt", &[], visible(what));
            page.line("dd", &[], visible(value));
        }
    });
}

/// Writes the input files, and the command that reproduces the page, to an HTML page.
pub fn inputs(page: &mut Elements, context: &PageContext) {
    if !context.inputs.is_empty() {
        table(page, 3, &["input", "file", "fingerprint"], |page| {
            for input in context.inputs.iter().take(INPUTS) {
                page.element("tr", &[], |page| {
                    row_heading(page, |page| page.text(visible(&input.kind)));
                    let file = shortened(&visible(&input.name), 100);
                    page.line("td", &[("class", &"words")], file);
                    let fingerprint = input.fingerprint.as_deref().unwrap_or("–");
                    page.element("td", &[], |page| {
                        page.line("code", &[], visible(fingerprint));
                    });
                });
            }
        });
        left_out(page, INPUTS, context.inputs.len(), "inputs");
    }
    if let Some(command) = context.command {
        note(page, "To reproduce this page:");
        page.line("pre", &[], visible(command));
    }
}

/// Writes the footer of an HTML page: the version of laneval.
pub fn footer(page: &mut Elements, context: &PageContext) {
    page.line("footer", &[], format_args!("laneval {}", visible(context.version)));
}
