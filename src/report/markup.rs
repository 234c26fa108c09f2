//! Tables as Markdown and LaTeX, for web pages and papers.

use std::io::{self, Write};

use super::grid::{Align, Cell, Grid, joined};

/// A markup language for tables: Markdown or LaTeX.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Markup {
    /// Tables of GitHub's Markdown.
    Markdown,
    /// A `tabular` of the package booktabs.
    Latex,
}

impl Markup {
    /// Writes a table with a caption as Markdown or LaTeX.
    ///
    /// # Errors
    /// The error of the writer.
    pub fn write(self, grid: &Grid, caption: &str, to: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Markdown => self.markdown(grid, caption, to),
            Self::Latex => self.latex(grid, caption, to),
        }
    }

    /// Writes a paragraph as Markdown, in bold type if `strong`, or as a LaTeX comment. In LaTeX
    /// the paragraph is a comment, because a paper explains its tables in its own words.
    ///
    /// # Errors
    /// The error of the writer.
    pub fn paragraph(self, text: &str, strong: bool, to: &mut impl Write) -> io::Result<()> {
        match (self, strong) {
            (Self::Markdown, true) => writeln!(to, "**{}**", self.escaped(text)),
            (Self::Markdown, false) => writeln!(to, "{}", self.escaped(text)),
            // A line break would end the comment.
            (Self::Latex, _) => writeln!(to, "% {}", text.replace(['\n', '\r'], " ")),
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

    /// Returns a table cell as Markdown or LaTeX: the best in bold type, labels raised, `=` for a
    /// tie with the best.
    fn cell(self, cell: &Cell) -> String {
        let text = self.escaped(&cell.text);
        let text = match (self, cell.best) {
            (_, false) => text,
            (Self::Markdown, true) => format!("**{text}**"),
            (Self::Latex, true) => format!("\\textbf{{{text}}}"),
        };
        let labels = joined(&cell.labels, if self == Self::Latex { "{\\cdot}" } else { "·" });
        let labels = match self {
            Self::Latex => labels.replace('↑', "{\\uparrow}").replace('↓', "{\\downarrow}"),
            Self::Markdown => labels,
        };
        let raised =
            match (self, if cell.tied && !cell.best { format!("={labels}") } else { labels }) {
                (_, labels) if labels.is_empty() => String::new(),
                (Self::Markdown, labels) => format!("<sup>{labels}</sup>"),
                (Self::Latex, labels) => format!("$^{{{labels}}}$"),
            };
        format!("{text}{raised}")
    }

    /// Returns text with all characters of Markdown or LaTeX markup escaped.
    pub fn escaped(self, text: &str) -> String {
        let mut escaped = String::new();
        for letter in text.chars() {
            match (self, letter) {
                (Self::Markdown, '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '~') => {
                    escaped.extend(['\\', letter])
                }
                (Self::Markdown, '<') => escaped += "&lt;",
                (Self::Markdown, '>') => escaped += "&gt;",
                (Self::Markdown, '&') => escaped += "&amp;",
                (Self::Latex, '&' | '%' | '$' | '#' | '_' | '{' | '}') => {
                    escaped.extend(['\\', letter])
                }
                (Self::Latex, '\\') => escaped += "\\textbackslash{}",
                (Self::Latex, '~') => escaped += "\\textasciitilde{}",
                (Self::Latex, '^') => escaped += "\\textasciicircum{}",
                (Self::Latex, '<') => escaped += "\\textless{}",
                (Self::Latex, '>') => escaped += "\\textgreater{}",
                (Self::Latex, '–') => escaped += "--",
                (Self::Latex, '±') => escaped += "$\\pm$",
                (Self::Latex, 'α') => escaped += "$\\alpha$",
                (Self::Latex, '≥') => escaped += "$\\ge$",
                (Self::Latex, '↑') => escaped += "$\\uparrow$",
                (Self::Latex, '↓') => escaped += "$\\downarrow$",
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
        let owned_labels =
            |labels: &[&str]| labels.iter().map(|label| (*label).to_owned()).collect::<Vec<_>>();
        assert_eq!(superscript(&owned_labels(&["a", "z"])), "ᵃᶻ");
        assert_eq!(superscript(&owned_labels(&["1", "26"])), "¹·²⁶");
        let cell = Cell { best: true, labels: owned_labels(&["a", "c"]), ..Cell::from("0.5") };
        assert_eq!(Markup::Markdown.cell(&cell), "**0.5**<sup>ac</sup>");
        assert_eq!(Markup::Latex.cell(&cell), r"\textbf{0.5}$^{ac}$");
        let tied = Cell { tied: true, ..Cell::from("0.4") };
        assert_eq!(Markup::Markdown.cell(&tied), "0.4<sup>=</sup>");
    }
}
