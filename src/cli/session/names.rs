//! Finds names in settings that the catalog does not know. For example, a discount for `amazon` would silently have no
//! effect.

use crate::catalog::{Catalog, covers};
use crate::config::{Config, ConfigEntry, ConfigTable, setting};
use crate::diagnostic::{Diagnostic, Level, nearest};
use crate::inventory::Purpose;
use crate::source::Span;

/// Returns each unknown name, with the most similar known name.
pub(in crate::cli) fn unknown(config: &Config, catalog: &Catalog) -> Vec<Diagnostic> {
    let mut names = Names { catalog, wrong: Vec::new() };
    for (provider, entry) in config.below(setting!("prices.discount")) {
        names.provider(provider, entry.key);
    }
    if let Some((provider, span)) = config.text(setting!("defaults.provider")) {
        names.provider(provider, span);
    }
    if let Some((region, span)) = config.text(setting!("defaults.region")) {
        names.region(region, config.text(setting!("defaults.provider")).map(|(provider, _)| provider), span);
    }
    if let Some((accelerator, span)) = config.text(setting!("defaults.accelerator")) {
        names.accelerator(accelerator, span);
    }
    names.tiers(config.below(setting!("tiers")));
    for layer in config.layers() {
        names.tiers(layer.config.below(setting!("tiers")));
    }
    for (name, span) in config.texts(setting!("approvals.accelerators")) {
        names.accelerator(name, *span);
    }
    for table in config.tables(setting!("contracts")) {
        names.contract(&table);
    }
    for table in config.tables(setting!("hardware")) {
        // Custom hardware can be missing from all clouds, so gpulint refuses only likely typing errors.
        if let Some((name, span)) = table.text_at(setting!("hardware[].accelerator"))
            && names.catalog.accelerator(name).is_none()
            && names.nearest_accelerator(name).is_some()
        {
            names.accelerator_pattern(name, span);
        }
    }
    names.wrong
}

struct Names<'a> {
    catalog: &'a Catalog,
    wrong: Vec<Diagnostic>,
}

impl Names<'_> {
    fn refuse(&mut self, what: &str, name: &str, meant: Option<&str>, span: Span) {
        let message = format!("unknown {what} `{}`", name.escape_debug());
        let diagnostic = Diagnostic::new(Level::Error, message, Some(span));
        self.wrong.push(match meant {
            Some(meant) => diagnostic.with_help(format!("did you mean `{meant}`?")),
            None => diagnostic,
        });
    }

    fn provider(&mut self, name: &str, span: Span) {
        let known = self.catalog.providers();
        if name == "on-prem" || known.contains(&name) {
            return;
        }
        let meant = self.catalog.provider_called(name).or_else(|| nearest(name, known.iter().copied()));
        let all = known.join(", ");
        let meant = meant.map(str::to_owned);
        self.refuse("provider", name, meant.as_deref(), span);
        if let (None, Some(last)) = (meant, self.wrong.last_mut()) {
            last.help = Some(format!("known: {all}"));
        }
    }

    fn region(&mut self, name: &str, provider: Option<&str>, span: Span) {
        let providers = provider.map_or_else(|| self.catalog.providers(), |provider| vec![provider]);
        if providers.iter().any(|provider| self.catalog.region(provider, name).is_some()) {
            return;
        }
        let known: Vec<&str> = providers.iter().flat_map(|provider| self.catalog.regions(provider)).collect();
        if !known.is_empty() {
            let meant = nearest(name, known).map(str::to_owned);
            self.refuse("region", name, meant.as_deref(), span);
        }
    }

    fn nearest_accelerator(&self, name: &str) -> Option<String> {
        let known: Vec<&str> = self.catalog.accelerators().map(|it| it.name).collect();
        nearest(&name.to_uppercase(), known).map(str::to_owned)
    }

    fn accelerator(&mut self, name: &str, span: Span) {
        if self.catalog.accelerator(name).is_none() {
            let meant = self.nearest_accelerator(name);
            self.refuse("accelerator", name, meant.as_deref(), span);
        }
    }

    fn accelerator_pattern(&mut self, pattern: &str, span: Span) {
        let is_known = self.catalog.accelerator(pattern).is_some()
            || self.catalog.accelerators().any(|it| covers(pattern, it.name));
        if !is_known {
            let meant = self.nearest_accelerator(pattern);
            self.refuse("accelerator", pattern, meant.as_deref(), span);
        }
    }

    fn tiers<'c>(&mut self, tiers: impl Iterator<Item = (&'c str, &'c ConfigEntry)>) {
        let purposes = || Purpose::ALL.iter().map(|purpose| purpose.name());
        for (purpose, entry) in tiers {
            if !purposes().any(|known| known == purpose) {
                let meant = nearest(purpose, purposes());
                self.refuse("purpose", purpose, meant, entry.key);
            }
            for (name, span) in entry.value.spanned_texts() {
                // The rule compares with the names of the catalog.
                if !self.catalog.accelerators().any(|it| it.name == name) {
                    let meant = self.catalog.accelerator(name).map(|it| it.name.to_owned());
                    let meant = meant.or_else(|| self.nearest_accelerator(name));
                    self.refuse("accelerator", name, meant.as_deref(), *span);
                }
            }
        }
    }

    fn contract(&mut self, table: &ConfigTable<'_>) {
        let provider = table.text_at(setting!("contracts[].provider"));
        if let Some((name, span)) = provider.filter(|(name, _)| !name.contains('*')) {
            self.provider(name, span);
        }
        let is_covered = |pattern: &str, provider: &str| provider.is_empty() || covers(pattern, provider);
        let of = provider.map_or("*", |(name, _)| name);
        if let Some((pattern, span)) = table.text_at(setting!("contracts[].machine")) {
            let machines = || self.catalog.machines().filter(|it| is_covered(of, &it.provider));
            if !machines().any(|it| covers(pattern, &it.name)) && self.catalog.provider_of(pattern).is_none() {
                let names: Vec<String> = machines().map(|it| it.name.to_string()).collect();
                let meant = nearest(pattern, names.iter().map(String::as_str)).map(str::to_owned);
                self.refuse("machine", pattern, meant.as_deref(), span);
            }
        }
        if let Some((pattern, span)) = table.text_at(setting!("contracts[].accelerator")) {
            self.accelerator_pattern(pattern, span);
        }
        if let Some((pattern, span)) = table.text_at(setting!("contracts[].region")) {
            let providers = self.catalog.providers();
            let providers = providers.into_iter().filter(|it| is_covered(of, it));
            let regions: Vec<&str> = providers.flat_map(|it| self.catalog.regions(it)).collect();
            if !regions.iter().any(|it| covers(pattern, it)) {
                let meant = nearest(pattern, regions).map(str::to_owned);
                self.refuse("region", pattern, meant.as_deref(), span);
            }
        }
    }
}
