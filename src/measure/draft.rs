//! Drafts of measures, parsed from text but not yet known to be complete.

use super::params::{Cutoff, ParamValue};
use super::value::{Definition, Measure};

/// The default relevance level for names of measures that give none.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Defaults {
    /// The relevance level of binary measures. `None` means 1, or the level of a library when its
    /// names are read.
    pub rel: Option<f64>,
}

/// A parsed measure whose relevance level may still be left to the defaults, and whose cutoff may
/// be missing.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub definition: &'static Definition,
    pub values: Vec<(usize, ParamValue)>,
    pub cutoff: Option<Cutoff>,
}

impl Draft {
    /// Makes the draft of a measure by its row alone, without parameters and cutoff.
    pub fn new(definition: &'static Definition) -> Self {
        Self { definition, values: Vec::new(), cutoff: None }
    }

    /// Returns whether the drafted measure needs a cutoff and has none.
    pub fn lacks_cutoff(&self) -> bool {
        self.cutoff.is_none() && self.definition.missing_cutoff().is_some()
    }

    /// Makes the measure of a draft, with the default relevance level where it gives none.
    ///
    /// # Errors
    /// A missing cutoff, or a parameter without the parameter it needs.
    pub fn measure(mut self, defaults: Defaults) -> Result<Measure, String> {
        let (row, is_cut) = (self.definition, self.cutoff.is_some());
        let fault = row
            .missing_cutoff()
            .filter(|_| !is_cut)
            .or_else(|| row.unmet_requirement(&self.values))
            .or_else(|| row.cutoff_conflict(&self.values, is_cut));
        if let Some(message) = fault {
            return Err(message);
        }
        // Only a binary measure takes the default level. A measure is binary if its `rel` has the
        // default 1 in the table (the default 0 is a floor), or if relevant documents gain 1
        // (`gain=binary`).
        let is_binary = self.definition.has_binary_gain(&self.values);
        let mut params = self.definition.params.iter();
        let level =
            params.position(|param| param.name == "rel" && (param.default == "1" || is_binary));
        if let Some(at) = level
            && self.values.iter().all(|&(index, _)| index != at)
        {
            self.values.push((at, ParamValue::Number(defaults.rel.unwrap_or(1.0))));
        }
        Ok(Measure::new(self.definition, self.values, self.cutoff))
    }
}
