//! Scores as JSON lines: one object for each number.

use std::io::{self, Write};

use super::long;
use super::options::ReportOptions;
use crate::scores::{NamedRow, Scores};

pub fn write(scores: &Scores, options: &ReportOptions, to: &mut impl Write) -> io::Result<()> {
    long::rows(scores, options, |measure, row| {
        serde_json::to_writer(&mut *to, &NamedRow { measure, row })?;
        to.write_all(b"\n")
    })
}
