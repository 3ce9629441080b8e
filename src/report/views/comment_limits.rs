//! Defines the size limits of a comment on a code host.

use super::markup::{Markdown, markdown};

/// The limits of a comment on its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommentLimits {
    pub characters: usize,
    /// True if the host folds `<details>`. Other hosts would show the tags.
    pub folds: bool,
}

impl Default for CommentLimits {
    /// Returns limits that suit any host: below 60,000 characters, with space for the marker of a host.
    fn default() -> Self {
        CommentLimits { characters: 59_500, folds: true }
    }
}

impl CommentLimits {
    /// Creates limits with this many characters, but never more than people read.
    pub fn new(longest: usize, folds: bool) -> CommentLimits {
        const MARKER: usize = 500;
        CommentLimits { characters: longest.saturating_sub(MARKER).min(CommentLimits::default().characters), folds }
    }

    /// Reserves this many characters for something else.
    #[must_use]
    pub fn without(self, characters: usize) -> CommentLimits {
        CommentLimits { characters: self.characters.saturating_sub(characters), ..self }
    }

    pub(in crate::report) fn open_fold(self, text: &mut Markdown, summary: Markdown) {
        match self.folds {
            true => markdown!(text, "<details><summary>", summary, "</summary>\n\n"),
            false => markdown!(text, "**", summary, "**\n\n"),
        }
    }

    pub(in crate::report) fn close_fold(self, text: &mut Markdown) {
        text.push(if self.folds { "\n</details>\n\n" } else { "\n" });
    }
}
