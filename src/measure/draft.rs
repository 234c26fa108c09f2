//! Measures on their way from text: what is given, before it is known to be complete.

use super::params::{Cutoff, Kind, Param, Value};
use super::value::{Definition, Measure};

/// The values that are used where an argument gives none.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Defaults {
    /// The relevance level of binary measures; `None` for 1, or that of a library whose names are
    /// read.
    pub rel: Option<f64>,
}

/// A measure whose relevance level may still be left to the defaults, and whose cutoff may be
/// missing.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub definition: &'static Definition,
    pub values: Vec<(usize, Value)>,
    pub cutoff: Option<Cutoff>,
}

impl Draft {
    /// Whether a required cutoff is missing.
    pub fn lacks_cutoff(&self) -> bool {
        self.cutoff.is_none() && self.definition.missing().is_some()
    }

    /// Makes the measure.
    ///
    /// # Errors
    /// A missing cutoff, or a missing parameter that another one needs.
    pub fn measure(mut self, defaults: Defaults) -> Result<Measure, String> {
        if let Some(message) = self.definition.missing().filter(|_| self.cutoff.is_none()) {
            return Err(message);
        }
        if let Some(message) = self.definition.unmet(&self.values) {
            return Err(message);
        }
        if let Some(message) = self.definition.uncuttable(&self.values, self.cutoff.is_some()) {
            return Err(message);
        }
        // Only a binary measure takes the default level: one whose default is 1 in the table, not
        // one where it is a floor of 0. A gain of 1 for what is relevant makes a measure binary.
        let is_binary = self.values.iter().any(|(at, value)| {
            self.definition.param_at(*at).kind == Kind::Gain
                && matches!(value, Value::Word("binary"))
        });
        let rel = defaults.rel.unwrap_or(1.0);
        let takes = |param: &Param| param.name == "rel" && (param.default == "1" || is_binary);
        let level = self.definition.params.iter().position(takes);
        if let Some(at) = level
            && self.values.iter().all(|&(of, _)| of != at)
        {
            self.values.push((at, Value::Number(rel)));
        }
        Ok(Measure::new(self.definition, self.values, self.cutoff))
    }
}
