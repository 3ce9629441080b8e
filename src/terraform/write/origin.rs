//! Whether a literal may be changed: what else would change with it.
//!
//! From the argument of the resource back to the literal, every variable and local on the way must have this one user,
//! and every module on the way this one caller.

use std::collections::BTreeSet;

use crate::inventory::Declined;
use crate::source::{FileId, Span, join, parent};

use super::super::block::Block;
use super::super::module::ModuleCode;
use super::super::modules::is_local;
use super::super::syntax::{BlockNode, Expression, Kind, StepKind, parse_expression};
use super::Writer;

/// Values come through so many variables and locals at most.
const LONGEST_WAY: usize = 16;

fn left_alone<T>(why: impl Into<String>) -> Result<T, Declined> {
    Err(Declined::LeftAlone(why.into()))
}

/// What an expression passes on as it is.
enum Passes {
    /// The literal stands in it, below lists and objects only.
    Here,
    Variable(String),
    Local(String),
    /// It is computed, and how.
    Computed(&'static str),
}

impl Writer<'_> {
    /// Whether the scalar at `literal`, which a block says at `expression`, is only its own.
    pub(super) fn may_change(&self, block: &Block, expression: Span, literal: Span) -> Result<(), Declined> {
        let directory = self.directory_of(block.span.file);
        self.demand_one_caller(&directory)?;
        self.follow(&directory, expression, literal)
    }

    /// A module that is called from several places is nobody's own.
    pub(super) fn demand_one_caller(&self, directory: &str) -> Result<(), Declined> {
        let callers = self.callers(directory);
        match callers.len() {
            0 | 1 => Ok(()),
            n => left_alone(format!("it stands in a module that {n} others call")),
        }
    }

    fn follow(&self, directory: &str, expression: Span, literal: Span) -> Result<(), Declined> {
        let (mut directory, mut expression) = (directory.to_owned(), expression);
        for _ in 0..LONGEST_WAY {
            let node = self.expression(expression)?;
            match passes(&node, literal) {
                Passes::Here => return Ok(()),
                Passes::Computed(how) if expression.contains(literal) || how != "each" => {
                    return left_alone(format!("the value is {how}"));
                }
                Passes::Computed(_) => return self.only_user(literal),
                Passes::Local(name) => {
                    let code = self.library.module(&directory);
                    demand_one_use(&code, "local", &name)?;
                    let Some(local) = code.locals.get(&name) else { return left_alone("the local is not declared") };
                    expression = local.expression.span;
                }
                Passes::Variable(name) => match self.assigned(&directory, &name, literal)? {
                    Some((caller, argument)) => (directory, expression) = (caller, argument),
                    None => return Ok(()),
                },
            }
        }
        left_alone("the value comes through too many variables")
    }

    /// Where the caller of a module says a variable; nothing where the literal is the variable's own.
    fn assigned(&self, directory: &str, name: &str, literal: Span) -> Result<Option<(String, Span)>, Declined> {
        let code = self.library.module(directory);
        demand_one_use(&code, "var", name)?;
        let Some(variable) = code.variables.get(name) else { return left_alone("the variable is not declared") };
        if variable.body.span.contains(literal) {
            return Ok(None);
        }
        let callers = self.callers(directory);
        let Some(call) = callers.iter().next() else {
            let is_file =
                self.sources.editable(literal) == Some(literal) && is_variable_file(&self.sources.path(literal.file));
            return if is_file {
                Ok(None)
            } else {
                left_alone(format!("`var.{name}` is given on the command line or by the environment"))
            };
        };
        let caller = self.directory_of(call.file);
        let argument = self.call_at(&caller, *call).and_then(|it| it.body.attribute(name).map(|it| it.expression.span));
        match argument {
            Some(argument) => Ok(Some((caller, argument))),
            None => left_alone(format!("`var.{name}` comes from elsewhere")),
        }
    }

    fn call_at(&self, directory: &str, header: Span) -> Option<BlockNode> {
        self.library.module(directory).calls.iter().find(|it| it.header == header).cloned()
    }

    /// Through `each.value` and the like: of all arguments in the tree only one has this value.
    fn only_user(&self, literal: Span) -> Result<(), Declined> {
        let mut users: BTreeSet<Span> = BTreeSet::new();
        for block in self.blocks {
            users_in(block, literal, 0, &mut users);
        }
        match users.len() {
            0 | 1 => Ok(()),
            n => left_alone(format!("{n} arguments have their value from there")),
        }
    }

    fn expression(&self, span: Span) -> Result<Expression, Declined> {
        let text = self.sources.text(span.file);
        // as far into the file as it stands there, so that places are those of the file
        let padded = format!("{}{}", " ".repeat(span.start as usize), text.get(span.range()).unwrap_or_default());
        match parse_expression(span.file, &padded) {
            Ok(expression) => Ok(expression),
            Err(_) => left_alone("the text that says it cannot be read by itself"),
        }
    }

    /// The headers of the calls that lead to a directory.
    fn callers(&self, directory: &str) -> BTreeSet<Span> {
        let calls = self.blocks.iter().filter(|block| block.keyword == "module");
        let leads = |block: &&Block| {
            let source = block.source.as_deref().filter(|source| is_local(source));
            source.and_then(|source| join(&self.directory_of(block.span.file), source)).as_deref() == Some(directory)
        };
        calls.filter(leads).map(|block| block.span).collect()
    }

    pub(super) fn directory_of(&self, file: FileId) -> String {
        parent(&self.sources.path(file)).to_owned()
    }
}

fn is_variable_file(path: &str) -> bool {
    super::super::roots::is_variable_file(path)
}

fn users_in(block: &Block, literal: Span, depth: usize, users: &mut BTreeSet<Span>) {
    for attribute in block.attributes.values() {
        if holds(&attribute.value, literal, 0) {
            users.insert(attribute.span);
        }
    }
    // blocks are nested no deeper than the parser reads them
    if depth < 200 {
        block.blocks.iter().for_each(|inner| users_in(inner, literal, depth + 1, users));
    }
}

/// It, or a member that is no larger than what one argument says, is the literal.
fn holds(value: &super::super::value::Value, literal: Span, depth: usize) -> bool {
    if value.span == literal {
        return true;
    }
    // what is passed to a module whole is counted where it is used
    depth < 2 && value.items().iter().any(|item| holds(item, literal, depth + 1))
}

fn demand_one_use(code: &ModuleCode, kind: &str, name: &str) -> Result<(), Declined> {
    let mut uses = 0usize;
    let mut count = |found: &str, steps: &[super::super::syntax::Step]| {
        let is_it = found == kind
            && matches!(steps.first().map(|step| &step.kind), Some(StepKind::Attribute(first)) if &**first == name);
        // `local` and `var` as a whole cannot be passed on, but one may look into them by an index
        let any = found == kind && !matches!(steps.first().map(|step| &step.kind), Some(StepKind::Attribute(_)));
        uses += usize::from(is_it || any);
    };
    let blocks = code.outputs.iter().chain(code.resources.iter()).chain(code.calls.iter());
    for block in blocks.chain(&code.providers).chain(&code.others) {
        block.body.each_reference(&mut |found, steps, _| count(found, steps));
    }
    for local in code.locals.iter() {
        local.expression.each_reference(&mut |found, steps, _| count(found, steps));
    }
    // a variable names itself in its own conditions
    for variable in code.variables.iter().filter(|it| it.label(0) != name) {
        variable.body.each_reference(&mut |found, steps, _| count(found, steps));
    }
    match uses {
        1 => Ok(()),
        n => left_alone(format!("`{kind}.{name}` is used in {n} places")),
    }
}

/// How an expression leads to the literal.
fn passes(node: &Expression, literal: Span) -> Passes {
    if node.span == literal && node.is_literal() {
        return Passes::Here;
    }
    match &node.kind {
        Kind::Parentheses(inner) => passes(inner, literal),
        Kind::List(items) => below(items.iter(), literal),
        Kind::Object(items) => below(items.iter().map(|item| &item.value), literal),
        Kind::Call(call) if KEEPS.contains(&&*call.name.text) => below(call.arguments.iter(), literal),
        Kind::Traversal(base, steps) => match (&base.kind, &**steps) {
            (Kind::Name(root), [step]) => match (&**root, &step.kind) {
                ("var", StepKind::Attribute(name)) => Passes::Variable(name.to_string()),
                ("local", StepKind::Attribute(name)) => Passes::Local(name.to_string()),
                _ => Passes::Computed("each"),
            },
            _ => Passes::Computed("each"),
        },
        Kind::Conditional(_) => Passes::Computed("chosen by a condition"),
        Kind::Call(_) => Passes::Computed("computed by a function"),
        Kind::Template(_) => Passes::Computed("made of several texts"),
        _ => Passes::Computed("computed"),
    }
}

/// Functions that leave the members of what they are given as they are.
const KEEPS: [&str; 8] = ["jsonencode", "yamlencode", "merge", "concat", "tolist", "toset", "tomap", "distinct"];

fn below<'e>(mut members: impl Iterator<Item = &'e Expression>, literal: Span) -> Passes {
    match members.find(|member| member.span.contains(literal)) {
        Some(member) => passes(member, literal),
        None => Passes::Computed("each"),
    }
}
