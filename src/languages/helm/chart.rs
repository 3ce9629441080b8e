//! Loads the files of a chart and of its subcharts, as Helm does.

use std::sync::Arc;

use crate::languages::yaml::{self, Node};
use crate::source::{FileId, SourceFiles, join};

use super::archive;
use super::ignored::Ignored;

/// The limit on the files of a chart, above any real one.
const MOST_FILES: usize = 5_000;
/// The limit on nested directories and charts.
const DEEPEST: usize = 16;
/// The limit on dependencies, because their number can grow exponentially with depth.
const MOST_CHARTS: usize = 300;
/// The limit on the bytes of all files that templates may read.
const MOST_BYTES: usize = 16 << 20;
const BESIDE: &str = "file://";

/// A loaded chart.
#[derive(Debug, Clone)]
pub(crate) struct Chart {
    pub(crate) name: String,
    /// The directory of the chart in the repository.
    pub(crate) directory: String,
    pub(super) about: Node,
    pub(crate) values: Option<Node>,
    /// Templates by their names in the chart, sorted.
    pub(super) templates: Vec<(String, FileId)>,
    template_files: Vec<String>,
    values_file: Option<String>,
    /// Other files that templates may read.
    pub(super) files: Vec<(String, FileId)>,
    pub(super) schema: Option<Arc<str>>,
    pub(super) dependencies: Vec<Dependency>,
    pub(super) inside: Vec<Chart>,
    pub(crate) is_library: bool,
    /// All files that were read.
    pub(crate) inputs: Vec<String>,
}

/// A dependency that is not in the repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MissingChart {
    /// The key of its values in those of the parent chart.
    pub(crate) name: String,
    pub(crate) why: String,
}

/// An entry of a chart's dependencies.
#[derive(Debug, Clone)]
pub(super) struct Dependency {
    pub(super) name: String,
    pub(super) alias: Option<String>,
    pub(super) version: String,
    pub(super) condition: String,
    pub(super) tags: Vec<String>,
    pub(super) imports: Vec<ValueImport>,
    /// The reason why the dependency is missing; `None` if it is available.
    pub(super) missing: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) struct ValueImport {
    pub(super) child: String,
    pub(super) parent: String,
}

impl Chart {
    /// Returns the same chart with other default values.
    pub(crate) fn with_values(&self, values: Option<Node>) -> Chart {
        Chart { values, ..self.clone() }
    }

    /// Returns true if the chart uses values of this name: it has a default, a subchart has the name, or a template
    /// reads it.
    pub(crate) fn takes(&self, sources: &SourceFiles, key: &str) -> bool {
        let asked = format!(".Values.{key}");
        let asks = |text: &str| {
            let behind = text.match_indices(&asked).filter_map(|(at, _)| text.get(at + asked.len()..));
            behind.into_iter().any(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        };
        self.values.as_ref().is_some_and(|own| own.get(key).is_some())
            || self.dependencies.iter().any(|it| it.alias.as_ref().unwrap_or(&it.name) == key)
            || self.inside.iter().any(|it| it.name == key)
            || self.templates.iter().any(|(_, file)| asks(&sources.text(*file)))
    }

    /// Returns the templates of the chart and of its subcharts.
    pub(crate) fn template_files(&self) -> Vec<&String> {
        self.inside
            .iter()
            .fold(self.template_files.iter().collect(), |all, chart| [all, chart.template_files()].concat())
    }

    /// Returns the custom resource definitions, which helm installs in addition to the templates' objects, in its
    /// order.
    pub(crate) fn definitions(&self) -> Vec<&String> {
        let is_one = |path: &&String| {
            let is_manifest = [".yaml", ".yml", ".json"].iter().any(|ending| path.ends_with(ending));
            is_manifest && path.starts_with(&format!("{}/", at(&self.directory, "crds")))
        };
        let own = self.inputs.iter().filter(is_one).collect();
        self.inside.iter().fold(own, |all, chart| [all, chart.definitions()].concat())
    }

    /// Returns the values files of the chart and of its subcharts.
    pub(crate) fn values_files(&self) -> Vec<&String> {
        self.inside.iter().fold(self.values_file.iter().collect(), |all, chart| [all, chart.values_files()].concat())
    }
}

/// Returns the files of a chart in its directory.
pub(crate) fn files(sources: &SourceFiles, directory: &str) -> Vec<String> {
    let loader = Loader { sources, charts: 0, bytes: 0 };
    let mut all = Vec::new();
    // Loading the chart reports an excess of files.
    let _ = loader.below(directory, "", &Ignored::of(sources, directory), 0, &mut all);
    all.into_iter().map(|name| at(directory, &name)).collect()
}

/// The reason why a chart cannot be rendered at all.
pub(crate) type ChartRefusal = String;

pub(crate) fn load(sources: &SourceFiles, directory: &str) -> Result<Chart, ChartRefusal> {
    let mut loader = Loader { sources, charts: 0, bytes: 0 };
    let mut all = Vec::new();
    let rules = Ignored::of(sources, directory);
    loader.below(directory, "", &rules, 0, &mut all)?;
    loader.chart(directory, all, 0)
}

struct Loader<'s> {
    sources: &'s SourceFiles,
    charts: usize,
    bytes: usize,
}

fn at(directory: &str, name: &str) -> String {
    join(directory, name).unwrap_or_else(|| name.to_owned())
}

impl Loader<'_> {
    /// Adds all files below a directory by their names in it, without ignored ones.
    fn below(
        &self,
        root: &str,
        inside: &str,
        rules: &Ignored,
        depth: usize,
        out: &mut Vec<String>,
    ) -> Result<(), ChartRefusal> {
        for entry in self.sources.tree().list(&at(root, inside)) {
            let name = if inside.is_empty() { entry.name } else { format!("{inside}/{}", entry.name) };
            if rules.ignores(&name, entry.is_directory) {
                continue;
            }
            if entry.is_directory && depth < DEEPEST {
                self.below(root, &name, rules, depth + 1, out)?;
            } else if !entry.is_directory {
                out.push(name);
            }
            if out.len() > MOST_FILES {
                return Err(format!("the chart has more than {MOST_FILES} files"));
            }
        }
        Ok(())
    }

    fn document(&self, path: &str) -> Option<Result<Node, ChartRefusal>> {
        let file = self.sources.open(path).ok()?;
        let text = self.sources.text(file);
        let stream = yaml::read(file, &text);
        if let Some(wrong) = stream.diagnostics.iter().find(|it| it.unreadable) {
            return Some(Err(format!("`{path}` cannot be read: {}", wrong.message)));
        }
        stream.documents.into_iter().next().map(|document| Ok(document.root))
    }

    fn chart(&mut self, directory: &str, names: Vec<String>, depth: usize) -> Result<Chart, ChartRefusal> {
        self.charts += 1;
        if depth > DEEPEST || self.charts > MOST_CHARTS {
            return Err(format!(
                "the chart has more than {MOST_CHARTS} dependencies, or they are nested more than {DEEPEST} levels deep"
            ));
        }
        let about = self.document(&at(directory, "Chart.yaml")).ok_or("its Chart.yaml cannot be read")??;
        let name = about.text_at("name").map(ToString::to_string).ok_or("its Chart.yaml has no `name`")?;
        let mut chart = Chart {
            name,
            directory: directory.to_owned(),
            values: None,
            templates: Vec::new(),
            template_files: Vec::new(),
            values_file: None,
            files: Vec::new(),
            schema: None,
            dependencies: Vec::new(),
            inside: Vec::new(),
            is_library: about.text_at("type").is_some_and(|kind| kind.eq_ignore_ascii_case("library")),
            inputs: names.iter().map(|name| at(directory, name)).collect(),
            about,
        };
        let mut inner: Vec<(String, Vec<String>)> = Vec::new();
        let mut others = Vec::new();
        for name in names {
            let path = at(directory, &name);
            if name.starts_with("templates/") {
                match self.sources.open(&path) {
                    Ok(file) => {
                        chart.templates.push((name, file));
                        chart.template_files.push(path);
                    }
                    Err(why) => return Err(format!("`{path}` cannot be read: {why}")),
                }
            } else if name == "values.yaml" {
                chart.values = self.document(&path).transpose()?;
                chart.values_file = Some(path);
            } else if name == "values.schema.json" {
                chart.schema = self.sources.open(&path).ok().map(|file| self.sources.text(file));
            } else if let Some(rest) = name.strip_prefix("charts/") {
                let (first, rest) = rest.split_once('/').unwrap_or((rest, ""));
                match inner.last_mut() {
                    Some((known, all)) if known == first => all.push(rest.to_owned()),
                    _ => inner.push((first.to_owned(), vec![rest.to_owned()])),
                }
            } else if !matches!(name.as_str(), "Chart.yaml" | "Chart.lock" | "requirements.lock") {
                others.push(name);
            }
        }
        let texts: Vec<Arc<str>> = chart.templates.iter().map(|(_, file)| self.sources.text(*file)).collect();
        if texts.iter().any(|text| text.contains("Files")) {
            self.files(&mut chart, others)?;
        }
        let broken = self.inside(&mut chart, inner, depth)?;
        self.dependencies(&mut chart, &broken, depth)?;
        Ok(chart)
    }

    /// Loads the content of `charts/`, each with the names of its files. Returns broken archives with the reason.
    fn inside(
        &mut self,
        chart: &mut Chart,
        inner: Vec<(String, Vec<String>)>,
        depth: usize,
    ) -> Result<Vec<(String, ChartRefusal)>, ChartRefusal> {
        let mut broken = Vec::new();
        for (first, names) in inner {
            if first.starts_with(['_', '.']) {
                continue;
            }
            let inside = at(&chart.directory, &format!("charts/{first}"));
            if names.iter().any(|name| name == "Chart.yaml") {
                let found = self.chart(&inside, names, depth + 1).map_err(|why| format!("chart `{inside}`: {why}"))?;
                chart.inputs.extend(found.inputs.iter().cloned());
                chart.inside.push(found);
            } else if first.ends_with(".tgz") {
                match self.unpacked(&inside).and_then(|names| self.chart(&inside, names, depth + 1)) {
                    Ok(found) => {
                        chart.inputs.extend(found.inputs.iter().cloned());
                        chart.inside.push(found);
                    }
                    Err(why) => broken.push((first, why)),
                }
            }
        }
        Ok(broken)
    }

    /// Stores the files of an archived chart as if it were a folder; returns their names in it.
    fn unpacked(&mut self, path: &str) -> Result<Vec<String>, ChartRefusal> {
        let packed = self.sources.tree().read(path).map_err(|why| why.to_string())?;
        let files = archive::unpack(&packed)?;
        self.bytes += files.iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
        if self.bytes > MOST_BYTES {
            return Err(format!("its files exceed {} MiB", MOST_BYTES >> 20));
        }
        let hold = |(name, bytes): (String, Vec<u8>)| {
            let _ = self.sources.hold_bytes(&at(path, &name), bytes);
            name
        };
        Ok(files.into_iter().map(hold).collect())
    }

    /// Loads the texts that templates may read.
    fn files(&mut self, chart: &mut Chart, names: Vec<String>) -> Result<(), ChartRefusal> {
        for name in names {
            let path = at(&chart.directory, &name);
            let Ok(file) = self.sources.open(&path) else { continue };
            self.bytes += self.sources.size(file);
            if self.bytes > MOST_BYTES {
                return Err(format!("its files exceed {} MiB", MOST_BYTES >> 20));
            }
            chart.files.push((name, file));
        }
        Ok(())
    }

    fn dependencies(
        &mut self,
        chart: &mut Chart,
        archives: &[(String, ChartRefusal)],
        depth: usize,
    ) -> Result<(), ChartRefusal> {
        let mut lists = vec![chart.about.clone()];
        lists.extend(self.document(&at(&chart.directory, "requirements.yaml")).transpose()?);
        for list in lists.iter().filter_map(|root| root.get("dependencies")) {
            for wanted in list.items() {
                let Some(name) = wanted.text_at("name") else { continue };
                let mut dependency = read(wanted, name);
                let is_there = chart.inside.iter().any(|inside| inside.name == **name);
                if !is_there {
                    match self.beside(&chart.directory, wanted) {
                        Some(Ok(real)) => {
                            let rules = Ignored::of(self.sources, &real);
                            let mut names = Vec::new();
                            self.below(&real, "", &rules, 0, &mut names)?;
                            let found =
                                self.chart(&real, names, depth + 1).map_err(|why| format!("chart `{real}`: {why}"))?;
                            chart.inputs.extend(found.inputs.iter().cloned());
                            chart.inside.push(found);
                        }
                        Some(Err(why)) => dependency.missing = Some(why),
                        None => {
                            let packed = archives.iter().find(|(it, _)| it.starts_with(&format!("{name}-")));
                            let why = packed.map(|(it, why)| format!("chart `{name}`, packed in `{it}`: {why}"));
                            let absent = || format!("the chart `{name}` is not in its directory");
                            dependency.missing = Some(why.unwrap_or_else(absent));
                        }
                    }
                }
                chart.dependencies.push(dependency);
            }
        }
        Ok(())
    }

    /// Returns the directory in the repository that a dependency refers to.
    fn beside(&self, directory: &str, wanted: &Node) -> Option<Result<String, String>> {
        let path = wanted.text_at("repository")?.strip_prefix(BESIDE)?.to_owned();
        // An absolute path is on the machine, not in the repository.
        let real = Some(&path).filter(|path| !path.starts_with('/')).and_then(|path| join(directory, path));
        let Some(real) = real else { return Some(Err(format!("`{path}` is outside the checkout"))) };
        match self.sources.tree().read(&at(&real, "Chart.yaml")) {
            Ok(_) => Some(Ok(real)),
            Err(_) => Some(Err(format!("`{path}` contains no chart"))),
        }
    }
}

fn read(wanted: &Node, name: &str) -> Dependency {
    let text = |key: &str| wanted.text_at(key).map(ToString::to_string);
    let texts = |key: &str| {
        let items = wanted.get(key).map(Node::items).unwrap_or_default();
        items.iter().filter_map(Node::text).map(ToString::to_string).collect::<Vec<_>>()
    };
    let imports = wanted.get("import-values").map(Node::items).unwrap_or_default();
    let import = |node: &Node| match node.text() {
        Some(name) => Some(ValueImport { child: format!("exports.{name}"), parent: ".".to_owned() }),
        None => {
            Some(ValueImport { child: node.text_at("child")?.to_string(), parent: node.text_at("parent")?.to_string() })
        }
    };
    Dependency {
        name: name.to_owned(),
        alias: text("alias").filter(|alias| !alias.is_empty()),
        version: text("version").unwrap_or_default(),
        condition: text("condition").unwrap_or_default(),
        tags: texts("tags"),
        imports: imports.iter().filter_map(import).collect(),
        missing: None,
    }
}
