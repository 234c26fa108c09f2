//! Preferences between the documents of one query, and how many of them a ranking fulfils.
//!
//! A judgment group is what one judge wants at one time. It states preferences in sub-groups: inside a sub-group every document is
//! preferred to every document of a lower level. A group with several sub-groups also has the preferences that follow from a chain (a over
//! b and b over c give a over c). Different groups may contradict each other.
//!
//! The measures are those that trec_eval calls `prefs_*`. [`Preferences::new`] checks and prepares the preferences once;
//! [`Preferences::met`] then counts for one ranking after another.
//!
//! Documents have *positions* in a ranking: the retrieved documents `0..q` in rank order, then the documents that were not retrieved, in
//! the order of their names. A preference of a over b is *fulfilled* if a was retrieved and is positioned before b.
//!
//! The source is trec_eval, form_prefs_counts.c and the `m_prefs_*.c`. It keeps a group in one of two forms, and looks at every pair of
//! documents in both. The forms are the same here, and pairs are counted without being looked at:
//!
//! ```text
//! one sub-group        classes of equal level, the highest first:   {a b} > {c} > {d e f}
//!                      going down a ranking of q documents, each adds how many of higher classes came before it: q log classes
//! several sub-groups   a row of bits for each document, those it is preferred to, chains included: n² / 8 bytes, 1 GiB at 92,681 documents
//!                      built once a query; a ranking then costs n / 64 words for each retrieved document
//! ```
//!
//! All shares come of five counts, by whether the upper and the lower document of a preference were retrieved:
//!
//! ```text
//!                    lower retrieved                    lower not
//! upper retrieved    A1 upper first · A2 lower first    A3            simple         (A1 + A3) / all five
//! upper not          A4                                 A5            … retrieved     A1 / (A1 + A2)
//!                                                                     … implied      (A1 + A3) / (A1 + A2 + A3 + A4)
//! ```
//!
//! **Chains.** trec_eval multiplies an array of n² by itself until nothing changes, n³ steps each time. Here the levels of a sub-group are
//! joined by *gates*, one from each class to the next lower one, so the graph has as many edges as there are lines and not as there are
//! pairs; what is two levels below follows. Its strongly connected components tell circles, and come out lowest first (Tarjan 1972), so the
//! row of a document is the union of rows that are complete.
//!
//! **Bits.** Counts are integers. What is summed in floats is summed in trec_eval's order: groups by name; pairs by position, first those
//! within the retrieved documents, then those of a retrieved and another one. A pair without a preference adds 0, which changes no sum.
//!
//! **What is odd in trec_eval, and kept:** in a group without any possible preference a `…_Rnonrel` share is 0/0, not a number, and so the
//! query's mean over groups is 0; documents of the lowest class count as preferred to those of it that stay (`recalculate` in
//! m_prefs_avgjg_Rnonrel.c lets its outer loop reach the last class); and `prefs_avgjg_Rnonrel_ret` counts what is possible with the
//! relevant documents of the group, where those that were retrieved are meant.

use std::cmp::Ordering;
use std::fmt;
use std::ops::Range;

use crate::label::FacetJudgment;

/// The most bytes that the prepared preferences of one query may take (1 GiB).
const MOST_BYTES: u64 = 1 << 30;

/// The level of one document in one sub-group of a judgment group.
///
/// Groups, sub-groups and documents are numbered per query in bytewise order of their names. Any other numbering of groups gives the same
/// preferences, but the averages over groups may then differ in the last bit from those of trec_eval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PreferenceLine {
    /// The number of the judgment group.
    pub group: u32,
    /// The number of the sub-group; equal numbers in different groups have nothing in common.
    pub subgroup: u32,
    /// The number of the document, below the number of documents given to [`Preferences::new`].
    pub document: u32,
    /// The level of the document: a higher level is preferred, 0 means not relevant. Infinite and negative levels are compared like any
    /// other.
    pub level: f64,
}

/// The reason why lines do not form preferences. Lines are named by their index.
#[derive(Clone, Debug, PartialEq)]
pub enum PreferenceFault {
    /// A level that is not a number.
    Level {
        /// The index of the line.
        line: usize,
    },
    /// A document number that is not below the number of documents.
    Document {
        /// The index of the line.
        line: usize,
    },
    /// A document at two levels in a group that has one sub-group.
    TwoLevels {
        /// The index of the line with the higher level.
        higher: usize,
        /// The index of the line with the lower level.
        lower: usize,
    },
    /// A document with level 0 in one sub-group and a level above 0 in another one of the same group.
    ZeroAndMore {
        /// The index of the line with level 0.
        zero: usize,
        /// The index of the line with the level above 0.
        more: usize,
    },
    /// Preferences of one group that go round in a circle.
    Cycle {
        /// The steps of the circle, each as two lines of one sub-group: the document of the first is preferred to the document of the
        /// second. The second document of a step is the first document of the next step, and the last step leads back to the first.
        steps: Vec<(usize, usize)>,
    },
    /// Preferences that would take more memory than is allowed (1 GiB).
    TooLarge {
        /// The number of bytes needed, or more than allowed where counting stopped early.
        bytes: u64,
    },
}

impl PreferenceFault {
    /// The indices of the lines at fault.
    pub fn lines(&self) -> Vec<usize> {
        match self {
            PreferenceFault::Level { line } | PreferenceFault::Document { line } => vec![*line],
            PreferenceFault::TwoLevels { higher, lower } => vec![*higher, *lower],
            PreferenceFault::ZeroAndMore { zero, more } => vec![*zero, *more],
            PreferenceFault::Cycle { steps } => steps.iter().flat_map(|&(one, other)| [one, other]).collect(),
            PreferenceFault::TooLarge { .. } => Vec::new(),
        }
    }
}

impl From<&FacetJudgment> for PreferenceLine {
    fn from(of: &FacetJudgment) -> Self {
        PreferenceLine { group: of.group, subgroup: of.subgroup, document: of.document, level: of.grade }
    }
}

impl fmt::Display for PreferenceFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PreferenceFault::Level { .. } => write!(f, "the level is not a number"),
            PreferenceFault::Document { .. } => write!(f, "the document has no number"),
            PreferenceFault::TwoLevels { .. } => {
                write!(f, "the document has two levels in one judgment group")
            }
            PreferenceFault::ZeroAndMore { .. } => {
                write!(f, "the document has level 0 and a level above 0 in one judgment group")
            }
            PreferenceFault::Cycle { .. } => write!(f, "the preferences of a judgment group form a cycle"),
            PreferenceFault::TooLarge { bytes } => write!(
                f,
                "the preferences of the query need {bytes} bytes of memory, at most {MOST_BYTES} are allowed"
            ),
        }
    }
}

impl std::error::Error for PreferenceFault {}

/// A measure of preferences, with the names and values of trec_eval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PreferenceCount {
    /// The number of preferences.
    Possible,
    /// The number of fulfilled preferences.
    Fulfilled,
    /// The number of fulfilled preferences between retrieved documents.
    FulfilledRetrieved,
    /// The fulfilled preferences divided by all preferences.
    Simple,
    /// The mean over pairs of documents of the share of groups that agree with the ranking.
    Pair,
    /// The mean over groups of the fulfilled part of the preferences.
    Group,
    /// As `Group`, with as many documents of level 0 as relevant ones in each group.
    GroupBalanced,
    /// As `Simple`, over pairs of retrieved documents.
    SimpleRetrieved,
    /// As `Pair`, over pairs of retrieved documents.
    PairRetrieved,
    /// As `Group`, over pairs of retrieved documents.
    GroupRetrieved,
    /// As `GroupBalanced`, over retrieved documents.
    GroupBalancedRetrieved,
    /// As `Simple`, over pairs with at least one retrieved document.
    SimpleImplied,
    /// As `Pair`, over pairs with at least one retrieved document.
    PairImplied,
    /// As `Group`, over pairs with at least one retrieved document.
    GroupImplied,
}

impl PreferenceCount {
    /// All measures, in the order in which trec_eval prints them.
    pub const ALL: [PreferenceCount; 14] = [
        PreferenceCount::Possible,
        PreferenceCount::Fulfilled,
        PreferenceCount::FulfilledRetrieved,
        PreferenceCount::Simple,
        PreferenceCount::Pair,
        PreferenceCount::Group,
        PreferenceCount::GroupBalanced,
        PreferenceCount::SimpleRetrieved,
        PreferenceCount::PairRetrieved,
        PreferenceCount::GroupRetrieved,
        PreferenceCount::GroupBalancedRetrieved,
        PreferenceCount::SimpleImplied,
        PreferenceCount::PairImplied,
        PreferenceCount::GroupImplied,
    ];

    /// The name of the measure in trec_eval.
    pub fn name(self) -> &'static str {
        match self {
            PreferenceCount::Possible => "prefs_num_prefs_poss",
            PreferenceCount::Fulfilled => "prefs_num_prefs_ful",
            PreferenceCount::FulfilledRetrieved => "prefs_num_prefs_ful_ret",
            PreferenceCount::Simple => "prefs_simp",
            PreferenceCount::Pair => "prefs_pair",
            PreferenceCount::Group => "prefs_avgjg",
            PreferenceCount::GroupBalanced => "prefs_avgjg_Rnonrel",
            PreferenceCount::SimpleRetrieved => "prefs_simp_ret",
            PreferenceCount::PairRetrieved => "prefs_pair_ret",
            PreferenceCount::GroupRetrieved => "prefs_avgjg_ret",
            PreferenceCount::GroupBalancedRetrieved => "prefs_avgjg_Rnonrel_ret",
            PreferenceCount::SimpleImplied => "prefs_simp_imp",
            PreferenceCount::PairImplied => "prefs_pair_imp",
            PreferenceCount::GroupImplied => "prefs_avgjg_imp",
        }
    }

    /// Whether the measure is a mean over pairs of documents.
    pub fn is_over_pairs(self) -> bool {
        matches!(self, PreferenceCount::Pair | PreferenceCount::PairRetrieved | PreferenceCount::PairImplied)
    }

    /// Whether the measure is a count: trec_eval prints it without decimals and adds it up over queries instead of averaging it.
    pub fn is_count(self) -> bool {
        matches!(
            self,
            PreferenceCount::Possible | PreferenceCount::Fulfilled | PreferenceCount::FulfilledRetrieved
        )
    }
}

/// Fulfilled and possible preferences, or the like.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Share {
    fulfilled: u64,
    possible: u64,
}

impl Share {
    /// The fulfilled part; 0 if nothing is possible.
    fn part(self) -> f64 {
        if self.possible == 0 { 0.0 } else { self.fulfilled as f64 / self.possible as f64 }
    }

    fn add(&mut self, other: Share) {
        self.fulfilled += other.fulfilled;
        self.possible += other.possible;
    }
}

/// The sum of shares over pairs of documents.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct PairShares {
    sum: f64,
    pairs: u64,
}

impl PairShares {
    /// The mean over the pairs; 0 without a pair.
    fn mean(self) -> f64 {
        if self.pairs == 0 { 0.0 } else { self.sum / self.pairs as f64 }
    }
}

/// What a ranking fulfils of the preferences of a query.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Met {
    groups: u64,
    /// All preferences, summed over groups.
    all: Share,
    /// The preferences between retrieved documents, summed over groups.
    retrieved: Share,
    /// The preferences with at least one retrieved document, summed over groups.
    implied: Share,
    /// The sums over groups of the fulfilled part of the preferences.
    group: f64,
    group_retrieved: f64,
    group_implied: f64,
    /// The sums over groups as above, not a number if a group has no possible preference.
    balanced: f64,
    balanced_retrieved: f64,
    pair: PairShares,
    pair_retrieved: PairShares,
    pair_implied: PairShares,
}

impl Met {
    /// The value of a measure for the query.
    pub fn value(&self, measure: PreferenceCount) -> f64 {
        let mean = |sum: f64| {
            if sum > 0.0 {
                sum / self.groups as f64
            } else {
                // No group contributes, or one of them has no possible preference.
                0.0
            }
        };
        match measure {
            PreferenceCount::Possible => self.all.possible as f64,
            PreferenceCount::Fulfilled => self.all.fulfilled as f64,
            PreferenceCount::FulfilledRetrieved => self.retrieved.fulfilled as f64,
            PreferenceCount::Simple => self.all.part(),
            PreferenceCount::SimpleRetrieved => self.retrieved.part(),
            PreferenceCount::SimpleImplied => self.implied.part(),
            PreferenceCount::Pair => self.pair.mean(),
            PreferenceCount::PairRetrieved => self.pair_retrieved.mean(),
            PreferenceCount::PairImplied => self.pair_implied.mean(),
            PreferenceCount::Group => mean(self.group),
            PreferenceCount::GroupRetrieved => mean(self.group_retrieved),
            PreferenceCount::GroupImplied => mean(self.group_implied),
            PreferenceCount::GroupBalanced => mean(self.balanced),
            PreferenceCount::GroupBalancedRetrieved => mean(self.balanced_retrieved),
        }
    }
}

/// The memory that [`Preferences::met`] works in, kept from one ranking to the next.
#[derive(Clone, Debug, Default)]
pub struct PreferenceScratch {
    /// The position of each document.
    position: Vec<u32>,
    /// The document at each position.
    ranked: Vec<u32>,
    /// A Fenwick tree over the classes of each group with one sub-group: documents seen so far.
    seen: Vec<u64>,
    /// The number of documents seen so far, by class of each group with one sub-group.
    class: Vec<u64>,
    /// For each group with one sub-group, the sums over the first documents of the lowest class of the number of documents seen before
    /// them.
    before: Vec<Vec<u64>>,
    /// The counts by group.
    counts: Vec<GroupCounts>,
    /// The documents of a group with several sub-groups that are positioned so far, that are retrieved, and that are left out, as bits.
    placed: Vec<u64>,
    retrieved: Vec<u64>,
    without: Vec<u64>,
    /// The documents of each group by position: the position, the class or the index, the number of lines.
    members: Vec<Vec<(u32, u32, u32)>>,
    /// The number of groups that prefer one document to that of a position, and the reverse.
    over: Vec<f64>,
    under: Vec<f64>,
}

/// The counts of one group while a ranking is gone through.
#[derive(Clone, Copy, Debug, Default)]
struct GroupCounts {
    /// The number of retrieved documents.
    documents: u64,
    /// The number of fulfilled preferences between retrieved documents.
    fulfilled: u64,
    /// The number of those whose lower document is in the lowest class.
    fulfilled_lowest: u64,
}

/// The place of a document in a group.
#[derive(Clone, Copy, Debug)]
struct DocumentPlace {
    /// The index of the group.
    group: u32,
    /// The class of the document in a group with one sub-group, 0 being the highest; the index of the document in a group with several.
    at: u32,
    /// The number of lines that say so, 1 in a group with several sub-groups.
    times: u32,
}

/// A group with one sub-group: classes of documents of the same level, highest level first.
#[derive(Clone, Debug)]
struct Classes {
    /// The index of its first class in the scratch memory.
    start: usize,
    /// The number of lines by class.
    sizes: Vec<u64>,
    /// The number of classes whose level is above 0.
    relevant_classes: usize,
    /// The documents and their class, with the number of lines, in order of documents.
    members: Vec<(u32, u32, u32)>,
    /// The number of preferences, and of those whose lower document is not in the lowest class.
    possible: u64,
    possible_above: u64,
}

/// A group with several sub-groups: the documents that each document is preferred to.
#[derive(Clone, Debug)]
struct Closure {
    /// The documents in ascending order.
    documents: Vec<u32>,
    /// The sign of the level by document: 1 above 0, 0 for 0, -1 below 0.
    signs: Vec<i8>,
    /// The number of words in a row.
    words: usize,
    /// The rows of bits, one row per document.
    rows: Vec<u64>,
    /// The number of documents that a document is preferred to.
    out: Vec<u32>,
    /// The number of documents that are preferred to a document.
    into: Vec<u32>,
    possible: u64,
    relevant: u64,
    nonrelevant: u64,
}

#[derive(Clone, Debug)]
enum PreparedGroup {
    Classes(Classes),
    Closure(Closure),
}

/// The preferences of one query, checked and prepared for counting.
#[derive(Clone, Debug)]
pub struct Preferences {
    documents: u32,
    groups: Vec<PreparedGroup>,
    /// The places of all documents, those of a document from `starts[document]` to the next start.
    places: Vec<DocumentPlace>,
    starts: Vec<usize>,
    /// The number of classes of all groups with one sub-group.
    classes: usize,
    pairs: DistinctPairs,
}

/// The number of pairs of documents with a preference.
#[derive(Clone, Copy, Debug, PartialEq)]
enum DistinctPairs {
    /// As many as there are preferences: no document is in several groups or repeated lines.
    All,
    /// Fewer, as several groups or repeated lines have some of them.
    Fewer(u64),
    /// Fewer, and not counted: values over pairs of documents are 0.
    Unknown,
}

impl Preferences {
    /// Takes the preferences that the lines of one query state.
    ///
    /// `documents` is the number of documents that the lines name; their numbers are below it. The order of the lines has no influence on
    /// the result.
    ///
    /// All pairs of documents are looked at, if some documents are in several groups.
    pub fn new(lines: &[PreferenceLine], documents: u32) -> Result<Preferences, PreferenceFault> {
        let mut preferences = Preferences::without_pairs(lines, documents)?;
        if preferences.pairs == DistinctPairs::Unknown {
            preferences.pairs = DistinctPairs::Fewer(preferences.count_distinct());
        }
        Ok(preferences)
    }

    /// As [`Preferences::new`], for measures that are not over pairs of documents.
    pub fn without_pairs(lines: &[PreferenceLine], documents: u32) -> Result<Preferences, PreferenceFault> {
        if lines.len() > u32::MAX as usize {
            return Err(PreferenceFault::TooLarge { bytes: size_of_val(lines) as u64 });
        }
        for (line, at) in lines.iter().enumerate() {
            if at.level.is_nan() {
                return Err(PreferenceFault::Level { line });
            }
            if at.document >= documents {
                return Err(PreferenceFault::Document { line });
            }
        }
        let mut order: Vec<u32> = (0..lines.len() as u32).collect();
        order.sort_unstable_by(|&i, &j| {
            let (a, b) = (&lines[i as usize], &lines[j as usize]);
            (a.group, a.subgroup)
                .cmp(&(b.group, b.subgroup))
                .then(b.level.partial_cmp(&a.level).unwrap_or(Ordering::Equal))
                .then((a.document, i).cmp(&(b.document, j)))
        });

        let mut groups = Vec::new();
        let mut classes = 0;
        let mut bytes = 0;
        for run in order.chunk_by(|&i, &j| lines[i as usize].group == lines[j as usize].group) {
            let first = &lines[run[0] as usize];
            let last = &lines[run[run.len() - 1] as usize];
            groups.push(if first.subgroup == last.subgroup {
                let group = Classes::new(lines, run, classes)?;
                classes += group.sizes.len();
                PreparedGroup::Classes(group)
            } else {
                PreparedGroup::Closure(Closure::new(lines, run, &mut bytes)?)
            });
        }

        let mut starts = vec![0; documents as usize + 1];
        let members = || {
            groups.iter().zip(0..).flat_map(|(group, at)| match group {
                PreparedGroup::Classes(group) => GroupDocuments::Classes(group.members.iter(), at),
                PreparedGroup::Closure(group) => GroupDocuments::Closure(group.documents.iter().zip(0..), at),
            })
        };
        for (document, _) in members() {
            starts[document as usize + 1] += 1;
        }
        for document in 1..starts.len() {
            starts[document] += starts[document - 1];
        }
        let mut next = starts.clone();
        let empty = DocumentPlace { group: 0, at: 0, times: 0 };
        let mut places = vec![empty; starts[documents as usize]];
        for (document, place) in members() {
            places[next[document as usize]] = place;
            next[document as usize] += 1;
        }

        let alone = starts.windows(2).all(|start| start[1] - start[0] <= 1)
            && places.iter().all(|place| place.times == 1);
        let pairs = if alone { DistinctPairs::All } else { DistinctPairs::Unknown };
        Ok(Preferences { documents, groups, places, starts, classes, pairs })
    }

    /// What a ranking fulfils.
    ///
    /// `retrieved` are the numbers of the retrieved documents that the lines name, best first. A repeated number and one that is too large
    /// are skipped.
    pub fn met(&self, retrieved: &[u32], scratch: &mut PreferenceScratch) -> Met {
        let kept = self.rank(retrieved, scratch);
        self.go_through(kept, scratch);
        let mut met = Met { groups: self.groups.len() as u64, ..Met::default() };
        for (at, group) in self.groups.iter().enumerate() {
            let part = match group {
                PreparedGroup::Classes(group) => {
                    group.count(&scratch.counts[at], &scratch.class, &scratch.before[at])
                }
                PreparedGroup::Closure(group) => group.count(kept, scratch),
            };
            met.all.add(part.all);
            met.retrieved.add(part.retrieved);
            met.implied.add(part.implied);
            met.group += part.all.part();
            met.group_retrieved += part.retrieved.part();
            met.group_implied += part.implied.part();
            let quotient = |share: Share| share.fulfilled as f64 / share.possible as f64;
            met.balanced += quotient(part.balanced);
            met.balanced_retrieved += quotient(part.balanced_retrieved);
        }
        // Where no document is in two groups, each pair has one preference: its share is 0 or 1, and their sum is a count, exact in a
        // float.
        let pairs = |share: Share| PairShares { sum: share.fulfilled as f64, pairs: share.possible };
        match self.pairs {
            DistinctPairs::Unknown => {}
            DistinctPairs::All => {
                met.pair = pairs(met.all);
                met.pair_retrieved = pairs(met.retrieved);
                met.pair_implied = pairs(met.implied);
            }
            DistinctPairs::Fewer(distinct) => {
                self.list_members(scratch);
                let mut sums = PairShares::default();
                for at in 0..kept {
                    self.pairs_of(at, at + 1..kept, scratch, &mut sums);
                }
                met.pair_retrieved = sums;
                for at in 0..kept {
                    self.pairs_of(at, kept..self.documents, scratch, &mut sums);
                }
                met.pair_implied = sums;
                met.pair = PairShares { sum: sums.sum, pairs: distinct };
            }
        }
        met
    }

    /// Gives every document its position; the number of retrieved documents.
    fn rank(&self, retrieved: &[u32], scratch: &mut PreferenceScratch) -> u32 {
        scratch.position.clear();
        scratch.position.resize(self.documents as usize, u32::MAX);
        scratch.ranked.clear();
        for &document in retrieved {
            if let Some(position @ &mut u32::MAX) = scratch.position.get_mut(document as usize) {
                *position = scratch.ranked.len() as u32;
                scratch.ranked.push(document);
            }
        }
        let kept = scratch.ranked.len() as u32;
        for (document, position) in (0..).zip(&mut scratch.position) {
            if *position == u32::MAX {
                *position = scratch.ranked.len() as u32;
                scratch.ranked.push(document);
            }
        }
        kept
    }

    /// Goes through the retrieved documents and counts in all groups with one sub-group.
    fn go_through(&self, kept: u32, scratch: &mut PreferenceScratch) {
        scratch.class.clear();
        scratch.class.resize(self.classes, 0);
        scratch.seen.clear();
        scratch.seen.resize(self.classes, 0);
        scratch.counts.clear();
        scratch.counts.resize(self.groups.len(), GroupCounts::default());
        scratch.before.resize_with(self.groups.len().max(scratch.before.len()), Vec::new);
        for before in &mut scratch.before {
            before.clear();
        }
        for &document in &scratch.ranked[..kept as usize] {
            for place in self.places_of(document) {
                let PreparedGroup::Classes(group) = &self.groups[place.group as usize] else {
                    continue;
                };
                let counts = &mut scratch.counts[place.group as usize];
                let (at, times) = (place.at as usize, u64::from(place.times));
                let range = group.start..group.start + group.sizes.len();
                let class = &mut scratch.class[range.clone()];
                // Levels are few as a rule, and adding up sixteen numbers is less work than the steps of a tree.
                let above = if class.len() <= FEW_CLASSES {
                    class[..at].iter().sum()
                } else {
                    let seen = &mut scratch.seen[range];
                    let above = sum_below(seen, at);
                    add_at(seen, at, times);
                    above
                };
                class[at] += times;
                counts.fulfilled += times * above;
                if at + 1 == group.sizes.len() {
                    counts.fulfilled_lowest += times * above;
                    if at >= group.relevant_classes {
                        let before = &mut scratch.before[place.group as usize];
                        // `before[k]` is the sum for the first k + 1 of them.
                        for _ in 0..times {
                            before.push(before.last().unwrap_or(&0) + counts.documents);
                        }
                    }
                }
                counts.documents += times;
            }
        }
    }

    fn places_of(&self, document: u32) -> &[DocumentPlace] {
        &self.places[self.starts[document as usize]..self.starts[document as usize + 1]]
    }

    /// Lists the documents of each group by position, for [`Preferences::pairs_of`].
    fn list_members(&self, scratch: &mut PreferenceScratch) {
        let lists = self.groups.len().max(scratch.members.len());
        scratch.members.resize_with(lists, Vec::new);
        for members in &mut scratch.members {
            members.clear();
        }
        for (position, &document) in (0..).zip(&scratch.ranked) {
            for place in self.places_of(document) {
                scratch.members[place.group as usize].push((position, place.at, place.times));
            }
        }
    }

    /// Adds the pairs of the document at a position with those at a range of later positions.
    fn pairs_of(&self, at: u32, range: Range<u32>, scratch: &mut PreferenceScratch, sums: &mut PairShares) {
        if range.is_empty() {
            return;
        }
        let length = (range.end - range.start) as usize;
        scratch.over.clear();
        scratch.over.resize(length, 0.0);
        scratch.under.clear();
        scratch.under.resize(length, 0.0);
        for place in self.places_of(scratch.ranked[at as usize]) {
            let members = &scratch.members[place.group as usize];
            let start = members.partition_point(|member| member.0 < range.start);
            let later = members[start..].iter();
            let later = later.take_while(|member| member.0 < range.end);
            let (over, under) = (&mut scratch.over, &mut scratch.under);
            match &self.groups[place.group as usize] {
                PreparedGroup::Classes(_) => {
                    for &(position, class, times) in later {
                        let index = (position - range.start) as usize;
                        let count = f64::from(place.times) * f64::from(times);
                        over[index] += if class > place.at { count } else { 0.0 };
                        under[index] += if class < place.at { count } else { 0.0 };
                    }
                }
                PreparedGroup::Closure(group) => {
                    for &(position, other, _) in later {
                        let index = (position - range.start) as usize;
                        let (one, other) = (place.at as usize, other as usize);
                        over[index] += f64::from(u8::from(group.prefers(one, other)));
                        under[index] += f64::from(u8::from(group.prefers(other, one)));
                    }
                }
            }
        }
        for (&over, &under) in scratch.over.iter().zip(&scratch.under) {
            let all = over + under;
            sums.pairs += u64::from(all > 0.0);
            sums.sum += over / all.max(1.0);
        }
    }

    /// The number of pairs of documents between which some group has a preference.
    fn count_distinct(&self) -> u64 {
        let mut scratch = PreferenceScratch::default();
        self.rank(&[], &mut scratch);
        self.list_members(&mut scratch);
        let mut sums = PairShares::default();
        for at in 0..self.documents {
            self.pairs_of(at, at + 1..self.documents, &mut scratch, &mut sums);
        }
        sums.pairs
    }
}

/// An iterator over the documents of a group with their places.
enum GroupDocuments<'a> {
    Classes(std::slice::Iter<'a, (u32, u32, u32)>, u32),
    Closure(std::iter::Zip<std::slice::Iter<'a, u32>, std::ops::RangeFrom<u32>>, u32),
}

impl Iterator for GroupDocuments<'_> {
    type Item = (u32, DocumentPlace);

    fn next(&mut self) -> Option<(u32, DocumentPlace)> {
        match self {
            GroupDocuments::Classes(members, group) => members.next().map(|&(document, at, times)| {
                let group = *group;
                (document, DocumentPlace { group, at, times })
            }),
            GroupDocuments::Closure(members, group) => members.next().map(|(&document, at)| {
                let (group, times) = (*group, 1);
                (document, DocumentPlace { group, at, times })
            }),
        }
    }
}

/// The most classes that are added up one by one, and not in a Fenwick tree.
const FEW_CLASSES: usize = 16;

/// The sum of the first `end` values of a Fenwick tree.
fn sum_below(tree: &[u64], end: usize) -> u64 {
    let mut sum = 0;
    let mut at = end;
    while at > 0 {
        sum += tree[at - 1];
        at &= at - 1;
    }
    sum
}

/// Adds to one value of a Fenwick tree.
fn add_at(tree: &mut [u64], index: usize, value: u64) {
    let mut at = index + 1;
    while at <= tree.len() {
        tree[at - 1] += value;
        at += at & at.wrapping_neg();
    }
}

/// The number of pairs of values from different classes, from the size of each class.
fn mixed_pairs(sizes: impl Iterator<Item = u64>) -> u64 {
    let mut pairs = 0;
    let mut total = 0;
    for size in sizes {
        pairs += total * size;
        total += size;
    }
    pairs
}

/// The shares of one group.
struct GroupShares {
    all: Share,
    retrieved: Share,
    implied: Share,
    balanced: Share,
    balanced_retrieved: Share,
}

impl Classes {
    /// Makes the group of the lines at the sorted indices of `run`, whose first class is number `start`.
    fn new(lines: &[PreferenceLine], run: &[u32], start: usize) -> Result<Classes, PreferenceFault> {
        let mut sizes = Vec::new();
        let mut relevant_classes = 0;
        let mut members: Vec<(u32, u32, u32)> = Vec::with_capacity(run.len());
        for class in run.chunk_by(|&i, &j| lines[i as usize].level == lines[j as usize].level) {
            let at = sizes.len() as u32;
            members.extend(class.iter().map(|&line| (lines[line as usize].document, at, line)));
            sizes.push(class.len() as u64);
            if lines[class[0] as usize].level > 0.0 {
                relevant_classes += 1;
            }
        }
        members.sort_unstable();
        for pair in members.windows(2) {
            if pair[0].0 == pair[1].0 && pair[0].1 != pair[1].1 {
                return Err(PreferenceFault::TwoLevels {
                    higher: pair[0].2 as usize,
                    lower: pair[1].2 as usize,
                });
            }
        }
        // From here on the third value is the number of lines instead of the line.
        members = members
            .chunk_by(|a, b| a.0 == b.0)
            .map(|same| (same[0].0, same[0].1, same.len() as u32))
            .collect();
        // Invariant: a group has a line, so there is a class.
        let above = sizes.len() - 1;
        Ok(Classes {
            start,
            possible: mixed_pairs(sizes.iter().copied()),
            possible_above: mixed_pairs(sizes[..above].iter().copied()),
            sizes,
            relevant_classes,
            members,
        })
    }

    /// The shares that a ranking fulfils; `class` and `before` are described at [`PreferenceScratch`].
    fn count(&self, counts: &GroupCounts, class: &[u64], before: &[u64]) -> GroupShares {
        let found = &class[self.start..self.start + self.sizes.len()];
        let lowest = found.len() - 1;
        let missed = || self.sizes.iter().zip(found).map(|(size, found)| size - found);

        let both = mixed_pairs(found.iter().copied());
        let both_above = mixed_pairs(found[..lowest].iter().copied());
        // `both` is A1 + A2, and `neither` is A5.
        let neither = mixed_pairs(missed());
        // Preferences of a retrieved document over one that is not, and those of them whose lower document is not in the lowest class.
        let (mut implied, mut implied_above, mut higher) = (0, 0, 0);
        for (missed, found) in missed().zip(found) {
            implied_above = implied;
            implied += higher * missed;
            higher += found;
        }

        let relevant: u64 = self.sizes[..self.relevant_classes].iter().sum();
        let nonrelevant: u64 = self.sizes[self.relevant_classes..].iter().sum();
        let relevant_found: u64 = found[..self.relevant_classes].iter().sum();
        let nonrelevant_found: u64 = found[self.relevant_classes..].iter().sum();
        let fulfilled_above = counts.fulfilled - counts.fulfilled_lowest;
        let before = |kept: u64| match kept {
            0 => 0,
            _ => before.get(kept as usize - 1).copied().unwrap_or(0),
        };

        let balanced = if relevant >= nonrelevant {
            let more = relevant - nonrelevant;
            Share {
                fulfilled: counts.fulfilled + implied + relevant_found * more,
                possible: self.possible + relevant * more,
            }
        } else {
            // Only the first documents of the lowest class stay. As in trec_eval every document of the group, the ones of the lowest class
            // included, counts as preferred to them.
            let kept = relevant.min(self.sizes[lowest]);
            let kept_found = kept.min(found[lowest]);
            let documents: u64 = self.sizes.iter().sum();
            Share {
                fulfilled: fulfilled_above
                    + implied_above
                    + before(kept_found)
                    + (kept - kept_found) * counts.documents,
                possible: self.possible_above + documents * kept,
            }
        };
        let balanced_retrieved = if relevant_found >= nonrelevant_found {
            let more = relevant_found - nonrelevant_found;
            Share { fulfilled: counts.fulfilled + relevant_found * more, possible: both + relevant * more }
        } else {
            let kept = relevant_found.min(found[lowest]);
            Share {
                fulfilled: fulfilled_above + before(kept),
                possible: both_above + counts.documents * kept,
            }
        };
        GroupShares {
            all: Share { fulfilled: counts.fulfilled + implied, possible: self.possible },
            retrieved: Share { fulfilled: counts.fulfilled, possible: both },
            implied: Share { fulfilled: counts.fulfilled + implied, possible: self.possible - neither },
            balanced,
            balanced_retrieved,
        }
    }
}

/// The number of bits of a row that are set in all of the masks.
fn ones(row: &[u64], mask: impl Fn(usize) -> u64) -> u64 {
    let count = |(at, word): (usize, &u64)| u64::from((word & mask(at)).count_ones());
    row.iter().enumerate().map(count).sum()
}

fn set(bits: &mut [u64], at: usize) {
    bits[at / 64] |= 1 << (at % 64);
}

fn is_set(bits: &[u64], at: usize) -> bool {
    bits[at / 64] >> (at % 64) & 1 == 1
}

fn zeros(bits: &mut Vec<u64>, words: usize) {
    bits.clear();
    bits.resize(words, 0);
}

/// A step from one class of a sub-group to the next lower one, as ranges of the sorted lines.
struct ClassStep {
    upper: Range<usize>,
    lower: Range<usize>,
}

impl Closure {
    /// Makes the group of the lines at the sorted indices of `run`. `bytes` is the memory that the groups before it take, to which that of
    /// this group is added.
    fn new(lines: &[PreferenceLine], run: &[u32], bytes: &mut u64) -> Result<Closure, PreferenceFault> {
        let line = |at: usize| &lines[run[at] as usize];
        let mut documents: Vec<u32> = (0..run.len()).map(|at| line(at).document).collect();
        documents.sort_unstable();
        documents.dedup();
        let size = documents.len();
        let words = size.div_ceil(64);
        reserve(bytes, size, words)?;
        // Every document of a line is among the documents.
        let local: Vec<usize> =
            (0..run.len()).map(|at| documents.partition_point(|&d| d < line(at).document)).collect();

        let signs = signs(lines, run, &local, size)?;
        let mut gates = Vec::new();
        for subgroup in ranges(0..run.len(), |a, b| line(a).subgroup == line(b).subgroup) {
            let mut upper: Option<Range<usize>> = None;
            for lower in ranges(subgroup, |a, b| line(a).level == line(b).level) {
                if let Some(upper) = upper {
                    gates.push(ClassStep { upper, lower: lower.clone() });
                }
                upper = Some(lower);
            }
        }
        // Gates that each document leads to.
        let mut starts = vec![0; size + 1];
        for gate in &gates {
            for at in gate.upper.clone() {
                starts[local[at] + 1] += 1;
            }
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut through = vec![0; starts[size]];
        for (index, gate) in gates.iter().enumerate() {
            for at in gate.upper.clone() {
                through[next[local[at]]] = index;
                next[local[at]] += 1;
            }
        }
        let graph = Graph { gates: &gates, local: &local, starts: &starts, through: &through };
        let order = match graph.order() {
            Ok(order) => order,
            Err(component) => {
                return Err(PreferenceFault::Cycle { steps: circle(lines, run, &local, size, &component) });
            }
        };

        let mut rows = vec![0; size * words];
        // Rows of the gates that several documents lead through, until the last one has used it.
        let mut shared: Vec<Option<Vec<u64>>> = vec![None; gates.len()];
        // A gate with many documents above and below would be gone through for each of them; its union is made once, and freed after the
        // last.
        let mut uses: Vec<usize> = gates.iter().map(|gate| gate.upper.len()).collect();
        let mut row = vec![0; words];
        for document in order {
            row.fill(0);
            for &index in &through[starts[document]..starts[document + 1]] {
                let gate = &gates[index];
                let below = || gate.lower.clone().map(|at| local[at]);
                let collect = |into: &mut [u64]| {
                    for other in below().filter(|&other| other != document) {
                        if !is_set(into, other) {
                            set(into, other);
                            let from = &rows[other * words..(other + 1) * words];
                            into.iter_mut().zip(from).for_each(|(a, b)| *a |= b);
                        }
                    }
                };
                uses[index] -= 1;
                // A document in both classes of the gate is not preferred to itself.
                let twice = gate.upper.len() > 1 && below().any(|other| other == document);
                if gate.upper.len() == 1 || gate.lower.len() == 1 || twice {
                    collect(&mut row);
                } else {
                    if shared[index].is_none() {
                        reserve(bytes, 1, words)?;
                        let mut bits = vec![0; words];
                        collect(&mut bits);
                        shared[index] = Some(bits);
                    }
                    for (a, b) in row.iter_mut().zip(shared[index].iter().flatten()) {
                        *a |= b;
                    }
                }
                if uses[index] == 0 && shared[index].take().is_some() {
                    *bytes -= 8 * words as u64;
                }
            }
            rows[document * words..(document + 1) * words].copy_from_slice(&row);
        }

        let mut out = vec![0; size];
        let mut into = vec![0; size];
        let mut possible = 0;
        for document in 0..size {
            for (at, &word) in rows[document * words..(document + 1) * words].iter().enumerate() {
                out[document] += word.count_ones();
                let mut rest = word;
                while rest != 0 {
                    into[at * 64 + rest.trailing_zeros() as usize] += 1;
                    rest &= rest - 1;
                }
            }
            possible += u64::from(out[document]);
        }
        Ok(Closure {
            relevant: signs.iter().filter(|&&sign| sign > 0).count() as u64,
            nonrelevant: signs.iter().filter(|&&sign| sign == 0).count() as u64,
            documents,
            signs,
            words,
            rows,
            out,
            into,
            possible,
        })
    }

    fn row(&self, local: usize) -> &[u64] {
        &self.rows[local * self.words..(local + 1) * self.words]
    }

    fn prefers(&self, local: usize, other: usize) -> bool {
        is_set(self.row(local), other)
    }

    /// The shares that a ranking of which `kept` documents are retrieved fulfils.
    fn count(&self, kept: u32, scratch: &mut PreferenceScratch) -> GroupShares {
        let words = self.words;
        let PreferenceScratch { position, placed, retrieved, without, .. } = scratch;
        let mut order: Vec<(u32, usize)> = self
            .documents
            .iter()
            .zip(0..)
            .map(|(&document, local)| (position[document as usize], local))
            .collect();
        order.sort_unstable();
        let found = order.partition_point(|&(position, _)| position < kept);
        zeros(retrieved, words);
        for &(_, local) in &order[..found] {
            set(retrieved, local);
        }

        zeros(placed, words);
        let (mut fulfilled, mut both, mut implied, mut into) = (0, 0, 0, 0);
        for &(_, local) in &order[..found] {
            let row = self.row(local);
            // Retrieved documents that this one is preferred to, without those that came before it: A1 of its row.
            let lower = ones(row, |at| retrieved[at]);
            fulfilled += lower - ones(row, |at| placed[at]);
            both += lower;
            implied += u64::from(self.out[local]) - lower;
            into += u64::from(self.into[local]);
            set(placed, local);
        }
        // A1 + A2 + A4, for each retrieved document as the lower one, and A3, as the upper one.
        let touched = into + implied;

        let of_sign = |wanted: i8| {
            let has = |&&(_, local): &&(u32, usize)| self.signs[local] == wanted;
            order[..found].iter().filter(has).count() as u64
        };
        let (relevant_found, nonrelevant_found) = (of_sign(1), of_sign(0));
        let mut leave_out = |among: usize| {
            // All documents of level 0 but the first ones, as many as there are relevant ones.
            zeros(without, words);
            let mut nonrelevant = 0;
            for &(_, local) in &order[..among] {
                if self.signs[local] == 0 {
                    nonrelevant += 1;
                    if nonrelevant > self.relevant {
                        set(without, local);
                    }
                }
            }
            zeros(placed, words);
            let mut share = Share::default();
            for (at, &(_, local)) in order[..among].iter().enumerate() {
                if is_set(without, local) {
                    continue;
                }
                let row = self.row(local);
                let inside = |at: usize| {
                    let mask = if among == found { retrieved[at] } else { u64::MAX };
                    mask & !without[at]
                };
                share.possible += ones(row, inside);
                if at < found {
                    share.fulfilled += ones(row, |at| inside(at) & !placed[at]);
                    set(placed, local);
                }
            }
            share
        };
        let balanced = if self.relevant >= self.nonrelevant {
            let more = self.relevant - self.nonrelevant;
            Share {
                fulfilled: fulfilled + implied + relevant_found * more,
                possible: self.possible + self.relevant * more,
            }
        } else {
            leave_out(order.len())
        };
        let balanced_retrieved = if relevant_found >= nonrelevant_found {
            let more = relevant_found - nonrelevant_found;
            Share { fulfilled: fulfilled + relevant_found * more, possible: both + self.relevant * more }
        } else {
            leave_out(found)
        };
        GroupShares {
            all: Share { fulfilled: fulfilled + implied, possible: self.possible },
            retrieved: Share { fulfilled, possible: both },
            implied: Share { fulfilled: fulfilled + implied, possible: touched },
            balanced,
            balanced_retrieved,
        }
    }
}

/// Adds the memory of `rows` rows of `words` words, unless it is too much.
fn reserve(bytes: &mut u64, rows: usize, words: usize) -> Result<(), PreferenceFault> {
    *bytes = bytes.saturating_add((rows as u64).saturating_mul(8 * words as u64));
    if *bytes > MOST_BYTES {
        return Err(PreferenceFault::TooLarge { bytes: *bytes });
    }
    Ok(())
}

/// Splits a range where neighbours differ.
fn ranges(range: Range<usize>, same: impl Fn(usize, usize) -> bool) -> impl Iterator<Item = Range<usize>> {
    let mut start = range.start;
    std::iter::from_fn(move || {
        if start == range.end {
            return None;
        }
        let mut end = start + 1;
        while end < range.end && same(end - 1, end) {
            end += 1;
        }
        let part = start..end;
        start = end;
        Some(part)
    })
}

/// The sign of the level of each document in a group with several sub-groups. Where a document has several levels it is the one of the last
/// sub-group, and the lowest level there.
fn signs(
    lines: &[PreferenceLine],
    run: &[u32],
    local: &[usize],
    size: usize,
) -> Result<Vec<i8>, PreferenceFault> {
    let mut signs = vec![-1; size];
    let mut from = vec![0; size];
    for (&line, &document) in run.iter().zip(local) {
        let level = lines[line as usize].level;
        let sign = if level > 0.0 {
            1
        } else if level == 0.0 {
            0
        } else {
            -1
        };
        let (before, line) = (from[document], line as usize);
        match (signs[document], sign) {
            (1, 0) => {
                return Err(PreferenceFault::ZeroAndMore { zero: line, more: before });
            }
            (0, 1) => {
                return Err(PreferenceFault::ZeroAndMore { zero: before, more: line });
            }
            _ => {}
        }
        signs[document] = sign;
        from[document] = line;
    }
    Ok(signs)
}

/// The graph of the documents of a group and the gates between them. Documents are the nodes `0..size`, gates the nodes after them. A
/// document leads to the gates below its lines, a gate to the documents of its lower class.
struct Graph<'a> {
    gates: &'a [ClassStep],
    local: &'a [usize],
    starts: &'a [usize],
    through: &'a [usize],
}

impl Graph<'_> {
    fn size(&self) -> usize {
        self.starts.len() - 1
    }

    fn edge(&self, node: usize, index: usize) -> Option<usize> {
        let size = self.size();
        if node < size {
            let through = &self.through[self.starts[node]..self.starts[node + 1]];
            through.get(index).map(|gate| size + gate)
        } else {
            let at = self.gates[node - size].lower.start + index;
            (at < self.gates[node - size].lower.end).then(|| self.local[at])
        }
    }

    /// Returns the documents in such an order that each comes after all documents it is preferred to. Fails with the documents of a circle
    /// of preferences, and the ones between them.
    ///
    /// The strongly connected components are found by the algorithm of Tarjan, without recursion.
    fn order(&self) -> Result<Vec<usize>, Vec<usize>> {
        const NEW: u32 = u32::MAX;
        let size = self.size();
        let nodes = size + self.gates.len();
        let mut number = vec![NEW; nodes];
        let mut low = vec![0; nodes];
        let mut waiting = vec![false; nodes];
        let mut stack = Vec::new();
        let mut calls: Vec<(usize, usize)> = Vec::new();
        let mut numbers = 0;
        let mut order = Vec::with_capacity(size);
        for root in 0..size {
            if number[root] != NEW {
                continue;
            }
            calls.push((root, 0));
            while let Some((node, index)) = calls.pop() {
                if index == 0 {
                    number[node] = numbers;
                    low[node] = numbers;
                    numbers += 1;
                    stack.push(node);
                    waiting[node] = true;
                } else if let Some(child) = self.edge(node, index - 1) {
                    // The child has been gone through, or was known before.
                    if waiting[child] {
                        low[node] = low[node].min(low[child]);
                    }
                }
                if let Some(child) = self.edge(node, index) {
                    calls.push((node, index + 1));
                    if number[child] == NEW {
                        calls.push((child, 0));
                    }
                    continue;
                }
                if low[node] == number[node] {
                    let mut component = Vec::new();
                    while let Some(member) = stack.pop() {
                        waiting[member] = false;
                        if member < size {
                            component.push(member);
                        }
                        if member == node {
                            break;
                        }
                    }
                    // A document that leads to itself, at two levels of one sub-group, is alone in its component, and no circle.
                    if component.len() > 1 {
                        component.sort_unstable();
                        return Err(component);
                    }
                    order.append(&mut component);
                }
            }
        }
        Ok(order)
    }
}

/// The shortest circle of preferences through the first document of a component.
fn circle(
    lines: &[PreferenceLine],
    run: &[u32],
    local: &[usize],
    size: usize,
    component: &[usize],
) -> Vec<(usize, usize)> {
    let mut inside = vec![false; size];
    for &document in component {
        inside[document] = true;
    }
    let first = component[0];
    let line = |at: usize| &lines[run[at] as usize];
    let mut ends = vec![0; run.len()];
    for subgroup in ranges(0..run.len(), |a, b| line(a).subgroup == line(b).subgroup) {
        for at in subgroup.clone() {
            ends[at] = subgroup.end;
        }
    }
    let mut own: Vec<Vec<usize>> = vec![Vec::new(); size];
    for (at, &document) in local.iter().enumerate() {
        if inside[document] {
            own[document].push(at);
        }
    }
    // Lines of each sub-group, known by its end, from which on everything has been looked at.
    let mut looked = vec![usize::MAX; run.len() + 1];
    // Step by which each document was reached.
    let mut reached: Vec<Option<(usize, usize)>> = vec![None; size];
    let mut queue = std::collections::VecDeque::from([first]);
    while let Some(document) = queue.pop_front() {
        for &at in &own[document] {
            let mut below = at + 1;
            while below < ends[at] && line(below).level == line(at).level {
                below += 1;
            }
            // What is below a line of a sub-group is also below every higher line of it, so the search looks at each line about once.
            let end = ends[at].min(looked[ends[at]]);
            if document != first {
                looked[ends[at]] = looked[ends[at]].min(below);
            }
            for lower in below..end {
                let other = local[lower];
                if other == first && document != first {
                    let mut steps = vec![(at, lower)];
                    let mut here = document;
                    while here != first {
                        let Some(step) = reached[here] else { break };
                        steps.push(step);
                        here = local[step.0];
                    }
                    steps.reverse();
                    return steps.into_iter().map(|(a, b)| (run[a] as usize, run[b] as usize)).collect();
                }
                if other != first && inside[other] && reached[other].is_none() {
                    reached[other] = Some((at, lower));
                    queue.push_back(other);
                }
            }
        }
    }
    Vec::new()
}
