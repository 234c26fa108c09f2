//! Preferences between the documents of one query, and how many of them a ranking fulfils.
//!
//! A judgment group is what one judge wants at one time. It states preferences in sub-groups:
//! inside a sub-group every document is preferred to every document of a lower level. A group with
//! several sub-groups also has the preferences that follow from a chain (a over b and b over c give
//! a over c). Different groups may contradict each other.
//!
//! The measures are those that trec_eval calls `prefs_*`. [`Preferences::new`] checks and prepares
//! the preferences once; [`Preferences::met`] then counts for one ranking after another.
//!
//! Documents have *positions* in a ranking: the retrieved documents `0..q` in rank order, then the
//! documents that were not retrieved, in the order of their names. A preference of a over b is
//! *fulfilled* if a was retrieved and is positioned before b.
//!
//! The source is trec_eval, form_prefs_counts.c and the `m_prefs_*.c`. As there, every pair of
//! documents of a group is looked at. In a group with one sub-group their levels are compared; one
//! with several has bits for each pair, chains included. So a ranking takes time in proportion to
//! the square of a group's documents, and a group with several sub-groups n² / 8 bytes. Hence a
//! query may have [`MOST_DOCUMENTS`]: a group of as many takes about 0.3 s for each ranking, and
//! 1,250 bytes for each of its documents, which have a line each.
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
//! time. Here the levels of a sub-group are joined by *gates*, one from each class of equal level
//! to the next lower one; what is two levels below follows. The strongly connected components of
//! documents and gates tell circles, and come out lowest first (Tarjan 1972), so what a document is
//! preferred to is the union of sets that are complete.
//!
//! **Bits.** Counts are integers. What is summed in floats is summed in trec_eval's order: groups
//! by name; pairs by position, first those within the retrieved documents, then those of a
//! retrieved and another one. A pair without a preference adds 0, which changes no sum.
//!
//! **What is odd in trec_eval, and kept:** in a group without any possible preference a `…_Rnonrel`
//! share is 0/0, not a number, and so the query's mean over groups is 0; documents of the lowest
//! class count as preferred to those of it that stay (`recalculate` in m_prefs_avgjg_Rnonrel.c lets
//! its outer loop reach the last class); and `prefs_avgjg_Rnonrel_ret` counts what is possible with
//! the relevant documents of the group, where those that were retrieved are meant.

mod balanced;
mod counting;
mod gates;
mod group;
mod line;
mod measure;

pub use counting::Preferences;
pub use line::{MOST_DOCUMENTS, PreferenceFault, PreferenceLine};
pub use measure::{Met, PreferenceCount};
