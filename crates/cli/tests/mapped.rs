//! Mapped files that change while the command uses them: a message and an exit code, unless they
//! were read into memory.

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// What the command does when the qrels are cut off after they were opened and before they are
/// looked at: they are opened before the run is read, which is held, and the run comes through a
/// pipe that holds less than what has been written to it by then.
fn eval_with_qrels_cut_off(arguments: &[&str], then: impl FnOnce(&Path, &mut Child)) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let qrels = folder.path().join("my.qrels");
    let lines = |line: fn(u32) -> String| (0..20_000).map(line).collect::<String>();
    std::fs::write(&qrels, lines(|at| format!("q{at} 0 d1 1\n"))).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_laneval"));
    command.args(["eval", "my.qrels", "-", "-m", "P@1", "--format", "tsv"]).args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.current_dir(&folder).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // Several times what a pipe holds: when all of it is written, the command has begun to read.
    stdin.write_all(lines(|at| format!("q{at} Q0 d{} 1 1 tag\n", at % 2)).as_bytes()).unwrap();
    then(&qrels, &mut child);
    drop(stdin);
    child.wait_with_output().unwrap()
}

fn cut_off(qrels: &Path, _: &mut Child) {
    std::fs::File::options().write(true).open(qrels).unwrap().set_len(4096).unwrap();
}

#[test]
fn the_command_names_the_file_that_shrank() {
    let output = eval_with_qrels_cut_off(&["--buffer"], cut_off);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(
        stderr.starts_with("error: my.qrels: cannot be read any more: it became shorter"),
        "{stderr}"
    );
    assert!(stderr.contains("--no-mmap"), "{stderr}");
    assert!(output.stdout.is_empty());
}

#[test]
fn without_mapping_it_does_not_matter() {
    let output = eval_with_qrels_cut_off(&["--no-mmap"], cut_off);
    assert!(output.status.success(), "{output:?}");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.ends_with("P@1\tmean\t0.5\n"), "{stdout}");
}

#[test]
fn a_signal_that_somebody_sent_is_left_to_the_system() {
    // The handler of Rust's own, which was there before, lets the first signal pass.
    let kill = |_: &Path, child: &mut Child| {
        for _ in 0..1000 {
            let status =
                Command::new("kill").args(["-BUS", &child.id().to_string()]).status().unwrap();
            assert!(status.success());
            std::thread::sleep(std::time::Duration::from_millis(5));
            if child.try_wait().unwrap().is_some() {
                break;
            }
        }
    };
    assert_eq!(
        eval_with_qrels_cut_off(&[], kill).status.signal(),
        Some(signal_hook::consts::SIGBUS)
    );
}

/// Every command that opens files gives the same answer from files that were read.
#[test]
fn commands_answer_the_same_from_files_that_were_read() {
    let folder = tempfile::tempdir().unwrap();
    let matrix = folder.path().join("demo.lmx");
    let matrix = matrix.to_str().unwrap();
    let text = ["../../examples/data/demo.qrels", "../../examples/data/demo-bm25.run"];
    let run = |arguments: &[&str], more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_laneval"));
        let output = command.args(arguments).args(more).output().unwrap();
        assert!(output.status.success(), "{arguments:?} {more:?}: {output:?}");
        output.stdout
    };
    run(&["build", text[0], text[1], "-o", matrix, "--no-mmap", "--quiet"], &[]);
    let verify = ["info", matrix, "--verify"];
    for arguments in [
        &["eval", text[0], text[1]][..],
        &["eval", matrix],
        &["trec-eval", text[0], text[1]],
        &verify,
    ] {
        assert_eq!(run(arguments, &[]), run(arguments, &["--no-mmap"]), "{arguments:?}");
    }
    run(&["bench", matrix, "--seconds", "0", "--no-mmap"], &[]);
}
