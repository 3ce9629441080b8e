//! Draws bars, intervals and dots as SVG for any width: positions are shares of the width, text is not scaled, and
//! colors are attributes, so that they work without a style sheet.

use super::markup::Html;
use crate::catalog::{Money, MoneyRange};

/// The colors of marks: each has a contrast of 3:1 on white and on dark pages. Color is never the only distinction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::report) enum MarkColor {
    Blue,
    Green,
    Vermillion,
    Purple,
    Grey,
}

impl MarkColor {
    pub(in crate::report) fn class(self) -> &'static str {
        match self {
            MarkColor::Blue => "blue",
            MarkColor::Green => "green",
            MarkColor::Vermillion => "vermillion",
            MarkColor::Purple => "purple",
            MarkColor::Grey => "grey",
        }
    }

    pub(in crate::report) fn plain(self) -> &'static str {
        self.fill(Hatch::None)
    }

    /// Returns a plain color, or a pattern in it.
    fn fill(self, hatch: Hatch) -> &'static str {
        match (self, hatch) {
            (_, Hatch::Lines) => "url(#lines)",
            (_, Hatch::Crosses) => "url(#crosses)",
            (MarkColor::Blue, Hatch::None) => "#0072b2",
            (MarkColor::Green, Hatch::None) => "#007a5a",
            (MarkColor::Vermillion, Hatch::None) => "#c34a00",
            (MarkColor::Purple, Hatch::None) => "#9a4a86",
            (MarkColor::Grey, Hatch::None) => "#6b7280",
        }
    }
}

/// Patterns that distinguish kinds without color.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::report) enum Hatch {
    None,
    Lines,
    Crosses,
}

/// The patterns, once on a page.
pub(in crate::report) const PATTERNS: &str = concat!(
    "<svg width=\"0\" height=\"0\" aria-hidden=\"true\" focusable=\"false\"><defs>",
    "<pattern id=\"lines\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">",
    "<rect width=\"6\" height=\"6\" class=\"blue\" fill=\"#0072b2\"/>",
    "<rect width=\"2\" height=\"6\" class=\"paper\" fill=\"#ffffff\"/></pattern>",
    "<pattern id=\"crosses\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">",
    "<rect width=\"6\" height=\"6\" class=\"vermillion\" fill=\"#c34a00\"/>",
    "<path d=\"M0 0L6 6M6 0L0 6\" class=\"paper-line\" stroke=\"#ffffff\" stroke-width=\"1\"/></pattern>",
    "</defs></svg>\n"
);

/// An axis from zero to the maximum of a picture.
#[derive(Debug, Clone, Copy)]
pub(in crate::report) struct Scale {
    most: f64,
}

/// A line longer than this many times the longest bar is cut, with an arrow, so that bars stay readable.
const LONGEST_WHISKER: f64 = 2.5;

impl Scale {
    /// Returns the axis for amounts with minimum and maximum.
    pub(in crate::report) fn of(ranges: impl Iterator<Item = MoneyRange> + Clone) -> Scale {
        let most = |pick: fn(MoneyRange) -> Money| ranges.clone().map(|it| pick(it).usd()).fold(0.0, f64::max);
        let (expected, ceiling) = (most(|it| it.expected), most(|it| it.ceiling));
        let shown = if expected > 0.0 { ceiling.min(expected * LONGEST_WHISKER).max(expected) } else { ceiling };
        Scale { most: shown }
    }

    pub(in crate::report) fn to(most: Money) -> Scale {
        Scale { most: most.usd() }
    }

    /// Returns a share of the width, at most 100%.
    fn share(self, money: Money) -> f64 {
        if self.most <= 0.0 { 0.0 } else { (money.usd() / self.most).clamp(0.0, 1.0) }
    }

    pub(in crate::report) fn percent(self, money: Money) -> String {
        percent(self.share(money))
    }

    fn is_beyond(self, money: Money) -> bool {
        money.usd() > self.most * 1.000_001
    }
}

/// Rounds to a hundredth, so that a page is the same on every computer.
pub(in crate::report) fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}

/// Writes a picture. Its numbers are next to it as text.
pub(in crate::report) fn picture(page: &mut Html, height: u32, draw: impl FnOnce(&mut Html)) {
    let height = height.to_string();
    let attributes = [("width", "100%"), ("height", height.as_str()), ("aria-hidden", "true"), ("focusable", "false")];
    page.element("svg", &attributes, draw);
}

pub(in crate::report) struct Bar {
    pub(in crate::report) from: String,
    pub(in crate::report) width: String,
    pub(in crate::report) y: u32,
    pub(in crate::report) height: u32,
}

pub(in crate::report) fn rect(page: &mut Html, bar: &Bar, color: MarkColor, hatch: Hatch) {
    let (y, height) = (bar.y.to_string(), bar.height.to_string());
    let class = if hatch == Hatch::None { color.class() } else { "hatched" };
    let attributes = [
        ("class", class),
        ("x", bar.from.as_str()),
        ("y", y.as_str()),
        ("width", bar.width.as_str()),
        ("height", height.as_str()),
        ("fill", color.fill(hatch)),
    ];
    page.element("rect", &attributes, |_| {});
}

/// Draws the expected cost as a bar, and minimum to maximum as a line over it.
pub(in crate::report) fn interval(
    page: &mut Html,
    scale: Scale,
    range: MoneyRange,
    y: u32,
    height: u32,
    color: MarkColor,
) {
    let bar = Bar { from: "0".to_owned(), width: scale.percent(range.expected), y, height };
    rect(page, &bar, color, Hatch::None);
    if range.floor == range.ceiling {
        return;
    }
    let (from, to) = (scale.percent(range.floor), scale.percent(range.ceiling));
    let middle = y + height / 2;
    stroke(page, (&from, &to), (middle, middle));
    for (at, is_cut) in [(&from, false), (&to, scale.is_beyond(range.ceiling))] {
        if !is_cut {
            stroke(page, (at, at), (y, y + height));
        }
    }
    if scale.is_beyond(range.ceiling) {
        let at = (middle + 4).to_string();
        let attributes = [
            ("class", "ink"),
            ("x", "100%"),
            ("y", at.as_str()),
            ("text-anchor", "end"),
            ("font-size", "14"),
            ("fill", "#1f2328"),
        ];
        page.leaf("text", &attributes, "→");
    }
}

fn stroke(page: &mut Html, (x1, x2): (&str, &str), (y1, y2): (u32, u32)) {
    let (y1, y2) = (y1.to_string(), y2.to_string());
    let attributes = [
        ("class", "line"),
        ("x1", x1),
        ("x2", x2),
        ("y1", y1.as_str()),
        ("y2", y2.as_str()),
        ("stroke", "#1f2328"),
        ("stroke-width", "2"),
    ];
    page.element("line", &attributes, |_| {});
}

/// Draws a dot for one of several amounts on an axis.
pub(in crate::report) fn dot(page: &mut Html, scale: Scale, money: Money, y: u32, color: MarkColor) {
    // The axis is extended, because a dot at its end would be cut in half.
    let at = percent(0.01 + scale.share(money) * 0.98);
    let y = y.to_string();
    let attributes = [
        ("class", color.class()),
        ("cx", at.as_str()),
        ("cy", y.as_str()),
        ("r", "6"),
        ("fill", color.fill(Hatch::None)),
    ];
    page.element("circle", &attributes, |_| {});
}
