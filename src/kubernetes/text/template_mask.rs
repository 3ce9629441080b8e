//! Reads templates without rendering: directives become blanks or placeholders of the same length, so that positions
//! stay the same as in the file. Directives that only look up chart values are filled in.
//!
//! Supports the directives of Go templates, Jinja and Terraform (`%{ … }`). Branches that the values exclude become
//! blanks. One branch stays of each undecided condition. There are enough readings for each branch to stay in one.

use std::collections::HashMap;
use std::ops::Range;

use crate::languages::yaml::{HOLE, HoleMeaning, Masked, TemplateDirective};

use super::expression::{TemplateScope, evaluate};

const PAD: u8 = b'_';
/// The number of bytes around a directive that are searched.
const WINDOW: usize = 4096;
/// The maximum depth of blocks. Deeper blocks have no variables.
const DEEPEST: usize = 64;

/// The openings of directives of template languages.
pub(in crate::kubernetes) const OPENINGS: [&str; 3] = ["{{", "{%", "%{"];

pub(in crate::kubernetes) fn has_directives(text: &str) -> bool {
    OPENINGS.iter().any(|opening| memchr::memmem::find(text.as_bytes(), opening.as_bytes()).is_some())
}

/// Returns the first reading of a text.
pub(in crate::kubernetes) fn mask(text: &str, scope: &TemplateScope) -> Masked {
    mask_reading(text, scope, 0, Widths::new()).0
}

/// Returns up to `most` readings of a text. The first one takes the first branch of each undecided condition.
/// Conditions next to each other change branches together, so that equal conditions have equal results.
pub(in crate::kubernetes) fn mask_readings(text: &str, scope: &TemplateScope, most: usize) -> Vec<Masked> {
    let (first, widths, readings) = mask_reading(text, scope, 0, Widths::new());
    let mut all = vec![first];
    all.extend((1..readings.min(most)).map(|reading| mask_reading(text, scope, reading, widths.clone()).0));
    all
}

/// The number of readings of each branch, by the start of the condition.
type Widths = HashMap<usize, Vec<usize>>;

/// Returns one reading. If no widths are given, also returns the widths of all conditions and the number of readings.
fn mask_reading(text: &str, scope: &TemplateScope, reading: usize, widths: Widths) -> (Masked, Widths, usize) {
    let mut masker = Masker {
        text,
        out: text.as_bytes().to_vec(),
        holes: Vec::new(),
        frames: Vec::new(),
        dead: 0,
        reading,
        widths,
        readings: 1,
    };
    let mut scope = scope.clone();
    let mut end = 0;
    for directive in directives(text) {
        masker.between(end..directive.range.start);
        end = directive.range.end;
        masker.take(&directive, &mut scope);
    }
    masker.between(end..text.len());
    masker.place();
    let text = String::from_utf8(masker.out).unwrap_or_default();
    (Masked { text, holes: masker.holes }, masker.widths, masker.readings)
}

#[derive(Debug)]
struct Directive<'t> {
    range: Range<usize>,
    /// The text of the directive without brackets, dashes and blanks.
    inner: &'t str,
    comment: bool,
    /// True if the directive is `{{ … }}`, not `{% … %}` or `%{ … }`.
    output: bool,
}

fn directives(text: &str) -> Vec<Directive<'_>> {
    const FORMS: [(&str, &str, bool, bool); 4] =
        [("{{", "}}", true, false), ("{%", "%}", false, false), ("{#", "#}", false, true), ("%{", "}", false, false)];
    let mut all = Vec::new();
    // If one bracket is not closed, the later ones of its kind are not closed either. Searching again for each of them
    // would take quadratic time.
    let mut open_ended = [false; FORMS.len()];
    let mut at = 0;
    let bytes = text.as_bytes();
    while let Some(step) = memchr::memchr2(b'{', b'%', &bytes[at..]) {
        let start = at + step;
        let forms = FORMS.iter().zip(&mut open_ended);
        let form = forms.into_iter().find(|((opening, ..), _)| text[start..].starts_with(opening));
        let Some(((opening, closing, output, comment), open_ended)) = form.filter(|(_, open_ended)| !**open_ended)
        else {
            at = start + 1;
            continue;
        };
        let inside = start + opening.len();
        let Some(length) = text[inside..].find(closing) else {
            *open_ended = true;
            continue;
        };
        let mut end = inside + length + closing.len();
        // In `{{ "{{" }}}}` and similar directives, one more bracket belongs to the directive. In `{a: {{ .b }}}`, it
        // belongs to the mapping.
        let quotes = *closing == "}}" && text[inside..inside + length].contains("{{");
        while quotes && text[end..].starts_with('}') {
            end += 1;
        }
        let inner = text[inside..inside + length].trim_matches(|c: char| c == '-' || c == '~' || c.is_whitespace());
        all.push(Directive { range: start..end, inner, comment: *comment || inner.starts_with("/*"), output: *output });
        at = end;
    }
    all
}

/// An open block: `if`, `with`, `range`, `define`.
struct Frame {
    live: bool,
    /// True if one of the branches so far is certainly taken, so later branches never are.
    closed: bool,
    /// The start of the block.
    at: usize,
    /// The number of readings of each possible branch, up to the current one.
    widths: Vec<usize>,
    /// The branch that stays, and the number of its reading.
    stays: (usize, usize),
    outer: TemplateScope,
}

struct Masker<'t> {
    text: &'t str,
    out: Vec<u8>,
    holes: Vec<TemplateDirective>,
    frames: Vec<Frame>,
    /// The number of open blocks that are not active. It is counted because every line needs it.
    dead: usize,
    /// The number of this reading.
    reading: usize,
    widths: Widths,
    /// The number of all readings.
    readings: usize,
}

impl Masker<'_> {
    fn live(&self) -> bool {
        self.dead == 0
    }

    fn between(&mut self, range: Range<usize>) {
        if !self.live() {
            self.blank(range);
        }
    }

    fn blank(&mut self, range: Range<usize>) {
        for byte in self.out.get_mut(range).unwrap_or_default() {
            if !matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }

    fn take(&mut self, directive: &Directive<'_>, scope: &mut TemplateScope) {
        self.blank(directive.range.clone());
        if directive.comment {
            return;
        }
        let (word, rest) = directive.inner.split_once(char::is_whitespace).unwrap_or((directive.inner, ""));
        match word {
            "if" | "with" | "range" | "for" => self.open(word, rest, directive.range.start, scope),
            "define" | "block" | "macro" | "raw" => {
                self.push(word == "block" || word == "raw", true, directive.range.start, scope);
            }
            "else" | "elif" => self.turn(word, rest, scope),
            "end" | "endif" | "endfor" | "endmacro" | "endraw" | "endblock" => {
                if let Some(frame) = self.frames.pop() {
                    self.dead -= usize::from(!frame.live);
                    self.close(frame.at, frame.widths, frame.closed);
                    *scope = frame.outer;
                }
            }
            _ if !directive.output || matches!(word, "set" | "break" | "continue" | "include" if !directive.output) => {
            }
            _ if directive.inner.starts_with('$') && directive.inner.contains('=') => assign(directive.inner, scope),
            _ if self.live() => {
                let meaning = evaluate(directive.inner, scope);
                self.holes.push(TemplateDirective { range: directive.range.clone(), meaning });
            }
            _ => {}
        }
    }

    /// Opens a block whose first branch may or may not be taken.
    fn push(&mut self, may_stay: bool, closed: bool, at: usize, scope: &mut TemplateScope) {
        if self.frames.len() > DEEPEST {
            scope.variables.clear();
        }
        let reading = self.frames.last().map_or(self.reading, |frame| frame.stays.1);
        let stays = branch_of(self.widths.get(&at).map(Vec::as_slice).unwrap_or_default(), reading);
        let live = may_stay && stays.0 == 0;
        self.dead += usize::from(!live);
        let widths = if may_stay { vec![1] } else { Vec::new() };
        self.frames.push(Frame { live, closed, at, widths, stays, outer: scope.clone() });
    }

    /// Records the number of readings of a closed block. The blocks around it have at least as many.
    fn close(&mut self, at: usize, mut widths: Vec<usize>, closed: bool) {
        // If it is possible that no branch is taken, this needs one more reading.
        widths.extend((!closed).then_some(1));
        let all = widths.iter().fold(0, |sum: usize, width| sum.saturating_add(*width)).max(1);
        let around = self.frames.last_mut().map_or(Some(&mut self.readings), |frame| frame.widths.last_mut());
        if let Some(around) = around {
            *around = all.max(*around);
        }
        self.widths.entry(at).or_insert(widths);
    }

    fn open(&mut self, word: &str, rest: &str, at: usize, scope: &mut TemplateScope) {
        let meaning = evaluate(rest, scope);
        let holds = meaning.holds();
        // A loop or similar block is read as if it ran once.
        self.push(holds != Some(false), holds == Some(true) || word != "if" && holds.is_none(), at, scope);
        match (word, meaning) {
            ("with", HoleMeaning::Node(node)) => scope.dot = Some(Some(node)),
            ("with" | "range", _) => scope.dot = Some(None),
            _ => {}
        }
    }

    fn turn(&mut self, word: &str, rest: &str, scope: &mut TemplateScope) {
        let condition = if word == "elif" { Some(rest) } else { rest.trim().strip_prefix("if ") };
        let Some(frame) = self.frames.last_mut() else { return };
        *scope = frame.outer.clone();
        let holds = condition.map_or(Some(true), |condition| evaluate(condition, scope).holds());
        self.dead -= usize::from(!frame.live);
        let may_stay = !frame.closed && holds != Some(false);
        frame.live = may_stay && frame.stays.0 == frame.widths.len();
        frame.widths.extend(may_stay.then_some(1));
        frame.closed |= holds == Some(true);
        self.dead += usize::from(!frame.live);
    }

    /// Puts placeholders where directives insert text: in place on a line with other text, after the key that they
    /// complete on a separate line, and nowhere if they add to existing text.
    fn place(&mut self) {
        let holes = std::mem::take(&mut self.holes);
        for hole in holes {
            let placed = !self.is_alone(&hole.range) || self.joined_to_key(&hole.range);
            if placed && self.put(&hole.range) {
                self.holes.push(hole);
            }
        }
    }

    fn put(&mut self, range: &Range<usize>) -> bool {
        let mut encoded = [0; 4];
        let mark = HOLE.encode_utf8(&mut encoded).as_bytes();
        let line_end = self.text[range.clone()].find('\n').map_or(range.end, |at| range.start + at);
        if line_end - range.start < mark.len() {
            return false;
        }
        for (offset, byte) in self.out.get_mut(range.start..line_end).unwrap_or_default().iter_mut().enumerate() {
            *byte = mark.get(offset).copied().unwrap_or(PAD);
        }
        true
    }

    /// Returns the masked text near a directive.
    fn around(&self, range: &Range<usize>) -> (&[u8], &[u8]) {
        let before = self.out.get(range.start.saturating_sub(WINDOW)..range.start);
        let after = self.out.get(range.end..(range.end + WINDOW).min(self.out.len()));
        (before.unwrap_or_default(), after.unwrap_or_default())
    }

    /// Returns whether its line contains only blanks and other directives.
    fn is_alone(&self, range: &Range<usize>) -> bool {
        let (before, after) = self.around(range);
        let same_line = |byte: &&u8| **byte != b'\n';
        before.iter().rev().take_while(same_line).all(u8::is_ascii_whitespace)
            && after.iter().take_while(same_line).all(u8::is_ascii_whitespace)
    }

    /// Handles a directive after a key without a value. If the next line is not nested below the key, the placeholder
    /// is its value, and both are put on one line.
    fn joined_to_key(&mut self, range: &Range<usize>) -> bool {
        let (before, after) = self.around(range);
        let Some(colon) = before.iter().rposition(|byte| !byte.is_ascii_whitespace()) else { return false };
        if before.get(colon) != Some(&b':') {
            return false;
        }
        let line = before[..colon].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let key = before.get(line..).map_or(0, indent);
        let next = after.split(|&byte| byte == b'\n').skip(1).find(|line| !line.trim_ascii().is_empty());
        if next.is_some_and(|line| indent(line) > key) {
            return false;
        }
        let blanks = range.start - (before.len() - colon - 1)..range.start;
        for byte in self.out.get_mut(blanks).unwrap_or_default() {
            *byte = b' ';
        }
        true
    }
}

/// Returns the branch that stays in a reading, and the number of its own reading. Later readings use the last one.
fn branch_of(widths: &[usize], mut reading: usize) -> (usize, usize) {
    for (branch, width) in widths.iter().enumerate() {
        if reading < *width || branch + 1 == widths.len() {
            return (branch, reading);
        }
        reading -= width;
    }
    (0, reading)
}

/// Returns the column at which a line starts. The dash of a list item counts as a blank.
fn indent(line: &[u8]) -> usize {
    let blanks = line.iter().take_while(|&&byte| byte == b' ').count();
    match line.get(blanks..) {
        Some([b'-', b' ', rest @ ..]) => blanks + 2 + rest.iter().take_while(|&&byte| byte == b' ').count(),
        _ => blanks,
    }
}

fn assign(inner: &str, scope: &mut TemplateScope) {
    let Some((name, expression)) = inner.split_once('=') else { return };
    let name = name.trim_end_matches(':').trim().trim_start_matches('$');
    let value = match evaluate(expression, scope) {
        HoleMeaning::Node(node) => Some(node),
        _ => None,
    };
    scope.variables.insert(name.to_owned(), value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::languages::yaml;
    use crate::source::{MemoryTree, SourceFiles};

    fn masked(text: &str, values: &str) -> String {
        let sources = SourceFiles::new(MemoryTree::new().with("values.yaml", values));
        let stream = yaml::read(sources.open("values.yaml").unwrap(), values);
        let values = stream.documents.first().map(|document| document.root.clone());
        let masked = mask(text, &TemplateScope { values, ..TemplateScope::default() });
        assert_eq!(masked.text.len(), text.len());
        masked.text
    }

    #[test]
    fn lines_of_directives_are_blank_and_others_are_holes() {
        let text = "a: {{ .x }}\n{{- if .Release.x }}\nb: 1\n{{- else }}\nb: 2\n{{- end }}\n";
        let hole = format!("{HOLE}_____");
        let expected = format!("a: {hole}\n                    \nb: 1\n           \n    \n          \n");
        assert_eq!(masked(text, ""), expected);
    }

    #[test]
    fn a_branch_that_the_values_rule_out_is_blank() {
        let text = "{{ if .Values.gpu }}a: 1{{ else }}a: 2{{ end }}\n";
        assert_eq!(masked(text, "gpu: true").trim(), "a: 1");
        assert_eq!(masked(text, "gpu: false").trim(), "a: 2");
    }

    #[test]
    fn each_branch_stays_in_one_reading() {
        let of = |text: &str| -> Vec<String> {
            let all = mask_readings(text, &TemplateScope::default(), 8).into_iter();
            all.map(|it| it.text.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
        };
        let nested = "{% if a %}1{% else %}{% if b %}2{% elif c %}3{% else %}4{% endif %}{% endif %}";
        assert_eq!(of(nested), ["1", "2", "3", "4"]);
        let beside = "{% if a %}1{% else %}2{% endif %} {% if a %}3{% endif %} {% for b in c %}5{% endfor %}";
        assert_eq!(of(beside), ["1 3 5", "2 5"]);
        assert_eq!(of("{% if a %}1{% else %}2"), ["1"]);
        assert_eq!(
            of("{% for x in y %}{% if a %}1{% endif %}{% if b %}2{% else %}3{% endif %}{% endfor %}"),
            ["1 2", "3"]
        );
    }

    #[test]
    fn a_directive_below_a_key_is_its_value() {
        let text = "r:\n  {{- toYaml .Values.r | nindent 2 }}\nn: 1\n";
        assert!(masked(text, "").starts_with(&format!("r:   {HOLE}")));
        let text = "labels:\n  {{- include \"labels\" . | nindent 2 }}\n  app: x\n";
        assert!(!masked(text, "").contains(HOLE));
    }

    #[test]
    fn directives_that_do_not_close_are_text() {
        assert_eq!(masked("a: {{ b\n", ""), "a: {{ b\n");
        assert_eq!(masked("{{ end }}{{ end }}x: 1", "").trim(), "x: 1");
    }
}
