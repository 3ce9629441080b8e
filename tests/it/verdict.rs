//! Tests that missing knowledge never leads to a pass: unread files and unknown values are reported in every format,
//! and a change that hides something fails. `docs/security.md` names these tests.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::cli::Place;

const WASTE: &str = "resource \"aws_instance\" \"a\" {\n  instance_type = \"p3.2xlarge\"\n}\n";

struct Said {
    code: Option<i32>,
    out: String,
    all: String,
}

fn gpulint(place: &Place, arguments: &[&str]) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.args(arguments).current_dir(place.path()).env("NO_COLOR", "1").stdin(Stdio::null());
    let output = command.output().unwrap();
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    Said { code: output.status.code(), all: format!("{out}{}", String::from_utf8_lossy(&output.stderr)), out }
}

/// Creates a change from some files to others.
fn change(before: &[(&str, &str)], after: &[(&str, &str)]) -> Place {
    let place = Place::new();
    for (side, files) in [("before", before), ("after", after)] {
        for (file, text) in files {
            place.write(&format!("{side}/{file}"), text);
        }
    }
    place
}

fn diff(place: &Place, format: &str) -> Said {
    gpulint(place, &["diff", "--base-dir", "before", "after", "--no-config", "--format", format])
}

fn document(place: &Place) -> Value {
    serde_json::from_str(&diff(place, "json").out).unwrap()
}

#[test]
fn what_the_base_knew_and_the_change_hides_fails() {
    let counted = |count: &str| WASTE.replace("{\n", &format!("{{\n  count = {count}\n"));
    let hidden = [
        counted("length(timestamp())"),
        counted("length(data.aws_ami_ids.x.ids)"),
        WASTE.replace("\"p3.2xlarge\"", "data.external.x.result.type"),
        WASTE.replace("\"p3.2xlarge\"", "var.type") + "variable \"type\" {}\n",
    ];
    for text in &hidden {
        let place = change(&[("main.tf", WASTE)], &[("main.tf", text)]);
        let said = document(&place);
        assert_eq!(said["verdict"], "not judged", "{text}: {}", said["not_judged"]);
        assert_eq!(said["not_judged"][0]["standing"], "lost", "{text}: {}", said["not_judged"]);
        assert_eq!(said["cost"]["rented"]["difference"]["expected"], 0.0, "{text}: it is no saving");
        for format in ["text", "markdown", "github"] {
            let said = diff(&place, format);
            assert_eq!(said.code, Some(1), "{text}: {}", said.all);
            assert!(said.out.to_lowercase().contains("not evaluated"), "{text}: {}", said.out);
        }
    }
    // A value that was unknown before is not lost, and a removed resource is a saving.
    let place = change(&[("main.tf", &hidden[3])], &[("main.tf", &hidden[3]), ("b.tf", "# nothing\n")]);
    assert_eq!((diff(&place, "text").code, &document(&place)["verdict"]), (Some(0), &Value::from("pass")));
    let place = change(&[("main.tf", WASTE), ("b.tf", "")], &[("b.tf", "# gone\n")]);
    assert_eq!(diff(&place, "text").code, Some(0), "{}", diff(&place, "text").all);
    assert!(document(&place)["cost"]["rented"]["difference"]["expected"].as_f64().unwrap() < 0.0);
}

#[test]
fn what_moves_out_of_sight_into_a_module_is_no_saving() {
    let call = |source: &str| format!("module \"gpu\" {{\n  source = \"{source}\"\n  type   = \"p3.2xlarge\"\n}}\n");
    let module = format!("variable \"type\" {{}}\n{}", WASTE.replace("\"p3.2xlarge\"", "var.type"));
    let (near, far) = (call("./gpu"), call("example.org/acme/gpu/aws"));
    let place = change(&[("main.tf", &near), ("gpu/main.tf", &module)], &[("main.tf", &far)]);
    let said = document(&place);
    assert_ne!(said["verdict"], "pass", "{}", said["not_judged"]);
    assert_eq!(said["not_judged"][0]["standing"], "lost", "{}", said["not_judged"]);
    assert_eq!(said["cost"]["rented"]["difference"]["expected"], 0.0);
    assert_eq!(diff(&place, "text").code, Some(1));
    // A module without accelerators is not relevant.
    let network = "module \"net\" {\n  source = \"example.org/acme/vpc/aws\"\n  cidr   = \"10.0.0.0/16\"\n}\n";
    let place = change(&[("main.tf", network)], &[("main.tf", &network.replace("/16", "/8"))]);
    assert_eq!(document(&place)["verdict"], "pass", "{}", document(&place)["not_judged"]);
}

#[test]
fn a_variable_file_that_nobody_reads_is_not_judged() {
    let root = "variable \"gpus\" {\n  default = 0\n}\nresource \"google_container_node_pool\" \"l4\" {\n  node_count = var.gpus\n  \
                node_config {\n    machine_type = \"g2-standard-4\"\n  }\n}\n";
    // The file assigns no variable of this root, so no deployment uses it.
    let before = [("main.tf", root), ("projects/a.tfvars", "cards = 4\n")];
    let after = [("main.tf", root), ("projects/a.tfvars", "cards = 8\n")];
    let place = change(&before, &after);
    for format in ["text", "markdown", "github", "json", "outputs", "junit", "sarif", "gitlab", "csv", "concise"] {
        let said = diff(&place, format);
        assert_eq!(said.code, Some(1), "{format}: {}", said.all);
        let text = said.out.to_lowercase();
        let is_told = ["not evaluated", "not judged", "not-judged"].iter().any(|word| text.contains(word));
        assert!(is_told && !text.contains("nothing changed"), "{format}: {}", said.out);
        assert!(!text.contains("**pass**") && !text.contains("verdict=pass"), "{format}: {}", said.out);
    }
    assert!(diff(&place, "outputs").out.contains("quiet=false"), "a comment is written");
    place.write("after/gpulint.toml", "unexplained = \"tell\"\n");
    let lenient = ["diff", "--base-dir", "before", "after"];
    assert_eq!(gpulint(&place, &lenient).code, Some(0), "it is only told");
    assert_eq!(gpulint(&place, &[&lenient[..], &["--fail-on-unread"]].concat()).code, Some(1));
    // The text is unchanged, so nothing is reported.
    let place = change(&before, &[before[0], before[1], ("README.md", "x")]);
    assert_eq!(document(&place)["verdict"], "pass");
}

#[test]
fn more_waste_behind_an_unreadable_file_is_new() {
    let broken = format!("{WASTE}resource {{{{{{\n");
    let more = format!("{broken}{}", WASTE.replace("\"a\"", "\"b\""));
    let place = change(&[("main.tf", &broken)], &[("main.tf", &broken), ("b.tf", "")]);
    assert_eq!(document(&place)["new"].as_array().unwrap().len(), 0, "the same text is the same finding");
    let place = change(&[("main.tf", &broken)], &[("main.tf", &more)]);
    assert_eq!(diff(&place, "text").code, Some(1), "{}", diff(&place, "text").all);
    assert_eq!(document(&place)["new"][0]["rule"], "unreadable");
    let place = change(&[], &[]);
    for (side, text) in [("before", WASTE.to_owned()), ("after", format!("{WASTE}{}", WASTE.replace("\"a\"", "\"b\"")))]
    {
        let bytes: Vec<u8> = "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
        std::fs::create_dir_all(place.path().join(side)).unwrap();
        std::fs::write(place.path().join(side).join("main.tf"), bytes).unwrap();
    }
    let said = diff(&place, "text");
    assert_eq!(said.code, Some(1), "{}", said.all);
}

#[test]
fn an_old_suppression_covers_no_other_machine() {
    let noted = |reason: &str, machine: &str| {
        let comment = format!("{{ # gpulint: ignore[missing-auto-shutdown, missing-labels] -- {reason}\n");
        WASTE.replace("{\n", &comment).replace("p3.2xlarge", machine)
    };
    let suppressed = |before: &str, after: &str| change(&[("main.tf", before)], &[("main.tf", after)]);
    let old = noted("small", "p3.2xlarge");
    let said = document(&suppressed(WASTE, &old));
    assert!(!said["accepted"].as_array().unwrap().is_empty(), "the rules of this test find something: {said}");
    let place = suppressed(&old, &noted("small", "p5.48xlarge"));
    let said = diff(&place, "text");
    assert_eq!(said.code, Some(1), "{}", said.all);
    assert!(said.out.contains("written for the state before the change"), "{}", said.out);
    // Written anew it is accepted, and shown.
    let said = document(&suppressed(&old, &noted("large now, FIN-7", "p5.48xlarge")));
    assert_eq!(said["blocked"], false, "{said}");
    assert!(!said["accepted"].as_array().unwrap().is_empty(), "{said}");
    // Nothing else changed, so nothing is reported.
    assert_eq!(diff(&suppressed(&old, &format!("\n{old}")), "text").code, Some(0));
    let removed = diff(&suppressed(&old, WASTE), "text");
    assert!(removed.out.contains("the change removes a suppression"), "{}", removed.out);
}

#[test]
fn a_named_file_that_is_not_read_ends_the_run() {
    let place = Place::new();
    place.write("good.tf", "locals {}\n");
    place.write("notes.txt", WASTE);
    place.write("gpulint.toml", "[bounds]\nfile-mib = 1\n");
    let plan = format!(
        "{{\"format_version\": \"1.2\", \"terraform_version\": \"1.9.0\", \"x\": \"{}\"}}",
        "y".repeat(2 << 20)
    );
    place.write("plan.json", &plan);
    for file in ["notes.txt", "plan.json"] {
        let said = gpulint(&place, &["check", "good.tf", file]);
        assert_eq!(said.code, Some(2), "{file}: {}", said.all);
        assert!(said.all.contains("could not be read"), "{file}: {}", said.all);
    }
    assert_eq!(gpulint(&place, &["check", "good.tf"]).code, Some(0));
}

#[test]
fn a_root_that_a_call_makes_none_of_is_not_judged() {
    let root = format!("variable \"owner\" {{}}\n{WASTE}");
    let more = format!("{root}{}", WASTE.replace("\"a\"", "\"b\""));
    let call = "module \"x\" {\n  source = \"../prod\"\n  count  = 0\n  owner  = \"me\"\n}\n";
    let place = change(&[("prod/main.tf", &root)], &[("prod/main.tf", &more), ("other/main.tf", call)]);
    let said = document(&place);
    assert_eq!(said["not_judged"][0]["standing"], "lost", "{}", said["not_judged"]);
    assert_eq!(diff(&place, "text").code, Some(1), "{}", diff(&place, "text").all);
    assert_eq!(said["cost"]["rented"]["difference"]["expected"], 0.0, "it is no saving");
    // Without accelerators, it is a module like any other.
    let plain = root.replace("p3.2xlarge", "m5.large");
    let place = change(&[("prod/main.tf", &root)], &[("prod/main.tf", &plain), ("other/main.tf", call)]);
    assert_eq!(document(&place)["verdict"], "pass", "{}", document(&place)["not_judged"]);
}

#[test]
fn a_rule_that_cannot_be_decided_any_more_is_not_cured() {
    let waste = format!("resource \"aws_s3_bucket\" \"b\" {{\n  tags = {{ team = \"a\" }}\n}}\n{WASTE}");
    let labelled = waste.replace("xlarge\"\n", "xlarge\"\n  tags = data.external.x.result\n");
    let place = change(&[("main.tf", &waste)], &[("main.tf", &labelled)]);
    let said = document(&place);
    let reasons = said["not_judged"].to_string();
    assert!(
        reasons.contains("missing-labels reported a problem here before the change, and cannot be evaluated now"),
        "{reasons}"
    );
    assert_eq!(said["verdict"], "not judged");
    assert!(!said["fixed"].to_string().contains("missing-labels"), "{}", said["fixed"]);
    assert_eq!(diff(&place, "text").code, Some(1), "it may be no cure: {}", diff(&place, "text").all);
}

#[test]
fn what_may_have_gone_into_text_that_is_not_read_is_no_saving() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    let far = "module \"other\" {\n  source = \"example.org/acme/gpu/aws\"\n  type   = \"p3.2xlarge\"\n}\n";
    for (file, text) in [("k/pod.yaml", pointer), ("other.tf", far)] {
        let place = change(&[("main.tf", WASTE)], &[("z.tf", "locals {}\n"), (file, text)]);
        let said = diff(&place, "outputs");
        assert!(said.out.contains("monthly-delta=0.00"), "{file}: {}", said.out);
        assert!(!said.out.contains("verdict=pass"), "{file}: {}", said.out);
        assert_eq!(said.code, Some(1), "{file}: {}", said.all);
    }
    // Whatever machines the call names, the module may create others.
    let cheaper = far.replace("p3.2xlarge", "t3.small");
    let place = change(&[("main.tf", WASTE)], &[("other.tf", &cheaper)]);
    assert!(diff(&place, "outputs").out.contains("monthly-delta=0.00"));
    // A module that was called before does not explain a new resource.
    let place = change(&[("main.tf", WASTE), ("other.tf", &cheaper)], &[("other.tf", &cheaper)]);
    assert!(!diff(&place, "outputs").out.contains("monthly-delta=0.00"), "it is gone");
}

#[test]
fn what_an_object_hands_to_all_containers_is_told() {
    let range = |key: &str| {
        format!(
            "apiVersion: v1\nkind: LimitRange\nmetadata:\n  name: all\nspec:\n  limits:\n    - type: Container\n      default:\n        {key}: 8\n"
        )
    };
    let terraform = "resource \"kubernetes_limit_range\" \"all\" {\n  metadata {\n    name = \"all\"\n  }\n  spec {\n    limit {\n      \
                     type = \"Container\"\n      default = { \"nvidia.com/gpu\" = 8 }\n    }\n  }\n}\n";
    for (file, text) in [("range.yaml", range("nvidia.com/gpu")), ("range.tf", terraform.to_owned())] {
        let place = change(&[("main.tf", WASTE)], &[("main.tf", WASTE), (file, &text)]);
        let said = document(&place);
        assert_eq!(said["verdict"], "not judged", "{file}");
        assert!(said["not_judged"].to_string().contains("gives nvidia.com/gpu to each container"), "{said}");
    }
    let place = change(&[("main.tf", WASTE)], &[("main.tf", WASTE), ("range.yaml", &range("memory"))]);
    assert_eq!(document(&place)["verdict"], "pass");
}

#[test]
fn values_that_a_chart_is_not_read_with_are_told() {
    fn files<'t>(pod: &'t str, release: &'t str, values: &'t str) -> [(&'t str, &'t str); 5] {
        [
            ("chart/Chart.yaml", "apiVersion: v2\nname: x\nversion: 1.0.0\n"),
            ("chart/values.yaml", "size: 1\n"),
            ("chart/templates/x.yaml", pod),
            ("main.tf", release),
            ("v.txt", values),
        ]
    }
    let pod = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: x\nspec:\n  replicas: {{ .Values.size }}\n  template:\n    \
               spec:\n      containers:\n        - name: c\n          image: x\n          resources:\n            limits:\n              nvidia.com/gpu: 1\n";
    let known = "resource \"helm_release\" \"x\" {\n  name   = \"x\"\n  chart  = \"${path.module}/chart\"\n  \
                 values = [file(\"${path.module}/v.txt\")]\n}\n";
    let open = known.replace("/v.txt\")", "/v.txt\"), var.more") + "variable \"more\" {}\n";
    let with = |release, values| files(pod, release, values);
    let said = document(&change(&with(known, "size: 1\n"), &with(known, "size: 100\n")));
    assert_eq!(said["changes"][0]["change"], "changed", "{said}");
    let said = document(&change(&with(&open, "size: 1\n"), &with(&open, "size: 100\n")));
    assert_eq!(said["verdict"], "not judged", "{said}");
    assert!(said["not_judged"].to_string().contains("installs the chart"), "{}", said["not_judged"]);
    let said = document(&change(&with(&open, "size: 1\n"), &with(&open, "size: 1\n")));
    assert_eq!(said["verdict"], "pass", "what is as before is no news: {}", said["not_judged"]);
}

#[test]
fn devices_of_makers_that_no_row_knows_are_requests() {
    let pod = |key: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: x\nspec:\n  containers:\n    - name: c\n      image: x\n      \
                 resources:\n        limits:\n          {key}: 8\n"
        )
    };
    for key in ["huawei.com/Ascend910", "huawei.com/npu", "nvidia.com/gpu-h100", "amd.com/cpx_nps4", "example.org/gpu"]
    {
        let place = change(&[("a.tf", "locals {}\n")], &[("a.tf", "locals {}\n"), ("x.yaml", &pod(key))]);
        let said = document(&place);
        assert_eq!(said["changes"][0]["change"], "added", "{key}: {said}");
    }
    for key in ["nvidia.com/hostdev", "example.org/disk", "hugepages-2Mi"] {
        let place = change(&[("a.tf", "locals {}\n")], &[("a.tf", "locals {}\n"), ("x.yaml", &pod(key))]);
        assert_eq!(document(&place)["changes"].as_array().map(Vec::len), Some(0), "{key}");
    }
}

#[test]
fn a_list_of_ignored_files_hides_nothing_from_a_comparison_of_directories() {
    let after = [("main.tf", WASTE), (".gitignore", "*\n"), ("sub/.gitignore", "*\n"), ("sub/b.tf", WASTE)];
    let place = change(&[("main.tf", WASTE)], &after);
    assert_eq!(diff(&place, "text").code, Some(1), "{}", diff(&place, "text").all);
    assert_eq!(document(&place)["changes"][0]["change"], "added", "{}", document(&place)["changes"]);
}

#[test]
fn of_two_tools_that_read_other_files_sums_count_the_dearer() {
    let dear = WASTE.replace("p3.2xlarge", "p3.16xlarge");
    let alone = document(&change(&[("x.tf", "locals {}\n")], &[("main.tf", &dear)]));
    let sum = |it: &Value| it["cost"]["rented"]["after"]["expected"].as_f64().unwrap();
    for (terraform, opentofu) in [(WASTE, dear.as_str()), (dear.as_str(), WASTE)] {
        let said = document(&change(&[("x.tf", "locals {}\n")], &[("main.tf", terraform), ("main.tofu", opentofu)]));
        assert_eq!(sum(&said), sum(&alone), "{said}");
        assert_eq!(said["verdict"], "fail");
    }
    // A resource that is in no other reading also counts once.
    let other = WASTE.replace("\"a\"", "\"z\"");
    let said = document(&change(&[("x.tf", "locals {}\n")], &[("main.tf", &dear), ("main.tofu", &other)]));
    assert_eq!(sum(&said), sum(&alone), "{said}");
}

/// If the owner of a resource is unknown, the total of a team's budget is unknown, too. The budget is not shown as met,
/// and no remaining amount is shown.
#[test]
fn a_total_of_which_a_part_is_unknown_is_not_cured() {
    let machine = "variable \"who\" {}\nprovider \"aws\" {\n  region = \"us-east-1\"\n}\nresource \"aws_instance\" \"a\" {\n  \
                   instance_type = \"p5.48xlarge\"\n  tags = { team = TEAM }\n}\n";
    let (known, unknown) = (machine.replace("TEAM", "\"vision\""), machine.replace("TEAM", "var.who"));
    let settings = "ignore = [\"missing-auto-shutdown\"]\n[[budgets]]\nteam = \"vision\"\nmonthly_usd = 1000\n";
    let place = change(&[("main.tf", &known)], &[("main.tf", &unknown), ("gpulint.toml", settings)]);
    let said = gpulint(&place, &["diff", "--base-dir", "before", "after", "--format", "json"]);
    assert_eq!(said.code, Some(1), "{}", said.all);
    let told: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(told["verdict"], "not judged");
    assert!(
        told["not_judged"].to_string().contains("exceeded-budget reported a problem here"),
        "{}",
        told["not_judged"]
    );
    let text = gpulint(&place, &["diff", "--base-dir", "before", "after"]).out;
    assert!(!text.contains("fixed") && !text.contains("budget of team vision"), "{text}");
    // In the other direction, it is found.
    let place = change(&[("main.tf", &unknown)], &[("main.tf", &known), ("gpulint.toml", settings)]);
    let said = gpulint(&place, &["diff", "--base-dir", "before", "after"]);
    assert!(said.code == Some(1) && said.out.contains("exceeded-budget"), "{}", said.all);
}
