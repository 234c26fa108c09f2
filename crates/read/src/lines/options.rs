//! The way messages write options: as options of the command, or as keywords of Python.

use super::shape::Role;

/// The style of options in messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OptionStyle {
    /// As options of the command: `--columns query,doc,score`.
    #[default]
    Command,
    /// As keywords of Python: `columns=["query", "doc", "score"]`.
    Python,
}

impl OptionStyle {
    /// The option that names columns: the column `missing`, or the three that every table of a role
    /// has.
    pub fn columns_by_name(self, role: Role, missing: Option<&str>) -> String {
        let mut all = vec!["query", "doc", role.number()];
        all.extend(
            missing.filter(|missing| ["judge", "subtopic", "start", "end"].contains(missing)),
        );
        match (self, missing) {
            (OptionStyle::Command, _) => {
                let name = |column: &str| if missing == Some(column) { "NAME" } else { "…" };
                let named = all.iter().map(|column| format!("{column}={}", name(column)));
                format!("--columns {}", named.collect::<Vec<_>>().join(","))
            }
            (OptionStyle::Python, Some(missing)) => format!("columns={{\"{missing}\": \"NAME\"}}"),
            (OptionStyle::Python, None) => {
                let named = all.iter().map(|column| format!("\"{column}\": \"NAME\""));
                format!("columns={{{}}}", named.collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// The option that gives columns in their order, as `query,-,doc,score`.
    pub fn columns_in_order(self, columns: &str) -> String {
        match self {
            OptionStyle::Command => format!("--columns {columns}"),
            OptionStyle::Python => {
                let column = |column| {
                    if column == "-" { "None".to_owned() } else { format!("\"{column}\"") }
                };
                format!(
                    "columns=[{}]",
                    columns.split(',').map(column).collect::<Vec<_>>().join(", ")
                )
            }
        }
    }

    /// The option that gives the format of judgments or of runs.
    pub fn format(self, role: Role, format: &str) -> String {
        match (self, role) {
            (OptionStyle::Command, Role::Qrels) => format!("--qrels-format {format}"),
            (OptionStyle::Command, Role::Run) => format!("--run-format {format}"),
            (OptionStyle::Python, Role::Qrels) => format!("qrels_format=\"{format}\""),
            (OptionStyle::Python, Role::Run) => format!("run_format=\"{format}\""),
        }
    }

    /// The option that names a subset of MTEB's predictions.
    pub fn subset(self) -> &'static str {
        match self {
            OptionStyle::Command => "--subset",
            OptionStyle::Python => "subset=",
        }
    }

    /// The option that gives the file with the groups of LETOR judgments.
    pub fn groups(self) -> &'static str {
        match self {
            OptionStyle::Command => "--groups FILE",
            OptionStyle::Python => "query_lengths=FILE",
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
            ]
        };
        assert_eq!(
            written(OptionStyle::Command),
            [
                "--columns query=…,doc=NAME,score=…",
                "--columns query=…,doc=…,grade=…",
                "--columns query,-,score",
                "--run-format msmarco",
                "--groups FILE"
            ]
        );
        assert_eq!(
            written(OptionStyle::Python),
            [
                "columns={\"doc\": \"NAME\"}",
                "columns={\"query\": \"NAME\", \"doc\": \"NAME\", \"grade\": \"NAME\"}",
                "columns=[\"query\", None, \"score\"]",
                "run_format=\"msmarco\"",
                "query_lengths=FILE"
            ]
        );
    }
}
