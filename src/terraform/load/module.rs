//! The code of one directory: its files merged, overrides applied, blocks by name.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::source::{Sources, Span};

use crate::terraform::syntax::json::parse_json_body;
use crate::terraform::syntax::{Attribute, BlockNode, Body, Parsed, parse_body};

const MOST_DIAGNOSTICS: usize = 50;

/// A directory of Terraform files.
#[derive(Debug, Default)]
pub(in crate::terraform) struct ModuleCode {
    pub(in crate::terraform) directory: String,
    /// The files that it was read from.
    pub(in crate::terraform) files: Vec<Arc<str>>,
    pub(in crate::terraform) variables: Named<BlockNode>,
    pub(in crate::terraform) locals: Named<Attribute>,
    pub(in crate::terraform) outputs: Named<BlockNode>,
    /// Managed resources and data sources, by `aws_instance.a` and `data.aws_ami.a`.
    pub(in crate::terraform) resources: Named<BlockNode>,
    pub(in crate::terraform) calls: Named<BlockNode>,
    /// By `aws` and `aws.west`.
    pub(in crate::terraform) providers: Named<BlockNode>,
    /// `terraform`, `moved`, `import`, `check` and whatever else there is.
    pub(in crate::terraform) others: Vec<BlockNode>,
    /// Comments that speak to gpulint.
    pub(in crate::terraform) comments: Vec<Span>,
    /// What is wrong with its files.
    pub(in crate::terraform) diagnostics: Vec<Diagnostic>,
    /// A place in it, for messages about the whole.
    pub(in crate::terraform) anywhere: Option<Span>,
    /// A file did not parse: what is missing may stand there.
    pub(in crate::terraform) incomplete: bool,
}

/// Things in the order in which they are written, and by name.
#[derive(Debug)]
pub(in crate::terraform) struct Named<T> {
    list: Vec<T>,
    by_name: HashMap<Arc<str>, usize>,
}

impl<T> Default for Named<T> {
    fn default() -> Self {
        Named { list: Vec::new(), by_name: HashMap::new() }
    }
}

impl<T> Named<T> {
    pub(in crate::terraform) fn get(&self, name: &str) -> Option<&T> {
        self.index(name).and_then(|index| self.list.get(index))
    }

    pub(in crate::terraform) fn index(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    pub(in crate::terraform) fn at(&self, index: usize) -> Option<&T> {
        self.list.get(index)
    }

    pub(in crate::terraform) fn iter(&self) -> impl Iterator<Item = &T> {
        self.list.iter()
    }

    pub(in crate::terraform) fn len(&self) -> usize {
        self.list.len()
    }

    fn get_mut(&mut self, name: &str) -> Option<&mut T> {
        let index = *self.by_name.get(name)?;
        self.list.get_mut(index)
    }

    /// Adds one; gives it back where the name is taken.
    fn add(&mut self, name: Arc<str>, item: T) -> Result<(), T> {
        if self.by_name.contains_key(&name) {
            return Err(item);
        }
        self.by_name.insert(name, self.list.len());
        self.list.push(item);
        Ok(())
    }
}

/// Whether Terraform reads a file of this name as configuration.
pub(in crate::terraform) fn is_configuration(name: &str) -> bool {
    let hidden = name.starts_with('.') || name.ends_with('~') || (name.starts_with('#') && name.ends_with('#'));
    !hidden && stem(name).is_some()
}

fn stem(name: &str) -> Option<&str> {
    [".tf", ".tofu", ".tf.json", ".tofu.json"].iter().find_map(|suffix| name.strip_suffix(suffix))
}

fn is_override(name: &str) -> bool {
    stem(name).is_some_and(|stem| stem == "override" || stem.ends_with("_override"))
}

impl ModuleCode {
    /// Reads the files of a directory.
    pub(in crate::terraform) fn read(sources: &Sources, directory: &str) -> Self {
        let mut code = ModuleCode { directory: directory.to_owned(), ..Self::default() };
        let entries = sources.tree().list(directory);
        let names: Vec<&str> = entries
            .iter()
            .filter(|entry| !entry.is_directory && is_configuration(&entry.name))
            .map(|entry| entry.name.as_str())
            .collect();
        // Beside `x.tf`, `x.tofu` is the same for the other tool.
        let twins = |name: &str| name.contains(".tofu") && names.contains(&name.replace(".tofu", ".tf").as_str());
        let (overrides, plain): (Vec<&str>, Vec<&str>) =
            names.iter().copied().filter(|name| !twins(name)).partition(|name| is_override(name));
        for name in plain {
            for block in code.read_file(sources, name) {
                code.add(block);
            }
        }
        for name in overrides {
            for block in code.read_file(sources, name) {
                code.override_with(block);
            }
        }
        code.shorten_diagnostics();
        code
    }

    /// More than the first few nobody reads.
    fn shorten_diagnostics(&mut self) {
        let left_out = self.diagnostics.len().saturating_sub(MOST_DIAGNOSTICS);
        if let (Some(anywhere), true) = (self.anywhere, left_out > 0) {
            self.diagnostics.truncate(MOST_DIAGNOSTICS);
            let message = format!("{left_out} more messages about the files of this directory are left out");
            self.diagnostics.push(Diagnostic::note(message, anywhere));
        }
    }

    fn read_file(&mut self, sources: &Sources, name: &str) -> Vec<BlockNode> {
        let path = if self.directory.is_empty() { name.to_owned() } else { format!("{}/{name}", self.directory) };
        let file = match sources.open(&path) {
            Ok(file) => file,
            Err(error) => {
                let message = format!("{path} cannot be read: {error}");
                self.diagnostics.push(Diagnostic::new(crate::diagnostic::Level::Warning, message, None));
                self.incomplete = true;
                return Vec::new();
            }
        };
        let text = sources.text(file);
        self.files.push(path.into());
        self.anywhere.get_or_insert(Span::new(file, 0, 0));
        let nesting = sources.limits().nesting;
        let Parsed { mut body, errors, notes, comments } = match name.ends_with(".json") {
            true => parse_json_body(file, &text, nesting),
            false => parse_body(file, &text, nesting),
        };
        let text_of = |span: &Span| text.get(span.range()).unwrap_or_default();
        self.comments.extend(comments.into_iter().filter(|comment| text_of(comment).contains("gpulint")));
        if let Some(first) = errors.first() {
            let more = errors.len() - 1;
            let mut diagnostic = Diagnostic::unreadable(first.message.clone(), first.span);
            if more > 0 {
                let also = if more == 1 { "1 more error".into() } else { format!("{more} more errors") };
                diagnostic = diagnostic.with_note(None, format!("{also} in this file"));
            }
            self.diagnostics.push(diagnostic);
        } else if let Some(attribute) = body.attributes.first() {
            let message = format!("the argument `{}` stands outside of a block", attribute.name.text);
            self.diagnostics.push(Diagnostic::unreadable(message, attribute.name.span));
        }
        self.diagnostics.extend(notes.into_iter().map(|note| Diagnostic::note(note.message, note.span)));
        self.incomplete |= body.incomplete;
        std::mem::take(&mut body.blocks)
    }

    fn add(&mut self, block: BlockNode) {
        let (labels, header) = (block.labels.len(), block.header);
        let keyword = block.keyword.text.clone();
        let (wanted, result) = match &*block.keyword.text {
            "resource" => (2, self.resources.add(resource_key("", &block), block)),
            "data" => (2, self.resources.add(resource_key("data.", &block), block)),
            "ephemeral" => (2, self.resources.add(resource_key("ephemeral.", &block), block)),
            "variable" => (1, self.variables.add(block.label(0).into(), block)),
            "output" => (1, self.outputs.add(block.label(0).into(), block)),
            "module" => (1, self.calls.add(block.label(0).into(), block)),
            "locals" => return self.add_locals(block.body),
            "provider" => return drop(self.providers.add(provider_key(&block), block)),
            _ => return self.others.push(block),
        };
        if labels != wanted {
            let message = format!("a block `{keyword}` has {wanted} labels, this one has {labels}");
            self.diagnostics.push(Diagnostic::unreadable(message, header));
        }
        if let Err(twice) = result {
            let name: Vec<&str> = twice.labels.iter().map(|label| &*label.text).collect();
            let message = format!("the {} `{}` is declared twice", twice.keyword.text, name.join("."));
            self.diagnostics.push(Diagnostic::unreadable(message, twice.header));
        }
    }

    fn add_locals(&mut self, body: Body) {
        for attribute in body.attributes {
            if let Err(twice) = self.locals.add(attribute.name.text.clone(), attribute) {
                let message = format!("the local `{}` is declared twice", twice.name.text);
                self.diagnostics.push(Diagnostic::unreadable(message, twice.name.span));
            }
        }
    }

    /// Merges a block of an override file into the one that it overrides.
    fn override_with(&mut self, block: BlockNode) {
        let name = block.label(0).to_owned();
        let target = match &*block.keyword.text {
            "resource" => self.resources.get_mut(&resource_key("", &block)),
            "data" => self.resources.get_mut(&resource_key("data.", &block)),
            "variable" => self.variables.get_mut(&name),
            "output" => self.outputs.get_mut(&name),
            "module" => self.calls.get_mut(&name),
            "provider" => self.providers.get_mut(&provider_key(&block)),
            "locals" => {
                for attribute in block.body.attributes {
                    match self.locals.get_mut(&attribute.name.text) {
                        Some(local) => *local = attribute,
                        None => drop(self.locals.add(attribute.name.text.clone(), attribute)),
                    }
                }
                return;
            }
            _ => return self.others.push(block),
        };
        match target {
            Some(target) => merge(&mut target.body, block.body),
            None => self.add(block),
        }
    }
}

/// Arguments replace those of the same name, nested blocks all those of the same keyword.
fn merge(base: &mut Body, by: Body) {
    let names: HashSet<&str> = by.attributes.iter().map(|attribute| &*attribute.name.text).collect();
    base.attributes.retain(|attribute| !names.contains(&*attribute.name.text));
    base.attributes.extend(by.attributes);
    let described_now: HashSet<&str> = by.blocks.iter().map(described).collect();
    base.blocks.retain(|block| !described_now.contains(described(block)));
    base.blocks.extend(by.blocks);
}

/// What a nested block describes: `dynamic "x"` makes blocks `x`.
fn described(block: &BlockNode) -> &str {
    if &*block.keyword.text == "dynamic" { block.label(0) } else { &block.keyword.text }
}

fn resource_key(prefix: &str, block: &BlockNode) -> Arc<str> {
    format!("{prefix}{}.{}", block.label(0), block.label(1)).into()
}

fn provider_key(block: &BlockNode) -> Arc<str> {
    match provider_alias(block) {
        Some(alias) => format!("{}.{alias}", block.label(0)).into(),
        None => block.label(0).into(),
    }
}

fn provider_alias(block: &BlockNode) -> Option<&str> {
    match &block.body.attribute("alias")?.expression.kind {
        crate::terraform::syntax::Kind::Text(text) | crate::terraform::syntax::Kind::Name(text) => Some(text),
        _ => None,
    }
}
