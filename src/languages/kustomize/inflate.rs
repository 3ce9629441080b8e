//! Renders the charts of a kustomization (`helmCharts`) with gpulint's own engine. Charts that kustomize would download
//! are missing.

use crate::languages::helm::{self, Cluster, Release, Rendering};
use crate::languages::yaml::{self, Node};
use crate::source::{Span, join};

use super::KustomizeError;
use super::kustomization::Kustomization;
use super::resource::KustomizeResource;
use super::target::{Maker, objects};
use super::value::{MapField, ObjectData, ObjectValue};

/// Default directory of charts, next to the kustomization.
const HOME: &str = "charts";
/// Default namespace.
const NAMESPACE: &str = "default";
/// Steps for loading a chart, however small its output is.
const STEPS_OF_A_CHART: usize = 20_000;
/// Steps of a build that one step of a template counts as.
const STEPS_OF_A_STEP: usize = 4;
/// Steps that are charged for a chart that failed at an unknown point.
const STEPS_OF_A_FAILURE: usize = 1_000_000;

/// Fields that list charts; the second one belongs to kustomize before version 4.1.
const FIELDS: [&str; 2] = ["helmCharts", "helmChartInflationGenerator"];

/// The kind of a chart generator in its own file.
pub(super) const GENERATOR: &str = "HelmChartInflationGenerator";

/// Returns the directories of the charts that a kustomization or a generator names, whether or not they exist.
pub(crate) fn directories(directory: &str, root: &Node) -> Vec<String> {
    let home = root.get("helmGlobals").and_then(|it| it.text_at("chartHome"));
    let entries = FIELDS.iter().filter_map(|field| root.get(field)).flat_map(Node::items);
    let itself = Some(root).filter(|root| root.text_at("kind").is_some_and(|kind| **kind == *GENERATOR));
    let of = |entry: &Node| {
        let said = |keys: [&str; 2]| keys.iter().find_map(|key| entry.text_at(key).filter(|text| !text.is_empty()));
        let home = entry.text_at("chartHome").or(home).map_or(HOME, |home| home);
        let (version, name) = (said(["version", "chartVersion"]), said(["name", "chartName"])?);
        place(directory, home, name, version.filter(|_| said(["repo", "chartRepoUrl"]).is_some()).map(|it| &**it))
    };
    entries.chain(itself).filter_map(of).collect()
}

/// Returns the directory of a chart. Kustomize stores a chart with a version and a repository in its own folder.
fn place(directory: &str, home: &str, name: &str, fetched: Option<&str>) -> Option<String> {
    let home = join(directory, home).filter(|_| !home.starts_with('/'))?;
    match fetched {
        Some(version) => join(&home, &format!("{name}-{version}/{name}")),
        None => join(&home, name),
    }
}

pub(super) fn all(
    maker: &mut Maker<'_>,
    kustomization: &Kustomization,
) -> Result<Vec<KustomizeResource>, KustomizeError> {
    let home = kustomization.get("helmGlobals").and_then(|it| it.get("chartHome")).cloned();
    let mut made = Vec::new();
    for entry in FIELDS.iter().flat_map(|field| kustomization.list(field)) {
        match one(maker, &kustomization.directory, &entry, home.as_ref()) {
            Ok(more) => made.extend(more),
            Err(trouble) => maker.tolerate(Err(trouble))?,
        }
    }
    Ok(made)
}

/// Renders one entry of `helmCharts`; `home` is the common directory of charts.
pub(super) fn one(
    maker: &mut Maker<'_>,
    directory: &str,
    entry: &ObjectValue,
    home: Option<&ObjectValue>,
) -> Result<Vec<KustomizeResource>, KustomizeError> {
    let at = entry.at;
    let said = |keys: &[&str]| keys.iter().find_map(|key| entry.text_at(key));
    let name = said(&["name", "chartName"]).ok_or_else(|| KustomizeError::refused("the chart has no `name`", at))?;
    let home = entry.get("chartHome").or(home).map_or(HOME, ObjectValue::raw);
    let repository = said(&["repo", "chartRepoUrl"]);
    let version = said(&["version", "chartVersion"]).filter(|_| repository.is_some());
    let chart = place(directory, home, name, version)
        .ok_or_else(|| KustomizeError::not_at_hand(format!("the chart `{name}` is outside this repository"), at))?;
    let is_there = join(&chart, "Chart.yaml").is_some_and(|path| maker.sources.tree().read(&path).is_ok());
    if !is_there {
        let why = match repository {
            Some(_) => format!("gpulint does not download the chart `{name}` of `helmCharts`"),
            None => format!("the chart `{name}` of `helmCharts` is not in `{chart}`"),
        };
        return Err(KustomizeError::not_at_hand(why, at));
    }
    maker.budget.spend(STEPS_OF_A_CHART)?;
    let refused = |why: String| KustomizeError::not_at_hand(format!("chart `{name}`: {why}"), at);
    let loaded = helm::load(maker.sources, &chart).map_err(refused)?;
    let layers = layers(maker, directory, entry, &chart)?;
    let release = Release {
        name: said(&["releaseName"]).map_or_else(|| Release::usual_name(&loaded.name), str::to_owned),
        namespace: said(&["namespace"]).unwrap_or(NAMESPACE).to_owned(),
        cluster: cluster(maker, entry),
        with_tests: !entry.flag_at("skipTests"),
    };
    let rendering = match helm::render(maker.sources, &loaded, &layers, &release) {
        Ok(rendering) => rendering,
        Err(why) => {
            maker.budget.spend(STEPS_OF_A_FAILURE)?;
            return Err(refused(why));
        }
    };
    maker.budget.spend(STEPS_OF_A_STEP.saturating_mul(usize::try_from(rendering.steps).unwrap_or(usize::MAX)))?;
    report_rendering_gaps(maker, name, &rendering, at)?;
    if rendering.failed.is_empty() && rendering.missing.is_empty() {
        maker.files.extend(loaded.values_files().into_iter().cloned());
    }
    let failed = |path: &&String| !rendering.failed.iter().any(|(other, _)| other == *path);
    maker.files.extend(loaded.template_files().into_iter().filter(failed).cloned());
    maker.charts.insert(chart);
    let mut made = Vec::new();
    if entry.flag_at("includeCRDs") {
        for path in loaded.definitions() {
            let Ok(file) = maker.sources.open(path) else { continue };
            made.extend(objects(maker.read(file, &maker.sources.text(file), at)?, at)?);
        }
    }
    for document in rendering.documents {
        let file = maker.sources.derive("", document.text.clone(), document.segments);
        match maker.read(file, &document.text, at) {
            Ok(documents) => made.extend(objects(documents, at)?),
            Err(trouble) if document.holes > 0 => {
                maker.tolerate(Err(KustomizeError::not_at_hand(trouble.message, at)))?
            }
            Err(trouble) => return Err(trouble),
        }
    }
    if entry.flag_at("skipHooks") {
        made.retain(|it| it.value.at_path(&["metadata", "annotations", "helm.sh/hook"]).is_none());
    }
    Ok(made)
}

/// Returns the cluster for charts; settings of the entry win.
fn cluster(maker: &Maker<'_>, entry: &ObjectValue) -> Cluster {
    let mut cluster = maker.cluster.clone();
    if let Some(version) = entry.text_at("kubeVersion") {
        cluster.version = format!("v{}", version.trim_start_matches('v'));
    }
    let interfaces = entry.get("apiVersions").map(ObjectValue::items).unwrap_or_default();
    cluster.interfaces.extend(interfaces.iter().filter_map(ObjectValue::text).map(str::to_owned));
    cluster
}

/// Reports what a rendering lacks. Unknown single values are reported at their own places.
fn report_rendering_gaps(
    maker: &mut Maker<'_>,
    name: &str,
    rendering: &Rendering,
    at: Span,
) -> Result<(), KustomizeError> {
    // A template of a Service or a Secret runs nothing, so its absence is relevant only for a complete build.
    let is_idle = |path: &str| {
        let text = maker.sources.tree().read(path).unwrap_or_default();
        maker.is_lenient && helm::makes_only(&String::from_utf8_lossy(&text), helm::IDLE_KINDS)
    };
    let failed = rendering.failed.iter().filter(|(path, _)| !is_idle(path));
    let failed = failed.map(|(path, why)| format!("`{path}`: {why}"));
    let missing = rendering.missing.iter().map(|it| it.why.clone());
    let refused = rendering.refused.iter().map(|why| format!("helm would refuse the values: {why}"));
    let wanted = rendering.wanted.iter().filter(|(path, _)| !is_idle(path));
    let wanted = wanted.map(|(_, what)| format!("the chart requires a value: {what}"));
    let undecided = rendering.undecided.iter().filter(|(path, _)| !is_idle(path)).map(|(_, it)| {
        let place = maker.sources.locate(it.at);
        format!("an unknown value decides how `{}`, line {}, is rendered: {}", place.path, place.line, it.why)
    });
    let is_missing = |why: &String| rendering.missing.iter().any(|it| it.why == *why);
    let gaps = rendering.documents.iter().flat_map(|it| &it.gaps).filter(|why| !is_missing(why));
    let gaps = gaps.map(|why| format!("part of a pod is not rendered: {why}"));
    let all: Vec<String> = failed.chain(missing).chain(refused).chain(wanted).chain(undecided).chain(gaps).collect();
    for why in all {
        maker.tolerate(Err(KustomizeError::not_at_hand(format!("chart `{name}`: {why}"), at)))?;
    }
    Ok(())
}

/// Returns the values in addition to the chart's own; the last layer wins.
fn layers(
    maker: &mut Maker<'_>,
    directory: &str,
    entry: &ObjectValue,
    chart: &str,
) -> Result<Vec<Node>, KustomizeError> {
    let file = ["valuesFile", "values"].iter().find_map(|key| entry.get(key).filter(|it| it.text().is_some()));
    let inline = ["valuesInline", "valuesLocal"].iter().find_map(|key| entry.get(key)).filter(|it| it.is_map());
    let mut written = match file {
        Some(file) => first(maker.documents(directory, file)?),
        // The chart's own values are included again, so that the inline values override them.
        None if inline.is_some() => own(maker, chart)?,
        None => None,
    };
    if let Some(inline) = inline {
        let inline = inline.clone();
        written = Some(match (entry.text_at("valuesMerge").unwrap_or("override"), written) {
            ("replace", _) | (_, None) => inline,
            ("merge", Some(file)) => laid(inline, &file),
            ("override", Some(file)) => laid(file, &inline),
            (other, _) => {
                let message = format!("`valuesMerge` must be override, merge or replace, not `{other}`");
                return Err(KustomizeError::refused(message, entry.at));
            }
        });
    }
    let mut layers: Vec<Node> = written.iter().map(ObjectValue::to_node).collect();
    for more in entry.get("additionalValuesFiles").map(|it| it.items().to_vec()).unwrap_or_default() {
        layers.extend(first(maker.documents(directory, &more)?).iter().map(ObjectValue::to_node));
    }
    Ok(layers)
}

fn own(maker: &Maker<'_>, chart: &str) -> Result<Option<ObjectValue>, KustomizeError> {
    let file = join(chart, "values.yaml").and_then(|path| maker.sources.open(&path).ok());
    let Some(file) = file else { return Ok(None) };
    let stream = yaml::read_within(file, &maker.sources.text(file), maker.sources.limits());
    let Some(root) = stream.documents.into_iter().next().map(|document| document.root) else { return Ok(None) };
    maker.budget.spend(root.weight as usize)?;
    Ok(Some(ObjectValue::from_node(&root, maker.sources)))
}

fn first(documents: Vec<ObjectValue>) -> Option<ObjectValue> {
    documents.into_iter().next()
}

/// Merges values: mappings are merged, null removes a key, everything else is replaced.
fn laid(below: ObjectValue, above: &ObjectValue) -> ObjectValue {
    let (ObjectData::Map(mut fields), ObjectData::Map(over)) = (below.data, &above.data) else { return above.clone() };
    for field in over {
        let known = fields.iter().position(|it| it.key == field.key);
        match known {
            Some(place) if field.value.is_null() => drop(fields.remove(place)),
            Some(place) => {
                if let Some(known) = fields.get_mut(place) {
                    let below = std::mem::replace(&mut known.value, ObjectValue::map(field.key_at));
                    *known = MapField { value: laid(below, &field.value), ..field.clone() };
                }
            }
            None if field.value.is_null() => {}
            None => fields.push(field.clone()),
        }
    }
    ObjectValue { at: below.at, data: ObjectData::Map(fields) }
}
