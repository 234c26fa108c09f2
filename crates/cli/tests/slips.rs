//! Plausible slips at the command line: each error says what to do instead.

use crate::folder::{Folder, assert_says};

/// Checks that a command fails with exit code 2, and says all of this.
fn fails(folder: &Folder, args: &str, words: &[&str]) {
    let error = folder.error(args);
    for word in words {
        assert!(error.contains(word), "{args}\n{error}\nlacks {word}");
    }
}

#[test]
fn several_judges_without_a_word_are_refused_with_the_options_that_help() {
    let folder = Folder::new();
    folder.put("judges", "q1 ann a 0\nq1 ben a 1\n");
    let options = ["--judges mean, min, max or each", "--facet judge"];
    fails(&folder, "eval judges bm25.run -m AP", &options);
    fails(&folder, "compare judges bm25.run dense.run -m AP", &options);
    // What the error offers works.
    assert!(
        folder
            .out("eval judges bm25.run -m AP --judges max --format trec")
            .contains("AP(judges=max)")
    );
    assert!(folder.out("eval judges bm25.run -m AP --facet judge --format trec").contains("AP"));
}

#[test]
fn convert_names_the_option_for_the_other_kind_of_rows() {
    let folder = Folder::new();
    fails(
        &folder,
        "convert qrels -o q.tsv",
        &["qrels: these are judgments, a run was expected; add --qrels\n"],
    );
    fails(
        &folder,
        "convert bm25.run --qrels -o q.tsv",
        &["bm25.run: this is a run, judgments were expected; leave out --qrels\n"],
    );
    assert_eq!(folder.names(), ["bm25.run", "dense.run", "qrels"], "and nothing is written");
    folder.put("mixed", "q1 0 d1 1\nq1 0 d2\n");
    fails(&folder, "convert mixed -o q.tsv", &["(this looks like judgments: add --qrels)\n"]);
}

#[test]
fn a_key_that_is_known_is_said_to_be() {
    let folder = Folder::new();
    folder.put("lists.jsonl", "{\"query_id\": \"q1\", \"found\": [\"a\"], \"weights\": [1.0]}\n");
    let expected =
        "are 'query_id', 'found', 'weights', and only 'query_id' is known: a record such as";
    fails(&folder, "eval qrels lists.jsonl", &["lists.jsonl:1: the keys", expected]);
}

#[test]
fn a_decimal_comma_is_named() {
    let folder = Folder::new();
    folder.put("comma.qrels", "q1 0 a 0,5\nq1 0 b 1,0\n");
    folder.put("comma.run", "q1 Q0 a 1 0,5 t\nq1 Q0 b 2 -0,25 t\n");
    let expected = "has a comma: a decimal point was expected\n";
    fails(
        &folder,
        "eval comma.qrels bm25.run",
        &[&format!("comma.qrels:1: the grade '0,5' {expected}")],
    );
    fails(&folder, "eval qrels comma.run", &[&format!("comma.run:1: the score '0,5' {expected}")]);
    // Two columns of a table are no decimal commas.
    folder.put("two.csv", "q 1,a\n");
    fails(&folder, "eval two.csv bm25.run", &["there is no header, and 2 columns"]);
}

/// Judgments may name a query without documents, as a table of rows cannot: it does not count, and
/// that is said.
#[test]
fn queries_without_documents_are_named() {
    let folder = Folder::empty();
    folder.put("run", "q1 Q0 a 1 1 t\nq2 Q0 a 1 1 t\nq3 Q0 a 1 1 t\n");
    let one = "1 query has no documents (q2): it does not count; to count as 0, a query needs a \
               document, with grade 0\n";
    let two = "2 queries have no documents (such as q2): they do not count; to count as 0, a query \
               needs a document, with grade 0\n";
    let list = "1 query has an empty list (q2): it is judged, and no document is relevant to it\n";
    let request =
        |id: &str, ratings: &str| format!("{{\"id\": \"{id}\", \"ratings\": [{ratings}]}}");
    let requests = [request("q1", "{\"_id\": \"a\", \"rating\": 1}"), request("q2", "")].join(", ");
    for (name, text, expected, note) in [
        ("one.json", "{\"q1\": {\"a\": 1}, \"q2\": {}}", one, one),
        ("two.json", "{\"q3\": {}, \"q1\": {\"a\": 1}, \"q2\": { }}", two, two),
        (
            "lines.jsonl",
            "{\"qid\": \"q2\", \"expected_ids\": []}\n{\"qid\": \"q1\", \"expected_ids\": \
             [\"a\"]}\n",
            one,
            list,
        ),
        (
            "array.json",
            "[{\"qid\": \"q1\", \"expected_ids\": [\"a\"]}, {\"qid\": \"q2\", \"expected_ids\": \
             []}]",
            one,
            list,
        ),
        ("requests.json", &format!("{{\"requests\": [{requests}]}}"), one, one),
        ("relevant.json", "{\"relevant_docs\": {\"q1\": [\"a\"], \"q2\": []}}", one, list),
    ] {
        folder.put(name, text);
        let ran = folder.run(&format!("eval {name} run -m RR --per-query"));
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert_says(&ran.err, &[&format!("note: {name}: {note}")]);
        // An empty list is a judged query to which nothing is relevant.
        let mean = if note == list { "0.5" } else { "1" };
        assert!(ran.out.contains(&format!("run\t\tRR\tmean\t{mean}\n")), "{}", ran.out);
        assert_eq!(folder.run(&format!("eval {name} run -m RR --quiet")).err, "");
        // A conversion has no row of the query.
        for args in [
            format!("convert {name} --qrels -o out.qrels"),
            format!("info {name}"),
            format!("info {name} run"),
        ] {
            let ran = folder.run(&args);
            let note = if args.starts_with("convert") { expected } else { note };
            assert_says(&ran.err, &[&format!("note: {name}: {note}")]);
            assert_eq!(ran.err.matches("q2").count(), 1, "{args}: {}", ran.err);
        }
        let convert = format!("convert {name} --qrels -o out.qrels --quiet");
        assert_eq!(folder.run(&convert).err, "");
    }
    // A query whose other record has documents counts, and a run may well find nothing.
    let both =
        "{\"qid\": \"q1\", \"expected_ids\": []}\n{\"qid\": \"q1\", \"expected_ids\": [\"a\"]}\n";
    folder.put("both.jsonl", both);
    folder.put("found.json", "{\"q1\": {}}");
    for args in [
        "eval both.jsonl run -m RR",
        "eval both.jsonl found.json -m RR",
        "convert both.jsonl --qrels -o out.qrels",
        "info both.jsonl",
    ] {
        let stderr = folder.run(args).err;
        assert!(!stderr.contains("no documents"), "{stderr}");
    }
}

/// Judgments in JSON look like a run in JSON, so swapped files have values: the warning stays where
/// notes do not.
#[test]
fn a_swap_that_cannot_be_refused_is_a_warning_that_quiet_keeps() {
    let folder = Folder::new();
    let dict = |value: fn(usize) -> String| {
        let of_query = |q: usize| {
            let all = (0..9).map(|d| format!("\"d{d}\": {}", value(d + q))).collect::<Vec<_>>();
            format!("\"q{q}\": {{{}}}", all.join(", "))
        };
        format!("{{{}}}", (0..3).map(of_query).collect::<Vec<_>>().join(", "))
    };
    folder.put("judged.json", dict(|n| (n % 3).to_string()));
    folder.put("scored.json", dict(|n| format!("{}.5", 20 - n)));
    for command in ["eval", "compare"] {
        let runs = if command == "eval" { "judged.json" } else { "judged.json b=judged.json" };
        let ran = folder.run(&format!("{command} scored.json {runs} -m nDCG@10 --quiet"));
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.err.starts_with("warning: scored.json: "), "{}", ran.err);
        assert!(ran.err.contains("the order is QRELS RUN"), "{}", ran.err);
    }
    assert_eq!(folder.run("eval judged.json scored.json -m nDCG@10 --quiet").err, "");
}

#[test]
fn trec_eval_says_its_own_name_of_a_measure() {
    let folder = Folder::new();
    for (measure, name) in [
        ("ndcg@10", "ndcg_cut.10"),
        ("nDCG", "ndcg"),
        ("P@5", "P.5"),
        ("AP@100", "map_cut.100"),
        ("AP", "map"),
        ("RR", "recip_rank"),
    ] {
        let stderr = folder.run(&format!("trec-eval -m {measure} qrels bm25.run")).err;
        let line = format!("there is no measure `{measure}`; trec_eval calls it `{name}`\n");
        assert!(stderr.ends_with(&line), "{stderr}");
        assert_eq!(folder.run(&format!("trec-eval -m {name} qrels bm25.run")).code, 0);
    }
    let stderr = folder.run("trec-eval -m foo qrels bm25.run").err;
    assert!(stderr.ends_with("there is no measure `foo`\n"), "{stderr}");
}

#[test]
fn runs_that_gen_does_not_replace_are_named() {
    let folder = Folder::empty();
    assert!(
        !folder.run("gen -o made --query-count 2 --results 3 --runs 5").err.contains("warning")
    );
    let stderr = folder.run("gen -o made --query-count 2 --results 3").err;
    let warning = "warning: made has runs of other judgments too: run-1.txt, run-2.txt, run-3.txt \
                   and 2 more\n";
    assert!(stderr.starts_with(warning), "{stderr}");
    assert!(!folder.run("gen -o made.lmx --query-count 2 --results 3").err.contains("warning"));
}

#[test]
fn a_number_of_threads_is_asked_for_as_the_help_does() {
    let error = Folder::new().error("eval qrels bm25.run --threads 0");
    assert!(
        error.contains("invalid value '0' for '--threads <N>': a number of threads, 1 to "),
        "{error}"
    );
}

#[test]
fn every_command_says_what_it_read_or_is_quiet() {
    let folder = Folder::new();
    let stderr = folder.run("compare -v qrels bm25.run dense.run -m AP --quiet").err;
    assert_eq!(stderr, "qrels: TREC text\nbm25.run: TREC text\ndense.run: TREC text\n");
    folder.put("equal.run", "q1 Q0 a 1 1 t\nq1 Q0 b 2 1 t\n");
    assert_eq!(folder.run("show qrels equal.run --query q1 --quiet").err, "");
}

#[test]
fn json_of_a_comparison_has_its_schema() {
    let folder = Folder::new();
    let json: serde_json::Value =
        serde_json::from_str(&folder.out("compare qrels bm25.run dense.run -m AP --format json"))
            .unwrap();
    assert_eq!(json["schema"], 1, "{json}");
}

/// A query that a run lacks is missing there, and not a value of 0.
#[test]
fn a_query_that_a_run_lacks_is_missing_in_loses_most() {
    let folder = Folder::new();
    folder.put("half.run", "q1 Q0 a 1 2 t\n");
    folder.out("compare qrels dense.run half.run -m AP -o page.html --format html");
    let page = String::from_utf8(folder.get("page.html")).unwrap();
    assert!(page.contains(">missing<"), "{page}");
    let table = folder.out("compare qrels dense.run half.run -m AP --per-query --format table");
    assert!(table.contains("missing"), "{table}");
}

#[test]
fn lists_of_queries_are_refused_if_they_are_no_text() {
    let folder = Folder::new();
    folder.put("returns", "1\tg\r2\tg\r");
    folder.put("binary", "q1\0");
    for option in ["--only-queries", "--group-by"] {
        let argument = format!("{option}=returns");
        fails(
            &folder,
            &format!("eval qrels bm25.run {argument}"),
            &["returns:1: a carriage return without a line feed"],
        );
        fails(
            &folder,
            &format!("eval qrels bm25.run {option}=binary"),
            &["binary: is binary: text was expected"],
        );
    }
    let output = folder.run("trec-eval -Z returns qrels bm25.run");
    assert!(
        output.err.contains("returns:1: a carriage return without a line feed"),
        "{}",
        output.err
    );
    #[cfg(target_os = "linux")] // a file that has no end
    for option in ["--only-queries", "--group-by"] {
        fails(
            &folder,
            &format!("eval qrels bm25.run {option}=/dev/zero"),
            &["/dev/zero: is binary"],
        );
    }
}

#[test]
fn a_message_names_twenty_columns_at_most() {
    let folder = Folder::new();
    let columns: Vec<String> = (0..1000).map(|at| format!("col{at}")).collect();
    folder.put("wide.csv", format!("query_id,doc_id,{}\n", columns.join(",")));
    let error = folder.error("eval qrels wide.csv");
    assert!(error.contains("'col17', 982 more"), "{error}");
    assert!(error.len() < 2000, "{error}");
}

#[test]
fn a_part_that_would_not_fit_is_refused() {
    let folder = Folder::new();
    let args = "compare qrels bm25.run dense.run -m AP --permutations 4000000000 --partial x.part";
    fails(
        &folder,
        args,
        &["a part keeps 16 bytes for each draw, run and measure, here 128.0 GB, and at most 4.3"],
    );
}

/// APs of 1/4 (1 + 2/12) and of 1/4 (1/2 + 2/3) are both 7/24, and as f64 they differ in the last
/// bit.
#[test]
fn queries_that_are_equal_on_paper_are_neither_won_nor_lost() {
    let folder = Folder::empty();
    let at = |ranks: [usize; 2]| {
        let doc = |rank: usize| match ranks.iter().position(|&at| at == rank) {
            Some(relevant) => format!("r{relevant}"),
            None => format!("x{rank}"),
        };
        let of_query = |query| {
            let line = |rank: usize| format!("q{query} Q0 {} {rank} {} t\n", doc(rank), 100 - rank);
            (1..=12).map(line).collect::<String>()
        };
        (1..=3).map(of_query).collect::<String>()
    };
    let judged = |query| (0..4).map(|doc| format!("q{query} 0 r{doc} 1\n")).collect::<String>();
    folder.put("qrels", (1..=3).map(judged).collect::<String>());
    folder.put("x.run", at([1, 12]));
    folder.put("y.run", at([2, 3]));
    let values = folder.out("eval qrels x.run y.run -m AP --format tsv --per-query");
    assert!(
        values.contains("0.2916666666666667") && values.contains("0.29166666666666663"),
        "{values}"
    );
    let stdout = folder.out("compare qrels x.run y.run -m AP -q --format table");
    assert!(stdout.contains("+0.0000") && !stdout.contains("-0.0000"), "{stdout}");
    folder.out("compare qrels x.run y.run -m AP -o page.html");
    let page = String::from_utf8(folder.get("page.html")).unwrap();
    assert!(page.contains("There is no query in which y.run loses"), "{page}");
    folder.put("z.run", at([2, 3]));
    let several = folder.out("compare qrels x.run y.run z.run -m AP --format markdown");
    assert!(!several.contains("<sup>=</sup>"), "no run is the best\n{several}");
}

#[test]
fn a_tip_names_an_option_that_is_meant() {
    let folder = Folder::new();
    let tip = |args: &str| {
        let error = folder.error(args);
        error.lines().find(|line| line.contains("tip: ")).map(|line| line.trim().to_owned())
    };
    assert_eq!(
        tip("compare qrels bm25.run --stat x").unwrap(),
        "tip: --stat is an option of `laneval eval` and `laneval merge`"
    );
    assert_eq!(
        tip("eval qrels bm25.run --query q1").unwrap(),
        "tip: --query is an option of `laneval show`"
    );
    for slip in ["--per-quer", "--per-qurey", "--pre-query"] {
        assert!(
            tip(&format!("eval qrels bm25.run {slip}")).unwrap().ends_with("'--per-query'"),
            "{slip}"
        );
    }
    // Spelled alike, and about something else.
    for slip in ["--group-bys-of", "--namings"] {
        let suggestion = tip(&format!("show qrels bm25.run --query q1 {slip}"));
        assert!(suggestion.as_ref().is_none_or(|text| !text.contains("similar")), "{suggestion:?}");
    }
}

#[test]
fn help_of_merge_says_rows_of_runs() {
    let help = Folder::new().out("merge --help");
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("`merge` has a row for each run"), "{help}");
}

/// A comparison says it, and only where queries share several judged documents.
#[test]
fn queries_of_one_set_of_judged_documents_are_told() {
    let folder = Folder::empty();
    let put = |per_set: usize| {
        let lines = |line: &dyn Fn(usize, usize) -> String| {
            (0..60).map(|query| line(query, query / per_set)).collect::<String>()
        };
        folder.put("qrels", lines(&|q, set| format!("{q} 0 d{set} 1\n{q} 0 e{set} 0\n")));
        for run in ["one", "two"] {
            folder.put(
                run,
                lines(&|q, set| format!("{q} Q0 d{set} 1 {} t\n{q} Q0 x 2 1 t\n", q % 3)),
            );
        }
        folder.run("compare qrels one two -m RR").err
    };
    let expected =
        "60 judged queries look like 12 groups, in which all have the same judged documents";
    assert_says(&put(5), &[expected]);
    assert!(!put(1).contains("look like"));
}
