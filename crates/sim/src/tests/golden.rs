//! The table that shows in a diff when a change moves behaviour: completion and retransmissions of
//! a 20 MB transfer, in whole units so that no float formatting decides.

use super::world::*;
use congestion::Algorithm as Congestion;
use mptcp::Mode;
use scheduler::Algorithm as Scheduling;
use std::fmt::Write;

/// All schedulers in the mode that they were made for, with CUBIC; the four oldest everywhere.
fn is_listed(mode: Mode, congestion: Congestion, scheduler: Scheduling) -> bool {
    use Scheduling::{Blest, MinRtt, RoundRobin, Upstream};
    match mode {
        Mode::Tcp => scheduler == MinRtt,
        Mode::V096 if congestion == Congestion::Cubic => true,
        _ => matches!(scheduler, MinRtt | RoundRobin | Blest | Upstream),
    }
}

#[test]
fn golden_throughput_table() {
    let mut table = String::from(
        "mode      control  scheduler   link     ms      lost retransmitted reinjected redundant\n",
    );
    let steady = || vec![path("sat", 50.0, 60.0), path("terr", 100.0, 108.0)];
    let lossy = || {
        vec![
            with_loss(path("sat", 50.0, 60.0), 0.005),
            with_loss(path("terr", 100.0, 108.0), 0.0001),
        ]
    };
    let gap = || vec![with_gap(path("sat", 50.0, 60.0), 1.0, 2.0), path("terr", 100.0, 108.0)];
    for (name, paths) in [("steady", &steady as &dyn Fn() -> _), ("lossy", &lossy), ("gap", &gap)] {
        for mode in [Mode::Tcp, Mode::V096, Mode::Upstream] {
            for congestion in Congestion::ALL {
                for scheduler in Scheduling::ALL {
                    if !is_listed(mode, congestion, scheduler) {
                        continue;
                    }
                    let mut one = connection(mode, congestion, megabytes(20));
                    one.scheduler = scheduler.into();
                    let outcome = run(paths(), vec![one]);
                    let totals = &outcome.totals.connections[0];
                    let sum = |pick: fn(&crate::PathTotals) -> u64| -> u64 {
                        totals.paths.values().map(pick).sum()
                    };
                    let mode = format!("{mode:?}");
                    let ms = (totals.completion_s.unwrap() * 1e3).round();
                    let (control, scheduler) = (congestion.name(), scheduler.name());
                    let lost = sum(|path| path.lost_packets);
                    let again = sum(|path| path.retransmitted_packets);
                    let reinjected = sum(|path| path.reinjected_packets);
                    let redundant = sum(|path| path.redundant_packets);
                    writeln!(
                        table,
                        "{mode:<9} {control:<8} {scheduler:<11} {name:<8} {ms:<7} {lost:<4} {again:<13} {reinjected:<10} {redundant}"
                    )
                    .unwrap();
                }
            }
        }
    }
    insta::assert_snapshot!(table);
}
