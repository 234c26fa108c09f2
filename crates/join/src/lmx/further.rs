//! Encoding and decoding of the optional and required sections of some files.

use std::sync::Arc;

use rayon::prelude::*;

use super::fields::{Decoder, Encoder, bytes_of};
use super::sections::{decode_ids, encode_ids};
use crate::error::Result;
use crate::judged_by::JudgedBy;
use crate::matrix::code::{Codebook, Extent};
use crate::matrix::exact::{ExactColumns, ExactFacts, ExactGrades, are_grades};
use crate::matrix::facets::{FacetJudgment, FacetRows, Facets};
use crate::matrix::facts::Facts;
use crate::matrix::passages::{GoldFacts, SpanRows};
use crate::matrix::ragged::Ragged;
use crate::matrix::tied::{
    AlikeGroup, CutOff, TieCounts, TiedColumns, TiedGroup, TiedGroups, TiedIn, TiedSlices,
};
use crate::rule::{IdealOf, RankingRule, UnitRule};

pub(super) fn encode_tied(tied: &TiedGroups) -> Vec<u8> {
    let TiedSlices { ends, groups, cut } = tied.columns();
    let mut out = Encoder::default();
    for counts in tied.counts() {
        let TieCounts { documents, groups, mixed, largest } = *counts;
        [documents, groups, mixed, largest].iter().for_each(|&count| out.u64(count));
    }
    [ends.len(), groups.len(), cut.len(), tied.alike().len()]
        .iter()
        .for_each(|&count| out.u64(count as u64));
    ends.iter().for_each(|&end| out.u64(end));
    tied.rows().iter().for_each(|&row| out.u32(row));
    groups.iter().for_each(|group| out.words([group.start, group.length]));
    cut.iter().for_each(|cut| out.words([cut.row, cut.code.into(), cut.count]));
    tied.alike().iter().for_each(|of| out.words([of.row, of.group.start, of.group.length]));
    out.0
}

pub(super) fn decode_tied(
    from: &mut Decoder<'_>,
    runs: usize,
    of: TiedIn<'_>,
) -> Result<TiedGroups> {
    let counts = from.u64s(runs.saturating_mul(4))?;
    let counts = counts.as_chunks::<4>().0.iter().map(|&[documents, groups, mixed, largest]| {
        TieCounts { documents, groups, mixed, largest }
    });
    let [rows, groups, cut, alike] = [from.count()?, from.count()?, from.count()?, from.count()?];
    let (ends, rows) = (from.u64s(rows)?, from.u32_column(rows)?);
    let groups = from.u32_column(groups.saturating_mul(2))?;
    let groups =
        groups.as_chunks::<2>().0.iter().map(|&[start, length]| TiedGroup { start, length });
    let cut = from.u32_column(cut.saturating_mul(3))?;
    let cut = cut.as_chunks::<3>().0.iter().map(|&[row, code, count]| {
        let code = u8::try_from(code).map_err(|_| from.bad(format!("documents of code {code}")))?;
        Ok(CutOff { row, code, count })
    });
    let (counts, groups, cut) = (counts.collect(), groups.collect(), cut.collect::<Result<_>>()?);
    let alike = from.u32_column(alike.saturating_mul(3))?;
    let of_row =
        |&[row, start, length]: &[u32; 3]| AlikeGroup { row, group: TiedGroup { start, length } };
    let alike = alike.as_chunks::<3>().0.iter().map(of_row).collect();
    from.end()?;
    let columns = TiedColumns { counts, rows, ends, groups, cut, alike };
    TiedGroups::new(columns, of).map_err(|message| from.bad(message))
}

pub(super) fn encode_exact(exact: &ExactGrades, extent: Extent) -> Vec<u8> {
    let ExactColumns { ends, grades, counts } = exact.facts.columns();
    let (row_ends, of_rows) = exact.rows.columns();
    let mut out = Encoder::default();
    [extent.least_positive, extent.largest].iter().for_each(|grade| out.u64(grade.to_bits()));
    [grades.len(), of_rows.len()].iter().for_each(|&count| out.u64(count as u64));
    let f64s = |grades: &[f64], out: &mut Encoder| {
        grades.iter().for_each(|grade| out.u64(grade.to_bits()))
    };
    ends.iter().for_each(|&end| out.u64(end));
    f64s(grades, &mut out);
    out.bytes(&bytes_of(&counts));
    row_ends.iter().for_each(|&end| out.u64(end));
    f64s(of_rows, &mut out);
    out.0
}

pub(super) fn decode_exact(
    from: &mut Decoder<'_>,
    book: &Codebook,
    facts: &Facts,
    depths: &[u32],
) -> Result<(Codebook, ExactGrades)> {
    if book.grades() != [0.0] {
        return Err(from.bad("beside a codebook of other grades than 0".into()));
    }
    let extent = from.f64s(2)?;
    let extent = Extent { least_positive: extent[0], largest: extent[1] };
    let [distinct, judged] = [from.count()?, from.count()?];
    let ends = from.u64s(facts.len())?;
    let grades = from.f64_column(distinct)?;
    let counts = from.words(distinct)?;
    let row_ends = from.u64s(depths.len())?;
    let of_rows = from.f64_column(judged)?;
    from.end()?;
    let facts = ExactFacts::from_columns(ends, grades, counts, facts)
        .map_err(|message| from.bad(message))?;
    let rows = Ragged::from_columns(row_ends, of_rows, depths.len())
        .filter(|rows| are_grades(rows.values()))
        .ok_or_else(|| {
            from.bad("the grades of the rows are no grades, or do not fit their ends".into())
        })?;
    if let Some(row) = (0..depths.len()).find(|&row| rows.of(row).len() > depths[row] as usize) {
        let (grades, depth) = (rows.of(row).len(), depths[row]);
        return Err(from.bad(format!("row {}: {grades} exact grades of {depth} results", row + 1)));
    }
    if !(extent.largest.is_finite() && extent.covers(facts.extent().unwrap_or(Extent::NONE))) {
        return Err(from.bad("the grades are outside of their extent".into()));
    }
    Ok((Codebook::of_extent(extent), ExactGrades { facts, rows }))
}

pub(super) fn encode_groups(grouped: &FacetRows) -> Vec<u8> {
    let (ends, judgments) = grouped.of.judgments.columns();
    let (row_ends, numbers) = grouped.rows.columns();
    let mut out = Encoder::default();
    out.u32(match grouped.of.by {
        JudgedBy::Judge => 1,
        JudgedBy::Subtopic => 2,
        JudgedBy::Preference => 3,
        JudgedBy::Span => 0, // never: passages have a section of their own
    });
    [judgments.len(), numbers.len()].iter().for_each(|&count| out.u64(count as u64));
    ends.iter().for_each(|&end| out.u64(end));
    judgments.iter().for_each(|of| out.u32(of.document));
    judgments.iter().for_each(|of| out.u32(of.group));
    let queries = (0..grouped.of.judgments.len()).map(|query| grouped.of.of(query));
    queries.for_each(|query| query.with_subgroups().for_each(|(_, subgroup)| out.u32(subgroup)));
    judgments.iter().for_each(|of| out.u64(of.grade.to_bits()));
    row_ends.iter().for_each(|&end| out.u64(end));
    out.bytes(&bytes_of(numbers));
    out.bytes(&encode_ids(&grouped.of.names));
    out.0
}

pub(super) fn decode_groups(
    from: &mut Decoder<'_>,
    queries: usize,
    rows: usize,
) -> Result<FacetRows> {
    let by = match from.u32()? {
        1 => JudgedBy::Judge,
        2 => JudgedBy::Subtopic,
        3 => JudgedBy::Preference,
        other => return Err(from.bad(format!("groups of unknown kind {other}"))),
    };
    let [judgments, named] = [from.count()?, from.count()?];
    let ends = from.u64s(queries)?;
    let [documents, groups, subgroups] =
        [from.words(judgments)?, from.words(judgments)?, from.words(judgments)?];
    let grades = from.doubles(judgments)?;
    let row_ends = from.u64s(rows)?;
    let numbers = from.u32_column(named)?;
    let names = decode_ids(from)?;
    let of = |at: usize| FacetJudgment {
        document: u32::from_le_bytes(documents[at]),
        group: u32::from_le_bytes(groups[at]),
        grade: f64::from_le_bytes(grades[at]),
    };
    let judgments: Vec<FacetJudgment> = (0..judgments).into_par_iter().map(of).collect();
    let judgments = Ragged::from_columns(ends, judgments, queries);
    let numbers = Ragged::from_columns(row_ends, numbers, rows);
    let (judgments, numbers) = judgments
        .zip(numbers)
        .ok_or_else(|| from.bad("ends, judgments and documents do not fit together".into()))?;
    // Every judgment of a file has a sub-group, mostly 0: zeros alone are not copied.
    let subgroups = if subgroups.par_iter().all(|subgroup| *subgroup == [0; 4]) {
        Vec::new()
    } else {
        subgroups.iter().map(|&subgroup| u32::from_le_bytes(subgroup)).collect()
    };
    let of =
        Facets::checked(by, names, (judgments, subgroups)).map_err(|message| from.bad(message))?;
    FacetRows::checked(Arc::new(of), numbers, queries).map_err(|message| from.bad(message))
}

pub(super) fn encode_spans(spans: &SpanRows) -> Vec<u8> {
    let (ends, counts) = spans.rows.columns();
    let grades = spans.of.grades();
    let mut out = Encoder::default();
    [grades.len(), counts.len()].iter().for_each(|&count| out.u64(count as u64));
    grades.iter().for_each(|grade| out.u64(grade.to_bits()));
    spans.of.all_gold().iter().for_each(|&gold| out.u64(gold));
    ends.iter().for_each(|&end| out.u64(end));
    out.bytes(&bytes_of(counts));
    out.0
}

/// Decodes rankings of passages, and rejects judgments of documents beside them.
pub(super) fn decode_spans(
    from: &mut Decoder<'_>,
    queries: usize,
    depths: &[u32],
    alone: bool,
) -> Result<SpanRows> {
    if !alone {
        return Err(from.bad("beside judgments of documents".into()));
    }
    let [grades, counts] = [from.count()?, from.count()?];
    let distinct = from.f64s(grades)?;
    let gold = from.u64s(queries.saturating_mul(grades))?;
    let ends = from.u64s(depths.len())?;
    let counts = from.u32_column(counts)?;
    from.end()?;
    let gold = GoldFacts::new(distinct, gold).map_err(|message| from.bad(message))?;
    let rows = Ragged::from_columns(ends, counts, depths.len())
        .ok_or_else(|| from.bad("ends and numbers of positions do not fit together".into()))?;
    SpanRows::checked(Arc::new(gold), rows, depths).map_err(|message| from.bad(message))
}

/// Encodes the rule of units; `None` without such a rule.
pub(super) fn encode_units(rule: &RankingRule) -> Option<Vec<u8>> {
    let UnitRule { units, repeats, rows } = rule.units.as_deref()?;
    let mut out = Encoder::default();
    out.u32(rows.unwrap_or(0));
    [units, &repeats.to_string()].iter().for_each(|text| out.string(text.as_bytes()));
    Some(out.0)
}

pub(super) fn decode_units(from: &mut Decoder<'_>) -> Result<UnitRule> {
    let rows = Some(from.u32()?).filter(|&rows| rows > 0);
    let mut text = || {
        let bytes = from.string()?.to_vec();
        String::from_utf8(bytes).map_err(|_| from.bad("a rule is not UTF-8".into()))
    };
    let [units, named] = [text()?, text()?];
    from.end()?;
    let repeats =
        named.parse().map_err(|_| from.bad(format!("unknown way `{named}` of repeats")))?;
    let rule = UnitRule { units, repeats, rows };
    // Invariant: one matrix has one encoding. So reject an alias of the repeats rule (`max` for
    // `first`), and a section that spells out the default rule.
    if rule.repeats.to_string() != named || rule == UnitRule::default() {
        return Err(from.bad("it says nothing, or in other words than are written".into()));
    }
    Ok(rule)
}

/// Encodes the source of ideal rankings; `None` if the source is the judgments.
pub(super) fn encode_ideal(ideal: IdealOf) -> Option<Vec<u8>> {
    match ideal {
        IdealOf::Judgments => None,
        IdealOf::Retrieved => Some(bytes_of(&[1])),
    }
}

pub(super) fn decode_ideal(from: &mut Decoder<'_>) -> Result<IdealOf> {
    let of = from.u32()?;
    from.end()?;
    match of {
        1 => Ok(IdealOf::Retrieved),
        other => Err(from.bad(format!("ideal rankings of unknown kind {other}"))),
    }
}
