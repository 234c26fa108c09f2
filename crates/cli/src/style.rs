//! What the terminal can show, and lines for stderr.

use std::fmt::Display;
use std::io::{IsTerminal, Write, stderr, stdout};

pub use laneval::error::printable_path as shown;
use laneval::report::Note;

/// Does the user want colour at all?
fn colour_wanted() -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    set("NO_COLOR").is_none() && set("TERM").is_none_or(|term| term != "dumb")
}

/// Is stdout a terminal that shows bold type?
pub fn stdout_has_colour() -> bool {
    stdout().is_terminal() && colour_wanted()
}

/// The columns of the terminal, if stdout is one.
pub fn stdout_width() -> Option<usize> {
    let size = terminal_size::terminal_size_of(stdout());
    size.map(|(width, _)| usize::from(width.0)).filter(|_| stdout().is_terminal())
}

/// Says a line on stderr. Where that cannot be written there is nobody to tell.
pub fn tell(line: impl Display) {
    let _ = stderr().write_all(format!("{line}\n").as_bytes());
}

/// Says a note on stderr.
pub fn say(note: &Note) {
    let loud = stderr().is_terminal() && colour_wanted();
    match note {
        Note::Note(text) => tell(format_args!("note: {text}")),
        Note::Warning(text) if loud => tell(format_args!("\x1b[1;33mwarning:\x1b[0m {text}")),
        Note::Warning(text) => tell(format_args!("warning: {text}")),
    }
}

/// A count with its thousands set apart.
pub fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count and its noun in the singular or plural.
pub fn counted(count: u64, noun: &str) -> String {
    let plural = match noun.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{noun}s"),
    };
    format!("{} {}", thousands(count), if count == 1 { noun } else { &plural })
}

/// Text in lines of at most `width` columns, each indented.
pub fn wrap(text: &str, width: usize, indent: usize) -> String {
    let (mut lines, mut used) = (vec![" ".repeat(indent)], indent);
    for word in text.split(' ') {
        let length = word.chars().count();
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
