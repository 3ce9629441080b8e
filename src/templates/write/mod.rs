//! Edits a fact in a template: replaces a scalar that the resource itself contains.
//!
//! A parameter may also affect other resources, so it is not edited. A generated template must be changed in its
//! program.

use crate::inventory::{Declined, FactEdit, Resource};
use crate::languages::yaml;
use crate::source::{Edit, SourceFiles, Span};
use crate::terraform;

/// Returns the edits that set a fact. `writer` knows the blocks that resource definitions read.
pub fn write(
    resource: &Resource,
    wish: &FactEdit,
    sources: &SourceFiles,
    writer: &terraform::TerraformWriter<'_>,
) -> Result<Vec<Edit>, Declined> {
    if sources.editable(resource.span) != Some(resource.span) {
        return left_alone("a program generates this template: change the program");
    }
    let places = writer.scalars(resource, wish)?;
    places.into_iter().map(|(span, text)| edit(sources, span, &text)).collect()
}

fn left_alone<T>(why: &str) -> Result<T, Declined> {
    Err(Declined::LeftAlone(why.to_owned()))
}

fn edit(sources: &SourceFiles, span: Span, new: &str) -> Result<Edit, Declined> {
    let text = sources.text(span.file);
    let old = text.get(span.range()).unwrap_or_default();
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_' | '/' | ':');
    let replacement = match old.chars().next() {
        Some('"') => yaml::quoted(new),
        Some('\'') => format!("'{}'", new.replace('\'', "''")),
        Some(first) if plain(first) && !old.contains('\n') && new.chars().all(plain) => new.to_owned(),
        _ => return left_alone("the value is not a plain value on one line"),
    };
    Ok(Edit { span, replacement })
}
