//! The code of one directory: its files merged, overrides applied, blocks by name.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::languages::hcl::syntax::json::parse_json_body;
use crate::languages::hcl::syntax::{Attribute, BlockNode, Body, Parsed, parse_body};
use crate::source::{FileId, Sources, Span};

const MOST_DIAGNOSTICS: usize = 50;

/// One in so many things is declared again: more than a slip.
const MUCH_AGAIN: usize = 5;

/// Who reads the files: in one directory the two may take different ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::terraform) enum Tool {
    /// Reads `.tofu` files too, and `x.tofu` in the place of `x.tf`.
    OpenTofu,
    /// Knows no `.tofu` files.
    Terraform,
}

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
    /// Its text speaks of workspaces.
    pub(in crate::terraform) mentions_workspace: bool,
    /// A file did not parse: what is missing may stand there.
    pub(in crate::terraform) incomplete: bool,
    /// OpenTofu reads other files of it than Terraform does.
    pub(in crate::terraform) has_files_of_one_tool: bool,
    /// Its files declare the same things each for itself: alternatives and snippets of a documentation, which nobody applies
    /// together.
    pub(in crate::terraform) is_of_alternatives: bool,
    /// What is declared again: where it was declared first, and what is wrong with that.
    again: Vec<(Span, Diagnostic)>,
    /// How many things are declared, once or again.
    declared: usize,
}

/// A file of a module.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::terraform) struct ModuleFile {
    /// Without the directory: it says how the file is read.
    pub(in crate::terraform) name: String,
    pub(in crate::terraform) text: FileText,
}

/// Where the text of a file is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::terraform) enum FileText {
    At(String),
    /// Another program writes it before Terraform runs.
    Made(FileId),
}

/// The configuration files of a directory.
pub(in crate::terraform) fn files_of(sources: &Sources, directory: &str) -> Vec<ModuleFile> {
    let entries = sources.tree().list(directory).into_iter();
    let files = entries.filter(|entry| !entry.is_directory && is_configuration(&entry.name));
    let in_directory = |name: String| {
        let path = if directory.is_empty() { name.clone() } else { format!("{directory}/{name}") };
        ModuleFile { name, text: FileText::At(path) }
    };
    files.map(|entry| in_directory(entry.name)).collect()
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

pub(in crate::terraform) fn has_configuration(sources: &Sources, directory: &str) -> bool {
    sources.tree().list(directory).iter().any(|entry| !entry.is_directory && is_configuration(&entry.name))
}

/// Whether Terraform reads a file of this name as configuration.
pub(in crate::terraform) fn is_configuration(name: &str) -> bool {
    let hidden = name.starts_with('.') || name.ends_with('~') || (name.starts_with('#') && name.ends_with('#'));
    !hidden && stem(name).is_some()
}

fn stem(name: &str) -> Option<&str> {
    [".tf", ".tofu", ".tf.json", ".tofu.json"].iter().find_map(|suffix| name.strip_suffix(suffix))
}

/// Whether only OpenTofu reads a file.
fn is_for_opentofu(name: &str) -> bool {
    name.ends_with(".tofu") || name.ends_with(".tofu.json")
}

/// The file that OpenTofu reads in the place of this one, where it is there (opentofu.org/docs/language/files, 2026-11).
fn twin(name: &str) -> Option<String> {
    let plain = name.strip_suffix(".tf").map(|stem| format!("{stem}.tofu"));
    plain.or_else(|| Some(format!("{}.tofu.json", name.strip_suffix(".tf.json")?)))
}

fn is_override(name: &str) -> bool {
    stem(name).is_some_and(|stem| stem == "override" || stem.ends_with("_override"))
}

pub(in crate::terraform) fn has_backend(code: &ModuleCode) -> bool {
    code.others.iter().any(|block| {
        &*block.keyword.text == "terraform"
            && block.body.blocks.iter().any(|inner| matches!(&*inner.keyword.text, "backend" | "cloud"))
    })
}

/// Old modules hand providers on by blocks that say nothing.
pub(in crate::terraform) fn sets_up_provider(code: &ModuleCode) -> bool {
    let says = |name: &str| !matches!(name, "alias" | "version");
    code.providers
        .iter()
        .any(|it| !it.body.blocks.is_empty() || it.body.attributes.iter().any(|attribute| says(&attribute.name.text)))
}

impl ModuleCode {
    /// Reads the files of a directory.
    pub(in crate::terraform) fn read(sources: &Sources, directory: &str, tool: Tool) -> Self {
        Self::of(sources, directory, &files_of(sources, directory), tool)
    }

    /// Reads these files as those of a directory.
    pub(in crate::terraform) fn of(sources: &Sources, directory: &str, files: &[ModuleFile], tool: Tool) -> Self {
        let mut code = ModuleCode { directory: directory.to_owned(), ..Self::default() };
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        let only_tofu = names.iter().all(|name| is_for_opentofu(name));
        code.has_files_of_one_tool = !only_tofu && names.iter().any(|name| is_for_opentofu(name));
        let is_read = |name: &str| match tool {
            Tool::OpenTofu => twin(name).is_none_or(|twin| !names.contains(&twin.as_str())),
            Tool::Terraform => only_tofu || !is_for_opentofu(name),
        };
        let (overrides, plain): (Vec<&ModuleFile>, Vec<&ModuleFile>) =
            files.iter().filter(|file| is_read(&file.name)).partition(|file| is_override(&file.name));
        for file in plain {
            for block in code.read_file(sources, file) {
                code.add(block);
            }
        }
        for file in overrides {
            for block in code.read_file(sources, file) {
                code.override_with(block);
            }
        }
        code.judge_declared_again(sources);
        code.shorten_diagnostics();
        code
    }

    /// Terraform refuses what is declared twice. Where whole files say the same again, and nothing says that the directory is
    /// applied (no backend, no provider that is set up, no lock file), they stand side by side to be read.
    fn judge_declared_again(&mut self, sources: &Sources) {
        let again = std::mem::take(&mut self.again);
        let in_others = again.iter().all(|(first, second)| second.span.is_some_and(|it| it.file != first.file));
        let is_much = again.len() * MUCH_AGAIN >= self.declared;
        let is_locked = || sources.tree().list(&self.directory).iter().any(|it| it.name == ".terraform.lock.hcl");
        self.is_of_alternatives =
            !again.is_empty() && in_others && is_much && !has_backend(self) && !sets_up_provider(self) && !is_locked();
        if !self.is_of_alternatives {
            self.diagnostics.extend(again.into_iter().map(|(_, diagnostic)| diagnostic));
        }
    }

    /// A file of another program that has locals as Terraform has them.
    pub(in crate::terraform) fn of_locals(directory: &str, body: &Body, anywhere: Span) -> Self {
        let mut code = ModuleCode { directory: directory.to_owned(), ..Self::default() };
        code.anywhere = Some(anywhere);
        code.incomplete = body.incomplete;
        body.blocks("locals").for_each(|block| code.add_locals(block.body.clone()));
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

    fn read_file(&mut self, sources: &Sources, ModuleFile { name, text }: &ModuleFile) -> Vec<BlockNode> {
        let opened = match text {
            FileText::At(path) => sources.open(path).map_err(|error| (path, error)),
            FileText::Made(file) => Ok(*file),
        };
        let file = match opened {
            Ok(file) => file,
            Err((path, error)) => {
                let message = format!("{path} cannot be read: {error}");
                self.diagnostics.push(Diagnostic::new(crate::diagnostic::Level::Warning, message, None));
                self.incomplete = true;
                return Vec::new();
            }
        };
        let text = sources.text(file);
        self.files.push(sources.path(file).into());
        self.mentions_workspace |= memchr::memmem::find(text.as_bytes(), b".workspace").is_some();
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
            let mut diagnostic = super::refused(first, &text);
            if more > 0 && diagnostic.unreadable {
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
        let (wanted, named, key) = match &*block.keyword.text {
            "resource" => (2, &mut self.resources, resource_key("", &block)),
            "data" => (2, &mut self.resources, resource_key("data.", &block)),
            "ephemeral" => (2, &mut self.resources, resource_key("ephemeral.", &block)),
            "variable" => (1, &mut self.variables, block.label(0).into()),
            "output" => (1, &mut self.outputs, block.label(0).into()),
            "module" => (1, &mut self.calls, block.label(0).into()),
            "locals" => return self.add_locals(block.body),
            "provider" => return drop(self.providers.add(provider_key(&block), block)),
            _ => return self.others.push(block),
        };
        let first = named.get(&key).map(|first| first.header);
        let result = named.add(key, block).map_err(|twice| (first.unwrap_or(twice.header), twice));
        if labels != wanted {
            let message = format!("a block `{keyword}` has {wanted} labels, this one has {labels}");
            self.diagnostics.push(Diagnostic::unreadable(message, header));
        }
        self.declared += 1;
        if let Err((first, twice)) = result {
            let name: Vec<&str> = twice.labels.iter().map(|label| &*label.text).collect();
            let message = format!("the {} `{}` is declared twice", twice.keyword.text, name.join("."));
            self.again.push((first, Diagnostic::unreadable(message, twice.header)));
        }
    }

    fn add_locals(&mut self, body: Body) {
        for attribute in body.attributes {
            self.declared += 1;
            let (name, span) = (attribute.name.text.clone(), attribute.name.span);
            let first = self.locals.get(&name).map(|first| first.name.span);
            if self.locals.add(name.clone(), attribute).is_err() {
                let message = format!("the local `{name}` is declared twice");
                self.again.push((first.unwrap_or(span), Diagnostic::unreadable(message, span)));
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
        crate::languages::hcl::syntax::HclKind::Text(text) | crate::languages::hcl::syntax::HclKind::Name(text) => {
            Some(text)
        }
        _ => None,
    }
}
