//! The text after the `.` of a measure, as trec_eval reads and prints it.
//!
//! C's `atol` and `atof` read the longest start of a text that is a number, leading white space
//! skipped, and give 0 without one. Texts are short, so the longest is found by trying every end
//! from the last on.

use super::Version;
use crate::measure::{Defaults, Foreign, Measure, Suffix, SuffixNumbers};
use crate::sort;

/// Reads numbers as C does: the number at the start of a text, or 0.
pub fn numbers(version: Version) -> SuffixNumbers {
    let grade = match version {
        Version::V9 => |text: &str| Some(Some(integer(text) as f64)),
        // Levels that are not whole numbers name no grade.
        Version::V10 => |text: &str| Some(text.parse::<i64>().ok().map(|grade| grade as f64)),
    };
    SuffixNumbers { integer: |text| Some(integer(text)), number: |text| Some(number(text)), grade }
}

/// The integer at the start of a text, 0 if there is none.
pub fn integer(text: &str) -> i64 {
    let ends = (0..=text.len()).rev().filter(|&end| text.is_char_boundary(end));
    ends.map(|end| text[..end].trim_start()).find_map(|start| start.parse().ok()).unwrap_or(0)
}

/// The finite number at the start of a text, 0 if there is none.
fn number(text: &str) -> f64 {
    let ends = (0..=text.len()).rev().filter(|&end| text.is_char_boundary(end));
    let mut found = ends.filter_map(|end| text[..end].trim_start().parse::<f64>().ok());
    found.find(|number| number.is_finite()).unwrap_or(0.0) + 0.0
}

/// The measures of a row with these lists of parameters, or with the defaults, each with the text
/// that follows its name in print.
pub fn measures(
    row: &Foreign,
    lists: &[&str],
    version: Version,
    defaults: Defaults,
) -> Result<Vec<(String, Measure)>, String> {
    let read = |list: Option<&str>| {
        row.measures(list, &numbers(version), defaults).map_err(|error| error.message)
    };
    // Parameters of a measure that takes none are ignored.
    if lists.is_empty() || row.suffix == Suffix::None {
        let bare = read(None)?;
        return Ok(bare.into_iter().map(|measure| (printed(row, &measure, ""), measure)).collect());
    }
    let mut all: Vec<(String, Measure)> = Vec::new();
    for list in lists {
        let mut measures = read(Some(list))?;
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

/// Whether each part of a row's parameters makes a measure of its own.
pub fn is_list(row: &Foreign) -> bool {
    matches!(row.suffix, Suffix::Ranks(_) | Suffix::Recalls(_) | Suffix::Each(..))
}

/// The number by which the measures of a list are ordered.
fn place(row: &Foreign, measure: &Measure) -> f64 {
    match row.suffix {
        Suffix::Ranks(_) => measure.rank().map_or(0.0, f64::from),
        Suffix::Recalls(_) => measure.recall(),
        Suffix::Each(param, _) => measure.number(param).unwrap_or(0.0),
        _ => 0.0,
    }
}

/// The text that follows a name in print.
fn printed(row: &Foreign, measure: &Measure, list: &str) -> String {
    match row.suffix {
        Suffix::Ranks(_) => format!("_{}", place(row, measure)),
        Suffix::Recalls(_) | Suffix::Each(..) => format!("_{:3.2}", place(row, measure)),
        _ if list.is_empty() => String::new(),
        _ => format!("_{list}"),
    }
}
