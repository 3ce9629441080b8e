//! Reads what a machine runs when it starts: a script, a `#cloud-config` document, or several parts of both.

use std::collections::BTreeMap;

use crate::languages::yaml::{self, Node};
use crate::source::Span;

/// The commands of a machine's first start, as one script, and the files that it gets.
#[derive(Debug, Default)]
pub(super) struct Startup {
    pub(super) script: String,
    /// The contents of files, by their names.
    pub(super) files: BTreeMap<String, String>,
}

impl Startup {
    /// Reads user data. `span` is its place.
    pub(super) fn read(text: &str, span: Span) -> Startup {
        let mut startup = Startup::default();
        match boundary(text) {
            Some(boundary) => {
                for part in text.split(&format!("--{boundary}")).skip(1) {
                    let body = part.split_once("\n\n").or_else(|| part.split_once("\r\n\r\n"));
                    startup.add(body.map_or("", |(_, body)| body), span);
                }
            }
            None => startup.add(text, span),
        }
        startup
    }

    fn add(&mut self, text: &str, span: Span) {
        if !text.trim_start().starts_with("#cloud-config") {
            self.script.push_str(text);
            self.script.push('\n');
            return;
        }
        let Some(document) = yaml::read_at(span.file, 0, text) else { return };
        for file in document.get("write_files").map(Node::items).unwrap_or_default() {
            let is_encoded = file.get("encoding").is_some();
            if let Some((path, content)) = file.text_at("path").zip(file.text_at("content")).filter(|_| !is_encoded) {
                let name = path.rsplit('/').next().unwrap_or(path);
                self.files.insert(name.to_owned(), content.to_string());
            }
        }
        for key in ["bootcmd", "runcmd"] {
            for command in document.get(key).map(Node::items).unwrap_or_default() {
                let words = command.items().iter().filter_map(Node::text).map(|word| quoted(word));
                let line = command.text().map_or_else(|| words.collect::<Vec<_>>().join(" "), ToString::to_string);
                self.script.push_str(&line);
                self.script.push('\n');
            }
        }
        // This runs after the commands (cloud-init, module `power_state_change`, 2026-11).
        let mode = document.text_at("power_state.mode").filter(|mode| matches!(&***mode, "poweroff" | "halt"));
        if let Some(mode) = mode {
            let condition = document.at("power_state.condition").filter(|node| node.flag() != Some(true));
            self.script.push_str(if condition.is_some() { "test condition && " } else { "" });
            self.script.push_str(mode);
            self.script.push('\n');
        }
    }
}

/// Returns the boundary between the parts of user data.
fn boundary(text: &str) -> Option<&str> {
    let header = text.lines().take(20).find(|line| line.to_ascii_lowercase().contains("multipart/"))?;
    let at = header.find("boundary=")?;
    Some(header[at + "boundary=".len()..].trim().trim_matches('"')).filter(|boundary| !boundary.is_empty())
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:+,@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
