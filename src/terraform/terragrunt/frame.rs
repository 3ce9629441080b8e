//! Reads one Terragrunt file for one unit.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, SkipKind};
use crate::languages::hcl::syntax::{BlockNode, Body, Expression};
use crate::languages::hcl::value::{Cause, HclData, HclValue, ObjectMembers};
use crate::source::{Span, parent};
use crate::terraform::code::modules::Modules;
use crate::terraform::evaluate::{Dialect, EvaluationBudget, Instance, Repetition, RootEvaluator, Scope, Shadows};

use super::functions;
use super::merge::{self, Strategy};
use super::reader::{TerragruntFile, TerragruntReader, UNIT, VALUES, located};

/// The maximum depth of files that read other files. Deeper nesting is probably a cycle.
const DEEPEST: usize = 20;
/// The limit on files that are read for one unit.
const MOST_FILES: usize = 500;

/// The shared state of all files of one unit: budget and results.
pub(super) struct Context<'r> {
    pub(super) reader: &'r TerragruntReader<'r>,
    pub(super) budget: Rc<EvaluationBudget>,
    /// The directory in which the unit is applied.
    pub(super) directory: String,
    pub(super) shadows: Shadows,
    /// The values that a stack passes to the unit.
    pub(super) values: Option<HclValue>,
    pub(super) files: RefCell<BTreeSet<Arc<str>>>,
    pub(super) diagnostics: RefCell<Vec<Diagnostic>>,
    /// True if the unit requested values and no stack passes any.
    pub(super) is_template: Cell<bool>,
    pub(super) read: RefCell<HashMap<String, HclValue>>,
    pub(super) reading: RefCell<Vec<String>>,
}

/// The reason why there is nothing to read.
pub(super) type UnreadReason = String;

impl<'r> Context<'r> {
    pub(super) fn report(&self, diagnostic: Diagnostic) {
        let mut told = self.diagnostics.borrow_mut();
        let is_it = |it: &Diagnostic| it.span == diagnostic.span && it.message == diagnostic.message;
        if told.len() < 20 && !told.iter().any(is_it) {
            told.push(diagnostic);
        }
    }

    fn parse(&self, path: &str) -> Result<Arc<TerragruntFile>, UnreadReason> {
        if self.files.borrow().len() >= MOST_FILES {
            return Err(format!("the unit needs more than {MOST_FILES} files"));
        }
        let parsed = self.reader.parse(path).map_err(|error| error.to_string())?;
        self.files.borrow_mut().insert(path.into());
        if let Some(error) = &parsed.error {
            self.report(Diagnostic::unreadable(error.message.clone(), error.span));
        }
        Ok(parsed)
    }
}

/// A file with the files that it includes.
pub(super) struct Frame<'c> {
    pub(super) context: &'c Context<'c>,
    pub(super) parsed: Arc<TerragruntFile>,
    /// The path of its directory, as Terragrunt sees it.
    pub(super) home: String,
    /// The directory that functions refer to: the unit's directory in the unit's file and its includes, or its own
    /// directory in a file that `read_terragrunt_config` reads.
    pub(super) base: String,
    pub(super) is_included: bool,
    pub(super) includes: Vec<Include<'c>>,
    instance: Rc<Instance>,
    values: OnceCell<HclValue>,
    exposed: RefCell<HashMap<String, Option<HclValue>>>,
    /// Names for the repeated blocks of one definition.
    pub(super) repetition: RefCell<Repetition>,
    /// Dependencies of files that are merged with this one.
    beside: OnceCell<HclValue>,
    features: OnceCell<HclValue>,
}

/// An `include` block.
pub(super) struct Include<'c> {
    pub(super) label: String,
    pub(super) strategy: Strategy,
    expose: bool,
    /// The included file; `Err` if the file is missing or its path is unknown.
    pub(super) frame: Result<Frame<'c>, Arc<Cause>>,
}

impl<'c> Frame<'c> {
    /// Opens the file of a unit, or a file that is read on its own. `path` is the path as Terragrunt sees it.
    pub(super) fn open(context: &'c Context<'c>, path: &str, real: &str) -> Result<Self, UnreadReason> {
        let directory = parent(path).to_owned();
        let mut frame = Self::bare(context, path, real, directory)?;
        let body = &frame.parsed.clone().body;
        let includes: Vec<Include<'c>> = body.blocks("include").map(|node| frame.include(node)).collect();
        let more: Vec<Include<'c>> =
            body.attribute("include").map(|it| frame.include_value(&it.expression)).unwrap_or_default();
        frame.includes.extend(includes.into_iter().chain(more));
        Ok(frame)
    }

    fn bare(context: &'c Context<'c>, path: &str, real: &str, base: String) -> Result<Self, UnreadReason> {
        let parsed = context.parse(real)?;
        let instance = Instance::root(parsed.code.clone(), parsed.anywhere());
        Ok(Frame {
            context,
            parsed,
            home: parent(path).to_owned(),
            base,
            is_included: false,
            includes: Vec::new(),
            instance,
            values: OnceCell::new(),
            exposed: RefCell::default(),
            repetition: RefCell::new(Repetition::Single),
            beside: OnceCell::new(),
            features: OnceCell::new(),
        })
    }

    fn include(&self, node: &BlockNode) -> Include<'c> {
        let value = |name: &str| node.body.attribute(name).map(|it| self.evaluate(&it.expression));
        let path = value("path").unwrap_or_else(|| HclValue::refused("this include has no path", node.header));
        self.included(node.label(0), &path, value("expose"), value("merge_strategy"))
    }

    /// Reads `include` in JSON: an object, or a list of objects.
    fn include_value(&self, expression: &Expression) -> Vec<Include<'c>> {
        let value = self.evaluate(expression);
        let all = if value.items().is_empty() { std::slice::from_ref(&value) } else { value.items() };
        let one = |label: &str, it: &HclValue| {
            let member = |name: &str| it.entries().and_then(|it| it.get(name)).cloned();
            Some(self.included(label, &member("path")?, member("expose"), member("merge_strategy")))
        };
        let labelled = |it: &HclValue| -> Vec<Include<'c>> {
            let entries = it.entries().into_iter().flat_map(|it| it.iter());
            entries.filter_map(|(label, it)| one(label, it)).collect()
        };
        all.iter().flat_map(|it| one("", it).map_or_else(|| labelled(it), |one| vec![one])).collect()
    }

    fn included(
        &self,
        label: &str,
        path: &HclValue,
        expose: Option<HclValue>,
        strategy: Option<HclValue>,
    ) -> Include<'c> {
        let strategy = match strategy.as_ref().and_then(HclValue::as_text).as_deref() {
            Some("deep") => Strategy::Deep,
            Some("no_merge") => Strategy::None,
            _ => Strategy::Shallow,
        };
        let expose = expose.as_ref().and_then(HclValue::as_bool).unwrap_or(false);
        let frame = self.included_frame(path);
        if let Err(cause) = &frame {
            let message = format!("the included file is unknown: {}", cause.why);
            self.context.report(
                Diagnostic::note(message, path.span)
                    .skipping(SkipKind::MissingInclude, "the included file is not in this repository"),
            );
        }
        Include { label: label.to_owned(), strategy, expose, frame }
    }

    fn included_frame(&self, path: &HclValue) -> Result<Frame<'c>, Arc<Cause>> {
        let missing = |why: String| Arc::new(Cause::new(why, path.span));
        if let Some(cause) = path.cause() {
            return Err(cause.clone());
        }
        let text = path.as_text().unwrap_or_default();
        let Some(full) = located(&self.home, &text) else {
            return Err(missing(format!("{text} is outside the files that gpulint reads")));
        };
        let Some(real) = self.context.reader.find(&self.context.shadows, &full) else {
            return Err(missing(format!("there is no file {full}")));
        };
        let mut frame = Frame::bare(self.context, &full, &real, self.base.clone()).map_err(missing)?;
        frame.is_included = true;
        if frame.parsed.body.blocks("include").next().is_some() {
            let message = "an included file includes another, which Terragrunt refuses";
            // The included file may be valid for other units, so the error is reported in the file that includes it.
            let note = "this file includes another";
            let told = Diagnostic::unreadable(message.to_owned(), self.parsed.anywhere());
            self.context.report(told.with_note(Some(frame.parsed.anywhere()), note));
        }
        Ok(frame)
    }

    pub(super) fn evaluator(&self) -> RootEvaluator<'_> {
        let reader = self.context.reader;
        RootEvaluator {
            sources: reader.sources,
            library: reader.library,
            workspace: reader.options.workspace.clone(),
            root: self.home.clone(),
            assignments: HashMap::new(),
            assigned_to_any: None,
            modules: Modules::default(),
            budget: self.context.budget.clone(),
            patterns: RefCell::default(),
            diagnostics: RefCell::default(),
            dialect: Some(self),
            shadows: self.context.shadows.clone(),
            made: RefCell::default(),
            has_files_of_one_tool: Cell::new(false),
            touched: RefCell::default(),
        }
    }

    pub(super) fn evaluate(&self, expression: &Expression) -> HclValue {
        let repetition = self.repetition.borrow().clone();
        let evaluator = self.evaluator();
        let value = evaluator.evaluate(expression, Scope::of(&self.instance, &repetition));
        self.context.files.borrow_mut().extend(evaluator.touched.take());
        let anywhere = self.parsed.anywhere();
        evaluator.diagnostics.into_inner().finish(anywhere).into_iter().for_each(|it| self.context.report(it));
        value
    }

    /// Returns the content of this file without includes, as an object: blocks by keyword and label.
    pub(super) fn own(&self) -> HclValue {
        let body = &self.parsed.body;
        let mut known: BTreeMap<Arc<str>, HclValue> = BTreeMap::new();
        let evaluator = self.evaluator();
        let locals = self.parsed.code.locals.iter().map(|local| {
            let name = local.name.text.clone();
            (name.clone(), evaluator.local(&self.instance, &name, local.name.span))
        });
        known.insert("locals".into(), HclValue::object(locals.collect(), body.span));
        for attribute in &body.attributes {
            if &*attribute.name.text != "include" {
                known.insert(attribute.name.text.clone(), self.evaluate(&attribute.expression));
            }
        }
        for block in &body.blocks {
            let keyword = &*block.keyword.text;
            match (keyword, block.labels.first()) {
                ("locals" | "include", _) => {}
                ("dependency", Some(label)) => insert_label(&mut known, keyword, &label.text, self.dependency(block)),
                (_, Some(label)) => insert_label(&mut known, keyword, &label.text, self.block(&block.body, None)),
                (_, None) => drop(known.insert(keyword.into(), self.block(&block.body, None))),
            }
        }
        let rest = body.incomplete.then(|| Arc::new(Cause::new("a part of this file cannot be parsed", body.span)));
        let mut value = HclValue::object(ObjectMembers { known, rest: rest.clone() }, body.span);
        if let (Some(cause), None) = (rest, body.attribute("inputs")) {
            value = with_inputs(value, HclValue::because(&cause, body.span));
        }
        value
    }

    /// Converts a block to an object, in which nested blocks are lists of objects with their names.
    fn block(&self, body: &Body, name: Option<&str>) -> HclValue {
        let mut known: BTreeMap<Arc<str>, HclValue> = BTreeMap::new();
        let mut lists: BTreeMap<Arc<str>, Vec<HclValue>> = BTreeMap::new();
        known.extend(name.map(|name| (Arc::from("name"), HclValue::text(name, body.span))));
        for attribute in &body.attributes {
            known.insert(attribute.name.text.clone(), self.evaluate(&attribute.expression));
        }
        // JSON does not distinguish objects from blocks.
        for block in body.blocks.iter().filter(|it| body.attribute(&it.keyword.text).is_none()) {
            let value = self.block(&block.body, Some(block.label(0)));
            lists.entry(block.keyword.text.clone()).or_default().push(value);
        }
        known.extend(lists.into_iter().map(|(keyword, items)| (keyword, HclValue::tuple(items, body.span))));
        HclValue::object(ObjectMembers { known, rest: None }, body.span)
    }

    /// Returns a dependency with its outputs: the mock outputs if the file skips the real ones, otherwise unknown
    /// values.
    fn dependency(&self, node: &BlockNode) -> HclValue {
        let value = self.block(&node.body, None);
        let member = |name: &str| value.entries().and_then(|it| it.get(name)).cloned();
        let is = |name: &str, wanted: bool| member(name).and_then(|it| it.as_bool()) == Some(wanted);
        let mock = member("mock_outputs");
        let outputs = match (&mock, is("skip_outputs", true) || is("enabled", false)) {
            (Some(mock), true) => mock.clone(),
            (None, true) => HclValue::refused("this dependency skips its outputs", node.header),
            (_, false) => {
                let path = member("config_path").and_then(|it| it.as_text().map(|it| it.into_owned()));
                let place = path.as_deref().and_then(|it| located(&self.base, it));
                let unit = place.or(path).unwrap_or_else(|| "another unit".into());
                let mocked = if mock.is_some() { " (`mock_outputs` are only placeholders)" } else { "" };
                let why = format!("output of {unit}: known only after apply{mocked}");
                HclValue::unknown(why, node.header)
            }
        };
        let mut entries = value.entries().cloned().unwrap_or_default();
        entries.known.insert("outputs".into(), outputs);
        HclValue::object(entries, node.header)
    }

    /// Returns the content of this file, merged with its includes.
    pub(super) fn merged(&self) -> HclValue {
        let mut result = self.own();
        for include in self.includes.iter().rev() {
            match &include.frame {
                Ok(frame) => {
                    let names = |value: HclValue| {
                        value
                            .entries()
                            .and_then(|it| it.get("dependency"))
                            .cloned()
                            .unwrap_or_else(|| HclValue::null(value.span))
                    };
                    let _ = frame.beside.set(names(result.clone()));
                    result = merge::join(&frame.own(), &result, include.strategy);
                }
                Err(cause) if include.strategy != Strategy::None => {
                    let span = self.parsed.anywhere();
                    let own = result.entries().and_then(|it| it.get("inputs")).cloned();
                    let above = HclValue::because(cause, span);
                    let own = own.unwrap_or_else(|| HclValue::object(ObjectMembers::default(), span));
                    result = with_inputs(result, merge::over(&above, &own));
                }
                Err(_) => {}
            }
        }
        result
    }

    /// Returns the content in the form that other files see.
    pub(super) fn shown(value: &HclValue) -> HclValue {
        let mut entries = value.entries().cloned().unwrap_or_default();
        if let Some(terraform) = entries.known.get_mut("terraform")
            && let Some(mut inner) = terraform.entries().cloned()
            && let Some(list) = inner.get("extra_arguments").cloned()
        {
            let named = list.items().iter().filter_map(|it| {
                let name = it.entries()?.get("name")?.as_text()?.into_owned();
                Some((Arc::from(name), it.clone()))
            });
            inner.known.insert("extra_arguments".into(), HclValue::object(named.collect(), list.span));
            *terraform = HclValue::object(inner, terraform.span);
        }
        HclValue::object(entries, value.span)
    }

    /// Reads another file, once.
    pub(super) fn read(&self, path: &str, real: &str, span: Span) -> HclValue {
        let context = self.context;
        if let Some(known) = context.read.borrow().get(path) {
            return known.clone();
        }
        let (depth, is_cycle) = {
            let reading = context.reading.borrow();
            (reading.len(), reading.iter().any(|it| it == path))
        };
        if is_cycle || depth >= DEEPEST {
            let why = if is_cycle {
                format!("{path} reads itself")
            } else {
                format!("files read each other more than {DEEPEST} levels deep")
            };
            context.report(Diagnostic::unreadable(why.clone(), span));
            return HclValue::refused(why, span);
        }
        context.reading.borrow_mut().push(path.to_owned());
        let value = match context.budget.deeper(|| self.read_now(path, real, span)) {
            Ok(value) => value,
            Err(cause) => HclValue::because(&cause, span),
        };
        context.reading.borrow_mut().pop();
        context.read.borrow_mut().insert(path.to_owned(), value.clone());
        value
    }

    fn read_now(&self, path: &str, real: &str, span: Span) -> HclValue {
        let name = path.rsplit('/').next().unwrap_or(path);
        match Frame::open(self.context, path, real) {
            Ok(frame) if name == VALUES => frame.attributes(),
            Ok(frame) => Self::shown(&frame.merged()),
            Err(why) => HclValue::refused(format!("{path}: {why}"), span),
        }
    }

    fn attributes(&self) -> HclValue {
        let attributes = self.parsed.body.attributes.iter();
        let known = attributes.map(|it| (it.name.text.clone(), self.evaluate(&it.expression)));
        HclValue::object(known.collect(), self.parsed.body.span)
    }

    /// Returns `values`: the values from a stack, or the file in the same directory.
    fn values(&self, span: Span) -> HclValue {
        let work = || {
            let is_unit = self.base == self.context.directory;
            if let (Some(values), true) = (&self.context.values, is_unit) {
                return values.clone();
            }
            let path = format!("{}/{VALUES}", self.base);
            let path = path.trim_start_matches('/');
            match self.context.reader.find(&self.context.shadows, path) {
                Some(real) => self.read(path, &real, span),
                None => {
                    self.context.is_template.set(true);
                    HclValue::unknown("the stack that generates this unit sets its values", span)
                }
            }
        };
        self.values.get_or_init(work).clone()
    }

    /// Returns `include.label`, or the only include if it has no label.
    fn exposed(&self, label: &str, span: Span) -> HclValue {
        let Some(include) = self.includes.iter().find(|it| it.label == label) else {
            return HclValue::refused(format!("there is no include `{label}`"), span);
        };
        match &include.frame {
            _ if !include.expose => HclValue::refused(format!("the include `{label}` is not exposed"), span),
            Ok(frame) => self.remember(&format!("include {label}"), span, || Self::shown(&frame.own())),
            Err(cause) => HclValue::because(cause, span),
        }
    }

    /// Returns `dependency.label` of this file or of a file that it is merged with.
    fn dependency_named(&self, label: &str, span: Span) -> HclValue {
        let node = self.parsed.body.blocks("dependency").find(|it| it.label(0) == label);
        if let Some(node) = node {
            return self.remember(&format!("dependency {label}"), span, || self.dependency(node));
        }
        for frame in self.includes.iter().filter_map(|it| it.frame.as_ref().ok()) {
            if frame.parsed.body.blocks("dependency").any(|it| it.label(0) == label) {
                return frame.dependency_named(label, span);
            }
        }
        match self.beside.get().and_then(|it| it.entries()).and_then(|it| it.get(label)) {
            Some(value) => value.clone(),
            None if self.is_included || self.includes.iter().any(|it| it.frame.is_err()) => HclValue::unknown(
                format!("the dependency `{label}` is in a file that gpulint does not read here"),
                span,
            ),
            None => HclValue::refused(format!("there is no dependency `{label}`"), span),
        }
    }

    /// Returns `feature`. Nothing here sets features, so each one has its default.
    fn features(&self, span: Span) -> HclValue {
        let work = || {
            let mut known: BTreeMap<Arc<str>, HclValue> = BTreeMap::new();
            let included = self.includes.iter().filter_map(|it| it.frame.as_ref().ok());
            for frame in included.chain([self]) {
                for node in frame.parsed.body.blocks("feature") {
                    let default = node.body.attribute("default").map(|it| frame.evaluate(&it.expression));
                    let value =
                        default.unwrap_or_else(|| HclValue::refused("this feature has no default", node.header));
                    let entries = [(Arc::from("value"), value)].into_iter().collect();
                    known.insert(node.label(0).into(), HclValue::object(entries, node.header));
                }
            }
            HclValue::object(ObjectMembers { known, rest: None }, span)
        };
        self.features.get_or_init(work).clone()
    }

    /// Computes a value once. A request during its computation is a cycle.
    fn remember(&self, name: &str, span: Span, work: impl FnOnce() -> HclValue) -> HclValue {
        match self.exposed.borrow().get(name) {
            Some(Some(known)) => return known.clone(),
            Some(None) => return HclValue::refused(format!("{name} depends on itself"), span),
            None => {}
        }
        self.exposed.borrow_mut().insert(name.to_owned(), None);
        let value = work();
        self.exposed.borrow_mut().insert(name.to_owned(), Some(value.clone()));
        value
    }
}

fn insert_label(known: &mut BTreeMap<Arc<str>, HclValue>, keyword: &str, label: &str, value: HclValue) {
    let span = value.span;
    let mut entries = known.get(keyword).and_then(HclValue::entries).cloned().unwrap_or_default();
    entries.known.insert(label.into(), value);
    known.insert(keyword.into(), HclValue::object(entries, span));
}

fn with_inputs(value: HclValue, inputs: HclValue) -> HclValue {
    let mut entries = value.entries().cloned().unwrap_or_default();
    entries.known.insert("inputs".into(), inputs);
    value.with(HclData::Object(Arc::new(entries)))
}

impl Dialect for Frame<'_> {
    fn reference(&self, name: &str, labels: &[&str], span: Span) -> Option<(HclValue, usize)> {
        let first = labels.first().copied();
        Some(match (name, first) {
            ("include", Some(first)) if self.includes.iter().any(|it| it.label == first) => {
                (self.exposed(first, span), 1)
            }
            ("include", Some(_)) => (self.exposed("", span), 0),
            ("dependency", Some(first)) => (self.dependency_named(first, span), 1),
            ("feature", Some(_)) => (self.features(span), 0),
            ("values", _) => (self.values(span), 0),
            ("unit" | "stack", Some(first)) => {
                let path = self.parsed.body.blocks(name).find(|it| it.label(0) == first)?.body.attribute("path")?;
                let entries = [(Arc::from("path"), self.evaluate(&path.expression))].into_iter().collect();
                (HclValue::object(entries, span), 1)
            }
            _ => return None,
        })
    }

    fn has_function(&self, name: &str) -> bool {
        functions::find(name).is_some()
    }

    fn call(&self, name: &str, arguments: &[HclValue], span: Span) -> HclValue {
        functions::call(self, name, arguments, span)
    }
}

/// Returns the settings file of a directory, or the file itself.
pub(super) fn settings_of(context: &Context<'_>, path: &str) -> Option<(String, String)> {
    let names = |path: &str| context.reader.find(&context.shadows, path);
    let inside = if path.is_empty() { UNIT.to_owned() } else { format!("{path}/{UNIT}") };
    if let Some(real) = context.reader.spelled(&context.shadows, &inside) {
        return Some((inside, real));
    }
    names(path).filter(|real| context.reader.sources.tree().list(real).is_empty()).map(|real| (path.to_owned(), real))
}
