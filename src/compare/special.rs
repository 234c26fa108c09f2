//! The distributions behind the tests: normal, Student's t, F, binomial, noncentral t, studentized
//! range.
//!
//! Small tails keep their digits: a small number is computed as such, and never as 1 minus another.
//! Against SciPy the relative error is below 1e-10 for up to 10⁷ degrees of freedom.
//!
//! # How small tails keep their digits
//!
//! t, F and the binomial distribution are one function, the regularised incomplete beta function
//! I_x(a, b). I_x(a, b) is a density divided by a continued fraction. The density carries the
//! magnitude, and the fraction is of moderate size:
//!
//! ```text
//! I_x(a, b) = x^a · y^b / B(a, b)  /  (β₁ + α₂/(β₂ + α₃/(β₃ + …)))        y = 1 − x
//! ```
//!
//! Both x and y are arguments everywhere. For t, x = 1/(1 + t²/ν) and y = 1/(1 + ν/t²): each is
//! computed by itself, where 1 − x would keep no digit of a small y.
//!
//! The density is the hard part for many degrees of freedom: the logarithms of x^a, y^b and of the
//! three Γ are of the size of a, and their sum is near 0. With Γ(z) = √(2π) · z^(z − ½) · e^(−z +
//! δ(z)) all large terms cancel on paper, and what is left is
//!
//! ```text
//! √( ab / (2π(a + b)) ) · exp( δ(a + b) − δ(a) − δ(b) − a·D(e_a) − b·D(e_b) )
//! D(e) = e − ln(1 + e)        e_a = (b·x − a·y)/a        e_b = −(b·x − a·y)/b
//! ```
//!
//! since (a + b)·x/a = 1 + e_a, and a·e_a + b·e_b = 0. Every term is small where the density is
//! large. `excess` is D and `stirling_error` is δ; `root_chi_density` has the same form.
//!
//! The two distributions without a continued fraction, noncentral t and the studentized range, are
//! means over S = √(χ²/ν) of a function of the normal distribution. Gauss and Legendre's 16 points
//! in a few parts of the range suffice, because both factors are smooth there.

use std::f64::consts::{FRAC_1_SQRT_2, LN_2, PI};

/// Returns P(Z ≤ x) of the standard normal distribution.
pub fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x * FRAC_1_SQRT_2)
}

/// Returns the density of the standard normal distribution.
fn normal_density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * PI).sqrt()
}

/// Returns the x with P(Z ≤ x) = p of the standard normal distribution: infinite at 0 and 1, NaN
/// outside.
pub fn normal_quantile(p: f64) -> f64 {
    symmetric_quantile(p, |x| normal_cdf(-x))
}

/// Returns P(T ≥ t) of Student's t distribution with `df` > 0 degrees of freedom.
pub fn student_sf(t: f64, df: f64) -> f64 {
    if t < 0.0 {
        return 1.0 - student_sf(-t, df);
    }
    0.5 * student_two_sided(t, df)
}

/// Returns P(|T| ≥ |t|) of Student's t distribution with `df` > 0 degrees of freedom.
pub fn student_two_sided(t: f64, df: f64) -> f64 {
    let t = t.abs();
    beta_share(0.5 * df, 0.5, 1.0 / (1.0 + t / df * t), 1.0 / (1.0 + df / t / t))
}

/// Returns the t with P(T ≤ t) = p of Student's t distribution: infinite at 0 and 1, NaN outside.
pub fn student_quantile(p: f64, df: f64) -> f64 {
    symmetric_quantile(p, |t| student_sf(t, df))
}

/// Returns P(F ≥ f) of the F distribution with `above` and `below` degrees of freedom in the
/// numerator and the denominator.
pub fn f_sf(f: f64, above: f64, below: f64) -> f64 {
    let ratio = above / below * f;
    beta_share(0.5 * below, 0.5 * above, 1.0 / (1.0 + ratio), 1.0 / (1.0 + 1.0 / ratio))
}

/// Returns the chance of at most `heads` heads when a fair coin is thrown `throws` times.
pub fn coin_cdf(heads: u64, throws: u64) -> f64 {
    if heads >= throws {
        return 1.0;
    }
    beta_share((throws - heads) as f64, heads as f64 + 1.0, 0.5, 0.5)
}

/// Returns P(T ≤ t) of the noncentral t distribution, with an absolute error of at most 1e-10:
/// T = (Z + shift) / S with S = √(χ²/df).
///
/// The mean of Φ(t·s − shift) over the density of S, by Gauss–Legendre quadrature.
pub fn noncentral_t_cdf(t: f64, df: f64, shift: f64) -> f64 {
    // Given S, T ≤ t is Z ≤ t·S − shift. Between u of `step[0]` and `step[1]`, t·S − shift goes
    // from −8 to 8. Borders at both ends of a step keep each part smooth, even for a steep step.
    let [low, high] = root_chi_range(df, 0.0);
    // Where t is large, Φ goes from 0 to 1 in a part of the range only.
    let step = [-STEP, STEP].map(|x| ((x + shift) / t - 1.0).clamp(low, high));
    let mut borders = [low, step[0], step[1], high];
    borders.sort_by(f64::total_cmp);
    let parts = borders.windows(2).map(|border| {
        integral([border[0], border[1]], 8, |u| {
            root_chi_density(u, df) * normal_cdf(t * (1.0 + u) - shift)
        })
    });
    parts.sum::<f64>().clamp(0.0, 1.0)
}

/// The bound for a negligible Φ: Φ(−STEP) is nothing beside 1e-12.
const STEP: f64 = 8.0;

/// Returns P(Q ≥ q) of the studentized range of `means` ≥ 2 means with `df` degrees of freedom: Q =
/// (largest − smallest) / S.
///
/// The mean over the density of S of the tail of a range (Copenhaver and Holland 1988), by
/// Gauss–Legendre quadrature.
pub fn range_sf(q: f64, means: usize, df: f64) -> f64 {
    if q <= 0.0 {
        return 1.0;
    }
    let share = integral(root_chi_range(df, q), 6, |u| {
        root_chi_density(u, df) * normal_range_sf(q * (1.0 + u), means)
    });
    // The quadrature may miss the bounds of a chance by its error.
    share.clamp(0.0, 1.0)
}

/// Returns the q with P(Q ≥ q) = p of the studentized range.
pub fn range_quantile(p: f64, means: usize, df: f64) -> f64 {
    crossing(p, |q| range_sf(q, means, df))
}

/// Returns the chance that `means` standard normal numbers lie farther apart than `width`.
///
/// The largest number is at z with the density k·φ(z)·Φ(z)^(k−1). The chance of some other number
/// below z − width is 1 − (1 − Φ(z − width)/Φ(z))^(k−1).
fn normal_range_sf(width: f64, means: usize) -> f64 {
    let others = means as f64 - 1.0;
    // The largest is at z and the smallest near z − width: their product is largest halfway.
    let middle = 0.5 * width;
    let share = integral([middle - 9.0, middle + 9.0], 10, |z| {
        let below = normal_cdf(z);
        let share = (normal_cdf(z - width) / below).min(1.0);
        // 1 − (1 − share)^(k−1) by ln_1p and exp_m1: of a small share the digits stay, which a
        // difference of powers loses.
        normal_density(z) * below.powf(others) * -(others * (-share).ln_1p()).exp_m1()
    });
    means as f64 * share
}

/// Returns the density of √(χ²/df) at 1 + u.
fn root_chi_density(u: f64, df: f64) -> f64 {
    if u <= -1.0 {
        return 0.0;
    }
    let half = 0.5 * df;
    // 1 − s² + 2·ln s
    let fall = -2.0 * excess(u, 1.0 + u) - u * u;
    (LN_2 + 0.5 * (half / (2.0 * PI)).ln() - stirling_error(half) + half * fall - u.ln_1p()).exp()
}

/// Returns the range of u that matters in an integral over the density of S = √(χ²/df) at 1 + u.
/// The other factor is a function that is 1 for q·s up to 8 at most, and falls like exp(−(q·s/2)²)
/// then.
fn root_chi_range(df: f64, q: f64) -> [f64; 2] {
    let fall = 2.0 * df + q * q;
    let mode = (2.0 * (df - 1.0).max(0.0) / fall).sqrt() - 1.0;
    let width = 12.0 / fall.sqrt();
    [(mode - width).max(-1.0), (12.0 / (2.0 * df).sqrt()).min(mode + width + 8.0 / q)]
}

/// Points from 0 to 1 and weights of the Gauss–Legendre rule with 16 points, those below 0 being
/// alike.
const LEGENDRE: [(f64, f64); 8] = [
    (0.09501250983763744, 0.1894506104550685),
    (0.2816035507792589, 0.18260341504492358),
    (0.45801677765722737, 0.16915651939500254),
    (0.6178762444026438, 0.14959598881657674),
    (0.755404408355003, 0.12462897125553388),
    (0.8656312023878318, 0.09515851168249279),
    (0.9445750230732326, 0.062253523938647894),
    (0.9894009349916499, 0.027152459411754096),
];

/// Returns the integral of a function over a range, cut into `parts` of equal width, by Gauss and
/// Legendre's points.
fn integral([low, high]: [f64; 2], parts: u32, value: impl Fn(f64) -> f64) -> f64 {
    let half = 0.5 * (high - low) / f64::from(parts);
    let sums = (0..parts).map(|part| {
        let middle = low + half * f64::from(2 * part + 1);
        let both = LEGENDRE.iter().map(|&(point, weight)| {
            weight * (value(middle - half * point) + value(middle + half * point))
        });
        both.sum::<f64>()
    });
    if half > 0.0 { half * sums.sum::<f64>() } else { 0.0 }
}

/// Returns I_x(a, b), the regularised incomplete beta function, with x and y = 1 − x as separate
/// arguments, so that rounding beside 1 spoils neither.
fn beta_share(a: f64, b: f64, x: f64, y: f64) -> f64 {
    // The fraction is fast up to x = (a + 1)/(a + b + 2), which is nearly the mean of the
    // distribution. Beyond this limit the fraction is slow, and I_x(a, b) = 1 − I_y(b, a) gives the
    // opposite tail, which is the smaller tail or nearly as small. The limit may lie close to 0 or
    // to 1, so the code compares the smaller of x and y.
    let is_high = if x < y { x > (a + 1.0) / (a + b + 2.0) } else { y < (b + 1.0) / (a + b + 2.0) };
    if x <= 0.0 {
        0.0
    } else if y <= 0.0 {
        1.0
    } else if is_high {
        1.0 - beta_density(b, a, y, x) / beta_fraction(b, a, y, x)
    } else {
        beta_density(a, b, x, y) / beta_fraction(a, b, x, y)
    }
}

/// Returns x^a · y^b / B(a, b), without large logarithms that cancel (Loader 2000, "Fast and
/// accurate computation of binomial probabilities").
fn beta_density(a: f64, b: f64, x: f64, y: f64) -> f64 {
    let all = a + b;
    let off = b * x - a * y;
    let errors = stirling_error(all) - stirling_error(a) - stirling_error(b);
    let [excess_a, excess_b] =
        [a * excess(off / a, all / a * x), b * excess(-off / b, all / b * y)];
    (a / all * b / (2.0 * PI)).sqrt() * (errors - excess_a - excess_b).exp()
}

/// Returns the continued fraction of I_x(a, b) = x^a · y^b / B(a, b) / fraction (Didonato and
/// Morris 1992, algorithm 708, BFRAC) by Lentz's method.
fn beta_fraction(a: f64, b: f64, x: f64, y: f64) -> f64 {
    /// The most steps: more than 10⁹ degrees of freedom take.
    const STEPS: u32 = 1 << 20;
    let mut fraction = replace_zero(a * (a * y - b * x + 1.0) / (a + 1.0));
    let (mut c, mut d) = (fraction, 0.0);
    for m in (1..STEPS).map(f64::from) {
        let at = a + 2.0 * m - 1.0;
        let numerator = (a + m - 1.0) / at * ((a + b + m - 1.0) / at) * m * (b - m) * x * x;
        let denominator = m
            + m * (b - m) * x / (a + 2.0 * m - 1.0)
            + (a + m) * (a * y - b * x + 1.0 + m * (1.0 + y)) / (a + 2.0 * m + 1.0);
        d = replace_zero(denominator + numerator * d).recip();
        c = replace_zero(denominator + numerator / c);
        fraction *= c * d;
        if (c * d - 1.0).abs() <= f64::EPSILON {
            break;
        }
    }
    fraction
}

/// Returns a number, or a tiny one in place of 0, as a divisor in a continued fraction.
fn replace_zero(x: f64) -> f64 {
    // Lentz's method as mended by Thompson and Barnett 1986: a denominator of 0 becomes tiny, and
    // the next factor compensates.
    if x == 0.0 { f64::MIN_POSITIVE } else { x }
}

/// Returns the error of Stirling's formula: ln Γ(x) minus (x − ½)·ln x − x + ½·ln 2π.
pub(super) fn stirling_error(x: f64) -> f64 {
    // Here the series would be too short: its first term left out is 691/360360/x¹¹, 2·10⁻¹⁴ at 10.
    if x < 10.0 {
        return libm::lgamma(x) - ((x - 0.5) * x.ln() - x + 0.5 * (2.0 * PI).ln());
    }
    let square = x * x;
    let series = [1.0 / 1188.0, -1.0 / 1680.0, 1.0 / 1260.0, -1.0 / 360.0, 1.0 / 12.0];
    series.into_iter().fold(0.0, |sum, term| sum / square + term) / x
}

/// Returns e − ln(1 + e), with e and 1 + e as separate arguments, so that rounding beside 1 spoils
/// neither.
fn excess(e: f64, one_more: f64) -> f64 {
    // Nothing cancels there. Below, |v| ≤ 1/9, and the first term left out is below 10⁻²⁰.
    if e.abs() > 0.2 {
        return e - one_more.ln();
    }
    // ln(1 + e) = 2·artanh(v), and e − 2v = e·v
    let v = e / (2.0 + e);
    let series = (1..=9).rev().fold(0.0, |sum, j| v * v * (sum + 2.0 / f64::from(2 * j + 1)));
    v * (e - series)
}

/// Returns the quantile of a distribution that is symmetric about 0, from its tail P(X ≥ x).
fn symmetric_quantile(p: f64, tail: impl Fn(f64) -> f64) -> f64 {
    match p {
        0.0 => f64::NEG_INFINITY,
        1.0 => f64::INFINITY,
        0.5 => 0.0,
        _ if p < 0.5 => -crossing(p, tail),
        _ => crossing(1.0 - p, tail),
    }
}

/// Returns the x ≥ 0 at which a tail falls to p, between 0 and its value at 0: the bracket is
/// doubled, and then cut by the method of Illinois on logarithms. NaN if p is not between 0 and 1.
fn crossing(p: f64, tail: impl Fn(f64) -> f64) -> f64 {
    if !(p > 0.0 && p < 1.0) {
        return f64::NAN;
    }
    // The logarithm of a tail is almost straight, or a parabola, where the tail itself falls over
    // hundreds of powers of ten: a line through two points of it hits near.
    let off = |x: f64| tail(x).max(f64::MIN_POSITIVE).ln() - p.ln();
    let (mut low, mut high) = ([0.0, off(0.0)], [1.0, off(1.0)]);
    while high[1] > 0.0 && high[0] < f64::MAX / 2.0 {
        low = high;
        high = [2.0 * high[0], off(2.0 * high[0])];
    }
    let mut side = 0;
    for _ in 0..200 {
        let x = (low[0] * high[1] - high[0] * low[1]) / (high[1] - low[1]);
        // If a line says nothing, the middle is taken.
        let x = if x > low[0] && x < high[0] { x } else { low[0].midpoint(high[0]) };
        let at = [x, off(x)];
        let moved = if at[1] > 0.0 { x - low[0] } else { high[0] - x };
        if at[1] == 0.0 || moved <= f64::EPSILON * x {
            return x;
        }
        if at[1] > 0.0 {
            low = at;
            // Illinois: an end that stays twice has its height halved, or the line would creep up
            // from one side for ever.
            high[1] *= if side == 1 { 0.5 } else { 1.0 };
            side = 1;
        } else {
            high = at;
            low[1] *= if side == 2 { 0.5 } else { 1.0 };
            side = 2;
        }
    }
    low[0].midpoint(high[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(found: f64, known: f64, relative: f64) {
        assert!((found - known).abs() <= relative * known.abs(), "{found:e} is not {known:e}");
    }

    /// P(T ≥ t) of degrees of freedom and t, from mpmath with 40 digits.
    const STUDENT: [(f64, f64, f64); 33] = [
        (1.0, 1e-08, 0.49999999681690116),
        (1.0, 0.5, 0.35241638234956674),
        (1.0, 2.0, 0.14758361765043326),
        (1.0, 8.0, 0.03958342416056554),
        (1.0, 40.0, 0.007956089912025814),
        (2.0, 1e-08, 0.4999999964644661),
        (2.0, 0.5, 0.3333333333333333),
        (2.0, 2.0, 0.09175170953613698),
        (2.0, 8.0, 0.007634036082669069),
        (2.0, 40.0, 0.0003122073360923703),
        (9.0, 1e-08, 0.4999999961196509),
        (9.0, 0.5, 0.31453564991301325),
        (9.0, 2.0, 0.03827641188535052),
        (9.0, 8.0, 1.1067408404700078e-05),
        (9.0, 40.0, 9.491499224669913e-12),
        (49.0, 1e-08, 0.49999999603087814),
        (49.0, 0.5, 0.30965659310506566),
        (49.0, 2.0, 0.025529574128709046),
        (49.0, 8.0, 9.552719776477728e-11),
        (49.0, 40.0, 2.2273281630139947e-39),
        (999.0, 1e-08, 0.4999999960115754),
        (999.0, 0.5, 0.3085925954651447),
        (999.0, 2.0, 0.022885308486878503),
        (999.0, 8.0, 1.714999128881798e-15),
        (999.0, 40.0, 6.213210598135712e-210),
        (1e5, 1e-08, 0.49999999601058714),
        (1e5, 0.5, 0.308538088827209),
        (1e5, 2.0, 0.022751481728753232),
        (1e5, 8.0, 6.286959938128186e-16),
        (1e7, 1e-08, 0.4999999960105773),
        (1e7, 0.5, 0.3085375442270075),
        (1e7, 2.0, 0.022750145445921476),
        (1e7, 8.0, 6.221617401403393e-16),
    ];

    #[test]
    fn tails_of_student() {
        for (df, t, known) in STUDENT {
            near(student_sf(t, df), known, 1e-12);
            near(student_sf(t, df), known, 1e-12);
            near(student_two_sided(-t, df), 2.0 * known, 1e-12);
            near(student_sf(-t, df), 1.0 - known, 1e-15);
            // Where p hardly depends on t, t has fewer digits.
            if t > 0.1 {
                near(student_quantile(known, df), -t, 1e-12);
            }
        }
        for df in [1.0, 2.0, 49.0, 1e9] {
            assert_eq!(student_sf(0.0, df), 0.5);
            assert_eq!(student_quantile(0.5, df), 0.0);
            assert_eq!(student_two_sided(f64::INFINITY, df), 0.0);
            assert_eq!(student_quantile(0.0, df), f64::NEG_INFINITY);
            assert_eq!(student_quantile(1.0, df), f64::INFINITY);
        }
        near(student_quantile(1e-30, 1.0), -1e30 / PI, 1e-12);
    }

    /// Student's t becomes normal with many degrees of freedom.
    #[test]
    fn many_degrees_of_freedom() {
        for x in [0.001, 1.0, 3.0, 10.0, 30.0] {
            near(student_sf(x, 1e14), normal_cdf(-x), 1e-8);
            near(student_sf(x, 1e17), normal_cdf(-x), 1e-11);
        }
    }

    /// From mpmath with 40 digits.
    #[test]
    fn tails_of_f() {
        for (above, below, f, known) in [
            (1.0, 1.0, 2.0, 0.3918265520306073),
            (1.0, 5.0, 0.01, 0.9242301411546604),
            (4.0, 76.0, 9.138, 4.412396113023042e-06),
            (19.0, 76.0, 55.96, 7.109003779080853e-37),
            (3.0, 7.0, 200.0, 3.8172276787440544e-07),
            (49.0, 2.0, 1.1, 0.5904231006954385),
            (999.0, 9999.0, 1.05, 0.1447110620540309),
            (999.0, 9999.0, 2.0, 1.0868365244767053e-59),
            (1e6, 49e6, 1.001, 0.24189519975553014),
            (4.0, 1e7, 20.0, 1.742090360718502e-16),
        ] {
            near(f_sf(f, above, below), known, 3e-12);
        }
        assert_eq!([f_sf(0.0, 3.0, 9.0), f_sf(f64::INFINITY, 3.0, 9.0)], [1.0, 0.0]);
    }

    /// F with one degree of freedom above is t squared.
    #[test]
    fn f_and_student() {
        for (df, t, known) in STUDENT {
            near(f_sf(t * t, 1.0, df), 2.0 * known, 1e-11);
        }
    }

    #[test]
    fn coins() {
        for (heads, throws, known) in [
            (0, 1, 0.5),
            (0, 60, 2f64.powi(-60)),
            (8, 29, 0.01205977238714695),
            (14, 29, 0.5),
            (20, 29, 0.987940227612853),
            (400, 1000, 1.3642320780330092e-10),
            (4_974_701, 10_000_000, 6.3672126464628174e-58),
            (5_000_000, 10_000_000, 0.5001261566229471),
        ] {
            near(coin_cdf(heads, throws), known, 1e-12);
        }
        assert_eq!([coin_cdf(0, 0), coin_cdf(3, 3)], [1.0, 1.0]);
    }

    #[test]
    fn normal_tails_and_quantiles() {
        for (x, known) in [
            (-37.0, 5.725571222524577e-300),
            (-10.0, 7.619853024160525e-24),
            (-3.0, 0.0013498980316300946),
            (-0.1, 0.460172162722971),
            (0.0, 0.5),
            (2.0, 0.9772498680518208),
        ] {
            near(normal_cdf(x), known, 1e-12);
            near(normal_quantile(known), x, 1e-13);
        }
        assert_eq!(
            [normal_quantile(0.0), normal_quantile(1.0)],
            [f64::NEG_INFINITY, f64::INFINITY]
        );
        for p in [-0.1, 1.1, f64::NAN] {
            assert!(normal_quantile(p).is_nan() && student_quantile(p, 3.0).is_nan());
        }
    }

    /// The range of two means is √2·|t|, with all digits of small tails.
    #[test]
    fn ranges_of_two_means() {
        for df in [1.0, 2.0, 9.0, 49.0, 199.0, 1e5, 5e7] {
            for q in [1e-3, 0.5, 2.0, 4.0, 8.0, 15.0, 30.0] {
                let known = student_two_sided(q * FRAC_1_SQRT_2, df);
                near(range_sf(q, 2, df), known, 1e-11);
            }
        }
    }

    const RANGES: [(f64, usize, f64, f64); 10] = [
        (1.0, 3, 2.0, 0.7841819907145273),
        (3.5, 3, 10.0, 0.07710331083841038),
        (2.0, 5, 8.0, 0.6363959851595717),
        (4.0, 5, 76.0, 0.04583563339504293),
        (6.0, 5, 76.0, 0.0005769917578710704),
        (3.0, 10, 19.0, 0.5352333418787543),
        (8.0, 10, 19.0, 0.0006178840787871565),
        (5.0, 50, 49.0, 0.2727706556210585),
        (2.5, 50, 980.0, 0.9999546030199364),
        (4.5, 20, 10000.0, 0.14683886795494328),
    ];

    const NONCENTRAL: [(f64, f64, f64, f64); 10] = [
        (12.706204736174694, 1.0, 0.5, 0.9563055595711302),
        (636.6, 1.0, 3.0, 0.9962394803887621),
        (4.303, 2.0, 5.0, 0.280871533596404),
        (2.2621571627409915, 9.0, 2.8, 0.2967032767312807),
        (-2.2621571627409915, 9.0, 0.5, 0.007955579504940464),
        (2.0096, 49.0, 1.3765, 0.7292021849859005),
        (1.9842169515086827, 99.0, 2.8, 0.20817277760078323),
        (1.96, 999.0, 4.0, 0.020748423650088877),
        (1.96, 1000000.0, 2.8, 0.20045428205517943),
        (-1.96, 1000000.0, 0.1, 0.019699388399060807),
    ];

    /// SciPy 1.17, whose values are exact to 1e-11 or so.
    #[test]
    fn ranges_of_many_means() {
        for (q, means, df, known) in RANGES {
            assert!((range_sf(q, means, df) - known).abs() < 1e-10, "{q} of {means}, {df}");
        }
        assert_eq!([range_sf(0.0, 5, 9.0), range_sf(f64::INFINITY, 5, 9.0)], [1.0, 0.0]);
        near(range_quantile(range_sf(4.5, 7, 33.0), 7, 33.0), 4.5, 1e-12);
    }

    /// SciPy 1.17.
    #[test]
    fn noncentral_tails() {
        for (t, df, shift, known) in NONCENTRAL {
            assert!((noncentral_t_cdf(t, df, shift) - known).abs() < 1e-10, "{t} of {df}, {shift}");
        }
        for (df, t, known) in STUDENT {
            assert!((noncentral_t_cdf(-t, df, 0.0) - known).abs() < 1e-10, "{t} of {df}");
        }
    }
}
