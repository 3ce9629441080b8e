//! Judges an object by the schema of its type. Refused are misplaced properties, wrong kinds and words, missing and conflicting
//! properties, and combinations without effect.

use std::collections::BTreeSet;

use regex::RegexBuilder;

use crate::languages::yaml::{Node, NodeData};

use super::condition::TargetPath;
use super::object::is_unknown;
use super::table::{Property, TypeSchema};

/// The largest compiled pattern. Patterns come from schemas.
const LARGEST_PATTERN: usize = 1 << 20;

/// Returns everything that the type refuses in the object.
pub(super) fn complaints(kind: &TypeSchema, object: &Node) -> BTreeSet<Complaint> {
    let mut judging = Judging { kind, root: object, found: BTreeSet::new() };
    judging.value(object, "");
    for effect in kind.effects.iter().filter(|it| it.condition.is_violated(object)) {
        let text = format!("{}; right: {}", effect.effect, effect.right);
        let about = if effect.is_useless { effect.condition.paths() } else { Vec::new() };
        judging.found.insert(Complaint { text, about });
    }
    judging.found
}

/// A reason for which a type refuses an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Complaint {
    pub(super) text: String,
    /// The properties whose change has no effect.
    about: Vec<String>,
}

impl Complaint {
    /// Returns whether a change of this property is a reason for the complaint.
    pub(super) fn is_about(&self, path: &str) -> bool {
        self.about.iter().any(|it| path == it || path.strip_prefix(it.as_str()).is_some_and(|it| it.starts_with('.')))
    }
}

struct Judging<'a> {
    kind: &'a TypeSchema,
    root: &'a Node,
    found: BTreeSet<Complaint>,
}

impl Judging<'_> {
    fn complain(&mut self, text: String) {
        self.found.insert(Complaint { text, about: Vec::new() });
    }

    fn value(&mut self, value: &Node, path: &str) {
        if is_unknown(value) || value.is_null() {
            return;
        }
        let property = self.kind.properties.iter().find(|it| it.path == path);
        match &value.data {
            NodeData::List(items) => {
                if let Some(property) = property {
                    self.size(property, items.len());
                }
                items.iter().for_each(|item| self.value(item, path));
                return;
            }
            NodeData::Map(entries) => {
                self.members(value, path);
                for entry in entries.iter() {
                    let below = if path.is_empty() { entry.key.to_string() } else { format!("{path}.{}", entry.key) };
                    match self.kind.property(&below) {
                        Some(_) => self.value(&entry.value, &below),
                        None => self.unknown_member(property, path, &below),
                    }
                }
            }
            NodeData::Scalar { .. } => {}
        }
        let Some(property) = property.or_else(|| self.kind.property(path)) else { return };
        self.groups(property, value);
        if !path.is_empty() {
            self.relations(property);
            self.scalar(property, value);
        }
        let broken = property.when.iter().any(|condition| condition.is_violated(self.root));
        if broken && !property.is_required {
            self.complain(format!("a condition of `{}` is broken", shown(path)));
        }
    }

    fn size(&mut self, property: &Property, items: usize) {
        let counted = property.starts_with(&["block", "list", "set"]);
        if let Some(max) = property.max.filter(|max| counted && items as f64 > *max) {
            self.complain(format!("`{}` occurs {items} times, maximum {max}", property.path));
        }
    }

    /// Checks that required properties of an object are there.
    fn members(&mut self, value: &Node, path: &str) {
        let kind = self.kind;
        for (property, name) in kind.below(path).filter(|(property, _)| property.is_required) {
            // Objects with several forms have conditions on their own members.
            let applies = property.when.iter().all(|condition| condition.holds(value));
            if applies && name != "*" && value.get(name).is_none() {
                self.complain(format!("`{}` is missing", property.path));
            }
        }
    }

    fn unknown_member(&mut self, parent: Option<&Property>, path: &str, below: &str) {
        let is_closed = parent.is_some_and(|parent| parent.has_flag("closed") && !parent.is_free());
        if is_closed && self.kind.below(path).next().is_some() {
            self.complain(format!("`{below}` is not a property"));
        }
    }

    fn groups(&mut self, property: &Property, value: &Node) {
        let names = |group: &[TargetPath]| group.iter().map(TargetPath::to_string).collect::<Vec<_>>().join(", ");
        for group in &property.exactly_one {
            let there = group.iter().filter(|path| path.reach(value).may_exist()).count();
            if there != 1 {
                self.complain(format!("`{}` needs exactly one of {}", shown(&property.path), names(group)));
            }
        }
        for group in &property.at_least_one {
            let any = matches!(&group[..], [one] if one.to_string() == "*");
            let there =
                if any { !value.entries().is_empty() } else { group.iter().any(|it| it.reach(value).may_exist()) };
            if !there {
                self.complain(format!("`{}` needs at least one of {}", shown(&property.path), names(group)));
            }
        }
    }

    fn relations(&mut self, property: &Property) {
        if property.is_computed {
            self.complain(format!("`{}` is read-only", property.path));
        }
        let root = self.root;
        for other in property.conflicts.iter().filter(|it| it.reach(root).surely_exists()) {
            self.complain(format!("`{}` conflicts with `{other}`", property.path));
        }
        for other in property.requires.iter().filter(|it| !it.reach(root).may_exist()) {
            self.complain(format!("`{}` requires `{other}`", property.path));
        }
    }

    fn scalar(&mut self, property: &Property, value: &Node) {
        if !self.is_of_kind(property, value) {
            let written = value.text().map_or("a mapping", |text| text);
            self.complain(format!("`{}` is {written}, but must be {}", property.path, property.kind));
            return;
        }
        let Some(text) = value.text() else { return };
        let any_case = property.has_flag("any-case");
        let is_word = |word: &&str| **word == **text || (any_case && word.eq_ignore_ascii_case(text));
        if !property.values.is_empty() && !property.has_flag("open") && !property.values.iter().any(is_word) {
            self.complain(format!("`{}` is {text}, but must be one of {}", property.path, property.values.join(", ")));
        }
        let number = value.number().filter(|_| property.may_be(&["number", "integer"]));
        if number.is_some_and(|n| property.min.is_some_and(|min| n < min) || property.max.is_some_and(|max| n > max)) {
            let range = match (property.min, property.max) {
                (Some(min), Some(max)) => format!("from {min} to {max}"),
                (Some(min), None) => format!("at least {min}"),
                (None, Some(max)) => format!("at most {max}"),
                (None, None) => String::new(),
            };
            self.complain(format!("`{}` is {text}, but must be {range}", property.path));
        }
        let pattern = Some(property.pattern).filter(|it| !it.is_empty() && property.may_be(&["string"]));
        // Patterns in other dialects are skipped.
        let pattern = pattern.and_then(|it| RegexBuilder::new(it).size_limit(LARGEST_PATTERN).build().ok());
        if pattern.is_some_and(|pattern| !pattern.is_match(text)) {
            self.complain(format!("`{}` is {text}, which does not match {}", property.path, property.pattern));
        }
    }

    fn is_of_kind(&self, property: &Property, value: &Node) -> bool {
        let lenient = self.kind.is_lenient;
        let may_be = |kinds: &[&str]| property.may_be(kinds);
        if property.kind.is_empty() || may_be(&["any"]) {
            return true;
        }
        if value.is_map() {
            return property.starts_with(&["map", "object", "block", "pod", "list(object", "set(object", "list(any"]);
        }
        let Some(text) = value.text() else { return true };
        // An item of a list.
        if property.starts_with(&["list", "set"]) {
            return !property.starts_with(&["list(object", "set(object"]);
        }
        if property.starts_with(&["map(", "pod"]) || matches!(property.kind, "object" | "block") {
            return false;
        }
        let is_plain = matches!(&value.data, NodeData::Scalar { plain: true, .. });
        let is_flag = value.flag().is_some() || (lenient && matches!(&**text, "true" | "false"));
        let is_number = value.number().is_some() && (is_plain || lenient);
        match (is_flag && may_be(&["bool", "boolean"]), is_number && may_be(&["number"])) {
            (true, _) | (_, true) => true,
            _ if is_number && may_be(&["integer"]) => value.number().is_some_and(|n| n.fract() == 0.0),
            _ if may_be(&["string"]) => lenient || !is_plain || (value.flag().is_none() && value.number().is_none()),
            _ => false,
        }
    }
}

fn shown(path: &str) -> &str {
    if path.is_empty() { "it" } else { path }
}
