//! Tests real repositories, if `GPULINT_CORPUS` names a directory of checkouts: nothing panics, every valid file can be
//! parsed, and the result agrees with another parser.

use std::path::PathBuf;
use std::time::Instant;

use gpulint::source::{MemoryTree, SourceFiles};
use gpulint::terraform::{TerraformOptions, read, syntax_errors};

use super::disk::{DiskTree, terraform_directories, terraform_files};
use crate::skipped::skip;

fn repositories() -> Vec<PathBuf> {
    let Some(corpus) = std::env::var_os("GPULINT_CORPUS") else {
        skip("GPULINT_CORPUS names no directory of checkouts");
        return Vec::new();
    };
    let entries = std::fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path().canonicalize().unwrap());
    let mut repositories: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    repositories.sort();
    repositories
}

#[test]
fn real_repositories_are_read() {
    for root in repositories() {
        let paths = terraform_directories(&root);
        let started = Instant::now();
        let sources = SourceFiles::new(DiskTree { root: root.clone() });
        let reading = read(&sources, &paths, &TerraformOptions::default());
        let unreadable: Vec<_> = reading.inventory.diagnostics.iter().filter(|d| d.unreadable).collect();
        let (steps, dearest) =
            reading.roots.iter().map(|root| (root.steps, root.directory.as_str())).max().unwrap_or_default();
        println!(
            "{} {} directories {} blocks {} diagnostics {steps} steps in {dearest} {} ms",
            root.file_name().unwrap().to_string_lossy(),
            paths.len(),
            reading.blocks.len(),
            reading.inventory.diagnostics.len(),
            started.elapsed().as_millis()
        );
        let given_up = |message: &str| message.contains("some of this root is not read");
        let cut: Vec<_> = reading.inventory.diagnostics.iter().filter(|it| given_up(&it.message)).collect();
        assert!(cut.is_empty(), "{cut:?}");
        for skipped in &reading.inventory.skipped {
            println!("  skipped {}: {}", skipped.path, skipped.reason);
        }
        for diagnostic in unreadable {
            let at = diagnostic.span.map(|span| sources.locate(span));
            let place = at.map_or(String::new(), |at| format!("{}:{}:{}", at.path, at.line, at.column));
            println!("  {place} {}", diagnostic.message);
        }
    }
}

/// hcl-edit refuses some code that Terraform accepts: a line break in a `for`, a repeated key, a byte-order mark.
/// Terraform accepts everything that hcl-edit accepts, except a repeated argument.
#[test]
fn files_that_another_parser_accepts_are_accepted() {
    let (mut files, mut both, mut only_ours, mut neither) = (0, 0, 0, 0);
    let mut only_theirs = Vec::new();
    for path in repositories().iter().flat_map(|root| terraform_files(root)) {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        files += 1;
        let sources = SourceFiles::new(MemoryTree::new().with("main.tf", text.as_str()));
        let ours = syntax_errors(sources.open("main.tf").unwrap(), &text);
        let theirs = hcl_edit::parser::parse_body(&text);
        match (ours.first(), theirs) {
            (None, Ok(_)) => both += 1,
            (None, Err(_)) => only_ours += 1,
            (Some(_), Err(_)) => neither += 1,
            (Some(error), Ok(_)) => {
                let line = error.span.map_or(0, |span| sources.locate(span).line);
                only_theirs.push(format!("{}:{line} {}", path.display(), error.message));
            }
        }
    }
    println!("{files} files: {both} accepted by both, {only_ours} by us alone, {neither} by none");
    assert!(only_theirs.is_empty(), "{}", only_theirs.join("\n"));
}
