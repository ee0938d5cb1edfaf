//! RACK: time-based loss detection (RFC 8985, Linux `tcp_recovery.c`).

use units::Duration;

/// Fast retransmit threshold (RFC 5681): this many SACKed packets prove a loss without waiting.
pub(crate) const DUPTHRESH: u64 = 3;

/// State of RACK: the most recently sent packet that was delivered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rack {
    /// Transmission number of that packet.
    pub serial: u64,
    /// Its RTT.
    pub rtt: Duration,
    /// Reordering was observed on this stream.
    pub reordering_seen: bool,
    /// Multiplier of the reordering window, raised by DSACKs (RFC 8985 §6.2 step 4).
    steps: u32,
}

impl Rack {
    /// A packet was delivered whose last transmission, number `serial`, took `rtt` if it is the one
    /// that was answered.
    pub fn on_delivered(&mut self, serial: u64, rtt: Duration) {
        self.rtt = if serial >= self.serial { rtt } else { self.rtt };
        self.serial = self.serial.max(serial);
    }

    /// A duplicate was reported: a retransmission was not needed, wait longer next time, if the
    /// stream reorders at all (`tcp_rack_reo_wnd`).
    pub fn on_duplicate(&mut self) {
        self.steps = (self.steps.max(1) + 1).min(255);
    }

    /// How long a packet may be overtaken before it counts as lost.
    pub fn reordering_window(
        &self,
        min_rtt: Duration,
        srtt: Duration,
        in_recovery: bool,
        sacked: u64,
    ) -> Duration {
        if !self.reordering_seen && (in_recovery || sacked >= DUPTHRESH) {
            return Duration::ZERO;
        }
        (min_rtt / 4 * self.steps.max(1)).min(srtt)
    }
}
