//! Reads what labels, arguments and environment variables declare about a workload.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::fact::{Fact, FactOrigin};
use super::super::key::{FactValue, Key};
use super::super::purpose::purpose_of_task;
use super::super::resource::Resource;
use super::table;
use super::values::{self, ValueMeaning};
use super::{ProgramFacts, Word};

/// Reads the declarations under gpulint's own label prefix: `gpulint.dev/model`, `…/params`, `…/precision` and others.
pub fn declared<'a>(labels: impl IntoIterator<Item = (&'a str, &'a Word)>) -> ProgramFacts {
    let ours =
        labels.into_iter().filter_map(|(label, word)| Some((key_of(label.strip_prefix("gpulint.dev/")?)?, word)));
    ours.map(|(key, word)| (key, declared_value(key, word))).collect()
}

/// Applies the declarations in labels, tags or annotations to a resource.
///
/// `gpulint.dev/model`, `…/params`, `…/precision`, `…/task`, `…/context` and the user's `own` labels override
/// everything that gpulint recognizes. Model labels of platforms only fill in missing facts.
pub fn declare(resource: &mut Resource, own: &BTreeMap<String, String>) {
    let mut said: Vec<(Key, Fact<FactValue>)> = Vec::new();
    let mut hinted: Vec<(Key, Fact<FactValue>)> = Vec::new();
    for (label, word) in &resource.labels.entries {
        if let Some(key) = declares(label, own) {
            said.push((key, declared_value(key, word)));
        } else if let Some(key) = table::label(label) {
            let fact = declared_value(key, word);
            let why: Arc<str> = format!("label `{label}`").into();
            hinted.push((key, inferred(fact, &why)));
        }
    }
    for (key, fact) in said {
        resource.set(key, fact);
    }
    for (key, fact) in hinted {
        if resource.fact(key).is_absent() && !fact.is_unknown() {
            resource.set(key, fact);
        }
    }
    if resource.fact(Key::Purpose).is_absent() {
        let purpose = purpose_of_task(resource.fact(Key::Task));
        resource.set(Key::Purpose, purpose);
    }
}

/// Returns the fact that a label declares, by gpulint's own prefix or by the user's settings.
pub fn declares(label: &str, own: &BTreeMap<String, String>) -> Option<Key> {
    let named = label.strip_prefix("gpulint.dev/").or_else(|| own.get(label).map(String::as_str));
    named.and_then(key_of)
}

fn inferred(fact: Fact<FactValue>, why: &Arc<str>) -> Fact<FactValue> {
    match fact {
        Fact::Known(mut known) => {
            known.origin = known.origin.weakest(FactOrigin::Inferred(why.clone()));
            Fact::Known(known)
        }
        other => other,
    }
}

/// Returns the fact that a declaration names. Facts that only gpulint concludes cannot be declared.
fn key_of(name: &str) -> Option<Key> {
    const DECLARED: &[Key] = &[
        Key::Model,
        Key::Parameters,
        Key::Precision,
        Key::CachePrecision,
        Key::Task,
        Key::Context,
        Key::BatchSize,
        Key::TensorParallel,
        Key::PipelineParallel,
        Key::DataParallel,
        Key::Method,
        Key::Sharding,
        Key::Optimizer,
        Key::Purpose,
        Key::TokensPerDay,
        Key::PromptTokens,
        Key::AnswerTokens,
        Key::MsToFirstToken,
        Key::MsPerToken,
        Key::RequestsPerSecond,
        Key::RequestsPerDay,
        Key::Seats,
        Key::PrivateData,
        Key::TrainTokens,
        Key::ImageGib,
        Key::ColdStartSeconds,
        Key::StartsPerMonth,
        Key::CheckpointMinutes,
        Key::InterruptionsPerMonth,
    ];
    let name = name.replace('-', "_");
    let name = if name == "params" { "parameters_b" } else { &name };
    DECLARED.iter().copied().find(|key| key.name() == name)
}

/// Parses the value of a fact from a label.
fn declared_value(key: Key, word: &Word) -> Fact<FactValue> {
    match word {
        Fact::Known(known) => match values::meaning(None, key, &known.value) {
            ValueMeaning::Value(value) => word.clone().map(|_| value.clone()),
            ValueMeaning::Nothing => Fact::Absent,
            ValueMeaning::Unclear(why) => Fact::unknown(why, known.span),
        },
        Fact::Unknown(unknown) => Fact::unknown(unknown.why.clone(), unknown.span),
        Fact::Absent => Fact::Absent,
    }
}
