//! The identified definition of a number as text for people: verdict, fitting classes with their
//! libraries, and next step.

use std::io::{self, Write};

use crate::identify::{Candidate, Identified, IdentifiedLibrary, IdentifyVerdict, PrintedAs};
use crate::report::options::ReportOptions;

/// The most changes shown that would leave the values of a candidate the same.
const MOST_CHANGES: usize = 6;

/// Writes the answer.
pub fn write(found: &Identified, options: &ReportOptions, to: &mut impl Write) -> io::Result<()> {
    writeln!(to, "{}", headline(found))?;
    let spelled = |of: &&Candidate| of.spelled().chars().count();
    let width = found.candidates.iter().map(|of| spelled(&of)).max().unwrap_or(0);
    for of in &found.candidates {
        let value = value(of, options);
        writeln!(to, "  {:width$}   {value}{}", of.spelled(), beside(of, found))?;
        let libraries: Vec<String> = of.libraries.iter().map(library).collect();
        if !libraries.is_empty() {
            writeln!(to, "      libraries: {}", libraries.join("\n                 "))?;
        }
        if !of.same_here.is_empty() {
            writeln!(to, "      the same here: {}", same_here(of))?;
        }
    }
    let shown = found.candidates.len() as u64;
    if found.fitting > shown && shown > 0 {
        writeln!(to, "  … and {} more", found.fitting - shown)?;
    }
    if !found.nearest.is_empty() {
        let next = |of: &Candidate| {
            let agree = of.agree.zip(found.told);
            let agree = agree
                .map_or(String::new(), |(agree, told)| format!(" ({agree} of {told} queries)"));
            let differs = if of.differs.is_empty() {
                String::new()
            } else {
                format!(", differs on {}", of.differs)
            };
            format!("  {}  {}{agree}{differs}", value(of, options), of.spelled())
        };
        let label = if found.verdict == IdentifyVerdict::None { "nearest" } else { "next" };
        let nearest: Vec<String> = found.nearest.iter().map(next).collect();
        writeln!(to, "{label}:\n{}", nearest.join("\n"))?;
    }
    match (found.verdict, &found.advice[..]) {
        (_, "") => Ok(()),
        (IdentifyVerdict::None, advice) => writeln!(to, "{advice}"),
        (_, advice) => writeln!(to, "to be sure: {advice}"),
    }
}

/// Writes the first line: the verdict, and the counts and chance behind the verdict.
fn headline(found: &Identified) -> String {
    let (classes, definitions) =
        (counted(found.classes, "class", "es"), counted(found.definitions, "definition", "s"));
    let numbers: Vec<&str> = found.numbers.iter().map(|(_, number)| number.as_str()).collect();
    let told = found.told.map(|told| match told {
        1 => "the value of 1 query".to_owned(),
        _ => format!("the values of {told} queries"),
    });
    let all: Vec<String> =
        told.into_iter().chain(numbers.iter().map(|&number| number.to_owned())).collect();
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

/// The number of others that are expected, with as many digits as say something.
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
    for at in (1..digits.len())
        .rev()
        .filter(|at| (digits.len() - at).is_multiple_of(3))
        .collect::<Vec<_>>()
    {
        digits.insert(at, ',');
    }
    let ending = if count == 1 { "" } else { more };
    format!("{digits} {one}{ending}")
}

fn value(of: &Candidate, options: &ReportOptions) -> String {
    let decimals = options.decimals.unwrap_or(6);
    of.value.map_or("-".to_owned(), |value| format!("{value:.decimals$}"))
}

/// Returns the remarks behind the value of a fitting class: agreeing queries, telling queries and
/// rounding.
fn beside(of: &Candidate, found: &Identified) -> String {
    let printed = match of.printed {
        PrintedAs::Rounded => None,
        PrintedAs::Single => Some("computed with f32".to_owned()),
        PrintedAs::Cut => Some("cut, not rounded".to_owned()),
    };
    let agree = of.agree.zip(found.told).map(|(agree, told)| format!("{agree} of {told} queries"));
    let telling = of.telling.map(|telling| format!("{telling} of them tell it from the next"));
    let all: Vec<String> = [agree, telling, printed].into_iter().flatten().collect();
    if all.is_empty() { String::new() } else { format!("   {}", all.join(", ")) }
}

/// Returns a library with its name for the measure and its differences from the definition.
fn library(of: &IdentifiedLibrary) -> String {
    let differs =
        if of.differs.is_empty() { String::new() } else { format!(" (there {})", of.differs) };
    format!("{} {}{differs}", of.library, of.name)
}

fn same_here(of: &Candidate) -> String {
    let shown = of.same_here.iter().take(MOST_CHANGES).cloned().collect::<Vec<_>>().join(", ");
    match of.same_here.len().saturating_sub(MOST_CHANGES) {
        0 => shown,
        more => format!("{shown}, … and {more} more"),
    }
}
