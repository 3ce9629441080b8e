//! Defines types of values, type constraints, and common types.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::syntax::{Expression, HclKind, ObjectItem};
use super::value::{HclData, HclValue};

/// A type, or the type constraint of a variable.
#[derive(Debug, Clone)]
pub(crate) enum HclType {
    /// Any type, or an unknown one.
    Any,
    Bool,
    Number,
    Text,
    List(Box<HclType>),
    Set(Box<HclType>),
    Map(Box<HclType>),
    Tuple(Vec<HclType>),
    Object(BTreeMap<Arc<str>, ObjectField>),
}

#[derive(Debug, Clone)]
pub(crate) struct ObjectField {
    pub(crate) of: HclType,
    pub(crate) optional: bool,
    pub(crate) default: Option<HclValue>,
}

impl ObjectField {
    fn required(of: HclType) -> Self {
        ObjectField { of, optional: false, default: None }
    }
}

impl HclType {
    /// Parses a constraint; `constant` evaluates the default of an `optional`. `Err` has the error message.
    pub(crate) fn parse(
        expression: &Expression,
        constant: &mut dyn FnMut(&Expression) -> HclValue,
    ) -> Result<HclType, String> {
        match &expression.kind {
            HclKind::Name(name) | HclKind::Text(name) => HclType::named(name),
            HclKind::Parentheses(inner) => HclType::parse(inner, constant),
            HclKind::Call(call) => {
                let [argument] = call.arguments.as_slice() else {
                    return Err(format!("`{}` takes one type", call.name.text));
                };
                Ok(match &*call.name.text {
                    "list" => HclType::List(Box::new(HclType::parse(argument, constant)?)),
                    "set" => HclType::Set(Box::new(HclType::parse(argument, constant)?)),
                    "map" => HclType::Map(Box::new(HclType::parse(argument, constant)?)),
                    "tuple" => match &argument.kind {
                        HclKind::List(items) => {
                            let items: Result<_, _> = items.iter().map(|item| HclType::parse(item, constant)).collect();
                            HclType::Tuple(items?)
                        }
                        _ => return Err("`tuple` takes a list of types".into()),
                    },
                    "object" => match &argument.kind {
                        HclKind::Object(items) => HclType::fields(items, constant)?,
                        _ => return Err("`object` takes a map of types".into()),
                    },
                    other => return Err(format!("`{other}` is not a type")),
                })
            }
            _ => Err("this is not a type".into()),
        }
    }

    fn named(name: &str) -> Result<HclType, String> {
        Ok(match name {
            "string" => HclType::Text,
            "number" => HclType::Number,
            "bool" => HclType::Bool,
            "any" => HclType::Any,
            "list" => HclType::List(Box::new(HclType::Any)),
            "set" => HclType::Set(Box::new(HclType::Any)),
            "map" => HclType::Map(Box::new(HclType::Any)),
            other => return Err(format!("`{other}` is not a type")),
        })
    }

    fn fields(items: &[ObjectItem], constant: &mut dyn FnMut(&Expression) -> HclValue) -> Result<HclType, String> {
        let mut fields = BTreeMap::new();
        for item in items {
            let name = match &item.key.kind {
                HclKind::Name(name) | HclKind::Text(name) => name.clone(),
                _ => return Err("the name of a field must be a literal".into()),
            };
            let field = match &item.value.kind {
                HclKind::Call(call) if &*call.name.text == "optional" => {
                    let of = match call.arguments.first() {
                        Some(of) => HclType::parse(of, constant)?,
                        None => return Err("`optional` needs a type".into()),
                    };
                    let default = call.arguments.get(1).map(|default| of.convert(&constant(default)));
                    ObjectField { default: default.filter(|value| !value.is_null()), of, optional: true }
                }
                _ => ObjectField::required(HclType::parse(&item.value, constant)?),
            };
            fields.insert(name, field);
        }
        Ok(HclType::Object(fields))
    }

    /// Returns the type of a value, as far as it is known.
    pub(crate) fn of(value: &HclValue) -> HclType {
        match &value.data {
            HclData::Null | HclData::Unknown(_) => HclType::Any,
            HclData::Bool(_) => HclType::Bool,
            HclData::Number(_) => HclType::Number,
            HclData::Text(_) => HclType::Text,
            HclData::List(items) => HclType::List(Box::new(HclType::of_members(items.iter()))),
            HclData::Set(items) => HclType::Set(Box::new(HclType::of_members(items.iter()))),
            HclData::Tuple(items) => HclType::Tuple(items.iter().map(HclType::of).collect()),
            HclData::Map(entries) => HclType::Map(Box::new(HclType::of_members(entries.known.values()))),
            HclData::Object(entries) => HclType::Object(
                entries.iter().map(|(name, value)| (name.clone(), ObjectField::required(HclType::of(value)))).collect(),
            ),
        }
    }

    fn of_members<'v>(members: impl Iterator<Item = &'v HclValue>) -> HclType {
        HclType::common(members.map(HclType::of)).unwrap_or(HclType::Any)
    }

    /// Returns the type that all of these can be converted to; `None` if none exists.
    pub(crate) fn common(types: impl IntoIterator<Item = HclType>) -> Option<HclType> {
        let (types, open): (Vec<HclType>, Vec<HclType>) = types.into_iter().partition(|of| !matches!(of, HclType::Any));
        let all = |is: fn(&HclType) -> bool| types.iter().all(is);
        if types.is_empty() {
            return Some(HclType::Any);
        }
        if all(|of| matches!(of, HclType::Bool | HclType::Number | HclType::Text)) {
            return HclType::common_plain(&types);
        }
        // Next to a member of any type, collections keep their types.
        if !open.is_empty() {
            return Some(HclType::Any);
        }
        if all(|of| matches!(of, HclType::List(_) | HclType::Set(_) | HclType::Tuple(_))) {
            return HclType::common_list(types);
        }
        if all(|of| matches!(of, HclType::Map(_) | HclType::Object(_))) {
            return HclType::common_map(types);
        }
        None
    }

    fn common_plain(types: &[HclType]) -> Option<HclType> {
        let any = |is: fn(&HclType) -> bool| types.iter().any(is);
        match (
            any(|of| matches!(of, HclType::Text)),
            any(|of| matches!(of, HclType::Number)),
            any(|of| matches!(of, HclType::Bool)),
        ) {
            (true, ..) => Some(HclType::Text),
            (_, true, false) => Some(HclType::Number),
            (_, false, true) => Some(HclType::Bool),
            _ => None,
        }
    }

    fn common_list(types: Vec<HclType>) -> Option<HclType> {
        let length = |of: &HclType| match of {
            HclType::Tuple(items) => Some(items.len()),
            _ => None,
        };
        let first = types.first().and_then(length);
        if let Some(length_of_all) = first
            && types.iter().all(|of| length(of) == first)
        {
            let mut columns: Vec<Vec<HclType>> = (0..length_of_all).map(|_| Vec::new()).collect();
            for of in types {
                if let HclType::Tuple(items) = of {
                    columns.iter_mut().zip(items).for_each(|(column, item)| column.push(item));
                }
            }
            return Some(HclType::Tuple(columns.into_iter().map(HclType::common).collect::<Option<_>>()?));
        }
        // A set next to a list becomes a list, and a tuple next to a set becomes a set.
        let (any_set, all_sets) = (types.iter().any(HclType::is_set), types.iter().all(HclType::is_set));
        if any_set && !all_sets {
            let list = types.iter().find(|of| matches!(of, HclType::List(_)));
            return list.or_else(|| types.iter().find(|of| of.is_set())).cloned();
        }
        let members = types.into_iter().flat_map(|of| match of {
            HclType::List(of) | HclType::Set(of) => vec![*of],
            HclType::Tuple(items) => items,
            _ => Vec::new(),
        });
        let common = Box::new(HclType::common(members)?);
        Some(if all_sets { HclType::Set(common) } else { HclType::List(common) })
    }

    fn is_set(&self) -> bool {
        matches!(self, HclType::Set(_))
    }

    fn common_map(types: Vec<HclType>) -> Option<HclType> {
        let fields = |of: &HclType| match of {
            HclType::Object(fields) => Some(fields.keys().cloned().collect::<Vec<_>>()),
            _ => None,
        };
        let first = types.first().and_then(fields);
        if first.is_some() && types.iter().all(|of| fields(of) == first) {
            let mut columns: BTreeMap<Arc<str>, Vec<HclType>> = BTreeMap::new();
            for of in types {
                if let HclType::Object(fields) = of {
                    fields.into_iter().for_each(|(name, field)| columns.entry(name).or_default().push(field.of));
                }
            }
            let fields =
                columns.into_iter().map(|(name, of)| Some((name, ObjectField::required(HclType::common(of)?))));
            return Some(HclType::Object(fields.collect::<Option<_>>()?));
        }
        let members = types.into_iter().flat_map(|of| match of {
            HclType::Map(of) => vec![*of],
            HclType::Object(fields) => fields.into_values().map(|field| field.of).collect(),
            _ => Vec::new(),
        });
        // An empty map has no visible element type. If other members are lists, it becomes a list.
        let (open, members): (Vec<HclType>, Vec<HclType>) = members.partition(|of| matches!(of, HclType::Any));
        let of = match HclType::common(members)? {
            HclType::Tuple(items) if !open.is_empty() => HclType::List(Box::new(HclType::common(items)?)),
            of => of,
        };
        Some(HclType::Map(Box::new(of)))
    }

    pub(crate) fn name(&self) -> String {
        match self {
            HclType::Any => "any".into(),
            HclType::Bool => "bool".into(),
            HclType::Number => "number".into(),
            HclType::Text => "string".into(),
            HclType::List(of) => format!("list of {}", of.name()),
            HclType::Set(of) => format!("set of {}", of.name()),
            HclType::Map(of) => format!("map of {}", of.name()),
            HclType::Tuple(_) => "tuple".into(),
            HclType::Object(_) => "object".into(),
        }
    }
}
