//! The abilities of the terminal, and lines for stderr.

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{IsTerminal, Write, stderr, stdout};

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use clap::builder::styling::{AnsiColor, Style, Styles};
pub use laneval::error::printable_path as shown;
use laneval::report::Note;

use super::choice::NamedChoice;
use super::wrapped::{wrap, wrapped};

/// The styles of help, errors and notes.
pub const STYLES: Styles = Styles::styled();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const NOTE: Style = AnsiColor::Cyan.on_default().bold();

/// Lists the choices of when there is colour.
pub fn colours() -> Vec<NamedChoice<ColorChoice>> {
    vec![
        ("auto", ColorChoice::Auto, ""),
        ("always", ColorChoice::Always, ""),
        ("never", ColorChoice::Never, ""),
    ]
}

/// Applies `--color` of arguments before they are parsed, so that errors about wrong ones have the
/// colour that was asked for.
pub fn heed_colour(args: &[OsString]) {
    let mut words =
        args.iter().skip(1).filter_map(|word| word.to_str()).take_while(|word| *word != "--");
    while let Some(word) = words.next() {
        let value = match word.strip_prefix("--color") {
            Some("") => words.next(),
            Some(value) => value.strip_prefix('='),
            None => None,
        };
        let known = colours().into_iter().find(|(name, ..)| Some(*name) == value);
        known.into_iter().for_each(|(_, choice, _)| choice.write_global());
    }
}

/// Returns whether the stream has colour, by the user and the environment.
fn has_colour(stream: &impl RawStream) -> bool {
    AutoStream::choice(stream) != ColorChoice::Never
}

/// Returns whether stdout shows bold type.
pub fn stdout_has_colour() -> bool {
    has_colour(&stdout())
}

/// Returns the columns of the terminal, if stdout is one.
pub fn stdout_width() -> Option<usize> {
    let size = terminal_size::terminal_size_of(stdout());
    size.map(|(width, _)| usize::from(width.0)).filter(|_| stdout().is_terminal())
}

/// Returns the columns of the terminal, if stderr is one.
fn stderr_width() -> Option<usize> {
    let size = terminal_size::terminal_size_of(stderr());
    size.map(|(width, _)| usize::from(width.0)).filter(|_| stderr().is_terminal())
}

/// Writes a line to stderr, wrapped at words on a terminal. A text of several lines keeps its line
/// breaks, because lines may point at one another. A failed write is ignored, because it cannot be
/// reported.
pub fn tell(line: impl Display) {
    let line = line.to_string();
    let line = match stderr_width().filter(|_| !line.contains('\n')) {
        Some(width) => wrapped(&line, width),
        None => line,
    };
    let _ = stderr().write_all(format!("{line}\n").as_bytes());
}

/// Writes a word in a style, if stderr has colour.
fn styled(word: &str, style: Style) -> String {
    if has_colour(&stderr()) { format!("{style}{word}{style:#}") } else { word.to_owned() }
}

/// Writes the message of an error for stderr.
pub fn error(message: impl Display) -> String {
    format!("{} {message}", styled("error:", *STYLES.get_error()))
}

/// Writes a note to stderr, wrapped at words on a terminal.
pub fn say(note: &Note) {
    let (word, style, text) = match note {
        Note::Note(text) => ("note:", NOTE, text),
        Note::Warning(text) => ("warning:", WARNING, text),
    };
    let text = wrap(text, stderr_width().unwrap_or(usize::MAX), word.len() + 1);
    tell(format_args!("{} {}", styled(word, style), text.trim_start_matches(' ')));
}

/// Writes a count with its thousands set apart.
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

/// Writes a count and its noun in the singular or plural.
pub fn counted(count: u64, noun: &str) -> String {
    let plural = match noun.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{noun}s"),
    };
    format!("{} {}", thousands(count), if count == 1 { noun } else { &plural })
}
