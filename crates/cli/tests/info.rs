//! What `laneval info` says of judgments and runs, against counts of their lines.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::folder::Folder;
use crate::xorshift::random;

/// A document of a query with its grade or score.
type Line = (String, String, f64);

/// Makes judgments with grades from −1 to `grades` − 2, and a run with equal scores, each with
/// queries of its own.
fn data(seed: u64, grades: u64) -> [Vec<Line>; 2] {
    let mut random = random(seed);
    let (mut judged, mut run) = (Vec::new(), Vec::new());
    for query in 0..9 {
        let id = format!("q{query}");
        for doc in 0..40 {
            if query > 1 && random(3) == 0 {
                // The first judged query has nothing relevant.
                let grade = if query == 2 { 0.0 } else { random(grades) as f64 - 1.0 };
                judged.push((id.clone(), format!("d{doc}"), grade));
            }
            if query < 7 && random(4) > 0 {
                run.push((id.clone(), format!("d{doc}"), random(25) as f64 / 2.0));
            }
        }
    }
    [judged, run]
}

fn qrels_text(judged: &[Line]) -> String {
    judged.iter().map(|(query, doc, grade)| format!("{query} 0 {doc} {grade}\n")).collect()
}

fn run_text(run: &[Line]) -> String {
    run.iter().map(|(query, doc, score)| format!("{query} Q0 {doc} 1 {score} my tag\n")).collect()
}

fn by_query(lines: &[Line]) -> BTreeMap<&str, Vec<&Line>> {
    let mut queries: BTreeMap<&str, Vec<&Line>> = BTreeMap::new();
    lines.iter().for_each(|line| queries.entry(&line.0).or_default().push(line));
    queries
}

fn spread(counts: impl Iterator<Item = usize>) -> Value {
    let mut counts: Vec<usize> = counts.collect();
    counts.sort_unstable();
    json!({
        "min": counts[0],
        "median": counts[(counts.len() - 1) / 2],
        "max": counts[counts.len() - 1],
    })
}

fn first_few(ids: Vec<&str>) -> Value {
    json!({"count": ids.len(), "first": ids.iter().take(5).collect::<Vec<_>>()})
}

fn counted_judgments(judged: &[Line]) -> Value {
    let queries = by_query(judged);
    let relevant = |lines: &Vec<&Line>| lines.iter().filter(|line| line.2 >= 1.0).count();
    let grades: BTreeSet<i64> =
        judged.iter().map(|line| line.2 as i64).filter(|&grade| grade >= 0).collect();
    let with = |grade: i64| judged.iter().filter(|line| line.2 as i64 == grade).count();
    json!({
        "queries": queries.len(),
        "judgments": judged.len(),
        "relevant": queries.values().map(relevant).sum::<usize>(),
        "judged_per_query": spread(queries.values().map(Vec::len)),
        "relevant_per_query": spread(queries.values().map(relevant)),
        "nothing_relevant": first_few(
            queries
                .iter()
                .filter(|(_, lines)| relevant(lines) == 0)
                .map(|entry| *entry.0)
                .collect(),
        ),
        "negative": with(-1),
        "grades": grades
            .iter()
            .map(|&grade| json!({"grade": grade as f64, "judgments": with(grade)}))
            .collect::<Vec<_>>(),
    })
}

fn counted_run(run: &[Line]) -> Value {
    let queries = by_query(run);
    let tied = |lines: &Vec<&Line>| {
        lines.iter().filter(|one| lines.iter().filter(|other| one.2 == other.2).count() > 1).count()
    };
    json!({
        "queries": queries.len(),
        "results": run.len(),
        "depth": spread(queries.values().map(Vec::len)),
        "ties": {
            "queries": queries.values().filter(|lines| tied(lines) > 0).count(),
            "results": queries.values().map(tied).sum::<usize>(),
        },
        "tag": "my tag",
    })
}

fn counted_pair(judged: &[Line], run: &[Line]) -> Value {
    let (judgments, rankings) = (by_query(judged), by_query(run));
    let grades: BTreeMap<(&str, &str), f64> =
        judged.iter().map(|(q, d, g)| ((&q[..], &d[..]), *g)).collect();
    let grade = |line: &Line| grades.get(&(&line.0[..], &line.1[..])).copied();
    let common: Vec<&str> =
        judgments.keys().filter(|id| rankings.contains_key(*id)).copied().collect();
    let share = |depth: usize| {
        let of_query = |id: &&str| {
            let mut ranking = rankings[id].clone();
            ranking.sort_by(|one, other| other.2.total_cmp(&one.2).then(other.1.cmp(&one.1)));
            ranking.truncate(depth);
            ranking.iter().filter(|line| grade(line).is_some()).count() as f64
                / ranking.len() as f64
        };
        common.iter().map(of_query).sum::<f64>() / common.len() as f64
    };
    let found = |least: f64| {
        run.iter().filter(|line| grade(line).is_some_and(|grade| grade >= least)).count()
    };
    let all = |least: f64| judged.iter().filter(|line| line.2 >= least).count();
    let only = |one: &BTreeMap<&str, Vec<&Line>>, other: &BTreeMap<&str, Vec<&Line>>| {
        first_few(one.keys().filter(|id| !other.contains_key(*id)).copied().collect())
    };
    json!({
        "only_judged": only(&judgments, &rankings),
        "only_in_run": only(&rankings, &judgments),
        "judged_10": share(10),
        "judged_100": share(100),
        "judged_retrieved": found(-1.0),
        "judged_missed": all(-1.0) - found(-1.0),
        "relevant_retrieved": found(1.0),
        "relevant_missed": all(1.0) - found(1.0),
    })
}

/// Compares every entry of `expected`; numbers may differ by rounding.
fn assert_has(found: &Value, expected: &Value) {
    for (key, value) in expected.as_object().unwrap() {
        match (found[key].as_f64(), value.as_f64()) {
            (Some(one), Some(other)) => {
                assert!((one - other).abs() < 1e-12, "{key}: {one} for {other}")
            }
            _ => assert_eq!(&found[key], value, "{key}"),
        }
    }
}

fn json_of(folder: &Folder, args: &str) -> Value {
    serde_json::from_str(&folder.out(&format!("info {args} --format json"))).unwrap()
}

/// A few grades, many, and more than there are codes.
#[test]
fn texts_are_counted_as_their_lines_are() {
    for (seed, grades) in [(1, 4), (2, 15), (3, 3)] {
        let folder = Folder::empty();
        let [judged, run] = data(seed, grades);
        folder.put("qrels", qrels_text(&judged));
        folder.put("a.run", run_text(&run));
        assert_has(
            &json_of(&folder, "qrels")["contents"]["judgments"],
            &counted_judgments(&judged),
        );
        assert_has(&json_of(&folder, "a.run")["contents"]["run"], &counted_run(&run));
        // Other formats, and queries whose lines are apart.
        folder.out("convert qrels --qrels -o qrels.tsv");
        folder.out("convert a.run -o a.jsonl.gz");
        let mut mixed = run.clone();
        mixed.sort_by(|one, other| one.1.cmp(&other.1));
        folder.put("mixed.run", run_text(&mixed));
        let found = json_of(&folder, "qrels.tsv a.run b=a.jsonl.gz mixed.run");
        assert_has(&found["judgments"], &counted_judgments(&judged));
        for (entry, name) in
            found["runs"].as_array().unwrap().iter().zip(["a.run", "b", "mixed.run"])
        {
            assert_eq!(entry["run"], name);
            let mut counted = counted_run(&run);
            if name == "b" {
                counted["tag"] = entry["tag"].clone();
            }
            assert_has(entry, &counted);
            assert_has(entry, &counted_pair(&judged, &run));
        }
        let alone = json_of(&folder, "mixed.run");
        assert_has(&alone["contents"]["run"], &counted_run(&run));
        assert_eq!(folder.run_with("info qrels -", &run_text(&mixed)).code, 0);
    }
}

/// More distinct grades than codes are counted in ranges, and relevant at 1 all the same.
#[test]
fn many_grades_are_counted_in_ranges() {
    let folder = Folder::empty();
    let judged: Vec<Line> = (0..600)
        .map(|at| (format!("q{}", at % 3), format!("d{at}"), f64::from(at) / 100.0))
        .collect();
    folder.put("qrels", qrels_text(&judged));
    folder.put("run", run_text(&judged));
    let found = json_of(&folder, "qrels run");
    assert_eq!(found["judgments"]["relevant"], 500);
    assert_eq!(found["runs"][0]["relevant_retrieved"], 500);
    let ranges = found["judgments"]["grades"].as_array().unwrap();
    assert_eq!(ranges.len(), 10);
    assert_eq!(ranges.iter().map(|range| range["judgments"].as_u64().unwrap()).sum::<u64>(), 600);
    for range in ranges {
        let within = |line: &&Line| {
            range["grade"].as_f64() <= Some(line.2) && Some(line.2) <= range["to"].as_f64()
        };
        assert_eq!(
            judged.iter().filter(within).count() as u64,
            range["judgments"].as_u64().unwrap()
        );
    }
}

#[test]
fn people_read_lines() {
    let folder = Folder::new();
    let stdout = folder.out("info qrels bm25.run");
    for line in [
        "judgments      qrels\nqueries        3\njudgments      6: 1, 2, 3 per query (least, \
         median, most)\n",
        "relevant       4: 1, 1, 2 per query (least, median, most)\nnone relevant  no query\n",
        "negative          1  16.7 %\n0                 1  16.7 %\n",
        "run            bm25.run\nqueries        3\nresults        6: 1, 2, 3 per query (least, \
         median, most)\n",
        "ties           no results of a query have equal scores\ntag            bm25\n",
        "only judged    1 query: q3\nonly in run    1 query: q9\n",
        "judged share   83.3 % of the first 10, 83.3 % of the first 100\n",
        "judged         4 of 6 documents retrieved, 2 missed\nrelevant       3 of 4 documents \
         retrieved, 1 missed\n",
    ] {
        assert!(stdout.contains(line), "{line}\n{stdout}");
    }
    folder.put("tied.run", "q1 Q0 a 1 1 t\nq1 Q0 b 1 1 t\n");
    let stdout = folder.out("info tied.run");
    assert!(
        stdout.contains("ties           2 results in 1 query have equal scores; --ties decides\n"),
        "{stdout}"
    );
}

#[test]
fn what_cannot_be_described_is_said() {
    let folder = Folder::new();
    folder.out("build qrels bm25.run -o m.lmx");
    for (args, expected) in [
        (
            "qrels m.lmx",
            "m.lmx is a label matrix, which is described alone: give one .lmx file, or QRELS \
             RUN...",
        ),
        ("bm25.run qrels", "bm25.run: this is a run, judgments were expected"),
        ("qrels bm25.run --verify", "qrels is not a .lmx file: --verify checks those only"),
        ("qrels bm25.run --facet judge", "--facet is for judgments alone"),
        ("qrels none.run", "none.run: cannot open"),
    ] {
        let error = folder.error(&format!("info {args}"));
        assert!(error.contains(expected), "{args}: {error}");
    }
    // A text that is wrong further down is shown as far as it can be, and what is wrong with it.
    folder.put("again", format!("{}q1 0 a 1\n", crate::folder::QRELS));
    let shown = folder.out("info again");
    assert!(
        shown.contains("judgments      error: again:7: docno 'a' of query 'q1' has grade 1 here"),
        "{shown}"
    );
    assert_eq!(
        json_of(&folder, "again")["contents"]["judgments"]["error"]
            .as_str()
            .map(|line| line.starts_with("again:7")),
        Some(true)
    );
}
