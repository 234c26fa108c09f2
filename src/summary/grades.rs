//! The range of the grades of judgments, and notices about levels of relevance that do not suit the
//! range.

use crate::matrix::{Codebook, Notice};
use crate::measure::Measure;

/// The range of the grades of judgments, with the lowest grade above 0. The ranges of parts of
/// judgments together are that of all.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub(crate) struct GradeBounds {
    /// The lowest grade.
    pub lowest: Option<f64>,
    /// The lowest grade above 0.
    pub least_positive: Option<f64>,
    /// The highest grade.
    pub highest: Option<f64>,
}

impl GradeBounds {
    /// Returns the range of the grades in a codebook, the table from label codes to grades.
    pub fn from_codebook(book: &Codebook) -> Self {
        let lowest = book.grades().first().copied();
        Self { lowest, least_positive: book.least_positive(), highest: book.max_grade() }
    }

    /// Returns the range of the grades of two sets of judgments together.
    pub fn and(self, other: Self) -> Self {
        let positive = self.least_positive.into_iter().chain(other.least_positive);
        Self {
            lowest: self.lowest.into_iter().chain(other.lowest).reduce(f64::min),
            least_positive: positive.reduce(f64::min),
            highest: self.highest.into_iter().chain(other.highest).reduce(f64::max),
        }
    }

    /// Returns the known numbers of the range of grades, in the order lowest, least positive and
    /// highest grade.
    #[cfg(feature = "serde")]
    pub fn numbers(&self) -> Vec<f64> {
        [self.lowest, self.least_positive, self.highest].into_iter().flatten().collect()
    }
}

/// Returns notices about measures whose level of relevance does not suit the grades of judgments:
/// * above the highest grade, a level leaves nothing relevant;
/// * a level of 1 leaves out fractions, where some documents of grade 1 hide that;
/// * a level of 1 leaves out nothing, where grades are ratings from 1 to 5 or to 10.
pub(crate) fn of_grades(measures: &[Measure], grades: GradeBounds) -> Vec<Notice> {
    let GradeBounds { lowest, least_positive, highest: Some(highest) } = grades else {
        return Vec::new();
    };
    let mut notices: Vec<Notice> = Vec::new();
    // Below a highest grade of 1 nothing is relevant, and the notice further down says so.
    if let Some(lowest) = least_positive.filter(|&least| least < 1.0 && highest >= 1.0)
        && let Some(measures) = at_one(measures)
    {
        notices.push(Notice::FractionsNotRelevant { measures, lowest });
    }
    if lowest == Some(1.0)
        && (highest == 5.0 || highest == 10.0)
        && let Some(measures) = at_one(measures)
    {
        notices.push(Notice::LowestRelevant { measures, highest });
    }
    for measure in measures {
        let Some(level) =
            measure.number("rel").filter(|&level| level > highest && looks_at_rel(measure))
        else {
            continue;
        };
        let noticed = notices.iter_mut().find_map(|notice| match notice {
            Notice::NothingRelevant { measures, level: noticed, .. } if *noticed == level => {
                Some(measures)
            }
            _ => None,
        });
        match noticed {
            Some(measures) => measures.push(measure.to_string()),
            None => notices.push(Notice::NothingRelevant {
                measures: vec![measure.to_string()],
                level,
                highest,
            }),
        }
    }
    notices
}

/// Returns the names of the measures whose level of relevance is 1; `None` if there are none.
fn at_one(measures: &[Measure]) -> Option<Vec<String>> {
    let at_one = measures
        .iter()
        .filter(|measure| measure.number("rel") == Some(1.0) && looks_at_rel(measure));
    let names: Vec<String> = at_one.map(Measure::to_string).collect();
    (!names.is_empty()).then_some(names)
}

/// Returns whether the lowest relevant grade, the parameter `rel`, changes values of the measure.
fn looks_at_rel(measure: &Measure) -> bool {
    let shares = measure.choice("gain") == "grade" && measure.definition().name != "RBP";
    !shares && measure.choice("scale") != "topic"
}
