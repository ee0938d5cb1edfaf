//! The seam between Rust and Python: the private module `skyweave._skyweave`.
//!
//! A run crosses as JSON (the models of `python/skyweave/model/config.py`), its samples come back as
//! NumPy arrays. The GIL is released while a run lasts, except in algorithms written in Python.

mod abr;
mod algorithms;
mod cost;
mod gateway;
mod kernel;
mod orbit;
mod outcome;
mod quic;
mod refuse;
mod relay;
mod scheduling;
mod traces;
mod view;
mod workloads;

use abr::PyAbr;
use outcome::RawRecord;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use refuse::refuse;
use scheduling::{Failure, PyScheduler};
use sim::{Own, OwnScheduler, RunConfig};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The private module of the Python package `skyweave`.
#[pymodule]
mod _skyweave {
    #[pymodule_export]
    use super::abr::{PyAbrView, PyDownload};
    #[pymodule_export]
    use super::algorithms::{algorithm_tables, check_algorithm};
    #[pymodule_export]
    use super::cost::measure_algorithms;
    #[pymodule_export]
    use super::gateway::{QuicDoors, QuicGateway};
    #[pymodule_export]
    use super::kernel::{KernelEnd, KernelListener};
    #[pymodule_export]
    use super::orbit::{Constellation, fibre_rtt_ms, shell_names};
    #[pymodule_export]
    use super::outcome::RawRecord;
    #[pymodule_export]
    use super::quic::{QuicBulkServer, QuicFileServer, QuicHints, quic_carry, quic_fetch};
    #[pymodule_export]
    use super::relay::Relay;
    #[pymodule_export]
    use super::traces::{
        format_mahimahi, format_one_way_delays, format_time_series, parse_mahimahi,
        parse_one_way_delays, parse_time_series, rates_to_opportunities,
    };
    #[pymodule_export]
    use super::view::{PyConnectionView, PyPathView};
    #[pymodule_export]
    use super::workloads::{check_workload, workload_tables};
    #[pymodule_export]
    use super::{build_info, simulate};
}

/// Version and profile of the compiled module: `{"version": …, "profile": "release" | "debug"}`.
#[pyfunction]
fn build_info() -> BTreeMap<&'static str, &'static str> {
    let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
    BTreeMap::from([("version", env!("CARGO_PKG_VERSION")), ("profile", profile)])
}

/// Runs `config` (a `skyweave.model.config.Run` as JSON); `schedulers` and `abrs` map places of
/// connections to algorithms written in Python, schedulers with their name in the record. Raises
/// `ValueError` for a configuration that makes no sense, and whatever one of them raised.
#[pyfunction]
fn simulate(
    py: Python<'_>,
    config: &str,
    schedulers: BTreeMap<usize, (String, Py<PyAny>)>,
    abrs: BTreeMap<usize, Py<PyAny>>,
) -> PyResult<RawRecord> {
    let config: RunConfig = serde_json::from_str(config).map_err(refuse)?;
    let failure = Arc::new(Failure::default());
    let schedulers = schedulers.into_iter().map(|(place, (name, object))| {
        let scheduler = Box::new(PyScheduler::new(object, Arc::clone(&failure)));
        (place, OwnScheduler { name, scheduler })
    });
    let abrs = abrs.into_iter().map(|(place, object)| -> (usize, Box<dyn application::Abr>) {
        (place, Box::new(PyAbr::new(object, Arc::clone(&failure))))
    });
    let own = Own { schedulers: schedulers.collect(), abrs: abrs.collect() };
    let outcome =
        py.detach(|| sim::simulate_with(&config, own, &failure.raised)).map_err(refuse)?;
    match failure.take() {
        Some(error) => Err(error),
        None => {
            let totals = serde_json::to_string(&outcome.totals)
                .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
            Ok(RawRecord::new(outcome, totals))
        }
    }
}
