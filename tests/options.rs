//! The table of options beside its keywords in Python: `Options` of python/laneval/_options.py is
//! written from the rows (`UPDATE_README=1 cargo test options`), and what is listed there by hand
//! is in the rows.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use laneval::options::{OPTIONS, OptionRow, Value};

const BEGIN: &str =
    "    # Written from src/options/table.rs by UPDATE_README=1 cargo test options\n";
const END: &str = "    # End of what is written\n";
const WIDTH: usize = 140;

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("python/laneval/_options.py")
}

fn python() -> String {
    fs::read_to_string(path()).unwrap()
}

/// Returns what stands between two texts.
fn between<'a>(text: &'a str, begin: &str, end: &str) -> &'a str {
    let (_, behind) = text.split_once(begin).unwrap_or_else(|| panic!("there is no {begin}"));
    behind.split_once(end).unwrap_or_else(|| panic!("there is no {end}")).0
}

/// Returns the rows of the keywords in the order of the table: of several rows the first.
fn keywords() -> Vec<&'static OptionRow> {
    let mut rows: Vec<&OptionRow> = Vec::new();
    for row in OPTIONS.iter().filter(|row| row.keyword.is_some()) {
        if rows.iter().all(|other| other.id != row.id) {
            rows.push(row);
        }
    }
    rows
}

/// Returns the words that an option takes, if it takes some words only.
fn words(row: &OptionRow) -> Option<Vec<&'static str>> {
    match row.value {
        Value::Choice(_, choices) => Some(choices().iter().map(|&(word, _)| word).collect()),
        Value::Words(_, words) => Some(words()),
        _ => None,
    }
}

fn python_type(row: &OptionRow) -> String {
    match (row.keyword.map_or("", |keyword| keyword.python_type), words(row), row.value) {
        ("", Some(words), _) => format!("Literal[\"{}\"]", words.join("\", \"")),
        ("", None, Value::Flag) => "bool".to_owned(),
        ("", None, Value::Number(..)) => "int".to_owned(),
        ("", None, _) => "str".to_owned(),
        (own, ..) => own.to_owned(),
    }
}

/// Returns the documentation of a keyword: its own, or the help of the option with the names of
/// Python, and the words that the option takes.
fn docs(row: &OptionRow) -> String {
    let own = row.keyword.map_or("", |keyword| keyword.docs);
    if !own.is_empty() {
        return own.to_owned();
    }
    let mut text = format!("{}. {}", row.first, row.more).trim_end().to_owned();
    for other in keywords() {
        let name = format!("`{}`", other.keyword_name());
        text = text.replace(&format!("--{}", other.id), &name);
        if let Some(short) = other.short {
            text = text.replace(&format!(" -{short}"), &format!(" {name}"));
        }
    }
    if let Value::Choice(_, choices) = row.value {
        for (word, meaning) in choices() {
            let _ = write!(text, " `\"{word}\"`: {meaning}.");
        }
    }
    text
}

/// Returns a text as the string below a field, in lines that are not too long.
fn below(text: &str) -> String {
    let mut lines = vec!["    \"\"\"".to_owned()];
    for (at, word) in text.split(' ').enumerate() {
        let line = lines.last_mut().unwrap();
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(format!("    {word}"));
        } else {
            *line += if at == 0 { "" } else { " " };
            *line += word;
        }
    }
    let is_short = lines.len() == 1 && lines[0].chars().count() + 3 <= WIDTH;
    lines.join("\n") + if is_short { "\"\"\"\n" } else { "\n    \"\"\"\n" }
}

#[test]
fn keywords_of_python_are_those_of_the_table() {
    let mut expected = String::new();
    for row in keywords() {
        let _ = writeln!(expected, "    {}: {}", row.keyword_name(), python_type(row));
        expected += &below(&docs(row));
    }
    let text = python();
    let found = between(&text, BEGIN, END);
    if std::env::var_os("UPDATE_README").is_some() {
        fs::write(path(), text.replace(found, &expected)).unwrap();
    } else {
        assert_eq!(found, expected, "run `UPDATE_README=1 cargo test options`");
    }
}

#[test]
fn types_of_python_have_the_words_of_the_table() {
    let text = python();
    for row in keywords() {
        let Some(words) = words(row) else { continue };
        let name = python_type(row).replace("Sequence[", "").replace(']', "");
        let begin = format!("\n{name}: TypeAlias = Literal[\"");
        if name.starts_with("Literal") {
            continue;
        }
        let found: BTreeSet<&str> = between(&text, &begin, "\"]").split("\", \"").collect();
        // Python has the values of all three, and no word for all of them.
        let words = words.into_iter().filter(|word| (row.id, *word) != ("ties", "interval"));
        assert_eq!(found, words.collect::<BTreeSet<&str>>(), "{name}");
    }
}

#[test]
fn keywords_that_shape_rankings_are_refused_where_these_are_made() {
    let text = python();
    let listed = between(&text, "    made: dict[str, object] = {\n", "    }\n");
    let items = listed.split(',').filter_map(|item| item.split_once(':'));
    let found: BTreeSet<&str> = items.map(|(key, _)| key.trim().trim_matches('"')).collect();
    let shaping = keywords().into_iter().filter(|row| row.shapes_rankings);
    let names: BTreeSet<String> = shaping.map(OptionRow::keyword_name).collect();
    assert_eq!(found, names.iter().map(String::as_str).collect::<BTreeSet<&str>>());
}
