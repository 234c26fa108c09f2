//! The builder of a question.

use super::Identified;
use super::answers::{answer, combined};
use super::digests;
use super::orders::{PartedRun, check};
use super::printed::PrintedNumber;
use super::questions::{AskedRun, Evidence, Question};
use super::spellings::{is_told, spellings, unnamed_spellings};
use super::sums::{AskedOfQueries, ToldOfQuery};
use super::told::{ToldRow, told_values};
use crate::error::{Error, Result};
use crate::matrix::LabelMatrix;
use crate::measure::{Measure, Range, parse};

/// A question for the definition of a number.
///
/// The run is a matrix of one run with known ties ([`Join::keep_ties`](crate::Join)). Matrices of
/// the same texts under other rules ([`Identify::and`]) add orders of equal scores: the order of
/// the input, and the order of scores compared as f32.
#[derive(Debug)]
pub struct Identify<'m> {
    matrices: Vec<&'m LabelMatrix>,
    /// Numbers: the measure, if it is named, and the number.
    numbers: Vec<(Option<Measure>, String, PrintedNumber)>,
    told: Vec<ToldRow>,
    measure: Option<Measure>,
    digits: Option<u8>,
    top: usize,
}

/// The default number of listed classes.
const TOP: usize = 5;

impl<'m> Identify<'m> {
    /// Starts a question about the run of a matrix.
    ///
    /// # Errors
    /// A matrix that does not have exactly one run, does not know its ties, keeps only some ranks,
    /// has judgments by facet or more than 253 distinct grades.
    pub fn new(matrix: &'m LabelMatrix) -> Result<Self> {
        check(matrix)?;
        let (numbers, told, measure, digits) = (Vec::new(), Vec::new(), None, None);
        Ok(Identify { matrices: vec![matrix], numbers, told, measure, digits, top: TOP })
    }

    /// Starts a question about a run that was [joined in every
    /// order](super::joined_in_every_order).
    ///
    /// # Errors
    /// As [`Identify::new`] and [`Identify::and`], and no matrix at all.
    pub fn of(matrices: &'m [LabelMatrix]) -> Result<Self> {
        let (first, others) = matrices
            .split_first()
            .ok_or_else(|| Error::Unanswerable("there is no run".to_owned()))?;
        others.iter().try_fold(Identify::new(first)?, Identify::and)
    }

    /// Adds the same run and judgments, joined by another rule for equal scores, or another type of
    /// scores.
    ///
    /// # Errors
    /// As [`Identify::new`], and a matrix of other judgments.
    pub fn and(mut self, matrix: &'m LabelMatrix) -> Result<Self> {
        check(matrix)?;
        if matrix.fingerprint() != self.matrices[0].fingerprint()
            || matrix.queries() != self.matrices[0].queries()
        {
            return Err(Error::Unanswerable(
                "the matrices were built from different judgments".to_owned(),
            ));
        }
        self.matrices.push(matrix);
        Ok(self)
    }

    /// Sets the number of exact decimals of numbers that are added later, and of all values of
    /// queries. The default is as many decimals as a number shows.
    #[must_use]
    pub fn digits(self, digits: Option<u8>) -> Self {
        Identify { digits, ..self }
    }

    /// Sets the number of classes that are listed. The default is 5.
    #[must_use]
    pub fn top(self, top: usize) -> Self {
        Identify { top, ..self }
    }

    /// Adds a mean as it was printed, such as `0.4561` or `45.61%`, under the name of its measure;
    /// an empty name means any measure. Parameters in the name are fixed.
    ///
    /// # Errors
    /// A name that means no measure, or a measure whose definitions cannot be told apart; a text
    /// that is no number of this measure.
    pub fn number(mut self, name: &str, number: &str) -> Result<Self> {
        let measure = if name.is_empty() { None } else { Some(told_apart(parse(name)?)?) };
        let range = measure.as_ref().map_or(Range::SHARE, Measure::range);
        let range = if range == Range::Binary { Range::SHARE } else { range };
        let printed = PrintedNumber::read(number, name, self.digits, range, true)
            .map_err(Error::Unanswerable)?;
        self.numbers.push((measure, number.trim().to_owned(), printed));
        Ok(self)
    }

    /// Adds values of queries. `name` is their measure; an empty name means any measure.
    ///
    /// # Errors
    /// As [`Identify::number`].
    pub fn scores(mut self, name: &str, rows: impl IntoIterator<Item = ToldRow>) -> Result<Self> {
        self.measure = if name.is_empty() { None } else { Some(told_apart(parse(name)?)?) };
        self.told.extend(rows);
        Ok(self)
    }

    /// Finds the definitions.
    ///
    /// # Errors
    /// Neither a number nor values; contradictory values; values mostly of queries without
    /// judgments; measures that do not fit the grades; and what
    /// [`Evaluator::evaluate`](crate::Evaluator::evaluate) refuses.
    pub fn run(self) -> Result<Identified> {
        if self.numbers.is_empty() && self.told.is_empty() {
            let message =
                "nothing is asked: give a number such as nDCG@10=0.4561, or values of queries";
            return Err(Error::Unanswerable(message.to_owned()));
        }
        let parted = PartedRun::of(&self.matrices)?;
        let book = self.matrices[0].book().clone();
        let mut run = AskedRun { parted, asked: AskedOfQueries::default(), book };
        let mut notes = Vec::new();
        let all = run.parted.queries.len();
        run.asked.keys = (0..all).map(digests::key).collect();
        if !self.told.is_empty() {
            let name = self.measure.as_ref().map_or(String::new(), Measure::to_string);
            let found = (&run.parted.queries[..], run.book.at_least(1.0));
            let ids = self.matrices[0].queries();
            let told = told_values(&self.told, &name, self.digits, ids, found)?;
            notes = told.notes;
            if self.numbers.is_empty() {
                let says = |(key, told): (&mut u64, &ToldOfQuery)| {
                    if *told == ToldOfQuery::Nothing {
                        *key = 0;
                    }
                };
                run.asked.keys.iter_mut().zip(&told.of).for_each(says);
            }
            run.asked.told = told.of;
        }
        let ids = self.matrices[0].queries();
        let questions = self.questions(&run);
        let answers = questions.iter().map(|question| answer(question, &run, ids, self.top));
        let answers = answers.collect::<Result<Vec<_>>>()?;
        let named = |(measure, text, _): &(Option<Measure>, String, PrintedNumber)| {
            (measure.as_ref().map_or(String::new(), Measure::to_string), text.clone())
        };
        let numbers = self.numbers.iter().map(named).collect();
        let told = (!self.told.is_empty()).then(|| {
            run.asked.told.iter().filter(|told| **told != ToldOfQuery::Nothing).count() as u64
        });
        Ok(Identified { numbers, told, notes, ..combined(answers) })
    }

    /// Returns the questions. All numbers of a measure form one question, together with the told
    /// values of its queries.
    fn questions(&self, run: &AskedRun) -> Vec<Question> {
        let mut named: Vec<(Vec<Measure>, Vec<Evidence>)> = Vec::new();
        let mut questions = Vec::new();
        let mut add = |measure: &Option<Measure>, evidence: Evidence| match measure {
            Some(measure) => {
                let same = |(of, _): &&mut (Vec<Measure>, Vec<Evidence>)| {
                    of[0].definition().name == measure.definition().name
                };
                match named.iter_mut().find(same) {
                    Some((measures, all)) => {
                        measures.push(measure.clone());
                        all.push(evidence);
                    }
                    None => named.push((vec![measure.clone()], vec![evidence])),
                }
            }
            None => questions.push(Question {
                spellings: unnamed_spellings(&run.book),
                evidence: vec![evidence],
            }),
        };
        // Values of queries come first, because agreement is counted for the first measure of a
        // spelling.
        if !self.told.is_empty() {
            add(&self.measure, Evidence::Values);
        }
        for (measure, _, printed) in &self.numbers {
            add(measure, Evidence::Mean(printed.clone()));
        }
        questions.extend(named.into_iter().map(|(measures, evidence)| Question {
            spellings: spellings(&measures, &run.book),
            evidence,
        }));
        questions
    }
}

/// Checks that definitions of a measure can be told apart.
fn told_apart(measure: Measure) -> Result<Measure> {
    if is_told(measure.definition()) {
        Ok(measure)
    } else {
        Err(Error::Unanswerable(format!(
            "{measure} is no mean of a measure with several definitions: identify knows those that \
             are 0 for an empty ranking, such as \
             nDCG, AP, RR, P and R"
        )))
    }
}
