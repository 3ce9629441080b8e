//! Checks settings whose values have the right type but are impossible or contradict each other.

use super::key::Number;
use super::tables::{BUDGET_AMOUNTS, ConfigTable};
use super::{Config, ConfigEntry, RunSetting, SettingKey, pack, setting, version};
use crate::diagnostic::{Diagnostic, Level};
use crate::source::Span;

/// The limit on layers, because gpulint reads all rules again for each one.
const MOST_LAYERS: usize = 64;

/// The maximum of each bound. With a larger one, a CI machine would run out of memory, stack or time.
const LARGEST_BOUNDS: [(SettingKey<Number>, f64); 6] = [
    (setting!("bounds.file-mib"), 1_024.0),
    (setting!("bounds.nesting"), 200.0),
    (setting!("bounds.evaluation-steps"), 1e9),
    (setting!("bounds.yaml-nodes"), 1e8),
    (setting!("bounds.seconds"), 86_400.0),
    (setting!("bounds.render-seconds"), 3_600.0),
];

/// The keys of a limit. Each limit needs at least one.
const LIMITED: [SettingKey<Number>; 4] = [
    setting!("limits[].accelerators"),
    setting!("limits[].machines"),
    setting!("limits[].resource_accelerators"),
    setting!("limits[].resource_machines"),
];

/// The shares in tables about prices. All other numbers in these tables are zero or more.
const SHARES: [SettingKey<Number>; 2] = [setting!("contracts[].discount"), setting!("hardware[].utilization")];

/// Commitments are sold for one or three years.
const COMMITMENT_YEARS: SettingKey<Number> = setting!("contracts[].commitment_years");

type Refuse<'a> = dyn FnMut(String, Span) + 'a;

impl Config {
    pub(super) fn judge(&self, version: &str, wrong: &mut Vec<Diagnostic>) {
        let refuse: &mut Refuse = &mut |message, span| {
            wrong.push(Diagnostic::new(Level::Error, message, Some(span)));
        };
        if let Some((requirement, span)) = self.text(setting!("required-version")) {
            match version::meets(version, requirement) {
                Ok(true) => {}
                Ok(false) => {
                    refuse(format!("this file requires gpulint {requirement}, and this is gpulint {version}"), span)
                }
                Err(why) => refuse(why, span),
            }
        }
        self.judge_bounds(refuse);
        self.judge_limits(refuse);
        self.judge_approvals(refuse);
        self.judge_layers(refuse);
        self.judge_prices(refuse);
        self.judge_runs(refuse);
        self.judge_charts(refuse);
        for table in self.tables(setting!("packs")) {
            pack::judge(&table, refuse);
        }
        self.judge_suppressions(refuse);
    }

    /// Refuses bounds that are not whole numbers, or that are so large that they limit nothing.
    fn judge_bounds(&self, refuse: &mut Refuse) {
        for (bound, most) in LARGEST_BOUNDS {
            if let Some(entry) = self.at(bound)
                && !entry.value.number().is_some_and(|it| it.fract() == 0.0 && (1.0..=most).contains(&it))
            {
                refuse(format!("`{}` must be a whole number from 1 to {most}", bound.path()), entry.span);
            }
        }
    }

    fn judge_limits(&self, refuse: &mut Refuse) {
        for table in self.tables(setting!("limits")) {
            let given = || LIMITED.into_iter().filter_map(|key| table.at(key));
            if let Some(entry) = given().find(|it| !it.value.number().is_some_and(|most| most >= 0.0)) {
                refuse("a limit must be a number of zero or more".to_owned(), entry.span);
            } else if let (None, Some(entry)) = (given().next(), table.first()) {
                refuse(format!("[[limits]] needs one of {}", LIMITED.map(SettingKey::name).join(", ")), entry.key);
            }
        }
        for table in self.tables(setting!("budgets")) {
            let Some(first) = table.first() else { continue };
            let given: Vec<_> = BUDGET_AMOUNTS.iter().filter_map(|(key, _)| table.at(*key)).collect();
            let is_amount = |entry: &&ConfigEntry| entry.value.number().is_some_and(|usd| usd >= 0.0);
            if given.is_empty() || !given.iter().all(is_amount) {
                let names = BUDGET_AMOUNTS.map(|(key, _)| format!("`{}`", key.name())).join(", ");
                refuse(format!("[[budgets]] needs one of {names}, with an amount in dollars"), first.key);
            }
        }
    }

    fn judge_approvals(&self, refuse: &mut Refuse) {
        for table in self.tables(setting!("approved")) {
            let Some(first) = table.first() else { continue };
            let needed = ["address", "up_to_monthly_usd", "until", "by"]
                .into_iter()
                .find(|key| !table.entries().any(|(it, _)| it == *key));
            if let Some(key) = needed {
                refuse(
                    format!(
                        "[[approved]] needs `{key}`: an approval names a resource, an amount, a last day and a person"
                    ),
                    first.key,
                );
            }
        }
    }

    fn judge_layers(&self, refuse: &mut Refuse) {
        let layers = self.layers();
        if let Some(entry) = layers.get(MOST_LAYERS).and_then(|layer| layer.config.entries.values().next()) {
            refuse(format!("gpulint accepts at most {MOST_LAYERS} [[paths]] tables"), entry.key);
        }
        for layer in layers.iter().filter(|layer| layer.patterns.is_empty()) {
            if let Some(entry) = layer.config.entries.values().next() {
                refuse("[[paths]] needs the files that it applies to: match = \"envs/prod/**\"".to_owned(), entry.key);
            }
        }
    }

    fn judge_runs(&self, refuse: &mut Refuse) {
        let names_none = |run: &RunSetting| run.paths.is_empty();
        if let Some((_, entry)) = self.entries.iter().find(|(keys, _)| keys.first().is_some_and(|it| it == "runs"))
            && self.runs().iter().any(names_none)
        {
            refuse("[[runs]] needs the directories that it applies to: paths = [\"infra\"]".to_owned(), entry.key);
        }
    }

    fn judge_charts(&self, refuse: &mut Refuse) {
        let Some((version, span)) = self.text(setting!("charts.kubernetes")) else { return };
        let parts: Vec<&str> = version.trim_start_matches('v').split('.').collect();
        let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !matches!(parts.len(), 2 | 3) || !parts.iter().all(is_number) {
            refuse(format!("`{}` is not a Kubernetes version such as \"1.34\"", version.escape_debug()), span);
        }
    }

    fn judge_suppressions(&self, refuse: &mut Refuse) {
        for suppress in self.suppressions() {
            if suppress.rules.is_empty() {
                refuse("[[suppress]] needs `rules`: rules = [\"oversized-gpu\"]".to_owned(), suppress.span);
            } else if suppress.address.is_none() && suppress.path.is_none() {
                let what = "[[suppress]] needs `address` or `path`; to switch a rule off everywhere, use `ignore`";
                refuse(what.to_owned(), suppress.span);
            }
        }
    }

    fn judge_prices(&self, refuse: &mut Refuse) {
        for (provider, entry) in self.below(setting!("prices.discount")) {
            if !entry.value.number().is_some_and(|share| (0.0..=1.0).contains(&share)) {
                refuse(
                    format!("the discount of {provider} must be a share from 0 to 1, such as 0.12 for 12%"),
                    entry.span,
                );
            }
        }
        if let Some(entry) = self.get(setting!("prices.usd_per_unit"))
            && entry.value.number().is_none_or(|rate| rate <= 0.0)
        {
            refuse("`usd_per_unit` must be a number above zero, such as 1.08".to_owned(), entry.span);
        }
        self.judge_currency(refuse);
        let contract = [
            setting!("contracts[].discount"),
            setting!("contracts[].usd_per_gpu_hour"),
            setting!("contracts[].commitment_years"),
        ];
        let hardware = [setting!("hardware[].usd_per_gpu_hour"), setting!("hardware[].purchase_usd")];
        let usage = [
            setting!("usage[].hours_per_month"),
            setting!("usage[].runs_per_month"),
            setting!("usage[].starts_per_month"),
            setting!("usage[].cold_start_seconds"),
            setting!("usage[].checkpoint_minutes"),
            setting!("usage[].interruptions_per_month"),
        ];
        let traffic = [
            setting!("traffic[].tokens_per_day"),
            setting!("traffic[].requests_per_day"),
            setting!("traffic[].input_tokens"),
            setting!("traffic[].output_tokens"),
            setting!("traffic[].ttft_ms"),
            setting!("traffic[].ms_per_token"),
            setting!("traffic[].requests_per_second"),
        ];
        for (list, one_of, who) in [
            (setting!("contracts"), &contract[..], "[[contracts]]"),
            (setting!("hardware"), &hardware, "[[hardware]]"),
            (setting!("usage"), &usage, "[[usage]]"),
            (setting!("traffic"), &traffic, "[[traffic]]"),
        ] {
            for table in self.tables(list) {
                judge_commitment(&table, refuse);
                judge_numbers(&table, one_of, who, refuse);
            }
        }
    }
}

impl Config {
    /// Refuses a currency without a rate. gpulint never fetches exchange rates.
    fn judge_currency(&self, refuse: &mut Refuse) {
        let rate = self.get(setting!("prices.units_per_usd"));
        if let Some(entry) = rate
            && !entry.value.number().is_some_and(|rate| (1e-4..=1e6).contains(&rate))
        {
            refuse("`units_per_usd` must be a number from 0.0001 to 1000000, such as 0.92".to_owned(), entry.span);
        }
        let Some((code, span)) = self.text(setting!("prices.currency")) else { return };
        if code.len() != 3 || !code.bytes().all(|byte| byte.is_ascii_uppercase()) {
            refuse(format!("`{}` is not a currency code such as \"EUR\"", code.escape_debug()), span);
        }
        if rate.is_none() && code != "USD" {
            refuse(
                format!(
                    "set `units_per_usd`, the {} per dollar: gpulint fetches no exchange rate",
                    code.escape_debug()
                ),
                span,
            );
        }
    }
}

/// Refuses a commitment together with another way of buying.
fn judge_commitment(table: &ConfigTable<'_>, refuse: &mut Refuse) {
    let way = table.text(setting!("contracts[].purchase")).unwrap_or("on-demand");
    if let Some(entry) = table.at(COMMITMENT_YEARS)
        && way != "on-demand"
    {
        refuse(
            format!("`commitment_years` applies to on-demand prices: remove it, or `purchase = \"{way}\"`"),
            entry.span,
        );
    }
}

/// Refuses a table about prices that has none of the numbers it needs, or an impossible number.
fn judge_numbers(table: &ConfigTable<'_>, one_of: &[SettingKey<Number>], who: &str, refuse: &mut Refuse) {
    if let Some(first) = table.first()
        && one_of.iter().all(|key| table.at(*key).is_none())
    {
        let names: Vec<String> = one_of.iter().map(|key| format!("`{}`", key.name())).collect();
        let (last, others) = names
            .split_last()
            .map_or((String::new(), String::new()), |(last, others)| (last.clone(), others.join(", ")));
        refuse(format!("{who} needs {others} or {last}"), first.key);
    }
    for (key, entry) in table.entries() {
        let Some(number) = entry.value.number() else { continue };
        let is_share = SHARES.iter().any(|share| share.name() == key);
        if key == COMMITMENT_YEARS.name() && number != 1.0 && number != 3.0 {
            refuse(format!("`{key}` must be 1 or 3"), entry.span);
        }
        if number < 0.0 || (is_share && number > 1.0) {
            let range = if is_share { "from 0 to 1" } else { "of zero or more" };
            refuse(format!("`{key}` must be a number {range}"), entry.span);
        }
    }
}
