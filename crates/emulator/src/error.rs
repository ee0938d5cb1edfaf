use std::io;
use std::path::PathBuf;

/// Why a relay cannot start, go on, or do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum EmulatorError {
    /// A path or a link that cannot be built or changed.
    #[error(transparent)]
    Link(#[from] link::LinkError),
    /// Nothing to relay.
    #[error("the relay has no paths: add at least one")]
    NoPaths,
    /// Paths and pairs of devices differ in number.
    #[error("{paths} paths and {devices} pairs of devices: give each path its pair")]
    DeviceCount {
        /// Paths.
        paths: usize,
        /// Pairs of devices.
        devices: usize,
    },
    /// The sampling interval is zero.
    #[error("sample_interval_ms is 0: it must be at least 1")]
    SampleInterval,
    /// The relay has no such path.
    #[error("the relay has no path '{0}': name one of those that it was started with")]
    UnknownPath(String),
    /// A device that cannot be used, or not any more.
    #[error(
        "path '{path}', direction {direction}: the device of the {side} cannot be {action} \
         ({source}); open it, and keep it while the relay runs"
    )]
    Device {
        /// Name of the path.
        path: String,
        /// Which way the frames go that it gives or takes.
        direction: &'static str,
        /// "client" or "server".
        side: &'static str,
        /// "used", "read" or "written".
        action: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// A capture file that cannot be written from the start.
    #[error("{file} cannot be written ({source}); check the folder and the name of the path")]
    Capture {
        /// The file.
        file: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The system gives no thread or no descriptor.
    #[error("the relay cannot start ({0}); free descriptors or threads")]
    Start(#[source] io::Error),
    /// Waiting for devices failed.
    #[error("the relay cannot wait for its devices ({0}); start it again")]
    Wait(#[source] io::Error),
    /// It has been stopped or has failed.
    #[error("the relay has ended: ask it for its failure, start another one")]
    Ended,
}
