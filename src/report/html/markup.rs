//! Markup: elements of HTML and SVG, in which all text and all attributes are escaped.
//!
//! Markup can only be written by the functions here: names of elements and attributes are literals,
//! and everything else is escaped. The output is well-formed XML too, apart from the line that says
//! it is HTML.
//!
//! Run names, query ids and file names may hold any bytes, and somebody else opens the page in a
//! browser. Therefore all text and all attribute values pass through one escaping writer, even
//! harmless values such as numbers. Only literals bypass the writer: their type is `&'static str`.
//! As a second defence, the policy of a page allows no script at all.
//!
//! The writer escapes both kinds of quotes, so text and attributes share the writer. Controls
//! become U+FFFD, because SVG files are XML, and XML forbids most controls, even escaped.

use std::fmt::{self, Display, Write};

/// Attributes of an element, in order.
pub type Attributes<'a> = &'a [(&'static str, &'a dyn Display)];

/// A sequence of elements and text, as written markup.
#[derive(Debug, Default)]
pub struct Elements {
    written: String,
    /// The number of ids given out so far.
    ids: usize,
}

impl Elements {
    /// Writes an element with the content that `inside` writes.
    pub fn element(
        &mut self,
        name: &'static str,
        attributes: Attributes,
        inside: impl FnOnce(&mut Elements),
    ) {
        self.open(name, attributes);
        self.written.push('>');
        inside(self);
        self.written.push_str("</");
        self.written.push_str(name);
        self.written.push('>');
        if ends_line(name) {
            self.written.push('\n');
        }
    }

    /// Writes an element that contains text alone.
    pub fn line(&mut self, name: &'static str, attributes: Attributes, text: impl Display) {
        self.element(name, attributes, |inside| inside.text(text));
    }

    /// Writes an empty element.
    pub fn empty(&mut self, name: &'static str, attributes: Attributes) {
        self.open(name, attributes);
        self.written.push_str("/>");
    }

    /// Writes a mark of a chart, with a title that the browser shows over the mark.
    pub fn mark(&mut self, name: &'static str, attributes: Attributes, title: impl Display) {
        self.element(name, attributes, |inside| inside.line("title", &[], title));
    }

    /// Writes text.
    pub fn text(&mut self, text: impl Display) {
        write!(Escaped(&mut self.written), "{text}").expect("a string takes everything");
    }

    /// The text of the markup.
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Returns a new number, for an id that is unique in the markup.
    pub fn fresh(&mut self) -> usize {
        self.ids += 1;
        self.ids
    }

    fn open(&mut self, name: &'static str, attributes: Attributes) {
        self.written.push('<');
        self.written.push_str(name);
        for (attribute, value) in attributes {
            self.written.push(' ');
            self.written.push_str(attribute);
            self.written.push_str("=\"");
            self.text(value);
            self.written.push('"');
        }
    }
}

/// Whether a line ends behind an element, so that the source of a page can be read.
fn ends_line(name: &str) -> bool {
    matches!(
        name,
        "head"
            | "style"
            | "h1"
            | "h2"
            | "h3"
            | "p"
            | "li"
            | "ul"
            | "tr"
            | "table"
            | "section"
            | "figure"
            | "svg"
            | "div"
            | "testsuite"
            | "testcase"
            | "details"
            | "summary"
            | "tbody"
    )
}

/// A writer that escapes text.
struct Escaped<'a>(&'a mut String);

impl fmt::Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                // Tab and line feed are the only controls kept, because XML forbids most controls,
                // U+FFFE and U+FFFF.
                '\t' | '\n' => self.0.push(c),
                // A carriage return is replaced too: XML readers turn a carriage return into a line
                // feed, so the text would not survive a round trip.
                c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {
                    self.0.push('\u{fffd}')
                }
                c => self.0.push(c),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_escaped() {
        let mut page = Elements::default();
        let name = "\"><script>alert('a' & 1)</script>\u{1}\r";
        page.element("b", &[("title", &name)], |inside| inside.text(name));
        let escaped =
            "&quot;&gt;&lt;script&gt;alert(&#39;a&#39; &amp; 1)&lt;/script&gt;\u{fffd}\u{fffd}";
        assert_eq!(page.as_str(), format!("<b title=\"{escaped}\">{escaped}</b>"));
    }
}
