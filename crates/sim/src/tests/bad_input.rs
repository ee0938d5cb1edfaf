use super::world::*;
use crate::{ConnectionConfig, simulate};
use congestion::Algorithm as Congestion;
use link::{PathConfig, UpWindow};
use mptcp::Mode;

fn refusal(change: impl FnOnce(&mut PathConfig, &mut ConnectionConfig)) -> String {
    let mut path = path("a", 10.0, 50.0);
    let mut one = connection(Mode::V096, Congestion::Cubic, seconds(1.0));
    change(&mut path, &mut one);
    simulate(&config(vec![path], vec![one])).unwrap_err().to_string()
}

#[test]
fn each_mistake_gets_its_own_sentence() {
    let unknown = refusal(|_, one| one.paths = vec!["b".into()]);
    assert_eq!(unknown, "connection 0 uses a path 'b' that the run does not have");
    let twice = refusal(|_, one| one.paths = vec!["a".into(), "a".into()]);
    assert_eq!(twice, "connection 0 uses path 'a' twice: name it once");
    let endless = refusal(|_, one| bulk(one).duration_s = None);
    assert_eq!(
        endless,
        "the workload of connection 0 has neither bytes nor duration_s: give one of them"
    );
    let buffer = refusal(|_, one| one.send_buffer_bytes = 100);
    assert_eq!(
        buffer,
        "send_buffer_bytes of connection 0 is 100 bytes: it must hold at least 1500"
    );
    let time = refusal(|_, one| one.start_s = -1.0);
    assert_eq!(time, "start_s is -1 s: it must lie between 0 and 1e9");
    let presence = refusal(|path, _| {
        path.present = vec![UpWindow { start_s: 5.0, end_s: Some(4.0) }];
    });
    assert!(presence.starts_with("path 'a': the windows of 'present'"), "{presence}");
    let link = refusal(|path, _| path.up.capacity = link::CapacityConfig::Constant { mbps: -3.0 });
    assert!(link.starts_with("path 'a', up link: "), "{link}");
}

#[test]
fn an_empty_run_and_repeated_names_are_refused() {
    let one = connection(Mode::V096, Congestion::Cubic, seconds(1.0));
    let none = simulate(&config(vec![], vec![one.clone()])).unwrap_err().to_string();
    assert_eq!(none, "the run has no paths: add at least one");
    let idle = simulate(&config(vec![path("a", 1.0, 1.0)], vec![])).unwrap_err().to_string();
    assert_eq!(idle, "the run has no connections: add at least one");
    let same = vec![path("a", 1.0, 1.0), path("a", 1.0, 1.0)];
    let same = simulate(&config(same, vec![one])).unwrap_err().to_string();
    assert_eq!(same, "two paths are called 'a': give each its own name");
}
