//! Which files may hold what front ends read, and which may call them, by their names.

use std::path::Path;

use crate::languages::kustomize;
use crate::languages::table::{self, Reader};

pub(crate) use crate::languages::table::{is_script, is_script_alone};

pub(crate) fn is_candidate(path: &Path) -> bool {
    path.file_name().is_some_and(|name| {
        table::is_candidate(name.as_encoded_bytes()) || kustomize::NAMES.iter().any(|it| name == *it)
    })
}

/// Terraform by its name; whether a JSON file is a plan, only its text can say.
pub(crate) fn is_terraform(path: &str) -> bool {
    table::is_of(Reader::Terraform, path)
}
