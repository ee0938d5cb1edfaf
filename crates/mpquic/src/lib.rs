//! Multipath QUIC. Sans-IO: no sockets, threads, wall clock or global random source.

mod crypto;
pub mod wire;

#[cfg(test)]
mod tests;
