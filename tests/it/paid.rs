//! Tests the conversion of FOCUS bills to `gpulint-paid.csv`: each cent is written or reported, and no invalid row is
//! accepted.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use gpulint::catalog::Catalog;
use gpulint::measured::paid::{BilledAmount, Charge, KeyKind, PaidRow, row};
use gpulint::usage::{BillImport, BillReport};

/// The columns of FOCUS 1.2 that are read, with the values of an ordinary machine.
const ORDINARY: [(&str, &str); 25] = [
    ("BilledCost", "98.32"),
    ("EffectiveCost", "98.32"),
    ("ListCost", "98.32"),
    ("ChargeCategory", "Usage"),
    ("ChargeClass", ""),
    ("ChargeDescription", "$98.32 per On Demand Linux p5.48xlarge Instance Hour"),
    ("ChargePeriodStart", "2026-10-01T00:00:00Z"),
    ("ChargePeriodEnd", "2026-10-01T01:00:00Z"),
    ("BillingCurrency", "USD"),
    ("PricingCategory", "Standard"),
    ("PricingQuantity", "1"),
    ("PricingUnit", "Hours"),
    ("ConsumedQuantity", "1"),
    ("ConsumedUnit", "Hours"),
    ("CommitmentDiscountStatus", ""),
    ("ResourceId", "i-0abc12345678"),
    ("ResourceName", ""),
    ("ResourceType", "instance"),
    ("Tags", r#"{"eks:nodegroup-name":"gpu"}"#),
    ("SkuPriceDetails", r#"{"InstanceType":"p5.48xlarge"}"#),
    ("RegionId", "us-east-1"),
    ("SubAccountId", "210987654321"),
    ("BillingAccountId", "123456789012"),
    ("ProviderName", "AWS"),
    ("InvoiceId", "1"),
];

/// Returns a row of a bill: an ordinary row with some other cells.
pub(crate) fn line(others: &[(&str, &str)]) -> String {
    let cell = |(name, ordinary): &(&str, &str)| {
        let said = others.iter().find(|(other, _)| other == name).map_or(*ordinary, |(_, said)| *said);
        format!("\"{}\"", said.replace('"', "\"\""))
    };
    for (name, _) in others {
        assert!(ORDINARY.iter().any(|(it, _)| it == name), "{name}");
    }
    ORDINARY.iter().map(cell).collect::<Vec<_>>().join(",")
}

pub(crate) fn heading() -> String {
    ORDINARY.map(|(name, _)| name).join(",")
}

pub(crate) fn bill(lines: &[String]) -> String {
    format!("{}\n{}\n", heading(), lines.join("\n"))
}

pub(crate) fn imported(files: &[(&str, &[u8])]) -> Result<BillReport, String> {
    let catalog = Catalog::embedded();
    let mut import = BillImport::new(&catalog, "2026-11-26".parse().unwrap(), vec!["team".to_owned()]);
    for (name, bytes) in files {
        import.add(name, *bytes)?;
    }
    Ok(import.finish())
}

fn taken(lines: &[String]) -> BillReport {
    let done = imported(&[("bill.csv", bill(lines).as_bytes())]).unwrap();
    assert!(done.wrong.is_empty(), "{:?}", done.wrong);
    // The written rows have the reported total.
    let written: BilledAmount = done.rows.iter().map(|it| it.paid).sum();
    let told: BilledAmount = done.sums.iter().filter(|it| it.is_written).map(|it| it.amount).sum();
    assert_eq!(written, told);
    done
}

fn amount(text: &str) -> BilledAmount {
    BilledAmount::parse(text).unwrap()
}

fn only(done: &BillReport) -> &PaidRow {
    assert_eq!(done.rows.len(), 1, "{}", row::write(&done.rows));
    &done.rows[0]
}

const END: (&str, &str) = ("ChargePeriodEnd", "2026-11-01T00:00:00Z");

#[test]
fn hours_and_money_add_up_by_the_way_of_buying() {
    let done = taken(&[
        line(&[END]),
        line(&[("EffectiveCost", "60.5"), ("CommitmentDiscountStatus", "Used"), ("PricingCategory", "Committed")]),
        line(&[("EffectiveCost", "30.000000000001"), ("PricingCategory", "Dynamic"), ("ListCost", "30")]),
        line(&[
            ("EffectiveCost", "-1.5"),
            ("ChargeClass", "Correction"),
            ("PricingQuantity", ""),
            ("ConsumedQuantity", ""),
            ("ListCost", "0"),
        ]),
    ]);
    let row = only(&done);
    assert_eq!((row.key_kind, row.key.as_str(), row.machine.as_str()), (KeyKind::Pool, "gpu", "p5.48xlarge"));
    assert_eq!(row.accelerator, "H100-80GB");
    assert_eq!((row.paid, row.list), (amount("187.320000000001"), Some(amount("226.64"))));
    assert_eq!(
        (row.hours, row.on_demand, row.spot, row.committed),
        (Some(amount("3")), Some(amount("1")), Some(amount("1")), Some(amount("1")))
    );
    assert_eq!((row.on_demand_paid, row.corrected, row.open), (Some(amount("98.32")), Some(amount("-1.5")), false));
    assert_eq!(row.source, "focus-1.2");
}

#[test]
fn only_use_is_paid_for_running() {
    let other = |category: &str, cost: &str| line(&[("ChargeCategory", category), ("EffectiveCost", cost), END]);
    let done = taken(&[
        line(&[]),
        other("Purchase", "1000"),
        other("Tax", "19"),
        other("Credit", "-5"),
        other("Adjustment", "0.01"),
        other("Refund", "-2"),
        line(&[("CommitmentDiscountStatus", "Unused"), ("EffectiveCost", "40"), ("Tags", ""), ("ResourceId", "")]),
        line(&[("SkuPriceDetails", r#"{"InstanceType":"m5.large"}"#), ("EffectiveCost", "7")]),
        line(&[("SkuPriceDetails", ""), ("ChargeDescription", "S3 storage"), ("EffectiveCost", "0.003")]),
        line(&[
            ("SkuPriceDetails", ""),
            ("ChargeDescription", "Savings plan"),
            ("CommitmentDiscountStatus", "Unused"),
            ("EffectiveCost", "3"),
        ]),
    ]);
    let paid =
        |charge: Charge| done.rows.iter().filter(|it| it.charge == charge).map(|it| it.paid).sum::<BilledAmount>();
    assert_eq!(paid(Charge::Usage), amount("98.32"));
    assert_eq!(
        (paid(Charge::Unused), paid(Charge::Purchase), paid(Charge::Refund)),
        (amount("40"), amount("1000"), amount("-2"))
    );
    let read: BilledAmount = done.read()["USD"];
    assert_eq!(read, amount("1160.333"));
    assert_eq!(done.sums.iter().map(|it| it.amount).sum::<BilledAmount>(), read);
    let left: Vec<(&str, String)> =
        done.sums.iter().filter(|it| !it.is_written).map(|it| (it.what, it.amount.to_string())).collect();
    assert_eq!(
        left,
        [
            ("machines without accelerators, and other services", "7.003".to_owned()),
            ("unused commitments for unknown machines", "3".to_owned())
        ]
    );
}

#[test]
fn google_counts_the_hours_of_its_accelerators() {
    let gcp = |description: &str, details: &str, quantity: &str, unit: &str, cost: &str| {
        line(&[
            ("ProviderName", "Google Cloud"),
            ("ChargeDescription", description),
            ("SkuPriceDetails", details),
            ("PricingQuantity", quantity),
            ("PricingUnit", unit),
            ("EffectiveCost", cost),
            ("RegionId", "us-central1"),
            ("Tags", r#"{"goog-k8s-node-pool-name":"h100"}"#),
            END,
        ])
    };
    let details = r#"{"InstanceType":"a3-highgpu-8g"}"#;
    let done = taken(&[
        gcp("Nvidia H100 80GB GPU running in Iowa", details, "16", "hour", "100"),
        gcp("A3 Instance Core running in Iowa", details, "416", "hour", "10"),
        gcp("A3 Instance Ram running in Iowa", details, "3744", "gibibyte hour", "5"),
        gcp("Network Internet Egress", "", "9", "gibibyte", "2"),
    ]);
    let it = only(&done);
    assert_eq!(
        (it.machine.as_str(), it.gpus, it.hours, it.paid),
        ("a3-highgpu-8g", Some(8.0), Some(amount("2")), amount("115"))
    );
    let done = taken(&[gcp("Nvidia Tesla T4 GPU attached to Spot Preemptible VMs running in Iowa", "", "3", "h", "1")]);
    let it = only(&done);
    assert_eq!((it.machine.as_str(), it.accelerator.as_str(), it.gpus), ("", "T4", Some(1.0)));
    assert_eq!((it.hours, it.spot), (Some(amount("3")), Some(amount("3"))));
}

#[test]
fn the_machine_is_found_where_a_cloud_writes_it() {
    let cases: [(&[(&str, &str)], &str); 6] = [
        (&[("SkuPriceDetails", "")], "p5.48xlarge"),
        (&[("SkuPriceDetails", ""), ("ChargeDescription", "g5.4xlarge spot")], "g5.4xlarge"),
        (&[("SkuPriceDetails", r#"{"instanceType":"ml.g5.xlarge"}"#)], "ml.g5.xlarge"),
        (
            &[
                ("ProviderName", "Microsoft"),
                ("RegionId", "eastus"),
                ("SkuPriceDetails", r#"{"ServiceType":"Standard_NC24ads_A100_v4"}"#),
            ],
            "Standard_NC24ads_A100_v4",
        ),
        (
            &[
                ("ProviderName", "Microsoft Azure"),
                ("RegionId", "eastus"),
                ("SkuPriceDetails", ""),
                ("ChargeDescription", "Virtual Machines NCads A100 v4 Series - NC24ads A100 v4 - US East"),
            ],
            "Standard_NC24ads_A100_v4",
        ),
        (&[("SkuPriceDetails", r#"{"InstanceType":"p9.48xlarge","GpuCount":8}"#)], "p9.48xlarge"),
    ];
    for (cells, machine) in cases {
        let done = taken(&[line(cells)]);
        assert_eq!(only(&done).machine, machine, "{cells:?}");
    }
}

#[test]
fn months_that_have_not_ended_are_open() {
    let at = |start: &str, end: &str| line(&[("ChargePeriodStart", start), ("ChargePeriodEnd", end)]);
    let done = taken(&[
        at("2026-09-30 23:00:00", "2026-10-01 00:00:00"),
        at("2026-10-31T23:00:00Z", "2026-11-01T00:00:00Z"),
        at("2026-11-20T23:00:00Z", "2026-11-21T00:00:00Z"),
    ]);
    let open: Vec<(String, bool)> = done.rows.iter().map(|it| (it.month.to_string(), it.open)).collect();
    let mut open = open;
    open.sort();
    assert_eq!(open, [("2026-09".to_owned(), false), ("2026-10".to_owned(), false), ("2026-11".to_owned(), true)]);
    let days = |start: &str, end: &str| {
        let done = taken(&[at(start, end)]);
        (only(&done).open, only(&done).billed_days)
    };
    // The bill ends in the middle of the month, because it was exported then.
    assert_eq!(days("2026-10-14T00:00:00Z", "2026-10-15T00:00:00Z"), (true, Some(amount("14"))));
    assert_eq!(days("2026-11-08T05:00:00Z", "2026-11-08T06:00:00Z"), (true, Some(amount("7.25"))));
    assert_eq!(days("2026-10-31T23:00:00Z", "2026-11-01T00:00:00Z"), (false, None));
    // A charge for a whole month in progress does not show how far the bill goes.
    assert_eq!(days("2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z"), (true, None));
}

#[test]
fn currencies_are_never_added() {
    let done = taken(&[line(&[]), line(&[("BillingCurrency", "EUR"), ("EffectiveCost", "90")])]);
    assert_eq!(done.rows.len(), 2);
    assert_eq!(done.read(), [("EUR", amount("90")), ("USD", amount("98.32"))].into());
}

#[test]
fn packed_and_doubled_files_count_once() {
    let text = bill(&[line(&[])]);
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    let done = imported(&[("a.csv", text.as_bytes()), ("a.csv.gz", &packed)]).unwrap();
    assert_eq!(only(&done).paid, amount("98.32"));
    assert_eq!(done.notes, ["skipped `a.csv.gz`: it has the same content as `a.csv`"]);
    let cut = &packed[..packed.len() - 20];
    assert!(imported(&[("cut.gz", cut)]).is_err());
}

#[test]
fn accounts_and_ids_are_never_written() {
    let done = taken(&[
        line(&[("Tags", r#"{"Name":"worker-210987654321"}"#)]),
        line(&[("Tags", ""), ("ResourceName", "i-0abc12345678")]),
        line(&[("Tags", r#"{"Name":"=cmd|' /C calc'!A1"}"#)]),
        line(&[("Tags", r#"{"Name":"x\u0007y"}"#)]),
        line(&[("Tags", ""), ("ResourceId", "arn:aws:sagemaker:us-east-1:210987654321:endpoint/llm")]),
    ]);
    let text = row::write(&done.rows);
    for secret in ["210987654321", "123456789012", "i-0abc", "cmd|", "\u{7}"] {
        assert!(!text.contains(secret), "{text}");
    }
    let keys: Vec<&str> = done.rows.iter().map(|it| it.key.as_str()).filter(|it| !it.is_empty()).collect();
    assert_eq!(keys, ["llm"]);
    assert!(
        done.notes.iter().any(|it| it.contains("the names of 4 rows") || it.contains("the names of 3 rows")),
        "{:?}",
        done.notes
    );
}

/// Valid rows before and after each invalid one are accepted, and the invalid one is reported with its line and cause.
#[test]
fn wrong_rows_are_told_and_hide_nothing_else() {
    let cells: [(&[(&str, &str)], &str); 17] = [
        (&[("EffectiveCost", "")], "EffectiveCost is not a number: ``"),
        (&[("EffectiveCost", "NaN")], "EffectiveCost is not a number: `NaN`"),
        (&[("EffectiveCost", "Infinity")], "EffectiveCost is not a number: `Infinity`"),
        (&[("EffectiveCost", "1,5")], "EffectiveCost is not a number: `1,5`"),
        (&[("EffectiveCost", "$5")], "EffectiveCost is not a number: `$5`"),
        (&[("EffectiveCost", "1e300")], "EffectiveCost is not a number: `1e300`"),
        (&[("ListCost", "ten")], "ListCost is not a number: `ten`"),
        (&[("BillingCurrency", "")], "BillingCurrency is not a currency code such as USD: ``"),
        (&[("BillingCurrency", "usd")], "BillingCurrency is not a currency code such as USD: `usd`"),
        (&[("BillingCurrency", "US\u{1b}")], "BillingCurrency is not a currency code such as USD: `US `"),
        (
            &[("ChargeCategory", "usage?")],
            "ChargeCategory is not Usage, Purchase, Tax, Credit, Adjustment or Refund: `usage?`",
        ),
        (&[("ChargeCategory", "")], "ChargeCategory is not Usage, Purchase, Tax, Credit, Adjustment or Refund: ``"),
        (
            &[("ChargePeriodStart", "10/01/2026")],
            "ChargePeriodStart is not a time such as 2026-10-01T00:00:00Z: `10/01/2026`",
        ),
        (
            &[("ChargePeriodEnd", "2026-02-30T00:00:00Z")],
            "ChargePeriodEnd is not a time such as 2026-10-01T00:00:00Z: `2026-02-30T00:00:00Z`",
        ),
        (&[("ChargePeriodEnd", "2026-09-01T00:00:00Z")], "ChargePeriodEnd is before ChargePeriodStart"),
        (&[("PricingQuantity", "-4")], "PricingQuantity is below zero, but the row is not a correction"),
        (&[("PricingQuantity", "many")], "PricingQuantity is not a number: `many`"),
    ];
    let mut wrong: Vec<(String, &str)> = cells.iter().map(|(cells, why)| (line(cells), *why)).collect();
    wrong.push(("\"a\",\"b\"".to_owned(), "the row has 2 cells, but the header has 25"));
    wrong.push((format!("{},1", line(&[])), "the row has 26 cells, but the header has 25"));
    wrong.push((line(&[]).replacen("\"98.32\"", "\"98.32\"x", 1), "characters follow a quoted cell"));
    // The quote takes the next line with it, and what follows there is no end of a cell.
    wrong.push((line(&[]).replacen("\"98.32\"", "\"98.32", 1), "characters follow a quoted cell"));
    for (text, why) in wrong {
        let done = imported(&[("b.csv", bill(&[line(&[]), text, line(&[])]).as_bytes())]).unwrap();
        assert_eq!(done.wrong, [format!("`b.csv`, line 3: {why}")]);
        assert_eq!((done.wrong_rows, only(&done).paid), (1, amount("196.64")), "{why}");
    }
    let invalid = bill(&[line(&[]), line(&[("EffectiveCost", "#")]), line(&[])]).into_bytes();
    let invalid: Vec<u8> = invalid.into_iter().map(|it| if it == b'#' { 0xff } else { it }).collect();
    assert_eq!(imported(&[("b.csv", &invalid)]).unwrap().wrong_rows, 1);
}

#[test]
fn what_is_no_bill_is_refused_with_what_it_lacks() {
    let refused = |bytes: &[u8]| imported(&[("f", bytes)]).err().unwrap_or_else(|| panic!("{bytes:?}"));
    let lacks = "the file is not a bill with the columns of FOCUS 1.0 to 1.3";
    for (bytes, why) in [
        (&b""[..], "`f`: it is empty".to_owned()),
        (b"PAR1\x15\x04", "`f`: it is Parquet: `gpulint usage bill --sql duckdb` prints a query for it".to_owned()),
        (b"PK\x03\x04 zip", "`f`: it is a ZIP archive: unpack it".to_owned()),
        (
            b"\x28\xb5\x2f\xfdzz",
            "`f`: it is compressed with zstd: decompress it with `zstd -dc FILE | gpulint usage bill -`".to_owned(),
        ),
        (b"\xff\xfeB\x00", "`f`: it is UTF-16: save it as UTF-8".to_owned()),
        (
            b"a;b;c\n1;2;3\n",
            format!(
                "`f`: {lacks} (commas do not separate its cells): it lacks BillingCurrency, ChargeCategory, ChargePeriodEnd, ChargePeriodStart, EffectiveCost, ListCost, ProviderName (or ServiceProviderName)"
            ),
        ),
        (
            b"{\"json\": 1}\n",
            format!(
                "`f`: {lacks}: it lacks BillingCurrency, ChargeCategory, ChargePeriodEnd, ChargePeriodStart, EffectiveCost, ListCost, ProviderName (or ServiceProviderName)"
            ),
        ),
        (
            b"line_item_line_item_type,x\nUsage,1\n",
            format!(
                "`f`: {lacks} (it is an AWS Cost and Usage Report: use `--sql aws` to print a query for it): it lacks BillingCurrency, ChargeCategory, ChargePeriodEnd, ChargePeriodStart, EffectiveCost, ListCost, ProviderName (or ServiceProviderName)"
            ),
        ),
    ] {
        assert_eq!(refused(bytes), why);
    }
    let without = bill(&[line(&[])]).replace("EffectiveCost", "EffectiveCosts");
    assert_eq!(refused(without.as_bytes()), format!("`f`: {lacks}: it lacks EffectiveCost"));
    let twice = bill(&[line(&[])]).replace("InvoiceId", "EffectiveCost");
    assert_eq!(refused(twice.as_bytes()), "`f`: the column `effectivecost` occurs twice");
    let many: Vec<String> = (0..50_001).map(|at| line(&[("Tags", &format!(r#"{{"Name":"w{at}"}}"#))])).collect();
    assert!(refused(bill(&many).as_bytes()).contains("more than 50000 groups of name, machine and month"));
}

/// The public sample has NULL as a word, times without a zone, and one additional column.
#[test]
fn the_public_sample_is_read_for_what_it_is() {
    let text = bill(&[line(&[
        ("ChargePeriodStart", "2026-10-27 15:00:00"),
        ("ChargePeriodEnd", "2026-10-27 16:00:00"),
        ("SkuPriceDetails", "NULL"),
        ("ResourceName", "NULL"),
        ("Tags", "NULL"),
        ("ChargeDescription", "$1.624 per On Demand Linux g5.4xlarge Instance Hour"),
        ("CommitmentDiscountStatus", "NULL"),
    ])]);
    let done = imported(&[("sample.csv", text.as_bytes())]).unwrap();
    let row = only(&done);
    assert_eq!((row.machine.as_str(), row.key_kind, row.hours), ("g5.4xlarge", KeyKind::Unmatched, Some(amount("1"))));
}
