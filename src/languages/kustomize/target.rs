//! Collects the objects of a kustomization from its bases, and applies its changes.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::languages::helm::Cluster;
use crate::languages::yaml;
use crate::source::{FileId, ReadError, SourceFiles, Span, join};

use super::fields::KnownFields;
use super::kustomization::{Kustomization, is_remote};
use super::resource::{KustomizeResource, Resources};
use super::schema::MergeSchema;
use super::value::ObjectValue;
use super::variables::KustomizeVariable;
use super::{
    BuildBudget, KustomizeError, TroubleCause, generate, inflate, names, plugins, references, transform, variables,
};

/// The limit on nested bases.
const DEEPEST: usize = 32;
/// The limit on objects, above any real kustomization.
const MOST_OBJECTS: usize = 20_000;

/// The cost of reading a base, and of merging its field specifications, which are compared with all known ones.
const STEPS_OF_A_BASE: usize = 2_000;
const STEPS_OF_FIELDS: usize = 5_000;

/// The objects of one kustomization and its bases.
#[derive(Debug)]
pub(super) struct AccumulatedTarget {
    pub resources: Resources,
    pub fields: Arc<KnownFields>,
    pub variables: Vec<KustomizeVariable>,
}

impl AccumulatedTarget {
    fn new() -> AccumulatedTarget {
        AccumulatedTarget { resources: Resources::default(), fields: KnownFields::defaults(), variables: Vec::new() }
    }
}

/// The documents of one file, each with its weight.
type WeighedDocuments = Vec<(usize, ObjectValue)>;

/// The documents of files that several kustomizations use, and the kustomizations of directories.
#[derive(Default)]
pub(crate) struct SharedDocuments {
    known: Mutex<KnownDocuments>,
}

#[derive(Default)]
struct KnownDocuments {
    by_file: HashMap<FileId, Arc<WeighedDocuments>>,
    /// `None` for a directory without a kustomization.
    by_directory: HashMap<String, Option<Arc<Kustomization>>>,
    weight: usize,
}

impl KnownDocuments {
    /// The limit on the values of all documents, for memory.
    const MOST: usize = 400_000;

    /// Returns whether values of this weight fit, and counts them if they do.
    fn makes_room(&mut self, weight: usize) -> bool {
        let fits = self.weight + weight <= Self::MOST;
        self.weight += if fits { weight } else { 0 };
        fits
    }
}

impl SharedDocuments {
    fn known(&self) -> MutexGuard<'_, KnownDocuments> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, file: FileId) -> Option<Arc<WeighedDocuments>> {
        self.known().by_file.get(&file).cloned()
    }

    /// Returns the kustomization of a path; `None` if it has none, or is a file.
    fn kustomization(&self, sources: &SourceFiles, path: &str) -> Option<Result<Arc<Kustomization>, KustomizeError>> {
        // A file that was read cannot be a directory.
        if sources.has(path) && sources.open(path).is_ok() {
            return None;
        }
        let known = self.known().by_directory.get(path).cloned();
        if let Some(known) = known {
            return known.map(Ok);
        }
        let read = match Kustomization::read(sources, path) {
            Some(Err(trouble)) => return Some(Err(trouble)),
            read => read.and_then(Result::ok).map(Arc::new),
        };
        let weight = read.as_ref().map_or(1, |it| it.weight);
        let mut known = self.known();
        if !known.by_directory.contains_key(path) && known.makes_room(weight) {
            known.by_directory.insert(path.to_owned(), read.clone());
        }
        read.map(Ok)
    }

    fn keep(&self, file: FileId, documents: &WeighedDocuments) {
        let weight: usize = documents.iter().map(|(weight, _)| weight).sum();
        let mut known = self.known();
        if !known.by_file.contains_key(&file) && known.makes_room(weight) {
            known.by_file.insert(file, Arc::new(documents.clone()));
        }
    }
}

pub(super) struct Maker<'m> {
    pub sources: &'m SourceFiles,
    shared: &'m SharedDocuments,
    pub budget: &'m BuildBudget,
    pub schema: Arc<MergeSchema>,
    has_own_schema: bool,
    /// Files whose content is in the objects.
    pub files: BTreeSet<String>,
    /// Files that are only used in part, so that they still count by themselves.
    pub apart: BTreeSet<String>,
    pub parts: BTreeSet<String>,
    /// Directories of the rendered charts.
    pub charts: BTreeSet<String>,
    pub cluster: &'m Cluster,
    /// Whether the build continues without missing parts.
    pub is_lenient: bool,
    /// Parts that the build continued without.
    pub missing: Vec<KustomizeError>,
    /// Directories that are being built.
    open: Vec<String>,
}

impl<'m> Maker<'m> {
    pub(super) fn new(
        sources: &'m SourceFiles,
        shared: &'m SharedDocuments,
        budget: &'m BuildBudget,
        cluster: &'m Cluster,
        is_lenient: bool,
    ) -> Self {
        Maker {
            sources,
            shared,
            budget,
            schema: MergeSchema::built_in(),
            has_own_schema: false,
            files: BTreeSet::new(),
            apart: BTreeSet::new(),
            parts: BTreeSet::new(),
            charts: BTreeSet::new(),
            cluster,
            is_lenient,
            missing: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Returns the finished objects, and the requested order.
    pub(super) fn make(&mut self, directory: &str) -> Result<(Resources, Option<ObjectValue>), KustomizeError> {
        let kustomization = match self.shared.kustomization(self.sources, directory) {
            Some(read) => read?,
            None => return Err(KustomizeError::beyond(format!("`{directory}` contains no kustomization"))),
        };
        let options = kustomization.get("sortOptions").cloned();
        let mut gathered = self.gather(&kustomization, AccumulatedTarget::new())?;
        names::add_hashes(&mut gathered.resources);
        references::follow(&mut gathered, self.budget)?;
        let resolved = variables::resolve(&mut gathered, self.budget);
        self.tolerate(resolved)?;
        const LOCAL: &str = "config.kubernetes.io/local-config";
        let is_local = |resource: &KustomizeResource| {
            let said = resource.value.at_path(&["metadata", "annotations", LOCAL]);
            said.is_some_and(|value| value.raw() != "false")
        };
        gathered.resources.all.retain(|resource| !is_local(resource));
        Ok((gathered.resources, options))
    }

    fn gather(
        &mut self,
        kustomization: &Kustomization,
        start: AccumulatedTarget,
    ) -> Result<AccumulatedTarget, KustomizeError> {
        let directory = &kustomization.directory;
        if self.open.len() >= DEEPEST {
            return Err(KustomizeError::beyond(format!("bases are nested more than {DEEPEST} levels deep")));
        }
        self.open.push(directory.clone());
        self.parts.insert(directory.clone());
        self.files.insert(kustomization.path.clone());
        let gathered = self.gather_inside(kustomization, start);
        self.open.pop();
        gathered
            .map_err(|trouble| KustomizeError { directory: trouble.directory.or(Some(directory.clone())), ..trouble })
    }

    fn gather_inside(
        &mut self,
        kustomization: &Kustomization,
        mut gathered: AccumulatedTarget,
    ) -> Result<AccumulatedTarget, KustomizeError> {
        self.describe(kustomization)?;
        for entry in kustomization.list("resources").iter().chain(&kustomization.list("bases")) {
            let added = self.resource(&kustomization.directory, entry, &mut gathered);
            self.tolerate(added)?;
        }
        for entry in kustomization.list("configurations") {
            let configured = self.configure(&kustomization.directory, &entry, &mut gathered);
            self.tolerate(configured)?;
        }
        let mut made = generate::all(self, kustomization)?;
        made.extend(inflate::all(self, kustomization)?);
        match plugins::generate(self, kustomization) {
            Ok(more) => made.extend(more),
            Err(trouble) => self.tolerate(Err(trouble))?,
        }
        for made in made {
            let absorbed = generate::absorb(&mut gathered.resources, made);
            self.tolerate(absorbed)?;
        }
        for entry in kustomization.list("components") {
            match self.component(&kustomization.directory, &entry) {
                Ok(component) => gathered = self.gather(&component, gathered).map_err(|it| it.or_at(entry.at))?,
                Err(trouble) => self.tolerate(Err(trouble))?,
            }
        }
        transform::all(self, kustomization, &mut gathered)?;
        let marked = variables::gather(kustomization, &mut gathered);
        self.tolerate(marked)?;
        if gathered.resources.all.len() > MOST_OBJECTS {
            return Err(KustomizeError::beyond(format!("the kustomization creates more than {MOST_OBJECTS} objects")));
        }
        Ok(gathered)
    }

    /// Records missing parts and their consequences instead of an error, if the build is lenient.
    pub(super) fn tolerate(&mut self, done: Result<(), KustomizeError>) -> Result<(), KustomizeError> {
        let Err(trouble) = done else { return Ok(()) };
        let is_tolerable = match trouble.cause {
            TroubleCause::NotAtHand | TroubleCause::Absent => self.is_lenient,
            TroubleCause::Refused => self.is_lenient && !self.missing.is_empty(),
            TroubleCause::Beyond => false,
        };
        if !is_tolerable {
            return Err(trouble);
        }
        let is_same = |known: &KustomizeError| known.at == trouble.at && known.message == trouble.message;
        if !self.missing.iter().any(is_same) {
            self.budget.spend(self.missing.len() + 1)?;
            let directory = trouble.directory.or_else(|| self.open.last().cloned());
            self.missing.push(KustomizeError { directory, ..trouble });
        }
        Ok(())
    }

    /// Applies an entry of a kustomization to objects. If a missing part makes it fail, the objects stay unchanged.
    pub(super) fn attempt(
        &mut self,
        directory: &str,
        entry: &ObjectValue,
        resources: &mut Resources,
        change: impl FnOnce(&mut Self, &mut Resources) -> Result<(), KustomizeError>,
    ) -> Result<(), KustomizeError> {
        let before = match self.missing.is_empty() {
            true => None,
            false => {
                self.budget.spend(resources.all.iter().map(|it| it.value.weight()).sum())?;
                Some(resources.clone())
            }
        };
        let Err(trouble) = change(self, resources) else { return Ok(()) };
        self.tolerate(Err(trouble))?;
        if let Some(before) = before {
            *resources = before;
        }
        let named = entry.get("path").unwrap_or(entry).raw();
        if let Some(path) = join(directory, named)
            && self.files.remove(&path)
        {
            self.apart.insert(path);
        }
        Ok(())
    }

    fn configure(
        &mut self,
        directory: &str,
        entry: &ObjectValue,
        gathered: &mut AccumulatedTarget,
    ) -> Result<(), KustomizeError> {
        for document in self.documents(directory, entry)? {
            Arc::make_mut(&mut gathered.fields).configure(&document)?;
        }
        Ok(())
    }

    /// Uses the schema of a kustomization's `openapi`; the first one counts.
    fn describe(&mut self, kustomization: &Kustomization) -> Result<(), KustomizeError> {
        let Some(path) = kustomization.get("openapi").and_then(|it| it.get("path")).cloned() else { return Ok(()) };
        let documents = match self.documents(&kustomization.directory, &path) {
            Ok(documents) => documents,
            Err(trouble) => return self.tolerate(Err(trouble)),
        };
        if let Some(root) = documents.first().filter(|_| !self.has_own_schema) {
            self.schema = Arc::new(MergeSchema::described(root));
            self.has_own_schema = true;
        }
        Ok(())
    }

    /// Returns the objects of a file or of another kustomization.
    pub(super) fn objects_at(
        &mut self,
        directory: &str,
        entry: &ObjectValue,
    ) -> Result<Vec<KustomizeResource>, KustomizeError> {
        let mut gathered = AccumulatedTarget::new();
        self.resource(directory, entry, &mut gathered)?;
        Ok(gathered.resources.all)
    }

    /// Adds an entry of `resources:`, which is a file or a directory.
    fn resource(
        &mut self,
        directory: &str,
        entry: &ObjectValue,
        gathered: &mut AccumulatedTarget,
    ) -> Result<(), KustomizeError> {
        let text = entry.raw();
        let path = join(directory, text).filter(|_| !text.starts_with('/'));
        if let Some(path) = path
            && let Some(base) = self.shared.kustomization(self.sources, &behind_links(self.sources, path))
        {
            let base = self.opened(base?, entry)?;
            if base.is_component {
                return Err(KustomizeError::refused("list a component under `components`, not here", entry.at));
            }
            self.budget.spend(STEPS_OF_A_BASE)?;
            let inner = self.gather(&base, AccumulatedTarget::new()).map_err(|trouble| trouble.or_at(entry.at))?;
            gathered.resources.append_all(inner.resources.all)?;
            if !Arc::ptr_eq(&gathered.fields, &inner.fields) {
                self.budget.spend(STEPS_OF_FIELDS)?;
                Arc::make_mut(&mut gathered.fields).merge(&inner.fields);
            }
            return variables::merge(&mut gathered.variables, inner.variables);
        }
        let documents = self.documents(directory, entry)?;
        gathered.resources.append_all(objects(documents, entry.at)?)
    }

    fn component(&self, directory: &str, entry: &ObjectValue) -> Result<Arc<Kustomization>, KustomizeError> {
        let text = entry.raw();
        let found = join(directory, text);
        let found = found.map(|path| behind_links(self.sources, path));
        let found = found.and_then(|path| self.shared.kustomization(self.sources, &path));
        match found {
            Some(component) => {
                let component = self.opened(component?, entry)?;
                if !component.is_component {
                    return Err(KustomizeError::refused("this is not a component", entry.at));
                }
                Ok(component)
            }
            None if is_remote(text) => {
                Err(KustomizeError::not_at_hand(format!("gpulint does not download `{text}`"), entry.at))
            }
            None => Err(KustomizeError::absent(format!("`{text}` contains no component"), entry.at)),
        }
    }

    fn opened(&self, base: Arc<Kustomization>, entry: &ObjectValue) -> Result<Arc<Kustomization>, KustomizeError> {
        match self.open.contains(&base.directory) {
            true => Err(KustomizeError::refused("the kustomization includes itself", entry.at)),
            false => Ok(base),
        }
    }

    /// Returns the documents of a file that a kustomization names.
    pub(super) fn documents(
        &mut self,
        directory: &str,
        entry: &ObjectValue,
    ) -> Result<Vec<ObjectValue>, KustomizeError> {
        let path = self.path(directory, entry.raw(), entry.at)?;
        let file = self.sources.open(&path).map_err(|error| unreadable(entry.raw(), &error, entry.at))?;
        self.files.insert(path);
        if let Some(known) = self.shared.get(file) {
            let spent = known.iter().try_for_each(|(weight, _)| self.budget.spend(*weight));
            return spent.map(|()| known.iter().map(|(_, document)| document.clone()).collect());
        }
        let documents = self.weighed(file, &self.sources.text(file), entry.at)?;
        self.shared.keep(file, &documents);
        Ok(documents.into_iter().map(|(_, document)| document).collect())
    }

    /// Parses the documents of a text.
    pub(super) fn read(&self, file: FileId, text: &str, at: Span) -> Result<Vec<ObjectValue>, KustomizeError> {
        let documents = self.weighed(file, text, at)?;
        Ok(documents.into_iter().map(|(_, document)| document).collect())
    }

    /// Parses documents and adds the weight of each.
    fn weighed(&self, file: FileId, text: &str, at: Span) -> Result<WeighedDocuments, KustomizeError> {
        let stream = yaml::read_within(file, text, self.sources.limits());
        if let Some(broken) = stream.diagnostics.iter().find(|it| it.unreadable) {
            return Err(KustomizeError::refused(broken.message.clone(), broken.span.unwrap_or(at)));
        }
        let mut documents = Vec::with_capacity(stream.documents.len());
        for document in &stream.documents {
            let weight = document.root.weight as usize;
            self.budget.spend(weight)?;
            documents.push((weight, ObjectValue::from_node(&document.root, self.sources)));
        }
        Ok(documents)
    }

    /// Returns the bytes of a file that a kustomization names.
    pub(super) fn bytes(&mut self, directory: &str, name: &str, at: Span) -> Result<Vec<u8>, KustomizeError> {
        let path = self.path(directory, name, at)?;
        let bytes = self.sources.tree().read(&path).map_err(|error| unreadable(name, &error, at))?;
        self.budget.spend(bytes.len() / 8)?;
        self.apart.insert(path);
        Ok(bytes)
    }

    fn path(&self, directory: &str, name: &str, at: Span) -> Result<String, KustomizeError> {
        let outside = || KustomizeError::not_at_hand(format!("`{name}` is outside the checkout"), at);
        if name.starts_with('/') {
            return Err(outside());
        }
        let path = join(directory, name);
        let missing = |path: &String| matches!(self.sources.tree().read(path), Err(ReadError::Missing));
        if is_remote(name) && path.as_ref().is_none_or(missing) {
            return Err(KustomizeError::not_at_hand(format!("gpulint does not download `{name}`"), at));
        }
        path.ok_or_else(outside)
    }
}

/// Resolves links: paths in a kustomization behind a link start at the link's target.
fn behind_links(sources: &SourceFiles, path: String) -> String {
    sources.real_path(&path).unwrap_or(path)
}

fn unreadable(name: &str, error: &ReadError, at: Span) -> KustomizeError {
    match error {
        ReadError::Missing => KustomizeError::absent(format!("`{name}`: {error}"), at),
        _ => KustomizeError::not_at_hand(format!("`{name}`: {error}"), at),
    }
}

/// Converts documents to objects: lists of objects are split, and empty documents are skipped.
pub(super) fn objects(documents: Vec<ObjectValue>, at: Span) -> Result<Vec<KustomizeResource>, KustomizeError> {
    let mut waiting: std::collections::VecDeque<ObjectValue> = documents.into();
    let mut objects = Vec::new();
    while let Some(document) = waiting.pop_front() {
        if document.is_null() || (document.is_map() && document.fields().is_empty()) {
            continue;
        }
        let at = document.fields().first().map_or(at, |field| field.key_at);
        let Some(kind) = document.text_at("kind").map(str::to_owned) else {
            return Err(KustomizeError::refused("this object has no kind", at));
        };
        let is_list = kind.ends_with("List");
        if !is_list && document.at_path(&["metadata", "name"]).and_then(ObjectValue::text).is_none_or(str::is_empty) {
            return Err(KustomizeError::refused("this object has no name", at));
        }
        if let Some(empty) = null_in_list(&document) {
            return Err(KustomizeError::refused("this list has an empty entry", empty));
        }
        match document.get("items").filter(|_| is_list) {
            Some(items) => waiting.extend(items.items().to_vec()),
            None => objects.push(KustomizeResource::new(document)),
        }
    }
    Ok(objects)
}

fn null_in_list(value: &ObjectValue) -> Option<Span> {
    let in_list = value.items().iter().find(|item| item.is_null()).map(|item| item.at);
    in_list
        .or_else(|| value.items().iter().find_map(null_in_list))
        .or_else(|| value.fields().iter().find_map(|field| null_in_list(&field.value)))
}
