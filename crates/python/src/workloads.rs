//! Workloads as Python asks about them, and their tables as columns.

use crate::refuse;
use application::{Cell, Column, Row, Workload};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::collections::BTreeMap;

/// Checks a workload (JSON) and returns the way that most of its data go, "down" or "up". Raises
/// `ValueError` for one that cannot be.
#[pyfunction]
pub(crate) fn check_workload(workload: &str) -> PyResult<&'static str> {
    let workload: Workload = serde_json::from_str(workload).map_err(refuse)?;
    let refused = |error| refuse(format!("a workload '{}' {error}", workload.kind()));
    workload.describe().check().map_err(refused)?;
    Ok(workload.describe().direction().name())
}

/// The columns of each kind of workload as JSON: name, kind ("count", "number", "word", "flag") and
/// meaning.
#[pyfunction]
pub(crate) fn workload_tables() -> PyResult<String> {
    let tables: BTreeMap<_, _> = Workload::tables().into_iter().collect();
    serde_json::to_string(&tables).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// Rows as columns: the connections, and the values of each column with `None` where there is none.
pub(crate) type Columns<'py> = (Vec<usize>, Vec<(&'static str, Bound<'py, PyList>)>);

pub(crate) fn columns<'py>(
    py: Python<'py>,
    columns: &[Column],
    rows: &[(usize, Row)],
) -> PyResult<Columns<'py>> {
    let places = rows.iter().map(|(place, _)| *place).collect();
    let column = |(number, column): (usize, &Column)| {
        let cells = rows.iter().map(|(_, row)| cell(py, row[number]));
        Ok((column.name, PyList::new(py, cells.collect::<PyResult<Vec<_>>>()?)?))
    };
    Ok((places, columns.iter().enumerate().map(column).collect::<PyResult<_>>()?))
}

fn cell(py: Python<'_>, cell: Cell) -> PyResult<Bound<'_, PyAny>> {
    Ok(match cell {
        Cell::Count(value) => value.into_pyobject(py)?.into_any(),
        Cell::Number(value) => value.into_pyobject(py)?.into_any(),
        Cell::Word(value) => value.into_pyobject(py)?.into_any(),
        Cell::Flag(value) => value.into_pyobject(py)?.to_owned().into_any(),
        Cell::Nothing => py.None().into_bound(py),
    })
}
