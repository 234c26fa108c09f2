//! The explanation of queries as rows: one for each document, with its term of each measure;
//! relevant documents that were missed have no rank.

use std::io::{self, Write};

use laneval::internals::{InRun, ShownJudgment, ShownQuery};
use laneval::report::JsonText;
use serde_json::Value;

use super::document::NamedValues;
use super::explained::{Explanation, grade, judgment, missed};

/// A document of a query in a run.
struct RetrievedRow<'a> {
    run: &'a str,
    query: &'a [u8],
    /// The rank, the score, and how many documents have this score; `None` if the document was not
    /// retrieved.
    rank: Option<(u32, f64, u32)>,
    docno: &'a [u8],
    judgment: ShownJudgment,
    /// The term of each measure that is a sum over ranks.
    terms: Vec<f64>,
}

/// The columns before the terms.
const COLUMNS: [&str; 8] =
    ["run", "query_id", "rank", "doc_id", "score", "grade", "judgment", "tied"];

/// Returns the indices of the measures that have terms in some run: they have a column.
fn summed(asked: &Explanation) -> Vec<usize> {
    let runs = || asked.shown.queries.iter().flat_map(|query| &query.runs);
    let has = |at: &usize| runs().any(|run| run.terms.get(*at).is_some_and(Option::is_some));
    (0..asked.shown.measures.len()).filter(has).collect()
}

fn each(
    asked: &Explanation,
    mut take: impl FnMut(RetrievedRow<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let summed = summed(asked);
    for query in &asked.shown.queries {
        for (name, run) in asked.shown.runs.iter().zip(&query.runs) {
            of_run(query, name, run, &summed, &mut take)?;
            for (docno, grade) in missed(query, run, asked.rel) {
                let judgment = ShownJudgment::Grade(grade);
                let terms = vec![0.0; summed.len()];
                take(RetrievedRow {
                    run: name,
                    query: &query.id,
                    rank: None,
                    docno,
                    judgment,
                    terms,
                })?;
            }
        }
    }
    Ok(())
}

fn of_run(
    query: &ShownQuery,
    name: &str,
    run: &InRun,
    summed: &[usize],
    take: &mut impl FnMut(RetrievedRow<'_>) -> io::Result<()>,
) -> io::Result<()> {
    for ranked in &run.ranking {
        let term = |&at: &usize| {
            let terms = &run.terms.get(at)?.as_ref()?.terms;
            let found = terms.binary_search_by_key(&ranked.rank, |term| term.rank).ok()?;
            Some(terms[found].value)
        };
        take(RetrievedRow {
            run: name,
            query: &query.id,
            rank: Some((ranked.rank, ranked.score, ranked.tied)),
            docno: &ranked.docno,
            judgment: ranked.judgment,
            terms: summed.iter().map(|at| term(at).unwrap_or(0.0)).collect(),
        })?;
    }
    Ok(())
}

/// Returns the names of the columns.
fn columns(asked: &Explanation) -> Vec<String> {
    let terms = summed(asked).into_iter().map(|at| asked.shown.measures[at].to_string());
    COLUMNS.map(str::to_owned).into_iter().chain(terms).collect()
}

/// Writes a header and the rows, with a delimiter between their columns. Ids keep the bytes of the
/// input.
pub fn delimited(asked: &Explanation, delimiter: u8, to: &mut dyn Write) -> io::Result<()> {
    let mut table = csv::WriterBuilder::new().delimiter(delimiter).from_writer(to);
    table.write_record(columns(asked)).map_err(plain)?;
    each(asked, |row| {
        let (rank, score, tied) = match row.rank {
            Some((rank, score, tied)) => (rank.to_string(), score.to_string(), tied.to_string()),
            None => Default::default(),
        };
        let grade = grade(row.judgment).map(|grade| grade.to_string()).unwrap_or_default();
        let texts = [grade, judgment(row.judgment).into_owned(), tied];
        let terms = row.terms.iter().map(f64::to_string);
        let before = [row.run.as_bytes(), row.query, rank.as_bytes(), row.docno, score.as_bytes()];
        let behind = texts.into_iter().chain(terms).map(String::into_bytes);
        let cells = before.map(<[u8]>::to_vec).into_iter().chain(behind);
        table.write_record(cells).map_err(plain)
    })?;
    table.flush()
}

/// Returns the error of the writer. The table would hide its kind.
fn plain(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// Writes the rows as JSON objects, one on each line.
pub fn json_lines(asked: &Explanation, to: &mut dyn Write) -> io::Result<()> {
    let columns = columns(asked);
    each(asked, |row| {
        let (rank, score, tied) = match row.rank {
            Some((rank, score, tied)) => (rank.into(), score.into(), tied.into()),
            None => (Value::Null, Value::Null, Value::Null),
        };
        let text = |bytes| Value::from(JsonText(bytes).get());
        let before = [row.run.into(), text(row.query), rank, text(row.docno), score];
        let behind = [grade(row.judgment).into(), judgment(row.judgment).into(), tied];
        let cells =
            before.into_iter().chain(behind).chain(row.terms.iter().map(|&term| term.into()));
        let object: NamedValues<Value> = NamedValues(columns.iter().cloned().zip(cells).collect());
        serde_json::to_writer(&mut *to, &object)?;
        writeln!(to)
    })
}
