//! Records the origin of rendered documents.

use std::sync::Arc;

use crate::inventory::{Link, LinkKind};
use crate::source::Span;

/// The program that renders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RendererKind {
    Helm,
    Kustomize,
}

impl RendererKind {
    pub fn name(self) -> &'static str {
        match self {
            RendererKind::Helm => "helm",
            RendererKind::Kustomize => "kustomize",
        }
    }
}

/// The origin of a rendered document.
#[derive(Debug, Clone)]
pub(in crate::kubernetes) struct Trail {
    pub by: RendererKind,
    /// The command, such as `helm template charts/x`.
    pub command: Arc<str>,
    /// The file that defines the chart or the kustomization.
    pub head: Span,
    /// The values files that the chart was rendered with, if there are several choices.
    pub variant: Option<ValuesStack>,
}

/// One choice of values files.
#[derive(Debug, Clone)]
pub(in crate::kubernetes) struct ValuesStack {
    pub label: Arc<str>,
    /// The folder that pod-to-pool matches use: resources of different choices do not belong together.
    pub folder: Arc<str>,
}

impl Trail {
    /// Returns the place of a template's documents, if it is not that of the template.
    pub(in crate::kubernetes) fn place_of(&self, template: &str) -> Option<Arc<str>> {
        let variant = self.variant.as_ref()?;
        Some(format!("{}/{template}", variant.folder).into())
    }

    pub(in crate::kubernetes) fn link(&self) -> Link {
        Link::named(LinkKind::Settings, self.command.to_string(), self.head)
    }
}
