use super::*;
use crate::compare::reference_values::{KnownPair, pair, paired};
use crate::compare::unit::Unit;
use crate::compare::{GateChange, examples, reference_values};

fn error(text: &str) -> String {
    Gate::parse(text).unwrap_err().to_string()
}

/// Returns the verdict of a gate on the fifty queries, run against baseline, by the t test.
fn fifty(text: &str, [baseline, run]: [usize; 2]) -> GateVerdict {
    let runs = examples::fifty();
    let paired = paired(&runs, [baseline, run]);
    let gate = Gate::parse(text).unwrap();
    assert!(gate.needs_baseline());
    let [baseline, run] = [baseline, run].map(|index| runs[index].iter().sum::<f64>() / 50.0);
    let worse = paired.p().map(|p| p.worse(gate.measure().definition().better));
    gate.verdict(GateInputs {
        run,
        baseline: Some(baseline),
        paired: Some(&paired),
        worse,
        judged: None,
    })
    .unwrap()
}

/// Returns the facts of a run with some differences, and a baseline of some mean.
fn of_deltas(text: &str, baseline: f64, deltas: &[f64], worse: Option<f64>) -> Result<GateVerdict> {
    let unit = Unit::for_values([1.0]);
    let paired = reference_values::paired_of(deltas, &unit.counts(deltas), unit).unwrap();
    let run = baseline + paired.mean;
    let facts =
        GateInputs { run, baseline: Some(baseline), paired: Some(&paired), worse, judged: None };
    Gate::parse(text).unwrap().verdict(facts)
}

fn of_run(text: &str, run: f64) -> Result<GateVerdict> {
    Gate::parse(text).unwrap().verdict(GateInputs {
        run,
        baseline: None,
        paired: None,
        worse: None,
        judged: None,
    })
}

#[test]
fn thresholds() {
    for (text, fails_at, passes_at) in [
        // The means of 0.3, and what is equal to it within rounding.
        ("AP < 0.30", &[0.2999, -1.0, 0.3 - 1e-11][..], &[0.3, 0.3f64.next_down(), 0.31][..]),
        ("AP <= 0.30", &[0.3, 0.3f64.next_up(), 0.0], &[0.3 + 1e-11]),
        ("AP > 0.30", &[0.31, 0.3 + 1e-11], &[0.3, 0.3f64.next_up(), 0.0]),
        ("AP >= 0.30", &[0.3, 0.3f64.next_down(), 1.0], &[0.3 - 1e-11]),
        (" nDCG(gain=exp2, ideal=judged)@10<3e-1 ", &[0.2], &[0.3]),
        ("NumRel < 1000", &[999.0], &[1000.0]),
    ] {
        let gate = Gate::parse(text).unwrap();
        assert!(!gate.needs_baseline() && !gate.needs_p());
        assert_eq!(gate.to_string(), text.trim());
        for (values, failed) in [(fails_at, true), (passes_at, false)] {
            for &value in values {
                let verdict = of_run(text, value).unwrap();
                assert_eq!(
                    (verdict.failed, verdict.value, verdict.p),
                    (failed, value, None),
                    "{text}"
                );
            }
        }
    }
    assert_eq!(of_run("AP < 0.30", 0.1).unwrap().threshold, 0.3);
}

#[test]
fn gates_of_fifty_queries() {
    let passes = fifty("nDCG@10 may drop > 0.005", [0, 1]);
    assert!(!passes.failed);
    reference_values::digits(passes.p.unwrap(), ".0487497709017");
    assert_eq!(passes.threshold, 0.005);
    reference_values::digits(passes.value, "-.022");
    let fails = fifty("nDCG@10 may drop > 0.004", [0, 1]);
    assert!(fails.failed);
    reference_values::digits(fails.p.unwrap(), ".0550953334896");
    assert!(!fifty("nDCG@10 may drop > 0.004 p<0.06", [0, 1]).failed);
    assert!(fifty("nDCG@10 may drop > 0.005 p<0.01", [0, 1]).failed);

    let fails = fifty("nDCG@10 drops > 0.005", [1, 0]);
    assert!(fails.failed && fails.p.is_none());
    reference_values::digits(fails.value, ".022");
    let passes = fifty("nDCG@10 drops > 0.005 p<0.05", [1, 0]);
    assert!(!passes.failed);
    reference_values::digits(passes.p.unwrap(), ".087456604824");
    assert!(fifty("nDCG@10 drops > 0.005 p<0.09", [1, 0]).failed);
    assert!(!fifty("nDCG@10 drops > 0.022", [1, 0]).failed, "the border");
    assert!(fifty("nDCG@10 drops > 0.0219999", [1, 0]).failed);
    // 0.542 is the baseline's mean.
    assert!(fifty("nDCG@10 drops > 4%", [1, 0]).failed);
    let passes = fifty("nDCG@10 drops > 4.1 %", [1, 0]);
    assert!(!passes.failed);
    reference_values::digits(passes.threshold, ".022222");
}

#[test]
fn worse_is_any_amount_that_chance_does_not_explain() {
    assert!(fifty("AP worse p<0.09", [1, 0]).failed);
    assert!(!fifty("AP worse p<0.08", [1, 0]).failed);
    assert!(!fifty("AP worse p<0.09", [0, 1]).failed);
    assert!(fifty("AP worse > 0.02 p<0.09", [1, 0]).failed);
    assert!(!fifty("AP worse > 0.03 p<0.09", [1, 0]).failed);
    assert!(fifty("AP drops", [1, 0]).failed && !fifty("AP drops", [0, 1]).failed);
}

/// Where lower is better, the run that is 0.022 higher is the worse one.
#[test]
fn measures_of_which_lower_is_better() {
    let lower = "Unjudged@10";
    assert_eq!(Gate::parse(&format!("{lower} < 1")).unwrap().better(), Direction::Lower);
    assert!(fifty(&format!("{lower} rises > 0.005"), [0, 1]).failed);
    assert!(!fifty(&format!("{lower} rises > 0.005"), [1, 0]).failed);
    assert!(fifty(&format!("{lower} worse p<0.09"), [0, 1]).failed);
    assert!(!fifty(&format!("{lower} worse p<0.09"), [1, 0]).failed);
    let passes = fifty(&format!("{lower} may rise > 0.005"), [1, 0]);
    assert!(!passes.failed);
    reference_values::digits(passes.p.unwrap(), ".0487497709017");
    assert!(fifty(&format!("{lower} may rise > 0.004"), [1, 0]).failed);
}

#[test]
fn differences_without_spread() {
    let verdict = |text, deltas: &[f64]| of_deltas(text, 0.5, deltas, None);
    for (text, delta, failed) in [
        ("AP drops > 0.1", -0.25, true),
        ("AP drops > 0.25", -0.25, false),
        ("AP drops > 0.1", 0.7 - 0.8, false),
        ("AP drops > 0.0999999", 0.7 - 0.8, true),
        ("AP may drop > 0.25", -0.25, true),
        ("AP may drop > 0.2500001", -0.25, false),
        ("AP may drop > 0", 0.0, true),
        ("AP may drop > 0.001", 0.0, false),
        ("AP drops > 0", 0.0, false),
        ("AP drops > 0", 0.25, false),
    ] {
        assert_eq!(verdict(text, &[delta; 3]).unwrap().failed, failed, "{text} of {delta}");
    }
    // The verdict depends on a p that is missing.
    let error = verdict("AP drops > 0.1 p<0.05", &[-0.25; 3]).unwrap_err().to_string();
    assert!(error.contains("every query changes by the same amount"), "{error}");
    assert!(!verdict("AP drops > 0.25 p<0.05", &[-0.25; 3]).unwrap().failed);
    for (p, failed) in [(0.01, true), (0.05f64.next_down(), true), (0.05, false)] {
        let found = of_deltas("AP drops > 0.1 p<0.05", 0.5, &[-0.25; 3], Some(p)).unwrap();
        assert_eq!((found.failed, found.p), (failed, Some(p)));
    }
}

#[test]
fn queries_without_a_value_are_a_tenth_at_most() {
    let gate = Gate::parse("AP(no_relevant=skip) drops > 0.1").unwrap();
    for (skipped, queries) in [(0, 0), (0, 5), (1, 10), (3, 39)] {
        assert!(gate.check_skipped(skipped, queries).is_ok(), "{skipped} of {queries}");
    }
    for (skipped, queries) in [(1, 9), (2, 10), (4, 39), (5, 5)] {
        let message = gate.check_skipped(skipped, queries).unwrap_err().to_string();
        assert!(
            message.contains(&format!("{skipped} of {queries} queries have no value")),
            "{message}"
        );
    }
}

#[test]
fn what_cannot_be_judged_is_an_error() {
    let text = |result: Result<GateVerdict>| result.unwrap_err().to_string();
    let found = text(of_run("AP drops > 0.1", 0.5));
    assert_eq!(
        found,
        "the gate `AP drops > 0.1` cannot be computed: it takes a baseline, and there is none"
    );
    for gate in ["AP worse p<0.05", "AP may drop > 0.1"] {
        let found = text(of_deltas(gate, 0.5, &[-0.25], Some(0.5)));
        assert!(found.contains("its p takes two queries or more, and there is one"), "{found}");
    }
    assert!(
        of_deltas("AP drops > 0.1", 0.5, &[-0.25], None).unwrap().failed,
        "one query is enough without p"
    );
    let found = text(of_deltas("DCG(gain={1:-1}) drops > 1%", 0.0, &[-0.25, 0.1], None));
    assert!(found.contains("the baseline's mean is 0, so a percentage"), "{found}");
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(text(of_run("AP < 0.3", value)).ends_with(&format!("the mean is {value}")));
        text(of_deltas("AP drops > 1%", value, &[-0.25, 0.1], None));
        text(of_deltas("AP worse p<0.05", 0.5, &[-0.25, 0.1], Some(value)));
    }
}

/// Nothing is worse than the worst: every run would pass.
#[test]
fn a_baseline_that_nothing_can_be_worse_than() {
    let judged = |text, baseline, deltas: &[f64], judged| {
        let unit = Unit::for_values([1.0]);
        let paired = reference_values::paired_of(deltas, &unit.counts(deltas), unit).unwrap();
        let run = baseline + paired.mean;
        let facts = GateInputs {
            run,
            baseline: Some(baseline),
            paired: Some(&paired),
            worse: Some(0.5),
            judged,
        };
        Gate::parse(text).unwrap().verdict(facts)
    };
    for (text, worst, deltas) in [
        ("AP drops > 0.1", 0.0, [0.25, 0.5]),
        ("AP worse p<0.05", 0.0, [0.0, 0.0]),
        ("AP may drop > 0.1", 0.0, [0.25, 0.5]),
        ("Unjudged@10 rises > 0.1", 1.0, [-0.25, -0.5]),
    ] {
        for share in [None, Some(0.0)] {
            let found = judged(text, worst, &deltas, share).unwrap_err().to_string();
            assert!(
                found.contains(&format!("the baseline's mean is {worst}, the worst there is")),
                "{found}"
            );
            assert_eq!(found.contains("none of its documents is judged"), share.is_some());
        }
        assert!(judged(text, worst, &deltas, Some(0.1)).is_ok(), "bad, but measured");
        assert!(judged(text, 0.5, &[0.0; 2], Some(0.0)).is_ok(), "{text}");
    }
}

#[test]
fn gates_that_never_or_always_fail_are_errors() {
    for (text, says, meant) in [
        (
            "nDCG@10 drops > 1",
            "cannot change by more than 1: this gate would never fail",
            Some("nDCG@10 drops > 1%"),
        ),
        ("nDCG@10 drops > 5", "cannot change by more than 5", Some("nDCG@10 drops > 5%")),
        ("nDCG@10 may drop > 2 p<0.1", "would never fail", Some("nDCG@10 may drop > 2% p<0.1")),
        ("nDCG@10 drops > 150", "would never fail", None),
        ("nDCG@10 drops > 100", "would never fail", None),
        ("nDCG@10 drops > 150%", "cannot drop by more than 100 %", None),
        ("DCG(gain=binary) drops > 100%", "cannot drop by more than 100 %", None),
        ("Unjudged@10 rises > 1", "cannot change by more than 1", Some("Unjudged@10 rises > 1%")),
        ("nDCG@10 < -0.01", "nDCG@10 is 0 to 1, so this gate would never fail", None),
        ("AP < 0", "would never fail", None),
        ("AP <= -0.1", "would never fail", None),
        ("AP > 1", "would never fail", None),
        ("AP >= 1.5", "would never fail", Some("AP >= 0.015")),
        ("AP < 45", "AP is 0 to 1, so this gate would always fail", Some("AP < 0.45")),
        ("AP > -1", "would always fail", None),
        ("NumRel < 0", "NumRel is a whole number, 0 or more, so this gate would never fail", None),
        ("GMAP > 1", "would never fail", None),
    ] {
        let found = error(text);
        assert!(found.contains(says), "{found}");
        match meant {
            Some(meant) => assert!(found.ends_with(&format!("did you mean `{meant}`?")), "{found}"),
            None => assert!(!found.contains("did you mean"), "{found}"),
        }
    }
    // At the ends of the range, and where there is none.
    for text in [
        "AP <= 0",
        "AP >= 1",
        "AP < 1",
        "AP > 0",
        "nDCG@10 drops > 0.99",
        "nDCG@10 drops > 99 %",
        "NumRel < 5000",
        "GMAP drops > 2",
        "Unjudged@10 rises > 300%",
    ] {
        Gate::parse(text).unwrap();
    }
}

#[test]
fn a_gate_may_be_about_one_group() {
    let gate = Gate::parse(" hard ones: ranx:ndcg@10 drops > 2% ").unwrap();
    assert_eq!(
        (gate.group(), gate.to_string().as_str()),
        (Some("hard ones"), "hard ones: ranx:ndcg@10 drops > 2%")
    );
    let gate = Gate::parse("a: b: AP < 0.3").unwrap();
    assert_eq!(gate.group(), Some("a: b"));
    let gate = Gate::parse("ranx:ndcg@10 drops > 2%").unwrap();
    assert!(gate.group().is_none());
    error(": AP < 0.3");
    assert!(error("hard: AP").ends_with("at character 9 of the gate\n  hard: AP\n          ^"));
}

#[test]
fn what_is_suggested_is_a_gate() {
    for text in ["AP rises < 0.2", "Unjudged@10 drops < 0.2", "AP drop < 0.2", "AP may rise < 0.2"]
    {
        let found = error(text);
        assert!(!found.contains("did you mean"), "{found}");
    }
}

#[test]
fn wrong_verbs_name_the_right_one() {
    for (text, right) in [
        ("nDCG@10 rises > 0.1", "`nDCG@10 drops > 0.1`"),
        ("nDCG@10 may rise > 0.1", "`nDCG@10 may drop > 0.1`"),
        ("Unjudged@10 drops", "`Unjudged@10 rises`"),
        ("Unjudged@10 may  drop > 1%", "`Unjudged@10 may rise > 1%`"),
        ("AP drop > 0.1", "`AP drops > 0.1`"),
        ("AP decreases > 0.1", "`AP drops > 0.1`"),
        ("AP wrose p<0.1", "`AP worse p<0.1`"),
        ("AP may drops > 0.1", "`AP may drop > 0.1`"),
    ] {
        let found = error(text);
        assert!(found.ends_with(&format!("did you mean {right}?")), "{found}");
    }
    let found = error("NumRel drops > 1");
    assert!(found.starts_with("neither direction of NumRel is better"), "{found}");
    assert!(error("NumRel worse p<0.05").starts_with("neither direction"));
    let found = error("GMAP drops > 1%");
    assert!(found.starts_with("GMAP is compared by logarithms"), "{found}");
}

#[test]
fn errors_say_what_was_expected_and_where() {
    assert_eq!(
        error("nDCG@10 drops > much"),
        "an amount, as in `> 0.005` or `> 1%`, was expected, and not `much`, at character 17 of \
         the gate\n  \
         nDCG@10 drops > much\n                  ^^^^"
    );
    for (text, expected, character) in [
        ("", "a measure", 1),
        ("  ", "a measure", 3),
        ("< 0.3", "a measure", 1),
        ("AP", "`<`, `<=`", 3),
        ("AP = 0.3", "`<`, `<=`", 4),
        ("AP may", "`drop` or `rise`", 7),
        ("AP <", "a number", 5),
        ("AP < x", "a number", 6),
        ("AP < nan", "a number", 6),
        ("AP < inf", "a number", 6),
        ("AP < 1e999", "a number", 6),
        ("AP < 0.3 p<0.05", "the end", 10),
        ("AP < 30%", "AP is 0 to 1, so this gate would always fail", 6),
        ("AP drops >", "an amount", 11),
        ("AP drops >= 0.1", "an amount", 11),
        ("AP drops > -0.1", "an amount of 0 or more", 12),
        ("AP drops 0.1", "`>` and an amount", 10),
        ("AP drops > 0.1 q<0.05", "`>` and an amount", 16),
        ("AP drops > 0.1 p", "`<` after `p`", 17),
        ("AP drops > 0.1 p>0.05", "`<` after `p`", 17),
        ("AP drops > 0.1 p<", "a level of significance", 18),
        ("AP drops > 0.1 p<0", "a level of significance between", 16),
        ("AP drops > 0.1 p<1", "a level of significance between", 16),
        ("AP drops > 0.1 p<0.05 x", "the end", 23),
        ("AP worse", "`p<`", 9),
        ("AP worse > 0.1", "`p<`", 15),
        ("AP may drop", "`>` and the amount", 12),
        ("AP may drop p<0.05", "`>` and the amount", 19),
    ] {
        let found = error(text);
        let first = found.lines().next().unwrap();
        assert!(first.starts_with(expected), "{text}: {found}");
        assert!(
            first.ends_with(&format!("at character {character} of the gate")),
            "{text}: {found}"
        );
    }
}

#[test]
fn measures_that_do_not_parse_keep_their_suggestions() {
    let found = error(" nDGC@10 drops > 0.1");
    assert!(found.contains("did you mean nDCG"), "{found}");
    assert!(found.contains("\n   nDGC@10 drops > 0.1\n   ^^^^"), "{found}");
    error("P@[5,10] drops > 0.1");
    error("AP(drops > 0.1");
}

#[test]
fn any_text_is_a_gate_or_an_error() {
    let pieces = [
        "AP", " ", "é", "may", "drop", "drops", ">", "<", "=", "p", "0.1", "%", "(", "", "\u{3000}",
    ];
    for code in 0..pieces.len().pow(3) {
        let text: String =
            (0..3).map(|at| pieces[code / pieces.len().pow(at) % pieces.len()]).collect();
        if let Ok(gate) = Gate::parse(&format!("AP {text}")) {
            assert_eq!(Gate::parse(&gate.to_string()).unwrap(), gate);
        }
        Gate::parse(&text).map_or_else(|error| assert!(!error.to_string().is_empty()), |_| ());
    }
}

/// A gate on two queries with differences of the size of the largest floats.
#[test]
fn huge_values() {
    let runs = vec![vec![1e300, -1e300, 3e300], vec![-1e300, 1e300, 1e300]];
    let KnownPair { values, counts, unit } = pair(&runs, [0, 1]);
    let paired = reference_values::paired_of(&values, &counts, unit).unwrap();
    let facts = GateInputs {
        run: 1e300 / 3.0,
        baseline: Some(1e300),
        paired: Some(&paired),
        worse: None,
        judged: None,
    };
    assert!(Gate::parse("DCG drops > 1e299").unwrap().verdict(facts).unwrap().failed);
    assert!(Gate::parse("DCG may drop > 1e299").unwrap().verdict(facts).unwrap().failed);
}

/// Returns the sentence of a gate whose loss, or value, is `value`.
fn sentence(
    text: &str,
    [value, threshold]: [f64; 2],
    p: Option<f64>,
    change: GateChange,
) -> String {
    let verdict = GateVerdict { failed: false, value, threshold, p };
    Gate::parse(text).unwrap().sentence("new", &verdict, change).to_string()
}

#[test]
fn an_amount_of_minus_0_is_0() {
    let Rule::Worse { amount: Amount::Absolute(amount), .. } =
        Gate::parse("AP drops > -0").unwrap().rule
    else {
        panic!("it has an amount")
    };
    assert_eq!(amount.to_bits(), 0f64.to_bits());
}

#[test]
fn a_run_that_did_not_change_has_lost_nothing() {
    for text in ["AP drops > 0.5", "AP drops p<0.05"] {
        let verdict = of_deltas(text, 0.5, &[0.0, 0.0, 0.0], Some(1.0)).unwrap();
        assert_eq!(verdict.value.to_bits(), 0f64.to_bits(), "{text}");
    }
}

#[test]
fn sentences_say_what_happened_and_what_was_allowed() {
    let none = GateChange::default();
    let known = GateChange { relative: Some(-0.2244), interval: Some(([-0.2451, 0.0844], 95.0)) };
    let (share, interval) =
        (GateChange { interval: None, ..known }, GateChange { relative: None, ..known });
    for (text, numbers, p, change, expected) in [
        ("AP < 0.3", [0.4443, 0.3], None, none, "AP of new is 0.4443; allowed: 0.3 or more"),
        ("AP <= 0.3", [0.3, 0.3], None, none, "AP of new is 0.3000; allowed: more than 0.3"),
        ("AP > 0.3", [0.30001, 0.3], None, none, "AP of new is 0.30001; allowed: 0.3 or less"),
        ("NumRel >= 10", [0.5, 10.0], None, none, "NumRel of new is 0.5000; allowed: less than 10"),
        (
            "AP drops",
            [0.0, 0.0],
            None,
            known,
            "AP of new did not change (95 % interval -0.2451 to +0.0844); allowed: no drop",
        ),
        (
            "AP drops",
            [0.1, 0.0],
            Some(0.25),
            none,
            "AP of new fell by 0.1000, p = 0.2500; allowed: no drop",
        ),
        (
            "AP drops",
            [-0.1, 0.0],
            None,
            share,
            "AP of new rose by 0.1000 (-22.4 %); allowed: no drop",
        ),
        (
            "FallOut@5 rises",
            [0.1, 0.0],
            None,
            none,
            "FallOut@5 of new rose by 0.1000; allowed: no rise",
        ),
        (
            "FallOut@5 rises",
            [-0.1, 0.0],
            None,
            interval,
            "FallOut@5 of new fell by 0.1000 (95 % interval -0.2451 to +0.0844); allowed: no rise",
        ),
        (
            "AP drops > 0.00005",
            [0.00501, 5e-5],
            None,
            known,
            "AP of new fell by 0.0050 (-22.4 %, 95 % interval -0.2451 to +0.0844); allowed: a drop \
             of 0.00005",
        ),
        (
            "AP drops > 0.005",
            [0.00501, 0.005],
            None,
            none,
            "AP of new fell by 0.00501; allowed: a drop of 0.005",
        ),
        (
            "AP drops > 7%",
            [0.1, 0.035],
            None,
            none,
            "AP of new fell by 0.1000; allowed: a drop of 0.035 (7 %)",
        ),
        (
            "AP drops p<0.01",
            [0.1, 0.0],
            Some(1e-9),
            none,
            "AP of new fell by 0.1000, p < 0.0001; allowed: a drop that chance explains (p ≥ 0.01)",
        ),
        (
            "AP drops > 0.02 p<0.01",
            [0.1, 0.02],
            None,
            none,
            "AP of new fell by 0.1000; allowed: a drop of 0.02, or one that chance explains (p ≥ \
             0.01)",
        ),
        (
            "AP may drop > 0.02",
            [0.1, 0.02],
            None,
            none,
            "AP of new fell by 0.1000; allowed: data that rule out a drop of 0.02 or more (p < \
             0.05)",
        ),
        (
            "GMAP drops > 0.5",
            [2f64.ln(), 0.5],
            Some(0.5),
            interval,
            "GMAP of new is 0.5000 times that of the baseline (95 % interval 0.7826 to 1.0881 \
             times), p = 0.5000; \
             allowed: a drop to 0.6065 times that of the baseline",
        ),
    ] {
        assert_eq!(sentence(text, numbers, p, change), expected, "{text}");
    }
}
