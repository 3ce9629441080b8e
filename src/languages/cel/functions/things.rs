//! Implements functions that Kubernetes adds to CEL: quantities, addresses, URLs, versions, formats of names.

use std::sync::Arc;

use super::ArgumentForm as T;
use super::Gives as G;
use super::{CelOverload, function, method, wrong};
use crate::languages::cel::address::{self, Network};
use crate::languages::cel::budget::CelBudget;
use crate::languages::cel::format_names::NameFormat;
use crate::languages::cel::location::ExprLocation;
use crate::languages::cel::map::CelMap;
use crate::languages::cel::opaque::{Opaque, Thing};
use crate::languages::cel::operators::Fault;
use crate::languages::cel::quantity::Quantity;
use crate::languages::cel::value::CelValue;
use crate::languages::cel::version::SemanticVersion;

const QUANTITY: T = T::Opaque(Opaque::Quantity);
const IP: T = T::Opaque(Opaque::Ip);
const CIDR: T = T::Opaque(Opaque::Cidr);
const URL: T = T::Opaque(Opaque::Url);
const VERSION: T = T::Opaque(Opaque::Version);
const FORMAT: T = T::Opaque(Opaque::Format);

pub(super) fn functions() -> Vec<CelOverload> {
    let mut all = quantities();
    all.extend(addresses());
    all.extend(networks());
    all.extend(address_tests());
    all.extend(urls());
    all.extend(versions());
    all.extend(formats());
    all
}

fn thing_value(thing: Thing) -> Result<CelValue, Fault> {
    Ok(CelValue::Opaque(Arc::new(thing)))
}

fn is(given: &[CelValue], read: impl Fn(&str) -> bool) -> Result<CelValue, Fault> {
    match given {
        [CelValue::Text(text), ..] => ok(read(text)),
        _ => Err(wrong()),
    }
}

fn cut(text: &str) -> String {
    text.chars().take(64).collect()
}

fn ok(value: impl Into<CelValue>) -> Result<CelValue, Fault> {
    Ok(value.into())
}

macro_rules! first {
    ($name:ident, $variant:ident, $type:ty) => {
        fn $name(given: &[CelValue]) -> Result<&$type, Fault> {
            let [CelValue::Opaque(thing), ..] = given else { return Err(wrong()) };
            let Thing::$variant(it) = &**thing else { return Err(wrong()) };
            Ok(it)
        }
    };
}

first!(amount, Quantity, Quantity);
first!(ip, Ip, std::net::IpAddr);
first!(cidr, Cidr, Network);
first!(url, Url, ExprLocation);
first!(version, Version, SemanticVersion);
first!(format, Format, NameFormat);

fn quantities() -> Vec<CelOverload> {
    let quantity = G::Opaque(Opaque::Quantity);
    vec![
        function(
            "quantity",
            &[T::Text],
            quantity,
            |_, v| thing_value(Thing::Quantity(quantity_of(v)?)),
            "parses a quantity: '1.5Gi'",
        ),
        function(
            "isQuantity",
            &[T::Text],
            G::Flag,
            |_, v| is(v, |t| Quantity::parse(t).is_some()),
            "true if the string is a quantity",
        ),
        method(
            "isInteger",
            &[QUANTITY],
            G::Flag,
            |_, v| ok(amount(v)?.as_integer().is_some()),
            "true if the quantity is a whole number",
        ),
        method(
            "asInteger",
            &[QUANTITY],
            G::Integer,
            |_, v| ok(amount(v)?.as_integer().ok_or("the quantity is not an int")?),
            "quantity as a whole number",
        ),
        method(
            "asApproximateFloat",
            &[QUANTITY],
            G::Double,
            |_, v| ok(amount(v)?.as_double()),
            "quantity as a floating-point number",
        ),
        method("sign", &[QUANTITY], G::Integer, |_, v| ok(amount(v)?.sign()), "1, 0 or -1"),
        method("add", &[QUANTITY, QUANTITY], quantity, |_, v| sum(v, 1), "sum of both"),
        method("add", &[QUANTITY, T::Integer], quantity, |_, v| sum(v, 1), "sum of both"),
        method("sub", &[QUANTITY, QUANTITY], quantity, |_, v| sum(v, -1), "difference of both"),
        method("sub", &[QUANTITY, T::Integer], quantity, |_, v| sum(v, -1), "difference of both"),
        method(
            "compareTo",
            &[QUANTITY, QUANTITY],
            G::Integer,
            |_, v| ok(compared(v)? as i64),
            "-1 if smaller, 0 if equal, 1 if larger",
        ),
        method(
            "isGreaterThan",
            &[QUANTITY, QUANTITY],
            G::Flag,
            |_, v| ok(compared(v)?.is_gt()),
            "true if it is more than the other quantity",
        ),
        method(
            "isLessThan",
            &[QUANTITY, QUANTITY],
            G::Flag,
            |_, v| ok(compared(v)?.is_lt()),
            "true if it is less than the other quantity",
        ),
    ]
}

fn quantity_of(given: &[CelValue]) -> Result<Quantity, Fault> {
    let [CelValue::Text(text)] = given else { return Err(wrong()) };
    Quantity::parse(text).ok_or_else(|| format!("`{}` is not a quantity", cut(text)).into())
}

fn sum(given: &[CelValue], sign: i128) -> Result<CelValue, Fault> {
    let [_, second] = given else { return Err(wrong()) };
    let other = match second {
        CelValue::Integer(n) => Quantity::whole(*n),
        other => *amount(std::slice::from_ref(other))?,
    };
    match amount(given)?.plus(other, sign) {
        Some(sum) => thing_value(Thing::Quantity(sum)),
        None => Err("the sum is too large".into()),
    }
}

/// Compares two quantities or two versions.
fn compared(given: &[CelValue]) -> Result<std::cmp::Ordering, Fault> {
    let [CelValue::Opaque(a), CelValue::Opaque(b)] = given else { return Err(wrong()) };
    match (&**a, &**b) {
        (Thing::Quantity(a), Thing::Quantity(b)) => Ok(a.cmp(b)),
        (Thing::Version(a), Thing::Version(b)) => Ok(a.cmp(b)),
        _ => Err(wrong()),
    }
}

fn ip_of(text: &str) -> Result<std::net::IpAddr, Fault> {
    address::parse(text).map_err(Fault::Failed)
}

fn addresses() -> Vec<CelOverload> {
    let flag = G::Flag;
    vec![
        function(
            "ip",
            &[T::Text],
            G::Opaque(Opaque::Ip),
            |_, v| thing_value(Thing::Ip(ip_of(text(v)?)?)),
            "parses an IP address",
        ),
        function(
            "isIP",
            &[T::Text],
            flag,
            |_, v| is(v, |t| address::parse(t).is_ok()),
            "true if the string is an IP address",
        ),
        function(
            "ip.isCanonical",
            &[T::Text],
            flag,
            |_, v| ok(ip_of(text(v)?)?.to_string() == text(v)?),
            "true if the string is an IP address in canonical form",
        ),
        method(
            "family",
            &[IP],
            G::Integer,
            |_, v| ok(if ip(v)?.is_ipv4() { 4i64 } else { 6 }),
            "version of the address: 4 or 6",
        ),
    ]
}

fn address_tests() -> impl Iterator<Item = CelOverload> {
    let tests: [(&'static str, super::Plain, &'static str); 5] = [
        ("isUnspecified", |_, v| ok(ip(v)?.is_unspecified()), "true for 0.0.0.0 or ::"),
        ("isLoopback", |_, v| ok(ip(v)?.is_loopback()), "true for a loopback address"),
        (
            "isLinkLocalMulticast",
            |_, v| ok(address::is_link_local_multicast(*ip(v)?)),
            "true for a link-local multicast address",
        ),
        ("isLinkLocalUnicast", |_, v| ok(address::is_link_local(*ip(v)?)), "true for a link-local unicast address"),
        ("isGlobalUnicast", |_, v| ok(address::is_global_unicast(*ip(v)?)), "true for a global unicast address"),
    ];
    tests.into_iter().map(|(name, run, meaning)| method(name, &[IP], G::Flag, run, meaning))
}

fn networks() -> Vec<CelOverload> {
    let flag = G::Flag;
    vec![
        function(
            "cidr",
            &[T::Text],
            G::Opaque(Opaque::Cidr),
            |_, v| thing_value(Thing::Cidr(network_of(text(v)?)?)),
            "parses a network: '10.0.0.0/8'",
        ),
        function(
            "isCIDR",
            &[T::Text],
            flag,
            |_, v| is(v, |t| Network::parse(t).is_ok()),
            "true if the string is a network",
        ),
        method("containsIP", &[CIDR, IP], flag, |_, v| contains_ip(v), "true if the network contains the address"),
        method("containsIP", &[CIDR, T::Text], flag, |_, v| contains_ip(v), "true if the network contains the address"),
        method(
            "containsCIDR",
            &[CIDR, CIDR],
            flag,
            |_, v| contains_network(v),
            "true if the network contains the other one",
        ),
        method(
            "containsCIDR",
            &[CIDR, T::Text],
            flag,
            |_, v| contains_network(v),
            "true if the network contains the other one",
        ),
        method(
            "ip",
            &[CIDR],
            G::Opaque(Opaque::Ip),
            |_, v| thing_value(Thing::Ip(cidr(v)?.address)),
            "address of the network",
        ),
        method(
            "masked",
            &[CIDR],
            G::Opaque(Opaque::Cidr),
            |_, v| thing_value(Thing::Cidr(cidr(v)?.masked())),
            "network with the bits of the host set to 0",
        ),
        method(
            "prefixLength",
            &[CIDR],
            G::Integer,
            |_, v| ok(i64::from(cidr(v)?.prefix)),
            "length of the network's prefix in bits",
        ),
    ]
}

fn text(given: &[CelValue]) -> Result<&str, Fault> {
    match given.first() {
        Some(CelValue::Text(text)) => Ok(text),
        _ => Err(wrong()),
    }
}

fn network_of(text: &str) -> Result<Network, Fault> {
    Network::parse(text).map_err(Fault::Failed)
}

fn contains_ip(given: &[CelValue]) -> Result<CelValue, Fault> {
    let address = match given.get(1) {
        Some(CelValue::Text(text)) => ip_of(text)?,
        _ => *ip(given.get(1..).unwrap_or_default())?,
    };
    ok(cidr(given)?.holds(address))
}

fn contains_network(given: &[CelValue]) -> Result<CelValue, Fault> {
    let other = match given.get(1) {
        Some(CelValue::Text(text)) => network_of(text)?,
        _ => *cidr(given.get(1..).unwrap_or_default())?,
    };
    ok(cidr(given)?.holds_network(other))
}

fn urls() -> Vec<CelOverload> {
    vec![
        function(
            "url",
            &[T::Text],
            G::Opaque(Opaque::Url),
            |_, v| match ExprLocation::parse(text(v)?) {
                Some(url) => thing_value(Thing::Url(url)),
                None => Err(format!("`{}` is not a URL", cut(text(v)?)).into()),
            },
            "parses a URL",
        ),
        function(
            "isURL",
            &[T::Text],
            G::Flag,
            |_, v| is(v, |t| ExprLocation::parse(t).is_some()),
            "true if the string is a URL",
        ),
        method("getScheme", &[URL], G::Text, |_, v| ok(CelValue::text(&*url(v)?.scheme)), "scheme of the URL, or ''"),
        method("getHost", &[URL], G::Text, |_, v| ok(CelValue::text(&*url(v)?.host)), "host of the URL with its port"),
        method("getHostname", &[URL], G::Text, |_, v| ok(CelValue::text(url(v)?.hostname())), "host of the URL"),
        method("getPort", &[URL], G::Text, |_, v| ok(CelValue::text(url(v)?.port())), "port of the URL, or ''"),
        method("getEscapedPath", &[URL], G::Text, |_, v| ok(CelValue::text(url(v)?.escaped_path())), "path of the URL"),
        method("getQuery", &[URL], G::Any, query, "query parameters as a map of lists"),
    ]
}

fn query(budget: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    let mut map = CelMap::default();
    let mut size = 0;
    for (key, values) in url(given)?.query() {
        size += key.len() + values.iter().map(|value| value.len() + size_of::<CelValue>()).sum::<usize>();
        map.set(&key, CelValue::list(values.into_iter().map(CelValue::text)));
    }
    budget.build(size)?;
    Ok(CelValue::Map(Arc::new(map)))
}

fn versions() -> Vec<CelOverload> {
    let gives = G::Opaque(Opaque::Version);
    vec![
        function("semver", &[T::Text], gives, |_, v| version_of(v), "parses a semantic version: '1.29.3'"),
        function(
            "semver",
            &[T::Text, T::Flag],
            gives,
            |_, v| version_of(v),
            "parses a semantic version; true also accepts `v1.2`",
        ),
        function(
            "isSemver",
            &[T::Text],
            G::Flag,
            |_, v| ok(version_of(v).is_ok()),
            "true if the string is a semantic version",
        ),
        function(
            "isSemver",
            &[T::Text, T::Flag],
            G::Flag,
            |_, v| ok(version_of(v).is_ok()),
            "true if the string is a semantic version; true also accepts `v1.2`",
        ),
        method("major", &[VERSION], G::Integer, |_, v| ok(version(v)?.numbers[0]), "major version"),
        method("minor", &[VERSION], G::Integer, |_, v| ok(version(v)?.numbers[1]), "minor version"),
        method("patch", &[VERSION], G::Integer, |_, v| ok(version(v)?.numbers[2]), "patch version"),
        method(
            "compareTo",
            &[VERSION, VERSION],
            G::Integer,
            |_, v| ok(compared(v)? as i64),
            "-1 if smaller, 0 if equal, 1 if larger",
        ),
        method(
            "isGreaterThan",
            &[VERSION, VERSION],
            G::Flag,
            |_, v| ok(compared(v)?.is_gt()),
            "true if it is newer than the other version",
        ),
        method(
            "isLessThan",
            &[VERSION, VERSION],
            G::Flag,
            |_, v| ok(compared(v)?.is_lt()),
            "true if it is older than the other version",
        ),
    ]
}

fn version_of(given: &[CelValue]) -> Result<CelValue, Fault> {
    let written = text(given)?;
    let version = match given.get(1) {
        Some(CelValue::Flag(true)) => SemanticVersion::parse_leniently(written),
        _ => SemanticVersion::parse(written),
    };
    match version {
        Some(version) => thing_value(Thing::Version(version)),
        None => Err(format!("`{}` is not a semantic version", cut(written)).into()),
    }
}

fn formats() -> Vec<CelOverload> {
    let gives = G::Opaque(Opaque::Format);
    let named: [(&'static str, super::Plain); 13] = [
        ("format.dns1123Label", |_, _| named("dns1123Label")),
        ("format.dns1123Subdomain", |_, _| named("dns1123Subdomain")),
        ("format.dns1035Label", |_, _| named("dns1035Label")),
        ("format.dns1123LabelPrefix", |_, _| named("dns1123LabelPrefix")),
        ("format.dns1123SubdomainPrefix", |_, _| named("dns1123SubdomainPrefix")),
        ("format.dns1035LabelPrefix", |_, _| named("dns1035LabelPrefix")),
        ("format.qualifiedName", |_, _| named("qualifiedName")),
        ("format.labelValue", |_, _| named("labelValue")),
        ("format.uri", |_, _| named("uri")),
        ("format.uuid", |_, _| named("uuid")),
        ("format.byte", |_, _| named("byte")),
        ("format.date", |_, _| named("date")),
        ("format.datetime", |_, _| named("datetime")),
    ];
    let mut all: Vec<CelOverload> =
        named.into_iter().map(|(name, run)| function(name, &[], gives, run, "format with this name")).collect();
    all.push(function(
        "format.named",
        &[T::Text],
        G::OptionalAny,
        |_, v| {
            let found = NameFormat::named(text(v)?);
            Ok(CelValue::Optional(found.map(|it| Arc::new(CelValue::Opaque(Arc::new(Thing::Format(it)))))))
        },
        "format with the given name, or an empty optional",
    ));
    all.push(method(
        "validate",
        &[FORMAT, T::Text],
        G::OptionalAny,
        |_, v| {
            let Some(CelValue::Text(text)) = v.get(1) else { return Err(wrong()) };
            let wrong = format(v)?.check(text);
            Ok(CelValue::Optional(wrong.map(|why| Arc::new(CelValue::list([CelValue::text(why)])))))
        },
        "list of problems, or an empty optional if the string has the format",
    ));
    all
}

fn named(name: &str) -> Result<CelValue, Fault> {
    match NameFormat::named(name) {
        Some(format) => thing_value(Thing::Format(format)),
        None => Err(wrong()),
    }
}
