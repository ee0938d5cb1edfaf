/// Why a run cannot begin: what, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// No path, no connection.
    #[error("the run has no {0}: add at least one")]
    Empty(&'static str),
    /// More than fit into the identifiers.
    #[error("the run has {count} {what}: at most {limit} are possible")]
    TooMany {
        /// Paths or connections.
        what: &'static str,
        /// How many.
        count: usize,
        /// How many may be.
        limit: usize,
    },
    /// A connection names a path that is not there.
    #[error("connection {connection} uses a path '{name}' that the run does not have")]
    UnknownPath {
        /// Its place in the run.
        connection: usize,
        /// The name.
        name: String,
    },
    /// A connection names a path twice.
    #[error("connection {connection} uses path '{name}' twice: name it once")]
    RepeatedPath {
        /// Its place in the run.
        connection: usize,
        /// The name.
        name: String,
    },
    /// A connection waits for, or is closed by, one that the run does not have, or itself.
    #[error(
        "{field} of connection {connection} is connection {other}: it must be another one of the run"
    )]
    Follows {
        /// Its place in the run.
        connection: usize,
        /// `after` or `until`.
        field: &'static str,
        /// What it names.
        other: usize,
    },
    /// An ABR algorithm of the caller's where no film is adaptive.
    #[error(
        "connection {connection} has an ABR algorithm of its own, but its workload is '{workload}', \
         not 'adaptive'"
    )]
    NotAdaptive {
        /// Its place in the run.
        connection: usize,
        /// What it has.
        workload: &'static str,
    },
    /// TLS refused the certificate that the simulator made.
    #[error("no identity could be made for the servers of multipath QUIC: report this")]
    Tls,
    /// A datagram that QUIC cannot send.
    #[error("quic.datagram_bytes of connection {connection} is {bytes}: QUIC needs 1200 to 65507")]
    Datagram {
        /// Its place in the run.
        connection: usize,
        /// Its size.
        bytes: usize,
    },
    /// A workload that cannot be.
    #[error("the workload of connection {connection} {reason}")]
    Workload {
        /// Its place in the run.
        connection: usize,
        /// Why not, and what to do.
        reason: application::WorkloadError,
    },
    /// A buffer that does not hold one segment.
    #[error("{field} of connection {connection} is {bytes} bytes: it must hold at least 1500")]
    Buffer {
        /// Its place in the run.
        connection: usize,
        /// Which buffer.
        field: &'static str,
        /// Its size.
        bytes: u64,
    },
    /// A time that makes no sense.
    #[error("{field} is {seconds} s: it must lie between 0 and 1e9")]
    Time {
        /// Which field.
        field: &'static str,
        /// Its value.
        seconds: f64,
    },
    /// The sampling interval is zero.
    #[error("sample_interval_ms is 0: it must be at least 1")]
    SampleInterval,
    /// A path or a link that cannot be built.
    #[error(transparent)]
    Link(#[from] link::LinkError),
}
