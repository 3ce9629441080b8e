//! Tests the scorecard's claims about measured use against targets of practitioners.

use serde_json::Value;

use crate::cli::Place;

const TREE: &str = r#"
resource "aws_instance" "trainer" {
  instance_type = "g5.xlarge"
  tags          = { Name = "trainer", purpose = "training" }
}

resource "aws_instance" "demo" {
  instance_type = "g5.xlarge"
  tags          = { Name = "demo" }
}
"#;

const ROWS: &str = "# gpulint usage 1\n\
kind,name,accelerator,gpus,from,to,days,gpu_hours,busy,idle,source\n\
Instance,trainer,A10G,1,2026-11-08,2026-11-22,14,300,0.8,0.1,dcgm:GR_ENGINE_ACTIVE\n\
Instance,demo,A10G,1,2026-11-08,2026-11-22,14,100,0.2,0.7,dcgm:GR_ENGINE_ACTIVE\n";

fn card(place: &Place) -> Value {
    let json = place.stdout(&["check", "--today", "2026-11-25", "--format", "json"]);
    serde_json::from_str::<Value>(&json).unwrap()["scorecard"].clone()
}

#[test]
fn targets_stand_beside_what_was_measured() {
    let place = Place::new();
    place.write("main.tf", TREE);
    assert!(card(&place).get("measured").is_none());
    let text = place.stdout(&["check", "--today", "2026-11-25", "--format", "markdown"]);
    assert!(!text.contains("target"), "{text}");
    place.write("gpulint-usage.csv", ROWS);
    let measured = card(&place)["measured"].clone();
    assert_eq!(
        (&measured["gpu_hours"], &measured["utilization"], &measured["idle_gpu_hours"]),
        (&400.0.into(), &0.65.into(), &100.0.into())
    );
    let text = place.stdout(&["check", "--today", "2026-11-25", "--format", "markdown"]);
    for line in [
        "| measured: utilization | 65%, target over 60% |",
        "| measured: idle GPU hours | 100 of 400, target 0 |",
        "| training and batch on spot | 0 of 1, 0%, target over 70% |",
    ] {
        assert!(text.contains(line), "{line} is missing:\n{text}");
    }
}

/// The first example of each rule page, calculated by hand: dollars per hour of one machine, its measured accelerator
/// hours as a share of 336 hours (two weeks) of all its accelerators, and the saved share of the cost.
pub(crate) const WORKED_OUT: [(&str, f64, f64, f64); 10] = [
    ("idle-by-measure", 1.0, 333.0 / 336.0, 0.94),
    ("held-not-used", 1.0, 290.0 / 336.0, 0.97),
    ("reserved-for-nobody", 5.0, 2688.0 / 4.0 / 336.0, 0.68),
    ("oversized-by-measure", 10.0, 667.0 / 336.0, 1.0 - 2.0 / 10.0),
    ("serving-oversized-kv", 10.0, 332.0 / 336.0, 1.0 - 2.0 / 10.0),
    ("replicas-by-load", 1.0, 1330.0 / 336.0, 1.0 - 1.0 / 4.0),
    ("scale-to-zero-by-measure", 1.0, 332.0 / 336.0, 0.81),
    ("underused-by-measure", 0.7, 1992.0 / 336.0, 1.0 - 3.0 / 6.0),
    ("idle-hours-by-measure", 1.0, 333.0 / 336.0, 0.7),
    ("failed-runs-by-measure", 1.0, 140.0 / 336.0, 42.0 / 140.0),
];

#[test]
fn savings_of_measured_hours_are_what_a_reader_works_out() {
    for (rule, hourly, machines, share) in WORKED_OUT {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("rules/{rule}.md"));
        let page = std::fs::read_to_string(path).unwrap();
        let said = page.split("  saves: $").nth(1).and_then(|rest| rest.split('/').next()).unwrap();
        let said: f64 = said.replace(',', "").parse().unwrap();
        let worked_out = hourly * machines * 730.0 * share;
        assert!((said - worked_out).abs() <= 1.0, "{rule} says {said}, worked out {worked_out}");
    }
}
