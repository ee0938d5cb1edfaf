//! The path choice that every v0.96 scheduler falls back on (`mptcp_sched.c`,
//! `get_available_subflow`; `algorithms.md` §2.5, §3.1a).

use crate::{ConnectionView, PathView};

/// The available path with the smallest smoothed RTT that did not carry this segment before;
/// active paths first, then backups. `None` when a path that qualifies is only out of room: the
/// segment waits for it rather than going where it already went. An unsampled path (RTT zero)
/// counts as fastest; the lower id wins a tie.
pub(crate) fn default_pick<'a>(view: &ConnectionView<'a>) -> Option<&'a PathView> {
    for backup in [false, true] {
        let fresh = || view.paths.iter().filter(|p| p.usable && p.backup == backup && !p.tried);
        let best = fresh().filter(|p| p.has_room).min_by_key(|p| p.srtt);
        if best.is_some() || fresh().next().is_some() {
            return best;
        }
    }
    None
}

/// The usable path with the smallest smoothed RTT, whether it has room or not.
pub(crate) fn fastest<'a>(view: &ConnectionView<'a>) -> Option<&'a PathView> {
    view.paths.iter().filter(|path| path.usable).min_by_key(|path| path.srtt)
}
