//! Finds names in a rule file that do not exist. Such a rule would never report anything, and its author would not
//! notice.
//!
//! Names from closed lists, such as providers and accelerators, are refused. For open lists (kinds, regions, machines,
//! attributes), only probable typing errors are refused: one wrong letter, or only the beginning of a name.

use std::collections::BTreeSet;

use crate::catalog::{Catalog, Precision, Recognized, covers};
use crate::languages::cel::{NameUse, nearest, slip_of};

/// The known names, with those that a user adds.
#[derive(Debug, Clone, Default)]
pub struct KnownNames {
    /// The catalog with custom prices.
    pub catalog: Catalog,
    /// Types of resources in Terraform and Kubernetes, and of other objects.
    pub types: Vec<&'static str>,
    pub kinds: Vec<&'static str>,
    /// Providers without prices.
    pub providers: Vec<String>,
    /// Accelerators of the user's own hardware, where `*` matches anything.
    pub accelerators: Vec<String>,
    /// Facts that custom labels declare, which may have any value.
    pub declared: BTreeSet<String>,
    /// Returns the known attributes of a type.
    pub attributes: Option<fn(&str) -> BTreeSet<&'static str>>,
    /// Fields of every object's metadata, and common fields of objects.
    pub metadata: &'static [&'static str],
    pub fields: &'static [&'static str],
}

/// An unknown name, with the probable one.
pub(super) struct UnknownName {
    pub(super) message: String,
    pub(super) help: Option<String>,
}

impl KnownNames {
    /// Checks a string that is compared with a fact or passed to a function; returns an error if the name does not
    /// exist.
    pub(super) fn unknown(&self, to: NameUse, text: &str) -> Option<UnknownName> {
        let what = match to {
            NameUse::Fact("resource" | "choice" | "smaller" | "market" | "object" | "block", fact) => fact,
            NameUse::Argument("price", 0) => "machine",
            NameUse::Argument("price", 1) => "region",
            NameUse::Argument("fits", 1) => "accelerator",
            _ => return None,
        };
        if self.declared.contains(what) {
            return None;
        }
        let meant = match what {
            "accelerator" => self.accelerator(text)?,
            "machine" => vec![self.machine(text)?],
            "region" => vec![self.region(text)?],
            "provider" => self.provider(text)?,
            "vendor" => vec![self.vendor(text)?],
            "precision" | "cache_precision" => vec![precision(text)?],
            "kind" => vec![self.kind(to, text)?.to_owned()],
            _ => return None,
        };
        let message = match to {
            NameUse::Fact(..) => format!("`{what}` is never `{}`", text.escape_debug()),
            NameUse::Argument(..) => format!("there is no {what} `{}`", text.escape_debug()),
        };
        let meant: Vec<String> = meant.into_iter().map(|it| format!("`{it}`")).collect();
        let help = match (meant.is_empty(), what) {
            (false, _) => format!("did you mean {}?", meant.join(" or ")),
            (true, "accelerator") => "`gpulint catalog accelerators` lists them".to_owned(),
            (true, _) => format!("valid values: {}", self.catalog.providers().join(", ")),
        };
        Some(UnknownName { message, help: Some(help) })
    }

    /// Returns names similar to one that no accelerator has; `None` if the name exists.
    fn accelerator(&self, text: &str) -> Option<Vec<String>> {
        let mut names = self.catalog.accelerators().map(|it| it.name);
        let is_own = || self.accelerators.iter().any(|own| covers(own, text));
        if names.any(|name| name == text) || is_own() || self.catalog.machines().any(|it| it.accelerator == text) {
            return None;
        }
        let meant = self.catalog.chips(text);
        let known: Vec<&str> = self.catalog.accelerators().map(|it| it.name).collect();
        let meant = if meant.is_empty() { nearest(&text.to_uppercase(), known).into_iter().collect() } else { meant };
        Some(meant.into_iter().map(str::to_owned).collect())
    }

    /// Returns the probable machine type, if the name is certainly a mistake: incomplete, or with a missing letter.
    /// New sizes of a machine family appear every month, so other names may exist.
    fn machine(&self, text: &str) -> Option<String> {
        let providers = self.catalog.providers();
        let is_host = |provider: &&str| matches!(self.catalog.recognize(provider, text), Recognized::Host(_));
        if text.len() < 3 || !self.catalog.machines_named(text).is_empty() || providers.iter().any(is_host) {
            return None;
        }
        let names: BTreeSet<String> = self.catalog.machines().map(|it| it.name.into_owned()).collect();
        let begins = names.iter().find(|name| name.starts_with(text)).cloned();
        begins.or_else(|| slip_of(text, names.iter().map(String::as_str)).map(str::to_owned))
    }

    /// Returns the probable region, if the name is not a region. A zone is refused, because rules compare the region
    /// of the price.
    fn region(&self, text: &str) -> Option<String> {
        let providers = self.catalog.providers();
        let known: Vec<&str> = providers.iter().flat_map(|provider| self.catalog.regions(provider)).collect();
        if known.contains(&text) {
            return None;
        }
        let canonical = providers.iter().find_map(|provider| self.catalog.region(provider, text));
        canonical.filter(|it| *it != text).or_else(|| slip_of(text, known)).map(str::to_owned)
    }

    fn provider(&self, text: &str) -> Option<Vec<String>> {
        let priced = self.catalog.providers();
        let known: Vec<&str> = priced.into_iter().chain(self.providers.iter().map(String::as_str)).collect();
        if known.contains(&text) || text == "on-prem" {
            return None;
        }
        let meant = self.catalog.provider_called(text).or_else(|| nearest(text, known));
        Some(meant.into_iter().map(str::to_owned).collect())
    }

    /// Returns the probable vendor, if the name looks like a typing error. The catalog does not contain every vendor
    /// of devices.
    fn vendor(&self, text: &str) -> Option<String> {
        let known: BTreeSet<&str> = self.catalog.accelerators().map(|it| it.vendor).collect();
        if known.contains(text) { None } else { nearest(text, known).map(str::to_owned) }
    }

    fn kind(&self, to: NameUse, text: &str) -> Option<&'static str> {
        let (types, kinds) = (self.types.iter().copied(), self.kinds.iter().copied());
        let known: Vec<&'static str> = match to {
            NameUse::Fact("object", _) => kinds.collect(),
            NameUse::Fact("block", _) => types.collect(),
            _ => types.chain(kinds).collect(),
        };
        if known.contains(&text) { None } else { slip_of(text, known) }
    }

    /// Finds a probable typing error in a path of an object or block. Returns the wrong name and the probable one.
    pub(super) fn misspelt<'p>(
        &self,
        path: &'p [std::sync::Arc<str>],
        kinds: &[&str],
    ) -> Option<(&'p str, UnknownName)> {
        let (first, rest) = path.split_first()?;
        match &**first {
            "object" => self.misspelt_field(rest),
            "block" => {
                let words: BTreeSet<&'static str> =
                    kinds.iter().flat_map(|kind| self.attributes.map(|of| of(kind)).unwrap_or_default()).collect();
                let is_known = |name: &str| words.contains(name);
                let name = rest
                    .iter()
                    .map(|name| &**name)
                    .find(|name| !is_known(name) && slip_of(name, words.iter().copied()).is_some())?;
                let meant = slip_of(name, words.iter().copied())?;
                let message = format!("no {} has `{name}`", kinds.join(" and no "));
                Some((name, UnknownName { message, help: Some(format!("did you mean `{meant}`?")) }))
            }
            _ => None,
        }
    }

    fn misspelt_field<'p>(&self, path: &'p [std::sync::Arc<str>]) -> Option<(&'p str, UnknownName)> {
        let unknown = |name: &'p str, meant: Option<&str>| {
            let help = meant.map(|meant| format!("did you mean `{meant}`?"));
            let help = help.or_else(|| Some(format!("valid names: {}", self.metadata.join(", "))));
            (name, UnknownName { message: format!("no object has `{name}` there"), help })
        };
        for (place, name) in path.iter().enumerate() {
            let before = place.checked_sub(1).and_then(|it| path.get(it)).map(|it| &**it).unwrap_or_default();
            // Label names and data keys are arbitrary.
            if matches!(before, "labels" | "annotations" | "data" | "stringData" | "nodeSelector" | "matchLabels") {
                return None;
            }
            let is_number = name.chars().all(|c| c.is_ascii_digit());
            if before == "metadata" && !is_number {
                if !self.metadata.is_empty() && !self.metadata.contains(&&**name) {
                    return Some(unknown(name, nearest(name, self.metadata.iter().copied())));
                }
            } else if !is_number
                && !self.fields.contains(&&**name)
                && let Some(meant) = slip_of(name, self.fields.iter().copied())
            {
                return Some(unknown(name, Some(meant)));
            }
        }
        None
    }
}

fn precision(text: &str) -> Option<String> {
    const NAMES: [&str; 13] =
        ["fp32", "bf16", "fp16", "fp8", "int8", "gptq8", "awq", "gptq4", "int4", "nf4", "nvfp4", "mxfp4", "fp4mix"];
    if Precision::parse(text).is_some() { None } else { nearest(text, NAMES).map(str::to_owned) }
}

/// Returns an error if an argument is not in its closed list.
pub(super) fn closed(to: NameUse, text: &str) -> Option<UnknownName> {
    let links = || crate::inventory::LinkKind::ALL.iter().map(|it| it.name()).collect::<Vec<_>>();
    let (what, known) = match to {
        NameUse::Argument("linked", 1) => ("kind of link", links()),
        NameUse::Argument("price", 2) => ("way of buying", vec!["on-demand", "spot", "reserved"]),
        _ => return None,
    };
    if known.contains(&text) {
        return None;
    }
    let help = match nearest(text, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("valid values: {}", known.join(", ")),
    };
    Some(UnknownName { message: format!("there is no {what} `{}`", text.escape_debug()), help: Some(help) })
}
