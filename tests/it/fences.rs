//! Reads the fenced blocks of a case file, and writes changed ones back.

use std::ops::Range;

/// A fenced block: ```` ```hcl file=main.tf ````.
pub(crate) struct Fence {
    pub(crate) language: String,
    /// `file=main.tf`, without the `file=`.
    pub(crate) file: Option<String>,
    pub(crate) text: String,
    /// The text's bytes in the case file.
    pub(crate) range: Range<usize>,
}

pub(crate) fn read(case: &str) -> Vec<Fence> {
    let mut fences = Vec::new();
    let mut open: Option<(usize, String, usize)> = None;
    let mut at = 0;
    for line in case.split_inclusive('\n') {
        let next = at + line.len();
        let trimmed = line.trim_end();
        let ticks = trimmed.len() - trimmed.trim_start_matches('`').len();
        match &open {
            None if ticks >= 3 => open = Some((ticks, trimmed[ticks..].to_owned(), next)),
            Some((opened, info, start)) if ticks >= *opened && trimmed.len() == ticks => {
                let mut words = info.split_whitespace();
                fences.push(Fence {
                    language: words.next().unwrap_or_default().to_owned(),
                    file: words.find_map(|word| word.strip_prefix("file=").map(str::to_owned)),
                    text: case[*start..at].to_owned(),
                    range: *start..at,
                });
                open = None;
            }
            _ => {}
        }
        at = next;
    }
    assert!(open.is_none(), "a fence is not closed");
    fences
}

/// The case with the text of one fence replaced.
pub(crate) fn replaced(case: &str, fence: &Fence, text: &str) -> String {
    format!("{}{text}{}", &case[..fence.range.start], &case[fence.range.end..])
}

pub(crate) fn blessing() -> bool {
    std::env::var_os("GPULINT_BLESS").is_some()
}
