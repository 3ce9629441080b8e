//! Tests fixes of templates with Markdown files in `tests/templates/fixes`.
//!
//! A code block is a template, with its path after its language; a block `wish` has the resource and the requested
//! fact on each line; the block `after` has the result, or the reason why there is none. The result is read again, and
//! has to be as requested. `GPULINT_FIXES_TO` stores the results for other judges.

use std::fmt::Write as _;
use std::sync::Arc;

use gpulint::inventory::{Declined, FactEdit, FactValue, Key, Part, Reader, Resource, claim};
use gpulint::source::{Edit, MemoryTree, SourceFiles};
use gpulint::templates::{self, EditedTemplates, TemplateOptions, TemplateReading};
use gpulint::{fix, terraform};

use crate::fences;

#[test]
fn fixes_of_templates_are_as_the_cases_expect() {
    fences::hold("tests/templates/fixes", |text| {
        let (mut template, mut wishes): ((String, String), String) = Default::default();
        fences::rewritten(text, |info, body| match info {
            "after" => fixed(&template.0, &template.1, &wishes),
            "wish" => {
                wishes.clone_from(&body);
                body
            }
            _ => {
                template = (info.split_whitespace().nth(1).unwrap_or("template.yaml").to_owned(), body.clone());
                body
            }
        })
    });
}

/// Returns the fixed template, or the reasons why it is not fixed. Line breaks, tabs and a missing end stay.
fn fixed(path: &str, text: &str, wishes: &str) -> String {
    let after = after(path, text, wishes);
    let Ok(after) = after else { return after.unwrap_err() };
    let windows = text.replace('\n', "\r\n");
    assert_eq!(self::after(path, &windows, wishes), Ok(after.replace('\n', "\r\n")), "line breaks in {path}");
    let cut = text.trim_end();
    let of_cut = self::after(path, cut, wishes);
    assert_eq!(of_cut.as_deref().map(str::trim_end), Ok(after.trim_end()), "no line break at the end of {path}");
    store(path, &after);
    after
}

fn store(path: &str, after: &str) {
    let Some(directory) = std::env::var_os("GPULINT_FIXES_TO") else { return };
    let directory = std::path::PathBuf::from(directory);
    let count = std::fs::read_dir(&directory).map_or(0, Iterator::count);
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join(format!("{count:02}-{path}")), after).unwrap();
}

fn after(path: &str, text: &str, wishes: &str) -> Result<String, String> {
    let (sources, reading) = read(path, text);
    let writer = terraform::TerraformWriter::new(&sources, &reading.blocks, &[]);
    let mut edits: Vec<Edit> = Vec::new();
    let mut declined = String::new();
    for line in wishes.lines() {
        let (address, wish) = parse(line);
        let Some(resource) = reading.inventory.resources.iter().find(|it| it.address == address) else {
            let known: Vec<&str> = reading.inventory.resources.iter().map(|it| &*it.address).collect();
            return Err(format!("there is no {address} in {known:?}\n"));
        };
        match written(resource, &wish, &sources, &writer) {
            Ok(more) => edits.extend(more),
            Err(why) => writeln!(declined, "{address}: {}", why.why()).unwrap(),
        }
    }
    if !declined.is_empty() {
        return Err(declined);
    }
    let edits = Edit::joined(edits);
    let after = fix::apply(text, edits.iter().collect());
    let (_, again) = read(path, &after);
    for line in wishes.lines() {
        let (address, wish) = parse(line);
        let resource = again.inventory.resources.iter().find(|it| it.address == address);
        assert!(resource.is_some_and(|it| is_granted(it, &wish)), "{line}: it is not as requested:\n{after}");
    }
    Ok(after)
}

fn written(
    resource: &Resource,
    wish: &FactEdit,
    sources: &SourceFiles,
    writer: &terraform::TerraformWriter<'_>,
) -> Result<Vec<Edit>, Declined> {
    match (&wish.part, &wish.value) {
        (Part::Label(key), Some(value)) => {
            templates::label(resource, &[(key.clone(), value.clone())], sources, &EditedTemplates::default(), writer)
        }
        _ => templates::write(resource, wish, sources, &EditedTemplates::default(), writer),
    }
}

/// Parses `address: fact = value`, or `address: label key = value`.
fn parse(line: &str) -> (String, FactEdit) {
    let (address, rest) = line.split_once(": ").unwrap();
    let (name, value) = rest.split_once(" = ").unwrap();
    let part = match name.strip_prefix("label ") {
        Some(key) => Part::Label(key.into()),
        None => Part::from_name(name).unwrap(),
    };
    let value = match (value.parse::<i64>(), value.parse::<bool>(), &part) {
        (Ok(number), _, Part::Fact(_) | Part::Floor) => FactValue::Integer(number),
        (_, Ok(flag), Part::Fact(_)) => FactValue::Flag(flag),
        _ => FactValue::Text(Arc::from(value)),
    };
    (address.to_owned(), FactEdit { part, value: Some(value) })
}

fn is_granted(resource: &Resource, wish: &FactEdit) -> bool {
    let wanted = wish.value.as_ref().unwrap();
    match &wish.part {
        Part::Fact(key) => {
            let same =
                |it: &FactValue| it == wanted || it.as_number().is_some() && it.as_number() == wanted.as_number();
            // A group whose base is on demand is mixed.
            resource
                .fact(*key)
                .value()
                .is_some_and(|it| same(it) || *key == Key::Purchase && *it == FactValue::text("mixed"))
        }
        Part::Floor => resource.count.value().map(|it| it.floor) == wanted.as_number(),
        Part::Ceiling => resource.count.value().map(|it| it.ceiling) == wanted.as_number(),
        Part::Label(key) => {
            resource.labels.entries.get(&**key).and_then(|it| it.value()).is_some_and(|it| **it == *wanted.to_string())
        }
    }
}

type Read = fn(&SourceFiles, &[String], &[String], &TemplateOptions) -> TemplateReading;

fn read(path: &str, text: &str) -> (SourceFiles, TemplateReading) {
    let sources = SourceFiles::new(MemoryTree::new().with(path, text));
    let language = sources.glance(path, |text| claim(path, text)).unwrap();
    let read: Read = match language.map(|it| it.reader) {
        Some(Reader::CloudFormation) => templates::CLOUDFORMATION,
        Some(Reader::Azure) => templates::AZURE,
        Some(Reader::Pulumi) => templates::PULUMI,
        other => panic!("{path} is read by {other:?}"),
    };
    let paths = [path.to_owned()];
    let reading = read(&sources, &paths, &paths, &TemplateOptions::default());
    (sources, reading)
}
