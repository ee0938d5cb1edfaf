use crate::{Info, Named, ParameterError, Values};
use serde::{Deserialize, Serialize};

/// A set of algorithms of one kind, each of which describes itself.
pub trait Catalogue: Copy + 'static {
    /// What they are, in words: "scheduler".
    const KIND: &'static str;
    /// All of them, in the order in which they are listed to the user.
    const CATALOGUE: &'static [Self];

    /// Name, source and parameters.
    fn description(self) -> &'static Info;
}

/// Why a choice was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChoiceError {
    /// A name that no algorithm of the kind has.
    #[error("no {kind} is called '{name}'")]
    Unknown {
        /// [`Catalogue::KIND`].
        kind: &'static str,
        /// What was given.
        name: String,
    },
    /// A parameter that makes no sense.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
}

/// The algorithm of this name.
///
/// # Errors
/// [`ChoiceError::Unknown`].
pub fn find<A: Catalogue>(name: &str) -> Result<A, ChoiceError> {
    let found = A::CATALOGUE.iter().find(|algorithm| algorithm.description().name == name);
    found.copied().ok_or_else(|| ChoiceError::Unknown { kind: A::KIND, name: name.to_owned() })
}

/// An algorithm with checked parameters, as a study file names it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Named", into = "Named", bound = "A: Catalogue")]
pub struct Choice<A> {
    algorithm: A,
    named: Named,
    values: Values,
}

impl<A: Catalogue> Choice<A> {
    /// The algorithm.
    pub fn algorithm(&self) -> A {
        self.algorithm
    }

    /// Its parameters, all of them.
    pub fn values(&self) -> &Values {
        &self.values
    }
}

impl<A: Catalogue> TryFrom<Named> for Choice<A> {
    type Error = ChoiceError;

    fn try_from(named: Named) -> Result<Self, ChoiceError> {
        let algorithm: A = find(named.name())?;
        let values = algorithm.description().resolve(&named.parameters())?;
        Ok(Self { algorithm, named, values })
    }
}

impl<A> From<Choice<A>> for Named {
    fn from(choice: Choice<A>) -> Self {
        choice.named
    }
}

impl<A: Catalogue> From<A> for Choice<A> {
    /// The algorithm with its defaults.
    fn from(algorithm: A) -> Self {
        let named = Named::Name(algorithm.description().name.to_owned());
        let values = algorithm.description().resolve(&named.parameters()).unwrap_or_default();
        Self { algorithm, named, values }
    }
}
