//! Defines values with their own types: quantities, addresses, URLs, versions and name formats.

use std::fmt;

use super::address::Network;
use super::format_names::NameFormat;
use super::location::ExprLocation;
use super::quantity::Quantity;
use super::version::SemanticVersion;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opaque {
    Quantity,
    Ip,
    Cidr,
    Url,
    Version,
    Format,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Thing {
    Quantity(Quantity),
    Ip(std::net::IpAddr),
    Cidr(Network),
    Url(ExprLocation),
    Version(SemanticVersion),
    Format(NameFormat),
}

impl Opaque {
    /// Returns the name of the type in the language.
    pub(super) fn name(self) -> &'static str {
        match self {
            Opaque::Quantity => "kubernetes.Quantity",
            Opaque::Ip => "net.IP",
            Opaque::Cidr => "net.CIDR",
            Opaque::Url => "kubernetes.URL",
            Opaque::Version => "kubernetes.Semver",
            Opaque::Format => "kubernetes.NamedFormat",
        }
    }
}

impl Thing {
    pub(super) fn kind(&self) -> Opaque {
        match self {
            Thing::Quantity(_) => Opaque::Quantity,
            Thing::Ip(_) => Opaque::Ip,
            Thing::Cidr(_) => Opaque::Cidr,
            Thing::Url(_) => Opaque::Url,
            Thing::Version(_) => Opaque::Version,
            Thing::Format(_) => Opaque::Format,
        }
    }
}

impl fmt::Display for Thing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Thing::Quantity(it) => write!(f, "{it}"),
            Thing::Ip(it) => write!(f, "{it}"),
            Thing::Cidr(it) => write!(f, "{it}"),
            Thing::Url(it) => write!(f, "{it}"),
            Thing::Version(it) => write!(f, "{it}"),
            Thing::Format(it) => write!(f, "{}", it.name()),
        }
    }
}
