//! Updates references when objects are renamed.

use std::collections::{BTreeSet, HashMap};

use super::fields::{FieldSpec, Make};
use super::id::{Gvk, Id};
use super::resource::KustomizeResource;
use super::target::AccumulatedTarget;
use super::transform::put;
use super::value::{ObjectData, ObjectValue};
use super::{BuildBudget, KustomizeError};

/// An object that others may refer to.
struct Candidate {
    id: Id,
    original: Id,
    earlier: Vec<Id>,
    prefixes: Vec<String>,
    suffixes: Vec<String>,
}

impl Candidate {
    fn of(resource: &KustomizeResource) -> Self {
        Candidate {
            id: resource.id(),
            original: resource.original_id(),
            earlier: resource.earlier_ids().collect(),
            prefixes: resource.prefixes.clone(),
            suffixes: resource.suffixes.clone(),
        }
    }
}

/// Updates every field that refers to an object by a former name.
pub(super) fn follow(gathered: &mut AccumulatedTarget, budget: &BuildBudget) -> Result<(), KustomizeError> {
    let candidates: Vec<Candidate> = gathered.resources.all.iter().map(Candidate::of).collect();
    let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
    for (place, candidate) in candidates.iter().enumerate() {
        let names: BTreeSet<&str> = candidate.earlier.iter().map(|id| id.name.as_str()).collect();
        for name in names {
            by_name.entry(name).or_default().push(place);
        }
    }
    if by_name.is_empty() {
        return Ok(());
    }
    let fields = gathered.fields.clone();
    for (resource, own) in gathered.resources.all.iter_mut().zip(&candidates) {
        let spaces = spaces_of_subjects(&resource.value);
        let role = role_of(&resource.value);
        let present = own.id.gvk.clone();
        for reference in &fields.references {
            for spec in reference.from.iter().filter(|spec| own.original.gvk.is_selected_by(&spec.gvk)) {
                budget.spend(4)?;
                let referrer = Referrer {
                    own,
                    to: &reference.to,
                    role: role.as_ref().filter(|_| spec.path.ends_with("roleRef/name")),
                    spaces: &spaces,
                    candidates: &candidates,
                    by_name: &by_name,
                    budget,
                };
                // The original kind of the object determines the field.
                let spec = FieldSpec { gvk: present.clone(), path: spec.path.clone(), create: false };
                spec.visit(&mut resource.value, Make::Nothing, &mut |value| referrer.set(value))?;
            }
        }
    }
    Ok(())
}

struct Referrer<'r> {
    own: &'r Candidate,
    to: &'r Gvk,
    /// The kind of role that a binding refers to.
    role: Option<&'r Gvk>,
    spaces: &'r BTreeSet<String>,
    candidates: &'r [Candidate],
    by_name: &'r HashMap<&'r str, Vec<usize>>,
    budget: &'r BuildBudget,
}

impl Referrer<'_> {
    fn set(&self, value: &mut ObjectValue) -> Result<(), KustomizeError> {
        if value.is_null() {
            return Ok(());
        }
        match &mut value.data {
            ObjectData::List(items) => items.iter_mut().try_for_each(|item| match item.is_list() {
                true => Err(KustomizeError::refused("a name reference cannot be in a list of lists", item.at)),
                false => self.set(item),
            }),
            ObjectData::Map(_) => self.set_in_map(value),
            ObjectData::Scalar { .. } => {
                let found = self.select(value.raw(), None, value)?;
                if let Some(found) = found.filter(|found| found.id.name != value.raw()) {
                    put(value, found.id.name.clone(), value.at);
                }
                Ok(())
            }
        }
    }

    fn set_in_map(&self, value: &mut ObjectValue) -> Result<(), KustomizeError> {
        let Some(name) = value.get("name").cloned() else {
            return Err(KustomizeError::refused("this reference has no name", value.at));
        };
        let namespace = value.get("namespace").map(|it| it.raw().to_owned());
        let Some(found) = self.select(name.raw(), namespace.as_deref(), value)? else { return Ok(()) };
        if found.id.name == name.raw() && found.id.namespace.is_empty() {
            return Ok(());
        }
        value.set("name", ObjectValue::string(found.id.name.as_str(), name.at));
        if !found.id.namespace.is_empty() {
            let at = value.get("namespace").map_or(name.at, |it| it.at);
            value.set("namespace", ObjectValue::string(found.id.namespace.as_str(), at));
        }
        Ok(())
    }

    fn select(
        &self,
        name: &str,
        namespace: Option<&str>,
        place: &ObjectValue,
    ) -> Result<Option<&Candidate>, KustomizeError> {
        let Some(known) = self.by_name.get(name) else { return Ok(None) };
        self.budget.spend(known.len())?;
        let mut found: Vec<&Candidate> = known
            .iter()
            .filter_map(|place| self.candidates.get(*place))
            .filter(|it| self.may_name(it))
            .filter(|it| it.earlier.iter().any(|id| id.gvk.is_selected_by(self.to)))
            .filter(|it| self.role.is_none_or(|role| it.earlier.iter().any(|id| id.gvk.is_selected_by(role))))
            .filter(|it| self.is_near(it))
            .collect();
        if let Some(namespace) = namespace {
            let first = |it: &&Candidate| it.original.effective_namespace() == namespace;
            let is_known = self.candidates.iter().any(|it| first(&it));
            found.retain(|it| if is_known { first(it) } else { it.id.effective_namespace() == namespace });
        }
        if found.len() > 1 {
            found.retain(|it| self.shares_affixes(it, true));
        }
        if found.len() > 1 {
            found.retain(|it| self.shares_affixes(it, false));
        }
        let Some((first, rest)) = found.split_first() else { return Ok(None) };
        let same =
            |it: &&Candidate| it.id.name == first.id.name && (!place.is_map() || it.id.namespace == first.id.namespace);
        match rest.iter().all(same) {
            true => Ok(Some(first)),
            false => Err(KustomizeError::refused(format!("`{name}` matches {} objects", found.len()), place.at)),
        }
    }

    /// Returns true if an object can refer to another one: in its namespace or in none. Role bindings can also refer
    /// to the namespaces of their accounts.
    fn may_name(&self, other: &Candidate) -> bool {
        let own = &self.own.id;
        own.gvk.is_cluster_scoped()
            || other.id.gvk.is_cluster_scoped()
            || other.id.same_namespace(own)
            || self.spaces.contains(&other.id.namespace)
    }

    fn is_near(&self, other: &Candidate) -> bool {
        let own = &self.own.id;
        own.gvk.is_cluster_scoped()
            || other.id.gvk.is_cluster_scoped()
            || other.id.gvk.kind == "ServiceAccount"
            || other.id.same_namespace(own)
    }

    fn shares_affixes(&self, other: &Candidate, lenient: bool) -> bool {
        let same = |a: &[String], b: &[String]| (lenient && (a.is_empty() || b.is_empty())) || same_ending(a, b);
        same(&self.own.prefixes, &other.prefixes) && same(&self.own.suffixes, &other.suffixes)
    }
}

/// Returns true if one list is the end of the other; an empty list matches only an empty one.
fn same_ending(a: &[String], b: &[String]) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if short.is_empty() { long.is_empty() } else { long.ends_with(short) }
}

/// Returns the namespaces of the accounts in a role binding.
fn spaces_of_subjects(value: &ObjectValue) -> BTreeSet<String> {
    if value.text_at("kind") != Some("RoleBinding") {
        return BTreeSet::new();
    }
    let subjects = value.get("subjects").map(ObjectValue::items).unwrap_or_default().iter();
    let accounts = subjects.filter(|subject| subject.text_at("kind") == Some("ServiceAccount"));
    accounts.filter_map(|subject| subject.text_at("namespace")).map(str::to_owned).collect()
}

fn role_of(value: &ObjectValue) -> Option<Gvk> {
    let role = value.get("roleRef")?;
    let (group, kind) = (role.get("apiGroup")?.raw(), role.get("kind")?.raw());
    Some(Gvk { group: group.to_owned(), version: String::new(), kind: kind.to_owned() })
}
