//! The file of trec_eval's `-Z`: the mean and the deviation of each measure for each topic.

use std::collections::HashMap;
use std::path::Path;

use super::codes::INPUT;
use crate::{
    cli_error::{CliError, CliResult},
    side_file,
    style::shown,
};

/// The z-score of a value that has no scale.
const UNKNOWN: f64 = -1_000_000.0;

/// The means and deviations in the file of trec_eval's `-Z`, by topic and measure.
pub struct ZScores(HashMap<Vec<u8>, HashMap<String, (f64, f64)>>);

impl ZScores {
    /// Reads the file of trec_eval's `-Z`, lines of `topic measure mean deviation`.
    pub fn read(path: &Path) -> CliResult<Self> {
        let text = side_file::read(path).map_err(|error| error.set_exit_code(INPUT))?;
        let mut scales = ZScores(HashMap::new());
        for (number, line) in text.split(|&byte| byte == b'\n').enumerate() {
            let fields: Vec<&[u8]> =
                line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).collect();
            if fields.is_empty() {
                continue;
            }
            if scales.add(&fields).is_none() {
                let line = number + 1;
                let file = shown(path);
                let message = format!("{file}:{line}: expected 'topic measure mean deviation'");
                return Err(CliError::with_exit_code(INPUT, message));
            }
        }
        Ok(scales)
    }

    /// Adds the fields of a line in the file of `-Z`; returns `None` if the line is malformed.
    fn add(&mut self, fields: &[&[u8]]) -> Option<()> {
        let &[topic, measure, mean, deviation] = fields else { return None };
        let [mean, deviation] =
            [mean, deviation].map(|field| std::str::from_utf8(field).ok()?.parse::<f64>().ok());
        let measure = String::from_utf8(measure.to_vec()).ok()?;
        self.0.entry(topic.to_vec()).or_default().insert(measure, (mean?, deviation?));
        Some(())
    }

    /// Returns the z-score of a value: how many deviations it is above the mean of its topic and
    /// measure.
    pub fn zscore(&self, topic: &[u8], measure: &str, value: f64) -> f64 {
        match self.0.get(topic).and_then(|scales| scales.get(measure)) {
            // A deviation of 0 is a scale without a unit. Only the mean itself has a place on it.
            Some(&(mean, deviation)) if deviation != 0.0 => (value - mean) / deviation,
            Some(&(mean, _)) if value == mean => 0.0,
            _ => UNKNOWN,
        }
    }
}
