//! Reads stacks: a file that generates several units. Each unit is evaluated in the directory in which Terragrunt would
//! write it.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::diagnostic::SkipKind;
use crate::languages::hcl::syntax::BlockNode;
use crate::languages::hcl::value::{HclData, HclValue, ObjectMembers};
use crate::source::{Span, join, parent};
use crate::terraform::border::SkippedFile;
use crate::terraform::evaluate::{Repetition, Shadows};

use super::frame::Frame;
use super::reader::{STACK, TerragruntReader, UNIT};
use super::source::{ModuleSource, source};
use super::{TerragruntUnit, context};

/// The maximum depth of stacks that generate stacks.
const DEEPEST: usize = 10;
/// The limit on units of one tree of stacks.
const MOST_UNITS: usize = 2_000;
/// The directory in which Terragrunt writes units.
const WRITTEN_TO: &str = ".terragrunt-stack";

/// The units that stacks generate.
#[derive(Default)]
pub(super) struct StackUnits {
    pub(super) units: Vec<TerragruntUnit>,
    /// The directories that units are copied from. They are not separate units.
    pub(super) templates: BTreeSet<String>,
    pub(super) skipped: Vec<SkippedFile>,
}

/// A stack to read.
pub(super) struct TerragruntStack {
    pub(super) directory: String,
    pub(super) shadows: Shadows,
    pub(super) values: Option<HclValue>,
    pub(super) files: Vec<Arc<str>>,
}

impl StackUnits {
    /// Adds the units of a stack, unless the stack is itself a template of another one.
    pub(super) fn add(&mut self, reader: &TerragruntReader<'_>, stack: &TerragruntStack, depth: usize) {
        let path = inside(&stack.directory, STACK);
        let Some(real) = reader.find(&stack.shadows, &path) else { return };
        let context = match context(reader, &stack.directory, &real, &stack.shadows, stack.values.clone()) {
            Ok(context) => context,
            Err(reason) => return self.skipped.push(SkippedFile::new(SkipKind::Terragrunt, real, reason)),
        };
        let frame = match Frame::open(&context, &path, &real) {
            Ok(frame) => frame,
            Err(reason) => return self.skipped.push(SkippedFile::new(SkipKind::Terragrunt, real, reason)),
        };
        for included in frame.includes.iter().filter_map(|it| it.frame.as_ref().ok()) {
            self.add_blocks(reader, stack, included, depth, &real);
        }
        self.add_blocks(reader, stack, &frame, depth, &real);
        if context.is_template.get() {
            let reason = "another stack generates this stack: the values from that stack are unknown";
            self.skipped.push(SkippedFile::new(SkipKind::MadeByStack, real, reason));
        }
    }

    fn add_blocks(
        &mut self,
        reader: &TerragruntReader<'_>,
        stack: &TerragruntStack,
        frame: &Frame<'_>,
        depth: usize,
        file: &str,
    ) {
        for node in frame.parsed.body.blocks.iter().filter(|it| matches!(&*it.keyword.text, "unit" | "stack")) {
            for repetition in repetitions(frame, node) {
                if self.units.len() >= MOST_UNITS || depth >= DEEPEST {
                    let reason =
                        format!("the stacks generate more than {MOST_UNITS} units, or nest {DEEPEST} levels deep");
                    return self.skipped.push(SkippedFile::new(SkipKind::Limit, file, reason));
                }
                frame.repetition.replace(repetition);
                if let Err(why) = self.add_block(reader, stack, frame, node, depth) {
                    let reason = format!("`{} {}` of this stack: {why}", node.keyword.text, node.label(0));
                    self.skipped.push(SkippedFile::new(SkipKind::Terragrunt, file, reason));
                }
                frame.repetition.replace(Repetition::Single);
            }
        }
    }

    fn add_block(
        &mut self,
        reader: &TerragruntReader<'_>,
        stack: &TerragruntStack,
        frame: &Frame<'_>,
        node: &BlockNode,
        depth: usize,
    ) -> Result<(), String> {
        let arguments = Arguments { node, frame };
        if arguments.flag("enabled") == Some(false) {
            return Ok(());
        }
        let path = arguments.text("path")?;
        let directory = arguments.directory(&stack.directory, &path)?;
        let wanted = if &*node.keyword.text == "unit" { UNIT } else { STACK };
        let from = match source(reader, &stack.shadows, &stack.directory, &arguments.text("source")?) {
            ModuleSource::Here(from) => from,
            // The unit may already have been generated.
            ModuleSource::Missing(what) | ModuleSource::Elsewhere(what) => {
                match reader.exists(&inside(&directory, wanted)) {
                    true => directory.clone(),
                    false => return Err(format!("its source {what} is not in this repository")),
                }
            }
        };
        let mut shadows = stack.shadows.clone();
        if from != directory {
            self.templates.insert(from.clone());
            shadows.add(&directory, &from);
        }
        let values =
            arguments.value("values").unwrap_or_else(|| HclValue::object(ObjectMembers::default(), node.header));
        let files: Vec<Arc<str>> =
            frame.context.files.borrow().iter().cloned().chain(stack.files.iter().cloned()).collect();
        if wanted == UNIT {
            let real =
                reader.spelled(&shadows, &inside(&directory, UNIT)).ok_or_else(|| format!("{from} has no {UNIT}"))?;
            if self.units.iter().any(|it| it.directory == directory) {
                return Err(format!("another unit has the path {path}"));
            }
            self.units.push(TerragruntUnit { directory, real, shadows, values: Some(values), files });
            return Ok(());
        }
        let inner = TerragruntStack { directory, shadows, values: Some(values), files };
        self.add(reader, &inner, depth + 1);
        Ok(())
    }
}

/// The arguments of a block in a stack file.
struct Arguments<'a, 'f> {
    node: &'a BlockNode,
    frame: &'a Frame<'f>,
}

impl Arguments<'_, '_> {
    fn value(&self, name: &str) -> Option<HclValue> {
        self.node.body.attribute(name).map(|it| self.frame.evaluate(&it.expression))
    }

    fn flag(&self, name: &str) -> Option<bool> {
        self.value(name).and_then(|it| it.as_bool())
    }

    fn text(&self, name: &str) -> Result<String, String> {
        let value = self.value(name).ok_or_else(|| format!("it has no {name}"))?;
        value.as_text().map(|it| it.into_owned()).ok_or_else(|| {
            value.cause().map_or_else(|| format!("its {name} is not a string"), |it| format!("its {name}: {}", it.why))
        })
    }

    /// Returns the directory in which Terragrunt generates the unit of a block.
    fn directory(&self, stack: &str, path: &str) -> Result<String, String> {
        if path.is_empty() || path.starts_with('/') || path.split('/').any(|part| part == "..") {
            return Err(format!("its path {path:?} is outside the stack"));
        }
        let above = match self.flag("no_dot_terragrunt_stack") {
            Some(true) => stack.to_owned(),
            _ => inside(stack, WRITTEN_TO),
        };
        join(&above, path).ok_or_else(|| "its path is outside the repository".to_owned())
    }
}

/// Returns each repetition of a block.
fn repetitions(frame: &Frame<'_>, node: &BlockNode) -> Vec<Repetition> {
    let Some(expansion) = node.body.blocks("expansion").next() else { return vec![Repetition::Single] };
    let argument = |name: &str| expansion.body.attribute(name).map(|it| frame.evaluate(&it.expression));
    if let Some(count) = argument("count") {
        let number = count.as_number().and_then(|it| it.as_usize()).unwrap_or(0).min(MOST_UNITS + 1);
        let one = |index| {
            Repetition::Count(HclValue::number(crate::languages::hcl::value::HclNumber::counted(index), count.span))
        };
        return (0..number).map(one).collect();
    }
    let Some(each) = argument("for_each") else { return vec![Repetition::Single] };
    let text = |key: &Arc<str>, span: Span| HclValue::text(key.clone(), span);
    match &each.data {
        HclData::Map(entries) | HclData::Object(entries) => entries
            .iter()
            .map(|(key, value)| Repetition::Each { key: text(key, value.span), value: value.clone() })
            .collect(),
        _ => each.items().iter().map(|it| Repetition::Each { key: it.clone(), value: it.clone() }).collect(),
    }
}

pub(super) fn inside(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}

/// Returns the stack for a stack file in the tree.
pub(super) fn of_file(path: &str) -> TerragruntStack {
    let (shadows, values, files) = Default::default();
    TerragruntStack { directory: parent(path).to_owned(), shadows, values, files }
}
