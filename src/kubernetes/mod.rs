//! Manifests → inventory.
//!
//! Reads YAML and JSON streams with spans and turns documents into resources by the rows of `kinds.toml`. Knows no
//! price and no rule, and no kind by name outside the table.

mod amount;
mod containers;
mod count;
mod devices;
mod filter;
mod generic;
mod machines;
mod nodes;
mod object;
mod path;
mod pod;
mod quantity;
mod scalar;
mod sources;
mod table;
mod tree;
mod workload;
mod yaml;

use rayon::prelude::*;

use crate::diagnostic::{Diagnostic, Level};
use crate::inventory::{Inventory, Resource, Skipped};
use crate::source::{FileId, Sources, Span};

/// What the command line gives beside the files.
#[derive(Debug, Clone, Default)]
pub struct Options {}

/// What was read.
#[derive(Debug, Default)]
pub struct Reading {
    pub inventory: Inventory,
    /// Comments that speak to gpulint.
    pub comments: Vec<Span>,
}

/// Reads manifests; `embedded` are manifests inside Terraform, with the address of the resource that carries them.
pub fn read(sources: &Sources, paths: &[String], embedded: &[(FileId, String)], _options: &Options) -> Reading {
    let mut paths: Vec<&String> = paths.iter().collect();
    paths.sort();
    paths.dedup();
    let wanted: Vec<&String> = paths
        .into_par_iter()
        .filter(|path| filter::is_manifest(path))
        .filter(|path| sources.tree().read(path).map_or(true, |text| filter::may_matter(&text)))
        .collect();
    let mut reading = Reading::default();
    let mut files = Vec::new();
    for path in wanted {
        match sources.open(path) {
            Ok(file) => files.push((path.clone(), file)),
            Err(error) => {
                let message = format!("`{path}` cannot be read: {error}");
                reading.inventory.diagnostics.push(Diagnostic::new(Level::Warning, message, None));
            }
        }
    }
    files.extend(embedded.iter().map(|(file, _)| (sources.path(*file), *file)));
    let parts: Vec<Part> = files.par_iter().map(|(path, file)| read_file(sources, path, *file)).collect();
    for part in parts {
        reading.inventory.resources.extend(part.resources);
        reading.inventory.diagnostics.extend(part.diagnostics);
        reading.inventory.skipped.extend(part.skipped);
        reading.comments.extend(part.comments);
    }
    reading
}

/// What one file gives.
#[derive(Default)]
struct Part {
    resources: Vec<Resource>,
    diagnostics: Vec<Diagnostic>,
    skipped: Option<Skipped>,
    comments: Vec<Span>,
}

fn read_file(sources: &Sources, path: &str, file: FileId) -> Part {
    let text = sources.text(file);
    let stream = yaml::read(file, &text);
    let mut part = Part { comments: stream.comments, ..Part::default() };
    let broken = stream.diagnostics.iter().any(|diagnostic| diagnostic.unreadable);
    if broken && text.contains("{{") {
        part.skipped = Some(Skipped { path: path.to_owned(), reason: "a template that was not rendered".to_owned() });
    } else {
        part.diagnostics = stream.diagnostics;
    }
    for document in &stream.documents {
        workload::resources(&document.root, document.span, &mut part.resources);
    }
    part
}
