//! Numbers that look random, the same every time.

pub struct Random(pub u64);

impl Random {
    /// Returns a number from 0 up to, and without, `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}
