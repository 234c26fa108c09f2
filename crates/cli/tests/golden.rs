//! Judgments and results as people have them at hand: pairs without grades, golden sets with lists
//! of documents, tables of recommenders. Each is read without an option, by the right values.

use crate::folder::{Folder, assert_says};

/// Evaluates judgments and a run by RR of each query; returns the values and the notes.
fn values(folder: &Folder, qrels: &str, run: &str, options: &str) -> (String, String) {
    let ran = folder.run(&format!("eval {qrels} mine={run} -m RR --per-query {options}"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    let (mut queries, mut mean) = (Vec::new(), String::new());
    for line in ran.out.lines().skip(1) {
        let [_, query, _, stat, value] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        match query {
            "" => mean = format!("{stat}={value}"),
            query => queries.push(format!("{query}={value}")),
        }
    }
    queries.push(mean);
    (queries.join(" "), ran.err)
}

const RUN: &str = "q1 Q0 b 1 3 t\nq1 Q0 a 2 2 t\nq2 Q0 c 1 1 t\nq3 Q0 a 1 1 t\n";

#[test]
fn judgments_without_grades_have_grade_1() {
    let folder = Folder::empty();
    folder.put("run", RUN);
    let note = "without grades: each document has grade 1";
    let pairs = "q1\ta\nq2\tc\n";
    let rows = |line: &dyn Fn(&str, &str) -> String| {
        let [one, two] = [line("q1", "a"), line("q2", "c")];
        format!("{one}{two}")
    };
    let record = |query: &str, doc: &str| {
        format!("{{\"query_id\": \"{query}\", \"corpus-id\": \"{doc}\"}}\n")
    };
    for (name, text, options) in [
        ("nano.tsv", format!("query-id\tcorpus-id\n{pairs}"), ""),
        ("nano.csv", format!("user_id,item_id\n{}", pairs.replace('\t', ",")), ""),
        ("pairs", format!("qid pid\n{}", pairs.replace('\t', " ")), ""),
        ("bare.tsv", pairs.to_owned(), "--columns query,doc"),
        ("turned.csv", rows(&|query, doc| format!("{doc},x,{query}\n")), "--columns doc,-,query"),
        (
            "more.tsv",
            format!("qid\tpid\tsplit\n{}", rows(&|query, doc| format!("{query}\t{doc}\tdev\n"))),
            "--columns query=qid,doc=pid,grade=-",
        ),
        ("lines.jsonl", rows(&record), ""),
        ("array.json", format!("[{}]", rows(&record).trim_end().replace('\n', ", ")), ""),
    ] {
        folder.put(name, text);
        let (found, notes) = values(&folder, name, "run", options);
        assert_eq!(found, "q1=0.5 q2=1 mean=0.75", "{name}");
        assert_says(&notes, &[&format!("note: {name}: "), note]);
        assert_eq!(notes.matches(note).count(), 1, "{notes}");
        // They are converted with their grades.
        folder.out(&format!("convert {name} --qrels -o out.qrels --quiet {options}"));
        assert_eq!(folder.get("out.qrels"), b"q1 0 a 1\nq2 0 c 1\n", "{name}");
    }
}

/// Where a column may have the grades under an unknown name, or where a run would have no order,
/// nothing is guessed.
#[test]
fn what_may_have_grades_or_has_no_order_is_refused() {
    let folder = Folder::empty();
    folder.put("run", RUN);
    folder.put("more.tsv", "qid\tpid\tweight\nq1\ta\t3\n");
    folder.put("bare.tsv", "q1\ta\nq2\tc\nq3\ta\n");
    folder.put("qrels", "q1 0 a 1\n");
    for (args, expected) in [
        ("eval more.tsv run -m RR", "more.tsv:1: found no grade among 'qid', 'pid', 'weight'"),
        ("eval more.tsv run -m RR", "and `-` as its name gives each document grade 1"),
        (
            "eval bare.tsv run -m RR",
            "there is no header, and 2 columns: say which are queries and documents in their order (`--columns query,doc`)",
        ),
        ("eval qrels more.tsv -m RR", "found no score among 'qid', 'pid', 'weight'"),
        ("eval qrels bare.tsv -m RR --columns query,doc", "there is no header"),
    ] {
        assert_says(&folder.error(args), &[expected]);
    }
}

#[test]
fn golden_sets_are_read() {
    let folder = Folder::empty();
    folder.put("run", RUN);
    let [one, two] = ["\"q1\"", "\"q2\""];
    for (name, text) in [
        (
            "gold.jsonl",
            format!(
                "{{\"id\": {one}, \"query\": \"a text\", \"relevant_ids\": [\"a\"]}}\n{{\"id\": {two}, \"query\": \"b\", \"relevant_ids\": [\"c\"]}}\n"
            ),
        ),
        (
            "gold.json",
            format!(
                "[{{\"question_id\": {one}, \"question\": \"x\", \"expected_doc_ids\": [\"a\", \"z\"]}}, {{\"question_id\": {two}, \"expected_doc_ids\": [\"c\"]}}]"
            ),
        ),
        (
            "chunks.jsonl",
            format!(
                "{{\"qid\": {one}, \"relevant_chunk_ids\": {{\"a\": 2, \"b\": 0}}}}\n{{\"qid\": {two}, \"relevant_chunk_ids\": {{\"c\": 1}}}}\n"
            ),
        ),
        (
            "grades.jsonl",
            format!(
                "{{\"query_id\": {one}, \"corpus-ids\": [\"b\", \"a\"], \"grades\": [0, 1]}}\n{{\"query_id\": {two}, \"corpus-ids\": [\"c\"], \"grades\": [1]}}\n"
            ),
        ),
        (
            "one.jsonl",
            format!(
                "{{\"id\": {one}, \"text\": \"x\", \"positive-corpus-id\": \"a\"}}\n{{\"id\": {two}, \"text\": \"y\", \"positive-corpus-id\": \"c\"}}\n"
            ),
        ),
        ("lists.json", format!("{{{one}: [\"a\"], {two}: [\"c\"]}}")),
        ("spread.json", format!("{{\n  {one}: [\n    \"a\"\n  ],\n  {two}: [\"c\", \"c\"]\n}}\n")),
        ("pairs.json", format!("{{{one}: [[\"a\", 1], [\"b\", 0]], {two}: [[\"c\", 2]]}}")),
        (
            "records.json",
            format!(
                "{{{one}: [{{\"corpus_id\": \"a\", \"score\": 1}}], {two}: [{{\"corpus_id\": \"c\", \"score\": 1}}]}}"
            ),
        ),
    ] {
        folder.put(name, &text);
        let (found, _) = values(&folder, name, "run", "");
        assert_eq!(found, "q1=0.5 q2=1 mean=0.75", "{name}");
        let piped = folder.run_with("eval - mine=run -m RR --per-query", &text);
        assert!(piped.out.contains("\tmean\t0.75\n"), "{name} through a pipe: {}", piped.out);
    }
}

#[test]
fn rankings_of_golden_sets_are_read() {
    let folder = Folder::empty();
    folder.put("qrels", "q1 0 a 1\nq2 0 c 1\n");
    let [one, two] = ["\"q1\"", "\"q2\""];
    for (name, text) in [
        (
            "run.jsonl",
            format!(
                "{{\"id\": {one}, \"retrieved_ids\": [\"b\", \"a\"]}}\n{{\"id\": {two}, \"retrieved_ids\": [\"c\"]}}\n"
            ),
        ),
        (
            "empty.jsonl",
            format!(
                "{{\"id\": \"q0\", \"retrieved_doc_ids\": []}}\n{{\"id\": {one}, \"retrieved_doc_ids\": [[\"a\", 1], [\"b\", 2]]}}\n{{\"id\": {two}, \"retrieved_doc_ids\": [[\"c\", 2]]}}\n"
            ),
        ),
        (
            "scores.jsonl",
            format!(
                "{{\"qid\": {one}, \"context_ids\": [\"a\", \"b\"], \"scores\": [1, 2]}}\n{{\"qid\": {two}, \"context_ids\": [\"c\"], \"scores\": [1]}}\n"
            ),
        ),
        (
            "rankllm.jsonl",
            format!(
                "{{\"query\": {{\"text\": \"x\", \"qid\": {one}}}, \"candidates\": [{{\"docid\": \"b\", \"score\": 2.5, \"doc\": {{\"text\": \"b\"}}}}, {{\"docid\": \"a\", \"score\": 1.5}}]}}\n{{\"query\": {{\"text\": \"y\", \"qid\": {two}}}, \"candidates\": [{{\"docid\": \"c\", \"score\": 1}}]}}\n"
            ),
        ),
        ("lists.json", format!("{{{one}: [\"b\", \"a\"], {two}: [\"c\"]}}")),
        (
            "pairs.json",
            format!("{{\"q0\": [], {one}: [[\"a\", 0.25], [\"b\", 0.5]], {two}: [[\"c\", 1]]}}"),
        ),
        (
            "records.json",
            format!(
                "{{{one}: [{{\"corpus_id\": \"a\", \"score\": 0.1}}, {{\"corpus_id\": \"b\", \"score\": 0.2}}], {two}: [{{\"corpus_id\": \"c\", \"score\": 1}}]}}"
            ),
        ),
        ("items.csv", "user,item,rank,score\nq1,b,1,2\nq1,a,2,1\nq2,c,1,1\n".to_owned()),
        ("shop.csv", "customerId,productId,score\nq1,b,2\nq1,a,1\nq2,c,1\n".to_owned()),
        ("news.csv", "customer_id,articleId,rank\nq1,b,1\nq1,a,2\nq2,c,1\n".to_owned()),
        ("movies.csv", "userId,movieId,prediction\nq1,b,2\nq1,a,1\nq2,c,1\n".to_owned()),
    ] {
        folder.put(name, text);
        assert_eq!(values(&folder, "qrels", name, "").0, "q1=0.5 q2=1 mean=0.75", "{name}");
    }
    for (name, text, expected) in [
        (
            "mixed.json",
            "{\"q1\": [\"a\"], \"q2\": [[\"c\", 1]]}",
            "mixed.json:1: query 'q2': the documents have scores, and those of the first list have none",
        ),
        (
            "partly.json",
            "{\"q1\": [[\"a\", 1], \"b\"]}",
            "2 ids and 1 score: a score for each id was expected",
        ),
        (
            "triple.json",
            "{\"q1\": [[\"a\", 1, 2]]}",
            "an id and a score were expected at '[\"a\", 1, 2]'",
        ),
        ("nameless.json", "{\"q1\": [{\"x\": \"a\"}]}", "a document has no id: its keys are 'x'"),
        (
            "object.json",
            "{\"q1\": {\"a\": 1}, \"q2\": [\"c\"]}",
            "object.json:1: query 'q2' has an array, and not an object of documents",
        ),
    ] {
        folder.put(name, text);
        assert_says(&folder.error(&format!("eval qrels {name} -m RR")), &[expected]);
    }
}

/// Records may have the id and the text of a query: judgments and runs are read by the same key.
#[test]
fn the_run_is_read_by_the_key_of_the_judgments() {
    let folder = Folder::empty();
    folder.put("gold.jsonl", "{\"id\": \"q1\", \"query\": \"What?\", \"relevant_ids\": [\"a\"]}\n");
    folder.put("texts.jsonl", "{\"id\": \"7\", \"query\": \"What?\", \"expected_ids\": [\"a\"]}\n");
    folder.put(
        "run.jsonl",
        "{\"id\": \"q1\", \"query\": \"What?\", \"retrieved_ids\": [\"b\", \"a\"]}\n",
    );
    assert_eq!(values(&folder, "gold.jsonl", "run.jsonl", "").0, "q1=0.5 mean=0.5");
    assert_eq!(values(&folder, "texts.jsonl", "run.jsonl", "").0, "What?=0.5 mean=0.5");
}

#[test]
fn an_empty_list_is_a_query_to_which_nothing_is_relevant() {
    let folder = Folder::empty();
    folder.put("run", RUN);
    let note = "1 query has an empty list (q3): it is judged, and no document is relevant to it";
    for (name, text) in [
        (
            "gold.jsonl",
            "{\"id\": \"q1\", \"gold_ids\": [\"a\"]}\n{\"id\": \"q3\", \"gold_ids\": []}\n",
        ),
        ("gold.json", "{\"q3\": [], \"q1\": [\"a\"]}"),
        (
            "many.jsonl",
            &(0..300)
                .map(|n| {
                    format!(
                        "{{\"id\": \"q1\", \"gold_ids\": {{\"{}\": {n}.5}}}}\n",
                        if n == 0 { "a".to_owned() } else { format!("d{n}") }
                    )
                })
                .chain(["{\"id\": \"q3\", \"gold_ids\": []}\n".to_owned()])
                .collect::<String>(),
        ),
    ] {
        folder.put(name, text);
        let (found, notes) = values(&folder, name, "run", "--rel 0.5");
        assert_eq!(found, "q1=0.5 q3=0 mean=0.25", "{name}");
        assert_says(&notes, &[note]);
        // A label matrix has the query as well.
        folder.out(&format!("build {name} run -o m.lmx --quiet"));
        let averages = folder.out("eval m.lmx -m RR --rel 0.5 --format trec");
        assert!(averages.contains("0.2500"), "{averages}");
    }
}

#[test]
fn golden_sets_mean_what_trec_means_under_each_usual_name() {
    let folder = Folder::empty();
    folder.put("run", RUN);
    for key in [
        "relevant_ids",
        "relevant_doc_ids",
        "expected_doc_ids",
        "relevant_chunk_ids",
        "gold_ids",
        "doc_ids",
        "corpus-ids",
    ] {
        let record =
            |query: &str, doc: &str| format!("{{\"id\": \"{query}\", \"{key}\": [\"{doc}\"]}}\n");
        folder.put("gold.jsonl", format!("{}{}", record("q1", "a"), record("q2", "c")));
        let (found, _) = values(&folder, "gold.jsonl", "run", "");
        assert_eq!(found, "q1=0.5 q2=1 mean=0.75", "{key}");
        folder.out("convert gold.jsonl --qrels -o out.qrels --quiet");
        assert_eq!(folder.get("out.qrels"), b"q1 0 a 1\nq2 0 c 1\n", "{key}");
    }
}

#[test]
fn judgments_repeated_with_the_same_grade_count_once() {
    let folder = Folder::empty();
    folder.put("run", RUN);
    let one = "1 judgment is repeated with the same grade, and counts once";
    let two = "2 judgments are repeated with the same grade, and count once";
    for (name, text, note) in [
        ("one.qrels", "q1 0 a 1\nq1 0 b 0\nq2 0 c 1\nq1 0 a 1\n", one),
        ("one.csv", "query_id,doc_id\nq1,a\nq1,a\nq2,c\n", one),
        ("two.csv", "qid,docid,label\nq1,a,1\nq1,a,1\nq1,a,1.0\nq2,c,2\n", two),
    ] {
        folder.put(name, text);
        let (found, notes) = values(&folder, name, "run", "");
        assert_eq!(found, "q1=0.5 q2=1 mean=0.75", "{name}");
        assert_says(&notes, &[&format!("note: {name}: {note}\n")]);
    }
    let judges = "error: if several judges graded the documents, use --judges mean, min, max or \
                  each, or take each document's largest grade by --facet judge\n";
    for (name, text, places) in [
        ("other.qrels", "q1 0 a 1\nq1 0 b 0\nq1 0 a 2\n", "grade 2 here, but grade 1 on line 1"),
        (
            "other.csv",
            "qid,docid,label\nq1,a,1\nq1,b,0\nq1,a,0\n",
            "grade 0 here, but grade 1 on line 2",
        ),
    ] {
        folder.put(name, text);
        let line = text.lines().count();
        let expected = format!("error: {name}:{line}: docno 'a' of query 'q1' has {places}\n");
        assert_eq!(folder.error(&format!("eval {name} run -m RR")), expected + judges);
    }
}

/// RR by hand: b is at rank 1 of q1 and a at rank 2, c is at rank 1 of q2.
#[test]
fn labels_have_the_grades_of_their_words() {
    let folder = Folder::empty();
    folder.put("run", RUN);
    folder.put("labels.csv", "query,doc,label\nq1,a,E\nq1,b,C\nq1,z,I\nq2,c,S\n");
    folder.put("bare.tsv", "q1\ta\tE\nq1\tb\tC\nq1\tz\tI\nq2\tc\tS\n");
    for (rel, expected) in
        [(1, "q1=1 q2=1 mean=1"), (2, "q1=0.5 q2=1 mean=0.75"), (3, "q1=0.5 q2=0 mean=0.25")]
    {
        for name in ["labels.csv", "bare.tsv --columns query,doc,grade"] {
            let options = format!("--grades E=3,S=2,C=1,I=0 --rel {rel}");
            assert_eq!(values(&folder, name, "run", &options).0, expected, "{name} {rel}");
        }
    }
    let record = |query: &str, doc: &str, label: bool| {
        format!("{{\"qid\": \"{query}\", \"docid\": \"{doc}\", \"label\": {label}}}\n")
    };
    let records = [("q1", "a", true), ("q1", "b", false), ("q2", "c", true)];
    let records: String = records.map(|(query, doc, label)| record(query, doc, label)).concat();
    for (name, text) in [
        ("true.csv", "query,doc,label\nq1,a,true\nq1,b,False\nq2,c,TRUE\n"),
        ("true.jsonl", records.as_str()),
    ] {
        folder.put(name, text);
        assert_eq!(values(&folder, name, "run", "").0, "q1=0.5 q2=1 mean=0.75", "{name}");
    }
    let expected = "error: labels.csv:2: grade 'E' is not a number (`--grades E=…` gives words \
                    grades): expected 'query,doc,label'\n";
    assert!(folder.error("eval labels.csv run -m RR").starts_with(expected));
}

#[test]
fn infinite_scores_rank_and_nan_is_refused() {
    let folder = Folder::empty();
    folder.put("qrels", "q1 0 a 1\nq1 0 b 0\nq2 0 c 1\n");
    for (name, text) in [
        ("run.trec", "q1 Q0 a 2 -inf t\nq1 Q0 b 1 0.5 t\nq2 Q0 c 1 inf t\n"),
        ("run.csv", "query,doc,score\nq1,a,-Infinity\nq1,b,-9\nq2,c,Infinity\n"),
        ("run.json", "{\"q1\": {\"a\": -Infinity, \"b\": Infinity}, \"q2\": {\"c\": 1}}"),
    ] {
        folder.put(name, text);
        assert_eq!(values(&folder, "qrels", name, "").0, "q1=0.5 q2=1 mean=0.75", "{name}");
    }
    for (name, text, place, expected) in [
        ("nan.trec", "q1 Q0 b 1 nan t\n", 1, "query iter docno rank score tag"),
        ("nan.csv", "query,doc,score\nq1,b,NaN\n", 2, "query,doc,score"),
        ("nan.json", "{\"q1\": {\"b\": NaN}}", 1, "{\"query\": {\"document\": score, …}, …}"),
    ] {
        folder.put(name, text);
        let number = if name == "nan.trec" { "nan" } else { "NaN" };
        let message = format!(
            "error: {name}:{place}: score '{number}' of document 'b' of query 'q1' is not a \
             number: expected '{expected}'\n"
        );
        assert_eq!(folder.error(&format!("eval qrels {name} -m RR")), message);
    }
}

/// A file of averages has no ranking, however it is laid out.
#[test]
fn results_of_mteb_are_no_run() {
    let folder = Folder::empty();
    folder.put("qrels", "q1 0 a 1\n");
    let line = "{\"task_name\": \"NFCorpus\", \"scores\": {\"test\": [{\"ndcg_at_10\": 0.31}]}, \
                \"evaluation_time\": 12.5}\n";
    folder.put("line.json", line);
    folder.put("lines.json", line.replace(", \"", ",\n  \"").replacen('{', "{\n  ", 1));
    for name in ["line.json", "lines.json"] {
        let error = folder.error(&format!("eval qrels {name} -m RR"));
        assert!(error.starts_with(&format!("error: {name}:")), "{error}");
    }
}

#[test]
fn archives_are_told_with_the_command_that_extracts_them() {
    let folder = Folder::empty();
    folder.put("qrels", "q1 0 a 1\n");
    folder.put("run", RUN);
    let mut tar = vec![0; 1536];
    tar[..5].copy_from_slice(b"qrels");
    tar[257..262].copy_from_slice(b"ustar");
    tar[512..521].copy_from_slice(b"q1 0 a 1\n");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, &tar).unwrap();
    for (name, bytes) in [("all.tar", tar), ("all.tgz", gzip.finish().unwrap())] {
        folder.put(name, bytes);
        let expected =
            format!("error: {name}: is an archive (tar): extract it first (`tar xf FILE`)\n");
        for inputs in [format!("{name} run"), format!("qrels {name}")] {
            assert_eq!(folder.error(&format!("eval {inputs} -m RR")), expected);
        }
    }
}
