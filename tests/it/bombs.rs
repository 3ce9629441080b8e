//! Tests small files that would need any amount of memory or time: gpulint reports where it stops reading them, and loses
//! nothing else.

use std::fmt::Write as _;

use serde_json::Value;

use crate::cli::Place;

/// Each of these steps doubles a string or a list, so that the last one has at least a gigabyte.
const DOUBLINGS: usize = 26;

const BESIDE: &str =
    "resource \"aws_instance\" \"beside\" {\n  ami           = \"ami-1\"\n  instance_type = \"g5.xlarge\"\n}\n";

/// A file with few steps, so that bombs of work end soon.
const FEW_STEPS: &str = "bounds.evaluation-steps = 60000\n";

fn place(files: &[(&str, &str)]) -> Place {
    let place = Place::new();
    place.write("beside/main.tf", BESIDE);
    files.iter().for_each(|(path, text)| place.write(path, text));
    place
}

fn report(place: &Place) -> Value {
    serde_json::from_str(&place.stdout(&["check", "--format", "json"])).unwrap()
}

/// Returns the addresses of the resources, which always include the one in another file.
fn addresses(report: &Value) -> Vec<&str> {
    let all: Vec<&str> =
        report["resources"].as_array().unwrap().iter().filter_map(|it| it["address"].as_str()).collect();
    assert!(all.contains(&"aws_instance.beside"), "{all:?}");
    all
}

/// Demands that the report lists `cause` in `path` as not evaluated, as a finding with its line and the next step.
fn demand_entry(report: &Value, path: &str, cause: &str) {
    let of = |key: &str| report[key].as_array().unwrap().iter().filter(|it| it["path"] == path).collect::<Vec<_>>();
    let findings = of("findings");
    let is_it = |it: &&&Value| it["rule"] == "unreadable" && it["message"].as_str().unwrap().contains(cause);
    let finding = findings.iter().find(is_it).unwrap_or_else(|| panic!("no `{cause}` in {path}: {report:#}"));
    assert!(finding["line"].as_u64().is_some() && finding["help"].as_str().is_some(), "{finding:#}");
    let entries = of("not_judged");
    assert!(entries.iter().any(|it| it.to_string().contains(cause)), "not evaluated: {entries:?}");
}

fn machine(name: &str, computer: &str) -> String {
    format!(
        "resource {name} 'Microsoft.Compute/virtualMachines@2023-03-01' = {{\n  name: '{name}'\n  location: 'eastus'\n  properties: {{\n    \
         hardwareProfile: {{ vmSize: 'Standard_NC24ads_A100_v4' }}\n    osProfile: {{ computerName: {computer} }}\n  }}\n}}\n"
    )
}

/// Returns a Bicep file in which each variable is `step` of the previous one.
fn bicep(first: &str, step: impl Fn(&str) -> String) -> String {
    let mut text = format!("var s0 = {first}\n");
    for number in 1..=DOUBLINGS {
        let _ = writeln!(text, "var s{number} = {}", step(&format!("s{}", number - 1)));
    }
    text + &machine("bomb", &format!("string(s{DOUBLINGS})")) + &machine("sound", "'sound'")
}

#[test]
fn strings_and_lists_that_double_in_bicep_are_unknown() {
    let doubled = report(&place(&[("main.bicep", &bicep("'aaaaaaaaaaaaaaaa'", |it| format!("'${{{it}}}${{{it}}}'")))]));
    demand_entry(&doubled, "main.bicep", "creates more than 64 MiB of text");
    assert_eq!(addresses(&doubled), ["aws_instance.beside", "bomb", "sound"]);
    // These functions also read much text, so that steps or text end first.
    for step in [
        |it: &str| format!("concat({it}, {it})"),
        |it: &str| format!("replace({it}, 'a', 'aa')"),
        |it: &str| format!("base64('${{{it}}}${{{it}}}')"),
    ] {
        let report = report(&place(&[("main.bicep", &bicep("'aaaaaaaaaaaaaaaa'", step))]));
        demand_entry(&report, "main.bicep", "some of this template is not read");
        addresses(&report);
    }
    let report =
        report(&place(&[("main.bicep", &bicep("[1]", |it| format!("[{it}, {it}]"))), ("gpulint.toml", FEW_STEPS)]));
    demand_entry(&report, "main.bicep", "60000 steps");
    addresses(&report);
}

#[test]
fn strings_that_double_in_an_azure_template_are_unknown() {
    for function in ["concat(variables('s{}'), variables('s{}'))", "format('{0}{0}', variables('s{}'))"] {
        let mut variables = "\"s0\": \"aaaaaaaaaaaaaaaa\"".to_owned();
        for number in 1..=DOUBLINGS {
            let step = function.replace("s{}", &format!("s{}", number - 1));
            let _ = write!(variables, ",\n\"s{number}\": \"[{step}]\"");
        }
        let machine = |name: &str, computer: &str| {
            format!(
                "{{\"type\": \"Microsoft.Compute/virtualMachines\", \"apiVersion\": \"2023-03-01\", \"name\": \"{name}\", \"location\": \"eastus\", \
                 \"properties\": {{\"hardwareProfile\": {{\"vmSize\": \"Standard_NC24ads_A100_v4\"}}, \"osProfile\": {{\"computerName\": \"{computer}\"}}}}}}"
            )
        };
        let template = format!(
            "{{\"$schema\": \"https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#\",\n\"variables\": {{{variables}}},\n\
             \"resources\": [{}, {}]}}",
            machine("bomb", &format!("[variables('s{DOUBLINGS}')]")),
            machine("sound", "sound"),
        );
        let report = report(&place(&[("azuredeploy.json", &template)]));
        demand_entry(&report, "azuredeploy.json", "some of this template is not read");
        addresses(&report);
    }
}

fn instance(name: &str, tag: &str) -> String {
    format!(
        "  {name}:\n    Type: AWS::EC2::Instance\n    Properties:\n      InstanceType: g5.xlarge\n      Tags: [{{Key: x, Value: {tag}}}]\n"
    )
}

#[test]
fn strings_that_double_in_cloudformation_are_unknown() {
    for around in [
        r#"{"Fn::Sub": ["${a}${a}", {"a": INNER}]}"#,
        r#"{"Fn::Join": [INNER, ["x", "y", "z"]]}"#,
        r#"{"Fn::Base64": {"Fn::Sub": ["${a}${a}", {"a": INNER}]}}"#,
    ] {
        let bomb = (0..DOUBLINGS).fold("\"aaaaaaaaaaaaaaaa\"".to_owned(), |inner, _| around.replace("INNER", &inner));
        let template = format!("Resources:\n{}{}", instance("Bomb", &bomb), instance("Sound", "sound"));
        let report = report(&place(&[("t.yaml", &template)]));
        demand_entry(&report, "t.yaml", "creates more than 64 MiB of text");
        assert_eq!(addresses(&report), ["aws_instance.beside", "Bomb", "Sound"]);
    }
}

#[test]
fn strings_that_double_in_a_pulumi_program_are_unknown() {
    let mut program = "name: demo\nruntime: yaml\nvariables:\n  s0: aaaaaaaaaaaaaaaa\n".to_owned();
    for number in 1..=DOUBLINGS {
        let before = number - 1;
        let _ = writeln!(program, "  s{number}: ${{s{before}}}${{s{before}}}");
    }
    let machine = |name: &str, tag: &str| {
        format!(
            "  {name}:\n    type: aws:ec2:Instance\n    properties: {{instanceType: g5.xlarge, tags: {{x: \"{tag}\"}}}}\n"
        )
    };
    program += &format!("resources:\n{}{}", machine("bomb", &format!("${{s{DOUBLINGS}}}")), machine("sound", "sound"));
    let report = report(&place(&[("Pulumi.yaml", &program)]));
    demand_entry(&report, "Pulumi.yaml", "creates more than 64 MiB of text");
    assert_eq!(addresses(&report), ["aws_instance.beside", "bomb", "sound"]);
}

/// Each level contains ten documents of the next one, and the last level contains a machine.
#[test]
fn nested_documents_that_multiply_end_at_the_limit() {
    const LEVELS: usize = 3;
    let many = |one: &dyn Fn(usize) -> String| (0..10).map(one).collect::<String>();
    let of_level = |level: usize, ending: &str, one: &dyn Fn(usize) -> String, machine: &str| {
        let text = if level < LEVELS { many(one) } else { machine.to_owned() };
        (format!("level{level}.{ending}"), text)
    };
    for (ending, head) in [("yaml", "Resources:\n"), ("bicep", "")] {
        let levels = (0..=LEVELS).map(|level| {
            let next = level + 1;
            let one = |number: usize| match ending {
                "yaml" => format!("  K{number}: {{Type: AWS::CloudFormation::Stack, Properties: {{TemplateURL: ./level{next}.yaml}}}}\n"),
                _ => format!("module k{number} './level{next}.bicep' = {{ name: 'k{number}' }}\n"),
            };
            let machine = if ending == "yaml" { instance("Last", "x") } else { machine("last", "'x'") };
            let (path, text) = of_level(level, ending, &one, &machine);
            (path, format!("{head}{text}"))
        });
        let levels: Vec<(String, String)> = levels.collect();
        let mut files: Vec<(&str, &str)> = levels.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        files.push(("gpulint.toml", FEW_STEPS));
        let report = report(&place(&files));
        assert!(addresses(&report).len() > 5, "the nested documents before the limit are read");
        let told = report["not_judged"].to_string();
        assert!(told.contains("60000 steps") && told.contains(&format!(".{ending}")), "{told}");
        assert!(!told.contains("not in this repository"), "{told}");
    }
}

#[test]
fn a_ring_of_templates_is_reported_and_read_once() {
    let cloudformation = |number: usize| {
        let next = (number + 1) % 3;
        format!(
            "Resources:\n  Next: {{Type: AWS::CloudFormation::Stack, Properties: {{TemplateURL: ./s{next}.yaml}}}}\n{}",
            instance("Web", "x")
        )
    };
    let bicep = |number: usize| {
        format!("module next './s{}.bicep' = {{ name: 'next' }}\n{}", (number + 1) % 3, machine("vm", "'x'"))
    };
    let own = "Resources:\n  Own: {Type: AWS::CloudFormation::Stack, Properties: {TemplateURL: ./own.yaml}}\n";
    let files: Vec<(String, String)> = (0..3)
        .flat_map(|it| [(format!("s{it}.yaml"), cloudformation(it)), (format!("s{it}.bicep"), bicep(it))])
        .chain([("own.yaml".to_owned(), format!("{own}{}", instance("Mine", "x")))])
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let report = report(&place(&files));
    for path in ["s2.yaml", "s2.bicep", "own.yaml"] {
        demand_entry(&report, path, "this template contains itself");
    }
    let expected = ["aws_instance.beside", "Mine", "Next.Next.Web", "Next.Web", "Web", "next.next.vm", "next.vm", "vm"];
    let mut found = addresses(&report);
    found.sort_unstable();
    let mut sorted = expected.to_vec();
    sorted.sort_unstable();
    assert_eq!(found, sorted);
}

/// With few steps, not all deployments of a template can be evaluated. One entry for the template counts the others.
#[test]
fn many_parameter_files_of_one_template_end_at_the_limit() {
    let template = format!(
        "Parameters:\n  T: {{Type: String}}\nResources:\n{}",
        (0..100).map(|it| instance(&format!("Web{it}"), "!Ref T")).collect::<String>()
    );
    let place = place(&[("t.yaml", &template), ("gpulint.toml", "bounds.evaluation-steps = 2000\n")]);
    for number in 0..60 {
        let parameters = format!("[{{\"ParameterKey\": \"T\", \"ParameterValue\": \"v{number}\"}}]");
        place.write(&format!("p{number}.json"), &parameters);
    }
    let report = report(&place);
    demand_entry(&report, "t.yaml", "of 60 deployments");
    assert!(addresses(&report).len() > 100);
}

#[test]
fn a_fan_of_kustomizations_ends_at_the_limit() {
    let place = place(&[]);
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: c\n    image: x\n    resources: {limits: {nvidia.com/gpu: 1}}\n";
    for level in 0..3 {
        let next = level + 1;
        let names: Vec<String> = (0..30).map(|it| format!("../w{next}-{it}")).collect();
        place.write(&format!("l{level}/kustomization.yaml"), &format!("resources: [{}]\n", names.join(", ")));
        for number in 0..30 {
            let text = format!("namePrefix: a{number}-\nresources: [../l{next}]\n");
            place.write(&format!("w{next}-{number}/kustomization.yaml"), &text);
        }
    }
    place.write("l3/kustomization.yaml", "resources: [p.yaml]\n");
    place.write("l3/p.yaml", pod);
    let report = report(&place);
    let told = report["skipped"].to_string();
    assert!(told.contains("l0/kustomization.yaml") && told.contains("exceeds 6000000 steps"), "{told}");
    addresses(&report);
}
