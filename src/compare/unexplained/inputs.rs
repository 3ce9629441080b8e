//! Reopens unchanged gaps whose inputs changed. An entry is unchanged only if its inputs are: the values of a partly
//! rendered chart, the companion files of a program, the rest of a broken file.

use std::collections::BTreeSet;

use super::accelerator_lines::{chart_around, of_text};
use super::change::{ChangedText, FileRole};
use super::changed_files::ChangedFiles;
use super::commands::ChangedCommands;
use crate::compare::deciding_lines::deciding_lines;
use crate::compare::state::TreeState;
use crate::diagnostic::SkipKind;
use crate::front_ends::files;
use crate::inventory::{Unjudged, UnjudgedStatus};
use crate::source::{ReadError, Span, file_name, is_below, parent};

/// Reopens entries that are listed as unchanged although their inputs changed.
pub(super) fn reopen(changed: &ChangedFiles, unjudged: &mut [Unjudged]) {
    let submodules = &changed.states.touched.submodules;
    let earlier: BTreeSet<(&str, &str)> =
        changed.states.before.inventory.unjudged.iter().map(|it| (it.path.as_str(), it.reason.as_str())).collect();
    for it in unjudged.iter_mut() {
        match it.standing {
            UnjudgedStatus::AsBefore => {
                let input = changed.texts.iter().find(|file| is_input(changed, it, file));
                if input.is_some() || submodules.contains(&it.path) {
                    it.standing = UnjudgedStatus::Open;
                    show_change(changed, it, input);
                }
            }
            UnjudgedStatus::Open if is_moved(changed, it, &earlier) => it.standing = UnjudgedStatus::AsBefore,
            UnjudgedStatus::Open if is_foreign(it) && earlier.contains(&(it.path.as_str(), it.reason.as_str())) => {
                match changed.texts.iter().find(|file| file.path == it.path) {
                    Some(file) if !is_input(changed, it, file) => it.standing = UnjudgedStatus::AsBefore,
                    input => show_change(changed, it, input),
                }
            }
            // A missing part counts as unchanged if nothing around it has accelerators.
            UnjudgedStatus::Open => {
                let was_told = earlier.contains(&(it.path.as_str(), it.reason.as_str()));
                let whole = whole(changed.head, it).filter(|_| was_told && it.address.is_none() && !is_foreign(it));
                if whole.is_some_and(|whole| !speaks(changed, whole)) {
                    it.standing = UnjudgedStatus::AsBefore;
                }
            }
            UnjudgedStatus::Lost => {}
        }
    }
}

/// Shows the first changed line of the entry's file, or names the input that changed.
fn show_change(changed: &ChangedFiles, it: &mut Unjudged, input: Option<&ChangedText>) {
    let Some(file) = input.filter(|_| is_foreign(it)) else { return };
    if file.path != it.path {
        it.reason.push_str(&format!("; its input {} changed", file.path));
        return;
    }
    let Ok(id) = changed.head.sources.open(file.path) else { return };
    let shown = it.shown_at.or(it.span).map(|span| span.range());
    let mut new = file.new_lines().map(|line| line.start..line.start + line.text.trim_end().len()).peekable();
    let first = new.peek().cloned();
    let is_shown =
        new.any(|line| shown.as_ref().is_some_and(|shown| line.start <= shown.start && shown.start <= line.end));
    if let Some(line) = first.filter(|_| !is_shown) {
        it.shown_at = Some(Span::new(id, line.start, line.end));
    }
}

/// Returns true if the file of an entry only moved: its content and the reason are the same as before.
fn is_moved(changed: &ChangedFiles, it: &Unjudged, earlier: &BTreeSet<(&str, &str)>) -> bool {
    let from = changed.moved.get(&it.path).filter(|from| earlier.contains(&(from.as_str(), it.reason.as_str())));
    is_foreign(it)
        && from.is_some_and(|from| {
            let was = changed.states.base.stored_text(from);
            was.is_ok_and(|was| changed.head.stored_text(&it.path).is_ok_and(|is| is == was))
        })
}

fn is_input(changed: &ChangedFiles, it: &Unjudged, file: &ChangedText) -> bool {
    // An entry about a program depends on the program file first.
    if is_foreign(it) && it.path == file.path {
        return match it.kind {
            SkipKind::Language if files::is_script_alone(file.path) => !ChangedCommands::of(file).affect_nothing(),
            SkipKind::Language => {
                deciding_lines(changed.states.base, &file.was) != deciding_lines(changed.head, &file.is)
            }
            _ => true,
        };
    }
    // For modules without a caller, lines about accelerators are compared already.
    let is_beside = match file.role {
        FileRole::Beside => true,
        FileRole::Code => it.kind != SkipKind::Program,
        FileRole::Read | FileRole::Script => it.kind == SkipKind::UncalledModule,
    };
    if is_beside {
        return false;
    }
    if it.address.is_some() {
        return false;
    }
    if is_foreign(it) {
        return is_parameter(changed, it, file);
    }
    match whole(changed.head, it) {
        Some(whole) => (it.path == file.path || is_below(file.path, whole)) && speaks(changed, whole),
        None => it.path == file.path,
    }
}

/// Returns the directory of the chart or kustomization that contains a path.
fn whole<'i>(head: &TreeState, it: &'i Unjudged) -> Option<&'i str> {
    let is_directory = !file_name(&it.path).contains('.');
    match chart_around(head, &it.path) {
        Some(chart) => Some(chart),
        None if is_directory && it.kind != SkipKind::UncalledModule => Some(it.path.as_str()),
        None if it.path.contains("ustomization") => Some(parent(&it.path)),
        None => None,
    }
}

/// Returns true if a file below a directory names accelerators, or if a file with accelerators names the directory.
fn speaks(changed: &ChangedFiles, directory: &str) -> bool {
    let head = changed.head;
    let asks = |text: &str| of_text(text, &head.settings.catalog);
    let names = |path: &String| match head.stored_text(path) {
        Ok(text) => asks(&text),
        Err(error) => !matches!(error, ReadError::Missing | ReadError::Outside),
    };
    // A single word can be anything; after a key or a slash it is a path.
    let name = file_name(directory);
    let is_named = |text: &str| {
        [format!("/{name}"), format!("path: {name}"), format!("chart: {name}")].iter().any(|it| text.contains(it))
    };
    head.files.iter().filter(|path| is_below(path, directory)).any(names)
        || changed
            .speaking
            .iter()
            .filter(|path| !is_below(path, directory))
            .any(|path| !name.is_empty() && head.stored_text(path).is_ok_and(|text| is_named(&text) && asks(&text)))
}

fn is_foreign(it: &Unjudged) -> bool {
    matches!(it.kind, SkipKind::Language | SkipKind::Program)
}

/// Returns true if a file without a name in the entry is not an input of it: a script names its files, and Docker
/// Compose reads `.env` and other files of its own name. Other tools read variables of Terraform and values of charts.
fn takes_named_files_only(it: &Unjudged, file: &ChangedText) -> bool {
    const OTHERS: [&str; 4] = ["values.yaml", "values.yml", ".pre-commit-config.yaml", "_config.yml"];
    let name = file_name(file.path);
    let is_compose = file_name(&it.path).contains("compose");
    let is_of_compose = name.contains("compose") || parent(file.path) == parent(&it.path) && name.contains("env");
    files::is_script_alone(&it.path)
        || is_compose && !is_of_compose
        || files::is_terraform(file.path) && !file.path.ends_with(".json")
        || OTHERS.contains(&name)
}

/// Returns true if a file lists the libraries of a program, whose versions change no machine.
fn is_dependency_list(path: &str) -> bool {
    const NAMES: [&str; 6] = ["package.json", "go.mod", "requirements.txt", "pyproject.toml", "pom.xml", "Pipfile"];
    NAMES.contains(&file_name(path)) || path.ends_with(".csproj")
}

/// Returns true if a line of a file, without comments, names another file. A name that many files have needs its folder.
fn is_named_in(head: &TreeState, path: &str, other: &str, name: &str) -> bool {
    let text = head.sources.tree().read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text).to_ascii_lowercase();
    let folder = file_name(parent(other)).to_ascii_lowercase();
    let is_common = file_name(path).eq_ignore_ascii_case(name) && !folder.is_empty();
    let name = if is_common { format!("{folder}/{name}") } else { name.to_owned() };
    let mut lines = text.lines().map(str::trim_start);
    lines.any(|line| !["#", "//", "--"].iter().any(|mark| line.starts_with(mark)) && line.contains(&name))
}

/// Returns true if a changed file is an input of an entry in another language: a companion file, or the rest of its
/// file.
fn is_parameter(changed: &ChangedFiles, it: &Unjudged, file: &ChangedText) -> bool {
    const WORDS: [&str; 8] = ["param", "config", "env", "vars", "values", "pulumi.", "settings", "context"];
    let folder = parent(&it.path);
    if it.kind == SkipKind::Program {
        if is_dependency_list(file.path) {
            return deciding_lines(changed.states.base, &file.was) != deciding_lines(changed.head, &file.is);
        }
        return is_below(file.path, folder)
            && !file
                .path
                .split('/')
                .any(|part| crate::source::is_example(part) || part.contains(".test.") || part.contains("_test."));
    }
    let name = file_name(file.path).to_ascii_lowercase();
    // The inputs of a program are its imports, and other files of the same language next to it. A script names them.
    let ending = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
    let is_like = parent(file.path) == folder && ending(file.path) == ending(&it.path);
    let is_more = is_like && !file.is_yaml() && !files::is_script_alone(&it.path);
    if is_more || is_named_in(changed.head, &it.path, file.path, &name) {
        return true;
    }
    // A changed file may import it.
    if !file.is_yaml() && file_name(&it.path).contains('.') && file.is.contains(file_name(&it.path)) {
        return true;
    }
    if takes_named_files_only(it, file) {
        return false;
    }
    let stem = file_name(&it.path).split('.').next().unwrap_or_default();
    is_below(file.path, folder)
        && (WORDS.iter().any(|word| name.contains(word)) || !stem.is_empty() && name.starts_with(stem))
}
