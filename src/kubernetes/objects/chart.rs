//! Charts: which files are values, and which template belongs to which of them.

use std::collections::BTreeSet;

use crate::languages::yaml::{self, Node};
use crate::source::{Sources, join, parent};

/// What values are called that no template is known for.
pub(in crate::kubernetes) const VALUES: &str = "Values";
pub(in crate::kubernetes) const VALUES_ALONE: &str = "chart values, read without their templates";

/// Directories between a chart and its templates are few.
const FARTHEST: usize = 8;

/// The directory of the chart whose template a file is.
pub(in crate::kubernetes) fn of_template<'p>(sources: &Sources, path: &'p str) -> Option<&'p str> {
    if !path.contains("templates/") {
        return None;
    }
    nearest(sources, path)
}

/// The nearest directory above a file that is a chart.
pub(in crate::kubernetes) fn nearest<'p>(sources: &Sources, path: &'p str) -> Option<&'p str> {
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

/// A file of values rather than of objects: by its name.
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

/// The values that a chart has by default.
pub(in crate::kubernetes) fn values(sources: &Sources, directory: &str) -> Option<Node> {
    let file = sources.open(&join(directory, "values.yaml")?).ok()?;
    let stream = yaml::read(file, &sources.text(file));
    stream.documents.into_iter().next().map(|document| document.root)
}

/// The templates of the charts whose values may ask for accelerators.
pub(in crate::kubernetes) fn templates<'p>(asking: &[&'p String], paths: &[&'p String]) -> BTreeSet<&'p String> {
    let charts: BTreeSet<&str> = asking.iter().filter(|path| is_values(path)).map(|path| parent(path)).collect();
    let of_such =
        |path: &str| path.match_indices("templates/").any(|(at, _)| charts.contains(path[..at].trim_end_matches('/')));
    paths.iter().copied().filter(|path| of_such(path)).collect()
}

/// A directory holds a chart.
pub(in crate::kubernetes) fn is_at(sources: &Sources, directory: &str) -> bool {
    join(directory, "Chart.yaml").is_some_and(|path| sources.tree().read(&path).is_ok())
}
