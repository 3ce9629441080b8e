//! The conditions of `schema/targets`: paths into an object, comparisons, and what a statement forbids.

use crate::languages::yaml::{Node, NodeData};

use super::object::is_unknown;

/// A path of keys. A `*` in a key matches any characters.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TargetPath(Vec<String>);

/// The values at a path.
#[derive(Debug, Default)]
pub(super) struct ReachedValues<'n> {
    pub(super) values: Vec<&'n Node>,
    /// Whether a value on the way is unknown, so that there may be more values.
    pub(super) is_open: bool,
}

impl ReachedValues<'_> {
    /// Returns whether nothing is at the path; `None` if that is unknown.
    fn is_absent(&self) -> Option<bool> {
        match (self.values.is_empty(), self.is_open) {
            (true, true) => None,
            (empty, _) => Some(empty),
        }
    }

    /// Returns true if something is at the path, or may be.
    pub(super) fn may_exist(&self) -> bool {
        self.is_absent() != Some(true)
    }

    pub(super) fn surely_exists(&self) -> bool {
        !self.values.is_empty()
    }
}

impl TargetPath {
    /// Parses `a.b[].c`, in which `["x.y"]` is one key.
    pub(super) fn parse(text: &str) -> Option<TargetPath> {
        let mut keys = Vec::new();
        let text = text.replace("[]", "");
        let mut rest = text.trim();
        while !rest.is_empty() {
            rest = rest.strip_prefix('.').unwrap_or(rest);
            if let Some(quoted) = rest.strip_prefix("[\"") {
                let (key, after) = quoted.split_once("\"]")?;
                keys.push(key.to_owned());
                rest = after;
                continue;
            }
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let (key, after) = rest.split_at(end);
            if key.is_empty() || key.contains(|c: char| !(c.is_ascii_alphanumeric() || "_/@*-".contains(c))) {
                return None;
            }
            keys.push(key.to_owned());
            rest = after;
        }
        (!keys.is_empty()).then_some(TargetPath(keys))
    }

    pub(super) fn reach<'n>(&self, root: &'n Node) -> ReachedValues<'n> {
        let mut here = vec![root];
        let mut is_open = false;
        for key in &self.0 {
            let mut inner = Vec::new();
            let all = here.iter().flat_map(|node| match &node.data {
                NodeData::List(items) => items.iter().collect(),
                _ => vec![*node],
            });
            for node in all {
                is_open |= is_unknown(node);
                let entries = node.entries().iter().filter(|entry| matches(&entry.key, key));
                inner.extend(entries.map(|entry| &entry.value).filter(|value| !value.is_null()));
            }
            here = inner;
        }
        let is_list = !here.is_empty() && here.iter().all(|node| matches!(node.data, NodeData::List(_)));
        let values = if is_list { here.into_iter().flat_map(Node::items).collect() } else { here };
        ReachedValues { values, is_open }
    }
}

impl std::fmt::Display for TargetPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.join("."))
    }
}

/// Compares a key with a pattern of at most one `*`.
fn matches(key: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        Some((start, end)) => key.len() >= start.len() + end.len() && key.starts_with(start) && key.ends_with(end),
        None => key == pattern,
    }
}

/// `A requires B+C`, `A excludes B`, or terms that must not hold together.
#[derive(Debug)]
pub(super) struct TargetCondition {
    terms: Vec<Term>,
    then: Then,
}

#[derive(Debug)]
enum Then {
    Forbidden,
    Requires(Vec<TargetPath>),
    Excludes(Vec<TargetPath>),
}

#[derive(Debug)]
struct Term {
    path: TargetPath,
    test: Test,
}

#[derive(Debug)]
enum Test {
    Exists,
    Missing,
    /// One of the words; `absent` is the word for no value.
    Is(Vec<String>),
    IsNot(Vec<String>),
}

impl TargetCondition {
    /// Parses a statement; `None` for conditions in other languages.
    pub(super) fn parse(text: &str) -> Option<TargetCondition> {
        let paths = |text: &str| text.split('+').map(TargetPath::parse).collect::<Option<Vec<_>>>();
        let (head, then) = match (text.split_once(" requires "), text.split_once(" excludes ")) {
            (Some((head, tail)), _) => (head, Then::Requires(paths(tail)?)),
            (None, Some((head, tail))) => (head, Then::Excludes(paths(tail)?)),
            (None, None) => (text, Then::Forbidden),
        };
        let terms = head.split(" & ").map(Term::parse).collect::<Option<Vec<_>>>()?;
        Some(TargetCondition { terms, then })
    }

    /// Returns whether an object is what the statement forbids. Unknown values never violate it.
    pub(super) fn is_violated(&self, root: &Node) -> bool {
        if !self.holds(root) {
            return false;
        }
        match &self.then {
            Then::Forbidden => true,
            Then::Requires(all) => all.iter().any(|path| !path.reach(root).may_exist()),
            Then::Excludes(all) => all.iter().any(|path| path.reach(root).surely_exists()),
        }
    }

    /// Returns the properties that the terms compare.
    pub(super) fn paths(&self) -> Vec<String> {
        self.terms.iter().map(|term| term.path.to_string()).collect()
    }

    /// Returns whether all terms hold.
    pub(super) fn holds(&self, root: &Node) -> bool {
        self.terms.iter().all(|term| term.holds(root) == Some(true))
    }
}

impl Term {
    fn parse(text: &str) -> Option<Term> {
        let text = text.trim();
        let words = |text: &str| text.trim_matches('"').split('|').map(str::to_owned).collect();
        let (path, test) = match (text.split_once(" == "), text.split_once(" != ")) {
            (Some((path, right)), _) => (path, Test::Is(words(right))),
            (None, Some((path, right))) => (path, Test::IsNot(words(right))),
            (None, None) => match text.strip_prefix('!') {
                Some(path) => (path, Test::Missing),
                None => (text, Test::Exists),
            },
        };
        Some(Term { path: TargetPath::parse(path)?, test })
    }

    fn holds(&self, root: &Node) -> Option<bool> {
        let found = self.path.reach(root);
        match &self.test {
            Test::Exists => found.is_absent().map(|absent| !absent),
            Test::Missing => found.is_absent(),
            Test::Is(words) => is_one_of(&found, words),
            Test::IsNot(words) => is_one_of(&found, words).map(|is| !is),
        }
    }
}

fn is_one_of(found: &ReachedValues<'_>, words: &[String]) -> Option<bool> {
    if found.is_absent()? {
        return Some(words.iter().any(|word| word == "absent"));
    }
    let mut is = false;
    for value in &found.values {
        if is_unknown(value) {
            return None;
        }
        let text = value.text().map_or("", |text| text);
        is |= words.iter().any(|word| word == text);
    }
    Some(is)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::languages::yaml::read_at;
    use crate::source::{MemoryTree, SourceFiles};

    fn violated(condition: &str, object: &str) -> bool {
        let sources = SourceFiles::new(MemoryTree::new().with("object", object));
        let file = sources.open("object").expect("the object is in memory");
        let node = read_at(file, 0, object).expect("the object is YAML");
        TargetCondition::parse(condition).expect("the condition is known").is_violated(&node)
    }

    #[test]
    fn statements_say_what_they_forbid() {
        let spot = "priority == Spot requires eviction_policy";
        assert!(violated(spot, "priority: Spot"));
        assert!(!violated(spot, "{ priority: Spot, eviction_policy: Delete }"));
        assert!(!violated(spot, "priority: Regular"));
        assert!(violated("a.type == absent|BEST_FIT requires a.role", "a: { b: 1 }"));
        assert!(violated("a != Spot excludes b", "{ a: x, b: 1 }"));
        assert!(violated("l[].limits[\"nvidia.com/mig-*\"] & !s", "l: [{ limits: { nvidia.com/mig-1g.5gb: 1 } }]"));
        assert!(TargetCondition::parse("self.all(x, has(x.tags))").is_none());
    }

    #[test]
    fn unknown_values_violate_nothing() {
        let unknown = crate::languages::yaml::HOLE;
        assert!(!violated("a == x", &format!("a: \"{unknown}\"")));
        assert!(!violated("a requires b", &format!("a: \"{unknown}\"\nb: 1")));
        assert!(!violated("a.b == absent", &format!("a: \"{unknown}\"")));
    }
}
