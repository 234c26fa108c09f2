//! The range of the grades of judgments, and what it makes of levels of relevance.

use crate::matrix::{Codebook, Notice};
use crate::measure::Measure;

/// The range of some grades from 0. The ranges of parts of judgments together are that of all.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub(crate) struct GradeRange {
    /// The lowest grade.
    pub lowest: Option<f64>,
    /// The lowest grade above 0.
    pub least_positive: Option<f64>,
    /// The highest grade.
    pub highest: Option<f64>,
}

impl GradeRange {
    /// The range of the grades of a codebook.
    pub fn of(book: &Codebook) -> Self {
        let lowest = book.grades().first().copied();
        GradeRange { lowest, least_positive: book.least_positive(), highest: book.max_grade() }
    }

    /// The range of the grades of both.
    pub fn and(self, other: Self) -> Self {
        let of_both = |one: Option<f64>, other: Option<f64>, choose: fn(f64, f64) -> f64| {
            one.into_iter().chain(other).reduce(choose)
        };
        GradeRange {
            lowest: of_both(self.lowest, other.lowest, f64::min),
            least_positive: of_both(self.least_positive, other.least_positive, f64::min),
            highest: of_both(self.highest, other.highest, f64::max),
        }
    }

    /// The known numbers of the range, in the order lowest, least positive and highest grade.
    #[cfg(feature = "serde")]
    pub fn numbers(&self) -> Vec<f64> {
        [self.lowest, self.least_positive, self.highest].into_iter().flatten().collect()
    }
}

/// What a range of grades makes of levels of relevance:
/// * above the highest grade, a level leaves nothing relevant;
/// * a level of 1 leaves out fractions, where some documents of grade 1 hide that;
/// * a level of 1 leaves out nothing, where grades are ratings from 1 to 5 or to 10.
pub(crate) fn of_grades(measures: &[Measure], grades: GradeRange) -> Vec<Notice> {
    let GradeRange { lowest, least_positive, highest: Some(highest) } = grades else {
        return Vec::new();
    };
    let at_one = || {
        let is_one = |of: &&Measure| of.number("rel") == Some(1.0) && looks_at_rel(of);
        let measures: Vec<String> =
            measures.iter().filter(is_one).map(Measure::to_string).collect();
        Some(measures).filter(|measures| !measures.is_empty())
    };
    let mut notices: Vec<Notice> = Vec::new();
    if let Some(lowest) = least_positive.filter(|&least| least < 1.0 && highest >= 1.0) {
        notices.extend(at_one().map(|measures| Notice::FractionsNotRelevant { measures, lowest }));
    }
    if lowest == Some(1.0) && (highest == 5.0 || highest == 10.0) {
        notices.extend(at_one().map(|measures| Notice::LowestRelevant { measures, highest }));
    }
    for of in measures {
        let Some(level) = of.number("rel").filter(|&level| level > highest && looks_at_rel(of))
        else {
            continue;
        };
        let same = |notice: &&mut Notice| {
            matches!(
                notice,
                Notice::NothingRelevant { level: of, .. } if *of == level
            )
        };
        match notices.iter_mut().find(same) {
            Some(Notice::NothingRelevant { measures, .. }) => measures.push(of.to_string()),
            _ => notices.push(Notice::NothingRelevant {
                measures: vec![of.to_string()],
                level,
                highest,
            }),
        }
    }
    notices
}

/// Whether the lowest relevant grade changes values of the measure.
fn looks_at_rel(measure: &Measure) -> bool {
    let shares = measure.word("gain") == "grade" && measure.definition().name != "RBP";
    !shares && measure.word("scale") != "topic"
}
