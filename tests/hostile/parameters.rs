//! Every parameter and cutoff of every measure at its extremes gives a number or an error.

use laneval::measure::{
    CutoffRule, Definition, JudgmentNeeds as Needs, MEASURES, Measure, ParamKind,
};
use laneval::{EngineChoice, Evaluator, FacetKind, Input, Join, LabelMatrix, RunInput, View};

use super::{evaluate, matrix};
use crate::matrices::{Query, Shape};

/// Values of a parameter at its limits, and just beyond.
fn extremes(kind: ParamKind) -> Vec<String> {
    let numbers = |least: f64, most: f64| {
        [least, most, 0.0, 1.0, f64::from(u32::MAX - 1)].map(|x| x.to_string()).to_vec()
    };
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    match kind {
        ParamKind::Level => numbers(0.0, f64::MAX),
        ParamKind::Number(least, most) => numbers(least, most),
        ParamKind::NumberOrChoice(least, most, others) => {
            [numbers(least, most), words(others)].concat()
        }
        ParamKind::Whole(most) => numbers(0.0, most),
        ParamKind::Ranks(others) => {
            [words(&["0", "1", "1000000", "1000001", "4294967294"]), words(others)].concat()
        }
        ParamKind::Choice(all) => words(all),
        ParamKind::Gain => words(&[
            "linear",
            "exp2",
            "{0:0}",
            "{-1:1e308,0:1e308,1:1e308}",
            "{1:5e-324}",
            "{1:-1e308}",
        ]),
        ParamKind::Points => words(&["[0]", "[1]", "[0,5e-324,1]"]),
    }
}

/// Returns a measure with each parameter at each extreme, and with all of them at their first or at
/// their second, at extreme cutoffs. Some do not parse.
fn texts(row: &Definition) -> Vec<String> {
    let mut params = vec![String::new()];
    for param in row.params {
        let needs =
            if param.needs.is_empty() { String::new() } else { format!("{},", param.needs) };
        params.extend(
            extremes(param.kind).iter().map(|value| format!("({needs}{}={value})", param.name)),
        );
    }
    for at in [0, 1] {
        let together = row
            .params
            .iter()
            .filter(|param| param.excludes != "beta" && (at == 1 || param.needs.is_empty()));
        let together = together.map(|param| format!("{}={}", param.name, extremes(param.kind)[at]));
        params.push(format!("({})", together.collect::<Vec<_>>().join(",")));
    }
    let cuts: &[&str] = match row.cutoff {
        CutoffRule::None => &[""],
        CutoffRule::Optional => &["", "@0", "@1", "@1000000", "@4294967294"],
        CutoffRule::Required => &["@0", "@1", "@1000000", "@4294967294"],
        CutoffRule::Recall => &["@0", "@1"],
    };
    params
        .iter()
        .flat_map(|params| cuts.iter().map(move |cut| format!("{}{params}{cut}", row.name)))
        .collect()
}

/// Two queries under some grades, the first code of which is not retrieved.
fn graded(grades: &[f64]) -> LabelMatrix {
    let last = 2 + grades.len() as u8;
    let queries = vec![
        Query { rankings: vec![vec![last, 1, 2, last, 1]], unretrieved: vec![last.min(3); 3] },
        Query { rankings: vec![vec![]], unretrieved: vec![last] },
    ];
    matrix(&Shape { grades: grades.to_vec(), queries })
}

/// Returns the same for judgments by facet, with negative grades where there are none. The last
/// query has no grade but the lowest.
fn grouped(by: FacetKind, grades: &[f64]) -> LabelMatrix {
    let grades = if grades.is_empty() { &[-1.0] } else { grades };
    let line = |query: &str, group: &str, doc: usize, grade: f64| {
        format!("{query} {group} d{doc} {grade}\n")
    };
    let mut qrels = String::new();
    for (doc, &grade) in grades.iter().chain(grades).enumerate() {
        for (query, group, grade) in [
            ("q1", "a", grade),
            ("q1", "b", grades[(doc + 1) % grades.len()]),
            ("q2", "a", grades[0]),
        ] {
            qrels += &line(query, group, doc, grade);
        }
    }
    let run = "q1 Q0 d5 1 9 t\nq1 Q0 x 1 8 t\nq1 Q0 d0 1 7 t\nq1 Q0 d2 1 6 t\nq2 Q0 x 1 1 t\n";
    let input = |name: &str, text: &str| Input::Bytes { name: name.to_owned(), bytes: text.into() };
    let join = Join { judged_by: Some(by), ..Join::default() };
    if by == FacetKind::Span {
        let passage = |(at, grade): (usize, &f64)| {
            format!("q1,d,{at},{},{grade}\nq2,d,{at},{},{}\n", at + 9, at + 1, grades[0])
        };
        let gold: String = grades.iter().chain(grades).enumerate().map(passage).collect();
        let (gold, run) = (
            format!("query,doc,start,end,grade\n{gold}"),
            "query,doc,start,end,score\nq1,d,5,9,4\nq1,x,0,4294967295,3\nq1,d,0,20,2\nq2,x,0,1,1\n",
        );
        return join
            .files(input("gold", &gold), [RunInput::named("run", input("run", run))])
            .unwrap();
    }
    join.files(input("qrels", &qrels), [RunInput::named("run", input("run", run))]).unwrap()
}

fn every_extreme_of(grades: &[f64]) {
    let by = [FacetKind::Judge, FacetKind::Subtopic, FacetKind::Preference, FacetKind::Span];
    let plain = graded(grades);
    let grouped = by.map(|by| (by, grouped(by, grades)));
    let (mut answered, mut refused) = (0, 0);
    for text in MEASURES.iter().flat_map(texts) {
        let Ok(measure) = text.parse::<Measure>() else { continue };
        let matrix = match measure.input() {
            Needs::Facets(by) => &grouped.iter().find(|(one, _)| *one == by).unwrap().1,
            Needs::Any | Needs::Grades => &plain,
        };
        // These matrices do not know which documents have equal scores.
        if measure.recipe(matrix.codebook()).is_err() || measure.needs_ties() {
            refused += 1;
            continue;
        }
        let measures = [measure];
        let [cpu, reference] = [EngineChoice::Cpu, EngineChoice::Reference].map(|engine| {
            let scores = evaluate(matrix, &measures, engine, View::default());
            scores.runs[0].per_query.as_ref().unwrap().values[0]
                .iter()
                .map(|value| value.to_bits())
                .collect::<Vec<_>>()
        });
        assert_eq!(cpu, reference, "{text}");
        let finite = cpu.iter().all(|&bits| f64::from_bits(bits).is_finite());
        let strict = Evaluator::from_measures(measures.to_vec()).evaluate(matrix);
        assert!(strict.is_ok() == finite, "{text}: {strict:?}");
        answered += 1;
    }
    assert!(answered > 500 && refused > 0, "{answered} answered, {refused} refused");
}

#[test]
fn every_extreme_without_grades() {
    every_extreme_of(&[]);
}

#[test]
fn every_extreme_with_grade_0_alone() {
    every_extreme_of(&[0.0]);
}

#[test]
fn every_extreme_with_grades() {
    every_extreme_of(&[0.0, 1.0, 4.0]);
}

#[test]
fn a_gain_that_is_no_number_is_an_error() {
    let [small, large] = [1023.0, 1024.0].map(|grade| graded(&[0.0, grade]));
    for name in ["CG", "DCG", "nDCG", "IDCG", "G", "nDCGrel", "RnDCG"] {
        let measure: Measure = format!("{name}(gain=exp2)").parse().unwrap();
        assert!(measure.recipe(small.codebook()).is_ok(), "{name}");
        let error =
            measure.recipe(large.codebook()).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(
            error.starts_with("the gain of grade 1024 is not a finite number"),
            "{name}: {error}"
        );
    }
}
