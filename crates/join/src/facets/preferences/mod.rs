//! Preferences between the documents of one query, and the number of preferences that a ranking
//! fulfils.
//!
//! A judgment group holds the preferences of a judge at a single time. A group states preferences
//! in sub-groups: inside a sub-group every document is preferred to every document of a lower
//! level. A group with several sub-groups also has the preferences that follow from a chain (a over
//! b and b over c give a over c). Groups may contradict each other.
//!
//! The measures are the `prefs_*` of trec_eval. [`Preferences::new`] checks and prepares the
//! preferences once; [`Preferences::count_fulfilled`] then counts for one ranking after another.
//!
//! Documents have *positions* in a ranking: the retrieved documents `0..q` in rank order, then the
//! documents that were not retrieved, in the order of their names. A preference of a over b is
//! *fulfilled* if a was retrieved and is positioned before b.
//!
//! The source is trec_eval, form_prefs_counts.c and the `m_prefs_*.c`. Like trec_eval, this module
//! looks at every pair of documents of a group. A group with one sub-group compares levels. A group
//! with several sub-groups has bits for each pair, chains included. So a ranking takes time in
//! proportion to the square of a group's documents, and a group with several sub-groups takes n² /
//! 8 bytes. Hence a query may have at most [`MOST_DOCUMENTS`] documents. A group of 10,000
//! documents, with a line each, takes about 0.3 s for each ranking, and 1,250 bytes for each
//! document.
//!
//! All shares come of five counts, by whether the upper and the lower document of a preference were
//! retrieved:
//!
//! ```text
//!                    lower retrieved                    lower not
//! upper retrieved    A1 upper first · A2 lower first    A3
//! upper not          A4                                 A5
//!
//! simple             (A1 + A3) / all five
//! … retrieved         A1 / (A1 + A2)
//! … implied          (A1 + A3) / (A1 + A2 + A3 + A4)
//! ```
//!
//! **Chains.** trec_eval multiplies an array of n² by itself until nothing changes, n³ steps each
//! time. Here *gates* join the levels of a sub-group: a gate leads from each class of equal level
//! to the next lower class. Preferences over two levels or more follow from several gates. The
//! strongly connected components of documents and gates reveal circles, and come out lowest first
//! (Tarjan 1972). So the set of documents below a document is the union of complete sets.
//!
//! **Bits.** Counts are integers. Float sums run in trec_eval's order: groups by name, and pairs by
//! position. Pairs within the retrieved documents come first, then pairs of a retrieved and an
//! unretrieved document. A pair without a preference adds 0, which changes no sum.
//!
//! **Oddities of trec_eval, kept here:** in a group without any possible preference a `…_Rnonrel`
//! share is 0/0, not a number, and so the query's mean over groups is 0; documents of the lowest
//! class count as preferred to the documents of this class that stay (`recalculate` in
//! m_prefs_avgjg_Rnonrel.c lets its outer loop reach the last class); and `prefs_avgjg_Rnonrel_ret`
//! counts the possible preferences of all relevant documents of the group, although only the
//! retrieved relevant documents are meant.

mod balanced;
mod counting;
mod graph;
mod group;
mod line;
mod measure;

pub use counting::Preferences;
pub use line::{MOST_DOCUMENTS, PreferenceFault, PreferenceLine};
pub use measure::{FulfilledCounts, PreferenceCount};
