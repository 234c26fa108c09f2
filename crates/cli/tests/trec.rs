//! `laneval trec-eval` as a user of trec_eval meets it: the bytes it prints, which topics count,
//! and its exit codes.

use std::fs;
use std::path::Path;

use crate::folder::{Folder, Ran};

/// A folder with qrels and a run.
struct Case(Folder);

impl Case {
    fn new(qrels: &str, run: &str) -> Self {
        let folder = Folder::empty();
        folder.put("qrels", qrels);
        folder.put("run", run);
        Case(folder)
    }

    fn put(&self, name: &str, text: &str) {
        self.0.put(name, text);
    }

    /// Runs `trec-eval` with these options, separated by blanks, on the two files.
    fn run(&self, options: &str) -> Ran {
        self.call(&format!("{options} qrels run"))
    }

    fn call(&self, args: &str) -> Ran {
        self.0.run(&format!("trec-eval {args}"))
    }

    /// Returns the lines of a run that succeeds, with single blanks between their fields.
    #[track_caller]
    fn lines(&self, options: &str) -> Vec<String> {
        let Ran { out, err, code } = self.run(options);
        assert_eq!((err.as_str(), code), ("", 0), "{options}");
        out.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    /// The exit code of a run that fails, and says one of these words.
    #[track_caller]
    fn fails(&self, options: &str, code: i32, word: &str) {
        let ran = self.run(options);
        assert_eq!((ran.code, ran.out.as_str()), (code, ""), "{options}: {}", ran.err);
        assert!(ran.err.contains(word), "{options}: {}", ran.err);
    }
}

fn root(path: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path).to_str().unwrap().to_owned()
}

const QRELS: &str = "a 0 d1 1\na 0 d2 0\nb 0 d1 1\nb 0 d3 2\nc 0 d1 1\nc 0 d9 3\nc 0 d8 0\n";
const RUN: &str = "a Q0 d1 1 2 first\nb Q0 d2 1 2 first\nb Q0 d3 2 1 first\nz Q0 d1 1 1 last\n";
/// Topic c is not in the run.
fn gap() -> Case {
    Case::new(QRELS, RUN)
}
/// Returns every topic is in the run.
fn whole() -> Case {
    Case::new(QRELS, &format!("c Q0 d8 1 3 x\nc Q0 d1 2 2 x\n{RUN}"))
}

/// The fixtures are written out from a worked example: one topic, labels 0 2 − 1 . − 0 1 of the
/// ranks 1 to 8, R = 4, N = 2.
///
/// Two independent implementations agree on its num_*, map, Rprec, bpref, recip_rank,
/// iprec_at_recall, 11pt_avg, P_5, P_10, relstring, recall_5, recall_10, infAP, Rprec_mult,
/// utility, binG, G, ndcg, ndcg_rel, Rndcg, ndcg_cut_5, map_cut_5, relative_P_5, success, set_*,
/// rbp, rbp_resid and unj. By the formulas follow the other cutoffs (3 / k, and nothing new below
/// rank 8), the two geometric means (exp of ln 0.34375 and of ln 0.25), and the summary of a single
/// topic.
#[test]
fn a_worked_example_byte_for_byte() {
    for version in ["9", "10"] {
        let expected =
            fs::read_to_string(root(&format!("tests/fixtures/vector.v{version}.txt"))).unwrap();
        let case = gap();
        let (qrels, run) = (root("examples/data/vector.qrels"), root("examples/data/vector.run"));
        let ran = case.call(&format!("--profile {version} -q -m all_trec {qrels} {run}"));
        assert_eq!((ran.out, ran.err.as_str(), ran.code), (expected, "", 0), "profile {version}");
    }
}

#[test]
fn version_9_leaves_out_topics_that_the_run_lacks() {
    let measures = "-m num_q -m num_rel -m map -m gm_map -m yaap -m num_ret";
    let lines = gap().lines(&format!("-q {measures}"));
    assert_eq!(
        lines,
        [
            "num_ret a 1",
            "num_rel a 1",
            "map a 1.0000",
            "yaap a 0.6931",
            "num_ret b 2",
            "num_rel b 2",
            "map b 0.2500",
            "yaap b -0.5108",
            "num_q all 2",
            "num_ret all 3",
            "num_rel all 3",
            "map all 0.6250",
            "gm_map all 0.5000",
            "yaap all 0.0912",
        ]
    );
    // With -c all topics of the qrels count, though the one that the run lacks is not printed; the
    // level does not matter to num_rel.
    let lines = gap().lines(&format!("-q -c {measures}"));
    assert_eq!(
        lines[8..],
        [
            "num_q all 3",
            "num_ret all 3",
            "num_rel all 5",
            "map all 0.4167",
            "gm_map all 0.0136",
            "yaap all 0.0608"
        ]
    );
    assert_eq!(gap().lines("-c -l2 -m num_rel"), ["num_rel all 5"]);
    assert_eq!(gap().lines("-l2 -m num_rel"), ["num_rel all 1"]);
    Case::new(QRELS, "z Q0 d1 1 1 t\n").fails("", 7, "no topic");
}

#[test]
fn version_10_stops_at_topics_that_the_run_lacks_or_puts_in_a_document() {
    gap().fails("--profile 10", 4, "topic c");
    Case::new(QRELS, "z Q0 d1 1 1 t\n").fails("--profile 10", 4, "topic a");
    let measures = "-m num_q -m num_ret -m num_rel -m map -m gm_map -m yaap -m rbp_resid -m \
                    rbp_resid.p=0.8 \
                    -m unj.5 -m relstring -m relstring.3 -m utility -m utility.2,-1,0,0";
    let lines = gap().lines(&format!("--profile 10 -q -c {measures}"));
    let of_c: Vec<&str> =
        lines.iter().filter(|line| line.contains(" c ")).map(String::as_str).collect();
    assert_eq!(
        of_c,
        [
            "num_ret c 0",
            "num_rel c 2",
            "map c 0.0000",
            "relstring_3 c '-'",
            "utility_2,-1,0,0 c -1.0000",
            "yaap c -1.0986",
            "rbp_resid_p=0.8 c 1.0000",
            "unj_5 c 0.0000",
        ]
    );
    for line in
        ["num_q all 3", "num_ret all 3", "num_rel all 5", "map all 0.4167", "gm_map all 0.0136"]
    {
        assert!(lines.iter().any(|found| found == line), "{line} is not in {lines:?}");
    }
    // A bare name is mended, one with parameters is not.
    assert_eq!(gap().lines("--profile 10 -q -n -c -m relstring")[2], "relstring c ''");
    assert_eq!(gap().lines("--profile 10 -q -n -c -m utility")[2], "utility c 0.0000");
    assert_eq!(gap().lines("--profile 10 -q -n -c -m rbp_resid")[2], "rbp_resid c 0.0000");
    assert_eq!(whole().lines("--profile 10 -m num_q"), ["num_q all 3"]);
}

/// Three relevant documents at the ranks 2, 6 and 12: the precision there says how many of them a
/// level of recall needed.
#[test]
fn levels_of_recall_are_rounded_as_each_version_does() {
    let run: String = (1..=12).map(|rank| format!("q 0 d{rank} 0 {} t\n", 20 - rank)).collect();
    let case = Case::new("q 0 d2 1\nq 0 d6 1\nq 0 d12 1\n", &run);
    let values = |options: &str| -> Vec<String> {
        let lines = case.lines(&format!("{options} -m iprec_at_recall"));
        lines.iter().map(|line| line.rsplit(' ').next().unwrap().to_owned()).collect()
    };
    let expected = |counts: [usize; 3]| -> Vec<&str> {
        std::iter::zip(["0.5000", "0.3333", "0.2500"], counts)
            .flat_map(|(value, n)| vec![value; n])
            .collect()
    };
    assert_eq!(values(""), expected([4, 4, 3]));
    assert_eq!(values("--profile 10"), expected([5, 4, 2]));
}

#[test]
fn topics_are_in_bytewise_order_whatever_the_files_say() {
    let run = "q2 0 d 1 1 t\nq10 0 d 1 1 t\nQ1 0 d 1 1 t\n";
    let case = Case::new("q10 0 d 1\nQ1 0 d 1\nq2 0 d 1\n", run);
    assert_eq!(case.lines("-qn -m map"), ["map Q1 1.0000", "map q10 1.0000", "map q2 1.0000"]);
}

/// 2,000 topics of which the first 6·t mod 7 of ten documents are relevant: the mean of P_10 is
/// 6003 / 20000.
#[test]
fn topics_are_added_one_by_one_in_their_order() {
    let (mut qrels, mut run) = (String::new(), String::new());
    for topic in 0..2000 {
        for rank in 0..10 {
            let relevant = i32::from(rank < topic * 6 % 7);
            qrels.push_str(&format!("t{topic:04} 0 d{rank} {relevant}\n"));
            run.push_str(&format!("t{topic:04} 0 d{rank} 0 {} t\n", 10 - rank));
        }
    }
    let exact: f64 = 6003.0 / 20000.0;
    assert_eq!(format!("{exact:.4}"), "0.3001");
    assert_eq!(Case::new(&qrels, &run).lines("-m P.10"), ["P_10 all 0.3002"]);
}

#[test]
fn parameters_cutoffs_and_the_order_of_lines() {
    let names = |options: &str| -> Vec<String> {
        let lines = whole().lines(options);
        lines.iter().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
    };
    assert_eq!(
        names("-m ndcg_cut.10,5 -m P.3 -m map"),
        ["map", "P_3", "ndcg_cut_5", "ndcg_cut_10"]
    );
    assert_eq!(
        names("-m set_F.0.5 -m iprec_at_recall.0.105,.5"),
        ["iprec_at_recall_0.10", "iprec_at_recall_0.50", "set_F_0.5"]
    );
    assert_eq!(names("-m official.7"), names(""));
    assert_eq!(names("-m P.5 -m P.10,5 -m P"), ["P_5", "P_10"], "both lists count");
    assert_eq!(
        names("-m ndcg.1=3,2=9 -m G.0=1 -m 11pt_avg.0.2,0.8"),
        ["11pt_avg_0.2,0.8", "G_0=1", "ndcg_1=3,2=9"]
    );
    let set = "runid num_q num_ret num_rel num_rel_ret utility set_P set_relative_P set_recall \
               set_map set_F";
    assert_eq!(names("-m set").join(" "), set);
    assert_eq!(names("").len(), 9 + 1 + 11 + 9);
    assert_eq!(names("-mmap -M1 -c -l 2 --nosummary"), [""; 0]);
    for complete in ["--c", "--co", "--com", "--complete_rel_info_wanted"] {
        assert_eq!(names(&format!("-mmap {complete}")), names("-mmap -c"), "{complete}");
    }
    assert_eq!(
        names("--profile 10 -m dcg -m ideal_dcg.1=2 -m rbp -m rbp.p=0.5 -m unj.3"),
        ["dcg", "ideal_dcg_1=2", "rbp_p=0.5", "unj_3",]
    );
    let case = whole();
    case.fails("-m dcg", 1, "dcg");
    case.fails("-m P_5", 1, "P_5");
    case.fails("-m ndcg_p", 1, "ndcg_p");
    case.fails("-m P.5,5", 2, "twice");
    case.fails("-m P.0", 2, "at least 1");
    case.fails("-m utility.1,2", 2, "4 numbers");
    case.fails("-m P.", 1, "after the `.`");
    case.fails("-m official.", 1, "after the `.`");
    case.fails("-m ndcg.2=1,2=3", 2, "grade 2 has two gains");
    case.fails("-m ndcg.x=1,y=2", 2, "grade 0 has two gains");
    case.fails("-m ndcg.1=3,x", 2, "not a pair");
    case.fails("-m set_F.-1", 2, "not a number from 0");
    case.fails("--profile 10 -m rbp.p=1", 2, "below 1");
    case.fails("--profile 10 -m rbp.p=0.8,1=3", 2, "p=");
    case.fails("-m prefs", 4, "needs preferences");
    case.fails("-m map_avgjg", 4, "needs judgments by judge");
}

#[test]
fn exit_codes() {
    let case = whole();
    case.fails("-R prefs", 2, "expected 'query group sub-group docno level'");
    // The usual measures take a grade for each document.
    for format in ["qrels_prefs", "qrels_jg"] {
        case.fails(&format!("-R {format}"), 4, "needs a grade for each document");
    }
    case.fails("-R other", 2, "no such format");
    case.fails("-T other", 2, "no such format");
    case.fails("--no-such-option", 1, "--no-such-option");
    case.fails("-l -1", 1, "-1");
    assert_eq!(case.call("qrels").code, 1);
    assert_eq!(case.call("qrels nowhere").code, 2);
    case.put("bad", "q 0 d 1 1\n");
    assert_eq!(case.call("qrels bad").code, 2);
    let help = case.call("-h");
    assert!(help.code == 0 && help.out.contains("--Max_retrieved_per_topic"));
    let version = case.call("-v");
    assert!(version.code == 0 && version.out.is_empty() && version.err.contains("trec_eval 9.0.8"));
    assert_eq!(case.lines("-R qrels -T trec_results -D 1 --Judged -m num_q"), ["num_q all 3"]);
}

#[test]
fn duplicates_count_where_they_are_evaluated() {
    let run = "a 0 d1 1 3 t\na 0 d2 2 2 t\na 0 d1 3 1 t\nz 0 d1 1 1 t\nz 0 d1 1 1 t\n";
    let twice = Case::new("a 0 d1 1\nb 0 d1 1\nb 0 d1 1\n", run);
    twice.fails("-m map", 4, "d1");
    assert_eq!(
        twice.lines("-M 2 -m num_ret"),
        ["num_ret all 2"],
        "the second one is below the cut"
    );
    twice.fails("-M 3 -m num_ret", 4, "d1");
    let judged_twice = Case::new("a 0 d1 1\na 0 d1 1\n", "a 0 d1 1 1 t\n");
    judged_twice.fails("-m map", 4, "judged again");
    judged_twice.fails("--profile 10 -m map", 4, "judged again");
}

#[test]
fn cut_before_dropping_unjudged_documents_and_nothing_left() {
    let case = Case::new(
        "a 0 d1 1\na 0 d2 1\na 0 d3 -1\n",
        "a 0 x 1 9 t\na 0 d3 1 8 t\na 0 d1 1 7 t\na 0 d2 1 6 t\n",
    );
    assert_eq!(case.lines("-M3 -J -m num_ret -m P.1"), ["num_ret all 1", "P_1 all 1.0000"]);
    for nothing in ["-M2 -J", "-M0"] {
        let lines = case
            .lines(&format!("{nothing} -m num_ret -m iprec_at_recall.0,0.5 -m 11pt_avg -m map"));
        assert_eq!(
            lines,
            [
                "num_ret all 0",
                "map all 0.0000",
                "iprec_at_recall_0.00 all 0.0000",
                "iprec_at_recall_0.50 all 0.0000",
                "11pt_avg all 0.0000"
            ]
        );
    }
}

#[test]
fn numbers_are_prefixes_and_comments_are_version_10s() {
    let case = Case::new(
        "a 0 d1 1.9\n\na 0 d2 abc\na 0 d3 2x\na 0 d4 -1\n",
        "a 0 d1 1 abc t\na 0 d2 1 0x10 t\na 0 d3 1 1e1zz t\na 0 d4 1 inf t\n",
    );
    assert_eq!(case.lines("-q -n -m relstring -m num_rel"), ["num_rel a 2", "relstring a '.021'"]);
    let blanks = Case::new(" a\t0\r d1\x0b1 \r\n", "\ta\r0 d1\x0c1 1 t and more\r\n\r\n");
    assert_eq!(blanks.lines("-m runid -m map"), ["runid all t", "map all 1.0000"]);
    let odd = Case::new("#a 0 d1 1\n", "#a 0 d1 1 1 t\n");
    assert_eq!(odd.lines("-m map"), ["map all 1.0000"]);
    odd.fails("--profile 10 -m map", 2, "no judgment");
    let case = Case::new("# one\n# two\na 0 d1 1\n# end", "  # a comment\na 0 d1 1 1 t\n");
    assert_eq!(case.lines("--profile 10 -m map"), ["map all 1.0000"]);
    case.fails("-m map", 2, "run:1");
    Case::new("a 0 d1 1\n", "a 0 d1 1 nan t\n").fails("-m map", 2, "nan");
    let near = Case::new("a 0 d1 1\n", "a 0 d1 1 1.0 t\na 0 d0 1 1.00000001 t\n");
    assert_eq!(near.lines("-m P.1"), ["P_1 all 1.0000"], "f32 scores are tied");
    assert_eq!(near.lines("--profile 10 -m P.1"), ["P_1 all 0.0000"]);
}

#[test]
fn a_topic_whose_grades_are_all_negative_is_worth_nothing() {
    let case = Case::new("a 0 d1 -3\nb 0 d1 1\n", "a 0 d1 1 1 t\nb 0 d1 1 1 t\n");
    assert_eq!(
        case.lines("-q -m num_rel -m map -m bpref -m ndcg -m relstring"),
        [
            "num_rel a 0",
            "map a 0.0000",
            "bpref a 0.0000",
            "relstring a '.'",
            "ndcg a 0.0000",
            "num_rel b 1",
            "map b 1.0000",
            "bpref b 1.0000",
            "relstring b '1'",
            "ndcg b 1.0000",
            "num_rel all 1",
            "map all 0.5000",
            "bpref all 0.5000",
            "ndcg all 0.5000",
        ]
    );
}

#[test]
fn gains_may_name_unjudged_documents_and_be_close_together() {
    let case = Case::new(
        "q 0 a 1\nq 0 b -1\nq 0 c 0\nq 0 e 2\nq 0 f -1\n",
        "q 0 a 1 3 t\nq 0 b 1 2 t\nq 0 x 1 1.5 t\nq 0 c 1 1 t\n",
    );
    assert_eq!(
        case.lines("-m ndcg.-2=4 -m ndcg_rel.-2=4 -m Rndcg.0=1 -m G.-1=2"),
        [
            "G_-1=2 all 0.6309",
            "ndcg_-2=4 all 1.3393",
            "ndcg_rel_-2=4 all 0.9197",
            "Rndcg_0=1 all 0.4097"
        ]
    );
    assert_eq!(case.lines("-m ndcg_rel.1=-2"), ["ndcg_rel_1=-2 all 0.0000"]);
    assert_eq!(case.lines("-m ndcg.1=-2"), ["ndcg_1=-2 all -1.0000"]);
    assert_eq!(case.lines("-m G.-2=4,-1=7"), ["G_-2=4,-1=7 all 0.0000"], "never NaN");
    assert_eq!(case.lines("-m ndcg.1=0.9,2=0.5"), ["ndcg_1=0.9,2=0.5 all 0.7405"]);
    assert_eq!(
        case.lines("-l3 -m Rndcg"),
        ["Rndcg all 0.0000"],
        "the level decides whether anything is relevant"
    );
    assert_eq!(case.lines("-l2 -m Rndcg"), case.lines("-m Rndcg"));
}

/// A grade that is not a number is 0 to version 9 and nothing to version 10; the values are those
/// of their programs.
#[test]
fn gains_of_grades_that_are_no_numbers() {
    let case = Case::new(
        "1 0 d1 1\n1 0 d2 0\n1 0 d3 2\n",
        "1 Q0 d1 1 3 t\n1 Q0 d2 2 2 t\n1 Q0 d4 3 1 t\n",
    );
    for (gains, nine, ten) in [
        ("x=1", "0.5209", "0.3801"),
        ("1x=3", "0.7039", "0.3801"),
        ("1.5=3", "0.7039", "0.3801"),
        ("+1=3", "0.7039", "0.7039"),
        ("=3", "0.6075", "0.3801"),
        ("1=3x", "0.7039", "0.7039"),
        ("1=", "0.0000", "0.0000"),
    ] {
        assert_eq!(case.lines(&format!("-m ndcg.{gains}")), [format!("ndcg_{gains} all {nine}")]);
        assert_eq!(
            case.lines(&format!("--profile 10 -m ndcg.{gains}")),
            [format!("ndcg_{gains} all {ten}")]
        );
    }
}

/// As both versions print it: text has no deviation and no `Z`, and a scale that is no number gives
/// `nan`.
#[test]
fn deviations_of_text_and_from_no_number() {
    let case = Case::new("301 0 d1 1\n301 0 d2 0\n", "301 Q0 d1 1 2 tagA\n301 Q0 d2 2 1 tagA\n");
    case.put(
        "z",
        "301\tmap\t0.5\t0.2\n301\tset_F\tnan\tnan\n301\tP_5\t0\t-nan\n301\tnum_ret\t0\tinf\n",
    );
    for profile in ["9", "10"] {
        let options = "-q -Z z -m map -m set_F -m relstring -m runid -m P.5 -m num_ret";
        assert_eq!(
            case.run(&format!("--profile {profile} {options}")).out,
            "Znum_ret               \t301\t0.0000\n\
             Zmap                   \t301\t2.5000\n\
             ZP_5                   \t301\t  -nan\n\
             relstring             \t301\t'10'\n\
             Zset_F                 \t301\t   nan\n\
             runid                 \tall\ttagA\n\
             Znum_ret               \tall\t0.0000\n\
             Zmap                   \tall\t2.5000\n\
             ZP_5                   \tall\t  -nan\n\
             Zset_F                 \tall\t   nan\n"
        );
    }
}

#[test]
fn deviations_from_a_mean() {
    let case = whole();
    case.put("z", "a map 0.5 0.25\nb map 0.25 0\nc num_ret 1 2\n");
    let ran = case.run("-q -Z z -m map -m num_ret");
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines[1], "Zmap                   \ta\t2.0000");
    assert_eq!(lines[3], "Zmap                   \tb\t0.0000");
    assert_eq!(lines[4], "Znum_ret               \tc\t0.5000");
    assert_eq!(lines[5], "Zmap                   \tc\t-1000000.0000");
    case.fails("-Z qrels -m map", 2, "expected 'topic measure mean deviation'");
    case.fails("-Z nowhere -m map", 2, "nowhere");
}

#[test]
fn many_topics_take_linear_time() {
    let (mut qrels, mut run) = (String::new(), String::new());
    for topic in 0..100_000 {
        for rank in 0..3 {
            qrels.push_str(&format!("{topic} 0 d{rank} {}\n", i32::from(rank == topic % 3)));
            run.push_str(&format!("{topic} Q0 d{rank} 0 {} t\n", 3 - rank));
        }
    }
    let lines = Case::new(&qrels, &run).lines("-q -m map -m num_rel_ret");
    assert_eq!(lines.len(), 200_002);
    assert_eq!(lines[200_000..], ["num_rel_ret all 100000", "map all 0.6111"]);
}

#[cfg(unix)]
#[test]
fn a_link_named_trec_eval_is_this_command() {
    let case = whole();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_laneval"), case.0.path().join("trec_eval"))
        .unwrap();
    let mut command = assert_cmd::Command::new(case.0.path().join("trec_eval"));
    let linked =
        crate::folder::ran(command.current_dir(case.0.path()).args(["-q", "qrels", "run"]));
    assert_eq!((linked.out, linked.code), (case.run("-q").out, 0));
}

const JUDGES: &str = "\
a j2 d1 1\na j2 d2 0\na j10 d1 2\na j10 d3 1\na ß d2 1\na ß d9 0
b j2 d4 1\nb j2 d5 0\nb j10 d5 1\nb j10 d6 1\nb j10 d7 0\n";
const PREFS: &str = "\
a g1 s1 d1 3\na g1 s1 d2 2\na g1 s1 d3 0\na g1 s2 d4 5\na g1 s2 d1 1\na g2 s1 d2 1\na g2 s1 d1 \
0\na g2 s1 d9 0
b h s1 d5 1.5\nb h s1 d6 0.5\nb h s1 d7 0\n";
const QRELS_PREFS: &str = "\
a g1 d1 3\na g1 d2 2\na g1 d3 0\na g2 d2 1\na g2 d1 0\na g2 d9 0
b h d5 1.5\nb h d6 0.5\nb h d7 0\nb h d8 0\n";
/// Results with equal scores.
const TIED: &str = "\
a Q0 d3 1 9 t\na Q0 x 2 8 t\na Q0 d1 3 7 t\na Q0 d2 4 7 t\na Q0 d4 5 6 t
b Q0 d6 1 3 t\nb Q0 d5 2 3 t\nb Q0 y 3 2 t\nb Q0 d7 4 1 t\n";

/// The fixtures are what trec_eval 9.0.8 and 10 print, both the same.
#[test]
fn judgments_by_group_byte_for_byte() {
    for (format, qrels, measures) in [
        ("prefs", PREFS, "all_prefs"),
        ("qrels_prefs", QRELS_PREFS, "all_prefs"),
        ("qrels_jg", JUDGES, "qrels_jg"),
    ] {
        let expected = fs::read_to_string(root(&format!("tests/fixtures/{format}.txt"))).unwrap();
        for version in ["9", "10"] {
            let ran = Case::new(qrels, TIED)
                .run(&format!("--profile {version} -R {format} -q -m {measures}"));
            assert_eq!(
                (ran.out, ran.err.as_str(), ran.code),
                (expected.clone(), "", 0),
                "{format}, {version}"
            );
        }
    }
}

/// The values and exit codes are those of both versions of trec_eval.
#[test]
fn options_and_faults_of_judgments_by_group() {
    for version in ["9", "10"] {
        let lines = |qrels: &str, options: &str| {
            Case::new(qrels, TIED).lines(&format!("--profile {version} {options}"))
        };
        let jg = |options: &str| lines(JUDGES, &format!("-R qrels_jg {options}"));
        assert_eq!(jg("-m map_avgjg -c"), ["map_avgjg all 0.4722"]);
        assert_eq!(jg("-l2 -m P_avgjg.3"), ["P_avgjg_3 all 0.0000"]);
        assert_eq!(jg("-J -m map_avgjg"), ["map_avgjg all 0.6667"]);
        assert_eq!(jg("-M 3 -m map_avgjg"), ["map_avgjg all 0.3889"]);
        assert_eq!(lines(PREFS, "-R prefs -M 2 -m prefs_simp"), ["prefs_simp all 0.5000"]);
        assert_eq!(lines(PREFS, "-R prefs -J -m prefs_simp"), ["prefs_simp all 0.6250"]);
        assert_eq!(lines(PREFS, "-R prefs -m num_q"), ["num_q all 2"]);
        // A line that is there twice counts twice.
        let repeated = "a g d1 1\na g d1 1\na g d2 0\nb h d5 1\n";
        let found = lines(repeated, "-R qrels_prefs -m prefs_num_prefs_poss");
        assert_eq!(found, ["prefs_num_prefs_poss all 2"]);
        let fails = |qrels: &str, options: &str, code: i32, word: &str| {
            Case::new(qrels, TIED).fails(&format!("--profile {version} {options}"), code, word);
        };
        let circle = "a g s1 d1 2\na g s1 d2 1\na g s2 d2 2\na g s2 d1 1\nb h s1 d5 1\n";
        fails(circle, "-R prefs -m prefs_simp", 4, "form a cycle");
        fails(
            "a g d1 2\na g d1 1\nb h d5 1\n",
            "-R qrels_prefs -m prefs_simp",
            4,
            "has two levels",
        );
        fails(
            "a g s1 d1 2\na g s2 d1 0\nb h s d5 1\n",
            "-R prefs -m prefs_simp",
            4,
            "level 0 and a level above 0",
        );
        fails(
            "a j d1 1\na j d1 1\nb h d5 1\n",
            "-R qrels_jg -m map_avgjg",
            2,
            "judged again by judge 'j'",
        );
        for (qrels, options) in [
            (JUDGES, "-R qrels_jg -m map"),
            (PREFS, "-R prefs -m map"),
            (PREFS, "-R prefs -m num_ret"),
            ("a 0 d1 1\nb 0 d1 1\n", "-m prefs_simp"),
            ("a 0 d1 1\nb 0 d1 1\n", "-m map_avgjg"),
        ] {
            fails(qrels, options, 4, "needs");
        }
        fails("a g d1\n", "-R qrels_prefs -m prefs_simp", 2, "expected 'query group docno level'");
        fails("a g d1\n", "-R qrels_jg -m map_avgjg", 2, "expected 'query judge docno grade'");
        fails(
            QRELS_PREFS,
            "-R prefs -m prefs_simp",
            2,
            "expected 'query group sub-group docno level'",
        );
        fails(PREFS, "-R qrels_prefs -m prefs_simp", 2, "expected 'query group docno level'");
        fails("", "-R qrels_prefs -m prefs_simp", 2, "there is no judgment in it");
        fails("", "-R qrels_jg -m map_avgjg", 2, "there is no judgment in it");
        fails(JUDGES, "-R nope -m map", 2, "there is no such format");
    }
    let other = |version: &str, code| {
        let options = format!("--profile {version} -R qrels_prefs -m prefs_simp");
        Case::new("c g d1 1\n", TIED).fails(&options, code, "topic");
    };
    other("9", 7);
    other("10", 4);
}
