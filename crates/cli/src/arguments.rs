//! Clap's definition of the arguments of a command, made of the tables of commands and options.

use std::ffi::OsString;

use clap::builder::{
    OsStringValueParser, PossibleValue, PossibleValuesParser, TypedValueParser, ValueHint,
    ValueParser,
};
use clap::{Arg, ArgAction, Command};
use laneval::options::{OptionRow, Value, options_of};

use super::command_row::{CommandRow, Inputs};
use super::help::{self, HelpKind};

/// Defines the arguments of a command for clap, with the texts of this help.
pub fn define(command: Command, row: &'static CommandRow, kind: HelpKind) -> Command {
    if let Some(define) = row.define {
        return help::with_ends(define(command), row);
    }
    let usage: Vec<String> = row.usage.iter().map(|line| format!("laneval {line}")).collect();
    let command = match usage.join("\n       ") {
        usage if usage.is_empty() => command,
        usage => command.override_usage(usage),
    };
    let inputs = row.inputs.as_ref().map(|inputs| {
        let arg = positional(inputs);
        if kind == HelpKind::None { arg } else { with_texts(arg, inputs.first, inputs.more) }
    });
    let command = command.args(inputs);
    let mut options: Vec<&'static OptionRow> = options_of(row.name).collect();
    if kind == HelpKind::None {
        return command.args(options.into_iter().map(|option| argument(option, row, false)));
    }
    // The order of headings is that of their first options.
    options.sort_by_key(|option| {
        let is_later = kind == HelpKind::Long && option.heading != help::INPUT;
        (option.heading == help::ADVANCED, is_later)
    });
    let options = options.into_iter().enumerate().map(|(at, option)| {
        let heading = Some(option.heading).filter(|_| kind == HelpKind::Long);
        with_texts(argument(option, row, true), option.first, option.more)
            .display_order(at)
            .help_heading(heading)
    });
    let command = command.about(row.first).long_about(long(row.first, row.more));
    help::with_ends(command.args(options), row)
}

/// Defines the arguments of a command that are no options.
fn positional(inputs: &'static Inputs) -> Arg {
    let (least, most) = inputs.count;
    let arg = Arg::new(inputs.name)
        .value_name(inputs.name)
        .required(least > 0)
        .allow_negative_numbers(true)
        .value_hint(ValueHint::FilePath)
        .value_parser(OsStringValueParser::new());
    let arg = match most {
        1 => arg.action(ArgAction::Set),
        // An argument that is appended has `...` in the usage, and may be given anew.
        _ => arg.num_args(least.max(1)..=most).action(ArgAction::Append),
    };
    if inputs.is_last { arg.last(true) } else { arg }
}

/// Adds the texts of its help to an argument.
fn with_texts(arg: Arg, first: &'static str, more: &str) -> Arg {
    arg.help(first).long_help(long(first, more))
}

/// Defines an option of a command, with the meanings of its words if help `is_asked_for`.
fn argument(option: &'static OptionRow, row: &CommandRow, is_asked_for: bool) -> Arg {
    let excluded = option.excludes.iter().filter(|id| {
        row.inputs.as_ref().is_some_and(|inputs| inputs.name == **id)
            || options_of(row.name).any(|other| other.id == **id)
    });
    let mut arg = Arg::new(option.id)
        .long(option.id)
        .short(option.short)
        .aliases(option.aliases)
        .hide_short_help(!option.is_common_in(row.name))
        .conflicts_with_all(excluded)
        .required(option.is_required)
        .hide_possible_values(option.hides_values)
        .action(match (option.value, option.is_repeatable) {
            (Value::Flag, _) => ArgAction::SetTrue,
            (_, true) => ArgAction::Append,
            (_, false) => ArgAction::Set,
        });
    for id in option.needs {
        arg = arg.requires(*id);
    }
    if !option.default.is_empty() {
        arg = arg.default_value(option.default);
    }
    with_value(arg, option, is_asked_for)
}

/// Adds what is read as the value of an option.
fn with_value(arg: Arg, option: &OptionRow, is_asked_for: bool) -> Arg {
    match option.value {
        Value::Flag => arg,
        Value::Choice(name, choices) => {
            let choices = choices().into_iter();
            let choices = choices.map(|(word, help)| (word, if is_asked_for { help } else { "" }));
            arg.value_name(name).value_parser(words(choices))
        }
        Value::Words(name, names) => arg
            .value_name(name)
            .value_delimiter(',')
            .value_parser(words(names().into_iter().map(|name| (name, "")))),
        Value::Number(name, check) => {
            arg.value_name(name).allow_negative_numbers(true).value_parser(checked(check))
        }
        Value::Text(name, check) => arg.value_name(name).value_parser(checked(check)),
        Value::AnyText(name, check) => {
            // An id of a query need not be UTF-8.
            let parser = OsStringValueParser::new().try_map(move |value: OsString| {
                check(&value.to_string_lossy()).map(|()| value.clone())
            });
            arg.value_name(name).allow_hyphen_values(true).value_parser(parser)
        }
        Value::OptionalText(name) => {
            arg.value_name(name).num_args(0..=1).value_parser(OsStringValueParser::new())
        }
        Value::Path(name) => arg
            .value_name(name)
            .value_hint(ValueHint::AnyPath)
            .value_parser(OsStringValueParser::new()),
    }
}

/// Returns a parser that takes one of some words.
fn words(choices: impl Iterator<Item = (&'static str, &'static str)>) -> ValueParser {
    let possible = choices.map(|(name, meaning)| match meaning {
        // An empty help would make `--help` list the values one below the other.
        "" => PossibleValue::new(name),
        meaning => PossibleValue::new(name).help(meaning),
    });
    PossibleValuesParser::new(possible.collect::<Vec<_>>()).map(OsString::from).into()
}

/// Returns a parser that takes texts that a check accepts.
fn checked(check: fn(&str) -> Result<(), String>) -> ValueParser {
    OsStringValueParser::new()
        .try_map(move |value: OsString| {
            let text = value.to_str().ok_or("UTF-8 was expected")?;
            check(text).map(|()| value.clone())
        })
        .into()
}

/// Returns the help of an option or command under `--help`: its first line, and its paragraph.
fn long(first: &str, more: &str) -> String {
    if more.is_empty() { first.to_owned() } else { format!("{first}\n\n{more}") }
}
