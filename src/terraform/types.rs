//! Types: what a value is, what a constraint asks for, and the type that several values have in common.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::syntax::{Expression, Item, Kind};
use super::value::{Data, Value};

/// A type, or a type constraint of a variable.
#[derive(Debug, Clone)]
pub(super) enum Type {
    /// Any type, or one that is not known.
    Any,
    Bool,
    Number,
    Text,
    List(Box<Type>),
    Set(Box<Type>),
    Map(Box<Type>),
    Tuple(Vec<Type>),
    Object(BTreeMap<Arc<str>, Field>),
}

#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) of: Type,
    pub(super) optional: bool,
    pub(super) default: Option<Value>,
}

impl Field {
    fn required(of: Type) -> Self {
        Field { of, optional: false, default: None }
    }
}

impl Type {
    /// Reads a constraint; `constant` evaluates the default of an `optional`. `Err` says what is wrong with it.
    pub(super) fn parse(
        expression: &Expression,
        constant: &mut dyn FnMut(&Expression) -> Value,
    ) -> Result<Type, String> {
        match &expression.kind {
            Kind::Name(name) | Kind::Text(name) => Type::named(name),
            Kind::Parentheses(inner) => Type::parse(inner, constant),
            Kind::Call(call) => {
                let [argument] = call.arguments.as_slice() else {
                    return Err(format!("`{}` takes one type", call.name.text));
                };
                Ok(match &*call.name.text {
                    "list" => Type::List(Box::new(Type::parse(argument, constant)?)),
                    "set" => Type::Set(Box::new(Type::parse(argument, constant)?)),
                    "map" => Type::Map(Box::new(Type::parse(argument, constant)?)),
                    "tuple" => match &argument.kind {
                        Kind::List(items) => {
                            let items: Result<_, _> = items.iter().map(|item| Type::parse(item, constant)).collect();
                            Type::Tuple(items?)
                        }
                        _ => return Err("`tuple` takes a list of types".into()),
                    },
                    "object" => match &argument.kind {
                        Kind::Object(items) => Type::fields(items, constant)?,
                        _ => return Err("`object` takes an object of types".into()),
                    },
                    other => return Err(format!("`{other}` is no type")),
                })
            }
            _ => Err("this is no type".into()),
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
            other => return Err(format!("`{other}` is no type")),
        })
    }

    fn fields(items: &[Item], constant: &mut dyn FnMut(&Expression) -> Value) -> Result<Type, String> {
        let mut fields = BTreeMap::new();
        for item in items {
            let name = match &item.key.kind {
                Kind::Name(name) | Kind::Text(name) => name.clone(),
                _ => return Err("the name of a field must be written out".into()),
            };
            let field = match &item.value.kind {
                Kind::Call(call) if &*call.name.text == "optional" => {
                    let of = match call.arguments.first() {
                        Some(of) => Type::parse(of, constant)?,
                        None => return Err("`optional` needs a type".into()),
                    };
                    let default = call.arguments.get(1).map(|default| of.convert(&constant(default)));
                    Field { default: default.filter(|value| !value.is_null()), of, optional: true }
                }
                _ => Field::required(Type::parse(&item.value, constant)?),
            };
            fields.insert(name, field);
        }
        Ok(Type::Object(fields))
    }

    /// What a value is, as far as it shows.
    pub(super) fn of(value: &Value) -> Type {
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
                entries.iter().map(|(name, value)| (name.clone(), Field::required(Type::of(value)))).collect(),
            ),
        }
    }

    fn of_members<'v>(members: impl Iterator<Item = &'v Value>) -> Type {
        Type::common(members.map(Type::of)).unwrap_or(Type::Any)
    }

    /// The type that all of these can be converted to; `None` where there is none.
    pub(super) fn common(types: impl IntoIterator<Item = Type>) -> Option<Type> {
        let mut types: Vec<Type> = types.into_iter().filter(|of| !matches!(of, Type::Any)).collect();
        let Some(mut result) = types.pop() else { return Some(Type::Any) };
        while let Some(next) = types.pop() {
            result = Type::unify(next, result)?;
        }
        Some(result)
    }

    fn unify(a: Type, b: Type) -> Option<Type> {
        Some(match (a, b) {
            (Type::Any, other) | (other, Type::Any) => other,
            (Type::Bool, Type::Bool) => Type::Bool,
            (Type::Number, Type::Number) => Type::Number,
            (Type::Text | Type::Bool | Type::Number, Type::Text) | (Type::Text, Type::Bool | Type::Number) => {
                Type::Text
            }
            (Type::List(a), Type::List(b)) => Type::List(Box::new(Type::unify(*a, *b)?)),
            (Type::Set(a), Type::Set(b)) => Type::Set(Box::new(Type::unify(*a, *b)?)),
            (Type::Map(a), Type::Map(b)) => Type::Map(Box::new(Type::unify(*a, *b)?)),
            (Type::Tuple(a), Type::Tuple(b)) if a.len() == b.len() => {
                Type::Tuple(a.into_iter().zip(b).map(|(a, b)| Type::unify(a, b)).collect::<Option<_>>()?)
            }
            (Type::Tuple(a), Type::Tuple(b)) => Type::List(Box::new(Type::common(a.into_iter().chain(b))?)),
            (Type::Tuple(items), Type::List(of)) | (Type::List(of), Type::Tuple(items)) => {
                Type::List(Box::new(Type::common(items.into_iter().chain([*of]))?))
            }
            (Type::Tuple(items), Type::Set(of)) | (Type::Set(of), Type::Tuple(items)) => {
                Type::Set(Box::new(Type::common(items.into_iter().chain([*of]))?))
            }
            (Type::List(a), Type::Set(b)) | (Type::Set(a), Type::List(b)) => Type::Set(Box::new(Type::unify(*a, *b)?)),
            (Type::Object(a), Type::Object(b)) => return Type::unify_objects(a, b),
            (Type::Object(fields), Type::Map(of)) | (Type::Map(of), Type::Object(fields)) => {
                Type::Map(Box::new(Type::common(fields.into_values().map(|field| field.of).chain([*of]))?))
            }
            _ => return None,
        })
    }

    fn unify_objects(a: BTreeMap<Arc<str>, Field>, mut b: BTreeMap<Arc<str>, Field>) -> Option<Type> {
        if a.len() == b.len() && a.keys().eq(b.keys()) {
            let fields = a.into_iter().map(|(name, field)| {
                let other = b.remove(&name).map_or(Type::Any, |field| field.of);
                Some((name, Field::required(Type::unify(field.of, other)?)))
            });
            return Some(Type::Object(fields.collect::<Option<_>>()?));
        }
        let members = a.into_values().chain(b.into_values()).map(|field| field.of);
        Some(Type::Map(Box::new(Type::common(members)?)))
    }

    pub(super) fn name(&self) -> String {
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
