//! What options ask of an evaluation: the settings of a join, and an evaluator.

use std::fmt;
use std::num::NonZeroU32;
use std::path::Path;
use std::str::FromStr;

use super::{Given, values};
use crate::bytes::mmap::FileAccess;
use crate::doc_ids::rule::DocIdRule;
use crate::error::{Error, Result};
use crate::evaluate::{EngineChoice, Evaluator};
use crate::format::{ColumnNames, ReadOptions};
use crate::matrix::View;
use crate::measure::{JUDGES, JudgmentNeeds, Measure, ParamKind, ParamValue, Profile, parse_level};
use crate::rule::TieBreak;
use crate::scores::TiedValue;
use crate::settings::Join;

/// The value of `--ties`: an order for equal scores of a run, or a value over all orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TieRule {
    /// An order in which equal scores are put.
    Order(TieBreak),
    /// A value that a measure has over all orders of equal scores.
    Value(TiedValue),
    /// The interval: all of these values.
    Interval,
}

impl TieRule {
    /// The value over all orders that has no value of its own.
    const INTERVAL: &'static str = "interval";

    /// Returns the order in which equal scores are put, or `None` for a value over all orders.
    pub fn order(self) -> Option<TieBreak> {
        match self {
            Self::Order(order) => Some(order),
            Self::Value(_) | Self::Interval => None,
        }
    }

    /// Returns whether values are over all orders of equal scores, for which ties must be known.
    pub fn needs_ties(self) -> bool {
        self.order().is_none()
    }

    /// Returns the value of a ranking with equal scores.
    fn tied_value(self) -> TiedValue {
        match self {
            Self::Value(tied) => tied,
            Self::Order(_) | Self::Interval => TiedValue::Ranked,
        }
    }
}

impl Default for TieRule {
    fn default() -> Self {
        Self::Order(TieBreak::default())
    }
}

impl fmt::Display for TieRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Order(order) => order.fmt(f),
            Self::Value(tied) => tied.fmt(f),
            Self::Interval => f.pad(Self::INTERVAL),
        }
    }
}

impl FromStr for TieRule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text == Self::INTERVAL {
            return Ok(Self::Interval);
        }
        match text.parse() {
            Ok(tied) if tied != TiedValue::Ranked => Ok(Self::Value(tied)),
            _ => text.parse().map(Self::Order),
        }
    }
}

impl Given {
    /// Returns the rule for equal scores, that of `--ties` or the default order.
    pub fn tie_rule(&self) -> Result<TieRule> {
        Ok(self.value("ties")?.unwrap_or_default())
    }

    /// Returns the library of `--as`.
    ///
    /// # Errors
    /// There is no such library.
    pub fn profile(&self) -> Result<Option<&'static Profile>> {
        self.text("as").map(|name| Profile::from_prefix(name.trim_end_matches(':'))).transpose()
    }

    /// Takes the options that the library of `--as` fixes, as far as the command has them.
    ///
    /// # Errors
    /// There is no such library, or an option that was given has another value.
    pub fn apply_profile(&mut self) -> Result<()> {
        let Some(profile) = self.profile()? else { return Ok(()) };
        let flag = format!("--as {}", profile.prefix);
        for &(option, _) in profile.options {
            let Some(row) = self.row(option) else { continue };
            let given = Some(row.id).filter(|id| self.is_given(id)).and_then(|id| self.text(id));
            let word =
                profile.check_option(&flag, option, given, |word| format!("--{option} {word}"))?;
            if let Some(word) = word {
                self.set(row.id, vec![word.into()]);
            }
        }
        Ok(())
    }

    /// Returns the lowest relevant grade: the one given, or that of the library of `--as`, or 1.
    pub fn level(&self) -> f64 {
        let given = self.parsed("rel", values::grade).ok().flatten();
        let of_library = || parse_level(self.profile().ok()??.relevant);
        given.or_else(of_library).unwrap_or(1.0)
    }

    /// Returns how judgments are read, and how runs: formats, columns and files beside them.
    ///
    /// # Errors
    /// A value is wrong.
    pub fn read_options(&self) -> Result<(ReadOptions, ReadOptions)> {
        let columns = self.texts("columns").into_iter().map(str::parse::<ColumnNames>);
        let columns = columns.collect::<Result<Vec<_>>>()?;
        // The last of several options of one kind holds, as elsewhere on a command line.
        let [columns, qrels_columns] = [false, true].map(|qrels| {
            columns.iter().rev().find(|columns| columns.are_of_qrels() == qrels).cloned()
        });
        let qrels_as = ReadOptions {
            format: self.value("qrels-format")?,
            columns: qrels_columns,
            query_lengths: self.path("letor-groups").map(Path::to_owned),
            grades: self.value("grades")?,
            ..ReadOptions::default()
        };
        let runs_as = ReadOptions {
            format: self.value("run-format")?,
            columns,
            subset: self.text("subset").map(str::to_owned),
            ..ReadOptions::default()
        };
        Ok((qrels_as, runs_as))
    }

    /// Returns the settings of a join of runs to judgments.
    ///
    /// # Errors
    /// A value is wrong, or the file of a map of documents cannot be read, or is none.
    pub fn join(&self) -> Result<Join> {
        let (qrels_as, runs_as) = self.read_options()?;
        Ok(Join {
            ties: self.tie_rule()?.order().unwrap_or_default(),
            score: self.value("score-type")?.unwrap_or_default(),
            depth: self.ranks()?,
            access: self.access(),
            drop_identical_ids: self.flag("drop-identical-ids"),
            judged_by: self.value("facet")?,
            units: self.doc_id_rule("doc-id")?,
            qrels_units: self.doc_id_rule("qrels-doc-id")?,
            repeats: self.value("aggregate")?,
            rows: self.value("max-chunks")?,
            qrels_as,
            runs_as,
            ..Join::default()
        })
    }

    /// Returns whether files are mapped into memory, or read because of `--no-mmap`.
    pub fn access(&self) -> FileAccess {
        if self.flag("no-mmap") { FileAccess::Read } else { FileAccess::Mapped }
    }

    /// Returns the number of ranks that are kept, if not all of them are.
    pub fn ranks(&self) -> Result<Option<NonZeroU32>> {
        self.value("depth")
    }

    /// Parses a rule that maps ids of chunks to documents, with its file; without one each id is
    /// its own document.
    fn doc_id_rule(&self, id: &str) -> Result<DocIdRule> {
        self.text(id).map_or(Ok(DocIdRule::Identity), str::parse)
    }

    /// Returns the part of each ranking that counts.
    pub fn view(&self) -> Result<View> {
        let depth = self.ranks()?.map(NonZeroU32::get);
        Ok(View { depth, judged_only: self.flag("judged-only") })
    }

    /// Makes an evaluator of these measures.
    ///
    /// # Errors
    /// A value is wrong, or `--adapter` contradicts `--engine`.
    pub fn evaluator(&self, measures: Vec<Measure>) -> Result<Evaluator> {
        Ok(Evaluator::from_measures(measures)
            .with_queries(self.value("queries")?.unwrap_or_default())
            .with_view(self.view()?)
            .with_relevant_from(self.value("relevant-from")?.unwrap_or_default())
            .with_engine(self.engine()?)
            .with_adapter(self.text("adapter").map(str::to_owned))
            .with_tied_value(self.tie_rule()?.tied_value()))
    }

    /// Makes measures of grades combine the judges of a query as `--judges` says.
    ///
    /// # Errors
    /// The word is no combination.
    pub fn over_judges(&self, measures: Vec<Measure>) -> Result<Vec<Measure>> {
        let (Some(judges), ParamKind::Choice(words)) = (self.text("judges"), JUDGES.kind) else {
            return Ok(measures);
        };
        let mut words = words.iter().copied().filter(|word| *word != JUDGES.default);
        let known: Vec<&str> = words.clone().collect();
        let Some(word) = words.find(|word| *word == judges) else {
            let message = format!("judges is `{judges}`: {} was expected", known.join(", "));
            return Err(Error::Unanswerable(message));
        };
        let measures = measures.into_iter().map(|measure| match measure.input() {
            JudgmentNeeds::Grades => measure.with_param(JUDGES.name, ParamValue::Choice(word)),
            _ => Ok(measure),
        });
        measures.collect()
    }

    fn engine(&self) -> Result<EngineChoice> {
        let engine = self.value("engine")?.unwrap_or(EngineChoice::Auto);
        match (engine, self.text("adapter")) {
            // A user who names an adapter wants it to be used.
            (EngineChoice::Auto | EngineChoice::Gpu, Some(_)) => Ok(EngineChoice::Gpu),
            (engine, Some(_)) => Err(Error::Unanswerable(format!(
                "--adapter names a GPU, which --engine {engine} does not use"
            ))),
            (engine, None) => Ok(engine),
        }
    }

    /// Returns whether `--engine gpu` or `--adapter` asks for a GPU.
    pub fn requests_gpu(&self) -> bool {
        self.text("engine") == Some("gpu") || self.is_given("adapter")
    }
}
