//! Renders templates like Go's `text/template`, with unknown values.
//!
//! If a condition is unknown, both branches are rendered. If their results are equal, the condition does not matter.
//! If only one branch has text, that text is doubtful. If both are one line, a hole replaces them.

use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use crate::source::{FileId, Span};

use super::compare::truth;
use super::failure::TemplateFailure;
use super::functions::{self, FunctionCall, ParameterType, Reads, TemplateFunction};
use super::print;
use super::syntax::{Branch, Pipeline, PipelineCommand, Template, TemplateExpression, TemplateNode};
use super::text::{TemplateCause, Text, TextOrigin, TextWriter};
use super::value::{GoKind, GoValue, Heap, MapEntries};

/// The limit on the steps of one rendering; the largest public charts use 2% of it.
const MOST_STEPS: u64 = 1_500_000;
/// The limit on the bytes of one rendering, because many run at once.
const MOST_BYTES: usize = 32 << 20;
/// The factor by which text grows when it is parsed, in bytes per byte.
pub(super) const PARSED: usize = 16;
/// The limit on nested templates, blocks and parentheses. The stack of a rendering is large enough for more.
const DEEPEST: usize = 600;

/// The bytes that functions read for one step.
pub(super) const BYTES_PER_STEP: u64 = 128;
/// The limit on the nesting of values that functions read.
const DEEPEST_VALUE: usize = 64;

/// All templates of a chart by name.
pub(crate) type TemplatesByName = HashMap<Rc<str>, Rc<Template>>;

/// Returns why a template is unknown that another chart would define; `None` if the template should exist.
pub(crate) type MissingTemplate<'a> = &'a dyn Fn(&str) -> Option<TemplateCause>;

pub(crate) struct TemplateEvaluator<'a> {
    pub(super) templates: Rc<TemplatesByName>,
    pub(crate) heap: Heap,
    missing: MissingTemplate<'a>,
    /// Values that `required` requests and that are not set.
    pub(crate) wanted: Vec<String>,
    /// Unknown conditions for which only one branch was rendered.
    pub(crate) undecided: Vec<UnknownCondition>,
    steps: Cell<u64>,
    depth: usize,
    /// The reasons why the current action may not be executed.
    doubts: Vec<TemplateCause>,
    /// The place of the current action.
    pub(super) at: Option<TextOrigin>,
}

/// The variables of one template.
struct Frame<'t> {
    template: &'t Template,
    variables: Vec<(Rc<str>, GoValue)>,
    /// Variables before this index are assigned only conditionally.
    certain: usize,
}

/// An unknown condition for which one branch is omitted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct UnknownCondition {
    pub(crate) at: Span,
    pub(crate) why: String,
}

#[derive(PartialEq)]
enum Flow {
    Next,
    Break,
    Continue,
}

type Done<T> = Result<T, TemplateFailure>;

impl<'a> TemplateEvaluator<'a> {
    /// Returns the heap for rendering a chart.
    pub(crate) fn heap(file: FileId) -> Heap {
        Heap::new(MOST_BYTES, file)
    }

    pub(crate) fn new(templates: TemplatesByName, missing: MissingTemplate<'a>, heap: Heap) -> Self {
        TemplateEvaluator {
            templates: Rc::new(templates),
            heap,
            missing,
            wanted: Vec::new(),
            undecided: Vec::new(),
            steps: Cell::new(MOST_STEPS),
            depth: 0,
            doubts: Vec::new(),
            at: None,
        }
    }

    /// Renders a template. Go's text for a missing value is removed, as Helm does.
    pub(crate) fn render(&mut self, name: &str, dot: &GoValue) -> Done<Text> {
        let Some(template) = self.templates.get(name).cloned() else {
            return Err(format!("template {name:?} not defined").into());
        };
        (self.depth, self.at) = (0, None);
        self.doubts.clear();
        let mut out = TextWriter::default();
        self.run(&template, dot, &mut out)?;
        Ok(without_no_value(&out.finish()))
    }

    /// Returns the place of the action at which rendering stopped.
    pub(crate) fn stopped(&self) -> Option<Span> {
        self.at.map(|origin| origin.span)
    }

    /// Returns the steps spent so far.
    pub(crate) fn taken(&self) -> u64 {
        MOST_STEPS - self.steps.get()
    }

    pub(super) fn step(&self, steps: u64) -> Done<()> {
        match self.steps.get().checked_sub(steps) {
            Some(left) => {
                self.steps.set(left);
                Ok(())
            }
            None => {
                self.steps.set(0);
                Err(TemplateFailure::Budget("rendering exceeds the step limit"))
            }
        }
    }

    /// Spends steps for reading values. Each function does this before its call, and so does printing. Its result may
    /// be as large as its input.
    pub(super) fn read(&self, values: &[GoValue], reads: Reads) -> Done<()> {
        let levels = match reads {
            Reads::Nothing => return Ok(()),
            Reads::Items => 1,
            Reads::All => DEEPEST_VALUE,
        };
        let most = self.heap.left();
        let weight = |sum: usize, value: &GoValue| sum.saturating_add(value.weight(levels, most.saturating_sub(sum)));
        let bytes = values.iter().fold(0, weight);
        self.heap.fits(bytes)?;
        self.step(bytes as u64 / BYTES_PER_STEP)
    }

    pub(super) fn doubt(&self) -> Option<&TemplateCause> {
        self.doubts.last()
    }

    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Done<T>) -> Done<T> {
        self.depth += 1;
        let done = match self.depth > DEEPEST {
            true => Err(TemplateFailure::Budget("templates are nested too deeply")),
            false => inner(self),
        };
        self.depth -= 1;
        done
    }

    fn run(&mut self, template: &Rc<Template>, dot: &GoValue, out: &mut TextWriter) -> Done<()> {
        // An include uses more stack than other nodes of a template.
        const COST: usize = 5;
        self.depth += COST;
        let mut frame = Frame { template, variables: vec![("".into(), dot.clone())], certain: 0 };
        let done = self.deeper(|it| it.walk(&template.nodes, dot, &mut frame, out)).map(|_| ());
        self.depth -= COST;
        done
    }

    /// Renders a template by its name, for `include`.
    pub(super) fn include(&mut self, name: &str, dot: &GoValue) -> Done<Text> {
        let mut out = TextWriter::default();
        let at = self.at;
        match self.templates.get(name).cloned() {
            Some(template) => self.run(&template, dot, &mut out)?,
            None => match (self.missing)(name) {
                Some(cause) => return Err(TemplateFailure::Unknown(cause)),
                None => return Err(format!("template {name:?} not defined").into()),
            },
        }
        self.at = at;
        let text = out.finish();
        self.heap.spend(text.weight())?;
        Ok(text)
    }

    /// Renders a string that contains actions, for `tpl`.
    pub(super) fn evaluate_text(&mut self, text: &Text, dot: &GoValue) -> Done<Text> {
        if let Some(cause) = text.hole().filter(|_| text.as_str().contains("{{")) {
            return Err(TemplateFailure::Unknown(cause.clone()));
        }
        if !text.as_str().contains("{{") {
            return Ok(without_no_value(text));
        }
        self.step(text.len() as u64 / 8)?;
        self.heap.fits(text.len().saturating_mul(PARSED))?;
        self.heap.spend(text.len())?;
        let parsed = super::parser::parse("gotpl", text, functions::is_known)
            .map_err(|refused| format!("cannot parse template {:?}: {}", shorten(text.as_str()), refused.why))?;
        let mut all = parsed.into_iter();
        let Some(main) = all.next() else { return Ok("".into()) };
        let outer = self.templates.clone();
        let mut all = all.peekable();
        if all.peek().is_some() {
            let mut own = (*outer).clone();
            define(&mut own, all);
            self.templates = Rc::new(own);
        }
        let (mut out, at) = (TextWriter::default(), self.at);
        let done = self.run(&Rc::new(main), dot, &mut out);
        (self.templates, self.at) = (outer, at);
        done?;
        let text = out.finish();
        self.heap.spend(text.weight())?;
        Ok(without_no_value(&text))
    }

    fn walk(
        &mut self,
        nodes: &[TemplateNode],
        dot: &GoValue,
        frame: &mut Frame<'_>,
        out: &mut TextWriter,
    ) -> Done<Flow> {
        for node in nodes {
            self.step(1)?;
            match node {
                TemplateNode::Text(range) => {
                    self.heap.spend(range.len())?;
                    out.push_slice(&frame.template.source, range.start, range.end, None);
                }
                TemplateNode::Action(pipeline) => {
                    let value = self.pipeline(pipeline, dot, frame)?;
                    if pipeline.variables.is_empty() {
                        let action = self.place(frame, &pipeline.range);
                        let before = out.len();
                        self.read(std::slice::from_ref(&value), Reads::All)?;
                        print::output(&value, out, action)?;
                        self.heap.spend(out.len() - before)?;
                    }
                }
                TemplateNode::If(branch) => {
                    let flow = self.deeper(|it| it.branch(branch, false, dot, frame, out))?;
                    if flow != Flow::Next {
                        return Ok(flow);
                    }
                }
                TemplateNode::With(branch) => {
                    let flow = self.deeper(|it| it.branch(branch, true, dot, frame, out))?;
                    if flow != Flow::Next {
                        return Ok(flow);
                    }
                }
                TemplateNode::Range(branch) => self.deeper(|it| it.range(branch, dot, frame, out))?,
                TemplateNode::Template { name, data, range } => {
                    let data = match data {
                        Some(pipeline) => self.pipeline(pipeline, dot, frame)?,
                        None => GoValue::nil(),
                    };
                    let action = self.place(frame, range);
                    match self.include(name, &data) {
                        Ok(text) => out.push_text(&text, action),
                        Err(TemplateFailure::Unknown(cause)) => out.push_hole(&cause, action),
                        Err(other) => return Err(other),
                    }
                }
                TemplateNode::Break => return Ok(Flow::Break),
                TemplateNode::Continue => return Ok(Flow::Continue),
            }
        }
        Ok(Flow::Next)
    }

    fn place(&self, frame: &Frame<'_>, range: &Range<usize>) -> Option<TextOrigin> {
        frame.template.source.span_of(range.start, range.end).map(TextOrigin::whole)
    }

    fn branch(
        &mut self,
        branch: &Branch,
        sets_dot: bool,
        dot: &GoValue,
        frame: &mut Frame<'_>,
        out: &mut TextWriter,
    ) -> Done<Flow> {
        let known = frame.variables.len();
        let value = self.pipeline(&branch.pipeline, dot, frame)?;
        let inner = if sets_dot { &value } else { dot };
        let flow = match truth(&value) {
            Ok(true) => self.walk(&branch.then, inner, frame, out)?,
            Ok(false) => self.walk(&branch.otherwise, dot, frame, out)?,
            Err(cause) => {
                self.either(&cause, branch, [inner, dot], frame, out)?;
                Flow::Next
            }
        };
        frame.variables.truncate(known);
        Ok(flow)
    }

    /// Renders both branches of an unknown condition.
    fn either(
        &mut self,
        cause: &TemplateCause,
        branch: &Branch,
        dots: [&GoValue; 2],
        frame: &mut Frame<'_>,
        out: &mut TextWriter,
    ) -> Done<()> {
        let first = self.perhaps(cause, &branch.then, dots[0], frame)?;
        let second = self.perhaps(cause, &branch.otherwise, dots[1], frame)?;
        let at = self.place(frame, &branch.pipeline.range);
        let is_blank = |text: &Text| text.as_str().trim().is_empty();
        // The result must be a plain value, because a text with a key may be anything.
        let is_line = |text: &Text| !text.as_str().contains('\n') && !text.as_str().contains(": ");
        let start = out.len();
        match (first, second) {
            (Some(first), Some(second)) if first.as_str() == second.as_str() => out.push_text(&first, None),
            (Some(first), Some(second)) if is_line(&first) && is_line(&second) => out.push_hole(cause, at),
            (Some(text), Some(other)) if is_blank(&other) => {
                out.push_text(&text, None);
                out.doubt(start, cause);
            }
            (Some(other), Some(text)) if is_blank(&other) => {
                out.push_text(&text, None);
                out.doubt(start, cause);
            }
            (Some(text), None) | (None, Some(text)) => {
                out.push_text(&text, None);
                out.doubt(start, cause);
            }
            (Some(first), Some(_)) => {
                self.undecided.extend(at.map(|at| UnknownCondition { at: at.span, why: cause.why.to_string() }));
                out.push_text(&first, None);
                out.doubt(start, cause);
            }
            (None, None) => out.push_hole(cause, at),
        }
        Ok(())
    }

    /// Renders nodes that may not be executed; `None` if they cannot be rendered.
    fn perhaps(
        &mut self,
        cause: &TemplateCause,
        nodes: &[TemplateNode],
        dot: &GoValue,
        frame: &mut Frame<'_>,
    ) -> Done<Option<Text>> {
        let known = frame.variables.len();
        let certain = std::mem::replace(&mut frame.certain, known);
        self.doubts.push(cause.clone());
        let depth = self.depth;
        let mut out = TextWriter::default();
        let done = self.walk(nodes, dot, frame, &mut out);
        self.depth = depth;
        self.doubts.pop();
        frame.certain = certain;
        frame.variables.truncate(known);
        match done {
            Ok(_) => Ok(Some(out.finish())),
            Err(TemplateFailure::Budget(why)) => Err(TemplateFailure::Budget(why)),
            Err(_) => Ok(None),
        }
    }

    fn range(&mut self, branch: &Branch, dot: &GoValue, frame: &mut Frame<'_>, out: &mut TextWriter) -> Done<()> {
        let known = frame.variables.len();
        // The variables of a range belong to each iteration and do not exist in its pipeline.
        let value = self.commands(&branch.pipeline, dot, frame)?;
        let done = self.rounds(branch, &value, dot, frame, out);
        frame.variables.truncate(known);
        done
    }

    fn rounds(
        &mut self,
        branch: &Branch,
        value: &GoValue,
        dot: &GoValue,
        frame: &mut Frame<'_>,
        out: &mut TextWriter,
    ) -> Done<()> {
        let rounds: Vec<(GoValue, GoValue)> = match &value.kind {
            GoKind::List(list) => {
                let numbered = list.items().iter().enumerate();
                numbered.map(|(number, item)| (GoValue::int(number as i64), inside(item.clone()))).collect()
            }
            GoKind::Map(map) => {
                let key = |key: &Arc<str>, origin| GoValue { kind: GoKind::Text((&**key).into()), origin };
                let entries = map.borrow();
                self.heap.fits(entries.keys().map(|key| key.len()).sum())?;
                entries.iter().map(|(name, entry)| (key(name, entry.key), inside(entry.value.clone()))).collect()
            }
            GoKind::Int(number) | GoKind::Int64(number) => {
                if branch.pipeline.variables.len() > 1 {
                    return Err(format!("can't use {number} to iterate over more than one variable").into());
                }
                self.step(u64::try_from(*number).unwrap_or(0))?;
                (0..*number).map(|number| (GoValue::nil(), GoValue::int(number))).collect()
            }
            GoKind::Nil | GoKind::NilInside => Vec::new(),
            GoKind::Object(object) => match object.entries() {
                Some(entries) => entries.into_iter().map(|(key, value)| (GoValue::from(&*key), value)).collect(),
                None => return Err(format!("range can't iterate over {}", object.type_name()).into()),
            },
            GoKind::Unknown(cause) => return self.unknown_rounds(branch, cause, dot, frame, out),
            _ => return Err(format!("range can't iterate over a {}", value.type_name()).into()),
        };
        if rounds.is_empty() {
            self.walk(&branch.otherwise, dot, frame, out)?;
        }
        for (key, item) in rounds {
            self.step(1)?;
            let known = frame.variables.len();
            self.bind(&branch.pipeline, key, &item, frame)?;
            let flow = self.walk(&branch.then, &item, frame, out)?;
            frame.variables.truncate(known);
            if flow == Flow::Break {
                break;
            }
        }
        Ok(())
    }

    fn bind(&mut self, pipeline: &Pipeline, key: GoValue, item: &GoValue, frame: &mut Frame<'_>) -> Done<()> {
        let values = match pipeline.variables.len() {
            0 => return Ok(()),
            1 => vec![item.clone()],
            _ => vec![key, item.clone()],
        };
        for (name, value) in pipeline.variables.iter().zip(values) {
            match pipeline.assigns {
                true => self.assign(name, value, frame)?,
                false => frame.variables.push((name.clone(), value)),
            }
        }
        Ok(())
    }

    /// Renders one iteration, which represents the iterations over an unknown list.
    fn unknown_rounds(
        &mut self,
        branch: &Branch,
        cause: &TemplateCause,
        dot: &GoValue,
        frame: &mut Frame<'_>,
        out: &mut TextWriter,
    ) -> Done<()> {
        let known = frame.variables.len();
        let item = GoValue::unknown(cause.clone());
        self.bind(&branch.pipeline, item.clone(), &item, frame)?;
        let text = self.perhaps(cause, &branch.then, &item, frame)?;
        frame.variables.truncate(known);
        let otherwise = self.perhaps(cause, &branch.otherwise, dot, frame)?;
        let start = out.len();
        match text.or(otherwise) {
            Some(text) => {
                out.push_text(&text, None);
                out.doubt(start, cause);
            }
            None => out.push_hole(cause, self.place(frame, &branch.pipeline.range)),
        }
        Ok(())
    }

    fn assign(&mut self, name: &str, value: GoValue, frame: &mut Frame<'_>) -> Done<()> {
        let place = frame.variables.iter().rposition(|(known, _)| **known == *name);
        let Some(place) = place else { return Err(format!("undefined variable: ${name}").into()) };
        let value = match self.doubts.last().filter(|_| place < frame.certain) {
            Some(cause) => GoValue::unknown(cause.clone()),
            None => value,
        };
        if let Some((_, known)) = frame.variables.get_mut(place) {
            *known = value;
        }
        Ok(())
    }

    fn pipeline(&mut self, pipeline: &Pipeline, dot: &GoValue, frame: &mut Frame<'_>) -> Done<GoValue> {
        let value = self.commands(pipeline, dot, frame)?;
        for name in &pipeline.variables {
            match pipeline.assigns {
                true => self.assign(name, value.clone(), frame)?,
                false => frame.variables.push((name.clone(), value.clone())),
            }
        }
        Ok(value)
    }

    fn commands(&mut self, pipeline: &Pipeline, dot: &GoValue, frame: &mut Frame<'_>) -> Done<GoValue> {
        self.at = self.place(frame, &pipeline.range);
        let mut value = None;
        for command in &pipeline.commands {
            self.step(1)?;
            value = Some(self.deeper(|it| it.command(command, value, dot, frame))?.settled());
        }
        Ok(value.unwrap_or_else(GoValue::nil))
    }

    fn command(
        &mut self,
        command: &PipelineCommand,
        last: Option<GoValue>,
        dot: &GoValue,
        frame: &mut Frame<'_>,
    ) -> Done<GoValue> {
        let Some((first, words)) = command.words.split_first() else { return Ok(GoValue::nil()) };
        let is_called = !words.is_empty() || last.is_some();
        match first {
            TemplateExpression::Function(name) => self.call(name, words, last, dot, frame),
            TemplateExpression::Field(names) => self.fields(dot.clone(), names, words, last, dot, frame),
            TemplateExpression::Variable(name, names) if !names.is_empty() => {
                let value = self.variable(name, frame)?;
                self.fields(value, names, words, last, dot, frame)
            }
            TemplateExpression::Chain(inner, names) => {
                let value = self.operand(inner, dot, frame)?.settled();
                self.fields(value, names, words, last, dot, frame)
            }
            _ if is_called => Err("can't give argument to non-function".into()),
            TemplateExpression::Nil => Err("nil is not a command".into()),
            other => self.operand(other, dot, frame),
        }
    }

    fn variable(&self, name: &str, frame: &Frame<'_>) -> Done<GoValue> {
        let found = frame.variables.iter().rev().find(|(known, _)| **known == *name);
        found.map(|(_, value)| value.clone()).ok_or_else(|| format!("undefined variable: ${name}").into())
    }

    /// Evaluates an argument as written.
    fn operand(&mut self, expression: &TemplateExpression, dot: &GoValue, frame: &mut Frame<'_>) -> Done<GoValue> {
        self.step(1)?;
        Ok(match expression {
            TemplateExpression::Dot => dot.clone(),
            TemplateExpression::Nil => GoValue::nil(),
            TemplateExpression::Flag(flag) => (*flag).into(),
            TemplateExpression::Int(number) => GoValue::int(*number),
            TemplateExpression::Float(number) => (*number).into(),
            TemplateExpression::Text(text) => text.clone().into(),
            TemplateExpression::Field(names) => self.fields(dot.clone(), names, &[], None, dot, frame)?,
            TemplateExpression::Variable(name, names) => {
                let value = self.variable(name, frame)?;
                if names.is_empty() { value } else { self.fields(value, names, &[], None, dot, frame)? }
            }
            TemplateExpression::Function(name) => self.deeper(|it| it.call(name, &[], None, dot, frame))?,
            TemplateExpression::Chain(inner, names) => {
                let value = self.deeper(|it| it.operand(inner, dot, frame))?.settled();
                self.fields(value, names, &[], None, dot, frame)?
            }
            TemplateExpression::Pipeline(pipeline) => {
                let at = self.at;
                let value = self.deeper(|it| it.pipeline(pipeline, dot, frame))?;
                self.at = at;
                value
            }
        })
    }

    fn fields(
        &mut self,
        start: GoValue,
        names: &[Rc<str>],
        words: &[TemplateExpression],
        last: Option<GoValue>,
        dot: &GoValue,
        frame: &mut Frame<'_>,
    ) -> Done<GoValue> {
        let mut value = start;
        let mut last = last;
        for (number, name) in names.iter().enumerate() {
            let is_last = number + 1 == names.len();
            let mut arguments = Vec::new();
            if is_last && (!words.is_empty() || last.is_some()) {
                for word in words {
                    arguments.push(self.operand(word, dot, frame)?);
                }
                arguments.extend(last.take());
            }
            value = self.field(&value, name, &arguments)?;
        }
        Ok(value)
    }

    fn field(&self, value: &GoValue, name: &str, arguments: &[GoValue]) -> Done<GoValue> {
        let refuse_arguments = || TemplateFailure::Refused(format!("{name} is not a method but has arguments"));
        match &value.kind {
            GoKind::Nil => Ok(GoValue::nil()),
            GoKind::NilInside => Err(format!("nil pointer evaluating interface {{}}.{name}").into()),
            GoKind::Map(_) if !arguments.is_empty() => Err(refuse_arguments()),
            GoKind::Map(map) => Ok(match map.borrow().get(name) {
                Some(entry) => inside(entry.value.clone()),
                None => GoKind::NilInside.into(),
            }),
            GoKind::Object(object) => {
                if let Some(cause) = print::unknown_among(arguments) {
                    return Ok(GoValue::unknown(cause));
                }
                if !arguments.is_empty() && !object.is_method(name) {
                    return Err(refuse_arguments());
                }
                let missing = || format!("can't evaluate field {name} in type {}", object.type_name());
                object.field(name, arguments, &self.heap).unwrap_or_else(|| Err(missing().into()))
            }
            GoKind::Unknown(cause) => Ok(GoValue { kind: GoKind::Unknown(cause.clone()), origin: value.origin }),
            _ => Err(format!("can't evaluate field {name} in type {}", value.type_name()).into()),
        }
    }

    fn call(
        &mut self,
        name: &str,
        words: &[TemplateExpression],
        last: Option<GoValue>,
        dot: &GoValue,
        frame: &mut Frame<'_>,
    ) -> Done<GoValue> {
        if matches!(name, "and" | "or") {
            return self.logic(name == "or", words, last, dot, frame);
        }
        let Some(function) = functions::find(name) else {
            return Err(format!("{name:?} is not a defined function").into());
        };
        let count = words.len() + usize::from(last.is_some());
        function.check_count(count)?;
        let mut arguments = Vec::with_capacity(count);
        for (number, word) in words.iter().enumerate() {
            let value = self.operand(word, dot, frame)?;
            let is_literal = matches!(
                word,
                TemplateExpression::Int(_)
                    | TemplateExpression::Float(_)
                    | TemplateExpression::Flag(_)
                    | TemplateExpression::Text(_)
            );
            arguments.push(fitted(function, number, value, is_literal)?);
        }
        if let Some(last) = last {
            arguments.push(fitted(function, arguments.len(), last, false)?);
        }
        let at = self.at;
        let done = self.apply(function, arguments);
        self.at = at;
        done.map_err(|failure| match failure {
            TemplateFailure::Refused(why) if !why.starts_with("error calling") => {
                TemplateFailure::Refused(format!("error calling {name}: {why}"))
            }
            other => other,
        })
    }

    pub(super) fn apply(&mut self, function: &TemplateFunction, arguments: Vec<GoValue>) -> Done<GoValue> {
        self.step(2)?;
        if !function.takes_unknowns
            && let Some(cause) = print::unknown_among(&arguments)
        {
            let origin = arguments.iter().find_map(GoValue::place);
            return Ok(GoValue { kind: GoKind::Unknown(cause), origin });
        }
        if function.makes_numbers
            && let Some(text) = arguments.iter().filter_map(GoValue::as_str).find(|text| is_filled_in_elsewhere(text))
        {
            let cause = TemplateCause::new("number", format!("another program fills in `{text}`"));
            return Ok(GoValue { kind: GoKind::Unknown(cause), origin: arguments.iter().find_map(GoValue::place) });
        }
        let origin = match function.keeps_origin {
            true => {
                arguments.iter().rev().find_map(GoValue::place).map(|origin| TextOrigin { linear: false, ..origin })
            }
            false => None,
        };
        self.read(&arguments, function.reads)?;
        let done = (function.run)(&mut FunctionCall { evaluator: self, arguments: &arguments });
        if let (Ok(made), Reads::All) = (&done, function.reads) {
            self.heap.spend(made.weight(0, usize::MAX))?;
        }
        match done {
            Ok(value) => Ok(value.or_at(origin)),
            Err(TemplateFailure::Unknown(cause)) => {
                Ok(GoValue { kind: GoKind::Unknown(cause), origin: origin.or(self.at) })
            }
            Err(other) => Err(other),
        }
    }

    /// Evaluates `and` and `or`, which stop at the first deciding argument.
    fn logic(
        &mut self,
        is_or: bool,
        words: &[TemplateExpression],
        last: Option<GoValue>,
        dot: &GoValue,
        frame: &mut Frame<'_>,
    ) -> Done<GoValue> {
        if words.is_empty() && last.is_none() {
            return Err("wrong number of args for and: want at least 1 got 0".into());
        }
        let mut unknown: Option<TemplateCause> = None;
        let mut value = GoValue::nil();
        for word in words {
            value = self.operand(word, dot, frame)?;
            match truth(&value) {
                Ok(decides) if decides == is_or => {
                    // An earlier unknown argument could also have decided. The result has the same truth value in both
                    // cases.
                    return Ok(match unknown {
                        Some(_) => is_or.into(),
                        None => value,
                    });
                }
                Ok(_) => {}
                Err(cause) => unknown = unknown.or(Some(cause)),
            }
        }
        let value = last.unwrap_or(value);
        Ok(match (unknown, truth(&value)) {
            (Some(_), Ok(decides)) if decides == is_or => is_or.into(),
            (Some(cause), _) => GoValue { kind: GoKind::Unknown(cause), origin: value.origin },
            (None, _) => value,
        })
    }
}

/// Converts a value to a member of a mapping or a list.
fn inside(value: GoValue) -> GoValue {
    match value.kind {
        GoKind::Nil => GoValue { kind: GoKind::NilInside, ..value },
        _ => value,
    }
}

/// Converts a value to a function's parameter; an error if Go would refuse it.
fn fitted(function: &TemplateFunction, number: usize, value: GoValue, is_literal: bool) -> Done<GoValue> {
    let Some(parameter) = function.parameter(number) else { return Ok(value) };
    let wrong = |expected: &str| match value.kind {
        GoKind::Nil => TemplateFailure::Refused(format!("invalid value; expected {expected}")),
        _ => TemplateFailure::Refused(format!("wrong type for value; expected {expected}; got {}", value.type_name())),
    };
    match (parameter, &value.kind) {
        (ParameterType::Any, _) | (_, GoKind::Unknown(_)) => Ok(value),
        (ParameterType::Text, GoKind::Text(_))
        | (ParameterType::Flag, GoKind::Flag(_))
        | (ParameterType::Map, GoKind::Map(_)) => Ok(value),
        (ParameterType::Int, GoKind::Int(_)) | (ParameterType::Float, GoKind::Float(_)) => Ok(value),
        (ParameterType::Float, GoKind::Int(whole)) if is_literal => {
            Ok(GoValue { kind: GoKind::Float(*whole as f64), ..value })
        }
        (ParameterType::Int, GoKind::Float(number)) if is_literal && number.fract() == 0.0 => {
            Ok(GoValue { kind: GoKind::Int(super::numbers::truncated(*number)), ..value })
        }
        (ParameterType::Map, GoKind::Nil) => Ok(value),
        (ParameterType::Map, GoKind::Object(_)) => Ok(value),
        (ParameterType::Text, _) => Err(wrong("string")),
        (ParameterType::Int, _) => Err(wrong("int")),
        (ParameterType::Float, _) => Err(wrong("float64")),
        (ParameterType::Flag, _) => Err(wrong("bool")),
        (ParameterType::Map, _) => Err(wrong("map[string]interface {}")),
    }
}

/// Adds templates to the known ones. A template of only spaces does not replace another.
pub(crate) fn define(known: &mut TemplatesByName, all: impl Iterator<Item = Template>) {
    for template in all {
        if template.is_empty() && known.contains_key(&template.name) {
            continue;
        }
        known.insert(template.name.clone(), Rc::new(template));
    }
}

fn without_no_value(text: &Text) -> Text {
    const NOTHING: &str = "<no value>";
    if memchr::memmem::find(text.as_str().as_bytes(), NOTHING.as_bytes()).is_none() {
        return text.clone();
    }
    let mut writer = TextWriter::default();
    let mut at = 0;
    for (found, _) in text.as_str().match_indices(NOTHING) {
        writer.push_slice(text, at, found, None);
        at = found + NOTHING.len();
    }
    writer.push_slice(text, at, text.len(), None);
    writer.finish()
}

pub(super) fn shorten(text: &str) -> String {
    text.chars().take(60).collect()
}

/// Returns a mapping with string keys, for functions that create one.
pub(super) fn entries(pairs: impl IntoIterator<Item = (String, GoValue)>) -> MapEntries {
    pairs.into_iter().map(|(key, value)| (Arc::from(key), value.into())).collect()
}

/// Placeholders that another tool fills in: `${data.x.y}` of Terraform, `${VAR}` of a shell. As a number, such a string
/// would be 0.
fn is_filled_in_elsewhere(text: &str) -> bool {
    text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).is_some_and(|name| !name.is_empty())
}
