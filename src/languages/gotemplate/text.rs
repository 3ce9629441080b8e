//! Defines text with the origins of its parts: the place of each part, the unknown parts, and the parts that may not
//! exist.

use std::rc::Rc;

use crate::source::{Segment, Span};

/// The place of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TextOrigin {
    pub(crate) span: Span,
    /// Whether each byte corresponds to the byte at the same offset in the span.
    pub(crate) linear: bool,
}

impl TextOrigin {
    pub(crate) fn whole(span: Span) -> Self {
        TextOrigin { span, linear: false }
    }
}

/// The reason why something is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TemplateCause {
    /// One or two words that represent the unknown value in text.
    pub(crate) label: Rc<str>,
    pub(crate) why: Rc<str>,
}

impl TemplateCause {
    pub(crate) fn new(label: &str, why: impl Into<Rc<str>>) -> Self {
        TemplateCause { label: label.into(), why: why.into() }
    }
}

#[derive(Debug, Clone, Copy)]
struct Mark {
    start: usize,
    end: usize,
    origin: TextOrigin,
}

/// A part of a text that is unknown or may not exist.
#[derive(Debug, Clone)]
pub(crate) struct UnknownPart {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) cause: TemplateCause,
}

#[derive(Debug, Clone, Default)]
struct Notes {
    marks: Vec<Mark>,
    holes: Vec<UnknownPart>,
    doubts: Vec<UnknownPart>,
}

impl Notes {
    fn is_empty(&self) -> bool {
        self.marks.is_empty() && self.holes.is_empty() && self.doubts.is_empty()
    }

    fn take(&mut self, other: &Notes, from: usize, to: usize, at: usize) {
        let first = other.marks.partition_point(|mark| mark.end <= from);
        for mark in other.marks.iter().skip(first).take_while(|mark| mark.start < to) {
            let (start, end) = (mark.start.max(from), mark.end.min(to));
            let mut origin = mark.origin;
            if origin.linear {
                let by = u32::try_from(start - mark.start).unwrap_or(u32::MAX);
                origin.span.start = origin.span.start.saturating_add(by).min(origin.span.end);
            }
            self.mark(start - from + at, end - from + at, origin);
        }
        let within = |hole: &&UnknownPart| hole.start < to && hole.end > from;
        let first = other.holes.partition_point(|hole| hole.end <= from);
        let moved = |hole: &UnknownPart| UnknownPart {
            start: hole.start.max(from) - from + at,
            end: hole.end.min(to) - from + at,
            cause: hole.cause.clone(),
        };
        self.holes.extend(other.holes.iter().skip(first).take_while(within).map(moved));
        self.doubts.extend(other.doubts.iter().filter(within).map(moved));
    }

    fn mark(&mut self, start: usize, end: usize, origin: TextOrigin) {
        if start < end {
            self.marks.push(Mark { start, end, origin });
        }
    }
}

/// A text with the origins of its parts; copies share it.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    text: Rc<str>,
    notes: Option<Rc<Notes>>,
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text { text: text.into(), notes: None }
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Text { text: text.into(), notes: None }
    }
}

impl Text {
    /// Returns text from a place, byte by byte.
    pub(crate) fn at(text: &str, origin: TextOrigin) -> Self {
        let mut notes = Notes::default();
        notes.mark(0, text.len(), origin);
        Text { text: text.into(), notes: (!notes.is_empty()).then(|| notes.into()) }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    /// Returns its size in bytes, including the origins of its parts.
    pub(crate) fn weight(&self) -> usize {
        const EACH: usize = 48;
        let notes = self.notes.as_ref().map_or(0, |it| it.marks.len() + it.holes.len() + it.doubts.len());
        self.text.len() + EACH * notes
    }

    /// Returns the first unknown part.
    pub(crate) fn hole(&self) -> Option<&TemplateCause> {
        self.notes.as_ref()?.holes.first().map(|hole| &hole.cause)
    }

    pub(crate) fn holes(&self) -> &[UnknownPart] {
        self.notes.as_ref().map_or(&[], |notes| &notes.holes)
    }

    /// Returns the parts that exist only under an unknown condition.
    pub(crate) fn doubts(&self) -> &[UnknownPart] {
        self.notes.as_ref().map_or(&[], |notes| &notes.doubts)
    }

    /// Returns the origin of the first part that has one.
    pub(crate) fn origin(&self) -> Option<TextOrigin> {
        self.notes.as_ref()?.marks.first().map(|mark| mark.origin)
    }

    /// Returns the origin of the quotes around it, which belong to its first part.
    pub(crate) fn origin_of_quotes(&self) -> Option<TextOrigin> {
        self.origin_at(0).map(|origin| TextOrigin { linear: false, ..origin })
    }

    /// Returns the origin of a byte.
    pub(crate) fn origin_at(&self, at: usize) -> Option<TextOrigin> {
        let notes = self.notes.as_ref()?;
        let mark = notes.marks.get(notes.marks.partition_point(|mark| mark.end <= at))?;
        if mark.start > at {
            return None;
        }
        let mut origin = mark.origin;
        if origin.linear {
            origin.span.start += u32::try_from(at - mark.start).unwrap_or(0);
        }
        Some(origin)
    }

    /// Returns the place of a range, if it comes from one place.
    pub(crate) fn span_of(&self, start: usize, end: usize) -> Option<Span> {
        let from = self.origin_at(start)?;
        if !from.linear {
            return Some(from.span);
        }
        let length = u32::try_from(end.saturating_sub(start)).unwrap_or(u32::MAX);
        Some(Span { end: from.span.start.saturating_add(length).min(from.span.end), ..from.span })
    }

    /// Returns true if the text is certainly not empty, regardless of its unknown parts.
    pub(crate) fn is_surely_filled(&self) -> bool {
        let holes: usize = self.holes().iter().map(|hole| hole.end - hole.start).sum();
        let doubts: usize = self.doubts().iter().map(|hole| hole.end - hole.start).sum();
        holes + doubts < self.text.len()
    }

    pub(crate) fn slice(&self, start: usize, end: usize) -> Text {
        if start == 0 && end == self.text.len() {
            return self.clone();
        }
        let text = self.text.get(start..end).unwrap_or_default();
        let Some(notes) = &self.notes else { return text.into() };
        let mut all = Notes::default();
        all.take(notes, start, end.max(start), 0);
        Text { text: text.into(), notes: (!all.is_empty()).then(|| all.into()) }
    }

    /// Returns the segments of rendered text. Parts without an origin get `otherwise`.
    pub(crate) fn segments(&self, otherwise: Span) -> Vec<Segment> {
        let mut segments = Vec::new();
        let mut at = 0;
        let place = |start: usize| u32::try_from(start).unwrap_or(u32::MAX);
        let mut last = otherwise;
        for mark in self.notes.iter().flat_map(|notes| &notes.marks) {
            if mark.start > at || segments.is_empty() && mark.start > 0 {
                segments.push(Segment { start: place(at), origin: last, linear: false });
            }
            segments.push(Segment { start: place(mark.start), origin: mark.origin.span, linear: mark.origin.linear });
            last = mark.origin.span;
            at = mark.end;
        }
        if at < self.text.len() || segments.is_empty() {
            segments.push(Segment { start: place(at), origin: last, linear: false });
        }
        segments
    }
}

/// Builds a text.
#[derive(Debug, Default)]
pub(crate) struct TextWriter {
    text: String,
    notes: Notes,
}

impl TextWriter {
    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn push(&mut self, text: &str, origin: Option<TextOrigin>) {
        let start = self.text.len();
        self.text.push_str(text);
        if let Some(origin) = origin {
            self.notes.mark(start, self.text.len(), origin);
        }
    }

    /// Appends a part of a text. Parts without an origin get `otherwise`.
    pub(crate) fn push_slice(&mut self, text: &Text, start: usize, end: usize, otherwise: Option<TextOrigin>) {
        let at = self.text.len();
        let Some(piece) = text.text.get(start..end) else { return };
        self.text.push_str(piece);
        let Some(notes) = &text.notes else {
            if let Some(origin) = otherwise {
                self.notes.mark(at, self.text.len(), TextOrigin { linear: false, ..origin });
            }
            return;
        };
        let before = self.notes.marks.len();
        self.notes.take(notes, start, end, at);
        if let Some(otherwise) = otherwise {
            self.fill(before, at, otherwise);
        }
    }

    /// Gives an origin to parts without one, from a position on.
    fn fill(&mut self, before: usize, from: usize, origin: TextOrigin) {
        let origin = TextOrigin { linear: false, ..origin };
        let marked: Vec<Mark> = self.notes.marks.drain(before..).collect();
        let mut at = from;
        for mark in marked {
            self.notes.mark(at, mark.start, origin);
            at = mark.end;
            self.notes.marks.push(mark);
        }
        self.notes.mark(at, self.text.len(), origin);
    }

    pub(crate) fn push_text(&mut self, text: &Text, otherwise: Option<TextOrigin>) {
        self.push_slice(text, 0, text.len(), otherwise);
    }

    pub(crate) fn push_hole(&mut self, cause: &TemplateCause, origin: Option<TextOrigin>) {
        let start = self.text.len();
        let label = format!("${{{}}}", cause.label);
        self.push(&label, origin.map(|origin| TextOrigin { linear: false, ..origin }));
        self.notes.holes.push(UnknownPart { start, end: self.text.len(), cause: cause.clone() });
    }

    /// Marks the text from a position on as possibly missing.
    pub(crate) fn doubt(&mut self, start: usize, cause: &TemplateCause) {
        if start < self.text.len() {
            self.notes.doubts.push(UnknownPart { start, end: self.text.len(), cause: cause.clone() });
        }
    }

    pub(crate) fn finish(self) -> Text {
        let notes = (!self.notes.is_empty()).then(|| self.notes.into());
        Text { text: self.text.into(), notes }
    }
}
