//! Help: it fits a screen, common options come first, and its examples are commands that run.

use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use crate::folder::Folder;

/// The lines of `-h`, and the columns.
const LINES: usize = 40;
const COLUMNS: usize = 80;

/// The lines of `trec-eval -h`, whose options have texts below them.
const LINES_OF_TREC_EVAL: usize = 60;

/// The groups of commands in the help of laneval.
const GROUPS: [&str; 4] = ["Evaluate:", "Files:", "Decide:", "Tools:"];

/// Returns the commands in the help of laneval, without `help` and `version`.
pub fn commands(folder: &Folder) -> Vec<String> {
    let help = folder.out("--help");
    let mut names = Vec::new();
    let mut is_group = false;
    for line in help.lines() {
        if !line.starts_with(' ') {
            is_group = GROUPS.contains(&line);
        } else if is_group && let Some(name) = line.trim_start().split(' ').next() {
            names.push(name.to_owned());
        }
    }
    names.retain(|name| !["help", "version"].contains(&name.as_str()));
    names
}

/// Returns the headings of a help with the options below them.
pub fn sections(help: &str) -> Vec<(&str, Vec<&str>)> {
    let mut sections: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in help.lines() {
        if let Some(heading) = line.strip_suffix(':').filter(|line| !line.starts_with(' ')) {
            sections.push((heading, Vec::new()));
        }
        let option = line
            .split("--")
            .nth(1)
            .filter(|_| line.trim_start().starts_with('-') && line.find('-') < Some(7));
        if let (Some(option), Some((_, options))) = (option, sections.last_mut()) {
            options.push(option.split([' ', ',']).next().unwrap());
        }
    }
    sections
}

#[test]
fn help_fits_a_screen() {
    let folder = Folder::new();
    let commands = commands(&folder);
    assert!(commands.len() >= 14, "{commands:?}");
    for command in &commands {
        for option in ["-h", "--help"] {
            // Without a terminal, and with a wider one.
            for columns in ["", "COLUMNS=80 ", "COLUMNS=200 "] {
                let help = folder.shell(&format!("{columns}$L {command} {option}")).out;
                let wide = help.lines().find(|line| line.width() > COLUMNS);
                assert_eq!(wide, None, "{command} {option}");
            }
        }
        let lines = folder.out(&format!("{command} -h")).lines().count();
        let most = if command == "trec-eval" { LINES_OF_TREC_EVAL } else { LINES };
        assert!(
            lines <= most,
            "{command} -h has {lines} lines: src/options/table.rs says which options it shows"
        );
    }
}

#[test]
fn short_help_has_the_common_options_and_long_help_all_in_sections() {
    let folder = Folder::new();
    for command in ["eval", "compare"] {
        let short = folder.out(&format!("{command} -h"));
        let long = folder.out(&format!("{command} --help"));
        let (short, all) = (sections(&short), sections(&long));
        let names: Vec<&str> = short.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["Arguments", "Options", "Examples"], "{command}");
        let common = &short[1].1;
        assert_eq!(common[0], "measure");
        for option in ["per-query", "output", "format", "fail-if", "quiet"] {
            assert!(common.contains(&option), "{command} -h lacks --{option}");
        }
        let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        for heading in ["Input", "Measures", "Ranking", "Output", "Engine"] {
            assert!(names.contains(&heading), "{command} --help lacks {heading}");
        }
        let listed: Vec<&str> = all.iter().flat_map(|(_, options)| options.clone()).collect();
        assert!(common.iter().all(|option| listed.contains(option)), "{command}");
        let [.., advanced, help, examples, codes, see] = &all[..] else { panic!("{all:?}") };
        assert_eq!((advanced.0, help.0), ("Advanced", "Help"), "{command}");
        assert_eq!((examples.0, codes.0, see.0), ("Examples", "Exit codes", "See also"));
        assert_eq!(advanced.1.last(), Some(&"color"));
        assert!(advanced.1.contains(&"no-mmap"));
        assert_eq!(help.1, ["help", "version"]);
    }
    assert!(folder.out("eval -h").ends_with("\n`laneval eval --help` has all options.\n"));
}

#[test]
fn help_and_version_are_commands_too() {
    let folder = Folder::new();
    assert_eq!(folder.out("help eval"), folder.out("eval --help"));
    assert_eq!(folder.out("version"), folder.out("--version"));
    assert!(folder.out("help --help").starts_with("Show the help of a command\n"));
    assert!(folder.error("help nothing").contains("there is no command `nothing`"));
}

/// Each page of documentation that a command names is there.
#[test]
fn help_leads_to_pages_that_exist() {
    let folder = Folder::new();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for command in commands(&folder) {
        let help = folder.out(&format!("{command} --help"));
        let page = help.split("See also:\n").nth(1).unwrap().trim();
        assert!(root.join(page).is_file(), "{command}: {page}");
    }
}

/// An option of another name is refused with the name that it has here.
#[test]
fn former_names_of_options_are_told() {
    let folder = Folder::new();
    for (command, former, name) in [
        ("eval", "known", "relevant-from"),
        ("compare", "titles", "topics"),
        ("merge", "qrels", "add-queries"),
        ("gen", "depth", "results"),
        ("pools", "depth", "pool-depth"),
    ] {
        let error = folder.error(&format!("{command} --{former} 1"));
        assert!(error.contains(&format!("--{former} is called --{name}")), "{error}");
    }
}

/// Returns the examples of a help: commands, of which each may go on in further lines.
fn examples(help: &str) -> Vec<String> {
    let after = help.split("\nExamples:\n").nth(1).unwrap_or_default();
    let after = after.split("\n\n").next().unwrap_or_default();
    let mut examples = Vec::new();
    let mut lines = after.lines().filter_map(|line| line.strip_prefix("  "));
    while let Some(mut line) = lines.next() {
        let mut example = String::new();
        while let Some(before) = line.strip_suffix('\\') {
            example += &format!("{before}\\\n");
            line = lines.next().expect("a line goes on");
        }
        examples.push(example + line);
    }
    examples
}

/// Returns a folder with the files that examples name.
fn with_files() -> Folder {
    let folder = Folder::empty();
    let (mut qrels, mut run) = (String::new(), String::new());
    for query in 301..=320 {
        for doc in 0..6 {
            writeln!(qrels, "{query} 0 d{doc} {}", (doc * query) % 3).unwrap();
            writeln!(run, "{query} Q0 d{doc} {doc} {} tag", (doc * 7 + query) % 11).unwrap();
        }
    }
    let half = |text: &str, second: bool| {
        text.lines()
            .filter(|line| (*line < "311") != second)
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    };
    for name in ["qrels.txt", "qrels"] {
        folder.put(name, &qrels);
    }
    for (at, second) in [(1, false), (2, true)] {
        folder.put(&format!("qrels.{at}"), half(&qrels, second));
        for name in ["run", "old", "new", "a", "b"] {
            folder.put(&format!("{name}.{at}"), half(&run, second));
        }
    }
    for (at, name) in ["bm25", "dense", "hybrid", "old", "new", "main", "a", "b"].iter().enumerate()
    {
        let name = format!("{name}.run");
        folder.put(&name, run.lines().skip(at).map(|line| format!("{line}\n")).collect::<String>());
    }
    folder.put("judged.qrels", &qrels);
    folder.put("judged.letor", "1 qid:1 1:0.5 # a\n0 qid:1 1:0.4 # b\n");
    folder.put("chunks.run", "301 Q0 d1#1 1 0.5 t\n301 Q0 d1#2 2 0.25 t\n");
    folder.put("topics.tsv", "301\tinternational organized crime\n");
    folder.put("scores.txt", "0.5\n0.25\n");
    folder.put("theirs.tsv", "301\t0.5000\n");
    folder
        .put("passages.jsonl", "{\"query\": \"301\", \"doc\": \"d1\", \"start\": 0, \"end\": 9}\n");
    folder.put("chunks.csv", "chunk,doc,start,end\nd1#1,d1,0,20\n");
    let files = "$L convert qrels.txt --qrels -o qrels.tsv; $L convert bm25.run -o run.tsv; mkdir \
                 runs
        (echo query,doc,score; cut -f1,2,4 run.tsv | tail -n +2 | tr '\\t' ,) > run.csv
        echo '{\"301\": {\"d1\": 0.5, \"d2\": 0.25}}' > run.json
        gzip -k bm25.run dense.run; cp bm25.run.gz runs; $L build qrels.txt bm25.run dense.run -o \
        trec8.lmx";
    let ran = folder.shell(files);
    assert_eq!(ran.code, 0, "{}", ran.err);
    folder
}

/// Examples that take long, or need another program: they are only parsed.
const LONG: [&str; 3] = ["laneval bench", "laneval gen", "laneval man"];

#[test]
fn examples_of_help_are_commands_that_run() {
    let commands = commands(&Folder::empty());
    let mut count = 0;
    for command in commands.iter().map(String::as_str).chain([""]) {
        // A folder each: the examples of one command may need the files of one another.
        let folder = with_files();
        let help = folder.out(&format!("{command} --help"));
        for example in examples(&help) {
            let long = LONG.iter().find(|long| example.starts_with(*long));
            // The first command alone, which ends in its help once all of it is parsed.
            let parsed = example
                .split(['|', '>'])
                .next()
                .unwrap()
                .replace(" && \\\n", "\n")
                .replace("\\\n", " ");
            let parsed = parsed.lines().map(|line| format!("{line} --help\n")).collect::<String>();
            let script = match long {
                Some(_) => &parsed,
                None => &example,
            };
            // Files below the home folder stay in this one.
            let program = "export HOME=$PWD; mkdir -p ~/.local/share/bash-completion/completions; \
                           ln -sf $L laneval; PATH=$PWD:$PATH";
            let ran = folder.shell(&format!("{program}; {script}"));
            // 1: a gate failed, as it is to do.
            let is_gate = example.contains("--fail-if") && ran.code == 1;
            // 1: a number of nobody, which has no definition.
            let is_answer = example.starts_with("laneval identify") && ran.code == 1;
            // A program of the reader's own, which is not here.
            let is_own = example.starts_with("laneval check")
                && (ran.err.contains("./ndcg: cannot run") || ran.err.contains("on every case"));
            assert!(ran.code == 0 || is_gate || is_answer || is_own, "{example}\n{}", ran.err);
            assert!(
                ran.out.len() + ran.err.len() > 0
                    || example.contains("-o ")
                    || example.contains('>')
                    || example.contains("--partial"),
                "{example}"
            );
            count += 1;
        }
    }
    assert!(count > 50, "{count}");
}
