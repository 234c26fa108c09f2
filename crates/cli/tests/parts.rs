//! Parts of comparisons: `compare --partial` and `merge`; and baselines that are files of scores.

use std::collections::BTreeSet;

use crate::cases::some;
use crate::folder::{Folder, Ran, assert_says};

const NAMES: [&str; 3] = ["bm25", "dense", "hybrid"];

/// Returns a folder with the bundled runs, whole and cut by query into two and seven parts.
fn demo() -> Folder {
    let folder = Folder::new();
    let read = |name: &str| {
        let path = format!("{}/../../examples/data/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).unwrap()
    };
    let files = [("qrels", read("demo.qrels"))]
        .into_iter()
        .chain(NAMES.map(|name| (name, read(&format!("demo-{name}.run")))));
    for (name, text) in files {
        for parts in [2, 7] {
            let mut all = vec![String::new(); parts];
            for line in text.lines() {
                let query: usize = line.split_whitespace().next().unwrap().parse().unwrap();
                all[query % parts] += &format!("{line}\n");
            }
            for (part, text) in all.into_iter().enumerate() {
                folder.put(&format!("{name}.{parts}.{part}"), text);
            }
        }
        folder.put(name, text);
    }
    folder
}

const ALL: &str = "compare qrels bm25=bm25 dense=dense hybrid=hybrid";

/// Writes all parts, and names their files, the last first.
fn write_parts(folder: &Folder, parts: usize, options: &str) -> String {
    let mut files = String::new();
    for part in 0..parts {
        let runs = NAMES.map(|name| format!("{name}={name}.{parts}.{part}")).join(" ");
        folder.out(&format!(
            "compare qrels.{parts}.{part} {runs} {options} --quiet --partial {part}.part"
        ));
        files = format!("{part}.part {files}");
    }
    files
}

/// Returns the rows that a comparison of parts has too: without what single queries make of a
/// difference.
fn without_values(text: &str) -> Vec<String> {
    let text = text.replace("\"notes\": []", "\"notes\": [\n  ]");
    let rows = text.lines().filter(|row| !row.contains("as empty (--queries"));
    rows.map(|row| row.trim_end_matches(',').to_owned()).collect()
}

#[test]
fn parts_print_what_the_whole_prints() {
    let folder = demo();
    let all = [
        "-m AP --baseline bm25 --correction maxt",
        "-m nDCG@10,P@10",
        "-m nDCG@10 --correction hsd --anova --margin 0.1",
    ];
    for options in some(all.into_iter()) {
        let formats = ["table", "markdown", "latex", "csv", "jsonl", "json"];
        let wholes =
            formats.map(|format| folder.out(&format!("{ALL} {options} --quiet --format {format}")));
        for parts in [2, 7] {
            let files = write_parts(&folder, parts, options);
            for (format, whole) in formats.iter().zip(&wholes) {
                let merged = folder.out(&format!("merge {files} --quiet --format {format}"));
                assert_eq!(
                    without_values(whole),
                    without_values(&merged),
                    "{options}, {parts} parts, {format}"
                );
            }
        }
    }
    let own = folder.run(&format!("{ALL} -m nDCG@10 --partial all.part"));
    let plain = folder.run(&format!("{ALL} -m nDCG@10"));
    assert_eq!(
        (own.out, own.err),
        (plain.out, plain.err),
        "its own report is that of the comparison"
    );
    let size = folder.get("all.part").len();
    assert!((3 * 500_000..3 * 900_000).contains(&size), "{size}");
}

#[test]
fn parts_are_merged_in_steps() {
    let folder = demo();
    write_parts(&folder, 7, "-m nDCG@10 --permutations 999");
    let all = folder.out("merge 0.part 1.part 2.part 3.part 4.part 5.part 6.part");
    folder.out("merge 6.part 2.part 4.part --partial a");
    folder.out("merge 1.part 3.part --partial b --quiet");
    assert_eq!(folder.out("merge a 5.part b 0.part"), all);
    folder.out("merge 5.part 0.part a b --partial c");
    folder.out("merge b 0.part 5.part a --partial d");
    assert!(folder.get("c") == folder.get("d"));
    assert_says(
        &folder.error("merge a b 4.part"),
        &[
            "4.part does not belong to the 2 files before it: ",
            "counted twice (04, 11, 18, 25, 32, …): in ",
        ],
    );
    assert_says(&folder.error("merge a --partial a"), &["it is one of the inputs"]);
    let cut = folder.get("a");
    folder.put("cut", &cut[..cut.len() - 1]);
    assert_says(
        &folder.error("merge b cut"),
        &["cut: its checksum does not fit: it was cut off or changed"],
    );
    assert_says(&folder.error("merge cut"), &["cut: its checksum"]);
}

#[test]
fn gates_of_parts() {
    let folder = demo();
    let files = write_parts(&folder, 2, "-m nDCG@10 --baseline hybrid --permutations 999");
    let judge =
        |gate: &str| folder.shell(&format!("$L merge {files} --format table --fail-if '{gate}'"));
    let Ran { out, err, code } = judge("nDCG@10 drops > 0.005 p<0.05");
    assert_eq!(code, 1, "{err}");
    assert_says(&out, &["FAILED  bm25: nDCG@10 drops > 0.005 p<0.05", "bm25 is worse than hybrid"]);
    assert_says(&err, &["error: a gate failed: bm25: ", "error: 2 of 2 gates failed"]);
    assert_eq!(judge("nDCG@10 < 0.3").code, 0);
    let unknown = judge("AP < 0.3");
    assert_eq!(unknown.code, 2);
    assert_says(&unknown.err, &["the gate `AP < 0.3` is on AP, which is not compared"]);
    // Scores have gates that look at one run.
    folder.out("eval qrels.2.0 bm25=bm25.2.0 -m AP --partial scores.part");
    let failed = folder.shell("$L merge scores.part --fail-if 'AP < 0.9'");
    assert_eq!(failed.code, 1, "{}", failed.err);
    assert_eq!(folder.shell("$L merge scores.part --fail-if 'AP > 0.9'").code, 0);
    let refused = folder.shell("$L merge scores.part --fail-if 'AP drops > 1%'");
    assert_eq!(refused.code, 2);
    assert_says(&refused.err, &["compares with a baseline, and these are summaries of scores"]);
}

#[test]
fn what_parts_cannot_do() {
    let folder = demo();
    let part = "compare qrels.2.0 bm25=bm25.2.0 dense=dense.2.0 --permutations 99 --partial x.part \
                -m nDCG@10";
    for (options, words) in [
        ("--test wilcoxon", "the test wilcoxon needs the differences of all queries at once"),
        ("--ci bca", "the interval bca needs"),
        ("--correction rhsd", "the correction rhsd needs"),
        ("-o x.part --format csv", "--partial needs a separate file"),
        ("--baseline scores.csv", "--partial cannot keep a baseline that is a file of scores"),
    ] {
        folder.out("eval qrels.2.0 hybrid=hybrid.2.0 --per-query -o scores.csv --quiet");
        assert_says(&folder.error(&format!("{part} {options}")), &[words]);
        assert!(!folder.names().contains(&"x.part".to_owned()));
    }
    let auto = part.replace("99 ", "auto ");
    assert_says(
        &folder.error(&auto),
        &["the number of permutations `auto`", "give a number, such as 99999"],
    );
    folder.out(part);
    folder.out("eval qrels.2.1 bm25=bm25.2.1 dense=dense.2.1 --partial scores.part");
    for files in ["x.part scores.part", "scores.part x.part"] {
        assert_says(
            &folder.error(&format!("merge {files}")),
            &["x.part is a part of a comparison, and scores.part a summary of scores: merge \
                 files of one kind"],
        );
    }
    assert_says(&folder.error("merge x.part --stat std"), &["--stat is for scores"]);
    assert_says(
        &folder.error("merge x.part --add-queries qrels"),
        &["--add-queries adds queries to scores"],
    );
    assert_says(
        &folder.out("merge x.part --quiet --format html"),
        &["compared</h1>", "Differences of "],
    );
    assert_says(&folder.out("merge x.part --quiet --format svg"), &["<svg ", "difference of "]);
    assert_says(&folder.error("merge x.part --format trec"), &["the format trec"]);
}

/// Measures above 1 are rounded to a unit that follows from the largest value, which a part may not
/// have.
#[test]
fn the_largest_value_is_said_where_it_is_needed() {
    let folder = Folder::new();
    folder.put("qrels.1", "q1 0 a 1\nq1 0 b 1\nq1 0 c 1\n");
    folder.put("qrels.2", "q2 0 a 1\n");
    for run in ["x", "y"] {
        folder.put(&format!("{run}.1"), "q1 Q0 a 1 3 t\nq1 Q0 b 2 2 t\nq1 Q0 c 3 1 t\n");
        folder.put(&format!("{run}.2"), "q2 Q0 a 1 3 t\n");
    }
    let write = |options: &str| {
        for part in [1, 2] {
            folder.out(&format!(
                "compare qrels.{part} x=x.{part} y=y.{part} -m DCG,AP {options} \
                                 --permutations 9 --partial {part}.part --quiet"
            ));
        }
    };
    write("");
    assert_says(
        &folder.error("merge 1.part 2.part"),
        &[
            "2.part does not belong to 1.part: DCG has values up to 4 here and up to 1 there",
            "set --value-bound 'DCG=4' in all",
        ],
    );
    write("--value-bound DCG=4");
    folder.out("merge 1.part 2.part --quiet");
    for odd in
        ["--value-bound AP", "--value-bound AP=x", "--value-bound XX=1", "--value-bound AP=-1"]
    {
        let ran = folder.run(&format!("compare qrels.1 x=x.1 y=y.1 {odd}"));
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{odd}");
    }
}

#[test]
fn scores_in_a_file_are_a_baseline() {
    let folder = demo();
    let expected = folder.out(
        "compare qrels base=hybrid bm25=bm25 dense=dense --baseline base -m \
                               nDCG@10,GMAP --per-query --quiet --format csv",
    );
    // The shares of judged documents of the file's run are not known.
    let rows = |text: &str| {
        let lines =
            text.lines().filter(|row| !(row.starts_with("base,") && row.contains(",judged,")));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    for format in ["jsonl", "csv", "tsv", "json"] {
        folder.out(&format!(
            "eval qrels base=hybrid -m AP,GMAP,nDCG@10 --stat std --per-query -o base.{format} \
             --quiet"
        ));
        let Ran { out, err, code } = folder.run(&format!(
            "compare qrels bm25=bm25 dense=dense \
            --baseline base.{format} -m nDCG@10,GMAP --per-query --format csv"
        ));
        assert_eq!(code, 0, "{err}");
        assert_eq!(rows(&out), rows(&expected), "{format}");
        let unknown = "base: the file does not record its judgments and rules";
        assert_eq!(err.contains(unknown), format != "json", "{err}");
    }
    // One run and a file are enough, and the run may have the name that it had yesterday.
    let table =
        folder.out("compare qrels base=bm25 --baseline base.csv -m nDCG@10 --format table --quiet");
    assert_says(&table, &["base is worse than base (base.csv) on nDCG@10: 0.5703 against 0.7351"]);
    let named = folder
        .out("compare qrels base=bm25 --baseline main=base.csv -m nDCG@10 --format table --quiet");
    assert_says(&named, &["base is worse than main on nDCG@10"]);
    let equal =
        folder.out("compare qrels hybrid --baseline base.jsonl -m nDCG@10 --format table --quiet");
    assert_says(&equal, &["hybrid and base have the same nDCG@10 in each of the 40 queries."]);
    let gate = folder.shell(
        "$L compare qrels bm25 --baseline base.jsonl -m nDCG@10 --quiet --fail-if 'nDCG@10 drops > \
         0.005'",
    );
    assert_eq!(gate.code, 1, "{}", gate.err);
    // A run of the call comes first.
    folder.put("dense.run", "");
    assert_says(
        &folder
            .out("compare qrels dense.run=dense bm25 --baseline dense.run --format table --quiet"),
        &["against dense.run"],
    );
}

#[test]
fn files_that_are_no_baseline_are_refused() {
    let folder = demo();
    folder.out("eval qrels base=hybrid -m AP,P@10 --per-query -o base.csv --quiet");
    folder.out("eval qrels base=hybrid -m AP,P@10 --per-query -o base.json --quiet");
    folder.out("eval qrels base=hybrid -m AP -o means.csv --quiet");
    folder.out("eval qrels a=hybrid b=bm25 -m AP --per-query -o two.jsonl --quiet");
    let text = String::from_utf8(folder.get("base.csv")).unwrap();
    let without = |start: &str| {
        text.lines()
            .filter(|row| !row.starts_with(start))
            .map(|row| format!("{row}\n"))
            .collect::<String>()
    };
    folder.put("less.csv", without("base,07,"));
    folder.put("gap.csv", without("base,07,AP"));
    folder.put("more.csv", format!("{text}base,99,AP,value,0.5\nbase,99,P@10,value,0.5\n"));
    folder.put("twice.csv", format!("{text}base,07,AP,value,0.5\n"));
    folder.put("nan.csv", format!("{text}base,99,AP,value,NaN\n"));
    folder.put("word.csv", format!("{text}base,99,AP,value,high\n"));
    folder.put("short.csv", format!("{text}base,99,AP\n"));
    folder.put("odd.csv", "a,b\n1,2\n");
    folder.put("odd.json", "{\"a\": 1}");
    folder.put(
        "odd.jsonl",
        "{\"run\":\"a\",\"query_id\":\"1\",\"measure\":\"AP\",\"stat\":\"value\",\"value\":0.5}\n\
         {\n",
    );
    folder.put("empty", "");
    folder.put("garbage", [0xff; 64]);
    let json = String::from_utf8(folder.get("base.json")).unwrap();
    folder.put("depth.json", json.replace("\"depth\": null", "\"depth\": 5"));
    folder.put("double.json", json.replacen("\"07\": {", "\"08\": {", 1));
    let other = String::from_utf8(folder.get("qrels")).unwrap().replacen(" 0\n", " 1\n", 1);
    folder.put("other", other);
    for (file, words) in [
        (
            "base.csv -m nDCG@10",
            "base.csv: it has no nDCG@10, but AP, P@10: evaluate the baseline with nDCG@10",
        ),
        (
            "means.csv",
            "means.csv: it has no values of queries: write it with `laneval eval --per-query`",
        ),
        (
            "two.jsonl",
            "two.jsonl: line 42: it has several runs (a, b, …): write the scores of one alone",
        ),
        (
            "less.csv",
            "less.csv: it lacks query 07, which counts here: evaluate the baseline again, or \
             compare the queries of both by --queries common",
        ),
        ("more.csv", "more.csv: it has query 99, which does not count here"),
        ("gap.csv", "gap.csv: query 07 has no AP"),
        ("twice.csv", "twice.csv: line 84: query 07 has two values"),
        ("nan.csv", "nan.csv: line 84: NaN is not a finite number"),
        ("word.csv", "word.csv: line 84: `high` is not a number"),
        ("short.csv", "short.csv: "),
        ("odd.csv", "odd.csv: it is not a file of scores: the columns run, query_id"),
        ("odd.json", "odd.json: it is not a file of scores: missing field"),
        ("odd.jsonl", "odd.jsonl: line 2: "),
        ("empty", "empty: it is not a file of scores"),
        ("garbage", "garbage: "),
        (
            "depth.json",
            "depth.json: its scores have other depths than the runs here (-M: the first 5 ranks, \
             not all ranks)",
        ),
        ("double.json", "double.json: query 08 has two values"),
        (
            "base.json --ties input",
            "base.json: its scores have other orders of equal scores than the runs here (--ties: \
             docno-desc, not input)",
        ),
        ("none", "--baseline none: no run and no file of scores has this name; the runs are bm25"),
        (".", "--baseline .: no run and no file of scores has this name"),
    ] {
        let measures = if file.contains("-m") { "" } else { "-m AP" };
        assert_says(
            &folder.error(&format!("compare qrels bm25 {measures} --baseline {file}")),
            &[words],
        );
    }
    assert_says(
        &folder.error("compare other bm25 -m AP --baseline base.json"),
        &["its scores have other judgments than the runs here"],
    );
    assert_says(
        &folder.error("compare qrels bm25 -m AP --baseline base.csv -o base.csv"),
        &["it is one of the inputs"],
    );
    let both = folder.out(
        "compare qrels bm25 -m AP --baseline less.csv --queries common --format table --quiet",
    );
    assert_says(&both, &["2 runs, against base, 39 queries"]);
}

/// The options that shape rankings, or say which queries count and what is known of them, each with
/// a value besides the default.
const SHAPING: [(&str, &str); 12] = [
    ("--queries", "--queries common"),
    ("-M", "-M 5"),
    ("-J", "-J"),
    ("--relevant-from", "--relevant-from retrieved"),
    ("--ties", "--ties average"),
    ("--ties", "--ties input"),
    ("--score-type", "--score-type f32"),
    ("--drop-identical-ids", "--drop-identical-ids"),
    ("--exclude", "--exclude seen.tsv"),
    ("--doc-id", "--doc-id before:#"),
    ("--aggregate", "--aggregate max"),
    ("--max-chunks", "--max-chunks 5"),
];

/// Returns all options that the library lists: every setting differs between the two rules and the
/// two evaluations.
fn listed() -> BTreeSet<&'static str> {
    use laneval::labels::{AppliedAggregation, RankingRule};
    use laneval::scores::EvaluationSettings;
    use laneval::{Aggregation, QuerySet, ScoreType, TieBreak, TiedValue, View};

    let units = AppliedAggregation {
        units: "before:#".to_owned(),
        repeats: Aggregation::Max,
        rows: Some(5),
    };
    // Without `..`, so that a new setting needs a value here, and then a row in the table above.
    let rule = RankingRule {
        ties: TieBreak::Input,
        score: ScoreType::F32,
        depth: Some(5),
        drop_identical_ids: true,
        units: Some(units.into()),
        excluded: Some("7".into()),
    };
    let evaluation = EvaluationSettings {
        queries: QuerySet::Common,
        view: View { depth: Some(5), judged_only: true },
        relevant_from: "retrieved".parse().unwrap(),
        tied: TiedValue::Best,
    };
    let of_rule = rule.differences(&RankingRule::default());
    let of_evaluation = evaluation.differences(&EvaluationSettings::default());
    of_rule.iter().chain(&of_evaluation).map(|difference| difference.option).collect()
}

#[test]
fn results_that_differ_in_what_shapes_rankings_are_refused_by_its_name() {
    assert_eq!(SHAPING.iter().map(|(option, _)| *option).collect::<BTreeSet<_>>(), listed());
    let folder = Folder::new();
    for part in ["1", "2"] {
        folder.put(&format!("d.{part}"), format!("q{part} 0 B 1\n"));
        folder.put(
            &format!("e.{part}"),
            format!("q{part} Q0 q{part} 1 3 t\nq{part} Q0 B 2 2 t\nq{part} Q0 x#1 3 1 t\n"),
        );
    }
    folder.put("seen.tsv", "query_id\tdoc_id\nq1\tx#1\nq2\tx#1\n");
    folder.out("eval d.1 r=e.1 -m RR --partial a.part");
    folder.out("eval d.1 main=e.1 -m RR -q -o base.json");
    folder.out("compare d.1 a=e.1 b=e.1 -m RR --partial c.part --quiet");
    folder.out("build d.1 one=e.1 --keep-ties -o one.lmx");
    for (option, given) in SHAPING {
        folder.out(&format!("eval d.2 r=e.2 -m RR --partial b.part {given} --quiet"));
        assert_says(&folder.error("merge a.part b.part"), &[&format!("set {option} alike")]);
        folder.out(&format!("compare d.2 a=e.2 b=e.2 -m RR --partial d.part {given} --quiet"));
        assert_says(&folder.error("merge c.part d.part"), &[&format!("set {option} alike")]);
        let compared = "compare d.1 new=e.1 -m RR --baseline base.json --quiet";
        assert_says(
            &folder.error(&format!("{compared} {given}")),
            &[&format!("than the runs here ({option}: ")],
        );
        // What else is asked for is not in the file: it is of an evaluation, and one asks for it of
        // all files at once.
        if ["--queries common", "-J", "--relevant-from retrieved", "--ties average"]
            .contains(&given)
        {
            continue;
        }
        folder.out(&format!("build d.1 two=e.1 --keep-ties -o two.lmx {given} --quiet"));
        assert_says(
            &folder.error("compare one.lmx two.lmx -m RR"),
            &[&format!("set {option} alike")],
        );
    }
}
