//! Finds names of machines and accelerators in files that gpulint does not parse: programs, module calls, unsupported
//! types.

use std::borrow::Cow;
use std::collections::BTreeSet;

use regex::Regex;

use crate::catalog::{AWS, Catalog};
use crate::inventory::accelerators;
use crate::languages::shell::printed::without_printed;
use crate::languages::table::claim::has_root_keys;
use crate::languages::table::{Language, Reader};
use crate::source::static_regex;

/// The request that a file in an unsupported language contains.
pub(super) struct NamedAccelerators {
    pub(super) words: String,
    /// True if the name belongs to a known machine or accelerator.
    pub(super) is_known: bool,
    /// The line number, from 0.
    pub(super) line: usize,
    /// All requests of the file. A comparison detects changes of them.
    pub(super) all: String,
}

/// Returns the keywords by which the language requests accelerators, if it has some; otherwise the first name of a
/// machine or accelerator, otherwise the first word for one. Comments do not count, except those that Slurm reads.
///
/// `read` contains the numbers of lines whose machines a reader read; they do not count.
pub(super) fn asked_for(
    text: &str,
    language: &Language,
    read: &BTreeSet<usize>,
    catalog: &Catalog,
) -> Option<NamedAccelerators> {
    let is_comment = |line: &str| {
        let line = line.trim_start();
        ["#", "//", "*"].iter().any(|it| line.starts_with(it)) && !line.starts_with("#SBATCH")
    };
    // Root keys show that a file is a CloudFormation template; without them it must contain a resource.
    let is_fragment = language.reader == Reader::CloudFormation && !has_root_keys(language, text.as_bytes());
    if is_fragment && !(TYPE_OF_RESOURCE.is_match(text) && text.contains("Properties")) {
        return None;
    }
    let text = &*without_printed_lines(text, language);
    let lines = || text.lines().enumerate().filter(|(at, line)| !is_comment(line) && !read.contains(at));
    if language.asks_in_own_words() {
        let own: Vec<(usize, String)> =
            lines().filter_map(|(at, line)| Some((at, shown(&language.asking(line)?)))).collect();
        let is_known = |words: &str| named_in_line(words, catalog).is_some();
        let known = own.iter().find(|(_, words)| is_known(words));
        let (line, words) = known.or(own.first().filter(|_| !language.by_names_alone))?;
        let name = named_in_line(words, catalog).filter(|_| language.by_names_alone);
        let words = name.map_or_else(|| words.clone(), |name| name.trim_start_matches("ml.").to_owned());
        let all = own.iter().map(|(_, words)| words.as_str()).collect::<Vec<_>>().join("\n");
        return Some(NamedAccelerators { words, is_known: known.is_some(), line: *line, all });
    }
    let found = |(line, name): (usize, &str)| {
        let words = name.trim_start_matches("ml.").to_owned();
        NamedAccelerators { is_known: is_known(&words, catalog), line, all: words.clone(), words }
    };
    let of_class = || lines().find_map(|(at, line)| Some((at, class_of_machines(line, language, catalog)?)));
    let named = |line| match language.is_read_by_shape() {
        true => machine_in_line(line, catalog),
        false => named_in_line(line, catalog),
    };
    let machine = lines().find_map(|(at, line)| Some((at, named(line)?))).or_else(of_class);
    let is_word = |name: &&str| accelerators::is_asking(name);
    let word = || lines().find_map(|(at, line)| Some((at, names(line).find(is_word)?)));
    machine.or_else(|| word().filter(|_| !language.by_names_alone && !is_fragment)).map(found)
}

static_regex!(
    /// Matches the type of a resource: `Type: AWS::EC2::Instance`, in YAML or JSON.
    static TYPE_OF_RESOURCE: Regex = r#"(?m)(?:^|[\s{,"'])Type["']?\s*:\s*["']?AWS::"#
);

/// Returns the file without strings that a script only prints, and without comments at line ends.
fn without_printed_lines<'t>(text: &'t str, language: &Language) -> Cow<'t, str> {
    if language.is_script {
        return without_printed(text).into();
    }
    let marks: &[&str] = if language.has_slash_comments() { &[" //"] } else { &[" #"] };
    let is_pipeline = language.is_pipeline();
    let line = |line: &str| {
        let end = marks.iter().filter_map(|mark| comment_at(line, mark)).min().unwrap_or(line.len());
        let line = line.get(..end).unwrap_or(line);
        let Some(start) = STEP.find(line).map(|found| found.end()).filter(|_| is_pipeline) else {
            return line.to_owned();
        };
        let (before, command) = line.split_at(start);
        format!("{before}{}", without_printed(command))
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n").into()
}

static_regex!(
    /// Matches the text that can precede a command in a pipeline.
    static STEP: Regex = r"^\s*(?:-\s+)?(?:(?:run|script|bash|command|sh)\s*:\s*)?"
);

/// Returns the beginning of a comment, outside of quotes.
fn comment_at(line: &str, mark: &str) -> Option<usize> {
    let quotes = |text: &str| text.matches(['"', '\'']).count();
    line.match_indices(mark).map(|(at, _)| at).find(|at| line.get(..*at).is_some_and(|before| quotes(before) % 2 == 0))
}

/// Formats words as they appear in a sentence.
fn shown(words: &str) -> String {
    const LONGEST: usize = 80;
    let plain = words.chars().map(|c| if c.is_control() || c == '`' { ' ' } else { c });
    plain.take(LONGEST).collect::<String>().trim().to_owned()
}

fn names(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c| !in_name(c)).map(|name| name.trim_matches(['-', '.']))
}

/// Returns the first name in a line of a machine with accelerators, or of an accelerator.
fn named_in_line<'l>(line: &'l str, catalog: &Catalog) -> Option<&'l str> {
    names(line).find(|name| {
        let name = name.trim_start_matches("ml.");
        is_known(name, catalog) && (name.len() > SHORT_NAME || speaks_of_maker(line, name))
    })
}

/// Returns the first name in a line of a machine of the catalog, or of an accelerator with the name of its vendor.
/// Queues and clusters have short names such as `h100` and `a3-train`.
fn machine_in_line<'l>(line: &'l str, catalog: &Catalog) -> Option<&'l str> {
    names(line).find(|name| {
        let name = name.trim_start_matches("ml.");
        let is_card = || name.to_ascii_lowercase().contains("nvidia");
        let is_machine = || name.contains(['.', '-', '_']) && !catalog.machines_named(name).is_empty();
        is_known(name, catalog) && (is_machine() || is_card())
    })
}

static_regex!(
    /// Matches a class of EC2 machines in a program of CDK: `ec2.InstanceClass.P4D`.
    static CLASS_OF_MACHINES: Regex = r"\bInstanceClass\.([A-Z]+[0-9]?)([A-Z0-9]*)(_[A-Z0-9_]+)?"
);

/// Returns the class of machines with accelerators that a line of a program names: `InstanceClass.G5`.
fn class_of_machines<'l>(line: &'l str, language: &Language, catalog: &Catalog) -> Option<&'l str> {
    const SIZES: [&str; 4] = ["xlarge", "2xlarge", "24xlarge", "48xlarge"];
    const GROUPS: [&str; 4] = ["GRAPHICS", "PARALLEL", "INFERENCE", "TRAINING"];
    if !language.is_program() {
        return None;
    }
    let has_accelerators = |found: &regex::Captures<'_>| {
        let family = format!("{}{}", &found[1], &found[2]).to_ascii_lowercase();
        GROUPS.iter().any(|group| found[1].starts_with(group))
            || SIZES.iter().any(|size| is_known(&format!("{family}.{size}"), catalog))
    };
    CLASS_OF_MACHINES.captures_iter(line).find(has_accelerators).and_then(|found| Some(found.get(0)?.as_str()))
}

/// Short names have several meanings: `v4` is a signature version, `L4` a network layer. They count only next to the
/// name of a vendor or provider.
const SHORT_NAME: usize = 3;

fn speaks_of_maker(line: &str, name: &str) -> bool {
    accelerators::card_is_meant(&line.replace(name, " ").to_ascii_lowercase())
}

fn in_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

/// Returns true if a word names a machine with accelerators, or an accelerator.
pub(super) fn is_known(name: &str, catalog: &Catalog) -> bool {
    let is_mixed =
        name.len() > 1 && name.bytes().any(|b| b.is_ascii_digit()) && name.bytes().any(|b| b.is_ascii_alphabetic());
    is_mixed && !is_version(name) && catalog.names_something(name) && !is_other_family(name, catalog)
}

/// Returns true for a version such as `v1.0.0`, which would be a V100 without its dots.
fn is_version(name: &str) -> bool {
    let number = name.strip_prefix(['v', 'V']).unwrap_or(name).split('-').next().unwrap_or_default();
    let parts = || number.split('.');
    parts().count() > 1 && parts().all(|part| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit()))
}

/// Returns true for names that only look like AWS machines: those have a dot and a size (`g5.xlarge`), unlike
/// `g1-standard-2-4`.
fn is_other_family(name: &str, catalog: &Catalog) -> bool {
    let small = name.to_ascii_lowercase();
    let has_size = || small.contains('.') || small.contains("large") || small.contains("metal");
    catalog.provider_of(name) == Some(AWS)
        && catalog.machines_named(name).is_empty()
        && catalog.accelerator(name).is_none()
        && small.contains('-')
        && !has_size()
}

/// Returns true if a value is exactly such a name, and not a short one.
pub(super) fn is_one_name(value: &str, catalog: &Catalog) -> bool {
    let name = value.trim_start_matches("ml.");
    let is_listed = || !catalog.machines_named(name).is_empty() || catalog.accelerator(name).is_some();
    // The first letters must belong to a known family: `P1v2` is not an AWS machine.
    let is_of_family = || name.contains(['.', '-', '_']) && catalog.provider_of(name).is_some();
    name.len() > SHORT_NAME && name.chars().all(in_name) && is_known(name, catalog) && (is_listed() || is_of_family())
}

/// Returns the first name in a value of a machine with accelerators, or of an accelerator.
pub fn named_machine(value: &str, catalog: &Catalog) -> Option<String> {
    value.lines().find_map(|line| named_in_line(line, catalog)).map(|name| name.trim_start_matches("ml.").to_owned())
}

/// Returns true if a string mentions accelerators, or names a machine with some.
pub fn names_accelerators(text: &str, catalog: &Catalog) -> bool {
    let text = text.to_ascii_lowercase();
    if accelerators::are_mentioned(&text) {
        return true;
    }
    // A short accelerator name counts only as a complete value: `card = "L4"`; `"V2"` can be any version.
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
