//! The answer of `laneval identify` as text for people: verdict, fitting definitions with their
//! libraries, and advice.

use std::io::{self, Write};

use crate::identify::{
    Candidate, Identification, IdentifiedLibrary, IdentifyVerdict, PrintRounding,
};
use crate::report::options::ReportOptions;

/// The most changes shown that would leave the values of a candidate the same.
const MOST_CHANGES: usize = 6;

/// Writes the answer of `laneval identify` as text: headline, fitting definitions and advice.
pub fn write(
    found: &Identification,
    options: &ReportOptions,
    to: &mut impl Write,
) -> io::Result<()> {
    writeln!(to, "{}", headline(found))?;
    let widths = found.candidates.iter().map(|candidate| candidate.spelling().chars().count());
    let width = widths.max().unwrap_or(0);
    for candidate in &found.candidates {
        let value = value(candidate, options);
        writeln!(to, "  {:width$}   {value}{}", candidate.spelling(), beside(candidate, found))?;
        let libraries: Vec<String> = candidate.libraries.iter().map(library).collect();
        if !libraries.is_empty() {
            writeln!(to, "      libraries: {}", libraries.join("\n                 "))?;
        }
        if !candidate.same_here.is_empty() {
            writeln!(to, "      the same here: {}", same_here(candidate))?;
        }
    }
    let shown = found.candidates.len() as u64;
    if found.fitting > shown && shown > 0 {
        writeln!(to, "  … and {} more", found.fitting - shown)?;
    }
    if !found.nearest.is_empty() {
        let label = if found.verdict == IdentifyVerdict::None { "nearest" } else { "next" };
        writeln!(to, "{label}:")?;
    }
    for candidate in &found.nearest {
        let agree = candidate.agree.zip(found.compared_queries);
        let agree =
            agree.map_or(String::new(), |(agree, total)| format!(" ({agree} of {total} queries)"));
        let differs = if candidate.differs.is_empty() {
            String::new()
        } else {
            format!(", differs on {}", candidate.differs)
        };
        let value = value(candidate, options);
        writeln!(to, "  {value}  {}{agree}{differs}", candidate.spelling())?;
    }
    match (found.verdict, &found.advice[..]) {
        (_, "") => Ok(()),
        (IdentifyVerdict::None, advice) => writeln!(to, "{advice}"),
        (_, advice) => writeln!(to, "to be sure: {advice}"),
    }
}

/// Returns the first line of the answer: the verdict, with counts of definitions and the chance of
/// wrong ones.
fn headline(found: &Identification) -> String {
    let (classes, definitions) =
        (counted(found.classes, "class", "es"), counted(found.definitions, "definition", "s"));
    let phrase = found.compared_queries.map(|total| match total {
        1 => "the value of 1 query".to_owned(),
        _ => format!("the values of {total} queries"),
    });
    let numbers = found.numbers.iter().map(|(_, number)| number.clone());
    let all: Vec<String> = phrase.into_iter().chain(numbers).collect();
    let (fitting, prints) = match found.fitting {
        0 => ("none".to_owned(), "prints"),
        1 => ("1".to_owned(), "prints"),
        several => (several.to_string(), "print"),
    };
    let chance = match (found.numbers.is_empty(), found.fitting, found.chance) {
        (true, ..) | (_, 0, _) => String::new(),
        (_, _, chance) if chance.is_finite() => format!("; {} expected by chance", others(chance)),
        _ => "; many others expected by chance".to_owned(),
    };
    format!(
        "{}: {fitting} of {classes} ({definitions}) {prints} {}{chance}",
        found.verdict,
        all.join(" and ")
    )
}

/// Returns in words the number of other definitions expected to fit by chance.
fn others(chance: f64) -> String {
    match chance {
        ..0.001 => "less than 0.001 others".to_owned(),
        ..0.1 => format!("{chance:.3} others"),
        ..10.0 => format!("{chance:.1} others"),
        _ => format!("{chance:.0} others"),
    }
}

fn counted(count: u64, one: &str, more: &str) -> String {
    let mut digits = count.to_string();
    // From the end, so that an inserted comma moves no place that is still to come.
    for at in (1..digits.len()).rev().skip(2).step_by(3) {
        digits.insert(at, ',');
    }
    let ending = if count == 1 { "" } else { more };
    format!("{digits} {one}{ending}")
}

fn value(candidate: &Candidate, options: &ReportOptions) -> String {
    let decimals = options.decimals.unwrap_or(6);
    candidate.value.map_or("-".to_owned(), |value| format!("{value:.decimals$}"))
}

/// Returns the remarks behind a fitting definition: agreeing queries, telling queries and rounding.
fn beside(candidate: &Candidate, found: &Identification) -> String {
    let printed = match candidate.printed {
        PrintRounding::Rounded => None,
        PrintRounding::RoundedF32 => Some("computed with f32".to_owned()),
        PrintRounding::Truncated => Some("cut, not rounded".to_owned()),
    };
    let agree = candidate
        .agree
        .zip(found.compared_queries)
        .map(|(agree, total)| format!("{agree} of {total} queries"));
    let telling =
        candidate.telling.map(|telling| format!("{telling} of them tell it from the next"));
    let all: Vec<String> = [agree, telling, printed].into_iter().flatten().collect();
    if all.is_empty() { String::new() } else { format!("   {}", all.join(", ")) }
}

/// Returns as text a library with its name for the measure and its differing options.
fn library(library: &IdentifiedLibrary) -> String {
    let differs = if library.differs.is_empty() {
        String::new()
    } else {
        format!(" (there {})", library.differs)
    };
    format!("{} {}{differs}", library.library, library.name)
}

fn same_here(candidate: &Candidate) -> String {
    let shown =
        candidate.same_here.iter().take(MOST_CHANGES).cloned().collect::<Vec<_>>().join(", ");
    match candidate.same_here.len().saturating_sub(MOST_CHANGES) {
        0 => shown,
        more => format!("{shown}, … and {more} more"),
    }
}
