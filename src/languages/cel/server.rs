//! Defines what a Kubernetes API server knows: its functions by version, and what names of rules mean there.

use super::map::CelMap;

/// A Kubernetes version: its minor number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kubernetes {
    pub minor: u32,
}

/// The first version in which ValidatingAdmissionPolicy and everything that paths need are generally available.
const OLDEST: u32 = 30;

impl Kubernetes {
    pub fn parse(text: &str) -> Result<Kubernetes, String> {
        let minor =
            text.trim_start_matches('v').strip_prefix("1.").and_then(|rest| rest.split('.').next()?.parse().ok());
        match minor {
            Some(minor) if minor >= OLDEST => Ok(Kubernetes { minor }),
            Some(_) => Err(format!("ValidatingAdmissionPolicy needs Kubernetes 1.{OLDEST} or later")),
            None => Err(format!("`{}` is not a Kubernetes version: write it as 1.{OLDEST}", text.escape_debug())),
        }
    }
}

/// Functions, with the first minor version whose API server accepts them in new policies. This is one version after
/// `k8s.io/apiserver/pkg/cel/environment` introduces them (read in 1.34, November 2026).
const FUNCTIONS: &[(u32, &[&str])] = &[
    (
        0,
        &[
            "size",
            "startsWith",
            "endsWith",
            "contains",
            "matches",
            "find",
            "findAll",
            "string",
            "int",
            "uint",
            "double",
            "bool",
            "bytes",
            "dyn",
            "type",
            "duration",
            "timestamp",
            "isSorted",
            "sum",
            "min",
            "max",
            "indexOf",
            "lastIndexOf",
            "url",
            "isURL",
            "getScheme",
            "getHost",
            "getHostname",
            "getPort",
            "getEscapedPath",
            "getQuery",
            "lowerAscii",
            "upperAscii",
            "replace",
            "split",
            "substring",
            "trim",
            "charAt",
            "join",
            "format",
            "getHours",
            "getMinutes",
            "getSeconds",
            "getMilliseconds",
            "getDate",
            "getDayOfMonth",
            "getDayOfWeek",
            "getDayOfYear",
            "getFullYear",
            "getMonth",
            "quantity",
            "isQuantity",
            "isInteger",
            "asInteger",
            "asApproximateFloat",
            "sign",
            "add",
            "sub",
            "compareTo",
            "isGreaterThan",
            "isLessThan",
            "orValue",
            "hasValue",
            "value",
            "or",
            "optional.of",
            "optional.none",
            "optional.ofNonZeroValue",
            "sets.contains",
            "sets.intersects",
            "sets.equivalent",
        ],
    ),
    (
        31,
        &[
            "ip",
            "isIP",
            "ip.isCanonical",
            "family",
            "isUnspecified",
            "isLoopback",
            "isLinkLocalMulticast",
            "isLinkLocalUnicast",
            "isGlobalUnicast",
            "cidr",
            "isCIDR",
            "containsIP",
            "containsCIDR",
            "masked",
            "prefixLength",
        ],
    ),
    (
        32,
        &[
            "format.named",
            "validate",
            "format.dns1123Label",
            "format.dns1123Subdomain",
            "format.dns1035Label",
            "format.qualifiedName",
            "format.labelValue",
            "format.uri",
            "format.uuid",
            "format.byte",
            "format.date",
            "format.datetime",
        ],
    ),
    (34, &["semver", "isSemver", "major", "minor", "patch"]),
    (35, &["distinct", "flatten", "lists.range", "reverse", "slice", "sort"]),
];

/// Returns why the server has no such function; `None` if it has one.
pub(super) fn lacks(function: &str, version: Kubernetes) -> Option<String> {
    let since = FUNCTIONS.iter().find(|(_, names)| names.contains(&function)).map(|(since, _)| *since);
    match since {
        None => Some(format!("the API server has no function `{function}`")),
        Some(since) if since > version.minor => {
            Some(format!("the function `{function}` needs Kubernetes 1.{since} or later"))
        }
        Some(_) => None,
    }
}

/// The meaning of a name in a cluster, as an expression of the API server.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ServerValue {
    /// An optional, which is empty if the object does not set the value.
    Optional(String),
    /// A value that always exists.
    Plain(String),
    /// A list of all possible values. It is empty if the server cannot know the value. A null in it means that the
    /// value is not set.
    Possible(String),
    /// Something with fields of its own.
    Record(ServerRecord),
    /// A list of such things. The expression of the record is that of the list.
    Records(ServerRecord),
}

/// Something with fields that the host defines.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ServerRecord {
    pub(crate) kind: &'static str,
    /// Its expression.
    pub(crate) of: String,
    /// The expression of the thing that contains it.
    pub(crate) within: String,
    /// The field that is used if the record is used as a number.
    pub(crate) number: Option<&'static str>,
}

impl ServerRecord {
    /// Returns the record of a member of this list.
    pub(super) fn of_member(self, variable: &str) -> ServerRecord {
        ServerRecord { of: variable.to_owned(), ..self }
    }
}

/// The scope of a translation.
pub(crate) struct ServerScope<'a> {
    pub(crate) parameters: &'a CelMap,
    pub(crate) version: Kubernetes,
    pub(crate) names: &'a dyn ServerNames,
}

/// Defines the names of rules for an API server.
pub(crate) trait ServerNames {
    /// Returns the meaning of a name; `None` if the rule cannot use it.
    fn name(&self, name: &str) -> Option<Result<ServerValue, String>>;

    /// Returns the meaning of a field, or of a key, of a record.
    fn field(&self, record: &ServerRecord, field: &str) -> Result<ServerValue, String>;
}
