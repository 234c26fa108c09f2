//! Evaluations of batches.

use std::fs::File;
use std::io::Cursor;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use laneval::columns::Records;
use laneval::labels::Codebook;
use laneval::{Error, Evaluator, Input, Join, RunStream, Watch};
use pyo3::prelude::*;
use self_cell::self_cell;

use crate::arrays::Arrays;
use crate::columns::NamedColumns;
use crate::errors::unanswerable;
use crate::qrels::{LITTLE, Qrels};
use crate::source::PySource;
use crate::summary::Summary;
use crate::work::{Workers, work};

type Running<'q> = Option<RunStream<'q>>;

self_cell! {
    /// A run that is read once, with its judgments.
    struct StreamedRun {
        owner: Arc<laneval::Qrels>,
        #[not_covariant]
        dependent: Running,
    }
}

enum StreamFed {
    Labels(Box<laneval::Stream>),
    Run(Box<StreamedRun>),
    /// All batches, to be joined at the end.
    Held(Arc<laneval::Qrels>, Box<Option<PySource>>),
}

/// What batches are of.
pub enum StreamOf<'q> {
    /// A run against judgments, with the rows of each query together.
    Run(&'q Qrels),
    /// A run against judgments, with its rows in any order.
    Rows(&'q Qrels),
    /// Labels with these grades.
    Labels(Vec<f64>),
}

/// An evaluation of batches.
#[pyclass(frozen, module = "laneval._native")]
pub struct Stream {
    fed: Mutex<Option<StreamFed>>,
    join: Join,
    evaluator: Evaluator,
    watch: Arc<Watch>,
    workers: Workers<'static>,
    columns: NamedColumns,
}

impl Stream {
    /// Starts an evaluation with these settings.
    pub fn new(
        py: Python<'_>,
        (join, evaluator): (Join, Evaluator),
        workers: Workers<'static>,
        of: StreamOf<'_>,
        columns: NamedColumns,
    ) -> PyResult<Self> {
        let columns = columns.of_units(&join.units);
        let watch = Arc::new(Watch::default());
        let evaluator = evaluator.with_watch(Some(watch.clone()));
        let said = |error: Error| crate::errors::exception(py, error);
        let fed = match of {
            StreamOf::Run(qrels) => {
                let run = StreamedRun::try_new(qrels.qrels.clone(), |qrels| {
                    evaluator.run_stream(&join, qrels, "run").map(Some)
                });
                StreamFed::Run(Box::new(run.map_err(said)?))
            }
            StreamOf::Rows(qrels) => StreamFed::Held(qrels.qrels.clone(), Box::new(None)),
            StreamOf::Labels(grades) => {
                let book = Codebook::new(grades).map_err(said)?;
                StreamFed::Labels(Box::new(evaluator.stream(&book).map_err(said)?))
            }
        };
        Ok(Stream { fed: Mutex::new(Some(fed)), join, evaluator, watch, workers, columns })
    }

    fn fed(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Option<StreamFed>>> {
        // Waiting for the lock would wait while holding the interpreter, which the thread that has
        // the lock needs to end: both would wait for ever.
        match self.fed.try_lock() {
            Ok(fed) if fed.is_some() => Ok(fed),
            Err(TryLockError::WouldBlock) => Err(unanswerable(py, "two threads feed one stream")),
            _ => Err(unanswerable(py, "the stream has ended")),
        }
    }
}

#[pymethods]
impl Stream {
    /// Takes some rows of the run.
    fn push(&self, py: Python<'_>, batch: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut fed = self.fed(py)?;
        let by = match &*fed {
            Some(StreamFed::Held(qrels, _)) => qrels.judged_by(),
            _ => None,
        };
        let source = PySource::of_run(batch, "run", by, &self.columns)?;
        let workers = Workers { little: source.len() < LITTLE, ..self.workers };
        let done = match &mut *fed {
            Some(StreamFed::Held(_, held)) => {
                return match (&mut **held, source) {
                    (_, PySource::Text(_)) => {
                        Err(unanswerable(py, "files are read in the order \"grouped\""))
                    }
                    (held @ None, source) => {
                        *held = Some(source);
                        Ok(())
                    }
                    (Some(PySource::Table(all)), PySource::Table(more)) => {
                        all.append(more);
                        Ok(())
                    }
                    (Some(PySource::Rows(all)), PySource::Rows(more)) => {
                        all.append(more);
                        Ok(())
                    }
                    _ => {
                        Err(unanswerable(py, "the batches of a stream are all tables, or none is"))
                    }
                };
            }
            Some(StreamFed::Run(run)) => work(py, workers, &self.watch, || {
                run.with_dependent_mut(|_, run| {
                    let Some(run) = run else { return Ok(()) };
                    match &source {
                        PySource::Text(Input::Path(path)) => {
                            let opened = File::open(path).map_err(|source| Error::Io {
                                path: path.clone(),
                                action: "open",
                                source,
                            });
                            run.read(opened?)
                        }
                        PySource::Text(Input::Bytes { bytes, .. }) => run.read(Cursor::new(bytes)),
                        rows => rows
                            .with_records(|batches| {
                                batches.iter().try_for_each(|batch| run.push(batch))
                            })
                            .unwrap_or(Ok(())),
                    }
                })
            }),
            _ => return Err(unanswerable(py, "the stream takes labels: push arrays")),
        };
        // Part of the batch may have been counted, so no sum of this stream means anything any
        // more.
        if done.is_err() {
            *fed = None;
        }
        done
    }

    /// Takes some rankings.
    fn push_arrays(&self, py: Python<'_>, arrays: &Arrays) -> PyResult<()> {
        let mut fed = self.fed(py)?;
        let workers = Workers { little: arrays.values() < LITTLE, ..self.workers };
        match &mut *fed {
            Some(StreamFed::Labels(stream)) => {
                work(py, workers, &self.watch, || arrays.with(|rankings| stream.push(rankings)))
            }
            _ => Err(unanswerable(py, "the stream takes rows of a run: push tables or dicts")),
        }
    }

    /// The summary of all batches.
    fn finish(&self, py: Python<'_>) -> PyResult<Summary> {
        let fed = self.fed(py)?.take();
        let summary = work(py, self.workers, &self.watch, || match fed {
            Some(StreamFed::Labels(stream)) => stream.finish(),
            Some(StreamFed::Run(mut run)) => run.with_dependent_mut(|_, run| match run.take() {
                Some(run) => run.finish(),
                None => Err(Error::Stopped),
            }),
            Some(StreamFed::Held(qrels, held)) => {
                let join = Join { watch: Some(self.watch.clone()), ..self.join.clone() };
                let joined = |records: &[Records<'_>]| join.columns(&qrels, &[("run", records)]);
                let matrix = (*held).as_ref().and_then(|held| held.with_records(joined));
                self.evaluator.summary(&matrix.unwrap_or_else(|| joined(&[]))?)
            }
            None => Err(Error::Stopped),
        })?;
        Ok(Summary { summary })
    }
}
