//! A scheduler written in Python behind the Rust trait.

use crate::view::PyConnectionView;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use scheduler::{Capabilities, ConnectionView, Decision, Gap, PathEvent, PathSet, Scheduler};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use units::{Duration, Instant, PathId};

/// The first exception that code of the caller's raised; it ends the run.
#[derive(Default)]
pub(crate) struct Failure {
    pub(crate) raised: AtomicBool,
    error: Mutex<Option<PyErr>>,
}

impl Failure {
    pub(crate) fn set(&self, error: PyErr) {
        if let Ok(mut slot) = self.error.lock() {
            slot.get_or_insert(error);
        }
        self.raised.store(true, Ordering::Relaxed);
    }

    pub(crate) fn take(&self) -> Option<PyErr> {
        self.error.lock().ok()?.take()
    }
}

/// Adapter of an object with `select(view)` and, if it likes, `on_sent(now_s, path, bytes)`,
/// `on_acked`, `on_lost` of the same form and `on_path_event(now_s, path, event)`.
pub(crate) struct PyScheduler {
    object: Py<PyAny>,
    failure: std::sync::Arc<Failure>,
}

impl std::fmt::Debug for PyScheduler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PyScheduler")
    }
}

impl PyScheduler {
    pub(crate) fn new(object: Py<PyAny>, failure: std::sync::Arc<Failure>) -> Self {
        Self { object, failure }
    }

    fn call(&self, hook: &str, now: Instant, path: PathId, value: impl for<'py> IntoPyObject<'py>) {
        Python::attach(|py| {
            let result = self.object.call_method1(py, hook, (now.as_secs_f64(), path.0, value));
            if let Err(error) = result {
                self.failure.set(error);
            }
        });
    }

    fn ask(&self, py: Python<'_>, view: &ConnectionView<'_>) -> PyResult<Decision> {
        let view = PyConnectionView::new(py, view)?;
        let answer = self.object.bind(py).call_method1("select", (view,))?;
        if answer.is_none() {
            return Ok(Decision::Wait(None));
        }
        if let Ok(path) = answer.extract::<u8>() {
            return known(path).map(Decision::Send);
        }
        if let Ok(until_s) = answer.getattr("until_s") {
            let nanos = (until_s.extract::<f64>()?.max(0.0) * 1e9) as u64;
            let until = Instant::ZERO + Duration::from_nanos(nanos);
            return Ok(Decision::Wait(Some(until)));
        }
        if let Ok(gap_bytes) = answer.getattr("gap_bytes") {
            let path = known(answer.getattr("path")?.extract()?)?;
            let bytes = gap_bytes.extract()?;
            let unsent: bool = answer.getattr("unsent")?.extract()?;
            let gap = if unsent { Gap::Unsent(bytes) } else { Gap::Stream(bytes) };
            return Ok(Decision::Ahead { path, gap });
        }
        let paths = answer.extract::<Vec<u8>>().map_err(|_| {
            PyTypeError::new_err(format!(
                "select returned {answer}: return the id of a path, a list of ids, None, \
                 Ahead(path, gap_bytes) or Wait(until_s)"
            ))
        })?;
        let paths = paths.into_iter().map(known).collect::<PyResult<Vec<_>>>()?;
        Ok(Decision::Duplicate(paths.into_iter().fold(PathSet::EMPTY, PathSet::with)))
    }
}

fn known(path: u8) -> PyResult<PathId> {
    if path >= 64 {
        return Err(PyTypeError::new_err(format!("select returned path {path}: ids are below 64")));
    }
    Ok(PathId(path))
}

impl Scheduler for PyScheduler {
    fn select(&mut self, view: &ConnectionView<'_>) -> Decision {
        let answer = Python::attach(|py| self.ask(py, view));
        answer.unwrap_or_else(|error| {
            self.failure.set(error);
            Decision::Wait(None)
        })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { measures_delivery: true, ..Capabilities::default() }
    }

    fn on_sent(&mut self, now: Instant, path: PathId, bytes: u64) {
        self.call("on_sent", now, path, bytes);
    }

    fn on_acked(&mut self, now: Instant, path: PathId, bytes: u64) {
        self.call("on_acked", now, path, bytes);
    }

    fn on_lost(&mut self, now: Instant, path: PathId, bytes: u64) {
        self.call("on_lost", now, path, bytes);
    }

    fn on_path_event(&mut self, now: Instant, path: PathId, event: PathEvent) {
        let name = match event {
            PathEvent::Established => "established",
            PathEvent::Closed => "closed",
            PathEvent::Failed => "failed",
            PathEvent::Revived => "revived",
        };
        self.call("on_path_event", now, path, name);
    }
}
