//! The spellings of a measure: every combination of the words that its parameters take, read off
//! the table of measures.
//!
//! A parameter that takes words has each of them, a level of relevance each grade up to three
//! levels, the top of a scale a few numbers. Other numbers have their default: which of infinitely
//! many β it was no list tells.

use crate::label::Codebook;
use crate::measure::{
    Average, CutoffRule, Definition, JUDGES, JudgmentInput, Kind, MEASURES, Measure, NOTHING,
    OfNothing, Param, Range, Status, parse,
};

/// The measures that a number without a name may be of, besides those of everyday use.
const ALSO_UNNAMED: [&str; 3] = ["SDCG", "Accuracy", "Bpref"];

/// Measures that some libraries give the name of another one.
const ALSO_CALLED: &[(&str, &str)] = &[("nDCG", "SDCG")];

/// The cutoffs that are tried where none is named; 0 is none.
const CUTOFFS: [u32; 9] = [0, 1, 3, 5, 10, 20, 50, 100, 1000];

/// The most parameters that differ from their defaults where no measure is named: there are many
/// measures then.
const MOST_CHOICES: usize = 2;

/// The most levels of relevance that are tried.
const LEVELS: usize = 3;

/// Tops of a grading scale that are tried, besides words and the default.
const TOPS: [&str; 3] = ["3", "4", "5"];

/// A measure with parameters, at each of the cutoffs that were asked for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Spelling {
    pub at: Vec<Measure>,
    /// The number of parameters that differ from their defaults, and of names that do.
    pub choices: u32,
    /// What it is worth where nothing is relevant, if the name said that.
    pub nothing: Option<OfNothing>,
}

/// Lists the spellings of a measure at all of these cutoffs, which are those of named numbers. What
/// a name says of parameters holds.
pub(super) fn spellings(named: &[Measure], book: &Codebook) -> Vec<Spelling> {
    let Some(first) = named.first() else { return Vec::new() };
    let name = first.definition().name;
    let others = ALSO_CALLED
        .iter()
        .filter(|(of, _)| *of == name && is_plain(first))
        .map(|(_, other)| *other);
    let nothing =
        named.iter().find_map(|measure| measure.value(NOTHING.name).map(|_| measure.of_nothing()));
    let mut all = Vec::new();
    for (name, away) in std::iter::once((name, 0)).chain(others.map(|other| (other, 1))) {
        let Some(definition) = row(name) else { continue };
        for params in combinations(definition, book, named) {
            let at = |measure: &Measure| spelled(definition, &params, measure.rank(), book);
            if let Some(at) = named.iter().map(at).collect::<Option<Vec<Measure>>>() {
                all.push(Spelling { nothing, ..spelling(at, away) });
            }
        }
    }
    all
}

/// Lists the spellings of all measures that a number without a name may be of, at usual cutoffs.
pub(super) fn unnamed_spellings(book: &Codebook) -> Vec<Spelling> {
    let is_one = |of: &&Definition| {
        let everyday =
            matches!(of.traits.status, Status::Everyday) || ALSO_UNNAMED.contains(&of.name);
        everyday && of.cutoff != CutoffRule::Recall && is_told(of)
    };
    let is_near = |measure: &Measure| given(measure).len() <= MOST_CHOICES;
    let mut all = Vec::new();
    for definition in MEASURES.iter().filter(is_one) {
        for params in combinations(definition, book, &[]) {
            for rank in CUTOFFS {
                let rank = (rank > 0).then_some(rank);
                if let Some(measure) = spelled(definition, &params, rank, book).filter(is_near)
                    && measure.range().bounds() == Range::SHARE.bounds()
                {
                    all.push(spelling(vec![measure], 0));
                }
            }
        }
    }
    all
}

/// Whether definitions of a measure can be told apart: it is a mean, 0 for an empty ranking, over
/// one grade for each document.
pub(super) fn is_told(of: &Definition) -> bool {
    of.average == Average::Mean
        && of.traits.empty == Some(0.0)
        && of.traits.input == JudgmentInput::Grades
}

fn row(name: &str) -> Option<&'static Definition> {
    MEASURES.iter().find(|row| row.name == name)
}

/// Whether a measure has no parameters but defaults.
fn is_plain(measure: &Measure) -> bool {
    given(measure).is_empty()
}

/// The parameters of a measure that differ from their defaults, as they are written.
pub(super) fn given(measure: &Measure) -> Vec<(&'static str, String)> {
    let of = measure.definition().params.iter();
    of.filter_map(|param| Some((param.name, measure.value(param.name)?.to_string()))).collect()
}

fn spelling(at: Vec<Measure>, away: u32) -> Spelling {
    let choices = at.first().map_or(0, |measure| given(measure).len() as u32) + away;
    Spelling { at, choices, nothing: None }
}

/// Every combination of words of the parameters: each is a list of the ones that differ from the
/// default.
fn combinations(
    definition: &'static Definition,
    book: &Codebook,
    named: &[Measure],
) -> Vec<Vec<(&'static str, String)>> {
    let mut all: Vec<Vec<(&'static str, String)>> = vec![Vec::new()];
    for param in definition.params {
        let fixed = named.iter().find_map(|measure| Some(measure.value(param.name)?.to_string()));
        let words = fixed.map_or_else(|| words(param, book), |word| vec![word]);
        let with = |of: &Vec<(&'static str, String)>, word: &String| {
            let mut of = of.clone();
            if *word != param.default {
                of.push((param.name, word.clone()));
            }
            of
        };
        all = all.iter().flat_map(|of| words.iter().map(move |word| with(of, word))).collect();
    }
    all
}

/// The words of a parameter that are tried, its default first.
fn words(param: &Param, book: &Codebook) -> Vec<String> {
    let default = param.default.to_owned();
    if [NOTHING.name, JUDGES.name].contains(&param.name) {
        return vec![default];
    }
    let mut others: Vec<String> = match param.kind {
        Kind::Level => levels(book),
        _ => param.kind.words().iter().map(|&word| word.to_owned()).collect(),
    };
    // The scale of gains that are shares is told by judgments; that of ERR is part of its
    // definition.
    if param.name == "gmax" && param.default != "auto" {
        others.extend(TOPS.map(str::to_owned));
    }
    others.retain(|word| *word != default);
    std::iter::once(default).chain(others).collect()
}

/// The levels of relevance above the lowest.
fn levels(book: &Codebook) -> Vec<String> {
    let above = book.grades().iter().filter(|&&grade| grade > 1.0);
    above.take(LEVELS - 1).map(f64::to_string).collect()
}

/// The measure of these parts, if there is one for these grades.
fn spelled(
    definition: &'static Definition,
    params: &[(&'static str, String)],
    rank: Option<u32>,
    book: &Codebook,
) -> Option<Measure> {
    let params: Vec<String> = params.iter().map(|(name, word)| format!("{name}={word}")).collect();
    let params = if params.is_empty() { String::new() } else { format!("({})", params.join(",")) };
    let cut = rank.map_or(String::new(), |rank| format!("@{rank}"));
    let measure = parse(&format!("{}{params}{cut}", definition.name)).ok()?;
    (measure.rank() == rank && measure.recipe(book).is_ok()).then_some(measure)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book() -> Codebook {
        Codebook::new([0.0, 1.0, 2.0, 3.0]).unwrap()
    }

    fn named(name: &str) -> Vec<String> {
        let spellings = spellings(&[name.parse().unwrap()], &book());
        spellings.iter().map(|spelling| spelling.at[0].to_string()).collect()
    }

    #[test]
    fn parameters_take_their_words() {
        let all = named("nDCG@5");
        assert_eq!(all[0], "nDCG@5");
        for one in [
            "nDCG(gain=exp2)@5",
            "nDCG(rel=3, discount=jk)@5",
            "nDCG(gain=exp2, rel=2, ideal=retrieved, discount=jk)@5",
            "SDCG@5",
        ] {
            let one: Measure = one.parse().unwrap();
            assert!(all.contains(&one.to_string()), "{one}: {all:?}");
        }
        assert!(all.len() >= 24, "{all:?}");
        assert!(named("P@5").contains(&"P(norm=min)@5".to_owned()));
        assert!(named("ERR@5").contains(&"ERR(gmax=auto)@5".to_owned()));
        // Not what divides by less than the largest grade.
        let grades = Codebook::new([0.0, 4.0]).unwrap();
        let all = spellings(&["ERR@5".parse().unwrap()], &grades);
        assert!(all.iter().all(|of| of.at[0].to_string() != "ERR(gmax=3)@5"), "{all:?}");
    }

    #[test]
    fn what_a_name_says_of_parameters_holds() {
        let all = named("nDCG(gain=exp2)@5");
        assert!(all.len() > 3 && all.iter().all(|name| name.contains("gain=exp2")), "{all:?}");
    }

    #[test]
    fn several_cutoffs_are_one_spelling() {
        let both = ["nDCG@5", "nDCG@10"].map(|name| name.parse().unwrap());
        let all = spellings(&both, &book());
        assert!(all.iter().all(|of| of.at.len() == 2 && of.at[1].rank() == Some(10)));
        assert_eq!(all[0].at, both);
    }

    #[test]
    fn without_a_name_everything_is_tried() {
        let all = unnamed_spellings(&book());
        for name in
            ["nDCG@10", "AP", "RR@10", "P@5", "R@100", "Success@1", "Rprec", "F@10", "Bpref"]
        {
            let measure: Measure = name.parse().unwrap();
            assert!(all.iter().any(|of| of.at[0] == measure && of.choices == 0), "{name}");
        }
        assert!(all.len() > 500, "{}", all.len());
    }
}
