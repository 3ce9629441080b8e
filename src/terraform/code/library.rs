//! The modules of a tree, each read once.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::languages::hcl::syntax::{Expression, SyntaxError, parse_template};
use crate::source::{FileId, Sources};

use super::module::ModuleCode;
use super::variable_file::VariableFile;

/// Who reads the files: in one directory the two may take different ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::terraform) enum Tool {
    /// Reads `.tofu` files too, and `x.tofu` in the place of `x.tf`.
    OpenTofu,
    /// Knows no `.tofu` files.
    Terraform,
}

pub(in crate::terraform) struct Library<'s> {
    sources: &'s Sources,
    tool: Tool,
    modules: Mutex<HashMap<String, Arc<OnceLock<Arc<ModuleCode>>>>>,
    variable_files: Mutex<HashMap<String, Arc<OnceLock<Arc<VariableFile>>>>>,
    templates: Mutex<HashMap<FileId, Arc<Result<Expression, SyntaxError>>>>,
    parsed: AtomicUsize,
}

impl<'s> Library<'s> {
    pub(in crate::terraform) fn new(sources: &'s Sources, tool: Tool) -> Self {
        Library {
            sources,
            tool,
            modules: Mutex::default(),
            variable_files: Mutex::default(),
            templates: Mutex::default(),
            parsed: AtomicUsize::new(0),
        }
    }

    /// The code in a directory of the tree.
    pub(in crate::terraform) fn module(&self, directory: &str) -> Arc<ModuleCode> {
        let slot = {
            let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
            modules.entry(directory.to_owned()).or_default().clone()
        };
        let read = || {
            self.parsed.fetch_add(1, Ordering::Relaxed);
            Arc::new(ModuleCode::read(self.sources, directory, self.tool))
        };
        slot.get_or_init(read).clone()
    }

    /// What a file of variables assigns.
    pub(in crate::terraform) fn variable_file(&self, path: &str) -> Arc<VariableFile> {
        let slot = {
            let mut files = self.variable_files.lock().unwrap_or_else(PoisonError::into_inner);
            files.entry(path.to_owned()).or_default().clone()
        };
        slot.get_or_init(|| Arc::new(VariableFile::read(self.sources, path))).clone()
    }

    /// Taking all of it apart takes long, and nobody waits for it.
    pub(in crate::terraform) fn close(self) {
        let Library { modules, variable_files, templates, .. } = self;
        rayon::spawn(|| drop((modules, variable_files, templates)));
    }

    /// How often the code of a module was read and parsed.
    #[cfg(test)]
    pub(in crate::terraform) fn times_parsed(&self) -> usize {
        self.parsed.load(Ordering::Relaxed)
    }

    /// All modules that were read, by directory.
    pub(in crate::terraform) fn modules(&self) -> Vec<Arc<ModuleCode>> {
        let modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        let mut read: Vec<Arc<ModuleCode>> = modules.values().filter_map(|slot| slot.get().cloned()).collect();
        read.sort_by(|a, b| a.directory.cmp(&b.directory));
        read
    }

    /// A file as a template.
    pub(in crate::terraform) fn template(&self, file: FileId) -> Arc<Result<Expression, SyntaxError>> {
        let mut templates = self.templates.lock().unwrap_or_else(PoisonError::into_inner);
        templates.entry(file).or_insert_with(|| Arc::new(parse_template(file, &self.sources.text(file)))).clone()
    }
}
