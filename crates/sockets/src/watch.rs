//! The kernel's news of interfaces, addresses and routes (rtnetlink(7)).

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, bind, recv, socket_with};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// `RTMGRP_LINK`, `_IPV4_IFADDR`, `_IPV4_ROUTE`, `_IPV6_IFADDR`, `_IPV6_ROUTE` (linux/rtnetlink.h).
const GROUPS: u32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400;

/// Becomes readable when something changed. What it was does not matter: everything is looked at.
#[derive(Debug)]
pub(crate) struct Watch {
    socket: OwnedFd,
}

impl Watch {
    /// `None` where it is not permitted: interfaces are looked at every now and then anyway.
    pub fn new() -> Option<Self> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None).ok()?; // NETLINK_ROUTE is protocol 0
        bind(&socket, &SocketAddrNetlink::new(0, GROUPS)).ok()?;
        Some(Self { socket })
    }

    /// For `poll`.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Whether there was news; forgets it.
    pub fn take(&self) -> bool {
        let mut space = [0_u8; 8192];
        let mut any = false;
        // ENOBUFS, too, says that something changed: what was lost is news.
        loop {
            match recv(&self.socket, &mut space[..], RecvFlags::empty()) {
                Ok((0, _)) | Err(rustix::io::Errno::AGAIN) => return any,
                Ok(_) | Err(rustix::io::Errno::NOBUFS) => any = true,
                Err(_) => return any,
            }
        }
    }
}
