//! The normal distribution.

use std::f64::consts::PI;

/// The chance of a standard normal variate of at most `x`.
pub fn normal_cdf(x: f64) -> f64 {
    let density = (-x * x / 2.0).exp() / (2.0 * PI).sqrt();
    if x.abs() < 5.0 {
        // 1/2 + density · (x + x³/3 + x⁵/(3 · 5) + …), Abramowitz and Stegun 26.2.11.
        let (mut term, mut sum, mut odd) = (x, x, 3.0);
        while term.abs() > f64::EPSILON * sum.abs() / 4.0 {
            term *= x * x / odd;
            sum += term;
            odd += 2.0;
        }
        0.5 + density * sum
    } else {
        // Laplace's continued fraction, 26.2.14.
        let fraction = (1..=60).rev().fold(0.0, |below, k| f64::from(k) / (x.abs() + below));
        let tail = density / (x.abs() + fraction);
        if x > 0.0 { 1.0 - tail } else { tail }
    }
}

/// The standard normal variate that is not exceeded with chance `p`.
pub fn normal_quantile(p: f64) -> f64 {
    if !(0.0 < p && p < 1.0) {
        return if p == 0.0 {
            f64::NEG_INFINITY
        } else if p == 1.0 {
            f64::INFINITY
        } else {
            f64::NAN
        };
    }
    let (mut low, mut high) = (-40.0, 40.0);
    for _ in 0..200 {
        let middle: f64 = (low + high) / 2.0;
        if normal_cdf(middle) < p { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}
