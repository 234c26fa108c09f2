//! How the command treats its user: tips where usage is wrong, colour, names, and what a terminal shows.

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
        let said = folder.error(args);
        assert_says(&said, &[tip]);
        assert!(!said.contains("as a value"), "{said}");
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
        &["'qrels'", "tip: to evaluate files say `laneval eval qrels bm25.run -m AP`"],
    );
    assert_says(
        &folder.shell("! $L 'my run' qrels").err,
        &["tip: to evaluate files say `laneval eval 'my run' qrels`"],
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
    let said = |args: &str| folder.run(args).err;
    const RED: &str = "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m ";
    for args in ["eval none none", "eval --nonesuch", "eval qrels bm25.run -m ngcd"] {
        let plain = said(args);
        assert!(plain.starts_with("error: "), "{plain}");
        assert!(!plain.contains('\u{1b}'), "{plain}");
        for always in ["--color always", "--color=always"] {
            let coloured = said(&format!("{args} {always}"));
            assert!(coloured.starts_with(RED), "{coloured:?}");
        }
        assert_eq!(said(&format!("{args} --color auto")), plain);
        let forced = folder.shell(&format!("CLICOLOR_FORCE=1 $L {args}")).err;
        assert!(forced.starts_with(RED), "{forced:?}");
        assert_eq!(folder.shell(&format!("CLICOLOR_FORCE=1 $L {args} --color never")).err, plain);
    }
    assert_says(&said("eval qrels bm25.run --color always"), &["\u{1b}[1m\u{1b}[36mnote:\u{1b}[0m bm25.run"]);
    let bold = folder.out("eval qrels bm25.run dense.run -m AP --format table --color always");
    assert_says(&bold, &["\u{1b}[1m0.6667\u{1b}[0m", "Bold:"]);
    assert_says(&folder.error("eval qrels bm25.run --color pink"), &["'pink'", "auto, always, never"]);
    let Ran { out, .. } = folder.run("eval --help --color always");
    assert!(out.contains("\u{1b}[1m"), "{out}");
}
