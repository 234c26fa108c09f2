//! Values over the orders of equal scores: `--ties average`, `best`, `worst` and `interval`.

use crate::folder::{Folder, Ran, assert_says};

/// `d` is never retrieved: q1 has three relevant documents.
const QRELS: &str = "q1 0 a 1\nq1 0 b 0\nq1 0 c 2\nq1 0 d 1\nq2 0 a 1\nq2 0 b 0\n";
/// In q1 b is first, and a, u and c are tied behind it; in q2 both are tied. `u` is not judged.
const RUN: &str = "\
q1 Q0 b 1 4 t\nq1 Q0 a 2 3 t\nq1 Q0 u 3 3 t\nq1 Q0 c 4 3 t
q2 Q0 a 1 1 t\nq2 Q0 b 2 1 t\n";
/// The same groups in other ways to write them, their lines in another order.
const SHUFFLED: &str = "\
q2 Q0 b 1 -2.5e0 t\nq1 Q0 c 2 30 t\nq1 Q0 u 3 3.0e1 t\nq2 Q0 a 4 -2.50 t
q1 Q0 b 5 31 t\nq1 Q0 a 6 30.00 t\n";

const RULES: [&str; 3] = ["average", "best", "worst"];
const MEASURES: &str = "-m RR,P@2,R@3,AP,nDCG@2,Bpref,Judged@2";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.put("qrels", QRELS);
    folder.put("run", RUN);
    folder.put("shuffled", SHUFFLED);
    folder
}

/// Returns the numbers of the long format, with the query, the measure and the statistic before
/// each.
fn numbers(out: &str) -> Vec<(String, f64)> {
    let number = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        (cells[1..4].join(" ").trim().to_owned(), cells[4].parse().unwrap())
    };
    out.lines().skip(1).map(number).collect()
}

/// Compares numbers that a few additions have made with what was worked out by hand.
#[track_caller]
fn assert_numbers(out: &str, expected: &[(&str, f64)]) {
    let found = numbers(out);
    assert_eq!(found.len(), expected.len(), "{out}");
    for ((name, found), (expected_name, expected)) in found.iter().zip(expected) {
        assert_eq!(name, expected_name, "{out}");
        assert!(
            (found - expected).abs() <= 4.0 * f64::EPSILON,
            "{name} is {found}, not {expected}"
        );
    }
}

#[test]
fn values_are_those_over_all_orders() {
    let folder = folder();
    let values = |rule: &str, measures: &str| {
        folder.out(&format!("eval qrels run --ties {rule} --per-query {measures}"))
    };
    // q1 has six orders. u is at rank 2, 3 or 4, each in two of them, and the relevant ones are at
    // {3, 4}, {2, 4} or {2, 3}. RR: (1/3 + 1/2 + 1/2) / 3. P@2: (0 + 1/2 + 1/2) / 3. AP, of three
    // relevant ones: 5/18, 6/18, 7/18. In q2 a is first or second.
    let measures = "-m RR,P@2,AP";
    assert_numbers(
        &values("average", measures),
        &[
            ("q1 RR value", 4.0 / 9.0),
            ("q1 P@2 value", 1.0 / 3.0),
            ("q1 AP value", 1.0 / 3.0),
            ("q2 RR value", 0.75),
            ("q2 P@2 value", 0.5),
            ("q2 AP value", 0.75),
            ("RR mean", 43.0 / 72.0),
            ("P@2 mean", 5.0 / 12.0),
            ("AP mean", 13.0 / 24.0),
        ],
    );
    assert_numbers(
        &values("best", measures),
        &[
            ("q1 RR value", 0.5),
            ("q1 P@2 value", 0.5),
            ("q1 AP value", 7.0 / 18.0),
            ("q2 RR value", 1.0),
            ("q2 P@2 value", 0.5),
            ("q2 AP value", 1.0),
            ("RR mean", 0.75),
            ("P@2 mean", 0.5),
            ("AP mean", 25.0 / 36.0),
        ],
    );
    assert_numbers(
        &values("worst", measures),
        &[
            ("q1 RR value", 1.0 / 3.0),
            ("q1 P@2 value", 0.0),
            ("q1 AP value", 5.0 / 18.0),
            ("q2 RR value", 0.5),
            ("q2 P@2 value", 0.5),
            ("q2 AP value", 0.5),
            ("RR mean", 5.0 / 12.0),
            ("P@2 mean", 0.25),
            ("AP mean", 7.0 / 18.0),
        ],
    );
}

/// Rank 2 of q1 holds a (gain 1), u (none) or c (gain 2), each equally likely, and the ideal
/// ranking has 2 + 1 / lg 3 there.
#[test]
fn the_best_order_is_by_the_measure() {
    let folder = folder();
    let of_q1 = |rule: &str| {
        let out = folder
            .out(&format!("eval qrels run --ties {rule} --per-query -m nDCG@2,Judged@2,Accuracy"));
        numbers(&out)[..3].iter().map(|(_, value)| *value).collect::<Vec<_>>()
    };
    let lg3 = 3f64.log2();
    // Accuracy: b is above both relevant ones; u above both, one or none of them: 0, 1/4 or 1/2.
    let expected = [
        ("average", [1.0 / (2.0 * lg3 + 1.0), (0.5 + 1.0 + 1.0) / 3.0, 0.25]),
        ("best", [2.0 / (2.0 * lg3 + 1.0), 1.0, 0.5]),
        ("worst", [0.0, 0.5, 0.0]),
    ];
    for (rule, expected) in expected {
        for (found, expected) in of_q1(rule).iter().zip(expected) {
            assert!(
                (found - expected).abs() <= 4.0 * f64::EPSILON,
                "{rule}: {found}, not {expected}"
            );
        }
    }
}

/// With the numbers of `values_are_those_over_all_orders`. The join's order is by docno,
/// descending: u, c, a in q1 and b, a in q2, which is the worst. Rank 2 lies inside the group of
/// q1.
#[test]
fn an_interval_has_all_three_and_what_depends_on_the_order() {
    let folder = folder();
    let Ran { out, err, code } = folder.run("eval qrels run --ties interval -m RR,P@2");
    assert_eq!(code, 0, "{err}");
    assert_numbers(
        &out,
        &[
            ("RR mean", 43.0 / 72.0),
            ("RR best", 0.75),
            ("RR worst", 5.0 / 12.0),
            ("RR bias", 5.0 / 12.0 - 43.0 / 72.0),
            ("RR varying", 2.0),
            ("RR across", 0.0),
            ("P@2 mean", 5.0 / 12.0),
            ("P@2 best", 0.5),
            ("P@2 worst", 0.25),
            ("P@2 bias", 0.25 - 5.0 / 12.0),
            ("P@2 varying", 1.0),
            ("P@2 across", 1.0),
        ],
    );
    assert_eq!(
        err,
        "note: RR, P@2: the order of equal scores moves the average by more than 1 %\n\
         note: run: 5 documents have equal scores, in 2 ties of up to 3 documents, 2 of them with \
         different labels\n"
    );
    // The order of a matrix is another, and with it the bias: a, c, u and a, b.
    folder.out("build qrels run --ties docno-asc --keep-ties -o ascending.lmx --quiet");
    let ascending = numbers(&folder.out("eval ascending.lmx --ties interval -m RR"));
    assert_eq!(ascending[..3], numbers(&out)[..3]);
    assert!((ascending[3].1 - (0.75 - 43.0 / 72.0)).abs() <= f64::EPSILON, "{ascending:?}");
}

/// Which order a run is joined in, or read from, is nothing to values over all orders.
#[test]
fn the_same_bytes_from_text_and_matrices_in_any_order() {
    let folder = folder();
    let gzip = {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut gzip, SHUFFLED.as_bytes()).unwrap();
        gzip.finish().unwrap()
    };
    folder.put("run.gz", gzip);
    for order in ["docno-desc", "docno-asc", "input"] {
        folder.out(&format!("build qrels t=run --ties {order} --keep-ties -o {order}.lmx --quiet"));
    }
    for (rule, options) in
        RULES.iter().flat_map(|rule| ["", "-M 3", "-M 1", "-J"].map(|view| (rule, view)))
    {
        let eval = |inputs: &str| {
            folder.out(&format!("eval {inputs} --ties {rule} {options} --per-query {MEASURES}"))
        };
        let expected = eval("qrels t=run");
        for inputs in ["qrels t=shuffled", "qrels t=run.gz"] {
            assert_eq!(eval(inputs), expected, "{inputs} {rule} {options}");
        }
        for order in ["docno-desc", "docno-asc", "input"] {
            assert_eq!(eval(&format!("{order}.lmx")), expected, "{order} {rule} {options}");
        }
    }
    // Otherwise it matters.
    let ordered = |order: &str| folder.out(&format!("eval {order}.lmx -m RR"));
    assert_ne!(ordered("docno-desc"), ordered("docno-asc"));
}

/// -M cuts the group of q1 after one or two of its documents, and which they are is chance out of
/// all three.
#[test]
fn cutting_a_group_when_building_is_cutting_it_when_evaluating() {
    let folder = folder();
    for depth in 1..=4 {
        folder.out(&format!("build qrels run -M {depth} --keep-ties -o cut.lmx --quiet"));
        for rule in RULES.iter().chain(&["interval"]) {
            let per_query = if *rule == "interval" { "" } else { "--per-query" };
            let eval = |input: &str| {
                folder.out(&format!("eval {input} --ties {rule} {per_query} {MEASURES}"))
            };
            assert_eq!(
                eval("cut.lmx"),
                eval(&format!("qrels run -M {depth}")),
                "{rule} -M {depth}"
            );
        }
    }
    // Rank 2 is the last, and holds u in a third of the orders.
    let out = folder.out("eval qrels run -M 2 --ties average -m RR,AP --per-query");
    let found = &numbers(&out)[..2];
    assert!((found[0].1 - 1.0 / 3.0).abs() <= f64::EPSILON, "{out}");
    assert!((found[1].1 - 1.0 / 9.0).abs() <= f64::EPSILON, "{out}");
    // Then unjudged documents go: two thirds of q1 are b and a relevant one, one third is b alone.
    let out = folder.out("eval qrels run -M 2 -J --ties average -m RR,R@5 --per-query");
    let found = &numbers(&out)[..2];
    assert!((found[0].1 - 1.0 / 3.0).abs() <= f64::EPSILON, "{out}");
    assert!((found[1].1 - 2.0 / 9.0).abs() <= f64::EPSILON, "{out}");
}

/// 1e-9 is nothing beside 1 in f32.
#[test]
fn what_ties_depends_on_the_type_of_scores() {
    let folder = folder();
    folder.put("near", "q2 Q0 b 1 1.000000001 t\nq2 Q0 a 2 1 t\n");
    let rr = |options: &str| {
        numbers(&folder.out(&format!("eval qrels near --queries common -m RR {options}")))[0].1
    };
    assert_eq!(rr("--ties average"), 0.5);
    assert_eq!(rr("--ties average --score-type f32"), 0.75);
    assert_eq!(rr("--ties best --score-type f32"), 1.0);
}

#[test]
fn json_says_which_value_it_is() {
    let folder = folder();
    let json = |options: &str| -> serde_json::Value {
        serde_json::from_str(&folder.out(&format!("eval qrels run -m RR --format json {options}")))
            .unwrap()
    };
    for rule in RULES {
        let scores = json(&format!("--ties {rule}"));
        assert_eq!(scores["tied"], rule);
        assert_eq!(scores["runs"][0]["rule"]["ties"], "docno-desc");
    }
    for order in ["", "--ties docno-asc"] {
        assert_eq!(json(order).get("tied"), None);
    }
    let scores = json("--ties interval");
    assert_eq!(scores["tied"], "average");
    let ties = &scores["runs"][0]["ties"];
    let counts =
        ["documents", "groups", "mixed", "largest"].map(|name| ties[name].as_u64().unwrap());
    assert_eq!(counts, [5, 2, 2, 3]);
    let rr = scores["runs"][0]["scores"]["RR"].as_object().unwrap();
    let stats = ["across", "best", "bias", "mean", "varying", "worst"];
    assert!(rr.len() == stats.len() && stats.iter().all(|stat| rr[*stat].is_number()), "{rr:?}");
}

/// Summaries of shards add up as those of an order do, and not with other values.
#[test]
fn shards_add_up_to_the_bits_of_all() {
    let folder = folder();
    let query_lines = |text: &str, query: &str| {
        text.lines()
            .filter(|line| line.starts_with(query))
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    };
    for query in ["q1", "q2"] {
        folder.put(&format!("{query}.qrels"), query_lines(QRELS, query));
        folder.put(&format!("{query}.run"), query_lines(RUN, query));
        for rule in RULES {
            folder.out(&format!(
                "eval {query}.qrels t={query}.run --ties {rule} {MEASURES} --partial \
                 {query}-{rule}.part"
            ));
        }
    }
    for rule in RULES {
        let merged = folder.out(&format!("merge q1-{rule}.part q2-{rule}.part"));
        assert_eq!(merged, folder.out(&format!("eval qrels t=run --ties {rule} {MEASURES}")));
    }
    let refused = folder.error("merge q1-average.part q2-best.part");
    assert_says(
        &refused,
        &["the values of tied rankings differ (average and best): set --ties alike"],
    );
}

#[test]
fn what_has_no_such_value_is_refused() {
    let folder = folder();
    let says = |args: &str, expected: &str| {
        assert_eq!(folder.error(args), format!("error: {expected}\n"), "{args}");
    };
    // All of them at once.
    says(
        "eval qrels run --ties average -m AP,G,INST,IPrec@0.5,RR",
        "G has no expected value over ties that can be computed; take --ties docno-desc\n\
         INST has no expected value over ties that can be computed; take --ties best, worst or \
         docno-desc\n\
         IPrec@0.5 has no expected value over ties that can be computed; take --ties best, worst \
         or docno-desc",
    );
    for side in ["best", "worst"] {
        says(
            &format!("eval qrels run --ties {side} -m G,INST"),
            &format!("G: its {side} order cannot be found without trying all of them"),
        );
        says(
            &format!("eval qrels run --ties {side} -m P@2 -M 3 -J"),
            &format!(
                "P@2: its {side} order under -M and -J together cannot be found without trying all \
                 of them"
            ),
        );
        assert_eq!(folder.run(&format!("eval qrels run --ties {side} -m INST")).code, 0);
    }
    // An interval needs all three.
    says(
        "eval qrels run --ties interval -m INST",
        "INST has no expected value over ties that can be computed; take --ties best, worst or \
         docno-desc",
    );
    for (option, name) in [
        ("--per-query", "--per-query"),
        ("--stat std", "--stat"),
        ("--partial x.part", "--partial"),
        ("--format trec", "the format trec"),
    ] {
        says(
            &format!("eval qrels run --ties interval {option}"),
            &format!(
                "{name} has no place for an interval: take --ties average, best or worst one by one"
            ),
        );
    }
    says(
        "eval qrels run --ties average --engine reference",
        "the reference has no average values of tied rankings: take another engine",
    );
}

#[test]
fn a_matrix_that_does_not_know_its_ties_is_refused() {
    let folder = folder();
    folder.out("build qrels run -o plain.lmx --quiet");
    for rule in RULES.iter().chain(&["interval"]) {
        assert_eq!(
            folder.error(&format!("eval plain.lmx --ties {rule}")),
            "error: plain.lmx does not know its ties: build it again with --keep-ties\n"
        );
        assert_eq!(
            folder.error(&format!("build qrels run --ties {rule} -o x.lmx")),
            "error: a matrix keeps one order of equal scores: build it with --keep-ties, then \
             `eval --ties` gives values over all orders\n"
        );
    }
    assert!(!folder.names().contains(&"x.lmx".to_owned()));
}

/// For values over all orders it does not matter that matrices have their documents in different
/// orders.
#[test]
fn matrices_in_other_orders_are_compared_without_a_warning() {
    let folder = folder();
    folder.out("build qrels one=run --ties docno-asc --keep-ties -o one.lmx --quiet");
    folder.out("build qrels two=run --ties docno-desc --keep-ties -o two.lmx --quiet");
    folder.out(
        "build qrels three=run --ties docno-desc --score-type f32 --keep-ties -o three.lmx --quiet",
    );
    let warns = |args: &str| {
        let Ran { err, code, .. } = folder.run(args);
        assert_eq!(code, 0, "{args}: {err}");
        err.contains("warning: one.lmx and") && err.contains("were ranked under different rules")
    };
    for rule in RULES.iter().chain(&["interval"]) {
        assert!(!warns(&format!("eval one.lmx two.lmx --ties {rule}")), "{rule}");
        assert!(warns(&format!("eval one.lmx two.lmx three.lmx --ties {rule}")), "{rule}");
    }
    assert!(warns("eval one.lmx two.lmx"));
}

/// Rank 4 is the last of q1, so that -M 4 cuts nothing; what is refused is the same as where it
/// cuts.
#[test]
fn what_is_refused_under_both_cuts_is_the_same_for_all_files() {
    let folder = folder();
    for depth in [2, 4, 9] {
        folder.out(&format!("build qrels run -M {depth} --keep-ties -o cut.lmx --quiet"));
        for side in ["best", "worst"] {
            let expected = format!(
                "error: P@2: its {side} order under -M and -J together cannot be found without \
                 trying all of them\n"
            );
            let measures = "-J -m NumQ,P@2,NumRel,IDCG@2";
            for inputs in [format!("qrels run -M {depth}"), "cut.lmx".to_owned()] {
                assert_eq!(
                    folder.error(&format!("eval {inputs} --ties {side} {measures}")),
                    expected,
                    "{inputs}"
                );
                let fixed = "-J -m NumQ,NumRel,IDCG@2";
                let found = folder.out(&format!("eval {inputs} --ties {side} {fixed}"));
                assert_eq!(found, folder.out(&format!("eval {inputs} {fixed}")), "{inputs}");
            }
        }
    }
    assert_eq!(
        folder.error("eval qrels run -M 2 --ties average -m nDCG(ideal=retrieved),INST"),
        "error: nDCG(ideal=retrieved) has no expected value over ties under -M that can be \
         computed; take --ties docno-desc\n\
         INST has no expected value over ties that can be computed; take --ties best, worst or \
         docno-desc\n"
    );
}

/// The files are not even there.
#[test]
fn what_the_arguments_decide_is_refused_before_anything_is_read() {
    let folder = Folder::new();
    for (args, expected) in [
        (
            "average -m G",
            "G has no expected value over ties that can be computed; take --ties docno-desc",
        ),
        ("worst -m AP,G", "G: its worst order cannot be found without trying all of them"),
        (
            "best -M 5 -J -m P@2",
            "P@2: its best order under -M and -J together cannot be found without trying all of \
             them",
        ),
        (
            "interval -m G",
            "G has no expected value over ties that can be computed; take --ties docno-desc",
        ),
        (
            "interval -M 5 -J -m P@2",
            "P@2: its best order under -M and -J together cannot be found without trying all of \
             them",
        ),
        (
            "best --engine reference",
            "the reference has no best values of tied rankings: take another engine",
        ),
        (
            "interval --engine reference",
            "the reference has no average values of tied rankings: take another engine",
        ),
    ] {
        assert_eq!(
            folder.error(&format!("eval no.qrels no.run --ties {args}")),
            format!("error: {expected}\n")
        );
    }
}

/// Counts are whole numbers, unless it is chance what is counted.
#[test]
fn tables_have_counts_as_counts() {
    let folder = folder();
    let table = |args: &str| {
        let out = folder.out(&format!("eval qrels run --format table {args}"));
        let lines =
            out.lines().skip(4).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        lines.collect::<Vec<_>>()
    };
    assert_eq!(
        table("--ties interval -m NumRet,NumRelRet,P@2"),
        ["NumRet 6 6 6 0 0 0", "NumRelRet 3 3 3 0 0 0", "P@2 0.4167 0.5000 0.2500 -0.1667 1 1"]
    );
    // One of a, u and c is kept of q1.
    assert_eq!(
        table("--ties interval -m NumRet,NumRelRet -M 2"),
        ["NumRet 4 4 4 0 0 1", "NumRelRet 1.6667 2 1 -0.6667 1 1"]
    );
    let trec = folder.out("eval qrels run --format trec --ties average -m NumRet,NumRelRet -M 2");
    let counts: Vec<&str> =
        trec.lines().skip(1).map(|line| line.split('\t').next_back().unwrap()).collect();
    assert_eq!(counts, ["4", "1.6667"]);
}

#[test]
fn what_is_explained_says_how_tied_scores_are_answered() {
    let folder = folder();
    folder.out("build qrels run --ties docno-asc --keep-ties -o run.lmx --quiet");
    let lines = |args: &str| -> Vec<String> {
        let out = folder.out(&format!("eval {args} --explain"));
        let of_ties = out.lines().skip(1).take_while(|line| !line.starts_with("folds,"));
        of_ties.map(str::to_owned).collect()
    };
    assert_eq!(lines("qrels run"), ["equal scores: in the order docno-desc"]);
    assert_eq!(lines("run.lmx"), ["equal scores: in the order docno-asc"]);
    let average = [
        "equal scores: average over all orders, on the CPU",
        "  from expectations of the columns: nDCG@2, P@2",
        "  from the chances of the first hit's rank: RR",
        "  by a closed form of each ranking: Compat",
    ];
    let best = |name: &str| {
        [
            format!("equal scores: {name} over all orders, on the CPU"),
            "  of the rankings with their groups in one order of codes: nDCG@2, RR, P@2, Compat"
                .to_owned(),
        ]
    };
    let measures = "-m nDCG@2,RR,P@2,Compat";
    for inputs in ["qrels run", "run.lmx"] {
        assert_eq!(lines(&format!("{inputs} --ties average {measures}")), average);
        assert_eq!(lines(&format!("{inputs} --ties worst {measures}")), best("worst"));
        let all =
            [average.map(str::to_owned).to_vec(), best("best").to_vec(), best("worst").to_vec()];
        assert_eq!(lines(&format!("{inputs} --ties interval {measures}")), all.concat());
    }
    assert_eq!(
        lines("qrels run --ties best -m InfAP")[1..],
        ["  searched for in each ranking: InfAP"]
    );
}

#[test]
fn a_query_of_which_every_result_is_dropped_has_no_tied_documents() {
    let folder = Folder::empty();
    folder.put("qrels", "q1 0 a 1\nq2 0 a 1\n");
    folder.put("run", "q1 Q0 q1 1 1 t\nq2 Q0 a 1 1 t\n");
    let values = folder.out("eval qrels run -m AP --drop-identical-ids --ties average --quiet");
    assert_eq!(values, folder.out("eval qrels run -m AP --drop-identical-ids --quiet"));
}
