//! Which definition a number is of: each definition is found by its own values and means, policies
//! are what a plain loop makes of values, and numbers that are of none are not found.

use std::collections::{BTreeMap, BTreeSet};

use laneval::identify::{
    Candidate, Identification, IdentifyBuilder, IdentifyVerdict, PrintRounding, ReportedValue,
};
use laneval::{
    Evaluator, Join, LabelMatrix, Measure, Qrels, QuerySet, ScoreType, TieBreak, TiedValue, View,
};

use crate::definitions::SPELLED;
use crate::random::Random;

/// Judgments and a run, with queries of every kind: with equal scores, without relevant documents,
/// not in the run, with few results.
struct Data {
    qrels: Vec<(String, String, f64)>,
    run: Vec<(String, String, f64)>,
    /// The matrices in descending order of ids, and in that of the input.
    matrices: [LabelMatrix; 2],
}

impl Data {
    /// Makes data of some queries, with equal scores among `scores` scores.
    fn new(seed: u64, queries: usize, scores: usize) -> Data {
        let mut random = Random(seed);
        let (mut qrels, mut run) = (Vec::new(), Vec::new());
        for query in 0..queries {
            let id = format!("q{query:02}");
            for doc in 0..14 {
                if random.below(3) > 0 {
                    let grade =
                        if query % 9 == 4 { 0 } else { [0, 0, 1, 1, 2, 3][random.below(6)] };
                    qrels.push((id.clone(), format!("d{doc:02}"), f64::from(grade)));
                }
            }
            qrels.push((id.clone(), "last".to_owned(), 0.0));
            if query % 7 == 5 {
                continue;
            }
            let results = if query % 5 == 0 { 4 } else { 12 };
            let mut docs: Vec<usize> = (0..16).collect();
            (0..16).for_each(|at| docs.swap(at, random.below(16)));
            for &doc in &docs[..results] {
                let score = random.below(scores) as f64;
                run.push((id.clone(), format!("d{doc:02}"), score));
            }
        }
        let matrices = [TieBreak::DocnoDescending, TieBreak::Input]
            .map(|ties| joined(&qrels, &run, ties, ScoreType::F64));
        Data { qrels, run, matrices }
    }

    fn identify(&self) -> IdentifyBuilder<'_> {
        IdentifyBuilder::new(&self.matrices[0])
            .unwrap()
            .with_matrix(&self.matrices[1])
            .unwrap()
            .top(100_000)
    }

    /// Returns the value of each judged query under a definition: a measure, and options as an
    /// answer has them. What policies do is done here, one query after the other.
    fn values(
        &self,
        measure: &Measure,
        options: &BTreeMap<&str, String>,
    ) -> BTreeMap<String, Option<f64>> {
        let option = |name: &str| options.get(name).map_or("", |word| &word[..]);
        let (order, tied) = match option("ties") {
            "" => (TieBreak::DocnoDescending, TiedValue::Ranked),
            "average" => (TieBreak::DocnoDescending, TiedValue::Average),
            "worst" => (TieBreak::DocnoDescending, TiedValue::Worst),
            order => (order.parse().unwrap(), TiedValue::Ranked),
        };
        let matrix = joined(&self.qrels, &self.run, order, ScoreType::F64);
        let relevant_from = match option("relevant-from") {
            "" => "judged",
            word => word,
        };
        let depth = options.get("depth").map(|depth| depth.parse().unwrap());
        let view = View { depth, judged_only: option("judged_only") == "yes" };
        let mut plain = measure.to_string();
        for word in ["no_relevant=1", "no_relevant=skip"] {
            plain = plain.replace(&format!("({word})"), "").replace(&format!(",{word}"), "");
        }
        let plain = vec![plain.parse().unwrap()];
        let evaluator = Evaluator::from_measures(plain)
            .with_tied_value(tied)
            .with_relevant_from(relevant_from.parse().unwrap())
            .with_view(view);
        let scores = evaluator.with_per_query(true).evaluate(&matrix).unwrap();
        let per_query = scores.runs[0].per_query.as_ref().unwrap();
        let present: BTreeSet<&str> = self.run.iter().map(|(query, ..)| &query[..]).collect();
        let level = measure.number("rel").unwrap_or(1.0).max(1.0);
        let relevant: BTreeSet<&str> = self
            .qrels
            .iter()
            .filter(|(query, doc, grade)| {
                let retrieved = || {
                    self.run.iter().any(|(run_query, found, _)| run_query == query && found == doc)
                };
                *grade >= level && (relevant_from == "judged" || retrieved())
            })
            .map(|(query, ..)| &query[..])
            .collect();
        let nothing = match option("no_relevant") {
            "" if measure.to_string().contains("no_relevant=1") => "1",
            "" if measure.to_string().contains("no_relevant=skip") => "skip",
            word => word,
        };
        let ids = per_query.queries.iter().map(|id| String::from_utf8(id.to_vec()).unwrap());
        let value = |(query, &value): (String, &f64)| {
            let rounded = match option("rounding") {
                "" => value,
                "2" => (value * 100.0).round() / 100.0,
                digits => format!("{value:.0$}", digits.parse::<usize>().unwrap()).parse().unwrap(),
            };
            let value = match (relevant.contains(&query[..]), nothing) {
                (false, "1") => Some(1.0),
                (false, "skip") => None,
                _ => Some(rounded),
            };
            let counts = option("queries") != "common" || present.contains(&query[..]);
            (query, value.filter(|_| counts))
        };
        ids.zip(&per_query.values[0]).map(value).collect()
    }

    /// Returns the values of a definition of the table of the libraries' definitions.
    fn spelled(&self, measure: &str, options: &str) -> (Measure, BTreeMap<&'static str, String>) {
        let measure: Measure = measure.replace("@k", "@5").parse().unwrap();
        let mut settings = BTreeMap::new();
        for word in options.split_whitespace() {
            match word {
                "J" => settings.insert("judged_only", "yes".to_owned()),
                "list" => settings.insert("relevant-from", "retrieved".to_owned()),
                "cut" => settings.insert("depth", "5".to_owned()),
                order => settings.insert("ties", order.to_owned()),
            };
        }
        (measure, settings)
    }

    /// Returns the values of a class's simplest member.
    fn of_candidate(&self, candidate: &Candidate) -> BTreeMap<String, Option<f64>> {
        self.values(&candidate.measure, &candidate.options.iter().cloned().collect())
    }
}

fn joined(
    qrels: &[(String, String, f64)],
    run: &[(String, String, f64)],
    ties: TieBreak,
    score: ScoreType,
) -> LabelMatrix {
    let qrels = Qrels::new(qrels.iter().map(|(query, doc, grade)| (query, doc, *grade))).unwrap();
    let rows = run.iter().map(|(query, doc, score)| (query, doc, *score));
    let join = Join { ties, score, keep_ties: true, ..Join::default() };
    join.rankings(&qrels, [("mine".to_owned(), rows)]).unwrap()
}

fn rows(values: &BTreeMap<String, Option<f64>>) -> Vec<ReportedValue> {
    let row = |(query, value): (&String, &Option<f64>)| ReportedValue {
        place: String::new(),
        query: query.clone().into_bytes(),
        value: value.map_or("nan".to_owned(), |value| value.to_string()),
    };
    values.iter().map(row).collect()
}

/// Returns the name of a measure and its cutoff, without parameters.
fn bare(measure: &Measure) -> String {
    let text = measure.to_string();
    let cut = text.find('@').map_or("", |at| &text[at..]);
    format!("{}{cut}", measure.definition().name)
}

fn mean(values: &BTreeMap<String, Option<f64>>) -> f64 {
    let all: Vec<f64> = values.values().filter_map(|value| *value).collect();
    all.iter().sum::<f64>() / all.len() as f64
}

/// Returns whether values are the same but for the order in which they were added up.
fn are_equal(one: &BTreeMap<String, Option<f64>>, other: &BTreeMap<String, Option<f64>>) -> bool {
    one.iter().zip(other).all(|((query, value), (other_query, other))| {
        query == other_query
            && match (value, other) {
                (Some(value), Some(other)) => (value - other).abs() < 1e-12,
                (value, other) => value == other,
            }
    })
}

/// Checks that a definition with these values is found, or in a class that fits.
fn check(data: &Data, found: &Identification, own: &BTreeMap<String, Option<f64>>, what: &str) {
    assert_ne!(found.verdict, IdentifyVerdict::None, "{what}: {found:?}");
    if found.verdict.names_one() {
        assert_eq!(found.fitting, 1, "{what}");
    }
    assert_eq!(found.candidates.len() as u64, found.fitting, "{what}");
    let holds =
        found.candidates.iter().any(|candidate| are_equal(&data.of_candidate(candidate), own));
    assert!(
        holds,
        "{what}: {:?}",
        found.candidates.iter().map(Candidate::spelling).collect::<Vec<_>>()
    );
}

#[test]
fn definitions_of_libraries_are_found_by_their_values() {
    let data = Data::new(7, 60, 5);
    let (mut found, mut alone) = (0, 0);
    for (name, measure, options) in SPELLED {
        let (measure, options) = data.spelled(measure, options);
        let own = data.values(&measure, &options);
        let bare_name = bare(&measure);
        let answer = data.identify().scores(&bare_name, rows(&own)).unwrap().run().unwrap();
        check(&data, &answer, &own, name);
        found += usize::from(answer.verdict == IdentifyVerdict::Found);
        alone += usize::from(answer.fitting == 1);
        let agree = answer.candidates[0].agree;
        assert_eq!(agree, Some(60), "{name}");
    }
    assert!(alone + 3 >= SPELLED.len(), "{alone} of {}", SPELLED.len());
    assert!(4 * found > SPELLED.len(), "{found} of {} are found", SPELLED.len());
}

#[test]
fn definitions_of_libraries_are_found_by_their_means() {
    let data = Data::new(11, 40, 5);
    let mut first = 0;
    for (name, measure, options) in SPELLED {
        let (measure, options) = data.spelled(measure, options);
        let own = data.values(&measure, &options);
        let bare_name = bare(&measure);
        let answer = data
            .identify()
            .number(&bare_name, &format!("{:.6}", mean(&own)))
            .unwrap()
            .run()
            .unwrap();
        check(&data, &answer, &own, name);
        assert_eq!(answer.candidates[0].printed, PrintRounding::Rounded, "{name}");
        first += usize::from(are_equal(&data.of_candidate(&answer.candidates[0]), &own));
    }
    assert!(10 * first >= 8 * SPELLED.len(), "{first} of {}", SPELLED.len());
}

#[test]
fn policies_are_what_a_loop_over_queries_makes_of_values() {
    let data = Data::new(3, 40, 4);
    let measures = [
        ("nDCG@5", "docno-asc", "judged"),
        ("AP@5", "input", "retrieved"),
        ("R(rel=2)@5", "average", "judged"),
    ];
    let queries = [
        ("judged", "none"),
        ("common", "none"),
        ("judged", "2"),
        ("common", "4"),
        ("judged", "5"),
        ("common", "2"),
    ];
    for (at, nothing) in ["0", "1", "skip"].into_iter().enumerate() {
        for (of_queries, (queries, rounding)) in queries.into_iter().enumerate() {
            // Each measure in turn, so that it meets all of both.
            let (measure, ties, relevant_from) = measures[(at + of_queries) % measures.len()];
            let mut options: BTreeMap<&str, String> = BTreeMap::new();
            for (name, word, usual) in [
                ("ties", ties, ""),
                ("relevant-from", relevant_from, "judged"),
                ("no_relevant", nothing, "0"),
                ("queries", queries, "judged"),
                ("rounding", rounding, "none"),
            ] {
                if word != usual {
                    options.insert(name, word.to_owned());
                }
            }
            let own = data.values(&measure.parse().unwrap(), &options);
            let what = format!("{measure} {options:?}");
            let number = format!("{:.11}", mean(&own));
            let answer = data.identify().number(measure, &number).unwrap().run().unwrap();
            check(&data, &answer, &own, &what);
            // With more digits than the rounded values have, or what is not rounded prints the
            // same.
            let exact = |row: ReportedValue| match row.value.parse::<f64>() {
                Ok(value) if value.is_finite() => {
                    ReportedValue { value: format!("{value:.9}"), ..row }
                }
                _ => row,
            };
            let values = rows(&own).into_iter().map(exact);
            let answer = data.identify().scores(measure, values).unwrap().run().unwrap();
            check(&data, &answer, &own, &what);
        }
    }
}

#[test]
fn numbers_of_no_definition_are_rarely_found() {
    // Equal scores and kinds of queries make many definitions of each.
    let data = Data::new(5, 12, 6);
    let mut random = Random(1);
    let mut found = 0;
    for at in 0..1000 {
        let number = format!("0.{:04}", random.below(10_000));
        let name = ["P@5", "R@5", "RR@5", "AP@5"][at % 4];
        let answer = data.identify().number(name, &number).unwrap().run().unwrap();
        found += usize::from(answer.verdict == IdentifyVerdict::Found);
    }
    assert!(found <= 50, "{found} of 1000");
}

#[test]
fn the_demo_has_one_likely_definition() {
    let files = ("examples/data/demo.qrels", ["examples/data/demo-bm25.run"]);
    let demo_matrix = |ties, score| {
        Join { ties, score, keep_ties: true, ..Join::default() }.files(files.0, files.1).unwrap()
    };
    let matrices: Vec<LabelMatrix> = ScoreType::ALL
        .into_iter()
        .flat_map(|(_, score)| {
            [TieBreak::DocnoDescending, TieBreak::Input].map(|ties| demo_matrix(ties, score))
        })
        .collect();
    let request = || {
        let first = IdentifyBuilder::new(&matrices[0]).unwrap();
        matrices[1..].iter().fold(first, |identify, matrix| identify.with_matrix(matrix).unwrap())
    };
    let found = request().number("nDCG@5", "0.5541").unwrap().run().unwrap();
    assert_eq!((found.verdict, found.fitting), (IdentifyVerdict::Likely, 1), "{found:?}");
    assert!((0.02..0.5).contains(&found.chance), "{}", found.chance);
    let first = &found.candidates[0];
    assert_eq!(first.spelling(), "nDCG(gain=exp2)@5");
    assert!((first.value.unwrap() - 0.554_077).abs() < 5e-7);
    let libraries: Vec<&str> = first.libraries.iter().map(|library| library.library).collect();
    assert!(libraries.contains(&"ranx"), "{libraries:?}");
    assert!(first.same_here.contains(&"--score-type f32".to_owned()), "{:?}", first.same_here);
    let found = request().number("nDCG@5", "0.55").unwrap().run().unwrap();
    assert_eq!(found.verdict, IdentifyVerdict::Undecided);
    assert!(found.fitting > 5 && found.chance > 2.0, "{} {}", found.fitting, found.chance);
    let found = request().number("nDCG@5", "0.9123").unwrap().run().unwrap();
    assert_eq!((found.verdict, found.fitting, found.nearest.len()), (IdentifyVerdict::None, 0, 5));
    // Two cutoffs of one definition: chances multiply.
    let found = request()
        .number("nDCG@5", "0.5541")
        .unwrap()
        .number("nDCG@10", "0.9")
        .unwrap()
        .run()
        .unwrap();
    assert_eq!(found.verdict, IdentifyVerdict::None);
    let evaluator = Evaluator::new(["nDCG(gain=exp2)@10"]).unwrap();
    let scores = evaluator.evaluate(&matrices[0]).unwrap();
    let ten = format!("{:.4}", scores.runs[0].average(0).unwrap());
    let found = request()
        .number("nDCG@5", "0.5541")
        .unwrap()
        .number("nDCG@10", &ten)
        .unwrap()
        .run()
        .unwrap();
    assert!(found.verdict.names_one() && found.fitting == 1, "{found:?}");
    assert_eq!(found.candidates[0].spelling(), "nDCG(gain=exp2)@5");
}

#[test]
fn a_number_without_a_name_is_looked_for_everywhere() {
    let data = Data::new(2, 30, 9);
    let scores = Evaluator::new(["ERR@10"]).unwrap().evaluate(&data.matrices[0]).unwrap();
    let number = format!("{:.8}", scores.runs[0].average(0).unwrap());
    let found = data.identify().number("", &number).unwrap().run().unwrap();
    assert!(found.definitions > 100_000, "{}", found.definitions);
    let spelled: Vec<String> = found.candidates.iter().map(Candidate::spelling).collect();
    assert!(spelled.iter().any(|name| name == "ERR@10" || name == "ERR"), "{spelled:?}");
}

#[test]
fn some_queries_say_nothing_of_the_others() {
    let data = Data::new(9, 40, 5);
    let own = data.values(&"nDCG(gain=exp2)@5".parse().unwrap(), &BTreeMap::new());
    let some: BTreeMap<String, Option<f64>> =
        own.iter().take(20).map(|(query, value)| (query.clone(), *value)).collect();
    let found = data.identify().scores("nDCG@5", rows(&some)).unwrap().run().unwrap();
    assert_eq!(found.compared_queries, Some(20));
    assert_eq!(found.candidates[0].spelling(), "nDCG(gain=exp2)@5", "{found:?}");
    assert!(found.notes[0].starts_with("values of 20 of 40 judged queries"), "{:?}", found.notes);
    // Where all that are not told may have been left out, they were.
    let both = data.values(
        &"nDCG(gain=exp2)@5".parse().unwrap(),
        &[("queries", "common".to_owned()), ("no_relevant", "skip".to_owned())].into(),
    );
    let values: BTreeMap<String, Option<f64>> = both
        .iter()
        .filter(|(_, value)| value.is_some())
        .map(|(query, value)| (query.clone(), *value))
        .collect();
    let found = data.identify().scores("nDCG@5", rows(&values)).unwrap().run().unwrap();
    assert_eq!((found.compared_queries, found.fitting), (Some(40), 1), "{found:?}");
    assert!(are_equal(&data.of_candidate(&found.candidates[0]), &both));
}

#[test]
fn values_that_are_of_none_say_where_they_differ() {
    let data = Data::new(4, 40, 5);
    let mut own = data.values(&"nDCG@5".parse().unwrap(), &BTreeMap::new());
    for (query, value) in &mut own {
        if !data.run.iter().any(|(run_query, ..)| run_query == query) {
            *value = Some(0.123);
        }
    }
    let found = data.identify().scores("nDCG@5", rows(&own)).unwrap().top(5).run().unwrap();
    assert_eq!((found.verdict, found.nearest.len()), (IdentifyVerdict::None, 5));
    let nearest = &found.nearest[0];
    assert_eq!(nearest.spelling(), "nDCG@5");
    assert_eq!(nearest.differs, "only queries that the run lacks, such as q05");
    assert_eq!(
        nearest.agree,
        Some(40 - own.values().filter(|value| **value == Some(0.123)).count() as u64)
    );
}

#[test]
fn what_cannot_be_asked_is_an_error() {
    let data = Data::new(1, 10, 5);
    let reported_value = |query: &str, value: &str| ReportedValue {
        place: "scores.tsv:3".to_owned(),
        query: query.into(),
        value: value.to_owned(),
    };
    let scores = |rows: Vec<ReportedValue>| {
        data.identify()
            .scores("nDCG@5", rows)
            .and_then(IdentifyBuilder::run)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        scores(vec![reported_value("q01", "0.5"), reported_value("q01", "0.6")]),
        "scores.tsv: query q01 has two values of nDCG@5: 0.5 and 0.6"
    );
    assert_eq!(
        scores(vec![
            reported_value("17", "0.5"),
            reported_value("18", "0.6"),
            reported_value("q01", "0.5")
        ]),
        "scores.tsv:3: query 17 is not judged; 1 of 3 queries are known"
    );
    assert!(
        scores(vec![reported_value("q01", "x")]).starts_with("scores.tsv:3: 'x' is not a number")
    );
    let number =
        |name: &str, number: &str| data.identify().number(name, number).unwrap_err().to_string();
    assert_eq!(
        number("", "0.4561x"),
        "'0.4561x' is not a number such as 0.4561, nDCG@10=0.4561 or 45.6%"
    );
    assert!(number("nDCG@10", "1").starts_with("'1' has no decimals"));
    assert!(
        number("nDCG@10", "1.3").starts_with("nDCG@10=1.3: above the range 0 to 1 and no percent")
    );
    assert!(number("ngcd", "0.5").contains("ngcd"));
    assert!(number("NumRel", "0.5").starts_with("NumRel is no mean"));
    assert!(data.identify().run().unwrap_err().to_string().starts_with("nothing is asked"));
    let plain = Join::default();
    let qrels = Qrels::new([("q", "d", 1.0)]).unwrap();
    let run = || ("one".to_owned(), [("q", "d", 1.0)]);
    let unknown = plain.rankings(&qrels, [run()]).unwrap();
    assert!(IdentifyBuilder::new(&unknown).unwrap_err().to_string().contains("--keep-ties"));
    let keeping = Join { keep_ties: true, ..Join::default() };
    let two = keeping.rankings(&qrels, [run(), ("two".to_owned(), [("q", "d", 1.0)])]).unwrap();
    assert!(IdentifyBuilder::new(&two).unwrap_err().to_string().starts_with("2 runs"));
    let other = keeping.rankings(&qrels, [run()]).unwrap();
    assert!(data.identify().with_matrix(&other).is_err());
}

#[test]
fn threads_change_no_byte() {
    let data = Data::new(8, 150, 4);
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let found = |threads| {
        pool(threads)
            .install(|| data.identify().number("nDCG@5", "0.42").unwrap().top(20).run().unwrap())
    };
    let one = found(1);
    assert!(one.fitting > 0);
    assert_eq!(one, found(3));
    assert_eq!(one, found(1));
}

#[test]
fn queries_that_a_run_lacks_have_the_value_of_an_empty_ranking() {
    let data = Data::new(6, 40, 5);
    for queries in [QuerySet::Judged, QuerySet::Common] {
        let evaluator = Evaluator::new(["nDCG@5"]).unwrap().with_queries(queries);
        let scores = evaluator.evaluate(&data.matrices[0]).unwrap();
        let number = scores.runs[0].average(0).unwrap();
        let found =
            data.identify().number("nDCG@5", &format!("{number:.9}")).unwrap().run().unwrap();
        assert_eq!(found.candidates[0].value, Some(number));
        let both: Vec<&str> = found.candidates[0].options.iter().map(|(name, _)| *name).collect();
        assert_eq!(both, if queries == QuerySet::Common { vec!["queries"] } else { vec![] });
    }
}
