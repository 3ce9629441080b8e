//! Defines a deployment as a command, a step or a settings file describes it.

use std::sync::Arc;

use crate::languages::document::filled_in;
use crate::languages::hcl::value::HclValue;
use crate::languages::shell::HOLE;
use crate::source::Span;
use crate::templates::reading::ParameterValues;

/// The cloud whose templates are deployed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::templates) enum DeployTarget {
    CloudFormation,
    Azure,
}

/// A deployment as a command, a step or a settings file describes it.
#[derive(Debug, Clone)]
pub(in crate::templates) struct PassedDeployment {
    /// The file that contains the command.
    pub(in crate::templates) path: String,
    pub(in crate::templates) at: Span,
    /// The template as written; an unknown part is a hole.
    pub(in crate::templates) template: Option<String>,
    /// The stack or environment, if it is known.
    pub(in crate::templates) name: Option<String>,
    pub(in crate::templates) region: Option<HclValue>,
    /// Parameter files as written.
    pub(in crate::templates) files: Vec<String>,
    pub(in crate::templates) values: ParameterValues,
    /// Why further parameters may have other values than their defaults.
    pub(in crate::templates) open: Option<HclValue>,
}

impl PassedDeployment {
    pub(super) fn of(path: &str, at: Span) -> PassedDeployment {
        PassedDeployment {
            path: path.to_owned(),
            at,
            template: None,
            name: None,
            region: None,
            files: Vec::new(),
            values: ParameterValues::new(),
            open: None,
        }
    }

    /// Sets a parameter, or a part of it that is unknown.
    pub(super) fn set(&mut self, name: &str, value: &str, at: Span) {
        let value = match value.contains(HOLE) {
            true => self.unknown(&format!("`{name}`"), at),
            false => filled_in(value, at).unwrap_or_else(|| HclValue::text(value, at)),
        };
        self.values.insert(Arc::from(name), value);
    }

    pub(super) fn unknown(&self, what: &str, at: Span) -> HclValue {
        let of = self.name.as_ref().map(|name| format!(" of `{name}`")).unwrap_or_default();
        HclValue::unknown(format!("{} sets {what}{of} to a value that is not in the file", self.path), at)
    }

    /// Returns why a parameter file gives no values.
    pub(super) fn missing(&self, file: &str) -> HclValue {
        let at = self.values.values().next().map_or(self.at, |value| value.span);
        HclValue::unknown(format!("{} passes the parameter file `{file}`, which gpulint cannot read", self.path), at)
    }

    /// Adds parameters that are in no form that gpulint reads.
    pub(super) fn leave_open(&mut self, at: Span) {
        let why = format!("{} passes parameters that are not in the file", self.path);
        self.open = Some(HclValue::unknown(why, at));
    }
}
