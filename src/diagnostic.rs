//! Defines a message with a place, a level, notes and help.

use crate::source::Span;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    Note,
    Warning,
    Error,
}

impl Level {
    pub const ALL: [Level; 3] = [Level::Note, Level::Warning, Level::Error];

    pub const fn name(self) -> &'static str {
        match self {
            Level::Note => "note",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }

    /// Returns the sign that terminal, comment and page show before a finding. miette draws the same ones.
    pub const fn sign(self) -> &'static str {
        match self {
            Level::Note => "☞",
            Level::Warning => "⚠",
            Level::Error => "×",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// A message about the input itself: a file that does not parse, a module that is not downloaded.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostic {
    pub level: Level,
    /// A lower-case statement that contains its numbers.
    pub message: String,
    pub span: Option<Span>,
    pub notes: Vec<(Option<Span>, String)>,
    pub help: Option<String>,
    /// True if Terraform or kubectl would reject this file: a finding of the rule `unreadable`.
    pub unreadable: bool,
    /// The kind of content that gpulint skipped because of this message, and how reports count it.
    pub skips: Option<(SkipKind, &'static str)>,
}

impl Diagnostic {
    pub fn new(level: Level, message: impl Into<String>, span: Option<Span>) -> Self {
        Diagnostic {
            level,
            message: shortened(message.into()),
            span,
            notes: Vec::new(),
            help: None,
            unreadable: false,
            skips: None,
        }
    }

    /// Returns a file that its own tool would reject.
    pub fn unreadable(message: impl Into<String>, span: Span) -> Self {
        Diagnostic { unreadable: true, ..Self::new(Level::Error, message, Some(span)) }
    }

    pub fn warning(message: impl Into<String>, span: Span) -> Self {
        Self::new(Level::Warning, message, Some(span))
    }

    pub fn note(message: impl Into<String>, span: Span) -> Self {
        Self::new(Level::Note, message, Some(span))
    }

    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Marks that gpulint skipped something here, so its content is unknown.
    #[must_use]
    pub fn skipping(mut self, kind: SkipKind, words: &'static str) -> Self {
        self.skips = Some((kind, words));
        self
    }

    #[must_use]
    pub fn with_note(mut self, span: Option<Span>, note: impl Into<String>) -> Self {
        self.notes.push((span, note.into()));
        self
    }
}

macro_rules! skip_kinds {
    ($($(#[$doc:meta])* $kind:ident $name:literal,)*) => {
        /// The kind of file, block or value that gpulint skipped or could not evaluate. Code that decides compares
        /// these kinds and never the reason, because a reason can contain strings from the repository.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum SkipKind {
            $($(#[$doc])* $kind,)*
        }

        impl SkipKind {
            pub const ALL: &[SkipKind] = &[$(SkipKind::$kind,)*];

            /// Returns the name in reports.
            pub const fn name(self) -> &'static str {
                match self {
                    $(SkipKind::$kind => $name,)*
                }
            }
        }
    };
}

skip_kinds! {
    /// A file whose growth another file of the same change hides.
    HiddenGrowth "hidden-growth",
    /// A file in a language without a reader.
    Language "language",
    /// A program that describes machines, such as a CDK app.
    Program "program",
    /// A file that another program fills in before a tool reads it.
    Template "template",
    /// A plan next to its configuration.
    PlanBeside "plan-beside",
    /// A plan that does not contain everything that Terraform would do.
    IncompletePlan "incomplete-plan",
    /// A Terraform module without a caller in this repository.
    UncalledModule "uncalled-module",
    /// Terraform files that each declare the same addresses.
    Alternatives "alternatives",
    /// A Terraform module that is not downloaded, or has no files.
    MissingModule "missing-module",
    /// A nested template that is not in this repository.
    MissingTemplate "missing-template",
    /// An included Terragrunt file that is not in this repository.
    MissingInclude "missing-include",
    /// A values file that is not in this repository, or is encrypted.
    MissingValues "missing-values",
    /// A variable file that no deployment uses.
    UnusedVariables "unused-variables",
    /// A parameter that a deployment sets and its template does not declare.
    UndeclaredParameter "undeclared-parameter",
    /// A Terragrunt unit or stack that a stack generates.
    MadeByStack "made-by-stack",
    /// A Terragrunt unit or stack that gpulint cannot evaluate.
    Terragrunt "terragrunt",
    /// A kustomization that gpulint cannot build.
    Overlay "overlay",
    /// A part of a kustomization that is missing.
    OverlayPart "overlay-part",
    /// A template of a chart that gpulint cannot render, or renders without a part.
    Rendering "rendering",
    /// helm or kustomize failed or is not installed.
    Renderer "renderer",
    /// A statement of Bicep that gpulint does not read.
    Statement "statement",
    /// More than gpulint reads of one file.
    Limit "limit",
    /// A file that gpulint cannot read, or that its tool would refuse.
    File "file",
    /// A submodule that is not checked out, or is at another commit.
    Submodule "submodule",
    /// A link without a target, or with a new one.
    Link "link",
    /// Files that a sparse checkout leaves out.
    Sparse "sparse",
    /// A file that is not in the base commit.
    NotInBase "not-in-base",
    /// A resource without a price.
    Price "price",
    /// A resource that may have accelerators.
    Machine "machine",
    /// A resource of an unsupported type.
    UnknownType "unknown-type",
    /// A field that changes what an object deploys, and that gpulint does not follow.
    Unfollowed "unfollowed",
    /// An object that gives accelerators to other containers.
    Grant "grant",
    /// A rule that found something before and cannot be evaluated now.
    Rule "rule",
    /// A change whose effect on cost is unknown.
    Change "change",
    /// From a report of an older version of gpulint.
    Other "other",
}

impl SkipKind {
    /// Returns true if every entry of this kind names accelerators, or may have some. Other entries are removed before
    /// a report.
    pub const fn is_about_accelerators(self) -> bool {
        matches!(
            self,
            SkipKind::Language
                | SkipKind::Program
                | SkipKind::Template
                | SkipKind::UncalledModule
                | SkipKind::MissingModule
                | SkipKind::Price
                | SkipKind::Machine
                | SkipKind::UnknownType
                | SkipKind::Grant
        )
    }
}

/// Shortens a message, because a hostile file can contain a name of a megabyte.
pub fn shortened(mut message: String) -> String {
    const LONGEST_BYTES: usize = 400;
    if message.len() > LONGEST_BYTES {
        let end = (0..=LONGEST_BYTES).rev().find(|end| message.is_char_boundary(*end)).unwrap_or(0);
        message.truncate(end);
        message.push('…');
    }
    message
}

/// Returns the closest known name, for "did you mean" messages; none if no name is close.
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A third of the letters may differ; longer names are not typing errors.
    let allowed = (typed.chars().count().min(64) / 3).max(1);
    known
        .into_iter()
        .filter(|name| typed.len() <= 200 && name.len() <= 200)
        .map(|name| (distance(typed, name), name))
        .filter(|(distance, _)| *distance <= allowed)
        .min()
        .map(|(_, name)| name)
}

/// Returns the number of letters to insert, delete, change or swap with a neighbor to turn one name into the other.
pub fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, to) in b.iter().enumerate() {
            let changed = last[j] + usize::from(from != to);
            let mut best = changed.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *from == b[j - 1] && a[i - 1] == *to {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_are_cut_between_letters() {
        assert_eq!(shortened("é".repeat(200)), "é".repeat(200));
        assert_eq!(shortened("xé".repeat(200)), format!("{}x…", "xé".repeat(133)));
    }

    #[test]
    fn a_misspelt_name_finds_the_one_that_was_meant() {
        let known = ["fail-on", "fail-confidence", "profile", "select"];
        assert_eq!(nearest("fial-on", known), Some("fail-on"));
        assert_eq!(nearest("profil", known), Some("profile"));
        assert_eq!(nearest("selects", known), Some("select"));
        assert_eq!(nearest("region", known), None);
        assert_eq!(nearest("", known), None);
    }

    /// Readers of JSON find the meaning of each kind in the glossary.
    #[test]
    fn the_glossary_has_every_kind() {
        let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/glossary.md")).unwrap();
        for kind in SkipKind::ALL {
            assert!(page.contains(&format!("`{}`", kind.name())), "{}", kind.name());
        }
    }
}
