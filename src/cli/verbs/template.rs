//! `gpulint template`: prints the manifests of rendered charts, to compare them with those of Helm.

use crate::cli::args::InputArguments;
use crate::cli::io::output;
use crate::cli::session::Session;
use crate::cli::{ExitStatus, Failure};
use crate::kubernetes;
use crate::report::harmless;

pub(in crate::cli) fn run(input: &InputArguments) -> Result<ExitStatus, Failure> {
    let session = Session::open(input)?;
    let (documents, skipped) =
        kubernetes::rendered_charts(&session.sources, &session.files, &session.settings.kubernetes);
    let mut text = String::new();
    for (template, document) in &documents {
        // YAML treats both kinds of line end the same.
        let document = document.replace("\r\n", "\n");
        let document = document.trim_start_matches("---").trim_matches('\n');
        text.push_str(&format!("---\n# Source: {}\n{}\n", harmless(template), harmless(document)));
    }
    output::print(&text)?;
    for it in &skipped {
        output::complain(&format!("{}: {}", harmless(&it.path), harmless(&it.reason)));
    }
    Ok(match (documents.is_empty(), skipped.is_empty()) {
        (_, false) => ExitStatus::Failed,
        (true, true) => ExitStatus::Empty,
        (false, true) => ExitStatus::Passed,
    })
}
