//! Converts a FOCUS bill into rows of `gpulint-paid.csv`, as a stream.
//!
//! gpulint writes only charges for machines with accelerators, with the names from the cloud and its tags. It lists
//! the other rows by class, so that the written and the listed amounts add up exactly to the total of the input.

mod columns;
mod fold;
mod machine;
mod moment;
mod name;
mod sql;
mod table;

pub use sql::{Warehouse, bill_query};

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, Read};

use flate2::read::MultiGzDecoder;
use ring::digest::{Context, SHA256};

use crate::catalog::{Catalog, is_an_hour};
use crate::measured::paid::{BilledAmount, Charge, PaidRow};
use crate::source::Date;
use columns::{BillColumns, BillField, non_null};
use fold::{BillLine, BillRowClass, BillSums, LineHours, PurchaseKind, SumsByClass};
use machine::{BilledMachine, HoursOf, MachineCells};
use moment::Minutes;
use name::NameCells;
use table::{BillCells, BillTable};

/// The most errors that are reported for each file.
const MOST_TOLD: usize = 20;
/// The most bytes of cells for which gpulint remembers the machine.
const MOST_REMEMBERED: usize = 16 << 20;
/// The largest size of a decompressed file.
const LONGEST_FILE: u64 = 1 << 40;

/// The total of one class of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BillSum {
    pub currency: String,
    pub what: &'static str,
    pub is_written: bool,
    pub rows: u64,
    pub amount: BilledAmount,
}

/// The result of an import.
#[derive(Debug, Default)]
pub struct BillReport {
    pub rows: Vec<PaidRow>,
    /// The rows that gpulint could not read, with file, line and cause. It lists only the first ones of each file.
    pub wrong: Vec<String>,
    pub wrong_rows: u64,
    pub notes: Vec<String>,
    /// The amounts by currency and class. Together they are the total of the input.
    pub sums: Vec<BillSum>,
}

impl BillReport {
    /// Returns the total that gpulint read in each currency.
    pub fn read(&self) -> BTreeMap<&str, BilledAmount> {
        let mut all = BTreeMap::new();
        for sum in &self.sums {
            *all.entry(sum.currency.as_str()).or_insert(BilledAmount::ZERO) += sum.amount;
        }
        all
    }
}

/// Imports one file after the other.
pub struct BillImport<'a> {
    catalog: &'a Catalog,
    today: Date,
    /// The keys of the tags that name resources without a name of their own.
    tags: Vec<String>,
    fold: BillSums,
    versions: BTreeSet<&'static str>,
    known: HashMap<Vec<u8>, String>,
    report: BillReport,
}

impl<'a> BillImport<'a> {
    pub fn new(catalog: &'a Catalog, today: Date, tags: Vec<String>) -> Self {
        BillImport {
            catalog,
            today,
            tags,
            fold: BillSums::default(),
            versions: BTreeSet::new(),
            known: HashMap::new(),
            report: BillReport::default(),
        }
    }

    /// Reads a plain or compressed file. If it is not a bill, gpulint uses no part of it.
    pub fn add(&mut self, name: &str, mut input: impl Read) -> Result<(), String> {
        let wrong = |why: String| format!("`{name}`: {why}");
        let mut first = [0; 4];
        let begin = fill(&mut input, &mut first).map_err(|error| wrong(error.to_string()))?;
        let begin = first.get(..begin).unwrap_or_default();
        if let Some(why) = packed_otherwise(begin) {
            return Err(wrong(why.to_owned()));
        }
        let whole = begin.chain(input);
        let mut reading = Reading::new(self.catalog, &self.tags);
        let done = match begin.starts_with(&[0x1f, 0x8b]) {
            true => reading.read(Hashed::new(MultiGzDecoder::new(whole))),
            false => reading.read(Hashed::new(whole)),
        };
        let (sum, version) = done.map_err(wrong)?;
        // The amounts of a copied file must not count twice.
        if let Some(before) = self.known.insert(sum, name.to_owned()) {
            self.report.notes.push(format!("skipped `{name}`: it has the same content as `{before}`"));
            return Ok(());
        }
        self.versions.insert(version);
        self.report.wrong_rows += reading.wrong_rows;
        self.report.wrong.extend(reading.wrong.iter().map(|it| format!("`{name}`, {it}")));
        self.fold.merge(reading.fold).map_err(wrong)
    }

    pub fn finish(self) -> BillReport {
        let source = self.versions.into_iter().collect::<Vec<_>>().join("+");
        let mut report = self.report;
        report.rows = self.fold.rows(&source, self.today.unix_days());
        report.sums = sums(&self.fold.went);
        if self.fold.hidden > 0 {
            report.notes.push(format!(
                "the output omits the names of {} rows, because they contain an account or an id, or would be formulas in a spreadsheet",
                self.fold.hidden
            ));
        }
        report
    }
}

/// Returns the sums of each currency and class.
fn sums(went: &SumsByClass) -> Vec<BillSum> {
    let sum = |((currency, went), (amount, rows)): (&([u8; 3], BillRowClass), &(BilledAmount, u64))| BillSum {
        currency: String::from_utf8_lossy(currency).into_owned(),
        what: match went {
            BillRowClass::Written(charge) => charge.name(),
            BillRowClass::Other(Charge::Usage) => "machines without accelerators, and other services",
            BillRowClass::Other(Charge::Unused) => "unused commitments for unknown machines",
            BillRowClass::Other(charge) => charge.name(),
        },
        is_written: matches!(went, BillRowClass::Written(_)),
        rows: *rows,
        amount: *amount,
    };
    went.iter().map(sum).collect()
}

/// Returns the format of a packed file that gpulint does not read, by its first bytes.
fn packed_otherwise(begin: &[u8]) -> Option<&'static str> {
    match begin {
        [b'P', b'A', b'R', b'1'] => Some("it is Parquet: `gpulint usage bill --sql duckdb` prints a query for it"),
        [b'P', b'K', 3, 4] => Some("it is a ZIP archive: unpack it"),
        [0x28, 0xb5, 0x2f, 0xfd] => {
            Some("it is compressed with zstd: decompress it with `zstd -dc FILE | gpulint usage bill -`")
        }
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("it is UTF-16: save it as UTF-8"),
        [] => Some("it is empty"),
        _ => None,
    }
}

fn fill(input: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(free) = into.get_mut(filled..).filter(|it| !it.is_empty()) {
        match input.read(free)? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

/// A reader that computes the digest of the bytes that it passes on.
struct Hashed<R> {
    input: R,
    sum: Context,
    bytes: u64,
}

impl<R: Read> Hashed<R> {
    fn new(input: R) -> Self {
        Hashed { input, sum: Context::new(&SHA256), bytes: 0 }
    }
}

impl<R: Read> Read for &mut Hashed<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(into)?;
        self.sum.update(into.get(..read).unwrap_or_default());
        self.bytes += read as u64;
        match self.bytes > LONGEST_FILE {
            true => Err(io::Error::other("it has more than 1 TiB after decompression")),
            false => Ok(read),
        }
    }
}

/// The state of one file while gpulint reads it.
struct Reading<'a> {
    catalog: &'a Catalog,
    tags: &'a [String],
    fold: BillSums,
    wrong: Vec<String>,
    wrong_rows: u64,
    /// The machines by the cells that describe them. Many rows have the same cells.
    machines: HashMap<Box<[u8]>, Option<BilledMachine>>,
    remembered: usize,
    key: Vec<u8>,
}

impl<'a> Reading<'a> {
    fn new(catalog: &'a Catalog, tags: &'a [String]) -> Self {
        Reading {
            catalog,
            tags,
            fold: BillSums::default(),
            wrong: Vec::new(),
            wrong_rows: 0,
            machines: HashMap::new(),
            remembered: 0,
            key: Vec::new(),
        }
    }

    /// Reads the file. Returns the digest of its bytes, and the version of its columns.
    fn read(&mut self, mut input: Hashed<impl Read>) -> Result<(Vec<u8>, &'static str), String> {
        let failed = |error: io::Error| error.to_string();
        let mut table = BillTable::new(&mut input);
        if table.peek().map_err(failed)?.starts_with(b"\xef\xbb\xbf") {
            table.skip(3);
        }
        let mut cells = BillCells::default();
        let columns = match table.next(&mut cells).map_err(failed)? {
            Some((_, Ok(()))) => BillColumns::of(&cells)?,
            Some((line, Err(why))) => return Err(format!("line {line}: {why}")),
            None => return Err("it is empty".to_owned()),
        };
        while let Some((line, read)) = table.next(&mut cells).map_err(failed)? {
            let taken = match read {
                Ok(()) => self.row(&columns, &cells),
                Err(why) => Err(Wrong::Row(why.to_owned())),
            };
            match taken {
                Ok(()) => {}
                Err(Wrong::File(why)) => return Err(format!("line {line}: {why}")),
                Err(Wrong::Row(why)) => {
                    self.wrong_rows += 1;
                    if self.wrong.len() < MOST_TOLD {
                        self.wrong.push(format!("line {line}: {why}"));
                    }
                }
            }
        }
        drop(table);
        Ok((input.sum.finish().as_ref().to_vec(), columns.version))
    }

    fn row(&mut self, columns: &BillColumns, cells: &BillCells) -> Result<(), Wrong> {
        if cells.len() != columns.count {
            return Err(Wrong::Row(format!("the row has {} cells, but the header has {}", cells.len(), columns.count)));
        }
        let common = Common::of(columns, cells).map_err(Wrong::Row)?;
        if common.charge == Charge::Usage {
            self.fold
                .saw(self.catalog.billed_by(columns.text(cells, BillField::Provider)).unwrap_or_default(), common.end);
        }
        let Some(machine) = self.machine(columns, cells) else {
            return self
                .fold
                .went(common.currency, BillRowClass::Other(common.charge), common.paid)
                .map_err(Wrong::File);
        };
        let is_unused = machine.is_unused && common.charge == Charge::Usage;
        let charge = if is_unused { Charge::Unused } else { common.charge };
        let hours = hours(columns, cells, &machine, &common).map_err(Wrong::Row)?;
        let list = columns.text(cells, BillField::List);
        let list = match list {
            "" => None,
            list => Some(BilledAmount::parse(list).ok_or_else(|| Wrong::Row(no_number("ListCost", list)))?),
        };
        let text = |field| columns.text(cells, field);
        let names = NameCells {
            tags: text(BillField::Tags),
            allocated_tags: text(BillField::AllocatedTags),
            allocated: text(BillField::Allocated),
            id: text(BillField::ResourceId),
            name: text(BillField::ResourceName),
            accounts: [text(BillField::Account), text(BillField::Payer)],
        };
        let line = BillLine {
            name: names.name(self.tags),
            month: common.start.month(),
            currency: common.currency,
            charge,
            paid: common.paid,
            list,
            hours,
            bought: bought(columns, cells, &machine),
            is_correction: common.is_correction,
            machine: &machine,
        };
        self.fold.add(line).map_err(Wrong::File)
    }

    /// Returns the machine of a row. It evaluates equal cells only once.
    fn machine(&mut self, columns: &BillColumns, cells: &BillCells) -> Option<BilledMachine> {
        const TOLD_BY: [BillField; 8] = [
            BillField::Provider,
            BillField::Publisher,
            BillField::Details,
            BillField::Description,
            BillField::Meter,
            BillField::UsageType,
            BillField::ResourceType,
            BillField::Region,
        ];
        self.key.clear();
        for field in TOLD_BY {
            self.key.extend_from_slice(columns.cell(cells, field));
            self.key.push(0);
        }
        for at in &columns.machines {
            self.key.extend_from_slice(non_null(cells.bytes(*at)));
            self.key.push(0);
        }
        if let Some(known) = self.machines.get(self.key.as_slice()) {
            return known.clone();
        }
        let text = |field| columns.text(cells, field);
        let told = MachineCells {
            provider: text(BillField::Provider),
            publisher: text(BillField::Publisher),
            details: text(BillField::Details),
            description: text(BillField::Description),
            meter: text(BillField::Meter),
            usage_type: text(BillField::UsageType),
            resource_type: text(BillField::ResourceType),
            region: text(BillField::Region),
            others: columns
                .machines
                .iter()
                .filter_map(|at| std::str::from_utf8(non_null(cells.bytes(*at))).ok())
                .collect(),
        };
        let found = told.recognize(self.catalog).map(BilledMachine::harmless);
        self.remembered += self.key.len() + 200;
        if self.remembered > MOST_REMEMBERED {
            self.machines.clear();
            self.remembered = 0;
        }
        self.machines.insert(self.key.as_slice().into(), found.clone());
        found
    }
}

enum Wrong {
    Row(String),
    /// The rest of the file cannot be read.
    File(String),
}

/// The values that every row must contain.
struct Common {
    charge: Charge,
    is_correction: bool,
    currency: [u8; 3],
    paid: BilledAmount,
    start: Minutes,
    end: Minutes,
}

impl Common {
    fn of(columns: &BillColumns, cells: &BillCells) -> Result<Common, String> {
        let text = |field| columns.text(cells, field);
        let currency: [u8; 3] = columns
            .cell(cells, BillField::Currency)
            .try_into()
            .ok()
            .filter(|it: &[u8; 3]| it.iter().all(u8::is_ascii_uppercase))
            .ok_or_else(|| {
                format!("BillingCurrency is not a currency code such as USD: `{}`", short(text(BillField::Currency)))
            })?;
        let paid = text(BillField::Effective);
        let paid = BilledAmount::parse(paid).ok_or_else(|| no_number("EffectiveCost", paid))?;
        let moment = |field, name: &str| {
            let said = columns.cell(cells, field);
            Minutes::parse(said)
                .ok_or_else(|| format!("{name} is not a time such as 2026-10-01T00:00:00Z: `{}`", short(text(field))))
        };
        let (start, end) = (moment(BillField::Start, "ChargePeriodStart")?, moment(BillField::End, "ChargePeriodEnd")?);
        if end < start {
            return Err("ChargePeriodEnd is before ChargePeriodStart".to_owned());
        }
        let category = text(BillField::Category);
        let unused = text(BillField::Commitment).eq_ignore_ascii_case("unused")
            || text(BillField::Reservation).eq_ignore_ascii_case("unused");
        let charge = match category.to_ascii_lowercase().as_str() {
            "usage" if unused => Charge::Unused,
            "usage" => Charge::Usage,
            "purchase" => Charge::Purchase,
            "credit" => Charge::Credit,
            "refund" => Charge::Refund,
            "adjustment" => Charge::Adjustment,
            "tax" => Charge::Tax,
            _ => {
                let known = "Usage, Purchase, Tax, Credit, Adjustment or Refund";
                return Err(format!("ChargeCategory is not {known}: `{}`", short(category)));
            }
        };
        let is_correction = text(BillField::Class).eq_ignore_ascii_case("correction");
        Ok(Common { charge, is_correction, currency, paid, start, end })
    }
}

/// Returns the machine hours that a row adds.
fn hours(
    columns: &BillColumns,
    cells: &BillCells,
    machine: &BilledMachine,
    common: &Common,
) -> Result<LineHours, String> {
    let counts = matches!(common.charge, Charge::Usage | Charge::Unused);
    if machine.hours == HoursOf::Nothing || !counts {
        return Ok(LineHours::None);
    }
    let text = |field| columns.text(cells, field);
    let pairs = [
        (BillField::PricingQuantity, BillField::PricingUnit, "PricingQuantity"),
        (BillField::ConsumedQuantity, BillField::ConsumedUnit, "ConsumedQuantity"),
    ];
    for (quantity, unit, name) in pairs {
        let (quantity, unit) = (text(quantity), text(unit));
        let Some(hours) = hours_of_unit(unit).filter(|_| !quantity.is_empty()) else { continue };
        let quantity = BilledAmount::parse(quantity).ok_or_else(|| no_number(name, quantity))?;
        if quantity < BilledAmount::ZERO && !common.is_correction {
            return Err(format!("{name} is below zero, but the row is not a correction"));
        }
        let hours = if hours >= 1.0 { quantity.times(hours) } else { quantity.over((1.0 / hours).round()) };
        let each = machine.gpus.filter(|_| machine.hours == HoursOf::Accelerators);
        return Ok(LineHours::Known(each.map_or(hours, |each| hours.over(each))));
    }
    // A correction can lack a quantity. A charge that is not for machine time has another unit.
    let is_of_other = [BillField::PricingUnit, BillField::ConsumedUnit].iter().any(|unit| !text(*unit).is_empty());
    let has_quantity = [BillField::PricingQuantity, BillField::ConsumedQuantity].iter().any(|it| !text(*it).is_empty());
    Ok(if common.is_correction || (is_of_other && has_quantity) { LineHours::None } else { LineHours::Open })
}

/// Returns the hours in one unit: `Hours`, `Hrs`, `100 Hours`, `Seconds`.
fn hours_of_unit(unit: &str) -> Option<f64> {
    if is_an_hour(unit) {
        return Some(1.0);
    }
    let lower = unit.to_ascii_lowercase();
    match lower.as_str() {
        "s" | "sec" | "second" | "seconds" => Some(1.0 / 3600.0),
        "min" | "minute" | "minutes" => Some(1.0 / 60.0),
        _ => {
            let (count, unit) = lower.split_once(' ')?;
            let count: u32 = count.parse().ok().filter(|it| (1..=100_000).contains(it))?;
            is_an_hour(unit).then(|| f64::from(count))
        }
    }
}

fn bought(columns: &BillColumns, cells: &BillCells, machine: &BilledMachine) -> PurchaseKind {
    if columns.text(cells, BillField::Commitment).eq_ignore_ascii_case("used") {
        return PurchaseKind::Committed;
    }
    match columns.text(cells, BillField::Pricing).to_ascii_lowercase().as_str() {
        "committed" | "commitment-based" | "commitment based" => PurchaseKind::Committed,
        "dynamic" | "spot" => PurchaseKind::Spot,
        // Old exports use these names also for spot.
        "standard" | "on-demand" | "ondemand" | "" if machine.is_spot => PurchaseKind::Spot,
        "standard" | "on-demand" | "ondemand" => PurchaseKind::OnDemand,
        _ => PurchaseKind::Open,
    }
}

fn no_number(name: &str, said: &str) -> String {
    format!("{name} is not a number: `{}`", short(said))
}

/// Shortens a cell for a message and removes account numbers and control characters.
fn short(text: &str) -> String {
    let mut digits = 0;
    let plain = text.chars().take(40).map(|it| {
        digits = if it.is_ascii_digit() { digits + 1 } else { 0 };
        match it {
            it if it.is_control() => ' ',
            _ if digits > 8 => '#',
            it => it,
        }
    });
    plain.collect()
}
