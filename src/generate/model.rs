//! The random content of each query of the synthetic data: its id, documents, judgments and
//! rankings. Each query has random numbers of its own, so queries are made in any order.
//!
//! # Without memory of other queries
//!
//! A query's random numbers follow from the seed, its index and what they are for (`RandomUse`), so
//! queries are made on any thread in any order, twice if need be (for the text and for the matrix),
//! and a run can be added without changing the judgments. Everything is an integer, since powers
//! and logarithms of f64 may differ between systems in the last bit. The one f64, the density,
//! becomes a threshold by a multiplication with a power of two, which is exact.
//!
//! # Different documents without a set of them
//!
//! ```text
//! document at position j = (first + step · j) mod prime        1 ≤ step < prime
//! ```
//!
//! Multiples of a number that a prime does not divide are all different, up to that many. So a
//! query's documents need no table and no test for repetition, and two queries hit the same
//! documents in different orders. The first run ranks position 0, 1, 2 …; so a position says how
//! high a document stands, and judgments near the top are small positions.

use super::synthetic::Synthetic;

/// The most documents that a query may retrieve, or have judged.
pub(super) const MOST_DOCUMENTS: u64 = 100_000_000;
/// The number of documents of a small collection, a prime: about as many as MS MARCO has passages.
const SMALL: u64 = 8_841_823;
/// The number of documents of a large collection: the largest prime below 2³².
const LARGE: u64 = 4_294_967_291;
/// The number of neighbouring ranks that the runs after the first shuffle.
const WINDOW: usize = 16;
/// The number of results for each result tied with the result above it, on average.
const TIES: u32 = 20;

/// The parameters of the synthetic data, with the numbers derived from the parameters.
pub(super) struct Model {
    pub(super) shape: Synthetic,
    /// The number of documents of a query that may be judged. The *position* of a document in the
    /// ranking of the first run identifies the document.
    universe: u32,
    /// The number of documents of the collection.
    documents: u64,
    /// The first query id and the distance between ids. All ids have the same number of digits.
    ids: (u64, u64),
    /// Σ 1 / (rank + 8) over all ranks, in millionths.
    harmonic: u64,
}

/// A judged document of a synthetic query, with its grade.
#[derive(Debug, Clone, Copy)]
pub(super) struct ModelJudgment {
    pub(super) position: u32,
    pub(super) document: u64,
    pub(super) grade: u8,
}

/// A retrieved document of a synthetic ranking, with its score in millionths.
#[derive(Debug, Clone, Copy)]
pub(super) struct ModelResult {
    pub(super) position: u32,
    pub(super) score: u32,
}

/// The documents of a synthetic query: a different document number for each position.
#[derive(Debug, Clone, Copy)]
pub(super) struct ModelDocuments {
    first: u64,
    step: u64,
    modulus: u64,
}

impl ModelDocuments {
    /// Returns the document number at a position of the synthetic query.
    #[inline]
    pub(super) fn at(self, position: u32) -> u64 {
        (self.first + self.step * u64::from(position)) % self.modulus
    }
}

/// Memory for the judgments and rankings of a synthetic query, reused from query to query.
#[derive(Default)]
pub(super) struct ModelScratch {
    /// One bit a position, set if the position is judged.
    taken: Vec<u64>,
    pub(super) judgments: Vec<ModelJudgment>,
    pub(super) places: Vec<ModelResult>,
}

impl ModelScratch {
    /// Adds a judgment for the document at a position, unless the document is judged already.
    /// Returns the number of new judgments, 0 or 1.
    #[inline]
    fn judge(&mut self, documents: ModelDocuments, position: u32, grade: u8) -> usize {
        let (word, bit) = (&mut self.taken[position as usize / 64], 1 << (position % 64));
        if *word & bit != 0 {
            return 0;
        }
        *word |= bit;
        self.judgments.push(ModelJudgment { position, document: documents.at(position), grade });
        1
    }
}

impl Model {
    pub(super) fn new(shape: Synthetic) -> Self {
        // Runs retrieve documents down to twice the depth at most, so the universe also has judged
        // documents that no run finds.
        let universe = (u64::from(shape.depth) * 5).max(u64::from(shape.judged) * 4) as u32;
        // `first` exceeds the number of queries, so each query has a stretch of nine ids or more.
        let first = 10_u64.pow(6.max(u64::from(shape.queries).ilog10() + 1));
        Self {
            shape,
            universe,
            documents: if u64::from(universe) <= SMALL { SMALL } else { LARGE },
            ids: (first, 9 * first / u64::from(shape.queries)),
            harmonic: (1..=u64::from(shape.depth))
                .map(|rank| 1_000_000 / (rank + 8))
                .sum::<u64>()
                .max(1),
        }
    }

    /// Returns the id of a synthetic query by its index. The ids of the queries ascend, as numbers
    /// and as text.
    pub(super) fn id(&self, query: u32) -> u64 {
        let (first, step) = self.ids;
        // Each query draws from a stretch of `step` numbers of its own, so ids ascend whatever is
        // drawn. The stretches lie between `first`, a power of ten, and ten times that, so all ids
        // have the same number of digits.
        first + u64::from(query) * step + self.random(query, RandomUse::Query).below(step)
    }

    pub(super) fn documents(&self, query: u32) -> ModelDocuments {
        let mut random = self.random(query, RandomUse::Documents);
        let modulus = self.documents;
        ModelDocuments {
            first: random.below(modulus),
            step: 1 + random.below(modulus - 1),
            modulus,
        }
    }

    /// Returns the number of document positions of a query that the synthetic runs together may
    /// retrieve.
    pub(super) fn retrieved(&self) -> u32 {
        self.shape.depth * if self.shape.runs > 1 { 2 } else { 1 }
    }

    /// Makes the judgments of a synthetic query, in the order of document numbers.
    pub(super) fn judge(&self, query: u32, scratch: &mut ModelScratch) {
        let (documents, mut random) =
            (self.documents(query), self.random(query, RandomUse::Judgments));
        scratch.taken.resize((self.universe as usize).div_ceil(64), 0);
        scratch.judgments.clear();
        let mut judged = 0;
        if let Some(density) = self.shape.density {
            // The upper half of a word decides whether, the lower half which grade: one word a
            // position.
            let threshold = (density * 2f64.powi(32)) as u64;
            for position in 0..self.retrieved() {
                let drawn = random.next();
                if drawn >> 32 < threshold {
                    judged += scratch.judge(documents, position, self.relevant(drawn));
                }
            }
        }
        while judged < self.shape.judged as usize {
            let position = self.near_the_top(&mut random);
            let grade = if self.shape.density.is_some() { 0 } else { self.grade(random.next()) };
            // If the document is judged already, try a random document of the whole universe. At
            // most a quarter of the universe is judged, so the second try mostly succeeds.
            judged += match scratch.judge(documents, position, grade) {
                0 => scratch.judge(documents, random.below(self.universe.into()) as u32, grade),
                new => new,
            };
        }
        let ModelScratch { taken, judgments, .. } = scratch;
        // Clear only marked words, because clearing a large universe would take longer than
        // judging.
        judgments.iter().for_each(|judgment| taken[judgment.position as usize / 64] = 0);
        // Without a relevant document, most measures of the query would be 0.
        if self.shape.density.is_none() && judgments.iter().all(|judgment| judgment.grade == 0) {
            judgments[0].grade = 1;
        }
        judgments.sort_unstable_by_key(|judgment| judgment.document);
    }

    /// Draws a random document position, near the top more often: the logarithm is roughly even.
    fn near_the_top(&self, random: &mut Random) -> u32 {
        loop {
            // Draw an octave [2ᵏ − 1, 2ᵏ⁺¹ − 1) evenly, then a position in the octave evenly: the
            // chance of a position halves from octave to octave. The last octave may reach beyond
            // the universe, so a position beyond is drawn again.
            let octave = 1 << random.below(u64::from(self.universe.ilog2()) + 1);
            let position = octave - 1 + random.below(octave);
            if position < u64::from(self.universe) {
                return position as u32;
            }
        }
    }

    /// Turns a random number into a grade of a judgment: 35 % are not relevant.
    fn grade(&self, drawn: u64) -> u8 {
        if (drawn >> 32) * 100 < 35 << 32 { 0 } else { self.relevant(drawn) }
    }

    /// Turns a random number into a relevant grade: each grade is half as frequent as the next
    /// lower grade.
    fn relevant(&self, drawn: u64) -> u8 {
        (1 + (drawn as u32).trailing_zeros() as u8).min(self.shape.grades - 1)
    }

    /// Makes the ranking of a synthetic query in a run, with scores.
    pub(super) fn rank(&self, query: u32, run: u16, places: &mut Vec<ModelResult>) {
        let mut random = self.random(query, RandomUse::Run(run));
        places.clear();
        let (top, mut score) =
            (12_000_000 + random.below(20_000_000), 8_000_000 + random.below(4_000_000));
        score += top;
        let scale = top * 1_000_000 / self.harmonic;
        for position in 0..self.shape.depth {
            let drawn = random.next();
            if drawn as u32 >= u32::MAX / TIES {
                // From 0 to twice the mean gap, scale/(position + 9). `scale` makes the mean gaps
                // of all ranks add up to `top`. Like real retrieval scores, the scores fall steeply
                // at the top and slowly below.
                let gap = (scale.saturating_mul(drawn >> 32) >> 31) / u64::from(position + 9);
                score = score.saturating_sub(1 + gap);
            }
            places.push(ModelResult { position, score: score as u32 });
        }
        if run > 0 {
            self.perturb(&mut random, places);
        }
    }

    /// Shuffles neighbouring ranks of a synthetic ranking, and replaces some documents with new
    /// documents.
    fn perturb(&self, random: &mut Random, places: &mut [ModelResult]) {
        for window in places.chunks_mut(WINDOW) {
            for at in (1..window.len()).rev() {
                let other = random.below(at as u64 + 1) as usize;
                let position = window[at].position;
                window[at].position = std::mem::replace(&mut window[other].position, position);
            }
            for place in window {
                // Adding `depth` leads to a position that the first run does not have, and to
                // another one for each document.
                if random.below(8) == 0 {
                    place.position += self.shape.depth;
                }
            }
        }
    }

    fn random(&self, query: u32, stream: RandomUse) -> Random {
        let stream = match stream {
            RandomUse::Query => 0,
            RandomUse::Documents => 1,
            RandomUse::Judgments => 2,
            RandomUse::Run(run) => 3 + u64::from(run),
        };
        let mut random = Random(self.shape.seed);
        for part in [u64::from(query), stream] {
            // Each part is spread over 64 bits and mixed once more, so that neighbouring queries
            // and streams have nothing in common.
            random = Random(random.next() ^ part.wrapping_mul(0xd6e8_feb8_6659_fd93));
        }
        Random(random.next())
    }
}

/// The purposes of random numbers in a synthetic query, each with numbers of its own.
enum RandomUse {
    Query,
    Documents,
    Judgments,
    Run(u16),
}

/// The random number generator of the synthetic data: SplitMix64 (Steele, Lea, Flood 2014).
struct Random(u64);

impl Random {
    #[inline]
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Returns a random whole number below `n`.
    #[inline]
    fn below(&mut self, n: u64) -> u64 {
        // A product and no remainder: uneven by at most n/2⁶⁴.
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_ascend_as_text() {
        for queries in [1, 9, 6980, 1_000_000] {
            let model = Model::new(Synthetic { queries, ..Synthetic::default() });
            let ids = (0..queries)
                .step_by(1 + queries as usize / 100)
                .map(|query| model.id(query).to_string());
            assert!(ids.is_sorted_by(|a, b| a < b && a.len() == b.len()), "{queries}");
        }
    }

    #[test]
    fn documents_are_different_and_judged_once() {
        for density in [None, Some(0.5)] {
            let shape =
                Synthetic { depth: 200, judged: 150, runs: 3, density, ..Synthetic::default() };
            let (model, mut scratch) = (Model::new(shape), ModelScratch::default());
            for query in 0..50 {
                model.judge(query, &mut scratch);
                let judged = &scratch.judgments;
                assert!(judged.is_sorted_by(|a, b| a.document < b.document));
                assert!(judged.len() == 150 || density.is_some() && judged.len() > 150);
                for run in 0..3 {
                    model.rank(query, run, &mut scratch.places);
                    let mut positions: Vec<_> =
                        scratch.places.iter().map(|place| place.position).collect();
                    assert!(
                        scratch.places.is_sorted_by_key(|place| std::cmp::Reverse(place.score))
                    );
                    assert_eq!(positions.len(), 200);
                    positions.sort_unstable();
                    assert!(positions.is_sorted_by(|a, b| a < b));
                }
            }
        }
    }

    #[test]
    fn one_score_in_twenty_is_tied() {
        let (model, mut places) = (Model::new(Synthetic::default()), Vec::new());
        let tied = (0..100).map(|query| {
            model.rank(query, 0, &mut places);
            places.windows(2).filter(|pair| pair[0].score == pair[1].score).count()
        });
        let tied = tied.sum::<usize>();
        assert!((4500..5500).contains(&tied), "{tied} of 100,000");
    }
}
