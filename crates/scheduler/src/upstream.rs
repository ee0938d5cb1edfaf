//! The default scheduler of upstream Linux (`net/mptcp/protocol.c`,
//! `mptcp_subflow_get_send`; docs/model.md §3.1b).

use crate::{Capabilities, ConnectionView, Decision, PathEvent, PathView, Scheduler};
use parameters::Info;
use units::{Instant, PathId};

pub(crate) const INFO: Info = Info {
    name: "upstream",
    title: "Default scheduler of upstream Linux",
    source: "Linux net/mptcp/protocol.c mptcp_subflow_get_send",
    parameters: &[],
};

/// 64 KiB minus headers: what one path gets in a row (`MPTCP_SEND_BURST_SIZE`).
const BURST_BYTES: u64 = 65_428;

/// Sends bursts on the path whose queue drains first at its average pacing rate. A burst ends with
/// the round of sending (`__mptcp_push_pending`), so that thin traffic is decided write by write.
#[derive(Debug, Default)]
pub struct Upstream {
    last: Option<PathId>,
    burst_bytes: u64,
    /// In the order in which the paths were established (`conn_list`): of two that are idle the
    /// first one wins.
    paths: Vec<Paced>,
}

/// A path and its average pacing rate in bit/s, zero before its first burst.
#[derive(Clone, Copy, Debug)]
struct Paced {
    id: PathId,
    pace_bps: u64,
}

impl Upstream {
    /// Paths that no event announced come in the order of their ids.
    fn list(&mut self, view: &ConnectionView<'_>) {
        for path in view.paths {
            if !self.paths.iter().any(|paced| paced.id == path.id) {
                self.paths.push(Paced { id: path.id, pace_bps: 0 });
            }
        }
    }

    /// The path whose queue is gone first; paths without a pacing rate are skipped.
    fn shortest_linger<'a>(
        &mut self,
        view: &ConnectionView<'a>,
        backup: bool,
    ) -> Option<&'a PathView> {
        self.list(view);
        let paced = self.paths.iter_mut().filter_map(|paced| {
            let path = view.paths.iter().find(|path| path.id == paced.id)?;
            if paced.pace_bps == 0 {
                paced.pace_bps = path.pacing_rate.as_bps();
            }
            let serves = path.usable && path.backup == backup && !path.tried;
            let linger =
                (u128::from(path.unacked_bytes) << 32).checked_div(paced.pace_bps.into())?;
            serves.then_some((linger, path))
        });
        paced.min_by_key(|(linger, _)| *linger).map(|(_, path)| path)
    }

    fn start_burst(&mut self, path: &PathView, window_left_bytes: u64) {
        let burst_bytes = BURST_BYTES.min(window_left_bytes);
        let queued_bytes = path.unacked_bytes;
        let rate_bps = path.pacing_rate.as_bps();
        if let Some(paced) = self.paths.iter_mut().find(|paced| paced.id == path.id) {
            let total = u128::from(queued_bytes + burst_bytes).max(1);
            let mix = u128::from(paced.pace_bps) * u128::from(queued_bytes)
                + u128::from(rate_bps) * u128::from(burst_bytes);
            paced.pace_bps = u64::try_from(mix / total).unwrap_or(u64::MAX).max(1);
        }
        self.last = Some(path.id);
        self.burst_bytes = burst_bytes;
    }
}

impl Scheduler for Upstream {
    fn select(&mut self, view: &ConnectionView<'_>) -> Decision {
        if let Some(last) = self.last.and_then(|id| view.path(id))
            && self.burst_bytes > 0
            && last.usable
            && last.has_room
            && !last.tried
        {
            return Decision::Send(last.id);
        }
        let any_active = view.paths.iter().any(|path| path.usable && !path.backup);
        let Some(path) = self.shortest_linger(view, !any_active) else {
            return Decision::Wait(None);
        };
        if !path.has_room {
            return Decision::Wait(None); // the kernel waits for this path's send memory
        }
        self.start_burst(path, view.window_left_bytes);
        Decision::Send(path.id)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { whole_fragments: true, ..Capabilities::default() }
    }

    fn on_round(&mut self) {
        self.burst_bytes = 0;
    }

    fn on_sent(&mut self, _now: Instant, path: PathId, bytes: u64) {
        if self.last == Some(path) {
            self.burst_bytes = self.burst_bytes.saturating_sub(bytes);
        }
    }

    fn on_path_event(&mut self, _now: Instant, path: PathId, event: PathEvent) {
        if matches!(event, PathEvent::Closed | PathEvent::Failed) && self.last == Some(path) {
            self.last = None;
        }
        if matches!(event, PathEvent::Closed | PathEvent::Established) {
            self.paths.retain(|paced| paced.id != path);
        }
        if event == PathEvent::Established {
            self.paths.push(Paced { id: path, pace_bps: 0 });
        }
    }
}
