//! What something was over time: areas in steps, one on the other, with gaps where nothing is known.

use std::fmt::Write;

use super::bars::{Bar, Color, Hatch, percent, rect};
use super::markup::Html;

/// A text at a share of an axis.
pub(in crate::report) struct Label {
    pub(in crate::report) at: f64,
    pub(in crate::report) text: String,
}

pub(in crate::report) struct Area<'a> {
    /// The share of the width at which each state begins, and the series in it; none where it is not known.
    pub(in crate::report) columns: &'a [(f64, Option<Vec<f64>>)],
    pub(in crate::report) most: f64,
    /// On the axis of amounts, as shares of the most.
    pub(in crate::report) ticks: &'a [Label],
    pub(in crate::report) labels: &'a [Label],
    /// What a table below tells more of.
    pub(in crate::report) marks: &'a [Label],
}

/// Heights in pixels, and where the areas begin below marks.
const HEIGHT: f64 = 200.0;
const TOP: f64 = 26.0;

/// The inner drawing is stretched over the width: so many units wide.
const WIDTH: f64 = 10_000.0;

const COLORS: [Color; 5] = [Color::Blue, Color::Vermillion, Color::Green, Color::Purple, Color::Grey];

/// The last series is everything else.
fn color(series: usize, all: usize) -> Color {
    let at = if series + 1 == all { COLORS.len() - 1 } else { series };
    COLORS.get(at).copied().unwrap_or(Color::Grey)
}

/// A square of the colour of a series.
pub(in crate::report) fn swatch(page: &mut Html, series: usize) {
    let size = [("width", "14"), ("height", "14"), ("aria-hidden", "true"), ("focusable", "false")];
    page.element("svg", &size, |page| {
        let bar = Bar { from: "0".to_owned(), width: "14".to_owned(), y: 0, height: 14 };
        rect(page, &bar, COLORS.get(series).copied().unwrap_or(Color::Grey), Hatch::None);
    });
}

pub(in crate::report) fn area(page: &mut Html, it: &Area) {
    let height = format!("{}", HEIGHT + TOP + 24.0);
    let attributes = [("width", "100%"), ("height", height.as_str()), ("aria-hidden", "true"), ("focusable", "false")];
    page.element("svg", &attributes, |page| {
        let stretched = [
            ("x", "0"),
            ("y", "26"),
            ("width", "100%"),
            ("height", "200"),
            ("viewBox", "0 0 10000 200"),
            ("preserveAspectRatio", "none"),
        ];
        page.element("svg", &stretched, |page| paths(page, it));
        for tick in it.ticks {
            line(page, tick);
        }
        for label in it.labels {
            let anchor = if label.at <= 0.0 {
                "start"
            } else if label.at >= 1.0 {
                "end"
            } else {
                "middle"
            };
            words(page, label, anchor, "246", "soft-ink", "12");
        }
        for mark in it.marks {
            let label = Label { at: mark.at.clamp(0.012, 0.988), text: mark.text.clone() };
            words(page, &label, "middle", "16", "ink", "13");
            let at = percent(label.at);
            let attributes = [
                ("class", "line"),
                ("x1", &*at),
                ("x2", &*at),
                ("y1", "20"),
                ("y2", "26"),
                ("stroke", "#1f2328"),
                ("stroke-width", "2"),
            ];
            page.element("line", &attributes, |_| {});
        }
    });
    page.raw("\n");
}

/// A grid line with the amount that it stands for.
fn line(page: &mut Html, tick: &Label) {
    let y = format!("{:.1}", TOP + HEIGHT * (1.0 - tick.at));
    let attributes = [
        ("class", "rule"),
        ("x1", "0"),
        ("x2", "100%"),
        ("y1", y.as_str()),
        ("y2", y.as_str()),
        ("stroke", "#d0d7de"),
        ("stroke-width", "1"),
    ];
    page.element("line", &attributes, |_| {});
    // The lowest line needs no word, and areas lie on it.
    if tick.at <= 0.0 {
        return;
    }
    // Readable on whatever area is behind it.
    let y = format!("{:.1}", TOP + HEIGHT * (1.0 - tick.at) - 3.0);
    let attributes = [
        ("class", "tick"),
        ("x", "0"),
        ("y", y.as_str()),
        ("font-size", "12"),
        ("fill", "#1f2328"),
        ("stroke", "#ffffff"),
        ("stroke-width", "3"),
        ("paint-order", "stroke"),
    ];
    page.leaf("text", &attributes, &tick.text);
}

fn words(page: &mut Html, label: &Label, anchor: &str, y: &str, class: &str, size: &str) {
    let at = percent(label.at);
    let attributes = [
        ("class", class),
        ("x", at.as_str()),
        ("y", y),
        ("text-anchor", anchor),
        ("font-size", size),
        ("fill", "#1f2328"),
    ];
    page.leaf("text", &attributes, &label.text);
}

/// One path for each series, the highest first: lower ones are drawn over it.
fn paths(page: &mut Html, it: &Area) {
    let series = it.columns.iter().find_map(|(_, values)| values.as_ref().map(Vec::len)).unwrap_or_default();
    for top in (0..series).rev() {
        let mut path = String::new();
        let mut open = false;
        for (at, (share, values)) in it.columns.iter().enumerate() {
            let from = share * WIDTH;
            let last = it.columns.len() == at + 1;
            let to = it.columns.get(at + 1).map_or(WIDTH, |(next, _)| next * WIDTH);
            // The newest state is to be seen although nothing follows it.
            let (from, to) = if last { (from.min(WIDTH - 60.0), WIDTH) } else { (from, to) };
            let Some(values) = values else {
                close(&mut path, &mut open);
                continue;
            };
            let sum: f64 = values.iter().take(top + 1).sum();
            let y = if it.most > 0.0 { HEIGHT * (1.0 - sum / it.most) } else { HEIGHT };
            if !open {
                let _ = write!(path, "M{from:.0} {HEIGHT:.0}");
                open = true;
            }
            let _ = write!(path, "V{y:.1}H{to:.0}");
        }
        close(&mut path, &mut open);
        let color = color(top, series);
        page.element("path", &[("class", color.class()), ("d", &path), ("fill", color.plain())], |_| {});
    }
}

fn close(path: &mut String, open: &mut bool) {
    if *open {
        let _ = write!(path, "V{HEIGHT:.0}Z");
        *open = false;
    }
}
