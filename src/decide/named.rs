//! Names of machines and of accelerators in text that nobody reads: programs, calls of modules, types without a row.

use crate::catalog::Catalog;
use crate::inventory::{Language, accelerators};

/// The first name of a machine with accelerators or of an accelerator outside of comments, else the first word for one.
pub(super) fn asked_for(text: &str, language: &Language, catalog: &Catalog) -> Option<String> {
    let is_comment = |line: &str| ["#", "//", "*"].iter().any(|it| line.trim_start().starts_with(it));
    let lines = || text.lines().filter(|line| !is_comment(line));
    let machine =
        lines().find_map(|line| named_in_line(line, catalog).map(|name| name.trim_start_matches("ml.").to_owned()));
    let is_word = |name: &&str| accelerators::is_asking(name);
    let word = || lines().flat_map(names).find(is_word).filter(|_| !language.by_names_alone).map(str::to_owned);
    machine.or_else(word)
}

fn names(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c| !in_name(c)).map(|name| name.trim_matches(['-', '.']))
}

/// The first name in a line of a machine that carries accelerators, or of one of these.
fn named_in_line<'l>(line: &'l str, catalog: &Catalog) -> Option<&'l str> {
    names(line).find(|name| {
        let name = name.trim_start_matches("ml.");
        is_known(name, catalog) && (name.len() > SHORT_NAME || speaks_of_maker(line, name))
    })
}

/// Names of so few letters mean many things: `v4` is the version of a signature, `L4` a layer. They count beside a word for
/// who makes or rents them.
const SHORT_NAME: usize = 3;

fn speaks_of_maker(line: &str, name: &str) -> bool {
    accelerators::card_is_meant(&line.replace(name, " ").to_ascii_lowercase())
}

fn in_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

/// A machine that carries accelerators, or one of those.
pub(super) fn is_known(name: &str, catalog: &Catalog) -> bool {
    let is_mixed =
        name.len() > 1 && name.bytes().any(|b| b.is_ascii_digit()) && name.bytes().any(|b| b.is_ascii_alphabetic());
    is_mixed && (catalog.provider_of(name).is_some() || catalog.accelerator(name).is_some())
}

/// Whether a value is such a name and nothing else, and no short one.
pub(super) fn is_one_name(value: &str, catalog: &Catalog) -> bool {
    let name = value.trim_start_matches("ml.");
    let is_listed = || !catalog.machines_named(name).is_empty() || catalog.accelerator(name).is_some();
    // A family is told by its first letters: `P1v2` is none of AWS.
    let is_of_family = || name.contains(['.', '-', '_']) && catalog.provider_of(name).is_some();
    name.len() > SHORT_NAME && name.chars().all(in_name) && is_known(name, catalog) && (is_listed() || is_of_family())
}

/// The first name in a value of a machine that carries accelerators, or of one of these.
pub fn named_machine(value: &str, catalog: &Catalog) -> Option<String> {
    value.lines().find_map(|line| named_in_line(line, catalog)).map(|name| name.trim_start_matches("ml.").to_owned())
}

/// Whether a text speaks of accelerators, or names a machine that carries some.
pub fn names_accelerators(text: &str, catalog: &Catalog) -> bool {
    let text = text.to_ascii_lowercase();
    if accelerators::are_mentioned(&text) {
        return true;
    }
    // A card of a few letters counts where it is a value by itself: `card = "L4"`; `"V2"` is a version of anything.
    let is_value = |line: &str, name: &str| !name.starts_with(['v', 'V']) && line.contains(&format!("\"{name}\""));
    let names_one = |line: &str| {
        named_in_line(line, catalog).is_some()
            || names(line).any(|name| name.len() <= SHORT_NAME && is_known(name, catalog) && is_value(line, name))
    };
    text.lines().any(names_one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_that_are_given_accelerators_are_told_from_others() {
        let catalog = Catalog::embedded();
        for text in
            ["instance_types = [\"p5.48xlarge\"]", "gpu_nodes = 3", "type = \"Standard_ND96asr_v4\"", "card = \"L4\""]
        {
            assert!(names_accelerators(text, &catalog), "{text}");
        }
        for text in ["cidr = \"10.0.0.0/16\"", "instance_types = [\"m5.large\", \"t3.medium\"]", "name = \"vpc-1\""] {
            assert!(!names_accelerators(text, &catalog), "{text}");
        }
    }
}
