//! Tests that a pack's guarantees hold against all settings of a repository: one case for each cell of the table in
//! docs/own-rules/guarantees.md.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::cli::Place;

/// The guaranteed rule.
const PAGE: &str = "---\nname: too-many\nparams: { most: 4 }\nwhen: accelerator_count > params.most\n\
                    message: \"{gpus} in one place\"\nuntested: true\n---\n# too-many\n\nToo many.\n";

const MACHINE: &str = "resource \"aws_instance\" \"a\" {\n  instance_type = \"p4d.24xlarge\"\n}\n";

const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  annotations: { gpulint.dev/ignore.too-many: \"because\" }\nspec:\n  \
                   containers:\n    - { name: c, resources: { limits: { nvidia.com/gpu: 8 } } }\n";

/// The repository's attempt, by its name in the table: settings, other files, and arguments of the run.
struct Means {
    name: &'static str,
    settings: &'static str,
    files: &'static [(&'static str, &'static str)],
    before: &'static [&'static [&'static str]],
    arguments: &'static [&'static str],
}

const NONE: Means = Means { name: "", settings: "", files: &[], before: &[], arguments: &[] };

const MEANS: &[Means] = &[
    Means {
        name: "a comment",
        files: &[(
            "main.tf",
            "# gpulint: ignore[too-many] -- because\nresource \"aws_instance\" \"a\" {\n  instance_type = \"p4d.24xlarge\"\n}\n",
        )],
        ..NONE
    },
    Means {
        name: "`ignore-file` at the top of a file",
        files: &[(
            "main.tf",
            "# gpulint: ignore-file[too-many] -- because\n\nresource \"aws_instance\" \"a\" {\n  instance_type = \"p4d.24xlarge\"\n}\n",
        )],
        ..NONE
    },
    Means { name: "an annotation", files: &[("main.tf", ""), ("pod.yaml", POD)], ..NONE },
    Means { name: "a baseline", before: &[&["baseline", "create"]], ..NONE },
    Means {
        name: "`[[suppress]]`",
        settings: "[[suppress]]\nrules = [\"too-many\"]\npath = \"*\"\nreason = \"because\"\n",
        ..NONE
    },
    Means { name: "`ignore` with the rule", settings: "ignore = [\"too-many\"]\n", ..NONE },
    Means { name: "`ignore` with its group or all", settings: "ignore = [\"custom\", \"all\"]\n", ..NONE },
    Means { name: "`select` without it", settings: "select = [\"on-demand-batch\"]\n", ..NONE },
    Means { name: "`profile`", settings: "profile = \"essential\"\n", ..NONE },
    Means {
        name: "`[rules]` with parameters or a level",
        settings: "[rules.too-many]\nmost = 99\nlevel = \"note\"\n",
        ..NONE
    },
    Means {
        name: "`[rules]` with `forbid = false`",
        settings: "[rules.too-many]\nforbid = false\nignorable = true\n",
        ..NONE
    },
    Means {
        name: "`[[paths]]` with `ignore`",
        settings: "[[paths]]\nmatch = \"*\"\nignore = [\"too-many\"]\n",
        ..NONE
    },
    Means {
        name: "`[[paths]]` with parameters",
        settings: "[[paths]]\nmatch = \"*\"\n[paths.rules.too-many]\nmost = 99\n",
        ..NONE
    },
    Means {
        name: "`[[paths]]` with `profile`",
        settings: "[[paths]]\nmatch = \"*\"\nprofile = \"essential\"\n",
        ..NONE
    },
    Means {
        name: "`fail-on`, `fail-confidence`, `min-confidence`",
        settings: "fail-on = \"error\"\nfail-confidence = \"high\"\nmin-confidence = \"high\"\n",
        ..NONE
    },
    Means {
        name: "another pack with settings for it",
        settings: "[[packs]]\npath = \"mine\"\n",
        files: &[("mine/gpulint.toml", "[rules.too-many]\nmost = 99\n")],
        ..NONE
    },
    Means {
        name: "another pack that forbids it too",
        settings: "[[packs]]\npath = \"mine\"\n",
        files: &[("mine/gpulint.toml", "[rules.too-many]\nmost = 99\nlevel = \"note\"\nforbid = true\n")],
        ..NONE
    },
    Means {
        name: "a rule file of the same name",
        settings: "rules-dir = [\"own\"]\n",
        files: &[("own/too-many.md", PAGE)],
        ..NONE
    },
    Means { name: "settings that are broken", settings: "ignore = \n", ..NONE },
    Means {
        name: "settings of a directory below",
        files: &[("sub/gpulint.toml", "ignore = [\"too-many\"]\n")],
        ..NONE
    },
];

/// Returns the exit code and the output.
fn run(place: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.args(arguments).args(["--prices", "embedded", "--today", "2026-11-21"]).current_dir(place);
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&said).into_owned())
}

fn repository(place: &Place, pack: &str, means: &Means) {
    // Settings outside tables come first, and the pack comes last.
    let (plain, tables) =
        means.settings.split_at(means.settings.find('[').filter(|at| *at == 0).map_or(means.settings.len(), |_| 0));
    place.write("gpulint.toml", &format!("{plain}\n[[packs]]\npath = \"platform\"\n{tables}"));
    place.write("platform/gpulint.toml", &format!("[rules.too-many]\n{pack}\n"));
    place.write("platform/too-many.md", PAGE);
    place.write("main.tf", MACHINE);
    for (file, text) in means.files {
        place.write(file, text);
    }
}

#[test]
fn nothing_in_the_repository_silences_what_a_pack_forbids() {
    let mut past = Vec::new();
    for pack in ["forbid = true", "ignorable = false"] {
        for means in MEANS {
            let place = Place::new();
            repository(&place, pack, means);
            for arguments in means.before {
                run(place.directory(), arguments);
            }
            let (code, said) = run(place.directory(), &[&["check"], means.arguments].concat());
            // The guarantee holds if the finding is reported or the settings are refused, because both stop the change.
            let is_held = match code {
                Some(1) => said.contains("too-many: 8 ") && said.contains(" in one place"),
                Some(2) => !said.contains("panicked"),
                _ => false,
            };
            if !is_held {
                past.push(format!("{pack}: {}: {code:?}\n{said}", means.name));
            }
        }
    }
    assert!(past.is_empty(), "{}", past.join("\n----\n"));
}

#[test]
fn the_table_of_guarantees_names_every_means() {
    let table = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/own-rules/guarantees.md")).unwrap();
    let rows: BTreeSet<&str> = table.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next()).collect();
    let missing: Vec<&str> = MEANS.iter().map(|means| means.name).filter(|name| !rows.contains(name)).collect();
    assert!(missing.is_empty(), "no row for {missing:?} in {rows:?}");
}

/// Settings of a repository that could weaken a rule about money.
const KEPT: &[(&str, &str)] = &[
    ("exclude", "exclude = [\"**\"]\n"),
    ("prices.discount", "[prices.discount]\naws = 0.99\n"),
    ("contracts", "[[contracts]]\nprovider = \"aws\"\ndiscount = 0.99\n"),
    ("usage", "[[usage]]\nhours_per_month = 1\n"),
    ("runs", "[[runs]]\npaths = [\".\"]\nvars = { n = \"0\" }\n"),
    ("fail-on", "fail-on = \"error\"\n"),
];

#[test]
fn settings_that_a_pack_keeps_to_itself_are_refused_at_their_line() {
    for (name, settings) in KEPT {
        let place = Place::new();
        let (plain, tables) = if settings.starts_with('[') { ("", *settings) } else { (*settings, "") };
        place.write("gpulint.toml", &format!("{plain}[[packs]]\npath = \"platform\"\n{tables}"));
        place.write("platform/gpulint.toml", &format!("forbid-settings = [\"{name}\"]\n"));
        place.write("main.tf", MACHINE);
        let (code, said) = run(place.directory(), &["check"]);
        assert_eq!(code, Some(2), "{name}: {said}");
        assert!(said.contains("the pack forbids the setting `") && said.contains("gpulint.toml:"), "{name}: {said}");
        place.write("platform/gpulint.toml", "forbid-settings = [\"labels\"]\n");
        let (_, said) = run(place.directory(), &["check"]);
        assert!(!said.contains("forbids the setting"), "{name}: {said}");
    }
}

#[test]
fn a_parameter_that_a_pack_keeps_is_its_own_and_the_others_are_not() {
    let place = Place::new();
    place.write("gpulint.toml", "[[packs]]\npath = \"platform\"\n[rules.too-many]\nmost = 99\n");
    place.write("platform/gpulint.toml", "[rules.too-many]\nmost = 4\nforbid-parameters = [\"most\"]\n");
    place.write("platform/too-many.md", PAGE);
    place.write("main.tf", MACHINE);
    let (code, said) = run(place.directory(), &["check"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("the pack forbids changes to `too-many.most`"), "{said}");
    place.write("gpulint.toml", "[[packs]]\npath = \"platform\"\n[rules.too-many]\nlevel = \"error\"\n");
    let (code, said) = run(place.directory(), &["check", "--select", "too-many"]);
    assert!(code == Some(1) && said.contains("1 error"), "{said}");
}

#[test]
fn a_forbidden_rule_yields_to_none_that_may_be_silenced() {
    let place = Place::new();
    let pod =
        POD.replace("{ gpulint.dev/ignore.too-many: \"because\" }", "{}").replace("name: a\n", "name: notebook\n");
    place.write("pod.yaml", &pod);
    place.write(
        "main.tf",
        "# gpulint: ignore[missing-auto-shutdown] -- because\nresource \"aws_instance\" \"notebook\" {\n  \
         instance_type = \"p4d.24xlarge\"\n  tags = { purpose = \"notebook\" }\n}\n",
    );
    place.write("gpulint.toml", "[[packs]]\npath = \"platform\"\n");
    place.write("platform/gpulint.toml", "[rules.on-demand-dev]\nlevel = \"error\"\nforbid = true\n");
    let (code, said) = run(place.directory(), &["check", "main.tf"]);
    assert!(code == Some(1) && said.contains("on-demand-dev"), "{said}");
}

#[test]
fn suppressions_that_do_not_say_what_is_demanded_suppress_nothing() {
    let with = |demanded: &str, comment: &str| {
        let place = Place::new();
        place.write("gpulint.toml", "[[packs]]\npath = \"platform\"\n");
        place.write("platform/gpulint.toml", &format!("{demanded}\n"));
        place.write("platform/too-many.md", PAGE);
        place.write("main.tf", &format!("{comment}\n{MACHINE}"));
        run(place.directory(), &["check", "--select", "too-many,broken-suppression"])
    };
    let without = "# gpulint: ignore[too-many] -- because";
    let near = "# gpulint: ignore[too-many] until=2026-12-01 -- because";
    let far = "# gpulint: ignore[too-many] until=2027-12-01 -- because";
    assert_eq!(with("", without).0, Some(0));
    for (demanded, comment, said) in [
        ("require-until = true", without, "this suppression has no last day"),
        ("longest-suppression-days = 90", without, "this suppression has no last day"),
        ("longest-suppression-days = 90", far, "this suppression ends in 375 days, limit 90"),
        ("require-reason = true", "# gpulint: ignore[too-many]", "this suppression has no reason"),
    ] {
        let (code, told) = with(demanded, comment);
        assert!(code == Some(1) && told.contains(said) && told.contains("in one place"), "{demanded}: {told}");
    }
    assert_eq!(with("longest-suppression-days = 90", near).0, Some(0));
}

/// A rule that reads a label as a date, and a label that is not a date.
const DATED: &str = "---\nname: expired\nmatch: { role: [rented] }\nwhen: has(labels.until) && timestamp(labels.until) < today\n\
                     message: its day was {labels.until}\nuntested: true\n---\n# expired\n\nToo late.\n";

fn dated(days: &[&str]) -> String {
    let machine = |(number, day): (usize, &&str)| {
        format!(
            "resource \"aws_instance\" \"m{number}\" {{\n  instance_type = \"g5.xlarge\"\n  tags = {{ until = \"{day}\" }}\n}}\n"
        )
    };
    days.iter().enumerate().map(machine).collect()
}

#[test]
fn a_value_with_which_a_rule_comes_to_nothing_stops_and_silences_no_other() {
    let place = Place::new();
    place.write("gpulint.toml", "rules-dir = [\"own\"]\n");
    place.write("own/expired.md", DATED);
    place.write("main.tf", &dated(&["soon", "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"]));
    let (code, said) = run(place.directory(), &["check", "--select", "expired", "--format", "concise"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("main.tf:1") && said.contains("the rule cannot be evaluated"), "{said}");
    assert!(said.contains("its day was 2026-01-01") && said.contains("its day was 2026-02-01"), "{said}");

    // Before the change, the first one was evaluated.
    place.write("before/main.tf", &dated(&["2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"]));
    place.write("after/main.tf", &dated(&["soon", "2026-01-01T00:00:00Z"]));
    let compare = ["diff", "--base-dir", "before", "after", "--select", "expired", "--format", "json"];
    let (code, said) = run(place.directory(), &compare);
    assert_eq!(code, Some(1), "{said}");
    let told: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!((&told["blocked"], told["fixed"].as_array().map(Vec::len)), (&true.into(), Some(0)), "{said}");
}

#[test]
fn a_rule_that_is_renamed_or_removed_breaks_no_repository() {
    let place = Place::new();
    place.write("platform/too-many.md", PAGE);
    place.write("gpulint.toml", "[[packs]]\npath = \"platform\"\n");
    place.write("main.tf", MACHINE);
    run(place.directory(), &["baseline", "create", "--select", "too-many"]);
    let said = "[[packs]]\npath = \"platform\"\n[rules.too-many]\nmost = 4\n[rules.gone]\nmost = 1\n\
                [[suppress]]\nrules = [\"gone\"]\npath = \"*\"\n";
    let select = ["check", "--select", "too-large,broken-suppression"];
    fs::remove_file(place.directory().join("platform/too-many.md")).unwrap();
    place.write(
        "platform/too-large.md",
        &PAGE.replace("too-many", "too-large").replace("untested:", "replaces: [too-many]\nuntested:"),
    );
    place.write("platform/gpulint.toml", "removed-rules = [\"gone\"]\n");
    place.write("gpulint.toml", said);
    // The baseline has the finding under its former name.
    let (code, told) = run(place.directory(), &select);
    assert!(code == Some(0) && told.contains("1 accepted"), "{told}");
    fs::remove_file(place.directory().join(".gpulint-baseline.json")).unwrap();
    let (code, told) = run(place.directory(), &select);
    assert!(code == Some(1) && told.contains("too-large"), "{told}");
    // A comment and a setting also use the former name.
    place.write("main.tf", &format!("# gpulint: ignore[too-many, gone] -- because\n{MACHINE}"));
    assert_eq!(run(place.directory(), &select).0, Some(0));
    place.write("main.tf", MACHINE);
    place.write("gpulint.toml", &said.replace("most = 4", "most = 99"));
    assert_eq!(run(place.directory(), &select).0, Some(0));
    // Without the pack, the names are unknown.
    place.write("platform/gpulint.toml", "");
    assert_eq!(run(place.directory(), &select).0, Some(2));
}

#[test]
fn a_rule_only_notes_until_its_day_and_says_whose_it_is() {
    for (day, level, code) in [("2026-11-21", "note", 0), ("2026-11-20", "error", 1)] {
        let place = Place::new();
        place.write("gpulint.toml", "[[packs]]\npath = \"platform\"\n");
        let pack = "version = \"1.4.0\"\nrules-url = \"https://example.org/{rule}.html\"\n";
        place.write(
            "platform/gpulint.toml",
            &format!("{pack}[rules.too-many]\nlevel = \"error\"\nnote-until = {day}\n"),
        );
        place.write("platform/too-many.md", PAGE);
        place.write("main.tf", MACHINE);
        let (found, said) = run(place.directory(), &["check", "-v", "--select", "too-many"]);
        assert!(found == Some(code) && said.contains("pack platform 1.4.0"), "{day}: {said}");
        let (_, said) = run(place.directory(), &["check", "--select", "too-many", "--format", "json"]);
        let told: serde_json::Value = serde_json::from_str(&said).unwrap();
        let finding = &told["findings"][0];
        assert_eq!((&finding["level"], &finding["pack"]), (&level.into(), &"platform 1.4.0".into()), "{said}");
        crate::schema::validate("check", &told);
        let (_, said) = run(place.directory(), &["check", "--select", "too-many", "--format", "sarif"]);
        assert!(said.contains("https://example.org/too-many.html"), "{said}");
    }
}
