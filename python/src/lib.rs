//! The native part of the Python package `laneval`: conversion between Python objects and the Rust
//! library.
//!
//! Users see the Python code in `python/laneval`; names here are free to change.

mod arrays;
mod catalogue;
mod check;
mod columns;
mod comparison;
mod doc_ids;
mod errors;
mod ffi;
mod identify;
mod matrix;
mod passages;
mod pools;
mod qrels;
#[cfg(feature = "gpu")]
mod resident;
mod rows;
mod rule;
mod scores;
mod settings;
mod source;
mod spans;
mod stored;
mod stream;
mod summary;
mod table;
mod text;
mod trec;
mod work;

/// The module.
#[pyo3::pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::arrays::Arrays;
    #[pymodule_export]
    use crate::catalogue::{
        are_best, command, devices, library_options, measure_of_gate, measures, parse,
        usual_measures,
    };
    #[pymodule_export]
    use crate::check::run_check;
    #[pymodule_export]
    use crate::comparison::{Comparison, judge_alone, scores_json};
    #[pymodule_export]
    use crate::doc_ids::PyDocIds;
    #[pymodule_export]
    use crate::identify::Identification;
    #[pymodule_export]
    use crate::matrix::Matrix;
    #[pymodule_export]
    use crate::pools::Pools;
    #[pymodule_export]
    use crate::qrels::Qrels;
    #[cfg(feature = "gpu")]
    #[pymodule_export]
    use crate::resident::ResidentEvaluator;
    #[pymodule_export]
    use crate::scores::{PerQuery, Scores};
    #[pymodule_export]
    use crate::settings::Settings;
    #[pymodule_export]
    use crate::source::places;
    #[pymodule_export]
    use crate::spans::chunk_qrels;
    #[pymodule_export]
    use crate::stream::RankingStream;
    #[pymodule_export]
    use crate::summary::Summary;
    #[pymodule_export]
    use crate::trec::{TrecEvaluator, trec_measures};

    /// Sets the version, and keeps panics about damaged files, which become errors, from being
    /// printed.
    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        #[cfg(feature = "parquet")]
        laneval_formats::silence_reader_panics();
        pyo3::types::PyModuleMethods::add(module, "UNDEFINED", laneval::scores::UNDEFINED)?;
        pyo3::types::PyModuleMethods::add(module, "__version__", env!("CARGO_PKG_VERSION"))
    }
}
