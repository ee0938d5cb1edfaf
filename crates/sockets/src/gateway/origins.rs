//! What a gateway may connect to.

use super::splice::prepare;
use crate::error::SocketError;
use rustix::io::Errno;
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

/// A name's length stands in one byte.
const LONGEST_NAME: usize = 255;

/// A server behind a gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// What clients call it.
    pub name: String,
    /// Where it is; the next one is tried where one does not answer.
    pub addresses: Vec<SocketAddr>,
}

/// All that a gateway connects.
#[derive(Clone, Debug)]
pub struct Origins(Arc<[Origin]>);

impl Origins {
    /// The origins of a gateway; clients that name none reach the first one.
    ///
    /// # Errors
    /// None at all, one without an address, two of one name, or a name that is too long.
    pub fn new(origins: Vec<Origin>) -> Result<Self, SocketError> {
        check(&origins)?;
        Ok(Self(origins.into()))
    }

    /// The place of the origin of that name; of none: the first.
    pub(super) fn find(&self, name: &[u8]) -> Option<usize> {
        if name.is_empty() {
            return Some(0);
        }
        self.0.iter().position(|origin| origin.name.as_bytes() == name)
    }

    pub(super) fn at(&self, place: usize) -> &Origin {
        &self.0[place]
    }
}

fn check(origins: &[Origin]) -> Result<(), SocketError> {
    let wrong = |say: String| Err(SocketError::Config(say));
    if origins.is_empty() {
        return wrong("a gateway without an origin connects nothing; give one".into());
    }
    for (place, origin) in origins.iter().enumerate() {
        let name = &origin.name;
        check_name(name)?;
        if name.is_empty() {
            return wrong("an origin has an empty name; give it one".into());
        }
        if origin.addresses.is_empty() {
            return wrong(format!("the origin '{name}' has no address; give HOST:PORT"));
        }
        if origins[..place].iter().any(|other| other.name == *name) {
            return wrong(format!("two origins are called '{name}'; give each its own name"));
        }
    }
    Ok(())
}

/// Checks that a stream can name an origin so.
///
/// # Errors
/// A name that is too long.
pub(super) fn check_name(name: &str) -> Result<(), SocketError> {
    if name.len() <= LONGEST_NAME {
        return Ok(());
    }
    let (begin, most) = (name.chars().take(20).collect::<String>(), LONGEST_NAME);
    Err(SocketError::Config(format!("'{begin}…' is too long to name an origin; take {most} bytes")))
}

/// Begins a TCP connection; it is there, or failed, when the socket is writable.
pub(super) fn dial(address: SocketAddr) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    let socket = TcpStream::from(socket);
    prepare(&socket)?;
    match SockRef::from(&socket).connect(&address.into()) {
        Err(error) if error.raw_os_error() != Some(Errno::INPROGRESS.raw_os_error()) => Err(error),
        _ => Ok(socket),
    }
}
