//! Pages and charts: what a page says about itself, and what has no page or chart.

use crate::folder::Folder;

/// Returns a folder with the bundled runs.
fn demo() -> Folder {
    let folder = Folder::new();
    for name in ["demo.qrels", "demo-bm25.run", "demo-dense.run", "demo-hybrid.run"] {
        let path = format!("{}/../../examples/data/{name}", env!("CARGO_MANIFEST_DIR"));
        folder.put(name, std::fs::read(path).unwrap());
    }
    folder
}

fn page(folder: &Folder, name: &str) -> String {
    String::from_utf8(folder.get(name)).unwrap()
}

#[track_caller]
fn assert_has(page: &str, parts: &[&str]) {
    for part in parts {
        assert!(page.contains(part), "no {part} in:\n{page}");
    }
}

#[test]
fn a_comparison() {
    let folder = demo();
    folder.put("an old.run", folder.get("demo-bm25.run"));
    let ran = folder.shell(
        "$L compare demo.qrels 'an old.run' new=demo-hybrid.run -m nDCG@10 --quiet -o report.html \
         --fail-if 'nDCG@10 rises > 0.1'",
    );
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(
        !folder.names().contains(&"report.html".to_owned()),
        "a report of gates that cannot be told"
    );
    let ran = folder.shell(
        "$L compare demo.qrels 'an old.run' new=demo-hybrid.run -m nDCG@10 --quiet -o report.html \
         --fail-if 'nDCG@10 < 0.8'",
    );
    assert_eq!((ran.code, &ran.out[..]), (1, ""), "{}", ran.err);
    let page = page(&folder, "report.html");
    // The digest is what `xxhsum -H2` says of the file.
    assert_has(
        &page,
        &[
            "<!DOCTYPE html>",
            "<h1>an old.run and new compared</h1>",
            "new is better than an old.run on nDCG@10: 0.7351 against 0.5703",
            "Precision at levels of recall",
            "nDCG over its cutoffs",
            "1 of 1 gates failed",
            "35f191ac21e84f312add24966d961228",
            "6c254fd1f9ef35691bb9a8e809ac6ee0",
            "laneval compare demo.qrels &#39;an old.run&#39; &#39;new=demo-hybrid.run&#39; -m \
             nDCG@10 --quiet -o report.html",
            "scores compared as f64, equal ones docno-desc, all ranks",
        ],
    );
}

/// The command that a page names makes the same page again, whatever the names of files.
#[test]
fn the_command_of_a_page() {
    let folder = demo();
    folder.put("it's $HOME & <b>.run", folder.get("demo-bm25.run"));
    let script = r#"$L eval demo.qrels "it's \$HOME & <b>.run" --format html"#;
    let first = folder.shell(script).out;
    let command = first.split_once("<pre>").unwrap().1.split_once("</pre>").unwrap().0;
    let command = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
        .iter()
        .fold(command.to_owned(), |command, (escaped, plain)| command.replace(escaped, plain));
    let again = folder.shell(&format!("laneval() {{ \"$L\" \"$@\"; }}; {command}"));
    assert_eq!(again.out, first, "{command}\n{}", again.err);
}

#[test]
fn scores_of_one_run() {
    let folder = demo();
    folder.out("eval demo.qrels demo-bm25.run --quiet -o one.html");
    let from_text = page(&folder, "one.html");
    assert_has(
        &from_text,
        &["Scores of demo-bm25.run", "Values of nDCG@10", "nDCG over its cutoffs", "0.5703"],
    );
    folder.out("build demo.qrels demo-bm25.run -o demo.lmx");
    let from_matrix = folder.out("eval demo.lmx --quiet --format html");
    assert_has(
        &from_matrix,
        &["label matrix", "demo.lmx", "nDCG over its cutoffs", "Values of nDCG@10"],
    );
    // Groups of queries are further rows, and no lines of curves.
    folder.put("groups", "01\tearly\n02\tearly\n");
    let grouped =
        folder.out("eval demo.qrels demo-bm25.run --quiet --format html --group-by groups");
    assert_has(&grouped, &["early", "nDCG over its cutoffs"]);
    // A curve that is asked for is drawn once.
    let html = folder.out("eval demo.qrels demo-bm25.run --quiet --format html -m nDCG@1..7");
    assert_eq!(html.matches("<figcaption>nDCG over its cutoffs").count(), 1, "{html}");
}

/// A run that is read once has only the curves that were asked for; averages over ties have no
/// values of queries.
#[test]
fn scores_without_all_that_a_page_can_show() {
    let folder = demo();
    let run = String::from_utf8(folder.get("demo-bm25.run")).unwrap();
    let ran = folder.run_with("eval demo.qrels - --quiet --format html", &run);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_has(&ran.out, &["Values of nDCG@10", "stdin"]);
    let tied =
        folder.out("eval demo.qrels demo-bm25.run --quiet --format html --ties interval -m AP");
    assert_has(&tied, &["Scores of demo-bm25.run"]);
}

#[test]
fn charts() {
    let folder = demo();
    let curve = folder.out(
        "eval demo.qrels demo-bm25.run demo-dense.run --quiet -m nDCG@1..20 -m AP --format svg",
    );
    assert!(curve.starts_with("<svg ") && curve.contains("demo-dense.run"), "{curve}");
    folder.out("compare demo.qrels demo-bm25.run demo-dense.run --quiet -o forest.svg");
    assert_has(&page(&folder, "forest.svg"), &["difference of nDCG@10", "+0.0696, p 0.1300"]);
    for (measures, expected) in
        [("AP", "none of the measures is"), ("nDCG@1..5 -m P@1..5", "not nDCG and P")]
    {
        let error =
            folder.error(&format!("eval demo.qrels demo-bm25.run -m {measures} -o curve.svg"));
        assert!(error.contains(expected), "{error}");
    }
    assert!(!folder.names().contains(&"curve.svg".to_owned()));
}

#[test]
fn merged_summaries() {
    let folder = demo();
    folder
        .out("eval demo.qrels demo-bm25.run --quiet -m nDCG@1..5 --partial one.part --format csv");
    assert_has(&folder.out("merge one.part --format html --quiet"), &["nDCG over its cutoffs"]);
    assert_has(&folder.out("merge one.part --format svg --quiet"), &["<svg "]);
}

#[test]
fn a_title_of_ones_own() {
    let folder = demo();
    let files = "demo.qrels demo-bm25.run demo-hybrid.run --quiet";
    for command in ["compare", "eval"] {
        let page = folder.out(&format!("{command} {files} --format html --title A<b>"));
        assert_has(&page, &["<title>A&lt;b&gt;</title>", "<h1>A&lt;b&gt;</h1>"]);
        let error = folder.error(&format!("{command} {files} --format csv --title A"));
        assert!(error.contains("--title is the title of a page"), "{error}");
    }
    folder.out(&format!("eval {files} --partial one.part --format csv"));
    assert_has(
        &folder.out("merge one.part --format html --quiet --title Merged"),
        &["<h1>Merged</h1>"],
    );
    assert!(
        folder
            .error("merge one.part --title Merged --format tsv")
            .contains("--title is the title of a page")
    );
}

/// The first documents of the largest losses are those that `show` prints; label matrices and pipes
/// have none.
#[test]
fn documents_of_losses() {
    let folder = demo();
    let page = folder
        .out("compare demo.qrels demo-bm25.run demo-hybrid.run -m nDCG@10 --quiet --format html");
    let lost: Vec<&str> = page.split("First documents of query <bdi>").skip(1).collect();
    assert_eq!(lost.len(), 3);
    let mut losses = Vec::new();
    for section in lost {
        let query = section.split("</bdi>").next().unwrap();
        let shown = folder.out(&format!(
            "show demo.qrels demo-hybrid.run demo-bm25.run --query {query} -m nDCG@10 --format csv \
             --quiet"
        ));
        let rows: Vec<Vec<&str>> = shown.lines().map(|line| line.split(',').collect()).collect();
        for run in ["demo-hybrid.run", "demo-bm25.run"] {
            let table = section.split(&format!("<figcaption>{run}</figcaption>")).nth(1).unwrap();
            let table = table.split("</table>").next().unwrap();
            let found: Vec<&str> = table
                .split("<bdi>")
                .skip(1)
                .map(|cell| cell.split("</bdi>").next().unwrap())
                .collect();
            let expected: Vec<&str> = rows
                .iter()
                .filter(|row| row[0] == run && !row[2].is_empty())
                .map(|row| row[3])
                .take(10)
                .collect();
            assert_eq!(found, expected, "{query} in {run}");
            let grades = rows.iter().filter(|row| row[0] == run && !row[2].is_empty()).take(10);
            let relevant =
                grades.filter(|row| row[5].parse::<f64>().is_ok_and(|grade| grade >= 1.0)).count();
            assert_eq!(table.matches("class=\"relevant\"").count(), relevant, "{query} in {run}");
        }
        let delta = section.split("</summary>").next().unwrap().rsplit(", ").next().unwrap();
        losses.push(delta.parse::<f64>().unwrap());
    }
    assert!(losses.is_sorted() && losses[2] < 0.0, "{losses:?}");
    folder.out("build demo.qrels demo-bm25.run demo-hybrid.run -o demo.lmx");
    for command in [
        "$L compare demo.lmx -m nDCG@10 --quiet --format html",
        "$L compare demo.qrels a=demo-bm25.run b=<(cat demo-hybrid.run) -m nDCG@10 --quiet \
         --format html",
    ] {
        let ran = folder.shell(command);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(
            ran.out.contains("Every query, sorted")
                && !ran.out.contains("First documents of query")
        );
    }
}
