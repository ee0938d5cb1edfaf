//! What the scheduler sees of the paths, kept from one decision to the next.

use super::{Endpoint, PathState};
use crate::config::Mode;
use crate::subflow::{CaState, Subflow};
use scheduler::{Delivery, PathSet, PathView};
use units::{Instant, PathId};

/// The views of all established subflows, and which of them no longer hold.
///
/// Building one is a good part of what a packet costs, and most packets concern one path alone: only those
/// of subflows that were borrowed since are built anew.
#[derive(Debug)]
pub(super) struct Views {
    rows: Vec<PathView>,
    /// The state of these paths changed, besides their subflows.
    outdated: PathSet,
    /// The paths that carried the piece of the last decision.
    carried_by: PathSet,
    /// Subflows came or went, or what changed is not one path's business.
    all_outdated: bool,
}

impl Views {
    pub fn new(paths: usize) -> Self {
        let rows = Vec::with_capacity(paths);
        Self { rows, outdated: PathSet::EMPTY, carried_by: PathSet::EMPTY, all_outdated: true }
    }

    /// As they were at the last [`Endpoint::refresh_views`].
    pub fn rows(&self) -> &[PathView] {
        &self.rows
    }

    fn row(&mut self, path: PathId) -> Option<&mut PathView> {
        let in_place = self.rows.get(path.index()).is_some_and(|view| view.id == path);
        let place = if in_place { Some(path.index()) } else { self.place(path) };
        self.rows.get_mut(place?)
    }

    fn place(&self, path: PathId) -> Option<usize> {
        self.rows.binary_search_by_key(&path, |view| view.id).ok()
    }

    /// The state of a path changed, besides its subflow.
    pub fn outdate(&mut self, path: PathId) {
        self.outdated = self.outdated.with(path);
    }

    pub fn outdate_all(&mut self) {
        self.all_outdated = true;
    }
}

impl Endpoint {
    /// Brings the views up to date for a piece that `carried_by` were tried for.
    pub(super) fn refresh_views(&mut self, now: Instant, carried_by: PathSet) {
        let (mode, repeats) = (self.config.mode, self.dispatch.capabilities().repeats);
        let views = &mut self.views;
        // What a path may repeat changes with what the others send.
        if views.all_outdated || repeats {
            views.rows.clear();
            self.subflows.take_unviewed();
            for subflow in self.subflows.iter().filter(|one| one.is_established()) {
                let state = &mut self.paths[subflow.path.index()];
                state.feed.advance(now);
                let tried = carried_by.contains(subflow.path);
                let mut view = path_view(mode, subflow, state, tried);
                if repeats && let Some(segment) = self.send.first_from(state.walked_to) {
                    view.repeat_bytes = segment.bytes;
                }
                views.rows.push(view);
            }
        } else {
            let changed = self.subflows.take_unviewed().union(views.outdated).union(self.foreseen);
            let changed = changed.union(views.carried_by.symmetric_difference(carried_by));
            for path in changed.iter() {
                let (Some(row), Some(subflow)) = (views.row(path), self.subflows.get(path)) else {
                    continue; // not established
                };
                let state = &mut self.paths[path.index()];
                state.feed.advance(now);
                *row = path_view(mode, subflow, state, carried_by.contains(path));
            }
        }
        if self.dispatch.capabilities().measures_delivery {
            for view in &mut views.rows {
                view.delivery = self.dispatch.delivery(now, view.id);
            }
        }
        views.carried_by = carried_by;
        views.outdated = PathSet::EMPTY;
        views.all_outdated = false;
    }
}

/// Established and not thought dead. In v0.96 a subflow that repairs a timeout takes no new data
/// either (docs/model.md §2.4).
pub(super) fn is_usable(mode: Mode, subflow: &Subflow, state: &PathState) -> bool {
    let repairs = mode == Mode::V096 && subflow.tx.ca() == CaState::Loss;
    subflow.is_established() && !state.failed && !repairs
}

pub(super) fn path_view(mode: Mode, subflow: &Subflow, state: &PathState, tried: bool) -> PathView {
    let tx = &subflow.tx;
    let sent = tx.stats.sent_packets.max(1);
    PathView {
        id: subflow.path,
        usable: is_usable(mode, subflow, state),
        has_room: tx.has_room(),
        backup: subflow.backup,
        tried,
        srtt: tx.rtt.srtt(),
        latest_rtt: tx.rtt.latest(),
        min_rtt: tx.rtt.min(),
        mdev: tx.rtt.mdev(),
        rttvar_kernel: tx.rtt.rttvar_kernel(),
        cwnd_packets: tx.cwnd_packets(),
        ssthresh_packets: tx.ssthresh_packets(),
        in_flight_packets: tx.in_flight_packets(),
        queued_packets: tx.queued_packets(),
        unacked_bytes: tx.unacked_bytes(),
        mss_bytes: mode.mss_bytes(),
        pacing_rate: tx.pacing_rate(),
        delivery: Delivery::default(),
        loss_ratio: tx.stats.lost_packets as f64 / sent as f64,
        forecast: state.feed.outage(),
        repeat_bytes: 0,
    }
}
