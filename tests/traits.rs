//! The properties that the rows of the table declare of their values hold, on the CPU engine and
//! the reference, over random small rankings.

use std::collections::BTreeMap;

use laneval::labels::Codebook;
use laneval::measure::{Direction, MEASURES, Measure, Range, Status};
use laneval::parts::matrix::GradeHistograms;
use laneval::parts::matrix::code::{FIRST_GRADE, NOT_IN_QRELS};
use laneval::parts::reference::{Ranking, function};
use laneval::{EngineChoice, Evaluator, Join, Qrels};

use crate::matrices::{Query, Shape, matrix};
use crate::random::Random;
use crate::variants::{self, needs_no_groups};

/// Rankings, each also with one better swap.
struct Swapped {
    shape: Shape,
    /// The queries of a ranking and of the same with a better swap.
    pairs: Vec<(usize, usize)>,
}

fn swapped(grades: &[f64], seed: u64) -> Swapped {
    let mut random = Random(seed);
    let codes = FIRST_GRADE as usize + grades.len();
    let mut all = Swapped {
        shape: Shape { grades: grades.to_vec(), queries: Vec::new() },
        pairs: Vec::new(),
    };
    let mut add = |labels: Vec<u8>, unretrieved: Vec<u8>| {
        let query =
            |labels: Vec<u8>| Query { rankings: vec![labels], unretrieved: unretrieved.clone() };
        let plain = all.shape.queries.len();
        all.shape.queries.push(query(labels.clone()));
        for at in (1..labels.len()).filter(|&at| labels[at - 1] < labels[at]) {
            let mut better = labels.clone();
            better.swap(at - 1, at);
            all.pairs.push((plain, all.shape.queries.len()));
            all.shape.queries.push(query(better));
        }
    };
    for number in 0..40 {
        // Some queries have no document of the qrels, or none but of the first grade.
        let end = if number % 10 < 2 { FIRST_GRADE as usize + number % 2 } else { codes };
        let depth = if number % 7 == 0 { 0 } else { random.below(14) };
        let labels: Vec<u8> = (0..depth).map(|_| 1 + random.below(end - 1) as u8).collect();
        let unretrieved: Vec<u8> =
            (0..random.below(4)).map(|_| 2 + random.below(end - 2) as u8).collect();
        add(labels, unretrieved);
    }
    // The best document alone may be enough for a user.
    add(vec![NOT_IN_QRELS, codes as u8 - 2, codes as u8 - 1], Vec::new());
    all
}

/// The violations that were found, and the use of each declaration that promises less than others.
#[derive(Default)]
struct Found {
    wrong: Vec<String>,
    /// The rows that declare that a swap can make the value worse, and whether one did.
    worse: BTreeMap<&'static str, bool>,
    /// The rows whose value is not declared, for an empty ranking or where nothing is relevant,
    /// with the values that occurred.
    follows: BTreeMap<(&'static str, &'static str), Vec<f64>>,
}

impl Found {
    fn check(&mut self, measure: &Measure, all: &Swapped, values: &[f64]) {
        let (row, name) = (measure.definition(), measure.definition().name);
        let (text, range) = (measure.to_string(), measure.range());
        let mut wrong = Vec::new();
        for (query, &value) in all.shape.queries.iter().zip(values) {
            // If any number is allowed, some users and tables give NaN.
            if range != Range::Any && !range.contains(value) {
                wrong.push(format!("{text} is {value}, not {range}: {query:?}"));
            }
            let mut known = |what, known: Option<f64>| match known {
                Some(known) if known == value => {}
                Some(known) => {
                    wrong.push(format!("{text} is {value} for {what}, not {known}: {query:?}"))
                }
                None => self.follows.entry((name, what)).or_default().push(value),
            };
            if query.rankings[0].is_empty() {
                known("an empty ranking", row.traits.empty);
            }
            let judged = query.rankings[0].iter().chain(&query.unretrieved).max();
            let zero =
                all.shape.grades[0] == 0.0 && !text.contains("rel=0") && !text.contains("0:");
            let nothing = if zero { FIRST_GRADE } else { FIRST_GRADE - 1 };
            if judged.is_none_or(|&best| best <= nothing) {
                known("nothing relevant", (row.traits.nothing_relevant)(measure));
            }
        }
        let sign = match row.better {
            Direction::Higher => 1.0,
            Direction::Lower => -1.0,
            Direction::Neither => 0.0,
        };
        let declared = (row.traits.better_swaps)(measure);
        for &(before, after) in &all.pairs {
            // Two sums of the same terms in another order may differ in the last bits.
            let worse =
                sign * (values[before] - values[after]) > 1e-12 * (1.0 + values[before].abs());
            if worse && declared {
                let (from, to) = (values[before], values[after]);
                wrong.push(format!(
                    "{text} goes from {from} to {to}: {:?}",
                    all.shape.queries[after]
                ));
            }
            if !declared && sign != 0.0 {
                *self.worse.entry(name).or_default() |= worse;
            }
        }
        // One example of each measure is enough.
        self.wrong.extend(wrong.into_iter().next());
    }
}

#[test]
fn what_the_rows_declare_is_so() {
    let mut found = Found::default();
    for (seed, grades) in
        [&[0.0, 1.0, 2.0, 3.0, 4.0][..], &[0.0, 1.0], &[0.5, 1.0, 2.25]].into_iter().enumerate()
    {
        let all = swapped(grades, seed as u64 + 1);
        let matrix = matrix(&all.shape);
        let fits = |measure: &Measure| {
            needs_no_groups(measure) && measure.recipe(matrix.codebook()).is_ok()
        };
        let measures: Vec<Measure> =
            variants::all().filter(|measure| fits(measure)).cloned().collect();
        let mut evaluator = Evaluator::from_measures(measures);
        evaluator = evaluator.with_per_query(true).allow_non_finite(true);
        let [cpu, reference] = [EngineChoice::Cpu, EngineChoice::Reference].map(|engine| {
            evaluator
                .clone()
                .with_engine(engine)
                .evaluate(&matrix)
                .unwrap()
                .runs
                .remove(0)
                .per_query
                .unwrap()
        });
        for (at, measure) in evaluator.measures().iter().enumerate() {
            let (values, other) = (&cpu.values[at], &reference.values[at]);
            assert_eq!(values.len(), all.shape.queries.len());
            let same = values.iter().zip(other).all(|(a, b)| a.to_bits() == b.to_bits());
            assert!(same, "{measure}: {values:?} and {other:?}");
            found.check(measure, &all, values);
        }
    }
    let needless = found.worse.iter().filter(|(_, worse)| !**worse);
    let needless =
        needless.map(|(row, _)| format!("{row}: no swap makes it worse, as it says that one can"));
    found.wrong.extend(needless);
    for ((row, what), values) in &found.follows {
        if values.iter().all(|value| *value == values[0]) {
            found.wrong.push(format!(
                "{row} is always {} for {what}, and says that it follows from something",
                values[0]
            ));
        }
    }
    assert!(
        found.wrong.is_empty(),
        "{} declarations are wrong:\n{}",
        found.wrong.len(),
        found.wrong.join("\n")
    );
}

#[test]
fn a_successor_is_a_measure_of_today() {
    for row in MEASURES {
        if let Status::Historical { successor } = row.traits.status {
            let today = laneval::measure::definition(successor).expect("a measure");
            assert!(!matches!(today.traits.status, Status::Historical { .. }), "{}", row.name);
        }
    }
}

#[test]
fn a_range_may_depend_on_parameters_and_cutoff() {
    for (name, range) in [
        ("P@1", "0 or 1"),
        ("P@2", "0 to 1"),
        ("R@1", "0 to 1"),
        ("R(norm=min)@1", "0 or 1"),
        ("Success@10", "0 or 1"),
        ("GMAP", "0.00001 to 1"),
        ("RBP(gain=raw)", "0 or more"),
        ("DCG", "0 or more"),
        ("DCG(gain={0:-1})", "any number"),
        ("NumQ", "1"),
        ("NumRet", "a whole number, 0 or more"),
    ] {
        assert_eq!(name.parse::<Measure>().unwrap().range().to_string(), range, "{name}");
    }
}

/// Returns the values of thirty queries by measure, if another query is judged with these grades.
fn beside(others: &[f64], measures: &[Measure]) -> Vec<Vec<f64>> {
    let mut random = Random(7);
    let (mut judgments, mut results) = (Vec::new(), Vec::new());
    for query in 0..30 {
        let id = format!("q{query:02}");
        for doc in 0..8 {
            let grade = [0.0, 1.0, 2.0, 1.0, -1.0][random.below(5)];
            judgments.push((id.clone(), format!("d{doc}"), if doc == 0 { 2.0 } else { grade }));
        }
        for doc in 0..random.below(12) {
            results.push((id.clone(), format!("d{doc}"), random.below(100) as f64));
        }
    }
    judgments.extend(
        others.iter().enumerate().map(|(doc, &grade)| ("zz".to_owned(), format!("d{doc}"), grade)),
    );
    let matrix = Join::default()
        .rankings(&Qrels::new(judgments).unwrap(), [("run".to_owned(), results)])
        .unwrap();
    let evaluator =
        Evaluator::from_measures(measures.to_vec()).with_per_query(true).allow_non_finite(true);
    let values = evaluator.evaluate(&matrix).unwrap().runs.remove(0).per_query.unwrap().values;
    values.into_iter().map(|mut values| values.drain(..30).collect()).collect()
}

/// A value depends on the judgments of its query alone, and on the highest grade if that is
/// declared.
#[test]
fn values_depend_on_the_highest_grade_of_all_where_they_say_so() {
    let book = Codebook::new([0.0, 1.0, 2.0, 4.0]).unwrap();
    let lower = Codebook::new([0.0, 1.0, 2.0]).unwrap();
    let fits = |measure: &Measure| {
        needs_no_groups(measure) && measure.recipe(&book).is_ok() && measure.recipe(&lower).is_ok()
    };
    let measures: Vec<Measure> = variants::all().filter(|measure| fits(measure)).cloned().collect();
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    let alone = beside(&[], &measures);
    let mut depends: BTreeMap<&str, bool> = BTreeMap::new();
    for (others, higher) in [
        (&[4.0][..], true),
        (&[2.5, 4.0], true),
        (&[2.0], false),
        (&[0.5, 1.5], false),
        (&[-3.0], false),
    ] {
        let found = beside(others, &measures);
        for (measure, (before, after)) in measures.iter().zip(alone.iter().zip(&found)) {
            let declared = (measure.definition().traits.highest_grade)(measure);
            let same = bits(before) == bits(after);
            assert!(
                same || (declared && higher),
                "{measure} beside {others:?}: {before:?} and {after:?}"
            );
            if declared && higher {
                *depends.entry(measure.definition().name).or_default() |= !same;
            }
        }
    }
    let needless: Vec<_> = depends.iter().filter(|(_, depends)| !**depends).collect();
    assert!(!depends.is_empty() && needless.is_empty(), "declared for nothing: {needless:?}");
}

/// Grades of 0, 2 and 3 behind a document that is not judged: a user who wants 1 stops at the 3,
/// whose gain is 1, and goes on past the 2.
#[test]
fn a_better_document_may_end_a_walk_before_the_next_gain() {
    let measure: Measure = "BPM(gain=grade)".parse().unwrap();
    assert!(!(measure.definition().traits.better_swaps)(&measure));
    let (book, mut facts) = (Codebook::new([0.0, 2.0, 3.0]).unwrap(), GradeHistograms::new());
    facts.push([FIRST_GRADE + 1, FIRST_GRADE + 2]);
    let value = |labels: &[u8]| {
        let ranking = Ranking {
            labels,
            facts: facts.get(0),
            book: &book,
            exact: None,
            facets: None,
            spans: None,
            ties: &[],
        };
        function(&measure).unwrap()(&measure, &ranking)
    };
    let (better_first, better_last) = (
        value(&[NOT_IN_QRELS, FIRST_GRADE + 2, FIRST_GRADE + 1]),
        value(&[NOT_IN_QRELS, FIRST_GRADE + 1, FIRST_GRADE + 2]),
    );
    assert_eq!((better_first, better_last), (1.0 / 2.0, (2.0 / 3.0 + 1.0) / 3.0));
}
