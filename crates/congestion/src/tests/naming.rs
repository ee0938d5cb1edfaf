use super::config;
use crate::{Algorithm, SlowStart, UnknownAlgorithm};

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
    assert_eq!(error, UnknownAlgorithm("cubik".into()));
    assert_eq!(error.to_string(), "no congestion control is called 'cubik'");
}

#[test]
fn slow_start_is_hystart_unless_it_is_switched_off() {
    assert_eq!(config().hystart, SlowStart::HyStartPlusPlus);
}
