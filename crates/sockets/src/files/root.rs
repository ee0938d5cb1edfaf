//! The folder that is served, and nothing outside of it.

use percent_encoding::percent_decode_str;
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, open, openat2};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

/// A rename beside the walk makes the kernel give up (openat2(2), EAGAIN): so often it is asked again.
const TRIES: usize = 8;

/// What became of a request.
#[derive(Debug)]
pub(crate) enum Found {
    /// The file, and its size now.
    File(File, u64),
    /// There is none, or none that is served.
    Nothing,
    /// There is something that is no file, or that the server must not read.
    Forbidden,
    /// The server could not open it, and why: not the client's fault.
    Failed(io::Error),
}

/// A folder, held open: what happens to its name later does not matter.
#[derive(Debug)]
pub(crate) struct Root {
    folder: OwnedFd,
    hidden: bool,
}

impl Root {
    pub fn open(path: &Path, hidden: bool) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = open(path, flags, Mode::empty())?;
        let root = Self { folder, hidden };
        match root.openat2(Path::new("."), flags) {
            Err(Errno::NOSYS) => Err(io::Error::other("serving files needs Linux 5.6 or later")),
            Err(error) => Err(error.into()),
            Ok(_) => Ok(root),
        }
    }

    /// The file that a request names. Links count as far as they are relative and stay in the
    /// folder: the kernel checks while it opens, so nothing can be swapped in between.
    pub fn find(&self, request: &str) -> Found {
        let Some(path) = relative(request, self.hidden) else { return Found::Nothing };
        // What is not a file, such as a pipe, opens at once, and is left.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = match self.openat2(&path, flags) {
            Ok(file) => file,
            Err(Errno::ACCESS | Errno::PERM) => return Found::Forbidden,
            Err(error) if is_absent(error) => return Found::Nothing,
            Err(error) => return Found::Failed(error.into()),
        };
        match fstat(&file) {
            Ok(about) if FileType::from_raw_mode(about.st_mode) == FileType::RegularFile => {
                Found::File(file.into(), about.st_size.try_into().unwrap_or(0))
            }
            Ok(_) => Found::Forbidden,
            Err(error) => Found::Failed(error.into()),
        }
    }

    fn openat2(&self, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let mut result = Err(Errno::AGAIN);
        for _ in 0..TRIES {
            result = openat2(&self.folder, path, flags, Mode::empty(), resolve);
            if !matches!(result, Err(Errno::AGAIN | Errno::INTR)) {
                break;
            }
        }
        result
    }
}

/// What the client got wrong, or must not have; everything else is the server's trouble.
fn is_absent(error: Errno) -> bool {
    [
        Errno::NOENT,
        Errno::NOTDIR,
        Errno::ISDIR,
        Errno::XDEV, // out of the folder
        Errno::LOOP,
        Errno::NAMETOOLONG,
        Errno::INVAL,
        Errno::NXIO, // a socket, or a pipe without a reader
        Errno::NODEV,
    ]
    .contains(&error)
}

/// The path that a request names, below the folder; `None` when it can be none that is served.
fn relative(request: &str, hidden: bool) -> Option<PathBuf> {
    let plain = request.split(['?', '#']).next()?.strip_prefix('/')?;
    let decoded = percent_decode_str(plain).decode_utf8().ok()?;
    if decoded.is_empty() || decoded.contains('\0') {
        return None;
    }
    let path = PathBuf::from(decoded.as_ref());
    let harmless = path.components().all(|part| match part {
        Component::Normal(name) => hidden || !name.as_encoded_bytes().starts_with(b"."),
        _ => false,
    });
    harmless.then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::fs::symlink;

    fn content(root: &Root, request: &str) -> Option<String> {
        match root.find(request) {
            Found::File(mut file, bytes) => {
                let mut text = String::new();
                file.read_to_string(&mut text).unwrap();
                assert_eq!(bytes, text.len() as u64);
                Some(text)
            }
            Found::Nothing | Found::Forbidden => None,
            Found::Failed(error) => panic!("{request}: {error}"),
        }
    }

    struct Folder(PathBuf);

    impl Drop for Folder {
        fn drop(&mut self) {
            std::fs::remove_dir_all(&self.0).ok();
        }
    }

    /// A folder `root` with a file, links and a pipe, beside what nobody should see.
    fn folder(name: &str) -> Folder {
        let name = format!("skyweave-root-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let root = folder.join("root");
        std::fs::create_dir_all(root.join("inner")).unwrap();
        std::fs::write(folder.join("secret"), "secret").unwrap();
        std::fs::write(root.join("inner/plain"), "plain").unwrap();
        std::fs::write(root.join(".dot"), "dot").unwrap();
        symlink("../secret", root.join("link")).unwrap();
        symlink(folder.join("secret"), root.join("absolute")).unwrap();
        symlink("inner/../inner/plain", root.join("good")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        symlink("..", root.join("up")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            root.join("pipe"),
            FileType::Fifo,
            Mode::RUSR | Mode::WUSR,
            0,
        )
        .unwrap();
        Folder(folder)
    }

    #[test]
    fn nothing_outside_of_the_folder_is_served() {
        let folder = folder("escape");
        let root = Root::open(&folder.0.join("root"), false).unwrap();
        for request in [
            "/../secret",
            "/inner/../../secret",
            "/%2e%2e/secret",
            "/..%2fsecret",
            "//etc/passwd",
            "/link",
            "/absolute",
            "/up/secret",
            "/loop",
            "/pipe",
            "/inner",
            "/nothing",
            "/",
            "",
            "secret",
            "/a%00b",
            "/%ff",
            "/proc/self/environ",
            &format!("/{}", "x".repeat(3000)),
        ] {
            assert_eq!(content(&root, request), None, "{request}");
        }
        for request in ["/inner/plain", "/inner/plain?x=1", "/inner%2fplain", "/good"] {
            assert_eq!(content(&root, request).as_deref(), Some("plain"), "{request}");
        }
    }

    #[test]
    fn names_with_a_dot_are_served_only_if_asked() {
        let folder = folder("hidden");
        let place = folder.0.join("root");
        assert_eq!(content(&Root::open(&place, false).unwrap(), "/.dot"), None);
        assert_eq!(content(&Root::open(&place, false).unwrap(), "/inner/.x/../plain"), None);
        let all = Root::open(&place, true).unwrap();
        assert_eq!(content(&all, "/.dot").as_deref(), Some("dot"));
        assert_eq!(content(&all, "/./.dot"), None);
    }

    /// A folder becomes a link to outside, over and over: what is served is the file or nothing.
    #[test]
    fn a_folder_swapped_for_a_link_leads_nowhere() {
        let folder = folder("swap");
        let place = folder.0.join("root");
        std::fs::create_dir(folder.0.join("outside")).unwrap();
        std::fs::write(folder.0.join("outside/plain"), "secret").unwrap();
        symlink("../outside", place.join("swapped")).unwrap();
        let root = Root::open(&place, false).unwrap();
        let over = std::sync::atomic::AtomicBool::new(false);
        let relaxed = std::sync::atomic::Ordering::Relaxed;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let exchange = rustix::fs::RenameFlags::EXCHANGE;
                let (a, b) = (place.join("inner"), place.join("swapped"));
                while !over.load(relaxed) {
                    let cwd = rustix::fs::CWD;
                    rustix::fs::renameat_with(cwd, &a, cwd, &b, exchange).unwrap();
                }
            });
            let (mut served, mut refused) = (0, 0);
            while served < 500 || refused < 500 {
                match content(&root, "/inner/plain").as_deref() {
                    Some("plain") => served += 1,
                    Some(other) => {
                        over.store(true, relaxed);
                        panic!("{other} was served");
                    }
                    None => refused += 1,
                }
            }
            over.store(true, relaxed);
        });
    }
}
