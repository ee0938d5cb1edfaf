use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The exception for a description that makes no sense.
pub(crate) fn refuse(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}
