//! The library as which a command evaluates: `--as`, and the note that a prefix alone is not all of
//! a library.

use clap::Args;
use laneval::Error;
use laneval::labels::RankingRule;
use laneval::measure::{Defaults, Measure, Profile, parse_level, prefixed};
use laneval::report::Note;

use super::choice::NamedChoice;
use super::stop::Stop;

/// The option that says as which library to evaluate.
#[derive(Debug, Clone, Default, Args)]
pub struct AsLibrary {
    /// Evaluate as this library does, such as sklearn or xgboost
    ///
    /// Names of measures are then its own, and so are its treatment of equal scores, its type of
    /// scores, which relevant documents it knows, and which queries count. Without -m it is the
    /// usual measures, as far as the library has them. `laneval measures --as` lists the libraries.
    #[arg(long = "as", value_name = "LIBRARY", help_heading = "Definition")]
    library: Option<String>,
}

impl AsLibrary {
    /// Returns the library, if one was asked for.
    pub fn profile(&self) -> Result<Option<&'static Profile>, Stop> {
        let Some(prefix) = &self.library else { return Ok(None) };
        // As an error of the option, not of a measure.
        Profile::of(prefix.trim_end_matches(':'))
            .map(Some)
            .map_err(|error| Stop::new(error.to_string()))
    }

    /// The lowest relevant grade: the one given, or that of the library, or 1.
    pub fn level(&self, given: Option<f64>) -> f64 {
        let of_library = || parse_level(self.profile().ok()??.relevant);
        given.or_else(of_library).unwrap_or(1.0)
    }

    /// Gives an option the library's word, if the library fixes it. An option that was given has to
    /// agree.
    pub fn settle<T: Copy + PartialEq>(
        &self,
        option: &str,
        given: &mut Option<T>,
        choices: &[NamedChoice<T>],
    ) -> Result<(), Stop> {
        let Some(profile) = self.profile()? else { return Ok(()) };
        let name = given.and_then(|given| choices.iter().find(|(_, value, _)| *value == given));
        let name = name.map(|(name, ..)| *name);
        let said = format!("--as {}", profile.prefix);
        let word = profile.agree(&said, option, name, |word| format!("--{option} {word}"));
        let word = word.map_err(|error| Stop::new(error.to_string()))?;
        let value = word.and_then(|word| choices.iter().find(|(name, ..)| *name == word));
        *given = value.map(|(_, value, _)| *value).or(*given);
        Ok(())
    }

    /// Reads the measures of a name.
    pub fn measures(&self, name: &str, defaults: Defaults) -> Result<Vec<Measure>, Error> {
        match self.library.as_deref().map(Profile::of).transpose()? {
            Some(profile) => profile.measures(name, defaults),
            None => laneval::measure::parse_list(name, defaults),
        }
    }
}

/// The options by which documents are ranked and known, as words.
#[derive(Debug, Clone)]
pub struct OptionsHeld {
    pub ties: String,
    pub score: String,
    pub known: String,
    /// The lowest relevant grade.
    pub rel: f64,
}

impl OptionsHeld {
    /// The same with the rule of a matrix, unless values over all orders are asked for.
    pub fn ranked_by(self, rule: Option<RankingRule>, over_orders: bool) -> Self {
        let Some(rule) = rule else { return self };
        let ties = if over_orders { self.ties } else { rule.ties.to_string() };
        OptionsHeld { ties, score: rule.score.to_string(), ..self }
    }

    /// Notes of measures with the prefix of a library that has other options: the measure is that
    /// of the library, the ranking is not.
    pub fn notes(&self, names: &[String]) -> Vec<Note> {
        let mut of_libraries: Vec<(&'static Profile, Vec<&str>)> = Vec::new();
        for (name, profile) in names.iter().flat_map(|name| prefixed(name)) {
            match of_libraries.iter_mut().find(|(of, _)| of.prefix == profile.prefix) {
                Some((_, names)) => names.push(name),
                None => of_libraries.push((profile, vec![name])),
            }
        }
        // How many queries a run lacks is told anyway.
        let differs = |option: &str, word: &str| match option {
            "ties" => word != self.ties,
            "score" => word != self.score,
            "known" => word != self.known,
            "rel" => parse_level(word) != Some(self.rel),
            _ => false,
        };
        let note = |(profile, names): (&Profile, Vec<&str>)| {
            let says = profile.says(differs)?;
            Some(Note::Note(format!(
                "{}: {says}; --as {} does too",
                names.join(", "),
                profile.prefix
            )))
        };
        of_libraries.into_iter().filter_map(note).collect()
    }
}
