use super::config;
use crate::{Algorithm, Choice};
use parameters::Kind;

#[test]
fn every_name_leads_back_to_its_algorithm() {
    for algorithm in Algorithm::ALL {
        assert_eq!(algorithm.name().parse(), Ok(algorithm));
        assert_eq!(algorithm.to_string(), algorithm.name());
        let controller = algorithm.build(config());
        assert_eq!(controller.window_bytes(), 10 * super::MSS); // RFC 6928 §2
    }
}

#[test]
fn an_unknown_name_is_repeated_and_nothing_else() {
    let error = "cubik".parse::<Algorithm>().unwrap_err();
    assert_eq!(error.to_string(), "no congestion control is called 'cubik'");
}

#[test]
fn a_choice_crosses_as_json_with_its_parameters_and_refuses_nonsense() {
    let choice =
        |json: &str| serde_json::from_str::<Choice>(json).map_err(|error| error.to_string());
    let classic = choice(r#"{"name":"cubic","hystart":"off"}"#).unwrap();
    assert_eq!(classic.algorithm(), Algorithm::Cubic);
    assert_eq!(serde_json::to_string(&classic).unwrap(), r#"{"name":"cubic","hystart":"off"}"#);
    assert_eq!(choice(r#""cubic""#).unwrap(), Algorithm::Cubic.into());
    assert_eq!(choice(r#""cubik""#).unwrap_err(), "no congestion control is called 'cubik'");
    assert_eq!(
        choice(r#"{"name":"bbr","hystart":"off"}"#).unwrap_err(),
        "bbr has no parameter 'hystart'; known are none"
    );
}

#[test]
fn every_table_is_complete_and_its_defaults_lie_in_their_ranges() {
    for algorithm in Algorithm::ALL {
        let info = algorithm.info();
        assert!(!info.title.is_empty() && !info.source.is_empty(), "{algorithm}");
        let defaults = info.resolve(&Default::default()).unwrap();
        for parameter in info.parameters {
            assert!(!parameter.meaning.is_empty() && !parameter.source.is_empty(), "{algorithm}");
            if let Kind::Number { default, min, max, .. } = parameter.kind {
                assert!((min..=max).contains(&default), "{algorithm}: {}", parameter.name);
                assert_eq!(defaults.number(parameter.name), default);
            }
        }
    }
}
