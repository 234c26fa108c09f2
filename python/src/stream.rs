//! Evaluations of rankings that Python hands over batch by batch.

use std::fs::File;
use std::io::Cursor;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use laneval::columns::RunColumns;
use laneval::labels::Codebook;
use laneval::text::DetectedFormats;
use laneval::{Error, Evaluator, Input, Join, ProgressHandle, RunStream};
use pyo3::prelude::*;
use self_cell::self_cell;

use crate::arrays::Arrays;
use crate::columns::ColumnNaming;
use crate::errors::{OrRaise, unanswerable};
use crate::qrels::{LITTLE, Qrels, noted};
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

enum StreamState {
    Labels(Box<laneval::RankingStream>),
    Run(Box<StreamedRun>),
    /// All batches, to be joined at the end.
    Buffered(Arc<laneval::Qrels>, Box<Option<PySource>>),
}

/// The kind of the batches that an evaluation takes: rows of a run, or rankings as labels.
pub enum StreamKind<'q> {
    /// A run against judgments, with the rows of each query together.
    Run(&'q Qrels),
    /// A run against judgments, with its rows in any order.
    Rows(&'q Qrels),
    /// Labels with these grades.
    Labels(Vec<f64>),
}

/// An evaluation of batches.
#[pyclass(frozen, module = "laneval._native")]
pub struct RankingStream {
    state: Mutex<Option<StreamState>>,
    join: Join,
    evaluator: Evaluator,
    watch: Arc<ProgressHandle>,
    workers: Workers<'static>,
    columns: ColumnNaming,
    recognised: Arc<DetectedFormats>,
}

impl RankingStream {
    /// Starts an evaluation of batches with these settings.
    pub fn new(
        py: Python<'_>,
        join: Join,
        evaluator: Evaluator,
        workers: Workers<'static>,
        kind: StreamKind<'_>,
        columns: ColumnNaming,
    ) -> PyResult<Self> {
        let columns = columns.with_doc_id_column(&join.units);
        // Nothing else than excluded documents is noted of a stream.
        let recognised = Arc::<DetectedFormats>::default();
        let join = Join { recognised: join.exclude.as_ref().map(|_| recognised.clone()), ..join };
        let watch = Arc::<ProgressHandle>::default();
        let evaluator = evaluator.with_progress(Some(watch.clone()));
        let state = match kind {
            StreamKind::Run(qrels) => {
                let run = StreamedRun::try_new(qrels.qrels.clone(), |qrels| {
                    evaluator.run_stream(&join, qrels, "run").map(Some)
                });
                StreamState::Run(Box::new(run.or_raise(py)?))
            }
            StreamKind::Rows(qrels) => StreamState::Buffered(qrels.qrels.clone(), Box::new(None)),
            StreamKind::Labels(grades) => {
                let book = Codebook::new(grades).or_raise(py)?;
                StreamState::Labels(Box::new(evaluator.stream(&book).or_raise(py)?))
            }
        };
        let state = Mutex::new(Some(state));
        Ok(Self { state, join, evaluator, watch, workers, columns, recognised })
    }

    fn state(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Option<StreamState>>> {
        // Waiting for the lock would wait while holding the interpreter, which the thread that has
        // the lock needs to end: both would wait for ever.
        match self.state.try_lock() {
            Ok(state) if state.is_some() => Ok(state),
            Err(TryLockError::WouldBlock) => Err(unanswerable(py, "two threads feed one stream")),
            _ => Err(unanswerable(py, "the stream has ended")),
        }
    }
}

#[pymethods]
impl RankingStream {
    /// Takes some rows of the run.
    fn push(&self, py: Python<'_>, batch: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut state = self.state(py)?;
        let by = match &*state {
            Some(StreamState::Buffered(qrels, _)) => qrels.judged_by(),
            _ => None,
        };
        let source = PySource::run_from_py(batch, "run", by, &self.columns)?;
        let workers = Workers { little: source.len() < LITTLE, ..self.workers };
        let done = match &mut *state {
            Some(StreamState::Buffered(_, buffer)) => {
                return match (&mut **buffer, source) {
                    (_, PySource::Text(_)) => {
                        Err(unanswerable(py, "files are read in the order \"grouped\""))
                    }
                    (slot @ None, source) => {
                        *slot = Some(source);
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
            Some(StreamState::Run(run)) => work(py, workers, &self.watch, || {
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
            *state = None;
        }
        done
    }

    /// Takes some rankings.
    fn push_arrays(&self, py: Python<'_>, arrays: &Arrays) -> PyResult<()> {
        let mut state = self.state(py)?;
        let workers = Workers { little: arrays.values() < LITTLE, ..self.workers };
        match &mut *state {
            Some(StreamState::Labels(stream)) => {
                work(py, workers, &self.watch, || arrays.with(|rankings| stream.push(rankings)))
            }
            _ => Err(unanswerable(py, "the stream takes rows of a run: push tables or dicts")),
        }
    }

    /// Returns notes on the excluded documents of the batches.
    fn notes(&self) -> Vec<String> {
        noted(self.recognised.all().into_iter())
    }

    /// Returns the summary of all batches.
    fn finish(&self, py: Python<'_>) -> PyResult<Summary> {
        let state = self.state(py)?.take();
        let summary = work(py, self.workers, &self.watch, || match state {
            Some(StreamState::Labels(stream)) => stream.finish(),
            Some(StreamState::Run(mut run)) => {
                run.with_dependent_mut(|_, run| run.take().ok_or(Error::Stopped)?.finish())
            }
            Some(StreamState::Buffered(qrels, buffer)) => {
                let join = Join { watch: Some(self.watch.clone()), ..self.join.clone() };
                let joined = |records: &[RunColumns<'_>]| join.columns(&qrels, &[("run", records)]);
                let matrix = (*buffer).as_ref().and_then(|source| source.with_records(joined));
                self.evaluator.summary(&matrix.unwrap_or_else(|| joined(&[]))?)
            }
            None => Err(Error::Stopped),
        })?;
        Ok(Summary { summary })
    }
}
