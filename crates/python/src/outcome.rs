//! Columns of a record as NumPy arrays.

use crate::workloads::{Columns, columns};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sim::{EventRow, Outcome, SampleRow};
use std::collections::BTreeMap;

/// Name of a column and what a row has in it.
type Column = (&'static str, fn(&SampleRow) -> f64);

/// What a run left behind; read column by column.
#[pyclass(frozen, module = "skyweave._skyweave")]
pub(crate) struct RawRecord {
    outcome: Outcome,
    /// Totals as JSON.
    #[pyo3(get)]
    totals: String,
}

impl RawRecord {
    pub(crate) fn new(outcome: Outcome, totals: String) -> Self {
        Self { outcome, totals }
    }

    /// The value where a row has it (a path's or the connection's own), NaN elsewhere.
    fn column<'py>(
        &self,
        py: Python<'py>,
        of_path: bool,
        value: impl Fn(&SampleRow) -> f64,
    ) -> Bound<'py, PyArray1<f64>> {
        let rows = self.outcome.samples.iter();
        let cells =
            rows.map(|row| if row.path.is_some() == of_path { value(row) } else { f64::NAN });
        cells.collect::<Vec<_>>().into_pyarray(py)
    }
}

#[pymethods]
impl RawRecord {
    /// Names of the paths; the columns `path` count them, -1 is the connection itself.
    #[getter]
    fn path_names(&self) -> Vec<String> {
        self.outcome.path_names.clone()
    }

    /// The columns of `samples`; NaN where a row has no such value.
    fn samples<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rows = &self.outcome.samples;
        let columns = PyDict::new(py);
        let every = |value: fn(&SampleRow) -> f64| -> Bound<'py, PyArray1<f64>> {
            rows.iter().map(value).collect::<Vec<_>>().into_pyarray(py)
        };
        columns.set_item("time_s", every(|row| row.time_s))?;
        let places: Vec<i32> = rows.iter().map(|row| row.connection as i32).collect();
        columns.set_item("connection", places.into_pyarray(py))?;
        let paths: Vec<i32> = rows.iter().map(|row| path_code(row.path)).collect();
        columns.set_item("path", paths.into_pyarray(py))?;
        columns.set_item("delivered_bytes", every(|row| row.delivered_bytes as f64))?;
        let of_path: [Column; 7] = [
            ("cwnd_packets", |row| row.cwnd_packets as f64),
            ("srtt_ms", |row| row.srtt_ms),
            ("in_flight_packets", |row| row.in_flight_packets as f64),
            ("pacing_mbps", |row| row.pacing_mbps),
            ("lost_packets", |row| row.lost_packets as f64),
            ("retransmitted_packets", |row| row.retransmitted_packets as f64),
            ("queue_bytes", |row| row.queue_bytes as f64),
        ];
        for (name, value) in of_path {
            columns.set_item(name, self.column(py, true, value))?;
        }
        let own: [Column; 3] = [
            ("goodput_mbps", |row| row.goodput_mbps),
            ("reorder_buffer_bytes", |row| row.reorder_buffer_bytes as f64),
            ("send_window_bytes", |row| row.send_window_bytes as f64),
        ];
        for (name, value) in own {
            columns.set_item(name, self.column(py, false, value))?;
        }
        Ok(columns)
    }

    /// What applications measured, by kind of workload: the connection of each row, and the columns
    /// with `None` where a row has no value.
    fn applications<'py>(&self, py: Python<'py>) -> PyResult<BTreeMap<&'static str, Columns<'py>>> {
        let tables = self.outcome.applications.iter();
        tables.map(|(kind, table)| Ok((*kind, columns(py, table.columns, &table.rows)?))).collect()
    }

    /// The columns of `events`.
    fn events<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rows = &self.outcome.events;
        let columns = PyDict::new(py);
        let floats = |value: fn(&EventRow) -> f64| -> Bound<'py, PyArray1<f64>> {
            rows.iter().map(value).collect::<Vec<_>>().into_pyarray(py)
        };
        columns.set_item("time_s", floats(|row| row.time_s))?;
        let places: Vec<i32> = rows.iter().map(|row| row.connection as i32).collect();
        columns.set_item("connection", places.into_pyarray(py))?;
        let paths: Vec<i32> = rows.iter().map(|row| path_code(row.path)).collect();
        columns.set_item("path", paths.into_pyarray(py))?;
        let names: Vec<&str> = rows.iter().map(|row| row.event).collect();
        columns.set_item("event", names)?;
        columns.set_item("value", floats(|row| row.value))?;
        Ok(columns)
    }
}

fn path_code(path: Option<usize>) -> i32 {
    path.map_or(-1, |index| index as i32)
}
