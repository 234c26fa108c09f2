//! The join of runs with qrels: each retrieved document gets a label, the byte of its grade.
//!
//! The join is the last layer: it uses every layer below, and no layer uses the join.
//!
//! ```text
//! files, judgments, memory  texts, judgments, and runs in memory, joined
//! doc_table, qrels          the judged documents of each query as a small hash table
//! facets                    judgments by judge, by subtopic, or as preferences
//! passages                  judgments and runs by span
//! exclusion                 the documents of a query that are dropped
//! aggregate                 the results of a query by their units, those of a unit put together
//! rank, run                 the records of a query → duplicates, order, labels
//! picked, picks             a few queries alone, with their documents
//! streaming                 a run that is read once, query by query
//! score_checks              scores that may mislead
//! rows                      the rows of a text, passed on as they are written
//! aggregate_rows            the same with those of a unit put together
//! repairs                   a change of ids after which documents would be judged
//! validate                  what holds for all inputs of a join together
//! ```

mod aggregate;
mod aggregate_rows;
mod doc_table;
mod exclusion;
pub mod facets;
mod files;
mod judgments;
mod memory;
mod passages;
mod picked;
pub mod picks;
pub mod qrels;
mod rank;
mod repairs;
mod rows;
mod run;
mod score_checks;
mod shared_judgments;
pub mod streaming;
mod validate;
