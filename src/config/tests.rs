//! Tests which settings are read and refused, and what errors suggest instead.

use super::*;
use crate::source::MemoryTree;

fn loaded(files: &[(&str, &str)]) -> (SourceFiles, Config, Vec<String>) {
    let tree = files.iter().fold(MemoryTree::new(), |tree, (path, text)| tree.with(path, *text));
    let sources = SourceFiles::new(tree);
    let (config, wrong) = load(&sources, "a/gpulint.toml", "0.1.0");
    let messages = wrong
        .iter()
        .map(|it| {
            let line = it.span.map_or(0, |span| sources.line(span));
            let help = it.help.as_deref().map(|help| format!(" ({help})")).unwrap_or_default();
            format!("{line}: {}{help}", it.message)
        })
        .collect();
    (sources, config, messages)
}

#[test]
fn every_setting_of_the_conventions_is_read() {
    let text = r#"
required-version = ">=0.1"
fail-on = "error"
rules-dir = ["../policy"]
[defaults]
region = "us-east-1"
[rules.on-demand-batch]
level = "error"
min_monthly_usd = 200
ignorable = false
[tiers]
interactive = ["T4", "L4"]
[[budgets]]
team = "search"
monthly_usd = 40_000
[prices]
discount = { aws = 0.12 }
[[suppress]]
rules = ["oversized-gpu"]
address = 'module.legacy.aws_instance.train["a"]'
until = 2027-03-31
reason = "reserved capacity"
"#;
    let (_, config, wrong) = loaded(&[("a/gpulint.toml", text)]);
    assert_eq!(wrong, [] as [&str; 0]);
    assert_eq!(config.fail_on(), Some(Level::Error));
    assert_eq!(config.texts(setting!("rules-dir"))[0].0, "policy");
    assert_eq!(config.text(setting!("defaults.region")).map(|it| it.0), Some("us-east-1"));
    let rules = config.rules();
    assert_eq!(
        (rules[0].name, rules[0].level, rules[0].ignorable),
        ("on-demand-batch", Some(Level::Error), Some(false))
    );
    assert_eq!(rules[0].parameters[0].1.value, SettingValue::Integer(200));
    assert_eq!(config.below(setting!("tiers")).next().map(|it| it.0), Some("interactive"));
    assert_eq!(config.budgets()[0].of, Some(("team", "search")));
    assert_eq!(config.budgets()[0].usd, 40_000.0);
    assert_eq!(config.below(setting!("prices.discount")).next().and_then(|it| it.1.value.number()), Some(0.12));
    let suppress = &config.suppressions()[0];
    assert_eq!(suppress.address, Some("module.legacy.aws_instance.train[\"a\"]"));
    assert_eq!(suppress.until, "2027-03-31".parse().ok());
}

#[test]
fn what_is_wrong_is_told_with_its_line_and_the_cure() {
    let text = r#"
fial-on = "error"
profile = "strict"
select = "idle"
[labels]
require = []
[prices]
discount = { aws = 12 }
[suppress]
rules = []
[[budgets]]
team = "search"
[rules.x]
level = "fatal"
limit = { a = 2027-01-01 }
"#;
    let (_, _, wrong) = loaded(&[("a/gpulint.toml", text)]);
    assert_eq!(
        wrong,
        [
            "2: unknown setting `fial-on` (did you mean `fail-on`?)",
            "3: `profile` must be one of essential, standard, all, not \"strict\"",
            "4: `select` must be a list of strings, not a string",
            "6: unknown setting `require` in [labels] (did you mean `required`?)",
            "8: the discount of aws must be a share from 0 to 1, such as 0.12 for 12%",
            "9: write `suppress` as [[suppress]], not as a table",
            "12: [[budgets]] needs one of `monthly_usd`, `quarterly_usd`, `yearly_usd`, with an amount in dollars",
            "14: `rules.x.level` must be one of note, warning, error, not \"fatal\"",
            "15: `rules.x.limit` must be a table of strings, numbers, true, false and lists of strings, but `a` is a date",
        ]
    );
}

#[test]
fn a_file_adds_to_the_one_that_it_extends() {
    let own = "extend = \"../base.toml\"\nfail-on = \"error\"\n[[suppress]]\nrules = [\"a\"]\naddress = \"x\"\n";
    let base = "fail-on = \"note\"\nprofile = \"all\"\n[[suppress]]\nrules = [\"b\"]\naddress = \"y\"\n";
    let (sources, config, wrong) = loaded(&[("a/gpulint.toml", own), ("base.toml", base)]);
    assert_eq!(wrong, [] as [&str; 0]);
    assert_eq!(config.fail_on(), Some(Level::Error));
    let (profile, span) = config.text(setting!("profile")).unwrap();
    assert_eq!((profile, sources.path(span.file).as_str()), ("all", "base.toml"));
    let rules: Vec<_> = config.suppressions().iter().map(|it| it.rules[0].0.clone()).collect();
    assert_eq!(rules, ["a", "b"]);
}

#[test]
fn chains_end_and_versions_are_held() {
    let (_, _, wrong) = loaded(&[("a/gpulint.toml", "extend = \"gpulint.toml\"")]);
    assert!(wrong[0].contains("extends itself"), "{wrong:?}");
    let (_, _, wrong) = loaded(&[("a/gpulint.toml", "extend = \"../../x.toml\"")]);
    assert!(wrong[0].contains("leads out of it"), "{wrong:?}");
    let (_, _, wrong) = loaded(&[("a/gpulint.toml", "required-version = \">=9\"")]);
    assert_eq!(wrong, ["1: this file requires gpulint >=9, and this is gpulint 0.1.0"]);
    let (_, _, wrong) = loaded(&[("a/gpulint.toml", "fail-on = \nprofile = ]")]);
    assert!(wrong[0].starts_with("1: this file is not valid TOML"), "{wrong:?}");
}

#[test]
fn the_file_to_start_from_is_valid_with_everything_switched_on() {
    let commented: Vec<&str> = example_lines().collect();
    assert!(commented.len() > 30);
    let switched_on: String = commented.iter().map(|line| format!("{line}\n")).collect();
    let (_, config, wrong) = loaded(&[("a/gpulint.toml", &switched_on)]);
    // Every example value must be valid, with all settings switched on at once.
    assert_eq!(wrong, [] as [&str; 0], "{switched_on}");
    assert_eq!(config.rules()[0].name, "on-demand-batch");
}

fn example_lines() -> impl Iterator<Item = &'static str> {
    let text: &'static str = Box::leak(example().into_boxed_str());
    text.lines().skip(1).map(|line| line.strip_prefix("# ").unwrap_or(line))
}

#[test]
fn the_schema_accepts_what_is_accepted_and_nothing_else() {
    let schema: serde_json::Value = serde_json::from_str(&schema()).unwrap();
    let valid = |text: &str| {
        let value: serde_json::Value = toml::from_str(text).unwrap();
        jsonschema::is_valid(&schema, &value)
    };
    assert!(valid("fail-on = \"error\"\n[rules.x]\nlevel = \"note\"\nmin = 3\n[prices]\ndiscount = { aws = 0.1 }\n"));
    assert!(valid("[[suppress]]\nrules = [\"a\"]\naddress = \"x\"\n[tiers]\ndev = [\"T4\"]\n"));
    assert!(!valid("fial-on = \"error\""));
    assert!(!valid("fail-on = \"fatal\""));
    assert!(!valid("[[suppress]]\nrule = \"a\"\n"));
    assert!(!valid("[suppress]\nrules = [\"a\"]\n"));
}
