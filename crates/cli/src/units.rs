//! The options that say which document a result or a judgment is of, where documents are retrieved
//! or judged in pieces.

use std::num::NonZeroU32;

use clap::Args;
use laneval::labels::{SettingDifference, UnitRule};
use laneval::{Error, Join, Repeats, Units};

/// The options of units.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Units")]
pub struct UnitOptions {
    /// The documents that results are pieces of: before:TEXT, before-first:TEXT, map:FILE or
    /// column:NAME
    ///
    /// before:# takes the id up to its last #, before-first:# up to its first; an id without # is
    /// its own document. map:FILE has a line for each result, its id and its document with a tab
    /// between them. column:NAME takes the document from this column of a table or key of a record,
    /// and the id is not read. Judgments are of documents, and equal scores are ordered by the ids
    /// of documents.
    #[arg(long, value_name = "RULE", value_parser = rule)]
    units: Option<String>,
    /// The documents that judgments are of, if pieces are judged and documents retrieved; the
    /// largest grade counts
    #[arg(long, value_name = "RULE", value_parser = rule)]
    qrels_units: Option<String>,
    /// What becomes of several results of one document: error, first, blank, sum[:N] or mean[:N]
    /// [default: error, with --units first]
    ///
    /// first keeps the best one (max is the same). blank keeps its rank too, and leaves the ranks
    /// of the others empty: nothing relevant is there. sum and mean give the document the sum or
    /// the mean of its scores, of the best N only if there is an N.
    #[arg(long, value_name = "HOW", value_parser = repeats)]
    repeats: Option<Repeats>,
    /// Keep the best N results of a query before those of a document are put together
    #[arg(long, value_name = "N", value_parser = rows, allow_negative_numbers = true)]
    rows: Option<NonZeroU32>,
}

/// Reads the text of a rule, whose file is read later.
fn rule(text: &str) -> Result<String, String> {
    if Units::is_rule(text) {
        Ok(text.to_owned())
    } else {
        Err(format!("{} was expected", Units::EXPECTED))
    }
}

fn repeats(text: &str) -> Result<Repeats, String> {
    text.parse().map_err(|error: Error| error.to_string())
}

fn rows(text: &str) -> Result<NonZeroU32, String> {
    text.parse().map_err(|_| "a number of results, 1 or more, was expected".to_owned())
}

impl UnitOptions {
    /// Returns `join` with the units of these options.
    ///
    /// # Errors
    /// The file of a map cannot be read, or is not a map.
    pub fn of(&self, join: Join) -> Result<Join, Error> {
        let read = |rule: &Option<String>| rule.as_deref().map_or(Ok(Units::AsIs), str::parse);
        let (units, qrels_units) = (read(&self.units)?, read(&self.qrels_units)?);
        Ok(Join { units, qrels_units, repeats: self.repeats, rows: self.rows, ..join })
    }

    /// Returns the first option that was given and that a matrix was not built with: how it was
    /// built, and what is asked for.
    ///
    /// # Errors
    /// As [`UnitOptions::of`].
    pub fn conflict(&self, built: &UnitRule) -> Result<Option<(String, String)>, Error> {
        let asked = self.of(Join::default())?.rule().of_units();
        let given = |option: &str| match option {
            "--units" => self.units.clone(),
            "--repeats" => self.repeats.map(|repeats| repeats.to_string()),
            _ => self.rows.map(|rows| rows.to_string()),
        };
        let differing = built.differences(&asked).into_iter();
        let differs =
            differing.filter_map(|SettingDifference { option, values: [built, _], .. }| {
                Some((option, built, given(option)?))
            });
        Ok(differs
            .map(|(option, built, asked)| {
                let built = if built == "none" {
                    format!("without {option}")
                } else {
                    format!("with {option} {built}")
                };
                (built, format!("{option} {asked}"))
            })
            .next())
    }

    /// Returns whether judgments are of pieces of documents.
    pub fn are_of_qrels(&self) -> bool {
        self.qrels_units.is_some()
    }
}
