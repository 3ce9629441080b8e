//! Reads the front matter field by field. It records each mistake and continues.

use std::borrow::Cow;
use std::ops::Range;

use super::expression::{place_in, start_of};
use super::{LooksAt, Named, PageExpression, PageMistake, PointAt, is_name, meant, shifted};
use crate::languages::cel::nearest;
use crate::languages::cel::{self, CelType, ExpressionScope, Program};
use crate::rules::facts;
use crate::rules::names;
use crate::rules::template::MessageTemplate;
use crate::rules::yaml::{PageName, PageNode, PageValue};

/// Every field that a page may have.
const FIELDS: [&str; 26] = [
    "name",
    "group",
    "layer",
    "level",
    "risk",
    "confidence",
    "since",
    "profile",
    "for",
    "each",
    "members",
    "amount",
    "limit",
    "size",
    "params",
    "match",
    "when",
    "at",
    "related",
    "message",
    "saves",
    "help",
    "fix",
    "untested",
    "extends",
    "yields-to",
];

pub(super) struct PageFields<'a> {
    entries: Cow<'static, [(PageName, PageNode)]>,
    taken: Vec<String>,
    text: &'a str,
    front: Range<usize>,
    pub(super) mistakes: Vec<PageMistake>,
    /// The built-in rule and the place of `extends`.
    base: Option<(String, Range<usize>)>,
    /// The names of inherited fields. Their places are in another file, so they are not valid here.
    inherited: Vec<String>,
    /// The inherited condition, if this rule adds one.
    base_when: Option<PageNode>,
    /// True if a test has checked the rule file, so that checks are unnecessary here.
    pub(super) proven: bool,
}

impl<'a> PageFields<'a> {
    pub(super) fn new(node: PageNode, text: &'a str, front: Range<usize>) -> Self {
        let mut fields = PageFields {
            entries: Cow::Borrowed(&[]),
            taken: Vec::new(),
            text,
            front,
            mistakes: Vec::new(),
            base: None,
            inherited: Vec::new(),
            base_when: None,
            proven: false,
        };
        match node.value {
            PageValue::Map(entries) => fields.entries = entries,
            _ => fields.wrong(
                &node.at,
                "the front matter must be a mapping",
                Some("write `name: value` lines".to_owned()),
            ),
        }
        fields
    }

    /// Inherits the fields that the rule does not set.
    pub(super) fn inherit(
        &mut self,
        base: &str,
        at: &Range<usize>,
        entries: Vec<(PageName, PageNode)>,
        merged: &[&str],
    ) {
        self.base = Some((base.to_owned(), at.clone()));
        let all = self.entries.to_mut();
        for (name, mut node) in entries {
            let own = all.iter_mut().find(|(own, _)| own.text == name.text);
            match own.map(|(_, own)| own) {
                None => {
                    // An error in an inherited field is reported at `extends`.
                    node.move_to(at);
                    self.inherited.push(name.text.clone().into_owned());
                    all.push((PageName { at: at.clone(), ..name }, node));
                }
                Some(PageNode { value: PageValue::Map(own), .. }) if merged.contains(&&*name.text) => {
                    let PageValue::Map(more) = node.value else { continue };
                    for (key, mut value) in more.into_owned() {
                        if !own.iter().any(|(known, _)| known.text == key.text) {
                            value.move_to(at);
                            own.to_mut().push((PageName { at: at.clone(), ..key }, value));
                        }
                    }
                }
                Some(_) if name.text == "when" => {
                    node.move_to(at);
                    self.base_when = Some(node);
                }
                Some(_) => {}
            }
        }
    }

    /// Returns the built-in rule that this one extends.
    pub(super) fn extended(&self) -> Option<String> {
        self.base.as_ref().map(|(name, _)| name.clone())
    }

    /// Returns the rule's own condition and that of the rule it extends.
    pub(super) fn conditions(&mut self, scope: &ExpressionScope<'_>) -> Vec<PageExpression> {
        let mut conditions = Vec::new();
        conditions.extend(self.expression("when", scope, Some(&CelType::Flag)));
        if let Some(node) = self.base_when.take() {
            self.inherited.push("when".to_owned());
            conditions.extend(self.compiled("when", node, scope, Some(&CelType::Flag)));
        }
        conditions
    }

    /// Returns the place in the rule file of a part of a field.
    fn place_of(&self, field: &str, at: &Range<usize>, text: &str, part: &Range<usize>) -> Range<usize> {
        if self.inherited.iter().any(|it| it == field) {
            return at.clone();
        }
        let start = place_in(self.text, at, text, part.start);
        start..place_in(self.text, at, text, part.end).max(start)
    }

    pub(super) fn wrong(&mut self, at: &Range<usize>, message: impl Into<String>, help: Option<String>) {
        let at = shifted(at.clone(), self.front.start);
        self.mistakes.push(PageMistake { at, message: message.into(), help });
    }

    /// Converts bytes of the front matter to bytes of the rule file.
    pub(super) fn in_page(&self, at: &Range<usize>) -> Range<usize> {
        shifted(at.clone(), self.front.start)
    }

    pub(super) fn missing(&mut self, field: &str) {
        let start = self.front.start;
        self.mistakes.push(
            PageMistake::new(start..start, format!("the rule file has no `{field}`"))
                .with_help(format!("write `{field}: …`")),
        );
    }

    pub(super) fn has(&self, field: &str) -> bool {
        self.entries.iter().any(|(name, _)| name.text == field)
    }

    pub(super) fn take(&mut self, field: &str) -> Option<PageNode> {
        self.taken.push(field.to_owned());
        self.entries.iter().find(|(name, _)| name.text == field).map(|(_, node)| node.clone())
    }

    /// Refuses unknown fields.
    pub(super) fn refuse_others(&mut self) {
        let others: Vec<PageName> = self
            .entries
            .iter()
            .map(|(name, _)| name)
            .filter(|name| !self.taken.iter().any(|taken| *taken == name.text))
            .cloned()
            .collect();
        for name in others {
            let help = meant(&name, FIELDS);
            self.wrong(&name.at, format!("there is no field `{}`", name.text), help);
        }
    }

    /// Refuses unused parameters. An extended rule may use the parameters that this one sets.
    pub(super) fn refuse_unused_parameters(&mut self) {
        if self.proven || self.base.is_some() {
            return;
        }
        let mut texts = Vec::new();
        let mut params: &[(PageName, PageNode)] = &[];
        for (name, node) in self.entries.iter() {
            match &node.value {
                PageValue::Map(declared) if name.text == "params" => params = declared,
                _ => node.texts(&mut texts),
            }
        }
        let is_used = |name: &PageName| texts.iter().any(|text| names_parameter(text, &name.text));
        let unused: Vec<PageName> = params.iter().map(|(name, _)| name).filter(|it| !is_used(it)).cloned().collect();
        for name in unused {
            let help = format!("use `params.{}` in an expression, or remove the parameter", name.text);
            self.wrong(&name.at, format!("no expression uses the parameter `{}`", name.text), Some(help));
        }
    }

    pub(super) fn text(&mut self, field: &str) -> Option<String> {
        let node = self.take(field)?;
        match node.value {
            PageValue::Text(text) => Some(text.into_owned()),
            PageValue::Integer(n) => Some(n.to_string()),
            PageValue::Number(n) => Some(n.to_string()),
            _ => {
                self.wrong(&node.at, format!("`{field}` must be a string"), None);
                None
            }
        }
    }

    pub(super) fn flag(&mut self, field: &str) -> Option<bool> {
        let node = self.take(field)?;
        match node.value {
            PageValue::Flag(flag) => Some(flag),
            _ => {
                self.wrong(&node.at, format!("`{field}` must be true or false"), None);
                None
            }
        }
    }

    /// Reads a name of lower-case letters and dashes.
    pub(super) fn kebab(&mut self, field: &str) -> Option<String> {
        if !self.has(field) {
            self.missing(field);
        }
        let at = self.place(field);
        let text = self.text(field)?;
        if is_name(&text) {
            return Some(text);
        }
        let help = "write lower-case letters, digits and dashes: on-demand-batch".to_owned();
        self.wrong(&at, format!("`{}` is not a valid {field} of a rule", text.escape_debug()), Some(help));
        None
    }

    pub(super) fn place(&self, field: &str) -> Range<usize> {
        self.entries.iter().find(|(name, _)| name.text == field).map_or(0..0, |(_, node)| node.at.clone())
    }

    /// Reads a value from a closed list. A field without a default is required.
    pub(super) fn choice<T: Copy>(
        &mut self,
        field: &str,
        choices: &[(&'static str, T)],
        default: Option<T>,
    ) -> Option<T> {
        if !self.has(field) {
            self.taken.push(field.to_owned());
            if default.is_none() {
                self.missing(field);
            }
            return default;
        }
        let at = self.place(field);
        let text = self.text(field)?;
        if let Some((_, choice)) = choices.iter().find(|(name, _)| *name == text) {
            return Some(*choice);
        }
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let help = match nearest(&text, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("valid values: {}", names.join(", ")),
        };
        self.wrong(&at, format!("`{field}` cannot be `{}`", text.escape_debug()), Some(help));
        None
    }

    pub(super) fn map(&mut self, field: &str) -> Vec<(PageName, PageNode)> {
        match self.take(field) {
            Some(PageNode { value: PageValue::Map(entries), .. }) => entries.into_owned(),
            Some(PageNode { value: PageValue::Null, .. }) | None => Vec::new(),
            Some(node) => {
                self.wrong(&node.at, format!("`{field}` must be a mapping"), None);
                Vec::new()
            }
        }
    }

    /// Reads a value, or `{ default: value, meaning: text }`.
    pub(super) fn described(&mut self, node: PageNode) -> (String, PageNode) {
        let PageValue::Map(entries) = &node.value else { return (String::new(), node) };
        const KEYS: [&str; 2] = ["default", "meaning"];
        let is_key = |name: &PageName| KEYS.contains(&&*name.text);
        let is_meant = |name: &PageName| nearest(&name.text, KEYS).is_some();
        let mut names = entries.iter().map(|(name, _)| name);
        // Built-in rules have no misspelt keys, so that the slower comparison is not needed.
        if !entries.is_empty() && !names.clone().any(is_key) && !names.any(is_meant) {
            return (String::new(), node);
        }
        let PageValue::Map(entries) = node.value else { return (String::new(), node) };
        let mut meaning = String::new();
        let mut default = PageNode { value: PageValue::Null, at: node.at };
        for (name, node) in entries.into_owned() {
            match (&*name.text, node.value) {
                ("default", value) => default = PageNode { value, at: node.at },
                ("meaning", PageValue::Text(text)) => meaning = text.into_owned(),
                _ => {
                    let help = meant(&name, ["default", "meaning"]);
                    self.wrong(&name.at, format!("a parameter has no `{}`", name.text), help);
                }
            }
        }
        (meaning, default)
    }

    /// Reads a string or a list of strings, each with its place.
    pub(super) fn texts(&mut self, field: &str) -> Vec<(Cow<'static, str>, Range<usize>)> {
        let Some(node) = self.take(field) else { return Vec::new() };
        let nodes = match node.value {
            PageValue::List(items) => items,
            _ => vec![node].into(),
        };
        let mut texts = Vec::new();
        for node in nodes.into_owned() {
            match node.value {
                PageValue::Text(text) => texts.push((text, node.at)),
                _ => self.wrong(&node.at, format!("`{field}` must be a string"), Some("put it in quotes".to_owned())),
            }
        }
        texts
    }

    pub(super) fn expression(
        &mut self,
        field: &str,
        scope: &ExpressionScope<'_>,
        wanted: Option<&CelType>,
    ) -> Option<PageExpression> {
        let node = self.take(field)?;
        self.compiled(field, node, scope, wanted)
    }

    fn compiled(
        &mut self,
        field: &str,
        node: PageNode,
        scope: &ExpressionScope<'_>,
        wanted: Option<&CelType>,
    ) -> Option<PageExpression> {
        let text = match node.value {
            PageValue::Text(text) => text,
            PageValue::Flag(flag) => flag.to_string().into(),
            PageValue::Integer(n) => n.to_string().into(),
            PageValue::Number(n) => n.to_string().into(),
            _ => {
                self.wrong(&node.at, format!("`{field}` must be an expression"), Some("put it in quotes".to_owned()));
                return None;
            }
        };
        let at = shifted(node.at, self.front.start);
        match Program::compile(&text, scope) {
            Ok(program) => {
                let program = if wanted == Some(&CelType::Double) { program.into_number() } else { program };
                let fits = wanted.is_none_or(|wanted| match wanted {
                    CelType::Double => matches!(program.result, CelType::Double | CelType::Integer | CelType::Any),
                    wanted => program.result == *wanted || program.result == CelType::Any,
                });
                if fits {
                    let start = match self.proven {
                        true => start_of(self.text, &at, &text),
                        false => self.place_of(field, &at, &text, &(0..0)).start,
                    };
                    let compares = if self.proven { Vec::new() } else { program.comparisons() }.into_iter();
                    let compares = compares.map(|it| (self.place_of(field, &at, &text, it.place()), it));
                    let compares = compares.map(|(at, it)| (it, at)).collect();
                    self.refuse_arguments(field, &at, &text, &program);
                    let named = if self.proven { Vec::new() } else { self.named(field, &at, &text, &program) };
                    let is_own = !self.inherited.iter().any(|it| it == field);
                    let written = is_own.then(|| (text.into_owned(), at));
                    return Some(PageExpression { program, start, compares, named, written });
                }
                let wanted = if wanted == Some(&CelType::Double) { "a number" } else { "true or false" };
                let message = format!("`{field}` must be {wanted}, and this is {}", program.result);
                self.mistakes.push(PageMistake::new(at, message));
            }
            Err(problem) => {
                let at = self.place_of(field, &at, &text, &problem.at);
                self.mistakes.push(PageMistake { at, message: problem.message, help: problem.help });
            }
        }
        None
    }

    /// Refuses function arguments that are not in their closed list.
    fn refuse_arguments(&mut self, field: &str, at: &Range<usize>, text: &str, program: &Program) {
        for said in &program.said {
            if let Some(unknown) = names::closed(said.to, &said.text) {
                let at = self.place_of(field, at, text, &said.at);
                self.mistakes.push(PageMistake { at, message: unknown.message, help: unknown.help });
            }
        }
    }

    /// Returns the literal names and paths of an expression, with their places in the rule file.
    fn named(&self, field: &str, at: &Range<usize>, text: &str, program: &Program) -> Vec<(Named, Range<usize>)> {
        let place = |part: &Range<usize>| self.place_of(field, at, text, part);
        let said = program.said.iter().map(|said| (Named::Said(said.to, said.text.clone()), place(&said.at)));
        let paths = program.names().into_iter().filter(|names| names.len() > 1);
        let paths = paths.map(|names| {
            let last = names.last().map(|name| &**name).unwrap_or_default();
            let start = text.find(last).unwrap_or_default();
            (Named::Path(names.clone()), place(&(start..start + last.len())))
        });
        said.chain(paths).collect()
    }

    pub(super) fn templates(&mut self, field: &str, scope: &ExpressionScope<'_>) -> Vec<MessageTemplate> {
        let mut templates = Vec::new();
        for (text, at) in self.texts(field) {
            let at = shifted(at, self.front.start);
            match MessageTemplate::parse(&text, scope) {
                Ok(template) => templates.push(template),
                Err(problem) => {
                    let at = self.place_of(field, &at, &text, &problem.at);
                    self.mistakes.push(PageMistake { at, message: problem.message, help: problem.help });
                }
            }
        }
        templates
    }

    /// Reads facts of the rule's scope, and paths in objects and blocks.
    pub(super) fn places(&mut self, field: &str, looks_at: LooksAt) -> Vec<PointAt> {
        let mut found = Vec::new();
        let schema = facts::implied(looks_at).map(|(_, schema)| schema);
        for (text, at) in self.texts(field) {
            let path = match cel::path(&text) {
                Ok(path) => path,
                Err(problem) => {
                    self.wrong(&at, problem.message, problem.help);
                    continue;
                }
            };
            let short = match path.split_first() {
                Some((first, rest)) if &**first == "resource" && !rest.is_empty() => rest,
                _ => &path[..],
            };
            if let (Some(path), true) = (facts::RawPath::of(short), schema.is_some()) {
                found.push(PointAt::Part(path));
                continue;
            }
            let (Some(schema), [name]) = (schema, short) else {
                let whole = short.first().filter(|name| schema.is_some_and(|schema| schema.field(name).is_some()));
                let help = whole.map(|name| format!("a place is that of a whole fact: write `{name}`"));
                self.wrong(&at, format!("there is no fact `{}`", text.escape_debug()), help);
                continue;
            };
            match schema.field(name) {
                Some(place) => found.push(PointAt::Fact(place)),
                None => {
                    let name = PageName { text: name.to_string().into(), at: at.clone() };
                    let help = meant(&name, schema.fields.iter().map(|field| field.name));
                    self.wrong(&at, format!("there is no fact `{}`", name.text), help);
                }
            }
        }
        found
    }

    /// Reads facts of a resource, as indexes in its schema.
    pub(super) fn facts(&mut self, field: &str) -> Vec<usize> {
        let schema = facts::resource_schema();
        let mut found = Vec::new();
        for (text, at) in self.texts(field) {
            let short = text.strip_prefix("resource.").unwrap_or(&text);
            match schema.field(short) {
                Some(place) => found.push(place),
                None => {
                    let name = PageName { text: short.to_owned().into(), at: at.clone() };
                    let help = meant(&name, schema.fields.iter().map(|field| field.name));
                    self.wrong(&at, format!("there is no fact `{short}`"), help);
                }
            }
        }
        found
    }
}

/// Returns true if an expression uses a parameter: `params.most`, `params['most']`, `params["most"]`.
fn names_parameter(text: &str, name: &str) -> bool {
    let goes_on = |behind: &str| behind.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let dotted = format!("params.{name}");
    text.match_indices(&dotted).any(|(at, found)| !goes_on(text.get(at + found.len()..).unwrap_or_default()))
        || ["'", "\""].iter().any(|quote| text.contains(&format!("params[{quote}{name}{quote}]")))
}
