//! Pairs of a base and a head with more in it, and the head in disguise. What is more is known by construction: each
//! disguise is one that Terraform, kubectl or kustomize accepts.

mod choice;
mod hcl;
#[cfg(all(test, unix))]
mod held;
mod manifest;

pub(crate) use choice::Choice;

/// Files of one side, by path.
pub(crate) type Files = Vec<(String, Vec<u8>)>;

/// Disguises that the program does not see through yet. They are made and counted, and hold nobody up.
const OPEN: [&str; 4] = [
    "a kustomization that names a file in a folder that hides",
    "a kustomization that names a file of another ending",
    "a patch of a kustomization",
    hcl::AFTER_APPLY,
];

pub(crate) struct Pair {
    pub(crate) base: Files,
    pub(crate) head: Files,
    /// What was done, for people.
    pub(crate) disguises: Vec<&'static str>,
}

impl Pair {
    /// A name for each pair, so that none of them speaks of another's resources.
    pub(crate) fn choose(choice: &mut Choice, name: &str) -> Pair {
        let mut pair = if choice.below(2) == 0 { hcl::pair(choice, name) } else { manifest::pair(choice, name) };
        in_other_bytes(&mut pair, choice);
        beside_others(&mut pair, choice);
        pair
    }

    /// What is not seen yet, and why: it passes silently, and is counted apart.
    pub(crate) fn is_open(&self) -> bool {
        self.disguises.iter().any(|it| OPEN.contains(it))
    }

    fn tell(&mut self, what: &'static str) {
        self.disguises.push(what);
    }
}

/// The same text in other bytes.
fn in_other_bytes(pair: &mut Pair, choice: &mut Choice) {
    let (name, write): (&'static str, fn(&str) -> Vec<u8>) = match choice.below(8) {
        0 => ("lines end as on Windows", |text| text.replace('\n', "\r\n").into_bytes()),
        1 => ("a mark of byte order", |text| format!("\u{feff}{text}").into_bytes()),
        2 => ("empty lines before and after", |text| format!("\n\n\n{text}\n\n\n").into_bytes()),
        _ => return,
    };
    for (path, bytes) in &mut pair.head {
        let is_text = ["tf", "tofu", "yaml", "yml"].iter().any(|end| path.ends_with(&format!(".{end}")));
        if let (true, Ok(text)) = (is_text, std::str::from_utf8(bytes)) {
            *bytes = write(text);
        }
    }
    pair.tell(name);
}

/// Files that speak to other programs, or to git, about the rest.
fn beside_others(pair: &mut Pair, choice: &mut Choice) {
    let (name, file): (&'static str, _) = match choice.below(8) {
        0 => ("git ignores everything", file(".gitignore", "*\n")),
        1 => ("other tools ignore everything", file(".ignore", "*\n")),
        2 => (
            "git calls it binary and leaves it out of archives",
            file(".gitattributes", "* binary export-ignore linguist-generated\n"),
        ),
        _ => return,
    };
    pair.head.push(file);
    pair.tell(name);
}

pub(crate) fn file(path: impl Into<String>, text: impl Into<String>) -> (String, Vec<u8>) {
    (path.into(), text.into().into_bytes())
}
