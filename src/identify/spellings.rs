//! The spellings of a measure: every combination of values of its parameters, from the table of
//! measures.
//!
//! A parameter of words takes each word, a level of relevance takes grades up to three levels, and
//! the top of a scale takes a few numbers. All remaining numbers keep their default, because no
//! list holds the infinitely many values of β.

use crate::matrix::Codebook;
use crate::measure::{
    Average, CutoffRule, Definition, JUDGES, JudgmentNeeds, MEASURES, Measure, NO_RELEVANT,
    NoRelevant, Param, ParamKind, Range, Status, parse,
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

/// Names of parameters of a measure, each with its value as text.
type ParamWords = Vec<(&'static str, String)>;

/// A measure with one choice of parameters, at each cutoff in question.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Spelling {
    pub at: Vec<Measure>,
    /// The number of parameters away from their defaults, plus 1 if the measure is not the named
    /// measure.
    pub choices: u32,
    /// The value of queries without relevant documents, if the name gave a value.
    pub nothing: Option<NoRelevant>,
}

/// Lists the `named` measure with every combination of parameters, at the cutoff of each named
/// number. Parameters given in a name stay fixed.
pub(super) fn spellings(named: &[Measure], book: &Codebook) -> Vec<Spelling> {
    let Some(first) = named.first() else { return Vec::new() };
    let name = first.definition().name;
    let others = ALSO_CALLED
        .iter()
        .filter(|(candidate, _)| *candidate == name && non_default_params(first).is_empty())
        .map(|(_, other)| *other);
    let nothing = named
        .iter()
        .find_map(|measure| measure.value(NO_RELEVANT.name).map(|_| measure.no_relevant()));
    let mut all = Vec::new();
    for (name, away) in std::iter::once((name, 0)).chain(others.map(|other| (other, 1))) {
        let Some(definition) = MEASURES.iter().find(|row| row.name == name) else { continue };
        for params in combinations(definition, book, named) {
            let at = named.iter().map(|one| spelled(definition, &params, one.rank(), book));
            let at: Option<Vec<Measure>> = at.collect();
            all.extend(at.map(|at| Spelling { nothing, ..spelling(at, away) }));
        }
    }
    all
}

/// Lists the measures, parameters and usual cutoffs to try for a reported number without a name.
pub(super) fn unnamed_spellings(book: &Codebook) -> Vec<Spelling> {
    let definitions = MEASURES.iter().filter(|definition| {
        let everyday = matches!(definition.traits.status, Status::Everyday)
            || ALSO_UNNAMED.contains(&definition.name);
        everyday && definition.cutoff != CutoffRule::Recall && is_identifiable(definition)
    });
    let mut all = Vec::new();
    for definition in definitions {
        for params in combinations(definition, book, &[]) {
            for rank in CUTOFFS {
                let rank = (rank > 0).then_some(rank);
                let measure = spelled(definition, &params, rank, book).filter(|measure| {
                    non_default_params(measure).len() <= MOST_CHOICES
                        && measure.range().bounds() == Range::SHARE.bounds()
                });
                all.extend(measure.map(|measure| spelling(vec![measure], 0)));
            }
        }
    }
    all
}

/// Returns whether definitions of a measure can be told apart: the measure is a mean, is 0 for an
/// empty ranking, and reads one grade for each document.
pub(super) fn is_identifiable(definition: &Definition) -> bool {
    definition.average == Average::Mean
        && definition.traits.empty == Some(0.0)
        && definition.traits.input == JudgmentNeeds::Grades
}

/// Returns the parameters of a measure that differ from their defaults, with their values as text.
pub(super) fn non_default_params(measure: &Measure) -> ParamWords {
    let params = measure.definition().params.iter();
    params.filter_map(|param| Some((param.name, measure.value(param.name)?.to_string()))).collect()
}

fn spelling(at: Vec<Measure>, away: u32) -> Spelling {
    let choices = at.first().map_or(0, |measure| non_default_params(measure).len() as u32) + away;
    Spelling { at, choices, nothing: None }
}

/// Lists every combination of values of a measure's parameters. A combination leaves out the
/// default words, and `named` measures fix their parameters.
fn combinations(
    definition: &'static Definition,
    book: &Codebook,
    named: &[Measure],
) -> Vec<ParamWords> {
    let mut all = vec![ParamWords::new()];
    for param in definition.params {
        let fixed = named.iter().find_map(|measure| Some(measure.value(param.name)?.to_string()));
        let words = fixed.map_or_else(|| words(param, book), |word| vec![word]);
        let mut longer = Vec::new();
        for params in &all {
            for word in &words {
                let mut params = params.clone();
                if *word != param.default {
                    params.push((param.name, word.clone()));
                }
                longer.push(params);
            }
        }
        all = longer;
    }
    all
}

/// Returns the values of a measure's parameter that are tried, as text, the default first.
fn words(param: &Param, book: &Codebook) -> Vec<String> {
    let default = param.default.to_owned();
    if [NO_RELEVANT.name, JUDGES.name].contains(&param.name) {
        return vec![default];
    }
    let mut others: Vec<String> = match param.kind {
        ParamKind::Level => levels(book),
        _ => param.kind.choices().iter().map(|&word| word.to_owned()).collect(),
    };
    // The scale of gains that are shares is told by judgments; that of ERR is part of its
    // definition.
    if param.name == "gmax" && param.default != "auto" {
        others.extend(TOPS.map(str::to_owned));
    }
    others.retain(|word| *word != default);
    std::iter::once(default).chain(others).collect()
}

/// Returns the grades above 1 that are tried as level of relevance, as text.
fn levels(book: &Codebook) -> Vec<String> {
    let above = book.grades().iter().filter(|&&grade| grade > 1.0);
    above.take(LEVELS - 1).map(f64::to_string).collect()
}

/// Builds a measure from definition, parameters and cutoff; `None` if these or the grades do not
/// suit the measure.
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
        assert!(
            all.iter().all(|spelling| spelling.at[0].to_string() != "ERR(gmax=3)@5"),
            "{all:?}"
        );
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
        assert!(
            all.iter().all(|spelling| spelling.at.len() == 2 && spelling.at[1].rank() == Some(10))
        );
        assert_eq!(all[0].at, both);
    }

    #[test]
    fn without_a_name_everything_is_tried() {
        let all = unnamed_spellings(&book());
        for name in
            ["nDCG@10", "AP", "RR@10", "P@5", "R@100", "Success@1", "Rprec", "F@10", "Bpref"]
        {
            let measure: Measure = name.parse().unwrap();
            assert!(
                all.iter().any(|spelling| spelling.at[0] == measure && spelling.choices == 0),
                "{name}"
            );
        }
        assert!(all.len() > 500, "{}", all.len());
    }
}
