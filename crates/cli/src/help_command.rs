//! `laneval help` and `laneval version`: as commands what `--help` and `--version` are as options.

use clap::Command;

use super::cli_error::{CliError, CliResult};
use super::command_row::{Arguments, CommandRow, Inputs};
use super::output::print;
use super::style::{comma_list, stdout_has_colour};

/// `laneval help`: prints the help of a command.
pub const COMMAND: CommandRow = CommandRow {
    name: "help",
    first: "Show the help of a command",
    inputs: Some(Inputs {
        name: "COMMAND",
        first: "The command; without it the help of laneval itself",
        more: "",
        count: (0, 1),
        is_last: false,
    }),
    examples: &["laneval help eval"],
    run: print_help,
    ..CommandRow::NEW
};

/// `laneval version`: prints the version.
pub const VERSION: CommandRow = CommandRow {
    name: "version",
    first: "Print the version",
    run: |_| print(|to| writeln!(to, "laneval {}", env!("CARGO_PKG_VERSION"))),
    ..CommandRow::NEW
};

/// Prints the help of the command that the arguments name, as its `--help` does.
fn print_help(arguments: Arguments) -> CliResult<()> {
    let mut root = super::complete_root();
    let Some(name) = arguments.inputs.first() else {
        return print_rendered(&mut root);
    };
    let names = comma_list(root.get_subcommands().map(Command::get_name));
    let command = name.to_str().and_then(|name| root.find_subcommand_mut(name));
    match command {
        Some(command) => print_rendered(command),
        None => {
            let name = name.display();
            Err(CliError::new(format!("there is no command `{name}`, but {names}")))
        }
    }
}

fn print_rendered(command: &mut Command) -> CliResult<()> {
    let text = command.render_long_help();
    if stdout_has_colour() {
        return print(|to| write!(to, "{}", text.ansi()));
    }
    print(|to| write!(to, "{text}"))
}
