//! Macros look like calls but have their own rules: `has`, `known`, `cel.bind`, and macros over lists and maps.

use std::ops::Range;
use std::sync::Arc;

use super::Problem;
use super::check::{Lowering, with_article};
use super::parser::as_plain_name;
use super::program::{ExprNode, ProgramNode};
use super::syntax::{Expr, ExprKind, ExprName};
use super::types::CelType;

/// A macro over the members of a list or a map.
#[derive(Debug)]
pub(super) struct MacroWalk {
    pub(super) goal: MacroKind,
    pub(super) over: ProgramNode,
    /// Whether the key or index has its own variable, before that of the member.
    pub(super) is_keyed: bool,
    /// The condition that selects members; `None` selects all.
    pub(super) test: Option<ProgramNode>,
    /// The result for a member.
    pub(super) gives: Option<ProgramNode>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MacroKind {
    All,
    Exists,
    ExistsOne,
    /// A list of the members.
    Filter,
    List,
    /// A map with the same keys.
    Map,
    /// One map, merged from the resulting maps.
    Entries,
}

type Lowered = Result<(ExprNode, CelType), Problem>;

/// Returns `None` if the call is not a macro.
pub(super) fn lower(
    lowering: &mut Lowering<'_>,
    at: &Range<usize>,
    of: Option<&Expr>,
    name: &ExprName,
    arguments: &[Expr],
) -> Option<Lowered> {
    match (of, &*name.text, arguments) {
        (None, "has", [argument]) => Some(has(lowering, argument)),
        (None, "known", [argument]) => {
            Some(lowering.lower(argument).map(|(node, _)| (ExprNode::Known(Box::new(node)), CelType::Flag)))
        }
        (None, "possible", [argument]) => Some(
            lowering.lower(argument).map(|(node, holds)| (ExprNode::Possible(Box::new(node)), CelType::list(holds))),
        ),
        (None, "has" | "known" | "possible", _) => {
            Some(Err(Problem::new(at.clone(), format!("`{}` takes one argument", name.text))))
        }
        (Some(Expr { kind: ExprKind::Name { name: space, .. }, .. }), "bind", [variable, value, body])
            if &**space == "cel" =>
        {
            Some(bind(lowering, variable, value, body))
        }
        (Some(of), "optMap", [variable, body]) => Some(of_optional(lowering, of, variable, body, false)),
        (Some(of), "optFlatMap", [variable, body]) => Some(of_optional(lowering, of, variable, body, true)),
        (Some(of), _, _) => walk(lowering, at, of, name, arguments),
        _ => None,
    }
}

fn has(lowering: &mut Lowering<'_>, argument: &Expr) -> Lowered {
    let is_fact = match &argument.kind {
        ExprKind::Field { .. } => true,
        ExprKind::Name { name, .. } => lowering.scope.implied.is_some_and(|(_, schema)| schema.field(name).is_some()),
        _ => false,
    };
    let (node, _) = lowering.lower(argument)?;
    match is_fact {
        true => Ok((ExprNode::Has(Box::new(node)), CelType::Flag)),
        false => Err(Problem::new(argument.at.clone(), "`has` needs a fact or a field")
            .with_help("write `has(a.b)`, or `'key' in map` for a key")),
    }
}

fn bind(lowering: &mut Lowering<'_>, variable: &Expr, value: &Expr, body: &Expr) -> Lowered {
    let name = variable_name(variable)?;
    let (value, holds) = lowering.lower(value)?;
    lowering.locals.push((name, holds));
    let body = lowering.lower(body);
    lowering.locals.pop();
    let (body, holds) = body?;
    Ok((ExprNode::Bind(Box::new((value, body))), holds))
}

fn of_optional(lowering: &mut Lowering<'_>, of: &Expr, variable: &Expr, body: &Expr, is_flat: bool) -> Lowered {
    let name = variable_name(variable)?;
    let (value, holds) = lowering.lower(of)?;
    let inner = match holds {
        CelType::Optional(inner) => *inner,
        CelType::Any => CelType::Any,
        other => {
            let message = format!("expected an optional, and this is {}", with_article(&other));
            return Err(Problem::new(of.at.clone(), message));
        }
    };
    lowering.locals.push((name, inner));
    let body = lowering.lower(body);
    lowering.locals.pop();
    let (body, holds) = body?;
    let holds = if is_flat { holds } else { CelType::Optional(Box::new(holds)) };
    Ok((ExprNode::OfOptional(Box::new((value, body)), is_flat), holds))
}

fn variable_name(expression: &Expr) -> Result<Arc<str>, Problem> {
    as_plain_name(expression).ok_or_else(|| Problem::new(expression.at.clone(), "expected a plain name"))
}

fn walk(
    lowering: &mut Lowering<'_>,
    at: &Range<usize>,
    of: &Expr,
    name: &ExprName,
    arguments: &[Expr],
) -> Option<Lowered> {
    use MacroKind::{All, Entries, Exists, ExistsOne, Filter, List, Map};
    let (goal, variables, has_test) = match (&*name.text, arguments.len()) {
        ("all", 2) => (All, 1, true),
        ("all", 3) => (All, 2, true),
        ("exists", 2) => (Exists, 1, true),
        ("exists", 3) => (Exists, 2, true),
        ("exists_one" | "existsOne", 2) => (ExistsOne, 1, true),
        ("exists_one" | "existsOne", 3) => (ExistsOne, 2, true),
        ("filter", 2) => (Filter, 1, true),
        ("map", 2) => (List, 1, false),
        ("map", 3) => (List, 1, true),
        ("transformList", 3) => (List, 2, false),
        ("transformList", 4) => (List, 2, true),
        ("transformMap", 3) => (Map, 2, false),
        ("transformMap", 4) => (Map, 2, true),
        ("transformMapEntry", 3) => (Entries, 2, false),
        ("transformMapEntry", 4) => (Entries, 2, true),
        ("all" | "exists" | "exists_one" | "existsOne" | "filter" | "map", _) => {
            let problem =
                Problem::new(at.clone(), format!("`{}` does not take {} arguments", name.text, arguments.len()));
            return Some(Err(problem.with_help(format!("write `list.{}(x, …)`", name.text))));
        }
        _ => return None,
    };
    let (names, rest) = arguments.split_at(variables);
    Some(lower_walk(lowering, of, goal, names, rest, has_test))
}

fn lower_walk(
    lowering: &mut Lowering<'_>,
    of: &Expr,
    goal: MacroKind,
    names: &[Expr],
    rest: &[Expr],
    has_test: bool,
) -> Lowered {
    let (over, holds) = lowering.lower(of)?;
    let (key, member) = match holds {
        CelType::List(member) => (CelType::Integer, *member),
        CelType::Map(key, value) => (*key, *value),
        CelType::Any => (CelType::Any, CelType::Any),
        other => {
            return Err(Problem::new(
                of.at.clone(),
                format!("only lists and maps have members, and this is {}", with_article(&other)),
            ));
        }
    };
    let is_map = matches!(over.what, ExprNode::Map(_)) || !matches!(key, CelType::Integer | CelType::Any);
    let names: Vec<Arc<str>> = names.iter().map(variable_name).collect::<Result<_, _>>()?;
    let before = lowering.locals.len();
    match names.as_slice() {
        [one] => {
            // With one variable, a macro over a map uses the keys.
            let holds = if is_map {
                key.clone()
            } else if key == CelType::Any {
                CelType::Any
            } else {
                member.clone()
            };
            lowering.locals.push((one.clone(), holds));
        }
        [first, second] => {
            if first == second {
                lowering.locals.truncate(before);
                return Err(Problem::new(of.at.clone(), format!("both variables have the name `{first}`")));
            }
            lowering.locals.push((first.clone(), key.clone()));
            lowering.locals.push((second.clone(), member.clone()));
        }
        _ => {}
    }
    let result = members(lowering, goal, rest, has_test, &key, &member);
    lowering.locals.truncate(before);
    let (test, gives, holds) = result?;
    let walk = MacroWalk { goal, over, is_keyed: names.len() == 2, test, gives };
    Ok((ExprNode::Walk(Box::new(walk)), holds))
}

type Members = (Option<ProgramNode>, Option<ProgramNode>, CelType);

fn members(
    lowering: &mut Lowering<'_>,
    goal: MacroKind,
    rest: &[Expr],
    has_test: bool,
    key: &CelType,
    member: &CelType,
) -> Result<Members, Problem> {
    let test = match rest.first() {
        Some(test) if has_test => Some(lowering.expect(test, &CelType::Flag, "the condition")?),
        _ => None,
    };
    let gives = match rest.get(usize::from(has_test)) {
        Some(gives) => Some(lowering.lower(gives)?),
        None => None,
    };
    let made = gives.as_ref().map_or(CelType::Any, |(_, holds)| holds.clone());
    let holds = match goal {
        MacroKind::All | MacroKind::Exists | MacroKind::ExistsOne => CelType::Flag,
        MacroKind::Filter if *key == CelType::Integer => CelType::list(member.clone()),
        MacroKind::Filter => CelType::list(key.clone()),
        MacroKind::List => CelType::list(made),
        MacroKind::Map => CelType::map(key.clone(), made),
        MacroKind::Entries => match made {
            CelType::Map(..) | CelType::Any => made,
            other => {
                let at = rest.last().map_or(0..0, |last| last.at.clone());
                return Err(Problem::new(
                    at,
                    format!("expected a map with one entry, and this is {}", with_article(&other)),
                ));
            }
        },
    };
    Ok((test, gives.map(|(node, _)| node), holds))
}
