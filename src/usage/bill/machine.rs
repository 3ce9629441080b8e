//! Detects rows of a bill for machines with accelerators, and the machine type.

use serde_json::Value;

use crate::catalog::{AWS, AZURE, Catalog, GCP, Recognized};

/// The most words of a description that gpulint checks.
const MOST_WORDS: usize = 40;

/// The part of a machine whose hours a row counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HoursOf {
    Machines,
    Accelerators,
    /// The hours of processors, or no hours.
    Nothing,
}

/// The machine of a row, with the details that the row contains.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct BilledMachine {
    pub(super) provider: String,
    pub(super) machine: String,
    pub(super) accelerator: String,
    pub(super) gpus: Option<f64>,
    pub(super) hours: HoursOf,
    pub(super) region: String,
    /// Whether the row is for reserved capacity that was not used.
    pub(super) is_unused: bool,
    pub(super) is_spot: bool,
}

/// The cells of a row that describe its machine.
#[derive(Default)]
pub(super) struct MachineCells<'r> {
    pub(super) provider: &'r str,
    pub(super) publisher: &'r str,
    pub(super) details: &'r str,
    pub(super) description: &'r str,
    pub(super) meter: &'r str,
    pub(super) usage_type: &'r str,
    pub(super) resource_type: &'r str,
    pub(super) region: &'r str,
    /// The columns that only one cloud has.
    pub(super) others: Vec<&'r str>,
}

impl MachineCells<'_> {
    pub(super) fn recognize(&self, catalog: &Catalog) -> Option<BilledMachine> {
        let provider = catalog.billed_by(self.provider);
        // Marketplace software for a machine is not the machine.
        let by_others = !self.publisher.is_empty() && catalog.billed_by(self.publisher) != provider;
        if by_others && !self.publisher.eq_ignore_ascii_case(self.provider) {
            return None;
        }
        let mut found = self.machine(catalog, provider)?;
        let lower = format!("{} {}", self.usage_type, self.description).to_ascii_lowercase();
        found.is_spot = lower.contains("spotusage") || lower.contains("spot") || lower.contains("preemptible");
        found.is_unused = lower.contains("unusedbox") || lower.contains("unusedded");
        if lower.contains("ebsoptimized") || self.usage_type.contains("Reservation:") {
            found.hours = HoursOf::Nothing;
        }
        found.region = catalog.region(&found.provider, self.region).unwrap_or(self.region).to_owned();
        Some(found)
    }

    fn machine(&self, catalog: &Catalog, provider: Option<&str>) -> Option<BilledMachine> {
        let named = self.named();
        let owned_provider = match provider {
            Some(provider) => provider.to_owned(),
            None => catalog.provider_of(&named.clone()?)?.to_owned(),
        };
        let count = self.number("gpucount").filter(|count| *count > 0.0);
        let of = |machine: &str, accelerator: &str, gpus: Option<f64>| BilledMachine {
            provider: owned_provider.clone(),
            machine: machine.to_owned(),
            accelerator: accelerator.to_owned(),
            gpus,
            hours: HoursOf::Machines,
            region: String::new(),
            is_unused: false,
            is_spot: false,
        };
        let known = named.as_deref().map(|name| (name, catalog.recognize(&owned_provider, name)));
        let machine = match known {
            Some((_, Recognized::Machine(it))) => Some(of(&it.name, &it.accelerator, Some(it.count))),
            Some((name, Recognized::Family { accelerator, .. })) => {
                Some(of(name, accelerator.unwrap_or_default(), count))
            }
            Some((name, _)) if count.is_some() => Some(of(name, "", count)),
            Some(_) if owned_provider != GCP => return None,
            _ => None,
        };
        if owned_provider == GCP {
            return self.part(catalog, machine, of);
        }
        machine.or_else(|| {
            let it =
                self.words(&owned_provider).into_iter().find_map(|word| catalog.machine(&owned_provider, &word))?;
            Some(of(&it.name, &it.accelerator, Some(it.count)))
        })
    }

    /// Reads Google's rows, which bill a machine's processors, memory and accelerators separately. Only accelerator
    /// rows count hours.
    fn part(
        &self,
        catalog: &Catalog,
        machine: Option<BilledMachine>,
        of: impl Fn(&str, &str, Option<f64>) -> BilledMachine,
    ) -> Option<BilledMachine> {
        let text = if self.description.is_empty() { self.meter } else { self.description };
        let lower = text.to_ascii_lowercase();
        let words: Vec<&str> =
            lower.split(|it: char| !it.is_ascii_alphanumeric()).filter(|it| !it.is_empty()).collect();
        let at = |word: &str| words.iter().position(|it| *it == word);
        let chip = at("gpu").map(|end| words.get(..end).unwrap_or_default().join(" ")).or_else(|| {
            let next = words.get(at("tpu")? + 1)?;
            Some(format!("tpu-{next}"))
        });
        if let Some(chip) = chip {
            let chip = chip.rsplit("nvidia ").next().unwrap_or(&chip).trim_start_matches("commitment v1 ");
            let known = catalog.accelerator(chip).map(|it| it.name.to_owned());
            let single = || of("", &known.clone().unwrap_or_default(), Some(1.0));
            let mut found = machine.unwrap_or_else(single);
            found.hours = HoursOf::Accelerators;
            return Some(found);
        }
        let is_part = ["core", "ram", "cpu", "memory"].iter().any(|word| at(word).is_some());
        if let Some(found) = machine {
            // The price of a machine does not contain its disks and networks.
            return is_part.then_some(BilledMachine { hours: HoursOf::Nothing, ..found });
        }
        let family = words.get(at("instance").filter(|_| is_part)?.checked_sub(1)?)?;
        let begin = format!("{family}-");
        let mut chips =
            catalog.machines_of(GCP).filter(|it| it.name.starts_with(&begin)).map(|it| it.accelerator.to_string());
        let first = chips.next()?;
        let is_one = chips.all(|it| it == first);
        Some(BilledMachine { hours: HoursOf::Nothing, ..of("", if is_one { &first } else { "" }, None) })
    }

    /// Returns the machine type from the columns that are meant for it.
    fn named(&self) -> Option<String> {
        const NAMES: [&str; 5] = ["instancetype", "x_instancetype", "servicetype", "machine_spec", "machinetype"];
        let cells = std::iter::once(self.details).chain(self.others.iter().copied());
        let found = cells.filter(|it| !it.is_empty()).find_map(|cell| match cell.starts_with(['{', '[']) {
            true => NAMES.iter().find_map(|name| detail(cell, name)),
            // This column contains only machine types.
            false => Some(cell.to_owned()).filter(|it| !it.contains(' ')),
        });
        let of_usage = || {
            let (_, name) = self.usage_type.rsplit_once(':')?;
            name.contains('.').then(|| name.to_owned())
        };
        found.or_else(of_usage).map(|it| it.trim().to_owned()).filter(|it| !it.is_empty() && it.len() <= 100)
    }

    fn number(&self, name: &str) -> Option<f64> {
        let cells = std::iter::once(self.details).chain(self.others.iter().copied());
        { cells }.find_map(|cell| detail(cell, name)?.parse().ok()).filter(|it: &f64| it.is_finite() && *it < 1e6)
    }

    /// Returns the words that may be a machine type. Free text comes last.
    fn words(&self, provider: &str) -> Vec<String> {
        let texts = [self.description, self.meter, self.resource_type];
        let texts = texts.into_iter().chain(self.others.iter().copied());
        let mut words = Vec::new();
        for text in texts.filter(|it| it.len() <= 1000) {
            if provider == AZURE {
                // `Virtual Machines NCads A100 v4 Series - NC24ads A100 v4 Spot - US East`
                let pieces = text.split(" - ").map(|it| it.trim_end_matches(" Spot").trim_end_matches(" Low Priority"));
                words.extend(pieces.map(|it| format!("Standard_{}", it.trim().replace(' ', "_"))));
            }
            let is_word = |it: &&str| it.len() >= 4 && (provider != AWS || it.contains('.'));
            words.extend(text.split_whitespace().filter(is_word).map(|it| it.trim_matches([',', '(', ')']).to_owned()));
        }
        words.truncate(MOST_WORDS);
        words
    }
}

/// Returns the value of a key from a JSON object or from a list of keys and values. Capitals do not matter.
fn detail(cell: &str, name: &str) -> Option<String> {
    let is_it = |key: &str| {
        let key = key.rsplit('/').next().unwrap_or(key);
        key.eq_ignore_ascii_case(name)
    };
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    match serde_json::from_str(cell).ok()? {
        Value::Object(all) => all.iter().find(|(key, _)| is_it(key)).and_then(|(_, value)| text(value)),
        Value::Array(all) => all
            .iter()
            .find(|it| it.get("key").and_then(Value::as_str).is_some_and(is_it))
            .and_then(|it| text(it.get("value")?)),
        _ => None,
    }
}

impl BilledMachine {
    /// Removes a machine or region name that no cloud would use.
    pub(super) fn harmless(mut self) -> BilledMachine {
        let is_name = |text: &str, most: usize| {
            let is_of = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_' | b'.' | b' ');
            text.len() <= most && text.bytes().all(is_of) && !text.starts_with(['-', ' '])
        };
        for text in [&mut self.machine, &mut self.region] {
            if !is_name(text, 64) {
                text.clear();
            }
        }
        self
    }
}
