//! Runs with random faults, seed by seed: counts and a digest over all outcomes as one line of JSON, and
//! a line for each run that did not finish, with what repeats it.
//!
//! `cargo run --release -p skyweave-sim --example faults -- [--from N] [--count M] [--long] [--threads T]`

#![expect(clippy::print_stdout, reason = "what a program found goes there")]

use serde_json::json;
use sim::faults::{FaultRun, Size, Tally};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Seeds that a thread takes at a time.
const CHUNK: u64 = 64;
const USAGE: &str = "give --from N, --count M, --threads T (numbers), --long, --show";

struct Options {
    from: u64,
    count: u64,
    threads: usize,
    size: Size,
    show: bool,
}

fn main() -> ExitCode {
    let Some(options) = options() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    if options.show {
        show(&options);
        return ExitCode::SUCCESS;
    }
    std::panic::set_hook(Box::new(|_| {})); // told with the seed, below
    let began = Instant::now();
    let tally = run(&options);
    for (seed, verdict) in &tally.failures {
        let long = if options.size == Size::Long { " LONG=1" } else { "" };
        eprintln!("seed {seed}: {verdict:?}; again: make faults FROM={seed} COUNT=1{long}");
    }
    let report = json!({
        "from": options.from, "count": options.count, "long": options.size == Size::Long,
        "finished": tally.finished, "lost": tally.lost, "hung": tally.hung, "broken": tally.broken,
        "digest": format!("{:016x}", tally.digest), "wall_s": began.elapsed().as_secs_f64(),
    });
    println!("{report}");
    if tally.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn options() -> Option<Options> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut options =
        Options { from: 0, count: 10_000, threads: cores, size: Size::Short, show: false };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--from" => options.from = words.next()?.parse().ok()?,
            "--count" => options.count = words.next()?.parse().ok()?,
            "--threads" => {
                options.threads = words.next()?.parse().ok().filter(|count| *count > 0)?
            }
            "--long" => options.size = Size::Long,
            "--show" => options.show = true,
            _ => return None,
        }
    }
    options.from.checked_add(options.count)?;
    Some(options)
}

fn run(options: &Options) -> Tally {
    let (next, end) = (AtomicU64::new(options.from), options.from + options.count);
    std::thread::scope(|scope| {
        let work = || {
            let mut tally = Tally::default();
            loop {
                let first = next.fetch_add(CHUNK, Ordering::Relaxed);
                if first >= end {
                    return tally;
                }
                (first..end.min(first + CHUNK)).for_each(|seed| tally.run(seed, options.size));
            }
        };
        let threads: Vec<_> = (0..options.threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().fold(Tally::default(), |mut all, thread| {
            all.add(thread.join().expect("a thread that counts does not panic"));
            all
        })
    })
}

/// The description of each run, and what became of it.
fn show(options: &Options) {
    for seed in options.from..options.from + options.count {
        let run = FaultRun::new(seed, options.size);
        println!("{}", serde_json::to_string_pretty(&run.config).expect("plain data"));
        println!("{:?}\n{:?}", run.channel, run.transfer);
        let (verdict, outcome) = run.outcome().expect("a run that makes sense");
        for event in &outcome.events {
            println!("{event:?}");
        }
        println!("{verdict:?}\n{:#?}", outcome.totals);
    }
}
