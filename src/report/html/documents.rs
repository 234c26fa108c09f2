//! The first documents of a query in two runs, side by side: why one of them lost.

use super::context::{Context, TopDocuments};
use super::markup::Elements;
use super::names::{name, write_name};
use super::page::{classed, figures, folded, note, table};

/// The most columns of the id of a document.
const ID: usize = 48;

/// Writes the first documents of a query in some runs under a heading, if they are known.
pub fn write(
    page: &mut Elements,
    context: &Context,
    query: &[u8],
    runs: [&str; 2],
    heading: impl FnOnce(&mut Elements),
) {
    let of_run = |run: &str| context.documents.iter().find(|of| of.query == query && of.run == run);
    let known: Vec<&TopDocuments> = runs.into_iter().filter_map(of_run).collect();
    if known.is_empty() {
        return;
    }
    folded(page, false, heading, |page| {
        figures(page, |page| known.iter().for_each(|of| ranking(page, of)));
        note(page, "– is a document without a judgment. Relevant documents are bold.");
    });
}

fn ranking(page: &mut Elements, of: &TopDocuments) {
    page.element("figure", &[], |page| {
        page.line("figcaption", &[], name(&of.run));
        if of.documents.is_empty() {
            return note(page, "no documents");
        }
        table(page, 2, &["rank", "document", "grade", "score"], |page| {
            for document in &of.documents {
                classed(page, "tr", if document.is_relevant { "relevant" } else { "" }, |page| {
                    page.line("td", &[], document.rank);
                    page.element("th", &[("scope", &"row")], |page| {
                        write_name(page, &document.id, ID)
                    });
                    page.line("td", &[], &document.grade);
                    page.line("td", &[], &document.score);
                });
            }
        });
    });
}
