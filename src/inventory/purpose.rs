//! Infers the purpose of a workload from its names and programs.

use crate::source::Span;

use super::fact::{Fact, FactOrigin};
use super::key::FactValue;
use super::terms::{Purpose, Task};

/// The evidence for the purpose of a resource, with its place.
#[derive(Debug, Clone, Copy)]
pub struct PurposeEvidence<'a> {
    pub says: Says<'a>,
    pub span: Span,
}

#[derive(Debug, Clone, Copy)]
pub enum Says<'a> {
    /// The type of the resource has only this purpose.
    Kind(Purpose),
    /// A label or a tag of the resource.
    Label { key: &'a str, value: &'a str },
    /// The name of the resource.
    Name(&'a str),
    /// The name of a module, a namespace or a cluster that contains the resource.
    Around(&'a str),
    /// The name of a program that the resource runs.
    Image(&'a str),
    /// The work that the resource's commands do.
    Does(Purpose, &'a str),
}

/// Infers the purpose of a resource. The purpose of its type ranks first, then its program, then its labels and names,
/// then the usual purpose of such resources.
pub fn infer_purpose(
    by_type: Fact<FactValue>,
    by_task: Fact<FactValue>,
    evidence: &[PurposeEvidence<'_>],
    mostly: impl FnOnce() -> Fact<FactValue>,
) -> Fact<FactValue> {
    by_type.or(|| by_task).or(|| purpose(evidence)).or(mostly)
}

/// Returns the purpose of a program's task. A task that is declared but unknown is not training.
pub fn purpose_of_task(task: &Fact<FactValue>) -> Fact<FactValue> {
    match task {
        Fact::Known(_) => task.clone().map(|task| Task::of(&task).map_or(Purpose::Inference, Task::purpose).into()),
        _ => Fact::Absent,
    }
}

/// Returns the purpose in labels and names. It is absent if one place has words for two purposes. Names count only if
/// no label has a purpose.
fn purpose(evidence: &[PurposeEvidence<'_>]) -> Fact<FactValue> {
    if let Some((purpose, span)) = evidence.iter().find_map(|it| match it.says {
        Says::Kind(purpose) => Some((purpose, it.span)),
        _ => None,
    }) {
        return Fact::written(purpose.into(), span);
    }
    for level in [Level::Label, Level::Name, Level::Around] {
        let mut found: Vec<(Purpose, String, Span)> = Vec::new();
        for it in evidence {
            found.extend(level.words(it.says).iter().filter_map(|word| {
                let purpose = purpose_of_word(word).filter(|_| level.hears(word))?;
                Some((purpose, format!("{} `{word}`", level.phrase()), it.span))
            }));
            if let (Level::Around, Says::Does(purpose, what)) = (level, it.says) {
                found.push((purpose, what.to_owned(), it.span));
            }
        }
        let Some((_, reason, span)) = found.first().cloned() else { continue };
        let mut purposes: Vec<Purpose> = found.iter().map(|(purpose, ..)| *purpose).collect();
        purposes.sort();
        purposes.dedup();
        return match joint(&purposes) {
            Some(purpose) => Fact::known(purpose.into(), span, FactOrigin::Inferred(reason.into())),
            None => Fact::Absent,
        };
    }
    Fact::Absent
}

/// Returns whether labels or names mark a resource as production. Absent if none does.
pub fn production(evidence: &[PurposeEvidence<'_>]) -> Fact<FactValue> {
    for level in [Level::Label, Level::Name, Level::Around] {
        let mut found: Option<(bool, String, Span)> = None;
        for it in evidence {
            let text = match (level, it.says) {
                (Level::Label, Says::Label { key, value }) if is_environment_key(key) => value,
                (Level::Name, Says::Name(name)) => name,
                (Level::Around, Says::Around(name)) => name,
                _ => continue,
            };
            let words = words(&without_products(text));
            let Some((production, word)) = environment(&words) else { continue };
            match &found {
                Some((before, ..)) if *before != production => return Fact::Absent,
                Some(_) => {}
                None => found = Some((production, format!("{} `{word}`", level.phrase()), it.span)),
            }
        }
        if let Some((production, reason, span)) = found {
            return Fact::known(FactValue::Flag(production), span, FactOrigin::Inferred(reason.into()));
        }
    }
    Fact::Absent
}

#[derive(Clone, Copy, PartialEq)]
enum Level {
    Label,
    Name,
    Around,
}

impl Level {
    fn phrase(self) -> &'static str {
        match self {
            Level::Label => "a label contains",
            Level::Name => "its name contains",
            Level::Around => "its parent's name or its image contains",
        }
    }

    /// Returns the words that count at this level.
    fn words(self, says: Says<'_>) -> Vec<String> {
        match (self, says) {
            (Level::Label, Says::Label { key, value }) if is_purpose_key(key) => words(value),
            (Level::Label, Says::Label { key, value }) if value.eq_ignore_ascii_case("true") => words(key),
            (Level::Name, Says::Label { key, value }) if key.eq_ignore_ascii_case("name") => words(value),
            (Level::Name, Says::Name(name)) => words(name),
            (Level::Around, Says::Around(name) | Says::Image(name)) => words(name),
            _ => Vec::new(),
        }
    }

    /// Returns true if a word in this place counts. The word `test` in the name of a parent describes the place, and in
    /// the name of an image it describes the build, so it does not count there. The image of an exporter may be a
    /// sidecar.
    fn hears(self, word: &str) -> bool {
        self != Level::Around || !matches!(word, "test" | "tests" | "testing" | "e2e" | "infra" | "exporter" | "dcgm")
    }
}

/// Returns true if the value of this label key shows the purpose.
fn is_purpose_key(key: &str) -> bool {
    const KEYS: &[&str] = &[
        "workload",
        "purpose",
        "role",
        "task",
        "usage",
        "use",
        "component",
        "app",
        "application",
        "service",
        "pool",
        "job",
        "function",
        "phase",
    ];
    // `team = "training"` and `type = "batch"` describe people and machines as often as work, so they do not count.
    words(key).iter().any(|word| KEYS.contains(&word.as_str()))
}

fn is_environment_key(key: &str) -> bool {
    const KEYS: &[&str] = &["environment", "env", "stage", "tier", "deployment"];
    words(key).iter().any(|word| KEYS.contains(&word.as_str()))
}

fn purpose_of_word(word: &str) -> Option<Purpose> {
    Some(match word {
        "train" | "training" | "trainer" | "trainers" | "finetune" | "finetuning" | "finetuned" | "pretrain"
        | "pretraining" | "sft" | "rlhf" | "dpo" | "grpo" => Purpose::Training,
        "batch" | "offline" | "etl" | "transcode" | "transcoding" => Purpose::Batch,
        "inference" | "inferencing" | "infer" | "serving" | "serve" | "vllm" | "tgi" | "sglang" | "triton"
        | "ollama" | "llamacpp" | "kserve" | "predictor" | "prediction" | "nim" => Purpose::Inference,
        "notebook" | "notebooks" | "jupyter" | "jupyterhub" | "jupyterlab" | "workbench" | "workstation"
        | "workstations" | "devbox" | "interactive" => Purpose::Interactive,
        "ci" | "cicd" | "runner" | "runners" | "buildkite" | "jenkins" => Purpose::Ci,
        "gaming" | "render" | "rendering" | "renderer" | "vdi" | "parsec" | "graphics" => Purpose::Graphics,
        "test" | "tests" | "testing" | "e2e" | "smoketest" | "benchmark" | "benchmarks" | "nccl" => Purpose::Test,
        "headnode" | "infra" | "exporter" | "dcgm" => Purpose::Infra,
        _ => return None,
    })
}

/// Returns the purpose that two words mean together: batch inference is batch work, and a training batch is training.
fn joint(purposes: &[Purpose]) -> Option<Purpose> {
    match purposes {
        [one] => Some(*one),
        [Purpose::Training, Purpose::Batch] => Some(Purpose::Training),
        [Purpose::Batch, Purpose::Inference] => Some(Purpose::Batch),
        _ => None,
    }
}

/// Product names that contain the name of an environment.
const PRODUCTS: [&str; 3] = ["production-stack", "production_stack", "test-infra"];

fn without_products(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let found = PRODUCTS.iter().find_map(|product| Some((lower.find(product)?, product.len())));
    let cut = |(at, length): (usize, usize)| Some(format!("{}{}", name.get(..at)?, name.get(at + length..)?));
    found.and_then(cut).unwrap_or_else(|| name.to_owned())
}

/// Returns the environment that a path or the name of a deployment contains, in one spelling.
pub fn environment_in(text: &str) -> Option<&'static str> {
    words(text).iter().find_map(|word| match word.as_str() {
        "live" => Some(PRODUCTION),
        "stage" => Some(STAGING),
        word => environment_of_word(word),
    })
}

const PRODUCTION: &str = "production";
const STAGING: &str = "staging";

/// Returns the environment of a word that means an environment in every name, in one spelling.
fn environment_of_word(word: &str) -> Option<&'static str> {
    Some(match word {
        "prod" | "production" | "prd" => PRODUCTION,
        "dev" | "development" => "development",
        "staging" | "stg" => STAGING,
        "test" | "testing" | "qa" | "uat" => "test",
        "preprod" | "nonprod" => "preproduction",
        "sandbox" => "sandbox",
        _ => return None,
    })
}

fn environment(words: &[String]) -> Option<(bool, &str)> {
    let mut found = None;
    for word in words {
        let Some(environment) = environment_of_word(word) else { continue };
        // `pre-prod` is not production: the joined word comes first and decides.
        found = found.or(Some((environment == PRODUCTION, word.as_str())));
    }
    found
}

/// Splits a name into lower-case words at punctuation and changes of case. Neighbors are joined if they are only
/// together a word (`fine-tuning`, `pre-prod`).
fn words(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut before = ' ';
    for c in text.chars().take(256) {
        let starts = !before.is_alphanumeric() || (c.is_uppercase() && before.is_lowercase());
        if c.is_alphanumeric() {
            match parts.last_mut() {
                Some(part) if !starts => part.extend(c.to_lowercase()),
                _ => parts.push(c.to_lowercase().collect()),
            }
        }
        before = c;
    }
    let mut joined: Vec<String> = Vec::new();
    for pair in parts.windows(2) {
        if let [first, second] = pair
            && matches!(first.as_str(), "fine" | "pre" | "non" | "head" | "dev" | "smoke" | "ci")
        {
            joined.push(format!("{first}{second}"));
        }
    }
    joined.extend(parts);
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{MemoryTree, SourceFiles};

    fn span() -> Span {
        let sources = SourceFiles::new(MemoryTree::new().with("a.tf", "x"));
        Span::new(sources.open("a.tf").unwrap(), 0, 1)
    }

    fn describe_evidence(says: &[Says<'_>]) -> Option<String> {
        let evidence: Vec<_> = says.iter().map(|says| PurposeEvidence { says: *says, span: span() }).collect();
        purpose(&evidence).value().map(ToString::to_string)
    }

    #[test]
    fn a_name_tells_by_whole_words() {
        for (name, expected) in [
            ("gpu-train-a", Some("training")),
            ("fineTuning", Some("training")),
            ("fine-tuning-pool", Some("training")),
            ("batch_inference", Some("batch")),
            ("JupyterHub", Some("interactive")),
            ("constraint-pool", None),
            ("strainer", None),
            ("specific", None),
            ("gpu", None),
            ("train-and-serve", None),
        ] {
            assert_eq!(describe_evidence(&[Says::Name(name)]).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn what_is_closer_to_the_resource_speaks_first() {
        let label = Says::Label { key: "workload", value: "training" };
        assert_eq!(describe_evidence(&[Says::Name("serving"), label]).as_deref(), Some("training"));
        assert_eq!(describe_evidence(&[Says::Around("training"), Says::Name("serving")]).as_deref(), Some("inference"));
        assert_eq!(describe_evidence(&[label, Says::Kind(Purpose::Interactive)]).as_deref(), Some("interactive"));
        assert_eq!(describe_evidence(&[Says::Label { key: "team", value: "training" }]), None);
        assert_eq!(
            describe_evidence(&[Says::Around("test-cluster"), Says::Image("pytorch-test")]),
            None,
            "where it stands"
        );
        assert_eq!(
            describe_evidence(&[Says::Around("test-cluster"), Says::Image("triton")]).as_deref(),
            Some("inference")
        );
        assert_eq!(describe_evidence(&[Says::Does(Purpose::Test, "it only looks")]).as_deref(), Some("test"));
        assert_eq!(
            describe_evidence(&[Says::Label { key: "example.com/inference", value: "true" }]).as_deref(),
            Some("inference")
        );
    }

    #[test]
    fn production_is_told_or_absent() {
        for (says, expected) in [
            (Says::Label { key: "Environment", value: "Production" }, Some(true)),
            (Says::Label { key: "env", value: "non-prod" }, Some(false)),
            (Says::Name("gpu-prod"), Some(true)),
            (Says::Name("pre-prod"), Some(false)),
            (Says::Name("product-search"), None),
            (Says::Name("vllm-production-stack"), None),
            (Says::Name("prod-production-stack"), Some(true)),
            (Says::Image("production-stack-vllm"), None),
            (Says::Label { key: "owner", value: "prod" }, None),
        ] {
            let fact = production(&[PurposeEvidence { says, span: span() }]);
            assert_eq!(fact.value().and_then(FactValue::as_flag), expected, "{says:?}");
        }
    }
}
