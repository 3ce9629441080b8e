//! Applies definitions in reverse: finds the places and values to write so that a fact is read as requested.

use std::fmt;

use crate::inventory::{FactValue, Key};

use super::fact::WantedType;
use super::language::{Conditions, FactReading, LabelsAt, RowConstant, Spec};
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
        if let Some(value) = value
            && let Some(by_value) = self.row.write.get(key.name())
            && let Some(all) = by_value.get(&value.to_string())
        {
            return vec![all.0.iter().map(|(path, what)| self.assignment(path, assigned(what))).collect()];
        }
        let spec = self.row.keyed.iter().find(|(known, _)| *known == key).map(|(_, spec)| spec);
        spec.map_or_else(Vec::new, |spec| self.ways_of(spec, WantedType::of(key), value))
    }

    /// Returns the ways to write the minimum number.
    pub(in crate::terraform) fn ways_of_floor(&self, value: &FactValue) -> Vec<Vec<PlannedEdit<'a>>> {
        let counts = self.row.count.0.iter();
        let holds = counts.filter(|count| matches!(self.scope.holds(&count.when), Truth::Yes(_)));
        let speaks = |count: &&super::language::CountReading| !super::count::range(&self.scope, count).is_absent();
        let count = holds.clone().find(speaks);
        count.map_or_else(Vec::new, |count| self.ways_of(&count.min, WantedType::NUMBER, Some(value)))
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
        PlannedEdit { spot: self.spot(path), to }
    }
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
