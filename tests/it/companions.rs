//! Tests fixes that add a resource next to the one that they are about.

use gpulint::inventory::{Declined, FactEdit, FactValue, Key, Part, Resource};
use gpulint::source::{MemoryTree, SourceFiles};
use gpulint::{fix, terraform};

const GROUP: &str = "resource \"aws_autoscaling_group\" \"NAME\" {\n  META\n  min_size = SIZE\n  max_size = 4\n\n  \
                     launch_template {\n    id = aws_launch_template.lab.id\n  }\n}\n";

const TEMPLATE: &str = "resource \"aws_launch_template\" \"lab\" {\n  instance_type = \"g5.xlarge\"\n}\n\n";

const MACHINE: &str = "resource \"google_compute_instance\" \"lab\" {\n  name         = \"lab\"\n  machine_type = \
                       \"a2-highgpu-1g\"\n  zone         = ZONE\n}\n";

fn group(name: &str, meta: &str, size: &str) -> String {
    let text = GROUP.replace("NAME", name).replace("SIZE", size);
    TEMPLATE.to_owned() + &if meta.is_empty() { text.replace("  META\n", "") } else { text.replace("META", meta) }
}

fn read(files: &[(&str, &str)]) -> (SourceFiles, terraform::TerraformReading) {
    let tree = files.iter().fold(MemoryTree::new(), |tree, (path, text)| tree.with(path, *text));
    let sources = SourceFiles::new(tree);
    let paths: Vec<String> = files.iter().map(|(path, _)| (*path).to_owned()).collect();
    let reading = terraform::read(&sources, &paths, &terraform::TerraformOptions::default());
    (sources, reading)
}

fn of<'r>(reading: &'r terraform::TerraformReading, address: &str) -> &'r Resource {
    let found = reading.inventory.resources.iter().find(|it| it.address == address);
    found.unwrap_or_else(|| panic!("no {address}"))
}

/// Returns the file of a resource with a schedule, or the reason why it has none.
fn scheduled(files: &[(&str, &str)], address: &str) -> Result<String, String> {
    let (sources, reading) = read(files);
    let writer = terraform::TerraformWriter::new(&sources, &reading.blocks, &reading.roots);
    let wish = FactEdit { part: Part::Fact(Key::Schedule), value: Some(FactValue::text("0 18 * * 1-5")) };
    let edits = writer.write(of(&reading, address), &wish).map_err(|declined: Declined| declined.why().to_owned())?;
    let file = edits[0].span.file;
    let after = fix::apply(&sources.text(file), edits.iter().collect());
    let path = sources.path(file);
    let files: Vec<(&str, &str)> =
        files.iter().map(|(old, text)| if *old == path { (*old, after.as_str()) } else { (*old, *text) }).collect();
    let (_, again) = read(&files);
    assert!(again.inventory.diagnostics.len() <= reading.inventory.diagnostics.len(), "{after}");
    assert!(!of(&again, address).fact(Key::Schedule).is_absent(), "{address} has no schedule:\n{after}");
    Ok(after)
}

fn alone(text: &str, address: &str) -> Result<String, String> {
    scheduled(&[("main.tf", text)], address)
}

#[test]
fn a_group_gets_two_schedules_after_its_block() {
    let text = group("lab", "", "var.size").replace("max_size = 4", "max_size = 4 # most") + "variable \"size\" {}\n";
    let after = alone(&text, "aws_autoscaling_group.lab").unwrap();
    let added = "  lifecycle {\n    ignore_changes = [desired_capacity, min_size]\n  }\n";
    assert!(after.contains(added), "{after}");
    let stop = "}\n\nresource \"aws_autoscaling_schedule\" \"lab_stop\" {\n  scheduled_action_name  = \"stop\"\n  \
                autoscaling_group_name = aws_autoscaling_group.lab.name\n  min_size               = 0\n  \
                max_size               = -1\n  desired_capacity       = 0\n  recurrence             = \"0 18 * * \
                1-5\"\n  time_zone              = \"Etc/UTC\"\n}\n";
    assert!(after.contains(stop), "{after}");
    let start = "  min_size               = var.size\n  max_size               = -1\n  desired_capacity       = \
                 var.size\n  recurrence             = \"0 8 * * 1-5\"\n  time_zone              = \"Etc/UTC\"\n}\n\n\
                 variable \"size\" {}\n";
    assert!(after.ends_with(start), "{after}");
}

#[test]
fn instances_and_their_schedules_have_the_same_keys() {
    let after = alone(&group("gpu-lab", "count    = 2", "1"), "aws_autoscaling_group.gpu-lab[1]").unwrap();
    assert!(after.contains("\"gpu-lab-stop\" {\n  count = 2\n\n"), "{after}");
    assert!(after.contains("aws_autoscaling_group.gpu-lab[count.index].name"), "{after}");
    let meta = "for_each = toset([\"a\", \"b\"])\n  provider = aws.west";
    let after = alone(&group("lab", meta, "1"), "aws_autoscaling_group.lab[\"a\"]").unwrap();
    assert!(after.contains("  for_each = toset([\"a\", \"b\"])\n  provider = aws.west\n\n  scheduled"), "{after}");
    assert!(after.contains("aws_autoscaling_group.lab[each.key].name"), "{after}");
    let meta = "for_each = toset([\n    \"a\",\n  ])";
    let why = alone(&group("lab", meta, "1"), "aws_autoscaling_group.lab[\"a\"]").unwrap_err();
    assert_eq!(why, "an argument that the new resource needs has several lines");
}

#[test]
fn names_in_use_and_line_ends_are_kept() {
    let taken = "\nresource \"aws_autoscaling_schedule\" \"lab_start\" {\n  autoscaling_group_name = \"other\"\n}\n";
    let text = (group("lab", "", "1") + taken).replace('\n', "\r\n");
    let after = alone(&text, "aws_autoscaling_group.lab").unwrap();
    assert!(after.contains("\"lab_2_stop\"") && after.contains("\"lab_2_start\""), "{after}");
    assert!(!after.replace("\r\n", "").contains('\n'), "{after:?}");
    let same =
        group("lab", "", "1").replace("  launch", "  lifecycle {\n    ignore_changes = [min_size]\n  }\n\n  launch");
    let after = alone(&same, "aws_autoscaling_group.lab").unwrap();
    assert!(after.contains("ignore_changes = [min_size, desired_capacity]\n"), "{after}");
}

#[test]
fn a_machine_of_google_refers_to_its_policy() {
    let after = alone(&MACHINE.replace("ZONE", "\"us-central1-a\""), "google_compute_instance.lab").unwrap();
    let attached = "  resource_policies = [google_compute_resource_policy.lab_hours.id]\n";
    assert!(after.contains(attached) && after.contains("  name              = \"lab\"\n"), "{after}");
    assert!(after.contains("  name   = \"lab-hours\"\n  region = \"us-central1\"\n"), "{after}");
    let zone = |zone: &str| {
        let text = MACHINE.replace("ZONE", zone) + "variable \"region\" {}\nvariable \"zone\" {}\n";
        alone(&text, "google_compute_instance.lab").unwrap()
    };
    assert!(zone("\"${var.region}-a\"").contains("  region = var.region\n"));
    assert!(zone("var.zone").contains("  region = join(\"-\", slice(split(\"-\", var.zone), 0, 2))\n"));
}

#[test]
fn a_schedule_that_cannot_work_is_declined() {
    let zone = MACHINE.replace("ZONE", "\"us-central1-a\"");
    let machine = |more: &str| zone.replace("}\n", &format!("{more}}}\n"));
    for (text, address, why) in [
        (
            machine("\n  scratch_disk {\n    interface = \"NVME\"\n  }\n"),
            "google_compute_instance.lab",
            "loses its local",
        ),
        (zone.replace("a2-high", "a3-high"), "google_compute_instance.lab", "loses its local SSDs if"),
        (machine("  resource_policies = []\n"), "google_compute_instance.lab", "another schedule already changes"),
        (zone.replace("  zone         = \"us-central1-a\"\n", ""), "google_compute_instance.lab", "neither its zone"),
        (
            "resource \"aws_instance\" \"lab\" {\n  instance_type = \"g5.xlarge\"\n}\n".to_owned(),
            "aws_instance.lab",
            "needs an IAM role with which EventBridge",
        ),
        (
            "resource \"aws_spot_instance_request\" \"lab\" {\n  instance_type = \"g5.xlarge\"\n}\n".to_owned(),
            "aws_spot_instance_request.lab",
            "gpulint knows no schedule of `aws_spot_instance_request`",
        ),
    ] {
        let declined = alone(&text, address).unwrap_err();
        assert!(declined.contains(why), "{declined}\n{text}");
    }
    let machine = r#"{"name": "lab", "machine_type": "a2-highgpu-1g", "zone": "us-central1-a"}"#;
    let json = format!("{{\"resource\": {{\"google_compute_instance\": {{\"lab\": {machine}}}}}}}");
    let why = scheduled(&[("main.tf.json", &json)], "google_compute_instance.lab").unwrap_err();
    assert_eq!(why, "gpulint adds no resources to JSON");
}

#[test]
fn a_name_in_a_module_with_two_callers_is_declined() {
    let call = "module \"a\" {\n  source = \"./m\"\n}\n\nmodule \"b\" {\n  source = \"./m\"\n}\n";
    let machine = MACHINE.replace("ZONE", "\"us-central1-a\"");
    let files = [("main.tf", call), ("m/main.tf", machine.as_str())];
    let why = scheduled(&files, "module.a.google_compute_instance.lab").unwrap_err();
    assert_eq!(why, "it is in a module that 2 others call");
    let group = group("lab", "", "1");
    let files = [("main.tf", call), ("m/main.tf", group.as_str())];
    let after = scheduled(&files, "module.a.aws_autoscaling_group.lab").unwrap();
    assert!(after.contains("\"lab_stop\""), "{after}");
}

/// Returns the file of a resource with a label `team`.
fn labelled(text: &str, address: &str) -> String {
    let (sources, reading) = read(&[("main.tf", text)]);
    let writer = terraform::TerraformWriter::new(&sources, &reading.blocks, &reading.roots);
    let labels = [("team".into(), FactValue::text("search"))];
    let edits = writer.label(of(&reading, address), &labels).unwrap();
    let after = fix::apply(text, edits.iter().collect());
    let (_, again) = read(&[("main.tf", &after)]);
    assert!(of(&again, address).labels.entries.contains_key("team"), "{after}");
    after
}

#[test]
fn labels_of_a_group_reach_its_machines() {
    let after = labelled(&group("lab", "", "1"), "aws_autoscaling_group.lab");
    let tag = "  tag {\n    key                 = \"team\"\n    value               = \"search\"\n    \
               propagate_at_launch = true\n  }\n";
    assert!(after.contains(tag), "{after}");
}

#[test]
fn labels_that_are_computed_are_added_to_those_of_the_provider() {
    let text = "provider \"aws\" {\n  default_tags {\n    tags = {\n      managed = \"terraform\"\n    }\n  }\n}\n\n\
                variable \"tags\" {\n  default = { Name = \"a\" }\n}\n\nresource \"aws_instance\" \"a\" {\n  \
                instance_type = \"g5.xlarge\"\n  tags          = { for key, value in var.tags : key => value }\n}\n";
    let after = labelled(text, "aws_instance.a");
    assert!(after.contains("      managed = \"terraform\"\n      team    = \"search\"\n    }\n"), "{after}");
}
