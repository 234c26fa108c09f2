//! `laneval compare`: the verdict, the order of many runs, groups, judges, and the outputs of
//! gates.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::folder::{Folder, assert_says};

/// Returns a folder with the bundled runs and short names for them.
fn demo() -> Folder {
    let folder = Folder::new();
    for name in ["demo.qrels", "demo-bm25.run", "demo-dense.run", "demo-hybrid.run"] {
        let path = format!("{}/../../examples/data/{name}", env!("CARGO_MANIFEST_DIR"));
        let short =
            name.trim_start_matches("demo-").trim_start_matches("demo.").trim_end_matches(".run");
        folder.put(short, std::fs::read(path).unwrap());
    }
    folder
}

/// Returns a folder with twelve synthetic runs, some of which are made worse, as `qrels` and `r1`
/// to `r12`.
fn twelve() -> (Folder, String) {
    let folder = Folder::new();
    folder.out("gen -o data --query-count 40 --results 60 --runs 12 --judged 30");
    let mut names = Vec::new();
    for run in 1..=12 {
        let text = String::from_utf8(folder.get(&format!("data/run-{run}.txt"))).unwrap();
        // Every third run loses the first documents of some queries.
        let keep = |(at, _): &(usize, &str)| run % 3 > 0 || at % 60 > run * 2;
        let lines: Vec<&str> =
            text.lines().enumerate().filter(keep).map(|(_, line)| line).collect();
        folder.put(&format!("r{run}"), lines.join("\n") + "\n");
        names.push(format!("r{run}"));
    }
    folder.put("qrels", folder.get("data/qrels.txt"));
    (folder, format!("compare qrels {}", names.join(" ")))
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap()
}

/// The verdict is the first thing in every format for people, and a key of JSON.
#[test]
fn the_verdict_comes_first() {
    let folder = demo();
    let three = "compare qrels bm25 dense hybrid -m nDCG@10,P@10 --quiet --format";
    let verdict = "hybrid is better than bm25: nDCG@10 +0.165 (95 % interval +0.084 to +0.245), \
                adjusted p = 0.0005.";
    let open = "hybrid against dense is undecided: +0.095 (95 % interval +0.002 to +0.188), \
                adjusted p = 0.0912.";
    let table = folder.out(&format!("{three} table"));
    assert_eq!(table.lines().take(2).collect::<Vec<_>>(), [verdict, open]);
    assert_eq!(
        first_line(&folder.out(&format!("{three} markdown"))),
        format!("**{verdict} {open}**")
    );
    assert_eq!(first_line(&folder.out(&format!("{three} latex"))), format!("% {verdict} {open}"));
    let document = json(&folder.out(&format!("{three} json")));
    assert_eq!(document["verdict"]["text"], format!("{verdict} {open}"));
    assert_eq!(document["verdict"]["best"], "hybrid");
    assert_eq!(document["verdict"]["not_told_from_best"], serde_json::json!(["dense"]));
    // With a baseline every sentence is about the other run, and shares are of the baseline.
    let old = folder
        .out("compare qrels old=hybrid new=bm25 --baseline old -m nDCG@10 --quiet --format table");
    assert_says(
        &old,
        &[
            "new is worse than old: nDCG@10 -0.165 (-22.4 %, 95 % interval -0.245 to -0.084), p = \
             0.0002.\n",
            "new is worse than old on nDCG@10: 0.5703 against 0.7351, -0.1648 (-22.4 %), 95 % \
             interval -0.2451 to -0.0844",
            "of 40 queries 12 won, 2 tied, 26 lost",
        ],
    );
    assert!(!old.contains("28.9"), "{old}");
    let same = folder.out("compare qrels a=bm25 b=bm25 -m nDCG@10 --quiet --format table");
    assert_eq!(first_line(&same), "a and b have the same nDCG@10 in every query.");
    let margin =
        folder.out("compare qrels bm25 dense -m nDCG@10 --margin 0.2 --quiet --format table");
    assert!(
        first_line(&margin).starts_with("dense and bm25 are equal within ±0.2: nDCG@10 +0.070 ("),
        "{margin}"
    );
    assert!(first_line(&margin).ends_with(", p = 0.0031 in two one-sided tests."), "{margin}");
    let slight =
        folder.out("compare qrels bm25 hybrid -m nDCG@10 --margin 0.3 --quiet --format json");
    assert_says(&slight, &["hybrid is better than bm25, but by less than ±0.3: nDCG@10 +0.165"]);
    assert_eq!(json(&slight)["verdict"]["not_told_from_best"], serde_json::json!([]));
    // A rise is positive, also of a baseline below 0.
    let below = folder
        .out("compare qrels hybrid dense -m Utility --baseline hybrid --quiet --format table");
    assert!(first_line(&below).contains("Utility +0.150 (+0.7 %"), "{below}");
}

/// Returns the corrected p of each pair, by the names of its runs in the order of the alphabet.
fn adjusted(tsv: &str, measure: &str) -> BTreeMap<(String, String), f64> {
    let row = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let pair = (fields[0].min(fields[1]).to_owned(), fields[0].max(fields[1]).to_owned());
        (fields[3] == measure && fields[4] == "p_adj").then(|| (pair, fields[5].parse().unwrap()))
    };
    tsv.lines().filter_map(row).collect()
}

/// Twelve runs are in the order of their means, and what is said of them follows from the corrected
/// p in the rows.
#[test]
fn many_runs_are_in_order() {
    let (folder, command) = twelve();
    let command = format!("{command} -m nDCG@10,AP --quiet");
    let tsv = folder.out(&format!("{command} --format tsv"));
    let mean = |run: &str, measure: &str| -> f64 {
        let start = format!("{run}\t\t\t{measure}\tmean\t");
        tsv.lines().find_map(|line| line.strip_prefix(&start)).unwrap().parse().unwrap()
    };
    let ranked = |measure: &str| {
        let mut runs: Vec<String> = (1..=12).map(|run| format!("r{run}")).collect();
        runs.sort_by(|a, b| mean(b, measure).total_cmp(&mean(a, measure)));
        runs
    };
    // Rows of programs stay in the order of the input.
    let in_rows = tsv.lines().filter(|line| line.contains("\tnDCG@10\tmean\t"));
    let in_rows: Vec<&str> = in_rows.map(|line| line.split('\t').next().unwrap()).collect();
    assert_eq!(in_rows, (1..=12).map(|run| format!("r{run}")).collect::<Vec<_>>());
    let shown = |options: &str| {
        let table = folder.out(&format!("{command} --format table {options}"));
        let rows = table.lines().skip_while(|line| !line.starts_with('─')).skip(1);
        let rows = rows
            .take_while(|line| !line.is_empty())
            .map(|line| line.split_whitespace().nth(1).unwrap().to_owned());
        rows.collect::<Vec<String>>()
    };
    assert_eq!(shown(""), ranked("nDCG@10"));
    assert_eq!(shown("--sort AP"), ranked("AP"));
    assert_eq!(shown("--sort AP --top 3"), ranked("AP")[..3]);
    assert_eq!(shown("--sort input"), in_rows);
    let p = adjusted(&tsv, "nDCG@10");
    let order = ranked("nDCG@10");
    let differ = |a: &str, b: &str| p[&(a.min(b).to_owned(), a.max(b).to_owned())] < 0.05;
    let table = folder.out(&format!("{command} --format table"));
    assert!(
        first_line(&table)
            .starts_with(&format!("{} has the highest nDCG@10 of 12 runs: ", order[0])),
        "{table}"
    );
    let alike: Vec<&str> =
        order[1..].iter().filter(|run| !differ(&order[0], run)).map(String::as_str).collect();
    assert!(!alike.is_empty() && alike.len() < 8, "data of which nothing can be learnt: {alike:?}");
    let runs = if alike.len() == 1 { "1 run".to_owned() } else { format!("{} runs", alike.len()) };
    assert_says(
        &table,
        &[&format!(
            "\n{runs} cannot be told from it: {}. It is better than the other {}.\n",
            alike.join(", "),
            11 - alike.len()
        )],
    );
    assert_eq!(
        json(&folder.out(&format!("{command} --format json")))["verdict"]["not_told_from_best"],
        serde_json::json!(alike)
    );
    // Two runs share a letter if and only if they are not shown to differ.
    let letters: BTreeMap<&str, Vec<char>> = table
        .lines()
        .filter_map(|line| {
            let cells: Vec<&str> = line.split_whitespace().collect();
            cells.first()?.parse::<usize>().ok()?;
            let stop = cells.iter().position(|cell| cell.starts_with("0."))?;
            Some((cells[1], cells[2..stop].iter().flat_map(|cell| expanded(cell)).collect()))
        })
        .collect();
    assert_eq!(letters.len(), 12, "{table}");
    for (at, one) in order.iter().enumerate() {
        for other in &order[at + 1..] {
            let shared =
                letters[one.as_str()].iter().any(|letter| letters[other.as_str()].contains(letter));
            assert_eq!(shared, !differ(one, other), "{one} and {other} in\n{table}");
        }
    }
    // Sentences: none but the verdict, or one for each pair.
    let is_sentence = |line: &&str| {
        line.contains(" on nDCG@10: ")
            || line.contains(" on nDCG@10, but not after correction")
            || line.contains(" have the same nDCG@10 in each ")
    };
    let sentences = |text: &str| text.lines().filter(is_sentence).count();
    assert_eq!(sentences(&table), 0, "{table}");
    assert_eq!(sentences(&folder.out(&format!("{command} --format table --all-pairs"))), 66);
    // Against a baseline the cells have arrows.
    let against = folder.out(&format!("{command} --format table --baseline {}", order[0]));
    assert!(
        against.contains("None of 11 runs is shown to be better than") && against.contains('↓'),
        "{against}"
    );
}

/// Returns the letters that a cell such as `a–c` stands for.
fn expanded(cell: &str) -> Vec<char> {
    let letters: Vec<char> = cell.chars().collect();
    match letters.as_slice() {
        [one] => vec![*one],
        [first, '–', last] => (*first..=*last).collect(),
        _ => panic!("{cell} is no letter, and no range of letters"),
    }
}

/// A group is what a comparison of its queries alone is.
#[test]
fn groups_are_comparisons_of_their_queries() {
    let folder = demo();
    let queries: Vec<String> = (1..=40).map(|query| format!("{query:02}")).collect();
    let [odd, even]: [Vec<&String>; 2] =
        [1, 0].map(|rest| (rest..40).step_by(2).map(|at| &queries[at]).collect());
    let lines = |group: &str, ids: &[&String]| {
        ids.iter().map(|query| format!("{query}\t{group}\n")).collect::<String>()
    };
    folder.put("groups", lines("odd", &odd) + &lines("even", &even[..10]) + "99\tnone\n");
    let all = "compare qrels bm25 dense hybrid -m nDCG@10,P@10 --permutations 999 --format json";
    let ran = folder.run(&format!("{all} --group-by groups"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_says(
        &ran.err,
        &["no query of the group none counts", "10 of 40 queries are in no group"],
    );
    let whole = json(&ran.out);
    for (at, (name, ids)) in [("even", &even[..10]), ("odd", &odd[..])].into_iter().enumerate() {
        folder.put("only", ids.iter().map(|query| format!("{query}\n")).collect::<String>());
        let alone = json(&folder.out(&format!("{all} --only-queries only --quiet")));
        let group = &whole["groups"][at];
        assert_eq!((&group["name"], &group["queries"]), (&name.into(), &ids.len().into()));
        for key in ["pairs", "runs", "verdict"] {
            assert_eq!(group[key], alone[key], "{key} of {name}");
        }
    }
    // All queries: as without groups, key for key.
    let without = json(&folder.out(&format!("{all} --quiet")));
    for (key, value) in without.as_object().unwrap() {
        assert_eq!(&whole[key], value, "{key}");
    }
    // Rows have the group behind what they always have.
    let rows = folder.out("compare qrels bm25 dense -m AP --group-by groups --format csv --quiet");
    assert_eq!(first_line(&rows), "run,baseline,query_id,measure,stat,value,group");
    assert!(
        rows.contains("dense,,,AP,mean,") && rows.lines().any(|line| line.ends_with(",odd")),
        "{rows}"
    );
    let table = folder
        .out("compare qrels bm25 dense hybrid -m nDCG@10 --group-by groups --format table --quiet");
    assert_says(
        &table,
        &[
            "nDCG@10 in 2 groups; p is corrected within each",
            "\neven: ",
            "\nodd: hybrid is better than bm25",
        ],
    );
    // A gate that holds over all queries can fail in a group.
    let gate = "--fail-if 'nDCG@10 < 0.56' --format table --quiet";
    assert_eq!(folder.shell(&format!("$L compare qrels hybrid bm25 -m nDCG@10 {gate}")).code, 0);
    let failed =
        folder.shell(&format!("$L compare qrels hybrid bm25 -m nDCG@10 --group-by groups {gate}"));
    assert_eq!(failed.code, 1, "{}{}", failed.out, failed.err);
    assert_says(&failed.err, &["error: a gate failed: bm25: nDCG@10 < 0.56 [odd]\n"]);
    assert_says(
        &failed.out,
        &["FAILED  bm25: nDCG@10 < 0.56 [odd]  (nDCG@10 of bm25 is 0.5356; allowed: 0.56 or more)"],
    );
}

/// Groups against the stored values of a baseline are those against its run.
#[test]
fn groups_against_stored_values() {
    let folder = demo();
    folder.put(
        "groups",
        (1..=40)
            .map(|query| format!("{query:02}\t{}\n", if query > 12 { "late" } else { "early" }))
            .collect::<String>(),
    );
    folder.out("eval qrels main=hybrid -m nDCG@10 --per-query -o main.json --quiet");
    let stored = "compare qrels new=dense --baseline main.json -m nDCG@10 --group-by groups \
                  --format json --quiet";
    let live = "compare qrels main=hybrid new=dense --baseline main -m nDCG@10 --group-by groups \
                --format json --quiet";
    let [stored_document, live_document] = [stored, live].map(|args| json(&folder.out(args)));
    assert_eq!(stored_document["groups"][0]["pairs"], live_document["groups"][0]["pairs"]);
    assert_eq!(stored_document["groups"][1]["verdict"], live_document["groups"][1]["verdict"]);
    let gate = |args: &str| folder.shell(&format!("$L {args} --fail-if 'nDCG@10 drops > 0.5%'"));
    assert_eq!((gate(stored).code, gate(live).code), (1, 1));
    let judged = |text: &str| {
        json(text)["groups"]
            .as_array()
            .unwrap()
            .iter()
            .map(|group| group["gates"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(judged(&gate(stored).out), judged(&gate(live).out));
    // Other judgments are refused.
    let less: Vec<String> = String::from_utf8(folder.get("qrels"))
        .unwrap()
        .lines()
        .skip(1)
        .map(str::to_owned)
        .collect();
    folder.put("other", less.join("\n") + "\n");
    let refused =
        folder.error("compare other new=dense --baseline main.json -m nDCG@10 --group-by groups");
    assert_says(&refused, &["judgments"]);
}

/// A judge's comparison is that by the judgments of this judge alone.
#[test]
fn a_comparison_by_each_judge() {
    let folder = demo();
    let text = String::from_utf8(folder.get("qrels")).unwrap();
    let fields: Vec<Vec<&str>> =
        text.lines().map(|line| line.split_whitespace().collect()).collect();
    let judgments = |judge: usize| {
        // The second judge is stricter, and has not seen every document.
        let grade = |grade: &str| {
            if judge == 1 {
                grade.parse::<i32>().unwrap().saturating_sub(1).max(0).to_string()
            } else {
                grade.to_owned()
            }
        };
        let seen = fields.iter().enumerate().filter(|(at, _)| judge == 0 || at % 5 > 0);
        seen.map(|(_, row)| [row[0].to_owned(), row[2].to_owned(), grade(row[3])])
            .collect::<Vec<_>>()
    };
    let mut both = String::new();
    for (judge, name) in ["ann", "bob"].into_iter().enumerate() {
        let lines = |second: &str| {
            judgments(judge)
                .iter()
                .map(|[query, doc, grade]| format!("{query} {second} {doc} {grade}\n"))
                .collect::<String>()
        };
        both += &lines(name);
        folder.put(name, lines("0"));
    }
    folder.put("both", both);
    let command = |qrels: &str| {
        format!(
            "compare {qrels} bm25 dense hybrid -m nDCG@10,AP --permutations 99 --format json \
             --quiet"
        )
    };
    let each = json(&folder.out(&format!("{} --judges each", command("both"))));
    for (at, judge) in ["ann", "bob"].into_iter().enumerate() {
        let alone = json(&folder.out(&command(judge)));
        assert_eq!(each["judges"][at]["name"], judge);
        assert_eq!(each["judges"][at]["pairs"], alone["pairs"], "{judge}");
    }
    let table = folder
        .out("compare both bm25 dense hybrid -m nDCG@10 --judges each --format table --quiet");
    assert_says(&table, &["nDCG@10 in 2 judges; p is corrected", "\nann: ", "\nbob: "]);
}

/// The results of gates in every format, and of several outputs each in its own.
#[test]
fn gates_in_every_output() {
    let folder = demo();
    let command = "compare qrels old=hybrid new=bm25 -m nDCG@10 --fail-if 'nDCG@10 drops > 0.5%' \
                   --fail-if 'AP < 0.3'";
    let outputs = "-o p.html -o s.md -o g.xml -o d.json -o r.tsv -o l.jsonl -o t.txt";
    let ran = folder.shell(&format!("$L {command} {outputs}"));
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    assert_says(
        &ran.err,
        &[
            "PASSED  new: AP < 0.3  (AP of new is 0.4443; allowed: 0.3 or more)",
            "error: a gate failed: new: nDCG@10 drops > 0.5% (nDCG@10 of new fell by 0.1648 (-22.4 \
             %, 95 % interval -0.2451 to -0.0844); \
             allowed: a drop of 0.0037 (0.5 %))",
        ],
    );
    let text = |name: &str| String::from_utf8(folder.get(name)).unwrap();
    let markdown = text("s.md");
    let rows: Vec<&str> = markdown.lines().rev().take(2).collect();
    assert_eq!(rows[0], "| PASSED | new | AP &lt; 0.3 | AP of new is 0.4443 | 0.3 or more |");
    assert!(
        rows[1].starts_with(
            "| **FAILED** | new | nDCG@10 drops &gt; 0.5% | nDCG@10 of new fell by 0.1648 ("
        ),
        "{markdown}"
    );
    assert_says(&markdown, &["**FAILED: 1 of 2 gates**"]);
    assert_says(
        &text("t.txt"),
        &["\nPASSED  new: AP < 0.3", "\nFAILED  new: nDCG@10 drops > 0.5%"],
    );
    assert_says(
        &text("g.xml"),
        &[
            "tests=\"2\" failures=\"1\" errors=\"0\"",
            "<testcase classname=\"new\" name=\"nDCG@10 drops &gt; 0.5%\"",
            "<failure message=\"nDCG@10 of new fell by 0.1648",
            "<system-out>AP of new is 0.4443; allowed: 0.3 or more</system-out>",
        ],
    );
    let tsv = text("r.tsv");
    assert_eq!(first_line(&tsv), "run\tbaseline\tquery_id\tmeasure\tstat\tvalue\tgate");
    assert_says(
        &tsv,
        &[
            "\nnew\told\t\tnDCG@10\tgate_failed\t1\tnDCG@10 drops > 0.5%\n",
            "\nnew\t\t\tAP\tgate_failed\t0\tAP < 0.3\n",
            "\nnew\t\t\tAP\tgate_threshold\t0.3\tAP < 0.3\n",
        ],
    );
    assert_eq!(text("l.jsonl").lines().count() + 1, tsv.lines().count());
    let document = json(&text("d.json"));
    assert_eq!(
        document["gates"][0]["happened"],
        "nDCG@10 of new fell by 0.1648 (-22.4 %, 95 % interval -0.2451 to -0.0844)"
    );
    assert_eq!(document["gates"][1]["allowed"], "0.3 or more");
    assert_says(&text("p.html"), &["<!DOCTYPE html>"]);
    // One alone has the same bytes.
    folder.shell(&format!("$L {command} -o alone.md"));
    assert_eq!(text("alone.md"), markdown);
    // Scores have them too.
    let ran = folder.shell("$L eval qrels bm25 -m AP --fail-if 'AP < 0.5' -o e.xml -o -");
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert_says(&ran.out, &["bm25\t\tAP\tmean\t0.444"]);
    assert_says(&text("e.xml"), &["<testsuite name=\"laneval eval\" tests=\"1\" failures=\"1\""]);
}

/// A gate says what it allows; numbers that differ look different.
#[test]
fn gates_say_what_they_allow() {
    let folder = demo();
    for (gate, allowed) in [
        (
            "nDCG@10 drops > 0.005 p<0.05",
            "p < 0.0001; allowed: a drop of 0.005, or one that chance explains (p ≥ 0.05)",
        ),
        ("nDCG@10 worse p<0.05", "allowed: a drop that chance explains (p ≥ 0.05)"),
        (
            "nDCG@10 may drop > 0.005",
            "allowed: data that rule out a drop of 0.005 or more (p < 0.05)",
        ),
        ("nDCG@10 drops", "allowed: no drop"),
        ("nDCG@10 < 0.57033", "nDCG@10 of bm25 is 0.570326; allowed: 0.57033 or more"),
        ("nDCG@10 <= 0.6", "allowed: more than 0.6"),
        ("nDCG@10 > 0.5", "allowed: 0.5 or less"),
        ("nDCG@10 >= 0.5", "allowed: less than 0.5"),
    ] {
        let failed = folder
            .shell(&format!("$L compare qrels hybrid bm25 -m nDCG@10 --quiet --fail-if '{gate}'"));
        assert_eq!(failed.code, 1, "{gate}: {}", failed.err);
        assert_says(&failed.err, &[allowed]);
    }
}

/// What does not go together is refused before anything is read.
#[test]
fn outputs_that_are_refused() {
    let folder = demo();
    let two = "compare qrels bm25 dense -m AP";
    for (args, why) in [
        (format!("{two} -o a.md -o ./a.md"), "two outputs have one name: ./a.md"),
        (format!("{two} -o - -o -"), "two outputs have one name: stdout"),
        (
            format!("{two} -o a.md -o b.zip"),
            "b.zip: cannot write: unknown extension .zip: take .tsv",
        ),
        (
            format!("{two} -o g.xml"),
            "the format junit has the results of gates, and there is none: add --fail-if",
        ),
        (
            format!("{two} -o a.md -o b.md --format table"),
            "--format is of stdout where there are several -o",
        ),
        (format!("{two} -o qrels -o a.md"), "qrels: cannot write: it is one of the inputs"),
        (format!("{two} --sort RR"), "--sort RR: it is not compared, but AP"),
        (format!("{two} --sort nonsense"), "nonsense"),
        (format!("{two} --top 0"), "--top"),
        (format!("{two} --group-by qrels"), "expected 'query<TAB>group'"),
        ("eval qrels bm25 -o g.xml".to_owned(), "the format junit has the results of gates"),
    ] {
        let error = folder.error(&args);
        assert_says(&error, &[why]);
    }
    let left: Vec<String> = folder.names();
    assert!(!left.iter().any(|name| name.ends_with(".md") || name.ends_with(".xml")), "{left:?}");
}

/// A page shows groups with their verdicts, the gates in them, and the texts of queries.
#[test]
fn a_page_of_groups_with_texts() {
    let folder = demo();
    let groups = (1..=40)
        .map(|query| format!("{query:02}\t{}\n", if query > 20 { "late" } else { "early" }));
    folder.put("groups", groups.collect::<String>());
    let titles = (1..=39).map(|query| format!("{query:02}\tsailing boats {query} <b>\n"));
    folder.put("titles.tsv", titles.collect::<String>());
    let command = "compare qrels bm25 hybrid -m nDCG@10 --group-by groups --topics titles.tsv";
    let ran = folder.shell(&format!(
        "$L {command} --fail-if 'nDCG@10 < 0.55' --fail-if 'nDCG@10 < 0.75' -o p.html"
    ));
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert_says(&ran.err, &["1 of 40 queries has no text in titles.tsv (40)"]);
    let page = String::from_utf8(folder.get("p.html")).unwrap();
    assert_says(
        &page,
        &[
            "gates, over all queries and in groups, failed",
            "nDCG@10 &lt; 0.75 [early]",
            "<h2>Groups, by nDCG@10</h2>",
            "hybrid is better than bm25: nDCG@10",
            "sailing boats 18 &lt;b&gt;",
            "texts of queries",
        ],
    );
    assert!(!page.contains("<b>"), "texts are escaped");
    assert_says(
        &folder.error(&format!("{command} -o a.md")),
        &["--topics has the texts of queries for a page"],
    );
    let same =
        folder.error("compare qrels bm25 hybrid --topics titles.tsv -o p.html -o titles.tsv");
    assert_says(&same, &["titles.tsv: cannot write: it is one of the inputs"]);
}

/// Of many runs against a baseline the best is one of those that are better, and copies of it are
/// equal to it.
#[test]
fn many_runs_against_a_baseline() {
    let (folder, command) = twelve();
    folder.put("copy", folder.get("r3"));
    let table =
        folder.out(&format!("{command} copy -m nDCG@10 --baseline r3 --quiet --format table"));
    let tsv = folder.out(&format!("{command} copy -m nDCG@10 --baseline r3 --quiet --format tsv"));
    let p = adjusted(&tsv, "nDCG@10");
    let delta = |run: &str| -> f64 {
        let start = format!("{run}\tr3\t\tnDCG@10\tdelta\t");
        tsv.lines().find_map(|line| line.strip_prefix(&start)).unwrap().parse().unwrap()
    };
    let mut better: Vec<String> = (1..=12)
        .map(|run| format!("r{run}"))
        .filter(|run| {
            run != "r3"
                && delta(run) > 0.0
                && p[&("r3".min(run).to_owned(), "r3".max(run).to_owned())] < 0.05
        })
        .collect();
    better.sort_by(|a, b| delta(b).total_cmp(&delta(a)));
    assert!(!better.is_empty() && better.len() < 11, "{tsv}");
    assert!(first_line(&table).starts_with(&format!("{} of 12 runs ", better.len())), "{table}");
    assert_says(
        &table,
        &[&format!("The best of them, {}: nDCG@10 +", better[0]), "1 is equal to r3: copy."],
    );
    let document = json(
        &folder.out(&format!("{command} copy -m nDCG@10 --baseline r3 --quiet --format json")),
    );
    assert_eq!(document["verdict"]["not_told_from_best"], Value::Null);
}

/// A one-sided question does not depend on the order of the files for what it calls the best.
#[test]
fn one_sided_questions_tell_no_best_run() {
    let (folder, command) = twelve();
    for alternative in ["better", "worse"] {
        let table = folder.out(&format!(
            "{command} -m nDCG@10 --alternative {alternative} --quiet --format table"
        ));
        let first = first_line(&table);
        assert!(
            first.contains(" is better than ") || first.contains(" is not shown to be "),
            "{first}"
        );
        assert!(
            !table.contains("cannot be told from it") && !table.contains("letters  "),
            "{table}"
        );
    }
}

/// The sign test may point the other way than the means: then nothing is shown.
#[test]
fn a_test_against_the_means_shows_nothing() {
    let folder = Folder::empty();
    let [mut qrels, mut old, mut new] = [const { String::new() }; 3];
    for query in 0..21 {
        qrels += &format!("q{query} 0 a 1\n");
        // The new run wins twenty queries by a little, and loses one by much.
        let ranks = if query == 0 { [1, 60] } else { [10, 9] };
        for (run, rank) in [(&mut old, ranks[0]), (&mut new, ranks[1])] {
            for at in 1..=60 {
                let document = if at == rank { "a".to_owned() } else { format!("x{at}") };
                *run += &format!("q{query} Q0 {document} {at} {} t\n", 100 - at);
            }
        }
    }
    folder.put("qrels", qrels);
    folder.put("old", old);
    folder.put("new", new);
    let command = "compare qrels old new -m RR --quiet --test sign --format";
    let table = folder.out(&format!("{command} table"));
    assert!(
        first_line(&table)
            .contains("is undecided, for most queries lean one way and the means the other: RR"),
        "{table}"
    );
    assert_says(&table, &["Most queries lean one way and the means the other: "]);
    let document = json(&folder.out(&format!("{command} json")));
    assert!(document["pairs"][0]["p_adj"].as_f64().unwrap() < 0.001, "{document}");
    assert_eq!(document["pairs"][0]["better"], Value::Null);
}

/// A gate on a geometric mean speaks of factors, for its values are logarithms.
#[test]
fn gates_on_geometric_means_speak_of_factors() {
    let folder = demo();
    let failed = folder.shell(
        "$L compare qrels hybrid bm25 -m GMAP --quiet --fail-if 'GMAP drops > 0.01' --format tsv",
    );
    assert_eq!(failed.code, 1, "{}", failed.err);
    let mean = |run: &str| -> f64 {
        let start = format!("{run}\t\t\tGMAP\tmean\t");
        let row = failed.out.lines().find_map(|line| line.strip_prefix(&start)).unwrap();
        row.split('\t').next().unwrap().parse().unwrap()
    };
    let factor = format!(
        "GMAP of bm25 is {:.4} times that of the baseline (95 % interval ",
        mean("bm25") / mean("hybrid")
    );
    assert_says(&failed.err, &[&factor, "allowed: a drop to 0.9900 times that of the baseline"]);
}

/// Names that are no plain text do nothing to a terminal, or to a table of Markdown.
#[test]
fn gates_of_odd_names() {
    let folder = demo();
    let names = "$'x\\e[2J=bm25' $'a\\nb|c=hybrid'";
    let ran = folder.shell(&format!(
        "$L compare qrels {names} -m AP --quiet --fail-if 'AP < 0.9' -o s.md -o - --format table"
    ));
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(
        !ran.out.contains('\u{1b}') && ran.out.contains(r"FAILED  a\nb|c: AP < 0.9"),
        "{}",
        ran.out
    );
    let markdown = String::from_utf8(folder.get("s.md")).unwrap();
    assert!(
        markdown
            .lines()
            .filter(|line| line.contains("FAILED"))
            .all(|line| line.starts_with('|') || line.starts_with("**")),
        "{markdown}"
    );
    assert_says(
        &markdown,
        &[r"| **FAILED** | a\\nb\|c | AP &lt; 0.9 | AP of a\\nb\|c is 0.6331 | 0.9 or more |"],
    );
}

/// Options that would do nothing are refused.
#[test]
fn options_that_would_do_nothing() {
    let folder = demo();
    for (args, why) in [
        ("compare qrels bm25 dense -o - -o /dev/stdout", "two outputs have one name: stdout"),
        ("compare qrels bm25 dense --judges each -m 'AP(judges=mean)'", "judges="),
        ("compare qrels bm25 dense --top 1 -o a.csv", "--sort and --top are for tables"),
        ("compare qrels bm25 dense --sort AP --format json", "--sort and --top are for tables"),
        ("compare qrels bm25 dense --all-pairs --format tsv", "--all-pairs writes sentences"),
        ("eval qrels bm25 --explain -o a -o b", "--explain prints a plan"),
        (
            "compare qrels bm25 dense --topics nowhere.tsv -o p.html --partial x.part",
            "nowhere.tsv: cannot open",
        ),
    ] {
        assert_says(&folder.error(args), &[why]);
    }
    assert!(!folder.names().contains(&"x.part".to_owned()));
    let top = folder.out("compare qrels bm25 hybrid dense -m AP --top 2 --format table --quiet");
    assert!(
        top.contains("b  hybrid  0.6331*ᶜ")
            && top.contains("c  dense ")
            && !top.contains("a  bm25"),
        "{top}"
    );
    let judges = folder.run("compare qrels bm25 dense -m AP --judges each --format table");
    assert_says(
        &judges.err,
        &["all judgments are by one judge, 0: is the second field of the judgments a judge?"],
    );
    let queries = folder.out("compare qrels bm25 dense -m AP -q --format markdown --quiet");
    assert_says(&queries, &["| query | bm25 | dense | delta |"]);
    let each = json(
        &folder.out("compare qrels bm25 dense hybrid -m AP --all-pairs --format json --quiet"),
    );
    assert_eq!(each["sentences"].as_array().unwrap().len(), 3);
}
