//! What the scheduler sees of the paths, kept from one decision to the next.

use super::{Endpoint, PathState};
use crate::config::Mode;
use crate::subflow::{CaState, Subflow};
use scheduler::{Delivery, PathSet, PathView};
use units::{Instant, PathId};

/// The views of all established subflows, and which of them no longer hold.
///
/// Building one is a good part of what a packet costs, and most packets concern one path alone: whoever
/// changes a subflow says so.
#[derive(Debug)]
pub(super) struct Views {
    rows: Vec<PathView>,
    outdated: PathSet,
    /// Subflows came or went, or what changed is not one path's business.
    all_outdated: bool,
}

impl Views {
    pub fn new(paths: usize) -> Self {
        let rows = Vec::with_capacity(paths);
        Self { rows, outdated: PathSet::EMPTY, all_outdated: true }
    }

    /// As they were at the last [`Endpoint::refresh_views`].
    pub fn rows(&self) -> &[PathView] {
        &self.rows
    }

    /// The subflow of one path changed.
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
            for subflow in self.subflows.iter().flatten().filter(|one| one.is_established()) {
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
            for view in &mut views.rows {
                let state = &mut self.paths[view.id.index()];
                state.feed.advance(now);
                let tried = carried_by.contains(view.id);
                let Some(subflow) = &self.subflows[view.id.index()] else { continue };
                if views.outdated.contains(view.id) {
                    *view = path_view(mode, subflow, state, tried);
                } else {
                    (view.tried, view.forecast) = (tried, state.feed.outage());
                }
                let delivery = view.delivery;
                debug_assert_eq!(
                    *view,
                    PathView { delivery, ..path_view(mode, subflow, state, tried) }
                );
            }
        }
        if self.dispatch.capabilities().measures_delivery {
            for view in &mut views.rows {
                view.delivery = self.dispatch.delivery(now, view.id);
            }
        }
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
