//! The WGSL shaders that are written by hand, in `shaders/`: what all share, the folds, the
//! judged-only view and the sums over rows.

/// Integers of 64 bits made of two words, which every device has.
const PAIRS: &str = include_str!("../../../shaders/integers.wgsl");

/// The functions of [`PAIRS`] with native integers of 64 bits.
const NATIVE: &str = include_str!("../../../shaders/integers64.wgsl");

/// Returns a WGSL shader with native integers of 64 bits in place of pairs of words.
pub fn with_native_integers(source: &str) -> String {
    source.replacen(PAIRS, NATIVE, 1)
}

/// The common part of all shaders over tiles.
pub const COMMON: &str = concat!(
    include_str!("../../../shaders/integers.wgsl"),
    "\n",
    include_str!("../../../shaders/common.wgsl")
);

/// The shader of sums over rows.
pub const REDUCE: &str = concat!(
    include_str!("../../../shaders/integers.wgsl"),
    "\n",
    include_str!("../../../shaders/reduce.wgsl")
);

/// The main loop of a kernel.
pub const MAIN: &str = include_str!("../../../shaders/main.wgsl");

/// The shader of the judged-only view.
pub const JUDGED: &str = include_str!("../../../shaders/judged.wgsl");

/// The shaders of the folds, by the stem of their file.
pub const FOLDS: [(&str, &str); 10] = [
    ("cascade", include_str!("../../../shaders/cascade.wgsl")),
    ("count", include_str!("../../../shaders/count.wgsl")),
    ("first_rank", include_str!("../../../shaders/first_rank.wgsl")),
    ("histogram", include_str!("../../../shaders/histogram.wgsl")),
    ("inferred_sum", include_str!("../../../shaders/inferred_sum.wgsl")),
    ("pair_sum", include_str!("../../../shaders/pair_sum.wgsl")),
    ("peak_precision", include_str!("../../../shaders/peak_precision.wgsl")),
    ("precision_sum", include_str!("../../../shaders/precision_sum.wgsl")),
    ("preference_sum", include_str!("../../../shaders/preference_sum.wgsl")),
    ("weighted_sum", include_str!("../../../shaders/weighted_sum.wgsl")),
];
