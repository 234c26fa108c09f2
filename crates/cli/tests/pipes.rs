//! Runs that come through pipes: evaluated as they come, to what the file comes to, or held, and
//! said so.

use crate::cases::some;
use crate::folder::{Folder, Ran, assert_says};

/// Returns a folder with a run of more text than is held without need.
fn large() -> Folder {
    let folder = Folder::new();
    let output = folder.shell(
        "$L gen --query-count 1100 --results 1000 -o . && [ $(stat -c %s run.txt) -gt 35000000 ]",
    );
    assert_eq!(output.code, 0, "{}", output.err);
    folder
}

fn as_it_came(ran: &Ran) -> bool {
    ran.err.contains("read and evaluated as it came: 1,100 judged queries, 1,100,000 results, ")
}

#[test]
fn what_comes_through_a_pipe_comes_to_what_the_file_comes_to() {
    let folder = large();
    folder.shell(
        "cut -d' ' -f1 qrels.txt | uniq | head -700 > ids; sed 's/.*/&\\tg/' ids > \
                  groups.tsv; gzip -1 -k run.txt",
    );
    let all = [
        "",
        "--per-query",
        "--format json --stat std,ci95,median",
        "--format trec",
        "-M 50 -J --queries common --format jsonl",
        "--score-type f32 --ties docno-asc --only-queries ids --group-by groups.tsv --stat median \
        --threads 1",
        "--ties rank --engine reference --queries require-all",
    ];
    for options in some(all.into_iter()) {
        let file =
            folder.shell(&format!("$L eval qrels.txt x=run.txt {options} | sed s/run.txt/stdin/"));
        assert_eq!(file.code, 0, "{}", file.err);
        let pipe = folder.shell(&format!("cat run.txt | $L eval qrels.txt x=- {options}"));
        assert_eq!((&pipe.out, &pipe.err, pipe.code), (&file.out, &file.err, 0), "{options}");
        let pipe = folder.shell(&format!("cat run.txt | $L eval qrels.txt x=- {options} -v"));
        assert!(as_it_came(&pipe), "{}", pipe.err);
    }
    let file = folder.shell("$L eval qrels.txt x=run.txt").out;
    let passing = "mkfifo a b; (cat qrels.txt > a; cat run.txt > b) & $L eval a x=b -v";
    for passed in [
        "$L eval qrels.txt x=<(cat run.txt) -v",
        "cat run.txt.gz | $L eval qrels.txt x=- -v",
        passing,
    ] {
        let ran = folder.shell(passed);
        assert!(ran.out == file && as_it_came(&ran), "{passed}\n{}{}", ran.out, ran.err);
    }
    let parts = "cat run.txt | $L eval qrels.txt - --partial 1.part && cat run.txt | $L eval \
                 qrels.txt - --partial 2.part --buffer -v";
    let output = folder.shell(parts);
    assert!(output.code == 0 && !as_it_came(&output), "{}", output.err);
    assert!(folder.get("1.part") == folder.get("2.part"));
}

#[test]
fn a_query_that_comes_back_is_held_for_or_said() {
    let folder = large();
    let late = folder.shell(
        "(cat run.txt; head -3 run.txt | sed 's/ d/ again/') | $L eval qrels.txt - -o scores.csv",
    );
    assert_eq!((late.out.as_str(), late.code), ("", 2));
    let query =
        folder.shell("head -1 qrels.txt | cut -d' ' -f1; head -1 run.txt | cut -d' ' -f1").out;
    let query = query.lines().last().unwrap();
    let message = format!(
        "error: stdin:1100001: query {query} comes back, but its earlier results are no longer \
         held: sort the lines by query, give a file, or \
         hold all of the run with --buffer\n"
    );
    assert_eq!(late.err, message);
    assert!(!folder.names().contains(&"scores.csv".to_owned()));
    let output = folder.shell(
        "(cat run.txt; head -3 run.txt | sed 's/ d/ again/') | $L eval qrels.txt - --buffer",
    );
    assert_eq!(output.code, 0, "{}", output.err);

    folder.shell(
        "(head -5 run.txt; tail -n +1001 run.txt | head -9000; tail -n +6 run.txt | head \
                  -995; tail -n +10001 run.txt) > mixed.run",
    );
    let file = folder.shell("$L eval qrels.txt x=mixed.run --per-query");
    let pipe = folder.shell("cat mixed.run | $L eval qrels.txt x=- --per-query");
    assert!(pipe.out == file.out && pipe.code == 0);
    assert_says(
        &pipe.err,
        &[
            &format!(
                "note: stdin: query {query} comes back on line 9,006, so all of the run is held in \
                 memory, "
            ),
            "a file needs less",
        ],
    );
    let quiet = folder.shell("cat mixed.run | $L eval qrels.txt x=- --quiet").err;
    assert!(!quiet.contains("note:"), "{quiet}");
}

#[test]
fn a_pipe_that_is_wrong_gives_the_errors_of_the_file_and_no_scores() {
    let folder = large();
    let cut = folder.shell(
        "head -c 35000001 run.txt > cut.run; $L eval qrels.txt cut.run | sed s/cut.run/stdin/",
    );
    let pipe = folder.shell("cat cut.run | $L eval qrels.txt -");
    assert_eq!((pipe.err.replace("stdin:", "cut.run:"), pipe.code), (cut.err, 2));
    let damaged = folder.shell("gzip -1 -c run.txt | head -c 9000000 | $L eval qrels.txt -");
    assert_eq!((damaged.out.as_str(), damaged.code), ("", 2));
    assert_eq!(
        damaged.err,
        "error: stdin: cannot read: the gzip stream ends early: is the file complete?\n"
    );
    let other = folder.shell("yes '{\"query\": 1}' | head -4000000 | $L eval qrels.txt -");
    assert_eq!((other.out.as_str(), other.code), ("", 2));
    let endless =
        folder.shell("yes 'q1 Q0 d 1 1 t' | (ulimit -v 300000; $L eval qrels.txt - --threads 1)");
    assert_eq!((endless.out.as_str(), endless.code != 0), ("", true));
    assert_says(&endless.err, &["error: stdin: cannot read: "]);
}
