//! `laneval measures --as`: the libraries as which laneval evaluates, and the names of one.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::iter;

use laneval::measure::{FOREIGN, Foreign, Profile};
use serde::Serialize;

use super::style::stdout_width;
use super::wrapped::wrap;

/// The columns of a list that is not on a terminal, and the most that one has.
const COLUMNS: usize = 100;

/// The line behind the list.
const MORE: &str = "An empty cell is an option that the library leaves to its user; rel is the \
                    lowest relevant grade of its \
                    binary measures, which --rel changes, and 0 where every judged document \
                    counts. `laneval measures --as LIBRARY` has the names of one. \
                    `laneval eval --as LIBRARY` takes names and options of a library; a prefix, as \
                    in xgboost:map@5, takes only the name.";

/// Returns the names that a library has for measures.
fn names(profile: &Profile) -> impl Iterator<Item = &'static Foreign> {
    FOREIGN.iter().filter(|row| profile.tools.contains(&row.tool))
}

/// Writes the options of a library, as they are given.
fn options(profile: &Profile) -> String {
    let relevant = [("rel", profile.relevant)];
    let given =
        profile.options.iter().chain(&relevant).map(|(option, word)| format!("--{option} {word}"));
    given.collect::<Vec<_>>().join(" ")
}

/// The columns of the list that are options.
const OPTIONS: [&str; 5] = ["ties", "score", "known", "queries", "rel"];

/// Lists all libraries.
pub fn list(to: &mut dyn Write) -> io::Result<()> {
    let width = stdout_width().unwrap_or(COLUMNS).min(COLUMNS);
    let heads: Vec<&str> = ["--as", "library", "versions"].into_iter().chain(OPTIONS).collect();
    let row = |of: &Profile| {
        let options = OPTIONS.map(|option| of.option(option).unwrap_or_default());
        [of.prefix, of.library, of.versions].into_iter().chain(options).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<&str>> = iter::once(heads).chain(Profile::ALL.iter().map(row)).collect();
    let longest = |at: usize| rows.iter().map(|row| row[at].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows[0].len()).map(longest).collect();
    for (at, row) in rows.iter().enumerate() {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}  "));
        writeln!(to, "{}", cells.collect::<String>().trim_end())?;
        if at == 0 {
            writeln!(to, "{}", "─".repeat(width))?;
        }
    }
    writeln!(to)?;
    writeln!(to, "{}", wrap(MORE, width, 0))
}

/// Explains a library, with its names.
pub fn explain(profile: &Profile, to: &mut dyn Write) -> io::Result<()> {
    let width = stdout_width().unwrap_or(COLUMNS).min(COLUMNS);
    writeln!(to, "{}\n", profile.prefix)?;
    let mut field =
        |name: &str, text: &str| writeln!(to, "  {name:<11}{}", wrap(text, width, 13).trim_start());
    field("library", profile.library)?;
    field("versions", profile.versions)?;
    field("options", &options(profile))?;
    field("seen", &profile.seen.to_string())?;
    field("source", profile.source)?;
    if !profile.note.is_empty() {
        field("differs", profile.note)?;
    }
    let rows: Vec<(String, String)> =
        names(profile).map(|row| (row.example().into_owned(), meaning(row).join(", "))).collect();
    let longest = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    writeln!(to, "\n  names there, and measures here")?;
    for (name, meaning) in rows {
        let left = format!("    {name:longest$}  ");
        writeln!(to, "{left}{}", wrap(&meaning, width, longest + 6).trim_start())?;
    }
    Ok(())
}

fn meaning(row: &Foreign) -> Vec<String> {
    row.meaning().iter().map(ToString::to_string).collect()
}

/// A library, for programs.
#[derive(Serialize)]
pub struct LibraryDescription {
    prefix: &'static str,
    library: &'static str,
    versions: &'static str,
    /// Options of an evaluation, with the library's words.
    options: BTreeMap<&'static str, &'static str>,
    /// The evidence for the definitions of the library: `run`, `function` or `source`.
    seen: String,
    source: &'static str,
    /// The differences from the library.
    note: Option<&'static str>,
    names: Vec<LibraryName>,
}

/// A name of a library.
#[derive(Serialize)]
struct LibraryName {
    name: &'static str,
    /// The name with an example of what has to follow it.
    example: String,
    /// The measures that the example means.
    measures: Vec<String>,
}

impl LibraryDescription {
    /// Describes a library.
    pub fn of(profile: &'static Profile) -> Self {
        let name = |row: &'static Foreign| LibraryName {
            name: row.name,
            example: row.example().into_owned(),
            measures: meaning(row),
        };
        LibraryDescription {
            prefix: profile.prefix,
            library: profile.library,
            versions: profile.versions,
            options: profile.options.iter().copied().collect(),
            seen: profile.seen.to_string(),
            source: profile.source,
            note: Some(profile.note).filter(|note| !note.is_empty()),
            names: names(profile).map(name).collect(),
        }
    }
}
