//! Defines the format of the vocabulary. A record is a list of facts, each with a name, a type, a meaning and a
//! function.

use std::sync::LazyLock;

use super::FactContext;
use crate::inventory::{Key, LinkKind, Purchase, Purpose, Task};
use crate::languages::cel::{CelType, CelValue, Handle, RecordSchema, SchemaField};

/// A kind of record: its schema, and a function for each field.
pub(super) struct Records {
    pub(super) schema: RecordSchema,
    pub(super) answers: Vec<FieldAnswer>,
}

#[derive(Clone, Copy)]
pub(super) enum FieldAnswer {
    /// A fact of the resource with this index.
    Stated(Key),
    Computed(fn(&FactContext<'_>, u32) -> CelValue),
}

pub(super) struct FactRow {
    pub(super) name: &'static str,
    pub(super) holds: CelType,
    pub(super) meaning: &'static str,
    pub(super) answer: FieldAnswer,
}

impl Records {
    /// Creates a kind of record. `number` names the field whose value is used if the record is used as a number.
    pub(super) fn new(name: &'static str, kind: usize, number: Option<&str>, rows: Vec<FactRow>) -> Records {
        let number = number.and_then(|number| rows.iter().position(|row| row.name == number));
        let answers = rows.iter().map(|row| row.answer).collect();
        let field = |row: FactRow| SchemaField {
            name: row.name,
            is_never_negative: matches!(name, "resource" | "count")
                && matches!(row.holds, CelType::Integer | CelType::Double),
            holds: row.holds,
            values: values(name, row.name),
            meaning: row.meaning,
        };
        let fields = rows.into_iter().map(field).collect();
        Records { schema: RecordSchema { name, number_of_kind: kind, fields, number, has_facts: false }, answers }
    }

    pub(super) fn handle(&'static self, id: u32) -> Handle {
        Handle { schema: &self.schema, id }
    }

    pub(super) fn value(&'static self, id: u32) -> CelValue {
        CelValue::Record(self.handle(id))
    }

    pub(super) fn holds(&'static self) -> CelType {
        CelType::Record(&self.schema)
    }
}

/// Defines facts, one per line: `name: type, "meaning" => answer`.
macro_rules! rows {
    ($($name:ident : $holds:expr, $meaning:literal => $answer:expr;)*) => {
        vec![$($crate::rules::facts::table::FactRow {
            name: stringify!($name),
            holds: $holds,
            meaning: $meaning,
            answer: $crate::rules::facts::table::FieldAnswer::Computed($answer),
        }),*]
    };
}

pub(super) use rows;

/// Returns all values of a fact with a closed list.
fn values(record: &str, fact: &str) -> &'static [&'static str] {
    static PURPOSES: LazyLock<Vec<&str>> = LazyLock::new(|| Purpose::ALL.iter().map(|it| it.name()).collect());
    static PURCHASES: LazyLock<Vec<&str>> = LazyLock::new(|| Purchase::ALL.iter().map(|it| it.name()).collect());
    static TASKS: LazyLock<Vec<&str>> = LazyLock::new(|| Task::ALL.iter().map(|it| it.name()).collect());
    static LINKS: LazyLock<Vec<&str>> = LazyLock::new(|| LinkKind::ALL.iter().map(|it| it.name()).collect());
    match (record, fact) {
        ("link", "kind") => &LINKS,
        (_, "purpose") => &PURPOSES,
        (_, "purchase") => &PURCHASES,
        ("resource", "task") => &TASKS,
        ("resource", "licence") => &["windows", "rhel", "suse", "grid", "Databricks (DBUs)"],
        ("resource", "sharing") => &["time-slicing", "mps"],
        ("resource", "processor") => &["amd64", "arm64"],
        (_, "role") => &["rented", "requested"],
        (_, "front_end") => &["terraform", "plan", "kubernetes", "chart"],
        (_, "verdict") => &["fits", "borderline", "does-not-fit"],
        (_, "status") => &["priced", "estimated", "unpriced", "unasked"],
        _ => &[],
    }
}
