//! Selects the files to read: those that may request accelerators, and the files that these refer to.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use crate::diagnostic::{Diagnostic, Level};
use crate::inventory::{DeploymentRun, SkippedFile, UnsupportedFile, may_have_sign};
use crate::languages::table::Language;
use crate::languages::table::claim::{claim, class_of_data};
use crate::languages::yaml::Node;
use crate::source::{FileId, ReadError, SourceFiles, decoded, each, from_utf16, those};

use super::objects::chart;
use super::text::file::File;
use super::text::filter::{self, ConfigMapNames, Matter};
use super::text::parsed_once::ParsedOnce;
use super::{KubernetesOptions, deploy, render};

/// The result of the file search.
#[derive(Debug, Default)]
pub(super) struct GatheredFiles {
    /// The relevant files, sorted by path. Manifests inside Terraform come last, in the order in which they were found.
    pub(super) files: Vec<File>,
    /// The sorted files that contain no components related to accelerators.
    pub(super) plain: Vec<String>,
    /// Charts that were not rendered and kustomizations that were not built, completely or in part, with the reason.
    pub(super) skipped: Vec<SkippedFile>,
    /// The rendered charts and built kustomizations, with the relevant files of each.
    pub(super) runs: Vec<DeploymentRun>,
    /// The files that kustomizations own.
    pub(super) kustomized: render::Kustomized,
    /// The files in a language that gpulint does not support.
    pub(super) foreign: Vec<UnsupportedFile>,
    /// The files that were parsed to find what is deployed.
    pub(super) parsed: ParsedOnce,
}

/// A file that was read and scanned once.
struct Looked<'p> {
    path: &'p String,
    matter: Matter,
    /// The content of the file, if the scan shows that it is relevant.
    read: Option<Result<Arc<str>, ReadError>>,
    may_have_sign: bool,
    language: Option<&'static Language>,
}

/// The scan results of files. Two states of one tree have most files in common. The first state records its results,
/// and the second one reuses them for equal files.
#[derive(Debug, Clone, Default)]
pub struct ScanCache {
    /// The results that this run found.
    found: Arc<Mutex<HashMap<String, Look>>>,
    /// The languages of other files.
    languages: Arc<Mutex<HashMap<String, Vec<&'static Language>>>>,
    /// The files of the second state that are equal to those of the first. Empty for the first state.
    same: Option<SameFiles>,
    is_kept: bool,
    /// The results of an earlier run.
    remembered: Arc<HashMap<String, Look>>,
}

/// The files that are equal in two states.
#[derive(Debug, Clone)]
enum SameFiles {
    These(Arc<HashSet<String>>),
    AllBut(Arc<HashSet<String>>),
}

impl SameFiles {
    fn has(&self, path: &str) -> bool {
        match self {
            SameFiles::These(same) => same.contains(path),
            SameFiles::AllBut(changed) => !changed.contains(path),
        }
    }
}

/// The scan result of a file.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    matter: Matter,
    may_have_sign: bool,
    language: Option<&'static Language>,
}

impl ScanCache {
    /// Creates a cache that records results for another state.
    pub fn kept() -> Self {
        ScanCache { is_kept: true, ..ScanCache::default() }
    }

    /// Creates a cache that records results, and reuses the results of an earlier run.
    pub fn remembered(known: HashMap<String, Look>) -> Self {
        ScanCache { is_kept: true, remembered: Arc::new(known), ..ScanCache::default() }
    }

    /// Returns the results of this run that were not known before.
    pub fn new_ones(&self) -> Vec<(String, Look)> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.iter().map(|(path, look)| (path.clone(), *look)).collect()
    }

    /// Returns the cache for the other state, in which these files are equal.
    #[must_use]
    pub fn for_same(&self, same: Arc<HashSet<String>>) -> Self {
        ScanCache { same: Some(SameFiles::These(same)), is_kept: false, ..self.clone() }
    }

    /// Returns the cache for another state, in which all files except these are equal.
    #[must_use]
    pub fn for_all_but(&self, changed: Arc<HashSet<String>>) -> Self {
        ScanCache { same: Some(SameFiles::AllBut(changed)), is_kept: false, ..self.clone() }
    }

    /// Returns the cache for the next state of a sequence, in which all files except these are equal.
    #[must_use]
    pub fn for_next(&self, changed: Arc<HashSet<String>>) -> Self {
        // A state in between may not have scanned a changed file.
        self.found.lock().unwrap_or_else(PoisonError::into_inner).retain(|path, _| !changed.contains(path));
        self.languages.lock().unwrap_or_else(PoisonError::into_inner).retain(|path, _| !changed.contains(path));
        ScanCache { same: Some(SameFiles::AllBut(changed)), ..self.clone() }
    }

    /// Returns the languages of a file that this reader does not read.
    pub fn languages(&self, path: &str, look: impl FnOnce() -> Vec<&'static Language>) -> Vec<&'static Language> {
        let languages = || self.languages.lock().unwrap_or_else(PoisonError::into_inner);
        if self.same.as_ref().is_some_and(|same| same.has(path))
            && let Some(known) = languages().get(path)
        {
            return known.clone();
        }
        let found = look();
        if self.is_kept {
            languages().insert(path.to_owned(), found.clone());
        }
        found
    }

    fn keep(&self, looked: &[Looked<'_>]) {
        if !self.is_kept {
            return;
        }
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        // The cache stores no result for a file that could not be read.
        let read =
            looked.iter().filter(|it| !matches!(it.read, Some(Err(_))) && !self.remembered.contains_key(it.path));
        found.extend(read.map(|it| {
            let Looked { matter, may_have_sign, language, .. } = *it;
            (it.path.clone(), Look { matter, may_have_sign, language })
        }));
    }

    /// Returns the known result of an equal file, from the first state or from an earlier run.
    fn known(&self, path: &str) -> Option<Look> {
        if self.same.as_ref().is_some_and(|same| !same.has(path)) {
            return None;
        }
        let of_first = self.same.as_ref().and_then(|_| {
            let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
            found.get(path).copied()
        });
        of_first.or_else(|| self.remembered.get(path).copied())
    }
}

impl Look {
    /// Returns the parts of a file's name that affect its scan result.
    pub fn class(path: &str) -> [u8; 2] {
        class_of_data(path)
    }

    /// Encodes the result as two bytes, for later runs of this program.
    pub fn code(self) -> [u8; 2] {
        let matter = Matter::ALL.iter().position(|it| *it == self.matter).unwrap_or_default();
        let matter = u8::try_from(matter).unwrap_or_default();
        [matter * 2 + u8::from(self.may_have_sign), self.language.map_or(0, Language::number)]
    }

    pub fn from_code([found, language]: [u8; 2]) -> Option<Look> {
        let matter = *Matter::ALL.get(usize::from(found / 2))?;
        let known = Language::from_number(language);
        (language == 0 || known.is_some()).then_some(Look { matter, may_have_sign: found % 2 == 1, language: known })
    }
}

impl<'p> Looked<'p> {
    /// Takes the result of an earlier scan. The text of a relevant file is already stored.
    fn known(path: &'p String, sources: &SourceFiles, Look { matter, may_have_sign, language }: Look) -> Option<Self> {
        let needs_text = matches!(matter, Matter::Asks | Matter::Scales);
        let read = match needs_text {
            true if sources.has(path) => Some(Ok(sources.text(sources.open(path).ok()?))),
            true => return None,
            false => None,
        };
        Some(Looked { path, matter, read, may_have_sign, language })
    }

    fn at(path: &'p String, sources: &SourceFiles, wanted: &filter::WantedKinds<'_>) -> Self {
        let bytes = match sources.tree().read(path) {
            Ok(bytes) => bytes,
            Err(error) => {
                return Looked {
                    path,
                    matter: Matter::Asks,
                    read: Some(Err(error)),
                    may_have_sign: false,
                    language: None,
                };
            }
        };
        if let Some(read) = from_utf16(&bytes) {
            return Looked::converted(path, read, wanted);
        }
        let language = claim(path, &bytes);
        let matter = if is_ours(language) { Matter::Asks } else { wanted.look(&bytes) };
        let read = matches!(matter, Matter::Asks | Matter::Scales).then(|| Ok(decoded(&bytes)));
        Looked { path, matter, read, may_have_sign: may_have_sign(&bytes), language }
    }

    /// Converted text is always stored, because no other reader converts it.
    fn converted(path: &'p String, read: Result<Arc<str>, ReadError>, wanted: &filter::WantedKinds<'_>) -> Self {
        let language = read.as_ref().ok().and_then(|text| claim(path, text.as_bytes()));
        let matter = read.as_ref().map_or(Matter::Asks, |text| match wanted.look(text.as_bytes()) {
            _ if is_ours(language) => Matter::Asks,
            Matter::Nothing | Matter::Configures => Matter::Scales,
            matter => matter,
        });
        let may_have_sign = read.as_ref().is_ok_and(|text| may_have_sign(text.as_bytes()));
        Looked { path, matter, read: Some(read), may_have_sign, language }
    }
}

/// Returns whether a language is not a manifest, but has definitions in the tables of kinds.
fn is_ours(language: Option<&Language>) -> bool {
    language.is_some_and(Language::is_read_by_shape)
}

/// Finds the relevant files.
pub(super) fn gather(
    sources: &SourceFiles,
    paths: &[String],
    embedded: &[(FileId, String)],
    options: &KubernetesOptions,
    diagnostics: &mut Vec<Diagnostic>,
) -> GatheredFiles {
    let KubernetesOptions { objects, rendered, values, given_runs, installations, cluster, .. } = options;
    let replaced: BTreeSet<&String> = rendered.iter().flat_map(|it| &it.plan.replaces).collect();
    let kustomizations = render::kustomizations_among(paths);
    let mut paths: Vec<&String> =
        paths.iter().filter(|path| filter::is_manifest(path) && !replaced.contains(path)).collect();
    paths.sort();
    paths.dedup();
    let wanted = filter::WantedKinds::new(objects);
    let mut looked = look_at_all(sources, &paths, &wanted, options);
    let mut gathered = GatheredFiles::default();
    gathered.plain.extend(looked.iter().filter(|it| !it.may_have_sign).map(|it| it.path.clone()));
    let foreign = looked.iter().filter_map(|it| Some(UnsupportedFile::new(it.path, it.language?)));
    gathered.foreign.extend(foreign);
    hold(sources, &mut looked, Matter::Asks);
    let mut asking: BTreeSet<&String> =
        looked.iter().filter(|it| it.matter == Matter::Asks).map(|it| it.path).collect();
    asking.extend(chart::templates(&asking.iter().copied().collect::<Vec<_>>(), &paths));
    let is_link = |path: &String| {
        let real = sources.real_path(path).filter(|real| real != path);
        real.is_some_and(|real| paths.binary_search(&&real).is_ok())
    };
    // A file is read at its own path, and not a second time through a link.
    let links: HashSet<&String> = asking.iter().copied().filter(|path| is_link(path)).collect();
    hold(sources, &mut looked, Matter::Scales);
    let scaling = looked.iter().filter(|it| it.matter == Matter::Scales).map(|it| it.path.as_str());
    let (deployers, parsed) = deploy::deployers(sources, scaling);
    gathered.parsed = parsed;
    let asked = render::RenderRequest {
        deployers: &deployers,
        paths: &paths,
        kustomizations,
        asking: &asking,
        wanted: &wanted,
        values,
        given_runs,
        installations,
        cluster,
        rendered,
    };
    let made = render::make(sources, &asked);
    (gathered.skipped, gathered.runs, gathered.kustomized) = (made.skipped, made.runs, made.kustomized);
    asking.retain(|path| !made.replaced.contains(*path) && !links.contains(*path));
    looked.retain(|it| !made.replaced.contains(it.path));
    let mut files = open(sources, asking.iter().copied(), false, diagnostics);
    files.extend(made.files);
    files.extend(rendered.iter().flat_map(|it| render::derive(sources, it)));
    if files.is_empty() && embedded.is_empty() {
        return gathered;
    }
    let texts = files.iter().map(|file| file.id).chain(embedded.iter().map(|(id, _)| *id)).map(|id| sources.text(id));
    let joined = joined(sources, texts.collect(), &looked);
    files.extend(open(sources, joined.into_iter().filter(|path| !asking.contains(path)), true, diagnostics));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    with_values(sources, &mut files);
    files.extend(
        embedded.iter().map(|(id, _)| File { embedded: true, ..File::new(*id, sources.path(*id).into(), false) }),
    );
    let idle_too = !matches!(wanted, filter::WantedKinds::Nothing);
    let is_named = |file: &File| options.named_files.iter().any(|named| **named == *file.path);
    let marked = files.into_iter().map(|file| File { idle_too, is_named: is_named(&file), ..file });
    gathered.files = marked.collect();
    gathered
}

/// Classifies each file by an earlier result, if there is one, and otherwise by its text.
fn look_at_all<'p>(
    sources: &SourceFiles,
    paths: &[&'p String],
    wanted: &filter::WantedKinds<'_>,
    options: &KubernetesOptions,
) -> Vec<Looked<'p>> {
    let looked = each(paths.to_vec(), |path| {
        let known = options.looks.known(path).and_then(|look| Looked::known(path, sources, look));
        known.unwrap_or_else(|| Looked::at(path, sources, wanted))
    });
    options.looks.keep(&looked);
    looked
}

/// Returns the files that only affect the requests of other files: those that set their number, and those from which
/// they take values.
fn joined<'p>(sources: &SourceFiles, texts: Vec<Arc<str>>, looked: &[Looked<'p>]) -> Vec<&'p String> {
    let scaling = looked.iter().filter(|it| it.matter == Matter::Scales);
    let joining = scaling.filter_map(|it| Some(sources.text(sources.open(it.path).ok()?)));
    let names = ConfigMapNames::used(texts.into_iter().chain(joining));
    let is_joined = |it: &&Looked<'_>| match it.matter {
        Matter::Scales => true,
        Matter::Configures => !names.is_empty() && sources.glance(it.path, |text| names.any_in(text)).unwrap_or(false),
        Matter::Asks | Matter::Nothing => false,
    };
    those(looked.iter().collect(), is_joined).into_iter().map(|it| it.path).collect()
}

/// Stores the text of the files with this relevance, in the order of their paths. File numbers must not depend on
/// threads.
fn hold(sources: &SourceFiles, looked: &mut [Looked<'_>], matter: Matter) {
    for it in looked.iter_mut().filter(|it| it.matter == matter) {
        if let Some(read) = it.read.take() {
            drop(sources.hold(it.path, read));
        }
    }
}

/// Passes the values of their charts to chart templates.
fn with_values(sources: &SourceFiles, files: &mut [File]) {
    let mut charts: BTreeMap<String, Option<Node>> = BTreeMap::new();
    // A rendered file is not a template any more.
    for file in files.iter_mut().filter(|it| it.rendered.is_none()) {
        let Some(directory) = chart::of_template(sources, &file.path) else { continue };
        file.of_chart = true;
        let values = charts.entry(directory.to_owned()).or_insert_with(|| chart::values(sources, directory));
        file.values.clone_from(values);
    }
}

fn open<'p>(
    sources: &SourceFiles,
    paths: impl Iterator<Item = &'p String>,
    joined_only: bool,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<File> {
    let mut files = Vec::new();
    for path in paths {
        match sources.open(path) {
            Ok(id) => files.push(File::new(id, path.as_str().into(), joined_only)),
            Err(error) => {
                let message = format!("`{path}` cannot be read: {error}");
                diagnostics.push(Diagnostic::new(Level::Warning, message, None));
            }
        }
    }
    files
}
