//! Collects the charts that a chart depends on. Local dependencies (`file://…`) are added where Helm looks for them,
//! and disabled ones may be missing. Nothing is downloaded.

use std::collections::BTreeMap;

use crate::languages::yaml::Node;
use crate::source::{SourceFiles, join};

use super::plan::{Content, MOST_FILES, RenderInput, at, below, document};

/// The maximum depth of charts. Real charts nest three levels deep.
const DEEPEST: usize = 8;
/// The limit on charts, because nested dependencies can multiply.
const MOST_CHARTS: usize = 500;
const BESIDE: &str = "file://";

/// The files of a chart's dependencies.
#[derive(Default)]
pub(super) struct Dependencies {
    /// Files of other charts that this one needs.
    pub inputs: Vec<RenderInput>,
    /// The real directories of subcharts, by the path that Helm uses, if both differ.
    pub places: BTreeMap<String, String>,
    /// The charts that were added, by the path that Helm uses.
    laid_out: BTreeMap<String, String>,
    visited: usize,
}

/// A chart between the rendered chart and its innermost dependencies.
struct Inside<'v> {
    /// The directory of the chart in the tree.
    real: &'v str,
    /// The path at which Helm finds the chart.
    seen: &'v str,
    /// The path that Helm prints for the chart, with aliases.
    called: &'v str,
    /// The values of the chart, the highest precedence first.
    values: Vec<Node>,
}

/// Returns the dependencies of a chart. `values` contains the values of the chart, the highest precedence first, and
/// `files` contains its own files.
pub(super) fn gather(
    sources: &SourceFiles,
    directory: &str,
    files: &[String],
    values: Vec<Node>,
) -> Result<Dependencies, String> {
    let mut found = Dependencies::default();
    let chart = Inside { real: directory, seen: directory, called: directory, values };
    found.chart(sources, &chart, files, 0)?;
    Ok(found)
}

impl Dependencies {
    fn chart(
        &mut self,
        sources: &SourceFiles,
        chart: &Inside<'_>,
        files: &[String],
        depth: usize,
    ) -> Result<(), String> {
        let lists = ["Chart.yaml", "requirements.yaml"].map(|name| document(sources, &at(chart.real, name)));
        for list in lists.iter().flatten().filter_map(|root| root.get("dependencies")) {
            for wanted in list.items() {
                let Some(name) = wanted.text_at("name") else { continue };
                let bundled = at(chart.real, &format!("charts/{name}"));
                let is_there =
                    |file: &String| file.strip_prefix(&bundled).is_some_and(|rest| rest.starts_with(['/', '-', '.']));
                let alias = wanted.text_at("alias").unwrap_or(name);
                let seen = at(chart.seen, &format!("charts/{name}"));
                let called = at(chart.called, &format!("charts/{alias}"));
                let is_off = switched_off(wanted, &chart.values);
                if files.iter().any(is_there) {
                    self.stands(called, bundled);
                } else if is_off {
                    self.blank(&seen, name);
                } else {
                    let real = local_directory(sources, chart.real, wanted)
                        .map_err(|why| format!("it depends on the chart `{name}`, {why}"))?;
                    self.stands(called.clone(), real.clone());
                    let values = inner(sources, &chart.values, alias, &real);
                    self.graft(sources, &Inside { real: &real, seen: &seen, called: &called, values }, depth)?;
                }
            }
        }
        Ok(())
    }

    fn stands(&mut self, called: String, real: String) {
        if called != real {
            self.places.insert(called, real);
        }
    }

    /// Adds a chart from another directory, with its own dependencies.
    fn graft(&mut self, sources: &SourceFiles, chart: &Inside<'_>, depth: usize) -> Result<(), String> {
        if depth >= DEEPEST {
            return Err(format!("its chart dependencies nest deeper than {DEEPEST} levels"));
        }
        self.visited += 1;
        let mut files = Vec::new();
        below(sources, chart.real, 0, &mut files)?;
        match self.laid_out.insert(chart.seen.to_owned(), chart.real.to_owned()) {
            None => {
                for file in &files {
                    let inside = file.strip_prefix(chart.real).unwrap_or(file).trim_start_matches('/');
                    self.inputs
                        .push(RenderInput { path: at(chart.seen, inside), content: Content::File(file.clone()) });
                }
            }
            // The same chart was already added under another name.
            Some(known) if known == chart.real => {}
            Some(known) => {
                return Err(format!("it depends on two charts with the same name, `{known}` and `{}`", chart.real));
            }
        }
        if self.inputs.len() > MOST_FILES || self.visited > MOST_CHARTS {
            return Err(format!("with its dependencies, it has more than {MOST_FILES} files or {MOST_CHARTS} charts"));
        }
        self.chart(sources, chart, &files, depth + 1)
    }

    /// Adds an empty chart for a disabled dependency, because Helm requires even these to exist.
    fn blank(&mut self, seen: &str, name: &str) {
        let quoted: String =
            name.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')).collect();
        let text = format!("apiVersion: v2\nname: \"{quoted}\"\nversion: 0.0.0\n");
        self.inputs.push(RenderInput { path: at(seen, "Chart.yaml"), content: Content::Text(text) });
    }
}

/// Returns the directory in the tree that a dependency names.
fn local_directory(sources: &SourceFiles, directory: &str, wanted: &Node) -> Result<String, String> {
    let missing = || "which is not in its directory".to_owned();
    let path = wanted.text_at("repository").and_then(|it| it.strip_prefix(BESIDE)).ok_or_else(missing)?;
    // An absolute path refers to the machine, not to the tree.
    let real = Some(path).filter(|path| !path.starts_with('/')).and_then(|path| join(directory, path));
    let real = real.ok_or_else(|| format!("whose path `{path}` is outside the repository"))?;
    if sources.tree().read(&at(&real, "Chart.yaml")).is_err() {
        return Err(format!("but `{path}` has no chart"));
    }
    Ok(real)
}

/// Returns whether a dependency is disabled. As in Helm, the first condition that values set decides.
fn switched_off(wanted: &Node, values: &[Node]) -> bool {
    let conditions = wanted.text_at("condition").map_or("", |condition| condition);
    let flags = conditions.split(',').map(|path| values.iter().find_map(|root| root.at(path.trim())?.flag()));
    flags.flatten().next() == Some(false)
}

/// Returns the values of a subchart: those under its name in the parent's values, then its own.
fn inner(sources: &SourceFiles, values: &[Node], alias: &str, real: &str) -> Vec<Node> {
    let named = values.iter().filter_map(|root| root.get(alias).cloned());
    let global = values.iter().filter_map(|root| root.get("global").map(|global| Node::framed("global", global)));
    named.chain(global).chain(document(sources, &at(real, "values.yaml"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::MemoryTree;

    fn gathered(chart: &str, values: &str) -> Result<Vec<String>, String> {
        let tree = MemoryTree::new()
            .with("apps/a/Chart.yaml", chart)
            .with("apps/a/values.yaml", values)
            .with("apps/a/charts/in/Chart.yaml", "name: in")
            .with("b/Chart.yaml", "name: b\ndependencies: [{name: c, repository: 'file://../c', condition: c.wanted}]")
            .with("b/values.yaml", "c: {wanted: true}")
            .with("c/Chart.yaml", "name: c")
            .with("round/Chart.yaml", "name: round\ndependencies: [{name: round, repository: 'file://.'}]");
        let many: String = (0..9).map(|n| format!("{{name: many, alias: m{n}, repository: 'file://.'}},")).collect();
        let sources = SourceFiles::new(tree.with("many/Chart.yaml", format!("name: many\ndependencies: [{many}]")));
        let mut files = Vec::new();
        below(&sources, "apps/a", 0, &mut files).unwrap();
        let values = document(&sources, "apps/a/values.yaml").into_iter().collect();
        let found = gather(&sources, "apps/a", &files, values)?;
        let inputs = found.inputs.into_iter().map(|input| input.path);
        Ok(inputs.chain(found.places.into_iter().map(|(called, real)| format!("{called} = {real}"))).collect())
    }

    #[test]
    fn charts_beside_are_laid_out_inside() {
        let found = gathered("dependencies: [{name: b, alias: x, repository: 'file://../../b'}, {name: in}]", "");
        let all = [
            "apps/a/charts/b/Chart.yaml",
            "apps/a/charts/b/values.yaml",
            "apps/a/charts/b/charts/c/Chart.yaml",
            "apps/a/charts/x = b",
            "apps/a/charts/x/charts/c = c",
        ];
        assert_eq!(found.unwrap(), all);
    }

    #[test]
    fn what_values_switch_off_is_not_needed() {
        let chart = "dependencies: [{name: b, repository: 'https://example.com', condition: 'b.no,b.wanted'}]";
        assert_eq!(gathered(chart, "b: {wanted: false}").unwrap(), ["apps/a/charts/b/Chart.yaml"]);
        assert!(gathered(chart, "b: {wanted: true}").unwrap_err().contains("not in its directory"));
        let chart = "dependencies: [{name: b, repository: 'file://../../b'}]";
        let found = gathered(chart, "b: {c: {wanted: false}}").unwrap();
        assert!(found.contains(&"apps/a/charts/b/charts/c/Chart.yaml".to_owned()), "{found:?}");
        assert_eq!(found.last().unwrap(), "apps/a/charts/b = b");
    }

    #[test]
    fn dependencies_stay_in_the_tree() {
        for (repository, why) in [
            ("file://../../../etc", "is outside the repository"),
            ("file:///b", "is outside the repository"),
            ("file://../..", "has no chart"),
            ("file://../../round", "nest deeper"),
            ("https://example.com", "not in its directory"),
            ("file://../../many", "nest deeper"),
            ("oci://example.com/b", "not in its directory"),
        ] {
            let refused = gathered(&format!("dependencies: [{{name: b, repository: '{repository}'}}]"), "");
            let refused = refused.unwrap_err();
            assert!(refused.contains(why), "{repository}: {refused}");
        }
    }
}
