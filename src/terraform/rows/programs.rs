//! Reads the programs on a resource: startup scripts and containers.

use std::sync::Arc;

use regex::Regex;

use crate::inventory::programs::{self, Container, ProgramFacts, Word};
use crate::inventory::{Fact, FactOrigin, FactValue, Key, KnownFact, Resource, StartedScript, StoppableMachine};
use crate::languages::hcl::value::HclData;
use crate::source::static_regex;

use super::labels::variables;
use super::language::{ContainerAt, ProviderRow, RowRole, TypeRow};
use super::node::{PlacedValue, ValueNode, scalar};
use super::scope::RowScope;
use super::startup::Startup;
use crate::inventory::row_path::RowPath;

static_regex!(
/// Programs that stop a machine at a time, or when it is idle.
static STOPS: Regex = {
    let named =
        r"auto[-_]?(?:stop|shutdown)|idle[-_]?(?:stop|shutdown|timeout|watch|monitor)|stop[-_](?:when|if)[-_]idle";
    // A service, timer or scheduled program whose name suggests that it checks for idleness.
    let unit = r"systemctl\s+(?:-\S+\s+)*(?:enable|start|restart)\s+(?:-\S+\s+)*\S*\b(?:idle|inactiv)[\w@.-]*";
    let clock = r"(?:\S+\s+){5}(?:root\s+)?\S*/[\w.-]*(?:\b|_)(?:idle|inactiv)[\w.-]*";
    format!("(?i)(?:{named}|{unit}|{clock})")
});

static_regex!(
/// A shutdown by `cron`, `at` or a timer.
static SHUTS_DOWN_BY_CLOCK: Regex = {
    let off = r"(?:shutdown|poweroff)\b";
    let cron = format!(r"(?:[\d*/,-]+[ \t]+){{5}}(?:root[ \t]+)?(?:sudo[ \t]+)?\S*{off}");
    let at = format!(r#"{off}[^\n|]*\|[ \t]*(?:sudo[ \t]+)?at[ \t]+[^\n"']*"#);
    let timer = format!(r"systemd-run[^\n]*--on-\w+[= ][^\n]*{off}");
    format!("(?:{cron}|{at}|{timer})")
});

/// Adds the facts from scripts and containers, unless the resource sets them.
pub(super) fn add_program_facts(
    resource: &mut Resource,
    scope: &RowScope<'_>,
    row: &TypeRow,
    provider: Option<&ProviderRow>,
) {
    let scripts: Vec<Word> = row.scripts.0.iter().flat_map(|path| scope.find(path)).map(|node| script(&node)).collect();
    if !scripts.is_empty() {
        let machine = Arc::new(StoppableMachine {
            shutdown_ends_cost: provider.and_then(|provider| provider.shutdown_ends_cost),
            is_replaced: row.replaces_stopped,
            names: resource.metered.iter().map(|meter| meter.name.clone()).collect(),
        });
        for script in &scripts {
            // A template costs nothing, so it does not end.
            if row.role != RowRole::Template {
                add_end(resource, script, &machine);
            }
            fill(resource, programs::recognize_script(script));
            add_lost_checkpoints(resource, script, provider, row);
        }
    }
    for place in &row.containers.0 {
        let parts = place.each.as_ref().map_or_else(|| vec![scope.part.clone()], |each| scope.find(each));
        let accelerated = !resource.fact(Key::AcceleratorCount).is_absent() || row.accelerated;
        for part in parts {
            let inner = RowScope { part, defaults: Vec::new(), ..scope.clone() };
            fill(resource, programs::recognize(&container(&inner, place, accelerated)));
        }
    }
}

/// Adds the facts about how a script stops its machine. An unknown script gives no facts.
fn add_end(resource: &mut Resource, script: &Word, machine: &Arc<StoppableMachine>) {
    let Fact::Known(known) = script else { return };
    let conclude = |value, why: String| Fact::known(value, known.span, FactOrigin::Inferred(why.into()));
    let by_clock = |text: &str| {
        let found = STOPS.find(text).or_else(|| {
            let counts = machine.shutdown_ends_cost != Some(false) && !machine.is_replaced;
            SHUTS_DOWN_BY_CLOCK.find(text).filter(|_| counts)
        });
        found.map(|found| found.as_str().to_owned())
    };
    let Startup { script, files } = Startup::read(&known.value, known.span);
    let (end, started) = programs::machine_end(&script, files, machine);
    let started = started.into_iter().map(|path| StartedScript { path, span: known.span, machine: machine.clone() });
    resource.started.extend(started);
    let mut facts = ProgramFacts::new();
    facts.extend(end.map(|end| end.fact("its startup script", known.span)));
    if let Some(text) = by_clock(&known.value).filter(|_| !facts.contains_key(&Key::Schedule)) {
        facts.insert(Key::Schedule, conclude(FactValue::text(text), "set in its startup script".to_owned()));
    }
    fill(resource, facts);
}

/// Adds the fact that checkpoints are lost with the machine: on its own disks, if an interruption deletes these.
fn add_lost_checkpoints(resource: &mut Resource, script: &Word, provider: Option<&ProviderRow>, row: &TypeRow) {
    let (Fact::Known(script), Fact::Known(path)) = (script, resource.fact(Key::Checkpoint)) else { return };
    let is_local = path.value.as_text().is_some_and(|path| !programs::is_remote_or_open(path));
    let deletes = match resource.fact(Key::EvictionPolicy) {
        Fact::Known(policy) => {
            let policy = policy.value.to_string().to_ascii_lowercase();
            matches!(policy.as_str(), "delete" | "terminate")
        }
        Fact::Absent => provider.is_some_and(|provider| provider.interruption_deletes),
        Fact::Unknown(_) => false,
    };
    if is_local && (deletes || row.replaces_stopped) && !programs::copies_results(&script.value) {
        let why = FactOrigin::Inferred("no command of its startup script copies them".into());
        let place = FactValue::text("on the machine's own disk, which an interruption deletes");
        let span = path.span;
        resource.set(Key::CheckpointLost, Fact::known(place, span, why));
    }
}

fn fill(resource: &mut Resource, facts: ProgramFacts) {
    for (key, fact) in facts {
        if resource.fact(key).is_absent() {
            resource.set(key, fact);
        }
    }
}

fn container(scope: &RowScope<'_>, place: &ContainerAt, accelerated: bool) -> Container {
    let words = |path: &Option<RowPath>| -> Vec<Word> {
        let nodes = path.iter().flat_map(|path| scope.find(path));
        nodes.flat_map(ValueNode::keyed_elements).map(|(_, node)| word(&node)).collect()
    };
    let mut container = Container {
        image: words(&place.image).into_iter().next().unwrap_or_default(),
        command: words(&place.command),
        args: words(&place.args),
        accelerated,
        ..Container::default()
    };
    for env in &place.env.0 {
        let (entries, open) = variables(scope, env);
        for (name, fact) in entries {
            container.env.entry(name).or_insert(fact);
        }
        container.open_env = container.open_env.take().or(open);
    }
    container
}

/// Returns a string with its place. Secrets are left out.
/// Returns a script. Unknown parts of it are `${…}`, which commands read like a variable of the shell.
fn script(node: &ValueNode<'_>) -> Word {
    let word = word(node);
    let (Fact::Unknown(_), ValueNode::Value(held)) = (&word, node) else { return word };
    let outline = held.value.cause().filter(|_| !held.value.sensitive).and_then(|cause| cause.outline.as_deref());
    outline.map_or(word, |outline| Fact::known(Arc::from(outline), held.said, FactOrigin::Resolved))
}

fn word(node: &ValueNode<'_>) -> Word {
    let ValueNode::Value(held) = node else { return Fact::Absent };
    let PlacedValue { value, said, .. } = held;
    match &value.data {
        _ if value.sensitive => Fact::unknown("the value is sensitive", *said),
        HclData::Unknown(cause) => Fact::unknown(cause.why.as_str(), *said),
        _ => match scalar(value) {
            Some(text) => {
                let origin = if held.is_written_here() { FactOrigin::Written } else { FactOrigin::Resolved };
                // Positions inside the string are valid if it is an exact copy of the code.
                let span = if held.defined().is_none() { value.span } else { *said };
                Fact::Known(KnownFact { value: Arc::from(text), span, defined: held.defined(), origin })
            }
            None => Fact::Absent,
        },
    }
}
