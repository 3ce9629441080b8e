//! The pages of `rules/` as one list, so that adding a rule is adding a file.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Writes the names and texts of all pages, sorted.
pub fn write(rules: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", rules.display());
    let mut paths: Vec<_> = fs::read_dir(rules)?.map(|entry| entry.map(|it| it.path())).collect::<Result<_, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|it| it == "md"));
    paths.sort();
    let mut code = String::from("/// The built-in pages: path and text.\npub static BUILT_IN: &[(&str, &str)] = &[\n");
    for path in paths {
        let name = path.file_name().ok_or("no name")?.to_string_lossy().into_owned();
        let full = fs::canonicalize(&path)?;
        writeln!(code, "    ({:?}, include_str!({:?})),", format!("rules/{name}"), full.display().to_string())?;
    }
    code.push_str("];\n");
    fs::write(out, code)?;
    Ok(())
}
