//! Defines types of values, type constraints, and common types.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::syntax::{Expression, HclKind, ObjectItem};
use super::value::{Data, Value};

/// A type, or the type constraint of a variable.
#[derive(Debug, Clone)]
pub(crate) enum Type {
    /// Any type, or an unknown one.
    Any,
    Bool,
    Number,
    Text,
    List(Box<Type>),
    Set(Box<Type>),
    Map(Box<Type>),
    Tuple(Vec<Type>),
    Object(BTreeMap<Arc<str>, ObjectField>),
}

#[derive(Debug, Clone)]
pub(crate) struct ObjectField {
    pub(crate) of: Type,
    pub(crate) optional: bool,
    pub(crate) default: Option<Value>,
}

impl ObjectField {
    fn required(of: Type) -> Self {
        ObjectField { of, optional: false, default: None }
    }
}

impl Type {
    /// Parses a constraint; `constant` evaluates the default of an `optional`. `Err` has the error message.
    pub(crate) fn parse(
        expression: &Expression,
        constant: &mut dyn FnMut(&Expression) -> Value,
    ) -> Result<Type, String> {
        match &expression.kind {
            HclKind::Name(name) | HclKind::Text(name) => Type::named(name),
            HclKind::Parentheses(inner) => Type::parse(inner, constant),
            HclKind::Call(call) => {
                let [argument] = call.arguments.as_slice() else {
                    return Err(format!("`{}` takes one type", call.name.text));
                };
                Ok(match &*call.name.text {
                    "list" => Type::List(Box::new(Type::parse(argument, constant)?)),
                    "set" => Type::Set(Box::new(Type::parse(argument, constant)?)),
                    "map" => Type::Map(Box::new(Type::parse(argument, constant)?)),
                    "tuple" => match &argument.kind {
                        HclKind::List(items) => {
                            let items: Result<_, _> = items.iter().map(|item| Type::parse(item, constant)).collect();
                            Type::Tuple(items?)
                        }
                        _ => return Err("`tuple` takes a list of types".into()),
                    },
                    "object" => match &argument.kind {
                        HclKind::Object(items) => Type::fields(items, constant)?,
                        _ => return Err("`object` takes a map of types".into()),
                    },
                    other => return Err(format!("`{other}` is not a type")),
                })
            }
            _ => Err("this is not a type".into()),
        }
    }

    fn named(name: &str) -> Result<Type, String> {
        Ok(match name {
            "string" => Type::Text,
            "number" => Type::Number,
            "bool" => Type::Bool,
            "any" => Type::Any,
            "list" => Type::List(Box::new(Type::Any)),
            "set" => Type::Set(Box::new(Type::Any)),
            "map" => Type::Map(Box::new(Type::Any)),
            other => return Err(format!("`{other}` is not a type")),
        })
    }

    fn fields(items: &[ObjectItem], constant: &mut dyn FnMut(&Expression) -> Value) -> Result<Type, String> {
        let mut fields = BTreeMap::new();
        for item in items {
            let name = match &item.key.kind {
                HclKind::Name(name) | HclKind::Text(name) => name.clone(),
                _ => return Err("the name of a field must be a literal".into()),
            };
            let field = match &item.value.kind {
                HclKind::Call(call) if &*call.name.text == "optional" => {
                    let of = match call.arguments.first() {
                        Some(of) => Type::parse(of, constant)?,
                        None => return Err("`optional` needs a type".into()),
                    };
                    let default = call.arguments.get(1).map(|default| of.convert(&constant(default)));
                    ObjectField { default: default.filter(|value| !value.is_null()), of, optional: true }
                }
                _ => ObjectField::required(Type::parse(&item.value, constant)?),
            };
            fields.insert(name, field);
        }
        Ok(Type::Object(fields))
    }

    /// Returns the type of a value, as far as it is known.
    pub(crate) fn of(value: &Value) -> Type {
        match &value.data {
            Data::Null | Data::Unknown(_) => Type::Any,
            Data::Bool(_) => Type::Bool,
            Data::Number(_) => Type::Number,
            Data::Text(_) => Type::Text,
            Data::List(items) => Type::List(Box::new(Type::of_members(items.iter()))),
            Data::Set(items) => Type::Set(Box::new(Type::of_members(items.iter()))),
            Data::Tuple(items) => Type::Tuple(items.iter().map(Type::of).collect()),
            Data::Map(entries) => Type::Map(Box::new(Type::of_members(entries.known.values()))),
            Data::Object(entries) => Type::Object(
                entries.iter().map(|(name, value)| (name.clone(), ObjectField::required(Type::of(value)))).collect(),
            ),
        }
    }

    fn of_members<'v>(members: impl Iterator<Item = &'v Value>) -> Type {
        Type::common(members.map(Type::of)).unwrap_or(Type::Any)
    }

    /// Returns the type that all of these can be converted to; `None` if none exists.
    pub(crate) fn common(types: impl IntoIterator<Item = Type>) -> Option<Type> {
        let (types, open): (Vec<Type>, Vec<Type>) = types.into_iter().partition(|of| !matches!(of, Type::Any));
        let all = |is: fn(&Type) -> bool| types.iter().all(is);
        if types.is_empty() {
            return Some(Type::Any);
        }
        if all(|of| matches!(of, Type::Bool | Type::Number | Type::Text)) {
            return Type::common_plain(&types);
        }
        // Next to a member of any type, collections keep their types.
        if !open.is_empty() {
            return Some(Type::Any);
        }
        if all(|of| matches!(of, Type::List(_) | Type::Set(_) | Type::Tuple(_))) {
            return Type::common_list(types);
        }
        if all(|of| matches!(of, Type::Map(_) | Type::Object(_))) {
            return Type::common_map(types);
        }
        None
    }

    fn common_plain(types: &[Type]) -> Option<Type> {
        let any = |is: fn(&Type) -> bool| types.iter().any(is);
        match (
            any(|of| matches!(of, Type::Text)),
            any(|of| matches!(of, Type::Number)),
            any(|of| matches!(of, Type::Bool)),
        ) {
            (true, ..) => Some(Type::Text),
            (_, true, false) => Some(Type::Number),
            (_, false, true) => Some(Type::Bool),
            _ => None,
        }
    }

    fn common_list(types: Vec<Type>) -> Option<Type> {
        let length = |of: &Type| match of {
            Type::Tuple(items) => Some(items.len()),
            _ => None,
        };
        let first = types.first().and_then(length);
        if let Some(length_of_all) = first
            && types.iter().all(|of| length(of) == first)
        {
            let mut columns: Vec<Vec<Type>> = (0..length_of_all).map(|_| Vec::new()).collect();
            for of in types {
                if let Type::Tuple(items) = of {
                    columns.iter_mut().zip(items).for_each(|(column, item)| column.push(item));
                }
            }
            return Some(Type::Tuple(columns.into_iter().map(Type::common).collect::<Option<_>>()?));
        }
        // A set next to a list becomes a list, and a tuple next to a set becomes a set.
        let (any_set, all_sets) = (types.iter().any(Type::is_set), types.iter().all(Type::is_set));
        if any_set && !all_sets {
            let list = types.iter().find(|of| matches!(of, Type::List(_)));
            return list.or_else(|| types.iter().find(|of| of.is_set())).cloned();
        }
        let members = types.into_iter().flat_map(|of| match of {
            Type::List(of) | Type::Set(of) => vec![*of],
            Type::Tuple(items) => items,
            _ => Vec::new(),
        });
        let common = Box::new(Type::common(members)?);
        Some(if all_sets { Type::Set(common) } else { Type::List(common) })
    }

    fn is_set(&self) -> bool {
        matches!(self, Type::Set(_))
    }

    fn common_map(types: Vec<Type>) -> Option<Type> {
        let fields = |of: &Type| match of {
            Type::Object(fields) => Some(fields.keys().cloned().collect::<Vec<_>>()),
            _ => None,
        };
        let first = types.first().and_then(fields);
        if first.is_some() && types.iter().all(|of| fields(of) == first) {
            let mut columns: BTreeMap<Arc<str>, Vec<Type>> = BTreeMap::new();
            for of in types {
                if let Type::Object(fields) = of {
                    fields.into_iter().for_each(|(name, field)| columns.entry(name).or_default().push(field.of));
                }
            }
            let fields = columns.into_iter().map(|(name, of)| Some((name, ObjectField::required(Type::common(of)?))));
            return Some(Type::Object(fields.collect::<Option<_>>()?));
        }
        let members = types.into_iter().flat_map(|of| match of {
            Type::Map(of) => vec![*of],
            Type::Object(fields) => fields.into_values().map(|field| field.of).collect(),
            _ => Vec::new(),
        });
        // An empty map has no visible element type. If other members are lists, it becomes a list.
        let (open, members): (Vec<Type>, Vec<Type>) = members.partition(|of| matches!(of, Type::Any));
        let of = match Type::common(members)? {
            Type::Tuple(items) if !open.is_empty() => Type::List(Box::new(Type::common(items)?)),
            of => of,
        };
        Some(Type::Map(Box::new(of)))
    }

    pub(crate) fn name(&self) -> String {
        match self {
            Type::Any => "any".into(),
            Type::Bool => "bool".into(),
            Type::Number => "number".into(),
            Type::Text => "string".into(),
            Type::List(of) => format!("list of {}", of.name()),
            Type::Set(of) => format!("set of {}", of.name()),
            Type::Map(of) => format!("map of {}", of.name()),
            Type::Tuple(_) => "tuple".into(),
            Type::Object(_) => "object".into(),
        }
    }
}
