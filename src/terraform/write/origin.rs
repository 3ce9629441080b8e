//! Decides whether a literal may be changed without side effects.
//!
//! On the way from the resource's argument to the literal, each variable and local must have only this user, and each
//! module only this caller.

use std::collections::BTreeSet;

use crate::inventory::Declined;
use crate::languages::hcl::syntax::{BlockNode, Expression, HclKind, TraversalStepKind, parse_expression};
use crate::source::{FileId, Span, join, parent};

use super::super::block::EvaluatedBlock;
use super::TerraformWriter;
use crate::terraform::code::module::ModuleCode;
use crate::terraform::code::modules::is_local;

/// The maximum number of variables and locals between an argument and its literal.
const LONGEST_WAY: usize = 16;

fn left_alone<T>(why: impl Into<String>) -> Result<T, Declined> {
    Err(Declined::LeftAlone(why.into()))
}

/// How an expression passes on a value.
enum Passes {
    /// The literal is in the expression, inside lists and objects only.
    Here,
    Variable(String),
    Local(String),
    /// The value is computed; the string describes how.
    Computed(&'static str),
}

/// The place where a value is changed.
pub(super) enum EditLocation {
    /// The value is changed at the literal.
    Literal,
    /// The value is added as an argument of the module call, which now uses the default: the body of the call, and the
    /// name.
    Argument(Span, String),
}

/// A module directory, as one call uses it.
struct Place {
    directory: String,
    /// The module path, such as `module.a`; empty in the root.
    module: String,
}

impl TerraformWriter<'_> {
    /// Returns how the scalar at `literal`, which a block uses at `expression`, can be changed for this block only.
    pub(super) fn way_to_change(
        &self,
        block: &EvaluatedBlock,
        expression: Span,
        literal: Span,
    ) -> Result<EditLocation, Declined> {
        let (directory, module) = (self.directory_of(block.span.file), module_of(block).to_owned());
        self.follow(Place { directory, module }, expression, literal)
    }

    /// Checks that a change at this place affects only one caller.
    pub(super) fn may_change(&self, block: &EvaluatedBlock, expression: Span, literal: Span) -> Result<(), Declined> {
        match self.way_to_change(block, expression, literal)? {
            EditLocation::Literal => Ok(()),
            EditLocation::Argument(..) => left_alone("it is a default of a module"),
        }
    }

    /// Checks that at most one call uses the module.
    pub(super) fn demand_one_caller(&self, directory: &str) -> Result<(), Declined> {
        match self.callers(directory).len() + self.units(directory) {
            0 | 1 => Ok(()),
            n => left_alone(format!("it is in a module that {n} others call")),
        }
    }

    fn follow(&self, mut place: Place, mut expression: Span, literal: Span) -> Result<EditLocation, Declined> {
        for _ in 0..LONGEST_WAY {
            let node = self.expression(expression)?;
            match passes(&node, literal) {
                Passes::Here => {
                    self.demand_one_caller(&place.directory)?;
                    return Ok(EditLocation::Literal);
                }
                Passes::Computed(how) if expression.contains(literal) || how != "each" => {
                    return left_alone(format!("the value is {}", if how == "each" { "computed" } else { how }));
                }
                Passes::Computed(_) => {
                    self.demand_one_caller(&self.directory_of(literal.file))?;
                    return self.only_user(literal).map(|()| EditLocation::Literal);
                }
                Passes::Local(name) => {
                    let code = self.library.module(&place.directory);
                    demand_one_use(&code, "local", &name)?;
                    let Some(local) = code.locals.get(&name) else { return left_alone("the local is not declared") };
                    expression = local.expression.span;
                }
                Passes::Variable(name) => match self.assigned(&place, &name, literal)? {
                    Assigned::Way(way) => return Ok(way),
                    Assigned::By(caller, argument) => (place, expression) = (caller, argument),
                },
            }
        }
        left_alone("the value comes through too many variables")
    }

    /// Returns the assignment of a variable.
    fn assigned(&self, place: &Place, name: &str, literal: Span) -> Result<Assigned, Declined> {
        let code = self.library.module(&place.directory);
        demand_one_use(&code, "var", name)?;
        let Some(variable) = code.variables.get(name) else { return left_alone("the variable is not declared") };
        let is_default = variable.body.span.contains(literal);
        if place.module.is_empty() {
            let path = self.sources.path(literal.file);
            let is_file = self.sources.editable(literal) == Some(literal) && is_variable_file(&path);
            if is_default {
                self.demand_one_caller(&place.directory)?;
            }
            return match is_default || is_file {
                true => Ok(Assigned::Way(EditLocation::Literal)),
                false if path.ends_with(".hcl") => {
                    left_alone(format!("`var.{name}` is a Terragrunt input, which other units may use too"))
                }
                false => left_alone(format!("the command line or the environment sets `var.{name}`")),
            };
        }
        let call = self.blocks.iter().find(|it| it.keyword == "module" && it.address == place.module);
        let Some(call) = call else { return left_alone("the module call was not found") };
        let caller = Place { directory: self.directory_of(call.span.file), module: module_of(call).to_owned() };
        let node = self.call_at(&caller.directory, call.span);
        match node.as_ref().and_then(|it| it.body.attribute(name)) {
            Some(argument) => Ok(Assigned::By(caller, argument.expression.span)),
            None if is_default => {
                self.demand_one_caller(&caller.directory)?;
                Ok(Assigned::Way(EditLocation::Argument(call.body, name.to_owned())))
            }
            None => left_alone(format!("the value of `var.{name}` comes from another place")),
        }
    }

    fn call_at(&self, directory: &str, header: Span) -> Option<BlockNode> {
        self.library.module(directory).calls.iter().find(|it| it.header == header).cloned()
    }

    /// Checks, for values through `each.value` and similar references, that only one argument in the tree has this
    /// value.
    fn only_user(&self, literal: Span) -> Result<(), Declined> {
        let mut users: BTreeSet<Span> = BTreeSet::new();
        for block in self.blocks {
            users_in(block, literal, 0, &mut users);
        }
        match users.len() {
            0 | 1 => Ok(()),
            n => left_alone(format!("{n} arguments use this value")),
        }
    }

    fn expression(&self, span: Span) -> Result<Expression, Declined> {
        let text = self.sources.text(span.file);
        // The padding keeps the positions of the file.
        let padded = format!("{}{}", " ".repeat(span.start as usize), text.get(span.range()).unwrap_or_default());
        match parse_expression(span.file, &padded) {
            Ok(expression) => Ok(expression),
            Err(_) => left_alone("the expression cannot be parsed on its own"),
        }
    }

    /// Returns the headers of the calls that lead to a directory.
    fn callers(&self, directory: &str) -> BTreeSet<Span> {
        let calls = self.blocks.iter().filter(|block| block.keyword == "module");
        let leads = |block: &&EvaluatedBlock| {
            let source = block.source.as_deref().filter(|source| is_local(source));
            source.and_then(|source| join(&self.directory_of(block.span.file), source)).as_deref() == Some(directory)
        };
        calls.filter(leads).map(|block| block.span).collect()
    }

    /// Returns how many roots in other places run this directory as their module, such as Terragrunt units.
    fn units(&self, directory: &str) -> usize {
        let is_of =
            |block: &EvaluatedBlock| module_of(block).is_empty() && self.directory_of(block.span.file) == directory;
        let runs = |root: &&super::super::load::roots::RootOverview| {
            let blocks = self.blocks.get(root.blocks.clone()).unwrap_or_default();
            root.directory != directory && blocks.iter().any(is_of)
        };
        self.roots.iter().filter(runs).count()
    }

    pub(super) fn directory_of(&self, file: FileId) -> String {
        parent(&self.sources.path(file)).to_owned()
    }
}

/// The assignment of a variable.
enum Assigned {
    Way(EditLocation),
    /// An argument of the module call.
    By(Place, Span),
}

/// Returns the module path of a block, `module.a["x"]`; empty in the root module.
fn module_of(block: &EvaluatedBlock) -> &str {
    super::super::rows::module_of(block).trim_end_matches('.')
}

fn is_variable_file(path: &str) -> bool {
    crate::terraform::load::roots::is_variable_file(path)
}

fn users_in(block: &EvaluatedBlock, literal: Span, depth: usize, users: &mut BTreeSet<Span>) {
    for attribute in block.attributes.values() {
        if holds(&attribute.value, literal, 0) {
            users.insert(attribute.span);
        }
    }
    // Blocks nest no deeper than the parser allows.
    if depth < 200 {
        block.blocks.iter().for_each(|inner| users_in(inner, literal, depth + 1, users));
    }
}

/// Returns whether the literal is this value, or a member of it that is no larger than one argument.
fn holds(value: &crate::languages::hcl::value::HclValue, literal: Span, depth: usize) -> bool {
    if value.span == literal {
        return true;
    }
    // A value that is passed to a module as a whole is counted where the module uses it.
    depth < 2 && value.items().iter().any(|item| holds(item, literal, depth + 1))
}

fn demand_one_use(code: &ModuleCode, kind: &str, name: &str) -> Result<(), Declined> {
    let mut uses = 0usize;
    let mut count = |found: &str, steps: &[crate::languages::hcl::syntax::TraversalStep]| {
        let is_it = found == kind
            && matches!(steps.first().map(|step| &step.kind), Some(TraversalStepKind::Attribute(first)) if &**first == name);
        // `local` and `var` cannot be passed as a whole, but an index can select from them.
        let any =
            found == kind && !matches!(steps.first().map(|step| &step.kind), Some(TraversalStepKind::Attribute(_)));
        uses += usize::from(is_it || any);
    };
    let blocks = code.outputs.iter().chain(code.resources.iter()).chain(code.calls.iter());
    for block in blocks.chain(code.providers.iter()).chain(&code.others) {
        block.body.each_reference(&mut |found, steps, _| count(found, steps));
    }
    for local in code.locals.iter() {
        local.expression.each_reference(&mut |found, steps, _| count(found, steps));
    }
    // A variable refers to itself in its own conditions.
    for variable in code.variables.iter().filter(|it| it.label(0) != name) {
        variable.body.each_reference(&mut |found, steps, _| count(found, steps));
    }
    match uses {
        1 => Ok(()),
        n => left_alone(format!("`{kind}.{name}` is used in {n} places")),
    }
}

/// Returns how an expression leads to the literal.
fn passes(node: &Expression, literal: Span) -> Passes {
    // Other members of an object or a list may be computed.
    if node.span == literal && (node.is_literal() || matches!(node.kind, HclKind::Object(_) | HclKind::List(_))) {
        return Passes::Here;
    }
    match &node.kind {
        HclKind::Parentheses(inner) => passes(inner, literal),
        HclKind::List(items) => below(items.iter(), literal),
        HclKind::Object(items) => below(items.iter().map(|item| &item.value), literal),
        HclKind::Call(call) if KEEPS.contains(&&*call.name.text) => below(call.arguments.iter(), literal),
        HclKind::Traversal(base, steps) => match (&base.kind, &**steps) {
            (HclKind::Name(root), [step]) => match (&**root, &step.kind) {
                ("var", TraversalStepKind::Attribute(name)) => Passes::Variable(name.to_string()),
                ("local", TraversalStepKind::Attribute(name)) => Passes::Local(name.to_string()),
                _ => Passes::Computed("each"),
            },
            _ => Passes::Computed("each"),
        },
        HclKind::Conditional(_) => Passes::Computed("chosen by a condition"),
        HclKind::Call(_) => Passes::Computed("computed by a function"),
        HclKind::Template(_) => Passes::Computed("built from several strings"),
        _ => Passes::Computed("computed"),
    }
}

/// Functions that do not change the members of their arguments.
const KEEPS: [&str; 8] = ["jsonencode", "yamlencode", "merge", "concat", "tolist", "toset", "tomap", "distinct"];

fn below<'e>(mut members: impl Iterator<Item = &'e Expression>, literal: Span) -> Passes {
    match members.find(|member| member.span.contains(literal)) {
        Some(member) => passes(member, literal),
        None => Passes::Computed("each"),
    }
}
