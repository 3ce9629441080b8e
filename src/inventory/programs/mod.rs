//! Recognizes serving and training programs: which model runs, how precise, on how many GPUs, with how much context.
//!
//! One table (`programs.toml`) says for each program by which image and command it is known and which argument, variable
//! or setting declares what; one reader applies it. Front ends bring the words of a container, a script or a settings
//! tree with their spans; what they do not know stays unknown here. This reader knows no kind and no resource type.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::fact::Fact;
use super::key::{Key, Value};

/// What a text says about the program that it runs. Spans point at the argument, variable or setting that says it.
pub type Facts = BTreeMap<Key, Fact<Value>>;

/// A piece of text with its place; unknown where a front end could not resolve it.
pub type Word = Fact<Arc<str>>;

/// What starts a program, as a pod, a task definition or a model environment writes it.
#[derive(Debug, Clone, Default)]
pub struct Container {
    pub image: Word,
    pub command: Vec<Word>,
    pub args: Vec<Word>,
    pub env: BTreeMap<String, Word>,
    /// There may be more variables than are listed: `envFrom` a map that is not in the text.
    pub open_env: Option<Arc<str>>,
}

/// One leaf of a settings tree: `engine_kwargs.tensor_parallel_size`. Positions in lists are left out.
#[derive(Debug, Clone)]
pub struct Setting {
    pub path: String,
    pub value: Word,
}

/// What a container says. Empty where no program is recognized and nothing is declared.
pub fn recognize(_container: &Container) -> Facts {
    Facts::new()
}

/// What a start-up script says: `docker run … IMAGE args`, or a program started directly.
pub fn recognize_script(_script: &Word) -> Facts {
    Facts::new()
}

/// What a settings tree says: values of a chart, fields of a custom resource, a configuration file of a program. The
/// program is named where the caller knows it.
pub fn recognize_settings(_program: Option<&str>, _settings: &[Setting]) -> Facts {
    Facts::new()
}

/// What is declared by hand in labels, tags or annotations: `gpulint.dev/model`, `…/params`, `…/precision`, `…/task`,
/// `…/context`. Stronger than anything recognized.
pub fn declared<'a>(_labels: impl IntoIterator<Item = (&'a str, &'a Word)>) -> Facts {
    Facts::new()
}
