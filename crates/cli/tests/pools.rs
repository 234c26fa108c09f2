//! Pools, against counts of documents, and against evaluations of smaller files of judgments.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::folder::Folder;
use crate::xorshift::random;

type Judged = BTreeMap<(String, String), f64>;

/// Runs as rankings: for each run its name, and for each query its documents, best first.
type Rankings = Vec<(String, BTreeMap<String, Vec<String>>)>;

/// Makes judgments and runs. The last query is judged only in documents of the first run, and a
/// grade occurs only there.
fn data(seed: u64, runs: usize, grade: impl Fn(u64) -> f64) -> (Judged, Rankings) {
    let mut random = random(seed);
    let mut rankings: Rankings = (0..runs)
        .map(|run| {
            let of_query = (0..8).filter(|&query| query != run).map(|query| {
                let mut docs: Vec<String> = (0..60).map(|doc| format!("d{doc}")).collect();
                (0..docs.len()).for_each(|at| docs.swap(at, random(60) as usize));
                docs.truncate(10 + random(30) as usize);
                (format!("q{query}"), docs)
            });
            (format!("t{}-r{run}", run % 3), of_query.collect())
        })
        .collect();
    let mut judged = Judged::new();
    for query in 0..7 {
        for doc in 0..60 {
            if random(3) > 0 {
                judged.insert((format!("q{query}"), format!("d{doc}")), grade(random(1 << 20)));
            }
        }
    }
    rankings[0].1.insert("q9".into(), vec!["own".into(), "d1".into()]);
    rankings[1].1.insert("q9".into(), vec!["d1".into()]);
    judged.insert(("q9".into(), "own".into()), 9.0);
    (judged, rankings)
}

fn put(folder: &Folder, judged: &Judged, rankings: &Rankings) -> String {
    folder.put("qrels", qrels_text(judged));
    let mut names = Vec::new();
    for (name, queries) in rankings {
        let mut text = String::new();
        for (query, docs) in queries {
            for (rank, doc) in docs.iter().enumerate() {
                text += &format!("{query} Q0 {doc} {rank} {} {name}\n", 1000 - rank);
            }
        }
        folder.put(&format!("{name}.run"), text);
        names.push(format!("{name}={name}.run"));
    }
    names.join(" ")
}

fn qrels_text(judged: &Judged) -> String {
    judged.iter().map(|((query, doc), grade)| format!("{query} 0 {doc} {grade}\n")).collect()
}

/// Returns the judged documents among the first ones of a run.
fn first(
    judged: &Judged,
    ranking: &BTreeMap<String, Vec<String>>,
    depth: usize,
) -> BTreeSet<(String, String)> {
    let docs = ranking
        .iter()
        .flat_map(|(query, docs)| docs.iter().take(depth).map(|doc| (query.clone(), doc.clone())));
    docs.filter(|doc| judged.contains_key(doc)).collect()
}

/// Reads the averages that `eval` prints with all digits: by run and measure.
fn evaluated(
    folder: &Folder,
    qrels: &str,
    runs: &str,
    options: &str,
) -> BTreeMap<(String, String), String> {
    let stdout = folder.out(&format!("eval {qrels} {runs} {options} --format tsv --quiet"));
    let rows =
        stdout.lines().skip(1).map(|row| row.split('\t').map(str::to_owned).collect::<Vec<_>>());
    rows.map(|row| ((row[0].clone(), row[2].clone()), row[4].clone())).collect()
}

fn number(value: &Value) -> String {
    value.as_f64().unwrap().to_string()
}

/// Returns the rank of a value among values: 1, and one for each that is clearly better.
fn rank(values: &[f64], own: f64, higher: bool) -> u64 {
    let better = |value: &&f64| if higher { **value > own + 1e-11 } else { **value < own - 1e-11 };
    1 + values.iter().filter(better).count() as u64
}

fn tau_b(x: &[f64], y: &[f64]) -> f64 {
    let sign = |one: f64, other: f64| {
        if (one - other).abs() < 1e-11 { 0.0 } else { (one - other).signum() }
    };
    let pairs = (0..x.len()).flat_map(|one| (0..one).map(move |other| (one, other)));
    let (mut both, mut of_x, mut of_y) = (0.0, 0.0, 0.0);
    for (one, other) in pairs {
        let (a, b) = (sign(x[one], x[other]), sign(y[one], y[other]));
        (both, of_x, of_y) = (both + a * b, of_x + a * a, of_y + b * b);
    }
    both / f64::sqrt(of_x * of_y)
}

const MEASURES: [&str; 6] = ["nDCG@10", "AP", "RR", "ERR(gmax=auto)@20", "Bpref", "NumRel"];

/// Checks what is said of pools against the definition.
fn check(
    folder: &Folder,
    (judged, rankings): (&Judged, &Rankings),
    depth: usize,
    teams: bool,
    queries: &str,
) {
    let runs = put(folder, judged, rankings);
    let options = format!("-m {} --queries {queries}", MEASURES.join(","));
    let team = if teams { "--teams -" } else { "" };
    let stdout = folder.out(&format!(
        "pools qrels {runs} {options} --pool-depth {depth} {team} --format json --quiet"
    ));
    let document: Value = serde_json::from_str(&stdout).unwrap();
    let pools: Vec<BTreeSet<(String, String)>> =
        rankings.iter().map(|(_, ranking)| first(judged, ranking, depth)).collect();
    let relevant =
        |docs: &BTreeSet<(String, String)>| docs.iter().filter(|doc| judged[*doc] >= 1.0).count();
    let union: BTreeSet<(String, String)> = pools.iter().flatten().cloned().collect();
    assert_eq!(document["depth"], depth);
    assert_eq!(
        (document["judged"].as_u64(), document["pooled"].as_u64()),
        (Some(judged.len() as u64), Some(union.len() as u64))
    );
    assert_eq!(document["pooled_relevant"], relevant(&union));
    let with = evaluated(folder, "qrels", &runs, &options);
    let shares =
        evaluated(folder, "qrels", &runs, &format!("-m Judged@10,Judged@100 --queries {queries}"));
    let prefix = |run: usize| rankings[run].0.split_once('-').unwrap().0.to_owned();
    let mut orders = vec![(Vec::new(), Vec::new()); MEASURES.len()];
    for (run, (name, ranking)) in rankings.iter().enumerate() {
        let found = &document["runs"][run];
        let unlike = |same: &dyn Fn(usize) -> bool| -> BTreeSet<(String, String)> {
            let others = || (0..pools.len()).filter(|&other| !same(other));
            pools[run]
                .iter()
                .filter(|doc| !others().any(|other| pools[other].contains(*doc)))
                .cloned()
                .collect()
        };
        let unique = unlike(&|other| other == run);
        assert_eq!(found["name"], &name[..]);
        assert_eq!(found["judged"], pools[run].len());
        assert_eq!(found["relevant"], relevant(&pools[run]));
        assert_eq!(
            (found["unique"].as_u64(), found["unique_relevant"].as_u64()),
            (Some(unique.len() as u64), Some(relevant(&unique) as u64))
        );
        let judged_to =
            ranking.iter().filter(|(query, _)| judged.keys().any(|key| key.0 == **query));
        let judged_to = judged_to.filter_map(|(query, docs)| {
            docs.iter().position(|doc| !judged.contains_key(&(query.clone(), doc.clone())))
        });
        assert_eq!(found["judged_to"], judged_to.min().unwrap());
        for (key, measure) in [("judged_10", "Judged@10"), ("judged_100", "Judged@100")] {
            assert_eq!(number(&found[key]), shares[&(name.clone(), measure.to_owned())]);
        }
        // What goes is what only the team has: the documents of its runs that no run of another
        // team has.
        let mut goes: BTreeSet<(String, String)> = unique.clone();
        if teams {
            let (own, others): (Vec<usize>, Vec<usize>) =
                (0..pools.len()).partition(|&other| prefix(other) == prefix(run));
            let others: BTreeSet<&(String, String)> =
                others.iter().flat_map(|&other| &pools[other]).collect();
            goes = own
                .iter()
                .flat_map(|&own| &pools[own])
                .filter(|doc| !others.contains(doc))
                .cloned()
                .collect();
            assert_eq!(found["team"], prefix(run));
        }
        assert_eq!(found["removed"], goes.len());
        let mut left = judged.clone();
        left.retain(|doc, _| !goes.contains(doc));
        let ids =
            |judged: &Judged| judged.keys().map(|key| key.0.clone()).collect::<BTreeSet<_>>().len();
        assert_eq!(found["queries_lost"], ids(judged) - ids(&left));
        folder.put("left", qrels_text(&left));
        let without = evaluated(folder, "left", &runs, &options);
        for (at, measure) in MEASURES.into_iter().enumerate() {
            let of_measure = &found["left_out"][at];
            assert_eq!(of_measure["measure"], measure);
            let score = |all: &BTreeMap<(String, String), String>, name: &str| {
                all[&(name.to_owned(), measure.to_owned())].clone()
            };
            assert_eq!(number(&of_measure["value"]), score(&with, name), "{measure} of {name}");
            assert_eq!(
                number(&of_measure["without"]),
                score(&without, name),
                "{measure} of {name} left out"
            );
            let [value, other] =
                [&with, &without].map(|all| score(all, name).parse::<f64>().unwrap());
            assert_eq!(of_measure["delta"].as_f64(), Some(other - value));
            assert_eq!(
                of_measure["relative"].as_f64(),
                (value != 0.0).then(|| (other - value) / value)
            );
            for (key, all, own) in [("rank", &with, value), ("rank_without", &without, other)] {
                let values: Vec<f64> =
                    rankings.iter().map(|(name, _)| score(all, name).parse().unwrap()).collect();
                let expected = (measure != "NumRel").then(|| rank(&values, own, true));
                assert_eq!(of_measure[key].as_u64(), expected, "{key} of {name} by {measure}");
            }
            orders[at].0.push(value);
            orders[at].1.push(other);
        }
    }
    for (at, measure) in MEASURES.into_iter().enumerate() {
        let (loss, (with, without)) = (&document["losses"][at], &orders[at]);
        let losses: Vec<f64> =
            with.iter().zip(without).map(|(with, without)| with - without).collect();
        let most = losses.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if measure == "NumRel" {
            assert!(loss["mean"].is_null() && loss["largest"].is_null());
            continue;
        }
        let mean = losses.iter().sum::<f64>() / losses.len() as f64;
        assert!((loss["mean"].as_f64().unwrap() - mean).abs() < 1e-12);
        assert_eq!(loss["largest"].as_f64(), Some(most));
        let first = losses.iter().position(|&loss| loss == most).unwrap();
        assert_eq!(loss["largest_run"], &rankings[first].0[..]);
        assert!(
            (loss["tau_b"].as_f64().unwrap() - tau_b(with, without)).abs() < 1e-12,
            "{measure}"
        );
    }
}

#[test]
fn pools_are_what_their_definition_says() {
    let folder = Folder::empty();
    let few = |random: u64| (random % 5) as f64 - 1.0;
    // More distinct grades than a byte has codes.
    let many = |random: u64| random as f64 / 1e5 - 1.0;
    let (judged, rankings) = data(1, 6, few);
    for depth in [1, 10, 100] {
        check(&folder, (&judged, &rankings), depth, false, "judged");
    }
    check(&folder, (&judged, &rankings), 10, true, "judged");
    check(&folder, (&judged, &rankings), 5, true, "common");
    let (judged, rankings) = data(2, 4, many);
    check(&folder, (&judged, &rankings), 10, false, "judged");
    check(&folder, (&judged, &rankings), 10, true, "common");
}

/// Equal scores at the depth of the pool go by their rule.
#[test]
fn ties_decide_what_is_within_the_depth() {
    let folder = Folder::empty();
    folder.put("qrels", "q 0 a 1\nq 0 b 1\nq 0 c 1\n");
    folder.put("one", "q Q0 a 1 1 t\nq Q0 b 1 1 t\n");
    folder.put("two", "q Q0 b 1 1 t\nq Q0 c 1 0 t\n");
    let unique = |ties: &str| {
        let stdout =
            folder.out(&format!("pools qrels one two --pool-depth 1 --format json {ties}"));
        serde_json::from_str::<Value>(&stdout).unwrap()["runs"][0]["unique"].as_u64().unwrap()
    };
    assert_eq!([unique(""), unique("--ties docno-asc"), unique("--ties input")], [0, 1, 1]);
}

#[test]
fn formats_have_the_same_numbers() {
    let folder = Folder::empty();
    let (judged, rankings) = data(3, 3, |random| (random % 3) as f64);
    let runs = put(&folder, &judged, &rankings);
    let pools = |more: &str| {
        folder.out(&format!("pools qrels {runs} -m AP,NumRet --pool-depth 10 --quiet {more}"))
    };
    let (tsv, csv, lines) = (pools(""), pools("--format csv"), pools("--format jsonl"));
    assert!(tsv.starts_with("run\tmeasure\tstat\tvalue\n\t\tdepth\t10\n"), "{tsv}");
    assert_eq!(tsv.replace('\t', ","), csv);
    assert_eq!(lines.lines().count() + 1, tsv.lines().count());
    for (line, row) in lines.lines().zip(tsv.lines().skip(1)) {
        let line: Value = serde_json::from_str(line).unwrap();
        let cells = ["run", "measure", "stat"].map(|key| line[key].as_str().unwrap().to_owned());
        assert_eq!(format!("{}\t{}", cells.join("\t"), number(&line["value"])), row);
    }
    let json: Value = serde_json::from_str(&pools("--format json --precision 2")).unwrap();
    let value = format!("{:.2}", number_of(&tsv, "t0-r0\tAP\tvalue\t"));
    assert_eq!(json["runs"][0]["left_out"][0]["value"].as_f64(), value.parse().ok());
    assert!(pools("--precision 2").contains(&format!("t0-r0\tAP\tvalue\t{value}\n")));
    for format in ["table", "markdown", "latex"] {
        let stdout = pools(&format!("--format {format}"));
        assert!(
            stdout.contains(&format!("{:.4}", number_of(&tsv, "t0-r0\tAP\twithout\t"))),
            "{stdout}"
        );
        assert!(
            format != "table" || stdout.lines().all(|line| line.chars().count() <= 80),
            "{stdout}"
        );
    }
    folder.out(&format!("pools qrels {runs} -m AP,NumRet --pool-depth 10 --quiet -o out.csv"));
    assert_eq!(String::from_utf8(folder.get("out.csv")).unwrap(), csv);
}

fn number_of(tsv: &str, start: &str) -> f64 {
    let row = tsv.lines().find(|row| row.starts_with(start)).unwrap();
    row.rsplit('\t').next().unwrap().parse().unwrap()
}

#[test]
fn what_is_no_pool_is_an_error() {
    let folder = Folder::new();
    folder.out("build qrels bm25.run dense.run -o m.lmx");
    folder.put("other.run", "q3 Q0 z 1 1 t\n");
    folder.put("far.run", "q1 Q0 y 1 9 t\nq1 Q0 a 2 1 t\n");
    folder.put("near.run", "q1 Q0 z 1 9 t\nq1 Q0 a 2 1 t\n");
    for (args, expected) in [
        (
            "qrels bm25.run",
            "bm25.run is the only run: a pool takes two or more, or every document is unique",
        ),
        (
            "m.lmx",
            "m.lmx is a label matrix, which holds no documents: give the texts that it was built \
             from",
        ),
        ("qrels bm25.run other.run", "bm25.run has no judged query in common with another run"),
        (
            "qrels far.run near.run --pool-depth 1",
            "the pool is empty: no judged document is among the first 1 of any run",
        ),
        (
            "qrels a-1=bm25.run a-2=dense.run --teams -",
            "all runs are of the team a: a pool takes two teams or more",
        ),
        (
            "qrels bm25.run dense.run --pool-depth 0",
            "a number of documents, 1 or more, was expected",
        ),
        ("qrels bm25.run dense.run --ties average", "invalid value 'average'"),
        ("qrels bm25.run dense.run --format html", "invalid value 'html'"),
        ("qrels bm25.run dense.run -o pools.html", "unknown extension .html"),
        ("qrels bm25.run dense.run --format csv -o bm25.run", "it is one of the inputs"),
        ("qrels bm25.run dense.run -m StRecall@5", "StRecall@5 needs judgments by subtopic"),
        ("bm25.run qrels dense.run", "bm25.run: this is a run, judgments were expected"),
        ("qrels bm25.run none.run", "none.run: cannot open"),
    ] {
        let error = folder.error(&format!("pools {args}"));
        assert!(error.contains(expected), "{args}: {error}");
    }
}

#[test]
fn notes_say_what_is_missing() {
    let folder = Folder::new();
    folder.put("own", "q1 Q0 c 1 1 t\nq1 Q0 a 2 0 t\nq3 Q0 x 1 1 t\n");
    let output = folder.run("pools qrels bm25.run own --format json");
    assert!(
        output.err.contains("note: bm25.run: 1 judged query is not in the run"),
        "{}",
        output.err
    );
    assert!(
        output.err.contains("note: own: without it 1 query has no judgments, and does not count\n"),
        "{}",
        output.err
    );
    let others = output.err.replace("judged", "").replace("judgments", "");
    assert!(!others.contains("judge"), "{others}");
    assert_eq!(folder.run("pools qrels bm25.run own --format json --quiet").err, "");
}
