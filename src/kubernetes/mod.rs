//! Manifests → inventory.
//!
//! Reads YAML and JSON streams with spans and turns documents into resources by the rows of `kinds.toml`. Knows no
//! price and no rule, and no kind by name outside the table.

mod amount;
mod claims;
mod containers;
mod count;
mod devices;
mod files;
mod filter;
mod generic;
mod index;
mod machines;
mod nodes;
mod object;
mod path;
mod pod;
mod quantity;
mod request;
mod resource;
mod scalar;
mod scale;
mod sources;
mod table;
mod tree;
mod versions;
mod workload;
mod yaml;

use std::sync::Arc;

use rayon::prelude::*;

use crate::inventory::{Inventory, Skipped};
use crate::source::{FileId, Sources, Span};

use index::Index;
use scale::Scaler;
use tree::Node;
use workload::{Found, Reader};
use yaml::Stream;

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
    let mut reading = Reading::default();
    let files = files::gather(sources, paths, embedded, &mut reading.inventory.diagnostics);
    let parsed: Vec<Parsed> = files.into_par_iter().map(|file| Parsed::new(sources, file)).collect();
    let index = Index::new(parsed.iter().map(|file| (file.id, file.path.clone(), file.roots().collect())));
    let mut found = read_all(&parsed, &index);
    scale::apply(&scalers(&parsed), &mut found);
    claims::share(&mut found);
    versions::mark(&mut found);
    for file in parsed {
        reading.inventory.diagnostics.extend(file.stream.diagnostics);
        reading.inventory.skipped.extend(file.skipped);
        reading.comments.extend(file.stream.comments);
    }
    reading.inventory.resources = found.into_iter().map(|(_, found)| found.resource).collect();
    reading
}

/// A file with what its text was found to be.
struct Parsed {
    id: FileId,
    path: Arc<str>,
    stream: Stream,
    skipped: Option<Skipped>,
    /// Only here because other files may name its objects.
    joined_only: bool,
}

impl Parsed {
    fn new(sources: &Sources, file: files::File) -> Self {
        let text = sources.text(file.id);
        let mut stream = yaml::read(file.id, &text);
        let broken = stream.diagnostics.iter().any(|diagnostic| diagnostic.unreadable);
        let mut skipped = None;
        if broken && text.contains("{{") {
            stream.diagnostics.clear();
            skipped = Some(Skipped { path: file.path.to_string(), reason: "a template that was not rendered".into() });
        }
        if file.joined_only {
            stream.diagnostics.clear();
            skipped = None;
        }
        Parsed { id: file.id, path: file.path, stream, skipped, joined_only: file.joined_only }
    }

    fn roots(&self) -> impl Iterator<Item = &Node> {
        self.stream.documents.iter().map(|document| &document.root)
    }
}

fn read_all(parsed: &[Parsed], index: &Index<'_>) -> Vec<(Arc<str>, Found)> {
    let reader = Reader { index };
    let files: Vec<Vec<(Arc<str>, Found)>> = parsed
        .par_iter()
        .filter(|file| !file.joined_only)
        .map(|file| {
            let mut found = Vec::new();
            for document in &file.stream.documents {
                reader.read(&document.root, document.span, &mut found);
            }
            found.into_iter().map(|found| (file.path.clone(), found)).collect()
        })
        .collect();
    files.into_iter().flatten().collect()
}

fn scalers(parsed: &[Parsed]) -> Vec<(Arc<str>, Scaler)> {
    let mut scalers = Vec::new();
    for file in parsed {
        for root in file.roots() {
            let Some((object, Some(row))) = workload::identify(root) else { continue };
            let carried = row.carried().flat_map(|path| path.all(root)).filter_map(|at| workload::identify(at.node));
            for (object, row) in carried.chain([(object, Some(row))]) {
                let scales = row.and_then(|row| row.scales.as_ref());
                scalers
                    .extend(scales.and_then(|scales| Scaler::new(&object, scales)).map(|it| (file.path.clone(), it)));
            }
        }
    }
    scalers
}
