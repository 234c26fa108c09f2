//! The file of `-Z`: the mean and the deviation of each measure for each topic.

use std::collections::HashMap;
use std::path::Path;

use super::codes::INPUT;
use crate::side_file;
use crate::stop::Stop;
use crate::style::shown;

/// The z-score of a value that has no scale.
const UNKNOWN: f64 = -1_000_000.0;

/// Means and deviations by topic and measure.
pub struct ZScores(HashMap<Vec<u8>, HashMap<String, (f64, f64)>>);

impl ZScores {
    /// Reads lines of `topic measure mean deviation`.
    pub fn read(path: &Path) -> Result<Self, Stop> {
        let wrong = |what: String| Stop::coded(INPUT, format!("{}{what}", shown(path)));
        let text = side_file::read(path).map_err(wrong)?;
        let mut scales: HashMap<Vec<u8>, HashMap<String, (f64, f64)>> = HashMap::new();
        for (number, line) in text.split(|&byte| byte == b'\n').enumerate() {
            let fields: Vec<&[u8]> =
                line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).collect();
            if fields.is_empty() {
                continue;
            }
            let Some(TopicScale { topic, measure, mean, deviation }) = TopicScale::of(&fields)
            else {
                return Err(wrong(format!(
                    ":{}: expected 'topic measure mean deviation'",
                    number + 1
                )));
            };
            scales.entry(topic).or_default().insert(measure, (mean, deviation));
        }
        Ok(ZScores(scales))
    }

    /// Returns how many deviations a value is above the mean.
    pub fn of(&self, topic: &[u8], measure: &str, value: f64) -> f64 {
        match self.0.get(topic).and_then(|scales| scales.get(measure)) {
            // A deviation of 0 is a scale without a unit. Only the mean itself has a place on it.
            Some(&(mean, deviation)) if deviation != 0.0 => (value - mean) / deviation,
            Some(&(mean, _)) if value == mean => 0.0,
            _ => UNKNOWN,
        }
    }
}

/// A line of the file.
struct TopicScale {
    topic: Vec<u8>,
    measure: String,
    mean: f64,
    deviation: f64,
}

impl TopicScale {
    /// Reads the fields of a line; `None` if they are not what a line has.
    fn of(fields: &[&[u8]]) -> Option<TopicScale> {
        let &[topic, measure, mean, deviation] = fields else { return None };
        let number = |field: &[u8]| std::str::from_utf8(field).ok()?.parse::<f64>().ok();
        let measure = String::from_utf8(measure.to_vec()).ok()?;
        Some(TopicScale {
            topic: topic.to_vec(),
            measure,
            mean: number(mean)?,
            deviation: number(deviation)?,
        })
    }
}
