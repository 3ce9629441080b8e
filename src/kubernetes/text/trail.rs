//! Where a rendered document came from.

use std::sync::Arc;

use crate::inventory::{Link, LinkKind};
use crate::source::Span;

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

/// What a rendered document remembers of where it came from.
#[derive(Debug, Clone)]
pub(in crate::kubernetes) struct Trail {
    pub by: Renderer,
    /// `helm template charts/x`.
    pub command: Arc<str>,
    /// The file that makes its directory a chart or a kustomization.
    pub head: Span,
    /// Which of several stacks of values a chart was rendered with.
    pub variant: Option<Stack>,
}

/// One of several stacks of values.
#[derive(Debug, Clone)]
pub(in crate::kubernetes) struct Stack {
    pub label: Arc<str>,
    /// Where what it makes stands, for joins: what one makes has nothing to do with what another does.
    pub folder: Arc<str>,
}

impl Trail {
    /// Where what was made of a template stands, if not where that does.
    pub(in crate::kubernetes) fn place_of(&self, template: &str) -> Option<Arc<str>> {
        let variant = self.variant.as_ref()?;
        Some(format!("{}/{template}", variant.folder).into())
    }

    pub(in crate::kubernetes) fn link(&self) -> Link {
        Link::named(LinkKind::Settings, self.command.to_string(), self.head)
    }
}
