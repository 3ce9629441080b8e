//! Finds Terragrunt files by name, and parses each once for all units.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::languages::hcl::syntax::json::parse_json_as;
use crate::languages::hcl::syntax::{Body, SyntaxError, parse_body};
use crate::source::{FileId, ReadError, SourceFiles, Span, join, parent};
use crate::terraform::code::library::ModuleLibrary;
use crate::terraform::code::module::ModuleTool;
use crate::terraform::code::module::{ModuleCode, ModuleFile};
use crate::terraform::evaluate::Shadows;
use crate::terraform::load::options::TerraformOptions;

use super::environment::TerragruntCommands;

/// The usual file name of a unit.
pub(super) const UNIT: &str = "terragrunt.hcl";
pub(super) const STACK: &str = "terragrunt.stack.hcl";
pub(super) const VALUES: &str = "terragrunt.values.hcl";

/// A module, by its directory and the files that are combined for it.
type Composed = (String, Vec<ModuleFile>);

/// The state that all units of a tree share.
pub(super) struct TerragruntReader<'s> {
    pub(super) sources: &'s SourceFiles,
    pub(super) library: &'s ModuleLibrary<'s>,
    pub(super) options: &'s TerraformOptions,
    listings: Mutex<HashMap<String, Arc<BTreeSet<String>>>>,
    parsed: Mutex<HashMap<String, Arc<TerragruntFile>>>,
    /// Modules with additional files from units.
    modules: Mutex<HashMap<Composed, Arc<ModuleCode>>>,
    made: Mutex<HashMap<(Span, String), FileId>>,
    paths: &'s [String],
    commands: OnceLock<TerragruntCommands>,
}

/// A file of Terragrunt.
pub(super) struct TerragruntFile {
    pub(super) file: FileId,
    pub(super) body: Body,
    pub(super) error: Option<SyntaxError>,
    /// The locals of the file, in the form of Terraform.
    pub(super) code: Arc<ModuleCode>,
}

impl TerragruntFile {
    pub(super) fn anywhere(&self) -> Span {
        Span::new(self.file, 0, 0)
    }
}

impl<'s> TerragruntReader<'s> {
    pub(super) fn new(
        sources: &'s SourceFiles,
        library: &'s ModuleLibrary<'s>,
        options: &'s TerraformOptions,
        paths: &'s [String],
    ) -> Self {
        let (listings, parsed, modules, made, commands) = Default::default();
        TerragruntReader { sources, library, options, listings, parsed, modules, made, paths, commands }
    }

    /// Returns the commands that run Terragrunt. They are read only if a file asks for an environment variable.
    pub(super) fn commands(&self) -> &TerragruntCommands {
        self.commands.get_or_init(|| TerragruntCommands::find(self.sources, self.paths))
    }

    fn names(&self, directory: &str) -> Arc<BTreeSet<String>> {
        let mut listings = self.listings.lock().unwrap_or_else(PoisonError::into_inner);
        let list = || {
            let entries = self.sources.tree().list(directory).into_iter();
            // The name may be a directory or a file.
            Arc::new(entries.map(|entry| entry.name).collect())
        };
        listings.entry(directory.to_owned()).or_insert_with(list).clone()
    }

    pub(super) fn exists(&self, path: &str) -> bool {
        path.is_empty() || self.names(parent(path)).contains(path.rsplit('/').next().unwrap_or(path))
    }

    /// Returns the real place of a path, if it exists.
    pub(super) fn find(&self, shadows: &Shadows, path: &str) -> Option<String> {
        shadows.candidates(path).into_iter().find(|it| self.exists(it))
    }

    /// Returns the file with this name, in one of its two forms.
    pub(super) fn spelled(&self, shadows: &Shadows, path: &str) -> Option<String> {
        self.find(shadows, &format!("{path}.json")).or_else(|| self.find(shadows, path))
    }

    /// Returns the root of the repository of a directory, if it is visible.
    pub(super) fn repository<'d>(&self, mut directory: &'d str) -> &'d str {
        loop {
            if directory.is_empty() || self.names(directory).contains(".git") {
                return directory;
            }
            directory = parent(directory);
        }
    }

    /// Parses an existing file.
    pub(super) fn parse(&self, path: &str) -> Result<Arc<TerragruntFile>, ReadError> {
        if let Some(known) = self.parsed.lock().unwrap_or_else(PoisonError::into_inner).get(path) {
            return Ok(known.clone());
        }
        let file = self.sources.open(path)?;
        let text = self.sources.text(file);
        let nesting = self.sources.limits().nesting;
        let parsed = match path.ends_with(".json") {
            true => parse_json_as(file, &text, nesting, labels),
            false => parse_body(file, &text, nesting),
        };
        let code = ModuleCode::of_locals(parent(path), &parsed.body, Span::new(file, 0, 0));
        let error = parsed.errors.into_iter().next();
        let parsed = Arc::new(TerragruntFile { file, body: parsed.body, error, code: Arc::new(code) });
        let mut all = self.parsed.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(all.entry(path.to_owned()).or_insert(parsed).clone())
    }

    /// Returns a module in which files of a unit replace its own.
    pub(super) fn module(&self, directory: &str, files: Vec<ModuleFile>) -> Arc<ModuleCode> {
        let key = (directory.to_owned(), files);
        if let Some(known) = self.modules.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return known.clone();
        }
        let code = Arc::new(ModuleCode::of(self.sources, directory, &key.1, ModuleTool::OpenTofu));
        let mut all = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(key).or_insert(code).clone()
    }

    /// Returns all modules with files of units, for their diagnostics.
    pub(super) fn modules(&self) -> Vec<Arc<ModuleCode>> {
        let modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<Arc<ModuleCode>> = modules.values().cloned().collect();
        all.sort_by(|a, b| a.directory.cmp(&b.directory));
        all
    }

    /// Returns the text that is generated for a unit, shared by all units with the same text.
    pub(super) fn generated_file(&self, origin: Span, text: String, make: impl FnOnce(String) -> FileId) -> FileId {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        *made.entry((origin, text.clone())).or_insert_with(|| make(text))
    }
}

/// Returns how many labels a Terragrunt block has, for JSON.
fn labels(keyword: &str) -> Option<usize> {
    match keyword {
        "locals" | "terraform" | "exclude" | "errors" | "engine" | "catalog" | "dependencies" => Some(0),
        "dependency" | "generate" | "feature" | "unit" | "stack" => Some(1),
        _ => None,
    }
}

/// Resolves a path that is relative to a directory, or absolute in the tree.
pub(super) fn located(base: &str, path: &str) -> Option<String> {
    match crate::terraform::evaluate::outside_of_prefix(path) {
        Some(inside) => crate::source::normalize(inside),
        None if path.starts_with(['/', '~']) => None,
        None => join(base, path),
    }
}
