//! Finds new lines that name a machine with accelerators or request accelerators, although gpulint read nothing there:
//! no fact is on the line, and no entry lists it as not evaluated.

use regex::Regex;

pub(in crate::compare) use super::change::chart_around;
use super::change::{ChangedLine, ChangedText, FileRole};
use super::changed_files::ChangedFiles;
use super::words::{is_shown_to_people, launches};
use crate::catalog::Catalog;
use crate::compare::state::TreeState;
use crate::decide;
use crate::front_ends::files;
use crate::inventory::accelerators;
use crate::source::{file_name, from_base64, is_example, parent, static_regex};

/// Template expressions whose value depends on a release or a cluster.
const CLUSTER_DECIDES: [&str; 6] =
    [".Release.Namespace", ".Release.IsUpgrade", ".Release.IsInstall", ".Release.Revision", ".Capabilities", "lookup "];

/// Returns true if new lines of this file count. Lines of rendered charts do not, because values switch them on and
/// off. Nor do lines of documentation and tests, which often name machines.
pub(super) fn is_looked_at(changed: &ChangedFiles, file: &ChangedText) -> bool {
    let head = changed.head;
    let name = file_name(file.path);
    let is_named = || changed.callers().iter().any(|(path, text)| path != file.path && text.contains(name));
    match file.role {
        FileRole::Beside => false,
        _ if file.path.split('/').any(is_example) => false,
        FileRole::Code if is_shown_to_people(file.path) => launches(file),
        FileRole::Read
            if is_shown_to_people(file.path) && !file.is.contains("apiVersion") && !files::is_terraform(file.path) =>
        {
            is_named()
        }
        FileRole::Read if file.path.ends_with(".json") && LISTS.is_match(&file.is) => is_named(),
        FileRole::Read => !is_of_chart(head, file.path) || CLUSTER_DECIDES.iter().any(|word| file.is.contains(word)),
        FileRole::Script => true,
        FileRole::Code => !file.path.split('/').any(|part| part.contains("test")),
    }
}

/// Returns true for a template or a values file of a chart in this tree.
pub(super) fn is_of_chart(head: &TreeState, path: &str) -> bool {
    let name = file_name(path);
    (path.contains("templates/") || name.contains("values")) && chart_around(head, path).is_some()
}

/// Finds lines of a file that request accelerators.
pub(super) struct AcceleratorSearch<'c> {
    catalog: &'c Catalog,
    role: FileRole,
    /// True if variable files override the defaults.
    has_values: bool,
}

/// Returns true if a string requests accelerators anywhere.
pub(super) fn of_text(text: &str, catalog: &Catalog) -> bool {
    let asking = AcceleratorSearch { catalog, role: FileRole::Script, has_values: false };
    super::change::lines(text).any(|line| asking.asked(line).is_some())
}

impl<'c> AcceleratorSearch<'c> {
    pub(super) fn of(head: &'c TreeState<'c>, file: &ChangedText) -> AcceleratorSearch<'c> {
        let has_values = head.sources.tree().list(parent(file.path)).iter().any(|it| it.name.contains(".tfvars"));
        AcceleratorSearch { catalog: &head.settings.catalog, role: file.role, has_values }
    }

    /// Returns the machine or accelerator that a line requests.
    pub(super) fn asked(&self, line: ChangedLine) -> Option<String> {
        let line = line.text.trim();
        if ["#", "//", "*", "-- ", ";"].iter().any(|mark| line.starts_with(mark)) {
            return None;
        }
        if self.role != FileRole::Code
            && let Some(found) = DEVICES.captures(line)
        {
            return found.get(1).or(found.get(2)).map(|key| key.as_str().to_owned());
        }
        let mut is_prose = false;
        for found in PAIRS.captures_iter(line) {
            let (Some(key), Some(value)) = (found.get(1), found.get(2)) else { continue };
            let (key, value) = (key.as_str().to_ascii_lowercase(), value.as_str());
            is_prose |= PROSE.contains(&key.as_str()) || key == "default" && self.has_values;
            if is_prose {
                continue;
            }
            let Some(name) = decide::named_machine(value, self.catalog) else { continue };
            let is_of_accelerators = accelerators::are_mentioned(&key) && name.len() > 3;
            if SHOWN.contains(&key.as_str()) && self.role == FileRole::Code {
                continue;
            }
            let value = value.trim_start_matches(['"', '\'', '[']).trim_start_matches("ml.");
            let is_whole = value.trim_matches(['"', '\'', '[', ']', ' ']).split([',', '"', ' ']).any(|it| it == name);
            let is_command = key.contains("command");
            if self.is_machine(&name) && (is_whole || is_command)
                || is_of_accelerators && self.role != FileRole::Code && key != "name"
            {
                return Some(name);
            }
        }
        let family = FAMILY.captures(line).and_then(|it| it.get(1)).map(|it| it.as_str());
        if let Some(family) = family.filter(|it| self.is_family(it)) {
            return Some(family.to_owned());
        }
        let carried = ENCODED.find(line).filter(|_| self.role != FileRole::Code);
        if let Some(text) = carried.and_then(|it| from_base64(it.as_str().trim_end_matches('=').bytes())) {
            let text = String::from_utf8_lossy(&text).into_owned();
            if let Some(name) = super::change::lines(&text).find_map(|line| self.asked(line)) {
                return Some(name);
            }
        }
        // A string within a line: a command in a heredoc, a flag of a program.
        let is_plain = self.role != FileRole::Code && !is_prose;
        let mut words = line.split([' ', '\t', '=', ',', ':', '"', '\'', '`', '(', ')']).filter(|_| is_plain);
        words.find(|word| word.len() > 3 && self.is_machine(word)).map(str::to_owned)
    }

    /// Returns true if a name is a family of machines.
    pub(super) fn is_family(&self, name: &str) -> bool {
        let start = format!("{name}.");
        self.catalog.machines().any(|machine| machine.name.starts_with(&start))
    }

    /// Returns true if a name can only mean a machine with accelerators.
    pub(super) fn is_machine(&self, name: &str) -> bool {
        // Versions that begin with a date or a number look like names of TPU slices.
        let after = name.trim_start_matches('v').trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = name.len() - after.len();
        let is_version = name.starts_with('v') && (after.starts_with('.') || digits > 2);
        // Every name of a machine with accelerators has a digit; most words have none.
        name.contains(['.', '-', '_'])
            && name.bytes().any(|it| it.is_ascii_digit())
            && !is_version
            && self.catalog.provider_of(name).is_some()
            && decide::named_machine(name, self.catalog).is_some()
    }
}

static_regex!(
/// Matches a device key with a number or a template expression. Keys of unknown vendors match by name alone. The colon
/// of an image has no space after it, so images do not match.
static DEVICES: Regex = {
    let known: Vec<String> = accelerators::device_keys().map(regex::escape).collect();
    let amount = r#"(?:[1-9]|\{\{|\$[\{(A-Za-z])"#;
    format!(
        r#"((?:{})[a-z0-9.-]*)\\?["']?\s*[:=]\s*\\?["']?{amount}|(\b{DOMAIN}/{DEVICE}[a-z0-9._-]*)\\?["']?\s*:\s+\\?["']?{amount}"#,
        known.join("|"),
    )
});

const DOMAIN: &str = r"[a-z0-9-]+(?:\.[a-z0-9-]+)*";
const DEVICE: &str = "(?:nvidia|v?gpu|[hb][12]00|a100|cuda)";

static_regex!(
/// The name of a machine family without a size.
static FAMILY: Regex = r#"\b(?:instance[-_]?|machine[-_])[fF]amily\W+([a-z]+\d+[a-z]*)\b"#);
static_regex!(
/// A string in base64.
static ENCODED: Regex = r"[A-Za-z0-9+/]{24,}={0,2}");

static_regex!(
/// A key and its value anywhere in a line.
static PAIRS: Regex = r#"([A-Za-z_][\w.-]*)\\?["']?\s*[:=]\s*(\[[^\]]*\]|"[^"]*"|'[^']*'|[^\s,{}\[\]]+)"#);

/// Keys of lists that a program shows for a choice.
const SHOWN: [&str; 6] = ["value", "label", "text", "name", "id", "title"];

static_regex!(
/// Lists of machines for people: prices, dashboards, choices. Their keys do not belong to a deployment.
static LISTS: Regex = r#""(?:openapi|swagger|examples?|panels|price|prices|hourly|pricing|usd|cost|label|vcpus?|displayName|display_name)"\s*:|"[\w.-]+"\s*:\s*\d+\.\d+\s*[,}]|\A\s*\[\s*\{\s*"name""#);

/// Keys whose values are written for people.
const PROSE: [&str; 7] = ["description", "title", "summary", "message", "error_message", "condition", "documentation"];
