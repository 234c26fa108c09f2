//! The table of options: its rows are sound, and docs/options.md is made of them
//! (`UPDATE_README=1 cargo test option_table` writes it).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use laneval::options::{OPTIONS, OptionRow, Value, options_of};

use crate::folder::Folder;
use crate::help::commands;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the options that commands have; some are of Python alone.
fn of_commands() -> impl Iterator<Item = &'static OptionRow> {
    OPTIONS.iter().filter(|row| !row.common.is_empty() || !row.others.is_empty())
}

/// Returns the commands that have an option, as the page names them.
fn owners(row: &OptionRow) -> String {
    let mut owners: Vec<&str> = row.common.iter().chain(row.others).copied().collect();
    owners.sort_unstable();
    owners.join(", ")
}

/// Returns an option as it is written: `-m`, `--measure MEASURE`.
fn spelling(row: &OptionRow) -> String {
    let short = row.short.map_or(String::new(), |short| format!("-{short}, "));
    let value = match row.value {
        Value::Flag => String::new(),
        Value::OptionalText(name) => format!(" [{name}]"),
        Value::Choice(name, _)
        | Value::Words(name, _)
        | Value::Number(name, _)
        | Value::Text(name, _)
        | Value::AnyText(name, _)
        | Value::Path(name) => format!(" {name}"),
    };
    format!("`{short}--{}{value}`", row.id)
}

/// Returns the text of the page about options.
fn page() -> String {
    let mut page = "# Options\n\nEvery option of every command, by the headings of `--help`. An \
                    option means the same in each command that has it, and Python has it under the \
                    name in the last column.\n"
        .to_owned();
    let mut in_order: Vec<&str> = Vec::new();
    for row in of_commands() {
        if !in_order.contains(&row.heading) {
            in_order.push(row.heading);
        }
    }
    for heading in in_order {
        let _ = write!(page, "\n## {heading}\n");
        for row in of_commands().filter(|row| row.heading == heading) {
            entry(&mut page, row);
        }
    }
    page
}

/// Adds an option to the page: its spelling, its meaning, its values, and who has it.
fn entry(page: &mut String, row: &OptionRow) {
    let _ = write!(page, "\n### {}\n\n{}.", spelling(row), escaped(row.first));
    if !row.more.is_empty() {
        let _ = write!(page, " {}", escaped(row.more));
    }
    page.push('\n');
    if let Value::Choice(_, choices) = row.value {
        page.push('\n');
        for (name, meaning) in choices() {
            let _ = match meaning {
                "" => writeln!(page, "- `{name}`"),
                meaning => writeln!(page, "- `{name}`: {}", escaped(meaning)),
            };
        }
    }
    let mut facts = vec![format!("Commands: {}", owners(row))];
    if !row.default.is_empty() {
        facts.push(format!("default: `{}`", row.default));
    }
    if !row.needs.is_empty() {
        facts.push(format!("needs `--{}`", row.needs.join("`, `--")));
    }
    if row.keyword.is_some() {
        facts.push(format!("Python: `{}`", row.keyword_name()));
    }
    let _ = writeln!(page, "\n{}.", facts.join("; "));
}

/// Returns a text for Markdown, where `<TAB>` would be taken for a tag.
fn escaped(text: &str) -> String {
    text.replace('<', "&lt;")
}

#[test]
fn the_page_of_options_is_that_of_the_table() {
    let path = root().join("docs/options.md");
    if std::env::var_os("UPDATE_README").is_some() {
        fs::write(&path, page()).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == page(), "run `UPDATE_README=1 cargo test option_table`");
}

#[test]
fn rows_are_sound() {
    let folder = Folder::empty();
    let commands: BTreeSet<String> = commands(&folder).into_iter().collect();
    let mut meanings: BTreeMap<&str, Vec<&OptionRow>> = BTreeMap::new();
    for row in OPTIONS {
        assert!(row.first.chars().count() <= 60, "--{}: {}", row.id, row.first);
        assert!(!row.first.is_empty() && !row.first.ends_with('.'), "--{}", row.id);
        assert!(row.more.is_empty() || row.more.ends_with(['.', ')']), "--{}", row.id);
        for command in row.common.iter().chain(row.others) {
            assert!(commands.contains(*command), "--{}: no command {command}", row.id);
        }
        for needed in row.needs {
            for command in row.common.iter().chain(row.others) {
                let has = options_of(command).any(|other| other.id == *needed);
                assert!(has, "{command} --{} needs --{needed}", row.id);
            }
        }
        meanings.entry(row.id).or_default().push(row);
    }
    for (id, rows) in meanings {
        let owners: Vec<&str> =
            rows.iter().flat_map(|row| row.common.iter().chain(row.others)).copied().collect();
        let distinct: BTreeSet<&str> = owners.iter().copied().collect();
        assert_eq!(owners.len(), distinct.len(), "a command has --{id} twice");
        let shorts: BTreeSet<Option<char>> = rows.iter().map(|row| row.short).collect();
        assert_eq!(shorts.len(), 1, "--{id} has several letters");
    }
}

/// Whether the library reads a word as the value of an option.
type Reads = fn(&str) -> bool;

#[test]
fn choices_are_those_that_the_library_reads() {
    use laneval::{Aggregation, EngineChoice, FacetKind, InputFormat, QuerySet, ScoreType, Stat};
    let reads: [(&str, Reads); 9] = [
        ("ties", |name| name.parse::<laneval::options::TieRule>().is_ok()),
        ("score-type", |name| name.parse::<ScoreType>().is_ok()),
        ("queries", |name| name.parse::<QuerySet>().is_ok()),
        ("facet", |name| name.parse::<FacetKind>().is_ok()),
        ("engine", |name| name.parse::<EngineChoice>().is_ok()),
        ("run-format", |name| name.parse::<InputFormat>().is_ok()),
        ("stat", |name| name.parse::<Stat>().is_ok()),
        ("test", |name| name.parse::<laneval::compare::Test>().is_ok()),
        ("correction", |name| name.parse::<laneval::compare::Correction>().is_ok()),
    ];
    assert!("max".parse::<Aggregation>().is_ok());
    for (id, read) in reads {
        for row in OPTIONS.iter().filter(|row| row.id == id) {
            let names: Vec<&str> = match row.value {
                Value::Choice(_, choices) => choices().iter().map(|&(name, _)| name).collect(),
                Value::Words(_, names) => names(),
                _ => panic!("--{id} has no choices"),
            };
            for name in names {
                assert!(read(name), "--{id} {name}");
            }
        }
    }
}

/// Every option is looked up somewhere, and nothing is looked up that is no option.
#[test]
fn code_asks_for_options_of_the_table() {
    let mut looked_up: BTreeSet<String> = BTreeSet::new();
    for folder in ["crates/cli/src", "src/options", "python/src"] {
        files(&root().join(folder), &mut |text| {
            for verb in [
                "flag",
                "is_given",
                "text",
                "texts",
                "path",
                "paths",
                "raw",
                "value",
                "parsed",
                "required",
                "required_path",
                "doc_id_rule",
            ] {
                for part in text.split(&format!(".{verb}")).skip(1) {
                    let part = part
                        .strip_prefix("::<")
                        .map_or(part, |rest| rest.split_once(">(").map_or(rest, |(_, rest)| rest));
                    let argument = part.trim_start_matches('(').trim_start();
                    if let Some(id) =
                        argument.strip_prefix('"').and_then(|rest| rest.split('"').next())
                    {
                        looked_up.insert(id.to_owned());
                    }
                }
            }
        });
    }
    let ids: BTreeSet<String> = of_commands().map(|row| row.id.to_owned()).collect();
    let forgotten: Vec<&String> = ids.difference(&looked_up).collect();
    // Its words are read by the profile of the library, before anything else.
    assert!(forgotten.is_empty(), "never looked up: {forgotten:?}");
}

/// Calls `read` with the text of each file of Rust in a folder.
fn files(folder: &Path, read: &mut impl FnMut(&str)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, read);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            read(&fs::read_to_string(&path).unwrap());
        }
    }
}

/// Returns the words that some option of this name takes.
fn words(id: &str) -> BTreeSet<&'static str> {
    let rows = OPTIONS.iter().filter(|row| row.id == id);
    rows.flat_map(|row| match row.value {
        Value::Choice(_, choices) => choices().iter().map(|&(name, _)| name).collect(),
        _ => Vec::new(),
    })
    .collect()
}

#[test]
fn libraries_fix_options_of_the_table() {
    for profile in laneval::measure::Profile::ALL {
        for (option, word) in profile.options {
            assert!(words(option).contains(word), "{}: --{option} {word}", profile.prefix);
        }
    }
}

/// What two results must share to be merged or compared is named by options of the table.
#[test]
fn results_agree_on_options_of_the_table() {
    use laneval::labels::{AppliedAggregation, RankingRule};
    use laneval::{Aggregation, ScoreType, TieBreak};
    let aggregation = AppliedAggregation {
        units: "before:#".to_owned(),
        repeats: Aggregation::Blank,
        rows: Some(3),
    };
    let other = RankingRule {
        ties: TieBreak::Input,
        score: ScoreType::F32,
        depth: Some(1),
        drop_identical_ids: true,
        units: Some(aggregation.into()),
        excluded: Some("7".into()),
    };
    let differences = RankingRule::default().differences(&other);
    assert_eq!(differences.len(), 8);
    for difference in differences {
        let found = OPTIONS.iter().any(|row| {
            format!("--{}", row.id) == difference.option
                || row.short.is_some_and(|short| format!("-{short}") == difference.option)
        });
        assert!(found, "no option {}", difference.option);
    }
}
