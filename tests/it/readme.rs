//! Checks that the first picture of README and book matches the program's output, in both widths.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::fences;
use crate::skipped::skip;

const EXAMPLE: &str = "check examples/training-platform-eks";

/// The pictures, with the columns of their terminal.
const PICTURES: [(&str, &str); 2] = [("docs/pictures/terminal.svg", ""), ("docs/pictures/terminal-phone.svg", "48")];

#[test]
fn the_picture_of_the_readme_tells_the_truth() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (path, columns) in PICTURES {
        let path = root.join(path);
        if fences::blessing() {
            let Some(picture) = drawn(&printed("always", columns)) else {
                return skip("python3 is not there to draw the terminal");
            };
            fs::write(&path, picture).unwrap();
        }
        let picture = fs::read_to_string(&path).unwrap();
        let printed = printed("never", columns);
        let printed: Vec<&str> = printed.trim_end().lines().map(str::trim_end).collect();
        assert!(printed.len() > 20, "{printed:?}");
        let shown = shown(&picture);
        let wrong = shown.iter().zip(&printed).find(|(shown, printed)| shown != printed);
        assert!(wrong.is_none() && shown.len() == printed.len(), "{wrong:?}: GPULINT_BLESS=1 draws the picture anew");
        assert!(picture.contains(&format!("$ gpulint {EXAMPLE}")));
    }
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    assert!(readme.contains("](docs/pictures/terminal.svg)") && readme.contains(&format!("cargo run -- {EXAMPLE}")));
}

/// Returns the output of the README's first command.
fn printed(color: &str, columns: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(EXAMPLE.split(' ')).env("COLUMNS", columns);
    let output = command.args(["--today", "2026-11-21", "--prices", "embedded", "--color", color]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "the example has something to fix");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the lines of a picture as readers see them, below its title.
fn shown(picture: &str) -> Vec<String> {
    let lines = picture.lines().filter(|line| line.starts_with("<text y="));
    let text = |line: &str| -> String {
        let parts = line.split("<tspan").skip(1).map(|part| part.split_once('>').unwrap().1.split('<').next().unwrap());
        let text: String = parts.collect();
        text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").trim_end().to_owned()
    };
    lines.map(text).collect()
}

fn drawn(printed: &str) -> Option<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/terminal.py");
    let mut command = Command::new("python3");
    command.arg(script).arg(format!("gpulint {EXAMPLE}")).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().ok()?;
    child.stdin.take()?.write_all(printed.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
}
