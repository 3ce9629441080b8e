//! Finds the arguments that configure a program, for code that edits them.

use crate::inventory::key::{FactValue, Key};

use super::table::{DeclaredTarget, KnownProgram, TABLE, normalize_flag};
use super::values::{ValueMeaning, meaning};

/// The words of a command that set a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeclaringWords {
    /// The index of the flag, and of the last word that belongs to it.
    pub first: usize,
    pub last: usize,
    /// The offset in `last` at which the value begins. A switch has no value.
    pub value: Option<usize>,
}

/// Returns all arguments in a command that set a fact to this value.
pub fn declaring_words(program: &str, key: Key, value: &FactValue, words: &[&str]) -> Vec<DeclaringWords> {
    let Some((_, program)) = TABLE.program(program) else { return Vec::new() };
    let mut places = Vec::new();
    for (first, word) in words.iter().enumerate().filter(|(_, word)| word.starts_with('-')) {
        let (name, inline) = match word.split_once('=') {
            Some((name, _)) => (name, Some(name.len() + 1)),
            None => (*word, None),
        };
        let name = normalize_flag(name);
        let is_flag = program.flags.get(&name).is_some_and(|(target, _)| *target == DeclaredTarget::Key(key));
        let last = first + usize::from(inline.is_none());
        if is_flag && let Some(text) = words.get(last).and_then(|word| word.get(inline.unwrap_or(0)..)) {
            if means(program, key, text, value) {
                places.push(DeclaringWords { first, last, value: Some(inline.unwrap_or(0)) });
            }
        } else if let Some(sets) = program.switches.get(&name).filter(|_| inline.is_none())
            && sets.iter().any(|(known, text)| *known == key && means(program, key, text, value))
        {
            places.push(DeclaringWords { first, last: first, value: None });
        }
    }
    places
}

fn means(program: &KnownProgram, key: Key, text: &str, value: &FactValue) -> bool {
    matches!(meaning(Some(program), key, text), ValueMeaning::Value(meant) if meant == *value)
}

/// Returns true if the program itself chooses a good value when no argument sets the fact.
pub fn chooses(program: &str, key: Key) -> bool {
    TABLE.program(program).is_some_and(|(_, program)| program.chooses.contains(&key))
}

/// Returns the long flag that sets a fact.
pub fn flag(program: &str, key: Key) -> Option<&'static str> {
    TABLE.program(program)?.1.spelled.get(&key).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_that_tell_a_fact_are_found() {
        let fp32 = FactValue::text("fp32");
        let told = |words: &[&str]| declaring_words("vllm", Key::Precision, &fp32, words);
        assert_eq!(told(&["--dtype=float32"]), [DeclaringWords { first: 0, last: 0, value: Some(8) }]);
        assert_eq!(told(&["serve", "--dtype", "float"]), [DeclaringWords { first: 1, last: 2, value: Some(0) }]);
        assert_eq!(told(&["--load-format", "auto", "--dtype", "bfloat16", "--dtype"]), []);
        let off = FactValue::Flag(false);
        let switch = super::declaring_words("sglang", Key::PrefixCache, &off, &["--disable-radix-cache", "--tp", "2"]);
        assert_eq!(switch, [DeclaringWords { first: 0, last: 0, value: None }]);
    }

    #[test]
    fn what_programs_choose_themselves_is_known_of_those_that_take_after_others_too() {
        assert!(chooses("vllm", Key::Precision) && chooses("nim", Key::BatchSize));
        assert!(!chooses("llama.cpp", Key::BatchSize) && !chooses("nobody", Key::Precision));
        assert_eq!(flag("vllm", Key::Context), Some("--max-model-len"));
        assert_eq!(flag("trt-llm", Key::Context), Some("--max_seq_len"));
    }
}
