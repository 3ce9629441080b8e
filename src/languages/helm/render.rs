//! Renders one chart with one stack of values to documents.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::languages::gotemplate::{
    self, GoKind, GoMap, GoValue, Heap, MapEntries, TemplateCause, TemplateEvaluator, TemplateFailure, TemplatesByName,
    Text, TextOrigin, UnknownCondition, define, of_node, parse,
};
use crate::languages::yaml::Node;
use crate::source::{FileId, SourceFiles, Span};

use super::Cluster;
use super::chart::{self, MissingChart};
use super::output::{self, ChartDocument};
use super::schema;
use super::values::ChartDefaults;
use super::world::{Capabilities, ChartMetadata, Files};

/// Stack of one rendering, because templates may be nested deeper than a default stack allows.
const STACK_BYTES: usize = 64 << 20;

/// Properties of a release other than values.
#[derive(Debug, Clone)]
pub(crate) struct Release {
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) cluster: Cluster,
    /// Whether test hooks are rendered too.
    pub(crate) with_tests: bool,
}

impl Release {
    /// Returns the usual name of a release: the name of its chart, as far as Helm allows it.
    pub(crate) fn usual_name(chart: &str) -> String {
        const LONGEST: usize = 53;
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let name: String = chart.chars().map(plain).take(LONGEST).collect();
        let name = name.trim_matches('-');
        if name.is_empty() { "release".to_owned() } else { name.to_owned() }
    }
}

/// The result of rendering a chart.
#[derive(Debug, Default)]
pub(crate) struct Rendering {
    pub(crate) documents: Vec<ChartDocument>,
    /// Violations of `values.schema.json`, with which Helm would install nothing.
    pub(crate) refused: Vec<String>,
    /// Templates that failed, with the reason.
    pub(crate) failed: Vec<(String, String)>,
    /// Messages of `required`, with the path of each template. Helm stops without these values.
    pub(crate) wanted: Vec<(String, String)>,
    /// Dependencies that are missing.
    pub(crate) missing: Vec<MissingChart>,
    /// Whether its templates include a template of a missing chart.
    pub(crate) includes_missing: bool,
    /// Unknown conditions for which the documents contain only one branch, each with the path of its template.
    pub(crate) undecided: Vec<(String, UnknownCondition)>,
    /// The number of steps spent.
    pub(crate) steps: u64,
}

impl Rendering {
    /// Returns whether the rendering has nothing to report: no part is missing, failed, refused or unknown.
    pub(crate) fn is_complete(&self) -> bool {
        self.refused.is_empty()
            && self.failed.is_empty()
            && self.wanted.is_empty()
            && self.missing.is_empty()
            && self.undecided.is_empty()
            && self.documents.iter().all(|it| it.gaps.is_empty())
    }
}

/// Renders a chart. `layers` are values in addition to the chart's own; the last layer has precedence.
pub(crate) fn render(
    sources: &SourceFiles,
    chart: &chart::Chart,
    layers: &[Node],
    release: &Release,
) -> Result<Rendering, String> {
    std::thread::scope(|scope| {
        let run = || Renderer { sources, release }.run(chart, layers);
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, run);
        let thread = thread.map_err(|error| format!("no thread could be started to render the chart: {error}"))?;
        thread.join().unwrap_or_else(|_| Err("rendering the chart failed".to_owned()))
    })
}

struct Renderer<'r> {
    sources: &'r SourceFiles,
    release: &'r Release,
}

/// A template of a chart, and its scope.
struct Job {
    name: String,
    file: FileId,
    base: String,
    context: GoMap,
    is_partial: bool,
    path: String,
}

impl Job {
    /// Returns true if the template creates objects. Included templates do not, and Helm prints `NOTES.txt` only for
    /// people.
    fn makes_objects(&self) -> bool {
        !self.is_partial && !self.name.ends_with("NOTES.txt")
    }
}

fn describe_failure(failure: TemplateFailure) -> String {
    match failure {
        TemplateFailure::Refused(why) => why,
        TemplateFailure::Unknown(cause) => cause.why.to_string(),
        TemplateFailure::Budget(why) => why.to_owned(),
    }
}

impl Renderer<'_> {
    fn run(&self, loaded: &chart::Chart, layers: &[Node]) -> Result<Rendering, String> {
        let heap = TemplateEvaluator::heap(loaded.about.span.file);
        let mut jobs = Vec::new();
        let (missing, refused) = self.jobs(loaded, layers, &heap, &mut jobs).map_err(describe_failure)?;
        // Deeper charts come first, so that templates of outer charts override theirs.
        jobs.sort_by(|a, b| {
            let depth = |job: &Job| job.name.matches('/').count();
            depth(b).cmp(&depth(a)).then_with(|| b.name.cmp(&a.name))
        });
        let mut templates: TemplatesByName = HashMap::new();
        let mut rendering = Rendering { missing, refused, ..Rendering::default() };
        for job in &jobs {
            let text = self.sources.text(job.file);
            let whole = TextOrigin { span: Span::new(job.file, 0, text.len()), linear: true };
            match parse(&job.name, &Text::at(&text, whole), gotemplate::is_function) {
                Ok(all) => define(&mut templates, all.into_iter()),
                Err(refused) => {
                    let line = self.sources.line(Span::new(job.file, refused.at, refused.at));
                    return Err(format!("`{}` line {line} is not a valid template: {}", job.path, refused.why));
                }
            }
        }
        let missing = rendering.missing.clone();
        let includes_missing = Cell::new(false);
        let unknown = |name: &str| {
            let first = missing.first()?;
            includes_missing.set(true);
            Some(TemplateCause::new(&format!("include {name}"), first.why.as_str()))
        };
        let mut evaluator = TemplateEvaluator::new(templates, &unknown, heap);
        let mut done: Vec<(usize, Text)> = Vec::new();
        for (number, job) in jobs.iter().enumerate().filter(|(_, job)| job.makes_objects()) {
            let about = [("Name", job.name.as_str()), ("BasePath", job.base.as_str())];
            let about: MapEntries =
                about.map(|(key, text)| (Arc::from(key), GoValue::from(text).into())).into_iter().collect();
            job.context.insert("Template".into(), evaluator.heap.map(about));
            let outcome = evaluator.render(&job.name, &GoKind::Map(job.context.clone()).into());
            let of_job = |it: String| (job.path.clone(), it);
            rendering.wanted.extend(std::mem::take(&mut evaluator.wanted).into_iter().map(of_job));
            rendering
                .undecided
                .extend(std::mem::take(&mut evaluator.undecided).into_iter().map(|it| (job.path.clone(), it)));
            match outcome {
                Ok(text) => done.push((number, text)),
                Err(TemplateFailure::Budget(why)) => return Err(why.to_owned()),
                Err(failure) => {
                    let line = evaluator.stopped().map(|span| self.sources.locate(span));
                    let line = line.map_or(String::new(), |it| format!(" ({} line {})", it.path, it.line));
                    rendering.failed.push((job.path.clone(), format!("{}{line}", describe_failure(failure))));
                }
            }
        }
        rendering.wanted.dedup();
        rendering.includes_missing = includes_missing.get();
        rendering.steps = evaluator.taken();
        done.sort_by(|a, b| jobs.get(a.0).map(|it| &it.name).cmp(&jobs.get(b.0).map(|it| &it.name)));
        for (number, text) in done {
            if let Some(job) = jobs.get(number) {
                evaluator.heap.spend(output::weight(&text)).map_err(describe_failure)?;
                rendering.documents.extend(output::documents(&text, job.file, &job.name, self.release.with_tests));
            }
        }
        Ok(rendering)
    }

    /// Returns all templates with their scopes, the missing charts, and schema violations.
    fn jobs(
        &self,
        loaded: &chart::Chart,
        layers: &[Node],
        heap: &Heap,
        jobs: &mut Vec<Job>,
    ) -> Result<(Vec<MissingChart>, Vec<String>), TemplateFailure> {
        let own = |chart: &chart::Chart| match &chart.values {
            Some(node) => of_node(self.sources, node, heap),
            None => Ok(GoValue::nil()),
        };
        let mut chart = ChartDefaults::new(loaded, &own, heap)?;
        let given = heap.new_map(MapEntries::new());
        for layer in layers {
            if let GoKind::Map(above) = of_node(self.sources, layer, heap)?.kind {
                over(&given, &above, heap)?;
            }
        }
        chart.apply_conditions(&given, heap)?;
        chart.coalesce(&given, false, heap)?;
        let release = &self.release;
        let about: [(&str, GoValue); 6] = [
            ("Name", release.name.as_str().into()),
            ("Namespace", release.namespace.as_str().into()),
            ("Service", "Helm".into()),
            ("IsInstall", true.into()),
            ("IsUpgrade", false.into()),
            ("Revision", GoValue::int(1)),
        ];
        let about = about.map(|(key, value)| (Arc::from(key), value.into())).into_iter().collect();
        let shared = Shared {
            heap,
            release: heap.map(about),
            capabilities: Capabilities::value(&release.cluster),
            refused: RefCell::default(),
        };
        let mut missing = Vec::new();
        let name = chart.name.clone();
        self.contexts(&chart, &name, GoKind::Map(given).into(), true, &shared, jobs, &mut missing);
        missing.sort();
        missing.dedup();
        Ok((missing, shared.refused.into_inner()))
    }

    #[allow(clippy::too_many_arguments, reason = "the values that a chart passes to its subcharts")]
    fn contexts(
        &self,
        chart: &ChartDefaults<'_>,
        called: &str,
        values: GoValue,
        is_root: bool,
        shared: &Shared<'_>,
        jobs: &mut Vec<Job>,
        missing: &mut Vec<MissingChart>,
    ) -> GoValue {
        let heap = shared.heap;
        missing.extend(chart.missing.iter().cloned());
        shared.refused.borrow_mut().extend(schema::broken(chart.loaded.schema.as_deref(), &values));
        let inside = heap.new_map(MapEntries::new());
        let pairs: [(&str, GoValue); 6] = [
            ("Chart", ChartMetadata::value(&chart.name, &chart.loaded.about, is_root)),
            ("Files", Files::value(self.sources, &chart.loaded.files)),
            ("Release", shared.release.clone()),
            ("Capabilities", shared.capabilities.clone()),
            ("Values", values.clone()),
            ("Subcharts", GoKind::Map(inside.clone()).into()),
        ];
        let context = heap.new_map(pairs.map(|(key, value)| (Arc::from(key), value.into())).into_iter().collect());
        for child in &chart.inside {
            let own = values.map().and_then(|map| map.get(&child.name)).filter(|it| it.map().is_some());
            let own = own.unwrap_or_else(|| heap.map(MapEntries::new()));
            let path = format!("{called}/charts/{}", child.name);
            let inner = self.contexts(child, &path, own, false, shared, jobs, missing);
            inside.insert(child.name.as_str().into(), inner);
        }
        for (name, file) in &chart.loaded.templates {
            let last = name.rsplit('/').next().unwrap_or(name);
            let is_partial = last.starts_with('_');
            if chart.loaded.is_library && !is_partial {
                continue;
            }
            jobs.push(Job {
                name: format!("{called}/{name}"),
                file: *file,
                base: format!("{called}/templates"),
                context: context.clone(),
                is_partial,
                path: crate::source::join(&chart.loaded.directory, name).unwrap_or_default(),
            });
        }
        GoKind::Map(context).into()
    }
}

struct Shared<'h> {
    heap: &'h Heap,
    release: GoValue,
    capabilities: GoValue,
    refused: RefCell<Vec<String>>,
}

/// Merges a layer of values over another: mappings are merged, everything else is replaced.
fn over(below: &GoMap, above: &GoMap, heap: &Heap) -> Result<(), TemplateFailure> {
    heap.spend(64)?;
    let entries: BTreeMap<_, _> = above.borrow().clone();
    for (key, entry) in entries {
        let known = below.get(&key);
        match (known.as_ref().and_then(GoValue::map), entry.value.map()) {
            (Some(inner), Some(other)) => over(inner, other, heap)?,
            _ => below.insert(key, entry),
        }
    }
    Ok(())
}
