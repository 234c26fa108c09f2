//! The first documents of a query in two runs side by side on the HTML page, to show why one run
//! lost.

use super::context::{PageContext, TopDocuments};
use super::markup::Elements;
use super::names::{name, write_name};
use super::page::{details_element, element_with_class, figure_row, note, row_heading, table};

/// The most columns of the id of a document.
const ID: usize = 48;

/// Writes the first documents of a query in two runs, under a heading that unfolds them, if known.
pub fn write(
    page: &mut Elements,
    context: &PageContext,
    query: &[u8],
    runs: [&str; 2],
    heading: impl FnOnce(&mut Elements),
) {
    let known = runs.into_iter().filter_map(|run| {
        context.documents.iter().find(|top| top.query == query && top.run == run)
    });
    let known: Vec<&TopDocuments> = known.collect();
    if known.is_empty() {
        return;
    }
    details_element(page, false, heading, |page| {
        figure_row(page, |page| known.iter().for_each(|top| ranking(page, top)));
        note(page, "– is a document without a judgment. Relevant documents are bold.");
    });
}

fn ranking(page: &mut Elements, top: &TopDocuments) {
    page.element("figure", &[], |page| {
        page.line("figcaption", &[], name(&top.run));
        if top.documents.is_empty() {
            return note(page, "no documents");
        }
        table(page, 2, &["rank", "document", "grade", "score"], |page| {
            for document in &top.documents {
                let class = if document.is_relevant { "relevant" } else { "" };
                element_with_class(page, "tr", class, |page| {
                    page.line("td", &[], document.rank);
                    row_heading(page, |page| write_name(page, &document.id, ID));
                    page.line("td", &[], &document.grade);
                    page.line("td", &[], &document.score);
                });
            }
        });
    });
}
