//! The relay of `crates/emulator`. The GIL is released wherever its thread is waited for.

use crate::refuse;
use emulator::{Change, EmulatorError, Offload, RelayConfig, Sample};
use link::{Direction, PathConfig};
use numpy::IntoPyArray;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Deserialize;
use serde::de::value::{Error as Unknown, StrDeserializer};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::PathBuf;

/// Name of a column and what a row has in it.
type Column = (&'static str, fn(&Sample) -> f64);

/// Carries frames between pairs of TUN devices through the links of paths, in a thread of its own.
#[pyclass(frozen, module = "skyweave._skyweave")]
pub(crate) struct Relay {
    relay: emulator::Relay,
}

#[pymethods]
impl Relay {
    /// `paths` is a JSON list of `skyweave.model.config.Path`, `devices` has the descriptors of client and
    /// server for each, which stay the caller's; `epoch_ns` is time 0 of the links on the monotonic
    /// clock; `capture` is a folder for `NAME.pcapng` of each path; `offload` is what all devices
    /// were opened with: `none`, `tcp` or `tcp_udp`. Raises `ValueError` for a description that makes
    /// no sense, `OSError` for a device or a file that cannot be used.
    #[new]
    #[pyo3(signature = (paths, devices, seed, epoch_ns, sample_interval_ms, capture, offload="none"))]
    fn new(
        paths: &str,
        devices: Vec<(i32, i32)>,
        seed: u64,
        epoch_ns: u64,
        sample_interval_ms: u64,
        capture: Option<PathBuf>,
        offload: &str,
    ) -> PyResult<Self> {
        let paths: Vec<PathConfig> = serde_json::from_str(paths).map_err(refuse)?;
        let offload = Offload::deserialize(StrDeserializer::<Unknown>::new(offload));
        let offload = offload.map_err(refuse)?;
        let config = RelayConfig { paths, seed, epoch_ns, sample_interval_ms, offload, capture };
        let pairs = devices.iter().map(|&(client, server)| Ok((copy(client)?, copy(server)?)));
        let pairs = pairs.collect::<PyResult<Vec<_>>>()?;
        Ok(Self { relay: emulator::Relay::start(&config, pairs).map_err(raise)? })
    }

    /// Changes a link from now on: JSON with one of `capacity`, `delay`, `loss` and `queue` of
    /// `skyweave.model.config.Link`. Raises `ValueError` for an unknown path or a change that makes no
    /// sense, `RuntimeError` when the relay has ended.
    fn change(&self, py: Python<'_>, path: &str, direction: &str, change: &str) -> PyResult<()> {
        let name = StrDeserializer::<Unknown>::new(direction);
        let direction = Direction::deserialize(name).map_err(refuse)?;
        let change: Change = serde_json::from_str(change).map_err(refuse)?;
        py.detach(|| self.relay.change(path, direction, change)).map_err(raise)
    }

    /// Closes both links of a path: what they hold and what arrives is lost until `open`. Raises as
    /// `change` does.
    fn close(&self, py: Python<'_>, path: &str) -> PyResult<()> {
        py.detach(|| self.relay.close(path)).map_err(raise)
    }

    /// Opens both links of a path again. Raises as `change` does.
    fn open(&self, py: Python<'_>, path: &str) -> PyResult<()> {
        py.detach(|| self.relay.open(path)).map_err(raise)
    }

    /// What has been done so far, or until the end, as JSON.
    fn statistics(&self, py: Python<'_>) -> PyResult<String> {
        let statistics = py.detach(|| self.relay.statistics());
        serde_json::to_string(&statistics)
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// The columns of the samples so far, or until the end: a row for each time and link.
    fn samples<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rows = py.detach(|| self.relay.samples());
        let columns = PyDict::new(py);
        let names: Vec<String> = self.relay.link_names();
        let links: Vec<&str> = rows.iter().map(|row| names[row.link].as_str()).collect();
        columns.set_item("link", links)?;
        let of_row: [Column; 5] = [
            ("time_s", |row| row.time.as_secs_f64()),
            ("queue_bytes", |row| row.queued_bytes as f64),
            ("delivered_bytes", |row| row.delivered_bytes as f64),
            ("delivered_packets", |row| row.delivered_packets as f64),
            ("dropped_packets", |row| row.dropped_packets as f64),
        ];
        for (name, value) in of_row {
            let column: Vec<f64> = rows.iter().map(value).collect();
            columns.set_item(name, column.into_pyarray(py))?;
        }
        Ok(columns)
    }

    /// Why the relay has ended by itself; `None` if it has not.
    #[getter]
    fn failure(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| self.relay.failure())
    }

    /// Ends the relay and lets go of its devices; frames under way are lost. Nothing happens the
    /// second time.
    fn stop(&self, py: Python<'_>) {
        py.detach(|| self.relay.stop());
    }
}

/// A descriptor of its own for the same device.
fn copy(fd: i32) -> PyResult<OwnedFd> {
    if fd < 0 {
        return Err(PyOSError::new_err(format!(
            "{fd} is no descriptor: give that of an open device"
        )));
    }
    // SAFETY: the caller keeps the descriptor open during this call; if it does not, `dup` says so.
    let borrowed = unsafe { BorrowedFd::borrow_raw(fd) };
    borrowed.try_clone_to_owned().map_err(|error| {
        PyOSError::new_err(format!("descriptor {fd} cannot be used ({error}): give an open device"))
    })
}

fn raise(error: EmulatorError) -> PyErr {
    let text = error.to_string();
    match error {
        EmulatorError::Device { .. } | EmulatorError::Capture { .. } | EmulatorError::Start(_) => {
            PyOSError::new_err(text)
        }
        EmulatorError::Ended | EmulatorError::Wait(_) => PyRuntimeError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}
