//! What is wrong with settings although each value has the right type.

use super::key::Number;
use super::tables::Table;
use super::{Config, Key, RunSetting, pack, setting, version};
use crate::diagnostic::{Diagnostic, Level};
use crate::source::Span;

/// Each of them reads all rules again.
const MOST_LAYERS: usize = 64;

/// What bounds may be raised to: beyond it a machine of a code host has no memory, no stack or no time left.
const LARGEST_BOUNDS: [(Key<Number>, f64); 6] = [
    (setting!("bounds.file-mib"), 1_024.0),
    (setting!("bounds.nesting"), 200.0),
    (setting!("bounds.evaluation-steps"), 1e9),
    (setting!("bounds.yaml-nodes"), 1e8),
    (setting!("bounds.seconds"), 86_400.0),
    (setting!("bounds.render-seconds"), 3_600.0),
];

/// What a limit may say; one of them at least.
const LIMITED: [Key<Number>; 4] = [
    setting!("limits[].accelerators"),
    setting!("limits[].machines"),
    setting!("limits[].resource_accelerators"),
    setting!("limits[].resource_machines"),
];

/// Shares, in tables about prices; the other numbers there are zero or more.
const SHARES: [Key<Number>; 2] = [setting!("contracts[].discount"), setting!("hardware[].utilization")];

/// A savings plan or the like is bought for one of two times.
const COMMITMENT_YEARS: Key<Number> = setting!("contracts[].commitment_years");

type Refuse<'a> = dyn FnMut(String, Span) + 'a;

impl Config {
    pub(super) fn judge(&self, version: &str, wrong: &mut Vec<Diagnostic>) {
        let refuse: &mut Refuse = &mut |message, span| {
            wrong.push(Diagnostic::new(Level::Error, message, Some(span)));
        };
        if let Some((requirement, span)) = self.text(setting!("required-version")) {
            match version::meets(version, requirement) {
                Ok(true) => {}
                Ok(false) => refuse(format!("this is gpulint {version}, and `{requirement}` is required"), span),
                Err(why) => refuse(why, span),
            }
        }
        self.judge_bounds(refuse);
        self.judge_limits(refuse);
        self.judge_layers(refuse);
        self.judge_prices(refuse);
        self.judge_runs(refuse);
        self.judge_charts(refuse);
        for table in self.tables(setting!("packs")) {
            pack::judge(&table, refuse);
        }
        self.judge_suppressions(refuse);
    }

    /// Whole numbers, and none so large that it is no limit.
    fn judge_bounds(&self, refuse: &mut Refuse) {
        for (bound, most) in LARGEST_BOUNDS {
            if let Some(entry) = self.at(bound)
                && !entry.value.number().is_some_and(|it| it.fract() == 0.0 && (1.0..=most).contains(&it))
            {
                refuse(format!("`{}` is a whole number from 1 to {most}", bound.path()), entry.span);
            }
        }
    }

    fn judge_limits(&self, refuse: &mut Refuse) {
        for table in self.tables(setting!("limits")) {
            let given = || LIMITED.into_iter().filter_map(|key| table.at(key));
            if let Some(entry) = given().find(|it| !it.value.number().is_some_and(|most| most >= 0.0)) {
                refuse("a limit is a number of zero or more".to_owned(), entry.span);
            } else if let (None, Some(entry)) = (given().next(), table.first()) {
                refuse(format!("a limit says one of {}", LIMITED.map(Key::name).join(", ")), entry.key);
            }
        }
        for table in self.tables(setting!("budgets")) {
            if let Some(entry) = table.first()
                && !table.number(setting!("budgets[].monthly_usd")).is_some_and(|usd| usd >= 0.0)
            {
                refuse("a budget says `monthly_usd`, in dollars".to_owned(), entry.key);
            }
        }
    }

    fn judge_layers(&self, refuse: &mut Refuse) {
        let layers = self.layers();
        if let Some(entry) = layers.get(MOST_LAYERS).and_then(|layer| layer.config.entries.values().next()) {
            refuse(format!("there are more than {MOST_LAYERS} [[paths]]"), entry.key);
        }
        for layer in layers.iter().filter(|layer| layer.patterns.is_empty()) {
            if let Some(entry) = layer.config.entries.values().next() {
                refuse("[[paths]] says which files it is for: match = \"envs/prod/**\"".to_owned(), entry.key);
            }
        }
    }

    fn judge_runs(&self, refuse: &mut Refuse) {
        let names_none = |run: &RunSetting| run.paths.is_empty();
        if let Some((_, entry)) = self.entries.iter().find(|(keys, _)| keys.first().is_some_and(|it| it == "runs"))
            && self.runs().iter().any(names_none)
        {
            refuse("[[runs]] says which directories it is for: paths = [\"infra\"]".to_owned(), entry.key);
        }
    }

    fn judge_charts(&self, refuse: &mut Refuse) {
        let Some((version, span)) = self.text(setting!("charts.kubernetes")) else { return };
        let parts: Vec<&str> = version.trim_start_matches('v').split('.').collect();
        let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !matches!(parts.len(), 2 | 3) || !parts.iter().all(is_number) {
            refuse(format!("`{}` is no version of Kubernetes, as in \"1.34\"", version.escape_debug()), span);
        }
    }

    fn judge_suppressions(&self, refuse: &mut Refuse) {
        for suppress in self.suppressions() {
            if suppress.rules.is_empty() {
                refuse("a suppression names its rules: rules = [\"oversized-gpu\"]".to_owned(), suppress.span);
            } else if suppress.address.is_none() && suppress.path.is_none() {
                let what = "a suppression names an address or a path; `ignore` switches a rule off everywhere";
                refuse(what.to_owned(), suppress.span);
            }
        }
    }

    fn judge_prices(&self, refuse: &mut Refuse) {
        for (provider, entry) in self.below(setting!("prices.discount")) {
            if !entry.value.number().is_some_and(|share| (0.0..=1.0).contains(&share)) {
                refuse(format!("the discount of {provider} is a share from 0 to 1, as in 0.12 for 12 %"), entry.span);
            }
        }
        if let Some(entry) = self.get(setting!("prices.usd_per_unit"))
            && entry.value.number().is_none_or(|rate| rate <= 0.0)
        {
            refuse("`usd_per_unit` is a number above zero, as in 1.08".to_owned(), entry.span);
        }
        self.judge_currency(refuse);
        let contract = [
            setting!("contracts[].discount"),
            setting!("contracts[].usd_per_gpu_hour"),
            setting!("contracts[].commitment_years"),
        ];
        let hardware = [setting!("hardware[].usd_per_gpu_hour"), setting!("hardware[].purchase_usd")];
        let usage = [setting!("usage[].hours_per_month"), setting!("usage[].runs_per_month")];
        let traffic = [
            setting!("traffic[].tokens_per_day"),
            setting!("traffic[].requests_per_day"),
            setting!("traffic[].input_tokens"),
            setting!("traffic[].output_tokens"),
            setting!("traffic[].ms_per_token"),
        ];
        for (list, one_of, who) in [
            (setting!("contracts"), &contract[..], "a contract"),
            (setting!("hardware"), &hardware, "hardware"),
            (setting!("usage"), &usage, "usage"),
            (setting!("traffic"), &traffic, "traffic"),
        ] {
            for table in self.tables(list) {
                judge_commitment(&table, refuse);
                judge_numbers(&table, one_of, who, refuse);
            }
        }
    }
}

impl Config {
    /// A currency needs a rate, and nobody fetches one.
    fn judge_currency(&self, refuse: &mut Refuse) {
        let rate = self.get(setting!("prices.units_per_usd"));
        if let Some(entry) = rate
            && !entry.value.number().is_some_and(|rate| (1e-4..=1e6).contains(&rate))
        {
            refuse("`units_per_usd` is a number from 0.0001 to 1000000, as in 0.92".to_owned(), entry.span);
        }
        let Some((code, span)) = self.text(setting!("prices.currency")) else { return };
        if code.len() != 3 || !code.bytes().all(|byte| byte.is_ascii_uppercase()) {
            refuse(format!("`{}` is no code of a currency, as in \"EUR\"", code.escape_debug()), span);
        }
        if rate.is_none() && code != "USD" {
            refuse(
                format!("`units_per_usd` says what a dollar is in {}: no rate is fetched", code.escape_debug()),
                span,
            );
        }
    }
}

/// A commitment is a way of buying itself.
fn judge_commitment(table: &Table<'_>, refuse: &mut Refuse) {
    let way = table.text(setting!("contracts[].purchase")).unwrap_or("on-demand");
    if let Some(entry) = table.at(COMMITMENT_YEARS)
        && way != "on-demand"
    {
        refuse(
            format!("`commitment_years` is what on-demand use is committed to: `purchase` is not {way} then"),
            entry.span,
        );
    }
}

/// What a table about prices says: one of some numbers, and none that is impossible.
fn judge_numbers(table: &Table<'_>, one_of: &[Key<Number>], who: &str, refuse: &mut Refuse) {
    if let Some(first) = table.first()
        && one_of.iter().all(|key| table.at(*key).is_none())
    {
        let names: Vec<String> = one_of.iter().map(|key| format!("`{}`", key.name())).collect();
        let (last, others) = names
            .split_last()
            .map_or((String::new(), String::new()), |(last, others)| (last.clone(), others.join(", ")));
        refuse(format!("{who} says {others} or {last}"), first.key);
    }
    for (key, entry) in table.entries() {
        let Some(number) = entry.value.number() else { continue };
        let is_share = SHARES.iter().any(|share| share.name() == key);
        if key == COMMITMENT_YEARS.name() && number != 1.0 && number != 3.0 {
            refuse(format!("`{key}` is 1 or 3"), entry.span);
        }
        if number < 0.0 || (is_share && number > 1.0) {
            let range = if is_share { "from 0 to 1" } else { "of zero or more" };
            refuse(format!("`{key}` is a number {range}"), entry.span);
        }
    }
}
