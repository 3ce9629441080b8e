use super::super::fact::Fact;
use super::super::key::{Key, Value};
use super::values::{self, Meaning};
use super::{Facts, Word};

/// What is declared by hand in labels, tags or annotations: `gpulint.dev/model`, `…/params`, `…/precision`, `…/task`,
/// `…/context`. Stronger than anything recognized.
pub fn declared<'a>(labels: impl IntoIterator<Item = (&'a str, &'a Word)>) -> Facts {
    let mut facts = Facts::new();
    for (name, word) in labels {
        let Some(key) = name.strip_prefix("gpulint.dev/").and_then(key_of) else { continue };
        facts.insert(key, declared_value(key, word));
    }
    facts
}

fn key_of(name: &str) -> Option<Key> {
    match name {
        "params" => Some(Key::Parameters),
        name => {
            let name = name.replace('-', "_");
            Key::ALL.iter().copied().find(|key| key.name() == name)
        }
    }
}

/// The value of a fact as a person writes it into a label.
fn declared_value(key: Key, word: &Word) -> Fact<Value> {
    match word {
        Fact::Known(known) => match values::meaning(None, key, &known.value) {
            Meaning::Value(value) => word.clone().map(|_| value.clone()),
            Meaning::Nothing => Fact::Absent,
            Meaning::Unclear(why) => Fact::unknown(why, known.span),
        },
        Fact::Unknown(unknown) => Fact::unknown(unknown.why.clone(), unknown.span),
        Fact::Absent => Fact::Absent,
    }
}
