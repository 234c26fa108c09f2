//! Judgments: from text or from memory to the tables that runs are joined with.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

use super::chunks::{Chunk, ChunkSize, each_chunk};
use super::dialect::{Comments, Dialect, Rules};
use super::findings::{Finding, Findings, Place, join, quoted, whole_file};
use super::foreign::look;
use super::hash::Seed;
use super::input::{Input, Opened};
use super::judged::{MOST_DOCUMENTS, Shelf, Table};
use super::names::Names;
use super::number::decimal;
use super::rank::{repeats, too_many};
use super::record::{Brief, Docnos, Record, address};
use super::scan::{Fields, Lines, Scanner};
use super::scatter::{ChunkRead, Scattered, each_query};
use super::shape::{Fault, LONGEST_LINE, Role, TOO_LONG};
use crate::error::{Error, Problems, Result};
use crate::label::code::{FIRST_GRADE, MAX_GRADES, NEGATIVE};
use crate::label::{Codebook, Facts, FileAccess, Ids, MatrixBuilder, RankingRule, StagedRun};

/// Judgments, ready to be joined with any number of runs.
///
/// They take about 24 bytes a judgment and 64 a query beside the ids.
///
/// ```
/// use laneval::ingest::Qrels;
/// let qrels = Qrels::new([("q1", "d1", 2.0), ("q1", "d2", 0.0), ("q2", "d1", -1.0)])?;
/// assert_eq!(qrels.queries().iter().collect::<Vec<_>>(), [b"q1", b"q2"]);
/// assert_eq!(qrels.book().grades(), [0.0, 2.0]);
/// # Ok::<(), laneval::Error>(())
/// ```
#[derive(Debug)]
pub struct Qrels {
    name: String,
    /// That of the text; judgments from memory go with every dialect.
    dialect: Option<Dialect>,
    book: Codebook,
    queries: Names,
    /// Of each query the one that came after it in the text, if that is known: runs often have the same order.
    after: Vec<u32>,
    facts: Facts,
    tables: Vec<Table>,
    shelves: Vec<Shelf>,
    fingerprint: u128,
    /// Queries with documents that are judged twice, where this matters only if they are evaluated.
    repeats: Vec<(Vec<u8>, Problems)>,
    /// What docnos and queries are hashed with.
    seed: Seed,
}

impl Qrels {
    /// Reads lines of `query iter docno grade`, in any order.
    ///
    /// # Errors
    /// An input that cannot be read; the problems of its lines, among them documents judged twice for a query; no judgments at all;
    /// more than 253 distinct grades ≥ 0.
    ///
    /// ```
    /// use laneval::ingest::{Input, Qrels};
    /// let text = b"q1 0 d1 1\nq1 0 d2 high\n".to_vec();
    /// let error = Qrels::read(Input::Bytes { name: "my.qrels".into(), bytes: text }).unwrap_err();
    /// assert_eq!(error.to_string(), "my.qrels:2: grade 'high' is not a number: expected 'query iter docno grade'");
    /// ```
    pub fn read(input: impl Into<Input>) -> Result<Self> {
        Self::read_as(input, Dialect::default(), FileAccess::default())
    }

    /// Reads lines of `query iter docno grade` in a dialect, for a [`Join`](super::Join) of the same dialect; a file is opened by `access`.
    ///
    /// # Errors
    /// As [`Qrels::read`]; the dialects of trec_eval say only of queries that a run has which documents are judged twice, when they
    /// are joined.
    pub fn read_as(input: impl Into<Input>, dialect: Dialect, access: FileAccess) -> Result<Self> {
        let opened = input.into().open(access)?;
        if let Some(foreign) = look(&opened, Role::Qrels, dialect.rules()) {
            return Err(Error::Input(foreign.problems(Role::Qrels, &opened.name)));
        }
        let (qrels, problems) = read(&opened, dialect, ChunkSize::default(), Seed::random())?;
        if problems.first.is_empty() { Ok(qrels) } else { Err(Error::Input(problems)) }
    }

    /// Takes judgments (query, docno, grade) in any order.
    ///
    /// # Errors
    /// As [`Qrels::read`]; the line of a problem is the number of the judgment, from 1.
    pub fn new<Q: AsRef<[u8]>, D: AsRef<[u8]>>(
        judgments: impl IntoIterator<Item = (Q, D, f64)>,
    ) -> Result<Self> {
        let rules = Dialect::Laneval.rules();
        let seed = Seed::random();
        let mut worker = Worker::new(Keep::Scattered(Scattered::unsorted(true)), rules, seed);
        worker.judgments(judgments);
        let (qrels, problems) = gather(vec![worker], &[], "qrels", rules, seed);
        if problems.first.is_empty() { Ok(qrels) } else { Err(Error::Input(problems)) }
    }

    /// Those of a text that is not read.
    pub(super) fn none(name: &str, dialect: Dialect, seed: Seed) -> Self {
        let qrels = gather(Vec::new(), &[], name, dialect.rules(), seed).0;
        Qrels { dialect: Some(dialect), ..qrels }
    }

    /// The judged queries, in bytewise order.
    pub fn queries(&self) -> &Ids {
        self.queries.ids()
    }

    /// The grades.
    pub fn book(&self) -> &Codebook {
        &self.book
    }

    /// How many documents of each query have each grade.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The wrapping sum of the xxh3-128 hashes of all judgments: it does not depend on their order.
    ///
    /// A judgment is hashed as length of query (`u64`), query, length of docno (`u64`), docno, grade (`f64`), little-endian.
    pub fn fingerprint(&self) -> u128 {
        self.fingerprint
    }

    /// What messages call them.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The dialect of the text that they were, if they were text.
    pub(super) fn dialect(&self) -> Option<Dialect> {
        self.dialect
    }

    /// What docnos are hashed with.
    pub(super) fn seed(&self) -> Seed {
        self.seed
    }

    /// The index of a query.
    #[inline]
    pub(super) fn query(&self, id: &[u8]) -> Option<u32> {
        self.queries.get(id)
    }

    /// The index of a query that is in a run after another one.
    ///
    /// To compare it with a guess saves the hash table, and with it most often a wait for memory.
    #[inline]
    pub(super) fn query_after(&self, last: u32, id: &[u8]) -> Option<u32> {
        let guess = self.after.get(last as usize).copied();
        guess.filter(|&guess| self.queries.is(guess, id)).or_else(|| self.query(id))
    }

    /// The judged documents of a query.
    #[inline]
    pub(super) fn judged(&self, query: u32) -> (&Shelf, Table) {
        let table = self.tables[query as usize];
        (&self.shelves[table.shelf as usize], table)
    }

    /// Documents judged twice for queries that one of the runs has, where nothing was said of them yet.
    pub(super) fn repeats(&self, runs: &[StagedRun]) -> Problems {
        if self.repeats.is_empty() {
            return Problems::default();
        }
        let evaluated: HashSet<u32> = runs
            .iter()
            .flat_map(|run| &run.pieces)
            .flat_map(|piece| &piece.rows)
            .map(|row| row.query)
            .collect();
        let counts = |id: &[u8]| self.query(id).is_some_and(|query| evaluated.contains(&query));
        let found = self.repeats.iter().filter(|(id, _)| counts(id)).map(|(_, problems)| problems.clone());
        let mut found: Vec<Problems> = found.collect();
        found.sort_by_key(|problems| problems.first.first().map(|problem| problem.line));
        join(found)
    }

    /// A matrix without runs yet.
    pub(super) fn matrix(&self, rule: RankingRule) -> MatrixBuilder {
        let (queries, facts) = (self.queries.ids().clone(), self.facts.clone());
        MatrixBuilder::new(self.book.clone(), rule, self.fingerprint, queries, facts)
    }

    /// A matrix without runs yet; the tables are given back.
    pub(super) fn into_matrix(self, rule: RankingRule) -> MatrixBuilder {
        MatrixBuilder::new(self.book, rule, self.fingerprint, self.queries.into_ids(), self.facts)
    }
}

/// Reads judgments; what can be used of them, and the problems.
pub(super) fn read(
    opened: &Opened,
    dialect: Dialect,
    size: ChunkSize,
    seed: Seed,
) -> Result<(Qrels, Problems)> {
    let (content, rules) = (opened.content(), dialect.rules());
    let in_dialect = |(qrels, problems)| (Qrels { dialect: Some(dialect), ..qrels }, problems);
    let pass = |grouped: bool, regroup: &AtomicBool| {
        let keep = || match grouped {
            true => Keep::Grouped(Vec::new()),
            false => Keep::Scattered(Scattered::unsorted(content.1.is_some())),
        };
        let take = |worker: &mut Worker, chunk: Chunk<'_>| worker.chunk(chunk, rules, regroup);
        let workers = each_chunk(content, size, regroup, || Worker::new(keep(), rules, seed), take);
        workers.map_err(|source| Error::io(opened.name.as_ref(), "read", source))
    };
    let regroup = AtomicBool::new(false);
    let workers = pass(true, &regroup)?;
    if !regroup.load(Ordering::Relaxed)
        && let Some(done) = assemble(workers, &opened.name, seed)
    {
        return Ok(in_dialect(done));
    }
    let workers = pass(false, &AtomicBool::new(false))?;
    Ok(in_dialect(gather(workers, content.0, &opened.name, rules, seed)))
}

/// How a worker keeps the judgments of a query.
enum Keep {
    /// They are together: a table is made at the end of them.
    Grouped(Vec<Record>),
    /// They may be anywhere.
    Scattered(Scattered),
}

/// What one worker has read.
struct Worker {
    keep: Keep,
    seed: Seed,
    queries: Names,
    shelving: Shelving,
    findings: Findings,
    chunks: Vec<ChunkRead>,
    judgments: u64,
    scanner: Scanner,
}

/// Tables that are being made.
#[derive(Default)]
struct Shelving {
    shelf: Shelf,
    tables: Vec<Table>,
    grades: Grades,
    /// By preliminary codes.
    facts: Facts,
    codes: Vec<u8>,
    fingerprint: u128,
    hashed: Vec<u8>,
    /// Do documents that are judged twice matter only in queries that are evaluated?
    late: bool,
    /// Those queries, if so.
    repeats: Vec<(Vec<u8>, Findings)>,
}

/// The distinct grades ≥ 0 in the order in which they came.
#[derive(Default)]
struct Grades(Vec<f64>);

impl Grades {
    /// A preliminary code, to be replaced when all grades are known.
    fn code(&mut self, grade: f64) -> u8 {
        if grade < 0.0 {
            return NEGATIVE;
        }
        let at = self.0.iter().position(|&known| known == grade).unwrap_or_else(|| {
            // One too many is kept, so that the codebook refuses them.
            self.0.truncate(MAX_GRADES);
            self.0.push(grade);
            self.0.len() - 1
        });
        FIRST_GRADE.saturating_add(at as u8)
    }
}

impl Shelving {
    fn new(rules: Rules) -> Self {
        Shelving { late: rules.late_repeats, facts: Facts::new(), ..Self::default() }
    }

    /// Makes the table of a query.
    fn add(&mut self, query: &[u8], records: &[Record], docnos: Docnos<'_>, findings: &mut Findings) {
        if let Some(message) = too_many(query, records.len(), MOST_DOCUMENTS) {
            findings.add(records[0].at, || Finding {
                place: docnos.place(&records[0]),
                message,
                earlier: None,
            });
            return self.add(query, &[], docnos, findings);
        }
        let table = self.shelf.table(0, records.len());
        self.tables.push(table);
        self.hashed.clear();
        self.hashed.extend_from_slice(&(query.len() as u64).to_le_bytes());
        self.hashed.extend_from_slice(query);
        let prefix = self.hashed.len();
        self.codes.clear();
        for record in records {
            let (docno, grade) = (docnos.of(record), f64::from_bits(record.key));
            self.hashed.truncate(prefix);
            self.hashed.extend_from_slice(&(docno.len() as u64).to_le_bytes());
            self.hashed.extend_from_slice(docno);
            self.hashed.extend_from_slice(&grade.to_le_bytes());
            self.fingerprint = self.fingerprint.wrapping_add(xxh3_128(&self.hashed));
            let code = self.grades.code(grade);
            if self.shelf.insert(table, record, docno, code) {
                self.codes.push(code);
            }
        }
        self.facts.push(self.codes.iter().copied());
        let repeated = self.codes.len() < records.len();
        if repeated && self.late {
            let mut later = Findings::default();
            report_repeats(query, records, docnos, &mut later);
            self.repeats.push((query.to_vec(), later));
        } else if repeated {
            report_repeats(query, records, docnos, findings);
        }
    }
}

#[cold]
fn report_repeats(query: &[u8], records: &[Record], docnos: Docnos<'_>, findings: &mut Findings) {
    for (first, again) in repeats(records, docnos) {
        findings.add(again.at, || {
            let (docno, query) = (quoted(docnos.of(again)), quoted(query));
            let [grade, earlier] = [again, first].map(|record| f64::from_bits(record.key));
            let message = if grade == earlier {
                format!("docno {docno} is judged again for query {query}, first on line")
            } else {
                format!("docno {docno} of query {query} has grade {grade} here, but grade {earlier} on line")
            };
            Finding { place: docnos.place(again), message, earlier: Some(docnos.place(first)) }
        });
    }
}

impl Worker {
    fn new(keep: Keep, rules: Rules, seed: Seed) -> Self {
        Worker {
            keep,
            seed,
            queries: Names::new(seed),
            shelving: Shelving::new(rules),
            findings: Findings::default(),
            chunks: Vec::new(),
            judgments: 0,
            scanner: Scanner::default(),
        }
    }

    fn chunk(&mut self, chunk: Chunk<'_>, rules: Rules, regroup: &AtomicBool) {
        let mut scanner = std::mem::take(&mut self.scanner);
        if let Keep::Scattered(scattered) = &mut self.keep {
            scattered.begin(chunk.number);
        }
        let mut reading = Reading {
            seed: self.seed,
            worker: self,
            rules,
            regroup,
            chunk,
            query: (0, 0),
            brief: Brief::default(),
            number: 0,
        };
        let lines = scanner.each_line(chunk.text, &mut reading);
        reading.end_query();
        self.chunks.push(ChunkRead::of(chunk, lines));
        self.scanner = scanner;
    }

    /// Takes judgments from memory, a million in a chunk.
    fn judgments<Q: AsRef<[u8]>, D: AsRef<[u8]>>(
        &mut self,
        judgments: impl IntoIterator<Item = (Q, D, f64)>,
    ) {
        const CHUNK: u64 = 1 << 20;
        let Keep::Scattered(scattered) = &mut self.keep else { return };
        for (query, docno, grade) in judgments {
            let (chunk, line) = (self.judgments / CHUNK, self.judgments % CHUNK + 1);
            if line == 1 {
                scattered.begin(chunk);
                self.chunks.push(ChunkRead::of(Chunk { number: chunk, start: 0, text: &[] }, CHUNK));
            }
            self.judgments += 1;
            if !grade.is_finite() {
                let message = || format!("grade {grade} is not a finite number");
                let place = Place { chunk, line };
                let finding = || Finding { place, message: message(), earlier: None };
                self.findings.add(scattered.address(chunk, 0), finding);
                continue;
            }
            let docno = docno.as_ref();
            if docno.len().max(query.as_ref().len()) > LONGEST_LINE {
                let place = Place { chunk, line };
                let finding = || Finding { place, message: TOO_LONG.to_owned(), earlier: None };
                self.findings.add(scattered.address(chunk, 0), finding);
                continue;
            }
            let record = Record {
                key: (grade + 0.0).to_bits(),
                hash: self.seed.hash(docno, 0, docno.len()),
                at: 0,
                length: docno.len() as u32,
                query: self.queries.insert(query.as_ref()).0,
            };
            scattered.keep(record, line, chunk, || (0, docno.len()), docno);
        }
    }
}

/// A worker at a chunk.
struct Reading<'w, 't> {
    worker: &'w mut Worker,
    rules: Rules,
    regroup: &'w AtomicBool,
    seed: Seed,
    chunk: Chunk<'t>,
    /// Where the current query's id lies; empty before the first one.
    query: (usize, usize),
    /// Its first and last bytes.
    brief: Brief,
    /// Its number, where judgments are scattered.
    number: u32,
}

impl Reading<'_, '_> {
    fn is_current(&self, text: &[u8], start: usize, end: usize) -> bool {
        let (from, to) = self.query;
        end - start == to - from
            && Brief::of(text, start, end) == self.brief
            && (end - start <= 16 || text[start..end] == text[from..to])
    }

    #[inline(never)]
    fn begin_query(&mut self, text: &[u8], start: usize, end: usize) {
        self.end_query();
        self.query = (start, end);
        self.brief = Brief::of(text, start, end);
        if let Keep::Scattered(_) = self.worker.keep {
            self.number = self.worker.queries.insert(&text[start..end]).0;
        }
    }

    fn end_query(&mut self) {
        let Worker { keep: Keep::Grouped(records), queries, shelving, findings, .. } = &mut *self.worker
        else {
            return;
        };
        if records.is_empty() {
            return;
        }
        let query = &self.chunk.text[self.query.0..self.query.1];
        if queries.insert(query).1 {
            let docnos = Docnos { first: self.chunk.number, chunks: &[self.chunk.text], text: true };
            shelving.add(query, records, docnos, findings);
        } else {
            self.regroup.store(true, Ordering::Relaxed);
        }
        records.clear();
    }

    #[cold]
    fn problem(&mut self, offset: usize, line: u64, message: impl FnOnce() -> String) {
        let chunk = self.chunk.number;
        let address = match &self.worker.keep {
            Keep::Grouped(_) => address(chunk, offset),
            Keep::Scattered(scattered) => scattered.address(chunk, offset),
        };
        let place = Place { chunk, line };
        self.worker.findings.add(address, || Finding { place, message: message(), earlier: None });
    }
}

impl Lines<4> for Reading<'_, '_> {
    const MORE: bool = false;

    #[inline(always)]
    fn fields(&mut self, text: &[u8], line: u64, fields: &Fields<4>) {
        self.worker.judgments += 1;
        let grade = decimal(text, fields.starts[3], fields.ends[3], self.rules.grade);
        let grade = grade.map(|grade| if self.rules.whole_grades { grade.trunc() } else { grade });
        let Some(grade) = grade else {
            let rules = self.rules;
            return self.problem(fields.starts[0], line, || {
                Role::Qrels.complaint(&text[fields.starts[0]..fields.ends[3]], Fault::Number, rules)
            });
        };
        if !self.is_current(text, fields.starts[0], fields.ends[0]) {
            self.begin_query(text, fields.starts[0], fields.ends[0]);
        }
        let (start, end) = (fields.starts[2], fields.ends[2]);
        let record = Record {
            key: (grade + 0.0).to_bits(),
            hash: self.seed.hash(text, start, end),
            at: address(self.chunk.number, start),
            length: (end - start) as u32,
            query: self.number,
        };
        match &mut self.worker.keep {
            Keep::Grouped(records) => records.push(record),
            Keep::Scattered(scattered) => {
                scattered.keep(record, line, self.chunk.number, || (start, end), text);
            }
        }
    }

    #[cold]
    fn other(&mut self, offset: usize, line: u64, bytes: &[u8]) {
        self.worker.judgments += 1;
        let rules = self.rules;
        self.problem(offset, line, || {
            let fault = Role::Qrels.fault(bytes, rules).unwrap_or(Fault::Number);
            Role::Qrels.complaint(bytes, fault, rules)
        });
    }

    fn comments(&self) -> Comments {
        self.rules.qrels_comments
    }
}

/// Where a query is: a worker, and its number there.
struct Met {
    /// The first bytes of the id, big-endian: nearly always enough to compare.
    prefix: u64,
    worker: u32,
    number: u32,
}

/// All queries of all workers, sorted.
fn sorted(names: &[&Ids]) -> Vec<Met> {
    let mut all = Vec::with_capacity(names.iter().map(|ids| ids.len()).sum());
    for (worker, ids) in names.iter().enumerate() {
        all.extend(ids.iter().enumerate().map(|(number, id)| {
            let prefix = Brief::of(id, 0, id.len()).prefix();
            Met { prefix, worker: worker as u32, number: number as u32 }
        }));
    }
    let id = |met: &Met| names[met.worker as usize].get(met.number as usize);
    all.par_sort_unstable_by(|one, other| one.prefix.cmp(&other.prefix).then_with(|| id(one).cmp(id(other))));
    all
}

/// Puts grouped judgments together; `None` if a query was met by two workers.
fn assemble(workers: Vec<Worker>, name: &str, seed: Seed) -> Option<(Qrels, Problems)> {
    let names: Vec<&Ids> = workers.iter().map(|worker| worker.queries.ids()).collect();
    let order = sorted(&names);
    let mut ids = Ids::default();
    for met in &order {
        let id = names[met.worker as usize].get(met.number as usize);
        if !ids.is_empty() && ids.get(ids.len() - 1) == id {
            return None;
        }
        ids.push(id);
    }
    let after = after(&order, &names);
    let mut read = Read::default();
    let shelvings = workers.into_iter().map(|worker| read.add(worker).1).collect();
    let (qrels, problems) = read.finish(ids, shelvings, Some(order), name, seed);
    Some((Qrels { after, ..qrels }, problems))
}

/// Of each query the one that its worker met after it, as indices into the sorted queries; `u32::MAX` for none.
fn after(order: &[Met], names: &[&Ids]) -> Vec<u32> {
    let mut indices: Vec<Vec<u32>> = names.iter().map(|ids| vec![0; ids.len()]).collect();
    for (index, met) in (0..).zip(order) {
        indices[met.worker as usize][met.number as usize] = index;
    }
    let next = |met: &Met| indices[met.worker as usize].get(met.number as usize + 1).copied();
    order.iter().map(|met| next(met).unwrap_or(u32::MAX)).collect()
}

/// Puts scattered judgments together; `text` is the whole text where docnos were not copied.
fn gather(workers: Vec<Worker>, text: &[u8], name: &str, rules: Rules, seed: Seed) -> (Qrels, Problems) {
    let names: Vec<&Ids> = workers.iter().map(|worker| worker.queries.ids()).collect();
    let mut numbers: Vec<Vec<u32>> = names.iter().map(|ids| vec![0; ids.len()]).collect();
    let mut ids = Ids::default();
    for met in sorted(&names) {
        let id = names[met.worker as usize].get(met.number as usize);
        if ids.is_empty() || ids.get(ids.len() - 1) != id {
            ids.push(id);
        }
        numbers[met.worker as usize][met.number as usize] = ids.len() as u32 - 1;
    }
    let mut read = Read::default();
    let keeps: Vec<Keep> = workers.into_iter().map(|worker| read.add(worker).0).collect();
    let renumber = |(keep, numbers): (Keep, Vec<u32>)| match keep {
        Keep::Scattered(scattered) => scattered.renumber(&numbers, ids.len()),
        Keep::Grouped(_) => Scattered::new(ids.len(), false),
    };
    let scattered = keeps.into_par_iter().zip(numbers).map(renumber).collect();
    let shelve = |(shelving, findings): &mut (Shelving, Findings), records: &[Record], docnos: Docnos<'_>| {
        shelving.add(ids.get(records[0].query as usize), records, docnos, findings);
    };
    let worker = || (Shelving::new(rules), Findings::default());
    let parts = each_query(scattered, text, &read.chunks, worker, shelve);
    let mut shelvings = Vec::with_capacity(parts.len());
    for (shelving, findings) in parts {
        read.findings.merge(findings);
        shelvings.push(shelving);
    }
    read.finish(ids, shelvings, None, name, seed)
}

/// What all workers have read, apart from the tables.
#[derive(Default)]
struct Read {
    findings: Findings,
    chunks: Vec<ChunkRead>,
    judgments: u64,
}

impl Read {
    fn add(&mut self, worker: Worker) -> (Keep, Shelving) {
        self.findings.merge(worker.findings);
        self.chunks.extend(worker.chunks);
        self.judgments += worker.judgments;
        (worker.keep, worker.shelving)
    }

    /// Gives grades their codes and tables their places: in the order in which they were met, or else as they lie.
    fn finish(
        self,
        ids: Ids,
        mut shelvings: Vec<Shelving>,
        order: Option<Vec<Met>>,
        name: &str,
        seed: Seed,
    ) -> (Qrels, Problems) {
        let lines = lines_of(&self.chunks);
        let mut problems = self.findings.into_problems(name, &lines);
        if self.judgments == 0 {
            problems = whole_file(name, format!("there is no judgment in it: {}", Role::Qrels.expected()));
        }
        let book = Codebook::new(shelvings.iter().flat_map(|shelving| shelving.grades.0.iter().copied()));
        let book = book.unwrap_or_else(|error| {
            if problems.first.is_empty() {
                problems = whole_file(name, error.to_string());
            }
            Codebook::default()
        });
        let order = order.unwrap_or_else(|| as_they_lie(&shelvings));
        shelvings.iter_mut().enumerate().for_each(|(number, shelving)| shelving.finish(number, &book));
        let tables =
            order.iter().map(|met| shelvings[met.worker as usize].tables[met.number as usize]).collect();
        let (facts, queries) = rayon::join(|| facts(&order, &shelvings), || Names::of(ids, seed));
        let fingerprint =
            shelvings.iter().fold(0u128, |sum, shelving| sum.wrapping_add(shelving.fingerprint));
        let mut repeats = Vec::new();
        let mut shelves = Vec::with_capacity(shelvings.len());
        for shelving in shelvings {
            let found = |(id, findings): (_, Findings)| (id, findings.into_problems(name, &lines));
            repeats.extend(shelving.repeats.into_iter().map(found));
            shelves.push(shelving.shelf);
        }
        let name = name.to_owned();
        let after = Vec::new();
        let dialect = None;
        (
            Qrels { name, dialect, book, queries, after, facts, tables, shelves, fingerprint, repeats, seed },
            problems,
        )
    }
}

/// All queries of all shelves, one shelf after the other.
fn as_they_lie(shelvings: &[Shelving]) -> Vec<Met> {
    let of_shelf = |(worker, shelving): (usize, &Shelving)| {
        (0..shelving.tables.len()).map(move |number| Met {
            prefix: 0,
            worker: worker as u32,
            number: number as u32,
        })
    };
    shelvings.iter().enumerate().flat_map(of_shelf).collect()
}

/// The facts of all queries by final codes, put in order in parallel.
fn facts(order: &[Met], shelvings: &[Shelving]) -> Facts {
    let recode = |order: &[Met]| {
        let mut facts = Facts::new();
        for met in order {
            let Shelving { shelf, facts: met_facts, .. } = &shelvings[met.worker as usize];
            let counts = met_facts.of(met.number as usize);
            facts.push_counts(counts.iter().map(|(code, count)| (shelf.meaning(code), count)));
        }
        facts
    };
    let parts: Vec<Facts> = order.par_chunks(1 << 12).map(recode).collect();
    let mut facts = Facts::new();
    parts.iter().for_each(|part| facts.append(part));
    facts
}

impl Shelving {
    /// Replaces the preliminary codes, and numbers the shelf.
    fn finish(&mut self, number: usize, book: &Codebook) {
        let mut code = [NEGATIVE; 256];
        for (&grade, code) in std::iter::zip(&self.grades.0, &mut code[usize::from(FIRST_GRADE)..]) {
            *code = book.code(grade).unwrap_or(NEGATIVE);
        }
        self.tables.iter_mut().for_each(|table| table.shelf = number as u32);
        self.shelf.recode(code);
    }
}

/// The lines of each chunk, by number.
pub(super) fn lines_of(chunks: &[ChunkRead]) -> Vec<u64> {
    let mut lines = vec![0; chunks.len()];
    chunks.iter().for_each(|chunk| lines[chunk.number as usize] = chunk.lines);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_found_after_those_before_them_in_the_text_and_after_any_other() {
        let bytes = b"9 0 d 1\n10 0 d 1\n100 0 d 1\n11 0 d 1\n".to_vec();
        let qrels = Qrels::read(Input::Bytes { name: "qrels".into(), bytes }).unwrap();
        assert_eq!(qrels.after, [1, 2, u32::MAX, 0], "of 10, 100, 11 and 9");
        for last in [0, 1, 2, 3, u32::MAX] {
            for (index, id) in (0..).zip(qrels.queries().iter()) {
                assert_eq!(qrels.query_after(last, id), Some(index));
            }
            assert_eq!(qrels.query_after(last, b"12"), None);
        }
    }
}
