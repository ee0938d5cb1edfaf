use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// A value as a study file gives it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Given {
    /// `true` or `false`.
    Flag(bool),
    /// Any number.
    Number(f64),
    /// Any text.
    Text(String),
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(on) => write!(f, "{on}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "'{text}'"),
        }
    }
}

/// An algorithm as a study file names it: `"alcs"`, or `{name = "alcs", update_interval_ms = 100}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Named {
    /// Its name alone: all defaults.
    Name(String),
    /// With some parameters.
    With {
        /// Its name.
        name: String,
        /// What differs from the defaults.
        #[serde(flatten)]
        parameters: BTreeMap<String, Given>,
    },
}

impl Named {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Name(name) | Self::With { name, .. } => name,
        }
    }

    /// What was given beside the name.
    pub fn parameters(&self) -> BTreeMap<String, Given> {
        match self {
            Self::Name(_) => BTreeMap::new(),
            Self::With { parameters, .. } => parameters.clone(),
        }
    }
}
