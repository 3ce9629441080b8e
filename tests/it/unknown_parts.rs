//! Tests random trees whose parts become unknown one by one: no total decreases, and a part that becomes known again
//! changes the total only by itself.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::cli::Place;

/// `GPULINT_TREES` sets the number of trees.
const TREES: u64 = 40;

struct Chance(u64);

impl Chance {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % most
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

/// A resource with a cost, in which one value can become unknown.
enum Part {
    Instance { machine: String, count: usize, is_counted: bool },
    Google { machine: String, zone: String },
    Group { machine: String, size: usize, most: usize },
    Pods { machine: String, replicas: usize },
}

impl Part {
    fn random(chance: &mut Chance) -> Part {
        let machine =
            chance.of(&["g5.xlarge", "g6.12xlarge", "p4d.24xlarge", "g6e.48xlarge", "p5.48xlarge"]).to_owned();
        let (one, two) = (1 + chance.below(4), chance.below(5));
        match chance.below(4) {
            0 => Part::Instance { machine, count: one, is_counted: two > 2 },
            1 => Part::Google {
                machine: chance.of(&["a2-highgpu-1g", "g2-standard-24", "a3-highgpu-8g"]).to_owned(),
                zone: "us-central1-a".to_owned(),
            },
            2 => Part::Group { machine, size: one, most: one + two },
            _ => Part::Pods { machine, replicas: one },
        }
    }

    fn write(&self, at: usize, is_known: bool) -> (String, String) {
        let of = |text: &str| if is_known { format!("\"{text}\"") } else { format!("var.part{at}") };
        let text = match self {
            Part::Instance { machine, count, is_counted } => {
                let count = if is_known || !is_counted { count.to_string() } else { format!("var.part{at}") };
                let machine = if *is_counted { format!("\"{machine}\"") } else { of(machine) };
                format!(
                    "resource \"aws_instance\" \"part{at}\" {{\n  ami = \"ami-1\"\n  count = {count}\n  instance_type = {machine}\n  tags = {{ accelerator = \"gpu\" }}\n}}\n"
                )
            }
            Part::Google { machine, zone } => format!(
                "resource \"google_compute_instance\" \"gpu-part{at}\" {{\n  name = \"gpu-part{at}\"\n  zone = \"{zone}\"\n  machine_type = {}\n}}\n",
                of(machine)
            ),
            Part::Group { machine, size, most } => format!(
                "resource \"aws_eks_node_group\" \"part{at}\" {{\n  cluster_name = \"c\"\n  labels = {{ accelerator = \"nvidia\" }}\n  instance_types = [{}]\n  scaling_config {{\n    min_size = {size}\n    desired_size = {size}\n    max_size = {most}\n  }}\n}}\n",
                of(machine)
            ),
            Part::Pods { machine, replicas } => {
                // A template value that no one sets.
                let machine = if is_known { machine.clone() } else { format!("${{PART{at}}}") };
                let text = format!(
                    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{ name: part{at} }}\nspec:\n  replicas: {replicas}\n  selector: {{ matchLabels: {{ app: part{at} }} }}\n  template:\n    metadata: {{ labels: {{ app: part{at} }} }}\n    spec:\n      nodeSelector: {{ node.kubernetes.io/instance-type: \"{machine}\" }}\n      containers:\n        - name: a\n          image: acme/server\n          resources: {{ limits: {{ nvidia.com/gpu: 1 }} }}\n"
                );
                return (format!("pods/part{at}.yaml"), text);
            }
        };
        (format!("part{at}.tf"), format!("variable \"part{at}\" {{}}\n{text}"))
    }
}

/// Writes a state of the tree below a directory.
fn state(place: &Place, side: &str, parts: &[Part], unknown: &BTreeSet<usize>) {
    place.write(&format!("{side}/provider.tf"), "provider \"aws\" {\n  region = \"us-east-1\"\n}\n");
    for (at, part) in parts.iter().enumerate() {
        let (path, text) = part.write(at, !unknown.contains(&at));
        place.write(&format!("{side}/{path}"), &text);
    }
}

/// The totals before and after, the known difference, and the amounts that only one state knows.
struct Change {
    before: f64,
    after: f64,
    is_whole: bool,
    difference: f64,
    became_known: f64,
    no_longer_known: f64,
    not_judged: usize,
}

fn change(place: &Place, from: &str, to: &str) -> Change {
    let json = place.stdout(&["diff", "--base-dir", from, to, "--format", "json", "--prices", "embedded"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    let cost = &json["cost"]["combined"];
    let usd = |part: &Value| part["expected"].as_f64().unwrap();
    Change {
        before: usd(&cost["before"]),
        after: usd(&cost["after"]),
        is_whole: cost["after"]["whole"].as_bool().unwrap(),
        difference: usd(&cost["difference"]),
        became_known: usd(&cost["became_known"]),
        no_longer_known: usd(&cost["no_longer_known"]),
        not_judged: json["not_judged"].as_array().map_or(0, Vec::len),
    }
}

#[test]
fn what_becomes_unknown_is_no_saving_and_what_becomes_known_no_growth() {
    let trees = std::env::var("GPULINT_TREES").ok().and_then(|it| it.parse().ok()).unwrap_or(TREES);
    let mut steps = 0;
    for seed in 0..trees {
        let mut chance = Chance(seed * 7_919 + 17);
        let parts: Vec<Part> = (0..2 + chance.below(4)).map(|_| Part::random(&mut chance)).collect();
        let mut order: Vec<usize> = (0..parts.len()).collect();
        order.sort_by_key(|at| (at * 31 + usize::try_from(seed).unwrap_or_default()) % 7);
        let place = Place::new();
        let mut unknown = BTreeSet::new();
        for at in order {
            state(&place, "before", &parts, &unknown);
            unknown.insert(at);
            state(&place, "after", &parts, &unknown);
            let all: Vec<(String, String)> =
                parts.iter().enumerate().map(|(at, part)| part.write(at, !unknown.contains(&at))).collect();
            let what = format!("tree {seed}, part {at} of {all:#?}");
            let lost = change(&place, "before", "after");
            let part = lost.before - lost.after;
            assert!(!lost.is_whole || lost.not_judged > 0, "{what}: the sum is whole");
            if part < 0.0 {
                // An unnamed accelerator gets the lowest possible price, and another accelerator is cheaper.
                assert!(lost.difference > -0.01, "{what}: {part} {}", lost.difference);
            } else {
                assert!(lost.difference.abs() < 0.01, "{what}: {part} {}", lost.difference);
                assert!((lost.no_longer_known - part).abs() < 0.02, "{what}: {part} {}", lost.no_longer_known);
                let found = change(&place, "after", "before");
                assert!(found.difference.abs() < 0.01, "{what}: {part} {}", found.difference);
                assert!((found.became_known - part).abs() < 0.02, "{what}: {part} {}", found.became_known);
            }
            steps += 1;
        }
    }
    assert!(steps >= 2 * trees, "{steps}");
}
