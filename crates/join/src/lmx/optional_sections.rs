//! Encoding and decoding of the sections that only some `.lmx` files have: ties, exact grades,
//! facets, units, spans.

use std::sync::Arc;

use rayon::prelude::*;

use super::fields::{Decoder, Encoder};
use crate::error::Result;
use crate::judged_by::FacetKind;
use crate::matrix::{
    Codebook, CutTieCount, ExactGrades, ExactHistograms, FacetJudgment, FacetRows, Facets,
    GoldCounts, GradeHistograms, MatrixTies, Ragged, SameGradeTie, SpanRows, Tie, TieCounts,
    code::GradeRange,
    exact::are_grades,
    ties::{TieColumns, TieContext},
};
use crate::rule::{AppliedAggregation, IdealSource};

impl Encoder {
    pub fn tied(&mut self, tied: &MatrixTies) {
        let TieColumns { ends, groups, cut, .. } = &tied.columns;
        for counts in tied.counts() {
            let TieCounts { documents, groups, mixed, largest } = *counts;
            self.u64s(&[documents, groups, mixed, largest]);
        }
        self.counts([ends.len(), groups.len(), cut.len(), tied.same_grade().len()]);
        self.u64s(ends);
        self.u32s(tied.rows());
        groups.iter().for_each(|group| self.u32s(&[group.start, group.length]));
        cut.iter().for_each(|cut| self.u32s(&[cut.row, cut.code.into(), cut.count]));
        tied.same_grade()
            .iter()
            .for_each(|tie| self.u32s(&[tie.row, tie.group.start, tie.group.length]));
    }

    pub fn exact(&mut self, exact: &ExactGrades, extent: GradeRange) {
        let (ends, grades) = exact.facts.columns();
        let (row_ends, of_rows) = exact.rows.columns();
        self.f64s(&[extent.least_positive, extent.largest]);
        self.counts([grades.len(), of_rows.len()]);
        self.u64s(ends);
        self.f64s(grades);
        self.u32s(&exact.facts.counts());
        self.u64s(row_ends);
        self.f64s(of_rows);
    }

    pub fn facets(&mut self, grouped: &FacetRows) {
        let (ends, judgments) = grouped.facets.judgments.columns();
        let (row_ends, numbers) = grouped.rows.columns();
        self.u32(match grouped.facets.by {
            FacetKind::Judge => 1,
            FacetKind::Subtopic => 2,
            FacetKind::Preference => 3,
            FacetKind::Span => 0, // never: passages have a section of their own
        });
        self.counts([judgments.len(), numbers.len()]);
        self.u64s(ends);
        judgments.iter().for_each(|judgment| self.u32(judgment.document));
        judgments.iter().for_each(|judgment| self.u32(judgment.group));
        let queries = (0..grouped.facets.judgments.len()).map(|query| grouped.facets.get(query));
        queries
            .for_each(|query| query.with_subgroups().for_each(|(_, subgroup)| self.u32(subgroup)));
        judgments.iter().for_each(|judgment| self.u64(judgment.grade.to_bits()));
        self.u64s(row_ends);
        self.u32s(numbers);
        self.ids(&grouped.facets.names);
    }

    pub fn spans(&mut self, spans: &SpanRows) {
        let (ends, counts) = spans.rows.columns();
        let grades = spans.gold_counts.grades();
        self.counts([grades.len(), counts.len()]);
        self.f64s(grades);
        self.u64s(&spans.gold_counts.gold);
        self.u64s(ends);
        self.u32s(counts);
    }

    /// Encodes the rule that merged results into units (documents of chunks).
    pub fn units(&mut self, rule: &AppliedAggregation) {
        let AppliedAggregation { units, repeats, rows } = rule;
        self.u32(rows.unwrap_or(0));
        self.string(units);
        self.string(repeats.to_string());
    }
}

impl Decoder<'_> {
    pub fn tied(&mut self, runs: usize, context: TieContext<'_>) -> Result<MatrixTies> {
        let counts = self.u64s(runs.saturating_mul(4))?;
        let counts =
            counts.as_chunks::<4>().0.iter().map(|&[documents, groups, mixed, largest]| {
                TieCounts { documents, groups, mixed, largest }
            });
        let counts = counts.collect();
        let [rows, groups, cut, alike] = self.counts()?;
        let (ends, rows) = (self.u64s(rows)?, self.u32s(rows)?);
        let groups = self.groups(groups)?.map(|[start, length]| Tie { start, length }).collect();
        let cut = self.groups(cut)?.map(|[row, code, count]| {
            let code =
                u8::try_from(code).map_err(|_| self.bad(format!("documents of code {code}")))?;
            Ok(CutTieCount { row, code, count })
        });
        let cut = cut.collect::<Result<_>>()?;
        let alike = self.groups(alike)?;
        let alike = alike
            .map(|[row, start, length]| SameGradeTie { row, group: Tie { start, length } })
            .collect();
        self.end()?;
        let columns = TieColumns { counts, rows, ends, groups, cut, alike };
        self.accept(MatrixTies::new(columns, context))
    }

    pub fn exact(
        &mut self,
        book: &Codebook,
        facts: &GradeHistograms,
        depths: &[u32],
    ) -> Result<(Codebook, ExactGrades)> {
        if book.grades() != [0.0] {
            return Err(self.bad("beside a codebook of other grades than 0"));
        }
        let extent = self.f64s(2)?;
        let extent = GradeRange { least_positive: extent[0], largest: extent[1] };
        let [distinct, judged] = self.counts()?;
        let ends = self.u64s(facts.len())?;
        let grades = self.f64_column(distinct)?;
        let counts = self.words(distinct)?;
        let row_ends = self.u64s(depths.len())?;
        let of_rows = self.f64_column(judged)?;
        self.end()?;
        let facts = self.accept(ExactHistograms::from_columns(ends, grades, counts, facts))?;
        let rows = Ragged::from_columns(row_ends, of_rows, depths.len())
            .filter(|rows| are_grades(rows.values()))
            .ok_or_else(|| {
                self.bad("the grades of the rows are no grades, or do not fit their ends")
            })?;
        if let Some(row) = (0..depths.len()).find(|&row| rows.row(row).len() > depths[row] as usize)
        {
            let (grades, depth) = (rows.row(row).len(), depths[row]);
            return Err(
                self.bad(format!("row {}: {grades} exact grades of {depth} results", row + 1))
            );
        }
        if !(extent.largest.is_finite()
            && extent.covers(facts.extent().unwrap_or(GradeRange::NONE)))
        {
            return Err(self.bad("the grades are outside of their extent"));
        }
        Ok((Codebook::single_class(extent), ExactGrades { facts, rows }))
    }

    pub fn facets(&mut self, queries: usize, rows: usize) -> Result<FacetRows> {
        let by = match self.u32()? {
            1 => FacetKind::Judge,
            2 => FacetKind::Subtopic,
            3 => FacetKind::Preference,
            other => return Err(self.bad(format!("groups of unknown kind {other}"))),
        };
        let [judgments, named] = self.counts()?;
        let ends = self.u64s(queries)?;
        let [documents, groups, subgroups] =
            [self.words(judgments)?, self.words(judgments)?, self.words(judgments)?];
        let grades = self.words(judgments)?;
        let row_ends = self.u64s(rows)?;
        let numbers = self.u32s(named)?;
        let names = self.ids()?;
        let judgments = (0..judgments).into_par_iter().map(|at| FacetJudgment {
            document: u32::from_le_bytes(documents[at]),
            group: u32::from_le_bytes(groups[at]),
            grade: f64::from_le_bytes(grades[at]),
        });
        let judgments = Ragged::from_columns(ends, judgments.collect::<Vec<_>>(), queries);
        let (judgments, numbers) = judgments
            .zip(Ragged::from_columns(row_ends, numbers, rows))
            .ok_or_else(|| self.bad("ends, judgments and documents do not fit together"))?;
        // Every judgment of a file has a sub-group, mostly 0: zeros alone are not copied.
        let subgroups = if subgroups.par_iter().all(|subgroup| *subgroup == [0; 4]) {
            Vec::new()
        } else {
            subgroups.iter().map(|&subgroup| u32::from_le_bytes(subgroup)).collect()
        };
        let facets = self.accept(Facets::checked(by, names, judgments, subgroups))?;
        self.accept(FacetRows::checked(Arc::new(facets), numbers, queries))
    }

    /// Decodes the `.lmx` section of rankings of passages, and rejects judgments of documents
    /// beside it.
    pub fn spans(&mut self, queries: usize, depths: &[u32], alone: bool) -> Result<SpanRows> {
        if !alone {
            return Err(self.bad("beside judgments of documents"));
        }
        let [grades, counts] = self.counts()?;
        let distinct = self.f64s(grades)?;
        let gold = self.u64s(queries.saturating_mul(grades))?;
        let ends = self.u64s(depths.len())?;
        let counts = self.u32s(counts)?;
        self.end()?;
        let gold = self.accept(GoldCounts::new(distinct, gold))?;
        let rows = Ragged::from_columns(ends, counts, depths.len())
            .ok_or_else(|| self.bad("ends and numbers of positions do not fit together"))?;
        self.accept(SpanRows::checked(Arc::new(gold), rows, depths))
    }

    pub fn units(&mut self) -> Result<AppliedAggregation> {
        let rows = Some(self.u32()?).filter(|&rows| rows > 0);
        let (units, named) = (self.utf8()?, self.utf8()?);
        self.end()?;
        let repeats =
            named.parse().map_err(|_| self.bad(format!("unknown way `{named}` of repeats")))?;
        let rule = AppliedAggregation { units, repeats, rows };
        // Invariant: one matrix has one encoding. So reject an alias of the repeats rule (`max` for
        // `first`), and a section that spells out the default rule.
        if rule.repeats.to_string() != named || rule == AppliedAggregation::default() {
            return Err(self.bad("it says nothing, or in other words than are written"));
        }
        Ok(rule)
    }

    /// Decodes a text of the rule that merged results into units, and rejects a text that is not
    /// UTF-8.
    fn utf8(&mut self) -> Result<String> {
        let bytes = self.string()?.to_vec();
        String::from_utf8(bytes).map_err(|_| self.bad("a rule is not UTF-8"))
    }

    /// Decodes the fingerprint of the excluded documents: 32 hexadecimal digits.
    pub fn excluded(&mut self) -> Result<Arc<str>> {
        let digits = str::from_utf8(self.take(32)?).ok();
        self.end()?;
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let print = digits.filter(|digits| digits.bytes().all(is_digit)).map(Arc::from);
        print.ok_or_else(|| self.bad("it is no fingerprint"))
    }

    pub fn ideal(&mut self) -> Result<IdealSource> {
        let kind = self.u32()?;
        self.end()?;
        match kind {
            1 => Ok(IdealSource::Retrieved),
            other => Err(self.bad(format!("ideal rankings of unknown kind {other}"))),
        }
    }
}
