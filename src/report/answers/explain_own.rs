//! Compares your own hardware with what a resource rents, for `gpulint explain`.

use crate::catalog::Money;
use crate::inventory::{Key, Resource};
use crate::pricing::{Against, BillItem, CostScenario, OWN_PROVIDER, OwnMachine, Owned, Purchased, crossing};
use crate::report::views::own_hardware;

/// Compares the hardware in the settings with the price of a resource; empty if the settings declare no such
/// accelerator.
pub fn explain_own(resource: &Resource, item: Option<&BillItem>, owned: &[Owned]) -> String {
    let provider = resource.text(Key::Provider);
    let accelerator = resource.text(Key::Accelerator).filter(|_| provider != Some(OWN_PROVIDER));
    let declared = accelerator.and_then(|name| Some((name, Owned::of(owned, name)?)));
    let Some((accelerator, own)) = declared else { return String::new() };
    let rents = item.map(|item| rents(resource, item)).unwrap_or_default();
    let against = own.purchased.map(|it| against(resource, item, &it, &rents)).unwrap_or_default();
    let heading = format!("\nyour own {accelerator}, from the setting `hardware`, per hour of work\n");
    let machine = OwnMachine {
        how: own.how.clone(),
        per_accelerator_hour: own.per_accelerator_hour,
        purchased: own.purchased,
        against,
    };
    let mut text = heading + &own_hardware::lines(&machine);
    if machine.purchased.is_some() && machine.against.is_empty() {
        text.push_str("  the rental price is unknown, and so are the break-even hours\n");
    }
    text
}

/// Returns the dollars per accelerator and hour for each purchase option.
fn rents(resource: &Resource, item: &BillItem) -> Vec<(CostScenario, Money)> {
    let count = resource.number(Key::AcceleratorCount).filter(|count| *count > 0.0);
    let amount = item.amount.map(|amount| amount.expected.usd()).filter(|usd| *usd > 0.0);
    let (Some(hour), Some(count), Some(amount)) = (item.hourly(), count, amount) else { return Vec::new() };
    let ways = [CostScenario::OnDemand, CostScenario::Reserved1y, CostScenario::Reserved3y];
    // The cost with another purchase option, divided by the cost now, for the same machines and hours.
    let share = |way: CostScenario| item.amount_if.get(&way).map(|other| other.expected.usd() / amount);
    let found = ways.into_iter().filter_map(|way| Some((way, hour.expected.times(share(way)? / count))));
    found.collect()
}

fn against(
    resource: &Resource,
    item: Option<&BillItem>,
    own: &Purchased,
    rents: &[(CostScenario, Money)],
) -> Vec<Against> {
    let provider = resource.text(Key::Provider).unwrap_or("renting");
    let named = resource.text(Key::Machine).map_or(provider.to_owned(), |machine| format!("{provider} {machine}"));
    let is_estimate = item.is_some_and(BillItem::is_estimated);
    let of = if is_estimate { format!("{named} (an estimate)") } else { named };
    let beside = |(scenario, each): &(CostScenario, Money)| {
        let rent_per_hour = each.times(own.accelerators);
        let crossing = crossing(own, *scenario, rent_per_hour);
        Against { scenario: *scenario, of: of.clone(), rent_per_hour, crossing }
    };
    rents.iter().map(beside).collect()
}
