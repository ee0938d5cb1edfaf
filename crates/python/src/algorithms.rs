//! The tables in which schedulers, congestion controls and ABR algorithms describe themselves.

use parameters::{Info, Kind, Parameter};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Value, json};

/// All schedulers, congestion controls and ABR algorithms with their parameters, as JSON:
/// `{"scheduler": [{"name", "title", "source", "parameters": [{"name", "unit", "type", "default",
/// "range", "meaning", "source"}]}], "congestion": [...], "abr": [...]}`, in the order of the documentation.
#[pyfunction]
pub(crate) fn algorithm_tables() -> String {
    let schedulers = scheduler::Algorithm::ALL.iter().map(|one| describe(one.info()));
    let controls = congestion::Algorithm::ALL.iter().map(|one| describe(one.info()));
    let abr = video::abr::Algorithm::ALL.iter().map(|one| describe(one.info()));
    json!({
        "scheduler": schedulers.collect::<Vec<_>>(),
        "congestion": controls.collect::<Vec<_>>(),
        "abr": abr.collect::<Vec<_>>(),
    })
    .to_string()
}

fn describe(info: &Info) -> Value {
    let parameters: Vec<Value> = info.parameters.iter().map(parameter).collect();
    json!({
        "name": info.name,
        "title": info.title,
        "source": info.source,
        "parameters": parameters,
    })
}

fn parameter(parameter: &Parameter) -> Value {
    let (kind, default) = match parameter.kind {
        Kind::Number { default, integer: true, .. } => ("integer", json!(default as i64)),
        Kind::Number { default, .. } => ("number", json!(default)),
        Kind::Option { default, .. } => ("option", json!(default)),
        Kind::Flag { default } => ("flag", json!(default)),
    };
    json!({
        "name": parameter.name,
        "unit": parameter.unit,
        "type": kind,
        "default": default,
        "range": parameter.range(),
        "meaning": parameter.meaning,
        "source": parameter.source,
    })
}

/// Checks a choice as a study file makes it (JSON of a name, or of an object with `name`); `kind` is
/// "scheduler" or "congestion". Raises `ValueError` with one sentence.
#[pyfunction]
pub(crate) fn check_algorithm(kind: &str, choice: &str) -> PyResult<()> {
    let refused = match kind {
        "scheduler" => serde_json::from_str::<scheduler::Choice>(choice).err(),
        "congestion" => serde_json::from_str::<congestion::Choice>(choice).err(),
        "abr" => serde_json::from_str::<video::abr::Choice>(choice).err(),
        other => return Err(PyValueError::new_err(format!("no kind of algorithm is '{other}'"))),
    };
    refused.map_or(Ok(()), |error| Err(PyValueError::new_err(error.to_string())))
}
