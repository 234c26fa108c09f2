//! Every option of every command changes something, or is known to change nothing: none is read and
//! then forgotten.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;

use crate::folder::Folder;
use crate::help;

/// Commands, and below each what options change.
const OPTIONS: &str = include_str!("options.txt");

/// Returns a folder with the files that the commands read.
fn folder() -> Folder {
    let folder = Folder::new();
    let nine = |line: fn(usize) -> String| (0..9).map(line).collect::<String>();
    let files: [(&str, String); 29] = [
        (
            "ties.run",
            "q1 Q0 q1 1 3 t\nq1 Q0 a 2 1 t\nq1 Q0 b 3 1 t\nq2 Q0 a 1 1.00000001 t\nq2 Q0 \
             z 2 1 t\n"
                .into(),
        ),
        ("q1.txt", "q1\n".into()),
        ("q13.txt", "q1\nq3\n".into()),
        ("groups.tsv", "q1\teasy\nq2\thard\nq3\thard\n".into()),
        ("judges.qrels", "q1 anna a 2\nq1 ben a 0\nq1 ben c 1\nq2 anna a 1\n".into()),
        ("named.tsv", "topic\titem\tpoints\nq1\ta\t2\nq2\ta\t1\n".into()),
        ("named2.tsv", "topic\titem\tpoints\nq1\tb\t2\nq2\ta\t1\n".into()),
        ("plain.txt", "q1 c 1\nq1 a 2\n".into()),
        ("plain2.txt", "q1 a 1\nq1 b 2\n".into()),
        ("counted.tsv", "q1\ta\t1\nq1\tb\t2\nq1\tc\t3\nq1\td\t4\nq1\te\t5\n".into()),
        (
            "mteb.json",
            concat!(
                r#"{"mteb_model_meta": {"model_name": "m"}, "#,
                r#""en": {"test": {"q1": {"a": 0.5}}}, "de": {"test": {"q1": {"b": 0.5}}}}"#,
            )
            .into(),
        ),
        ("lightgbm.txt", "1 0:1\n0 0:2\n0 0:3\n2 0:4\n".into()),
        ("lengths.txt", "3\n1\n".into()),
        ("scores.txt", "0.1\n0.2\n0.3\n0.4\n".into()),
        ("others.txt", "0.4\n0.3\n0.2\n0.1\n".into()),
        (
            "chunks.run",
            "q1 Q0 a#1 1 3 t\nq1 Q0 a#2 2 2 t\nq1 Q0 c#1 3 1 t\nq2 Q0 a#1 1 1 t\n".into(),
        ),
        (
            "chunks2.run",
            "q1 Q0 c#1 1 3 t\nq1 Q0 a#2 2 2 t\nq1 Q0 a#1 3 1 t\nq2 Q0 b#1 1 2 t\nq2 Q0 \
             a#1 2 1 t\n"
                .into(),
        ),
        ("chunks.qrels", "q1 0 a#1 2\nq1 0 a#2 1\nq2 0 a#3 1\n".into()),
        ("titles.tsv", "q1\tfirst question\n".into()),
        ("deviations.txt", "q1\tmap\t0.2\t0.1\nq2\tmap\t0.3\t0.2\n".into()),
        ("values.tsv", "q1\t0.5\nq2\t1\n".into()),
        ("q12", "q1 0 a 2\nq1 0 b 0\nq2 0 a 1\n".into()),
        ("qa", "q1 0 a 2\nq1 0 b 0\nq1 0 c 1\n".into()),
        ("qb", "q2 0 a 1\nq2 0 e -1\n".into()),
        ("many.qrels", nine(|query| format!("m{query} 0 a 1\n"))),
        ("many1.run", nine(|query| format!("m{query} Q0 a 1 2 t\nm{query} Q0 b 2 1 t\n"))),
        (
            "many2.run",
            nine(|query| {
                let others = (0..=query).map(|at| format!("m{query} Q0 x{at} {} 1 t\n", at + 2));
                format!("m{query} Q0 a 1 {} t\n", if query < 3 { 2 } else { 0 })
                    + &others.collect::<String>()
            }),
        ),
        ("ja", "q1 anna a 2\nq1 ben a 0\nq1 ben c 1\n".into()),
        ("jb", "q2 anna a 1\n".into()),
    ];
    for (name, text) in files {
        folder.put(name, text);
    }
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/data");
    for (name, source) in
        [("passages.jsonl", "rag-passages.jsonl"), ("chunks.csv", "rag-chunks.csv")]
    {
        folder.put(name, fs::read(data.join(source)).unwrap());
    }
    folder.put("words.csv", "query,doc,label\nq1,a,E\nq2,a,1\n");
    folder.out("eval qa run=bm25.run -m AP --partial one.lev");
    folder.out("eval qb run=bm25.run -m AP --partial two.lev");
    folder.out("eval ja run=bm25.run -m AP --judges mean --partial jone.lev");
    folder.out("eval jb run=bm25.run -m AP --judges mean --partial jtwo.lev");
    folder.out("build qrels bm25.run -o file.lmx");
    folder
}

/// What a command prints and writes, without times.
fn observed(command: &str, files: &[(String, Vec<u8>)]) -> String {
    let folder = Folder::empty();
    files.iter().for_each(|(name, bytes)| folder.put(name, bytes));
    let before: BTreeSet<String> = folder.names().into_iter().collect();
    let ran = folder.run(command);
    let mut report = format!("{}{}exit {}\n", ran.out, ran.err, ran.code);
    for name in folder.names().into_iter().filter(|name| !before.contains(name)) {
        let path = folder.path().join(&name);
        report += &format!("file {name}\n");
        report += &if name.ends_with(".lmx") {
            folder.run(&format!("eval {name} -m RR,P@2,AP")).out
        } else if path.is_dir() {
            texts(&path)
        } else {
            String::from_utf8_lossy(&folder.get(&name)).replace('\0', "␀")
        };
    }
    let mut before = "";
    let words = report.split(' ').map(|word| {
        let is_time = before == "in" && word.contains('.') && word.parse::<f64>().is_ok();
        before = word;
        if is_time { "N" } else { word }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the names and texts of the files of a folder.
fn texts(folder: &Path) -> String {
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
        .iter()
        .map(|path| {
            format!(
                "{}\n{}",
                path.file_name().unwrap().display(),
                fs::read_to_string(path).unwrap()
            )
        })
        .collect()
}

/// Returns the long options of a command, without those that all have.
fn options(folder: &Folder, command: &str) -> BTreeSet<String> {
    let help = folder.out(&format!("{command} --help"));
    let all = help::sections(&help).into_iter().flat_map(|(_, options)| options);
    all.filter(|option| !["help", "version"].contains(option)).map(str::to_owned).collect()
}

/// A command with an option, and what that changes.
struct TriedOption {
    command: &'static str,
    arguments: &'static str,
    outcome: &'static str,
}

impl TriedOption {
    fn option(&self) -> &str {
        let first = self.arguments.split(' ').next().unwrap();
        first.strip_prefix("--").unwrap_or_else(|| panic!("{}", self.arguments))
    }

    /// Returns the first word of the command.
    fn name(&self) -> &str {
        self.command.split(' ').next().unwrap()
    }
}

fn rows() -> Vec<TriedOption> {
    let mut command = "";
    let mut rows = Vec::new();
    for line in OPTIONS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.strip_prefix("= ") {
            Some(next) => command = next,
            None => {
                let (arguments, outcome) =
                    line.split_once(" => ").unwrap_or_else(|| panic!("{line}"));
                rows.push(TriedOption { command, arguments, outcome });
            }
        }
    }
    rows
}

/// Tries the rows of the commands that are asked for.
fn try_rows(is_asked: impl Fn(&str) -> bool) {
    let folder = folder();
    let files: Vec<(String, Vec<u8>)> =
        folder.names().into_iter().map(|name| (name.clone(), folder.get(&name))).collect();
    let mut plain: HashMap<&str, String> = HashMap::new();
    let mut wrong = Vec::new();
    for row in rows().iter().filter(|row| is_asked(row.name())) {
        let without = &*plain.entry(row.command).or_insert_with(|| observed(row.command, &files));
        // Behind `--` stands the command of somebody else.
        let with = match row.command.split_once(" -- ") {
            Some((own, others)) => {
                observed(&format!("{own} {} -- {others}", row.arguments), &files)
            }
            None => observed(&format!("{} {}", row.command, row.arguments), &files),
        };
        if !holds(row.outcome, without, &with) {
            let TriedOption { command, arguments, outcome } = row;
            wrong.push(format!(
                "{command} {arguments}\n  expected {outcome}\n  without: {without:.600}\n  with: \
                 {with:.600}"
            ));
        }
    }
    assert!(!plain.is_empty());
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Returns whether an option changed what its row says.
fn holds(outcome: &str, without: &str, with: &str) -> bool {
    // A whole line, or if there is none on either side a part of one.
    let says = |report: &str, text: &str| {
        if [without, with].iter().any(|side| has_line(side, text)) {
            has_line(report, text)
        } else {
            report.contains(text)
        }
    };
    let text = outcome.replace("\\e", "\u{1b}");
    match (outcome, text.strip_prefix('-')) {
        ("=", _) => without == with,
        ("!", _) => without != with,
        ("?", _) => with.contains("exit 0"),
        (_, Some(gone)) => says(without, gone) && !says(with, gone),
        (_, None) => says(with, &text) && !says(without, &text),
    }
}

fn has_line(report: &str, text: &str) -> bool {
    report.lines().any(|line| line.trim() == text)
}

// In four tests, which run side by side.

const COMPARISONS: [&str; 2] = ["compare", "pools"];
const READERS: [&str; 6] = ["identify", "show", "merge", "build", "convert", "info"];

#[test]
fn every_option_of_eval_changes_what_it_should() {
    try_rows(|name| name == "eval");
}

#[test]
fn every_option_of_comparisons_changes_what_it_should() {
    try_rows(|name| COMPARISONS.contains(&name));
}

#[test]
fn every_option_of_readers_changes_what_it_should() {
    try_rows(|name| READERS.contains(&name));
}

#[test]
fn every_option_of_other_commands_changes_what_it_should() {
    try_rows(|name| name != "eval" && !COMPARISONS.contains(&name) && !READERS.contains(&name));
}

#[test]
fn every_option_has_a_row() {
    let mut tried: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for row in rows() {
        tried.entry(row.name().to_owned()).or_default().insert(row.option().to_owned());
    }
    let folder = Folder::new();
    let commands: Vec<String> = help::commands(&folder);
    assert!(commands.len() >= 16, "{commands:?}");
    let mut missing = Vec::new();
    for command in &commands {
        let known = tried.get(command).cloned().unwrap_or_default();
        missing.extend(
            options(&folder, command)
                .difference(&known)
                .map(|option| format!("{command} --{option}")),
        );
    }
    assert!(missing.is_empty(), "no line of options.txt has {}", missing.join(", "));
}
