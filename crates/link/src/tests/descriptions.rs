use super::*;
use crate::{CapacityConfig, DelayConfig, InFlight, LossConfig};

fn read(json: &str) -> LinkConfig {
    serde_json::from_str(json).unwrap()
}

fn refusal(change: impl FnOnce(&mut LinkConfig)) -> String {
    let mut config = LinkConfig::constant(10.0, 10.0);
    change(&mut config);
    config.build::<Packet>(1).unwrap_err().to_string()
}

#[test]
fn the_json_of_the_python_models_is_read() {
    // As `skyweave.model.config.Link(...).model_dump_json()` writes it.
    let config = read(
        r#"{"capacity":{"kind":"steps","times_s":[0.0,15.0],"mbps":[80.0,0.0],"repeat_s":30.0},
            "delay":{"kind":"steps","times_s":[0,15],"ms":[25,40.5],"repeat_s":null},
            "queue":{"kind":"codel","target_ms":5.0,"interval_ms":100.0,"packets":1000},
            "loss":{"kind":"gilbert-elliott","p":0.01,"r":0.3,"loss_good":0.0,"loss_bad":1.0},
            "outages":[{"start_s":1.0,"end_s":1.5,"in_flight":"hold"}]}"#,
    );
    let capacity = CapacityConfig::Steps {
        times_s: vec![0.0, 15.0],
        mbps: vec![80.0, 0.0],
        repeat_s: Some(30.0),
    };
    assert_eq!(config.capacity, capacity);
    assert_eq!(config.outages[0].in_flight, InFlight::Hold);
    built(&config);
    let written = serde_json::to_string(&config).unwrap();
    assert_eq!(read(&written), config);
}

#[test]
fn what_has_a_default_may_be_left_out() {
    let constant =
        r#""capacity":{"kind":"constant","mbps":10},"delay":{"kind":"constant","ms":10}"#;
    assert_eq!(read(&format!("{{{constant}}}")), LinkConfig::constant(10.0, 10.0));
    let with = |more: &str| read(&format!("{{{constant},{more}}}"));
    let droptail = with(r#""queue":{"kind":"droptail","bytes":90000,"packets":null}"#).queue;
    assert_eq!(droptail, QueueConfig::DropTail { bytes: Some(90_000), packets: None });
    let codel = with(r#""queue":{"kind":"codel"}"#).queue;
    assert_eq!(codel, QueueConfig::CoDel { target_ms: 5.0, interval_ms: 100.0, packets: 1000 });
    assert_eq!(with(r#""queue":{"kind":"infinite"}"#).queue, QueueConfig::Infinite);
    assert_eq!(with(r#""loss":{"kind":"none"}"#).loss, LossConfig::None);
    let elliott = with(r#""loss":{"kind":"gilbert-elliott","p":0.1,"r":0.2}"#).loss;
    let expected = LossConfig::GilbertElliott { p: 0.1, r: 0.2, loss_good: 0.0, loss_bad: 1.0 };
    assert_eq!(elliott, expected);
    let outages = with(r#""outages":[{"start_s":1,"end_s":2}]"#).outages;
    assert_eq!(outages[0].in_flight, InFlight::Drop);
}

#[test]
fn unknown_fields_are_refused() {
    let refused = [
        r#"{"capacity":{"kind":"constant","mbps":1,"kbps":2},"delay":{"kind":"constant","ms":1}}"#,
        r#"{"capacity":{"kind":"fast"},"delay":{"kind":"constant","ms":1}}"#,
        r#"{"capacity":{"kind":"constant","mbps":1},"delay":{"kind":"constant","ms":1},"mtu":9}"#,
        r#"{"capacity":{"kind":"opportunities","times_ms":[-1]},"delay":{"kind":"constant","ms":1}}"#,
    ];
    for json in refused {
        assert!(serde_json::from_str::<LinkConfig>(json).is_err(), "{json}");
    }
}

#[test]
fn bad_series_are_refused() {
    let capacity = |times_s: &[f64], mbps: &[f64], repeat_s| {
        let (times_s, mbps) = (times_s.to_vec(), mbps.to_vec());
        refusal(|link| link.capacity = CapacityConfig::Steps { times_s, mbps, repeat_s })
    };
    assert_eq!(
        capacity(&[0.0, 1.0], &[5.0], None),
        "capacity: entry 1: 1 value(s) for 2 time(s); give one value for each time"
    );
    assert!(capacity(&[1.0], &[5.0], None).starts_with("capacity: entry 0: the first time is 1.0"));
    assert_eq!(
        capacity(&[0.0, 2.0, 2.0], &[5.0; 3], None),
        "capacity: entry 2: time 2.000000000s does not come after 2.000000000s; sort the times and \
         remove doubles"
    );
    assert!(capacity(&[0.0, f64::NAN], &[5.0; 2], None).starts_with("capacity: entry 1: `NaN` is"));
    assert!(capacity(&[], &[], None).starts_with("capacity: entry 0: there is no value"));
    assert!(
        capacity(&[0.0, 2.0], &[5.0; 2], Some(2.0)).contains("repeats after 2s but has a time")
    );
    assert_eq!(
        capacity(&[0.0], &[-1.0], None),
        "capacity.mbps is -1; give a number from 0 to 1000000 (megabits per second)"
    );
    let times_ms = vec![3, 2];
    assert_eq!(
        refusal(|link| link.capacity = CapacityConfig::Opportunities { times_ms }),
        "capacity.times_ms: entry 1: 2 ms comes before 3 ms; sort the lines"
    );
    let times_ms = vec![0];
    assert!(
        refusal(|link| link.capacity = CapacityConfig::Opportunities { times_ms })
            .contains("the trace has no duration")
    );
    let delay = DelayConfig::Steps { times_s: vec![0.0], ms: vec![f64::NAN], repeat_s: None };
    assert_eq!(
        refusal(|link| link.delay = delay),
        "delay.ms is NaN; give a finite number of at least 0 (milliseconds)"
    );
}

#[test]
fn numbers_out_of_range_are_refused() {
    let too_fast = refusal(|link| link.capacity = CapacityConfig::Constant { mbps: 1e7 });
    assert!(too_fast.starts_with("capacity.mbps is 10000000; give"), "{too_fast}");
    assert!(
        refusal(|link| link.loss = LossConfig::Bernoulli { ratio: 1.1 })
            .starts_with("loss.ratio is 1.1; give a probability")
    );
    let elliott = LossConfig::GilbertElliott { p: 0.1, r: -0.1, loss_good: 0.0, loss_bad: 1.0 };
    assert!(refusal(|link| link.loss = elliott).starts_with("loss.r is -0.1"));
    let steps = LossConfig::Steps { times_s: vec![0.0], ratio: vec![f64::NAN], repeat_s: None };
    assert!(refusal(|link| link.loss = steps).starts_with("loss.ratio is NaN"));
    assert_eq!(
        refusal(|link| link.queue = QueueConfig::DropTail { bytes: None, packets: None }),
        "queue: a droptail queue needs a bound; give bytes or packets, or kind = \"infinite\""
    );
    let empty = QueueConfig::DropTail { bytes: Some(0), packets: None };
    assert!(refusal(|link| link.queue = empty).starts_with("queue.bytes is 0"));
    let codel = QueueConfig::CoDel { target_ms: 5.0, interval_ms: 0.0, packets: 10 };
    assert!(refusal(|link| link.queue = codel).starts_with("queue.interval_ms is 0"));
}

#[test]
fn bad_outages_are_refused() {
    let outages = |windows: &[(f64, f64)]| {
        let outage = |&(start_s, end_s)| OutageConfig { start_s, end_s, in_flight: InFlight::Drop };
        refusal(|link| link.outages = windows.iter().map(outage).collect())
    };
    assert_eq!(
        outages(&[(1.0, 1.0)]),
        "outages[0] ends at 1 s, not after its start at 1 s; swap them"
    );
    assert_eq!(
        outages(&[(1.0, 3.0), (2.0, 4.0)]),
        "outages[1] starts at 2 s, before the one before it ends; sort or merge them"
    );
    assert!(outages(&[(f64::INFINITY, 1.0)]).starts_with("outages.start_s is inf"));
}
