//! Compares the unevaluated entries of both states: each is new, unchanged, or about something that is no longer
//! evaluated.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use regex::Regex;

use super::deciding_lines::deciding_lines;
use super::state::{ComparedStates, TreeState};
use crate::analysis::Analysis;
use crate::decide::{self, Decided};
use crate::diagnostic::SkipKind;
use crate::front_ends::files;
use crate::inventory::{Inventory, Key, ResourceId, Unjudged, UnjudgedStatus};
use crate::pricing::{Delta, Side};
use crate::rules::{ExaminedBlock, Finding, Undetermined};
use crate::source::{ReadError, SourceFiles, join, parent, sha256, static_regex, to_hex};
use crate::terraform;

/// Sets for each unevaluated entry whether it is unchanged, and adds entries that no reader reports.
pub(super) fn classify_unevaluated(states: &mut ComparedStates) {
    let found = [unread_variables(states), forgotten(states), switched_off(states)];
    let unjudged = &mut states.after.inventory.unjudged;
    unjudged.extend(found.into_iter().flatten());
    let earlier: Vec<_> = states.before.inventory.unjudged.iter().map(|it| signature(states.base, it)).collect();
    stand(unjudged, earlier, |it| signature(states.head, it));
}

/// Sets the same for saved reports. They contain no files, so only the reasons are compared.
pub(crate) fn classify_unevaluated_saved(before: &Inventory, after: &mut Inventory) {
    let said = |it: &Unjudged| (it.path.clone(), it.reason.clone(), String::new());
    stand(&mut after.unjudged, before.unjudged.iter().map(said).collect(), said);
}

/// The path, the reason, and a digest of the content of an unevaluated entry.
type Said = (String, String, String);

fn stand(all: &mut [Unjudged], earlier: Vec<Said>, said: impl Fn(&Unjudged) -> Said) {
    let mut open: HashMap<Said, usize> = HashMap::new();
    for it in earlier {
        *open.entry(it).or_default() += 1;
    }
    for it in all {
        it.standing = match open.get_mut(&said(it)).filter(|left| **left > 0) {
            Some(left) => {
                *left -= 1;
                UnjudgedStatus::AsBefore
            }
            None => UnjudgedStatus::Open,
        };
    }
}

/// Marks lost resources that an unevaluated entry may contain. They may still exist, so their cost is not saved.
pub(super) fn lose(delta: &mut Delta, before: Side, after: Side) {
    let unjudged = &after.inventory.unjudged;
    let open: Vec<&Unjudged> = unjudged.iter().filter(|it| it.standing != UnjudgedStatus::AsBefore).collect();
    delta.lose(&before, &after, |change| {
        let Some(earlier) = change.before.filter(|_| change.after.is_none()) else { return false };
        let gone = Gone::of(before, earlier);
        // An unread file may contain anything.
        open.iter().any(|it| it.span.is_none() && it.address.is_none() || gone.may_be_in(it, after.sources))
    });
}

/// Marks new resources in parts that the earlier state did not evaluate, because they may have existed before.
pub(super) fn gain(delta: &mut Delta, before: Side, after: Side) {
    let open = &before.inventory.unjudged;
    if open.is_empty() {
        return;
    }
    delta.gain(&before, &after, |change| {
        let Some(later) = change.after.filter(|_| change.before.is_none()) else { return false };
        let (resource, path) = (after.resource(later), after.path_of(later));
        open.iter().any(|it| it.may_hide(&resource.address, &path))
    });
}

/// A resource that is completely unknown after the change.
struct Gone {
    address: String,
    path: String,
    machine: Option<String>,
}

impl Gone {
    fn of(side: Side, id: ResourceId) -> Gone {
        let resource = side.resource(id);
        Gone {
            address: resource.address.clone(),
            path: side.path_of(id),
            machine: resource.text(Key::Machine).map(str::to_owned),
        }
    }

    /// Returns true if an unevaluated entry is in the place of the resource, or names its machine.
    fn may_be_in(&self, it: &Unjudged, sources: &SourceFiles) -> bool {
        let names = |machine: &str| {
            it.known.contains(machine) || it.span.is_some_and(|span| sources.snippet(span).contains(machine))
        };
        it.may_hide(&self.address, &self.path) || self.machine.as_deref().is_some_and(names)
    }
}

/// Marks entries that hide a lost resource as no longer evaluated.
pub(crate) fn mark(unjudged: &mut [Unjudged], change: &Delta, before: Side, after: Side) {
    let lost = change.changes.iter().filter(|it| it.is_lost());
    let gone = lost.filter_map(|it| Some(it.after.map_or(Gone::of(before, it.before?), |id| Gone::of(after, id))));
    let gone: Vec<Gone> = gone.collect();
    for it in unjudged.iter_mut().filter(|it| it.standing != UnjudgedStatus::AsBefore) {
        if gone.iter().any(|gone| gone.may_be_in(it, after.sources)) {
            it.standing = UnjudgedStatus::Lost;
        }
    }
}

/// The subject of a skipped check: a resource by its earlier identity, an object by file and address, or the whole
/// tree.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum UndecidedSubject {
    Resource(ResourceId),
    Piece(String, Arc<str>),
    Everything,
}

impl UndecidedSubject {
    /// Returns the subject of a check, skipped or not, in its own state.
    fn of(resource: Option<ResourceId>, piece: Option<&ExaminedBlock>, sources: &SourceFiles) -> UndecidedSubject {
        resource.map_or_else(|| Self::of_piece(piece, sources), UndecidedSubject::Resource)
    }

    fn of_piece(piece: Option<&ExaminedBlock>, sources: &SourceFiles) -> UndecidedSubject {
        piece.map_or(UndecidedSubject::Everything, |piece| {
            UndecidedSubject::Piece(sources.path_of(piece.span), piece.address.clone())
        })
    }

    /// Returns the subject in the earlier state.
    pub(super) fn of_finding(finding: &Finding, sources: &SourceFiles) -> UndecidedSubject {
        Self::of(finding.resource, finding.piece.as_ref(), sources)
    }

    /// Returns the subject in the later state; none for a resource that did not exist before.
    pub(super) fn now(
        it: &Undetermined,
        selves: &HashMap<ResourceId, ResourceId>,
        sources: &SourceFiles,
    ) -> Option<UndecidedSubject> {
        match it.resource {
            Some(id) => selves.get(&id).copied().map(UndecidedSubject::Resource),
            None => Some(Self::of_piece(it.piece.as_ref(), sources)),
        }
    }
}

/// Returns the rules that had a finding before and cannot be evaluated now.
pub(super) fn undecided<'a>(
    found: impl Iterator<Item = &'a Finding>,
    selves: &HashMap<ResourceId, ResourceId>,
    (base, before): (&SourceFiles, &Analysis),
    (head, after, later): (&SourceFiles, &Analysis, &[Decided]),
) -> Vec<Unjudged> {
    // A finding of a skipped check only demands a known value, and does not show the value before the change.
    let skipped: HashSet<(&str, UndecidedSubject)> = before
        .undetermined
        .iter()
        .map(|it| (it.rule.as_str(), UndecidedSubject::of(it.resource, it.piece.as_ref(), base)))
        .collect();
    // A rule can check several totals, and some of them may still be known.
    let is_still_found = |it: &Finding| {
        let same = |other: &Decided| {
            other.finding.rule == it.rule
                && other.finding.total.as_ref().zip(it.total.as_ref()).is_some_and(|(a, b)| a.name == b.name)
        };
        it.total.is_some() && later.iter().any(same)
    };
    let found: HashSet<(&str, UndecidedSubject)> = found
        .filter(|it| !is_still_found(it))
        .map(|it| (it.total.is_some(), (it.rule.as_str(), UndecidedSubject::of_finding(it, base))))
        .filter(|(is_of_total, check)| *is_of_total || !skipped.contains(check))
        .map(|(_, check)| check)
        .collect();
    let tell = |it: &Undetermined| {
        let about = UndecidedSubject::now(it, selves, head)?;
        if !found.contains(&(it.rule.as_str(), about)) {
            return None;
        }
        let reason =
            format!("{} reported a problem here before the change, and cannot be evaluated now: {}", it.rule, it.cause);
        let lost = Unjudged::new(SkipKind::Rule, head.path_of(it.span), reason).at(it.span);
        let resource = it.resource.and_then(|id| after.inventory.resources.get(id.0)).map(|it| it.address.as_str());
        let address = resource.or(it.piece.as_ref().map(|piece| &*piece.address));
        Some(match address {
            Some(address) => lost.about(address),
            None => lost,
        })
    };
    after.undetermined.iter().filter_map(tell).collect()
}

/// Returns the roots that were deployed directly before, still contain accelerators, and are now only called as
/// modules with count zero.
fn switched_off(states: &ComparedStates) -> Vec<Unjudged> {
    let still: BTreeSet<&str> = states.after.roots.iter().map(|root| root.directory.as_str()).collect();
    let mut gone: BTreeSet<&str> = states.before.roots.iter().map(|root| root.directory.as_str()).collect();
    gone.retain(|directory| !still.contains(directory));
    if gone.is_empty() {
        return Vec::new();
    }
    let head = states.head;
    let made: BTreeSet<String> =
        states.after.inventory.resources.iter().map(|it| head.sources.path_of(it.span)).collect();
    let files = head
        .files
        .iter()
        .filter(|path| files::is_terraform(path) && gone.contains(parent(path)) && !made.contains(path.as_str()));
    let speaks = |path: &&String| head.stored_text(path).is_ok_and(|text| head.names_accelerators(&text));
    let tell = |path: &String| {
        let reason = "before the change this was deployed directly; now no deployment creates it";
        Unjudged::new(SkipKind::Change, path.clone(), reason)
            .with_cure("if it is no longer deployed, delete it or add it to `exclude` in gpulint.toml")
    };
    files.filter(speaks).map(tell).collect()
}

static_regex!(static BLOCK: Regex = r"(?s)removed\s*\{[^{}]*?from\s*=\s*([\w.-]+).*?destroy\s*=\s*false");

/// Returns resources that `removed` with `destroy = false` takes out of the Terraform state: they continue to run and
/// cost the same. Resources that were evaluated and have no accelerators cost nothing here.
fn forgotten(ComparedStates { base, before, head, .. }: &ComparedStates) -> Vec<Unjudged> {
    let (resources, gaps) = (before.inventory.resources.iter(), &before.inventory.unjudged);
    let known = resources.map(|it| it.address.as_str()).chain(gaps.iter().filter_map(|it| it.address.as_deref()));
    // The name of a variant follows the address.
    let known: BTreeSet<String> =
        known.map(|it| terraform::without_keys(it.split(" (").next().unwrap_or_default())).collect();
    // A file that was not read may contain it. In a module, the address lacks the call.
    let is_beside = |it: &Unjudged, path: &str| files::is_terraform(&it.path) && parent(&it.path) == parent(path);
    let has_gap = |path: &str| gaps.iter().any(|it| it.address.is_none() && is_beside(it, path));
    let may_cost = |path: &str, from: &str| {
        let within = format!(".{from}");
        from.starts_with("module.") || has_gap(path) || known.iter().any(|it| it == from || it.ends_with(&within))
    };
    let files = head.files.iter().filter(|path| files::is_terraform(path) && !base.same.contains(*path));
    let tell = |path: &String| {
        let text = head.stored_text(path).ok()?;
        let found = BLOCK.captures_iter(&text).filter_map(|it| Some(it.get(1)?.as_str().to_owned()));
        let found = found.filter(|from| may_cost(path, from));
        let reason = "Terraform removes it from the state without destroying it, so it continues to run";
        let tell =
            |from: String| Unjudged::new(SkipKind::Change, path.clone(), format!("{from}: {reason}")).about(&from);
        Some(found.map(tell).collect::<Vec<_>>())
    };
    files.filter_map(tell).flatten().collect()
}

fn signature(state: &TreeState, it: &Unjudged) -> Said {
    let sources = state.sources;
    let text = match it.span {
        // `known` has the arguments that can affect a machine.
        Some(_) if it.kind == SkipKind::MissingModule && !it.known.is_empty() => String::new(),
        // The number and the machine of the resource are known.
        Some(span) if it.kind == SkipKind::Price => deciding_lines(state, &sources.snippet(span)),
        Some(span) => sources.snippet(span),
        None if it.kind == SkipKind::Language && !files::is_script_alone(&it.path) => match state.stored_text(&it.path)
        {
            Ok(text) => deciding_lines(state, &text),
            Err(_) => digest_of_file(sources, &it.path),
        },
        None if it.kind == SkipKind::UncalledModule => lines_about_accelerators(state, &it.path),
        None => digest_of_file(sources, &it.path),
    };
    (it.path.clone(), it.reason.clone(), decide::digest(&[text, it.known.clone()]))
}

/// Returns the relevant part of a module without a caller: its lines about accelerators, and numbers.
fn lines_about_accelerators(state: &TreeState, directory: &str) -> String {
    let entries = state.sources.tree().list(directory).into_iter();
    let files = entries.filter(|it| !it.is_directory && files::is_terraform(&it.name));
    let texts = files.filter_map(|it| state.stored_text(&join(directory, &it.name)?).ok());
    let mut lines: Vec<String> = Vec::new();
    for text in texts {
        let speaking = text.lines().filter(|line| state.names_accelerators(line));
        lines.extend(speaking.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")));
    }
    lines.sort();
    decide::digest(&lines)
}

/// Returns a digest of a file's bytes; for a directory, of its files.
fn digest_of_file(sources: &SourceFiles, path: &str) -> String {
    match sources.tree().read(path) {
        Ok(bytes) => to_hex(&sha256(&bytes)),
        // The file is too large to read, so only its size can be compared.
        Err(ReadError::TooLarge { bytes, .. }) => format!("{bytes} bytes"),
        Err(ReadError::Pointer(named)) => named,
        Err(_) => {
            let files = sources.tree().list(path).into_iter().filter(|it| !it.is_directory);
            let path = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
            let texts = files.filter_map(|it| sources.tree().read(&path(&it.name)).ok());
            texts.map(|bytes| to_hex(&sha256(&bytes))).collect()
        }
    }
}

/// Returns the content that a finding without a resource is about: the whole file if it is unreadable, otherwise the
/// place of the finding.
pub(crate) fn text_of(sources: &SourceFiles, finding: &Finding) -> String {
    let span = sources.origin(finding.span);
    if finding.rule == "unreadable" {
        return digest_of_file(sources, &sources.path(span.file));
    }
    decide::digest(&[sources.snippet(span)])
}

/// Returns the changed variable files that no root reads, because their values may affect anything.
fn unread_variables(states: &ComparedStates) -> Vec<Unjudged> {
    let (base, head) = (states.base, states.head);
    let is_variables = |path: &&String| path.ends_with(".tfvars") || path.ends_with(".tfvars.json");
    let mut files: BTreeSet<&String> = head.files.iter().filter(is_variables).collect();
    files.extend(base.files.iter().filter(is_variables));
    let has_accelerators = |it: &Analysis| !it.inventory.resources.is_empty() || !it.inventory.unjudged.is_empty();
    let matters = has_accelerators(states.before) || has_accelerators(states.after);
    let unread = files.into_iter().filter(|path| {
        if head.sources.has(path) || base.sources.has(path) {
            return false;
        }
        let (old, new) = (base.sources.tree().read(path), head.sources.tree().read(path));
        old != new && (matters || new.is_ok_and(|text| head.names_accelerators(&String::from_utf8_lossy(&text))))
    });
    let told = unread.map(|path| {
        let reason = "the file changed, and no root reads it: Terraform loads only terraform.tfvars and *.auto.tfvars automatically";
        let cure = format!("if a deployment uses the file, pass it: --var-file {}", (head.show)(path));
        Unjudged::new(SkipKind::Change, path.clone(), reason).with_cure(cure)
    });
    told.collect()
}
