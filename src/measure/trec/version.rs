//! The versions of trec_eval whose output laneval can give.

/// The version of trec_eval to follow: 9 or 10.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// trec_eval 9.0.8, which pytrec_eval wraps.
    V9,
    /// trec_eval 10.0.
    V10,
}
