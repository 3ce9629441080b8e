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
        loop {
            let line = self.lines.recv_timeout(Duration::from_secs(60)).expect("another report");
            if line.contains("possible savings") {
                return line;
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
