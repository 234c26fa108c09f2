//! Columns of Arrow as results and judgments, borrowed as they lie.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch};
use laneval::columns::{Integers, Judgments, Numbers, Records, Text};
use laneval::error::Problems;
use laneval::tables::{self, Places, WrongTable};

use crate::columns::{
    as_numbers, buffers, codes, floats, id, integers, is_id, nulls, text, values,
};
use crate::lists::{self, Unfolded};

/// Columns of a table that are results or judgments.
#[derive(Debug)]
pub struct ArrowTable {
    /// The names of all columns of the batches.
    columns: Vec<String>,
    places: Places,
    /// The names of the columns of queries, groups, documents, and numbers or ranks.
    names: Vec<String>,
    batches: Vec<ArrowBatch>,
    rows: usize,
    /// The queries of rows whose lists are empty.
    bare: Vec<Vec<u8>>,
}

#[derive(Debug)]
struct ArrowBatch {
    query: ArrayRef,
    doc: ArrayRef,
    number: Option<ArrayRef>,
    rank: Option<ArrayRef>,
    group: Option<ArrayRef>,
    /// The first positions of passages, and the positions behind their ends.
    span: Option<[ArrayRef; 2]>,
    /// The end of each row's documents, if rows have lists of documents.
    ends: Option<Vec<usize>>,
}

impl tables::Table for ArrowTable {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn with_records(&self, work: &mut dyn FnMut(&[Records<'_>])) {
        ArrowTable::with_records(self, |batches| work(batches));
    }

    fn with_judgments(&self, work: &mut dyn FnMut(&[Judgments<'_>])) {
        ArrowTable::with_judgments(self, |batches| work(batches));
    }

    fn bare_queries(&self) -> &[Vec<u8>] {
        &self.bare
    }
}

impl ArrowBatch {
    /// The positions of passages.
    fn positions(&self) -> Option<[Integers<'_>; 2]> {
        let [start, end] = self.span.as_ref()?;
        Some([integers(start)?, integers(end)?])
    }
}

impl ArrowTable {
    /// Makes a table without rows, of batches whose columns have the names `columns`, and are read
    /// from `places`.
    pub fn new(columns: &[String], places: Places) -> Self {
        let read =
            [Some(places.query), places.group, Some(places.doc), places.number.or(places.rank)];
        let names = read.into_iter().flatten().map(|at| columns[at].clone()).collect();
        let (batches, bare) = Default::default();
        ArrowTable { columns: columns.to_vec(), places, names, batches, rows: 0, bare }
    }

    /// Adds the rows of some batches.
    ///
    /// # Errors
    /// A column of a wrong type; nulls, by their rows.
    pub fn push(&mut self, batches: &[RecordBatch]) -> Result<(), WrongTable> {
        let (mut first, mut more) = (Vec::new(), 0);
        for batch in batches {
            more += self.push_batch(batch, &mut first)?;
        }
        if first.is_empty() { Ok(()) } else { Err(WrongTable::Rows { first, more }) }
    }

    /// Adds the rows of a batch, and its first wrong rows to `found`. Returns the number of further
    /// wrong rows, for which `found` has no room.
    fn push_batch(
        &mut self,
        batch: &RecordBatch,
        found: &mut Vec<(u64, String)>,
    ) -> Result<u64, WrongTable> {
        let (null_rows, count) = self.nulls_of(batch);
        let mut more = self.note(null_rows, count, found);
        let Places { query, doc, number, rank, group, .. } = self.places;
        let column = |at: usize| batch.column(at).clone();
        let of = match self.places.lists {
            None => Some(ArrowBatch {
                query: column(query),
                doc: column(doc),
                number: match number {
                    Some(at) => Some(as_numbers(batch.column(at))),
                    // Judged passages without grades have grade 1.
                    None if rank.is_none() && self.places.start.is_some() => {
                        Some(ones(batch.num_rows()))
                    }
                    None => None,
                },
                rank: rank.map(column),
                group: group.map(column),
                span: self.span_of(batch)?,
                ends: None,
            }),
            // Rows with nulls are refused, so their lists need not be unfolded.
            Some(_) if count > 0 => None,
            Some(columns) => {
                let mut wrong = Vec::new();
                let unfolded =
                    lists::unfold(batch, &self.columns, self.places, columns, &mut wrong)?;
                wrong.sort_unstable();
                let (is_right, count) = (wrong.is_empty(), wrong.len());
                more += self.note(wrong, count, found);
                let Unfolded { query, doc, number, rank, group, ends } = unfolded;
                self.add_bare_queries(batch.column(self.places.query), &ends);
                let number = number.map(|number| as_numbers(&number));
                is_right.then_some(ArrowBatch {
                    query,
                    doc,
                    number,
                    rank,
                    group,
                    span: None,
                    ends: Some(ends),
                })
            }
        };
        if let Some(of) = of {
            self.check_types(&of)?;
            self.batches.push(of);
        }
        self.rows += batch.num_rows();
        Ok(more)
    }

    /// Adds the queries of rows with empty lists. A list is empty if it ends at the end of the list
    /// before.
    fn add_bare_queries(&mut self, queries: &ArrayRef, ends: &[usize]) {
        let is_empty =
            |row: &usize| ends[*row] == row.checked_sub(1).map_or(0, |before| ends[before]);
        self.bare.extend((0..ends.len()).filter(is_empty).filter_map(|row| id(queries, row)));
    }

    /// Returns the positions of the passages of a batch, if it has any: ends may be given as
    /// lengths.
    fn span_of(&self, batch: &RecordBatch) -> Result<Option<[ArrayRef; 2]>, WrongTable> {
        let Places { start: Some(start), end, length, .. } = self.places else { return Ok(None) };
        let numbers = |at: usize| {
            let column = batch.column(at);
            integers(column).ok_or_else(|| {
                let (name, of) = (&self.columns[at], column.data_type());
                WrongTable::Type(format!("column `{name}` is of type {of}: integers were expected"))
            })
        };
        let starts = numbers(start)?;
        let ends = match (end, length) {
            (Some(end), _) => numbers(end).map(|_| batch.column(end).clone())?,
            (None, Some(length)) => {
                let lengths = numbers(length)?;
                // What is beyond the integers is beyond the last position too.
                let end =
                    |row| i64::try_from(starts.get(row) + lengths.get(row)).unwrap_or(i64::MAX);
                Arc::new(Int64Array::from_iter_values((0..starts.len()).map(end)))
            }
            (None, None) => return Ok(None),
        };
        Ok(Some([batch.column(start).clone(), ends]))
    }

    /// Returns the first nulls of a batch in the columns that are read, by their rows, and the
    /// number of all.
    fn nulls_of(&self, batch: &RecordBatch) -> (Vec<(usize, String)>, usize) {
        let Places { query, doc, number, rank, group, start, end, length, .. } = self.places;
        let (mut null_rows, mut count) = (Vec::new(), 0);
        for at in
            [Some(query), Some(doc), number, rank, group, start, end, length].into_iter().flatten()
        {
            let (first, all) = nulls(batch.column(at));
            count += all;
            null_rows.extend(first.into_iter().map(|row| (row, at)));
        }
        // By row and then by column, as a reader of the table meets them.
        null_rows.sort_unstable();
        let null = |(row, at): (usize, usize)| (row, format!("{}: a null", self.columns[at]));
        (null_rows.into_iter().map(null).collect(), count)
    }

    /// Adds the first wrong rows of the next batch to `found`; returns how many more there are of
    /// the `count` in all.
    fn note(
        &self,
        wrong: Vec<(usize, String)>,
        count: usize,
        found: &mut Vec<(u64, String)>,
    ) -> u64 {
        // Invariant: `found` has at most `LIMIT` entries, as each batch adds no more than there is
        // room for.
        let (before, room) = (found.len(), Problems::LIMIT - found.len());
        let of_table = |(row, what): (usize, String)| ((self.rows + row + 1) as u64, what);
        found.extend(wrong.into_iter().take(room).map(of_table));
        (count - (found.len() - before)) as u64
    }

    /// Rejects columns of a type that their content does not allow.
    fn check_types(&self, of: &ArrowBatch) -> Result<(), WrongTable> {
        let Places { query, doc, number, rank, group, .. } = self.places;
        let wrong = |at: usize, column: &ArrayRef, expected: &str| {
            let (name, of) = (&self.columns[at], column.data_type());
            WrongTable::Type(format!("column `{name}` is of type {of}: {expected} expected"))
        };
        let ids = [Some((&of.query, query)), Some((&of.doc, doc)), of.group.as_ref().zip(group)];
        for (column, at) in ids.into_iter().flatten() {
            if !is_id(column.data_type()) {
                let expected = if column.data_type().is_floating() {
                    "ids are text or integers (pandas makes floats of integers where some are \
                         missing); text or integers were"
                } else {
                    "text or integers were"
                };
                return Err(wrong(at, column, expected));
            }
        }
        if let (Some(column), Some(at)) = (&of.number, number)
            && floats(column).is_none()
        {
            return Err(wrong(at, column, "numbers were"));
        }
        if let (Some(column), Some(at)) = (&of.rank, rank)
            && integers(column).is_none()
        {
            return Err(wrong(at, column, "integers were"));
        }
        Ok(())
    }

    /// Adds the rows of another table.
    pub fn append(&mut self, more: ArrowTable) {
        self.rows += more.rows;
        self.batches.extend(more.batches);
        self.bare.extend(more.bare);
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Returns whether the table has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Calls `work` with the rows as results.
    pub fn with_records<R>(&self, work: impl FnOnce(&[Records<'_>]) -> R) -> R {
        self.with_ids(|ids| {
            let records = self.batches.iter().zip(ids.chunks(3)).map(|(batch, ids)| Records {
                query: ids[0],
                doc: ids[1],
                score: batch.number.as_ref().and_then(floats),
                rank: batch.rank.as_ref().and_then(integers),
                span: batch.positions(),
                lists: batch.ends.as_deref(),
            });
            work(&records.collect::<Vec<_>>())
        })
    }

    /// Calls `work` with the rows as judgments.
    pub fn with_judgments<R>(&self, work: impl FnOnce(&[Judgments<'_>]) -> R) -> R {
        self.with_ids(|ids| {
            let judgments = self.batches.iter().zip(ids.chunks(3)).map(|(batch, ids)| {
                let grades = batch.number.as_ref().and_then(floats).unwrap_or(Numbers::F64(&[]));
                let (span, lists) = (batch.positions(), batch.ends.as_deref());
                let judgments = Judgments { span, lists, ..Judgments::new(ids[0], ids[1], grades) };
                if batch.group.is_some() { judgments.with_groups(ids[2]) } else { judgments }
            });
            work(&judgments.collect::<Vec<_>>())
        })
    }

    /// Calls `work` with the ids of queries, documents and groups of each batch, in turns; without
    /// groups, with queries in their place.
    fn with_ids<R>(&self, work: impl FnOnce(&[Text<'_>]) -> R) -> R {
        // The function calls `work` instead of returning the ids, because the ids borrow from
        // `texts` and `buffers`, which are local.
        let mut columns: Vec<&ArrayRef> = Vec::with_capacity(3 * self.batches.len());
        for ArrowBatch { query, doc, group, .. } in &self.batches {
            columns.extend([query, doc, group.as_ref().unwrap_or(query)]);
        }
        let plain: Vec<&ArrayRef> =
            columns.iter().map(|column| values(column).unwrap_or(column)).collect();
        let buffers: Vec<Vec<&[u8]>> = plain.iter().map(|column| buffers(column)).collect();
        let texts: Vec<Text<'_>> =
            plain.iter().zip(&buffers).map(|(column, buffers)| text(column, buffers)).collect();
        let ids = columns.iter().zip(&texts).map(|(column, text)| match codes(column) {
            Some(codes) => Text::Coded { codes, values: text },
            None => *text,
        });
        work(&ids.collect::<Vec<_>>())
    }
}

/// The grades of judged passages without grades.
fn ones(rows: usize) -> ArrayRef {
    Arc::new(Float64Array::from(vec![1.0; rows]))
}
