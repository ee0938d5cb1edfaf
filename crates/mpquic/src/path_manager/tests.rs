//! A random world around the manager: interfaces that come and go, paths that go dark, limits of the
//! peer.

use super::*;
use proptest::prelude::*;

const A: PathId = PathId(0);
const B: PathId = PathId(1);

fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

/// A client with a path on A, and B there as well.
fn two() -> PathManager {
    let mut manager = PathManager::default();
    manager.interface_came(ms(0), A, false);
    manager.begin(A);
    manager.interface_came(ms(0), B, false);
    manager.allow_paths();
    manager.on_path(ms(0), A, PathNews::Established);
    assert_eq!(manager.next_action(ms(0)), Some(Action::Add(B)));
    manager.on_path(ms(50), B, PathNews::Established);
    assert_eq!(manager.next_action(ms(50)), None);
    manager
}

#[test]
fn nothing_is_opened_before_the_handshake_is_confirmed() {
    let mut manager = PathManager::default();
    manager.interface_came(ms(0), A, false);
    manager.begin(A);
    manager.interface_came(ms(0), B, false);
    assert_eq!((manager.next_action(ms(0)), manager.poll_timeout()), (None, None));
    manager.allow_paths();
    assert_eq!(manager.next_action(ms(10)), Some(Action::Add(B)));
}

#[test]
fn a_silent_path_is_kept_however_long_it_is_silent() {
    let mut manager = two();
    manager.on_path(ms(1000), B, PathNews::Failed);
    assert_eq!((manager.next_action(ms(300_000)), manager.poll_timeout()), (None, None));
    manager.on_path(ms(301_000), B, PathNews::Revived);
    assert!(manager.is_up(B));
}

#[test]
fn an_interface_that_went_loses_its_path_and_gets_a_new_one_at_once() {
    let mut manager = two();
    manager.interface_went(ms(1000), B);
    assert_eq!(manager.next_action(ms(1000)), Some(Action::Abandon(B)));
    manager.on_path(ms(1000), B, PathNews::Over { another: false });
    assert_eq!(manager.next_action(ms(1000)), None);
    manager.interface_came(ms(9000), B, false);
    assert_eq!(manager.next_action(ms(9000)), Some(Action::Add(B)));
}

#[test]
fn the_last_path_that_works_is_kept_until_another_one_does() {
    let mut manager = two();
    manager.on_path(ms(900), A, PathNews::Failed);
    manager.interface_went(ms(1000), B);
    assert_eq!(manager.next_action(ms(1000)), None);
    manager.on_path(ms(2000), A, PathNews::Revived);
    assert_eq!(manager.next_action(ms(2000)), Some(Action::Abandon(B)));
}

#[test]
fn a_path_that_was_kept_is_probed_or_replaced() {
    for same_network in [true, false] {
        let mut manager = two();
        manager.on_path(ms(900), A, PathNews::Failed);
        manager.interface_went(ms(1000), B);
        manager.on_path(ms(1500), B, PathNews::Failed);
        manager.interface_came(ms(3000), B, same_network);
        let expected = if same_network { Action::Probe(B) } else { Action::Replace(B) };
        assert_eq!(manager.next_action(ms(3000)), Some(expected));
        assert_eq!(manager.next_action(ms(3000)), None);
        // A replacement that is not validated: the next one after a pause.
        if !same_network {
            manager.on_path(ms(6000), B, PathNews::Over { another: true });
            assert_eq!(manager.next_action(ms(6999)), None);
            assert_eq!(manager.next_action(ms(7000)), Some(Action::Replace(B)));
        }
    }
}

#[test]
fn validations_that_fail_are_further_and_further_apart() {
    let mut manager = two();
    manager.on_path(ms(0), B, PathNews::Over { another: false });
    let mut at = manager.poll_timeout().unwrap();
    let (mut pauses, mut now) = (Vec::new(), at);
    for _ in 0..7 {
        assert_eq!(manager.next_action(at), Some(Action::Add(B)));
        let failed = at + Duration::from_secs(3);
        manager.on_path(failed, B, PathNews::Over { another: false });
        at = manager.poll_timeout().unwrap();
        pauses.push((at - failed).as_secs());
        now = failed;
    }
    assert_eq!(pauses, [1, 2, 4, 8, 16, 16, 16]);
    manager.interface_went(now, B);
    manager.interface_came(now, B, false);
    assert_eq!(manager.next_action(now), Some(Action::Add(B)), "an interface starts afresh");
}

#[test]
fn what_the_peer_does_not_allow_waits_for_its_limits() {
    let mut manager = two();
    manager.interface_came(ms(100), PathId(2), false);
    let action = manager.next_action(ms(100)).unwrap();
    manager.refuse(ms(100), action);
    assert_eq!(manager.next_action(ms(100)), None);
    assert_eq!(manager.poll_timeout(), Some(ms(350)));
    manager.on_limits_raised(ms(120));
    assert_eq!(manager.next_action(ms(120)), Some(action));
}

/// What happens around the manager, in steps of time.
#[derive(Clone, Debug)]
enum Step {
    Come(u8, bool),
    Go(u8),
    Dark(u8),
    Light(u8),
    Limit(bool),
    Wait(u16),
}

fn step() -> impl Strategy<Value = Step> {
    let path = 0_u8..4;
    prop_oneof![
        (path.clone(), any::<bool>()).prop_map(|(path, same)| Step::Come(path, same)),
        path.clone().prop_map(Step::Go),
        path.clone().prop_map(Step::Dark),
        path.prop_map(Step::Light),
        any::<bool>().prop_map(Step::Limit),
        (1_u16..30_000).prop_map(Step::Wait),
    ]
}

/// How an endpoint's path over an interface is.
#[derive(Clone, Copy, Debug, Default)]
struct Net {
    present: bool,
    dark: bool,
    /// A path that was validated; whether it belongs to the present network, and is silent.
    path: Option<(bool, bool)>,
    /// Since when a path is being validated, and whether it belongs to the present network.
    opening: Option<(u64, bool)>,
    /// Since when the interface could carry data, and no validation failed.
    good_since: Option<u64>,
}

const TICK: u64 = 50;
/// As the endpoint's: nine challenges, silence before a path fails, and the next probe after it.
const VALIDATION: u64 = 3000;

#[derive(Debug)]
struct World {
    now: u64,
    manager: PathManager,
    nets: [Net; 4],
    limited: bool,
}

impl World {
    fn new() -> Self {
        let mut manager = PathManager::default();
        manager.interface_came(ms(0), A, false);
        manager.begin(A);
        manager.allow_paths();
        manager.on_path(ms(0), A, PathNews::Established);
        let mut nets = [Net::default(); 4];
        nets[0] = Net { present: true, path: Some((true, false)), ..Net::default() };
        Self { now: 0, manager, nets, limited: false }
    }

    fn act(&mut self) {
        let now = ms(self.now);
        for _ in 0..20 {
            let Some(action) = self.manager.next_action(now) else { return };
            let (Action::Add(id) | Action::Replace(id) | Action::Probe(id) | Action::Abandon(id)) =
                action;
            let others = self.nets.iter().enumerate();
            let mut others = others.filter(|(place, _)| *place != id.index());
            let others = others.any(|(_, net)| matches!(net.path, Some((_, false))));
            let net = &mut self.nets[id.index()];
            match action {
                Action::Add(_) => {
                    assert!(net.present && net.path.is_none() && net.opening.is_none(), "{net:?}");
                    match self.limited {
                        true => self.manager.refuse(now, action),
                        false => net.opening = Some((self.now, true)),
                    }
                }
                Action::Replace(_) => {
                    let stale = matches!(net.path, Some((false, _)));
                    let stale = stale || matches!(net.opening, Some((_, false)));
                    assert!(net.present && stale, "{net:?}");
                    match self.limited {
                        true => self.manager.refuse(now, action),
                        false => net.opening = Some((self.now, true)),
                    }
                }
                Action::Probe(_) => assert!(net.present, "{net:?}"),
                Action::Abandon(_) => {
                    assert!(!net.present && others, "the last path that works: {net:?}");
                    (net.path, net.opening) = (None, None);
                }
            }
        }
        panic!("no end of actions at {now:?}");
    }

    /// Time goes on for the endpoint and its network.
    fn tick(&mut self) {
        self.now += TICK;
        let now = ms(self.now);
        for (place, net) in self.nets.iter_mut().enumerate() {
            let id = PathId(place as u8);
            let works = net.present && !net.dark;
            if let Some((since, own)) = net.opening {
                if works && own {
                    (net.opening, net.path) = (None, Some((true, false)));
                    self.manager.on_path(now, id, PathNews::Established);
                } else if self.now - since >= VALIDATION {
                    net.opening = None;
                    let another = net.path.is_some();
                    self.manager.on_path(now, id, PathNews::Over { another });
                }
            }
            if let Some((own, silent)) = &mut net.path {
                let answers = works && *own;
                if answers == *silent {
                    *silent = !answers;
                    let news = if answers { PathNews::Revived } else { PathNews::Failed };
                    self.manager.on_path(now, id, news);
                }
            }
        }
        self.act();
        self.check();
    }

    /// An interface that can carry data has a working path within a second. After a validation that
    /// failed it takes the pause as well.
    fn check(&mut self) {
        for (place, net) in self.nets.iter_mut().enumerate() {
            if !net.present || net.dark || self.limited {
                net.good_since = None;
                continue;
            }
            let since = *net.good_since.get_or_insert(self.now);
            let interface = &self.manager.interfaces[&PathId(place as u8)];
            let patience = 1000 + interface.pause.as_millis();
            let up = self.manager.is_up(PathId(place as u8)) && net.path == Some((true, false));
            assert!(up || self.now - since <= patience, "{place} at {} ms: {net:?}", self.now);
        }
        let due = self.manager.poll_timeout();
        assert!(due.is_none_or(|at| at > ms(self.now)), "a timer that was not acted on");
    }

    fn step(&mut self, step: &Step) {
        let now = ms(self.now);
        match *step {
            Step::Come(place, same) => {
                let net = &mut self.nets[usize::from(place)];
                if net.present {
                    return;
                }
                net.present = true;
                if let Some((own, _)) = &mut net.path {
                    *own &= same;
                }
                if let Some((_, own)) = &mut net.opening {
                    *own &= same;
                }
                let stale = matches!(net.path, Some((false, _)));
                let same = same && !stale && !matches!(net.opening, Some((_, false)));
                self.manager.interface_came(now, PathId(place), same);
            }
            Step::Go(place) => {
                let net = &mut self.nets[usize::from(place)];
                if std::mem::take(&mut net.present) {
                    self.manager.interface_went(now, PathId(place));
                }
            }
            Step::Dark(place) => self.nets[usize::from(place)].dark = true,
            Step::Light(place) => self.nets[usize::from(place)].dark = false,
            Step::Limit(limited) => {
                if std::mem::replace(&mut self.limited, limited) && !limited {
                    self.manager.on_limits_raised(now);
                }
            }
            Step::Wait(millis) => {
                for _ in 0..u64::from(millis) / TICK {
                    self.tick();
                }
            }
        }
        self.act();
    }
}

proptest! {
    #[test]
    fn whatever_can_carry_data_is_used_within_a_second(
        steps in proptest::collection::vec(step(), 1..60),
    ) {
        let mut world = World::new();
        for step in &steps {
            world.step(step);
        }
        for place in 0..4 {
            world.step(&Step::Come(place, false));
            world.step(&Step::Light(place));
        }
        world.step(&Step::Limit(false));
        world.step(&Step::Wait(20_000));
        prop_assert!((0..4).all(|place| world.manager.is_up(PathId(place))), "{world:?}");
    }
}
