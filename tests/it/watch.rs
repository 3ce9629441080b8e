//! Tests that `check --watch` reports again if a file changes, appears or disappears, and if settings change.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::cli::Place;

struct Watch {
    process: Child,
    lines: Receiver<String>,
}

impl Watch {
    fn start(place: &Place) -> Watch {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
        command.args(["check", "--watch", "--format", "concise", "--prices", "embedded"]);
        let mut process =
            command.current_dir(place.path()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let (said, lines) = channel();
        std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| said.send(line)));
        Watch { process, lines }
    }

    /// Returns the next line about cost.
    fn headline(&self) -> String {
        self.next(Duration::from_secs(60)).expect("another report")
    }

    fn next(&self, patience: Duration) -> Option<String> {
        loop {
            let line = self.lines.recv_timeout(patience).ok()?;
            if line.contains("possible savings") {
                return Some(line);
            }
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_report_follows_each_change_of_a_file() {
    let machine = |name: &str| format!("resource \"aws_instance\" \"a\" {{\n  instance_type = \"{name}\"\n}}\n");
    let place = Place::new();
    place.write("main.tf", &machine("g5.2xlarge"));
    let watch = Watch::start(&place);
    assert!(watch.headline().contains("$621/month"));
    place.write("main.tf", &machine("p5.48xlarge"));
    assert!(watch.headline().contains("$28,221/month"));
    place.write("more.tf", &machine("g5.2xlarge").replace("\"a\"", "\"b\""));
    assert!(watch.headline().contains("$28,843/month"));
    fs::remove_file(place.path().join("main.tf")).unwrap();
    assert!(watch.headline().contains("$621/month"));
    // Invalid settings do not end the watch.
    place.write("gpulint.toml", "no settings");
    std::thread::sleep(Duration::from_secs(1));
    place.write("gpulint.toml", "[prices]\ncurrency = \"EUR\"\nunits_per_usd = 2\n");
    assert!(watch.headline().contains("€"));
}

fn pool(machine: &str) -> String {
    format!("resource \"aws_instance\" \"a\" {{\n  instance_type = \"{machine}\"\n}}\n")
}

/// Each of these changes once stayed without a report, because the file had changed before.
#[test]
fn a_report_follows_each_further_change_of_the_same_file() {
    let place = Place::new();
    place.write("main.tf", &pool("g5.2xlarge"));
    place.write("readme.tf", "# nothing\n");
    let watch = Watch::start(&place);
    assert!(watch.headline().contains("$621/month"));
    for _ in 0..3 {
        for (machine, cost) in
            [("p5.48xlarge", "$28,221/month"), ("g5.xlarge", "$516/month"), ("g5.2xlarge", "$621/month")]
        {
            place.write("main.tf", &pool(machine));
            let said = watch.headline();
            assert!(said.contains(cost), "{machine}: {said}");
        }
    }
    // A file with new times and the same content did not change.
    place.write("main.tf", &pool("g5.2xlarge"));
    place.write("readme.tf", "# nothing\n");
    assert_eq!(watch.next(Duration::from_secs(3)), None);
    fs::rename(place.path().join("main.tf"), place.path().join("other.tf")).unwrap();
    assert!(watch.headline().contains("$621/month"));
    place.write("other.tf", &pool("p5.48xlarge"));
    assert!(watch.headline().contains("$28,221/month"));
    // Another program replaces the file by one of the same size and time.
    place.write("other.tf", &pool("g5.2xlarge"));
    assert!(watch.headline().contains("$621/month"));
    let time = fs::metadata(place.path().join("other.tf")).unwrap().modified().unwrap();
    place.write("new.tmp", &pool("g6.2xlarge"));
    fs::File::options().write(true).open(place.path().join("new.tmp")).unwrap().set_modified(time).unwrap();
    fs::rename(place.path().join("new.tmp"), place.path().join("other.tf")).unwrap();
    let said = watch.headline();
    assert!(!said.contains("$621/month"), "{said}");
    fs::remove_file(place.path().join("other.tf")).unwrap();
    place.write("last.tf", &pool("g5.2xlarge"));
    assert!(watch.headline().contains("$621/month") || watch.headline().contains("$621/month"));
}

#[test]
fn a_report_follows_each_change_of_a_file_with_values() {
    let place = Place::new();
    place.write(
        "main.tf",
        "variable \"machine\" {}\nresource \"aws_instance\" \"a\" {\n  instance_type = var.machine\n}\n",
    );
    place.write("terraform.tfvars", "machine = \"g5.2xlarge\"\n");
    place.write("start.sh", "#!/bin/sh\n");
    let watch = Watch::start(&place);
    assert!(watch.headline().contains("$621/month"));
    for (machine, cost) in
        [("p5.48xlarge", "$28,221/month"), ("g5.2xlarge", "$621/month"), ("p5.48xlarge", "$28,221/month")]
    {
        place.write("terraform.tfvars", &format!("machine = \"{machine}\"\n"));
        assert!(watch.headline().contains(cost));
    }
    fs::remove_file(place.path().join("terraform.tfvars")).unwrap();
    place.write("b.auto.tfvars", "machine = \"g5.2xlarge\"\n");
    let mut said = watch.headline();
    if !said.contains("$621/month") {
        said = watch.headline();
    }
    assert!(said.contains("$621/month"), "{said}");
    for rate in ["2", "3", "4"] {
        place.write("gpulint.toml", &format!("[prices]\ncurrency = \"EUR\"\nunits_per_usd = {rate}\n"));
        assert!(watch.headline().contains("€"));
    }
}
