use crate::Given;
use crate::values::{ParameterError, Value, Values};
use std::collections::BTreeMap;

/// What a parameter may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A number in a closed range.
    Number {
        /// What holds if nothing is given.
        default: f64,
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
        /// Whole numbers only.
        integer: bool,
    },
    /// One of several words.
    Option {
        /// What holds if nothing is given.
        default: &'static str,
        /// All of them.
        options: &'static [&'static str],
    },
    /// On or off.
    Flag {
        /// What holds if nothing is given.
        default: bool,
    },
}

/// One parameter of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Name in study files, with the unit in it (`update_interval_ms`).
    pub name: &'static str,
    /// Unit in words; empty for a ratio, a word or a flag.
    pub unit: &'static str,
    /// Type, default and range.
    pub kind: Kind,
    /// What it does, in one sentence.
    pub meaning: &'static str,
    /// Where the default comes from (RFC section, paper equation, kernel file), or "ours".
    pub source: &'static str,
}

/// An algorithm as it describes itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Info {
    /// Name in study files.
    pub name: &'static str,
    /// Full name.
    pub title: &'static str,
    /// RFC, paper or kernel file; says so where it is not from the full source.
    pub source: &'static str,
    /// Everything that can be set.
    pub parameters: &'static [Parameter],
}

/// A number in a closed range.
pub const fn number(default: f64, min: f64, max: f64) -> Kind {
    Kind::Number { default, min, max, integer: false }
}

/// A whole number in a closed range.
pub const fn integer(default: f64, min: f64, max: f64) -> Kind {
    Kind::Number { default, min, max, integer: true }
}

/// One of several words, the first of which is the default.
pub const fn option(options: &'static [&'static str]) -> Kind {
    Kind::Option { default: options[0], options }
}

/// On or off.
pub const fn flag(default: bool) -> Kind {
    Kind::Flag { default }
}

impl Info {
    /// Checks what was given and fills in the defaults.
    ///
    /// # Errors
    /// [`ParameterError`] for a name that the algorithm does not have, a value of the wrong type or
    /// out of range.
    pub fn resolve(&self, given: &BTreeMap<String, Given>) -> Result<Values, ParameterError> {
        let known = |name: &str| self.parameters.iter().any(|parameter| parameter.name == name);
        if let Some(unknown) = given.keys().find(|name| !known(name)) {
            let names: Vec<&str> = self.parameters.iter().map(|parameter| parameter.name).collect();
            return Err(ParameterError::Unknown {
                algorithm: self.name,
                parameter: unknown.clone(),
                known: if names.is_empty() { "none".into() } else { names.join(", ") },
            });
        }
        let values = self.parameters.iter().map(|parameter| {
            let value = match given.get(parameter.name) {
                Some(given) => self.check(parameter, given)?,
                None => parameter.default_value(),
            };
            Ok((parameter.name, value))
        });
        Ok(Values::new(values.collect::<Result<_, _>>()?))
    }

    fn check(&self, parameter: &Parameter, given: &Given) -> Result<Value, ParameterError> {
        let found = match (parameter.kind, given) {
            (Kind::Number { min, max, integer, .. }, Given::Number(number)) => {
                let fits = (min..=max).contains(number) && (!integer || number.fract() == 0.0);
                fits.then_some(Value::Number(*number))
            }
            (Kind::Option { options, .. }, Given::Text(word)) => {
                options.iter().find(|option| *option == word).map(|option| Value::Option(option))
            }
            (Kind::Flag { .. }, Given::Flag(on)) => Some(Value::Flag(*on)),
            _ => None,
        };
        found.ok_or_else(|| ParameterError::Refused {
            algorithm: self.name,
            parameter: parameter.name,
            given: given.to_string(),
            wanted: parameter.range(),
        })
    }
}

impl Parameter {
    fn default_value(&self) -> Value {
        match self.kind {
            Kind::Number { default, .. } => Value::Number(default),
            Kind::Option { default, .. } => Value::Option(default),
            Kind::Flag { default } => Value::Flag(default),
        }
    }

    /// What may be given, in words.
    pub fn range(&self) -> String {
        match self.kind {
            Kind::Number { min, max, integer, .. } => {
                let what = if integer { "a whole number" } else { "a number" };
                format!("{what} from {min} to {max}")
            }
            Kind::Option { options, .. } => format!("one of {}", options.join(", ")),
            Kind::Flag { .. } => "true or false".into(),
        }
    }
}
