//! A file that is read, and what is known of it before.

use std::sync::Arc;

use crate::inventory::{Link, LinkKind, Resource};
use crate::languages::yaml::Node;
use crate::source::{FileId, Span};

use super::trail::Trail;

#[derive(Debug, Clone)]
pub(in crate::kubernetes) struct File {
    pub id: FileId,
    pub path: Arc<str>,
    /// Only here because other files may name its objects.
    pub joined_only: bool,
    /// Rules may look at documents that ask for nothing whatever is in them.
    pub idle_too: bool,
    /// The command line names it.
    pub is_named: bool,
    /// It is a template of a chart.
    pub of_chart: bool,
    /// The values that its chart has by default.
    pub values: Option<Node>,
    /// It is what a chart or a kustomization makes.
    pub rendered: Option<Trail>,
    /// It is a template as one release of its chart fills it in.
    pub release: Option<ReleaseNames>,
    /// Why some of it may not be there.
    pub doubt: Option<Arc<str>>,
    /// Some of its values are not known: what makes it no YAML may be ours.
    pub is_holed: bool,
    /// Why there may be none of it at all.
    pub perhaps: Option<Arc<str>>,
    /// It stands inside Terraform.
    pub embedded: bool,
    /// The text inside Terraform that it is made of, where it is not that itself.
    pub carrier: Option<FileId>,
}

/// A release of a chart.
#[derive(Debug, Clone, Default)]
pub(in crate::kubernetes) struct ReleaseNames {
    pub name: Option<Arc<str>>,
    pub namespace: Option<Arc<str>>,
    /// The object that makes it, and its place.
    pub by: (String, Option<Span>),
}

impl ReleaseNames {
    pub(in crate::kubernetes) fn mark(&self, resource: &mut Resource) {
        let (to, span) = (&self.by.0, self.by.1);
        resource.links.extend(span.map(|span| Link::named(LinkKind::Settings, to.clone(), span)));
    }
}

impl File {
    pub(in crate::kubernetes) fn new(id: FileId, path: Arc<str>, joined_only: bool) -> Self {
        File {
            id,
            path,
            joined_only,
            idle_too: false,
            is_named: false,
            of_chart: false,
            values: None,
            rendered: None,
            release: None,
            doubt: None,
            is_holed: false,
            perhaps: None,
            embedded: false,
            carrier: None,
        }
    }

    pub(in crate::kubernetes) fn of_release(
        id: FileId,
        path: Arc<str>,
        values: Option<Node>,
        release: ReleaseNames,
    ) -> Self {
        File { of_chart: true, values, release: Some(release), ..File::new(id, path, false) }
    }

    pub(in crate::kubernetes) fn rendered(id: FileId, path: Arc<str>, joined_only: bool, trail: Trail) -> Self {
        File { rendered: Some(trail), ..File::new(id, path, joined_only) }
    }
}
