//! Rankings of nearest neighbours: the ids of each query's true neighbours, and the ids that an
//! approximate search found.
//!
//! The worth of a found id is the smallest t with the id among the t nearest neighbours: the id's
//! column in the truth, or the first column with the id's distance. Column t of T has the grade T +
//! 1 − t, so the nearest neighbour has the highest grade.

use super::{
    DuplicateIds, RankingSource, Rankings, Shape, expect,
    id_arrays::{IdArray, IdArrays, is_padding_id},
    lists::IdListSource,
    shape::Layout,
};
use crate::error::Result;
use crate::numbers::{Integers, Numbers};

/// The true nearest neighbours of each query, the nearest first. −1, or 2³² − 1, is an empty place.
#[derive(Debug, Clone)]
pub struct Neighbours<'a> {
    truth: IdArray<'a>,
    distances: Option<Numbers<'a>>,
}

impl<'a> Neighbours<'a> {
    /// Makes the true neighbours from an array of ids of 32 or 64 bits, a row for each query. A
    /// whole number as the shape is the number of ids of each row.
    ///
    /// # Errors
    /// Integers of 8 or 16 bits; a shape that does not fit the array.
    pub fn ids(ids: impl Into<Integers<'a>>, shape: impl Into<Shape<'a>>) -> Result<Self> {
        Ok(Self { truth: id_array("truth", ids, shape)?, distances: None })
    }

    /// Adds the distances of the true neighbours, which ascend in each row. Neighbours at an equal
    /// distance all take the column of the first, so that each of them counts as found.
    ///
    /// # Errors
    /// Unequal numbers of distances and ids.
    pub fn with_distances(self, distances: impl Into<Numbers<'a>>) -> Result<Self> {
        let distances = distances.into();
        expect("distances of the truth", distances.len(), self.truth.ids.len(), "ids")?;
        Ok(Self { distances: Some(distances), ..self })
    }
}

/// Makes an array of integer ids with a row for each query; rejects integers of 8 or 16 bits.
fn id_array<'a>(
    name: &'static str,
    ids: impl Into<Integers<'a>>,
    shape: impl Into<Shape<'a>>,
) -> Result<IdArray<'a>> {
    match ids.into() {
        ids @ (Integers::I32(_) | Integers::U32(_) | Integers::I64(_) | Integers::U64(_)) => {
            Ok(IdArray { name, ids, layout: Layout::new(shape.into(), ids.len(), name)? })
        }
        _ => reject!("{name} has integers of 8 or 16 bits: ids of 32 or 64 bits were expected"),
    }
}

impl<'a> Rankings<'a> {
    /// Makes rankings from the true neighbours of each query and the ids that a search found, the
    /// nearest first. −1, or 2³² − 1, is an empty place: the place keeps its rank, without a
    /// neighbour. Queries without a true neighbour are not rankings.
    ///
    /// ```
    /// use laneval::Evaluator;
    /// use laneval::arrays::{Neighbours, Rankings};
    /// let (truth, distances) = ([1i32, 2, 3, 4, 5, 6], [1.0f32, 2.0, 2.0, 2.0, 3.0, 4.0]);
    /// let found = [1i64, 4];
    /// let near =
    ///     |truth| Evaluator::new(["NNR@2"])?.rankings(&Rankings::neighbours(truth, &found, 2)?);
    /// let truth = Neighbours::ids(&truth, 6)?;
    /// assert_eq!(near(truth.clone())?.runs[0].average(0), Some(0.5));
    /// // 4 is as near as 2.
    /// assert_eq!(near(truth.with_distances(&distances)?)?.runs[0].average(0), Some(1.0));
    /// # Ok::<(), laneval::Error>(())
    /// ```
    ///
    /// # Errors
    /// Integers of 8 or 16 bits; a shape that does not fit the array; unequal numbers of rows of
    /// `truth` and `found`; no row with a true neighbour.
    pub fn neighbours(
        truth: Neighbours<'a>,
        found: impl Into<Integers<'a>>,
        shape: impl Into<Shape<'a>>,
    ) -> Result<Self> {
        Self::id_array_pair(truth, id_array("found", found, shape)?, true, None)
    }

    /// Makes rankings of found neighbours as [`Rankings::neighbours`] does, but judges found
    /// neighbours by distance instead of id. A found neighbour is among the t nearest if its
    /// distance is at most the distance of the t-th true neighbour plus `within`. Only recall of
    /// nearest neighbours has a value for these rankings.
    ///
    /// ```
    /// use laneval::Evaluator;
    /// use laneval::arrays::{Neighbours, Rankings};
    /// let truth = Neighbours::ids(&[1u32, 2], 2)?.with_distances(&[0.5f32, 0.7])?;
    /// let rankings = Rankings::neighbours_within(truth, &[8u32, 9], 2, &[0.5f32, 0.9], 1e-3)?;
    /// assert_eq!(Evaluator::new(["NNR@2"])?.rankings(&rankings)?.runs[0].average(0), Some(0.5));
    /// # Ok::<(), laneval::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`Rankings::neighbours`]; a truth without distances; unequal numbers of
    /// distances and found ids; a `within` less than 0 or not finite.
    pub fn neighbours_within(
        truth: Neighbours<'a>,
        found: impl Into<Integers<'a>>,
        shape: impl Into<Shape<'a>>,
        distances: impl Into<Numbers<'a>>,
        within: f64,
    ) -> Result<Self> {
        let (found, of_found) = (id_array("found", found, shape)?, distances.into());
        reject_if!(
            truth.distances.is_none(),
            "found_distances without truth_distances: those of both were expected"
        );
        expect("distances of what was found", of_found.len(), found.ids.len(), "ids")?;
        reject_if!(
            !(within >= 0.0 && within.is_finite()),
            "within is {within}: a finite number from 0 was expected"
        );
        Self::id_array_pair(truth, found, true, Some((of_found, within)))
    }

    /// Makes rankings from two arrays of ids of 32 or 64 bits: each query's relevant documents, and
    /// its retrieved ones, the best first.
    ///
    /// ```
    /// use laneval::Evaluator;
    /// use laneval::arrays::Rankings;
    /// let rankings = Rankings::id_arrays(&[1u32, 2, 7, 8], 2, &[9u32, 2, 3, 7, 5, 6], 3)?;
    /// assert_eq!(Evaluator::new(["RR"])?.rankings(&rankings)?.runs[0].average(0), Some(0.75));
    /// # Ok::<(), laneval::Error>(())
    /// ```
    ///
    /// # Errors
    /// Integers of 8 or 16 bits; a shape that does not fit the array; unequal numbers of rows.
    pub fn id_arrays(
        relevant: impl Into<Integers<'a>>,
        of_relevant: impl Into<Shape<'a>>,
        retrieved: impl Into<Integers<'a>>,
        of_retrieved: impl Into<Shape<'a>>,
    ) -> Result<Self> {
        let truth = id_array("relevant", relevant, of_relevant)?;
        let retrieved = id_array("retrieved", retrieved, of_retrieved)?;
        Self::id_array_pair(Neighbours { truth, distances: None }, retrieved, false, None)
    }

    fn id_array_pair(
        neighbours: Neighbours<'a>,
        found: IdArray<'a>,
        are_near: bool,
        within: Option<(Numbers<'a>, f64)>,
    ) -> Result<Self> {
        let Neighbours { truth, distances } = neighbours;
        let (rows, of_found) = (truth.layout.rows(), found.layout.rows());
        reject_if!(
            rows != of_found,
            "{} has {of_found} rows, and {} {rows}: a row for each query was expected",
            found.name,
            truth.name
        );
        let is_dropped = |&row: &usize| {
            are_near && truth.layout.row(row).all(|at| is_padding_id(truth.ids.get(at)))
        };
        let dropped: Vec<usize> = (0..rows).filter(is_dropped).collect();
        reject_if!(
            rows > 0 && dropped.len() == rows,
            "{} has empty places alone: ids of neighbours were expected",
            truth.name
        );
        let width = (0..rows).map(|row| truth.layout.row(row).len()).max().unwrap_or(0);
        Self::from_source(RankingSource::Lists(Box::new(IdArrays {
            truth,
            found,
            are_near,
            distances,
            within,
            repeats: DuplicateIds::default(),
            dropped,
            width,
        })))
    }

    /// Sets the treatment of ids found twice for a query; the default is an error.
    ///
    /// # Errors
    /// Rankings without ids.
    pub fn with_duplicates(mut self, repeats: DuplicateIds) -> Result<Self> {
        match &mut self.source {
            RankingSource::Lists(lists) => lists.set_repeats(repeats),
            _ => reject!("labels and scores have no ids that could repeat"),
        }
        Ok(self)
    }

    /// Returns the number of true neighbours of each query, if these are rankings of nearest
    /// neighbours.
    pub fn true_neighbours(&self) -> Option<usize> {
        self.id_lists()?.neighbours()
    }

    /// Returns whether the distances of found neighbours, and not their ids, decide their nearness.
    /// Only recall of nearest neighbours then has a value.
    #[doc(hidden)]
    pub fn uses_distances(&self) -> bool {
        self.id_lists().is_some_and(IdListSource::is_within)
    }

    /// Returns the rows of queries without a true neighbour, ascending: these rows are not
    /// rankings.
    pub fn dropped_rows(&self) -> &[usize] {
        self.id_lists().map_or(&[], IdListSource::dropped)
    }
}
