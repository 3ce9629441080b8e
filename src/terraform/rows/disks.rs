//! Reads disks that belong to a machine and are billed separately.

use crate::inventory::{Disk, DiskSpeed, Fact, Known, Origin, Value, ValueType};

use super::fact::Wanted;
use super::language::DiskWord;
use super::scope::{RowScope, Truth};

/// Returns every disk that the definition describes.
pub(super) fn disks(scope: &RowScope<'_>, words: &[DiskWord]) -> Vec<Disk> {
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
            disks.push(Disk {
                gib: not_said(scope),
                kind: Fact::Absent,
                count: Fact::Absent,
                speed: DiskSpeed::default(),
            });
        }
        for scope in found {
            let number = |spec| as_number(scope.fact(spec, Wanted::NUMBER));
            let gib = match doubt.clone().unwrap_or_else(|| number(&word.gib)) {
                // A definition without a size means no disk, unless every machine has one.
                Fact::Absent if word.always => not_said(&scope),
                Fact::Absent => continue,
                said => said,
            };
            let count = number(&word.count);
            if !count.is_absent() || word.count.0.is_empty() {
                let speed = DiskSpeed { iops: number(&word.iops), throughput: number(&word.throughput) };
                disks.push(Disk { gib, kind: scope.fact(&word.kind, Wanted::TEXT), count, speed });
            }
        }
    }
    disks
}

fn not_said(scope: &RowScope<'_>) -> Fact<Value> {
    Fact::unknown("set by the image or the provider", scope.span())
}

fn as_number(fact: Fact<Value>) -> Fact<Value> {
    match fact {
        Fact::Known(known) => match known.value.clone().conform(ValueType::Number) {
            Some(value) => Fact::Known(Known { value, ..known }),
            None => Fact::unknown("the value is not a number", known.span),
        },
        other => other,
    }
}

/// Returns the size of all disks together; unknown if the size or number of one is unknown.
pub(super) fn total_gib(disks: &[Disk]) -> Fact<Value> {
    let mut total: Option<(f64, Origin)> = None;
    let mut span = None;
    for disk in disks {
        for fact in [&disk.gib, &disk.count] {
            if let Fact::Unknown(unknown) = fact {
                return Fact::unknown(unknown.why.clone(), unknown.span);
            }
        }
        let number = |fact: &Fact<Value>| fact.value().and_then(Value::as_number);
        let gib = number(&disk.gib).unwrap_or_default() * number(&disk.count).unwrap_or(1.0);
        let origin = disk.gib.origin().cloned().unwrap_or(Origin::Written);
        span = span.or(disk.gib.span());
        total = Some(match total {
            Some((sum, before)) => (sum + gib, before.weakest(origin)),
            None => (gib, origin),
        });
    }
    match (total, span) {
        (Some((gib, origin)), Some(span)) => Fact::known(Value::Number(gib), span, origin),
        _ => Fact::Absent,
    }
}
