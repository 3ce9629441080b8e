//! Generates pairs of a base and a larger head, with the head disguised. The added amount is known, because Terraform,
//! kubectl or kustomize accept each disguise.

mod around;
mod choice;
mod hcl;
#[cfg(all(test, unix))]
mod held;
mod manifest;

#[allow(unused_imports, reason = "for tests; a fuzzer writes no files")]
pub(crate) use around::NO_UTF_8;
pub(crate) use choice::Choice;

/// The files of one side, by path.
pub(crate) type Files = Vec<(String, Vec<u8>)>;

/// Disguises that only a comparison of files detects. The fuzzer does not create them.
const OF_FILES: [&str; 4] = [
    "a kustomization that names a file in a folder that hides",
    "a kustomization that names a file of another ending",
    "a patch of a kustomization",
    hcl::AFTER_APPLY,
];

pub(crate) struct Pair {
    pub(crate) base: Files,
    pub(crate) head: Files,
    /// Links of the head: path and target.
    pub(crate) links: Vec<(String, String)>,
    /// The applied disguises, for messages.
    pub(crate) disguises: Vec<&'static str>,
}

impl Pair {
    /// Creates a pair with a unique name, so that no pair refers to the resources of another.
    pub(crate) fn choose(choice: &mut Choice, name: &str) -> Pair {
        let mut pair = if choice.below(2) == 0 { hcl::pair(choice, name) } else { manifest::pair(choice, name) };
        around::below_a_suppression(&mut pair, choice);
        around::in_other_bytes(&mut pair, choice);
        around::under_other_names(&mut pair, choice);
        around::beside_others(&mut pair, choice);
        pair
    }

    #[allow(dead_code, reason = "for the fuzzer")]
    pub(crate) fn is_of_files(&self) -> bool {
        self.disguises.iter().any(|it| OF_FILES.contains(it))
    }

    fn tell(&mut self, what: &'static str) {
        self.disguises.push(what);
    }
}

pub(crate) fn file(path: impl Into<String>, text: impl Into<String>) -> (String, Vec<u8>) {
    (path.into(), text.into().into_bytes())
}
