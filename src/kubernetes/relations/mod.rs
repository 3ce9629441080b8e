//! Applies other objects to workloads: autoscalers, budgets, queues, quotas, defaults, patches, shares, and Terraform
//! code that loads manifests.

pub(super) mod branches;
pub(super) mod chart;
pub(super) mod clock;
pub(super) mod grants;
pub(super) mod holders;
mod nearby;
pub(super) mod owned;
pub(super) mod patch;
pub(super) mod replaced;
pub(super) mod scale;
pub(super) mod sharing;
pub(super) mod terraform_loaded;
pub(super) mod unfollowed;
pub(super) mod versions;
