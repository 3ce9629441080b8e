//! Evaluates expressions in template directives that only look up values: `.Values.a.b | default 1 | quote`, `eq
//! .Values.kind "x"`, `and .Values.a (not .Values.b)`. All others are unknown.

use std::collections::HashMap;
use std::sync::Arc;

use crate::languages::yaml::{HoleMeaning, Node, NodeData};

/// The names that are valid at one place of a template.
#[derive(Debug, Clone, Default)]
pub(in crate::kubernetes) struct TemplateScope {
    /// The values of the chart.
    pub values: Option<Node>,
    /// The value of `.` inside `with`; `None` at the top.
    pub dot: Option<Option<Node>>,
    pub variables: HashMap<String, Option<Node>>,
    /// The name and the namespace of the release.
    pub release: [Option<Arc<str>>; 2],
}

const DEEPEST: usize = 16;

/// Evaluates the text of a directive.
pub(in crate::kubernetes) fn evaluate(text: &str, scope: &TemplateScope) -> HoleMeaning {
    let tokens = tokens(text);
    let mut reader = Reader { tokens: &tokens, at: 0, scope };
    let meaning = reader.pipeline(0);
    if reader.at < tokens.len() { HoleMeaning::Unknown } else { meaning }
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Literal(String),
    Open,
    Close,
    Pipe,
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            '(' => (Token::Open, 1),
            ')' => (Token::Close, 1),
            '|' => (Token::Pipe, 1),
            '"' | '`' => {
                let end = rest[1..].find(first).map_or(rest.len(), |at| at + 2);
                let inner = rest.get(1..end.saturating_sub(1)).unwrap_or_default();
                (Token::Literal(inner.to_owned()), end)
            }
            _ => {
                let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '|' | '"' | '`'));
                let end = end.unwrap_or(rest.len()).max(first.len_utf8());
                (Token::Word(rest[..end].to_owned()), end)
            }
        };
        tokens.push(token);
        rest = rest.get(length..).unwrap_or_default().trim_start();
    }
    tokens
}

struct Reader<'a> {
    tokens: &'a [Token],
    at: usize,
    scope: &'a TemplateScope,
}

impl Reader<'_> {
    /// Evaluates `a | f x | g`: each function gets the value before it as its last argument.
    fn pipeline(&mut self, depth: usize) -> HoleMeaning {
        let mut meaning = self.call(None, depth);
        while self.tokens.get(self.at) == Some(&Token::Pipe) {
            self.at += 1;
            meaning = self.call(Some(meaning), depth);
        }
        meaning
    }

    fn call(&mut self, piped: Option<HoleMeaning>, depth: usize) -> HoleMeaning {
        let mut arguments: Vec<HoleMeaning> = Vec::new();
        let mut function: Option<String> = None;
        let mut first = true;
        while let Some(token) = self.tokens.get(self.at).cloned() {
            match token {
                Token::Pipe | Token::Close => break,
                Token::Open => {
                    self.at += 1;
                    let inner = if depth < DEEPEST { self.pipeline(depth + 1) } else { HoleMeaning::Unknown };
                    if self.tokens.get(self.at) != Some(&Token::Close) {
                        return HoleMeaning::Unknown;
                    }
                    self.at += 1;
                    arguments.push(inner);
                }
                Token::Literal(text) => {
                    self.at += 1;
                    arguments.push(HoleMeaning::Text(text.into()));
                }
                Token::Word(word) => {
                    self.at += 1;
                    if first && word.starts_with(|c: char| c.is_ascii_alphabetic()) && !is_constant(&word) {
                        function = Some(word);
                    } else {
                        arguments.push(self.word(&word));
                    }
                }
            }
            first = false;
        }
        arguments.extend(piped);
        match function {
            Some(name) => apply(&name, &arguments),
            None => match <[HoleMeaning; 1]>::try_from(arguments) {
                Ok([only]) => only,
                Err(_) => HoleMeaning::Unknown,
            },
        }
    }

    fn word(&self, word: &str) -> HoleMeaning {
        if is_constant(word) {
            return match word {
                "true" => HoleMeaning::Flag(true),
                "false" => HoleMeaning::Flag(false),
                "nil" => HoleMeaning::Nothing,
                number => HoleMeaning::Text(number.into()),
            };
        }
        if let Some(path) = word.strip_prefix("$.Values").or(word.strip_prefix(".Values")) {
            return look(self.scope.values.as_ref(), path);
        }
        if let Some(key) = word.strip_prefix('$').unwrap_or(word).strip_prefix(".Release.") {
            let place = ["Name", "Namespace"].iter().position(|known| *known == key);
            let known = place.and_then(|place| self.scope.release.get(place)?.clone());
            return known.map_or(HoleMeaning::Unknown, HoleMeaning::Text);
        }
        if let Some(rest) = word.strip_prefix('$') {
            let (name, path) = rest.split_at(rest.find('.').unwrap_or(rest.len()));
            return match self.scope.variables.get(name) {
                Some(Some(node)) => look(Some(node), path),
                _ => HoleMeaning::Unknown,
            };
        }
        match (&self.scope.dot, word.strip_prefix('.')) {
            (Some(Some(node)), Some("")) => HoleMeaning::Node(node.clone()),
            (Some(Some(node)), Some(path)) => look(Some(node), &format!(".{path}")),
            _ => HoleMeaning::Unknown,
        }
    }
}

fn is_constant(word: &str) -> bool {
    matches!(word, "true" | "false" | "nil") || word.parse::<f64>().is_ok()
}

fn look(root: Option<&Node>, path: &str) -> HoleMeaning {
    let Some(root) = root else { return HoleMeaning::Unknown };
    match path.split('.').filter(|key| !key.is_empty()).try_fold(root, |node, key| node.get(key)) {
        Some(node) if node.text().is_none() && matches!(node.data, NodeData::Scalar { .. }) => HoleMeaning::Nothing,
        Some(node) => HoleMeaning::Node(node.clone()),
        None => HoleMeaning::Nothing,
    }
}

fn apply(name: &str, arguments: &[HoleMeaning]) -> HoleMeaning {
    let last = arguments.last().cloned().unwrap_or(HoleMeaning::Unknown);
    let flag = |known: Option<bool>| known.map_or(HoleMeaning::Unknown, HoleMeaning::Flag);
    match name {
        // These functions change only the format of a value.
        "quote" | "squote" | "toString" | "toYaml" | "toJson" | "tpl" | "nindent" | "indent" | "trim" | "int"
        | "int64" | "float64" | "required" | "toRawJson" => match name {
            "tpl" => arguments.first().cloned().unwrap_or(HoleMeaning::Unknown),
            _ => last,
        },
        "default" => match last.holds() {
            Some(true) => last,
            Some(false) => arguments.first().cloned().unwrap_or(HoleMeaning::Unknown),
            None => HoleMeaning::Unknown,
        },
        "coalesce" | "or" => first_that_holds(arguments).unwrap_or(last),
        "and" if arguments.iter().any(|it| it.holds() == Some(false)) => HoleMeaning::Flag(false),
        "and" if arguments.iter().any(|it| it.holds().is_none()) => HoleMeaning::Unknown,
        "and" => last,
        "not" | "empty" => flag(last.holds().map(|holds| !holds)),
        "eq" => flag(is_equal(arguments)),
        "ne" => flag(is_equal(arguments).map(|equal| !equal)),
        "gt" | "ge" | "lt" | "le" => flag(is_in_order(name, arguments)),
        "hasKey" => match arguments {
            [HoleMeaning::Node(node), key] => flag(key.text().map(|key| node.get(&key).is_some())),
            _ => HoleMeaning::Unknown,
        },
        _ => HoleMeaning::Unknown,
    }
}

/// Returns the first value that counts as true; unknown if a value before it is unknown.
fn first_that_holds(arguments: &[HoleMeaning]) -> Option<HoleMeaning> {
    let decided = arguments.iter().find(|it| it.holds() != Some(false))?;
    Some(if decided.holds().is_some() { decided.clone() } else { HoleMeaning::Unknown })
}

/// Returns whether the first value equals one of the others. A missing value equals no string.
fn is_equal(arguments: &[HoleMeaning]) -> Option<bool> {
    let texts: Option<Vec<String>> = arguments.iter().map(HoleMeaning::text).collect();
    let has = |wanted: fn(&HoleMeaning) -> bool| arguments.iter().any(wanted);
    match texts.as_deref() {
        Some([first, rest @ ..]) => Some(rest.contains(first)),
        _ if has(|it| matches!(it, HoleMeaning::Unknown)) => None,
        _ => has(|it| matches!(it, HoleMeaning::Nothing)).then_some(false),
    }
}

fn is_in_order(comparison: &str, arguments: &[HoleMeaning]) -> Option<bool> {
    let numbers: Option<Vec<f64>> = arguments.iter().map(|it| it.text()?.parse().ok()).collect();
    let [a, b] = numbers?[..] else { return None };
    Some(match comparison {
        "gt" => a > b,
        "ge" => a >= b,
        "lt" => a < b,
        _ => a <= b,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::languages::yaml;
    use crate::source::{MemoryTree, SourceFiles};

    fn scope(text: &str) -> TemplateScope {
        let sources = SourceFiles::new(MemoryTree::new().with("values.yaml", text));
        let stream = yaml::read(sources.open("values.yaml").unwrap(), text);
        TemplateScope {
            values: stream.documents.first().map(|document| document.root.clone()),
            ..TemplateScope::default()
        }
    }

    #[test]
    fn expressions_that_look_values_up_are_understood() {
        let scope = scope("a: {b: 3, off: false, name: \"x\", empty: {}}\n");
        for (text, expected) in [
            (".Values.a.b", Some("3")),
            (".Values.a.b | quote", Some("3")),
            ("$.Values.a.name", Some("x")),
            (".Values.a.none | default 7", Some("7")),
            ("default \"y\" .Values.a.none", Some("y")),
            ("toYaml .Values.a.b | nindent 8", Some("3")),
            ("include \"chart.name\" .", None),
            (".Release.Name", None),
            ("printf \"%s\" .Values.a.b", None),
        ] {
            assert_eq!(evaluate(text, &scope).text().as_deref(), expected, "{text}");
        }
        for (text, expected) in [
            (".Values.a.off", Some(false)),
            ("not .Values.a.off", Some(true)),
            (".Values.a.empty", Some(false)),
            ("and .Values.a.b (eq .Values.a.name \"x\")", Some(true)),
            ("or .Values.a.none .Values.a.off", Some(false)),
            ("eq .Values.a.none \"x\"", Some(false)),
            ("gt (int .Values.a.b) 2", Some(true)),
            (".Capabilities.APIVersions.Has \"x\"", None),
            ("and .Values.a.off .Release.Name", Some(false)),
            ("((((", None),
        ] {
            assert_eq!(evaluate(text, &scope).holds(), expected, "{text}");
        }
    }
}
