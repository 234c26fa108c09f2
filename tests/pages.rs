//! Pages are well-formed, load nothing, run nothing, escape every name, and do not grow with
//! queries.
//!
//! If the variable LANEVAL_PAGES is set, the pages of the bundled sample are kept in that folder,
//! for inspection.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use laneval::compare::{Comparison, ComparisonOptions, Gate, Permutations, RunGateVerdict};
use laneval::labels::Ids;
use laneval::report::blocks::{self, ReportBlock};
use laneval::report::html::{self, PageContext, ReadFile, TopDocument, TopDocuments, lost_queries};
use laneval::report::{Align, Grid};
use laneval::scores::PerQuery;
use laneval::{Evaluator, Join, LabelMatrix, RunScores, Scores, StatName};
use roxmltree::{Document, ParsingOptions};

use crate::cases::{by_default, some};

const LIMIT: usize = 300_000;

/// Returns a page as a tree: it parses as XML only if it is well-formed.
fn tree(page: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(page, options).expect("a page is well-formed")
}

fn page_of(comparison: &Comparison, context: &PageContext) -> String {
    let mut page = Vec::new();
    html::comparison(comparison, context, &mut page).unwrap();
    String::from_utf8(page).unwrap()
}

fn page_of_scores(scores: &Scores, context: &PageContext) -> String {
    let mut page = Vec::new();
    html::scores(scores, context, &mut page).unwrap();
    String::from_utf8(page).unwrap()
}

fn curve_of(scores: &Scores, measure: &str) -> String {
    let mut chart = Vec::new();
    html::curve(scores, measure, &mut chart).unwrap();
    String::from_utf8(chart).unwrap()
}

/// Keeps a page if LANEVAL_PAGES is set.
fn keep(name: &str, page: &str) {
    if let Some(folder) = std::env::var_os("LANEVAL_PAGES") {
        std::fs::write(std::path::Path::new(&folder).join(name), page).unwrap();
    }
}

/// Returns a pseudo-random number between 0 and 1.
fn noise(seed: u64) -> f64 {
    let mixed = (seed ^ (seed >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f64 / (1u64 << 24) as f64
}

/// Scores of runs by name whose values are noise, under some measures.
fn noisy(
    names: &[&str],
    measures: &[&str],
    ids: impl Fn(usize) -> String,
    queries: usize,
) -> Scores {
    let mut all: Vec<String> = (0..queries).map(ids).collect();
    all.sort();
    let ids: Ids = all.iter().map(String::as_bytes).collect();
    let run = |(at, name): (usize, &&str)| {
        let value = |measure: usize, query: usize| {
            let base = noise(query as u64 + 1);
            let own = noise((query * 97 + at * 31 + measure * 7) as u64 + 1_000_003);
            (0.6 * base + 0.3 * own + 0.02 * at as f64).clamp(0.0, 1.0)
        };
        let values: Vec<Vec<f64>> = (0..measures.len())
            .map(|measure| (0..queries).map(|query| value(measure, query)).collect())
            .collect();
        let mut run = RunScores::default();
        run.name = (*name).to_owned();
        run.queries = queries;
        run.stats = values
            .iter()
            .map(|column| vec![(StatName::Mean, column.iter().sum::<f64>() / queries as f64)])
            .collect();
        run.per_query = Some(PerQuery { queries: ids.clone(), values, missing: Vec::new() });
        run
    };
    let mut scores = Scores::default();
    scores.measures = measures.iter().map(|measure| measure.parse().unwrap()).collect();
    scores.runs = names.iter().enumerate().map(run).collect();
    scores
}

/// Options under which few signs are drawn.
fn quick() -> ComparisonOptions {
    let mut options = ComparisonOptions::default();
    options.permutations = Permutations::Fixed(99);
    options
}

fn sample() -> LabelMatrix {
    let runs = ["bm25", "dense", "hybrid"].map(|name| format!("examples/data/demo-{name}.run"));
    Join::default().files("examples/data/demo.qrels", runs).unwrap()
}

fn sample_curves(matrix: &LabelMatrix) -> Scores {
    let levels: Vec<String> =
        (0..=10).map(|level| format!("IPrec@{}", f64::from(level) / 10.0)).collect();
    let measures = levels.iter().map(String::as_str).chain(["nDCG@1..50"]);
    Evaluator::new(measures).unwrap().evaluate(matrix).unwrap()
}

/// Returns the page of the bundled sample, with every element that a page can have.
fn full_page() -> String {
    let matrix = sample();
    let evaluator = Evaluator::new(["nDCG@10", "P@10", "AP"]).unwrap().with_per_query(true);
    let mut options = ComparisonOptions::default();
    (options.margin, options.power) = (Some(0.05), Some(0.05));
    let mut comparison = Comparison::new(&evaluator.evaluate(&matrix).unwrap(), &options).unwrap();
    comparison.set_judged_share(
        &Evaluator::new(["Judged@10", "Judged"]).unwrap().evaluate(&matrix).unwrap(),
    );
    let gates: Vec<(Gate, Vec<RunGateVerdict>)> = ["nDCG@10 < 0.7", "P@10 drops > 0.005 p<0.05"]
        .into_iter()
        .map(|text| {
            let gate = Gate::parse(text).unwrap();
            let judged = comparison.gate_verdicts(&gate).unwrap();
            (gate, judged)
        })
        .collect();
    let curves = sample_curves(&matrix);
    let source = |kind: &str, name: &str| ReadFile {
        kind: kind.to_owned(),
        name: name.to_owned(),
        fingerprint: Some("9f86d081884c7d659a2feaa0c55ad015".to_owned()),
    };
    let inputs = [
        source("judgments", "examples/data/demo.qrels"),
        source("run", "examples/data/demo-bm25.run"),
    ];
    let mut context = PageContext::new("Which of three systems?");
    context.command = Some(
        "laneval compare demo.qrels demo-bm25.run demo-dense.run demo-hybrid.run -m 'nDCG@10 P@10 \
         AP' -o report.html",
    );
    context.inputs = &inputs;
    context.ranking_rule = Some("scores as f32, equal ones by descending document id");
    context.curves = Some(&curves);
    context.gates = &gates;
    page_of(&comparison, &context)
}

fn texts(document: &Document) -> Vec<String> {
    document
        .descendants()
        .filter(|node| node.is_text())
        .filter_map(|node| node.text().map(str::to_owned))
        .collect()
}

/// Checks that the page names nothing but itself, and that nothing in it runs.
fn assert_self_contained(page: &str) {
    let document = tree(page);
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        let name = node.tag_name().name();
        let runs = [
            "script",
            "iframe",
            "object",
            "embed",
            "img",
            "image",
            "use",
            "base",
            "form",
            "foreignObject",
        ];
        assert!(!runs.contains(&name), "<{name}>");
        for attribute in node.attributes() {
            let (attribute_name, value) = (attribute.name(), attribute.value());
            assert!(!attribute_name.starts_with("on"), "{attribute_name}");
            let is_link = matches!(attribute_name, "href" | "src" | "action" | "srcset" | "style");
            assert!(
                !is_link || value.starts_with('#') || value == "data:,",
                "{attribute_name}={value}"
            );
        }
    }
    for style in document.descendants().filter(|node| node.has_tag_name_local("style")) {
        let style = style.text().unwrap();
        // Browsers take a style as it is written, so what is escaped in it is no longer a style.
        assert!(!style.contains(['<', '>', '&', '"', '\'']), "{style}");
        for reference in ["url(", "@import", "http:", "https:", "//"] {
            assert!(!style.contains(reference), "{reference} in the style");
        }
    }
    let without = page
        .replace("\"http://www.w3.org/1999/xhtml\"", "")
        .replace("\"http://www.w3.org/2000/svg\"", "");
    assert!(!without.contains("://"), "a page names no other place");
}

trait Named {
    fn has_tag_name_local(&self, name: &str) -> bool;
}

impl Named for roxmltree::Node<'_, '_> {
    fn has_tag_name_local(&self, name: &str) -> bool {
        self.is_element() && self.tag_name().name() == name
    }
}

#[test]
fn the_sample_has_all_parts_in_order() {
    let page = full_page();
    keep("sample.html", &page);
    assert_self_contained(&page);
    assert!(page.len() < LIMIT, "{} bytes", page.len());
    let document = tree(&page);
    let sections: Vec<&str> = document
        .descendants()
        .filter(|node| node.has_tag_name_local("section"))
        .filter_map(|node| node.attribute("id"))
        .collect();
    assert_eq!(
        sections,
        ["means", "differences", "queries", "curves", "adjusted", "gates", "settings", "glossary"]
    );
    let texts = texts(&document);
    let place = |text: &str| {
        texts
            .iter()
            .position(|node_text| node_text.contains(text))
            .unwrap_or_else(|| panic!("{text} is not in the page"))
    };
    let sentence = place(
        "is better than demo-bm25.run on nDCG@10: 0.7351 against 0.5703, +0.1648 (+28.9\u{a0}%)",
    );
    let mean = texts.iter().position(|text| text == "0.7351").expect("the mean is in a table");
    assert!(sentence < mean, "sentences come first");
    place("✗ failed");
    place("0.0002");
    place("examples/data/demo.qrels");
    place("-o report.html");
    // Three measures in means and differences; of three pairs bars, histogram, scatter; two curves.
    let charts = document.descendants().filter(|node| node.has_tag_name_local("svg")).count();
    assert_eq!(charts, 3 + 3 + 3 * 3 + 2);
    let bars = document
        .descendants()
        .filter(|node| {
            node.has_tag_name_local("rect")
                && node.children().any(|child| child.has_tag_name_local("title"))
        })
        .count();
    assert!(bars > 3 * 40, "every query has a bar that says which it is: {bars}");
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    assert_eq!(full_page(), full_page());
}

#[test]
fn no_number_is_missing_in_the_marks() {
    for page in
        [full_page(), page_of_scores(&sample_curves(&sample()), &PageContext::new("curves"))]
    {
        for attribute in tree(&page).descendants().flat_map(|node| node.attributes()) {
            let numbers =
                ["x", "y", "d", "cx", "cy", "r", "width", "height", "x1", "x2", "y1", "y2"];
            if numbers.contains(&attribute.name()) {
                let value = attribute.value();
                assert!(
                    !value.contains("NaN") && !value.contains("inf"),
                    "{}={value}",
                    attribute.name()
                );
            }
        }
    }
}

#[test]
fn names_cannot_become_markup() {
    let hostile = [
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "]]></style></svg><b>&lt;'\u{1}\u{202e}",
    ];
    let id = |query: usize| format!("</title><script>{query}</script>\"'&\u{0}");
    let scores = noisy(&hostile, &["nDCG@10", "AP"], id, 12);
    let comparison = Comparison::new(&scores, &quick()).unwrap();
    let settings = [("<i>".to_owned(), "</dd><script>".to_owned())];
    let inputs = [ReadFile {
        kind: "<run>".into(),
        name: "<a href=x>".into(),
        fingerprint: Some("<u>".into()),
    }];
    let mut context = PageContext::new("</title><script>alert('title')</script>");
    context.command = Some("laneval </pre><script>");
    context.ranking_rule = Some("<marquee>");
    context.settings = &settings;
    context.inputs = &inputs;
    context.version = "<blink>";
    context.curves = Some(&scores);
    let allowed = [
        "html",
        "head",
        "meta",
        "link",
        "title",
        "style",
        "body",
        "main",
        "h1",
        "h2",
        "h3",
        "p",
        "ul",
        "li",
        "nav",
        "a",
        "section",
        "div",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "small",
        "strong",
        "bdi",
        "details",
        "summary",
        "desc",
        "span",
        "sup",
        "figure",
        "figcaption",
        "svg",
        "g",
        "rect",
        "line",
        "text",
        "path",
        "circle",
        "dl",
        "dt",
        "dd",
        "pre",
        "code",
        "footer",
    ];
    for page in [page_of(&comparison, &context), page_of_scores(&scores, &context)] {
        assert_self_contained(&page);
        let document = tree(&page);
        for node in document.descendants().filter(roxmltree::Node::is_element) {
            assert!(allowed.contains(&node.tag_name().name()), "<{}>", node.tag_name().name());
        }
        // The names are there, as text.
        let texts = texts(&document);
        for name in ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<marquee>"] {
            assert!(texts.iter().any(|text| text.contains(name)), "{name} is shown");
        }
        assert!(!page.contains('\u{202e}') && !page.contains('\u{1}') && !page.contains('\0'));
    }
    let curves = noisy(&hostile, &["P@1", "P@2", "P@5"], id, 3);
    let chart = curve_of(&curves, "P");
    assert_self_contained(&chart);
    assert!(!chart.contains("<script") && chart.contains("&lt;script"));
}

#[test]
fn a_page_does_not_grow_with_queries() {
    let (names, measures) = (["one", "two", "three", "four"], ["nDCG@10", "AP"]);
    let size = |queries: usize| {
        let scores = noisy(&names, &measures, |query| format!("{query:07}"), queries);
        let page = page_of(&Comparison::new(&scores, &quick()).unwrap(), &PageContext::new("many"));
        assert!(page.len() < LIMIT, "{queries} queries: {} bytes", page.len());
        tree(&page);
        (page.len(), page_of_scores(&scores, &PageContext::new("many")).len(), page)
    };
    // The number of marks is just the limit.
    let names_all = size(83).0;
    assert!(names_all > size(84).0, "beyond some hundred queries marks have no names");
    size(1000);
    let (few, many) = by_default((4_000, 30_000), (20_000, 200_000));
    let (few, many) = (size(few), size(many));
    keep("many.html", &many.2);
    assert!(many.0 < few.0 + few.0 / 10, "{} and {} bytes", few.0, many.0);
    assert!(many.1 < few.1 + few.1 / 10, "{} and {} bytes", few.1, many.1);
}

#[test]
fn a_page_has_a_bound_for_many_runs_and_measures() {
    let names: Vec<String> = (0..120).map(|run| format!("system-{run:03}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let measures: Vec<String> = (1..=30).map(|k| format!("nDCG@{k}")).collect();
    let measures: Vec<&str> = measures.iter().map(String::as_str).collect();
    let scores = noisy(&names, &measures, |query| format!("q{query}"), by_default(10, 30));
    let options = quick();
    let mut against = quick();
    against.baseline = Some("system-000".to_owned());
    for options in some([options, against].into_iter()) {
        let comparison = Comparison::new(&scores, &options).unwrap();
        let mut context = PageContext::new("many");
        context.curves = Some(&scores);
        let page = page_of(&comparison, &context);
        keep(if comparison.baseline.is_some() { "baseline.html" } else { "runs.html" }, &page);
        assert!(page.len() < LIMIT, "{} bytes", page.len());
        let document = tree(&page);
        assert!(
            texts(&document)
                .iter()
                .any(|text| text.contains("6 of ") && text.contains("pairs are shown"))
        );
        assert!(texts(&document).iter().any(|text| text.contains("of 120 runs are shown")));
    }
    assert!(page_of_scores(&scores, &PageContext::new("many")).len() < LIMIT);
}

#[test]
fn small_and_equal_data_have_pages() {
    let equal = |queries: usize| {
        let mut scores =
            noisy(&["a", "b"], &["AP", "gm_map"], |query| format!("q{query}"), queries);
        let of_first = scores.runs[0].per_query.clone();
        scores.runs[1].per_query = of_first;
        scores
    };
    for queries in [1, 2, 30] {
        let page = page_of(
            &Comparison::new(&equal(queries), &quick()).unwrap(),
            &PageContext::new("equal"),
        );
        tree(&page);
        assert!(!page.contains("NaN"), "{queries} queries");
    }
    let one = noisy(&["a", "b"], &["gm_map"], |query| format!("q{query}"), 1);
    let page = page_of(&Comparison::new(&one, &quick()).unwrap(), &PageContext::new("one"));
    assert!(
        tree(&page).descendants().any(|node| node.has_tag_name_local("svg"))
            && !page.contains("NaN")
    );
}

#[test]
fn scores_have_pages() {
    let matrix = sample();
    let measures = ["nDCG@10", "AP", "P@1..20", "NumRelRet"];
    let scores = Evaluator::new(measures).unwrap().with_per_query(true).evaluate(&matrix).unwrap();
    let page = page_of_scores(&scores, &PageContext::new("Three runs"));
    keep("scores.html", &page);
    assert_self_contained(&page);
    let document = tree(&page);
    assert!(texts(&document).iter().any(|text| text.contains("0.7351*")), "the best is marked");
    assert!(texts(&document).iter().any(|text| text.contains("not necessarily better")));
    let mut one = scores.clone();
    one.runs.truncate(1);
    let page = page_of_scores(&one, &PageContext::new("One run"));
    keep("one.html", &page);
    assert_self_contained(&page);
    let bare = Evaluator::new(["AP"]).unwrap().evaluate(&matrix).unwrap();
    tree(&page_of_scores(&bare, &PageContext::new("Means alone")));
    tree(&page_of_scores(&Scores::default(), &PageContext::new("Nothing")));
}

#[test]
fn a_curve_is_a_file_of_its_own() {
    let scores = sample_curves(&sample());
    assert_eq!(html::curves(&scores.measures), ["IPrec", "nDCG"]);
    for measure in ["IPrec", "nDCG"] {
        let chart = curve_of(&scores, measure);
        keep(&format!("{measure}.svg"), &chart);
        assert_self_contained(&chart);
        let document = tree(&chart);
        assert_eq!(document.root_element().tag_name().name(), "svg");
        assert!(!chart.contains("var("), "programs other than browsers know no variables");
        let lines = document.descendants().filter(|node| {
            node.has_tag_name_local("path")
                && node.attribute("class").is_some_and(|class| class.starts_with("line"))
        });
        assert_eq!(lines.count(), 3);
    }
    let mut nothing = String::new();
    let error = html::curve(&scores, "AP", &mut Vec::new()).unwrap_err();
    write!(nothing, "{error}").unwrap();
    assert!(nothing.contains("AP"), "{nothing}");
}

/// Runs by name whose means fall with their places; the values of all runs move together, so that
/// differences are sure.
fn ranked(count: usize, measures: &[&str], queries: usize) -> Scores {
    let names: Vec<String> = (0..count).map(|run| format!("system-{run:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    noisy(&names, measures, |query| format!("q{query:04}"), queries)
}

/// Returns the text of an element with everything in it.
fn whole_text(node: roxmltree::Node) -> String {
    node.descendants()
        .filter_map(|descendant| descendant.is_text().then(|| descendant.text()).flatten())
        .collect()
}

fn of_class<'a>(document: &'a Document, class: &str) -> Vec<roxmltree::Node<'a, 'a>> {
    let has = |node: &roxmltree::Node| {
        node.attribute("class").is_some_and(|classes| classes.split(' ').any(|one| one == class))
    };
    document.descendants().filter(has).collect()
}

/// Returns the rows of the first table of a section: the name and the cells of each.
fn rows_of<'a>(document: &'a Document, section: &str) -> Vec<roxmltree::Node<'a, 'a>> {
    let section =
        document.descendants().find(|node| node.attribute("id") == Some(section)).unwrap();
    let table = section.descendants().find(|node| node.has_tag_name_local("tbody")).unwrap();
    table.children().filter(|node| node.has_tag_name_local("tr")).collect()
}

#[test]
fn the_verdict_comes_first_and_gates_say_numbers() {
    let page = full_page();
    let document = tree(&page);
    let comparison = {
        let evaluator = Evaluator::new(["nDCG@10", "P@10", "AP"]).unwrap().with_per_query(true);
        Comparison::new(&evaluator.evaluate(&sample()).unwrap(), &ComparisonOptions::default())
            .unwrap()
    };
    let [verdict] = of_class(&document, "verdict")[..] else { panic!("one verdict") };
    let plain = |text: String| text.replace('\u{a0}', " ");
    assert_eq!(
        comparison.verdict()[0].split(" (").next().unwrap(),
        plain(verdict.text().unwrap().to_owned())
    );
    let [banner] = of_class(&document, "alarm")[..] else { panic!("one banner") };
    let text = plain(whole_text(banner));
    for part in [
        "✗ 1 of 4 gates failed",
        "nDCG@10 of demo-dense.run is 0.6399",
        "; allowed: 0.7 or more",
        "✓ P@10 of",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    assert!(verdict.range().start < banner.range().start);
    // 26 queries of 40 and p = 0.0002 in words.
    let meaning = plain(whole_text(of_class(&document, "meaning")[0]));
    assert!(meaning.contains(" of 40 queries") && meaning.contains("by chance"), "{meaning}");
}

/// From six runs on the best comes first, is told against the next, and the runs that are not shown
/// to be worse are marked.
#[test]
fn many_runs_are_sorted() {
    let scores = ranked(9, &["nDCG@10", "AP"], 60);
    let comparison = Comparison::new(&scores, &quick()).unwrap();
    let page = page_of(&comparison, &PageContext::new("nine"));
    let document = tree(&page);
    let order = comparison.ranked(0);
    let names: Vec<String> = order.iter().map(|&run| comparison.runs[run].name.clone()).collect();
    assert_ne!(order, (0..9).collect::<Vec<usize>>(), "the input is in another order");
    let rows = rows_of(&document, "means");
    let shown: Vec<String> =
        rows.iter().map(|row| whole_text(row.first_element_child().unwrap())).collect();
    for (place, (row, name)) in shown.iter().zip(&names).enumerate() {
        assert_eq!(row, &format!("{} {name}", place + 1));
    }
    let top = rows.iter().filter(|row| row.attribute("class") == Some("top")).count();
    assert_eq!(top, comparison.best_group(0).len());
    assert!((1..9).contains(&top), "{top} are in the top group");
    // The best against each other one, whichever was given first: all differences are gains, with
    // the runs in their order.
    let pairs: Vec<String> = rows_of(&document, "differences")
        .iter()
        .skip(1)
        .take(8)
        .map(|row| whole_text(row.first_element_child().unwrap()))
        .collect();
    let expected: Vec<String> =
        names[1..].iter().map(|other| format!("{}against {other}", names[0])).collect();
    assert_eq!(pairs, expected);
    for row in rows_of(&document, "differences").iter().skip(1).take(8) {
        let cells: Vec<String> = row.children().map(whole_text).collect();
        let (one, other) = cells[0].split_once("against ").unwrap();
        let mean =
            |name: &str| comparison.runs.iter().find(|run| run.name == name).unwrap().means[0];
        let delta = mean(one) - mean(other);
        assert!(delta > 0.0);
        assert_eq!(cells[1], format!("+{delta:.4}"));
        assert_eq!(
            cells[2].replace('\u{a0}', " "),
            format!("+{:.1} %", 100.0 * delta / mean(other))
        );
        let (low, high) = cells[3].split_once(" to ").unwrap();
        let [low, high] = [low, high].map(|end| end.parse::<f64>().unwrap());
        assert!((0.5 * (low + high) - delta).abs() < 1e-4, "{cells:?}");
        // Won, tied and lost are those of the first of the two.
        let values = |name: &str| {
            let at = comparison.runs.iter().position(|run| run.name == name).unwrap();
            comparison.values(0, at)
        };
        let won = values(one).iter().zip(values(other)).filter(|(one, other)| one > other).count();
        assert!(cells[7].starts_with(&format!("{won}/")), "{cells:?}");
    }
    // With a direction in the question nothing changes its sign.
    let mut directed = quick();
    directed.alternative = laneval::compare::Alternative::Better;
    let directed = Comparison::new(&scores, &directed).unwrap();
    let page = page_of(&directed, &PageContext::new("nine"));
    let document = tree(&page);
    for row in rows_of(&document, "differences").iter().skip(1).take(8) {
        let cells: Vec<String> = row.children().map(whole_text).collect();
        let (one, other) = cells[0].split_once("against ").unwrap();
        assert!(one > other, "{cells:?}");
    }
}

#[test]
fn queries_have_their_texts_and_losses_their_documents() {
    let scores = noisy(&["old", "new"], &["nDCG@10"], |query| format!("q{query}"), 30);
    let comparison = Comparison::new(&scores, &quick()).unwrap();
    let lost = lost_queries(&comparison).unwrap();
    let ids: Vec<&[u8]> = comparison.query_ids().collect();
    let losses: Vec<f64> = lost
        .queries
        .iter()
        .map(|&query| {
            comparison.values(0, lost.runs[0])[query] - comparison.values(0, lost.runs[1])[query]
        })
        .collect();
    assert!(losses.len() == 3 && losses.is_sorted() && losses[2] < 0.0, "{losses:?}");
    let titles: HashMap<Vec<u8>, String> = ids
        .iter()
        .map(|id| (id.to_vec(), format!("flights to <{}>", String::from_utf8_lossy(id))))
        .collect();
    let document = |rank: u32, id: &str, is_relevant: bool| TopDocument {
        rank,
        id: id.to_owned(),
        grade: if is_relevant { "2" } else { "–" }.to_owned(),
        is_relevant,
        score: "1.5000".to_owned(),
    };
    let documents: Vec<TopDocuments> = lost
        .runs
        .iter()
        .map(|&run| TopDocuments {
            query: ids[lost.queries[0]].to_vec(),
            run: comparison.runs[run].name.clone(),
            documents: vec![document(1, "<doc>", true), document(2, "other", false)],
        })
        .collect();
    let mut context = PageContext::new("texts");
    (context.titles, context.documents) = (&titles, &documents);
    let page = page_of(&comparison, &context);
    assert_self_contained(&page);
    let document = tree(&page);
    let id = String::from_utf8_lossy(ids[lost.queries[0]]).into_owned();
    let text = format!("{id}: flights to <{id}>");
    assert!(texts(&document).iter().any(|title| title.starts_with(&text)), "marks name the text");
    let cells: Vec<String> = document
        .descendants()
        .filter(|node| node.has_tag_name_local("th"))
        .map(whole_text)
        .collect();
    assert!(cells.contains(&text), "tables have the text beside the id");
    let summaries: Vec<String> = document
        .descendants()
        .filter(|node| node.has_tag_name_local("summary"))
        .map(whole_text)
        .collect();
    let of_documents: Vec<&String> =
        summaries.iter().filter(|summary| summary.starts_with("First documents")).collect();
    assert_eq!(of_documents.len(), 1, "{summaries:?}");
    assert!(of_documents[0].contains(&text), "{of_documents:?}");
    assert_eq!(cells.iter().filter(|cell| *cell == "<doc>").count(), 2, "both runs");
    assert_eq!(of_class(&document, "relevant").len(), 2);
}

/// Pairs are folded but for the first one, and nothing needs a script.
#[test]
fn pairs_are_folded() {
    let page = full_page();
    let document = tree(&page);
    let pairs: Vec<roxmltree::Node> = document
        .descendants()
        .filter(|node| node.has_tag_name_local("details"))
        .filter(|node| {
            node.children().any(|inside| {
                inside.descendants().any(|descendant| descendant.has_tag_name_local("h3"))
            })
        })
        .collect();
    assert_eq!(
        pairs.iter().map(|pair| pair.attribute("open")).collect::<Vec<_>>(),
        [Some("open"), None, None]
    );
}

/// The words of a chart for people who do not see it have its values, and their ids are unique.
#[test]
fn charts_say_their_values() {
    for page in [
        full_page(),
        page_of_scores(
            &noisy(&["a", "b"], &["AP", "P@5"], |query| query.to_string(), 9),
            &PageContext::new("of"),
        ),
    ] {
        let document = tree(&page);
        let mut ids = HashSet::new();
        for id in document.descendants().filter_map(|node| node.attribute("id")) {
            assert!(ids.insert(id), "{id} is the id of two elements");
        }
        let charts: Vec<roxmltree::Node> =
            document.descendants().filter(|node| node.has_tag_name_local("svg")).collect();
        for chart in &charts {
            assert_eq!(chart.attribute("role"), Some("img"));
            let by: Vec<&str> = chart.attribute("aria-labelledby").unwrap().split(' ').collect();
            let labels: Vec<String> = chart
                .children()
                .filter(|node| node.attribute("id").is_some_and(|id| by.contains(&id)))
                .map(whole_text)
                .collect();
            assert!(by.len() == 2 && labels.len() == 2 && !labels[0].is_empty(), "{by:?}");
            assert!(labels[1].chars().any(|c| c.is_ascii_digit()), "{labels:?}");
            assert!(labels[1].len() < 4_000, "{} bytes", labels[1].len());
        }
    }
    let page = full_page();
    for value in
        ["demo-hybrid.run: 0.7351, 95 % interval", "26 won, 2 tied, 12 lost; mean +0.1648; from"]
    {
        assert!(page.contains(value), "{value}");
    }
}

/// Axes of bounded measures end at the bounds, and whiskers do not leave them.
#[test]
fn axes_end_at_the_bounds_of_measures() {
    let mut scores = noisy(&["a", "b"], &["RR"], |query| format!("q{query}"), 6);
    for (run, values) in
        [[1.0, 1.0, 1.0, 1.0, 0.5, 1.0], [1.0, 0.25, 1.0, 1.0, 1.0, 1.0]].iter().enumerate()
    {
        scores.runs[run].stats = vec![vec![(StatName::Mean, values.iter().sum::<f64>() / 6.0)]];
        scores.runs[run].per_query.as_mut().unwrap().values = vec![values.to_vec()];
    }
    let comparison = Comparison::new(&scores, &quick()).unwrap();
    for page in [
        page_of(&comparison, &PageContext::new("bounds")),
        page_of_scores(&scores, &PageContext::new("bounds")),
    ] {
        let document = tree(&page);
        let means =
            document.descendants().find(|node| node.attribute("id") == Some("means")).unwrap();
        let ticks: Vec<f64> = of_class(&document, "tick")
            .iter()
            .filter(|tick| tick.ancestors().any(|ancestor| ancestor == means))
            .filter_map(|tick| tick.text()?.parse().ok())
            .collect();
        assert_eq!(ticks.iter().copied().fold(0.0, f64::max), 1.0, "{ticks:?}");
        // The interval of 0.9167 reaches above 1: its line ends at the axis, with a bar at its
        // lower end alone.
        let lines: Vec<&str> = means
            .descendants()
            .filter(|node| node.attribute("class") == Some("line"))
            .filter_map(|node| node.attribute("d"))
            .collect();
        assert_eq!(lines.len(), 2);
        for line in lines {
            assert_eq!(line.matches("v7").count(), 1, "{line}");
            let end: f64 =
                line.split('H').nth(1).unwrap().split('M').next().unwrap().parse().unwrap();
            assert_eq!(end, 344.0, "the place of 1");
        }
        assert!(page.contains("0.7025 to 1.1309"), "numbers are not clipped");
    }
}

#[test]
fn sixty_runs_are_a_small_page() {
    let scores = ranked(60, &["nDCG@10", "AP", "RR", "P@10", "R@100"], 5000);
    let comparison = Comparison::new(&scores, &quick()).unwrap();
    let mut context = PageContext::new("sixty");
    context.curves = Some(&scores);
    let start = std::time::Instant::now();
    let page = page_of(&comparison, &context);
    keep("sixty.html", &page);
    println!("{} bytes in {:?}", page.len(), start.elapsed());
    assert!(page.len() < 400_000, "{} bytes", page.len());
    assert!(page_of_scores(&scores, &context).len() < 400_000);
}

#[test]
fn the_glossary_explains_the_measures_of_the_page() {
    let page = full_page();
    let document = tree(&page);
    let glossary =
        document.descendants().find(|node| node.attribute("id") == Some("glossary")).unwrap();
    let words: Vec<String> = glossary
        .descendants()
        .filter(|node| node.has_tag_name_local("dt"))
        .map(whole_text)
        .collect();
    for word in
        ["judgments", "nDCG", "P", "AP", "IPrec", "interval", "p", "adjusted p", "tie", "top group"]
    {
        assert_eq!(words.iter().filter(|other| *other == word).count(), 1, "{word} in {words:?}");
    }
}

#[test]
fn reports_of_blocks_have_headings_in_order_and_nothing_in_them_is_markup() {
    let name = "</p><script>alert(1)</script> *a_b*| #";
    let text = || name.to_owned();
    let mut grid =
        Grid::new([(text(), Align::Right), (text(), Align::Left), (text(), Align::Right)]);
    grid.push([name, "one", "2"].map(Into::into));
    let report = [
        ReportBlock::Section(text()),
        ReportBlock::Heading(text()),
        ReportBlock::Text(text()),
        ReportBlock::Table(grid),
        ReportBlock::Note(text()),
    ];
    let mut page = Vec::new();
    html::blocks(&report, &PageContext::new(name), &mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    assert_self_contained(&page);
    let document = tree(&page);
    let found =
        |element: &str| document.descendants().filter(|node| node.has_tag_name(element)).count();
    assert_eq!(["h1", "h2", "h3", "table", "script"].map(found), [1, 2, 1, 1, 0]);
    assert_eq!(
        texts(&document).iter().filter(|text| *text == name).count(),
        10,
        "also the title of the document"
    );
    let headings = document.descendants().filter(|node| node.has_tag_name("th"));
    let scopes: Vec<_> = headings.map(|heading| heading.attribute("scope").unwrap()).collect();
    assert_eq!(scopes, ["col", "col", "col", "row"]);
    assert!(
        page.contains("<table class=\"w2\">"),
        "words end with the last column that is flush left"
    );

    let mut markdown = Vec::new();
    blocks::markdown(&report, &mut markdown).unwrap();
    let escaped = r"&lt;/p&gt;&lt;script&gt;alert(1)&lt;/script&gt; \*a\_b\*\|";
    let expected = format!(
        "## {escaped} \\#\n\n### {escaped} \\#\n\n{escaped} #\n
| {escaped} # | {escaped} # | {escaped} # |\n| ---: | --- | ---: |\n| {escaped} # | one | 2 |\n
<sub>{escaped} #</sub>\n"
    );
    assert_eq!(String::from_utf8(markdown).unwrap(), expected);
}
