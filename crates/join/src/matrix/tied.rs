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

use super::code::{Above, UNPOOLED};
use super::facts::Facts;
use super::tile::DEEPEST;

/// The number of documents of a run that have equal scores, in rankings of judged queries.
/// Documents of a group that were cut off count too.
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
    /// Adds the counts of further rankings.
    pub fn merge(&mut self, other: TieCounts) {
        self.documents = self.documents.saturating_add(other.documents);
        self.groups = self.groups.saturating_add(other.groups);
        self.mixed = self.mixed.saturating_add(other.mixed);
        self.largest = self.largest.max(other.largest);
    }

    /// Adds a group of `documents` documents.
    fn add(&mut self, documents: u64, mixed: bool) {
        self.merge(TieCounts { documents, groups: 1, mixed: mixed.into(), largest: documents });
    }

    /// Checks that these can be the counts of all groups, if `mixed` are the counts of the mixed
    /// groups and there are at most `most` documents.
    fn check(&self, mixed: TieCounts, most: u64) -> Result<(), String> {
        let TieCounts { documents, groups, largest, .. } = *self;
        if self.mixed != mixed.mixed {
            return Err(format!("{} mixed groups, and there are {}", self.mixed, mixed.mixed));
        }
        // The mixed groups can be counted. Of plain groups the file only claims numbers: p groups
        // with d documents. These numbers are possible if groups of 2 to `largest` documents can
        // have d documents: 2p ≤ d ≤ p · largest, and a plain group has `largest` documents if no
        // mixed group has.
        let plain = groups.checked_sub(mixed.groups).zip(documents.checked_sub(mixed.documents));
        let possible = plain.is_some_and(|(plain, documents)| {
            let least = match plain.checked_sub(1) {
                Some(others) if largest > mixed.largest => {
                    others.saturating_mul(2).saturating_add(largest)
                }
                _ => plain.saturating_mul(2),
            };
            let largest_is_there = largest == mixed.largest || largest > mixed.largest && plain > 0;
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

/// The kept ranks of a tied group of a ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TiedGroup {
    /// The rank of the first document of the group, from 0.
    pub start: u32,
    /// The number of kept ranks of the group: at least 2, or 1 if documents were cut off.
    pub length: u32,
}

impl TiedGroup {
    /// The rank behind the last document of the group, from 0.
    pub fn end(self) -> u32 {
        self.start + self.length
    }
}

/// A group of a ranking with one grade for all its documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AlikeGroup {
    /// The row of the ranking.
    pub row: u32,
    /// The ranks of the group, two at least.
    pub group: TiedGroup,
}

/// Documents of the last group of a ranking that were cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CutOff {
    /// The row of the ranking.
    pub row: u32,
    /// The code of these documents.
    pub code: u8,
    /// The number of these documents.
    pub count: u32,
}

/// The mixed groups of a single ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowTies<'a> {
    /// The groups, from the first rank on.
    pub groups: &'a [TiedGroup],
    /// The documents that were cut off of the last group, by ascending code; empty if the group is
    /// whole.
    pub cut: &'a [CutOff],
}

/// The mixed groups of all rankings of a matrix, and the number of tied documents of each run.
///
/// A ranking without a mixed group costs 2 bits. A ranking with mixed groups costs about 12 bytes,
/// and 8 bytes for each group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TiedGroups {
    /// The counts of tied documents, by run.
    counts: Vec<TieCounts>,
    /// The rows that have mixed groups, ascending.
    rows: Vec<u32>,
    /// The ends of the groups of these rows.
    ends: Vec<u64>,
    groups: Vec<TiedGroup>,
    /// The documents that were cut off, by row and code, ascending.
    cut: Vec<CutOff>,
    /// The groups of one grade, by row and rank.
    alike: Vec<AlikeGroup>,
    /// Marks of the rows that have mixed groups, 64 rows a mark.
    marks: Vec<MixedMark>,
}

/// A mark of the rows among 64 with mixed groups, with the number of such rows before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct MixedMark {
    rows: u64,
    before: u32,
}

/// The rankings of tied groups.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TiedIn<'a> {
    /// The number of results of each row, `[run][query]`.
    pub depths: &'a [u32],
    /// The number of ranks that were kept.
    pub kept: Option<u32>,
    /// The facts of each query.
    pub facts: &'a Facts,
}

/// The columns of a file, or of staged runs.
#[derive(Debug, Default)]
pub(crate) struct TiedColumns {
    pub counts: Vec<TieCounts>,
    pub rows: Vec<u32>,
    pub ends: Vec<u64>,
    pub groups: Vec<TiedGroup>,
    pub cut: Vec<CutOff>,
    pub alike: Vec<AlikeGroup>,
}

/// The ends of the rows, the groups and the documents that were cut off, each as one column.
pub(crate) struct TiedSlices<'a> {
    pub ends: &'a [u64],
    pub groups: &'a [TiedGroup],
    pub cut: &'a [CutOff],
}

impl TiedGroups {
    /// The counts of tied documents, by run.
    pub fn counts(&self) -> &[TieCounts] {
        &self.counts
    }

    /// The rows that have mixed groups, ascending.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The mixed groups of a row, in constant time; empty if the row has none.
    #[inline]
    pub fn of(&self, row: u32) -> RowTies<'_> {
        let mark = self.marks[row as usize / 64];
        let (bit, before) = (1 << (row % 64), mark.before as usize);
        if mark.rows & bit == 0 {
            return RowTies::default();
        }
        self.at(before + (mark.rows & (bit - 1)).count_ones() as usize)
    }

    /// The rows that have mixed groups, ascending, with their groups.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u32, RowTies<'_>)> {
        self.rows.iter().enumerate().map(|(at, &row)| (row, self.at(at)))
    }

    /// The groups of one grade, by row and rank.
    pub fn alike(&self) -> &[AlikeGroup] {
        &self.alike
    }

    /// All groups of a row that have a graded document, mixed or not, from the first rank on.
    pub fn graded_of(&self, row: u32) -> Vec<TiedGroup> {
        let first = self.alike.partition_point(|of| of.row < row);
        let of_row = self.alike[first..].iter().take_while(|of| of.row == row).map(|of| of.group);
        let mut groups: Vec<TiedGroup> =
            self.of(row).groups.iter().copied().chain(of_row).collect();
        groups.sort_unstable();
        groups
    }

    /// The rank behind the deepest mixed group, from 0.
    pub fn deepest(&self) -> u32 {
        self.iter().filter_map(|(_, ties)| Some(ties.groups.last()?.end())).max().unwrap_or(0)
    }

    /// The groups of one of [`TiedGroups::rows`].
    fn at(&self, at: usize) -> RowTies<'_> {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        let groups = &self.groups[start..self.ends[at] as usize];
        if self.cut.is_empty() {
            return RowTies { groups, cut: &[] };
        }
        let row = self.rows[at];
        let rest = &self.cut[self.cut.partition_point(|cut| cut.row < row)..];
        let cut = &rest[..rest.iter().take_while(|cut| cut.row == row).count()];
        RowTies { groups, cut }
    }

    /// The ends of the rows, the groups and the cut-off documents, as columns.
    pub(crate) fn columns(&self) -> TiedSlices<'_> {
        TiedSlices { ends: &self.ends, groups: &self.groups, cut: &self.cut }
    }

    /// Makes tied groups from columns, and rejects columns that do not fit the rankings.
    pub(crate) fn new(columns: TiedColumns, of: TiedIn<'_>) -> Result<Self, String> {
        columns.check_rows(of.depths.len())?;
        let TiedColumns { counts, rows, ends, groups, cut, alike } = columns;
        let mut marks = vec![MixedMark::default(); of.depths.len().div_ceil(64)];
        rows.iter().for_each(|row| marks[*row as usize / 64].rows |= 1 << (row % 64));
        let mut before = 0;
        for mark in &mut marks {
            mark.before = before;
            before += mark.rows.count_ones();
        }
        let tied = TiedGroups { counts, rows, ends, groups, cut, alike, marks };
        tied.check(of)?;
        tied.check_alike(of).map_err(|message| format!("groups of one grade: {message}"))?;
        Ok(tied)
    }

    fn check(&self, of: TiedIn<'_>) -> Result<(), String> {
        let queries = of.facts.len();
        let mut found = vec![TieCounts::default(); self.counts.len()];
        let mut cuts = 0;
        for (row, ties) in self.iter() {
            ties.check(row, of, queries).map_err(|message| format!("row {row}: {message}"))?;
            cuts += ties.cut.len();
            // No division by 0: every row has a query.
            let found = &mut found[row as usize / queries];
            let cut: u64 = ties.cut.iter().map(|cut| u64::from(cut.count)).sum();
            for (at, group) in (1..).zip(ties.groups) {
                let cut = if at == ties.groups.len() { cut } else { 0 };
                found.add(u64::from(group.length) + cut, true);
            }
        }
        if cuts != self.cut.len()
            || !self.cut.is_sorted_by(|one, next| (one.row, one.code) < (next.row, next.code))
        {
            return Err(
                "documents were cut off of rows without a mixed group, or the rows or codes do not \
                 ascend"
                    .to_owned(),
            );
        }
        for (run, (counts, mixed)) in self.counts.iter().zip(found).enumerate() {
            let results = || {
                of.depths[run * queries..][..queries].iter().map(|&depth| u64::from(depth)).sum()
            };
            // Cut-off documents count as tied, and their number is unknown.
            let most = of.kept.map_or_else(results, |_| u64::MAX);
            counts.check(mixed, most).map_err(|message| format!("run {}: {message}", run + 1))?;
        }
        Ok(())
    }
}

impl TiedGroups {
    fn check_alike(&self, of: TiedIn<'_>) -> Result<(), String> {
        let alike = &self.alike;
        if !alike.is_sorted_by(|one, next| one < next) {
            return Err("their rows or ranks do not ascend".to_owned());
        }
        if let Some(last) = alike.last().filter(|last| last.row as usize >= of.depths.len()) {
            return Err(format!("one of row {}, and there are {}", last.row, of.depths.len()));
        }
        let mut left = self.counts.clone();
        for of_row in alike.chunk_by(|one, next| one.row == next.row) {
            let row = of_row[0].row;
            let (depth, mut end) = (of.depths[row as usize], 0);
            for TiedGroup { start, length } in self.graded_of(row) {
                // In this order no operation can overflow: `depth - start` is not negative behind
                // the second condition.
                if start < end || start > depth || length > depth - start {
                    return Err(format!(
                        "row {row}: {length} from rank {start}, outside of {end} to {depth}"
                    ));
                }
                end = start + length;
            }
            // No division by 0: every row has a query.
            let left = &mut left[row as usize / of.facts.len()];
            for &AlikeGroup { group, .. } in of_row {
                let length = u64::from(group.length);
                let others = left.groups.checked_sub(1).filter(|&others| others >= left.mixed);
                let documents = left.documents.checked_sub(length);
                match others.zip(documents).filter(|_| (2..=left.largest).contains(&length)) {
                    Some((others, documents)) => {
                        (left.groups, left.documents) = (others, documents)
                    }
                    None => {
                        return Err(format!(
                            "row {row}: {length} documents, or more than were counted"
                        ));
                    }
                }
            }
        }
        Ok(())
    }
}

impl TiedColumns {
    /// Checks that rows and their ends ascend, and that all groups belong to a row.
    fn check_rows(&self, rows: usize) -> Result<(), String> {
        if !self.rows.is_sorted_by(|one, next| one < next) {
            return Err("the rows do not ascend".to_owned());
        }
        if let Some(&last) = self.rows.last().filter(|&&last| last as usize >= rows) {
            return Err(format!("groups of row {last}, and there are {rows}"));
        }
        let first = self.ends.first().is_none_or(|&end| end > 0);
        let ascend = first && self.ends.is_sorted_by(|one, next| one < next);
        let last = self.ends.last().copied().unwrap_or(0);
        if self.ends.len() != self.rows.len() || !ascend || last != self.groups.len() as u64 {
            return Err("the ends do not fit rows and groups".to_owned());
        }
        Ok(())
    }
}

impl RowTies<'_> {
    fn check(&self, row: u32, of: TiedIn<'_>, queries: usize) -> Result<(), String> {
        let depth = of.depths[row as usize];
        let (mut end, least) = (0, |last: bool| if last && !self.cut.is_empty() { 1 } else { 2 });
        for (at, &TiedGroup { start, length }) in (1..).zip(self.groups) {
            // In this order no operation can overflow: `depth - start` is not negative behind the
            // second condition.
            if start < end || start > depth || length > depth - start {
                return Err(format!(
                    "a group of {length} from rank {start}, outside of {end} to {depth}"
                ));
            }
            if length < least(at == self.groups.len()) {
                return Err(format!("a group of {length}"));
            }
            end = start + length;
        }
        if !self.cut.is_empty() && (end != depth || of.kept != Some(depth)) {
            return Err(
                "documents were cut off of a group that does not end at the last rank kept"
                    .to_owned(),
            );
        }
        let judged = of.facts.of(row as usize % queries);
        let mut results = u64::from(depth);
        for &CutOff { code, count, .. } in self.cut {
            let most = match code {
                UNPOOLED => DEEPEST,
                _ => judged.iter().find(|&(of, _)| of == code).map_or(0, |(_, count)| count),
            };
            if count == 0 || count > most {
                return Err(format!(
                    "{count} documents of code {code} cut off, where 1 to {most} can be"
                ));
            }
            results += u64::from(count);
        }
        if results > u64::from(DEEPEST) {
            return Err(format!("{results} results, more than {DEEPEST}"));
        }
        Ok(())
    }

    /// Finds a group that is not mixed: all its documents, cut documents included, have one label.
    /// `label` returns the label at a rank.
    pub(crate) fn unmixed(&self, label: impl Fn(usize) -> u8) -> Option<TiedGroup> {
        let mixed = |at: usize, group: &TiedGroup| {
            let first = label(group.start as usize);
            let cut = if at + 1 == self.groups.len() { self.cut } else { &[] };
            (group.start..group.end()).any(|rank| label(rank as usize) != first)
                || cut.iter().any(|cut| cut.code != first)
        };
        self.groups
            .iter()
            .enumerate()
            .find(|&(at, group)| !mixed(at, group))
            .map(|(_, &group)| group)
    }
}

impl AlikeGroup {
    /// Whether all documents of the group have one grade; `label` returns the label at a rank.
    pub(crate) fn is_alike(&self, label: impl Fn(usize) -> u8) -> bool {
        let mut labels = (self.group.start..self.group.end()).map(|rank| label(rank as usize));
        let first = labels.next().filter(|&first| Above::JUDGED.contains(first));
        first.is_some_and(|first| labels.all(|label| label == first))
    }
}

/// The tied groups of some rankings of a run, as the ingest finds them.
#[derive(Debug, Default)]
pub struct StagedTies {
    counts: TieCounts,
    /// The groups, with their queries.
    groups: Vec<(u32, TiedGroup)>,
    /// The groups of one grade, with rows numbered by query.
    alike: Vec<AlikeGroup>,
    /// The cut-off documents, with rows numbered by query.
    cut: Vec<CutOff>,
}

impl StagedTies {
    /// Notes a group that starts at rank `start` of a query. `labels` has the labels of its
    /// documents, two at least. The first `kept` documents, at least one, are kept.
    pub fn note(&mut self, query: u32, start: u32, labels: &[u8], kept: usize) {
        let mixed = labels.iter().any(|&label| label != labels[0]);
        self.counts.add(labels.len() as u64, mixed);
        if !mixed {
            if Above::JUDGED.contains(labels[0]) && kept > 1 {
                self.alike.push(AlikeGroup {
                    row: query,
                    group: TiedGroup { start, length: kept as u32 },
                });
            }
            return;
        }
        let (kept, cut) = labels.split_at(kept);
        self.groups.push((query, TiedGroup { start, length: kept.len() as u32 }));
        if cut.is_empty() {
            return;
        }
        let mut counts = [0; 256];
        cut.iter().for_each(|&label| counts[usize::from(label)] += 1);
        let counts = (0..=u8::MAX).zip(counts).filter(|&(_, count)| count > 0);
        self.cut.extend(counts.map(|(code, count)| CutOff { row: query, code, count }));
    }

    /// Adds the groups of other rankings of the run.
    pub fn merge(&mut self, other: StagedTies) {
        self.counts.merge(other.counts);
        self.groups.extend(other.groups);
        self.alike.extend(other.alike);
        self.cut.extend(other.cut);
    }
}

impl TiedColumns {
    /// Appends a run of `queries` queries.
    pub fn push(&mut self, mut run: StagedTies, queries: usize) -> Result<(), String> {
        let of_queries =
            run.groups.iter().map(|(query, _)| query).chain(run.cut.iter().map(|cut| &cut.row));
        if let Some(query) = of_queries
            .chain(run.alike.iter().map(|alike| &alike.row))
            .max()
            .filter(|&&query| query as usize >= queries)
        {
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
            run.alike.into_iter().map(|alike| AlikeGroup { row: first + alike.row, ..alike });
        self.alike.extend(alike);
        self.cut.extend(run.cut.into_iter().map(|cut| CutOff { row: first + cut.row, ..cut }));
        Ok(())
    }
}
