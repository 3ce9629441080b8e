//! Draws values over time: stacked areas in steps, with gaps for unknown values.

use std::fmt::Write;

use super::bars::{Bar, Hatch, MarkColor, percent, rect};
use super::markup::Html;

/// A label at a share of an axis.
pub(in crate::report) struct AxisLabel {
    pub(in crate::report) at: f64,
    pub(in crate::report) text: String,
}

/// The values from one point in time on.
pub(in crate::report) struct AreaState {
    /// The beginning, as a share of the width.
    pub(in crate::report) from: f64,
    /// The values of the series; none if unknown.
    pub(in crate::report) values: Option<Vec<f64>>,
    /// True if the series are complete, and not a minimum.
    pub(in crate::report) is_whole: bool,
}

impl AreaState {
    pub(in crate::report) fn is_minimum(&self) -> bool {
        self.values.is_some() && !self.is_whole
    }
}

pub(in crate::report) struct Area<'a> {
    pub(in crate::report) states: &'a [AreaState],
    pub(in crate::report) most: f64,
    /// Labels of the amount axis, as shares of the maximum.
    pub(in crate::report) ticks: &'a [AxisLabel],
    pub(in crate::report) labels: &'a [AxisLabel],
    /// Marks of steps that the table below lists.
    pub(in crate::report) marks: &'a [AxisLabel],
}

/// Heights in pixels, and the top of the areas below the marks.
const HEIGHT: f64 = 200.0;
const TOP: f64 = 26.0;

/// The width of the stretched inner drawing, in units.
const WIDTH: f64 = 10_000.0;

const COLORS: [MarkColor; 5] =
    [MarkColor::Blue, MarkColor::Vermillion, MarkColor::Green, MarkColor::Purple, MarkColor::Grey];

/// Returns the color of a series. The last series contains everything else.
fn color(series: usize, all: usize) -> MarkColor {
    let at = if series + 1 == all { COLORS.len() - 1 } else { series };
    COLORS.get(at).copied().unwrap_or(MarkColor::Grey)
}

/// Draws a square in the color of a series.
pub(in crate::report) fn swatch(page: &mut Html, series: usize) {
    let size = [("width", "14"), ("height", "14"), ("aria-hidden", "true"), ("focusable", "false")];
    page.element("svg", &size, |page| {
        let bar = Bar { from: "0".to_owned(), width: "14".to_owned(), y: 0, height: 14 };
        rect(page, &bar, COLORS.get(series).copied().unwrap_or(MarkColor::Grey), Hatch::None);
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
            let label = AxisLabel { at: mark.at.clamp(0.012, 0.988), text: mark.text.clone() };
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

/// Draws a grid line with its amount.
fn line(page: &mut Html, tick: &AxisLabel) {
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
    // The lowest line needs no label, because areas begin on it.
    if tick.at <= 0.0 {
        return;
    }
    // The outline keeps the label readable on every area.
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

fn words(page: &mut Html, label: &AxisLabel, anchor: &str, y: &str, class: &str, size: &str) {
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

/// Draws one path for each series, the highest first, so that lower ones cover it. Minimums are pale below a dashed
/// line.
fn paths(page: &mut Html, it: &Area) {
    let series = it.states.iter().find_map(|it| it.values.as_ref().map(Vec::len)).unwrap_or_default();
    for top in (0..series).rev() {
        let color = color(top, series);
        let path = filled(it, top, |_| true);
        page.element("path", &[("class", color.class()), ("d", &path), ("fill", color.plain())], |_| {});
    }
    let minimum = filled(it, series, AreaState::is_minimum);
    if !minimum.is_empty() {
        let veil = [("class", "paper"), ("d", &*minimum), ("fill", "#ffffff"), ("fill-opacity", "0.6")];
        page.element("path", &veil, |_| {});
    }
    let dashed = dashed(it, series);
    if !dashed.is_empty() {
        let line = [
            ("class", "line"),
            ("d", &*dashed),
            ("fill", "none"),
            ("stroke", "#1f2328"),
            ("stroke-width", "2"),
            ("stroke-dasharray", "6 4"),
            ("vector-effect", "non-scaling-stroke"),
        ];
        page.element("path", &line, |_| {});
    }
}

/// Returns the range of each state, in units of the drawing.
fn stretches<'a>(it: &'a Area) -> impl Iterator<Item = (f64, f64, &'a AreaState)> {
    let ends = it.states.iter().skip(1).map(|next| Some(next.from)).chain([None]);
    it.states.iter().zip(ends).map(|(state, end)| match end {
        Some(end) => (state.from * WIDTH, end * WIDTH, state),
        // The newest state is visible, although nothing follows it.
        None => ((state.from * WIDTH).min(WIDTH - 60.0), WIDTH, state),
    })
}

/// Returns the vertical position of the upper edge of a series.
fn edge(it: &Area, values: &[f64], count: usize) -> f64 {
    let sum: f64 = values.iter().take(count).sum();
    if it.most > 0.0 { HEIGHT * (1.0 - sum / it.most) } else { HEIGHT }
}

fn filled(it: &Area, top: usize, is_drawn: impl Fn(&AreaState) -> bool) -> String {
    let mut path = String::new();
    let mut open = false;
    for (from, to, state) in stretches(it) {
        let Some(values) = state.values.as_ref().filter(|_| is_drawn(state)) else {
            close(&mut path, &mut open);
            continue;
        };
        if !open {
            let _ = write!(path, "M{from:.0} {HEIGHT:.0}");
            open = true;
        }
        let _ = write!(path, "V{:.1}H{to:.0}", edge(it, values, top + 1));
    }
    close(&mut path, &mut open);
    path
}

fn close(path: &mut String, open: &mut bool) {
    if *open {
        let _ = write!(path, "V{HEIGHT:.0}Z");
        *open = false;
    }
}

/// Returns the upper edge of the minimums.
fn dashed(it: &Area, series: usize) -> String {
    let mut path = String::new();
    for (from, to, state) in stretches(it).filter(|(_, _, state)| state.is_minimum()) {
        let y = edge(it, state.values.as_deref().unwrap_or_default(), series);
        let _ = write!(path, "M{from:.0} {y:.1}H{to:.0}");
    }
    path
}
