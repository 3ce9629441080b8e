//! Describes a file to read, with everything known about it in advance.

use std::sync::Arc;

use crate::inventory::{Link, LinkKind, Resource};
use crate::languages::yaml::Node;
use crate::source::{FileId, Span};

use super::trail::Trail;

#[derive(Debug, Clone)]
pub(in crate::kubernetes) struct File {
    pub id: FileId,
    pub path: Arc<str>,
    /// True if the file is read only because other files may name its objects.
    pub joined_only: bool,
    /// True if rules may need documents that request nothing.
    pub idle_too: bool,
    /// True if the command line names the file.
    pub is_named: bool,
    /// True if the file is a template of a chart.
    pub of_chart: bool,
    /// The default values of its chart.
    pub values: Option<Node>,
    /// A chart or a kustomization generated the file.
    pub rendered: Option<Trail>,
    /// The file is a template, filled in for one release of its chart.
    pub release: Option<ReleaseNames>,
    /// The reason why parts of the file may not exist.
    pub doubt: Option<Arc<str>>,
    /// True if some values in the file are unknown, so that an error in its YAML may come from a placeholder.
    pub is_holed: bool,
    /// The reason why the whole file may not exist.
    pub perhaps: Option<Arc<str>>,
    /// True if the file is a manifest inside Terraform.
    pub embedded: bool,
    /// The string inside Terraform that it was made from, if that is not the manifest itself.
    pub carrier: Option<FileId>,
}

/// A release of a chart.
#[derive(Debug, Clone, Default)]
pub(in crate::kubernetes) struct ReleaseNames {
    pub name: Option<Arc<str>>,
    pub namespace: Option<Arc<str>>,
    /// The object that defines it, with its place.
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
