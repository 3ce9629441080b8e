//! Selects the objects of a patch or a replacement: by patterns for names, and by label selectors.

use regex::{Regex, RegexBuilder};

use crate::source::Span;

use super::KustomizeError;
use super::id::{Gvk, Id};
use super::resource::KustomizeResource;
use super::value::ObjectValue;

/// The limit on the size of a pattern, above any real one.
const LARGEST_PATTERN: usize = 1 << 18;
/// Longer names are compiled, so that the limit on patterns applies to them.
const LONGEST_NAME: usize = 1000;

/// `target:` of a patch.
#[derive(Debug)]
pub(super) struct PatchSelector {
    group: Option<NamePattern>,
    version: Option<NamePattern>,
    kind: Option<NamePattern>,
    name: Option<NamePattern>,
    namespace: Option<NamePattern>,
    labels: Vec<Requirement>,
    annotations: Vec<Requirement>,
}

impl PatchSelector {
    pub(super) fn written(value: &ObjectValue) -> Result<PatchSelector, KustomizeError> {
        let pattern = |key: &str| match value.text_at(key) {
            None => Ok(None),
            Some(text) => NamePattern::whole(text, value.get(key).map_or(value.at, |it| it.at)).map(Some),
        };
        let requirements = |key: &str| match value.get(key) {
            None => Ok(Vec::new()),
            Some(written) => Requirement::all(written.raw(), written.at),
        };
        Ok(PatchSelector {
            group: pattern("group")?,
            version: pattern("version")?,
            kind: pattern("kind")?,
            name: pattern("name")?,
            namespace: pattern("namespace")?,
            labels: requirements("labelSelector")?,
            annotations: requirements("annotationSelector")?,
        })
    }

    /// Returns true if it selects a resource by its current or first identity.
    pub(super) fn selects(&self, resource: &KustomizeResource) -> bool {
        let (now, first) = (resource.id(), resource.original_id());
        let either = |pattern: &Option<NamePattern>, a: &str, b: &str| fits(pattern, a) || fits(pattern, b);
        either(&self.namespace, now.effective_namespace(), first.effective_namespace())
            && either(&self.name, &now.name, &first.name)
            && self.fits_kind(&now.gvk)
            && self.fits_labels(resource)
    }

    /// Returns true if it matches an identity.
    pub(super) fn fits_id(&self, id: &Id) -> bool {
        fits(&self.namespace, &id.namespace) && fits(&self.name, &id.name) && self.fits_kind(&id.gvk)
    }

    pub(super) fn fits_labels(&self, resource: &KustomizeResource) -> bool {
        holds(&self.labels, resource, "labels") && holds(&self.annotations, resource, "annotations")
    }

    /// Returns true if it selects by labels or annotations.
    pub(super) fn is_by_labels(&self) -> bool {
        !self.labels.is_empty() || !self.annotations.is_empty()
    }

    /// Returns true if it selects by identity.
    pub(super) fn is_by_id(&self) -> bool {
        [&self.group, &self.version, &self.kind, &self.name, &self.namespace].iter().any(|it| it.is_some())
    }

    fn fits_kind(&self, gvk: &Gvk) -> bool {
        fits(&self.group, &gvk.group) && fits(&self.version, &gvk.version) && fits(&self.kind, &gvk.kind)
    }
}

fn fits(pattern: &Option<NamePattern>, text: &str) -> bool {
    pattern.as_ref().is_none_or(|pattern| pattern.fits(text))
}

/// A pattern that must match the whole string. Most patterns are plain names, which need no regular expression.
#[derive(Debug)]
enum NamePattern {
    Name(String),
    Expression(Regex),
}

impl NamePattern {
    fn whole(text: &str, at: Span) -> Result<NamePattern, KustomizeError> {
        let is_plain = |letter: u8| letter.is_ascii_alphanumeric() || b"-_/.".contains(&letter);
        if text.len() < LONGEST_NAME && text.bytes().all(is_plain) {
            return Ok(NamePattern::Name(text.to_owned()));
        }
        pattern(&format!("^(?:{text})$"), at).map(NamePattern::Expression)
    }

    fn fits(&self, text: &str) -> bool {
        match self {
            // A dot fits any letter, as in a regular expression.
            NamePattern::Name(name) => {
                let mut letters = text.chars();
                let all = name.chars().all(|wanted| {
                    letters.next().is_some_and(|letter| letter == wanted || wanted == '.' && letter != '\n')
                });
                all && letters.next().is_none()
            }
            NamePattern::Expression(pattern) => pattern.is_match(text),
        }
    }
}

pub(super) fn pattern(text: &str, at: Span) -> Result<Regex, KustomizeError> {
    let built = RegexBuilder::new(text).size_limit(LARGEST_PATTERN).build();
    built.map_err(|_| KustomizeError::refused("this is not a pattern that kustomize can read", at))
}

fn holds(requirements: &[Requirement], resource: &KustomizeResource, key: &str) -> bool {
    let values = resource.value.at_path(&["metadata", key]);
    requirements.iter().all(|it| it.holds(values.and_then(|values| values.get(&it.key)).map(ObjectValue::raw)))
}

/// One part of a label selector: `a=b`, `a!=b`, `a in (b, c)`, `a`, `!a`.
#[derive(Debug, PartialEq)]
struct Requirement {
    key: String,
    operator: Operator,
}

#[derive(Debug, PartialEq)]
enum Operator {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    Missing,
    Above(i64),
    Below(i64),
}

impl Requirement {
    fn holds(&self, value: Option<&str>) -> bool {
        let among = |values: &[String]| value.is_some_and(|value| values.iter().any(|it| it == value));
        let number = || value.and_then(|value| value.parse::<i64>().ok());
        match &self.operator {
            Operator::In(values) => among(values),
            Operator::NotIn(values) => !among(values),
            Operator::Exists => value.is_some(),
            Operator::Missing => value.is_none(),
            Operator::Above(bound) => number().is_some_and(|it| it > *bound),
            Operator::Below(bound) => number().is_some_and(|it| it < *bound),
        }
    }

    fn all(text: &str, at: Span) -> Result<Vec<Requirement>, KustomizeError> {
        let parts = outside_of_brackets(text).into_iter().map(str::trim).filter(|part| !part.is_empty());
        let wrong = |part: &str| KustomizeError::refused(format!("`{part}` is not part of a label selector"), at);
        parts.map(|part| Requirement::one(part).ok_or_else(|| wrong(part))).collect()
    }

    fn one(part: &str) -> Option<Requirement> {
        let requirement = |key: &str, operator| {
            let key = key.trim();
            (!key.is_empty() && !key.contains(char::is_whitespace)).then(|| Requirement { key: key.into(), operator })
        };
        let one = |value: &str| vec![value.trim().to_owned()];
        if let Some((key, value)) = part.split_once("!=") {
            return requirement(key, Operator::NotIn(one(value)));
        }
        if let Some((key, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
            return requirement(key, Operator::In(one(value)));
        }
        if let Some((key, bound)) = part.split_once('>') {
            return requirement(key, Operator::Above(bound.trim().parse().ok()?));
        }
        if let Some((key, bound)) = part.split_once('<') {
            return requirement(key, Operator::Below(bound.trim().parse().ok()?));
        }
        if let Some((head, list)) = part.strip_suffix(')').and_then(|part| part.split_once('(')) {
            let values = list.split(',').map(|value| value.trim().to_owned()).collect();
            let (key, word) = head.trim().rsplit_once(char::is_whitespace)?;
            return match word {
                "in" => requirement(key, Operator::In(values)),
                "notin" => requirement(key, Operator::NotIn(values)),
                _ => None,
            };
        }
        match part.strip_prefix('!') {
            Some(key) => requirement(key, Operator::Missing),
            None => requirement(part, Operator::Exists),
        }
    }
}

fn outside_of_brackets(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0usize);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(text.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{MemoryTree, SourceFiles};

    #[test]
    fn a_name_fits_what_its_expression_fits() {
        let file = SourceFiles::new(MemoryTree::new().with("a", "")).open("a").unwrap();
        for name in ["", "apps", "a.b", "a/b-c_d", ".", "..", "Deployment"] {
            let read = NamePattern::whole(name, Span::new(file, 0, 0)).unwrap();
            assert!(matches!(read, NamePattern::Name(_)), "{name}");
            let expression = Regex::new(&format!("^(?:{name})$")).unwrap();
            for text in ["", "apps", "app", "appss", "a.b", "axb", "a\nb", "\u{e9}", "\n", "a/b-c_d", "deployment"] {
                assert_eq!(read.fits(text), expression.is_match(text), "{name:?}, {text:?}");
            }
        }
        let read = NamePattern::whole("a.*|b", Span::new(file, 0, 0)).unwrap();
        assert!(matches!(read, NamePattern::Expression(_)) && read.fits("ab") && read.fits("b") && !read.fits("bc"));
    }

    #[test]
    fn label_selectors_are_read_as_kubernetes_reads_them() {
        let file = SourceFiles::new(MemoryTree::new().with("a", "")).open("a").unwrap();
        for (text, value, holds) in [
            ("a=b", Some("b"), true),
            ("a==b", Some("c"), false),
            ("a!=b", None, true),
            ("a in (b, c)", Some("c"), true),
            ("a notin (b,c)", Some("c"), false),
            ("a", None, false),
            ("!a", None, true),
            ("a>3", Some("4"), true),
        ] {
            let all = Requirement::all(text, Span::new(file, 0, 0)).unwrap();
            assert_eq!(all.len(), 1, "{text}");
            assert_eq!(all[0].holds(value), holds, "{text}");
        }
        assert!(Requirement::all("a within (b)", Span::new(file, 0, 0)).is_err());
    }
}
