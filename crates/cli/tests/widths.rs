//! What commands show on a narrow terminal: no line is wider than it, and a pipe still gets all of
//! it.

use std::fmt::Write;

use anstream::adapter::strip_str;
use unicode_width::UnicodeWidthStr;

use crate::folder::{Folder, assert_says};

/// Names that differ at their end only, and have letters that are two columns wide.
const LONG: &str = "experiment-2026-検索-bm25-k1-0.9-b-0.4-rm3-rerank-";

/// Returns a folder with judgments and twenty runs.
fn with_runs() -> Folder {
    let folder = Folder::empty();
    let mut qrels = String::new();
    for query in 1..=30 {
        (0..8).for_each(|doc| {
            writeln!(qrels, "q{query} 0 document-{doc} {}", (doc * query) % 3).unwrap()
        });
    }
    folder.put("qrels", qrels);
    for run in 0..20 {
        let mut text = String::new();
        for query in 1..=30 {
            for doc in 0..12 {
                let score = (doc * 7 + query * 3 + run * (query % 4)) % 11;
                writeln!(text, "q{query} Q0 document-{doc} {doc} {score}.25 {LONG}{run}").unwrap();
            }
        }
        folder.put(&format!("{run}.run"), text);
    }
    folder
}

/// Returns the runs of an argument: the first `count`, with names that begin so.
fn runs(count: usize, name: &str) -> String {
    (0..count).map(|run| format!("{name}{run}={run}.run ")).collect()
}

/// Returns the lines that a terminal of some columns shows of a command, on stdout and stderr.
fn shown(folder: &Folder, columns: usize, args: &str) -> Vec<String> {
    folder.put("script.sh", format!("stty cols {columns} rows 40; $L {args}"));
    let ran = folder.shell("TERM=xterm script -qec 'bash script.sh' /dev/null");
    assert!(ran.code < 2, "{args}\n{}{}", ran.out, ran.err);
    // What shows how far the work is writes over itself.
    let last = |line: &str| strip_str(line.trim_end().rsplit('\r').next().unwrap()).to_string();
    ran.out.lines().map(last).collect()
}

#[test]
fn nothing_is_wider_than_the_terminal() {
    let folder = with_runs();
    let long = runs(20, LONG);
    folder.out(&format!("build qrels {long} -o long.lmx --keep-ties --quiet"));
    folder.out("eval qrels 0.run -q -m AP -o base.csv");
    let mut commands = vec![
        "info long.lmx".to_owned(),
        "info qrels".to_owned(),
        "info 0.run".to_owned(),
        "measures".to_owned(),
        "measures nDCG rbp.95 IPrec".to_owned(),
        "devices".to_owned(),
        "eval qrels 0.run -m help".to_owned(),
        "eval qrels 0.run --stat std,ci95,min,max -v --timing".to_owned(),
        "eval qrels 0.run 1.run --explain".to_owned(),
        "eval qrels 0.run 1.run -m nDCG@1..9 -q".to_owned(),
        "compare qrels 0.run 1.run --anova --margin 0.01 --power 0.01 -q".to_owned(),
        "compare qrels 0.run 1.run --fail-if AP<0.9 --fail-if nDCG@10_drops_>_0.01"
            .replace('_', "\\ "),
        "compare qrels 1.run 2.run --baseline base.csv -m AP".to_owned(),
        "bench long.lmx --seconds 0 --threads 1".to_owned(),
    ];
    for count in [2, 5, 20] {
        for name in ["r", LONG] {
            let runs = runs(count, name);
            commands.push(format!("eval qrels {runs}"));
            commands.push(format!("eval qrels {runs} -m AP,nDCG@10,RR --stat ci95,std -q"));
            commands.push(format!("compare qrels {runs} --permutations 99"));
            commands.push(format!(
                "compare qrels {runs} -q --all-pairs --permutations 99 --baseline {name}1"
            ));
            commands.push(format!("show qrels {runs} --query q3"));
        }
    }
    for command in commands {
        for columns in [80, 60] {
            let lines = shown(&folder, columns, &command);
            assert!(lines.iter().any(|line| line.width() > columns / 3), "{command}\n{lines:#?}");
            // A word cannot be wrapped: a sentence may name a run that is longer than the terminal
            // is wide.
            let of_words =
                |line: &&String| line.split(' ').all(|word| word.width() + 15 <= columns);
            let wide = lines.iter().filter(of_words).find(|line| line.width() > columns);
            assert_eq!(wide, None, "{command} at {columns}\n{}", lines.join("\n"));
        }
    }
}

#[test]
fn the_table_of_two_runs_turns_where_it_would_not_fit() {
    let folder = with_runs();
    let lines = shown(&folder, 80, "compare qrels old=0.run new=1.run");
    let rows: Vec<&str> = lines.iter().map(|line| line.split("  ").next().unwrap()).collect();
    let first = rows.iter().position(|row| *row == "old").expect("a row of the first run");
    let names = [
        "old",
        "new",
        "delta",
        "relative",
        "interval from",
        "interval to",
        "p",
        "p adj",
        "d",
        "won/tied/lost",
        "judged, old",
        "judged, new",
    ];
    assert_eq!(rows[first..first + names.len()], names, "{lines:#?}");
    // All numbers are those of the table that a pipe gets.
    let piped = folder.out("compare qrels old=0.run new=1.run --format table");
    let row = piped.lines().find(|line| line.starts_with("nDCG@10 ")).unwrap();
    let numbers = |text: &str| {
        let words = text.replace(['…', '%', '*'], " ");
        words.split_whitespace().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let column: Vec<String> = (first..first + 10)
        .map(|at| {
            let cells: Vec<&str> = lines[at].split("  ").filter(|cell| !cell.is_empty()).collect();
            cells[1].trim().trim_end_matches(['*', '%']).trim().to_owned()
        })
        .collect();
    assert_eq!(numbers(row), column, "{piped}\n{}", lines.join("\n"));
    assert!(piped.lines().any(|line| line.width() > 80), "a pipe has no width\n{piped}");
}

#[test]
fn long_names_lose_their_middle_on_a_terminal_and_stay_different() {
    let folder = with_runs();
    let args = format!("eval qrels {}", runs(20, LONG));
    let lines = shown(&folder, 80, &args);
    let names: Vec<&str> = lines
        .iter()
        .filter(|line| line.starts_with("experiment"))
        .map(|line| line.split("  ").next().unwrap())
        .collect();
    let mut different = names.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!((names.len(), different.len()), (20, 20), "{lines:#?}");
    assert!(names.iter().all(|name| name.contains('…')), "{names:?}");
    assert_says(
        &lines.join("\n"),
        &["… is what was cut to fit the terminal: a file or a pipe has all of it."],
    );
    let piped = folder.out(&format!("{args} --format table"));
    assert!(piped.contains(&format!("{LONG}19")) && !piped.contains('…'), "{piped}");
}

#[test]
fn names_of_runs_in_an_explanation_are_those_asked_for() {
    let folder = Folder::new();
    let named = |how: &str| {
        folder
            .out(&format!("show qrels bm25.run dense.run --query q1 --name-by {how} --format csv"))
    };
    assert_says(&named("tag"), &["\nbm25,", "\ndense,"]);
    assert_says(&named("stem"), &["\nbm25,", "\ndense,"]);
    assert_says(&named("path"), &["\nbm25.run,", "\ndense.run,"]);
    let twice = folder.error("show qrels bm25.run x/../bm25.run --query q1 --name-by tag");
    assert_says(&twice, &["x/../bm25.run: "]);
}
