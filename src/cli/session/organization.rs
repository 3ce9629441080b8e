//! Reads what other repositories of the organization use: the file that `gpulint-fleet use` writes each night.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use super::packs::LoadedPack;
use crate::catalog::Money;
use crate::cli::Failure;
use crate::cli::args::Selection;
use crate::cli::io::ci::{self, CiVariables};
use crate::config::{Config, setting};
use crate::refresh::verify_release;
use crate::rules::{Budget, UseElsewhere};
use crate::source::{Date, csv_records};

const FIRST_LINE: &str = "# Use of gpulint-fleet, ";
const LABELS_LINE: &str = "# labels:";
const HEADER: &str = "repository,by,value,expected_micro_usd,unpriced";
/// The lines before the header.
const LINES_BEFORE: usize = 2;
/// More than the use of half a million repositories needs.
const LONGEST_BYTES: u64 = 256 << 20;
/// An older file does not describe today.
const MOST_DAYS: i64 = 7;

/// The use of an organization on one day, without this repository.
struct OrganizationUse {
    day: Date,
    /// The labels, as `key=value`, whose use the file contains.
    labels: Vec<String>,
    rows: Vec<UseRow>,
    unread: usize,
}

struct UseRow {
    repository: String,
    by: String,
    value: String,
    expected: Money,
    unpriced: i64,
}

/// Sets the use of other repositories in the budgets of the organization.
pub(in crate::cli) fn add_use(
    budgets: &mut [Budget],
    asked: &Selection,
    config: &Config,
    packs: &[LoadedPack],
    today: Date,
) -> Result<(), Failure> {
    let Some(path) = asked.organization.as_ref().filter(|_| budgets.iter().any(|it| it.covers_organization)) else {
        return Ok(());
    };
    let configs = std::iter::once(config).chain(packs.iter().map(|pack| &pack.config));
    let keys: Vec<&str> = configs.filter_map(|it| Some(it.text(setting!("organization.key"))?.0)).collect();
    let known = read(path, asked, &keys, today)?;
    for budget in budgets.iter_mut().filter(|budget| budget.covers_organization) {
        budget.elsewhere = Some(known.of(budget));
    }
    Ok(())
}

fn read(path: &Path, asked: &Selection, keys: &[&str], today: Date) -> Result<OrganizationUse, Failure> {
    let shown = path.to_string_lossy();
    let fail = |why: String| {
        Failure::new(format!("the use of the organization in `{shown}` cannot be read: {why}"))
            .with_help("write the file with `gpulint-fleet use`, and pass it as it is")
    };
    let bytes = bytes_of(path).map_err(&fail)?;
    if !keys.is_empty() {
        let signature = bytes_of(Path::new(&format!("{shown}.sig")))
            .map_err(|error| fail(format!("`organization.key` demands a signature in `{shown}.sig`: {error}")))?;
        let is_signed = verify_release(&bytes, &String::from_utf8_lossy(&signature), &keys.join("\n")).is_ok();
        if !is_signed {
            return Err(fail("its signature does not belong to the file and to `organization.key`".to_owned()));
        }
    }
    let own = match asked.repository.clone().or_else(|| own_repository(&ci::process_variable)) {
        Some(own) => own,
        None => {
            return Err(Failure::new("the name of this repository in the use of the organization is unknown")
                .with_help("pass it with --repository github.com/acme/infra"));
        }
    };
    let text = String::from_utf8(bytes).map_err(|_| fail("it is not UTF-8 text".to_owned()))?;
    let known = parse(&text, &own).map_err(&fail)?;
    let age = today.since(known.day);
    match age {
        -1..=MOST_DAYS => Ok(known),
        _ => Err(fail(format!("it is of {}, and gpulint accepts at most {MOST_DAYS} days", known.day))),
    }
}

fn bytes_of(path: &Path) -> Result<Vec<u8>, String> {
    let is_file = fs::metadata(path).map_err(|error| error.to_string())?.is_file();
    if !is_file {
        return Err("it is not a file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    file.take(LONGEST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    match bytes.len() as u64 > LONGEST_BYTES {
        true => Err(format!("it is larger than {} MiB", LONGEST_BYTES >> 20)),
        false => Ok(bytes),
    }
}

/// Returns the name of the repository for which a job runs, as the fleet writes it.
fn own_repository(environment: CiVariables) -> Option<String> {
    let (server, path) = match environment("GITHUB_REPOSITORY") {
        Some(path) => (environment("GITHUB_SERVER_URL")?, path),
        None => (environment("CI_SERVER_URL")?, environment("CI_PROJECT_PATH")?),
    };
    Some(format!("{}/{path}", ci::host_of(&server)))
}

fn parse(text: &str, own: &str) -> Result<OrganizationUse, String> {
    let mut lines = text.splitn(3, '\n');
    let day = lines.next().and_then(|line| line.strip_prefix(FIRST_LINE)?.trim().parse().ok());
    let day = day.ok_or_else(|| format!("its first line is not `{FIRST_LINE}DATE`"))?;
    let labels = lines.next().and_then(|line| line.strip_prefix(LABELS_LINE));
    let labels = labels.ok_or_else(|| format!("its second line does not begin with `{LABELS_LINE}`"))?;
    let labels = labels.split(',').map(|label| label.trim().to_owned()).filter(|label| !label.is_empty()).collect();
    let mut known = OrganizationUse { day, labels, rows: Vec::new(), unread: 0 };
    let mut rows = csv_records(lines.next().unwrap_or_default());
    let header = rows.next().and_then(|(_, row)| row.ok());
    if !header.is_some_and(|header| header.iter().map(String::as_str).eq(HEADER.split(','))) {
        return Err(format!("its columns are not `{HEADER}`"));
    }
    for (line, row) in rows {
        let line = line + LINES_BEFORE;
        let row = row.map_err(|why| format!("line {line}: {why}"))?;
        let [repository, by, value, expected, unpriced] = row.as_slice() else {
            return Err(format!("line {line}: it has {} cells instead of 5", row.len()));
        };
        if repository.eq_ignore_ascii_case(own) {
            continue;
        }
        if by == "unread" {
            known.unread += 1;
            continue;
        }
        let number = |cell: &str| {
            let number = cell.parse::<i64>().ok().filter(|it| *it >= 0);
            number.ok_or_else(|| format!("line {line}: `{}` is not a number", cell.escape_debug()))
        };
        known.rows.push(UseRow {
            repository: repository.clone(),
            by: by.clone(),
            value: value.clone(),
            expected: Money::from_micros(number(expected)?),
            unpriced: number(unpriced)?,
        });
    }
    Ok(known)
}

impl OrganizationUse {
    /// Returns what other repositories use of a budget, and why it may be more.
    fn of(&self, budget: &Budget) -> UseElsewhere {
        let (by, value) = match &budget.label {
            None => ("all", String::new()),
            Some((key, value)) if ["team", "project", "environment"].contains(&key.as_str()) => {
                (key.as_str(), value.clone())
            }
            Some((key, value)) => ("label", format!("{key}={value}")),
        };
        let rows = || self.rows.iter().filter(|row| row.by == by && row.value == value);
        let unpriced = rows().fold(0_i64, |sum, row| sum.saturating_add(row.unpriced));
        let mut reasons = Vec::new();
        if by == "label" && !self.labels.contains(&value) {
            reasons.push(format!("the use of the label {value} was not counted"));
        }
        if self.unread > 0 {
            reasons.push(match self.unread {
                1 => "one repository was not read".to_owned(),
                count => format!("{count} repositories were not read"),
            });
        }
        if unpriced > 0 {
            reasons.push(format!("the cost of other resources is unknown ({unpriced})"));
        }
        let mut repositories: Vec<&str> =
            rows().filter(|row| row.expected > Money::ZERO).map(|row| row.repository.as_str()).collect();
        repositories.dedup();
        UseElsewhere {
            usd: rows().map(|row| row.expected).fold(Money::ZERO, |sum, it| sum + it).usd(),
            repositories: repositories.len(),
            day: Some(self.day),
            why_more: (!reasons.is_empty()).then(|| format!("on {}, {}", self.day, reasons.join(", and "))),
        }
    }
}
