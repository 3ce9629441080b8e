//! Writes the bill as rows of FOCUS 1.2, the FinOps Foundation's open specification of cost data.
//!
//! Nothing here was billed. The specification requires a number for every cost. Costs of invoices are 0, so that a
//! tool that adds estimates to bills adds nothing. `ListCost` is the cost at on-demand list prices, as that column
//! requires. The expected cost of the actual purchase option is in columns with the prefix `x_`. A resource without a
//! monthly cost has no row, because no column could express it.

use std::collections::BTreeMap;

use super::csv;
use super::json;
use super::ndjson::{adds_up, status};
use crate::catalog::{AWS, AZURE, GCP, Money, MoneyRange};
use crate::inventory::{Key, Purchase, Resource};
use crate::measured::paid::BillMonth;
use crate::pricing::{BillItem, CostScenario, HOURS_PER_MONTH};
use crate::report::Report;

/// A column: name and value.
type Column = (&'static str, fn(&Charge<'_>) -> String);

/// The expected cost of one resource for a month.
struct Charge<'a> {
    resource: &'a Resource,
    amount: MoneyRange,
    list: MoneyRange,
    /// The priced quantity, in its unit.
    quantity: f64,
    unit: &'static str,
    what: What,
    item: &'a BillItem,
    month: BillMonth,
    path: String,
    tool: &'a str,
}

#[derive(Clone, Copy, PartialEq)]
enum What {
    Machines,
    Disks,
}

/// All columns: those of the specification in its order, then gpulint's own columns.
const COLUMNS: &[Column] = &[
    ("AvailabilityZone", |_| String::new()),
    ("BilledCost", |_| decimal(0.0)),
    ("BillingAccountId", |_| "not-billed".to_owned()),
    ("BillingAccountName", |_| "estimate from configuration, not billed".to_owned()),
    ("BillingAccountType", |_| "Estimate".to_owned()),
    ("BillingCurrency", |_| "USD".to_owned()),
    ("BillingPeriodEnd", |it| midnight(it.month.next())),
    ("BillingPeriodStart", |it| midnight(it.month)),
    ("CapacityReservationId", |_| String::new()),
    ("CapacityReservationStatus", |_| String::new()),
    ("ChargeCategory", |_| "Usage".to_owned()),
    ("ChargeClass", |_| String::new()),
    ("ChargeDescription", |it| it.description()),
    ("ChargeFrequency", |_| "Usage-Based".to_owned()),
    ("ChargePeriodEnd", |it| midnight(it.month.next())),
    ("ChargePeriodStart", |it| midnight(it.month)),
    ("CommitmentDiscountCategory", |_| String::new()),
    ("CommitmentDiscountId", |_| String::new()),
    ("CommitmentDiscountName", |_| String::new()),
    ("CommitmentDiscountQuantity", |_| String::new()),
    ("CommitmentDiscountStatus", |_| String::new()),
    ("CommitmentDiscountType", |_| String::new()),
    ("CommitmentDiscountUnit", |_| String::new()),
    ("ConsumedQuantity", |_| String::new()),
    ("ConsumedUnit", |_| String::new()),
    ("ContractedCost", |_| decimal(0.0)),
    ("ContractedUnitPrice", |_| String::new()),
    ("EffectiveCost", |_| decimal(0.0)),
    ("InvoiceId", |_| String::new()),
    ("InvoiceIssuerName", |_| "gpulint estimate, no invoice".to_owned()),
    ("ListCost", |it| decimal(it.list.expected.usd())),
    ("ListUnitPrice", |it| it.list_unit_price()),
    ("PricingCategory", |it| it.pricing_category().to_owned()),
    ("PricingCurrency", |_| "USD".to_owned()),
    ("PricingCurrencyContractedUnitPrice", |_| String::new()),
    ("PricingCurrencyEffectiveCost", |_| decimal(0.0)),
    ("PricingCurrencyListUnitPrice", |it| it.list_unit_price()),
    ("PricingQuantity", |it| decimal(it.quantity)),
    ("PricingUnit", |it| it.unit.to_owned()),
    ("ProviderName", |it| it.provider().to_owned()),
    ("PublisherName", |it| it.provider().to_owned()),
    ("RegionId", |it| it.fact_text(Key::Region).to_owned()),
    ("RegionName", |it| it.fact_text(Key::Region).to_owned()),
    ("ResourceId", |it| it.id()),
    ("ResourceName", |it| it.resource.address.clone()),
    ("ResourceType", |it| it.resource.kind.clone()),
    ("ServiceCategory", |it| if it.what == What::Disks { "Storage" } else { "Compute" }.to_owned()),
    ("ServiceName", |it| it.resource.kind.clone()),
    ("ServiceSubcategory", |it| it.subcategory().to_owned()),
    ("SkuId", |it| it.sku()),
    ("SkuMeter", |it| if it.what == What::Disks { "Disks" } else { "Machine Hours" }.to_owned()),
    ("SkuPriceDetails", |it| it.details()),
    ("SkuPriceId", |it| it.sku_price()),
    ("SubAccountId", |_| String::new()),
    ("SubAccountName", |_| String::new()),
    ("SubAccountType", |_| String::new()),
    ("Tags", |it| it.tags()),
    ("x_EstimatedCost", |it| decimal(it.amount.expected.usd())),
    ("x_EstimatedCostFloor", |it| decimal(it.amount.floor.usd())),
    ("x_EstimatedCostCeiling", |it| decimal(it.amount.ceiling.usd())),
    ("x_EstimateStatus", |it| status(it.item).to_owned()),
    ("x_PriceAsOf", |it| it.item.as_of.clone().unwrap_or_default()),
    ("x_HoursPerMonth", |it| decimal(it.month.hours())),
    ("x_Role", |it| it.resource.role.name().to_owned()),
    ("x_Purchase", |it| it.fact_text(Key::Purchase).to_owned()),
    ("x_Accelerator", |it| it.fact_text(Key::Accelerator).to_owned()),
    ("x_AcceleratorCount", |it| it.resource.number(Key::AcceleratorCount).map_or(String::new(), decimal)),
    ("x_Path", |it| it.path.clone()),
    ("x_Tool", |it| it.tool.to_owned()),
];

/// Readers distinguish decimals from integers by the decimal point.
fn decimal(number: f64) -> String {
    format!("{number:?}")
}

/// Returns rows for the parts of the total, with each dollar counted once. The rows are for the month of the reference
/// day, with its hours instead of the 730 of other totals.
pub(in crate::report) fn cost(report: &Report) -> String {
    let names: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
    let mut rows = format!("{}\n", names.join(","));
    let tool = format!("gpulint {}", report.catalog.version);
    let month = BillMonth::of(report.today);
    for (resource, item) in report.inventory.resources.iter().zip(&report.bill.items) {
        for charge in charges(report, resource, item, month, &tool) {
            let cells: Vec<String> = COLUMNS.iter().map(|(_, read)| csv::text(&read(&charge))).collect();
            rows.push_str(&cells.join(","));
            rows.push('\n');
        }
    }
    rows
}

/// Returns resources of the bill without a row: they have no price, or the number of their runs is unknown.
pub fn left_out(report: &Report) -> usize {
    let items = report.inventory.resources.iter().zip(&report.bill.items);
    items.filter(|(resource, item)| adds_up(resource, item) && item.monthly.is_none()).count()
}

fn charges<'a>(
    report: &Report<'a>,
    resource: &'a Resource,
    item: &'a BillItem,
    month: BillMonth,
    tool: &'a str,
) -> Vec<Charge<'a>> {
    if !resource.is_added() {
        return Vec::new();
    }
    let charge = |what: What, amount: MoneyRange, list: MoneyRange, quantity: f64, unit: &'static str| Charge {
        resource,
        amount,
        list,
        quantity,
        unit,
        what,
        item,
        month,
        path: report.paths.locate(report.sources, resource.span).path,
        tool,
    };
    // For pods on machines of this tree, only the cost that exceeds the cost of these machines.
    let share = item.share.filter(|share| !item.is_within || share.expected > Money::ZERO);
    let of_month = |amount: MoneyRange| amount.times(month.hours() / HOURS_PER_MONTH);
    let machines = share.map(|amount| {
        let list = item.amount_if.get(&CostScenario::OnDemand).copied().unwrap_or(amount);
        let list = if item.is_within { amount } else { list };
        let (amount, list) = (of_month(amount), of_month(list));
        charge(What::Machines, amount, list, hours(item, amount, month), "Hours")
    });
    // Disks are billed per month, whatever its length.
    let disks = item.attached.as_ref().and_then(|it| it.known()).filter(|it| *it != MoneyRange::ZERO);
    let disks = disks.map(|amount| charge(What::Disks, amount, amount, 1.0, "Months"));
    machines.into_iter().chain(disks).collect()
}

/// Returns the total hours: expected cost divided by the price per hour, because schedules change the number of
/// machines.
fn hours(item: &BillItem, amount: MoneyRange, month: BillMonth) -> f64 {
    let hour = item.hourly().map_or(0.0, |hour| hour.expected.usd());
    let of_each = item.hours * month.hours() / HOURS_PER_MONTH;
    if hour > 0.0 { amount.expected.usd() / hour } else { item.count.map_or(0.0, |it| it.expected) * of_each }
}

/// Returns the first second of a month.
fn midnight(month: BillMonth) -> String {
    format!("{month}-01T00:00:00Z")
}

impl Charge<'_> {
    fn fact_text(&self, key: Key) -> &str {
        self.resource.text(key).unwrap_or_default()
    }

    /// Returns the provider's name as on its own bills.
    fn provider(&self) -> &str {
        match self.fact_text(Key::Provider) {
            "" => "Unknown",
            AWS => "AWS",
            AZURE => "Microsoft",
            GCP => "Google Cloud",
            "oci" => "Oracle",
            other => other,
        }
    }

    fn description(&self) -> String {
        let what = match self.what {
            What::Machines => self.fact_text(Key::Machine),
            What::Disks => "disks",
        };
        format!("expected monthly cost from configuration: {what} {}", self.resource.address)
    }

    fn list_unit_price(&self) -> String {
        let quantity = self.quantity;
        if quantity > 0.0 { decimal(self.list.expected.usd() / quantity) } else { String::new() }
    }

    fn pricing_category(&self) -> &'static str {
        match self.resource.purchase() {
            _ if self.what == What::Disks => "Standard",
            None if self.resource.fact(Key::Purchase).is_absent() => "Standard",
            Some(Purchase::OnDemand | Purchase::CapacityReservation) => "Standard",
            Some(Purchase::Spot) => "Dynamic",
            Some(Purchase::Reserved) => "Committed",
            _ => "Other",
        }
    }

    fn subcategory(&self) -> &'static str {
        match self.what {
            What::Disks => "Other (Storage)",
            What::Machines if self.fact_text(Key::Machine).is_empty() => "Other (Compute)",
            What::Machines => "Virtual Machines",
        }
    }

    fn id(&self) -> String {
        match (&self.resource.run, self.what) {
            (Some(run), What::Machines) => format!("{}#{}", run.as_str(), self.resource.address),
            (Some(run), What::Disks) => format!("{}#{}/disks", run.as_str(), self.resource.address),
            (None, _) => self.resource.address.clone(),
        }
    }

    fn sku(&self) -> String {
        match self.what {
            What::Machines => format!("{}/{}", self.fact_text(Key::Provider), self.fact_text(Key::Machine)),
            What::Disks => format!("{}/disks", self.fact_text(Key::Provider)),
        }
    }

    fn sku_price(&self) -> String {
        format!("{}/{}/{}", self.sku(), self.fact_text(Key::Region), self.pricing_category())
    }

    fn details(&self) -> String {
        let machine = Some(self.fact_text(Key::Machine)).filter(|it| !it.is_empty() && self.what == What::Machines);
        let count = self.resource.number(Key::AcceleratorCount).filter(|_| self.what == What::Machines);
        let machine = machine.map(|name| ("InstanceType", serde_json::Value::from(name)));
        let count = count.map(|count| ("GpuCount", serde_json::json!(json::WireNumber(count))));
        let all: BTreeMap<&str, serde_json::Value> = machine.into_iter().chain(count).collect();
        if all.is_empty() { String::new() } else { json::compact(&all) }
    }

    fn tags(&self) -> String {
        let known = self.resource.labels.entries.iter();
        let known: BTreeMap<&str, &str> =
            known.filter_map(|(key, fact)| Some((key.as_str(), fact.value()?.as_ref()))).collect();
        json::compact(&known)
    }
}
