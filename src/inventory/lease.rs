//! Handles labels that set an end: leases, dates and schedules that a controller or a custom program reads.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::source::Date;

use super::fact::{Fact, FactOrigin, KnownFact};
use super::key::{FactValue, Key};
use super::resource::Resource;

/// Labels, tags and annotations that known controllers read, from their documentation of 2026-11.
const CONTROLLERS: &[(&str, &str)] = &[
    ("cleanup.kyverno.io/ttl", "Kyverno"),
    ("custodian_downtime", "Cloud Custodian"),
    ("downscaler/downscale-period", "kube-downscaler"),
    ("downscaler/downtime", "kube-downscaler"),
    ("downscaler/force-downtime", "kube-downscaler"),
    ("downscaler/uptime", "kube-downscaler"),
    ("janitor/expires", "kube-janitor"),
    ("janitor/ttl", "kube-janitor"),
    ("maid_offhours", "Cloud Custodian"),
    ("sablier.enable", "Sablier"),
];
/// Default tag of the Instance Scheduler on AWS.
const AWS_SCHEDULE: (&str, &str) = ("Schedule", "the Instance Scheduler on AWS");
/// Labels that exempt a resource from a controller.
const LEFT_ALONE: &[(&str, &str)] = &[("downscaler/exclude", "kube-downscaler")];
/// Other labels that suggest an end, in lower case without punctuation. Their value is a time.
const TIMES: &[&str] = &[
    "deleteafter",
    "deleteby",
    "deleteon",
    "destroyafter",
    "destroyby",
    "expiration",
    "expirationdate",
    "expirationtime",
    "expire",
    "expires",
    "expiresafter",
    "expiresat",
    "expireson",
    "expiry",
    "expirydate",
    "lease",
    "leaseend",
    "leaseexpires",
    "leaseexpiry",
    "leaseuntil",
    "stopafter",
    "stopat",
    "terminateafter",
    "terminateon",
    "ttl",
];
/// Other labels that suggest an end, whose value may also be a word: the name of a schedule, or `true`.
const SCHEDULES: &[&str] = &[
    "autodelete",
    "autodestroy",
    "autooff",
    "autoshutdown",
    "autoshutdownschedule",
    "autostop",
    "autostopschedule",
    "autoterminate",
    "offhours",
    "schedule",
    "shutdownschedule",
    "stopschedule",
];
/// Values that mean that nothing ends, as lower-case letters and digits.
const ENDLESS: &[&str] = &[
    "",
    "247",
    "24x7",
    "always",
    "alwayson",
    "disabled",
    "false",
    "forever",
    "infinite",
    "infinity",
    "keep",
    "na",
    "never",
    "nil",
    "no",
    "none",
    "null",
    "off",
    "permanent",
    "running",
    "tbd",
    "todo",
    "unlimited",
];

/// Returns the end that the labels of a resource set. A label that a known controller or the user's `own` setting reads
/// is a schedule. Any other label is only a claim, because no file shows what enforces it.
pub fn lease(resource: &Resource, own: &BTreeMap<String, String>, today: Option<Date>) -> Fact<FactValue> {
    let mut claim = Fact::Absent;
    for (label, word) in &resource.labels.entries {
        let Some(reader) = reader(resource, label, own) else { continue };
        let said = match word {
            Fact::Known(word) => read(label, word, reader, today),
            Fact::Unknown(unknown) => Fact::unknown(unknown.why.clone(), unknown.span),
            Fact::Absent => Fact::Absent,
        };
        match (reader, said) {
            (_, Fact::Absent) => {}
            (Reader::Controller(_), said) => return said,
            (_, said) => claim = claim.or(|| said),
        }
    }
    claim
}

#[derive(Clone, Copy)]
enum Reader {
    Controller(&'static str),
    SomebodyOfTime,
    Somebody,
}

fn reader(resource: &Resource, label: &str, own: &BTreeMap<String, String>) -> Option<Reader> {
    let is_on = |(label, _): &&(&str, &str)| {
        let word = resource.labels.entries.get(*label).and_then(Fact::value);
        word.is_some_and(|word| word.eq_ignore_ascii_case("true"))
    };
    if label == "gpulint.dev/schedule" || own.get(label).is_some_and(|it| it == Key::Schedule.name()) {
        return Some(Reader::Controller("its owner"));
    }
    let is_aws = resource.text(Key::Provider) == Some("aws");
    let known = CONTROLLERS.iter().chain(is_aws.then_some(&AWS_SCHEDULE)).find(|(known, _)| *known == label);
    if let Some((_, controller)) = known {
        let left_alone = LEFT_ALONE.iter().filter(is_on).any(|(_, by)| by == controller);
        return (!left_alone).then_some(Reader::Controller(controller));
    }
    let word = plain(label);
    let is_claim = |labels: &[&str]| label.len() < 40 && labels.contains(&word.as_str());
    match () {
        // A prefix changes the meaning of a label: the `ttl` of a DNS address does not end a machine.
        () if label.contains('/') => None,
        () if is_claim(TIMES) => Some(Reader::SomebodyOfTime),
        () if is_claim(SCHEDULES) => Some(Reader::Somebody),
        () => None,
    }
}

fn read(label: &str, word: &KnownFact<Arc<str>>, reader: Reader, today: Option<Date>) -> Fact<FactValue> {
    let value = word.value.trim();
    let is_time = value.bytes().any(|byte| matches!(byte, b'1'..=b'9'));
    let ends = match reader {
        Reader::SomebodyOfTime => is_time,
        _ => is_time || value.bytes().any(|byte| byte.is_ascii_alphabetic()),
    };
    if !ends || value.starts_with('-') || is_endless(value) || today.is_some_and(|today| is_past(value, today)) {
        return Fact::Absent;
    }
    let (by, origin) = match reader {
        Reader::Controller(name) => (format!("{name}, through its label `{label}`"), FactOrigin::Resolved),
        Reader::Somebody | Reader::SomebodyOfTime => {
            let why = format!("its label `{label}` suggests a controller that no file here defines");
            (format!("an unknown controller that reads its label `{label}`"), FactOrigin::Inferred(why.into()))
        }
    };
    let origin = word.origin.clone().weakest(origin);
    Fact::Known(KnownFact { value: FactValue::text(by), span: word.span, defined: word.defined, origin })
}

/// Returns the lower-case letters and digits of a text.
fn plain(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

fn is_endless(value: &str) -> bool {
    value.len() < 20 && ENDLESS.contains(&plain(value).as_str())
}

/// Returns true if a value is a date in the past, which is not a lease.
fn is_past(value: &str, today: Date) -> bool {
    let date = |text: &str| text.replace(['_', '/', '.'], "-").parse::<Date>().ok();
    let from_digits = |digits: &str| match digits.len() {
        8 => date(&format!("{}-{}-{}", digits.get(..4)?, digits.get(4..6)?, digits.get(6..)?)),
        // Seconds since 1970.
        10 => Date::from_unix_days(digits.parse::<i64>().ok()? / 86_400),
        _ => None,
    };
    // Dates such as `31.12.2025` do not order day and month in one way, so only the year counts.
    let last_day = |text: &str| {
        let years = text.split(|letter: char| !letter.is_ascii_digit()).filter(|it| it.len() == 4);
        years.filter_map(|year| Date::new(year.parse().ok().filter(|year| (2000..2100).contains(year))?, 12, 31)).max()
    };
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
    let day = match is_number {
        true => from_digits(value),
        false => value.get(..10).and_then(date).or_else(|| last_day(value)),
    };
    day.is_some_and(|day| day < today)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::{BillingRole, ReadBy};
    use crate::source::{MemoryTree, SourceFiles, Span};

    fn lease_label(provider: &str, labels: &[(&str, &str)]) -> Option<FactOrigin> {
        let sources = SourceFiles::new(MemoryTree::new().with("a", ""));
        let span = Span::new(sources.open("a").unwrap(), 0, 0);
        let mut resource = Resource::new(ReadBy::Terraform, BillingRole::Rented, "x", "x.y", span, span);
        resource.set(Key::Provider, Fact::written(FactValue::text(provider), span));
        for (label, word) in labels {
            resource.labels.entries.insert((*label).to_owned(), Fact::written(Arc::from(*word), span));
        }
        let own = BTreeMap::from([("acme.example/until".to_owned(), "schedule".to_owned())]);
        lease(&resource, &own, Date::new(2026, 11, 25)).origin().cloned()
    }

    #[test]
    fn a_controller_stops_and_other_labels_claim() {
        for it in [
            ("janitor/ttl", "3d"),
            ("downscaler/uptime", "Mon-Fri 08:00-19:00 Europe/Berlin"),
            ("Schedule", "office"),
            ("acme.example/until", "friday"),
            ("gpulint.dev/schedule", "weekdays"),
        ] {
            assert_eq!(lease_label("aws", &[it]), Some(FactOrigin::Resolved), "{it:?}");
        }
        for it in [("ttl", "72h"), ("Expires", "2026-11-25"), ("lease_until", "20261201"), ("auto-stop", "true")] {
            assert!(matches!(lease_label("aws", &[it]), Some(FactOrigin::Inferred(_))), "{it:?}");
        }
        assert!(matches!(lease_label("gcp", &[("Schedule", "office")]), Some(FactOrigin::Inferred(_))));
    }

    #[test]
    fn what_is_over_or_never_comes_is_no_end() {
        for it in [
            ("expires", "2025-01-01"),
            ("expires", "2026-11-24T23:00:00Z"),
            ("expiry", "31.12.2025"),
            ("expires-on", "20251231"),
            ("expires-at", "1735689600"),
            ("ttl", "0"),
            ("ttl", "-1"),
            ("ttl", "never"),
            ("lease", "prometheus"),
            ("auto-shutdown", "false"),
            ("Schedule", "24x7"),
            ("janitor/ttl", "forever"),
            ("external-dns.alpha.kubernetes.io/ttl", "60"),
            ("team", "ttl"),
        ] {
            assert_eq!(lease_label("aws", &[it]), None, "{it:?}");
        }
        let labels = [("downscaler/uptime", "Mon-Fri 08:00-19:00 UTC"), ("downscaler/exclude", "true")];
        assert_eq!(lease_label("aws", &labels), None);
    }
}
