//! The explanation of `laneval show` as rows of TSV, CSV or JSON lines: one for each document, with
//! its terms. Relevant documents that were missed have no rank.

use std::io::{self, Write};

use laneval::internals::{ShownJudgment, ShownQuery, ShownRun};
use laneval::report::JsonText;
use serde_json::Value;

use super::document::NamedValues;
use super::explanation::{Explanation, grade, judgment, missed_relevant};

/// A row of `laneval show`: a document that a run retrieved for a query, or a relevant one that it
/// missed.
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

/// Returns the indices of the measures that are sums of terms in some run, and have a column.
fn summed(explanation: &Explanation) -> Vec<usize> {
    let summed = (0..explanation.shown.measures.len()).filter(|&at| {
        let mut runs = explanation.shown.queries.iter().flat_map(|query| &query.runs);
        runs.any(|run| run.terms.get(at).is_some_and(Option::is_some))
    });
    summed.collect()
}

fn each(
    explanation: &Explanation,
    mut take: impl FnMut(RetrievedRow<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let summed = summed(explanation);
    for query in &explanation.shown.queries {
        for (name, run) in explanation.shown.runs.iter().zip(&query.runs) {
            write_run_rows(query, name, run, &summed, &mut take)?;
            for (docno, grade) in missed_relevant(query, run, explanation.rel) {
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

fn write_run_rows(
    query: &ShownQuery,
    name: &str,
    run: &ShownRun,
    summed: &[usize],
    take: &mut impl FnMut(RetrievedRow<'_>) -> io::Result<()>,
) -> io::Result<()> {
    for ranked in &run.ranking {
        let terms = summed.iter().map(|&at| term_at(run, at, ranked.rank).unwrap_or(0.0));
        take(RetrievedRow {
            run: name,
            query: &query.id,
            rank: Some((ranked.rank, ranked.score, ranked.tied)),
            docno: &ranked.docno,
            judgment: ranked.judgment,
            terms: terms.collect(),
        })?;
    }
    Ok(())
}

/// Returns the term that a rank adds to a measure in a run, if it adds one.
fn term_at(run: &ShownRun, measure: usize, rank: u32) -> Option<f64> {
    let terms = &run.terms.get(measure)?.as_ref()?.terms;
    let found = terms.binary_search_by_key(&rank, |term| term.rank).ok()?;
    Some(terms[found].value)
}

/// Returns the names of the columns in the rows of `laneval show`.
fn columns(explanation: &Explanation) -> Vec<String> {
    let terms =
        summed(explanation).into_iter().map(|at| explanation.shown.measures[at].to_string());
    COLUMNS.map(str::to_owned).into_iter().chain(terms).collect()
}

/// Writes the explanation of `laneval show` as TSV or CSV: a header, and a row for each document.
/// Ids keep the bytes of the input.
pub fn delimited(explanation: &Explanation, delimiter: u8, to: &mut dyn Write) -> io::Result<()> {
    let mut table = csv::WriterBuilder::new().delimiter(delimiter).from_writer(to);
    table.write_record(columns(explanation)).map_err(plain)?;
    each(explanation, |row| {
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

/// Returns the I/O error inside an error of the writer of TSV and CSV. The table would hide its
/// kind.
fn plain(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// Writes the explanation of `laneval show` as JSON lines, an object for each document.
pub fn json_lines(explanation: &Explanation, to: &mut dyn Write) -> io::Result<()> {
    let columns = columns(explanation);
    each(explanation, |row| {
        let (rank, score, tied) = match row.rank {
            Some((rank, score, tied)) => (rank.into(), score.into(), tied.into()),
            None => (Value::Null, Value::Null, Value::Null),
        };
        let [query, docno] = [row.query, row.docno].map(|id| Value::from(JsonText(id).get()));
        let before = [row.run.into(), query, rank, docno, score];
        let behind = [grade(row.judgment).into(), judgment(row.judgment).into(), tied];
        let cells =
            before.into_iter().chain(behind).chain(row.terms.iter().map(|&term| term.into()));
        let object: NamedValues<Value> = NamedValues(columns.iter().cloned().zip(cells).collect());
        serde_json::to_writer(&mut *to, &object)?;
        writeln!(to)
    })
}
