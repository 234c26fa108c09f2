//! Rows: judgments and results one after another, in text order, for conversion and preview.
//!
//! This module must never know records or the judgment of a document.
//!
//! ```text
//! text_rows   one walk over the rows of a text of any format
//! preview     the first rows of a text, to look at
//! key_values  the values of any other key or column, by query
//! span_rows   passages by their positions, and chunks of documents
//! ```

pub mod key_values;
pub mod preview;
pub mod text_rows;
