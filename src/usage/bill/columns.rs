//! Finds the columns of a bill: the names of FOCUS 1.0 to 1.3, and those that clouds add.

use super::table::BillCells;

/// A value that gpulint reads from a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BillField {
    Effective,
    List,
    Category,
    Class,
    Description,
    Start,
    End,
    Currency,
    Pricing,
    PricingQuantity,
    PricingUnit,
    ConsumedQuantity,
    ConsumedUnit,
    Commitment,
    Reservation,
    ResourceId,
    ResourceName,
    ResourceType,
    Tags,
    Details,
    Meter,
    Region,
    Account,
    Payer,
    Provider,
    Publisher,
    Allocated,
    AllocatedTags,
    /// The usage type, as AWS writes it: `USE2-BoxUsage:p5.48xlarge`.
    UsageType,
}

/// The columns of each field in lower case, the best first.
const FIELDS: [(BillField, &[&str]); 29] = [
    (BillField::Effective, &["effectivecost"]),
    (BillField::List, &["listcost"]),
    (BillField::Category, &["chargecategory"]),
    (BillField::Class, &["chargeclass"]),
    (BillField::Description, &["chargedescription", "x_skudescription"]),
    (BillField::Start, &["chargeperiodstart"]),
    (BillField::End, &["chargeperiodend"]),
    (BillField::Currency, &["billingcurrency"]),
    (BillField::Pricing, &["pricingcategory"]),
    (BillField::PricingQuantity, &["pricingquantity"]),
    (BillField::PricingUnit, &["pricingunit"]),
    (BillField::ConsumedQuantity, &["consumedquantity"]),
    (BillField::ConsumedUnit, &["consumedunit"]),
    (BillField::Commitment, &["commitmentdiscountstatus"]),
    (BillField::Reservation, &["capacityreservationstatus"]),
    (BillField::ResourceId, &["resourceid"]),
    (BillField::ResourceName, &["resourcename"]),
    (BillField::ResourceType, &["resourcetype"]),
    (BillField::Tags, &["tags"]),
    (BillField::Details, &["skupricedetails"]),
    (BillField::Meter, &["skumeter", "x_skumetername"]),
    (BillField::Region, &["regionid"]),
    (BillField::Account, &["subaccountid"]),
    (BillField::Payer, &["billingaccountid"]),
    (BillField::Provider, &["serviceprovidername", "providername"]),
    (BillField::Publisher, &["publishername"]),
    (BillField::Allocated, &["allocatedresourcename"]),
    (BillField::AllocatedTags, &["allocatedtags"]),
    (BillField::UsageType, &["x_usagetype"]),
];

/// The columns of clouds that may name the machine.
const MACHINES: [&str; 8] = [
    "x_instancetype",
    "x_machinetype",
    "x_machinespec",
    "x_skudetails",
    "x_additionalinfo",
    "x_systemlabels",
    "x_skumetername",
    "x_labels",
];

/// The columns that a bill must have, with their names in FOCUS.
const NEEDED: [(BillField, &str); 7] = [
    (BillField::Currency, "BillingCurrency"),
    (BillField::Category, "ChargeCategory"),
    (BillField::End, "ChargePeriodEnd"),
    (BillField::Start, "ChargePeriodStart"),
    (BillField::Effective, "EffectiveCost"),
    (BillField::List, "ListCost"),
    (BillField::Provider, "ProviderName (or ServiceProviderName)"),
];

/// The positions of the columns in a file.
pub(super) struct BillColumns {
    places: [Vec<usize>; FIELDS.len()],
    pub(super) machines: Vec<usize>,
    pub(super) count: usize,
    /// The version of the format, such as `focus-1.2`.
    pub(super) version: &'static str,
}

impl BillColumns {
    /// Finds the columns. If a required column is missing, the error names it.
    pub(super) fn of(header: &BillCells) -> Result<BillColumns, String> {
        let text = |at: usize| String::from_utf8_lossy(header.bytes(at)).trim().to_ascii_lowercase();
        let names: Vec<String> = (0..header.len()).map(text).collect();
        let place = |name: &&str| names.iter().position(|it| it == name);
        let columns = BillColumns {
            places: FIELDS.map(|(_, known)| known.iter().filter_map(place).collect()),
            machines: MACHINES.iter().filter_map(place).collect(),
            count: names.len(),
            version: version(&names),
        };
        let is_twice = |name: &&&str| names.iter().filter(|it| it == *name).count() > 1;
        if let Some(twice) = FIELDS.iter().flat_map(|(_, known)| known.iter()).find(is_twice) {
            return Err(format!("the column `{twice}` occurs twice"));
        }
        let missing: Vec<&str> =
            NEEDED.iter().filter(|(field, _)| columns.places(*field).is_empty()).map(|(_, name)| *name).collect();
        match missing.is_empty() {
            true => Ok(columns),
            false => Err(refused(&names, &missing)),
        }
    }

    fn places(&self, field: BillField) -> &[usize] {
        self.places.get(field as usize).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the first cell of a field's columns that is not empty or NULL.
    pub(super) fn cell<'r>(&self, cells: &'r BillCells, field: BillField) -> &'r [u8] {
        let found = self.places(field).iter().map(|at| non_null(cells.bytes(*at)));
        { found }.find(|it| !it.is_empty()).unwrap_or_default()
    }

    /// Returns the same cell as a string, or an empty string if it is not valid UTF-8.
    pub(super) fn text<'r>(&self, cells: &'r BillCells, field: BillField) -> &'r str {
        std::str::from_utf8(self.cell(cells, field)).unwrap_or_default()
    }
}

/// Trims a cell and makes it empty if it contains the word NULL.
pub(super) fn non_null(cell: &[u8]) -> &[u8] {
    let cell = cell.trim_ascii();
    if cell.eq_ignore_ascii_case(b"null") { b"" } else { cell }
}

fn version(names: &[String]) -> &'static str {
    let has = |all: &[&str]| all.iter().any(|name| names.iter().any(|it| it == name));
    match () {
        () if has(&["serviceprovidername", "allocatedtags"]) => "focus-1.3",
        () if has(&["invoiceid", "pricingcurrency"]) => "focus-1.2",
        () if has(&["skupricedetails", "skumeter"]) => "focus-1.1",
        () => "focus-1.0",
    }
}

/// Returns why a file is not a bill, with its likely format.
fn refused(names: &[String], missing: &[&str]) -> String {
    let has = |name: &str| names.iter().any(|it| it == name);
    let other = match () {
        () if has("line_item_line_item_type") => {
            " (it is an AWS Cost and Usage Report: use `--sql aws` to print a query for it)"
        }
        () if has("costinbillingcurrency") => {
            " (it is an Azure cost export: use `--sql azure` to print a query for it)"
        }
        () if has("usage_start_time") => {
            " (it is a Google Cloud billing export: use `--sql gcp` to print a query for it)"
        }
        () if names.len() == 1 && names.iter().any(|it| it.contains([';', '\t', '|'])) => {
            " (commas do not separate its cells)"
        }
        () => "",
    };
    format!("the file is not a bill with the columns of FOCUS 1.0 to 1.3{other}: it lacks {}", missing.join(", "))
}
