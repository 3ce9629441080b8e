//! Reads each module of a tree once.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::languages::hcl::syntax::{Expression, SyntaxError, parse_template};
use crate::source::{AskedOfTree, FileId, SourceFiles, drop_large, uses};

use super::module::{ModuleCode, ModuleTool};
use super::shared::SharedModules;
use super::variable_file::VariableFile;

/// Values that are read once, with all queries to the tree that they depend on. Each user of a value depends on these
/// queries, too.
type Memory<T> = Mutex<HashMap<String, Arc<OnceLock<(Arc<T>, Arc<AskedOfTree>)>>>>;

pub(in crate::terraform) struct ModuleLibrary<'s> {
    sources: &'s SourceFiles,
    tool: ModuleTool,
    shared: SharedModules,
    modules: Memory<ModuleCode>,
    variable_files: Memory<VariableFile>,
    templates: Mutex<HashMap<FileId, Arc<Result<Expression, SyntaxError>>>>,
    parsed: AtomicUsize,
}

impl<'s> ModuleLibrary<'s> {
    pub(in crate::terraform) fn new(sources: &'s SourceFiles, tool: ModuleTool) -> Self {
        ModuleLibrary {
            sources,
            tool,
            shared: SharedModules::default(),
            modules: Mutex::default(),
            variable_files: Mutex::default(),
            templates: Mutex::default(),
            parsed: AtomicUsize::new(0),
        }
    }

    /// Reuses modules of another state of the tree if nothing differs, or records them for another state.
    pub(in crate::terraform) fn sharing(self, shared: &SharedModules) -> Self {
        ModuleLibrary { shared: shared.clone(), ..self }
    }

    /// Returns the code in a directory of the tree.
    pub(in crate::terraform) fn module(&self, directory: &str) -> Arc<ModuleCode> {
        let slot = {
            let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
            modules.entry(directory.to_owned()).or_default().clone()
        };
        let read = || {
            if let Some(known) = self.shared.module(directory) {
                self.shared.keep(&known);
                return known;
            }
            self.parsed.fetch_add(1, Ordering::Relaxed);
            let made = self.shared.noting(|| ModuleCode::read(self.sources, directory, self.tool));
            self.shared.keep(&made);
            made
        };
        let (code, asked) = slot.get_or_init(read);
        uses(Some(directory), asked);
        code.clone()
    }

    /// Returns the assignments of a variable file.
    pub(in crate::terraform) fn variable_file(&self, path: &str) -> Arc<VariableFile> {
        let slot = {
            let mut files = self.variable_files.lock().unwrap_or_else(PoisonError::into_inner);
            files.entry(path.to_owned()).or_default().clone()
        };
        let (read, asked) = slot.get_or_init(|| self.shared.noting(|| VariableFile::read(self.sources, path)));
        uses(None, asked);
        read.clone()
    }

    /// Frees the library in another thread, because it takes long and no result depends on it.
    pub(in crate::terraform) fn close(self) {
        let ModuleLibrary { modules, variable_files, templates, .. } = self;
        let count = modules.lock().map_or(0, |modules| modules.len());
        drop_large((modules, variable_files, templates), count);
    }

    /// Returns how often the code of a module was read and parsed.
    #[cfg(test)]
    pub(in crate::terraform) fn times_parsed(&self) -> usize {
        self.parsed.load(Ordering::Relaxed)
    }

    /// Returns all modules that were read, by directory.
    pub(in crate::terraform) fn modules(&self) -> Vec<Arc<ModuleCode>> {
        let modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        let mut read: Vec<Arc<ModuleCode>> = modules.values().filter_map(|slot| Some(slot.get()?.0.clone())).collect();
        read.sort_by(|a, b| a.directory.cmp(&b.directory));
        read
    }

    /// Parses a file as a template.
    pub(in crate::terraform) fn template(&self, file: FileId) -> Arc<Result<Expression, SyntaxError>> {
        let mut templates = self.templates.lock().unwrap_or_else(PoisonError::into_inner);
        templates.entry(file).or_insert_with(|| Arc::new(parse_template(file, &self.sources.text(file)))).clone()
    }
}
