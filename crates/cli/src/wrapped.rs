//! Text for people on a terminal: lines that are too long go on below, cut between words.

use std::io::{self, Write};

use anstream::adapter::strip_str;
use unicode_width::UnicodeWidthStr;

/// The columns up to which the text behind a name is below itself, and not below the name.
const NAMES: usize = 16;

/// A writer that wraps lines at words before they come to the end of a terminal.
pub struct WrappedText<'a> {
    to: &'a mut (dyn Write + Send),
    width: usize,
    /// The line that is not complete yet.
    line: Vec<u8>,
}

impl<'a> WrappedText<'a> {
    /// Makes a writer that wraps lines for a terminal of `width` columns. The last line needs a
    /// flush if it has no end.
    pub fn new(to: &'a mut (dyn Write + Send), width: usize) -> Self {
        Self { to, width, line: Vec::new() }
    }

    fn put(&mut self) -> io::Result<()> {
        let line = String::from_utf8_lossy(&self.line);
        // Letters have as many bytes as columns or more, so a line of few bytes is not measured.
        if line.len() <= self.width || columns(&line) <= self.width {
            self.to.write_all(&self.line)?
        } else {
            self.to.write_all(wrapped(&line, self.width).as_bytes())?
        }
        self.line.clear();
        Ok(())
    }
}

impl Write for WrappedText<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            let (text, is_end) =
                part.strip_suffix(b"\n").map_or((part, false), |text| (text, true));
            self.line.extend_from_slice(text);
            if is_end {
                self.put()?;
                self.to.write_all(b"\n")?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.put()?;
        self.to.flush()
    }
}

/// Returns the width of a text in terminal columns, without the codes of colours.
fn columns(text: &str) -> usize {
    strip_str(text).to_string().width()
}

/// Wraps a line that is indented, or that has a name and two blanks before its text:
/// `cpu      16 threads …`.
pub fn wrapped(line: &str, width: usize) -> String {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let gap =
        line[indent..].find("  ").map(|at| indent + at).filter(|&at| at <= NAMES.min(width / 3));
    let text = gap.map_or(indent, |gap| line.len() - line[gap..].trim_start_matches(' ').len());
    let (before, text) = line.split_at(text);
    let hang = before.width();
    format!("{before}{}", wrap(text, width, hang).trim_start_matches(' '))
}

/// Writes an indented name and the text behind it, wrapped at `width` columns.
pub fn field(to: &mut dyn Write, width: usize, name: &str, text: &str) -> io::Result<()> {
    writeln!(to, "  {name:<11}{}", wrap(text, width, 13).trim_start())
}

/// Wraps text into lines of at most `width` columns, each indented by `indent` columns. A word that
/// is longer stays whole.
pub fn wrap(text: &str, width: usize, indent: usize) -> String {
    let (mut lines, mut used) = (vec![" ".repeat(indent)], indent);
    for word in text.split(' ') {
        let length = columns(word);
        if used > indent && used.saturating_add(1 + length) > width {
            lines.push(" ".repeat(indent));
            used = indent;
        }
        if let Some(line) = lines.last_mut() {
            if used > indent {
                line.push(' ');
                used += 1;
            }
            line.push_str(word);
            used += length;
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, width: usize) -> String {
        let mut to = Vec::new();
        let mut lines = WrappedText::new(&mut to, width);
        text.as_bytes().chunks(3).for_each(|part| lines.write_all(part).unwrap());
        lines.flush().unwrap();
        String::from_utf8(to).unwrap()
    }

    #[test]
    fn only_long_lines_are_wrapped() {
        assert_eq!(shown("one two three\nfour\n\nfive", 8), "one two\nthree\nfour\n\nfive");
        assert_eq!(
            shown("\x1b[1mbold\x1b[0m  1\n", 8),
            "\x1b[1mbold\x1b[0m  1\n",
            "colour has no width"
        );
        assert_eq!(
            shown("検索 結果 一覧\n", 10),
            "検索 結果\n一覧\n",
            "letters may be two columns wide"
        );
    }

    #[test]
    fn lines_hang_below_their_text() {
        assert_eq!(shown("  one two three\n", 10), "  one two\n  three\n");
        assert_eq!(
            shown("cpu    sixteen threads of it\n", 24),
            "cpu    sixteen threads\n       of it\n"
        );
    }
}
