//! Encoding and decoding of the sections of every `.lmx` file, except the tiles.

use super::fields::{Decoder, Encoder};
use crate::error::Result;
use crate::ids::{Ids, Unmatched};
use crate::matrix::{Codebook, GradeHistograms, LabelMatrix, Packing, RunInfo, code::MAX_GRADES};
use crate::rule::{RankingRule, ScoreType, TieBreak};

impl Encoder {
    pub fn rule(&mut self, matrix: &LabelMatrix) {
        let RankingRule { ties, score, depth, drop_identical_ids, .. } = matrix.rule;
        let ties = match ties {
            TieBreak::DocnoDescending => 0,
            TieBreak::DocnoAscending => 1,
            TieBreak::Input => 2,
            TieBreak::Rank => 3,
        };
        let score = match score {
            ScoreType::F64 => 0,
            ScoreType::F32 => 1,
        };
        self.u32s(&[ties, score, depth.unwrap_or(0), drop_identical_ids.into()]);
        self.bytes(&matrix.fingerprint.to_le_bytes());
    }

    pub fn book(&mut self, book: &Codebook) {
        self.u32(book.grades().len() as u32);
        self.f64s(book.grades());
    }

    pub fn ids(&mut self, ids: &Ids) {
        let (ends, bytes) = ids.columns();
        self.u64(ids.len() as u64);
        self.u64s(ends);
        self.bytes(bytes);
    }

    pub fn facts(&mut self, facts: &GradeHistograms) {
        // Each query has a row, because only facts of a block share rows.
        let GradeHistograms { offsets, codes, counts, .. } = facts;
        self.u64(codes.len() as u64);
        self.u32s(offsets);
        self.u32s(counts);
        self.bytes(codes);
    }

    pub fn runs(&mut self, runs: &[RunInfo]) {
        self.u32(runs.len() as u32);
        for run in runs {
            self.string(&run.name);
            self.string(&run.tag);
            self.string(&run.source);
            self.u64(run.results);
            self.u64(run.ignored.count);
            // A run of a million unjudged queries must not make the file large: their number, and a
            // few for a message.
            let first = run.ignored.ids.iter().take(Unmatched::SHOWN);
            self.u32(first.len() as u32);
            first.for_each(|id| self.string(id));
        }
    }

    pub fn packing(&mut self, packing: &Packing) {
        for tile in &packing.tiles {
            self.u64(tile.offset);
            self.u32s(&[tile.depth, tile.lanes, tile.first, tile.rows]);
        }
    }
}

impl Decoder<'_> {
    pub fn rule(&mut self) -> Result<(RankingRule, u128)> {
        let ties = match self.u32()? {
            0 => TieBreak::DocnoDescending,
            1 => TieBreak::DocnoAscending,
            2 => TieBreak::Input,
            3 => TieBreak::Rank,
            other => return Err(self.bad(format!("unknown tie rule {other}"))),
        };
        let score = match self.u32()? {
            0 => ScoreType::F64,
            1 => ScoreType::F32,
            other => return Err(self.bad(format!("unknown score type {other}"))),
        };
        let depth = Some(self.u32()?).filter(|&depth| depth > 0);
        let drop_identical_ids = match self.u32()? {
            0 => false,
            1 => true,
            other => {
                return Err(self.bad(format!(
                    "unknown way {other} with documents that have the id of their query"
                )));
            }
        };
        let fingerprint = self.take(16)?.try_into().map(u128::from_le_bytes).unwrap_or_default();
        self.end()?;
        let rule = RankingRule { ties, score, depth, drop_identical_ids, ..RankingRule::default() };
        Ok((rule, fingerprint))
    }

    pub fn book(&mut self) -> Result<Codebook> {
        let count = self.u32()? as usize;
        if count > MAX_GRADES {
            return Err(self.bad(format!("{count} grades")));
        }
        let bits = self.u64s(count)?;
        self.end()?;
        match Codebook::new(bits.iter().map(|&bits| f64::from_bits(bits))) {
            // By bits: −0 equals 0, and would be another file for the same matrix.
            Ok(book) if book.grades().iter().map(|grade| grade.to_bits()).eq(bits) => Ok(book),
            _ => Err(self.bad("the grades are not finite, distinct and ascending")),
        }
    }

    pub fn ids(&mut self) -> Result<Ids> {
        let [count] = self.counts()?;
        let ends = self.u64s(count.saturating_add(1))?;
        let bytes = self.take(self.rest.len())?.to_vec();
        let ids = Ids::from_columns(ends, bytes)
            .ok_or_else(|| self.bad("the ends do not fit the ids"))?;
        if !ids.are_ascending() {
            return Err(self.bad("the ids are not distinct and ascending"));
        }
        Ok(ids)
    }

    pub fn facts(&mut self, queries: usize, codes: usize) -> Result<GradeHistograms> {
        let [entries] = self.counts()?;
        let offsets = self.u32s(queries + 1)?;
        let counts = self.u32s(entries)?;
        let entry_codes = self.take(entries)?.to_vec();
        self.end()?;
        let facts = GradeHistograms::from_columns(offsets, entry_codes, counts)
            .ok_or_else(|| self.bad("offsets, codes and counts do not fit together"))?;
        self.accept(facts.check(codes))?;
        Ok(facts)
    }

    pub fn runs(&mut self) -> Result<Vec<RunInfo>> {
        let mut runs = Vec::new();
        // No room by the count: each run takes 32 bytes at least, and a section that lacks them
        // ends the loop.
        for _ in 0..self.u32()? {
            let name = self.text()?;
            let tag = self.string()?.to_vec();
            let source = self.text()?;
            let results = self.u64()?;
            let count = self.u64()?;
            let mut ids = Ids::default();
            for _ in 0..self.u32()? {
                ids.push(self.string()?);
            }
            let ignored = Unmatched { count, ids };
            runs.push(RunInfo { name, tag, source, results, ignored, ..RunInfo::default() });
        }
        self.end()?;
        Ok(runs)
    }
}
