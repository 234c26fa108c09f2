//! Judgments by facet, from text to values: by judge, by subtopic, and as preferences.

use std::collections::BTreeMap;
use std::io::Write;

use laneval::arrays::{Rankings, Shape};
use laneval::columns;
use laneval::measure::{JudgmentNeeds as Needs, Measure};
use laneval::{
    Dialect, EngineChoice, Error, Evaluator, FacetKind, Input, Join, LabelMatrix, Notice, QuerySet,
    RunInput, Scores, View,
};

use crate::compared::assert_same_bits;
use crate::random::Random;
use crate::variants::{every_grouped, every_measure, every_walk};

/// A judgment, as it stands in a line.
#[derive(Clone)]
struct Judgment {
    query: String,
    group: &'static str,
    subgroup: Option<u32>,
    doc: String,
    grade: f64,
}

/// Names of groups, in another order than that of their numbers.
const GROUPS: [&str; 5] = ["j2", "j10", "A", "ß", "j1"];

/// The number of documents of a query; some are neither judged nor retrieved.
const DOCS: usize = 16;

const FEW: [f64; 7] = [-2.0, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0];

/// More grades than there are codes.
fn many() -> Vec<f64> {
    (-20..980).map(|grade| f64::from(grade) / 256.0).collect()
}

/// Random judgments. Preferences are consistent: in a group a document has one level.
fn judgments(by: FacetKind, seed: u64, queries: usize, grades: &[f64]) -> Vec<Judgment> {
    let mut random = Random(seed);
    let in_subgroups = by == FacetKind::Preference && seed.is_multiple_of(2);
    let mut all = Vec::new();
    for query in 0..queries {
        for doc in 0..DOCS {
            for group in GROUPS {
                let grade = grades[random.below(grades.len())];
                for subgroup in 0..if in_subgroups { 3 } else { 1 } {
                    if random.below(5) < 2 {
                        let subgroup = in_subgroups.then_some(subgroup);
                        let (query, doc) = (format!("q{query}"), format!("d{doc}"));
                        all.push(Judgment { query, group, subgroup, doc, grade });
                    }
                }
            }
        }
    }
    for at in (1..all.len()).rev() {
        all.swap(at, random.below(at + 1));
    }
    all
}

fn text(judgments: &[Judgment]) -> String {
    let line = |judgment: &Judgment| {
        let subgroup =
            judgment.subgroup.map(|subgroup| format!("s{subgroup} ")).unwrap_or_default();
        format!(
            "{} {} {subgroup}{} {}\n",
            judgment.query, judgment.group, judgment.doc, judgment.grade
        )
    };
    judgments.iter().map(line).collect()
}

/// Random results, as (query, docno, score): equal scores, documents that are not judged, a query
/// that is not judged, and one in five queries is missing.
fn results(seed: u64, queries: usize) -> Vec<(String, String, usize)> {
    let mut random = Random(seed + 1000);
    let mut all = Vec::new();
    for query in (0..=queries).filter(|query| query % 5 != seed as usize % 5) {
        for doc in 0..DOCS + 6 {
            if random.below(4) > 0 {
                all.push((format!("q{query}"), format!("d{doc}"), random.below(12)));
            }
        }
    }
    all
}

fn run(results: &[(String, String, usize)]) -> String {
    results.iter().map(|(query, doc, score)| format!("{query} Q0 {doc} 1 {score} t\n")).collect()
}

fn input(name: &str, text: &str) -> Input {
    bytes(name, text.as_bytes())
}

fn bytes(name: &str, bytes: &[u8]) -> Input {
    Input::Bytes { name: name.to_owned(), bytes: bytes.to_vec() }
}

fn join(by: Option<FacetKind>, qrels: &str, runs: &[&str]) -> Result<LabelMatrix, Error> {
    let runs = runs.iter().enumerate();
    let runs = runs.map(|(at, run)| RunInput::named(format!("run{at}"), input("run", run)));
    Join { judged_by: by, ..Join::default() }.files(input("judgments", qrels), runs)
}

fn evaluator(measures: Vec<Measure>) -> Evaluator {
    Evaluator::from_measures(measures).with_per_query(true).allow_non_finite(true)
}

const VIEWS: [View; 4] = [
    View { depth: None, judged_only: false },
    View { depth: Some(3), judged_only: false },
    View { depth: None, judged_only: true },
    View { depth: Some(9), judged_only: true },
];

/// Judgments, and the results of two runs.
type Case = (Vec<Judgment>, [Vec<(String, String, usize)>; 2]);

/// Random judgments with their runs.
fn cases(by: FacetKind) -> impl Iterator<Item = Case> {
    [(1, 7, FEW.to_vec()), (2, 6, FEW[2..].to_vec()), (3, 40, many()), (4, 5, vec![1.0])]
        .into_iter()
        .map(move |(seed, queries, grades)| {
            (
                judgments(by, seed, queries, &grades),
                [results(seed, queries), results(seed + 1, queries)],
            )
        })
}

/// Some measures of one judge after the other.
fn of_judges() -> Vec<Measure> {
    let names = "AP(judges=mean) nDCG(judges=max)@5 bpref(judges=min) ERR(judges=mean)@10 \
                 infAP(judges=mean) RR(judges=min,rel=2) P(judges=mean)@5";
    names.split_whitespace().map(|name| name.parse().unwrap()).collect()
}

/// The facets by which documents are judged; `passages.rs` has those of passages.
const OF_DOCUMENTS: [FacetKind; 3] = [FacetKind::Judge, FacetKind::Subtopic, FacetKind::Preference];

fn measures(by: FacetKind) -> Vec<Measure> {
    if by == FacetKind::Judge { of_judges() } else { every_grouped(by) }
}

#[test]
fn the_engine_has_the_bits_of_the_reference_from_memory_and_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    for by in OF_DOCUMENTS {
        assert!(measures(by).len() > 5);
        for (at, (judged, runs)) in cases(by).enumerate() {
            let runs = runs.map(|results| run(&results));
            let matrix = join(Some(by), &text(&judged), &[&runs[0], &runs[1]]).unwrap();
            assert_eq!((matrix.judged_by(), matrix.codebook().is_exact()), (Some(by), at != 2));
            let path = folder.path().join("some.lmx");
            matrix.write(&path).unwrap();
            LabelMatrix::verify(&path).unwrap();
            let read = [LabelMatrix::read(&path).unwrap(), LabelMatrix::map(&path).unwrap()];
            assert!(read.iter().all(|read| read.facet_rows() == matrix.facet_rows()));
            for (number, view) in VIEWS.into_iter().enumerate() {
                let queries = [QuerySet::Judged, QuerySet::Common][(at + number) % 2];
                let evaluator = evaluator(measures(by)).with_view(view).with_queries(queries);
                let found = evaluator.evaluate(&matrix).unwrap();
                for read in &read {
                    assert_same_bits(&found, &evaluator.evaluate(read).unwrap(), "a file");
                }
                // The plain functions take long.
                if number == at || number == 0 && at != 2 {
                    let reference = evaluator.with_engine(EngineChoice::Reference);
                    let what = format!("{by}, {at}, {view:?}, {queries:?}");
                    assert_same_bits(&reference.evaluate(&matrix).unwrap(), &found, &what);
                }
            }
        }
    }
}

#[test]
fn a_view_has_the_values_of_a_run_that_is_cut() {
    for by in OF_DOCUMENTS {
        let (judged, runs) = cases(by).next().unwrap();
        let graded = |query: &str, doc: &str| {
            judged.iter().any(|judgment| {
                judgment.query == query && judgment.doc == doc && judgment.grade >= 0.0
            })
        };
        let mut ranked = runs[0].clone();
        ranked.sort_by(|a, b| (&a.0, b.2, &b.1).cmp(&(&b.0, a.2, &a.1)));
        let cut = |view: View| {
            let results = ranked.chunk_by(|a, b| a.0 == b.0).flat_map(|of_query| {
                let depth =
                    view.depth.map_or(of_query.len(), |depth| of_query.len().min(depth as usize));
                of_query[..depth]
                    .iter()
                    .filter(|(query, doc, _)| !view.judged_only || graded(query, doc))
            });
            run(&results.cloned().collect::<Vec<_>>())
        };
        // What judges have graded differs from judge to judge, and so does what they keep.
        // Preferences keep everything.
        for view in VIEWS.into_iter().filter(|view| by == FacetKind::Subtopic || !view.judged_only)
        {
            let evaluator = evaluator(measures(by));
            let expected = join(Some(by), &text(&judged), &[&cut(view)]).unwrap();
            let expected = evaluator.evaluate(&expected).unwrap();
            let matrix = join(Some(by), &text(&judged), &[&run(&ranked)]).unwrap();
            let found = evaluator.with_view(view).evaluate(&matrix).unwrap();
            assert_same_bits(&expected, &found, &format!("{by}, {view:?}"));
        }
    }
}

/// Returns the measure over judges by a rule.
fn with_judges(measure: &Measure, rule: &str) -> Measure {
    let text = measure.to_string();
    let judges = match text.split_once('(') {
        Some((name, params)) => format!("{name}(judges={rule},{params}"),
        None => {
            let (name, cutoff) = text.split_at(text.find('@').unwrap_or(text.len()));
            format!("{name}(judges={rule}){cutoff}")
        }
    };
    judges.parse().unwrap_or_else(|error| panic!("{judges}: {error}"))
}

/// Returns the values of the first run, by query, `[measure]`.
fn by_query(scores: &Scores) -> BTreeMap<Vec<u8>, Vec<f64>> {
    let values = scores.runs[0].per_query.as_ref().unwrap();
    let row = |at: usize| values.values.iter().map(|column| column[at]).collect();
    values.queries.iter().enumerate().map(|(at, query)| (query.to_vec(), row(at))).collect()
}

#[test]
fn values_over_judges_are_those_of_each_judge_alone() {
    for (at, (mut judged, runs)) in cases(FacetKind::Judge).take(3).enumerate() {
        // Some measures take the largest grade of all.
        let highest = judged.iter().map(|judgment| judgment.grade).fold(0.0, f64::max);
        let (query, doc) = ("zz".to_owned(), "d1".to_owned());
        let more = GROUPS.map(|group| Judgment {
            query: query.clone(),
            group,
            subgroup: None,
            doc: doc.clone(),
            grade: highest,
        });
        judged.extend(more);
        let run = run(&runs[0]);
        let matrix = join(Some(FacetKind::Judge), &text(&judged), &[&run]).unwrap();
        let plain = [every_measure(&matrix), every_walk(&matrix)].concat();
        let plain: Vec<Measure> =
            plain.into_iter().filter(|measure| measure.input() == Needs::Grades).collect();
        // All of them with few grades, and some with many.
        let plain: Vec<Measure> = plain.into_iter().step_by([1, 7, 11][at]).collect();
        assert!(plain.len() > 100);
        let rules = ["mean", "min", "max"];
        let over =
            plain.iter().enumerate().map(|(at, measure)| with_judges(measure, rules[at % 3]));
        let over: Vec<Measure> = over.collect();
        let mut judges = GROUPS;
        judges.sort_unstable();
        for view in [VIEWS[0], VIEWS[at + 1]] {
            let found =
                by_query(&evaluator(over.clone()).with_view(view).evaluate(&matrix).unwrap());
            let of_judge = |judge: &&str| {
                let own: Vec<Judgment> =
                    judged.iter().filter(|judgment| judgment.group == *judge).cloned().collect();
                let alone = join(None, &text(&own), &[&run]).unwrap();
                by_query(&evaluator(plain.clone()).with_view(view).evaluate(&alone).unwrap())
            };
            let each: Vec<_> = judges.iter().map(of_judge).collect();
            assert_eq!(matrix.judges().iter().collect::<Vec<_>>(), judges.map(str::as_bytes));
            for (judge, expected) in each.iter().enumerate() {
                let alone = matrix.for_judge(judge).unwrap();
                let alone =
                    by_query(&evaluator(plain.clone()).with_view(view).evaluate(&alone).unwrap());
                let bits = |scores: &BTreeMap<Vec<u8>, Vec<f64>>| -> Vec<(Vec<u8>, Vec<u64>)> {
                    scores
                        .iter()
                        .map(|(query, row)| {
                            (query.clone(), row.iter().map(|value| value.to_bits()).collect())
                        })
                        .collect()
                };
                assert!(bits(&alone) == bits(expected), "judge {judge}, {view:?}");
            }
            for (query, values) in &found {
                let of_query: Vec<&Vec<f64>> =
                    each.iter().filter_map(|scores| scores.get(query)).collect();
                for (measure, &value) in values.iter().enumerate() {
                    let values = of_query.iter().map(|row| row[measure]);
                    let expected = match measure % 3 {
                        0 => values.fold(0.0, |sum, value| sum + value) / of_query.len() as f64,
                        1 => values.fold(f64::INFINITY, f64::min),
                        _ => values.fold(f64::NEG_INFINITY, f64::max),
                    };
                    let name = &over[measure];
                    assert!(
                        expected.to_bits() == value.to_bits()
                            || expected.is_nan() && value.is_nan(),
                        "{name} of {}: {expected} and {value}, {view:?}, case {at}",
                        String::from_utf8_lossy(query)
                    );
                }
            }
        }
    }
}

#[test]
fn plain_measures_take_the_largest_grade_and_say_so() {
    for by in [FacetKind::Judge, FacetKind::Subtopic] {
        for (judged, runs) in cases(by) {
            let mut largest: BTreeMap<(&str, &str), f64> = BTreeMap::new();
            for judgment in &judged {
                let grade =
                    largest.entry((&judgment.query, &judgment.doc)).or_insert(judgment.grade);
                *grade = grade.max(judgment.grade);
            }
            let line =
                |((query, doc), grade): (&(&str, &str), &f64)| format!("{query} 0 {doc} {grade}\n");
            let qrels: String = largest.iter().map(line).collect();
            let run = run(&runs[1]);
            let expected = join(None, &qrels, &[&run]).unwrap();
            let matrix = join(Some(by), &text(&judged), &[&run]).unwrap();
            assert_eq!(matrix.codebook(), expected.codebook());
            assert_eq!(matrix.facts(), expected.facts());
            assert_eq!(matrix.exact(), expected.exact());
            assert_ne!(matrix.fingerprint(), expected.fingerprint());
            let evaluator = evaluator(every_measure(&expected).into_iter().step_by(9).collect());
            let found = evaluator.evaluate(&matrix).unwrap();
            assert_same_bits(&evaluator.evaluate(&expected).unwrap(), &found, "largest");
            let names: &[&str] = match by {
                FacetKind::Judge => &["NumQ", "AP(judges=max)", "AP", "P@5"],
                _ => &["NumQ", "StRecall@5", "AP", "P@5"],
            };
            let notices = |names: &[&str]| {
                let mut all = Evaluator::new(names.iter().copied())
                    .unwrap()
                    .evaluate(&matrix)
                    .unwrap()
                    .notices;
                all.retain(|notice| !matches!(notice, Notice::FractionsNotRelevant { .. }));
                all
            };
            let notice = Notice::MaxOverFacets { by, measures: vec!["AP".into(), "P@5".into()] };
            assert_eq!(notices(names), [notice]);
            assert_eq!(notices(&names[..2]), []);
        }
    }
}

#[test]
fn the_order_of_lines_and_what_is_around_them_change_nothing() {
    for by in OF_DOCUMENTS {
        let (judged, runs) = cases(by).next().unwrap();
        let run = run(&runs[0]);
        let joined = |qrels: &[u8]| {
            let join = Join { judged_by: Some(by), ..Join::default() };
            let matrix = join
                .files(bytes("judgments", qrels), [RunInput::named("run", input("run", &run))])
                .unwrap();
            let scores = evaluator(measures(by)).evaluate(&matrix).unwrap();
            (
                matrix.facet_rows().cloned(),
                matrix.fingerprint(),
                matrix.facts().clone(),
                by_query(&scores),
            )
        };
        let plain = text(&judged);
        let expected = joined(plain.as_bytes());
        let mut sorted = judged.clone();
        sorted.sort_by(|a, b| {
            (&a.query, &a.doc, a.group, a.subgroup).cmp(&(&b.query, &b.doc, b.group, b.subgroup))
        });
        let sorted = text(&sorted);
        let windows = plain.replace('\n', "\r\n");
        let tabs = plain.replace(' ', " \t ");
        let spread =
            format!("# query group docno\n\n{}\n  \n", plain.replacen('\n', "\n\n  # more\n", 9));
        for other in [&sorted, &windows, &tabs, &spread, plain.trim_end()] {
            assert!(joined(other.as_bytes()) == expected, "{by}: {other:?}");
        }
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(plain.as_bytes()).unwrap();
        assert!(joined(&gzip.finish().unwrap()) == expected);
        assert!(joined(&zstd::encode_all(plain.as_bytes(), 1).unwrap()) == expected);
        // Another grade, another group, or one judgment less is another set of judgments.
        let mut other = judged.clone();
        other.pop();
        assert_ne!(joined(text(&other).as_bytes()).1, expected.1);
        let mut other = judged.clone();
        other[0].grade = if other[0].grade == 1.0 { 2.0 } else { 1.0 };
        let other = if by == FacetKind::Preference { judged[1..].to_vec() } else { other };
        assert_ne!(joined(text(&other).as_bytes()).1, expected.1);
        let mut other = judged.clone();
        other
            .iter_mut()
            .filter(|judgment| judgment.group == "A")
            .for_each(|judgment| judgment.group = "B");
        assert_ne!(joined(text(&other).as_bytes()).1, expected.1);
    }
}

const RUN: &str = "a Q0 d1 1 3 t\na Q0 d2 2 2 t\na Q0 d3 3 1 t\n";

/// Text of more than one piece: judgments of a query are in several of them.
#[test]
fn large_texts_are_read_in_pieces() {
    let line = |at: usize| format!("q{} judge{} document{} {}\n", at % 3, at % 7, at / 21, at % 5);
    let qrels: String = (0..60_000).map(line).collect();
    assert!(qrels.len() > 1 << 20);
    let results = "q0 Q0 document8 1 3 t\nq1 Q0 document9 1 3 t\nq1 Q0 document2856 2 2 t\n";
    let matrix = join(Some(FacetKind::Judge), &qrels, &[results]).unwrap();
    let grouped = matrix.facet_rows().unwrap();
    assert_eq!(grouped.facets.judgments.values().len(), 60_000);
    assert_eq!(grouped.facets.documents(0).len(), 2858);
    for (at, grade) in [(59_998, "x"), (7, "5 5")] {
        let wrong: String = (0..60_000)
            .map(|index| if index == at { format!("q0 judge1 d {grade}\n") } else { line(index) })
            .collect();
        let error = join(Some(FacetKind::Judge), &wrong, &[results]).unwrap_err().to_string();
        assert!(error.starts_with(&format!("judgments:{}: ", at + 1)), "{error}");
    }
}

/// Returns the message of an evaluation, without which there is one.
fn refused(by: Option<FacetKind>, measure: &str) -> String {
    let matrix =
        join(by, if by.is_none() { "a 0 d1 1\n" } else { "a g d1 1\na g d2 0\n" }, &[RUN]).unwrap();
    let evaluator = Evaluator::new([measure]).unwrap();
    let messages = [EngineChoice::Auto, EngineChoice::Cpu, EngineChoice::Reference].map(|engine| {
        let evaluated = evaluator.clone().with_engine(engine).evaluate(&matrix);
        assert!(matches!(evaluated, Err(Error::Unanswerable(_))), "{measure} is computed");
        evaluated.unwrap_err().to_string()
    });
    assert!(messages.iter().all(|message| *message == messages[0]));
    messages[0].clone()
}

#[test]
fn measures_on_other_judgments_are_errors() {
    let message = |by, measure: &str| refused(by, measure);
    let [judge, subtopic, preference] = OF_DOCUMENTS.map(Some);
    assert_eq!(
        message(None, "alpha_nDCG@5"),
        "alpha_nDCG@5 needs judgments by subtopic, and what was read is a grade for each document"
    );
    assert_eq!(
        message(None, "AP(judges=mean)"),
        "AP(judges=mean) needs judgments by judge, and what was read is a grade for each document"
    );
    assert_eq!(
        message(judge, "prefs_simp"),
        "prefs_simp needs preferences, and what was read is judgments by judge"
    );
    assert_eq!(
        message(subtopic, "AP(judges=mean)"),
        "AP(judges=mean) needs judgments by judge, and what was read is judgments by subtopic"
    );
    assert_eq!(
        message(preference, "AP"),
        "AP needs a grade for each document, and what was read is preferences"
    );
    assert_eq!(
        message(preference, "StRecall@5"),
        "StRecall@5 needs judgments by subtopic, and what was read is preferences"
    );
    for by in [None, judge, subtopic, preference] {
        let qrels = if by.is_none() { "a 0 d1 1\n" } else { "a g d1 1\n" };
        Evaluator::new(["NumQ"]).unwrap().evaluate(&join(by, qrels, &[RUN]).unwrap()).unwrap();
    }
}

#[test]
fn what_has_one_grade_a_document_refuses_judgments_by_group() {
    let read = |by| {
        Join { judged_by: Some(by), ..Join::default() }.qrels(input("judgments", "a g d1 1\n"))
    };
    for (by, measure) in [
        (FacetKind::Judge, "AP(judges=mean)"),
        (FacetKind::Judge, "AP"),
        (FacetKind::Subtopic, "alpha_nDCG@3"),
        (FacetKind::Preference, "prefs_simp"),
    ] {
        let qrels = read(by).unwrap();
        let evaluator = Evaluator::new([measure]).unwrap();
        let error = evaluator.run_stream(&Join::default(), &qrels, "run").err().unwrap();
        assert_eq!(error.to_string(), "judgments by facet need the whole run: join it with them");
    }
    let plain = Join::default().qrels(input("judgments", "a g d1 1\n")).unwrap();
    let evaluator = Evaluator::new(["alpha_nDCG@3"]).unwrap();
    let error = evaluator.run_stream(&Join::default(), &plain, "run").err().unwrap().to_string();
    assert!(error.starts_with("alpha_nDCG@3 needs judgments by subtopic"), "{error}");
    let rankings = Rankings::labels(&[1u8, 0], Shape::dense(2)).unwrap();
    let error = evaluator.rankings(&rankings).unwrap_err().to_string();
    assert!(error.starts_with("alpha_nDCG@3 needs judgments by subtopic"), "{error}");
    let of_judges = Evaluator::new(["AP(judges=mean)"]).unwrap();
    let error = of_judges.rankings(&rankings).unwrap_err().to_string();
    assert!(error.starts_with("AP(judges=mean) needs judgments by judge"), "{error}");
    let json = Join { judged_by: Some(FacetKind::Judge), ..Join::default() };
    let error =
        json.files(input("some.json", r#"{"a": {"d1": 1}}"#), [input("run", RUN)]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "some.json is JSON, {\"query\": {\"document\": grade, …}, …}: judgments by judge are read \
         from TREC text, tables with a header, and \
         records with a judge"
    );
}

/// A scale that is too small for the grades is an error, as over a grade for each document.
#[test]
fn scales_are_checked_for_judges_as_well() {
    let matrix = join(Some(FacetKind::Judge), "a g d1 1\na h d1 5\n", &[RUN]).unwrap();
    let error = |measure: &str| {
        Evaluator::new([measure]).unwrap().evaluate(&matrix).unwrap_err().to_string()
    };
    let message = error("ERR(gmax=4)");
    assert!(message.contains("the qrels have a grade of 5, above gmax=4"), "{message}");
    let message = error("ERR(gmax=4,judges=mean)");
    assert!(message.contains("the qrels have a grade of 5, above gmax=4"), "{message}");
}

/// Returns the message about judgments that are wrong.
fn wrong(by: FacetKind, qrels: &str) -> String {
    join(Some(by), qrels, &[RUN]).unwrap_err().to_string()
}

/// trec_eval 9 rounds levels to f32, in which a finite number may be infinite.
#[test]
fn levels_that_are_too_large_for_trec_eval_9_are_refused() {
    for (dialect, text) in [
        (Dialect::Trec9, "a g d1 1e39\na g d2 1e39\n"),
        (Dialect::Trec9, "a g d1 1\na g d2 -1e39\n"),
    ] {
        let join = Join { dialect, judged_by: Some(FacetKind::Preference), ..Join::default() };
        let error = join.qrels(input("judgments", text)).unwrap_err().to_string();
        assert!(
            error.contains("1e39' is not a number: expected 'query group docno level'"),
            "{error}"
        );
        let sound = Join { dialect: Dialect::Trec10, ..join.clone() };
        assert_eq!(sound.qrels(input("judgments", text)).unwrap().queries().len(), 1);
        let levels = [1e39, 1e39];
        let batch = columns::QrelsColumns::new(&["a", "a"], &["d1", "d2"], &levels)
            .with_facets(&["g", "g"]);
        let error = join.judgments(&[batch]).unwrap_err().to_string();
        assert!(error.contains("is not a finite number"), "{error}");
    }
}

#[test]
fn wrong_lines_are_named_with_the_reason() {
    use FacetKind::{Judge, Preference, Subtopic};
    let cases = [
        (Judge, "a j d1\n", "judgments:1: there are 3 fields: expected 'query judge docno grade'"),
        (
            Judge,
            "# j\n\na j d1 1 1\n",
            "judgments:3: there are 5 fields: expected 'query judge docno grade'",
        ),
        (Judge, "a\n", "judgments:1: there is 1 field: expected 'query judge docno grade'"),
        (
            Subtopic,
            "a 1 d1 x\n",
            "judgments:1: grade 'x' is not a number: expected 'query subtopic docno grade'",
        ),
        (
            Subtopic,
            "a 1 d1 nan\n",
            "judgments:1: grade 'nan' is not a number: expected 'query subtopic docno grade'",
        ),
        (
            Subtopic,
            "a 1 d1 1e999\n",
            "judgments:1: grade '1e999' is not a number: expected 'query subtopic docno grade'",
        ),
        (
            Preference,
            "a g d1 x\n",
            "judgments:1: level 'x' is not a number: expected 'query group docno level'",
        ),
        (
            Preference,
            "a g s d1 1\na g d1 1\n",
            "judgments:2: there are 4 fields: expected 'query group sub-group docno level'",
        ),
        (
            Preference,
            "a g d1 1\na g s d1 1\n",
            "judgments:2: there are 5 fields: expected 'query group docno level'",
        ),
        (
            Judge,
            "a j d1 1\na k d1 1\na j d1 2\n",
            "judgments:3: docno 'd1' is judged again by judge 'j' for query 'a', first on line 1",
        ),
        (
            Subtopic,
            "a 1 d1 1\nb 1 d1 1\na 1 d1 0\n",
            "judgments:3: docno 'd1' is judged again for subtopic '1' for query 'a', first on line \
             1",
        ),
        (
            Preference,
            "a g d1 1\na g d1 2\n",
            "judgments:2: docno 'd1' is judged again in group 'g' for query 'a', first on line 1",
        ),
        (Judge, "", "judgments: there is no judgment in it: expected 'query judge docno grade'"),
        (
            Subtopic,
            "\n# none\n\n",
            "judgments: there is no judgment in it: expected 'query subtopic docno grade'",
        ),
        (
            Preference,
            "",
            "judgments: there is no judgment in it: expected 'query group docno level'",
        ),
    ];
    for (by, qrels, expected) in cases {
        assert_eq!(wrong(by, qrels), expected, "{by}: {qrels:?}");
    }
}

#[test]
fn contradicting_preferences_are_named_with_their_lines() {
    let wrong = |qrels: &str| wrong(FacetKind::Preference, qrels);
    assert_eq!(
        wrong("a g s d1 2\nb g s d1 2\na g s d2 1\na g t d2 2\na g t d1 1\n"),
        "judgments:5: the preferences of group 'g' for query 'a' form a cycle: \
         'd1' before 'd2' (lines 1 and 3), 'd2' before 'd1' (lines 4 and 5)"
    );
    let long: String =
        (0..8).map(|at| format!("a g s{at} d{at} 2\na g s{at} d{} 1\n", (at + 1) % 8)).collect();
    assert_eq!(
        wrong(&long),
        "judgments:16: the preferences of group 'g' for query 'a' form a cycle: \
         'd0' before 'd1' (lines 1 and 2), 'd1' before 'd2' (lines 3 and 4), 'd2' before 'd3' \
         (lines 5 and 6), \
         'd3' before 'd4' (lines 7 and 8), and 4 more"
    );
    assert_eq!(
        wrong("a g s d1 2\na h t d2 1\na g t d1 0\n"),
        "judgments:3: docno 'd1' has level 0 and a level above 0 in group 'g' for query 'a', first \
         on line 1"
    );
    // Without sub-groups, another level is a second judgment; levels in several sub-groups of a
    // group may differ.
    assert_eq!(
        wrong("a g d1 2\na g d1 1\n"),
        "judgments:2: docno 'd1' is judged again in group 'g' for query 'a', first on line 1"
    );
    join(Some(FacetKind::Preference), "a g s d1 2\na g t d1 1\n", &[RUN]).unwrap();
    // Lines that repeat others change no line number.
    let message = wrong("a g s d0 1\na g s d0 2\na g s d1 2\na g s d2 1\na g t d2 2\na g t d1 1\n");
    assert_eq!(
        message,
        "judgments:2: docno 'd0' is judged again in group 'g' for query 'a', first on line 1\n\
         judgments:6: the preferences of group 'g' for query 'a' form a cycle: \
         'd1' before 'd2' (lines 3 and 4), 'd2' before 'd1' (lines 5 and 6)"
    );
    // trec_eval accepts a line that is there twice, and no document at two levels.
    let trec = Join {
        dialect: Dialect::Trec10,
        judged_by: Some(FacetKind::Preference),
        ..Join::default()
    };
    let error =
        trec.files(input("judgments", "a g d1 2\na g d1 1\n"), [input("run", RUN)]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "judgments:2: docno 'd1' has two levels in group 'g' for query 'a', first on line 1"
    );
}

#[test]
fn more_documents_than_preferences_may_have_are_an_error_of_their_query() {
    let lines =
        |documents: u32| -> String { (0..documents).map(|at| format!("b g d{at} 1\n")).collect() };
    let most = format!("a g d1 1\n{}", lines(10_000));
    join(Some(FacetKind::Preference), &most, &[RUN]).unwrap();
    let more = format!("a g d1 1\n{}", lines(10_001));
    let message = "judgments: query 'b': the preferences are among 10001 documents, at most 10000 \
                   are allowed";
    assert_eq!(wrong(FacetKind::Preference, &more), message);
    for dialect in [Dialect::Trec9, Dialect::Trec10] {
        let join = Join { dialect, judged_by: Some(FacetKind::Preference), ..Join::default() };
        let error = join.files(input("judgments", &more), [input("run", RUN)]).unwrap_err();
        assert!(
            matches!(error, Error::Duplicate(_)) && error.to_string() == message,
            "{dialect:?}: {error}"
        );
    }
    // Judgments by subtopic may be of more documents.
    join(Some(FacetKind::Subtopic), &more, &[RUN]).unwrap();
}

#[test]
fn problems_are_in_the_order_of_lines() {
    let qrels = "a j d1 1\na j d2\nb j d1 1\nb j d1 2\na j d1 2\na j d3 x\n";
    let message = wrong(FacetKind::Judge, qrels);
    let lines: Vec<&str> = message.lines().map(|line| line.split(": ").next().unwrap()).collect();
    assert_eq!(lines, ["judgments:2", "judgments:4", "judgments:5", "judgments:6"], "{message}");
}

#[test]
fn dialects_of_trec_eval_tell_contradictions_apart_from_wrong_lines() {
    let circle = "a g s d1 2\na g s d2 1\na g t d2 2\na g t d1 1\n";
    let repeated = "a g d1 1\na g d1 1\na g d2 0\n";
    let result = |dialect, by, qrels: &str| {
        let join = Join { dialect, judged_by: Some(by), ..Join::default() };
        join.files(input("judgments", qrels), [RunInput::named("run", input("run", RUN))])
    };
    use FacetKind::{Judge, Preference};
    for dialect in [Dialect::Trec9, Dialect::Trec10] {
        assert!(
            matches!(result(dialect, Preference, circle), Err(Error::Duplicate(_))),
            "{dialect:?}"
        );
        assert!(
            matches!(result(dialect, Preference, "a g d1 1\na g d1\n"), Err(Error::Input(_))),
            "{dialect:?}"
        );
        // A line that is there twice counts twice.
        let matrix = result(dialect, Preference, repeated).unwrap();
        let scores = Evaluator::new(["prefs_num_prefs_poss"]).unwrap().evaluate(&matrix).unwrap();
        assert_eq!(scores.runs[0].average(0), Some(2.0));
        assert!(result(dialect, Judge, "a j d1 1\na j d1 1\n").is_err());
        // Grades are integers, levels are not.
        let matrix = result(dialect, Judge, "a j d1 1.9\n").unwrap();
        assert_eq!(matrix.facet_rows().unwrap().facets.judgments.values()[0].grade, 1.0);
        let matrix = result(dialect, Preference, "a j d1 1.9\n").unwrap();
        let level = if dialect == Dialect::Trec9 { f64::from(1.9f32) } else { 1.9 };
        assert_eq!(matrix.facet_rows().unwrap().facets.judgments.values()[0].grade, level);
    }
    assert!(matches!(result(Dialect::Laneval, Preference, circle), Err(Error::Input(_))));
    assert!(result(Dialect::Laneval, Preference, repeated).is_ok());
}

#[test]
fn a_ranking_may_be_better_than_the_greedy_one() {
    // The first document of the greedy ranking is x, with 9 subtopics, after which a and b add
    // little.
    let lines = |doc: &str, subtopics: std::ops::Range<u32>| -> String {
        subtopics.map(|subtopic| format!("q {subtopic} {doc} 1\n")).collect()
    };
    let qrels = lines("a", 0..8) + &lines("b", 8..16) + &lines("x", 0..5) + &lines("x", 8..12);
    let run = "q Q0 a 1 2 t\nq Q0 b 2 1 t\n";
    let matrix = join(Some(FacetKind::Subtopic), &qrels, &[run]).unwrap();
    let names = ["alpha_nDCG(alpha=1)@2", "nERR_IA(alpha=1)@2", "nNRBP(alpha=1,beta=0.9)"];
    let measures: Vec<Measure> = names.iter().map(|name| name.parse().unwrap()).collect();
    let scores = evaluator(measures.clone()).evaluate(&matrix).unwrap();
    for (at, measure) in measures.iter().enumerate() {
        let value = scores.runs[0].average(at).unwrap();
        assert!(value > 1.0 && measure.range().contains(value), "{measure}: {value}");
    }
}
