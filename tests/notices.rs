//! The notices about runs, judgments and measures, and the cases without a notice.

use laneval::labels::ScoresSeen;
use laneval::{Evaluator, Input, Join, LabelMatrix, Notice, Scores, Ties};

const QRELS: &str = "1 0 b 1\n1 0 a 0\n2 0 b 1\n2 0 a 0\n3 0 b 2\n";

fn text(name: &str, text: &str) -> Input {
    Input::Bytes { name: name.to_owned(), bytes: text.as_bytes().to_vec() }
}

fn join(join: Join, qrels: &str, run: &str) -> LabelMatrix {
    join.files(text("qrels", qrels), [text("run", run)]).unwrap()
}

fn scores(qrels: &str, run: &str, names: &[&str]) -> Scores {
    Evaluator::new(names.iter().copied()).unwrap().evaluate(&join(Join::default(), qrels, run)).unwrap()
}

/// The notices of a run, which is given as lines of (query, docno, rank, score).
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
    let lines =
        [(1, "b", "1", 2.0), (1, "a", "2", 1.0), (2, "a", "1", 7.0), (2, "b", "2", 7.0), (3, "b", "1", 1.0)];
    assert_eq!(of_run(Join::default(), &lines), []);
    let scores = scores(QRELS, "1 Q0 b 1 1 t\n", &["AP", "nDCG@10", "AP(rel=2)"]);
    assert!(scores.notices.is_empty() && scores.runs[0].notices.is_empty());
}

#[test]
fn equal_scores_are_noticed_where_all_of_a_query_are() {
    let mut lines =
        [(1, "b", "1", 0.0), (1, "a", "2", 0.0), (2, "b", "1", 5.0), (2, "a", "2", 5.0), (3, "b", "1", 1.0)];
    for ties in [Ties::DocnoDescending, Ties::Input] {
        let how = Join { ties, ..Join::default() };
        assert_eq!(of_run(how, &lines), [Notice::EqualScores { queries: 2, ties }]);
    }
    lines[2].3 = 6.0;
    assert_eq!(of_run(Join::default(), &lines), []);
    assert_eq!(of_run(Join::default(), &lines[4..]), [], "one result has no other to be equal to");
}

#[test]
fn ranks_that_contradict_the_scores_are_noticed_in_most_queries() {
    let ascending = |query| [(query, "a", "1", 0.1), (query, "c", "2", 0.2), (query, "b", "3", 0.3)];
    let descending = |query| [(query, "a", "1", 0.3), (query, "c", "2", 0.2), (query, "b", "3", 0.1)];
    let two = [ascending(1), ascending(2), descending(3)].concat();
    assert_eq!(of_run(Join::default(), &two), [Notice::ContraryRanks { queries: 2, of: 3 }]);
    let mut turned = two.clone();
    turned.reverse();
    assert_eq!(of_run(Join::default(), &turned), [Notice::ContraryRanks { queries: 2, of: 3 }]);
    assert_eq!(of_run(Join::default(), &[ascending(1), descending(2), descending(3)].concat()), []);
    let unranked = |rank| two.iter().map(|line| (line.0, line.1, rank, line.3)).collect::<Vec<_>>();
    assert_eq!(of_run(Join::default(), &unranked("0")), []);
    assert_eq!(of_run(Join::default(), &unranked("-")), []);
}

#[test]
fn exchanged_columns_of_ranks_and_scores_are_noticed() {
    let exchanged =
        |query| [(query, "b", "12.5", 1.0), (query, "a", "11.25", 2.0), (query, "c", "9.75", 3.0)];
    let two = [exchanged(1), exchanged(2)].concat();
    assert_eq!(of_run(Join::default(), &two), [Notice::ExchangedColumns { queries: 2, of: 2 }]);
    let with_another = [&two[..], &[(3, "b", "1", 2.5), (3, "a", "2", 2.0)]].concat();
    assert_eq!(of_run(Join::default(), &with_another), [Notice::ExchangedColumns { queries: 2, of: 3 }]);
    assert!(Notice::ExchangedColumns { queries: 2, of: 3 }.is_warning());
    // Scores that do not count the lines, a column of decimals that goes with the scores, and words.
    for (ranks, scores) in [
        (["12.5", "11.25", "9.75"], [1.0, 2.0, 7.0]),
        (["0.5", "1.5", "2.5"], [1.0, 2.0, 3.0]),
        (["x", "y", "z"], [1.0, 2.0, 3.0]),
    ] {
        let lines: Vec<_> = (0..3).map(|at| (1, ["b", "a", "c"][at], ranks[at], scores[at])).collect();
        assert_eq!(of_run(Join::default(), &lines), [], "{ranks:?} {scores:?}");
    }
}

#[test]
fn judgments_and_run_that_are_exchanged_are_noticed_by_their_numbers() {
    let graded = "{\"1\": {\"a\": 2, \"b\": 0}, \"2\": {\"a\": 1}, \"3\": {\"c\": 1, \"d\": 1}}";
    let scored = "{\"1\": {\"a\": 0.5, \"b\": 2.25}, \"2\": {\"a\": 1.5, \"x\": 1}, \"3\": {\"c\": 0.75}}";
    let noticed = |qrels, run| join(Join::default(), qrels, run).runs()[0].seen.notices(Ties::default());
    assert_eq!(noticed(scored, graded), [Notice::ScoresLikeGrades { queries: 3 }]);
    assert_eq!(noticed(graded, scored), []);
    assert_eq!(noticed(graded, graded), [], "no grade is a fraction");
    // Ranks turned round are whole numbers too, and count the results.
    let turned =
        "{\"1\": {\"a\": 3, \"b\": 2, \"c\": 1}, \"2\": {\"a\": 2, \"b\": 1}, \"3\": {\"c\": 2, \"x\": 1}}";
    assert_eq!(noticed(scored, turned), []);
}

#[test]
fn a_blank_in_an_id_is_an_error_and_not_another_score() {
    let error =
        |run| Join::default().files(text("qrels", QRELS), [text("run", run)]).unwrap_err().to_string();
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

/// trec_eval 9 and pytrec_eval, which hold scores as f32, order the first two documents by id; b is relevant.
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
    assert_eq!(of_run(Join { depth, ..Join::default() }, &tied), noticed, "another document is the first");
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
    let found = scores(QRELS, run, &["AP(rel=9)", "nDCG", "P(rel=9)@5", "RR", "R(rel=3)@5", "nDCG(rel=9)"]);
    let notice = |names: &[&str], level| Notice::NothingRelevant {
        measures: names.iter().map(|&name| name.to_owned()).collect(),
        level,
        highest: 2.0,
    };
    let expected = [notice(&["AP(rel=9)", "P(rel=9)@5", "nDCG(rel=9)"], 9.0), notice(&["R(rel=3)@5"], 3.0)];
    assert_eq!(found.notices, expected);
    let ratings = scores("1 0 b 0.9\n", run, &["AP", "nDCG", "INST(gain=grade)", "AP(rel=0.5)"]);
    let [Notice::NothingRelevant { measures, level: 1.0, highest: 0.9 }] = &ratings.notices[..] else {
        panic!("{:?}", ratings.notices)
    };
    assert_eq!(measures, &["AP"]);
    assert!(ratings.notices[0].to_string().contains("--rel"));
}

#[test]
fn files_keep_nothing_of_what_was_seen() {
    let run = "1 Q0 b 1 1 t\n1 Q0 a 2 1 t\n";
    let matrix = join(Join::default(), QRELS, run);
    assert_eq!(
        matrix.runs()[0].seen,
        ScoresSeen { ranked: 1, judged: 1, several: 1, equal: 1, ..ScoresSeen::default() }
    );
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("run.lmx");
    matrix.write(&path).unwrap();
    assert_eq!(LabelMatrix::map(&path).unwrap().runs()[0].seen, ScoresSeen::default());
}
