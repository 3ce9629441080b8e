//! Applies definitions in reverse: finds the places and values to write so that a fact is read as requested.

use std::fmt;

use crate::inventory::{FactValue, Key, Range};

use super::fact::WantedType;
use super::language::{Assignment, Assignments, Conditions, FactReading, LabelsAt, RowConstant, Spec};
use super::node::{ValueNode, scalar};
use super::scope::Truth;
use super::site::Site;
use super::spot::Spot;
use crate::inventory::row_path::{RowPath, Start};

/// A scalar that a fix writes.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::terraform) enum Literal {
    Text(String),
    Number(String),
    Flag(bool),
    /// An expression, as it is.
    Code(String),
}

/// A place and its new value; `None` removes the value.
#[derive(Debug)]
pub(in crate::terraform) struct PlannedEdit<'a> {
    pub(in crate::terraform) spot: Spot<'a>,
    pub(in crate::terraform) to: Option<Literal>,
    /// The path of the place, unless the place is unclear.
    pub(in crate::terraform) path: Option<RowPath>,
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Literal::Text(text) | Literal::Number(text) | Literal::Code(text) => f.write_str(text),
            Literal::Flag(flag) => write!(f, "{flag}"),
        }
    }
}

impl<'a> Site<'a> {
    /// Returns the ways to write a fact, the best first. Each way is a list of places that are written together.
    pub(in crate::terraform) fn ways(&self, key: Key, value: Option<&FactValue>) -> Vec<Vec<PlannedEdit<'a>>> {
        let spec = self.row.keyed.iter().find(|(known, _)| *known == key).map(|(_, spec)| spec);
        self.ways_with_tables(key.name(), spec, WantedType::of(key), value)
    }

    /// Returns the ways to write the minimum number.
    pub(in crate::terraform) fn ways_of_floor(&self, value: &FactValue) -> Vec<Vec<PlannedEdit<'a>>> {
        self.ways_of_end("minimum", value, |count| &count.min, |range| range.floor)
    }

    /// Returns the ways to write the maximum number, if the definition reads one.
    pub(in crate::terraform) fn ways_of_ceiling(&self, value: &FactValue) -> Vec<Vec<PlannedEdit<'a>>> {
        self.ways_of_end("maximum", value, |count| &count.max, |range| range.ceiling)
    }

    fn ways_of_end(
        &self,
        name: &'static str,
        value: &FactValue,
        spec: impl Fn(&super::language::CountReading) -> &Spec,
        end: impl Fn(&Range) -> f64,
    ) -> Vec<Vec<PlannedEdit<'a>>> {
        let counts = self.row.count.0.iter();
        let holds = counts.filter(|count| matches!(self.scope.holds(&count.when), Truth::Yes(_)));
        let speaks = |count: &&super::language::CountReading| !super::count::range(&self.scope, count).is_absent();
        let count = holds.clone().find(speaks);
        let machines = count.map_or(1.0, |count| self.machines_per_unit(count, &spec, &end));
        // Zero is zero in any unit.
        let written = match value.as_number() {
            Some(number) if machines != 1.0 && number != 0.0 => FactValue::Number(number / machines),
            _ => value.clone(),
        };
        if written.as_number().is_some_and(|number| number.fract() != 0.0) {
            return vec![vec![unclear(format!("its {name} counts {machines} machines at a time"))]];
        }
        self.ways_with_tables(name, count.map(&spec), WantedType::NUMBER, Some(&written))
    }

    /// Returns how many machines one unit of the minimum or maximum is, for example if it applies to each zone.
    fn machines_per_unit(
        &self,
        count: &super::language::CountReading,
        spec: impl Fn(&super::language::CountReading) -> &Spec,
        end: impl Fn(&Range) -> f64,
    ) -> f64 {
        let range = super::count::range(&self.scope, count);
        let machines = range.value().map(end).filter(|it| it.is_finite() && *it > 0.0);
        let number = self.scope.fact(spec(count), WantedType::NUMBER).value().and_then(|it| it.as_number());
        machines.zip(number.filter(|it| *it > 0.0)).map_or(1.0, |(machines, number)| machines / number)
    }

    /// Returns the ways of the places that are read, changed by the tables `refuses` and `write` of the definition.
    fn ways_with_tables(
        &self,
        fact: &str,
        spec: Option<&Spec>,
        wanted: WantedType,
        value: Option<&FactValue>,
    ) -> Vec<Vec<PlannedEdit<'a>>> {
        let read = || spec.map_or_else(Vec::new, |spec| self.ways_of(spec, wanted, value));
        let Some(value) = value else { return read() };
        let text = value.to_string();
        let refused = self.row.refuses.get(fact);
        let refused = refused.into_iter().flat_map(|by_value| by_value.get(&text).into_iter().chain(by_value.get("*")));
        for (reason, conditions) in refused.flatten() {
            match self.scope.holds(conditions) {
                Truth::No => {}
                Truth::Yes(_) => return vec![vec![unclear(reason.clone())]],
                Truth::Unknown { why, .. } => return vec![vec![unclear(format!("it may be refused: {why}"))]],
            }
        }
        let Some(by_value) = self.row.write.get(fact) else { return read() };
        let Some(all) = by_value.get(&text) else {
            let mut ways = read();
            if let Some(beside) = by_value.get("*") {
                ways.iter_mut().filter(|way| !is_linked(way)).for_each(|way| way.extend(self.planned(beside)));
            }
            return ways;
        };
        let speaking = spec.and_then(|spec| spec.0.iter().find(|it| self.alternative_gives(it, wanted)));
        if let Some(path @ RowPath { start: Start::Link(_), .. }) = speaking.and_then(|it| it.at.as_ref()) {
            // The definition of the linked block decides.
            return vec![vec![self.assignment(path, None)]];
        }
        let own = self.planned(all);
        let links = read().into_iter().filter(|way| is_linked(way));
        (!own.is_empty()).then_some(own).into_iter().chain(links).collect()
    }

    /// Returns the changes of a table that are necessary.
    fn planned(&self, all: &Assignments) -> Vec<PlannedEdit<'a>> {
        all.0.iter().filter_map(|(path, what)| self.planned_edit(path, what)).collect()
    }

    fn planned_edit(&self, path: &RowPath, what: &Assignment) -> Option<PlannedEdit<'a>> {
        match self.scope.holds(&what.when) {
            Truth::Yes(_) => {}
            Truth::No => return None,
            Truth::Unknown { why, .. } => return Some(unclear(format!("it depends on an unknown value: {why}"))),
        }
        if let Some(element) = what.add.as_ref().or(what.remove.as_ref()) {
            let spot = self.element_spot(path, element);
            let to = what.add.as_ref().map(|text| Literal::Text(text.clone()));
            let is_done = matches!(&spot, Spot::Element { at, .. } if at.is_some() == to.is_some());
            return (!is_done).then(|| PlannedEdit { spot, to, path: Some(path.clone()) });
        }
        let spot = self.spot(path);
        let is_missing = matches!(spot, Spot::Missing { .. });
        let constant = match what {
            Assignment { default: Some(default), .. } => Some(default).filter(|_| is_missing),
            Assignment { replace: Some(replace), .. } => Some(replace).filter(|_| !is_missing),
            _ => what.to.as_ref(),
        };
        let to = assigned(constant?);
        let is_done = match (&spot, &to) {
            (Spot::Missing { .. }, None) => true,
            (Spot::There(ValueNode::Value(held)), Some(to)) => {
                scalar(&held.value).is_some_and(|it| it == to.to_string())
            }
            _ => false,
        };
        (!is_done).then(|| PlannedEdit { spot, to, path: Some(path.clone()) })
    }

    /// Returns true if the definition reads the fact at the place of an edit. Other edits accompany it.
    pub(in crate::terraform) fn is_own_place(&self, key: Key, edit: &PlannedEdit<'_>) -> bool {
        let spec = self.row.keyed.iter().find(|(known, _)| *known == key).map(|(_, spec)| spec);
        spec.is_some_and(|spec| spec.0.iter().any(|it| it.at.is_some() && it.at == edit.path))
    }

    /// Returns the paths of the labels that it can have, in order of preference.
    pub(in crate::terraform) fn label_paths(&self) -> Vec<&'static RowPath> {
        let own = |path: &&RowPath| matches!(path.start, Start::Part | Start::Block);
        let paths = self.row.labels.0.iter().map(|at| match at {
            LabelsAt::Map(path) => path,
            LabelsAt::List(list) => &list.list,
        });
        paths.filter(own).collect()
    }

    /// Returns the label maps that it can have, in order of preference.
    pub(in crate::terraform) fn label_maps(&self) -> Vec<Spot<'a>> {
        let maps = self.row.labels.0.iter().filter_map(|at| match at {
            LabelsAt::Map(path) if matches!(path.start, Start::Part | Start::Block) => Some(path),
            _ => None,
        });
        maps.map(|path| self.spot(path)).collect()
    }

    /// Returns a nested block for each of the labels, with its arguments; empty if the type has a map of labels.
    pub(in crate::terraform) fn label_blocks(
        &self,
        labels: &[(String, Literal)],
    ) -> Vec<(String, Vec<(String, Literal)>)> {
        let list = self.row.labels.0.iter().find_map(|at| match at {
            LabelsAt::List(list) if !list.beside.is_empty() => Some(list),
            _ => None,
        });
        let Some(list) = list else { return Vec::new() };
        let beside: Vec<(String, Literal)> =
            list.beside.iter().filter_map(|(name, what)| Some((name.clone(), assigned(what)?))).collect();
        let block = |(key, value): &(String, Literal)| {
            let own = [(list.key.name(), Literal::Text(key.clone())), (list.value.name(), value.clone())];
            (list.list.name(), own.into_iter().chain(beside.iter().cloned()).collect())
        };
        labels.iter().map(block).collect()
    }

    fn ways_of(&self, spec: &Spec, wanted: WantedType, value: Option<&FactValue>) -> Vec<Vec<PlannedEdit<'a>>> {
        let speaking = spec.0.iter().position(|it| self.alternative_gives(it, wanted));
        let speaking_path = speaking.and_then(|at| spec.0.get(at)).and_then(|it| it.at.as_ref());
        let Some(value) = value else {
            let remove = speaking_path.map(|path| vec![self.assignment(path, None)]);
            return remove.into_iter().collect();
        };
        let mut ways: Vec<(bool, &RowPath, Literal)> = Vec::new();
        for (at, alternative) in spec.0.iter().enumerate() {
            let Some(path) = &alternative.at else { continue };
            let in_place = speaking_path == Some(path);
            // True if no earlier alternative would still apply after the fix.
            let heard = in_place || speaking.is_none_or(|speaking| at <= speaking);
            // Conditions on the alternative's own path are true after the fix writes a value there.
            let others = alternative.when.0.iter().filter(|(other, _)| other != path).cloned().collect();
            let holds = in_place || matches!(self.scope.holds(&Conditions(others)), Truth::Yes(_));
            if heard && holds && alternative.because.is_none() {
                ways.extend(inverse(alternative, value, wanted).map(|literal| (in_place, path, literal)));
            }
        }
        if ways.is_empty()
            && let Some(path) = speaking_path
            && is_default(spec, value, wanted)
        {
            // A flag that is false has no value, so the default applies.
            let flag = spec.0.iter().any(|it| it.at.as_ref() == Some(path) && it.map.contains_key("true"));
            return vec![vec![self.assignment(path, flag.then_some(Literal::Flag(false)))]];
        }
        ways.sort_by_key(|(in_place, path, _)| (!in_place, matches!(path.start, Start::Link(_))));
        ways.into_iter().map(|(_, path, literal)| vec![self.assignment(path, Some(literal))]).collect()
    }

    fn alternative_gives(&self, alternative: &FactReading, wanted: WantedType) -> bool {
        alternative.at.is_some() && !self.scope.alternative(alternative, wanted).is_absent()
    }

    fn assignment(&self, path: &RowPath, to: Option<Literal>) -> PlannedEdit<'a> {
        PlannedEdit { spot: self.spot(path), to, path: Some(path.clone()) }
    }
}

fn unclear<'a>(why: String) -> PlannedEdit<'a> {
    PlannedEdit { spot: Spot::Unclear(why), to: None, path: None }
}

/// Returns whether another block, to which a link leads, sets the value.
fn is_linked(way: &[PlannedEdit<'_>]) -> bool {
    matches!(way, [PlannedEdit { spot: Spot::Linked(_), .. }])
}

/// Returns whether the value applies if the configuration sets nothing.
fn is_default(spec: &Spec, value: &FactValue, wanted: WantedType) -> bool {
    let default = spec.0.iter().find_map(|it| it.default.as_ref().or(it.is.as_ref().filter(|_| it.when.0.is_empty())));
    default.and_then(|it| it.value().conform(wanted.value_type)).as_ref() == Some(value)
}

fn assigned(what: &RowConstant) -> Option<Literal> {
    match what {
        RowConstant::Text(text) if text == "absent" => None,
        RowConstant::Text(text) => Some(Literal::Text(text.clone())),
        RowConstant::Integer(n) => Some(Literal::Number(n.to_string())),
        RowConstant::Number(n) => Some(Literal::Number(n.to_string())),
        RowConstant::Flag(flag) => Some(Literal::Flag(*flag)),
    }
}

/// Returns the literal that an alternative reads as this value; `None` if no literal would.
fn inverse(alternative: &FactReading, value: &FactValue, wanted: WantedType) -> Option<Literal> {
    let FactReading { present, length, product, map, pattern, unit, form, times, plus, .. } = alternative;
    if present.is_some() || *length || *product {
        return None;
    }
    // The pattern matches the whole string, such as the end of a path.
    let text = value.to_string();
    if pattern.as_ref().is_some_and(|pattern| pattern.first_group(&text).as_ref() != Some(&text)) {
        return None;
    }
    if !map.is_empty() {
        let means = |meaning: &RowConstant| meaning.value().conform(wanted.value_type).as_ref() == Some(value);
        let (word, _) = map.iter().find(|(word, meaning)| *word != "*" && means(meaning))?;
        return Some(literal(word));
    }
    if unit.is_some() || times.is_some() || plus.is_some() {
        let mut number = value.as_number()?;
        if let Some(unit) = unit {
            number *= wanted.seconds_each / unit.seconds();
        }
        number = (number - plus.unwrap_or(0.0)) / times.unwrap_or(1.0);
        // The provider counts in whole numbers.
        if !number.is_finite() || number.fract() != 0.0 || number.abs() > 1e12 {
            return None;
        }
        let text = format!("{number}");
        return Some(match form {
            Some(form) => Literal::Text(form.replace("{}", &text)),
            None => Literal::Number(text),
        });
    }
    Some(match value {
        FactValue::Text(text) => Literal::Text(text.to_string()),
        FactValue::Flag(flag) => Literal::Flag(*flag),
        FactValue::Integer(n) => Literal::Number(n.to_string()),
        FactValue::Number(n) => Literal::Number(n.to_string()),
        FactValue::List(_) => return None,
    })
}

/// Returns a word of a definition as a scalar.
fn literal(word: &str) -> Literal {
    match word {
        "true" | "false" => Literal::Flag(word == "true"),
        _ if word.parse::<f64>().is_ok() => Literal::Number(word.to_owned()),
        _ => Literal::Text(word.to_owned()),
    }
}
