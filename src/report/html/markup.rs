//! A writer of HTML, SVG and JUnit XML elements that escapes all text and all attribute values.
//!
//! Elements can only be written by the functions here: names of elements and attributes are
//! literals, and everything else is escaped. Pages too are well-formed XML. The line `<!DOCTYPE
//! html>` before a page is written by the caller.
//!
//! Run names, query ids and file names may hold any bytes, and somebody else opens the page in a
//! browser. Therefore all text and all attribute values pass through one escaping writer, even
//! harmless values such as numbers. Only names bypass the writer: their type is `&'static str`. As
//! a second defence, a page's Content-Security-Policy allows no script at all.
//!
//! The writer escapes both kinds of quotes, so text and attributes share the writer. Controls other
//! than tab and line feed become U+FFFD, because XML forbids most controls, even escaped.

use std::fmt::{self, Display, Write};

/// The attributes of an element, as names with values, in the order of writing.
pub type Attributes<'a> = &'a [(&'static str, &'a dyn Display)];

/// A buffer of written HTML, SVG or XML, to which elements and text are appended.
#[derive(Debug, Default)]
pub struct Elements {
    written: String,
    /// The last number that [`Elements::fresh`] returned; 0 before the first.
    ids: usize,
}

impl Elements {
    /// Writes an element with the content that `inside` writes.
    pub fn element(
        &mut self,
        name: &'static str,
        attributes: Attributes,
        inside: impl FnOnce(&mut Self),
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

    /// Writes an element without content.
    pub fn empty(&mut self, name: &'static str, attributes: Attributes) {
        self.open(name, attributes);
        self.written.push_str("/>");
    }

    /// Writes an SVG element of a chart, such as a point, with a title. A browser shows the title
    /// while the pointer is over the element.
    pub fn mark(&mut self, name: &'static str, attributes: Attributes, title: impl Display) {
        self.element(name, attributes, |inside| inside.line("title", &[], title));
    }

    /// Writes escaped text into the markup.
    pub fn text(&mut self, text: impl Display) {
        write!(Escaped(&mut self.written), "{text}").expect("a string takes everything");
    }

    /// Returns the markup that was written so far.
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Returns a number that no earlier call returned, to make an element id that is unique here.
    pub fn fresh(&mut self) -> usize {
        self.ids += 1;
        self.ids
    }

    /// Writes the name and the attributes of a start tag, without the end of the tag.
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

/// Returns whether a line break follows this element, to keep the page's source readable.
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

/// A text writer that escapes special characters of HTML and XML.
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
                // Tab and line feed are the only controls that stay.
                '\t' | '\n' => self.0.push(c),
                // XML forbids most controls, U+FFFE and U+FFFF. A carriage return is replaced too:
                // XML readers turn a carriage return into a line feed, so the text would not
                // survive a round trip.
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
