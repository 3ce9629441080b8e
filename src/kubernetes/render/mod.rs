//! Charts and kustomizations: what there is to render and what may not be, both as our own engines render them, and, for
//! text that another program rendered, which lines of which files it came from. Runs nothing itself.

mod align;
mod asked;
mod charts;
mod dependencies;
mod kustomization;
mod kustomizations;
mod matters;
mod names;
mod overlay;
mod plan;
mod trace;
mod values;
mod variants;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::inventory::{Link, LinkKind};
use crate::source::{Sources, Span};

pub(super) use asked::{Asked, Made};
pub(super) use charts::{all, not_rendered, release};
pub(super) use kustomization::{NAMES as KUSTOMIZATIONS, files_of};
pub(super) use kustomizations::among as kustomizations_among;
pub(super) use plan::document;
pub use plan::{Content, Input, Plan, Refused, plan};
pub(super) use trace::derive;

/// Renders the charts and builds the kustomizations among files that may ask for accelerators.
pub(super) fn make(sources: &Sources, asked: &Asked<'_>) -> Made {
    let mut made = charts::make(sources, asked);
    made.add(kustomizations::make(sources, asked));
    made
}

/// The program that renders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Renderer {
    Helm,
    Kustomize,
}

impl Renderer {
    pub fn name(self) -> &'static str {
        match self {
            Renderer::Helm => "helm",
            Renderer::Kustomize => "kustomize",
        }
    }
}

/// What a program made of a chart or of a kustomization.
#[derive(Debug, Clone)]
pub struct Rendered {
    pub plan: Plan,
    pub text: String,
}

/// The comment by which Helm tells the template of a document.
const SOURCE: &str = "# Source: ";

impl Rendered {
    /// Charts that the one rendered depends on count as rendered with it as far as they show up in the text.
    pub fn new(mut plan: Plan, text: String) -> Self {
        if plan.by == Renderer::Helm {
            let templates: BTreeSet<&str> = text.lines().filter_map(|line| line.strip_prefix(SOURCE)).collect();
            let shown: BTreeSet<String> =
                templates.iter().filter_map(|source| Some(plan.template(source)?.chart)).collect();
            plan.parts.retain(|part| shown.contains(part));
            let inside = |file: &&String| plan.parts.iter().any(|part| plan::is_rendered(part, file));
            let replaced: Vec<String> = plan.inputs.iter().filter_map(Input::file).filter(inside).cloned().collect();
            plan.replaces.extend(replaced);
        }
        Rendered { plan, text }
    }
}

/// What a rendered document remembers of where it came from.
#[derive(Debug, Clone)]
pub(super) struct Trail {
    pub by: Renderer,
    /// `helm template charts/x`.
    pub command: Arc<str>,
    /// The file that makes its directory a chart or a kustomization.
    pub head: Span,
    /// Which of several stacks of values a chart was rendered with.
    pub variant: Option<Variant>,
}

/// One of several stacks of values.
#[derive(Debug, Clone)]
pub(super) struct Variant {
    pub label: Arc<str>,
    /// Where what it makes stands, for joins: what one makes has nothing to do with what another does.
    folder: Arc<str>,
}

impl Trail {
    /// Where what was made of a template stands, if not where that does.
    pub(super) fn place_of(&self, template: &str) -> Option<Arc<str>> {
        let variant = self.variant.as_ref()?;
        Some(format!("{}/{template}", variant.folder).into())
    }

    pub(super) fn link(&self) -> Link {
        Link::named(LinkKind::Settings, self.command.to_string(), self.head)
    }
}
