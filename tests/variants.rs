//! Every measure with every parameter, for other tests.

use std::sync::LazyLock;

use laneval::measure::{CutoffRule, Definition, JudgmentNeeds, MEASURES, Measure, ParamKind};
use laneval::parts::measure::Recipe;
use laneval::{FacetKind, LabelMatrix};

/// Some values of a parameter, as written.
fn values(kind: ParamKind) -> Vec<String> {
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    match kind {
        ParamKind::Level => words(&["0", "1", "2", "2.25", "9"]),
        ParamKind::Number(least, most) => [least, 0.5, 0.95, 2.0, most.min(100.0)]
            .iter()
            .filter(|x| (least..=most).contains(x))
            .map(f64::to_string)
            .collect(),
        ParamKind::NumberOrChoice(_, most, others) => {
            [words(others), vec!["5".into(), "10".into(), most.min(100.0).to_string()]].concat()
        }
        ParamKind::Whole(_) => words(&["0", "1000000"]),
        ParamKind::Ranks(others) => [words(others), words(&["1", "7", "300"])].concat(),
        ParamKind::Choice(all) => words(all),
        ParamKind::Gain => {
            words(&["linear", "exp2", "binary", "{1:0.5,4:9}", "{-1:0.25,-2:-1,0:0.125}", "{-2:5}"])
        }
        ParamKind::Points => words(&["[0.25]", "[0,0.3,0.35,1]"]),
    }
}

/// Returns the measures of a row: without parameters, and with each value of each parameter, at
/// cutoffs that matter.
pub fn variants(row: &Definition) -> Vec<Measure> {
    let mut params = vec![String::new()];
    for param in row.params {
        let needs =
            if param.needs.is_empty() { String::new() } else { format!("{},", param.needs) };
        params.extend(
            values(param.kind).iter().map(|value| format!("({needs}{}={value})", param.name)),
        );
    }
    let cuts: &[&str] = match row.cutoff {
        CutoffRule::None => &[""],
        CutoffRule::Optional => &["", "@1", "@2", "@10", "@64", "@1000"],
        CutoffRule::Required => &["@1", "@5", "@63", "@1000"],
        CutoffRule::Recall => &["@0", "@0.1", "@0.55", "@0.7", "@1"],
    };
    // The word k stands for the cutoff, and is an error without one; documents of equal scores
    // stand together without a cutoff.
    let makes_sense = |params: &str, cut: &str| {
        !(params.ends_with("=k)") && cut.is_empty()
            || params.ends_with("=together)") && !cut.is_empty())
    };
    let with_cuts = |params| {
        cuts.iter().filter(move |cut| makes_sense(params, cut)).map(move |cut| (params, cut))
    };
    let text = params.iter().flat_map(|params| with_cuts(params.as_str()));
    let text = text.map(|(params, cut)| format!("{}{params}{cut}", row.name));
    text.map(|text| text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))).collect()
}

/// They are parsed once: that takes longer than to evaluate them on a small matrix.
static ALL: LazyLock<Vec<Measure>> = LazyLock::new(|| {
    MEASURES.iter().flat_map(variants).filter(|measure| !measure.needs_ties()).collect()
});

/// Returns every variant of every row whose value is that of an order; `together.rs` has those that
/// need to know which scores are equal.
#[allow(dead_code)] // some test binaries take a kind of measure
pub fn all() -> impl Iterator<Item = &'static Measure> {
    ALL.iter()
}

/// Returns every measure that is made of folds.
pub fn every_measure(matrix: &LabelMatrix) -> Vec<Measure> {
    // A scale smaller than the grades is an error, which other tests see.
    let folds =
        |measure: &&Measure| matches!(measure.recipe(matrix.codebook()), Ok(Recipe::Folds { .. }));
    ALL.iter().filter(folds).cloned().collect()
}

/// Returns every measure that walks.
#[allow(dead_code)] // in the tests of a GPU
pub fn every_walk(matrix: &LabelMatrix) -> Vec<Measure> {
    let walks =
        |measure: &&Measure| matches!(measure.recipe(matrix.codebook()), Ok(Recipe::Walk { .. }));
    ALL.iter().filter(walks).cloned().collect()
}

/// Returns whether a measure takes judgments of documents that are in no groups.
#[allow(dead_code)] // in the tests of a GPU
pub fn needs_no_groups(measure: &Measure) -> bool {
    !matches!(measure.input(), JudgmentNeeds::Facets(_))
}

/// Returns every measure that needs judgments by these facets.
#[allow(dead_code)] // in the tests of a GPU
pub fn every_grouped(by: FacetKind) -> Vec<Measure> {
    ALL.iter().filter(|measure| measure.input() == JudgmentNeeds::Facets(by)).cloned().collect()
}
