//! Finds resources that disappear while new references to code outside this tree appear. They may run there, so their
//! cost is unknown: it is not a saving, and the change does not pass.
//!
//! Code is outside the tree in these cases, for each front end:
//!
//! 1. A reader cannot find it: a module that is not on disk, a template, a language that gpulint does not read.
//! 2. A deployment tool downloads it: the source of an Application, a HelmRelease or a kustomization, a chart of a
//!    registry.
//! 3. It is the target of a `moved` block, in a module that is not on disk.
//!
//! Cases 1 and 2 count only if the base state lacks the reference. If only the block of an existing reference changes,
//! it counts for resources of the same directory.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use regex::Regex;

use super::state::{ComparedStates, Touched, TreeState};
use crate::analysis::Analysis;
use crate::catalog::Money;
use crate::diagnostic::SkipKind;
use crate::front_ends::files;
use crate::inventory::{Resource, ResourceId, Unjudged, UnjudgedStatus};
use crate::pricing::{Delta, ResourceCostChange};
use crate::source::{SourceFiles, Span, file_name, join, parent, static_regex};

/// More entries would not help the reader.
const MOST_SHOWN: usize = 20;

/// Marks resources that may run elsewhere as no longer evaluated, and returns where they may run.
pub(super) fn lose(states: &ComparedStates, change: &mut Delta) -> Vec<Unjudged> {
    let gone = vanished(states, change);
    if gone.is_empty() {
        return Vec::new();
    }
    let mut told = moved(states, &gone, change);
    let left = vanished(states, change);
    if !left.is_empty() {
        told.extend(lost(states, &appeared(states), &left, change));
    }
    told
}

/// Returns the resources in an earlier total that no later state contains.
fn vanished(states: &ComparedStates, change: &Delta) -> BTreeSet<ResourceId> {
    let gone = change.changes.iter().filter(|it| it.after.is_none() && !it.is_lost()).filter_map(|it| it.before);
    gone.filter(|id| states.earlier().resource(*id).is_added()).collect()
}

/// Marks resources as no longer evaluated.
fn lose_all(states: &ComparedStates, lost: &BTreeSet<ResourceId>, change: &mut Delta) {
    let is_lost = |it: &ResourceCostChange| it.after.is_none() && it.before.is_some_and(|id| lost.contains(&id));
    change.lose(&states.earlier(), &states.later(), is_lost);
}

/// A reference in the later state to code outside this tree.
#[derive(Debug, Clone)]
struct Elsewhere {
    path: String,
    span: Option<Span>,
    /// The description for reports.
    what: String,
    /// True if the reference is not new and only its block changed. Then it counts only for resources of the same
    /// directory.
    is_changed_only: bool,
}

impl Elsewhere {
    fn new(path: &str, span: Option<Span>, what: String) -> Elsewhere {
        Elsewhere { path: path.to_owned(), span, what, is_changed_only: false }
    }
}

fn lost(
    states: &ComparedStates,
    found: &[Elsewhere],
    left: &BTreeSet<ResourceId>,
    change: &mut Delta,
) -> Vec<Unjudged> {
    let earlier = states.earlier();
    let may_hold =
        |it: &Elsewhere, id: ResourceId| !it.is_changed_only || parent(&it.path) == parent(&earlier.path_of(id));
    let lost: BTreeSet<ResourceId> =
        left.iter().copied().filter(|id| found.iter().any(|it| may_hold(it, *id))).collect();
    lose_all(states, &lost, change);
    let shown = found.iter().filter(|it| lost.iter().any(|id| may_hold(it, *id))).take(MOST_SHOWN);
    shown.map(|it| describe_elsewhere(states, it, &lost)).collect()
}

fn describe_elsewhere(states: &ComparedStates, it: &Elsewhere, lost: &BTreeSet<ResourceId>) -> Unjudged {
    let earlier = states.earlier();
    let expected = |id: &ResourceId| earlier.item(*id).and_then(|item| item.monthly).map(|it| it.expected);
    let money: Money = lost.iter().filter_map(expected).fold(Money::ZERO, |sum, it| sum + it);
    let cost = if money > Money::ZERO { format!(" ({}/month)", (states.head.amount)(money)) } else { String::new() };
    let resources = match lost.len() {
        1 => {
            let address = lost.first().map(|id| earlier.resource(*id).address.as_str()).unwrap_or_default();
            format!("{address}{cost} is no longer defined here and may run there")
        }
        n => format!("{n} resources{cost} are no longer defined here and may run there"),
    };
    let cure = "check that they no longer run: the totals contain neither their cost nor a saving";
    let unjudged =
        Unjudged::new(SkipKind::Change, it.path.clone(), format!("{}: {resources}", it.what)).with_cure(cure);
    Unjudged { span: it.span, standing: UnjudgedStatus::Lost, ..unjudged }
}

/// Returns resources that a `moved` block sends into a module that is not downloaded.
fn moved(states: &ComparedStates, gone: &BTreeSet<ResourceId>, change: &mut Delta) -> Vec<Unjudged> {
    let earlier = states.earlier();
    let mut told_of = Vec::new();
    for path in states.touched.files.iter().filter(|path| files::is_terraform(path)) {
        let Some(text) = states.head.text(path) else { continue };
        for found in MOVED.captures_iter(&text) {
            let Some((from, to)) = from_and_to(&found) else { continue };
            let is_meant = |id: &ResourceId| {
                let Resource { address, .. } = earlier.resource(*id);
                let rest = address
                    .strip_prefix(from)
                    .or_else(|| address.find(&format!(".{from}")).and_then(|at| address.get(at + 1 + from.len()..)));
                to.starts_with("module.") && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
            };
            let lost: BTreeSet<ResourceId> = gone.iter().copied().filter(is_meant).collect();
            if lost.is_empty() {
                continue;
            }
            lose_all(states, &lost, change);
            let what = format!("`moved` renames {from} to {to}, which gpulint cannot read");
            let place = Elsewhere::new(path, None, what);
            told_of.push(describe_elsewhere(states, &place, &lost));
        }
    }
    told_of
}

fn from_and_to<'t>(found: &regex::Captures<'t>) -> Option<(&'t str, &'t str)> {
    let part = |at: usize| found.get(at).map(|it| it.as_str());
    Some((part(1).or(part(4))?, part(2).or(part(3))?))
}

/// Returns references to code outside this tree that are new in the later state, or whose block changed.
fn appeared(states: &ComparedStates) -> Vec<Elsewhere> {
    let (base, head, touched) = (states.base, states.head, states.touched);
    let mut known: HashMap<(String, String), BTreeSet<String>> = HashMap::new();
    for (it, body) in missed(base.sources, states.before) {
        known.entry((it.path, it.what)).or_default().insert(body);
    }
    let mut found = Vec::new();
    for (it, body) in missed(head.sources, states.after) {
        match known.get(&(it.path.clone(), it.what.clone())) {
            None => found.push(it),
            Some(bodies) if !bodies.contains(&body) => found.push(Elsewhere { is_changed_only: true, ..it }),
            Some(_) => {}
        }
    }
    let earlier: BTreeSet<String> = fetched(base, touched).into_keys().collect();
    let new = fetched(head, touched).into_iter().filter(|(source, _)| !earlier.contains(source));
    let new: Vec<(String, Elsewhere)> = new.collect();
    if !new.is_empty() {
        let sources: Vec<&str> = new.iter().map(|(source, _)| source.as_str()).collect();
        let known = named_anywhere(base, &sources);
        found.extend(new.into_iter().filter(|(source, _)| !known.contains(source)).map(|(_, it)| it));
    }
    found
}

/// Returns everything that the readers could not find, with the block that refers to it.
fn missed(sources: &SourceFiles, analysis: &Analysis) -> Vec<(Elsewhere, String)> {
    let bodies: HashMap<Span, Span> =
        analysis.blocks.iter().filter(|it| it.keyword == "module").map(|it| (it.span, it.body)).collect();
    let diagnostics = analysis.inventory.diagnostics.iter().filter(|it| it.skips.is_some());
    let calls = diagnostics.filter_map(|it| {
        let span = it.span?;
        let body = bodies.get(&span).map(|body| sources.snippet(*body)).unwrap_or_default();
        Some((Elsewhere::new(&sources.path_of(span), Some(span), it.message.clone()), body))
    });
    let of_file = |path: &str, what: String| (Elsewhere::new(path, None, what), String::new());
    let skipped =
        analysis.inventory.skipped.iter().filter(|it| !it.is_known_elsewhere() && it.kind != SkipKind::UncalledModule);
    let skipped = skipped.map(|it| of_file(&it.path, it.reason.clone()));
    let foreign = analysis
        .inventory
        .foreign
        .iter()
        .map(|it| of_file(&it.path, format!("{} is an unsupported language", it.language.name)));
    calls.chain(skipped).chain(foreign).collect()
}

/// Returns the sources that deployment tools download, from changed files.
fn fetched(state: &TreeState, touched: &Touched) -> BTreeMap<String, Elsewhere> {
    let mut found = BTreeMap::new();
    for path in &touched.files {
        let is_code = files::is_terraform(path);
        if !is_code && ![".yaml", ".yml", ".json", ".gotmpl"].iter().any(|ending| path.ends_with(ending)) {
            continue;
        }
        let Some(text) = state.text(path).filter(|text| is_code || fetches(path, text)) else { continue };
        let named = SOURCES.captures_iter(&text).filter_map(|it| {
            let (key, value) = (it.get(1)?, it.get(2)?);
            let is_chart = key.as_str().to_ascii_lowercase().contains("chart");
            let is_fetched = is_chart && !is_here(state, path, value.as_str()) || is_address(value.as_str());
            is_fetched.then_some(value)
        });
        let entries = ENTRIES.captures_iter(&text).filter_map(|it| it.get(1));
        for it in named.chain(entries.filter(|it| !is_code && is_address(it.as_str()))) {
            found.entry(it.as_str().to_owned()).or_insert_with(|| fetched_at(state, path, it));
        }
    }
    found
}

fn fetched_at(state: &TreeState, path: &str, found: regex::Match) -> Elsewhere {
    let span = state.sources.open(path).ok().map(|file| Span::new(file, found.start(), found.end()));
    let what = format!("a deployment tool downloads `{}`, which is not in this repository", found.as_str());
    Elsewhere::new(path, span, what)
}

/// Returns true if a file belongs to a tool that downloads what it deploys.
fn fetches(path: &str, text: &str) -> bool {
    const FILES: [&str; 6] =
        ["kustomization.", "Kustomization", "Chart.yaml", "helmfile", "fleet.yaml", "requirements.yaml"];
    FILES.iter().any(|name| file_name(path).starts_with(name)) || DEPLOYERS.is_match(text)
}

fn is_address(value: &str) -> bool {
    const STARTS: [&str; 6] = ["git@", "git::", "github.com/", "gitlab.com/", "bitbucket.org/", "s3::"];
    (value.contains("://") && !value.starts_with("file://") || STARTS.iter().any(|it| value.starts_with(it)))
        && !value.starts_with("https://kubernetes.default")
}

/// Returns true if the chart is a directory of this tree.
fn is_here(state: &TreeState, path: &str, chart: &str) -> bool {
    let is_directory = |at: Option<String>| at.is_some_and(|it| !state.sources.tree().list(&it).is_empty());
    chart.contains(['$', '{']) || is_directory(join("", chart)) || is_directory(join(parent(path), chart))
}

/// Returns the strings that appear in any file of a state.
fn named_anywhere(state: &TreeState, texts: &[&str]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for path in state.files {
        let _ = state.sources.glance(path, |text: &[u8]| {
            found.extend(
                texts
                    .iter()
                    .filter(|it| memchr::memmem::find(text, it.as_bytes()).is_some())
                    .map(|it| (*it).to_owned()),
            );
        });
    }
    found
}

static_regex!(
/// A `moved` block. Its two addresses can appear in either order.
static MOVED: Regex = r#"(?s)moved\s*\{\s*(?:from\s*=\s*([\w.\["\]-]+)\s+to\s*=\s*([\w.\["\]-]+)|to\s*=\s*([\w.\["\]-]+)\s+from\s*=\s*([\w.\["\]-]+))\s*\}"#);
static_regex!(
/// API groups of objects that deploy from elsewhere.
static DEPLOYERS: Regex = r"argoproj\.io|fluxcd\.io|cattle\.io|configsync\.gke\.io|carvel\.dev|contrib\.fluxcd|pulumi\.com|terraform\.io|kustomize\.config\.k8s\.io|coreos\.com|crossplane\.io|upbound\.io");
static_regex!(
/// Keys under which tools name their sources.
static SOURCES: Regex = r#"(?m)(?:^|[\s{,\["'-])(repo|repoURL|repoUrl|repo_url|repository|url|git|remote|chart|template_url|TemplateURL|source_url|manifest_url|filename|ref)["']?\s*[:=]\s*["']?([^\s,}\]"'#]+)"#);
static_regex!(
/// Matches the entries of YAML lists.
static ENTRIES: Regex = r#"(?m)^\s*-\s+["']?([^\s"'#]+)|[\[,]\s*["']?([^\s,"'\]]+://[^\s,"'\]]+)"#);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moved_blocks_are_read_in_either_order() {
        for text in [
            "moved {\n  from = aws_instance.a[0]\n  to   = module.b.aws_instance.a\n}",
            "moved { to = module.b.aws_instance.a\n from = aws_instance.a[0] }",
        ] {
            let found = MOVED.captures(text);
            assert_eq!(
                found.as_ref().and_then(from_and_to),
                Some(("aws_instance.a[0]", "module.b.aws_instance.a")),
                "{text}"
            );
        }
    }

    #[test]
    fn what_tools_fetch_is_an_address_or_a_chart() {
        let named = |text: &'static str| {
            SOURCES
                .captures_iter(text)
                .filter_map(|it| Some((it.get(1)?.as_str(), it.get(2)?.as_str())))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            named("  source: {repoURL: https://charts.example.com, chart: x}"),
            [("repoURL", "https://charts.example.com"), ("chart", "x")]
        );
        assert_eq!(named("  chart = \"./charts/a\""), [("chart", "./charts/a")]);
        assert!(is_address("https://github.com/acme/x//y?ref=v1") && !is_address("./a") && !is_address("file://../a"));
    }
}
