//! Checks `values.schema.json`: a chart's requirements for its values. Helm installs nothing that violates it.
//!
//! Keywords of JSON Schema that are not supported below, and a `$ref` to another file, are ignored.

use regex_lite::{Regex, RegexBuilder};
use serde_json::{Map as Json, Value as Schema};

use crate::languages::gotemplate::{GoKind, GoValue};

/// The limit on comparisons of a value with a schema, for all values of a chart.
const MOST: usize = 200_000;
/// The limit on nested schemas.
const DEEPEST: usize = 64;
const LONGEST_PATTERN: usize = 1_000;
/// The limit on the size of a pattern, above any real one.
const PATTERN_BYTES: usize = 64 << 10;
/// The cost of compiling a pattern, in comparisons.
const PATTERN_COUNTS: usize = 500;
/// The limit on reported violations per chart.
const TOLD: usize = 3;

/// Returns the violations of a chart's schema, each with the path of the value.
pub(super) fn broken(schema: Option<&str>, values: &GoValue) -> Vec<String> {
    let Some(schema) = schema.and_then(|text| serde_json::from_str::<Schema>(text).ok()) else { return Vec::new() };
    let mut judge = Judge { root: &schema, left: MOST };
    let mut broken = Vec::new();
    judge.judge(&schema, values, "", 0, &mut broken);
    broken.truncate(TOLD);
    broken
}

struct Judge<'s> {
    root: &'s Schema,
    left: usize,
}

impl<'s> Judge<'s> {
    /// Adds the violations at a path and below.
    fn judge(&mut self, schema: &'s Schema, value: &GoValue, path: &str, depth: usize, broken: &mut Vec<String>) {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 || depth > DEEPEST || broken.len() >= TOLD || matches!(value.kind, GoKind::Unknown(_)) {
            return;
        }
        let mut say = |what: String| broken.push(format!("{}: {what}", if path.is_empty() { "/" } else { path }));
        let Schema::Object(words) = schema else {
            if *schema == Schema::Bool(false) {
                say("no value is allowed here".to_owned());
            }
            return;
        };
        if let Some(types) = words.get("type")
            && !texts(types).any(|name| is_of(value, name))
        {
            let names: Vec<&str> = texts(types).collect();
            return say(format!("the type must be {}", names.join(" or ")));
        }
        if let Some(all) = words.get("enum").and_then(Schema::as_array)
            && !all.iter().any(|it| equal(it, value))
        {
            say("the value is not one of the allowed values".to_owned());
        }
        if words.get("const").is_some_and(|it| !equal(it, value)) {
            say("the value is not the only allowed value".to_owned());
        }
        numbers(words, value).into_iter().for_each(&mut say);
        sizes(words, value).into_iter().for_each(&mut say);
        if let (Some(text), Some(pattern)) = (value.as_str(), words.get("pattern").and_then(Schema::as_str))
            && self.pattern(pattern).is_some_and(|it| !it.is_match(text))
        {
            say(format!("the value does not match `{pattern}`"));
        }
        self.several(words, value, path, depth, broken);
        match &value.kind {
            GoKind::Map(map) => {
                let entries: Vec<_> = map.borrow().iter().map(|(key, it)| (key.clone(), it.value.clone())).collect();
                self.fields(words, &entries, path, depth, broken);
            }
            GoKind::List(list) => {
                let tuple = words.get("prefixItems").or(words.get("items")).and_then(Schema::as_array);
                let each = words.get("items").filter(|it| !it.is_array());
                for (place, item) in list.items().iter().enumerate() {
                    if let Some(schema) = tuple.and_then(|it| it.get(place)).or(each) {
                        self.judge(schema, item, &format!("{path}/{place}"), depth + 1, broken);
                    }
                }
            }
            _ => {}
        }
    }

    fn fields(
        &mut self,
        words: &'s Json<String, Schema>,
        entries: &[(std::sync::Arc<str>, GoValue)],
        path: &str,
        depth: usize,
        broken: &mut Vec<String>,
    ) {
        let required = words.get("required").and_then(Schema::as_array).into_iter().flatten();
        for name in required.filter_map(Schema::as_str).filter(|name| !entries.iter().any(|(key, _)| **key == **name)) {
            broken.push(format!("{}: `{name}` is required", if path.is_empty() { "/" } else { path }));
        }
        let known = words.get("properties").and_then(Schema::as_object);
        let patterns = words.get("patternProperties").and_then(Schema::as_object).into_iter().flatten();
        let patterns: Vec<(Regex, &Schema)> =
            patterns.filter_map(|(pattern, schema)| Some((self.pattern(pattern)?, schema))).collect();
        for (key, value) in entries {
            let path = format!("{path}/{key}");
            let mut is_named = false;
            self.left = self.left.saturating_sub(patterns.len());
            if self.left == 0 {
                return;
            }
            if let Some(schema) = known.and_then(|known| known.get(&**key)) {
                is_named = true;
                self.judge(schema, value, &path, depth + 1, broken);
            }
            for (_, schema) in patterns.iter().filter(|(pattern, _)| pattern.is_match(key)) {
                is_named = true;
                self.judge(schema, value, &path, depth + 1, broken);
            }
            match words.get("additionalProperties").filter(|_| !is_named) {
                Some(Schema::Bool(false)) => broken.push(format!("{path}: additional properties are not allowed")),
                Some(schema) => self.judge(schema, value, &path, depth + 1, broken),
                None => {}
            }
        }
    }

    /// Checks `allOf`, `oneOf`, `anyOf` and `not`.
    fn several(
        &mut self,
        words: &'s Json<String, Schema>,
        value: &GoValue,
        path: &str,
        depth: usize,
        broken: &mut Vec<String>,
    ) {
        if let Some(schema) = words.get("$ref").and_then(Schema::as_str).and_then(|it| self.referenced(it)) {
            self.judge(schema, value, path, depth + 1, broken);
        }
        let list = |word: &str| words.get(word).and_then(Schema::as_array).map(Vec::as_slice);
        for schema in list("allOf").unwrap_or_default() {
            self.judge(schema, value, path, depth + 1, broken);
        }
        let at = if path.is_empty() { "/" } else { path };
        if let Some(any) = list("anyOf")
            && !any.iter().any(|schema| self.holds(schema, value, depth))
        {
            broken.push(format!("{at}: the value matches none of the allowed schemas"));
        }
        if let Some(one) = list("oneOf") {
            let fits = one.iter().filter(|schema| self.holds(schema, value, depth)).count();
            // An unknown value matches all alternatives.
            if fits == 0 || fits > 1 && self.is_known(value) {
                broken.push(format!("{at}: the value matches {fits} schemas, and must match exactly one"));
            }
        }
        if words.get("not").is_some_and(|schema| self.holds(schema, value, depth)) && self.is_known(value) {
            broken.push(format!("{at}: the value matches a schema that is not allowed"));
        }
        if let Some(schema) = words.get("if") {
            let then = if self.holds(schema, value, depth) { "then" } else { "else" };
            if let Some(schema) = words.get(then).filter(|_| self.is_known(value)) {
                self.judge(schema, value, path, depth + 1, broken);
            }
        }
    }

    fn holds(&mut self, schema: &'s Schema, value: &GoValue, depth: usize) -> bool {
        let mut broken = Vec::new();
        self.judge(schema, value, "", depth + 1, &mut broken);
        broken.is_empty()
    }

    /// Returns true if no part of it is unknown.
    fn is_known(&mut self, value: &GoValue) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left > 0
            && match &value.kind {
                GoKind::Unknown(_) => false,
                GoKind::List(list) => list.items().iter().all(|item| self.is_known(item)),
                GoKind::Map(map) => map.borrow().values().all(|entry| self.is_known(&entry.value)),
                _ => true,
            }
    }

    /// Compiles a pattern of limited size, and counts its cost.
    fn pattern(&mut self, pattern: &str) -> Option<Regex> {
        self.left = self.left.saturating_sub(PATTERN_COUNTS);
        let is_usual = self.left > 0 && pattern.len() <= LONGEST_PATTERN;
        RegexBuilder::new(pattern).size_limit(PATTERN_BYTES).build().ok().filter(|_| is_usual)
    }

    /// Resolves `#/definitions/resources`.
    fn referenced(&self, reference: &str) -> Option<&'s Schema> {
        self.root.pointer(reference.strip_prefix('#')?)
    }
}

fn texts(schema: &Schema) -> impl Iterator<Item = &str> {
    let one = schema.as_str().into_iter();
    one.chain(schema.as_array().into_iter().flatten().filter_map(Schema::as_str))
}

fn is_of(value: &GoValue, name: &str) -> bool {
    match &value.kind {
        GoKind::Nil | GoKind::NilInside => name == "null",
        GoKind::Flag(_) => name == "boolean",
        GoKind::Int(_) | GoKind::Int64(_) => matches!(name, "integer" | "number"),
        GoKind::Float(number) => name == "number" || name == "integer" && number.fract() == 0.0,
        GoKind::Text(_) => name == "string",
        GoKind::List(_) => name == "array",
        GoKind::Map(_) | GoKind::Object(_) => name == "object",
        GoKind::Unknown(_) => true,
    }
}

fn number(value: &GoValue) -> Option<f64> {
    match value.kind {
        GoKind::Int(number) | GoKind::Int64(number) => Some(number as f64),
        GoKind::Float(number) => Some(number),
        _ => None,
    }
}

fn equal(schema: &Schema, value: &GoValue) -> bool {
    match (schema, &value.kind) {
        (_, GoKind::Unknown(_)) => true,
        (Schema::Null, GoKind::Nil | GoKind::NilInside) => true,
        (Schema::Bool(one), GoKind::Flag(other)) => one == other,
        (Schema::Number(one), _) => one.as_f64().zip(number(value)).is_some_and(|(one, other)| one == other),
        (Schema::String(one), _) => value.as_str() == Some(one),
        (Schema::Array(ones), GoKind::List(others)) => {
            ones.len() == others.items().len() && ones.iter().zip(others.items()).all(|(one, other)| equal(one, other))
        }
        (Schema::Object(ones), GoKind::Map(others)) => {
            let others = others.borrow();
            ones.len() == others.len()
                && ones.iter().all(|(key, one)| others.get(key.as_str()).is_some_and(|other| equal(one, &other.value)))
        }
        _ => false,
    }
}

fn numbers(words: &Json<String, Schema>, value: &GoValue) -> Vec<String> {
    let Some(number) = number(value) else { return Vec::new() };
    let bound = |word: &str| words.get(word).and_then(Schema::as_f64);
    let bounds = [
        bound("minimum").filter(|least| number < *least).map(|least| format!("{number} is below {least}")),
        bound("maximum").filter(|most| number > *most).map(|most| format!("{number} is above {most}")),
        bound("exclusiveMinimum")
            .filter(|least| number <= *least)
            .map(|least| format!("{number} is not above {least}")),
        bound("exclusiveMaximum").filter(|most| number >= *most).map(|most| format!("{number} is not below {most}")),
        bound("multipleOf")
            .filter(|of| *of > 0.0 && (number / of).fract() != 0.0)
            .map(|of| format!("{number} is not a multiple of {of}")),
    ];
    bounds.into_iter().flatten().collect()
}

fn sizes(words: &Json<String, Schema>, value: &GoValue) -> Vec<String> {
    let bound = |word: &str| words.get(word).and_then(Schema::as_u64).map(|size| size as usize);
    let (size, least, most) = match &value.kind {
        GoKind::Text(_) => (value.as_str().unwrap_or_default().chars().count(), "minLength", "maxLength"),
        GoKind::List(list) => (list.items().len(), "minItems", "maxItems"),
        GoKind::Map(map) => (map.borrow().len(), "minProperties", "maxProperties"),
        _ => return Vec::new(),
    };
    let few = bound(least)
        .filter(|least| size < *least)
        .map(|least| format!("its size is {size}, and the minimum is {least}"));
    let many =
        bound(most).filter(|most| size > *most).map(|most| format!("its size is {size}, and the maximum is {most}"));
    few.into_iter().chain(many).collect()
}
