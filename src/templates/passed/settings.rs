//! Reads settings files in YAML with the parameters of stacks: `samconfig.yaml`, the stack configs of Sceptre, and
//! `.taskcat.yml`.

use crate::languages::hcl::value::HclValue;
use crate::languages::shell::{HOLE, cut_templates};
use crate::languages::yaml::{self, Node};
use crate::source::{SourceFiles, file_name, has_mark, join, parent};

use super::deployment::PassedDeployment;
use super::options::cloudformation_value;
use crate::languages::pipeline::words;

/// The folder of Sceptre's stack configs, and that of its templates.
const SCEPTRE: (&str, &str) = ("config", "templates");
/// The file with the settings of all stacks in a folder of Sceptre.
const GROUP: &str = "config.yaml";
/// The limit on folders above a stack config.
const MOST_FOLDERS: usize = 20;

/// The tool that reads a settings file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum SettingsTool {
    Sam,
    Sceptre,
    Taskcat,
}

/// Returns the tool of a settings file; `None` if its path is that of another file.
pub(super) fn tool_of(path: &str) -> Option<SettingsTool> {
    let is_yaml = [".yaml", ".yml"].iter().any(|ending| path.ends_with(ending));
    match file_name(path) {
        "samconfig.yaml" | "samconfig.yml" => Some(SettingsTool::Sam),
        ".taskcat.yml" | ".taskcat.yaml" => Some(SettingsTool::Taskcat),
        name if is_yaml && name != GROUP && parent(path).split('/').any(|it| it == SCEPTRE.0) => {
            Some(SettingsTool::Sceptre)
        }
        _ => None,
    }
}

/// Returns true if a settings file may have parameters of a template.
pub(super) fn may_name_template(text: &[u8]) -> bool {
    has_mark(text, &[b"template", b"parameter"])
}

/// Returns the deployments of a settings file.
pub(super) fn deployments(sources: &SourceFiles, path: &str, tool: SettingsTool) -> Vec<PassedDeployment> {
    let Some(root) = root(sources, path) else { return Vec::new() };
    match tool {
        SettingsTool::Sam => root.entries().iter().filter_map(|it| environment(path, &it.key, &it.value)).collect(),
        SettingsTool::Sceptre => stack(sources, path, &root).into_iter().collect(),
        SettingsTool::Taskcat => tests(path, &root),
    }
}

/// Returns the first document of a file. Lines that only a template engine reads are cut.
fn root(sources: &SourceFiles, path: &str) -> Option<Node> {
    let file = sources.open(path).ok()?;
    let stream = yaml::read_tagged(file, &sources.text(file), sources.limits());
    Some(stream.documents.into_iter().next()?.root)
}

/// Returns the deployment of an environment of `samconfig.yaml`. The settings of its command override those of all
/// commands.
fn environment(path: &str, name: &str, commands: &Node) -> Option<PassedDeployment> {
    let deploy = commands.at("deploy.parameters")?;
    let find = |key: &str| deploy.get(key).or_else(|| commands.at("global.parameters")?.get(key));
    let mut it = PassedDeployment { name: Some(name.to_owned()), ..PassedDeployment::of(path, deploy.span) };
    it.template = ["template_file", "template"].iter().find_map(|key| Some(find(key)?.text()?.to_string()));
    it.region = find("region").and_then(known);
    if let Some(given) = find("parameter_overrides") {
        for node in std::iter::once(given).chain(given.items()) {
            let parts = node.text().map(|text| words(text, node.span)).unwrap_or_default();
            parts.iter().for_each(|word| cloudformation_value(&mut it, word));
        }
        parameters(&mut it, given);
    }
    (!it.values.is_empty()).then_some(it)
}

/// Returns the deployment of a stack config of Sceptre. The folders above it have further settings.
fn stack(sources: &SourceFiles, path: &str, root: &Node) -> Option<PassedDeployment> {
    let template = root.text_at("template.path").or_else(|| root.text_at("template_path"))?;
    let (project, _) =
        path.rsplit_once(&format!("{}/", SCEPTRE.0)).filter(|(it, _)| it.is_empty() || it.ends_with('/'))?;
    let template = template.trim_start_matches('/');
    let template = template.strip_prefix(SCEPTRE.1).map_or(template, |it| it.trim_start_matches('/'));
    let template = format!("/{}/{template}", SCEPTRE.1);
    let mut it = PassedDeployment::of(path, root.span);
    // A path of the tree: the folder of the project is known.
    it.template = Some(format!("{}{template}", relative_to(parent(path), project.trim_end_matches('/'))));
    let mut folders = std::iter::successors(Some(parent(path)), |it| (it.len() > project.len()).then(|| parent(it)));
    it.region = root.get("region").and_then(known).or_else(|| {
        folders.by_ref().take(MOST_FOLDERS).find_map(|folder| {
            let group = join(folder, GROUP)?;
            known(self::root(sources, &group)?.get("region")?)
        })
    });
    parameters(&mut it, root.get("parameters")?);
    (!it.values.is_empty()).then_some(it)
}

/// Returns the way from a folder up to a folder above it.
fn relative_to(folder: &str, above: &str) -> String {
    let steps = folder.strip_prefix(above).unwrap_or(folder).split('/').filter(|it| !it.is_empty()).count();
    vec![".."; steps].join("/")
}

/// Returns a deployment for each test of taskcat in its first region. The settings of a test override those of the
/// project.
fn tests(path: &str, root: &Node) -> Vec<PassedDeployment> {
    let of = |name: &str, test: &Node| {
        let find = |key: &str| test.get(key).or_else(|| root.get("project")?.get(key));
        let mut it = PassedDeployment { name: Some(name.to_owned()), ..PassedDeployment::of(path, test.span) };
        it.template = find("template").and_then(Node::text).map(|it| it.to_string());
        it.region = find("regions").and_then(|it| known(it.items().first()?));
        for given in [root.at("project.parameters"), test.get("parameters")].into_iter().flatten() {
            parameters(&mut it, given);
        }
        (!it.values.is_empty()).then_some(it)
    };
    let all = root.get("tests").map(Node::entries).unwrap_or_default();
    all.iter().filter_map(|entry| of(&entry.key, &entry.value)).collect()
}

/// Adds the parameters of a map. A tag, a template or `$[taskcat_…]` is a value that only the run knows.
fn parameters(it: &mut PassedDeployment, given: &Node) {
    for entry in given.entries() {
        let parts = entry.value.items().iter().map(Node::text);
        let text = match entry.value.items() {
            [] => entry.value.text().map(|it| it.to_string()),
            _ => parts.collect::<Option<Vec<_>>>().map(|all| all.iter().map(|it| &***it).collect::<Vec<_>>().join(",")),
        };
        let text = text.filter(|it| !it.contains("$[") && !it.starts_with('!'));
        let text = text.map_or_else(|| HOLE.to_string(), |it| cut_templates(&it, false));
        it.set(&entry.key, &text, entry.value.span);
    }
}

/// Returns a value if it contains no template.
fn known(node: &Node) -> Option<HclValue> {
    let text = node.text().filter(|it| !it.contains("{{") && !it.contains("${"))?;
    Some(HclValue::text(text.clone(), node.span))
}
