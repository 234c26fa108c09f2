//! Measures as values: which text parses to which measure, and the errors of others.

use laneval::labels::Codebook;
use laneval::measure::{
    Defaults, FOREIGN, JUDGES, MEASURES, NO_RELEVANT, ParamKind, ParamValue, Profile, Provenance,
    SETS, Tool, items_with_prefix, parse_list,
};
use laneval::parts::reference;
use laneval::{Error, Measure, QuerySet, ScoreType, TieBreak, TiedValue};
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
        let others =
            MEASURES.iter().enumerate().filter(|&(other, _)| other != at).map(|(_, row)| row);
        assert!(others.into_iter().all(|other| other.name != row.name), "{} twice", row.name);
        assert!(
            !row.doc.is_empty() && !row.formula.is_empty() && !row.citation.is_empty(),
            "{}",
            row.name
        );
        for param in row.params {
            let excluded = row.params.iter().any(|other| other.name == param.excludes);
            assert!(param.excludes.is_empty() || excluded, "{}: {}", row.name, param.name);
            let needed = row.params.iter().any(|other| {
                matches!(
                    other.kind,
                    ParamKind::Choice(words)
                        if words.iter().any(|word| format!("{}={word}", other.name) == param.needs)
                )
            });
            assert!(param.needs.is_empty() || needed, "{}: {}", row.name, param.name);
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

/// A default that is written out gives the measure without it.
#[test]
fn written_defaults_are_dropped() {
    for row in MEASURES {
        let cut = variants(row)[0].to_string()[row.name.len()..].to_owned();
        let plain =
            row.params.iter().filter(|param| !param.default.is_empty() && param.needs.is_empty());
        for param in plain {
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
    assert_eq!(names("trec:recall"), cut("R"));
    assert_eq!(names("recall.10"), ["R@10"]);
    assert_eq!(names("recall_10"), ["R@10"]);
    assert_eq!(names("P_5,10"), ["P@5", "P@10"]);
    assert_eq!(names("relative_P"), cut("R(norm=min)"));
    assert_eq!(names("map_cut"), cut("AP"));
    assert_eq!(names("ndcg_cut"), cut("nDCG"));
    assert_eq!(names("ndcg_cut.5,10"), ["nDCG@5", "nDCG@10"]);
    assert_eq!(names("P.3"), ["P@3"]);
    assert_eq!(names("P_5"), ["P@5"]);
    assert_eq!(names("trec:success"), ["Success@1", "Success@5", "Success@10"]);
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
        ("trec:rbp", "RBP(p=0.9,scale=topic)"),
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
        ("ranx:precision", "SetP"),
        ("recall@10", "R@10"),
        ("ranx:recall", "SetR"),
        ("f1@5", "F@5"),
        ("ranx:f1", "SetF"),
        ("ranx:bpref", "Bpref(negatives=nonrelevant)"),
        ("ranx:rbp@95", "RBP(p=0.95,gain=raw)"),
        ("r-precision", "Rprec"),
        ("rbp.95", "RBP(p=0.95,gain=raw)"),
        ("rbp.95-l2", "RBP(p=0.95,rel=2,gain=raw)"),
        ("ranx:f1-l2", "SetF(rel=2)"),
        ("map@10-l2", "AP(rel=2)@10"),
        ("mrr-l3", "RR(rel=3)"),
        ("ndcg@10-l2", "nDCG(rel=2)@10"),
    ] {
        assert_eq!(names(ranx), [ours], "{ranx}");
    }
}

#[test]
fn the_names_of_ir_measures() {
    for (theirs, ours) in [
        ("nDCG(dcg='exp-log2')@10", "nDCG(gain=exp2)@10"),
        ("nDCG(dcg=\"log2\")", "nDCG"),
        ("nDCG(gains={0:0,1:1})@10", "nDCG(gain={0:0,1:1})@10"),
        ("nDCG(cutoff=10, judged_only=False)", "nDCG@10"),
        ("AP(rel=2)", "AP(rel=2)"),
        ("IPrec(recall=0.1)", "IPrec@0.1"),
        ("SetP(relative=True)", "SetP(norm=min)"),
        ("SetRelP(rel=2)", "SetP(rel=2,norm=min)"),
        ("SetF(beta=0.5)", "SetF(beta=0.5)"),
        ("irm:SetF(beta=0.5)", "SetF(beta2=0.5)"),
        ("Compat(p=0.8,normalize=False)", "Compat(p=0.8,normalize=false)"),
        ("RBP(rel=1,p=0.8)", "RBP"),
        ("irm:RBP(rel=2,p=0.8)", "RBP(rel=2,norm=1000)"),
        ("BPM(T=2,max_rel=4,min_rel=0)@10", "BPM(T=2,gain=grade,gmax=4)@10"),
        ("irm:SDCG(dcg='log2',max_rel=3)@5", "SDCG(gain=grade,gmax=3)@5"),
        ("RPrec", "Rprec"),
        ("BPref", "Bpref"),
        ("infAP(rel=2)", "InfAP(rel=2)"),
        ("NumRelRet", "NumRelRet"),
        ("alpha_nDCG(alpha=0.3,judged_only=False)@10", "alpha_nDCG(alpha=0.3)@10"),
        ("α_nDCG@10", "alpha_nDCG@10"),
        ("MAP_IA", "AP_IA"),
        ("NRBP(beta=0.8)", "NRBP(beta=0.8)"),
    ] {
        assert_eq!(names(theirs), [ours], "{theirs}");
    }
    for (text, part) in [
        ("P(judged_only=True)@10", "--judged-only"),
        ("irm:RBP(p=0.9)", "`rel` has to be given"),
        ("irm:INST", "`max_rel` has to be given"),
        ("NumRet(rel=2)", "did you mean NumRelRet(rel=2)?"),
        ("INST(max_rel=3,min_rel=1)", "only min_rel=0"),
        ("nDCG(dcg='log10')", "is not log2 or exp-log2"),
        ("nDCG(cutoff=5)@10", "two cutoffs"),
        ("SetP(relative=True,norm=min)", "`norm` is given twice"),
        ("SetF(beta=1,beta2=2)", "cannot be given together"),
        ("NDCG10", "did you mean nDCG@10?"),
        ("p5", "did you mean P@5?"),
    ] {
        assert!(message(text).contains(part), "{text}: {}", message(text));
    }
}

#[test]
fn case_is_ignored_where_names_stay_apart() {
    for (text, ours) in [
        ("ap", "AP"),
        ("rr", "RR"),
        ("p@10", "P@10"),
        ("ndcg@10", "nDCG@10"),
        ("NDCG_cut.10", "nDCG@10"),
        ("gmap", "GMAP"),
        ("compat", "Compat"),
        ("numq", "NumQ"),
        ("mAP", "AP"),
        ("MRR@10", "RR@10"),
        ("cg@5", "CG@5"),
        ("err", "ERR"),
        ("iprec11", "IPrec11"),
        ("HITRATE@3", "Success@3"),
        ("TREC_eval", ""),
    ] {
        let meant = parse_list(text, Defaults::default())
            .map(|list| list[0].to_string())
            .unwrap_or_default();
        assert_eq!(meant, ours, "{text}");
    }
    assert_eq!(names("Success"), ["Success"]);
    assert_eq!(names("G"), names("g"));
}

/// A word that tools use for different formulas computes none of them, and its error describes
/// each.
#[test]
fn names_that_differ_between_tools_are_refused_with_what_each_is() {
    for (text, parts) in [
        ("precision", &["\n    P@10 ", "\n    SetP ", "ranx:precision"][..]),
        ("recall", &["\n    R@10 ", "\n    SetR ", "trec:recall.10", "ranx:recall"]),
        ("Recall", &["\n    R@10 ", "\n    SetR "]),
        (
            "success",
            &[
                "\n    trec:success  Success@1, Success@5, Success@10",
                "\n    Success ",
                "first k ranks",
            ],
        ),
        ("f1", &["\n    F@10 ", "\n    SetF "]),
        ("F1", &["\n    F@10 ", "\n    SetF "]),
        ("accuracy", &["\n    Accuracy ", "\n    Success ", "beir:Accuracy"]),
        ("accuracy@5", &["\n    Accuracy ", "\n    Success "]),
        (
            "rbp",
            &[
                "\n    RBP  ",
                "\n    RBP(p=0.9,scale=topic) ",
                "\n    RBP(p=0.95,gain=raw) ",
                "trec:rbp",
                "p=0.8, ",
            ],
        ),
        ("rbp@10", &["\n    RBP  ", "\n    RBP(p=0.95,gain=raw) "]),
        ("rbp(p=0.7)", &["\n    RBP  "]),
        ("rbp-l2", &["\n    RBP  "]),
    ] {
        let error = message(text);
        assert!(error.contains("means different measures in different tools"), "{text}: {error}");
        parts
            .iter()
            .for_each(|part| assert!(error.contains(part), "{text}: {part:?} is not in {error}"));
    }
    assert_eq!(names("RBP"), ["RBP"]);
    assert_eq!(names("Accuracy@5"), ["Accuracy@5"]);
    assert_eq!(names("F1@5"), ["F@5"]);
}

#[test]
fn prefixes_choose_a_vocabulary() {
    assert_eq!(names("trec:P.5"), ["P@5"]);
    assert_eq!(names("irm:P@5"), ["P@5"]);
    assert_eq!(names("beir:R_cap@5,beir:Accuracy@5"), ["R(norm=min)@5", "Success@5"]);
    assert_eq!(names("trec:ndcg_cut.5,10,AP"), ["nDCG@5", "nDCG@10", "AP"]);
    for (text, part) in [
        ("ranx:recip_rank", "no measure `recip_rank` of ranx"),
        ("trec:AP", "no measure `AP` of trec_eval\n  trec:AP\n       ^^"),
        ("irm:map_cut.5", "of ir_measures"),
        ("ranx:rbp", "rbp.95"),
        ("trec:nDGC", "did you mean trec:ndcg or trec:Rndcg?"),
    ] {
        assert!(message(text).contains(part), "{text}: {}", message(text));
    }
}

/// Every library has names of its own, each of which parses and is read back from what it means.
#[test]
fn libraries_are_one_table() {
    for (at, profile) in Profile::ALL.iter().enumerate() {
        assert!(
            Profile::ALL[..at].iter().all(|other| other.prefix != profile.prefix),
            "{}",
            profile.prefix
        );
        assert!(
            Profile::from_prefix(profile.prefix)
                .is_ok_and(|found| found.library == profile.library)
        );
        for text in [profile.library, profile.versions, profile.source] {
            assert!(!text.is_empty(), "{}", profile.prefix);
        }
        let rows: Vec<_> = FOREIGN.iter().filter(|row| profile.tools.contains(&row.tool)).collect();
        assert!(!rows.is_empty(), "{} has no names", profile.prefix);
        for row in rows {
            let example = row.example();
            let with_prefix = names(&format!("{}:{example}", profile.prefix));
            // A name alone has the usual level of relevance, as it has the usual ties.
            let usual = Defaults { rel: Some(1.0) };
            let meant = profile.measures(&example, usual).unwrap();
            assert_eq!(
                meant.iter().map(ToString::to_string).collect::<Vec<_>>(),
                with_prefix,
                "{example}"
            );
            for measure in meant {
                assert_eq!(measure.to_string().parse::<Measure>().unwrap(), measure, "{example}");
            }
        }
        assert!(!profile.usual_measures(Defaults::default()).is_empty(), "{}", profile.prefix);
        for (at, (option, word)) in profile.options.iter().enumerate() {
            assert!(
                profile.options[..at].iter().all(|(other, _)| other != option),
                "{}",
                profile.prefix
            );
            let known = match *option {
                "ties" => {
                    word.parse::<TieBreak>().is_ok()
                        || TiedValue::ALL.iter().any(|(name, _)| name == word)
                }
                "score-type" => word.parse::<ScoreType>().is_ok(),
                "queries" => word.parse::<QuerySet>().is_ok(),
                "relevant-from" => ["judged", "retrieved"].contains(word),
                _ => false,
            };
            assert!(known, "{}: {option} {word}", profile.prefix);
            assert!(
                !profile.describe_options(|name, _| name == *option).unwrap().contains("differs"),
                "{option} {word}"
            );
        }
        assert!(
            Provenance::ALL
                .iter()
                .any(|(name, seen)| *name == profile.seen.to_string() && *seen == profile.seen)
        );
    }
    let of_no_profile: Vec<_> =
        FOREIGN.iter().filter(|row| Profile::for_tool(row.tool).is_none()).collect();
    assert!(
        of_no_profile.iter().all(|row| row.tool == Tool::Common),
        "{:?}",
        of_no_profile[0].name
    );
}

#[test]
fn a_prefix_without_a_library_says_which_was_meant() {
    for (text, expected) in [
        (
            "xgboots:map@5",
            "xgboots: is no library: did you mean xgboost?\n  xgboots:map@5\n  ^^^^^^^^",
        ),
        (
            "nothing_like_it:map@5",
            "nothing_like_it: is no library: `laneval measures --as` lists them\n",
        ),
        ("xgboost3:map@5", "xgboost3:map@5: xgboost has xgboost (2 and later) and xgboost1\n"),
        ("trec8:map", "trec8:map: trec has trec (10), trec10 and trec9\n"),
        (
            "lightgbm:recall@5",
            "lightgbm:recall@5: LightGBM has no recall, only ndcg, map (list it: laneval measures \
             --as lightgbm)\n",
        ),
        ("xgboost:pre", "xgboost:pre needs a cutoff, as in xgboost:pre@10\n"),
        ("ranklib:MAP@10", "ranklib:MAP is of the whole ranking, and takes no cutoff\n"),
        ("quepid:ap@10", QUEPID),
    ] {
        assert!(message(text).starts_with(expected), "{text}: {}", message(text));
    }
    let library = |prefix: &str| {
        Profile::from_prefix(prefix)
            .map(|profile| profile.library)
            .map_err(|error| error.to_string())
    };
    assert_eq!(library("xgboost"), Ok("XGBoost"));
    assert_eq!(
        library("xgboost3").unwrap_err(),
        "xgboost3: xgboost has xgboost (2 and later) and xgboost1"
    );
    assert_eq!(library("").unwrap_err(), ": is no library: `laneval measures --as` lists them");
    let ranx = Profile::from_prefix("ranx").unwrap();
    let error = ranx.measures("mrr,trec:map", Defaults::default()).unwrap_err().to_string();
    assert!(
        error.starts_with("--as ranx means its own names, and not those of trec_eval\n"),
        "{error}"
    );
}

/// What Quepid divides by zero is told, as `ap@10` is not a number where nothing is relevant.
const QUEPID: &str = "quepid:ap@10 is not a number where nothing is relevant; laneval gives 0 \
                      (no_relevant=0): \
                      say no_relevant=0 or no_relevant=skip\n";

/// Older versions of a library have the names of their own time, and arguments of libraries are
/// read as they are written there.
#[test]
fn names_of_libraries() {
    for (theirs, ours) in [
        ("xgboost:map@5", "AP(norm=min,no_relevant=1)@5"),
        ("xgboost:map@5-", "AP(norm=min)@5"),
        ("xgboost:ndcg-", "nDCG(gain=exp2)"),
        ("xgboost1:map@5", "AP(no_relevant=1)@5"),
        ("xgboost1:pre@5", "P@5"),
        ("xgboost:pre@5", "P(norm=min)@5"),
        ("mteb:ndcg_at_10", "nDCG@10"),
        ("mteb1:map_at_5", "AP@5"),
        ("trec9:recall.10", "R@10"),
        ("trec10:rbp_resid", "RBPresid"),
        ("sklearn:NDCG@10", "nDCG@10"),
        ("catboost:NDCG(type=Exp)@3", "nDCG(gain=exp2,no_relevant=1)@3"),
        ("rectools:MAP( divide_by_k = True )@3", "AP(norm=k,no_relevant=skip)@3"),
        ("recommenders:ndcg_at_k(score_type=\"exp\")(rel=2)@3", "nDCG(gain=exp2,rel=2)@3"),
        ("elastic:expected_reciprocal_rank(gmax=3)@10", "ERR(gmax=3)@10"),
        ("quepid:ap(no_relevant=skip)@10", "AP(no_relevant=skip)@10"),
    ] {
        assert_eq!(names(theirs), [ours], "{theirs}");
    }
    assert_eq!(names("mteb:ndcg_at_5,10"), ["nDCG@5", "nDCG@10"]);
    assert!(message("trec9:dcg").contains("no measure `dcg` of trec_eval 9"));
    assert!(message("elastic:expected_reciprocal_rank@10").contains("`gmax` has to be given"));
    let items = items_with_prefix("AP,xgboost:map@5 ranx:mrr,foo:bar");
    let prefixes: Vec<_> = items.iter().map(|(item, profile)| (*item, profile.prefix)).collect();
    assert_eq!(prefixes, [("xgboost:map@5", "xgboost"), ("ranx:mrr", "ranx")]);
    // No bare name has a new meaning.
    for row in FOREIGN.iter().filter(|row| matches!(row.tool, Tool::Library(_))) {
        assert!(!row.bare, "{}", row.name);
    }
}

#[test]
fn the_usual_measures_of_a_library_are_those_it_has() {
    let usual = |prefix| {
        let measures = Profile::from_prefix(prefix).unwrap().usual_measures(Defaults::default());
        measures.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(usual("trec"), ["nDCG@10", "AP", "RR", "P@10", "R@100"]);
    assert_eq!(
        usual("lightgbm"),
        ["nDCG(gain=exp2,no_relevant=1)@10", "AP(rel=>0.5,norm=min,no_relevant=1)"]
    );
    assert_eq!(usual("rectools")[0], "SDCG(rel=0,no_relevant=skip)@10");
}

#[test]
fn trec_eval_and_pytrec_eval_are_names_of_libraries() {
    for (name, prefix) in [("trec_eval", "trec"), ("pytrec_eval", "trec9")] {
        assert_eq!(Profile::from_prefix(name).unwrap().prefix, prefix);
        assert_eq!(names(&format!("{name}:map")), names(&format!("{prefix}:map")));
    }
}

#[test]
fn an_option_has_to_agree_with_the_library() {
    let sklearn = Profile::from_prefix("sklearn").unwrap();
    let agree = |option, given| {
        let agree = sklearn
            .check_option("--as sklearn", option, given, |word| format!("--{option} {word}"));
        agree.map_err(|error| error.to_string())
    };
    assert_eq!(agree("ties", None), Ok(Some("average")));
    assert_eq!(agree("ties", Some("average")), Ok(Some("average")));
    assert_eq!(
        agree("ties", Some("input")).unwrap_err(),
        "--as sklearn averages over equal scores, --ties input does not: leave one out"
    );
    assert_eq!(agree("score-type", Some("f32")), Ok(None));
    assert_eq!(
        sklearn.describe_options(|option, _| !["queries", "rel"].contains(&option)).unwrap(),
        "scikit-learn averages over equal scores and knows retrieved documents only"
    );
}

#[test]
fn one_argument_may_be_a_list() {
    assert_eq!(names("nDCG@10,AP"), ["nDCG@10", "AP"]);
    assert_eq!(names("nDCG@10 AP  RR@[1, 5]"), ["nDCG@10", "AP", "RR@1", "RR@5"]);
    assert_eq!(
        names("P@[5,10],AP(rel=2, norm=min) nDCG(gain={1:2,2:3})@5"),
        ["P@5", "P@10", "AP(rel=2,norm=min)", "nDCG(gain={1:2,2:3})@5"]
    );
    assert_eq!(names("P @ 5 (rel = 2) , AP"), ["P(rel=2)@5", "AP"]);
    assert_eq!(names("ndcg_cut.5,10,map"), ["nDCG@5", "nDCG@10", "AP"]);
    assert_eq!(
        names("ndcg.1=3,2=9,11pt_avg.0.2,0.5,utility.1,-1,0,0"),
        ["nDCG(gain={1:3,2:9})", "IPrec11(points=[0.2,0.5])", "Utility"]
    );
    assert_eq!(names("P@1..3 R@2"), ["P@1", "P@2", "P@3", "R@2"]);
    for set in SETS {
        let of_set: Vec<String> = FOREIGN
            .iter()
            .filter(|row| row.sets.contains(&set))
            .flat_map(|row| names(&row.prefixed(row.name)))
            .collect();
        assert_eq!(names(set), of_set);
        assert_eq!(names(&format!("trec:{set}")), of_set);
    }
    assert_eq!(names("official").len(), 9 + 11 + 9, "the thirty lines of trec_eval but runid");
    let error = message("nDCG@10,XX,P@0");
    assert_eq!(error.matches("nDCG@10,XX,P@0\n").count(), 2, "{error}");
    assert!(error.contains("          ^^") && error.contains("               ^"), "{error}");
    for (text, part) in [
        ("nDCG@5,10", "         ^^ did you mean nDCG@[5,10]?"),
        ("AP,", "a measure was expected"),
        (",", "a measure was expected"),
        ("AP RP@1", "   ^^"),
    ] {
        assert!(message(text).contains(part), "{text}: {}", message(text));
    }
    assert!("AP,RR".parse::<Measure>().is_err());
    assert_eq!(names("P@1..9999,AP").len(), 10_000);
    assert!(message("P@1..9999,AP,RR").contains("more than 10000 measures"));
    let Err(Error::Measures(wrong)) = parse_list(&"XX,".repeat(1000), Defaults::default()) else {
        panic!()
    };
    assert_eq!(wrong.len(), 20);
}

/// The terms of tutorials lead to the names of measures here.
#[test]
fn the_words_of_tutorials_are_known() {
    for (text, suggestion) in [
        ("MAP@K", "AP@10"),
        ("NDCG@K", "nDCG@10"),
        ("recall@k", "R@10"),
        ("Precision@k", "P@10"),
        ("F2", "F(beta=2)@10 or SetF(beta=2)"),
        ("F2@5", "F(beta=2)@5 or SetF(beta=2)"),
        ("F0.5-score", "F(beta=0.5)@10 or SetF(beta=0.5)"),
        ("F-measure", "F@10 or SetF"),
        ("fmeasure", "F@10 or SetF"),
        ("mean average precision", "AP"),
        ("Mean Average Precision@5", "AP@5"),
        ("mean avrage precision", "AP"),
        ("cumulative gain", "CG"),
        ("normalized discounted cumulative gain at 10", "nDCG@10"),
        ("hit rate", "Success"),
        ("hit rate@5", "Success@5"),
        ("Hit@10", "Success@10"),
        ("HR@10", "Success@10"),
        ("capped", "R(norm=min)@10"),
        ("precision at 5", "P@5 or SetP"),
        ("R-Precision@5", ""),
        ("11 point interpolated average precision", "IPrec11"),
        ("nERR@10", "ERR@10"),
        ("reciprocal rank,AP", "RR"),
    ] {
        let error =
            parse_list(text, Defaults::default()).err().map(|e| e.to_string()).unwrap_or_default();
        let suggested =
            error.split("did you mean ").nth(1).map_or("", |rest| rest.trim_end_matches('?'));
        assert_eq!(suggested, suggestion, "{text}: {error}");
    }
}

/// Every row of the table of foreign names means something, alone or with its tool's prefix, and
/// the same in both.
#[test]
fn foreign_names_are_one_table() {
    for row in FOREIGN {
        let meaning = row.meaning();
        let example = row.example();
        assert!(!meaning.is_empty(), "{example}");
        assert!(
            meaning.iter().all(|measure| measure.definition().name == row.measure),
            "{example}"
        );
        for (name, _) in row.fixed {
            let own = row.definition().params.iter().any(|param| param.name == *name);
            let shared = [JUDGES.name, NO_RELEVANT.name].contains(name);
            assert!(own || shared, "{example}: {name}");
        }
        let meaning: Vec<String> = meaning.iter().map(ToString::to_string).collect();
        if row.tool != Tool::Common {
            assert_eq!(names(&row.prefixed(&example)), meaning, "{example}");
        }
        // A canonical name means its measure, whatever another tool makes of it.
        let canonical = MEASURES.iter().any(|definition| definition.name == row.name);
        match parse_list(&example, Defaults::default()) {
            _ if canonical || !row.bare => {}
            Ok(list) => {
                assert_eq!(
                    list.iter().map(ToString::to_string).collect::<Vec<_>>(),
                    meaning,
                    "{example}"
                )
            }
            Err(error) => {
                assert!(
                    error.to_string().contains("means different measures in different tools"),
                    "{example}: {error}"
                )
            }
        }
    }
}

#[test]
fn the_default_level_is_for_binary_measures() {
    let at2 = |text| parse_list(text, Defaults { rel: Some(2.0) }).unwrap()[0].to_string();
    assert_eq!(at2("AP"), "AP(rel=2)");
    assert_eq!(at2("AP(rel=1)"), "AP");
    assert_eq!(at2("nDCG@10"), "nDCG@10");
    assert_eq!(at2("NumQ"), "NumQ");
}

/// A measure that does not fit the grades is an error, and never NaN.
#[test]
fn parameters_are_checked_against_the_grades() {
    let error = |name: &str, grade: f64| {
        let book = Codebook::new([0.0, grade]).unwrap();
        name.parse::<Measure>()
            .unwrap()
            .recipe(&book)
            .err()
            .map(|e| e.to_string())
            .unwrap_or_default()
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
        "there is no measure `nDGC`: `laneval measures` lists them\n  nDGC@10\n  ^^^^ did you mean \
         nDCG or RnDCG?"
    );
    assert_eq!(
        message("AP(rle=2)"),
        "`AP` has no parameter `rle`, but rel, norm, ties\n  AP(rle=2)\n     ^^^"
    );
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
        ("AP@5 please", "no measure `please`"),
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

#[test]
fn a_parameter_may_need_another() {
    assert_eq!(names("DCG(base=2,discount=jk)@5"), ["DCG(discount=jk)@5"]);
    assert_eq!(names("nDCG(discount=jk,base=10)"), ["nDCG(discount=jk,base=10)"]);
    for alone in ["DCG(base=2)", "DCG(base=10)@5", "nDCG(discount=lg,base=3)"] {
        let error = parse_list(alone, Defaults::default()).unwrap_err().to_string();
        assert!(error.contains("`base` works only together with `discount=jk`"), "{error}");
    }
    let plain: Measure = "DCG".parse().unwrap();
    assert!(plain.with_param("base", ParamValue::Number(10.0)).is_err());
    let error = parse_list("Utility(docs=0.5)", Defaults::default()).unwrap_err().to_string();
    assert!(error.contains("`0.5` is not a whole number from 0 to 1000000000000000"), "{error}");
}
