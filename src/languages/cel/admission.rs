//! Translates an expression for a Kubernetes API server.
//!
//! In the API server, a missing key is an error, and a policy that fails is ignored. In gpulint, a missing value is a
//! null that never fails. Therefore each path becomes an optional: `object.?spec.?replicas.orValue(null)`. A test of a
//! path gets the guard `hasValue()`.
//!
//! A fact can be unknown, which CEL in the API server cannot express. Therefore a fact is the list of its possible
//! values. A test of it holds if it holds for all of them, and `!` turns into the test that none of them passes.

use std::sync::Arc;

use super::map::MapKey;
use super::server::{ServerRecord, ServerScope, ServerValue, lacks};
use super::syntax::{Expr, ExprKind, Operator};
use super::value::CelValue;

/// Macros with one variable; those with two are newer.
const WALKS: [&str; 6] = ["all", "exists", "exists_one", "existsOne", "filter", "map"];
const TWO_VARIABLES: u32 = 33;

/// Functions that convert a value of any type.
const CONVERSIONS: [&str; 4] = ["string", "int", "uint", "double"];

/// State of a translation.
pub(super) struct Translation<'a> {
    scope: &'a ServerScope<'a>,
    locals: Vec<(Arc<str>, Local)>,
    /// The facts of the current test.
    bound: Vec<BoundFact>,
    /// The number of variables that stand for a value of a fact.
    variables: usize,
}

/// A variable of a macro.
enum Local {
    Value,
    Record(ServerRecord),
}

/// A fact in a test, with the variable that stands for one of its possible values.
struct BoundFact {
    variable: String,
    values: String,
    /// Whether the test needs the value itself, so that several possible values make it unknown.
    one: bool,
}

impl BoundFact {
    fn around(&self, test: &str) -> String {
        let BoundFact { variable, values, one } = self;
        let enough = if *one { "== 1" } else { "> 0" };
        format!("({values}.size() {enough} && {values}.all({variable}, {test}))")
    }
}

type Translated = Result<String, String>;

impl<'a> Translation<'a> {
    pub(super) fn new(scope: &'a ServerScope<'a>) -> Self {
        Translation { scope, locals: Vec::new(), bound: Vec::new(), variables: 0 }
    }

    /// Translates a condition so that it is true or false, and never fails on a missing value. An unknown condition is
    /// false.
    pub(super) fn condition(&mut self, it: &Expr) -> Translated {
        match &it.kind {
            ExprKind::Flag(flag) => Ok(flag.to_string()),
            ExprKind::And(parts) => self.joined(parts, " && ", Self::condition),
            ExprKind::Or(parts) => self.joined(parts, " || ", Self::condition),
            ExprKind::Not(of) => self.negation(of),
            ExprKind::Conditional(test, yes, no) if self.reads_fact(it)? => {
                let (yes, no) = (self.condition(yes)?, self.condition(no)?);
                Ok(format!("({} && {yes} || {} && {no})", self.condition(test)?, self.negation(test)?))
            }
            ExprKind::Conditional(test, yes, no) => {
                Ok(format!("({} ? {} : {})", self.condition(test)?, self.condition(yes)?, self.condition(no)?))
            }
            _ => match self.walked_fact(it, true)? {
                Some(text) => Ok(text),
                None => self.test(it, true),
            },
        }
    }

    /// Translates the condition that another one is certainly false.
    fn negation(&mut self, it: &Expr) -> Translated {
        if !self.reads_fact(it)? {
            return Ok(format!("!({})", self.condition(it)?));
        }
        match &it.kind {
            ExprKind::And(parts) => self.joined(parts, " || ", Self::negation),
            ExprKind::Or(parts) => self.joined(parts, " && ", Self::negation),
            ExprKind::Not(of) => self.condition(of),
            ExprKind::Conditional(test, yes, no) => {
                let (yes, no) = (self.negation(yes)?, self.negation(no)?);
                Ok(format!("({} && {yes} || {} && {no})", self.condition(test)?, self.negation(test)?))
            }
            _ => match self.walked_fact(it, false)? {
                Some(text) => Ok(text),
                None => self.test(it, false),
            },
        }
    }

    fn joined(&mut self, parts: &[Expr], sign: &str, translate: fn(&mut Self, &Expr) -> Translated) -> Translated {
        let parts: Vec<String> = parts.iter().map(|part| translate(self, part)).collect::<Result<_, _>>()?;
        Ok(format!("({})", parts.join(sign)))
    }

    /// Translates a test without connectives. It is true if the test certainly has the result `wanted`.
    fn test(&mut self, it: &Expr, wanted: bool) -> Translated {
        if let ExprKind::Call { of: None, name, arguments } = &it.kind
            && let ("known", [of]) = (&*name.text, arguments.as_slice())
        {
            return Ok(match self.resolve(of)? {
                Some(ServerValue::Possible(values)) => {
                    format!("{values}.size() {} 1", if wanted { "==" } else { "!=" })
                }
                Some(_) => wanted.to_string(),
                None => return Err("`known` needs a fact".to_owned()),
            });
        }
        let outer = std::mem::take(&mut self.bound);
        let test = self.plain_test(it);
        let bound = std::mem::replace(&mut self.bound, outer);
        let test = if wanted { test? } else { format!("!({})", test?) };
        Ok(bound.iter().rev().fold(test, |test, fact| fact.around(&test)))
    }

    fn plain_test(&mut self, it: &Expr) -> Translated {
        let mut guards = Vec::new();
        match &it.kind {
            ExprKind::Binary(operator, left, right) if operator.is_comparison() => {
                if let Some(test) = self.key_of_record(*operator, left, right)? {
                    return Ok(test);
                }
                if let Some(test) = self.amounts(*operator, left, right)? {
                    return Ok(test);
                }
                let test = match operator {
                    Operator::Equal | Operator::NotEqual => {
                        let (left, right) = (self.nullable(left, &mut guards)?, self.nullable(right, &mut guards)?);
                        format!("{left} {} {right}", operator.sign())
                    }
                    _ => self.comparison(*operator, left, right, &mut guards)?,
                };
                Ok(guarded(guards, &test))
            }
            ExprKind::Call { of: None, name, arguments } if &*name.text == "has" => match arguments.as_slice() {
                [path] => match self.resolve(path)? {
                    Some(ServerValue::Optional(path)) => Ok(format!("{path}.hasValue()")),
                    Some(ServerValue::Possible(values)) => Ok(format!("{} != null", self.bind(values, false))),
                    Some(ServerValue::Plain(_)) => Ok("true".to_owned()),
                    _ => Err("`has` refers to a value outside the object".to_owned()),
                },
                _ => Err("`has` takes one argument".to_owned()),
            },
            _ => match self.resolve(it)? {
                Some(ServerValue::Optional(path)) => Ok(format!("{path}.orValue(dyn(false)) == true")),
                Some(ServerValue::Possible(values)) => Ok(format!("{} == true", self.bind(values, false))),
                _ => {
                    let text = self.value(it, &mut guards)?;
                    Ok(guarded(guards, &text))
                }
            },
        }
    }

    /// Translates the test that a record has a key: `'team' in labels`.
    fn key_of_record(&mut self, operator: Operator, key: &Expr, of: &Expr) -> Result<Option<String>, String> {
        let (Operator::In, ExprKind::Text(key)) = (operator, &key.kind) else { return Ok(None) };
        let Some(ServerValue::Record(record)) = self.resolve(of)? else { return Ok(None) };
        Ok(match self.scope.names.field(&record, key)? {
            ServerValue::Optional(path) => Some(format!("{path}.hasValue()")),
            _ => None,
        })
    }

    fn comparison(&mut self, operator: Operator, left: &Expr, right: &Expr, guards: &mut Vec<String>) -> Translated {
        let (left, right) = (self.operand(left, guards)?, self.operand(right, guards)?);
        Ok(format!("({left} {} {right})", operator.sign()))
    }

    /// Translates one side of a comparison, which can hold for all possible values of a fact.
    fn operand(&mut self, it: &Expr, guards: &mut Vec<String>) -> Translated {
        match self.resolve(it)? {
            Some(ServerValue::Possible(values)) => {
                let variable = self.bind(values, false);
                guards.push(format!("{variable} != null"));
                Ok(variable)
            }
            _ => self.value(it, guards),
        }
    }

    /// Returns a new variable for one of the possible values of a fact.
    fn bind(&mut self, values: String, one: bool) -> String {
        let variable = format!("v{}", self.variables);
        self.variables += 1;
        self.bound.push(BoundFact { variable: variable.clone(), values, one });
        variable
    }

    /// Translates a value. A missing value becomes null.
    fn nullable(&mut self, it: &Expr, guards: &mut Vec<String>) -> Translated {
        match self.resolve(it)? {
            Some(ServerValue::Optional(path)) => Ok(format!("{path}.orValue(dyn(null))")),
            Some(ServerValue::Possible(values)) => Ok(self.bind(values, false)),
            _ => self.value(it, guards),
        }
    }

    /// Translates a comparison of a resource quantity, which can be a number in a manifest and is a string in a cluster.
    fn amounts(&mut self, operator: Operator, left: &Expr, right: &Expr) -> Result<Option<String>, String> {
        if operator == Operator::In || !(self.is_amount(left)? || self.is_amount(right)?) {
            return Ok(None);
        }
        let mut guards = Vec::new();
        let (left, right) = (self.quantity(left, &mut guards)?, self.quantity(right, &mut guards)?);
        let sign = if operator == Operator::NotEqual { "==" } else { operator.sign() };
        let test = guarded(guards, &format!("{left}.compareTo({right}) {sign} 0"));
        Ok(Some(if operator == Operator::NotEqual { format!("!({test})") } else { test }))
    }

    fn is_amount(&mut self, it: &Expr) -> Result<bool, String> {
        Ok(self.path(it)?.is_some_and(|path| is_path_of_amount(&path)))
    }

    fn quantity(&mut self, it: &Expr, guards: &mut Vec<String>) -> Translated {
        match self.constant(it) {
            Some(Ok(number)) if number.parse::<f64>().is_ok() => Ok(format!("quantity('{number}')")),
            Some(Ok(_)) => Err(self.no_number(it)),
            _ => Ok(format!("quantity(string(dyn({})))", self.value(it, guards)?)),
        }
    }

    fn no_number(&mut self, it: &Expr) -> String {
        let constant = self.constant(it).and_then(Result::ok).unwrap_or_default();
        format!(
            "a resource amount is compared with {constant}: write `quantity(string(…))` around the amount, and `quantity(…)` around the other side"
        )
    }

    /// Translates an expression to a string for a message.
    pub(super) fn text(&mut self, it: &Expr) -> Translated {
        if let Some(listed) = self.listed(it) {
            return Ok(quoted(&listed));
        }
        match self.resolve(it)? {
            Some(ServerValue::Optional(path)) => Ok(format!("string({path}.orValue(dyn('none')))")),
            Some(ServerValue::Plain(value)) => Ok(format!("string({value})")),
            Some(ServerValue::Possible(values)) => Ok(format!(
                "({values}.size() == 0 ? 'unknown' : {values}.map(v, v == null ? 'none' : string(v)).join(' or '))"
            )),
            _ => match self.constant(it) {
                Some(constant) => Ok(format!("string({})", constant?)),
                None => Err("a policy can only show paths of the object and facts in its message".to_owned()),
            },
        }
    }

    /// Translates a path to an optional: `object.?spec.?replicas`; `None` if the expression is not a path.
    fn path(&mut self, it: &Expr) -> Result<Option<String>, String> {
        Ok(match self.resolve(it)? {
            Some(ServerValue::Optional(path)) => Some(path),
            _ => None,
        })
    }

    /// Returns the meaning of a name, or of a field of something with a meaning. A record that is used as a number has
    /// the meaning of its number.
    fn resolve(&mut self, it: &Expr) -> Result<Option<ServerValue>, String> {
        match self.meaning(it)? {
            Some(ServerValue::Record(ServerRecord { number: Some(number), kind, of, within })) => {
                let record = ServerRecord { kind, of, within, number: None };
                self.scope.names.field(&record, number).map(Some)
            }
            other => Ok(other),
        }
    }

    fn meaning(&mut self, it: &Expr) -> Result<Option<ServerValue>, String> {
        if self.constant(it).is_some() {
            return Ok(None);
        }
        let (of, key) = match &it.kind {
            ExprKind::Name { name, .. } => return self.named(name),
            ExprKind::Field { of, field, .. } => {
                let key = match is_identifier(&field.text) {
                    true => format!(".?{}", field.text),
                    false => format!("[?{}]", quoted(&field.text)),
                };
                (of, Ok((Some(&*field.text), key)))
            }
            ExprKind::Index { of, key, .. } => (of, Err(key)),
            _ => return Ok(None),
        };
        let Some(of) = self.meaning(of)? else { return Ok(None) };
        let (field, key) = match key {
            Ok(key) => key,
            Err(key) => {
                let mut guards = Vec::new();
                let text = self.value(key, &mut guards)?;
                if !guards.is_empty() || self.reads_fact(key)? {
                    return Err("a key of the object is itself computed from the object".to_owned());
                }
                let name = if let ExprKind::Text(name) = &key.kind { Some(&**name) } else { None };
                (name, format!("[?{text}]"))
            }
        };
        Ok(Some(match of {
            ServerValue::Optional(of) | ServerValue::Plain(of) => ServerValue::Optional(of + &key),
            ServerValue::Record(record) => {
                let field = field.ok_or("a key is computed, and the API server needs a string")?;
                self.scope.names.field(&record, field)?
            }
            ServerValue::Records(_) | ServerValue::Possible(_) => {
                return Err("the rule takes a single member of a list: use `exists` or `all`".to_owned());
            }
        }))
    }

    fn named(&self, name: &Arc<str>) -> Result<Option<ServerValue>, String> {
        match self.locals.iter().rev().find(|(local, _)| local == name) {
            Some((_, Local::Value)) => Ok(Some(ServerValue::Plain(name.to_string()))),
            Some((_, Local::Record(record))) => Ok(Some(ServerValue::Record(record.clone()))),
            None => self.scope.names.name(name).transpose(),
        }
    }

    /// Returns true if a part of the expression is a fact, which may be unknown.
    fn reads_fact(&mut self, it: &Expr) -> Result<bool, String> {
        if let Some(value) = self.resolve(it)? {
            return Ok(matches!(value, ServerValue::Possible(_)));
        }
        for part in it.kind.parts() {
            if self.reads_fact(part)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Translates a value. Its guards require that its paths exist.
    fn value(&mut self, it: &Expr, guards: &mut Vec<String>) -> Translated {
        if let Some(constant) = self.constant(it) {
            return constant;
        }
        match self.resolve(it)? {
            Some(ServerValue::Plain(value)) => return Ok(value),
            Some(ServerValue::Optional(path)) => {
                let guard = format!("{path}.hasValue()");
                if !guards.contains(&guard) {
                    guards.push(guard);
                }
                return Ok(format!("{path}.value()"));
            }
            Some(ServerValue::Possible(values)) => {
                let variable = self.bind(values, true);
                guards.push(format!("{variable} != null"));
                return Ok(variable);
            }
            Some(ServerValue::Record(_) | ServerValue::Records(_)) => {
                return Err("the rule uses pods or containers as values: use `exists` or `all`".to_owned());
            }
            None => {}
        }
        match &it.kind {
            ExprKind::Name { name, .. } => {
                Err(format!("the rule reads `{name}`, which is not available in the API server"))
            }
            ExprKind::Negative(of) => Ok(format!("-({})", self.value(of, guards)?)),
            ExprKind::Binary(operator, left, right) if !operator.is_comparison() => {
                self.arithmetic(*operator, left, right, guards)
            }
            ExprKind::List(items) => {
                let items = items.iter().map(|item| self.value(&item.value, guards)).collect::<Result<Vec<_>, _>>()?;
                Ok(format!("[{}]", items.join(", ")))
            }
            ExprKind::And(_)
            | ExprKind::Or(_)
            | ExprKind::Not(_)
            | ExprKind::Conditional(..)
            | ExprKind::Binary(..) => match self.reads_fact(it)? {
                true => Err("the rule uses a condition about a fact as a value".to_owned()),
                false => self.condition(it),
            },
            ExprKind::Call { of, name, arguments } => self.call(of.as_deref(), &name.text, arguments, guards),
            _ => Err("the rule creates a map, which cannot be exported".to_owned()),
        }
    }

    /// Translates an arithmetic operation. Facts are doubles, so a whole number next to a fact becomes one.
    fn arithmetic(&mut self, operator: Operator, left: &Expr, right: &Expr, guards: &mut Vec<String>) -> Translated {
        for side in [left, right] {
            if self.is_amount(side)? {
                return Err(
                    "the rule computes with a resource amount: write `quantity(string(…))` around it".to_owned()
                );
            }
        }
        let is_double = self.reads_fact(left)? || self.reads_fact(right)?;
        let mut side = |it: &Expr| match self.value(it, guards)? {
            number if is_double && number.parse::<i64>().is_ok() => Ok::<String, String>(number + ".0"),
            other => Ok(other),
        };
        Ok(format!("({} {} {})", side(left)?, operator.sign(), side(right)?))
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
        if let (Some(of), "matches_any", [patterns]) = (of, name, arguments) {
            let (of, patterns) = (self.value(of, guards)?, self.value(patterns, guards)?);
            return Ok(format!("{patterns}.exists(pattern, {of}.matches(pattern))"));
        }
        let mut full = name.to_owned();
        let mut receiver = None;
        if let Some(of) = of {
            match &of.kind {
                ExprKind::Name { name: space, .. }
                    if matches!(&**space, "sets" | "optional" | "lists" | "format" | "ip") && !self.is_local(space) =>
                {
                    full = format!("{space}.{name}");
                }
                _ => receiver = Some(of),
            }
        }
        if let Some(why) = lacks(&full, self.scope.version) {
            return Err(why);
        }
        let given: Vec<String> =
            arguments.iter().map(|argument| self.argument(&full, argument, guards)).collect::<Result<_, _>>()?;
        let given = given.join(", ");
        match receiver {
            None => Ok(format!("{full}({given})")),
            Some(of) => Ok(format!("{}.{name}({given})", self.argument(&full, of, guards)?)),
        }
    }

    /// Translates an argument of a function. The size of a missing value is 0.
    fn argument(&mut self, function: &str, it: &Expr, guards: &mut Vec<String>) -> Translated {
        match self.resolve(it)? {
            Some(ServerValue::Optional(path)) if function == "size" => Ok(format!("{path}.orValue([])")),
            Some(ServerValue::Records(records)) if function == "size" => Ok(records.of),
            // Newer servers choose the overload of a conversion before they know the type of a field.
            Some(ServerValue::Optional(_)) if CONVERSIONS.contains(&function) => {
                Ok(format!("dyn({})", self.value(it, guards)?))
            }
            _ => self.value(it, guards),
        }
    }

    fn is_local(&self, name: &str) -> bool {
        self.locals.iter().any(|(local, _)| &**local == name)
    }

    /// Translates `exists` and `all` whose condition reads a fact, or which visit the possible values of a fact. The
    /// result is true if the macro certainly returns `wanted`.
    fn walked_fact(&mut self, it: &Expr, wanted: bool) -> Result<Option<String>, String> {
        let ExprKind::Call { of: Some(of), name, arguments } = &it.kind else { return Ok(None) };
        let (is_all, [variable, test]) = (&*name.text == "all", arguments.as_slice()) else { return Ok(None) };
        let ExprKind::Name { name: local, .. } = &variable.kind else { return Ok(None) };
        if !(is_all || &*name.text == "exists") || !self.reads_fact(it)? {
            return Ok(None);
        }
        let mut guards = Vec::new();
        let (list, holds, values) = match &of.kind {
            ExprKind::Call { of: None, name, arguments } if &*name.text == "possible" => match arguments.as_slice() {
                [fact] => match self.resolve(fact)? {
                    Some(ServerValue::Possible(values)) => (values.clone(), Local::Value, Some(values)),
                    _ => return Err("`possible` needs a fact".to_owned()),
                },
                _ => return Err("`possible` takes one argument".to_owned()),
            },
            _ => {
                let (list, holds) = self.members(of, &mut guards)?;
                (list, holds, None)
            }
        };
        self.push_locals(std::slice::from_ref(local), holds)?;
        let test = if wanted { self.condition(test) } else { self.negation(test) };
        self.locals.pop();
        let test = test?;
        // All members must pass for `all`, and for the opposite of `exists`.
        let text = match (is_all == wanted, values) {
            (true, None) => format!("{list}.all({local}, {test})"),
            (false, None) => format!("{list}.exists({local}, {test})"),
            (true, Some(_)) => format!("({list}.size() > 0 && {list}.all({local}, {local} == null || {test}))"),
            (false, Some(_)) => format!("{list}.exists({local}, {local} != null && {test})"),
        };
        Ok(Some(guarded(guards, &text)))
    }

    /// Returns a list and the kind of its members. A missing list counts as an empty one.
    fn members(&mut self, of: &Expr, guards: &mut Vec<String>) -> Result<(String, Local), String> {
        Ok(match self.resolve(of)? {
            Some(ServerValue::Optional(path)) => (format!("{path}.orValue([])"), Local::Value),
            Some(ServerValue::Records(records)) => (records.of.clone(), Local::Record(records)),
            _ => (self.value(of, guards)?, Local::Value),
        })
    }

    /// Translates a macro.
    fn walk(&mut self, of: &Expr, name: &str, arguments: &[Expr], guards: &mut Vec<String>) -> Translated {
        let (over, holds) = self.members(of, guards)?;
        let is_test = !matches!(name, "map");
        let variables = if is_test && arguments.len() == 3 { 2 } else { 1 };
        if variables == 2 && self.scope.version.minor < TWO_VARIABLES {
            return Err(format!("macros with two variables need Kubernetes 1.{TWO_VARIABLES} or later"));
        }
        let (names, rest) = arguments.split_at(variables.min(arguments.len()));
        let names: Vec<Arc<str>> = names.iter().filter_map(plain_name).collect();
        let before = self.locals.len();
        self.push_locals(&names, holds)?;
        let parts = self.parts_of_walk(rest, is_test);
        self.locals.truncate(before);
        let names: Vec<&str> = names.iter().map(|name| &**name).collect();
        Ok(format!("{over}.{name}({}, {})", names.join(", "), parts?.join(", ")))
    }

    fn push_locals(&mut self, names: &[Arc<str>], holds: Local) -> Result<(), String> {
        match (names, holds) {
            ([one], Local::Record(record)) => {
                let of = record.of_member(one);
                self.locals.push((one.clone(), Local::Record(of)));
            }
            (_, Local::Record(_)) => {
                return Err("the rule numbers pods or containers, which cannot be exported".to_owned());
            }
            (names, Local::Value) => self.locals.extend(names.iter().map(|name| (name.clone(), Local::Value))),
        }
        Ok(())
    }

    fn parts_of_walk(&mut self, rest: &[Expr], is_test: bool) -> Result<Vec<String>, String> {
        let mut parts = Vec::with_capacity(rest.len());
        for (place, part) in rest.iter().enumerate() {
            if self.reads_fact(part)? {
                return Err("a list depends on a fact that may be unknown: use `exists` or `all`".to_owned());
            }
            parts.push(match is_test || place + 1 < rest.len() {
                true => self.condition(part)?,
                false => {
                    let mut inner = Vec::new();
                    let text = self.value(part, &mut inner)?;
                    match inner.is_empty() {
                        true => text,
                        false => {
                            return Err("the result of `map` may be missing: filter first, or use `exists`".to_owned());
                        }
                    }
                }
            });
        }
        Ok(parts)
    }

    /// Formats a literal or a parameter of the rule. A parameter that is a list of strings is formatted as in messages.
    fn listed(&self, it: &Expr) -> Option<String> {
        let ExprKind::Field { of, field, .. } = &it.kind else { return None };
        let ExprKind::Name { name, .. } = &of.kind else { return None };
        let value = self.scope.parameters.get(&MapKey::Text(field.text.clone())).filter(|_| &**name == "params")?;
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
                    let value = self.scope.parameters.get(&MapKey::Text(field.text.clone()))?;
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

fn plain_name(it: &Expr) -> Option<Arc<str>> {
    match &it.kind {
        ExprKind::Name { name, .. } => Some(name.clone()),
        _ => None,
    }
}

/// Returns true if a path leads to the amount of a resource.
fn is_path_of_amount(path: &str) -> bool {
    path.contains(".?limits") || path.contains(".?requests")
}

fn guarded(mut guards: Vec<String>, text: &str) -> String {
    if guards.is_empty() {
        return text.to_owned();
    }
    guards.push(text.to_owned());
    format!("({})", guards.join(" && "))
}

pub(super) fn literal(value: &CelValue) -> Translated {
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
