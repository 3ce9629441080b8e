//! Translates an expression for a Kubernetes API server.
//!
//! In the API server, a missing key is an error, and a policy that fails is ignored. In gpulint, a missing value is a
//! null that never fails. Therefore each path becomes an optional: `object.?spec.?replicas.orValue(null)`. A test of a
//! path gets the guard `hasValue()`.

use std::sync::Arc;

use super::map::{CelMap, MapKey};
use super::syntax::{Expr, ExprKind, Operator};
use super::value::CelValue;

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

/// Macros with one variable; those with two are newer.
const WALKS: [&str; 6] = ["all", "exists", "exists_one", "existsOne", "filter", "map"];
const TWO_VARIABLES: u32 = 33;

/// State of a translation.
pub(super) struct Translation<'a> {
    pub(super) parameters: &'a CelMap,
    pub(super) version: Kubernetes,
    locals: Vec<Arc<str>>,
}

type Translated = Result<String, String>;

impl<'a> Translation<'a> {
    pub(super) fn new(parameters: &'a CelMap, version: Kubernetes) -> Self {
        Translation { parameters, version, locals: Vec::new() }
    }

    /// Translates a condition so that it is true or false, and never fails on a missing value.
    pub(super) fn condition(&mut self, it: &Expr) -> Translated {
        match &it.kind {
            ExprKind::Flag(flag) => Ok(flag.to_string()),
            ExprKind::And(parts) => self.joined(parts, " && "),
            ExprKind::Or(parts) => self.joined(parts, " || "),
            ExprKind::Not(of) => Ok(format!("!({})", self.condition(of)?)),
            ExprKind::Conditional(test, yes, no) => {
                Ok(format!("({} ? {} : {})", self.condition(test)?, self.condition(yes)?, self.condition(no)?))
            }
            ExprKind::Binary(operator @ (Operator::Equal | Operator::NotEqual), left, right) => {
                let mut guards = Vec::new();
                let (left, right) = (self.nullable(left, &mut guards)?, self.nullable(right, &mut guards)?);
                Ok(guarded(guards, &format!("{left} {} {right}", operator.sign())))
            }
            ExprKind::Call { of: None, name, arguments } if &*name.text == "has" => match arguments.as_slice() {
                [path] => match self.path(path)? {
                    Some(path) => Ok(format!("{path}.hasValue()")),
                    None => Err("`has` refers to a value outside the object".to_owned()),
                },
                _ => Err("`has` takes one argument".to_owned()),
            },
            _ => match self.path(it)? {
                Some(path) => Ok(format!("{path}.orValue(dyn(false)) == true")),
                None => {
                    let mut guards = Vec::new();
                    let text = self.value(it, &mut guards)?;
                    Ok(guarded(guards, &text))
                }
            },
        }
    }

    fn joined(&mut self, parts: &[Expr], sign: &str) -> Translated {
        let parts: Vec<String> = parts.iter().map(|part| self.condition(part)).collect::<Result<_, _>>()?;
        Ok(format!("({})", parts.join(sign)))
    }

    /// Translates a value. A missing value becomes null.
    fn nullable(&mut self, it: &Expr, guards: &mut Vec<String>) -> Translated {
        match self.path(it)? {
            Some(path) => Ok(format!("{path}.orValue(dyn(null))")),
            None => self.value(it, guards),
        }
    }

    /// Translates an expression to a string for a message.
    pub(super) fn text(&mut self, it: &Expr) -> Translated {
        if let Some(listed) = self.listed(it) {
            return Ok(quoted(&listed));
        }
        match self.path(it)? {
            Some(path) => Ok(format!("string({path}.orValue(dyn('none')))")),
            None => match self.constant(it) {
                Some(constant) => Ok(format!("string({})", constant?)),
                None => Err("a ValidatingAdmissionPolicy can only show paths of the object in its message".to_owned()),
            },
        }
    }

    /// Translates a path to an optional: `object.?spec.?replicas`; `None` if the expression is not a path.
    fn path(&mut self, it: &Expr) -> Result<Option<String>, String> {
        match &it.kind {
            ExprKind::Name { name, .. } if !self.locals.contains(name) => match &**name {
                "name" => Ok(Some("object.?metadata.?name".to_owned())),
                "kind" => Ok(Some("object.?kind".to_owned())),
                _ => Ok(None),
            },
            ExprKind::Field { of, field, .. } => {
                if self.constant(it).is_some() {
                    return Ok(None);
                }
                let Some(of) = self.container(of)? else { return Ok(None) };
                Ok(Some(match is_identifier(&field.text) {
                    true => format!("{of}.?{}", field.text),
                    false => format!("{of}[?{}]", quoted(&field.text)),
                }))
            }
            ExprKind::Index { of, key, .. } => {
                let Some(of) = self.container(of)? else { return Ok(None) };
                let mut guards = Vec::new();
                let key = self.value(key, &mut guards)?;
                match guards.is_empty() {
                    true => Ok(Some(format!("{of}[?{key}]"))),
                    false => Err("a key of the object is itself computed from the object".to_owned()),
                }
            }
            _ => Ok(None),
        }
    }

    fn container(&mut self, of: &Expr) -> Result<Option<String>, String> {
        match &of.kind {
            ExprKind::Name { name, .. } if &**name == "object" || self.locals.contains(name) => {
                Ok(Some(name.to_string()))
            }
            _ => self.path(of),
        }
    }

    /// Translates a value. Its guards require that its paths exist.
    fn value(&mut self, it: &Expr, guards: &mut Vec<String>) -> Translated {
        if let Some(constant) = self.constant(it) {
            return constant;
        }
        if let Some(path) = self.path(it)? {
            let guard = format!("{path}.hasValue()");
            if !guards.contains(&guard) {
                guards.push(guard);
            }
            return Ok(format!("{path}.value()"));
        }
        match &it.kind {
            ExprKind::Name { name, .. } => match self.locals.contains(name) || &**name == "object" {
                true => Ok(name.to_string()),
                false => Err(format!("the rule reads `{name}`, which is not available in the API server")),
            },
            ExprKind::Negative(of) => Ok(format!("-({})", self.value(of, guards)?)),
            ExprKind::Binary(operator, left, right) => {
                if !matches!(operator, Operator::Equal | Operator::NotEqual | Operator::In) {
                    self.refuse_amounts(left)?;
                    self.refuse_amounts(right)?;
                }
                Ok(format!("({} {} {})", self.value(left, guards)?, operator.sign(), self.value(right, guards)?))
            }
            ExprKind::List(items) => {
                let items = items.iter().map(|item| self.value(&item.value, guards)).collect::<Result<Vec<_>, _>>()?;
                Ok(format!("[{}]", items.join(", ")))
            }
            ExprKind::And(_) | ExprKind::Or(_) | ExprKind::Not(_) | ExprKind::Conditional(..) => self.condition(it),
            ExprKind::Call { of, name, arguments } => self.call(of.as_deref(), &name.text, arguments, guards),
            _ => Err("the rule creates a map, which cannot be exported".to_owned()),
        }
    }

    /// Refuses resource quantities, because they can be numbers in a manifest and are strings in a cluster.
    fn refuse_amounts(&mut self, it: &Expr) -> Result<(), String> {
        match self.path(it)? {
            Some(path) if path.contains("limits") || path.contains("requests") => Err(format!(
                "`{}` is a number in a manifest and a string in a cluster: write `quantity(string(…))` around it",
                path.replace(".?", ".").replace("[?", "[")
            )),
            _ => Ok(()),
        }
    }

    fn call(&mut self, of: Option<&Expr>, name: &str, arguments: &[Expr], guards: &mut Vec<String>) -> Translated {
        if name == "has" && of.is_none() {
            let whole = Expr {
                kind: ExprKind::Call { of: None, name: named(name), arguments: arguments.to_vec() },
                at: 0..0,
                depth: 1,
            };
            return self.condition(&whole);
        }
        if let Some(of) = of.filter(|_| WALKS.contains(&name)) {
            return self.walk(of, name, arguments, guards);
        }
        let mut full = name.to_owned();
        let mut receiver = None;
        if let Some(of) = of {
            match &of.kind {
                ExprKind::Name { name: space, .. }
                    if matches!(&**space, "sets" | "optional" | "lists" | "format" | "ip")
                        && !self.locals.contains(space) =>
                {
                    full = format!("{space}.{name}");
                }
                _ => receiver = Some(of),
            }
        }
        let since = FUNCTIONS.iter().find(|(_, names)| names.contains(&full.as_str())).map(|(since, _)| *since);
        match since {
            None => return Err(format!("the API server has no function `{full}`")),
            Some(since) if since > self.version.minor => {
                return Err(format!("the function `{full}` needs Kubernetes 1.{since} or later"));
            }
            Some(_) => {}
        }
        // The size of a missing value is 0.
        let is_size = full == "size";
        let mut given = Vec::with_capacity(arguments.len());
        for argument in arguments {
            given.push(match (is_size, self.path(argument)?) {
                (true, Some(path)) => format!("{path}.orValue([])"),
                _ => self.value(argument, guards)?,
            });
        }
        let given = given.join(", ");
        match receiver {
            None => Ok(format!("{full}({given})")),
            Some(of) => {
                let of = match (is_size, self.path(of)?) {
                    (true, Some(path)) => format!("{path}.orValue([])"),
                    _ => self.value(of, guards)?,
                };
                Ok(format!("{of}.{name}({given})"))
            }
        }
    }

    /// Translates a macro. A missing list counts as an empty one.
    fn walk(&mut self, of: &Expr, name: &str, arguments: &[Expr], guards: &mut Vec<String>) -> Translated {
        let over = match self.path(of)? {
            Some(path) => format!("{path}.orValue([])"),
            None => self.value(of, guards)?,
        };
        let plain = |it: &Expr| match &it.kind {
            ExprKind::Name { name, .. } => Some(name.clone()),
            _ => None,
        };
        let is_test = !matches!(name, "map");
        let variables = if is_test && arguments.len() == 3 { 2 } else { 1 };
        if variables == 2 && self.version.minor < TWO_VARIABLES {
            return Err(format!("macros with two variables need Kubernetes 1.{TWO_VARIABLES} or later"));
        }
        let (names, rest) = arguments.split_at(variables.min(arguments.len()));
        let names: Vec<Arc<str>> = names.iter().filter_map(plain).collect();
        let before = self.locals.len();
        self.locals.extend(names.iter().cloned());
        let parts: Result<Vec<String>, String> = rest
            .iter()
            .enumerate()
            .map(|(place, part)| match is_test || place + 1 < rest.len() {
                true => self.condition(part),
                false => {
                    let mut inner = Vec::new();
                    let text = self.value(part, &mut inner)?;
                    match inner.is_empty() {
                        true => Ok(text),
                        false => Err("the result of `map` may be missing: filter first, or use `exists`".to_owned()),
                    }
                }
            })
            .collect();
        self.locals.truncate(before);
        let names: Vec<&str> = names.iter().map(|name| &**name).collect();
        Ok(format!("{over}.{name}({}, {})", names.join(", "), parts?.join(", ")))
    }

    /// Formats a literal or a parameter of the rule. A parameter that is a list of strings is formatted as in messages.
    fn listed(&self, it: &Expr) -> Option<String> {
        let ExprKind::Field { of, field, .. } = &it.kind else { return None };
        let ExprKind::Name { name, .. } = &of.kind else { return None };
        let value = self.parameters.get(&MapKey::Text(field.text.clone())).filter(|_| &**name == "params")?;
        let CelValue::List(items) = value else { return None };
        let texts: Option<Vec<&str>> = items.iter().map(CelValue::as_text).collect();
        Some(texts?.join(", "))
    }

    fn constant(&self, it: &Expr) -> Option<Translated> {
        Some(Ok(match &it.kind {
            ExprKind::Null => "null".to_owned(),
            ExprKind::Flag(flag) => flag.to_string(),
            ExprKind::Integer(n) => n.to_string(),
            ExprKind::Unsigned(n) => format!("{n}u"),
            ExprKind::Double(n) => format!("{n:?}"),
            ExprKind::Text(text) => quoted(text),
            ExprKind::Field { of, field, .. } => match &of.kind {
                ExprKind::Name { name, .. } if &**name == "params" => {
                    let value = self.parameters.get(&MapKey::Text(field.text.clone()))?;
                    return Some(literal(value));
                }
                _ => return None,
            },
            _ => return None,
        }))
    }
}

fn named(name: &str) -> super::syntax::ExprName {
    super::syntax::ExprName { text: name.into(), at: 0..0 }
}

fn guarded(mut guards: Vec<String>, text: &str) -> String {
    if guards.is_empty() {
        return text.to_owned();
    }
    guards.push(text.to_owned());
    format!("({})", guards.join(" && "))
}

fn literal(value: &CelValue) -> Translated {
    match value {
        CelValue::Flag(flag) => Ok(flag.to_string()),
        CelValue::Integer(n) => Ok(n.to_string()),
        CelValue::Double(n) => Ok(format!("{n:?}")),
        CelValue::Text(text) => Ok(quoted(text)),
        CelValue::List(items) => {
            let items: Vec<String> = items.iter().map(literal).collect::<Result<_, _>>()?;
            Ok(format!("[{}]", items.join(", ")))
        }
        _ => Err("a parameter has a value that cannot be exported".to_owned()),
    }
}

fn is_identifier(text: &str) -> bool {
    const RESERVED: [&str; 8] = ["true", "false", "null", "in", "namespace", "package", "as", "function"];
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !RESERVED.contains(&text)
}

/// Formats a string as a CEL literal.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("'");
    for c in text.chars() {
        match c {
            '\'' => out.push_str("\\'"),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}
