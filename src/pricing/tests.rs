//! Tests of bills.

use crate::catalog::{Catalog, Money, MoneyRange};
use crate::inventory::{
    BillingRole, CountedIn, DiskSpeed, Fact, FactOrigin, FactValue, Inventory, Key, MachineDisk, Range, ReadBy,
    Resource, UnknownFact, Volume,
};
use crate::resolve::{Defaults, OmittedResources, ResourceFilter, complete_machines};
use crate::source::{MemoryTree, SourceFiles, Span};

use super::{
    Bill, BillItem, Contract, ContractTerms, CostScenario, Owned, Period, PricedRun, PricingSettings, Purchased,
    Status, Usage, bill,
};

/// Returns a catalog of two machines. The price of the first one has no verified source.
fn with_an_unverified_row() -> Catalog {
    let file = |stem, text| crate::catalog::CsvFile { path: stem, stem, text };
    let prices = "provider,machine,region,accelerator,accelerator_count,vcpus,memory_gib,on_demand_usd_per_hour,\
                  spot_usd_per_hour,as_of,spot_as_of,source,confidence\n\
                  aws,p9.48xlarge,us-east-1,H100-80GB,8,8,64,100,40,2026-01-01,2026-01-01,a recollection,unverified\n\
                  aws,p9.6xlarge,us-east-1,H100-80GB,1,8,64,10,4,2026-01-01,2026-01-01,a price list,high\n";
    let tables = [
        file("accelerators", "accelerator,vendor,kind,memory_gib\nH100-80GB,nvidia,gpu,80\n"),
        file("prices", prices),
        file("regions", "provider,region,base_region,index\naws,us-east-1,us-east-1,1\naws,eu-west-1,us-east-1,1.1\n"),
    ];
    Catalog::from_tables(&tables).unwrap()
}

#[test]
fn a_row_that_nobody_verified_is_told_and_enters_no_sum() {
    let catalog = with_an_unverified_row();
    for region in ["us-east-1", "eu-west-1"] {
        for purchase in ["on-demand", "spot", "mixed", "reserved", "spot-or-on-demand", "capacity-block"] {
            let machine = |name: &str| {
                let facts =
                    [(Key::Provider, "aws"), (Key::Region, region), (Key::Machine, name), (Key::Purchase, purchase)];
                let mut resource = rented(&facts);
                resource.count = Fact::written(Range::exactly(1.0), span());
                resource
            };
            let sums = |resources: Vec<Resource>| {
                let mut inventory = Inventory { resources, ..Inventory::default() };
                complete_machines(&mut inventory, &catalog, &PricingSettings::default().defaults);
                let bill = bill(&inventory, &catalog, &PricingSettings::default());
                let endings = bill.endings(&inventory);
                (bill, endings)
            };
            let (alone, ends_alone) = sums(vec![machine("p9.6xlarge")]);
            assert!(alone.items[0].amount.unwrap().expected > Money::ZERO, "{purchase}");
            let (both, both_end) = sums(vec![machine("p9.48xlarge"), machine("p9.6xlarge")]);
            let (known, known_alone) = (both.rented.minimum(), alone.rented.minimum());
            assert_eq!((known, both_end, both.unpriced()), (known_alone, ends_alone, 1), "{region} {purchase}");
            let why = "the only price of p9.48xlarge is unverified: $100.00/h (a recollection), not added";
            let Status::Unpriced(told) = &both.items[0].status else { panic!("{:?}", both.items[0]) };
            assert!(told.contains(why), "{region} {purchase}: {told}");
        }
    }
}

fn span() -> Span {
    let sources = SourceFiles::new(MemoryTree::new().with("a.tf", "text"));
    Span::new(sources.open("a.tf").unwrap(), 0, 4)
}

fn resource(role: BillingRole, facts: &[(Key, &str)]) -> Resource {
    let mut resource = Resource::new(ReadBy::Terraform, role, "kind", "kind.name", span(), span());
    for (key, value) in facts {
        resource.set(*key, Fact::written(FactValue::text(*value), span()));
    }
    resource
}

fn rented(facts: &[(Key, &str)]) -> Resource {
    resource(BillingRole::Rented, facts)
}

fn pod(facts: &[(Key, &str)]) -> Resource {
    resource(BillingRole::Requested, facts)
}

fn priced(resources: Vec<Resource>) -> (Inventory, Bill, OmittedResources) {
    let catalog = Catalog::examples();
    let mut inventory = Inventory { resources, ..Inventory::default() };
    let left_out = complete_machines(&mut inventory, &catalog, &PricingSettings::default().defaults);
    let before = format!("{:?}", inventory.resources);
    complete_machines(&mut inventory, &catalog, &PricingSettings::default().defaults);
    assert_eq!(before, format!("{:?}", inventory.resources), "completing twice changes nothing");
    let bill = bill(&inventory, &catalog, &PricingSettings::default());
    (inventory, bill, left_out)
}

fn one(resource: Resource) -> (Resource, BillItem) {
    let (inventory, bill, _) = priced(vec![resource]);
    (inventory.resources[0].clone(), bill.items[0].clone())
}

fn hourly(item: &BillItem) -> (f64, f64, f64) {
    let range = item.per_hour.unwrap_or_else(|| panic!("{item:#?}"));
    (range.floor.usd(), range.expected.usd(), range.ceiling.usd())
}

#[test]
fn a_machine_tells_its_accelerators_and_its_price() {
    let mut instance = rented(&[(Key::Machine, "P5.48xlarge"), (Key::Region, "us-west-2b"), (Key::Purchase, "spot")]);
    instance.count = Fact::written(Range { floor: 0.0, expected: 2.0, ceiling: 4.0 }, span());
    let (instance, item) = one(instance);
    assert_eq!(instance.text(Key::Provider), Some("aws"));
    assert_eq!(instance.text(Key::Region), Some("us-west-2"));
    assert_eq!(instance.text(Key::Accelerator), Some("H100-80GB"));
    assert_eq!(instance.number(Key::AcceleratorCount), Some(8.0));
    assert_eq!(instance.number(Key::AcceleratorMemory), Some(80.0));
    // The list contains only us-east-1. The index gives us-west-2 the same price.
    assert!(matches!(item.status, Status::Estimated(_)), "{item:?}");
    // Spot prices do not follow the index.
    assert_eq!(hourly(&item), (9.6, 32.0, 80.0));
    let monthly = item.monthly.unwrap();
    assert_eq!(
        (monthly.floor.usd(), monthly.expected.usd(), monthly.ceiling.usd()),
        (0.0, 32.0 * 2.0 * 730.0, 80.0 * 4.0 * 730.0)
    );
    assert_eq!(item.amount_if[&CostScenario::OnDemand].expected.usd(), 80.0 * 2.0 * 730.0);
}

#[test]
fn machines_without_accelerators_are_dropped_and_unknown_ones_counted() {
    let mut unknown = rented(&[(Key::Provider, "aws")]);
    unknown.set(Key::Machine, Fact::unknown("variable `size` has no value", span()));
    let mut gpu_pool = unknown.clone();
    gpu_pool.address = "aws_eks_node_group.gpu".into();
    let plain = rented(&[(Key::Provider, "aws"), (Key::Machine, "m5.large")]);
    let host = rented(&[(Key::Provider, "gcp"), (Key::Machine, "n1-standard-4")]);
    let future = rented(&[(Key::Provider, "aws"), (Key::Machine, "p7.48xlarge")]);
    let (inventory, bill, left_out) = priced(vec![unknown, gpu_pool, plain, host, future]);
    let kept: Vec<_> = inventory.resources.iter().map(|it| it.address.as_str()).collect();
    assert_eq!(kept, ["aws_eks_node_group.gpu", "kind.name"]);
    assert_eq!(left_out.unknown_machines.len(), 1);
    assert_eq!(bill.unpriced(), 2);
    assert!(matches!(&bill.items[1].status, Status::Unpriced(why) if why.contains("p7.48xlarge")));
}

#[test]
fn accelerators_named_beside_a_machine_that_has_them_add_nothing() {
    let guest = |machine: &str, accelerator: &str, count: &str| {
        one(rented(&[
            (Key::Provider, "gcp"),
            (Key::Region, "us-central1-a"),
            (Key::Machine, machine),
            (Key::Accelerator, accelerator),
            (Key::AcceleratorCount, count),
        ]))
    };
    let (resource, item) = guest("g2-standard-4", "nvidia-l4", "1");
    assert_eq!(hourly(&item).1, 0.7);
    assert_eq!(resource.text(Key::Impossible), None);
    let (resource, item) = guest("n1-standard-4", "nvidia-tesla-t4", "2");
    // The price is 4 x 0.03 + 15 x 0.004 + 2 x 0.35.
    assert_eq!(hourly(&item).1, 0.88);
    assert_eq!(resource.number(Key::Cpus), Some(4.0));
    for (machine, accelerator, count) in [
        ("n1-standard-8", "nvidia-tesla-a100", "1"),
        ("a2-highgpu-1g", "nvidia-tesla-t4", "1"),
        ("g2-standard-4", "nvidia-l4", "2"),
        ("e2-standard-4", "nvidia-tesla-t4", "1"),
        ("n1-standard-4", "nvidia-tesla-t4", "3"),
    ] {
        let (resource, item) = guest(machine, accelerator, count);
        assert!(resource.text(Key::Impossible).is_some(), "{machine} {accelerator} {count}");
        assert!(matches!(item.status, Status::Unpriced(_)));
    }
}

#[test]
fn a_pool_of_several_machines_costs_a_range() {
    let mut pool = rented(&[(Key::Provider, "aws"), (Key::Region, "us-east-1"), (Key::Purchase, "on-demand")]);
    let candidates = ["m5.large", "g5.2xlarge", "g5.xlarge", "g5.12xlarge"].map(FactValue::text).to_vec();
    pool.set(Key::Machine, Fact::Unknown(UnknownFact { span: span(), why: "one of 4".into(), candidates }));
    let (pool, item) = one(pool);
    assert_eq!(pool.text(Key::Accelerator), Some("A10G"));
    assert!(pool.fact(Key::AcceleratorCount).is_unknown());
    assert_eq!(hourly(&item), (1.0, 1.25, 5.0));
}

#[test]
fn a_mixed_pool_costs_the_average_of_its_machines() {
    let mut pool = rented(&[
        (Key::Provider, "aws"),
        (Key::Region, "us-east-1"),
        (Key::Machine, "g5.xlarge"),
        (Key::Purchase, "mixed"),
        (Key::OnDemandBase, "1"),
        (Key::SpotShare, "0.5"),
    ]);
    pool.count = Fact::written(Range::exactly(5.0), span());
    let (_, item) = one(pool);
    // One machine is on demand, and half of the other four are on spot: 1 + 2 x 1 + 2 x 0.4.
    assert_eq!(item.monthly.unwrap().expected.usd(), 3.8 * 730.0);
}

#[test]
fn a_pod_pays_its_largest_share_of_the_machine() {
    let by_cpu = pod(&[
        (Key::Provider, "aws"),
        (Key::Region, "us-east-1"),
        (Key::Machine, "g5.12xlarge"),
        (Key::AcceleratorCount, "1"),
        (Key::Cpus, "24"),
    ]);
    let (by_cpu, item) = one(by_cpu);
    assert_eq!(by_cpu.text(Key::Accelerator), Some("A10G"));
    assert_eq!(hourly(&item).1, 2.5);
    let slice = pod(&[
        (Key::Provider, "gcp"),
        (Key::Region, "us-central1"),
        (Key::Slice, "1g.5gb"),
        (Key::AcceleratorCount, "2"),
    ]);
    let (slice, item) = one(slice);
    assert_eq!(slice.text(Key::Accelerator), Some("A100-40GB"));
    assert!((hourly(&item).1 - 4.0 * 2.0 / 7.0).abs() < 1e-5);
}

#[test]
fn a_pod_without_a_provider_costs_between_the_clouds() {
    let (_, item) = one(pod(&[(Key::Accelerator, "NVIDIA-A100-SXM4-80GB"), (Key::AcceleratorCount, "1")]));
    assert!(matches!(&item.status, Status::Estimated(_)));
    // The price is 5.00 in gcp, and 32 / 8 in aws and azure.
    assert_eq!(hourly(&item), (4.0, 4.0, 5.0));
}

#[test]
fn regions_and_providers_that_are_assumed_say_so() {
    let catalog = Catalog::examples();
    let settings = PricingSettings {
        defaults: Defaults { region: Some("eu-west-1".into()), ..Defaults::default() },
        ..PricingSettings::default()
    };
    let mut inventory = Inventory { resources: vec![rented(&[(Key::Machine, "g5.xlarge")])], ..Inventory::default() };
    complete_machines(&mut inventory, &catalog, &settings.defaults);
    let region = inventory.resources[0].fact(Key::Region);
    assert_eq!(region.value().and_then(FactValue::as_text), Some("eu-west-1"));
    assert!(matches!(region.origin(), Some(FactOrigin::Assumed(_))));
    let bill = bill(&inventory, &catalog, &settings);
    assert_eq!(hourly(&bill.items[0]).1, 1.1);
}

#[test]
fn a_discount_lowers_list_prices_and_not_own_ones() {
    let settings = PricingSettings { discounts: [("aws".to_owned(), 0.1)].into(), ..PricingSettings::default() };
    let text = "provider,machine,on_demand_usd_per_hour\naws,p4d.24xlarge,20\n";
    let catalog = Catalog::examples().with_prices("own.csv", text).unwrap();
    let resources = vec![
        rented(&[(Key::Machine, "g5.xlarge"), (Key::Region, "us-east-1")]),
        rented(&[(Key::Machine, "p4d.24xlarge"), (Key::Region, "us-east-1")]),
    ];
    let mut inventory = Inventory { resources, ..Inventory::default() };
    complete_machines(&mut inventory, &catalog, &settings.defaults);
    let bill = bill(&inventory, &catalog, &settings);
    assert_eq!(hourly(&bill.items[0]).1, 0.9);
    assert_eq!(hourly(&bill.items[1]).1, 20.0);
}

#[test]
fn without_a_limit_the_ceiling_is_what_is_expected() {
    let mut pool = rented(&[(Key::Machine, "g5.xlarge"), (Key::Region, "us-east-1")]);
    pool.count = Fact::written(Range { floor: 0.0, expected: 3.0, ceiling: f64::INFINITY }, span());
    let (_, item) = one(pool);
    assert_eq!(item.monthly.unwrap().ceiling.usd(), 3.0 * 730.0);
}

#[test]
fn pods_on_tpus_and_attached_accelerators_have_a_price() {
    let tpu = [(Key::Provider, "gcp"), (Key::Accelerator, "tpu-v5-lite-podslice"), (Key::AcceleratorCount, "4")];
    assert_eq!(hourly(&one(pod(&tpu)).1).1, 4.8);
    let t4 =
        [(Key::Provider, "gcp"), (Key::Accelerator, "nvidia-tesla-t4"), (Key::AcceleratorCount, "1"), (Key::Cpus, "3")];
    // The smallest N1 machine that fits has 4 CPUs: 4 x 0.03 + 15 x 0.004 + 0.35.
    assert_eq!(hourly(&one(pod(&t4)).1).1, 0.53);
}

#[test]
fn a_pod_that_names_only_a_vendor_may_mean_any_of_its_accelerators() {
    let (_, item) = one(pod(&[(Key::Provider, "aws"), (Key::Vendor, "aws"), (Key::AcceleratorCount, "1")]));
    // The price is 0.80 on inf2.xlarge and 1.50 on trn1.2xlarge.
    assert_eq!(hourly(&item), (0.8, 0.8, 1.5));
    let (_, item) = one(pod(&[(Key::Provider, "aws"), (Key::Vendor, "acme"), (Key::AcceleratorCount, "1")]));
    assert_eq!(item.status, Status::Unpriced("the catalog lists no accelerators of acme".into()));
}

#[test]
fn a_pod_without_a_machine_is_priced_where_its_share_costs_least() {
    let (_, item) = one(pod(&[
        (Key::Provider, "aws"),
        (Key::Region, "us-east-1"),
        (Key::Accelerator, "A10G"),
        (Key::AcceleratorCount, "1"),
        (Key::Memory, "100"),
    ]));
    // The pod takes 100 / 768 GiB of g5.48xlarge for 15.00; a whole g5.8xlarge costs 2.50.
    assert_eq!(hourly(&item).1, 15.0 * 100.0 / 768.0);
}

fn with(settings: PricingSettings, resource: Resource) -> BillItem {
    let catalog = Catalog::examples();
    let mut inventory = Inventory { resources: vec![resource], ..Inventory::default() };
    complete_machines(&mut inventory, &catalog, &settings.defaults);
    bill(&inventory, &catalog, &settings).items.remove(0)
}

fn g5() -> Resource {
    rented(&[(Key::Machine, "g5.xlarge"), (Key::Region, "us-east-1")])
}

#[test]
fn one_run_costs_its_hours_whatever_a_month_costs() {
    let mut two = g5();
    two.count = Fact::written(Range::exactly(2.0), span());
    assert_eq!(with(PricingSettings::default(), two.clone()).run, None);
    // The job runs for at most two hours on two machines of a dollar an hour.
    two.set(Key::TimeLimit, Fact::written(FactValue::Integer(7200), span()));
    let run = with(PricingSettings::default(), two.clone()).run.unwrap();
    let usd = |run: &PricedRun| (run.amount.floor.usd(), run.amount.expected.usd(), run.amount.ceiling.usd());
    assert_eq!(usd(&run), (0.0, 4.0, 4.0));
    // The settings are more precise than a time limit.
    let usage = vec![Usage { runs_per_month: Some(10.0), hours_per_run: Some(1.5), ..Usage::default() }];
    let item = with(PricingSettings { usage, ..PricingSettings::default() }, two);
    assert_eq!(usd(&item.run.unwrap()), (3.0, 3.0, 3.0));
    assert_eq!(item.monthly.unwrap().expected.usd(), 30.0);
}

#[test]
fn usage_and_time_limits_say_how_many_hours_it_runs() {
    let usage = |hours, runs, each| Usage {
        about: ResourceFilter { address: Some("kind.*".into()), label: None },
        hours_per_month: hours,
        runs_per_month: runs,
        hours_per_run: each,
    };
    let with_usage =
        |usage, resource| with(PricingSettings { usage: vec![usage], ..PricingSettings::default() }, resource);
    assert_eq!(with_usage(usage(Some(220.0), None, None), g5()).monthly.unwrap().floor.usd(), 220.0);
    assert_eq!(with_usage(usage(None, Some(20.0), Some(1.5)), g5()).monthly.unwrap().ceiling.usd(), 30.0);
    let mut job = g5();
    job.set(Key::EndsByItself, Fact::written(FactValue::Flag(true), span()));
    job.set(Key::TimeLimit, Fact::written(FactValue::Integer(7200), span()));
    // A job has a price per run and no monthly price.
    let item = with(PricingSettings::default(), job.clone());
    let run = item.amount.unwrap();
    assert_eq!((item.per, item.monthly), (Period::Run, None));
    assert_eq!((run.floor.usd(), run.expected.usd(), run.ceiling.usd()), (0.0, 2.0, 2.0));
    assert_eq!(with_usage(usage(None, Some(10.0), None), job.clone()).monthly.unwrap().expected.usd(), 20.0);
    // A limit of years can fill the whole month.
    job.set(Key::TimeLimit, Fact::written(FactValue::Integer(100_000_000), span()));
    let monthly = with(PricingSettings::default(), job).monthly.unwrap();
    assert_eq!((monthly.floor.usd(), monthly.expected.usd(), monthly.ceiling.usd()), (0.0, 730.0, 730.0));
    let mut nightly = g5();
    nightly.set(Key::Cron, Fact::written(FactValue::text("0 0 * * *"), span()));
    nightly.set(Key::TimeLimit, Fact::written(FactValue::Integer(7200), span()));
    // A month has 730 / 24 nights of two hours.
    let monthly = with(PricingSettings::default(), nightly.clone()).monthly.unwrap();
    assert!((monthly.expected.usd() - 730.0 / 12.0).abs() < 1e-4, "{monthly:?}");
    // The number of runs is known, and their length is not.
    nightly.set(Key::TimeLimit, Fact::Absent);
    let item = with(PricingSettings::default(), nightly);
    assert_eq!((item.per, item.monthly, item.amount.unwrap().expected.usd()), (Period::Hour, None, 1.0));
    let mut idle = g5();
    idle.set(Key::IdleMinutes, Fact::written(FactValue::Integer(60), span()));
    let monthly = with(PricingSettings::default(), idle).monthly.unwrap();
    assert_eq!((monthly.floor.usd(), monthly.ceiling.usd()), (0.0, 730.0));
}

#[test]
fn contracts_lower_the_price_on_demand() {
    let contract = |terms| Contract {
        way: CostScenario::OnDemand,
        provider: "aws".into(),
        machine: String::new(),
        accelerator: "A10*".into(),
        region: "us-*".into(),
        terms,
    };
    let item = |terms| with(PricingSettings { contracts: vec![contract(terms)], ..PricingSettings::default() }, g5());
    assert_eq!(hourly(&item(ContractTerms::Discount(0.25))).1, 0.75);
    let by_rate = item(ContractTerms::Rate(Money::from_usd(0.6)));
    assert_eq!(hourly(&by_rate).1, 0.6);
    assert_eq!(by_rate.amount_if[&CostScenario::Spot].expected.usd(), 0.4 * 730.0);
    let elsewhere = rented(&[(Key::Machine, "g5.xlarge"), (Key::Region, "eu-west-1")]);
    let settings =
        PricingSettings { contracts: vec![contract(ContractTerms::Discount(0.25))], ..PricingSettings::default() };
    assert_eq!(hourly(&with(settings, elsewhere)).1, 1.1);
}

#[test]
fn owned_hardware_costs_its_purchase_and_its_power() {
    let purchased = Purchased {
        usd: 350_400.0,
        accelerators: 8.0,
        years: 5.0,
        watts: 10_000.0,
        usd_per_kwh: 0.2,
        utilization: 0.8,
        ..Purchased::default()
    };
    let owned = Owned::purchased("H100*", purchased).unwrap();
    // The price is (350,400 / (5 x 8,760 x 0.8) + 10 x 0.2) / 8.
    assert_eq!(owned.per_accelerator_hour.usd(), 1.5);
    assert!(Owned::purchased("*", Purchased { years: 0.0, ..purchased }).is_none());
    let settings = PricingSettings {
        owned: vec![owned],
        defaults: Defaults { provider: Some("on-prem".into()), ..Defaults::default() },
        ..PricingSettings::default()
    };
    let pod = pod(&[(Key::Accelerator, "H100"), (Key::AcceleratorCount, "4"), (Key::Purchase, "on-prem")]);
    let item = with(settings.clone(), pod);
    // The pod uses four of eight accelerators all month: fixed costs count once, and power counts each hour.
    assert_eq!(item.per_hour.map(|it| it.expected.usd()), Some(6.0), "{item:#?}");
    assert_eq!(item.amount.map(|it| it.expected.usd()), Some((5_840.0 + 730.0 * 2.0) / 2.0), "{item:#?}");
    let other = resource(BillingRole::Requested, &[(Key::Accelerator, "A100-80GB"), (Key::AcceleratorCount, "1")]);
    assert!(matches!(with(settings, other).status, Status::Unpriced(_)));
}

#[test]
fn disks_are_a_line_of_their_own() {
    let disk = |gib: Fact<FactValue>, kind: Option<&str>, disks: f64| MachineDisk {
        gib,
        kind: kind.map_or(Fact::Absent, |kind| Fact::written(FactValue::text(kind), span())),
        count: Fact::written(FactValue::Number(disks), span()),
        speed: DiskSpeed::default(),
    };
    let size = |gib: f64| Fact::written(FactValue::Number(gib), span());
    let mut machine = g5();
    machine.disks = vec![disk(size(500.0), None, 1.0), disk(size(50.0), Some("gp3"), 4.0)];
    machine.count = Fact::written(Range { floor: 0.0, expected: 2.0, ceiling: f64::INFINITY }, span());
    let (_, bill, _) = priced(vec![machine]);
    // The cost is 0.1 x (500 + 4 x 50) x 2 machines.
    assert_eq!(
        bill.attached.minimum(),
        MoneyRange { floor: Money::ZERO, ..MoneyRange::exactly(Money::from_usd(140.0)) }
    );
    assert_eq!(bill.rented.minimum().expected.usd(), 2.0 * 730.0);
    // These disks are sold by size: 200 GiB cost as much as 1024 GiB.
    let mut azure = rented(&[(Key::Machine, "Standard_NC24ads_A100_v4"), (Key::Region, "eastus")]);
    azure.disks = vec![disk(size(200.0), None, 1.0)];
    assert_eq!(priced(vec![azure]).1.attached.minimum().expected.usd(), 100.0);
    let mut open = g5();
    open.disks = vec![disk(Fact::unknown("the image sets it", span()), None, 1.0), disk(size(10.0), Some("tape"), 1.0)];
    let attached = one(open).1.attached.unwrap();
    assert_eq!(attached.monthly, MoneyRange::ZERO);
    let why =
        ["the size of a disk is unknown: the image sets it", "a disk of 10 GiB of tape has no price in the catalog"];
    assert_eq!(attached.not_known, why);
    // The operations of an io2 disk are billed separately, so its size alone gives the minimum cost.
    let mut fast = g5();
    fast.disks = vec![disk(size(100.0), Some("io2"), 2.0), disk(size(50.0), Some("io2"), 1.0)];
    let attached = one(fast).1.attached.unwrap();
    assert_eq!(attached.known().map(|known| known.expected.usd()), Some(50.0));
    assert_eq!(attached.not_known, ["the IOPS of io2 disks has a separate price, and is not set"]);
    let mut known = g5();
    known.disks = vec![disk(size(100.0), Some("gp3"), 2.0)];
    known.disks[0].speed = DiskSpeed { iops: size(6000.0), throughput: size(125.0) };
    let attached = one(known).1.attached.unwrap();
    // The cost is 2 x (100 x 0.1 + 3,000 x 0.005); 125 MiB/s are included.
    assert_eq!((attached.monthly.expected.usd(), attached.not_known.len()), (50.0, 0), "{attached:#?}");
}

#[test]
fn a_volume_of_several_resources_counts_once() {
    let volume = |name: &str, gib: f64, is_unused| Volume {
        name: name.into(),
        disk: MachineDisk {
            gib: Fact::written(FactValue::Number(gib), span()),
            kind: Fact::written(FactValue::text("gp3"), span()),
            count: Fact::Absent,
            speed: DiskSpeed::default(),
        },
        is_unused,
    };
    let mut machine = g5();
    machine.count = Fact::written(Range::exactly(4.0), span());
    machine.volumes = vec![volume("data", 100.0, false)];
    machine.nearby_volumes = [volume("old", 50.0, true), volume("files", 10.0, false)].into();
    let (inventory, bill, _) = priced(vec![machine.clone(), machine]);
    // 100 GiB at 0.1, for four machines and a second resource together.
    assert_eq!(bill.attached.minimum(), MoneyRange::exactly(Money::from_usd(10.0)));
    let attached = bill.items[0].attached.clone().unwrap();
    assert_eq!((attached.of_machines, attached.unused()), (MoneyRange::ZERO, Some(Money::from_usd(5.0))));
    assert_eq!(bill.items[1].attached, None);
    let unused = inventory.resources[0].fact(Key::UnusedDisks).value().map(ToString::to_string);
    assert_eq!(unused.as_deref(), Some("old (50 GiB)"));
    assert!(inventory.resources[1].fact(Key::UnusedDisks).is_absent());
}

#[test]
fn the_maximum_of_cpus_is_the_cost_of_one_machine_type() {
    let names = ["g5", "p3.2xlarge", "g5.48xlarge"].map(FactValue::text).to_vec();
    let mut environment = rented(&[(Key::Provider, "aws"), (Key::Region, "us-east-1"), (Key::Purchase, "on-demand")]);
    let one_of = UnknownFact { span: span(), why: "one of several".into(), candidates: names };
    environment.set(Key::Machine, Fact::Unknown(one_of));
    environment.count = Fact::written(Range { floor: 16.0, expected: 16.0, ceiling: 96.0 }, span());
    environment.counted_in = CountedIn::Cpus;
    let monthly = one(environment).1.monthly.unwrap();
    // The minimum is one g5.4xlarge. 12 p3.2xlarge at 3 are the most expensive 96 CPUs; a g5.48xlarge has more CPUs than that.
    assert_eq!(monthly.floor.usd(), 1.5 * 730.0);
    assert_eq!(monthly.ceiling.usd(), 12.0 * 3.0 * 730.0);
}

#[test]
fn what_is_reserved_is_called_what_it_is() {
    let bought = |purchase: &str| {
        one(rented(&[(Key::Machine, "p5.48xlarge"), (Key::Region, "us-east-1"), (Key::Purchase, purchase)])).1
    };
    let said = |item: &BillItem| item.steps.iter().map(|step| step.text.clone()).collect::<Vec<_>>().join("\n");
    let held = bought("capacity-reservation");
    assert_eq!((hourly(&held), held.status.clone()), ((80.0, 80.0, 80.0), Status::Priced));
    assert!(!said(&held).contains("for a year"), "{}", said(&held));
    // The length of the commitment is unknown.
    let reserved = bought("reserved");
    assert_eq!(hourly(&reserved), (0.0, 80.0, 80.0));
    assert!(matches!(reserved.status, Status::Estimated(_)) && !said(&reserved).contains("reserved for"));
    let committed = |years| Contract {
        way: CostScenario::OnDemand,
        provider: "aws".into(),
        machine: "p5.*".into(),
        accelerator: String::new(),
        region: String::new(),
        terms: ContractTerms::Committed(years),
    };
    for (years, price) in [(1.0, 48.0), (3.0, 40.0)] {
        for purchase in ["on-demand", "capacity-reservation", "reserved"] {
            let machine =
                rented(&[(Key::Machine, "p5.48xlarge"), (Key::Region, "us-east-1"), (Key::Purchase, purchase)]);
            let item =
                with(PricingSettings { contracts: vec![committed(years)], ..PricingSettings::default() }, machine);
            assert_eq!(hourly(&item), (price, price, price), "{purchase} {years}");
            assert!(said(&item).contains("by contract"), "{}", said(&item));
        }
    }
    let host = bought("dedicated-host");
    assert!(matches!(&host.status, Status::Unpriced(why) if why.contains("dedicated host")), "{host:?}");
}

#[test]
fn a_highest_price_bounds_spot() {
    let limited = |most: f64| {
        let mut machine = g5();
        machine.set(Key::Purchase, Fact::written(FactValue::text("spot"), span()));
        machine.set(Key::MaxPrice, Fact::written(FactValue::Number(most), span()));
        one(machine).1
    };
    assert_eq!(hourly(&limited(0.5)), (0.4, 0.4, 0.4));
    // The machine runs only while spot is cheaper.
    assert_eq!(hourly(&limited(0.3)), (0.0, 0.3, 0.3));
    assert!(matches!(&limited(0.3).status, Status::Estimated(why) if why.contains("limit the price to $0.30")));
    // The value `-1` does not limit the spot price.
    assert_eq!(hourly(&limited(-1.0)), (0.4, 0.4, 0.4));
}

#[test]
fn capacity_blocks_have_a_price_of_their_own() {
    let block = |machine: &str| {
        one(rented(&[(Key::Machine, machine), (Key::Region, "us-east-1"), (Key::Purchase, "capacity-block")])).1
    };
    assert_eq!(hourly(&block("p5.48xlarge")), (60.0, 60.0, 60.0));
    // The capacity block has no list price, so its price is between spot and on demand.
    assert_eq!(hourly(&block("p4d.24xlarge")), (9.6, 24.0, 24.0));
}

#[test]
fn prices_of_another_currency_are_converted_at_the_stated_rate() {
    let text = "machine,on_demand_usd_per_hour\ng5.xlarge,2\n";
    let catalog = Catalog::examples().with_prices_at("own.csv", text, Some(1.25)).unwrap();
    let machine = catalog.machine("aws", "g5.xlarge").unwrap();
    assert_eq!(catalog.quote(&machine, "us-east-1").unwrap().on_demand, Some(Money::from_usd(2.5)));
}

#[test]
fn old_prices_are_marked() {
    let settings = |today: &str| PricingSettings { today: Some(today.parse().unwrap()), ..PricingSettings::default() };
    assert_eq!(with(settings("2026-06-30"), g5()).stale, None);
    let why = with(settings("2026-07-01"), g5()).stale.unwrap();
    assert_eq!(why, "the price of g5.xlarge of aws is dated 2026-01-01, and hyperscaler prices are valid for 180 days");
    let mut spot = g5();
    spot.set(Key::Purchase, Fact::written(FactValue::text("spot"), span()));
    assert!(with(settings("2026-01-16"), spot).stale.is_some());
    assert_eq!(with(PricingSettings::default(), g5()).stale, None);
}

#[test]
fn accelerators_without_a_machine_cost_what_the_cheapest_machine_with_them_does() {
    let mut pool = rented(&[(Key::Provider, "gcp"), (Key::Region, "us-central1"), (Key::Accelerator, "nvidia-l4")]);
    pool.counted_in = CountedIn::Accelerators;
    pool.count = Fact::written(Range { floor: 0.0, expected: 0.0, ceiling: 16.0 }, span());
    let (pool, item) = one(pool);
    assert_eq!(pool.count.value().map(|count| count.ceiling), Some(16.0));
    assert_eq!(hourly(&item).1, 0.7);
    assert_eq!(item.monthly.unwrap().ceiling, Money::from_usd(16.0 * 0.7 * 730.0));
}

#[test]
fn a_number_of_accelerators_that_may_be_none_is_no_evidence() {
    let mut service = rented(&[(Key::Provider, "gcp")]);
    service.set(Key::AcceleratorCount, Fact::unknown("variable `gpus` has no value", span()));
    let (inventory, _, left_out) = priced(vec![service]);
    assert!(inventory.resources.is_empty());
    assert_eq!(left_out.unknown_machines.len(), 1);
}

#[test]
fn a_family_may_be_any_of_its_machines_from_the_cheapest_up() {
    let mut pool = rented(&[(Key::Provider, "aws"), (Key::Region, "us-east-1")]);
    let candidates = vec![FactValue::text("g5.*")];
    pool.set(Key::Machine, Fact::Unknown(UnknownFact { span: span(), why: "any g5".into(), candidates }));
    assert_eq!(hourly(&one(pool).1), (1.0, 1.0, 15.0));
}

#[test]
fn a_pod_larger_than_any_machine_says_so() {
    let (_, item) = one(pod(&[(Key::Provider, "aws"), (Key::AcceleratorCount, "16"), (Key::Accelerator, "H100")]));
    assert_eq!(item.status, {
        let why = "the pod requests 16 accelerators, but no machine of aws with H100-80GB has more than 8: the pod never starts";
        Status::Unpriced(why.into())
    });
}

#[test]
fn shared_accelerators_are_paid_by_part_and_stranded_ones_are_told() {
    let pod_on = |facts: &[(Key, &str)]| {
        let mut all = vec![(Key::Provider, "aws"), (Key::Region, "us-east-1"), (Key::Machine, "g5.12xlarge")];
        all.extend(facts);
        one(pod(&all)).1
    };
    // The share is a quarter of one of four accelerators: 5 / 4 / 4.
    let shared = pod_on(&[(Key::AcceleratorCount, "1"), (Key::SharedBy, "4")]);
    assert_eq!((hourly(&shared).1, shared.stranded), (0.3125, 0.0));
    assert!(shared.steps.iter().any(|step| step.text == "0.25 of its 4 accelerators (4 pods share each)"));
    // The pod takes half of the CPUs and one of four accelerators, so one more accelerator cannot be used.
    let by_cpu = pod_on(&[(Key::AcceleratorCount, "1"), (Key::Cpus, "24")]);
    assert_eq!((hourly(&by_cpu).1, by_cpu.stranded), (2.5, 1.0));
    let told = by_cpu.steps.iter().any(|step| step.text.contains("so 1 of 4 accelerators stay unused"));
    assert!(told, "{:#?}", by_cpu.steps);
}

#[test]
fn whoever_rents_gets_a_machine_of_that_size_and_a_pod_a_part_of_the_cheapest() {
    let text = "provider,machine,accelerator,accelerator_count,on_demand_usd_per_hour\n\
                lambda,half,A100-80GB,4,9\nlambda,whole,A100-80GB,8,16\n";
    let catalog = Catalog::examples().with_prices("own.csv", text).unwrap();
    let facts = [(Key::Provider, "lambda"), (Key::Accelerator, "A100-80GB"), (Key::AcceleratorCount, "4")];
    let costs = |resource: Resource| {
        let mut inventory = Inventory { resources: vec![resource], ..Inventory::default() };
        complete_machines(&mut inventory, &catalog, &PricingSettings::default().defaults);
        hourly(&bill(&inventory, &catalog, &PricingSettings::default()).items[0]).1
    };
    assert_eq!(costs(rented(&facts)), 9.0);
    assert_eq!(costs(pod(&facts)), 8.0);
}

#[test]
fn a_part_of_a_device_is_one_to_whoever_asks_for_it() {
    let text = "provider,machine,accelerator,accelerator_count,on_demand_usd_per_hour\ngcp,g9-half,L4,0.5,1\n";
    let catalog = Catalog::examples().with_prices("own.csv", text).unwrap();
    let impossible = |count: &str| {
        let facts = [
            (Key::Provider, "gcp"),
            (Key::Machine, "g9-half"),
            (Key::Accelerator, "L4"),
            (Key::AcceleratorCount, count),
        ];
        let mut inventory = Inventory { resources: vec![rented(&facts)], ..Inventory::default() };
        complete_machines(&mut inventory, &catalog, &PricingSettings::default().defaults);
        let machine = &inventory.resources[0];
        assert_eq!(machine.number(Key::AcceleratorCount), Some(0.5));
        machine.text(Key::Impossible).map(str::to_owned)
    };
    assert_eq!(impossible("1"), None);
    assert_eq!(impossible("2"), Some("g9-half carries 0.5 L4, not 2".to_owned()));
}

#[test]
fn what_only_an_unseen_template_would_tell_is_no_evidence() {
    let mut machine = rented(&[(Key::Provider, "gcp")]);
    let unseen = || Fact::unknown("the template that it uses is not in this configuration", span());
    machine.set(Key::Machine, unseen());
    machine.set(Key::Accelerator, unseen());
    machine.set(Key::AcceleratorCount, unseen());
    let (inventory, _, left_out) = priced(vec![machine]);
    assert!(inventory.resources.is_empty());
    assert_eq!(left_out.unknown_machines.len(), 1);
}
