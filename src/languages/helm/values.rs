//! Handles values of charts in layers: values of a parent for its subchart, global values, and values that a subchart
//! exports.

use std::sync::Arc;

use crate::languages::gotemplate::{GoKind, GoMap, GoValue, Heap, MapEntry, TemplateFailure, copied, fulfils};

use super::chart::{self, Dependency, MissingChart};

const GLOBAL: &str = "global";

/// A chart with its default values.
pub(super) struct ChartDefaults<'c> {
    pub(super) loaded: &'c chart::Chart,
    /// The name of the chart in its parent's dependencies.
    pub(super) name: String,
    pub(super) values: GoMap,
    pub(super) inside: Vec<ChartDefaults<'c>>,
    dependencies: Vec<(Dependency, String)>,
    has_list: bool,
    /// Required charts that are missing.
    pub(super) missing: Vec<MissingChart>,
}

type Done<T> = Result<T, TemplateFailure>;

fn empty(heap: &Heap) -> GoMap {
    heap.new_map(crate::languages::gotemplate::MapEntries::new())
}

fn copy(map: &GoMap, heap: &Heap) -> Done<GoMap> {
    match copied(&GoKind::Map(map.clone()).into(), heap, 0)?.kind {
        GoKind::Map(map) => Ok(map),
        _ => Ok(empty(heap)),
    }
}

impl<'c> ChartDefaults<'c> {
    /// Creates the tree of charts. `values` returns the default values of a chart.
    pub(super) fn new(
        loaded: &'c chart::Chart,
        values: &dyn Fn(&chart::Chart) -> Done<GoValue>,
        heap: &Heap,
    ) -> Done<ChartDefaults<'c>> {
        let own = match values(loaded)?.kind {
            GoKind::Map(map) => map,
            GoKind::Nil | GoKind::NilInside => empty(heap),
            _ => return Err("cannot load values.yaml: the file is not a mapping".into()),
        };
        let inside: Done<Vec<ChartDefaults<'c>>> =
            loaded.inside.iter().map(|it| ChartDefaults::new(it, values, heap)).collect();
        Ok(ChartDefaults {
            loaded,
            name: loaded.name.clone(),
            values: own,
            inside: inside?,
            dependencies: loaded.dependencies.iter().map(|it| (it.clone(), it.name.clone())).collect(),
            has_list: !loaded.dependencies.is_empty(),
            missing: Vec::new(),
        })
    }

    /// Removes dependencies that conditions and tags turn off, and imports values that subcharts export. `path` is the
    /// path of this chart's values in those of the outermost chart.
    pub(super) fn apply_conditions(&mut self, given: &GoMap, heap: &Heap) -> Done<()> {
        self.switch(given, "", heap)?;
        self.import(heap)
    }

    fn switch(&mut self, given: &GoMap, path: &str, heap: &Heap) -> Done<()> {
        if !self.has_list {
            return Ok(());
        }
        self.alias(heap)?;
        let values = copy(given, heap)?;
        self.coalesce(&values, false, heap)?;
        let mut off: Vec<String> = Vec::new();
        for (dependency, name) in &self.dependencies {
            let on = is_on(dependency, path, &values)?;
            if !on {
                off.push(name.clone());
            } else if let Some(why) = &dependency.missing {
                self.missing.push(MissingChart { name: name.clone(), why: why.clone() });
            }
        }
        self.inside.retain(|chart| !off.contains(&chart.name));
        self.dependencies.retain(|(_, name)| !off.contains(name));
        for chart in &mut self.inside {
            let path = format!("{path}{}.", chart.name);
            chart.switch(&values, &path, heap)?;
        }
        Ok(())
    }

    /// Applies the aliases of dependencies. A chart may be a dependency several times under different names.
    fn alias(&mut self, heap: &Heap) -> Done<()> {
        let fits = |dependency: &Dependency, chart: &ChartDefaults<'_>| {
            let version = chart.loaded.about.text_at("version").map_or("", |it| it);
            dependency.name == chart.loaded.name && fulfils(&dependency.version, version).unwrap_or(false)
        };
        let mut all = Vec::new();
        for (dependency, name) in &mut self.dependencies {
            let found = self.inside.iter().find(|chart| chart.name == dependency.name && fits(dependency, chart));
            if let Some(found) = found {
                let mut again = found.again(heap)?;
                if let Some(alias) = &dependency.alias {
                    again.name.clone_from(alias);
                }
                all.push(again);
            }
            if let Some(alias) = &dependency.alias {
                name.clone_from(alias);
            }
        }
        let known: Vec<&Dependency> = self.dependencies.iter().map(|(it, _)| it).collect();
        let inside = std::mem::take(&mut self.inside);
        let mut unlisted: Vec<ChartDefaults<'c>> =
            inside.into_iter().filter(|chart| !known.iter().any(|dependency| fits(dependency, chart))).collect();
        unlisted.append(&mut all);
        self.inside = unlisted;
        Ok(())
    }

    fn again(&self, heap: &Heap) -> Done<ChartDefaults<'c>> {
        let inside: Done<Vec<ChartDefaults<'c>>> = self.inside.iter().map(|it| it.again(heap)).collect();
        Ok(ChartDefaults {
            loaded: self.loaded,
            name: self.name.clone(),
            values: copy(&self.values, heap)?,
            inside: inside?,
            dependencies: self.dependencies.clone(),
            has_list: self.has_list,
            missing: Vec::new(),
        })
    }

    fn import(&mut self, heap: &Heap) -> Done<()> {
        for chart in &mut self.inside {
            chart.import(heap)?;
        }
        if !self.has_list {
            return Ok(());
        }
        let values = empty(heap);
        self.coalesce(&values, true, heap)?;
        let gathered = empty(heap);
        for (dependency, name) in &self.dependencies {
            for import in &dependency.imports {
                let path: Vec<&str> = std::iter::once(name.as_str()).chain(import.child.split('.')).collect();
                let Some(found) = table(&values, &path) else { continue };
                let framed = match import.parent.as_str() {
                    "." => copy(&found, heap)?,
                    parent => {
                        let inner: GoValue = GoKind::Map(copy(&found, heap)?).into();
                        let frame = |value: GoValue, key: &str| {
                            heap.map([(Arc::from(key), value.into())].into_iter().collect())
                        };
                        match parent.rsplit('.').fold(inner, frame).kind {
                            GoKind::Map(map) => map,
                            _ => continue,
                        }
                    }
                };
                tables(&gathered, &framed, true, heap)?;
            }
        }
        let own = copy(&values, heap)?;
        tables(&own, &gathered, true, heap)?;
        self.values = own;
        Ok(())
    }

    /// Completes values with those of the chart and its subcharts. With `merge`, a null does not remove a value.
    pub(super) fn coalesce(&self, given: &GoMap, merge: bool, heap: &Heap) -> Done<()> {
        let own = copy(&self.values, heap)?;
        for (key, entry) in pairs(&own) {
            let known = given.get(&key);
            match known.as_ref().map(|it| &it.kind) {
                None => given.insert(key, entry),
                Some(GoKind::Nil | GoKind::NilInside) if !merge => given.remove(&key),
                Some(GoKind::Map(inner)) => {
                    if let GoKind::Map(below) = &entry.value.kind {
                        let merge = merge || self.inside.iter().any(|chart| *chart.name == *key);
                        tables(inner, below, merge, heap)?;
                    }
                }
                Some(_) => {}
            }
        }
        for chart in &self.inside {
            let inner = match given.get(&chart.name).map(|it| it.kind) {
                None => {
                    let inner = empty(heap);
                    given.insert(chart.name.as_str().into(), GoValue::from(GoKind::Map(inner.clone())));
                    inner
                }
                Some(GoKind::Map(inner)) => inner,
                Some(_) => return Err(format!("type mismatch on {}", chart.name).into()),
            };
            globals(&inner, given, heap)?;
            chart.coalesce(&inner, merge, heap)?;
        }
        Ok(())
    }
}

fn pairs(map: &GoMap) -> Vec<(Arc<str>, MapEntry)> {
    map.borrow().iter().map(|(key, entry)| (key.clone(), entry.clone())).collect()
}

fn table(map: &GoMap, path: &[&str]) -> Option<GoMap> {
    path.iter().try_fold(map.clone(), |map, key| match map.get(key)?.kind {
        GoKind::Map(inner) => Some(inner),
        _ => None,
    })
}

/// Merges the global values.
fn globals(inner: &GoMap, outer: &GoMap, heap: &Heap) -> Done<()> {
    let shared = |map: &GoMap| match map.get(GLOBAL).map(|it| it.kind) {
        None => Some(empty(heap)),
        Some(GoKind::Map(map)) => Some(map),
        Some(_) => None,
    };
    let (Some(own), Some(from)) = (shared(inner), shared(outer)) else { return Ok(()) };
    for (key, entry) in pairs(&from) {
        let known = own.get(&key).map(|it| it.kind);
        match (&entry.value.kind, known) {
            (GoKind::Map(above), Some(GoKind::Map(below))) => {
                let above = flat_copy(above, heap);
                tables(&above, &below, true, heap)?;
                own.insert(key, MapEntry { key: entry.key, value: GoKind::Map(above).into() });
            }
            (GoKind::Map(_), Some(_)) | (_, Some(GoKind::Map(_))) => {}
            (GoKind::Map(above), None) => {
                own.insert(key, MapEntry { key: entry.key, value: GoKind::Map(flat_copy(above, heap)).into() });
            }
            _ => own.insert(key, entry),
        }
    }
    inner.insert(GLOBAL.into(), GoValue::from(GoKind::Map(own)));
    Ok(())
}

/// Returns a new mapping with the same members.
fn flat_copy(map: &GoMap, heap: &Heap) -> GoMap {
    heap.new_map(map.borrow().clone())
}

/// Adds the members of another mapping that a mapping lacks.
fn tables(into: &GoMap, from: &GoMap, merge: bool, heap: &Heap) -> Done<()> {
    heap.spend(64)?;
    for (key, entry) in pairs(from) {
        let known = into.get(&key);
        match (known.as_ref().map(|it| &it.kind), &entry.value.kind) {
            (Some(GoKind::Nil | GoKind::NilInside), below)
                if !merge && !matches!(below, GoKind::Nil | GoKind::NilInside) =>
            {
                into.remove(&key);
            }
            (None, _) => into.insert(key, entry),
            (Some(GoKind::Map(above)), GoKind::Map(below)) => tables(above, below, merge, heap)?,
            _ => {}
        }
    }
    Ok(())
}

fn is_on(dependency: &Dependency, path: &str, values: &GoMap) -> Done<bool> {
    let mut on = true;
    if let Some(tags) = values.get("tags").as_ref().and_then(GoValue::map) {
        let flags: Vec<bool> = dependency
            .tags
            .iter()
            .filter_map(|tag| match tags.get(tag)?.kind {
                GoKind::Flag(flag) => Some(flag),
                _ => None,
            })
            .collect();
        on = flags.is_empty() || flags.contains(&true);
    }
    for condition in dependency.condition.trim().split(',').filter(|it| !it.is_empty()) {
        let whole = format!("{path}{condition}");
        let keys: Vec<&str> = whole.split('.').collect();
        let Some((last, above)) = keys.split_last() else { continue };
        let found = table(values, above).and_then(|map| map.get(last));
        match found.map(|it| it.kind) {
            Some(GoKind::Flag(flag)) => return Ok(flag),
            Some(GoKind::Unknown(cause)) => return Err(cause.into()),
            _ => {}
        }
    }
    Ok(on)
}
