//! Mapped files that change while they are used: a message and an exit code, unless they were read
//! into memory.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};

use laneval::lmx::exit_when_a_mapped_file_shrinks;
use laneval::parts::generate::Synthetic;
use laneval::{Evaluator, LabelMatrix};

/// A variable that is set if the test binary is a process of its own: it asks for the message
/// `first`, or `last`.
const CHILD: &str = "LANEVAL_TEST_MAPPED_CHILD";

/// A matrix with some megabytes of labels.
fn write_matrix(path: &Path) {
    let synthetic = Synthetic { queries: 2000, depth: 1000, ..Synthetic::default() };
    synthetic.matrix().unwrap().write(path).unwrap();
}

/// Maps a file, cuts it off behind the first page, and evaluates it. It runs in a process of its
/// own, because this ends the process.
#[test]
fn child() {
    let Some(when) = std::env::var_os(CHILD) else { return };
    let ask = || exit_when_a_mapped_file_shrinks(5, |name| format!("{name} is gone\n"));
    let (path, sound) = (Path::new("cut.lmx"), Path::new("sound.lmx"));
    if when == "first" {
        ask();
    }
    // Records of files before and after, one of them unmapped again.
    let before = LabelMatrix::map(sound).unwrap();
    let matrix = LabelMatrix::map(path).unwrap();
    let after = LabelMatrix::map(sound).unwrap();
    drop(before);
    if when == "last" {
        ask();
    }
    let evaluator = Evaluator::new(["AP", "nDCG@10"]).unwrap();
    evaluator.evaluate(&matrix).unwrap();
    std::fs::File::options().write(true).open(path).unwrap().set_len(4096).unwrap();
    evaluator.evaluate(&after).unwrap();
    evaluator.evaluate(&matrix).unwrap();
    unreachable!("it was read");
}

fn run_child(when: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    write_matrix(&folder.path().join("cut.lmx"));
    write_matrix(&folder.path().join("sound.lmx"));
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "mapped::child", "--nocapture"]).current_dir(&folder);
    command.env(CHILD, when).output().unwrap()
}

#[test]
fn a_mapped_file_that_shrinks_ends_a_program_that_asked_with_a_message() {
    let output = run_child("first");
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "cut.lmx is gone\n",
        "once, and nothing else"
    );
}

#[test]
fn a_file_that_the_handler_does_not_know_is_left_to_the_system() {
    let output = run_child("last");
    assert_eq!(output.status.signal(), Some(libc::SIGBUS), "{output:?}");
}
