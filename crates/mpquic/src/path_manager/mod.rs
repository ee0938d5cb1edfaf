//! Which paths a client opens, and when: the policy between the interfaces of a machine and an
//! [`Endpoint`](crate::Endpoint). Events go in, actions come out; the simulator and the client on
//! sockets use the same one.
//!
//! * An interface that is there has a path. An interface that went has none, unless it is the last
//!   one that worked: nobody could be told then.
//! * A silent path stays: the endpoint probes it every half a second, so that it is used again within
//!   one second of the end of an outage, however long that was.
//! * Only a validation that failed (RFC 9000 §8.2.4) makes the next attempt wait, 1 s at first and
//!   16 s at most. An interface that comes back starts afresh.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use units::{Duration, Instant, PathId};

/// The pause after the first validation that failed; it doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(16);
/// The pause after an action that could not be carried out: the peer's limits, a missing route.
const RETRY: Duration = Duration::from_millis(250);

/// What the driver of an endpoint has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Open a path over the interface.
    Add(PathId),
    /// Open a path over the interface that takes over from the present one: the network behind the
    /// interface is another one.
    Replace(PathId),
    /// Ask the path for a sign of life at once.
    Probe(PathId),
    /// Give the path up.
    Abandon(PathId),
}

/// What happened to the path of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathNews {
    /// It was validated.
    Established,
    /// It is silent.
    Failed,
    /// It answers again.
    Revived,
    /// It is over. `another`: the interface still has another path, the one that was replaced.
    Over {
        /// See there.
        another: bool,
    },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    None,
    /// Waits for its validation.
    Opening,
    Up,
    Silent,
}

#[derive(Clone, Copy, Debug, Default)]
struct Interface {
    present: bool,
    stage: Stage,
    /// Its path belongs to a network that is gone.
    stale: bool,
    wants_probe: bool,
    /// The last action was refused, not failed.
    refused: bool,
    /// No attempt before.
    retry_at: Instant,
    pause: Duration,
}

impl Interface {
    fn is_up(&self) -> bool {
        self.present && self.stage == Stage::Up
    }

    /// Forgets what failed: the interface is another one now, or the path works.
    fn start_afresh(&mut self, now: Instant) {
        (self.retry_at, self.pause, self.refused) = (now, Duration::ZERO, false);
    }

    fn back_off(&mut self, now: Instant) {
        self.pause = (self.pause * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE);
        self.retry_at = now + self.pause;
    }

    /// The action that its state asks for, whatever the time.
    fn wanted(&self, id: PathId, may_open: bool, others_up: bool) -> Option<Action> {
        match (self.present, self.stage) {
            (true, Stage::None) => may_open.then_some(Action::Add(id)),
            (true, _) if self.stale => may_open.then_some(Action::Replace(id)),
            (false, Stage::Opening | Stage::Up | Stage::Silent) => {
                (may_open && others_up).then_some(Action::Abandon(id))
            }
            _ => None,
        }
    }
}

/// The policy. Interfaces are named by the caller.
///
/// Contract (sans-IO): after each call that takes `now`, carry out what [`PathManager::next_action`]
/// says until it returns `None`, then look at [`PathManager::poll_timeout`].
#[derive(Clone, Debug, Default)]
pub struct PathManager {
    interfaces: BTreeMap<PathId, Interface>,
    /// The handshake is confirmed and the peer speaks multipath.
    may_open: bool,
}

impl PathManager {
    /// The connection begins with a path over this interface, which is there.
    pub fn begin(&mut self, id: PathId) {
        let interface = self.interfaces.entry(id).or_default();
        (interface.present, interface.stage) = (true, Stage::Opening);
    }

    /// Paths may be opened and given up from now on: the handshake is confirmed
    /// (draft-ietf-quic-multipath-21 §3.1), and both ends speak multipath.
    pub fn allow_paths(&mut self) {
        self.may_open = true;
    }

    /// An interface came. `same_network`: a path that it has still belongs to it, with its addresses.
    pub fn interface_came(&mut self, now: Instant, id: PathId, same_network: bool) {
        let interface = self.interfaces.entry(id).or_default();
        interface.present = true;
        interface.start_afresh(now);
        if interface.stage != Stage::None {
            interface.stale |= !same_network;
            interface.wants_probe = !interface.stale;
        }
    }

    /// An interface went, or lost its address.
    pub fn interface_went(&mut self, now: Instant, id: PathId) {
        let interface = self.interfaces.entry(id).or_default();
        (interface.present, interface.wants_probe) = (false, false);
        interface.start_afresh(now);
    }

    /// Something happened to the newest path of an interface.
    pub fn on_path(&mut self, now: Instant, id: PathId, news: PathNews) {
        let Some(interface) = self.interfaces.get_mut(&id) else { return };
        match (news, interface.stage) {
            (_, Stage::None) => {} // one that was given up
            (PathNews::Established, _) => {
                interface.stage = Stage::Up;
                interface.stale = false;
                interface.start_afresh(now);
            }
            (PathNews::Failed, Stage::Up) => interface.stage = Stage::Silent,
            (PathNews::Revived, Stage::Silent) => interface.stage = Stage::Up,
            // The replacement was not validated; the path before it is as stale as it was.
            (PathNews::Over { another: true }, Stage::Opening) => {
                (interface.stage, interface.stale) = (Stage::Silent, true);
                interface.back_off(now);
            }
            (PathNews::Over { another: false }, stage) => {
                (interface.stage, interface.stale) = (Stage::None, false);
                if stage == Stage::Opening {
                    interface.back_off(now);
                } else {
                    interface.retry_at = now + RETRY; // the peer gave it up
                }
            }
            _ => {}
        }
    }

    /// The peer lets us open further paths.
    pub fn on_limits_raised(&mut self, now: Instant) {
        for interface in self.interfaces.values_mut().filter(|interface| interface.refused) {
            (interface.retry_at, interface.refused) = (now, false);
        }
    }

    /// What is to be done now. It counts as done unless [`PathManager::refuse`] is called.
    pub fn next_action(&mut self, now: Instant) -> Option<Action> {
        let up = self.interfaces.values().filter(|interface| interface.is_up()).count();
        for (id, interface) in &mut self.interfaces {
            if std::mem::take(&mut interface.wants_probe) {
                return Some(Action::Probe(*id));
            }
            let others_up = up > usize::from(interface.is_up());
            let wanted = interface.wanted(*id, self.may_open, others_up);
            let Some(action) = wanted.filter(|_| interface.retry_at <= now) else { continue };
            interface.refused = false;
            interface.stale = false;
            interface.stage = match action {
                Action::Abandon(_) => Stage::None,
                _ => Stage::Opening,
            };
            return Some(action);
        }
        None
    }

    /// The last action could not be carried out; it comes again.
    pub fn refuse(&mut self, now: Instant, action: Action) {
        let (Action::Add(id) | Action::Replace(id) | Action::Abandon(id) | Action::Probe(id)) =
            action;
        let Some(interface) = self.interfaces.get_mut(&id) else { return };
        (interface.retry_at, interface.refused) = (now + RETRY, true);
        match action {
            Action::Add(_) => interface.stage = Stage::None,
            Action::Replace(_) => (interface.stage, interface.stale) = (Stage::Silent, true),
            Action::Abandon(_) => interface.stage = Stage::Silent,
            Action::Probe(_) => {}
        }
    }

    /// When [`PathManager::next_action`] may have something to say without an event.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let up = self.interfaces.values().filter(|interface| interface.is_up()).count();
        let waiting = self.interfaces.iter().filter(|(id, interface)| {
            let others_up = up > usize::from(interface.is_up());
            interface.wanted(**id, self.may_open, others_up).is_some()
        });
        waiting.map(|(_, interface)| interface.retry_at).min()
    }

    /// Whether the interface is there.
    pub fn is_present(&self, id: PathId) -> bool {
        self.interfaces.get(&id).is_some_and(|interface| interface.present)
    }

    /// Whether the interface is there and its path carries data.
    pub fn is_up(&self, id: PathId) -> bool {
        self.interfaces.get(&id).is_some_and(Interface::is_up)
    }
}
