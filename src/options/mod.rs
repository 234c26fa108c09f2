//! The table of options: a row each, for the command, for Python and for their documentation.
//!
//! An option has one name and one meaning wherever it is. The row says which commands have the
//! option, what its values are, and what its help says; `id` is its name on the command line
//! (`--relevant-from`) and, with `_` for `-`, its keyword in Python and its key in JSON. From the
//! table come the arguments, help, manual pages and completions of the command, the keywords of
//! Python, and docs/options.md. What was asked for is a [`Given`], in which code looks up options
//! by their ids: an option is a row here, and the code that acts on it.

mod given;
mod settings;
mod table;
mod values;

pub use given::Given;
pub use settings::TieRule;
pub use table::OPTIONS;
pub use values::{grade, permutations, random_seed, run_order, value_bound};

/// An option of the command, and of Python if it has a keyword there.
#[derive(Debug, Clone, Copy)]
pub struct OptionRow {
    /// The name: `--id` on the command line.
    pub id: &'static str,
    /// The letter of the short form.
    pub short: Option<char>,
    /// Other names that are accepted too.
    pub aliases: &'static [&'static str],
    /// Names that it had or might have, which are refused with a tip.
    pub former: &'static [&'static str],
    /// The values that the option takes.
    pub value: Value,
    /// Whether help leaves the values out, because another option lists them.
    pub hides_values: bool,
    /// The value without the option; empty if there is none.
    pub default: &'static str,
    /// Whether the option may be given several times; else it is an error.
    pub is_repeatable: bool,
    /// The first line of its help: at most 60 characters.
    pub first: &'static str,
    /// Whether the command refuses to go on without it.
    pub is_required: bool,
    /// The paragraph of its help, which only `--help` and the documentation have.
    pub more: &'static str,
    /// The heading of its help.
    pub heading: &'static str,
    /// The commands that have the option, and show it in `-h`.
    pub common: &'static [&'static str],
    /// The other commands that have the option.
    pub others: &'static [&'static str],
    /// The options that exclude this one.
    pub excludes: &'static [&'static str],
    /// The options without which this one means nothing, as the commands have them.
    pub needs: &'static [&'static str],
    /// Whether the option shapes rankings: it is lost once rankings are made.
    pub shapes_rankings: bool,
    /// The keyword of Python. An option of Python alone has no commands.
    pub keyword: Option<Keyword>,
}

/// The keyword of an option in Python.
#[derive(Debug, Clone, Copy)]
pub struct Keyword {
    /// The name; empty if it is the id of the option with `_` for `-`.
    pub name: &'static str,
    /// The type in Python; empty if it follows from the values.
    pub python_type: &'static str,
    /// The documentation in Python; empty if it is that of the command.
    pub docs: &'static str,
}

/// A word that an option takes, and its meaning; an empty meaning if the word says it.
pub type Choice = (&'static str, &'static str);

/// The check of a value: what is wrong with the text, as `a number was expected`.
pub type ValueCheck = fn(&str) -> Result<(), String>;

/// The values that an option takes, with the name of a value in the help, such as `FILE`.
#[derive(Debug, Clone, Copy)]
pub enum Value {
    /// None: the option is given, or not.
    Flag,
    /// One of some words.
    Choice(&'static str, fn() -> Vec<Choice>),
    /// Some of these words, with commas between them.
    Words(&'static str, fn() -> Vec<&'static str>),
    /// A number that the check accepts; `-1` is read as one, and not as an option.
    Number(&'static str, ValueCheck),
    /// A text that the check accepts.
    Text(&'static str, ValueCheck),
    /// A text that may begin with a hyphen.
    AnyText(&'static str, ValueCheck),
    /// A text, or no value at all.
    OptionalText(&'static str),
    /// A path of a file or folder.
    Path(&'static str),
}

impl OptionRow {
    /// Returns whether a command has the option.
    pub fn is_of(&self, command: &str) -> bool {
        self.is_common_in(command) || self.others.contains(&command)
    }

    /// Returns whether `-h` of a command shows the option.
    pub fn is_common_in(&self, command: &str) -> bool {
        self.common.contains(&command)
    }

    /// Returns the name of the keyword in Python.
    pub fn keyword_name(&self) -> String {
        match self.keyword {
            Some(Keyword { name, .. }) if !name.is_empty() => name.to_owned(),
            _ => self.id.replace('-', "_"),
        }
    }
}

/// Lists the options of a command in the order of its help.
pub fn options_of(command: &str) -> impl Iterator<Item = &'static OptionRow> {
    OPTIONS.iter().filter(move |row| row.is_of(command))
}
