//! A file that is not complete yet: `OUT.part`, which becomes `OUT`.

use crate::error::SocketError;
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Pieces in which what was kept is compared.
const PIECE_BYTES: usize = 64 << 10;

/// What came of a file so far. It is locked: of several that fetch into one file, the first does.
///
/// What an earlier fetch left is not cut at once: the bytes that come are compared with it, and it is
/// cut where they differ. So nothing is lost when this fetch breaks off sooner than that one.
#[derive(Debug)]
pub(crate) struct Part {
    path: PathBuf,
    out: PathBuf,
    file: File,
    came: u64,
    /// Bytes of the file, where more of them are there than came.
    kept: u64,
    /// What came was not what was kept.
    differed: bool,
    done: bool,
}

impl Part {
    /// Opens and locks `OUT.part`.
    pub fn open(out: &Path) -> Result<Self, SocketError> {
        let mut path = out.as_os_str().to_owned();
        path.push(".part");
        let path = PathBuf::from(path);
        let refused = |source| SocketError::Write { path: path.clone(), source, kept: 0 };
        let file = loop {
            let file = open(&path).map_err(refused)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => return Err(SocketError::Taken { out: out.to_owned() }),
                Err(error) => return Err(refused(error.into())),
            }
            // Who had the lock before may have finished and renamed the file meanwhile.
            if is_at(&file, &path).map_err(refused)? {
                break file;
            }
        };
        let kept = file.metadata().map_err(refused)?.len();
        Ok(Self { path, out: out.to_owned(), file, came: 0, kept, differed: false, done: false })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes that came.
    pub fn came(&self) -> u64 {
        self.came
    }

    /// Bytes that the file has: more when an earlier fetch got further.
    pub fn held(&self) -> u64 {
        self.came.max(self.kept)
    }

    /// Whether what came was not what had been kept.
    pub fn differed(&self) -> bool {
        self.differed
    }

    /// Goes on with what was kept, but for its last `overlap` bytes, which are compared with what comes.
    /// `take` gets what is not fetched again, and ends it by false; the result is whether it did not.
    pub fn resume(
        &mut self,
        overlap: u64,
        mut take: impl FnMut(&[u8], u64) -> bool,
    ) -> Result<bool, SocketError> {
        let until = self.kept.saturating_sub(overlap);
        let mut piece = vec![0; PIECE_BYTES];
        while self.came < until {
            let piece = &mut piece[..(until - self.came).min(PIECE_BYTES as u64) as usize];
            let read = self.file.read_exact_at(piece, self.came);
            read.map_err(|source| SocketError::Read { path: self.path.clone(), source })?;
            self.came += piece.len() as u64;
            if !take(piece, self.came) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Everything comes again from its beginning, and is compared with what is there.
    pub fn restart(&mut self) {
        (self.kept, self.came, self.differed) = (self.held(), 0, false);
    }

    /// What came is worth nothing.
    pub fn discard(&mut self) {
        self.file.set_len(0).ok(); // it is removed with the rest
        (self.kept, self.came) = (0, 0);
    }

    /// Takes the next bytes.
    pub fn write(&mut self, mut data: &[u8]) -> Result<(), SocketError> {
        while !data.is_empty() {
            let taken = self.take(data);
            data = &data[taken.map_err(|source| self.refused(source))?..];
        }
        Ok(())
    }

    fn take(&mut self, data: &[u8]) -> io::Result<usize> {
        let known = self.kept.saturating_sub(self.came).min(PIECE_BYTES as u64);
        let known = data.len().min(known as usize);
        if known == 0 {
            let written = self.file.write_at(data, self.came)?;
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            self.came += written as u64;
            return Ok(written);
        }
        let mut there = vec![0; known];
        self.file.read_exact_at(&mut there, self.came)?;
        let same = there.iter().zip(data).take_while(|(kept, came)| kept == came).count();
        if same < known {
            (self.kept, self.differed) = (self.came + same as u64, true);
            self.file.set_len(self.kept)?; // another file: its end is worth nothing
        }
        self.came += same as u64;
        Ok(same)
    }

    /// The file is complete and gets its name.
    pub fn finish(&mut self) -> Result<(), SocketError> {
        self.complete().map_err(|source| self.refused(source))
    }

    fn complete(&mut self) -> io::Result<()> {
        if self.kept > self.came {
            self.file.set_len(self.came)?;
        }
        self.file.sync_all()?; // some disks are full only now
        std::fs::rename(&self.path, &self.out)?;
        self.done = true;
        Ok(())
    }

    fn refused(&self, source: io::Error) -> SocketError {
        SocketError::Write { path: self.path.clone(), source, kept: self.held() }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if !self.done && self.held() == 0 {
            std::fs::remove_file(&self.path).ok(); // nothing is in it
        }
    }
}

/// Opens a file for both, or makes it: never through a link, and never what is not a file alone.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = options.custom_flags(flags.bits() as i32).open(path).map_err(|error| {
        let is_link = error.raw_os_error() == Some(Errno::LOOP.raw_os_error());
        if is_link { io::Error::other("it is a symbolic link; remove it") } else { error }
    })?;
    let about = file.metadata()?;
    if !about.is_file() || about.nlink() > 1 {
        return Err(io::Error::other("it is no file of its own; remove it"));
    }
    Ok(file)
}

/// Whether `path` still names `file`.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let ours = file.metadata()?;
    match std::fs::symlink_metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (ours.dev(), ours.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let name = format!("skyweave-part-{}-{name}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            fs::create_dir_all(&folder).unwrap();
            Self(folder)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).ok();
        }
    }

    #[test]
    fn the_second_into_one_file_is_told() {
        let folder = Folder::new("second");
        let out = folder.0.join("out");
        let mut first = Part::open(&out).unwrap();
        first.write(b"first").unwrap();
        let second = Part::open(&out).unwrap_err();
        assert!(matches!(second, SocketError::Taken { .. }), "{second}");
        first.finish().unwrap();
        drop(first);
        assert_eq!(fs::read(&out).unwrap(), b"first");
        let mut third = Part::open(&out).unwrap();
        third.write(b"3").unwrap();
        assert_eq!(fs::read(&out).unwrap(), b"first");
        third.finish().unwrap();
        assert_eq!(fs::read(&out).unwrap(), b"3");
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1);
    }

    #[test]
    fn links_and_what_is_no_file_are_left_alone() {
        let folder = Folder::new("links");
        let (out, victim) = (folder.0.join("out"), folder.0.join("victim"));
        let part = folder.0.join("out.part");
        fs::write(&victim, b"precious").unwrap();
        symlink(&victim, &part).unwrap();
        let said = Part::open(&out).unwrap_err().to_string();
        assert!(said.contains("out.part") && said.contains("symbolic link"), "{said}");
        fs::remove_file(&part).unwrap();
        fs::hard_link(&victim, &part).unwrap();
        let said = Part::open(&out).unwrap_err().to_string();
        assert!(said.contains("no file of its own"), "{said}");
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
        fs::remove_file(&part).unwrap();
        fs::create_dir(&part).unwrap();
        assert!(Part::open(&out).is_err());
        fs::remove_dir(&part).unwrap();
        // The place itself may be a link: it is replaced, what it names is not touched.
        symlink(&victim, &out).unwrap();
        let mut got = Part::open(&out).unwrap();
        got.write(b"came").unwrap();
        got.finish().unwrap();
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
        assert_eq!(fs::read(&out).unwrap(), b"came");
        assert!(fs::symlink_metadata(&out).unwrap().is_file());
    }

    #[test]
    fn nothing_leaves_nothing() {
        let folder = Folder::new("nothing");
        drop(Part::open(&folder.0.join("out")).unwrap());
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 0);
    }

    proptest! {
        /// Whatever was kept, what is complete is what came; what breaks off is its beginning, or
        /// the longer one that was kept and begins so.
        #[test]
        fn what_was_kept_is_checked(
            kept in prop::collection::vec(0..2_u8, 0..40),
            same in 0..40_usize,
            rest in prop::collection::vec(0..2_u8, 0..40),
            pieces in prop::collection::vec(1..9_usize, 1..30),
            completes: bool,
        ) {
            let folder = Folder::new("kept");
            let out = folder.0.join("out");
            let part = folder.0.join("out.part");
            fs::write(&part, &kept).unwrap();
            let came = [&kept[..same.min(kept.len())], &rest[..]].concat();
            let mut held = Part::open(&out).unwrap();
            let mut left = &came[..];
            for len in pieces {
                let (now, later) = left.split_at(len.min(left.len()));
                held.write(now).unwrap();
                left = later;
            }
            let given = &came[..came.len() - left.len()];
            prop_assert_eq!(held.came(), given.len() as u64);
            if completes {
                held.finish().unwrap();
                prop_assert_eq!(&fs::read(&out).unwrap()[..], given);
            } else {
                let bytes = held.held();
                drop(held);
                let there = fs::read(&part).unwrap_or_default();
                prop_assert_eq!(there.len() as u64, bytes);
                prop_assert!(there.starts_with(given));
                prop_assert!(there == given || there == kept);
            }
        }
    }
}
