//! Workloads over the kernel's own transports (`crates/sockets/src/kernel.rs`). Everything that waits
//! runs with the GIL released.

use crate::quic::{raise, to_json};
use crate::refuse;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use sockets::KernelPlan;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// A server's socket, waiting for one client.
#[pyclass(frozen, module = "skyweave._skyweave")]
pub(crate) struct KernelListener(sockets::KernelListener);

#[pymethods]
impl KernelListener {
    /// Listens where `plan` (JSON) says. Raises `ValueError` for a plan that makes no sense, `OSError`
    /// for what the system refuses.
    #[new]
    fn new(plan: &str) -> PyResult<Self> {
        sockets::KernelListener::bind(parse(plan)?).map(Self).map_err(raise)
    }

    /// The server's end when its client has come; `None`: none came before the end in `plan`.
    fn accept(&self, py: Python<'_>, plan: &str) -> PyResult<Option<KernelEnd>> {
        let plan = parse(plan)?;
        Ok(py.detach(|| self.0.accept(plan)).map_err(raise)?.map(KernelEnd::new))
    }
}

/// One end of a connection with its application.
#[pyclass(frozen, module = "skyweave._skyweave")]
pub(crate) struct KernelEnd {
    end: Mutex<sockets::KernelEnd>,
    moved_bytes: Arc<AtomicU64>,
    fileno: i32,
}

impl KernelEnd {
    fn new(end: sockets::KernelEnd) -> Self {
        let (moved_bytes, fileno) = (end.moved_bytes(), end.fileno());
        Self { end: Mutex::new(end), moved_bytes, fileno }
    }
}

#[pymethods]
impl KernelEnd {
    /// The client's end. Raises `OSError` when the server was not reached before the end in `plan`.
    #[staticmethod]
    fn connect(py: Python<'_>, plan: &str) -> PyResult<Self> {
        let plan = parse(plan)?;
        let end = py.detach(|| sockets::KernelEnd::connect(plan)).map_err(raise)?;
        end.map(Self::new).map_err(|why| PyOSError::new_err(format!("no connection: {why}")))
    }

    /// The file descriptor of the socket, to ask the kernel about.
    fn fileno(&self) -> i32 {
        self.fileno
    }

    /// Bytes written by the end that sends most, or read by the other; it grows while `run` lasts.
    #[getter]
    fn moved_bytes(&self) -> u64 {
        self.moved_bytes.load(Ordering::Relaxed)
    }

    /// Runs the application to its end; the report as JSON. Raises `OSError` for what the system
    /// refuses.
    fn run(&self, py: Python<'_>) -> PyResult<String> {
        let report = py.detach(|| {
            let mut end = self.end.lock().unwrap_or_else(|broken| broken.into_inner());
            end.run()
        });
        to_json(&report.map_err(raise)?)
    }
}

fn parse(plan: &str) -> PyResult<KernelPlan> {
    serde_json::from_str(plan).map_err(refuse)
}
