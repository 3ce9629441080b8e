//! Resolves the names in an expression.

use std::ops::Range;
use std::sync::Arc;

use super::super::functions::{self, CelOverload};
use super::super::program::{ExprNode, Lookup, ProgramNode};
use super::super::syntax::{Expr, ExprKind, ExprName};
use super::super::types::{CelType, RecordSchema};
use super::super::value::CelValue;
use super::super::{CelMap, MapKey, Problem};
use super::{Lowered, Lowering, type_of, with_article};
use crate::languages::cel::nearest;

/// The names that an expression can use.
#[derive(Debug, Clone, Default)]
pub(crate) struct ExpressionScope<'a> {
    pub(crate) variables: Vec<ScopeVariable<'a>>,
    /// The variable whose fields can be used without a prefix, with its schema.
    pub(crate) implied: Option<(usize, &'static RecordSchema)>,
    /// Functions in addition to those of the language.
    pub(crate) functions: &'static [CelOverload],
    /// True if type checks are disabled, for tests of the language.
    pub(crate) unchecked: bool,
    /// True if patterns are valid already, so they are compiled at their first use.
    pub(crate) proven: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct ScopeVariable<'a> {
    pub(crate) name: &'a str,
    pub(crate) holds: CelType,
    pub(crate) stands_for: VariableMeaning,
}

#[derive(Debug, Clone)]
pub(crate) enum VariableMeaning {
    /// A variable that the host identifies by this number.
    Host(usize),
    Constant(CelValue),
}

impl Lowering<'_> {
    pub(super) fn name(&mut self, name: &Arc<str>, rooted: bool, at: Range<usize>) -> Lowered {
        if !rooted && let Some(place) = self.locals.iter().rposition(|(local, _)| local == name) {
            return Ok((ProgramNode { what: ExprNode::Local(place), at }, self.locals[place].1.clone()));
        }
        if let Some(found) = self.variable(name, at.clone()) {
            return Ok(found);
        }
        if let Some((slot, schema)) = self.scope.implied
            && let Some(field) = schema.field(name)
        {
            let of = ProgramNode { what: ExprNode::Variable(slot), at: at.clone() };
            return Ok((
                ProgramNode { what: ExprNode::Field(Box::new(of), field), at },
                schema.fields[field].holds.clone(),
            ));
        }
        if let Some(kind) = functions::TYPE_NAMES.iter().find(|kind| **kind == &**name) {
            return Ok((ProgramNode { what: ExprNode::Constant(CelValue::Kind(kind)), at }, CelType::Kind));
        }
        Err(self.unknown_name(name, at))
    }

    pub(super) fn variable(&self, name: &str, at: Range<usize>) -> Option<(ProgramNode, CelType)> {
        let variable = self.scope.variables.iter().find(|variable| variable.name == name)?;
        let what = match &variable.stands_for {
            VariableMeaning::Host(slot) => ExprNode::Variable(*slot),
            VariableMeaning::Constant(value) => ExprNode::Constant(value.clone()),
        };
        Some((ProgramNode { what, at }, variable.holds.clone()))
    }

    fn unknown_name(&self, name: &str, at: Range<usize>) -> Problem {
        let locals = self.locals.iter().map(|(local, _)| &**local);
        let variables = self.scope.variables.iter().map(|variable| variable.name);
        let facts = self.scope.implied.iter().flat_map(|(_, schema)| schema.fields.iter().map(|field| field.name));
        let problem = Problem::new(at, format!("there is no fact `{name}`"));
        // The name is a fact of a resource, but the rule is about all resources.
        let list = self.scope.variables.iter().find(|variable| match &variable.holds {
            CelType::List(of) => matches!(&**of, CelType::Record(schema) if schema.field(name).is_some()),
            _ => false,
        });
        if let Some(ScopeVariable { name: list, .. }) = list {
            return problem.with_help(format!("write `{list}.exists(it, it.{name} …)`"));
        }
        match nearest(name, locals.chain(variables).chain(facts)) {
            Some(near) => problem.with_help(format!("did you mean `{near}`?")),
            None => problem.with_help("`gpulint facts` lists all facts"),
        }
    }

    pub(super) fn field(&mut self, whole: &Expr, of: &Expr, field: &ExprName, optional: bool) -> Lowered {
        let at = whole.at.clone();
        if let Some(name) = qualified(whole)
            && !self.locals.iter().any(|(local, _)| name.split('.').next() == Some(local))
        {
            if let Some(found) = self.variable(&name, at.clone()) {
                return Ok(found);
            }
            if let Some(kind) = functions::TYPE_NAMES.iter().find(|kind| **kind == name) {
                return Ok((ProgramNode { what: ExprNode::Constant(CelValue::Kind(kind)), at }, CelType::Kind));
            }
        }
        let (node, holds) = self.lower(of)?;
        if let CelType::Record(schema) = holds
            && !optional
        {
            let Some(place) = schema.field(&field.text) else { return Err(no_field(schema, field)) };
            let holds = schema.fields[place].holds.clone();
            return Ok((ProgramNode { what: ExprNode::Field(Box::new(node), place), at }, holds));
        }
        // Constant records, such as the parameters of a rule, are looked up here.
        if let ExprNode::Constant(CelValue::Map(map)) = &node.what
            && !self.scope.unchecked
            && !optional
            && !map.lenient
        {
            return constant_field(map, field, at);
        }
        let (inner, was_optional) = match holds {
            CelType::Optional(inner) => (*inner, true),
            other => (other, false),
        };
        let value = match inner {
            CelType::Map(_, value) => *value,
            CelType::Any => CelType::Any,
            CelType::Record(schema) => match schema.field(&field.text) {
                Some(place) => schema.fields[place].holds.clone(),
                None => return Err(no_field(schema, field)),
            },
            other => {
                let message = format!("{} has no field `{}`", with_article(&other), field.text);
                return Err(Problem::new(field.at.clone(), message));
            }
        };
        let lookup = if optional { Lookup::May } else { Lookup::Must };
        let holds = if optional || was_optional { CelType::Optional(Box::new(value)) } else { value };
        Ok((ProgramNode { what: ExprNode::Select(Box::new(node), field.text.clone(), lookup), at }, holds))
    }

    /// Returns the schema of the record whose field a node reads.
    pub(super) fn schema_of(&self, node: &ProgramNode) -> Option<&'static RecordSchema> {
        let ExprNode::Field(of, _) = &node.what else { return None };
        match &of.what {
            ExprNode::Variable(slot) => match self.scope.implied {
                Some((implied, schema)) if implied == *slot => Some(schema),
                _ => self.scope.variables.iter().find_map(|variable| match (&variable.stands_for, &variable.holds) {
                    (VariableMeaning::Host(number), CelType::Record(schema)) if number == slot => Some(*schema),
                    _ => None,
                }),
            },
            ExprNode::Local(place) => match self.locals.get(*place)?.1 {
                CelType::Record(schema) => Some(schema),
                _ => None,
            },
            ExprNode::Field(_, place) => match self.schema_of(of)?.fields.get(*place)?.holds {
                CelType::Record(schema) => Some(schema),
                _ => None,
            },
            _ => None,
        }
    }
}

fn constant_field(map: &CelMap, field: &ExprName, at: Range<usize>) -> Lowered {
    if let Some(value) = map.get(&MapKey::Text(field.text.clone())) {
        let holds = type_of(value);
        return Ok((ProgramNode { what: ExprNode::Constant(value.clone()), at }, holds));
    }
    let names: Vec<Arc<str>> = map
        .iter()
        .filter_map(|(key, _)| match key {
            CelValue::Text(name) => Some(name.clone()),
            _ => None,
        })
        .collect();
    let problem = Problem::new(field.at.clone(), format!("the rule file declares no parameter `{}`", field.text));
    Err(match nearest(&field.text, names.iter().map(|name| &**name)) {
        Some(near) => problem.with_help(format!("did you mean `{near}`?")),
        None => problem.with_help("declare it under `params`"),
    })
}

fn no_field(schema: &RecordSchema, field: &ExprName) -> Problem {
    let problem = Problem::new(field.at.clone(), format!("{} has no field `{}`", schema.name, field.text));
    match nearest(&field.text, schema.fields.iter().map(|field| field.name)) {
        Some(near) => problem.with_help(format!("did you mean `{near}`?")),
        None if schema.fields.len() <= 8 => {
            let names: Vec<&str> = schema.fields.iter().map(|field| field.name).collect();
            problem.with_help(format!("its fields are {}", names.join(", ")))
        }
        None => problem.with_help("`gpulint facts` lists all facts"),
    }
}

/// Returns `a.b.c` if the expression consists only of names.
pub(super) fn qualified(expression: &Expr) -> Option<String> {
    match &expression.kind {
        ExprKind::Name { name, .. } => Some(name.to_string()),
        ExprKind::Field { of, field, optional: false } => Some(format!("{}.{}", qualified(of)?, field.text)),
        _ => None,
    }
}
