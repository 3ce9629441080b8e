//! Places in files of unknown content: texts of blanks preserve lines and columns.

use std::collections::{BTreeMap, HashMap};

use crate::source::{FileId, MemoryTree, SourceFiles, Span};

/// Lines and columns of files of unknown content.
#[derive(Default)]
pub(super) struct SavedLocations {
    /// The number of columns of each line, by path.
    files: BTreeMap<String, BTreeMap<usize, usize>>,
}

/// The limit on lines of a file. No real file is longer, so a report with more lines is not valid.
const MOST_LINES: usize = 2_000_000;
const MOST_COLUMNS: usize = 10_000;

impl SavedLocations {
    pub(super) fn mark(&mut self, path: &str, line: usize, column: usize) {
        let widest = self.files.entry(path.to_owned()).or_default().entry(line.clamp(1, MOST_LINES)).or_default();
        *widest = (*widest).max(column.clamp(1, MOST_COLUMNS));
    }

    pub(super) fn build(self) -> (SourceFiles, Located) {
        let mut tree = MemoryTree::new();
        let mut starts: HashMap<String, (Vec<usize>, usize)> = HashMap::new();
        for (path, lines) in self.files {
            let last = lines.keys().next_back().copied().unwrap_or(1);
            let mut text = String::new();
            let mut begins = Vec::with_capacity(last);
            for line in 1..=last {
                begins.push(text.len());
                text.push_str(&" ".repeat(lines.get(&line).copied().unwrap_or(0)));
                text.push('\n');
            }
            starts.insert(path.clone(), (begins, text.len()));
            tree = tree.with(&path, text);
        }
        let sources = SourceFiles::new(tree);
        let located = starts.into_iter().filter_map(|(path, (begins, end))| {
            let file = sources.open(&path).ok()?;
            Some((path, LocatedFile { file, begins, end }))
        });
        let located = Located { files: located.collect() };
        (sources, located)
    }
}

pub(super) struct LocatedFile {
    file: FileId,
    begins: Vec<usize>,
    end: usize,
}

pub(super) struct Located {
    files: HashMap<String, LocatedFile>,
}

impl Located {
    /// Returns the place in the texts of blanks; every place was marked before.
    pub(super) fn span(&self, path: &str, line: usize, column: usize) -> Option<Span> {
        let file = self.files.get(path)?;
        let start = file.begins.get(line.clamp(1, MOST_LINES) - 1)? + column.clamp(1, MOST_COLUMNS) - 1;
        Some(Span::new(file.file, start, start))
    }

    /// Returns the place of whole lines, without the final line feed.
    pub(super) fn lines(&self, path: &str, first: usize, last: usize) -> Option<Span> {
        let file = self.files.get(path)?;
        let start = *file.begins.get(first.checked_sub(1)?)?;
        let end = file.begins.get(last).copied().unwrap_or(file.end);
        Some(Span::new(file.file, start, end.saturating_sub(1)))
    }
}
