//! What of a tree was not judged, as all readers together tell it.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use super::Session;
use crate::Analysis;
use crate::cli::Failure;
use crate::decide::{self, Call, Seen};
use crate::front_ends::files;
use crate::inventory::Unjudged;
use crate::source::{ReadError, Span, join};
use crate::terraform::{self, Data};

/// Notes in the inventory what was not judged.
pub(in crate::cli) fn note(session: &Session, analysis: &mut Analysis) {
    let mut all = decide::unjudged(&Seen {
        sources: &session.sources,
        inventory: &analysis.inventory,
        bill: &analysis.bill,
        findings: &analysis.findings,
        unknown_machines: &analysis.left_out.unknown_machines,
        calls: &calls(analysis),
        catalog: &session.settings.catalog,
    });
    know_blocks(session, analysis, &mut all);
    all.extend(installed(session, analysis));
    all.retain(|it| !crate::runs::is_excluded(&it.path, &session.settings.runs));
    analysis.inventory.unjudged = all;
}

/// Charts of this tree that Terraform installs with values of its own that are not known: what they make of these is not
/// known either.
fn installed(session: &Session, analysis: &Analysis) -> Vec<Unjudged> {
    let blocks = analysis.roots.iter().flat_map(|root| {
        let own = analysis.blocks.get(root.blocks.clone()).unwrap_or_default();
        own.iter().filter_map(|block| {
            let chart = terraform::installed(&session.sources, block, &root.directory)?;
            Some((block, join(&root.directory, chart)?))
        })
    });
    let speaks = |(_, chart): &(&terraform::Block, String)| {
        let mut files = session.files.iter().filter(|path| is_below(path, chart));
        session.sources.tree().list(chart).iter().any(|it| it.name == "Chart.yaml")
            && files.any(|path| {
                let named =
                    |text: &[u8]| decide::names_accelerators(&String::from_utf8_lossy(text), &session.settings.catalog);
                session.sources.glance(path, named).unwrap_or(true)
            })
    };
    let tell = |(block, chart): (&terraform::Block, String)| {
        let mut values = Vec::new();
        add_blocks(&mut values, block);
        let path = session.sources.path(session.sources.origin(block.span).file);
        let reason =
            format!("{} installs the chart {chart} with values of its own, which it is not read with", block.address);
        let told = Unjudged::new(path, reason).about(&block.address).at(block.body);
        Unjudged { known: decide::digest(&values), ..told }
    };
    blocks.filter(speaks).map(tell).collect()
}

fn is_below(path: &str, directory: &str) -> bool {
    directory.is_empty() || path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

/// What is known of the blocks of machines that are not: how many there are, what they are given.
fn know_blocks(session: &Session, analysis: &Analysis, all: &mut [Unjudged]) {
    if analysis.left_out.unknown_machines.is_empty() {
        return;
    }
    let mut blocks: HashMap<&str, Vec<&terraform::Block>> = HashMap::new();
    for block in analysis.blocks.iter().filter(|block| block.keyword == "resource") {
        blocks.entry(&block.address).or_default().push(block);
    }
    for it in all.iter_mut().filter(|it| it.known.is_empty()) {
        for block in it.address.as_deref().and_then(|address| blocks.get(address)).into_iter().flatten() {
            let mut values = vec![session.sources.snippet(block.body), format!("{:?}", block.instances.value())];
            add_blocks(&mut values, block);
            it.known.push_str(&decide::digest(&values));
        }
    }
}

/// The calls of which readers say that they left something out.
fn calls(analysis: &Analysis) -> HashMap<Span, Call> {
    let told = analysis.inventory.diagnostics.iter().filter(|it| it.unread.is_some());
    let told: BTreeSet<Span> = told.filter_map(|it| it.span).collect();
    if told.is_empty() {
        return HashMap::new();
    }
    let mut calls: HashMap<Span, Call> = HashMap::new();
    let modules = analysis.blocks.iter().filter(|block| block.keyword == "module" && told.contains(&block.span));
    for block in modules {
        // A module that is called several times calls others as often.
        let call = calls.entry(block.span).or_insert_with(|| Call {
            address: block.address.split('[').next().unwrap_or_default().to_owned(),
            body: block.body,
            values: Vec::new(),
        });
        add_blocks(&mut call.values, block);
    }
    calls
}

/// Longer than what anybody hands to a module; what is beyond is told by its text.
const MOST_VALUES: usize = 10_000;

fn add_blocks(values: &mut Vec<String>, block: &terraform::Block) {
    for (name, attribute) in &block.attributes {
        values.push(name.clone());
        add(values, &attribute.value);
    }
    for inner in &block.blocks {
        add_blocks(values, inner);
    }
}

fn add(values: &mut Vec<String>, value: &terraform::Value) {
    if values.len() >= MOST_VALUES {
        return;
    }
    match &value.data {
        Data::List(items) | Data::Set(items) | Data::Tuple(items) => items.iter().for_each(|it| add(values, it)),
        Data::Map(entries) | Data::Object(entries) => entries.iter().for_each(|(name, it)| {
            values.push(name.to_string());
            add(values, it);
        }),
        // Why it is not known says nothing about what it is.
        Data::Unknown(_) => values.push("?".to_owned()),
        Data::Null => {}
        Data::Bool(_) | Data::Number(_) | Data::Text(_) => values.extend(value.as_text().map(|it| it.into_owned())),
    }
}

/// Whoever names a file and asks whether it is all right must not be told so of a file that was not read; nor may a run
/// pass in which nothing of what matters could be read.
pub(in crate::cli) fn demand_read(session: &Session, analysis: &Analysis) -> Result<(), Failure> {
    let is_file = |path: &str| session.files.binary_search_by(|file| file.as_str().cmp(path)).is_ok();
    // A hook names all files of the endings that may hold something: data among them is nobody's business.
    let is_asked = |path: &str| is_file(path) && !(session.allows_empty() && path.ends_with(".json"));
    let refused = session.sources.refused().into_iter();
    let refused = refused.filter(|(path, why)| *why != ReadError::Missing && is_file(path));
    let refused: BTreeSet<String> = refused.map(|(path, _)| path).collect();
    demand_named(session, analysis, &refused.iter().filter(|path| is_asked(path)).cloned().collect())?;
    // Data that was all that anybody asked about is no data among other files.
    let refused = refused.into_iter().filter(|path| is_asked(path) || session.named.contains(path));
    let broken = analysis.inventory.diagnostics.iter().filter(|it| it.unreadable).filter_map(|it| it.span);
    let closed = broken.map(|span| session.sources.path(span.file)).chain(refused);
    let closed: BTreeSet<String> = closed.filter(|path| session.is_named(path)).collect();
    if closed.is_empty() || !analysis.inventory.resources.is_empty() {
        return Ok(());
    }
    let is_plan = |path: &String| analysis.plans.binary_search(path).is_ok();
    let is_read = |path: &&String| session.is_named(path) && (is_plan(path) || session.speaks_to_us(path));
    if session.files.iter().filter(|path| !closed.contains(*path)).any(|path| is_read(&path)) {
        return Ok(());
    }
    Err(Failure::new("nothing of what is here could be read").with_help("the report says why of each file"))
}

fn demand_named(session: &Session, analysis: &Analysis, refused: &BTreeSet<String>) -> Result<(), Failure> {
    let named = session.named.iter().filter(|path| session.root.join(path).is_file());
    let is_foreign = |path: &str| {
        !files::is_candidate(Path::new(path))
            && analysis.plans.binary_search_by(|plan| plan.as_str().cmp(path)).is_err()
    };
    let is_unread = |path: &str| refused.contains(path) || !session.allows_empty() && is_foreign(path);
    let unread: Vec<&str> = named.map(String::as_str).filter(|path| is_unread(path)).collect();
    let Some(first) = unread.first() else { return Ok(()) };
    let more = if unread.len() > 1 { format!(" and {} more", unread.len() - 1) } else { String::new() };
    let message = format!("`{}`{more} was named and not read", session.paths.show(first));
    let help = "split what is too large, or raise `bounds.file-mib`; name Terraform, Kubernetes or a plan as JSON";
    Err(Failure::new(message).with_help(help))
}
