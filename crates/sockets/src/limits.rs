//! How many connections a server keeps, and how many of them one neighbourhood may have.

use serde::Deserialize;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use units::{Duration, Instant};

/// After a look for an idle connection in a neighbourhood that found none, the next look there waits
/// for so long: it costs a walk over all connections.
pub(crate) const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Bounds of a server. Without them one host could take all places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Connections at a time whose handshake is complete.
    pub connections: usize,
    /// Handshakes under way, beside them.
    pub half_open: usize,
    /// Of both, those of one address; of IPv6, of one /64, which is one customer's link
    /// (RFC 4291 §2.5.4).
    pub per_address: usize,
    /// Those of one network: IPv4 /24, IPv6 /48.
    pub per_network: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connections: 4096, half_open: 1024, per_address: 64, per_network: 256 }
    }
}

impl Limits {
    /// The same number for everything: for a server whose clients are known.
    pub fn of(connections: usize) -> Self {
        Self {
            connections,
            half_open: connections,
            per_address: connections,
            per_network: connections,
        }
    }
}

/// An address's neighbourhoods: itself, then its network.
pub(crate) fn neighbourhoods(ip: IpAddr) -> [IpAddr; 2] {
    match ip.to_canonical() {
        IpAddr::V4(ip) => {
            let [a, b, c, _] = ip.octets();
            [ip.into(), Ipv4Addr::new(a, b, c, 0).into()]
        }
        IpAddr::V6(ip) => {
            let bits = u128::from(ip);
            [64, 48].map(|len| Ipv6Addr::from(bits & (u128::MAX << (128 - len))).into())
        }
    }
}

/// What is known of a neighbourhood.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    /// Connections and handshakes.
    all: usize,
    /// Those whose address is proven.
    proven: usize,
    /// Before then nobody there is idle.
    busy_until: Instant,
}

/// Counts connections by neighbourhood.
#[derive(Debug, Default)]
pub(crate) struct Census {
    counts: HashMap<(usize, IpAddr), Count>,
}

impl Census {
    pub fn add(&mut self, ip: IpAddr, proven: bool) {
        for key in keys(ip) {
            let count = self.counts.entry(key).or_default();
            count.all += 1;
            count.proven += usize::from(proven);
        }
    }

    /// The address of a handshake under way was proven.
    pub fn prove(&mut self, ip: IpAddr) {
        for key in keys(ip) {
            self.counts.entry(key).or_default().proven += 1;
        }
    }

    pub fn remove(&mut self, ip: IpAddr, proven: bool) {
        for key in keys(ip) {
            let Some(count) = self.counts.get_mut(&key) else { continue };
            count.all -= 1;
            count.proven -= usize::from(proven);
            if count.all == 0 {
                self.counts.remove(&key);
            }
        }
    }

    /// The first neighbourhood of `ip` (0: its address, 1: its network) that is full, of those
    /// whose address is `proven` or of all.
    pub fn full(&self, ip: IpAddr, limits: &Limits, proven: bool) -> Option<usize> {
        let most = [limits.per_address, limits.per_network];
        (0..).zip(keys(ip)).find_map(|(place, key)| {
            let count = self.counts.get(&key).copied().unwrap_or_default();
            let held = if proven { count.proven } else { count.all };
            (held >= most[place]).then_some(place)
        })
    }

    /// Whether a look for an idle connection there may find one; the caller is about to look.
    pub fn may_look(&mut self, now: Instant, ip: IpAddr, place: usize) -> bool {
        let key = keys(ip)[place];
        let Some(count) = self.counts.get_mut(&key) else { return true };
        let may = count.busy_until <= now;
        if may {
            count.busy_until = now + LOOK_AGAIN;
        }
        may
    }

    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }
}

fn keys(ip: IpAddr) -> [(usize, IpAddr); 2] {
    let [address, network] = neighbourhoods(ip);
    [(0, address), (1, network)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn neighbours_are_of_one_address_or_network() {
        let of = |text| neighbourhoods(ip(text)).map(|ip| ip.to_string());
        assert_eq!(of("192.0.2.7"), ["192.0.2.7", "192.0.2.0"]);
        assert_eq!(of("::ffff:192.0.2.7"), ["192.0.2.7", "192.0.2.0"]);
        assert_eq!(of("2001:db8:1:2:3:4:5:6"), ["2001:db8:1:2::", "2001:db8:1::"]);
    }

    #[test]
    fn who_is_not_proven_takes_no_place_from_who_is() {
        let limits = Limits { per_address: 2, per_network: 3, ..Limits::default() };
        let mut census = Census::default();
        census.add(ip("192.0.2.7"), false);
        census.add(ip("192.0.2.7"), false);
        assert_eq!(census.full(ip("192.0.2.7"), &limits, false), Some(0));
        assert_eq!(census.full(ip("192.0.2.7"), &limits, true), None);
        census.prove(ip("192.0.2.7"));
        census.add(ip("192.0.2.8"), true);
        assert_eq!(census.full(ip("192.0.2.9"), &limits, false), Some(1));
        assert_eq!(census.full(ip("192.0.2.9"), &limits, true), None);
        assert_eq!(census.full(ip("192.0.3.9"), &limits, false), None);
        census.remove(ip("192.0.2.7"), true);
        census.remove(ip("192.0.2.7"), false);
        census.remove(ip("192.0.2.8"), true);
        assert!(census.is_empty());
    }
}
