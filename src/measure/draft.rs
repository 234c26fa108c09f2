//! Drafts of measures, parsed from text but not yet known to be complete.

use super::params::{Cutoff, Kind, Param, Value};
use super::value::{Definition, Measure};

/// Default values for arguments without the value.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Defaults {
    /// The relevance level of binary measures. `None` means 1, or the level of a library when its
    /// names are read.
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
    /// A missing cutoff, or a parameter without the parameter it needs.
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
        // Only a binary measure takes the default level. A measure is binary if its `rel` has the
        // default 1 in the table (the default 0 is a floor), or if relevant documents gain 1
        // (`gain=binary`).
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
