//! Arrow tables whose columns are borrowed as results of a run or as judgments.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch};
use laneval::{
    GradeWords,
    columns::{IdColumn, Integers, Numbers, QrelsColumns, RunColumns},
    error::Problems,
    tables::{self, ColumnIndices, TableError},
    text::OptionStyle,
};

use crate::columns::{
    ArrowBatch, buffers, codes, floats, id, integers, is_id, nulls, ones, text,
    to_borrowable_numbers, values, wrong_type,
};
use crate::lists;

/// The rows of an Arrow table that are results of a run or judgments, in batches of columns.
#[derive(Debug)]
pub struct ArrowTable {
    /// The names of all columns of the batches.
    columns: Vec<String>,
    /// The indices of the columns that are read.
    places: ColumnIndices,
    /// The names of the read columns: queries, groups, documents, and numbers or ranks.
    names: Vec<String>,
    batches: Vec<ArrowBatch>,
    /// The grades of words, and how messages write options, if words may stand in the place of
    /// grades.
    words: Option<(GradeWords, OptionStyle)>,
    rows: usize,
    /// The queries of rows whose list of documents is empty.
    bare: Vec<Vec<u8>>,
}

impl tables::Table for ArrowTable {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn with_records(&self, work: &mut dyn FnMut(&[RunColumns<'_>])) {
        self.with_ids(|ids| {
            let records = self.batches.iter().zip(ids.chunks(3)).map(|(batch, ids)| RunColumns {
                query: ids[0],
                doc: ids[1],
                score: batch.number.as_ref().and_then(floats),
                rank: batch.rank.as_ref().and_then(|ranks| integers(ranks)),
                span: batch.positions(),
                lists: batch.ends.as_deref(),
            });
            work(&records.collect::<Vec<_>>());
        });
    }

    fn with_judgments(&self, work: &mut dyn FnMut(&[QrelsColumns<'_>])) {
        self.with_ids(|ids| {
            let judgments = self.batches.iter().zip(ids.chunks(3)).map(|(batch, ids)| {
                let grades = batch.number.as_ref().and_then(floats).unwrap_or(Numbers::F64(&[]));
                let (span, lists) = (batch.positions(), batch.ends.as_deref());
                let group = batch.group.as_ref().map(|_| ids[2]);
                QrelsColumns { group, span, lists, ..QrelsColumns::new(ids[0], ids[1], grades) }
            });
            work(&judgments.collect::<Vec<_>>());
        });
    }

    fn is_ungraded(&self) -> bool {
        let ColumnIndices { number, rank, start, lists, .. } = self.places;
        lists.is_none() && [number, rank, start].iter().all(Option::is_none)
    }

    fn bare_queries(&self) -> &[Vec<u8>] {
        &self.bare
    }
}

impl ArrowTable {
    /// Makes an empty table for Arrow batches with the columns `columns`, of which those of
    /// `places` are read.
    pub fn new(columns: &[String], places: ColumnIndices) -> Self {
        let read =
            [Some(places.query), places.group, Some(places.doc), places.number.or(places.rank)];
        let names = read.into_iter().flatten().map(|at| columns[at].clone()).collect();
        Self {
            columns: columns.to_vec(),
            places,
            names,
            batches: Vec::new(),
            words: None,
            rows: 0,
            bare: Vec::new(),
        }
    }

    /// Sets the grades of words, which columns of grades may have as text.
    #[cfg(feature = "parquet")]
    pub(crate) fn with_words(self, words: Option<(GradeWords, OptionStyle)>) -> Self {
        Self { words, ..self }
    }

    /// Adds the rows of some Arrow batches to the table.
    ///
    /// # Errors
    /// A column of a wrong type; nulls, by their rows.
    pub fn push(&mut self, batches: &[RecordBatch]) -> Result<(), TableError> {
        let (mut first, mut more) = (Vec::new(), 0);
        for batch in batches {
            let (null_rows, count) = self.nulls_of(batch);
            more += self.note(null_rows, count, &mut first);
            let mut wrong = Vec::new();
            let column = |at: usize| batch.column(at).clone();
            let ColumnIndices { query, doc, number, rank, group, .. } = self.places;
            let arrow_batch = match self.places.lists {
                None => Some(ArrowBatch {
                    query: column(query),
                    doc: column(doc),
                    number: match number {
                        Some(at) => Some(self.numbers_of(batch, at, &mut wrong)),
                        // Judgments without grades have grade 1.
                        None => rank.is_none().then(|| ones(batch.num_rows())),
                    },
                    rank: rank.map(column),
                    group: group.map(column),
                    span: self.span_of(batch, &mut wrong)?,
                    ends: None,
                }),
                // A batch with nulls is refused, and unfolding expects no nulls.
                Some(_) if count > 0 => None,
                Some(columns) => {
                    let (names, bare) = (&self.columns, &mut self.bare);
                    let unfolded =
                        lists::explode(batch, names, self.places, columns, bare, &mut wrong)?;
                    wrong.sort_unstable();
                    // A null record may have null fields.
                    wrong.dedup();
                    wrong.is_empty().then_some(unfolded)
                }
            };
            let count = wrong.len();
            more += self.note(wrong, count, &mut first);
            if let Some(arrow_batch) = arrow_batch {
                self.check_types(&arrow_batch)?;
                self.batches.push(arrow_batch);
            }
            self.rows += batch.num_rows();
        }
        if first.is_empty() { Ok(()) } else { Err(TableError::Rows { first, more }) }
    }

    /// Returns the numbers in column `at` of an Arrow batch; words and numbers that are text become
    /// grades. Adds rows with other text to `wrong`, by their number in the batch.
    fn numbers_of(
        &self,
        batch: &RecordBatch,
        at: usize,
        wrong: &mut Vec<(usize, String)>,
    ) -> ArrayRef {
        let column = batch.column(at);
        let (plain, codes) = (values(column).unwrap_or(column), codes(column));
        let Some((words, options)) = &self.words else { return to_borrowable_numbers(column) };
        if !plain.data_type().is_string() {
            return to_borrowable_numbers(column);
        }
        let buffers = buffers(plain);
        let texts = text(plain, &buffers);
        let id_at = |at: usize, row: usize| {
            let column = batch.column(at);
            if column.is_valid(row) { id(column, row).unwrap_or_default() } else { Vec::new() }
        };
        let grades = (0..column.len()).map(|row| {
            let place = codes.as_ref().map_or(Some(row), |codes| codes.natural(row));
            // Nulls are reported as such.
            let Some(place) = place.filter(|_| column.is_valid(row)) else { return 0.0 };
            let grade = words.value(texts.id(place).bytes(&mut Default::default()));
            grade.unwrap_or_else(|| {
                let ids = [self.places.query, self.places.doc].map(|at| id_at(at, row));
                let ids = [&ids[0][..], &ids[1][..]];
                wrong.push((row, words.fault(&id_at(at, row), ids, *options)));
                0.0
            })
        });
        Arc::new(Float64Array::from_iter_values(grades))
    }

    /// Returns the start and end positions of the passages in an Arrow batch, if it has such
    /// columns. Ends may be given as lengths; adds rows whose end is too large to `wrong`, by their
    /// number in the batch.
    fn span_of(
        &self,
        batch: &RecordBatch,
        wrong: &mut Vec<(usize, String)>,
    ) -> Result<Option<[ArrayRef; 2]>, TableError> {
        let ColumnIndices { start: Some(start), end, length, .. } = self.places else {
            return Ok(None);
        };
        let starts = self.integers_at(batch, start)?;
        let ends = match (end, length) {
            (Some(end), _) => {
                self.integers_at(batch, end)?;
                batch.column(end).clone()
            }
            (None, Some(length)) => {
                let lengths = self.integers_at(batch, length)?;
                let columns = [batch.column(start), batch.column(length)];
                let ends = (0..starts.len()).map(|row| {
                    let (start, length) = (starts.get(row), lengths.get(row));
                    i64::try_from(start + length).unwrap_or_else(|_| {
                        // The number in a null may be any, and nulls are reported as such.
                        if columns.iter().all(|column| column.is_valid(row)) {
                            wrong.push((row, end_too_large(start, length)));
                        }
                        i64::MAX
                    })
                });
                Arc::new(Int64Array::from_iter_values(ends))
            }
            (None, None) => return Ok(None),
        };
        Ok(Some([batch.column(start).clone(), ends]))
    }

    /// Returns the integers of column `at` of an Arrow batch; a column of another type is an error.
    fn integers_at<'b>(
        &self,
        batch: &'b RecordBatch,
        at: usize,
    ) -> Result<Integers<'b>, TableError> {
        let column = batch.column(at);
        integers(column).ok_or_else(|| wrong_type(&self.columns[at], column, "integers were"))
    }

    /// Returns the first nulls in the read columns of an Arrow batch, with row and message, and the
    /// number of all nulls.
    fn nulls_of(&self, batch: &RecordBatch) -> (Vec<(usize, String)>, usize) {
        let ColumnIndices { query, doc, number, rank, group, start, end, length, .. } = self.places;
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
        let null_rows = null_rows.into_iter();
        (null_rows.map(|(row, at)| (row, format!("{}: a null", self.columns[at]))).collect(), count)
    }

    /// Adds the first wrong rows of the next Arrow batch to `found`, and returns the number of
    /// wrong rows left out. `wrong` has the first of the batch's `count` wrong rows.
    fn note(
        &self,
        wrong: Vec<(usize, String)>,
        count: usize,
        found: &mut Vec<(u64, String)>,
    ) -> u64 {
        // Invariant: `found` has at most `LIMIT` entries, as each batch adds no more than there is
        // room for.
        let (before, room) = (found.len(), Problems::LIMIT - found.len());
        let wrong = wrong.into_iter().take(room);
        found.extend(wrong.map(|(row, what)| ((self.rows + row + 1) as u64, what)));
        (count - (found.len() - before)) as u64
    }

    /// Rejects an Arrow batch with a column of a wrong type, such as floats for ids.
    fn check_types(&self, batch: &ArrowBatch) -> Result<(), TableError> {
        let ColumnIndices { query, doc, number, rank, group, .. } = self.places;
        let ids =
            [Some((&batch.query, query)), Some((&batch.doc, doc)), batch.group.as_ref().zip(group)];
        for (column, at) in ids.into_iter().flatten() {
            if !is_id(column.data_type()) {
                let expected = if column.data_type().is_floating() {
                    "ids are text or integers (pandas makes floats of integers where some are \
                         missing); text or integers were"
                } else {
                    "text or integers were"
                };
                return Err(wrong_type(&self.columns[at], column, expected));
            }
        }
        // The numbers of records in a list have no column of their own.
        if let Some(column) = &batch.number
            && floats(column).is_none()
        {
            return Err(wrong_type(&self.columns[number.unwrap_or(doc)], column, "numbers were"));
        }
        if let (Some(column), Some(at)) = (&batch.rank, rank)
            && integers(column).is_none()
        {
            return Err(wrong_type(&self.columns[at], column, "integers were"));
        }
        Ok(())
    }

    /// Appends the rows of another Arrow table.
    pub fn append(&mut self, more: ArrowTable) {
        self.rows += more.rows;
        self.batches.extend(more.batches);
        self.bare.extend(more.bare);
    }

    /// Returns the number of rows of the Arrow table; a row with a list of documents counts once.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Returns whether the Arrow table has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Calls `work` with three columns of ids for each batch: queries, documents, and facets such
    /// as judges. Without facets, the queries stand in their place.
    fn with_ids(&self, work: impl FnOnce(&[IdColumn<'_>])) {
        // The function calls `work` instead of returning the ids, because the ids borrow from
        // `texts` and `buffers`, which are local.
        let mut columns: Vec<&ArrayRef> = Vec::with_capacity(3 * self.batches.len());
        for ArrowBatch { query, doc, group, .. } in &self.batches {
            columns.extend([query, doc, group.as_ref().unwrap_or(query)]);
        }
        let plain: Vec<&ArrayRef> =
            columns.iter().map(|column| values(column).unwrap_or(column)).collect();
        let buffers: Vec<Vec<&[u8]>> = plain.iter().map(|column| buffers(column)).collect();
        let texts: Vec<IdColumn<'_>> =
            plain.iter().zip(&buffers).map(|(column, buffers)| text(column, buffers)).collect();
        let ids = columns.iter().zip(&texts).map(|(column, text)| match codes(column) {
            Some(codes) => IdColumn::Dictionary { codes, values: text },
            None => *text,
        });
        work(&ids.collect::<Vec<_>>());
    }
}

/// Returns the message about a passage whose end does not fit into 64 bits.
fn end_too_large(start: i128, length: i128) -> String {
    format!(
        "start '{start}' and length '{length}' make no position: an end from 0 to {} was expected",
        i64::MAX
    )
}
