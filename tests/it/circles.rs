//! Checks that files of a module which need each other are listed in `ARCHITECTURE.md`, because a change of one needs
//! knowledge of all.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::arrows::{files, module, without_tests};

/// The path of a file in `src/`, or of an item in it: `cli`, `session`, `Session`.
type ModulePath = Vec<String>;

#[test]
fn files_that_need_each_other_are_listed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let listed = listed(&fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap());
    assert!(!listed.is_empty(), "the table of circles was not found");
    let mut found: BTreeMap<String, Vec<BTreeSet<ModulePath>>> = BTreeMap::new();
    for circle in Files::read(&root.join("src")).circles() {
        found.entry(circle.iter().next().unwrap()[0].clone()).or_default().push(circle);
    }
    let mut wrong = Vec::new();
    for (room, mut circles) in found {
        circles.sort_by_key(|it| std::cmp::Reverse(it.len()));
        let mut sizes = listed.get(&room).cloned().unwrap_or_default();
        sizes.sort_by_key(|it| std::cmp::Reverse(*it));
        for (at, circle) in circles.iter().enumerate() {
            if sizes.get(at).is_none_or(|most| circle.len() > *most) {
                let names: Vec<String> = circle.iter().map(|it| it.join("/")).collect();
                wrong.push(format!("{} files need each other: {}", circle.len(), names.join(", ")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the sizes of the listed cycles for each module.
fn listed(text: &str) -> BTreeMap<String, Vec<usize>> {
    let (_, after) = text.split_once("| room | circle | files at most |").expect("the table of circles");
    let mut listed: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for row in after.lines().skip(2).map_while(|line| line.strip_prefix("| ")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let size = cells[2].parse().expect("a number of files");
        listed.entry(cells[0].to_owned()).or_default().push(size);
    }
    listed
}

struct Files {
    texts: BTreeMap<ModulePath, String>,
    /// The imports of a file: local name and source.
    imports: BTreeMap<ModulePath, Vec<Import>>,
}

struct Import {
    name: String,
    path: ModulePath,
    is_public: bool,
}

impl Files {
    fn read(src: &Path) -> Files {
        let all = files(src).into_iter().map(|file| {
            let text = fs::read_to_string(&file).unwrap();
            let lines = without_tests(&text).lines().map(|line| line.split("//").next().unwrap_or_default());
            (module(file.strip_prefix(src).unwrap()), lines.collect::<Vec<_>>().join("\n"))
        });
        let mut found =
            Files { texts: all.filter(|(module, _)| module[0] != "lib").collect(), imports: BTreeMap::new() };
        let imports = |(module, text): (&ModulePath, &String)| (module.clone(), found.imports_of(module, text));
        found.imports = found.texts.iter().map(imports).collect();
        found
    }

    fn imports_of(&self, module: &[String], text: &str) -> Vec<Import> {
        let mut imports = Vec::new();
        for (_, statement, is_public) in use_statements(text) {
            for (path, name) in flattened(statement) {
                imports.extend(self.absolute(module, &path).map(|path| Import { name, path, is_public }));
            }
        }
        imports
    }

    /// Returns the path from the root of the crate; `None` for other crates.
    fn absolute(&self, module: &[String], path: &[String]) -> Option<ModulePath> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            // A language is a module with two names: its folder, and its own name.
            "crate" => Some(match rest {
                [folder, language, rest @ ..] if folder == "languages" => {
                    [&[format!("{folder}/{language}")], rest].concat()
                }
                rest => rest.to_vec(),
            }),
            "self" => Some([module, rest].concat()),
            "super" => {
                let (_, above) = module.split_last()?;
                match rest.first().is_some_and(|it| it == "super") {
                    true => self.absolute(above, rest),
                    false => Some([above, rest].concat()),
                }
            }
            _ => self.texts.contains_key(&[module, &path[..1]].concat()).then(|| [module, path].concat()),
        }
    }

    /// Returns the file that defines an item, through all re-exports.
    fn file_of(&self, path: &[String], steps: usize) -> Option<ModulePath> {
        let length = (1..=path.len()).rev().find(|length| self.texts.contains_key(&path[..*length]))?;
        let (file, inside) = path.split_at(length);
        if let Some((name, rest)) = inside.split_first()
            && let Some(import) = self.imports[file].iter().find(|it| it.name == *name)
            && steps > 0
        {
            return self.file_of(&[&import.path, rest].concat(), steps - 1);
        }
        Some(file.to_vec())
    }

    /// Returns the files of the same module that a file needs. Re-exports alone do not count.
    fn needs(&self, module: &ModulePath) -> BTreeSet<ModulePath> {
        let imports = &self.imports[module];
        let mut paths: Vec<ModulePath> = imports.iter().filter(|it| !it.is_public).map(|it| it.path.clone()).collect();
        for path in written_paths(&without_uses(&self.texts[module])) {
            let (first, rest) = path.split_first().unwrap();
            match imports.iter().find(|it| it.name == *first) {
                Some(import) => paths.push([&import.path, rest].concat()),
                None => paths.extend(self.absolute(module, &path)),
            }
        }
        let files = paths.iter().filter_map(|path| self.file_of(path, 8));
        files.filter(|file| file != module && file[0] == module[0]).collect()
    }

    /// Returns groups of files that can all reach each other.
    fn circles(&self) -> Vec<BTreeSet<ModulePath>> {
        let needs: BTreeMap<_, _> = self.texts.keys().map(|module| (module, self.needs(module))).collect();
        let reached = |from: &ModulePath| {
            let (mut seen, mut open) = (BTreeSet::new(), vec![from.clone()]);
            while let Some(next) = open.pop() {
                open.extend(needs[&next].iter().filter(|it| seen.insert((*it).clone())).cloned());
            }
            seen
        };
        let all: BTreeMap<_, _> = self.texts.keys().map(|module| (module, reached(module))).collect();
        let circles = all.iter().filter(|(module, reached)| reached.contains(**module));
        let circles: BTreeSet<BTreeSet<ModulePath>> = circles
            .map(|(module, reached)| reached.iter().filter(|it| all[it].contains(*module)).cloned().collect())
            .collect();
        circles.into_iter().filter(|it| it.len() > 1).collect()
    }
}

/// Returns each `use …;` with its start, and whether it is a re-export.
fn use_statements(text: &str) -> Vec<(usize, &str, bool)> {
    let mut found = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let (start, trimmed) = (at, line.trim_start());
        at += line.len();
        let is_public = trimmed.starts_with("pub");
        let words = if is_public { trimmed.split_once(" use ").map(|it| it.1) } else { trimmed.strip_prefix("use ") };
        let Some(words) = words.filter(|_| !is_public || !trimmed.contains('=')) else { continue };
        let from = start + line.len() - words.len();
        let end = text[from..].find(';').map_or(text.len(), |end| from + end);
        found.push((start, &text[from..end], is_public));
    }
    found
}

fn without_uses(text: &str) -> String {
    let mut kept = String::new();
    let mut at = 0;
    for (start, statement, _) in use_statements(text) {
        let end = text[start..].find(statement).map_or(start, |it| start + it + statement.len());
        kept.push_str(&text[at..start.max(at)]);
        at = end.max(at);
    }
    kept + &text[at..]
}

/// Returns a::b as b, a::c::d as e, a::f as f for `a::{b, c::d as e, f::{self}}`.
fn flattened(tree: &str) -> Vec<(ModulePath, String)> {
    let tree = tree.trim();
    if let Some((before, inside)) = tree.split_once('{') {
        let start = names(before);
        let inside = inside.trim_end().strip_suffix('}').unwrap_or(inside);
        let mut depth = 0;
        let parts = inside.split(|c: char| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            c == ',' && depth == 0
        });
        let below = parts.filter(|part| !part.trim().is_empty()).flat_map(flattened);
        return below.map(|(path, name)| place(&[start.clone(), path].concat(), &name)).collect();
    }
    let (path, name) = tree.split_once(" as ").unwrap_or((tree, ""));
    vec![place(&names(path), name.trim())]
}

fn place(path: &[String], name: &str) -> (ModulePath, String) {
    let path = if path.len() > 1 && path.ends_with(&["self".to_owned()]) { &path[..path.len() - 1] } else { path };
    let last = path.last().cloned().unwrap_or_default();
    (path.to_vec(), if name.is_empty() || name == "self" { last } else { name.to_owned() })
}

fn names(path: &str) -> ModulePath {
    path.split("::").map(|it| it.trim().to_owned()).filter(|it| !it.is_empty()).collect()
}

/// Returns each `a::b::c` in code, except in visibility modifiers.
fn written_paths(text: &str) -> BTreeSet<ModulePath> {
    let mut found = BTreeSet::new();
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let mut at = 0;
    while let Some(start) = text[at..].find(part).map(|start| at + start) {
        let end = text[start..].find(|c| !part(c)).map_or(text.len(), |end| start + end);
        let is_sight = text[..start].ends_with("pub(") || text[..start].ends_with("pub(in ");
        let path = &text[start..end];
        if path.contains("::") && !path.starts_with(':') && !is_sight {
            found.insert(names(path.trim_end_matches(':')));
        }
        at = end;
    }
    found.retain(|path: &ModulePath| path.len() > 1);
    found
}

#[test]
fn imports_are_taken_apart() {
    let shown = |tree: &str| -> Vec<String> {
        flattened(tree).into_iter().map(|(path, name)| format!("{} as {name}", path.join("::"))).collect()
    };
    assert_eq!(shown("a::{b, c::d as e, f::{self, g}}"), ["a::b as b", "a::c::d as e", "a::f as f", "a::f::g as g"]);
    assert_eq!(shown("super::x::Y"), ["super::x::Y as Y"]);
    let text = "use a::b;\npub(in crate::c) fn d() { e::f(g::H::new()) }\n";
    let paths: Vec<String> = written_paths(&without_uses(text)).iter().map(|it| it.join("::")).collect();
    assert_eq!(paths, ["e::f", "g::H::new"]);
}
