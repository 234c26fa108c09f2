//! `laneval measures --as`: the libraries whose evaluation laneval can follow, and the names of
//! measures in one.

use std::collections::BTreeMap;
use std::io::{self, Write};

use laneval::measure::{FOREIGN, ForeignMeasure, Profile};
use serde::Serialize;

use super::style::stdout_width;
use super::wrapped::{field, wrap};

/// The columns of a list that is not on a terminal, and the most that one has.
const COLUMNS: usize = 100;

/// The line behind the list.
const MORE: &str = "An empty cell is an option that the library leaves to its user; rel is the \
                    lowest relevant grade of its \
                    binary measures, which --rel changes, and 0 where every judged document \
                    counts. `laneval measures --as LIBRARY` has the names of one. \
                    `laneval eval --as LIBRARY` takes names and options of a library; a prefix, as \
                    in xgboost:map@5, takes only the name.";

/// Returns the names that a library has for measures, with their meanings here.
fn names(profile: &Profile) -> impl Iterator<Item = &'static ForeignMeasure> {
    FOREIGN.iter().filter(|row| profile.tools.contains(&row.tool))
}

/// Returns the options of `laneval` that follow a library, written as on the command line.
fn options(profile: &Profile) -> String {
    let relevant = [("rel", profile.relevant)];
    let given =
        profile.options.iter().chain(&relevant).map(|(option, word)| format!("--{option} {word}"));
    given.collect::<Vec<_>>().join(" ")
}

/// The columns of the list that are options.
const OPTIONS: [&str; 5] = ["ties", "score-type", "relevant-from", "queries", "rel"];

/// Writes the table of all libraries whose evaluation laneval can follow, with their options.
pub fn list(to: &mut dyn Write) -> io::Result<()> {
    let width = stdout_width().unwrap_or(COLUMNS).min(COLUMNS);
    let heads: Vec<&str> = ["--as", "library", "versions"].into_iter().chain(OPTIONS).collect();
    let mut rows = vec![heads];
    for profile in Profile::ALL {
        let options = OPTIONS.map(|option| profile.option(option).unwrap_or_default());
        let names = [profile.prefix, profile.library, profile.versions];
        rows.push(names.into_iter().chain(options).collect());
    }
    let widths: Vec<usize> = (0..rows[0].len())
        .map(|at| rows.iter().map(|row| row[at].len()).max().unwrap_or(0))
        .collect();
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

/// Writes the description of a library for `measures --as`: versions, options, and its names of
/// measures.
pub fn explain(profile: &Profile, to: &mut dyn Write) -> io::Result<()> {
    let width = stdout_width().unwrap_or(COLUMNS).min(COLUMNS);
    writeln!(to, "{}\n", profile.prefix)?;
    field(to, width, "library", profile.library)?;
    field(to, width, "versions", profile.versions)?;
    field(to, width, "options", &options(profile))?;
    field(to, width, "seen", &profile.seen.to_string())?;
    field(to, width, "source", profile.source)?;
    if !profile.note.is_empty() {
        field(to, width, "differs", profile.note)?;
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

fn meaning(row: &ForeignMeasure) -> Vec<String> {
    row.meaning().iter().map(ToString::to_string).collect()
}

/// A library whose evaluation laneval can follow, for the JSON of `laneval measures --as`.
#[derive(Serialize)]
pub struct LibraryDescription {
    prefix: &'static str,
    library: &'static str,
    versions: &'static str,
    /// Options of an evaluation, with the library's words.
    options: BTreeMap<String, &'static str>,
    /// The evidence for the definitions of the library: `run`, `function` or `source`.
    seen: String,
    source: &'static str,
    /// The differences from the library.
    note: Option<&'static str>,
    names: Vec<LibraryName>,
}

/// The name of a measure in a library, with the measures here that an example of it means.
#[derive(Serialize)]
struct LibraryName {
    name: &'static str,
    /// The name with an example of what has to follow it.
    example: String,
    /// The measures that the example means.
    measures: Vec<String>,
}

impl LibraryDescription {
    /// Describes a library whose evaluation laneval can follow, with its names of measures.
    pub fn new(profile: &'static Profile) -> Self {
        let names = names(profile).map(|row| LibraryName {
            name: row.name,
            example: row.example().into_owned(),
            measures: meaning(row),
        });
        Self {
            prefix: profile.prefix,
            library: profile.library,
            versions: profile.versions,
            options: profile
                .options
                .iter()
                .map(|&(option, word)| (option.replace('-', "_"), word))
                .collect(),
            seen: profile.seen.to_string(),
            source: profile.source,
            note: Some(profile.note).filter(|note| !note.is_empty()),
            names: names.collect(),
        }
    }
}
