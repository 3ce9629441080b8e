//! Writes the bill as rows of FOCUS 1.2, the FinOps Foundation's open specification of cost data.
//!
//! Nothing here was billed. The specification requires a number for every cost. Costs of invoices are 0, so that a
//! tool that adds estimates to bills adds nothing. `ListCost` is the cost on demand. Own prices and discounts change
//! it, too, because the price before discounts is then unknown. The expected cost of the actual purchase option is in
//! columns with the prefix `x_`. A resource without a monthly cost has no row, because no column could express it.

use std::collections::BTreeMap;

use super::json;
use super::ndjson::{adds_up, status};
use crate::catalog::{AWS, AZURE, GCP, Money, MoneyRange};
use crate::inventory::{Key, Purchase, Resource};
use crate::measured::paid::BillMonth;
use crate::pricing::{BillItem, CostScenario, HOURS_PER_MONTH};
use crate::report::Report;
use crate::report::views::table::{Cell, ConstColumns, columns, csv};

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
const COLUMNS: &ConstColumns<dyn Fn(&Charge<'_>) -> Cell> = &columns![
    "AvailabilityZone" => |_| Cell::Blank,
    "BilledCost" => |_| decimal(0.0),
    "BillingAccountId" => |_| "not-billed",
    "BillingAccountName" => |_| "estimate from configuration, not billed",
    "BillingAccountType" => |_| "Estimate",
    "BillingCurrency" => |_| "USD",
    "BillingPeriodEnd" => |it| midnight(it.month.next()),
    "BillingPeriodStart" => |it| midnight(it.month),
    "CapacityReservationId" => |_| Cell::Blank,
    "CapacityReservationStatus" => |_| Cell::Blank,
    "ChargeCategory" => |_| "Usage",
    "ChargeClass" => |_| Cell::Blank,
    "ChargeDescription" => |it| it.description(),
    "ChargeFrequency" => |_| "Usage-Based",
    "ChargePeriodEnd" => |it| midnight(it.month.next()),
    "ChargePeriodStart" => |it| midnight(it.month),
    "CommitmentDiscountCategory" => |_| Cell::Blank,
    "CommitmentDiscountId" => |_| Cell::Blank,
    "CommitmentDiscountName" => |_| Cell::Blank,
    "CommitmentDiscountQuantity" => |_| Cell::Blank,
    "CommitmentDiscountStatus" => |_| Cell::Blank,
    "CommitmentDiscountType" => |_| Cell::Blank,
    "CommitmentDiscountUnit" => |_| Cell::Blank,
    "ConsumedQuantity" => |_| Cell::Blank,
    "ConsumedUnit" => |_| Cell::Blank,
    "ContractedCost" => |_| decimal(0.0),
    "ContractedUnitPrice" => |_| Cell::Blank,
    "EffectiveCost" => |_| decimal(0.0),
    "InvoiceId" => |_| Cell::Blank,
    "InvoiceIssuerName" => |_| "gpulint estimate, no invoice",
    "ListCost" => |it| decimal(it.list.expected.usd()),
    "ListUnitPrice" => |it| it.list_unit_price(),
    "PricingCategory" => |it| it.pricing_category(),
    "PricingCurrency" => |_| "USD",
    "PricingCurrencyContractedUnitPrice" => |_| Cell::Blank,
    "PricingCurrencyEffectiveCost" => |_| decimal(0.0),
    "PricingCurrencyListUnitPrice" => |it| it.list_unit_price(),
    "PricingQuantity" => |it| decimal(it.quantity),
    "PricingUnit" => |it| it.unit,
    "ProviderName" => |it| it.provider(),
    "PublisherName" => |it| it.provider(),
    "RegionId" => |it| it.fact_text(Key::Region),
    "RegionName" => |it| it.fact_text(Key::Region),
    "ResourceId" => |it| it.id(),
    "ResourceName" => |it| &it.resource.address,
    "ResourceType" => |it| &it.resource.kind,
    "ServiceCategory" => |it| if it.what == What::Disks { "Storage" } else { "Compute" },
    "ServiceName" => |it| &it.resource.kind,
    "ServiceSubcategory" => |it| it.subcategory(),
    "SkuId" => |it| it.sku(),
    "SkuMeter" => |it| if it.what == What::Disks { "Disks" } else { "Machine Hours" },
    "SkuPriceDetails" => |it| it.details(),
    "SkuPriceId" => |it| it.sku_price(),
    "SubAccountId" => |_| Cell::Blank,
    "SubAccountName" => |_| Cell::Blank,
    "SubAccountType" => |_| Cell::Blank,
    "Tags" => |it| it.tags(),
    "x_EstimatedCost" => |it| decimal(it.amount.expected.usd()),
    "x_EstimatedCostFloor" => |it| decimal(it.amount.floor.usd()),
    "x_EstimatedCostCeiling" => |it| decimal(it.amount.ceiling.usd()),
    "x_EstimateStatus" => |it| status(it.item),
    "x_PriceAsOf" => |it| it.item.as_of.as_ref(),
    "x_HoursPerMonth" => |it| decimal(it.month.hours()),
    "x_Role" => |it| it.resource.role.name(),
    "x_Purchase" => |it| it.fact_text(Key::Purchase),
    "x_Accelerator" => |it| it.fact_text(Key::Accelerator),
    "x_AcceleratorCount" => |it| it.resource.number(Key::AcceleratorCount).map(decimal),
    "x_Path" => |it| &it.path,
    "x_Tool" => |it| it.tool,
];

/// Readers distinguish decimals from integers by the decimal point.
fn decimal(number: f64) -> String {
    format!("{number:?}")
}

/// Returns rows for the parts of the total, with each dollar counted once. The rows are for the month of the reference
/// day, with its hours instead of the 730 of other totals.
pub(in crate::report) fn cost(report: &Report) -> String {
    let tool = format!("gpulint {}", report.catalog.version);
    let month = BillMonth::of(report.today);
    let all = report.inventory.resources.iter().zip(&report.bill.items);
    csv(COLUMNS, all.flat_map(|(resource, item)| charges(report, resource, item, month, &tool)))
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
