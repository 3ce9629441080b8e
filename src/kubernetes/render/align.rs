//! Maps lines of rendered text to lines of the template.

/// The limit on the size of the comparison table. In larger files, each line gets the position of the whole template.
const MOST_CELLS: usize = 1_000_000;

/// One line of a template.
pub(super) struct TemplateLine<'t> {
    pub text: &'t str,
    /// The text around the directives of the line; empty for a line without directives.
    literals: Vec<&'t str>,
    pub has_directive: bool,
}

impl<'t> TemplateLine<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let text = text.trim();
        let mut literals = Vec::new();
        let mut rest = text;
        while let Some((before, inside)) = rest.split_once("{{") {
            literals.push(before);
            rest = inside.split_once("}}").map_or("", |(_, after)| after);
        }
        literals.push(rest);
        TemplateLine { text, has_directive: literals.len() > 1, literals }
    }

    /// Returns a score for the match with a rendered line; 0 if no match is possible.
    fn weight(&self, rendered: &str) -> u32 {
        let solid = |text: &str| text.bytes().filter(u8::is_ascii_alphanumeric).count() as u32;
        if !self.has_directive {
            return if self.text == rendered { solid(rendered) * 2 } else { 0 };
        }
        let (Some((first, middle)), Some(last)) = (self.literals.split_first(), self.literals.last()) else { return 0 };
        let Some(mut rest) = rendered.strip_prefix(first.trim_start()) else { return 0 };
        let inner = middle.split_last().map_or(&[][..], |(_, inner)| inner);
        for literal in inner {
            match rest.find(literal.trim()) {
                Some(at) => rest = rest.get(at + literal.trim().len()..).unwrap_or_default(),
                None => return 0,
            }
        }
        if !rest.ends_with(last.trim_end()) {
            return 0;
        }
        self.literals.iter().map(|literal| solid(literal)).sum()
    }
}

/// Returns for each rendered line the template line that it came from. Chooses the ordered pairs with the best total
/// score; lines that a loop repeats get their best single match.
pub(super) fn align(template: &[TemplateLine<'_>], rendered: &[&str]) -> (u32, Vec<Option<usize>>) {
    let mut found = vec![None; rendered.len()];
    let width = template.len() + 1;
    if (rendered.len() + 1).saturating_mul(width) > MOST_CELLS {
        return (0, found);
    }
    let rendered: Vec<&str> = rendered.iter().map(|line| line.trim()).collect();
    let mut weights = vec![0u32; rendered.len() * template.len()];
    for (cell, weight) in weights.iter_mut().enumerate() {
        let (line, place) = (cell / template.len(), cell % template.len());
        if let (Some(line), Some(place)) = (rendered.get(line), template.get(place)) {
            *weight = place.weight(line);
        }
    }
    let weight = |line: usize, place: usize| weights.get(line * template.len() + place).copied().unwrap_or(0);
    let mut best = vec![0u32; (rendered.len() + 1) * width];
    let at = |best: &[u32], line: usize, place: usize| best.get(line * width + place).copied().unwrap_or(0);
    for line in (0..rendered.len()).rev() {
        for place in (0..template.len()).rev() {
            let pair = match weight(line, place) {
                0 => 0,
                weight => weight + at(&best, line + 1, place + 1),
            };
            let value = pair.max(at(&best, line + 1, place)).max(at(&best, line, place + 1));
            if let Some(cell) = best.get_mut(line * width + place) {
                *cell = value;
            }
        }
    }
    let (mut line, mut place) = (0, 0);
    while line < rendered.len() && place < template.len() {
        let here = at(&best, line, place);
        let pair = weight(line, place);
        if pair > 0 && here == pair + at(&best, line + 1, place + 1) {
            found[line] = Some(place);
            (line, place) = (line + 1, place + 1);
        } else if here == at(&best, line + 1, place) {
            line += 1;
        } else {
            place += 1;
        }
    }
    for (line, found) in found.iter_mut().enumerate().filter(|(_, found)| found.is_none()) {
        // Only long lines are evidence, because lines such as `limits:` occur in many places.
        const TELLING: u32 = 8;
        let most = (0..template.len()).map(|place| (weight(line, place), std::cmp::Reverse(place))).max();
        *found = most.filter(|(weight, _)| *weight >= TELLING).map(|(_, place)| place.0);
    }
    (best.first().copied().unwrap_or(0), found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aligned(template: &str, rendered: &str) -> Vec<Option<usize>> {
        let template: Vec<TemplateLine<'_>> = template.lines().map(TemplateLine::new).collect();
        align(&template, &rendered.lines().collect::<Vec<_>>()).1
    }

    #[test]
    fn lines_find_their_template() {
        let template = "kind: Deployment\n{{- if .Values.x }}\nreplicas: {{ .Values.replicas }}\n{{- end }}\nresources:\n  {{- toYaml .Values.resources | nindent 2 }}\ntail: 1";
        let rendered = "kind: Deployment\nreplicas: 2\nresources:\n  limits:\n    nvidia.com/gpu: 1\ntail: 1";
        assert_eq!(aligned(template, rendered), [Some(0), Some(2), Some(4), None, None, Some(6)]);
    }

    #[test]
    fn what_a_loop_repeats_finds_the_line_in_the_loop() {
        let template = "{{- range .Values.pools }}\nkind: Deployment\nname: pool-{{ .name }}\n{{- end }}";
        let rendered = "kind: Deployment\nname: pool-a\nkind: Deployment\nname: pool-b";
        let found = aligned(template, rendered);
        assert!(found.iter().all(Option::is_some), "{found:?}");
        assert_eq!((found[2], found[3]), (Some(1), Some(2)));
    }
}
