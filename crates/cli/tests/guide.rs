//! The commands of the guides print what stands behind them. `UPDATE_README=1 cargo test guide` rewrites that.

use std::path::Path;

use assert_cmd::Command;

/// A block of commands, which the blocks behind it go on from, and what is to stand behind it.
const COMMANDS: &str = "```sh\n";
const PRINTED: &str = "\n```text\n";
const END: &str = "```\n";

#[test]
fn guide() {
    check("docs/guide.md");
}

#[test]
fn guide_to_comparing() {
    check("docs/comparing.md");
}

#[test]
fn guide_to_formats() {
    check("docs/formats.md");
}

fn check(page: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let path = root.join(page);
    let text = std::fs::read_to_string(&path).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(root.join("examples"), folder.path().join("examples")).unwrap();
    let (mut found, mut rest, mut blocks) = (String::new(), text.as_str(), 0);
    while let Some((before, after)) = rest.split_once(COMMANDS) {
        let (commands, after) = after.split_once(END).expect("a block ends");
        found += &format!("{before}{COMMANDS}{commands}{END}");
        let printed = run(commands, folder.path());
        rest = after;
        match after.strip_prefix(PRINTED) {
            Some(after) => {
                rest = after.split_once(END).expect("a block ends").1;
                found += &format!("{PRINTED}{printed}{END}");
            }
            None => assert_eq!(printed, "", "nothing is shown behind\n{commands}"),
        }
        blocks += 1;
    }
    found += rest;
    assert!(blocks > 4, "{blocks} blocks of commands");
    if std::env::var_os("UPDATE_README").is_some() {
        std::fs::write(&path, found).unwrap();
    } else {
        assert_eq!(found, text, "run `UPDATE_README=1 cargo test guide`");
    }
}

/// What commands print, on stdout and stderr as it comes.
fn run(commands: &str, folder: &Path) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_laneval")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let script = format!("set -eu -o pipefail; exec 2>&1\n{commands}");
    let output =
        Command::new("bash").args(["-c", &script]).current_dir(folder).env("PATH", path).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{commands}\n{printed}");
    printed
}
