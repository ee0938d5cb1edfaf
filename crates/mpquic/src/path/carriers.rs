//! Which paths carry the acknowledgements of a path.

use super::{Path, Paths};
use crate::config::AckPath;
use units::Instant;

/// Who carries an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carriers {
    One(u32),
    Usable,
}

impl Carriers {
    fn include(self, path: &Path) -> bool {
        match self {
            Self::One(id) => path.id == id,
            Self::Usable => path.is_usable(),
        }
    }
}

impl Paths {
    /// The first path from `from` on whose acknowledgement is due.
    pub fn ack_due(&self, now: Instant, from: u32) -> Option<u32> {
        let due = |path: &&Path| path.space.received.ack_at.is_some_and(|at| at <= now);
        self.from(from).find(due).map(|path| path.id)
    }

    /// The acknowledgements of path `id` have to leave with the next packets of these.
    pub fn hand_ack_to(&mut self, carriers: Carriers, id: u32) {
        if let Some(path) = self.get_mut(id) {
            path.space.received.on_ack_sent();
        }
        for path in self.values_mut().filter(|path| carriers.include(path)) {
            if !path.acks_to_carry.contains(&id) {
                path.acks_to_carry.push(id);
            }
        }
    }

    /// Which paths carry the acknowledgements of path `id`; `None`: all rest.
    pub fn ack_carriers(&self, policy: AckPath, id: u32) -> Option<Carriers> {
        let own = self.get(id);
        let usable = || self.values().filter(|path| path.is_usable());
        let fastest = || usable().min_by_key(|path| path.rtt.smoothed());
        let chosen = match policy {
            AckPath::Duplicated if usable().next().is_some() => return Some(Carriers::Usable),
            AckPath::Same => own.filter(|path| path.is_usable()).or_else(fastest),
            _ => fastest(),
        };
        let chosen = chosen.or_else(|| own.filter(|path| path.is_awake()));
        let any = || self.values().find(|path| path.is_awake());
        chosen.or_else(any).map(|path| Carriers::One(path.id))
    }

    /// The first path from `from` on whose acknowledgement, which is not due yet, leaves with a packet
    /// of path `id`.
    pub fn rider(&self, policy: AckPath, id: u32, from: u32) -> Option<u32> {
        self.from(from).find(|other| self.rides(policy, id, other)).map(|other| other.id)
    }

    /// Acknowledgements that are not due yet leave with a packet of path `id` where they belong there.
    fn rides(&self, policy: AckPath, id: u32, other: &Path) -> bool {
        if other.space.received.ack_at.is_none() {
            return false;
        }
        match policy {
            AckPath::Duplicated => false, // one of them alone would take the others' place
            AckPath::Scheduled => true,   // a packet of data is where the scheduler wants it
            AckPath::Same if other.id == id && other.is_usable() => true,
            _ => self.ack_carriers(policy, other.id) == Some(Carriers::One(id)),
        }
    }
}
