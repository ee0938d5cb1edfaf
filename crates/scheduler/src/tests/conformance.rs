//! What holds for every scheduler: any number of paths, any views, any events.

use super::*;
use crate::PathSet;
use forecast::Foreseen;
use proptest::prelude::*;
use units::Window;

fn any_path() -> impl Strategy<Value = PathView> {
    let counts = (0_u64..400, 1_u64..300, 0_u64..300, 0_u64..50, 0_u64..900);
    (counts, any::<[bool; 5]>(), 0_u64..3000, 1_u64..2000).prop_map(
        |((srtt_ms, cwnd, in_flight, ssthresh, queued), flags, outage_ms, length_ms)| {
            let mut path = path(0, srtt_ms, cwnd, in_flight);
            path.usable = flags[0];
            path.backup = flags[1] && flags[2];
            path.tried = flags[2] && flags[3];
            path.ssthresh_packets = if ssthresh == 0 { u64::MAX } else { ssthresh };
            path.queued_packets = if flags[3] { queued } else { 0 };
            path.repeat_bytes = if flags[1] { MSS } else { 0 };
            let start = Instant::from_millis(outage_ms);
            let end = start + Duration::from_millis(length_ms);
            path.forecast = Window::new(start, end).filter(|_| flags[4]).map(Foreseen::certain);
            path
        },
    )
}

/// One step of a connection's life as a scheduler lives it.
#[derive(Clone, Debug)]
struct Step {
    paths: Vec<PathView>,
    after_ms: u64,
    window_bytes: u64,
    unsent_bytes: u64,
    flags: [bool; 3],
    hook: (u8, u8, u64),
}

fn any_step() -> impl Strategy<Value = Step> {
    let paths = prop::collection::vec(any_path(), 1..=8);
    let after_ms = prop::sample::select(vec![0, 1, 20, 150, 60_000]);
    let bytes = (0_u64..1_000_000, 1_u64..3_000_000);
    let hook = (0_u8..8, 0_u8..8, 1_u64..1_000_000);
    (paths, after_ms, bytes, any::<[bool; 3]>(), hook).prop_map(
        |(mut paths, after_ms, (window_bytes, unsent_bytes), flags, hook)| {
            for (id, path) in paths.iter_mut().enumerate() {
                path.id = PathId(id as u8);
                path.tried &= flags[1]; // only a reinjection was anywhere before
            }
            Step { paths, after_ms, window_bytes, unsent_bytes, flags, hook }
        },
    )
}

impl Step {
    fn view(&self, now: Instant, repeats: bool) -> ConnectionView<'_> {
        let mut view = view(&self.paths, self.window_bytes);
        view.now = now;
        view.unsent_bytes = self.unsent_bytes;
        view.segment_bytes = self.unsent_bytes.min(MSS);
        [view.window_blocked, view.reinjection] = [self.flags[0], self.flags[1]];
        if repeats && self.flags[2] && !view.reinjection {
            view.segment_bytes = 0;
        }
        view
    }

    /// One of the hooks, for one of eight paths, be it there or not.
    fn call(&self, scheduler: &mut dyn Scheduler, now: Instant) {
        let (which, path, bytes) = self.hook;
        let path = PathId(path);
        match which {
            0 => scheduler.on_acked(now, path, bytes),
            1 => scheduler.on_lost(now, path, bytes),
            2 => scheduler.on_delivered(now, path, bytes, bytes / 2),
            3 => scheduler.on_delivered(now, path, bytes / 2, bytes),
            4 => scheduler.on_path_event(now, path, PathEvent::Established),
            5 => scheduler.on_path_event(now, path, PathEvent::Closed),
            6 => scheduler.on_path_event(now, path, PathEvent::Failed),
            _ => scheduler.on_path_event(now, path, PathEvent::Revived),
        }
    }
}

/// The path that a decision puts something on, if it keeps to the rules.
fn check(
    view: &ConnectionView<'_>,
    scheduler: &dyn Scheduler,
    decision: Decision,
) -> Result<Option<PathId>, String> {
    let able = |id: PathId| {
        view.path(id)
            .filter(|p| p.usable && p.accepts(scheduler.capabilities().queue_limit_windows))
    };
    let kept = match decision {
        // A path that was tried serves again only while outages keep the others from it.
        Decision::Send(id) => able(id).is_some_and(|path| {
            let forecast = view.paths.iter().any(|p| p.usable && !p.tried && p.forecast.is_some());
            (view.segment_bytes > 0 || view.reinjection) && (!path.tried || forecast)
        }),
        Decision::Duplicate(paths) => {
            paths != PathSet::EMPTY && paths.iter().all(|id| able(id).is_some())
        }
        Decision::Repeat(id) => {
            scheduler.capabilities().repeats && able(id).is_some_and(|path| path.repeat_bytes > 0)
        }
        Decision::Ahead { path, gap: Gap::Stream(bytes) } => {
            able(path).is_some() && !view.reinjection && bytes < view.unsent_bytes
        }
        Decision::Ahead { path, gap: Gap::Unsent(bytes) } => {
            able(path).is_some() && bytes < view.unsent_bytes.max(1)
        }
        Decision::Wait(until) => until.is_none_or(|until| until > view.now),
    };
    match decision {
        _ if !kept => Err(format!("{decision:?} in {view:?}")),
        Decision::Send(path) | Decision::Ahead { path, .. } | Decision::Repeat(path) => {
            Ok(Some(path))
        }
        Decision::Duplicate(_) | Decision::Wait(_) => Ok(None),
    }
}

proptest! {
    /// Never panics, sends only where it may, deterministic; with 1 to 8 paths that change at
    /// will, hooks in any order, and long pauses.
    #[test]
    fn every_scheduler_answers_within_the_rules(steps in prop::collection::vec(any_step(), 1..60)) {
        for algorithm in Algorithm::ALL {
            let (mut one, mut two) = (algorithm.build(), algorithm.build());
            let mut now = Instant::ZERO;
            for step in &steps {
                now += Duration::from_millis(step.after_ms);
                let view = step.view(now, one.capabilities().repeats);
                let decision = one.select(&view);
                prop_assert_eq!(decision, two.select(&view), "{:?}", algorithm);
                let sent = check(&view, one.as_ref(), decision);
                prop_assert!(sent.is_ok(), "{:?}: {}", algorithm, sent.unwrap_err());
                for scheduler in [&mut one, &mut two] {
                    if let Ok(Some(path)) = sent {
                        scheduler.on_sent(now, path, MSS);
                    }
                    step.call(scheduler.as_mut(), now);
                }
            }
        }
    }

    /// The deadlock rule (docs/model.md §3): with an idle network every scheduler sends, whatever
    /// it has lived through, provided that no outage is ahead.
    #[test]
    fn nobody_waits_for_an_idle_path(
        past in prop::collection::vec(any_step(), 0..20),
        mut last in any_step(),
    ) {
        for path in &mut last.paths {
            path.usable = true;
            path.in_flight_packets = 0;
            path.queued_packets = 0;
            path.unacked_bytes = 0;
            path.repeat_bytes = 0;
            path.has_room = true;
            path.tried = false;
            path.forecast = None;
            path.srtt = path.srtt.max(Duration::from_millis(1));
            path.pacing_rate = Bitrate::from_mbps(1.0);
        }
        for algorithm in Algorithm::ALL {
            let mut scheduler = algorithm.build();
            let mut now = Instant::ZERO;
            for step in &past {
                now += Duration::from_millis(step.after_ms);
                scheduler.select(&step.view(now, false));
                step.call(scheduler.as_mut(), now);
            }
            let decision = scheduler.select(&last.view(now, false));
            prop_assert!(matches!(decision, Decision::Send(_)), "{:?}: {:?}", algorithm, decision);
        }
    }
}
