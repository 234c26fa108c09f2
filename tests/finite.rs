//! No value is infinite or NaN without an error: huge gains give the true quotient, or an error
//! that names the place.

use laneval::{EngineChoice, Error, Evaluator, Join, Qrels, QuerySet, Scores, StatName};

/// Returns the scores of a ranking of judged documents a, c, b under one engine, a query of other
/// documents coming first.
fn scores(grades: &[(&str, f64)], names: &[&str], engine: EngineChoice) -> Result<Scores, Error> {
    let judgments = grades.iter().map(|&(docno, grade)| ("q2", docno, grade));
    let qrels = Qrels::new(judgments.chain([("q1", "z", 1.0)])).unwrap();
    let run = [("q1", "z", 1.0), ("q2", "a", 9.0), ("q2", "c", 8.0), ("q2", "b", 7.0)];
    let matrix = Join::default().rankings(&qrels, [("mine".to_owned(), run)]).unwrap();
    let mut evaluator = Evaluator::new(names.iter().copied()).unwrap();
    evaluator = evaluator.with_engine(engine);
    evaluator = evaluator.with_per_query(true);
    evaluator.evaluate(&matrix)
}

/// Returns the values of the second query.
fn values(grades: &[(&str, f64)], names: &[&str]) -> Vec<f64> {
    let engine_values = |engine| {
        let scores = scores(grades, names, engine).unwrap();
        let per_query = scores.runs[0].per_query.clone().unwrap();
        per_query.values.iter().map(|values| values[1]).collect::<Vec<f64>>()
    };
    let cpu = engine_values(EngineChoice::Cpu);
    assert_eq!(cpu, engine_values(EngineChoice::Reference));
    cpu
}

/// Gains of 2^1023 at the ranks 1 and 3, of 2^1023 at the ideal ranks 1 to 4: (1 + 1/2) / (1 + 1/lg
/// 3 + 1/2 + 1/lg 5).
#[test]
fn gains_at_the_end_of_f64_have_the_true_quotient() {
    let grades = [("a", 1023.0), ("b", 1023.0), ("d", 1023.0), ("e", 1023.0), ("c", 1.0)];
    let found = values(&grades, &["nDCG(gain=exp2)", "nDCG(gain=exp2)@1"]);
    let ideal = 1.0 + 1.0 / 3f64.log2() + 0.5 + 1.0 / 5f64.log2();
    assert!((found[0] - 1.5 / ideal).abs() < 1e-15 && found[1] == 1.0, "{found:?}");
}

/// A quotient of sums does not change with the unit of the grades: by no bit, if the unit is a
/// power of two.
#[test]
fn quotients_of_gains_do_not_depend_on_their_unit() {
    let names = [
        "nDCG",
        "nDCG@1",
        "nDCG@2",
        "nDCG(ideal=retrieved)",
        "nDCG(ideal=retrieved)@2",
        "nDCGrel",
        "RnDCG(rel=0)",
    ];
    for grades in [[1.7, 1.7, 1.0], [0.7, 1.9, 1.3], [1.0, 0.25, 0.0]] {
        let scaled_values = |power: i32| {
            let grades =
                ["a", "b", "c"].into_iter().zip(grades.map(|grade| grade * 2f64.powi(power)));
            values(&grades.collect::<Vec<_>>(), &names)
        };
        let ordinary = scaled_values(0);
        assert!(ordinary.iter().all(|value| (0.1..=1.0).contains(value)), "{ordinary:?}");
        for power in [-300, 300, 890, 899, 900, 901, 1000, 1022, 1023] {
            assert_eq!(scaled_values(power), ordinary, "2^{power}");
        }
    }
}

/// In this order the gains add up to 65,536 more than in that of the ideal ranking, by rounding
/// alone: the lag at rank 3 is none, and not less.
#[test]
fn no_ranking_is_ahead_of_the_ideal_one() {
    let [a, c, b] = [9e20 / 7.0, 4e20 / 3.0, 3e20];
    assert_eq!((a + c) + b - ((b + c) + a), 65_536.0);
    let found = values(&[("a", a), ("c", c), ("b", b)], &["G"])[0];
    let lags = [b - a, (b + c) - (a + c), 0.0];
    let sum: f64 = [a, c, b].iter().zip(lags).map(|(gain, lag)| gain / (2.0 + lag).log2()).sum();
    assert!((found - sum / (a + b + c)).abs() < 1e-15 && found < 1.0, "{found}");
}

#[test]
fn a_value_that_is_not_finite_is_an_error_that_says_where() {
    let grades = [("a", 1.7e308), ("b", 1.7e308), ("c", 1.7e308)];
    for name in ["CG", "DCG", "IDCG", "RBP(gain=raw)", "G"] {
        for engine in [EngineChoice::Cpu, EngineChoice::Reference] {
            let error = scores(&grades, &["AP", name], engine).unwrap_err();
            let Error::NotFinite { run, query, measure, value } = &error else {
                panic!("{name}: {error}")
            };
            assert_eq!((run.as_str(), query.as_deref()), ("mine", Some(&b"q2"[..])));
            assert!(
                name.starts_with(measure.split('(').next().unwrap()) && !value.is_finite(),
                "{name}: {error}"
            );
        }
    }
    // Shares of the largest grade are small, however large the grades are.
    let of_topic = values(&grades, &["RBP(p=0.95,scale=topic)"])[0];
    assert!((of_topic - 0.05 * (1.0 + 0.95 + 0.95 * 0.95)).abs() < 1e-15, "{of_topic}");
    let error = scores(&grades, &["CG"], EngineChoice::Cpu).unwrap_err().to_string();
    assert_eq!(
        error,
        "mine, query q2: CG is inf, and not a finite number: grades or gains are too large for it"
    );
}

#[test]
fn gains_too_far_apart_are_refused() {
    let error = scores(&[("a", 1e308), ("b", 1e-300)], &["nDCG"], EngineChoice::Cpu)
        .unwrap_err()
        .to_string();
    assert!(error.contains("the grades of the judgments give gains of"), "{error}");
    assert!(error.contains("too far apart"), "{error}");
}

#[test]
fn an_average_of_huge_values_is_finite() {
    let qrels =
        Qrels::new((0..6).map(|query| (format!("q{query}"), "a", 2f64.powi(1023)))).unwrap();
    let run = (0..6).map(|query| (format!("q{query}"), "a", 1.0));
    let matrix = Join::default().rankings(&qrels, [("mine".to_owned(), run)]).unwrap();
    let mut evaluator = Evaluator::new(["CG"]).unwrap();
    evaluator = evaluator.with_stats(laneval::Stat::ALL[1..].iter().map(|&(_, stat)| stat));
    for queries in [QuerySet::Judged, QuerySet::Common] {
        let scores = evaluator.clone().with_queries(queries).evaluate(&matrix).unwrap();
        for &(stat, value) in &scores.runs[0].stats[0] {
            assert_eq!(value, if stat == StatName::Std { 0.0 } else { 2f64.powi(1023) }, "{stat}");
        }
    }
}
