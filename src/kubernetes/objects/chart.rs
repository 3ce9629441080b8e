//! Finds the values files of charts, and the chart of each template.

use std::collections::BTreeSet;

use crate::languages::yaml::{self, Node};
use crate::source::{SourceFiles, join, parent};

/// The kind that reports use for values without a known template.
pub(in crate::kubernetes) const VALUES: &str = "Values";
pub(in crate::kubernetes) const VALUES_ALONE: &str = "chart values, read without their templates";

/// The maximum number of directories between a chart and its templates.
const FARTHEST: usize = 8;

/// Returns the directory of the chart that contains a template.
pub(in crate::kubernetes) fn of_template<'p>(sources: &SourceFiles, path: &'p str) -> Option<&'p str> {
    if !path.contains("templates/") {
        return None;
    }
    nearest(sources, path)
}

/// Returns the nearest directory above a file that is a chart.
pub(in crate::kubernetes) fn nearest<'p>(sources: &SourceFiles, path: &'p str) -> Option<&'p str> {
    let mut directory = parent(path);
    for _ in 0..FARTHEST {
        let chart = join(directory, "Chart.yaml")?;
        if sources.tree().read(&chart).is_ok() {
            return Some(directory);
        }
        if directory.is_empty() {
            return None;
        }
        directory = parent(directory);
    }
    None
}

/// Returns whether the name of a file is that of a values file.
pub(in crate::kubernetes) fn is_values(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let Some(stem) = [".yaml", ".yml", ".yaml.gotmpl", ".yaml.tpl", ".yaml.tmpl", ".yaml.tftpl"]
        .iter()
        .find_map(|ending| name.strip_suffix(ending))
    else {
        return false;
    };
    stem.split(['-', '_', '.']).any(|word| word == "values" || word == "value")
}

/// Returns the default values of a chart.
pub(in crate::kubernetes) fn values(sources: &SourceFiles, directory: &str) -> Option<Node> {
    let file = sources.open(&join(directory, "values.yaml")?).ok()?;
    let stream = yaml::read(file, &sources.text(file));
    stream.documents.into_iter().next().map(|document| document.root)
}

/// Returns the templates of the charts whose values may request accelerators.
pub(in crate::kubernetes) fn templates<'p>(asking: &[&'p String], paths: &[&'p String]) -> BTreeSet<&'p String> {
    let charts: BTreeSet<&str> = asking.iter().filter(|path| is_values(path)).map(|path| parent(path)).collect();
    let of_such =
        |path: &str| path.match_indices("templates/").any(|(at, _)| charts.contains(path[..at].trim_end_matches('/')));
    paths.iter().copied().filter(|path| of_such(path)).collect()
}

/// Returns whether a directory is a chart.
pub(in crate::kubernetes) fn is_at(sources: &SourceFiles, directory: &str) -> bool {
    join(directory, "Chart.yaml").is_some_and(|path| sources.tree().read(&path).is_ok())
}
