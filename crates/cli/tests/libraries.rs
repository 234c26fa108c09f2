//! Evaluations as other libraries do them: prefixes of names, `--as`, and `laneval measures --as`.

use laneval::measure::{FOREIGN, Profile};

use crate::folder::{Folder, assert_says};

const QRELS: &str = "q1 0 a 2\nq1 0 b 0\nq1 0 c 1\nq1 0 e 3\nq2 0 a 1\n";
/// c and b are tied across the top, a, v and u across rank 3. q2 is not in the run.
const RUN: &str =
    "q1 Q0 c 1 5 t\nq1 Q0 b 2 5 t\nq1 Q0 a 3 3 t\nq1 Q0 v 4 3 t\nq1 Q0 u 5 3 t\nq1 Q0 e 6 1 t\n";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.put("qrels", QRELS);
    folder.put("run", RUN);
    folder
}

/// Returns the number of the only row of a command that prints one.
fn value(folder: &Folder, args: &str) -> f64 {
    let out = folder.out(args);
    let rows: Vec<&str> = out.lines().skip(1).collect();
    assert_eq!(rows.len(), 1, "{out}");
    rows[0].rsplit('\t').next().unwrap().parse().unwrap()
}

/// The numbers of the libraries: scikit-learn 1.9.1, ranx 0.3.21, LightGBM 4.7.0, CatBoost 1.2.10
/// and pytrec_eval 0.5.11 were run.
#[test]
fn as_computes_what_the_library_computes() {
    let folder = folder();
    for (as_library, measure, expected) in [
        ("sklearn", "ndcg_score@3", 0.24124991684358482),
        ("ranx", "ndcg@3", 0.42000399150792816),
        ("lightgbm", "ndcg@3", 0.2661616193664992),
        ("xgboost", "map@3", 0.5555555555555555),
        ("catboost", "MAP@3", 0.16666666666666666),
        ("trec9", "ndcg_cut.3", 0.21000199575396408),
    ] {
        // ranx counts q2, which is worth 0.
        let queries = if as_library == "ranx" { 2.0 } else { 1.0 };
        for name in [measure.to_owned(), format!("{as_library}:{measure}")] {
            let found = value(&folder, &format!("eval qrels run --as {as_library} -m {name}"));
            assert!((found * queries - expected).abs() < 1e-14, "{as_library} {name}: {found}");
        }
    }
    let options = "--ties average --relevant-from retrieved --queries common";
    let by_options = value(&folder, &format!("eval qrels run -m nDCG@3 {options}"));
    assert_eq!(by_options, value(&folder, "eval qrels run --as sklearn -m ndcg@3"));
}

#[test]
fn without_measures_it_is_the_usual_ones_of_the_library() {
    let folder = folder();
    let out = folder.out("eval qrels run --as lightgbm --format jsonl");
    let measures =
        ["\"nDCG(gain=exp2,no_relevant=1)@10\"", "\"AP(rel=>0.5,norm=min,no_relevant=1)\""];
    assert_says(&out, &measures);
    assert_eq!(out.lines().count(), 2, "{out}");
    let trec = folder.out("eval qrels run --as trec10");
    assert_eq!(trec, folder.out("eval qrels run --queries common"));
}

#[test]
fn an_option_that_does_not_agree_is_refused() {
    let folder = folder();
    for (args, expected) in [
        (
            "--as sklearn --ties input",
            "error: --as sklearn averages over equal scores, --ties input does not: leave one \
             out\n",
        ),
        (
            "--as xgboost --score-type f64",
            "error: --as xgboost compares scores as f32, --score-type f64 does not: leave one \
            out\n",
        ),
        (
            "--as lightgbm --relevant-from judged",
            "error: --as lightgbm knows retrieved documents only, --relevant-from judged does \
            not: leave \
             one out\n",
        ),
        (
            "--as trec --queries judged",
            "error: --as trec leaves out queries that the run lacks, --queries judged does not: \
             leave one out\n",
        ),
        ("--as xgboots", "error: xgboots: is no library: did you mean xgboost?\n"),
        ("--as xgboost3", "error: xgboost3: xgboost has xgboost (2 and later) and xgboost1\n"),
        (
            "-m xgboost3:map@5",
            "error: xgboost3:map@5: xgboost has xgboost (2 and later) and xgboost1\n",
        ),
        ("-m xgboots:map@5", "error: xgboots: is no library: did you mean xgboost?\n"),
        (
            "--as lightgbm -m recall@5",
            "error: lightgbm:recall@5: LightGBM has no recall, only ndcg, map (list it: laneval \
             measures --as lightgbm)\n",
        ),
        (
            "-m quepid:ap@10",
            "error: quepid:ap@10 is not a number where nothing is relevant; laneval gives 0 \
             (no_relevant=0): \
             say no_relevant=0 or no_relevant=skip\n",
        ),
        (
            "--as ranx -m trec:map",
            "error: --as ranx means its own names, and not those of trec_eval\n",
        ),
    ] {
        let error = folder.error(&format!("eval qrels run {args}"));
        assert!(error.starts_with(expected), "{args}: {error}");
    }
    for args in [
        "--as sklearn --ties average",
        "--as xgboost --score-type f32 --relevant-from retrieved --queries common",
    ] {
        folder.out(&format!("eval qrels run {args}"));
    }
}

/// A prefix chooses a measure and no ranking, which a note says where the ranking of the library is
/// another.
#[test]
fn a_prefix_alone_gets_a_note_where_options_matter() {
    let folder = folder();
    let note = "note: sklearn:ndcg@10: scikit-learn averages over equal scores and knows retrieved \
                documents only; \
                --as sklearn does too\n";
    for command in ["eval qrels run", "pools qrels run other=run", "show qrels run --query q1"] {
        let args = format!("{command} -m sklearn:ndcg@10");
        let err = folder.run(&args).err;
        assert_eq!(err.matches(note).count(), 1, "{args}: {err}");
        assert!(!folder.run(&format!("{args} --quiet")).err.contains("scikit-learn"), "{args}");
    }
    folder.put("other", RUN.replace(" 3 t", " 2 t"));
    let err = folder.run("compare qrels run other -m sklearn:ndcg@10").err;
    assert_eq!(err.matches(note).count(), 1, "{err}");
    let err = |args: &str| folder.run(&format!("eval qrels run {args}")).err;
    assert_says(
        &err("-m ranx:mrr -m ranx:map,AP"),
        &["note: ranx:mrr, ranx:map: ranx keeps equal scores in the order of the input; --as \
             ranx does too\n"],
    );
    for args in [
        "-m ranx:mrr --ties input",
        "-m ranx:mrr --as ranx",
        "-m trec:map",
        "-m trec10:map",
        "-m trec9:map --score-type f32",
        "-m sklearn:ndcg@10 --ties average --relevant-from retrieved",
    ] {
        assert!(!err(args).contains("does too"), "{args}: {}", err(args));
    }
}

/// The same scores, from text, from a pipe, and from a matrix that was built as the library ranks.
#[test]
fn as_holds_for_matrices_and_pipes() {
    let folder = folder();
    for (as_library, measure) in
        [("sklearn", "ndcg@3"), ("ranx", "ndcg@3"), ("xgboost", "ndcg@3"), ("catboost", "MRR")]
    {
        let text = folder.out(&format!("eval qrels run --as {as_library} -m {measure}"));
        let piped =
            folder.run_with(&format!("eval qrels run=- --as {as_library} -m {measure}"), RUN);
        assert_eq!((piped.out, piped.code), (text.clone(), 0), "{as_library}: {}", piped.err);
        folder.out(&format!("build qrels run -o {as_library}.lmx --as {as_library}"));
        assert_eq!(
            folder.out(&format!("eval {as_library}.lmx --as {as_library} -m {measure}")),
            text
        );
    }
    folder.out("build qrels run -o plain.lmx");
    assert_says(
        &folder.error("eval plain.lmx --as sklearn -m ndcg@3"),
        &["does not know its ties: build it again with --keep-ties"],
    );
    assert_says(
        &folder.error("eval plain.lmx --as ranx -m ndcg@3"),
        &["was built with --ties docno-desc, so --ties input cannot be answered"],
    );
    assert_says(
        &folder.error("build qrels run -o x.lmx --as ranx --ties docno-asc"),
        &["--as ranx keeps equal scores in the order of the input, --ties docno-asc does not"],
    );
    // The ranking of a matrix counts for the note, and not the default.
    let err = folder.run("eval ranx.lmx -m ranx:ndcg@3").err;
    assert!(!err.contains("does too"), "{err}");
}

#[test]
fn compare_show_and_pools_evaluate_as_libraries() {
    let folder = folder();
    folder.put("other", RUN.replace(" 3 t", " 2 t"));
    let compared = folder.out("compare qrels run other --as ranx -m mrr,ndcg@3 --format json");
    let by_hand = folder.out("compare qrels run other -m RR,nDCG@3 --ties input --format json");
    assert_eq!(compared, by_hand);
    let shown = folder.out("show qrels run --query q1 --as ranx -m ndcg@3");
    assert_eq!(shown, folder.out("show qrels run --query q1 -m nDCG@3 --ties input"));
    let pools = folder.out("pools qrels run other=bm25.run --as ranx -m map");
    assert_eq!(pools, folder.out("pools qrels run other=bm25.run -m AP --ties input"));
    assert_eq!(
        folder.error("pools qrels run other=bm25.run --as sklearn -m ndcg"),
        "error: scikit-learn averages over equal scores and knows retrieved documents only, of \
         which no pools are made: leave --as out\n"
    );
}

#[test]
fn libraries_are_listed_with_their_names() {
    let folder = Folder::empty();
    let list = folder.out("measures --as");
    for profile in Profile::ALL {
        let row = list.lines().find(|line| line.starts_with(&format!("{} ", profile.prefix)));
        assert_says(row.unwrap_or(&list), &[profile.library, profile.versions]);
        let page = folder.out(&format!("measures --as {}", profile.prefix));
        let names = FOREIGN.iter().filter(|row| profile.tools.contains(&row.tool));
        for row in names {
            let line = page
                .lines()
                .find(|line| line.trim_start().starts_with(&format!("{} ", row.example())));
            let meaning = row.meaning();
            assert_says(line.unwrap_or(&page), &[&meaning[0].to_string()]);
        }
        let wide = list.lines().chain(page.lines()).find(|line| line.chars().count() > 110);
        assert_eq!(wide, None);
    }
    let all: serde_json::Value =
        serde_json::from_str(&folder.out("measures --as --format json")).unwrap();
    let all = all.as_array().unwrap();
    assert_eq!(all.len(), Profile::ALL.len());
    for library in all {
        let prefix = library["prefix"].as_str().unwrap();
        let one = folder.out(&format!("measures --as {prefix} --format json"));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&one).unwrap(), *library);
    }
    let xgboost = all.iter().find(|library| library["prefix"] == "xgboost").unwrap();
    assert_eq!(
        xgboost["options"],
        serde_json::json!({
            "queries": "common",
            "relevant_from": "retrieved",
            "score_type": "f32",
            "ties": "input",
        })
    );
    let name =
        serde_json::json!({"name": "pre", "example": "pre@10", "measures": ["P(norm=min)@10"]});
    assert!(xgboost["names"].as_array().unwrap().contains(&name));
    assert_eq!(
        folder.error("measures --as xgboots"),
        "error: xgboots: is no library: did you mean xgboost?\n"
    );
}
