//! What the fuzz targets run. The properties are those of `tests/hostile`, which replays the
//! corpus; here is what needs other programs.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use laneval::{Dialect, Join, View};
use properties::{Bytes, assert_same, every_measure, joined};

pub use properties::{compressed, formats, grouped, lmx, measure, part, summary, text};

#[allow(dead_code)]
#[path = "../../tests/forge.rs"]
mod forge;
#[path = "../../tests/hostile/properties.rs"]
mod properties;
#[allow(dead_code)]
#[path = "../../tests/variants.rs"]
mod variants;

/// Writes judgments and a run, evaluates them with trec_eval and with `laneval trec-eval`, and
/// compares what they print, byte for byte.
///
/// `LANEVAL_TREC_EVAL` is a program built of trec_eval 10's sources, in which the locals `min` and
/// `max` of m_rbp.c begin as 0, and `LANEVAL` a built command. The first bytes choose options; then
/// each row takes a few bytes, so that most texts are sound.
pub fn differential(data: &[u8]) {
    let [theirs, ours] = programs();
    let mut bytes = Bytes(data);
    let options = bytes.byte();
    let (qrels, run) = (judgments_of(&mut bytes), results_of(&mut bytes));
    if qrels.is_empty() || run.is_empty() {
        return;
    }
    // What is compared is run outside; what guides the search is run here, too.
    let join = Join { dialect: Dialect::Trec10, ..Join::default() };
    let text = [qrels.as_bytes(), b"%\n", run.as_bytes()].concat();
    if let Some(matrix) = joined(join, &text, |text| text.to_vec()) {
        assert_same(&matrix, every_measure(&matrix), View::default());
    }
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("qrels"), &qrels).expect("a file");
    std::fs::write(folder.path().join("run"), &run).expect("a file");
    let mut args = vec!["-q", "-m", "all_trec"];
    args.extend(
        [("-c", 1), ("-J", 2), ("-l2", 4), ("-M5", 8)]
            .iter()
            .filter(|(_, bit)| options & bit > 0)
            .map(|(option, _)| *option),
    );
    let theirs = printed(theirs, &args, folder.path());
    let ours = printed(ours, &[&OURS, &args[..]].concat(), folder.path());
    let (Some(theirs), Some(ours)) = (&theirs, &ours) else {
        assert_eq!(theirs.is_some(), ours.is_some(), "one refuses: {args:?}\n{qrels}%\n{run}");
        return;
    };
    for (theirs, ours) in theirs.lines().zip(ours.lines()) {
        // If -J leaves no document of a topic, they divide 0 by 0.
        let may_be_nan =
            ["iprec_at_recall", "11pt_avg"].iter().any(|name| theirs.starts_with(name));
        if may_be_nan && args.contains(&"-J") && theirs.ends_with("nan") {
            continue;
        }
        assert_eq!(ours, theirs, "{args:?}\n{qrels}%\n{run}");
    }
    assert_eq!(ours.lines().count(), theirs.lines().count());
}

/// What makes the command answer as trec_eval 10.
const OURS: [&str; 3] = ["trec-eval", "--profile", "10"];

/// trec_eval and laneval. Both answer something sound: two programs that always fail would agree.
fn programs() -> &'static [String; 2] {
    static PROGRAMS: OnceLock<[String; 2]> = OnceLock::new();
    PROGRAMS.get_or_init(|| {
        let program =
            |name: &str| std::env::var(name).unwrap_or_else(|_| panic!("{name} names no program"));
        let programs = ["LANEVAL_TREC_EVAL", "LANEVAL"].map(program);
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("qrels"), "1 0 a 1\n").expect("a file");
        std::fs::write(folder.path().join("run"), "1 Q0 a 1 1 t\n").expect("a file");
        for (program, first) in programs.iter().zip([&[][..], &OURS]) {
            let found = printed(program, &[first, &["-m", "map"]].concat(), folder.path());
            assert_eq!(
                found.as_deref(),
                Some("map                   \tall\t1.0000\n"),
                "{program}"
            );
        }
        programs
    })
}

/// What a program prints of the judgments and the run in a folder; `None` if it refuses them.
fn printed(program: &str, args: &[&str], folder: &Path) -> Option<String> {
    let output =
        Command::new(program).args(args).args(["qrels", "run"]).current_dir(folder).output();
    let output = output.expect("a program that runs");
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Judgments of up to 200 rows: documents of a query only once. A query with negative grades alone,
/// at which trec_eval stops or crashes, gets another judgment.
fn judgments_of(bytes: &mut Bytes<'_>) -> String {
    const GRADES: [&str; 8] = ["0", "1", "2", "3", "-1", "-2", "10", "1"];
    let (mut seen, mut sound) = (std::collections::BTreeSet::new(), [true; 8]);
    let mut text = String::new();
    for _ in 0..bytes.byte().min(200) {
        let (row, grade) = (bytes.byte(), GRADES[usize::from(bytes.byte() % 8)]);
        if seen.insert(row) {
            let query = usize::from(row >> 5);
            let is_first = !seen.iter().any(|&other| other != row && other >> 5 == row >> 5);
            sound[query] = !grade.starts_with('-') || sound[query] && !is_first;
            text += &format!("{query} 0 d{} {grade}\n", row & 31);
        }
    }
    let unsound = (0..8).filter(|&query| !sound[query]);
    text + &unsound.map(|query| format!("{query} 0 d99 0\n")).collect::<String>()
}

/// Results: scores with many ties, and some that are equal as f32 only.
fn results_of(bytes: &mut Bytes<'_>) -> String {
    const SCORES: [&str; 8] = ["1", "2", "2.00000000001", "-1", "0", "1e30", "0.5", "3"];
    let mut seen = std::collections::BTreeSet::new();
    let mut text = String::new();
    while !bytes.0.is_empty() {
        let (row, score) = (bytes.byte(), bytes.byte());
        if seen.insert(row) {
            text +=
                &format!("{} Q0 d{} 1 {} t\n", row >> 5, row & 31, SCORES[usize::from(score % 8)]);
        }
    }
    text
}
