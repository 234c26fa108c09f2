//! The abilities of the terminal (colour and width), and messages for stderr.

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{IsTerminal, Write, stderr, stdout};
use std::path::Path;
use std::time::Instant;

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use clap::builder::styling::{AnsiColor, Style, Styles};
pub use laneval::error::printable_path as shown;
use laneval::report::Note;
use terminal_size::{Height, Width, terminal_size_of};

use super::wrapped::{wrap, wrapped};

/// The styles of help and errors.
pub const STYLES: Styles = Styles::styled();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const NOTE: Style = AnsiColor::Cyan.on_default().bold();

/// The values of `--color`.
pub const COLOURS: [(&str, ColorChoice); 3] =
    [("auto", ColorChoice::Auto), ("always", ColorChoice::Always), ("never", ColorChoice::Never)];

/// Applies `--color` before the arguments are parsed, so that errors about wrong arguments have the
/// requested colour.
pub fn apply_color_argument(args: &[OsString]) {
    // Behind `--` words are files and not options, whatever they look like.
    let mut words =
        args.iter().skip(1).filter_map(|word| word.to_str()).take_while(|word| *word != "--");
    while let Some(word) = words.next() {
        let value = match word.strip_prefix("--color") {
            Some("") => words.next(),
            Some(value) => value.strip_prefix('='),
            None => None,
        };
        let known = COLOURS.iter().find(|(name, _)| Some(*name) == value);
        known.into_iter().for_each(|(_, choice)| choice.write_global());
    }
}

/// Returns whether a stream shows colour, by the user's `--color` and the environment.
fn has_colour(stream: &impl RawStream) -> bool {
    AutoStream::choice(stream) != ColorChoice::Never
}

/// Returns whether stdout shows colours and bold type.
pub fn stdout_has_colour() -> bool {
    has_colour(&stdout())
}

/// Returns the width of the terminal in columns, if stdout is a terminal.
pub fn stdout_width() -> Option<usize> {
    columns(terminal_size_of(stdout())).filter(|_| stdout().is_terminal())
}

/// Returns the width of the terminal in columns, if stderr is a terminal.
fn stderr_width() -> Option<usize> {
    columns(terminal_size_of(stderr())).filter(|_| stderr().is_terminal())
}

fn columns(size: Option<(Width, Height)>) -> Option<usize> {
    size.map(|(Width(columns), _)| columns.into())
}

/// Writes a line to stderr, wrapped at words on a terminal. A text of several lines is not wrapped,
/// so that its lines stay aligned with one another. A failed write is ignored, because it cannot be
/// reported.
pub fn print_line(line: impl Display) {
    let line = line.to_string();
    let line = match stderr_width().filter(|_| !line.contains('\n')) {
        Some(width) => wrapped(&line, width),
        None => line,
    };
    // One write for the whole line, so that the lines of other programs do not cut it.
    let _ = stderr().write_all(format!("{line}\n").as_bytes());
}

/// Returns a word in this style if stderr has colour, or else the plain word.
fn styled(word: &str, style: Style) -> String {
    if has_colour(&stderr()) { format!("{style}{word}{style:#}") } else { word.to_owned() }
}

/// Returns the text of an error message for stderr, with a coloured `error:` before it.
pub fn error(message: impl Display) -> String {
    format!("{} {message}", styled("error:", *STYLES.get_error()))
}

/// Prints a note or warning on stderr, wrapped at words on a terminal.
pub fn print_note(note: &Note) {
    let (word, style, text) = match note {
        Note::Note(text) => ("note:", NOTE, text),
        Note::Warning(text) => ("warning:", WARNING, text),
    };
    let text = wrap(text, stderr_width().unwrap_or(usize::MAX), word.len() + 1);
    print_line(format_args!("{} {}", styled(word, style), text.trim_start_matches(' ')));
}

/// Prints notes and warnings on stderr; with `quiet` only the warnings.
pub fn print_notes<'a>(notes: impl IntoIterator<Item = &'a Note>, quiet: bool) {
    let heeded = notes.into_iter().filter(|note| !quiet || matches!(note, Note::Warning(_)));
    heeded.for_each(print_note);
}

/// Prints on stderr what was written to a file, and how long that took.
pub fn print_written(path: &Path, contents: impl Display, start: Instant) {
    let seconds = start.elapsed().as_secs_f64();
    print_line(format_args!("{}: {contents} in {seconds:.3} s", shown(path)));
}

/// Joins items to one text, with a comma and a blank between them.
pub fn comma_list(items: impl IntoIterator<Item: Display>) -> String {
    let texts: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    texts.join(", ")
}

/// Formats a count with commas between its thousands.
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

/// Formats a count with its noun in the singular or plural.
pub fn pluralize(count: u64, noun: &str) -> String {
    let plural = match noun.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{noun}s"),
    };
    format!("{} {}", thousands(count), if count == 1 { noun } else { &plural })
}
