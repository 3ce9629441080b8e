//! Evaluates macros over the members of a list or a map.

use std::sync::Arc;

use super::super::macros::{MacroKind, MacroWalk};
use super::super::map::CelMap;
use super::super::program::ProgramNode;
use super::super::value::{CelValue, UnknownValue};
use super::{Evaluated, Evaluator, exhausted, failed, insert};

impl Evaluator<'_> {
    pub(super) fn walk(&mut self, node: &ProgramNode, walk: &MacroWalk) -> Evaluated {
        let (members, open) = match self.eval(&walk.over)? {
            CelValue::List(items) => (list_members(&items), None),
            CelValue::Map(map) => (map_members(&map, walk.is_keyed), map.open.clone()),
            CelValue::Absent => (Vec::new(), None),
            CelValue::Unknown(unknown) => return Ok(CelValue::Unknown(unknown.derived())),
            other => return Err(failed(node, format!("no matching overload: {} has no members", other.kind()))),
        };
        self.budget.build(members.len() * size_of::<CelValue>()).map_err(|_| exhausted(node))?;
        match walk.goal {
            MacroKind::All => self.quantify(walk, &members, open, false),
            MacroKind::Exists => self.quantify(walk, &members, open, true),
            MacroKind::ExistsOne => self.exactly_one(walk, &members, open),
            _ => self.collect(walk, members, open),
        }
    }

    /// Evaluates a part of a macro for one member.
    fn with_member(&mut self, walk: &MacroWalk, (key, value): &(CelValue, CelValue), part: &ProgramNode) -> Evaluated {
        let before = self.locals.len();
        if walk.is_keyed {
            self.locals.push(key.clone());
        }
        self.locals.push(value.if_there().0.clone());
        let result = self.eval(part);
        self.locals.truncate(before);
        result
    }

    fn quantify(
        &mut self,
        walk: &MacroWalk,
        members: &[(CelValue, CelValue)],
        open: Option<Arc<UnknownValue>>,
        decisive: bool,
    ) -> Evaluated {
        let Some(test) = &walk.test else { return Ok(CelValue::Flag(!decisive)) };
        let complaint =
            |_: &_, value: CelValue| failed(test, format!("no matching overload: {} is not a bool", value.kind()));
        let ask = |run: &mut Self, member: &(CelValue, CelValue)| {
            let answer = run.with_member(walk, member, test)?;
            // A member that may not exist cannot decide the result.
            Ok(match (member.1.if_there().1, &answer) {
                (Some(why), CelValue::Flag(flag)) if *flag == decisive => CelValue::Unknown(why.clone()),
                (Some(why), CelValue::Absent) if !decisive => CelValue::Unknown(why.clone()),
                _ => answer,
            })
        };
        self.decide(members, open, decisive, ask, complaint)
    }

    fn exactly_one(
        &mut self,
        walk: &MacroWalk,
        members: &[(CelValue, CelValue)],
        open: Option<Arc<UnknownValue>>,
    ) -> Evaluated {
        let Some(test) = &walk.test else { return Ok(CelValue::Flag(false)) };
        let mut unknown = open;
        let mut found = 0;
        for member in members {
            match self.with_member(walk, member, test)? {
                CelValue::Flag(true) if member.1.if_there().1.is_some() => {
                    unknown = unknown.or(member.1.if_there().1.cloned());
                }
                CelValue::Flag(flag) => found += usize::from(flag),
                CelValue::Absent => {}
                CelValue::Unknown(why) => unknown = Some(UnknownValue::or_weightier(unknown, why)),
                other => return Err(failed(test, format!("no matching overload: {} is not a bool", other.kind()))),
            }
        }
        Ok(match unknown {
            Some(unknown) if found < 2 => CelValue::Unknown(unknown.derived()),
            _ => CelValue::Flag(found == 1),
        })
    }

    fn collect(
        &mut self,
        walk: &MacroWalk,
        members: Vec<(CelValue, CelValue)>,
        open: Option<Arc<UnknownValue>>,
    ) -> Evaluated {
        if let Some(open) = open {
            return Ok(CelValue::Unknown(open));
        }
        let mut list = Vec::new();
        let mut map = CelMap::default();
        for member in members {
            if let Some(test) = &walk.test {
                match self.with_member(walk, &member, test)? {
                    CelValue::Flag(true) => {}
                    CelValue::Flag(false) | CelValue::Absent => continue,
                    CelValue::Unknown(unknown) => return Ok(CelValue::Unknown(unknown.derived())),
                    other => return Err(failed(test, format!("no matching overload: {} is not a bool", other.kind()))),
                }
            }
            let made = match &walk.gives {
                Some(gives) => self.with_member(walk, &member, gives)?,
                None => member.1.clone(),
            };
            let node = walk.gives.as_ref().unwrap_or(&walk.over);
            let made = match (walk.goal, member.1.if_there().1) {
                (_, None) => made,
                (MacroKind::Map | MacroKind::Entries, Some(why)) => return Ok(CelValue::Unknown(why.clone())),
                (_, Some(why)) => made.perhaps(why.clone()),
            };
            match (walk.goal, made) {
                (MacroKind::Map, made) => insert(node, &mut map, member.0, made)?,
                (MacroKind::Entries, CelValue::Map(made)) => {
                    for (key, value) in made.iter() {
                        insert(node, &mut map, key.clone(), value.clone())?;
                    }
                }
                (MacroKind::Entries, CelValue::Unknown(unknown)) => return Ok(CelValue::Unknown(unknown)),
                (MacroKind::Entries, other) => return Err(failed(node, format!("{} is not a map", other.kind()))),
                (_, made) => list.push(made),
            }
        }
        Ok(match walk.goal {
            MacroKind::Map | MacroKind::Entries => CelValue::Map(Arc::new(map)),
            _ => CelValue::List(list.into()),
        })
    }
}

fn list_members(items: &[CelValue]) -> Vec<(CelValue, CelValue)> {
    items.iter().enumerate().map(|(place, value)| (CelValue::Integer(place as i64), value.clone())).collect()
}

/// With one variable, a macro over a map uses the keys.
fn map_members(map: &CelMap, is_keyed: bool) -> Vec<(CelValue, CelValue)> {
    map.iter().map(|(key, value)| (key.clone(), if is_keyed { value.clone() } else { key.clone() })).collect()
}
