//! Implements the functions of IP networks.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::languages::hcl::value::HclValue;

use super::{Arity, CallArguments, Function, FunctionFailure, FunctionResult, MANY};

pub(super) const TABLE: &[(&str, Arity, Function)] = &[
    ("cidrhost", 2..=2, host),
    ("cidrnetmask", 1..=1, netmask),
    ("cidrsubnet", 3..=3, subnet),
    ("cidrsubnets", 1..=MANY, subnets),
];

/// A network: its first address as a number, the bits of an address and the bits of the prefix.
struct Network {
    first: u128,
    width: u32,
    fixed: u32,
}

impl Network {
    fn parse(text: &str) -> Result<Self, FunctionFailure> {
        let parsed = text.split_once('/').and_then(|(address, fixed)| {
            let (address, width) = match address.parse().ok()? {
                IpAddr::V4(address) => (u128::from(u32::from(address)), 32),
                IpAddr::V6(address) => (u128::from(address), 128),
            };
            let fixed = fixed.parse().ok().filter(|fixed| *fixed <= width)?;
            Some(Network { first: address & mask(width, fixed), width, fixed })
        });
        parsed.ok_or_else(|| FunctionFailure::Refused(format!("`{text}` is not a network in CIDR notation")))
    }

    fn address(&self, number: u128) -> String {
        match self.width {
            32 => Ipv4Addr::from(number as u32).to_string(),
            _ => Ipv6Addr::from(number).to_string(),
        }
    }

    /// Returns the subnet with this many more prefix bits, set to this number.
    fn below(&self, more: u32, number: u128) -> Result<Network, FunctionFailure> {
        let fixed = self.fixed + more;
        if fixed > self.width {
            return Err(format!("{more} more bits exceed {} bits", self.width).into());
        }
        if more < 128 && number >> more != 0 {
            return Err(format!("the number {number} does not fit into {more} bits").into());
        }
        let shift = self.width - fixed;
        let offset = if shift >= 128 { 0 } else { number << shift };
        Ok(Network { first: self.first | offset, fixed, ..*self })
    }

    fn text(&self) -> String {
        format!("{}/{}", self.address(self.first), self.fixed)
    }
}

/// Returns the prefix mask for addresses of this width.
fn mask(width: u32, fixed: u32) -> u128 {
    let all = if width == 128 { u128::MAX } else { (1 << width) - 1 };
    let free = width - fixed;
    if free >= 128 { 0 } else { all >> free << free }
}

fn host(a: &CallArguments<'_>) -> FunctionResult {
    let network = Network::parse(&a.text(0)?)?;
    let number = a.whole_number(1)?;
    let free = network.width - network.fixed;
    let size = if free >= 127 { i128::MAX } else { 1i128 << free };
    let number = i128::from(number);
    let offset = if number < 0 { size + number } else { number };
    if offset < 0 || offset >= size {
        return Err(format!("the network has no host {number}").into());
    }
    a.answer(network.address(network.first | offset as u128))
}

fn netmask(a: &CallArguments<'_>) -> FunctionResult {
    let network = Network::parse(&a.text(0)?)?;
    if network.width != 32 {
        return Err("only IPv4 networks have a mask".into());
    }
    a.answer(network.address(mask(network.width, network.fixed)))
}

fn bits(number: i64) -> Result<u32, FunctionFailure> {
    u32::try_from(number).ok().filter(|bits| *bits <= 128).ok_or_else(|| "the number of bits is out of range".into())
}

fn subnet(a: &CallArguments<'_>) -> FunctionResult {
    let network = Network::parse(&a.text(0)?)?;
    let number = u128::try_from(a.whole_number(2)?).map_err(|_| "the number of the network is negative")?;
    a.answer(network.below(bits(a.whole_number(1)?)?, number)?.text())
}

fn subnets(a: &CallArguments<'_>) -> FunctionResult {
    let network = Network::parse(&a.text(0)?)?;
    let all = if network.width == 128 { u128::MAX } else { (1 << network.width) - 1 };
    let last = network.first | (all ^ mask(network.width, network.fixed));
    let mut next = Some(network.first);
    let mut result = Vec::new();
    for index in 1..a.len() {
        let more = bits(a.whole_number(index)?)?;
        if more == 0 {
            return Err("a network needs at least one more bit".into());
        }
        let sized = network.below(more, 0)?;
        let free = network.width - sized.fixed;
        let size = if free >= 128 { return Err("a network is too large".into()) } else { 1u128 << free };
        // The first multiple of the size at or after the end of the previous subnet.
        let aligned = next.and_then(|next| next.checked_add(size - 1)).map(|end| end / size * size);
        let first = aligned.filter(|first| *first <= last).ok_or("some of the networks do not fit")?;
        next = first.checked_add(size);
        result.push(HclValue::text(Network { first, ..sized }.text(), a.span));
    }
    a.answer_list(result)
}
