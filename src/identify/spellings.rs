//! The spellings of a measure: every combination of the words that its parameters take, read off
//! the table of measures.
//!
//! A parameter of words takes each word, a level of relevance takes grades up to three levels, and
//! the top of a scale takes a few numbers. All remaining numbers keep their default, because no
//! list holds the infinitely many values of β.

use crate::matrix::Codebook;
use crate::measure::{
    Average, CutoffRule, Definition, JUDGES, JudgmentInput, Kind, MEASURES, Measure, NOTHING,
    OfNothing, Param, Range, Status, parse,
};

/// Measures to try for a number without a name, besides measures of everyday use.
const ALSO_UNNAMED: [&str; 3] = ["SDCG", "Accuracy", "Bpref"];

/// Pairs of measures: a name, and a second measure that some libraries call by the name.
const ALSO_CALLED: &[(&str, &str)] = &[("nDCG", "SDCG")];

/// The cutoffs to try for a number without a name; 0 is no cutoff.
const CUTOFFS: [u32; 9] = [0, 1, 3, 5, 10, 20, 50, 100, 1000];

/// The maximum number of parameters away from their defaults for a number without a name: many
/// measures are tried for such a number.
const MOST_CHOICES: usize = 2;

/// The maximum number of levels of relevance to try.
const LEVELS: usize = 3;

/// Tops of a grading scale that are tried, besides words and the default.
const TOPS: [&str; 3] = ["3", "4", "5"];

/// A measure with parameters, at each requested cutoff.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Spelling {
    pub at: Vec<Measure>,
    /// The number of parameters away from their defaults, plus 1 if the measure is not the named
    /// measure.
    pub choices: u32,
    /// The value of queries without relevant documents, if the name gave a value.
    pub nothing: Option<OfNothing>,
}

/// Lists the spellings of the `named` measure, at the cutoff of each named number. Parameters given
/// in a name stay fixed.
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

/// Whether definitions of a measure can be told apart: the measure is a mean, is 0 for an empty
/// ranking, and reads one grade for each document.
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

/// Returns the parameters of a measure away from their defaults, as text.
pub(super) fn given(measure: &Measure) -> Vec<(&'static str, String)> {
    let of = measure.definition().params.iter();
    of.filter_map(|param| Some((param.name, measure.value(param.name)?.to_string()))).collect()
}

fn spelling(at: Vec<Measure>, away: u32) -> Spelling {
    let choices = at.first().map_or(0, |measure| given(measure).len() as u32) + away;
    Spelling { at, choices, nothing: None }
}

/// Lists every combination of words of the parameters. A combination leaves out the default words.
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

/// Builds the measure from its parts; `None` if the parts or the grades do not suit the measure.
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
