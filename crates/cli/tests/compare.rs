//! `laneval compare`: numbers, tables, sentences, gates, and what cannot be compared.

use crate::folder::{Folder, Ran, assert_says};

/// Returns a folder with the bundled runs and short names for them.
fn demo() -> Folder {
    let folder = Folder::new();
    for name in ["demo.qrels", "demo-bm25.run", "demo-dense.run", "demo-hybrid.run"] {
        let path = format!("{}/../../examples/data/{name}", env!("CARGO_MANIFEST_DIR"));
        folder.put(
            name.trim_start_matches("demo-").trim_start_matches("demo."),
            std::fs::read(path).unwrap(),
        );
    }
    folder
}

const THREE: &str = "compare qrels bm25=bm25.run dense=dense.run hybrid=hybrid.run";

/// A run of the call is meant by its name, or by the path that it was read from.
#[test]
fn a_baseline_by_its_path() {
    let folder = demo();
    let by = |baseline: &str| {
        folder.out(&format!("{THREE} -m nDCG@10 --format tsv --quiet --baseline {baseline}"))
    };
    assert_eq!(by("dense.run"), by("dense"));
    assert_ne!(by("dense.run"), by("hybrid.run"));
}

/// What a run's missing queries make of a difference is the sum of their differences over all
/// queries.
#[test]
fn queries_that_a_run_lacks() {
    let folder = demo();
    let hybrid = String::from_utf8(folder.get("hybrid.run")).unwrap();
    let (most, left) = (hybrid.lines().filter(|line| line.as_bytes()[0] != b'2'), ["20", "29"]);
    let some: Vec<&str> = most.collect();
    assert!(
        left.iter().all(|id| hybrid.contains(&format!("\n{id} ")))
            && some.len() < hybrid.lines().count()
    );
    folder.put("some.run", some.join("\n") + "\n");
    let ran = folder.run("compare qrels hybrid.run some.run -m nDCG@10 --format tsv --per-query");
    let delta = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        (fields[4] == "delta" && fields[2].starts_with('2'))
            .then(|| fields[5].parse::<f64>().unwrap())
    };
    let deltas: Vec<f64> = ran.out.lines().filter_map(delta).collect();
    let contribution = deltas.iter().sum::<f64>() / 40.0;
    let note = format!(
        ", and {contribution:+.4} of it comes from {} queries that some.run lacks and that \
         count as empty",
        deltas.len()
    );
    assert!(
        deltas.len() == 10 && contribution < -0.1 && ran.err.contains(&note),
        "{note}\n{}",
        ran.err
    );
    let both = folder.run("compare qrels hybrid.run some.run -m nDCG@10 --queries common");
    assert!(!both.err.contains("some.run lacks"), "{}", both.err);
}

/// With four runs or more, a line for each measure says how many pairs it separates, by the p in
/// the rows.
#[test]
fn pairs_that_measures_tell_apart() {
    let folder = demo();
    let bm25 = String::from_utf8(folder.get("bm25.run")).unwrap();
    let fewer: Vec<&str> =
        bm25.lines().filter(|line| !line.contains(" Q0 ") || line.len() % 3 > 0).collect();
    folder.put("fewer.run", fewer.join("\n") + "\n");
    let four = format!("{THREE} fewer=fewer.run -m nDCG@10,P@10 --quiet");
    let rows = folder.out(&format!("{four} --format tsv"));
    let document: serde_json::Value =
        serde_json::from_str(&folder.out(&format!("{four} --format json"))).unwrap();
    let table = folder.out(&format!("{four} --format table"));
    for (at, measure) in ["nDCG@10", "P@10"].into_iter().enumerate() {
        let p_value = |line: &str| {
            line.split_once(&format!("\t{measure}\tp\t")).map(|(_, p)| p.parse().unwrap())
        };
        let mut p: Vec<f64> = rows.lines().filter_map(p_value).collect();
        p.sort_by(f64::total_cmp);
        let apart = p.iter().filter(|&&p| p < 0.05).count();
        assert!(p.len() == 6 && (1..6).contains(&apart), "{p:?}");
        let found = &document["discrimination"][at];
        assert_eq!((&found["measure"], &found["apart"]), (&measure.into(), &apart.into()));
        assert_eq!(
            found["p"].as_array().unwrap().iter().map(|p| p.as_f64().unwrap()).collect::<Vec<_>>(),
            p
        );
        let line = table.lines().rfind(|line| line.starts_with(measure)).unwrap();
        assert!(line.contains(&format!(" {apart} of 6 ")), "{line}");
    }
    let three = folder.out(&format!("{THREE} --format json --quiet"));
    assert!(!three.contains("discrimination"));
}

/// Returns the value of a row of the long format.
#[track_caller]
fn value(out: &str, run: &str, baseline: &str, measure: &str, stat: &str) -> f64 {
    let start = format!("{run}\t{baseline}\t\t{measure}\t{stat}\t");
    let row = out.lines().find_map(|line| line.strip_prefix(&start));
    row.unwrap_or_else(|| panic!("no row {start} in:\n{out}")).parse().unwrap()
}

/// A number of which twelve digits are known.
#[track_caller]
fn assert_near(found: f64, known: f64) {
    assert!((found - known).abs() <= 5e-12 * known.abs(), "{found}, not {known}");
}

/// Known from scipy and from counting in whole numbers.
#[test]
fn the_bundled_runs() {
    let folder = demo();
    let out =
        folder.out(&format!("{THREE} -m nDCG@10,P@10 --correction maxt --permutations exact"));
    for (run, baseline, delta, t, p, permuted, exact, max_t) in [
        (
            "dense",
            "bm25",
            0.0696184062394,
            1.5468998481,
            0.129964587813,
            13029.0,
            35733073982.0 / 2f64.powi(38),
            13029.0,
        ),
        (
            "hybrid",
            "bm25",
            0.164751672913,
            4.14895917013,
            0.000174972283748,
            20.0,
            52703262.0 / 2f64.powi(38),
            44.0,
        ),
        (
            "hybrid",
            "dense",
            0.0951332666741,
            2.06535114866,
            0.045581138916,
            4537.0,
            49380484030.0 / 2f64.powi(40),
            8454.0,
        ),
    ] {
        let stat_value = |stat| value(&out, run, baseline, "nDCG@10", stat);
        assert_near(stat_value("delta"), delta);
        assert_near(stat_value("t"), t);
        assert_near(stat_value("p_t"), p);
        assert_eq!(stat_value("p"), stat_value("p_t"));
        assert_eq!(stat_value("p_perm"), (permuted + 1.0) / 100_000.0);
        assert_eq!(stat_value("p_exact"), exact);
        assert_eq!(stat_value("p_adj"), (max_t + 1.0) / 100_000.0);
    }
    assert_near(value(&out, "dense", "bm25", "P@10", "p_t"), 0.0417672187877);
    assert_eq!(value(&out, "dense", "bm25", "P@10", "p_exact"), 57250074.0 / 2f64.powi(30));
    assert_eq!(value(&out, "dense", "", "nDCG@10", "filled"), 1.0);
}

#[test]
fn a_table_and_sentences() {
    let folder = demo();
    let Ran { out, err, code } =
        folder.run(&format!("{THREE} -m nDCG@10,P@10 --baseline bm25 --format table"));
    assert_eq!(code, 0, "{err}");
    let expected = "\
hybrid is better than bm25: nDCG@10 +0.165 (+28.9 %, 95 % interval +0.084 to +0.245), adjusted p = \
0.0003.
dense against bm25 is undecided: +0.070 (+12.2 %, 95 % interval -0.021 to +0.161), adjusted p = \
        0.1300.

3 runs, against bm25, 40 queries; t, Holm, 2 comparisons per measure; 99999 permutations, seed \
        0x6c616e6576616c31

#  run     nDCG@10      P@10    Judged@10
─────────────────────────────────────────
a  bm25     0.5703    0.2775         56 %
b  dense    0.6399    0.3275ᵃ        57 %
c  hybrid   0.7351*ᵃ  0.3600*ᵃ       60 %

* best; letters: shown to be better than that run (adjusted p < 0.05).
";
    let lines =
        |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
    assert_eq!(lines(&out)[..12], lines(expected)[..], "{out}");
    assert_says(
        &out,
        &[
            "hybrid is better than bm25 on nDCG@10: 0.7351 against 0.5703, +0.1648 (+28.9 %), 95 % \
             interval +0.0844 to +0.2451; \
             p = 0.0003 (t, Holm, 2 comparisons); of 40 queries 26 won, 2 tied, 12 lost.",
            "No difference shown between dense and bm25 on nDCG@10: +0.0696, but anything from \
             -0.0214 to +0.1606 fits",
            "40 queries find a difference of 0.13 four times in five.",
        ],
    );
    assert_says(
        &err,
        &["the t test and the randomisation test disagree at 0.05: P@10 of dense and bm25 (p = "],
    );
}

/// All pairs: letters follow the corrected p, and what is not shown to be worse than the best has a
/// mark.
#[test]
fn letters_follow_the_correction() {
    let folder = demo();
    let rows = |options: &str| {
        let out = folder.out(&format!("{THREE} -m nDCG@10 --format table {options}"));
        let rows = out
            .lines()
            .skip(7)
            .take(3)
            .map(|line| line.split_whitespace().nth(2).unwrap().to_owned());
        rows.collect::<Vec<String>>()
    };
    assert_eq!(rows(""), ["0.5703", "0.6399=", "0.7351*ᵃ"]);
    assert_eq!(rows("--correction none"), ["0.5703", "0.6399", "0.7351*ᵃᵇ"]);
    assert_eq!(rows("--alpha 0.0001"), ["0.5703=", "0.6399=", "0.7351*"]);
}

#[test]
fn every_format() {
    let folder = demo();
    let out = |format: &str| folder.out(&format!("{THREE} -m nDCG@10,P@10 --format {format}"));
    assert_says(
        &out("markdown"),
        &[
            "| # | run | nDCG@10 | P@10 | Judged@10 |\n| --- | --- | ---: | ---: | ---: |\n",
            "| c | hybrid | **0.7351**<sup>a</sup> |",
        ],
    );
    assert_says(
        &out("latex"),
        &[
            "\\begin{tabular}{llrrr}\n\\toprule\n",
            "\\textbf{0.7351}$^{a}$",
            "57 \\%",
            "\\caption{3 runs, 40 queries; t, Holm, 3 comparisons per measure; 99999 permutations, \
             seed 0x6c616e6576616c31}",
        ],
    );
    let document: serde_json::Value = serde_json::from_str(&out("json")).unwrap();
    assert_eq!(document["pairs"].as_array().unwrap().len(), 6);
    assert_eq!(document["pairs"][1]["better"], "hybrid");
    assert_eq!(document["pairs"][0]["better"], serde_json::Value::Null);
    assert_eq!(document["settings"]["family_size"], 3);
    let lines = out("jsonl");
    assert_eq!(lines.lines().count() + 1, out("tsv").lines().count());
    let first: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(first["stat"], "mean");
    assert_says(
        &folder.error(&format!("{THREE} --format trec")),
        &["the format trec has no place for a comparison"],
    );
    let per_query = folder.out(&format!("{THREE} -m AP --per-query --format csv"));
    assert_eq!(per_query.lines().filter(|line| line.contains(",delta,")).count(), 3 * 40 + 3);
}

#[test]
fn gates() {
    let folder = demo();
    let judge = |runs: &str, gates: &[&str]| {
        let gates: String = gates.iter().map(|gate| format!(" --fail-if '{gate}'")).collect();
        folder.shell(&format!("$L compare qrels {runs} -m nDCG@10 --format table{gates}"))
    };
    let (better, worse) = ("bm25.run hybrid.run", "hybrid.run bm25.run");
    let passed = judge(better, &["nDCG@10 drops > 0.005", "AP < 0.3", "nDCG@10 worse p<0.05"]);
    assert_eq!(passed.code, 0, "{}", passed.err);
    assert_says(&passed.out, &["PASSED  hybrid.run: nDCG@10 drops > 0.005"]);
    for gate in [
        "nDCG@10 drops > 0.005",
        "nDCG@10 drops > 1% p<0.05",
        "AP < 0.5",
        "nDCG@10 worse p<0.05",
        "nDCG@10 may drop > 0.005",
    ] {
        let failed = judge(worse, &[gate, "P@10 <= 0"]);
        assert_eq!(failed.code, 1, "{gate}\n{}{}", failed.out, failed.err);
        assert_says(
            &failed.out,
            &[&format!("FAILED  bm25.run: {gate}"), "PASSED  bm25.run: P@10 <= 0"],
        );
        assert_says(&failed.err, &[&format!("error: a gate failed: bm25.run: {gate}")]);
    }
    // What cannot be told is no pass.
    for (gate, why) in [
        ("nDCG@10 rises > 0.1", "drops"),
        ("nDCG@10 drops >", "an amount"),
        ("NumRel drops", "NumRel"),
        ("XX < 1", "XX"),
    ] {
        let refused = judge(worse, &[gate]);
        assert_eq!(refused.code, 2, "{gate}\n{}", refused.out);
        assert_says(&refused.err, &[why]);
    }
}

/// `eval` has gates that look at one run.
#[test]
fn gates_of_averages() {
    let folder = demo();
    let judge = |gate: &str| {
        folder.shell(&format!("$L eval qrels bm25.run dense.run -m AP --fail-if '{gate}'"))
    };
    let failed = judge("nDCG@10 < 0.6");
    assert_eq!(failed.code, 1, "{}", failed.err);
    assert_says(
        &failed.err,
        &[
            "PASSED  dense.run: nDCG@10 < 0.6  (nDCG@10 of dense.run is 0.6399; allowed: 0.6 or \
             more)",
            "error: a gate failed: bm25.run: nDCG@10 < 0.6 (nDCG@10 of bm25.run is 0.5703; \
             allowed: 0.6 or more)",
        ],
    );
    assert_says(&failed.out, &["bm25.run\t\tnDCG@10\tmean\t0.5703262171092888"]);
    let passed = judge("AP <= 0.2");
    assert_eq!(passed.code, 0, "{}", passed.err);
    let refused = judge("AP drops > 0.1");
    assert_eq!((refused.code, refused.out.as_str()), (2, ""));
    assert_says(&refused.err, &["it compares with a baseline, which only `laneval compare` has"]);
}

#[test]
fn what_cannot_be_compared() {
    let folder = demo();
    folder.put("other.qrels", "01 0 x 1\n");
    folder.out("build qrels bm25.run -o a.lmx");
    folder.out("build qrels dense.run --ties docno-asc -o b.lmx");
    for (args, why) in [
        ("compare qrels bm25.run", "bm25.run is the only run: two or more were expected"),
        (
            "compare qrels bm25.run dense.run -m NumRel",
            "a higher NumRel is neither better nor worse",
        ),
        (
            "compare qrels bm25.run dense.run --baseline sparse",
            "--baseline sparse: no run and no file of scores has this name; the runs are bm25.run, \
             dense.run",
        ),
        ("compare a.lmx b.lmx", "a.lmx and b.lmx"),
        (
            "compare qrels bm25.run dense.run --ties interval",
            "--ties interval gives three values per query",
        ),
        ("compare qrels bm25.run dense.run --alpha 2", "α is 2"),
        ("compare qrels bm25.run dense.run --margin 0", "the margin is 0"),
        ("compare qrels bm25.run dense.run --correction hsd --family all", "one measure only"),
        ("compare qrels bm25.run dense.run --correction maxt --alternative better", "two-sided"),
        ("compare qrels bm25.run dense.run --permutations 0", "1 or more, `auto` or `exact`"),
    ] {
        let Ran { out, err, code } = folder.run(args);
        assert_eq!((out.as_str(), code), ("", 2), "{args}\n{err}");
        if !args.contains("a.lmx") {
            assert_says(&err, &[why]);
        }
    }
}

/// Equal runs have p = 1; one query has a difference and nothing else.
#[test]
fn equal_runs_and_one_query() {
    let folder = demo();
    let out = folder.out("compare qrels a=bm25.run b=bm25.run --format table");
    assert_says(&out, &["b and a have the same nDCG@10 in each of the 40 queries.", "1.0000"]);
    let tsv = folder.out("compare qrels a=bm25.run b=bm25.run -m AP --format tsv");
    assert_eq!(
        [value(&tsv, "b", "a", "AP", "p"), value(&tsv, "b", "a", "AP", "p_adj")],
        [1.0, 1.0]
    );
    assert!(!tsv.contains("\tt\t") && !tsv.contains("d_z"), "{tsv}");
    folder.put("one", "01\n");
    let one = folder.run("compare qrels bm25.run dense.run --only-queries one --format table");
    assert_eq!(one.code, 0, "{}", one.err);
    assert_says(&one.out, &["in the only query"]);
    for (gate, code) in [("AP drops", 1), ("AP drops > 0.9", 0), ("AP worse p<0.05", 2)] {
        let gate = folder.shell(&format!(
            "$L compare qrels bm25.run dense.run --only-queries one --fail-if '{gate}'"
        ));
        assert_eq!(gate.code, code, "{}", gate.err);
    }
}

/// Neither the number of threads nor the order of the lines changes a byte.
#[test]
fn the_bytes_are_always_the_same() {
    let folder = demo();
    let text = String::from_utf8(folder.get("hybrid.run")).unwrap();
    let backwards: String = text.lines().rev().map(|line| format!("{line}\n")).collect();
    folder.put("backwards.run", backwards);
    let all = "-m nDCG@10,AP --correction maxt --family all --ci bca --anova --format json";
    let one =
        folder.out(&format!("compare qrels a=bm25.run b=hybrid.run c=dense.run {all} --threads 1"));
    let two = folder
        .out(&format!("compare qrels a=bm25.run b=backwards.run c=dense.run {all} --threads 2"));
    assert_eq!(one, two);
}
