//! Results about the agreement of judges: counts and coefficients.

/// Agreement between two judges over the items that both graded.
///
/// A kappa is `None` where the judges have no item in common, and where all their grades of common
/// items are equal.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct PairAgreement {
    /// The numbers of the two judges, the lower first.
    pub judges: [u32; 2],
    /// The number of items that both judges graded.
    pub common: usize,
    /// The number of common items with equal grades of both judges.
    pub equal: usize,
    /// Cohen's kappa without weights, where any two different grades disagree alike; from −1 to 1
    /// (Cohen 1960, "A coefficient of agreement for nominal scales").
    ///
    /// (p_o − p_e) / (1 − p_e), where p_o is the share of equal grades, and p_e the sum over the
    /// grades of the product of the shares with which the two judges use the grade.
    pub kappa: Option<f64>,
    /// Cohen's kappa with linear weights; from −1 to 1 (Cohen 1968, "Weighted kappa: nominal scale
    /// agreement with provision for scaled disagreement or partial credit").
    ///
    /// 1 − Σ w(g, h) o(g, h) / Σ w(g, h) e(g, h), where o(g, h) is the share of items with the
    /// grade g of the first judge and h of the second, e(g, h) is the product of the shares with
    /// which the first judge uses g and the second uses h, and the weight w(g, h) is |g − h|, in
    /// units of the grades. Some implementations weight by the difference between positions in the
    /// list of grades in use. Their value is equal if the grades in use are evenly spaced, such as
    /// 0, 1, 2, and differs if the two judges leave out a grade between two grades in use.
    pub kappa_linear: Option<f64>,
    /// Cohen's kappa with quadratic weights, as [`kappa_linear`](Self::kappa_linear) with w(g, h) =
    /// (g − h)²; from −1 to 1.
    pub kappa_quadratic: Option<f64>,
}

impl PairAgreement {
    /// Returns the share of common items with equal grades of both judges, from 0 to 1; `None`
    /// without common items.
    pub fn share_equal(&self) -> Option<f64> {
        (self.common > 0).then(|| self.equal as f64 / self.common as f64)
    }
}

/// Agreement between judges: counts, and the coefficients of pairs and of all judges.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct JudgeAgreement {
    /// The number of ratings.
    pub ratings: usize,
    /// The number of judges with at least one rating.
    pub judges: usize,
    /// The number of items with at least one rating.
    pub items: usize,
    /// The number of items with at least two ratings. Only these count in Fleiss' kappa and in
    /// Krippendorff's alpha.
    pub shared_items: usize,
    /// The number of ratings of items with at least two ratings.
    pub shared_ratings: usize,
    /// All pairs of judges, (0, 1), (0, 2) … (1, 2) …, also those without common items; empty if
    /// [`pairs_left_out`](Self::pairs_left_out).
    pub pairs: Vec<PairAgreement>,
    /// Whether pairs are not compared, because the judges are more than
    /// [`MAX_PAIRED_JUDGES`](super::MAX_PAIRED_JUDGES).
    pub pairs_left_out: bool,
    /// Fleiss' kappa (Fleiss 1971, "Measuring nominal scale agreement among many raters"), over the
    /// items with at least two ratings.
    ///
    /// (P − P_e) / (1 − P_e). P is the mean over the items of the share of equal grades among the n
    /// (n − 1) ordered pairs of an item's n ratings, and P_e is the sum of the squared shares of
    /// the grades among all ratings of these items. Fleiss has the same number n of ratings for
    /// every item; the value is then between −1/(n − 1) and 1. With unequal numbers, each item has
    /// the same part in P, and each rating the same part in P_e; the value is at most 1, and can be
    /// below −1.
    ///
    /// `None` where no item has two ratings, and where all grades of these items are equal.
    pub fleiss: Option<f64>,
    /// Krippendorff's alpha with the nominal metric, where any two different grades disagree alike;
    /// above −1, at most 1 (Krippendorff 2011, "Computing Krippendorff's alpha-reliability").
    ///
    /// 1 − (n − 1) Σ o(c, k) δ²(c, k) / Σ n(c) n(k) δ²(c, k), over the items with at least two
    /// ratings. The coincidence o(c, k) is the sum over the items of the number of ordered pairs of
    /// ratings with the grades c and k, divided by the item's number of ratings less 1; n(c) is the
    /// number of ratings with the grade c, and n is the number of all ratings of these items. The
    /// metric δ²(c, k) is 1 for different grades.
    ///
    /// `None` where no item has two ratings, and where all grades of these items are equal.
    pub alpha_nominal: Option<f64>,
    /// Krippendorff's alpha with the ordinal metric: as [`alpha_nominal`](Self::alpha_nominal),
    /// where δ(c, k) is the sum of n(g) over the grades g from c to k, less (n(c) + n(k)) / 2. Only
    /// the order of the grades counts.
    pub alpha_ordinal: Option<f64>,
    /// Krippendorff's alpha with the interval metric: as [`alpha_nominal`](Self::alpha_nominal),
    /// where δ(c, k) is c − k.
    pub alpha_interval: Option<f64>,
}
