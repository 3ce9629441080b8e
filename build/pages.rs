//! Embeds the rule files of `rules/` and their front matter as constants, so that a new rule is only a new file.

#[path = "../src/rules/yaml.rs"]
mod yaml;

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use yaml::{PageName, PageNode, PageValue};

/// The line that opens and closes front matter.
const FENCE: &str = "---";

/// Writes names, texts and front matter of all rule files, sorted. A rule file without valid front matter fails the
/// build; tests check its content.
pub fn write(rules: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", rules.display());
    let mut paths: Vec<_> = fs::read_dir(rules)?.map(|entry| entry.map(|it| it.path())).collect::<Result<_, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|it| it == "md"));
    paths.sort();
    let mut list = String::from("/// The built-in pages: path and text.\npub static BUILT_IN: &[(&str, &str)] = &[\n");
    let mut fronts = String::from("pub(super) static FRONTS: &[Front] = &[\n");
    for path in paths {
        let name = path.file_name().ok_or("no name")?.to_string_lossy().into_owned();
        let full = fs::canonicalize(&path)?;
        let place = full.display().to_string();
        writeln!(list, "    ({:?}, include_str!({place:?})),", format!("rules/{name}"))?;
        let text = fs::read_to_string(&path)?;
        fronts.push_str(&front(&text, &place).map_err(|why| format!("rules/{name}: {why}"))?);
    }
    fs::write(out, format!("{list}];\n{fronts}];\n"))?;
    Ok(())
}

fn front(text: &str, place: &str) -> Result<String, String> {
    let mut fences = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_end() == FENCE {
            fences.push((at, at + line.len()));
        }
        at += line.len();
    }
    let [(0, start), (end, _), ..] = fences[..] else { return Err("the page has no front matter".to_owned()) };
    let body = &text[start..end];
    let node = yaml::parse(body).map_err(|broken| format!("byte {}: {}", start + broken.at.start, broken.message))?;
    // `capacity-block` is a purchase, and no block.
    let mut words = body.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
    let raw = words.any(|word| matches!(word, "object" | "objects" | "block" | "blocks"));
    Ok(format!(
        "    Front {{ text: include_str!({place:?}), node: {}, at: {start}..{end}, may_look_at_raw: {raw} }},\n",
        written(&node)
    ))
}

/// Returns a tree as Rust code.
fn written(node: &PageNode) -> String {
    let value = match &node.value {
        PageValue::Null => "PageValue::Null".to_owned(),
        PageValue::Flag(flag) => format!("PageValue::Flag({flag})"),
        PageValue::Integer(n) => format!("PageValue::Integer({n})"),
        PageValue::Number(n) => format!("PageValue::Number({n:?})"),
        PageValue::Text(text) => format!("PageValue::Text(Cow::Borrowed({text:?}))"),
        PageValue::List(items) => {
            let items: Vec<String> = items.iter().map(written).collect();
            format!("PageValue::List(Cow::Borrowed(&[{}]))", items.join(", "))
        }
        PageValue::Map(entries) => {
            let entry = |(name, node): &(PageName, PageNode)| {
                format!("(PageName {{ text: Cow::Borrowed({:?}), at: {:?} }}, {})", name.text, name.at, written(node))
            };
            let entries: Vec<String> = entries.iter().map(entry).collect();
            format!("PageValue::Map(Cow::Borrowed(&[{}]))", entries.join(", "))
        }
    };
    format!("PageNode {{ value: {value}, at: {:?} }}", node.at)
}
