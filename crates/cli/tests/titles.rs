//! Texts of queries from files, as `laneval show` reads them.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::folder::{Folder, assert_says};

const SHOW: &str = "show qrels bm25.run --query q1 --query q2 --format json --topics";

/// Returns the texts of the queries q1 and q2 in a file with this content.
fn titles(name: &str, content: impl AsRef<[u8]>) -> [Value; 2] {
    let folder = Folder::new();
    folder.put(name, content);
    let ran = folder.run(&format!("{SHOW} {name}"));
    assert_eq!((ran.err.as_str(), ran.code), ("", 0), "{name}");
    let shown: Value = serde_json::from_str(&ran.out).unwrap();
    [0, 1].map(|at| shown["queries"][at]["text"].clone())
}

/// Returns the error of a file with this content, without the name of the file in front.
fn wrong(content: impl AsRef<[u8]>) -> String {
    let folder = Folder::new();
    folder.put("t", content);
    let error = folder.error(&format!("{SHOW} t"));
    error.strip_prefix("error: t:").unwrap_or_else(|| panic!("{error}")).trim_end().to_owned()
}

#[test]
fn texts_are_read_in_all_their_formats() {
    for (name, content) in [
        ("topics.tsv", "q1\tblue cars\nq9\tneither\nq2\tred, round \"things\"\n"),
        ("crlf.tsv", "\u{feff}q1\tblue cars\r\n\r\nq2\tred,  round \"things\" \r\n"),
        ("quoted.tsv", "q1\t\"blue cars\"\nq2\t\"red, round \"\"things\"\"\"\n"),
        ("header.tsv", "n\ttext\tqid\n1\tblue cars\tq1\n2\tred, round \"things\"\tq2\n"),
        ("header.csv", "Query_ID,Title\nq1,blue cars\nq2,\"red,\n\nround\n\"\"things\"\"\"\n"),
        ("blanks.csv", "query_id , text\nq1,blue cars\nq2 ,\"red, round \"\"things\"\"\"\n"),
        ("semicolons.csv", "query_id;text\nq1;blue cars\nq2;\"red, round\n\"\"things\"\"\"\n"),
        ("named.csv", "sep=;\ntext;query_id\nblue cars;q1\n\"red, round \"\"things\"\"\";q2\n"),
        ("brackets.tsv", "[q9]\tneither\nq1\tblue cars\nq2\tred, round \"things\"\n"),
        ("two.csv", "_id,query,text\nq1,x,blue cars\nq2,y,\"red, round \"\"things\"\"\"\n"),
        (
            "queries.jsonl",
            "{\"_id\": \"q1\", \"text\": \"blue cars\", \"metadata\": \
             {}}\n\n{\"_id\": \"q2\", \"text\": \"red, round \\\"things\\\"\"}\n",
        ),
        (
            "q.jsonl",
            "{\"qid\":\"q1\",\"title\":\"blue cars\"}\n{\"qid\":\"q2\",\"title\":\"red, \
                     round \\\"things\\\"\"}",
        ),
        (
            "array.json",
            "[{\"query\":\"blue cars\",\"id\":\"q1\"},\n {\"id\":\"q2\",\"query\":\"red, \
                     round \\\"things\\\"\"}]",
        ),
        (
            "object.json",
            "{\"q1\": \"blue cars\",\n \"q9\": \"\",\n \"q2\": \"red, \
                         round \\\"things\\\"\"\n}\n",
        ),
        ("line.json", "{\"q1\": \"blue cars\", \"q2\": \"red, round \\\"things\\\"\"}"),
        (
            "topics.301",
            "<top>\n\n<num> Number: q1\n<title> Topic: blue\ncars\n\n<desc> Description:\nWhich \
             <i>cars</i>?\n</top>\n
<top><num>q2</num>\n<title>\nred, round \"things\"\n</title><narr>x</narr></top>\n",
        ),
    ] {
        let expected = ["blue cars", "red, round \"things\""];
        assert_eq!(titles(name, content), expected, "{name}");
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(content.as_bytes()).unwrap();
        assert_eq!(titles(name, gzip.finish().unwrap()), expected, "{name}");
        assert_eq!(
            titles(name, zstd::encode_all(content.as_bytes(), 1).unwrap()),
            expected,
            "{name}"
        );
    }
    let folder = Folder::new();
    folder.put("qrels", "17 0 a 1\n");
    folder.put("run", "17 Q0 a 1 1 t\n");
    folder.put("numbers.jsonl", "{\"query_id\": 17, \"text\": \"seventeen\"}\n");
    assert_says(
        &folder.out("show qrels run --query 17 --topics numbers.jsonl"),
        &["query 17: 1 judged document, 1 relevant (1 of grade 1)\n  seventeen\n\nrun"],
    );
}

#[test]
fn a_long_text_is_cut_and_a_repeated_one_is_no_error() {
    let [one, two] =
        titles("t", format!("q1\t{}\nq2\t{}\nq1\t{0}\n", "é".repeat(501), "é".repeat(500)));
    assert_eq!(one, format!("{}…", "é".repeat(499)));
    assert_eq!(two, "é".repeat(500));
    // Texts that differ where they are cut off differ.
    let long = "x".repeat(600);
    assert_eq!(
        wrong(format!("q1\t{long}\n\nq1\t{long}!\n")),
        "3: query 'q1' has another text here than on line 1"
    );
}

#[test]
fn what_is_no_text_of_a_query_is_an_error_with_its_line() {
    let row = "expected 'query<TAB>text', or a first line with the names of the columns, such as \
               query_id and text";
    let gzip = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1];
    for (content, expected) in [
        (&b"q1 blue cars\n"[..], format!("1: 1 field: {row}")),
        (b"q1,blue cars\n", format!("1: 1 field: {row}")),
        (b"q1\tblue\nq2\tred\tround\n", format!("2: 3 fields: {row}")),
        (b"qid\ttext\nq1\n", "2: 1 field, and the first line has 2".to_owned()),
        (b"qid,text\nq1,\"blue\nq2,red\n", "2: the quote of a field is not closed".to_owned()),
        (b"\tblue\n", "1: the id of the query is empty".to_owned()),
        (b"q1\tbl\xfce\n", "1: the text of the query is not UTF-8".to_owned()),
        (
            b"q1\tblue\nq2\tred\nq1\tgreen\n",
            "3: query 'q1' has another text here than on line 1".to_owned(),
        ),
        (
            b"{\"_id\": \"q1\"}\n",
            "1: no text is among '_id': its name may be text, title, query".to_owned(),
        ),
        (
            b"{\"_id\": \"q1\", \"text\": \"a\"}\n{\"text\": \"b\"}\n",
            "2: the id of the query is empty".to_owned(),
        ),
        (
            b"{\"number\": \"1\", \"text\": \"a\"}\n{\"number\": \"2\", \"text\": \"b\"}\n",
            "1: no id is among 'number', 'text': its name may be query_id, qid, _id, id".to_owned(),
        ),
        (
            b"{\"_id\": [1], \"text\": \"a\"}\n",
            "1: the id is an object or an array, and not a text or a number".to_owned(),
        ),
        (
            b"{\"_id\": \"q1\", \"text\": \"a\"}\n{\"_id\"\n",
            "2: the JSON ends here: is the file complete?".to_owned(),
        ),
        (
            b"{\"q1\": \"a\",\n\"q2\": [3]}",
            "2: the text is an object or an array, and not a text or a number".to_owned(),
        ),
        (b"\n{\"q1\": \"a\",\n\"q2\": \"b\"}\n}", "4: expected value at '}'".to_owned()),
        (
            b"{\"q1\": \"a\",\n\"q1\":\n\"b\"}",
            "3: query 'q1' has another text here than on line 1".to_owned(),
        ),
        (b"<topics>\n", "1: <topics>, but <top> was expected, as in topics of TREC".to_owned()),
        (
            b"<top>\n<num>q1\n<top>\n",
            "3: <top>, but </top> was expected: line 1 opens a topic".to_owned(),
        ),
        (b"<top>\n<num>q1\n<title>a\n", "1: <top> without </top>".to_owned()),
        (b"<top>\n<num>q1\n</top>\n", "1: the topic has no <title>".to_owned()),
        (b"<top>\n<title>q1\n</top>\n", "1: the topic has no <num>".to_owned()),
        (b"q1\tblue\0\n", "1: is binary: text was expected, in UTF-8".to_owned()),
        (b"q\x001\0\t\0", "1: is binary: text was expected, in UTF-8".to_owned()),
        (
            b"q1\tblue\rq2\tred\n",
            format!(
                "1: 3 fields: {row} (there is a carriage return inside: lines end with LF or CR LF)"
            ),
        ),
        (
            b"PAR1\x15\0",
            " is Parquet, which is not read here: records or a table of text were expected"
                .to_owned(),
        ),
        (&gzip, " cannot read: the gzip stream ends early: is the file complete?".to_owned()),
    ] {
        assert_eq!(wrong(content), expected, "{}", content.escape_ascii());
    }
    for nothing in ["", "\n\n", "qid\ttext\n", "{}", "[]", "\u{feff}"] {
        assert_says(&wrong(nothing), &[" there is no row in it: expected 'query<TAB>text', "]);
    }
    let many = "x\n".repeat(30);
    assert_says(&wrong(many), &["20: 1 field: ", "\nerror: … and 10 more"]);
    assert!(Folder::new().error(&format!("{SHOW} none")).starts_with("error: none: cannot open: "));
}

#[test]
fn queries_without_a_text_are_counted() {
    let folder = Folder::new();
    folder.put("t", "q2\tred\nq1\t \n");
    let ran =
        folder.run("show qrels bm25.run --query q1 --query q2 --query q3 --query q1 --topics t");
    assert_eq!(
        (ran.err.as_str(), ran.code),
        ("note: 2 of 3 queries have no text in t (q1, q3)\n", 0)
    );
    assert_eq!(folder.run("show qrels bm25.run --query q1 --query q2 --topics t --quiet").err, "");
    let ran = folder.run("show qrels bm25.run --query q3 --topics t --quiet");
    let expected =
        "warning: no query has a text in t: its first id is q2, those asked for are q3\n";
    assert_eq!((ran.err.as_str(), ran.code), (expected, 0));
    let json = folder.out("show qrels bm25.run --query q1 --format json");
    assert!(!json.contains("\"text\""), "{json}");
}

#[test]
fn files_of_texts_are_not_written_over() {
    let folder = Folder::new();
    folder.put("t.tsv", "q1\tblue\n");
    assert_says(
        &folder.error("show qrels bm25.run --query q1 --topics t.tsv -o t.tsv"),
        &["t.tsv: cannot write: it is one of the inputs\n"],
    );
}
