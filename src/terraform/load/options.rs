//! Defines the options with which Terraform files are read.

use crate::terraform::border::GivenRun;
use crate::terraform::plan::PlanSide;

/// The options of the command line.
#[derive(Debug, Clone, Default)]
pub struct TerraformOptions {
    /// `--var name=value`, in order.
    pub variables: Vec<(String, String)>,
    /// `--var-file`, in order; paths in the tree.
    pub variable_files: Vec<String>,
    /// Variable files that each create a separate deployment, in addition to those that apply to all.
    pub environments: Vec<String>,
    /// The environment variables `TF_VAR_name`.
    pub environment: Vec<(String, String)>,
    pub workspace: Option<String>,
    /// The deployments that the settings define.
    pub given_runs: Vec<GivenRun>,
    /// Directories that the command line names. They are roots even if other directories call them as modules.
    pub named_roots: Vec<String>,
    /// The directory of downloaded modules, in addition to `.terraform/modules` of each root.
    pub modules_directory: Option<String>,
    /// Whether rules for any type need every block.
    pub raw: bool,
    /// Plans that the command line names. They are read even if their configuration is in the same directory.
    pub named_plans: Vec<String>,
    /// Which of the two states in a plan is read.
    pub plan_side: PlanSide,
}

impl TerraformOptions {
    /// Returns whether the command line selects the values.
    pub(super) fn choose_values(&self) -> bool {
        !self.variable_files.is_empty() || !self.environments.is_empty() || self.workspace.is_some()
    }
}
