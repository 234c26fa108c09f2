//! `laneval man`: prints or writes manual pages, made from the definition of the command line.

use std::io;
use std::path::Path;

use laneval::Error;
use laneval::internals::whole_file;
use roff::{Roff, bold, roman};

use super::{
    cli_error::{CliError, CliResult},
    command_row::{Arguments, CommandRow, Inputs},
    output::{self, print},
    style::comma_list,
};

/// `laneval man`.
pub const COMMAND: CommandRow = CommandRow {
    name: "man",
    first: "Print or write manual pages",
    inputs: Some(Inputs {
        name: "COMMAND",
        first: "The command; without it the page of laneval itself",
        more: "",
        count: (0, 1),
        is_last: false,
    }),
    examples: &["laneval man eval | man -l -", "laneval man --dir ~/.local/share/man/man1"],
    run,
    ..CommandRow::NEW
};

/// Runs `laneval man`: prints the manual page of a command, or writes all pages into a folder.
fn run(arguments: Arguments) -> CliResult<()> {
    let root = super::complete_root();
    if let Some(folder) = arguments.given.path("dir") {
        return write_all(&root, folder);
    }
    let command = match arguments.inputs.first() {
        None => root,
        Some(name) => {
            let names = comma_list(root.get_subcommands().map(clap::Command::get_name));
            let unknown = format!("there is no command `{}`, but {names}", name.display());
            let command = name.to_str().and_then(|name| root.find_subcommand(name));
            command.ok_or_else(|| CliError::new(unknown))?.clone()
        }
    };
    let page = page(command)?;
    print(|to| to.write_all(&page))
}

/// Writes the manual pages of `laneval` and of its commands into a folder, one file for each.
fn write_all(root: &clap::Command, folder: &Path) -> CliResult<()> {
    std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, "make a folder", error))?;
    for command in [root].into_iter().chain(root.get_subcommands()) {
        let name = command.get_display_name().unwrap_or(command.get_name());
        let path = folder.join(format!("{name}.1"));
        output::check(&path, &[])?;
        let page = page(command.clone())?;
        whole_file::write(&path, |to| to.write_all(&page))
            .map_err(|error| Error::io(&path, "write", error))?;
    }
    Ok(())
}

/// Renders the manual page of a command. Its examples are lines as they are typed, which must not
/// be wrapped.
fn page(command: clap::Command) -> io::Result<Vec<u8>> {
    let ends = command.get_after_long_help().or(command.get_after_help());
    let ends = ends.map(ToString::to_string).unwrap_or_default();
    let names = command.get_subcommands().map(|subcommand| subcommand.get_name().to_owned());
    let names: Vec<String> = names.collect();
    // A page has all options with their text, whatever `-h` has.
    let command = command.mut_args(|option| option.hide_short_help(false));
    let man = clap_mangen::Man::new(command).source(concat!("laneval ", env!("CARGO_PKG_VERSION")));
    let mut to = Vec::new();
    man.render_title(&mut to)?;
    man.render_name_section(&mut to)?;
    man.render_synopsis_section(&mut to)?;
    man.render_description_section(&mut to)?;
    man.render_options_section(&mut to)?;
    let mut rest = Roff::new();
    if !names.is_empty() {
        rest.control("SH", ["COMMANDS"]);
        for name in names {
            rest.text([bold(format!("laneval-{name}")), roman("(1)")]).control("br", []);
        }
    }
    // Examples, exit codes and pages: lines as they are, each part under its heading.
    for part in ends.split("\n\n").filter(|part| !part.is_empty()) {
        let mut lines = part.lines();
        let heading = lines.next().unwrap_or_default().trim_end_matches(':').to_uppercase();
        rest.control("SH", [heading.as_str()]).control("nf", []);
        for line in lines {
            rest.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
        }
        rest.control("fi", []);
    }
    rest.to_writer(&mut to)?;
    Ok(to)
}
