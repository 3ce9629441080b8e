//! The server of a model on a machine: its arguments, its name, and the comment above its code.

use crate::catalog::{Currency, Precision, Quote};
use crate::fit::{FitChoice, ServerSettings};
use crate::pricing::HOURS_PER_MONTH;
use crate::report::answers::fit::per_million;
use crate::report::answers::price::basis;
use crate::report::formats::json::WireNumber;

/// The release of vLLM that the code pins: the newest one at PyPI in 2026-11.
const VLLM: &str = "0.33.0";
/// The port of the server.
pub(super) const PORT: u16 = 8000;
/// The disk space for the image of vLLM and its compiled kernels.
const IMAGE_GIB: f64 = 40.0;

/// The name of a model at Hugging Face. It has only letters, digits and the characters `-`, `_`, `.` and `/`, so it
/// needs no escape in YAML, in HCL and in a shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HubName<'a>(pub(super) &'a str);

impl<'a> HubName<'a> {
    /// Returns the name if Hugging Face accepts it.
    pub fn parse(name: &'a str) -> Option<HubName<'a>> {
        let is_word = |word: &str| {
            let mut ends = word.bytes().take(1).chain(word.bytes().last());
            word.len() <= 96
                && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
                && !word.is_empty()
                && ends.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
                && !word.contains("--")
                && !word.contains("..")
        };
        let words = name.split('/').count();
        (words <= 2 && name.split('/').all(is_word) && !name.ends_with(".git")).then_some(HubName(name))
    }

    /// Returns the name of the server: lower-case letters, digits and single hyphens.
    pub(super) fn of_server(self) -> String {
        const MOST: usize = 40;
        let last = self.0.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        let words: Vec<&str> =
            last.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let mut name = format!("vllm-{}", words.join("-"));
        name.truncate(MOST);
        name.trim_end_matches('-').to_owned()
    }
}

/// The server of a model on a machine.
#[derive(Debug, Clone)]
pub struct ServerCode<'a> {
    pub model: HubName<'a>,
    pub choice: &'a FitChoice,
    /// The region of the price. `*` means every region.
    pub region: &'a str,
    /// Whether the user asked for this region.
    pub region_asked: bool,
    pub quote: &'a Quote<'a>,
    pub settings: &'a ServerSettings,
    /// The number of requests at a time, on which the cost of a token depends. `None` means full load.
    pub requests: Option<f64>,
    /// The tokens of a prompt and of an answer, on which the cost of a token depends.
    pub lengths: (f64, f64),
    /// The cheapest machine of all clouds.
    pub cheapest: Option<&'a FitChoice>,
    /// The number of machines.
    pub machines: f64,
    /// The limits on latency and load that the machines hold.
    pub promise: Option<String>,
}

/// Returns a template with its values, each in the place of its name between two `@`.
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let port = PORT.to_string();
    let all = values.iter().copied().chain([("vllm", VLLM), ("port", &port)]);
    all.fold(template.to_owned(), |text, (name, value)| text.replace(&format!("@{name}@"), value))
}

/// Why gpulint cannot write the code of a server, and what the user can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeRefusal {
    pub why: String,
    pub help: &'static str,
}

impl ServerCode<'_> {
    /// Returns the arguments of vLLM after the name of the model.
    pub(super) fn arguments(&self) -> Result<Vec<String>, CodeRefusal> {
        let settings = self.settings;
        if matches!(settings.precision, Precision::Gguf(_) | Precision::Exl2(_)) {
            return Err(CodeRefusal {
                why: "vLLM does not load weights of llama.cpp or ExLlama by the name of their model".to_owned(),
                help: "pass the name of a model with weights in safetensors",
            });
        }
        let mut arguments = vec!["--max-model-len".to_owned(), settings.context.to_string()];
        let mut add = |flag: &str, value: String| arguments.extend([flag.to_owned(), value]);
        if self.choice.devices > 1.0 {
            add("--tensor-parallel-size", self.choice.devices.to_string());
        }
        if self.copies() > 1.0 {
            add("--data-parallel-size", self.copies().to_string());
        }
        if settings.published != Some(settings.precision) {
            let (flag, value) = conversion(settings.precision, settings.published)?;
            add(flag, value.to_owned());
        }
        match settings.cache_precision.as_deref() {
            Some("fp8") => add("--kv-cache-dtype", "fp8".to_owned()),
            Some(other) => {
                return Err(CodeRefusal {
                    why: format!("gpulint writes no server with a cache in {other}"),
                    help: "use --cache-precision fp8, or leave it out",
                });
            }
            None => {}
        }
        if let Some(sequences) = settings.concurrent {
            add("--max-num-seqs", sequences.to_string());
        }
        Ok(arguments)
    }

    /// Returns the copies of the model on the machine. The cost of a token assumes that all accelerators work.
    fn copies(&self) -> f64 {
        (self.choice.count / self.choice.devices).floor().max(1.0)
    }

    /// Returns the accelerators that the server uses.
    pub(super) fn devices(&self) -> f64 {
        self.choice.devices * self.copies()
    }

    /// Returns the comment above the code: the machine, its price, the cost of a token, and the context.
    pub(super) fn header(&self, notes: &[String]) -> String {
        let (choice, settings) = (self.choice, self.settings);
        let hour = Currency::USD.per_hour(choice.machine_per_hour);
        let month = Currency::USD.amount(choice.machine_per_hour.times(HOURS_PER_MONTH));
        let place = if self.region == "*" { String::new() } else { format!(" in {}", self.region) };
        let mut lines = vec![
            format!("`gpulint fit` chose this machine for {}.", self.model.0),
            format!(
                "Machine: {} {}, {} × {}{place}.",
                choice.provider, choice.machine, choice.count, choice.accelerator
            ),
            format!("Price: {month}/month on demand, {hour}/h. A month is 730 hours, so the machine always runs."),
            format!(
                "The price is of {} ({}). It includes no disk, traffic or tax.",
                self.quote.as_of,
                basis(&self.quote.basis)
            ),
        ];
        lines.extend(self.token_cost());
        let most = choice.largest_context.map_or(String::new(), |most| format!(" Up to {most} tokens fit."));
        lines.push(format!(
            "Context: {} tokens, with weights in {}.{most}",
            settings.context,
            settings.precision.name()
        ));
        if self.copies() > 1.0 {
            let (copies, devices) = (self.copies(), choice.devices);
            lines.push(format!("The server runs {copies} copies of the model, each on {devices} of the accelerators."));
        }
        if let Some(promise) = &self.promise {
            let machines = match self.machines {
                1.0 => "One machine surely holds".to_owned(),
                many => format!("Together, {many} machines ({}/month) surely hold", self.month_of_all()),
            };
            lines.push(format!("{machines} {promise} (slow end of an estimate)."));
        }
        if let Some(other) = self.cheapest.filter(|other| other.per_hour < choice.machine_per_hour) {
            let month = Currency::USD.amount(other.per_hour.times(HOURS_PER_MONTH));
            let (provider, machine) = (&other.provider, &other.machine);
            lines
                .push(format!("Cheaper, but gpulint writes no such code for it: {provider} {machine}, {month}/month."));
        }
        lines.extend_from_slice(notes);
        let lines: Vec<String> = lines.iter().map(|line| format!("# {line}")).collect();
        lines.join("\n")
    }

    fn month_of_all(&self) -> String {
        Currency::USD.amount(self.choice.machine_per_hour.times(self.machines * HOURS_PER_MONTH))
    }

    /// Returns a note for code that starts one machine, if the promise needs several.
    pub(super) fn note_on_machines(&self) -> Option<String> {
        (self.machines > 1.0).then(|| {
            format!("This code starts one machine. Start {} of them, and spread the requests evenly.", self.machines)
        })
    }

    /// Returns the cost of a token and the load for which it is estimated, if there is an estimate.
    fn token_cost(&self) -> Vec<String> {
        let Some(cost) = per_million(self.choice) else { return Vec::new() };
        let dollars = |number: f64| WireNumber::three_digits(number).0;
        let load = self.requests.map_or("full load".to_owned(), |requests| format!("{requests} requests at a time"));
        let (least, most) = (dollars(cost.floor), dollars(cost.ceiling));
        let (prompt, answer) = self.lengths;
        vec![
            format!("Tokens: a million generated tokens cost ${least} to ${most} at {load} (estimate)."),
            format!("The estimate assumes prompts of {prompt} tokens and answers of {answer} tokens."),
        ]
    }

    /// Returns the disk space for the weights and the image of vLLM, in GiB.
    pub(super) fn disk_gib(&self) -> f64 {
        ((self.settings.download_gib * 1.05 + IMAGE_GIB) / 10.0).ceil() * 10.0
    }
}

/// Returns the option with which vLLM converts the weights when it loads them.
fn conversion(to: Precision, from: Option<Precision>) -> Result<(&'static str, &'static str), CodeRefusal> {
    let converted = match to {
        Precision::Bf16 => Some(("--dtype", "bfloat16")),
        Precision::Fp16 => Some(("--dtype", "float16")),
        Precision::Fp32 => Some(("--dtype", "float32")),
        Precision::Fp8 => Some(("--quantization", "fp8")),
        _ => None,
    };
    let has_full_weights = from.is_some_and(Precision::is_full);
    converted.filter(|_| has_full_weights).ok_or_else(|| CodeRefusal {
        why: format!("gpulint writes no server that converts the weights of this model to {}", to.name()),
        help: "pass the name of a model that is published in this precision, and leave out --precision",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_hugging_face_accepts() {
        for name in ["gpt2", "meta-llama/Llama-3.1-8B-Instruct", "a/b_c.d-e"] {
            assert!(HubName::parse(name).is_some(), "{name}");
        }
        for name in [
            "",
            "/",
            "a/",
            "/a",
            "a/b/c",
            "a b",
            "a\"b",
            "a'b",
            "a\nb",
            "a`b",
            "${a}",
            "$(a)",
            "%{a}",
            "a#b",
            "a:b",
            "a\\b",
            "-a",
            "a/-b",
            "a/b-",
            ".a",
            "a..b",
            "a--b",
            "a.git",
            "ä",
            "a\u{2028}b",
            "a\0b",
        ] {
            assert!(HubName::parse(name).is_none(), "{name:?}");
        }
    }

    #[test]
    fn names_of_servers() {
        let of = |name| HubName::parse(name).unwrap().of_server();
        assert_eq!(of("meta-llama/Llama-3.1-8B-Instruct"), "vllm-llama-3-1-8b-instruct");
        assert_eq!(of("a/__x__"), "vllm-x");
        assert_eq!(of("a/__"), "vllm");
        assert_eq!(of(&format!("a/{}", "x.".repeat(40).trim_end_matches('.'))).len(), 40);
    }
}
