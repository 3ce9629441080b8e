//! Subtracts from reservations the machines that run in them, so that no capacity is counted twice.

use crate::inventory::{Fact, FactOrigin, FactValue, Key, KnownFact, Purchase, Range, Resource};

use super::build::BuiltResource;
use super::control::positions;

/// Subtracts machines from the reservations that they use. A reservation is billed even if unused, so only its unused
/// rest counts in addition to the machines.
pub(super) fn subtract_reserved_machines(resources: &mut [BuiltResource]) {
    named(resources);
    open(resources);
}

/// Assigns machines that name the reservation.
fn named(resources: &mut [BuiltResource]) {
    let by_block = positions(resources);
    for at in 0..resources.len() {
        let Some(user) = resources.get(at) else { continue };
        let covered_by = user.covered_by.clone();
        for reservation in covered_by.iter().filter_map(|address| by_block.get(address)).flatten() {
            let [Some(user), Some(kept)] = [resources.get(at), resources.get(*reservation)] else { continue };
            // A group may contain reservations for several machine types.
            if same(&user.resource, &kept.resource, Key::Machine) == Some(false) {
                continue;
            }
            let (used, limit) = (user.resource.count.clone(), kept.resource.fact(Key::TimeLimit).clone());
            let held = held_share(&user.resource, &kept.resource);
            if let Some(kept) = resources.get_mut(*reservation) {
                take(&mut kept.resource, used.value().copied(), true);
            }
            let Some(user) = resources.get_mut(at).map(|it| &mut it.resource) else { continue };
            // A machine in booked capacity runs no longer than the booking.
            if user.fact(Key::TimeLimit).is_absent() && is_booked(user) {
                user.set(Key::TimeLimit, limit);
            }
            user.set(Key::HeldShare, held);
        }
    }
}

/// Returns the cost share of reserved capacity while its machine is stopped.
fn held_share(user: &Resource, kept: &Resource) -> Fact<FactValue> {
    let is_endless = kept.purchase() == Some(Purchase::CapacityReservation) && kept.fact(Key::TimeLimit).is_absent();
    let counts = [user, kept].map(|it| it.count.value().map(|count| count.expected));
    match counts {
        [Some(used), Some(places)] if is_endless && used <= places => {
            let share = kept.number(Key::UnusedShare).unwrap_or(1.0);
            Fact::known(FactValue::Number(share), kept.span, FactOrigin::Resolved)
        }
        _ => Fact::Absent,
    }
}

fn is_booked(resource: &Resource) -> bool {
    matches!(resource.purchase(), Some(Purchase::CapacityBlock | Purchase::Calendar))
}

/// Assigns machines that run in an open reservation without naming it, because type and zone match. If the zone is
/// unknown, the match is uncertain.
fn open(resources: &mut [BuiltResource]) {
    let is_open = |it: &BuiltResource| {
        it.resource.text(Key::Reservation) == Some("open")
            && it.resource.purchase() == Some(Purchase::CapacityReservation)
    };
    let kept: Vec<usize> = (0..resources.len()).filter(|at| resources.get(*at).is_some_and(is_open)).collect();
    let mut taken = vec![false; resources.len()];
    for reservation in kept {
        for at in 0..resources.len() {
            let [Some(user), Some(kept)] = [resources.get(at), resources.get(reservation)] else { continue };
            let agree = [Key::Provider, Key::Machine, Key::Accelerator, Key::AcceleratorCount]
                .map(|key| same(&user.resource, &kept.resource, key));
            let is_user = user.resource.purchase() == Some(Purchase::OnDemand)
                && user.resource.fact(Key::Reservation).is_absent()
                && agree.first() == Some(&Some(true))
                && agree.get(1) == Some(&Some(true))
                && !agree.contains(&Some(false))
                && user.resource.root == kept.resource.root;
            let surely = user.place.is_some() && user.place == kept.place;
            let maybe = same(&user.resource, &kept.resource, Key::Region) != Some(false) && !sets_zone(user);
            if !is_user || taken.get(at) == Some(&true) || !(surely || maybe) {
                continue;
            }
            let used = user.resource.count.value().copied();
            let held = held_share(&user.resource, &kept.resource);
            taken.get_mut(at).into_iter().for_each(|it| *it = surely);
            if let Some(user) = resources.get_mut(at).filter(|_| surely) {
                user.resource.set(Key::HeldShare, held);
            }
            if let Some(kept) = resources.get_mut(reservation) {
                take(&mut kept.resource, used, surely);
            }
        }
    }
}

/// Returns whether the machine names a zone. If it does not match, the machine is in another zone.
fn sets_zone(user: &BuiltResource) -> bool {
    let region = user.resource.text(Key::Region);
    user.place.as_deref().is_some_and(|place| Some(place) != region)
}

/// Returns whether two resources agree in a fact; `None` if one does not set it.
fn same(one: &Resource, other: &Resource, key: Key) -> Option<bool> {
    let text = |it: &Resource| it.fact(key).value().map(|value| value.to_string().to_ascii_lowercase());
    Some(text(one)? == text(other)?)
}

/// Subtracts the used capacity from a reservation.
fn take(resource: &mut Resource, used: Option<Range>, surely: bool) {
    let users = resource.number(Key::Consumers).unwrap_or(0.0) + 1.0;
    if surely {
        resource.set(Key::Consumers, Fact::known(FactValue::Number(users), resource.span, FactOrigin::Resolved));
    }
    let Fact::Known(KnownFact { value: reserved, span, defined, origin }) = resource.count.clone() else { return };
    if resource.fact(Key::Reserved).is_absent() {
        let value = FactValue::Number(reserved.expected);
        resource.set(Key::Reserved, Fact::Known(KnownFact { value, span, defined, origin: origin.clone() }));
    }
    let value = match used {
        Some(used) => Range {
            floor: (reserved.floor - used.ceiling).max(0.0),
            expected: (reserved.expected - used.expected).max(0.0),
            ceiling: (reserved.ceiling - used.floor).max(0.0),
        },
        None => Range { floor: 0.0, ..reserved },
    };
    let value = if surely { value } else { Range { floor: value.floor, ..reserved } };
    resource.count = Fact::Known(KnownFact { value, span, defined, origin });
}
