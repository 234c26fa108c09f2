//! A p in a sentence.

/// A p as an equation.
pub fn p_is(p: f64) -> String {
    if p < 0.0001 { "p < 0.0001".to_owned() } else { format!("p = {p:.4}") }
}
