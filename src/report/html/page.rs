//! The frame of an HTML page (head and style), and basic elements: sections, figures, tables and
//! notes.

use std::fmt::{Display, Write};

use super::markup::{Attributes, Elements};
use super::plot::shortened;

/// The policy of what a page may load: nothing but its own style.
const POLICY: &str = include_str!("policy.txt");

/// The names of colours with their values on white paper and on a dark screen. The colours of
/// series are those of Okabe and Ito, which the colour-blind can tell apart; those of a dark screen
/// are lighter.
const COLOURS: [(&str, &str, &str); 22] = [
    ("paper", "#ffffff", "#14171a"),
    ("card", "#f5f6f7", "#1d2125"),
    ("top", "#eaf3fa", "#1a2833"),
    ("ink", "#1b1f23", "#e8eaed"),
    ("soft", "#57606a", "#a5adb6"),
    ("rule", "#d5d9dd", "#3a4047"),
    ("grid", "#e6e8eb", "#2a2f35"),
    ("band", "#efe3b8", "#4a4220"),
    ("gain", "#0072b2", "#56b4e9"),
    ("loss", "#d55e00", "#ff9248"),
    ("bad", "#a83200", "#ff9d6b"),
    ("link", "#0066a1", "#6cbcf0"),
    ("tied", "#8a929a", "#8a929a"),
    ("value", "#5c7f99", "#7fa6c4"),
    ("mean", "#1b1f23", "#ffffff"),
    ("c0", "#0072b2", "#4fa9ea"),
    ("c1", "#d55e00", "#ff8a3d"),
    ("c2", "#009e73", "#2ec79a"),
    ("c3", "#b0568c", "#e59ac6"),
    ("c4", "#b37d00", "#f0b83a"),
    ("c5", "#3a9bd0", "#9ad6f8"),
    ("c6", "#4d4d4d", "#c4c8cc"),
];

/// The style of charts, in which colours are variables.
const CHART: &str = include_str!("chart.css");
/// The style of pages.
const PAGE: &str = include_str!("page.css");

/// Returns the CSS of a chart that stands alone, on white paper and without features that only
/// browsers have.
pub fn chart_style() -> String {
    COLOURS.iter().fold(CHART.to_owned(), |style, (name, light, _)| {
        style.replace(&format!("var(--{name})"), light)
    })
}

fn page_style() -> String {
    let (mut light, mut dark) = (String::new(), String::new());
    for (name, on_white, on_black) in COLOURS {
        _ = write!(light, "--{name}:{on_white};");
        _ = write!(dark, "--{name}:{on_black};");
    }
    // Paper is white, so dark colours are for screens alone.
    format!(
        ":root{{color-scheme:light dark;{light}}}\n@media screen and \
         (prefers-color-scheme:dark){{:root{{{dark}}}}}\n{CHART}{PAGE}"
    )
}

/// Makes a whole HTML page with a title and the body that `body` writes.
pub fn page(title: &str, body: impl FnOnce(&mut Elements)) -> Elements {
    let mut page = Elements::default();
    page.element("html", &[("xmlns", &"http://www.w3.org/1999/xhtml"), ("lang", &"en")], |page| {
        page.element("head", &[], |head| {
            head.empty("meta", &[("charset", &"utf-8")]);
            let policy = ("http-equiv", &"Content-Security-Policy" as &dyn Display);
            head.empty("meta", &[policy, ("content", &POLICY)]);
            let width = "width=device-width, initial-scale=1";
            head.empty("meta", &[("name", &"viewport"), ("content", &width)]);
            // Without it, browsers ask the server, or the disk, for favicon.ico: the page loads
            // nothing.
            head.empty("link", &[("rel", &"icon"), ("href", &"data:,")]);
            head.line("title", &[], title);
            head.line("style", &[], page_style());
        });
        page.element("body", &[], |page| page.element("main", &[], body));
    });
    page
}

/// Writes an HTML section with an id, under a heading.
pub fn section(
    page: &mut Elements,
    id: &'static str,
    heading: &str,
    inside: impl FnOnce(&mut Elements),
) {
    page.element("section", &[("id", &id)], |page| {
        page.line("h2", &[], heading);
        inside(page);
    });
}

/// Writes figures of an HTML page side by side, if there is room.
pub fn figure_row(page: &mut Elements, inside: impl FnOnce(&mut Elements)) {
    page.element("div", &[("class", &"figures")], inside);
}

/// Writes a figure of an HTML page, with a caption above and a note below.
pub fn figure(
    page: &mut Elements,
    caption: &str,
    note: Option<&str>,
    draw: impl FnOnce(&mut Elements),
) {
    page.element("figure", &[], |page| {
        page.element("figcaption", &[], |page| page.text(shortened(caption, 120)));
        draw(page);
        if let Some(note) = note {
            page.line("p", &[("class", &"note")], note);
        }
    });
}

/// Writes an HTML table in a container that scrolls if the table is too wide. The first `words`
/// columns are words, and the remaining columns are numbers.
pub fn table(
    page: &mut Elements,
    words: usize,
    headings: &[impl Display],
    rows: impl FnOnce(&mut Elements),
) {
    // The style aligns whole columns by the class of the table, so cells need no class for it.
    // The container accepts the focus, because only then the arrow keys scroll the table.
    page.element("div", &[("class", &"scroll"), ("tabindex", &"0")], |page| {
        page.element("table", &[("class", &format_args!("w{words}"))], |page| {
            page.element("thead", &[], |page| {
                page.element("tr", &[], |page| {
                    headings
                        .iter()
                        .for_each(|heading| page.line("th", &[("scope", &"col")], heading));
                });
            });
            page.element("tbody", &[], rows);
        });
    });
}

/// Writes an HTML table row whose first cell is the heading of the row.
pub fn row(page: &mut Elements, name: impl FnOnce(&mut Elements), cells: &[String]) {
    page.element("tr", &[], |page| {
        row_heading(page, name);
        cells.iter().for_each(|cell| page.line("td", &[], cell));
    });
}

/// Writes the heading cell of an HTML table row.
pub fn row_heading(page: &mut Elements, inside: impl FnOnce(&mut Elements)) {
    page.element("th", &[("scope", &"row")], inside);
}

/// Writes an HTML table cell; an empty `class` adds no attribute.
pub fn cell(page: &mut Elements, class: &str, inside: impl FnOnce(&mut Elements)) {
    element_with_class(page, "td", class, inside);
}

/// Writes an HTML element with a class; an empty `class` adds no attribute.
pub fn element_with_class(
    page: &mut Elements,
    name: &'static str,
    class: &str,
    inside: impl FnOnce(&mut Elements),
) {
    let attributes: Attributes = &[("class", &class)];
    page.element(name, if class.is_empty() { &[] } else { attributes }, inside);
}

/// Writes an HTML `details` element, whose heading folds and unfolds its content, open at first if
/// `is_open`. Folding needs no script, and a printed page shows the section unfolded.
pub fn details_element(
    page: &mut Elements,
    is_open: bool,
    heading: impl FnOnce(&mut Elements),
    inside: impl FnOnce(&mut Elements),
) {
    let open: Attributes = &[("open", &"open")];
    page.element("details", if is_open { open } else { &[] }, |page| {
        page.element("summary", &[], heading);
        inside(page);
    });
}

/// Returns text with no-break spaces between numbers and their signs.
pub fn no_break(text: &str) -> String {
    text.replace(" %", "\u{a0}%").replace(" = ", "\u{a0}=\u{a0}").replace(" < ", "\u{a0}<\u{a0}")
}

/// Writes a remark as a paragraph of the HTML page.
pub fn note(page: &mut Elements, text: &str) {
    page.line("p", &[("class", &"note")], no_break(text));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the relative luminance of a colour, as WCAG 2 defines it.
    fn luminance(colour: &str) -> f64 {
        let part = |at: usize| {
            let part = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    }

    fn contrast(one: &str, other: &str) -> f64 {
        let [one, other] = [one, other].map(luminance);
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn colours_can_be_told_from_what_is_behind_them() {
        assert!(
            (contrast("#d55e00", "#ffffff") - 3.87).abs() < 0.01,
            "an orange that no text may have"
        );
        let colour =
            |name: &str| COLOURS.iter().find(|(candidate, ..)| *candidate == name).unwrap();
        for ground in ["paper", "card", "top"] {
            let (_, light, dark) = colour(ground);
            for text in ["ink", "soft", "bad", "link"] {
                let (_, on_light, on_dark) = colour(text);
                let found = [contrast(on_light, light), contrast(on_dark, dark)];
                assert!(found.iter().all(|&found| found >= 4.5), "{text} on {ground}: {found:?}");
            }
        }
        // Marks of charts have to be seen, not read.
        for mark in ["gain", "loss", "tied", "value", "c0", "c1", "c2", "c3", "c4", "c5", "c6"] {
            let ((_, on_light, on_dark), (_, light, dark)) = (colour(mark), colour("paper"));
            let found = [contrast(on_light, light), contrast(on_dark, dark)];
            assert!(found.iter().all(|&found| found >= 3.0), "{mark}: {found:?}");
        }
    }
}
