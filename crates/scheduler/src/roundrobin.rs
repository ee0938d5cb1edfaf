//! Round robin (`mptcp_rr.c`; docs/model.md §3.2).

use crate::default_pick::serving;
use crate::{Capabilities, ConnectionView, Decision, PathView, Scheduler};
use parameters::{Info, Parameter, Values, integer, option};
use units::{Instant, PathId};

pub(crate) const INFO: Info = Info {
    name: "roundrobin",
    title: "Round robin",
    source: "multipath-tcp.org v0.96 mptcp_rr.c",
    parameters: &[
        Parameter {
            name: "num_segments",
            unit: "segments",
            kind: integer(1.0, 1.0, 255.0),
            meaning: "Segments that a path gets in a row.",
            source: "mptcp_rr.c num_segments",
        },
        Parameter {
            name: "turns",
            unit: "",
            kind: option(&["listed", "oldest"]),
            meaning: "Whose turn it is: the paths' in the order of the list, or that of the one that \
                      was given nothing for longest.",
            source: "mptcp_rr.c; picoquic d515d2d4, picoquic_select_next_path_mp",
        },
    ],
};

/// Gives each path one segment in turn; paths without room are passed over (`cwnd_limited` = 1),
/// so under load it fills every window.
#[derive(Debug)]
pub struct RoundRobin {
    quota: Vec<u64>,
    /// Who carried the last acknowledgement.
    ack_path: Option<PathId>,
    num_segments: u64,
    /// Segments that were given to anybody until each path was given its last one, that included.
    given: Vec<u64>,
    segments: u64,
    oldest: bool,
}

impl RoundRobin {
    pub(crate) fn new(values: &Values) -> Self {
        Self {
            quota: Vec::new(),
            ack_path: None,
            num_segments: values.whole("num_segments"),
            given: Vec::new(),
            segments: 0,
            oldest: values.option("turns") == "oldest",
        }
    }

    fn quota(&mut self, path: PathId) -> &mut u64 {
        if self.quota.len() <= path.index() {
            self.quota.resize(path.index() + 1, 0);
        }
        &mut self.quota[path.index()]
    }

    /// A path in the middle of its turn, else the last one that had none yet.
    fn turn(&mut self, view: &ConnectionView<'_>, backup: bool) -> Option<PathId> {
        let mut choice = None;
        for path in candidates(view, backup) {
            let used = *self.quota(path.id);
            match used {
                0 => choice = Some(path.id),
                _ if used < self.num_segments => return Some(path.id),
                _ => {}
            }
        }
        choice
    }
}

fn candidates<'a>(
    view: &ConnectionView<'a>,
    backup: bool,
) -> impl Iterator<Item = &'a PathView> + use<'a> {
    view.paths.iter().filter(move |p| p.usable && p.has_room && p.backup == backup && !p.tried)
}

impl Scheduler for RoundRobin {
    fn select(&mut self, view: &ConnectionView<'_>) -> Decision {
        let backup = !view.paths.iter().any(|path| path.usable && !path.backup);
        if view.reinjection {
            // Any path that did not carry it; the last in the list wins.
            let last = candidates(view, backup).last();
            return last.map_or(Decision::Wait(None), |path| Decision::Send(path.id));
        }
        if self.oldest {
            let oldest =
                candidates(view, backup).min_by_key(|path| self.given.get(path.id.index()));
            return oldest.map_or(Decision::Wait(None), |path| Decision::Send(path.id));
        }
        if let Some(path) = self.turn(view, backup) {
            return Decision::Send(path);
        }
        for path in candidates(view, backup) {
            *self.quota(path.id) = 0;
        }
        self.turn(view, backup).map_or(Decision::Wait(None), Decision::Send)
    }

    fn on_sent(&mut self, _now: Instant, path: PathId, _bytes: u64) {
        *self.quota(path) += 1;
        if self.given.len() <= path.index() {
            self.given.resize(path.index() + 1, 0);
        }
        self.segments += 1;
        self.given[path.index()] = self.segments;
    }

    /// Acknowledgements take turns, too, without touching those of the data.
    fn ack_path(&mut self, view: &ConnectionView<'_>) -> Option<PathId> {
        let next = serving(view).find(|path| Some(path.id) > self.ack_path);
        self.ack_path = next.or_else(|| serving(view).next()).map(|path| path.id);
        self.ack_path
    }

    /// The kernel module brings no receive-buffer optimisation (docs/model.md §2.7).
    fn capabilities(&self) -> Capabilities {
        Capabilities { receive_buffer_optimisation: false, ..Capabilities::default() }
    }
}
