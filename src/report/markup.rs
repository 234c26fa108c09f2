//! Grids as Markdown and LaTeX, for pages and papers.

use std::io::{self, Write};

use super::grid::{Align, Cell, Grid, joined};

/// A language in which tables are marked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Markup {
    /// Tables of GitHub's Markdown.
    Markdown,
    /// A `tabular` of the package booktabs.
    Latex,
}

impl Markup {
    /// Writes a grid with a caption.
    ///
    /// # Errors
    /// The error of the writer.
    pub fn write(self, grid: &Grid, caption: &str, to: &mut impl Write) -> io::Result<()> {
        match self {
            Markup::Markdown => self.markdown(grid, caption, to),
            Markup::Latex => self.latex(grid, caption, to),
        }
    }

    /// Writes a paragraph, in bold type if it is `strong`. In LaTeX the paragraph is a comment,
    /// because a paper explains its tables in its own words.
    ///
    /// # Errors
    /// The error of the writer.
    pub fn paragraph(self, text: &str, strong: bool, to: &mut impl Write) -> io::Result<()> {
        match (self, strong) {
            (Markup::Markdown, true) => writeln!(to, "**{}**", self.escaped(text)),
            (Markup::Markdown, false) => writeln!(to, "{}", self.escaped(text)),
            // A line break would end the comment.
            (Markup::Latex, _) => writeln!(to, "% {}", text.replace(['\n', '\r'], " ")),
        }
    }

    fn markdown(self, grid: &Grid, caption: &str, to: &mut impl Write) -> io::Result<()> {
        let (headings, rules): (Vec<String>, Vec<&str>) = grid
            .headings()
            .map(|(heading, align)| {
                (self.escaped(heading), if align == Align::Left { "---" } else { "---:" })
            })
            .unzip();
        writeln!(to, "| {} |", headings.join(" | "))?;
        writeln!(to, "| {} |", rules.join(" | "))?;
        for row in grid.rows() {
            let cells: Vec<String> = row.iter().map(|cell| self.cell(cell)).collect();
            writeln!(to, "| {} |", cells.join(" | "))?;
        }
        if caption.is_empty() { Ok(()) } else { writeln!(to, "\n{}", self.escaped(caption)) }
    }

    fn latex(self, grid: &Grid, caption: &str, to: &mut impl Write) -> io::Result<()> {
        let columns: String = grid
            .headings()
            .map(|(_, align)| if align == Align::Left { 'l' } else { 'r' })
            .collect();
        let headings: Vec<String> =
            grid.headings().map(|(heading, _)| self.escaped(heading)).collect();
        writeln!(to, "\\begin{{table}}\n\\centering\n\\begin{{tabular}}{{{columns}}}\n\\toprule")?;
        writeln!(to, "{} \\\\\n\\midrule", headings.join(" & "))?;
        for row in grid.rows() {
            let cells: Vec<String> = row.iter().map(|cell| self.cell(cell)).collect();
            writeln!(to, "{} \\\\", cells.join(" & "))?;
        }
        writeln!(to, "\\bottomrule\n\\end{{tabular}}")?;
        if !caption.is_empty() {
            writeln!(to, "\\caption{{{}}}", self.escaped(caption))?;
        }
        writeln!(to, "\\end{{table}}")
    }

    /// A cell: the best in bold type, labels raised, and `=` if it is tied with the best.
    fn cell(self, cell: &Cell) -> String {
        let text = self.escaped(&cell.text);
        let text = match (self, cell.best) {
            (_, false) => text,
            (Markup::Markdown, true) => format!("**{text}**"),
            (Markup::Latex, true) => format!("\\textbf{{{text}}}"),
        };
        let labels = joined(&cell.labels, if self == Markup::Latex { "{\\cdot}" } else { "·" });
        let labels = match self {
            Markup::Latex => labels.replace('↑', "{\\uparrow}").replace('↓', "{\\downarrow}"),
            Markup::Markdown => labels,
        };
        let raised =
            match (self, if cell.tied && !cell.best { format!("={labels}") } else { labels }) {
                (_, labels) if labels.is_empty() => String::new(),
                (Markup::Markdown, labels) => format!("<sup>{labels}</sup>"),
                (Markup::Latex, labels) => format!("$^{{{labels}}}$"),
            };
        format!("{text}{raised}")
    }

    /// The text with all markup escaped.
    pub fn escaped(self, text: &str) -> String {
        let mut escaped = String::new();
        for letter in text.chars() {
            match (self, letter) {
                (Markup::Markdown, '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '~') => {
                    escaped.extend(['\\', letter])
                }
                (Markup::Markdown, '<') => escaped += "&lt;",
                (Markup::Markdown, '>') => escaped += "&gt;",
                (Markup::Markdown, '&') => escaped += "&amp;",
                (Markup::Latex, '&' | '%' | '$' | '#' | '_' | '{' | '}') => {
                    escaped.extend(['\\', letter])
                }
                (Markup::Latex, '\\') => escaped += "\\textbackslash{}",
                (Markup::Latex, '~') => escaped += "\\textasciitilde{}",
                (Markup::Latex, '^') => escaped += "\\textasciicircum{}",
                (Markup::Latex, '<') => escaped += "\\textless{}",
                (Markup::Latex, '>') => escaped += "\\textgreater{}",
                (Markup::Latex, '–') => escaped += "--",
                (Markup::Latex, '±') => escaped += "$\\pm$",
                (Markup::Latex, 'α') => escaped += "$\\alpha$",
                (Markup::Latex, '≥') => escaped += "$\\ge$",
                (Markup::Latex, '↑') => escaped += "$\\uparrow$",
                (Markup::Latex, '↓') => escaped += "$\\downarrow$",
                _ => escaped.push(letter),
            }
        }
        escaped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::grid::superscript;

    #[test]
    fn nothing_in_a_name_is_markup() {
        assert_eq!(Markup::Markdown.escaped("a_b|c*<i>"), r"a\_b\|c\*&lt;i&gt;");
        assert_eq!(Markup::Latex.escaped(r"50% of a_b & \c"), r"50\% of a\_b \& \textbackslash{}c");
    }

    #[test]
    fn labels_are_raised() {
        let of =
            |labels: &[&str]| labels.iter().map(|label| (*label).to_owned()).collect::<Vec<_>>();
        assert_eq!(superscript(&of(&["a", "z"])), "ᵃᶻ");
        assert_eq!(superscript(&of(&["1", "26"])), "¹·²⁶");
        let cell = Cell { best: true, labels: of(&["a", "c"]), ..Cell::from("0.5") };
        assert_eq!(Markup::Markdown.cell(&cell), "**0.5**<sup>ac</sup>");
        assert_eq!(Markup::Latex.cell(&cell), r"\textbf{0.5}$^{ac}$");
        let tied = Cell { tied: true, ..Cell::from("0.4") };
        assert_eq!(Markup::Markdown.cell(&tied), "0.4<sup>=</sup>");
    }
}
