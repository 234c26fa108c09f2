//! One JSON document: the scores by run and measure, the settings, and the queries that were missing or ignored.

use std::io::{self, Write};

use super::Options;
use crate::scores::{Document, Scores};

pub fn write(scores: &Scores, options: &Options, to: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *to, &Document::new(scores, options.per_query))?;
    to.write_all(b"\n")
}
