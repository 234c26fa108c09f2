//! What pages of scores and of comparisons have in common.

use super::context::Context;
use super::curves::Chart;
use super::markup::Elements;
use super::page::{figure, figures, note, table};
use super::plot::shortened;
use super::tables::left_out;
use crate::compare::special::student_quantile;
use crate::error::printable;
use crate::stats::Moments;

/// The maximum number of listed inputs.
const INPUTS: usize = 2 * 100;

/// Draws charts of curves.
pub fn draw_curves(page: &mut Elements, charts: &[Chart]) {
    figures(page, |page| {
        for chart in charts {
            figure(page, chart.caption(), chart.note().as_deref(), |page| chart.draw(page));
        }
    });
}

/// The t interval of a mean.
pub fn mean_interval(values: &[f64], alpha: f64) -> Option<[f64; 2]> {
    let mut moments = Moments::default();
    moments.add_all(values);
    let (mean, sd) = moments.mean().zip(moments.std())?;
    let df = values.len().checked_sub(1).filter(|&df| df > 0)? as f64;
    let margin = -student_quantile(0.5 * alpha, df) * sd / (values.len() as f64).sqrt();
    Some([mean - margin, mean + margin])
}

/// Writes links to the sections of a page.
pub fn links(page: &mut Elements, sections: &[(&'static str, &'static str)]) {
    page.element("nav", &[("aria-label", &"sections")], |page| {
        for (id, name) in sections {
            page.line("a", &[("href", &format_args!("#{id}"))], name);
            page.text(" ");
        }
    });
}

/// Writes settings: first `rows`, then the settings of the context.
pub fn definitions(page: &mut Elements, rows: &[(&str, String)], context: &Context) {
    let rule = context.ranking_rule.map(|rule| ("ranking rule".to_owned(), rule.to_owned()));
    let rows = rows.iter().map(|(what, value)| ((*what).to_owned(), value.clone()));
    page.element("dl", &[], |page| {
        for (what, value) in rows.chain(rule).chain(context.settings.iter().cloned()) {
            page.line("dt", &[], printable(what.as_bytes()));
            page.line("dd", &[], printable(value.as_bytes()));
        }
    });
}

/// Writes the inputs, and the command that reproduces the page.
pub fn inputs(page: &mut Elements, context: &Context) {
    if !context.inputs.is_empty() {
        table(page, 3, &["input", "file", "fingerprint"], |page| {
            for input in context.inputs.iter().take(INPUTS) {
                page.element("tr", &[], |page| {
                    page.line("th", &[("scope", &"row")], printable(input.kind.as_bytes()));
                    let file = shortened(&printable(input.name.as_bytes()), 100);
                    page.line("td", &[("class", &"words")], file);
                    let fingerprint = input.fingerprint.as_deref().unwrap_or("–");
                    page.element("td", &[], |page| {
                        page.line("code", &[], printable(fingerprint.as_bytes()));
                    });
                });
            }
        });
        left_out(page, context.inputs.len().min(INPUTS), context.inputs.len(), "inputs");
    }
    if let Some(command) = context.command {
        note(page, "To reproduce this page:");
        page.line("pre", &[], printable(command.as_bytes()));
    }
}

/// Writes the end of a page: the version of laneval.
pub fn footer(page: &mut Elements, context: &Context) {
    page.line("footer", &[], format_args!("laneval {}", printable(context.version.as_bytes())));
}
