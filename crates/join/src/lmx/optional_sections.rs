//! Encoding and decoding of the sections that only some `.lmx` files have: ties, exact grades,
//! facets, units, spans.

use std::sync::Arc;

use rayon::prelude::*;

use super::{
    fields::{Decoder, Encoder},
    sections::{decode_ids, encode_ids},
};
use crate::{
    error::Result,
    judged_by::FacetKind,
    matrix::{
        code::{Codebook, GradeRange},
        exact::{ExactGrades, ExactHistograms, are_grades},
        facets::{FacetJudgment, FacetRows, Facets},
        histograms::GradeHistograms,
        passages::{GoldCounts, SpanRows},
        ragged::Ragged,
        ties::{CutTieCount, MatrixTies, SameGradeTie, Tie, TieColumns, TieContext, TieCounts},
    },
    rule::{AppliedAggregation, IdealSource, RankingRule},
};

pub(super) fn encode_tied(tied: &MatrixTies) -> Vec<u8> {
    let TieColumns { ends, groups, cut, .. } = &tied.columns;
    let mut out = Encoder::default();
    for counts in tied.counts() {
        let TieCounts { documents, groups, mixed, largest } = *counts;
        out.u64s(&[documents, groups, mixed, largest]);
    }
    out.counts([ends.len(), groups.len(), cut.len(), tied.same_grade().len()]);
    out.u64s(ends);
    out.u32s(tied.rows());
    groups.iter().for_each(|group| out.u32s(&[group.start, group.length]));
    cut.iter().for_each(|cut| out.u32s(&[cut.row, cut.code.into(), cut.count]));
    tied.same_grade()
        .iter()
        .for_each(|tie| out.u32s(&[tie.row, tie.group.start, tie.group.length]));
    out.0
}

pub(super) fn decode_tied(
    from: &mut Decoder<'_>,
    runs: usize,
    context: TieContext<'_>,
) -> Result<MatrixTies> {
    let counts = from.u64s(runs.saturating_mul(4))?;
    let counts = counts.as_chunks::<4>().0.iter().map(|&[documents, groups, mixed, largest]| {
        TieCounts { documents, groups, mixed, largest }
    });
    let counts = counts.collect();
    let [rows, groups, cut, alike] = from.counts()?;
    let (ends, rows) = (from.u64s(rows)?, from.u32s(rows)?);
    let groups = from.groups(groups)?.map(|[start, length]| Tie { start, length }).collect();
    let cut = from.groups(cut)?.map(|[row, code, count]| {
        let code = u8::try_from(code).map_err(|_| from.bad(format!("documents of code {code}")))?;
        Ok(CutTieCount { row, code, count })
    });
    let cut = cut.collect::<Result<_>>()?;
    let alike = from.groups(alike)?;
    let alike =
        alike.map(|[row, start, length]| SameGradeTie { row, group: Tie { start, length } });
    let alike = alike.collect();
    from.end()?;
    let columns = TieColumns { counts, rows, ends, groups, cut, alike };
    from.accept(MatrixTies::new(columns, context))
}

pub(super) fn encode_exact(exact: &ExactGrades, extent: GradeRange) -> Vec<u8> {
    let (ends, grades) = exact.facts.columns();
    let (row_ends, of_rows) = exact.rows.columns();
    let mut out = Encoder::default();
    out.f64s(&[extent.least_positive, extent.largest]);
    out.counts([grades.len(), of_rows.len()]);
    out.u64s(ends);
    out.f64s(grades);
    out.u32s(&exact.facts.counts());
    out.u64s(row_ends);
    out.f64s(of_rows);
    out.0
}

pub(super) fn decode_exact(
    from: &mut Decoder<'_>,
    book: &Codebook,
    facts: &GradeHistograms,
    depths: &[u32],
) -> Result<(Codebook, ExactGrades)> {
    if book.grades() != [0.0] {
        return Err(from.bad("beside a codebook of other grades than 0"));
    }
    let extent = from.f64s(2)?;
    let extent = GradeRange { least_positive: extent[0], largest: extent[1] };
    let [distinct, judged] = from.counts()?;
    let ends = from.u64s(facts.len())?;
    let grades = from.f64_column(distinct)?;
    let counts = from.words(distinct)?;
    let row_ends = from.u64s(depths.len())?;
    let of_rows = from.f64_column(judged)?;
    from.end()?;
    let facts = from.accept(ExactHistograms::from_columns(ends, grades, counts, facts))?;
    let rows = Ragged::from_columns(row_ends, of_rows, depths.len())
        .filter(|rows| are_grades(rows.values()))
        .ok_or_else(|| {
            from.bad("the grades of the rows are no grades, or do not fit their ends")
        })?;
    if let Some(row) = (0..depths.len()).find(|&row| rows.row(row).len() > depths[row] as usize) {
        let (grades, depth) = (rows.row(row).len(), depths[row]);
        return Err(from.bad(format!("row {}: {grades} exact grades of {depth} results", row + 1)));
    }
    if !(extent.largest.is_finite() && extent.covers(facts.extent().unwrap_or(GradeRange::NONE))) {
        return Err(from.bad("the grades are outside of their extent"));
    }
    Ok((Codebook::single_class(extent), ExactGrades { facts, rows }))
}

pub(super) fn encode_groups(grouped: &FacetRows) -> Vec<u8> {
    let (ends, judgments) = grouped.facets.judgments.columns();
    let (row_ends, numbers) = grouped.rows.columns();
    let mut out = Encoder::default();
    out.u32(match grouped.facets.by {
        FacetKind::Judge => 1,
        FacetKind::Subtopic => 2,
        FacetKind::Preference => 3,
        FacetKind::Span => 0, // never: passages have a section of their own
    });
    out.counts([judgments.len(), numbers.len()]);
    out.u64s(ends);
    judgments.iter().for_each(|judgment| out.u32(judgment.document));
    judgments.iter().for_each(|judgment| out.u32(judgment.group));
    let queries = (0..grouped.facets.judgments.len()).map(|query| grouped.facets.get(query));
    queries.for_each(|query| query.with_subgroups().for_each(|(_, subgroup)| out.u32(subgroup)));
    judgments.iter().for_each(|judgment| out.u64(judgment.grade.to_bits()));
    out.u64s(row_ends);
    out.u32s(numbers);
    out.bytes(&encode_ids(&grouped.facets.names));
    out.0
}

pub(super) fn decode_groups(
    from: &mut Decoder<'_>,
    queries: usize,
    rows: usize,
) -> Result<FacetRows> {
    let by = match from.u32()? {
        1 => FacetKind::Judge,
        2 => FacetKind::Subtopic,
        3 => FacetKind::Preference,
        other => return Err(from.bad(format!("groups of unknown kind {other}"))),
    };
    let [judgments, named] = from.counts()?;
    let ends = from.u64s(queries)?;
    let [documents, groups, subgroups] =
        [from.words(judgments)?, from.words(judgments)?, from.words(judgments)?];
    let grades = from.words(judgments)?;
    let row_ends = from.u64s(rows)?;
    let numbers = from.u32s(named)?;
    let names = decode_ids(from)?;
    let judgments = (0..judgments).into_par_iter().map(|at| FacetJudgment {
        document: u32::from_le_bytes(documents[at]),
        group: u32::from_le_bytes(groups[at]),
        grade: f64::from_le_bytes(grades[at]),
    });
    let judgments = Ragged::from_columns(ends, judgments.collect::<Vec<_>>(), queries);
    let (judgments, numbers) = judgments
        .zip(Ragged::from_columns(row_ends, numbers, rows))
        .ok_or_else(|| from.bad("ends, judgments and documents do not fit together"))?;
    // Every judgment of a file has a sub-group, mostly 0: zeros alone are not copied.
    let subgroups = if subgroups.par_iter().all(|subgroup| *subgroup == [0; 4]) {
        Vec::new()
    } else {
        subgroups.iter().map(|&subgroup| u32::from_le_bytes(subgroup)).collect()
    };
    let facets = from.accept(Facets::checked(by, names, judgments, subgroups))?;
    from.accept(FacetRows::checked(Arc::new(facets), numbers, queries))
}

pub(super) fn encode_spans(spans: &SpanRows) -> Vec<u8> {
    let (ends, counts) = spans.rows.columns();
    let grades = spans.gold_counts.grades();
    let mut out = Encoder::default();
    out.counts([grades.len(), counts.len()]);
    out.f64s(grades);
    out.u64s(&spans.gold_counts.gold);
    out.u64s(ends);
    out.u32s(counts);
    out.0
}

/// Decodes the `.lmx` section of rankings of passages, and rejects judgments of documents beside
/// it.
pub(super) fn decode_spans(
    from: &mut Decoder<'_>,
    queries: usize,
    depths: &[u32],
    alone: bool,
) -> Result<SpanRows> {
    if !alone {
        return Err(from.bad("beside judgments of documents"));
    }
    let [grades, counts] = from.counts()?;
    let distinct = from.f64s(grades)?;
    let gold = from.u64s(queries.saturating_mul(grades))?;
    let ends = from.u64s(depths.len())?;
    let counts = from.u32s(counts)?;
    from.end()?;
    let gold = from.accept(GoldCounts::new(distinct, gold))?;
    let rows = Ragged::from_columns(ends, counts, depths.len())
        .ok_or_else(|| from.bad("ends and numbers of positions do not fit together"))?;
    from.accept(SpanRows::checked(Arc::new(gold), rows, depths))
}

/// Encodes, for a `.lmx` file, the rule that merged results into units (documents of chunks);
/// `None` without such a rule.
pub(super) fn encode_units(rule: &RankingRule) -> Option<Vec<u8>> {
    let AppliedAggregation { units, repeats, rows } = rule.units.as_deref()?;
    let mut out = Encoder::default();
    out.u32(rows.unwrap_or(0));
    out.string(units);
    out.string(repeats.to_string());
    Some(out.0)
}

pub(super) fn decode_units(from: &mut Decoder<'_>) -> Result<AppliedAggregation> {
    let rows = Some(from.u32()?).filter(|&rows| rows > 0);
    let (units, named) = (decode_text(from)?, decode_text(from)?);
    from.end()?;
    let repeats =
        named.parse().map_err(|_| from.bad(format!("unknown way `{named}` of repeats")))?;
    let rule = AppliedAggregation { units, repeats, rows };
    // Invariant: one matrix has one encoding. So reject an alias of the repeats rule (`max` for
    // `first`), and a section that spells out the default rule.
    if rule.repeats.to_string() != named || rule == AppliedAggregation::default() {
        return Err(from.bad("it says nothing, or in other words than are written"));
    }
    Ok(rule)
}

/// Decodes a text of the rule that merged results into units, and rejects a text that is not UTF-8.
fn decode_text(from: &mut Decoder<'_>) -> Result<String> {
    let bytes = from.string()?.to_vec();
    String::from_utf8(bytes).map_err(|_| from.bad("a rule is not UTF-8"))
}

pub(super) fn decode_ideal(from: &mut Decoder<'_>) -> Result<IdealSource> {
    let kind = from.u32()?;
    from.end()?;
    match kind {
        1 => Ok(IdealSource::Retrieved),
        other => Err(from.bad(format!("ideal rankings of unknown kind {other}"))),
    }
}
