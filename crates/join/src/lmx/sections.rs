//! Encoding and decoding of the sections of every `.lmx` file, except the tiles.

use super::fields::{Decoder, Encoder};
use crate::{
    error::Result,
    ids::{Ids, Unmatched},
    matrix::{
        code::{Codebook, MAX_GRADES},
        histograms::GradeHistograms,
        label_matrix::{LabelMatrix, RunInfo},
        tile::Packing,
    },
    rule::{RankingRule, ScoreType, TieBreak},
};

pub(super) fn encode_rule(matrix: &LabelMatrix) -> Vec<u8> {
    let mut out = Encoder::default();
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
    out.u32s(&[ties, score, depth.unwrap_or(0), drop_identical_ids.into()]);
    out.bytes(&matrix.fingerprint.to_le_bytes());
    out.0
}

pub(super) fn decode_rule(from: &mut Decoder<'_>) -> Result<(RankingRule, u128)> {
    let ties = match from.u32()? {
        0 => TieBreak::DocnoDescending,
        1 => TieBreak::DocnoAscending,
        2 => TieBreak::Input,
        3 => TieBreak::Rank,
        other => return Err(from.bad(format!("unknown tie rule {other}"))),
    };
    let score = match from.u32()? {
        0 => ScoreType::F64,
        1 => ScoreType::F32,
        other => return Err(from.bad(format!("unknown score type {other}"))),
    };
    let depth = Some(from.u32()?).filter(|&depth| depth > 0);
    let drop_identical_ids = match from.u32()? {
        0 => false,
        1 => true,
        other => {
            return Err(from.bad(format!(
                "unknown way {other} with documents that have the id of their query"
            )));
        }
    };
    let fingerprint = from.take(16)?.try_into().map(u128::from_le_bytes).unwrap_or_default();
    from.end()?;
    Ok((RankingRule { ties, score, depth, drop_identical_ids, units: None }, fingerprint))
}

pub(super) fn encode_book(book: &Codebook) -> Vec<u8> {
    let mut out = Encoder::default();
    out.u32(book.grades().len() as u32);
    out.f64s(book.grades());
    out.0
}

pub(super) fn decode_book(from: &mut Decoder<'_>) -> Result<Codebook> {
    let count = from.u32()? as usize;
    if count > MAX_GRADES {
        return Err(from.bad(format!("{count} grades")));
    }
    let bits = from.u64s(count)?;
    from.end()?;
    match Codebook::new(bits.iter().map(|&bits| f64::from_bits(bits))) {
        // By bits: −0 equals 0, and would be another file for the same matrix.
        Ok(book) if book.grades().iter().map(|grade| grade.to_bits()).eq(bits) => Ok(book),
        _ => Err(from.bad("the grades are not finite, distinct and ascending")),
    }
}

pub(super) fn encode_ids(ids: &Ids) -> Vec<u8> {
    let (ends, bytes) = ids.columns();
    let mut out = Encoder::default();
    out.u64(ids.len() as u64);
    out.u64s(ends);
    out.bytes(bytes);
    out.0
}

pub(super) fn decode_ids(from: &mut Decoder<'_>) -> Result<Ids> {
    let [count] = from.counts()?;
    let ends = from.u64s(count.saturating_add(1))?;
    let bytes = from.take(from.rest.len())?.to_vec();
    let ids =
        Ids::from_columns(ends, bytes).ok_or_else(|| from.bad("the ends do not fit the ids"))?;
    if !ids.are_ascending() {
        return Err(from.bad("the ids are not distinct and ascending"));
    }
    Ok(ids)
}

pub(super) fn encode_facts(facts: &GradeHistograms) -> Vec<u8> {
    // Each query has a row, because only facts of a block share rows.
    let GradeHistograms { offsets, codes, counts, .. } = facts;
    let mut out = Encoder::default();
    out.u64(codes.len() as u64);
    out.u32s(offsets);
    out.u32s(counts);
    out.bytes(codes);
    out.0
}

pub(super) fn decode_facts(
    from: &mut Decoder<'_>,
    queries: usize,
    codes: usize,
) -> Result<GradeHistograms> {
    let [entries] = from.counts()?;
    let offsets = from.u32s(queries + 1)?;
    let counts = from.u32s(entries)?;
    let entry_codes = from.take(entries)?.to_vec();
    from.end()?;
    let facts = GradeHistograms::from_columns(offsets, entry_codes, counts)
        .ok_or_else(|| from.bad("offsets, codes and counts do not fit together"))?;
    from.accept(facts.check(codes))?;
    Ok(facts)
}

pub(super) fn encode_runs(runs: &[RunInfo]) -> Vec<u8> {
    let mut out = Encoder::default();
    out.u32(runs.len() as u32);
    for run in runs {
        out.string(&run.name);
        out.string(&run.tag);
        out.string(&run.source);
        out.u64(run.results);
        out.u64(run.ignored.count);
        // A run of a million unjudged queries must not make the file large: their number, and a few
        // for a message.
        let first = run.ignored.ids.iter().take(Unmatched::SHOWN);
        out.u32(first.len() as u32);
        first.for_each(|id| out.string(id));
    }
    out.0
}

pub(super) fn decode_runs(from: &mut Decoder<'_>) -> Result<Vec<RunInfo>> {
    let mut runs = Vec::new();
    // No room by the count: each run takes 32 bytes at least, and a section that lacks them ends
    // the loop.
    for _ in 0..from.u32()? {
        let name = from.text()?;
        let tag = from.string()?.to_vec();
        let source = from.text()?;
        let results = from.u64()?;
        let count = from.u64()?;
        let mut ids = Ids::default();
        for _ in 0..from.u32()? {
            ids.push(from.string()?);
        }
        let ignored = Unmatched { count, ids };
        runs.push(RunInfo { name, tag, source, results, ignored, ..RunInfo::default() });
    }
    from.end()?;
    Ok(runs)
}

pub(super) fn encode_packing(packing: &Packing) -> Vec<u8> {
    let mut out = Encoder::default();
    for tile in &packing.tiles {
        out.u64(tile.offset);
        out.u32s(&[tile.depth, tile.lanes, tile.first, tile.rows]);
    }
    out.0
}
