//! Tests `catalog update` against a server on the loopback address: the answers of vendors, and all failures.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use gpulint::catalog::{Catalog, CsvFile, Money};
use gpulint::http::{AwsKeys, Clock, Error, HttpErrorKind, HttpSettings, Secret};
use gpulint::refresh::{Access, PriceRow, PriceSource, PriceVendor, Update, update};

use crate::forge::server::{Answer, Received, Server};

pub(crate) const KEY: &str = "a-key-that-nobody-may-see";

/// The previous catalog. It has few machines, so that an answer with few machines is complete.
pub(crate) const KNOWN: &str = "\
provider,machine,region,accelerator,accelerator_count,vcpus,memory_gib,on_demand_usd_per_hour,as_of,source,confidence
aws,g5.xlarge,us-east-1,A10G,1,4,16,1.006,2026-01-01,test,high
aws,p4d.24xlarge,us-east-1,A100-40GB,8,96,1152,21.957642,2026-01-01,test,high
aws,p5.48xlarge,us-east-1,H100-80GB,8,192,2048,55.04,2026-01-01,test,high
azure,Standard_NC24ads_A100_v4,eastus,A100-80GB-PCIe,1,24,220,3.673,2026-01-01,test,high
azure,Standard_NC128ds_xl_RTXPRO6000BSE_v6,centralus,RTX-PRO-6000,1,128,256,6.38,2026-01-01,test,high
azure,Standard_ND96isr_H100_v5,eastus,H100-80GB,8,96,1900,98.32,2026-01-01,test,high
gcp,a2-highgpu-1g,us-central1,A100-40GB,1,12,85,3.673385,2026-01-01,test,high
gcp,a3-highgpu-8g,us-central1,H100-80GB,8,208,1872,88.49,2026-01-01,test,high
lambda,gpu_1x_h100_sxm5,*,H100-80GB,1,26,225,4.29,2026-01-01,test,high
runpod,secure/H100-80GB,*,H100-80GB,1,20,125,3.99,2026-01-01,test,high
vast,H100-80GB,*,H100-80GB,1,,,1.49,2026-01-01,test,high
";

const REGIONS: &str = "\
provider,region,base_region,index
aws,us-east-1,us-east-1,1
azure,eastus,eastus,1
gcp,us-central1,us-central1,1
";

pub(crate) struct Impatient(pub(crate) RefCell<Duration>);

impl Clock for Impatient {
    fn now(&self) -> u64 {
        1_795_000_000
    }

    fn sleep(&self, time: Duration) {
        *self.0.borrow_mut() += time;
    }

    fn chance(&self) -> f64 {
        0.5
    }
}

pub(crate) fn read(path: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/refresh").join(path)).unwrap()
}

pub(crate) fn answer(path: &str) -> Answer {
    Answer::new(200, read(path))
}

pub(crate) fn catalog() -> Catalog {
    catalog_of(KNOWN)
}

/// Returns a catalog with these prices.
pub(crate) fn catalog_of(prices: &str) -> Catalog {
    let table =
        |name: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("pricing").join(name)).unwrap();
    let (accelerators, aliases, exceptions) =
        (table("accelerators.csv"), table("aliases.csv"), table("exceptions.csv"));
    let file = |stem, text| CsvFile { path: stem, stem, text };
    Catalog::from_tables(&[
        file("accelerators", &accelerators),
        file("aliases", &aliases),
        file("exceptions", &exceptions),
        file("prices", prices),
        file("regions", REGIONS),
    ])
    .unwrap()
}

/// Returns the normal answer of each API.
pub(crate) fn good(asked: &Received) -> Answer {
    let page = |first: &str, second: &str, token: &str| {
        if asked.query(token).is_some() { answer(second) } else { answer(first) }
    };
    match asked.path.as_str() {
        "/offers/v1.0/aws/index.json" => answer("aws/offers.json"),
        "/offers/v1.0/aws/AmazonEC2/current/region_index.json" => answer("aws/regions.json"),
        "/offers/v1.0/aws/AmazonEC2/20260728175247/us-east-1/index.csv" => answer("aws/us-east-1.csv"),
        "/savingsPlan/v1.0/aws/AWSComputeSavingsPlan/current/region_index.json" => answer("aws/plan-regions.json"),
        path if path.starts_with("/savingsPlan/") => answer("aws/plans.json"),
        "/spot-advisor-data.json" => answer("aws/spot-advisor-data.json"),
        "/spot.js" => answer("aws/spot.js"),
        // EC2 has one path for everything, and the form contains the query.
        "/" => match String::from_utf8_lossy(&asked.body) {
            form if form.contains("&NextToken=eyJ2IjoiMiIsImMiOiJh%2F%2BJz%3D%26x") => answer("aws/spot-prices2.xml"),
            form if form.contains("NextToken") => panic!("no page has such a mark: {form}"),
            form if form.contains("Action=DescribeSpotPriceHistory&") => answer("aws/spot-prices1.xml"),
            form => panic!("nobody answers {form}"),
        },
        "/api/retail/prices" => {
            let host = asked.header("host").unwrap();
            let answer = page("azure/page1.json", "azure/page2.json", "$skip");
            let text = String::from_utf8(answer.body).unwrap().replace("{address}", &format!("http://{host}"));
            Answer::new(200, text)
        }
        "/v1/services/6F81-5844-456A/skus" => page("gcp/page1.json", "gcp/page2.json", "pageToken"),
        "/api/v1/instance-types" => answer("lambda/instance-types.json"),
        "/graphql" => answer("runpod/gpu-types.json"),
        "/api/v0/bundles" => answer("vast/offers.json"),
        other => panic!("nobody answers {other}"),
    }
}

pub(crate) fn refreshed(
    vendor: PriceVendor,
    earlier: &str,
    server: &Server,
    accept_changes: bool,
) -> Result<Update, Error> {
    refreshed_over(&catalog(), vendor, earlier, server, accept_changes)
}

pub(crate) fn refreshed_over(
    catalog: &Catalog,
    vendor: PriceVendor,
    earlier: &str,
    server: &Server,
    accept_changes: bool,
) -> Result<Update, Error> {
    let clock = Impatient(RefCell::default());
    let http = HttpSettings {
        timeout: Duration::from_millis(500),
        max_reply_bytes: 1 << 20,
        max_stream_bytes: 1 << 20,
        ..HttpSettings::default()
    };
    update(vendor, catalog, earlier, &Access { accept_changes, ..access_to(server, vendor, http, &clock) })
}

pub(crate) fn access_to<'a>(
    server: &Server,
    vendor: PriceVendor,
    http: HttpSettings,
    clock: &'a dyn Clock,
) -> Access<'a> {
    Access {
        http,
        clock,
        key: vendor.key().map(|_| Secret::new(KEY)),
        aws: None,
        addresses: PriceSource::ALL.into_iter().map(|place| (place, server.url())).collect::<BTreeMap<_, _>>(),
        regions: Vec::new(),
        today: "2026-11-21".to_owned(),
        accept_changes: false,
        progress: &|_| {},
    }
}

pub(crate) fn answered(
    vendor: PriceVendor,
    handler: impl FnMut(&Received) -> Answer + Send + 'static,
) -> Result<Update, Error> {
    refreshed(vendor, "", &Server::start(handler), false)
}

pub(crate) fn row<'u>(update: &'u Update, machine: &str) -> &'u PriceRow {
    update.rows.iter().find(|row| row.machine == machine).unwrap_or_else(|| panic!("{machine}: {update:#?}"))
}

pub(crate) fn usd(money: Option<Money>) -> f64 {
    money.map_or(f64::NAN, Money::usd)
}

#[test]
fn aws_is_read_past_its_decoys() {
    let update = answered(PriceVendor::Aws, good).unwrap();
    assert_eq!((update.rejected.as_slice(), update.notes.as_slice()), (&[][..], &[][..]));
    let names: Vec<_> = update.rows.iter().map(|row| row.machine.as_str()).collect();
    assert_eq!(names, ["g5.xlarge", "p4d.24xlarge", "p5.48xlarge"]);
    let p4d = row(&update, "p4d.24xlarge");
    assert_eq!((usd(p4d.on_demand), usd(p4d.reserved_1y)), (21.957642, 13.921));
    assert_eq!(p4d.as_of, "2026-07-28");
    // The savings plan for the family, not the one for all compute.
    let p5 = row(&update, "p5.48xlarge");
    assert_eq!((usd(p5.on_demand), usd(p5.reserved_1y)), (55.04, 34.6752));
    // The advisor saves 69%.
    assert_eq!(
        (usd(p5.spot), p5.spot_basis.as_str(), p5.spot_interruption.as_str()),
        (17.0624, "advisor-saving", "5-10%")
    );
    // The feed, which is JSON inside a call, has precedence over the advisor.
    let g5 = row(&update, "g5.xlarge");
    assert_eq!((usd(g5.spot), g5.spot_basis.as_str()), (0.4125, "list"));
}

#[test]
fn spot_prices_of_zones_are_asked_for_with_a_signature() {
    let server = Server::start(good);
    let clock = Impatient(RefCell::default());
    let keys = AwsKeys { id: "AKIDEXAMPLE".into(), secret: Secret::new(KEY), session: Some(Secret::new("lent-to-us")) };
    let access = access_to(&server, PriceVendor::Aws, HttpSettings::default(), &clock);
    let update = update(PriceVendor::Aws, &catalog(), "", &Access { aws: Some(keys), ..access }).unwrap();
    assert_eq!(update.notes, [""; 0]);
    // Uses the latest price of each zone, and the lowest of all zones, not that of Windows. No zone sells p4d, so its
    // saving is not used.
    let spot = |name: &str| (usd(row(&update, name).spot), row(&update, name).spot_basis.clone());
    assert_eq!(spot("g5.xlarge"), (0.4987, "lowest-zone".to_owned()));
    assert_eq!(spot("p5.48xlarge"), (24.1656, "lowest-zone".to_owned()));
    let asked: Vec<Received> = server.received().into_iter().filter(|it| it.path == "/").collect();
    assert_eq!(asked.len(), 2);
    for it in &asked {
        let form = String::from_utf8_lossy(&it.body);
        assert!(
            form.starts_with(
                "Action=DescribeSpotPriceHistory&Version=2016-11-15&ProductDescription.1=Linux%2FUNIX\
                 &StartTime=2026-11-18T11%3A06%3A40Z&EndTime=2026-11-18T11%3A06%3A40Z&MaxResults=1000\
                 &InstanceType.1=g5.xlarge&InstanceType.2=p4d.24xlarge&InstanceType.3=p5.48xlarge"
            ),
            "{form}"
        );
        let proof = it.header("authorization").unwrap();
        let scope = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261118/us-east-1/ec2/aws4_request, \
                     SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature=";
        assert!(proof.starts_with(scope), "{proof}");
        let sent: Vec<&str> = it.headers.iter().map(|(_, value)| value.as_str()).collect();
        assert!(!sent.join(" ").contains(KEY), "the secret itself travels");
    }
}

#[test]
fn zones_that_cannot_be_read_leave_what_the_advisor_says() {
    let whole = String::from_utf8(read("aws/spot-prices1.xml")).unwrap();
    let denied = "<Response><Errors><Error><Code>UnauthorizedOperation</Code></Error></Errors></Response>";
    for (answer, why) in [
        (Answer::new(403, denied), "answered 403 to POST"),
        (Answer::new(200, whole[..whole.len() / 2].to_owned()), "EC2 lists no spot prices"),
        (Answer::new(200, whole), "pages of spot prices form a loop"),
    ] {
        let server = Server::start(move |asked| if asked.path == "/" { answer.clone() } else { good(asked) });
        let clock = Impatient(RefCell::default());
        let keys = AwsKeys { id: "AKIDEXAMPLE".into(), secret: Secret::new(KEY), session: None };
        let access = access_to(&server, PriceVendor::Aws, HttpSettings::default(), &clock);
        let update = update(PriceVendor::Aws, &catalog(), "", &Access { aws: Some(keys), ..access }).unwrap();
        assert_eq!(update.notes.len(), 1, "{:?}", update.notes);
        assert!(
            update.notes[0].starts_with("spot prices of the zones in us-east-1 are missing: "),
            "{:?}",
            update.notes
        );
        assert!(update.notes[0].contains(why), "{:?}", update.notes);
        assert_eq!(row(&update, "p5.48xlarge").spot_basis, "advisor-saving");
    }
}

#[test]
fn azure_is_read_over_all_pages() {
    let update = answered(PriceVendor::Azure, good).unwrap();
    let a100 = row(&update, "Standard_NC24ads_A100_v4");
    assert_eq!((usd(a100.on_demand), usd(a100.spot)), (3.673, 0.67877));
    let h100 = row(&update, "Standard_ND96isr_H100_v5");
    assert_eq!(usd(h100.on_demand), 98.32);
    // A reservation has a price for its whole term: 551,221 / 8,760 and 1,134,310 / 26,280 per hour.
    assert_eq!((usd(h100.reserved_1y), usd(h100.reserved_3y)), (62.924772, 43.162481));
    assert_eq!(h100.reserved_basis, "whole-term");
    // A savings plan has a price per hour, next to the on-demand price.
    let pro = row(&update, "Standard_NC128ds_xl_RTXPRO6000BSE_v6");
    assert_eq!((usd(pro.reserved_1y), usd(pro.reserved_3y)), (5.3592, 3.9556));
    assert_eq!(pro.reserved_basis, "savings-plan");
    let refused: Vec<_> = update.rejected.iter().map(|it| (it.region.as_str(), it.why.as_str())).collect();
    assert_eq!(refused, [("westeurope", "the price is in EUR per 1 Hour")]);
}

#[test]
fn google_machines_are_put_together_from_meters_without_discount() {
    let update = answered(PriceVendor::Gcp, good).unwrap();
    // 12 x 0.031611 + 85 x 0.004237 + 2.933908
    assert_eq!(usd(row(&update, "a2-highgpu-1g").on_demand), 3.673385);
    // 208 x 0.0254981 + 1872 x 0.0022203 + 8 x 9.79655 + 6000 x 0.08 / 730
    assert_eq!(usd(row(&update, "a3-highgpu-8g").on_demand), 88.489941);
    let regions: Vec<_> = update.rows.iter().map(|row| (row.machine.as_str(), row.region.as_str())).collect();
    assert!(regions.contains(&("a2-highgpu-1g", "us-west1")), "{regions:?}");
}

#[test]
fn gpu_clouds_are_read() {
    let lambda = answered(PriceVendor::Lambda, good).unwrap();
    assert_eq!(lambda.rows.len(), 1, "machines without GPUs are left out");
    assert_eq!(usd(row(&lambda, "gpu_1x_h100_sxm5").on_demand), 4.29);
    let runpod = answered(PriceVendor::Runpod, good).unwrap();
    let secure = row(&runpod, "secure/H100-80GB");
    assert_eq!((usd(secure.on_demand), usd(secure.spot)), (3.99, 1.75));
    assert_eq!(usd(row(&runpod, "community/H100-80GB").on_demand), 2.69);
    // Sold by the card: the price times the number of cards, up to the cloud's largest machine, with the listed shape.
    let rows: Vec<_> = runpod.rows.iter().map(|it| (it.machine.as_str(), usd(it.on_demand), it.vcpus)).collect();
    let expected = [
        ("community/2xH100-80GB", 5.38, Some(40.0)),
        ("community/4xH100-80GB", 10.76, Some(80.0)),
        ("community/H100-80GB", 2.69, Some(20.0)),
        ("community/RTX-4000-Ada", 0.2, None),
        ("community/RTX-4000-SFF-Ada", 0.18, None),
        ("secure/2xH100-80GB", 7.98, Some(40.0)),
        ("secure/4xH100-80GB", 15.96, Some(80.0)),
        ("secure/8xH100-80GB", 31.92, None),
        ("secure/H100-80GB", 3.99, Some(20.0)),
    ];
    assert_eq!(rows, expected, "what is priced at nothing is left out");
    assert_eq!(usd(row(&runpod, "secure/8xH100-80GB").spot), 14.0);
    let why: Vec<_> = runpod.rejected.iter().map(|it| (it.machine.as_str(), it.why.as_str())).collect();
    let expected = [
        // A part of a card that has the name of the card.
        ("H100-80GB", "it is listed with 10 GB, but H100-80GB has 80 GB"),
        ("community/V100-16GB", "RunPod sells 2 cards with this name at different prices"),
    ];
    assert_eq!(why, expected);
    let vast = answered(PriceVendor::Vast, good).unwrap();
    let h100 = row(&vast, "H100-80GB");
    // Excludes offers that are rented, unreliable or have two GPUs. The lowest bid is from another host.
    assert_eq!((usd(h100.on_demand), usd(h100.spot)), (1.89, 0.8));
}

#[test]
fn what_an_update_brings_is_found_before_the_embedded_row() {
    let update = answered(PriceVendor::Aws, good).unwrap();
    let text = update.text().replace("55.04", "50");
    let catalog = catalog().with_refreshed(&[CsvFile { path: "aws.csv", stem: "aws", text: &text }]).unwrap();
    let machine = catalog.machine("aws", "p5.48xlarge").unwrap();
    assert_eq!(usd(catalog.quote(&machine, "us-east-1").unwrap().on_demand), 50.0);
}

#[test]
fn a_server_in_trouble_is_asked_again() {
    for vendor in PriceVendor::ALL {
        let failures = AtomicUsize::new(0);
        let update = answered(vendor, move |asked| match failures.fetch_add(1, Ordering::Relaxed) {
            0 => Answer::new(429, "slow down").with("retry-after", "1"),
            1 => Answer::new(503, "busy"),
            _ => good(asked),
        });
        let update = update.unwrap_or_else(|error| panic!("{}: {}", vendor.name(), error.message));
        assert!(update.arrived > 0, "{}", vendor.name());
    }
}

#[test]
fn a_list_that_breaks_off_is_asked_for_again_and_never_half_believed() {
    for vendor in PriceVendor::ALL {
        let first = AtomicUsize::new(0);
        let cut = |answer: Answer| {
            let length = answer.body.len();
            Answer { body: answer.body[..length / 2].to_vec(), ..answer }.with("content-length", length)
        };
        let path = match vendor {
            PriceVendor::Aws => "/offers/v1.0/aws/AmazonEC2/20260728175247/us-east-1/index.csv",
            _ => "",
        };
        let once = answered(vendor, move |asked| {
            let is_list = path.is_empty() || asked.path == path;
            if is_list && first.fetch_add(1, Ordering::Relaxed) == 0 { cut(good(asked)) } else { good(asked) }
        });
        assert!(once.is_ok(), "{}: {once:?}", vendor.name());
        let always =
            answered(
                vendor,
                move |asked| {
                    if path.is_empty() || asked.path == path { cut(good(asked)) } else { good(asked) }
                },
            );
        assert_eq!(always.unwrap_err().kind, HttpErrorKind::Interrupted, "{}", vendor.name());
    }
}

#[test]
fn pages_that_lead_back_end_the_reading() {
    for vendor in [PriceVendor::Azure, PriceVendor::Gcp] {
        // The second page repeats the first one.
        let again = |asked: &Received| {
            let first = Received { query: Vec::new(), ..asked.clone() };
            good(&first)
        };
        let server = Server::start(again);
        let error = refreshed(vendor, "", &server, false).unwrap_err();
        assert!(error.message.contains("form a loop"), "{}", error.message);
        assert!(server.received().len() < 5);
    }
}

#[test]
fn nobody_is_followed_to_another_host() {
    for vendor in PriceVendor::ALL {
        let elsewhere = |_: &Received| Answer::new(302, "").with("location", "https://elsewhere.test/prices");
        let error = answered(vendor, elsewhere).unwrap_err();
        assert_eq!(error.kind, HttpErrorKind::Redirected, "{}", vendor.name());
    }
    let leads_away = |asked: &Received| {
        let page = good(asked);
        let text = String::from_utf8(page.body).unwrap();
        let host = format!("http://{}/", asked.header("host").unwrap());
        Answer::new(200, text.replace(&host, "https://elsewhere.test/"))
    };
    assert_eq!(answered(PriceVendor::Azure, leads_away).unwrap_err().kind, HttpErrorKind::Redirected);
}

#[test]
fn too_much_is_not_read() {
    let endless = |_: &Received| Answer::new(200, vec![b' '; 2 << 20]);
    for vendor in PriceVendor::ALL {
        assert_eq!(answered(vendor, endless).unwrap_err().kind, HttpErrorKind::TooLarge, "{}", vendor.name());
    }
}

#[test]
fn keys_stand_in_no_message() {
    for vendor in [PriceVendor::Gcp, PriceVendor::Lambda, PriceVendor::Runpod, PriceVendor::Vast] {
        let server = Server::start(|asked: &Received| {
            // A server may repeat the request in its answer.
            let sent: Vec<String> = asked.headers.iter().map(|(_, value)| value.clone()).collect();
            Answer::new(403, format!("{{\"message\": \"refused {} {KEY}\"}}", sent.join(" ")))
        });
        let error = refreshed(vendor, "", &server, false).unwrap_err();
        let shown = format!("{} {error:?}", error.message);
        assert!(!shown.contains(KEY), "{shown}");
        let asked = server.received();
        assert!(asked.iter().all(|it| !it.query.iter().any(|(_, value)| value.contains(KEY))), "a key in an address");
        assert!(asked.iter().any(|it| it.headers.iter().any(|(_, value)| value.contains(KEY))), "the key was not sent");
    }
}

#[test]
fn without_a_key_nothing_is_asked() {
    let server = Server::start(good);
    let clock = Impatient(RefCell::default());
    let access = Access {
        http: HttpSettings::default(),
        clock: &clock,
        key: None,
        aws: None,
        addresses: PriceSource::ALL.into_iter().map(|place| (place, server.url())).collect(),
        regions: Vec::new(),
        today: "2026-11-21".to_owned(),
        accept_changes: false,
        progress: &|_| {},
    };
    let error = update(PriceVendor::Gcp, &catalog(), "", &access).unwrap_err();
    assert!(error.message.contains("GCP_API_KEY"), "{}", error.message);
    assert!(server.received().is_empty());
}

/// Returns Lambda's answer with another price for its one machine, in cents.
fn priced(cents: i64) -> impl FnMut(&Received) -> Answer + Send + 'static {
    move |_| {
        let text = String::from_utf8(read("lambda/instance-types.json")).unwrap();
        Answer::new(200, text.replace("\"price_cents_per_hour\": 429", &format!("\"price_cents_per_hour\": {cents}")))
    }
}

#[test]
fn a_row_that_cannot_be_believed_leaves_the_earlier_one() {
    let server = Server::start(priced(450));
    let earlier = refreshed(PriceVendor::Lambda, "", &server, false).unwrap().text();
    for (cents, why) in [
        (1500, "the on demand price changed from $4.2900 to $15.0000"),
        (140, "the on demand price changed from $4.2900 to $1.4000"),
        (0, "$0.0000 is a placeholder"),
        (70_000, "$700.0000 is a placeholder"),
        (9_000, "$90.0000 an hour for one accelerator is impossible"),
    ] {
        let server = Server::start(priced(cents));
        let update = refreshed(PriceVendor::Lambda, &earlier, &server, false).unwrap();
        assert_eq!(update.rejected.len(), 1, "{cents}");
        assert_eq!(update.rejected[0].why, why);
        assert_eq!(usd(row(&update, "gpu_1x_h100_sxm5").on_demand), 4.5, "{cents}");
    }
    let accepted = refreshed(PriceVendor::Lambda, &earlier, &Server::start(priced(1500)), true).unwrap();
    assert_eq!(usd(row(&accepted, "gpu_1x_h100_sxm5").on_demand), 15.0);
}

#[test]
fn spot_prices_that_cannot_be_read_are_told_and_the_rest_is_kept() {
    let update = answered(PriceVendor::Aws, |asked| match asked.path.as_str() {
        "/spot.js" => Answer::new(404, "gone"),
        "/spot-advisor-data.json" => Answer::new(200, "<html>"),
        path if path.starts_with("/savingsPlan/") => Answer::new(500, "broken"),
        _ => good(asked),
    });
    let update = update.unwrap();
    assert_eq!(update.notes.len(), 3, "{:?}", update.notes);
    assert_eq!(usd(row(&update, "p5.48xlarge").on_demand), 55.04);
    assert_eq!(row(&update, "p5.48xlarge").spot, None);
}

#[test]
fn what_was_known_of_spot_holds_on_with_its_day_where_a_source_fails() {
    // With columns for spot, of which two are known.
    let known =
        KNOWN.replace("on_demand_usd_per_hour,as_of,", "on_demand_usd_per_hour,spot_usd_per_hour,spot_as_of,as_of,");
    let known = known.lines().map(|line| match line {
        header if header.starts_with("provider,") => line.to_owned(),
        p5 if p5.contains(",p5.48xlarge,") => line.replace(",55.04,", ",55.04,21.5,2026-02-03,"),
        g5 if g5.contains(",g5.xlarge,") => line.replace(",1.006,", ",1.006,0.5,2026-02-03,"),
        _ => line.replacen(",2026-01-01,", ",,,2026-01-01,", 1),
    });
    let catalog = catalog_of(&known.map(|line| line + "\n").collect::<String>());
    let renewed = |handler: fn(&Received) -> Answer| {
        refreshed_over(&catalog, PriceVendor::Aws, "", &Server::start(handler), false).unwrap()
    };
    let without_advisor = renewed(|asked| match asked.path.as_str() {
        "/spot-advisor-data.json" => Answer::new(404, "gone"),
        _ => good(asked),
    });
    let spot = |update: &Update, name: &str| {
        let row = row(update, name);
        (row.spot.map(Money::usd), row.spot_as_of.clone())
    };
    assert_eq!(spot(&without_advisor, "p5.48xlarge"), (Some(21.5), "2026-02-03".to_owned()));
    assert_eq!(spot(&without_advisor, "g5.xlarge"), (Some(0.4125), "2026-11-21".to_owned()), "the feed says it anew");
    assert_eq!(spot(&without_advisor, "p4d.24xlarge"), (None, String::new()));
    // Sources that answer without this machine mean that it is not sold on spot.
    let unnamed = renewed(|asked| match asked.path.as_str() {
        "/spot-advisor-data.json" => Answer::new(200, r#"{"spot_advisor": {}}"#),
        _ => good(asked),
    });
    assert_eq!(spot(&unnamed, "p5.48xlarge"), (None, String::new()));
}

/// Runs the program with a separate cache in a separate directory.
pub(crate) fn program(place: &Path, arguments: &[&str]) -> (String, String, i32) {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.args(arguments).current_dir(place).env("GPULINT_CACHE_DIR", place.join("cache"));
    let proxies = ["http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY"];
    for name in proxies.into_iter().chain(["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"]) {
        command.env_remove(name);
    }
    let output = command.env("LAMBDA_API_KEY", KEY).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code().unwrap())
}

pub(crate) fn empty_directory(name: &str) -> std::path::PathBuf {
    let place = std::env::temp_dir().join(format!("gpulint-refresh-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).unwrap();
    place
}

#[test]
fn the_verb_fills_the_cache_and_what_fails_leaves_it_alone() {
    let place = empty_directory("verb");
    let price = |prices: &str| {
        let (out, _, _) = program(&place, &["price", "gpu_1x_h100_sxm5", "--format", "json", "--prices", prices]);
        let rows: serde_json::Value = serde_json::from_str(&out).unwrap();
        rows[0]["on_demand_usd_per_hour"].as_f64().unwrap()
    };
    // The answer must have at least half of the machines in the embedded list.
    let machines = |cents: i64| {
        move |_: &Received| {
            let machine = |name: &str| {
                let specs = serde_json::json!({ "vcpus": 26, "memory_gib": 225, "gpus": 1 });
                let kind = serde_json::json!({ "name": name, "price_cents_per_hour": cents, "specs": specs });
                (name.to_owned(), serde_json::json!({ "instance_type": kind }))
            };
            let catalog = Catalog::embedded();
            let names = catalog.machines().filter(|it| it.provider == "lambda" && it.count == 1.0);
            let mut types: serde_json::Map<_, _> = names.map(|it| machine(&it.name)).collect();
            types.extend((0..6).map(|index| {
                let (name, mut kind) = machine(&format!("gpu_1x_new_{index}"));
                kind["instance_type"]["gpu_description"] = "H100 (80 GB SXM5)".into();
                (name, kind)
            }));
            Answer::json(200, &serde_json::json!({ "data": types }))
        }
    };
    let server = Server::start(machines(399));
    let update = |server: &Server| program(&place, &["catalog", "update", "lambda", "--mirror", &server.url()]);
    let (out, err, code) = update(&server);
    assert_eq!((err.as_str(), code), ("", 0));
    assert!(out.starts_with("lambda: "), "{out}");
    assert_eq!((price("embedded"), price("cached")), (4.29, 3.99));
    let (shown, _, _) = program(&place, &["catalog", "show", "--today", "2026-11-21"]);
    assert!(shown.contains("refreshed rows"), "{shown}");
    let kept = fs::read(place.join("cache/prices/lambda.csv")).unwrap();
    let broken = Server::start(|_: &Received| Answer::new(500, "broken"));
    let (_, err, code) = update(&broken);
    assert_eq!(code, 2);
    assert!(err.contains("earlier prices stay in use, the oldest") && !err.contains(KEY), "{err}");
    assert_eq!(fs::read(place.join("cache/prices/lambda.csv")).unwrap(), kept);
    let files: Vec<_> = fs::read_dir(place.join("cache/prices")).unwrap().collect();
    assert_eq!(files.len(), 2, "nothing half-written is left behind: {files:?}");
    fs::remove_dir_all(place).unwrap();
}
