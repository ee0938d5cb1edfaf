//! What happens at times known beforehand: connections open and end, paths come and go, forecasts arrive.

use crate::config::instant;
use crate::{RunConfig, SimError, Transport};
use forecast::Update;
use units::Instant;

/// One thing that happens at a known time; `connection` and `path` count within the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Action {
    // What arrives at a moment is known to everything else that happens then.
    Forecast { connection: usize, path: usize, update: usize },
    // An interface that is there in windows that touch goes before it comes.
    PathDown { connection: usize, path: usize },
    PathUp { connection: usize, path: usize },
    Open { connection: usize },
    End { connection: usize },
}

/// All of them in order of time.
pub(crate) fn write(
    config: &RunConfig,
    paths_of: &[Vec<usize>],
    updates: &[Vec<Update>],
) -> Result<Vec<(Instant, Action)>, SimError> {
    let mut script = Vec::new();
    for (connection, (one, paths)) in config.connections.iter().zip(paths_of).enumerate() {
        let start = instant("start_s", one.start_s)?;
        if one.after.is_none() {
            script.push((start, Action::Open { connection }));
        }
        if let Some(duration_s) = one.workload.describe().duration_s() {
            let end = instant("start_s + duration_s", one.start_s + duration_s)?;
            script.push((end, Action::End { connection }));
        }
        for (local, path) in paths.iter().enumerate() {
            for (update, known) in updates[*path].iter().enumerate() {
                script.push((known.arrives, Action::Forecast { connection, path: local, update }));
            }
            for window in &config.paths[*path].present {
                let up = instant("present.start_s", window.start_s)?.max(start);
                let down = window.end_s.map(|end_s| instant("present.end_s", end_s)).transpose()?;
                if down.is_some_and(|down| down <= start) {
                    continue;
                }
                // Plain TCP keeps its address over an absence: it hears of the first window only.
                let is_tcp = one.transport == Transport::Tcp;
                script.push((up, Action::PathUp { connection, path: local }));
                if let Some(down) = down.filter(|_| !is_tcp) {
                    script.push((down, Action::PathDown { connection, path: local }));
                }
            }
        }
    }
    script.sort();
    Ok(script)
}
