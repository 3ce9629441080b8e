//! Plans and renders charts and kustomizations with the built-in engines. Also maps text that another program rendered
//! to the lines of its sources. This module runs no programs.

mod align;
mod asked;
mod charts;
mod dependencies;
mod installations;
mod kustomization;
mod kustomizations;
mod matters;
mod missing_part;
mod names;
mod overlay;
mod plan;
mod trace;
mod values;
mod variants;

use std::collections::BTreeSet;

use crate::source::SourceFiles;

use super::text::trail::RendererKind;

pub(super) use asked::{AskedDocuments, Deployers, Kustomized, RenderRequest};
pub(super) use charts::{all, in_one_line, not_rendered, release};
pub use installations::ChartInstallation;
pub(super) use kustomization::{NAMES as KUSTOMIZATIONS, files_of};
pub(super) use kustomizations::among as kustomizations_among;
pub(super) use matters::chart_may_ask;
pub(super) use names::{in_values, may_decide};
pub(super) use plan::document;
pub use plan::{Content, RefusedRendering, RenderInput, RenderPlan, plan};
pub(super) use trace::derive;

/// Renders the charts and builds the kustomizations that may request accelerators.
pub(super) fn make(sources: &SourceFiles, asked: &RenderRequest<'_>) -> AskedDocuments {
    let mut made = kustomizations::make(sources, asked);
    made.add(charts::make(sources, asked, &made.charts));
    made
}

/// The output of a program for a chart or a kustomization.
#[derive(Debug, Clone)]
pub struct RenderedOutput {
    pub plan: RenderPlan,
    pub text: String,
}

/// The comment in which Helm names the template of a document.
const SOURCE: &str = "# Source: ";

impl RenderedOutput {
    /// Creates the result. A dependency counts as rendered only if it appears in the text.
    pub fn new(mut plan: RenderPlan, text: String) -> Self {
        if plan.by == RendererKind::Helm {
            let templates: BTreeSet<&str> = text.lines().filter_map(|line| line.strip_prefix(SOURCE)).collect();
            let shown: BTreeSet<String> =
                templates.iter().filter_map(|source| Some(plan.template(source)?.chart)).collect();
            plan.parts.retain(|part| shown.contains(part));
            let inside = |file: &&String| plan.parts.iter().any(|part| plan::is_rendered(part, file));
            let replaced: Vec<String> =
                plan.inputs.iter().filter_map(RenderInput::file).filter(inside).cloned().collect();
            plan.replaces.extend(replaced);
        }
        RenderedOutput { plan, text }
    }
}
