//! Finds deployments whose values commands, pipelines and settings files pass: `aws cloudformation deploy`, `sam`, `az
//! deployment`, their actions, `samconfig.toml`, Sceptre and taskcat. A value that only the run of a script knows is unknown.

mod deployment;
mod join;
mod options;
mod samconfig;
mod settings;

use crate::languages::pipeline;
use crate::languages::table::may_call_deploy_tools;
use crate::source::{file_name, has_mark, those};

pub(super) use deployment::{DeployTarget, PassedDeployment};
pub(super) use join::join;

use super::reading::TemplateInput;

/// Returns the deployments that files of the tree describe, sorted by file.
pub(super) fn find(
    input: TemplateInput<'_>,
    is_template: &(dyn Fn(&str) -> bool + Sync),
    target: DeployTarget,
) -> Vec<PassedDeployment> {
    let is_of_aws = target == DeployTarget::CloudFormation;
    let tool_of = |path: &str| settings::tool_of(path).filter(|_| is_of_aws);
    let is_settings = |path: &str| is_of_aws && (file_name(path) == samconfig::NAME || tool_of(path).is_some());
    let may_deploy = |path: &str| is_settings(path) || may_call_deploy_tools(path);
    let files: Vec<&String> = input.paths.iter().filter(|path| may_deploy(path) && !is_template(path)).collect();
    let has_template = |path: &&String| input.sources.glance(path, settings::may_name_template).unwrap_or(false);
    let is_one = |path: &&String| {
        is_settings(path) && has_template(path)
            || input.sources.glance(path, |text| has_mark(text, marks(target))).unwrap_or(false)
    };
    let mut all = Vec::new();
    for path in those(files, is_one) {
        match tool_of(path) {
            Some(tool) => all.extend(settings::deployments(input.sources, path, tool)),
            None if is_settings(path) => all.extend(samconfig::deployments(input.sources, path)),
            None => all.extend(
                pipeline::calls(input.sources, path, marks(target))
                    .iter()
                    .filter_map(|it| options::deployment(path, it, target)),
            ),
        }
    }
    all
}

/// Every file with a call that deploys a template contains one of these strings.
fn marks(target: DeployTarget) -> &'static [&'static [u8]] {
    match target {
        DeployTarget::CloudFormation => &[b"cloudformation", b"sam deploy"],
        DeployTarget::Azure => &[
            b"az deployment",
            b"az stack",
            b"deployment create",
            b"arm-deploy",
            b"bicep-deploy",
            b"AzureResourceManagerTemplateDeployment",
        ],
    }
}
