//! Charts and kustomizations that another program renders: what there is to render and what may not be, and, for the
//! rendered text, which lines of which files it came from. Runs nothing itself.

mod align;
mod kustomization;
mod overlay;
mod plan;
mod trace;
mod values;

use std::sync::Arc;

use crate::inventory::{Link, LinkKind};
use crate::source::Span;

pub(super) use kustomization::NAMES as KUSTOMIZATIONS;
pub use plan::{Plan, Refused, plan};
pub(super) use trace::derive;

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

/// What a rendered document remembers of where it came from.
#[derive(Debug, Clone)]
pub(super) struct Trail {
    pub by: Renderer,
    /// `helm template charts/x`.
    pub command: Arc<str>,
    /// The file that makes its directory a chart or a kustomization.
    pub head: Span,
}

impl Trail {
    pub(super) fn link(&self) -> Link {
        Link { kind: LinkKind::Settings, to: self.command.to_string(), span: self.head }
    }
}
