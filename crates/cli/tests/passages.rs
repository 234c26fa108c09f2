//! Passages that are retrieved and judged, through every command that takes rankings.

use super::folder::{Folder, assert_says};

const GOLD: &str = r#"{"query":"q1","doc":"d1","start":10,"end":30}
{"query":"q1","doc":"d1","start":50,"end":60,"grade":2}
{"query":"q1","doc":"d2","start":0,"end":20}
{"query":"q2","doc":"d2","start":0,"end":20}
"#;
const RUN: &str = "query,doc,start,end,score
q1,d1,0,20,9
q1,d1,15,40,8
q1,d3,0,50,7
q1,d2,0,100,6
q1,d1,20,60,5
q2,d2,10,30,1
";

fn folder() -> Folder {
    let folder = Folder::empty();
    folder.put("gold.jsonl", GOLD);
    folder.put("res.csv", RUN);
    folder.put("res.tsv", RUN.replace(',', "\t").replace("start\tend", "begin\tstop"));
    folder.put("other.csv", "query,doc,at,end,score\nq1,d1,0,60,1\nq2,d2,0,20,1\n");
    folder
}

#[test]
fn every_way_to_a_value_gives_the_same() {
    let folder = folder();
    let measures = "SpanR@2,SpanIoU,SpanP(budget=45),SpanF(rel=2)";
    let expected =
        folder.out(&format!("eval gold.jsonl run=res.csv -m {measures} --per-query --quiet"));
    for line in [
        "run\tq1\tSpanR@2\tvalue\t0.4\n",
        "run\tq2\tSpanR@2\tvalue\t0.5\n",
        "\tSpanR@2\tmean\t0.45\n",
    ] {
        assert!(expected.contains(line), "{expected}");
    }
    folder.out("build gold.jsonl run=res.csv --facet span -o run.lmx");
    folder.out(&format!("eval gold.jsonl run=res.csv -m {measures} --partial part.lms --quiet"));
    for command in [
        format!("eval gold.jsonl run=res.tsv -m {measures} --per-query --quiet"),
        format!("eval run.lmx -m {measures} --per-query --quiet"),
        format!("eval run.lmx -m {measures} --per-query --quiet --engine reference"),
    ] {
        assert_eq!(folder.out(&command), expected, "{command}");
    }
    let means = |text: &str| {
        text.lines().filter(|line| line.contains("\tmean\t")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(means(&folder.out("merge part.lms --quiet")), means(&expected));
    let usual = folder.out("eval gold.jsonl res.csv --facet span --quiet");
    assert_eq!(means(&usual).len(), 3, "{usual}");
    let compared = folder.out("compare gold.jsonl a=res.csv b=res.tsv -m SpanR --format table");
    assert!(compared.contains("SpanR") && !compared.contains("Judged"), "{compared}");
    for page in [
        "compare gold.jsonl a=res.csv b=res.tsv -m SpanR -o page.html --quiet",
        "eval gold.jsonl res.csv -m SpanIoU -o page.html --quiet",
    ] {
        folder.out(page);
        assert!(folder.get("page.html").starts_with(b"<!"), "{page}");
    }
    let info = folder.out("info --verify run.lmx");
    assert!(info.contains("by span") && info.contains("verified     ok"), "{info}");
}

#[cfg(feature = "parquet")]
#[test]
fn a_file_of_a_table_is_read() {
    let folder = folder();
    let expected = folder.out("eval gold.jsonl run=res.csv -m SpanIoU --quiet");
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/passages.parquet");
    folder.put("res.parquet", std::fs::read(data).unwrap());
    assert_eq!(folder.out("eval gold.jsonl run=res.parquet -m SpanIoU --quiet"), expected);
    let error = folder.error(
        "eval res.parquet run=res.parquet -m SpanIoU --columns \
         query=query,doc=doc,start=from,score=score",
    );
    assert_says(&error, &["there is no column `from` for the start"]);
}

#[test]
fn show_says_what_each_passage_brings() {
    let folder = folder();
    let text = folder.out("show gold.jsonl res.csv --query q1 -m SpanR");
    for part in [
        "50 gold positions",
        "5 passages, 50 of 50 gold positions",
        "d1 [0, 20)",
        "+10 of 50",
        "+0 of 50",
        "+20 of 50",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    let lines = folder.out("show gold.jsonl res.csv --query q1 --facet span --format jsonl");
    assert!(
        lines.contains(r#""doc_id":"d1 [15, 40)","score":8.0,"grade":null,"judgment":"+10 of 50""#),
        "{lines}"
    );
    folder.out("show gold.jsonl res.csv --query q1 --facet span --format json");
}

#[test]
fn what_is_wrong_is_said() {
    let folder = folder();
    for (command, message) in [
        (
            "eval gold.jsonl res.csv -m SpanR@5,nDCG@10",
            "SpanR@5 needs judgments by span, and nDCG@10 judgments of chunks: `laneval convert \
             --qrels --chunks` makes those",
        ),
        (
            "eval gold.jsonl other.csv -m SpanR",
            "other.csv:1: no start is among 'query', 'doc', 'at', 'end', 'score': its name may be \
             start, start_index, start_char_idx, start_offset, begin; `--columns \
             query=…,doc=…,start=NAME,score=…` gives others",
        ),
        ("eval gold.jsonl res.csv -m SpanR -J", "leave -J (judged_only) out"),
        ("eval gold.jsonl res.csv -m SpanR --ties input", "take no other --ties"),
        (
            "eval gold.jsonl res.csv -m SpanR --aggregate max",
            "leave --doc-id, --aggregate and --max-chunks out",
        ),
    ] {
        assert_says(&folder.error(command), &[message]);
    }
    let named = "eval gold.jsonl other.csv -m SpanP --quiet --columns \
                 query=query,doc=doc,start=at,score=score";
    assert!(folder.out(named).contains("\tSpanP\tmean\t0.75\n"), "{}", folder.out(named));
}
