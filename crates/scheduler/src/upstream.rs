//! The default scheduler of upstream Linux (`net/mptcp/protocol.c`,
//! `mptcp_subflow_get_send`; docs/model.md §3.1b).

use crate::{ConnectionView, Decision, PathEvent, PathView, Scheduler};
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

/// Sends bursts on the path whose queue drains first at its average pacing rate.
#[derive(Debug, Default)]
pub struct Upstream {
    last: Option<PathId>,
    burst_bytes: u64,
    /// Average pacing rate of each path in bit/s, zero before its first burst.
    pace_bps: Vec<u64>,
}

impl Upstream {
    fn pace(&mut self, path: &PathView) -> &mut u64 {
        if self.pace_bps.len() <= path.id.index() {
            self.pace_bps.resize(path.id.index() + 1, 0);
        }
        let pace = &mut self.pace_bps[path.id.index()];
        if *pace == 0 {
            *pace = path.pacing_rate.as_bps();
        }
        pace
    }

    /// The path whose queue is gone first; paths without a pacing rate are skipped.
    fn shortest_linger<'a>(
        &mut self,
        view: &ConnectionView<'a>,
        backup: bool,
    ) -> Option<&'a PathView> {
        let paced = view.paths.iter().filter(|p| p.usable && p.backup == backup && !p.tried);
        let paced = paced.filter_map(|path| {
            let pace = *self.pace(path);
            (pace > 0).then(|| ((u128::from(path.unacked_bytes) << 32) / u128::from(pace), path))
        });
        paced.min_by_key(|(linger, _)| *linger).map(|(_, path)| path)
    }

    fn start_burst(&mut self, path: &PathView, window_left_bytes: u64) {
        let burst_bytes = BURST_BYTES.min(window_left_bytes);
        let queued_bytes = path.unacked_bytes;
        let rate_bps = path.pacing_rate.as_bps();
        let pace = self.pace(path);
        let total = u128::from(queued_bytes + burst_bytes).max(1);
        let mix = u128::from(*pace) * u128::from(queued_bytes)
            + u128::from(rate_bps) * u128::from(burst_bytes);
        *pace = u64::try_from(mix / total).unwrap_or(u64::MAX).max(1);
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

    fn on_sent(&mut self, _now: Instant, path: PathId, bytes: u64) {
        if self.last == Some(path) {
            self.burst_bytes = self.burst_bytes.saturating_sub(bytes);
        }
    }

    fn on_path_event(&mut self, _now: Instant, path: PathId, event: PathEvent) {
        if matches!(event, PathEvent::Closed | PathEvent::Failed) && self.last == Some(path) {
            self.last = None;
        }
        if event == PathEvent::Established
            && let Some(pace) = self.pace_bps.get_mut(path.index())
        {
            *pace = 0;
        }
    }
}
