//! Judgments by facet: qrels whose lines name a judge, a subtopic or a preference group beside the
//! document.
//!
//! ```text
//! by judge or subtopic   query group document grade
//! by preference          query group document level, or query group sub-group document level
//! ```
//!
//! Rows become records as those of all qrels do (see `record`): together if the rows of a query
//! are, and else in any order. A record has the numbers of its groups in the place of its docno's
//! hash (`rows`). The records of a query become judgments at once (`query_builder`): its documents
//! are numbered in bytewise order, groups in the bytewise order of their names, and its judgments
//! are checked (`query_judgments`). At the end all judgments go to where they stay, and groups get
//! their numbers among the names of all workers (`assembly`). Plain labels are made of each
//! document's largest grade.
//!
//! ```text
//! text     q1 ann d7 1 │ q1 ann d3 0 │ q1 bob d7 2 ║ q2 ann d1 1
//! records  (d7, ann) (d3, ann) (d7, bob)           ║ (d1, ann)      ann = 0, bob = 1 of a worker
//! query    q1: documents d7 = 0, d3 = 1, then in bytewise order d3, d7 → 0, 1
//!          judgments by (document, group, sub-group), in a block of the worker
//! all      names of all workers → 0, 1 …; judgments of all queries in the order of queries
//! ```
//!
//! In most texts a document's lines are together, or each group names the same documents in the
//! same order. Then a record's document is the last document or the next one: one comparison
//! decides, and nothing is hashed. Counting puts rows in order by document; only a document's own
//! few rows out of order are sorted. So all the work is linear but for sorting distinct docnos and
//! names. Why bytewise order of names and docnos: the numbers are stored in matrices and summed
//! over in their order, so they must not depend on the order of the lines, on borders of chunks, or
//! on threads. ndeval and trec_eval also go by names: ndeval by docnos where gains are equal,
//! trec_eval by judgment groups when it averages.

mod assembly;
mod fingerprint;
mod pushed;
mod query_builder;
mod query_judgments;
mod rows;
mod shape;

use std::io::{BufRead, BufReader, Read};

use rayon::prelude::*;

use super::qrels::Qrels;
use crate::bytes::{hash::Seed, limits::MAX_LINE_BYTES};
use crate::columns::{CheckedColumns, QrelsColumns};
use crate::error::{Error, Problems, Result};
use crate::format::{RowLayout, open_input::OpenInput, tables::with_judgments};
use crate::judged_by::FacetKind;
use crate::lines::{
    chunks::{ChunkSize, CutRule},
    diagnostics::whole_file,
    dialect::Dialect,
    layout::RankColumn,
    scan::split,
    shape::{Role, counts},
};
use crate::matrix::pieces;
use crate::progress::ProgressHandle;
use crate::record::{
    columns::{ColumnSource, PieceSize},
    layout::{Docnos, Record, address},
    reader::{ReadContext, TextSource},
};
use assembly::{QUERIES, of_built};
pub use pushed::FacetQrelsBuilder;
use query_builder::FacetBuilder;
use rows::read_from;
use shape::{FacetContext, FacetShape};

/// The facet, the dialect and the number of fields, if it is known, of judgments by facet.
#[derive(Clone, Copy)]
pub(crate) struct FacetForm {
    pub by: FacetKind,
    pub dialect: Dialect,
    /// The number of fields of a line of preferences.
    pub fields: Option<usize>,
}

impl FacetForm {
    /// Returns the number of fields of a line, which the first line of preferences decides if it is
    /// not known: the two formats differ in it. `None` if the text ends before such a line.
    ///
    /// # Errors
    /// An error of the reader.
    pub(crate) fn learn(self, mut text: impl BufRead) -> std::io::Result<Option<usize>> {
        if self.fields.is_some() || self.by != FacetKind::Preference {
            return Ok(Some(self.fields.unwrap_or(4)));
        }
        let (comments, mut line) = (self.dialect.rules().qrels_comments, Vec::new());
        while text.by_ref().take(MAX_LINE_BYTES as u64).read_until(b'\n', &mut line)? > 0 {
            if counts(line.trim_ascii_end(), comments) {
                return Ok(Some(split(&line).count()));
            }
            line.clear();
        }
        Ok(None)
    }

    /// Returns the shape of a line of this number of fields.
    fn shape(self, fields: usize) -> FacetShape {
        let fields = if self.by == FacetKind::Preference { fields.clamp(4, 5) } else { 4 };
        FacetShape::new(self.by, fields, self.dialect)
    }

    /// Reads a qrels text by facet (judge, subtopic or preference); returns the usable judgments
    /// and the problems.
    pub(crate) fn read(
        self,
        text: &OpenInput,
        ReadContext { seed, size, watch }: ReadContext<'_>,
    ) -> Result<(Qrels, Problems)> {
        // A text that cannot be read is reported when it is read.
        let start = text.text().and_then(|start| self.learn(BufReader::new(start)));
        let shape = self.shape(start.ok().flatten().unwrap_or(4));
        let form = RowLayout::trec();
        let rows = TextSource::buffered(text, &form, size, watch);
        let (name, expected) = (&text.name, shape.expected());
        read_from(&rows, false, FacetContext { name, shape, expected, seed, watch })
    }

    /// Reads a stream of qrels by facet, whose lines have this number of fields; returns the usable
    /// judgments and the problems.
    pub(crate) fn read_stream(
        self,
        name: &str,
        fields: usize,
        text: &mut (dyn Read + Send),
        watch: Option<&ProgressHandle>,
    ) -> Result<(Qrels, Problems)> {
        let (shape, form, seed) = (self.shape(fields), RowLayout::trec(), Seed::random());
        let size = ChunkSize::default();
        let blocks = form.blocks(Box::new(text), |rule| CutRule::at_lines(size, rule));
        let mut blocks = blocks.map_err(|error| Error::unreadable(name, error))?;
        let rows = TextSource::passing(name, &form, size, &mut *blocks);
        let expected = shape.expected();
        read_from(&rows, true, FacetContext { name, shape, expected, seed, watch })
    }
}

/// Reads qrels by facet from a table or from records such as JSON; returns the usable judgments and
/// the problems.
pub(crate) fn read_rows(
    text: &OpenInput,
    form: &RowLayout,
    by: FacetKind,
    dialect: Dialect,
    ReadContext { seed, size, watch }: ReadContext<'_>,
) -> Result<(Qrels, Problems)> {
    if let Some(table) = form.columns() {
        return with_judgments(table, |batches| {
            CheckedColumns::from_judgments(&text.name, batches, seed)?.check_file(Role::Qrels)?;
            read_columns(&text.name, batches, by, dialect, seed, watch)
        });
    }
    let (shape, expected) = (FacetShape::new(by, 4, dialect), &form.expected(Role::Qrels));
    let rows = TextSource::buffered(text, form, size, watch);
    read_from(&rows, false, FacetContext { name: &text.name, shape, expected, seed, watch })
}

/// Reads qrels by facet from columns in memory; returns the usable judgments and the problems.
/// Problems have row numbers as line numbers.
pub(crate) fn read_columns(
    name: &str,
    batches: &[QrelsColumns<'_>],
    by: FacetKind,
    dialect: Dialect,
    seed: Seed,
    watch: Option<&ProgressHandle>,
) -> Result<(Qrels, Problems)> {
    let columns = CheckedColumns::from_judgments(name, batches, seed)?;
    let has_subgroups = columns.batches.iter().any(|batch| batch.groups[1].is_some());
    let fault = match columns.first_batch(|batch| batch.groups[0].is_none()) {
        Some(batch) => Some(format!("batch {batch}: the groups are missing")),
        None => (has_subgroups && by != FacetKind::Preference)
            .then(|| "there are sub-groups, which only preferences have".to_owned()),
    };
    if let Some(fault) = fault {
        let message = format!("{fault}, and judgments are read by {by}");
        return Err(whole_file(name, message).into());
    }
    let shape = FacetShape::new(by, if has_subgroups { 5 } else { 4 }, dialect);
    let rows = ColumnSource::all(&columns, PieceSize::default(), watch);
    read_from(&rows, false, FacetContext { name, shape, expected: "", seed, watch })
}

impl Qrels {
    /// Makes qrels of judgments (query, group, docno, grade) by judge, subtopic or preference, in
    /// any order. A document may have one judgment in each group. A group is a judge, a subtopic,
    /// or a group of preferences, with levels as grades. The result equals the judgments of a text
    /// with these fields.
    ///
    /// ```
    /// use laneval::{Evaluator, FacetKind, Join, Qrels};
    /// let judgments = [("q1", "s1", "d1", 1.0), ("q1", "s2", "d1", 0.0), ("q1", "s2", "d2", 1.0)];
    /// let qrels = Qrels::by_facet(judgments, FacetKind::Subtopic)?;
    /// let run = [("q1", "d1", 0.5), ("q1", "d2", 0.25)];
    /// let matrix = Join::default().rankings(&qrels, [("mine".to_owned(), run)])?;
    /// let scores = Evaluator::new(["StRecall@1", "StRecall@2"])?.evaluate(&matrix)?;
    /// assert_eq!(scores.average("mine", "StRecall@1"), Some(0.5));
    /// # Ok::<(), laneval::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Qrels::new`]; a document that is judged twice in a group; preferences that contradict
    /// one another.
    pub fn by_facet<Q: AsRef<[u8]>, G: AsRef<[u8]>, D: AsRef<[u8]>>(
        judgments: impl IntoIterator<Item = (Q, G, D, f64)>,
        by: FacetKind,
    ) -> Result<Self> {
        let mut rows = FacetQrelsBuilder::new(by, Dialect::Laneval)?;
        for (query, group, doc, grade) in judgments {
            rows.push(query.as_ref(), group.as_ref(), doc.as_ref(), grade);
        }
        Ok(rows.finish(None)?.with_dialect(None))
    }

    /// Returns a copy of the qrels with numbered documents, by which a matrix knows the documents
    /// of a ranking. `pools` needs such a matrix. The numbers take four bytes for each judged
    /// document that a run retrieves.
    ///
    /// With judgments by judge or subtopic, each document gets its largest grade.
    ///
    /// # Errors
    /// Judgments by span, which are of no documents.
    pub fn numbered(&self) -> Result<Self> {
        reject_if!(
            self.passages.is_some(),
            "judgments by span name no documents that runs could share: make judgments of chunks \
             of them"
        );
        /// The name of the one judge of all documents.
        const JUDGE: &[u8] = b"all";
        let shape = FacetShape::new(FacetKind::Judge, 4, Dialect::Laneval);
        let (name, seed) = (self.name(), self.seed());
        let built = pieces(self.queries().len(), QUERIES).into_par_iter().map(|queries| {
            let mut builder = FacetBuilder::new(shape, seed, Some(&[JUDGE]));
            for query in queries {
                let (mut records, mut docnos) = (Vec::new(), Vec::new());
                for (doc, grade) in self.documents(query as u32) {
                    let (key, at) = (shape.grade(grade).to_bits(), address(0, docnos.len()));
                    let length = doc.len() as u32;
                    records.push(Record { key, at, length, ..Record::default() });
                    docnos.extend_from_slice(&doc);
                }
                if !records.is_empty() {
                    let docnos = Docnos::Chunks {
                        first: 0,
                        chunks: &[&docnos],
                        text: true,
                        ranks: RankColumn::None,
                    };
                    builder.add(self.queries().get(query), &records, docnos);
                }
            }
            builder.built
        });
        let context = FacetContext { name, shape, expected: "", seed, watch: None };
        let (numbered, problems) = of_built(built.collect(), &[JUDGE], context)?;
        Ok(problems.into_result(numbered)?.with_settings_of(self))
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;
    use std::sync::Arc;

    use super::*;
    use crate::bytes::mmap::FileAccess;
    use crate::columns::IdColumn;
    use crate::format::ReadOptions;
    use crate::judged_by::FacetKind::{Judge, Preference, Subtopic};
    use crate::settings::Join;
    use crate::test_support::{input, random};

    const TREC: &str = "q2 bob d1 2\nq1 ann d2 1\nq1 bob d2 0\nq1 ann d1 -1\nq2 7 e 1.5\n";

    /// The facets, and the numbers of fields of their lines.
    const FORMS: [(FacetKind, usize); 4] =
        [(Judge, 4), (Subtopic, 4), (Preference, 4), (Preference, 5)];

    fn read(by: FacetKind, text: &str, columns: Option<&str>) -> Result<Qrels> {
        let columns = columns.map(|columns| columns.parse().unwrap());
        let qrels_as = ReadOptions { columns, ..ReadOptions::default() };
        let join = Join { judged_by: Some(by), qrels_as, ..Join::default() };
        join.qrels(input("qrels", text))
    }

    fn all(qrels: &Qrels) -> impl PartialEq + std::fmt::Debug + use<> {
        let grouped = qrels.facets().unwrap().clone();
        (
            qrels.fingerprint(),
            qrels.queries().clone(),
            grouped,
            qrels.facts().clone(),
            qrels.codebook().clone(),
        )
    }

    /// Returns the rows of a text in TREC.
    fn rows() -> Vec<[&'static str; 4]> {
        TREC.lines().map(|line| line.split(' ').collect::<Vec<_>>().try_into().unwrap()).collect()
    }

    fn lines(header: &str, line: impl Fn([&str; 4]) -> String) -> String {
        let lines: Vec<String> = rows().into_iter().map(line).collect();
        format!("{header}{}\n", lines.join("\n"))
    }

    #[test]
    fn every_source_gives_the_same() {
        let expected = all(&read(Judge, TREC, None).unwrap());
        let check = |text: &str, columns: Option<&str>| {
            let qrels = read(Judge, text, columns).unwrap();
            assert_eq!(all(&qrels), expected, "{text}");
        };
        let record = |[query, judge, doc, grade]: [&str; 4]| {
            format!(
                "{{\"qid\": \"{query}\", \"rel\": {grade}, \"docno\": \"{doc}\", \
                 \"annotator\": \"{judge}\", \"x\": []}}"
            )
        };
        check(&lines("query_id\tjudge\tdoc_id\trelevance\n", |row| row.join("\t")), None);
        check(
            &lines("rel,doc,rater_id,x,topic\n", |[q, j, d, g]| format!("{g},{d},\"{j}\",,{q}")),
            None,
        );
        check(&lines("qid judge docno rel\n", |row| row.join(" ")), None);
        check(&lines("", record), None);
        check(&lines("", record).replace("\"7\"", "7"), None);
        check(&format!("[{}]", lines("", record).trim_end().replace('\n', ",\n")), None);
        let named = Some("query=a,judge=who,doc=b,grade=c");
        check(&lines("c,b,who,judge,a\n", |[q, j, d, g]| format!("{g},{d},{j},no,{q}")), named);
        let in_order = Some("doc,-,judge,grade,query");
        check(&lines("", |[q, j, d, g]| format!("{d},x y,{j},{g},{q}")), in_order);
        check(&lines("", |row| row.join(",")), None);
        let numbers = rows().into_iter().map(|[q, j, d, g]| (q, j, d, g.parse().unwrap()));
        assert_eq!(all(&Qrels::by_facet(numbers, Judge).unwrap()), expected);
    }

    #[test]
    fn levels_are_finite_in_every_dialect() {
        for dialect in [Dialect::Laneval, Dialect::Trec9, Dialect::Trec10] {
            for level in ["-1e400", "inf", "1e400"] {
                let join = Join { judged_by: Some(Preference), dialect, ..Join::default() };
                let text = format!("q g d1 {level}\nq g d2 1\n");
                let error = join.qrels(input("qrels", text)).unwrap_err();
                let message = format!("qrels:1: level '{level}' is not a number: ");
                assert!(error.to_string().starts_with(&message), "{error}");
            }
        }
    }

    #[test]
    fn columns_in_any_batches_give_the_same() {
        let by = |by| Join { judged_by: Some(by), ..Join::default() };
        let trec = "q1 3 7 1\nq1 4 7 2\nq1 3 8 0\n";
        let (one, two) = (
            QrelsColumns::new(&["q1", "q1"], &[7u8, 7], &[1i8, 2]).with_facets(&[3u8, 4]),
            QrelsColumns::new(&["q1"], &["8"], &[0f32]).with_facets(&["3"]),
        );
        for group in [Judge, Subtopic, Preference] {
            let text = read(group, trec, None).unwrap();
            assert_eq!(all(&by(group).judgments(&[one, two]).unwrap()), all(&text));
        }
        let preferences = read(Preference, "q g s d 1\nq g s e 2\nq g t d 1\n", None);
        let subgroups = QrelsColumns {
            subgroup: Some((&["s", "s", "t"]).into()),
            ..QrelsColumns::new(&["q", "q", "q"], &["d", "e", "d"], &[1u8, 2, 1])
                .with_facets(&["g", "g", "g"])
        };
        let join = by(Preference);
        assert_eq!(all(&join.judgments(&[subgroups]).unwrap()), all(&preferences.unwrap()));
        let check = |group, batches: &[QrelsColumns<'_>], message: &str| {
            assert_eq!(by(group).judgments(batches).unwrap_err().to_string(), message);
        };
        // Every row has a sub-group, or none has.
        let partly = QrelsColumns { subgroup: Some((&["s", "", "t"]).into()), ..subgroups };
        check(Preference, &[partly], "qrels:2: the sub-group is empty");
        let bare = QrelsColumns::new(&["q"], &["f"], &[1u8]).with_facets(&["g"]);
        check(Preference, &[subgroups, bare], "qrels:4: the sub-group is empty");
        let message = "qrels: there are sub-groups, which only preferences have, and judgments are \
                       read by subtopic";
        check(Subtopic, &[subgroups], message);
        let bare = QrelsColumns { group: None, ..two };
        let message = "qrels: batch 2: the groups are missing, and judgments are read by judge";
        check(Judge, &[one, bare], message);
        let message = "qrels: batch 1: 2 queries, 2 documents, 2 numbers, 1 groups: columns have \
                       the same length";
        check(Judge, &[one.with_facets(&["a"])], message);
        let message =
            "qrels:3: docno '7' is judged again by judge '3' for query 'q1', first on line 2";
        check(Judge, &[two, one.with_facets(&["3", "3"])], message);
        check(Judge, &[two.with_facets(&[""])], "qrels:1: the group is empty");
        let infinite = QrelsColumns { grade: (&[f64::NAN, 1.0]).into(), ..one };
        let message = "qrels:1: grade NaN of document '7' of query 'q1' is not a number";
        check(Judge, &[infinite], message);
    }

    #[test]
    fn a_watch_hears_of_reading_and_stops_it() {
        let watch = Arc::new(ProgressHandle::default());
        let join = Join { judged_by: Some(Judge), watch: Some(watch.clone()), ..Join::default() };
        let text = || input("qrels", TREC);
        join.qrels(text()).unwrap();
        // The queries are scattered, so the text is read again.
        let work = 2 * TREC.len() as u64;
        assert_eq!((watch.done(), watch.total()), (work, work));
        watch.stop();
        assert!(matches!(join.qrels(text()), Err(Error::Stopped)));
        let records = lines("", |[q, j, d, g]| {
            format!(r#"{{"qid": "{q}", "judge": "{j}", "docid": "{d}", "rel": {g}}}"#)
        });
        assert!(matches!(join.qrels(input("qrels", records)), Err(Error::Stopped)));
        let batch = QrelsColumns::new(&["q1"], &["d"], &[1u8]).with_facets(&["a"]);
        assert!(matches!(join.judgments(&[batch]), Err(Error::Stopped)));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let check = |text: &str, columns, message: &str| {
            let found = read(Judge, text, columns).unwrap_err().to_string();
            assert!(found.contains(message), "{text}\n{found}");
        };
        let message = "qrels:1: the columns `query,doc,grade` have no judge";
        check("q,d,1\n", Some("query,doc,grade"), message);
        for (text, message) in [
            (
                "qid\titer\tdocid\trel\nq\t0\td\t1\n",
                "qrels:1: found no judge among 'qid', 'iter', 'docid', 'rel'",
            ),
            ("qid,docid,rel\nq,d,1\n", "known names are judge_id, judge, assessor_id, assessor,"),
            (
                "{\"qid\": \"q\", \"docid\": \"d\", \"rel\": 1}",
                "qrels:1: found no judge among 'qid'",
            ),
            ("q,d,1\n", "there is no header, and 3 columns: say which"),
            ("q,d,1\n", "(`--columns query,judge,doc,grade`)"),
            (
                "qid,judge,docid,rel\nq,,d,1\nq,a,d,x\n",
                "qrels:2: the group is missing or empty in 'q,,d,1'",
            ),
            ("qid,judge,docid,rel\nq,,d,1\nq,a,d,x\n", "qrels:3: grade 'x' is not a number"),
            (
                "qid,judge,docid,rel\nq,\"a\"\"b\",d,1\nq,a\"b,d,2\n",
                "qrels:3: docno 'd' is judged again by judge 'a\"b' for query 'q', first on line 2",
            ),
            (
                "qid,judge,docid,rel\nq,a,d,1\nq,b,d,1\nq,a,d,2\n",
                "qrels:4: docno 'd' is judged again by judge 'a' for query 'q', first on line 2",
            ),
            (
                "{\"qid\": \"q\", \"docid\": \"d\", \"rel\": \
                 1, \"judge\": \"\"}\n{\"qid\": \"q\"}\n",
                "qrels:1: the judge is empty\nqrels:2: there is no 'docid' in the record",
            ),
            (
                "{\"q\": {\"d\": 1}}",
                "judgments by judge are read from TREC text, tables with a header",
            ),
            ("q a d 1\nq a d\n", "qrels:2: there are 3 fields: expected 'query judge docno grade'"),
            ("q d 1\nq e 1\n", "qrels:1: there are 3 fields: expected 'query judge docno grade'"),
        ] {
            check(text, None, message);
        }
        let records = "{\"qid\": \"q\", \"docid\": \"d\", \"rel\": 1, \"group\": \"g\"}\n";
        let error = read(Preference, records, None).unwrap_err().to_string();
        assert!(error.ends_with(": judgments by preference are read from TREC text"), "{error}");
    }

    #[test]
    fn many_grades_are_exact_as_without_facets() {
        let grade =
            |query: usize, doc: usize, judge: usize| (query * 60 + doc) as f64 / 7.0 - judge as f64;
        let mut text = String::new();
        let mut largest = Vec::new();
        for query in 0..400 {
            for doc in 0..(query % 50) {
                let id = doc * 37 % 50;
                for judge in 0..1 + doc % 3 {
                    text += &format!("q{query} j{judge} d{id} {}\n", grade(query, doc, judge));
                }
                largest.push((format!("q{query}"), format!("d{id}"), grade(query, doc, 0)));
            }
        }
        let found = read(Judge, &text, None).unwrap();
        let expected = Qrels::new(largest).unwrap();
        assert!(expected.grades().len() > 5_000 && found.exact().is_some());
        assert_eq!(
            (found.exact(), found.facts(), found.grades()),
            (expected.exact(), expected.facts(), expected.grades())
        );
        // A run is labelled by the numbers of documents: were they others, its grades would be too.
        let run = || {
            (0..400).flat_map(|query| {
                (0..60).map(move |doc| (format!("q{query}"), format!("d{doc}"), doc as f64))
            })
        };
        let [one, other] = [&found, &expected].map(|qrels| {
            let matrix = Join::default().rankings(qrels, [("run".to_owned(), run())]).unwrap();
            (0..matrix.rows())
                .map(|row| matrix.exact().unwrap().rows.row(row).to_vec())
                .collect::<Vec<_>>()
        });
        assert_eq!(one, other);
    }

    /// Returns a text whose queries are mostly together. It has `queries` of them, and `wrong` of a
    /// thousand lines are no judgments or repeat one.
    fn together_but(
        by: FacetKind,
        fields: usize,
        queries: usize,
        wrong: usize,
        seed: u64,
    ) -> String {
        let mut next = random(seed);
        let mut below = |count: usize| next() as usize % count;
        let (mut text, mut late) = (String::new(), Vec::new());
        for query in 0..queries {
            // Documents in order, and not, of short and of long names; names of groups of all
            // queries, and of one alone.
            let docs: Vec<String> = (0..below(9) + 1)
                .map(|doc| format!("{}{}", ["d", "a-longer-docno-"][doc % 2], below(3) + 3 * doc))
                .collect();
            let groups: Vec<String> = (0..below(5) + 1)
                .map(|group| [format!("{group}"), format!("{query}.{group}")][below(2)].clone())
                .collect();
            for (at, group) in groups.iter().enumerate() {
                for doc in &docs {
                    let level = if by == Preference { doc.len() } else { below(3) };
                    let subgroup = if fields == 5 {
                        format!("{} ", ["s", "10"][at % 2])
                    } else {
                        String::new()
                    };
                    let line = format!(
                        "{}{query}\t{at}{group} {subgroup}{doc} {level}{}",
                        ["q", " q"][below(2)],
                        ["", "\r", " "][below(3)]
                    );
                    if below(60) == 0 {
                        late.push(line.clone());
                    } else {
                        text +=
                            &format!("{line}\n{}", ["\n", "# a remark\n", ""][below(40).min(2)]);
                    }
                    match below(1000) {
                        nth if nth < wrong => {
                            text += [
                                "q one\n",
                                "0 g d x y z\n",
                                "unknown a b c\n",
                                &format!("{line}\n"),
                            ][nth % 4]
                        }
                        _ => {}
                    }
                }
            }
        }
        text + &late.join("\n")
    }

    #[test]
    fn reading_by_query_finds_what_reading_in_any_order_finds() {
        let (mut sound, mut problem_count) = (0, 0);
        for seed in 0..60 {
            let (queries, wrong) = if seed == 0 { (1500, 0) } else { (30, [0, 0, 20][seed % 3]) };
            for (by, fields) in FORMS {
                for dialect in [Dialect::Laneval, Dialect::Trec9, Dialect::Trec10] {
                    let text = together_but(by, fields, queries, wrong, seed as u64);
                    let form = FacetForm { by, dialect, fields: None };
                    let mut passing = text.as_bytes();
                    let expected = form.read_stream("qrels", fields, &mut passing, None);
                    let opened = input("qrels", &text[..]).open(FileAccess::default()).unwrap();
                    // Some texts are read in small chunks.
                    let size = ChunkSize([100, 5000, 1 << 20][seed % 3]);
                    let context = ReadContext { seed: Seed::random(), size, watch: None };
                    let found = form.read(&opened, context);
                    match (expected, found) {
                        (Ok((qrels, problems)), Ok((same, also))) => {
                            assert_eq!(also, problems, "{text}");
                            assert_eq!(all(&same), all(&qrels), "{text}");
                            sound += usize::from(problems.first.is_empty());
                            problem_count += problems.first.len();
                        }
                        (expected, found) => {
                            assert_eq!(
                                found.unwrap_err().to_string(),
                                expected.unwrap_err().to_string()
                            )
                        }
                    }
                }
            }
        }
        assert!(sound > 100 && problem_count > 100, "{sound} {problem_count}");
    }

    #[test]
    fn columns_are_the_text_of_the_same_rows() {
        for seed in 0..30 {
            for (by, fields) in FORMS {
                let text = together_but(by, fields, 30, 0, seed);
                let rows: Vec<Vec<&str>> = text
                    .lines()
                    .map(|line| line.split_whitespace().collect::<Vec<_>>())
                    .filter(|fields| fields.first().is_some_and(|first| *first != "#"))
                    .collect();
                let column = |at: usize| rows.iter().map(|row| row[at]).collect::<Vec<_>>();
                let [query, group, subgroup, doc] = [0, 1, 2, fields - 2].map(column);
                let grade: Vec<f64> =
                    rows.iter().map(|row| row[fields - 1].parse().unwrap()).collect();
                let judgments = |rows: Range<usize>| QrelsColumns {
                    subgroup: (fields == 5).then(|| IdColumn::Strs(&subgroup[rows.clone()])),
                    ..QrelsColumns::new(
                        IdColumn::Strs(&query[rows.clone()]),
                        IdColumn::Strs(&doc[rows.clone()]),
                        &grade[rows.clone()],
                    )
                    .with_facets(IdColumn::Strs(&group[rows]))
                };
                // A border of batches within a query.
                let batches = [judgments(0..rows.len() / 2), judgments(rows.len() / 2..rows.len())];
                let expected = read(by, &text, None).unwrap();
                let found =
                    read_columns("qrels", &batches, by, Dialect::Laneval, Seed::random(), None)
                        .unwrap();
                assert_eq!(
                    (all(&found.0), found.1),
                    (all(&expected), Problems::default()),
                    "{text}"
                );
            }
        }
    }
}
