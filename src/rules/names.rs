//! Names that a page writes out and that nothing has: it would be silent for ever, and nobody would notice.
//!
//! Lists that are closed are refused outright: who rents out, which accelerators there are. Of lists that others add to (kinds,
//! regions, machines, attributes) only what is surely a slip is: one letter, or the beginning of a name.

use std::collections::BTreeSet;

use crate::catalog::{Catalog, Precision, Recognized, covers};
use crate::languages::cel::{SaidTo, nearest, slip_of};

/// What is known of names, with what a user adds to it.
#[derive(Debug, Clone, Default)]
pub struct KnownNames {
    /// With the prices of one's own.
    pub catalog: Catalog,
    /// Of resources, as Terraform and Kubernetes call them, and of other objects.
    pub types: Vec<&'static str>,
    pub kinds: Vec<&'static str>,
    /// Providers that have no prices.
    pub providers: Vec<String>,
    /// Accelerators of one's own hardware, in which `*` stands for anything.
    pub accelerators: Vec<String>,
    /// Facts that labels of one's own declare: they may have any value.
    pub declared: BTreeSet<String>,
    /// What the attributes of a type are called, as far as that is known.
    pub attributes: Option<fn(&str) -> BTreeSet<&'static str>>,
    /// The fields of the metadata of every object, and of what objects say often.
    pub metadata: &'static [&'static str],
    pub fields: &'static [&'static str],
}

/// What is wrong with a name, and what was meant.
pub(super) struct Unknown {
    pub(super) message: String,
    pub(super) help: Option<String>,
}

impl KnownNames {
    /// A text that is compared with a fact or given to a function, where nothing is called so.
    pub(super) fn unknown(&self, to: SaidTo, text: &str) -> Option<Unknown> {
        let what = match to {
            SaidTo::Fact("resource" | "choice" | "smaller" | "market" | "object" | "block", fact) => fact,
            SaidTo::Argument("price", 0) => "machine",
            SaidTo::Argument("price", 1) => "region",
            SaidTo::Argument("fits", 1) => "accelerator",
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
            SaidTo::Fact(..) => format!("`{what}` is never `{}`", text.escape_debug()),
            SaidTo::Argument(..) => format!("there is no {what} `{}`", text.escape_debug()),
        };
        let meant: Vec<String> = meant.into_iter().map(|it| format!("`{it}`")).collect();
        let help = match (meant.is_empty(), what) {
            (false, _) => format!("did you mean {}?", meant.join(" or ")),
            (true, "accelerator") => "`gpulint catalog accelerators` lists them".to_owned(),
            (true, _) => format!("it is {}", self.catalog.providers().join(", ")),
        };
        Some(Unknown { message, help: Some(help) })
    }

    /// The names that may have been meant by one that no accelerator has; nothing where one is called so.
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

    /// New sizes of a family appear every month: only the beginning of a name and a letter too few are surely slips.
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

    /// Zones are none: a region is compared as it is priced.
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

    /// Devices may be of makers of whom no catalog has heard.
    fn vendor(&self, text: &str) -> Option<String> {
        let known: BTreeSet<&str> = self.catalog.accelerators().map(|it| it.vendor).collect();
        if known.contains(text) { None } else { nearest(text, known).map(str::to_owned) }
    }

    fn kind(&self, to: SaidTo, text: &str) -> Option<&'static str> {
        let (types, kinds) = (self.types.iter().copied(), self.kinds.iter().copied());
        let known: Vec<&'static str> = match to {
            SaidTo::Fact("object", _) => kinds.collect(),
            SaidTo::Fact("block", _) => types.collect(),
            _ => types.chain(kinds).collect(),
        };
        if known.contains(&text) { None } else { slip_of(text, known) }
    }

    /// A part of an object or a block, where a name on the way to it is surely a slip: that name, and what was meant.
    pub(super) fn misspelt<'p>(&self, path: &'p [std::sync::Arc<str>], kinds: &[&str]) -> Option<(&'p str, Unknown)> {
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
                Some((name, Unknown { message, help: Some(format!("did you mean `{meant}`?")) }))
            }
            _ => None,
        }
    }

    fn misspelt_field<'p>(&self, path: &'p [std::sync::Arc<str>]) -> Option<(&'p str, Unknown)> {
        let unknown = |name: &'p str, meant: Option<&str>| {
            let help = meant.map(|meant| format!("did you mean `{meant}`?"));
            let help = help.or_else(|| Some(format!("it is {}", self.metadata.join(", "))));
            (name, Unknown { message: format!("no object has `{name}` there"), help })
        };
        for (place, name) in path.iter().enumerate() {
            let before = place.checked_sub(1).and_then(|it| path.get(it)).map(|it| &**it).unwrap_or_default();
            // names of labels and keys of data are anybody's
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

/// An argument that is one of a few words, and none of them.
pub(super) fn closed(to: SaidTo, text: &str) -> Option<Unknown> {
    let links = || crate::inventory::LinkKind::ALL.iter().map(|it| it.name()).collect::<Vec<_>>();
    let (what, known) = match to {
        SaidTo::Argument("linked", 1) => ("kind of link", links()),
        SaidTo::Argument("price", 2) => ("way of buying", vec!["on-demand", "spot", "reserved"]),
        _ => return None,
    };
    if known.contains(&text) {
        return None;
    }
    let help = match nearest(text, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("it is {}", known.join(", ")),
    };
    Some(Unknown { message: format!("there is no {what} `{}`", text.escape_debug()), help: Some(help) })
}
