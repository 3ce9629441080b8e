//! Where a fix writes a fact of a template: in the place of a scalar that the resource itself writes out.
//!
//! What a parameter says may be said of other things too, and what a program wrote is changed in the program.

use crate::inventory::{Declined, Resource, Wish};
use crate::languages::yaml;
use crate::source::{Edit, Sources, Span};
use crate::terraform;

/// What to change in the text so that the resource says what is wished. `writer` knows the blocks that rows read of it.
pub fn write(
    resource: &Resource,
    wish: &Wish,
    sources: &Sources,
    writer: &terraform::Writer<'_>,
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

fn edit(sources: &Sources, span: Span, new: &str) -> Result<Edit, Declined> {
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
