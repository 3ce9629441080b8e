//! Reads disks that belong to a machine and are billed separately.

use crate::inventory::{DiskSpeed, Fact, FactOrigin, FactValue, KnownFact, MachineDisk, ValueType};

use super::fact::WantedType;
use super::language::DiskWord;
use super::scope::{RowScope, Truth};

/// Returns every disk that the definition describes.
pub(super) fn disks(scope: &RowScope<'_>, words: &[DiskWord]) -> Vec<MachineDisk> {
    let mut disks = Vec::new();
    for word in words {
        let doubt = match scope.holds(&word.when) {
            Truth::No => continue,
            Truth::Yes(_) => None,
            Truth::Unknown { why, span } => Some(Fact::unknown(why, span)),
        };
        let found = match &word.at {
            Some(path) => scope.find(path).into_iter().map(|part| scope.at(part)).collect(),
            None => vec![scope.clone()],
        };
        if found.is_empty() && word.always {
            disks.push(MachineDisk {
                gib: unset_fact(scope),
                kind: Fact::Absent,
                count: Fact::Absent,
                speed: DiskSpeed::default(),
            });
        }
        for scope in found {
            let number = |spec| as_number(scope.fact(spec, WantedType::NUMBER));
            let gib = match doubt.clone().unwrap_or_else(|| number(&word.gib)) {
                // A definition without a size means no disk, unless every machine has one.
                Fact::Absent if word.always => unset_fact(&scope),
                Fact::Absent => continue,
                said => said,
            };
            let count = number(&word.count);
            if !count.is_absent() || word.count.0.is_empty() {
                let speed = DiskSpeed { iops: number(&word.iops), throughput: number(&word.throughput) };
                disks.push(MachineDisk { gib, kind: scope.fact(&word.kind, WantedType::TEXT), count, speed });
            }
        }
    }
    disks
}

fn unset_fact(scope: &RowScope<'_>) -> Fact<FactValue> {
    Fact::unknown("set by the image or the provider", scope.span())
}

fn as_number(fact: Fact<FactValue>) -> Fact<FactValue> {
    match fact {
        Fact::Known(known) => match known.value.clone().conform(ValueType::Number) {
            Some(value) => Fact::Known(KnownFact { value, ..known }),
            None => Fact::unknown("the value is not a number", known.span),
        },
        other => other,
    }
}

/// Returns the size of all disks together; unknown if the size or number of one is unknown.
pub(super) fn total_gib(disks: &[MachineDisk]) -> Fact<FactValue> {
    let mut total: Option<(f64, FactOrigin)> = None;
    let mut span = None;
    for disk in disks {
        for fact in [&disk.gib, &disk.count] {
            if let Fact::Unknown(unknown) = fact {
                return Fact::unknown(unknown.why.clone(), unknown.span);
            }
        }
        let number = |fact: &Fact<FactValue>| fact.value().and_then(FactValue::as_number);
        let gib = number(&disk.gib).unwrap_or_default() * number(&disk.count).unwrap_or(1.0);
        let origin = disk.gib.origin().cloned().unwrap_or(FactOrigin::Written);
        span = span.or(disk.gib.span());
        total = Some(match total {
            Some((sum, before)) => (sum + gib, before.weakest(origin)),
            None => (gib, origin),
        });
    }
    match (total, span) {
        (Some((gib, origin)), Some(span)) => Fact::known(FactValue::Number(gib), span, origin),
        _ => Fact::Absent,
    }
}
