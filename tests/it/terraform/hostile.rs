//! Tests malicious code: evaluation ends with a message, and its results stay small.
//!
//! No test here measures time. `cargo bench --bench terraform` prints the duration of each case. Endless evaluation or
//! high memory use shows as a test that does not end, or exceeds the limits below.

use std::fmt::Write;

use gpulint::source::{MemoryTree, ReadError, SourceFiles, Tree, TreeEntry};
use gpulint::terraform::{TerraformOptions, TerraformReading, read};

use crate::holds;

/// Creating a block is the most expensive operation in the evaluation budget, so no code creates more blocks than this.
const MOST_BLOCKS: usize = 40_000;
const MOST_DIAGNOSTICS: usize = 100;
const LONGEST_MESSAGE: usize = 500;

fn reading(files: &[(&str, String)]) -> TerraformReading {
    let mut tree = MemoryTree::new();
    for (path, text) in files {
        tree = tree.with(path, text.as_str());
    }
    let paths: Vec<String> = files.iter().map(|(path, _)| (*path).to_owned()).collect();
    read_within_bounds(tree, &paths)
}

fn read_within_bounds(tree: impl Tree + 'static, paths: &[String]) -> TerraformReading {
    let sources = SourceFiles::new(tree);
    let reading = read(&sources, paths, &TerraformOptions::default());
    let diagnostics = &reading.inventory.diagnostics;
    for it in diagnostics {
        it.span.into_iter().for_each(|span| holds::assert_inside(&sources, span, &it.message));
    }
    assert!(reading.blocks.len() <= MOST_BLOCKS, "{} blocks", reading.blocks.len());
    assert!(diagnostics.len() <= MOST_DIAGNOSTICS, "{} diagnostics", diagnostics.len());
    let longest = diagnostics.iter().map(|it| it.message.len()).max().unwrap_or(0);
    assert!(longest <= LONGEST_MESSAGE, "a message of {longest} bytes");
    reading
}

/// Checks that evaluation ends, with a message that contains these words.
fn ends_with(files: &[(&str, String)], words: &str) {
    says(&reading(files), words);
}

fn says(reading: &TerraformReading, words: &str) {
    let said: Vec<&str> = reading.inventory.diagnostics.iter().map(|it| it.message.as_str()).collect();
    assert!(said.iter().any(|message| message.contains(words)), "{words}: {said:?}");
}

#[test]
fn deep_nesting_is_refused() {
    for (open, close) in [("[", "]"), ("{a=", "}"), ("(", ")"), ("\"${", "}\""), ("f(", ")"), ("!", ""), ("-", "")] {
        let text = format!("locals {{\n  a = {}1{}\n}}\n", open.repeat(10_000), close.repeat(10_000));
        ends_with(&[("main.tf", text)], "levels deep");
    }
    let blocks = format!("{}{}", "a {\n".repeat(10_000), "}\n".repeat(10_000));
    ends_with(&[("main.tf", blocks)], "levels deep");
    let conditional = format!("locals {{\n  a = {}1\n}}\n", "true ? 1 : ".repeat(10_000));
    ends_with(&[("main.tf", conditional)], "levels deep");
    let directives = format!("locals {{\n  a = \"{}\"\n}}\n", "%{if true}".repeat(10_000));
    ends_with(&[("main.tf", directives)], "levels deep");
    let json = format!("{{\"locals\": {{\"a\": {}1{}}}}}", "[".repeat(10_000), "]".repeat(10_000));
    ends_with(&[("main.tf.json", json)], "levels deep");
}

#[test]
fn json_that_breaks_off_anywhere_is_told_where() {
    for broken in
        ["\\", "\\é", "\\uFF", "\\uFF\u{fffd}\u{fffd}", "\\ud800\\u", "\\ud800\\ué", "\\x", "\u{fffd}\\\u{fffd}"]
    {
        for rest in ["", "\"}", "\u{fffd}"] {
            let text = format!("{{\"locals\": \"{broken}{rest}");
            assert!(!reading(&[("main.tf.json", text.clone())]).inventory.diagnostics.is_empty(), "{text}");
        }
    }
}

#[test]
fn long_chains_are_no_recursion() {
    let sum = format!("output \"o\" {{\n  value = 0{}\n}}\n", " + 1".repeat(100_000));
    let attributes = format!("output \"p\" {{\n  value = var.a{}\n}}\n", ".b".repeat(100_000));
    reading(&[("main.tf", sum + &attributes)]);
    let mut locals = String::from("locals {\n  a0 = 1\n");
    for index in 1..10_000 {
        let _ = writeln!(locals, "  a{index} = local.a{}", index - 1);
    }
    let forwards = format!("{locals}}}\noutput \"o\" {{\n  value = local.a9999\n}}\n");
    ends_with(&[("main.tf", forwards)], "levels deep");
}

#[test]
fn values_that_grow_without_end_are_cut_off() {
    let mut doubled = String::from("locals {\n  a0 = \"xxxxxxxxxxxxxxxx\"\n");
    let mut shared = String::from("locals {\n  b0 = [1, 2]\n");
    for index in 1..64 {
        let before = index - 1;
        let _ = writeln!(doubled, "  a{index} = \"${{local.a{before}}}${{local.a{before}}}\"");
        let _ = writeln!(shared, "  b{index} = [local.b{before}, local.b{before}]");
    }
    ends_with(&[("main.tf", doubled + "}\noutput \"o\" {\n  value = local.a63\n}\n")], "MiB of text");
    let uses =
        "}\noutput \"o\" {\n  value = jsonencode(local.b63)\n}\noutput \"p\" {\n  value = local.b40 == local.b41\n}\n";
    reading(&[("main.tf", shared + uses)]);
    let cubed =
        "output \"o\" {\n  value = [for a in range(1000) : [for b in range(1000) : [for c in range(1000) : a]]]\n}\n";
    ends_with(&[("main.tf", cubed.to_owned())], "MiB");
    let idle = "locals {\n  r = range(1000)\n}\noutput \"o\" {\n  value = [for a in local.r : [for b in local.r : [for c in local.r : c if false]]]\n}\n";
    ends_with(&[("main.tf", idle.to_owned())], "steps");
    let product =
        "locals {\n  r = range(1000)\n}\noutput \"o\" {\n  value = setproduct(local.r, local.r, local.r)\n}\n";
    ends_with(&[("main.tf", product.to_owned())], "steps");
    let powers = "locals {\n  a = 1e300 * 1e300\n  b = pow(10, 308) * pow(10, 308) * pow(10, 308)\n}\noutput \"o\" {\n  value = [local.a, local.b, 1e999999]\n}\n";
    reading(&[("main.tf", powers.to_owned())]);
    let wide = "output \"o\" {\n  value = [format(\"%999999999d\", 1), indent(999999999, \"a\\nb\"), replace(\"aaaa\", \"\", \"b\")]\n}\n";
    reading(&[("main.tf", wide.to_owned())]);
}

/// Returns the total number of instances of all blocks of a type.
fn number(reading: &TerraformReading, of: &str) -> f64 {
    let blocks = reading.blocks.iter().filter(|block| block.labels.first().is_some_and(|label| label == of));
    blocks.map(|block| block.instances.value().unwrap().expected).sum()
}

#[test]
fn many_instances_are_counted_and_not_made() {
    let count = reading(&[("main.tf", "resource \"aws_instance\" \"a\" {\n  count = 1000000000\n}\n".to_owned())]);
    assert_eq!(number(&count, "aws_instance"), 1e9);
    assert_eq!(count.blocks.len(), 1);
    says(&count, "evaluates 1000000000 instances as one");
    let each = "locals {
  names = flatten([for a in range(100) : [for b in range(100) : \"${a}-${b}\"]])
  types = { for name in local.names : name => { type = \"p4d.24xlarge\", zone = substr(name, 0, 1) } }
}
resource \"aws_instance\" \"of_a_set\" {
  for_each      = toset(local.names)
  instance_type = \"p4d.24xlarge\"
}
resource \"aws_spot_instance_request\" \"of_a_map\" {
  for_each      = local.types
  instance_type = each.value.type
  zone          = each.value.zone
}
";
    let each = reading(&[("main.tf", each.to_owned())]);
    assert_eq!(number(&each, "aws_instance"), 1e4);
    assert_eq!(number(&each, "aws_spot_instance_request"), 1e4);
    says(&each, "evaluates the last 8000 of these instances as one");
    let last = each.blocks.iter().find(|block| block.address == "aws_spot_instance_request.of_a_map").unwrap();
    assert_eq!(last.attributes.get("instance_type").unwrap().value.as_text().as_deref(), Some("p4d.24xlarge"));
    assert!(last.attributes.get("zone").unwrap().value.is_unknown());
}

/// A tree in which each directory contains links `loop` and `again` to itself.
struct Looping(MemoryTree);

fn without_links(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "loop" | "again" | "")).collect();
    parts.join("/")
}

impl Tree for Looping {
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        self.0.read(&without_links(path))
    }

    fn list(&self, directory: &str) -> Vec<TreeEntry> {
        let mut entries = self.0.list(&without_links(directory));
        entries.extend(["again", "loop"].map(|name| TreeEntry { name: name.to_owned(), is_directory: true }));
        entries.sort();
        entries
    }
}

#[test]
fn links_that_lead_back_end() {
    let calls = "module \"a\" {\n  source = \"./loop\"\n}\nmodule \"b\" {\n  source = \"./again\"\n}\n";
    let tree = Looping(MemoryTree::new().with("main.tf", calls));
    says(&read_within_bounds(tree, &["main.tf".to_owned()]), "some of this root is not read");
    let files = "output \"o\" {\n  value = fileset(path.module, \"**/*.tf\")\n}\n";
    let tree = Looping(MemoryTree::new().with("main.tf", files));
    says(&read_within_bounds(tree, &["main.tf".to_owned()]), "some of this root is not read");
}

#[test]
fn modules_that_call_each_other_end() {
    let call = |name: &str, source: &str| format!("module \"{name}\" {{\n  source = \"{source}\"\n}}\n");
    ends_with(
        &[("main.tf", call("a", "./a")), ("a/main.tf", call("b", "../b")), ("b/main.tf", call("a", "../a"))],
        "calls itself",
    );
    // Each level calls the next one twice: 2^40 instances.
    let levels: Vec<String> = (0..40).map(|level| format!("m{level}/main.tf")).collect();
    let mut files = vec![("main.tf", call("a", "./m0") + &call("b", "./m0"))];
    for (level, path) in levels.iter().enumerate().take(39) {
        let next = format!("../m{}", level + 1);
        files.push((path, call("a", &next) + &call("b", &next)));
    }
    files.push((&levels[39], "resource \"aws_instance\" \"a\" {\n}\n".to_owned()));
    ends_with(&files, "steps");
    let repeated = "module \"a\" {\n  source = \"./a\"\n  count = 2000\n}\n".to_owned();
    let inner = "module \"b\" {\n  source = \"../b\"\n  count = 2000\n}\n".to_owned();
    ends_with(
        &[("main.tf", repeated), ("a/main.tf", inner), ("b/main.tf", "locals {\n  a = 1\n}\n".to_owned())],
        "steps",
    );
}

#[test]
fn large_values_are_not_gone_through_again_and_again() {
    let mut text = String::from("locals {\n  b0 = [1, 2]\n");
    for index in 1..18 {
        let before = index - 1;
        let _ = writeln!(text, "  b{index} = [local.b{before}, local.b{before}]");
    }
    text.push_str("}\n");
    for each in [
        "true ? local.b17 : local.b17",
        "jsonencode(local.b17)",
        "distinct([local.b16, local.b17])",
        "tolist(local.b17)",
    ] {
        let loops = format!(
            "output \"o\" {{\n  value = [for i in range(1000) : [for j in range(1000) : length([{each}])]]\n}}\n"
        );
        ends_with(&[("main.tf", format!("{text}{loops}"))], "some of this root is not read");
    }
}

#[test]
fn garbage_is_skipped_in_linear_time() {
    let size = 1 << 20;
    let fill = |piece: &str| piece.repeat(size / piece.len());
    for piece in [
        "a = <<EOT\n",
        "a = \"${\"",
        "}",
        "{",
        "\"",
        "a\n",
        "a {\n",
        "a = [\n",
        "/*",
        "# x\n",
        "a = 1 a = 2\n",
        "%{",
        "<<-",
        "\u{0}",
        "é",
        "a b c d ",
        "a = {b = 1 ",
        "resource \"a\" \"b\" {\n",
        "a = 1\n",
        "x = \"a\" }\n",
        "a { b = 1 }\n",
        "${",
        "\\",
        "a = f(",
    ] {
        reading(&[("main.tf", fill(piece))]);
        reading(&[("terraform.tfvars", fill(piece)), ("main.tf", "variable \"a\" {}\n".to_owned())]);
        reading(&[("main.tf.json", fill(piece))]);
    }
    let line = format!("locals {{ a = \"{}\" }}", "x".repeat(20 << 20));
    reading(&[("main.tf", line)]);
    let list = format!("locals {{ a = [{}] }}", "1,".repeat(1 << 20));
    reading(&[("main.tf", list)]);
    let keys: String = (0..100_000).map(|index| format!("k{index} = 1\n")).collect();
    reading(&[("main.tf", format!("locals {{\n  a = {{\n{keys}}}\n}}\noutput \"o\" {{\n  value = local.a.k5\n}}\n"))]);
}

/// Roots of a few kilobytes that would fill the memory: arguments times instances, a table, and many of both.
#[test]
fn what_roots_make_fits_the_memory_of_one_run() {
    let arguments = (0..8_000).map(|at| format!("  a{at} = 1\n")).collect::<String>();
    let many = format!("resource \"aws_instance\" \"a\" {{\n  count = 2000\n{arguments}}}\n");
    ends_with(&[("main.tf", many.clone())], "MiB");
    let table = "locals {\n  row  = join(\"\\n\", [for i in range(1000) : \"1,1,1,1,1,1,1,1\"])\n  \
                 text = join(\"\\n\", concat([\"a,b,c,d,e,f,g,h\"], [for i in range(1000) : local.row]))\n}\n\
                 output \"o\" {\n  value = csvdecode(local.text)\n}\n";
    ends_with(&[("main.tf", table.to_owned())], "MiB");
    // Each root gets a share of what the previous ones left, so that all together create no more blocks than a few.
    let roots: Vec<(String, String)> = (0..24).map(|at| (format!("r{at:02}/main.tf"), many.clone())).collect();
    let roots: Vec<(&str, String)> = roots.iter().map(|(path, text)| (path.as_str(), text.clone())).collect();
    let mut tree = MemoryTree::new();
    for (path, text) in &roots {
        tree = tree.with(path, text.as_str());
    }
    let paths: Vec<String> = roots.iter().map(|(path, _)| (*path).to_owned()).collect();
    let reading = read(&SourceFiles::new(tree), &paths, &TerraformOptions::default());
    let arguments: usize = reading.blocks.iter().map(|block| block.attributes.len()).sum();
    assert!(arguments < 6_000_000, "{arguments} arguments in memory");
    says(&reading, "the memory that other roots left");
}
