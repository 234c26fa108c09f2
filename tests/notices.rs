//! The notices about runs, judgments and measures, and the cases without a notice.

use laneval::labels::ScoreWarnings;
use laneval::{Evaluator, Input, Join, LabelMatrix, Notice, Scores, TieBreak};

const QRELS: &str = "1 0 b 1\n1 0 a 0\n2 0 b 1\n2 0 a 0\n3 0 b 2\n";

fn text(name: &str, text: &str) -> Input {
    Input::Bytes { name: name.to_owned(), bytes: text.as_bytes().to_vec() }
}

fn join(join: Join, qrels: &str, run: &str) -> LabelMatrix {
    join.files(text("qrels", qrels), [text("run", run)]).unwrap()
}

fn scores(qrels: &str, run: &str, names: &[&str]) -> Scores {
    Evaluator::new(names.iter().copied())
        .unwrap()
        .evaluate(&join(Join::default(), qrels, run))
        .unwrap()
}

/// Returns the notices of a run, which is given as lines of (query, docno, rank, score).
fn of_run(how: Join, lines: &[(u32, &str, &str, f64)]) -> Vec<Notice> {
    let line = |(query, docno, rank, score): &(u32, &str, &str, f64)| {
        format!("{query} Q0 {docno} {rank} {score} t\n")
    };
    let run: String = lines.iter().map(line).collect();
    let ties = how.ties;
    join(how, QRELS, &run).runs()[0].seen.notices(ties)
}

#[test]
fn an_ordinary_run_is_not_worth_a_word() {
    let lines = [
        (1, "b", "1", 2.0),
        (1, "a", "2", 1.0),
        (2, "a", "1", 7.0),
        (2, "b", "2", 7.0),
        (3, "b", "1", 1.0),
    ];
    assert_eq!(of_run(Join::default(), &lines), []);
    let scores = scores(QRELS, "1 Q0 b 1 1 t\n", &["AP", "nDCG@10", "AP(rel=2)"]);
    assert!(scores.notices.is_empty() && scores.runs[0].notices.is_empty());
}

#[test]
fn equal_scores_are_noticed_where_all_of_a_query_are() {
    let mut lines = [
        (1, "b", "1", 0.0),
        (1, "a", "2", 0.0),
        (2, "b", "1", 5.0),
        (2, "a", "2", 5.0),
        (3, "b", "1", 1.0),
    ];
    for ties in [TieBreak::DocnoDescending, TieBreak::Input] {
        let how = Join { ties, ..Join::default() };
        assert_eq!(of_run(how, &lines), [Notice::EqualScores { queries: 2, ties }]);
    }
    lines[2].3 = 6.0;
    assert_eq!(of_run(Join::default(), &lines), []);
    assert_eq!(of_run(Join::default(), &lines[4..]), [], "one result has no other to be equal to");
}

#[test]
fn ranks_that_contradict_the_scores_are_noticed() {
    let ascending =
        |query| [(query, "a", "1", 0.1), (query, "c", "2", 0.2), (query, "b", "3", 0.3)];
    let descending =
        |query| [(query, "a", "1", 0.3), (query, "c", "2", 0.2), (query, "b", "3", 0.1)];
    let two = [ascending(1), ascending(2), descending(3)].concat();
    assert_eq!(of_run(Join::default(), &two), [Notice::ContraryRanks { queries: 2, total: 3 }]);
    let mut turned = two.clone();
    turned.reverse();
    assert_eq!(of_run(Join::default(), &turned), [Notice::ContraryRanks { queries: 2, total: 3 }]);
    let one = [ascending(1), descending(2), descending(3)].concat();
    assert_eq!(of_run(Join::default(), &one), [Notice::ContraryRanks { queries: 1, total: 3 }]);
    assert_eq!(
        of_run(Join::default(), &[descending(1), descending(2), descending(3)].concat()),
        []
    );
    // The first and the last line agree, and two between do not.
    let within: Vec<(u32, String, String, f64)> = (0..12)
        .map(|at| {
            (
                1,
                format!("d{at}"),
                (at + 1).to_string(),
                [0, 1, 6, 3, 4, 5, 2, 7, 8, 9, 10, 11].map(|at| 20.0 - f64::from(at))[at],
            )
        })
        .collect();
    let within: Vec<_> = within
        .iter()
        .map(|(query, docno, rank, score)| (*query, &docno[..], &rank[..], *score))
        .collect();
    assert_eq!(of_run(Join::default(), &within), [Notice::ContraryRanks { queries: 1, total: 1 }]);
    let unranked = |rank| two.iter().map(|line| (line.0, line.1, rank, line.3)).collect::<Vec<_>>();
    assert_eq!(of_run(Join::default(), &unranked("0")), []);
    assert_eq!(of_run(Join::default(), &unranked("-")), []);
}

#[test]
fn exchanged_columns_of_ranks_and_scores_are_noticed() {
    let exchanged =
        |query| [(query, "b", "12.5", 1.0), (query, "a", "11.25", 2.0), (query, "c", "9.75", 3.0)];
    let two = [exchanged(1), exchanged(2)].concat();
    assert_eq!(of_run(Join::default(), &two), [Notice::ExchangedColumns { queries: 2, total: 2 }]);
    let with_another = [&two[..], &[(3, "b", "1", 2.5), (3, "a", "2", 2.0)]].concat();
    assert_eq!(
        of_run(Join::default(), &with_another),
        [Notice::ExchangedColumns { queries: 2, total: 3 }]
    );
    assert!(Notice::ExchangedColumns { queries: 2, total: 3 }.is_warning());
    // Scores that do not count the lines, a column of decimals that goes with the scores, and
    // words.
    for (ranks, scores) in [
        (["12.5", "11.25", "9.75"], [1.0, 2.0, 7.0]),
        (["0.5", "1.5", "2.5"], [1.0, 2.0, 3.0]),
        (["x", "y", "z"], [1.0, 2.0, 3.0]),
    ] {
        let lines: Vec<_> =
            (0..3).map(|at| (1, ["b", "a", "c"][at], ranks[at], scores[at])).collect();
        assert_eq!(of_run(Join::default(), &lines), [], "{ranks:?} {scores:?}");
    }
}

#[test]
fn judgments_and_run_that_are_exchanged_are_noticed_by_their_numbers() {
    let graded = "{\"1\": {\"a\": 2, \"b\": 0}, \"2\": {\"a\": 1}, \"3\": {\"c\": 1, \"d\": 1}}";
    let scored =
        "{\"1\": {\"a\": 0.5, \"b\": 2.25}, \"2\": {\"a\": 1.5, \"x\": 1}, \"3\": {\"c\": 0.75}}";
    let noticed =
        |qrels, run| join(Join::default(), qrels, run).runs()[0].seen.notices(TieBreak::default());
    assert_eq!(noticed(scored, graded), [Notice::ScoresLikeGrades { queries: 3 }]);
    assert_eq!(noticed(graded, scored), []);
    assert_eq!(noticed(graded, graded), [], "no grade is a fraction");
    // Ranks turned round are whole numbers too, and count the results.
    let turned = "{\"1\": {\"a\": 3, \"b\": 2, \"c\": 1}, \"2\": {\"a\": 2, \"b\": 1}, \"3\": \
                  {\"c\": 2, \"x\": 1}}";
    assert_eq!(noticed(scored, turned), []);
}

#[test]
fn a_blank_in_an_id_is_an_error_and_not_another_score() {
    let error = |run| {
        Join::default().files(text("qrels", QRELS), [text("run", run)]).unwrap_err().to_string()
    };
    let found = error("1 Q0 a 1 0.91 t\n1 Q0 My Doc 2 0.80 t\n1 Q0 b 3 0.55 t\n");
    assert!(found.contains("run:2: 7 fields in '1 Q0 My Doc 2 0.80 t'"), "{found}");
    assert!(found.contains("a blank in the id 'My Doc'?"), "{found}");
    // A tag of two words, beside a rank and beside none.
    for run in [
        "1 Q0 a 1 0.91 my tag\n1 Q0 b 2 0.5 t\n",
        "1 Q0 a - 0.91 my tag\n1 Q0 b - 0.5 t\n",
        "1 Q0 a - 0.91 2 t\n",
    ] {
        let run = Join::default().files(text("qrels", QRELS), [text("run", run)]);
        assert!(run.is_ok());
    }
    let trec = Join { dialect: laneval::Dialect::Trec10, ..Join::default() };
    trec.files(text("qrels", QRELS), [text("run", "1 Q0 My Doc 2 0.80 t\n")]).unwrap();
}

/// trec_eval 9 and pytrec_eval, which hold scores as f32, order the first two documents by id; b is
/// relevant.
#[test]
fn ties_in_f32_are_noticed_where_they_change_the_order_of_labels() {
    let tied = [(1, "b", "1", 27.412345678), (1, "c", "2", 27.412345677), (1, "a", "3", 1.0)];
    let noticed = [Notice::TiesInF32 { queries: 1 }];
    assert_eq!(of_run(Join::default(), &tied), noticed);
    let mut scattered = tied;
    scattered.rotate_left(1);
    assert_eq!(of_run(Join::default(), &scattered), noticed, "in any order");
    let score = laneval::ScoreType::F32;
    assert_eq!(of_run(Join { score, ..Join::default() }, &tied), []);
    let depth = std::num::NonZeroU32::new(1);
    assert_eq!(
        of_run(Join { depth, ..Join::default() }, &tied),
        noticed,
        "another document is the first"
    );
    let same_order = [(1, "c", "1", 27.412345678), (1, "b", "2", 27.412345677)];
    assert_eq!(of_run(Join::default(), &same_order), []);
    let same_labels = [(1, "x", "1", 27.412345678), (1, "y", "2", 27.412345677)];
    assert_eq!(of_run(Join::default(), &same_labels), []);
    for far in [[1e-50, 1e-60], [-1e-60, -1e-50], [1e300, 1e200]] {
        let lines = [(1, "b", "1", far[0]), (1, "c", "2", far[1])];
        assert_eq!(of_run(Join::default(), &lines), noticed, "{far:?}");
    }
}

#[test]
fn a_level_above_every_grade_is_noticed_once() {
    let run = "1 Q0 b 1 1 t\n";
    let found =
        scores(QRELS, run, &["AP(rel=9)", "nDCG", "P(rel=9)@5", "RR", "R(rel=3)@5", "nDCG(rel=9)"]);
    let notice = |names: &[&str], level| Notice::NothingRelevant {
        measures: names.iter().map(|&name| name.to_owned()).collect(),
        level,
        highest: 2.0,
    };
    let expected =
        [notice(&["AP(rel=9)", "P(rel=9)@5", "nDCG(rel=9)"], 9.0), notice(&["R(rel=3)@5"], 3.0)];
    assert_eq!(found.notices, expected);
    let ratings = scores("1 0 b 0.9\n", run, &["AP", "nDCG", "INST(gain=grade)", "AP(rel=0.5)"]);
    let [Notice::NothingRelevant { measures, level: 1.0, highest: 0.9 }] = &ratings.notices[..]
    else {
        panic!("{:?}", ratings.notices)
    };
    assert_eq!(measures, &["AP"]);
    assert!(ratings.notices[0].to_string().contains("--rel"));
}

#[test]
fn fractions_and_ratings_are_noticed_beside_the_default_level() {
    let run = "1 Q0 b 1 1 t\n";
    let noticed = |qrels: &str, names: &[&str]| scores(qrels, run, names).notices;
    let names = ["AP", "RR(rel=0.5)", "nDCG", "P@5"];
    let measures = vec!["AP".to_owned(), "P@5".to_owned()];
    let fractions = "1 0 b 1\n1 0 c 0.25\n1 0 d 0.5\n1 0 e 0\n";
    let expected = Notice::FractionsNotRelevant { measures: measures.clone(), lowest: 0.25 };
    assert_eq!(noticed(fractions, &names), std::slice::from_ref(&expected));
    assert_eq!(
        expected.to_string(),
        "AP, P@5: grades below 1 are not relevant (the lowest above 0 is 0.25): --rel or rel= sets \
         the lowest relevant grade"
    );
    assert_eq!(noticed(fractions, &["AP(rel=0.25)", "nDCG"]), []);
    for highest in [5.0, 10.0] {
        let ratings = format!("1 0 b 1\n1 0 c {highest}\n1 0 d 3\n");
        let expected = Notice::LowestRelevant { measures: measures.clone(), highest };
        assert_eq!(noticed(&ratings, &names), [expected]);
    }
    // Grades as they mostly are.
    for usual in
        ["1 0 b 1\n", "1 0 b 1\n1 0 c 0\n1 0 d 5\n", "1 0 b 1\n1 0 c 3\n", "1 0 b 2\n1 0 c 5\n"]
    {
        assert_eq!(noticed(usual, &names), [], "{usual}");
    }
}

#[test]
fn averages_of_other_queries_are_noticed_and_none_is_best() {
    let qrels = "1 0 b 1\n2 0 b 1\n3 0 b 1\n";
    let runs = [
        ("one", "1 Q0 b 1 1 t\n2 Q0 b 1 1 t\n3 Q0 x 1 1 t\n"),
        ("other", "1 Q0 b 1 1 t\n2 Q0 x 1 1 t\n3 Q0 x 1 1 t\n"),
    ];
    let matrix = Join::default()
        .files(text("qrels", qrels), runs.map(|(name, run)| text(name, run)))
        .unwrap();
    let evaluator = Evaluator::new(["AP(no_relevant=skip)", "AP"])
        .unwrap()
        .with_relevant_from("retrieved".parse().unwrap());
    let scores = evaluator.evaluate(&matrix).unwrap();
    let measures = vec!["AP(no_relevant=skip)".to_owned()];
    let unlike = Notice::UnlikeQueries { measures, queries: [1, 2] };
    assert!(scores.notices.contains(&unlike), "{:?}", scores.notices);
    assert!(unlike.to_string().contains("of 1 to 2 queries from run to run"), "{unlike}");
    let mut table = Vec::new();
    laneval::report::Format::Table
        .write(&scores, &laneval::report::ReportOptions::default(), &mut table)
        .unwrap();
    let table = String::from_utf8(table).unwrap();
    // AP of all three queries has a best one, and that of other queries has none.
    assert!(table.contains("0.6667*") && !table.contains("1.0000*"), "{table}");
    assert!(
        !evaluator
            .with_relevant_from("judged".parse().unwrap())
            .evaluate(&matrix)
            .unwrap()
            .notices
            .contains(&unlike)
    );
}

#[test]
fn equal_scores_that_decide_are_noticed_in_arrays() {
    use laneval::TiedValue;
    use laneval::arrays::{Rankings, Shape};
    let labels = [1u8, 0, 0, 0, 0, 0, 1, 0];
    let noticed = |names: &[&str], scores: &[f32; 8], tied| {
        let rankings = Rankings::scores(scores, &labels, Shape::dense(4)).unwrap();
        let evaluator = Evaluator::new(names.iter().copied()).unwrap().with_tied_value(tied);
        let found = evaluator.rankings(&rankings).unwrap().runs[0].notices.clone();
        if tied == TiedValue::Ranked {
            let matrix = LabelMatrix::from_rankings("mine", &rankings).unwrap();
            assert_eq!(matrix.runs()[0].seen.in_arrays, 2);
        }
        found
    };
    let all = Notice::DecidedByTies { queries: 2, total: 2 };
    assert!(all.is_warning());
    assert_eq!(noticed(&["RR"], &[0.0; 8], TiedValue::Ranked), std::slice::from_ref(&all));
    assert_eq!(noticed(&["RR"], &[0.0; 8], TiedValue::Average), []);
    // One of them, that is more than a tenth; ties among documents that are not relevant, behind
    // the first; none.
    let one = [0.0, 0.0, 0.0, 0.0, 0.4, 0.3, 0.2, 0.1];
    assert_eq!(
        noticed(&["P@2"], &one, TiedValue::Ranked),
        [Notice::DecidedByTies { queries: 1, total: 2 }]
    );
    let behind = [0.9, 0.1, 0.1, 0.1, 0.4, 0.3, 0.2, 0.2];
    assert_eq!(
        noticed(&["P@3"], &behind, TiedValue::Ranked),
        [Notice::DecidedByTies { queries: 1, total: 2 }]
    );
    assert_eq!(noticed(&["P@2"], &behind, TiedValue::Ranked), []);
    assert_eq!(noticed(&["AP"], &[0.9, 0.1, 0.1, 0.1, 0.4, 0.2, 0.3, 0.1], TiedValue::Ranked), []);
}

#[test]
fn the_file_of_the_judgments_as_a_run_is_told() {
    use laneval::text::DetectedFormats;
    use std::sync::Arc;
    let folder = tempfile::TempDir::new().unwrap();
    let warnings = |name: &str, text: &str, run: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let recognised = Arc::new(DetectedFormats::default());
        let join = Join { recognised: Some(recognised.clone()), ..Join::default() };
        join.files(path, [folder.path().join(run)]).unwrap();
        recognised
            .all()
            .into_iter()
            .filter(|text| text.wrong)
            .map(|text| text.what)
            .collect::<Vec<_>>()
    };
    let twice =
        ["is the file of the judgments, too, and ranks documents by their grades: judgments and \
         then a run were expected"];
    assert_eq!(warnings("a.json", "{\"1\": {\"a\": 1, \"b\": 0}}", "./a.json"), twice);
    assert_eq!(warnings("a.csv", "query_id,doc_id,score\n1,a,1\n1,b,0\n", "a.csv"), twice);
    // Another file of the same text, and a table with grades and scores.
    std::fs::write(folder.path().join("b.json"), "{\"1\": {\"a\": 1, \"b\": 0}}").unwrap();
    assert!(warnings("a.json", "{\"1\": {\"a\": 1, \"b\": 0}}", "b.json").is_empty());
    assert!(
        warnings("c.csv", "query_id,doc_id,grade,score\n1,a,1,0.5\n1,b,0,0.7\n", "c.csv")
            .is_empty()
    );
}

#[test]
fn files_keep_nothing_of_what_was_seen() {
    let run = "1 Q0 b 1 1 t\n1 Q0 a 2 1 t\n";
    let matrix = join(Join::default(), QRELS, run);
    assert_eq!(
        matrix.runs()[0].seen,
        ScoreWarnings { ranked: 1, judged: 1, several: 1, equal: 1, ..ScoreWarnings::default() }
    );
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("run.lmx");
    matrix.write(&path).unwrap();
    assert_eq!(LabelMatrix::map(&path).unwrap().runs()[0].seen, ScoreWarnings::default());
}
