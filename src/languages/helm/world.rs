//! Defines objects that templates see in addition to values: the chart, its files, and the capabilities of the cluster.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use globset::GlobBuilder;

use super::Cluster;
use crate::languages::gotemplate::{
    GoKind, GoValue, Heap, MapEntries, TemplateFailure, TemplateObject, Text, TextOrigin, to_yaml,
};
use crate::languages::yaml::Node;
use crate::source::{FileId, SourceFiles, Span, StoredText, to_base64};

/// The API versions that Helm assumes without a cluster (Helm 3.22, November 2026).
const VERSIONS: &str = include_str!("versions.txt");

fn text(text: &str) -> GoValue {
    text.into()
}

fn entries(pairs: impl IntoIterator<Item = (String, GoValue)>) -> MapEntries {
    pairs.into_iter().map(|(key, value)| (Arc::from(key), value.into())).collect()
}

/// The object `.Chart`.
#[derive(Debug)]
pub(super) struct ChartMetadata {
    name: String,
    about: Node,
    is_root: bool,
}

impl ChartMetadata {
    pub(super) fn value(name: &str, about: &Node, is_root: bool) -> GoValue {
        GoKind::Object(Rc::new(ChartMetadata { name: name.to_owned(), about: about.clone(), is_root })).into()
    }

    fn text(&self, key: &str) -> GoValue {
        match self.about.get(key) {
            Some(node) => match node.text() {
                Some(written) => {
                    let plain = node.number().filter(|_| node.flag().is_none()).is_some();
                    let origin = crate::languages::gotemplate::TextOrigin::whole(node.span);
                    let value: GoValue = if plain { number(node, written).into() } else { text(written) };
                    value.or_at(Some(origin))
                }
                None => text(""),
            },
            None => text(""),
        }
    }

    fn texts(&self, key: &str, heap: &Heap) -> Result<GoValue, TemplateFailure> {
        let items = self.about.get(key).map(Node::items).unwrap_or_default();
        heap.list(items.iter().filter_map(Node::text).map(|it| text(it)).collect())
    }
}

/// Returns a version as Helm reads it. If it is written as a number, it loses trailing zeros.
fn number(node: &Node, written: &str) -> String {
    match crate::languages::gotemplate::scalar(
        written,
        matches!(node.data, crate::languages::yaml::NodeData::Scalar { plain: true, .. }),
    ) {
        GoKind::Float(number) => format!("{number}"),
        _ => written.to_owned(),
    }
}

impl TemplateObject for ChartMetadata {
    fn type_name(&self) -> &str {
        "struct { chart.Metadata; IsRoot bool }"
    }

    fn field(&self, name: &str, _: &[GoValue], heap: &Heap) -> Option<Result<GoValue, TemplateFailure>> {
        Some(Ok(match name {
            "Name" => text(&self.name),
            "Home" => self.text("home"),
            "Version" => self.text("version"),
            "Description" => self.text("description"),
            "Icon" => self.text("icon"),
            "APIVersion" => match self.text("apiVersion") {
                value if value.as_str() == Some("") => text("v1"),
                value => value,
            },
            "Condition" => self.text("condition"),
            "Tags" => self.text("tags"),
            "AppVersion" => self.text("appVersion"),
            "KubeVersion" => self.text("kubeVersion"),
            "Type" => self.text("type"),
            "Deprecated" => self.about.get("deprecated").and_then(Node::flag).unwrap_or(false).into(),
            "IsRoot" => self.is_root.into(),
            "Sources" => return Some(self.texts("sources", heap)),
            "Keywords" => return Some(self.texts("keywords", heap)),
            "Annotations" => {
                let all = self.about.get("annotations").map(Node::entries).unwrap_or_default();
                let pairs = all.iter().filter_map(|it| Some((it.key.to_string(), text(it.value.text()?))));
                heap.map(entries(pairs))
            }
            "Maintainers" => {
                let all = self.about.get("maintainers").map(Node::items).unwrap_or_default();
                let one = |node: &Node| {
                    let field = |key: &str| text(node.text_at(key).map_or("", |it| it));
                    let pairs = [("Name", "name"), ("Email", "email"), ("URL", "url")];
                    heap.map(entries(pairs.map(|(field_name, key)| (field_name.to_owned(), field(key)))))
                };
                return Some(heap.list(all.iter().map(one).collect()));
            }
            "Dependencies" => {
                let all = self.about.get("dependencies").map(Node::items).unwrap_or_default();
                let one = |node: &Node| {
                    let field = |key: &str| text(node.text_at(key).map_or("", |it| it));
                    let pairs = [
                        ("Name", "name"),
                        ("Version", "version"),
                        ("Repository", "repository"),
                        ("Condition", "condition"),
                        ("Alias", "alias"),
                    ];
                    heap.map(entries(pairs.map(|(field_name, key)| (field_name.to_owned(), field(key)))))
                };
                return Some(heap.list(all.iter().map(one).collect()));
            }
            _ => return None,
        }))
    }

    fn plain(&self, heap: &Heap) -> GoValue {
        const NAMES: [&str; 9] =
            ["home", "version", "description", "icon", "apiVersion", "appVersion", "kubeVersion", "type", "name"];
        let pairs = NAMES.iter().map(|key| (*key, if *key == "name" { text(&self.name) } else { self.text(key) }));
        let pairs = pairs.filter(|(_, value)| value.as_str() != Some(""));
        let root = ("IsRoot", self.is_root.into());
        heap.map(entries(pairs.chain([root]).map(|(key, value)| (key.to_owned(), value))))
    }
}

/// The object `.Files`, or the files of it that match a pattern.
#[derive(Debug, Clone)]
pub(super) struct Files(BTreeMap<String, Rc<ChartFile>>);

/// A file of a chart, which most templates never read.
#[derive(Debug)]
struct ChartFile {
    id: FileId,
    stored: StoredText,
    text: OnceCell<Text>,
}

impl ChartFile {
    fn text(&self) -> &Text {
        self.text.get_or_init(|| {
            let text = self.stored.get();
            Text::at(text, TextOrigin { span: Span::new(self.id, 0, text.len()), linear: true })
        })
    }
}

impl Files {
    pub(super) fn value(sources: &SourceFiles, files: &[(String, FileId)]) -> GoValue {
        let file = |id: FileId| Rc::new(ChartFile { id, stored: sources.stored(id), text: OnceCell::new() });
        GoKind::Object(Rc::new(Files(files.iter().map(|(name, id)| (name.clone(), file(*id))).collect()))).into()
    }

    fn by_name(&self, heap: &Heap, form: fn(&str) -> String) -> Result<GoValue, TemplateFailure> {
        let mut all = Vec::new();
        for (path, file) in &self.0 {
            let content = file.text();
            heap.spend(content.len())?;
            let name = path.rsplit('/').next().unwrap_or(path);
            all.push((name.to_owned(), form(content.as_str()).into()));
        }
        to_yaml(&heap.map(entries(all)), heap).map(GoValue::from)
    }

    fn glob(&self, pattern: &str) -> Files {
        let built = GlobBuilder::new(pattern).literal_separator(true).backslash_escape(true).build();
        let Ok(matcher) = built.map(|glob| glob.compile_matcher()) else { return self.clone() };
        // In this pattern, `**` matches any part of a path, not only whole directories.
        let loose = pattern.contains("**").then(|| regex::Regex::new(&loosely(pattern)).ok()).flatten();
        let fits = |path: &str| loose.as_ref().map_or_else(|| matcher.is_match(path), |loose| loose.is_match(path));
        Files(self.0.iter().filter(|(path, _)| fits(path)).map(|(path, text)| (path.clone(), text.clone())).collect())
    }
}

fn whole(text: &Text) -> GoValue {
    GoKind::Text(text.clone()).into()
}

/// Converts a pattern with `**` to a regular expression.
fn loosely(pattern: &str) -> String {
    let mut out = String::from("^");
    let mut letters = pattern.chars().peekable();
    let mut alternatives = 0;
    while let Some(letter) = letters.next() {
        match letter {
            '*' if letters.next_if_eq(&'*').is_some() => out.push_str(".*"),
            '*' => out.push_str("[^/]*"),
            '?' => out.push_str("[^/]"),
            '{' => {
                alternatives += 1;
                out.push_str("(?:");
            }
            '}' if alternatives > 0 => {
                alternatives -= 1;
                out.push(')');
            }
            ',' if alternatives > 0 => out.push('|'),
            other => out.push_str(&regex::escape(other.encode_utf8(&mut [0; 4]))),
        }
    }
    out + "$"
}

impl TemplateObject for Files {
    fn type_name(&self) -> &str {
        "engine.files"
    }

    fn kind_name(&self) -> &'static str {
        "map"
    }

    fn is_method(&self, name: &str) -> bool {
        matches!(name, "Get" | "GetBytes" | "Glob" | "Lines" | "AsConfig" | "AsSecrets")
    }

    fn field(&self, name: &str, arguments: &[GoValue], heap: &Heap) -> Option<Result<GoValue, TemplateFailure>> {
        let given = arguments.first().and_then(GoValue::as_str);
        let wanted = usize::from(matches!(name, "Get" | "GetBytes" | "Glob" | "Lines"));
        if self.is_method(name) && (arguments.len() != wanted || wanted == 1 && given.is_none()) {
            return Some(Err(format!("wrong number of args for {name}: want {wanted} got {}", arguments.len()).into()));
        }
        let found = || self.0.get(given.unwrap_or_default()).map(|file| file.text());
        let content = || found().map_or("", Text::as_str);
        Some(match name {
            "Get" | "GetBytes" => heap.spend(content().len()).map(|()| found().map_or_else(|| text(""), whole)),
            "Glob" => Ok(GoKind::Object(Rc::new(self.glob(given.unwrap_or_default()))).into()),
            "Lines" if content().is_empty() => heap.list(Vec::new()),
            "Lines" => {
                let all = content();
                heap.texts(all.strip_suffix('\n').unwrap_or(all).split('\n'))
            }
            "AsConfig" => self.by_name(heap, str::to_owned),
            "AsSecrets" => self.by_name(heap, |content| to_base64(content.as_bytes())),
            path => match self.0.get(path) {
                Some(file) => Ok(whole(file.text())),
                None => Ok(GoValue::nil()),
            },
        })
    }

    fn entries(&self) -> Option<Vec<(Arc<str>, GoValue)>> {
        Some(self.0.iter().map(|(path, content)| (Arc::from(path.as_str()), whole(content.text()))).collect())
    }
}

/// The object `.Capabilities`.
#[derive(Debug)]
pub(super) struct Capabilities {
    version: KubeVersion,
    extra: Vec<String>,
}

impl Capabilities {
    pub(super) fn value(cluster: &Cluster) -> GoValue {
        let version = KubeVersion { version: cluster.version.clone() };
        GoKind::Object(Rc::new(Capabilities { version, extra: cluster.interfaces.clone() })).into()
    }
}

impl TemplateObject for Capabilities {
    fn type_name(&self) -> &str {
        "*chartutil.Capabilities"
    }

    fn kind_name(&self) -> &'static str {
        "ptr"
    }

    fn field(&self, name: &str, _: &[GoValue], _: &Heap) -> Option<Result<GoValue, TemplateFailure>> {
        Some(Ok(match name {
            "KubeVersion" => GoKind::Object(Rc::new(self.version.clone())).into(),
            "APIVersions" => GoKind::Object(Rc::new(Versions(self.extra.clone()))).into(),
            "HelmVersion" => GoKind::Object(Rc::new(HelmVersion)).into(),
            _ => return None,
        }))
    }
}

#[derive(Debug, Clone)]
struct KubeVersion {
    version: String,
}

impl TemplateObject for KubeVersion {
    fn type_name(&self) -> &str {
        "chartutil.KubeVersion"
    }

    fn field(&self, name: &str, _: &[GoValue], _: &Heap) -> Option<Result<GoValue, TemplateFailure>> {
        let mut parts = self.version.trim_start_matches('v').split('.');
        let (major, minor) = (parts.next().unwrap_or("1"), parts.next().unwrap_or("0"));
        Some(Ok(match name {
            "Version" | "GitVersion" | "String" => text(&self.version),
            "Major" => text(major),
            "Minor" => text(minor),
            _ => return None,
        }))
    }

    fn shown(&self) -> String {
        self.version.clone()
    }
}

#[derive(Debug)]
struct Versions(Vec<String>);

impl TemplateObject for Versions {
    fn type_name(&self) -> &str {
        "chartutil.VersionSet"
    }

    fn kind_name(&self) -> &'static str {
        "slice"
    }

    fn is_method(&self, name: &str) -> bool {
        name == "Has"
    }

    fn field(&self, name: &str, arguments: &[GoValue], _: &Heap) -> Option<Result<GoValue, TemplateFailure>> {
        if name != "Has" {
            return None;
        }
        let Some(wanted) = arguments.first().and_then(GoValue::as_str) else {
            return Some(Err(format!("wrong number of args for Has: want 1 got {}", arguments.len()).into()));
        };
        Some(Ok((VERSIONS.lines().any(|known| known == wanted) || self.0.iter().any(|known| known == wanted)).into()))
    }

    fn entries(&self) -> Option<Vec<(Arc<str>, GoValue)>> {
        let all = VERSIONS.lines().chain(self.0.iter().map(String::as_str));
        Some(all.enumerate().map(|(number, version)| (Arc::from(number.to_string()), text(version))).collect())
    }

    fn plain(&self, heap: &Heap) -> GoValue {
        let all = VERSIONS.lines().chain(self.0.iter().map(String::as_str));
        heap.texts(all).unwrap_or_else(|_| GoValue::nil())
    }
}

#[derive(Debug)]
struct HelmVersion;

impl TemplateObject for HelmVersion {
    fn type_name(&self) -> &str {
        "version.BuildInfo"
    }

    fn field(&self, name: &str, _: &[GoValue], _: &Heap) -> Option<Result<GoValue, TemplateFailure>> {
        Some(Ok(match name {
            "Version" => text("v3.22.0"),
            "GitCommit" | "GitTreeState" => text(""),
            "GoVersion" => text("go1.26.8"),
            _ => return None,
        }))
    }
}
