//! `gpulint usage bill`: extracts charges for machines with accelerators from a bill.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::cli::args::{BillSource, UsageBill};
use crate::cli::io::{clock, output, place};
use crate::cli::session::prices;
use crate::cli::{ExitStatus, Failure};
use crate::measured::paid::row;
use crate::report;
use crate::usage::{BillImport, BillReport, Warehouse, bill_query};

/// The default tag keys.
const TAGS: [&str; 2] = ["team", "project"];

pub(super) fn run(arguments: &UsageBill) -> Result<ExitStatus, Failure> {
    if arguments.columns {
        output::print_exact(&report::paid_columns())?;
        return Ok(ExitStatus::Passed);
    }
    let (catalog, _) = prices::catalog(None)?;
    if let Some(source) = arguments.sql {
        let warehouse = match source {
            BillSource::Aws => Warehouse::Aws,
            BillSource::Gcp => Warehouse::Gcp,
            BillSource::Azure => Warehouse::Azure,
            BillSource::Duckdb => Warehouse::Duckdb,
        };
        output::print_exact(&bill_query(warehouse, &catalog))?;
        return Ok(ExitStatus::Passed);
    }
    let today = arguments.today.map_or_else(clock::today, Ok)?;
    let tags = match arguments.tags.is_empty() {
        true => TAGS.map(str::to_owned).to_vec(),
        false => arguments.tags.clone(),
    };
    let mut import = BillImport::new(&catalog, today, tags);
    for path in &arguments.paths {
        let name = path.display().to_string();
        let done = match path.as_os_str() == "-" {
            true => import.add("standard input", io::stdin().lock()),
            false => import.add(&name, opened(path)?),
        };
        done.map_err(Failure::new)?;
    }
    written(&import.finish(), arguments)
}

fn opened(path: &Path) -> Result<File, Failure> {
    let failed = |why: String| Failure::new(format!("`{}` cannot be read: {why}", path.display()));
    let file = File::open(path).map_err(|error| failed(error.to_string()))?;
    match file.metadata().is_ok_and(|it| it.is_dir()) {
        true => Err(failed("it is a directory: pass the files in it".to_owned())),
        false => Ok(file),
    }
}

/// Writes the rows and a summary of all amounts. Writes nothing if there are no rows, or if some rows could not be
/// read.
fn written(done: &BillReport, arguments: &UsageBill) -> Result<ExitStatus, Failure> {
    for why in &done.wrong {
        output::complain(&format!("not read: {why}"));
    }
    let told = done.wrong.len() as u64;
    if done.wrong_rows > told {
        output::complain(&format!("not read: {} more rows", done.wrong_rows - told));
    }
    for note in &done.notes {
        output::complain(&format!("note: {note}"));
    }
    output::complain(
        report::bill_sums(done.sums.iter().map(|sum| report::SumOfBill {
            currency: &sum.currency,
            what: sum.what,
            is_written: sum.is_written,
            rows: sum.rows,
            amount: sum.amount,
        }))
        .trim_end(),
    );
    if done.wrong_rows > 0 && !arguments.allow_partial {
        output::complain("no file written; to write it without the unreadable rows, add --allow-partial");
        return Ok(ExitStatus::Incomplete);
    }
    if done.rows.is_empty() {
        output::complain("the bill has no charges for machines with accelerators: no row written");
        return Ok(ExitStatus::Empty);
    }
    let text = row::write(&done.rows);
    let Some(path) = &arguments.output else {
        output::print_exact(&text)?;
        return Ok(ExitStatus::Passed);
    };
    output::save(path, &text)?;
    output::complain(&format!("{} rows in {}", done.rows.len(), path.display()));
    if let Some(advice) = advice(path) {
        output::complain(&advice);
    }
    Ok(ExitStatus::Passed)
}

/// Returns advice to exclude the file from git, because it contains negotiated prices.
fn advice(path: &Path) -> Option<String> {
    let whole = path.canonicalize().ok()?;
    let repository = place::repository(whole.parent()?)?;
    let name = whole.strip_prefix(repository).ok()?.display().to_string();
    let ignored = std::fs::read_to_string(repository.join(".gitignore")).unwrap_or_default();
    let is_ignored = ignored.lines().any(|line| {
        let line = line.trim().trim_start_matches('/');
        line == name || line == row::FILE_NAME && name.ends_with(row::FILE_NAME)
    });
    (!is_ignored).then(|| {
        format!("the file contains negotiated prices: if others can read the repository, add `{name}` to .gitignore")
    })
}
