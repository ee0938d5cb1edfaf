//! qlog files: one for each connection.

use crate::error::SocketError;
use mpquic::{Endpoint, QlogSchema};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use units::Instant;

/// What a first packet that belongs to nobody leaves behind is shorter: it makes no file.
const WORTH_A_FILE_BYTES: usize = 1024;

/// Makes the folder of the logs.
pub(crate) fn prepare(folder: &Path) -> Result<(), SocketError> {
    std::fs::create_dir_all(folder).map_err(|source| SocketError::Write {
        path: folder.to_owned(),
        source,
        kept: 0,
    })
}

/// Lets an endpoint write `FOLDER/SIDE-NAME.sqlog`, as qvis opens it.
pub(crate) fn start(endpoint: &mut Endpoint, now: Instant, folder: &Path, name: &str) {
    let path = folder.join(format!("{name}.sqlog"));
    let mut log = Log { path, pending: String::new(), file: None };
    endpoint.set_qlog(now, QlogSchema::Qvis, move |record| log.take(record));
}

struct Log {
    path: PathBuf,
    pending: String,
    file: Option<BufWriter<File>>,
}

impl Log {
    fn take(&mut self, record: &str) {
        if let Some(file) = &mut self.file {
            let _ = file.write_all(record.as_bytes()); // a full disk ends no connection
            return;
        }
        self.pending.push_str(record);
        if self.pending.len() > WORTH_A_FILE_BYTES
            && let Ok(file) = File::create(&self.path)
        {
            let mut file = BufWriter::new(file);
            let _ = file.write_all(self.pending.as_bytes()); // the same
            self.file = Some(file);
            self.pending = String::new();
        }
    }
}
