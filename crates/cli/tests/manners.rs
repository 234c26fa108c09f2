//! How the command treats its user: tips where usage is wrong, colour, names, and what a terminal
//! shows.

use crate::folder::{Folder, Ran, assert_says};

#[test]
fn options_of_trec_eval_get_a_tip() {
    let folder = Folder::new();
    for (args, tip) in [
        (
            "eval -c qrels bm25.run",
            "tip: -c is an option of trec_eval: `laneval trec-eval -c …`; here every judged query",
        ),
        (
            "compare qrels bm25.run dense.run -n",
            "tip: -n is an option of trec_eval: `laneval trec-eval -n …`; here averages",
        ),
        ("eval qrels bm25.run -l 2", "here `--rel GRADE` says which grade is relevant"),
    ] {
        let error = folder.error(args);
        assert_says(&error, &[tip]);
        assert!(!error.contains("as a value"), "{error}");
    }
    assert_says(&folder.error("eval qrels bm25.run --per-quer"), &["tip: ", "'--per-query'"]);
    let per_query = folder.out("eval qrels bm25.run -m AP --per-query");
    assert_eq!(folder.out("eval qrels bm25.run -m AP -q"), per_query);
    assert!(per_query.lines().count() > 2);
    let differences = folder.out("compare qrels bm25.run dense.run -m AP --per-query");
    assert_eq!(folder.out("compare qrels bm25.run dense.run -m AP -q"), differences);
    assert_says(&folder.error("build qrels bm25.run -o m.lmx -q"), &["unexpected argument '-q'"]);
}

#[test]
fn files_without_a_command_are_to_be_evaluated() {
    let folder = Folder::new();
    folder.put("my run", "q1 Q0 a 1 1 t\n");
    assert_says(
        &folder.error("qrels bm25.run -m AP"),
        &["'qrels'", "tip: to evaluate files, use `laneval eval qrels bm25.run -m AP`"],
    );
    assert_says(
        &folder.shell("! $L 'my run' qrels").err,
        &["tip: to evaluate files, use `laneval eval 'my run' qrels`"],
    );
    assert_says(&folder.error("evl qrels"), &["'eval'"]);
    assert!(!folder.error("nonesuch bm25.run").contains("tip:"));
}

#[test]
fn every_command_has_help_and_a_version() {
    let folder = Folder::new();
    assert_eq!(folder.out("help eval"), folder.out("eval --help"));
    assert_eq!(folder.out("help"), folder.out("--help"));
    for command in ["eval", "compare", "gen"] {
        let version = folder.out(&format!("{command} --version"));
        assert_eq!(version, format!("laneval-{command} {}\n", env!("CARGO_PKG_VERSION")));
    }
}

#[test]
fn errors_have_the_colour_that_is_asked_for() {
    let folder = Folder::new();
    let stderr = |args: &str| folder.run(args).err;
    const RED: &str = "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m ";
    for args in ["eval none none", "eval --nonesuch", "eval qrels bm25.run -m ngcd"] {
        let plain = stderr(args);
        assert!(plain.starts_with("error: "), "{plain}");
        assert!(!plain.contains('\u{1b}'), "{plain}");
        for always in ["--color always", "--color=always"] {
            let coloured = stderr(&format!("{args} {always}"));
            assert!(coloured.starts_with(RED), "{coloured:?}");
        }
        assert_eq!(stderr(&format!("{args} --color auto")), plain);
        let forced = folder.shell(&format!("CLICOLOR_FORCE=1 $L {args}")).err;
        assert!(forced.starts_with(RED), "{forced:?}");
        assert_eq!(folder.shell(&format!("CLICOLOR_FORCE=1 $L {args} --color never")).err, plain);
    }
    assert_says(
        &stderr("eval qrels bm25.run --color always"),
        &["\u{1b}[1m\u{1b}[36mnote:\u{1b}[0m bm25.run"],
    );
    let bold = folder.out("eval qrels bm25.run dense.run -m AP --format table --color always");
    assert_says(&bold, &["\u{1b}[1m0.6667\u{1b}[0m", "Bold:"]);
    assert_says(
        &folder.error("eval qrels bm25.run --color pink"),
        &["'pink'", "auto, always, never"],
    );
    let Ran { out, .. } = folder.run("eval --help --color always");
    assert!(out.contains("\u{1b}[1m"), "{out}");
}

/// What a terminal shows of a command.
#[cfg(target_os = "linux")]
fn on_a_terminal(folder: &Folder, script: &str) -> String {
    folder.put("script.sh", script);
    let Ran { out, err, .. } =
        folder.shell("stty() { :; }; TERM=xterm script -qec 'bash script.sh' /dev/null");
    assert_eq!(err, "");
    out
}

#[cfg(target_os = "linux")]
#[test]
fn long_work_shows_how_far_it_is_on_a_terminal() {
    let folder = Folder::new();
    let slow = "(cat bm25.run; sleep 0.9) | $L eval qrels - -m AP";
    let shown = on_a_terminal(&folder, slow);
    assert_says(&shown, &["reading 0 kB, 0 kB/s", "0.4444"]);
    assert!(shown.rfind("reading") < shown.find("mean"), "{shown:?}");
    for quiet in [
        format!("{slow} --quiet"),
        format!("{slow} 2> /dev/null"),
        format!("export TERM=dumb; {slow}"),
        "$L eval qrels bm25.run -m AP".to_owned(),
    ] {
        let shown = on_a_terminal(&folder, &quiet);
        assert!(!shown.contains("reading") && shown.contains("0.4444"), "{quiet}\n{shown:?}");
    }
    folder.out("gen --query-count 500 --results 5 --runs 2 -o data --quiet");
    let draws =
        "timeout -s INT 2 $L compare data/qrels.txt data/run-*.txt -m AP --permutations 4000000000";
    assert_says(&on_a_terminal(&folder, draws), &["comparing", " of 4,000,000,000 draws, "]);
}

#[test]
fn intervals_stand_beside_averages_in_tables() {
    let folder = Folder::new();
    let one = folder.out("eval qrels bm25.run -m P@2,AP --stat std,ci95 --format table");
    let mut lines =
        one.lines().skip(2).map(|line| line.split("  ").filter(|cell| !cell.is_empty()));
    assert!(lines.next().unwrap().map(str::trim).eq(["measure", "mean [95 %]", "std"]), "{one}");
    let rows: Vec<Vec<&str>> = lines.skip(1).map(Iterator::collect).collect();
    assert!(rows[0][1].trim().starts_with("0.3333 [0.") && rows[0][1].ends_with(']'), "{one}");
    let tsv = folder.out("eval qrels bm25.run -m AP --stat ci95");
    let end = |stat: &str| {
        let line = tsv.lines().find(|line| line.contains(stat)).unwrap();
        format!("{:.2}", line.rsplit('\t').next().unwrap().parse::<f64>().unwrap())
    };
    let table = folder.out("eval qrels bm25.run -m AP --stat ci95 --format table --precision 2");
    assert_says(&table, &[&format!("AP       0.44 [{}, {}]", end("ci95_low"), end("ci95_high"))]);
    let several = folder
        .out("eval qrels bm25.run dense.run -m AP,RR --stat ci95,std --format table --precision 2");
    assert_says(
        &several,
        &[
            "  AP [95 %]   AP std  ",
            "  RR [95 %]   RR std\n",
            &format!("0.44 [{}, {}]", end("ci95_low"), end("ci95_high")),
        ],
    );
    assert_says(
        &folder.out("eval qrels bm25.run -m AP --stat ci95 --format markdown"),
        &["mean \\[95 %\\]", "| 0.4444 \\["],
    );
}

#[test]
fn decimals_are_those_asked_for_in_every_format() {
    let folder = Folder::new();
    let out = |options: &str| folder.out(&format!("eval qrels bm25.run -m AP,NumRet -q {options}"));
    assert_says(
        &out("--precision 2"),
        &[
            "\tq1\tAP\tvalue\t0.83\n",
            "\tq1\tNumRet\tvalue\t3\n",
            "\t\tAP\tmean\t0.44\n",
            "\tNumRet\tsum\t5\n",
        ],
    );
    assert_says(&out("--precision 2 --format csv"), &["bm25.run,q3,AP,value,0.00\n"]);
    assert_says(&out("--precision 2 --format jsonl"), &["\"mean\",\"value\":0.44}"]);
    assert_says(&out("--precision 2 --format json"), &["\"mean\": 0.44\n", "\"AP\": 0.83,"]);
    assert_says(
        &out("--precision 2 --format trec"),
        &["\tq1\t  0.83\n", "\tall\t  0.44\n", "\tall\t5\n"],
    );
    assert_says(&out("--format trec"), &["\tall\t0.4444\n"]);
    let compared = folder.out("compare qrels bm25.run dense.run -m AP --precision 3 --format csv");
    assert_says(&compared, &[",AP,mean,0.444\n"]);
}

#[test]
fn the_wide_form_has_a_row_for_each_query() {
    let folder = Folder::new();
    let args = "eval qrels bm25.run dense.run -m AP,NumRet --wide";
    let csv = "\
run,query_id,AP,NumRet
bm25.run,q1,0.8333333333333333,3
bm25.run,q2,0.5,2
bm25.run,q3,0,0
bm25.run,all,0.4444444444444444,5
dense.run,q1,0.5,2
dense.run,q2,1,1
dense.run,q3,0.5,2
dense.run,all,0.6666666666666666,5
";
    assert_eq!(folder.out(&format!("{args} --format csv")), csv);
    assert_eq!(folder.out(args), csv.replace(',', "\t"));
    folder.out(&format!("{args} --average-id mean -o wide.csv"));
    assert_eq!(String::from_utf8(folder.get("wide.csv")).unwrap(), csv.replace(",all,", ",mean,"));
    let stats =
        folder.out("eval qrels bm25.run -m AP --wide --stat min,max --precision 1 --format csv");
    assert_says(
        &stats,
        &[
            "run,query_id,stat,AP\n",
            ",q1,value,0.8\n",
            ",all,average,0.4\n",
            ",all,min,0.0\n",
            ",all,max,0.8\n",
        ],
    );
    folder.put("groups", "q1\tone\n");
    let groups = folder.out("eval qrels bm25.run -m AP --wide --group-by groups --format csv");
    assert_says(
        &groups,
        &["run,group,query_id,AP\n", "bm25.run,,q1,0.83", "bm25.run,one,all,0.83"],
    );
    for format in ["json", "table", "trec"] {
        assert_says(
            &folder.error(&format!("{args} --format {format}")),
            &["--wide is for tsv and csv"],
        );
    }
    assert_says(
        &folder.error(&format!("{args} --average-id q2 --quiet")),
        &["the id `q2` of a query", "--average-id"],
    );
}

#[test]
fn averages_have_the_id_that_is_asked_for() {
    let folder = Folder::new();
    let out = |options: &str| {
        folder.out(&format!("eval qrels bm25.run -m AP -q --average-id all {options}"))
    };
    assert_says(&out(""), &["bm25.run\tall\tAP\tmean\t0.4444", "bm25.run\tq1\tAP"]);
    assert_says(
        &out("--format jsonl"),
        &["\"query_id\":\"all\",\"measure\":\"AP\",\"stat\":\"mean\""],
    );
    folder.out("eval qrels bm25.run -m AP --partial x.part -o x.csv");
    assert_says(
        &folder.out("merge x.part --average-id mean --format csv"),
        &["bm25.run,mean,AP,mean,0.4444"],
    );
    folder.out("eval qrels bm25.run -m AP -q --average-id all -o base.csv");
    folder.out("compare qrels dense.run -m AP --baseline base.csv");
}

#[test]
fn runs_have_the_names_that_are_asked_for() {
    let folder = Folder::new();
    folder.put("gz/bm25.v2.run.gz", {
        let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut to, crate::folder::BM25.as_bytes()).unwrap();
        to.finish().unwrap()
    });
    let names = |args: &str| {
        let out = folder.out(args);
        out.lines()
            .skip(1)
            .map(|line| line.split(',').next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let eval = |args: &str| names(&format!("eval qrels -m AP --format csv {args}"));
    let runs = "dense.run gz/bm25.v2.run.gz";
    assert_eq!(eval(runs), ["dense.run", "bm25.v2.run.gz"]);
    assert_eq!(eval(&format!("{runs} --name-by path")), ["dense.run", "bm25.v2.run.gz"]);
    assert_eq!(eval(&format!("{runs} --name-by stem")), ["dense", "bm25.v2"]);
    assert_eq!(eval(&format!("{runs} --name-by tag")), ["dense", "bm25"]);
    assert_eq!(eval("mine=dense.run gz/bm25.v2.run.gz --name-by tag"), ["mine", "bm25"]);
    let piped =
        folder.run_with("eval qrels - -m AP --format csv --name-by tag", crate::folder::BM25);
    assert_says(&piped.out, &["\nbm25,,AP,"]);
    let twice = folder.error("eval qrels bm25.run gz/bm25.v2.run.gz --name-by tag");
    assert_says(&twice, &["bm25.run and bm25.v2.run.gz would both have the name `bm25`"]);
    folder.out(&format!("build qrels {runs} -o tags.lmx --name-by tag"));
    assert_eq!(names("eval tags.lmx -m AP --format csv"), ["dense", "bm25"]);
    assert_eq!(names("eval tags.lmx -m AP --format csv --name-by stem"), ["dense", "bm25.v2"]);
    assert_says(&folder.out(&format!("compare qrels {runs} -m AP --name-by stem")), &["\ndense\t"]);
}

#[cfg(target_os = "linux")]
#[test]
fn terminals_show_curves_and_distributions() {
    let folder = Folder::new();
    let shown = on_a_terminal(&folder, "$L eval qrels bm25.run dense.run -m nDCG@1..4");
    assert_says(&shown, &["nDCG@1 to nDCG@4, from 0.", "bm25.run   ", "▁"]);
    let lines: String = (0..30).map(|n| format!("q{n} 0 d{} 1\n", n % 3)).collect();
    folder.put("many", lines);
    let run: String = (0..30).map(|n| format!("q{n} Q0 d0 1 2 t\nq{n} Q0 d1 2 1 t\n")).collect();
    folder.put("many.run", run);
    let shown = on_a_terminal(&folder, "$L eval many many.run -m RR -q");
    assert_says(&shown, &["queries by their values", "RR  0.0000 █         █        █ 1.0000"]);
    let piped = folder.out("eval many many.run -m RR -q --format table");
    assert!(!piped.contains('█'), "{piped}");
}

#[test]
fn completions_offer_measures_and_statistics() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert_says(&folder.out(&format!("completions {shell}")), &["per-query"]);
    }
    folder.put("complete.sh", folder.out("completions bash"));
    let offered = |words: &str| {
        let (before, last) = words.rsplit_once(' ').unwrap();
        let (count, previous) = (words.split(' ').count() - 1, before.rsplit(' ').next().unwrap());
        let script = format!(
            ". ./complete.sh; COMP_WORDS=({words}); COMP_CWORD={count}; _laneval laneval {last} \
             {previous}; echo \"${{COMPREPLY[@]}}\""
        );
        folder.shell(&script).out
    };
    assert_says(&offered("laneval eval -m nDC"), &["nDCG", "nDCGrel"]);
    assert_says(&offered("laneval eval --stat ci"), &["ci95"]);
    assert_says(&offered("laneval eval --name-by st"), &["stem"]);
    assert_says(&offered("laneval measures nDC"), &["nDCG"]);
    assert_says(&folder.out("completions zsh"), &["nDCG"]);
}

#[test]
fn manual_pages_have_examples_as_they_are_typed() {
    let folder = Folder::new();
    folder.out("man --dir pages/man1");
    for name in ["laneval", "laneval-eval", "laneval-man", "laneval-trec-eval"] {
        assert!(folder.path().join(format!("pages/man1/{name}.1")).is_file(), "{name}");
    }
    let page = folder.out("man eval");
    assert_eq!(page.as_bytes(), folder.get("pages/man1/laneval-eval.1"));
    assert_says(&page, &[".SH EXAMPLES\n.nf\nlaneval eval qrels.txt bm25.run dense.run\n"]);
    assert!(
        page.trim_end().ends_with(".fi")
            && page.contains("EXIT CODES")
            && !page.contains("SH EXTRA"),
        "{page}"
    );
    assert_says(
        &page,
        &["\n.SH ADVANCED\n", "\\-\\-timing\\fR\nPrint the time of each step to stderr\n"],
    );
    let empty = page
        .lines()
        .zip(page.lines().skip(1))
        .find(|(one, next)| one.starts_with("\\fB") && next.is_empty());
    assert_eq!(empty, None, "an option without its text");
    assert_says(&folder.out("man"), &[".SH COMMANDS", "laneval\\-eval"]);
    folder.put("file", "");
    assert_says(&folder.error("man --dir file"), &["file: cannot make a folder"]);
}

#[cfg(target_os = "linux")]
#[test]
fn graphics_drivers_are_silent() {
    let folder = Folder::new();
    assert_eq!(folder.shell("unset XDG_RUNTIME_DIR; $L devices > out").err, "");
    assert_eq!(
        folder
            .shell("unset XDG_RUNTIME_DIR; $L bench --query-count 3 --results 4 --seconds 0 > out")
            .err,
        ""
    );
    assert_says(&String::from_utf8(folder.get("out")).unwrap(), &["\nCPU: ", " is the fastest"]);
}
