//! Measures as values: what parses to what, and what an error says.

use laneval::measure::{Defaults, MEASURES, parse_list};
use laneval::{Error, Measure, reference};
use proptest::prelude::*;

use crate::variants::variants;

fn names(text: &str) -> Vec<String> {
    let list = parse_list(text, Defaults::default()).unwrap_or_else(|e| panic!("{text}: {e}"));
    list.iter().map(ToString::to_string).collect()
}

fn message(text: &str) -> String {
    parse_list(text, Defaults::default()).expect_err(text).to_string()
}

#[test]
fn every_variant_prints_and_parses_back() {
    for measure in MEASURES.iter().flat_map(variants) {
        let name = measure.to_string();
        assert_eq!(name.parse::<Measure>().unwrap(), measure, "{name}");
        assert_eq!(name.parse::<Measure>().unwrap().to_string(), name);
    }
}

#[test]
fn the_table_is_whole() {
    for (at, row) in MEASURES.iter().enumerate() {
        let others = MEASURES.iter().enumerate().filter(|&(other, _)| other != at).map(|(_, row)| row);
        for other in others {
            assert!(other.name != row.name && !other.aliases.contains(&row.name), "{} twice", row.name);
            assert!(
                row.aliases.iter().all(|alias| !other.aliases.contains(alias)),
                "{} and {}",
                row.name,
                other.name
            );
        }
        assert!(!row.doc.is_empty() && !row.formula.is_empty() && !row.citation.is_empty(), "{}", row.name);
        for param in row.params {
            let excluded = row.params.iter().any(|other| other.name == param.excludes);
            assert!(param.excludes.is_empty() || excluded, "{}: {}", row.name, param.name);
            assert!(!param.doc.is_empty());
        }
        assert_eq!(
            reference::FUNCTIONS.iter().filter(|(name, _)| *name == row.name).count(),
            1,
            "{}",
            row.name
        );
    }
    assert_eq!(reference::FUNCTIONS.len(), MEASURES.len());
}

/// A default that is written out is the measure without it.
#[test]
fn written_defaults_are_dropped() {
    for row in MEASURES {
        let cut = variants(row)[0].to_string()[row.name.len()..].to_owned();
        for param in row.params.iter().filter(|param| !param.default.is_empty()) {
            let text = format!("{}({}={}){cut}", row.name, param.name, param.default);
            assert_eq!(text.parse::<Measure>().unwrap().to_string(), format!("{}{cut}", row.name));
        }
    }
}

#[test]
fn lists_and_ranges_expand() {
    assert_eq!(names("P@[1,5,10]"), ["P@1", "P@5", "P@10"]);
    assert_eq!(names("R@1..3"), ["R@1", "R@2", "R@3"]);
    assert_eq!(names("nDCG@[5, 10](gain=exp2)"), ["nDCG(gain=exp2)@5", "nDCG(gain=exp2)@10"]);
    assert_eq!(names("IPrec@[0,0.1]"), ["IPrec@0", "IPrec@0.1"]);
    assert_eq!(names(" AP ( rel = 2 , norm = min ) @ 5 "), ["AP(rel=2,norm=min)@5"]);
    assert_eq!(names("nDCG(gain={2:5, 1:1})"), ["nDCG(gain={1:1,2:5})"]);
}

#[test]
fn the_names_of_trec_eval() {
    let nine = [5, 10, 15, 20, 30, 100, 200, 500, 1000];
    let cut = |name: &str| nine.map(|k| format!("{name}@{k}"));
    assert_eq!(names("P"), cut("P"));
    assert_eq!(names("recall"), cut("R"));
    assert_eq!(names("relative_P"), cut("R(norm=min)"));
    assert_eq!(names("map_cut"), cut("AP"));
    assert_eq!(names("ndcg_cut"), cut("nDCG"));
    assert_eq!(names("ndcg_cut.5,10"), ["nDCG@5", "nDCG@10"]);
    assert_eq!(names("P.3"), ["P@3"]);
    assert_eq!(names("P_5"), ["P@5"]);
    assert_eq!(names("success"), ["Success@1", "Success@5", "Success@10"]);
    assert_eq!(names("iprec_at_recall_0.10"), ["IPrec@0.1"]);
    assert_eq!(names("iprec_at_recall").len(), 11);
    assert_eq!(names("ndcg.1=3,2=9"), ["nDCG(gain={1:3,2:9})"]);
    assert_eq!(names("set_F.0.5"), ["SetF(beta2=0.5)"]);
    assert_eq!(names("11pt_avg.0.2,0.5"), ["IPrec11(points=[0.2,0.5])"]);
    assert_eq!(names("Rprec_mult").len(), 10);
    assert_eq!(names("Rprec_mult.0.5,1"), ["Rprec(mult=0.5)", "Rprec"]);
    assert_eq!(names("unj"), ["Unjudged@5", "Unjudged@10", "Unjudged@20"]);
    for (trec, ours) in [
        ("map", "AP"),
        ("gm_map", "GMAP"),
        ("Rprec", "Rprec"),
        ("recip_rank", "RR"),
        ("ndcg", "nDCG"),
        ("11pt_avg", "IPrec11"),
        ("set_P", "SetP"),
        ("set_recall", "SetR"),
        ("set_F", "SetF"),
        ("num_q", "NumQ"),
        ("num_ret", "NumRet"),
        ("num_rel", "NumRel"),
        ("num_rel_ret", "NumRelRet"),
        ("num_nonrel_judged_ret", "NumNonrelRet"),
        ("bpref", "Bpref"),
        ("gm_bpref", "GMBpref"),
        ("infAP", "InfAP"),
        ("binG", "BinG"),
        ("G", "G"),
        ("G.0=1,1=2", "G(gain={0:1,1:2})"),
        ("dcg.1=3", "DCG(gain={1:3})"),
        ("ideal_dcg", "IDCG"),
        ("ndcg_rel", "nDCGrel"),
        ("ndcg_rel.1=2", "nDCGrel(gain={1:2})"),
        ("Rndcg", "RnDCG"),
        ("Rprec_mult.0.5", "Rprec(mult=0.5)"),
        ("set_map", "SetAP"),
        ("set_relative_P", "SetP(norm=min)"),
        ("utility", "Utility"),
        ("utility.2,-1,0,0.5", "Utility(a=2,d=0.5)"),
        ("yaap", "YAAP"),
        ("rbp", "RBP(p=0.9,scale=topic)"),
        ("rbp.p=0.8", "RBP(scale=topic)"),
        ("rbp_resid", "RBPresid"),
        ("rbp_resid.p=0.8", "RBPresid(p=0.8)"),
        ("unj.7", "Unjudged@7"),
    ] {
        assert_eq!(names(trec), [ours]);
    }
}

#[test]
fn the_names_of_ranx() {
    for (ranx, ours) in [
        ("ndcg@10", "nDCG@10"),
        ("ndcg_burges@10", "nDCG(gain=exp2)@10"),
        ("dcg_burges@5", "DCG(gain=exp2)@5"),
        ("map@100", "AP@100"),
        ("mrr@10", "RR@10"),
        ("mrr", "RR"),
        ("hit_rate@5", "Success@5"),
        ("hits@5", "Hits@5"),
        ("precision@10", "P@10"),
        ("precision", "SetP"),
        ("recall@10", "R@10"),
        ("f1@5", "F@5"),
        ("f1", "SetF"),
        ("r-precision", "Rprec"),
        ("rbp.95", "RBP(p=0.95,gain=raw)"),
        ("rbp.95-l2", "RBP(p=0.95,rel=2,gain=raw)"),
        ("f1-l2", "SetF(rel=2)"),
        ("map@10-l2", "AP(rel=2)@10"),
        ("mrr-l3", "RR(rel=3)"),
        ("ndcg@10-l2", "nDCG(rel=2)@10"),
    ] {
        assert_eq!(names(ranx), [ours], "{ranx}");
    }
}

#[test]
fn the_default_level_is_for_binary_measures() {
    let at2 = |text| parse_list(text, Defaults { rel: 2.0 }).unwrap()[0].to_string();
    assert_eq!(at2("AP"), "AP(rel=2)");
    assert_eq!(at2("AP(rel=1)"), "AP");
    assert_eq!(at2("nDCG@10"), "nDCG@10");
    assert_eq!(at2("NumQ"), "NumQ");
}

/// A measure that does not fit the grades is an error, never a number that is none.
#[test]
fn parameters_are_checked_against_the_grades() {
    use laneval::label::Codebook;
    let error = |name: &str, grade: f64| {
        let book = Codebook::new([0.0, grade]).unwrap();
        name.parse::<Measure>().unwrap().recipe(&book).err().map(|e| e.to_string()).unwrap_or_default()
    };
    assert!(error("ERR", 5.0).contains("above gmax=4: give gmax=5 or more, or gmax=auto"));
    assert!(error("ERR(gmax=auto)", 2000.0).contains("too large"));
    assert!(error("nDCG(gain=exp2)", 2000.0).contains("not a finite number"));
    assert!(error("RBP(p=1)", 1.0).contains("p below 1"));
    assert_eq!(error("RBP(p=1,norm=10)", 1.0), "");
}

#[test]
fn errors_point_at_the_part_at_fault_and_suggest() {
    assert_eq!(
        message("nDGC@10"),
        "there is no measure `nDGC`: `laneval measures` lists them\n  nDGC@10\n  ^^^^ did you mean nDCG or RnDCG?"
    );
    assert_eq!(message("AP(rle=2)"), "`AP` has no parameter `rle`, but rel, norm\n  AP(rle=2)\n     ^^^");
    assert_eq!(message("P@0"), "a cutoff is at least 1\n  P@0\n    ^");
    for (text, part) in [
        ("R", "needs a cutoff"),
        ("R@", "is not a cutoff"),
        ("AP@-1", "is not a cutoff"),
        ("AP@1.5", "is not a cutoff"),
        ("nDCG@5..2", "is not a range"),
        ("nDCG@1..4000000000", "more than 10000"),
        ("AP(norm=max)", "is not judged or min or hits"),
        ("AP(rel=nan)", "is not a grade"),
        ("AP(rel=-1)", "is not a grade"),
        ("AP(rel=1", "`,` or `)` was expected"),
        ("AP(rel=1,rel=2)", "given twice"),
        ("SetF(beta=1,beta2=2)", "cannot be given together"),
        ("SetP@5", "takes no cutoff"),
        ("IPrec", "needs a level of recall"),
        ("IPrec@2", "is not a level of recall"),
        ("utility.1,2", "4 numbers were expected"),
        ("rbp.p=0.8,1=3", "has no parameter `1`"),
        ("F", "needs a cutoff"),
        ("AP@5 please", "is not a cutoff"),
        ("AP(rel=1)x", "nothing was expected"),
        ("RBP(p=1.5)", "is not a number from 0 to 1"),
        ("nDCG(gain={1:2,1:3})", "two gains"),
        ("nDCG(gain={1})", "is not a pair"),
        ("P.0", "at least 1"),
        ("P.a", "is not a cutoff"),
        ("", "a measure was expected"),
    ] {
        assert!(message(text).contains(part), "{text}: {}", message(text));
    }
}

proptest! {
    /// Arbitrary text never panics, and an error's span lies in the text.
    #[test]
    fn any_text(text in "[ -~é]{0,24}|(P|AP|nDCG|rbp|set_F|RBP)[@(.,=\\[\\]{}:0-9a-z-]{0,16}") {
        if let Err(Error::Measure(e)) = parse_list(&text, Defaults::default()) {
            prop_assert!(text.get(e.span.clone()).is_some(), "{:?} of {text:?}", e.span);
            let _ = e.to_string();
        }
    }
}
