//! The builder of a question of `laneval identify`: a run, its judgments, and reported numbers
//! whose definition is sought.

use super::Identification;
use super::candidates::{answer, combine};
use super::digests;
use super::orders::{SplitRun, check};
use super::printed::PrintedNumber;
use super::questions::{Evidence, IdentifyRun, Question};
use super::reported::{ReportedValue, parse_reported};
use super::spellings::{is_identifiable, spellings, unnamed_spellings};
use super::sums::{QueryConstraints, ReportedQuery};
use crate::error::{Error, Result, unanswerable};
use crate::matrix::LabelMatrix;
use crate::measure::{Measure, Range, parse};

/// A question of `laneval identify`: the definition of a measure that gave a reported number on a
/// run.
///
/// The run is a matrix of one run with known ties ([`Join::keep_ties`](crate::Join)). Matrices of
/// the same texts under other rules ([`IdentifyBuilder::with_matrix`]) add orders of equal scores:
/// the order of the input, and the order of scores compared as f32.
#[derive(Debug)]
pub struct IdentifyBuilder<'m> {
    matrices: Vec<&'m LabelMatrix>,
    /// Numbers: the measure, if it is named, and the number.
    numbers: Vec<(Option<Measure>, String, PrintedNumber)>,
    values: Vec<ReportedValue>,
    measure: Option<Measure>,
    digits: Option<u8>,
    top: usize,
}

/// The default number of listed classes.
const TOP: usize = 5;

impl<'m> IdentifyBuilder<'m> {
    /// Starts a question of `laneval identify` about the only run of a label matrix.
    ///
    /// # Errors
    /// A matrix that does not have exactly one run, does not know its ties, keeps only some ranks,
    /// has judgments by facet or more than 253 distinct grades.
    pub fn new(matrix: &'m LabelMatrix) -> Result<Self> {
        check(matrix)?;
        let (numbers, values, measure, digits) = (Vec::new(), Vec::new(), None, None);
        Ok(Self { matrices: vec![matrix], numbers, values, measure, digits, top: TOP })
    }

    /// Starts a question about a run from matrices that were [joined in every
    /// order](super::joined_in_every_order) of equal scores.
    ///
    /// # Errors
    /// As [`IdentifyBuilder::new`] and [`IdentifyBuilder::with_matrix`], and no matrix at all.
    pub fn from_matrices(matrices: &'m [LabelMatrix]) -> Result<Self> {
        let (first, others) = matrices
            .split_first()
            .ok_or_else(|| Error::Unanswerable("there is no run".to_owned()))?;
        others.iter().try_fold(Self::new(first)?, Self::with_matrix)
    }

    /// Adds a matrix of the same run and judgments, joined by another order of equal scores or type
    /// of scores.
    ///
    /// # Errors
    /// As [`IdentifyBuilder::new`], and a matrix of other judgments.
    pub fn with_matrix(mut self, matrix: &'m LabelMatrix) -> Result<Self> {
        check(matrix)?;
        if matrix.fingerprint() != self.matrices[0].fingerprint()
            || matrix.queries() != self.matrices[0].queries()
        {
            return unanswerable("the matrices were built from different judgments");
        }
        self.matrices.push(matrix);
        Ok(self)
    }

    /// Sets the number of exact decimals of reported numbers added later, and of all reported
    /// values of queries. The default is as many decimals as a number shows.
    #[must_use]
    pub fn digits(self, digits: Option<u8>) -> Self {
        Self { digits, ..self }
    }

    /// Sets the number of classes of equal definitions that the answer lists. The default is 5.
    #[must_use]
    pub fn top(self, top: usize) -> Self {
        Self { top, ..self }
    }

    /// Adds a reported mean as it was printed, such as `0.4561` or `45.61%`, under its measure's
    /// name; an empty name means any measure. Parameters in the name are fixed.
    ///
    /// # Errors
    /// A name that means no measure, or a measure whose definitions cannot be told apart; a text
    /// that is no number of this measure.
    pub fn number(mut self, name: &str, number: &str) -> Result<Self> {
        let measure = parse_identifiable(name)?;
        let range = measure.as_ref().map_or(Range::SHARE, Measure::range);
        // The mean of a measure that is 0 or 1 may be any share.
        let range = if range == Range::Binary { Range::SHARE } else { range };
        let printed = PrintedNumber::read(number, name, self.digits, range, true)
            .map_err(Error::Unanswerable)?;
        self.numbers.push((measure, number.trim().to_owned(), printed));
        Ok(self)
    }

    /// Adds reported values of single queries. `name` is their measure; an empty name means any
    /// measure.
    ///
    /// # Errors
    /// As [`IdentifyBuilder::number`].
    pub fn scores(
        mut self,
        name: &str,
        rows: impl IntoIterator<Item = ReportedValue>,
    ) -> Result<Self> {
        self.measure = parse_identifiable(name)?;
        self.values.extend(rows);
        Ok(self)
    }

    /// Finds the definitions that give the reported numbers and values.
    ///
    /// # Errors
    /// Neither a number nor values; contradictory values; values mostly of queries without
    /// judgments; measures that do not fit the grades; and what
    /// [`Evaluator::evaluate`](crate::Evaluator::evaluate) refuses.
    pub fn run(self) -> Result<Identification> {
        if self.numbers.is_empty() && self.values.is_empty() {
            let message =
                "nothing is asked: give a number such as nDCG@10=0.4561, or values of queries";
            return unanswerable(message);
        }
        let parted = SplitRun::new(&self.matrices)?;
        let book = self.matrices[0].codebook().clone();
        let mut run = IdentifyRun { parted, constraints: QueryConstraints::default(), book };
        let mut notes = Vec::new();
        let ids = self.matrices[0].queries();
        run.constraints.keys = (0..run.parted.queries.len()).map(digests::key).collect();
        if !self.values.is_empty() {
            let name = self.measure.as_ref().map_or(String::new(), Measure::to_string);
            let (counts, relevant) = (&run.parted.queries, run.book.at_least(1.0));
            let reported = parse_reported(&self.values, &name, self.digits, ids, counts, relevant)?;
            notes = reported.notes;
            let reported = reported.reported_queries;
            // Without a number, queries without a told value decide nothing. The key 0 keeps such
            // queries out of the digests, so definitions that differ only there are one class.
            if self.numbers.is_empty() {
                for (key, _) in run
                    .constraints
                    .keys
                    .iter_mut()
                    .zip(&reported)
                    .filter(|(_, reported)| **reported == ReportedQuery::Nothing)
                {
                    *key = 0;
                }
            }
            run.constraints.reported_queries = reported;
        }
        let questions = self.questions(&run);
        let answers = questions.iter().map(|question| answer(question, &run, ids, self.top));
        let answers = answers.collect::<Result<Vec<_>>>()?;
        let numbers = self.numbers.iter().map(|(measure, text, _)| {
            (measure.as_ref().map_or(String::new(), Measure::to_string), text.clone())
        });
        let numbers = numbers.collect();
        let compared_queries =
            (!self.values.is_empty()).then(|| run.constraints.reported_count().into());
        Ok(Identification { numbers, compared_queries, notes, ..combine(answers) })
    }

    /// Groups the reported numbers into questions, one for each measure, with the spellings to try.
    /// The reported values of queries join the question of their measure.
    fn questions(&self, run: &IdentifyRun) -> Vec<Question> {
        let mut named: Vec<(Vec<Measure>, Vec<Evidence>)> = Vec::new();
        let mut questions = Vec::new();
        // Values of queries come first, because agreement is counted for the first measure of a
        // spelling.
        let values = (!self.values.is_empty()).then_some((&self.measure, Evidence::Values));
        let means = self
            .numbers
            .iter()
            .map(|(measure, _, printed)| (measure, Evidence::Mean(printed.clone())));
        for (measure, evidence) in values.into_iter().chain(means) {
            let Some(measure) = measure else {
                let spellings = unnamed_spellings(&run.book);
                questions.push(Question { spellings, evidence: vec![evidence] });
                continue;
            };
            let name = measure.definition().name;
            match named.iter_mut().find(|(measures, _)| measures[0].definition().name == name) {
                Some((measures, all)) => {
                    measures.push(measure.clone());
                    all.push(evidence);
                }
                None => named.push((vec![measure.clone()], vec![evidence])),
            }
        }
        questions.extend(named.into_iter().map(|(measures, evidence)| Question {
            spellings: spellings(&measures, &run.book),
            evidence,
        }));
        questions
    }
}

/// Parses a measure's name, and rejects measures whose definitions cannot be told apart; an empty
/// name is no measure.
fn parse_identifiable(name: &str) -> Result<Option<Measure>> {
    if name.is_empty() {
        return Ok(None);
    }
    let measure = parse(name)?;
    if is_identifiable(measure.definition()) {
        return Ok(Some(measure));
    }
    unanswerable(format!(
        "{measure} is no mean of a measure with several definitions: identify knows those that \
         are 0 for an empty ranking, such as nDCG, AP, RR, P and R"
    ))
}
