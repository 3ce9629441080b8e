//! Evaluates variables, locals and outputs of modules.

use std::rc::Rc;
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::languages::hcl::syntax::{BlockNode, HclKind, parse_expression_at};
use crate::languages::hcl::types::Type;
use crate::languages::hcl::value::{Data, Value};
use crate::source::Span;

use super::operators::one_of;
use super::{Evaluator, Instance, Repetition, RootBudget, Scope};

impl Evaluator<'_> {
    /// Evaluates `var.name`.
    pub(super) fn variable(&self, module: &Rc<Instance>, name: &str, at: Span) -> Value {
        let Some(declared) = module.code.variables.get(name) else {
            return self.undeclared(module, &format!("variable `{name}`"), at);
        };
        let result = module.variables.get(name, || {
            let others = module.code.variables.declared_again(name).iter();
            let others = others.map(|other| self.work_out_variable(module, name, other));
            one_of(&format!("variable `{name}`"), self.work_out_variable(module, name, declared), others)
        });
        result.unwrap_or_else(|_| self.cycle(&format!("variable `{name}`"), declared.header))
    }

    /// Evaluates `local.name`.
    pub(in crate::terraform) fn local(&self, module: &Rc<Instance>, name: &str, at: Span) -> Value {
        let Some(local) = module.code.locals.get(name) else {
            return self.undeclared(module, &format!("local `{name}`"), at);
        };
        let scope = Scope::of(module, &Repetition::Single);
        let result = module.locals.get(name, || {
            let others = module.code.locals.declared_again(name).iter();
            let others = others.map(|other| self.evaluate(&other.expression, scope));
            one_of(&format!("local `{name}`"), self.evaluate(&local.expression, scope), others)
        });
        result.unwrap_or_else(|_| self.cycle(&format!("local `{name}`"), local.name.span))
    }

    /// Evaluates `module.call.name` inside the called module.
    pub(super) fn output(&self, module: &Rc<Instance>, name: &str, at: Span) -> Value {
        let Some(output) = module.code.outputs.get(name) else {
            return self.undeclared(module, &format!("output `{name}`"), at);
        };
        let scope = Scope::of(module, &Repetition::Single);
        let of = |output: &BlockNode| {
            let Some(value) = output.body.attribute("value") else {
                return Value::refused(format!("the output `{name}` has no value"), output.header);
            };
            let sensitive = self.flag(output, "sensitive").unwrap_or(false);
            self.evaluate(&value.expression, scope).marked(sensitive)
        };
        let result = module.outputs.get(name, || {
            let others = module.code.outputs.declared_again(name).iter().map(of);
            one_of(&format!("output `{name}`"), of(output), others)
        });
        result.unwrap_or_else(|_| self.cycle(&format!("output `{name}`"), output.header))
    }

    pub(super) fn undeclared(&self, module: &Instance, what: &str, at: Span) -> Value {
        if module.code.incomplete {
            return Value::unknown(format!("{what} may be in a file that cannot be parsed"), at);
        }
        Value::refused(format!("{what} is not declared"), at)
    }

    pub(super) fn cycle(&self, what: &str, span: Span) -> Value {
        let why = format!("{what} depends on itself");
        self.tell(Diagnostic::unreadable(why.clone(), span));
        Value::refused(why, span)
    }

    fn flag(&self, block: &BlockNode, name: &str) -> Option<bool> {
        self.evaluate(&block.body.attribute(name)?.expression, Scope::CONSTANT).as_bool()
    }

    fn work_out_variable(&self, module: &Rc<Instance>, name: &str, declared: &BlockNode) -> Value {
        let of = self.declared_type(declared);
        let default = || declared.body.attribute("default").map(|d| self.evaluate(&d.expression, Scope::CONSTANT));
        let given = match &module.call {
            None => self.assigned(name, &of, declared),
            Some(call) => call
                .node()
                .and_then(|node| node.body.attribute(name))
                .map(|argument| self.evaluate(&argument.expression, call.scope())),
        };
        let nullable = self.flag(declared, "nullable").unwrap_or(true);
        let value = match given {
            Some(given) if !given.is_null() || nullable => Some(given),
            _ => default(),
        };
        let sensitive = self.flag(declared, "sensitive").unwrap_or(false);
        match value {
            Some(value) => match self.spend(RootBudget::typing(&value), value.span) {
                Ok(()) => of.convert(&value).marked(sensitive),
                Err(unknown) => unknown,
            },
            None => Value::unknown(format!("variable `{name}` has no value"), declared.header).marked(sensitive),
        }
    }

    fn declared_type(&self, declared: &BlockNode) -> Type {
        let Some(attribute) = declared.body.attribute("type") else { return Type::Any };
        let text = match &attribute.expression.kind {
            // Terraform 0.11 and JSON quote the type.
            HclKind::Text(text) => {
                crate::languages::hcl::syntax::parse_expression(attribute.expression.span.file, text).ok()
            }
            _ => None,
        };
        let expression = text.as_ref().unwrap_or(&attribute.expression);
        let parsed = Type::parse(expression, &mut |default| self.evaluate(default, Scope::CONSTANT));
        parsed.unwrap_or_else(|why| {
            self.tell(Diagnostic::unreadable(why, attribute.expression.span));
            Type::Any
        })
    }

    /// Returns the value that files, the environment and the command line assign to a variable of the root.
    fn assigned(&self, name: &str, of: &Type, declared: &BlockNode) -> Option<Value> {
        let last = self.assignments.get(name).and_then(|all| all.last()).or(self.assigned_to_any.as_ref())?;
        Some(last.value(self, of, declared))
    }
}

/// An assignment to a variable of the root.
#[derive(Debug, Clone)]
pub(in crate::terraform) enum Assignment {
    /// An assignment in a `.tfvars` file.
    Written(Arc<crate::languages::hcl::syntax::Attribute>),
    /// A string from the command line or the environment. If the variable is a string, this is the value itself.
    Text(Span),
    /// A string from another program. If the variable is a string or has no type, this is the value itself. Otherwise,
    /// it is parsed as an expression.
    Given(Value),
}

impl Assignment {
    fn value(&self, evaluator: &Evaluator<'_>, of: &Type, declared: &BlockNode) -> Value {
        match self {
            Assignment::Given(value) => given(evaluator, value, of, declared),
            Assignment::Written(attribute) => evaluator.evaluate(&attribute.expression, Scope::CONSTANT),
            Assignment::Text(span) => {
                let text = evaluator.sources.text(span.file);
                if matches!(of, Type::Text | Type::Number | Type::Bool | Type::Any) {
                    return Value::text(&*text, *span);
                }
                match crate::languages::hcl::syntax::parse_expression(span.file, &text) {
                    Ok(expression) => evaluator.evaluate(&expression, Scope::CONSTANT),
                    Err(error) => Value::refused(error.message, error.span),
                }
            }
        }
    }
}

/// Parses a value that was passed as a string, like Terraform.
fn given(evaluator: &Evaluator<'_>, value: &Value, of: &Type, declared: &BlockNode) -> Value {
    let is_text = matches!(of, Type::Text) || declared.body.attribute("type").is_none();
    match &value.data {
        Data::Unknown(_) | Data::Null | Data::Bool(_) | Data::Number(_) => value.clone(),
        Data::Text(text) if !is_text && !matches!(of, Type::Any | Type::Number | Type::Bool) => {
            match parse_expression_at(value.span, text) {
                Ok(expression) => evaluator.evaluate(&expression, Scope::CONSTANT).marked(value.sensitive),
                Err(error) => Value::refused(error.message, value.span),
            }
        }
        Data::Text(_) => value.clone(),
        _ if is_text => evaluator.call_by_name("jsonencode", vec![value.clone()], value.span).at(value.span),
        _ => value.clone(),
    }
}
