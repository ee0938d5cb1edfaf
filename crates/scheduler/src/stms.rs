//! STMS-like: in-order arrival by letting the slow path run ahead. After Shi, Cui, Wang, Hu, Dai,
//! Zheng, "STMS: Improving MPTCP Throughput Under Heterogeneous Networks", USENIX ATC 2018, of which
//! only the abstract was read: the rules are ours (docs/model.md §3.8).

use crate::default_pick::{default_decision, default_pick, serving};
use crate::ecf::{BETA, DELTA, Inequalities};
use crate::{ConnectionView, Decision, Gap, PathEvent, PathView, Scheduler};
use parameters::{Info, Values};
use units::{Duration, Instant, PathId};

pub(crate) const INFO: Info = Info {
    name: "stms",
    title: "STMS-like: the slow path runs ahead by a gap",
    source: "ours, after the abstract of Shi et al., USENIX ATC 2018; the tail by the rule of ECF",
    parameters: &[BETA, DELTA],
};

/// The gap is kept in thousandths of packets.
const ONE: i64 = 1000;

/// The fastest path takes the lowest segments; each other path takes those that lie its gap further
/// on, so that both arrive together. The gap begins as what the fast path sends in the difference
/// of the one-way delays, and follows the DATA_ACKs: early arrivals shrink it, late ones make it
/// grow. Where less than the gap is left to send, the rule of ECF decides.
#[derive(Debug)]
pub struct Stms {
    /// Per path; `None` before both it and the fast path had an RTT sample.
    gaps_milli: Vec<Option<i64>>,
    /// The path that the gaps are measured against.
    fast: Option<PathId>,
    mss_bytes: u64,
    tail: Inequalities,
}

impl Stms {
    pub(crate) fn new(values: &Values) -> Self {
        Self { gaps_milli: Vec::new(), fast: None, mss_bytes: 0, tail: Inequalities::new(values) }
    }

    /// The gap of a path in whole packets, within what window and path admit.
    fn gap_packets(&mut self, view: &ConnectionView<'_>, fast: &PathView, slow: &PathView) -> u64 {
        if self.gaps_milli.len() <= slow.id.index() {
            self.gaps_milli.resize(slow.id.index() + 1, None);
        }
        let gap = &mut self.gaps_milli[slow.id.index()];
        if gap.is_none() && !fast.srtt.is_zero() {
            *gap = Some(initial_gap_milli(fast, slow));
        }
        // §3.8, ours: clamp to [0, receive window - w_s]
        let window_packets = view.receive_window_bytes / view_mss(fast);
        let most = window_packets.saturating_sub(slow.cwnd_packets).min(1 << 40) as i64 * ONE;
        let gap_milli = gap.map_or(0, |gap_milli| gap_milli.clamp(0, most));
        if gap.is_some() {
            *gap = Some(gap_milli);
        }
        (gap_milli / ONE) as u64
    }
}

fn view_mss(path: &PathView) -> u64 {
    path.mss_bytes.max(1)
}

/// What the fast path sends in the difference of the one-way delays: (RTT_s/2 - RTT_f/2) * rate_f
/// with rate_f = w_f / RTT_f (§3.8).
fn initial_gap_milli(fast: &PathView, slow: &PathView) -> i64 {
    let micros = |span: Duration| u128::from(span.as_micros());
    let ahead = micros(slow.srtt.saturating_sub(fast.srtt)) / 2;
    let gap = ahead * u128::from(fast.cwnd_packets) * ONE as u128 / micros(fast.srtt).max(1);
    i64::try_from(gap).unwrap_or(i64::MAX / 2)
}

impl Scheduler for Stms {
    fn select(&mut self, view: &ConnectionView<'_>) -> Decision {
        if view.reinjection {
            return default_decision(view);
        }
        let Some(fast) = serving(view).min_by_key(|path| path.srtt) else {
            return Decision::Wait(None);
        };
        if self.fast.replace(fast.id) != Some(fast.id) {
            self.gaps_milli.clear();
        }
        self.mss_bytes = view_mss(fast);
        let Some(slow) = default_pick(view) else { return Decision::Wait(None) };
        if fast.has_room || slow.id == fast.id {
            return Decision::Send(slow.id);
        }
        let gap_bytes = self.gap_packets(view, fast, slow).saturating_mul(self.mss_bytes);
        let waits = fast.in_flight_packets > 0; // the deadlock rule (§3)
        if view.unsent_bytes < gap_bytes.saturating_add(view.segment_bytes) {
            let wait = waits && self.tail.say_wait(fast, slow, view.unsent_bytes);
            return if wait { Decision::Wait(None) } else { Decision::Send(slow.id) };
        }
        if gap_bytes == 0 || !waits {
            return Decision::Send(slow.id);
        }
        Decision::Ahead { path: slow.id, gap: Gap::Stream(gap_bytes) }
    }

    /// §3.8, ours: half of what the segment was early or late, with the weight of an eighth.
    fn on_delivered(&mut self, _now: Instant, path: PathId, dsn_end: u64, data_ack: u64) {
        if self.fast == Some(path) || self.mss_bytes == 0 {
            return;
        }
        let Some(Some(gap_milli)) = self.gaps_milli.get_mut(path.index()) else { return };
        let off = |bytes: u64| (bytes / self.mss_bytes).min(1 << 40) as i64 * ONE / 2 / 8;
        if data_ack < dsn_end {
            *gap_milli -= off(dsn_end - data_ack); // early: it waits for a hole
        } else if data_ack - dsn_end > self.mss_bytes {
            *gap_milli += off(data_ack - dsn_end); // late: others waited for it
        }
    }

    fn on_path_event(&mut self, _now: Instant, path: PathId, _event: PathEvent) {
        if let Some(gap) = self.gaps_milli.get_mut(path.index()) {
            *gap = None;
        }
    }
}

#[cfg(test)]
impl Stms {
    pub(crate) fn gap_milli(&self, path: PathId) -> Option<i64> {
        self.gaps_milli.get(path.index()).copied().flatten()
    }
}
