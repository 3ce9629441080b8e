//! Lists commands that Terraform starts on its own machine (`local-exec`) and that request machines or accelerators.
//! gpulint does not run them, so it compares their evaluated arguments and variables.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use regex::Regex;

use super::block_values::add_blocks;
use super::state::TreeState;
use super::unexplained::requests_accelerators;
use crate::analysis::Analysis;
use crate::decide;
use crate::diagnostic::SkipKind;
use crate::inventory::Unjudged;
use crate::source::{Span, join, parent, static_regex};
use crate::terraform::EvaluatedBlock;

/// Longer scripts are not written by hand.
const LONGEST_SCRIPT: usize = 1 << 18;
const MOST_COMMANDS: usize = 1_000;

static_regex!(
/// Options of command-line tools that request accelerators.
static OPTIONS: Regex = r"--(?:[a-z]+-)*accelerators?[= ]\S|--gpu-(?:type|count)[= ]\S|--gpus?[= ][\w:]*\d");

static_regex!(
/// Commands that create or scale machines of any type.
static MACHINES: Regex = concat!(
        r"\beksctl\s+(?:scale|create)\s+(?:nodegroup|cluster)\b|\bset-desired-capacity\b",
        r"|\baws\s[^\n]*\b(?:create-nodegroup|update-nodegroup-config|run-instances|create-fleet|update-auto-scaling-group)\b",
        r"|\bgcloud\s[^\n]*\b(?:clusters|node-pools|instances|managed|tpu-vm|queued-resources)\s+(?:create|resize|update)\b",
        r"|\baz\s+(?:vm|vmss|aks|aks\s+nodepool)\s+(?:create|scale|add|update)\b",
    ));

/// Returns an entry for each such command, with a digest of its evaluated values.
pub(super) fn unread(state: &TreeState, analysis: &Analysis) -> Vec<Unjudged> {
    let mut seen: BTreeSet<(Span, String)> = BTreeSet::new();
    let mut found = Vec::new();
    let search = CommandSearch {
        state,
        has_accelerators: !analysis.inventory.resources.is_empty(),
        texts: RefCell::default(),
        scripts: RefCell::default(),
    };
    for root in &analysis.roots {
        let own = analysis.blocks.get(root.blocks.clone()).unwrap_or_default();
        for block in own.iter().filter(|block| block.keyword == "resource" && may_exist(block)) {
            for command in block.blocks.iter().filter(|it| is_local(it)) {
                if found.len() >= MOST_COMMANDS {
                    return found;
                }
                let told = search.entry((&root.directory, block), command);
                found.extend(told.filter(|it| seen.insert((command.body, it.known.clone()))));
            }
        }
    }
    found
}

fn may_exist(block: &EvaluatedBlock) -> bool {
    block.instances.value().is_none_or(|range| range.ceiling > 0.0)
}

fn is_local(block: &EvaluatedBlock) -> bool {
    block.keyword == "provisioner" && block.labels.first().is_some_and(|label| label == "local-exec")
}

/// Searches commands for requests. Many roots call the same module, so each text is searched once.
struct CommandSearch<'s> {
    state: &'s TreeState<'s>,
    has_accelerators: bool,
    texts: RefCell<HashMap<String, bool>>,
    scripts: RefCell<HashMap<String, bool>>,
}

impl CommandSearch<'_> {
    fn asks(&self, text: &str) -> bool {
        if let Some(known) = self.texts.borrow().get(text) {
            return *known;
        }
        // Where accelerators are, a command without a type may change their number.
        let is_of_machines = |line: &str| OPTIONS.is_match(line) || self.has_accelerators && MACHINES.is_match(line);
        let asks = text.lines().any(is_of_machines) || requests_accelerators(text, self.state);
        self.texts.borrow_mut().insert(text.to_owned(), asks);
        asks
    }

    fn is_asking_script(&self, script: &str) -> bool {
        if let Some(known) = self.scripts.borrow().get(script) {
            return *known;
        }
        let look = |bytes: &[u8]| bytes.len() <= LONGEST_SCRIPT && self.asks(&String::from_utf8_lossy(bytes));
        let is_there = self.state.files.binary_search_by(|it| it.as_str().cmp(script)).is_ok();
        let asks = is_there && self.state.sources.glance(script, look).unwrap_or(false);
        self.scripts.borrow_mut().insert(script.to_owned(), asks);
        asks
    }

    fn entry(&self, (directory, block): (&str, &EvaluatedBlock), command: &EvaluatedBlock) -> Option<Unjudged> {
        let state = self.state;
        let mut values = Vec::new();
        add_blocks(&mut values, command);
        let path = state.sources.path_of(command.span);
        // A long command continues on the next line.
        let text = state.sources.snippet(command.body).replace("\\\n", " ");
        let what = if self.asks(&text) || values.iter().any(|value| self.asks(value)) {
            "a command that requests machines or accelerators".to_owned()
        } else {
            let texts = values.iter().map(String::as_str).chain([text.as_str()]);
            let words = texts.flat_map(|text| text.split(|c: char| c.is_whitespace() || "\"'=;&|(){}".contains(c)));
            let folders = [directory, parent(&path)];
            let scripts = words.filter(|word| word.contains(['.', '/'])).flat_map(|word| {
                let inside = |folder: &&str| [join(folder, word), join(folder, word.trim_start_matches('/'))];
                folders.iter().flat_map(inside).flatten().collect::<Vec<_>>()
            });
            let script = scripts.take(MOST_COMMANDS).find(|script| self.is_asking_script(script))?;
            format!("{script}, which requests machines or accelerators")
        };
        let span = command.attributes.get("command").map_or(command.span, |it| it.span);
        let reason = format!("{} runs {what}, and gpulint does not run it", block.address);
        let told = Unjudged::new(SkipKind::Change, path, reason).about(&block.address).at(span);
        Some(Unjudged { known: decide::digest(&values), ..told })
    }
}
