//! The output of `laneval trec-eval`: a line for each topic and measure, then one for each measure
//! over all topics.
//!
//! The widths are trec_eval's `%-22s\t%s\t%6.4f`; counts are `%ld`. Over all topics most values are
//! plain sums in the order of topics, divided once; three are not:
//!
//! ```text
//! counts (num_q, num_rel …)   sums, or with -c what the qrels say of all topics
//! geometric means             exp of the mean logarithm. A topic that -c adds has ln 0.00001,
//!                             as trec_eval's MIN_GEO_MEAN says: the logarithm 0 that a missing
//!                             topic would leave stands for a perfect value
//! runid, relstring            text: runid only over all topics, relstring only for each
//! ```

use std::io::{self, Write};

use laneval::measure::trec::{LineKind, TopicColumn, TopicSource};

use super::values::ValueTable;
use super::zscores::ZScores;

/// The least average precision in a geometric mean.
const LEAST: f64 = 0.00001;

/// The content of the output of `laneval trec-eval`: values, columns, and scales of z-scores.
pub struct OutputLines<'a> {
    pub table: &'a ValueTable,
    pub columns: &'a [TopicColumn],
    pub zscores: Option<&'a ZScores>,
}

impl OutputLines<'_> {
    /// Writes the lines of each topic and of the summary over all topics, as far as requested.
    pub fn write(&self, per_topic: bool, summary: bool, to: &mut dyn Write) -> io::Result<()> {
        if per_topic {
            for (topic, id) in self.table.topics.iter().enumerate() {
                for column in self.columns {
                    self.write_topic(column, topic, id, to)?;
                }
            }
        }
        if summary {
            for column in self.columns {
                self.write_total(column, to)?;
            }
        }
        Ok(())
    }

    fn write_topic(
        &self,
        column: &TopicColumn,
        topic: usize,
        id: &[u8],
        to: &mut dyn Write,
    ) -> io::Result<()> {
        match column.source {
            TopicSource::RunId => Ok(()),
            TopicSource::Labels(length) => {
                // trec_eval mends only the bare name for a topic that the run lacks.
                let length = if self.table.missing[topic] && column.name == "relstring" {
                    0
                } else {
                    length
                };
                let labels: String =
                    self.table.labels[topic].chars().take(length as usize).collect();
                self.start(column, id, to)?;
                writeln!(to, "'{labels}'")
            }
            TopicSource::Measure(_, kind) if !kind.per_topic() => Ok(()),
            TopicSource::Measure(measure, kind) => {
                self.start(column, id, to)?;
                self.value(kind, self.value_of(column, measure, topic), to)
            }
        }
    }

    fn write_total(&self, column: &TopicColumn, to: &mut dyn Write) -> io::Result<()> {
        let (measure, kind) = match column.source {
            TopicSource::Labels(_) => return Ok(()),
            TopicSource::RunId => {
                self.start(column, b"all", to)?;
                to.write_all(&self.table.run_id)?;
                return to.write_all(b"\n");
            }
            TopicSource::Measure(measure, kind) => (measure, kind),
        };
        self.start(column, b"all", to)?;
        self.value(kind, self.summary(column, measure, kind), to)
    }

    /// Returns the value of a measure over all topics, for the summary of `laneval trec-eval`. Adds
    /// the values of topics one by one in topic order, because the order may change the last digit.
    fn summary(&self, column: &TopicColumn, measure: usize, kind: LineKind) -> f64 {
        let counted = self.table.counted as f64;
        let topics = 0..self.table.topics.len();
        let sum = topics.fold(0.0, |sum, topic| sum + self.value_of(column, measure, topic));
        match kind {
            LineKind::Topics => counted,
            LineKind::Relevant => self.table.relevant.map_or(sum, |relevant| relevant as f64),
            LineKind::Count => sum,
            LineKind::Real => sum / counted,
            LineKind::Geometric => ((sum + self.table.absent as f64 * LEAST.ln()) / counted).exp(),
        }
    }

    fn value_of(&self, column: &TopicColumn, measure: usize, topic: usize) -> f64 {
        let value = self.table.values[measure][topic];
        match self.zscores {
            Some(zscores) => zscores.zscore(self.table.topics.get(topic), &column.name, value),
            None => value,
        }
    }

    fn start(&self, column: &TopicColumn, id: &[u8], to: &mut dyn Write) -> io::Result<()> {
        // Text has no deviation.
        let number = matches!(column.source, TopicSource::Measure(..));
        let z = if number && self.zscores.is_some() { "Z" } else { "" };
        write!(to, "{z}{:<22}\t", column.name)?;
        to.write_all(id)?;
        to.write_all(b"\t")
    }

    fn value(&self, kind: LineKind, value: f64, to: &mut dyn Write) -> io::Result<()> {
        if kind.whole() && self.zscores.is_none() {
            writeln!(to, "{value:.0}")
        } else if value.is_nan() {
            // A file of -Z may have means that are not numbers. printf of glibc writes the sign of
            // a NaN; Rust's formats have none.
            writeln!(to, "{:>6}", if value.is_sign_negative() { "-nan" } else { "nan" })
        } else {
            writeln!(to, "{value:6.4}")
        }
    }
}
