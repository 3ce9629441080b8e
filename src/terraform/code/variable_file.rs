//! Reads a variable file: its assignments and its errors. Several deployments may use the same file.

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Level};
use crate::source::{FileId, SourceFiles};

use crate::languages::hcl::syntax::json::{Json, literal, parse_json, parse_json_within};
use crate::languages::hcl::syntax::{Attribute, HclName, SyntaxError, parse_body};

#[derive(Debug, Default)]
pub(in crate::terraform) struct VariableFile {
    pub(in crate::terraform) attributes: Vec<Arc<Attribute>>,
    pub(in crate::terraform) wrong: Option<Diagnostic>,
}

impl VariableFile {
    pub(in crate::terraform) fn read(sources: &SourceFiles, path: &str) -> Self {
        let file = match sources.open(path) {
            Ok(file) => file,
            Err(error) => {
                let message = format!("{path} cannot be read: {error}");
                return VariableFile {
                    wrong: Some(Diagnostic::new(Level::Error, message, None)),
                    ..VariableFile::default()
                };
            }
        };
        let text = sources.text(file);
        let nesting = sources.limits().nesting;
        let (attributes, error) =
            if path.ends_with(".json") { of_json(file, &text, nesting) } else { of_hcl(file, &text, nesting) };
        let wrong = error.map(|error| match error.is_of_template(&text) {
            true => super::refused(&error, &text),
            false => {
                let message = format!("some variables of this file cannot be read: {}", error.message);
                Diagnostic::unreadable(message, error.span)
            }
        });
        VariableFile { attributes: attributes.into_iter().map(Arc::new).collect(), wrong }
    }

    pub(in crate::terraform) fn names(&self) -> impl Iterator<Item = &str> {
        self.attributes.iter().map(|attribute| &*attribute.name.text)
    }
}

fn of_json(file: FileId, text: &str, nesting: u32) -> (Vec<Attribute>, Option<SyntaxError>) {
    let attribute = |(name, value): &(HclName, Json)| Attribute { name: name.clone(), expression: literal(value) };
    match parse_json_within(file, text, nesting) {
        Ok(json) => (json.entries().iter().map(attribute).collect(), None),
        Err(error) => (Vec::new(), Some(error)),
    }
}

fn of_hcl(file: FileId, text: &str, nesting: u32) -> (Vec<Attribute>, Option<SyntaxError>) {
    let parsed = parse_body(file, text, nesting);
    match parsed.errors.into_iter().next() {
        Some(error) => match other_language(file, text) {
            Some(what) => (Vec::new(), Some(SyntaxError { message: what.to_owned(), span: error.span })),
            None if error.is_of_template(text) => (Vec::new(), Some(error)),
            None => (parsed.body.attributes, Some(error)),
        },
        None => (parsed.body.attributes, None),
    }
}

/// Returns the actual language of a `.tfvars` file that cannot be parsed, if it is recognized. None of the file is
/// used.
fn other_language(file: FileId, text: &str) -> Option<&'static str> {
    let json = text.trim_start().starts_with('{') && parse_json(file, text).is_ok();
    json.then_some("it is JSON, which Terraform reads only from files that end in `.tfvars.json`")
}
