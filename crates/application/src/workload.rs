//! The kinds of workload by name.

use crate::describe::Describe;
use crate::error::WorkloadError;
use crate::table::Column;
use crate::{Adaptive, Bulk, Paced, Requests, Video};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde::{de, ser};
use serde_json::{Map, Value};

/// Makes [`Workload`] out of the kinds and their names in study files.
macro_rules! workloads {
    ($($name:literal => $kind:ident),+ $(,)?) => {
        /// What runs over a connection.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Workload {
            $(#[doc = concat!("`", $name, "`")] $kind($kind)),+
        }

        impl Workload {
            /// The names of all kinds.
            pub const KINDS: &'static [&'static str] = &[$($name),+];

            /// The columns of each kind's table in the record; none: it has no table.
            pub fn tables() -> Vec<(&'static str, &'static [Column])> {
                vec![$(($name, $kind::COLUMNS)),+]
            }

            /// The name of its kind: that of its table in the record.
            pub fn kind(&self) -> &'static str {
                match self { $(Self::$kind(_) => $name),+ }
            }

            /// What it says of itself.
            pub fn describe(&self) -> &dyn Describe {
                match self { $(Self::$kind(one) => one),+ }
            }

            fn parse(kind: &str, fields: Value) -> Result<Self, serde_json::Error> {
                match kind {
                    $($name => serde_json::from_value(fields).map(Self::$kind),)+
                    _ => Err(<serde_json::Error as de::Error>::custom(format!(
                        "a workload {}",
                        WorkloadError::Kind { kind: kind.into(), known: Self::KINDS.join(", ") }
                    ))),
                }
            }
        }

        /// Its fields, and `kind`.
        impl Serialize for Workload {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let fields = match self { $(Self::$kind(one) => serde_json::to_value(one)),+ };
                let mut fields = fields.map_err(<S::Error as ser::Error>::custom)?;
                if let Value::Object(fields) = &mut fields {
                    fields.insert("kind".into(), self.kind().into());
                }
                fields.serialize(serializer)
            }
        }

        $(impl From<$kind> for Workload {
            fn from(one: $kind) -> Self {
                Self::$kind(one)
            }
        })+
    };
}

workloads! {
    "bulk" => Bulk,
    "requests" => Requests,
    "paced" => Paced,
    "video" => Video,
    "adaptive" => Adaptive,
}

/// A table with `kind` and the fields of that kind; without `kind` it is bulk.
impl<'de> Deserialize<'de> for Workload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Map::deserialize(deserializer)?;
        let kind = match fields.remove("kind") {
            None => "bulk".to_owned(),
            Some(Value::String(kind)) => kind,
            Some(other) => {
                return Err(<D::Error as de::Error>::custom(format!(
                    "the kind of a workload is {other}: it must be a word"
                )));
            }
        };
        Self::parse(&kind, Value::Object(fields)).map_err(<D::Error as de::Error>::custom)
    }
}
