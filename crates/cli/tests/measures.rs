//! `laneval measures` and `-m` agree, and each measure has plain words.

use std::collections::BTreeSet;

use laneval::measure::{CutoffRule, FOREIGN, MEASURES};

/// What `laneval measures NAME` explains is what `-m NAME` computes, for every name of every tool;
/// what one refuses the other refuses in the same words.
#[test]
fn measures_explains_what_eval_computes() {
    let folder = tempfile::TempDir::new().unwrap();
    std::fs::write(folder.path().join("qrels"), "q 0 a 1\nq 0 b 0\n").unwrap();
    std::fs::write(folder.path().join("run"), "q Q0 a 1 2 t\nq Q0 b 2 1 t\n").unwrap();
    std::fs::write(folder.path().join("gold"), "query,doc,start,end\nq,a,0,5\n").unwrap();
    std::fs::write(folder.path().join("passages"), "query,doc,start,end,score\nq,a,2,9,1\n")
        .unwrap();
    let call = |args: &[&str]| {
        let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_laneval"));
        let output = command.current_dir(folder.path()).args(args).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let bare = FOREIGN.iter().flat_map(|row| [row.name.to_owned(), row.example().into_owned()]);
    let prefixed = FOREIGN.iter().map(|row| row.prefixed(&row.example()));
    let ours = MEASURES.iter().flat_map(|row| [row.name.to_owned(), row.name.to_lowercase()]);
    let others =
        ["official", "trec:set", "AP,nDCG@5", "MAP@K", "rbp@95", "XX,P@0", "F2"].map(str::to_owned);
    let all: BTreeSet<String> = bare.chain(prefixed).chain(ours).chain(others).collect();
    let (mut computed_ones, mut refused) = (0, 0);
    for name in all {
        let (code, explained, stderr) = call(&["measures", &name, "--format", "json"]);
        // Passages have positions in their files.
        let [qrels, run] = if name.to_lowercase().starts_with("span") {
            ["gold", "passages"]
        } else {
            ["qrels", "run"]
        };
        let (computes, computed, why) =
            call(&["eval", qrels, run, "--format", "jsonl", "-m", &name]);
        if code != Some(0) {
            assert_eq!((computes, why), (Some(2), stderr), "{name}");
            refused += 1;
            continue;
        }
        let pages: serde_json::Value = serde_json::from_str(&explained).unwrap();
        let pages = pages.as_array().cloned().unwrap_or_else(|| vec![pages]);
        let measures = pages.iter().flat_map(|page| page["measures"].as_array().unwrap());
        let explained: BTreeSet<&str> = measures.map(|measure| measure.as_str().unwrap()).collect();
        if explained.is_empty() {
            assert!(computes == Some(2) && why.contains("needs a"), "{name}: {why}");
            continue;
        }
        assert_eq!(computes, Some(0), "{name}: {why}");
        let lines =
            computed.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let computed: BTreeSet<String> =
            lines.map(|line| line["measure"].as_str().unwrap().to_owned()).collect();
        assert_eq!(explained, computed.iter().map(String::as_str).collect(), "{name}");
        computed_ones += 1;
    }
    assert!(computed_ones > 150 && refused > 5, "{computed_ones} {refused}");
}

/// A row of the list is a line for people who know no information retrieval: it is short, and has
/// none of the field's words.
#[test]
fn measures_have_plain_words() {
    let stdout = |args: &[&str]| {
        let output =
            assert_cmd::Command::new(env!("CARGO_BIN_EXE_laneval")).args(args).output().unwrap();
        assert!(output.status.success(), "{args:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let list = stdout(&["measures", "--plain"]);
    for text in [&list, &stdout(&["measures"])] {
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
    let unbroken = list.split_whitespace().collect::<Vec<_>>().join(" ");
    let field = ["retrieved", "cumulated", "reciprocal", "pooled", "qrels", "Σ", "gain rate"];
    for row in MEASURES {
        assert!(
            row.plain.ends_with('.') && row.plain.chars().count() <= 100,
            "{}: {}",
            row.name,
            row.plain
        );
        assert!(field.iter().all(|word| !row.plain.contains(word)), "{}: {}", row.name, row.plain);
        let names_k = row.plain.contains(" k ") || row.plain.contains(" k,");
        assert!(
            !names_k || matches!(row.cutoff, CutoffRule::Required | CutoffRule::Optional),
            "{}",
            row.name
        );
        let listed = format!("{}{} {}", row.name, row.cutoff, row.plain);
        assert!(unbroken.contains(&listed), "{listed}");
        let explained = stdout(&["measures", row.name]);
        let explained = explained.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            explained.starts_with(&format!("{} {} {}", row.name, row.plain, row.doc)),
            "{explained}"
        );
    }
    let different: BTreeSet<&str> = MEASURES.iter().map(|row| row.plain).collect();
    assert_eq!(different.len(), MEASURES.len());
    let listing = stdout(&["measures", "--plain", "map"]);
    assert!(listing.contains("\nAP[@k]") && !listing.contains("\nRR[@k]"), "{listing}");
}
