//! Tests fixes of random text: only the requested value changes, in bytes and in meaning.

use std::fmt::Write as _;

use gpulint::inventory::{FactEdit, FactValue, Key, Part, Resource};
use gpulint::source::{Edit, MemoryTree, SourceFiles, Span};
use gpulint::{fix, terraform};

/// A small random generator with the same numbers on every machine.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n as u64) as usize
    }

    pub(crate) fn of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }

    pub(crate) fn chance(&mut self) -> bool {
        self.below(2) == 0
    }
}

/// Writes a pool with random amounts of content, and with comments, blanks and line breaks in all allowed places.
fn pool(random: &mut Random, name: &str, text: &mut String) {
    let gap = |random: &mut Random| random.of(&["", "\n", "  # why\n", "  /* so */\n", "\n  // é\n"]).to_owned();
    let equals = |random: &mut Random| random.of(&[" = ", "=", "   = ", " =  "]).to_owned();
    let tail = |random: &mut Random| random.of(&["", "", " # é", " // ON_DEMAND", "  "]).to_owned();
    let _ = writeln!(text, "resource \"aws_eks_node_group\" \"{name}\" {{{}", tail(random));
    let mut arguments = vec!["instance_types\u{0}[\"p4d.24xlarge\"]".to_owned(), "cluster_name\u{0}\"a=b\"".to_owned()];
    if random.chance() {
        let value = random.of(&["\"ON_DEMAND\"", "\"ON_DEMAND\"", "var.capacity", "null"]);
        arguments.push(format!("capacity_type\u{0}{value}"));
    }
    if random.chance() {
        arguments.push("labels\u{0}{ workload = \"training\" }".to_owned());
    }
    if random.chance() {
        arguments.push("tags\u{0}{\n    team = \"a\" # mine\n  }".to_owned());
    }
    if random.chance() {
        arguments.push("user_data\u{0}<<-EOT\n    capacity_type = \"ON_DEMAND\"\n  EOT".to_owned());
    }
    let start = random.below(arguments.len());
    arguments.rotate_left(start);
    for argument in arguments {
        let (name, value) = argument.split_once('\u{0}').unwrap();
        let tail = if value.starts_with("<<") { String::new() } else { tail(random) };
        let _ = writeln!(text, "{}  {name}{}{value}{tail}", gap(random), equals(random));
    }
    let floor = random.of(&["1", "2", "\"1\""]);
    match random.below(3) {
        0 => {}
        1 => {
            let _ = writeln!(text, "  scaling_config {{\n    min_size={floor}{}\n    max_size = 4\n  }}", tail(random));
        }
        _ => {
            let _ = writeln!(
                text,
                "\n  scaling_config {{\n    desired_size = 2\n    max_size     = 4\n    min_size     = {floor}\n  }}{}",
                tail(random)
            );
        }
    }
    text.push_str("}\n");
    text.push_str(random.of(&["", "\n", "# between\n"]));
}

fn wish(random: &mut Random) -> FactEdit {
    match random.below(3) {
        0 => FactEdit { part: Part::Fact(Key::Purchase), value: Some(FactValue::text("spot")) },
        1 => FactEdit { part: Part::Floor, value: Some(FactValue::Integer(0)) },
        _ => FactEdit { part: Part::Label("cost-centre".into()), value: Some(FactValue::text("r&d ${x}")) },
    }
}

fn read(text: &str) -> (SourceFiles, terraform::TerraformReading) {
    let sources = SourceFiles::new(MemoryTree::new().with("main.tf", text));
    let reading = terraform::read(&sources, &["main.tf".to_owned()], &terraform::TerraformOptions::default());
    (sources, reading)
}

fn is_granted(resource: &Resource, wish: &FactEdit) -> bool {
    match &wish.part {
        Part::Fact(key) => resource.fact(*key).value() == wish.value.as_ref(),
        Part::Floor => resource.count.value().is_some_and(|range| range.floor == 0.0),
        Part::Ceiling => {
            let wanted = wish.value.as_ref().and_then(FactValue::as_number);
            resource.count.value().map(|range| range.ceiling) == wanted
        }
        Part::Label(key) => {
            let label = resource.labels.entries.get(&**key).and_then(|fact| fact.value());
            label.map(|it| it.to_string()) == wish.value.as_ref().map(FactValue::to_string)
        }
    }
}

/// Returns everything that a resource sets, except the requested edit.
fn others(resource: &Resource, wish: &FactEdit) -> String {
    let facts = resource.facts().filter(|(key, _)| wish.part != Part::Fact(*key));
    let mut text: String = facts.map(|(key, fact)| format!("{}={:?} ", key.name(), fact.value())).collect();
    for (key, fact) in resource.labels.entries.iter().filter(|(key, _)| wish.part != Part::Label(key.as_str().into())) {
        let _ = write!(text, "{key}:{:?} ", fact.value());
    }
    if !matches!(wish.part, Part::Floor | Part::Ceiling) {
        let _ = write!(text, "{:?}", resource.count.value());
    }
    text
}

/// Returns the text between the edits, before and after them.
fn outside(text: &str, edits: &[Edit]) -> Vec<String> {
    let mut parts = Vec::new();
    let mut at = 0;
    for Edit { span: Span { start, end, .. }, .. } in edits {
        parts.push(text[at..*start as usize].to_owned());
        at = *end as usize;
    }
    parts.push(text[at..].to_owned());
    parts
}

#[test]
fn a_random_fix_changes_what_is_wished_and_not_a_byte_beside_it() {
    let cases = std::env::var("GPULINT_FIXES").ok().and_then(|it| it.parse().ok()).unwrap_or(1_000);
    let (mut written, mut random) = (0, Random(11));
    for case in 0..cases {
        let mut text =
            String::from(if random.chance() { "variable \"capacity\" {\n  default = \"ON_DEMAND\"\n}\n" } else { "" });
        let pools = 1 + random.below(3);
        for at in 0..pools {
            pool(&mut random, &format!("p{at}"), &mut text);
        }
        if random.below(4) == 0 {
            text = text.replace('\n', "\r\n");
        }
        if random.below(8) == 0 {
            text.insert(0, '\u{feff}');
        }
        let (sources, reading) = read(&text);
        let resources = &reading.inventory.resources;
        let (at, wish) = (random.below(resources.len()), wish(&mut random));
        let writer = terraform::TerraformWriter::new(&sources, &reading.blocks, &reading.roots);
        let Ok(mut edits) = writer.write(&resources[at], &wish) else { continue };
        edits.sort_by_key(|edit| edit.span);
        let after = fix::apply(&text, edits.iter().collect());
        let (_, again) = read(&after);
        let failed = |why: &str| format!("case {case}: {wish}: {why}\n--- before\n{text}\n--- after\n{after}");
        assert!(
            again.inventory.diagnostics.len() <= reading.inventory.diagnostics.len(),
            "{}",
            failed("it does not parse")
        );
        assert_eq!(again.inventory.resources.len(), resources.len(), "{}", failed("resources"));
        for (place, (old, new)) in resources.iter().zip(&again.inventory.resources).enumerate() {
            if place == at {
                assert!(is_granted(new, &wish), "{}", failed("it is not as wished"));
                assert_eq!(others(old, &wish), others(new, &wish), "{}", failed("something else changed"));
            } else {
                let none = FactEdit { part: Part::Label("".into()), value: None };
                assert_eq!(others(old, &none), others(new, &none), "{}", failed("another resource changed"));
            }
        }
        let mut rest = after.as_str();
        for part in outside(&text, &edits) {
            let found = rest.find(&part).unwrap_or_else(|| panic!("{}", failed("text beside the edits changed")));
            rest = &rest[found + part.len()..];
        }
        assert_eq!(after.matches('\r').count() > 0, text.contains('\r'), "{}", failed("line ends"));
        assert!(!text.contains('\r') || !after.replace("\r\n", "").contains('\n'), "{}", failed("mixed line ends"));
        written += 1;
    }
    assert!(written * 10 > cases * 5, "only {written} of {cases} were written");
}

#[test]
fn a_file_that_may_not_be_written_is_left_alone() {
    let place = crate::cli::Place::new();
    let job = "apiVersion: batch/v1\nkind: Job\nmetadata: { name: a }\nspec:\n  template:\n    spec:\n      containers:\n        \
               - { name: a, image: x, resources: { limits: { nvidia.com/gpu: 1 } } }\n";
    place.write("job.yaml", job);
    let file = place.directory().join("job.yaml");
    let mut permissions = std::fs::metadata(&file).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&file, permissions).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_gpulint"));
        command.args(["check", "--profile", "all", "--no-config"]).args(arguments).current_dir(place.directory());
        let output = command.output().unwrap();
        (String::from_utf8_lossy(&output.stderr).into_owned(), output.status.code())
    };
    let (said, code) = run(&["--fix", "job.yaml"]);
    assert!(said.contains("`job.yaml` was not fixed: it is read-only"), "{said}");
    assert_eq!((code, std::fs::read_to_string(&file).unwrap()), (Some(1), job.to_owned()));
}
