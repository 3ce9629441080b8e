//! Parses Bicep statements.

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, SkipKind};
use crate::languages::azure::model::{
    AzureTemplate, DeclaredFunction, DeclaredParameter, DeclaredResource, NamedExpr, NestedDeployment,
};
use crate::languages::azure::syntax::{AzureEntry, AzureExpr, AzureKind, AzureLoop};
use crate::languages::azure::template::DEPLOYMENT;
use crate::languages::hcl::value::HclValue;
use crate::source::Span;

use super::cursor::{BicepParsed, Cursor, Unparsed};

/// Decorators before a statement: `@allowed(['a', 'b'])`.
#[derive(Default)]
struct Decorators {
    allowed: Option<AzureExpr>,
    is_secret: bool,
}

/// Keywords that begin statements.
const STATEMENTS: [&str; 15] = [
    "param",
    "var",
    "resource",
    "module",
    "output",
    "type",
    "func",
    "targetScope",
    "metadata",
    "import",
    "using",
    "extension",
    "provider",
    "assert",
    "extends",
];

/// The part of a resource after the `=`.
struct DeclaredBody {
    body: AzureExpr,
    turns: Option<Arc<AzureLoop>>,
    condition: Option<AzureExpr>,
    inner: Vec<Arc<DeclaredResource>>,
}

impl<'t> Cursor<'t> {
    /// Parses all statements; also returns the template whose parameters a parameter file sets.
    pub(super) fn file(&mut self) -> (AzureTemplate, Option<HclValue>) {
        let mut template = AzureTemplate {
            parameters: Vec::new(),
            variables: Vec::new(),
            functions: Vec::new(),
            resources: Vec::new(),
            outputs: Vec::new(),
            span: Span::new(self.file, 0, self.text.len()),
        };
        let mut using = None;
        loop {
            self.skip(true);
            if self.rest().is_empty() {
                return (template, using);
            }
            let start = self.at;
            if let Err(broken) = self.statement(&mut template, &mut using) {
                self.recover(start, &broken);
            }
        }
    }

    /// Continues at the next statement and reports what was skipped.
    fn recover(&mut self, start: usize, broken: &Unparsed) {
        self.depth = 0;
        let at = broken.at.min(self.text.len());
        let message = format!("gpulint does not support this statement: {}", broken.why);
        let diagnostic = Diagnostic::note(message, Span::new(self.file, at, at))
            .with_help("check what Bicep compiles from this statement: `az bicep build`")
            .skipping(SkipKind::Statement, "unsupported Bicep statement");
        self.diagnostics.push(diagnostic);
        self.at = at.max(start);
        loop {
            let Some(end) = self.rest().find('\n') else { break self.at = self.text.len() };
            self.at += end + 1;
            let begins = self.rest().starts_with('@') || STATEMENTS.contains(&self.peek_name());
            if begins {
                break;
            }
        }
    }

    fn statement(&mut self, template: &mut AzureTemplate, using: &mut Option<HclValue>) -> BicepParsed<()> {
        let decorators = self.decorators()?;
        let start = self.at;
        match self.name() {
            "param" => template.parameters.push(self.parameter(decorators)?),
            "var" => {
                let name = self.name().into();
                self.kind()?;
                self.expect("=")?;
                template.variables.push(NamedExpr { name, value: self.value()? });
            }
            "output" => {
                let name = self.name().into();
                self.kind()?;
                self.expect("=")?;
                template.outputs.push(NamedExpr { name, value: self.value()? });
            }
            "resource" => template.resources.push(Arc::new(self.resource(start, None)?)),
            "module" => template.resources.push(Arc::new(self.module(start)?)),
            "func" => template.functions.push(self.function()?),
            "import" => self.import(template)?,
            "using" => *using = self.value()?.as_text().map(|path| HclValue::text(path.clone(), self.span(start))),
            "type" | "metadata" | "assert" => {
                self.name();
                self.eat("=");
                self.kind()?;
            }
            "targetScope" | "extends" | "extension" | "provider" => self.rest_of_statement(),
            _ => return self.broken("no Bicep statement begins like this"),
        }
        self.skip(false);
        match self.rest().chars().next() {
            None | Some('\n') => Ok(()),
            Some(_) => self.broken("unexpected characters after the statement"),
        }
    }

    fn value(&mut self) -> BicepParsed<AzureExpr> {
        self.skip(true);
        self.expression()
    }

    /// Parses decorators.
    fn decorators(&mut self) -> BicepParsed<Decorators> {
        let mut all = Decorators::default();
        while self.eat_below("@") {
            let said = self.expression()?;
            if let AzureKind::Call(name, arguments) = &said.kind {
                match &**name {
                    "allowed" => all.allowed = arguments.first().cloned(),
                    "secure" => all.is_secret = true,
                    _ => {}
                }
            }
        }
        self.skip(true);
        Ok(all)
    }

    fn parameter(&mut self, decorators: Decorators) -> BicepParsed<DeclaredParameter> {
        let name = self.name().into();
        let (kind, start) = (self.kind()?.trim(), self.at);
        let allowed = decorators.allowed.or_else(|| literals(kind, Span::new(self.file, start, start)));
        let default = if self.eat("=") { Some(self.value()?) } else { None };
        Ok(DeclaredParameter {
            name,
            default,
            allowed,
            is_secret: decorators.is_secret,
            is_nullable: kind.ends_with('?'),
        })
    }

    /// Skips a type up to `=` or the end of its line.
    fn kind(&mut self) -> BicepParsed<&'t str> {
        self.skip(false);
        let (start, mut depth) = (self.at, 0usize);
        loop {
            self.skip(depth > 0);
            let Some(letter) = self.rest().chars().next() else { break };
            match letter {
                '\n' if depth == 0 => {
                    let before = self.at;
                    self.skip(true);
                    // A list of alternatives continues on the next line.
                    if !self.rest().starts_with('|') {
                        self.at = before;
                        break;
                    }
                    continue;
                }
                '=' if depth == 0 => break,
                '\'' => {
                    self.string()?;
                    continue;
                }
                '{' | '[' | '(' | '<' => depth += 1,
                '}' | ']' | ')' | '>' => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.at += letter.len_utf8();
            self.end = self.at;
        }
        Ok(self.text.get(start..self.end.max(start)).unwrap_or_default())
    }

    fn rest_of_statement(&mut self) {
        let end = self.rest().find('\n').unwrap_or(self.rest().len());
        self.at += end;
        self.end = self.at;
    }

    /// Parses `func name(a string, b int) string => …`.
    fn function(&mut self) -> BicepParsed<DeclaredFunction> {
        let name = self.name().to_ascii_lowercase().into();
        self.expect("(")?;
        let mut parameters: Vec<Arc<str>> = Vec::new();
        while !self.eat_below(")") {
            self.eat_below(",");
            self.skip(true);
            parameters.push(self.name().into());
            self.skip_to_end_of_argument()?;
        }
        self.skip(false);
        let rest = self.rest();
        match rest.find("=>") {
            Some(arrow) => self.at += arrow + 2,
            None => return self.broken("expected `=>` in this function"),
        }
        Ok(DeclaredFunction { name, parameters, body: self.value()? })
    }

    fn skip_to_end_of_argument(&mut self) -> BicepParsed<()> {
        let mut depth = 0usize;
        loop {
            self.skip(true);
            match self.rest().chars().next() {
                Some(',' | ')') if depth == 0 => return Ok(()),
                Some('\'') => {
                    self.string()?;
                    continue;
                }
                Some('{' | '[' | '(') => depth += 1,
                Some('}' | ']' | ')') => depth = depth.saturating_sub(1),
                Some(_) => {}
                None => return self.broken("the function has no end"),
            }
            self.at += self.rest().chars().next().map_or(1, char::len_utf8);
        }
    }

    /// Parses `import { a, b as c } from 'path'`, or `import * as all from 'path'`: variables of another file.
    fn import(&mut self, template: &mut AzureTemplate) -> BicepParsed<()> {
        let mut names: Vec<(Arc<str>, Arc<str>)> = Vec::new();
        self.skip(false);
        if self.rest().starts_with('\'') {
            self.rest_of_statement();
            return Ok(());
        }
        let is_all = self.eat("*");
        if is_all {
            self.word("as");
            names.push((Arc::from(""), self.name().into()));
        } else {
            self.expect("{")?;
            while !self.eat_below("}") {
                self.eat_below(",");
                self.skip(true);
                let name: Arc<str> = match self.rest().starts_with('\'') {
                    true => self.string()?.as_text().cloned().unwrap_or_default(),
                    false => self.name().into(),
                };
                if name.is_empty() {
                    return self.broken("expected a name");
                }
                let own = if self.word("as") { self.name().into() } else { name.clone() };
                names.push((name, own));
                self.eat(",");
            }
        }
        if !self.word("from") {
            return self.broken("expected `from`");
        }
        let path = self.value()?;
        for (name, own) in names.into_iter().filter(|(_, own)| !own.is_empty()) {
            let arguments = vec![path.clone(), AzureExpr::text(path.span, name)];
            let value = AzureExpr::call(path.span, "imported", arguments);
            template.variables.push(NamedExpr { name: own, value });
        }
        Ok(())
    }

    /// Parses `resource name 'type@version' = …`. A nested resource adds to the type of its parent.
    fn resource(&mut self, start: usize, around: Option<(&str, &Arc<str>)>) -> BicepParsed<DeclaredResource> {
        let symbol: Arc<str> = self.name().into();
        self.skip(false);
        let kind = self.string_here()?;
        let kind = kind.as_text().map(|it| it.split('@').next().unwrap_or_default().to_owned()).unwrap_or_default();
        let is_whole = kind.split('/').next().is_some_and(|provider| provider.contains('.'));
        let kind: Arc<str> = match around {
            Some((outer, _)) if !is_whole => format!("{outer}/{kind}").into(),
            _ => kind.into(),
        };
        let is_existing = self.word("existing");
        let head = self.span(start);
        self.expect("=")?;
        let declared = self.body(&kind, &symbol)?;
        let said = declared.body.get("parent").map(|parent| match &parent.kind {
            AzureKind::At(of, ..) => AzureExpr::clone(of),
            _ => parent.clone(),
        });
        let outer = around.map(|(_, symbol)| AzureExpr::new(head, AzureKind::Name(symbol.clone())));
        let DeclaredBody { body, turns, condition, inner } = declared;
        Ok(DeclaredResource {
            symbol: Some(symbol),
            head,
            span: self.span(start),
            kind,
            body,
            turns,
            condition,
            is_existing,
            parent: said.or(outer),
            inner,
            deployed: None,
        })
    }

    fn module(&mut self, start: usize) -> BicepParsed<DeclaredResource> {
        let symbol: Arc<str> = self.name().into();
        self.skip(false);
        let path = self.string_here()?;
        let head = self.span(start);
        self.expect("=")?;
        let DeclaredBody { body, turns, condition, .. } = self.body(DEPLOYMENT, &symbol)?;
        Ok(DeclaredResource {
            symbol: Some(symbol),
            head,
            span: self.span(start),
            kind: DEPLOYMENT.into(),
            body,
            turns,
            condition,
            is_existing: false,
            parent: None,
            inner: Vec::new(),
            deployed: Some(NestedDeployment::Elsewhere(path)),
        })
    }

    fn string_here(&mut self) -> BicepParsed<AzureExpr> {
        if self.rest().starts_with('\'') { self.string() } else { self.broken("expected a string") }
    }

    /// Parses the body of a resource: `{ … }`, `if (…) { … }`, or `[for … : …]`.
    fn body(&mut self, kind: &str, symbol: &Arc<str>) -> BicepParsed<DeclaredBody> {
        self.skip(true);
        if self.eat("[") {
            self.skip(true);
            let turns = Some(Arc::new(self.loop_header()?));
            let declared = self.body(kind, symbol)?;
            self.expect("]")?;
            return Ok(DeclaredBody { turns, ..declared });
        }
        if self.word("if") {
            self.expect("(")?;
            let condition = Some(self.value()?);
            self.expect(")")?;
            return Ok(DeclaredBody { condition, ..self.body(kind, symbol)? });
        }
        let start = self.at;
        self.expect("{")?;
        let (mut entries, mut inner) = (Vec::<AzureEntry>::new(), Vec::new());
        while !self.eat_below("}") {
            if self.eat_below(",") {
                continue;
            }
            self.skip(true);
            if self.begins_resource() {
                self.decorators()?;
                let at = self.at;
                self.word("resource");
                inner.push(Arc::new(self.deeper(|it| it.resource(at, Some((kind, symbol))))?));
            } else {
                entries.push(self.entry()?);
            }
        }
        let body = AzureExpr::new(self.span(start), AzureKind::Object(entries));
        Ok(DeclaredBody { body, turns: None, condition: None, inner })
    }

    /// Returns true if a nested resource begins here.
    fn begins_resource(&self) -> bool {
        let behind = self.rest().strip_prefix("resource").map(str::trim_start);
        let is_named = |rest: &str| rest.starts_with(|it: char| it.is_alphabetic() || it == '_');
        self.rest().starts_with('@') || (self.peek_name() == "resource" && behind.is_some_and(is_named))
    }
}

/// Returns all values that a parameter can have, from a type such as `'a'
/// 'b'`.
fn literals(kind: &str, at: Span) -> Option<AzureExpr> {
    let each = kind.split('|').map(str::trim).filter(|it| !it.is_empty());
    let texts: Option<Vec<&str>> = each.map(|it| it.strip_prefix('\'')?.strip_suffix('\'')).collect();
    let texts = texts.filter(|it| !it.is_empty())?;
    let items = texts.into_iter().map(|it| AzureExpr::text(at, it)).collect();
    Some(AzureExpr::new(at, AzureKind::List(items)))
}
