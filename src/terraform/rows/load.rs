//! Parses the files of `resources/` into definitions.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::OnceLock;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::inventory::Key;

use super::language::{
    Assignment, Assignments, Conditions, ContainerAt, CountReading, FactReading, LabelList, LabelsAt, Many,
    ProviderRow, RowConstant, RowPattern, RowSection, RowTable, Spec, TypeRow,
};
use super::like::{self, TypeRows};
use crate::inventory::row_path::RowPath;

include!(concat!(env!("OUT_DIR"), "/resources.rs"));

/// A section of the table: names and definitions as JSON, by name.
type SectionTexts = Vec<(&'static str, &'static str)>;

/// The definitions of types and modules that a user adds.
static OWN: OnceLock<(SectionTexts, SectionTexts)> = OnceLock::new();

/// Adds the definitions of a user, before the first use of the table. Returns false if it is in use with others.
pub(crate) fn add_types(types: &TypeRows, modules: &TypeRows) -> Result<bool, String> {
    let own = (texts_of(types, TYPES)?, texts_of(modules, MODULES)?);
    let is_same = |known: &(SectionTexts, SectionTexts)| *known == own;
    if let Some(known) = OWN.get() {
        return Ok(is_same(known));
    }
    Ok(OWN.set(own).is_ok())
}

/// Returns the definitions with their inherited keys, each checked.
fn texts_of(own: &TypeRows, embedded: &'static [(&str, &str)]) -> Result<SectionTexts, String> {
    let text_of = |name: &str| embedded.iter().find(|(known, _)| *known == name).map(|(_, text)| *text);
    if let Some(name) = own.keys().find(|name| text_of(name).is_some()) {
        return Err(format!("`{name}` already has an entry"));
    }
    let mut all = own.clone();
    let models = own.values().flatten().filter_map(|row| row.get("like")?.as_str()?.split('#').next());
    for name in models {
        if let Some(text) = text_of(name).filter(|_| !own.contains_key(name)) {
            all.insert(name.to_owned(), serde_json::from_str(text).map_err(|error| error.to_string())?);
        }
    }
    let mut texts = SectionTexts::new();
    for (name, rows) in like::resolved(&all)?.into_iter().filter(|(name, _)| own.contains_key(name)) {
        let text = serde_json::to_string(&rows).map_err(|error| error.to_string())?;
        read(&text).map_err(|why| format!("`{name}`: {why}"))?;
        // The table lives as long as the program.
        texts.push((name.leak(), text.leak()));
    }
    Ok(texts)
}

/// Returns the types that have definitions.
pub(crate) fn types() -> impl Iterator<Item = &'static str> {
    table().types.texts.iter().map(|(name, _)| *name)
}

/// Returns the keys that the definitions of a type use, such as attributes and nested blocks.
pub(crate) fn words(kind: &str) -> BTreeSet<&'static str> {
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let texts = table().types.texts.iter().filter(|(name, _)| *name == kind).map(|(_, text)| *text);
    texts.flat_map(|text| text.split(|c| !is_name(c))).filter(|word| word.len() > 3).collect()
}

/// Returns the providers that the definitions describe.
pub(crate) fn providers() -> impl Iterator<Item = &'static str> {
    table().providers.keys().map(String::as_str)
}

/// Returns the embedded table. A unit test checks that it can be parsed.
pub(super) fn table() -> &'static RowTable {
    static TABLE: OnceLock<RowTable> = OnceLock::new();
    TABLE.get_or_init(|| match OWN.get_or_init(Default::default) {
        (types, modules) if types.is_empty() && modules.is_empty() => RowTable::new(PROVIDERS, TYPES, MODULES),
        (types, modules) => RowTable::new(PROVIDERS, with_own(TYPES, types), with_own(MODULES, modules)),
    })
}

/// Returns a section with the definitions of the user, sorted by name.
fn with_own(
    embedded: &'static [(&str, &str)],
    own: &[(&'static str, &'static str)],
) -> &'static [(&'static str, &'static str)] {
    let mut all = [embedded, own].concat();
    all.sort_by_key(|(name, _)| *name);
    all.leak()
}

impl RowTable {
    fn new(providers: &str, types: &'static [(&str, &str)], modules: &'static [(&str, &str)]) -> RowTable {
        let providers: Providers =
            serde_json::from_str(providers).unwrap_or_else(|why| unreachable!("the embedded providers: {why}"));
        RowTable { providers: providers.providers, types: RowSection::new(types), modules: RowSection::new(modules) }
    }

    /// Returns the definitions of a type.
    pub(super) fn of_type(&self, kind: &str) -> &[TypeRow] {
        let place = self.types.texts.binary_search_by(|(name, _)| (*name).cmp(kind));
        place.ok().map_or(&[], |place| self.types.rows(place))
    }

    /// Returns the definitions of a registry module, whose pattern is its name or the start of its name before `*`.
    pub(super) fn of_module(&self, name: &str) -> Option<&[TypeRow]> {
        let matches = |pattern: &str| match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => pattern == name,
        };
        let place = self.modules.texts.iter().position(|(pattern, _)| matches(pattern))?;
        Some(self.modules.rows(place))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Providers {
    providers: BTreeMap<String, ProviderRow>,
}

impl RowSection {
    fn new(texts: &'static [(&str, &str)]) -> RowSection {
        RowSection { texts, rows: texts.iter().map(|_| OnceLock::new()).collect() }
    }

    /// Returns the definitions at an index, parsed when first requested.
    fn rows(&self, place: usize) -> &[TypeRow] {
        let (Some((name, text)), Some(rows)) = (self.texts.get(place), self.rows.get(place)) else { return &[] };
        rows.get_or_init(|| {
            read(text).unwrap_or_else(|why| unreachable!("the embedded resource definitions of `{name}`: {why}"))
        })
    }
}

fn read(text: &str) -> Result<Vec<TypeRow>, String> {
    let mut rows: Vec<TypeRow> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    for row in &mut rows {
        for (name, spec) in std::mem::take(&mut row.facts) {
            let key = Key::named(&name);
            row.keyed.push((
                key.ok_or_else(|| format!("`{name}` is neither a key of a resource definition nor a fact"))?,
                spec,
            ));
        }
        row.keyed.sort_by_key(|(key, _)| *key);
    }
    Ok(rows)
}

impl<'de> Deserialize<'de> for RowPattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(RowPattern::new)
    }
}

impl<'de> Deserialize<'de> for Conditions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let all = BTreeMap::<String, Many<String>>::deserialize(deserializer)?;
        let parsed = all.into_iter().map(|(path, texts)| Ok((path.parse()?, texts.0)));
        Ok(Conditions(parsed.collect::<Result<_, String>>().map_err(D::Error::custom)?))
    }
}

impl<'de> Deserialize<'de> for Assignments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Always(RowConstant),
            Changed(Assignment),
        }
        let all = BTreeMap::<String, Written>::deserialize(deserializer)?;
        let parsed = all.into_iter().map(|(path, what)| {
            let what = match what {
                Written::Always(to) => Assignment { to: Some(to), ..Assignment::default() },
                Written::Changed(what) => what,
            };
            Ok((path.parse()?, what))
        });
        Ok(Assignments(parsed.collect::<Result<_, String>>().map_err(D::Error::custom)?))
    }
}

impl<'de> Deserialize<'de> for Spec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Many::<FactReading>::deserialize(deserializer).map(|many| Spec(many.0))
    }
}

/// A type that can be written as a bare string.
trait FromText: Sized {
    fn from_text(text: &str) -> Result<Self, String>;
}

impl FromText for String {
    fn from_text(text: &str) -> Result<Self, String> {
        Ok(text.to_owned())
    }
}

impl FromText for RowPath {
    fn from_text(text: &str) -> Result<Self, String> {
        text.parse()
    }
}

impl FromText for RowPattern {
    fn from_text(text: &str) -> Result<Self, String> {
        Ok(RowPattern::new(text))
    }
}

impl FromText for FactReading {
    fn from_text(text: &str) -> Result<Self, String> {
        Ok(FactReading { at: Some(text.parse()?), ..FactReading::default() })
    }
}

impl FromText for Spec {
    fn from_text(text: &str) -> Result<Self, String> {
        Ok(Spec(vec![FactReading::from_text(text)?]))
    }
}

impl FromText for LabelsAt {
    fn from_text(text: &str) -> Result<Self, String> {
        Ok(LabelsAt::Map(text.parse()?))
    }
}

impl FromText for ContainerAt {
    fn from_text(text: &str) -> Result<Self, String> {
        Ok(ContainerAt { each: Some(text.parse()?), image: None, command: None, args: None, env: Many::default() })
    }
}

impl FromText for CountReading {
    fn from_text(text: &str) -> Result<Self, String> {
        Ok(CountReading { desired: Spec::from_text(text)?, ..CountReading::default() })
    }
}

impl<'de> Deserialize<'de> for LabelsAt {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        LabelList::deserialize(deserializer).map(LabelsAt::List)
    }
}

impl<'de, T: FromText + Deserialize<'de>> Deserialize<'de> for Many<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMany<T>(std::marker::PhantomData<T>);
        impl<'de, T: FromText + Deserialize<'de>> Visitor<'de> for OneOrMany<T> {
            type Value = Many<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string, a table, or a list of these")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Many<T>, E> {
                T::from_text(text).map(|one| Many(vec![one])).map_err(E::custom)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Many<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(|one| Many(vec![one]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Many<T>, A::Error> {
                let mut all = Vec::new();
                while let Some(Many(some)) = seq.next_element::<Many<T>>()? {
                    all.extend(some);
                }
                Ok(Many(all))
            }
        }
        deserializer.deserialize_any(OneOrMany(std::marker::PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::super::language::RowRole;
    use super::super::like;
    use super::*;
    use crate::inventory::row_path::Start;
    use crate::inventory::{Purchase, Purpose};

    fn rows() -> impl Iterator<Item = (&'static str, &'static TypeRow)> {
        [&table().types, &table().modules].into_iter().flat_map(|section| {
            section
                .texts
                .iter()
                .enumerate()
                .flat_map(|(place, (name, _))| section.rows(place).iter().map(move |row| (*name, row)))
        })
    }

    #[test]
    fn every_row_is_read_and_has_a_known_provider() {
        for (name, text) in TYPES.iter().chain(MODULES) {
            match read(text) {
                Ok(rows) => assert!(!rows.is_empty(), "{name}"),
                Err(why) => panic!("{name}: {why}"),
            }
        }
        for (name, row) in rows() {
            assert!(table().providers.contains_key(&row.provider), "{name}: unknown provider `{}`", row.provider);
        }
    }

    #[test]
    fn unknown_words_are_refused() {
        let parse = |row: &str| {
            let table: like::TypeRows =
                toml::from_str(&format!("[[x]]\nprovider = \"aws\"\n{row}")).map_err(|error| error.to_string())?;
            let rows = like::resolved(&table)?;
            read(&serde_json::to_string(&rows["x"]).unwrap()).map(|_| ())
        };
        assert_eq!(parse("machine = \"a.b\""), Ok(()));
        for (row, why) in [
            ("machin = \"a\"", "`machin` is neither a key of a resource definition nor a fact"),
            ("machine = { att = \"a\" }", "unknown field `att`"),
            ("machine = \"a..b\"", "not a step of a path"),
            ("count = { wanted = \"a\" }", "unknown field `wanted`"),
            ("like = \"y\"", "no resource definition like `y`"),
            ("role = \"owned\"", "unknown variant `owned`"),
        ] {
            let refused = parse(row).unwrap_err();
            assert!(refused.contains(why), "{row}: {refused}");
        }
    }

    #[test]
    fn every_fact_has_words_of_its_own_vocabulary() {
        for (name, row) in rows() {
            for (key, spec) in &row.keyed {
                let constants = spec.0.iter().flat_map(|it| {
                    it.map.values().chain(it.is.as_ref()).chain(it.default.as_ref()).chain(it.present.as_ref())
                });
                for value in constants.map(|constant| constant.value()) {
                    let text = value.to_string();
                    match key {
                        Key::Purchase => assert!(Purchase::from_name(&text).is_some(), "{name}: purchase {text}"),
                        Key::Purpose => assert!(Purpose::from_name(&text).is_some(), "{name}: purpose {text}"),
                        _ => assert!(value.conform(key.value_type()).is_some(), "{name}: {} {text}", key.name()),
                    }
                }
            }
        }
    }

    #[test]
    fn every_alternative_says_where_from() {
        for (name, row) in rows() {
            for (key, spec) in &row.keyed {
                for it in &spec.0 {
                    let sources = usize::from(it.at.is_some())
                        + usize::from(!it.join.is_empty())
                        + usize::from(it.is.is_some())
                        + usize::from(it.unknown.is_some())
                        + usize::from(it.default.is_some());
                    assert_eq!(sources, 1, "{name}: {}", key.name());
                }
            }
        }
    }

    #[test]
    fn every_pattern_compiles_and_every_link_that_is_used_is_drawn() {
        for (name, row) in rows() {
            let counts = row.count.0.iter().flat_map(|it| [&it.desired, &it.min, &it.max]);
            let disks = row.disks.iter().flat_map(|it| [&it.gib, &it.kind, &it.count, &it.iops, &it.throughput]);
            let specs = row.keyed.iter().map(|(_, spec)| spec).chain([&row.region, &row.rented_from]);
            let specs = specs.chain(counts).chain(disks);
            let alternatives: Vec<&FactReading> = specs.flat_map(|spec| &spec.0).collect();
            for it in &alternatives {
                assert!(it.pattern.as_ref().is_none_or(|pattern| pattern.has_group()), "{name}");
            }
            let labels = row.labels.0.iter().filter_map(|it| match it {
                LabelsAt::Map(path) => Some(path),
                LabelsAt::List(_) => None,
            });
            let conditions = alternatives.iter().flat_map(|it| it.when.0.iter().map(|(path, _)| path));
            let paths = alternatives.iter().filter_map(|it| it.at.as_ref()).chain(labels).chain(conditions);
            let places = row.disks.iter().filter_map(|it| it.at.as_ref());
            for path in paths.chain(&row.names.0).chain(places) {
                if let Start::Link(link) = &path.start {
                    assert!(row.links.contains_key(link), "{name}: no link `{link}`");
                }
            }
        }
    }

    #[test]
    fn every_link_leads_to_a_type_that_may_exist() {
        for (name, row) in rows() {
            for (link, word) in &row.links {
                assert!(!word.to.0.is_empty(), "{name}: link `{link}` leads nowhere");
            }
            let is_control = row.role == RowRole::Control;
            assert_eq!(is_control, row.links.contains_key("target"), "{name}: a control has a target");
        }
    }
}
