//! Defines IP addresses and networks.

use std::fmt;
use std::net::IpAddr;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Network {
    pub(super) address: IpAddr,
    pub(super) prefix: u8,
}

/// Parses an address as Kubernetes does: without zones and without IPv4 within IPv6.
pub(super) fn parse(text: &str) -> Result<IpAddr, String> {
    if text.contains('%') {
        return Err("an address must not have a zone".to_owned());
    }
    match text.parse() {
        Ok(IpAddr::V6(_)) if text.contains('.') => Err("an IPv6 address must not contain an IPv4 address".to_owned()),
        Ok(address) => Ok(address),
        Err(_) => Err(format!("`{}` is not an IP address", text.chars().take(64).collect::<String>())),
    }
}

/// Returns true if two addresses are equal. An IPv4-mapped IPv6 address equals the IPv4 address.
pub(super) fn same(a: IpAddr, b: IpAddr) -> bool {
    a.to_canonical() == b.to_canonical()
}

pub(super) fn is_link_local_multicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(it) => it.octets().starts_with(&[224, 0, 0]),
        IpAddr::V6(it) => it.segments()[0] & 0xff0f == 0xff02,
    }
}

pub(super) fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(it) => it.is_link_local(),
        IpAddr::V6(it) => it.segments()[0] & 0xffc0 == 0xfe80,
    }
}

pub(super) fn is_global_unicast(address: IpAddr) -> bool {
    let is_broadcast = matches!(address, IpAddr::V4(it) if it.is_broadcast());
    !(is_broadcast
        || address.is_unspecified()
        || address.is_loopback()
        || address.is_multicast()
        || is_link_local(address))
}

impl Network {
    pub(super) fn parse(text: &str) -> Result<Network, String> {
        let wrong = || format!("`{}` is not a network (CIDR)", text.chars().take(64).collect::<String>());
        let (address, prefix) = text.split_once('/').ok_or_else(wrong)?;
        let address = parse(address)?;
        let is_number = !prefix.is_empty() && prefix.bytes().all(|it| it.is_ascii_digit());
        let is_number = is_number && (prefix == "0" || !prefix.starts_with('0'));
        let prefix: u8 = prefix.parse().ok().filter(|_| is_number).ok_or_else(wrong)?;
        let longest = if address.is_ipv4() { 32 } else { 128 };
        (prefix <= longest).then_some(Network { address, prefix }).ok_or_else(wrong)
    }

    pub(super) fn masked(self) -> Network {
        let address = match self.address {
            IpAddr::V4(it) => IpAddr::V4((u32::from(it) & mask(32, self.prefix) as u32).into()),
            IpAddr::V6(it) => IpAddr::V6((u128::from(it) & mask(128, self.prefix)).into()),
        };
        Network { address, ..self }
    }

    pub(super) fn holds(self, address: IpAddr) -> bool {
        let other = Network { address, prefix: self.prefix };
        self.address.is_ipv4() == address.is_ipv4() && self.masked().address == other.masked().address
    }

    pub(super) fn holds_network(self, other: Network) -> bool {
        self.prefix <= other.prefix && self.holds(other.address)
    }
}

fn mask(bits: u32, prefix: u8) -> u128 {
    u128::MAX.checked_shl(bits - u32::from(prefix)).unwrap_or(0)
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}
