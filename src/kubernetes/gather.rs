//! Which files are read: those that may ask for accelerators, and those that they may name.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use crate::diagnostic::{Diagnostic, Level};
use crate::inventory::{Foreign, Run, Skipped, may_have_sign};
use crate::languages::table::claim::{claim, class_of_data};
use crate::languages::table::{Language, Reader};
use crate::languages::yaml::Node;
use crate::source::{FileId, ReadError, Sources, decoded, each, from_utf16, those};

use super::objects::chart;
use super::text::file::File;
use super::text::filter::{self, Matter, Names};
use super::{Options, deploy, render};

/// What was found among the files.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// The files that matter, sorted by path; text inside Terraform comes last, in the order in which it was found.
    pub(super) files: Vec<File>,
    /// The files that say nothing about what stands beside accelerators, sorted.
    pub(super) plain: Vec<String>,
    /// Charts that were not rendered and kustomizations that were not built, or not wholly, and why.
    pub(super) skipped: Vec<Skipped>,
    /// The charts that were rendered and the kustomizations that were built, with the files that matter of each.
    pub(super) runs: Vec<Run>,
    /// Which files kustomizations own.
    pub(super) kustomized: render::Kustomized,
    /// The files among them that are in a language which nobody reads.
    pub(super) foreign: Vec<Foreign>,
}

/// A file that was read once and looked through.
struct Looked<'p> {
    path: &'p String,
    matter: Matter,
    /// Its text, where it is wanted for sure.
    read: Option<Result<Arc<str>, ReadError>>,
    may_have_sign: bool,
    language: Option<&'static Language>,
}

/// What was found of files when they were looked through. Two states of one tree have most files in common: the first
/// notes what it finds, the second takes it where it is told that a file is the same.
#[derive(Debug, Clone, Default)]
pub struct Looks {
    /// Beside what is known from an earlier run.
    found: Arc<Mutex<HashMap<String, Look>>>,
    /// What other files are written in.
    languages: Arc<Mutex<HashMap<String, Vec<&'static Language>>>>,
    /// The files of the second state that are the same; nothing for the first.
    same: Option<SameFiles>,
    is_kept: bool,
    /// What is known from an earlier run.
    remembered: Arc<HashMap<String, Look>>,
}

/// The files that two states have in common.
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

/// What was found of a file.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    matter: Matter,
    may_have_sign: bool,
    language: Option<&'static Language>,
}

impl Looks {
    /// Notes what is found, for another state.
    pub fn kept() -> Self {
        Looks { is_kept: true, ..Looks::default() }
    }

    /// Notes what is found, and takes these files for what they were found to be by an earlier run.
    pub fn remembered(known: HashMap<String, Look>) -> Self {
        Looks { is_kept: true, remembered: Arc::new(known), ..Looks::default() }
    }

    /// What was found so far, and was not known before.
    pub fn new_ones(&self) -> Vec<(String, Look)> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.iter().map(|(path, look)| (path.clone(), *look)).collect()
    }

    /// The same for the other state, in which these files are the same.
    #[must_use]
    pub fn for_same(&self, same: Arc<HashSet<String>>) -> Self {
        Looks { same: Some(SameFiles::These(same)), is_kept: false, ..self.clone() }
    }

    /// The same for another state, in which all files but these are the same.
    #[must_use]
    pub fn for_all_but(&self, changed: Arc<HashSet<String>>) -> Self {
        Looks { same: Some(SameFiles::AllBut(changed)), is_kept: false, ..self.clone() }
    }

    /// What a file that this reader does not look at is written in.
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
        // Of what could not be read nothing was found.
        let read =
            looked.iter().filter(|it| !matches!(it.read, Some(Err(_))) && !self.remembered.contains_key(it.path));
        found.extend(read.map(|it| {
            let Looked { matter, may_have_sign, language, .. } = *it;
            (it.path.clone(), Look { matter, may_have_sign, language })
        }));
    }

    /// What is known of a file, if it is the same: from the first state or from an earlier run.
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
    /// What of a file's name decides about what is found of its text.
    pub fn class(path: &str) -> [u8; 2] {
        class_of_data(path)
    }

    /// As two bytes, for another run of this program.
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
    /// As it is known, where that is so: its text is kept already where it matters.
    fn known(path: &'p String, sources: &Sources, Look { matter, may_have_sign, language }: Look) -> Option<Self> {
        let needs_text = matches!(matter, Matter::Asks | Matter::Scales);
        let read = match needs_text {
            true if sources.has(path) => Some(Ok(sources.text(sources.open(path).ok()?))),
            true => return None,
            false => None,
        };
        Some(Looked { path, matter, read, may_have_sign, language })
    }

    fn at(path: &'p String, sources: &Sources, wanted: &filter::Wanted<'_>) -> Self {
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
        let language = language.filter(|_| !is_ours(language));
        Looked { path, matter, read, may_have_sign: may_have_sign(&bytes), language }
    }

    /// Text that is not as it stands in the file is kept whatever it is good for: nobody else reads it as what it is.
    fn converted(path: &'p String, read: Result<Arc<str>, ReadError>, wanted: &filter::Wanted<'_>) -> Self {
        let language = read.as_ref().ok().and_then(|text| claim(path, text.as_bytes()));
        let matter = read.as_ref().map_or(Matter::Asks, |text| match wanted.look(text.as_bytes()) {
            _ if is_ours(language) => Matter::Asks,
            Matter::Nothing | Matter::Configures => Matter::Scales,
            matter => matter,
        });
        let may_have_sign = read.as_ref().is_ok_and(|text| may_have_sign(text.as_bytes()));
        let language = language.filter(|_| !is_ours(language));
        Looked { path, matter, read: Some(read), may_have_sign, language }
    }
}

/// A language that is no manifest, and of which rows of kinds say what it means.
fn is_ours(language: Option<&Language>) -> bool {
    language.is_some_and(|it| it.reader == Reader::Kubernetes)
}

/// Finds the files that matter.
pub(super) fn gather(
    sources: &Sources,
    paths: &[String],
    embedded: &[(FileId, String)],
    options: &Options,
    diagnostics: &mut Vec<Diagnostic>,
) -> Gathered {
    let Options { objects, rendered, values, given_runs, cluster, .. } = options;
    let replaced: BTreeSet<&String> = rendered.iter().flat_map(|it| &it.plan.replaces).collect();
    let kustomizations = render::kustomizations_among(paths);
    let mut paths: Vec<&String> =
        paths.iter().filter(|path| filter::is_manifest(path) && !replaced.contains(path)).collect();
    paths.sort();
    paths.dedup();
    let wanted = filter::Wanted::new(objects);
    let mut looked = look_at_all(sources, &paths, &wanted, options);
    let mut gathered = Gathered::default();
    gathered.plain.extend(looked.iter().filter(|it| !it.may_have_sign).map(|it| it.path.clone()));
    let foreign = looked.iter().filter_map(|it| Some(Foreign::new(it.path, it.language?)));
    gathered.foreign.extend(foreign);
    hold(sources, &mut looked, Matter::Asks);
    let mut asking: BTreeSet<&String> =
        looked.iter().filter(|it| it.matter == Matter::Asks).map(|it| it.path).collect();
    asking.extend(chart::templates(&asking.iter().copied().collect::<Vec<_>>(), &paths));
    let is_link = |path: &String| {
        let real = sources.real_path(path).filter(|real| real != path);
        real.is_some_and(|real| paths.binary_search(&&real).is_ok())
    };
    // A file is read at its own place, and not once more through a link.
    let links: HashSet<&String> = asking.iter().copied().filter(|path| is_link(path)).collect();
    hold(sources, &mut looked, Matter::Scales);
    let scaling = looked.iter().filter(|it| it.matter == Matter::Scales).map(|it| it.path.as_str());
    let deployers = deploy::deployers(sources, scaling);
    let asked = render::Asked {
        deployers: &deployers,
        paths: &paths,
        kustomizations,
        asking: &asking,
        wanted: &wanted,
        values,
        given_runs,
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
    let idle_too = !matches!(wanted, filter::Wanted::Nothing);
    let is_named = |file: &File| options.named_files.iter().any(|named| **named == *file.path);
    let marked = files.into_iter().map(|file| File { idle_too, is_named: is_named(&file), ..file });
    gathered.files = marked.collect();
    gathered
}

/// What each file is good for, as far as that is known from an earlier look, else by its text.
fn look_at_all<'p>(
    sources: &Sources,
    paths: &[&'p String],
    wanted: &filter::Wanted<'_>,
    options: &Options,
) -> Vec<Looked<'p>> {
    let looked = each(paths.to_vec(), |path| {
        let known = options.looks.known(path).and_then(|look| Looked::known(path, sources, look));
        known.unwrap_or_else(|| Looked::at(path, sources, wanted))
    });
    options.looks.keep(&looked);
    looked
}

/// The files that only say something about what others ask for: those that decide its number, and those from which texts
/// take values.
fn joined<'p>(sources: &Sources, texts: Vec<Arc<str>>, looked: &[Looked<'p>]) -> Vec<&'p String> {
    let scaling = looked.iter().filter(|it| it.matter == Matter::Scales);
    let joining = scaling.filter_map(|it| Some(sources.text(sources.open(it.path).ok()?)));
    let names = Names::used(texts.into_iter().chain(joining));
    let is_joined = |it: &&Looked<'_>| match it.matter {
        Matter::Scales => true,
        Matter::Configures => !names.is_empty() && sources.glance(it.path, |text| names.any_in(text)).unwrap_or(false),
        Matter::Asks | Matter::Nothing => false,
    };
    those(looked.iter().collect(), is_joined).into_iter().map(|it| it.path).collect()
}

/// Keeps what was read of the files that matter so, in the order of their paths: the numbers of files must not depend on
/// threads.
fn hold(sources: &Sources, looked: &mut [Looked<'_>], matter: Matter) {
    for it in looked.iter_mut().filter(|it| it.matter == matter) {
        if let Some(read) = it.read.take() {
            drop(sources.hold(it.path, read));
        }
    }
}

/// Gives templates of charts the values of their charts.
fn with_values(sources: &Sources, files: &mut [File]) {
    let mut charts: BTreeMap<String, Option<Node>> = BTreeMap::new();
    // What was rendered is no template any more.
    for file in files.iter_mut().filter(|it| it.rendered.is_none()) {
        let Some(directory) = chart::of_template(sources, &file.path) else { continue };
        file.of_chart = true;
        let values = charts.entry(directory.to_owned()).or_insert_with(|| chart::values(sources, directory));
        file.values.clone_from(values);
    }
}

fn open<'p>(
    sources: &Sources,
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
