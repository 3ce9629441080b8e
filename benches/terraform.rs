//! Measures reading Terraform: `GPULINT_CORPUS=DIRECTORY cargo bench --bench terraform`, where the directory contains
//! checkouts. Prints times, their ratio to the targets, and memory. It does not check results.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints its measurements and errors")]

#[path = "../tests/it/terraform/disk.rs"]
mod disk;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gpulint::source::{MemoryTree, SourceFiles};
use gpulint::terraform::{TerraformOptions, TerraformReading, read, syntax_errors};

use disk::{DiskTree, terraform_directories, terraform_files};

const WANTED_MEGABYTES_PER_SECOND: f64 = 60.0;
const WANTED_ROOT: Duration = Duration::from_millis(300);
const WANTED_HOSTILE: Duration = Duration::from_secs(1);

fn main() {
    // `cargo test --benches` runs this too.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    match std::env::var_os("GPULINT_CORPUS") {
        Some(corpus) => {
            let corpus = PathBuf::from(corpus).canonicalize().unwrap();
            parse_everything(&corpus);
            evaluate_roots(&corpus);
        }
        None => println!("SKIPPED: GPULINT_CORPUS names no directory of checkouts"),
    }
    many_roots();
    hostile();
}

/// Parses every file three times on one core; the fastest round counts.
fn parse_everything(corpus: &Path) {
    let files: Vec<PathBuf> = terraform_files(corpus);
    let mut tree = MemoryTree::new();
    let mut bytes = 0;
    for (index, path) in files.iter().enumerate() {
        let text = std::fs::read(path).unwrap();
        bytes += text.len();
        tree = tree.with(&format!("{index}.tf"), text);
    }
    let sources = SourceFiles::new(tree);
    let opened: Vec<_> = (0..files.len()).map(|index| sources.open(&format!("{index}.tf")).unwrap()).collect();
    let texts: Vec<_> = opened.iter().map(|file| (*file, sources.text(*file))).collect();
    let round = || {
        let started = Instant::now();
        let wrong = texts.iter().filter(|(file, text)| !syntax_errors(*file, text).is_empty()).count();
        (started.elapsed(), wrong)
    };
    let (fastest, wrong) = (0..3).map(|_| round()).min().unwrap();
    let speed = bytes as f64 / 1e6 / fastest.as_secs_f64();
    println!(
        "parse: {} files, {:.1} MB, {wrong} refused, {fastest:.1?}: {speed:.0} MB/s, {:.2} of the target",
        files.len(),
        bytes as f64 / 1e6,
        speed / WANTED_MEGABYTES_PER_SECOND
    );
}

/// Evaluates each directory of the repository with the largest roots as a root; prints the slowest ones.
fn evaluate_roots(corpus: &Path) {
    let root = corpus.join("GoogleCloudPlatform+cloud-foundation-fabric");
    let mut results = Vec::new();
    for directory in terraform_directories(&root) {
        let sources = SourceFiles::new(DiskTree { root: root.clone() });
        let options = TerraformOptions { named_roots: vec![directory.clone()], ..TerraformOptions::default() };
        let started = Instant::now();
        let reading = read(&sources, std::slice::from_ref(&directory), &options);
        let steps: u64 = reading.roots.iter().map(|root| root.steps).sum();
        results.push((started.elapsed(), directory, reading.blocks.len(), steps));
    }
    results.sort();
    let ratio = |taken: Duration| taken.as_secs_f64() / WANTED_ROOT.as_secs_f64();
    println!("evaluate: {} roots", results.len());
    for (taken, directory, blocks, steps) in results.iter().rev().take(3) {
        println!("  {directory}: {blocks} blocks, {steps} steps, {taken:.1?}, {:.2} of the limit", ratio(*taken));
    }
    if let Some((taken, directory, blocks, steps)) = results.iter().max_by_key(|result| result.2) {
        println!(
            "  largest {directory}: {blocks} blocks, {steps} steps, {taken:.1?}, {:.2} of the limit",
            ratio(*taken)
        );
    }
}

/// Evaluates 200 roots that call the same 40 modules.
fn many_roots() {
    let mut tree = MemoryTree::new();
    let mut calls = String::new();
    let module = "variable \"a\" {\n  default = \"x\"\n}\n".to_owned()
        + "locals {\n  b = [for i in range(10) : upper(\"${var.a}-${i}\")]\n}\n"
        + "resource \"terraform_data\" \"a\" {\n  count = 3\n  input = local.b[count.index]\n}\n";
    for index in 0..40 {
        let _ = writeln!(calls, "module \"m{index}\" {{\n  source = \"../../modules/m{index}\"\n}}");
        tree = tree.with(&format!("modules/m{index}/main.tf"), module.as_str());
    }
    let paths: Vec<String> = (0..200).map(|index| format!("roots/r{index}/main.tf")).collect();
    for path in &paths {
        tree = tree.with(path, calls.as_str());
    }
    let sources = SourceFiles::new(tree);
    let started = Instant::now();
    let reading = read(&sources, &paths, &TerraformOptions::default());
    println!("200 roots of 40 modules: {} blocks in {:.1?}", reading.blocks.len(), started.elapsed());
}

fn hostile() {
    println!("hostile: time, its ratio to the limit, the most memory so far");
    for (name, files) in hostile_files() {
        let mut tree = MemoryTree::new();
        let paths: Vec<String> = files.iter().map(|(path, _)| path.clone()).collect();
        for (path, text) in files {
            tree = tree.with(&path, text);
        }
        let sources = SourceFiles::new(tree);
        let started = Instant::now();
        let reading = read(&sources, &paths, &TerraformOptions::default());
        let taken = started.elapsed();
        let ratio = taken.as_secs_f64() / WANTED_HOSTILE.as_secs_f64();
        println!("  {name}: {taken:.1?} {ratio:.2} {} {}", memory(), said(&reading));
    }
}

fn said(reading: &TerraformReading) -> String {
    reading.inventory.diagnostics.first().map_or("no message".into(), |first| first.message.clone())
}

/// Returns the peak memory of this process, if the system reports it.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("?");
    line.trim().to_owned()
}

type Files = Vec<(String, String)>;

fn hostile_files() -> Vec<(&'static str, Files)> {
    let main = |text: String| vec![("main.tf".to_owned(), text)];
    let output = |value: &str| format!("output \"o\" {{\n  value = {value}\n}}\n");
    let mut text_doubled = String::from("locals {\n  a0 = \"xxxxxxxxxxxxxxxx\"\n");
    let mut list_doubled = String::from("locals {\n  b0 = [1, 2]\n");
    for index in 1..64 {
        let before = index - 1;
        let _ = writeln!(text_doubled, "  a{index} = \"${{local.a{before}}}${{local.a{before}}}\"");
        let _ = writeln!(list_doubled, "  b{index} = [local.b{before}, local.b{before}]");
    }
    let big = format!("{list_doubled}}}\n");
    let loops = |each: &str| {
        main(big.clone() + &output(&format!("[for i in range(1000) : [for j in range(1000) : length([{each}])]]")))
    };
    let call = |name: &str, source: &str| format!("module \"{name}\" {{\n  source = \"{source}\"\n}}\n");
    let mut tower = main(call("a", "./m0") + &call("b", "./m0"));
    for level in 0..40 {
        let next = format!("../m{}", level + 1);
        tower.push((format!("m{level}/main.tf"), call("a", &next) + &call("b", &next)));
    }
    tower.push(("m40/main.tf".to_owned(), "resource \"aws_instance\" \"a\" {\n}\n".to_owned()));
    let ring = vec![
        ("main.tf".to_owned(), call("a", "./a")),
        ("a/main.tf".to_owned(), call("b", "../b")),
        ("b/main.tf".to_owned(), call("a", "../a")),
    ];
    let line = |filler: &str| format!("locals {{ a = {} }}", filler.repeat((50 << 20) / filler.len()));
    vec![
        ("10,000 brackets", main(output(&format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000))))),
        ("10,000 blocks", main(format!("{}{}", "a {\n".repeat(10_000), "}\n".repeat(10_000)))),
        ("for over 10^9", main(output("[for i in range(1000000000) : i]"))),
        (
            "for of for of for",
            main(output("[for a in range(1000) : [for b in range(1000) : [for c in range(1000) : a]]]")),
        ),
        ("count of 10^9", main("resource \"aws_instance\" \"a\" {\n  count = 1000000000\n}\n".to_owned())),
        ("text that doubles", main(text_doubled + "}\n" + &output("local.a63"))),
        ("lists that double", main(big.clone() + &output("jsonencode(local.b63)"))),
        ("conditionals over a large list", loops("true ? local.b17 : local.b17")),
        ("comparisons of a large list", loops("local.b17 == local.b17")),
        ("jsonencode of a large list", loops("jsonencode(local.b17)")),
        ("distinct of large lists", loops("distinct([local.b16, local.b17])")),
        ("tolist of a large list", loops("tolist(local.b17)")),
        ("a long literal", loops(&"1, ".repeat(2_000))),
        ("texts", loops("\"${i}-${j}\"")),
        ("regular expressions", loops("regexall(\"(\\\\w{100}){20}${i}\", \"a${i}\")")),
        ("modules that call each other twice, 40 levels", tower),
        ("modules in a ring", ring),
        ("50 MB in one line: text", main(line("x").replacen('x', "\"", 1))),
        ("50 MB in one line: a list", main(format!("locals {{ a = [{}] }}", "1,".repeat(25 << 20)))),
        ("50 MB in one line: words", main("a ".repeat(25 << 20))),
        ("50 MB in one line: brackets", main("[".repeat(50 << 20))),
        ("50 MB in one line: templates", main(line("\"${a}\""))),
        ("50 MB of blocks", main("a {}\n".repeat(10 << 20))),
    ]
}
