//! The way messages write options: as options of the command, or as keywords of Python.

use super::shape::Role;

/// The style in which messages write options: for the command line, or for Python.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OptionStyle {
    /// As options of the command: `--columns query,doc,score`.
    #[default]
    Command,
    /// As keywords of Python: `columns=["query", "doc", "score"]`.
    Python,
}

impl OptionStyle {
    /// Returns the option that gives columns by name, as messages write it: `--columns
    /// query=…,doc=…`. The option names the column `missing`, or the three that every table of a
    /// role has.
    pub fn columns_by_name(self, role: Role, missing: Option<&str>) -> String {
        let mut all = vec!["query", "doc", role.number()];
        // Few tables have these columns, so the option names such a column only where it is
        // missing.
        all.extend(
            missing.filter(|missing| ["judge", "subtopic", "start", "end"].contains(missing)),
        );
        match self {
            Self::Command => {
                let named = all.iter().map(|column| {
                    format!("{column}={}", if missing == Some(column) { "NAME" } else { "…" })
                });
                format!("--columns {}", named.collect::<Vec<_>>().join(","))
            }
            Self::Python => {
                let all = missing.map_or(all, |missing| vec![missing]);
                let named = all.iter().map(|column| format!("\"{column}\": \"NAME\""));
                format!("columns={{{}}}", named.collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// Returns the option that gives columns in their order, as messages write it: `--columns
    /// query,-,doc,score`.
    pub fn columns_in_order(self, columns: &str) -> String {
        match self {
            Self::Command => format!("--columns {columns}"),
            Self::Python => {
                let columns = columns.split(',').map(|column| match column {
                    "-" => "None".to_owned(),
                    _ => format!("\"{column}\""),
                });
                format!("columns=[{}]", columns.collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// Returns the option that gives the format of judgments or of runs, as messages write it:
    /// `--run-format tsv`.
    pub fn format(self, role: Role, format: &str) -> String {
        let name = role.pick("qrels", "run");
        match self {
            Self::Command => format!("--{name}-format {format}"),
            Self::Python => format!("{name}_format=\"{format}\""),
        }
    }

    /// Returns the option that gives a word a grade, as messages write it: `--grades E=…`.
    pub fn grades(self, word: &str) -> String {
        match self {
            Self::Command => format!("--grades {word}=…"),
            Self::Python => format!("grade_words={{\"{word}\": …}}"),
        }
    }

    /// Returns the option that names a subset of MTEB's predictions, as messages write it:
    /// `--subset`.
    pub fn subset(self) -> &'static str {
        match self {
            Self::Command => "--subset",
            Self::Python => "subset=",
        }
    }

    /// Returns the option that gives the file of LETOR query lengths, as messages write it:
    /// `--letor-groups FILE`.
    pub fn groups(self) -> &'static str {
        match self {
            Self::Command => "--letor-groups FILE",
            Self::Python => "letor_groups=FILE",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_written_for_each_front_end() {
        let written = |style: OptionStyle| {
            [
                style.columns_by_name(Role::Run, Some("doc")),
                style.columns_by_name(Role::Qrels, None),
                style.columns_in_order("query,-,score"),
                style.format(Role::Run, "msmarco"),
                style.groups().to_owned(),
                style.grades("E"),
            ]
        };
        assert_eq!(
            written(OptionStyle::Command),
            [
                "--columns query=…,doc=NAME,score=…",
                "--columns query=…,doc=…,grade=…",
                "--columns query,-,score",
                "--run-format msmarco",
                "--letor-groups FILE",
                "--grades E=…"
            ]
        );
        assert_eq!(
            written(OptionStyle::Python),
            [
                r#"columns={"doc": "NAME"}"#,
                r#"columns={"query": "NAME", "doc": "NAME", "grade": "NAME"}"#,
                r#"columns=["query", None, "score"]"#,
                "run_format=\"msmarco\"",
                "letor_groups=FILE",
                "grade_words={\"E\": …}"
            ]
        );
    }
}
