//! What is made of the program stands in the documentation: the README has the output of its first
//! command, and `docs/measures.md` the table of measures. `UPDATE_README=1 cargo test readme`
//! rewrites both.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use laneval::labels::Codebook;
use laneval::measure::{
    CutoffRule, Definition, FOREIGN, MEASURES, Status, Tool, parse_with_definitions,
};
use laneval::parts::measure::Recipe;

const END: &str = "<!-- end -->";

/// Held while a page is rewritten, for several tests rewrite parts of the same.
static REWRITING: Mutex<()> = Mutex::new(());

/// Are pages to be rewritten? Then nobody else rewrites one until the guard is dropped.
pub fn rewriting() -> Option<MutexGuard<'static, ()>> {
    std::env::var_os("UPDATE_README")?;
    Some(REWRITING.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Compares what stands in a page between a marker and its end with what should, or writes it.
fn check(page: &str, marker: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    let rewriting = rewriting();
    let text = std::fs::read_to_string(&path).unwrap();
    let marker = format!("<!-- {marker} -->\n");
    let start =
        text.find(&marker).unwrap_or_else(|| panic!("{page} has no {marker}")) + marker.len();
    let end = start + text[start..].find(END).unwrap();
    if rewriting.is_some() {
        std::fs::write(&path, format!("{}{expected}{}", &text[..start], &text[end..])).unwrap();
    } else {
        assert_eq!(&text[start..end], expected, "{page}: run `UPDATE_README=1 cargo test readme`");
    }
}

#[test]
fn readme_has_the_output_of_its_first_command() {
    check("README.md", "first command", &format!("\n```text\n{}```\n\n", first_command()));
}

#[test]
fn readme_of_measures_has_the_table() {
    let groups = [
        ("everyday", "Everyday", ""),
        ("special", "Special", "For special questions.\n\n"),
        ("historical", "Historical", "To compare with old results.\n\n"),
    ];
    let mut pages = String::from("\n");
    let mut count = 0;
    for (status, heading, why) in groups {
        let of_group = || MEASURES.iter().filter(|row| row.traits.status.name() == status);
        pages += &format!(
            "### {heading}\n\n{why}| measure | in plain words | what it is | in trec_eval | GPU \
             |\n|---|---|---|---|---|\n"
        );
        pages.extend(of_group().map(row));
        pages += "\n";
        count += of_group().count();
    }
    assert_eq!(count, MEASURES.len());
    check("docs/measures.md", "measures", &pages);
    let all = format!("{} other measures", count - 4); // nDCG, AP, RR and recall are named
    for page in ["README.md", "docs/index.md", "docs/python.md"] {
        let text =
            std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page));
        let text = text.unwrap().replace('[', "");
        assert!(text.contains(&all), "{page} does not say {all}");
    }
}

/// What the README links to is there; of the pages in `docs` their build says it.
#[test]
fn readme_links_to_what_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("README.md")).unwrap();
    let targets = text.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0));
    let paths: Vec<&str> =
        targets.filter(|target| !target.starts_with("http") && !target.starts_with('#')).collect();
    assert!(paths.len() > 10, "{paths:?}");
    let missing: Vec<_> = paths.iter().filter(|path| !root.join(path).exists()).collect();
    assert!(missing.is_empty(), "README.md links to {missing:?}");
}

/// Returns a line of the table.
fn row(row: &Definition) -> String {
    let params: Vec<&str> = row.params.iter().map(|param| param.name).collect();
    let params = if params.is_empty() { String::new() } else { format!("({})", params.join(", ")) };
    let successor = match row.traits.status {
        Status::Historical { successor } => format!(" Today: `{successor}`."),
        Status::Everyday | Status::Special => String::new(),
    };
    let names = FOREIGN.iter().filter(|foreign| foreign.measure == row.name);
    let names = names.filter_map(|foreign| match foreign.tool {
        Tool::TrecEval => Some(format!("`{}`", foreign.name)),
        Tool::TrecEval10 => Some(format!("`{}` (10)", foreign.name)),
        _ => None,
    });
    let names = names.collect::<Vec<_>>().join(", ");
    let gpu = if on_gpu(row) { "yes" } else { "no" };
    format!(
        "| `{}{params}{}` | {} | {}{successor} | {names} | {gpu} |\n",
        row.name, row.cutoff, row.plain, row.doc
    )
}

/// Can a GPU add up the plain measure?
fn on_gpu(row: &Definition) -> bool {
    let cutoff = match row.cutoff {
        CutoffRule::Recall => "@0.1",
        CutoffRule::Required | CutoffRule::Optional => "@10",
        CutoffRule::None => "",
    };
    let (_, measure) = parse_with_definitions(&format!("{}{cutoff}", row.name)).unwrap().remove(0);
    let book = Codebook::new([0.0, 1.0, 2.0]).unwrap();
    matches!((row.recipe)(&measure.unwrap(), &book), Ok(Recipe::Folds { .. }))
}

/// What the README's first command prints.
fn first_command() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(path.join("README.md")).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("cargo run --release -- ")).unwrap();
    let output = assert_cmd::cargo::cargo_bin_cmd!("laneval")
        .current_dir(&path)
        .args(line.split(' '))
        .output()
        .unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}
