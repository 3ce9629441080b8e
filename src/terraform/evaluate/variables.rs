//! Evaluates variables, locals and outputs of modules.

use std::rc::Rc;
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::languages::hcl::syntax::{BlockNode, HclKind, parse_expression_at};
use crate::languages::hcl::types::HclType;
use crate::languages::hcl::value::{Cause, HclData, HclValue};
use crate::source::Span;

use super::operators::one_of;
use super::{EvaluationBudget, Instance, Repetition, RootEvaluator, Scope};

impl RootEvaluator<'_> {
    /// Evaluates `var.name`.
    pub(super) fn variable(&self, module: &Rc<Instance>, name: &str, at: Span) -> HclValue {
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
    pub(in crate::terraform) fn local(&self, module: &Rc<Instance>, name: &str, at: Span) -> HclValue {
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
    pub(super) fn output(&self, module: &Rc<Instance>, name: &str, at: Span) -> HclValue {
        let Some(output) = module.code.outputs.get(name) else {
            return self.undeclared(module, &format!("output `{name}`"), at);
        };
        let scope = Scope::of(module, &Repetition::Single);
        let of = |output: &BlockNode| {
            let Some(value) = output.body.attribute("value") else {
                return HclValue::refused(format!("the output `{name}` has no value"), output.header);
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

    pub(super) fn undeclared(&self, module: &Instance, what: &str, at: Span) -> HclValue {
        if module.code.incomplete {
            return HclValue::unknown(format!("{what} may be in a file that cannot be parsed"), at);
        }
        HclValue::refused(format!("{what} is not declared"), at)
    }

    pub(super) fn cycle(&self, what: &str, span: Span) -> HclValue {
        let why = format!("{what} depends on itself");
        self.report(Diagnostic::unreadable(why.clone(), span));
        HclValue::refused(why, span)
    }

    fn flag(&self, block: &BlockNode, name: &str) -> Option<bool> {
        self.evaluate(&block.body.attribute(name)?.expression, Scope::CONSTANT).as_bool()
    }

    fn work_out_variable(&self, module: &Rc<Instance>, name: &str, declared: &BlockNode) -> HclValue {
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
            Some(value) => match self.spend(EvaluationBudget::typing(&value), value.span) {
                Ok(()) => of.convert(&value).marked(sensitive),
                Err(unknown) => unknown,
            },
            None => HclValue::unknown(format!("variable `{name}` has no value"), declared.header).marked(sensitive),
        }
    }

    fn declared_type(&self, declared: &BlockNode) -> HclType {
        let Some(attribute) = declared.body.attribute("type") else { return HclType::Any };
        let text = match &attribute.expression.kind {
            // Terraform 0.11 and JSON quote the type.
            HclKind::Text(text) => {
                crate::languages::hcl::syntax::parse_expression(attribute.expression.span.file, text).ok()
            }
            _ => None,
        };
        let expression = text.as_ref().unwrap_or(&attribute.expression);
        let parsed = HclType::parse(expression, &mut |default| self.evaluate(default, Scope::CONSTANT));
        parsed.unwrap_or_else(|why| {
            self.report(Diagnostic::unreadable(why, attribute.expression.span));
            HclType::Any
        })
    }

    /// Returns the value that files, the environment and the command line assign to a variable of the root.
    fn assigned(&self, name: &str, of: &HclType, declared: &BlockNode) -> Option<HclValue> {
        let last = self.assignments.get(name).and_then(|all| all.last()).or(self.assigned_to_any.as_ref())?;
        Some(last.value(self, of, declared))
    }
}

/// An assignment to a variable of the root.
#[derive(Debug, Clone)]
pub(in crate::terraform) enum VariableAssignment {
    /// An assignment in a `.tfvars` file.
    Written(Arc<crate::languages::hcl::syntax::Attribute>),
    /// A string from the command line or the environment. If the variable is a string, this is the value itself.
    Text(Span),
    /// A string from another program. If the variable is a string or has no type, this is the value itself. Otherwise,
    /// it is parsed as an expression.
    Given(HclValue),
    /// A reason why the variable may have another value than its default.
    Perhaps(Arc<Cause>),
}

impl VariableAssignment {
    fn value(&self, evaluator: &RootEvaluator<'_>, of: &HclType, declared: &BlockNode) -> HclValue {
        match self {
            VariableAssignment::Given(value) => given(evaluator, value, of, declared),
            VariableAssignment::Perhaps(cause) => {
                let default = declared.body.attribute("default");
                let default = default.map(|it| of.convert(&evaluator.evaluate(&it.expression, Scope::CONSTANT)));
                let cause = Cause { candidates: default.into_iter().collect(), ..(**cause).clone() };
                HclValue::because(&Arc::new(cause), declared.header)
            }
            VariableAssignment::Written(attribute) => evaluator.evaluate(&attribute.expression, Scope::CONSTANT),
            VariableAssignment::Text(span) => {
                let text = evaluator.sources.text(span.file);
                if matches!(of, HclType::Text | HclType::Number | HclType::Bool | HclType::Any) {
                    return HclValue::text(&*text, *span);
                }
                match crate::languages::hcl::syntax::parse_expression(span.file, &text) {
                    Ok(expression) => evaluator.evaluate(&expression, Scope::CONSTANT),
                    Err(error) => HclValue::refused(error.message, error.span),
                }
            }
        }
    }
}

/// Parses a value that was passed as a string, like Terraform.
fn given(evaluator: &RootEvaluator<'_>, value: &HclValue, of: &HclType, declared: &BlockNode) -> HclValue {
    let is_text = matches!(of, HclType::Text) || declared.body.attribute("type").is_none();
    match &value.data {
        HclData::Unknown(_) | HclData::Null | HclData::Bool(_) | HclData::Number(_) => value.clone(),
        HclData::Text(text) if !is_text && !matches!(of, HclType::Any | HclType::Number | HclType::Bool) => {
            match parse_expression_at(value.span, text) {
                Ok(expression) => evaluator.evaluate(&expression, Scope::CONSTANT).marked(value.sensitive),
                Err(error) => HclValue::refused(error.message, value.span),
            }
        }
        HclData::Text(_) => value.clone(),
        _ if is_text => evaluator.call_by_name("jsonencode", vec![value.clone()], value.span).at(value.span),
        _ => value.clone(),
    }
}
