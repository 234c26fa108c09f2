//! The text after the `.` of a measure in trec_eval's `-m`, such as `P.5,10`, as trec_eval reads
//! and prints it.
//!
//! C's `atol` and `atof` read the longest start of a text that is a number, leading white space
//! skipped, and give 0 without one. Texts are short, so the longest is found by trying every end
//! from the last on.

use super::Version;
use crate::measure::{Defaults, ForeignMeasure, Measure, Suffix, SuffixNumbers};
use crate::sort;

/// Returns the functions that read numbers as trec_eval's C code does: the number at the start of a
/// text, or 0.
pub fn numbers(version: Version) -> SuffixNumbers {
    let grade = match version {
        Version::V9 => |text: &str| Some(Some(integer(text) as f64)),
        // Levels that are not whole numbers name no grade.
        Version::V10 => |text: &str| Some(text.parse::<i64>().ok().map(|grade| grade as f64)),
    };
    SuffixNumbers { integer: |text| Some(integer(text)), number: |text| Some(number(text)), grade }
}

/// Parses the integer at the start of a text as C's `atol` does; 0 if there is none.
pub fn integer(text: &str) -> i64 {
    starts(text).find_map(|start| start.parse().ok()).unwrap_or(0)
}

/// Parses the finite number at the start of a text as C's `atof` does; 0 if there is none.
fn number(text: &str) -> f64 {
    let mut found = starts(text).filter_map(|start| start.parse::<f64>().ok());
    found.find(|number| number.is_finite()).unwrap_or(0.0) + 0.0
}

/// Returns all starts (prefixes) of a text, the longest first, each without the white space before
/// it.
fn starts(text: &str) -> impl Iterator<Item = &str> {
    let ends = (0..=text.len()).rev().filter(|&end| text.is_char_boundary(end));
    ends.map(|end| text[..end].trim_start())
}

/// Returns the measures that trec_eval's `-m` means by a name and lists of parameters, with printed
/// suffixes. Without lists, the defaults are taken. A printed suffix is the text that follows the
/// name in print.
pub fn measures(
    row: &ForeignMeasure,
    lists: &[&str],
    version: Version,
    defaults: Defaults,
) -> Result<Vec<(String, Measure)>, String> {
    let numbers = numbers(version);
    // Parameters of a measure that takes none are ignored.
    if lists.is_empty() || row.suffix == Suffix::None {
        let bare = row.measures(None, &numbers, defaults).map_err(|error| error.message)?;
        return Ok(bare.into_iter().map(|measure| (printed(row, &measure, ""), measure)).collect());
    }
    let mut all: Vec<(String, Measure)> = Vec::new();
    for list in lists {
        let measures = row.measures(Some(list), &numbers, defaults);
        let mut measures = measures.map_err(|error| error.message)?;
        sort::by_number(&mut measures, |measure| place(row, measure));
        if measures.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(format!("a cutoff is there twice in `{list}`"));
        }
        all.extend(measures.into_iter().map(|measure| (printed(row, &measure, list), measure)));
    }
    // The cutoffs of several requests are one ascending list.
    if is_list(row) {
        sort::by_number(&mut all, |(_, measure)| place(row, measure));
        all.dedup_by(|(_, a), (_, b)| a == b);
    }
    Ok(all)
}

/// Returns whether each number after the `.` of trec_eval's name makes a measure of its own, as in
/// `P.5,10`.
pub fn is_list(row: &ForeignMeasure) -> bool {
    matches!(row.suffix, Suffix::Ranks(_) | Suffix::Recalls(_) | Suffix::Each(..))
}

/// Returns the number (rank, recall or parameter) by which trec_eval orders the measures of one
/// name.
fn place(row: &ForeignMeasure, measure: &Measure) -> f64 {
    match row.suffix {
        Suffix::Ranks(_) => measure.rank().map_or(0.0, f64::from),
        Suffix::Recalls(_) => measure.recall(),
        Suffix::Each(param, _) => measure.number(param).unwrap_or(0.0),
        _ => 0.0,
    }
}

/// Returns the text that trec_eval prints behind the name of a measure, such as `_10`.
fn printed(row: &ForeignMeasure, measure: &Measure, list: &str) -> String {
    match row.suffix {
        Suffix::Ranks(_) => format!("_{}", place(row, measure)),
        Suffix::Recalls(_) | Suffix::Each(..) => format!("_{:3.2}", place(row, measure)),
        _ if list.is_empty() => String::new(),
        _ => format!("_{list}"),
    }
}
