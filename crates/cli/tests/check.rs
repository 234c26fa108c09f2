//! `laneval check`: programs that compute a known definition, or make a usual mistake, are named;
//! what cannot be run is an error.

use crate::folder::{Folder, assert_says};

/// A program in awk of a measure over the files of a case; `VALUE` ends it, with `n` results,
/// `g[i]` the grade at rank i, `R`, and `best[i]` the grades of the judged documents from the
/// largest. Equal scores stay in the order of the file.
const PROGRAM: &str = r#"#!/bin/sh
sort -s -k5,5gr "$2" | awk -v k="$3" -v qrels="$1" '
function lg(x) { return log(x) / log(2) }
function min(a, b) { return a < b ? a : b }
BEGIN {
    while ((getline line < qrels) > 0) {
        split(line, f, " "); grade[f[3]] = f[4] > 0 ? f[4] : 0
        if (f[4] > 0) {
            R++; j = R
            while (j > 1 && best[j - 1] < f[4]) { best[j] = best[j - 1]; j-- }
            best[j] = f[4]
        }
    }
}
{ n++; g[n] = ($3 in grade) ? grade[$3] : 0 }
END {
    R += 0
    VALUE
}'
"#;

impl Folder {
    /// Puts a program there that ends with these lines of awk.
    fn program(&self, name: &str, value: &str) {
        self.put(name, PROGRAM.replace("VALUE", value));
        self.shell(&format!("chmod +x {name}"));
    }

    /// What a check of it says, with its exit code.
    fn checked(&self, options: &str) -> (String, i32) {
        let ran = self.run(&format!("check {options} {{qrels}} {{run}} {{k}}"));
        assert_eq!(ran.err, "", "{options}");
        (ran.out, ran.code)
    }
}

const NDCG: &str =
    "for (i = 1; i <= min(k, n); i++) s += GAIN / DISCOUNT; for (i = 1; i <= min(k, \
                    R); i++) t += IDEAL / DISCOUNT
    printf \"%.17g\\n\", t ? s / t : 0";

/// nDCG with these gains and this discount.
fn ndcg(gain: &str, ideal: &str, discount: &str) -> String {
    NDCG.replace("GAIN", gain).replace("IDEAL", ideal).replace("DISCOUNT", discount)
}

#[test]
fn a_known_definition_is_named_with_its_libraries() {
    let folder = Folder::new();
    folder.program("linear", &ndcg("g[i]", "best[i]", "lg(i + 1)"));
    folder.program("exp2", &ndcg("(2 ^ g[i] - 1)", "(2 ^ best[i] - 1)", "lg(i + 1)"));
    folder.program("short", &ndcg("g[i]", "best[i]", "lg(i + 1)").replace("%.17g", "%.4f"));
    folder.program("single", &ndcg("g[i]", "best[i]", "lg(i + 1)").replace("%.17g", "%.7g"));
    for (options, measure, libraries, class) in [
        ("-m nDCG -- ./linear", "nDCG@k --ties input", "ranx, recommenders (raw)", "sum"),
        (
            "-m ndcg -- ./exp2",
            "nDCG(gain=exp2)@k --ties input",
            "ranx (ndcg_burges), recommenders (exp)",
            "sum",
        ),
        ("-m nDCG -- ./short", "nDCG@k --ties input", "ranx, recommenders (raw)", "digits:4"),
        ("-m nDCG -- ./single", "nDCG@k --ties input", "ranx, recommenders (raw)", "f32"),
        (
            "-m nDCG --as ranx -- ./exp2",
            "nDCG(gain=exp2)@k --ties input",
            "ranx (ndcg_burges)",
            "sum",
        ),
    ] {
        let (out, code) = folder.checked(options);
        assert_eq!(code, 0, "{options}: {out}");
        assert!(out.starts_with(&format!("this is {measure}: {libraries}")), "{options}: {out}");
        assert_says(&out, &[&format!("(21 of 21 cases, {class})\n")]);
    }
}

#[test]
fn usual_mistakes_are_named() {
    let folder = Folder::new();
    folder.program("rank", &ndcg("g[i]", "best[i]", "(i > 1 ? lg(i) : 1)"));
    folder.program("late", &ndcg("g[i]", "best[i]", "lg(i + 2)"));
    // The ideal of the first k results: they are sorted once the sum is there.
    let sorted = "m = min(k, n); for (i = 1; i <= m; i++) s += g[i] / lg(i + 1)
    for (i = 1; i <= m; i++) for (j = i + 1; j <= m; j++) if (g[j] > g[i]) { x = g[i]; g[i] = \
        g[j]; g[j] = x }
    for (i = 1; i <= m; i++) t += g[i] / lg(i + 1); printf \"%.17g\\n\", t ? s / t : 0";
    folder.program("own", sorted);
    folder.program(
        "more",
        "for (i = 1; i <= min(k, n); i++) h += g[i] > 0; printf \"%.17g\\n\", h / (R + 1)",
    );
    folder.put(
        "reversed",
        PROGRAM.replace("sort -s", "tac \"$2\" | sort -s").replace("\"$2\" | awk", "| awk"),
    );
    let reversed = String::from_utf8(folder.get("reversed")).unwrap();
    let reversed = reversed
        .replace("VALUE", &ndcg("g[i]", "best[i]", "lg(i + 1)"))
        .replace("-k5,5gr |", "-k5,5gr - |");
    folder.put("reversed", reversed);
    folder.shell("chmod +x reversed");
    let but = |measure: &str, mistake: &str| {
        format!("no definition known: this is {measure} but for one choice: {mistake}\n")
    };
    for (options, expected) in [
        ("-m nDCG -- ./rank", but("nDCG@k --ties input", "discount lg i for lg(i + 1)")),
        ("-m nDCG -- ./late", but("nDCG@k --ties input", "discount lg(i + 2) for lg(i + 1)")),
        ("-m R -- ./more", but("R@k --ties input", "divided by R + 1")),
        ("-m nDCG -- ./reversed", but("nDCG@k", "equal scores in the reverse order of the file")),
    ] {
        assert_eq!(folder.checked(options), (expected, 1), "{options}");
    }
    let (out, code) = folder.checked("-m nDCG -- ./own");
    assert_eq!(code, 0, "{out}");
    assert_says(&out, &["this is nDCG(ideal=retrieved)@k -M k --ties input: no library known"]);
}

#[test]
fn the_nearest_definition_says_what_is_wrong() {
    let folder = Folder::new();
    // Two things are other than in any definition: 1 where nothing is relevant, and a discount.
    let one = ndcg("g[i]", "best[i]", "lg(i + 1)").replace("t ? s / t : 0", "t ? s / t : 1");
    folder.program("one", &one);
    let (out, code) = folder.checked("-m nDCG -- ./one");
    assert_eq!(code, 1);
    let expected = "no definition known: nearest nDCG@k --ties input, 19 of 21 cases; wrong: \
                nothing (1 for 0), S4 (1 for 0)\n";
    assert_eq!(out, expected);
    let (out, _) = folder.checked("-m nDCG --format json -- ./one");
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (&json["schema"], &json["verdict"], &json["compared"]),
        (&1.into(), &"none".into(), &21.into())
    );
    assert_eq!(
        (&json["nearest"]["id"], &json["nearest"]["agree"]),
        (&"nDCG:input".into(), &19.into())
    );
    let cases = json["cases"].as_array().unwrap();
    let wrong: Vec<_> =
        cases.iter().filter(|case| case["agrees"] == false).map(|case| &case["id"]).collect();
    assert_eq!(wrong, ["nothing", "S4"]);
    let (out, code) = folder.checked("-m nDCG --as lightgbm -- ./one");
    assert_eq!(code, 1);
    assert!(out.starts_with("no definition known: "), "{out}");
    assert_says(&out, &["nDCG(gain=exp2,no_relevant=1)@k --relevant-from retrieved --ties input"]);
}

#[test]
fn refused_cases_are_no_evidence() {
    let folder = Folder::new();
    folder.program("ranx", &ndcg("g[i]", "best[i]", "lg(i + 1)"));
    folder.put(
        "careful",
        "#!/bin/sh\nif grep -q -- -1 \"$1\"; then echo negative grades >&2; exit 4; \
         fi\n./ranx \"$@\"\n",
    );
    folder.shell("chmod +x careful");
    let (out, code) = folder.checked("-m nDCG -- ./careful");
    assert_eq!(code, 0, "{out}");
    assert_says(
        &out,
        &[
            "this is nDCG@k --ties input: ranx, recommenders (raw)   (18 of 18 cases, sum)\n3 \
             cases are refused",
            "negative (./careful exited with 4 (negative grades)) …",
        ],
    );
    // Only one case is answered, and that by many.
    folder.put("hardly", "#!/bin/sh\ngrep -q first \"$1\" || exit 1\n./ranx \"$@\"\n");
    folder.shell("chmod +x hardly");
    let (out, code) = folder.checked("-m nDCG -- ./hardly");
    assert_eq!(code, 1, "{out}");
    assert_says(
        &out,
        &[" definitions fit, and no case that was answered tells them apart:\n  nDCG@k: trec_eval"],
    );
}

#[test]
fn what_cannot_be_checked_is_an_error() {
    let folder = Folder::new();
    folder.put("silent", "#!/bin/sh\n");
    folder.put("three", "#!/bin/sh\nexit 3\n");
    folder.put("words", "#!/bin/sh\necho 0.5 done\n");
    folder.shell("chmod +x silent three words");
    for (options, expected) in [
        (
            "-m nDCG -- ./three",
            "./three exited with 3 on every case: check needs a number for some",
        ),
        (
            "-m nDCG -- ./silent",
            "the query has no value on every case: check needs a number for some",
        ),
        (
            "-m nDCG -- ./words",
            "./words printed `done` last, where a number was expected on every case",
        ),
        ("-m nDCG -- ./none", "./none: cannot run: No such file or directory"),
        (
            "-m nDCG@10 -- ./three",
            "nDCG@10: cutoffs and parameters are what a check finds out: nDCG, AP, RR, P, R, ERR, \
             Bpref, AUC was expected",
        ),
        ("-m ndgc -- ./three", "ndgc: the suite has no such measure: nDCG, AP,"),
        ("-m nDCG --suite v9 -- ./three", "there is no suite `v9`, only v1"),
        (
            "-m nDCG --as xgboots -- ./three",
            "xgboots is no library of the suite: allrank, beir, catboost,",
        ),
        ("-m R --as lightgbm -- ./three", "the suite does not know R of lightgbm, only nDCG, AP"),
    ] {
        let ran = folder.run(&format!("check {options} {{qrels}} {{run}} {{k}}"));
        assert_eq!((ran.out.as_str(), ran.code), ("", 2), "{options}\n{}", ran.err);
        assert_says(&ran.err, &[&format!("error: {expected}")]);
    }
    assert_says(
        &folder.error("check -m nDCG -- ./three {qrels}"),
        &["no word of COMMAND has {run}"],
    );
    assert_says(&folder.error("check -m nDCG"), &["<COMMAND>"]);
    assert_says(&folder.error("check -- ./three {qrels} {run}"), &["--measure"]);
}

#[test]
fn a_program_that_hangs_is_ended() {
    let folder = Folder::new();
    let begun = std::time::Instant::now();
    // What the shell started holds its stdout, and is ended as well.
    folder.put("slow", "#!/bin/sh\nsleep 100 &\necho $! >pid\nwait\necho 1\n");
    folder.shell("chmod +x slow");
    let error = folder.error("check -m nDCG -- ./slow {qrels} {run}");
    assert_says(&error, &["./slow took more than 10 s on each of the first 3 cases"]);
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
    let state = folder.shell("ps -o stat= -p $(cat pid)").out;
    assert!(["", "Z"].contains(&state.trim()), "{state}");
}

#[test]
fn what_is_printed_counts_though_stdout_stays_open() {
    let folder = Folder::new();
    folder.put("leaves", "#!/bin/sh\necho 0.25\nsleep 2 &\n");
    folder.put("paints", "#!/bin/sh\nprintf '\\033[31mred\\033[0m'\n");
    folder.shell("chmod +x leaves paints");
    let output = |program: &str| {
        let ran = folder.run(&format!("check -m nDCG -- ./{program} {{qrels}} {{run}}"));
        ran.out + &ran.err
    };
    assert_says(&output("leaves"), &["(0.250 for "]);
    let painted = output("paints");
    assert!(!painted.contains('\u{1b}') && painted.contains("31mred"), "{painted}");
}

#[test]
fn laneval_itself_is_known() {
    let folder = Folder::new();
    let ran = folder.shell("$L check -m P -- $L eval {qrels} {run} -m P@{k} --format trec --quiet");
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert_says(&ran.out, &["this is P@k: trec_eval, pytrec_eval, ir_measures"]);
}
