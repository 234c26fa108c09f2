//! The kinds of facets by which judgments are given: judges, subtopics, preferences and spans.

/// The kind of facet by which judgments are given: a judge, a subtopic, a preference group or a
/// span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FacetKind {
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

impl FacetKind {
    /// Every meaning, with its name.
    pub const ALL: [(&'static str, Self); 4] = [
        ("judge", Self::Judge),
        ("subtopic", Self::Subtopic),
        ("preference", Self::Preference),
        ("span", Self::Span),
    ];
}

named!(FacetKind, "a facet of judgments");
