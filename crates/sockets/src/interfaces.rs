//! Network interfaces, which come and go.

use crate::error::SocketError;
use rustix::net::netdevice::name_to_index;
use std::fmt;
use std::net::{IpAddr, SocketAddr, UdpSocket};

/// The local end of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Local {
    /// Whatever the kernel's routes say.
    Any,
    /// An address of this machine.
    Address(IpAddr),
    /// A network interface.
    Interface(String),
}

impl Local {
    /// From what a user gives: an address if it is one, else the name of an interface.
    pub fn parse(text: &str) -> Self {
        text.parse().map_or_else(|_| Self::Interface(text.to_owned()), Self::Address)
    }

    /// The address to send from to `remote`; `None`: any. An error when there is none at present.
    pub(crate) fn source(&self, remote: SocketAddr) -> Result<Option<IpAddr>, SocketError> {
        match self {
            Self::Any => Ok(None),
            Self::Address(address) if address.is_ipv4() == remote.is_ipv4() => Ok(Some(*address)),
            Self::Address(address) => Err(no_address(address.to_string(), remote)),
            Self::Interface(name) => of_interface(name, remote).map(Some),
        }
    }
}

impl fmt::Display for Local {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("the default route"),
            Self::Address(address) => address.fmt(f),
            Self::Interface(name) => f.write_str(name),
        }
    }
}

fn no_address(name: String, remote: SocketAddr) -> SocketError {
    let family = if remote.is_ipv4() { "IPv4" } else { "IPv6" };
    SocketError::NoAddress { name, family, remote }
}

/// Whether there is an interface of this name, up or not.
pub(crate) fn exists(name: &str) -> bool {
    // Any socket will do: the request is one of the network namespace.
    let socket = UdpSocket::bind("0.0.0.0:0").or_else(|_| UdpSocket::bind("[::]:0"));
    socket.is_ok_and(|socket| name_to_index(&socket, name).is_ok())
}

/// Whether an interface of this name has this address.
pub(crate) fn has(name: &str, address: IpAddr) -> bool {
    let all = if_addrs::get_if_addrs().unwrap_or_default();
    all.iter().any(|one| one.name == name && one.ip() == address.to_canonical())
}

/// The address of a running interface that reaches `remote`: not link-local unless it is.
fn of_interface(name: &str, remote: SocketAddr) -> Result<IpAddr, SocketError> {
    let all = if_addrs::get_if_addrs().unwrap_or_default();
    let own = all.iter().filter(|one| one.name == name && one.is_oper_up());
    let mut fitting = own.filter(|one| {
        let local = matches!(remote.ip(), IpAddr::V6(ip) if ip.is_unicast_link_local());
        one.ip().is_ipv4() == remote.is_ipv4() && (remote.is_ipv4() || one.is_link_local() == local)
    });
    match fitting.next() {
        Some(one) => Ok(one.ip()),
        None if exists(name) => Err(no_address(name.to_owned(), remote)),
        None => Err(SocketError::NoInterface(name.to_owned())),
    }
}
