//! Checks that modules import each other only as the table in `ARCHITECTURE.md` allows.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

type Arrows = BTreeMap<String, Option<BTreeSet<String>>>;

#[test]
fn rooms_import_each_other_only_along_the_arrows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let arrows = table(&fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap());
    assert!(arrows.len() > 10, "the table of rooms was not found");
    let mut wrong = Vec::new();
    for file in files(&root.join("src")) {
        let inside = file.strip_prefix(root.join("src")).unwrap();
        let module = module(inside);
        let room = &*module[0];
        if ["lib", "main", LANGUAGES].contains(&room) {
            continue;
        }
        let Some(allowed) = arrows.get(room) else {
            wrong.push(format!("{} is in no room of the table", inside.display()));
            continue;
        };
        let Some(allowed) = allowed else { continue };
        for name in imports(&fs::read_to_string(&file).unwrap()) {
            if name != room && !allowed.contains(&name) {
                wrong.push(format!("{} imports crate::{name}; `{room}` may not", inside.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Only the command line can reach code that opens a socket, so no fact, rule or pod-to-pool match can contact a
/// server.
#[test]
fn only_the_command_line_reaches_what_opens_a_socket() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let sockets = ["http", "forge", "refresh", "usage"];
    let mut wrong = Vec::new();
    for file in files(&src) {
        let inside = file.strip_prefix(&src).unwrap();
        let room = module(inside)[0].clone();
        let names = imports(&fs::read_to_string(&file).unwrap());
        for name in names.iter().filter(|name| sockets.contains(&&***name) && **name != room) {
            if room != "cli" && !(name == "http" && sockets.contains(&&*room)) {
                wrong.push(format!("{} imports crate::{name}", inside.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn rooms_inside_of_rooms_import_only_those_before_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let order = inside(&fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap());
    let mut wrong = Vec::new();
    for file in files(&root.join("src")) {
        let text = fs::read_to_string(&file).unwrap();
        let path = file.strip_prefix(root.join("src")).unwrap();
        let module = module(path);
        let [room, within, ..] = &module[..] else { continue };
        if !root.join("src").join(room).join(within).is_dir() {
            continue;
        }
        let Some(rooms) = order.get(&**room) else {
            wrong.push(format!("`{room}` has rooms of its own that the table does not name"));
            continue;
        };
        let Some(at) = rooms.iter().position(|it| it == within) else {
            wrong.push(format!("`{room}/{within}` stands in no row of the table"));
            continue;
        };
        for name in reached(&text, &module) {
            let later = rooms.iter().position(|it| *it == name).is_some_and(|other| other > at);
            let (from, to) = (format!("{room}/{within}"), format!("{room}/{name}"));
            if later {
                wrong.push(format!("{} imports {to}; `{from}` stands before it", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The parts of `terraform` that evaluate Terraform, as any tool could.
const EVALUATOR: [&str; 8] = ["address", "block", "code", "evaluate", "functions", "plan", "load", "terragrunt"];
/// The only file from which the evaluator gets types of this project.
const BORDER: &str = "border";
/// The rooms that the evaluator and the languages may import, besides languages.
const NEUTRAL: [&str; 2] = ["source", "diagnostic"];

/// The evaluator of Terraform knows nothing of accelerators, definitions and prices.
#[test]
fn the_evaluator_of_terraform_reaches_this_project_only_at_the_border() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for file in files(&src.join("terraform")) {
        let text = fs::read_to_string(&file).unwrap();
        let path = file.strip_prefix(&src).unwrap();
        let module = module(path);
        let Some(part) = module.get(1).filter(|it| EVALUATOR.contains(&&***it)) else { continue };
        seen.insert(part.clone());
        let is_neutral =
            |name: &str| name == "terraform" || NEUTRAL.contains(&name) || name.starts_with(&format!("{LANGUAGES}/"));
        let rooms = imports(&text).into_iter().filter(|it| !is_neutral(it)).map(|it| format!("crate::{it}"));
        let is_inside = |name: &str| name == BORDER || EVALUATOR.contains(&name);
        let parts = reached(&text, &module).into_iter().filter(|it| !is_inside(it));
        let names = rooms.chain(parts.map(|it| format!("crate::terraform::{it}")));
        wrong.extend(names.map(|name| format!("{} imports {name}", path.display())));
    }
    assert_eq!(seen.len(), EVALUATOR.len(), "a part of the evaluator was not found");
    let border = imports(&fs::read_to_string(src.join("terraform/border.rs")).unwrap());
    assert_eq!(border.into_iter().collect::<Vec<_>>(), ["inventory"], "the border imports more than the inventory");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Types that another room extends with methods. This list may only shrink.
const EXTENDED_ELSEWHERE: [&str; 1] = ["report: Currency"];

/// A room implements traits and methods only for its own types, or its own traits for other types. Rust requires the
/// same between crates.
#[test]
fn rooms_implement_foreign_traits_only_for_their_own_types() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let read = |file: PathBuf| {
        let room = module(file.strip_prefix(&src).unwrap())[0].clone();
        (room, without_tests(&fs::read_to_string(file).unwrap()).to_owned())
    };
    let texts: Vec<(String, String)> = files(&src).into_iter().map(read).collect();
    let mut owners: BTreeMap<String, String> = BTreeMap::new();
    let mut own: BTreeSet<(&str, String)> = BTreeSet::new();
    for (room, text) in &texts {
        for line in text.lines() {
            owners.extend(type_that_others_see(line).map(|name| (name, room.clone())));
            own.extend(type_of_any_visibility(line).map(|name| (&**room, name)));
            // A type that a macro defines: `Name {`.
            let by_macro = line.trim().strip_suffix(" {").filter(|_| text.contains("macro_rules!"));
            own.extend(by_macro.map(|name| (&**room, name.to_owned())));
        }
    }
    let mut found = BTreeSet::new();
    for (room, text) in &texts {
        for (of, target) in implementations(text) {
            let is_foreign = owners.get(&target).is_some_and(|owner| owner != room);
            if is_foreign && !of.iter().chain([&target]).any(|name| own.contains(&(&**room, name.clone()))) {
                found.insert(format!("{room}: {target}"));
            }
        }
    }
    assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), EXTENDED_ELSEWHERE);
}

/// Returns, for each `impl`, the names in its trait (none for methods), and the name of its type.
fn implementations(text: &str) -> Vec<(Vec<String>, String)> {
    let text = format!("\n{text}");
    let headers = text.split("\nimpl").skip(1).filter_map(|it| it.split_once('{')).map(|(header, _)| header);
    let names = |text: &str| -> Vec<String> {
        let parts = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        parts.filter(|it| it.starts_with(char::is_uppercase)).map(str::to_owned).collect()
    };
    let implementation = |header: &str| {
        let header = header.split("\nwhere").next()?;
        let header = if header.starts_with('<') { after_generics(header) } else { header };
        let (of, target) = header.rsplit_once(" for ").unwrap_or(("", header));
        let target = target.split('<').next()?;
        Some((names(of), names(target).pop()?))
    };
    headers.filter_map(implementation).collect()
}

/// Returns the text after `<…>` at its start.
fn after_generics(text: &str) -> &str {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if !text[..at].ends_with('-') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &text[at + 1..];
        }
    }
    ""
}

fn type_of_any_visibility(line: &str) -> Option<String> {
    type_that_others_see(line).or_else(|| type_that_others_see(&format!("pub {}", line.trim_start())))
}

/// The folder whose folders count as top-level modules: `languages/yaml`.
const LANGUAGES: &str = "languages";

/// Returns the top-level module of a file, then its inner modules.
pub(crate) fn module(path: &Path) -> Vec<String> {
    let path = path.with_extension("");
    let mut module: Vec<String> = path.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
    module.retain(|part| part != "mod");
    if let [folder, language, ..] = &module[..]
        && folder == LANGUAGES
    {
        let room = format!("{folder}/{language}");
        module.splice(..2, [room]);
    }
    module
}

/// A search for the name of a type that other modules see finds this type only.
#[test]
fn each_name_is_the_name_of_one_type_that_other_modules_see() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut types: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files(&root.join("src")) {
        let text = fs::read_to_string(&file).unwrap();
        let path = file.strip_prefix(root).unwrap().display().to_string();
        for name in text.lines().filter_map(type_that_others_see) {
            types.entry(name).or_default().push(path.clone());
        }
    }
    assert!(types.len() > 500, "the types were not found");
    let wrong: Vec<String> =
        types.iter().filter(|(_, at)| at.len() > 1).map(|(name, at)| format!("{name}: {}", at.join(", "))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A pattern in the code that does not compile must fail a test. `static_regex!` creates the pattern and the test.
#[test]
fn no_pattern_of_the_code_may_be_missing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let optional = |file: &PathBuf| fs::read_to_string(file).unwrap().contains("LazyLock<Option<Regex");
    let wrong: Vec<PathBuf> = files(&root).into_iter().filter(optional).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// Returns the type name: Name for `pub(super) struct Name<'a> {`.
fn type_that_others_see(line: &str) -> Option<String> {
    let after = line.trim_start().strip_prefix("pub")?;
    let after = match after.strip_prefix('(') {
        Some(inside) => inside.split_once(')')?.1,
        None => after,
    };
    let (keyword, name) = after.strip_prefix(' ')?.split_once(' ')?;
    let is_type = ["struct", "enum", "trait", "type"].contains(&keyword);
    // Macros leave the name to their callers.
    is_type.then(|| identifier(name)).filter(|name| !name.is_empty())
}

/// Returns the inner modules that a module's code uses.
fn reached(text: &str, module: &[String]) -> BTreeSet<String> {
    let text = without_tests(text);
    let mut names = BTreeSet::new();
    let crates = format!("crate::{}::", module[0].replace('/', "::"));
    for (at, _) in text.match_indices(&*crates) {
        names.extend(first_names(&text[at + crates.len()..]));
    }
    // The number of steps back to the top-level module.
    let back = "super::".repeat(module.len() - 1);
    for (at, _) in text.match_indices(&*back) {
        let is_whole = !text[..at].ends_with("::") && !text[at + back.len()..].starts_with("super::");
        if is_whole {
            names.extend(first_names(&text[at + back.len()..]));
        }
    }
    names
}

fn first_names(after: &str) -> Vec<String> {
    match after.strip_prefix('{') {
        Some(list) => listed(list),
        None => vec![identifier(after)],
    }
}

/// Returns the inner modules of each top-level module, in the order of the table.
fn inside(text: &str) -> BTreeMap<String, Vec<String>> {
    let (_, after) = text.split_once("| room | inside, from the ground up |").expect("the table of inner rooms");
    let rows = after.lines().skip(2).map_while(|line| line.strip_prefix("| `")?.strip_suffix('|'));
    let named = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    rows.filter_map(|row| row.split_once("` |").map(|(room, cell)| (room.to_owned(), named(cell)))).collect()
}

/// Returns the allowed imports of each module; `None` if it may import everything.
fn table(text: &str) -> Arrows {
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.strip_suffix('|'));
    rows.filter_map(|row| {
        let mut cells = row.split('|').map(str::trim);
        let (room, _purpose, allowed) = (cells.next()?, cells.next()?, cells.next()?);
        let names = || allowed.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
        Some((room.trim_end_matches('`').to_owned(), (allowed != "everything").then(names)))
    })
    .collect()
}

pub(crate) fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod ").next().unwrap()
}

/// Returns the module after each `crate::`, outside tests.
fn imports(text: &str) -> BTreeSet<String> {
    let text = without_tests(text);
    let mut names = BTreeSet::new();
    for (at, _) in text.match_indices("crate::") {
        let after = &text[at + "crate::".len()..];
        match after.strip_prefix("languages::") {
            Some(after) => names.extend(first_names(after).iter().map(|name| format!("{LANGUAGES}/{name}"))),
            None => names.extend(first_names(after)),
        }
    }
    names
}

/// Returns a, b, e for `a, b::{c, d}, e}`.
fn listed(list: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut depth = 0;
    let mut start = 0;
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                names.push(identifier(list[start..at].trim_start()));
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

fn identifier(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

pub(crate) fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = crate::fences::files_below(directory, ".rs");
    found.retain(|path| !path.ends_with("tests.rs"));
    found
}

#[test]
fn implementations_are_seen_in_every_form() {
    let text = "impl A {\n}\nimpl<T: Fn() -> B> c::C<D> for e::E<F>\nwhere\n    T: G,\n{\n}\nimpl<'a> H for I<'a> {\n}";
    let expected = [(vec![], "A"), (vec!["C", "D"], "E"), (vec!["H"], "I")];
    let found = implementations(text);
    let found: Vec<(Vec<&str>, &str)> =
        found.iter().map(|(of, target)| (of.iter().map(String::as_str).collect(), &**target)).collect();
    assert_eq!(found, expected);
}

#[test]
fn imports_are_seen_in_every_form() {
    let text = "use crate::a::B;\nuse crate::{c, d::{e, f}, g::h};\nfn x() { crate::i::j() }\n\
                use crate::languages::l::m;\nuse crate::languages::{n, o::p};\n\
                #[cfg(test)]\nmod tests {\n use crate::k; }";
    let expected = ["a", "c", "d", "g", "i", "languages/l", "languages/n", "languages/o"];
    assert_eq!(imports(text).into_iter().collect::<Vec<_>>(), expected);
}
