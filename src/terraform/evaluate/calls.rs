//! Evaluates module calls: the directory of their code, their instances and their outputs.

use std::rc::Rc;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, SkipKind};
use crate::languages::hcl::budget::MODULE_STEPS;
use crate::languages::hcl::syntax::BlockNode;
use crate::languages::hcl::value::{Cause, HclValue, ProviderComputed};
use crate::source::Span;
use crate::terraform::code::module::ModuleCode;

use super::blocks::{INSTANCE_STEPS, collected, multiplied};
use super::expand::ExpansionKind;
use super::instance::{CallSite, Called};
use super::{Instance, Repetition, RootEvaluator, Scope};

const NOT_ON_DISK: &str = "module not downloaded: run `terraform init`, or name its directory with --modules-dir";
/// The maximum depth of nested modules. Deeper nesting is probably a cycle.
const MODULE_DEPTH: u32 = 50;

impl RootEvaluator<'_> {
    /// Returns a module call with its instances.
    pub(super) fn called(&self, module: &Rc<Instance>, index: usize) -> Option<Rc<Called>> {
        let node = module.code.calls.at(index)?;
        module.calls.get(node.label(0), || Rc::new(self.work_out_call(module, index, node))).ok()
    }

    fn work_out_call(&self, module: &Rc<Instance>, index: usize, node: &BlockNode) -> Called {
        let expansion = self.expand(&node.body, node.header, Scope::of(module, &Repetition::Single));
        let mut called = Called { expansion, instances: Vec::new(), missing: None, span: node.header };
        if called.expansion.instances.is_empty() {
            self.touch_unused(module, node);
            return called;
        }
        let code = self.code_of(module, node);
        match code {
            Ok(code) => {
                if code.has_files_of_one_tool {
                    self.has_files_of_one_tool.set(true);
                }
                self.made.borrow_mut().insert(code.directory.clone());
                called.instances = called
                    .expansion
                    .instances
                    .iter()
                    .take_while(|_| self.spend(INSTANCE_STEPS, node.header).is_ok())
                    .map(|repeated| {
                        let address = format!("{}module.{}{}.", module.address, node.label(0), repeated.suffix);
                        let repetition = repeated.repetition.clone();
                        let call = CallSite { parent: module.clone(), index, repetition };
                        let number = multiplied(&module.multiplicity, &repeated.number);
                        let depth = module.depth + 1;
                        Rc::new(Instance::new(code.clone(), address.into(), Some(call), number, depth))
                    })
                    .collect();
            }
            Err(why) => {
                let address = format!("{}module.{}", module.address, node.label(0)).into();
                let cause = Cause {
                    computed_by: Some(ProviderComputed { address, attribute: "".into() }),
                    ..Cause::new(format!("`module.{}` {why}", node.label(0)), node.header)
                };
                called.missing = Some(HclValue::because(&Arc::new(cause), node.header));
            }
        }
        called
    }

    /// Records the files of a module without instances. The deployment depends on them, although gpulint evaluates
    /// nothing in them.
    fn touch_unused(&self, module: &Rc<Instance>, node: &BlockNode) {
        let Some(source) = self.text_of(node, "source") else { return };
        let path = module_path(&module.address, node.label(0));
        let directory = self.modules.directory(self.sources, &module.code.directory, &path, &source);
        if let Some(directory) = directory.filter(|_| self.spend(MODULE_STEPS, node.header).is_ok()) {
            let code = self.library.module(&directory);
            self.has_files_of_one_tool.set(self.has_files_of_one_tool.get() || code.has_files_of_one_tool);
            self.touched.borrow_mut().extend(code.files.iter().cloned());
        }
    }

    /// Returns the code of a call, or why it is missing.
    fn code_of(&self, module: &Rc<Instance>, node: &BlockNode) -> Result<Arc<ModuleCode>, String> {
        let Some(source) = self.text_of(node, "source") else {
            return Err("has no readable source".into());
        };
        let path = module_path(&module.address, node.label(0));
        let version = self.text_of(node, "version");
        if let Some(other) = self.modules.other(&path, &source, version.as_deref()) {
            let wanted = version.map_or(source, |version| format!("version {version}"));
            let why = format!("is not downloaded in the requested form ({wanted}): {other} is there");
            let message = format!("`module.{}` {why}", node.label(0));
            let note = Diagnostic::note(message, node.header).with_help("run `terraform init -upgrade`");
            self.report(note.skipping(SkipKind::MissingModule, NOT_ON_DISK));
            return Err(why);
        }
        let directory = self.modules.directory(self.sources, &module.code.directory, &path, &source);
        let Some(directory) = directory else {
            let why = format!("is not downloaded (source: {source})");
            let help = "run `terraform init`, or name its directory with --modules-dir";
            let message = format!("`module.{}` {why}", node.label(0));
            self.report(
                Diagnostic::note(message, node.header).with_help(help).skipping(SkipKind::MissingModule, NOT_ON_DISK),
            );
            return Err(why);
        };
        let mut ancestor = Some(module);
        while let Some(here) = ancestor {
            if here.code.directory == directory || module.depth >= MODULE_DEPTH {
                let message = format!("`module.{}` calls itself", node.label(0));
                self.report(Diagnostic::unreadable(message, node.header));
                return Err("calls itself".into());
            }
            ancestor = here.call.as_ref().map(|call| &call.parent);
        }
        if self.spend(MODULE_STEPS, node.header).is_err() {
            return Err("exceeds the evaluation limit of this root".into());
        }
        let code = self.library.module(&directory);
        self.touched.borrow_mut().extend(code.files.iter().cloned());
        if code.anywhere.is_none() {
            let why = format!("has no Terraform files in {directory}");
            let note = Diagnostic::note(format!("`module.{}` {why}", node.label(0)), node.header);
            self.report(note.skipping(SkipKind::MissingModule, "the directory of the module has no Terraform files"));
            return Err(why);
        }
        Ok(code)
    }

    /// Returns one output of one instance; `None` if the key matches no instance.
    pub(super) fn output_of(
        &self,
        called: &Called,
        key: Option<&HclValue>,
        name: &str,
        span: Span,
    ) -> Option<HclValue> {
        if let Some(missing) = &called.missing {
            return Some(super::traverse::attribute(missing, name, span));
        }
        let index = match (key, called.expansion.kind) {
            (None, ExpansionKind::Single) => 0,
            (Some(key), ExpansionKind::Count | ExpansionKind::Each) => {
                let key = key.as_text()?;
                called
                    .expansion
                    .instances
                    .iter()
                    .position(|i| i.key().and_then(HclValue::as_text) == Some(key.clone()))?
            }
            _ => return None,
        };
        called.instances.get(index).map(|instance| self.output(instance, name, span))
    }

    /// Returns all outputs of all instances.
    pub(super) fn outputs(&self, called: &Called) -> HclValue {
        if let Some(missing) = &called.missing {
            return missing.clone();
        }
        let one = |instance: &Rc<Instance>| {
            let names: Vec<Arc<str>> = instance.code.outputs.iter().map(|output| output.label(0).into()).collect();
            let known = names.into_iter().map(|name| (name.clone(), self.output(instance, &name, called.span)));
            HclValue::object(known.collect(), called.span)
        };
        let values: Vec<HclValue> = called.instances.iter().map(one).collect();
        collected(&called.expansion, values, called.span)
    }
}

/// Returns the key of a call in `modules.json`: the names of the calls without their indexes.
fn module_path(address: &str, name: &str) -> String {
    let mut path = String::new();
    let mut rest = address;
    while let Some(after) = rest.strip_prefix("module.") {
        let end = after.find(['.', '[']).unwrap_or(after.len());
        path.push_str(&after[..end]);
        path.push('.');
        rest = match after[end..].strip_prefix('[') {
            Some(index) => index.split_once("].").map_or("", |(_, rest)| rest),
            None => after.get(end + 1..).unwrap_or(""),
        };
    }
    path + name
}
