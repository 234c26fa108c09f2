//! Help: it fits a screen, common options come first, and its examples are commands that run.

use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use crate::folder::Folder;

/// The lines of a screen that `-h` fits on, and the columns.
const LINES: usize = 60;
const COLUMNS: usize = 80;

/// The commands in the help of laneval, without `help` itself.
pub fn commands(folder: &Folder) -> Vec<String> {
    let help = folder.out("--help");
    let listed =
        help.split("Commands:\n").nth(1).unwrap().lines().take_while(|line| !line.is_empty());
    let name = |line: &str| line.strip_prefix("  ")?.split(' ').next().map(str::to_owned);
    listed.filter_map(name).filter(|name| !name.is_empty() && name != "help").collect()
}

/// The headings of a help with the options below them.
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
        assert!(
            lines <= LINES,
            "{command} -h has {lines} lines: crates/cli/src/help.rs says which options it shows"
        );
    }
}

#[test]
fn common_options_come_first_and_rare_ones_last() {
    let folder = Folder::new();
    for command in ["eval", "compare"] {
        let short = folder.out(&format!("{command} -h"));
        let long = folder.out(&format!("{command} --help"));
        let (short, all) = (sections(&short), sections(&long));
        let names = |of: &[(&str, Vec<&str>)]| {
            of.iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(names(&short)[..3], ["Arguments", "Options", "Help"], "{command}");
        assert_eq!(short[1], all[1], "{command}: --help begins as -h");
        assert_eq!(all[1].1[0], "measure");
        for option in ["per-query", "output", "format", "fail-if", "quiet"] {
            assert!(short[1].1.contains(&option), "{command} -h lacks --{option}");
        }
        let [.., advanced, help, _] = &all[..] else { panic!("{all:?}") };
        assert_eq!((advanced.0, help.0), ("Advanced", "Help"), "{command}");
        assert_eq!(advanced.1.last(), Some(&"color"));
        assert!(advanced.1.contains(&"no-mmap") && advanced.1.contains(&"adapter"));
        assert_eq!(help.1, ["help", "version"]);
    }
    assert!(folder.out("eval -h").ends_with("\n`laneval eval --help` has all options.\n"));
}

/// The examples of a help: commands, of which each may go on in further lines.
fn examples(help: &str) -> Vec<String> {
    let after = help.split("\nExamples:\n").nth(1).unwrap_or_default();
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

/// A folder with the files that examples name.
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
