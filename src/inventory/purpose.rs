//! What a workload is for, concluded from names and programs.

use crate::source::Span;

use super::fact::{Fact, Origin};
use super::key::Value;
use super::terms::{Purpose, Task};

/// Something that tells what a resource is for, and where it stands.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    pub says: Says<'a>,
    pub span: Span,
}

#[derive(Debug, Clone, Copy)]
pub enum Says<'a> {
    /// Its type is for nothing else.
    Kind(Purpose),
    /// A label or a tag of the resource itself.
    Label { key: &'a str, value: &'a str },
    /// Its own name.
    Name(&'a str),
    /// The name of what it is part of: a module, a namespace, a cluster.
    Around(&'a str),
    /// The name of a program that it runs.
    Image(&'a str),
    /// What its commands do.
    Does(Purpose, &'a str),
}

/// What a resource is for: what its type is for by definition, then what its program does, then what labels and names say,
/// then what such things are mostly for.
pub fn settle_purpose(
    by_type: Fact<Value>,
    by_task: Fact<Value>,
    evidence: &[Evidence<'_>],
    mostly: impl FnOnce() -> Fact<Value>,
) -> Fact<Value> {
    by_type.or(|| by_task).or(|| purpose(evidence)).or(mostly)
}

/// What something is for by what its program does. Whoever declares a task that nobody knows does not train.
pub fn purpose_of_task(task: &Fact<Value>) -> Fact<Value> {
    match task {
        Fact::Known(_) => task.clone().map(|task| Task::of(&task).map_or(Purpose::Inference, Task::purpose).into()),
        _ => Fact::Absent,
    }
}

/// What labels and names say of the purpose. It is absent rather than wrong: words of two purposes in one place tell nothing, and a name
/// is asked only where no label speaks.
fn purpose(evidence: &[Evidence<'_>]) -> Fact<Value> {
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
            Some(purpose) => Fact::known(purpose.into(), span, Origin::Inferred(reason.into())),
            None => Fact::Absent,
        };
    }
    Fact::Absent
}

/// Whether a resource says of itself that it serves production; absent where it says nothing.
pub fn production(evidence: &[Evidence<'_>]) -> Fact<Value> {
    for level in [Level::Label, Level::Name, Level::Around] {
        let mut found: Option<(bool, String, Span)> = None;
        for it in evidence {
            let text = match (level, it.says) {
                (Level::Label, Says::Label { key, value }) if tells_environment(key) => value,
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
            return Fact::known(Value::Flag(production), span, Origin::Inferred(reason.into()));
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
            Level::Label => "a label says",
            Level::Name => "its name says",
            Level::Around => "the name of what it is part of says",
        }
    }

    /// The words that count at this level.
    fn words(self, says: Says<'_>) -> Vec<String> {
        match (self, says) {
            (Level::Label, Says::Label { key, value }) if tells_purpose(key) => words(value),
            (Level::Label, Says::Label { key, value }) if value.eq_ignore_ascii_case("true") => words(key),
            (Level::Name, Says::Label { key, value }) if key.eq_ignore_ascii_case("name") => words(value),
            (Level::Name, Says::Name(name)) => words(name),
            (Level::Around, Says::Around(name) | Says::Image(name)) => words(name),
            _ => Vec::new(),
        }
    }

    /// What something is part of is called `test` for where it stands, and what it runs for how it was made.
    fn hears(self, word: &str) -> bool {
        self != Level::Around || !matches!(word, "test" | "tests" | "testing" | "e2e" | "infra")
    }
}

/// Keys whose value tells what something does.
fn tells_purpose(key: &str) -> bool {
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
    // `team = "training"` and `type = "batch"` speak of people and of machines as often as of work.
    words(key).iter().any(|word| KEYS.contains(&word.as_str()))
}

fn tells_environment(key: &str) -> bool {
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
        "headnode" | "infra" => Purpose::Infra,
        _ => return None,
    })
}

/// Two words that together mean one thing: batch inference is batch work, a training batch is training.
fn joint(purposes: &[Purpose]) -> Option<Purpose> {
    match purposes {
        [one] => Some(*one),
        [Purpose::Training, Purpose::Batch] => Some(Purpose::Training),
        [Purpose::Batch, Purpose::Inference] => Some(Purpose::Batch),
        _ => None,
    }
}

/// Names of products that hold the word of an environment.
const PRODUCTS: [&str; 3] = ["production-stack", "production_stack", "test-infra"];

fn without_products(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let found = PRODUCTS.iter().find_map(|product| Some((lower.find(product)?, product.len())));
    let cut = |(at, length): (usize, usize)| Some(format!("{}{}", name.get(..at)?, name.get(at + length..)?));
    found.and_then(cut).unwrap_or_else(|| name.to_owned())
}

fn environment(words: &[String]) -> Option<(bool, &str)> {
    let mut found = None;
    for word in words {
        let production = match word.as_str() {
            "prod" | "production" | "prd" => true,
            "dev" | "development" | "staging" | "stg" | "test" | "testing" | "qa" | "sandbox" | "nonprod"
            | "preprod" | "uat" => false,
            _ => continue,
        };
        // `pre-prod` is not production: the joint word comes first and decides.
        found = found.or(Some((production, word.as_str())));
    }
    found
}

/// The words of a name in lower case: parts at punctuation and at changes of case, and neighbours joined where only
/// together they are a word (`fine-tuning`, `pre-prod`).
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
    use crate::source::{MemoryTree, Sources};

    fn span() -> Span {
        let sources = Sources::new(MemoryTree::new().with("a.tf", "x"));
        Span::new(sources.open("a.tf").unwrap(), 0, 1)
    }

    fn told(says: &[Says<'_>]) -> Option<String> {
        let evidence: Vec<_> = says.iter().map(|says| Evidence { says: *says, span: span() }).collect();
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
            assert_eq!(told(&[Says::Name(name)]).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn what_is_closer_to_the_resource_speaks_first() {
        let label = Says::Label { key: "workload", value: "training" };
        assert_eq!(told(&[Says::Name("serving"), label]).as_deref(), Some("training"));
        assert_eq!(told(&[Says::Around("training"), Says::Name("serving")]).as_deref(), Some("inference"));
        assert_eq!(told(&[label, Says::Kind(Purpose::Interactive)]).as_deref(), Some("interactive"));
        assert_eq!(told(&[Says::Label { key: "team", value: "training" }]), None);
        assert_eq!(told(&[Says::Around("test-cluster"), Says::Image("pytorch-test")]), None, "where it stands");
        assert_eq!(told(&[Says::Around("test-cluster"), Says::Image("triton")]).as_deref(), Some("inference"));
        assert_eq!(told(&[Says::Does(Purpose::Test, "it only looks")]).as_deref(), Some("test"));
        assert_eq!(told(&[Says::Label { key: "example.com/inference", value: "true" }]).as_deref(), Some("inference"));
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
            let fact = production(&[Evidence { says, span: span() }]);
            assert_eq!(fact.value().and_then(Value::as_flag), expected, "{says:?}");
        }
    }
}
