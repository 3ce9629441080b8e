//! Defines one row of `gpulint-paid.csv`: the charge for one machine type under one name in one month.
//!
//! Sums are exact, because each number has all digits of the bill. An empty cell means that the bill does not contain
//! the value.

use std::fmt::Write;

use super::amount::BilledAmount;
use super::month::BillMonth;
use crate::diagnostic::{nearest, shortened};
use crate::measured::lines::read_rows;
use crate::measured::row::UsageError;
use crate::source::csv_cell;

/// The first line of a file of this version.
pub const HEADER: &str = "# gpulint paid 1";

/// The default file name.
pub const FILE_NAME: &str = "gpulint-paid.csv";

/// The maximum number of characters of one string.
const LONGEST: usize = 253;

/// The kind of charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Charge {
    #[default]
    Usage,
    /// An unused commitment or reservation.
    Unused,
    Purchase,
    Credit,
    Refund,
    Adjustment,
    Tax,
}

impl Charge {
    pub const ALL: [Charge; 7] = [
        Charge::Usage,
        Charge::Unused,
        Charge::Purchase,
        Charge::Credit,
        Charge::Refund,
        Charge::Adjustment,
        Charge::Tax,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Charge::Usage => "usage",
            Charge::Unused => "unused",
            Charge::Purchase => "purchase",
            Charge::Credit => "credit",
            Charge::Refund => "refund",
            Charge::Adjustment => "adjustment",
            Charge::Tax => "tax",
        }
    }
}

/// The kind of name on the bill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum KeyKind {
    /// `prod/serving/Deployment/llama-8b`: a cloud divided a machine among its pods.
    Workload,
    /// A node pool: `gpu-h100`, or `prod/gpu-h100` with its cluster.
    Pool,
    /// A single machine, endpoint or notebook.
    Name,
    /// `team=ml`: for machines without a name.
    Tag,
    #[default]
    Unmatched,
}

impl KeyKind {
    pub const ALL: [KeyKind; 5] = [KeyKind::Workload, KeyKind::Pool, KeyKind::Name, KeyKind::Tag, KeyKind::Unmatched];

    pub fn name(self) -> &'static str {
        match self {
            KeyKind::Workload => "workload",
            KeyKind::Pool => "pool",
            KeyKind::Name => "name",
            KeyKind::Tag => "tag",
            KeyKind::Unmatched => "unmatched",
        }
    }
}

/// One charge in one month.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PaidRow {
    pub provider: String,
    pub key_kind: KeyKind,
    pub key: String,
    pub region: String,
    pub machine: String,
    pub accelerator: String,
    /// The accelerators of each machine; 1 if the hours are accelerator hours.
    pub gpus: Option<f64>,
    pub month: BillMonth,
    pub currency: String,
    pub charge: Charge,
    pub paid: BilledAmount,
    pub list: Option<BilledAmount>,
    pub hours: Option<BilledAmount>,
    pub on_demand: Option<BilledAmount>,
    pub spot: Option<BilledAmount>,
    pub committed: Option<BilledAmount>,
    pub on_demand_paid: Option<BilledAmount>,
    pub on_demand_list: Option<BilledAmount>,
    pub corrected: Option<BilledAmount>,
    pub open: bool,
    /// Days of an open month that the bill covers, from its start; none if unknown.
    pub billed_days: Option<BilledAmount>,
    pub source: String,
    /// The line of the row; 0 if the row was not read from a file.
    pub line: usize,
}

/// Stores a cell in a row, or returns an error.
type Setter = fn(&mut PaidRow, &str) -> Result<(), String>;
/// A column: name, meaning, reader and writer.
type Column = (&'static str, &'static str, Setter, fn(&PaidRow) -> String);

macro_rules! text {
    ($field:ident) => {
        (
            |row: &mut PaidRow, cell: &str| {
                row.$field = text(stringify!($field), cell)?;
                Ok(())
            },
            |row: &PaidRow| csv_cell(&row.$field),
        )
    };
}

macro_rules! amount {
    ($field:ident) => {
        (
            |row: &mut PaidRow, cell: &str| {
                row.$field = amount(stringify!($field), cell)?;
                Ok(())
            },
            |row: &PaidRow| row.$field.map(|it| it.to_string()).unwrap_or_default(),
        )
    };
}

macro_rules! columns {
    ($($name:literal $meaning:literal $how:expr;)+) => {
        const COLUMNS: &[Column] = &[$({
            let how: (Setter, fn(&PaidRow) -> String) = $how;
            ($name, $meaning, how.0, how.1)
        },)+];
    };
}

columns! {
    "provider" "The provider that bills, as named in gpulint's prices." text!(provider);
    "key_kind" "The kind of `key`: workload, pool, name, tag or unmatched." (set_key_kind, |row| row.key_kind.name().to_owned());
    "key" "The name on the bill: prod/serving/Deployment/llama, prod/gpu-h100, team=ml. Pools and workloads include their cluster." text!(key);
    "region" "The region." text!(region);
    "machine" "The machine type; empty if the bill names only accelerators." text!(machine);
    "accelerator" "The accelerator of the machine." text!(accelerator);
    "gpus" "Accelerators per machine; 1 if the hours are accelerator hours." (set_gpus, |row| row.gpus.map(|it| it.to_string()).unwrap_or_default());
    "month" "The month of the usage, such as 2027-01." (|row, cell| { row.month = cell.parse()?; Ok(()) }, |row| row.month.to_string());
    "currency" "The currency of all amounts in the row." (set_currency, |row| row.currency.clone());
    "charge" "usage, unused (an unused commitment or reservation), purchase, credit, refund, adjustment or tax." (set_charge, |row| row.charge.name().to_owned());
    "paid" "The cost after all discounts, spread over the paid time (EffectiveCost)." (set_paid, |row| row.paid.to_string());
    "list" "The cost at list prices." amount!(list);
    "hours" "Machine hours, summed over all machines." amount!(hours);
    "on_demand" "Part of `hours`: on demand." amount!(on_demand);
    "spot" "Part of `hours`: on spot." amount!(spot);
    "committed" "Part of `hours`: covered by a commitment." amount!(committed);
    "on_demand_paid" "The cost of the on-demand hours; divided by `on_demand_list`, it shows the negotiated discount." amount!(on_demand_paid);
    "on_demand_list" "The cost of the on-demand hours at list prices." amount!(on_demand_list);
    "corrected" "The part of `paid` that corrects earlier charges." amount!(corrected);
    "open" "1 if the month has not ended or is not fully billed." (set_open, |row| if row.open { "1" } else { "" }.to_owned());
    "billed_days" "For an open month: the days since its start that the bill covers, such as 17 or 16.5. Empty if unknown." amount!(billed_days);
    "source" "The format of the bill, such as focus-1.2." text!(source);
}

/// Adds the version line to rows under their heading, as examples contain them.
pub fn of_rows(rows: &str) -> String {
    format!("{HEADER}\n{rows}")
}

impl PaidRow {
    /// Returns the columns with their meaning.
    pub fn columns() -> impl Iterator<Item = (&'static str, &'static str)> {
        COLUMNS.iter().map(|(name, meaning, ..)| (*name, *meaning))
    }

    /// Returns text such as `aws pool prod/gpu-h100 p5.48xlarge`, for people.
    pub fn shown(&self) -> String {
        let machine = if self.machine.is_empty() { &self.accelerator } else { &self.machine };
        let parts = [self.provider.as_str(), self.key_kind.name(), &self.key, machine, &self.region];
        parts.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// Returns the identity that must be unique.
    pub fn identity(&self) -> String {
        let kinds = [self.key_kind.name(), self.charge.name()].map(str::to_owned);
        let texts =
            [&self.provider, &self.key, &self.region, &self.machine, &self.accelerator, &self.currency, &self.source];
        let texts = texts.into_iter().chain(&kinds).map(String::as_str);
        format!("{}\n{}\n{:?}", texts.collect::<Vec<_>>().join("\n"), self.month, self.gpus)
    }

    /// Returns true if the bill shows for all hours how they were bought.
    pub fn is_split(&self) -> bool {
        self.hours.is_none_or(|hours| self.parts() == hours)
    }

    fn parts(&self) -> BilledAmount {
        [self.on_demand, self.spot, self.committed].into_iter().flatten().sum()
    }

    /// Returns the accelerator hours of the row.
    pub fn accelerator_hours(&self) -> Option<BilledAmount> {
        Some(self.hours?.times(self.gpus?))
    }
}

/// Returns the rows of a file, and the errors of other rows. A file of another version, or with an unknown column, is
/// an error as a whole.
pub fn read(text: &str) -> Result<(Vec<PaidRow>, Vec<UsageError>), UsageError> {
    read_rows(text, HEADER, setters, |setters, cells, line| row(setters, &cells, line))
}

fn setters(heading: &[String]) -> Result<Vec<Setter>, String> {
    let mut found: Vec<Column> = Vec::new();
    for name in heading {
        let Some(column) = COLUMNS.iter().find(|(it, ..)| it == name) else {
            let near = nearest(name, COLUMNS.iter().map(|(it, ..)| *it));
            let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            return Err(format!("unknown column `{}`{near}", shortened(name.clone())));
        };
        if found.iter().any(|(it, ..)| it == name) {
            return Err(format!("the column `{name}` appears twice"));
        }
        found.push(*column);
    }
    for needed in ["provider", "key_kind", "key", "month", "currency", "charge", "paid"] {
        if !found.iter().any(|(name, ..)| *name == needed) {
            return Err(format!("the column `{needed}` is missing"));
        }
    }
    Ok(found.into_iter().map(|(_, _, set, _)| set).collect())
}

fn row(setters: &[Setter], cells: &[String], line: usize) -> Result<PaidRow, String> {
    if cells.len() != setters.len() {
        return Err(format!("{} cells, but the heading has {}", cells.len(), setters.len()));
    }
    let mut row = PaidRow { line, ..PaidRow::default() };
    for (set, cell) in setters.iter().zip(cells) {
        set(&mut row, cell)?;
    }
    let parts = row.parts();
    match row.key_kind == KeyKind::Unmatched || !row.key.is_empty() {
        false => Err(format!("a row with `key_kind` {} needs a `key`", row.key_kind.name())),
        true if row.hours.is_some_and(|hours| parts > hours) => {
            Err("on-demand, spot and committed hours together exceed `hours`".to_owned())
        }
        true => Ok(row),
    }
}

/// Returns false for a string that a spreadsheet would run as a formula, or that controls a terminal. Clouds use no
/// such names.
pub fn is_harmless(text: &str) -> bool {
    let begins = text.starts_with(['=', '+', '-', '@']);
    !begins && !text.chars().any(char::is_control) && text.chars().count() <= LONGEST
}

fn text(column: &str, cell: &str) -> Result<String, String> {
    match is_harmless(cell) {
        true => Ok(cell.to_owned()),
        false if cell.chars().any(char::is_control) => Err(format!("`{column}` contains a control character")),
        false if cell.chars().count() > LONGEST => Err(format!("`{column}` is longer than {LONGEST} characters")),
        false => Err(format!("`{column}` begins like a spreadsheet formula")),
    }
}

fn amount(column: &str, cell: &str) -> Result<Option<BilledAmount>, String> {
    let wrong = || format!("`{column}` is not a number: `{}`", shortened(cell.to_owned()));
    if cell.is_empty() { Ok(None) } else { BilledAmount::parse(cell).map(Some).ok_or_else(wrong) }
}

fn set_paid(row: &mut PaidRow, cell: &str) -> Result<(), String> {
    row.paid = amount("paid", cell)?.ok_or("`paid` is empty")?;
    Ok(())
}

fn set_gpus(row: &mut PaidRow, cell: &str) -> Result<(), String> {
    let wrong = || format!("`gpus` is not a number between 0 and 1,000,000: `{}`", shortened(cell.to_owned()));
    row.gpus = match cell {
        "" => None,
        cell => Some(cell.parse().ok().filter(|it| *it > 0.0 && *it <= 1e6).ok_or_else(wrong)?),
    };
    Ok(())
}

fn set_open(row: &mut PaidRow, cell: &str) -> Result<(), String> {
    row.open = match cell {
        "" | "0" => false,
        "1" => true,
        _ => return Err("`open` must be 1 or empty".to_owned()),
    };
    Ok(())
}

fn set_currency(row: &mut PaidRow, cell: &str) -> Result<(), String> {
    let is_code = cell.len() == 3 && cell.bytes().all(|it| it.is_ascii_uppercase());
    row.currency = if is_code {
        cell.to_owned()
    } else {
        return Err(format!("`currency` is not a code such as USD: `{}`", shortened(cell.to_owned())));
    };
    Ok(())
}

fn set_key_kind(row: &mut PaidRow, cell: &str) -> Result<(), String> {
    let wrong = || format!("`key_kind` must be one of {}", KeyKind::ALL.map(KeyKind::name).join(", "));
    row.key_kind = KeyKind::ALL.into_iter().find(|it| it.name() == cell).ok_or_else(wrong)?;
    Ok(())
}

fn set_charge(row: &mut PaidRow, cell: &str) -> Result<(), String> {
    let wrong = || format!("`charge` must be one of {}", Charge::ALL.map(Charge::name).join(", "));
    row.charge = Charge::ALL.into_iter().find(|it| it.name() == cell).ok_or_else(wrong)?;
    Ok(())
}

/// Writes rows as a file, sorted: the same rows give the same bytes.
pub fn write(rows: &[PaidRow]) -> String {
    let mut lines: Vec<String> = rows
        .iter()
        .map(|row| COLUMNS.iter().map(|(_, _, _, cell)| cell(row)).collect::<Vec<String>>().join(","))
        .collect();
    lines.sort();
    let names: Vec<&str> = PaidRow::columns().map(|(name, _)| name).collect();
    let mut text = format!("{HEADER}\n{}\n", names.join(","));
    for line in lines {
        let _ = writeln!(text, "{line}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> PaidRow {
        PaidRow {
            provider: "aws".to_owned(),
            key_kind: KeyKind::Pool,
            key: "prod/gpu, \"b\"".to_owned(),
            machine: "p5.48xlarge".to_owned(),
            gpus: Some(8.0),
            month: "2026-10".parse().unwrap(),
            currency: "USD".to_owned(),
            paid: BilledAmount::parse("1234.000000000001").unwrap(),
            hours: BilledAmount::parse("744"),
            spot: BilledAmount::parse("44"),
            source: "focus-1.2".to_owned(),
            ..PaidRow::default()
        }
    }

    #[test]
    fn what_is_written_is_read_again_and_written_the_same() {
        let text = write(&[sample(), PaidRow { open: true, ..PaidRow::clone(&sample()) }]);
        let (rows, wrong) = read(&text).unwrap();
        assert!(wrong.is_empty(), "{wrong:?}");
        assert_eq!(rows.len(), 2);
        assert_eq!(PaidRow { line: 0, ..rows[0].clone() }, sample());
        assert_eq!(write(&rows), text);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line_and_hides_nothing_else() {
        let heading = "provider,key_kind,key,month,currency,charge,paid,hours,spot";
        let lines = "aws,name,a,2026-10,USD,usage,1,,\naws,name,,2026-10,USD,usage,1,,\naws,nome,a,2026-10,USD,usage,1,,\n\
                     aws,name,=1+1,2026-10,USD,usage,1,,\naws,name,a,2026-13,USD,usage,1,,\naws,name,a,2026-10,usd,usage,1,,\n\
                     aws,name,a,2026-10,USD,usage,NaN,,\naws,name,a,2026-10,USD,usage,,,\naws,name,a,2026-10,USD,usage,1,5,6\n";
        let (rows, wrong) = read(&format!("{HEADER}\n{heading}\n{lines}")).unwrap();
        assert_eq!(rows.len(), 1);
        let told: Vec<(usize, &str)> = wrong.iter().map(|it| (it.line, it.message.as_str())).collect();
        assert_eq!(
            told,
            [
                (4, "a row with `key_kind` name needs a `key`"),
                (5, "`key_kind` must be one of workload, pool, name, tag, unmatched"),
                (6, "`key` begins like a spreadsheet formula"),
                (7, "`2026-13` is not a month; write it as 2027-01"),
                (8, "`currency` is not a code such as USD: `usd`"),
                (9, "`paid` is not a number: `NaN`"),
                (10, "`paid` is empty"),
                (11, "on-demand, spot and committed hours together exceed `hours`"),
            ]
        );
        let refused = |heading: &str| read(&format!("{HEADER}\n{heading}\n")).unwrap_err().message;
        assert_eq!(
            refused("provider,key_kind,key,month,currency,charge,paidd"),
            "unknown column `paidd`; did you mean `paid`?"
        );
        assert_eq!(refused("provider,key_kind,key,month,currency,charge"), "the column `paid` is missing");
    }
}
