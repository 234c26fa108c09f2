//! A folder with sample files, and what commands say that run in it.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use tempfile::TempDir;

pub const QRELS: &str = "q1 0 a 2\nq1 0 b 0\nq1 0 c 1\nq2 0 a 1\nq2 0 e -1\nq3 0 x 3\n";
pub const BM25: &str = "\
q1 Q0 c 1 9.5 bm25\nq1 Q0 z 2 9.0 bm25\nq1 Q0 a 3 8.0 bm25
q2 Q0 e 1 2.0 bm25\nq2 Q0 a 2 1.0 bm25\nq9 Q0 a 1 1.0 bm25\n";
pub const DENSE: &str = "\
q1 Q0 a 1 0.9 dense\nq1 Q0 b 2 0.8 dense\nq2 Q0 a 1 0.5 dense
q3 Q0 y 1 0.7 dense\nq3 Q0 x 2 0.6 dense\n";

/// A folder with the sample files.
pub struct Folder(TempDir);

/// What a command left behind.
pub struct Ran {
    pub out: String,
    pub err: String,
    pub code: i32,
}

impl Folder {
    /// Returns a folder without any files.
    pub fn empty() -> Self {
        Folder(TempDir::new().unwrap())
    }

    pub fn new() -> Self {
        let folder = Folder::empty();
        folder.put("qrels", QRELS);
        folder.put("bm25.run", BM25);
        folder.put("dense.run", DENSE);
        folder
    }

    /// Returns the same with a file of each format as well.
    pub fn of_formats() -> Self {
        let folder = Folder::new();
        let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/formats");
        for entry in fs::read_dir(data).unwrap() {
            let entry = entry.unwrap();
            folder.put(entry.file_name().to_str().unwrap(), fs::read(entry.path()).unwrap());
        }
        folder
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub fn get(&self, name: &str) -> Vec<u8> {
        fs::read(self.path().join(name)).unwrap()
    }

    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs `laneval` with arguments separated by blanks.
    pub fn run(&self, args: &str) -> Ran {
        self.run_with(args, "")
    }

    pub fn run_with(&self, args: &str, stdin: &str) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_laneval"));
        ran(command.current_dir(self.path()).args(args.split_whitespace()).write_stdin(stdin))
    }

    /// Runs a shell script in which `$L` is `laneval`.
    #[cfg(unix)]
    pub fn shell(&self, script: &str) -> Ran {
        let mut command = Command::new("bash");
        let script = format!("set -o pipefail; {script}");
        ran(command
            .current_dir(self.path())
            .env("L", env!("CARGO_BIN_EXE_laneval"))
            .args(["-c", &script]))
    }

    /// What a successful command prints.
    pub fn out(&self, args: &str) -> String {
        let Ran { out, err, code } = self.run(args);
        assert_eq!(code, 0, "{args}\n{err}");
        out
    }

    /// What a command that fails says.
    pub fn error(&self, args: &str) -> String {
        let Ran { out, err, code } = self.run(args);
        assert_eq!((out.as_str(), code), ("", 2), "{args}\n{err}");
        assert!(err.starts_with("error: "), "{args}\n{err}");
        err
    }
}

pub fn ran(command: &mut Command) -> Ran {
    let output = command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran {
        out: text(output.stdout),
        err: text(output.stderr),
        code: output.status.code().unwrap_or(-1),
    }
}

#[track_caller]
pub fn assert_says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}
