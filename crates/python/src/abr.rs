//! An adaptive bitrate algorithm written in Python behind the Rust trait.

use crate::scheduling::Failure;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::sync::Arc;
use video::abr::{Abr, Download, View, Wanted};

/// A chunk that came.
#[pyclass(frozen, get_all, name = "AbrDownload", module = "skyweave._skyweave")]
pub(crate) struct PyDownload {
    /// Its quality, from 0.
    quality: usize,
    bytes: u64,
    /// From the request to the first byte, and to the last one.
    latency_s: f64,
    elapsed_s: f64,
}

impl From<&Download> for PyDownload {
    fn from(one: &Download) -> Self {
        let Download { quality, bytes, latency_s, elapsed_s, .. } = *one;
        Self { quality, bytes, latency_s, elapsed_s }
    }
}

/// A player at the moment of a decision.
#[pyclass(frozen, get_all, name = "AbrView", module = "skyweave._skyweave")]
pub(crate) struct PyAbrView {
    /// Seconds since the run began.
    now_s: f64,
    /// Media there and not played, and most that the player keeps.
    buffer_s: f64,
    most_buffer_s: f64,
    /// The chunk that comes next, from 0, of how many, each so long.
    chunk: usize,
    chunks: usize,
    chunk_s: f64,
    /// Nominal bitrates of the qualities.
    ladder_mbps: Vec<f64>,
    /// Size of the next chunk in each quality.
    sizes_bytes: Vec<u64>,
    /// Chunks that came, at most 32, the last one last.
    past: Vec<Py<PyDownload>>,
    /// What is foreseen of the rate at each whole second from now (median), at most 120; empty: nothing.
    foreseen_mbps: Vec<f64>,
}

/// Seconds ahead that a view tells of.
const AHEAD_S: u64 = 120;

impl PyAbrView {
    fn new(py: Python<'_>, view: &View<'_>) -> PyResult<Self> {
        let qualities = 0..view.ladder.qualities();
        let past = view.past.iter().map(|one| Py::new(py, PyDownload::from(one)));
        Ok(Self {
            now_s: view.now.as_secs_f64(),
            buffer_s: view.buffer_s,
            most_buffer_s: view.most_buffer_s,
            chunk: view.chunk,
            chunks: view.ladder.chunks(),
            chunk_s: view.ladder.chunk_s(),
            ladder_mbps: view.ladder.bitrates_mbps().to_vec(),
            sizes_bytes: qualities.map(|quality| view.ladder.bytes(view.chunk, quality)).collect(),
            past: past.collect::<PyResult<_>>()?,
            foreseen_mbps: foreseen(view),
        })
    }
}

fn foreseen(view: &View<'_>) -> Vec<f64> {
    let (Some(forecast), Some(median)) = (view.forecast, forecast::Probability::new(0.5)) else {
        return Vec::new();
    };
    let seconds = (0..AHEAD_S).map(|second| view.now + units::Duration::from_secs(second));
    seconds.map_while(|at| forecast.down(at, median)).map(|rate| rate.as_mbps()).collect()
}

/// Adapter of an object with `choose(view)` and, if it likes, `first(view)`.
pub(crate) struct PyAbr {
    object: Py<PyAny>,
    failure: Arc<Failure>,
}

impl std::fmt::Debug for PyAbr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PyAbr")
    }
}

impl PyAbr {
    pub(crate) fn new(object: Py<PyAny>, failure: Arc<Failure>) -> Self {
        Self { object, failure }
    }

    /// What a method answers: a quality, or a quality and a time to wait. The lowest quality once it has
    /// raised; the run ends then.
    fn ask(&self, method: &str, view: &View<'_>) -> Wanted {
        let answer = Python::attach(|py| {
            let view = PyAbrView::new(py, view)?;
            let answer = self.object.bind(py).call_method1(method, (view,))?;
            wanted(&answer, method)
        });
        answer.unwrap_or_else(|error| {
            self.failure.set(error);
            Wanted::now(0)
        })
    }
}

fn wanted(answer: &Bound<'_, PyAny>, method: &str) -> PyResult<Wanted> {
    if let Ok(quality) = answer.extract::<usize>() {
        return Ok(Wanted::now(quality));
    }
    match answer.extract::<(usize, f64)>() {
        Ok((quality, wait_s)) if (0.0..=3600.0).contains(&wait_s) => Ok(Wanted { quality, wait_s }),
        _ => Err(PyTypeError::new_err(format!(
            "{method} returned {answer}: return a quality, from 0, or (quality, wait_s) with at most \
             an hour to wait"
        ))),
    }
}

impl Abr for PyAbr {
    fn first(&mut self, view: &View<'_>) -> usize {
        self.ask("first", view).quality
    }

    fn choose(&mut self, view: &View<'_>) -> Wanted {
        self.ask("choose", view)
    }
}
