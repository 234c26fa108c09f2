//! Notes on what a library's prefix leaves out: options that the library has, and the evaluation
//! has not.

use laneval::labels::RankingRule;
use laneval::measure::{Profile, items_with_prefix, parse_level};
use laneval::report::Note;

/// The options in effect as words: tie rule, score type, known relevant documents, lowest relevant
/// grade.
#[derive(Debug, Clone)]
pub struct EffectiveOptions {
    pub ties: String,
    pub score_type: String,
    pub relevant_from: String,
    /// The lowest relevant grade.
    pub rel: f64,
}

impl EffectiveOptions {
    /// Returns the options with a label matrix's score type, and its tie order unless values are
    /// over all orders.
    pub fn with_matrix_rule(self, rule: Option<RankingRule>, over_orders: bool) -> Self {
        let Some(rule) = rule else { return self };
        let ties = if over_orders { self.ties } else { rule.ties.to_string() };
        Self { ties, score_type: rule.score.to_string(), ..self }
    }

    /// Returns notes on measures with a library's prefix, where that library ranks by other options
    /// than those in effect.
    pub fn notes(&self, names: &[&str]) -> Vec<Note> {
        let mut of_libraries: Vec<(&'static Profile, Vec<&str>)> = Vec::new();
        for (name, profile) in names.iter().flat_map(|name| items_with_prefix(name)) {
            match of_libraries.iter_mut().find(|(library, _)| library.prefix == profile.prefix) {
                Some((_, names)) => names.push(name),
                None => of_libraries.push((profile, vec![name])),
            }
        }
        let notes = of_libraries.into_iter().filter_map(|(profile, names)| {
            let says = profile.describe_options(|option, word| match option {
                "ties" => word != self.ties,
                "score-type" => word != self.score_type,
                "relevant-from" => word != self.relevant_from,
                "rel" => parse_level(word) != Some(self.rel),
                // How many queries a run lacks is told anyway.
                _ => false,
            })?;
            Some(Note::Note(format!(
                "{}: {says}; --as {} does too",
                names.join(", "),
                profile.prefix
            )))
        });
        notes.collect()
    }
}
