//! Paths that fail and rest, and what they had in flight.

use super::Endpoint;
use crate::event::Event;
use crate::path::{Health, Path, Rest};
use scheduler::PathEvent;
use units::Instant;

impl Endpoint {
    /// The probe timer of a path fired (RFC 9002 §6.2).
    pub(super) fn on_probe_timer(&mut self, now: Instant, id: u32) {
        let others = self.paths.others_work(id);
        let Some(path) = self.paths.get_mut(id) else { return };
        path.pto_count += 1;
        path.stats.probe_timeouts += 1;
        path.ecn.on_probe_timeout(path.pto_count);
        path.space.last_eliciting_at = now;
        path.probes = if others { 1 } else { 2 }; // RFC 9002 §6.2.4: one or two packets
        if path.health == Health::Good {
            path.health = Health::Suspected;
            if !others {
                self.paths.ask_failed(now);
            }
        }
        if self.config.reinjection.on_failure && others {
            self.reinject_flight(id);
        } else {
            self.reinject_oldest(id);
        }
    }

    /// A path answers again: what others that do not had in flight need not wait for their timers.
    pub(super) fn relieve_suspected_paths(&mut self) {
        if self.config.reinjection.on_failure {
            let suspected = |path: &Path| path.is_open() && path.health == Health::Suspected;
            let ids = self.paths.ids_of(suspected);
            ids.into_iter().for_each(|id| self.reinject_flight(id));
        }
    }

    /// What the probe of an only path carries: its oldest data.
    fn reinject_oldest(&mut self, id: u32) {
        let Some(path) = self.paths.get_mut(id) else { return };
        let oldest = path.space.sent.iter_mut().filter(|(_, packet)| !packet.given_up);
        let frames: Vec<_> = oldest.take(2).flat_map(|(_, packet)| packet.frames.clone()).collect();
        self.send_again(id, frames);
    }

    /// What is in flight on a path is retransmitted on the others; it stays in flight here.
    pub(super) fn reinject_flight(&mut self, id: u32) {
        self.release_queue(id);
        let Some(path) = self.paths.get_mut(id) else { return };
        let mut frames = Vec::new();
        for (_, packet) in path.space.sent.iter_mut() {
            if !packet.requeued && !packet.given_up {
                (packet.requeued, packet.copied) = (true, true);
                frames.extend(packet.frames.iter().cloned());
            }
        }
        self.send_again(id, frames);
    }

    /// The flight of a path counts no longer, and is retransmitted.
    pub(super) fn give_up_flight(&mut self, id: u32) -> u64 {
        self.reinject_flight(id);
        let Some(path) = self.paths.get_mut(id) else { return 0 };
        path.space.sent.give_up();
        std::mem::take(&mut path.in_flight)
    }

    /// Silence for too long.
    pub(super) fn fail_path(&mut self, now: Instant, id: u32) {
        let in_flight = self.give_up_flight(id);
        let Some(path) = self.paths.get_mut(id) else { return };
        path.health = Health::Failed;
        path.mtu.restart(now);
        path.silent_since = None;
        path.probes = 1;
        path.cc.on_timeout(now, in_flight, false);
        let net = path.net;
        self.trace.path_event(now, id, Event::PathFailed(net));
        self.log_metrics(now, id);
        self.scheduling.dispatch.on_path_event(now, net, PathEvent::Failed);
    }

    /// Puts paths to rest before and during foreseen outages, and wakes them.
    pub(super) fn update_rest(&mut self, now: Instant) {
        let packet_bytes = self.packet_bytes();
        let Rest { hit, resting } =
            self.paths.update_rest(now, packet_bytes, &self.scheduling.dispatch);
        resting.into_iter().for_each(|id| self.release_queue(id));
        if self.config.reinjection.on_failure {
            hit.into_iter().for_each(|id| self.reinject_flight(id));
        }
    }
}
