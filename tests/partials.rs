//! Parts of comparisons, merged in any order and association, give the bits of one comparison;
//! parts that do not belong together are refused.

use std::collections::BTreeSet;

use laneval::compare::{
    Alternative, Comparison, ComparisonOptions, Correction, Gate, Interval, PartialComparison,
    Permutations, Scope, Shard, Test, judged_measure,
};
use laneval::measure::Measure;
use laneval::report::{Format, ReportOptions as Look};
use laneval::{
    Aggregation, DocIdRule, Error, Evaluator, Join, LabelMatrix, ProgressHandle, Qrels, QuerySet,
    Scores, Summary, View,
};
use proptest::prelude::*;

use crate::cases::{cases, some};
use crate::summaries::{FROZEN, fixture, with_version};

const MEASURES: [&str; 4] = ["nDCG@5", "AP", "GMAP", "DCG"];
/// The largest values, which make every shard round to the unit of all: logarithms down to that of
/// 0.00001, and gains up to 8.
const LARGEST: [(&str, f64); 2] = [("GMAP", 16.0), ("DCG", 8.0)];

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// Returns the judgments and runs of some queries, which follow from the number of each query
/// alone; a run lacks one in nine.
fn matrix(queries: &[usize], runs: usize) -> LabelMatrix {
    let mut judgments = Vec::new();
    let mut results: Vec<Vec<(String, String, f64)>> = vec![Vec::new(); runs];
    for &query in queries {
        let mut random = Random(query as u64);
        let id = format!("q{query}");
        for doc in 0..6 {
            judgments.push((
                id.clone(),
                format!("d{doc}"),
                [0.0, 1.0, 2.0, 1.0, 0.0, 3.0][random.below(6)],
            ));
        }
        for (run, results) in results.iter_mut().enumerate() {
            let lacks = query % 9 == run + 1 && queries.len() > 1;
            let docs = (0..9).filter(|_| !lacks).collect::<Vec<_>>();
            for doc in docs {
                let score = random.below(50) as f64 - (doc * run) as f64;
                results.push((id.clone(), format!("d{doc}"), score));
            }
        }
    }
    let runs =
        results.into_iter().enumerate().map(|(run, results)| (format!("run {run}"), results));
    Join::default().rankings(&Qrels::new(judgments).unwrap(), runs).unwrap()
}

fn evaluator() -> Evaluator {
    Evaluator::new(MEASURES).unwrap().with_per_query(true)
}

/// Returns the scores, their summary, and that of the shares of judged documents.
fn evaluated(evaluator: &Evaluator, matrix: &LabelMatrix) -> (Scores, Summary, Summary) {
    let (scores, summary) = evaluator.evaluate_with_summary(matrix).unwrap();
    let judged: BTreeSet<String> =
        scores.measures.iter().map(|measure| judged_measure(measure).to_string()).collect();
    let judged =
        Evaluator::new(judged.iter().map(String::as_str)).unwrap().summary(matrix).unwrap();
    (scores, summary, judged)
}

fn part_of(
    evaluator: &Evaluator,
    matrix: &LabelMatrix,
    options: &ComparisonOptions,
) -> PartialComparison {
    let (scores, summary, judged) = evaluated(evaluator, matrix);
    let (own, partial) =
        PartialComparison::compare(&scores, &summary, Some(&judged), options).unwrap();
    // The comparison with a part has the numbers of the plain comparison.
    assert_eq!(rows_of_both(&own), rows_of_both(&plain(&scores, &judged, options)));
    partial
}

fn part(queries: &[usize], runs: usize, options: &ComparisonOptions) -> PartialComparison {
    part_of(&evaluator(), &matrix(queries, runs), options)
}

fn plain(scores: &Scores, judged: &Summary, options: &ComparisonOptions) -> Comparison {
    let mut comparison = Comparison::new(scores, options).unwrap();
    comparison.set_judged_share(&judged.scores(&[]).unwrap());
    comparison
}

fn written(format: Format, comparison: &Comparison) -> String {
    let mut text = Vec::new();
    let gates = ["nDCG@5 drops > 0.001 p<0.3", "AP < 0.1", "AP may drop > 0.01"]
        .map(|gate| Gate::parse(gate).unwrap());
    let judged: Vec<_> = match comparison.queries {
        1 => Vec::new(),
        _ => gates
            .into_iter()
            .map(|gate| (gate.clone(), comparison.gate_verdicts(&gate).unwrap()))
            .collect(),
    };
    format
        .write_comparison(
            comparison,
            &judged,
            &Look { per_query: true, ..Look::default() },
            &mut text,
        )
        .unwrap();
    String::from_utf8(text).unwrap()
}

/// Returns all numbers, one a row, without those of queries.
fn rows(comparison: &Comparison) -> Vec<String> {
    let all = written(Format::Tsv, comparison);
    all.lines().filter(|row| row.split('\t').nth(2) == Some("")).map(str::to_owned).collect()
}

/// Returns the rows that parts have as one comparison has them: queries of parts cannot be drawn
/// together, so that intervals of few are others.
fn rows_of_both(comparison: &Comparison) -> Vec<String> {
    let mut rows = rows(comparison);
    if comparison.options.interval == Interval::Bootstrap {
        rows.retain(|row| !["ci_low", "ci_high"].contains(&stat(row)));
    }
    rows
}

fn stat(row: &str) -> &str {
    row.split('\t').nth(4).unwrap()
}

/// Options of every kind that can be merged.
fn all_options() -> Vec<ComparisonOptions> {
    let with = |set: &dyn Fn(&mut ComparisonOptions)| {
        let mut options = ComparisonOptions::default();
        options.permutations = Permutations::Fixed(2100);
        options.largest =
            LARGEST.map(|(measure, largest)| (measure.parse().unwrap(), largest)).to_vec();
        set(&mut options);
        options
    };
    vec![
        with(&|_| ()),
        with(&|options| options.permutations = Permutations::Default),
        with(&|options| {
            (options.baseline, options.correction) = (Some("run 1".to_owned()), Correction::MaxT)
        }),
        with(&|options| (options.correction, options.family) = (Correction::MaxT, Scope::All)),
        with(&|options| {
            (options.correction, options.anova, options.seed) = (Correction::Hsd, true, 7)
        }),
        with(&|options| (options.interval, options.alpha) = (Interval::Bootstrap, 0.1)),
        with(&|options| (options.alternative, options.test) = (Alternative::Better, Test::Sign)),
        with(&|options| (options.test, options.correction) = (Test::Randomisation, Correction::Bh)),
        with(&|options| {
            (options.margin, options.power, options.tie) = (Some(0.05), Some(0.02), Some(0.1))
        }),
    ]
}

/// Merges parts two at a time in some order, and through bytes.
fn merged(mut parts: Vec<PartialComparison>, seed: u64) -> PartialComparison {
    let mut random = Random(seed);
    while parts.len() > 1 {
        let mut one = parts.swap_remove(random.below(parts.len()));
        let other = parts.swap_remove(random.below(parts.len()));
        if random.below(2) == 0 {
            let read = PartialComparison::from_bytes(&one.to_bytes()).unwrap();
            assert!(read == one, "bytes");
            one = read;
        }
        one.merge(&other).unwrap();
        parts.push(one);
    }
    parts.pop().unwrap()
}

/// Returns the queries of each shard.
fn dealt(queries: usize, shards: usize) -> Vec<Vec<usize>> {
    let dealt = |shard| (0..queries).filter(|query| query * 5 % 7 % shards == shard).collect();
    (0..shards).map(dealt).collect()
}

#[test]
fn parts_give_the_bits_of_one_comparison() {
    const QUERIES: usize = 63;
    for (at, (options, runs)) in all_options().iter().zip([2, 3].into_iter().cycle()).enumerate() {
        let all: Vec<usize> = (0..QUERIES).collect();
        let (scores, _, judged) = evaluated(&evaluator(), &matrix(&all, runs));
        // The common unit is found without `largest`.
        let mut alone = options.clone();
        alone.largest.clear();
        let plain = plain(&scores, &judged, &alone);
        let single = part(&all, runs, options).comparison().unwrap();
        for shards in some([1, 2, 7].into_iter().cycle().skip(at).take(3)) {
            let parts: Vec<PartialComparison> =
                dealt(QUERIES, shards).iter().map(|shard| part(shard, runs, options)).collect();
            let [one, other] = [1, 2].map(|seed| merged(parts.clone(), seed));
            assert!(one == other && one.to_bytes() == other.to_bytes());
            let found = one.comparison().unwrap();
            for format in [Format::Tsv, Format::Json, Format::Table, Format::Markdown] {
                assert_eq!(written(format, &found), written(format, &single), "{shards} shards");
            }
            // An exact p decides where there is one.
            let decided = options.test == Test::Randomisation;
            let with = |row: &&String| {
                stat(row) != "p_exact" && !(decided && ["p", "p_adj"].contains(&stat(row)))
            };
            let expected = rows_of_both(&plain);
            assert_eq!(
                rows_of_both(&found).iter().filter(with).collect::<Vec<_>>(),
                expected.iter().filter(with).collect::<Vec<_>>()
            );
            assert!(rows(&found).iter().any(|row| stat(row) == "p_perm"));
            assert_eq!((found.query_ids().len(), found.values(0, 0).len()), (0, 0));
            // A page has everything except the values of queries.
            let page = |comparison: &Comparison| {
                let mut page = Vec::new();
                Format::Html
                    .write_comparison(comparison, &[], &Look::default(), &mut page)
                    .unwrap();
                String::from_utf8(page).unwrap()
            };
            let has = |page: &str| {
                ["means", "differences", "queries", "settings"]
                    .map(|id| page.contains(&format!("<section id=\"{id}\">")))
            };
            assert_eq!(
                (has(&page(&found)), has(&page(&plain))),
                ([true, true, false, true], [true; 4])
            );
        }
    }
}

/// Single queries, which say nothing alone, can be merged.
#[test]
fn single_queries_add_up() {
    let options = &all_options()[0];
    let parts: Vec<PartialComparison> = (0..12).map(|query| part(&[query], 2, options)).collect();
    let one = parts[0].comparison().unwrap();
    assert!(one.queries == 1 && one.differences[0].p.is_none() && one.draws == 0);
    let all: Vec<usize> = (0..12).collect();
    let matrix = matrix(&all, 2);
    // A run lacks no query of a shard alone.
    let expected = part_of(&evaluator(), &matrix, options).comparison().unwrap();
    let found = merged(parts, 3).comparison().unwrap();
    assert_eq!(found.queries, expected.queries);
    assert_eq!(found.draws, 2100);
}

#[test]
fn threads_change_no_bit() {
    let queries: Vec<usize> = (0..30).collect();
    let bytes = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| part(&queries, 3, &all_options()[5]).to_bytes())
    };
    assert!(bytes(1) == bytes(3));
}

/// If the queries of both count, those that all runs have in a shard are compared.
#[test]
fn queries_of_all_runs_add_up() {
    let evaluator = evaluator().with_queries(QuerySet::Common);
    let all: Vec<usize> = (0..63).collect();
    let options = &all_options()[0];
    let partial = |queries: &[usize]| part_of(&evaluator, &matrix(queries, 3), options);
    let found =
        merged(dealt(63, 7).iter().map(|shard| partial(shard)).collect(), 1).comparison().unwrap();
    let expected = partial(&all).comparison().unwrap();
    assert!(found.queries == expected.queries && found.queries < 63);
    assert_eq!(written(Format::Json, &found), written(Format::Json, &expected));
}

#[track_caller]
fn refused(one: &PartialComparison, other: &PartialComparison, words: &[&str]) {
    for (one, other) in [(one, other), (other, one)] {
        let mut merged = one.clone();
        let error = merged.merge(other).unwrap_err();
        assert!(matches!(error, Error::Merge(_)), "{error:?}");
        assert!(merged == *one, "it was changed");
        let message = error.to_string();
        assert!(words.iter().all(|word| message.contains(word)), "{words:?} are not in: {message}");
    }
}

#[test]
fn what_does_not_belong_together_is_refused_by_its_option() {
    let usual = all_options()[0].clone();
    let (here, there): (Vec<usize>, Vec<usize>) = ((0..20).collect(), (20..40).collect());
    let one = part(&here, 3, &usual);
    let with = |set: &dyn Fn(&mut ComparisonOptions)| {
        let mut options = usual.clone();
        set(&mut options);
        part(&there, 3, &options)
    };
    type Change = dyn Fn(&mut ComparisonOptions);
    let changes: [(&Change, &str); 14] = [
        (&|options| options.baseline = Some("run 1".to_owned()), "--baseline"),
        (&|options| options.test = Test::Sign, "--test"),
        (&|options| options.alternative = Alternative::Worse, "--alternative"),
        (&|options| options.alpha = 0.1, "--alpha"),
        (&|options| options.correction = Correction::By, "--correction"),
        (&|options| options.family = Scope::All, "--family"),
        (&|options| options.interval = Interval::Bootstrap, "--ci"),
        (&|options| options.permutations = Permutations::Fixed(2101), "--permutations"),
        (&|options| options.permutations = Permutations::Default, "--permutations"),
        (&|options| options.seed = 8, "--seed"),
        (&|options| options.margin = Some(0.1), "--margin"),
        (&|options| options.power = Some(0.1), "--power"),
        (&|options| options.tie = Some(0.1), "--tie-epsilon"),
        (&|options| options.anova = true, "--anova"),
    ];
    for (change, option) in changes {
        refused(&one, &with(change), &[option, "alike"]);
    }
    refused(
        &one,
        &with(&|options| options.largest[1].1 = 64.0),
        &["DCG has values up to", "--value-bound 'DCG=64' in all"],
    );
    refused(
        &one,
        &part(&there, 2, &usual),
        &["run 3 is ", "nothing", "run 2", "the same runs"]
            .map(|word| if word == "run 2" { "run" } else { word }),
    );
    let other = |evaluator: Evaluator| part_of(&evaluator, &matrix(&there, 3), &usual);
    refused(
        &one,
        &other(evaluator().with_measures(
            MEASURES[..3].iter().map(|name| name.parse::<Measure>().unwrap()).collect(),
        )),
        &["measures differ", "-m"],
    );
    refused(&one, &other(evaluator().with_queries(QuerySet::Common)), &["--queries"]);
    refused(
        &one,
        &other(evaluator().with_view(View { depth: Some(3), ..View::default() })),
        &["-M"],
    );
    let (scores, summary, _) = evaluated(&evaluator(), &matrix(&there, 3));
    refused(
        &one,
        &PartialComparison::compare(&scores, &summary, None, &usual).unwrap().1,
        &["shares of judged documents"],
    );
    let again: Vec<usize> = (18..40).collect();
    let again = part(&again, 3, &usual).from_source("again.part");
    refused(
        &one.clone().from_source("one.part"),
        &again,
        &["2 queries are counted twice (q18, q19): in ", "one.part"],
    );
    one.clone().merge(&with(&|_| ())).unwrap();
}

#[test]
fn what_needs_all_differences_has_no_parts() {
    let (scores, summary, judged) = evaluated(&evaluator(), &matrix(&[1, 2, 3], 2));
    let refused = |set: &dyn Fn(&mut ComparisonOptions), word: &str| {
        let mut options = ComparisonOptions::default();
        set(&mut options);
        let error = PartialComparison::compare(&scores, &summary, Some(&judged), &options)
            .unwrap_err()
            .to_string();
        assert!(error.contains(word) && error.contains("take") | error.contains("give"), "{error}");
    };
    refused(&|options| options.test = Test::Wilcoxon, "the test wilcoxon needs");
    refused(&|options| options.interval = Interval::Bca, "the interval bca needs");
    refused(&|options| options.correction = Correction::Rhsd, "the correction rhsd needs");
    refused(&|options| options.permutations = Permutations::Auto, "`auto`");
    let mut options = ComparisonOptions::default();
    options.largest = vec![("AP".parse().unwrap(), f64::NAN)];
    assert!(
        Comparison::new(&scores, &options)
            .unwrap_err()
            .to_string()
            .contains("the largest value of AP is NaN")
    );
}

#[test]
fn what_was_told_to_stop_stops() {
    let (scores, ..) = evaluated(&evaluator(), &matrix(&[1, 2, 3], 2));
    let watch = ProgressHandle::default();
    for mut options in all_options().into_iter().take(6) {
        assert!(Comparison::new_with_progress(&scores, &options, Some(&watch)).is_ok());
        options.correction = Correction::Rhsd;
        if options.check().is_ok() {
            assert!(Comparison::new_with_progress(&scores, &options, Some(&watch)).is_ok());
        }
    }
    watch.stop();
    for options in all_options() {
        assert!(matches!(
            Comparison::new_with_progress(&scores, &options, Some(&watch)),
            Err(Error::Stopped)
        ));
    }
}

/// Small parts with all fields, perhaps except resamples, of which there are many.
fn sound(resampled: bool) -> [PartialComparison; 2] {
    let mut options = all_options()[if resampled { 5 } else { 0 }].clone();
    (options.anova, options.permutations) = (true, Permutations::Fixed(3));
    options.baseline = Some("run 0".to_owned());
    [[0, 1, 2], [3, 4, 5]].map(|queries| part(&queries, 3, &options))
}

/// The first bytes, before the fields.
const HEAD: usize = 28;

fn with_checksum(body: &[u8]) -> Vec<u8> {
    let hash = xxhash_rust::xxh3::xxh3_64(body).to_le_bytes();
    [b"laneval\0compare\n", &1u32.to_le_bytes()[..], &hash, body].concat()
}

#[test]
fn bytes_that_were_cut_or_changed_are_refused() {
    let [sound, _] = sound(true);
    let bytes = sound.to_bytes();
    assert!(PartialComparison::from_bytes(&bytes).unwrap() == sound);
    let step = bytes.len() / 97;
    for end in (0..200).chain((200..bytes.len()).step_by(step)) {
        assert!(
            matches!(PartialComparison::from_bytes(&bytes[..end]), Err(Error::Summary(_))),
            "{end}"
        );
        let mut changed = bytes.clone();
        changed[end] ^= 1 << (end % 8);
        assert!(matches!(PartialComparison::from_bytes(&changed), Err(Error::Summary(_))), "{end}");
    }
    let longer = with_checksum(&[&bytes[HEAD..], &[0]].concat());
    assert!(
        PartialComparison::from_bytes(&longer)
            .unwrap_err()
            .to_string()
            .contains("1 bytes too many")
    );
    let mut later = bytes.clone();
    later[16] = 2;
    let error = PartialComparison::from_bytes(&later).unwrap_err().to_string();
    assert!(
        error.contains("it has version 2, and this laneval reads version 1 at most"),
        "{error}"
    );
    later[16] = 0;
    let error = PartialComparison::from_bytes(&later).unwrap_err().to_string();
    assert!(error.contains("it has version 0, which no laneval has written"), "{error}");
    // The schema of the summary inside.
    let inside =
        PartialComparison::from_bytes(&with_checksum(&[&[2], &bytes[HEAD + 1..]].concat()))
            .unwrap_err();
    assert!(inside.to_string().contains("it has version 2"), "{inside}");
    assert!(Summary::from_bytes(&bytes).unwrap_err().to_string().contains("not a summary"));
    let summary = sound.summary().to_bytes();
    assert!(
        PartialComparison::from_bytes(&summary)
            .unwrap_err()
            .to_string()
            .contains("not a part of a comparison")
    );
}

#[test]
fn a_part_of_a_draft_is_refused_by_name() {
    let draft = [b"laneval compare\n", &sound(false)[0].to_bytes()[16..]].concat();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("draft.part");
    std::fs::write(&path, &draft).unwrap();
    let errors = [
        PartialComparison::from_bytes(&draft).map(drop),
        PartialComparison::read(&path).map(drop),
        Shard::read(&path).map(drop),
    ];
    for error in errors.map(Result::unwrap_err) {
        assert!(
            error.to_string().ends_with("written by a draft of laneval: make it again"),
            "{error}"
        );
    }
}

/// Returns a part with all that one can have, except resamples, of which there are many. No value
/// of its measures depends on a logarithm.
fn frozen(resampled: bool) -> PartialComparison {
    let mut options = ComparisonOptions::default();
    (options.baseline, options.permutations) = (Some("run 0".to_owned()), Permutations::Fixed(3));
    (options.alternative, options.alpha, options.seed) = (Alternative::Better, 0.1, 7);
    (options.margin, options.power, options.tie, options.anova) =
        (Some(0.5), Some(0.25), Some(0.125), true);
    if resampled {
        options.interval = Interval::Bootstrap;
    }
    let view = View { depth: Some(7), judged_only: false };
    let evaluator =
        Evaluator::new(["AP", "RR", "P@2"]).unwrap().with_view(view).with_per_query(true);
    let (scores, summary, judged) = evaluated(&evaluator, &matrix(&[0, 1, 2, 3, 4], 3));
    PartialComparison::compare(&scores, &summary, Some(&judged), &options).unwrap().1
}

/// The fixture was written when schema 1 was frozen. This and every later version reads it, and as
/// long as schema 1 is what is written, the same part makes the same bytes, but for the version. A
/// part with resamples has half a megabyte, so only the hash of its bytes is kept.
#[test]
fn parts_are_frozen() {
    let (part, path) = (frozen(false), fixture("part-1.bin"));
    if std::env::var_os("WRITE_FROZEN_FIXTURE").is_some() {
        part.write(&path).unwrap();
    }
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(bytes[16..20], 1u32.to_le_bytes());
    for found in
        [PartialComparison::from_bytes(&bytes).unwrap(), PartialComparison::read(&path).unwrap()]
    {
        assert_eq!(found, part);
        let found = found.comparison().unwrap();
        assert_eq!((found.queries, found.draws), (5, 3));
        assert_eq!([0, 1, 2].map(|run| found.runs[run].means[1]), [7.0 / 15.0, 5.0 / 12.0, 0.6]);
    }
    assert!(matches!(Shard::read(&path).unwrap(), Shard::Comparison(found) if *found == part));
    let this = |bytes: &[u8]| with_version(bytes, FROZEN, env!("CARGO_PKG_VERSION"));
    assert!(part.to_bytes() == this(&bytes), "the same part makes other bytes");
    let resampled = with_version(&frozen(true).to_bytes(), env!("CARGO_PKG_VERSION"), FROZEN);
    assert_eq!(
        xxhash_rust::xxh3::xxh3_64(&resampled),
        14_597_416_631_692_556_040,
        "{} bytes",
        resampled.len()
    );
}

/// As [`parts_are_frozen`], of a part in which two of six queries have no value of a measure.
#[test]
fn parts_of_queries_without_a_value_are_frozen() {
    let path = fixture("part-nothing-1.bin");
    let queries = ["1", "2", "3", "4", "5", "6"];
    let qrels =
        Qrels::new(queries.map(|query| (query, "a", if "25".contains(query) { 0.0 } else { 1.0 })));
    let run = |name: &str, first: &str| {
        let results = queries.iter().flat_map(|&query| {
            let above = if first.contains(query) { "a" } else { "b" };
            [
                (query, above, 3.0),
                (query, "c", 2.0),
                (query, if above == "a" { "b" } else { "a" }, 1.0),
            ]
        });
        (name.to_owned(), results.collect::<Vec<_>>())
    };
    let matrix =
        Join::default().rankings(&qrels.unwrap(), [run("x", "1234"), run("y", "256")]).unwrap();
    let evaluator = Evaluator::new(["AP", "RR(no_relevant=skip)"]).unwrap().with_per_query(true);
    let mut options = ComparisonOptions::default();
    options.permutations = Permutations::Fixed(3);
    let (scores, summary, judged) = evaluated(&evaluator, &matrix);
    let part = PartialComparison::compare(&scores, &summary, Some(&judged), &options).unwrap().1;
    if std::env::var_os("WRITE_FROZEN_FIXTURE").is_some() {
        part.write(&path).unwrap();
    }
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(bytes[16..20], 1u32.to_le_bytes());
    for found in
        [PartialComparison::from_bytes(&bytes).unwrap(), PartialComparison::read(&path).unwrap()]
    {
        assert_eq!(found, part);
        let found = found.comparison().unwrap();
        assert_eq!((found.queries, &found.skipped[..]), (6, &[0, 2][..]));
        // By hand, of the queries 1, 3, 4 and 6.
        assert_eq!([0, 1].map(|run| found.runs[run].means[1]), [(3.0 + 1.0 / 3.0) / 4.0, 0.5]);
    }
    let this = with_version(&bytes, FROZEN, env!("CARGO_PKG_VERSION"));
    assert!(part.to_bytes() == this, "the same part makes other bytes");
}

/// As [`parts_are_frozen`], of a part that says what was done with the units of its runs.
#[test]
fn parts_of_units_are_frozen() {
    let path = fixture("part-units-1.bin");
    let queries = ["1", "2", "3"];
    let qrels = Qrels::new(queries.map(|query| (query, "a", 1.0))).unwrap();
    let one = [
        ("1", "b#1", 3.0),
        ("1", "a#1", 2.0),
        ("1", "b#2", 1.0),
        ("2", "a#1", 3.0),
        ("2", "a#2", 2.0),
        ("3", "a#1", 1.0),
    ];
    let other =
        queries.map(|query| [(query, "c#1", 3.0), (query, "c#2", 2.0), (query, "a#1", 1.0)]);
    let runs = [("x".to_owned(), one.to_vec()), ("y".to_owned(), other.concat())];
    let join =
        Join { units: DocIdRule::before("#"), repeats: Some(Aggregation::Max), ..Join::default() };
    let matrix = join.rankings(&qrels, runs).unwrap();
    let evaluator = Evaluator::new(["AP", "RR"]).unwrap().with_per_query(true);
    let mut options = ComparisonOptions::default();
    options.permutations = Permutations::Fixed(3);
    let (scores, summary, judged) = evaluated(&evaluator, &matrix);
    let part = PartialComparison::compare(&scores, &summary, Some(&judged), &options).unwrap().1;
    if std::env::var_os("WRITE_FROZEN_FIXTURE").is_some() {
        part.write(&path).unwrap();
    }
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(bytes[16..20], 1u32.to_le_bytes());
    for found in
        [PartialComparison::from_bytes(&bytes).unwrap(), PartialComparison::read(&path).unwrap()]
    {
        assert_eq!(found, part);
        // By hand: b a, a, a of the first run, and c a of the other for each query.
        let found = found.comparison().unwrap();
        assert_eq!([0, 1].map(|run| found.runs[run].means[1]), [2.5 / 3.0, 0.5]);
    }
    let this = with_version(&bytes, FROZEN, env!("CARGO_PKG_VERSION"));
    assert!(part.to_bytes() == this, "the same part makes other bytes");
}

/// What an older version wrote is read, and merges with what this one writes.
#[test]
fn parts_of_older_versions_are_read_and_merged() {
    let [one, other] = sound(false);
    let this = env!("CARGO_PKG_VERSION");
    let mut whole = one.clone();
    whole.merge(&other).unwrap();
    for older in ["0.0.0", "0.1.0-rc.1", FROZEN, this] {
        let mut read =
            PartialComparison::from_bytes(&with_version(&one.to_bytes(), this, older)).unwrap();
        assert!(read == one, "{older}");
        read.merge(&other).unwrap();
        assert!(read == whole, "{older}");
    }
    let error = PartialComparison::from_bytes(&with_version(&one.to_bytes(), this, "9999.0.0"))
        .unwrap_err()
        .to_string();
    assert!(error.contains("it was written by laneval 9999.0.0"), "{error}");
}

/// Uses a part that was read: it compares or gives an error, and is merged or refused.
fn use_it(partial: &PartialComparison, other: &PartialComparison) {
    if let Ok(comparison) = partial.comparison() {
        for format in [Format::Csv, Format::Json, Format::Table] {
            let mut text = Vec::new();
            format
                .write_comparison(
                    &comparison,
                    &[],
                    &Look { per_query: true, ..Look::default() },
                    &mut text,
                )
                .unwrap();
        }
    }
    for (one, other) in [(partial, other), (other, partial)] {
        let mut merged = one.clone();
        if merged.merge(other).is_ok() {
            let _ = merged.comparison();
        }
    }
    assert!(PartialComparison::from_bytes(&partial.to_bytes()).expect("its own bytes") == *partial);
}

/// Every byte replaced by an odd one, with a checksum that fits.
#[test]
fn forged_bytes_are_refused_or_harmless() {
    let [one, other] = sound(false);
    let body = one.to_bytes()[HEAD..].to_vec();
    let mut refused = 0;
    for at in 0..body.len() {
        let mut forged = body.clone();
        forged[at] = [0, 0xff, 0x80, body[at].wrapping_add(1)][at % 4];
        match PartialComparison::from_bytes(&with_checksum(&forged)) {
            Ok(partial) if at % 8 == 0 => use_it(&partial, &other),
            Ok(_) => (),
            Err(error) => {
                assert!(matches!(error, Error::Summary(_)), "{error:?}");
                refused += 1;
            }
        }
    }
    assert!(refused > body.len() / 4, "{refused} of {}", body.len());
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(64),
        max_shrink_iters: 60,
        ..ProptestConfig::default()
    })]

    #[test]
    fn changed_bytes_with_their_checksum_are_refused_or_harmless(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
        resampled in prop::bool::weighted(0.1),
    ) {
        let [one, other] = sound(resampled);
        let mut body = one.to_bytes()[HEAD..].to_vec();
        for (at, byte) in changes {
            let at = at.index(body.len());
            body[at] = byte;
        }
        body.truncate(cut.map_or(body.len(), |cut| cut.index(body.len())));
        match PartialComparison::from_bytes(&with_checksum(&body)) {
            Ok(partial) => use_it(&partial, &other),
            Err(error) => prop_assert!(matches!(error, Error::Summary(_)), "{error:?}"),
        }
    }
}
