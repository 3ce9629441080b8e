//! Finds changed numbers in objects and blocks whose effect gpulint does not know: those of unsupported kinds, those
//! that deploy from elsewhere, and those that change other objects.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;

use regex::Regex;

use super::accelerator_lines::{self, AcceleratorSearch, is_of_chart};
use super::amounts::{NAMING, numbers, told};
use super::change::{ChangedLine, ChangedText, FileRole, lines};
use super::changed_files::ChangedFiles;
use super::requesting;
use super::steering;
use super::words;
use crate::inventory::accelerators;
use crate::source::{is_below, is_example, join, parent, static_regex};

static_regex!(
/// API groups and kinds of tools that deploy from elsewhere.
static DEPLOYERS: Regex = r#"(?ms)(?:argoproj\.io|fluxcd\.io|cattle\.io|configsync\.gke\.io|carvel\.dev|contrib\.fluxcd|pulumi\.com|terraform\.io|coreos\.com|kcl).*^\s*["']?kind["']?\s*:\s*["']?(?:Application|ApplicationSet|HelmRelease|HelmChart|HelmChartConfig|GitRepository|OCIRepository|HelmRepository|Bucket|Kustomization|Terraform|GitRepo|Bundle|RootSync|RepoSync|PackageInstall|App|Stack|Workspace|Subscription|Component|Composition|HelmOp)\b"#);
static_regex!(
/// Keys that select the version to deploy.
static REVISION: Regex = r#"(?:^|[{,])\s*(?:-\s*)?["']?(?:targetRevision|revision|branch|tag|ref|semver|commit|digest|chart|chartVersion|version|url|repoURL|repo|repository|path|paths|valuesFiles?|valueFiles|valuesFrom|components|source|sourceRef|name|suspend|installed|prune|targetCustomizations|values|helm|kustomize|ignore|exclude|include|directory)["']?\s*:"#);
static_regex!(static PATHS: Regex = r#"(?m)(?:^|[{,])\s*(?:-\s*)?["']?(?:path|paths|dir|chart|chartPath|name)["']?\s*:[ \t]*([^\s,}]+)|^\s*-\s+(\./\S+|\.\./\S+)\s*$|\b(?:helm|kustomize|k8s_yaml)\(\s*["'](\.?/?[\w./-]+)["']"#);
static_regex!(
/// Terraform blocks that create no billed resource themselves.
static EVALUATED: Regex = r"(?m)\A\s*(?:[#/].*\n\s*)*(?:locals|variable|output|provider|terraform|moved|import|check)\b");
static_regex!(
/// Kinds that change other objects on admission, or copy them to clusters.
static WRITERS: Regex = r#"(?m)^\s*["']?kind["']?\s*:\s*["']?(?:(?:Cluster)?Policy|MutatingPolicy|MutatingAdmissionPolicy|Assign|AssignMetadata|ModifySet|(?:Cluster)?OverridePolicy|(?:Cluster)?PropagationPolicy|(?:Cluster)?ResourceOverride|(?:Cluster)?ResourcePlacement|PodPreset|ManifestWorkReplicaSet|Placement|FederatedDeployment|ReplicaSchedulingPreference|DeviceClass|SleepInfo)\b"#);
/// Relevant fields that such objects write, besides accelerators.
const WRITTEN: [&str; 7] = ["replica", "limits", "requests", "parallelism", "nodeselector", "instance", "machine"];

static_regex!(
/// Keys of other kinds for how often or how long something runs.
static HOURS: Regex = r"\bdownscaler/\w|\bkube-green\b|\bwithSequence\b|\bwithItems\b|\bwithParam\b|\bconsolidateAfter\b|\bconsolidationPolicy\b");
static_regex!(
/// Keys that decide the number of accelerators of a pod, in a kind whose other keys gpulint reads.
static SIZES: Regex = r"\btensorParallelSize\b");
static_regex!(
/// Attributes by which one block changes whether, when or how much of another runs.
static STATE: Regex = r"^\s*\w*(?:state|status|schedule|cron|recurrence|desired|capacity|count|hours|start|stop|suspend|enabled|min|max|replicas)\w*\s*=");

static_regex!(static DAEMONS: Regex = r"(?m)^kind:\s*DaemonSet\b");

/// The parts of a file: YAML documents or HCL blocks, otherwise the whole file. Lines count from 0.
pub(super) struct TextParts<'t> {
    lines: Vec<ChangedLine<'t>>,
    /// Lines that begin a YAML document or end an HCL block.
    borders: Vec<usize>,
    kind: PartKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PartKind {
    Document,
    Block,
    Whole,
}

impl<'t> TextParts<'t> {
    pub(super) fn of(text: &'t str, path: &str) -> TextParts<'t> {
        let ends = |endings: &[&str]| endings.iter().any(|end| path.ends_with(end));
        let kind = match path {
            _ if ends(&[".yaml", ".yml", ".tpl"]) => PartKind::Document,
            _ if ends(&[".tf", ".tofu", ".hcl", ".tfvars"]) => PartKind::Block,
            _ => PartKind::Whole,
        };
        let lines: Vec<ChangedLine> = lines(text).collect();
        let is_border = |it: &&ChangedLine| match kind {
            PartKind::Document => it.text.starts_with("---"),
            PartKind::Block => it.text.starts_with('}'),
            PartKind::Whole => false,
        };
        let borders = lines.iter().filter(is_border).map(|it| it.number).collect();
        TextParts { lines, borders, kind }
    }

    /// Returns the part that contains a line.
    pub(super) fn around(&self, line: usize) -> Range<usize> {
        let is_block = self.kind == PartKind::Block;
        // The line that ends a block belongs to it, and the line that begins a document belongs to that document.
        let behind = self.borders.partition_point(|it| if is_block { *it < line } else { *it <= line });
        let start =
            behind.checked_sub(1).and_then(|at| self.borders.get(at)).map_or(0, |it| it + usize::from(is_block));
        let end = self.borders.get(behind).map_or(self.lines.len(), |it| it + usize::from(is_block));
        start..end.max(line + 1)
    }

    pub(super) fn text(&self, part: &Range<usize>) -> String {
        let end = part.end.min(self.lines.len());
        let lines = self.lines.get(part.start.min(end)..end).unwrap_or_default();
        lines.iter().map(|line| line.text).collect::<Vec<_>>().join("\n")
    }
}

/// Returns the first change in an object whose effect is unknown, with its line.
pub(super) fn changed(changed: &ChangedFiles, file: &ChangedText) -> Option<(usize, String)> {
    let is_example = file.path.split('/').any(is_example);
    if is_example || matches!(file.role, FileRole::Beside | FileRole::Code) || is_of_chart(changed.head, file.path) {
        return None;
    }
    let objects = Objects { changed, file };
    objects.hours().or_else(|| {
        let mut parts = objects.parts().into_iter().filter(|part| !changed.is_explained(file.path, part.lines.clone()));
        parts.find_map(|part| objects.look_at(&part))
    })
}

struct Objects<'o> {
    changed: &'o ChangedFiles<'o>,
    file: &'o ChangedText<'o>,
}

/// A changed object or block.
struct Part<'t> {
    lines: Range<usize>,
    text: String,
    new: Vec<ChangedLine<'t>>,
    /// Removed lines of the whole file that may belong to this part.
    gone: Option<Rc<GoneLines<'t>>>,
}

/// Lines of the earlier state only, computed once for all parts of the file.
#[derive(Default)]
struct GoneLines<'t> {
    lines: Vec<ChangedLine<'t>>,
    /// The lines of messages for people.
    told: BTreeSet<usize>,
    numbers: OnceCell<Vec<String>>,
    revision: OnceCell<Option<ChangedLine<'t>>>,
    state: OnceCell<Option<ChangedLine<'t>>>,
}

impl<'t> GoneLines<'t> {
    fn numbers(&self) -> &[String] {
        self.numbers.get_or_init(|| numbers(self.lines.iter().copied(), &self.told))
    }

    fn first(&self, what: Changing) -> Option<ChangedLine<'t>> {
        let known = match what {
            Changing::Revision => &self.revision,
            Changing::State => &self.state,
        };
        *known.get_or_init(|| self.lines.iter().copied().find(|line| what.pattern().is_match(line.text)))
    }
}

/// The kind of property that a line changes.
#[derive(Clone, Copy)]
enum Changing {
    /// The version that a tool deploys.
    Revision,
    /// Whether, when or how much of something runs.
    State,
}

impl Changing {
    fn pattern(self) -> &'static Regex {
        match self {
            Changing::Revision => &REVISION,
            Changing::State => &STATE,
        }
    }
}

impl Part<'_> {
    /// Returns the first new line, or the first line of the part.
    fn at(&self) -> usize {
        self.new.first().map_or(self.lines.start, |line| line.number)
    }

    fn changed(&self, what: Changing) -> Option<ChangedLine<'_>> {
        let new = self.new.iter().copied().find(|line| what.pattern().is_match(line.text));
        new.or_else(|| self.gone.as_ref()?.first(what))
    }

    fn has_other_numbers(&self, told: &BTreeSet<usize>) -> bool {
        numbers(self.new.iter().copied(), told) != self.gone.as_ref().map_or(&[][..], |it| it.numbers())
    }

    /// Returns true if the part only contains names.
    fn is_only_named(&self) -> bool {
        let is_named = |line: &ChangedLine| NAMING.is_match(line.text) || line.text.trim_start().starts_with('#');
        !self.new.is_empty() && self.new.iter().all(is_named)
    }
}

impl<'o> Objects<'o> {
    fn parts(&self) -> Vec<Part<'o>> {
        let file = self.file;
        let of_text = TextParts::of(&file.is, file.path);
        let mut parts: Vec<(Range<usize>, Vec<ChangedLine>)> = Vec::new();
        for line in file.new_lines() {
            match parts.last_mut().filter(|(part, _)| part.contains(&line.number)) {
                Some((_, new)) => new.push(line),
                None => parts.push((of_text.around(line.number), vec![line])),
            }
        }
        let gone =
            Rc::new(GoneLines { lines: file.gone_lines().collect(), told: told(&file.was), ..GoneLines::default() });
        if parts.is_empty() && !gone.lines.is_empty() && !file.is.is_empty() {
            // If the change only removes lines, this is the part that is now at their place.
            let at = gone.lines.first().map_or(0, |line| line.number).min(of_text.lines.len().saturating_sub(1));
            parts.push((of_text.around(at), Vec::new()));
        }
        let is_single = parts.len() == 1;
        let part = |(lines, new): (Range<usize>, Vec<ChangedLine<'o>>)| Part {
            text: of_text.text(&lines),
            gone: (is_single || !new.is_empty()).then(|| gone.clone()),
            lines,
            new,
        };
        parts.into_iter().map(part).collect()
    }

    /// Returns a change of how often or how long something runs, or of its size.
    fn hours(&self) -> Option<(usize, String)> {
        let (file, changed) = (self.file, self.changed);
        if !file.is_yaml() || !(changed.speaking.contains(file.path) || changed.head.names_accelerators(&file.is)) {
            return None;
        }
        let changed = |keys: &Regex| {
            let new = file.new_lines().find(|line| keys.is_match(line.text)).map(|line| line.number);
            new.or_else(|| file.gone_lines().find(|line| keys.is_match(line.text)).map(|_| 0))
        };
        let hours = changed(&HOURS).map(|line| (line, "how often or how long something runs, in a kind"));
        let found = hours.or_else(|| Some((changed(&SIZES)?, "the accelerators of a pod, by a key")));
        found.map(|(line, what)| (line, format!("it changes {what} that gpulint does not support")))
    }

    fn look_at(&self, part: &Part) -> Option<(usize, String)> {
        let gone = part.gone.as_ref().is_some_and(|it| !it.lines.is_empty());
        if self.file.is_yaml()
            && let Some(found) = steering::commanded(self.changed, &part.text, &part.lines, &part.new, gone)
        {
            return Some(found);
        }
        let copies = || steering::copied(self.changed, &part.text).filter(|_| !part.is_only_named());
        let why = self.writes(part).or_else(copies).or_else(|| self.deploys(part)).or_else(|| self.steers(part));
        Some((part.at(), why.or_else(|| self.counts(part))?))
    }

    fn writes(&self, part: &Part) -> Option<String> {
        let low = part.text.to_ascii_lowercase();
        let writes = !self.changed.speaking.is_empty()
            && WRITERS.is_match(&part.text)
            && (WRITTEN.iter().any(|word| low.contains(word)) || accelerators::are_mentioned(&low))
            && !part.is_only_named();
        writes.then(|| "it changes other objects when they are applied".to_owned())
    }

    fn deploys(&self, part: &Part) -> Option<String> {
        const FILES: [&str; 11] = [
            "fleet.yaml",
            "helmfile.yaml",
            ".argocd-source.yaml",
            "devspace.yaml",
            "skaffold.yaml",
            "werf.yaml",
            "Tiltfile",
            "garden.yml",
            "garden.yaml",
            "databricks.yml",
            "okteto.yml",
        ];
        /// The first of them only select what to deploy.
        const SOURCES: usize = 3;
        let (file, text) = (self.file, &part.text);
        let place = FILES.iter().position(|it| file.path.ends_with(it));
        let (is_tool, is_source) = (place.is_some(), place.is_some_and(|at| at < SOURCES));
        if !(DEPLOYERS.is_match(text) || is_tool) {
            return None;
        }
        let concerns = || {
            self.changed.head.names_accelerators(text)
                || leads_to(file, text, &self.changed.speaking)
                || is_beside_sources(file, &self.changed.speaking)
        };
        let is_value = |line: &&ChangedLine| {
            let is_comment = line.text.trim_start().starts_with('#');
            !is_comment && !NAMING.is_match(line.text) && words::speaks(line.text)
        };
        if let Some(line) = part.new.iter().find(is_value).filter(|_| is_tool && concerns()) {
            let key = line.text.split([':', '(']).next().unwrap_or_default().trim().trim_start_matches("- ");
            return Some(format!("`{key}` changes a value of a deployment that gpulint does not evaluate"));
        }
        let is_deployer = is_source || DEPLOYERS.is_match(text);
        let line = part.changed(Changing::Revision).filter(|_| is_deployer && concerns())?;
        let key = line.text.split(':').next().unwrap_or_default().trim().trim_start_matches("- ");
        Some(format!("`{key}` deploys another version, and gpulint cannot read its content"))
    }

    fn steers(&self, part: &Part) -> Option<String> {
        if !self.file.path.ends_with(".tf") || EVALUATED.is_match(&part.text) {
            return None;
        }
        let key = part.changed(Changing::State)?.text.split('=').next().unwrap_or_default().trim();
        let refers = self.changed.references()?.is_match(&part.text);
        refers.then(|| format!("`{key}` changes for a resource with accelerators, in an unsupported type"))
    }

    fn counts(&self, part: &Part) -> Option<String> {
        let file = self.file;
        // A block that gpulint evaluates was read completely, wherever its values are defined.
        let is_read = EVALUATED.is_match(&part.text) && file.path.ends_with(".tf");
        let is_data = file.role == FileRole::Read || file.is.contains("kubectl") || file.is.contains("oc apply");
        let is_list = file.role == FileRole::Read && !accelerator_lines::is_looked_at(self.changed, file);
        if is_read || !is_data || is_list || !part.has_other_numbers(&told(&file.is)) {
            return None;
        }
        let asking = AcceleratorSearch::of(self.changed.head, file);
        let selecting = if DAEMONS.is_match(&part.text) { requesting::selecting(&part.text) } else { BTreeSet::new() };
        let mut asked = lines(&part.text).filter(|line| !selecting.contains(&line.number));
        let name = asked.find_map(|line| asking.asked(line))?;
        Some(format!("a number changes near `{name}`, in a kind that gpulint does not support"))
    }
}

/// Returns true if Argo CD uses the file for a directory with accelerators.
fn is_beside_sources(file: &ChangedText, speaking: &BTreeSet<String>) -> bool {
    file.path.contains(".argocd-source") && speaking.iter().any(|path| path.starts_with(parent(file.path)))
}

/// Returns true if the object deploys a directory with accelerators.
fn leads_to(file: &ChangedText, text: &str, speaking: &BTreeSet<String>) -> bool {
    let own = parent(file.path);
    PATHS.captures_iter(text).filter_map(|it| it.iter().skip(1).flatten().next()).any(|found| {
        let path = found.as_str().trim_matches(['"', '\'', '/']).trim_start_matches("./");
        let is_there = |directory: &str| !directory.is_empty() && speaking.iter().any(|it| is_below(it, directory));
        is_there(path) || join(own, path).is_some_and(|path| path != own && is_there(&path))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_texts_end_where_documents_and_blocks_do() {
        let yaml = "a: 1\n---\nb: 1\nc: 1\n---\nd: 1\n";
        let part = |text, path, line| TextParts::of(text, path).around(line);
        assert_eq!(part(yaml, "a.yaml", 0), 0..1);
        assert_eq!(part(yaml, "a.yaml", 1), 1..4);
        assert_eq!(part(yaml, "a.yaml", 3), 1..4);
        assert_eq!(part(yaml, "a.yaml", 5), 4..6);
        let hcl = "a {\n  b = 1\n}\nc {\n  d = 1\n}\n";
        assert_eq!(part(hcl, "a.tf", 1), 0..3);
        assert_eq!(part(hcl, "a.tf", 2), 0..3);
        assert_eq!(part(hcl, "a.tf", 4), 3..6);
        assert_eq!(part("a\n", "a.txt", 0), 0..1);
    }
}
