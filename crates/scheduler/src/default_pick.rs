//! The path choice that every v0.96 scheduler falls back on (`mptcp_sched.c`,
//! `get_available_subflow`; docs/model.md §2.5, §3.1a).

use crate::{ConnectionView, Decision, PathView};

/// The available path with the smallest smoothed RTT that did not carry this segment before;
/// active paths first, then backups. `None` when a path that qualifies is only out of room: the
/// segment waits for it rather than going where it already went. An unsampled path (RTT zero)
/// counts as fastest; the lower id wins a tie.
pub(crate) fn default_pick<'a>(view: &ConnectionView<'a>) -> Option<&'a PathView> {
    pick_among(view, |path| path.usable)
}

/// The same choice among the paths that `may_serve`.
pub(crate) fn pick_among<'a>(
    view: &ConnectionView<'a>,
    may_serve: impl Fn(&PathView) -> bool,
) -> Option<&'a PathView> {
    for backup in [false, true] {
        let fresh = || view.paths.iter().filter(|p| may_serve(p) && p.backup == backup && !p.tried);
        let best = fresh().filter(|p| p.has_room).min_by_key(|p| p.srtt);
        if best.is_some() || fresh().next().is_some() {
            return best;
        }
    }
    None
}

/// That choice as a decision: what schedulers answer for a reinjection.
pub(crate) fn default_decision(view: &ConnectionView<'_>) -> Decision {
    default_pick(view).map_or(Decision::Wait(None), |path| Decision::Send(path.id))
}

/// The usable path with the smallest smoothed RTT, whether it has room or not.
pub(crate) fn fastest<'a>(view: &ConnectionView<'a>) -> Option<&'a PathView> {
    view.paths.iter().filter(|path| path.usable).min_by_key(|path| path.srtt)
}

/// The usable paths that new data may take: active ones, or backups when none of those is usable
/// (docs/model.md §2.7).
pub(crate) fn serving<'a>(
    view: &ConnectionView<'a>,
) -> impl Iterator<Item = &'a PathView> + Clone + use<'a> {
    serving_among(view.paths, |path| path.usable)
}

/// The same among the paths that `may_serve`.
pub(crate) fn serving_among<'a, F: Fn(&PathView) -> bool + Clone>(
    paths: &'a [PathView],
    may_serve: F,
) -> impl Iterator<Item = &'a PathView> + Clone + use<'a, F> {
    let backup = !paths.iter().any(|path| may_serve(path) && !path.backup);
    paths.iter().filter(move |path| may_serve(path) && path.backup == backup)
}
