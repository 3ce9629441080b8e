//! `gpulint catalog`: shows, fetches and verifies prices.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::time::Duration;

use crate::catalog::{Catalog, DoubtedRow, PriceClass, grouped};
use crate::cli::args::{AskedVendor, CatalogVerb, DoubtFormat, Fetch, Show, Verify};
use crate::cli::io::network;
use crate::cli::io::network::SystemClock;
use crate::cli::io::terminal::OutputStream;
use crate::cli::io::{cache, ci, clock, output};
use crate::cli::session::prices;
use crate::cli::{ExitStatus, Failure};
use crate::http::{AwsKeys, Clock, Secret};
use crate::refresh::{self, Access, PriceRelease, PriceSource, PriceVendor, Rejected, Update};
use crate::source::{Date, csv_line};

pub(in crate::cli) fn run(verb: &CatalogVerb) -> Result<ExitStatus, Failure> {
    match verb {
        CatalogVerb::Show(arguments) => show(arguments),
        CatalogVerb::Update(arguments) => update(arguments),
        CatalogVerb::Verify(arguments) => verify(arguments),
    }
}

fn show(arguments: &Show) -> Result<ExitStatus, Failure> {
    let today = arguments.today.map_or_else(clock::today, Ok)?;
    let (catalog, _) = prices::catalog(None)?;
    let mut text = in_short(&catalog, today);
    let _ = writeln!(text, "\ngpulint {}, prices as of {}", env!("CARGO_PKG_VERSION"), catalog.as_of());
    let refreshed = cache::directory(&ci::process_variable)?.map(|directory| cache::read(&directory)).transpose()?;
    for (provider, rows) in refreshed.into_iter().flatten() {
        let rows = rows.lines().count().saturating_sub(1);
        let _ = writeln!(text, "{provider}: {rows} refreshed rows");
    }
    let _ = writeln!(
        text,
        "\n{:<12} {:>7} {:>8}  {:<10}  {:<10}  valid for",
        "class", "prices", "outdated", "oldest", "newest"
    );
    for ages in catalog.ages(today) {
        let _ = writeln!(
            text,
            "{:<12} {:>7} {:>8}  {:<10}  {:<10}  {} days",
            ages.class.name(),
            ages.prices,
            ages.stale,
            ages.oldest,
            ages.newest,
            ages.class.days()
        );
    }
    let stale: Vec<String> = too_old(&catalog, today).collect();
    if !stale.is_empty() {
        let _ = writeln!(text, "\noutdated on-demand prices: {}", stale.join(", "));
    }
    let machines = catalog.machines().count();
    let providers = catalog.providers().len();
    let _ = writeln!(text, "\n{machines} machine types of {providers} providers");
    output::print(&text)?;
    Ok(ExitStatus::Passed)
}

/// The most providers that one line names.
const MOST_NAMED: usize = 4;

/// Returns a summary: how many prices are up to date or outdated, and the command that refreshes them.
fn in_short(catalog: &Catalog, today: Date) -> String {
    let ages = catalog.ages(today);
    let (prices, old) = ages.iter().fold((0, 0), |(prices, old), it| (prices + it.prices, old + it.stale));
    let newest = catalog.as_of();
    let mut text =
        format!("up to date: {} of {} prices; the newest is of {newest}\n", count(prices - old), count(prices));
    if old == 0 {
        text.push_str("outdated: none\n");
    } else {
        let spot = ages.iter().find(|it| it.class == PriceClass::Spot).map_or(0, |it| it.stale);
        let mut named: Vec<String> = too_old(catalog, today).collect();
        let others = named.len().saturating_sub(MOST_NAMED);
        named.truncate(MOST_NAMED);
        named.extend((others > 0).then(|| format!("{others} more providers")));
        named.extend((spot > 0).then(|| format!("{} spot prices", count(spot))));
        let ranges = "reports show amounts with outdated prices as ranges";
        let _ = writeln!(text, "outdated: {}; {ranges}", named.join(", "));
    }
    text.push_str(&renewal());
    text
}

/// Returns the providers with outdated on-demand prices and the number of those prices, the most first.
fn too_old(catalog: &Catalog, today: Date) -> impl Iterator<Item = String> + '_ {
    let mut stale = catalog.stale_of_providers(today);
    stale.retain(|(_, _, stale)| *stale > 0);
    stale.sort_by_key(|(_, _, stale)| Reverse(*stale));
    stale.into_iter().map(|(name, prices, stale)| format!("{name} {} of {}", count(stale), count(prices)))
}

fn count(number: usize) -> String {
    grouped(number as u64)
}

/// Returns the line about `catalog update`: which providers it asks, and which need a key.
fn renewal() -> String {
    let (asked, keyless) = all_vendors();
    let asked: Vec<&str> = asked.iter().map(|it| it.name()).collect();
    let missing: Vec<String> =
        keyless.iter().map(|(it, variable)| format!("{} if {variable} is set", it.name())).collect();
    let missing = if missing.is_empty() { String::new() } else { format!("; {}", missing.join(", ")) };
    format!(
        "refresh: `gpulint catalog update` fetches the signed prices of the day; `gpulint catalog update all` asks {}{missing}\n",
        asked.join(", ")
    )
}

fn verify(arguments: &Verify) -> Result<ExitStatus, Failure> {
    let (catalog, _) = prices::catalog(arguments.prices.as_deref())?;
    let doubts = catalog.verify();
    let text = match arguments.format {
        DoubtFormat::Text => {
            let text = doubts.iter().map(|doubt| format!("{doubt}\n")).collect::<String>();
            let rows = catalog.offers().count();
            text + &format!("{rows} prices checked, {} cannot be correct\n", doubts.len())
        }
        DoubtFormat::Csv => doubted_rows(&doubts),
    };
    output::print(&text)?;
    Ok(if doubts.is_empty() { ExitStatus::Passed } else { ExitStatus::Failed })
}

fn update(arguments: &Fetch) -> Result<ExitStatus, Failure> {
    let directory = cache::directory(&ci::process_variable)?.ok_or_else(|| {
        Failure::new("no directory for the price cache is known")
            .with_help("set GPULINT_CACHE_DIR to a directory: GPULINT_CACHE_DIR=/path gpulint catalog update")
    })?;
    let files = cache::read(&directory)?;
    // A damaged cache is rewritten.
    let catalog = cache::lay_over(Catalog::embedded(), &files).unwrap_or_default();
    let today = clock::today()?;
    if arguments.providers.is_empty() {
        return take_release(arguments, today, &directory, &files, &catalog);
    }
    let (vendors, without_key) = vendors(arguments);
    for (vendor, variable) in without_key {
        let held = held(&catalog, vendor, today);
        output::complain(&format!("{}: skipped, because {variable} is not set{held}", vendor.name()));
    }
    let line = Line::default();
    let mut failed = 0;
    for (done, &vendor) in vendors.iter().enumerate() {
        let earlier = files.iter().find(|(provider, _)| provider == vendor.name()).map_or("", |(_, text)| text);
        let tell = |what: &str| line.show(&format!("{} of {}: {what}", done + 1, vendors.len()));
        let outcome = refresh::update(vendor, &catalog, earlier, &access(arguments, vendor, today, &tell));
        line.clear();
        match outcome {
            Ok(update) => {
                let path = cache::write(&directory, vendor.name(), &update.text())?;
                output::print(&describe_update(vendor.name(), &update, &path.display().to_string()))?;
            }
            Err(error) => {
                failed += 1;
                let held = held(&catalog, vendor, today);
                output::complain(&format!("error: {}: {}{held}", vendor.name(), error.message));
            }
        }
    }
    cache::encode(&directory)?;
    // `packaging/prices.py` reads these lines. Prices of the other providers are written even if one provider failed.
    match failed {
        0 => Ok(ExitStatus::Passed),
        1 => Err(Failure::new("one provider was not refreshed")),
        more => Err(Failure::new(format!("{more} providers were not refreshed"))),
    }
}

/// Returns the doubted prices of machines as a table. A doubt about all regions has the region `*`.
fn doubted_rows(doubts: &[DoubtedRow]) -> String {
    let mut text = "provider,machine,region,why\n".to_owned();
    for doubt in doubts {
        let [provider, machine, region] = doubt.place.as_slice() else { continue };
        let region = if doubt.everywhere { "*" } else { region };
        text.push_str(&csv_line(&[provider, machine, region, &doubt.why]));
    }
    text
}

/// Returns how many earlier prices of a failed provider stay in use, and how old they are.
fn held(catalog: &Catalog, vendor: PriceVendor, today: Date) -> String {
    let offers = catalog.offers().filter(|offer| offer.machine.provider == vendor.name());
    let dates: Vec<Date> = offers.filter_map(|offer| offer.quote.as_of.parse().ok()).collect();
    let Some(oldest) = dates.iter().min() else { return String::new() };
    format!(
        "; the {} earlier prices stay in use, the oldest is {} days old ({oldest})",
        dates.len(),
        today.since(*oldest)
    )
}

/// The age in days after which the maintainers have missed several nights.
const LATE_DAYS: i64 = 3;

/// Updates the cache from one signed file of prices.
fn take_release(
    arguments: &Fetch,
    today: Date,
    directory: &Path,
    files: &[(String, String)],
    catalog: &Catalog,
) -> Result<ExitStatus, Failure> {
    let refused = |error: crate::http::Error| {
        let failure = Failure::new(error.message);
        match &arguments.from {
            Some(_) => failure,
            None => failure.with_help("ask the providers: gpulint catalog update all"),
        }
    };
    let keys = match &arguments.key {
        Some(file) => String::from_utf8_lossy(&small_file(file)?).into_owned(),
        None => refresh::DAILY_KEYS.to_owned(),
    };
    let (bytes, signatures) = read_release(arguments, today, &refused)?;
    refresh::verify_release(&bytes, &signatures, &keys).map_err(refused)?;
    let day = refresh::release_day(&bytes, today).map_err(refused)?;
    // A replaced key does not make an older file acceptable.
    let holders: Vec<&str> = refresh::key_lines(&keys).collect();
    if let Some(last) = cache::taken_day(directory, &holders).filter(|last| day < *last) {
        let message = format!("the prices are of {day}, and the cache already has prices of {last}");
        return Err(Failure::new(format!("{message}: nothing was updated")));
    }
    let release = refresh::take_release(&bytes, day, catalog, files, arguments.accept_changes).map_err(refused)?;
    let text = describe_release(&release, day, today);
    for (provider, update) in &release.updates {
        cache::write(directory, provider, &update.text())?;
    }
    let is_cached = |table: &str| files.iter().any(|(name, _)| name == table);
    for (table, update) in release.tables.iter().filter(|(table, it)| it.arrived > 0 || is_cached(table)) {
        cache::write(directory, table, &update.text)?;
    }
    cache::encode(directory)?;
    cache::keep_taken_day(directory, &holders, day)?;
    output::print(&text)?;
    let age = today.since(day);
    if age > LATE_DAYS {
        output::complain(&format!("warning: these prices are {age} days old: the maintainers published no newer ones"));
    }
    Ok(ExitStatus::Passed)
}

/// Returns the content of the file and its signatures.
fn read_release(
    arguments: &Fetch,
    today: Date,
    refused: &impl Fn(crate::http::Error) -> Failure,
) -> Result<(Vec<u8>, String), Failure> {
    let from = arguments.from.as_deref().unwrap_or(refresh::DAILY_PRICES);
    if !from.starts_with("https://") && !from.starts_with("http://") {
        let signature = small_file(Path::new(&format!("{from}.sig")))?;
        return Ok((small_file(Path::new(from))?, String::from_utf8_lossy(&signature).into_owned()));
    }
    let line = Line::default();
    let tell = |what: &str| line.show(what);
    let fetched = refresh::fetch_release(from, &access(arguments, PriceVendor::Aws, today, &tell));
    line.clear();
    fetched.map_err(refused)
}

/// Returns what a file of prices changed: a summary first, then the refused rows.
fn describe_release(release: &PriceRelease, day: Date, today: Date) -> String {
    let prices = release.updates.values().map(|update| update.arrived).sum::<usize>();
    let age = today.since(day).max(0);
    let old = if age == 1 { "1 day old".to_owned() } else { format!("{age} days old") };
    let mut text = format!("signed prices of {day} ({old}); newer rows: machines {}", count(prices));
    for (table, update) in release.tables.iter().filter(|(_, update)| update.arrived > 0) {
        let _ = write!(text, ", {} {}", table.replace('_', " "), count(update.arrived));
    }
    let of_machines = release.updates.iter().map(|(provider, update)| (provider, &update.rejected));
    let rejected = of_machines.chain(release.tables.iter().map(|(table, update)| (table, &update.rejected)));
    let rejected: Vec<(&String, &Rejected)> =
        rejected.flat_map(|(of, rows)| rows.iter().map(move |row| (of, row))).collect();
    let _ = writeln!(text, "; not newer: {}; refused: {}", count(release.not_newer), count(rejected.len()));
    for (of, row) in rejected.iter().take(MOST_TOLD) {
        let place = format!("{of} {} {}", row.machine, row.region);
        let _ = writeln!(text, "  refused {}: {}", place.trim_end(), row.why);
    }
    if let Some(more @ 1..) = rejected.len().checked_sub(MOST_TOLD) {
        let _ = writeln!(text, "  and {more} more refused");
    }
    printable(&text)
}

fn small_file(path: &Path) -> Result<Vec<u8>, Failure> {
    let unreadable = |why: String| Failure::new(format!("`{}` cannot be read: {why}", path.display()));
    let file = fs::File::open(path).map_err(|error| unreadable(error.to_string()))?;
    let mut bytes = Vec::new();
    let limit = refresh::LONGEST_RELEASE_BYTES;
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| unreadable(error.to_string()))?;
    if bytes.len() as u64 > limit {
        return Err(unreadable(format!("it has more than {} MiB", limit >> 20)));
    }
    Ok(bytes)
}

/// Returns the providers to ask, and those that lack a key, with the name of the missing variable.
fn vendors(arguments: &Fetch) -> (Vec<PriceVendor>, Vec<(PriceVendor, &'static str)>) {
    let named: Option<BTreeSet<PriceVendor>> = arguments
        .providers
        .iter()
        .map(|asked| match asked {
            AskedVendor::One(vendor) => Some(*vendor),
            AskedVendor::All => None,
        })
        .collect();
    named.map_or_else(all_vendors, |named| (named.into_iter().collect(), Vec::new()))
}

/// Returns all providers that can be asked, and those that need a key that is not set.
fn all_vendors() -> (Vec<PriceVendor>, Vec<(PriceVendor, &'static str)>) {
    let missing = |vendor: PriceVendor| match vendor.key() {
        Some((variable, true)) if ci::process_variable(variable).is_none() => Some((vendor, variable)),
        _ => None,
    };
    let can_be_asked = PriceVendor::ALL.into_iter().filter(|vendor| missing(*vendor).is_none()).collect();
    (can_be_asked, PriceVendor::ALL.into_iter().filter_map(missing).collect())
}

fn aws_keys() -> Option<AwsKeys> {
    let of = |name: &str| ci::process_variable(name).map(|value| value.trim().to_owned());
    let (id, secret) = (of("AWS_ACCESS_KEY_ID")?, Secret::new(of("AWS_SECRET_ACCESS_KEY")?));
    Some(AwsKeys { id, secret, session: of("AWS_SESSION_TOKEN").map(Secret::new) })
}

/// The time limit of one provider, in time limits of one answer. It keeps a slow provider from delaying the others.
const SLOW_ANSWERS: u64 = 4;

fn access<'a>(arguments: &Fetch, vendor: PriceVendor, today: Date, progress: &'a dyn Fn(&str)) -> Access<'a> {
    let mut http = network::settings(&ci::process_variable);
    http.timeout = Duration::from_secs(arguments.timeout);
    http.deadline = Some(SystemClock.now().saturating_add(arguments.timeout.saturating_mul(SLOW_ANSWERS)));
    // The largest answer in memory is a page of Google's SKUs, about ten megabytes. The list of one AWS region has up
    // to four hundred megabytes, so gpulint reads it as a stream.
    http.max_reply_bytes = 32 << 20;
    let mirror = arguments.mirror.iter().flat_map(|address| PriceSource::ALL.map(|place| (place, address.clone())));
    Access {
        http,
        clock: &SystemClock,
        key: vendor.key().and_then(|(variable, _)| ci::process_variable(variable)).map(|key| Secret::new(key.trim())),
        aws: (vendor == PriceVendor::Aws).then(aws_keys).flatten(),
        addresses: mirror.collect::<BTreeMap<_, _>>(),
        regions: arguments.regions.clone(),
        today: today.to_string(),
        accept_changes: arguments.accept_changes,
        progress,
    }
}

/// The most rejected rows of one provider that are listed.
const MOST_TOLD: usize = 200;

fn describe_update(provider: &str, update: &Update, path: &str) -> String {
    let mut text = format!("{provider}: {} rows arrived, {} in {path}\n", update.arrived, update.rows.len());
    for note in &update.notes {
        let _ = writeln!(text, "  {note}");
    }
    for rejected in update.rejected.iter().take(MOST_TOLD) {
        let _ = writeln!(text, "  refused {} {}: {}", rejected.machine, rejected.region, rejected.why);
    }
    if let Some(more @ 1..) = update.rejected.len().checked_sub(MOST_TOLD) {
        let _ = writeln!(text, "  and {more} more refused");
    }
    printable(&text)
}

/// Removes control characters for the terminal, which the answer of a provider can contain.
fn printable(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control() || *letter == '\n').collect()
}

/// A progress line on a terminal.
#[derive(Default)]
struct Line {
    shown: Cell<bool>,
}

impl Line {
    fn show(&self, what: &str) {
        if OutputStream::Errors.is_able() {
            self.shown.set(true);
            let _ = write!(io::stderr(), "\r\u{1b}[K{what}");
            let _ = io::stderr().flush();
        }
    }

    fn clear(&self) {
        if self.shown.take() {
            let _ = write!(io::stderr(), "\r\u{1b}[K");
        }
    }
}
