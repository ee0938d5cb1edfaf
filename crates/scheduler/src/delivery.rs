//! What a path has delivered of late: the rates that a scheduler plans with.

use units::{Bitrate, Duration, Instant};

/// Rates are counted in steps of this length.
const TICK: Duration = Duration::from_millis(10);
const TICK_NANOS: u64 = TICK.as_nanos();
/// Steps in the spans that are averaged over.
const SHORT: usize = 6;
const LONG: usize = 15;
/// Steps in the span of a peak.
const PEAK: usize = 10;
/// Peaks that are compared: those of the last 400 ms and of the last 2 s.
const RECENT_PEAKS: usize = 40;
const PEAKS: usize = 200;
/// Closed steps that are kept, and the open one.
const KEPT: usize = LONG + 1;

/// What a path has delivered of late, by its acknowledgements, copies included. Zero for a path that
/// was never heard of, and for schedulers that do not ask for it
/// ([`Capabilities::measures_delivery`](crate::Capabilities::measures_delivery)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// Over the last 60 ms.
    pub short: Bitrate,
    /// Over the last 150 ms.
    pub rate: Bitrate,
    /// The largest over 100 ms within the last 400 ms.
    pub peak: Bitrate,
    /// The largest over 100 ms within the last 2 s.
    pub long_peak: Bitrate,
    /// [`Self::long_peak`] when something was acknowledged last: what an idle path did when it was used.
    pub last_peak: Bitrate,
}

/// Counts what a path delivers.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    /// The open step, counted from the beginning of time.
    tick: u64,
    /// Bytes of the open step and of those before it, by step modulo [`KEPT`].
    bytes: [u64; KEPT],
    /// Bytes in the 100 ms up to the end of each step, by step modulo [`PEAKS`].
    sums: Box<[u64; PEAKS]>,
    peak: u64,
    long_peak: u64,
    last_peak: u64,
}

impl Default for Meter {
    fn default() -> Self {
        Self {
            tick: 0,
            bytes: [0; KEPT],
            sums: Box::new([0; PEAKS]),
            peak: 0,
            long_peak: 0,
            last_peak: 0,
        }
    }
}

impl Meter {
    pub fn on_acked(&mut self, now: Instant, bytes: u64) {
        self.advance(now);
        self.bytes[self.tick as usize % KEPT] += bytes;
    }

    pub fn delivery(&mut self, now: Instant) -> Delivery {
        self.advance(now);
        let elapsed = Duration::from_nanos(now.as_nanos() % TICK_NANOS);
        let over = |steps: usize| {
            let bytes = self.bytes[self.tick as usize % KEPT] + self.closed(steps);
            Bitrate::from_bytes_per(bytes, TICK * steps as u32 + elapsed)
        };
        let of_peak = |bytes| Bitrate::from_bytes_per(bytes, TICK * PEAK as u32);
        Delivery {
            short: over(SHORT),
            rate: over(LONG),
            peak: of_peak(self.peak),
            long_peak: of_peak(self.long_peak),
            last_peak: of_peak(self.last_peak),
        }
    }

    /// Bytes of the steps before the open one.
    fn closed(&self, steps: usize) -> u64 {
        (1..=steps as u64)
            .filter_map(|back| self.tick.checked_sub(back))
            .map(|tick| self.bytes[tick as usize % KEPT])
            .sum()
    }

    /// Closes the steps that are over.
    fn advance(&mut self, now: Instant) {
        let tick = now.as_nanos() / TICK_NANOS;
        if tick <= self.tick {
            return;
        }
        // After a long pause nothing that is kept is left of what was before.
        let pause = (tick - self.tick).min((PEAKS + KEPT) as u64);
        self.close();
        self.tick = tick - pause;
        for _ in 0..pause {
            self.tick += 1;
            self.bytes[self.tick as usize % KEPT] = 0;
            if self.tick < tick {
                self.close();
            }
        }
        let newest = |count: usize| {
            let steps = (1..=count as u64).filter_map(|back| tick.checked_sub(back));
            steps.map(|step| self.sums[step as usize % PEAKS]).max().unwrap_or(0)
        };
        (self.peak, self.long_peak) = (newest(RECENT_PEAKS), newest(PEAKS));
        // While something comes: the peaks that remain after it are of its last packets.
        if self.closed(PEAK) > 0 {
            self.last_peak = self.long_peak;
        }
    }

    fn close(&mut self) {
        let open = self.bytes[self.tick as usize % KEPT];
        self.sums[self.tick as usize % PEAKS] = open + self.closed(PEAK - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fed(meter: &mut Meter, from_ms: u64, to_ms: u64, bytes_per_ms: u64) {
        (from_ms..to_ms).for_each(|ms| meter.on_acked(Instant::from_millis(ms), bytes_per_ms));
    }

    #[test]
    fn a_steady_rate_is_found_whenever_one_asks() {
        let mut meter = Meter::default();
        fed(&mut meter, 0, 3000, 1000); // 8 Mbit/s
        for ms in 3000..3010 {
            let delivery = meter.delivery(Instant::from_millis(ms));
            for rate in [delivery.rate, delivery.short] {
                assert!((rate.as_mbps() - 8.0).abs() < 1.1, "{ms}: {rate:?}");
            }
            assert_eq!(delivery.peak, Bitrate::from_mbps(8.0));
            assert_eq!(delivery.long_peak, delivery.peak);
        }
    }

    #[test]
    fn silence_counts_at_once_and_peaks_outlast_it() {
        let mut meter = Meter::default();
        fed(&mut meter, 0, 1000, 1000);
        let at = |meter: &mut Meter, ms| meter.delivery(Instant::from_millis(ms));
        let soon = at(&mut meter, 1075);
        assert!(soon.rate < Bitrate::from_mbps(4.5) && soon.short.as_bps() == 0, "{soon:?}");
        assert_eq!(at(&mut meter, 1160).rate, Bitrate::ZERO);
        assert_eq!(at(&mut meter, 1300).peak, Bitrate::from_mbps(8.0));
        assert_eq!(at(&mut meter, 1600).peak, Bitrate::ZERO);
        assert_eq!(at(&mut meter, 1600).long_peak, Bitrate::from_mbps(8.0));
        let late = at(&mut meter, 60_000);
        assert_eq!((late.long_peak, late.last_peak), (Bitrate::ZERO, Bitrate::from_mbps(8.0)));
    }

    #[test]
    fn the_last_peak_is_that_of_the_whole_burst() {
        let mut meter = Meter::default();
        fed(&mut meter, 0, 1000, 1000);
        (1000..5000).step_by(7).for_each(|ms| meter.advance(Instant::from_millis(ms)));
        let late = meter.delivery(Instant::from_millis(5000));
        assert_eq!((late.long_peak, late.last_peak), (Bitrate::ZERO, Bitrate::from_mbps(8.0)));
    }

    #[test]
    fn the_first_bytes_of_all_count() {
        let mut meter = Meter::default();
        assert_eq!(meter.delivery(Instant::ZERO), Delivery::default());
        meter.on_acked(Instant::ZERO, 1500);
        assert_eq!(
            meter.delivery(Instant::from_millis(150)).rate.bytes_in(Duration::from_millis(150)),
            1500
        );
    }
}
