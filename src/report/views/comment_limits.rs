//! Defines the size limits of a comment on a code host.

use super::markup::{Markdown, markdown};

/// The limits of a comment on its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    pub characters: usize,
    /// True if the host folds `<details>`. Other hosts would show the tags.
    pub folds: bool,
}

impl Default for Room {
    /// Returns limits that suit any host: below 60,000 characters, with space for the marker of a host.
    fn default() -> Self {
        Room { characters: 59_500, folds: true }
    }
}

impl Room {
    /// Creates limits with this many characters, but never more than people read.
    pub fn new(longest: usize, folds: bool) -> Room {
        const MARKER: usize = 500;
        Room { characters: longest.saturating_sub(MARKER).min(Room::default().characters), folds }
    }

    /// Reserves this many characters for something else.
    #[must_use]
    pub fn without(self, characters: usize) -> Room {
        Room { characters: self.characters.saturating_sub(characters), ..self }
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
