//! The text of a p in a sentence, such as `p = 0.0123`.

/// Returns the text of a p, such as `p = 0.0123` or `p < 0.0001`.
pub fn p_text(p: f64) -> String {
    if p < 0.0001 { "p < 0.0001".to_owned() } else { format!("p = {p:.4}") }
}
