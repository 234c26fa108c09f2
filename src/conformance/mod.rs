//! Conformance: the known definition of a measure, if any, that another implementation follows
//! (`laneval check`).
//!
//! Programs that print `nDCG@10` differ in the definition of nDCG. A [`Suite`] has some small
//! queries, each for a choice that a definition makes, and the value of each query under each known
//! definition. [`check`] asks an implementation for its value of each query, and names the
//! definitions that have all of these values. The suite is plain JSON, in the public domain:
//! `conformance/` beside these sources.
//!
//! ```
//! use laneval::conformance::{CaseAnswer, Suite, check};
//!
//! // Precision at k that divides by k even if the run is shorter, which takes the results in their
//! // order.
//! let precision = |case: &laneval::conformance::Case| {
//!     let mut run = case.run.clone();
//!     run.sort_by(|a, b| b.1.parse::<f64>().unwrap().total_cmp(&a.1.parse::<f64>().unwrap()));
//!     let hit = |document: &String| {
//!         case.qrels.iter().any(|(judged, grade)| judged == document && *grade > 0)
//!     };
//!     let hits = run.iter().take(case.k as usize).filter(|(document, _)| hit(document)).count();
//!     Ok(CaseAnswer::from_value(hits as f64 / f64::from(case.k)))
//! };
//! let checked = check(&Suite::named("v1")?, "P", None, precision)?;
//! assert_eq!(checked.fits[0].definition.spelling(), "P@k --ties input");
//! assert!(checked.fits[0].definition.libraries.iter().any(|library| library.name == "ranx"));
//! # Ok::<(), laneval::Error>(())
//! ```

mod answer;
mod check;
mod closeness;
mod stored;
mod suite;
mod text;

pub use answer::CaseAnswer;
pub use check::{CheckReport, CheckVerdict, DefinitionFit, FailedCase, check};
pub use closeness::Tolerance;
pub use suite::{Case, Suite, SuiteDefinition, SuiteLibrary, SuiteOptions};
