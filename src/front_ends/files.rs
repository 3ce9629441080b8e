//! Selects by name the files that front ends may read, and the files that may call them.

use std::path::Path;

use crate::languages::kustomize;
use crate::languages::table::{self, Reader};

pub(crate) use crate::languages::table::{is_script_alone, may_call_deploy_tools};

pub(crate) fn is_candidate(path: &Path) -> bool {
    path.file_name().is_some_and(|name| {
        table::is_candidate(name.as_encoded_bytes()) || kustomize::NAMES.iter().any(|it| name == *it)
    })
}

/// Returns true if the file name belongs to Terraform. For a JSON file, only its content shows whether it is a plan.
pub(crate) fn is_terraform(path: &str) -> bool {
    table::is_of(Reader::Terraform, path)
}
