//! What the command does when the system refuses: full disks, closed streams, signals, limits on
//! threads, memory and files.
//!
//! What a machine cannot try shows as ignored: limits on threads do not bind root, and not
//! everybody may mount a file system.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use laneval::labels::Unmatched;
use laneval::measure::Measure;
use laneval::parts::whole_file;
use laneval::report::{Format, ReportOptions};
use laneval::scores::PerQuery;
use laneval::{RunScores, Scores, StatName};
use libtest_mimic::{Failed, Trial};
use tempfile::TempDir;

use crate::cases::{by_default, some};

const LANEVAL: &str = env!("CARGO_BIN_EXE_laneval");
const QRELS: &str = "q1 0 a 2\nq1 0 b 0\nq2 0 a 1\n";
const RUN: &str = "q1 Q0 a 1 9.5 t\nq1 Q0 z 2 9.0 t\nq2 Q0 a 1 1.0 t\n";

/// A user that owns nothing and runs nothing.
const STRANGER: &str = "setpriv --reuid 54321 --regid 54321 --clear-groups";

/// A command line of every subcommand, and what it needs for its work: stdout `o`, stderr `e`,
/// another process `p`.
const COMMANDS: &[(&str, &str)] = &[
    ("eval qrels run", "o"),
    ("eval qrels.gz run.gz --threads 1", "o"),
    ("eval qrels run --threads 3", "o"),
    ("eval qrels run --wide --format csv --name-by tag", "o"),
    ("eval m.lmx --format json --per-query", "o"),
    ("eval qrels run -o new.csv", ""),
    ("eval -m help", "o"),
    ("eval qrels few", "o"),
    ("eval qrels run --only-queries queries --group-by groups", "o"),
    ("eval qrels name=run --partial new.part -o new.csv", ""),
    ("compare qrels a=run b=run", "o"),
    ("compare qrels a=run b=run --format json -o new.json", ""),
    ("compare qrels a=run b=run --group-by groups -o new.md -o new.html -o new.csv", ""),
    ("pools qrels a=run b=run", "o"),
    ("pools qrels a=run b=run --format csv -o new.csv", ""),
    ("identify qrels run RR=0.500000 P@5=0.1000 --format json", "o"),
    ("identify qrels run RR=0.500000 -o new.json", ""),
    ("info qrels run", "o"),
    ("show qrels run --query q1", "o"),
    ("merge one.part two.part", "o"),
    ("merge one.part --add-queries qrels --partial new.part --format json", "o"),
    ("merge one.part two.part --partial new.part -o new.csv", ""),
    ("build qrels run -o new.lmx", ""),
    ("convert run -o new.tsv", ""),
    ("convert qrels.gz --qrels -o new.jsonl.gz", ""),
    ("convert qrels run -o new.lmx", ""),
    ("info m.lmx --verify", "o"),
    ("info qrels", "o"),
    ("check -m P -- $L eval {qrels} {run} -m P@{k} --format trec", "op"),
    ("gen --query-count 3 --results 5 -o new/folder", ""),
    ("gen --query-count 3 --results 5 -o gen.lmx", ""),
    ("measures", "o"),
    ("measures AP --format json", "o"),
    ("devices", "o"),
    ("bench --query-count 3 --results 4 --seconds 0", "o"),
    ("trec-eval qrels run", "o"),
    ("completions bash", "o"),
    ("man eval", "o"),
    ("man --dir new/pages", ""),
    ("help eval", "o"),
    ("version", "o"),
    ("--help", "o"),
    ("--version", "o"),
];

/// Command lines that fail, with their exit codes.
const WRONG: &[(&str, i32)] = &[
    ("eval none none", 2),
    ("eval qrels run -m ngcd", 2),
    ("eval --nonesuch", 2),
    ("eval qrels run --only-queries none", 2),
    ("eval qrels run --group-by qrels", 2),
    ("eval qrels run --partial none/x.part", 2),
    ("merge one.part one.part", 2),
    ("merge one.part qrels", 2),
    ("merge none", 2),
    ("nonesuch", 2),
    ("build qrels run -o none/m.lmx", 2),
    ("convert qrels -o new.run", 2),
    ("convert run -o none/x.tsv", 2),
    ("info none", 2),
    ("check -m P -- ./none {qrels} {run}", 2),
    ("man nonesuch", 2),
    ("trec-eval", 1),
    ("trec-eval --nonesuch", 1),
    ("trec-eval none none", 2),
    ("", 2),
];

/// Returns the tests; those that this machine cannot try are ignored, or fail where
/// `LANEVAL_REQUIRE_ALL` is set.
pub fn trials() -> Vec<Trial> {
    let required = std::env::var_os("LANEVAL_REQUIRE_ALL").is_some();
    let root = uid() == 0;
    let stranger = !root || says_yes(&format!("{STRANGER} true"));
    let mounts = says_yes("unshare -m true && unshare -m mount -t tmpfs none /mnt");
    let trial = |name: &str, possible: bool, test: fn()| {
        let run = move || {
            if !possible {
                return Err(Failed::from(
                    "this machine cannot try it, and LANEVAL_REQUIRE_ALL is set",
                ));
            }
            test();
            Ok(())
        };
        Trial::test(format!("faults::{name}"), run).with_ignored_flag(!possible && !required)
    };
    vec![
        trial("every_subcommand_is_tried", true, every_subcommand_is_tried),
        trial(
            "a_write_that_fails_at_any_byte_changes_nothing",
            true,
            a_write_that_fails_at_any_byte_changes_nothing,
        ),
        trial("an_old_file_hands_on_its_permissions", true, an_old_file_hands_on_its_permissions),
        trial("links_are_kept", true, links_are_kept),
        trial("any_file_system_will_do", Path::new("/dev/shm").is_dir(), any_file_system_will_do),
        trial("streams_are_written_to_as_they_are", true, streams_are_written_to_as_they_are),
        trial(
            "what_may_not_be_written_is_refused_at_once",
            stranger,
            what_may_not_be_written_is_refused_at_once,
        ),
        trial(
            "a_full_disk_leaves_everything_as_it_was",
            mounts,
            a_full_disk_leaves_everything_as_it_was,
        ),
        trial("signals_leave_nothing_behind", true, signals_leave_nothing_behind),
        trial("long_draws_can_be_interrupted", true, long_draws_can_be_interrupted),
        trial("ignored_signals_stay_ignored", true, ignored_signals_stay_ignored),
        trial(
            "streams_that_refuse_change_no_exit_code",
            true,
            streams_that_refuse_change_no_exit_code,
        ),
        trial("one_thread_is_enough", stranger, one_thread_is_enough),
        trial("too_many_threads_are_not_started", true, too_many_threads_are_not_started),
        trial(
            "limits_on_memory_files_and_descriptors_are_errors",
            true,
            limits_on_memory_files_and_descriptors_are_errors,
        ),
    ]
}

fn uid() -> u32 {
    fs::metadata("/proc/self").unwrap().uid()
}

fn says_yes(script: &str) -> bool {
    Command::new("bash").args(["-c", script]).output().is_ok_and(|output| output.status.success())
}

/// A folder with small inputs, in which everybody may write.
struct Folder(TempDir);

struct Ran {
    out: String,
    err: String,
    status: ExitStatus,
}

impl Folder {
    fn new() -> Self {
        let folder = Folder(TempDir::new().unwrap());
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        for (name, text) in
            [("qrels", QRELS), ("run", RUN), ("few", "q2 Q0 a 1 1 t\nq9 Q0 a 1 1 t\n")]
        {
            folder.put(name, text);
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            gzip.write_all(text.as_bytes()).unwrap();
            folder.put(&format!("{name}.gz"), gzip.finish().unwrap());
        }
        folder.put("queries", "q1\nq9\n");
        folder.put("groups", "q1\ta\n");
        folder.ok("$L build qrels run -o m.lmx --quiet");
        for (part, only) in [("one", "q1"), ("two", "q2")] {
            let only = format!("<(echo {only})");
            folder.ok(&format!(
                "$L eval qrels run --queries common --only-queries {only} --partial {part}.part \
                --quiet"
            ));
        }
        folder
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path().join(name), content).unwrap();
    }

    fn get(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }

    fn mode(&self, name: &str) -> u32 {
        fs::metadata(self.path().join(name)).unwrap().mode() & 0o7777
    }

    /// Runs a shell script in which `$L` is `laneval`.
    fn shell(&self, script: &str) -> Ran {
        self.ran(Command::new("bash"), script)
    }

    /// Returns the same, where signals end a program even if those who run the tests ignore them.
    fn shell_with_signals(&self, script: &str) -> Ran {
        let mut command = Command::new("env");
        command.args(["--default-signal=INT,TERM,HUP", "bash"]);
        self.ran(command, script)
    }

    fn ran(&self, mut command: Command, script: &str) -> Ran {
        command.current_dir(self.path()).env("L", LANEVAL).args(["-c", script]);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ran { out: text(output.stdout), err: text(output.stderr), status: output.status }
    }

    fn ok(&self, script: &str) -> String {
        let Ran { out, err, status } = self.shell(script);
        assert!(status.success(), "{script}\n{err}");
        out
    }

    /// What is in the folder and below, in order.
    fn names(&self) -> Vec<PathBuf> {
        let mut names = Vec::new();
        below(self.path(), &mut names);
        names.sort();
        names
    }
}

fn below(folder: &Path, names: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.is_symlink() {
            below(&path, names);
        }
        names.push(path);
    }
}

fn unfinished(folder: &Path) -> Option<PathBuf> {
    let mut names = Vec::new();
    below(folder, &mut names);
    names.into_iter().find(|name| name.to_string_lossy().contains("/.laneval-"))
}

#[track_caller]
fn assert_says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}

fn every_subcommand_is_tried() {
    let help = Folder::new().ok("$L --help");
    // Groups of commands, each under its heading.
    let groups = ["Evaluate:", "Files:", "Decide:", "Tools:"];
    let mut is_group = false;
    let mut listed: Vec<&str> = Vec::new();
    for line in help.lines() {
        if line.starts_with("  ") {
            listed.extend(line.split_whitespace().next().filter(|_| is_group));
        } else {
            is_group = groups.contains(&line);
        }
    }
    assert!(listed.len() >= 14, "{listed:?}");
    for name in listed {
        assert!(COMMANDS.iter().any(|(line, _)| line.split(' ').next() == Some(name)), "{name}");
    }
}

/// Takes a byte or two at a time, is interrupted now and then, and is full after some bytes.
struct Faulty<'a> {
    to: &'a mut dyn Write,
    room: usize,
    calls: usize,
}

impl Write for Faulty<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.calls += 1;
        if self.calls.is_multiple_of(3) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let taken = bytes.len().min(1 + self.calls % 2).min(self.room);
        if taken == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.room -= taken;
        self.to.write_all(&bytes[..taken])?;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

fn scores() -> Scores {
    let measures: Vec<Measure> = ["AP", "NumRet"].map(|name| name.parse().unwrap()).to_vec();
    let queries = [&b"q1"[..], b"q\xff"].into_iter().collect();
    let mut run = RunScores::default();
    (run.name, run.tag) = ("a,run".to_owned(), b"t".to_vec());
    (run.queries, run.filled) = (2, true);
    run.missing = Unmatched::all([&b"q\xff"[..]]);
    let stats = |name, average, std| vec![(name, average), (StatName::Std, std)];
    run.stats = vec![stats(StatName::Mean, 0.5, 0.25), stats(StatName::Sum, 7.0, 1.5)];
    run.per_query = Some(PerQuery {
        queries,
        values: vec![vec![0.25, 0.75], vec![3.0, 4.0]],
        ..PerQuery::default()
    });
    let mut scores = Scores::default();
    (scores.measures, scores.runs) = (measures, vec![run.clone(), run]);
    scores
}

fn a_write_that_fails_at_any_byte_changes_nothing() {
    let (folder, scores) = (TempDir::new().unwrap(), scores());
    let path = folder.path().join("scores");
    let options = ReportOptions { per_query: true, ..ReportOptions::default() };
    for format in
        [Format::Table, Format::Tsv, Format::Csv, Format::Json, Format::Jsonl, Format::Trec]
    {
        let mut whole = Vec::new();
        format.write(&scores, &options, &mut whole).unwrap();
        let write = |room| {
            whole_file::write(&path, |to| {
                format.write(&scores, &options, &mut Faulty { to, room, calls: 0 })
            })
        };
        for room in 0..whole.len() {
            fs::write(&path, "old").unwrap();
            let refused = write(room).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::StorageFull, "{format:?}, {room}");
            assert_eq!(fs::read(&path).unwrap(), b"old", "{format:?}, {room}");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{format:?}, {room}");
        }
        write(whole.len()).unwrap();
        assert_eq!(fs::read(&path).unwrap(), whole, "{format:?}");
    }
}

fn an_old_file_hands_on_its_permissions() {
    let folder = Folder::new();
    for (line, name) in [
        ("eval qrels run", "s.csv"),
        ("build qrels run", "n.lmx"),
        ("merge one.part two.part", "s.csv"),
        ("gen --query-count 2 --results 3", "n.lmx"),
        ("bench --query-count 3 --results 4 --seconds 0", "b.json"),
    ] {
        for mode in some([0o604, 0o600, 0o640, 0o666].into_iter()) {
            folder.put(name, "old");
            fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(mode))
                .unwrap();
            folder.ok(&format!("umask 022; $L {line} -o {name}"));
            assert_eq!(folder.mode(name), mode, "{line}");
        }
    }
    folder.ok("umask 027; $L eval qrels run -o new.csv");
    assert_eq!(folder.mode("new.csv"), 0o640);
    if uid() == 0 {
        folder.put("s.csv", "old");
        folder.ok("chown 54321:54322 s.csv && $L eval qrels run -o s.csv");
        let file = fs::metadata(folder.path().join("s.csv")).unwrap();
        assert_eq!((file.uid(), file.gid()), (54321, 54322));
    }
}

fn links_are_kept() {
    let folder = Folder::new();
    fs::create_dir(folder.path().join("far")).unwrap();
    for (link, to) in [("link", "far/real.csv"), ("other", "link"), ("far/back", "../away.csv")] {
        symlink(to, folder.path().join(link)).unwrap();
    }
    for (output, real) in
        [("other", "far/real.csv"), ("link", "far/real.csv"), ("far/back", "away.csv")]
    {
        folder.ok(&format!("$L eval qrels run -o {output}"));
        assert_says(&folder.get(real), &["query_id"]);
        assert!(folder.path().join(output).is_symlink(), "{output}");
        assert!(!folder.path().join(real).is_symlink(), "{real}");
    }
    symlink("none/file.csv", folder.path().join("lost")).unwrap();
    symlink("round", folder.path().join("round")).unwrap();
    for output in ["lost", "round"] {
        let ran = folder.shell(&format!("$L eval qrels run -o {output}"));
        assert_eq!(ran.status.code(), Some(2), "{output}");
        assert_says(&ran.err, &[&format!("error: {output}: cannot write: ")]);
    }
}

fn any_file_system_will_do() {
    let folder = Folder::new();
    let memory = TempDir::new_in("/dev/shm").unwrap();
    let at = |name: &str| memory.path().join(name).display().to_string();
    let (lmx, csv) = (at("m.lmx"), at("s.csv"));
    folder.ok(&format!("$L build qrels run -o {lmx} --quiet; $L eval {lmx} -o {csv}"));
    let right = folder.ok("$L eval qrels run --format csv");
    assert_eq!(fs::read_to_string(&csv).unwrap(), right);
    fs::write(&csv, "an older and longer file\n".repeat(99)).unwrap();
    folder.ok(&format!("$L eval qrels run -o {csv}"));
    assert_eq!(fs::read_to_string(&csv).unwrap(), right);
    assert_eq!(fs::read_dir(memory.path()).unwrap().count(), 2);
}

fn streams_are_written_to_as_they_are() {
    let folder = Folder::new();
    let right = folder.ok("$L eval qrels run --format tsv");
    for (script, out) in [
        ("mkfifo pipe; $L eval qrels run -o pipe & cat pipe; wait", right.clone()),
        ("$L eval qrels run -o >(cat); wait", right.clone()),
        ("$L eval qrels run -o /dev/null", String::new()),
        ("$L eval qrels run -o /dev/stdout", right.clone()),
        ("$L eval qrels run -o /dev/fd/1 | cat", right.clone()),
        (
            "(echo before; $L eval qrels run -o /dev/stdout; echo after) > log; cat log",
            format!("before\n{right}after\n"),
        ),
        (
            "echo before > log; $L eval qrels run -o /dev/stdout >> log; cat log",
            format!("before\n{right}"),
        ),
        (
            "echo before > log; $L eval qrels run -o /dev/fd/3 3>> log; cat log",
            format!("before\n{right}"),
        ),
        (
            "echo before > log; $L eval qrels run -o /proc/self/fd/3 3>> log; cat log",
            format!("before\n{right}"),
        ),
    ] {
        assert_eq!(folder.ok(script), out, "{script}");
    }
    for output in ["/dev/null", "/dev/stdout", "pipe"] {
        let ran =
            folder.shell(&format!("$L build qrels run -o {output} | cat; exit ${{PIPESTATUS[0]}}"));
        assert_eq!((ran.out.as_str(), ran.status.code()), ("", Some(2)), "{output}");
        assert_says(&ran.err, &["it is not a regular file"]);
    }
    let ran = folder.shell("$L eval qrels run -o /dev/full");
    assert_eq!(ran.status.code(), Some(2));
    assert_says(&ran.err, &["/dev/full: cannot write: No space left on device"]);
}

/// Runs a script as somebody whom permissions bind.
fn bound(script: &str) -> String {
    if uid() == 0 { format!("{STRANGER} bash -c '{script}'") } else { script.to_owned() }
}

fn what_may_not_be_written_is_refused_at_once() {
    let folder = Folder::new();
    folder.ok("mkdir shut; echo old > shut/s.csv; echo old > fixed.csv; chmod 666 shut/s.csv; \
               chmod 444 fixed.csv; chmod 555 shut");
    for (output, expected) in [
        ("shut/s.csv", "no file can be made in its folder: Permission denied"),
        ("shut/new.csv", "no file can be made in its folder: Permission denied"),
        ("fixed.csv", "Permission denied"),
    ] {
        // The inputs are never looked at.
        let ran = folder.shell(&bound(&format!("$L eval none none -o {output}")));
        assert_eq!(ran.status.code(), Some(2), "{}", ran.err);
        assert_says(&ran.err, &[&format!("error: {output}: cannot write: {expected}")]);
    }
    assert_eq!(
        (folder.get("shut/s.csv"), folder.get("fixed.csv")),
        ("old\n".to_owned(), "old\n".to_owned())
    );
    let ran = folder.shell(&bound("$L gen --query-count 2 -o shut/new/data"));
    assert_eq!(ran.status.code(), Some(2));
    assert_says(&ran.err, &["error: shut/new/data: cannot make a folder: Permission denied"]);
}

fn a_full_disk_leaves_everything_as_it_was() {
    let folder = Folder::new();
    fs::create_dir(folder.path().join("disk")).unwrap();
    for (line, output) in [
        ("eval qrels run -m P@1..300 --per-query", "s.csv"),
        ("gen --query-count 200 --results 1000", "m.lmx"),
        ("gen --query-count 50 --results 1000", "new/data"),
        ("gen --query-count 2000 --results 1", "new/data"),
    ] {
        let ran = folder.shell(&format!(
            "unshare -m bash -c 'mount -t tmpfs -o size=16k none disk && cd disk && echo old > \
             s.csv && echo old > m.lmx;
            cd ..; $L {line} -o disk/{output}; code=$?; ls -A disk; cat disk/*; exit $code'"
        ));
        assert_eq!(
            (ran.out.as_str(), ran.status.code()),
            ("m.lmx\ns.csv\nold\nold\n", Some(2)),
            "{line}"
        );
        assert_says(
            &ran.err,
            &[&format!("error: disk/{output}"), ": cannot write: No space left on device"],
        );
        assert!(!ran.err.contains(".laneval-"), "{}", ran.err);
    }
}

/// Signals a command when it has written some of its output. Gives back how it ended; `None` if it
/// was faster.
fn interrupted(folder: &Folder, line: &str, signal: &str) -> Option<ExitStatus> {
    // The user who runs the tests may have told them to ignore a signal.
    let mut command = Command::new("env");
    command.arg("--default-signal=INT,TERM,HUP").arg(LANEVAL).args(line.split(' '));
    let mut child = command.current_dir(folder.path()).stderr(Stdio::null()).spawn().unwrap();
    let kill = |signal: &str| {
        assert!(says_yes(&format!("kill -{signal} {}", child.id())));
    };
    let begun = |path: PathBuf| path.metadata().is_ok_and(|file| file.len() > 0);
    while !unfinished(folder.path()).is_some_and(begun) {
        if fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap().contains(") Z ") {
            child.wait().unwrap();
            return None;
        }
    }
    kill("STOP");
    let stopped = unfinished(folder.path()).is_some();
    kill(signal);
    kill("CONT");
    let status = child.wait().unwrap();
    stopped.then_some(status)
}

fn signals_leave_nothing_behind() {
    let folder = Folder::new();
    folder.ok(
        "$L gen --query-count 3000 --results 30 -o data --quiet; echo old > old.csv; echo old > \
        old.lmx",
    );
    let before = folder.names();
    let lines = [
        "eval data/qrels.txt data/run.txt -m P@1..200 --per-query -o new.csv",
        "eval data/qrels.txt data/run.txt -m P@1..200 --per-query -o old.csv",
        "gen --query-count 60000 --results 1000 -o new.lmx",
        "gen --query-count 60000 --results 1000 -o old.lmx",
        "gen --query-count 60000 --results 1000 -o new/data",
        "gen --query-count 60000 --results 1000 --runs 2 --judged 1 -o new/data",
    ];
    let signals = [("INT", 2), ("TERM", 15), ("HUP", 1)];
    for (at, line) in lines.into_iter().enumerate() {
        // By default each line gets another of the signals.
        for (signal, number) in signals.into_iter().cycle().skip(at).take(by_default(1, 3)) {
            let mut tries = (0..9).filter_map(|_| interrupted(&folder, line, signal));
            let status = tries.next().expect("one of nine is interrupted in its writing");
            assert_eq!(status.signal(), Some(number), "{line}, {signal}: {status}");
            assert_eq!(folder.names(), before, "{line}, {signal}");
        }
    }
    assert_eq!(
        (folder.get("old.csv"), folder.get("old.lmx")),
        ("old\n".to_owned(), "old\n".to_owned())
    );
}

/// The draws would take days.
fn long_draws_can_be_interrupted() {
    let folder = Folder::new();
    folder.ok("$L gen --query-count 2000 --results 10 --runs 3 -o data --quiet");
    // A shell lets its jobs ignore interrupts, so it is said that this one does not.
    let script = "env --default-signal=INT $L compare data/qrels.txt data/run-*.txt -m AP \
                  --permutations 4000000000 -o p.tsv & sleep 1; kill -INT $!; wait $!";
    let ran = folder.shell_with_signals(script);
    assert_eq!(ran.status.code(), Some(128 + 2), "{}", ran.err);
    assert!(
        !folder.names().iter().any(|name| name.to_string_lossy().contains("p.tsv")),
        "{:?}",
        folder.names()
    );
}

fn ignored_signals_stay_ignored() {
    let folder = Folder::new();
    // The signals come while it waits for its run, after the place of its output was checked.
    let script = "mkfifo pipe; (trap '' HUP INT; exec $L eval qrels pipe -o s.csv) & exec 3> pipe
        for _ in {1..1000}; do grep -q 'SigCgt:.*4...$' /proc/$!/status && break; sleep 0.01; done
        kill -HUP $!; kill -INT $!; cat run >&3; exec 3>&-; wait $!";
    let ran = folder.shell_with_signals(script);
    assert!(ran.status.success(), "{}", ran.err);
    assert_says(&folder.get("s.csv"), &["query_id"]);
    // A run that never comes, so that the signal alone ends the command; ten seconds at most.
    let ended = "for _ in {1..1000}; do kill -0 $! 2> /dev/null || break; sleep 0.01; done";
    let script = script.replace("HUP INT", "HUP").replace("cat run >&3", ended);
    let ran = folder.shell_with_signals(&script);
    assert_eq!(ran.status.code(), Some(128 + 2), "the shell tells of SIGINT");
}

fn streams_that_refuse_change_no_exit_code() {
    let folder = Folder::new();
    // What a command ends with where stdout is full: some need it for their work.
    let redirections = |full| {
        [
            ("", 0),
            (">&-", 0),
            ("2>&-", 0),
            (">&- 2>&-", 0),
            ("2>/dev/full", 0),
            ("2> >(true)", 0),
            ("> >(true)", 0),
            ("| true", 0),
            (">/dev/full", full),
            (">/dev/full 2>/dev/full", full),
            ("2>&1 | true", 0),
        ]
    };
    let sound = COMMANDS.iter().flat_map(|(line, needs)| {
        redirections(if needs.contains('o') { 2 } else { 0 })
            .map(|(redirected, code)| (line, redirected, code))
    });
    for (line, redirected, code) in some(sound) {
        let ran = folder.shell(&format!("$L {line} {redirected}; exit ${{PIPESTATUS[0]}}"));
        assert_eq!(ran.status.code(), Some(code), "{line} {redirected}\n{}", ran.err);
        if code == 2 && !redirected.contains("2>") {
            assert_says(&ran.err, &["error: stdout: cannot write: No space left on device"]);
        }
    }
    const REDIRECTIONS: [&str; 7] =
        ["", ">&-", "2>&-", ">/dev/full", "2>/dev/full", ">/dev/full 2>/dev/full", "2> >(true)"];
    let wrong = WRONG
        .iter()
        .flat_map(|(line, code)| REDIRECTIONS.map(|redirected| (line, redirected, *code)));
    for (line, redirected, code) in some(wrong) {
        let ran = folder.shell(&format!("$L {line} {redirected}"));
        assert_eq!(ran.status.code(), Some(code), "{line} {redirected}\n{}", ran.err);
    }
}

fn one_thread_is_enough() {
    let folder = Folder::new();
    for (line, needs) in COMMANDS {
        let right = folder.ok(&format!("$L {line}"));
        folder.ok("rm -rf new* gen.lmx");
        if needs.contains('p') {
            continue;
        }
        let ran = folder.shell(&bound(&format!("ulimit -u 1; exec $L {line}")));
        assert_eq!(ran.status.code(), Some(0), "{line}\n{}", ran.err);
        if !line.starts_with("bench") && !line.starts_with("devices") {
            assert_eq!(ran.out, right, "{line}");
        }
    }
}

fn too_many_threads_are_not_started() {
    let folder = Folder::new();
    let ran = folder.shell("$L eval qrels run --threads 65535 -v");
    assert!(ran.status.success());
    let most = 64.max(4 * std::thread::available_parallelism().unwrap().get());
    let expected = format!("note: 65535 threads are too many for this machine: {most} are used\n");
    assert_says(&ran.err, &[&expected, &format!(", {most} threads)")]);
    for line in
        ["build qrels run -o n.lmx", "gen --query-count 2 --results 3 -o data", "eval qrels run"]
    {
        assert_says(&folder.shell(&format!("$L {line} --threads 65535")).err, &[&expected]);
        assert!(
            !folder.shell(&format!("$L {line} --threads 65535 --quiet")).err.contains("threads"),
            "{line}"
        );
        assert!(
            !folder.shell(&format!("$L {line} --threads {most}")).err.contains("threads"),
            "{line}"
        );
    }
}

fn limits_on_memory_files_and_descriptors_are_errors() {
    let folder = Folder::new();
    // The least memory in which the program itself starts, and some for the few hundred bytes at a
    // time that it takes as it runs: without those a program of this language ends at once,
    // whatever it wants to say.
    let starts = |memory: &usize| {
        folder.shell(&format!("ulimit -v {memory}; $L --version")).status.success()
    };
    let least = (4..).map(|step| step << 12).find(starts).unwrap();
    let memory =
        [least + (16 << 10), 2 * least, 4 * least, 16 * least].map(|memory| format!("-v {memory}"));
    // The loader itself opens a file.
    let files = (4..12).map(|files| format!("-n {files}"));
    let sizes = ["-f 0".to_owned(), "-f 1".to_owned()];
    let lines = COMMANDS.iter().map(|(line, _)| *line).chain(WRONG.iter().map(|(line, _)| *line));
    let limits: Vec<String> = memory.into_iter().chain(files).chain(sizes).collect();
    let both = limits.iter().flat_map(|limit| lines.clone().map(move |line| (limit, line)));
    for (limit, line) in some(both) {
        let ran = folder.shell(&format!(
            "rm -rf new* gen.lmx; ulimit -c 0; ulimit {limit}; $L {line} > out 2> err"
        ));
        let code = ran.status.code();
        assert!(
            matches!(code, Some(0..=2)),
            "ulimit {limit}; {line}: {code:?}\n{}",
            folder.get("err")
        );
        assert_eq!(unfinished(folder.path()), None, "ulimit {limit}; {line}");
        assert!(!folder.get("err").contains(".laneval-"), "ulimit {limit}; {line}");
    }
}
