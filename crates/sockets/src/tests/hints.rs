//! What stands on a board reaches the connections, and what does not make sense changes nothing.

use super::ends::{Folder, content, local, serve_aware, server_config};
use crate::*;
use forecast::{BoundaryConfig, ForecastConfig, ForecastWindow};
use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use units::{Duration, Instant};

const NOW: Instant = Instant::from_millis(100_000);

fn ends() -> Ends {
    Ends { local: Some(local(1)), remote: local(2) }
}

/// A boundary in `at_s` seconds, of a forecast that holds for `valid_s`.
fn boundary(at_s: f64, valid_s: f64) -> ForecastConfig {
    let at = BoundaryConfig {
        at_s,
        uncertainty_s: 0.1,
        kind: forecast::BoundaryKind::Slot,
        probability: 1.0,
    };
    ForecastConfig { valid_until_s: Some(valid_s), boundaries: vec![at], ..Default::default() }
}

fn put(hints: &Hints, name: &str, config: ForecastConfig) -> Result<(), SocketError> {
    hints.put(&BTreeMap::from([(name.to_owned(), config)]))
}

#[test]
fn a_path_is_known_by_its_interface_or_the_address_of_either_end() {
    for name in ["127.0.0.1", "127.0.0.2", "::ffff:127.0.0.2", "lo"] {
        let hints = Hints::default();
        put(&hints, name, boundary(4.0, 16.0)).unwrap();
        let known = hints.of(ends(), NOW).unwrap_or_else(|| panic!("{name}"));
        let [at] = known.boundaries()[..] else { panic!("{known:?}") };
        // Four seconds after it was put up, a moment before now.
        assert!(at.at <= NOW + Duration::from_secs(4), "{at:?}");
        assert!(at.at + Duration::from_secs(60) > NOW + Duration::from_secs(4), "{at:?}");
    }
    for name in ["127.0.0.3", "nosuch0", "", "starlink"] {
        let hints = Hints::default();
        put(&hints, name, boundary(4.0, 16.0)).unwrap();
        assert_eq!(hints.of(ends(), NOW), None, "{name}");
    }
}

#[test]
fn what_is_absent_over_or_wrong_is_no_hint() {
    let hints = Hints::default();
    assert_eq!(hints.of(ends(), NOW), None);
    put(&hints, "lo", boundary(4.0, 1e-9)).unwrap();
    let then = monotonic_ns();
    while monotonic_ns() == then {}
    assert_eq!(hints.of(ends(), NOW), None, "over");
    put(&hints, "lo", boundary(4.0, 16.0)).unwrap();
    let known = hints.of(ends(), NOW).unwrap();
    for wrong in [f64::NAN, -1.0, 1e300] {
        let refused = put(&hints, "lo", boundary(wrong, 16.0)).unwrap_err();
        assert!(refused.to_string().contains("forecast of 'lo'"), "{refused}");
    }
    assert_eq!(hints.of(ends(), NOW).unwrap().boundaries().len(), known.boundaries().len());
    assert_eq!(hints.of(ends(), Instant::ZERO), None, "the connection is younger than the hint");
}

/// While a file comes over two paths in turns, the server learns that one of them is out from now on.
#[test]
fn a_server_leaves_a_path_that_is_said_to_be_out() {
    let folder = Folder::new("hints");
    fs::write(folder.0.join("big"), content(100_000_000)).unwrap();
    let turns = scheduler::Algorithm::RoundRobin.into();
    let options = Options { scheduler: turns, ..Options::default() };
    let hints = Hints::default();
    let server = serve_aware(SocketAddr::new(local(1), 0), &folder.0, hints.clone(), |role| {
        server_config(role, &options)
    });
    let mut fetch = server.fetch("/big", &folder.0.join("came"));
    fetch.locals = vec![Local::Address(local(1)), Local::Address(local(2))];
    let (board, mut said) = (hints.clone(), None);
    let outage = ForecastWindow { start_s: 0.0, end_s: 1e6, probability: 1.0 };
    let out = ForecastConfig { outages: vec![outage], ..Default::default() };
    let unique = |path: &PathReport| path.stats.map_or(0, |stats| stats.unique_bytes);
    let found = crate::fetch(&fetch, |progress| {
        if said.is_none() && progress.paths.iter().filter(|path| unique(path) > 0).count() == 2 {
            put(&board, "127.0.0.2", out.clone()).unwrap();
            said = Some(progress.paths.iter().map(unique).collect::<Vec<_>>());
        }
        true
    });
    let (found, said) = (found.unwrap(), said.expect("both paths carried something"));
    let after: Vec<u64> =
        found.paths.iter().map(unique).zip(said).map(|(all, then)| all - then).collect();
    assert!(after[1] * 4 < after[0], "{after:?}");
}
