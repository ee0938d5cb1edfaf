use crate::{Info, Named, Parameter, flag, integer, number, option};

const INFO: Info = Info {
    name: "example",
    title: "An example",
    source: "ours",
    parameters: &[
        Parameter {
            name: "interval_ms",
            unit: "ms",
            kind: integer(100.0, 1.0, 1000.0),
            meaning: "How often.",
            source: "ours",
        },
        Parameter {
            name: "beta",
            unit: "",
            kind: number(0.25, 0.0, 1.0),
            meaning: "How much.",
            source: "ours",
        },
        Parameter {
            name: "delta",
            unit: "",
            kind: option(&["kernel", "paper"]),
            meaning: "Which.",
            source: "ours",
        },
        Parameter {
            name: "exact",
            unit: "",
            kind: flag(false),
            meaning: "Whether.",
            source: "ours",
        },
    ],
};

fn resolve(json: &str) -> Result<crate::Values, String> {
    let named: Named = serde_json::from_str(json).unwrap();
    assert_eq!(named.name(), "example");
    INFO.resolve(&named.parameters()).map_err(|error| error.to_string())
}

#[test]
fn what_is_not_given_is_the_default() {
    for json in [r#""example""#, r#"{"name": "example"}"#] {
        let values = resolve(json).unwrap();
        assert_eq!(values.whole("interval_ms"), 100);
        assert_eq!(values.option("delta"), "kernel");
        assert!(!values.flag("exact"));
    }
    let values = resolve(r#"{"name": "example", "beta": 0.5, "delta": "paper", "exact": true}"#);
    let values = values.unwrap();
    assert_eq!((values.number("beta"), values.option("delta")), (0.5, "paper"));
    assert!(values.flag("exact"));
}

#[test]
fn what_makes_no_sense_is_one_sentence() {
    let refused = |json: &str| resolve(json).unwrap_err();
    assert_eq!(
        refused(r#"{"name": "example", "gamma": 1}"#),
        "example has no parameter 'gamma'; known are interval_ms, beta, delta, exact"
    );
    assert_eq!(
        refused(r#"{"name": "example", "beta": 2}"#),
        "beta of example is 2; it must be a number from 0 to 1"
    );
    assert_eq!(
        refused(r#"{"name": "example", "interval_ms": 1.5}"#),
        "interval_ms of example is 1.5; it must be a whole number from 1 to 1000"
    );
    assert_eq!(
        refused(r#"{"name": "example", "delta": "both"}"#),
        "delta of example is 'both'; it must be one of kernel, paper"
    );
    assert_eq!(
        refused(r#"{"name": "example", "exact": 1}"#),
        "exact of example is 1; it must be true or false"
    );
}
