//! Tests an automatic price update: half of six vendors have failures, and each check gets the data that it must
//! refuse.

#![allow(clippy::print_stdout, reason = "what was taken and what was said is there to be read")]

mod answers;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use gpulint::catalog::{Catalog, Money};
use gpulint::refresh::{PriceRow, PriceVendor};
use gpulint::source::Date;
use serde_json::{Value, json};

use crate::forge::server::{Answer, Received, Server};
use crate::refresh::{KEY, KNOWN, catalog_of, empty_directory, good, read, refreshed_over, usd};
use crate::skipped::skip;
use answers::{Sold, aws_list, aws_spot, azure_page, lambda_types, meter, runpod_cards, sku, sold, vast_offers};

/// Returns AWS's index and its files, without plans and spot prices. The list itself comes from the tables.
fn aws(asked: &Received) -> Option<Answer> {
    Some(match asked.path.as_str() {
        "/savingsPlan/v1.0/aws/AWSComputeSavingsPlan/current/region_index.json" => {
            Answer::json(200, &json!({ "regions": [] }))
        }
        "/spot-advisor-data.json" => Answer::json(200, &json!({ "spot_advisor": {} })),
        "/spot.js" => aws_spot(&sold("aws", "us-east-1")),
        path if path.ends_with("/us-east-1/index.csv") => aws_list(&sold("aws", "us-east-1")),
        path if path.starts_with("/offers/") => good(asked),
        _ => return None,
    })
}

/// Adds two prices that must be refused: spot above on demand, and ten times the previous price.
fn poisoned(mut sold: Vec<Sold>) -> (Vec<Sold>, [String; 2]) {
    let at = sold.iter().position(|it| it.spot.is_some()).unwrap();
    let other = sold.iter().rposition(|it| it.spot.is_none() && it.on_demand < 6.0 * it.count).unwrap();
    let (first, second) = (sold[at].clone(), sold[other].clone());
    sold[at].spot = Some(first.on_demand + 1.0);
    sold[other].on_demand *= 10.0;
    let dear = first.on_demand + 1.0;
    let told = [
        format!("{} eastus: spot costs ${dear:.4}, more than ${:.4} on demand", first.machine, first.on_demand),
        format!(
            "{} eastus: the on demand price changed from ${:.4} to ${:.4}",
            second.machine,
            second.on_demand,
            second.on_demand * 10.0
        ),
    ];
    (sold, told)
}

/// Creates six vendors: one with false prices (Azure), one slow (RunPod), one broken (Google Cloud), three good.
fn six_vendors() -> (Server, [String; 2]) {
    let (azure, told) = poisoned(sold("azure", "eastus"));
    let pages = AtomicUsize::new(0);
    let server = Server::start(move |asked| match asked.path.as_str() {
        "/api/retail/prices" => azure_page(&azure, "eastus"),
        // At one byte per tenth of a second, the answer would take minutes.
        "/graphql" => good(asked).slowly(Duration::from_millis(100)),
        "/v1/services/6F81-5844-456A/skus" if pages.fetch_add(1, Ordering::Relaxed) == 0 => {
            let whole = read("gcp/page1.json");
            Answer::new(200, &whole[..whole.len() / 2]).with("content-length", whole.len())
        }
        "/v1/services/6F81-5844-456A/skus" => Answer::new(500, "broken"),
        "/api/v1/instance-types" => lambda_types(&sold("lambda", "*")),
        // Prices 20% above the tables.
        "/api/v0/bundles" => {
            let dearer = sold("vast", "*").into_iter().map(|it| Sold { on_demand: it.on_demand * 1.2, ..it });
            vast_offers(&dearer.collect::<Vec<Sold>>())
        }
        _ => aws(asked).unwrap_or_else(|| good(asked)),
    });
    (server, told)
}

/// Runs the program with keys for all vendors.
fn gpulint(place: &Path, arguments: &[&str]) -> (String, String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.args(arguments).current_dir(place).env("GPULINT_CACHE_DIR", place.join("cache"));
    for name in ["http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY", "AWS_ACCESS_KEY_ID"] {
        command.env_remove(name);
    }
    let keys = PriceVendor::ALL.into_iter().filter_map(PriceVendor::key);
    let output = command.envs(keys.map(|(name, _)| (name, KEY))).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

fn today() -> Date {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    Date::from_unix_days((since.as_secs() / 86_400) as i64).unwrap()
}

/// Returns the message about rows that stay valid, counted from the tables.
fn held(provider: &str) -> String {
    let catalog = Catalog::embedded();
    let offers = catalog.offers().filter(|it| it.machine.provider == provider);
    let dates: Vec<Date> = offers.filter_map(|it| it.quote.as_of.parse().ok()).collect();
    let oldest = *dates.iter().min().unwrap();
    format!(
        "the {} earlier prices stay in use, the oldest is {} days old ({oldest})",
        dates.len(),
        today().since(oldest)
    )
}

#[test]
fn of_six_vendors_a_poisoned_a_slow_and_a_broken_one_spoil_no_other() {
    let place = empty_directory("six");
    let (server, told) = six_vendors();
    let (out, err, code) = gpulint(&place, &["catalog", "update", "all", "--timeout", "3", "--mirror", &server.url()]);
    println!("{out}{err}exit code {code:?}\n");
    let line = |vendor: &str, rows: usize| {
        format!("{vendor}: {rows} rows arrived, {rows} in {}/cache/prices/{vendor}.csv\n", place.display())
    };
    let rows = |vendor: &str, region: &str| sold(vendor, region).len();
    let expected = [
        line("aws", rows("aws", "us-east-1")),
        line("azure", rows("azure", "eastus") - 2),
        format!("  refused {}\n  refused {}\n", told[0], told[1]),
        line("lambda", rows("lambda", "*")),
        line("vast", rows("vast", "*")),
    ];
    assert_eq!(out, expected.concat());
    let broken =
        format!("error: gcp: 127.0.0.1 answered 500 to GET v1/services/6F81-5844-456A/skus: broken; {}", held("gcp"));
    let lines: Vec<&str> = err.lines().collect();
    assert_eq!(
        (lines.len(), lines[0], lines[2]),
        (3, broken.as_str(), "error: 2 providers were not refreshed"),
        "{err}"
    );
    assert!(lines[1].starts_with("error: runpod: 127.0.0.1 did not answer in time: "), "{err}");
    assert!(lines[1].ends_with(&format!("; {}", held("runpod"))), "{err}");
    assert_eq!(code, Some(2));

    // Checks the written files, and the price of one machine of each vendor that was not updated.
    let mut files: Vec<String> = fs::read_dir(place.join("cache/prices"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(files, ["aws.csv", "azure.csv", "lambda.csv", "tables.bin", "vast.csv"]);
    let price =
        |machine: &str, prices: &str| gpulint(&place, &["price", machine, "--prices", prices, "--format", "json"]).0;
    for machine in ["a3-highgpu-8g", "secure/8xH100-80GB", told[0].split(' ').next().unwrap()] {
        assert!(price(machine, "embedded").contains("on_demand_usd_per_hour"), "{machine}");
        assert_eq!(price(machine, "cached"), price(machine, "embedded"), "{machine}");
    }
    let (doubts, _, code) = gpulint(&place, &["catalog", "verify", "--prices", "cached"]);
    assert_eq!(code, Some(0), "{doubts}");

    reviewed(&place, &format!("{out}{err}"), &told);
    fs::remove_dir_all(place).unwrap();
}

/// Checks the summary for reviewers: the vendors, the refused prices with reasons, and the vendors without an answer
/// with the age of their prices.
fn reviewed(place: &Path, said: &str, told: &[String; 2]) {
    if Command::new("python3").arg("--version").output().is_err() {
        return skip("python3 is not installed");
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pricing = place.join("pricing");
    fs::create_dir_all(&pricing).unwrap();
    for vendor in PriceVendor::ALL {
        let file = format!("{}.csv", vendor.name());
        fs::copy(root.join("pricing").join(&file), pricing.join(&file)).unwrap();
    }
    fs::write(place.join("said"), said).unwrap();
    let script = root.join("packaging/prices.py");
    let mut merge = Command::new("python3");
    merge.arg(script).arg("merge").arg(place.join("cache/prices")).arg(&pricing);
    let output = merge.arg(place.join("moved.md")).arg(place.join("said")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let moved = fs::read_to_string(place.join("moved.md")).unwrap();
    let plain = |text: &str| text.replace('_', "\\_").replace('(', "\\(").replace(')', "\\)");
    for line in told {
        assert!(moved.contains(&format!("\n- {}\n", plain(line))), "{line}: {moved}");
    }
    assert!(moved.contains(&format!("; {}\n", plain(&held("gcp")))), "{moved}");
    let vast = sold("vast", "*").len();
    assert!(moved.contains(&format!("| vast | {vast} | {vast} | 0 | 0 | +20.0% | 0 | 0 | 0 |")), "{moved}");
    assert!(moved.contains("\n- runpod: 127.0.0.1 did not answer in time: "), "{moved}");
    assert!(moved.lines().count() < 80, "a person reads this in a minute: {moved}");
    for vendor in ["gcp.csv", "runpod.csv"] {
        let same = fs::read(root.join("pricing").join(vendor)).unwrap() == fs::read(pricing.join(vendor)).unwrap();
        assert!(same, "{vendor} told nothing and was changed");
    }
}

#[test]
fn who_cannot_be_asked_without_a_key_is_told() {
    let place = empty_directory("keyless");
    let server = Server::start(|_| Answer::new(404, ""));
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.args(["catalog", "update", "all", "--mirror", &server.url()]).current_dir(&place);
    command.env("GPULINT_CACHE_DIR", place.join("cache")).env_remove("http_proxy").env_remove("all_proxy");
    for (name, _) in PriceVendor::ALL.into_iter().filter_map(PriceVendor::key) {
        command.env_remove(name);
    }
    let said = String::from_utf8(command.output().unwrap().stderr).unwrap();
    for (vendor, key) in [("gcp", "GCP_API_KEY"), ("lambda", "LAMBDA_API_KEY")] {
        let line = format!("{vendor}: skipped, because {key} is not set; {}\n", held(vendor));
        assert!(said.contains(&line), "{line}{said}");
    }
    fs::remove_dir_all(place).unwrap();
}

#[test]
fn machines_of_several_cards_are_renewed_with_their_card() {
    // The host lists cards. A part of a card keeps the price of its row.
    let known: Vec<Sold> = sold("runpod", "*").into_iter().filter(|it| it.count >= 1.0).collect();
    assert!(known.iter().any(|it| it.count > 7.0), "{known:?}");
    // All prices are 10% above the tables.
    let dearer: Vec<Sold> = known.iter().map(|it| Sold { on_demand: it.on_demand * 1.1, ..it.clone() }).collect();
    let server = Server::start(move |_| runpod_cards(&dearer));
    let update = refreshed_over(&Catalog::embedded(), PriceVendor::Runpod, "", &server, false).unwrap();
    let arrived: Vec<&str> = update.rows.iter().map(|row| row.machine.as_str()).collect();
    let missing: Vec<&Sold> = known.iter().filter(|it| !arrived.contains(&it.machine.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert_eq!((update.arrived, update.rejected.as_slice()), (known.len(), &[][..]));
    for it in &known {
        let row = update.rows.iter().find(|row| row.machine == it.machine).unwrap();
        let share = usd(row.on_demand) / it.on_demand;
        assert!((share - 1.1).abs() < 1e-4, "{} costs {share} times as much", it.machine);
        // If a row has no processors and memory, the host sets them.
        let (cpus, memory_gib) = (it.cpus.or(row.vcpus), it.memory_gib.or(row.memory_gib));
        assert_eq!((row.accelerator_count, row.vcpus, row.memory_gib), (it.count, cpus, memory_gib), "{}", it.machine);
    }
}

/// A vendor's answer that contains a value to refuse.
struct Poison {
    vendor: PriceVendor,
    /// More known prices than `KNOWN`, for cases that need neighbors.
    known: &'static str,
    /// The end of the path that gets another answer.
    path: &'static str,
    add: fn(&mut Value),
    refused: (&'static str, &'static str, &'static str),
}

/// Adds an unknown machine type of Lambda.
fn lambda_type(types: &mut Value, name: &str, gpus: u32, cents: u32) {
    let specs = json!({ "vcpus": 26 * gpus, "memory_gib": 225 * gpus, "gpus": gpus });
    let kind = json!({ "gpu_description": "H100 (80 GB SXM5)", "price_cents_per_hour": cents, "specs": specs });
    types["data"][name] = json!({ "instance_type": kind });
}

fn azure_meters(page: &mut Value, prices: &[(&str, f64)]) {
    let meters = page["Items"].as_array_mut().unwrap();
    meters.extend(prices.iter().map(|(kind, usd)| meter("Standard_ND96isr_H100_v5", "newland", *usd, kind)));
}

/// Adds meters of an A3 in a new region, of which all but one are valid.
fn a3_in_newland(page: &mut Value) {
    let meters = page["skus"].as_array_mut().unwrap();
    for (part, unit, usual, spot) in [
        ("A3 Instance Core", "h", 25_498_100, 5_000_000),
        ("A3 Instance Ram", "GiBy.h", 2_220_300, 600_000),
        ("Nvidia H100 80GB GPU", "h", 9_796_550_000, 500_000_000),
    ] {
        let is_card = part.starts_with("Nvidia");
        let on_spot = if is_card {
            format!("{part} attached to Spot Preemptible VMs running in Newland")
        } else {
            format!("Spot Preemptible {part} running in Newland")
        };
        meters.push(sku(&format!("{part} running in Newland"), "OnDemand", unit, "newland", usual));
        meters.push(sku(&on_spot, "Preemptible", unit, "newland", spot));
    }
}

const H100_ELSEWHERE: &str = "\
azure,Standard_ND96isr_H100_v5,westus,H100-80GB,8,96,1900,98.32,,,2026-01-01,test,high
azure,Standard_ND96isr_H100_v5,westus2,H100-80GB,8,96,1900,98.32,,,2026-01-01,test,high
";

const A3_ELSEWHERE: &str = "\
gcp,a3-highgpu-8g,europe-west4,H100-80GB,8,208,1872,88.49,30,composed,2026-01-01,test,high
gcp,a3-highgpu-8g,us-east4,H100-80GB,8,208,1872,88.49,30,composed,2026-01-01,test,high
gcp,a3-highgpu-8g,us-west1,H100-80GB,8,208,1872,88.49,30,composed,2026-01-01,test,high
";

const GUARDS: &[(&str, Poison)] = &[
    (
        "spot above on demand",
        Poison {
            vendor: PriceVendor::Azure,
            known: "",
            path: "/prices",
            add: |page| azure_meters(page, &[("", 98.32), (" Spot", 99.0)]),
            refused: ("Standard_ND96isr_H100_v5", "newland", "spot costs $99.0000, more than $98.3200 on demand"),
        },
    ),
    (
        "a region five times cheaper",
        Poison {
            vendor: PriceVendor::Azure,
            known: H100_ELSEWHERE,
            path: "/prices",
            add: |page| azure_meters(page, &[("", 16.4)]),
            refused: (
                "Standard_ND96isr_H100_v5",
                "newland",
                "on demand costs $16.4, but usually $98.32 in other regions",
            ),
        },
    ),
    (
        "a sum without a part",
        Poison {
            vendor: PriceVendor::Gcp,
            known: A3_ELSEWHERE,
            path: "/skus",
            add: a3_in_newland,
            // 208 x 0.005 + 1872 x 0.0006 + 8 x 0.5 + 6000 x 0.08 / 730: the card is almost free.
            refused: (
                "a3-highgpu-8g",
                "newland",
                "spot costs $6.820734, but usually $30 in other regions: a part of the price is missing",
            ),
        },
    ),
    (
        "an accelerator below half of the median",
        Poison {
            vendor: PriceVendor::Lambda,
            known: "",
            path: "/instance-types",
            add: |types| lambda_type(types, "gpu_2x_h100_sxm5", 2, 200),
            refused: ("gpu_2x_h100_sxm5", "*", "one H100-80GB costs $1.000, but the median of 6 providers is $3.990"),
        },
    ),
    (
        "an accelerator above three times the median",
        Poison {
            vendor: PriceVendor::Lambda,
            known: "",
            path: "/instance-types",
            add: |types| lambda_type(types, "gpu_2x_h100_sxm5", 2, 4000),
            refused: ("gpu_2x_h100_sxm5", "*", "one H100-80GB costs $20.000, but the median of 6 providers is $4.290"),
        },
    ),
    (
        "a twin",
        Poison {
            vendor: PriceVendor::Lambda,
            known: "",
            path: "/instance-types",
            add: |types| lambda_type(types, "gpu_1x_h100_again", 1, 429),
            refused: ("gpu_1x_h100_again", "*", "it duplicates gpu_1x_h100_sxm5: same machine and same price"),
        },
    ),
    (
        "another machine under a known name",
        Poison {
            vendor: PriceVendor::Lambda,
            known: "",
            path: "/instance-types",
            add: |types| types["data"]["gpu_1x_h100_sxm5"]["instance_type"]["specs"]["gpus"] = 2.into(),
            refused: ("gpu_1x_h100_sxm5", "*", "it is listed with 2 H100-80GB, before with 1 H100-80GB"),
        },
    ),
    (
        "two prices of one thing",
        Poison {
            vendor: PriceVendor::Runpod,
            known: "",
            path: "/graphql",
            add: |reply| {
                let types = reply["data"]["gpuTypes"].as_array_mut().unwrap();
                let again = json!({ "displayName": "H100 SXM", "memoryInGb": 80, "securePrice": 2.5 });
                types.push(again);
            },
            refused: ("secure/H100-80GB", "*", "RunPod sells 2 cards with this name at different prices"),
        },
    ),
];

/// Returns the known prices, with columns for spot.
fn known(more: &str) -> String {
    let mut text = String::new();
    for line in KNOWN.lines() {
        let mut cells: Vec<&str> = line.split(',').collect();
        let is_header = cells[0] == "provider";
        let spot = if is_header { ["spot_usd_per_hour", "spot_basis"] } else { ["", ""] };
        cells.splice(8..8, spot);
        text += &(cells.join(",") + "\n");
    }
    text + more
}

#[test]
fn each_guard_refuses_its_poison_and_keeps_the_rest() {
    for (guard, poison) in GUARDS {
        let Poison { vendor, known: more, path, add, refused } = poison;
        let catalog = catalog_of(&known(more));
        let sound = refreshed_over(&catalog, *vendor, "", &Server::start(good), false).unwrap();
        let (path, add) = (*path, *add);
        let poisoned = move |asked: &Received| {
            let answer = good(asked);
            // Changes only the last page of lists.
            let is_last = !answer.body.windows(13).any(|it| it == b"nextPageToken" || it == b"NextPageLink\"")
                || asked.query("pageToken").is_some()
                || asked.query("$skip").is_some();
            if !asked.path.ends_with(path) || !is_last {
                return answer;
            }
            let mut value: Value = serde_json::from_slice(&answer.body).unwrap();
            add(&mut value);
            Answer { body: value.to_string().into_bytes(), ..answer }
        };
        let server = Server::start(poisoned);
        let update = refreshed_over(&catalog, *vendor, "", &server, false).unwrap();
        let told = |update: &gpulint::refresh::Update| -> Vec<(String, String, String)> {
            let rejected = update.rejected.iter();
            rejected.map(|it| (it.machine.clone(), it.region.clone(), it.why.clone())).collect()
        };
        let (machine, region, why) = *refused;
        let one = (machine.to_owned(), region.to_owned(), why.to_owned());
        assert!(told(&update).contains(&one), "{guard}: {:#?}", update.rejected);
        // Refused rows are still refused, accepted rows are still accepted, and nothing else is new.
        let is_poisoned = |row: &PriceRow| row.machine == machine && row.region == region;
        assert!(!update.rows.iter().any(is_poisoned), "{guard}: {:#?}", update.rows);
        let rest: Vec<&PriceRow> = sound.rows.iter().filter(|row| !is_poisoned(row)).collect();
        assert!(*guard == "another machine under a known name" || !rest.is_empty(), "{guard}");
        assert_eq!(update.rows.iter().collect::<Vec<_>>(), rest, "{guard}");
        assert!(told(&sound).iter().all(|it| told(&update).contains(it)), "{guard}: {:#?}", update.rejected);

        // If an update already set a price, that price stays.
        if let Some(row) = sound.rows.iter().find(|row| is_poisoned(row)) {
            let update = refreshed_over(&catalog, *vendor, &sound.text(), &server, false).unwrap();
            let kept = update.rows.iter().find(|row| is_poisoned(row)).unwrap();
            assert_eq!(usd(kept.on_demand), usd(row.on_demand), "{guard}");
        }
    }
}

#[test]
fn money_of_the_cases_is_what_the_cases_say() {
    // The fixtures and the tables have the same card, because a case without neighbors would prove nothing.
    let catalog = catalog_of(&known(A3_ELSEWHERE));
    let machine = catalog.machine("gcp", "a3-highgpu-8g").unwrap();
    let quote = catalog.quote(&machine, "us-east4").unwrap();
    assert_eq!((quote.spot, quote.spot_basis), (Some(Money::from_usd(30.0)), "composed"));
}
