//! Computes each result of `gpulint explain` again, using only the printed lines before it.

use std::process::Command;

use crate::cli::Place;

/// Resources of different kinds, with different kinds of prices.
const TERRAFORM: &str = r#"
provider "aws" {
  region = "us-east-1"
}

resource "aws_instance" "listed" {
  count         = 2
  instance_type = "p4d.24xlarge"

  root_block_device {
    volume_type = "gp3"
    volume_size = 200
  }
  ebs_block_device {
    device_name = "/dev/sdf"
    volume_size = 1000
  }
}

resource "aws_instance" "estimated" {
  availability_zone = "eu-west-2a"
  instance_type     = "g6f.xlarge"

  instance_market_options {
    market_type = "spot"
  }
}

resource "aws_autoscaling_group" "mixed" {
  availability_zones = ["us-east-1a"]
  min_size           = 1
  max_size           = 9
  desired_capacity   = 5

  mixed_instances_policy {
    instances_distribution {
      on_demand_base_capacity                  = 1
      on_demand_percentage_above_base_capacity = 50
    }
    launch_template {
      launch_template_specification {
        launch_template_name = "workers"
      }
      override {
        instance_type = "g5.xlarge"
      }
    }
  }
}

resource "aws_sagemaker_notebook_instance" "service" {
  name          = "notebook"
  role_arn      = "arn:aws:iam::123456789012:role/notebook"
  instance_type = "ml.g5.xlarge"
}

resource "google_container_node_pool" "parts" {
  cluster    = "cluster"
  location   = "me-central2-a"
  node_count = 1

  node_config {
    machine_type = "n1-standard-8"
    spot         = true

    guest_accelerator {
      type  = "nvidia-tesla-t4"
      count = 2
    }
  }
  autoscaling {
    min_node_count = 1
    max_node_count = 4
  }
}

resource "azurerm_linux_virtual_machine" "reserved" {
  name                          = "h100"
  location                      = "East US"
  size                          = "Standard_ND96isr_H100_v5"
  capacity_reservation_group_id = "/subscriptions/x"

  os_disk {
    storage_account_type = "Premium_LRS"
    disk_size_gb         = 200
  }
}

resource "google_tpu_v2_vm" "chips" {
  zone             = "europe-west4-b"
  accelerator_type = "v5litepod-8"
  runtime_version  = "tpu-ubuntu2204-base"

  scheduling_config {
    preemptible = true
  }
}

resource "lambdalabs_instance" "cloud" {
  region_name        = "us-east-1"
  instance_type_name = "gpu_8x_h100_sxm5"
}

resource "google_container_node_pool" "l4" {
  cluster    = "cluster"
  location   = "us-central1-a"
  node_count = 2

  node_config {
    machine_type = "g2-standard-24"
    labels = {
      pool = "l4"
    }
  }
}
"#;

const PODS: &str = "
apiVersion: apps/v1
kind: Deployment
metadata:
  name: share
spec:
  replicas: 3
  selector:
    matchLabels: {app: share}
  template:
    metadata:
      labels: {app: share}
    spec:
      nodeSelector: {pool: l4}
      containers:
        - name: server
          image: example/server:1
          resources:
            requests: {cpu: 16}
            limits: {nvidia.com/gpu: 1}
---
apiVersion: batch/v1
kind: CronJob
metadata:
  name: nightly
spec:
  schedule: '0 3 * * *'
  jobTemplate:
    spec:
      activeDeadlineSeconds: 5400
      template:
        spec:
          restartPolicy: Never
          nodeSelector: {pool: l4}
          containers:
            - name: batch
              image: example/batch:1
              resources:
                limits: {nvidia.com/gpu: 1}
---
apiVersion: v1
kind: Pod
metadata:
  name: owned
spec:
  nodeSelector: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB}
  containers:
    - name: train
      image: example/train:1
      resources:
        limits: {nvidia.com/gpu: 2}
";

const SETTINGS: &str = r#"
[defaults]
provider = "on-prem"

[[hardware]]
accelerator = "A100*"
purchase_usd = 150_000
gpus = 8
years = 4
watts = 6_500
usd_per_kwh = 0.18
staff_usd_per_year = 6_000
usd_per_month = 250
utilization = 0.6

[prices]
discount = { gcp = 0.1 }

[[usage]]
address = "aws_instance.*"
hours_per_month = 200
"#;

/// The text of a line and the result at its end.
struct Line<'t> {
    text: &'t str,
    result: Option<f64>,
}

fn lines(explained: &str) -> Vec<Line<'_>> {
    let indented = explained.lines().filter_map(|line| line.strip_prefix("  "));
    let steps = indented.filter(|line| !line.starts_with("bought "));
    let read = |line| match line_end(line) {
        Some((text, usd)) => Line { text, result: Some(usd) },
        None => Line { text: line, result: None },
    };
    steps.map(read).collect()
}

fn line_end(line: &str) -> Option<(&str, f64)> {
    let line = line.rsplit_once("  [").map_or(line, |(line, _)| line);
    let (text, end) = line.rsplit_once("  $")?;
    Some((text, end.parse().ok()?))
}

/// Returns the number directly after a mark.
fn after(text: &str, mark: &str) -> Option<f64> {
    let (_, rest) = text.split_once(mark)?;
    number(rest)
}

fn number(text: &str) -> Option<f64> {
    let text = text.strip_prefix('$').unwrap_or(text);
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text[..end].trim_end_matches('.').parse().ok()
}

/// Computes the result of a line; `None` if the line shows a table entry.
fn computed(line: &str, before: &[(String, f64)]) -> Option<f64> {
    let last = || before.last().map(|(_, usd)| *usd);
    if line.contains("the sum of these") {
        // The parts are in the lines directly before.
        let parts = before.iter().rev().take_while(|(text, _)| text.contains(" at $") && number(text).is_some());
        return Some(parts.map(|(_, usd)| usd).sum());
    }
    if line.starts_with("average of ") {
        let (count, base) = (after(line, "of ")?, after(line, ": ")?);
        let (on_demand, share, spot) =
            (after(line, "on demand at ")?, after(line, ", ")? / 100.0, after(line, "spot at ")?);
        let rest = share * spot + (1.0 - share) * on_demand;
        return Some((base * on_demand + (count - base) * rest) / count);
    }
    if let Some(hours) = line.rsplit_once(" hours").and_then(|(rest, _)| number(rest.rsplit_once(" x ")?.1))
        && line.starts_with("x ")
    {
        return Some(last()? * number(&line[2..])? * hours);
    }
    if line.starts_with("x ($") {
        let rate = |terms: &str| Some(after(terms, "($")? / after(terms, " / ")? + after(terms, "h + $")?);
        let (run, used) = line.split_once(") / (")?;
        return Some(last()? * rate(run)? / rate(&format!("({used}"))?);
    }
    if let Some((each, count)) = line.split_once(" per disk x ") {
        return Some(number(each)? * number(count)?);
    }
    if let Some((percent, rest)) = line.split_once("% of $").filter(|_| line.starts_with("no spot price is known")) {
        return Some(number(percent.rsplit_once(' ')?.1)? / 100.0 * number(rest)?);
    }
    if let Some(percent) = line.split_once("% discount").and_then(|(percent, _)| number(percent)) {
        return Some(last()? * (1.0 - percent / 100.0));
    }
    if let Some((part, whole)) = line.split_once(" of its ").filter(|_| number(line).is_some()) {
        return Some(last()? * number(part)? / number(whole)?);
    }
    if line.contains(" of staff / 12 + $") {
        let (usd, months) = (after(line, "(($")?, after(line, " / ")?);
        let (staff, place) = (after(line, "months + $")?, after(line, "of staff / 12 + $")?);
        let (hours, used, kilowatts) = (after(line, ") / (")?, after(line, "h x ")? / 100.0, after(line, "used) + ")?);
        let (rate, shared) = (after(line, "kW x ")?, after(line, "/kWh) / ")?);
        let fixed = usd / months + staff / 12.0 + place;
        return Some(number(line)? * (fixed / (hours * used) + kilowatts * rate) / shared);
    }
    if let Some(size) = line.find(", sold as ") {
        return after(&line[size..], "GiB for ");
    }
    if let Some(index) = line.find("the price index").filter(|_| line.contains(" $")) {
        return Some(after(line, " $")? * number(line[..index].rsplit_once("; x ")?.1)?);
    }
    if let (Some(quantity), Some(each)) = (number(line), after(line, " at ")) {
        return Some(quantity * each);
    }
    // The price for this way of buying is used unchanged.
    let is_bought = ["on demand", "spot", "reserved for a year"].contains(&line)
        || line.starts_with("on demand, ")
        || line == "reserved capacity costs the on-demand price even if unused";
    if is_bought { last() } else { None }
}

/// Computes every line again, and returns the number of lines.
fn redo(address: &str, explained: &str) -> usize {
    let mut before: Vec<(String, f64)> = Vec::new();
    let mut redone = 0;
    for line in lines(explained) {
        let Some(result) = line.result else { continue };
        if let Some(expected) = computed(line.text, &before) {
            // Each printed number is rounded to a millionth, and a month multiplies the rounded value.
            let allowed = 1e-6 * expected.abs() + 1e-5;
            assert!((expected - result).abs() <= allowed, "{address}: {} is {expected}, not {result}", line.text);
            redone += 1;
        } else {
            assert!(line.text.contains(", 20"), "{address}: neither a sum nor a row with its date: {}", line.text);
        }
        before.push((line.text.to_owned(), result));
    }
    redone
}

fn explained(place: &Place, address: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_gpulint"))
        .args(["explain", address, "--prices", "embedded", "--today", "2026-11-21"])
        .current_dir(place.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{address}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_sum_can_be_done_again_from_what_is_printed() {
    let place = Place::new();
    place.write("main.tf", TERRAFORM);
    place.write("pods.yaml", PODS);
    place.write("gpulint.toml", SETTINGS);
    for (address, least, shown) in [
        ("aws_instance.listed[0]", 5, "200 hours a month, from [[usage]] in the settings"),
        ("aws_instance.estimated", 4, "price index of eu-west-2"),
        ("aws_autoscaling_group.mixed", 2, "spot at $0.4328"),
        ("aws_sagemaker_notebook_instance.service", 4, "the factor of the managed service"),
        ("google_container_node_pool.parts", 6, "nvidia-tesla-t4"),
        ("azurerm_linux_virtual_machine.reserved", 2, "reserved capacity costs the on-demand price even if unused"),
        ("google_tpu_v2_vm.chips", 4, "chips"),
        ("lambdalabs_instance.cloud", 2, "everywhere"),
        ("google_container_node_pool.l4", 4, "10% discount on list prices of gcp"),
        ("Deployment/share", 4, "16 of its 24 CPUs, so 0.33 of 2 accelerators stay unused"),
        (
            "Pod/owned",
            4,
            "(($150000 / 48 months + $6000 of staff / 12 + $250) / (730 h x 60% used) + 6.5 kW x $0.18/kWh) / 8",
        ),
        ("CronJob/nightly", 4, "30.4 starts a month of at most 1.5 hours each"),
    ] {
        let text = explained(&place, address);
        assert!(text.contains(shown), "{address} does not show `{shown}`:\n{text}");
        let redone = redo(address, &text);
        assert!(redone >= least, "{address}: only {redone} sums:\n{text}");
    }
}

#[test]
fn a_wrong_sum_is_noticed() {
    let right = "  p in x on-demand: list, 2026-01-01  $2.00\n  on demand  $2.00\n  x 3 x 730 hours  $4380.00\n";
    assert_eq!(redo("right", right), 2);
    let wrong = std::panic::catch_unwind(|| redo("wrong", &right.replace("4380", "4390")));
    assert!(wrong.is_err());
}
