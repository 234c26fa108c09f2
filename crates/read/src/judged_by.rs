//! The kinds of facets.

/// The kind of facet by which judgments are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JudgedBy {
    /// A facet is a judge.
    Judge,
    /// A facet is a subtopic of the query.
    Subtopic,
    /// A facet is a judgment group of preferences: a document is preferred to documents of lower
    /// levels in its sub-group.
    Preference,
    /// A facet is a passage of a document, by its positions: results are passages too.
    Span,
}

impl JudgedBy {
    /// Every meaning, with its name.
    pub const ALL: [(&'static str, JudgedBy); 4] = [
        ("judge", JudgedBy::Judge),
        ("subtopic", JudgedBy::Subtopic),
        ("preference", JudgedBy::Preference),
        ("span", JudgedBy::Span),
    ];
}

named!(JudgedBy, "a facet of judgments");
