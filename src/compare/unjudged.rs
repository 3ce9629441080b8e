//! Collects what all readers did not evaluate.

use std::collections::{BTreeSet, HashMap};

use super::block_values::{add, add_blocks};
use super::local_commands;
use super::state::TreeState;
use crate::analysis::Analysis;
use crate::decide::{self, CoverageInput, UnreadModuleCall};
use crate::diagnostic::SkipKind;
use crate::inventory::Unjudged;
use crate::source::{Span, is_below, join};
use crate::terraform;

/// Adds to the inventory what was not evaluated.
pub(crate) fn note(state: &TreeState, analysis: &mut Analysis) {
    let mut all = decide::unjudged(&CoverageInput {
        sources: state.sources,
        inventory: &analysis.inventory,
        bill: &analysis.bill,
        findings: &analysis.findings,
        unknown_machines: &analysis.left_out.unknown_machines,
        calls: &calls(state, analysis),
        catalog: &state.settings.catalog,
    });
    know_blocks(state, analysis, &mut all);
    all.extend(installed(state, analysis));
    all.extend(local_commands::unread(state, analysis));
    all.retain(|it| !crate::runs::is_excluded(&it.path, &state.settings.runs));
    analysis.inventory.unjudged = all;
    analysis.bill.set_unread(&analysis.inventory);
}

/// Returns charts of this tree that Terraform installs with other values, because gpulint does not know the result.
fn installed(state: &TreeState, analysis: &Analysis) -> Vec<Unjudged> {
    let blocks = analysis.roots.iter().flat_map(|root| {
        let own = analysis.blocks.get(root.blocks.clone()).unwrap_or_default();
        own.iter().filter_map(|block| {
            let chart = terraform::installed(state.sources, block, &root.directory)?;
            Some((block, join(&root.directory, chart)?))
        })
    });
    let speaks = |(_, chart): &(&terraform::EvaluatedBlock, String)| {
        let mut files = state.files.iter().filter(|path| is_below(path, chart));
        state.sources.tree().list(chart).iter().any(|it| it.name == "Chart.yaml")
            && files.any(|path| {
                let named = |text: &[u8]| state.names_accelerators(&String::from_utf8_lossy(text));
                state.sources.glance(path, named).unwrap_or(true)
            })
    };
    let tell = |(block, chart): (&terraform::EvaluatedBlock, String)| {
        let mut values = Vec::new();
        add_blocks(&mut values, block);
        let path = state.sources.path_of(block.span);
        let reason = format!(
            "{} installs the chart {chart} with its own values, and gpulint reads the chart without them",
            block.address
        );
        let told = Unjudged::new(SkipKind::Change, path, reason).about(&block.address).at(block.body);
        Unjudged { known: decide::digest(&values), ..told }
    };
    blocks.filter(speaks).map(tell).collect()
}

/// Adds the known number and arguments of machines with an unknown type.
fn know_blocks(state: &TreeState, analysis: &Analysis, all: &mut [Unjudged]) {
    if analysis.left_out.unknown_machines.is_empty() {
        return;
    }
    let mut blocks: HashMap<&str, Vec<&terraform::EvaluatedBlock>> = HashMap::new();
    for block in analysis.blocks.iter().filter(|block| block.keyword == "resource") {
        blocks.entry(&block.address).or_default().push(block);
    }
    for it in all.iter_mut().filter(|it| it.known.is_empty()) {
        for block in it.address.as_deref().and_then(|address| blocks.get(address)).into_iter().flatten() {
            let mut values = vec![state.sources.snippet(block.body), format!("{:?}", block.instances.value())];
            add_blocks(&mut values, block);
            it.known.push_str(&decide::digest(&values));
        }
    }
}

/// Returns the module calls for which readers skipped something.
fn calls(state: &TreeState, analysis: &Analysis) -> HashMap<Span, UnreadModuleCall> {
    let told = analysis.inventory.diagnostics.iter().filter(|it| it.skips.is_some());
    let told: BTreeSet<Span> = told.filter_map(|it| it.span).collect();
    if told.is_empty() {
        return HashMap::new();
    }
    let mut calls: HashMap<Span, UnreadModuleCall> = HashMap::new();
    let modules = analysis.blocks.iter().filter(|block| block.keyword == "module" && told.contains(&block.span));
    for block in modules {
        // Each call of a module repeats the calls inside of it.
        let call = calls.entry(block.span).or_insert_with(|| UnreadModuleCall {
            address: terraform::without_keys(&block.address),
            body: block.body,
            values: Vec::new(),
            text: deciding_text(state, block),
            is_harmless: block.source.as_deref().is_some_and(terraform::rents_no_machines),
        });
        for (name, attribute) in &block.attributes {
            if name == "version" {
                call.values.extend(attribute.value.as_text().map(|it| release_line(&it)));
            }
            if decides_nothing(name) {
                continue;
            }
            call.values.push(name.clone());
            add(&mut call.values, &attribute.value);
        }
        block.blocks.iter().for_each(|inner| add_blocks(&mut call.values, inner));
    }
    calls
}

/// Returns true for arguments of modules that affect no machine: tags, logs, and versions of the control plane.
fn decides_nothing(name: &str) -> bool {
    const NAMES: [&str; 5] = ["tags", "description", "version", "cluster_version", "kubernetes_version"];
    const PARTS: [&str; 3] = ["log_retention", "log_types", "retention_in_days"];
    NAMES.contains(&name) || name.ends_with("_tags") || PARTS.iter().any(|part| name.contains(part))
}

/// Returns the major and minor number of a version. A patch of a module changes no machine.
fn release_line(version: &str) -> String {
    version.split('.').take(2).collect::<Vec<_>>().join(".")
}

/// Returns a call without comment lines, `depends_on`, and arguments that affect no machine.
fn deciding_text(state: &TreeState, block: &terraform::EvaluatedBlock) -> String {
    let mut text = state.sources.snippet(block.body);
    let start = block.body.start;
    let idle = block.attributes.iter().filter(|(name, _)| decides_nothing(name));
    let spans = idle.map(|(_, attribute)| attribute.span).filter(|span| span.file == block.body.file);
    let mut ranges: Vec<std::ops::Range<usize>> = spans
        .filter_map(|span| Some(span.start.checked_sub(start)? as usize..span.end.checked_sub(start)? as usize))
        .collect();
    ranges.sort_by_key(|range| std::cmp::Reverse(range.start));
    for range in ranges {
        if text.get(range.clone()).is_some() {
            text.replace_range(range, "");
        }
    }
    if let Some(at) = text.find("depends_on")
        && let Some(length) = text.get(at..).and_then(|rest| rest.find(']'))
    {
        text.replace_range(at..=at + length, "");
    }
    let is_comment = |line: &&str| ["#", "//"].iter().any(|mark| line.trim_start().starts_with(mark));
    text.lines().filter(|line| !is_comment(line)).collect::<Vec<_>>().join("\n")
}
