//! Tied groups: documents with equal scores and different labels, whose ranking depends on the tie
//! order.
//!
//! A *group* is the documents of one score in a ranking: at least two documents, of which at least
//! one is kept. A group is *mixed* if its labels are of two codes at least. Mixed groups are kept
//! with their place. If the deepest kept rank cuts a group, the number of cut documents of each
//! code is kept, too. Groups of one grade with two or more kept documents also keep their place: a
//! measure may credit a whole group at its last rank. All further groups are only counted, because
//! every order of their documents gives the same labels. Groups without a graded document change
//! nothing under any measure.
//!
//! ```text
//! scores   9 9 9 7 7 5 5 5 │ 5 5     depth 8 cuts the last group
//! labels   1 3 1 1 1 4 1 1 │ 3 1
//! groups   0+3 mixed · 3+2 without a grade: counted only · 5+3 mixed, and cut off: code 1 once,
//!          code 3 once
//! ```
//!
//! Few rows have a mixed group, so a bitmap finds the groups of a row. A mark has 64 bits, one a
//! row, and the number of marked rows before its first row. One count of bits then gives the index
//! of a row among the marked rows. The lookup takes constant time and 2 bits a row, where a list of
//! ends for all rows would take 64.

use super::{CodesAbove, GradeHistograms, MAX_TILE_DEPTH, code::NOT_IN_QRELS, ragged::range_of};

/// The numbers of documents of a run that have equal scores, and of groups of these. Only rankings
/// of judged queries count. Documents of a group that were cut off count too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TieCounts {
    /// The number of documents whose score another document of the ranking has too.
    pub documents: u64,
    /// The number of groups of equal scores.
    pub groups: u64,
    /// The number of groups whose documents have different labels.
    pub mixed: u64,
    /// The number of documents of the largest group.
    pub largest: u64,
}

impl TieCounts {
    /// Adds the counts of documents with equal scores in further rankings.
    pub fn merge(&mut self, other: Self) {
        self.documents = self.documents.saturating_add(other.documents);
        self.groups = self.groups.saturating_add(other.groups);
        self.mixed = self.mixed.saturating_add(other.mixed);
        self.largest = self.largest.max(other.largest);
    }

    /// Counts one more group of `documents` documents with equal scores.
    fn add(&mut self, documents: u64, mixed: bool) {
        self.merge(Self { documents, groups: 1, mixed: mixed.into(), largest: documents });
    }

    /// Rejects counts of documents with equal scores that contradict the stored groups, or exceed
    /// `most` documents. `mixed` are the counts of the mixed groups, whose labels differ.
    fn check(&self, mixed: Self, most: u64) -> Result<(), String> {
        let Self { documents, groups, largest, .. } = *self;
        fault_if!(
            self.mixed != mixed.mixed,
            "{} mixed groups, and there are {}",
            self.mixed,
            mixed.mixed
        );
        // The mixed groups can be counted. Of plain groups the file only claims numbers: p groups
        // with d documents. These numbers are possible if groups of 2 to `largest` documents can
        // have d documents: 2p ≤ d ≤ p · largest, and a plain group has `largest` documents if no
        // mixed group has.
        let plain = groups.checked_sub(mixed.groups).zip(documents.checked_sub(mixed.documents));
        let possible = plain.is_some_and(|(plain, documents)| {
            let is_plain = largest > mixed.largest && plain > 0;
            let least = if is_plain {
                (plain - 1).saturating_mul(2).saturating_add(largest)
            } else {
                plain.saturating_mul(2)
            };
            let largest_is_there = largest == mixed.largest || is_plain;
            largest_is_there && least <= documents && documents <= plain.saturating_mul(largest)
        });
        if possible && documents <= most {
            return Ok(());
        }
        Err(format!(
            "{documents} tied documents in {groups} groups, the largest of {largest}, cannot be"
        ))
    }
}

/// The ranks of a group of documents with equal scores in a ranking, as far as they are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tie {
    /// The rank of the first document of the group, from 0.
    pub start: u32,
    /// The number of kept ranks of the group: at least 2, or 1 if documents were cut off.
    pub length: u32,
}

impl Tie {
    /// Returns the rank behind the last document of the tie, from 0.
    pub fn end(self) -> u32 {
        self.start + self.length
    }

    /// Returns whether the tie lies between the ranks `end` and `depth`.
    fn is_between(self, end: u32, depth: u32) -> bool {
        // In this order no operation can overflow: `depth - start` is not negative behind the
        // second condition.
        self.start >= end && self.start <= depth && self.length <= depth - self.start
    }
}

/// A group of documents of a ranking with equal scores and the same grade.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SameGradeTie {
    /// The row of the ranking.
    pub row: u32,
    /// The ranks of the group, two at least.
    pub group: Tie,
}

/// The number of documents of one label code that the depth limit cut off the last tie of a
/// ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CutTieCount {
    /// The row of the ranking.
    pub row: u32,
    /// The code of these documents.
    pub code: u8,
    /// The number of these documents.
    pub count: u32,
}

/// The ties of a single ranking whose documents have different labels, so that their order matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowTies<'a> {
    /// The groups, from the first rank on.
    pub groups: &'a [Tie],
    /// The documents that were cut off of the last group, by ascending code; empty if the group is
    /// whole.
    pub cut: &'a [CutTieCount],
}

/// The ties of a matrix's rankings whose documents have different labels, and tie counts of each
/// run.
///
/// A ranking without a mixed group costs 2 bits. A ranking with mixed groups costs about 12 bytes,
/// and 8 bytes for each group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatrixTies {
    pub(crate) columns: TieColumns,
    /// Marks of the rows that have mixed groups, 64 rows a mark.
    marks: Vec<MixedMark>,
}

/// A bitmap over 64 rankings of those that have ties of different labels. The number of marked
/// rankings before makes look-up fast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct MixedMark {
    rows: u64,
    before: u32,
}

/// The depths and judgment counts of a matrix that its ties are checked against.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TieContext<'a> {
    /// The number of results of each row, `[run][query]`.
    pub depths: &'a [u32],
    /// The number of ranks that were kept.
    pub max_depth: Option<u32>,
    /// The facts of each query.
    pub facts: &'a GradeHistograms,
}

/// The ties of a matrix as columns, from an `.lmx` file or from runs that were read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct TieColumns {
    /// The counts of tied documents, by run.
    pub counts: Vec<TieCounts>,
    /// The rows that have mixed groups, ascending.
    pub rows: Vec<u32>,
    /// The ends of the groups of these rows.
    pub ends: Vec<u64>,
    pub groups: Vec<Tie>,
    /// The documents that were cut off, by row and code, ascending.
    pub cut: Vec<CutTieCount>,
    /// The groups of one grade, by row and rank.
    pub alike: Vec<SameGradeTie>,
}

impl MatrixTies {
    /// Returns the counts of documents with equal scores, for each run.
    pub fn counts(&self) -> &[TieCounts] {
        &self.columns.counts
    }

    /// Returns the rows (rankings) that have ties of documents with different labels, ascending.
    pub fn rows(&self) -> &[u32] {
        &self.columns.rows
    }

    /// Returns the ties of one ranking whose documents have different labels, in constant time.
    /// There are none if the row has none.
    #[inline]
    pub fn get(&self, row: u32) -> RowTies<'_> {
        let mark = self.marks[row as usize / 64];
        let (bit, before) = (1 << (row % 64), mark.before as usize);
        if mark.rows & bit == 0 {
            return RowTies::default();
        }
        self.at(before + (mark.rows & (bit - 1)).count_ones() as usize)
    }

    /// Returns the rows (rankings) that have ties of documents with different labels, ascending,
    /// with these ties.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u32, RowTies<'_>)> {
        self.rows().iter().enumerate().map(|(at, &row)| (row, self.at(at)))
    }

    /// Returns the ties whose documents all have the same grade, by row and rank.
    pub fn same_grade(&self) -> &[SameGradeTie] {
        &self.columns.alike
    }

    /// Returns all ties of a ranking that include a graded document, from the first rank on.
    pub fn graded_of(&self, row: u32) -> Vec<Tie> {
        let alike = self.same_grade();
        let from_row = &alike[alike.partition_point(|tie| tie.row < row)..];
        let of_row = from_row.iter().take_while(|tie| tie.row == row).map(|tie| tie.group);
        let mut groups: Vec<Tie> = self.get(row).groups.iter().copied().chain(of_row).collect();
        groups.sort_unstable();
        groups
    }

    /// Returns the rank behind the deepest tie of documents with different labels, from 0.
    pub fn deepest(&self) -> u32 {
        self.iter().filter_map(|(_, ties)| Some(ties.groups.last()?.end())).max().unwrap_or(0)
    }

    /// Returns the ties of the ranking at index `at` of [`MatrixTies::rows`].
    fn at(&self, at: usize) -> RowTies<'_> {
        let TieColumns { rows, ends, groups, cut, .. } = &self.columns;
        let groups = &groups[range_of(ends, at)];
        if cut.is_empty() {
            return RowTies { groups, cut };
        }
        let row = rows[at];
        let rest = &cut[cut.partition_point(|cut| cut.row < row)..];
        let cut = &rest[..rest.iter().take_while(|cut| cut.row == row).count()];
        RowTies { groups, cut }
    }

    /// Makes the ties of a matrix from columns, and rejects columns that do not fit its rankings.
    pub(crate) fn new(columns: TieColumns, context: TieContext<'_>) -> Result<Self, String> {
        columns.check_rows(context.depths.len())?;
        let mut marks = vec![MixedMark::default(); context.depths.len().div_ceil(64)];
        let rows = columns.rows.iter();
        rows.for_each(|row| marks[*row as usize / 64].rows |= 1 << (row % 64));
        let mut before = 0;
        for mark in &mut marks {
            mark.before = before;
            before += mark.rows.count_ones();
        }
        let tied = Self { columns, marks };
        tied.check(context)?;
        tied.check_alike(context).map_err(|message| format!("groups of one grade: {message}"))?;
        Ok(tied)
    }

    fn check(&self, context: TieContext<'_>) -> Result<(), String> {
        let (queries, cut) = (context.facts.len(), &self.columns.cut);
        let mut found = vec![TieCounts::default(); self.counts().len()];
        let mut cuts = 0;
        for (row, ties) in self.iter() {
            ties.check(row, context).map_err(|message| format!("row {row}: {message}"))?;
            cuts += ties.cut.len();
            // No division by 0: every row has a query.
            let found = &mut found[row as usize / queries];
            let cut: u64 = ties.cut.iter().map(|cut| u64::from(cut.count)).sum();
            for (at, group) in (1..).zip(ties.groups) {
                let cut = if at == ties.groups.len() { cut } else { 0 };
                found.add(u64::from(group.length) + cut, true);
            }
        }
        fault_if!(
            cuts != cut.len()
                || !cut.is_sorted_by(|one, next| (one.row, one.code) < (next.row, next.code)),
            "documents were cut off of rows without a mixed group, or the rows or codes do not \
                 ascend"
        );
        for (run, (counts, mixed)) in self.counts().iter().zip(found).enumerate() {
            let depths = &context.depths[run * queries..][..queries];
            // Cut-off documents count as tied, and their number is unknown.
            let most = match context.max_depth {
                Some(_) => u64::MAX,
                None => depths.iter().map(|&depth| u64::from(depth)).sum(),
            };
            counts.check(mixed, most).map_err(|message| format!("run {}: {message}", run + 1))?;
        }
        Ok(())
    }

    /// Rejects ties of one grade that do not fit the rankings and the counts of tied documents.
    fn check_alike(&self, context: TieContext<'_>) -> Result<(), String> {
        let alike = self.same_grade();
        fault_if!(!alike.is_sorted_by(|one, next| one < next), "their rows or ranks do not ascend");
        if let Some(last) = alike.last().filter(|last| last.row as usize >= context.depths.len()) {
            return Err(format!("one of row {}, and there are {}", last.row, context.depths.len()));
        }
        let mut left = self.counts().to_vec();
        for of_row in alike.chunk_by(|one, next| one.row == next.row) {
            let row = of_row[0].row;
            let (depth, mut end) = (context.depths[row as usize], 0);
            // Mixed groups are among these: a group of one grade must not overlap a mixed group.
            for tie in self.graded_of(row) {
                let Tie { start, length } = tie;
                fault_if!(
                    !tie.is_between(end, depth),
                    "row {row}: {length} from rank {start}, outside of {end} to {depth}"
                );
                end = tie.end();
            }
            // No division by 0: every row has a query.
            let left = &mut left[row as usize / context.facts.len()];
            for &SameGradeTie { group, .. } in of_row {
                let length = u64::from(group.length);
                let others = left.groups.checked_sub(1).filter(|&others| others >= left.mixed);
                let rest = others.zip(left.documents.checked_sub(length));
                let Some(rest) = rest.filter(|_| (2..=left.largest).contains(&length)) else {
                    return Err(format!(
                        "row {row}: {length} documents, or more than were counted"
                    ));
                };
                (left.groups, left.documents) = rest;
            }
        }
        Ok(())
    }
}

impl TieColumns {
    /// Appends the ties of a run of `queries` queries.
    pub fn push(&mut self, mut run: StagedTies, queries: usize) -> Result<(), String> {
        let named = run.groups.iter().map(|(query, _)| *query);
        let named = named.chain(run.cut.iter().map(|cut| cut.row));
        let named = named.chain(run.alike.iter().map(|alike| alike.row));
        if let Some(query) = named.max().filter(|&query| query as usize >= queries) {
            return Err(format!("tied documents of query {query}, and there are {queries}"));
        }
        let first = (self.counts.len() * queries) as u32;
        // Workers rank queries in any order. Sorting by query and rank gives the groups and
        // cut-offs of a single thread, because no two are equal.
        run.groups.sort_unstable();
        run.cut.sort_unstable();
        run.alike.sort_unstable();
        self.counts.push(run.counts);
        for of_query in run.groups.chunk_by(|one, next| one.0 == next.0) {
            self.rows.push(first + of_query[0].0);
            self.groups.extend(of_query.iter().map(|(_, group)| group));
            self.ends.push(self.groups.len() as u64);
        }
        let alike =
            run.alike.into_iter().map(|alike| SameGradeTie { row: first + alike.row, ..alike });
        self.alike.extend(alike);
        self.cut.extend(run.cut.into_iter().map(|cut| CutTieCount { row: first + cut.row, ..cut }));
        Ok(())
    }

    /// Rejects columns of ties whose rows or ends do not ascend, or whose ties belong to no row.
    fn check_rows(&self, rows: usize) -> Result<(), String> {
        fault_if!(!self.rows.is_sorted_by(|one, next| one < next), "the rows do not ascend");
        if let Some(&last) = self.rows.last().filter(|&&last| last as usize >= rows) {
            return Err(format!("groups of row {last}, and there are {rows}"));
        }
        let first = self.ends.first().is_none_or(|&end| end > 0);
        let ascend = first && self.ends.is_sorted_by(|one, next| one < next);
        let last = self.ends.last().copied().unwrap_or(0);
        fault_if!(
            self.ends.len() != self.rows.len() || !ascend || last != self.groups.len() as u64,
            "the ends do not fit rows and groups"
        );
        Ok(())
    }
}

impl RowTies<'_> {
    fn check(&self, row: u32, context: TieContext<'_>) -> Result<(), String> {
        let depth = context.depths[row as usize];
        let mut end = 0;
        for (at, &tie) in (1..).zip(self.groups) {
            let Tie { start, length } = tie;
            fault_if!(
                !tie.is_between(end, depth),
                "a group of {length} from rank {start}, outside of {end} to {depth}"
            );
            // Of a group whose other documents were cut off, a single one may be left.
            let is_cut = at == self.groups.len() && !self.cut.is_empty();
            fault_if!(length < if is_cut { 1 } else { 2 }, "a group of {length}");
            end = tie.end();
        }
        fault_if!(
            !self.cut.is_empty() && (end != depth || context.max_depth != Some(depth)),
            "documents were cut off of a group that does not end at the last rank kept"
        );
        let judged = context.facts.get(row as usize % context.facts.len());
        let mut results = u64::from(depth);
        for &CutTieCount { code, count, .. } in self.cut {
            let most = match code {
                NOT_IN_QRELS => MAX_TILE_DEPTH,
                _ => judged.iter().find(|known| known.0 == code).map_or(0, |(_, count)| count),
            };
            fault_if!(
                count == 0 || count > most,
                "{count} documents of code {code} cut off, where 1 to {most} can be"
            );
            results += u64::from(count);
        }
        fault_if!(
            results > u64::from(MAX_TILE_DEPTH),
            "{results} results, more than {MAX_TILE_DEPTH}"
        );
        Ok(())
    }

    /// Finds a tie that is recorded as of different labels, but whose documents all have one label.
    /// Cut documents are included. `label` returns the label at a rank.
    pub(crate) fn unmixed(&self, label: impl Fn(usize) -> u8) -> Option<Tie> {
        for (at, &group) in (1..).zip(self.groups) {
            let first = label(group.start as usize);
            // Only the last group of a ranking can be cut off.
            let cut = if at == self.groups.len() { self.cut } else { &[] };
            if (group.start..group.end()).all(|rank| label(rank as usize) == first)
                && cut.iter().all(|cut| cut.code == first)
            {
                return Some(group);
            }
        }
        None
    }
}

impl SameGradeTie {
    /// Returns whether all documents of the tie have the same grade; `label` returns the label at a
    /// rank.
    pub(crate) fn is_alike(&self, label: impl Fn(usize) -> u8) -> bool {
        let mut labels = (self.group.start..self.group.end()).map(|rank| label(rank as usize));
        let first = labels.next().filter(|&first| CodesAbove::JUDGED.contains(first));
        first.is_some_and(|first| labels.all(|label| label == first))
    }
}

/// The ties of some rankings of a run, collected while the run is read and ranked.
#[derive(Debug, Default)]
pub struct StagedTies {
    counts: TieCounts,
    /// The groups, with their queries.
    groups: Vec<(u32, Tie)>,
    /// The groups of one grade, with rows numbered by query.
    alike: Vec<SameGradeTie>,
    /// The cut-off documents, with rows numbered by query.
    cut: Vec<CutTieCount>,
}

impl StagedTies {
    /// Notes a tie that starts at rank `start` of a query's ranking. `labels` has the labels of its
    /// documents, two at least. The first `length` documents, at least one, are kept.
    pub fn note(&mut self, query: u32, start: u32, labels: &[u8], length: usize) {
        let mixed = labels.iter().any(|&label| label != labels[0]);
        self.counts.add(labels.len() as u64, mixed);
        let group = Tie { start, length: length as u32 };
        if !mixed {
            if CodesAbove::JUDGED.contains(labels[0]) && length > 1 {
                self.alike.push(SameGradeTie { row: query, group });
            }
            return;
        }
        let cut = &labels[length..];
        self.groups.push((query, group));
        // Most groups are whole, and then the counts of all codes are not worth clearing.
        if cut.is_empty() {
            return;
        }
        let mut counts = [0; 256];
        cut.iter().for_each(|&label| counts[usize::from(label)] += 1);
        let counts = (0..=u8::MAX).zip(counts).filter(|&(_, count)| count > 0);
        self.cut.extend(counts.map(|(code, count)| CutTieCount { row: query, code, count }));
    }

    /// Adds the ties of other rankings of the same run.
    pub fn merge(&mut self, other: Self) {
        self.counts.merge(other.counts);
        self.groups.extend(other.groups);
        self.alike.extend(other.alike);
        self.cut.extend(other.cut);
    }
}
