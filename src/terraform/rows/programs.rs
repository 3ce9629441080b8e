//! Reads the programs on a resource: startup scripts and containers.

use std::sync::Arc;

use regex::Regex;

use crate::inventory::programs::{self, Container, ProgramFacts, Word};
use crate::inventory::{Fact, FactOrigin, FactValue, Key, KnownFact, Resource};
use crate::languages::hcl::value::HclData;
use crate::source::static_regex;

use super::labels::variables;
use super::language::{ContainerAt, TypeRow};
use super::node::{PlacedValue, ValueNode, scalar};
use super::scope::RowScope;
use crate::inventory::row_path::RowPath;

static_regex!(
/// Commands that stop a machine after some time, or when it is idle.
static STOPS: Regex = {
    let later = r"shutdown\s+(?:-\S+\s+)*\+\d+";
    let named =
        r"auto[-_]?(?:stop|shutdown)|idle[-_]?(?:stop|shutdown|timeout|watch|monitor)|stop[-_](?:when|if)[-_]idle";
    // A service, timer or scheduled program whose name suggests that it checks for idleness.
    let unit = r"systemctl\s+(?:-\S+\s+)*(?:enable|start|restart)\s+(?:-\S+\s+)*\S*\b(?:idle|inactiv)[\w@.-]*";
    let clock = r"(?:\S+\s+){5}(?:root\s+)?\S*/[\w.-]*(?:\b|_)(?:idle|inactiv)[\w.-]*";
    format!("(?i)(?:{later}|{named}|{unit}|{clock})")
});

static_regex!(
/// A line that stops the machine when the script ends.
static ENDS: Regex = {
    let now = r"shutdown\s+(?:-\S+\s+)*now|poweroff|systemctl poweroff|halt";
    format!(r"(?m)^\s*(?:sudo\s+)?(?:/sbin/)?(?:{now})\s*$")
});

/// Adds the facts from scripts and containers, unless the resource sets them.
pub(super) fn add_program_facts(resource: &mut Resource, scope: &RowScope<'_>, row: &TypeRow) {
    for path in &row.scripts.0 {
        for script in scope.find(path).iter().map(word) {
            fill(resource, ended_by(&script));
            fill(resource, programs::recognize_script(&script));
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

/// Returns the facts about how a script stops its machine. An unknown script gives no facts.
fn ended_by(script: &Word) -> ProgramFacts {
    let mut facts = ProgramFacts::new();
    let Fact::Known(known) = script else { return facts };
    let conclude = |value, why: &str| Fact::known(value, known.span, FactOrigin::Inferred(why.into()));
    if let Some(found) = STOPS.find(&known.value) {
        facts.insert(Key::Schedule, conclude(FactValue::text(found.as_str()), "set in its startup script"));
    }
    if ENDS.is_match(&known.value) {
        facts.insert(Key::EndsByItself, conclude(FactValue::Flag(true), "its startup script ends with a shutdown"));
    }
    facts
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
