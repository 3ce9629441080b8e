//! Renders charts with the built-in engine: chooses their values, collects their documents, and reports charts that it
//! cannot render.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::diagnostic::SkipKind;
use crate::inventory::{DeploymentRun, RunKind, SkippedFile};
use crate::languages::helm::{self, Chart, ChartDocument, MissingChart, Rendering};
use crate::languages::yaml::Node;
use crate::source::{SourceFiles, each_large};

use super::matters;
use super::names;
use super::plan::{at, is_called, sets};
use super::variants::{self, ValuesVariant};
use super::{AskedDocuments, RenderRequest, trace};
use crate::kubernetes::Cluster;
use crate::kubernetes::objects::chart::is_values;
use crate::kubernetes::text::file::{File, ReleaseNames};
use crate::kubernetes::text::filter::{self, Matter};
use crate::kubernetes::text::trail::{RendererKind, Trail};

/// The namespace if none is set.
const NAMESPACE: &str = "default";
/// The limit on steps for all charts of a tree. The largest public charts take 30,000 each.
const MOST_STEPS: u64 = 40_000_000;
/// The limit on bytes of relevant documents of all charts of a tree, after parsing.
const MOST_BYTES: usize = 320 << 20;
/// The number of charts that are rendered before the limits are checked. Memory must be sufficient for their results.
const AT_ONCE: usize = 16;

/// One chart with one list of values files.
struct Job {
    chart: Arc<Chart>,
    variant: ValuesVariant,
    layers: Vec<Node>,
    name: String,
}

/// The rendering of a job.
struct Done {
    job: Job,
    rendering: Rendering,
    /// The relevance of its documents.
    matters: Vec<Matter>,
}

/// Renders the charts that may request accelerators, except those that are deployed in another way.
pub(super) fn make(sources: &SourceFiles, asked: &RenderRequest<'_>, deployed: &BTreeSet<String>) -> AskedDocuments {
    let mut made = AskedDocuments::default();
    let mut jobs = Vec::new();
    for directory in matters::charts(asked.paths.iter().map(|path| path.as_str())) {
        let is_made = asked.is_rendered(RendererKind::Helm, directory) || deployed.contains(directory);
        let may_matter =
            || matters::may_matter(sources, directory, asked) || asked.is_installed_with_accelerators(directory);
        if !is_made && may_matter() {
            load(sources, directory, asked, &mut jobs, &mut made.skipped);
        }
    }
    let (done, refused) = render_all(sources, jobs, asked.cluster, |text| asked.wanted.look(text));
    // If the parent chart contains the documents of a subchart, the subchart is reported with it.
    let is_shown = |directory: &str| done.iter().any(|other| other.shows(sources, directory));
    for (directory, why) in refused.iter().filter(|(directory, _)| !is_shown(directory)) {
        made.skipped.push(not_rendered(directory, why));
    }
    for done in &done {
        made.replaced.extend(done.replaced().map(ToOwned::to_owned));
        if !is_shown(&done.job.chart.directory) {
            made.take(sources, done, asked);
        }
    }
    made.skipped.sort();
    made.skipped.dedup();
    made
}

/// Returns the documents of all charts among the files, by template, and the reasons for incomplete ones.
pub(in crate::kubernetes) fn all(
    sources: &SourceFiles,
    paths: &[String],
    values: &[String],
    cluster: &Cluster,
) -> (Vec<(String, String)>, Vec<SkippedFile>) {
    let (mut jobs, mut skipped) = (Vec::new(), Vec::new());
    for directory in matters::charts(paths.iter().map(String::as_str)) {
        match helm::load(sources, directory) {
            Ok(chart) if chart.is_library => {}
            Ok(chart) => {
                let variants = chosen(&chart, values, paths.iter().map(String::as_str));
                jobs.extend(jobs_of(sources, chart, variants, &mut skipped));
            }
            Err(why) => skipped.push(not_rendered(directory, &why)),
        }
    }
    let (done, refused) = render_all(sources, jobs, cluster, |_| Matter::Asks);
    skipped.extend(refused.iter().map(|(directory, why)| not_rendered(directory, why)));
    for done in &done {
        report_partial_rendering(sources, &done.job.chart, &done.rendering, &done.given(true), &mut skipped);
    }
    let documents = done.into_iter().flat_map(|done| done.rendering.documents);
    (documents.map(|document| (document.template, document.text)).collect(), skipped)
}

fn load(
    sources: &SourceFiles,
    directory: &str,
    asked: &RenderRequest<'_>,
    jobs: &mut Vec<Job>,
    skipped: &mut Vec<SkippedFile>,
) {
    match helm::load(sources, directory) {
        Ok(chart) if chart.is_library => {}
        Ok(chart)
            if !matters::matters(sources, &chart, asked) && !asked.is_installed_with_accelerators(&chart.directory) => {
        }
        Ok(chart) if asked.values.is_empty() => {
            let variants = variants::of_chart(sources, &chart, asked, skipped);
            jobs.extend(jobs_of(sources, chart, variants, skipped));
        }
        Ok(chart) => {
            let variants = chosen(&chart, asked.values, asked.paths.iter().map(|path| path.as_str()));
            jobs.extend(jobs_of(sources, chart, variants, skipped));
        }
        Err(why) => skipped.push(not_rendered(directory, &why)),
    }
}

/// Returns the requested lists of values files. Values files outside charts are used only if there is just one chart.
fn chosen<'p>(chart: &Chart, values: &[String], paths: impl Iterator<Item = &'p str> + Clone) -> Vec<ValuesVariant> {
    let mut files = chart.inputs.clone();
    if matters::charts(paths.clone()).len() == 1 {
        let named = |path: &&str| values.iter().any(|name| is_called(path, name));
        files.extend(paths.filter(named).map(ToOwned::to_owned));
    }
    files.sort();
    files.dedup();
    let of = |files| ValuesVariant { files, ..ValuesVariant::default() };
    sets(&chart.directory, &files, values).into_iter().map(of).collect()
}

fn jobs_of(
    sources: &SourceFiles,
    chart: Chart,
    variants: Vec<ValuesVariant>,
    skipped: &mut Vec<SkippedFile>,
) -> Vec<Job> {
    let chart = Arc::new(chart);
    let job = |variant: ValuesVariant| Job {
        layers: variants::layers(sources, &chart, &variant, skipped),
        chart: chart.clone(),
        name: variant.release.clone().unwrap_or_else(|| helm::Release::usual_name(&chart.name)),
        variant,
    };
    variants.into_iter().map(job).collect()
}

/// Renders the jobs up to the limits and refuses the rest. Only relevant documents are stored.
fn render_all(
    sources: &SourceFiles,
    jobs: Vec<Job>,
    cluster: &Cluster,
    look: impl Fn(&[u8]) -> Matter + Send + Sync,
) -> (Vec<Done>, Vec<(String, String)>) {
    let (mut done, mut refused) = (Vec::new(), Vec::new());
    let (mut left, mut bytes) = (MOST_STEPS, MOST_BYTES);
    let mut jobs = jobs.into_iter().peekable();
    while jobs.peek().is_some() {
        let now: Vec<Job> = jobs.by_ref().take(AT_ONCE).collect();
        if left == 0 || bytes == 0 {
            let why = match left {
                0 => "the repository's charts exceed the total step limit",
                _ => "the repository's charts exceed the total size limit",
            };
            refused.extend(now.into_iter().map(|job| (job.chart.directory.clone(), why.to_owned())));
            continue;
        }
        let one = |job: Job| {
            let namespace = job.variant.namespace.as_deref().unwrap_or(NAMESPACE);
            let rendering = render(sources, &job.chart, &job.layers, (&job.name, namespace), cluster);
            (job, rendering)
        };
        for (job, rendering) in each_large(now, one) {
            match rendering {
                Ok(mut rendering) => {
                    left = left.saturating_sub(rendering.steps);
                    let matters: Vec<Matter> = rendering.documents.iter().map(|it| look(it.text.as_bytes())).collect();
                    for (document, _) in
                        rendering.documents.iter_mut().zip(&matters).filter(|(_, matter)| **matter == Matter::Nothing)
                    {
                        (document.text, document.segments) = (String::new(), Vec::new());
                    }
                    let made: usize =
                        rendering.documents.iter().filter(|it| !it.text.is_empty()).map(ChartDocument::weight).sum();
                    let Some(rest) = bytes.checked_sub(made) else {
                        bytes = 0;
                        let why = "the repository's charts exceed the total size limit";
                        refused.push((job.chart.directory.clone(), why.to_owned()));
                        continue;
                    };
                    bytes = rest;
                    done.push(Done { job, rendering, matters });
                }
                Err(why) => {
                    left = left.saturating_sub(MOST_STEPS / 1000);
                    let of = job.variant.files.last().unwrap_or(&job.chart.directory);
                    refused.push((of.clone(), why));
                }
            }
        }
    }
    (done, refused)
}

/// Renders one release of a chart.
fn render(
    sources: &SourceFiles,
    chart: &Chart,
    layers: &[Node],
    (name, namespace): (&str, &str),
    cluster: &Cluster,
) -> Result<Rendering, String> {
    let (name, namespace) = (name.to_owned(), namespace.to_owned());
    let release = helm::Release { name, namespace, cluster: cluster.clone(), with_tests: false };
    helm::render(sources, chart, layers, &release)
}

impl Done {
    /// Returns the files that its documents replace. If a dependency is missing, its values are not replaced.
    fn replaced(&self) -> impl Iterator<Item = &String> {
        let is_whole = self.rendering.failed.is_empty() && self.rendering.missing.is_empty();
        let failed: BTreeSet<&String> = self.rendering.failed.iter().map(|(path, _)| path).collect();
        let values = self.job.chart.values_files().into_iter().chain(&self.job.variant.files).filter(move |_| is_whole);
        self.job.chart.template_files().into_iter().filter(move |path| !failed.contains(path)).chain(values)
    }

    /// Returns whether the values of this rendering mention accelerators.
    fn is_given(&self, sources: &SourceFiles) -> bool {
        let own = self.job.chart.inputs.iter().filter(|path| is_values(path));
        own.chain(&self.job.variant.files).any(|path| names::in_file(sources, path))
    }

    fn given(&self, speaks: bool) -> Given<'_> {
        Given { speaks, values: self.job.chart.values.iter().chain(&self.job.layers).collect() }
    }

    /// Returns whether one of its documents came from a chart in another directory.
    fn shows(&self, sources: &SourceFiles, directory: &str) -> bool {
        let own = &self.job.chart.directory;
        let is_around = own
            .strip_prefix(directory)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || directory.is_empty());
        let within = |document: &ChartDocument| {
            let path = sources.path(document.file);
            path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
        };
        !is_around && self.rendering.documents.iter().any(within)
    }

    fn command(&self) -> String {
        let variant = &self.job.variant;
        let mut values: String = variant.files.iter().map(|file| format!(" --values {file}")).collect();
        values.extend(variant.set.iter().map(|(path, _)| format!(" --set {path}=…")));
        format!("helm template {}{values}", place(&self.job.chart.directory))
    }
}

impl AskedDocuments {
    fn take(&mut self, sources: &SourceFiles, done: &Done, asked: &RenderRequest<'_>) {
        let directory = &done.job.chart.directory;
        // Only an incomplete rendering is reported, and only its values are searched.
        let given = done.given(!done.rendering.is_complete() && done.is_given(sources));
        report_partial_rendering(sources, &done.job.chart, &done.rendering, &given, &mut self.skipped);
        let Some(head) = trace::first_line(sources, &at(directory, "Chart.yaml")) else { return };
        let (chart, variant) = (&done.job.chart, &done.job.variant);
        let trail =
            Trail { by: RendererKind::Helm, command: done.command().into(), head, variant: variant.trail(chart) };
        let mut inputs: BTreeSet<String> =
            done.replaced().filter(|path| asked.asking.contains(path)).map(ToOwned::to_owned).collect();
        for (document, matter) in done.rendering.documents.iter().zip(&done.matters) {
            if let Some(file) = file(sources, document, *matter, &trail) {
                inputs.insert(file.path.to_string());
                self.files.push(file);
            }
        }
        if !inputs.is_empty() {
            inputs.extend(variant.files.iter().chain(&variant.by).cloned());
            let mut run = DeploymentRun::new(RunKind::Chart, directory, variant.label.as_deref()).reading(inputs);
            (run.counted, run.given_name) = (variant.counted, variant.name.clone());
            self.runs.push(run);
        }
    }
}

fn file(sources: &SourceFiles, document: &ChartDocument, matter: Matter, trail: &Trail) -> Option<File> {
    if matter == Matter::Nothing {
        return None;
    }
    let id = sources.derive("", document.text.clone(), document.segments.clone());
    let doubt = document.doubts.first().map(|why| format!("a part of it depends on an unknown value: {why}").into());
    let path = sources.path(document.file).into();
    let is_holed = document.holes > 0;
    let perhaps =
        document.perhaps.as_ref().map(|why| format!("whether it exists depends on an unknown value: {why}").into());
    Some(File { doubt, is_holed, perhaps, ..File::rendered(id, path, matter != Matter::Asks, trail.clone()) })
}

/// Reports an incomplete rendering. Nothing is reported if neither chart nor values mention accelerators, or if the
/// incomplete template runs nothing.
fn report_partial_rendering(
    sources: &SourceFiles,
    chart: &Chart,
    rendering: &Rendering,
    given: &Given<'_>,
    skipped: &mut Vec<SkippedFile>,
) {
    let directory = &chart.directory;
    if rendering.is_complete() {
        return;
    }
    let may_ask = given.speaks
        || rendering.documents.iter().any(|it| filter::look(it.text.as_bytes()) == Matter::Asks)
        || names::in_chart(sources, chart);
    let mut say =
        |path: String, reason: String| skipped.push(SkippedFile::new(SkipKind::Rendering, path, in_one_line(&reason)));
    for missing in rendering.missing.iter().filter(|it| given.matters_to(it, rendering)) {
        say(place(directory), format!("rendered without a dependency: {}", missing.why));
    }
    if !may_ask {
        return;
    }
    let matters = |path: &str| !names::runs_nothing(sources, path);
    for (path, why) in rendering.failed.iter().filter(|(path, _)| matters(path)) {
        say(place(path), unrendered(why));
    }
    if !rendering.refused.is_empty() {
        let why = rendering.refused.join("; ");
        say(place(directory), format!("helm would refuse its values, because they violate values.schema.json: {why}"));
    }
    for (_, wanted) in rendering.wanted.iter().filter(|(path, _)| matters(path)) {
        say(place(directory), format!("rendered without a required value: {wanted}"));
    }
    for (_, undecided) in rendering.undecided.iter().filter(|(path, _)| matters(path)) {
        let place = sources.locate(undecided.at);
        say(
            place.path.to_string(),
            format!("gpulint rendered one of two branches at line {}: {}", place.line, undecided.why),
        );
    }
    for (file, why) in rendering.documents.iter().flat_map(|it| it.gaps.iter().map(|why| (it.file, why))) {
        // Everything that a missing dependency affects is reported once.
        if !rendering.missing.iter().any(|it| it.why == *why) {
            say(sources.path(file), format!("rendered without a part of a pod: {why}"));
        }
    }
}

/// The values that a chart is rendered with.
struct Given<'v> {
    /// True if the values mention accelerators.
    speaks: bool,
    values: Vec<&'v Node>,
}

impl Given<'_> {
    /// Returns whether a missing dependency may request accelerators: its name or its values suggest it, or templates
    /// use it to create their objects.
    fn matters_to(&self, part: &MissingChart, rendering: &Rendering) -> bool {
        names::may_ask(&part.why)
            || self.speaks && rendering.includes_missing
            || self.values.iter().any(|values| names::in_values_of(values, &[&part.name, "global"]))
    }
}

pub(super) fn place(directory: &str) -> String {
    if directory.is_empty() { ".".to_owned() } else { directory.to_owned() }
}

/// Returns the entry for a chart or a template that is read without rendering.
pub(in crate::kubernetes) fn not_rendered(path: &str, why: &str) -> SkippedFile {
    SkippedFile::new(SkipKind::Rendering, place(path), in_one_line(&unrendered(why)))
}

fn unrendered(why: &str) -> String {
    format!("read without rendering: {why}")
}

pub(in crate::kubernetes) fn in_one_line(text: &str) -> String {
    const LONGEST: usize = 320;
    text.chars().take(LONGEST).map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

/// Renders a release of a chart to files, or returns why it cannot be rendered. `values` contains all values, including
/// those of the chart.
pub(in crate::kubernetes) fn release(
    sources: &SourceFiles,
    chart: &Chart,
    values: Option<Node>,
    release: &ReleaseNames,
    cluster: &Cluster,
    skipped: &mut Vec<SkippedFile>,
) -> Result<Vec<File>, String> {
    let head = trace::first_line(sources, &at(&chart.directory, "Chart.yaml")).ok_or("its Chart.yaml is empty")?;
    let name = release.name.as_ref().map_or_else(|| helm::Release::usual_name(&chart.name), ToString::to_string);
    let namespace = release.namespace.as_deref().unwrap_or(NAMESPACE);
    let chart = &chart.with_values(values);
    let given =
        Given { speaks: chart.values.as_ref().is_some_and(names::in_values), values: chart.values.iter().collect() };
    let rendering = render(sources, chart, &[], (&name, namespace), cluster)?;
    // If a template fails, it can still be read without rendering.
    if let Some((path, why)) = rendering.failed.iter().find(|(path, _)| !names::runs_nothing(sources, path)) {
        return Err(format!("`{path}`: {why}"));
    }
    report_partial_rendering(sources, chart, &rendering, &given, skipped);
    let command = format!("helm template {}", place(&chart.directory));
    let trail = Trail { by: RendererKind::Helm, command: command.into(), head, variant: None };
    let look = |document: &ChartDocument| filter::look(document.text.as_bytes());
    let files = rendering.documents.iter().filter_map(|document| file(sources, document, look(document), &trail));
    Ok(files.map(|file| File { release: Some(release.clone()), ..file }).collect())
}
