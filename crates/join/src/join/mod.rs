//! The join: the records of judgments and of runs become labels.
//!
//! The join is the last layer: it uses every layer below, and no layer uses the join.
//!
//! ```text
//! files, judgments, memory   texts, judgments, and runs in memory, joined
//! doc_table, qrels     the judged documents of each query as a small hash table
//! facets               judgments by judge, by subtopic, or as preferences
//! passages             judgments and runs by span
//! united               the results of a query by their units, those of a unit put together
//! rank, run            the records of a query → duplicates, order, labels
//! picked, picks        a few queries alone, with their documents
//! passing              a run that is read once, query by query
//! seen                 scores that may mislead
//! rows                 the rows of a text, passed on as they are written
//! united_rows          the same with those of a unit put together
//! repairs              a change of ids after which documents would be judged
//! sound                what holds for all inputs of a join together
//! ```

pub(crate) mod doc_table;
pub mod facets;
mod files;
mod judgments;
mod memory;
mod passages;
pub mod passing;
pub(crate) mod picked;
pub mod picks;
pub mod qrels;
pub(crate) mod rank;
pub(crate) mod repairs;
mod rows;
pub(crate) mod run;
pub(crate) mod seen;
mod shared_judgments;
pub(crate) mod sound;
pub(crate) mod united;
mod united_rows;
