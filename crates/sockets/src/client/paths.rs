//! Interfaces and their paths: what happens is reported to the path manager, and what it wants is done.

use super::{Client, nets_of};
use crate::lane::Lane;
use crate::session::{Ends, Notice, Session};
use mpquic::{Action, Event, PathNews};
use units::{Instant, PathId};

impl Client {
    pub(super) fn on_event(&mut self, now: Instant, event: &Event, session: &mut dyn Session) {
        match event {
            Event::Confirmed if self.endpoint.is_multipath() => self.manager.allow_paths(),
            Event::PathLimitsRaised => self.manager.on_limits_raised(now),
            Event::NoMultipath => {
                if self.lanes.len() > 1
                    && let Some(first) = self.lanes.iter().find(|lane| lane.net.is_some())
                {
                    session.notice(Notice::OnePath(first.local.to_string()));
                }
            }
            Event::PathEstablished(net) => {
                if let Some(place) = self.place_of(*net) {
                    let lane = &self.lanes[place];
                    let local = lane.address().map(|address| address.ip());
                    let ends = Ends { local, remote: lane.remote.ip() };
                    session.on_path(&mut self.endpoint, *net, ends);
                    self.on_path_up(now, place, PathNews::Established, session);
                }
            }
            Event::PathRevived(net) => {
                if let Some(place) = self.place_of(*net) {
                    self.on_path_up(now, place, PathNews::Revived, session);
                }
            }
            Event::PathFailed(net) => {
                if let Some(place) = self.place_of(*net) {
                    self.on_path_down(now, place, PathNews::Failed, session);
                }
            }
            // One that was left to be opened anew at once is over, and not the new one.
            Event::PathAbandoned(net, _) if !self.endpoint.has_path(*net) => {
                if let Some(place) = self.place_of(*net) {
                    self.on_path_down(now, place, PathNews::Over { another: false }, session);
                    self.lanes[place].end();
                }
            }
            _ => {}
        }
    }

    fn place_of(&self, net: PathId) -> Option<usize> {
        self.lanes.iter().position(|lane| lane.net == Some(net))
    }

    fn on_path_up(
        &mut self,
        now: Instant,
        place: usize,
        news: PathNews,
        session: &mut dyn Session,
    ) {
        self.manager.on_path(now, interface(place), news);
        session.notice(Notice::PathUp(self.lanes[place].local.to_string()));
    }

    fn on_path_down(
        &mut self,
        now: Instant,
        place: usize,
        news: PathNews,
        session: &mut dyn Session,
    ) {
        let was_up = self.manager.is_up(interface(place));
        self.manager.on_path(now, interface(place), news);
        if was_up {
            let why = match news {
                PathNews::Failed => "it does not answer",
                _ => "it was given up",
            };
            session.notice(Notice::PathDown(self.lanes[place].local.to_string(), why.to_owned()));
        }
    }

    /// Looks which interfaces are there.
    pub(super) fn tend(&mut self, now: Instant, session: &mut dyn Session) {
        for place in 0..self.lanes.len() {
            let (lane, id) = (&mut self.lanes[place], interface(place));
            if lane.has_lost_its_address() {
                let was_up = self.manager.is_up(id);
                lane.hold();
                self.manager.interface_went(now, id);
                if was_up {
                    let why = "its interface is down or has lost its address".to_owned();
                    session.notice(Notice::PathDown(lane.local.to_string(), why));
                }
            }
            if !self.manager.is_present(id) && lane.has_a_way() {
                let same_network = lane.reopen();
                self.manager.interface_came(now, id, same_network);
                if self.manager.is_up(id) && same_network {
                    session.notice(Notice::PathUp(lane.local.to_string()));
                }
            }
            self.settle_old(now, place);
        }
    }

    /// Does what the path manager wants.
    pub(super) fn manage_paths(&mut self, now: Instant) {
        while let Some(action) = self.manager.next_action(now) {
            match action {
                Action::Add(id) | Action::Replace(id) => {
                    if self.open(now, id.index()).is_none() {
                        self.manager.refuse(now, action);
                    }
                }
                Action::Abandon(id) => {
                    self.lanes[id.index()].end();
                    self.settle_old(now, id.index());
                }
                Action::Probe(id) => {
                    if let Some(net) = self.lanes[id.index()].net {
                        self.endpoint.probe_path(now, net);
                    }
                }
            }
        }
    }

    /// Opens a path from a new socket; `None`: that is not possible at present.
    fn open(&mut self, now: Instant, place: usize) -> Option<()> {
        let lane = &mut self.lanes[place];
        let net = free_net(lane, place)?;
        let socket = lane.dial().ok()?;
        self.endpoint.add_path(now, net).ok()?;
        lane.begin(socket, net);
        self.settle_old(now, place);
        Some(())
    }

    /// Gives former paths of a lane up as soon as another one is there.
    fn settle_old(&mut self, now: Instant, place: usize) {
        let endpoint = &mut self.endpoint;
        self.lanes[place]
            .old
            .retain(|net| endpoint.has_path(*net) && endpoint.abandon_path(now, *net).is_err());
    }
}

/// What a lane is called by the path manager.
fn interface(place: usize) -> PathId {
    PathId(place as u8)
}

/// What a lane's next path is called.
fn free_net(lane: &Lane, place: usize) -> Option<PathId> {
    nets_of(place).into_iter().find(|net| lane.net != Some(*net) && !lane.old.contains(net))
}
