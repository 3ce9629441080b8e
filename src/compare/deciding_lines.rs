//! Reduces a block or file that gpulint does not evaluate to the lines that can decide a number or type of machines. If
//! they are equal in both states, so is the unknown cost.

use regex::Regex;

use super::state::TreeState;
use super::unexplained::{is_naming, speaks};
use crate::source::static_regex;

/// Words in keys whose values choose a machine by a name that is not in the catalog.
const CHOOSING: [&str; 12] =
    ["type", "class", "pool", "selector", "sku", "flavor", "profile", "preset", "template", "tier", "plan", "resource"];

/// Returns the lines that can decide: they name accelerators, have a key about machines, or are a number or a flag.
pub(super) fn deciding_lines(state: &TreeState, text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !["#", "//"].iter().any(|mark| line.starts_with(mark)));
    let names = |line: &str| state.names_accelerators(&IMAGE.replace_all(line, ""));
    let deciding = lines.filter(|line| decides(line) || !is_release(line) && names(line));
    // Quotes of another kind change nothing.
    deciding.flat_map(|line| line.split_whitespace().chain(["\n"])).collect::<String>().replace('"', "'")
}

/// Returns true for an image, a tag or a version, which can have the name of an accelerator.
fn is_release(line: &str) -> bool {
    let key = KEY_AND_VALUE.captures(line).and_then(|it| it.get(1)).map_or("", |it| it.as_str());
    is_naming(key) && !key.to_ascii_lowercase().ends_with("name")
}

fn decides(line: &str) -> bool {
    let Some(parts) = KEY_AND_VALUE.captures(line) else { return PLAIN_VALUE.is_match(line.trim_start_matches("- ")) };
    let part = |number: usize| parts.get(number).map_or("", |it| it.as_str());
    let (key, value) = (part(1), part(2));
    let key_low = key.to_ascii_lowercase();
    let is_choice = !value.is_empty() && CHOOSING.iter().any(|word| key_low.contains(word));
    !is_naming(key) && (speaks(key) && !value.is_empty() || is_choice || PLAIN_VALUE.is_match(value))
}

static_regex!(
/// A container image within a line.
static IMAGE: Regex = r#"\bimage["']?\s*[:=]\s*["']?[^\s,}"']+"#);

static_regex!(
/// A key with the rest of its line.
static KEY_AND_VALUE: Regex = r#"^(?:- )?["']?([\w./-]+)["']?\s*[:=]\s*(.*)$"#);

static_regex!(
/// A number, a quantity, a flag, or a list of numbers.
static PLAIN_VALUE: Regex = r#"^[\["']*(?:true|false|-?[\d., ]+[A-Za-z%]{0,3})[\]"']*[,;]?\s*(?:#.*)?$"#);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_a_release_and_a_name_is_none() {
        assert!(is_release("image: example.org/server-gpu:1") && is_release("- imageTag: a100"));
        assert!(!is_release("name: a100-pool") && !is_release("machine: a100") && !is_release("- a100"));
    }

    #[test]
    fn numbers_choices_and_words_about_machines_decide() {
        for line in [
            "replicas: {{ n }}",
            "value: \"8\"",
            "n = 4",
            "- 16",
            "instance_size: large",
            "enabled: true",
            "nodeSelector: { pool: big }",
            "profile = \"xl\"",
            "gpus: [0, 1]",
        ] {
            assert!(decides(line), "{line}");
        }
        for line in [
            "image: example.org/server:1.2.3",
            "model_name: llama 3",
            "LOG_LEVEL: debug",
            "- --port=http",
            "description: two of 8 machines are spare",
            "spec:",
            "tag: 20240101",
            "endpoint = \"https://example.org/v2\"",
        ] {
            assert!(!decides(line), "{line}");
        }
    }
}
