//! The native part of the Python package `laneval`: it lends what Python holds to the library, and hands back what comes of it.
//!
//! What users see is Python, in `python/laneval`; names here are free to change.

mod arrays;
mod catalogue;
mod comparison;
mod errors;
mod ffi;
mod matrix;
mod qrels;
#[cfg(feature = "gpu")]
mod resident;
mod rows;
mod scores;
mod settings;
mod source;
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
    use crate::catalogue::{command, devices, measures, parse};
    #[pymodule_export]
    use crate::comparison::Comparison;
    #[pymodule_export]
    use crate::matrix::Matrix;
    #[pymodule_export]
    use crate::qrels::Qrels;
    #[cfg(feature = "gpu")]
    #[pymodule_export]
    use crate::resident::Resident;
    #[pymodule_export]
    use crate::scores::{PerQuery, Scores};
    #[pymodule_export]
    use crate::settings::Settings;
    #[pymodule_export]
    use crate::source::places;
    #[pymodule_export]
    use crate::stream::Stream;
    #[pymodule_export]
    use crate::summary::Summary;
    #[pymodule_export]
    use crate::trec::{TrecEvaluator, trec_measures};

    /// Says which version it is; and damaged files are errors, of which nothing else is to be said.
    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        #[cfg(feature = "parquet")]
        laneval_formats::say_nothing_of_damaged_files();
        pyo3::types::PyModuleMethods::add(module, "__version__", env!("CARGO_PKG_VERSION"))
    }
}
