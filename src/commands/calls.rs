//! Converts calls in Python programs that create machines to manifests for the Kubernetes front end.
//!
//! `Estimator(instance_type="ml.p5.48xlarge", instance_count=2)` becomes an object with the literal arguments of the
//! call. `called.toml` has a kind for each function. No program is run: a name counts if the file gives it one literal
//! value, and any other expression is unknown. A call whose machine is unknown is left out.
//!
//! Follows the lexical structure of Python 3.14. Only calls with keywords count.

use std::collections::BTreeMap;

use crate::languages::yaml::quoted;
use crate::source::{FileId, SourceFiles, Span, lines_with_offsets};

use super::{ObjectWriter, is_variable};

/// A function that creates machines, from a definition of a kind.
pub(crate) struct CallForm<'f> {
    pub(crate) kind: &'f str,
    pub(crate) group: &'f str,
    /// The last parts of the names of its functions: `deploy` for `model.deploy(…)`.
    pub(crate) functions: &'f [String],
    /// Arguments that name a machine. The call must set one of them to a known value.
    pub(crate) needs: &'f [String],
    /// The argument with the name of the machines.
    pub(crate) name: &'f str,
}

/// The limits on the length of an argument, on nesting, and on calls of a file.
const LONGEST: usize = 16 << 10;
const DEEPEST: usize = 12;
const MOST_CALLS: usize = 200;
/// The value of an expression that only a run determines.
const UNKNOWN: &str = "\"$EXPRESSION\"";

/// Returns the objects of a program as a derived file; `None` if there are none.
pub(crate) fn read(sources: &SourceFiles, path: &str, forms: &[CallForm<'_>]) -> Option<FileId> {
    let file = sources.open(path).ok()?;
    let text = sources.text(file);
    let (constants, region) = (constants(&text), region(&text));
    let mut writer = ObjectWriter::default();
    for form in forms {
        for function in form.functions {
            for start in calls_of(&text, function).take(MOST_CALLS) {
                let open = start + function.len() + 1;
                let mut parser = Parser { text: &text, at: open, constants: &constants };
                let Some(arguments) = parser.arguments() else { continue };
                let is_known = |need: &String| arguments.get(need).is_some_and(|it| !it.contains('$'));
                if !form.needs.iter().any(is_known) {
                    continue;
                }
                let name = arguments.get(form.name).map(|it| it.trim_matches('"')).filter(|it| !it.contains('$'));
                let mut spec: Vec<(String, String)> = Vec::new();
                spec.extend(copies(&text, start, parser.at).map(|copies| ("copies".to_owned(), copies.to_owned())));
                spec.extend(region.map(|region| ("program-region".to_owned(), quoted(region))));
                spec.extend(arguments.iter().map(|(name, value)| (name.clone(), value.clone())));
                let name = name.map(str::to_owned);
                writer.add(path, form.kind, form.group, name.as_deref(), &spec, Span::new(file, start, parser.at));
            }
        }
    }
    writer.finish(sources, path)
}

/// Returns the places where a program calls a function of this name, outside of comments.
fn calls_of<'t>(text: &'t str, function: &str) -> impl Iterator<Item = usize> + 't {
    let call = format!("{function}(");
    let places: Vec<usize> = text.match_indices(&call).map(|(at, _)| at).collect();
    places.into_iter().filter(|at| {
        let before = text.get(..*at).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let is_word = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let defines = ["def ", "class "].iter().any(|word| line.trim_start().starts_with(word));
        let is_text = line.matches('"').count() % 2 == 1 || line.matches('\'').count() % 2 == 1;
        !is_word && !defines && !line.contains('#') && !is_text
    })
}

/// Returns the names to which a program assigns one literal string or number, and no other value.
fn constants(text: &str) -> BTreeMap<&str, Option<String>> {
    let none = BTreeMap::new();
    let mut constants: BTreeMap<&str, Option<String>> = BTreeMap::new();
    for (_, line) in lines_with_offsets(text) {
        let Some((name, value)) = line.split_once('=').filter(|(_, value)| !value.starts_with('=')) else { continue };
        let name = name.split(':').next().unwrap_or_default().trim();
        if !is_variable(name) {
            continue;
        }
        let value = value.split(" #").next().unwrap_or_default().trim();
        let mut parser = Parser { text: value, at: 0, constants: &none };
        let literal = parser.value(0).filter(|it| parser.at == value.len() && !it.contains('$'));
        let is_new = !constants.contains_key(name);
        constants.insert(name, literal.filter(|_| is_new));
    }
    constants
}

/// Returns how often a program makes a call, as a range; `None` if a loop or a function decides it.
fn copies(text: &str, start: usize, end: usize) -> Option<&'static str> {
    let rest = text.get(end..).unwrap_or_default().lines().next().unwrap_or_default();
    if rest.contains(" for ") {
        return None;
    }
    let indent = |line: &str| line.len() - line.trim_start().len();
    let before = text.get(..start).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    let mut inner = indent(&format!("{line}x"));
    let mut copies = "1..1";
    for line in before.lines().rev().skip(1).filter(|line| !line.trim().is_empty()) {
        if indent(line) >= inner {
            continue;
        }
        inner = indent(line);
        let first = line.trim_start();
        let is = |words: &[&str]| words.iter().any(|word| first.starts_with(word));
        if is(&["for ", "while ", "async for "]) {
            return None;
        }
        if is(&["if ", "elif ", "else:", "except", "case "]) && !first.contains("__name__") {
            copies = "0..1";
        }
    }
    Some(copies)
}

/// Returns the only region that a program names.
fn region(text: &str) -> Option<&str> {
    let named = ["region_name=\"", "region_name='", "location=\"", "location='"].iter().flat_map(|mark| {
        let values = text.split(mark).skip(1);
        values.filter_map(|rest| rest.split(['"', '\'']).next())
    });
    let mut regions: Vec<&str> = named.collect();
    regions.sort_unstable();
    regions.dedup();
    let [region] = regions.as_slice() else { return None };
    let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '-';
    Some(*region).filter(|it| it.chars().all(is_plain))
}

/// Reads arguments and literals, and writes them as YAML.
struct Parser<'t> {
    text: &'t str,
    at: usize,
    constants: &'t BTreeMap<&'t str, Option<String>>,
}

impl<'t> Parser<'t> {
    /// Returns the keyword arguments after an opening bracket; `None` if the bracket does not close.
    fn arguments(&mut self) -> Option<BTreeMap<String, String>> {
        let mut arguments = BTreeMap::new();
        loop {
            self.space();
            if self.take(")") {
                return Some(arguments);
            }
            let start = self.at;
            let name = self.name();
            self.space();
            let is_keyword = !name.is_empty() && self.rest().starts_with('=') && !self.rest().starts_with("==");
            if is_keyword {
                self.at += 1;
                let value = self.whole_value(0)?;
                arguments.insert(name.to_owned(), value);
            } else {
                self.at = start;
                self.whole_value(0)?;
            }
            self.space();
            if !self.take(",") && !self.rest().starts_with(')') {
                return None;
            }
        }
    }

    /// Returns a value up to the next comma or closing bracket.
    fn whole_value(&mut self, depth: usize) -> Option<String> {
        let start = self.at;
        let value = self.value(depth);
        self.space();
        let is_end = |rest: &str| rest.starts_with([',', ')', ']', '}']);
        match value {
            Some(value) if is_end(self.rest()) => Some(value),
            _ => {
                self.at = start;
                self.skip()?;
                Some(UNKNOWN.to_owned())
            }
        }
    }

    fn value(&mut self, depth: usize) -> Option<String> {
        self.space();
        let first = self.rest().chars().next().filter(|_| depth < DEEPEST)?;
        match first {
            '"' | '\'' => self.string().map(quoted),
            '[' | '(' => {
                self.at += 1;
                let close = if first == '[' { "]" } else { ")" };
                let mut items = Vec::new();
                loop {
                    self.space();
                    if self.take(close) {
                        return Some(format!("[{}]", items.join(", ")));
                    }
                    items.push(self.whole_value(depth + 1)?);
                    self.space();
                    if !self.take(",") && !self.rest().starts_with(close) {
                        return None;
                    }
                }
            }
            '{' => self.mapping(depth),
            c if c.is_ascii_digit() => {
                let length = self.rest().bytes().take_while(|it| it.is_ascii_digit() || b"_.".contains(it)).count();
                let digits = self.rest().get(..length)?.replace('_', "");
                self.at += length;
                Some(digits)
            }
            _ => match self.name() {
                "True" => Some("true".to_owned()),
                "False" => Some("false".to_owned()),
                "None" => Some("null".to_owned()),
                name => self.constants.get(name)?.clone(),
            },
        }
    }

    fn mapping(&mut self, depth: usize) -> Option<String> {
        self.at += 1;
        let mut entries = Vec::new();
        loop {
            self.space();
            if self.take("}") {
                return Some(format!("{{{}}}", entries.join(", ")));
            }
            let key = self.string()?;
            self.space();
            if !self.take(":") {
                return None;
            }
            let value = self.whole_value(depth + 1)?;
            entries.push(format!("{}: {value}", quoted(key)));
            self.space();
            if !self.take(",") && !self.rest().starts_with('}') {
                return None;
            }
        }
    }

    /// Returns a string literal on one line without escapes.
    fn string(&mut self) -> Option<&'t str> {
        let quote = self.rest().chars().next().filter(|it| "\"'".contains(*it))?;
        let rest = self.text.get(self.at + 1..)?;
        let end = rest.find(quote)?;
        let string = rest.get(..end).filter(|it| !it.contains(['\\', '\n', '$']))?;
        self.at += end + 2;
        (!self.rest().starts_with(quote)).then_some(string)
    }

    fn name(&mut self) -> &'t str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length = rest.bytes().take_while(|it| it.is_ascii_alphanumeric() || *it == b'_').count();
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    /// Skips an expression; `None` if it does not end or is too long.
    fn skip(&mut self) -> Option<()> {
        let (start, mut depth) = (self.at, 0_usize);
        loop {
            let c = self.rest().chars().next().filter(|_| self.at - start < LONGEST)?;
            match c {
                '"' | '\'' => {
                    let rest = self.text.get(self.at + 1..)?;
                    self.at += rest.find(c)? + 2;
                    continue;
                }
                ',' | ')' | ']' | '}' if depth == 0 => return Some(()),
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth -= 1,
                _ => {}
            }
            self.at += c.len_utf8();
        }
    }

    /// Skips blanks, ends of lines and comments.
    fn space(&mut self) {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start().len();
            let comment =
                rest.get(blank..).filter(|it| it.starts_with('#')).map(|it| it.find('\n').unwrap_or(it.len()));
            self.at += blank + comment.unwrap_or_default();
            if comment.is_none() {
                return;
            }
        }
    }

    fn take(&mut self, word: &str) -> bool {
        let is_next = self.rest().starts_with(word);
        self.at += if is_next { word.len() } else { 0 };
        is_next
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::MemoryTree;

    fn spec(program: &str) -> Option<String> {
        let sources = SourceFiles::new(MemoryTree::new().with("a.py", program));
        let (functions, needs) = (["Job".to_owned()], ["kind".to_owned()]);
        let form = CallForm { kind: "J", group: "a", functions: &functions, needs: &needs, name: "" };
        let found = read(&sources, "a.py", &[form])?;
        let text = sources.text(found);
        let lines = text.lines().filter(|line| line.starts_with("  ")).map(str::trim);
        Some(lines.collect::<Vec<_>>().join("; "))
    }

    #[test]
    fn literal_arguments_are_read() {
        for (program, expected) in [
            ("Job(kind=\"x\", n=2)", "copies: 1..1; kind: \"x\"; n: 2"),
            (
                "K = 'x'\na.b.Job(\n  role,  # (\n  kind=K,\n  n=len([1, 2]),\n)",
                "copies: 1..1; kind: \"x\"; n: \"$EXPRESSION\"",
            ),
            ("for i in x:\n    Job(kind=\"x\")", "kind: \"x\""),
            ("if x:\n    Job(kind=\"x\")", "copies: 0..1; kind: \"x\""),
            ("if __name__ == \"__main__\":\n    Job(kind=\"x\")", "copies: 1..1; kind: \"x\""),
            ("a = [Job(kind=\"x\") for i in y]", "kind: \"x\""),
            (
                "Job(kind=\"x\", s=[{\"a\": 1, 'b': f(\")\")}])",
                "copies: 1..1; kind: \"x\"; s: [{\"a\": 1, \"b\": \"$EXPRESSION\"}]",
            ),
            (
                "C(region_name='us-east-2')\nJob(kind=\"x\", spot=True)",
                "copies: 1..1; program-region: \"us-east-2\"; kind: \"x\"; spot: true",
            ),
        ] {
            assert_eq!(spec(program).as_deref(), Some(expected), "{program}");
        }
        for program in [
            "Job(kind=k)",
            "k = 'x'\nk = 'y'\nJob(kind=k)",
            "Job(kind=f\"x\")",
            "Job(kind=\"x\" + y)",
            "# Job(kind=\"x\")",
            "\"Job(kind='x')\"",
            "def Job(kind=\"x\"): pass",
            "MyJob(kind=\"x\")",
            "Job(kind=\"x\"",
        ] {
            assert_eq!(spec(program), None, "{program}");
        }
    }

    #[test]
    fn hostile_programs_end() {
        for part in ["(", "[", "{", "\"", "{\"a\":", "a=", ",", "#", "é"] {
            spec(&format!("Job(kind={}", part.repeat(3000)));
            spec(&format!("Job({}", part.repeat(3000)));
        }
    }
}
