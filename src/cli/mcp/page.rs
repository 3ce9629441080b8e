//! Shortens a report for an assistant: pages through one of its lists, cuts the others, and lists what was
//! left out. The shortened report has the same structure as the full report.

use std::cmp::Reverse;

use serde_json::{Value, json};

/// The longest report. A conversation of an assistant has space for some hundred thousand characters.
pub(super) const MOST_BYTES: usize = 24_000;
/// The default number of entries on a page.
pub(super) const USUAL_ENTRIES: usize = 20;
/// The number of entries shown of the lists that were not requested.
const BESIDE: usize = 5;
/// Shorter lists are not cut, because this saves too little.
const SMALL_BYTES: usize = 200;
/// The length to which strings are cut if single entries are too large.
const LONGEST_TEXT_CHARS: usize = 400;

/// The requested part of a report.
#[derive(Debug, Clone)]
pub(super) struct ReportPage {
    /// The key of a list in the report. If the report itself is a list, the key is empty.
    pub(super) list: String,
    pub(super) limit: usize,
    pub(super) offset: usize,
    /// Whether to show fewer entries rather than incomplete ones: half of a fix's edits are useless.
    pub(super) is_whole: bool,
}

/// A list that was cut.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TruncatedList {
    pub(super) list: String,
    pub(super) total: usize,
    pub(super) offset: usize,
    pub(super) shown: usize,
}

impl TruncatedList {
    /// Returns the offset of the next page. Lists inside an entry have no pages.
    pub(super) fn next_offset(&self) -> Option<usize> {
        let next = Some(self.offset.saturating_add(self.shown)).filter(|next| *next < self.total);
        next.filter(|_| !self.list.contains('/'))
    }

    pub(super) fn to_json(&self) -> Value {
        let TruncatedList { list, total, offset, shown } = self;
        json!({ "list": list, "total": total, "offset": offset, "shown": shown, "next_offset": self.next_offset() })
    }
}

/// A report that was shortened.
#[derive(Debug, Default)]
pub(super) struct Shown {
    pub(super) report: Value,
    pub(super) left_out: Vec<TruncatedList>,
    /// The number of strings that were cut.
    pub(super) texts_cut: usize,
}

impl ReportPage {
    pub(super) fn of(&self, report: Value) -> Shown {
        let mut shown = Shown { report, ..Shown::default() };
        let Shown { report, left_out, .. } = &mut shown;
        match report {
            Value::Array(entries) => self.cut(entries, left_out),
            Value::Object(lists) => {
                for (name, value) in lists.iter_mut() {
                    let Value::Array(entries) = value else { continue };
                    let beside = ReportPage { list: name.clone(), limit: BESIDE, offset: 0, is_whole: true };
                    if *name == self.list { self.cut(entries, left_out) } else { beside.cut(entries, left_out) }
                }
            }
            _ => {}
        }
        while size(&shown.report) > MOST_BYTES && self.shrink(&mut shown) {}
        if size(&shown.report) > MOST_BYTES {
            shorten(&mut shown.report, &mut shown.texts_cut);
        }
        shown
    }

    fn cut(&self, entries: &mut Vec<Value>, left_out: &mut Vec<TruncatedList>) {
        let total = entries.len();
        entries.drain(..self.offset.min(total));
        entries.truncate(self.limit);
        if entries.len() < total {
            let (list, offset, shown) = (self.list.clone(), self.offset, entries.len());
            left_out.push(TruncatedList { list, total, offset, shown });
        }
    }

    /// Halves the least important list. Returns whether there is such a list.
    fn shrink(&self, shown: &mut Shown) -> bool {
        let Some(path) = self.most_easily_missed(&shown.report) else { return false };
        let Some(Value::Array(entries)) = shown.report.pointer_mut(&path) else { return false };
        let list = path.trim_start_matches('/');
        let total = entries.len();
        entries.truncate((total / 2).max(usize::from(self.is_asked(&path))));
        match shown.left_out.iter_mut().find(|it| it.list == list) {
            Some(told) => told.shown = entries.len(),
            None => {
                let offset = if self.is_asked(&path) { self.offset } else { 0 };
                shown.left_out.push(TruncatedList { list: list.to_owned(), total, offset, shown: entries.len() });
            }
        }
        true
    }

    /// Returns the list to cut: the largest other list, then the requested list, then the largest list inside it. If
    /// entries need not be complete, lists inside them are cut first.
    fn most_easily_missed(&self, report: &Value) -> Option<String> {
        let mut lists = Vec::new();
        gather(report, String::new(), &mut lists);
        let rank = |path: &str| match path.strip_prefix('/').unwrap_or(path).strip_prefix(&*self.list) {
            Some("") => 1,
            Some(rest) if self.is_whole && (self.list.is_empty() || rest.starts_with('/')) => 2,
            _ => 0,
        };
        lists.retain(|(path, entries, bytes)| *entries > usize::from(self.is_asked(path)) && *bytes > SMALL_BYTES);
        lists.into_iter().min_by_key(|(path, _, bytes)| (rank(path), Reverse(*bytes))).map(|(path, ..)| path)
    }

    /// Whether the path is that of the requested list, of which at least one entry stays.
    fn is_asked(&self, path: &str) -> bool {
        path.strip_prefix('/').unwrap_or(path) == self.list
    }
}

/// Returns the size of a value, and adds every list in it with its path, its number of entries and its size.
fn gather(value: &Value, path: String, lists: &mut Vec<(String, usize, usize)>) -> usize {
    const BETWEEN: usize = 1;
    let step = |key: &str| format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
    match value {
        Value::Array(entries) => {
            let sizes = entries.iter().enumerate().map(|(at, it)| gather(it, step(&at.to_string()), lists) + BETWEEN);
            let bytes = sizes.sum::<usize>().max(BETWEEN) + BETWEEN;
            lists.push((path, entries.len(), bytes));
            bytes
        }
        Value::Object(fields) => {
            let field = |(key, it): (&String, &Value)| key.len() + 4 + gather(it, step(key), lists);
            fields.iter().map(field).sum::<usize>().max(BETWEEN) + BETWEEN
        }
        _ => size(value),
    }
}

fn shorten(value: &mut Value, cut: &mut usize) {
    match value {
        Value::String(text) => {
            if let Some((end, _)) = text.char_indices().nth(LONGEST_TEXT_CHARS) {
                text.truncate(end);
                text.push('…');
                *cut += 1;
            }
        }
        Value::Array(entries) => entries.iter_mut().for_each(|it| shorten(it, cut)),
        Value::Object(fields) => fields.iter_mut().for_each(|(_, it)| shorten(it, cut)),
        _ => {}
    }
}

fn size(value: &Value) -> usize {
    value.to_string().len()
}

/// Returns the lines that fit, from a character offset on, and the offset of the next lines.
pub(super) fn lines(text: &str, offset: usize, most: usize) -> (String, Option<usize>) {
    let rest: String = text.chars().skip(offset).collect();
    let Some((end, _)) = rest.char_indices().nth(most) else { return (rest, None) };
    let fits = rest.get(..end).unwrap_or_default();
    // Lines are cut only if a single line is too long.
    let end = fits.rfind('\n').map_or(end, |at| at + 1);
    let shown = rest.get(..end).unwrap_or_default().to_owned();
    let next = offset + shown.chars().count();
    (shown, Some(next))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(list: &str, limit: usize, offset: usize) -> ReportPage {
        ReportPage { list: list.to_owned(), limit, offset, is_whole: true }
    }

    fn left_out(list: &str, total: usize, offset: usize, shown: usize) -> TruncatedList {
        TruncatedList { list: list.to_owned(), total, offset, shown }
    }

    #[test]
    fn a_page_of_what_was_asked_for_and_the_beginning_of_the_rest() {
        let many: Vec<usize> = (0..30).collect();
        let shown = page("a", 10, 5).of(json!({ "a": many, "b": many, "c": [1], "d": 7 }));
        let expected = json!({ "a": (5..15).collect::<Vec<_>>(), "b": [0, 1, 2, 3, 4], "c": [1], "d": 7 });
        assert_eq!(shown.report, expected);
        assert_eq!(shown.left_out, [left_out("a", 30, 5, 10), left_out("b", 30, 0, 5)]);
        assert_eq!(shown.left_out[0].next_offset(), Some(15));
        let shown = page("", 10, 99).of(json!(many));
        assert_eq!((shown.report, &shown.left_out[..]), (json!([]), &[left_out("", 30, 99, 0)][..]));
        assert_eq!(shown.left_out[0].next_offset(), None);
    }

    #[test]
    fn an_answer_fits_however_large_the_report_is() {
        let entry = |at: usize| json!({ "at": at, "inside": vec!["y".repeat(90); 40] });
        let all: Vec<Value> = (0..2_000).map(entry).collect();
        let whole = json!({ "version": 1, "findings": all, "resources": all, "deep": { "list": all } });
        let shown = page("findings", 200, 0).of(whole);
        assert!(size(&shown.report) <= MOST_BYTES, "{}", size(&shown.report));
        let findings = shown.report["findings"].as_array().unwrap();
        assert!(findings.len() > 2 && findings.iter().all(|it| it["inside"].as_array().unwrap().len() == 40));
        let of = |name: &str| shown.left_out.iter().find(|it| it.list == name).unwrap();
        assert_eq!((of("findings").total, of("resources").total, of("deep/list").total), (2_000, 2_000, 2_000));
        assert_eq!(of("findings").next_offset(), Some(findings.len()));
    }

    /// If entries need not be complete, all of them remain, and gpulint cuts the resources inside them.
    #[test]
    fn entries_that_need_not_be_whole_all_remain() {
        let case = |name: &str| json!({ "name": name, "resources": vec!["r".repeat(100); 3_000] });
        let report = json!({ "on": ["a"], "today": case("today"), "cases": [case("b"), case("c")] });
        let shown = ReportPage { is_whole: false, ..page("cases", 5, 0) }.of(report);
        assert!(size(&shown.report) <= MOST_BYTES);
        assert_eq!((shown.report["cases"].as_array().unwrap().len(), &shown.report["on"]), (2, &json!(["a"])));
        for place in ["/today/resources", "/cases/0/resources", "/cases/1/resources"] {
            let told = shown.report.pointer(place).unwrap().as_array().unwrap().len();
            assert!(told > 20, "{place}: {told}");
        }
    }

    #[test]
    fn sizes_are_those_of_what_is_written() {
        for value in
            [json!([]), json!({}), json!([1, "a\n", null]), json!({ "a": [], "b": { "c": [true, 1.5] }, "d": {} })]
        {
            assert_eq!(gather(&value, String::new(), &mut Vec::new()), size(&value), "{value}");
        }
    }

    #[test]
    fn one_entry_that_is_too_large_is_told_as_far_as_it_fits() {
        let shown = page("", 5, 0).of(json!(["z".repeat(1 << 20)]));
        assert!(size(&shown.report) < 2_000 && shown.texts_cut == 1);
        let shown = page("a", 5, 0).of(json!({ "a": [{ "b": vec!["c".repeat(100); 4_000] }] }));
        assert!(size(&shown.report) <= MOST_BYTES);
        assert_eq!(shown.left_out[0].list, "a/0/b");
    }

    #[test]
    fn text_is_told_in_whole_lines() {
        let text = "one\ntwo\nthree\n";
        assert_eq!(lines(text, 0, 9), ("one\ntwo\n".to_owned(), Some(8)));
        assert_eq!(lines(text, 8, 9), ("three\n".to_owned(), None));
        assert_eq!(lines("äöü", 0, 2), ("äö".to_owned(), Some(2)));
        assert_eq!(lines("a", 9, 2), (String::new(), None));
    }
}
