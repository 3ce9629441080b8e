//! Defines the code of one directory: merged files, with overrides applied and blocks indexed by name.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::languages::hcl::syntax::json::parse_json_body;
use crate::languages::hcl::syntax::{
    Attribute, BlockNode, Body, ParsedFile, TraversalStep, TraversalStepKind, parse_body,
};
use crate::source::{FileId, SourceFiles, Span, file_name, join};
use crate::terraform::address;

const MOST_DIAGNOSTICS: usize = 50;

/// If at least one in this many declarations is a repetition, the repetitions are not typing errors.
const MUCH_AGAIN: usize = 5;
/// Fewer repetitions than this count as a typing error, even in a small directory.
const FEWEST_AGAIN: usize = 2;

/// The tool that reads the files. In one directory, the two tools may read different files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::terraform) enum ModuleTool {
    /// Reads `.tofu` files too, and `x.tofu` instead of `x.tf`.
    OpenTofu,
    /// Ignores `.tofu` files.
    Terraform,
}

/// A directory of Terraform files.
#[derive(Debug, Default)]
pub(in crate::terraform) struct ModuleCode {
    pub(in crate::terraform) directory: String,
    /// The files of the module.
    pub(in crate::terraform) files: Vec<Arc<str>>,
    pub(in crate::terraform) variables: NamedBlocks<BlockNode>,
    pub(in crate::terraform) locals: NamedBlocks<Attribute>,
    pub(in crate::terraform) outputs: NamedBlocks<BlockNode>,
    /// Managed resources and data sources, by `aws_instance.a` and `data.aws_ami.a`.
    pub(in crate::terraform) resources: NamedBlocks<BlockNode>,
    pub(in crate::terraform) calls: NamedBlocks<BlockNode>,
    /// The provider configurations, by `aws` and `aws.west`.
    pub(in crate::terraform) providers: NamedBlocks<BlockNode>,
    /// All other blocks: `terraform`, `moved`, `import`, `check` and more.
    pub(in crate::terraform) others: Vec<BlockNode>,
    /// Comments for gpulint.
    pub(in crate::terraform) comments: Vec<Span>,
    /// The diagnostics of its files.
    pub(in crate::terraform) diagnostics: Vec<Diagnostic>,
    /// A position in the module, for messages about the whole module.
    pub(in crate::terraform) anywhere: Option<Span>,
    /// True if the code refers to workspaces.
    pub(in crate::terraform) mentions_workspace: bool,
    /// True if a file could not be parsed, so missing declarations may be in that file.
    pub(in crate::terraform) incomplete: bool,
    /// True if OpenTofu and Terraform read different files of the directory.
    pub(in crate::terraform) has_files_of_one_tool: bool,
    /// True if its files repeat the same declarations. They are alternatives or documentation snippets that are not
    /// applied together, unless another module calls the directory.
    pub(in crate::terraform) is_of_alternatives: bool,
    /// True if a script selects one of the files with the same declarations, so that the rest of the directory is
    /// applied.
    pub(in crate::terraform) is_picked: bool,
    again: Vec<DeclaredAgain>,
    /// The number of declarations of each name that is declared more than once.
    declarations: HashMap<Arc<str>, usize>,
    /// The number of all declarations, repetitions included.
    declared: usize,
}

/// A declaration that Terraform refuses, because its name is in use.
#[derive(Debug)]
struct DeclaredAgain {
    first: Span,
    second: Span,
    keyword: Arc<str>,
    name: String,
}

impl DeclaredAgain {
    fn errors(&self) -> [Diagnostic; 2] {
        [(self.first, self.second), (self.second, self.first)].map(|(here, there)| {
            let message = format!("the {} `{}` is declared twice", self.keyword, self.name);
            let help = match &*self.keyword {
                "resource" | "module" => {
                    "rename or delete one of the two: Terraform refuses both, and totals count the more expensive one until then"
                }
                _ => "rename or delete one of the two: Terraform refuses both",
            };
            Diagnostic::unreadable(message, here).with_note(Some(there), "also declared here").with_help(help)
        })
    }
}

/// A file of a module.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::terraform) struct ModuleFile {
    /// The file name without the directory. It decides how the file is read.
    pub(in crate::terraform) name: String,
    pub(in crate::terraform) text: FileText,
}

/// The source of a file's text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::terraform) enum FileText {
    At(String),
    /// Another program generates it before Terraform runs.
    Made(FileId),
}

/// Returns the configuration files of a directory.
pub(in crate::terraform) fn files_of(sources: &SourceFiles, directory: &str) -> Vec<ModuleFile> {
    let entries = sources.tree().list(directory).into_iter();
    let files = entries.filter(|entry| !entry.is_directory && is_configuration(&entry.name));
    let in_directory = |name: String| {
        let path = if directory.is_empty() { name.clone() } else { format!("{directory}/{name}") };
        ModuleFile { name, text: FileText::At(path) }
    };
    files.map(|entry| in_directory(entry.name)).collect()
}

/// Items in the order of their declarations, and by name.
#[derive(Debug)]
pub(in crate::terraform) struct NamedBlocks<T> {
    list: Vec<T>,
    by_name: HashMap<Arc<str>, usize>,
    /// Repeated declarations by name. Other blocks may refer to them.
    again: HashMap<Arc<str>, Vec<T>>,
}

impl<T> Default for NamedBlocks<T> {
    fn default() -> Self {
        NamedBlocks { list: Vec::new(), by_name: HashMap::new(), again: HashMap::new() }
    }
}

impl<T> NamedBlocks<T> {
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

    /// Returns the repeated declarations of a name, without the first. Terraform refuses all of them.
    pub(in crate::terraform) fn declared_again(&self, name: &str) -> &[T] {
        self.again.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    fn get_mut(&mut self, name: &str) -> Option<&mut T> {
        let index = *self.by_name.get(name)?;
        self.list.get_mut(index)
    }

    /// Adds an item, or returns it if its name is in use.
    fn add(&mut self, name: Arc<str>, item: T) -> Result<(), T> {
        if self.by_name.contains_key(&name) {
            return Err(item);
        }
        self.by_name.insert(name, self.list.len());
        self.list.push(item);
        Ok(())
    }
}

pub(in crate::terraform) fn has_configuration(sources: &SourceFiles, directory: &str) -> bool {
    sources.tree().list(directory).iter().any(|entry| !entry.is_directory && is_configuration(&entry.name))
}

/// Returns whether Terraform reads a file with this name as configuration.
pub(in crate::terraform) fn is_configuration(name: &str) -> bool {
    let hidden = name.starts_with('.') || name.ends_with('~') || (name.starts_with('#') && name.ends_with('#'));
    !hidden && stem(name).is_some()
}

/// The limit on scripts that are searched for one directory.
const MOST_SCRIPTS: usize = 50;

fn is_script(name: &str) -> bool {
    matches!(name, "Makefile" | "GNUmakefile" | "makefile" | "justfile" | "Justfile" | "Taskfile.yml" | "Taskfile.yaml")
        || [".sh", ".bash", ".mk", ".ps1", ".py"].iter().any(|ending| name.ends_with(ending))
}

/// Returns whether a script names both files, or their common prefix followed by a variable: `backend-$1.tf`.
fn picks_one(text: &str, [first, second]: &[String; 2]) -> bool {
    let same = first.chars().zip(second.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum::<usize>();
    let begins = first.get(..same).unwrap_or_default();
    let fills_in = || ["$", "{"].iter().any(|variable| text.contains(&format!("{begins}{variable}")));
    (text.contains(first.as_str()) && text.contains(second.as_str())) || (same > 1 && fills_in())
}

fn stem(name: &str) -> Option<&str> {
    [".tf", ".tofu", ".tf.json", ".tofu.json"].iter().find_map(|suffix| name.strip_suffix(suffix))
}

/// Returns whether only OpenTofu reads a file.
fn is_for_opentofu(name: &str) -> bool {
    name.ends_with(".tofu") || name.ends_with(".tofu.json")
}

/// Returns the file that OpenTofu reads instead of this one, if it exists (opentofu.org/docs/language/files, 2026-11).
fn twin(name: &str) -> Option<String> {
    let plain = name.strip_suffix(".tf").map(|stem| format!("{stem}.tofu"));
    plain.or_else(|| Some(format!("{}.tofu.json", name.strip_suffix(".tf.json")?)))
}

fn is_override(name: &str) -> bool {
    stem(name).is_some_and(|stem| stem == "override" || stem.ends_with("_override"))
}

/// Returns whether a file with this name exists only in directories that are applied.
fn is_of_run(name: &str) -> bool {
    let values = name.strip_suffix(".json").unwrap_or(name);
    matches!(name, ".terraform.lock.hcl" | "terragrunt.hcl")
        || values == "terraform.tfvars"
        || values.ends_with(".auto.tfvars")
}

pub(in crate::terraform) fn has_backend(code: &ModuleCode) -> bool {
    code.others.iter().any(|block| {
        &*block.keyword.text == "terraform"
            && block.body.blocks.iter().any(|inner| matches!(&*inner.keyword.text, "backend" | "cloud"))
    })
}

/// Returns whether the module configures a provider. Old modules pass providers on with empty blocks, which do not
/// count.
pub(in crate::terraform) fn sets_up_provider(code: &ModuleCode) -> bool {
    code.providers.iter().any(has_attributes)
}

fn has_attributes(provider: &BlockNode) -> bool {
    let says = |name: &str| !matches!(name, "alias" | "version");
    let body = &provider.body;
    !body.blocks.is_empty() || body.attributes.iter().any(|attribute| says(&attribute.name.text))
}

impl ModuleCode {
    /// Reads the files of a directory.
    pub(in crate::terraform) fn read(sources: &SourceFiles, directory: &str, tool: ModuleTool) -> Self {
        Self::of(sources, directory, &files_of(sources, directory), tool)
    }

    /// Reads the given files as the files of a directory.
    pub(in crate::terraform) fn of(
        sources: &SourceFiles,
        directory: &str,
        files: &[ModuleFile],
        tool: ModuleTool,
    ) -> Self {
        let mut code = ModuleCode { directory: directory.to_owned(), ..Self::default() };
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        let only_tofu = names.iter().all(|name| is_for_opentofu(name));
        code.has_files_of_one_tool = !only_tofu && names.iter().any(|name| is_for_opentofu(name));
        let is_read = |name: &str| match tool {
            ModuleTool::OpenTofu => twin(name).is_none_or(|twin| !names.contains(&twin.as_str())),
            ModuleTool::Terraform => only_tofu || !is_for_opentofu(name),
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

    /// Decides whether repeated declarations are errors, because Terraform refuses them. If whole files repeat each
    /// other, they are alternatives of which one is applied. They are errors if something shows that the directory is
    /// applied: a backend, a variable file, a lock file, or a provider that one file configures for all.
    fn judge_declared_again(&mut self, sources: &SourceFiles) {
        let again = &self.again;
        let in_others = again.iter().all(|it| it.first.file != it.second.file);
        let each_has_provider = again.iter().any(|it| &*it.keyword == "provider");
        let is_slip = again.len() < FEWEST_AGAIN && !each_has_provider;
        let is_much = !is_slip && again.len() * MUCH_AGAIN >= self.declared;
        let has_one_provider =
            self.providers.iter().any(|it| has_attributes(it) && !again.iter().any(|again| again.first == it.header));
        let is_applied = || self.is_applied(sources);
        let repeats = is_much && !has_backend(self) && !has_one_provider && !is_applied();
        self.is_picked = in_others && !repeats && self.is_picked_by_script(sources);
        self.is_of_alternatives = (in_others && repeats) || self.is_picked;
        if !self.is_of_alternatives {
            self.diagnostics.extend(self.errors_of_repeats());
        }
    }

    /// Returns whether the directory has files that exist only in applied directories.
    fn is_applied(&self, sources: &SourceFiles) -> bool {
        sources.tree().list(&self.directory).iter().any(|it| is_of_run(&it.name))
    }

    /// Returns whether a script in its folder or a folder above names the files with the same declarations, to pick one
    /// of them.
    fn is_picked_by_script(&self, sources: &SourceFiles) -> bool {
        if self.again.is_empty() {
            return false;
        }
        let name = |span: Span| file_name(&sources.path(span.file)).to_owned();
        let pairs: BTreeSet<[String; 2]> = self.again.iter().map(|it| [name(it.first), name(it.second)]).collect();
        let ends = self.directory.match_indices('/').map(|(at, _)| at).chain([self.directory.len()]);
        let folders = ends.filter_map(|end| self.directory.get(..end)).chain([""]);
        let scripts = folders.flat_map(|folder| {
            let files = sources.tree().list(folder).into_iter().filter(|it| !it.is_directory && is_script(&it.name));
            files.filter_map(move |it| join(folder, &it.name)).collect::<Vec<_>>()
        });
        scripts.take(MOST_SCRIPTS).any(|script| {
            let picks = |text: &[u8]| pairs.iter().all(|pair| picks_one(&String::from_utf8_lossy(text), pair));
            sources.glance(&script, picks).unwrap_or(false)
        })
    }

    /// Returns whether other directories link to all of its files and it is not a root itself. Either no single
    /// directory links to all of them, or they are not a complete configuration.
    pub(in crate::terraform) fn is_library(
        &self,
        sources: &SourceFiles,
        links: &HashMap<String, BTreeSet<String>>,
    ) -> bool {
        let linking: Option<Vec<&BTreeSet<String>>> = self.files.iter().map(|file| links.get(&**file)).collect();
        let Some([first, rest @ ..]) = linking.as_deref() else { return false };
        let takes_all = first.iter().any(|directory| rest.iter().all(|it| it.contains(directory)));
        (!takes_all || !self.again.is_empty() || self.lacks_declarations())
            && !has_backend(self)
            && !self.is_applied(sources)
    }

    /// Returns whether a reference needs a variable or a local that is not declared here.
    fn lacks_declarations(&self) -> bool {
        let mut lacks = false;
        let mut look = |name: &str, steps: &[TraversalStep], _: Span| {
            let Some(TraversalStepKind::Attribute(first)) = steps.first().map(|step| &step.kind) else { return };
            lacks |= match name {
                "var" => self.variables.get(first).is_none(),
                "local" => self.locals.get(first).is_none(),
                _ => false,
            };
        };
        let blocks = self.resources.iter().chain(self.calls.iter()).chain(self.outputs.iter());
        blocks.chain(self.providers.iter()).for_each(|block| block.body.each_reference(&mut look));
        self.locals.iter().for_each(|local| local.expression.each_reference(&mut look));
        lacks
    }

    /// Returns the file that contains an address, in a directory of alternatives.
    pub(in crate::terraform) fn alternative_of(&self, address: &str) -> Option<FileId> {
        let parts = address::parts(address);
        let name = address::without_key(parts.get(1)?);
        let block = match *parts.first()? {
            "module" => self.calls.get(name)?,
            kind => self.resources.get(&format!("{kind}.{name}"))?,
        };
        let file = block.header.file;
        self.again.iter().any(|it| it.first.file == file || it.second.file == file).then_some(file)
    }

    /// Returns an error for each place of a repeated declaration.
    pub(in crate::terraform) fn errors_of_repeats(&self) -> Vec<Diagnostic> {
        self.again.iter().flat_map(DeclaredAgain::errors).take(MOST_DIAGNOSTICS + 1).collect()
    }

    /// Reads a file of another program that has locals like Terraform.
    pub(in crate::terraform) fn of_locals(directory: &str, body: &Body, anywhere: Span) -> Self {
        let mut code = ModuleCode { directory: directory.to_owned(), ..Self::default() };
        code.anywhere = Some(anywhere);
        code.incomplete = body.incomplete;
        body.blocks("locals").for_each(|block| code.add_locals(block.body.clone()));
        code
    }

    /// Limits the number of diagnostics.
    fn shorten_diagnostics(&mut self) {
        let left_out = self.diagnostics.len().saturating_sub(MOST_DIAGNOSTICS);
        if let (Some(anywhere), true) = (self.anywhere, left_out > 0) {
            self.diagnostics.truncate(MOST_DIAGNOSTICS);
            let message = format!("{left_out} more messages about the files of this directory are not shown");
            self.diagnostics.push(Diagnostic::note(message, anywhere));
        }
    }

    fn read_file(&mut self, sources: &SourceFiles, ModuleFile { name, text }: &ModuleFile) -> Vec<BlockNode> {
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
        let ParsedFile { mut body, errors, notes, comments } = match name.ends_with(".json") {
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
            let message = format!("the argument `{}` is outside a block", attribute.name.text);
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
            "provider" => (1, &mut self.providers, provider_key(&block)),
            _ => return self.others.push(block),
        };
        let first = named.get(&key).map(|first| first.header);
        let result = named.add(key.clone(), block);
        if labels != wanted {
            let message = format!("a `{keyword}` block needs {wanted} labels, this one has {labels}");
            self.diagnostics.push(Diagnostic::unreadable(message, header));
        }
        self.declared += 1;
        if let Err(twice) = result {
            let name: Vec<&str> = twice.labels.iter().map(|label| &*label.text).collect();
            let (first, second, name) = (first.unwrap_or(twice.header), twice.header, name.join("."));
            let keyword = if &*keyword == "data" { "data source".into() } else { keyword };
            self.again.push(DeclaredAgain { first, second, keyword, name });
            self.keep_declaration(&key, twice);
        }
    }

    /// Stores a repeated resource under a name of its own, so that its cost stays visible and no reference leads to it.
    /// Other repeated declarations stay under their name, because others may take values from them.
    fn keep_declaration(&mut self, key: &Arc<str>, mut block: BlockNode) {
        let named = match &*block.keyword.text {
            "resource" | "data" => &mut self.resources,
            "module" => &mut self.calls,
            "variable" => return self.variables.again.entry(key.clone()).or_default().push(block),
            "output" => return self.outputs.again.entry(key.clone()).or_default().push(block),
            _ => return,
        };
        let Some(label) = block.labels.last_mut() else { return };
        let number = self.declarations.entry(key.clone()).or_insert(1);
        *number += 1;
        label.text = address::declared_again(&label.text, *number).into();
        drop(named.add(address::declared_again(key, *number).into(), block));
    }

    fn add_locals(&mut self, body: Body) {
        for attribute in body.attributes {
            self.declared += 1;
            let (name, span) = (attribute.name.text.clone(), attribute.name.span);
            let first = self.locals.get(&name).map_or(span, |first| first.name.span);
            if let Err(twice) = self.locals.add(name.clone(), attribute) {
                let (keyword, text) = ("local".into(), name.to_string());
                self.again.push(DeclaredAgain { first, second: span, keyword, name: text });
                self.locals.again.entry(name).or_default().push(twice);
            }
        }
    }

    /// Merges a block of an override file into the block that it overrides.
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

/// Arguments replace arguments of the same name. Nested blocks replace all blocks of the same keyword.
fn merge(base: &mut Body, by: Body) {
    let names: HashSet<&str> = by.attributes.iter().map(|attribute| &*attribute.name.text).collect();
    base.attributes.retain(|attribute| !names.contains(&*attribute.name.text));
    base.attributes.extend(by.attributes);
    let described_now: HashSet<&str> = by.blocks.iter().map(described).collect();
    base.blocks.retain(|block| !described_now.contains(described(block)));
    base.blocks.extend(by.blocks);
}

/// Returns the keyword of the blocks that a nested block creates: `x` for `dynamic "x"`.
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
