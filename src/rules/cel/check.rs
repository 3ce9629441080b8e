//! Checks an expression against a vocabulary and lowers it to what is evaluated.

use std::ops::Range;
use std::sync::Arc;

use super::Problem;
use super::functions::{self, Function};
use super::macros::{self, Walk};
use super::operators;
use super::syntax::{Expr, Item, Kind, Name, Operator};
use super::types::{Schema, Type};
use super::value::Value;
use crate::rules::nearest::nearest;
use crate::source::Expression;

/// What may be named in an expression.
#[derive(Debug, Clone, Default)]
pub(in crate::rules) struct Scope<'a> {
    pub(in crate::rules) variables: Vec<Variable<'a>>,
    /// The variable whose fields may be named without it, and what they are.
    pub(in crate::rules) implied: Option<(usize, &'static Schema)>,
    /// Types are only known when evaluated; for tests of the language itself.
    pub(in crate::rules) unchecked: bool,
    /// Patterns are known to be right: they are compiled when they are first matched.
    pub(in crate::rules) proven: bool,
}

#[derive(Debug, Clone)]
pub(in crate::rules) struct Variable<'a> {
    pub(in crate::rules) name: &'a str,
    pub(in crate::rules) holds: Type,
    pub(in crate::rules) stands_for: Meaning,
}

#[derive(Debug, Clone)]
pub(in crate::rules) enum Meaning {
    /// The host knows it by this number.
    Host(usize),
    Constant(Value),
}

/// What is evaluated.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) what: What,
    pub(super) at: Range<usize>,
}

#[derive(Debug)]
pub(super) enum What {
    Constant(Value),
    Variable(usize),
    /// A variable of a macro, counted from the outermost.
    Local(usize),
    /// A field of a record, by its place in the schema.
    Field(Box<Node>, usize),
    Select(Box<Node>, Arc<str>, Lookup),
    Index(Box<Node>, Box<Node>, Lookup),
    Call(Box<[&'static Function]>, Box<[Node]>),
    /// `matches` with a pattern that is written out.
    Matches(Box<Node>, Box<Expression>),
    List(Box<[(Node, bool)]>),
    Map(Box<[(Node, Node, bool)]>),
    Not(Box<Node>),
    Negative(Box<Node>),
    Binary(Operator, Box<(Node, Node)>),
    And(Box<[Node]>),
    Or(Box<[Node]>),
    Conditional(Box<(Node, Node, Node)>),
    Has(Box<Node>),
    Known(Box<Node>),
    Walk(Box<Walk>),
    /// A value that a local name stands for, and where.
    Bind(Box<(Node, Node)>),
    /// What is made of the value of an optional, where it has one; true where that is an optional itself.
    OfOptional(Box<(Node, Node)>, bool),
}

/// What to do where there is no such key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lookup {
    Must,
    /// `.?`: an optional.
    May,
}

pub(super) fn lower(expression: &Expr, scope: &Scope<'_>, text: &str) -> Result<(Node, Type), Problem> {
    Lowering { scope, text, locals: Vec::new() }.lower(expression)
}

pub(super) struct Lowering<'a> {
    pub(super) scope: &'a Scope<'a>,
    text: &'a str,
    pub(super) locals: Vec<(Arc<str>, Type)>,
}

type Lowered = Result<(Node, Type), Problem>;

impl Lowering<'_> {
    pub(super) fn lower(&mut self, expression: &Expr) -> Lowered {
        let at = expression.at.clone();
        let constant = |value, holds| Ok((What::Constant(value), holds));
        let (what, holds) = match &expression.kind {
            Kind::Null => constant(Value::Null, Type::Null),
            Kind::Flag(flag) => constant(Value::Flag(*flag), Type::Flag),
            Kind::Integer(n) => constant(Value::Integer(*n), Type::Integer),
            Kind::Unsigned(n) => constant(Value::Unsigned(*n), Type::Unsigned),
            Kind::Double(n) => constant(Value::Double(*n), Type::Double),
            Kind::Text(text) => constant(Value::Text(text.clone()), Type::Text),
            Kind::Bytes(bytes) => constant(Value::Bytes(bytes.clone()), Type::Bytes),
            Kind::Name { name, rooted } => return self.name(name, *rooted, at),
            Kind::Field { of, field, optional } => return self.field(expression, of, field, *optional),
            Kind::Index { of, key, optional } => self.index(of, key, *optional),
            Kind::Call { of, name, arguments } => return self.call(at, of.as_deref(), name, arguments),
            Kind::List(items) => self.list(items),
            Kind::Map(entries) => self.map(entries),
            Kind::Not(of) => Ok((What::Not(Box::new(self.expect(of, &Type::Flag, "`!`")?)), Type::Flag)),
            Kind::Negative(of) => self.negative(of),
            Kind::Binary(operator, left, right) => self.binary(*operator, left, right),
            Kind::And(parts) => Ok((What::And(self.flags(parts, "`&&`")?), Type::Flag)),
            Kind::Or(parts) => Ok((What::Or(self.flags(parts, "`||`")?), Type::Flag)),
            Kind::Conditional(test, yes, no) => self.conditional(test, yes, no),
        }?;
        let holds = if self.scope.unchecked { Type::Any } else { holds };
        Ok((Node { what, at }, holds))
    }

    /// Lowers what must be of a type.
    pub(super) fn expect(&mut self, expression: &Expr, wanted: &Type, by: &str) -> Result<Node, Problem> {
        let (node, holds) = self.lower(expression)?;
        let (node, holds) = if wanted.is_number() { as_number(node, holds) } else { (node, holds) };
        match holds.suits(wanted) {
            true => Ok(node),
            false => Err(Problem::new(
                expression.at.clone(),
                format!("{by} wants {}, and this is {}", with_article(wanted), with_article(&holds)),
            )),
        }
    }

    fn flags(&mut self, parts: &[Expr], by: &str) -> Result<Box<[Node]>, Problem> {
        parts.iter().map(|part| self.expect(part, &Type::Flag, by)).collect()
    }

    fn name(&mut self, name: &Arc<str>, rooted: bool, at: Range<usize>) -> Lowered {
        if !rooted && let Some(place) = self.locals.iter().rposition(|(local, _)| local == name) {
            return Ok((Node { what: What::Local(place), at }, self.locals[place].1.clone()));
        }
        if let Some(found) = self.variable(name, at.clone()) {
            return Ok(found);
        }
        if let Some((slot, schema)) = self.scope.implied
            && let Some(field) = schema.field(name)
        {
            let of = Node { what: What::Variable(slot), at: at.clone() };
            return Ok((Node { what: What::Field(Box::new(of), field), at }, schema.fields[field].holds.clone()));
        }
        if let Some(kind) = functions::TYPE_NAMES.iter().find(|kind| **kind == &**name) {
            return Ok((Node { what: What::Constant(Value::Kind(kind)), at }, Type::Kind));
        }
        Err(self.unknown_name(name, at))
    }

    fn variable(&self, name: &str, at: Range<usize>) -> Option<(Node, Type)> {
        let variable = self.scope.variables.iter().find(|variable| variable.name == name)?;
        let what = match &variable.stands_for {
            Meaning::Host(slot) => What::Variable(*slot),
            Meaning::Constant(value) => What::Constant(value.clone()),
        };
        Some((Node { what, at }, variable.holds.clone()))
    }

    fn unknown_name(&self, name: &str, at: Range<usize>) -> Problem {
        let locals = self.locals.iter().map(|(local, _)| &**local);
        let variables = self.scope.variables.iter().map(|variable| variable.name);
        let facts = self.scope.implied.iter().flat_map(|(_, schema)| schema.fields.iter().map(|field| field.name));
        let problem = Problem::new(at, format!("there is no fact called `{name}`"));
        // a fact of a resource, in a rule that looks at all of them
        let list = self.scope.variables.iter().find(|variable| match &variable.holds {
            Type::List(of) => matches!(&**of, Type::Record(schema) if schema.field(name).is_some()),
            _ => false,
        });
        if let Some(Variable { name: list, .. }) = list {
            return problem.with_help(format!("write `{list}.exists(it, it.{name} …)`"));
        }
        match nearest(name, locals.chain(variables).chain(facts)) {
            Some(near) => problem.with_help(format!("did you mean `{near}`?")),
            None => problem.with_help("`gpulint facts` lists what there is"),
        }
    }

    fn field(&mut self, whole: &Expr, of: &Expr, field: &Name, optional: bool) -> Lowered {
        let at = whole.at.clone();
        if let Some(name) = qualified(whole)
            && !self.locals.iter().any(|(local, _)| name.split('.').next() == Some(local))
        {
            if let Some(found) = self.variable(&name, at.clone()) {
                return Ok(found);
            }
            if let Some(kind) = functions::TYPE_NAMES.iter().find(|kind| **kind == name) {
                return Ok((Node { what: What::Constant(Value::Kind(kind)), at }, Type::Kind));
            }
        }
        let (node, holds) = self.lower(of)?;
        if let Type::Record(schema) = holds
            && !optional
        {
            let Some(place) = schema.field(&field.text) else { return Err(no_field(schema, field)) };
            let holds = schema.fields[place].holds.clone();
            return Ok((Node { what: What::Field(Box::new(node), place), at }, holds));
        }
        // constant records, such as the parameters of a page, are looked up here
        if let What::Constant(Value::Map(map)) = &node.what
            && !self.scope.unchecked
            && !optional
        {
            return constant_field(map, field, at);
        }
        let (inner, was_optional) = match holds {
            Type::Optional(inner) => (*inner, true),
            other => (other, false),
        };
        let value = match inner {
            Type::Map(_, value) => *value,
            Type::Any => Type::Any,
            Type::Record(schema) => match schema.field(&field.text) {
                Some(place) => schema.fields[place].holds.clone(),
                None => return Err(no_field(schema, field)),
            },
            other => {
                let message = format!("{} has no field `{}`", with_article(&other), field.text);
                return Err(Problem::new(field.at.clone(), message));
            }
        };
        let lookup = if optional { Lookup::May } else { Lookup::Must };
        let holds = if optional || was_optional { Type::Optional(Box::new(value)) } else { value };
        Ok((Node { what: What::Select(Box::new(node), field.text.clone(), lookup), at }, holds))
    }

    fn index(&mut self, of: &Expr, key: &Expr, optional: bool) -> Result<(What, Type), Problem> {
        let (node, holds) = self.lower(of)?;
        let (key_node, key_holds) = self.lower(key)?;
        let (inner, was_optional) = match holds {
            Type::Optional(inner) => (*inner, true),
            other => (other, false),
        };
        let value = match inner {
            Type::Map(wanted, value) if key_holds.may_equal(&wanted) => *value,
            Type::List(value) if key_holds.suits(&Type::Integer) || key_holds.is_number() => *value,
            Type::Any => Type::Any,
            Type::Map(wanted, _) => {
                let message = format!("the keys are {wanted}, and this is {}", with_article(&key_holds));
                return Err(Problem::new(key.at.clone(), message));
            }
            Type::List(_) => {
                let message = format!("a list is indexed by int, and this is {}", with_article(&key_holds));
                return Err(Problem::new(key.at.clone(), message));
            }
            other => {
                return Err(Problem::new(of.at.clone(), format!("{} cannot be indexed", with_article(&other))));
            }
        };
        let lookup = if optional { Lookup::May } else { Lookup::Must };
        let holds = if optional || was_optional { Type::Optional(Box::new(value)) } else { value };
        Ok((What::Index(Box::new(node), Box::new(key_node), lookup), holds))
    }

    fn list(&mut self, items: &[Item]) -> Result<(What, Type), Problem> {
        let mut of: Option<Type> = None;
        let mut nodes = Vec::with_capacity(items.len());
        for item in items {
            let (node, holds) = self.lower(&item.value)?;
            let holds = match (item.optional, holds) {
                (true, Type::Optional(inner)) => *inner,
                (_, holds) => holds,
            };
            of = Some(of.map_or(holds.clone(), |of| of.join(holds)));
            nodes.push((node, item.optional));
        }
        Ok((What::List(nodes.into()), Type::list(of.unwrap_or(Type::Any))))
    }

    fn map(&mut self, entries: &[(Item, Expr)]) -> Result<(What, Type), Problem> {
        let mut of: Option<(Type, Type)> = None;
        let mut nodes = Vec::with_capacity(entries.len());
        for (item, value) in entries {
            let (key, key_holds) = self.lower(&item.value)?;
            let (value, holds) = self.lower(value)?;
            let holds = match (item.optional, holds) {
                (true, Type::Optional(inner)) => *inner,
                (_, holds) => holds,
            };
            of = Some(match of {
                Some((k, v)) => (k.join(key_holds), v.join(holds)),
                None => (key_holds, holds),
            });
            nodes.push((key, value, item.optional));
        }
        let (key, value) = of.unwrap_or((Type::Any, Type::Any));
        Ok((What::Map(nodes.into()), Type::map(key, value)))
    }

    fn negative(&mut self, of: &Expr) -> Result<(What, Type), Problem> {
        let (node, holds) = self.lower(of)?;
        let (node, holds) = as_number(node, holds);
        match holds {
            Type::Integer | Type::Double | Type::Any => Ok((What::Negative(Box::new(node)), holds)),
            other => {
                Err(Problem::new(of.at.clone(), format!("`-` wants a number, and this is {}", with_article(&other))))
            }
        }
    }

    fn conditional(&mut self, test: &Expr, yes: &Expr, no: &Expr) -> Result<(What, Type), Problem> {
        let test = self.expect(test, &Type::Flag, "a condition")?;
        let (yes_node, yes_holds) = self.lower(yes)?;
        let (no_node, no_holds) = self.lower(no)?;
        if !yes_holds.may_equal(&no_holds) {
            let message = format!("one branch is {}, the other {}", with_article(&yes_holds), with_article(&no_holds));
            return Err(Problem::new(no.at.clone(), message));
        }
        Ok((What::Conditional(Box::new((test, yes_node, no_node))), yes_holds.join(no_holds)))
    }

    fn binary(&mut self, operator: Operator, left: &Expr, right: &Expr) -> Result<(What, Type), Problem> {
        let (left_node, left_holds) = self.lower(left)?;
        let (right_node, right_holds) = self.lower(right)?;
        let (mut left_node, mut left_holds) = as_number(left_node, left_holds);
        let (mut right_node, mut right_holds) = as_number(right_node, right_holds);
        if operator.is_comparison() {
            self.possible(&left_node, &left_holds, &right_node)?;
            self.possible(&right_node, &right_holds, &left_node)?;
        } else {
            adapt(&mut left_node, &mut left_holds, &right_holds);
            adapt(&mut right_node, &mut right_holds, &left_holds);
        }
        let Some(holds) = result(operator, &left_holds, &right_holds) else {
            let at = left.at.start..right.at.end;
            let (l, r) = (with_article(&left_holds), with_article(&right_holds));
            let problem = Problem::new(at, format!("`{}` does not go with {l} and {r}", operator.sign()));
            return Err(match self.conversion(left, &left_holds, right, &right_holds) {
                Some(help) => problem.with_help(help),
                None => problem,
            });
        };
        Ok((What::Binary(operator, Box::new((left_node, right_node))), holds))
    }

    /// A fact that is compared with a value which it never has.
    fn possible(&self, fact: &Node, holds: &Type, other: &Node) -> Result<(), Problem> {
        let What::Field(_, place) = &fact.what else { return Ok(()) };
        let Some(schema) = self.schema_of(fact) else { return Ok(()) };
        let Some(field) = schema.fields.get(*place).filter(|field| !field.values.is_empty()) else { return Ok(()) };
        let items: Vec<&Node> = match &other.what {
            What::List(items) => items.iter().map(|(item, _)| item).collect(),
            _ if *holds == Type::Text => vec![other],
            _ => return Ok(()),
        };
        for item in items {
            if let What::Constant(Value::Text(text)) = &item.what
                && !field.values.contains(&&**text)
            {
                return Err(never(field.name, text, field.values, item.at.clone()));
            }
        }
        Ok(())
    }

    /// The schema of the record whose field a node reads.
    fn schema_of(&self, node: &Node) -> Option<&'static Schema> {
        let What::Field(of, _) = &node.what else { return None };
        match &of.what {
            What::Variable(slot) => match self.scope.implied {
                Some((implied, schema)) if implied == *slot => Some(schema),
                _ => self.scope.variables.iter().find_map(|variable| match (&variable.stands_for, &variable.holds) {
                    (Meaning::Host(number), Type::Record(schema)) if number == slot => Some(*schema),
                    _ => None,
                }),
            },
            What::Local(place) => match self.locals.get(*place)?.1 {
                Type::Record(schema) => Some(schema),
                _ => None,
            },
            What::Field(_, place) => match self.schema_of(of)?.fields.get(*place)?.holds {
                Type::Record(schema) => Some(schema),
                _ => None,
            },
            _ => None,
        }
    }

    /// What to write so that two operands go together.
    fn conversion(&self, left: &Expr, left_holds: &Type, right: &Expr, right_holds: &Type) -> Option<String> {
        let written = |expression: &Expr| self.text.get(expression.at.clone()).unwrap_or_default().to_owned();
        match (left_holds, right_holds) {
            (Type::Double, Type::Integer) => Some(format!("write `double({})`", written(right))),
            (Type::Integer, Type::Double) => Some(format!("write `double({})`", written(left))),
            (Type::Text, number) if number.is_number() => Some(format!("write `string({})`", written(right))),
            (number, Type::Text) if number.is_number() => Some(format!("write `string({})`", written(left))),
            _ => None,
        }
    }

    fn call(&mut self, at: Range<usize>, of: Option<&Expr>, name: &Name, arguments: &[Expr]) -> Lowered {
        if let Some(lowered) = macros::lower(self, &at, of, name, arguments) {
            let (what, holds) = lowered?;
            return Ok((Node { what, at }, holds));
        }
        let mut nodes = Vec::with_capacity(arguments.len() + 1);
        let mut holds = Vec::with_capacity(arguments.len() + 1);
        let mut full_name = name.text.to_string();
        let mut is_method = of.is_some();
        if let Some(of) = of {
            match self.namespace(of, name) {
                Some(namespaced) => {
                    full_name = namespaced;
                    is_method = false;
                }
                None => {
                    let (node, kind) = self.lower(of)?;
                    nodes.push(node);
                    holds.push(kind);
                }
            }
        }
        for argument in arguments {
            let (node, kind) = self.lower(argument)?;
            let (node, kind) = as_number(node, kind);
            nodes.push(node);
            holds.push(kind);
        }
        let (candidates, gives) = self.overloads(&full_name, is_method, &mut nodes, &mut holds, name)?;
        let what = match written_pattern(&full_name, &mut nodes, self.scope.proven) {
            Some(Ok((of, pattern))) => What::Matches(Box::new(of), Box::new(pattern)),
            Some(Err(problem)) => return Err(problem),
            None => What::Call(candidates.into(), nodes.into()),
        };
        Ok((Node { what, at }, if self.scope.unchecked { Type::Any } else { gives }))
    }

    /// `math.greatest`, where `math` is no variable.
    fn namespace(&self, of: &Expr, name: &Name) -> Option<String> {
        let prefix = qualified(of)?;
        let first = prefix.split('.').next()?;
        if self.locals.iter().any(|(local, _)| &**local == first) || self.variable(first, 0..0).is_some() {
            return None;
        }
        functions::is_namespace(&prefix).then(|| format!("{prefix}.{}", name.text))
    }

    fn overloads(
        &self,
        full_name: &str,
        is_method: bool,
        nodes: &mut [Node],
        holds: &mut [Type],
        name: &Name,
    ) -> Result<(Vec<&'static Function>, Type), Problem> {
        let named: Vec<&'static Function> =
            functions::FUNCTIONS.iter().filter(|f| f.name == full_name && f.is_method == is_method).collect();
        if named.is_empty() {
            return Err(unknown_function(full_name, is_method, name));
        }
        let fits = |holds: &[Type]| -> Vec<&'static Function> {
            named.iter().copied().filter(|function| function.accepts_types(holds)).collect()
        };
        let mut candidates = fits(holds);
        let given: Vec<String> = holds.iter().map(Type::to_string).collect();
        if candidates.is_empty() {
            // a whole number that is written where a double is wanted
            for (node, kind) in nodes.iter_mut().zip(holds.iter_mut()) {
                adapt(node, kind, &Type::Double);
            }
            candidates = fits(holds);
        }
        let Some(first) = candidates.first() else {
            let ways: Vec<String> = named.iter().map(|function| function.signature()).collect();
            let problem = Problem::new(name.at.clone(), format!("`{full_name}` does not take ({})", given.join(", ")));
            return Err(problem.with_help(format!("it is {}", ways.join(" or "))));
        };
        let gives = first.result(holds);
        let agree = candidates.iter().all(|function| function.result(holds) == gives);
        Ok((candidates, if agree { gives } else { Type::Any }))
    }
}

/// A record that stands for a number, read as that number.
pub(super) fn as_number(node: Node, holds: Type) -> (Node, Type) {
    if let Type::Record(Schema { number: Some(field), fields, .. }) = holds {
        let at = node.at.clone();
        let holds = fields[*field].holds.clone();
        return (Node { what: What::Field(Box::new(node), *field), at }, holds);
    }
    (node, holds)
}

fn written_pattern(
    full_name: &str,
    nodes: &mut Vec<Node>,
    proven: bool,
) -> Option<Result<(Node, Expression), Problem>> {
    if full_name != "matches" || nodes.len() != 2 {
        return None;
    }
    let What::Constant(Value::Text(text)) = &nodes[1].what else { return None };
    if !proven && let Err(why) = functions::pattern(text) {
        return Some(Err(Problem::new(nodes[1].at.clone(), why)));
    }
    let pattern = Expression::new(&**text);
    nodes.pop();
    nodes.pop().map(|of| Ok((of, pattern)))
}

/// A whole number that is written beside a double is meant as one: `usd * 2`.
fn adapt(node: &mut Node, holds: &mut Type, other: &Type) {
    if let (What::Constant(Value::Integer(n)), Type::Double) = (&node.what, other) {
        node.what = What::Constant(Value::Double(*n as f64));
        *holds = Type::Double;
    }
}

/// The type of an operation; `None` where the operands do not go together.
fn result(operator: Operator, left: &Type, right: &Type) -> Option<Type> {
    match operator {
        Operator::Equal | Operator::NotEqual => left.may_equal(right).then_some(Type::Flag),
        Operator::In => match right {
            Type::Any => Some(Type::Flag),
            Type::List(of) | Type::Map(of, _) => left.may_equal(of).then_some(Type::Flag),
            _ => None,
        },
        Operator::Less | Operator::LessOrEqual | Operator::Greater | Operator::GreaterOrEqual => {
            let ordered = |t: &Type| {
                matches!(t, Type::Any | Type::Flag | Type::Text | Type::Bytes | Type::Duration | Type::Timestamp)
                    || t.is_number()
            };
            (ordered(left) && ordered(right) && left.may_equal(right)).then_some(Type::Flag)
        }
        _ => sum(operator, left, right),
    }
}

fn sum(operator: Operator, left: &Type, right: &Type) -> Option<Type> {
    use Operator::{Add, Remainder, Subtract};
    Some(match (operator, left, right) {
        (_, Type::Any, _) | (_, _, Type::Any) => Type::Any,
        (Remainder, Type::Double, _) => return None,
        (_, a, b) if a.is_number() && a == b => a.clone(),
        (Add, Type::Text, Type::Text) => Type::Text,
        (Add, Type::Bytes, Type::Bytes) => Type::Bytes,
        (Add, Type::List(a), Type::List(b)) => Type::list((**a).clone().join((**b).clone())),
        (Add | Subtract, Type::Duration, Type::Duration) => Type::Duration,
        (Add | Subtract, Type::Timestamp, Type::Duration) | (Add, Type::Duration, Type::Timestamp) => Type::Timestamp,
        (Subtract, Type::Timestamp, Type::Timestamp) => Type::Duration,
        _ => return None,
    })
}

fn constant_field(map: &super::Map, field: &Name, at: Range<usize>) -> Lowered {
    if let Some(value) = map.get(&super::Key::Text(field.text.clone())) {
        let holds = type_of(value);
        return Ok((Node { what: What::Constant(value.clone()), at }, holds));
    }
    let names: Vec<Arc<str>> = map
        .iter()
        .filter_map(|(key, _)| match key {
            Value::Text(name) => Some(name.clone()),
            _ => None,
        })
        .collect();
    let problem = Problem::new(field.at.clone(), format!("the page declares no parameter `{}`", field.text));
    Err(match nearest(&field.text, names.iter().map(|name| &**name)) {
        Some(near) => problem.with_help(format!("did you mean `{near}`?")),
        None => problem.with_help("declare it under `params`"),
    })
}

/// The type of a value that is known.
pub(in crate::rules) fn type_of(value: &Value) -> Type {
    match value {
        Value::Null | Value::Absent => Type::Null,
        Value::Flag(_) => Type::Flag,
        Value::Integer(_) => Type::Integer,
        Value::Unsigned(_) => Type::Unsigned,
        Value::Double(_) => Type::Double,
        Value::Text(_) => Type::Text,
        Value::Bytes(_) => Type::Bytes,
        Value::Duration(_) => Type::Duration,
        Value::Timestamp(_) => Type::Timestamp,
        Value::Kind(_) => Type::Kind,
        Value::Opaque(thing) => Type::Opaque(thing.kind()),
        Value::Record(handle) => Type::Record(handle.schema),
        Value::List(items) => Type::list(items.iter().map(type_of).reduce(Type::join).unwrap_or(Type::Any)),
        Value::Map(_) | Value::Optional(_) | Value::Unknown(_) => Type::Any,
    }
}

/// Refuses a value that a fact never has.
pub(in crate::rules) fn never(fact: &str, text: &str, values: &[&'static str], at: Range<usize>) -> Problem {
    let problem = Problem::new(at, format!("`{fact}` is never `{text}`"));
    match nearest(text, values.iter().copied()) {
        Some(near) => problem.with_help(format!("did you mean `{near}`?")),
        None => problem.with_help(format!("it is {}", values.join(", "))),
    }
}

fn no_field(schema: &Schema, field: &Name) -> Problem {
    let problem = Problem::new(field.at.clone(), format!("{} has no field `{}`", schema.name, field.text));
    match nearest(&field.text, schema.fields.iter().map(|field| field.name)) {
        Some(near) => problem.with_help(format!("did you mean `{near}`?")),
        None if schema.fields.len() <= 8 => {
            let names: Vec<&str> = schema.fields.iter().map(|field| field.name).collect();
            problem.with_help(format!("it has {}", names.join(", ")))
        }
        None => problem.with_help("`gpulint facts` lists what there is"),
    }
}

fn unknown_function(full_name: &str, is_method: bool, name: &Name) -> Problem {
    let problem = Problem::new(name.at.clone(), format!("there is no function `{full_name}`"));
    if let Some(other) = functions::FUNCTIONS.iter().find(|f| f.name == full_name && f.is_method != is_method) {
        return problem.with_help(format!("it is {}", other.signature()));
    }
    let names = functions::FUNCTIONS.iter().map(|f| f.name).chain(functions::MACROS.iter().map(|(name, _)| *name));
    match nearest(full_name, names) {
        Some(near) => problem.with_help(format!("did you mean `{near}`?")),
        None => problem.with_help("`gpulint facts` lists the functions"),
    }
}

/// `a.b.c`, where the expression is nothing but names.
fn qualified(expression: &Expr) -> Option<String> {
    match &expression.kind {
        Kind::Name { name, .. } => Some(name.to_string()),
        Kind::Field { of, field, optional: false } => Some(format!("{}.{}", qualified(of)?, field.text)),
        _ => None,
    }
}

pub(super) fn with_article(holds: &Type) -> String {
    match holds {
        Type::Any | Type::Null | Type::Bytes => holds.to_string(),
        Type::Integer => format!("an {holds}"),
        Type::Optional(_) => format!("an {holds}"),
        _ => format!("a {holds}"),
    }
}

/// Whether two values that are written out can be equal; used by the page loader.
pub(in crate::rules) fn same(left: &Value, right: &Value) -> bool {
    let mut budget = super::Budget::standard();
    matches!(operators::equal(left, right, &mut budget), Ok(Value::Flag(true)))
}
